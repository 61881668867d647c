#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# hot.bats - the shortest ways through the hooks.

setup_file() {
    load common
    build_guests
}

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
    export LOCKHOUND=
}

@test "mutexes of every type return what they return alone" {
    alone "$G/hot" types
    exits_with 0
    watched "$G/hot" types
    exits_with 0
    watched "$G/hot" forked
    exits_with 0
}

@test "mutexes of every type are held while they are held" {
    local type
    for type in recursive checking adaptive; do
        watched "$G/hot" $type
        exits_with 0
        finds "LH001 $(printf '%s\n' $type outer | sort | xargs)"
    done
}

@test "a handler with locks of its own comes at every place" {
    watched "$G/hot" storm
    passes_quietly
}
