/* Saves checkpoints of a training at regular intervals. */
#include "checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "progress_line.h"

#define DEFAULT_INTERVAL "60s" /* saving takes milliseconds, and at most a minute of work is lost */

/* Parses "100" (iterations), "30s", "5m" or "2h". Returns whether the text is one of these. */
static int parse_interval(cli_checkpoint *checkpoint, const char *text)
{
    static const char units[] = "smh";
    static const double seconds[] = {1, 60, 3600};
    char *end;
    double number = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (end == text || !(number > 0 && number <= 1e6)) /* NaN is refused too */
        return 0;
    if (unit && !end[1]) {
        checkpoint->seconds = number * seconds[unit - units];
        return 1;
    }
    checkpoint->iterations = (int)number;
    return !*end && checkpoint->iterations == number;
}

int checkpoint_open(cli_checkpoint *checkpoint, const char *path, const char *resume, const char *every)
{
    *checkpoint = (cli_checkpoint){.path = path ? path : resume, .saved = progress_clock()};
    if (every && !checkpoint->path)
        return print_usage_error("train", "--checkpoint-every needs --checkpoint FILE");
    if (parse_interval(checkpoint, every ? every : DEFAULT_INTERVAL))
        return 0;
    return print_usage_error(
        "train", "--checkpoint-every must be a number of iterations or a time, such as 100, 30s, 5m or 1h, got '%s'",
        every);
}

int checkpoint_save(cli_checkpoint *checkpoint)
{
    npgnn_error err = {0};
    checkpoint->failed = npgnn_trainer_save(checkpoint->trainer, checkpoint->path, &err) != 0;
    checkpoint->saved = progress_clock();
    return checkpoint->failed ? print_error("%s", err.text) : 0;
}

void checkpoint_tick(cli_checkpoint *checkpoint, const npgnn_progress *progress)
{
    int due = checkpoint->iterations ? progress->iteration % checkpoint->iterations == 0
                                     : progress_clock() - checkpoint->saved >= checkpoint->seconds;
    if (due)
        checkpoint_save(checkpoint);
}
