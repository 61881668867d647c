# SPDX-License-Identifier: MIT
"""Two locks in both orders, and each inner one is waited for: main holds it
until the kernel says that the thread waits at another place than before and
without a time limit (as there is for the interpreter's own lock)."""
import threading
import time

FUTEX = "202"

first = threading.Lock()
second = threading.Lock()
go_on = threading.Event()


def forward():
    with first:
        with second:
            pass


def backward():
    go_on.wait()
    with second:
        with first:
            pass


def place_of_wait(thread, but=None):
    while True:
        with open(f"/proc/self/task/{thread.native_id}/syscall") as f:
            words = f.read().split()
        if words[0] == FUTEX and int(words[4], 16) == 0 and words[1] != but:
            return words[1]
        time.sleep(0)


two = threading.Thread(target=backward)
two.start()
before = place_of_wait(two)
with second:
    one = threading.Thread(target=forward)
    one.start()
    place_of_wait(one)
one.join()
with first:
    go_on.set()
    place_of_wait(two, but=before)
two.join()
