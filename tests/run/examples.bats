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

# What each finding must name: its locks, and the functions that take them.
words_of() {
    case $1 in
    broken_transfer) echo savings checking transfer morning_clerk evening_clerk ;;
    broken_restock) echo inventory_lock orders_lock reserve cancel ;;
    broken_dining) echo 'fork_\[0\]' 'fork_\[4\]' eat philosopher ;;
    broken_cache) echo cache_lock store_lock cache_get store_write ;;
    broken_callback) echo topic_lock window_lock publish redraw ;;
    esac
}

@test "each broken example has exactly one finding, with its locks and lines" {
    for program in $(examples broken); do
        local name=${program##*/}
        run_both "$program"
        exits_with 66
        [ "$(grep -c '^potential deadlock LH001' err.txt)" -eq 1 ] || { show; return 1; }
        [ -n "$(words_of "$name")" ] || { echo "$name: nothing to look for"; return 1; }
        for word in $(words_of "$name"); do
            has "$word" err.txt
        done
        # The lines where the two locks are taken, in the program itself.
        [ "$(grep -o "$name\.c:[0-9]*" err.txt | sort -u | wc -l)" -ge 2 ]
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

@test "every example prints its text, every time" {
    for program in $(examples broken) $(examples other); do
        for run in 1 2 3; do
            alone "$program"
            exits_with 0
            diff "$top/tests/run/examples/${program##*/}.txt" out.txt
        done
    done
}

@test "ord_broken_transfer is flagged, ord_transfer and ord_try_transfer are not" {
    gcc -O1 -g -pthread -I"$top/examples/ord" -I"$top/examples" -o transfers \
        "$top/tests/run/fixture/transfers.c" "$B/libord.a"
    try timeout 60 "$B/lockhound" run --dir=r1 -- ./transfers broken
    exits_with 66
    has '^potential deadlock LH001' err.txt
    has 'ord_broken_transfer' err.txt
    for how in ordered try; do
        try timeout 60 "$B/lockhound" run --dir="r.$how" -- ./transfers $how
        exits_with 0
        has 'no findings' err.txt
    done
}
