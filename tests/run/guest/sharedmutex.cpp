// SPDX-License-Identifier: MIT
//
// sharedmutex.cpp - std::shared_mutex and std::shared_timed_mutex in orders
// that can deadlock, and read against read.
#include <chrono>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex a;
std::shared_timed_mutex b;
static bool done;

static void wait_turn()
{
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
        std::this_thread::yield();
}

static void pass_turn()
{
    __atomic_store_n(&done, true, __ATOMIC_RELAXED);
}

static void read_both()
{
    std::shared_lock read_a(a);
    std::shared_lock read_b(b);
    pass_turn();
}

static void write_both_the_other_way()
{
    wait_turn();
    std::unique_lock write_b(b);
    std::unique_lock write_a(a);
}

static void read_both_the_other_way()
{
    wait_turn();
    std::shared_lock read_b(b);
    std::shared_lock read_a(a);
}

static void write_both_for_a_while()
{
    wait_turn();
    std::unique_lock write_b(b, std::chrono::hours(1));
    std::unique_lock write_a(a, std::try_to_lock);
}

int main(int, char **argv)
{
    void (*second)() = write_both_the_other_way;

    if (std::strcmp(argv[1], "read") == 0)
        second = read_both_the_other_way;
    if (std::strcmp(argv[1], "try") == 0)
        second = write_both_for_a_while;
    std::thread one(read_both), two(second);
    one.join();
    two.join();
}
