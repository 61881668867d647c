#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the names of locks in a JSON report with those in a source file.

usage: check.py SOURCE REPORT

In a comment of the source, "name: X" is the name of one lock, and "may: X" that
of one which may have the name of its place instead; the name "mutex@" stands
for the place of that line. No lock has any other name.
"""
import json
import os
import re
import sys


def expected(path):
    sure, maybe = [], []
    with open(path) as source:
        for number, line in enumerate(source, 1):
            found = re.search(r"(?:/\*|//) (name|may): (\S+)", line)
            if not found:
                continue
            name = found.group(2)
            if name.endswith("@"):
                name = f"{name}{os.path.basename(path)}:{number}"
            (sure if found.group(1) == "name" else maybe).append(name)
    return sure, maybe


def main():
    sure, maybe = expected(sys.argv[1])
    with open(sys.argv[2]) as report:
        locks = {lock["id"]: lock["name"]
                 for finding in json.load(report)["findings"]
                 for lock in finding["locks"] if lock["origin"].find("static") < 0}
    got = [re.sub(r"@.*/", "@", re.sub(r" #\d+$", "", name))
           for name in locks.values()]
    bad = []
    for name in sure:
        if name in got:
            got.remove(name)
        else:
            bad.append(f"no lock is called {name}")
    for name in got:
        if name in maybe:
            maybe.remove(name)
        elif "@" not in name or not maybe:
            bad.append(f"a lock is called {name}")
        else:
            maybe.pop()
    print("\n".join(bad))
    return 1 if bad or not sure else 0


sys.exit(main())
