/* Error codes and their texts. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *npgnn_version(void)
{
    return NPGNN_VERSION;
}

const char *npgnn_code_text(int code)
{
    switch (code) {
#define NPGNN_X(name, value, meaning)                                                                                  \
    case value:                                                                                                        \
        return meaning;
        NPGNN_ERRORS(NPGNN_X)
#undef NPGNN_X
    }
    return "unknown code";
}

int npi_fail(npgnn_error *err, int code, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->code = code;
        err->line = 0;
        err->file[0] = '\0';
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return code;
}

int npi_fail_at(npgnn_error *err, int code, const char *file, int64_t line, const char *format, ...)
{
    if (err) {
        int used;
        va_list args;
        va_start(args, format);
        err->code = code;
        err->line = line;
        snprintf(err->file, sizeof err->file, "%s", file);
        if (line > 0)
            used = snprintf(err->text, sizeof err->text, "%.400s:%lld: ", file, (long long)line);
        else
            used = snprintf(err->text, sizeof err->text, "%.400s: ", file);
        vsnprintf(err->text + used, sizeof err->text - (size_t)used, format, args);
        va_end(args);
    }
    return code;
}

const char *npi_error_reason(const npgnn_error *err)
{
    size_t file = strlen(err->file);
    if (file == 0 || strncmp(err->text, err->file, file) != 0)
        return err->text;
    const char *end = strstr(err->text + file, ": "); /* of "FILE: " or "FILE:LINE: "; FILE itself may have colons */
    return end ? end + 2 : err->text;
}

int npi_fail_errno(npgnn_error *err, const char *verb, const char *file)
{
    return npi_fail_at(err, NPGNN_E_IO, file, 0, "cannot %s: %s", verb, strerror(errno));
}
