#include "checkpoint.h"

#include <stdlib.h>
#include <string.h>

#include "say.h"

#define EVERY "60s" /* little enough to lose, and seldom enough to cost nothing */

/* "100" iterations, "30s", "5m" or "2h". Returns whether it is one of these. */
static int parse_every(cli_checkpoint *checkpoint, const char *text)
{
    static const char units[] = "smh";
    static const double seconds[] = {1, 60, 3600};
    char *end;
    double number = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (end == text || !(number > 0 && number <= 1e6)) /* false for NaN */
        return 0;
    if (unit && !end[1]) {
        checkpoint->seconds = number * seconds[unit - units];
        return 1;
    }
    checkpoint->iterations = (int)number;
    return !*end && checkpoint->iterations == number;
}

int checkpoint_open(cli_checkpoint *checkpoint, const cli_settings *settings)
{
    *checkpoint = (cli_checkpoint){.path = settings->checkpoint ? settings->checkpoint : settings->resume,
                                   .saved = status_clock()};
    const char *every = settings->checkpoint_every;
    if (every && !checkpoint->path)
        return say_usage("train", "--checkpoint-every needs --checkpoint FILE: where to save");
    if (parse_every(checkpoint, every ? every : EVERY))
        return 0;
    return say_usage("train", "--checkpoint-every takes iterations or a time, such as 100, 30s, 5m or 1h, not '%s'",
                     every);
}

int checkpoint_save(cli_checkpoint *checkpoint)
{
    npgnn_error err = {0};
    checkpoint->failed = npgnn_trainer_save(checkpoint->trainer, checkpoint->path, &err) != 0;
    checkpoint->saved = status_clock();
    return checkpoint->failed ? say_error("%s", err.text) : 0;
}

void checkpoint_tick(cli_checkpoint *checkpoint, const npgnn_progress *progress, status_line *line)
{
    int due = checkpoint->iterations ? progress->iteration % checkpoint->iterations == 0
                                     : status_clock() - checkpoint->saved >= checkpoint->seconds;
    if (!due)
        return;
    status_end(line);
    checkpoint_save(checkpoint);
}
