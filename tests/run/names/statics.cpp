// SPDX-License-Identifier: MIT
// statics.cpp - one name in several namespaces, of variables that only this
// file knows: a ring of two of them each.
#include <mutex>
#include <thread>

namespace net
{
static std::mutex mutex;
namespace
{
std::mutex own[2];
}
} // namespace net

namespace disk
{
static std::mutex mutex;
}

namespace
{
std::mutex mutex;
}

struct Cache {
    static std::mutex &guard();
};

std::mutex &Cache::guard()
{
    static std::mutex inside;
    return inside;
}

static void both_ways(std::mutex &a, std::mutex &b)
{
    std::thread([&] {
        std::scoped_lock one(a);
        std::scoped_lock two(b);
    }).join();
    std::thread([&] {
        std::scoped_lock one(b);
        std::scoped_lock two(a);
    }).join();
}

int main()
{
    both_ways(net::mutex, disk::mutex);
    both_ways(net::own[1], mutex);
    both_ways(Cache::guard(), disk::mutex);
}
