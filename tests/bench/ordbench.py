# SPDX-License-Identifier: MIT
"""ordbench.py - what libord costs beside the same written with pthreads."""

import os
import statistics

from harness import environment, line, output

MODES = ("mutex", "rwlock", "queue", "pool", "counter-sharded",
         "counter-locked")
MEETING = ("queue", "counter-sharded", "counter-locked")
SIDES = ("plain", "ord")


def settle(mode, values):
    """
    The least value, as noise only adds. Not so where two threads meet: there
    the least is of a run in which something kept them from it.
    """
    if mode in MEETING:
        return statistics.median(values)
    return min(values)


def measure_mode(options, mode):
    """Prints the figures of a mode and returns its row of the table."""
    program = os.path.join(options.build, "bench", "ord")
    values = {side: [] for side in SIDES}
    for i in range(options.rounds):
        # Who goes first alternates: heat and clocks favour no side.
        for side in SIDES if i % 2 == 0 else SIDES[::-1]:
            said = output([program, mode, side], environment())
            values[side].append(float(said))
    best = {side: settle(mode, values[side]) for side in SIDES}
    ratio = best["ord"] / best["plain"]
    median = statistics.median(
        o / p for p, o in zip(values["plain"], values["ord"]))
    for side in SIDES:
        line("ord.%s.%s" % (mode, side), "%.2f" % best[side], "ns")
    line("ord.%s.ratio" % mode, "%.2f" % ratio, "x")
    line("ord.%s.ratio.median" % mode, "%.2f" % median, "x")
    return mode, best, ratio, median


def print_table(rows, nrounds):
    print()
    print("ns an operation, best of %d (queue, counters: their median);"
          % nrounds)
    print("median is that of the ratios of neighbouring runs")
    print()
    print("%-16s %9s %9s %6s %7s" % ("", "plain", "ord", "ratio", "median"))
    for mode, best, ratio, median in rows:
        print("%-16s %9.2f %9.2f %6.2f %7.2f" % (
            mode, best["plain"], best["ord"], ratio, median))
    print(flush=True)


def measure_ord(options):
    rows = [options.attempt("ord." + mode, measure_mode, mode)
            for mode in MODES]
    rows = [r for r in rows if r]
    if rows:
        print_table(rows, options.rounds)
