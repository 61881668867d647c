# SPDX-License-Identifier: MIT
"""report.py - what a report of 100 MB of records with 10 000 findings costs."""

import os
import shutil
import subprocess
import sys
import time

from harness import ROOT, Failure, environment, line, output, verdict

FORMATS = ("text", "short", "json", "sarif", "junit", "dot", "html")
RUNS = ("ring", "ring", "ring", "runs/dining", "runs/hang", "runs/timeout")
MOST_S, MOST_MB = 5, 500


def make_records(options):
    """The records of tests/long/many.bats, about copies of the programs."""
    path = os.path.join(options.scratch, "many.jsonl")
    command = [sys.executable, os.path.join(ROOT, "tests", "long", "many.py"),
               "--out", path]
    for run in RUNS:
        command += ["--run", os.path.join(ROOT, "tests", "run", "records",
                                          run + ".jsonl")]
    for name in ("lockhound", "liblockhound.so", "examples/broken_dining"):
        command.append(shutil.copy(os.path.join(options.build, name),
                                   options.scratch))
    output(command, environment(), 300)
    return path


def report(options, form, records):
    """Seconds and megabytes; wait4 has the peak of this child alone."""
    command = [os.path.join(options.build, "lockhound"), "report", "--all",
               "--format=" + form, "-o", os.path.join(options.scratch, form),
               records]
    start = time.monotonic()
    child = subprocess.Popen(command, env=environment(),
                             stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    took = time.monotonic() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 67:
        raise Failure("report: exit status %d" % child.returncode)
    return took, usage.ru_maxrss * 1024 / 1e6


def measure_format(options, form, records):
    figures = [report(options, form, records) for _ in range(3)]
    seconds = min(f[0] for f in figures)
    megabytes = max(f[1] for f in figures)
    line("report.%s" % form, "%.2f" % seconds, "s", verdict(seconds, MOST_S))
    line("report.%s.memory" % form, "%.0f" % megabytes, "MB",
         verdict(megabytes, MOST_MB))


def measure_report(options):
    wanted = [f for f in FORMATS if options.wants("report." + f)]
    records = (options.attempt("report." + wanted[0], make_records)
               if wanted else None)
    for form in wanted if records else []:
        options.attempt("report." + form, measure_format, form, records)
