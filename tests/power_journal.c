/* A journal as `npgnn serve` writes it, for tests/power_loss.py.
 *
 *     power_journal write FILE     appends records, in batches of 1, 3, 1 and 40; each batch is synced, as for requests at once
 *     power_journal read FILE...   prints one line per file: how many records it has, if these are the first ones of `write`,
 *                                  or why it cannot be opened */
#include <stdio.h>
#include <string.h>

#include "serve/journal.h"

static int next;

static void make_record(char text[200], int number)
{
    snprintf(text, 200, "{\"links\": [[\"node %d\", \"%0*d\"]]}", number, 1 + number % 90, number);
}

static int check_record(void *user, const char *json, size_t size, char *why, size_t why_size)
{
    char text[200];
    (void)user;
    make_record(text, next++);
    if (strlen(text) == size && memcmp(text, json, size) == 0)
        return 0;
    snprintf(why, why_size, "it is another record");
    return -1;
}

static journal *open_journal(const char *path)
{
    journal *j = NULL;
    int64_t dropped;
    char why[600];
    next = 0;
    if (journal_open(&j, &dropped, path, 7, check_record, NULL, why, sizeof why) == 0)
        return j;
    printf("%s\n", why);
    return NULL;
}

int main(int argc, char **argv)
{
    static const int batches[] = {1, 3, 1, 40};
    if (argc > 2 && strcmp(argv[1], "write") == 0) {
        journal *j = open_journal(argv[2]);
        for (int i = 0; j && i < 4; i++) {
            int64_t last = 0;
            for (int k = 0; k < batches[i]; k++) {
                char text[200];
                make_record(text, next++);
                last = journal_append(j, text, strlen(text));
            }
            if (journal_sync(j, last) != 0)
                return 1;
        }
        journal_close(j);
        return !j;
    }
    for (int i = 2; i < argc; i++) {
        journal *j = open_journal(argv[i]);
        if (j)
            printf("%d\n", next);
        journal_close(j);
    }
    return 0;
}
