# SPDX-License-Identifier: MIT
"""Two locks, taken in both orders by two threads that are alive together."""
import threading

first = threading.Lock()
second = threading.Lock()
is_done = threading.Event()


def forward():
    with first:
        with second:
            pass
    is_done.set()


def backward():
    is_done.wait()
    with second:
        with first:
            pass


threads = [threading.Thread(target=f) for f in (backward, forward)]
for t in threads:
    t.start()
for t in threads:
    t.join()
