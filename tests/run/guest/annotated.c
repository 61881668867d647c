/* SPDX-License-Identifier: MIT
 * annotated.c - lockhound.h: names, assertions, and a home-made lock. */
#include <stdatomic.h>

#include "lockhound.h"

#include "guest.h"

static mutex_t a = MUTEX, b = MUTEX;
static atomic_int spin;
static int done;

static void spin_lock(void)
{
    lockhound_request(&spin, LOCKHOUND_EXCLUSIVE);
    while (atomic_exchange(&spin, 1))
        sched_yield();
    lockhound_acquired(&spin, LOCKHOUND_EXCLUSIVE);
}

static void spin_unlock(void)
{
    lockhound_released(&spin, LOCKHOUND_EXCLUSIVE);
    atomic_store(&spin, 0);
}

static void *spin_first(void *unused)
{
    spin_lock();
    lock(&a);
    unlock(&a);
    spin_unlock();
    set_flag(&done);
    return unused;
}

static void *spin_last(void *unused)
{
    wait_flag(&done);
    lock(&a);
    spin_lock();
    spin_unlock();
    unlock(&a);
    return unused;
}

static void home_made(void)
{
    pthread_t t = go(spin_first, NULL), u = go(spin_last, NULL);

    join(t);
    join(u);
}

/* A home-made trylock waits for nothing; one that gives up holds nothing. */
static void *tries(void *unused)
{
    wait_flag(&done);
    lock(&a);
    CHECK(!atomic_exchange(&spin, 1));
    lockhound_acquired(&spin, LOCKHOUND_EXCLUSIVE);
    lockhound_assert_held(&spin);
    spin_unlock();
    unlock(&a);
    lockhound_request(&spin, LOCKHOUND_EXCLUSIVE);
    lockhound_released(&spin, LOCKHOUND_EXCLUSIVE);
    lockhound_assert_not_held(&spin);
    return unused;
}

static void home_made_try(void)
{
    pthread_t t = go(spin_first, NULL), u = go(tries, NULL);

    join(t);
    join(u);
}

static void names(void)
{
    for (int i = 0; i < 2; i++)
        lockhound_name(i ? &b : &a, "accounts[%d]", i);
    lockhound_rank(&a, -1);
    errno = 77;
    lockhound_name(&a, "accounts[%d]", 0);
    CHECK(errno == 77);
    invert(&a, &b);
}

static void assertions(void)
{
    for (int i = 0; i < 3; i++) {
        lockhound_assert_held(&a); /* fails, is reported once */
        lockhound_assert_not_held(&a);
        lock(&a);
        lockhound_assert_held(&a);
        lockhound_assert_not_held(&a); /* fails */
        unlock(&a);
    }
}

int main(int argc, char **argv)
{
    if (is_mode(argv, "home-made"))
        home_made();
    if (is_mode(argv, "home-made-try"))
        home_made_try();
    if (is_mode(argv, "names"))
        names();
    if (is_mode(argv, "assertions"))
        assertions();
    (void)argc;
    return 0;
}
