#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# live.bats - deadlocks told while the program hangs in them.

setup_file() {
    load common
    build_guests
}

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
    export LOCKHOUND=
}

# The command ends it with 67 and tells a deadlock of so many threads between
# these locks: deadlocks N LOCKS PROGRAM...
deadlocks() {
    local n=$1 locks=$2
    shift 2
    try timeout -s KILL "$LIMIT" "$B/lockhound" run --dir="$PWD/records" -- "$@"
    exits_with 67
    python3 - "$n" "$locks" records/*.jsonl <<'PY'
import json, sys
n, locks = int(sys.argv[1]), sys.argv[2].split(",")
records = [json.loads(l) for l in open(sys.argv[3]) if l.strip()]
rings = [r for r in records if r.get("kind") == "LH002"]
assert len(rings) == 1 and rings[0]["grade"] == "happened", rings
ring = rings[0]["ring"]
assert len(ring) == n == len({s["thread"] for s in ring}), ring
for side, following in zip(ring, ring[1:] + ring[:1]):
    assert side["wants"] == following["holds"], ring
    assert side.get("waited_ms", 0) < 1000 and side["wants_stack"], side
PY
    for lock in ${locks//,/ }; do has "LH002.*\|  $lock" err.txt; done
}

@test "rings of two, three and five mutexes" {
    for n in 2 3 5; do
        rm -rf records
        deadlocks "$n" 'm\[0\],m\[1\]' "$G/hangs" ring "$n"
    done
}

@test "read-write locks" {
    deadlocks 2 'rw\[0\],rw\[1\]' "$G/hangs" write
}

@test "joins" {
    deadlocks 2 'm\[0\]' "$G/hangs" join
    has 'the end of T2' err.txt
    rm -rf records
    deadlocks 2 'm\[0\]' "$G/hangs" join-main
}

@test "a nested read and a writer in between" {
    deadlocks 2 rw "$G/live" nested-read
}

@test "writers in line" {
    deadlocks 2 rw,rv "$G/live" writers
}

@test "spinlocks" {
    deadlocks 2 s,u "$G/live" spin
}

@test "semaphores that are locks" {
    deadlocks 2 p,q "$G/live" semaphores
}

@test "nobody is ended for a semaphore that a third thread may post" {
    LOCKHOUND=on-deadlock=exit watched "$G/live" posted
    exits_with 0
}

@test "a mutex that a condition wait takes back" {
    deadlocks 2 a,b "$G/live" condition
}

@test "a join of a join" {
    deadlocks 3 a "$G/live" chain
}

@test "streams" {
    deadlocks 2 'stream of descriptor [0-9]' "$G/live" streams
}

@test "a process that has ended with a lock of two processes" {
    try timeout -s KILL "$LIMIT" "$B/lockhound" run --dir="$PWD/records" -- "$G/live" orphan
    exits_with 67
    has 'endless wait LH004' err.txt
}

@test "a holder that has ended" {
    try timeout -s KILL "$LIMIT" "$B/lockhound" run --dir="$PWD/records" -- "$G/hangs" gone
    exits_with 67
    has 'endless wait LH004' err.txt
}

@test "a main thread that has ended before the others" {
    try timeout -s KILL "$LIMIT" "$B/lockhound" run --dir="$PWD/records" -- "$G/live" main-ends
    exits_with 67
    has 'endless wait LH004' err.txt
}

@test "a holder that gives back and ends while it is looked for" {
    LOCKHOUND=on-deadlock=exit watched "$G/live" gives-back
    exits_with 0
    absent LH004 err.txt
    ! grep -q 'no seccomp' out.txt || skip "no seccomp"
}

@test "the order is told, too" {
    try timeout -s KILL "$LIMIT" "$B/lockhound" run --dir="$PWD/records" -- "$G/hangs" ring 2
    has 'potential deadlock LH001 between m\[0\] and m\[1\]' err.txt
}

@test "a bare preload tells it and lets the program hang" {
    LIMIT=3 watched "$G/hangs" ring 2
    exits_with 137
    has '^lockhound: deadlock LH002 between m\(+40\)\{0,1\} and m' err.txt
    [ "$(grep -c LH002 err.txt)" -eq 1 ]
}

@test "a bare preload tells of a thread whose end is waited for" {
    LOCKHOUND=on-deadlock=exit watched "$G/hangs" join
    exits_with 67
    has '^    waits for m.* at$' err.txt
}

@test "on-deadlock=abort ends it by SIGABRT" {
    LOCKHOUND=on-deadlock=abort watched "$G/hangs" ring 2
    exits_with 134
    has 'deadlock LH002' err.txt
}

@test "a ring with a limited wait is told, and nobody is ended" {
    LOCKHOUND=on-deadlock=exit watched "$G/live" limit
    exits_with 0
    has 'deadlock LH002 between' err.txt
}

@test "a slow holder is no deadlock" {
    LOCKHOUND=on-deadlock=exit watched "$G/live" slow
    exits_with 0
    absent LH002 err.txt
}

@test "forty thousand short waits are no deadlock" {
    LOCKHOUND=on-deadlock=exit watched "$G/live" busy
    exits_with 0
    absent LH002 err.txt
}

@test "the predicted deadlocks of real bug reports, when they happen" {
    for name in log_callback_inversion three_lock_ring nested_read_writer_pref \
        loader_vs_allocator; do
        gcc -O1 -g -pthread -DHANG "$top/tests/cases/reports/$name.c" -o "$name"
        try timeout -s KILL "$LIMIT" "$B/lockhound" run --dir="$PWD/$name.records" -- "./$name"
        exits_with 67
        has 'deadlock LH002' err.txt
    done
}

@test "a stop that joins a thread which the lock keeps waiting" {
    gcc -O1 -g -pthread -DHANG "$top/tests/cases/reports/stop_joins_under_lock.c" -o stop
    LD_PRELOAD="$G/libpaced" deadlocks 2 pipe_lock ./stop
    has 'the end of T2' err.txt
}

@test "a thread sanitizer behind us sees every lock taken" {
    gcc -D_GNU_SOURCE -fsanitize=thread -O1 -g -pthread -I"$top/preload" \
        -o sanitized "$top/tests/run/guest/live.c" 2>/dev/null ||
        skip "gcc has no thread sanitizer here"
    watched ./sanitized busy
    exits_with 0
    absent 'WARNING: ThreadSanitizer' err.txt
}
