/* The evidence of many pairs, on all threads: with all banks at once or, where they are not kept, group by group. Where
 * nodes are divided among processes, the rows of the ends of a batch of pairs are fetched. */
#include <assert.h>
#include <string.h>

#include "base/parallel.h"
#include "evidence/columns.h"
#include "evidence/endpoints.h"

typedef struct pairs_loop {
    float *value;
    const npi_columns *e;
    const npi_view *view;
    const npgnn_pair *pairs;
    const npgnn_pair
        *places;     /* (count) places of the rows in the view: `pairs` where the rows of all nodes are there */
    unsigned groups; /* whose columns are wanted: bits 1 << group */
    npi_columns_workspace *workspace; /* (threads); NULL: not needed by these groups */
    int threads;
} pairs_loop;

static void run_range(const void *arg, int64_t first, int64_t last)
{
    const pairs_loop *l = arg;
    int walks = (l->groups & 1u << NPI_GROUP_STRUCTURE) != 0;
    /* A pipeline: while pair i is computed, memory is asked for what pairs i + 1 to i + NPI_AHEAD will read, each pair
     * one step further in the chain row -> neighbours -> their links. The first NPI_AHEAD rounds only fill it. */
    for (int64_t i = walks ? first - NPI_AHEAD : first; i < last; i++) {
        for (int ahead = 1; walks && ahead <= NPI_AHEAD; ahead++)
            if (i + ahead >= first && i + ahead < last)
                npi_columns_prefetch(l->e, l->view, l->pairs[i + ahead], l->places[i + ahead], ahead);
        if (i >= first)
            npi_columns_pair_groups(l->value + i * l->e->plan.columns, walks ? &l->workspace[npi_worker()] : NULL, l->e,
                                    l->view, l->pairs[i], l->places[i], l->groups);
    }
}

/* Whether the columns of some groups are computed from a bank. */
static int is_read(const npi_columns *e, unsigned groups, npi_bank_id bank)
{
    for (int p = 0; p < e->plan.products; p++) {
        const npi_product *product = &e->plan.product[p];
        if (groups & 1u << product->group && (product->left == bank || product->right == bank))
            return 1;
    }
    return 0;
}

/* ---- rows of the ends of a batch of pairs ---- */

enum { MOST_BANKS = 5 }; /* that the columns of a group are computed from */

/* Memory for the rows of the ends of a batch, bank by bank. */
typedef struct fetched {
    npi_endpoints ends;
    npi_bank slot[MOST_BANKS]; /* row (ends.most, widest), along, cross and distance (ends.most) */
} fetched;

static void fetched_free(const npgnn_env *env, fetched *f)
{
    npi_endpoints_free(&f->ends);
    for (int i = 0; i < MOST_BANKS; i++) {
        npi_free(env, f->slot[i].row);
        npi_free(env, f->slot[i].along);
        npi_free(env, f->slot[i].cross);
        npi_free(env, f->slot[i].distance);
    }
}

static int fetched_new(fetched *f, const npi_columns *e, npgnn_error *err)
{
    const npgnn_env *env = &e->env;
    int widest = npi_columns_widest(e);
    int code = npi_endpoints_new(&f->ends, &e->rows, widest, env, err);
    size_t most = (size_t)f->ends.most;
    for (int i = 0; !code && i < MOST_BANKS; i++) { /* not zeroed: what no batch needs takes no memory */
        npi_bank *slot = &f->slot[i];
        slot->row = npi_resize(env, NULL, most * (size_t)widest, sizeof *slot->row, err);
        slot->along = npi_resize(env, NULL, most, sizeof *slot->along, err);
        slot->cross = npi_resize(env, NULL, most, sizeof *slot->cross, err);
        slot->distance = npi_resize(env, NULL, most, sizeof *slot->distance, err);
        if (!slot->row || !slot->along || !slot->cross || !slot->distance)
            code = NPGNN_E_MEMORY;
    }
    return code;
}

/* The view of a group whose rows are those of the ends of the batch, in their order. Collective. */
static void fetch(npi_view *view, fetched *f, const npi_columns *e, const npi_bank banks[NPI_BANKS], npi_group group)
{
    npi_bank fetched_banks[NPI_BANKS] = {0}; /* with the rows of these ends alone */
    int used = 0;
    for (int b = 0; b < NPI_BANKS; b++) {
        const npi_bank *from = &banks[b];
        if (!is_read(e, 1u << group, (npi_bank_id)b))
            continue;
        assert(used < MOST_BANKS);
        npi_bank *to = &fetched_banks[b];
        *to = f->slot[used++];
        to->width = from->width;
        to->stride = from->stride;
        to->mean = from->mean; /* μ and its products are those of all nodes */
        to->square = from->square;
        to->between = from->between;
        if (b == NPI_BANK_REGION16) /* the beginning of the rows of REGION, which the table has before it */
            to->row = fetched_banks[NPI_BANK_REGION].row;
        else
            npi_endpoints_fetch(to->row, &f->ends, from->row, from->width);
    }
    /* the arithmetic of rows that are kept, hence the same bits as in one process */
    npi_banks_measure(fetched_banks, group, 0, f->ends.count);
    npi_banks_view(view, fetched_banks);
}

/* ---- groups ---- */

/* The columns of some groups, for all pairs, from these banks; where nodes are divided, those of a single group, batch
 * by batch until no process has pairs left. All processes return the same code. */
static int run(const pairs_loop *all, const npi_bank banks[NPI_BANKS], npi_group group, size_t pair_count, fetched *f,
               npgnn_error *err)
{
    const npi_columns *e = all->e;
    pairs_loop loop = *all;
    npi_view view;
    loop.view = &view;
    if (!e->rows.comm) {
        npi_banks_view(&view, banks);
        for (int b = 0; b < NPI_BANKS; b++)
            if (!is_read(e, all->groups, (npi_bank_id)b))
                view.bank[b].row = NULL; /* not to be prefetched */
        npi_parallel(loop.threads, (int64_t)pair_count, 64, run_range, &loop);
        return 0;
    }
    /* a process whose pairs are done stays in the loop: the others need its rows */
    for (size_t done = 0, size; npi_comm_any(e->rows.comm, done < pair_count); done += size) {
        size = pair_count - done < NPI_ENDPOINTS_BATCH ? pair_count - done : NPI_ENDPOINTS_BATCH;
        int code = npi_endpoints_plan(&f->ends, all->pairs + done, size, err);
        if (code)
            return code;
        fetch(&view, f, e, banks, group);
        loop.value = all->value + done * (size_t)e->plan.columns;
        loop.pairs = all->pairs + done;
        loop.places = f->ends.places;
        npi_parallel(loop.threads, (int64_t)size, 64, run_range, &loop);
    }
    return 0;
}

/* The columns of the features, group by group: banks that are not kept are made for these pairs, and released. */
static int run_features(pairs_loop *loop, size_t pair_count, fetched *f, npgnn_error *err)
{
    const npi_columns *e = loop->e;
    npgnn_env shared = e->env;
    npi_spread links = {0};
    npi_bank banks[NPI_BANKS];
    /* given banks are shared with e; those that are made here are empty in e, and only they are released */
    memcpy(banks, e->bank, sizeof banks);
    shared.comm = e->rows.comm;
    int code = e->kept ? 0 : npi_spread_new(&links, e->a, &shared, err);
    for (int g = 0; !code && g < NPI_FEATURE_GROUPS; g++) {
        loop->groups = 1u << g;
        code = e->kept ? 0 : npi_columns_make_group(banks, e, (npi_group)g, &links, err);
        if (!code)
            code = run(loop, banks, (npi_group)g, pair_count, f, err);
        if (!e->kept)
            npi_banks_release(banks, (npi_group)g, &e->env);
    }
    npi_spread_free(&links);
    return code;
}

int npi_columns_pairs(float *value, const npi_columns *e, const npgnn_pair *pairs, size_t pair_count, int threads,
                      npgnn_error *err)
{
    npgnn_comm *comm = e->rows.comm;
    /* Banks that are not kept exist one group at a time, and rows are fetched one group at a time. */
    int by_group = e->has_features && (!e->kept || comm);
    assert(threads > 0);
    fetched f = {0};
    npi_columns_workspace *w = npi_alloc(&e->env, (size_t)threads, sizeof *w, err);
    pairs_loop loop = {.value = value, .e = e, .pairs = pairs, .places = pairs, .workspace = w, .threads = threads};
    int code = w ? 0 : NPGNN_E_MEMORY;
    if (!code && comm)
        code = fetched_new(&f, e, err);
    code = npi_comm_agree(comm, code, err);
    if (!code) /* columns of features that the graph does not have stay 0 */
        memset(value, 0, pair_count * (size_t)e->plan.columns * sizeof *value);
    if (!code && by_group)
        code = run_features(&loop, pair_count, &f, err);
    /* only now: walkers take several numbers per node, and so did the banks that have just been released */
    for (int t = 0; t < threads && !code; t++)
        code = npi_columns_workspace_take(&w[t], e, 0, err);
    code = npi_comm_agree(comm, code, err);
    loop.groups = by_group || !e->has_features ? 1u << NPI_GROUP_STRUCTURE : (1u << NPI_GROUPS) - 1;
    if (!code)
        code = run(&loop, e->bank, NPI_GROUP_STRUCTURE, pair_count, &f, err);
    for (int t = 0; w && t < threads; t++)
        npi_columns_workspace_give(e, &w[t]);
    fetched_free(&e->env, &f);
    npi_free(&e->env, w);
    return code;
}
