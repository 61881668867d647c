#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# owners.bats - who holds a lock after it changed hands by a side door, and
# random programs whose verdict is computed by brute force.

setup_file() {
    load common
    build_guests
    mkdir -p "$B/run/random"
    gcc -O1 -g -pthread -o "$B/run/random/replay" \
        "$top/tests/run/random/replay.c"
}

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
    export LOCKHOUND=
}

@test "a lock that another thread has released is not held" {
    watched "$G/owners" handed-over
    exits_with 0
    finds "LH011 a"
}

@test "a lock that is initialized while held is not held" {
    watched "$G/owners" made-anew
    exits_with 0
    finds "LH014 a"
}

@test "a condition wait that is refused asks for nothing" {
    watched "$G/owners" refused-wait
    exits_with 0
    finds "LH017 checking"
}

@test "a lock that an atfork child handler makes anew is not held" {
    watched "$G/owners" atfork-child-renews
    passes_quietly
}

@test "a lock held by the forking thread is held in the child" {
    watched "$G/owners" inherited
    exits_with 0
    finds "LH001 a b"
}

@test "random programs: every result, ring, grade and misuse is as computed" {
    try timeout -s KILL 100 python3 "$top/tests/run/random/compare.py" \
        --preload "$LIB" --replay "$B/run/random/replay" --count 300 --first 1
    exits_with 0
    has ' 0 disagree' out.txt
}

@test "random programs with stacks=exact: every frame is one that was there" {
    try timeout -s KILL 100 python3 "$top/tests/run/random/compare.py" \
        --preload "$LIB" --replay "$B/run/random/replay" --count 200 \
        --first 50001 --config ,stacks=exact
    exits_with 0
    has ' 0 disagree' out.txt
}
