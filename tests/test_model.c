/* Model files: bit-exact round trips, the format read independently of the library, and damaged or inconsistent
 * files. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include <jansson.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/rng.h"
#include "folder.h"
#include "io/atomic.h"
#include "meter.h"
#include "model/model.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- models ---- */

enum { F = 7, H = 3, D = 2, G = 4, K = 5 };

static npgnn_model *make_model(int32_t f, int latent)
{
    npgnn_env env = npi_env_resolve(NULL);
    npgnn_error err = {0};
    npgnn_options o = {.size = sizeof o};
    npgnn_model *model = NULL;
    npi_rng rng = npi_rng_make(1, NPI_RNG_TEST, 0);
    npgnn_options_preset(&o, "authors", NULL);
    o.latent = latent;
    o.hidden = H;
    o.latent_size = D;
    o.decoder_hidden = G;
    o.output_size = K;
    o.learning_rate = 1.0 / 3;
    o.seed = UINT64_MAX;
    assert_ok(npi_model_new(&model, &o, f, &env, &err), err);
    for (size_t i = 0; i < model->params.count; i++)
        model->params.block[i] = (real)npi_rng_normal_at(&rng, i);
    for (int i = 0; latent && i < 2 * D; i++)
        model->q[i] = (real)npi_rng_normal_at(&rng, 1000000 + (uint64_t)i);
    model->params.block[0] = (real)-0.0;
    model->params.block[1] = (real)1e-42; /* denormal */
    model->info.iterations = 123;
    model->info.fingerprint = 0x00ABCDEF01234567u;
    model->info.context_fingerprint = 0x00123456789ABCDEu;
    model->info.train_nodes = 2147483647;
    model->info.train_edges = (int64_t)1 << 40;
    model->info.normalize = 1;
    model->info.weighted = 1;
    model->info.val_auc = 0.1 + 0.2;
    npi_model_uncalibrate(model);
    if (latent) {
        model->scorer.calibrated = 1;
        model->scorer.calibration =
            (npi_calibration){.pieces = 2, .knot = {1.0 / 7}, .slope = {0.25, 2.0 / 3}, .offset = -1.0 / 3};
    }
    return model;
}

static void save(const npgnn_model *model, const char *path)
{
    npgnn_error err = {0};
    assert_ok(npgnn_model_save(model, path, &err), err);
}

static npgnn_model *load(const char *path)
{
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    assert_ok(npgnn_model_load(&model, path, NULL, &err), err);
    return model;
}

static int same_or_both_nan(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static void check_same_info(const npgnn_model *a, const npgnn_model *b)
{
    npgnn_model_info x = {.size = sizeof x}, y = {.size = sizeof y};
    npgnn_model_describe(&x, a, NULL);
    npgnn_model_describe(&y, b, NULL);
    assert_int_equal(x.columns, y.columns);
    assert_int_equal(x.parameters, y.parameters);
    assert_int_equal(x.iterations, y.iterations);
    assert_true(x.fingerprint == y.fingerprint);
    assert_true(x.context_fingerprint == y.context_fingerprint);
    assert_int_equal(x.train_nodes, y.train_nodes);
    assert_true(x.train_edges == y.train_edges);
    assert_int_equal(x.normalize, y.normalize);
    assert_int_equal(x.weighted, y.weighted);
    assert_int_equal(x.binarize, y.binarize);
    assert_true(same_or_both_nan(x.val_auc, y.val_auc));
    assert_true(same_or_both_nan(x.val_ap, y.val_ap));
    assert_string_equal(x.version, y.version);
    assert_int_equal(x.calibrated, y.calibrated);
    assert_true(x.link_rate == y.link_rate);
    for (double s = -2; s < 3; s++)
        assert_true(npi_calibration_log_odds(&a->scorer.calibration, s) ==
                    npi_calibration_log_odds(&b->scorer.calibration, s));
}

static void check_same_options(const npgnn_model *a, const npgnn_model *b)
{
    npgnn_options x = {.size = sizeof x}, y = {.size = sizeof y};
    npgnn_option_info info;
    npgnn_model_options(&x, a, NULL);
    npgnn_model_options(&y, b, NULL);
    for (int i = 0; npgnn_options_info(&info, i); i++) {
        char of_x[64], of_y[64];
        npgnn_options_get(of_x, sizeof of_x, &x, info.key, NULL);
        npgnn_options_get(of_y, sizeof of_y, &y, info.key, NULL);
        assert_string_equal(of_x, of_y);
    }
}

/* ---- round trips ---- */

static void test_round_trip(void **state)
{
    (void)state;
    for (int latent = 0; latent < 2; latent++) {
        npgnn_model *model = make_model(F, latent);
        save(model, path_of("a"));
        npgnn_model *again = load(path_of("a"));
        check_same_info(model, again);
        check_same_options(model, again);
        assert_int_equal(model->params.count, again->params.count);
        assert_memory_equal(model->params.block, again->params.block, model->params.count * sizeof(real));
        assert_int_equal(again->q != NULL, latent);
        if (latent)
            assert_memory_equal(model->q, again->q, 2 * D * sizeof(real));
        save(again, path_of("b"));
        content a = read_whole(path_of("a")), b = read_whole(path_of("b"));
        assert_int_equal(a.size, b.size);
        assert_memory_equal(a.bytes, b.bytes, a.size);
        free(a.bytes);
        free(b.bytes);
        npgnn_model_free(model);
        npgnn_model_free(again);
    }
    empty_folder();
}

/* ---- the format, read without the library ---- */

static json_t *header_of(const content *file)
{
    uint64_t length = 0;
    for (int i = 7; i >= 0; i--)
        length = length << 8 | file->bytes[i];
    assert_true(length <= file->size - 8);
    assert_int_equal(length % 8, 0);
    assert_int_equal(file->bytes[8], '{');
    json_t *header = json_loadb((const char *)file->bytes + 8, length, JSON_REJECT_DUPLICATES, NULL);
    assert_true(json_is_object(header));
    return header;
}

/* The size of a tensor by the format, shape times 4 bytes; asserts that it begins where the previous one ends. */
static size_t check_entry(json_t *entry, size_t begin)
{
    size_t bytes = sizeof(float);
    json_t *shape = json_object_get(entry, "shape"), *offsets = json_object_get(entry, "data_offsets");
    assert_int_equal(json_object_size(entry), 3);
    assert_string_equal(json_string_value(json_object_get(entry, "dtype")), "F32");
    for (size_t i = 0; i < json_array_size(shape); i++)
        bytes *= (size_t)json_integer_value(json_array_get(shape, i));
    assert_int_equal(json_array_size(offsets), 2);
    assert_int_equal(json_integer_value(json_array_get(offsets, 0)), begin);
    assert_int_equal(json_integer_value(json_array_get(offsets, 1)), begin + bytes);
    return bytes;
}

static void test_format(void **state)
{
    (void)state;
    const char *tensors[] = {"W1", "W_mu", "W_sigma", "W2", "b1", "W3", "b2", "z_mean", "z_log_sigma"};
    const char *strings[] = {"format", "format_version", "npgnn_version", "options", "info", "scorer"};
    npgnn_model *model = make_model(F, 1);
    save(model, path_of("a"));
    content file = read_whole(path_of("a"));
    json_t *header = header_of(&file), *metadata = json_object_get(header, "__metadata__");
    size_t offset = 0;
    for (size_t i = 0; i < COUNT(tensors); i++)
        offset += check_entry(json_object_get(header, tensors[i]), offset);
    uint64_t length;
    memcpy(&length, file.bytes, sizeof length);
    assert_int_equal(offset, file.size - 8 - length);
    assert_int_equal(json_object_size(header), COUNT(tensors) + 1);
    assert_int_equal(json_object_size(metadata), COUNT(strings));
    for (size_t i = 0; i < COUNT(strings); i++)
        assert_true(json_is_string(json_object_get(metadata, strings[i])));
    json_decref(header);
    free(file.bytes);
    npgnn_model_free(model);
    empty_folder();
}

/* W2 (f + d, g) has the rows for the features first, those for z after them. */
static void test_values(void **state)
{
    (void)state;
    npgnn_model *model = make_model(F, 1);
    save(model, path_of("a"));
    content file = read_whole(path_of("a"));
    const unsigned char *data = file.bytes + file.size - model->params.count * 4 - 2 * D * 4;
    size_t w2 = F * H + 2 * H * D;
    float value;
    memcpy(&value, data + 4 * (w2 + 2 * G + 1), 4);
    assert_true((real)value == model->params.wx[2 * (H + G) + H + 1]);
    memcpy(&value, data + 4 * (w2 + (F + 1) * G + 3), 4);
    assert_true((real)value == model->params.wz[G + 3]);
    memcpy(&value, data + 4 * (model->params.count + D), 4);
    assert_true((real)value == model->q[D]);
    free(file.bytes);
    npgnn_model_free(model);
    empty_folder();
}

/* ---- damaged files and other formats ---- */

/* Asserts that the file is refused with this text, without leaks and without reserving much memory. */
static void refuse(const char *path, int code, const char *says)
{
    meter memory = {.allow = -1};
    npgnn_env env = metered_env(&memory);
    npgnn_model *model = NULL;
    npgnn_error err = {0};
    int got = npgnn_model_load(&model, path, &env, &err);
    assert_null(model);
    if (!strstr(err.text, says) || !strstr(err.text, path))
        fail_msg("'%s' does not say '%s' of %s", err.text, says, path);
    assert_int_equal(got, code);
    assert_int_equal(err.code, code);
    assert_int_equal(memory.blocks, 0);
    assert_false(memory.refused);
}

static void refuse_bytes(const void *bytes, size_t size, const char *says)
{
    write_whole(path_of("broken"), bytes, size);
    refuse(path_of("broken"), NPGNN_E_FORMAT, says);
}

static content good_file(void)
{
    npgnn_model *model = make_model(F, 1);
    save(model, path_of("good"));
    npgnn_model_free(model);
    return read_whole(path_of("good"));
}

/* The file with the first `from` in its header replaced by `to`. */
static content edited(const content *file, const char *from, const char *to)
{
    uint64_t length;
    memcpy(&length, file->bytes, sizeof length);
    char *header = calloc(length + 1, 1);
    memcpy(header, file->bytes + 8, length);
    char *at = strstr(header, from);
    if (!at)
        fail_msg("the header has no %s", from);
    content out = {calloc(file->size + strlen(to) + 8, 1), 0};
    size_t before = (size_t)(at - header), after = length - before - strlen(from);
    uint64_t changed = before + strlen(to) + after;
    memcpy(out.bytes, &changed, 8);
    memcpy(out.bytes + 8, header, before);
    memcpy(out.bytes + 8 + before, to, strlen(to));
    memcpy(out.bytes + 8 + before + strlen(to), at + strlen(from), after);
    memcpy(out.bytes + 8 + changed, file->bytes + 8 + length, file->size - 8 - length);
    out.size = 8 + changed + file->size - 8 - length;
    free(header);
    return out;
}

/* Options that later versions added may be missing and then have their original default. */
static void test_older_files(void **state)
{
    (void)state;
    const char *added[] = {
        "\\\"process\\\":\\\"off\\\",",
        "\\\"calibrate\\\":\\\"on\\\",",
        "\\\"lr-schedule\\\":\\\"constant\\\",",
        "\\\"lr-horizon\\\":\\\"0\\\",",
    };
    npgnn_model *model = make_model(F, 1);
    content file = good_file();
    for (size_t i = 0; i < COUNT(added); i++) {
        content older = edited(&file, added[i], "");
        free(file.bytes);
        file = older;
    }
    write_whole(path_of("older"), file.bytes, file.size);
    npgnn_model *loaded = load(path_of("older"));
    check_same_options(model, loaded);
    npgnn_model_free(model);
    npgnn_model_free(loaded);
    free(file.bytes);
    empty_folder();
}

typedef struct edit {
    const char *from, *to, *says;
} edit;

/* Options and info are JSON in a string: their quotes have a backslash. */
static const edit edits[] = {
    {"\"format\":\"npgnn-model\"", "\"format\":\"pt\"", "another kind of safetensors file"},
    {"\"__metadata__\"", "\"metadata\"", "another kind of safetensors file"},
    {"\"format\":\"npgnn-model\"", "\"format\":7", "another kind of safetensors file"},
    {"\"format_version\":\"1\"", "\"format_version\":\"2\"", "reads format 1 only"},
    {"\"options\":", "\"option\":", "options are missing or damaged"},
    {"\"options\":\"{", "\"options\":\"[{", "options are missing or damaged"},
    {"\"options\":", "\"options\":\"[]\",\"spare\":", "options are missing or damaged"},
    {"\"info\":", "\"info\":\"[]\",\"spare\":", "info is missing or damaged"},
    {"\\\"hidden\\\":\\\"3\\\"", "\\\"hiden\\\":\\\"3\\\"", "no option \"hiden\""},
    {"\\\"hidden\\\":\\\"3\\\"", "\\\"hidden\\\":\\\"0\\\"", "hidden takes 1..4096"},
    {"\\\"hidden\\\":\\\"3\\\"", "\\\"hidden\\\":3", "hidden takes 1..4096"},
    {"\\\"hidden\\\":\\\"3\\\"", "\\\"hidden\\\":\\\"2\\\"", "tensor W1 must be F32 of shape 7 x 2"},
    {"\\\"hidden\\\":\\\"3\\\"", "\\\"hidden\\\":\\\"4096\\\"", "too short for its options"},
    {"\\\"latent\\\":\\\"on\\\"", "\\\"latent\\\":\\\"off\\\"", "tensor W2 must be F32 of shape 7 x 4"},
    {"\\\"columns\\\":7", "\\\"columns\\\":2147483647", "too short for its options"},
    {"\\\"columns\\\":7", "\\\"columns\\\":2147483648", "info is missing or damaged"},
    {"\\\"columns\\\":7", "\\\"columns\\\":0", "too short for its options"},
    {"\\\"columns\\\":7", "\\\"columns\\\":-7", "info is missing or damaged"},
    {"\\\"columns\\\":7", "\\\"columns\\\":7.5", "info is missing or damaged"},
    {"\\\"columns\\\":7", "\\\"columns\\\":6", "must be F32 of shape"},
    {"\\\"iterations\\\":123", "\\\"iterations\\\":-1", "info is missing or damaged"},
    {"\\\"fingerprint\\\":\\\"00", "\\\"fingerprint\\\":\\\"xx", "info is missing or damaged"},
    {"\\\"context\\\":\\\"00", "\\\"context\\\":\\\"xx", "info is missing or damaged"},
    {"\\\"slopes\\\":[0.25", "\\\"slopes\\\":[-0.25", "scorer is damaged"},
    {"\\\"slopes\\\":[0.25", "\\\"slopes\\\":[1,0.25", "scorer is damaged"},
    {"\\\"slopes\\\":", "\\\"slope\\\":", "scorer is damaged"},
    {"\\\"offset\\\":-", "\\\"offset\\\":null,\\\"spare\\\":-", "scorer is damaged"},
    {"\\\"calibration\\\":", "\\\"calibration\\\":[],\\\"spare\\\":", "scorer is damaged"},
    {"\"scorer\":", "\"scorer\":\"[]\",\"spare\":", "scorer is damaged"},
    {"\"scorer\":", "\"spare\":", "scorer is damaged"},
    {"\"shape\":[7,3]", "\"shape\":[3,7]", "tensor W1 must be"},
    {"\"shape\":[7,3]", "\"shape\":[21]", "tensor W1 must be"},
    {"\"shape\":[7,3]", "\"shape\":[7,3,1]", "tensor W1 must be"},
    {"\"shape\":[7,3]", "\"shape\":\"7,3\"", "tensor W1 must be"},
    {"\"dtype\":\"F32\"", "\"dtype\":\"F64\"", "tensor W1 must be"},
    {"\"dtype\":\"F32\"", "\"type\":\"F32\"", "tensor W1 is missing or damaged"},
    {"\"W1\"", "\"w1\"", "tensor W1 is missing or damaged"},
    {"[0,84]", "[4,88]", "overlap"},
    {"[0,84]", "[84,168]", "overlap"},
    {"[0,84]", "[0,83]", "tensor W1 must be"},
    {"[0,84]", "[84,0]", "tensor W1 must be"},
    {"[0,84]", "[-84,0]", "tensor W1 must be"},
    {"[0,84]", "[100000,100084]", "tensor W1 must be"},
    {"[0,84]", "[9223372036854775723,9223372036854775807]", "tensor W1 must be"},
    {"[0,84]", "[9223372036854775807,9223372036854775891]", "not a JSON object"},
    {"\"b2\"", "\"b1\"", "not a JSON object"}, /* the same key twice */
    {"\"W1\":", "\"W1\":,", "not a JSON object"},
};

static void test_inconsistent_headers(void **state)
{
    (void)state;
    content file = good_file();
    content same = edited(&file, "npgnn-model", "npgnn-model"); /* the editing itself is harmless */
    write_whole(path_of("same"), same.bytes, same.size);
    npgnn_model_free(load(path_of("same")));
    free(same.bytes);
    for (size_t i = 0; i < COUNT(edits); i++) {
        content broken = edited(&file, edits[i].from, edits[i].to);
        refuse_bytes(broken.bytes, broken.size, edits[i].says);
        free(broken.bytes);
    }
    free(file.bytes);
    empty_folder();
}

static void test_truncated_files(void **state)
{
    (void)state;
    content file = good_file();
    for (size_t size = 0; size < file.size; size += 7)
        refuse_bytes(file.bytes, size, "");
    refuse_bytes(file.bytes, file.size - 1, "");
    refuse_bytes(file.bytes, file.size + 4, "longer than its tensors"); /* there is room: it was read into more */
    free(file.bytes);
    empty_folder();
}

static void test_lengths(void **state)
{
    (void)state;
    content file = good_file();
    const uint64_t lengths[] = {file.size - 7, (uint64_t)1 << 31, (uint64_t)1 << 63, UINT64_MAX};
    for (size_t i = 0; i < COUNT(lengths); i++) {
        memcpy(file.bytes, &lengths[i], 8);
        refuse_bytes(file.bytes, file.size, "header is longer than the file");
    }
    memset(file.bytes, 0, 8);
    refuse_bytes(file.bytes, file.size, "not a JSON object");
    free(file.bytes);
    empty_folder();
}

static void test_not_json(void **state)
{
    (void)state;
    const char *headers[] = {"hello, world", "[]", "7", "\"\"", "{", "{\"__metadata__\":1", "\xff\xfe", "{\"a\":1}}"};
    char bytes[64];
    for (size_t i = 0; i < COUNT(headers); i++) {
        uint64_t length = strlen(headers[i]);
        memcpy(bytes, &length, 8);
        memcpy(bytes + 8, headers[i], length);
        refuse_bytes(bytes, 8 + length, "not a JSON object");
    }
    enum { DEEP = 100000 };
    char *deep = calloc(DEEP + 8, 1);
    uint64_t length = DEEP;
    memcpy(deep, &length, 8);
    memset(deep + 8, '[', DEEP);
    refuse_bytes(deep, DEEP + 8, "not a JSON object");
    free(deep);
    empty_folder();
}

static void test_not_finite(void **state)
{
    (void)state;
    const float values[] = {NAN, INFINITY, -INFINITY};
    content file = good_file();
    for (size_t i = 0; i < COUNT(values); i++) {
        memcpy(file.bytes + file.size - 4, &values[i], 4);
        refuse_bytes(file.bytes, file.size, "z_log_sigma has a value that is not finite");
    }
    free(file.bytes);
    empty_folder();
}

/* One wrong bit anywhere in the header: a model or an error; no crash, no leak, not much memory. */
static void test_damaged_bytes(void **state)
{
    (void)state;
    content file = good_file();
    uint64_t length;
    memcpy(&length, file.bytes, 8);
    for (size_t at = 0; at < 8 + length; at++) {
        meter memory = {.allow = -1};
        npgnn_env env = metered_env(&memory);
        npgnn_model *model = NULL;
        file.bytes[at] ^= (unsigned char)(1 << at % 7);
        write_whole(path_of("broken"), file.bytes, file.size);
        file.bytes[at] ^= (unsigned char)(1 << at % 7);
        int code = npgnn_model_load(&model, path_of("broken"), &env, NULL);
        assert_true(code == 0 || code == NPGNN_E_FORMAT);
        assert_int_equal(model != NULL, code == 0);
        npgnn_model_free(model);
        assert_int_equal(memory.blocks, 0);
        assert_false(memory.refused);
    }
    free(file.bytes);
    empty_folder();
}

static void test_unreadable(void **state)
{
    (void)state;
    refuse(path_of("absent"), NPGNN_E_IO, "cannot");
    refuse(folder, NPGNN_E_IO, "");
}

/* ---- failed writes ---- */

static void refuse_to_save(const npgnn_model *model, const char *path, int code)
{
    npgnn_error err = {0};
    int before = entries();
    assert_int_equal(npgnn_model_save(model, path, &err), code);
    assert_int_equal(err.code, code);
    assert_true(strlen(err.text) > 0);
    assert_int_equal(entries(), before); /* no temporary is left */
}

static void test_invalid_paths(void **state)
{
    (void)state;
    npgnn_model *model = make_model(F, 1);
    refuse_to_save(model, path_of("absent/model"), NPGNN_E_IO);
    assert_int_equal(mkdir(path_of("sub"), 0700), 0);
    refuse_to_save(model, path_of("sub"), NPGNN_E_IO); /* a folder has this name */
    assert_int_equal(chmod(folder, 0500), 0);
    if (geteuid() != 0) /* root may write anywhere */
        refuse_to_save(model, path_of("model"), NPGNN_E_IO);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(rmdir(path_of("sub")), 0);
    npgnn_model_free(model);
}

/* Limits the size of files for a while. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The disk is full while writing the header, the first tensor (which is too large for the buffer) or the end. */
static void test_failed_write_keeps_old_file(void **state)
{
    (void)state;
    npgnn_model *old = make_model(F, 1), *large = make_model(5000, 1);
    save(large, path_of("large"));
    content whole = read_whole(path_of("large"));
    const rlim_t limits[] = {100, 10000, whole.size - 1};
    save(old, path_of("model"));
    content before = read_whole(path_of("model"));
    for (size_t i = 0; i < COUNT(limits); i++) {
        limit_files(limits[i]);
        refuse_to_save(large, path_of("model"), NPGNN_E_IO);
        limit_files(RLIM_INFINITY);
        content after = read_whole(path_of("model"));
        assert_int_equal(after.size, before.size);
        assert_memory_equal(after.bytes, before.bytes, before.size);
        free(after.bytes);
    }
    free(whole.bytes);
    free(before.bytes);
    npgnn_model_free(old);
    npgnn_model_free(large);
    empty_folder();
}

/* The disk is full only temporarily: the lost write must still be reported. */
static void test_lost_write(void **state)
{
    (void)state;
    enum { SIZE = 1 << 16 };
    npi_atomic out;
    char *block = calloc(SIZE, 1);
    assert_int_equal(npi_atomic_open(&out, path_of("file")), 0);
    limit_files(1000);
    assert_true(fwrite(block, 1, SIZE, out.file) < SIZE);
    limit_files(RLIM_INFINITY);
    assert_int_equal(npi_atomic_commit(&out), -1);
    assert_int_equal(entries(), 0);
    free(block);
}

/* ---- out of memory ---- */

static void test_out_of_memory(void **state)
{
    (void)state;
    int code = NPGNN_E_MEMORY;
    long allow = 0;
    free(good_file().bytes);
    for (; code; allow++) {
        meter memory = {.allow = allow};
        npgnn_env env = metered_env(&memory);
        npgnn_error err = {0};
        npgnn_model *model = NULL;
        code = npgnn_model_load(&model, path_of("good"), &env, &err);
        if (code)
            assert_true(code == NPGNN_E_MEMORY && err.code == code && !model);
        else {
            memory.allow = 0;
            refuse_to_save(model, path_of("good"), NPGNN_E_MEMORY);
        }
        npgnn_model_free(model);
        assert_int_equal(memory.blocks, 0);
    }
    assert_true(allow > 4);
    npgnn_model_free(load(path_of("good")));
    empty_folder();
}

/* Every kind can do everything, or says why not: only `extend` may be missing. */
static void test_kinds(void **state)
{
    (void)state;
    const npi_model_kind *kind, *last = NULL;
    int count = 0;
    for (; (kind = npi_model_kind_at(count)) != NULL; count++) {
        assert_true(kind->uses_option && kind->hash && kind->free_parameters && kind->fit && kind->calibrate);
        assert_true(kind->read && kind->header && kind->write_tensors && kind->link_rate && kind->adapt);
        assert_true(kind->apply && kind->embed && kind->batch_new && kind->score && kind->explain && kind->gather);
        assert_true(kind->free_predictor && kind->complete && kind->scorer && kind->quicken);
        assert_true(!last || strcmp(kind->format, last->format) != 0);
        last = kind;
    }
    assert_int_equal(count, 2);
    npgnn_options o = {.size = sizeof o};
    assert_int_equal(npgnn_options_preset(&o, "best", NULL), 0);
    assert_ptr_equal(npi_model_kind_of(&o), &npi_process_kind);
    assert_int_equal(npgnn_options_preset(&o, NULL, NULL), 0);
    assert_ptr_equal(npi_model_kind_of(&o), &npi_network_kind);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),           cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_format),          cmocka_unit_test(test_values),
        cmocka_unit_test(test_older_files),     cmocka_unit_test(test_inconsistent_headers),
        cmocka_unit_test(test_truncated_files), cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_not_json),        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_damaged_bytes),   cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_invalid_paths),   cmocka_unit_test(test_failed_write_keeps_old_file),
        cmocka_unit_test(test_lost_write),      cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
