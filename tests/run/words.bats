#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# words.bats - how reports read: whom and what they name, what they advise.

setup_file() {
    load common
    build_guests
}

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
    unset LOCKHOUND
}

run_it() {
    try timeout -s KILL "$LIMIT" "$B/lockhound" run --dir="$PWD/records" "$@"
    tr -s ' \n' ' ' <err.txt >flat.txt
}

# ---- lockhound run ----

@test "the thread that ended with a lock is named" {
    run_it -- "$G/hangs" gone
    exits_with 67
    has 'LH004: T1 (main) waits for m\[0\], whose holder T2 (.*) has ended without' flat.txt
}

@test "a lock is to be released before a request, not before main" {
    run_it -- "$G/hangs" self
    exits_with 67
    has 'Fix: release m\[0\] before asking for it again in ' flat.txt
}

@test "two readers that want to write: one lock, and no advice on an order" {
    timeout -s KILL "$LIMIT" env LD_PRELOAD="$LIB" LOCKHOUND="dir=$PWD" \
        "$G/words" upgrade 2>err.txt 3>&- &
    pid=$!
    until grep -qs LH002 words.*.jsonl; do read -rt 0.01 <> <(:) || :; done
    kill "$pid"
    try "$B/lockhound" report .
    exits_with 67
    tr -s ' \n' ' ' <out.txt >flat.txt
    has 'deadlock LH002 over table: T1 (main) and T2 (upgrade)' flat.txt
    has 'Fix: release table before asking to write in upgrade' flat.txt
    absent 'table and table' flat.txt
}

@test "a GRWLock is read and then written, too" {
    sed 's/"kind":"rwlock"/"kind":"grwlock"/' "$top/tests/run/records/kinds.jsonl" >k.jsonl
    try "$B/lockhound" report k.jsonl
    tr -s ' \n' ' ' <out.txt >flat.txt
    has 'LH003: T2 (deposit) waits for GRWLock@[^.]*waits forever' flat.txt
    has 'Fix: release GRWLock@[^ ]* before asking for it again in [^ ]*; to write after' flat.txt
}

@test "the places of a long stack are in columns" {
    run_it -- "$G/words" deep
    exits_with 67
    [ "$(grep -c '^      #9  [a-z]' err.txt)" -eq 2 ]
    [ "$(grep -c '^      #10 [a-z]' err.txt)" -eq 2 ]
    [ "$(sed -n 's/^\( *#[0-9]* *descend  *\).*/\1/p' err.txt | awk '{ print length }' | sort -u | wc -l)" -eq 1 ]
}

@test "a thread of the parent is not one of the child, too" {
    run_it -- "$G/forkheld" request
    has 'LH020' err.txt
    has ' 3 threads, 2 processes' flat.txt
}

# ---- the bare preload ----

@test "bare: two readers that want to write" {
    timeout -s KILL "$LIMIT" env LD_PRELOAD="$LIB" "$G/words" upgrade 2>err.txt 3>&- &
    pid=$!
    until grep -qs LH002 err.txt; do read -rt 0.01 <> <(:) || :; done
    kill "$pid"
    has '^lockhound: deadlock LH002 over table$' err.txt
    has '^    holds table for reading, taken at$' err.txt
    has '^lockhound: self-deadlock LH003: table is requested by its own holder, T[12] ' err.txt
}

@test "bare: nobody took the end of a thread" {
    LOCKHOUND=on-deadlock=exit watched "$G/hangs" join
    exits_with 67
    has '^    waits for m' err.txt
    has '^    and waits for the end of T2 at' err.txt
    absent 'holds the end of' err.txt
}

@test "bare: an initialization is not held" {
    watched "$G/once" vs-lock
    has '^    initializes _ZL4once, begun at$' err.txt
    absent 'holds _ZL4once' err.txt
}

# ---- what is asked for wrongly ----

@test "help is given where it is looked for" {
    for ask in "help run" "run -h" "run --help"; do
        try "$B/lockhound" $ask
        exits_with 0
        has '^usage: lockhound run ' out.txt
    done
    try "$B/lockhound" report -h
    has '^usage: lockhound report ' out.txt
    for ask in help -h --help; do
        try "$B/lockhound" $ask
        exits_with 0
        has '^  lockhound inspect ' out.txt
    done
}

@test "help is in columns" {
    try "$B/lockhound" run --help
    [ "$(sed -n 's/^\(  --[^ ]*  *\).*/\1/p' out.txt | awk '{ print length }' | sort -u | wc -l)" -eq 1 ]
    [ "$(wc -L <out.txt)" -le 80 ]
}

@test "--on-hang alone would do nothing, and is refused" {
    run_it --on-hang=kill -- true
    exits_with 2
    has 'on-hang=kill: .*expected --hang-after=SECONDS' err.txt
}

@test "what is no core file is said to be none" {
    echo hello >note
    try "$B/lockhound" inspect note
    exits_with 2
    has 'inspect: note: no core file (expected a process id or a core file)' err.txt
}

# ---- all of it ----

@test "each order of a ring of five is counted" {
    run_it -- "$B/examples/broken_dining"
    exits_with 66
    has 'fork_\[4\].m then fork_\[0\].m: 20 times' flat.txt
}

@test "inspect says what a read-write lock is held for" {
    LD_PRELOAD="$LIB" "$G/words" upgrade 2>err.txt 3>&- &
    pid=$!
    until grep -qs LH002 err.txt; do read -rt 0.01 <> <(:) || :; done
    try "$B/lockhound" inspect "$pid"
    kill "$pid"
    has '^    holds table for reading, taken at ' out.txt
}

@test "bare: a folder for records that is not there" {
    LOCKHOUND="dir=$PWD/none" watched true
    exits_with 0
    has 'no records are written: dir= is no folder that may be written to (it is not made)' err.txt
}

@test "a core of another program than the one that is given" {
    LD_PRELOAD= "$G/words" deep 2>/dev/null >&2 3>&- &
    pid=$!
    until grep -qs futex "/proc/$pid/wchan" || [ "$(cut -d' ' -f1 "/proc/$pid/syscall")" = 202 ]; do
        read -rt 0.01 <> <(:) || :
    done
    gcore -o core "$pid" >/dev/null 2>&1 || skip "no gcore"
    kill "$pid"
    cp "$G/words" right
    cp "$G/hangs" wrong
    try "$B/lockhound" inspect "core.$pid" ./wrong
    has "/wrong: is not the file that was recorded; " err.txt
    try "$B/lockhound" inspect "core.$pid" ./right
    absent 'is not the file' err.txt
    has ' descend ' out.txt
}
