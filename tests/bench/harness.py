# SPDX-License-Identifier: MIT
"""harness.py - runs programs, alone and watched, and prints what they took."""

import math
import os
import signal
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))


class Failure(Exception):
    """A program that could not be measured, in one line."""


def environment(**extra):
    """This process's environment without what would watch or change a run."""
    drop = ("LD_PRELOAD", "LOCKHOUND", "TSAN_OPTIONS", "DSAN_OPTIONS")
    env = {k: v for k, v in os.environ.items() if k not in drop}
    env["LC_ALL"] = "C"
    env.update(extra)
    return env


def watched(options, **extra):
    """The environment of a run under the preload."""
    return environment(LD_PRELOAD=options.preload, LOCKHOUND="print=none",
                       **extra)


def output(command, env, seconds=60):
    """Standard output of a command that must exit 0 within some seconds."""
    try:
        run = subprocess.run(command, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             timeout=seconds, check=False)
    except OSError as e:
        raise Failure(str(e)) from e
    except subprocess.TimeoutExpired as e:
        raise Failure("%s: no end after %d s" % (
            os.path.basename(command[0]), seconds)) from e
    if run.returncode != 0:
        said = run.stderr.decode(errors="replace").strip().splitlines()
        raise Failure("%s: exit status %d%s" % (
            os.path.basename(command[0]), run.returncode,
            ", " + said[-1] if said else ""))
    return run.stdout.decode(errors="replace")


def line(name, value, unit, remark=""):
    """Prints one figure; scripts read the first three words."""
    print(("%-34s %12s %-6s %s" % (name, value, unit, remark)).rstrip(),
          flush=True)


def verdict(value, limit, at_least=False):
    """How a figure compares with its goal, as the words behind it."""
    met = value >= limit if at_least else value <= limit
    return "goal %s %.10g: %s" % (">=" if at_least else "<=", limit,
                               "met" if met else "MISSED")


def median_interval(values):
    """
    The median, and an interval that holds the true one with the returned
    probability, at least 95 % where there are enough values: order statistics,
    as each value lies above the true median with probability one half.
    """
    values = sorted(values)
    n = len(values)
    rank, outside = 1, 2 * 0.5 ** n
    while rank < n // 2:
        tail = 2 * sum(math.comb(n, i) for i in range(rank + 1)) * 0.5 ** n
        if tail > 0.05:
            break
        rank, outside = rank + 1, tail
    return (statistics.median(values), values[rank - 1], values[n - rank],
            100 * (1 - outside))


class Cleanup:
    """Processes that must not outlive this one, whatever ends it."""

    def __init__(self):
        self.running = []
        self.handle(self.interrupted)

    def handle(self, handler):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, handler)

    def start(self, command, env, directory, log):
        process = subprocess.Popen(
            command, env=env, cwd=directory, stdin=subprocess.DEVNULL,
            stdout=log, stderr=log)
        self.running.append(process)
        return process

    def stop(self, process):
        """Ends a process; returns the processor seconds that it used."""
        seconds = 0.0
        if process.returncode is None:
            process.kill()
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            seconds = used.ru_utime + used.ru_stime
        self.running.remove(process)
        return seconds

    def stop_all(self):
        for process in list(self.running):
            self.stop(process)

    def interrupted(self, number, _frame):
        # The normal way out then runs every `finally`, once: timeout(1)
        # sends its signal twice.
        self.handle(signal.SIG_IGN)
        sys.exit(128 + number)
