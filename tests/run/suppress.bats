#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# suppress.bats - rules for findings that are not to be told: what they match,
# what is said of them, and what is said of a file that is none.

setup() {
    load common
    lockhound=$B/lockhound
    records=$top/tests/run/records
    unset LOCKHOUND NO_COLOR LD_PRELOAD
    cd "$BATS_TEST_TMPDIR" || return 1
}

# Reports on records with the rules on stdin.
report_with_rules() {
    cat >rules.txt
    alone "$lockhound" report --suppressions=rules.txt "$@"
}

# The rule on stdin is in vain, or hides the only finding.
matches() {
    report_with_rules "${2:-$records/ring.jsonl}" <<<"$1"
    exits_with 0
    has 'no findings, 1 suppressed;' out.txt
    absent 'LH001 between' out.txt
    absent 'matched nothing' err.txt
}
misses() {
    report_with_rules "${2:-$records/ring.jsonl}" <<<"$1"
    exits_with 66
    has 'LH001 between' out.txt
    absent suppressed out.txt
    has "rules.txt: line 1: matched nothing: " err.txt
}

# A malformed rule on line 2 of the file.
refuses() {
    printf '# fine\n%b\nLH001: *\n' "$1" >rules.txt
    alone "$lockhound" report --suppressions=rules.txt "$records/ring.jsonl"
    exits_with 2
    [ "$(grep -c ^ err.txt)" -eq 1 ]
    has 'rules.txt: line 2: .*(expected ' err.txt
    has "$2" err.txt
    [ ! -s out.txt ]
}

@test "rule_matches_names_of_locks" {
    matches 'LH001: lock=accounts'
    matches 'LH001:lock=acc*'
    matches 'LH001: lock=??urnal'
    misses 'LH001: lock=account'
    misses 'LH001: lock=*x*'
}

@test "rule_matches_the_object_by_name_and_by_path" {
    matches 'LH001: object=bank'
    matches 'LH001: object=/srv/bank/bank'
    matches 'LH001: object=srv/*/bank'
    misses 'LH001: object=ank'
}

@test "all_conditions_of_a_rule_must_hold" {
    matches 'LH001: lock=accounts lock=journal object=bank'
    misses 'LH001: lock=accounts lock=ledger'
}

@test "pattern_without_a_key_is_for_any_of_them" {
    matches 'deadlock:accounts'
    matches 'deadlock:bank'
    misses 'deadlock:nothing'
}

@test "kind_is_an_id_a_word_or_a_pattern" {
    matches 'deadlock: *'
    matches '*: *'
    matches 'LH00?: *'
    misses 'LH002: *'
    misses 'nested-read: *'
    misses 'LH099: *'
}

@test "comment_says_why" {
    report_with_rules "$records/ring.jsonl" <<'END'

    # reviewed
  LH001:  lock=accounts	# only before the threads start: "harmless"
END
    exits_with 0
    absent 'matched nothing' err.txt
}

@test "value_in_quotes_may_have_spaces" {
    misses 'LH001: function="operator new(unsigned long)" lock=accounts'
    matches 'LH001: lock="accounts" "bank"'
}

@test "file_with_line_ends_of_dos_is_read" {
    matches $'LH001: lock=accounts\r'
}

@test "functions_and_sources_of_any_frame_match" {
    alone "$lockhound" run --dir=r --exit-code=9 -- "$B/examples/broken_transfer"
    exits_with 9
    for rule in function=evening_clerk source=broken_transfer.c \
        source=examples/broken_transfer.c function=transfer \
        source=*/examples/*.c lock=savings.lock; do
        matches "LH001: $rule" r
    done
    misses 'LH001: function=transf' r
    misses 'LH001: source=transfer.c' r
}

@test "generated_rule_matches_its_finding_in_any_run" {
    alone "$lockhound" report --all --gen-suppressions "$records/kinds.jsonl"
    exits_with 67
    grep '^LH0[0-9]*: .*# why? (LH0' out.txt >rules.txt
    [ "$(wc -l <rules.txt)" -eq "$(grep -o ' (LH0[0-9]*-[0-9a-f]*)$' rules.txt |
        sort -u | wc -l)" ]
    alone "$lockhound" report --suppressions=rules.txt "$records/kinds.jsonl"
    exits_with 0
    has '^lockhound: no findings, [0-9]* suppressed' out.txt
    absent 'matched nothing' err.txt
    alone "$lockhound" run --gen-suppressions --dir=r -- "$B/examples/broken_transfer"
    exits_with 66
    grep '^LH0' err.txt >rules.txt
    alone "$lockhound" run --dir=r2 --suppressions=rules.txt -- "$B/examples/broken_transfer"
    exits_with 0
    absent 'potential deadlock' err.txt
    has 'no findings, 1 suppressed;' err.txt
}

@test "generated_rule_of_an_element_is_for_the_whole_array" {
    sed 's/"name":"accounts"/"name":"account[7]"/' "$records/ring.jsonl" >a.jsonl
    sed 's/"name":"accounts"/"name":"account[12]"/' "$records/ring.jsonl" >b.jsonl
    alone "$lockhound" report --gen-suppressions a.jsonl
    has '^LH001: lock=account\[\*\] lock=journal object=bank' out.txt
    grep '^LH0' out.txt >rules.txt
    alone "$lockhound" report --suppressions=rules.txt b.jsonl
    exits_with 0
}

@test "generated_rule_is_the_same_from_any_folder_and_line" {
    mkdir -p src
    for n in 1 30; do
        {
            printf '\n%.0s' $(seq $n)
            cat <<'END'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t *made(void)
{
    pthread_mutex_t *m = malloc(sizeof *m);
    pthread_mutex_init(m, 0);
    return m;
}
int main(void)
{
    pthread_mutex_t *m = made();
    pthread_mutex_lock(m);
    free(m);
    return 0;
}
END
        } >src/made$n.c
        cp src/made$n.c src/made.c
        ${CC:-cc} -g -O1 -pthread -o made$n src/made.c
    done
    alone "$lockhound" run --dir=r1 --gen-suppressions -- ./made1
    exits_with 66
    has '^LH012: lock=mutex@\*made.c:\* ' err.txt
    grep '^LH0' err.txt >rules.txt
    cd src
    alone "$lockhound" run --dir=r2 --suppressions=../rules.txt -- ../made30
    exits_with 0
    has 'no findings, 1 suppressed' err.txt
}

@test "generated_rule_is_valid_whatever_the_names_are" {
    sed 's/"name":"accounts"/"name":"a \\"b\\" # c=d: \\u001b[m"/' \
        "$records/ring.jsonl" >a.jsonl
    alone "$lockhound" report --gen-suppressions a.jsonl
    grep '^LH0' out.txt >rules.txt
    alone "$lockhound" report --suppressions=rules.txt a.jsonl
    exits_with 0
    has 'no findings, 1 suppressed' out.txt
    absent 'matched nothing' err.txt
}

@test "json_report_counts_what_is_suppressed_and_has_the_rule_of_the_rest" {
    echo 'LH001: *' >rules.txt
    "$lockhound" report --format=json --suppressions=rules.txt \
        "$records/ring.jsonl" >a.json
    "$lockhound" report --format=json "$records/ring.jsonl" >b.json ||
        [ $? -eq 66 ]
    python3 - <<'END'
import json
a, b = json.load(open("a.json")), json.load(open("b.json"))
assert a["findings"] == [] and a["summary"]["suppressed"] == 1, a
assert a["summary"]["possible"] == 0 and a["summary"]["kinds"] == {}, a
assert b["summary"]["suppressed"] == 0, b
assert b["findings"][0]["suppression"] == \
    "LH001: lock=accounts lock=journal object=bank", b
END
}

@test "several_files_of_rules_are_read" {
    echo 'LH001: lock=accounts' >a
    echo 'LH010: lock=accounts' >b
    : >empty
    alone "$lockhound" report --suppressions=a --suppressions=b \
        --suppressions=empty "$records/ring.jsonl"
    exits_with 0
    has '^lockhound: b: line 1: matched nothing: LH010: lock=accounts$' err.txt
    [ "$(grep -c 'matched nothing' err.txt)" -eq 1 ]
}

@test "rule_that_matches_is_used_though_another_one_matched_first" {
    report_with_rules "$records/ring.jsonl" <<'END'
LH001: lock=accounts
LH001: lock=journal
END
    exits_with 0
    absent 'matched nothing' err.txt
}

@test "conditional_findings_are_suppressed_too" {
    report_with_rules --all "$records/conditional.jsonl" <<<'LH001: *'
    exits_with 0
    has 'no findings, 1 suppressed;' out.txt
}

@test "rules_leave_the_names_in_the_report_as_they_are" {
    alone "$lockhound" report "$records/kinds.jsonl"
    mv out.txt want.txt
    report_with_rules "$records/kinds.jsonl" <<<'LH099: *'
    diff want.txt out.txt
}

@test "malformed_rule_is_an_error" {
    refuses 'lock=accounts' "':'"
    refuses 'wibble: lock=a' "unknown kind 'wibble'"
    refuses 'LH001' "no ':' after 'LH001'"
    refuses ': lock=a' "':'"
    refuses 'LH001:' 'no condition'
    refuses 'LH001: # why' 'no condition'
    refuses 'LH001: file=a' "unknown condition 'file='"
    refuses 'LH001: lock=' 'empty'
    refuses 'LH001: lock=""' 'empty'
    refuses 'LH001: lock="a' 'without an end'
    refuses 'LH001: lock="a"b' 'expected a space'
    refuses 'LH001: lock=a\0b' 'no text'
    refuses '{' "':'"
    refuses '\033[1m' 'no text'
    alone "$lockhound" run --suppressions=rules.txt --dir=never -- touch started
    exits_with 2
    [ ! -e started ] && [ ! -e never ]
}

@test "file_that_cannot_be_read_is_an_error" {
    for file in missing . "$lockhound"; do
        alone "$lockhound" report --suppressions="$file" "$records/ring.jsonl"
        exits_with 2
        [ "$(grep -c ^ err.txt)" -eq 1 ]
        has '(expected a file of rules)' err.txt
    done
    alone "$lockhound" report --suppressions= "$records/ring.jsonl"
    exits_with 2
    has 'suppressions' err.txt
}
