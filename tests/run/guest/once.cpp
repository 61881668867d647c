// SPDX-License-Identifier: MIT
//
// once.cpp - pthread_once and std::call_once: against a lock, in itself, and
// left by an exception, pthread_exit, cancellation and fork.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <pthread.h>
#include <sched.h>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

static std::mutex m, n;
static std::once_flag flag;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static std::atomic<bool> first_done, started, going;
static std::atomic<int> runs;

static void check(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        _Exit(1);
    }
}

static void wait_for(std::atomic<bool> &what)
{
    while (!what.load(std::memory_order_relaxed))
        sched_yield();
}

static void set(std::atomic<bool> &what)
{
    what.store(true, std::memory_order_relaxed);
}

static void lock_m()
{
    std::lock_guard<std::mutex> guard(m);
}

static void do_once()
{
    check(pthread_once(&once, lock_m) == 0, "pthread_once failed");
}

// The routine wants m; another thread's first call is made under m.
static void vs_lock()
{
    std::thread t([] {
        do_once();
        set(first_done);
    });
    std::thread u([] {
        wait_for(first_done);
        std::lock_guard<std::mutex> guard(m);
        do_once();
    });
    t.join();
    u.join();
}

// Each thread has called it before it takes m: nobody can have to wait.
static void shielded()
{
    auto work = [] {
        for (int i = 0; i < 40; i++) {
            do_once();
            std::lock_guard<std::mutex> guard(m);
            do_once();
        }
    };
    std::thread t(work), u(work);
    t.join();
    u.join();
}

// A call waits under n while the routine, which took n before, is running.
static void lock_n_slowly()
{
    n.lock();
    n.unlock();
    set(started);
    wait_for(going);
}

static void waits()
{
    std::thread t([] { pthread_once(&once, lock_n_slowly); });
    std::thread u([] {
        wait_for(started);
        std::lock_guard<std::mutex> guard(n);
        set(going);
        pthread_once(&once, lock_n_slowly);
    });
    t.join();
    u.join();
}

// Beside something that may have left the once behind as held, and then took
// m: m, then the once.
static void beside_m_then_once(void (*leave)())
{
    std::thread t([=] {
        leave();
        lock_m();
        set(first_done);
    });
    std::thread u([] {
        wait_for(first_done);
        std::lock_guard<std::mutex> guard(m);
        std::call_once(flag, [] { runs++; });
        check(runs == 1, "it did not run");
    });
    t.join();
    u.join();
}

static void fail()
{
    std::call_once(flag, [] { throw std::runtime_error("not today"); });
}

static void leave_by_exception()
{
    for (int i = 0; i < 100; i++) {
        try {
            fail();
            check(false, "nothing was thrown");
        } catch (const std::runtime_error &e) {
            check(strcmp(e.what(), "not today") == 0, "another exception");
        }
    }
}

// With a lock that stays held.
static void fail_with_n()
{
    std::call_once(flag, [] {
        n.lock();
        throw std::runtime_error("not today");
    });
}

static void leave_with_lock()
{
    try {
        fail_with_n();
        check(false, "nothing was thrown");
    } catch (const std::runtime_error &e) {
        lock_m();
        n.unlock();
    }
}

static pthread_key_t key;

static void lock_m_at_end(void *)
{
    lock_m();
}

static void leave_by_exit()
{
    pthread_key_create(&key, lock_m_at_end);
    std::thread([] {
        pthread_setspecific(key, &key);
        std::call_once(flag, [] { pthread_exit(nullptr); });
    }).join();
}

static void leave_by_cancellation()
{
    pthread_key_create(&key, lock_m_at_end);
    std::thread([] {
        pthread_setspecific(key, &key);
        std::call_once(flag, [] {
            pthread_cancel(pthread_self());
            pthread_testcancel();
        });
    }).join();
}

static void ask_again()
{
    pthread_once(&once, ask_again);
}

static void recursive()
{
    pthread_once(&once, ask_again);
}

// In a child of fork the once is free, as glibc has it.
static void count_in_child()
{
    if (runs++ == 0 && fork() == 0) {
        check(pthread_once(&once, count_in_child) == 0 && runs == 2, "no run");
        lock_m();
        _exit(0);
    }
}

static void forked()
{
    int status;

    pthread_once(&once, count_in_child);
    check(wait(&status) > 0 && status == 0, "the child failed");
    check(runs == 1, "it ran more than once");
    lock_m();
}

// What they do is what they do alone.
static pthread_once_t inner = PTHREAD_ONCE_INIT;

static void inner_fails()
{
    puts("inner");
    throw 1;
}

static void outer_routine()
{
    try {
        pthread_once(&inner, inner_fails);
    } catch (int) {
        puts("caught in the outer one");
    }
    try {
        pthread_once(&inner, inner_fails);
    } catch (int) {
        puts("and again");
    }
    lock_m();
}

static void results()
{
    static pthread_once_t many[300];
    std::thread threads[4];

    printf("%d\n", pthread_once(&once, outer_routine));
    printf("%d\n", pthread_once(&once, outer_routine));
    for (std::thread &t : threads)
        t = std::thread([] {
            for (pthread_once_t &o : many)
                pthread_once(&o, [] { runs++; });
        });
    for (std::thread &t : threads)
        t.join();
    printf("%d runs\n", runs.load());
    for (int i = 0; i < 3; i++)
        try {
            fail();
        } catch (const std::exception &e) {
            puts(e.what());
        }
    std::call_once(
        flag, [](int x) { printf("%d\n", x); }, 7);
    leave_by_exit();
}

static const struct {
    const char *name;
    void (*run)();
} modes[] = {
    { "vs-lock", vs_lock },
    { "shielded", shielded },
    { "waits", waits },
    { "thrown", [] { beside_m_then_once(leave_by_exception); } },
    { "thrown-with-lock", [] { beside_m_then_once(leave_with_lock); } },
    { "exited", [] { beside_m_then_once(leave_by_exit); } },
    { "cancelled", [] { beside_m_then_once(leave_by_cancellation); } },
    { "recursive", recursive },
    { "forked", forked },
    { "results", results },
};

int main(int argc, char **argv)
{
    for (const auto &mode : modes)
        if (argc > 1 && strcmp(argv[1], mode.name) == 0)
            mode.run();
    return 0;
}
