#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# names.bats - what locks on the heap and on stacks are called: their member, if
# source and types leave no doubt, else their place.

load common

names=$BATS_TEST_DIRNAME/names

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    unset LOCKHOUND NO_COLOR LD_PRELOAD
    ulimit -c 0
}

# Compiles a copy of the source with these flags and runs it; records are in r.
# The compiler is $CC or $CXX.
record() {
    local source=$1
    shift
    rm -rf r
    cp "$names/$source" .
    case $source in
    *.cpp) ${CXX:-g++} -std=c++17 -pthread "$@" -o program "$source" ;;
    *) ${CC:-gcc} -pthread "$@" -o program "$source" ;;
    esac
    try timeout -s KILL "$LIMIT" "$B/lockhound" run --dir=r -- ./program
}

report() {
    try "$B/lockhound" report --all "$@" r
}

called_as_in() {
    report --format=json
    python3 "$names/check.py" "$names/$1" out.txt
}

# All names in the report but those of statics, sorted.
all_names() {
    report --format=json
    python3 -c '
import json
for name in sorted({lock["name"] for finding in json.load(open("out.txt"))["findings"]
                    for lock in finding["locks"] if "static" not in lock["origin"]}):
    print(name)'
}

@test "members of what typed variables lead to, in C" {
    for flags in -O0 -O1 -O2 "-O2 -gdwarf-4" "-O2 -flto" "-O1 -gsplit-dwarf"; do
        record members.c -g $flags
        called_as_in members.c
    done
}

@test "members of what typed variables lead to, in C by clang" {
    for flags in -O0 -O2; do
        CC=clang record members.c -g $flags
        called_as_in members.c
    done
}

@test "members of classes, in C++" {
    for flags in -O0 -O2; do
        record members.cpp -g $flags
        called_as_in members.cpp
    done
}

@test "members of classes, in C++ by clang" {
    for flags in -O0 -O2; do
        CXX=clang++ record members.cpp -g $flags
        called_as_in members.cpp
    done
}

# A static of a function has its function beside it.
@test "statics have their namespaces, whoever compiled them and however" {
    cat >want.txt <<'EOF'
(anonymous namespace)::mutex
disk::mutex
inside in Cache::guard
net::(anonymous namespace)::own[1]
net::mutex
EOF
    for flags in -O0 -O2 "-O2 -gdwarf-4" "-O2 -flto"; do
        for CXX in g++ clang++; do
            [[ $CXX$flags != clang*-flto ]] || continue
            record statics.cpp -g $flags
            report
            sed -n 's/^  \([^ ].*\): mutex, static, declared at statics.cpp:[0-9]*/\1/p' out.txt |
                LC_ALL=C sort -u >list.txt
            diff want.txt list.txt || {
                echo "$CXX $flags"
                return 1
            }
        done
    done
}

@test "a line that names another lock than was taken gives it no name" {
    for flags in -O0 -O1 -O2 -O3 -Os; do
        for CC in gcc clang; do
            record traps.c -g $flags
            all_names >list.txt
            [ "$(wc -l <list.txt)" -ge 5 ]
            absent other list.txt
            absent inbox list.txt
            if grep -v '^\(session->lock\|queue->lock\)\( #[0-9]*\)\?$\|^mutex@' list.txt; then
                echo "$CC $flags"
                return 1
            fi
        done
    done
}

@test "without debug information there are no members" {
    record members.c -O1
    all_names >list.txt
    [ "$(wc -l <list.txt)" -ge 20 ]
    [ "$(grep -vc '^mutex@' list.txt)" -eq 0 ]
}

@test "a source that was changed since, or is gone, tells no members" {
    record members.c -g
    cp members.c kept
    touch -d '1 hour' members.c
    all_names >list.txt
    [ "$(grep -vc '^mutex@members.c:' list.txt)" -eq 0 ]
    rm members.c
    all_names | diff list.txt -
}

@test "the name is the same in every format" {
    record members.c -g
    report
    has 'between session->rows\[...\]\[...\] and anchor' out.txt
    has '^  session->rows\[...\]\[...\]: mutex, initialized at members.c:[0-9]* in rows as$' out.txt
    has '^    s->rows\[i\]\[1\]$' out.txt
    for format in short json junit sarif dot html; do
        report --format=$format
        grep -e 'session->rows\[\.\.\.\]\[\.\.\.\]' -e 'session-&gt;rows\[\.\.\.\]\[\.\.\.\]' out.txt
        absent "mutex@members.c:$(grep -n 'rows\[i\]\[1\]' members.c | cut -d: -f1)" out.txt
    done
}

@test "a finding has the same fingerprint with its source and without" {
    record members.c -g
    try "$B/lockhound" baseline -o with.json r
    mv members.c kept
    try "$B/lockhound" baseline -o without.json r
    grep -o '"fingerprint": *"[^"]*"' with.json >with.txt
    grep -o '"fingerprint": *"[^"]*"' without.json | diff with.txt -
    [ -s with.txt ]
}

@test "a rule matches the member, and the place" {
    record members.c -g
    local line
    line=$(grep -n 'not s->lock' members.c | cut -d: -f1)
    for lock in 'session->state.inner' "mutex@members.c:$((line - 1))"; do
        echo "*: lock=$lock" >rules
        report --suppressions=rules
        has 'suppressed' out.txt
        absent 'matched nothing' err.txt
    done
    report --gen-suppressions
    has 'lock=session->state.inner' out.txt
    grep '^LH[0-9]*: ' out.txt >rules
    report --suppressions=rules
    absent '^conditional ring' out.txt
    absent 'matched nothing' err.txt
}

@test "inspect names what threads wait for and hold" {
    cat >hang.cpp <<'SRC'
#include <atomic>
#include <mutex>
#include <thread>
struct Node {
    int n;
    std::mutex m;
    std::atomic<int> *ready;
    void enter(Node *other)
    {
        std::lock_guard<std::mutex> mine(m);
        ++*ready;
        while (*ready < 2)
            ;
        std::lock_guard<std::mutex> its(other->m);
        n++;
    }
};
int main()
{
    std::atomic<int> r{ 0 };
    auto *x = new Node, *y = new Node;
    x->ready = y->ready = &r;
    std::thread t([&] { x->enter(y); }), u([&] { y->enter(x); });
    t.join();
    u.join();
}
SRC
    g++ -g -O1 -pthread -o hang hang.cpp
    ./hang >/dev/null 2>&1 3>&- &
    pid=$!
    for i in $(seq 2000); do
        [ "$(cat /proc/$pid/task/*/stat 2>/dev/null | grep -c ') S ')" -eq 3 ] && break
        read -rt 0.01 <> <(:) || :
    done
    try timeout -s KILL "$LIMIT" "$B/lockhound" inspect "$pid"
    kill -9 "$pid"
    exits_with 67
    [ "$(grep -c 'waits for the mutex Node::m at 0x[0-9a-f]*, held by' out.txt)" -eq 2 ]
}
