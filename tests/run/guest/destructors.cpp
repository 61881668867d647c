// SPDX-License-Identifier: MIT
//
// destructors.cpp - C++ in a guest: exceptions through start routines and
// locks, std::thread, destructors of thread_local objects and of
// thread-specific data that lock.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <stdexcept>
#include <thread>

#include "lockhound.h"

static std::mutex a, b;
static std::recursive_mutex r;
static std::atomic<bool> done;

static void until_done()
{
    while (!done.load(std::memory_order_relaxed))
        std::this_thread::yield();
}

static void reverse()
{
    until_done();
    std::lock_guard<std::mutex> one(b), two(a);
}

static void check(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        _Exit(1);
    }
}

__attribute__((noinline)) static void throws(int depth)
{
    std::lock_guard<std::recursive_mutex> guard(r);
    if (depth == 0)
        throw std::runtime_error("from below");
    throws(depth - 1);
}

static void *catches(void *)
{
    for (int i = 0; i < 100; i++) {
        try {
            std::lock_guard<std::mutex> guard(a);
            throws(i % 10);
        } catch (const std::exception &e) {
            check(strcmp(e.what(), "from below") == 0, "another exception");
        }
        lockhound_assert_not_held(&a);
        lockhound_assert_not_held(&r);
    }
    return nullptr;
}

static void exceptions()
{
    pthread_t t;
    pthread_create(&t, nullptr, catches, nullptr);
    pthread_join(t, nullptr);
    std::thread([] { catches(nullptr); }).join();
    std::thread([] { std::scoped_lock both(a, b); }).join();
    std::thread([] {
        std::scoped_lock both(b, a); /* tries, and backs off */
    }).join();
}

static void uncaught()
{
    std::thread([] { throws(3); }).join();
}

struct locks_at_the_end {
    ~locks_at_the_end()
    {
        {
            std::lock_guard<std::mutex> one(a), two(b);
        }
        done.store(true, std::memory_order_relaxed);
    }
    int used = 0;
};
static thread_local locks_at_the_end object;

static void thread_local_object()
{
    std::thread other(reverse);
    std::thread([] { object.used = 1; }).join();
    other.join();
}

static pthread_key_t key;

/* Runs in each of the four rounds; the last one makes the order. */
static void round_of(void *value)
{
    long n = reinterpret_cast<long>(value);
    static std::mutex each;

    each.lock();
    each.unlock();
    if (n < 4) {
        pthread_setspecific(key, reinterpret_cast<void *>(n + 1));
        return;
    }
    {
        std::lock_guard<std::mutex> one(a), two(b);
    }
    done.store(true, std::memory_order_relaxed);
}

static void fourth_round()
{
    pthread_key_create(&key, round_of);
    std::thread other(reverse);
    std::thread([] {
        pthread_setspecific(key, reinterpret_cast<void *>(1));
    }).join();
    other.join();
}

int main(int, char **argv)
{
    if (!strcmp(argv[1], "exceptions"))
        exceptions();
    if (!strcmp(argv[1], "uncaught"))
        uncaught();
    if (!strcmp(argv[1], "thread-local"))
        thread_local_object();
    if (!strcmp(argv[1], "fourth-round"))
        fourth_round();
}
