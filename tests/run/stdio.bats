#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# stdio.bats - streams as locks: flockfile, ftrylockfile, funlockfile.

load common.bash

setup_file() {
    build_guests
}

setup() {
    unset LOCKHOUND LD_PRELOAD
    cd "$BATS_TEST_TMPDIR" || return 1
}

@test "a stream and a mutex in both orders: named by what it is" {
    watched "$G/stdio" inversion
    exits_with 0
    finds "LH001 m stdout"
    recorded "$G/stdio" inversion
    exits_with 0
    records_are_valid
    grep -q '"kind":"file",.*"name":"stdout"' records/*
}

@test "a stream that was opened is named by its descriptor" {
    watched "$G/stdio" opened
    exits_with 0
    has 'LH001 between .*stream of descriptor 57' err.txt
}

@test "a stream without a descriptor is named by where it was taken" {
    watched "$G/stdio" in-memory
    exits_with 0
    has 'LH001 between .*stream #[0-9]* first taken at ' err.txt
}

@test "ftrylockfile waits for nothing" {
    watched "$G/stdio" try
    exits_with 0
    quiet
}

@test "re-entry is no request, and the last release counts" {
    watched "$G/stdio" reentering
    exits_with 0
    finds "LH001 m stdout"
    LOCKHOUND=all watched "$G/stdio" reentering-only
    passes_quietly
    LOCKHOUND=all watched "$G/stdio" released
    passes_quietly
}

@test "a try that fails holds nothing" {
    LOCKHOUND=all watched "$G/stdio" failing
    passes_quietly
}

@test "a stream that stdio holds itself is taken again in its callback" {
    LOCKHOUND=all watched "$G/stdio" called-back
    passes_quietly
}

@test "output and errno are as alone" {
    is_transparent "$G/stdio" results
    has 'one 2 three, errno 1234' out.txt
}
