#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# verbose.bats - the text with all that is recorded: each request in the orders of
# a ring, whole stacks, and what limits the records.

load common

records=$BATS_TEST_DIRNAME/records

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    unset LOCKHOUND NO_COLOR LD_PRELOAD
}

# The order left, right comes from pay() and, under a gate, from refund().
ways() {
    cat >ways.c <<'SRC'
#include <pthread.h>
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t turn;
static void nest(pthread_mutex_t *outer, pthread_mutex_t *inner)
{
    pthread_mutex_lock(outer);
    pthread_mutex_lock(inner);
    pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
}
static void pay(void) { nest(&left, &right); }
static void refund(void)
{
    pthread_mutex_lock(&gate);
    nest(&left, &right);
    pthread_mutex_unlock(&gate);
}
static void *there(void *arg)
{
    pay();
    refund();
    refund();
    pthread_barrier_wait(&turn);
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_barrier_init(&turn, 0, 2);
    pthread_create(&t, 0, there, 0);
    pthread_barrier_wait(&turn);
    nest(&right, &left);
    pthread_join(t, 0);
    return 0;
}
SRC
    gcc -g -O0 -pthread -o ways ways.c
    LIMIT=60
    try timeout -s KILL "$LIMIT" "$B/lockhound" run --stacks=exact --dir=d "$@" -- ./ways
    exits_with 66
}

@test "verbose has each request in the orders of a ring, with its count" {
    ways
    try "$B/lockhound" report d
    exits_with 66
    absent '^  Also ' out.txt
    absent ' pay ' out.txt
    try "$B/lockhound" report --verbose d
    exits_with 66
    [ "$(grep -c '^  Also ' out.txt)" -eq 1 ]
    has '^  Also left then right, first by T2 (there)$' out.txt
    sed -n '/^  Also/,/^$/p' out.txt >also.txt
    grep -A 2 '^    left taken at:$' also.txt | tail -n 1 | grep -q '#1 pay  *ways.c:13$'
    grep -A 2 '^    right asked for at:$' also.txt | tail -n 1 | grep -q '#1 pay  *ways.c:13$'
    has '^  right then left: once by 1 thread\.$' out.txt
    has '^  left then right: twice by 1 thread\.$' out.txt
}

@test "verbose hides no frame" {
    ways
    try "$B/lockhound" report d
    absent '_start' out.txt
    try "$B/lockhound" report --verbose d
    [ "$(grep -c '#[0-9]* _start' out.txt)" -eq 2 ]
}

@test "run has it in its text, and in that of the formats at the end" {
    ways --verbose --format=text -o r.txt
    has '#[0-9]* _start' err.txt
    has '^  Also left then right, first by T2' r.txt
}

@test "JSON has each request with the option and without" {
    ways
    try "$B/lockhound" report --format=json d
    mv out.txt json.txt
    try "$B/lockhound" report --verbose --format=json d
    diff json.txt out.txt
    python3 -c 'import json
sides = json.load(open("json.txt"))["findings"][0]["sides"]
counts = sorted(len(s["witnesses"]) for s in sides)
assert counts == [0, 1], counts
[w] = [w for s in sides for w in s["witnesses"]]
assert w["thread"]["id"] == 2 and (w["times"], w["threads"]) == (0, 0), w
assert w["holds_stack"][1]["function"] == w["wants_stack"][1]["function"] == "pay"
assert "process" not in w'
}

@test "the other formats are the same with it" {
    for f in short sarif junit dot html; do
        try "$B/lockhound" report --all --format=$f "$records/runs"
        mv out.txt plain.txt
        try "$B/lockhound" report --all --verbose --format=$f "$records/runs"
        diff plain.txt out.txt
    done
}

@test "where there is no other request, verbose says so" {
    try "$B/lockhound" report --verbose "$records/ring.jsonl"
    exits_with 66
    has '^  The records have no other request in these orders\.$' out.txt
    absent '^  Also ' out.txt
}

@test "requests of other processes are told with them, those alike once" {
    try "$B/lockhound" report --verbose "$records/workers"
    absent '^  Also ' out.txt
    sed 's/"pid":700/"pid":900/
        s/\[1,4130\],\[1,4500\]/[1,4130],[1,4999]/' "$records/ring.jsonl" >other.jsonl
    try "$B/lockhound" report --verbose "$records/ring.jsonl" other.jsonl
    has 'Found in 2 processes' out.txt
    [ "$(grep -c '^  Also ' out.txt)" -eq 1 ]
    has '^  Also accounts then journal: 1000 times by 3 threads, first by process 900 T2' out.txt
    has 'bank+0x1387' out.txt
}

@test "verbose lists all sides, locks and processes" {
    python3 - >long.jsonl <<'PY'
N = 12
print('{"lockhound":1,"type":"process","pid":5,"exe":"/srv/x"}')
for i in range(1, N + 1):
    print('{"type":"thread","id":%d,"tid":%d}' % (i, 4 + i))
    print('{"type":"lock","id":%d,"kind":"mutex","address":"0x%d0","name":"lock %d"}' % (i, i, i))
side = ('{"dependency":%d,"thread":%d,"holds":%d,"holds_mode":"exclusive","holds_stack":0,'
        '"wants":%d,"wants_mode":"exclusive","wants_stack":0,"wait":"block","times":%d,"threads":1}')
print('{"type":"finding","id":1,"kind":"LH001","grade":"possible","ring":[%s]}' %
      ",".join(side % (i, i, i, i % N + 1, i + 2) for i in range(1, N + 1)))
PY
    try "$B/lockhound" report long.jsonl
    has 'and 4 more sides' out.txt
    try "$B/lockhound" report --verbose long.jsonl
    absent ' more sides\| more orders' out.txt
    [ "$(grep -c '^    holds lock ' out.txt)" -eq 12 ]
    [ "$(grep -c '^  lock [0-9]*: mutex' out.txt)" -eq 12 ]
    has '^  lock 12 then lock 1: 14 times by 1 thread\.$' out.txt
}

@test "verbose has the notes of the records, and where locks were initialized" {
    sed '/"type":"end"/i {"type":"note","code":"memory","text":"the memory is used up"}' \
        "$records/ring.jsonl" >noted.jsonl
    try "$B/lockhound" report --verbose noted.jsonl
    has '^  Note on process 700: the memory is used up$' out.txt
    grep -A 1 '^    the whole stack:$' out.txt | tail -n 1 | grep -q '#0 bank+0x125c$'
}

@test "verbose fits in 80 columns" {
    for f in ring.jsonl kinds.jsonl runs workers; do
        try "$B/lockhound" report --all --verbose "$records/$f"
        awk 'length > 80 { print; bad = 1 } END { exit bad }' out.txt
    done
}
