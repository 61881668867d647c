#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# inspect.bats - processes that hang, explained from outside: alive, without a
# stop, and by a core file. None of them was watched.

setup_file() {
    load common
    build_guests
}

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
}

teardown() {
    [ -z "${pid:-}" ] || kill -9 "$pid" 2>/dev/null || true
}

# Starts a program that hangs and waits until all of its threads sleep and
# there are so many: hang THREADS MODE [N]. Its process is $pid.
hang() {
    local threads=$1
    shift
    "$G/hangs" "$@" >/dev/null 2>&1 3>&- &
    pid=$!
    for i in $(seq 2000); do
        [ "$(cat /proc/$pid/task/*/stat 2>/dev/null | grep -c ') S ')" -eq "$threads" ] && return
        read -rt 0.01 <> <(:) || :
    done
    echo "it does not sleep"
    return 1
}

inspect() {
    try timeout -s KILL "$LIMIT" "$B/lockhound" inspect "$@"
    # Paragraphs as lines: names decide where they are broken.
    sed -e ':a' -e 'N' -e '$!ba' -e 's/\n    \([^ ]\)/ \1/g' -e 's/\n  \([^ T]\)/ \1/g' \
        out.txt >lines.txt
}

# Alive, without a stop and as a core, the report has these lines.
all_ways() {
    local expected=$1
    shift
    inspect "$pid"
    exits_with "$expected"
    for line in "$@"; do has "$line" lines.txt; done
    cp lines.txt live.txt
    inspect --no-stop "$pid"
    exits_with "$expected"
    for line in "$@"; do has "$line" lines.txt; done
    gcore -o core "$pid" >/dev/null 2>&1
    inspect "core.$pid" "$G/hangs"
    exits_with "$expected"
    for line in "$@"; do has "$line" lines.txt; done
    cp live.txt lines.txt
}

@test "two threads, and their source lines" {
    hang 2 ring 2
    all_ways 67 'deadlock LH002: T1 .* and T2 .* wait for each other' \
        'T1 (main.*waits for the mutex m\[1\], held by T2' \
        'T2 .*waits for the mutex m\[0\], held by T1'
    inspect "$pid"
    has 'ring_member .*hangs.c:[0-9]' out.txt
    has 'pthread_mutex_lock' out.txt
    absent 'futex_wait' out.txt
}

@test "three threads and five" {
    hang 3 ring 3
    all_ways 67 '3 of them deadlocked' 'deadlock LH002: T1'
    kill -9 "$pid"
    hang 5 ring 5
    all_ways 67 '5 of them deadlocked' 'T5 .*waits for the mutex m\[0\], held by T1'
}

@test "mutexes with priority inheritance" {
    # The kernel refuses who closes the ring, and glibc puts it to sleep.
    hang 2 inherit
    inspect "$pid"
    exits_with 67
    has 'deadlock LH002: the kernel has found a ring of priority-inheriting' lines.txt
    has 'waits for the mutex m\[[01]\], held by T' lines.txt
    has 'waits for good for a mutex that would close a ring' lines.txt
}

@test "writers of read-write locks" {
    hang 2 write
    all_ways 67 'deadlock LH002' 'waits to write under rw\[1\], held by T2' \
        'waits to read under rw\[0\], held by T1'
}

@test "a thread that waits for itself" {
    hang 1 self
    all_ways 67 'self-deadlock LH003: T1' 'waits for the mutex m\[0\], which it holds itself'
}

@test "a join in the ring, of a thread and of the main thread" {
    hang 2 join
    all_ways 67 'deadlock LH002' 'T1 .*waits for the end of T2' 'T2 .*held by T1'
    kill -9 "$pid"
    hang 2 join-main
    all_ways 67 'deadlock LH002' 'T2 .*waits for the end of T1' 'T1 .*held by T2'
}

@test "a holder that has ended" {
    hang 1 gone
    all_ways 67 'LH004' 'held by thread [0-9]*, which is not there any more'
}

@test "readers are counted" {
    hang 3 readers
    all_ways 0 'no ring of waits found' \
        'waits to write under rw\[0\], held by 2 readers, not recorded'
}

@test "what is no lock: conditions, semaphores, barriers, once, a call" {
    hang 1 condition
    inspect "$pid"
    has 'waits for a signal of the condition signalled' lines.txt
    kill -9 "$pid"
    hang 1 semaphore
    inspect "$pid"
    has 'waits for a post of the semaphore posted' lines.txt
    kill -9 "$pid"
    hang 1 barrier
    inspect "$pid"
    has 'waits for the others at the barrier others' lines.txt
    kill -9 "$pid"
    hang 2 once
    inspect "$pid"
    has 'waits for the routine of the once once to be done' lines.txt
    has 'is in rt_sigsuspend(2)' lines.txt
    kill -9 "$pid"
    hang 2 stream
    inspect "$pid"
    has 'T2 .*waits for the stream .*held by T1' lines.txt
    exits_with 0
}

@test "a watched process tells what its threads hold, and where they took it" {
    LD_PRELOAD=$LIB hang 3 ring 3
    all_ways 67 'deadlock LH002' 'T1 .*held by T2'
    inspect "$pid"
    has 'holds m\[0\], taken at .*guest.h:[0-9]*' lines.txt
    inspect --format=json "$pid"
    python3 - <<'PY'
import json
for t in json.load(open("out.txt"))["threads"]:
    h, = t["holds"]
    assert h["mode"] == "exclusive" and any(
        f.get("function") == "ring_member" for f in h["stack"]), t
PY
}

@test "a watched process whose waits were interrupted before" {
    for mode in 'ring 2' join; do
        LD_PRELOAD=$LIB hang 2 $mode
        # Until the pieces in which it waits last longer than two looks.
        for i in $(seq 20); do
            kill -STOP "$pid"
            kill -CONT "$pid"
            inspect "$pid"
            exits_with 67
        done
        inspect --no-stop "$pid"
        exits_with 67
        kill -9 "$pid"
    done
}

@test "a wait with a limit, also when it was interrupted before" {
    hang 1 limit
    for i in 1 2; do
        inspect "$pid"
        exits_with 0
        has 'waits for a limited time for a signal of the condition signalled' lines.txt
    done
}

@test "as JSON" {
    hang 2 ring 2
    inspect --format=json "$pid"
    exits_with 67
    python3 - <<'PY'
import json
r = json.load(open("out.txt"))
assert r["rings"] == [[1, 2]], r["rings"]
a, b = r["threads"]
assert a["waits"] == "mutex" and a["lock"] == "m[1]" and a["owner"] == b["tid"], a
assert any(f.get("function") == "ring_member" for f in b["stack"])
PY
}

@test "a process that works is left as it was" {
    "$G/hangs" none >/dev/null 2>&1 3>&- &
    pid=$!
    for i in 1 2 3; do
        inspect "$pid"
        exits_with 0
    done
    [ "$(awk '/TracerPid/ { print $2 }' /proc/$pid/status)" -eq 0 ]
    grep -q 'State:.*S' /proc/$pid/status
}

@test "what cannot be looked at is said" {
    inspect 999999999
    exits_with 2
    has '^lockhound: inspect: process 999999999: no such process' err.txt
    inspect /no/such/core
    exits_with 2
    has '^lockhound: inspect: /no/such/core: No such file' err.txt
    echo text >text
    inspect text
    exits_with 2
    has '^lockhound: inspect: text: .*expected a process id or a core file' err.txt
    inspect
    exits_with 2
    has 'the process is missing' err.txt
    [ "$(wc -l <err.txt)" -eq 1 ]
}

# Starts a program that is hard to look at. Its process is $pid.
looked() {
    "$G/looked" "$1" >looked.txt 2>&1 3>&- &
    pid=$!
}

# The process has come that far: wait_for COMMAND...
wait_for() {
    for i in $(seq 1000); do
        "$@" && return
        read -rt 0.01 <> <(:) || :
    done
    echo "never: $*"
    return 1
}

# Of its threads, one is in this state.
is_in_state() {
    grep -qs ") $1 " /proc/"$pid"/task/*/stat
}

@test "a signal that arrives while it is stopped is delivered" {
    looked signalled
    wait_for grep -q ready looked.txt
    LD_PRELOAD=$G/libsender inspect "$pid"
    exits_with 0
    wait_for grep -q signalled looked.txt
}

@test "a main thread that has ended before the others" {
    looked main-ended
    wait_for is_in_state Z
    wait_for eval '[ "$(cat /proc/$pid/task/*/stat | grep -c ") S ")" -eq 2 ]'
    inspect "$pid"
    exits_with 67
    has 'T1 (main, tid [0-9]*) has ended' lines.txt
    has 'waits for the mutex b, held by' lines.txt
    has 'b_first .*looked.c:' lines.txt
    inspect --no-stop "$pid"
    exits_with 67
    has 'waits for the mutex b, held by' lines.txt
}

@test "a thread that nothing stops is left alone" {
    looked vfork-beside
    wait_for is_in_state D
    inspect "$pid"
    exits_with 0
    has 'T1 (main, tid [0-9]*) is in pause(2)' lines.txt
    has 'T2 .* is in vfork(2)' lines.txt
    wait_for is_in_state S
    kill -9 "$pid"
    looked vfork
    wait_for is_in_state D
    inspect "$pid"
    exits_with 2
    has 'sleeps in the kernel where nothing stops it (expected: --no-stop)' err.txt
    inspect --no-stop "$pid"
    exits_with 0
    has 'is in vfork(2)' lines.txt
}

@test "a process of another architecture is refused" {
    echo '.globl _start; _start: mov $29, %eax; int $0x80; jmp _start' >pause.S
    gcc -m32 -nostdlib -static -o pause32 pause.S || skip "no assembler for it"
    ./pause32 3>&- &
    pid=$!
    kill -0 "$pid" && [ "$(readlink "/proc/$pid/exe")" = "$PWD/pause32" ] || skip "no kernel for it"
    inspect "$pid"
    exits_with 2
    has "process $pid: of another architecture (expected x86-64)" err.txt
    [ "$(wc -l <err.txt)" -eq 1 ]
}

@test "another user's process is refused with what is needed" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    hang 1 self
    try setpriv --reuid=65534 --regid=65534 --clear-groups "$B/lockhound" inspect "$pid"
    exits_with 2
    has 'not permitted to look at it (expected: same user' err.txt
}
