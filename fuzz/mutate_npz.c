/* Mutations of NumPy arrays, alone and in archives: the type, the shape, the numbers, the names. Lengths and checksums
 * are right afterwards, so that the readers get past them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>
#include <zlib.h>

#include "mutate.h"

enum { MEMBERS = 16, MOST = 1 << 17 }; /* bytes of a member */

static const char *const types[] = {"<f4", "<f8", "<f2", "<i8", "<i4", "|u1", "|b1",
                                    ">i4", "<U3", "|S2", "|O",  "<c8", "<u8"};
static const char *const keys[] = {"x",          "y",         "edges",     "edge_index", "adj_data", "adj_indices",
                                   "adj_indptr", "adj_shape", "attr_data", "attr_shape", "labels",   "node_names",
                                   "attr_names", "format",    "data",      "indices",    "indptr",   "shape",
                                   "row",        "col",       "arr_0"};
#define PICK(dice, list) (list)[fuzz_roll(dice, sizeof(list) / sizeof(list)[0])]

/* An array: what the header says, and the elements. */
typedef struct array {
    char key[64], type[16], order[8];
    long long shape[2];
    int dims;
    uint8_t *data;
    size_t size;
} array;

/* Returns 0 where the bytes are not a .npy file. */
static int array_read(array *out, const uint8_t *bytes, size_t size)
{
    char text[512];
    size_t length = size >= 10 ? bytes[8] | (size_t)bytes[9] << 8 : 0;
    if (size < 10 || memcmp(bytes, "\x93NUMPY\1", 7) != 0 || length > size - 10 || length >= sizeof text)
        return 0;
    memcpy(text, bytes + 10, length);
    text[length] = '\0';
    const char *type = strstr(text, "'descr': '"), *order = strstr(text, "'fortran_order': "),
               *shape = strstr(text, "'shape': (");
    if (!type || !order || !shape || sscanf(type + 10, "%15[^']", out->type) != 1 ||
        sscanf(order + 17, "%7[a-zA-Z]", out->order) != 1)
        return 0;
    int dims = sscanf(shape + 10, "%lld, %lld", &out->shape[0], &out->shape[1]);
    out->dims = dims > 0 ? dims : 0;
    out->size = size - 10 - length;
    out->data = malloc(MOST);
    if (!out->data || out->size > MOST)
        return 0;
    memcpy(out->data, bytes + 10 + length, out->size);
    return 1;
}

/* Writes a .npy file. Returns its size, 0 where it does not fit. */
static size_t array_write(uint8_t *to, size_t most, const array *a)
{
    char shape[64] = "()", header[256];
    if (a->dims == 1)
        snprintf(shape, sizeof shape, "(%lld,)", a->shape[0]);
    if (a->dims == 2)
        snprintf(shape, sizeof shape, "(%lld, %lld)", a->shape[0], a->shape[1]);
    int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n", a->type,
                          a->order, shape);
    if (length < 0 || 10 + (size_t)length + a->size > most)
        return 0;
    memcpy(to, "\x93NUMPY\1\0", 8);
    to[8] = (uint8_t)(length & 255);
    to[9] = (uint8_t)(length >> 8);
    memcpy(to + 10, header, (size_t)length);
    memcpy(to + 10 + length, a->data, a->size);
    return 10 + (size_t)length + a->size;
}

static size_t element_size(const array *a)
{
    size_t size = a->type[0] ? (size_t)strtol(a->type + 2, NULL, 10) : 1;
    return size == 0 ? 1 : a->type[1] == 'U' ? 4 * size : size;
}

static void array_change(array *a, size_t most, fuzz_dice *dice)
{
    static const long long sizes[] = {0, 1, 2, 3, 64, 1 << 20, (1 << 20) + 1, 2147483646, 2147483647, -1, 4294967297};
    static const long long integers[] = {0, 1, 2, -1, 2147483646, 2147483647, -2147483648LL, 9223372036854775807LL};
    static const double reals[] = {0, 1, -1, 1e38, 1e308, 1e-320, 0.5};
    size_t width = element_size(a), elements = a->size / width, dim = fuzz_roll(dice, 2);
    switch (fuzz_roll(dice, 7)) {
    case 0:
        snprintf(a->type, sizeof a->type, "%s", PICK(dice, types));
        break;
    case 1:
        snprintf(a->order, sizeof a->order, "%s", fuzz_roll(dice, 2) ? "True" : "False");
        break;
    case 2:
        a->dims = (int)fuzz_roll(dice, 3);
        break;
    case 3:
        a->shape[dim] = fuzz_roll(dice, 2) ? PICK(dice, sizes) : a->shape[dim] + (long long)fuzz_roll(dice, 3) - 1;
        break;
    case 4: { /* an element, or all */
        size_t first = fuzz_roll(dice, elements), last = fuzz_roll(dice, 3) ? first + 1 : elements;
        for (size_t i = first; i < last && i < elements; i++) {
            uint8_t bytes[8] = {0};
            float narrow = (float)PICK(dice, reals);
            if (a->type[1] == 'f' && width == 4)
                memcpy(bytes, &narrow, 4);
            else if (a->type[1] == 'f')
                memcpy(bytes, &PICK(dice, reals), 8);
            else
                memcpy(
                    bytes,
                    &(long long){fuzz_roll(dice, 4) ? (long long)fuzz_roll(dice, elements + 1) : PICK(dice, integers)},
                    8);
            memcpy(a->data + i * width, bytes, width < 8 ? width : 8);
        }
        break;
    }
    case 5: { /* many more rows, and the shape says so */
        size_t row = width * (size_t)(a->dims == 2 && a->shape[1] > 0 && a->shape[1] < 1000 ? a->shape[1] : 1);
        size_t limit = most / 2 < MOST ? most / 2 : MOST, rows = a->size / row, more = fuzz_roll(dice, 3000);
        for (size_t i = 0; rows > 0 && i < more && a->size + row <= limit; i++) {
            memcpy(a->data + a->size, a->data + fuzz_roll(dice, rows) * row, row);
            a->size += row;
            a->shape[0]++;
        }
        break;
    }
    default:
        a->size = fuzz_roll(dice, a->size + 1);
        if (fuzz_roll(dice, 2))
            a->shape[0] = (long long)(a->size / width);
    }
}

size_t fuzz_mutate_npy(uint8_t *data, size_t size, size_t most, fuzz_dice *dice)
{
    array a = {.dims = 0};
    size_t made = 0;
    if (array_read(&a, data, size)) {
        array_change(&a, most, dice);
        made = array_write(data, most, &a);
    }
    free(a.data);
    return made;
}

/* ---- archives ---- */

static int archive_read(array members[MEMBERS], const uint8_t *data, size_t size)
{
    zip_error_t why;
    int count = 0;
    zip_error_init(&why);
    zip_source_t *source = zip_source_buffer_create(data, size, 0, &why);
    zip_t *zip = source ? zip_open_from_source(source, ZIP_RDONLY, &why) : NULL;
    if (source && !zip)
        zip_source_free(source);
    zip_error_fini(&why);
    uint8_t *bytes = malloc(MOST);
    for (zip_int64_t i = 0; zip && bytes && i < zip_get_num_entries(zip, 0) && count < MEMBERS; i++) {
        const char *name = zip_get_name(zip, (zip_uint64_t)i, 0);
        zip_file_t *file = zip_fopen_index(zip, (zip_uint64_t)i, 0);
        zip_int64_t got = file ? zip_fread(file, bytes, MOST) : -1;
        array *a = &members[count];
        if (name && strlen(name) > 4 && strlen(name) < sizeof a->key && got > 0 && array_read(a, bytes, (size_t)got)) {
            snprintf(a->key, sizeof a->key, "%.*s", (int)strlen(name) - 4, name);
            count++;
        } else {
            free(a->data);
            a->data = NULL;
        }
        if (file)
            zip_fclose(file);
    }
    free(bytes);
    if (zip)
        zip_discard(zip);
    return count;
}

typedef struct writer {
    uint8_t *at, *end;
    int full;
} writer;

static void put(writer *w, const void *bytes, size_t count)
{
    if (w->full || (size_t)(w->end - w->at) < count) {
        w->full = 1;
        return;
    }
    memcpy(w->at, bytes, count);
    w->at += count;
}

static void put_number(writer *w, uint32_t value, int bytes)
{
    uint8_t little[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
    put(w, little, (size_t)bytes);
}

/* The header of a member, local or in the directory. */
static void put_header(writer *w, int local, const char *name, int deflated, uint32_t crc, size_t packed, size_t size,
                       size_t offset)
{
    put_number(w, local ? 0x04034B50 : 0x02014B50, 4);
    put_number(w, 20 | 20 << 16, local ? 2 : 4);
    put_number(w, 0, 2);
    put_number(w, deflated ? 8 : 0, 2);
    put_number(w, 0x210000, 4);
    put_number(w, crc, 4);
    put_number(w, (uint32_t)packed, 4);
    put_number(w, (uint32_t)size, 4);
    put_number(w, (uint32_t)strlen(name), 2);
    put_number(w, 0, 2);
    if (!local) {
        put_number(w, 0, 4);
        put_number(w, 0, 2);
        put_number(w, 0, 4);
        put_number(w, (uint32_t)offset, 4);
    }
    put(w, name, strlen(name));
}

/* Deflates; returns 0 where the result is not smaller. */
static size_t deflated(uint8_t *to, const uint8_t *from, size_t size)
{
    z_stream z = {0};
    if (deflateInit2(&z, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    z.next_in = (Bytef *)(uintptr_t)from;
    z.avail_in = (uInt)size;
    z.next_out = to;
    z.avail_out = (uInt)size;
    int status = deflate(&z, Z_FINISH);
    size_t made = z.total_out;
    deflateEnd(&z);
    return status == Z_STREAM_END ? made : 0;
}

static size_t archive_write(uint8_t *data, size_t most, const array *members, int count, fuzz_dice *dice)
{
    writer w = {.at = data, .end = data + most}, directory = {0};
    uint8_t *bytes = malloc(2 * MOST), *packed = malloc(2 * MOST), *entries = malloc(MEMBERS * 256);
    directory.at = entries;
    directory.end = entries ? entries + (size_t)MEMBERS * 256 : NULL;
    int compress = (int)fuzz_roll(dice, 2);
    for (int i = 0; bytes && packed && entries && i < count; i++) {
        char name[80];
        size_t size = array_write(bytes, (size_t)2 * MOST, &members[i]),
               small = compress ? deflated(packed, bytes, size) : 0;
        size_t offset = (size_t)(w.at - data);
        uint32_t crc = (uint32_t)crc32(0, bytes, (uInt)size);
        snprintf(name, sizeof name, "%.63s.npy", members[i].key);
        put_header(&w, 1, name, small > 0, crc, small ? small : size, size, 0);
        put(&w, small ? packed : bytes, small ? small : size);
        put_header(&directory, 0, name, small > 0, crc, small ? small : size, size, offset);
    }
    size_t start = (size_t)(w.at - data), length = entries ? (size_t)(directory.at - entries) : 0;
    put(&w, entries, length);
    put_number(&w, 0x06054B50, 4);
    put_number(&w, 0, 4);
    put_number(&w, (uint32_t)count, 2);
    put_number(&w, (uint32_t)count, 2);
    put_number(&w, (uint32_t)length, 4);
    put_number(&w, (uint32_t)start, 4);
    put_number(&w, 0, 2);
    free(bytes);
    free(packed);
    free(entries);
    return w.full || directory.full ? 0 : (size_t)(w.at - data);
}

size_t fuzz_mutate_npz(uint8_t *data, size_t size, size_t most, fuzz_dice *dice)
{
    array members[MEMBERS + 1] = {{.dims = 0}};
    int count = archive_read(members, data, size), which = (int)fuzz_roll(dice, (size_t)count);
    size_t made = 0;
    if (count > 0) {
        array *a = &members[which];
        switch (fuzz_roll(dice, 6)) {
        case 0: /* it is called something else */
            snprintf(a->key, sizeof a->key, "%s", PICK(dice, keys));
            break;
        case 1: /* it is missing */
            free(a->data);
            *a = members[count - 1];
            members[--count].data = NULL;
            break;
        case 2: /* there is another one like it */
            if (count < MEMBERS && (members[count].data = malloc(MOST)) != NULL) {
                uint8_t *own = members[count].data;
                memcpy(own, a->data, a->size);
                members[count] = *a;
                members[count].data = own;
                snprintf(members[count++].key, sizeof a->key, "%s", PICK(dice, keys));
            }
            break;
        default:
            array_change(a, most, dice);
        }
        made = archive_write(data, most, members, count, dice);
    }
    for (int i = 0; i < MEMBERS; i++)
        free(members[i].data);
    return made;
}
