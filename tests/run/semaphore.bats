#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# semaphore.bats - semaphores that are used as locks, and such that are not;
# and Python, whose locks are semaphores that are tried first.

setup_file() {
    load common
    build_guests
}

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
    export LOCKHOUND=
}

# Nothing is found, not even conditionally.
is_silent() {
    LOCKHOUND=all watched "$G/semaphore" "$1"
    passes_quietly
}

# A finding about one lock.
self_deadlocks() {
    exits_with 67
    has "^lockhound: self-deadlock LH003: $1 " err.txt
}

# ---- locks ----

@test "semaphores that their takers post are locks, from the first time on" {
    watched "$G/semaphore" nested-both-ways
    exits_with 0
    finds "LH001 s t"
}

@test "a semaphore and a mutex make a ring" {
    watched "$G/semaphore" with-a-mutex
    exits_with 0
    finds "LH001 m s"
}

@test "a static semaphore that sem_init never saw is a lock, too" {
    watched "$G/semaphore" without-init
    exits_with 0
    finds "LH001 given m"
}

@test "what is taken by sem_trywait is held, but was not waited for" {
    is_silent tried
    watched "$G/semaphore" tried-outside
    exits_with 0
    finds "LH001 s t"
}

@test "a wait with a deadline makes a ring conditional" {
    LOCKHOUND=all watched "$G/semaphore" timed
    exits_with 0
    finds "conditional s t"
    has 'bounded by a timeout' err.txt
}

@test "a semaphore that is a lock is a gate" {
    LOCKHOUND=all watched "$G/semaphore" gate
    exits_with 0
    finds "conditional m n"
    has 'both sides hold s' err.txt
}

@test "one that is made anew, or destroyed before, is another lock" {
    is_silent made-again
}

@test "thousands at a time, from four threads" {
    watched "$G/semaphore" many
    exits_with 0
    finds "LH001 s t"
}

@test "records of semaphores are valid, and say what they are" {
    recorded "$G/semaphore" nested-both-ways
    exits_with 0
    records_are_valid
    grep -q '"kind":"semaphore"' records/*.jsonl
    recorded "$G/semaphore" beside-ended
    exits_with 0
    finds "LH001 m s"
    records_are_valid
    recorded "$G/semaphore" buffer
    records_are_valid
    ! grep -q '"type":"dependency"' records/*.jsonl || false
}

# ---- signals ----

@test "semaphores that nobody gives back are signals" {
    is_silent signals
    is_silent signals-from-one
}

@test "the slots of a buffer for one are no lock" {
    is_silent buffer
}

@test "one that another thread posts is no lock any more, and not held" {
    is_silent handed-over
}

@test "one whose value grows is no lock any more" {
    is_silent grows
    is_silent counting
}

@test "one that a signal handler posts is no lock" {
    is_silent posted-in-wait
    is_silent posted-by-handler
}

@test "handlers that post and take between any two instructions" {
    is_silent storm
}

@test "a handler posts on an 8 KiB signal stack" {
    alone "$G/semaphore" small-stack
    [ "$status" -eq 0 ] || skip "a signal frame does not fit in 8 KiB here"
    is_silent small-stack
}

# ---- transparency ----

@test "a wait that is cancelled takes nothing" {
    is_silent cancelled
    is_silent pending
}

@test "results and errno are as alone, and old versions are hooked" {
    is_silent results
    is_silent versions
}

@test "a semaphore held by the forking thread is held in the child" {
    watched "$G/semaphore" inherited
    exits_with 0
    finds "LH001 m s"
}

# ---- asked for by its taker ----

@test "a lock that its taker waits for, with nobody there to post, is LH003" {
    for mode in relocked relocked-at-once; do
        LOCKHOUND=on-deadlock=exit watched "$G/semaphore" $mode
        self_deadlocks s
    done
}

@test "with another thread, a handler or a deadline it may go on" {
    for mode in relocked-beside relocked-above-handler relocked-for-a-time; do
        LOCKHOUND=all,on-deadlock=exit watched "$G/semaphore" $mode
        passes_quietly
    done
}

# ---- try, then wait ----

@test "a try where the program waits when it fails is a conditional side" {
    LOCKHOUND=all watched "$G/semaphore" tries-then-waits
    exits_with 0
    finds "conditional s t"
    has 'only seen to try' err.txt
    watched "$G/semaphore" tries-then-waits
    passes_quietly
}

@test "a place that has waited on both sides makes a possible ring" {
    watched "$G/semaphore" waits-both-times
    exits_with 0
    finds "LH001 s t"
}

@test "to try, back off and wait for what was busy is no request" {
    is_silent backs-off
}

# ---- Python ----

python() {
    LOCKHOUND=${2-all} watched /usr/bin/python3 "$top/tests/run/python/$1.py"
}

# Both sides name the two locks by their numbers: N of them.
has_two_locks() {
    sed -n 's/^lockhound: .* LH001 between \(semaphore #[0-9]*\) .* and \(semaphore #[0-9]*\) .*/\1 \2/p' err.txt >locks
    [ "$(wc -l <locks)" -eq "$1" ]
    awk '$2 == $4 { exit 1 }' locks
}

@test "python: an inversion of two locks is a conditional ring of both" {
    python inversion
    exits_with 0
    has '^lockhound: conditional ring LH001 between semaphore #' err.txt
    has 'only seen to try' err.txt
    has_two_locks 1
    python inversion ''
    passes_quietly
}

@test "python: an inversion where both have waited is possible" {
    python waited ''
    exits_with 0
    has '^lockhound: potential deadlock LH001 between semaphore #' err.txt
    has_two_locks 1
}

@test "python: two inversions are two findings" {
    python two_inversions
    exits_with 0
    has_two_locks 2
}

@test "python: queues, pools, conditions, events and barriers are quiet" {
    python synchronized
    passes_quietly
    has '^done$' out.txt
}
