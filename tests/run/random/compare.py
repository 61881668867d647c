#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares lockhound's verdicts with a brute-force model on random scripts.

    compare.py [--first=SEED] [--count=N] [--jobs=N] [--keep=DIR] [options]

Each seed makes one script for replay: threads with create and join, locks
taken and released in any order, try-locks, timed locks, condition waits,
recursive and error-checking mutexes, mutexes made anew at the same address,
and misuse: releases of what is free or another's, waits with a mutex that is
not held, use after destroy, threads that end with a lock in hand; with --rw,
read-write locks of both kinds and spin locks as well.
The model computes from the script alone which rings are possible and which
only conditional, the result of every call, and what is misuse. Compared are:
results, the grade of each ring of locks, that every side of a finding (thread,
locks, functions) really happened, and every misuse (lock, function).

A step is "thread what a b inner outer"; what is
  l lock  t trylock  k timedlock  q clocklock  u unlock  w cond_timedwait
  v cond_clockwait  D destroy  i init (b: type)  c create  j J join  d detach
  x return  X pthread_exit  n nothing
and of read-write locks
  r rdlock  R tryrdlock  e timedrdlock  f clockrdlock  W wrlock  T trywrlock
  K timedwrlock  Q clockwrlock  U unlock  B destroy  I init (b: kind)
and of spin locks
  s lock  S trylock  z unlock  y init
"""
import argparse
import collections
import errno
import glob
import itertools
import json
import multiprocessing
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
NORMAL, RECURSIVE, ERRORCHECK = 0, 1, 2
Step = collections.namedtuple("Step", "thread what a b inner outer")
Held = collections.namedtuple("Held", "lock inner outer shared", defaults=[False])
RWLOCKS, SPINS = range(24, 36), range(36, 42)  # all below are mutexes
PREFERS_WRITERS = 2


def static_type(index):
    return NORMAL if index < 12 else RECURSIVE if index < 18 else ERRORCHECK


class Mutex:
    def __init__(self, index):
        self.index = index
        self.type = static_type(index)
        self.generation = 0
        self.owner = None
        self.count = 0
        self.dead = False
        self.told_dead = False
        self.users = 0               # glibc's count, which destroy looks at

    @property
    def key(self):
        return (self.index, self.generation)


class RWLock:
    def __init__(self, index):
        self.index = index
        self.kind = 0 if index < 30 else PREFERS_WRITERS
        self.generation = 0
        self.owner = None   # the writer
        self.readers = []   # a thread for each time that it reads
        self.dead = False

    @property
    def key(self):
        return (self.index, self.generation)


class Thread:
    def __init__(self, number, clock):
        self.number = number
        self.clock = dict(clock)     # vector clock: thread -> events seen
        self.clock[number] = 1
        self.held = []               # Held, oldest first
        self.joinable = True
        self.joined = self.ended = False

    def tick(self):
        self.clock[self.number] += 1


class Occurrence:
    """One blocking request made while holding something."""

    def __init__(self, thread, wanted, held, timed, inner, outer,
                 shared=False, queues=False):
        self.thread = thread.number
        self.clock = dict(thread.clock)
        self.wanted = wanted
        self.held = {h.lock: h for h in reversed(held)}  # the oldest counts
        self.timed = timed
        self.shared = shared
        self.queues = queues  # its lock's readers wait behind its writers
        self.inner, self.outer = inner, outer

    def blockers(self, others):
        """Who can make it wait: (occurrence, by waiting to write?)."""
        for o in others:
            h = o.held.get(self.wanted)
            if h and not (h.shared and self.shared) and \
                    self.wanted not in self.held:
                yield o, False
            if self.queues and self.shared and o.wanted == self.wanted and \
                    not o.shared:
                yield o, True

    def precedes(self, other):
        return other.clock.get(self.thread, 0) > self.clock[self.thread]

    def parallel(self, other):
        return not self.precedes(other) and not other.precedes(self)


class Model:
    """Takes steps; says what they return and which rings they close."""

    refused_waits = True  # condition waits with a mutex that is not held

    def __init__(self):
        self.mutexes = {}
        self.threads = [Thread(0, {})]
        self.occurrences = []
        self.rings = {}       # frozenset of (holds, wants) -> possible?
        self.due = set()      # of those, the ones that cannot be left out
        self.crowded = False  # more kinds at once than are looked for
        self.misuses = set()  # (kind, lock, inner) that must be told
        self.maybe = set()    # that may be: the thread may be gone or not

    def mutex(self, index):
        make = RWLock if index in RWLOCKS else Mutex
        return self.mutexes.setdefault(index, make(index))

    # -- rings ------------------------------------------------------------

    def alive(self, key):
        m = self.mutexes[key[0]]
        return m.generation == key[1] and not m.dead

    def request(self, thread, mutex, timed, step, shared=False):
        queues = isinstance(mutex, RWLock) and mutex.kind == PREFERS_WRITERS
        if not thread.held and not (queues and not shared):
            return
        if any(h.lock == mutex.key for h in thread.held) and \
                not (queues and shared):
            return
        new = Occurrence(thread, mutex.key, thread.held, timed, step.inner,
                         step.outer, shared, queues)
        self.occurrences.append(new)
        before = {r for r, p in self.rings.items() if p}
        self.close([new], [])
        if len({r for r, p in self.rings.items() if p} - before) > 12:
            self.crowded = True

    def close(self, path, places):
        """Extends path by what can make its last wait. places[i] is what
        path[i] waits for, and path[i + 1] has: a lock, or the turn to write
        it, which is had by waiting."""
        last = path[-1]
        if not self.alive(last.wanted):
            return
        for o, behind in last.blockers(self.occurrences):
            place = (last.wanted, behind)
            if place in places or (places and self.is_idle(places[-1], o)):
                continue
            if o is path[0] and len(path) > 1:
                self.judge(path, places + [place])
            if o not in path and len(path) < 8:
                self.close(path + [o], places + [place])

    @staticmethod
    def is_idle(place, after):
        """Who waits behind a writer that waits for one who has the lock
        exclusively waits for that one, and a shorter ring says so."""
        return place[1] and not after.held[place[0]].shared

    def judge(self, path, places):
        if self.is_idle(places[-1], path[1]):
            return
        for o in path:  # of those who read what one wants to write, one will do
            if not o.shared and sum(
                    1 for p in path if o.wanted in p.held and
                    p.held[o.wanted].shared) > 1:
                return
        ring = frozenset(
            ((places[i - 1][0][0], places[i - 1][1]), path[i].wanted[0])
            for i in range(len(path)))
        self.rings[ring] = self.rings.get(ring, False) or self.possible(path)
        # A third side that has what two meet at is a gate to one of them.
        if all(sum(1 for p in path if o.wanted in p.held) <= 1 for o in path):
            self.due.add(ring)

    def possible(self, path):
        if any(o.timed for o in path):
            return False
        for a, b in itertools.combinations(path, 2):
            if a.thread == b.thread or not a.parallel(b) or any(
                    not (a.held[k].shared and b.held[k].shared)
                    for k in a.held.keys() & b.held.keys()):
                return False
        return True

    # -- steps ------------------------------------------------------------

    def step(self, s):
        """Returns the result of the call, or None if it may not be made."""
        t = self.threads[s.thread] if s.thread < len(self.threads) else None
        if not t or t.ended:
            return None
        if s.what in "ltkquwvDirRefWTKQUBIsSzy":
            return getattr(self, "do_" + s.what)(t, self.mutex(s.a), s)
        return getattr(self, "do_" + s.what)(t, s)

    def misuse(self, kind, m, inner, sure=True):
        (self.misuses if sure else self.maybe).add((kind, m.index, inner))

    def use_dead(self, m, s):
        if not m.told_dead:
            self.misuse("LH013", m, s.inner)
        m.told_dead = True
        return errno.EINVAL

    def take(self, t, m, s):
        m.owner = t
        m.count += 1
        if m.count == 1:
            m.users += 1
            t.held.append(Held(m.key, s.inner, s.outer))
        return 0

    def lose(self, m):
        """Nobody holds it any more."""
        if m.owner:
            m.owner.held = [h for h in m.owner.held if h.lock != m.key]
        m.owner = None
        m.count = 0

    def do_l(self, t, m, s):
        if m.dead:
            return self.use_dead(m, s)
        if m.owner is t and m.type == RECURSIVE:
            return self.take(t, m, s)
        if m.owner is t and m.type == ERRORCHECK:
            return errno.EDEADLK
        if m.owner:
            return None
        self.request(t, m, False, s)
        return self.take(t, m, s)

    def do_t(self, t, m, s):
        if m.dead:
            return self.use_dead(m, s)
        if m.owner and not (m.owner is t and m.type == RECURSIVE):
            return errno.EBUSY
        return self.take(t, m, s)

    def do_k(self, t, m, s):
        if m.dead:
            return self.use_dead(m, s)
        if m.owner is t and m.type == RECURSIVE:
            return self.take(t, m, s)
        if m.owner is t and m.type == ERRORCHECK:
            return errno.EDEADLK
        self.request(t, m, True, s)
        return errno.ETIMEDOUT if m.owner else self.take(t, m, s)

    do_q = do_k

    def not_held(self, m, s, free, others):
        if m.owner:
            self.misuse(others, m, s.inner, not m.owner.ended)
        else:
            self.misuse(free, m, s.inner)

    def do_u(self, t, m, s):
        if m.dead:
            return self.use_dead(m, s)
        if m.owner is not t:
            self.not_held(m, s, "LH010", "LH011")
            if m.type != NORMAL:
                return errno.EPERM
            self.lose(m)
            m.users -= 1
            return 0
        m.count -= 1
        if m.count == 0:
            self.lose(m)
            m.users -= 1
        return 0

    def do_w(self, t, m, s):
        if m.dead:
            return self.use_dead(m, s)
        if m.owner is not t:
            if not self.refused_waits:
                return None
            self.not_held(m, s, "LH017", "LH017")
            if m.type != NORMAL:
                return errno.EPERM
            self.lose(m)
            m.owner, m.count = t, 1
        if m.count == 1:
            t.held = [h for h in t.held if h.lock != m.key]
            self.request(t, m, False, s)
            t.held.append(Held(m.key, s.inner, s.outer))
        return errno.ETIMEDOUT

    do_v = do_w

    def do_D(self, t, m, s):
        if m.dead:
            return None
        if m.owner:
            self.misuse("LH012", m, s.inner, not m.owner.ended)
        if m.users:
            return errno.EBUSY
        m.dead, m.told_dead = True, False
        self.lose(m)
        return 0

    def do_i(self, t, m, s):
        if m.owner:
            self.misuse("LH014", m, s.inner, not m.owner.ended)
            self.lose(m)
        m.dead = False
        m.users = 0
        m.generation += 1
        m.type = s.b
        return 0

    def take_rw(self, t, m, s, shared):
        if shared:
            m.readers.append(t)
        else:
            m.owner = t
        t.held.append(Held(m.key, s.inner, s.outer, shared))
        return 0

    def blocked(self, t, m, shared):
        return m.owner or (m.readers and not shared)

    def ask_rw(self, t, m, s, shared):
        if m.dead:
            return None
        if m.owner is t:
            return errno.EDEADLK
        if self.blocked(t, m, shared):
            return None
        self.request(t, m, False, s, shared)
        return self.take_rw(t, m, s, shared)

    def try_rw(self, t, m, s, shared):
        if m.dead:
            return None
        if self.blocked(t, m, shared):
            return errno.EBUSY
        return self.take_rw(t, m, s, shared)

    def timed_rw(self, t, m, s, shared):
        if m.dead:
            return None
        if m.owner is t:
            return errno.EDEADLK
        self.request(t, m, True, s, shared)
        if self.blocked(t, m, shared):
            return errno.ETIMEDOUT
        return self.take_rw(t, m, s, shared)

    def do_r(self, t, m, s):
        return self.ask_rw(t, m, s, True)

    def do_R(self, t, m, s):
        return self.try_rw(t, m, s, True)

    def do_e(self, t, m, s):
        return self.timed_rw(t, m, s, True)

    do_f = do_e

    def do_W(self, t, m, s):
        return self.ask_rw(t, m, s, False)

    def do_T(self, t, m, s):
        return self.try_rw(t, m, s, False)

    def do_K(self, t, m, s):
        return self.timed_rw(t, m, s, False)

    do_Q = do_K

    def do_U(self, t, m, s):
        if m.dead or not (m.owner is t or t in m.readers):
            return None
        if m.owner is t:
            m.owner = None
        else:
            m.readers.remove(t)
        newest = max(i for i, h in enumerate(t.held) if h.lock == m.key)
        t.held = t.held[:newest] + t.held[newest + 1:]
        return 0

    def do_B(self, t, m, s):
        if m.dead or m.owner or m.readers:
            return None
        m.dead = True
        return 0

    def do_I(self, t, m, s):
        if m.owner or m.readers:
            return None
        m.dead = False
        m.generation += 1
        m.kind = s.b
        return 0

    def do_s(self, t, m, s):
        if m.owner:
            return None
        self.request(t, m, False, s)
        return self.take(t, m, s)

    def do_S(self, t, m, s):
        return errno.EBUSY if m.owner else self.take(t, m, s)

    def do_z(self, t, m, s):
        return self.do_u(t, m, s) if m.owner is t else None

    def do_y(self, t, m, s):
        if m.owner:
            return None
        m.generation += 1
        return 0

    def left_behind(self, o, sure):
        for h in o.held:
            self.misuse("LH015", self.mutex(h.lock[0]), h.inner, sure)

    def do_c(self, t, s):
        if s.a != len(self.threads):
            return None
        t.tick()
        self.threads.append(Thread(s.a, t.clock))
        return 0

    def do_j(self, t, s):
        o = self.threads[s.a]
        if not o.ended or not o.joinable or o is t:
            return None
        o.joinable = False
        self.left_behind(o, True)
        t.tick()
        for thread, events in o.clock.items():
            t.clock[thread] = max(t.clock.get(thread, 0), events)
        # Its last segment is over, too.
        t.clock[o.number] = o.clock[o.number] + 1
        return 0

    do_J = do_j

    def do_d(self, t, s):
        o = self.threads[s.a]
        if not o.joinable or s.a == 0:
            return None
        o.joinable = False
        return 0

    def do_x(self, t, s):
        if t.number == 0:
            return None
        t.ended = True
        self.left_behind(t, False)
        return 0

    do_X = do_x

    def do_n(self, t, s):
        return 0


def make_script(seed, with_rw):
    r = random.Random(seed)
    model, steps, results = Model(), [], []
    nlocks = r.choice([2, 3, 3, 4, 4, 5])
    pool = r.choice([list(range(12)), list(range(24))])
    if with_rw:
        pool = r.choice([list(RWLOCKS), list(range(6)) + list(RWLOCKS),
                         list(range(30, 36)), list(range(42))])
    locks = sorted(r.sample(pool, nlocks))
    max_threads = r.choice([2, 3, 3, 4, 5, 7])
    disorder = r.choice([0.03, 0.1, 0.3, 1.0])
    length = r.choice([20, 40, 40, 80, 120])
    odd = r.choice([0.0, 0.1, 0.3])
    renew = r.choice([0.0, 0.0, 0.05])
    spare = r.random() < 0.5         # threads come late

    def attempt(thread, what, a=0, b=0):
        s = Step(thread, what, a, b, r.randrange(8), r.randrange(4))
        rc = model.step(s)
        if rc is not None:
            steps.append(s)
            results.append(rc)
        return rc

    def way(m, *ways):
        """Of a mutex, a read-write lock, or a spin lock."""
        return ways[1 if m in RWLOCKS else 2 if m in SPINS else 0]

    def running():
        return [t for t in model.threads if not t.ended]

    def leave(t, sloppy):
        if not sloppy:
            for h in list(reversed(t.held)):
                release = way(h.lock[0], "u", "U", "z")
                while any(o.lock == h.lock for o in t.held):
                    attempt(t.number, release, h.lock[0])
        attempt(t.number, r.choice("xX"))

    for _ in range(20 * length):
        if len(steps) >= length:
            break
        t = r.choice(running())
        roll = r.random()
        if len(model.threads) < max_threads and \
                roll < (0.08 if spare else 0.5):
            attempt(t.number, "c", len(model.threads))
            continue
        if roll < 0.12 and t.number != 0 and len(model.threads) > 2:
            if r.random() < 0.25:
                leave(t, r.random() < 0.05)
            continue
        if roll < 0.2:
            others = [o.number for o in model.threads if o is not t and
                      o.joinable and o.number]
            if others:
                attempt(t.number, r.choice("jjJJd"), r.choice(others))
            continue
        if roll < 0.2 + renew:
            m = r.choice(locks)
            attempt(t.number, r.choice(way(m, "Dii", "BII", "y")), m,
                    r.choice([0, 0, 1, 2]))
            continue
        held = [h.lock[0] for h in t.held]
        if held and r.random() < 0.25 + 0.15 * len(held):
            m = r.choice(held)
            attempt(t.number, way(m, "u", "U", "z"), m)
            continue
        if held and r.random() < odd:
            m = r.choice(held)
            attempt(t.number, r.choice(way(m, "wv", "refRKQ", "S")), m)
            continue
        free = locks
        if held and r.random() >= disorder:
            free = [m for m in locks if m > max(held)] or locks[:0]
        if free:
            m = r.choice(free)
            usual, unusual = way(m, ("l", "tkqwu"), ("rW", "RefTKQ"),
                                 ("s", "S"))
            attempt(t.number,
                    r.choice(unusual if r.random() < odd else usual), m)
    for t in running()[1:]:
        leave(t, r.random() < 0.02)
    for o in model.threads[1:]:
        if o.joinable:
            attempt(0, r.choice("jJ"), o.number)
    attempt(0, "n")  # the process ends after everybody's last step
    return steps, results, model


def run(command, env=None):
    return subprocess.run(command, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60)


def read_records(folder):
    files = glob.glob(os.path.join(folder, "*.jsonl"))
    if len(files) != 1:
        raise ValueError("%d record files" % len(files))
    with open(files[0]) as f:
        return [json.loads(line) for line in f if line.strip()]


def map_of(output):
    """Where things lie, from what replay printed."""
    places = collections.defaultdict(list)
    results = []
    for line in output.decode().splitlines():
        words = line.split()
        if words[0] in ("inner", "outer"):
            places[words[0]].append(int(words[2], 16))
        elif words[0] == "locks":
            places["locks"].append([int(w, 0) for w in words[1:]])
        else:
            results.append(int(words[1]))
    return places, results


def which(functions, address):
    """The function an address lies in."""
    best = [i for i, f in enumerate(functions) if f <= address]
    return max(best, key=lambda i: functions[i]) if best else None


def check_sides(model, finding, lock_of, stack_of, complain):
    ring = finding["ring"]
    chosen = []
    for i, side in enumerate(ring):
        thread = side["thread"] - 1
        holds, wants = lock_of(side["holds"]), lock_of(side["wants"])
        queued = side["holds_mode"] == "queued"
        if wants != lock_of(ring[(i + 1) % len(ring)]["holds"]):
            complain("sides do not meet")
        held_at, wants_at = (stack_of(side[k])
                             for k in ("holds_stack", "wants_stack"))
        found = [
            o for o in model.occurrences
            if o.thread == thread and o.wanted[0] == wants and
            o.timed == (side["wait"] == "timed") and
            o.shared == (side["wants_mode"] == "shared") and
            (queued and o.queues and held_at == wants_at and holds == wants or
             any(h.lock[0] == holds and h.inner == held_at[0] and
                 h.shared == (side["holds_mode"] == "shared") and
                 held_at[1] in (None, h.outer) for h in o.held.values())) and
            o.inner == wants_at[0] and wants_at[1] in (None, o.outer)
        ]
        if not found:
            complain("side never happened: T%d holds %s at %s wants %s at %s"
                     % (thread, holds, held_at, wants, wants_at))
        chosen.append(thread)
    if finding["grade"] == "possible" and len(set(chosen)) != len(chosen):
        complain("possible, but one thread twice")


def compare(model, records, places):
    complaints = []
    locks, stacks, modules = {}, {}, {}
    for r in records:
        if r["type"] == "lock":
            locks[r["id"]] = int(r["address"], 16)
        elif r["type"] == "stack":
            stacks[r["id"]] = r["frames"]
        elif r["type"] == "module":
            modules[r["id"]] = int(r["base"], 16)

    def lock_of(number):
        base, size, first = max(p for p in places["locks"]
                                if p[0] <= locks[number])
        return first + (locks[number] - base) // size

    def stack_of(number):
        frames = [modules[f[0]] + f[1] - 1 for f in stacks[number]]
        inner = which(places["inner"], frames[0])
        return (inner,
                which(places["outer"], frames[1]) if len(frames) > 1 else None)

    got, misuses = {}, set()
    for f in records:
        if f["type"] != "finding":
            continue
        if f["kind"] not in ("LH001", "LH005"):
            misuses.add((f["kind"], lock_of(f["lock"]),
                         stack_of(f["stack"])[0]))
            continue
        ring = frozenset(
            ((lock_of(s["holds"]), s["holds_mode"] == "queued"),
             lock_of(s["wants"])) for s in f["ring"])
        if (f["kind"] == "LH005") != (len({w for _, w in ring}) == 1):
            complaints.append("%s for %s" % (f["kind"], sorted(ring)))
        got[ring] = got.get(ring, False) or f["grade"] == "possible"
        check_sides(model, f, lock_of, stack_of, complaints.append)
        if ring not in model.rings:
            complaints.append("FALSE: no such ring: %s" % sorted(ring))
        elif f["grade"] == "possible" and not model.rings[ring]:
            complaints.append("FALSE: only conditional: %s" % sorted(ring))
    if not model.crowded:
        for ring, possible in model.rings.items():
            if possible and not got.get(ring):
                complaints.append("MISSED: %s%s" % (
                    sorted(ring), " (conditional)" if ring in got else ""))
    for misuse in misuses - model.misuses - model.maybe:
        complaints.append("FALSE: %s of %s at %s" % misuse)
    # Once for each place, whichever lock it is.
    for kind, inner in {(k, i) for k, _, i in model.misuses} - \
            {(k, i) for k, _, i in misuses}:
        complaints.append("MISSED: %s at %s" % (kind, inner))
    if model.due and not got:
        complaints.append("MISSED: conditional rings")
    if records[-1]["type"] != "end":
        complaints.append("no end record")
    if any(r["type"] == "note" for r in records):
        complaints.append("a note")
    return complaints


def one(arguments):
    seed, options = arguments
    Model.refused_waits = not options.no_refused_waits
    steps, expected, model = make_script(seed, options.rw)
    folder = tempfile.mkdtemp(prefix="compare.")
    os.mkdir(os.path.join(folder, "records"))
    script = os.path.join(folder, "script")
    with open(script, "w") as f:
        f.write("".join("%d %s %d %d %d %d\n" % s for s in steps))
    env = dict(os.environ, LD_PRELOAD=options.preload,
               LOCKHOUND="dir=%s/records%s" % (folder, options.config))
    complaints = []
    try:
        ran = run([options.replay, script], env)
        if ran.returncode != 42:
            complaints.append("exit status %d" % ran.returncode)
        if ran.stderr and not re.search(rb"potential deadlock| LH01\d: ",
                                        ran.stderr):
            complaints.append("stderr: %r" % ran.stderr)
        if not complaints:
            places, results = map_of(ran.stdout)
            if results != expected:
                complaints += ["step %d %s: %d, not %d" % (i, s, a, e)
                               for i, (s, a, e) in enumerate(
                                   zip(steps, results, expected)) if a != e and
                               (s.what not in "wv" or a != 0)]  # spurious
            complaints += compare(
                model, read_records(os.path.join(folder, "records")), places)
    except subprocess.TimeoutExpired:
        complaints.append("hung")
    except Exception as e:
        complaints.append("%s: %s" % (type(e).__name__, e))
    if complaints and options.keep:
        kept = os.path.join(options.keep, str(seed))
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(folder, kept)
        with open(os.path.join(kept, "complaints"), "w") as f:
            f.write("\n".join(complaints) + "\n")
    shutil.rmtree(folder)
    return seed, complaints, len(model.rings), sum(model.rings.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", help="folder for what failed")
    parser.add_argument("--preload", required=True)
    parser.add_argument("--replay", default=os.path.join(HERE, "replay"))
    parser.add_argument("--config", default="", help="such as ,stacks=exact")
    parser.add_argument("--rw", action="store_true",
                        help="read-write locks and spin locks as well")
    parser.add_argument("--no-refused-waits", action="store_true",
                        help="no condition waits that return EPERM")
    options = parser.parse_args()
    options.preload = os.path.abspath(options.preload)
    failed = nrings = npossible = nwith = 0
    work = ((s, options) for s in
            range(options.first, options.first + options.count))
    with multiprocessing.Pool(options.jobs) as pool:
        for seed, complaints, rings, possible in pool.imap_unordered(
                one, work, chunksize=16):
            nrings += rings
            npossible += possible
            nwith += rings > 0
            failed += bool(complaints)
            for c in complaints:
                print("%d: %s" % (seed, c))
    print("%d scripts, %d with rings; %d rings, %d possible; %d disagree"
          % (options.count, nwith, nrings, npossible, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
