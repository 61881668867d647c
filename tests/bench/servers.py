# SPDX-License-Identifier: MIT
"""servers.py - the throughput of real servers, alone and watched."""

import os
import re
import shutil
import socket
import time

from harness import (Failure, environment, line, median_interval, output,
                     verdict, watched)

GOAL = 0.97
HOST = "127.0.0.1"


def free_port():
    with socket.socket() as s:
        s.bind((HOST, 0))
        return s.getsockname()[1]


def wait_until_ready(process, port):
    for _ in range(2000):
        if process.poll() is not None:
            raise Failure("%s ended with status %d" % (
                os.path.basename(process.args[0]), process.returncode))
        try:
            socket.create_connection((HOST, port), 1).close()
            return
        except OSError:
            time.sleep(0.005)
    raise Failure("%s does not listen" % os.path.basename(process.args[0]))


class Memcached:
    name = "memcached"
    programs = ("memcached",)

    def __init__(self, options):
        self.client = os.path.join(options.build, "bench", "memcached_load")
        self.nrequests = options.requests or 500000

    def server(self, port):
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        return [shutil.which("memcached"), "-l", HOST, "-p", str(port),
                "-U", "0"] + user

    def throughput(self, port):
        return float(output([self.client, HOST, str(port),
                             str(self.nrequests)], environment()).split()[0])


class Redis:
    name = "redis"
    programs = ("redis-server", "redis-benchmark")

    def __init__(self, options):
        self.nrequests = options.requests or 100000

    def server(self, port):
        return [shutil.which("redis-server"), "--bind", HOST, "--port",
                str(port), "--save", "", "--appendonly", "no"]

    def throughput(self, port):
        said = output(["redis-benchmark", "-h", HOST, "-p", str(port), "-t",
                       "set,get", "-n", str(self.nrequests), "-q"],
                      environment())
        rates = [float(r) for r in
                 re.findall(r"[SG]ET: ([0-9.]+) requests per second", said)]
        if len(rates) != 2:
            raise Failure("redis-benchmark said: " + said.strip()[-200:])
        # As many of one as of the other: the rate of all together.
        return 2 / (1 / rates[0] + 1 / rates[1])


def processor_seconds(process):
    with open("/proc/%d/stat" % process.pid) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_once(options, kind, env):
    """Requests a second of a fresh server and of one that has served as many
    before, and the latter's processor microseconds for each."""
    port = free_port()
    log = os.path.join(options.scratch, kind.name + ".log")
    with open(log, "wb") as f:
        process = options.cleanup.start(kind.server(port), env,
                                        options.scratch, f)
    try:
        wait_until_ready(process, port)
        first = kind.throughput(port)
        before = processor_seconds(process)
        rate = kind.throughput(port)
        seconds = processor_seconds(process) - before
        if process.poll() is not None:
            raise Failure("the server ended under load")
    finally:
        options.cleanup.stop(process)
    return rate, 1e6 * seconds / kind.nrequests, first


def report_ratio(name, ratios, goal):
    median, low, high, sure = median_interval(ratios)
    line(name, "%.4f" % median, "x", "%.4f to %.4f with %.1f %%%s" % (
        low, high, sure, ", " + verdict(median, goal, True) if goal else ""))


def measure_server(options, kind):
    name = "server." + kind.name
    missing = [p for p in kind.programs if not shutil.which(p)]
    if missing:
        line(name, "skipped", "", "no " + " ".join(missing))
        return
    envs = [environment(), watched(options)]
    runs = [[], []]
    measure_once(options, kind, envs[0])  # warms the machine, not counted
    for i in range(options.pairs):
        for side in ((0, 1) if i % 2 == 0 else (1, 0)):
            runs[side].append(measure_once(options, kind, envs[side]))
    for side, what in enumerate(("plain", "lockhound")):
        line("%s.%s" % (name, what), "%.0f" %
             median_interval([r[0] for r in runs[side]])[0], "req/s")
    report_ratio(name + ".throughput",
                 [w[0] / p[0] for p, w in zip(*runs)], GOAL)
    report_ratio(name + ".first-load",
                 [w[2] / p[2] for p, w in zip(*runs)], None)
    report_ratio(name + ".processor",
                 [w[1] / p[1] for p, w in zip(*runs)], None)


def measure_servers(options):
    for kind in (Memcached(options), Redis(options)):
        options.attempt("server." + kind.name, measure_server, kind)
