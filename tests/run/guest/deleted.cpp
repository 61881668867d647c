// SPDX-License-Identifier: MIT
//
// deleted.cpp - a std::mutex says nothing when it ends with its object: two
// live threads, two locks that had one address one after the other.
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <sched.h>
#include <unistd.h>

namespace
{

struct Account {
    long payload[3] = {};
    std::mutex lock;
};

std::mutex table;
std::atomic<bool> is_done, is_over; // relaxed: they order nothing

void set_flag(std::atomic<bool> &flag)
{
    flag.store(true, std::memory_order_relaxed);
}

void wait_flag(const std::atomic<bool> &flag)
{
    while (!flag.load(std::memory_order_relaxed))
        sched_yield();
}

void table_then(std::mutex &lock)
{
    std::lock_guard<std::mutex> outer(table);
    std::lock_guard<std::mutex> inner(lock);
}

void then_table(std::mutex &lock)
{
    std::lock_guard<std::mutex> outer(lock);
    std::lock_guard<std::mutex> inner(table);
}

// make() gives an object with a lock in it; the first one dies before the
// second is made. keep: there is only one.
template <class Make, class Lock> void meet(Make make, Lock lock, bool keep)
{
    auto object = make();
    std::mutex *first = &lock(object);
    std::thread other([&] {
        table_then(*first);
        set_flag(is_done);
        wait_flag(is_over);
    });

    wait_flag(is_done);
    if (!keep) {
        object = decltype(object)();
        object = make();
    }
    if (&lock(object) != first)
        _exit(77);
    then_table(lock(object));
    set_flag(is_over);
    other.join();
}

} // namespace

int main(int, char **argv)
{
    auto is_mode = [&](const char *mode) {
        return argv[1] && std::strcmp(argv[1], mode) == 0;
    };
    auto of_pointer = [](auto &p) -> std::mutex & { return p->lock; };
    auto of_second = [](auto &v) -> std::mutex & { return v[1].lock; };

    if (is_mode("deleted"))
        meet([] { return std::make_unique<Account>(); }, of_pointer, false);
    if (is_mode("kept"))
        meet([] { return std::make_unique<Account>(); }, of_pointer, true);
    if (is_mode("shared-pointer"))
        meet([] { return std::make_shared<Account>(); }, of_pointer, false);
    if (is_mode("vector"))
        meet([] { return std::vector<Account>(3); }, of_second, false);
    if (is_mode("array"))
        meet([] { return std::make_unique<Account[]>(3); }, of_second, false);
    return 0;
}
