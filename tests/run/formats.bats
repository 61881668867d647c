#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# formats.bats - each format of a report, of the same three recorded runs: a ring
# of five that may close, one that did, and one that a timeout opens again. The
# records are the program's own; its files are not at hand, as on another machine.

load common

runs=$BATS_TEST_DIRNAME/records/runs

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    unset LOCKHOUND NO_COLOR LD_PRELOAD
}

report() {
    try "$B/lockhound" report "$@" "$runs"
}

# --- several formats ---

@test "several formats go to a file each, and one to standard output" {
    report
    mv out.txt text.txt
    report --format=json
    mv out.txt json.txt
    report --format=json -o a.json --format=text
    exits_with 67
    diff text.txt out.txt
    diff json.txt a.json
    report --format=json --output=b.json --format=text -o b.txt
    [ ! -s out.txt ]
    diff text.txt b.txt
    diff json.txt b.json
}

@test "the file may come before its format, and text is the format without one" {
    report --format=json
    mv out.txt json.txt
    report -o c.json --format=json
    diff json.txt c.json
    report
    mv out.txt text.txt
    report -o c.txt
    diff text.txt c.txt
}

@test "two reports to one place are an error" {
    report --format=json --format=text
    exits_with 2
    has 'two reports to standard output' err.txt
    report --format=json -o a --format=text -o a
    exits_with 2
    has 'two reports to a (' err.txt
    [ ! -e a ]
}

@test "run writes the formats when the program has ended, beside the live text" {
    try "$B/lockhound" run --all --dir=d --format=json -o r.json --format=text -- \
        "$B/examples/restock_with_timeout"
    exits_with 0
    has '^conditional ring LH001' out.txt
    has '^conditional ring LH001' err.txt
    try "$B/lockhound" report --all --format=json d
    diff out.txt r.json
}

@test "run says that a file cannot be written before it runs anything" {
    try "$B/lockhound" run --dir=d --format=json -o none/r.json -- touch ran
    exits_with 2
    has 'none/r.json: No such file' err.txt
    [ ! -e ran ] && [ ! -e d ]
}
