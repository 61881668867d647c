/* SPDX-License-Identifier: MIT
 * threadevents.c - threads are made, named, joined, and end. */
#include "runtime/detector.h"

#include <string.h>

#include "core/order.h"
#include "core/segments.h"
#include "runtime/ends.h"
#include "runtime/frames.h"
#include "runtime/lockcheck.h"
#include "runtime/news.h"
#include "runtime/request.h"
#include "runtime/state.h"
#include "runtime/sys.h"

/* A state with a number; under the lock. */
static struct lh_thread *new_thread(uint32_t creator)
{
    struct lh_thread *t = lh_thread_new();

    if (!t)
        return NULL;
    if (lh_segments_add(lh_state.segments, creator, &t->number) != 0) {
        lh_thread_release(t);
        return NULL;
    }
    t->cache_epoch = lh_order_epoch(lh_state.order);
    lh_state.nthreads++;
    lh_state_renew_root(t);
    return t;
}

/* A thread that nobody announced: libc's own, or one made by clone(2). */
struct lh_thread *lh_detector_attach(void)
{
    struct lh_guard guard;
    struct lh_thread *t;

    if (!lh_state.order || lh_state_is_off()) /* or before our constructor */
        return NULL;
    lh_state_enter(&guard);
    t = new_thread(0);
    if (t) {
        t->tid = (int32_t)lh_sys_gettid();
        lh_thread_register(t, pthread_self());
        lh_news_remember(t);
        lh_self = t;
    }
    lh_state_leave(&guard);
    return t;
}

static size_t default_stack_bytes(void)
{
    pthread_attr_t attr;
    size_t size_bytes = 0;

    if (pthread_attr_init(&attr) == 0) {
        pthread_attr_getstacksize(&attr, &size_bytes);
        pthread_attr_destroy(&attr);
    }
    return size_bytes;
}

struct lh_thread *lh_detector_announce(void *(*start)(void *), void *argument,
                                       const pthread_attr_t *attr)
{
    struct lh_thread *self = lh_self ? lh_self : lh_detector_attach();
    struct lh_guard guard;
    struct lh_thread *t = NULL;
    size_t stack_bytes = default_stack_bytes();
    int detached = PTHREAD_CREATE_JOINABLE;

    if (attr) {
        pthread_attr_getdetachstate(attr, &detached);
        pthread_attr_getstacksize(attr, &stack_bytes);
    }
    lh_state_enter(&guard);
    if (self && !lh_state_is_off() && (t = new_thread(self->number))) {
        lh_state_renew_root(self);
        t->start = start;
        t->argument = argument;
        t->detached = detached == PTHREAD_CREATE_DETACHED;
        t->stack_low = stack_bytes; /* until it begins */
        t->creator = self->number;
        t->under = self->creating;
        lh_news_created(t);
    }
    if (self)
        self->creating = 0;
    lh_rawlock_give(&lh_state.lock);
    if (self && !lh_state_is_off())
        lh_news_flush(self); /* threads that are gone may have left locks */
    lh_guard_leave(&guard);
    return t;
}

void lh_detector_cancel(struct lh_thread *t)
{
    struct lh_guard guard;

    if (lh_state_is_off())
        return;
    lh_state_enter(&guard);
    lh_thread_release(t);
    lh_state_leave(&guard);
}

void lh_detector_created(uint32_t number, pthread_t handle)
{
    struct lh_guard guard;
    struct lh_thread *t;

    if (lh_state_is_off())
        return;
    lh_state_enter(&guard);
    t = lh_thread_numbered(number);
    /* One that has begun has registered itself, and may have ended since: the
     * handle may be another thread's. */
    if (t && !t->tid)
        lh_thread_register(t, handle);
    lh_state_leave(&guard);
}

/* In the new thread, before its start routine. */
void lh_detector_begin(struct lh_thread *t, uintptr_t cfa)
{
    struct lh_guard guard;
    pthread_t handle = pthread_self();

    if (lh_state_is_off())
        return;
    lh_state_enter(&guard);
    t->tid = (int32_t)lh_sys_gettid();
    /* glibc puts the thread's descriptor, which the handle points to, at the
     * top of its stack; it takes less than a page. */
    t->stack_high = (uintptr_t)handle;
    t->stack_low = t->stack_high + 4096 - t->stack_low;
    t->stack_base = cfa - sizeof(uintptr_t);
    lh_thread_register(t, handle);
    lh_news_remember(t);
    lh_self = t;
    /* Stacks are given out again: what lay there, its thread-local variables
     * too, was another thread's. */
    lh_ends_forget_all(t->stack_low, t->stack_high);
    lh_frames_add_stack(t);
    lh_ends_leave(&guard);
}

uint32_t lh_detector_number(pthread_t handle)
{
    struct lh_guard guard;
    struct lh_thread *t;
    uint32_t number;

    if (lh_state_is_off())
        return 0;
    lh_state_enter(&guard);
    t = lh_thread_find(handle);
    number = t ? t->number : 0;
    lh_state_leave(&guard);
    return number;
}

void lh_detector_joined(pthread_t handle, uint32_t number)
{
    struct lh_thread *self = lh_self ? lh_self : lh_detector_attach();
    struct lh_guard guard;
    struct lh_thread *t;

    if (!self || !number || lh_state_is_off())
        return;
    lh_state_enter(&guard);
    lh_segments_join(lh_state.segments, self->number, number);
    lh_state_renew_root(self);
    t = lh_thread_find(handle);
    if (t && t->number == number) {
        lh_request_keep_counts(t);
        lh_lockcheck_thread_ended(t);
        lh_news_thread_changed(number);
        if (t->stack_high)
            lh_ends_forget_all(t->stack_low, t->stack_high);
        lh_thread_release(t);
    }
    lh_ends_leave(&guard);
}

void lh_detector_detached(pthread_t handle)
{
    struct lh_guard guard;
    struct lh_thread *t;

    if (lh_state_is_off())
        return;
    lh_state_enter(&guard);
    t = lh_thread_find(handle);
    if (t)
        t->detached = true;
    lh_state_leave(&guard);
}

void lh_detector_named(pthread_t handle, const char *name)
{
    struct lh_guard guard;
    struct lh_thread *t;

    if (lh_state_is_off())
        return;
    lh_state_enter(&guard);
    t = lh_thread_find(handle);
    if (t) {
        memset(t->name, 0, sizeof t->name);
        memcpy(t->name, name, strnlen(name, sizeof t->name - 1));
        lh_news_remember(t);
    }
    lh_state_leave(&guard);
}
