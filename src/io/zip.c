/* Zip archives, read by libzip from memory.
 *
 * Layers of compression would multiply: an archive in gzip data, and a member that is gzip data again, could make a
 * kilobyte expand to gigabytes. So there is one layer. An archive in gzip data is refused, members are stored or
 * deflated (other methods of libzip expand a byte to a hundred thousand), what is in a member is not unpacked again,
 * and all that is read of an archive is in proportion to its size, also where members overlap. */
#include "io/zip.h"

#include <stdio.h>
#include <string.h>
#include <zip.h>

#define MAX_ARCHIVE_SIZE ((size_t)1 << 36) /* bytes */
#define MAX_EXPANSION 2048                 /* of all members together; deflate expands to 1032 times at most */
#define UNCHECKED_BYTES ((uint64_t)1 << 20)
#define MAX_MEMBERS 16384 /* libzip's table of names has a hash that anybody can make collide */

struct npi_zip {
    npi_stream *stream; /* of the archive: its name and environment are used */
    unsigned char *bytes;
    size_t size;
    zip_t *archive;
    zip_file_t *member; /* the open member, or NULL */
    uint64_t unpacked;  /* bytes of all members so far */
    char name[512];     /* of that member for messages: "ARCHIVE: MEMBER" */
};

int npi_zip_detect(const npi_stream *stream)
{
    size_t size;
    const unsigned char *bytes = npi_stream_peek(&size, stream);
    return size >= 4 && memcmp(bytes, "PK\3\4", 4) == 0;
}

/* Turns an error of libzip into ours. */
static int broken(const char *file, int reason, npgnn_error *err)
{
    zip_error_t why;
    if (reason == ZIP_ER_MEMORY)
        return npi_fail(err, NPGNN_E_MEMORY, "out of memory while unpacking %s", file);
    zip_error_init_with_code(&why, reason);
    npi_fail_at(err, NPGNN_E_FORMAT, file, 0, "cannot read the zip archive: %s", zip_error_strerror(&why));
    zip_error_fini(&why);
    return NPGNN_E_FORMAT;
}

static uint64_t number_at(const unsigned char *bytes, int size)
{
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

/* Whether a record that may end the archive declares more than MAX_MEMBERS. Looked for where libzip looks: in the last
 * 64 KiB and what belongs to them. The count has 2 bytes, or 8 in the record of zip64, to which the 20 bytes before
 * lead. */
static int has_too_many_members(const unsigned char *bytes, size_t size)
{
    enum { RECORD = 22, LOCATOR = 20, RECORD64 = 56, COMMENT = 65536 };
    size_t first = size > RECORD + LOCATOR + COMMENT ? size - RECORD - LOCATOR - COMMENT : 0;
    for (size_t at = first; at + RECORD <= size; at++) {
        if (memcmp(bytes + at, "PK\5\6", 4) != 0)
            continue;
        uint64_t members = number_at(bytes + at + 10, 2);
        if (at >= LOCATOR && memcmp(bytes + at - LOCATOR, "PK\6\7", 4) == 0) {
            uint64_t there = number_at(bytes + at - LOCATOR + 8, 8);
            if (size >= RECORD64 && there <= size - RECORD64)
                members = number_at(bytes + there + 32, 8);
        }
        if (members > MAX_MEMBERS)
            return 1;
    }
    return 0;
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
    if (code == 0 && has_too_many_members(zip->bytes, zip->size))
        code = npi_fail_at(err, NPGNN_E_FORMAT, npi_stream_name(stream), 0, "the archive has more than %d members",
                           MAX_MEMBERS);
    if (code == 0) {
        zip_error_t why;
        zip_error_init(&why);
        zip_source_t *source = zip_source_buffer_create(zip->bytes, zip->size, 0, &why);
        if (source)
            zip->archive = zip_open_from_source(source, ZIP_RDONLY, &why);
        if (source && !zip->archive)
            zip_source_free(source); /* an archive that is open owns its source */
        int reason = zip_error_code_zip(&why);
        zip_error_fini(&why);
        code = zip->archive ? 0 : broken(npi_stream_name(stream), reason, err);
    }
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
    return zip_get_num_entries(zip->archive, 0);
}

const char *npi_zip_member_name(const npi_zip *zip, int64_t index)
{
    return index < 0 ? NULL : zip_get_name(zip->archive, (zip_uint64_t)index, 0);
}

int npi_zip_has(const npi_zip *zip, const char *member)
{
    return zip_name_locate(zip->archive, member, 0) >= 0;
}

/* The npi_source_fn of a member. */
static int read_member(void *user, unsigned char *bytes, size_t *got, size_t size, npgnn_error *err)
{
    npi_zip *zip = user;
    zip_int64_t count = zip_fread(zip->member, bytes, size);
    *got = count < 0 ? 0 : (size_t)count;
    if (count < 0)
        return broken(zip->name, zip_error_code_zip(zip_file_get_error(zip->member)), err);
    zip->unpacked += (uint64_t)count;
    if (zip->unpacked > UNCHECKED_BYTES && zip->unpacked / MAX_EXPANSION > zip->size)
        return npi_fail_at(err, NPGNN_E_FORMAT, zip->name, 0,
                           "the members of the archive expand to more than %d times its size", MAX_EXPANSION);
    return 0;
}

static void close_member(npi_zip *zip)
{
    if (zip->member)
        zip_fclose(zip->member);
    zip->member = NULL;
}

int npi_zip_open_member(npi_stream **out, npi_zip *zip, const char *member, npgnn_error *err)
{
    close_member(zip);
    snprintf(zip->name, sizeof zip->name, "%s: %s", npi_stream_name(zip->stream), member);
    zip_stat_t about;
    if (zip_stat(zip->archive, member, 0, &about) == 0 && about.valid & ZIP_STAT_COMP_METHOD &&
        about.comp_method != ZIP_CM_STORE && about.comp_method != ZIP_CM_DEFLATE)
        return npi_fail_at(err, NPGNN_E_FORMAT, zip->name, 0,
                           "the member is compressed in another way than deflate: save it with numpy.savez_compressed");
    zip->member = zip_fopen(zip->archive, member, 0);
    if (!zip->member)
        return broken(zip->name, zip_error_code_zip(zip_get_error(zip->archive)), err);
    return npi_stream_open_source(out, zip->name, read_member, zip, npi_stream_env(zip->stream), err);
}

void npi_zip_close(npi_zip *zip)
{
    if (!zip)
        return;
    const npgnn_env *env = npi_stream_env(zip->stream);
    close_member(zip);
    if (zip->archive)
        zip_discard(zip->archive);
    npi_free(env, zip->bytes);
    npi_free(env, zip);
}
