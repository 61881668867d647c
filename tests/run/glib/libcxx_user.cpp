/* SPDX-License-Identifier: MIT
 * libcxx_user.cpp - a plugin in C++: two locks in both orders. */
#include <atomic>
#include <mutex>
#include <thread>

static std::mutex a, b;
static std::atomic<bool> is_first_done;

static __attribute__((noinline)) void take_both(std::mutex &outer,
                                                std::mutex &inner)
{
    std::lock_guard<std::mutex> o(outer); /* outer */
    std::lock_guard<std::mutex> i(inner); /* inner */
}

static void first()
{
    take_both(a, b); /* first */
    is_first_done.store(true, std::memory_order_relaxed);
}

static void second()
{
    while (!is_first_done.load(std::memory_order_relaxed))
        std::this_thread::yield();
    take_both(b, a); /* second */
}

extern "C" void plugin_run(void);
extern "C" void plugin_run(void)
{
    std::thread t(first), u(second);

    t.join();
    u.join();
}
