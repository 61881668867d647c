#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# stacks.bats - the stack of a held lock is exact, or said to be unknown; never
# a guess.

setup_file() {
    load common
    mkdir -p "$B/run"
    gcc -O1 -g -pthread -o "$B/run/callers" "$top/tests/run/stacks/callers.c"
}

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
}

# Prints "function function ..." of the stack where `second` was taken by main.
taken_by() {
    timeout 60 "$B/lockhound" run --dir=records "$@" >out.txt 2>err.txt || true
    "$B/lockhound" report --format=json records |
        python3 -c '
import json, sys
finding, = json.load(sys.stdin)["findings"]
names = {lock["id"]: lock["name"] for lock in finding["locks"]}
for side in finding["sides"]:
    if names[side["holds"]["lock"]] == "second":
        print(*[f["function"] for f in side["holds"]["stack"]])
' || { cat err.txt; return 1; }
}

@test "a nesting site that two callers share names the right one" {
    got=$(taken_by -- "$B/run/callers" nesting)
    [[ $got == "take beta main "* ]] || { echo "$got"; return 1; }
}

@test "a leaf site that turns out to nest shows its line and no callers" {
    got=$(taken_by -- "$B/run/callers" leaf)
    [ "$got" = "take" ] || { echo "$got"; return 1; }
    grep -q 'callers not recorded' err.txt
}

@test "stacks=exact has the callers of a leaf site, too" {
    got=$(taken_by --stacks=exact -- "$B/run/callers" leaf)
    [[ $got == "take beta main "* ]] || { echo "$got"; return 1; }
}

@test "stacks=pc has no callers, and says so" {
    got=$(taken_by --stacks=pc -- "$B/run/callers" nesting)
    [ "$got" = "take" ] || { echo "$got"; return 1; }
    grep -q 'callers not recorded' err.txt
}
