/* SPDX-License-Identifier: MIT
 * profile.c - a mutex that knows how long it is waited for and held. */
#include "ord/profile.h"

#include <errno.h>

void ord_profile_init(struct ord_profile *profile,
                      const struct ord_clock *clock)
{
    *profile = (struct ord_profile){ .clock = clock };
    ord_mutex_init(&profile->mutex);
    ord_mutex_init(&profile->figures_lock);
}

int ord_profile_destroy(struct ord_profile *profile)
{
    int rc = ord_mutex_destroy(&profile->mutex);

    return rc == 0 ? ord_mutex_destroy(&profile->figures_lock) : rc;
}

static void add_time(ord_ns *total, ord_ns *longest, ord_ns time)
{
    *total += time;
    if (time > *longest)
        *longest = time;
}

static void count_acquisition(struct ord_profile *profile)
{
    ord_mutex_lock(&profile->figures_lock);
    profile->figures.count++;
    ord_mutex_unlock(&profile->figures_lock);
}

/* A wait that ended with rc: 0 or ETIMEDOUT. */
static void count_wait(struct ord_profile *profile, ord_ns time, int rc)
{
    struct ord_profile_figures *f = &profile->figures;

    ord_mutex_lock(&profile->figures_lock);
    f->count += rc == 0;
    f->contended += rc == 0;
    f->timeouts += rc != 0;
    add_time(&f->total_wait, &f->longest_wait, time);
    ord_mutex_unlock(&profile->figures_lock);
}

static void count_hold(struct ord_profile *profile, ord_ns time)
{
    struct ord_profile_figures *f = &profile->figures;

    ord_mutex_lock(&profile->figures_lock);
    add_time(&f->total_hold, &f->longest_hold, time);
    ord_mutex_unlock(&profile->figures_lock);
}

/* Atomic, as one who does not hold the mutex may call unlock and read this
 * before he is refused. Relaxed: the holder reads what he wrote. */
static ord_ns held_since(const struct ord_profile *profile)
{
    return __atomic_load_n(&profile->held_since, __ATOMIC_RELAXED);
}

static void set_held_since(struct ord_profile *profile, ord_ns now)
{
    __atomic_store_n(&profile->held_since, now, __ATOMIC_RELAXED);
}

int ord_profile_trylock(struct ord_profile *profile)
{
    int rc = ord_mutex_trylock(&profile->mutex);

    if (rc == 0) {
        set_held_since(profile, ord_clock_now(profile->clock));
        count_acquisition(profile);
    }
    return rc;
}

static int wait_for(struct ord_profile *profile, ord_ns deadline)
{
    ord_ns start = ord_clock_now(profile->clock), end;
    int rc = deadline == ORD_NEVER
                 ? ord_mutex_lock(&profile->mutex)
                 : ord_mutex_timedlock(&profile->mutex, deadline);

    if (rc != 0 && rc != ETIMEDOUT)
        return rc;
    end = ord_clock_now(profile->clock);
    if (rc == 0)
        set_held_since(profile, end);
    count_wait(profile, end - start, rc);
    return rc;
}

int ord_profile_timedlock(struct ord_profile *profile, ord_ns deadline)
{
    int rc = ord_profile_trylock(profile);

    return rc == EBUSY ? wait_for(profile, deadline) : rc;
}

int ord_profile_lock(struct ord_profile *profile)
{
    return ord_profile_timedlock(profile, ORD_NEVER);
}

int ord_profile_unlock(struct ord_profile *profile)
{
    ord_ns since = held_since(profile);
    int rc = ord_mutex_unlock(&profile->mutex);

    if (rc == 0)
        count_hold(profile, ord_clock_now(profile->clock) - since);
    return rc;
}

void ord_profile_read(struct ord_profile *profile,
                      struct ord_profile_figures *figures)
{
    ord_mutex_lock(&profile->figures_lock);
    *figures = profile->figures;
    ord_mutex_unlock(&profile->figures_lock);
}
