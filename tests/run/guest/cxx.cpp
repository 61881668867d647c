// SPDX-License-Identifier: MIT
//
// cxx.cpp - each locking construct of C++17 in two threads: in opposite orders
// of `a` and `b` ("construct"), and as it should be ("construct-right").
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <sched.h>
#include <shared_mutex>
#include <thread>

using namespace std::chrono_literals;

static std::atomic<bool> first_done;

// One after the other, in parallel threads: it cannot hang.
template <class First, class Second>
static void beside(First first, Second second)
{
    std::thread t([=] {
        first();
        first_done.store(true, std::memory_order_relaxed);
    });
    std::thread u([=] {
        while (!first_done.load(std::memory_order_relaxed))
            sched_yield();
        second();
    });
    t.join();
    u.join();
}

// Both by the same construct.
template <class Lock> static void in_order(Lock lock, bool is_right)
{
    beside([=] { lock(true); }, [=] { lock(is_right); });
}

namespace plain
{
static std::mutex a, b;

static void by_lock_guard(bool forward)
{
    std::lock_guard<std::mutex> outer(forward ? a : b); // guard outer
    std::lock_guard<std::mutex> inner(forward ? b : a); // guard inner
}

static void by_unique_lock(bool forward)
{
    std::unique_lock<std::mutex> outer(forward ? a : b);
    std::unique_lock<std::mutex> inner(forward ? b : a, std::defer_lock);

    inner.lock(); // unique inner
    outer.unlock();
    outer.lock(); // unique outer again
}

// Names them in both orders, and tries the second.
static void by_scoped_lock(bool forward)
{
    for (int i = 0; i < 30; i++)
        std::scoped_lock both(forward ? a : b, forward ? b : a);
}

static void by_std_lock(bool forward)
{
    static std::mutex c;

    for (int i = 0; i < 30; i++) {
        std::lock(forward ? a : b, c, forward ? b : a);
        a.unlock();
        b.unlock();
        c.unlock();
    }
}

// A wait asks for b again, under a, which it got by a try.
static void wait_under_a()
{
    static std::condition_variable condition;
    std::unique_lock<std::mutex> inner(b);
    std::unique_lock<std::mutex> outer(a, std::try_to_lock);

    condition.wait_for(inner, 1ms); // condition wait
}

static void wait_any_under_a()
{
    static std::condition_variable_any condition;
    std::unique_lock<std::mutex> inner(b);
    std::unique_lock<std::mutex> outer(a, std::try_to_lock);

    condition.wait_for(inner, 1ms); // any wait
}

// A predicate that holds at once: nothing is waited for.
static void wait_alone()
{
    static std::condition_variable condition;
    std::unique_lock<std::mutex> lock(b);

    condition.wait(lock, [] { return true; });
    condition.wait_for(lock, 1ms);
}
} // namespace plain

namespace recursive
{
static std::recursive_mutex a, b;

static void twice(bool forward)
{
    std::recursive_mutex &one = forward ? a : b, &two = forward ? b : a;
    std::lock_guard<std::recursive_mutex> outer(one), again(one);
    std::lock_guard<std::recursive_mutex> inner(two); // recursive inner
    std::lock_guard<std::recursive_mutex> last(one);  // held: no request
}
} // namespace recursive

namespace timed
{
static std::timed_mutex a, b;

static void blocking(bool forward)
{
    std::lock_guard<std::timed_mutex> outer(forward ? a : b);
    std::lock_guard<std::timed_mutex> inner(forward ? b : a); // timed inner
}

// On both clocks; gives up by itself.
static void bounded(bool forward)
{
    std::lock_guard<std::timed_mutex> outer(forward ? a : b);
    std::timed_mutex &inner = forward ? b : a;

    if (inner.try_lock_for(10s))
        inner.unlock();
    if (inner.try_lock_until(std::chrono::system_clock::now() + 10s))
        inner.unlock();
}
} // namespace timed

namespace shared
{
static std::shared_mutex a, b;

static void exclusive(bool forward)
{
    std::unique_lock<std::shared_mutex> outer(forward ? a : b);
    std::unique_lock<std::shared_mutex> inner(forward ? b : a); // shared inner
}

static void reading(bool forward)
{
    std::shared_lock<std::shared_mutex> outer(forward ? a : b);
    std::shared_lock<std::shared_mutex> inner(forward ? b : a);
}
} // namespace shared

namespace once
{
static std::mutex b;
static std::once_flag a;

static void call()
{
    std::call_once(a, [] {
        std::lock_guard<std::mutex> guard(b); // once inner
    });
}

static void call_under_b()
{
    std::lock_guard<std::mutex> guard(b);
    call();
}
} // namespace once

static const struct {
    const char *name;
    void (*run)();
} modes[] = {
    { "lock_guard", [] { in_order(plain::by_lock_guard, false); } },
    { "lock_guard-right", [] { in_order(plain::by_lock_guard, true); } },
    { "unique_lock",
      [] { beside([] { plain::by_unique_lock(true); }, [] {}); } },
    { "scoped_lock-right", [] { in_order(plain::by_scoped_lock, false); } },
    { "lock-right", [] { in_order(plain::by_std_lock, false); } },
    { "scoped_lock",
      [] {
          beside([] { plain::by_scoped_lock(true); },
                 [] { plain::by_lock_guard(false); });
      } },
    { "condition_variable",
      [] {
          beside(plain::wait_under_a, [] { plain::by_lock_guard(false); });
      } },
    { "condition_variable_any",
      [] {
          beside(plain::wait_any_under_a, [] { plain::by_lock_guard(false); });
      } },
    { "condition_variable-right",
      [] { beside(plain::wait_alone, [] { plain::by_lock_guard(true); }); } },
    { "recursive_mutex", [] { in_order(recursive::twice, false); } },
    { "recursive_mutex-right", [] { in_order(recursive::twice, true); } },
    { "timed_mutex", [] { in_order(timed::blocking, false); } },
    { "timed_mutex-right", [] { in_order(timed::bounded, true); } },
    { "timed_mutex-bounded", [] { in_order(timed::bounded, false); } },
    { "shared_mutex", [] { in_order(shared::exclusive, false); } },
    { "shared_mutex-right", [] { in_order(shared::reading, false); } },
    { "call_once", [] { beside(once::call, once::call_under_b); } },
    { "call_once-right",
      [] {
          beside(once::call, [] {
              once::call();
              once::call_under_b();
          });
      } },
};

int main(int argc, char **argv)
{
    for (const auto &mode : modes)
        if (argc > 1 && strcmp(argv[1], mode.name) == 0)
            mode.run();
    return 0;
}
