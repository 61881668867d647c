#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# ends.bats - a lock at an address that was used before is a new lock.

setup_file() {
    load common
    build_guests
    cp "$G/libclosed" "$G/libclosed2"
}

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
    export LOCKHOUND=all
}

# In these modes two locks came to lie at one address: no ring, of any grade.
two_locks() {
    local mode
    for mode in "$@"; do
        watched "$G/ends" $mode
        [ "$status" -ne 77 ] || { echo "$mode: no address came again"; return 1; }
        passes_quietly || { echo "in mode $mode"; return 1; }
    done
}

# In these it is the same one, and a ring that counts.
one_lock() {
    local mode
    for mode in "$@"; do
        watched "$G/ends" $mode
        exits_with 0 && has '^lockhound: potential deadlock LH001' err.txt &&
            absent '^lockhound: conditional' err.txt || { echo "in mode $mode"; return 1; }
    done
}

# In these nothing tells.
in_doubt() {
    local mode
    for mode in "$@"; do
        watched "$G/ends" $mode
        exits_with 0 && has '^lockhound: conditional ring LH001' err.txt &&
            has 'the end of mutex .* cannot be seen' err.txt &&
            absent '^lockhound: potential' err.txt || { echo "in mode $mode"; return 1; }
    done
}

has_hook() {
    nm -D --defined-only "$LIB" | grep -q " $1@"
}

@test "free ends the locks in the block" {
    two_locks freed freed-large resized-to-nothing
    one_lock kept
}

@test "a std::mutex ends with its object, however that is deleted" {
    for mode in deleted shared-pointer vector array; do
        watched "$G/deleted" $mode
        [ "$status" -ne 77 ] || { echo "$mode: no address came again"; return 1; }
        passes_quietly
    done
    watched "$G/deleted" kept
    exits_with 0
    has '^lockhound: potential deadlock LH001' err.txt
}

@test "realloc ends the locks in what it gives back" {
    two_locks moved moved-array shortened
    one_lock grown
}

@test "maps that go, are mapped over or lose their contents end their locks" {
    two_locks unmapped mapped-over dropped remapped
    one_lock advised-otherwise
}

@test "the end of a thread ends the locks on its stack and its thread-local ones" {
    two_locks stack-of-another stack-of-a-detached thread-local-of-another
    one_lock in-start-routine thread-local-kept
}

@test "a frame that was seen to be left ends its locks" {
    two_locks framed-apart
}

@test "a lock in a frame that may have been left is in doubt" {
    in_doubt framed
    one_lock in-main run-in-frame
}

@test "a lock in a pool of the program's own is in doubt" {
    in_doubt pooled
}

@test "a lock of a program with an allocator of its own is in doubt" {
    watched "$G/ownheap"
    exits_with 0
    has '^lockhound: conditional ring LH001' err.txt
    absent '^lockhound: potential' err.txt
}

@test "the reason is in the records, and the report has it" {
    LOCKHOUND= recorded "$G/ends" pooled
    exits_with 0
    records_are_valid
    "$B/lockhound" report --all records >report.txt
    grep -q 'cannot be seen' report.txt
    "$B/lockhound" report --all --format=json records |
        python3 -c 'import json, sys
r, = json.load(sys.stdin)["findings"][0]["reasons"]
assert r["reason"] == "unseen-end" and "address" in r["lock"], r'
}

@test "dlclose ends the locks of the library, if that goes" {
    has_hook dlclose || skip "dlclose has no hook"
    two_locks "unloaded $G/libclosed $G/libclosed2" \
        "unloaded $G/libclosed $G/libclosed"
    one_lock "still-loaded $G/libclosed"
}

@test "frames in a library that was closed are not those of the next one" {
    has_hook dlclose || skip "dlclose has no hook"
    watched "$G/ends" unloaded-code "$G/libclosed" "$G/libclosed2"
    exits_with 0
    has '^lockhound: potential deadlock LH001' err.txt
    [ "$(grep -c ' library_nest+.* (libclosed)' err.txt)" -eq 2 ]
    [ "$(grep -c ' library_nest+.* (libclosed2)' err.txt)" -eq 2 ]
}

# ---- held while it goes ----

freed_while_held() {
    exits_with 0
    has '^lockhound: LH012: .* is destroyed or freed while held' err.txt
    [ "$(grep -c '^lockhound: ' err.txt)" -eq 1 ]
}

@test "a lock that is freed or unmapped while held is told" {
    for mode in by-holder by-another unmapped moved-by-holder; do
        watched "$G/freed" $mode
        freed_while_held
    done
}

@test "a rwlock that is freed while held is told" {
    has_hook pthread_rwlock_rdlock || skip "rwlocks have no hooks"
    watched "$G/freed" read-lock
    freed_while_held
}

@test "who holds it and how it went is in the record" {
    recorded "$G/freed" by-another
    exits_with 0
    records_are_valid
    grep '"kind":"LH012"' records/* | grep -q '"detail":"freed","holder":2'
    recorded "$G/freed" unmapped
    grep '"kind":"LH012"' records/* | grep -q '"detail":"unmapped","holder":1'
}

@test "no other free is told" {
    for mode in after-release written-over unmapped-shared \
        by-holder-of-another; do
        watched "$G/freed" $mode
        exits_with 0
        absent 'LH012' err.txt
    done
}

@test "a lock in the place of one that was freed held is not held" {
    watched "$G/freed" taken-again
    exits_with 0
    has 'LH012' err.txt
    absent 'LH003' err.txt
}

# ---- the program is as alone ----

@test "results and errno of the memory functions are as alone" {
    is_transparent "$G/freed" results
    is_transparent "$G/ownheap" || has conditional err.txt
}

@test "an allocator that has old versions only keeps its blocks" {
    debug=$(ldconfig -p | awk '/libc_malloc_debug\.so/ { print $NF; exit }')
    [ -n "$debug" ] || skip "no libc_malloc_debug here"
    for preload in "$LIB $debug" "$debug $LIB"; do
        for mode in results churn; do
            LOCKHOUND= try timeout -s KILL "$LIMIT" env MALLOC_CHECK_=3 \
                LD_PRELOAD="$preload" "$G/freed" $mode
            exits_with 0
            absent . err.txt
        done
    done
}

@test "a sanitizer, which has mutexes and an allocator, keeps its blocks" {
    for kind in address thread; do
        gcc -D_GNU_SOURCE -fsanitize=$kind -O1 -g -pthread -I"$top/preload" \
            -o $kind "$top/tests/run/guest/freed.c" 2>/dev/null ||
            skip "gcc has no $kind sanitizer here"
        export ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0
        for mode in churn neighbours; do
            LOCKHOUND= watched ./$kind $mode
            passes_quietly
        done
        echo 'int main(int n, char **a) { free(*a = malloc(n)); free(*a); }' |
            gcc -include stdlib.h -fsanitize=$kind -o twice -x c - 2>/dev/null
        alone ./twice
        grep -o 'attempting.*-free' err.txt >want.txt || true
        watched ./twice
        grep -o 'attempting.*-free' err.txt | diff want.txt -
    done
}

@test "another allocator, preloaded or its own, keeps its blocks" {
    je=$(ldconfig -p | awk '/libjemalloc\.so\.2/ { print $NF; exit }')
    [ -n "$je" ] || skip "no jemalloc here"
    for preload in "$LIB $je" "$je $LIB"; do
        for mode in results churn; do
            LOCKHOUND= try timeout -s KILL "$LIMIT" env LD_PRELOAD="$preload" \
                "$G/freed" $mode
            passes_quietly
        done
        LOCKHOUND= try timeout -s KILL "$LIMIT" env LD_PRELOAD="$preload" \
            python3 -c 'print(len(str(list(range(100000)))))'
        exits_with 0
        has '^688890$' out.txt
    done
    # Ours is first: its blocks' ends are seen.
    try timeout -s KILL "$LIMIT" env LD_PRELOAD="$LIB $je" "$G/ends" freed
    passes_quietly
    try timeout -s KILL "$LIMIT" env LD_PRELOAD="$LIB $je" "$G/ends" kept
    has '^lockhound: potential deadlock LH001' err.txt
}
