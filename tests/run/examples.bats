#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# examples.bats - every broken example has its one finding and really deadlocks
# when it is driven to it; every other one has none; all print the same text
# with and without the preload, every time.

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
}

# Runs an example alone and watched, and compares what it prints.
run_both() {
    alone "$1"
    exits_with 0
    mv out.txt alone.txt
    try timeout -s KILL 60 "$B/lockhound" run --dir="records.${1##*/}" -- "$1"
    diff alone.txt out.txt
}

examples() { # broken, or the others
    local program
    for program in "$top"/examples/*.c; do
        case $program in
        */broken_*) [ "$1" = broken ] || continue ;;
        *) [ "$1" != broken ] || continue ;;
        esac
        program=${program##*/}
        echo "$B/examples/${program%.c}"
    done
}

@test "each broken example has exactly one finding" {
    for program in $(examples broken); do
        run_both "$program"
        exits_with 66
        [ "$(grep -c '^potential deadlock LH001' err.txt)" -eq 1 ] || { show; return 1; }
    done
}

@test "each broken example really deadlocks when ORD_HANG=1" {
    for program in $(examples broken); do
        ORD_HANG=1 try timeout -s KILL 3 "$program"
        exits_with 137
    done
}

@test "no other example has a finding" {
    for program in $(examples other); do
        run_both "$program"
        exits_with 0
    done
}
