#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# hang.bats - programs that stand still, without a ring of locks: explained by
# lockhound run.

setup_file() {
    load common
    build_guests
}

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
}

run_for() {
    try timeout -s KILL "$LIMIT" "$B/lockhound" run --dir="$PWD/records" "$@"
    sed -e ':a' -e 'N' -e '$!ba' -e 's/\n    \([^ ]\)/ \1/g' err.txt >lines.txt
}

@test "a program that stands still is explained and killed" {
    run_for --hang-after=1 --on-hang=kill -- "$G/hangs" semaphore
    exits_with 68
    has '^lockhound: no thread has run for 1 s' err.txt
    has 'T1 (main.*waits for a post of the semaphore posted' lines.txt
    has 'was killed by signal 9 (Killed), by --on-hang=kill$' err.txt
}

@test "on-hang=abort leaves a core to look at" {
    run_for --hang-after=1 --on-hang=abort -- "$G/hangs" condition
    exits_with 68
    has 'waits for a signal of the condition signalled' lines.txt
    has 'was killed by signal 6' err.txt
}

@test "a stream inside of libc: who waits for whom" {
    run_for --hang-after=1 --on-hang=kill -- "$G/hangs" stream
    exits_with 68
    has 'T2 .*waits for the stream .*held by T1' lines.txt
}

@test "children are explained, too" {
    run_for --hang-after=1 --on-hang=kill -- sh -c "'$G/hangs' barrier; :"
    exits_with 68
    has 'waits for the others at the barrier others' lines.txt
    has 'is in wait4(2)' lines.txt
}

@test "by default it is told once, and the program waits on" {
    mkfifo fifo
    run_for --hang-after=1 -- bash -c 'read -t 3 line <>fifo; exit 5'
    exits_with 5
    [ "$(grep -c 'no thread has run' err.txt)" -eq 1 ]
}

@test "a program that works now and then does not hang" {
    run_for --hang-after=1 --on-hang=kill -- python3 -c '
import time
for i in range(12):
    time.sleep(0.2)'
    exits_with 0
    absent 'no thread has run' err.txt
}

@test "kill -QUIT of the command explains it at once" {
    "$B/lockhound" run --dir="$PWD/records" -- "$G/hangs" barrier >out.txt 2>err.txt 3>&- &
    pid=$!
    until grep -qs type records/hangs.*.jsonl; do read -rt 0.01 <> <(:) || :; done
    until grep -q 'at the barrier' err.txt; do
        kill -QUIT "$pid"
        read -rt 0.2 <> <(:) || :
    done
    kill -TERM "$pid"
    wait "$pid" || status=$?
    [ "$status" -eq 143 ]
    has 'waits for the others at the barrier others' err.txt
}

@test "values that make no sense are refused" {
    run_for --hang-after=0 -- true
    exits_with 2
    has "hang-after: bad value '0' (expected seconds, 1 and up)" err.txt
    run_for --on-hang=sleep -- true
    exits_with 2
    has "on-hang: bad value 'sleep' (expected report, abort or kill)" err.txt
}

# A case of tests/cases/reports, really hanging, is explained: by the first line
# of what its threads wait for.
case_hangs() {
    local source=$top/tests/cases/reports/$1
    shift
    case $source in
    *.cpp) g++ -std=c++17 -O1 -g -pthread -DHANG "$source" -o program ;;
    *) gcc -O1 -g -pthread -DHANG "$source" -o program ;;
    esac
    LH_ALARM=20 run_for --hang-after=1 --on-hang=kill -- ./program
    exits_with 68
    for line in "$@"; do has "$line" lines.txt; done
}

@test "a stream that a reader holds, at exit" {
    case_hangs exit_flush_vs_reader.c \
        'T1 (main.*waits for the stream of descriptor [0-9]*, held by T2' \
        'T2 .*is in read(2)'
    has 'flush_all' err.txt
}

@test "a pool that waits for itself" {
    case_hangs pool_waits_on_itself.cpp 'T1 (main.*sleeps on' 'T2 .*sleeps on'
    has 'std::future<int>::get' err.txt
    has 'Pool::run' err.txt
}

@test "a semaphore whose poster waits for a lock" {
    case_hangs blocking_call_under_lock.cpp 'waits for a post of the semaphore' \
        'waits for the mutex break_lock, held by T'
}
