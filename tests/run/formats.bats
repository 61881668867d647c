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

# --- text and JSON ---

@test "the text has each finding of the runs, and each side of it" {
    report --all
    exits_with 67
    grep -e '^[a-z].* LH00' out.txt >got.txt
    cat >want.txt <<'WANT'
deadlock LH002 between hangs+0x41a0, hangs+0x41c8 and hangs+0x41f0: T1 (main),
potential deadlock LH001 between broken_dining+0x4100, broken_dining+0x4128,
potential deadlock LH001 between hangs+0x41a0, hangs+0x41c8 and hangs+0x41f0: T1
conditional ring LH001 between restock_with_timeout+0x4100 and
WANT
    diff want.txt got.txt
    [ "$(grep -c '^    holds .*, taken at:$' out.txt)" -eq 13 ]
    [ "$(grep -c '^    and waits for ' out.txt)" -eq 13 ]
    has '^      #0 broken_dining+0x1330$' out.txt
    has '^  Why not now: ' out.txt
    tail -n 3 out.txt | tr -d '\n' | grep -q '^lockhound: 1 deadlock (LH002), 2 possible deadlocks (LH001), *1 conditional; '
}

@test "JSON has each finding of the runs, and each side of it" {
    report --all --format=json
    exits_with 67
    python3 - >got.txt <<'PY'
import json
report = json.load(open("out.txt"))
assert report["lockhound"] == 1
for f in report["findings"]:
    for s in f["sides"]:
        assert s["holds"]["stack"][0]["offset"] and s["wants"]["stack"][0]["offset"]
    names = {l["id"]: l["name"] for l in f["locks"]}
    for s, t in zip(f["sides"], f["sides"][1:] + f["sides"][:1]):
        assert s["wants"]["lock"] == t["holds"]["lock"] and s["holds"]["lock"] in names
    print(f["kind"], f["grade"], len(f["sides"]), *[r["reason"] for r in f["reasons"]])
s = report["summary"]
print(s["possible"], s["conditional"], s["processes"], s["unended"])
PY
    cat >want.txt <<'WANT'
LH002 happened 3
LH001 possible 5
LH001 possible 3
LH001 conditional 2 timed
3 1 3 1
WANT
    diff want.txt got.txt
}

# --- what is no record file, or not a whole one ---

all_formats="text short json sarif junit dot html"

# Nothing is written, and one line says what, where and what was expected.
refused() { # FILE WORDS
    local f
    for f in $all_formats; do
        rm -f r.out
        try "$B/lockhound" report --all --format="$f" -o r.out "$1"
        exits_with 2
        [ "$(wc -l <err.txt)" -eq 1 ] || { show; return 1; }
        has "^lockhound: $1: $2" err.txt
        [ ! -s out.txt ] && [ ! -e r.out ] || return 1
    done
}

@test "each format refuses foreign files in one line" {
    printf '' >empty.jsonl
    refused empty.jsonl 'is empty (expected lockhound records)$'
    printf '{"a": 1}\n' >foreign.jsonl
    refused foreign.jsonl 'line 1: not a lockhound record file (expected '
    printf '<html>\nhello\n</html>\n' >page.jsonl
    refused page.jsonl 'line 1: not a lockhound record file (expected '
    cp "$B/lockhound" binary.jsonl
    refused binary.jsonl 'line 1: not a lockhound record file (expected '
    head -c 65536 /dev/zero >zeroes.jsonl
    refused zeroes.jsonl 'line 1: not a lockhound record file (expected '
    refused none.jsonl 'No such file or directory (expected '
}

@test "each format refuses records of a newer version in one line" {
    sed '1s/"lockhound":1/"lockhound":2/' "$runs/hang.jsonl" >newer.jsonl
    refused newer.jsonl 'line 1: records of a newer lockhound (version 2; expected version 1)$'
}

# What is left is told as from the records without the line.
survives() { # FILE WITHOUT WORDS
    local f
    for f in $all_formats; do
        try "$B/lockhound" report --all --format="$f" "$2"
        mv out.txt want.txt
        local was=$status
        try "$B/lockhound" report --all --format="$f" "$1"
        exits_with "$was"
        diff want.txt out.txt
        grep -v 'is shown as module+offset$' err.txt >said.txt
        [ "$(wc -l <said.txt)" -eq 1 ] || { show; return 1; }
        has "^lockhound: $1: $3" said.txt
    done
}

@test "each format tells what is left of damaged and truncated records" {
    sed '4d' "$runs/hang.jsonl" >without.jsonl
    sed '4s/.$//' "$runs/hang.jsonl" >damaged.jsonl
    survives damaged.jsonl without.jsonl 'line 4: damaged record skipped: not a JSON object$'
    sed '4s/.*/\x00\xff/' "$runs/hang.jsonl" >binary.jsonl
    survives binary.jsonl without.jsonl 'line 4: damaged record skipped: not a JSON object$'
    sed '$d' "$runs/hang.jsonl" >without.jsonl
    head -c -5 "$runs/hang.jsonl" >cut.jsonl
    survives cut.jsonl without.jsonl 'line 18: truncated record skipped: not a JSON object$'
}

@test "records cut off anywhere crash no format" {
    local n f size
    size=$(stat -c %s "$runs/timeout.jsonl")
    for n in $(seq 1 97 "$size"); do
        head -c "$n" "$runs/timeout.jsonl" >cut.jsonl
        local also=()
        for f in $all_formats; do also+=("--format=$f" -o "f.$f"); done
        try "$B/lockhound" report --all "${also[@]}" cut.jsonl
        [ "$status" -eq 0 ] || [ "$status" -eq 2 ] || { show; return 1; }
    done
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

# --- short ---

@test "short is one line a finding, and a note for each other side" {
    report --all --format=short
    exits_with 67
    cat >want.txt <<'WANT'
hangs+0x16c6: error: LH002 deadlock between hangs+0x41a0, hangs+0x41c8 and hangs+0x41f0: T1 (main), T2 and T3 wait for each other in a ring.
hangs+0x16c6: note: T2 holds hangs+0x41c8, taken at hangs+0x1695, and waits for hangs+0x41f0
hangs+0x16c6: note: T3 holds hangs+0x41f0, taken at hangs+0x1695, and waits for hangs+0x41a0
broken_dining+0x1330: warning: LH001 potential deadlock between broken_dining+0x4100, broken_dining+0x4128, broken_dining+0x4150, broken_dining+0x4178 and broken_dining+0x41a0: T2, T3, T4, T5 and T6 can wait for each other in a ring.
broken_dining+0x1330: note: T3 holds broken_dining+0x4128, taken at broken_dining+0x1353, and waits for broken_dining+0x4150
broken_dining+0x1330: note: T4 holds broken_dining+0x4150, taken at broken_dining+0x1353, and waits for broken_dining+0x4178
broken_dining+0x1330: note: T5 holds broken_dining+0x4178, taken at broken_dining+0x1353, and waits for broken_dining+0x41a0
broken_dining+0x1330: note: T6 holds broken_dining+0x41a0, taken at broken_dining+0x1353, and waits for broken_dining+0x4100
hangs+0x16c6: warning: LH001 potential deadlock between hangs+0x41a0, hangs+0x41c8 and hangs+0x41f0: T1 (main), T2 and T3 can wait for each other in a ring.
hangs+0x16c6: note: T2 holds hangs+0x41c8, taken at hangs+0x1695, and waits for hangs+0x41f0
hangs+0x16c6: note: T3 holds hangs+0x41f0, taken at hangs+0x1695, and waits for hangs+0x41a0
restock_with_timeout+0x12dd: info: LH001 conditional ring between restock_with_timeout+0x4100 and restock_with_timeout+0x4140: T2 and T3 took them in contrary orders, which could not block in this run.
restock_with_timeout+0x1589: note: T3 holds restock_with_timeout+0x4140, taken at restock_with_timeout+0x136a, and waits for restock_with_timeout+0x4100 for a limited time
WANT
    diff want.txt out.txt
}

@test "short says LHnnn first, of every kind" {
    try "$B/lockhound" report --all --format=short "$BATS_TEST_DIRNAME/records/kinds.jsonl"
    [ "$(grep -vc ': note: ' out.txt)" -eq 28 ]
    absent ': \(error\|warning\|info\): [^L]' out.txt
    absent '"' out.txt
    has '^bank+0x113a: note: T3 (audit) took accounts$' out.txt
}

# A ring whose two requests are in lines 8 and 15 of crossed.c.
crossed() {
    cat >crossed.c <<'SRC'
#include <pthread.h>
static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t turn;
static void *there(void *arg)
{
    pthread_mutex_lock(&left);
    pthread_mutex_lock(&right);
    pthread_mutex_unlock(&right);
    pthread_mutex_unlock(&left);
    pthread_barrier_wait(&turn);
    return arg;
}
static void back(void) { pthread_mutex_lock(&right);
    pthread_mutex_lock(&left);
    pthread_mutex_unlock(&left);
    pthread_mutex_unlock(&right);
}
int main(void)
{
    pthread_t t;
    pthread_barrier_init(&turn, 0, 2);
    pthread_create(&t, 0, there, 0);
    pthread_barrier_wait(&turn);
    back();
    pthread_join(t, 0);
    return 0;
}
SRC
    mkdir -p src
    mv crossed.c src
    gcc -g -O0 -pthread -o crossed src/crossed.c
    LIMIT=60
    try timeout -s KILL "$LIMIT" "$B/lockhound" run --stacks=exact --dir=d "$@" -- ./crossed
    exits_with 66
}

@test "short names files so that an editor opens them from here" {
    crossed --format=short
    has '^src/crossed.c:15: warning: LH001 ' out.txt
    has '^src/crossed.c:8: note: T2 (there) holds left, taken at src/crossed.c:7, and waits for right$' out.txt
    mkdir elsewhere
    cd elsewhere
    try "$B/lockhound" report --format=short ../d
    has "^${PWD%/elsewhere}/src/crossed.c:15: warning: " out.txt
}

@test "vim finds file, line and text in the short format" {
    type vim >/dev/null 2>&1 || skip "no vim here"
    crossed --format=short
    mv out.txt errors.txt
    timeout 30 vim -es -u NONE -i NONE -c 'cfile errors.txt' \
        -c 'call writefile(map(getqflist(), {i, q -> bufname(q.bufnr) . "|" . q.lnum . "|" . q.text}), "q.txt")' \
        -c 'qall!' </dev/null || true
    has '^src/crossed.c|15| *warning: LH001 ' q.txt
    has '^src/crossed.c|8| *note: T2 (there)' q.txt
}

# --- what does not count ---

# Each format of the report, as f.FORMAT.
in_each_format() { # OPTION...
    local ring=$BATS_TEST_DIRNAME/records/ring.jsonl f also=()
    for f in text short json sarif junit dot; do
        also+=("--format=$f" -o "f.$f")
    done
    try "$B/lockhound" report "$@" "${also[@]}" "$ring"
    exits_with 0
}

# No format tells of the finding; the order of its locks stays.
none_tells() {
    absent 'LH001 between' f.text
    [ ! -s f.short ]
    has '"findings": \[\]' f.json
    [ -z "$(sarif f.sarif)" ]
    junit f.junit | head -n 1 | grep -qx 'bank 14 0 0'
    dot_lines f.dot >got.txt
    has '^accounts > journal 1000 -$' got.txt
    absent red got.txt
}

@test "no format has suppressed findings, with --all neither" {
    echo 'LH001: lock=accounts' >rules.txt
    in_each_format --suppressions=rules.txt
    none_tells
    has '1 suppressed' f.text
    in_each_format --all --suppressions=rules.txt
    none_tells
}

@test "known findings are in no format, and with --all fail nothing" {
    "$B/lockhound" baseline -o known.json "$BATS_TEST_DIRNAME/records/ring.jsonl"
    in_each_format --baseline=known.json
    none_tells
    has '1 known' f.text
    in_each_format --all --baseline=known.json
    has 'LH001 between' f.text
    has '"known": true' f.json
    [ "$(sarif f.sarif | wc -l)" -eq 1 ]
    has '"suppressions": \[{"kind": "external"}\]' f.sarif
    junit f.junit >got.txt
    head -n 1 got.txt | grep -qx 'bank 14 0 1'
    grep -qx 'skipped lockhound.LH001' got.txt
}

@test "only the text has the rules of --gen-suppressions beside the findings" {
    local ring=$BATS_TEST_DIRNAME/records/ring.jsonl
    try "$B/lockhound" report --gen-suppressions --format=text -o f.text \
        --format=short "$ring"
    exits_with 66
    has '^LH001: lock=accounts lock=journal .*# why' f.text
    absent '# why' out.txt
}

# --- SARIF ---

sarif() { # FILE
    python3 "$BATS_TEST_DIRNAME/sarif.py" "$1"
}

@test "SARIF has what the standard requires, and each finding" {
    report --all --format=sarif
    exits_with 67
    sarif out.txt >results.txt
    cut -d' ' -f1-3 results.txt >got.txt
    cat >want.txt <<'WANT'
LH002 error file:///srv/demo/hangs:
LH001 warning file:///srv/demo/broken_dining:
LH001 warning file:///srv/demo/hangs:
LH001 note file:///srv/demo/restock_with_timeout:
WANT
    diff want.txt got.txt
    report --format=sarif
    sarif out.txt | grep -c . | grep -qx 3
}

@test "SARIF of every kind of finding, of no finding, and of limited records" {
    local records=$BATS_TEST_DIRNAME/records
    try "$B/lockhound" report --all --format=sarif "$records/kinds.jsonl"
    [ "$(sarif out.txt | wc -l)" -eq 28 ]
    absent '"ruleIndex": 14' out.txt
    [ "$(grep -c '"ruleIndex"' out.txt)" -eq 28 ]
    try "$B/lockhound" report --format=sarif "$records/clean.jsonl"
    exits_with 0
    [ -z "$(sarif out.txt)" ]
    has '"id": "memory"' out.txt
}

@test "a kind that this version does not know is no rule, and still a result" {
    sed 's/"kind":"LH002"/"kind":"XY900"/' "$runs/hang.jsonl" >later.jsonl
    try "$B/lockhound" report --format=sarif later.jsonl
    sarif out.txt | grep -q '^XY900 error '
}

@test "SARIF names of bytes that are no text stay valid" {
    printf 'import sys\ns = open(sys.argv[1], "rb").read()\ns = s.replace(b"/srv/demo/", b"/srv/\\\\u0001 %%#?\\xc3\\xa4](x)/")\nopen("odd.jsonl", "wb").write(s)\n' >odd.py
    python3 odd.py "$runs/hang.jsonl"
    try "$B/lockhound" report --format=sarif odd.jsonl
    sarif out.txt
    has '"uri": "file:///srv/%01%20%25%23%3F%C3%A4%5D%28x%29/hangs"' out.txt
}

# The fingerprints of crossed(), run again as a file of other lines, or changed by
# a sed script.
fingerprints() {
    rm -rf d
    gcc -g -O0 -pthread -o "$1" "$2"
    timeout -s KILL 60 "$B/lockhound" run --dir=d --format=sarif -o s.sarif -- "./$1" \
        >/dev/null 2>&1 || true
    sarif s.sarif | cut -d' ' -f4
}

@test "fingerprints stay when lines, addresses and folders change, and no longer" {
    crossed --format=sarif -o s.sarif
    sarif s.sarif >one.txt
    grep -q '^LH001 warning src/crossed.c:15 ' one.txt
    cut -d' ' -f4 one.txt >want.txt
    fingerprints crossed src/crossed.c | diff want.txt -
    mkdir other
    { printf '#include <stdio.h>\nint more[1000];\n\nvoid first(void) { puts("x"); }\n'
        cat src/crossed.c; } >other/crossed.c
    fingerprints crossed other/crossed.c | diff want.txt -
    grep -q '"uri": "other/crossed.c"' s.sarif
    sed 's/right/middle/' src/crossed.c >renamed.c
    fingerprints crossed renamed.c >got.txt
    [ -s got.txt ]
    if cmp -s want.txt got.txt; then return 1; fi
    sed 's/back(/backwards(/' src/crossed.c >renamed.c
    fingerprints crossed renamed.c >got.txt
    [ -s got.txt ]
    if cmp -s want.txt got.txt; then return 1; fi
}

# --- JUnit ---

# "OUTCOME CLASS" for each test case, after "TESTS FAILURES SKIPPED" of the suite;
# fails where the counts are not those of the cases.
junit() { # FILE
    python3 - "$1" <<'PY'
import collections, sys
import xml.etree.ElementTree as ET
root = ET.parse(sys.argv[1]).getroot()
(suite,) = root
assert root.tag == "testsuites" and suite.tag == "testsuite"
lines, counts, names = [], collections.Counter(), set()
for case in suite.iter("testcase"):
    assert case.get("name") not in names and case.get("time")
    names.add(case.get("name"))
    outcome = case[0].tag if len(case) else "passed"
    if len(case):
        assert case.get("classname")[10:] in case[0].get("message")
        assert len(case[0].text.splitlines()) > 5
    counts[outcome] += 1
    lines.append(f"{outcome} {case.get('classname')}")
for thing in root, suite:
    assert int(thing.get("tests")) == len(lines)
    assert int(thing.get("failures")) == counts["failure"]
    assert int(thing.get("skipped")) == counts["skipped"]
    assert thing.get("errors") == "0"
print(suite.get("name"), len(lines), counts["failure"], counts["skipped"])
print("\n".join(lines))
PY
}

@test "JUnit has a failure for each finding, and a test that passed for other kinds" {
    report --format=junit
    exits_with 67
    junit out.txt >got.txt
    head -n 1 got.txt | grep -qx 'broken_dining and others 15 3 0'
    [ "$(grep -cx 'failure lockhound.LH001' got.txt)" -eq 2 ]
    [ "$(grep -cx 'failure lockhound.LH002' got.txt)" -eq 1 ]
    [ "$(grep -cx 'passed lockhound.LH003' got.txt)" -eq 1 ]
    absent 'passed lockhound.LH00[12]' got.txt
}

@test "JUnit has conditional findings as skipped, with --all only" {
    report --format=junit --all
    junit out.txt >got.txt
    head -n 1 got.txt | grep -qx 'broken_dining and others 16 3 1'
    grep -qx 'skipped lockhound.LH001' got.txt
    try "$B/lockhound" report --format=junit "$runs/timeout.jsonl"
    exits_with 0
    junit out.txt >got.txt
    head -n 1 got.txt | grep -qx 'restock_with_timeout 14 0 0'
}

@test "JUnit of each kind, and of names of any bytes, is well-formed" {
    try "$B/lockhound" report --all --format=junit "$BATS_TEST_DIRNAME/records/kinds.jsonl"
    junit out.txt | head -n 1 | grep -qx 'bank 30 26 2'
    cat >odd.py <<'PY'
import sys
text = open(sys.argv[1]).read()
name = "a<b>&\\\"'\\u0001\\u0002\\u001b]]>\\ufffe\\ud83d\\ude00\\u00e9\\n\\t\\u007f"
text = text.replace('"type":"lock",', '"type":"lock","name":"' + name + '",')
open("odd.jsonl", "w").write(text)
PY
    python3 odd.py "$runs/hang.jsonl"
    try "$B/lockhound" report --format=junit odd.jsonl
    junit out.txt | head -n 1 | grep -qx 'hangs 14 2 0'
    has 'a&lt;b&gt;&amp;' out.txt
}

# --- DOT ---

# "HOLDS > WANTS TIMES COLOUR" for each order and "LOCK COLOUR" for each lock, as
# a reader of the format finds them, and Graphviz itself where it is installed.
dot_lines() { # FILE
    if type dot >/dev/null 2>&1; then dot -Tsvg "$1" >/dev/null || return 1; fi
    python3 - "$1" <<'PY'
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
assert text.startswith("digraph lockhound {\n") and text.endswith("\n}\n")
string = r'"(?:[^"\\]|\\.)*"'
value = rf"(?:{string}|[\w.]+)"
statement = rf"  (\w+)(?: -> (\w+))? \[({value}={value}(?:, {value}={value})*)\];|  rankdir=LR;"
names = {}
for line in text.splitlines()[1:-1]:
    match = re.fullmatch(statement.replace(f"{value}=", r"\w+="), line)
    assert match, line
    pairs = dict(re.findall(rf"(\w+)=({value})", match[3] or ""))
    label = re.sub(r"\\(.)", r"\1", pairs.get("label", "")[1:-1]).replace("&amp;", "&")
    colour = pairs.get("color", "-")
    if match[2]:
        print(f"{names[match[1]]} > {names[match[2]]} {label or '?'} {colour}")
    elif (match[1] or "").startswith("n") and match[1] != "node":
        names[match[1]] = label
        print(label, colour)
PY
}

@test "DOT has the locks and their orders, with rings in colour" {
    report --all --format=dot
    exits_with 67
    dot_lines out.txt | sed 's/broken_//; s/broken_//; s/restock_with_//g' >got.txt
    cat >want.txt <<'WANT'
hangs+0x41a0 red
hangs+0x41c8 red
hangs+0x41f0 red
dining+0x4100 red
dining+0x4128 red
dining+0x4150 red
dining+0x4178 red
dining+0x41a0 red
timeout+0x4100 darkorange
timeout+0x4140 darkorange
hangs+0x41a0 > hangs+0x41c8 1 red
hangs+0x41c8 > hangs+0x41f0 1 red
hangs+0x41f0 > hangs+0x41a0 1 red
dining+0x4100 > dining+0x4128 20 red
dining+0x4128 > dining+0x4150 20 red
dining+0x4150 > dining+0x4178 20 red
dining+0x4178 > dining+0x41a0 20 red
dining+0x41a0 > dining+0x4100 20 red
timeout+0x4100 > timeout+0x4140 1 darkorange
timeout+0x4140 > timeout+0x4100 1 darkorange
WANT
    diff want.txt got.txt
}

@test "DOT without --all has the orders of a conditional ring as plain ones" {
    try "$B/lockhound" report --format=dot "$runs/timeout.jsonl"
    exits_with 0
    dot_lines out.txt >got.txt
    [ "$(wc -l <got.txt)" -eq 4 ]
    has '^restock_with_timeout+0x4100 > restock_with_timeout+0x4140 1 -$' got.txt
}

@test "DOT has orders that no finding has" {
    grep -v '"finding"' "$BATS_TEST_DIRNAME/records/ring.jsonl" | grep -v '"dependency":2,' >plain.jsonl
    try "$B/lockhound" report --format=dot plain.jsonl
    exits_with 0
    dot_lines out.txt >got.txt
    printf '%s\n' 'accounts -' 'journal -' 'accounts > journal 1000 -' \
        'journal > accounts ? -' | diff - got.txt
}

@test "locks of several processes are one in DOT, and their counts add up" {
    cp "$BATS_TEST_DIRNAME/records/ring.jsonl" one.jsonl
    sed 's/"pid":700/"pid":900/' one.jsonl >two.jsonl
    try "$B/lockhound" report --format=dot one.jsonl two.jsonl
    dot_lines out.txt >got.txt
    printf '%s\n' 'accounts red' 'journal red' 'accounts > journal 2000 red' \
        'journal > accounts 2 red' | diff - got.txt
}

@test "DOT of each kind, of nothing, and of names of any bytes is well-formed" {
    for f in kinds clean; do
        try "$B/lockhound" report --all --format=dot "$BATS_TEST_DIRNAME/records/$f.jsonl"
        dot_lines out.txt
    done
    head -n 1 "$runs/hang.jsonl" >none.jsonl
    try "$B/lockhound" report --format=dot none.jsonl
    [ -z "$(dot_lines out.txt)" ]
    sed 's/"type":"lock","id":1,/&"name":"a\\"b\\\\\&lt;\\n\\u0001é",/' "$runs/hang.jsonl" >odd.jsonl
    try "$B/lockhound" report --format=dot odd.jsonl
    dot_lines out.txt >got.txt
    grep -qxF 'a"b\&lt;??é red' got.txt
}
