/* SPDX-License-Identifier: MIT
 * members.c - locks on the heap and on stacks, each reached in another way. A
 * ring with a static lock makes every one of them part of a finding; what it is
 * to be called stands behind "name:". */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct peer {
    int n;
    pthread_mutex_t lock;
};

struct session {
    int n;
    pthread_mutex_t lock, other;
    pthread_mutex_t *borrowed;
    pthread_rwlock_t files;
    pthread_spinlock_t spin;
    sem_t slots;
    struct {
        int n;
        pthread_mutex_t inner;
    } state;
    union {
        pthread_mutex_t unnamed;
    };
    struct peer *peer;
    pthread_mutex_t rows[3][2];
};

struct bucket {
    pthread_mutex_t lock;
};

struct table {
    struct bucket in[4];
    struct bucket *out;
    struct {
        pthread_mutex_t lock;
    } * plain;
};

typedef struct {
    pthread_mutex_t lock;
} typed_t;

struct queue {
    long n;
    pthread_mutex_t lock;
};

struct worker {
    struct queue inbox, outbox;
    struct queue *shared;
};

static pthread_mutex_t anchor = PTHREAD_MUTEX_INITIALIZER;
static struct session *global;

#define NOINLINE __attribute__((noinline))
#define INIT(s) pthread_mutex_init(&(s)->lock, NULL)
#define BOTH(a, b) (pthread_mutex_init(a, NULL), pthread_mutex_init(b, NULL))

/* Takes it under the static lock and the other way round. */
static NOINLINE void ring(pthread_mutex_t *m)
{
    pthread_mutex_lock(&anchor);
    pthread_mutex_lock(m);
    pthread_mutex_unlock(m);
    pthread_mutex_unlock(&anchor);
    pthread_mutex_lock(m);
    pthread_mutex_lock(&anchor);
    pthread_mutex_unlock(&anchor);
    pthread_mutex_unlock(m);
}

static NOINLINE void *zeroed(size_t n)
{
    return calloc(1, n);
}

static NOINLINE void of_variable(void)
{
    struct session *s = zeroed(sizeof *s);
    pthread_mutex_init(&s->lock, NULL); /* name: session->lock */
    ring(&s->lock);
}

static NOINLINE void second_of_two(void)
{
    struct session *s = zeroed(sizeof *s);
    pthread_mutex_init(&s->other, NULL); /* name: session->other */
    ring(&s->other);
}

static NOINLINE void over_lines(void)
{
    struct session *s = zeroed(sizeof *s);
    pthread_mutex_init(                 /* name: session->state.inner */
                       &s->state.inner, /* not s->lock */
                       NULL);
    ring(&s->state.inner);
}

static NOINLINE void of_peer(struct session *s)
{
    s->peer = zeroed(sizeof *s->peer);
    pthread_mutex_init(&s->peer->lock, NULL); /* name: peer->lock */
    ring(&s->peer->lock);
}

static NOINLINE void unnamed_union(struct session *s)
{
    if (pthread_mutex_init(&s->unnamed, NULL) == 0) /* name: session->unnamed */
        ring(&s->unnamed);
}

static NOINLINE void rows(struct session *s)
{
    for (int i = 0; i < 1; i++)
        pthread_mutex_init(&s->rows[i][1],
                           NULL); /* name: session->rows[...][...] */
    ring(&s->rows[0][1]);
}

static NOINLINE void of_global(void)
{
    global = zeroed(sizeof *global);
    pthread_mutex_init(&global->lock, NULL); /* name: session->lock */
    ring(&global->lock);
}

static NOINLINE void inside_table(struct table *t)
{
    pthread_mutex_init(&t->in[2].lock, NULL); /* name: table->in[...].lock */
    ring(&t->in[2].lock);
}

static NOINLINE void behind_table(struct table *t)
{
    t->out = zeroed(4 * sizeof *t->out);
    pthread_mutex_init(&t->out[1].lock, NULL); /* name: table->out[...].lock */
    ring(&t->out[1].lock);
}

static NOINLINE void without_tag(struct table *t)
{
    t->plain = zeroed(sizeof *t->plain);
    pthread_mutex_init(&t->plain->lock, NULL); /* name: table->plain->lock */
    ring(&t->plain->lock);
}

static NOINLINE void elements(void)
{
    struct bucket *b = zeroed(4 * sizeof *b);
    pthread_mutex_init(&b[3].lock, NULL); /* name: bucket->lock */
    ring(&b[3].lock);
}

static NOINLINE void by_typedef(void)
{
    typed_t *t = zeroed(sizeof *t);
    pthread_mutex_init(&t->lock, NULL); /* name: typed_t->lock */
    ring(&t->lock);
}

static NOINLINE void on_stack(void)
{
    struct session here;
    pthread_mutex_init(&here.lock, NULL); /* name: here.lock */
    ring(&here.lock);
    pthread_mutex_destroy(&here.lock);
}

static NOINLINE void bare_on_stack(void)
{
    pthread_mutex_t bare;
    pthread_mutex_init(&bare, NULL); /* name: bare */
    ring(&bare);
    pthread_mutex_destroy(&bare);
}

/* What is only requested has the name that the first request gives it. */
static NOINLINE void first_request(void)
{
    struct session *s = zeroed(sizeof *s);
    pthread_mutex_lock(&anchor);
    pthread_mutex_lock(&s->lock); /* name: session->lock */
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_unlock(&anchor);
    ring(&s->lock);
}

static NOINLINE void transfer(struct peer *from, struct peer *to)
{
    pthread_mutex_lock(&from->lock); /* name: peer->lock */
    pthread_mutex_lock(&to->lock);   /* name: peer->lock */
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static NOINLINE void make(pthread_mutex_t *m)
{
    pthread_mutex_init(m, NULL);
}

static inline __attribute__((always_inline)) void
make_inline(pthread_mutex_t *m)
{
    pthread_mutex_init(m, NULL);
}

static NOINLINE void by_wrapper(struct session *s)
{
    make(&s->lock); /* may: session->lock */
    ring(&s->lock);
}

static NOINLINE void by_inline(struct session *s)
{
    make_inline(&s->other); /* name: session->other */
    ring(&s->other);
}

static NOINLINE void queue_init(struct queue *q)
{
    q->n = 0;
    pthread_mutex_init(&q->lock, NULL);
    q->n++;
}

static NOINLINE void in_worker(void)
{
    struct worker *w = zeroed(sizeof *w);
    queue_init(&w->outbox); /* name: worker->outbox.lock */
    ring(&w->outbox.lock);
}

static NOINLINE void behind_worker(void)
{
    struct worker *w = zeroed(sizeof *w);
    w->shared = zeroed(sizeof *w->shared);
    queue_init(w->shared); /* name: queue->lock */
    ring(&w->shared->lock);
}

/* --- no name of a member --- */

static NOINLINE void bare_on_heap(struct session *s)
{
    pthread_mutex_t *m = zeroed(sizeof *m);
    pthread_mutex_init(m, NULL); /* name: mutex@ */
    ring(m);
    s->n++;
}

static NOINLINE void borrowed(struct session *s)
{
    s->borrowed = zeroed(sizeof *s->borrowed);
    pthread_mutex_init(s->borrowed, NULL); /* name: mutex@ */
    ring(s->borrowed);
}

static NOINLINE pthread_mutex_t *choose(pthread_mutex_t *a)
{
    pthread_mutex_t *m = zeroed(sizeof *m);
    return a ? m : a;
}

static NOINLINE void chosen(struct session *s)
{
    pthread_mutex_t *m;
    pthread_mutex_init(m = choose(&s->lock), NULL); /* name: mutex@ */
    ring(m);
}

static NOINLINE void two_at_once(struct session *s)
{
    BOTH(&s->lock, &s->other); /* name: mutex@ */
    ring(&s->other);
}

static NOINLINE void by_macro(struct session *s)
{
    INIT(s); /* name: mutex@ */
    ring(&s->lock);
}

static NOINLINE void *given(void *m)
{
    pthread_mutex_init(m, NULL); /* name: mutex@ */
    ring(m);
    return m;
}

int main(void)
{
    struct peer *a = zeroed(sizeof *a), *b = zeroed(sizeof *b);
    of_variable();
    second_of_two();
    over_lines();
    of_peer(zeroed(sizeof(struct session)));
    unnamed_union(zeroed(sizeof(struct session)));
    rows(zeroed(sizeof(struct session)));
    of_global();
    inside_table(zeroed(sizeof(struct table)));
    behind_table(zeroed(sizeof(struct table)));
    without_tag(zeroed(sizeof(struct table)));
    elements();
    by_typedef();
    on_stack();
    bare_on_stack();
    first_request();
    transfer(a, b);
    transfer(b, a);
    by_wrapper(zeroed(sizeof(struct session)));
    by_inline(zeroed(sizeof(struct session)));
    in_worker();
    behind_worker();
    bare_on_heap(zeroed(sizeof(struct session)));
    borrowed(zeroed(sizeof(struct session)));
    chosen(zeroed(sizeof(struct session)));
    two_at_once(zeroed(sizeof(struct session)));
    by_macro(zeroed(sizeof(struct session)));
    given(zeroed(sizeof(pthread_mutex_t)));
    return 0;
}
