#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# sarif.bats - SARIF under sarif-multitool validate, the checker of those who
# wrote the standard: one that is installed, else one from npm, else none.

load ../run/common

records=$BATS_TEST_DIRNAME/../run/records

setup_file() {
    export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1
    type sarif-multitool >/dev/null 2>&1 && return
    type npm >/dev/null 2>&1 || return 0
    timeout 300 npm install --no-audit --no-fund --prefix "$BATS_FILE_TMPDIR/npm" \
        @microsoft/sarif-multitool >/dev/null 2>&1 || return 0
    export PATH=$BATS_FILE_TMPDIR/npm/node_modules/.bin:$PATH
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    type sarif-multitool >/dev/null 2>&1 || skip "no sarif-multitool, and npm gave none"
}

# No error. The checker says nothing at all of a file that it cannot take in, and
# exits with 0; that it was taken in shows in a warning: we have no web page.
validates() {
    timeout 120 sarif-multitool validate "$1" >validate.txt 2>&1 || true
    grep -q 'warning SARIF2005' validate.txt || return 1
    if grep ': error ' validate.txt; then return 1; fi
}

@test "SARIF of each kind of finding has no error" {
    for f in runs kinds.jsonl clean.jsonl; do
        try "$B/lockhound" report --all --format=sarif -o r.sarif "$records/$f"
        validates r.sarif
    done
}

@test "SARIF with source lines has no error" {
    here=$PWD
    (cd "$top" && "$B/lockhound" run --dir="$here/d" --format=sarif -o "$here/r.sarif" -- \
        "$B/examples/broken_restock") >out.txt 2>err.txt || [ $? -eq 66 ]
    validates r.sarif
    has '"uri": "examples/broken_restock.c"' r.sarif
}

@test "what is no SARIF has errors" {
    try "$B/lockhound" report --all --format=sarif -o r.sarif "$records/runs"
    sed 's/"level": "warning"/"level": "grave"/' r.sarif >wrong.sarif
    if validates wrong.sarif; then return 1; fi
    sed 's/"executionOrder": 1/"executionOrder": -7/' r.sarif >wrong.sarif
    if validates wrong.sarif; then return 1; fi
}
