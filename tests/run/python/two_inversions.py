# SPDX-License-Identifier: MIT
"""Two pairs of locks, each taken in both orders: two bugs."""
import threading


def invert(first, second):
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


invert(threading.Lock(), threading.Lock())
invert(threading.Lock(), threading.Lock())
