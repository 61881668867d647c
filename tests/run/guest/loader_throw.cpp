/* SPDX-License-Identifier: MIT
 *
 * loader_throw.cpp - C++ exceptions beside the loader, and out of it.
 */
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdexcept>

#define CHECK(condition) ((condition) ? (void)0 : abort())

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static const char *plugin;
static int thrown;
static std::atomic<bool> is_done;

static int throws(struct dl_phdr_info *, size_t, void *)
{
    throw std::runtime_error("out of a callback");
}

/* What the callback's lock was under is held no more after it has thrown. */
static void *throw_out(void *unused)
{
    for (int i = 0; i < 3; i++) {
        try {
            dl_iterate_phdr(throws, nullptr);
        } catch (std::exception &) {
            thrown++;
        }
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
    return unused;
}

static int nothing(struct dl_phdr_info *, size_t, void *)
{
    return 1;
}

static void *walk_under_m(void *unused)
{
    while (!is_done.load(std::memory_order_relaxed))
        sched_yield();
    pthread_mutex_lock(&m);
    dl_iterate_phdr(nothing, nullptr);
    pthread_mutex_unlock(&m);
    return unused;
}

static pthread_t go(void *(*routine)(void *))
{
    pthread_t t;

    CHECK(pthread_create(&t, nullptr, routine, nullptr) == 0);
    return t;
}

static void join(pthread_t t)
{
    CHECK(pthread_join(t, nullptr) == 0);
}

static void out(void)
{
    pthread_t under = go(walk_under_m), t = go(throw_out);

    join(t);
    CHECK(thrown == 3);
    is_done.store(true, std::memory_order_relaxed);
    join(under);
}

static void *load_many(void *unused)
{
    for (int i = 0; i < 300; i++) {
        void *handle = dlopen(plugin, RTLD_NOW);
        CHECK(handle && dlclose(handle) == 0);
    }
    return unused;
}

static void *throw_many(void *unused)
{
    for (int i = 0; i < 3000; i++) {
        try {
            throw std::runtime_error("beside a load");
        } catch (std::exception &) {
        }
    }
    return unused;
}

static void beside(void)
{
    pthread_t t = go(load_many), u = go(throw_many);

    throw_many(nullptr);
    join(t);
    join(u);
}

int main(int, char **argv)
{
    plugin = argv[2];
    if (strcmp(argv[1], "out") == 0)
        out();
    if (strcmp(argv[1], "beside") == 0)
        beside();
    return 0;
}
