#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# readme.bats - what README.md shows is what the program prints.

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
}

# Process and thread ids differ from run to run, and so do the counts while the
# first acquisitions of a site are learned.
steady() {
    sed -E -e 's/tid [0-9]+/tid N/' -e 's/lockhound\.[0-9]+/lockhound.N/' \
        -e 's/[0-9]+ times/N times/'
}

@test "the report in README.md is the one of make demo" {
    timeout 60 "$B/lockhound" run -- "$B/examples/broken_transfer" 2>&1 |
        steady >got.txt
    awk '/^<!-- demo/ { inside = 1 } inside && /^```$/ && n++ { exit }
         inside && !/^(<!--|```|\$ )/' "$top/README.md" | steady >want.txt
    diff want.txt got.txt
}

@test "the commands of README.md are in the Makefile and the help" {
    for target in deps demo test bench install help; do
        grep -q "^$target:" "$top/Makefile"
    done
    "$B/lockhound" --help | grep -q run
    "$B/lockhound" --help | grep -q report
}
