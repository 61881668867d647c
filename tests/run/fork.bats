#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# fork.bats - a process is forked while locks are held.

setup_file() {
    load common
    build_guests
}

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
    export LOCKHOUND=on-deadlock=exit
}

# The child ends with 67, the finding told; the parent goes on.
child_ends() {
    local want=$1
    shift
    watched "$G/forkheld" "$@"
    exits_with 0
    has '^child: 67$' out.txt
    finds "$want"
}

is_right() {
    watched "$G/forkheld" "$@"
    passes_quietly
    has '^child: 0$' out.txt
}

@test "LH020: a child asks for what another thread of its parent held" {
    for kind in normal recursive errorcheck; do
        child_ends "LH020 m" request $kind
        has 'it was taken by T2 (tid [0-9]*, started at hold' err.txt
    done
    child_ends "LH020 m" request-in-thread
}

@test "LH020: so does a child that _Fork made" {
    child_ends "LH020 m" request-_Fork
}

@test "LH020: so does a grandchild" {
    watched "$G/forkheld" request-in-grandchild
    exits_with 0
    [ "$(cat out.txt)" = $'child: 67\nchild: 0' ]
    finds "LH020 m"
}

@test "LH020: without on-deadlock= it is told and hangs as alone" {
    LOCKHOUND= watched "$G/forkheld" request
    exits_with 0
    has '^child: signal 14$' out.txt
    finds "LH020 m"
}

@test "LH020 is in the child's records, with the thread that held it" {
    recorded "$G/forkheld" request
    exits_with 0
    records_are_valid
    child=$(grep -l '"forked_from"' records/*.jsonl)
    holder=$(grep -o '"kind":"LH020".*"holder":[0-9]*' "$child" | grep -o '[0-9]*$')
    grep -q '"type":"thread","id":'"$holder"',.*"start"' "$child"
}

@test "a child may try what it cannot get, or make it anew" {
    is_right try
    is_right renew
    is_right vfork
}

@test "a child releases what the forking thread held" {
    is_right unlock-own
    is_right atfork
}

@test "LH003: a child asks for what the forking thread held" {
    child_ends "LH003 own" relock-own
}

@test "a process-shared mutex is the parent's to release" {
    is_right shared
    LOCKHOUND=on-deadlock=exit watched "$G/forkheld" in-shared-memory
    exits_with 0
    has '^child: signal 14$' out.txt
    quiet
}
