/* SPDX-License-Identifier: MIT
 *
 * results.c - what every hooked function returns, in good and bad cases, and
 * that errno and a pending dlerror() stay as they were. The output is compared
 * with that of a run without the preload.
 */
#include <dlfcn.h>
#include <limits.h>

#include "guest.h"

static const struct timespec past = { 1, 0 };
static const struct timespec broken = { 1, -1 };
static mutex_t errorcheck, recursive, adaptive, robust, inherit, plain = MUTEX;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void say(const char *what, int rc)
{
    dprintf(1, "%-50s %3d errno %d\n", what, rc, errno);
    errno = 1234;
}
#define SAY(call) say(#call, call)

static mutex_t make(int type, int is_robust, int protocol)
{
    pthread_mutexattr_t attr;
    mutex_t m;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, type);
    pthread_mutexattr_setrobust(&attr, is_robust);
    pthread_mutexattr_setprotocol(&attr, protocol);
    say("init", pthread_mutex_init(&m, &attr));
    return m;
}

static void *hold(void *mutex)
{
    say("taken by a thread that ends", pthread_mutex_lock(mutex));
    return NULL;
}

static void *attempt(void *mutex)
{
    SAY(pthread_mutex_trylock(mutex));
    SAY(pthread_mutex_timedlock(mutex, &past));
    SAY(pthread_mutex_timedlock(mutex, &broken));
    SAY(pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &past));
    SAY(pthread_mutex_clocklock(mutex, CLOCK_REALTIME, &past));
    SAY(pthread_mutex_clocklock(mutex, 99, &past));
    SAY(pthread_mutex_unlock(mutex));
    SAY(pthread_mutex_destroy(mutex));
    return NULL;
}

static void each_way(mutex_t *m)
{
    SAY(pthread_mutex_trylock(m));
    SAY(pthread_mutex_unlock(m));
    SAY(pthread_mutex_timedlock(m, &past));
    SAY(pthread_mutex_unlock(m));
    SAY(pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &past));
    SAY(pthread_mutex_unlock(m));
    SAY(pthread_mutex_lock(m));
}

static void *ends_at_once(void *result)
{
    return result;
}

static void *waits(void *flag)
{
    wait_flag(flag);
    return NULL;
}

static void *joins_itself(void *unused)
{
    SAY(pthread_join(pthread_self(), NULL));
    return unused;
}

static void of_mutexes(void)
{
    errorcheck = make(PTHREAD_MUTEX_ERRORCHECK, 0, 0);
    each_way(&errorcheck);
    SAY(pthread_mutex_lock(&errorcheck));
    SAY(pthread_mutex_trylock(&errorcheck));
    SAY(pthread_mutex_timedlock(&errorcheck, &past));
    SAY(pthread_mutex_clocklock(&errorcheck, CLOCK_MONOTONIC, &past));
    join(go(attempt, &errorcheck));
    SAY(pthread_mutex_unlock(&errorcheck));
    SAY(pthread_mutex_unlock(&errorcheck));

    recursive = make(PTHREAD_MUTEX_RECURSIVE, 0, 0);
    each_way(&recursive);
    SAY(pthread_mutex_lock(&recursive));
    SAY(pthread_mutex_trylock(&recursive));
    SAY(pthread_mutex_timedlock(&recursive, &past));
    for (int i = 0; i < 3; i++)
        SAY(pthread_mutex_unlock(&recursive));
    join(go(attempt, &recursive));
    SAY(pthread_mutex_unlock(&recursive));
    SAY(pthread_mutex_unlock(&recursive));

    adaptive = make(PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0);
    each_way(&adaptive);
    SAY(pthread_mutex_trylock(&adaptive));
    SAY(pthread_mutex_destroy(&adaptive));
    SAY(pthread_mutex_unlock(&adaptive));
    SAY(pthread_mutex_destroy(&adaptive));

    inherit = make(PTHREAD_MUTEX_NORMAL, 0, PTHREAD_PRIO_INHERIT);
    each_way(&inherit);
    SAY(pthread_mutex_unlock(&inherit));

    SAY(pthread_mutex_lock(&plain));
    SAY(pthread_mutex_trylock(&plain));
    SAY(pthread_mutex_timedlock(&plain, &past));
    SAY(pthread_mutex_destroy(&plain));
    SAY(pthread_mutex_unlock(&plain));
}

static void of_robust_mutexes(void)
{
    for (int repair = 0; repair < 2; repair++) {
        robust = make(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ROBUST, 0);
        join(go(hold, &robust));
        SAY(pthread_mutex_lock(&robust));
        if (repair)
            SAY(pthread_mutex_consistent(&robust));
        SAY(pthread_mutex_unlock(&robust));
        SAY(pthread_mutex_lock(&robust));
        SAY(pthread_mutex_trylock(&robust));
        if (repair) /* glibc itself crashes otherwise */
            SAY(pthread_mutex_unlock(&robust));
        SAY(pthread_mutex_destroy(&robust));
    }
}

static void of_conditions(void)
{
    SAY(pthread_mutex_lock(&plain));
    SAY(pthread_cond_timedwait(&cond, &plain, &past));
    SAY(pthread_cond_timedwait(&cond, &plain, &broken));
    SAY(pthread_cond_clockwait(&cond, &plain, CLOCK_MONOTONIC, &past));
    SAY(pthread_cond_clockwait(&cond, &plain, 99, &past));
    SAY(pthread_mutex_unlock(&plain));
    SAY(pthread_cond_wait(&cond, &errorcheck));
    SAY(pthread_cond_timedwait(&cond, &errorcheck, &past));
    SAY(pthread_mutex_unlock(&errorcheck));
}

static void of_threads(void)
{
    pthread_attr_t attr;
    void *result;
    int flag = 0;
    pthread_t t = go(ends_at_once, "result");
    char name[16];

    SAY(pthread_join(t, &result));
    dprintf(1, "%s\n", (const char *)result);
    join(go(joins_itself, NULL));
    t = go(waits, &flag);
    SAY(pthread_tryjoin_np(t, NULL));
    SAY(pthread_timedjoin_np(t, NULL, &past));
    SAY(pthread_clockjoin_np(t, NULL, CLOCK_MONOTONIC, &past));
    SAY(pthread_clockjoin_np(t, NULL, 99, &past));
    SAY(pthread_setname_np(t, "fifteen letters"));
    SAY(pthread_getname_np(t, name, sizeof name));
    dprintf(1, "%s\n", name);
    SAY(pthread_setname_np(t, "sixteen letters."));
    SAY(pthread_detach(t));
    SAY(pthread_detach(t));
    SAY(pthread_join(t, NULL));
    SAY(pthread_tryjoin_np(t, NULL));
    set_flag(&flag);
    pthread_attr_init(&attr);
    SAY(pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN));
    SAY(pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED));
    SAY(pthread_create(&t, &attr, ends_at_once, NULL));
    attr = (pthread_attr_t){ 0 };
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, (size_t)1 << 60);
    SAY(pthread_create(&t, &attr, ends_at_once, NULL));
}

/* The message waits while functions are hooked for the first time. */
static void of_dlerror(void)
{
    mutex_t fresh = MUTEX, other = MUTEX;
    const char *message;

    CHECK(!dlopen("/nonexistent", RTLD_NOW));
    nest(&fresh, &other);
    pthread_mutex_init(&fresh, NULL);
    join(go(ends_at_once, NULL));
    message = dlerror();
    dprintf(1, "dlerror: %s\n", message ? message : "lost");
}

int main(void)
{
    errno = 1234;
    of_dlerror();
    of_mutexes();
    of_robust_mutexes();
    of_conditions();
    of_threads();
    return 0;
}
