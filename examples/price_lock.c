/* SPDX-License-Identifier: MIT
 *
 * price_lock.c - a writer that waits is not overtaken by new readers.
 *
 * Three readers are inside together; a writer queues, and a fourth reader
 * queues behind it. When the three leave, the writer is next, finds nobody
 * inside, and the late reader sees what it wrote.
 */
#include <ord/barrier.h>
#include <ord/rwlock.h>
#include <sched.h>
#include <stdio.h>

static struct ord_rwlock lock = ORD_RWLOCK_INIT;
static struct ord_barrier inside, leave; /* the three readers and main */
static int version = 1, found_inside = -1, late_saw;

static void *reader(void *unused)
{
    struct ord_rw_hold hold = ORD_RW_HOLD_INIT;

    ord_rwlock_read(&lock, &hold);
    ord_barrier_wait(&inside);
    ord_barrier_wait(&leave);
    ord_rwlock_unlock(&lock, &hold);
    return unused;
}

static void *writer(void *unused)
{
    struct ord_rw_hold hold = ORD_RW_HOLD_INIT;
    struct ord_rw_counts counts;

    ord_rwlock_write(&lock, &hold);
    ord_rwlock_counts(&lock, &counts);
    found_inside = (int)counts.readers;
    version++;
    ord_rwlock_unlock(&lock, &hold);
    return unused;
}

static void *late_reader(void *unused)
{
    struct ord_rw_hold hold = ORD_RW_HOLD_INIT;

    ord_rwlock_read(&lock, &hold);
    late_saw = version;
    ord_rwlock_unlock(&lock, &hold);
    return unused;
}

/* Until so many wait: they are seen in the lock's own counts. */
static struct ord_rw_counts until_waiting(unsigned writers, unsigned readers)
{
    struct ord_rw_counts counts;

    do {
        sched_yield();
        ord_rwlock_counts(&lock, &counts);
    } while (counts.writers_waiting < writers ||
             counts.readers_waiting < readers);
    return counts;
}

int main(void)
{
    pthread_t r[3], w, late;
    struct ord_rw_counts counts;

    ord_barrier_init(&inside, 4, NULL, NULL);
    ord_barrier_init(&leave, 4, NULL, NULL);
    for (int i = 0; i < 3; i++)
        pthread_create(&r[i], NULL, reader, NULL);
    ord_barrier_wait(&inside);
    ord_rwlock_counts(&lock, &counts);
    printf("%u readers together\n", counts.readers);
    pthread_create(&w, NULL, writer, NULL);
    counts = until_waiting(1, 0);
    printf("%u writer waits\n", counts.writers_waiting);
    pthread_create(&late, NULL, late_reader, NULL);
    counts = until_waiting(1, 1);
    printf("a fourth reader queues behind it\n");
    ord_barrier_wait(&leave);
    for (int i = 0; i < 3; i++)
        pthread_join(r[i], NULL);
    pthread_join(w, NULL);
    pthread_join(late, NULL);
    printf("the writer goes first, finds %d readers inside, version %d\n",
           found_inside, version);
    printf("the late reader sees version %d\n", late_saw);
    return 0;
}
