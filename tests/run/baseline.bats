#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# baseline.bats - findings that are known: lockhound baseline and --baseline,
# and what lockhound diff calls new, gone and still there.

setup() {
    load common
    lockhound=$B/lockhound
    records=$top/tests/run/records
    ring=$records/ring.jsonl
    unset LOCKHOUND NO_COLOR LD_PRELOAD
    cd "$BATS_TEST_TMPDIR" || return 1
}

# The same two locks in the same functions, whatever lines and addresses.
build_moved() { # FOLDER LINES-BEFORE FUNCTION
    mkdir "$1"
    {
        printf '\n%.0s' $(seq "$2")
        cat <<END
#include <pthread.h>
#include <unistd.h>
static int turn[2];
static int before[$2] = { 1 };
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static void *$3(void *arg)
{
    pthread_mutex_t *m = arg ? &a : &b, *n = arg ? &b : &a;
    char go;
    if (arg && read(turn[0], &go, 1) != 1)
        return 0;
    pthread_mutex_lock(m);
    pthread_mutex_lock(n);
    before[0]++;
    pthread_mutex_unlock(n);
    pthread_mutex_unlock(m);
    if (!arg && write(turn[1], "", 1) != 1)
        return &before;
    return 0;
}
int main(void)
{
    pthread_t t, u;
    if (pipe(turn))
        return 1;
    pthread_create(&t, 0, $3, 0);
    pthread_create(&u, 0, $3, &u);
    pthread_join(t, 0);
    pthread_join(u, 0);
    return 0;
}
END
    } >"$1/moved.c"
    ${CC:-cc} -g -O1 -pthread -o "$1/moved" "$1/moved.c"
}

# The last file with one more ring, of other locks at other places.
with_another_ring() {
    sed -e 's/"name":"accounts"/"name":"ledger"/' -e 's/16448/16704/' \
        -e 's/\[1,4150\]/[1,5150]/' -e 's/"pid":700/"pid":710/' "$ring"
}

# The new ones, those that are gone and those still there, in numbers.
counts() {
    has "^lockhound: $1 new, $2 gone, $3 still there\\(, .*\\)*\$" out.txt
}

refuses() { # CONTENT WORDS
    printf '%b' "$1" >bad.json
    alone "$lockhound" report --baseline=bad.json "$ring"
    exits_with 2
    [ "$(grep -c ^ err.txt)" -eq 1 ]
    has "^lockhound: bad.json: .*$2.*(expected " err.txt
    [ ! -s out.txt ]
}

@test "known_findings_do_not_count_and_are_counted_as_known" {
    alone "$lockhound" baseline -o known.json "$ring"
    exits_with 0
    has '^lockhound: known.json: 1 finding$' err.txt
    [ ! -s out.txt ]
    alone "$lockhound" report --baseline=known.json "$ring"
    exits_with 0
    has '^lockhound: no findings, 1 known;' out.txt
    absent 'potential deadlock' out.txt
    alone "$lockhound" report --all --baseline=known.json "$ring"
    exits_with 0
    has 'potential deadlock LH001 between accounts and journal' out.txt
    alone "$lockhound" report --exit-code=3 --baseline=known.json "$ring"
    exits_with 0
}

@test "new_finding_beside_known_ones_counts" {
    "$lockhound" baseline -o known.json "$ring"
    with_another_ring >more.jsonl
    alone "$lockhound" report --baseline=known.json "$ring" more.jsonl
    exits_with 66
    has 'between ledger and journal' out.txt
    absent 'between accounts and journal' out.txt
    has '^lockhound: 1 possible deadlock (LH001), 1 known;' out.txt
}

@test "baseline_is_readable_json_in_an_order_of_its_own" {
    with_another_ring >more.jsonl
    "$lockhound" baseline "$ring" more.jsonl >a.json
    "$lockhound" baseline more.jsonl "$ring" -o b.json
    diff a.json b.json
    python3 - <<'END'
import json, re
b = json.load(open("a.json"))
assert b["lockhound-baseline"] == 1
assert len(b["findings"]) == 2
for f in b["findings"]:
    assert re.fullmatch("LH001-[0-9a-f]{8}", f["id"]), f
    assert re.fullmatch("[0-9a-f]{16}:[0-9]+", f["fingerprint"]), f
    assert f["grade"] == "possible"
    assert f["summary"].startswith("potential deadlock LH001 between "), f
END
}

@test "baseline_of_no_findings_knows_none" {
    "$lockhound" baseline -o known.json "$records/clean.jsonl"
    alone "$lockhound" report --baseline=known.json "$ring"
    exits_with 66
}

@test "all_kinds_are_known_from_their_baseline" {
    "$lockhound" baseline -o known.json "$records/kinds.jsonl"
    alone "$lockhound" report --baseline=known.json "$records/kinds.jsonl"
    exits_with 0
    has '^lockhound: no findings, [0-9]* known' out.txt
}

@test "conditional_finding_that_became_possible_is_not_known" {
    alone "$lockhound" baseline -o known.json "$records/conditional.jsonl"
    has '"grade": "conditional"' known.json
    alone "$lockhound" report --baseline=known.json "$records/conditional.jsonl"
    exits_with 0
    has 'no findings, 1 known' out.txt
    sed 's/"grade":"conditional"/"grade":"possible"/' \
        "$records/conditional.jsonl" >possible.jsonl
    alone "$lockhound" report --baseline=known.json possible.jsonl
    exits_with 66
    alone "$lockhound" diff "$records/conditional.jsonl" possible.jsonl
    exits_with 66
    counts 1 0 0
    alone "$lockhound" diff possible.jsonl "$records/conditional.jsonl"
    exits_with 0
    counts 0 1 0
}

@test "finding_is_known_in_another_build_whose_lines_have_moved" {
    build_moved one 1 worker
    build_moved two 40 worker
    build_moved three 1 other
    for p in one two three; do
        alone "$lockhound" run --dir=r.$p --exit-code=9 -- ./$p/moved
        exits_with 9
    done
    "$lockhound" baseline -o known.json r.one
    alone "$lockhound" run --dir=again --baseline=known.json -- two/moved
    exits_with 0
    has 'no findings, 1 known;' err.txt
    absent 'potential deadlock' err.txt
    alone "$lockhound" run --dir=again.three --baseline=known.json -- three/moved
    exits_with 66
    has 'potential deadlock' err.txt
    alone "$lockhound" diff r.one r.two
    exits_with 0
    counts 0 0 1
    alone "$lockhound" diff r.one r.three
    exits_with 66
    counts 1 1 0
    absent 'may be what is gone' err.txt
}

@test "diff_says_when_a_build_lies_where_the_old_one_was" {
    build_moved one 1 worker
    build_moved two 40 worker
    alone "$lockhound" run --dir=r.one --exit-code=9 -- ./one/moved
    cp two/moved one/moved
    alone "$lockhound" run --dir=r.two --exit-code=9 -- ./one/moved
    alone "$lockhound" diff r.one r.two
    exits_with 66
    counts 1 1 0
    has '^lockhound: diff: what is new may be what is gone: without its file' err.txt
    alone "$lockhound" diff r.one r.one
    exits_with 0
    absent 'may be what is gone' err.txt
}

@test "suppressed_findings_are_not_in_a_baseline" {
    echo 'LH001: *' >rules
    "$lockhound" baseline --suppressions=rules -o known.json "$ring"
    has '"findings": \[\]' known.json
    "$lockhound" baseline -o known.json "$ring"
    alone "$lockhound" report --baseline=known.json --suppressions=rules "$ring"
    has 'no findings, 1 suppressed;' out.txt
}

@test "json_report_counts_known_findings" {
    "$lockhound" baseline -o known.json "$ring"
    "$lockhound" report --format=json --baseline=known.json "$ring" >a.json
    "$lockhound" report --format=json --all --baseline=known.json "$ring" >b.json
    python3 - <<'END'
import json
a, b = json.load(open("a.json")), json.load(open("b.json"))
assert a["findings"] == [] and a["summary"]["known"] == 1, a
assert a["summary"]["possible"] == 0, a
assert b["findings"][0]["known"] is True, b
END
}

@test "file_that_is_no_baseline_is_an_error" {
    refuses '' 'line '
    refuses 'no json' 'line 1: '
    refuses '\0\001' 'line 1: '
    refuses '{"lockhound-baseline": 1, "findings": [' 'line 1: '
    refuses '[]' 'no baseline'
    refuses '{}' 'no baseline'
    refuses '{"lockhound": 1}' 'no baseline'
    refuses '{"lockhound-baseline": "1"}' 'no baseline'
    refuses '{"lockhound-baseline": 2, "findings": []}' 'version 2'
    refuses '{"lockhound-baseline": 1}' 'no list'
    refuses '{"lockhound-baseline": 1, "findings": [3]}' 'finding 1 '
    refuses '{"lockhound-baseline": 1, "findings": [{"id": "a", "fingerprint": "b", "grade": "c"}]}' 'finding 1 '
    refuses "$(printf '[%.0s' $(seq 5000))" 'line 1: '
    cp "$ring" ring.jsonl
    alone "$lockhound" report --baseline=ring.jsonl "$ring"
    exits_with 2
    for file in missing . "$lockhound"; do
        alone "$lockhound" report --baseline="$file" "$ring"
        exits_with 2
        [ "$(grep -c ^ err.txt)" -eq 1 ]
        has 'lockhound baseline has written' err.txt
    done
    alone "$lockhound" run --baseline=bad.json --dir=never -- touch started
    exits_with 2
    [ ! -e started ] && [ ! -e never ]
}

@test "baseline_cut_anywhere_is_an_error_or_whole" {
    "$lockhound" baseline -o known.json "$ring"
    size=$(wc -c <known.json)
    for n in $(seq 0 37 $((size - 3))); do
        head -c "$n" known.json >cut.json
        alone "$lockhound" report --baseline=cut.json "$ring"
        exits_with 2
        [ "$(grep -c ^ err.txt)" -eq 1 ]
    done
}

@test "no_baseline_is_written_from_records_that_cannot_be_read" {
    echo '{"lockhound":99,"type":"process"}' >new.jsonl
    alone "$lockhound" baseline -o known.json "$ring" new.jsonl
    exits_with 2
    [ ! -e known.json ]
    alone "$lockhound" baseline -o missing/known.json "$ring"
    exits_with 2
    has 'expected a file to write to' err.txt
}

@test "diff_tells_what_is_new_gone_and_still_there" {
    mkdir old new
    cp "$ring" "$records/happened.jsonl" old
    cp "$ring" new
    with_another_ring >new/more.jsonl
    alone "$lockhound" diff old new
    exits_with 66
    counts 1 1 1
    [ "$(sed -n '/^new:$/,/^gone:$/p' out.txt | grep -c 'between ledger')" -eq 1 ]
    sed -n '/^gone:$/,/^still there:$/p' out.txt | grep 'LH002'
    sed -n '/^still there:$/,$p' out.txt | grep 'between accounts and journal'
    has 'holds ledger, taken at:' out.txt
    absent 'holds accounts, taken at:' out.txt
    absent '.\{81\}' out.txt
    alone "$lockhound" diff new old
    exits_with 67
    counts 1 1 1
    alone "$lockhound" diff --exit-code=4 new old
    exits_with 4
}

@test "diff_of_the_same_has_nothing_new" {
    alone "$lockhound" diff "$records/kinds.jsonl" "$records/kinds.jsonl"
    exits_with 0
    has '^lockhound: 0 new, 0 gone, [1-9][0-9]* still there' out.txt
    absent '^new:' out.txt
}

@test "diff_leaves_out_conditional_findings_but_with_all" {
    alone "$lockhound" diff "$records/clean.jsonl" "$records/conditional.jsonl"
    exits_with 0
    has '0 still there, 1 conditional (--all shows it)$' out.txt
    absent 'LH001' out.txt
    alone "$lockhound" diff --all "$records/clean.jsonl" "$records/conditional.jsonl"
    exits_with 0
    counts 1 0 0
    has 'conditional ring LH001' out.txt
}

@test "diff_honours_rules" {
    printf 'LH001: *\nLH010: *\n' >rules
    alone "$lockhound" diff --suppressions=rules "$records/clean.jsonl" "$ring"
    exits_with 0
    has '^lockhound: 0 new, 0 gone, 0 still there, 1 suppressed$' out.txt
    has 'line 2: matched nothing: LH010' err.txt
}

@test "diff_as_json_has_the_three_lists" {
    with_another_ring >more.jsonl
    mkdir old && cp "$ring" "$records/happened.jsonl" old
    mkdir new && cp "$ring" more.jsonl new
    "$lockhound" diff --format=json -o diff.json old new || [ $? -eq 66 ]
    python3 - <<'END'
import json
d = json.load(open("diff.json"))
assert d["lockhound"] == 1
assert d["summary"] == {"new": 1, "gone": 1, "still": 1, "conditional": 0,
                        "suppressed": 0}, d["summary"]
assert d["new"][0]["locks"][0]["name"] == "ledger", d["new"]
assert d["gone"][0]["kind"] == "LH002"
assert d["still"][0]["locks"][0]["name"] == "accounts"
END
}

@test "diff_of_what_cannot_be_read_is_an_error_and_compares_nothing" {
    : >empty.jsonl
    for bad in missing empty.jsonl "$lockhound"; do
        alone "$lockhound" diff "$bad" "$ring"
        exits_with 2
        [ ! -s out.txt ]
        alone "$lockhound" diff "$ring" "$bad"
        exits_with 2
        [ ! -s out.txt ]
    done
    alone "$lockhound" diff "$ring"
    exits_with 2
    has 'expected two, OLD and NEW' err.txt
    alone "$lockhound" diff
    exits_with 2
}
