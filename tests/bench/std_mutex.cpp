// SPDX-License-Identifier: MIT
/* std_mutex.cpp - nanoseconds a lock/unlock pair of std::mutex takes. */
#include <mutex>

#include "alone.h"

static std::mutex mutex;

static void loop(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        mutex.lock();
        mutex.unlock();
    }
}

int main()
{
    return measure_only(loop);
}
