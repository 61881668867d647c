/* SPDX-License-Identifier: MIT
 *
 * live.c - programs that hang in ways that need more than two mutexes, and
 * programs that wait long and do not hang. What hangs is ended by its guard.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <semaphore.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "guest.h"

static mutex_t a = MUTEX, b = MUTEX;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static pthread_rwlock_t rv = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static pthread_spinlock_t s, u;
static sem_t p, q;
static pthread_cond_t signalled = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t both;

static void meet(void)
{
    pthread_barrier_wait(&both);
}

/* Until a writer stands in line: a try to read is refused. */
static void wait_for_writer(pthread_rwlock_t *lock)
{
    while (pthread_rwlock_tryrdlock(lock) == 0) {
        CHECK(pthread_rwlock_unlock(lock) == 0);
        sched_yield();
    }
}

/* ---- a read inside a read, and a writer in between ---- */

static void *writer(void *unused)
{
    (void)unused;
    meet();
    CHECK(pthread_rwlock_wrlock(&rw) == 0);
    CHECK(pthread_rwlock_unlock(&rw) == 0);
    return NULL;
}

static void nested_read(void)
{
    pthread_t t = go(writer, NULL);

    CHECK(pthread_rwlock_rdlock(&rw) == 0);
    meet();
    wait_for_writer(&rw);
    CHECK(pthread_rwlock_rdlock(&rw) == 0);
    join(t);
}

/* ---- two writers in line ---- */

static void *writes(void *unused)
{
    (void)unused;
    CHECK(pthread_rwlock_wrlock(&rv) == 0);
    meet();
    CHECK(pthread_rwlock_wrlock(&rw) == 0);
    return NULL;
}

static void writers(void)
{
    go(writes, NULL);
    CHECK(pthread_rwlock_wrlock(&rw) == 0);
    meet();
    CHECK(pthread_rwlock_wrlock(&rv) == 0);
}

/* ---- spinlocks, semaphores ---- */

static void *spins(void *unused)
{
    (void)unused;
    pthread_spin_lock(&u);
    meet();
    pthread_spin_lock(&s);
    return NULL;
}

static void spinlocks(void)
{
    pthread_spin_init(&s, 0);
    pthread_spin_init(&u, 0);
    go(spins, NULL);
    pthread_spin_lock(&s);
    meet();
    pthread_spin_lock(&u);
}

static void take(sem_t *first, sem_t *second)
{
    CHECK(sem_wait(first) == 0);
    CHECK(sem_wait(second) == 0);
    CHECK(sem_post(second) == 0);
    CHECK(sem_post(first) == 0);
}

static void *takes_q(void *unused)
{
    (void)unused;
    CHECK(sem_wait(&q) == 0);
    meet();
    CHECK(sem_wait(&p) == 0);
    return NULL;
}

static void semaphores(void)
{
    CHECK(sem_init(&p, 0, 1) == 0 && sem_init(&q, 0, 1) == 0);
    for (int i = 0; i < 3; i++)
        take(&p, &q); /* they are locks */
    go(takes_q, NULL);
    CHECK(sem_wait(&p) == 0);
    meet();
    CHECK(sem_wait(&q) == 0);
}

/* One that has been a lock is posted by a third thread after all. */

static void *posts(void *unused)
{
    struct timespec time = { 0, 400000000 };

    (void)unused;
    nanosleep(&time, NULL);
    CHECK(sem_post(&p) == 0);
    return NULL;
}

static void *takes_p(void *unused)
{
    (void)unused;
    CHECK(sem_wait(&p) == 0);
    meet();
    lock(&a);
    unlock(&a);
    return NULL;
}

static void posted_by_a_third(void)
{
    pthread_t t, third;

    CHECK(sem_init(&p, 0, 1) == 0 && sem_init(&q, 0, 1) == 0);
    for (int i = 0; i < 3; i++)
        take(&p, &q);
    third = go(posts, NULL);
    t = go(takes_p, NULL);
    lock(&a);
    meet();
    CHECK(sem_wait(&p) == 0);
    unlock(&a);
    join(t);
    join(third);
}

/* ---- a mutex that a condition wait takes back ---- */

static void *takes_back(void *unused)
{
    (void)unused;
    lock(&a);
    lock(&b);
    meet();
    CHECK(pthread_cond_wait(&signalled, &b) == 0);
    return NULL;
}

static void condition(void)
{
    go(takes_back, NULL);
    meet();
    lock(&b);
    CHECK(pthread_cond_signal(&signalled) == 0);
    lock(&a);
}

/* ---- a thread waits for one that waits for one ---- */

static pthread_t last;

static void *asks_for_a(void *unused)
{
    (void)unused;
    meet();
    lock(&a);
    return NULL;
}

static void *joins_last(void *unused)
{
    (void)unused;
    join(last);
    return NULL;
}

static void chain(void)
{
    pthread_t middle;

    last = go(asks_for_a, NULL);
    middle = go(joins_last, NULL);
    lock(&a);
    meet();
    join(middle);
}

/* ---- streams ---- */

static FILE *one, *two;

static void *streams_too(void *unused)
{
    (void)unused;
    flockfile(two);
    meet();
    flockfile(one);
    return NULL;
}

static void streams(void)
{
    CHECK((one = fopen("/dev/null", "w")) && (two = fopen("/dev/null", "w")));
    go(streams_too, NULL);
    flockfile(one);
    meet();
    flockfile(two);
}

/* ---- a mutex of two processes, whose holder has ended ---- */

static mutex_t *shared_mutex(void)
{
    pthread_mutexattr_t attr;
    mutex_t *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    CHECK(m != MAP_FAILED);
    CHECK(pthread_mutexattr_init(&attr) == 0);
    CHECK(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) == 0);
    CHECK(pthread_mutex_init(m, &attr) == 0);
    return m;
}

static void orphan(void)
{
    mutex_t *m = shared_mutex();

    if (fork() == 0) {
        lock(m);
        _exit(0);
    }
    CHECK(wait(NULL) > 0);
    lock(m);
}

/* ---- the same, but it gives back just before it ends, while the other one
 * asks whether it lives: a supervisor of tkill(2) sees that ---- */

static mutex_t *given;

static void *asks_for_given(void *listener)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tkill, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof code / sizeof *code, code };

    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    *(int *)listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                    SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    meet();
    if (*(int *)listener >= 0)
        lock(given);
    return NULL;
}

/* Holds it until a byte comes. */
static pid_t hold_given(int pipe_end[2])
{
    int held[2];
    char byte = 0;
    pid_t child;

    CHECK(pipe(held) == 0 && pipe(pipe_end) == 0);
    child = fork();
    if (child == 0) {
        lock(given);
        CHECK(write(held[1], &byte, 1) == 1);
        CHECK(read(pipe_end[0], &byte, 1) == 1);
        unlock(given);
        _exit(0);
    }
    CHECK(read(held[0], &byte, 1) == 1);
    return child;
}

static void gives_back(void)
{
    struct seccomp_notif call = { 0 };
    struct seccomp_notif_resp answer = { .error = -ESRCH };
    int listener = -1, to_holder[2];
    pthread_t asker;
    pid_t holder;

    given = shared_mutex();
    holder = hold_given(to_holder);
    asker = go(asks_for_given, &listener);
    meet();
    if (listener < 0) {
        puts("no seccomp");
        exit(0);
    }
    CHECK(ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) == 0);
    CHECK(write(to_holder[1], "", 1) == 1);
    /* By no function: the asker may have what a watched one needs. */
    CHECK(syscall(SYS_wait4, holder, NULL, 0, NULL) == holder);
    answer.id = call.id;
    CHECK(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0);
    join(asker);
}

/* ---- a main thread that ends before the others ---- */

static void *outlives(void *unused)
{
    (void)unused;
    meet();
    nest(&b, &a);
    return NULL;
}

static void main_ends(void)
{
    go(outlives, NULL);
    lock(&a);
    meet();
    pthread_exit(NULL);
}

/* ---- with a limit ---- */

static void *takes_b(void *unused)
{
    (void)unused;
    lock(&b);
    meet();
    lock(&a);
    unlock(&a);
    unlock(&b);
    return NULL;
}

static void with_limit(void)
{
    struct timespec then;
    pthread_t t = go(takes_b, NULL);

    lock(&a);
    meet();
    clock_gettime(CLOCK_REALTIME, &then);
    then.tv_sec += 1;
    CHECK(pthread_mutex_timedlock(&b, &then) == ETIMEDOUT);
    unlock(&a);
    join(t);
}

/* ---- a slow holder is no deadlock ---- */

static void *waits(void *unused)
{
    (void)unused;
    lock(&a);
    meet();
    lock(&b);
    unlock(&b);
    unlock(&a);
    return NULL;
}

static void slow(void)
{
    struct timespec time = { 2, 0 };
    pthread_t t = go(waits, NULL);

    lock(&b);
    meet();
    nanosleep(&time, NULL);
    unlock(&b);
    join(t);
}

/* ---- ten thousand short waits under a lock ---- */

static int ntimes;

static void *nests(void *own)
{
    for (int i = 0; i < 10000; i++) {
        lock(own);
        lock(&b);
        ntimes++;
        unlock(&b);
        unlock(own);
    }
    return NULL;
}

static void busy(void)
{
    static mutex_t own[4];
    pthread_t t[4];

    for (int i = 0; i < 4; i++)
        t[i] = go(nests, &own[i]);
    for (int i = 0; i < 4; i++)
        join(t[i]);
}

int main(int argc, char **argv)
{
    CHECK(argc > 1);
    alarm(15);
    pthread_barrier_init(&both, NULL, 2);
    if (is_mode(argv, "nested-read"))
        nested_read();
    else if (is_mode(argv, "writers"))
        writers();
    else if (is_mode(argv, "spin"))
        spinlocks();
    else if (is_mode(argv, "semaphores"))
        semaphores();
    else if (is_mode(argv, "posted"))
        posted_by_a_third();
    else if (is_mode(argv, "condition"))
        condition();
    else if (is_mode(argv, "chain"))
        chain();
    else if (is_mode(argv, "streams"))
        streams();
    else if (is_mode(argv, "orphan"))
        orphan();
    else if (is_mode(argv, "main-ends"))
        main_ends();
    else if (is_mode(argv, "gives-back"))
        gives_back();
    else if (is_mode(argv, "limit"))
        with_limit();
    else if (is_mode(argv, "slow"))
        slow();
    else if (is_mode(argv, "busy"))
        busy();
    else
        CHECK(!"a mode");
    return 0;
}
