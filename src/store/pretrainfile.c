#include "store/pretrainfile.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "store/checked.h"
#include "store/safetensors.h"

#define FORMAT "npgnn-pretrain-checkpoint"
#define FORMAT_VERSION "1"

enum { PARAMS, ADAM_M, ADAM_V, CHECKSUM, TENSORS };

static void list_tensors(npi_safetensor tensors[TENSORS], const npi_pretrain_state *state)
{
    static const char *const names[CHECKSUM] = {"params", "adam_m", "adam_v"};
    const char *dtype = sizeof(real) == sizeof(float) ? "F32" : "F64";
    for (int i = 0; i < CHECKSUM; i++)
        tensors[i] = (npi_safetensor){names[i], dtype, 1, (int64_t)state->count};
    tensors[CHECKSUM] = (npi_safetensor){"checksum", "U64", 1, 1};
}

int npi_pretrain_write(const npi_pretrain_state *state, const npi_pretrain_identity *identity, const char *path,
                       npgnn_error *err)
{
    const real *const values[CHECKSUM] = {state->params, state->m, state->v};
    npi_safetensor tensors[TENSORS];
    list_tensors(tensors, state);
    json_t *metadata = json_pack("{s:s, s:s, s:s}", "format", FORMAT, "format_version", FORMAT_VERSION, "npgnn_version",
                                 npgnn_version());
    json_t *numbers =
        json_pack("{s:i, s:i, s:o, s:o}", "step", state->step, "steps", identity->steps, "seed",
                  json_sprintf("%" PRIu64, identity->seed), "corpus", json_sprintf("%016" PRIx64, identity->corpus));
    if (npi_safetensors_put_json(metadata, "state", numbers)) {
        json_decref(metadata);
        metadata = NULL;
    }
    return npi_checked_write(path, metadata, tensors, values, CHECKSUM, err);
}

/* E_MISMATCH unless the checkpoint belongs to this training. */
static int check_identity(int *step, const npi_safetensors *file, const npi_pretrain_identity *mine)
{
    int steps = 0, code = 0;
    const char *seed = NULL, *corpus = NULL, *writer = npi_safetensors_get_text(file, "npgnn_version");
    char my_seed[24], my_corpus[24];
    json_t *state = npi_safetensors_get_json(file, "state");
    snprintf(my_seed, sizeof my_seed, "%" PRIu64, mine->seed);
    snprintf(my_corpus, sizeof my_corpus, "%016" PRIx64, mine->corpus);
    /* not json_unpack, which allocates */
    const json_t *reached = json_object_get(state, "step"), *all = json_object_get(state, "steps");
    json_int_t from = json_integer_value(reached), to = json_integer_value(all);
    seed = json_string_value(json_object_get(state, "seed"));
    corpus = json_string_value(json_object_get(state, "corpus"));
    *step = from >= 0 && from <= INT_MAX ? (int)from : 0;
    steps = to >= 0 && to <= INT_MAX ? (int)to : 0;
    if (!writer || !seed || !corpus || !json_is_integer(reached) || !json_is_integer(all) || from < 0 || to > INT_MAX ||
        from > to)
        code = npi_safetensors_refuse(file, "its state is damaged");
    else if (strcmp(writer, npgnn_version()) != 0)
        code = npi_fail_at(file->err, NPGNN_E_MISMATCH, file->path, 0,
                           "written by npgnn %.20s; npgnn %s might not give the same results: resume with the version "
                           "that wrote it",
                           writer, npgnn_version());
    else if (steps != mine->steps)
        code = npi_fail_at(file->err, NPGNN_E_MISMATCH, file->path, 0,
                           "cannot resume: the checkpoint is of a training of %d steps, not %d", steps, mine->steps);
    else if (strcmp(seed, my_seed) != 0)
        code = npi_fail_at(file->err, NPGNN_E_MISMATCH, file->path, 0,
                           "cannot resume: the checkpoint has seed %.20s, not %s", seed, my_seed);
    else if (strcmp(corpus, my_corpus) != 0)
        code = npi_fail_at(file->err, NPGNN_E_MISMATCH, file->path, 0,
                           "cannot resume: the corpus is not the same (hash %.16s in the checkpoint, %s here)", corpus,
                           my_corpus);
    json_decref(state);
    return code;
}

int npi_pretrain_read(npi_pretrain_state *state, const npi_pretrain_identity *identity, const char *path,
                      const npgnn_env *env, npgnn_error *err)
{
    npi_safetensors file = {.path = path, .expected = "a checkpoint of npgnn pretrain", .err = err};
    npi_safetensor tensors[TENSORS];
    npi_range at[TENSORS];
    unsigned char *bytes = NULL;
    size_t size = 0;
    int step = 0, code = npi_checked_read(&bytes, &size, path, env, err);
    if (!code)
        code = npi_safetensors_open(&file, bytes, size);
    if (!code)
        code = npi_safetensors_check_format(&file, FORMAT, FORMAT_VERSION);
    if (!code)
        code = check_identity(&step, &file, identity);
    if (!code && state) {
        real *block[CHECKSUM] = {state->params, state->m, state->v};
        list_tensors(tensors, state);
        code = npi_safetensors_locate(at, &file, tensors, TENSORS);
        for (int i = 0; !code && i < CHECKSUM; i++)
            memcpy(block[i], file.data + at[i].begin, at[i].end - at[i].begin);
        if (!code) {
            state->step = step;
            npi_checked_compare_numerics(&file, env);
        }
    }
    npi_safetensors_close(&file);
    npi_free(env, bytes);
    return code;
}
