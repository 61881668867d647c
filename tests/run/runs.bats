#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# runs.bats - rings that no run has alone.

load common

setup_file() { build_guests; }

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    unset LOCKHOUND
}

# Each argument is a run of guest/orders, which finds nothing by itself.
runs() {
    rm -rf r
    mkdir r
    local n=0 arguments
    for arguments; do
        n=$((n + 1))
        try timeout -s KILL "$LIMIT" "$B/lockhound" run --all --dir="r/$n" -- \
            "$G/orders" $arguments
        exits_with 0
        absent 'LH001 ' err.txt
    done
}

# What a report over all of them says.
report() {
    try "$B/lockhound" report --all r/*
    tr -s '\n ' ' ' <out.txt >flat.txt
}

@test "contrary_orders_of_two_runs_are_a_ring" {
    runs ab ba
    report
    exits_with 66
    has '^potential deadlock LH001 between a_lock and b_lock' out.txt
    has 'process [0-9]* T2 (take) took them in contrary orders, each in a process of its own' flat.txt
    has 'None of these had this ring alone: process [0-9]* is of r/[12]/[^ ]*jsonl, process [0-9]* is of r/[12]/[^ ]*jsonl\.' flat.txt
    has 'r/1/.*r/2/\|r/2/.*r/1/' flat.txt
    [ "$(grep -c LH001 out.txt)" -eq 2 ]
    absent '.\{81\}' out.txt
    try "$B/lockhound" report --format=json r/*
    python3 - out.txt <<'PY'
import json, sys
[f] = json.load(open(sys.argv[1]))["findings"]
assert f["grade"] == "possible" and f["reasons"] == [], f
assert {s["thread"]["records"][:4] for s in f["sides"]} == {"r/1/", "r/2/"}, f
assert sorted(s["thread"]["process"] for s in f["sides"]) == sorted(f["processes"])
PY
    for format in short sarif junit dot; do
        try "$B/lockhound" report --format=$format r/*
        exits_with 66
        has 'LH001' out.txt
    done
    try "$B/lockhound" report --format=html r/*
    has '<p>None of these had this ring alone: process [0-9]* is of r/[12]/[^ ]*jsonl, process [0-9]* is of r/[12]/[^ ]*jsonl\.</p>' out.txt
}

@test "equal_orders_are_none_and_more_runs_are_still_one_ring" {
    runs ab ab
    report
    exits_with 0
    absent LH001 out.txt
    runs ab ba ab ba
    report
    exits_with 66
    [ "$(grep -c '^potential deadlock LH001' out.txt)" -eq 1 ]
}

@test "locks_made_at_one_place_each_are_one_over_runs" {
    runs 'ab thread heap' 'ba thread heap'
    report
    exits_with 66
    has '^potential deadlock LH001 between ' out.txt
    has 'each in a process of its own' flat.txt
}

@test "several_locks_of_one_class_make_it_conditional" {
    runs 'ab thread several' 'ba thread several'
    report
    exits_with 0
    has '^conditional ring LH001 between ' out.txt
    has 'Why not now: .* stands for several locks made there, and the runs may have taken different ones' flat.txt
}

# Which of its locks each run took is not known, but their order is by address.
@test "locks_of_one_class_nested_upwards_and_downwards_are_conditional" {
    runs "ab thread pair" "ab thread pair"
    report
    exits_with 0
    absent 'LH001 ' out.txt
    runs "ab thread pair" "ba thread pair"
    report
    exits_with 0
    has '^conditional ring LH001 between' out.txt
    has 'stands for several locks made there' flat.txt
    has "1 conditional" flat.txt
}

@test "main_threads_alone_make_it_conditional" {
    runs 'ab main' 'ba main'
    report
    exits_with 0
    has '^conditional ring LH001 between a_lock and b_lock' out.txt
    has 'only main threads had done this; a second thread that does it could block' flat.txt
    runs 'ab main' 'ba thread'
    report
    exits_with 66
}

@test "what_a_process_of_one_thread_did_is_conditional" {
    runs 'ab alone' 'ba thread'
    report
    exits_with 0
    has '^conditional ring LH001 between a_lock and b_lock' out.txt
    has 'T1 (main) did its part in a process without other threads' flat.txt
}

# Both runs know by themselves that it could not happen.
@test "ring_of_one_run_keeps_its_grade" {
    for run in 1 2; do
        try "$B/lockhound" run --dir=r/$run -- "$G/orders" ab both
    done
    report
    exits_with 0
    [ "$(grep -c '^conditional ring LH001' out.txt)" -eq 1 ]
    absent 'None of these had' flat.txt
    for order in ab ba; do
        try "$B/lockhound" run --dir=r/3$order -- "$G/orders" $order
    done
    report
    exits_with 66
    [ "$(grep -c 'LH001 between' out.txt)" -eq 1 ]
    has 'is of r/3ab/.* is of r/3ba/' flat.txt
}

@test "gate_in_both_runs_makes_it_conditional" {
    runs 'ab thread static gate' 'ba thread static gate'
    report
    exits_with 0
    has 'Why not now: both hold gate (taken at ' flat.txt
    runs 'ab thread static gate' 'ba thread static'
    report
    exits_with 66
}

@test "locks_of_another_program_are_others" {
    runs ab
    cp "$G/orders" other
    try "$B/lockhound" run --dir=r/other -- ./other ba
    report
    exits_with 0
    absent LH001 out.txt
}

@test "parent_and_child_are_one_run_whose_parts_stay_theirs" {
    runs "ab fork"
    [ "$(ls r/1/*.jsonl | wc -l)" -eq 2 ]
    report
    exits_with 0
    absent 'LH001 ' out.txt
    runs "ab fork" "ab fork" ab
    report
    exits_with 0
    absent 'LH001 ' out.txt
    runs "ab fork" ba
    report
    exits_with 66
    has '^potential deadlock LH001 between' out.txt
    has 'r/1/.*r/2/\|r/2/.*r/1/' flat.txt
    [ "$(grep -c LH001 out.txt)" -eq 2 ]
}

# A program is its file, not the folder that it lies in.
@test "program_in_another_folder_is_the_same" {
    runs ab
    mkdir other
    cp "$G/orders" other
    try "$B/lockhound" run --dir=r/other -- other/orders ba
    report
    exits_with 66
    has '^potential deadlock LH001 between a_lock and b_lock' out.txt
}

# $1 is gcc's flag for the id of a build; the second build swaps the locks.
builds() {
    local build
    for build in 1 2; do
        if [ $build -eq 1 ]; then
            cp "$top/tests/run/guest/orders.c" built.c
        else
            sed '/^static pthread_mutex_t [ab]_lock/{
                s/a_lock/x_lock/; s/b_lock/a_lock/; s/x_lock/b_lock/
                }' "$top/tests/run/guest/orders.c" >built.c
        fi
        gcc -D_GNU_SOURCE -g -pthread "-Wl,--build-id=$1" \
            -I"$top/tests/run/guest" -I"$top/preload" -o built built.c
        try timeout -s KILL "$LIMIT" "$B/lockhound" run --dir=r/$build -- ./built ab
        exits_with 0
    done
}

@test "other_build_is_another_program_and_told" {
    builds sha1
    report
    exits_with 0
    absent 'LH001' out.txt
    has "^lockhound: note: there are records of several builds of $PWD/built, whose orders are not compared (builds, pid [0-9]*)$" err.txt
    [ "$(grep -c 'several builds' err.txt)" -eq 1 ]
}

@test "where_builds_have_no_ids_it_is_conditional" {
    builds none
    report
    exits_with 0
    has '^conditional ring LH001 between' out.txt
    has 'Why not now: [ab]_lock is known by a file without a build id: built anew between the runs, it may have another lock there\.' flat.txt
    try "$B/lockhound" report --all --format=json r/*
    has '"reason": "no-build-id"' out.txt
}

# Equal numbers of processes in containers: what each has forked is its own.
@test "children_are_found_by_their_parents_where_numbers_come_again" {
    runs "ab fork" "ba fork"
    sed -i -e '1s/"pid":[0-9]*/"pid":7/' \
        -e '/forked_from/s/"pid":7,\(.*"forked_from":\)[0-9]*/"pid":8,\17/' r/?/*.jsonl
    for i in 1 2; do
        try "$B/lockhound" report --all "r/$i"
        exits_with 0
    done
    report
    exits_with 66
    has '^potential deadlock LH001 between' out.txt
    has '4 processes' out.txt
}

@test "run finds what its processes have not found alone" {
    try timeout -s KILL "$LIMIT" "$B/lockhound" run --dir=r --format=json -o r.json \
        -- sh -c "'$G/orders' ab; '$G/orders' ba; true"
    exits_with 66
    has '^potential deadlock LH001 between [ab]_lock and [ab]_lock' err.txt
    python3 -c 'import json; assert len(json.load(open("r.json"))["findings"]) == 1'
    try timeout -s KILL "$LIMIT" "$B/lockhound" run --dir=s -- \
        sh -c "'$G/orders' ab; '$G/orders' ab; '$G/orders' ba alone; true"
    exits_with 0
    has '1 conditional' err.txt
}
