/* Explanations in words. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "predict/explain.h"

enum {
    SHOWN = 3,    /* names per reason */
    MAX_NAME = 40 /* bytes of a name in a reason */
};
#define WORTH_SAYING 0.1 /* share of the largest contribution, below which one is not put into words, */
#define LEAST_SAID 0.05  /* nor are those that contribute less than this */

typedef struct words_writer {
    char *text;
    size_t size, used;
} words_writer;

static void say(words_writer *w, const char *format, ...) NPI_PRINTF(2, 3);
static void say(words_writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(w->text + w->used, w->size - w->used, format, args);
    va_end(args);
    if (length > 0) /* vsnprintf returns what it would have written; the text ends where the memory does */
        w->used += (size_t)length < w->size - w->used ? (size_t)length : w->size - w->used - 1;
}

/* A name, cut between two UTF-8 characters where it is long. */
static void say_name(words_writer *w, const char *name)
{
    size_t length = strlen(name);
    if (length > MAX_NAME) /* bytes 10xxxxxx continue a character: back to where one begins */
        for (length = MAX_NAME; length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80;)
            length--;
    say(w, "%.*s%s", (int)length, name, name[length] ? "..." : "");
}

/* Text of the column of this kind that contributes most. */
static const char *main_column(const npgnn_explanation *why, npgnn_reason reason)
{
    const npgnn_contribution *best = NULL;
    for (int32_t c = 0; c < why->column_count; c++)
        if (why->columns[c].reason == reason && (!best || why->columns[c].log_odds > best->log_odds))
            best = &why->columns[c];
    return best ? best->text : "";
}

/* Features in common: "words in common: sparse, matrix", "same city=Berlin", or how many where they have no names.
 * Where there are none, features may still speak for a link: in what way. */
static void say_features(words_writer *w, const npgnn_explanation *why, const npi_explainer *e, const npi_features *x)
{
    /* Three forms: a similarity, where nodes cannot share columns; in what way the features fit, or how many are
     * shared, where there are no names to list; otherwise the names. */
    int32_t count = why->feature_count;
    int some = 0; /* whether nodes can have features in common at all */
    for (int32_t c = 0; c < x->f && !some; c++)
        some = e->holders[c] >= 0;
    if (!some) {
        say(w, "feature similarity %.2f", why->columns[NPI_COLUMN_FEATURES].value);
        return;
    }
    if (count == 0 || !x->columns) {
        if (count == 0)
            say(w, "%s",
                why->reasons[NPGNN_REASON_FEATURES] > 0 ? main_column(why, NPGNN_REASON_FEATURES)
                                                        : "no features in common");
        else
            say(w, "%d feature%s in common", (int)count, count == 1 ? "" : "s");
        return;
    }
    int shown = 0, open = 0; /* open: within a list of words */
    for (int32_t i = 0; i < count && shown < SHOWN; i++, shown++) {
        const npi_encoded *column = npi_explain_column(x, why->features[i]);
        const char *name = npi_names_get(x->columns, why->features[i]);
        if (column && column->kind != NPI_KIND_TEXT) { /* "both FLAG", "same NAME=VALUE": an item by itself */
            say(w, "%s%s ", shown ? ", " : "", column->kind == NPI_KIND_FLAG ? "both" : "same");
            open = 0;
        } else {
            if (column && column->name && strncmp(name, column->name, strlen(column->name)) == 0 &&
                name[strlen(column->name)] == ':')
                name += strlen(column->name) + 1; /* NAME:WORD */
            say(w, "%s%s", shown ? ", " : "", open ? "" : column ? "words in common: " : "features in common: ");
            open = 1;
        }
        say_name(w, name);
    }
    if (count > shown)
        say(w, " and %d more", (int)(count - shown));
}

static void say_reason(words_writer *w, npgnn_reason reason, const npgnn_explanation *why, const npi_explainer *e,
                       const npgnn_graph *graph, npgnn_pair pair)
{
    char buffer[12];
    const int64_t *ptr = graph->a.ptr;
    int region;
    switch (reason) {
    case NPGNN_REASON_FEATURES:
        say_features(w, why, e, graph->x);
        break;
    case NPGNN_REASON_NEIGHBOR_FEATURES:
        say(w, "neighbourhood similarity %.2f", why->columns[NPI_COLUMN_SMOOTH1].value);
        break;
    case NPGNN_REASON_NEIGHBORS:
        if (why->neighbor_count == 0) {
            say(w, "no neighbours in common");
            break;
        }
        say(w, "%d neighbour%s in common (", (int)why->neighbor_count, why->neighbor_count == 1 ? "" : "s");
        for (int32_t i = 0; i < why->neighbor_count && i < SHOWN; i++) {
            say(w, i ? ", " : "");
            say_name(w, npgnn_graph_name(graph, why->neighbors[i], buffer));
        }
        say(w, why->neighbor_count > SHOWN ? ", ...)" : ")");
        break;
    case NPGNN_REASON_WALKS:
        if (why->walks > 0)
            say(w, "linked by %.0f three-step walk%s, %.*f times the expected", why->walks, why->walks > 1 ? "s" : "",
                why->walk_lift < 9.95 ? 1 : 0, why->walk_lift); /* "9.9", "10": two digits */
        else
            say(w, "no walk of three steps between them");
        break;
    case NPGNN_REASON_REGION: /* the column that contributes more */
        region = why->columns[NPI_COLUMN_REGION16].log_odds > why->columns[NPI_COLUMN_REGION64].log_odds
                     ? NPI_COLUMN_REGION16
                     : NPI_COLUMN_REGION64;
        say(w, "region similarity %.2f", why->columns[region].value);
        break;
    case NPGNN_REASON_LINKS:
        say(w, "%lld and %lld links", (long long)(ptr[pair.u + 1] - ptr[pair.u]),
            (long long)(ptr[pair.v + 1] - ptr[pair.v]));
        break;
    case NPGNN_REASONS:
        break;
    }
    say(w, " %+.1f", why->reasons[reason]);
}

void npi_explain_say(const npgnn_explanation *why, npi_explainer *e, const npgnn_graph *graph, npgnn_pair pair)
{
    words_writer w = {e->text, sizeof e->text, 0};
    double largest = 0;
    int said[NPGNN_REASONS] = {0};
    e->text[0] = '\0';
    for (int r = 0; r < NPGNN_REASONS; r++)
        largest = fmax(largest, fabs(why->reasons[r]));
    double least = fmax(LEAST_SAID, WORTH_SAYING * largest);
    for (;;) { /* the largest contribution that is not said yet, whatever its sign */
        int next = -1;
        for (int r = 0; r < NPGNN_REASONS; r++)
            if (!said[r] && fabs(why->reasons[r]) >= least &&
                (next < 0 || fabs(why->reasons[r]) > fabs(why->reasons[next])))
                next = r;
        if (next < 0)
            break;
        if (w.used > 0)
            say(&w, "; ");
        say_reason(&w, (npgnn_reason)next, why, e, graph, pair);
        said[next] = 1;
    }
    if (w.used == 0)
        say(&w, "nothing distinguishes it from an average pair without a link");
}
