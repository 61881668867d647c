/* SPDX-License-Identifier: MIT
 * counter.c - three counters: behind a lock, in shards, and unsafe. */
#include "ord/counter.h"

#include <stddef.h>

void ord_counter_locked_init(struct ord_counter_locked *counter)
{
    ord_mutex_init(&counter->lock);
    counter->value = 0;
}

int ord_counter_locked_destroy(struct ord_counter_locked *counter)
{
    return ord_mutex_destroy(&counter->lock);
}

void ord_counter_locked_add(struct ord_counter_locked *counter, int64_t n)
{
    ord_mutex_lock(&counter->lock);
    counter->value += n;
    ord_mutex_unlock(&counter->lock);
}

int64_t ord_counter_locked_read(struct ord_counter_locked *counter)
{
    int64_t value;

    ord_mutex_lock(&counter->lock);
    value = counter->value;
    ord_mutex_unlock(&counter->lock);
    return value;
}

/* The shard of the calling thread: threads take turns when they first add. */
static unsigned own_shard(void)
{
    static unsigned nthreads; /* atomic; relaxed, as it orders nothing */
    static _Thread_local unsigned shard_plus_one;

    if (shard_plus_one == 0)
        shard_plus_one = __atomic_fetch_add(&nthreads, 1, __ATOMIC_RELAXED) %
                             ORD_COUNTER_SHARDS +
                         1;
    return shard_plus_one - 1;
}

void ord_counter_sharded_init(struct ord_counter_sharded *counter)
{
    *counter = (struct ord_counter_sharded)ORD_COUNTER_SHARDED_INIT;
}

/* Atomic although the shard is nearly private: there may be more threads than
 * shards. Relaxed: the total is exact only to who is ordered after the adder,
 * and a join or a lock does that ordering. */
void ord_counter_sharded_add(struct ord_counter_sharded *counter, int64_t n)
{
    __atomic_fetch_add(&counter->shards[own_shard()].value, n,
                       __ATOMIC_RELAXED);
}

int64_t ord_counter_sharded_read(const struct ord_counter_sharded *counter)
{
    int64_t total = 0;

    for (size_t i = 0; i < ORD_COUNTER_SHARDS; i++)
        total += __atomic_load_n(&counter->shards[i].value, __ATOMIC_RELAXED);
    return total;
}

void ord_counter_unsafe_init(struct ord_counter_unsafe *counter)
{
    __atomic_store_n(&counter->value, 0, __ATOMIC_RELAXED);
}

int64_t ord_counter_unsafe_read(const struct ord_counter_unsafe *counter)
{
    return __atomic_load_n(&counter->value, __ATOMIC_RELAXED);
}

static void unsafe_write(struct ord_counter_unsafe *counter, int64_t value)
{
    __atomic_store_n(&counter->value, value, __ATOMIC_RELAXED);
}

void ord_counter_unsafe_add(struct ord_counter_unsafe *counter, int64_t n)
{
    unsafe_write(counter, ord_counter_unsafe_read(counter) + n);
}

struct meeting {
    struct ord_counter_unsafe *counter;
    pthread_barrier_t both_have_read;
};

static void *increment_after_meeting(void *arg)
{
    struct meeting *meeting = arg;
    int64_t value = ord_counter_unsafe_read(meeting->counter);

    pthread_barrier_wait(&meeting->both_have_read);
    unsafe_write(meeting->counter, value + 1);
    return NULL;
}

int ord_counter_lose_update(struct ord_counter_unsafe *counter)
{
    struct meeting meeting = { .counter = counter };
    pthread_t other;
    int rc;

    pthread_barrier_init(&meeting.both_have_read, NULL, 2);
    rc = pthread_create(&other, NULL, increment_after_meeting, &meeting);
    if (rc == 0) {
        increment_after_meeting(&meeting);
        pthread_join(other, NULL);
    }
    pthread_barrier_destroy(&meeting.both_have_read);
    return rc;
}
