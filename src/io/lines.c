/* Lines with content, and the fields of those that programs read by npgnn_lines_next. */
#include "io/lines.h"

#include <string.h>

#include "io/foreign.h"
#include "io/text.h"

int npi_lines_next(char **line, npi_lines *lines, npgnn_error *err)
{
    int code;
    while ((code = npi_stream_read_line(line, lines->stream, err)) > 0 && npi_text_is_skippable(*line))
        ;
    lines->broken = code < 0;
    if (code > 0 && !lines->separator)
        lines->separator = npi_text_find_separator(*line);
    return code;
}

int npi_lines_next_row(char **row, npi_lines *lines, npgnn_error *err)
{
    int inside = 0, stray = 0, several = 0, code = npi_lines_next(row, lines, err);
    if (code <= 0 || !strchr(*row, '"'))
        return code;
    size_t begin = 0; /* of the latest line: each is looked at by itself, since a field may have many */
    while ((inside = npi_text_ends_in_quotes(&stray, *row + begin, lines->separator, inside))) {
        begin += strlen(*row + begin) + 1;
        several = lines->broken = 1;
        code = npi_stream_join_line(row, lines->stream, err);
        if (code <= 0)
            return code ? code : npi_stream_fail(lines->stream, err, NPI_TEXT_OPEN_QUOTE);
    }
    /* such a row of several lines is probably several rows */
    lines->broken = several && stray;
    return stray ? npi_stream_fail(lines->stream, err, "%s", several ? NPI_TEXT_OPEN_QUOTE : NPI_TEXT_STRAY_QUOTE) : 1;
}

/* ---- for programs ---- */

struct npgnn_lines {
    npi_stream *stream;
    char separator; /* 0: each line has its own */
    int checked;    /* 1: the file is text as far as its first bytes show */
    const char **fields;
    size_t capacity;
};

int npi_lines_new(npgnn_lines **out, npi_stream *stream, char separator, npgnn_error *err)
{
    npgnn_lines *lines = npi_alloc(npi_stream_env(stream), 1, sizeof *lines, err);
    if (!lines) {
        npi_stream_close(stream);
        return NPGNN_E_MEMORY;
    }
    *lines = (npgnn_lines){.stream = stream, .separator = separator};
    *out = lines;
    return 0;
}

int npgnn_lines_open(npgnn_lines **out, const char *path, char separator, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    npgnn_env resolved = npi_env_resolve(env);
    npi_stream *stream;
    int code = npi_stream_open_live(&stream, path, &resolved, err);
    return code ? code : npi_lines_new(out, stream, separator, err);
}

/* Cuts a line into the fields that are not empty, or, where the caller has said what separates them, into all. */
static int cut(int *count, npgnn_lines *lines, char *line, npgnn_error *err)
{
    char separator = lines->separator ? lines->separator : npi_text_find_separator_of_names(line);
    *count = 0;
    for (const char *field; (field = npi_text_cut_field(&line, separator));) {
        int code = npi_grow(npi_stream_env(lines->stream), &lines->fields, &lines->capacity, (size_t)*count,
                            sizeof *lines->fields, err);
        if (code)
            return code;
        lines->fields[*count] = field;
        *count += lines->separator || *field;
    }
    return 1;
}

int npgnn_lines_next(const char *const **fields, int *count, npgnn_lines *lines, int wait, npgnn_error *err)
{
    int found = 0;
    while (found == 0) {
        char *line;
        int code = lines->checked ? 1 : npi_stream_fill(lines->stream, wait, err);
        if (code == 1 && !lines->checked && (code = npi_foreign_refuse(lines->stream, err)) == 0)
            code = lines->checked = 1;
        if (code == 1)
            code = wait ? npi_stream_read_line(&line, lines->stream, err)
                        : npi_stream_poll_line(&line, lines->stream, err);
        if (code == 1 && !npi_text_is_skippable(line))
            code = cut(&found, lines, line, err);
        if (code != 1)
            return code;
    }
    *fields = lines->fields;
    *count = found;
    return 1;
}

int64_t npgnn_lines_number(const npgnn_lines *lines)
{
    return npi_stream_line_number(lines->stream);
}

void npgnn_lines_free(npgnn_lines *lines)
{
    if (!lines)
        return;
    npi_stream *stream = lines->stream;
    npgnn_env env = *npi_stream_env(stream);
    npi_free(&env, lines->fields);
    npi_free(&env, lines);
    npi_stream_close(stream);
}
