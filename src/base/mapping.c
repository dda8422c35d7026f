/* Mapping files into memory by mmap. */
#define _POSIX_C_SOURCE 200809L
#include "base/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int npi_mapping_open(npi_mapping **out, const char *path, const npgnn_env *env, npgnn_error *err)
{
    npi_mapping *mapping = npi_alloc(env, 1, sizeof *mapping, err);
    if (!mapping)
        return NPGNN_E_MEMORY;
    struct stat about;
    int code = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a FIFO must not wait for its writer */
    if (fd < 0)
        code = npi_fail_errno(err, "open", path);
    else if (fstat(fd, &about) != 0)
        code = npi_fail_errno(err, "read", path);
    else if (!S_ISREG(about.st_mode))
        code = npi_fail_at(err, NPGNN_E_IO, path, 0, "cannot be mapped into memory: it is not a regular file");
    if (!code) {
        mapping->env = *env;
        mapping->references = 1;
        mapping->size = (size_t)about.st_size;
        void *bytes = NULL; /* of an empty file, which mmap refuses */
        if (mapping->size > 0)
            bytes = mmap(NULL, mapping->size, PROT_READ, MAP_SHARED, fd, 0);
        if (bytes == MAP_FAILED)
            code = errno == ENOMEM ? npi_fail_at(err, NPGNN_E_MEMORY, path, 0,
                                                 "out of address space: cannot map %zu bytes", mapping->size)
                                   : npi_fail_errno(err, "map", path);
        else
            mapping->bytes = bytes;
    }
    if (fd >= 0)
        close(fd); /* the mapping stays */
    if (code)
        npi_free(env, mapping);
    else
        *out = mapping;
    return code;
}

npi_mapping *npi_mapping_share(npi_mapping *mapping)
{
    __atomic_add_fetch(&mapping->references, 1, __ATOMIC_RELAXED);
    return mapping;
}

void npi_mapping_free(npi_mapping *mapping)
{
    if (!mapping || __atomic_sub_fetch(&mapping->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    npgnn_env env = mapping->env;
    if (mapping->size > 0)
        munmap(mapping->bytes, mapping->size);
    npi_free(&env, mapping);
}
