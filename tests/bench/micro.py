# SPDX-License-Identifier: MIT
"""micro.py - what a lock/unlock pair costs: alone, watched, under rivals."""

import glob
import os
import shutil
import statistics
import subprocess
import time

from harness import (ROOT, Failure, environment, line, output, verdict,
                     watched)

# Mode of the program, goal for its ratio or None. Modes of `locks`, kinds of
# lock of `kinds`, or a program of its own, which may not be built.
MODES = [
    ("one", 1.5),
    ("nested2", None),
    ("nested4", 2.0),
    ("nested8", None),
    ("calls4", None),
    ("private-40", 1.5),
    ("private-64", 1.5),
    ("private-256", 1.5),
    ("private-1024", 1.5),
    ("private-4096", 1.5),
    ("contended0", 1.2),
    ("contended500", 1.2),
    ("many", None),
    ("free", None),
    ("free-beside", None),
    ("rwlock-read", 1.6),
    ("rwlock-write", 1.6),
    ("spin", 1.6),
    ("semaphore", 1.6),
    ("recursive", 1.6),
    ("c11", 1.6),
    ("std_mutex", 1.6),
    ("gmutex", 1.6),
    ("life", None),
]
KINDS = ("rwlock-read", "rwlock-write", "spin", "semaphore", "recursive",
         "c11", "life")
ALONE = ("std_mutex", "gmutex")
FREE_GOAL_NS = 3
STARTUP_GOAL_MS = 2
STARTUP_PAIRS = 15  # for each round


def find_dyndd():
    """The path of LLVM's preloadable detector, or None."""
    name = "libclang_rt.dyndd-x86_64.so"
    found = []
    clang = shutil.which("clang")
    if clang:
        said = subprocess.run([clang, "-print-file-name=" + name],
                              stdout=subprocess.PIPE, check=False).stdout
        found.append(said.decode().strip())
    found += glob.glob("/usr/lib/llvm-*/lib/clang/*/lib/linux/" + name)
    return next((p for p in found if os.path.isfile(p)), None)


def build_tsan(options, name):
    """The same source under ThreadSanitizer: its path, or None."""
    source = os.path.join(ROOT, "tests", "bench", name + ".c")
    target = os.path.join(options.scratch, name + "-tsan")
    command = ["gcc", "-D_GNU_SOURCE", "-std=gnu11", "-O2", "-g", "-pthread",
               "-fno-omit-frame-pointer", "-fsanitize=thread", "-o", target,
               source]
    try:
        done = subprocess.run(command, stderr=subprocess.DEVNULL, check=False)
    except OSError:
        return None
    return target if done.returncode == 0 else None


class Column:
    """One way of running the program: a command, an environment, rounds."""

    def __init__(self, name, command, env, nrounds):
        self.name = name
        self.command = command
        self.env = env
        self.nrounds = nrounds

    def measure(self, arguments):
        """Nanoseconds, and whether something disturbed the whole run."""
        words = output(self.command + arguments, self.env, 120).split()
        return float(words[0]), len(words) > 1


def best_of(values):
    """The least undisturbed value; of disturbed ones none is a best one."""
    clean = [ns for ns, busy in values if not busy]
    return min(clean) if clean else statistics.median(v[0] for v in values)


def program_of(mode):
    """The program that measures a mode, and its arguments."""
    if mode in ALONE:
        return mode, []
    return ("kinds" if mode in KINDS else "locks"), [mode]


def columns(options, name):
    """The ways of running a program; none if it was not built."""
    program = os.path.join(options.build, "bench", name)
    if not os.path.isfile(program):
        return []
    n = options.rounds
    found = [Column("plain", [program], environment(), n),
             Column("lockhound", [program], watched(options), n)]
    if options.no_rivals:
        return found
    dyndd = find_dyndd()
    if dyndd:
        found.append(Column("dyndd", [program],
                            environment(LD_PRELOAD=dyndd), n))
    tsan = build_tsan(options, name) if name not in ALONE else None
    if tsan:
        # Its shadow memory cannot live with every layout of the addresses.
        fixed = ["setarch", "-R"] if shutil.which("setarch") else []
        found.append(Column("tsan", fixed + [tsan], environment(), n))
    if shutil.which("valgrind"):
        found.append(Column(
            "helgrind",
            ["valgrind", "--tool=helgrind", "--fair-sched=yes",
             "--log-file=/dev/null", program],
            environment(BENCH_MS="300"), options.helgrind_rounds))
    return found


def run_mode(mode, cols):
    """Every column's values, one of each in turn; None for what failed."""
    values = {c.name: [] for c in cols}
    for i in range(max(c.nrounds for c in cols)):
        # Who goes first alternates: heat and clocks favour no side.
        two = cols[:2] if i % 2 == 0 else cols[1::-1]
        for c in two + cols[2:]:
            if i >= c.nrounds or values[c.name] is None:
                continue
            try:
                values[c.name].append(c.measure(program_of(mode)[1]))
            except Failure as e:
                if c in cols[:2]:
                    raise
                line("locks.%s.%s" % (mode, c.name), "failed", "", str(e))
                values[c.name] = None
    return values


def measure_mode(_options, mode, goal, cols):
    """Prints the figures of a mode and returns its row of the table."""
    if not cols:
        line("locks.%s" % mode, "skipped", "", "not built")
        return None
    values = run_mode(mode, cols)
    best = {k: best_of(v) for k, v in values.items() if v}
    for name, ns in best.items():
        nbusy = sum(busy for _, busy in values[name])
        line("locks.%s.%s" % (mode, name), "%.2f" % ns, "ns",
             "%d of %d runs disturbed" % (nbusy, len(values[name]))
             if nbusy else "")
    ratio = best["lockhound"] / best["plain"]
    median = statistics.median(
        w[0] / p[0] for p, w in zip(values["plain"], values["lockhound"]))
    line("locks.%s.ratio" % mode, "%.2f" % ratio, "x",
         verdict(ratio, goal) if goal else "")
    line("locks.%s.ratio.median" % mode, "%.2f" % median, "x")
    if mode == "free":
        cost = best["lockhound"] - best["plain"]
        line("locks.free.cost", "%.2f" % cost, "ns", verdict(cost, FREE_GOAL_NS))
    return mode, goal, best, ratio, median


def print_table(rows, cols):
    rivals = [c.name for c in cols[2:]]
    print()
    print("ns a lock/unlock pair, best of %d; median is that of the ratios of"
          % cols[0].nrounds)
    print("neighbouring runs")
    print()
    print(" ".join(["%-14s %9s %10s %6s %7s %5s %-6s" % (
        "", "plain", "lockhound", "ratio", "median", "goal", "")] +
                   ["%10s" % r for r in rivals]).rstrip())
    for mode, goal, best, ratio, median in rows:
        mark = "" if goal is None else "met" if ratio <= goal else "MISSED"
        print(" ".join(["%-14s %9.2f %10.2f %6.2f %7.2f %5s %-6s" % (
            mode, best["plain"], best["lockhound"], ratio, median,
            goal or "", mark)] +
                       ["%10s" % ("%.1f" % best[r] if r in best else "failed")
                        for r in rivals]).rstrip())
    print(flush=True)


def measure_locks(options):
    chosen = [m for m in MODES if options.wants("locks." + m[0])]
    if not chosen:
        return
    cols = {name: columns(options, name)
            for name in {program_of(mode)[0] for mode, _ in chosen}}
    rows = [options.attempt("locks." + mode, measure_mode, mode, goal,
                            cols[program_of(mode)[0]])
            for mode, goal in chosen]
    rows = [r for r in rows if r]
    if rows:
        print_table(rows, max(cols.values(), key=len))


def time_process(command, env):
    """Milliseconds from the start of a process until it is gone."""
    start = time.perf_counter()
    pid = os.posix_spawn(command[0], command, env)
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise Failure("%s: status %d" % (command[0], status))
    return 1000 * (time.perf_counter() - start)


def measure_startup(options):
    command = [os.path.join(options.build, "bench", "locks"), "startup"]
    envs = [environment(), watched(options)]
    times = [[], []]
    for i in range(STARTUP_PAIRS * options.rounds + 1):
        for side in ((0, 1) if i % 2 == 0 else (1, 0)):
            ms = time_process(command, envs[side])
            if i > 0:  # the first pair reads the files from disk
                times[side].append(ms)
    cost = statistics.median(w - p for p, w in zip(*times))
    line("startup.plain", "%.3f" % statistics.median(times[0]), "ms")
    line("startup.lockhound", "%.3f" % statistics.median(times[1]), "ms")
    line("startup.cost", "%.3f" % cost, "ms", verdict(cost, STARTUP_GOAL_MS))
