/* Prints the estimated cost of a job. */
#include "estimate.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "report.h"

typedef struct short_text {
    char chars[32];
} short_text;

static short_text memory_text(int64_t bytes)
{
    short_text t;
    double mb = (double)bytes / 1e6;
    if (mb < 9.95)
        snprintf(t.chars, sizeof t.chars, "%.1f MB", mb);
    else if (mb < 9950)
        snprintf(t.chars, sizeof t.chars, "%.0f MB", mb);
    else
        snprintf(t.chars, sizeof t.chars, "%.1f GB", mb / 1000);
    return t;
}

static short_text time_text(double seconds)
{
    short_text t;
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

int estimate_report(npgnn_cost cost, const estimate_text *text, const common_settings *common)
{
    /* Measuring took the peak memory of the whole job: the program, the data it loaded, and the job itself. Where it took less
     * than the job will, a part was measured, and the job comes on top. */
    int64_t peak = report_peak_bytes(), memory = (cost.bytes > peak ? peak + cost.bytes : peak) + text->result_bytes;
    int threads = common_threads(common);
    cost.bytes += text->result_bytes;
    if (!common_json_on_stdout(common)) {
        printf("memory  about %s, of which the job itself takes %s\n", memory_text(memory).chars,
               memory_text(cost.bytes).chars);
        printf("time    %s %s on %d thread%s", text->at_most ? "up to about" : "about", time_text(cost.seconds).chars,
               threads, threads == 1 ? "" : "s");
        if (cost.step_seconds > 0)
            printf(" (%" PRId64 " %s, %s each)", cost.steps, text->steps, time_text(cost.step_seconds).chars);
        putchar('\n');
    }
    if (!common->json)
        return EXIT_DONE;
    return report_write(json_pack("{s:I, s:I, s:f, s:I, s:f, s:i}", "memory_bytes", (json_int_t)memory, "job_bytes",
                                  (json_int_t)cost.bytes, "seconds", cost.seconds, "steps", (json_int_t)cost.steps,
                                  "step_seconds", cost.step_seconds, "threads", threads),
                        common->json);
}
