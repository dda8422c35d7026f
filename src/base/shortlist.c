/* The best few of many candidates, in a binary heap: the parent of item i is item (i - 1) / 2 and is never better
 * than it. */
#include "base/shortlist.h"

/* A strict total order, so that the result does not depend on the order of the offers. */
static int beats(const npi_candidate *a, const npi_candidate *b)
{
    if (a->score > b->score || a->score < b->score)
        return a->score > b->score;
    return a->tie != b->tie ? a->tie > b->tie : a->id < b->id;
}

/* Places `item` in a heap of `count` items whose root is vacant: moves the worse child up until `item` fits. */
static void sink(npi_candidate *items, int count, npi_candidate item)
{
    int at = 0, child;
    while ((child = 2 * at + 1) < count) {
        if (child + 1 < count && beats(&items[child], &items[child + 1]))
            child++; /* the worse child */
        if (!beats(&item, &items[child]))
            break;
        items[at] = items[child];
        at = child;
    }
    items[at] = item;
}

void npi_shortlist_offer(npi_shortlist *list, npi_candidate candidate)
{
    npi_candidate *items = list->items;
    if (list->count == list->capacity) {
        if (beats(&candidate, &items[0]))
            sink(items, list->count, candidate);
        return;
    }
    /* not full yet: append, then move better ancestors down so that the worst stays at the root */
    int at = list->count++;
    for (; at > 0 && beats(&items[(at - 1) / 2], &candidate); at = (at - 1) / 2)
        items[at] = items[(at - 1) / 2];
    items[at] = candidate;
}

void npi_shortlist_sort(npi_shortlist *list)
{
    for (int left = list->count - 1; left > 0; left--) {
        npi_candidate last = list->items[left];
        list->items[left] = list->items[0]; /* the worst of the remaining ones */
        sink(list->items, left, last);
    }
}
