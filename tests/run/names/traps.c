/* SPDX-License-Identifier: MIT
 * traps.c - locks whose line names another one than was taken, or might: what
 * is called session->lock or mutex@... here is, whatever the compiler does, and
 * session->other would be wrong. */
#include <pthread.h>
#include <stdlib.h>

struct session {
    int n;
    pthread_mutex_t lock, other;
};

struct queue {
    int n;
    pthread_mutex_t lock;
};

struct worker {
    struct queue inbox;
    struct queue *shared;
};

static pthread_mutex_t anchor = PTHREAD_MUTEX_INITIALIZER;

#define NOINLINE __attribute__((noinline))
#define LOCK(s) pthread_mutex_lock(&(s)->lock)

/* The static lock, then this one, which so far was not requested. */
static NOINLINE void end(pthread_mutex_t *m)
{
    pthread_mutex_unlock(m);
    pthread_mutex_unlock(&anchor);
    pthread_mutex_lock(m);
    pthread_mutex_lock(&anchor);
    pthread_mutex_unlock(&anchor);
    pthread_mutex_unlock(m);
}

static NOINLINE struct session *begin(void)
{
    pthread_mutex_lock(&anchor);
    return calloc(1, sizeof(struct session));
}

/* Left for its last call, so that its caller seems to make that. */
static NOINLINE int last_call(struct session *s, pthread_mutex_t *unused)
{
    s->n += unused != NULL;
    return pthread_mutex_lock(&s->lock);
}

static NOINLINE void by_last_call(struct session *s)
{
    int failed = last_call(s, &s->other);
    s->n -= failed;
    end(&s->lock);
}

/* One call of two, with the line of either. */
static NOINLINE void merged(struct session *s, int which)
{
    if (which)
        pthread_mutex_lock(&s->lock);
    else
        pthread_mutex_lock(&s->other);
    s->n = which * 3 + s->n;
    end(&s->lock);
}

static NOINLINE int is_free(struct session *s, pthread_mutex_t *m)
{
    return s->n == 0 && m != NULL;
}

static NOINLINE void by_macro(struct session *s)
{
    if (is_free(s, &s->other))
        LOCK(s);
    end(&s->lock);
}

static NOINLINE void lock_second(struct queue *unused, struct queue *q)
{
    q->n += unused != NULL;
    pthread_mutex_lock(&q->lock);
    q->n++;
}

/* queue->lock, and not worker->inbox.lock */
static NOINLINE void second_argument(struct worker *w)
{
    lock_second(&w->inbox, w->shared);
    end(&w->shared->lock);
}

/* A name inside hides the one outside: what it is in is another structure. */
static NOINLINE void shadowed(struct session *m)
{
    struct session *s = m;
    {
        pthread_mutex_t *other = &s->lock, *m = other;
        pthread_mutex_lock(m);
    }
    end(&s->lock);
}

int main(int argc, char **argv)
{
    struct worker *w = calloc(1, sizeof *w);
    (void)argv;
    by_last_call(begin());
    merged(begin(), argc);
    by_macro(begin());
    shadowed(begin());
    w->shared = calloc(1, sizeof *w->shared);
    pthread_mutex_lock(&anchor);
    second_argument(w);
    return 0;
}
