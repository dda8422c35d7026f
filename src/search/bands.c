/* Runs over the rows of a search in bands: threads end with every band, so that the calling thread can report progress and
 * cancel. */
#include "base/parallel.h"
#include "linalg/blas.h"
#include "search/search.h"

#define BAND_SECONDS 0.05 /* of a heuristic, whose rows cost from nothing to much */

typedef struct band_loop {
    const npi_search *s;
    int64_t start; /* block */
} band_loop;

static void search_blocks(const void *arg, int64_t first, int64_t last)
{
    const band_loop *l = arg;
    for (int64_t block = first; block < last; block++)
        (l->s->mutual ? npi_mutual_block : npi_search_block)(
            l->s, &l->s->searchers[npi_worker()], (int32_t)(l->s->begin + (l->start + block) * l->s->scorer.block));
}

int npi_search_report(const npi_search *s, int64_t done, npgnn_error *err)
{
    const npgnn_env *env = &s->env;
    done = done < s->rows ? done : s->rows;
    npgnn_progress progress = {.size = sizeof progress, .runs = 1, .iteration = (int)done, .iterations = s->rows};
    if (s->checking > 0) { /* the search that is checked has not begun */
        progress.iteration = 0;
        progress.iterations = s->checking;
    }
    progress.loss = progress.kl = progress.val_auc = progress.val_ap = (double)NAN;
    return npi_env_stopped(env) || (env->progress && env->progress(env->user, &progress))
               ? npi_fail(err, NPGNN_E_CANCELLED, "cancelled after %d of %d nodes", (int)done, s->rows)
               : 0;
}

int npi_search_rows(const npi_search *s, npgnn_error *err)
{
    int64_t blocks = s->end > s->begin ? ((int64_t)s->end - s->begin + s->scorer.block - 1) / s->scorer.block : 0;
    int64_t band = (int64_t)s->threads * s->scorer.band; /* blocks between two calls of progress */
    for (int64_t start = 0, end; start < blocks; start = end) {
        double began = npi_clock_seconds();
        band_loop loop = {s, start};
        end = start + band < blocks ? start + band : blocks;
        if (s->scorer.kind->uses_blas)
            npi_blas_begin(s->threads);
        npi_parallel(s->threads, end - start, 1, search_blocks, &loop);
        if (s->scorer.kind->uses_blas)
            npi_blas_end(s->threads);
        /* this process speaks for all, which are about as far */
        int code = npi_search_report(s, s->before + end * s->scorer.block * s->times, err);
        if (code)
            return code;
        if (s->scorer.heuristic)
            band = npi_clock_seconds() - began < BAND_SECONDS ? 2 * band : band > s->threads ? band / 2 : band;
    }
    if (s->mutual && atomic_load(&s->mutual->failed))
        return npi_fail(err, NPGNN_E_MEMORY, "out of memory while searching");
    return 0;
}
