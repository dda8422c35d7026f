#include "store/info.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

/* How a member of npgnn_model_info is written: a count as an integer, a flag as true or false, a hash as 16 hexadecimal
 * digits, a real as a number or, where it is NaN, as null. */
typedef enum { COUNT32, COUNT64, FLAG, HASH, REAL } kind;

static const struct {
    const char *name;
    kind kind;
    size_t offset;
} members[] = {
    {"columns", COUNT32, offsetof(npgnn_model_info, columns)},
    {"iterations", COUNT32, offsetof(npgnn_model_info, iterations)},
    {"fingerprint", HASH, offsetof(npgnn_model_info, fingerprint)},
    {"context", HASH, offsetof(npgnn_model_info, context_fingerprint)},
    {"train_nodes", COUNT32, offsetof(npgnn_model_info, train_nodes)},
    {"train_edges", COUNT64, offsetof(npgnn_model_info, train_edges)},
    {"normalize", FLAG, offsetof(npgnn_model_info, normalize)},
    {"binarize", FLAG, offsetof(npgnn_model_info, binarize)},
    {"weighted", FLAG, offsetof(npgnn_model_info, weighted)},
    {"val_auc", REAL, offsetof(npgnn_model_info, val_auc)},
    {"val_ap", REAL, offsetof(npgnn_model_info, val_ap)},
    {"link_rate", REAL, offsetof(npgnn_model_info, link_rate)},
};
enum { MEMBERS = sizeof members / sizeof members[0] };

json_t *npi_info_json(const npgnn_model_info *info)
{
    json_t *object = json_object();
    int failed = 0;
    for (int i = 0; i < MEMBERS; i++) {
        const void *at = (const char *)info + members[i].offset;
        json_t *value = NULL;
        switch (members[i].kind) {
        case COUNT32:
            value = json_integer(*(const int32_t *)at);
            break;
        case COUNT64:
            value = json_integer(*(const int64_t *)at);
            break;
        case FLAG:
            value = json_boolean(*(const int *)at);
            break;
        case HASH:
            value = json_sprintf("%016" PRIx64, *(const uint64_t *)at);
            break;
        case REAL:
            value = isfinite(*(const double *)at) ? json_real(*(const double *)at) : json_null();
            break;
        }
        failed |= json_object_set_new(object, members[i].name, value);
    }
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

int npi_info_read(npgnn_model_info *info, const npi_safetensors *r)
{
    json_t *object = npi_safetensors_get_json(r, "info");
    int sound = 1;
    for (int i = 0; sound && i < MEMBERS; i++) {
        void *at = (char *)info + members[i].offset;
        const json_t *value = json_object_get(object, members[i].name);
        json_int_t count = json_integer_value(value);
        switch (members[i].kind) {
        case COUNT32:
            sound = json_is_integer(value) && count >= 0 && count <= INT32_MAX;
            *(int32_t *)at = (int32_t)count;
            break;
        case COUNT64:
            sound = json_is_integer(value) && count >= 0;
            *(int64_t *)at = count;
            break;
        case FLAG:
            sound = json_is_boolean(value);
            *(int *)at = json_is_true(value);
            break;
        case HASH:
            sound = json_is_string(value) && sscanf(json_string_value(value), "%16" SCNx64, (uint64_t *)at) == 1;
            break;
        case REAL:
            sound = json_is_number(value) || json_is_null(value);
            *(double *)at = json_is_number(value) ? json_number_value(value) : (double)NAN;
            break;
        }
    }
    json_decref(object);
    snprintf(info->version, sizeof info->version, "%s", npi_safetensors_get_text(r, "npgnn_version"));
    return sound ? 0 : npi_safetensors_refuse(r, "its info is missing or damaged");
}
