#include "estimate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report.h"
#include "say.h"

/* ---- units ---- */

typedef struct text {
    char chars[32];
} text;

static text memory_text(int64_t bytes)
{
    text t;
    double mb = (double)bytes / 1e6;
    if (mb < 9.95)
        snprintf(t.chars, sizeof t.chars, "%.1f MB", mb);
    else if (mb < 9950)
        snprintf(t.chars, sizeof t.chars, "%.0f MB", mb);
    else
        snprintf(t.chars, sizeof t.chars, "%.1f GB", mb / 1000);
    return t;
}

static text time_text(double seconds)
{
    text t;
    int64_t whole = (int64_t)(seconds + 0.5);
    if (seconds < 1e-3)
        snprintf(t.chars, sizeof t.chars, "%.3g us", 1e6 * seconds);
    else if (seconds < 1)
        snprintf(t.chars, sizeof t.chars, "%.3g ms", 1e3 * seconds);
    else if (whole < 60)
        snprintf(t.chars, sizeof t.chars, "%.2g s", seconds);
    else if (whole < 3600)
        snprintf(t.chars, sizeof t.chars, "%" PRId64 " min %" PRId64 " s", whole / 60, whole % 60);
    else
        snprintf(t.chars, sizeof t.chars, "%" PRId64 " h %" PRId64 " min", whole / 3600, whole % 3600 / 60);
    return t;
}

/* ---- words ---- */

static void print_cost(const npgnn_cost *cost, int64_t memory, const cli_estimate *what, const cli_settings *settings)
{
    printf("memory  about %s, %s of it for the job itself\n", memory_text(memory).chars,
           memory_text(cost->bytes).chars);
    printf("time    %s %s on %d thread%s", what->at_most ? "up to about" : "about", time_text(cost->seconds).chars,
           settings->threads, settings->threads == 1 ? "" : "s");
    if (cost->step_seconds > 0)
        printf(" (%" PRId64 " %s of %s)", cost->steps, what->steps, time_text(cost->step_seconds).chars);
    putchar('\n');
}

static json_t *cost_json(const npgnn_cost *cost, int64_t memory, const cli_settings *settings)
{
    return json_pack("{s:I, s:I, s:f, s:I, s:f, s:i}", "memory_bytes", (json_int_t)memory, "job_bytes",
                     (json_int_t)cost->bytes, "seconds", cost->seconds, "steps", (json_int_t)cost->steps,
                     "step_seconds", cost->step_seconds, "threads", settings->threads);
}

int estimate(const cli_estimate *what, const void *input, const cli_settings *settings)
{
    npgnn_cost cost = {.size = sizeof cost};
    npgnn_env env = {.size = sizeof env, .threads = settings->threads};
    npgnn_error err = {0};
    if (what->measure(&cost, input, settings, &env, &err) != 0)
        return say_error("%s", err.text);
    /* the short job has had all the memory that the whole will: the program, what it loaded, and its own */
    int64_t memory = report_peak_bytes() + what->results;
    cost.bytes += what->results;
    if (!settings->json || strcmp(settings->json, "-") != 0)
        print_cost(&cost, memory, what, settings);
    return settings->json ? report_write(cost_json(&cost, memory, settings), settings->json) : EXIT_DONE;
}

int estimate_data(const cli_estimate *what, const cli_settings *settings)
{
    npgnn_graph *graph = NULL;
    npgnn_env env = {.size = sizeof env, .threads = settings->threads};
    int status = settings_load(&graph, settings, settings->operands[0], &env);
    if (status == 0)
        status = estimate(what, graph, settings);
    npgnn_graph_free(graph);
    return status;
}
