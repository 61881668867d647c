#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# cxx.bats - the locking constructs of C++, with libstdc++ and, where it is
# installed, libc++: each is found when it is wrong, at the line in the source,
# and passes when it is right.

setup_file() {
    load common
    build_guests
    ! echo 'int main() {}' | clang++ -stdlib=libc++ -x c++ -o "$G/probe" - \
        2>/dev/null || for name in cxx statics libstatics; do
        how=
        case $name in lib*) how="-shared -fPIC" ;; esac
        # shellcheck disable=SC2086
        clang++ -stdlib=libc++ -D_GNU_SOURCE -std=c++17 -O1 -g -pthread $how \
            -I"$top/preload" -o "$G/$name-libc++" "$top/tests/run/guest/$name.cpp"
    done
}

setup() {
    load common
    unset LD_PRELOAD LOCKHOUND
    ulimit -c 0
    only_libstdcxx=
    cd "$BATS_TEST_TMPDIR"
}

# The program of this name, and its build with libc++ if there is one. libc++
# builds timed and shared mutexes and call_once from a mutex and a condition
# inside, which hides them: $only_libstdcxx.
builds_of() {
    echo "$G/$1"
    [ -n "$only_libstdcxx" ] || [ ! -e "$G/$1-libc++" ] || echo "$G/$1-libc++"
}

# One finding, of `a` and `b`, whose report names the lines with these comments.
finds_lines() {
    local program mode=$1
    shift
    for program in $(builds_of cxx); do
        rm -rf records
        try timeout -s KILL "$LIMIT" "$B/lockhound" run --dir=records -- "$program" "$mode"
        exits_with 66
        has 'potential deadlock LH001 between [a-z:]*[ab] and [a-z:]*[ab]:' err.txt
        has '^lockhound: 1 possible deadlock (LH001)' err.txt
        local comment
        for comment; do
            has "cxx\.cpp:$(grep -n "// $comment\$" "$top/tests/run/guest/cxx.cpp" | cut -d: -f1)\$" err.txt
        done
    done
}

is_clean() {
    local program mode
    for mode; do
        for program in $(builds_of cxx); do
            LOCKHOUND=all watched "$program" "$mode"
            passes_quietly
        done
    done
}

@test "C++: lock_guard in opposite orders" {
    finds_lines lock_guard "guard outer" "guard inner"
    is_clean lock_guard-right
}

@test "C++: unique_lock that asks again for what it gave back" {
    for program in $(builds_of cxx); do
        LOCKHOUND=all watched "$program" unique_lock
        exits_with 0
        has '^lockhound: conditional ring' err.txt
        has 'only thread T2 was seen' err.txt
    done
}

@test "C++: scoped_lock and lock try, and back off" {
    is_clean scoped_lock-right lock-right scoped_lock
}

@test "C++: recursive_mutex in opposite orders" {
    finds_lines recursive_mutex "recursive inner"
    is_clean recursive_mutex-right
}

@test "C++: timed_mutex in opposite orders, blocking and bounded" {
    only_libstdcxx=1
    finds_lines timed_mutex "timed inner"
    is_clean timed_mutex-right
    for program in $(builds_of cxx); do
        LOCKHOUND=all watched "$program" timed_mutex-bounded
        exits_with 0
        absent 'potential' err.txt
        has '^lockhound: conditional ring' err.txt
    done
}

@test "C++: shared_mutex in opposite orders, for writing and for reading" {
    only_libstdcxx=1
    nm -D "$LIB" | grep -q ' T pthread_rwlock_wrlock' || skip "no hooks of rwlocks yet"
    finds_lines shared_mutex "shared inner"
    is_clean shared_mutex-right
}

@test "C++: a condition wait asks for its mutex again, under another" {
    finds_lines condition_variable "condition wait"
    finds_lines condition_variable_any "any wait"
    is_clean condition_variable-right
}

@test "C++: call_once against a mutex" {
    only_libstdcxx=1
    finds_lines call_once "once inner"
    is_clean call_once-right
}

@test "C++: statics do with libc++ what they do with libstdc++" {
    [ -e "$G/statics-libc++" ] || skip "no libc++"
    is_transparent "$G/statics-libc++" race
    is_transparent "$G/statics-libc++" recursive
    LOCKHOUND=on-deadlock=exit is_transparent "$G/statics-libc++" recursive-among-threads
    LOCKHOUND=all watched "$G/statics-libc++" aborted
    passes_quietly
    watched "$G/statics-libc++" vs-lock
    exits_with 0
    has '^lockhound: potential deadlock LH001' err.txt
    alone "$G/guards" plugin "$G/libstatics-libc++"
    exits_with 0
    watched "$G/guards" plugin "$G/libstatics-libc++"
    passes_quietly
}
