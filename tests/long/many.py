#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the records of a process with many findings, in the shape of real ones.

Each finding is one of the recorded runs, with locks and stacks of its own whose
frames are calls in the given ELF files, as of a large server: threads come from
a pool, stacks share their outer parts, and most orders are in no ring."""

import argparse
import copy
import json
import random
import re
import subprocess

REFERENCES = {"holds_stack": "stack", "wants_stack": "stack", "stack": "stack",
              "init": "stack", "first": "stack", "lock": "lock", "holds": "lock",
              "wants": "lock", "dependency": "dependency", "finding": "finding"}


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--findings", type=int, default=10000, metavar="N")
    parser.add_argument("--megabytes", type=float, default=100, metavar="N")
    parser.add_argument("--run", action="append", required=True, metavar="FILE",
                        help="a recorded run, as a pattern")
    parser.add_argument("--out", required=True, metavar="FILE")
    parser.add_argument("elf", nargs="+", help="with debug information")
    return parser.parse_args()


def build_id(path):
    notes = subprocess.run(["readelf", "-n", path], check=True, text=True,
                           capture_output=True).stdout
    found = re.search(r"Build ID: ([0-9a-f]+)", notes)
    return found[1] if found else ""


def return_addresses(path):
    """Where the calls in a file return to."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path],
                             check=True, text=True, capture_output=True).stdout
    found = re.findall(r"\tcall .*\n +([0-9a-f]+):", listing)
    return [int(address, 16) for address in found]


def variables(path):
    """Static variables that can hold a lock."""
    listing = subprocess.run(["nm", "-S", path], check=True, text=True,
                             capture_output=True).stdout
    found = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [bBdD] ", listing, re.M)
    return [int(address, 16) for address, size in found if int(size, 16) >= 40]


class Pattern:
    """A finding of a recorded run, with the records that it refers to."""

    def __init__(self, records, finding):
        wanted = [("dependency", s["dependency"]) for s in finding["ring"]]
        locks = {s["holds"] for s in finding["ring"]}
        wanted += [("lock", lock) for lock in sorted(locks)]
        by_id = {(r["type"], r.get("id")): r for r in records}
        self.records = [by_id[w] for w in wanted if w in by_id] + [finding]


def patterns(path):
    with open(path, encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [Pattern(records, r) for r in records if r["type"] == "finding"]


class Writer:
    NTHREADS = 64

    def __init__(self, options):
        self.random = random.Random(1)
        self.out = open(options.out, "w", encoding="utf-8")
        self.size = 0
        self.ids = {"stack": 0, "lock": 0, "dependency": 0, "finding": 0}
        self.calls, self.statics = [], []
        self.begin(options)
        self.outer = [[self.call() for _ in range(self.random.randint(3, 20))]
                      for _ in range(400)]

    def put(self, record):
        text = json.dumps(record, separators=(",", ":"))
        self.size += len(text) + 1
        self.out.write(text + "\n")

    def begin(self, options):
        with open(options.run[0], encoding="utf-8") as lines:
            process = json.loads(next(lines))
        self.put({**process, "exe": options.elf[0], "args": [options.elf[0]]})
        for n, path in enumerate(options.elf, 1):
            self.put({"type": "module", "id": n, "path": path,
                      "base": hex(0x550000000000 + (n << 32)),
                      "build_id": build_id(path)})
            self.calls += [[n, offset] for offset in return_addresses(path)]
            self.statics += [[n, offset] for offset in variables(path)]
        for n in range(1, self.NTHREADS + 1):
            self.put({"type": "thread", "id": n, "tid": process["pid"] + n - 1,
                      **({"creator": 1, "start": self.call()} if n > 1 else {})})

    def call(self):
        return self.random.choice(self.calls)

    def new(self, kind):
        self.ids[kind] += 1
        return self.ids[kind]

    def stack(self):
        inner = [self.call() for _ in range(self.random.randint(1, 4))]
        n = self.new("stack")
        self.put({"type": "stack", "id": n,
                  "frames": inner + self.random.choice(self.outer)})
        return n

    def address(self, lock):
        return hex(0x7f0000000000 + lock * 64)

    def lock(self):
        n = self.new("lock")
        self.put({"type": "lock", "id": n, "kind": "mutex", "subtype": "normal",
                  "address": self.address(n), "init": self.stack()})
        return n

    def order(self):
        """Of an earlier lock and one that comes later: no ring."""
        holds = self.random.randint(max(1, self.ids["lock"] - 500), self.ids["lock"])
        self.dependency(holds, self.lock())

    def dependency(self, holds, wants):
        n = self.new("dependency")
        self.put({"type": "dependency", "id": n,
                  "thread": self.random.randint(2, self.NTHREADS), "wants": wants,
                  "mode": "exclusive", "wait": "block", "stack": self.stack(),
                  "holds": [{"lock": holds, "mode": "exclusive",
                             "stack": self.stack()}]})
        self.put({"type": "count", "dependency": n, "threads": 1,
                  "times": self.random.randint(1, 9999)})

    def finding(self, pattern):
        """The pattern once more, with numbers that are new."""
        known = {}
        first = self.random.randint(2, self.NTHREADS - 8)

        def renumber(kind, old):
            if (kind, old) not in known:
                known[kind, old] = (self.stack() if kind == "stack" and old else
                                    self.new(kind) if old else 0)
            return known[kind, old]

        def change(value, kind):
            for key, old in value.items():
                if isinstance(old, list):
                    for item in old:
                        if isinstance(item, dict):
                            change(item, None)
                elif key == "id":
                    value[key] = renumber(kind, old)
                elif key == "thread":
                    value[key] = first + old
                elif key in REFERENCES:
                    value[key] = renumber(REFERENCES[key], old)
            if kind == "lock":
                value["address"] = self.address(value["id"])
                if self.statics and value.pop("static", None):
                    self.place(value)

        for record in pattern.records:
            record = copy.deepcopy(record)
            change(record, record["type"])
            self.put(record)

    def place(self, lock):
        """Statics are few; most locks are in objects."""
        if self.random.random() < 0.1:
            lock["static"] = self.statics.pop()
        else:
            lock.pop("first", None)
            lock["init"] = self.stack()

    def end(self):
        self.put({"type": "end", "locks": self.ids["lock"],
                  "threads": self.NTHREADS, "orders": self.ids["dependency"],
                  "dependencies": self.ids["dependency"]})
        self.out.close()


def main():
    options = parse()
    kinds = [p for path in options.run for p in patterns(path)]
    writer = Writer(options)
    for n in range(options.findings):
        writer.finding(kinds[n % len(kinds)])
        while writer.size < (n + 1) * options.megabytes * 1e6 / options.findings:
            writer.order()
    writer.end()


if __name__ == "__main__":
    main()
