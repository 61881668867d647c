#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# rwlock.bats - read-write locks of each kind, and spin locks.

setup_file() {
    load common
    build_guests
    mkdir -p "$B/run/random"
    gcc -O1 -g -pthread -o "$B/run/random/replay-rw" \
        "$top/tests/run/random/replay.c"
}

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
    export LOCKHOUND=all
}

mode() {
    watched "$G/rwlocks" "$1"
    exits_with 0
    shift
    finds "$@"
}

# ---- results ----

@test "every function returns what it would alone, and errno too" {
    LOCKHOUND= is_transparent "$G/rwresults"
}

@test "callers who ask for a version reach the hooks" {
    mode versions ""
    quiet
}

# ---- the default kind ----

@test "a reader and a writer in contrary orders can deadlock" {
    mode read-then-write "LH001 m r"
}

@test "a reader and a reader can not, whoever writes besides" {
    mode read-then-read ""
}

@test "a lock that both sides read is no gate" {
    mode shared-gate "LH001 m r"
}

@test "reading again what is read waits for nobody" {
    mode nested-read-default ""
}

@test "what was refused, or timed out, is not held" {
    mode refusals ""
}

@test "a lock that is made anew is another one" {
    mode renewed ""
    mode spin-renewed ""
}

# ---- the kind whose readers wait behind writers ----

@test "a nested read while another thread writes can deadlock" {
    mode nested-read "LH005 q"
    has 'waits to write q, ahead of later readers, at' err.txt
    mode writer-first "LH005 q"
}

@test "nested reads without a writer, or by the writer itself, can not" {
    mode nested-read-alone ""
    mode nested-read-same-thread "conditional q"
    has 'only thread T1 was seen' err.txt
}

@test "a nested read under a gate, or beside a limited wait, is conditional" {
    mode nested-read-gated "conditional q"
    has 'both sides hold m' err.txt
    mode nested-read-timed-writer "conditional q"
}

@test "a try waits for nobody, on either side" {
    mode nested-try ""
    mode nested-read-try-writer ""
}

@test "a reader behind a writer behind a reader can deadlock" {
    mode reader-writer-reader "LH001 m q"
    mode reader-writer-often "LH001 m q"
    mode reader-reader ""
}

@test "a writer behind a writer adds nothing" {
    mode writer-queue-writer "LH001 m q" "LH001 m q" # at two places
    absent 'ahead of later readers' err.txt
}

@test "the records say who is queued, and follow their manual" {
    recorded "$G/rwlocks" reader-writer-reader
    exits_with 0
    records_are_valid
    has '"holds_mode":"queued"' records/*.jsonl
    has '"subtype":"prefer-writer-nonrecursive"' records/*.jsonl
    recorded "$G/rwlocks" nested-read-gated
    records_are_valid
    has '"reason":"gate".*"sides":\[[01],[01]\]' records/*.jsonl
    try "$B/lockhound" run --dir=told -- "$G/rwlocks" nested-read
    exits_with 66
}

@test "how often a reader waited behind writers is counted" {
    recorded "$G/rwlocks" reader-writer-often
    python3 - records/*.jsonl <<'END'
import json, sys
counts = {r["dependency"]: r["times"] for r in map(json.loads, open(sys.argv[1]))
          if r["type"] == "count" and "dependency" in r}
assert sorted(counts.values()) == [1, 100, 100], counts
END
}

# ---- spin locks ----

@test "spinning is waiting, trying is not" {
    mode spin "LH001 m p"
    mode spin-tried-outer "LH001 m p"
    mode spin-tried-inner ""
}

# ---- a thread that waits for itself ----

@test "a reader that asks to write is told about before it hangs" {
    watched "$G/rwlocks" upgrade
    exits_with 142
    has '^lockhound: self-deadlock LH003: r ' err.txt
    LOCKHOUND=on-deadlock=exit watched "$G/rwlocks" upgrade
    exits_with 67
}

@test "a spin lock that its holder asks for is told about before it hangs" {
    watched "$G/rwlocks" spin-twice
    exits_with 142
    has '^lockhound: self-deadlock LH003: p ' err.txt
    watched "$G/rwlocks" spin-contended
    exits_with 142
    finds "LH015 p"
}

@test "a forked child that asks for what it has as a writer is told about" {
    watched "$G/rwlocks" read-in-child
    exits_with 142
    has '^lockhound: self-deadlock LH003: r ' err.txt
}

@test "waiting for others after one's own reads is no self-deadlock" {
    LOCKHOUND= watched "$G/rwlocks" write-after-reading
    passes_quietly
}

@test "a lock that another thread gave back is not held" {
    LOCKHOUND= watched "$G/rwlocks" handed-over
    passes_quietly
}

# ---- others ----

@test "a signal handler that tries comes at any moment" {
    watched "$G/rwlocks" interrupted
    exits_with 0
    quiet
}

@test "std::shared_mutex and std::shared_timed_mutex" {
    watched "$G/sharedmutex" write
    exits_with 0
    finds "LH001 a b"
    watched "$G/sharedmutex" read
    exits_with 0
    finds ""
    watched "$G/sharedmutex" try
    exits_with 0
    finds ""
}

@test "random programs with both kinds: every result, ring and grade is as computed" {
    try timeout -s KILL 100 python3 "$top/tests/run/random/compare.py" --rw \
        --preload "$LIB" --replay "$B/run/random/replay-rw" --count 300 \
        --first 1 --config ,stacks=exact
    exits_with 0
    has ' 0 disagree' out.txt
}
