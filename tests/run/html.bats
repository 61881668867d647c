#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# html.bats - a report as a page; tests/long opens it in a browser.

load common

records=$BATS_TEST_DIRNAME/records
runs=$records/runs

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    unset LOCKHOUND NO_COLOR LD_PRELOAD
}

page() { # FILE
    python3 "$BATS_TEST_DIRNAME/webpage.py" "$1" >page.txt
}

report() { # RECORDS...
    try "$B/lockhound" report --format=html -o r.html "$@"
    page r.html
}

ids() { # RECORDS...: as the JSON report has them, in order
    "$B/lockhound" report --format=json "$@" 2>/dev/null |
        python3 -c 'import json, sys
for f in json.load(sys.stdin)["findings"]: print(f["id"])'
}

@test "the page has each finding, step by step, and nothing from elsewhere" {
    report --all "$runs"
    exits_with 67
    awk '$1 == "finding" { print $2 }' page.txt >got.txt
    ids --all "$runs" | diff - got.txt
    awk '$1 == "finding" { print $3 }' page.txt | tr '\n' ' ' | grep -qx '6 10 6 4 '
    [ "$(grep -c '<p class="blocker">blocked by ' r.html)" -eq 13 ]
    [ "$(grep -c '; this closes the ring<' r.html)" -eq 1 ]
    [ "$(grep -c '; this would close the ring<' r.html)" -eq 3 ]
    [ "$(grep -c '^lock ' page.txt)" -eq 10 ]
    grep -qx 'order hangs+0x41a0 > hangs+0x41c8' page.txt
    report "$runs/timeout.jsonl"
    exits_with 0
    absent '^finding' page.txt
    has 'Nothing was found' r.html
}

@test "a lock of two findings has both counted in its row, and one is no plural" {
    report --all "$runs/hang.jsonl"
    [ "$(grep -c '^<tr id="l.*</a> and 1 more</td></tr>$' r.html)" -gt 0 ]
    has '<b>1</b> process</li>' r.html
    report "$records/ring.jsonl"
    absent '</a> and 1 more</td>' r.html
}

@test "each kind of finding, and records of nothing, make a whole page" {
    report --all "$records/kinds.jsonl"
    [ "$(grep -c '^finding' page.txt)" -eq 28 ]
    absent '^finding .* 0$' page.txt
    report "$records/clean.jsonl"
    exits_with 0
    head -n 1 "$runs/hang.jsonl" >none.jsonl
    report none.jsonl
    [ ! -s page.txt ]
}

@test "the graph has rings in colour, and what is not near one is dim" {
    type dot >/dev/null 2>&1 || skip "no Graphviz here"
    report --all "$runs"
    [ "$(grep -c '^node bad$' page.txt)" -eq 8 ]
    [ "$(grep -c '^edge bad$' page.txt)" -eq 8 ]
    [ "$(grep -c '^edge conditional$' page.txt)" -eq 2 ]
    report "$runs"
    [ "$(grep -c '^edge plain far$' page.txt)" -eq 2 ]
    [ "$(grep -c '^node plain far$' page.txt)" -eq 2 ]
}

@test "without Graphviz the page says so and has the orders" {
    mkdir bin
    PATH=$PWD/bin try "$B/lockhound" report --format=html -o r.html "$runs"
    exits_with 67
    page r.html
    absent '^node' page.txt
    [ "$(grep -c '^order ' page.txt)" -eq 10 ]
    has 'needs the program dot' r.html
}

@test "names of any bytes cannot get out of their place" {
    cat >odd.py <<'PY'
import sys
text = open(sys.argv[1]).read()
name = "</code></script><script>alert(1)</script>\\\"'&amp;\\u0001\\u0002\\u0003\\u001b]]>--><!--\\ufffe\\ud83d\\ude00\\u00e9\\n\\t\\u007f"
text = text.replace('"type":"lock",', '"type":"lock","name":"' + name + '",')
text = text.replace('/srv/demo/hangs', '/srv/<b>\\" onload=x/ha&ngs')
open("odd.jsonl", "w").write(text)
PY
    python3 odd.py "$runs/hang.jsonl"
    report odd.jsonl
    exits_with 67
    has '&lt;/script&gt;&lt;script&gt;alert(1)' r.html
    [ "$(grep -c '<script' r.html)" -eq 1 ]
}

@test "source lines are there where the file is, escaped, and not where it is none" {
    cat >crossed.c <<'SRC'
#include <pthread.h>
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
static void *there(void *arg)
{
    pthread_mutex_lock(&left); /* <b>"there" */
    pthread_mutex_lock(&right);
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, there, 0);
    pthread_join(t, 0);
    pthread_create(&t, 0, there, 0);
    pthread_mutex_lock(&right);
    pthread_mutex_unlock(&right);
    pthread_join(t, 0);
    pthread_mutex_lock(&right);
    pthread_mutex_lock(&left);
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
    return 0;
}
SRC
    gcc -g -O0 -pthread -o crossed crossed.c
    try timeout -s KILL 60 "$B/lockhound" run --all --dir=d --format=html -o r.html -- ./crossed
    page r.html
    has '<span class="here"><i>   6</i>     pthread_mutex_lock(&amp;left); /\* &lt;b&gt;&quot;there&quot; \*/' r.html
    has '<code>there</code>' r.html
    rm crossed.c
    report --all d
    absent '<pre' r.html
    mkfifo crossed.c
    report --all d
    absent '<pre' r.html
    mkdir folder
    rm crossed.c
    mv folder crossed.c
    report --all d
    absent '<pre' r.html
}

# A chain of locks with a ring at its end.
many() { # LOCKS
    awk -v n="$1" 'BEGIN {
        for (i = 1; i <= n; i++)
            printf "{\"type\":\"lock\",\"id\":%d,\"kind\":\"mutex\",\"address\":\"0x%x\",\"name\":\"lock %d\"}\n", 100 + i, 65536 + 64 * i, i
        for (i = 1; i < n; i++)
            printf "{\"type\":\"dependency\",\"id\":%d,\"thread\":1,\"holds\":[{\"lock\":%d,\"mode\":\"exclusive\",\"stack\":0}],\"wants\":%d,\"mode\":\"exclusive\",\"wait\":\"block\",\"stack\":0}\n", 1000 + i, 100 + i, 101 + i
        printf "{\"type\":\"dependency\",\"id\":999,\"thread\":1,\"holds\":[{\"lock\":1,\"mode\":\"exclusive\",\"stack\":0}],\"wants\":101,\"mode\":\"exclusive\",\"wait\":\"block\",\"stack\":0}\n"
    }'
}

@test "of 5000 locks the graph has those near the finding, the tables all" {
    { cat "$records/ring.jsonl"; many 5000; } >many.jsonl
    report many.jsonl
    exits_with 66
    absent 'skipped' err.txt
    [ "$(grep -c '^lock ' page.txt)" -eq 5002 ]
    [ "$(grep -c '^order ' page.txt)" -eq 5002 ]
    grep -qx 'lock lock 5000' page.txt
    type dot >/dev/null 2>&1 || skip "no Graphviz here"
    local n
    n=$(grep -c '^node' page.txt)
    [ "$n" -ge 5 ] && [ "$n" -le 250 ]
    has 'nearest to the findings' r.html
}
