# SPDX-License-Identifier: MIT
"""Checks record files against lockhound-records(5)."""
import json
import sys

INT, TEXT, LIST, BOOL = int, str, list, bool
TYPES = {  # keys, then optional keys
    "process": ({"lockhound": INT, "pid": INT, "ppid": INT, "exe": TEXT, "args": LIST, "time": INT,
                 "version": TEXT}, {"forked_from": INT, "fork": INT}),
    "module": ({"id": INT, "path": TEXT, "base": TEXT}, {"build_id": TEXT}),
    "thread": ({"id": INT, "tid": INT},
               {"creator": INT, "joined_by": INT, "name": TEXT, "start": LIST}),
    "lock": ({"id": INT, "kind": TEXT, "address": TEXT},
             {"subtype": TEXT, "static": LIST, "name": TEXT, "rank": INT, "init": INT, "first": INT,
              "object": LIST}),
    "stack": ({"id": INT, "frames": LIST}, {"partial": BOOL, "truncated": BOOL}),
    "dependency": ({"id": INT, "thread": INT, "wants": INT, "mode": TEXT, "wait": TEXT, "stack": INT,
                    "holds": LIST}, {}),
    "fork": ({"thread": INT, "fork": INT}, {}),
    "reaped": ({"thread": INT, "fork": INT}, {}),
    "finding": ({"id": INT, "kind": TEXT, "grade": TEXT},
                {"ring": LIST, "reasons": LIST, "thread": INT, "lock": INT, "stack": INT, "detail": TEXT, "holder": INT, "holder_stack": INT, "other": INT}),
    "count": ({}, {"dependency": INT, "times": INT, "threads": INT, "finding": INT, "rings": INT}),
    "note": ({"code": TEXT, "text": TEXT}, {}),
    "end": ({"locks": INT, "threads": INT, "orders": INT, "dependencies": INT}, {}),
}
SIDE = {"dependency": "dependency", "thread": "thread", "holds": "lock", "holds_stack": "stack",
        "wants": "lock", "wants_stack": "stack"}
bad = []


def check(path):
    def complain(text):
        bad.append("%s: %s" % (path, text))

    seen = {t: set() for t in TYPES}
    wanted = []

    def refer(kind, number, line):
        wanted.append((kind, number, line))

    def frames(list_, line):
        for module, _ in list_:
            if module:
                refer("module", module, line)

    lines = open(path, "rb").read().decode("utf-8").split("\n")
    if lines[-1] != "":
        complain("the last line has no end")
    for n, text in enumerate(lines[:-1], 1):
        try:
            r = json.loads(text)
        except ValueError as e:
            complain("line %d: %s" % (n, e))
            continue
        kind = r.get("type")
        if (n == 1) != (kind == "process"):
            complain("line %d: the process record is the first" % n)
        if kind not in TYPES:
            complain("line %d: type %r" % (n, kind))
            continue
        required, optional = TYPES[kind]
        for key in required:
            if key not in r:
                complain("line %d: no %s" % (n, key))
        for key, value in r.items():
            want = {**required, **optional, "type": str}.get(key)
            if want is None or type(value) is not want:
                complain("line %d: %s is %r" % (n, key, value))
        if "id" in r:
            seen[kind].add(r["id"])
        if kind == "stack":
            frames(r["frames"], n)
            if not r["frames"]:
                complain("line %d: an empty stack" % n)
        elif kind == "thread":
            frames([r["start"]] if "start" in r else [], n)
            for key in ("creator", "joined_by"):
                if key in r:
                    refer("thread", r[key], n)
        elif kind == "lock":
            frames([r["static"]] if "static" in r else [], n)
            for key in ("init", "first"):
                if key in r:
                    refer("stack", r[key], n)
        elif kind == "dependency":
            refer("thread", r["thread"], n)
            refer("lock", r["wants"], n)
            refer("stack", r["stack"], n)
            for held in r["holds"]:
                refer("lock", held["lock"], n)
                refer("stack", held["stack"], n)
        elif kind == "finding":
            for side in r.get("ring", []):
                for key, to in SIDE.items():
                    refer(to, side[key], n)
            ring = r.get("ring", [])
            for i, side in enumerate(ring):
                if side["wants"] != ring[(i + 1) % len(ring)]["holds"]:
                    complain("line %d: side %d does not meet the next one" % (n, i))
        elif kind == "count" and "dependency" in r:
            refer("dependency", r["dependency"], n)
    for kind, number, line in wanted:
        if number not in seen[kind]:
            complain("line %d: %s %d is not in the file" % (line, kind, number))


for name in sys.argv[1:]:
    check(name)
print("\n".join(bad[:20]))
sys.exit(bool(bad))
