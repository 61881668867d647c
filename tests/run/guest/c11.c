/* SPDX-License-Identifier: MIT
 *
 * c11.c - mtx_t, cnd_t and thrd_t: orders, waits, lives, and what each function
 * returns.
 */
#include <dlfcn.h>
#include <threads.h>

#include "guest.h"
#include "lockhound.h"

static const struct timespec past = { 1, 0 };
static const struct timespec broken = { 1, -1 };
static mtx_t a, b, c;
static cnd_t cond;
static int first_done, waiting, cleaned;

static void take(mtx_t *m)
{
    CHECK(mtx_lock(m) == thrd_success);
}

static void give(mtx_t *m)
{
    CHECK(mtx_unlock(m) == thrd_success);
}

static void nest_c11(mtx_t *outer, mtx_t *inner)
{
    take(outer);
    take(inner);
    give(inner);
    give(outer);
}

static thrd_t go_c11(thrd_start_t routine, void *argument)
{
    thrd_t t;

    CHECK(thrd_create(&t, routine, argument) == thrd_success);
    return t;
}

static int join_c11(thrd_t t)
{
    int result;

    CHECK(thrd_join(t, &result) == thrd_success);
    return result;
}

static int b_under_a(void *unused)
{
    (void)unused;
    nest_c11(&a, &b);
    set_flag(&first_done);
    return 0;
}

static int a_under_b(void *unused)
{
    (void)unused;
    wait_flag(&first_done);
    nest_c11(&b, &a);
    return 0;
}

static void inversion(void)
{
    thrd_t t = go_c11(b_under_a, NULL), u = go_c11(a_under_b, NULL);

    join_c11(t);
    join_c11(u);
}

/* The first thread has ended before the second is made. */
static void joined(void)
{
    join_c11(go_c11(b_under_a, NULL));
    join_c11(go_c11(a_under_b, NULL));
}

/* Known long since: what is held is what the hot path says. */
static void warm(void)
{
    for (int i = 0; i < 100; i++) {
        nest_c11(&a, &b);
        lockhound_assert_not_held(&a);
        take(&a);
        lockhound_assert_held(&a);
        CHECK(mtx_trylock(&b) == thrd_success);
        lockhound_assert_held(&b);
        give(&a);
        lockhound_assert_not_held(&a);
        give(&b);
        lockhound_assert_not_held(&b);
    }
}

/* Timed in one order, tries in both. */
static int timed_b_under_a(void *unused)
{
    (void)unused;
    take(&a);
    CHECK(mtx_timedlock(&b, &past) == thrd_success);
    give(&b);
    give(&a);
    set_flag(&first_done);
    return 0;
}

static int try_b_under_a(void *unused)
{
    (void)unused;
    take(&a);
    CHECK(mtx_trylock(&b) == thrd_success);
    give(&b);
    give(&a);
    set_flag(&first_done);
    return 0;
}

static void backing_off(thrd_start_t first)
{
    thrd_t t = go_c11(first, NULL), u = go_c11(a_under_b, NULL);

    join_c11(t);
    join_c11(u);
}

static void reentry(void)
{
    mtx_t m;

    CHECK(mtx_init(&m, mtx_plain | mtx_recursive) == thrd_success);
    for (int i = 0; i < 20; i++) {
        take(&m);
        take(&m);
        CHECK(mtx_trylock(&m) == thrd_success);
        give(&m);
        give(&m);
        lockhound_assert_held(&m);
        give(&m);
        lockhound_assert_not_held(&m);
    }
    mtx_destroy(&m);
}

/* While it waits for the condition it asks for b again, under a. */
static int waits_under_a(void *unused)
{
    (void)unused;
    take(&b);
    CHECK(mtx_trylock(&a) == thrd_success);
    CHECK(cnd_timedwait(&cond, &b, &past) == thrd_timedout);
    give(&b);
    give(&a);
    set_flag(&first_done);
    return 0;
}

static void condition(void)
{
    backing_off(waits_under_a);
}

static int refused_under_a(void *unused)
{
    (void)unused;
    take(&b);
    CHECK(cnd_timedwait(&cond, &b, &broken) == thrd_error);
    lockhound_assert_held(&b);
    give(&b);
    lockhound_assert_not_held(&b);
    return 0;
}

static void clean_up(void *unused)
{
    (void)unused;
    nest_c11(&c, &b); /* while a is held */
    give(&a);
    set_flag(&cleaned);
}

static int waits_for_ever(void *unused)
{
    (void)unused;
    take(&a);
    pthread_cleanup_push(clean_up, NULL);
    set_flag(&waiting);
    for (;;)
        cnd_wait(&cond, &a);
    pthread_cleanup_pop(0);
    return 0;
}

static int a_under_b_after_cleaning(void *unused)
{
    (void)unused;
    wait_flag(&cleaned);
    nest_c11(&b, &a);
    return 0;
}

static void cancelled(void)
{
    thrd_t t = go_c11(waits_for_ever, NULL);
    thrd_t u = go_c11(a_under_b_after_cleaning, NULL);

    wait_flag(&waiting);
    take(&a); /* it waits, or waits for a */
    give(&a);
    pthread_cancel(t);
    CHECK(thrd_join(t, NULL) == thrd_success);
    join_c11(u);
}

static int exits_from_below(void *unused)
{
    (void)unused;
    take(&a);
    pthread_cleanup_push(clean_up, NULL);
    thrd_exit(42);
    pthread_cleanup_pop(0);
    return 0;
}

static void by_exit(void)
{
    thrd_t t = go_c11(exits_from_below, NULL);
    thrd_t u = go_c11(a_under_b_after_cleaning, NULL);

    CHECK(join_c11(t) == 42);
    join_c11(u);
}

/* A lock that ends in one order and is made anew in the other. */
static void made_anew(void)
{
    thrd_t t = go_c11(b_under_a, NULL), u;

    wait_flag(&first_done);
    mtx_destroy(&a);
    CHECK(mtx_init(&a, mtx_plain) == thrd_success);
    u = go_c11(a_under_b, NULL);
    join_c11(t);
    join_c11(u);
}

/* 2000 of them, in memory that does not grow: their states are used again. */
static int nests_once(void *unused)
{
    (void)unused;
    nest_c11(&a, &b);
    return 0;
}

static void detached(void)
{
    for (int i = 0; i < 2000; i++) {
        thrd_t t = go_c11(nests_once, NULL);
        if (i % 2)
            CHECK(thrd_detach(t) == thrd_success);
        else
            join_c11(t);
    }
}

/* Under their older version names. */
static void old_names(void)
{
    int (*lock_it)(mtx_t *) =
        (int (*)(mtx_t *))dlvsym(RTLD_DEFAULT, "mtx_lock", "GLIBC_2.28");
    int (*unlock_it)(mtx_t *) =
        (int (*)(mtx_t *))dlvsym(RTLD_DEFAULT, "mtx_unlock", "GLIBC_2.28");

    CHECK(lock_it && unlock_it && lock_it(&a) == thrd_success);
    lockhound_assert_held(&a);
    CHECK(unlock_it(&a) == thrd_success);
    lockhound_assert_not_held(&a);
}

static once_flag flag = ONCE_FLAG_INIT;

static void take_a(void)
{
    take(&a);
    give(&a);
}

static int calls_once(void *unused)
{
    (void)unused;
    call_once(&flag, take_a);
    set_flag(&first_done);
    return 0;
}

static int calls_once_under_a(void *unused)
{
    (void)unused;
    wait_flag(&first_done);
    take(&a);
    call_once(&flag, take_a);
    give(&a);
    return 0;
}

static void once(void)
{
    thrd_t t = go_c11(calls_once, NULL), u = go_c11(calls_once_under_a, NULL);

    join_c11(t);
    join_c11(u);
}

static void once_in_itself(void)
{
    call_once(&flag, once_in_itself);
}

static void say(const char *what, int rc)
{
    dprintf(1, "%-45s %d errno %d\n", what, rc, errno);
    errno = 1234;
}
#define SAY(call) say(#call, call)

static int attempt(void *mutex)
{
    mtx_t *m = mutex;

    SAY(mtx_trylock(m));
    SAY(mtx_timedlock(m, &past));
    SAY(mtx_timedlock(m, &broken));
    return -7;
}

static int ends_by_exit(void *unused)
{
    (void)unused;
    thrd_exit(11);
}

static int waits_for_flag(void *flag)
{
    wait_flag(flag);
    return 0;
}

static int joins_itself(void *unused)
{
    (void)unused;
    SAY(thrd_join(thrd_current(), NULL));
    return 0;
}

static void results(void)
{
    static const int types[] = { mtx_plain, mtx_timed, mtx_recursive,
                                 mtx_timed | mtx_recursive };
    int result = 0, flag = 0;
    thrd_t t;
    mtx_t m;

    errno = 1234;
    for (size_t i = 0; i < 4; i++) {
        SAY(mtx_init(&m, types[i]));
        SAY(mtx_lock(&m));
        say("result of the attempts", join_c11(go_c11(attempt, &m)));
        SAY(mtx_trylock(&m));
        SAY(mtx_unlock(&m));
        if (types[i] & mtx_recursive) {
            SAY(mtx_unlock(&m));
            SAY(mtx_unlock(&m));
            SAY(cnd_timedwait(&cond, &m, &past));
        }
        SAY(mtx_timedlock(&m, &past));
        SAY(cnd_timedwait(&cond, &m, &past));
        SAY(cnd_timedwait(&cond, &m, &broken));
        SAY(mtx_unlock(&m));
        mtx_destroy(&m);
    }
    SAY(mtx_init(&m, 77));
    SAY(thrd_create(&t, ends_by_exit, NULL)); /* which prints nothing */
    SAY(thrd_join(t, &result));
    say("result", result);
    join_c11(go_c11(joins_itself, NULL));
    t = go_c11(waits_for_flag, &flag);
    SAY(thrd_detach(t));
    SAY(thrd_detach(t));
    SAY(thrd_join(t, &result));
    set_flag(&flag);
}

static const struct mode {
    const char *name;
    void (*run)(void);
} modes[] = {
    { "inversion", inversion },
    { "joined", joined },
    { "warm", warm },
    { "reentry", reentry },
    { "condition", condition },
    { "cancelled", cancelled },
    { "exit", by_exit },
    { "made-anew", made_anew },
    { "detached", detached },
    { "old-names", old_names },
    { "results", results },
    { "once", once },
    { "once-in-itself", once_in_itself },
};

int main(int argc, char **argv)
{
    (void)argc;
    CHECK(mtx_init(&a, mtx_plain) == thrd_success);
    CHECK(mtx_init(&b, mtx_timed) == thrd_success);
    CHECK(mtx_init(&c, mtx_plain) == thrd_success);
    CHECK(cnd_init(&cond) == thrd_success);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (is_mode(argv, modes[i].name))
            modes[i].run();
    if (is_mode(argv, "timed"))
        backing_off(timed_b_under_a);
    if (is_mode(argv, "tries"))
        backing_off(try_b_under_a);
    if (is_mode(argv, "refused"))
        join_c11(go_c11(refused_under_a, NULL));
    return 0;
}
