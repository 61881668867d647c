// SPDX-License-Identifier: MIT
//
// libstatics.cpp - a plugin in C++, for a program that is not: its
// function-local static is initialized by four threads at once.
#include <atomic>
#include <thread>

static std::atomic<int> made;

struct object {
    object() { made++; }
};

extern "C" int objects_made()
{
    std::thread threads[4];

    for (std::thread &t : threads)
        t = std::thread([] { static object the_object; });
    for (std::thread &t : threads)
        t.join();
    return made;
}
