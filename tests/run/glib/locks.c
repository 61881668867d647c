/* SPDX-License-Identifier: MIT
 *
 * locks.c - GLib's locks in the hands of a program: locks KIND WHAT.
 *
 * Two threads, one after the other by flags that the detector does not see,
 * nest lock a in lock b and the other way round, in each kind of lock.
 */
#define GLIB_DISABLE_DEPRECATION_WARNINGS
#include <glib.h>
#include <setjmp.h>

#include "../guest/guest.h"

/* One lock of each kind, by two names. */
static GMutex mutex_a, mutex_b;
static GRecMutex rec_a, rec_b;
static GRWLock rw_a, rw_b;
static GStaticMutex old_a = G_STATIC_MUTEX_INIT, old_b = G_STATIC_MUTEX_INIT;
static GStaticRecMutex old_rec_a = G_STATIC_REC_MUTEX_INIT,
                       old_rec_b = G_STATIC_REC_MUTEX_INIT;
static GStaticRWLock old_rw_a = G_STATIC_RW_LOCK_INIT,
                     old_rw_b = G_STATIC_RW_LOCK_INIT;

#define LOCKS(name, type, take, give, try)                                     \
    static void name##_lock(void *l)                                           \
    {                                                                          \
        take((type *)l);                                                       \
    }                                                                          \
    static void name##_unlock(void *l)                                         \
    {                                                                          \
        give((type *)l);                                                       \
    }                                                                          \
    static gboolean name##_trylock(void *l)                                    \
    {                                                                          \
        return try((type *)l);                                                 \
    }

LOCKS(mutex, GMutex, g_mutex_lock, g_mutex_unlock, g_mutex_trylock)
LOCKS(rec, GRecMutex, g_rec_mutex_lock, g_rec_mutex_unlock, g_rec_mutex_trylock)
LOCKS(write, GRWLock, g_rw_lock_writer_lock, g_rw_lock_writer_unlock,
      g_rw_lock_writer_trylock)
LOCKS(read, GRWLock, g_rw_lock_reader_lock, g_rw_lock_reader_unlock,
      g_rw_lock_reader_trylock)
LOCKS(old, GStaticMutex, g_static_mutex_lock, g_static_mutex_unlock,
      g_static_mutex_trylock)
LOCKS(old_rec, GStaticRecMutex, g_static_rec_mutex_lock,
      g_static_rec_mutex_unlock, g_static_rec_mutex_trylock)
LOCKS(old_write, GStaticRWLock, g_static_rw_lock_writer_lock,
      g_static_rw_lock_writer_unlock, g_static_rw_lock_writer_trylock)
LOCKS(old_read, GStaticRWLock, g_static_rw_lock_reader_lock,
      g_static_rw_lock_reader_unlock, g_static_rw_lock_reader_trylock)

struct kind {
    const char *name;
    void *a, *b;
    void (*lock)(void *), (*unlock)(void *);
    gboolean (*trylock)(void *);
};

#define KIND(name, lock)                                                       \
    {                                                                          \
#name, &lock##_a, &lock##_b, name##_lock, name##_unlock,               \
            name##_trylock                                                     \
    }

static const struct kind kinds[] = {
    KIND(mutex, mutex),      KIND(rec, rec),         KIND(write, rw),
    KIND(read, rw),          KIND(old, old),         KIND(old_rec, old_rec),
    KIND(old_write, old_rw), KIND(old_read, old_rw),
};

static const struct kind *kind;

static void take_both(void *outer, void *inner)
{
    kind->lock(outer);
    kind->lock(inner);
    kind->unlock(inner);
    kind->unlock(outer);
}

struct order {
    void (*nest)(void *, void *);
    void *outer, *inner;
    int *after, done;
};

static void *in_order(void *argument)
{
    struct order *o = argument;

    if (o->after)
        wait_flag(o->after);
    o->nest(o->outer, o->inner);
    set_flag(&o->done);
    return NULL;
}

/* Both ways, in two threads that the program does not order. */
static void both_ways(void (*nest)(void *, void *), void *a, void *b)
{
    struct order first = { nest, a, b, NULL, 0 };
    struct order second = { nest, b, a, &first.done, 0 };
    GThread *t = g_thread_new("first", in_order, &first);
    GThread *u = g_thread_new("second", in_order, &second);

    g_thread_join(t);
    g_thread_join(u);
}

static void try_second(void *outer, void *inner)
{
    kind->lock(outer);
    CHECK(kind->trylock(inner));
    kind->unlock(inner);
    kind->unlock(outer);
}

static void try_first(void *outer, void *inner)
{
    CHECK(kind->trylock(outer));
    kind->lock(inner);
    kind->unlock(inner);
    kind->unlock(outer);
}

static void again(void *outer, void *inner)
{
    kind->lock(outer);
    kind->lock(outer);
    CHECK(kind->trylock(outer));
    kind->unlock(outer);
    kind->unlock(outer);
    kind->lock(inner);
    kind->unlock(inner);
    kind->unlock(outer);
    kind->lock(inner); /* outer is not held any more */
    kind->unlock(inner);
}

static GCond condition;
static int is_set, is_over;

static void *waker(void *unused)
{
    (void)unused;
    g_mutex_lock(&mutex_a);
    is_set = 1;
    g_cond_signal(&condition);
    g_mutex_unlock(&mutex_a);
    return NULL;
}

/* b is held, and a asked for again when the wait is over. */
static void wait_holding_b(void *wait)
{
    GThread *t;

    g_mutex_lock(&mutex_a);
    g_mutex_lock(&mutex_b);
    t = g_thread_new("waker", waker, NULL);
    while (!is_set) {
        if (wait == NULL)
            g_cond_wait(&condition, &mutex_a);
        else
            CHECK(g_cond_wait_until(&condition, &mutex_a,
                                    g_get_monotonic_time() +
                                        20 * G_TIME_SPAN_SECOND));
    }
    g_mutex_unlock(&mutex_b);
    g_mutex_unlock(&mutex_a);
    g_thread_join(t);
}

/* Alongside the main thread, but not at once. */
static void *a_then_b(void *unused)
{
    (void)unused;
    wait_flag(&is_over);
    mutex_lock(&mutex_a);
    mutex_lock(&mutex_b);
    mutex_unlock(&mutex_b);
    mutex_unlock(&mutex_a);
    return NULL;
}

static void condition_wait(void *wait)
{
    GThread *t = g_thread_new("other", a_then_b, NULL);

    wait_holding_b(wait);
    set_flag(&is_over);
    g_thread_join(t);
}

/* What waits out its time has the mutex, too. */
static void timed_out(void)
{
    g_mutex_lock(&mutex_a);
    CHECK(!g_cond_wait_until(&condition, &mutex_a, 0));
    CHECK(!g_mutex_trylock(&mutex_a));
    g_mutex_unlock(&mutex_a);
    CHECK(g_mutex_trylock(&mutex_a));
    g_mutex_unlock(&mutex_a);
}

static gsize once_location;
static GOnce once = G_ONCE_INIT;

static void once_in_b(void *unused, void *unused2)
{
    (void)unused;
    (void)unused2;
    if (g_once_init_enter(&once_location)) {
        g_mutex_lock(&mutex_b);
        g_mutex_unlock(&mutex_b);
        g_once_init_leave(&once_location, 1);
    }
}

static void *take_b(void *argument)
{
    g_mutex_lock(&mutex_b);
    g_mutex_unlock(&mutex_b);
    return argument;
}

static int once_runs;

static void *count_run(void *argument)
{
    once_runs++;
    return take_b(argument);
}

/* The function is called by pointer: not by a macro that looks first. */
static void *b_then_once(void *unused)
{
    (void)unused;
    g_mutex_lock(&mutex_b);
    CHECK(!(g_once_init_enter)(&once_location));
    g_mutex_unlock(&mutex_b);
    return NULL;
}

static void *b_then_g_once(void *unused)
{
    (void)unused;
    g_mutex_lock(&mutex_b);
    CHECK((g_once_impl)(&once, count_run, &once) == &once);
    g_mutex_unlock(&mutex_b);
    return NULL;
}

static void *initialize(void *done)
{
    once_in_b(NULL, NULL);
    CHECK(once_location == 1);
    set_flag(done);
    return NULL;
}

static void *initialize_g_once(void *done)
{
    CHECK(g_once(&once, count_run, &once) == &once);
    CHECK(g_once(&once, count_run, NULL) == &once);
    CHECK(once_runs == 1);
    set_flag(done);
    return NULL;
}

static int done;

static void *after_done(void *routine)
{
    wait_flag(&done);
    return ((void *(*)(void *))routine)(NULL);
}

static void two(void *(*first)(void *), void *(*second)(void *))
{
    GThread *t = g_thread_new("first", first, &done);
    GThread *u = g_thread_new("second", after_done, (void *)second);

    g_thread_join(t);
    g_thread_join(u);
}

static void queues(void *outer, void *inner)
{
    g_async_queue_lock(outer);
    g_async_queue_lock(inner);
    g_async_queue_push_unlocked(inner, &done);
    CHECK(g_async_queue_try_pop_unlocked(inner) == &done);
    g_async_queue_unlock(inner);
    g_async_queue_unlock(outer);
}

/* As many levels as it had. */
static void full(void *outer, void *inner)
{
    g_static_rec_mutex_lock(outer);
    g_static_rec_mutex_lock_full(outer, 2);
    CHECK(g_static_rec_mutex_unlock_full(outer) == 3);
    g_static_rec_mutex_lock(inner); /* nothing is held */
    g_static_rec_mutex_unlock(inner);
    g_static_rec_mutex_lock_full(inner, 2);
    g_static_rec_mutex_unlock(inner);
    g_static_rec_mutex_unlock(inner);
    g_static_rec_mutex_lock(outer);
    g_static_rec_mutex_unlock(outer);
}

/* Another lock in the same place: its order is no other's. */
static void cleared(void)
{
    struct order o = { take_both, &mutex_a, &mutex_b, NULL, 0 };

    g_thread_join(g_thread_new("first", in_order, &o));
    g_mutex_clear(&mutex_a);
    g_mutex_init(&mutex_a);
    o = (struct order){ take_both, &mutex_b, &mutex_a, NULL, 0 };
    g_thread_join(g_thread_new("second", in_order, &o));
    g_mutex_clear(&mutex_a);
}

static void made(void)
{
    GMutex *a = g_mutex_new(), *b = g_mutex_new();
    GRecMutex *r = g_new(GRecMutex, 2);
    GRWLock *l = g_new(GRWLock, 2);

    both_ways(take_both, a, b);
    g_mutex_free(a);
    g_mutex_free(b);
    g_rec_mutex_init(&r[0]);
    g_rec_mutex_init(&r[1]);
    kind = &kinds[1];
    both_ways(take_both, &r[0], &r[1]);
    g_rec_mutex_clear(&r[0]);
    g_rec_mutex_clear(&r[1]);
    g_free(r);
    g_rw_lock_init(&l[0]);
    g_rw_lock_init(&l[1]);
    kind = &kinds[2];
    both_ways(take_both, &l[0], &l[1]);
    g_rw_lock_clear(&l[0]);
    g_rw_lock_clear(&l[1]);
    g_free(l);
}

static int is_handed, is_asked;

static void *take_over_a(void *unused)
{
    g_mutex_unlock(&mutex_a);
    g_mutex_lock(&mutex_a);
    set_flag(&is_handed);
    wait_flag(&is_asked);
    g_mutex_unlock(&mutex_a);
    return unused;
}

/* Handed over, it is another's: whoever had it may wait for it. */
static void handed_over(void)
{
    GThread *t;

    g_mutex_lock(&mutex_a);
    t = g_thread_new("other", take_over_a, NULL);
    wait_flag(&is_handed);
    set_flag(&is_asked);
    g_mutex_lock(&mutex_a);
    g_mutex_unlock(&mutex_a);
    g_thread_join(t);
}

static pthread_t main_thread;
static sigjmp_buf out;
static int is_held, is_out;

static void jump(int signal_number)
{
    (void)signal_number;
    set_flag(&is_out);
    siglongjmp(out, 1);
}

/* The main thread waits for the lock, or is about to. */
static void *interrupt(void *lock)
{
    kind->lock(lock);
    set_flag(&is_held);
    wait_flag(&is_asked);
    pthread_kill(main_thread, SIGUSR1);
    wait_flag(&is_out);
    kind->unlock(lock);
    return NULL;
}

static mutex_t plain_a = MUTEX, plain_b = MUTEX;

/* A handler leaves a request: what comes afterwards is seen. */
static void jumped(void *lock)
{
    struct nesting later = { &plain_a, &plain_b, &is_over, 0 };
    pthread_t t, u = go(nest_thread, &later);

    main_thread = pthread_self();
    signal(SIGUSR1, jump);
    t = go(interrupt, lock);
    wait_flag(&is_held);
    if (!sigsetjmp(out, 1)) {
        set_flag(&is_asked);
        kind->lock(lock);
        CHECK(!"got");
    }
    join(t);
    nest(&plain_b, &plain_a);
    set_flag(&is_over);
    join(u);
}

static void clear_held(void)
{
    g_mutex_lock(&mutex_a);
    g_mutex_clear(&mutex_a);
}

/* g_mutex_init leaves some of what the memory held before. */
static void unclean(void)
{
    memset(&mutex_a, 0x55, sizeof mutex_a);
    g_mutex_init(&mutex_a);
}

static void upgrade(void)
{
    g_rw_lock_reader_lock(&rw_a);
    g_rw_lock_writer_lock(&rw_a);
}

static void *hold_a(void *unused)
{
    g_mutex_lock(&mutex_a);
    set_flag(&is_held);
    wait_flag(&is_over);
    g_mutex_unlock(&mutex_a);
    return unused;
}

static void asked_by_child(void)
{
    pthread_t t = go(hold_a, NULL);
    int status;
    pid_t pid;

    wait_flag(&is_held);
    pid = fork();
    if (pid == 0) {
        alarm(3);
        g_mutex_lock(&mutex_a);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 67);
    set_flag(&is_over);
    join(t);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "";

    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (argc > 1 && strcmp(argv[1], kinds[i].name) == 0)
            kind = &kinds[i];
    CHECK(kind);
    if (strcmp(what, "inversion") == 0)
        both_ways(take_both, kind->a, kind->b);
    else if (strcmp(what, "try-second") == 0)
        both_ways(try_second, kind->a, kind->b);
    else if (strcmp(what, "try-first") == 0)
        both_ways(try_first, kind->a, kind->b);
    else if (strcmp(what, "again") == 0)
        both_ways(again, kind->a, kind->b);
    else if (strcmp(what, "condition") == 0)
        condition_wait(NULL);
    else if (strcmp(what, "timed-condition") == 0)
        condition_wait(&condition);
    else if (strcmp(what, "timed-out") == 0)
        timed_out();
    else if (strcmp(what, "once") == 0)
        two(initialize, b_then_once);
    else if (strcmp(what, "g-once") == 0)
        two(initialize_g_once, b_then_g_once);
    else if (strcmp(what, "queues") == 0)
        both_ways(queues, g_async_queue_new(), g_async_queue_new());
    else if (strcmp(what, "full") == 0)
        both_ways(full, kind->a, kind->b);
    else if (strcmp(what, "cleared") == 0)
        cleared();
    else if (strcmp(what, "made") == 0)
        made();
    else if (strcmp(what, "handed-over") == 0)
        handed_over();
    else if (strcmp(what, "jumped") == 0)
        jumped(kind->a);
    else if (strcmp(what, "self") == 0)
        take_both(kind->a, kind->a);
    else if (strcmp(what, "asked-by-child") == 0)
        asked_by_child();
    else if (strcmp(what, "upgrade") == 0)
        upgrade();
    else if (strcmp(what, "unlock-free") == 0)
        g_mutex_unlock(&mutex_a);
    else if (strcmp(what, "clear-held") == 0)
        clear_held();
    else if (strcmp(what, "unlock-free-unclean") == 0)
        unclean(), g_mutex_unlock(&mutex_a);
    else if (strcmp(what, "clear-held-unclean") == 0)
        unclean(), clear_held();
    else
        CHECK(!"known");
    return 0;
}
