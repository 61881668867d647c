#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# lockmisuse.bats - read-write locks, spinlocks and semaphores used as they may
# not be: what is told, and that what looks like it and is right is not.

setup_file() {
    load common
    build_guests
}

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
    export LOCKHOUND=
}

# A mode finds this, with the same result as alone.
tells() {
    local want=$1
    shift
    alone "$G/lockmisuse" "$@"
    exits_with 0
    watched "$G/lockmisuse" "$@"
    exits_with 0
    finds "$want"
}

is_right() {
    LOCKHOUND=all watched "$G/lockmisuse" "$@"
    passes_quietly
}

@test "LH010: a free read-write lock or spinlock is released" {
    tells "LH010 r" give-free read
    tells "LH010 r" give-free write
    tells "LH010 p" give-free spin
}

@test "LH011: what another thread writes is released" {
    tells "LH011 r" give-others write
}

@test "LH012: one is destroyed while held" {
    for mode in destroy-held destroy-others; do
        tells "LH012 r" $mode read
        tells "LH012 r" $mode write
        tells "LH012 p" $mode spin
    done
}

@test "LH013: a destroyed one is used, and told once" {
    for mode in use-destroyed give-destroyed destroy-twice; do
        tells "LH013 r" $mode read
        tells "LH013 r" $mode write
        tells "LH013 p" $mode spin
        tells "LH013 s" $mode semaphore
    done
    has 'it was destroyed by' err.txt
}

@test "LH014: one is initialized while held" {
    tells "LH014 r" make-held read
    tells "LH014 r" make-held write
    tells "LH014 p" make-held spin
}

@test "LH015: a thread ends with one in hand" {
    tells "LH015 r" end-with read
    tells "LH015 r" end-with write
    tells "LH015 p" end-with spin
    tells "LH015 r" take-elsewhere write
}

@test "what another thread gives back is held no more" {
    is_right hand-over read
    is_right hand-over spin
    is_right hand-over semaphore
}

@test "one made anew after its destroy is another" {
    for kind in read write spin semaphore; do
        is_right make-again $kind
        is_right make-of-anything $kind
    done
    for kind in read write semaphore; do
        is_right make-by-hand $kind
    done
}

@test "a child makes anew, or gives back, what was held at the fork" {
    for kind in read write spin semaphore; do
        is_right make-in-child $kind
    done
    is_right give-in-child read
    is_right give-in-child spin
}

@test "LH020: a child asks for what another thread of its parent held" {
    for pair in "write write" "write read" "read write" "spin spin" "semaphore semaphore"; do
        LOCKHOUND=on-deadlock=exit watched "$G/lockmisuse" child-asks $pair
        exits_with 0
        has '^child: 67$' out.txt
        grep -q '^lockhound: .*LH020: ' err.txt || { show; return 1; }
    done
    watched "$G/lockmisuse" child-asks read read
    exits_with 0
    has '^child: 0$' out.txt
    quiet
}

@test "findings about them follow the records' contract" {
    for mode in give-free destroy-held use-destroyed make-held end-with; do
        recorded "$G/lockmisuse" $mode spin
        records_are_valid
        grep -q '"type":"finding"' records/*.jsonl
    done
}
