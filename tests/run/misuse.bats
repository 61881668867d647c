#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# misuse.bats - mutexes and conditions used as they may not be: what is told,
# and that what looks like it and is right is not.

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
    alone "$G/misuse" "$@"
    exits_with 0
    watched "$G/misuse" "$@"
    exits_with 0
    finds "$want"
}

is_right() {
    watched "$G/misuse" "$@"
    passes_quietly
}

# It hangs alone; with on-deadlock=exit it ends with 67, the finding told.
hangs() {
    LOCKHOUND=on-deadlock=exit watched "$G/misuse" "$@"
    exits_with 67
    finds "LH003 m"
    has 'it was taken by' err.txt
}

@test "LH003: a mutex of each type that hangs is asked for by its holder" {
    for kind in normal adaptive robust inherit shared; do
        hangs relock $kind
        hangs relock-in-thread $kind
    done
    alone "$G/misuse" fair protect
    [ "$status" -ne 0 ] || hangs relock protect
}

@test "LH003: a signal handler asks for what it interrupted" {
    hangs relock-by-signal
}

@test "LH003: without on-deadlock= it is told and hangs as alone" {
    LIMIT=2 watched "$G/misuse" relock
    exits_with 137
    finds "LH003 m"
}

@test "LH003: on-deadlock=abort aborts" {
    ulimit -c 0
    LOCKHOUND=on-deadlock=abort watched "$G/misuse" relock
    exits_with 134
    finds "LH003 m"
}

@test "a try, a timed lock, a checking and a recursive type do not hang" {
    is_right relock-fairly
}

@test "a mutex that another thread releases in a moment is no deadlock" {
    # The moment may be too short on a busy machine; not each time.
    for attempt in 1 2 3 4 5; do
        LOCKHOUND=on-deadlock=exit watched "$G/misuse" signalled
        [ "$status" -ne 0 ] || break
    done
    exits_with 0
    finds "LH011 m"
}

@test "LH010: a free mutex is released" {
    for kind in normal adaptive errorcheck recursive robust inherit shared; do
        tells "LH010 m" unlock-free $kind
    done
}

@test "LH010: a place is told once" {
    watched "$G/misuse" unlock-free-often
    exits_with 0
    [ "$(grep -c LH010 err.txt)" -eq 1 ]
}

@test "LH011: another thread's mutex is released" {
    for kind in normal adaptive errorcheck recursive robust inherit shared; do
        tells "LH011 m" unlock-by-other $kind
        has 'it was taken by T1 ' err.txt
    done
}

@test "LH012: a mutex is destroyed while held" {
    tells "LH012 m" destroy-held
    tells "LH012 m" destroy-held errorcheck
    tells "LH012 m" destroy-held-robust
    tells "LH012 m" destroy-others
    has 'it was taken by T2 ' err.txt
}

@test "LH013: a destroyed mutex is used, and told once" {
    tells "LH013 m" used-ended
    has 'it was destroyed by T1 ' err.txt
    tells "LH013 m" waited-ended
    tells "LH013 m" ended-twice
}

@test "a mutex made again after its destroy is another" {
    is_right renewed
}

@test "LH014: a mutex is initialized while held" {
    tells "LH014 m" init-held
}

@test "memory is initialized whatever it holds" {
    is_right init-anything
}

@test "LH015: a thread ends with a mutex in hand" {
    for kind in normal errorcheck recursive inherit; do
        tells "LH015 m" return-holding $kind
    done
    tells "LH015 m" pthread-exit-holding
    tells "LH015 m" cancelled-holding
    tells "LH015 m" try-and-return
    tells "LH015 m" detached-holding
    has 'end of T2 ' err.txt
}

@test "LH015 is written before the end of the records" {
    recorded "$G/misuse" detached-holding
    exits_with 0
    records_are_valid
    tail -n 1 records/*.jsonl | grep -q '"type":"end"'
    grep -q '"kind":"LH015"' records/*.jsonl
}

@test "what the end of a thread releases is not left behind" {
    is_right unlock-in-destructor
    is_right unlock-in-cleanup
}

@test "a robust mutex is recovered after its holder's death" {
    is_right robust-recovery
}

@test "a process may end while it holds" {
    is_right exit-holding
}

@test "LH017: a condition is waited on with a mutex that is not held" {
    for kind in normal errorcheck recursive robust; do
        tells "LH017 m" wait-unheld $kind
    done
    tells "LH017 m" wait-others errorcheck
}

@test "LH017: a condition is waited on with two mutexes at once" {
    tells "LH017 other" two-mutexes
    has 'the other by T2 ' err.txt
}

@test "a condition is waited on with two mutexes in turn" {
    is_right two-mutexes-in-turn
    is_right woken-but-waiting
}

@test "mutexes of every kind are used as they may be" {
    for kind in normal adaptive errorcheck recursive robust inherit shared; do
        is_right fair $kind
    done
    alone "$G/misuse" fair protect
    [ "$status" -ne 0 ] || is_right fair protect
}

@test "misuse findings follow the records' contract" {
    for mode in unlock-free unlock-by-other destroy-others used-ended \
        init-held return-holding wait-unheld two-mutexes; do
        recorded "$G/misuse" $mode
        exits_with 0
        records_are_valid
        grep -q '"type":"finding"' records/*.jsonl
    done
}
