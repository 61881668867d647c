# SPDX-License-Identifier: MIT
"""Threads, queues and a pool: what a Python program does with locks."""
import concurrent.futures
import queue
import threading

work, results = queue.Queue(16), queue.Queue()
total = 0
lock = threading.RLock()


def worker():
    while True:
        n = work.get()
        if n is None:
            return
        with lock, lock:
            global total
            total += n
        results.put(n * n)


threads = [threading.Thread(target=worker) for _ in range(6)]
for t in threads:
    t.start()
for i in range(3000):
    work.put(i)
for t in threads:
    work.put(None)
for t in threads:
    t.join()
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    squares = sum(pool.map(lambda n: n * n, range(1000)))
print(total, sum(results.get() for _ in range(3000)), squares)
