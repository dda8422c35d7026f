/* Checkpoints: the state of a training, as safetensors with a checksum (docs/use/formats.md).
 *
 *   tensors    params, adam_m and adam_v (the moments of Adam), best (the best parameters so far, if any), checksum
 *   metadata   asked (options as given), found (by the rehearsal), state (counters, metrics, hashes), numerics (kernels)
 *
 * Random numbers are functions of seed and iteration, so that no generator has to be saved. The checksum is FNV-1a
 * of all bytes before it. A checkpoint can be resumed only with the same version, options, graph and split. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/comm.h"
#include "base/hash.h"
#include "base/sized.h"
#include "store/checked.h"
#include "store/safetensors.h"
#include "store/scorer.h"
#include "train/rehearsal.h"
#include "train/trainer.h"

#define FORMAT "npgnn-checkpoint"
#define FORMAT_VERSION "1"

/* ---- the state: every member of npgnn_trainer that is saved; writing and reading use the same lists ---- */

typedef struct member {
    const char *name;
    size_t offset; /* in npgnn_trainer */
    size_t count;  /* of reals: how many numbers it has */
} member;

#define MEMBER(name, member)                                                                                           \
    {                                                                                                                  \
        name, offsetof(npgnn_trainer, member), 1                                                                       \
    }
#define REALS(name, member)                                                                                            \
    {                                                                                                                  \
        name, offsetof(npgnn_trainer, member), sizeof((npgnn_trainer *)NULL)->member / sizeof(double)                  \
    }
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Tensors: pointers to as many numbers as there are parameters. `best` is saved only where there is one. */
enum { PARAMS, ADAM_M, ADAM_V, BEST, CHECKSUM, TENSORS };
static const member blocks[CHECKSUM] = {
    [PARAMS] = MEMBER("params", params.block),
    [ADAM_M] = MEMBER("adam_m", adam.m),
    [ADAM_V] = MEMBER("adam_v", adam.v),
    [BEST] = MEMBER("best", val.best),
};

/* Numbers in the metadata. */
static const member ints[] = {
    MEMBER("iteration", progress.iteration),
    MEMBER("best_iteration", progress.best_iteration),
    MEMBER("without_better", val.without_better),
};
static const member reals[] = {
    REALS("loss", progress.loss),     REALS("kl", progress.kl),           REALS("val_auc", progress.val_auc),
    REALS("val_ap", progress.val_ap), REALS("seconds", progress.seconds), REALS("step_seconds", progress.step_seconds),
    REALS("best_auc", val.best_auc),  REALS("best_ap", val.best_ap),
};

static real *block_of(const npgnn_trainer *t, int index)
{
    return *(real *const *)(const void *)((const char *)t + blocks[index].offset);
}

static int *int_at(npgnn_trainer *t, size_t index)
{
    return (int *)(void *)((char *)t + ints[index].offset);
}

static double *reals_at(npgnn_trainer *t, size_t index)
{
    return (double *)(void *)((char *)t + reals[index].offset);
}

static void list_tensors(npi_safetensor tensors[TENSORS], const npgnn_trainer *t, int has_best)
{
    const char *dtype = sizeof(real) == sizeof(float) ? "F32" : "F64";
    for (int i = 0; i < CHECKSUM; i++)
        tensors[i] = (npi_safetensor){blocks[i].name, dtype, i == BEST ? has_best : 1, (int64_t)t->params.count};
    tensors[CHECKSUM] = (npi_safetensor){"checksum", "U64", 1, 1};
}

/* ---- writing ---- */

/* jansson writes 17 digits, which identify every double. JSON has no NaN: it becomes null. */
static json_t *reals_json(const double *values, size_t count)
{
    json_t *array = json_array();
    int failed = 0;
    for (size_t i = 0; i < count; i++)
        failed |= json_array_append_new(array, isfinite(values[i]) ? json_real(values[i]) : json_null());
    if (!failed)
        return array;
    json_decref(array);
    return NULL;
}

static json_t *hex(uint64_t value)
{
    return json_sprintf("%016" PRIx64, value);
}

static uint64_t fingerprint(npgnn_trainer *t)
{
    if (!t->fingerprint)
        t->fingerprint = npi_graph_fingerprint(t->graph);
    return t->fingerprint;
}

static uint64_t split_hash(const npgnn_trainer *t)
{
    return t->split ? npgnn_split_hash(t->split) : 0;
}

/* NULL where memory is out. */
static json_t *state_json(npgnn_trainer *t)
{
    json_t *state = json_pack("{s:b, s:o, s:o}", "rehearsal", t->rehearsal != NULL, "fingerprint", hex(fingerprint(t)),
                              "split", hex(split_hash(t)));
    int failed = !state;
    for (size_t i = 0; i < COUNT(ints); i++)
        failed |= json_object_set_new(state, ints[i].name, json_integer(*int_at(t, i)));
    for (size_t i = 0; i < COUNT(reals); i++)
        failed |= json_object_set_new(state, reals[i].name, reals_json(reals_at(t, i), reals[i].count));
    if (!failed)
        return state;
    json_decref(state);
    return NULL;
}

static json_t *findings_json(const npi_findings *found)
{
    return json_pack("{s:i, s:o}", "iterations", found->iterations, "scorer", npi_model_scorer_json(&found->scorer));
}

/* Returns whether it is as it must be. */
static int read_findings(npi_findings *found, const json_t *object)
{
    json_int_t iterations = json_integer_value(json_object_get(object, "iterations"));
    found->iterations = (int)iterations;
    return iterations >= 1 && iterations <= INT_MAX &&
           npi_model_scorer_parse(&found->scorer, json_object_get(object, "scorer"));
}

/* NULL where memory is out. */
static json_t *metadata_json(npgnn_trainer *t)
{
    json_t *metadata = json_pack("{s:s, s:s, s:s}", "format", FORMAT, "format_version", FORMAT_VERSION, "npgnn_version",
                                 npgnn_version());
    int failed = npi_safetensors_put_json(metadata, "asked", npi_safetensors_pack_options(&t->asked));
    if (t->has_found)
        failed |= npi_safetensors_put_json(metadata, "found", findings_json(&t->found));
    failed |= npi_safetensors_put_json(metadata, "state", state_json(t));
    if (!failed)
        return metadata;
    json_decref(metadata);
    return NULL;
}

int npgnn_trainer_save(npgnn_trainer *t, const char *path, npgnn_error *err)
{
    npi_safetensor tensors[TENSORS];
    const real *values[CHECKSUM];
    if (!t->net)
        return npi_fail(err, NPGNN_E_ARGUMENT, "cannot save: this training ran out of memory");
    list_tensors(tensors, t, t->val.best && !isnan(t->val.best_auc));
    for (int i = 0; i < CHECKSUM; i++)
        values[i] = block_of(t, i);
    return npi_checked_write(path, metadata_json(t), tensors, values, CHECKSUM, err);
}

/* ---- reading ---- */

typedef struct saved {
    unsigned char *bytes;
    size_t size;
    npi_safetensors file;
    npgnn_options asked;
    npi_findings found; /* with has_found */
    int has_found;
    json_t *state;
} saved;

static int open_saved(saved *s, const char *path, const npgnn_env *env, npgnn_error *err)
{
    *s = (saved){.file = {.path = path, .expected = "an npgnn checkpoint", .err = err}};
    int code = npi_checked_read(&s->bytes, &s->size, path, env, err);
    if (!code)
        code = npi_safetensors_open(&s->file, s->bytes, s->size);
    if (!code)
        code = npi_safetensors_check_format(&s->file, FORMAT, FORMAT_VERSION);
    if (!code)
        code = npi_safetensors_read_options(&s->asked, &s->file, "asked");
    if (!code && npi_safetensors_get_text(&s->file, "found")) {
        json_t *found = npi_safetensors_get_json(&s->file, "found");
        s->has_found = read_findings(&s->found, found);
        json_decref(found);
        if (!s->has_found)
            code = npi_safetensors_refuse(&s->file, "its state is damaged");
    }
    if (!code && !(s->state = npi_safetensors_get_json(&s->file, "state")))
        code = npi_safetensors_refuse(&s->file, "its state is damaged");
    return code;
}

static void close_saved(saved *s, const npgnn_env *env)
{
    json_decref(s->state);
    npi_safetensors_close(&s->file);
    npi_free(env, s->bytes);
}

/* ---- checking that it is the same training ---- */

static int check_hash(const saved *s, const char *key, uint64_t mine, const char *what)
{
    uint64_t its = 0;
    const char *text = json_string_value(json_object_get(s->state, key));
    if (!text || sscanf(text, "%16" SCNx64, &its) != 1)
        return npi_safetensors_refuse(&s->file, "its state is damaged");
    if (its == mine)
        return 0;
    return npi_fail_at(s->file.err, NPGNN_E_MISMATCH, s->file.path, 0,
                       "cannot resume: %s (hash %016" PRIx64 " in the checkpoint, %016" PRIx64 " here)", what, its,
                       mine);
}

/* E_MISMATCH unless version, options, graph and split are those that the checkpoint was written with. */
static int check_same(npgnn_trainer *t, const saved *s)
{
    const char *writer = npi_safetensors_get_text(&s->file, "npgnn_version");
    if (strcmp(writer, npgnn_version()) != 0)
        return npi_fail_at(s->file.err, NPGNN_E_MISMATCH, s->file.path, 0,
                           "written by npgnn %.20s; npgnn %s might not give the same results: resume with the version "
                           "that wrote it",
                           writer, npgnn_version());

    npgnn_option_info option;
    char mine[64], its[64];
    for (int i = 0; npgnn_options_info(&option, i); i++) {
        npgnn_options_get(mine, sizeof mine, &t->asked, option.key, NULL);
        npgnn_options_get(its, sizeof its, &s->asked, option.key, NULL);
        if (strcmp(mine, its) != 0)
            return npi_fail_at(s->file.err, NPGNN_E_MISMATCH, s->file.path, 0,
                               "cannot resume: the checkpoint has %s %s, not %s", option.key, its, mine);
    }

    int code = check_hash(s, "fingerprint", fingerprint(t), "the graph is not the same");
    return code ? code : check_hash(s, "split", split_hash(t), "the split is not the same");
}

/* ---- restoring ---- */

/* Returns whether the array has `count` numbers or nulls. */
static int read_reals(double *values, json_t *array, size_t count)
{
    int good = json_array_size(array) == count;
    for (size_t i = 0; i < count; i++) {
        json_t *value = json_array_get(array, i);
        good = good && (json_is_number(value) || json_is_null(value));
        values[i] = json_is_number(value) ? json_number_value(value) : (double)NAN;
    }
    return good;
}

/* Reads the single numbers of the state into `t`. */
static int read_state(npgnn_trainer *t, const saved *s)
{
    int good = 1;
    for (size_t i = 0; i < COUNT(ints); i++) {
        json_t *value = json_object_get(s->state, ints[i].name);
        json_int_t number = json_integer_value(value);
        good = good && json_is_integer(value) && number >= 0 && number <= INT_MAX;
        *int_at(t, i) = (int)number;
    }
    for (size_t i = 0; i < COUNT(reals); i++)
        good = read_reals(reals_at(t, i), json_object_get(s->state, reals[i].name), reals[i].count) && good;
    return good ? 0 : npi_safetensors_refuse(&s->file, "its state is damaged");
}

static void copy_state(npgnn_trainer *t, npgnn_trainer *from, const saved *s, const npi_range at[TENSORS])
{
    for (size_t i = 0; i < COUNT(ints); i++)
        *int_at(t, i) = *int_at(from, i);
    for (size_t i = 0; i < COUNT(reals); i++)
        memcpy(reals_at(t, i), reals_at(from, i), reals[i].count * sizeof(double));
    t->adam.step = t->progress.iteration; /* the two are equal: an iteration that fails changes neither */
    for (int i = 0; i < CHECKSUM; i++)
        if (at[i].end > at[i].begin)
            memcpy(block_of(t, i), s->file.data + at[i].begin, at[i].end - at[i].begin);
}

/* Restores the state. Everything is read and checked before t is changed. */
static int restore_state(npgnn_trainer *t, const saved *s, npgnn_error *err)
{
    npgnn_trainer read = *t;
    npi_safetensor tensors[TENSORS];
    npi_range at[TENSORS];
    int rehearsal = json_is_true(json_object_get(s->state, "rehearsal"));
    int rehearses = npi_rehearsal_wanted(&t->asked, t->split);
    npgnn_options options = rehearsal      ? npi_rehearsal_options(&t->asked)
                            : s->has_found ? npi_rehearsal_proper(&t->asked, &s->found)
                                           : t->asked;
    int has_best = json_object_get(s->file.header, blocks[BEST].name) != NULL;
    list_tensors(tensors, t, has_best);
    int code = npi_safetensors_locate(at, &s->file, tensors, TENSORS);
    if (!code)
        code = read_state(&read, s);
    if (!code &&
        (read.progress.iteration > options.iterations || (has_best && !options.keep_best) ||
         (rehearsal || s->has_found ? !rehearses : t->rehearsal || t->has_found) || (rehearsal && s->has_found)))
        code = npi_safetensors_refuse(&s->file, "its state is damaged");
    /* a new trainer is at the beginning of the first phase: move it to the phase of the checkpoint */
    if (!code && (rehearsal ? !t->rehearsal : s->has_found))
        code = npi_trainer_begin(t, rehearsal ? NULL : &s->found, err);
    if (!code)
        copy_state(t, &read, s, at);
    return code;
}

int npgnn_trainer_restore(npgnn_trainer *t, const char *path, npgnn_error *err)
{
    saved s;
    int code = open_saved(&s, path, &t->env, err);
    if (!code)
        code = check_same(t, &s);
    code = npi_comm_agree(t->env.comm, code, err);
    if (!code)
        code = npi_comm_same(t->env.comm, npi_hash_bytes(NPI_HASH_START, s.bytes, s.size), "the checkpoint", err);
    if (!code)
        code = restore_state(t, &s, err);
    if (!code)
        npi_checked_compare_numerics(&s.file, &t->env);
    close_saved(&s, &t->env);
    return code;
}

int npgnn_checkpoint_options(npgnn_options *options, const char *path, const npgnn_env *env, npgnn_error *err)
{
    if (npi_env_check(env, err))
        return NPGNN_E_ARGUMENT;
    saved s;
    npgnn_env resolved = npi_env_resolve(env);
    int code = open_saved(&s, path, &resolved, err);
    if (!code)
        code = npi_sized_write(options, &s.asked, sizeof s.asked, "npgnn_options", err);
    close_saved(&s, &resolved);
    return code;
}
