#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# processes.bats - rings through locks that processes share.

load common

setup_file() { build_guests; }

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    unset LOCKHOUND
}

# Runs a mode of guest/processes under the tool; its report is in err.txt.
together() {
    rm -rf records
    try timeout -s KILL "$LIMIT" "$B/lockhound" run --all --dir=records -- \
        "$G/processes" "$@"
    tr -s '\n ' ' ' <err.txt >flat.txt
}

@test "ring_of_parent_and_child_is_found" {
    together inversion
    exits_with 66
    has '^potential deadlock LH001 between area->locks\[...\] #' err.txt
    has '^  process [0-9]* T1 (main thread, tid [0-9]*)$' err.txt
    [ "$(grep -c '^  process .* (main thread, tid' err.txt)" -eq 2 ]
    has 'mutex in shared memory, initialized at .*processes.c:[0-9]* in prepare' flat.txt
    has 'in one order everywhere, for example that of their places in the shared' flat.txt
    has '1 possible deadlock (LH001)' err.txt
    absent 'Found in' err.txt
}

@test "ring_of_two_and_of_three_children_is_found" {
    together siblings
    exits_with 66
    [ "$(grep -c '^potential deadlock LH001' err.txt)" -eq 1 ]
    together three
    exits_with 66
    [ "$(grep -c '^potential deadlock LH001' err.txt)" -eq 1 ]
    [ "$(grep -c '^  process .* (main thread, tid' err.txt)" -eq 3 ]
}

@test "report_over_the_records_finds_the_same" {
    together inversion
    sed -n '/^potential/,/^  Fix/p' err.txt >want.txt
    try "$B/lockhound" report records
    exits_with 66
    sed -n '/^potential/,/^  Fix/p' out.txt | diff want.txt -
    try "$B/lockhound" report --format=json records
    python3 - out.txt <<'PY'
import json, sys
[f] = json.load(open(sys.argv[1]))["findings"]
assert len(f["processes"]) == 2, f["processes"]
assert sorted(s["thread"]["process"] for s in f["sides"]) == sorted(f["processes"])
assert {s["thread"]["id"] for s in f["sides"]} == {1}
a, b = f["locks"]
assert a["object"][:2] == b["object"][:2] and a["object"][2] != b["object"][2]
PY
}

@test "file_mapped_at_two_addresses_is_one" {
    together file "$PWD/area"
    exits_with 66
    [ "$(grep -c '^potential deadlock LH001' err.txt)" -eq 1 ]
    has 'initialized at' flat.txt
}

@test "order_kept_again_while_the_child_lives_counts" {
    together repeated
    exits_with 66
}

@test "ring_through_a_private_lock_of_one_of_them_is_found" {
    together through-private
    exits_with 66
    has 'between .*own.*: process [0-9]* T1 .*process [0-9]* T3' flat.txt
}

@test "what_fork_or_wait_keeps_apart_is_conditional" {
    for mode in before-fork after-wait siblings-in-turn; do
        together $mode
        exits_with 0
        has '^conditional ring LH001' err.txt
        has 'by the order in which processes are forked and waited for' flat.txt
    done
}

@test "shared_gate_makes_it_conditional" {
    together gate
    exits_with 0
    has 'Why not now: both hold area->locks\[...\] #' flat.txt
}

@test "private_locks_at_one_address_are_two" {
    together private-locks
    exits_with 0
    absent LH001 err.txt
    together private-memory
    exits_with 0
    absent LH001 err.txt
}

@test "program_behaves_as_alone" {
    for mode in inversion siblings repeated gate; do
        is_transparent "$G/processes" $mode
        exits_with 0
        recorded "$G/processes" $mode
        passes_quietly
        records_are_valid
    done
}

# Nothing is shared: a fork leaves no trace.
@test "forks_are_recorded_only_where_locks_are_shared" {
    recorded sh -c '(:); (:)'
    cat records/* >all.txt
    absent '"type":"fork"' all.txt
    recorded "$G/processes" before-fork
    records_are_valid
    [ "$(cat records/* | grep -c '"type":"fork"')" -eq 1 ]
}
