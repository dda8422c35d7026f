/* A plan is made in two exchanges: how many rows each process wants of each other one, and which. Afterwards a fetch is
 * one exchange: the owners pack the rows that others want, in the order of their lists. A return is the same
 * backwards. */
#include "linalg/fetch.h"

#include <assert.h>
#include <string.h>

#include "base/parallel.h"

/* Rows go in pieces, each PIECES-th of those between two processes but at least LEAST_PIECE, so that packed rows take a
 * fraction of the memory of all of them. */
enum { PIECES = 32, LEAST_PIECE = 512 };

static int64_t piece_size(int64_t count)
{
    int64_t size = (count + PIECES - 1) / PIECES;
    return size < LEAST_PIECE ? LEAST_PIECE : size;
}

/* The rows of one piece of each process, where there are `count` in all: memory for as many is enough. */
static size_t buffer_rows(int64_t count, int ranks)
{
    int64_t most = count / PIECES + (int64_t)ranks * (LEAST_PIECE + 1);
    return (size_t)(count < most ? count : most);
}

int npi_fetch_new(npi_fetch *out, const npi_partition *rows, int64_t most_want, int64_t most_give, int width,
                  const npgnn_env *env, npgnn_error *err)
{
    int ranks = npi_comm_ranks(rows->comm);
    size_t count = (size_t)ranks + 1;
    npi_fetch f = {
        .env = *env, .rows = *rows, .ranks = ranks, .width = width, .most_give = most_give, .bounded = most_give > 0};
    f.start = npi_alloc(env, count, sizeof *f.start, err);
    f.want = npi_alloc(env, count, sizeof *f.want, err);
    f.give = npi_alloc(env, count, sizeof *f.give, err);
    f.sends = npi_alloc(env, count, sizeof *f.sends, err);
    f.receives = npi_alloc(env, count, sizeof *f.receives, err);
    /* not zeroed: pages that no plan needs are never touched */
    f.node = npi_resize(env, NULL, (size_t)most_want, sizeof *f.node, err);
    f.place = npi_resize(env, NULL, (size_t)most_want, sizeof *f.place, err);
    f.in = npi_resize(env, NULL, buffer_rows(most_want, ranks) * (size_t)width, sizeof *f.in, err);
    f.row = npi_resize(env, NULL, (size_t)most_give, sizeof *f.row, err);
    f.out = npi_resize(env, NULL, buffer_rows(most_give, ranks) * (size_t)width, sizeof *f.out, err);
    if (!f.start || !f.want || !f.give || !f.sends || !f.receives || !f.node || !f.place || !f.in || !f.row || !f.out) {
        npi_fetch_free(&f);
        return NPGNN_E_MEMORY;
    }
    for (int r = 0; r <= ranks; r++)
        f.start[r] = npi_rank_start(rows, r);
    *out = f;
    return 0;
}

int npi_fetch_new_beside(npi_fetch *out, const npi_fetch *other, npgnn_error *err)
{
    int64_t give = other->give[other->ranks]; /* at least 1: 0 would mean that it is not known */
    int code = npi_fetch_new(out, &other->rows, other->want[other->ranks], give > 0 ? give : 1, 0, &other->env, err);
    if (code)
        return code;
    npi_free(&out->env, out->in);
    npi_free(&out->env, out->out);
    out->in = other->in;
    out->out = other->out;
    out->width = other->width;
    out->borrowed = 1;
    return 0;
}

void npi_fetch_free(npi_fetch *f)
{
    if (f->borrowed)
        f->in = f->out = NULL;
    void *blocks[] = {f->start, f->want, f->give, f->sends, f->receives, f->node, f->place, f->in, f->row, f->out};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        npi_free(&f->env, blocks[i]);
    memset(f, 0, sizeof *f);
}

/* The process that has this node. */
static int owner_of(const npi_fetch *f, int32_t node)
{
    int low = 0, high = f->ranks; /* start[low] <= node < start[high] */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (f->start[middle] <= node)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Sends to each other process its range of `to` and receives from it its range of `from`, in items of `size` bytes;
 * what is for this process itself is copied. */
static void exchange_ranges(npi_fetch *f, void *from, const int64_t *from_start, const void *to,
                            const int64_t *to_start, size_t size)
{
    int me = npi_comm_rank(f->rows.comm), sends = 0, receives = 0;
    for (int r = 0; r < f->ranks; r++) {
        const char *out = (const char *)to + (size_t)to_start[r] * size;
        char *in = (char *)from + (size_t)from_start[r] * size;
        size_t out_bytes = (size_t)(to_start[r + 1] - to_start[r]) * size;
        size_t in_bytes = (size_t)(from_start[r + 1] - from_start[r]) * size;
        if (r == me) {
            memcpy(in, out, in_bytes);
            continue;
        }
        npi_message send = {.bytes = out_bytes, .peer = r}, receive = {in, in_bytes, r};
        memcpy(&send.data, &out, sizeof out); /* without its const */
        if (out_bytes > 0)
            f->sends[sends++] = send;
        if (in_bytes > 0)
            f->receives[receives++] = receive;
    }
    npi_comm_exchange(f->rows.comm, f->sends, sends, f->receives, receives);
}

/* Of piece `piece` of the rows from or to process r: where they begin in the list, and how many they are. */
static int64_t piece_of(int64_t *count, const int64_t *start, int r, int piece)
{
    int64_t size = piece_size(start[r + 1] - start[r]), first = start[r] + piece * size;
    int64_t left = start[r + 1] - first;
    *count = left < 0 ? 0 : left < size ? left : size;
    return first;
}

/* Makes space for `count` rows to give. */
static int grow_gifts(npi_fetch *f, int64_t count, npgnn_error *err)
{
    if (count <= f->most_give)
        return 0;
    int32_t *row = npi_resize(&f->env, f->row, (size_t)count, sizeof *row, err);
    if (row)
        f->row = row;
    size_t packed = buffer_rows(count, f->ranks) * (size_t)f->width;
    real *out = row ? npi_resize(&f->env, f->out, packed, sizeof *out, err) : NULL;
    if (!out)
        return NPGNN_E_MEMORY;
    f->out = out;
    f->most_give = count;
    return 0;
}

int npi_fetch_plan(npi_fetch *f, const int32_t *node, int64_t count, npgnn_error *err)
{
    /* by process: how many, where they begin, and which */
    memset(f->want, 0, ((size_t)f->ranks + 1) * sizeof *f->want);
    for (int64_t i = 0; i < count; i++)
        f->want[owner_of(f, node[i]) + 1]++;
    int64_t each[NPI_MOST_RANKS], unit[NPI_MOST_RANKS + 1];
    for (int r = 0; r < f->ranks; r++) {
        each[r] = f->want[r + 1];
        f->want[r + 1] += f->want[r];
        unit[r] = r;
    }
    unit[f->ranks] = f->ranks;
    int64_t at[NPI_MOST_RANKS];
    memcpy(at, f->want, (size_t)f->ranks * sizeof *at);
    f->ordered = 1;
    for (int64_t i = 0; i < count; i++) {
        int64_t slot = at[owner_of(f, node[i])]++;
        f->node[slot] = node[i];
        f->place[slot] = (int32_t)i;
        f->ordered &= slot == i;
    }
    /* how many rows each process wants of this one */
    exchange_ranges(f, at, unit, each, unit, sizeof *at);
    f->give[0] = 0;
    for (int r = 0; r < f->ranks; r++)
        f->give[r + 1] = f->give[r] + at[r];
    assert(!f->bounded || f->give[f->ranks] <= f->most_give);
    if (!f->bounded) {
        int code = npi_comm_agree(f->rows.comm, grow_gifts(f, f->give[f->ranks], err), err);
        if (code)
            return code;
    }
    exchange_ranges(f, f->row, f->give, f->node, f->want, sizeof *f->row);
    for (int64_t i = 0; i < f->give[f->ranks]; i++)
        f->row[i] -= f->rows.from;
    return 0;
}

void npi_fetch_keep(npi_fetch *f)
{
    npi_free(&f->env, f->node);
    f->node = NULL;
    if (!f->ordered)
        return;
    npi_free(&f->env, f->place);
    f->place = NULL;
}

typedef struct copy_loop {
    real *to;
    const real *from;
    const int32_t *to_row, *from_row; /* one of them is NULL: in order */
    int ldto, ldfrom, w, add;
} copy_loop;

static void copy_rows(const void *arg, int64_t first, int64_t last)
{
    const copy_loop *l = arg;
    for (int64_t i = first; i < last; i++) {
        real *to = l->to + (l->to_row ? l->to_row[i] : i) * l->ldto;
        const real *from = l->from + (l->from_row ? l->from_row[i] : i) * l->ldfrom;
        if (!l->add)
            memcpy(to, from, (size_t)l->w * sizeof *to);
        for (int c = 0; l->add && c < l->w; c++)
            to[c] += from[c];
    }
}

/* Exchanges the rows of all pieces: packed from `from` by the list from_start and from_row, unpacked to `to` by
 * to_start and to_row. Both lists are by process; a list of rows that is NULL is 0, 1, ... The buffers hold one piece
 * of each. */
static void move_rows(npi_fetch *f, copy_loop unpack, const int64_t *to_start, real *received, copy_loop pack,
                      const int64_t *from_start, real *sent, int threads)
{
    int64_t out_start[NPI_MOST_RANKS + 1] = {0}, in_start[NPI_MOST_RANKS + 1] = {0}, count, first;
    const int32_t *to_row = unpack.to_row, *from_row = pack.from_row;
    real *to = unpack.to;
    const real *from = pack.from;
    for (int piece = 0; piece < PIECES; piece++) {
        for (int r = 0; r < f->ranks; r++) {
            first = piece_of(&count, from_start, r, piece);
            out_start[r + 1] = out_start[r] + count;
            pack.to = sent + out_start[r] * pack.w;
            pack.from_row = from_row ? from_row + first : NULL;
            pack.from = from_row ? from : from + first * pack.ldfrom;
            npi_parallel(threads, count, 0, copy_rows, &pack);
            piece_of(&count, to_start, r, piece);
            in_start[r + 1] = in_start[r] + count;
        }
        exchange_ranges(f, received, in_start, sent, out_start, (size_t)pack.w * sizeof(real));
        for (int r = 0; r < f->ranks; r++) {
            first = piece_of(&count, to_start, r, piece);
            unpack.from = received + in_start[r] * unpack.w;
            unpack.to_row = to_row ? to_row + first : NULL;
            unpack.to = to_row ? to : to + first * unpack.ldto;
            npi_parallel(threads, count, 0, copy_rows, &unpack);
        }
    }
}

void npi_fetch_rows(npi_fetch *f, real *to, const real *x, int ldx, int w, int threads)
{
    copy_loop pack = {.from = x, .from_row = f->row, .ldto = w, .ldfrom = ldx, .w = w};
    copy_loop unpack = {.to = to, .to_row = f->place, .ldto = w, .ldfrom = w, .w = w};
    move_rows(f, unpack, f->want, f->in, pack, f->give, f->out, threads);
}

void npi_fetch_return(npi_fetch *f, real *x, int ldx, const real *from, int w, int threads)
{
    copy_loop pack = {.from = from, .from_row = f->place, .ldto = w, .ldfrom = w, .w = w};
    copy_loop unpack = {.to = x, .to_row = f->row, .ldto = ldx, .ldfrom = w, .w = w, .add = 1};
    move_rows(f, unpack, f->give, f->out, pack, f->want, f->in, threads);
}
