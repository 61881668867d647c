// SPDX-License-Identifier: MIT
//
// statics.cpp - function-local statics: their initializer runs under a lock.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sched.h>
#include <thread>

extern "C" int __cxa_guard_acquire(uint64_t *);
extern "C" void __cxa_guard_release(uint64_t *);

static std::mutex m;
static std::atomic<bool> first_done, is_ready;
static std::atomic<int> runs;

static void wait_for(std::atomic<bool> &what)
{
    while (!what.load(std::memory_order_relaxed))
        sched_yield();
}

static void lock_m()
{
    std::lock_guard<std::mutex> guard(m);
}

// The first attempt takes m, and fails; the next one does neither.
struct object {
    explicit object(bool takes_m)
    {
        if (is_ready)
            return;
        if (takes_m)
            lock_m();
        throw 1;
    }
};

static object &instance(bool takes_m)
{
    static object the_object(takes_m);
    return the_object;
}

static void beside_m_then_instance(bool takes_m)
{
    std::thread t([=] {
        try {
            instance(takes_m);
        } catch (int) {
        }
        lock_m(); // the guard is not held now
        is_ready = true;
        first_done.store(true, std::memory_order_relaxed);
    });
    std::thread u([] {
        wait_for(first_done);
        std::lock_guard<std::mutex> guard(m);
        instance(false);
    });
    t.join();
    u.join();
}

static int depth(int n)
{
    static int value = n ? depth(n - 1) + 1 : 1;
    return value;
}

static void recursive_among_threads()
{
    std::atomic<bool> never(false);

    std::thread t([&] { wait_for(never); });
    depth(2);
    t.join();
}

static void race()
{
    static uint64_t guards[500];
    std::thread threads[4];

    for (std::thread &t : threads)
        t = std::thread([] {
            for (uint64_t &guard : guards)
                if (__cxa_guard_acquire(&guard)) {
                    runs++;
                    sched_yield();
                    __cxa_guard_release(&guard);
                }
        });
    for (std::thread &t : threads)
        t.join();
    printf("%d runs\n", runs.load());
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    if (strcmp(mode, "vs-lock") == 0)
        beside_m_then_instance(true);
    if (strcmp(mode, "aborted") == 0)
        beside_m_then_instance(false);
    if (strcmp(mode, "recursive") == 0)
        depth(2);
    if (strcmp(mode, "recursive-among-threads") == 0)
        recursive_among_threads();
    if (strcmp(mode, "race") == 0)
        race();
    return 0;
}
