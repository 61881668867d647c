#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# c11.bats - mtx_*, cnd_* and thrd_*, which do not pass through the pthread
# names.

setup_file() {
    load common
    build_guests
}

setup() {
    load common
    unset LD_PRELOAD
    export LOCKHOUND=
    cd "$BATS_TEST_TMPDIR"
}

@test "C11: every function returns what it would alone" {
    LOCKHOUND=print=none is_transparent "$G/c11" results
    exits_with 0
}

@test "C11: opposite orders of two mtx_t are found" {
    watched "$G/c11" inversion
    exits_with 0
    finds "LH001 a b"
    recorded "$G/c11" inversion
    records_are_valid
    has '"start":' records/*
}

@test "C11: what thrd_join keeps apart is conditional" {
    LOCKHOUND=all watched "$G/c11" joined
    exits_with 0
    finds "conditional a b"
}

@test "C11: a timed lock heals itself, a try does not wait" {
    LOCKHOUND=all watched "$G/c11" timed
    exits_with 0
    finds "conditional a b"
    LOCKHOUND=all watched "$G/c11" tries
    passes_quietly
}

@test "C11: what is held is believed to be, on the hot path too" {
    watched "$G/c11" warm
    passes_quietly
}

@test "C11: who is behind us sees what was taken given back" {
    for mode in warm inversion reentry condition; do
        try timeout -s KILL "$LIMIT" env LD_PRELOAD="$LIB $G/libbehind" \
            "$G/c11" $mode
        exits_with 0
        has '^0 never given back$' out.txt
    done
}

@test "C11: a recursive mutex is no request when it is held" {
    LOCKHOUND=all watched "$G/c11" reentry
    passes_quietly
}

@test "C11: cnd_wait asks for its mutex again" {
    watched "$G/c11" condition
    exits_with 0
    finds "LH001 a b"
}

@test "C11: a condition wait that is refused leaves the mutex held" {
    watched "$G/c11" refused
    passes_quietly
}

@test "C11: the mutex is held where a condition wait is cancelled" {
    watched "$G/c11" cancelled
    exits_with 0
    finds "LH001 a b"
}

@test "C11: thrd_exit from below runs the handlers, with their locks seen" {
    watched "$G/c11" exit
    exits_with 0
    finds "LH001 a b"
}

@test "C11: a mutex that is destroyed and made anew is another one" {
    LOCKHOUND=all watched "$G/c11" made-anew
    passes_quietly
}

@test "C11: threads joined and detached leave nothing behind" {
    watched "$G/c11" detached
    passes_quietly
}

@test "C11: callers who ask for the older version reach the hooks" {
    watched "$G/c11" old-names
    passes_quietly
}
