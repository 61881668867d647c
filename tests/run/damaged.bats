#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# damaged.bats - the whole command on files that fuzzing has made: a report, or
# a clear line and status 2; never a crash. tests/fuzz has the readers alone.

load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    unset LOCKHOUND LD_PRELOAD
}

# Some of the inputs that are kept for a reader, evenly chosen.
sample() { # READER
    mkdir -p "$1"
    tar -C "$1" -xJf "$top/tests/fuzz/corpus/$1.tar.xz"
    [ ! -d "$top/tests/fuzz/found/$1" ] || cp "$top/tests/fuzz/found/$1"/* "$1"
    find "$1" -type f | sort | awk 'NR % 16 == 1'
}

# It ended with one of the statuses, and all that it said are lines of ours.
ends_well() { # STATUS...
    local want
    for want in "$@"; do
        if [ "$status" -eq "$want" ]; then
            ! grep -v '^lockhound: ' err.txt || { show; return 1; }
            return 0
        fi
    done
    echo "$input"
    show
    return 1
}

@test "a_report_of_damaged_records_is_well_formed" {
    local input n=0
    for input in $(sample records); do
        alone "$B/lockhound" report --all --format=json -o r.json \
            --format=sarif -o r.sarif --format=junit -o r.xml \
            --format=dot -o r.dot --format=short -o r.short "$input"
        ends_well 0 2 66 67
        [ ! -s r.xml ] || python3 - <<'PY' || { echo "$input"; return 1; }
import json, xml.etree.ElementTree
json.load(open("r.json"))
json.load(open("r.sarif"))
xml.etree.ElementTree.parse("r.xml")
PY
        rm -f r.*
        n=$((n + 1))
    done
    [ "$n" -gt 20 ]
}

@test "damaged_core_files_are_inspected_or_refused" {
    local input n=0
    for input in $(sample core) "$top"/tests/fuzz/found/core/*; do
        alone "$B/lockhound" inspect "$input"
        ends_well 0 2 67
        n=$((n + 1))
    done
    [ "$n" -gt 20 ]
}

# The library that unwinds dies of it.
@test "a_core_file_whose_stacks_are_damaged_is_told_as_such" {
    try "$B/lockhound" inspect "$top/tests/fuzz/found/core/list-of-files-without-names"
    exits_with 0
    has 'list-of-files-without-names: its stacks cannot be read to their end' err.txt
    has 'T1 (main, tid 100)' out.txt
}

@test "damaged_rules_and_baselines_are_refused_or_read" {
    local input
    for input in $(sample suppress); do
        alone "$B/lockhound" report --suppressions="$input" \
            "$top/tests/run/records/kinds.jsonl"
        ends_well 0 2 66 67
    done
    for input in $(sample baseline); do
        alone "$B/lockhound" report --baseline="$input" \
            "$top/tests/run/records/kinds.jsonl"
        ends_well 0 2 66 67
    done
}

# Two processes, each with threads that made each other, told in reverse.
@test "a_long_chain_of_threads_takes_no_deep_stack" {
    python3 - <<'PY'
frame = '{"type":"stack","id":1,"frames":[[0,16]]}\n'
lock = '{"type":"lock","id":%d,"kind":"mutex","address":"0x1","object":[1,2,%d]}\n'
wish = ('{"type":"dependency","id":1,"thread":%d,"wants":%d,"stack":1,'
        '"mode":"exclusive","wait":"block",'
        '"holds":[{"lock":%d,"stack":1,"mode":"exclusive"}]}\n')
n = 20000
for pid in 1, 2:
    with open(f"{pid}.jsonl", "w") as out:
        out.write('{"lockhound":1,"type":"process","pid":%d,"exe":"/a"}\n' % pid)
        out.write(frame + lock % (1, 1) + lock % (2, 2))
        for i in range(n, 1, -1):
            out.write('{"type":"thread","id":%d,"tid":%d,"creator":%d}\n'
                      % (i, i, i - 1))
        out.write(wish % (n, pid, 3 - pid))
PY
    ulimit -s 256
    alone "$B/lockhound" report 1.jsonl 2.jsonl
    exits_with 66
    has '1 possible deadlock (LH001)' out.txt
}

# Each finding tells of its stacks: of one that fills a file, its first frames.
@test "a_stack_of_thousands_is_told_up_to_its_256th_frame" {
    python3 - <<'PY' >deep.jsonl
print('{"lockhound":1,"type":"process","pid":1,"exe":"/a"}')
print('{"type":"module","id":1,"path":"/gone/a","base":"0x0"}')
print('{"type":"stack","id":1,"frames":[%s]}'
      % ",".join("[1,%d]" % i for i in range(1, 10000)))
print('{"type":"lock","id":1,"kind":"mutex","address":"0x1"}')
print('{"type":"thread","id":1,"tid":1}')
print('{"type":"finding","id":1,"kind":"LH010","grade":"happened",'
      '"thread":1,"lock":1,"stack":1}')
PY
    alone "$B/lockhound" report deep.jsonl
    exits_with 67
    has '#255 ' out.txt
    absent '#256 ' out.txt
    has 'more callers' out.txt
}

@test "a_name_that_fills_a_file_is_cut" {
    python3 - <<'PY' >long.jsonl
print('{"lockhound":1,"type":"process","pid":1,"exe":"/a"}')
print('{"type":"module","id":1,"path":"/gone/a","base":"0x0"}')
print('{"type":"lock","id":1,"kind":"mutex","address":"0x1","name":"n%s"}'
      % ("\u00fc" * 10000))
print('{"type":"thread","id":1,"tid":1}')
for i in range(1, 50):
    print('{"type":"stack","id":%d,"frames":[[1,%d]]}' % (i, i))
    print('{"type":"finding","id":%d,"kind":"LH010","grade":"happened",'
          '"thread":1,"lock":1,"stack":%d}' % (i, i))
PY
    alone "$B/lockhound" report --format=json -o long.json long.jsonl
    exits_with 67
    python3 - <<'PY'
import json
findings = json.load(open("long.json"))["findings"]
assert len(findings) == 49
for f in findings:
    name = f["locks"][0]["name"]
    assert name == "n" + "\u00fc" * 2047 + "...", len(name)
PY
}
