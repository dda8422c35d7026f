/* Element types of numpy arrays: parsing their names and reading elements of either byte order. */
#include "io/dtype.h"

#include <math.h>
#include <string.h>

/* Removes the byte order from the front of the text. Returns 1 where it is big-endian. */
static int cut_byte_order(const char **text, size_t *length)
{
    int marked = *length > 0 && memchr("<>|=", **text, 4);
    int big_endian = marked && **text == '>';
    *text += marked;
    *length -= (size_t)marked;
    return big_endian;
}

int npi_dtype_parse(npi_dtype *out, const char *text, size_t length)
{
    npi_dtype type = {.big_endian = cut_byte_order(&text, &length)};
    if (length != 2 || text[1] < '1' || text[1] > '8')
        return -1;
    type.kind = text[0];
    type.size = text[1] - '0';
    const char *sizes = type.kind == 'f' ? "248" : type.kind == 'b' ? "1" : "1248";
    if (!memchr("fiub", type.kind, 4) || !strchr(sizes, text[1]))
        return -1;
    *out = type;
    return 0;
}

int npi_dtype_parse_any(npi_dtype *out, const char *text, size_t length)
{
    if (npi_dtype_parse(out, text, length) == 0)
        return 0;
    npi_dtype type = {.big_endian = cut_byte_order(&text, &length)};
    int characters = 0;
    if (length == 0 || length > 6 || !memchr("USO", text[0], 3))
        return -1;
    for (size_t i = 1; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -1;
        characters = characters * 10 + (text[i] - '0');
    }
    type.kind = text[0];
    type.size = characters * (type.kind == 'U' ? 4 : 1);
    *out = type;
    return 0;
}

/* The bytes of an element as one unsigned number. */
static uint64_t bits(const unsigned char *element, npi_dtype type)
{
    uint64_t value = 0;
    for (int i = 0; i < type.size; i++)
        value |= (uint64_t)element[type.big_endian ? type.size - 1 - i : i] << (8 * i);
    return value;
}

int64_t npi_dtype_read_int(const unsigned char *element, npi_dtype type)
{
    uint64_t value = bits(element, type);
    if (type.kind == 'b')
        return value != 0;
    if (type.kind == 'u')
        return value > INT64_MAX ? INT64_MAX : (int64_t)value;
    uint64_t sign = (uint64_t)1 << (8 * type.size - 1);
    value = (value ^ sign) - sign; /* sign extension to 64 bits */
    int64_t result;
    memcpy(&result, &value, sizeof result);
    return result;
}

/* IEEE 754 binary16: 1 bit of sign, 5 bits of exponent, 10 bits of fraction. */
static double half(uint64_t value)
{
    int exponent = (int)(value >> 10 & 31);
    double fraction = (double)(value & 1023);
    double magnitude;
    if (exponent == 31)
        magnitude = fraction > 0 ? (double)NAN : (double)INFINITY;
    else
        magnitude = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return value >> 15 & 1 ? -magnitude : magnitude;
}

double npi_dtype_read_float(const unsigned char *element, npi_dtype type)
{
    uint64_t value = bits(element, type);
    uint32_t low = (uint32_t)value;
    float single;
    double number;
    if (type.kind == 'u')
        return (double)value;
    if (type.kind != 'f')
        return (double)npi_dtype_read_int(element, type);
    switch (type.size) {
    case 2:
        return half(value);
    case 4:
        memcpy(&single, &low, sizeof single);
        return (double)single;
    default:
        memcpy(&number, &value, sizeof number);
        return number;
    }
}
