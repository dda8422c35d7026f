/* Zip archives, read from memory with zlib: the directory at the end, then members by name, stored or deflated.
 *
 * Layers of compression would multiply: an archive in gzip data, and a member that is gzip data again, could make a
 * kilobyte expand to gigabytes. So there is one layer. An archive in gzip data is refused, members are stored or
 * deflated (other methods expand a byte to a hundred thousand), what is in a member is not unpacked again, and all that
 * is read of an archive is in proportion to its size, also where members overlap.
 *
 * Nothing of a header is believed: every offset and length is compared with the bytes that are there, and what a member
 * unpacks to with the length and the CRC-32 that the directory states. */
#include "io/zip.h"

#include <stdio.h>
#include <string.h>
#define ZLIB_CONST /* next_in */
#include <zlib.h>

#include "base/names.h"

#define MAX_ARCHIVE_SIZE ((size_t)1 << 36) /* bytes */
#define MAX_EXPANSION 2048                 /* of all members together; deflate expands to 1032 times at most */
#define UNCHECKED_BYTES ((uint64_t)1 << 20)
#define MAX_MEMBERS 16384

enum { STORED = 0, DEFLATED = 8 };

typedef struct zip_member {
    int method, encrypted;
    uint32_t crc;
    uint64_t packed, size; /* bytes in the archive and unpacked */
    uint64_t header;       /* where its local header begins */
} zip_member;

struct npi_zip {
    npi_stream *stream; /* of the archive: its name and environment are used */
    unsigned char *bytes;
    size_t size;
    npi_names *names;    /* of the members */
    zip_member *members; /* likewise, in the same order */
    size_t capacity;
    const zip_member *open; /* NULL: none is */
    const unsigned char *next;
    uint64_t left;     /* packed bytes of the open member from `next` on */
    uint64_t produced; /* bytes that it was unpacked to */
    uint32_t crc;      /* of these */
    z_stream inflater;
    int inflating;     /* the inflater has to be ended */
    uint64_t unpacked; /* bytes of all members so far */
    char name[512];    /* of the open member for messages: "ARCHIVE: MEMBER" */
};

int npi_zip_detect(const npi_stream *stream)
{
    size_t size;
    const unsigned char *bytes = npi_stream_peek(&size, stream);
    return size >= 4 && memcmp(bytes, "PK\3\4", 4) == 0;
}

static int broken(const char *file, npgnn_error *err, const char *why)
{
    return npi_fail_at(err, NPGNN_E_FORMAT, file, 0, "cannot read the zip archive: %s", why);
}

static uint64_t number_at(const unsigned char *bytes, int size)
{
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

/* ---- the directory ---- */

typedef struct directory {
    uint64_t members, size, begin;
} directory;

/* Finds the record that ends the archive: after it there is nothing but its comment. In an archive of zip64, the 20
 * bytes before it lead to a record with wider fields. */
static int find_directory(directory *out, const npi_zip *zip)
{
    enum { RECORD = 22, LOCATOR = 20, RECORD64 = 56, LONGEST_COMMENT = 65535 };
    const unsigned char *bytes = zip->bytes;
    size_t size = zip->size, last = size > RECORD + LONGEST_COMMENT ? size - RECORD - LONGEST_COMMENT : 0;
    for (size_t at = size >= RECORD ? size - RECORD + 1 : 0; at-- > last;) {
        if (memcmp(bytes + at, "PK\5\6", 4) != 0 || number_at(bytes + at + 20, 2) != size - at - RECORD)
            continue;
        *out = (directory){number_at(bytes + at + 10, 2), number_at(bytes + at + 12, 4), number_at(bytes + at + 16, 4)};
        if (at >= LOCATOR && memcmp(bytes + at - LOCATOR, "PK\6\7", 4) == 0) {
            uint64_t there = number_at(bytes + at - LOCATOR + 8, 8);
            if (size < RECORD64 || there > size - RECORD64 || memcmp(bytes + there, "PK\6\6", 4) != 0)
                return 0;
            *out = (directory){number_at(bytes + there + 32, 8), number_at(bytes + there + 40, 8),
                               number_at(bytes + there + 48, 8)};
        }
        return out->begin <= size && out->size <= size - out->begin;
    }
    return 0;
}

/* Takes the fields that do not fit into 32 bits from the extra field of zip64, which has them in this order. */
static int read_zip64(zip_member *member, const unsigned char *extra, size_t size)
{
    uint64_t *const fields[] = {&member->size, &member->packed, &member->header};
    for (size_t at = 0; at + 4 <= size;) {
        size_t length = (size_t)number_at(extra + at + 2, 2), used = 0;
        if (length > size - at - 4)
            return 0;
        for (int i = 0; number_at(extra + at, 2) == 1 && i < 3; i++)
            if (*fields[i] == UINT32_MAX) {
                if (used + 8 > length)
                    return 0;
                *fields[i] = number_at(extra + at + 4 + used, 8);
                used += 8;
            }
        at += 4 + length;
    }
    return 1;
}

static int read_directory(npi_zip *zip, npgnn_error *err)
{
    enum { ENTRY = 46 };
    const char *file = npi_zip_name(zip);
    directory d;
    if (!find_directory(&d, zip))
        return broken(file, err, "its directory is missing: the file is truncated or damaged");
    if (d.members > MAX_MEMBERS)
        return npi_fail_at(err, NPGNN_E_FORMAT, file, 0, "the archive has more than %d members", MAX_MEMBERS);
    const unsigned char *at = zip->bytes + d.begin, *end = at + d.size;
    int code = npi_names_new(&zip->names, npi_zip_env(zip), err);
    for (uint64_t i = 0; code == 0 && i < d.members; i++) {
        if (end - at < ENTRY || memcmp(at, "PK\1\2", 4) != 0)
            return broken(file, err, "its directory is damaged");
        size_t name = (size_t)number_at(at + 28, 2), extra = (size_t)number_at(at + 30, 2);
        size_t length = ENTRY + name + extra + (size_t)number_at(at + 32, 2);
        zip_member member = {.method = (int)number_at(at + 10, 2),
                             .encrypted = at[8] & 1,
                             .crc = (uint32_t)number_at(at + 16, 4),
                             .packed = number_at(at + 20, 4),
                             .size = number_at(at + 24, 4),
                             .header = number_at(at + 42, 4)};
        int32_t index;
        if (length > (size_t)(end - at) || memchr(at + ENTRY, '\0', name) ||
            !read_zip64(&member, at + ENTRY + name, extra))
            return broken(file, err, "its directory is damaged");
        code = npi_grow(npi_zip_env(zip), &zip->members, &zip->capacity, (size_t)i, sizeof *zip->members, err);
        if (code == 0)
            code = npi_names_add(&index, zip->names, (const char *)at + ENTRY, name, err);
        if (code == 0 && index != (int32_t)i)
            return broken(file, err, "two members have the same name");
        if (code == 0)
            zip->members[i] = member;
        at += length;
    }
    return code;
}

int npi_zip_open(npi_zip **out, npi_stream *stream, npgnn_error *err)
{
    if (npi_stream_is_gzip(stream))
        return npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), 0,
                           "a zip archive (.npz) in gzip data is not read: unpack it with gunzip");
    npi_zip *zip = npi_alloc(npi_stream_env(stream), 1, sizeof *zip, err);
    if (!zip)
        return NPGNN_E_MEMORY;
    zip->stream = stream;
    int code = npi_stream_read_all(&zip->bytes, &zip->size, stream, MAX_ARCHIVE_SIZE, err);
    if (code == 0)
        code = read_directory(zip, err);
    if (code)
        npi_zip_close(zip);
    else
        *out = zip;
    return code;
}

size_t npi_zip_size(const npi_zip *zip)
{
    return zip->size;
}

npi_stream *npi_zip_stream(const npi_zip *zip)
{
    return zip->stream;
}

const npgnn_env *npi_zip_env(const npi_zip *zip)
{
    return npi_stream_env(zip->stream);
}

const char *npi_zip_name(const npi_zip *zip)
{
    return npi_stream_name(zip->stream);
}

int64_t npi_zip_count(const npi_zip *zip)
{
    return npi_names_count(zip->names);
}

const char *npi_zip_member_name(const npi_zip *zip, int64_t index)
{
    return index < 0 || index >= npi_zip_count(zip) ? NULL : npi_names_get(zip->names, (int32_t)index);
}

int npi_zip_has(const npi_zip *zip, const char *member)
{
    return npi_names_find(zip->names, member, strlen(member)) >= 0;
}

/* ---- members ---- */

static voidpf inflater_alloc(voidpf env, uInt count, uInt size)
{
    return npi_alloc(env, count, size, NULL);
}

static void inflater_free(voidpf env, voidpf block)
{
    npi_free(env, block);
}

static void close_member(npi_zip *zip)
{
    if (zip->inflating)
        inflateEnd(&zip->inflater);
    zip->inflating = 0;
    zip->open = NULL;
}

/* Copies bytes of a member that is stored. */
static size_t take_stored(npi_zip *zip, unsigned char *bytes, size_t size)
{
    size_t part = zip->left < size ? (size_t)zip->left : size;
    memcpy(bytes, zip->next, part);
    zip->next += part;
    zip->left -= part;
    return part;
}

/* Unpacks at least one byte of a member that is deflated, unless it ends. */
static int take_deflated(size_t *got, npi_zip *zip, unsigned char *bytes, size_t size, npgnn_error *err)
{
    const uInt most = (uInt)1 << 30;
    z_stream *z = &zip->inflater;
    int status = Z_OK;
    z->next_out = bytes;
    z->avail_out = size < most ? (uInt)size : most;
    uInt space = z->avail_out;
    while (z->avail_out == space && status == Z_OK) {
        uInt part = zip->left < most ? (uInt)zip->left : most;
        z->next_in = zip->next;
        z->avail_in = part;
        status = inflate(z, Z_NO_FLUSH);
        zip->next += part - z->avail_in;
        zip->left -= part - z->avail_in;
    }
    if (status == Z_MEM_ERROR)
        return npi_fail(err, NPGNN_E_MEMORY, "out of memory while unpacking %s", zip->name);
    if (status != Z_OK && status != Z_STREAM_END)
        return broken(zip->name, err, "the compressed data is damaged");
    *got = space - z->avail_out;
    return 0;
}

/* The npi_source_fn of a member. */
static int read_member(void *user, unsigned char *bytes, size_t *got, size_t size, npgnn_error *err)
{
    npi_zip *zip = user;
    const zip_member *member = zip->open;
    int code = 0;
    *got = 0;
    if (zip->produced == member->size && zip->produced > 0) /* the sum was compared */
        return 0;
    if (member->method == STORED)
        *got = take_stored(zip, bytes, size);
    else
        code = take_deflated(got, zip, bytes, size, err);
    if (code)
        return code;
    zip->produced += *got;
    zip->unpacked += *got;
    zip->crc = (uint32_t)crc32_z(zip->crc, bytes, *got);
    if (zip->produced > member->size || (*got == 0 && zip->produced < member->size))
        return broken(zip->name, err, "the member has another length than the directory says");
    if (zip->produced == member->size && zip->crc != member->crc)
        return broken(zip->name, err, "the member has another checksum than the directory says");
    if (zip->unpacked > UNCHECKED_BYTES && zip->unpacked / MAX_EXPANSION > zip->size)
        return npi_fail_at(err, NPGNN_E_FORMAT, zip->name, 0,
                           "the members of the archive expand to more than %d times its size", MAX_EXPANSION);
    return 0;
}

/* Sets where the bytes of the open member are: after its local header. */
static int find_bytes(npi_zip *zip, npgnn_error *err)
{
    enum { HEADER = 30 };
    const zip_member *member = zip->open;
    if (zip->size < HEADER || member->header > zip->size - HEADER ||
        memcmp(zip->bytes + member->header, "PK\3\4", 4) != 0)
        return broken(zip->name, err, "the header of the member is damaged");
    const unsigned char *header = zip->bytes + member->header;
    uint64_t begin = member->header + HEADER + number_at(header + 26, 2) + number_at(header + 28, 2);
    if (begin > zip->size || member->packed > zip->size - begin ||
        (member->method == STORED && member->packed != member->size))
        return broken(zip->name, err, "the member has another length than the directory says");
    zip->next = zip->bytes + begin;
    zip->left = member->packed;
    return 0;
}

int npi_zip_open_member(npi_stream **out, npi_zip *zip, const char *member, npgnn_error *err)
{
    close_member(zip);
    snprintf(zip->name, sizeof zip->name, "%s: %s", npi_stream_name(zip->stream), member);
    int32_t index = npi_names_find(zip->names, member, strlen(member));
    if (index < 0)
        return broken(zip->name, err, "there is no such member");
    zip->open = &zip->members[index];
    zip->produced = zip->crc = 0;
    if (zip->open->encrypted)
        return broken(zip->name, err, "the member is encrypted");
    if (zip->open->method != STORED && zip->open->method != DEFLATED)
        return npi_fail_at(err, NPGNN_E_FORMAT, zip->name, 0,
                           "the member is compressed in another way than deflate: save it with numpy.savez_compressed");
    int code = find_bytes(zip, err);
    if (code == 0 && zip->open->method == DEFLATED) {
        zip->inflater =
            (z_stream){.zalloc = inflater_alloc, .zfree = inflater_free, .opaque = (voidpf)(uintptr_t)npi_zip_env(zip)};
        if (inflateInit2(&zip->inflater, -MAX_WBITS) != Z_OK)
            return npi_fail(err, NPGNN_E_MEMORY, "out of memory while unpacking %s", zip->name);
        zip->inflating = 1;
    }
    return code ? code : npi_stream_open_source(out, zip->name, read_member, zip, npi_stream_env(zip->stream), err);
}

void npi_zip_close(npi_zip *zip)
{
    if (!zip)
        return;
    const npgnn_env *env = npi_stream_env(zip->stream);
    close_member(zip);
    npi_names_free(zip->names);
    npi_free(env, zip->members);
    npi_free(env, zip->bytes);
    npi_free(env, zip);
}
