/* The transport between threads of one process, in place of processes: for tests, and to see what several machines
 * would exchange.
 *
 * There is one slot per ordered pair of them. A sender puts the address of its data there and waits until the receiver
 * has copied them; so a slot has one message at a time, and messages arrive in order. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/comm.h"

typedef struct slot {
    const void *data;
    size_t bytes;
    int full;
} slot;

typedef struct hub {
    npgnn_env env;
    pthread_mutex_t lock;
    pthread_cond_t *changed; /* (ranks) a slot to or from this one */
    slot *slots;             /* (ranks, ranks) from, to */
    struct member *members;  /* (ranks) */
    int ranks, users;
} hub;

typedef struct member {
    hub *hub;
    int rank;
} member;

static void exchange(void *state, const npi_message *sends, int send_count, const npi_message *receives,
                     int receive_count)
{
    const member *me = state;
    hub *h = me->hub;
    slot *to = h->slots + (size_t)me->rank * (size_t)h->ranks;
    pthread_mutex_lock(&h->lock);
    for (int i = 0; i < send_count; i++) {
        to[sends[i].peer] = (slot){sends[i].data, sends[i].bytes, 1};
        pthread_cond_signal(&h->changed[sends[i].peer]);
    }
    for (int i = 0; i < receive_count; i++) {
        slot *from = h->slots + (size_t)receives[i].peer * (size_t)h->ranks + me->rank;
        while (!from->full)
            pthread_cond_wait(&h->changed[me->rank], &h->lock);
        assert(from->bytes == receives[i].bytes);
        pthread_mutex_unlock(&h->lock); /* the sender waits, and does not change the data */
        if (from->bytes > 0)
            memcpy(receives[i].data, from->data, from->bytes);
        pthread_mutex_lock(&h->lock);
        from->full = 0;
        pthread_cond_signal(&h->changed[receives[i].peer]);
    }
    for (int i = 0; i < send_count; i++)
        while (to[sends[i].peer].full)
            pthread_cond_wait(&h->changed[me->rank], &h->lock);
    pthread_mutex_unlock(&h->lock);
}

static void hub_free(hub *h)
{
    npgnn_env env = h->env;
    for (int r = 0; h->changed && r < h->ranks; r++)
        pthread_cond_destroy(&h->changed[r]);
    pthread_mutex_destroy(&h->lock);
    npi_free(&env, h->changed);
    npi_free(&env, h->slots);
    npi_free(&env, h->members);
    npi_free(&env, h);
}

static void end(void *state)
{
    hub *h = ((const member *)state)->hub;
    pthread_mutex_lock(&h->lock);
    int left = --h->users;
    pthread_mutex_unlock(&h->lock);
    if (left == 0)
        hub_free(h);
}

const npi_transport npi_threads = {NULL, exchange, end};

int npi_threads_new(void **states, int ranks, const npgnn_env *env, npgnn_error *err)
{
    hub *h = npi_alloc(env, 1, sizeof *h, err);
    if (!h)
        return NPGNN_E_MEMORY;
    h->env = *env;
    h->ranks = h->users = ranks;
    pthread_mutex_init(&h->lock, NULL);
    h->slots = npi_alloc(env, (size_t)ranks * (size_t)ranks, sizeof *h->slots, err);
    h->members = npi_alloc(env, (size_t)ranks, sizeof *h->members, err);
    h->changed = npi_alloc(env, (size_t)ranks, sizeof(pthread_cond_t), err);
    for (int r = 0; h->changed && r < ranks; r++)
        pthread_cond_init(&h->changed[r], NULL);
    if (!h->slots || !h->members || !h->changed) {
        hub_free(h);
        return NPGNN_E_MEMORY;
    }
    for (int r = 0; r < ranks; r++) {
        h->members[r] = (member){h, r};
        states[r] = &h->members[r];
    }
    return 0;
}
