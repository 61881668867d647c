#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# once.bats - pthread_once, call_once and function-local statics of C++: what
# their routine asks for is asked for under them.

setup_file() {
    load common
    build_guests
}

setup() {
    load common
    unset LD_PRELOAD
    export LOCKHOUND=
    ulimit -c 0
    cd "$BATS_TEST_TMPDIR"
}

# One finding of a request that waits for itself, of this lock.
hangs_on() {
    exits_with 67
    [ "$(grep -c '^lockhound: ' err.txt)" -eq 1 ] || { show; return 1; }
    has "^lockhound: self-deadlock LH003: .*$1" err.txt
}

@test "once: results, runs and exceptions are as alone" {
    is_transparent "$G/once" results
    exits_with 0
    has '^300 runs$' out.txt
}

@test "once: its routine wants a lock under which others call it" {
    watched "$G/once" vs-lock
    exits_with 0
    finds "LH001 _ZL1m _ZL4once"
    watched "$G/c11" once
    exits_with 0
    finds "LH001 a flag"
}

@test "once: the JSON report tells the lock from the flag" {
    recorded "$G/once" vs-lock
    exits_with 0
    try "$B/lockhound" report --format=json records
    python3 - out.txt <<'END'
import json, sys
[f] = json.load(open(sys.argv[1]))["findings"]
assert [l["name"] for l in f["locks"]] == ["m"], f["locks"]
assert [(l["name"], l["kind"]) for l in f["events"]] == [("once", "once")]
END
}

@test "once: a call waits for the routine with a lock in hand" {
    watched "$G/once" waits
    exits_with 0
    finds "LH001 _ZL1n _ZL4once"
}

@test "once: who knows that it is done waits for nobody" {
    LOCKHOUND=all watched "$G/once" shielded
    passes_quietly
}

@test "once: a routine that throws leaves nothing held" {
    LOCKHOUND=all watched "$G/once" thrown
    passes_quietly
    LOCKHOUND=all watched "$G/once" thrown-with-lock
    exits_with 0
    finds "conditional _ZL1m _ZL1n _ZL4flag" # n was taken under it, m was not
}

@test "once: a routine that ends its thread leaves nothing held" {
    for how in exited cancelled; do
        LOCKHOUND=all watched "$G/once" $how
        passes_quietly
    done
}

@test "once: a call within itself is told before it hangs" {
    LOCKHOUND=on-deadlock=exit watched "$G/once" recursive
    hangs_on _ZL4once
    LOCKHOUND=on-deadlock=exit watched "$G/c11" once-in-itself
    hangs_on flag
}

@test "once: a child made in the routine runs it again" {
    LOCKHOUND=all recorded "$G/once" forked
    passes_quietly
    records_are_valid
}

@test "once: the stack of the routine is as alone" {
    recorded "$G/once" vs-lock
    try "$B/lockhound" report records
    has '#0 lock_m  *[^ ]*once.cpp:' out.txt
    absent 'hooks/' out.txt
}

@test "statics: an initializer wants a lock under which others come" {
    watched "$G/statics" vs-lock
    exits_with 0
    finds "LH001 _ZGVZL8instancebE10the_object _ZL1m"
}

@test "statics: an initializer that throws leaves nothing held" {
    LOCKHOUND=all watched "$G/statics" aborted
    passes_quietly
}

@test "statics: four threads initialize each once" {
    is_transparent "$G/statics" race
    exits_with 0
    has '^500 runs$' out.txt
}

@test "statics: initialization within itself ends as alone, or is told" {
    is_transparent "$G/statics" recursive
    exits_with 134
    LOCKHOUND=on-deadlock=exit watched "$G/statics" recursive-among-threads
    hangs_on _ZGVZL5depthiE5value
}

@test "statics: a C++ plugin in a program without a C++ runtime" {
    alone "$G/guards" plugin "$G/libstatics"
    exits_with 0
    watched "$G/guards" plugin "$G/libstatics"
    passes_quietly
}

@test "statics: without any C++ runtime guards still work" {
    watched "$G/guards" own
    passes_quietly
}
