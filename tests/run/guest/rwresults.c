/* SPDX-License-Identifier: MIT
 *
 * rwresults.c - what every function of read-write locks and spin locks returns,
 * in good and bad cases, and that errno stays as it was. The output is compared
 * with that of a run without the preload.
 */
#include "guest.h"

static const struct timespec past = { 1, 0 };
static const struct timespec broken = { 1, -1 };
static pthread_rwlock_t rwlock;
static pthread_spinlock_t spin;

static void say(const char *what, int rc)
{
    dprintf(1, "%-56s %3d errno %d\n", what, rc, errno);
    errno = 1234;
}
#define SAY(call) say(#call, call)

static void attempts(void)
{
    SAY(pthread_rwlock_tryrdlock(&rwlock));
    SAY(pthread_rwlock_trywrlock(&rwlock));
    SAY(pthread_rwlock_timedrdlock(&rwlock, &broken));
    SAY(pthread_rwlock_timedwrlock(&rwlock, &broken));
    SAY(pthread_rwlock_clockrdlock(&rwlock, 99, &past));
    SAY(pthread_rwlock_clockwrlock(&rwlock, 99, &past));
    SAY(pthread_rwlock_timedwrlock(&rwlock, &past));
    SAY(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &past));
}

static void *of_another_thread(void *unused)
{
    attempts();
    SAY(pthread_rwlock_unlock(&rwlock)); /* its read, by a try */
    return unused;
}

/* A reader that asks to write for a limited time; and gets out of it. */
static void read_held(void)
{
    attempts();
    SAY(pthread_rwlock_unlock(&rwlock)); /* the second read, by a try */
    join(go(of_another_thread, NULL));
    SAY(pthread_rwlock_timedrdlock(&rwlock, &past));
    SAY(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &past));
    SAY(pthread_rwlock_rdlock(&rwlock));
    for (int i = 0; i < 4; i++)
        SAY(pthread_rwlock_unlock(&rwlock));
}

static void *of_a_late_reader(void *unused)
{
    SAY(pthread_rwlock_timedrdlock(&rwlock, &past));
    SAY(pthread_rwlock_clockrdlock(&rwlock, CLOCK_REALTIME, &past));
    attempts();
    return unused;
}

static void written(void)
{
    SAY(pthread_rwlock_rdlock(&rwlock));
    SAY(pthread_rwlock_wrlock(&rwlock));
    SAY(pthread_rwlock_timedrdlock(&rwlock, &past));
    SAY(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &past));
    attempts();
    join(go(of_a_late_reader, NULL));
    SAY(pthread_rwlock_unlock(&rwlock));
}

static void of_kind(int kind)
{
    pthread_rwlockattr_t attr;

    SAY(pthread_rwlockattr_init(&attr));
    SAY(pthread_rwlockattr_setkind_np(&attr, kind));
    SAY(pthread_rwlock_init(&rwlock, &attr));
    SAY(pthread_rwlock_rdlock(&rwlock));
    read_held();
    SAY(pthread_rwlock_wrlock(&rwlock));
    written();
    SAY(pthread_rwlock_trywrlock(&rwlock));
    written();
    SAY(pthread_rwlock_timedwrlock(&rwlock, &past));
    written();
    SAY(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &past));
    written();
    SAY(pthread_rwlock_destroy(&rwlock));
}

static void *try_to_spin(void *unused)
{
    SAY(pthread_spin_trylock(&spin));
    return unused;
}

static void of_spin_locks(void)
{
    SAY(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
    SAY(pthread_spin_lock(&spin));
    SAY(pthread_spin_trylock(&spin));
    join(go(try_to_spin, NULL));
    SAY(pthread_spin_unlock(&spin));
    SAY(pthread_spin_trylock(&spin));
    SAY(pthread_spin_unlock(&spin));
    SAY(pthread_spin_destroy(&spin));
}

int main(void)
{
    errno = 1234;
    for (int kind = 0; kind < 3; kind++)
        of_kind(kind);
    of_spin_locks();
    return 0;
}
