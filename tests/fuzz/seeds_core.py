#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A small core file for the corpus: threads that wait in a ring, as glibc and
the preload leave it in memory. Usage: seeds_core.py FOLDER"""
import struct
import sys

FIRST, LIBC, OURS, MEMORY = 100, 0x7f0000000000, 0x7f1000000000, 0x7f2000000000
NAMES = ["mutex", "rdlock", "wrlock", "cond", "sem", "barrier", "join", "once"]


def note(kind, data):
    data += b"\0" * (-len(data) % 4)
    return struct.pack("<III", 5, len(data), kind) + b"CORE\0\0\0\0" + data


def status(tid, rip, rbp, args, fs_base, call=202):
    rdi, rsi, rdx, r10, r8, r9 = args
    registers = [0, 0, 0, 0, rbp, 0, 0, r10, r9, r8, 0, 0, rdx, rsi, rdi, call,
                 rip, 0x33, 0x246, MEMORY + 0xf00, 0x2b, fs_base, 0, 0, 0, 0, 0]
    return note(1, struct.pack("<32xI76x27QQ", tid, *registers, 0))


def mapped(ranges):
    data = struct.pack("<QQ", len(ranges), 4096)
    data += b"".join(struct.pack("<QQQ", r[0], r[1], 0) for r in ranges)
    return note(0x46494c45, data + b"".join(r[2] + b"\0" for r in ranges))


def mutex(owner, lock=2):
    return struct.pack("<IIIIIII", lock, 0, owner, 1, 0, 0, 0).ljust(40, b"\0")


def rwlock(readers, writer):
    return struct.pack("<IIIIIIII", readers, 0, 1, 2, 0, 0, writer,
                       0).ljust(56, b"\0")


def published(pid):
    shorts = [8, 16, 24, 0, 4, 32,       # of a thread
              0, 4, 0,                   # of a chunk
              32, 0, 8, 16, 18,          # of a slot
              1, 15, 5, 3, 1]
    return struct.pack("<8sIIQ19H3B", b"lckhnd", 1, pid, MEMORY + 0x400,
                       *shorts, 1, 2, 3).ljust(72, b"\0")


def slot(lock, pc, how, state):
    return struct.pack("<QQHB", lock, pc, how, state).ljust(32, b"\0")


def memory(tids):
    m = bytearray(0x1000)

    def put(at, data):
        m[at:at + len(data)] = data
    put(0x100, mutex(tids[1]))
    put(0x140, mutex(tids[0]))
    put(0x180, rwlock(8, 0))
    put(0x1c0, rwlock(2, tids[0]))
    put(0x200, struct.pack("<IIQ", 2, 1, MEMORY))       # a stream's lock
    put(0x400, struct.pack("<Q", MEMORY + 0x440))
    for i, tid in enumerate(tids[:2]):
        thread, chunk = 0x440 + 0x40 * i, 0x600 + 0x200 * i
        following = MEMORY + thread + 0x40 if i == 0 else 0
        put(thread, struct.pack("<IIQQQI", tid, i + 1, following,
                                MEMORY + chunk, MEMORY + chunk + 96, 0))
        put(chunk, slot(0, 0, 0, 0) +
            slot(MEMORY + 0x140 - 0x40 * i, LIBC + 0x1010, 2, 1) +
            slot(MEMORY + 0x100 + 0x40 * i, LIBC + 0x1020, 34, 3))
    return bytes(m)


def core(threads, extra=b""):
    tids = [FIRST + i for i in range(len(threads))]
    notes = b"".join(
        status(tid, LIBC + 0x1000 + 16 * where, LIBC + 0x1008, args,
               MEMORY if tid == FIRST else 0)
        for tid, (where, args) in zip(tids, threads))
    notes += note(3, struct.pack("<24xIIII16s80s", FIRST, 1, 1, 1, b"program",
                                 b"program -x"))
    notes += note(6, struct.pack("<QQQQ", 9, LIBC + 0x10, 0, 0))
    notes += mapped([(LIBC, LIBC + 0x2000, b"libc.so.6"),
                     (OURS, OURS + 0x2000, b"liblockhound.so")]) + extra
    parts = [(1, MEMORY, memory(tids)), (1, OURS + 0x1000, published(FIRST))]
    at = 64 + 56 * 3
    headers, bodies = b"", notes
    headers += struct.pack("<IIQQQQQQ", 4, 4, at, 0, 0, len(notes), 0, 4)
    at += len(notes)
    for kind, address, data in parts:
        headers += struct.pack("<IIQQQQQQ", kind, 6, at, address, 0,
                               len(data), len(data), 8)
        bodies += data
        at += len(data)
    ident = b"\x7fELF\x02\x01\x01".ljust(16, b"\0")
    return ident + struct.pack("<HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56,
                               3, 0, 0, 0) + headers + bodies


def waits(where, at, operation=128, expected=2):
    return where, (MEMORY + at, operation, expected, 0, 0, 0)


seeds = {
    "ring": [waits(0, 0x100), waits(0, 0x140)],
    "rwlocks": [waits(1, 0x188, 137, 1), waits(2, 0x18c, 137, 1),
                waits(1, 0x1c8, 137, 3)],
    "others": [waits(3, 0x300, 137, 0), waits(4, 0x320, 393, 0),
               waits(5, 0x340, 128, 1), waits(6, 0x360, 265, FIRST),
               waits(7, 0x380, 128, 1)],
    "words": [waits(20, 0x200), waits(20, 0x140), waits(20, 0x300),
              waits(20, 0x360, 0, FIRST)],
}
for name, threads in seeds.items():
    with open(f"{sys.argv[1]}/{name}", "wb") as out:
        out.write(core(threads))
with open(f"{sys.argv[1]}/two-lists", "wb") as out:
    out.write(core(seeds["ring"], mapped([(1, 2, b"/a")])))
