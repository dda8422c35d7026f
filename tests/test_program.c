/* What the program asks of the library: calls that the linker wraps are counted or answered here. */
#define _XOPEN_SOURCE 700
#include "check.h"

#include "../cli/settings.h"
#include "folder.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Runs a command as main does. Returns its exit status. */
static int run(const cli_command *command, int argc, const char *const *arguments)
{
    char *argv[32];
    void *settings = malloc(command->size);
    assert_non_null(settings);
    assert_in_range(argc, 0, (int)COUNT(argv));
    memcpy(settings, command->defaults, command->size);
    for (int i = 0; i < argc; i++)
        assert_non_null(argv[i] = strdup(arguments[i]));
    int status = settings_parse(settings, command, argc, argv);
    if (status == 0)
        status = command->run(settings);
    for (int i = 0; i < argc; i++)
        free(argv[i]);
    free(settings);
    return status;
}

/* ---- threads ---- */

int __wrap_npgnn_cores(void);

/* As in a container of three cores on a larger machine. */
int __wrap_npgnn_cores(void)
{
    return 3;
}

/* The program takes what the library grants it, and does not count by itself. */
static void test_threads_are_those_of_the_library(void **state)
{
    (void)state;
    const common_settings unset = {0}, set = {.threads = 7};
    assert_int_equal(common_threads(&unset), 3);
    assert_int_equal(common_env(&unset).threads, 3);
    assert_int_equal(common_threads(&set), 7);
}

/* ---- searches ---- */

static int searches;     /* calls of npgnn_predictor_top, */
static int all_searched; /* those of them for all nodes */

int __real_npgnn_predictor_top(npgnn_link *out, int32_t *found, npgnn_predictor *predictor, int32_t k,
                               const npgnn_top_options *options, npgnn_error *err);
int __wrap_npgnn_predictor_top(npgnn_link *out, int32_t *found, npgnn_predictor *predictor, int32_t k,
                               const npgnn_top_options *options, npgnn_error *err);

int __wrap_npgnn_predictor_top(npgnn_link *out, int32_t *found, npgnn_predictor *predictor, int32_t k,
                               const npgnn_top_options *options, npgnn_error *err)
{
    searches++;
    all_searched += options->from == NULL;
    return __real_npgnn_predictor_top(out, found, predictor, k, options, err);
}

/* All nodes are searched in one call, which lets the library score each pair once, although the results are more than a
 * batch: 1200 · 1199 > 2^20. With --for, the nodes that were named. */
static void test_top_searches_all_nodes_at_once(void **state)
{
    (void)state;
    const char *all[] = {"universal", "synthetic:nodes=1200", "--top", "1199", "--quiet", "-o", path_of("links.tsv")};
    assert_int_equal(run(&cmd_predict, (int)COUNT(all), all), 0);
    assert_int_equal(searches, 1);
    assert_int_equal(all_searched, 1);
    const char *some[] = {"universal", "synthetic:nodes=1200", "--top", "10", "--for", "7", "--quiet",
                          "-o",        path_of("links.tsv")};
    assert_int_equal(run(&cmd_predict, (int)COUNT(some), some), 0);
    assert_int_equal(searches, 2);
    assert_int_equal(all_searched, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_are_those_of_the_library),
        cmocka_unit_test(test_top_searches_all_nodes_at_once),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
