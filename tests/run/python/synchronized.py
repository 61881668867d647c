# SPDX-License-Identifier: MIT
"""What the standard library builds of locks, used in the right way."""
import queue
import threading
from concurrent.futures import ThreadPoolExecutor


def run(function, n):
    threads = [threading.Thread(target=function) for _ in range(n)]
    for t in threads:
        t.start()
    return threads


def join(threads):
    for t in threads:
        t.join()


def queues():
    numbers, squares = queue.Queue(maxsize=3), queue.Queue()

    def work():
        while (x := numbers.get()) is not None:
            squares.put(x * x)

    threads = run(work, 4)
    for i in range(300):
        numbers.put(i)
    for _ in threads:
        numbers.put(None)
    join(threads)
    assert sum(squares.get() for _ in range(300)) == sum(
        i * i for i in range(300))


def pool():
    with ThreadPoolExecutor(4) as executor:
        assert sum(executor.map(lambda x: x + 1, range(200))) == 20100


def others():
    barrier, event = threading.Barrier(3), threading.Event()
    condition, arrived = threading.Condition(), []
    some, one = threading.Semaphore(2), threading.BoundedSemaphore(1)
    again = threading.RLock()

    def work():
        event.wait()
        for _ in range(20):
            barrier.wait()
        for _ in range(30):
            with some, again, again:
                pass
            with one:
                pass
        with condition:
            arrived.append(1)
            condition.notify_all()

    threads = run(work, 3)
    event.set()
    with condition:
        condition.wait_for(lambda: len(arrived) == 3)
        condition.wait(0.001)
    join(threads)
    timer = threading.Timer(0.001, lambda: None)
    timer.start()
    timer.join()


queues()
pool()
others()
print("done")
