/* How good a search by candidates is, and how fast, against the exact search of the same nodes in the same run:
 *
 *     build/bench/retrieval [--threads T] [--nodes N] [--top K] [--model FILE|universal] DATA...
 */
#define _POSIX_C_SOURCE 200809L
#include <npgnn/npgnn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    npgnn_error err = {0};
    int32_t k = 10, sample = atoi(argv[2]);
    npgnn_graph *g = NULL;
    npgnn_model *m = NULL;
    npgnn_predictor *p = NULL;
    npgnn_env env = {.size = sizeof env, .threads = 1};
    if (npgnn_load(&g, argv[1], NULL, &env, &err) || (argc > 3 && strcmp(argv[3], "universal") ? npgnn_model_load(&m, argv[3], &env, &err) : npgnn_model_universal(&m, &env, &err))) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    double t0 = seconds();
    if (npgnn_predictor_new(&p, m, g, NULL, &env, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    int32_t n = (int32_t)npgnn_graph_nodes(g);
    sample = sample < n ? sample : n;
    int32_t *from = malloc((size_t)sample * sizeof *from);
    for (int32_t i = 0; i < sample; i++)
        from[i] = (int32_t)((int64_t)i * n / sample);
    npgnn_link *a = malloc((size_t)sample * k * sizeof *a), *b = malloc((size_t)sample * k * sizeof *b);
    int32_t *fa = malloc((size_t)sample * 4), *fb = malloc((size_t)sample * 4);
    npgnn_top_options o = {.size = sizeof o, .from = from, .from_count = sample};
    double t1 = seconds();
    o.search = NPGNN_SEARCH_EXACT;
    if (npgnn_predictor_top(a, fa, p, k, &o, &err)) { fprintf(stderr, "%s\n", err.text); return 1; }
    double t2 = seconds();
    for (int v = 0; v < 12; v++) {
        char name[32];
        snprintf(name, sizeof name, "NPGNN_V%d", v);
        const char *set = getenv(name);
        if (!set) { if (v > 0) break; set = ""; }
        char copy[512];
        snprintf(copy, sizeof copy, "%s", set);
        for (char *tok = strtok(copy, " "); tok; tok = strtok(NULL, " ")) { char *eq = strchr(tok, '='); *eq = 0; setenv(tok, eq + 1, 1); }
        o.search = NPGNN_SEARCH_CANDIDATES; npgnn_search_info info = {.size = sizeof info}; o.info = &info; o.candidates = getenv("NPGNN_C") ? atoi(getenv("NPGNN_C")) : 0;
        double t3 = seconds();
        if (npgnn_predictor_top(b, fb, p, k, &o, &err)) { fprintf(stderr, "%s\n", err.text); return 1; }
        double t4 = seconds();
        long found = 0, all = 0, firsts = 0, nodes = 0;
        for (int32_t i = 0; i < sample; i++) {
            if (!fa[i]) continue;
            nodes++;
            firsts += fb[i] > 0 && b[i * k].prediction.score >= a[i * k].prediction.score;
            float last = a[i * k + fa[i] - 1].prediction.score;
            all += fa[i];
            int hit = 0;
            for (int j = 0; j < fb[i]; j++) hit += b[i * k + j].prediction.score >= last;
            found += hit < fa[i] ? hit : fa[i];
        }
        printf("%s [%s]: prepare %.1f s, exact %.3f ms/node, candidates %.3f ms/node incl.; recall %.2f %% first %.2f %% info %.2f %.2f %.2f\n", argv[1], set, t1 - t0, 1e3 * (t2 - t1) / sample, 1e3 * (t4 - t3) / sample, 100.0 * found / all, 100.0 * firsts / nodes, info.recall, info.low, info.high);
        fflush(stdout);
    }
    return 0;
}
