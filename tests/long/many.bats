#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# many.bats - 100 MB of records with 10 000 findings: each format has them all.

load ../run/common

records=$BATS_TEST_DIRNAME/../run/records

# Most rings are of two locks. The files are copies: symbols are of these.
setup_file() {
    cp "$B/lockhound" "$B/liblockhound.so" "$B/examples/broken_dining" "$BATS_FILE_TMPDIR"
    export MANY=$BATS_FILE_TMPDIR/many.jsonl
    python3 "$BATS_TEST_DIRNAME/many.py" --out "$MANY" \
        --run "$records/ring.jsonl" --run "$records/ring.jsonl" --run "$records/ring.jsonl" \
        --run "$records/runs/dining.jsonl" --run "$records/runs/hang.jsonl" \
        --run "$records/runs/timeout.jsonl" \
        "$BATS_FILE_TMPDIR"/{lockhound,liblockhound.so,broken_dining}
    [ "$(stat -c %s "$MANY")" -ge 100000000 ]
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
}

many() { # FORMAT
    try timeout 300 "$B/lockhound" report --all --format="$1" -o "r.$1" "$MANY"
    exits_with 67
    [ ! -s err.txt ] || { show; return 1; }
}

# How many different ones, of all.
counts() { # NUMBER LINES...
    [ "$(wc -l <"$2")" -eq "$1" ] && [ "$(sort -u "$2" | wc -l)" -eq "$1" ]
}

@test "the text has 10000 findings, with places in the source" {
    many text
    grep -c -e '^potential deadlock LH001' -e '^deadlock LH002' -e '^conditional ring LH001' \
        r.text >n.txt
    [ "$(cat n.txt)" -eq 10000 ]
    grep -q '  tools/[a-z]*\.c:[0-9]*$' r.text
    tail -n 2 r.text | grep -q '^lockhound: .*(LH001),$'
}

@test "the short form has 10000 findings" {
    many short
    [ "$(grep -c ': \(error\|warning\|info\): LH00' r.short)" -eq 10000 ]
    grep -q '^[^ ]*tools/[a-z]*\.c:[0-9]*: ' r.short
}

@test "JSON has 10000 findings" {
    many json
    python3 -c 'import json, sys
for f in json.load(open(sys.argv[1]))["findings"]:
    assert all(s["holds"]["stack"] and s["wants"]["stack"] for s in f["sides"])
    print(f["id"])' r.json >ids.txt
    counts 10000 ids.txt
}

@test "SARIF has 10000 results" {
    many sarif
    python3 -c 'import json, sys
for r in json.load(open(sys.argv[1]))["runs"][0]["results"]:
    assert len(r["codeFlows"][0]["threadFlows"]) >= 2
    print(r["properties"]["id"])' r.sarif >ids.txt
    counts 10000 ids.txt
}

@test "JUnit has 10000 cases" {
    many junit
    python3 -c 'import sys, xml.etree.ElementTree as tree
for case in tree.parse(sys.argv[1]).iter("testcase"):
    if len(case):
        print(case.get("name"))' r.junit >names.txt
    [ "$(wc -l <names.txt)" -eq 10000 ]
}

@test "DOT has each lock and order, rings in colour" {
    many dot
    grep -c -- ' -> ' r.dot >n.txt
    [ "$(cat n.txt)" -ge "$(grep -c '"type":"dependency"' "$MANY")" ]
    grep -c -- ' -> .*color=red' r.dot >n.txt
    [ "$(cat n.txt)" -gt 10000 ]
}

@test "HTML has 10000 findings, the first ones whole" {
    many html
    [ "$(grep -o '<article' r.html | wc -l)" -eq 10000 ]
}
