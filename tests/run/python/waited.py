# SPDX-License-Identifier: MIT
"""Two locks in both orders, and each inner one is waited for: main holds it
until the kernel says that the thread waits, without a time limit (as it does
for the interpreter's own lock)."""
import threading
import time

FUTEX = "202"

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


def waits(thread):
    with open(f"/proc/self/task/{thread.native_id}/syscall") as f:
        words = f.read().split()
    return words[0] == FUTEX and int(words[4], 16) == 0


def run(thread, inner, before):
    inner.acquire()
    before()
    while not waits(thread):
        time.sleep(0)
    inner.release()


one = threading.Thread(target=forward)
two = threading.Thread(target=backward)
two.start()
run(one, second, one.start)
is_done.wait()
first.acquire()
while not waits(two):
    time.sleep(0)
first.release()
one.join()
two.join()
