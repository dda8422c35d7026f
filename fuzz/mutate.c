/* Mutations of text by element, and of safetensors; mutate_npz.c has those of arrays. */
#include "mutate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t fuzz_roll(fuzz_dice *dice, size_t sides)
{
    dice->state = dice->state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
    return sides > 0 ? (size_t)(dice->state >> 33) % sides : 0;
}

static const char *const literals[] = {"0",
                                       "-1",
                                       "1",
                                       "2147483647",
                                       "2147483648",
                                       "-9223372036854775808",
                                       "18446744073709551615",
                                       "1e38",
                                       "1e308",
                                       "1e-320",
                                       "0.1",
                                       "",
                                       "null",
                                       "true",
                                       "\"\"",
                                       "[]",
                                       "{}",
                                       "nan",
                                       "node",
                                       "edge",
                                       "id",
                                       "key",
                                       "source",
                                       "target",
                                       "weight",
                                       "class",
                                       "&amp;",
                                       "&#10;",
                                       "\\u0000",
                                       "\\ud800",
                                       "\"",
                                       "\n",
                                       "1:1",
                                       "%%MatrixMarket"};
enum { LITERALS = sizeof literals / sizeof literals[0] };

/* ---- text: a span is a field or an element, and a mutation does something with one span ---- */

typedef struct span {
    size_t begin, end;
} span;

typedef span find_fn(const uint8_t *text, size_t size, fuzz_dice *dice);

typedef struct language {
    find_fn *find;
    const char *separator, *open, *close; /* between copies of an element; around an element that is nested */
} language;

/* Puts `count` bytes in place of a span. Returns the new size; the old one where there is not enough space. */
static size_t replace(uint8_t *text, size_t size, size_t most, span s, const void *bytes, size_t count)
{
    size_t rest = size - s.end, made = s.begin + count + rest;
    if (made > most)
        return size;
    memmove(text + s.begin + count, text + s.end, rest);
    if (count > 0)
        memcpy(text + s.begin, bytes, count);
    return made;
}

/* Appends a copy of an element in which the first text in quotes is a number: ids stay different. */
static size_t append_numbered(uint8_t *to, size_t used, size_t room, const uint8_t *from, size_t size, size_t number)
{
    char digits[24];
    size_t open = 0, close;
    while (open < size && from[open] != '"' && from[open] != '\'')
        open++;
    for (close = open + 1; close < size && from[close] != from[open];)
        close++;
    int length = snprintf(digits, sizeof digits, "%zu", number);
    if (close >= size) { /* no text in quotes */
        open = size;
        close = size;
        length = 0;
    } else {
        open++;
    }
    size_t made = open + (size_t)length + (size - close);
    if (used + made > room)
        return used;
    memcpy(to + used, from, open);
    memcpy(to + used + open, digits, (size_t)length);
    memcpy(to + used + open + (size_t)length, from + close, size - close);
    return used + made;
}

static size_t mutate_text(uint8_t *text, size_t size, size_t most, const language *l, fuzz_dice *dice)
{
    span s = l->find(text, size, dice);
    if (s.end <= s.begin || s.end > size)
        return 0;
    size_t length = s.end - s.begin, separator = strlen(l->separator), room = most - (size - length), used = 0;
    uint8_t *made = malloc(most + 1);
    if (!made)
        return 0;
    switch (fuzz_roll(dice, 7)) {
    case 0: /* it is missing */
        break;
    case 1: { /* it is there many times, as it is or numbered */
        size_t often = fuzz_roll(dice, 8), numbered = fuzz_roll(dice, 2);
        size_t copies = fuzz_roll(dice, often < 4 ? 5 : often < 7 ? 500 : 40000);
        memcpy(made, text + s.begin, length);
        used = length;
        for (size_t i = 0; i < copies && used + separator + length + 24 < room; i++) {
            memcpy(made + used, l->separator, separator);
            used += separator;
            if (numbered) {
                used = append_numbered(made, used, room, text + s.begin, length, i);
            } else {
                memcpy(made + used, text + s.begin, length);
                used += length;
            }
        }
        break;
    }
    case 2: { /* it is something else */
        const char *literal = literals[fuzz_roll(dice, LITERALS)];
        used = strlen(literal);
        memcpy(made, literal, used < room ? used : 0);
        break;
    }
    case 3: { /* it is what stands elsewhere */
        span other = l->find(text, size, dice);
        used = other.end > other.begin && other.end <= size ? other.end - other.begin : 0;
        memcpy(made, text + other.begin, used <= most ? used : 0);
        break;
    }
    case 4: { /* it is nested, once or deep */
        size_t depth = fuzz_roll(dice, 2) ? 1 : fuzz_roll(dice, 100), open = strlen(l->open), close = strlen(l->close);
        if (length + depth * (open + close) > room)
            depth = 0;
        for (size_t i = 0; i < depth; i++, used += open)
            memcpy(made + used, l->open, open);
        memcpy(made + used, text + s.begin, length);
        used += length;
        for (size_t i = 0; i < depth; i++, used += close)
            memcpy(made + used, l->close, close);
        break;
    }
    default: /* some of its bytes are others */
        memcpy(made, text + s.begin, length);
        used = LLVMFuzzerMutate(made, length, length + 64 < room ? length + 64 : room);
    }
    size = replace(text, size, most, s, made, used);
    free(made);
    return size;
}

/* ---- XML ---- */

/* The n-th place with one of these characters, counted around; size where there is none. */
static size_t place_of(const uint8_t *text, size_t size, const char *characters, fuzz_dice *dice)
{
    size_t start = fuzz_roll(dice, size);
    for (size_t i = 0; i < size; i++) {
        size_t at = (start + i) % size;
        if (text[at] && strchr(characters, text[at]))
            return at;
    }
    return size;
}

static size_t after(const uint8_t *text, size_t size, size_t at, int character)
{
    const uint8_t *found = at < size ? memchr(text + at, character, size - at) : NULL;
    return found ? (size_t)(found - text) + 1 : size;
}

/* An attribute, a text between tags, or an element with all that is in it. */
static span find_xml(const uint8_t *text, size_t size, fuzz_dice *dice)
{
    size_t what = fuzz_roll(dice, 4);
    if (what == 0) {
        size_t at = place_of(text, size, "\"'", dice), end = at < size ? after(text, size, at + 1, text[at]) : 0;
        return (span){at + 1, end > at + 1 ? end - 1 : 0};
    }
    if (what == 1) {
        size_t at = place_of(text, size, ">", dice), end = after(text, size, at + 1, '<');
        return (span){at + 1, end > at + 1 ? end - 1 : 0};
    }
    size_t at = place_of(text, size, "<", dice), end = after(text, size, at, '>');
    int depth = 0;
    for (size_t tag = at; tag < size; tag = end) { /* to the tag that closes the one at hand */
        end = after(text, size, tag, '>');
        if (end >= 2 && text[end - 2] == '/')
            depth += 0;
        else if (tag + 1 < size && text[tag + 1] == '/')
            depth--;
        else if (tag + 1 < size && text[tag + 1] != '?' && text[tag + 1] != '!')
            depth++;
        if (depth <= 0)
            break;
        const uint8_t *next = end < size ? memchr(text + end, '<', size - end) : NULL;
        end = next ? (size_t)(next - text) : size;
    }
    return (span){at, end};
}

size_t fuzz_mutate_xml(uint8_t *data, size_t size, size_t most, fuzz_dice *dice)
{
    static const language xml = {find_xml, "", "<d>", "</d>"};
    return size > 0 ? mutate_text(data, size, most, &xml, dice) : 0;
}

/* ---- JSON ---- */

/* A value, with all that is in it; a name of a member counts as one. */
static span find_json(const uint8_t *text, size_t size, fuzz_dice *dice)
{
    size_t at = place_of(text, size, "{[\"-0123456789tfn", dice), end = at;
    int depth = 0, quoted = 0;
    if (at < size && text[at] != '{' && text[at] != '[' && text[at] != '"') {
        while (end < size && !strchr(" \t\r\n,:]}", text[end]))
            end++;
        return (span){at, end};
    }
    for (; end < size; end++) {
        if (quoted && text[end] == '\\')
            end++;
        else if (text[end] == '"')
            quoted = !quoted;
        else if (!quoted)
            depth += (text[end] == '{' || text[end] == '[') - (text[end] == '}' || text[end] == ']');
        if (!quoted && depth <= 0)
            return (span){at, end + 1 < size ? end + 1 : size};
    }
    return (span){at, size};
}

size_t fuzz_mutate_json(uint8_t *data, size_t size, size_t most, fuzz_dice *dice)
{
    static const language commas = {find_json, ", ", "[", "]"}, lines = {find_json, "\n", "{\"a\":", "}"};
    return size > 0 ? mutate_text(data, size, most, fuzz_roll(dice, 3) ? &commas : &lines, dice) : 0;
}

/* ---- lines of fields ---- */

/* What stands between two of these characters. */
static span find_between(const uint8_t *text, size_t size, const char *characters, fuzz_dice *dice)
{
    size_t begin = fuzz_roll(dice, size), end = begin;
    while (begin > 0 && !strchr(characters, text[begin - 1]))
        begin--;
    while (end < size && !strchr(characters, text[end]))
        end++;
    return (span){begin, end};
}

static span find_line(const uint8_t *text, size_t size, fuzz_dice *dice)
{
    return find_between(text, size, "\n", dice);
}

static span find_field(const uint8_t *text, size_t size, fuzz_dice *dice)
{
    return find_between(text, size, "\n\t,; :", dice);
}

size_t fuzz_mutate_lines(uint8_t *data, size_t size, size_t most, fuzz_dice *dice)
{
    static const language lines = {find_line, "\n", "\"", "\""}, tabs = {find_field, "\t", "\"", "\""};
    static const language commas = {find_field, ",", "\"", "\""}, blanks = {find_field, " ", "\"", "\""};
    static const language *const all[] = {&lines, &lines, &tabs, &commas, &blanks};
    return size > 0 ? mutate_text(data, size, most, all[fuzz_roll(dice, 5)], dice) : 0;
}

/* ---- safetensors: length (u64), header (JSON), tensors ---- */

size_t fuzz_mutate_safetensors(uint8_t *data, size_t size, size_t most, fuzz_dice *dice)
{
    static const float numbers[] = {0, 1, -1, 3e38f, -3e38f, 1e-45f, 1e18f, 0.5f};
    uint64_t length = 0;
    if (size < 8)
        return 0;
    memcpy(&length, data, 8);
    if (length == 0 || length > size - 8)
        return 0;
    size_t tensors = size - 8 - (size_t)length, header = (size_t)length;
    if (tensors >= 4 && fuzz_roll(dice, 3) == 0) { /* a number, or all of them */
        size_t first = fuzz_roll(dice, tensors / 4), last = fuzz_roll(dice, 4) ? first + 1 : tensors / 4;
        for (size_t i = first; i < last; i++)
            memcpy(data + 8 + header + 4 * i, &numbers[fuzz_roll(dice, sizeof numbers / sizeof numbers[0])], 4);
        return size;
    }
    uint8_t *text = malloc(most);
    if (!text)
        return 0;
    memcpy(text, data + 8, header);
    size_t made = fuzz_mutate_json(text, header, most - 8 - tensors, dice);
    if (made > 0) { /* the length is right, and the tensors are where they were behind the header */
        memmove(data + 8 + made, data + 8 + header, tensors);
        memcpy(data + 8, text, made);
        length = made;
        memcpy(data, &length, 8);
        size = 8 + made + tensors;
    }
    free(text);
    return made > 0 ? size : 0;
}

/* ---- arrays of integers of 4 and 8 bytes ---- */

size_t fuzz_mutate_words(uint8_t *data, size_t size, size_t most, fuzz_dice *dice)
{
    static const int64_t numbers[] = {0, 1, -1, 64, INT32_MAX, INT64_MAX, INT64_MIN, 1 << 20};
    enum { HEADER = 384 };
    (void)most;
    size_t width = fuzz_roll(dice, 2) ? 8 : 4, words = size / width;
    if (words < 2)
        return 0;
    /* half of them in the header, which is the smaller part */
    size_t at = fuzz_roll(dice, size > HEADER && fuzz_roll(dice, 2) ? HEADER / width : words) * width;
    uint64_t value = 0;
    memcpy(&value, data + at, width);
    switch (fuzz_roll(dice, 4)) {
    case 0:
        value = (uint64_t)numbers[fuzz_roll(dice, sizeof numbers / sizeof numbers[0])];
        break;
    case 1:
        value++;
        break;
    case 2:
        value--;
        break;
    default: /* another word of the file */
        memcpy(&value, data + fuzz_roll(dice, words) * width, width);
    }
    memcpy(data + at, &value, width);
    return size;
}

/* ---- for libFuzzer ---- */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    fuzz_dice dice = {seed};
    fuzz_roll(&dice, 2);
    if (fuzz_roll(&dice, 4) == 0)
        return LLVMFuzzerMutate(data, size, most);
    size_t made = size;
    for (size_t changes = 1 + fuzz_roll(&dice, 3); changes > 0 && made > 0; changes--)
        made = FUZZ_MUTATE(data, made, most, &dice);
    return made > 0 ? made : LLVMFuzzerMutate(data, size, most);
}
