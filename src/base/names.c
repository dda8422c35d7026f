/* A set of names: their text in one block, and a hash table with open addressing and linear probing over it. The hash has a
 * key of its own per table, so that a file cannot choose names that all fall into one slot. Numbers are given in order of
 * appearance, whatever the key is. */
#include "base/names.h"

#include <assert.h>
#include <string.h>

#include "base/parallel.h"
#include "base/siphash.h"

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
    npi_mapping *mapping; /* the file that text, start and slot lie in; NULL: they are allocated */
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

int32_t npi_names_find(const npi_names *names, const char *name, size_t length)
{
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

/* The key of a file is known to everyone, and names may come from anyone: those of a file are entered again with a secret key. */
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

size_t npi_names_slots(int32_t count)
{
    size_t slots = 2;
    while (slots < 2 * (size_t)count)
        slots *= 2;
    return slots;
}

/* Enters every name under the key. 0 where one would be more than NPI_NAMES_PROBES slots away from its first. */
static int fill_slots(npi_names_arrays *a, const npi_names *names)
{
    memset(a->slot, -1, a->slots * sizeof *a->slot);
    for (int32_t i = 0; i < a->count; i++) {
        const char *name = npi_names_get(names, i);
        size_t at = (size_t)npi_siphash((npi_hash_key){a->key, 0}, name, strlen(name)) & (a->slots - 1);
        int probes = 1;
        for (; a->slot[at] >= 0 && probes <= NPI_NAMES_PROBES; probes++)
            at = (at + 1) & (a->slots - 1);
        if (probes > NPI_NAMES_PROBES)
            return 0;
        a->slot[at] = i;
    }
    return 1;
}

int npi_names_export(npi_names_arrays *out, const npi_names *names, const npgnn_env *env, npgnn_error *err)
{
    npi_names_arrays a = {.count = names->count,
                          .text = names->text,
                          .text_size = names->text_size,
                          .start = names->start,
                          .slots = npi_names_slots(names->count)};
    a.slot = npi_resize(env, NULL, a.slots, sizeof *a.slot, err);
    if (!a.slot)
        return NPGNN_E_MEMORY;
    /* names by chance need the second key about never, and names that were chosen against some keys meet one they were not */
    while (!fill_slots(&a, names))
        a.key++;
    *out = a;
    return 0;
}

/* A check of all names by several threads. */
typedef struct check {
    const npi_names *names;
    int *failed;
} check;

/* Whether name i is where it has to be: it begins where the one before it ends, has no NUL in it, and is found in time, past none of
 * the same text. */
static int is_sound(const npi_names *names, int32_t i)
{
    uint64_t begin = names->start[i], end = i + 1 < names->count ? names->start[i + 1] : names->text_size;
    if ((i == 0 && begin != 0) || begin >= end || end > names->text_size || names->text[end - 1] != '\0')
        return 0;
    const char *name = names->text + begin;
    size_t length = (size_t)(end - begin) - 1, mask = names->slots - 1;
    if (memchr(name, '\0', length))
        return 0;
    size_t at = (size_t)npi_siphash(names->key, name, length) & mask;
    for (int probes = 0; probes < NPI_NAMES_PROBES; probes++, at = (at + 1) & mask) {
        int32_t other = names->slot[at];
        if (other == i)
            return 1;
        if (other < 0 || other >= names->count || names->start[other] >= names->text_size)
            return 0;
        if (names->text_size - names->start[other] > length &&
            memcmp(names->text + names->start[other], name, length + 1) == 0)
            return 0; /* the same name once more */
    }
    return 0;
}

static void check_names(const void *arg, int64_t first, int64_t last)
{
    const check *c = arg;
    for (int64_t i = first; i < last; i++)
        if (!is_sound(c->names, (int32_t)i)) {
            __atomic_store_n(c->failed, 1, __ATOMIC_RELAXED);
            return;
        }
}

int npi_names_map(npi_names **out, const npi_names_arrays *a, npi_mapping *mapping, const npgnn_env *env,
                  npgnn_error *err)
{
    enum { CHUNK = 1 << 14 };
    npi_names *names = npi_alloc(env, 1, sizeof *names, err);
    if (!names)
        return NPGNN_E_MEMORY;
    assert(a->slots == npi_names_slots(a->count));
    *names = (npi_names){.env = *env,
                         .key = {a->key, 0},
                         .references = 1,
                         .count = a->count,
                         .text = a->text,
                         .text_size = a->text_size,
                         .start = a->start,
                         .slot = a->slot,
                         .slots = a->slots,
                         .mapping = npi_mapping_share(mapping)};
    /* the search for a name that is not there ends at an empty slot: there are some, because only `count` slots are in use */
    size_t used = 0, empty = 0;
    for (size_t s = 0; s < a->slots; s++) {
        used += a->slot[s] >= 0;
        empty += a->slot[s] == -1;
    }
    int failed = used != (size_t)a->count || empty != a->slots - used || (a->count == 0 && a->text_size != 0);
    if (!failed)
        npi_parallel(env->threads, a->count, CHUNK, check_names, &(check){names, &failed});
    if (failed) {
        npi_names_free(names);
        return npi_fail(err, NPGNN_E_FORMAT, "a name is damaged, occurs twice or cannot be found");
    }
    *out = names;
    return 0;
}
