/* A set of names: their text in one block, and a hash table with open addressing and linear probing over it. The hash
 * has a key of its own per table, so that a file cannot choose names that all fall into one slot. Numbers are given in
 * order of appearance until the names are sorted, whatever the key is. */
#include "base/names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/parallel.h"
#include "base/siphash.h"
#include "base/sort.h"

struct npi_names {
    npgnn_env env;
    npi_hash_key key;
    int references;
    int32_t count;
    char *text;
    size_t text_size, text_capacity;
    uint64_t *start; /* (count) offset of each name in text; every name is terminated */
    size_t start_capacity;
    int32_t *slot; /* (slots) number of a name, or -1; slots is a power of two */
    size_t slots;
    npi_mapping *mapping;         /* the file that text and start lie in, and `mapped`; NULL: they are allocated */
    const npi_names_slot *mapped; /* (npi_names_slots) instead of slot */
};

int npi_names_new(npi_names **out, const npgnn_env *env, npgnn_error *err)
{
    npi_names *names = npi_alloc(env, 1, sizeof *names, err);
    if (!names)
        return NPGNN_E_MEMORY;
    names->env = *env;
    names->key = npi_hash_key_draw();
    names->references = 1;
    *out = names;
    return 0;
}

/* The slot that holds this name, or the empty slot where it belongs. The table always has an empty slot. */
static size_t find_slot(const npi_names *names, const char *name, size_t length)
{
    size_t mask = names->slots - 1;
    size_t at = (size_t)npi_siphash(names->key, name, length) & mask;
    while (names->slot[at] >= 0) {
        const char *other = names->text + names->start[names->slot[at]];
        if (strlen(other) == length && memcmp(other, name, length) == 0)
            break;
        at = (at + 1) & mask;
    }
    return at;
}

/* Doubles the table when it is two thirds full, and enters all names again. */
static int grow_slots(npi_names *names, npgnn_error *err)
{
    if ((size_t)names->count * 3 < names->slots * 2)
        return 0;
    size_t slots = names->slots ? names->slots * 2 : 64;
    int32_t *slot = npi_resize(&names->env, NULL, slots, sizeof *slot, err);
    if (!slot)
        return NPGNN_E_MEMORY;
    npi_free(&names->env, names->slot);
    names->slot = slot;
    names->slots = slots;
    memset(slot, -1, slots * sizeof *slot);
    for (int32_t i = 0; i < names->count; i++) {
        const char *name = names->text + names->start[i];
        slot[find_slot(names, name, strlen(name))] = i;
    }
    return 0;
}

static int grow_text(npi_names *names, size_t extra, npgnn_error *err)
{
    if (names->text_capacity - names->text_size >= extra)
        return 0;
    size_t wanted = names->text_capacity * 2 + extra + 64;
    char *text = npi_resize(&names->env, names->text, wanted, 1, err);
    if (!text)
        return NPGNN_E_MEMORY;
    names->text = text;
    names->text_capacity = wanted;
    return 0;
}

int npi_names_add(int32_t *index, npi_names *names, const char *name, size_t length, npgnn_error *err)
{
    assert(!names->mapping);
    if (grow_slots(names, err))
        return NPGNN_E_MEMORY;
    size_t at = find_slot(names, name, length); /* after grow_slots, which moves slots */
    if (names->slot[at] >= 0) {
        *index = names->slot[at];
        return 0;
    }
    if (names->count == INT32_MAX)
        return npi_fail(err, NPGNN_E_FORMAT, "too many names: the limit is %d", INT32_MAX);
    if (grow_text(names, length + 1, err) ||
        npi_grow(&names->env, &names->start, &names->start_capacity, (size_t)names->count, sizeof *names->start, err))
        return NPGNN_E_MEMORY;
    /* nothing fails from here on: append the text and enter the name */
    memcpy(names->text + names->text_size, name, length);
    names->text[names->text_size + length] = '\0';
    names->start[names->count] = names->text_size;
    names->text_size += length + 1;
    names->slot[at] = names->count;
    *index = names->count++;
    return 0;
}

static size_t first_slot(uint32_t tag, size_t slots)
{
    return (size_t)((uint64_t)tag * slots >> 32);
}

static uint32_t tag_of(npi_hash_key key, const char *name, size_t length)
{
    return (uint32_t)(npi_siphash(key, name, length) >> 32);
}

static int is_name(const npi_names *names, int32_t index, const char *name, size_t length)
{
    const char *other = names->text + names->start[index];
    return strlen(other) == length && memcmp(other, name, length) == 0;
}

static int32_t find_mapped(const npi_names *names, const char *name, size_t length)
{
    size_t slots = npi_names_slots(names->count);
    uint32_t tag = tag_of(names->key, name, length);
    size_t at = first_slot(tag, slots);
    while (names->mapped[at].index >= 0 &&
           !(names->mapped[at].tag == tag && is_name(names, names->mapped[at].index, name, length)))
        at = at + 1 < slots ? at + 1 : 0;
    return names->mapped[at].index;
}

int32_t npi_names_find(const npi_names *names, const char *name, size_t length)
{
    if (names->mapped)
        return find_mapped(names, name, length);
    return names->slots ? names->slot[find_slot(names, name, length)] : -1;
}

const char *npi_names_get(const npi_names *names, int32_t index)
{
    return names->text + names->start[index];
}

int32_t npi_names_count(const npi_names *names)
{
    return names->count;
}

/* ---- the canonical order ---- */

static int is_plain_integer(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    return digits > 0 && !name[digits] && (name[0] != '0' || digits == 1);
}

int npi_names_compare(const char *a, const char *b)
{
    int integers[2] = {is_plain_integer(a), is_plain_integer(b)};
    if (integers[0] != integers[1])
        return integers[0] ? -1 : 1;
    size_t lengths[2] = {strlen(a), strlen(b)};
    if (integers[0] && lengths[0] != lengths[1])
        return lengths[0] < lengths[1] ? -1 : 1;
    return strcmp(a, b);
}

/* A number that ascends with the names, which all begin with the same `shared` bytes unless they are integers: the
 * value of an integer of at most 18 digits, or 2^63 plus the next seven bytes. Names may share one. */
static uint64_t sort_key(const char *name, size_t shared)
{
    enum { DIGITS = 18, BYTES = 7 };
    uint64_t key = 0;
    if (is_plain_integer(name)) {
        if (strlen(name) > DIGITS)
            return (uint64_t)INT64_MAX;
        for (; *name; name++)
            key = 10 * key + (uint64_t)(*name - '0');
        return key;
    }
    name += shared;
    for (int i = 0; i < BYTES; i++) {
        key = key << 8 | (unsigned char)*name;
        name += *name != '\0';
    }
    return (uint64_t)1 << 63 | key;
}

/* The length of the prefix that all names from `first` on share, integers apart. */
static size_t shared_prefix(const npi_names *names, int32_t first)
{
    const char *prefix = NULL;
    size_t shared = 0;
    for (int32_t i = first; i < names->count; i++) {
        const char *name = npi_names_get(names, i);
        if (is_plain_integer(name))
            continue;
        if (!prefix) {
            prefix = name;
            shared = strlen(name);
        }
        size_t same = 0;
        while (same < shared && name[same] == prefix[same])
            same++;
        shared = same;
    }
    return shared;
}

typedef struct keyed {
    const char *name;
    uint64_t index;
} keyed;

static int by_name(const void *a, const void *b)
{
    return npi_names_compare(((const keyed *)a)->name, ((const keyed *)b)->name);
}

/* Sorts the records (count; key and index) whose keys are equal by their whole names. */
static int sort_ties(uint64_t *records, size_t count, const npi_names *names, npgnn_error *err)
{
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && records[2 * end] == records[2 * begin];)
            end++;
        if (end == begin + 1)
            continue;
        keyed *tied = npi_alloc(&names->env, end - begin, sizeof *tied, err);
        if (!tied)
            return NPGNN_E_MEMORY;
        for (size_t i = begin; i < end; i++)
            tied[i - begin] = (keyed){npi_names_get(names, (int32_t)records[2 * i + 1]), records[2 * i + 1]};
        qsort(tied, end - begin, sizeof *tied, by_name);
        for (size_t i = begin; i < end; i++)
            records[2 * i + 1] = tied[i - begin].index;
        npi_free(&names->env, tied);
    }
    return 0;
}

/* order (count) = the names from `first` on in canonical order, after those before it. */
static int find_order(int32_t *order, const npi_names *names, int32_t first, npgnn_error *err)
{
    size_t count = (size_t)(names->count - first), shared = shared_prefix(names, first);
    uint64_t *records = npi_resize(&names->env, NULL, 4 * count, sizeof *records, err);
    if (!records)
        return NPGNN_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        records[2 * i] = sort_key(npi_names_get(names, first + (int32_t)i), shared);
        records[2 * i + 1] = (uint64_t)first + i;
    }
    npi_records_sort(records, records + 2 * count, count, 2);
    int code = sort_ties(records, count, names, err);
    for (int32_t i = 0; i < first; i++)
        order[i] = i;
    for (size_t i = 0; i < count; i++)
        order[(size_t)first + i] = (int32_t)records[2 * i + 1];
    npi_free(&names->env, records);
    return code;
}

/* Moves the texts into this order, and gives the hash table the new numbers. */
static int renumber(npi_names *names, int32_t *place, const int32_t *order, npgnn_error *err)
{
    char *text = npi_resize(&names->env, NULL, names->text_size, 1, err);
    uint64_t *start = npi_resize(&names->env, NULL, (size_t)names->count, sizeof *start, err);
    if (!text || !start) {
        npi_free(&names->env, text);
        npi_free(&names->env, start);
        return NPGNN_E_MEMORY;
    }
    size_t used = 0;
    for (int32_t i = 0; i < names->count; i++) {
        const char *name = npi_names_get(names, order[i]);
        size_t size = strlen(name) + 1;
        memcpy(text + used, name, size);
        start[i] = used;
        used += size;
        place[order[i]] = i;
    }
    for (size_t s = 0; s < names->slots; s++)
        names->slot[s] = names->slot[s] < 0 ? -1 : place[names->slot[s]];
    npi_free(&names->env, names->text);
    npi_free(&names->env, names->start);
    names->text = text;
    names->start = start;
    names->text_capacity = names->text_size;
    names->start_capacity = (size_t)names->count;
    return 0;
}

int npi_names_sort(int32_t **place, npi_names *names, int32_t first, npgnn_error *err)
{
    assert(!names->mapping && first >= 0);
    int32_t sorted = first < names->count ? first + 1 : names->count;
    *place = NULL;
    while (sorted < names->count &&
           npi_names_compare(npi_names_get(names, sorted - 1), npi_names_get(names, sorted)) < 0)
        sorted++;
    if (sorted == names->count)
        return 0;
    int32_t *order = npi_resize(&names->env, NULL, (size_t)names->count, sizeof *order, err);
    int32_t *moved = npi_resize(&names->env, NULL, (size_t)names->count, sizeof *moved, err);
    int code = order && moved ? find_order(order, names, first, err) : NPGNN_E_MEMORY;
    if (code == 0)
        code = renumber(names, moved, order, err);
    npi_free(&names->env, order);
    if (code)
        npi_free(&names->env, moved);
    else
        *place = moved;
    return code;
}

/* ---- copies ---- */

/* The key of a file is known to everyone, and names may come from anyone: those of a file are entered again with a
 * secret key. */
static int copy_mapped(npi_names **out, const npi_names *names, npgnn_error *err)
{
    npi_names *copy = NULL;
    int32_t index;
    int code = npi_names_new(&copy, &names->env, err);
    for (int32_t i = 0; !code && i < names->count; i++) {
        const char *name = npi_names_get(names, i);
        code = npi_names_add(&index, copy, name, strlen(name), err);
    }
    if (code)
        npi_names_free(copy);
    else
        *out = copy;
    return code;
}

int npi_names_copy(npi_names **out, const npi_names *names, npgnn_error *err)
{
    if (names->mapping)
        return copy_mapped(out, names, err);
    const npgnn_env *env = &names->env;
    npi_names *copy = npi_alloc(env, 1, sizeof *copy, err);
    if (!copy)
        return NPGNN_E_MEMORY;
    *copy = (npi_names){.env = *env, .key = names->key, .references = 1};
    if (names->count > 0) {
        size_t count = (size_t)names->count;
        copy->text = npi_resize(env, NULL, names->text_size, 1, err);
        copy->start = npi_resize(env, NULL, count, sizeof *copy->start, err);
        copy->slot = npi_resize(env, NULL, names->slots, sizeof *copy->slot, err);
        if (!copy->text || !copy->start || !copy->slot) {
            npi_names_free(copy);
            return NPGNN_E_MEMORY;
        }
        memcpy(copy->text, names->text, names->text_size);
        memcpy(copy->start, names->start, count * sizeof *copy->start);
        memcpy(copy->slot, names->slot, names->slots * sizeof *copy->slot);
        copy->count = names->count;
        copy->text_size = copy->text_capacity = names->text_size;
        copy->start_capacity = count;
        copy->slots = names->slots;
    }
    *out = copy;
    return 0;
}

npi_names *npi_names_share(npi_names *names)
{
    if (names)
        __atomic_add_fetch(&names->references, 1, __ATOMIC_RELAXED);
    return names;
}

void npi_names_free(npi_names *names)
{
    if (!names || __atomic_sub_fetch(&names->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    npgnn_env env = names->env;
    if (!names->mapping) {
        npi_free(&env, names->text);
        npi_free(&env, names->start);
        npi_free(&env, names->slot);
    }
    npi_mapping_free(names->mapping);
    npi_free(&env, names);
}

/* ---- names in a mapped file ---- */

/* Enters every name under the key. 0 where one would be more than NPI_NAMES_PROBES slots away from its first. */
static int fill_slots(npi_names_slot *slot, const npi_names *names, uint64_t key)
{
    size_t slots = npi_names_slots(names->count);
    for (size_t s = 0; s < slots; s++)
        slot[s] = (npi_names_slot){-1, 0};
    for (int32_t i = 0; i < names->count; i++) {
        const char *name = npi_names_get(names, i);
        uint32_t tag = tag_of((npi_hash_key){key, 0}, name, strlen(name));
        size_t at = first_slot(tag, slots);
        int probes = 1;
        for (; slot[at].index >= 0 && probes <= NPI_NAMES_PROBES; probes++)
            at = at + 1 < slots ? at + 1 : 0;
        if (probes > NPI_NAMES_PROBES)
            return 0;
        slot[at] = (npi_names_slot){i, tag};
    }
    return 1;
}

int npi_names_export(npi_names_arrays *out, const npi_names *names, const npgnn_env *env, npgnn_error *err)
{
    npi_names_arrays a = {
        .count = names->count, .text = names->text, .text_size = names->text_size, .start = names->start};
    a.slot = npi_resize(env, NULL, npi_names_slots(a.count), sizeof *a.slot, err);
    if (!a.slot)
        return NPGNN_E_MEMORY;
    /* names by chance need the second key about never, and names that were chosen against some keys meet one they were
     * not */
    while (!fill_slots(a.slot, names, a.key))
        a.key++;
    *out = a;
    return 0;
}

/* A check of mapped names by several threads, without a random access: over the names, over the slots, and then, when
 * every tag is known to be that of its name, over the slots again: forged tags would make that take forever, true ones
 * seldom agree. The balance is Σ hash(i, tag of name i) minus Σ hash(index, tag) of the slots that are taken. It is 0
 * where every name is in just one slot with its tag; otherwise it is 0 once in 2^64, because nobody knows the key of
 * this hash. */
typedef struct check {
    const npi_names *names;
    uint64_t key, *balance;
    int64_t *used; /* slots that are taken */
    int *failed;
} check;

static uint64_t hash_slot(const check *c, npi_names_slot slot)
{
    return npi_hash_mix(c->key ^ ((uint64_t)slot.index << 32 | slot.tag));
}

/* Every name begins where the one before it ends, and has no NUL in it. */
static void check_texts(const void *arg, int64_t first, int64_t last)
{
    const check *c = arg;
    const npi_names *names = c->names;
    uint64_t sum = 0;
    int sound = 1;
    for (int64_t i = first; sound && i < last; i++) {
        uint64_t begin = names->start[i], end = i + 1 < names->count ? names->start[i + 1] : names->text_size;
        sound = (i > 0 || begin == 0) && begin < end && end <= names->text_size &&
                memchr(names->text + begin, '\0', (size_t)(end - begin)) == names->text + end - 1;
        if (sound)
            sum += hash_slot(
                c, (npi_names_slot){(int32_t)i, tag_of(names->key, names->text + begin, (size_t)(end - begin) - 1)});
    }
    __atomic_add_fetch(c->balance, sum, __ATOMIC_RELAXED);
    if (!sound)
        __atomic_store_n(c->failed, 1, __ATOMIC_RELAXED);
}

/* Whether the name in slot `at` is found there: all slots from its first one on are taken, of which there are `before`
 * before `at`, and none of them has the same name. */
static int is_found(const npi_names *names, size_t at, size_t before)
{
    size_t slots = npi_names_slots(names->count);
    npi_names_slot slot = names->mapped[at];
    size_t first = first_slot(slot.tag, slots), away = at >= first ? at - first : at + slots - first;
    if (away > before || away >= NPI_NAMES_PROBES)
        return 0;
    for (size_t other = first; other != at; other = other + 1 < slots ? other + 1 : 0) {
        int32_t index = names->mapped[other].index;
        if (names->mapped[other].tag != slot.tag)
            continue;
        const char *name = npi_names_get(names, slot.index);
        if (is_name(names, index, name, strlen(name)))
            return 0;
    }
    return 1;
}

/* Every slot is empty or has a name. */
static void check_slots(const void *arg, int64_t first, int64_t last)
{
    const check *c = arg;
    uint64_t sum = 0;
    int64_t used = 0;
    int sound = 1;
    for (int64_t s = first; s < last; s++) {
        npi_names_slot slot = c->names->mapped[s];
        if (slot.index < 0) {
            sound &= slot.index == -1 && slot.tag == 0;
            continue;
        }
        sound &= slot.index < c->names->count;
        sum += hash_slot(c, slot);
        used++;
    }
    __atomic_sub_fetch(c->balance, sum, __ATOMIC_RELAXED);
    __atomic_add_fetch(c->used, used, __ATOMIC_RELAXED);
    if (!sound)
        __atomic_store_n(c->failed, 1, __ATOMIC_RELAXED);
}

/* Every name is found. */
static void check_places(const void *arg, int64_t first, int64_t last)
{
    const check *c = arg;
    const npi_names_slot *mapped = c->names->mapped;
    size_t slots = npi_names_slots(c->names->count), before = 0, at = (size_t)first;
    int sound = 1;
    /* how many slots before the first one are taken, as far as that matters */
    while (before < NPI_NAMES_PROBES && before < slots && mapped[at = at > 0 ? at - 1 : slots - 1].index >= 0)
        before++;
    for (int64_t s = first; sound && s < last; s++) {
        if (mapped[s].index < 0)
            before = 0;
        else
            sound = is_found(c->names, (size_t)s, before++);
    }
    if (!sound)
        __atomic_store_n(c->failed, 1, __ATOMIC_RELAXED);
}

int npi_names_map(npi_names **out, const npi_names_arrays *a, npi_mapping *mapping, const npgnn_env *env,
                  npgnn_error *err)
{
    enum { CHUNK = 1 << 14 };
    npi_names *names = npi_alloc(env, 1, sizeof *names, err);
    if (!names)
        return NPGNN_E_MEMORY;
    *names = (npi_names){.env = *env,
                         .key = {a->key, 0},
                         .references = 1,
                         .count = a->count,
                         .text = a->text,
                         .text_size = a->text_size,
                         .start = a->start,
                         .mapped = a->slot,
                         .mapping = npi_mapping_share(mapping)};
    uint64_t balance = 0;
    int64_t used = 0;
    int failed = a->count == 0 && a->text_size != 0;
    const check c = {names, npi_hash_key_draw().k0, &balance, &used, &failed};
    npi_parallel(env->threads, a->count, CHUNK, check_texts, &c);
    if (!failed)
        npi_parallel(env->threads, (int64_t)npi_names_slots(a->count), CHUNK, check_slots, &c);
    failed |= used != a->count || balance != 0;
    if (!failed)
        npi_parallel(env->threads, (int64_t)npi_names_slots(a->count), CHUNK, check_places, &c);
    if (failed) {
        npi_names_free(names);
        return npi_fail(err, NPGNN_E_FORMAT, "a name is damaged, occurs twice or cannot be found");
    }
    *out = names;
    return 0;
}
