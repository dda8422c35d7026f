/* Mapping files into memory by mmap. */
#define _GNU_SOURCE /* mkostemp, MADV_DONTNEED */
#include "base/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
        mapping->fd = -1;
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
    if (mapping->fd >= 0)
        close(mapping->fd); /* the last that is left of a temporary file */
    npi_free(&env, mapping->folder);
    npi_free(&env, mapping);
}

/* ---- temporary files ---- */

int npi_mapping_new(npi_mapping **out, const char *folder, const npgnn_env *env, npgnn_error *err)
{
    static const char pattern[] = "/npgnn.XXXXXX";
    size_t length = strlen(folder) + sizeof pattern;
    npi_mapping *mapping = npi_alloc(env, 1, sizeof *mapping, err);
    char *path = npi_alloc(env, length, 1, err);
    int code = mapping && path ? 0 : NPGNN_E_MEMORY;
    if (!code) {
        *mapping = (npi_mapping){.env = *env, .references = 1, .fd = -1};
        mapping->folder = npi_strdup(env, folder, err);
        code = mapping->folder ? 0 : NPGNN_E_MEMORY;
    }
    if (!code) {
        snprintf(path, length, "%s%s", folder, pattern);
        mapping->fd = mkostemp(path, O_CLOEXEC);
        if (mapping->fd < 0)
            code = npi_fail_errno(err, "write temporary files", folder);
        else
            unlink(path);
    }
    npi_free(env, path);
    if (!code) {
        *out = mapping;
    } else if (mapping) {
        npi_free(env, mapping->folder);
        npi_free(env, mapping);
    }
    return code;
}

int npi_mapping_resize(npi_mapping *mapping, size_t size, npgnn_error *err)
{
    int why = 0;
    /* without its blocks, a file on a full disk would end the process by SIGBUS when a page is written */
    if (size > mapping->size)
        do
            why = posix_fallocate(mapping->fd, (off_t)mapping->size, (off_t)(size - mapping->size));
        while (why == EINTR);
    if (why) {
        errno = why;
        return npi_fail_errno(err, "write temporary files", mapping->folder);
    }
    void *bytes = size > 0 ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, mapping->fd, 0) : NULL;
    if (bytes == MAP_FAILED)
        return npi_fail_errno(err, "map temporary files", mapping->folder);
    if (mapping->size > 0)
        munmap(mapping->bytes, mapping->size);
    mapping->bytes = bytes;
    mapping->size = size;
    return 0;
}

void npi_mapping_release(const npi_mapping *mapping)
{
    /* the mapping is shared with the file, so that no change is lost */
    if (mapping && mapping->size > 0)
        madvise(mapping->bytes, mapping->size, MADV_DONTNEED);
}

int npi_mapping_grow(npi_mapping **file, void *items_pointer, size_t *capacity, size_t count, size_t size,
                     const npi_spill *spill, const npgnn_env *env, npgnn_error *err)
{
    void *items;
    memcpy(&items, items_pointer, sizeof items);
    if (count < *capacity)
        return 0;
    if (!*file && (!spill->folder || 2 * count * size <= spill->limit))
        return npi_grow(env, items_pointer, capacity, count, size, err);
    npi_mapping *mapping = *file;
    int code = mapping ? 0 : npi_mapping_new(&mapping, spill->folder, env, err);
    /* in steps of a fixed size, because every step gives the memory of the items before it back */
    size_t step = spill->limit / 4 / size + 1;
    if (!code)
        code = npi_mapping_resize(mapping, (count + step) * size, err);
    if (code) {
        if (!*file)
            npi_mapping_free(mapping);
        return code;
    }
    if (!*file) { /* the items move */
        if (count > 0)
            memcpy(mapping->bytes, items, count * size);
        npi_free(env, items);
        *file = mapping;
    }
    memcpy(items_pointer, &mapping->bytes, sizeof items);
    *capacity = count + step;
    return 0;
}

void npi_mapping_drop(npi_mapping *file, void *items, const npgnn_env *env)
{
    if (file)
        npi_mapping_free(file);
    else
        npi_free(env, items);
}
