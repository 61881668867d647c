# SPDX-License-Identifier: MIT
"""scale.py - many locks, many orders, a long ring."""

import glob
import json
import os
import subprocess
import time

from harness import Failure, environment, line, output, verdict, watched

NLOCKS = 1000000
NEDGES = 1000000
NRING = 1000
# How many locks share the edges: few make a dense order, which soon settles;
# ten edges a lock is where keeping an order is hardest.
SHARED_BY = (10000, 100000, 1000000)
REPEAT = 3
GOAL_BYTES = 200
GOAL_FLAT = 2


def run_scale(options, env, *arguments):
    """The program's figures by name."""
    program = os.path.join(options.build, "bench", "scale")
    said = output([program] + [str(a) for a in arguments], env, 180)
    return {w[0]: float(w[1]) for w in map(str.split, said.splitlines())}


def compare(options, *arguments):
    """The least of each figure, alone and watched: noise only adds."""
    alone, seen = {}, {}
    for _ in range(REPEAT):
        for best, env in ((alone, environment()), (seen, watched(options))):
            for k, v in run_scale(options, env, *arguments).items():
                best[k] = min(v, best.get(k, v))
    return alone, seen


def measure_edges(options, nlocks):
    """Returns the bytes that an edge takes, or None where locks weigh too."""
    name = "scale.edges-%d" % nlocks
    alone, seen = compare(options, "edges", nlocks, NEDGES)
    for i in range(1, 11):
        key = "tenth%d" % i
        line("%s.%s" % (name, key), "%.0f" % seen[key], "ns",
             "alone %.0f" % alone[key])
    flat = seen["tenth10"] / seen["tenth1"]
    line(name + ".last/first", "%.2f" % flat, "x", verdict(flat, GOAL_FLAT))
    each = (seen["memory"] - alone["memory"]) / NEDGES
    if nlocks > NEDGES / 10:
        # Too many locks to be lost among the edges: both have their share.
        both = GOAL_BYTES * (1 + nlocks / NEDGES)
        line(name + ".memory", "%.0f" % each, "bytes",
             "an edge and its %g locks, %s" % (nlocks / NEDGES,
                                              verdict(each, both)))
        return None
    line(name + ".memory", "%.0f" % each, "bytes",
         "an edge, " + verdict(each, GOAL_BYTES))
    return each


def measure_locks(options, edge_bytes):
    """A lock becomes known by one order, whose share is known from edges."""
    alone, seen = compare(options, "locks", NLOCKS)
    each = (seen["memory"] - alone["memory"]) / NLOCKS
    line("scale.locks.time", "%.0f" % seen["time"], "ns",
         "alone %.0f" % alone["time"])
    line("scale.locks.memory", "%.0f" % each, "bytes",
         "a lock and its one order, " + verdict(each, 2 * GOAL_BYTES))
    if edge_bytes is not None:
        line("scale.locks.memory.lock", "%.0f" % (each - edge_bytes), "bytes",
             "a lock, " + verdict(each - edge_bytes, GOAL_BYTES))


def measure_known(options):
    """That the figures are of edges kept, not of edges dropped."""
    records = os.path.join(options.scratch, "known")
    os.makedirs(records)
    program = os.path.join(options.build, "bench", "scale")
    output([program, "edges", str(SHARED_BY[0]), str(NEDGES)],
           environment(LD_PRELOAD=options.preload,
                       LOCKHOUND="print=none,dir=" + records), 180)
    known = 0
    for path in glob.glob(os.path.join(records, "*")):
        with open(path, encoding="utf-8", errors="replace") as f:
            for text in f:
                if '"type":"end"' in text:
                    known += json.loads(text)["orders"]
        os.remove(path)  # it is large
    line("scale.known", "%d" % known, "edges",
         verdict(known, NEDGES, at_least=True))


def ring_by_tool(options, tool, program):
    records = os.path.join(options.scratch, "ring")
    done = subprocess.run(
        [tool, "run", "--dir=" + records, "--", program, "ring", str(NRING)],
        env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=180, check=False)
    if done.returncode != 66:
        raise Failure("exit status %d, not 66" % done.returncode)


def ring_by_records(options, program):
    records = os.path.join(options.scratch, "ring")
    os.makedirs(records, exist_ok=True)
    output([program, "ring", str(NRING)],
           environment(LD_PRELOAD=options.preload,
                       LOCKHOUND="print=none,dir=" + records), 180)
    text = ""
    for path in glob.glob(os.path.join(records, "*")):
        with open(path, encoding="utf-8", errors="replace") as f:
            text += f.read()
    if "LH001" not in text:
        raise Failure("no LH001 in the records")


def measure_ring(options):
    program = os.path.join(options.build, "bench", "scale")
    tool = os.path.join(options.build, "lockhound")
    start = time.perf_counter()
    try:
        if os.access(tool, os.X_OK):
            ring_by_tool(options, tool, program)
        else:
            ring_by_records(options, program)
        found = "found"
    except (Failure, subprocess.TimeoutExpired) as e:
        found = "MISSED: %s" % e
    line("scale.ring-%d" % NRING, "%.2f" % (time.perf_counter() - start), "s",
         found)


def measure_scale(options):
    shares = [options.attempt("scale.edges-%d" % n, measure_edges, n)
              for n in SHARED_BY]
    options.attempt("scale.known", measure_known)
    options.attempt("scale.locks", measure_locks, shares[0])
    options.attempt("scale.ring", measure_ring)
