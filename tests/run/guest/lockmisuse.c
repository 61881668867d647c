/* SPDX-License-Identifier: MIT
 *
 * lockmisuse.c - read-write locks, spinlocks and semaphores used as they may
 * not be, and, beside each, what looks like it and is right.
 */
#include <semaphore.h>
#include <sys/mman.h>

#include "guest.h"

static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t p;
static sem_t s;
static mutex_t m = MUTEX;
static int flags[4];

/* What is done to a lock of each kind. */
struct deeds {
    void (*take)(void), (*give)(void), (*make)(void), (*destroy)(void);
};

static void read_it(void)
{
    CHECK(pthread_rwlock_rdlock(&r) == 0);
}
static void write_it(void)
{
    CHECK(pthread_rwlock_wrlock(&r) == 0);
}
static void leave_it(void)
{
    CHECK(pthread_rwlock_unlock(&r) == 0);
}
static void make_it(void)
{
    CHECK(pthread_rwlock_init(&r, NULL) == 0);
}
static void destroy_it(void)
{
    CHECK(pthread_rwlock_destroy(&r) == 0);
}
static void spin(void)
{
    CHECK(pthread_spin_lock(&p) == 0);
}
static void spin_no_more(void)
{
    CHECK(pthread_spin_unlock(&p) == 0);
}
static void make_spin(void)
{
    CHECK(pthread_spin_init(&p, 0) == 0);
}
static void destroy_spin(void)
{
    CHECK(pthread_spin_destroy(&p) == 0);
}
static void wait_sem(void)
{
    CHECK(sem_wait(&s) == 0);
}
static void post_sem(void)
{
    CHECK(sem_post(&s) == 0);
}
static void make_sem(void)
{
    CHECK(sem_init(&s, 0, 1) == 0);
}
static void destroy_sem(void)
{
    CHECK(sem_destroy(&s) == 0);
}

static const struct deeds reader = { read_it, leave_it, make_it, destroy_it };
static const struct deeds writer = { write_it, leave_it, make_it, destroy_it };
static const struct deeds spinner = { spin, spin_no_more, make_spin,
                                      destroy_spin };
static const struct deeds semaphore = { wait_sem, post_sem, make_sem,
                                        destroy_sem };
static const struct deeds *d;

static void *run(void *deed)
{
    (*(void (*const *)(void))deed)();
    return NULL;
}

static void in_thread(void (*deed)(void))
{
    join(go(run, &deed));
}

static void use(void)
{
    d->take();
    d->give();
}

/* ---- what is wrong ---- */

static void give_free(void)
{
    use();
    d->give();
}

static void give_others(void)
{
    d->take();
    in_thread(d->give);
}

static void destroy_held(void)
{
    d->take();
    d->destroy();
    d->give();
}

static void *take_and_stay(void *unused)
{
    d->take();
    set_flag(&flags[0]);
    wait_flag(&flags[1]);
    return unused;
}

static void destroy_others(void)
{
    pthread_t t = go(take_and_stay, NULL);

    wait_flag(&flags[0]);
    d->destroy();
    set_flag(&flags[1]);
    join(t);
}

static void use_destroyed(void)
{
    use();
    d->destroy();
    use();
    use();
}

static void give_destroyed(void)
{
    use();
    d->destroy();
    d->give();
}

static void destroy_twice(void)
{
    d->destroy();
    d->destroy();
}

static void make_held(void)
{
    d->take();
    d->make();
}

static void end_with(void)
{
    in_thread(d->take);
}

/* ---- what is right ---- */

/* What is given back by another thread is held no more. */
static void hand_over(void)
{
    d->take();
    in_thread(d->give);
    lock(&m);
    unlock(&m);
}

static void nest_in_mutex(void)
{
    lock(&m);
    use();
    unlock(&m);
}

static void hand_over_and_on(void)
{
    hand_over();
    in_thread(nest_in_mutex);
    in_thread(hand_over);
}

static void take_in_thread_and_give(void)
{
    in_thread(d->take);
    d->give();
}

static void make_again(void)
{
    for (int i = 0; i < 3; i++) {
        use();
        d->destroy();
        d->make();
    }
    use();
}

/* Without a call: by other memory, or the static initializer. */
static void make_by_hand(void)
{
    static const pthread_rwlock_t fresh = PTHREAD_RWLOCK_INITIALIZER;
    sem_t zero;

    memset(&zero, 0, sizeof zero);
    use();
    d->destroy();
    if (d == &semaphore) {
        s = zero;
        post_sem();
    } else {
        r = fresh;
    }
    use();
}

/* Memory may hold anything before. */
static void make_of_anything(void)
{
    for (int fill = 0; fill < 256; fill += 17) {
        memset(&r, fill, sizeof r);
        memset((void *)&p, fill, sizeof p);
        memset(&s, fill, sizeof s);
        d->make();
        use();
    }
}

static void before_fork(void)
{
    d->take();
}
static void in_parent(void)
{
    d->give();
}
static void in_child_make(void)
{
    d->make();
}

static void fork_with(void (*child)(void), void (*act)(void))
{
    int status;
    pid_t pid;

    CHECK(pthread_atfork(before_fork, in_parent, child) == 0);
    pid = fork();
    if (pid == 0) {
        act();
        exit(0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

static void make_in_child(void)
{
    fork_with(in_child_make, use);
}

static void give_in_child(void)
{
    fork_with(in_parent, use);
}

/* ---- in a child: what another thread of the parent holds ---- */

static void *hold(void *unused)
{
    take_and_stay(unused);
    d->give();
    return unused;
}

static const struct deeds *asks;

static void child_asks(void)
{
    pthread_t t;
    int status;
    pid_t pid;

    for (int i = 0; i < 2; i++)
        use(); /* a semaphore becomes a lock by this */
    t = go(hold, NULL);
    wait_flag(&flags[0]);
    pid = fork();
    if (pid == 0) {
        alarm(3);
        asks->take();
        exit(0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    if (WIFSIGNALED(status))
        printf("child: signal %d\n", WTERMSIG(status));
    else
        printf("child: %d\n", WEXITSTATUS(status));
    set_flag(&flags[1]);
    join(t);
}

static const struct mode {
    const char *name;
    void (*act)(void);
} modes[] = {
    { "give-free", give_free },
    { "give-others", give_others },
    { "destroy-held", destroy_held },
    { "destroy-others", destroy_others },
    { "use-destroyed", use_destroyed },
    { "give-destroyed", give_destroyed },
    { "destroy-twice", destroy_twice },
    { "make-held", make_held },
    { "end-with", end_with },
    { "hand-over", hand_over_and_on },
    { "take-elsewhere", take_in_thread_and_give },
    { "make-again", make_again },
    { "make-by-hand", make_by_hand },
    { "make-of-anything", make_of_anything },
    { "make-in-child", make_in_child },
    { "give-in-child", give_in_child },
    { "child-asks", child_asks },
};

static const struct deeds *by_name(const char *name)
{
    return !strcmp(name, "read")    ? &reader
           : !strcmp(name, "write") ? &writer
           : !strcmp(name, "spin")  ? &spinner
                                    : &semaphore;
}

int main(int argc, char **argv)
{
    CHECK(argc > 2);
    make_spin();
    make_sem();
    d = by_name(argv[2]);
    asks = argc > 3 ? by_name(argv[3]) : d;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(argv[1], modes[i].name) == 0) {
            modes[i].act();
            return 0;
        }
    }
    return 2;
}
