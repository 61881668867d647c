/* SPDX-License-Identifier: MIT
 *
 * lockhound.h - telling lockhound what it cannot see by itself.
 *
 * For programs that want better names in reports, checked assumptions, or
 * locks of their own (spin loops, futexes, another runtime's) watched like any
 * other. Everything here does nothing, in about a nanosecond, when the preload
 * is not there; nothing needs to be linked but, before glibc 2.34, -ldl.
 *
 *     lockhound_name(&account[i].lock, "account[%d]", i);
 *
 *     lockhound_request(&my_spinlock, LOCKHOUND_EXCLUSIVE);
 *     while (atomic_exchange(&my_spinlock, 1)) ;
 *     lockhound_acquired(&my_spinlock, LOCKHOUND_EXCLUSIVE);
 *     ...
 *     lockhound_released(&my_spinlock, LOCKHOUND_EXCLUSIVE);
 *
 * Threads:  every function may be called by any thread at any time.
 * Signals:  none may be called from a handler that interrupted another.
 * Errors:   none; what cannot be remembered is dropped and noted in the
 *           records. errno is left alone.
 */
#ifndef LOCKHOUND_H
#define LOCKHOUND_H

#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum lockhound_mode { LOCKHOUND_EXCLUSIVE, LOCKHOUND_SHARED };

/* What the preload exports as lockhound_api_v1; use the functions below. */
struct lockhound_api {
    void (*name)(const void *lock, const char *name);
    void (*rank)(const void *lock, int rank);
    void (*assert_held)(const void *lock, int held);
    void (*request)(const void *lock, int mode);
    void (*acquired)(const void *lock, int mode);
    void (*released)(const void *lock, int mode);
};

/* The preload's table, or NULL; looked up once in each source file. */
static __inline__ const struct lockhound_api *lockhound_api(void)
{
    static const struct lockhound_api *found;
    static int looked;

    if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {
        void *symbol = dlsym(NULL /* RTLD_DEFAULT */, "lockhound_api_v1");
        if (!symbol)
            (void)dlerror(); /* the program's own is not left pending */
        __atomic_store_n(&found, (const struct lockhound_api *)symbol,
                         __ATOMIC_RELAXED);
        __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&found, __ATOMIC_RELAXED);
}

/*
 * Names a lock in reports, with printf's formats; at most 127 bytes are kept.
 * The text is copied. Good until the lock is destroyed or initialized again.
 */
__attribute__((format(printf, 2, 3))) static __inline__ void
lockhound_name(const void *lock, const char *format, ...)
{
    const struct lockhound_api *api = lockhound_api();
    char name[128];
    va_list args;

    if (!api)
        return;
    va_start(args, format);
    vsnprintf(name, sizeof name, format, args);
    va_end(args);
    api->name(lock, name);
}

/* Gives a lock its place in the intended order: lower ranks are taken first.
 * Kept in the records. */
static __inline__ void lockhound_rank(const void *lock, int rank)
{
    const struct lockhound_api *api = lockhound_api();

    if (api)
        api->rank(lock, rank);
}

/* Finding LH016, once for each place, if the calling thread does not hold the
 * lock (in any mode). */
static __inline__ void lockhound_assert_held(const void *lock)
{
    const struct lockhound_api *api = lockhound_api();

    if (api)
        api->assert_held(lock, 1);
}

/* Finding LH016, once for each place, if the calling thread holds the lock. */
static __inline__ void lockhound_assert_not_held(const void *lock)
{
    const struct lockhound_api *api = lockhound_api();

    if (api)
        api->assert_held(lock, 0);
}

/* The calling thread is about to wait for a lock of its own making, as long as
 * it takes. Followed by acquired, or by released if it gives up. */
static __inline__ void lockhound_request(const void *lock,
                                         enum lockhound_mode mode)
{
    const struct lockhound_api *api = lockhound_api();

    if (api)
        api->request(lock, (int)mode);
}

/* It has the lock. Without a request before it, the lock was got without
 * waiting (a try): it is held, but nothing was waited for. */
static __inline__ void lockhound_acquired(const void *lock,
                                          enum lockhound_mode mode)
{
    const struct lockhound_api *api = lockhound_api();

    if (api)
        api->acquired(lock, (int)mode);
}

/* It is about to give the lock back. */
static __inline__ void lockhound_released(const void *lock,
                                          enum lockhound_mode mode)
{
    const struct lockhound_api *api = lockhound_api();

    if (api)
        api->released(lock, (int)mode);
}

#ifdef __cplusplus
}
#endif

#endif
