/* SPDX-License-Identifier: MIT
 *
 * owners.c - who holds a lock after it changed hands by a side door.
 *
 * In every mode another thread takes b then a, and main asks for b with a
 * "held" or not: what is found tells what the detector believes.
 */
#include "guest.h"

static mutex_t a = MUTEX, b = MUTEX;
static mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

/* Main takes b, and lets go of a if it has it; beside it, and a moment later,
 * another thread nests b, a. */
static void beside_inversion(int holds_a)
{
    static int is_done;
    struct nesting other = { &b, &a, &is_done, 0 };
    pthread_t t = go(nest_thread, &other);

    lock(&b);
    unlock(&b);
    if (holds_a)
        unlock(&a);
    set_flag(&is_done);
    join(t);
}

static void take_b_beside_inversion(void)
{
    beside_inversion(0);
}

static void *unlock_a(void *unused)
{
    CHECK(pthread_mutex_unlock(&a) == 0);
    return unused;
}

/* An unlock by another thread than the holder's: a is free then. */
static void handed_over(void)
{
    lock(&a);
    join(go(unlock_a, NULL));
    take_b_beside_inversion();
}

static void made_anew(void)
{
    lock(&a);
    CHECK(pthread_mutex_init(&a, NULL) == 0);
    take_b_beside_inversion();
}

/* A wait that is refused asks for nothing. */
static void refused_wait(void)
{
    static int is_done;
    struct nesting other = { &checking, &a, &is_done, 0 };
    struct timespec past = { 1, 0 };
    pthread_t t = go(nest_thread, &other);

    lock(&a);
    CHECK(pthread_cond_timedwait(&condition, &checking, &past) == EPERM);
    unlock(&a);
    set_flag(&is_done);
    join(t);
}

static void lock_a(void)
{
    lock(&a);
}

static void unlock_own_a(void)
{
    unlock(&a);
}

static void renew_a(void)
{
    CHECK(pthread_mutex_init(&a, NULL) == 0);
}

static void in_child(void (*what)(void))
{
    pid_t pid = fork();
    int status;

    CHECK(pid >= 0);
    if (pid == 0) {
        what();
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void atfork_child_renews(void)
{
    CHECK(pthread_atfork(lock_a, unlock_own_a, renew_a) == 0);
    in_child(take_b_beside_inversion);
}

/* The forking thread holds a, long since a warm site; so does the child. */
static void inversion_with_inherited_lock(void)
{
    beside_inversion(1);
}

static void inherited(void)
{
    for (int i = 0; i < 41; i++) {
        lock(&a);
        if (i < 40)
            unlock(&a);
    }
    in_child(inversion_with_inherited_lock);
}

int main(int argc, char **argv)
{
    (void)argc;
    if (is_mode(argv, "handed-over"))
        handed_over();
    if (is_mode(argv, "made-anew"))
        made_anew();
    if (is_mode(argv, "refused-wait"))
        refused_wait();
    if (is_mode(argv, "atfork-child-renews"))
        atfork_child_renews();
    if (is_mode(argv, "inherited"))
        inherited();
    return 0;
}
