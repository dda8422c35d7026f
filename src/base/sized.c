/* Copies structs that carry their size: min(size of the caller, size of the library) bytes, the rest stays at its
 * default. */
#include "base/sized.h"

#include <string.h>

static size_t size_of(const void *caller)
{
    size_t size;
    memcpy(&size, caller, sizeof size);
    return size;
}

int npi_sized_check(const void *caller, const char *name, npgnn_error *err)
{
    size_t size = size_of(caller);
    if (size > sizeof size && size % sizeof(int) == 0)
        return 0;
    return npi_fail(err, NPGNN_E_ARGUMENT, "the size of a struct %s is %zu: set it to sizeof(%s)", name, size, name);
}

int npi_sized_read(void *to, size_t to_size, const void *from, const char *name, npgnn_error *err)
{
    int code = from ? npi_sized_check(from, name, err) : 0;
    if (!code && from) {
        size_t size = size_of(from);
        memcpy(to, from, size < to_size ? size : to_size);
    }
    memcpy(to, &to_size, sizeof to_size);
    return code;
}

int npi_sized_write(void *to, const void *from, size_t from_size, const char *name, npgnn_error *err)
{
    int code = npi_sized_check(to, name, err);
    if (code)
        return code;
    size_t size = size_of(to);
    memcpy((char *)to + sizeof size, (const char *)from + sizeof size,
           (size < from_size ? size : from_size) - sizeof size);
    return 0;
}

void npi_sized_store(void *first, size_t index, const void *from, size_t from_size)
{
    size_t size = size_of(first);
    char *to = (char *)first + index * size;
    memcpy(to, from, size < from_size ? size : from_size);
    memcpy(to, &size, sizeof size);
}
