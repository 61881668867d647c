#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# tool.bats - the command's own behaviour: options, errors, exit statuses, and
# reports from the handwritten records in records/.

setup() {
    top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    build=${B:-build/opt}
    case $build in /*) ;; *) build=$top/$build ;; esac
    lockhound=$build/lockhound
    records=$top/tests/run/records
    unset LOCKHOUND NO_COLOR LD_PRELOAD
    cd "$BATS_TEST_TMPDIR" || return 1
}

# Runs a command; $status, $out and $err hold what it gave.
try() {
    status=0
    "$@" >out.txt 2>err.txt || status=$?
    out=$(cat out.txt)
    err=$(cat err.txt)
}

# One line on stderr that contains each of the words, and exit status 2.
fails_with() {
    [ "$status" -eq 2 ] || { echo "status $status, stderr: $err"; return 1; }
    [ "$(grep -c ^ err.txt)" -eq 1 ] || { echo "stderr: $err"; return 1; }
    local word
    for word in "$@"; do
        grep -qF -- "$word" err.txt || { echo "no '$word' in: $err"; return 1; }
    done
}

# Fails if a pattern is in a file; a bare "! grep" would not end a test.
absent() {
    if grep -n -e "$1" "$2"; then return 1; fi
}

# A program that takes two locks in both orders in threads that never overlap.
ordered_program() {
    cat >ordered.c <<'EOF'
#include <pthread.h>
struct conn { int id; struct { int n; pthread_mutex_t lock; } meta[2]; };
static struct conn conn[3];
static inline __attribute__((always_inline)) void take(pthread_mutex_t *m)
{
    pthread_mutex_lock(m);
}
static void *one(void *arg)
{
    static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_t *first = arg ? &own : &conn[1].meta[1].lock;
    pthread_mutex_t *second = arg ? &conn[1].meta[1].lock : &own;
    take(first);
    take(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
    return arg;
}
int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, one, 0);
    pthread_join(t, 0);
    pthread_create(&t, 0, one, &t);
    pthread_join(t, 0);
    return 5;
}
EOF
    ${CC:-cc} -g -O1 -pthread -o ordered ordered.c
}

# --- the command line ---

@test "version_is_printed" {
    try "$lockhound" --version
    [ "$status" -eq 0 ]
    [[ $out =~ ^lockhound\ [0-9]+\.[0-9]+ ]]
}

@test "no_command_is_an_error" {
    try "$lockhound"
    fails_with "run, report"
}

@test "unknown_command_is_an_error" {
    try "$lockhound" wibble
    fails_with wibble "run, report"
}

@test "unknown_option_is_an_error" {
    try "$lockhound" run --wibble -- true
    fails_with --wibble "lockhound run --help"
    try "$lockhound" report --wibble x
    fails_with --wibble "lockhound report --help"
}

@test "missing_value_is_an_error" {
    try "$lockhound" run --dir
    fails_with --dir
    try "$lockhound" report -o
    fails_with -o
}

@test "bad_values_are_errors_that_say_what_is_expected" {
    try "$lockhound" run --exit-code=256 -- true
    fails_with exit-code 256 "0 to 255"
    try "$lockhound" run --stacks=deep -- true
    fails_with stacks deep "auto, exact or pc"
    try "$lockhound" run --memory=lots -- true
    fails_with memory lots "at least 1M"
    try "$lockhound" run --memory=1023K -- true
    fails_with memory 1023K "at least 1M"
    for size in 0 1M 1024k 1048576; do
        try "$lockhound" run --memory=$size -- true
        [ "$status" -eq 0 ]
    done
    try "$lockhound" run --on-deadlock=stop -- true
    fails_with on-deadlock stop "report, exit or abort"
    try "$lockhound" run --color=red -- true
    fails_with color red "always"
    try "$lockhound" report --format=xml x
    fails_with format xml "text, short, json, sarif, junit, dot or html"
}

@test "run_without_a_program_is_an_error" {
    try "$lockhound" run --all
    fails_with "lockhound run"
}

@test "report_without_a_file_is_an_error" {
    try "$lockhound" report
    fails_with "lockhound report"
}

@test "help_is_a_command_too" {
    "$lockhound" --help >want.txt
    try "$lockhound" help
    [ "$status" -eq 0 ]
    diff want.txt out.txt
    try "$lockhound" help wibble
    fails_with wibble "run, report"
}

# The options that --help lists, sorted.
help_options() {
    "$lockhound" "$1" --help | sed -n 's/^  \(--[a-z-]*\).*/\1/p' | sort
}

# The options in the manual pages of commands.
page_options() {
    local page
    for page; do
        sed -n 's/^\.It \(Fl o Ar FILE , \)\{0,1\}Fl -\([a-z-]*\).*/--\2/p' \
            "$top/tools/lockhound-$page.1"
    done | sort -u
}

@test "help_and_manual_page_list_the_same_options" {
    for command in $("$B/lockhound" --help | sed -n 's/^  lockhound \([a-z]*\) .*/\1/p'); do
        pages=$command
        [ "$command" != db ] || pages="db report"
        [ -n "$(help_options "$command")" ]
        [ "$(help_options "$command")" = "$(page_options $pages)" ]
        grep -q "^\.It Xr lockhound-$command 1" "$top/tools/lockhound.1"
    done
}

@test "manual_pages_are_well_formed" {
    for page in "$top"/tools/*.[15]; do
        mandoc -T lint -W warning "$page" >lint.txt || { cat lint.txt; return 1; }
    done
}

@test "help_fits_80_columns" {
    for c in "" run report inspect diff baseline db "db add"; do
        "$lockhound" $c --help >help.txt
        absent '.\{81\}' help.txt
    done
}

# --- report ---

@test "report_is_as_expected_from_the_first_to_the_last_line" {
    try "$lockhound" report "$records/ring.jsonl"
    [ "$status" -eq 66 ]
    diff -u "$records/ring.txt" out.txt
}

@test "nothing_but_the_report_reaches_a_terminal" {
    command -v script >/dev/null || skip "script(1) is not installed"
    sed 's,/srv/bank/bank,bank,' "$records/clean.jsonl" | grep -v '"note"' >c.jsonl
    script -qec "$lockhound report c.jsonl >/dev/null" /dev/null >tty.txt
    [ ! -s tty.txt ]
}

@test "place_of_a_first_look_is_not_called_the_first_acquisition" {
    sed 's/"init":/"first":/' "$records/ring.jsonl" >first.jsonl
    try "$lockhound" report first.jsonl
    [[ $out == *"journal: recursive mutex, first seen at bank+0x125c"* ]]
    try "$lockhound" report --format=json first.jsonl
    [[ $out == *'"born": "first-seen"'* ]]
}

@test "counts_of_a_killed_process_are_lower_bounds" {
    grep -v '"type":"end"' "$records/ring.jsonl" >cut.jsonl
    try "$lockhound" report cut.jsonl
    tail -n 1 out.txt | grep -q 'at least [0-9] nested locks, .*, 1 process$'
    head -n 1 "$records/ring.jsonl" >none.jsonl
    try "$lockhound" report none.jsonl
    [ "$out" = "lockhound: no findings; 1 process" ]
}

@test "process_that_was_not_watched_is_no_process_without_findings" {
    {
        head -n 1 "$records/ring.jsonl"
        echo '{"type":"note","code":"off","text":"out of memory"}'
    } >off.jsonl
    try "$lockhound" report off.jsonl
    [ "$out" = "lockhound: no findings, but 1 process could not be watched; 1 process" ]
    [[ $err == *"note: out of memory (off, pid"* ]]
}

@test "dependency_without_a_record_is_accepted" {
    grep -v '"type":"dependency"' "$records/ring.jsonl" >nodep.jsonl
    try "$lockhound" report nodep.jsonl
    [ "$status" -eq 66 ]
    diff -u "$records/ring.txt" out.txt
}

@test "missing_module_is_said_once" {
    try "$lockhound" report "$records/ring.jsonl" "$records/assertion.jsonl"
    [ "$(grep -c /srv/bank/bank err.txt)" -eq 1 ]
}

@test "report_fits_80_columns" {
    try "$lockhound" report --all "$records"/*.jsonl
    absent '.\{81\}' out.txt
}

@test "conditional_ring_is_counted_and_shown_by_all" {
    try "$lockhound" report "$records/conditional.jsonl"
    [ "$status" -eq 0 ]
    [[ $out == *"no findings, 1 conditional (--all shows it)"* ]]
    [[ $out != *LH001* ]]
    try "$lockhound" report --all "$records/conditional.jsonl"
    [ "$status" -eq 0 ]
    [[ $out == *"conditional ring LH001 between accounts and journal"* ]]
    [[ $out == *"Why not now: both hold bank+0x40c0 (taken at bank+0x1018 and"* ]]
}

@test "conditional_ring_that_became_possible_is_told_once_as_possible" {
    try "$lockhound" report --all "$records/raised.jsonl"
    [ "$status" -eq 66 ]
    [ "$(grep -c '^potential deadlock LH001' out.txt)" -eq 1 ]
    [[ $out == *"1 possible deadlock (LH001);"* ]]
}

@test "findings_and_locks_of_every_kind_are_as_expected" {
    try "$lockhound" report --all "$records/kinds.jsonl"
    [ "$status" -eq 67 ]
    diff -u "$records/kinds.txt" out.txt
}

@test "json_report_has_who_did_what_before" {
    try "$lockhound" report --all --format=json "$records/kinds.jsonl"
    [ "$status" -eq 67 ]
    python3 - out.txt <<'EOF'
import json, sys
r = json.load(open(sys.argv[1]))
def only(kind, **what):
    [f] = [f for f in r["findings"] if f["kind"] == kind
           and all(f.get(k) == v for k, v in what.items())]
    return f
f = only("LH011")
assert f["grade"] == "possible" and f["thread"]["id"] == 2
assert f["holder"]["id"] == 3 and f["holder_stack"][0]["offset"] == "0x113a"
assert only("LH017", detail="two-mutexes")["other"] == 2
assert only("LH020")["grade"] == "happened"
f = only("LH005", grade="possible")
assert f["sides"][1]["holds"]["mode"] == "queued"
waits = {s["wants"]["wait"] for f in r["findings"] for s in f["sides"]}
assert waits == {"block", "timed", "tried"}, waits
EOF
}

# Two locks of handwritten records are given places in real files.
@test "guards_and_streams_are_named_after_what_they_are_of" {
    cat >guard.cpp <<'EOF'
#include <stdlib.h>
namespace app {
struct Config { Config() : v(abs(3)) {} int v; };
Config &config() { static Config one; return one; }
} // namespace app
int main() { return app::config().v; }
EOF
    ${CXX:-c++} -g -O1 -o guard guard.cpp
    libc=$(ldd guard | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')
    python3 - "$records/kinds.jsonl" "$PWD/guard" "$libc" >named.jsonl <<'EOF'
import json, subprocess, sys
def offset(file, symbol, *options):
    for line in subprocess.check_output(["nm", *options, file], text=True).splitlines():
        if symbol in line:
            return int(line.split()[0], 16)
files = {8: (90, sys.argv[2], "_ZGVZ"), 9: (91, sys.argv[3], "_IO_2_1_stdout_", "-D")}
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["type"] == "lock" and r["id"] in files:
        module, file, *symbol = files[r["id"]]
        r["static"] = [module, offset(file, *symbol)]
        print(json.dumps({"type": "module", "id": module, "path": file, "base": "0x0"}))
    print(json.dumps(r))
EOF
    try "$lockhound" report named.jsonl
    tr -s '\n ' ' ' <out.txt >flat.txt
    grep -q 'between app::config()::one and semaphore@' flat.txt
    grep -q 'is inside the initialization of app::config()::one, begun at:' flat.txt
    grep -q 'between stdout and spinlock@' flat.txt
    grep -q 'stdout: stdio stream, static in libc' flat.txt
}

@test "finding_about_one_lock_needs_a_thread_a_lock_and_a_stack" {
    for key in thread lock stack; do
        sed "/LH011/s/\"$key\":[0-9]*,*//" "$records/kinds.jsonl" >cut.jsonl
        try "$lockhound" report cut.jsonl
        [[ $err == *"damaged record skipped: \"$key\" is missing"* ]]
        [[ $out != *LH011* ]]
    done
}

@test "failed_assertion_is_reported" {
    try "$lockhound" report "$records/assertion.jsonl"
    [ "$status" -eq 66 ]
    [[ $out == *"LH016 failed assertion: T2 (deposit) should hold accounts"* ]]
    [[ $out == *"1 failed assertion (LH016)"* ]]
}

@test "what_happened_exits_with_67" {
    try "$lockhound" report "$records/happened.jsonl" "$records/ring.jsonl"
    [ "$status" -eq 67 ]
}

@test "exit_code_replaces_the_status_of_findings_only" {
    try "$lockhound" report --exit-code=9 "$records/ring.jsonl"
    [ "$status" -eq 9 ]
    try "$lockhound" report --exit-code=0 "$records/ring.jsonl"
    [ "$status" -eq 0 ]
    try "$lockhound" report --exit-code=9 "$records/clean.jsonl"
    [ "$status" -eq 0 ]
}

@test "note_is_told" {
    try "$lockhound" report "$records/clean.jsonl"
    [ "$status" -eq 0 ]
    [[ $err == *"lockhound: note: the memory budget of 1M is used up"* ]]
    [[ $out == *"no findings; 14 nested locks"* ]]
    try "$lockhound" report --format=json "$records/clean.jsonl"
    [[ $out == *'"code": "memory"'* ]]
}

@test "finding_of_several_workers_is_told_once" {
    try "$lockhound" report "$records/workers"
    [ "$status" -eq 66 ]
    [ "$(grep -c '^potential deadlock LH001' out.txt)" -eq 1 ]
    [[ $out == *"Found in 3 processes: pid 801, 802, 803."* ]]
    [[ $out == *"3 processes"* ]]
}

@test "json_report_has_the_finding_with_its_sides" {
    try "$lockhound" report --format=json "$records/ring.jsonl"
    [ "$status" -eq 66 ]
    python3 - out.txt <<'EOF'
import json, sys
r = json.load(open(sys.argv[1]))
assert r["lockhound"] == 1
assert r["summary"]["possible"] == 1 and r["summary"]["locks"] == 14
assert r["summary"]["kinds"]["LH001"] == {"possible": 1, "conditional": 0}
[f] = r["findings"]
assert f["kind"] == "LH001" and f["grade"] == "possible", f
assert f["id"].startswith("LH001-") and f["processes"] == [700]
assert [l["name"] for l in f["locks"]] == ["accounts", "journal"]
assert f["locks"][0]["address"] == "0x55d0c0dd4040"
assert f["locks"][0]["class"]["offset"] == "0x4040"
a, b = f["sides"]
assert a["thread"] == {"id": 2, "tid": 701, "name": "deposit"}
assert (a["times"], a["threads"], a["odd"]) == (1000, 3, False)
assert (b["times"], b["threads"], b["odd"]) == (1, 1, True)
assert a["holds"]["lock"] == b["wants"]["lock"] == 1
assert a["wants"]["stack"][0]["offset"] == "0x1036"
assert b["holds"]["partial"] and b["wants"]["truncated"]
EOF
}

@test "json_report_has_conditional_rings_with_all_only" {
    try "$lockhound" report --format=json "$records/conditional.jsonl"
    [ "$(python3 -c 'import json; print(len(json.load(open("out.txt"))["findings"]))')" -eq 0 ]
    try "$lockhound" report --all --format=json "$records/conditional.jsonl"
    python3 - out.txt <<'EOF'
import json, sys
[f] = json.load(open(sys.argv[1]))["findings"]
[reason] = f["reasons"]
assert reason["reason"] == "gate" and reason["sides"] == [0, 1], reason
assert reason["lock"]["id"] == 3 and len(reason["stacks"]) == 2
EOF
}

@test "report_goes_to_the_output_file" {
    try "$lockhound" report -o r.txt "$records/ring.jsonl"
    [ "$status" -eq 66 ]
    [ -z "$out" ]
    diff -u "$records/ring.txt" r.txt
    try "$lockhound" report --output=none/r.txt "$records/ring.jsonl"
    [ "$status" -eq 2 ]
    [[ $err == *none/r.txt* ]]
}

@test "report_that_cannot_be_written_is_an_error" {
    status=0
    "$lockhound" report "$records/ring.jsonl" >/dev/full 2>err.txt || status=$?
    [ "$status" -eq 2 ]
    grep -q "stdout" err.txt
}

# --- damaged records ---

@test "unreadable_file_is_an_error" {
    try "$lockhound" report nosuch.jsonl
    fails_with nosuch.jsonl
}

@test "empty_file_is_an_error" {
    : >empty.jsonl
    try "$lockhound" report empty.jsonl
    fails_with empty.jsonl empty
}

@test "folder_without_records_is_an_error" {
    mkdir none
    try "$lockhound" report none
    fails_with none "*.jsonl"
}

@test "other_file_is_an_error" {
    try "$lockhound" report "$top/LICENSE"
    fails_with LICENSE "line 1" "not a lockhound record file"
    head -c 4096 /dev/urandom >noise
    try "$lockhound" report noise
    fails_with noise "not a lockhound record file"
}

@test "newer_version_is_an_error" {
    sed 's/"lockhound":1/"lockhound":2/' "$records/ring.jsonl" >new.jsonl
    try "$lockhound" report new.jsonl
    fails_with new.jsonl "version 2" "version 1"
}

@test "bad_file_does_not_hide_the_findings_of_others" {
    : >empty.jsonl
    try "$lockhound" report empty.jsonl "$records/ring.jsonl"
    [ "$status" -eq 2 ]
    diff -u "$records/ring.txt" out.txt
}

@test "truncated_last_record_is_skipped_and_said" {
    head -c -20 "$records/ring.jsonl" >cut.jsonl
    try "$lockhound" report cut.jsonl
    [ "$status" -eq 66 ]
    [[ $err == *"cut.jsonl: line 21: truncated record skipped"* ]]
    [[ $out == *"potential deadlock LH001 between accounts and journal"* ]]
}

@test "damaged_records_in_the_middle_are_skipped_and_said" {
    {
        sed -n 1,4p "$records/ring.jsonl"
        echo '{"type":"lock","id":"seven","kind":"mutex","address":"0x1"}'
        echo '{"type":"stack","id":99'
        echo
        echo '{"type":"later","id":1}'
        sed -n '5,$p' "$records/ring.jsonl"
    } >mid.jsonl
    try "$lockhound" report mid.jsonl
    [ "$status" -eq 66 ]
    [[ $err == *'mid.jsonl: line 5: damaged record skipped: "id"'* ]]
    [[ $err == *"mid.jsonl: line 6: damaged record skipped"* ]]
    [ "$(grep -c skipped err.txt)" -eq 2 ]
    diff -u "$records/ring.txt" out.txt
}

@test "missing_references_are_shown_as_unknown" {
    grep -v -e '"type":"stack"' -e '"type":"lock"' -e '"type":"thread"' \
        "$records/ring.jsonl" >bare.jsonl
    try "$lockhound" report bare.jsonl
    [ "$status" -eq 66 ]
    [[ $out == *"unknown lock #1"*"unknown lock #2"* ]]
    [[ $out == *"(unknown)"* ]]
}

@test "control_characters_in_records_do_not_reach_the_terminal" {
    sed 's/"accounts"/"a\\u001b[31mb"/' "$records/ring.jsonl" >esc.jsonl
    try "$lockhound" report esc.jsonl
    [[ $out == *"a?[31mb"* ]]
    absent $'\e' out.txt
}

# --- colour ---

@test "no_colour_but_on_a_terminal" {
    try "$lockhound" report "$records/ring.jsonl"
    absent $'\e' out.txt
    try "$lockhound" report --color=always "$records/ring.jsonl"
    grep -q $'\e\[1m' out.txt
}

@test "no_color_is_honoured_on_a_terminal" {
    command -v script >/dev/null || skip "script(1) is not installed"
    export TERM=xterm
    script -qec "$lockhound report $records/ring.jsonl" /dev/null >tty.txt || true
    grep -q $'\e\[1m' tty.txt
    NO_COLOR=1 script -qec "$lockhound report $records/ring.jsonl" /dev/null \
        >tty.txt || true
    grep -q LH001 tty.txt
    absent $'\e\[1m' tty.txt
}

# --- run ---

@test "run_keeps_streams_and_exit_status" {
    try "$lockhound" run --dir=d -- sh -c 'cat; echo out; echo err >&2; exit 3' \
        </dev/null
    [ "$status" -eq 3 ]
    [ "$out" = out ]
    [[ $err == err* ]]
    [[ $err == *"lockhound: no findings"*"records in d"* ]]
}

@test "run_passes_on_death_by_signal" {
    try "$lockhound" run --dir=d -- sh -c 'kill -KILL $$'
    [ "$status" -eq 137 ]
    [[ $err == *"sh was killed by signal 9"* ]]
}

@test "run_forwards_sigterm" {
    try "$lockhound" run --dir=d -- \
        sh -c 'trap "exit 7" TERM; kill -TERM $PPID; while :; do :; done'
    [ "$status" -eq 7 ]
}

@test "run_forwards_sigint_of_another_process" {
    try "$lockhound" run --dir=int -- python3 -c '
import os, signal
signal.signal(signal.SIGINT, lambda *_: os._exit(7))
os.kill(os.getppid(), signal.SIGINT)
while True:
    signal.pause()'
    [ "$status" -eq 7 ]
}

# SIGTERM comes after any SIGINT that was passed on too, which has a lower
# number.
@test "key_on_the_terminal_reaches_the_target_once" {
    cat >target.py <<'EOF'
import os, signal
n = 0
def interrupted(*_):
    global n
    n += 1
    if n == 1:
        os.write(1, b"interrupted\n")
signal.signal(signal.SIGINT, interrupted)
signal.signal(signal.SIGTERM, lambda *_: os._exit(n))
os.write(1, b"ready\n")
while True:
    signal.pause()
EOF
    timeout 20 python3 - "$lockhound" <<'EOF'
import os, pty, signal, sys
pid, fd = pty.fork()
if pid == 0:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(sys.argv[1], [sys.argv[1], "run", "--dir=d", "--", "python3", "target.py"])
seen = b""
def wait_for(word):
    global seen
    while word not in seen:
        seen += os.read(fd, 4096)
wait_for(b"ready")
os.write(fd, b"\x03")
wait_for(b"interrupted")
os.kill(pid, signal.SIGTERM)
try:
    while os.read(fd, 4096):
        pass
except OSError:
    pass
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
assert status == 1, status
EOF
}

@test "run_gives_the_target_the_signals_it_would_have_alone" {
    grep -E '^(Sig|Shd)(Blk|Ign)' /proc/self/status >alone.txt
    try "$lockhound" run --dir=d -- grep -E '^(Sig|Shd)(Blk|Ign)' /proc/self/status
    diff -u alone.txt out.txt
}

@test "run_without_such_a_program_is_an_error" {
    try "$lockhound" run -- no-such-program
    fails_with no-such-program PATH
    try "$lockhound" run -- ./no-such-program
    fails_with ./no-such-program
    echo text >text
    try "$lockhound" run -- ./text
    fails_with ./text
    [ -z "$(ls -d lockhound.* 2>/dev/null)" ]
}

@test "run_refuses_a_folder_that_cannot_be_made" {
    : >file
    try "$lockhound" run --dir=file/such -- true
    fails_with file/such
    try "$lockhound" run --dir=file -- true
    fails_with file folder
}

@test "records_go_to_a_folder_named_after_the_process_by_default" {
    try "$lockhound" run -- true
    [ "$status" -eq 0 ]
    [ -n "$(ls lockhound.*/*.jsonl)" ]
}

@test "folders_above_that_of_the_records_are_made" {
    try "$lockhound" run --dir=a/b/c -- true
    [ "$status" -eq 0 ]
    [ -n "$(ls a/b/c/*.jsonl)" ]
    try "$lockhound" run --dir="$PWD/x/y/" -- true
    [ -n "$(ls x/y/*.jsonl)" ]
}

@test "run_without_nesting_says_so" {
    try "$lockhound" run --dir=d -- true
    [[ $err == "lockhound: no findings: no lock was taken while another was held;"* ]]
}

@test "folder_with_comma_and_percent_works" {
    try "$lockhound" run --dir='a,b%41' -- true
    [ "$status" -eq 0 ]
    [ -n "$(ls a,b%41/*.jsonl)" ]
}

@test "findings_written_while_the_target_runs_are_told" {
    try "$lockhound" run --dir=d -- cp "$records/ring.jsonl" d/
    [ "$status" -eq 66 ]
    [[ $err == *"potential deadlock LH001 between accounts and journal"* ]]
    [[ $err == *"1 possible deadlock (LH001)"* ]]
}

@test "records_of_earlier_runs_are_left_out" {
    mkdir d
    cp "$records/ring.jsonl" d/
    try "$lockhound" run --dir=d -- true
    [ "$status" -eq 0 ]
    [[ $err == *"no findings"* ]]
}

@test "run_exit_code_replaces_both" {
    try "$lockhound" run --exit-code=9 --dir=d -- cp "$records/ring.jsonl" d/
    [ "$status" -eq 9 ]
    try "$lockhound" run --exit-code=0 --dir=e -- \
        sh -c 'cp "$1" e/; exit 4' sh "$records/ring.jsonl"
    [ "$status" -eq 4 ]
    try "$lockhound" run --dir=f -- cp "$records/happened.jsonl" f/
    [ "$status" -eq 67 ]
}

@test "run_shows_conditional_rings_with_all_only" {
    try "$lockhound" run --dir=d -- cp "$records/conditional.jsonl" d/
    [ "$status" -eq 0 ]
    [[ $err == *"1 conditional (--all shows it)"* ]]
    try "$lockhound" run --all --dir=e -- cp "$records/conditional.jsonl" e/
    [ "$status" -eq 0 ]
    [[ $err == *"conditional ring LH001"*"Why not now"* ]]
}

@test "same_finding_of_several_workers_is_told_once_while_they_run" {
    try "$lockhound" run --dir=d -- \
        sh -c 'cp "$1"/worker.* d/' sh "$records/workers"
    [ "$status" -eq 66 ]
    [ "$(grep -c '^potential deadlock LH001' err.txt)" -eq 1 ]
    [[ $err == *"finding between accounts and journal was also made in 2 other processes"* ]] ||
        [[ $err == *"finding between accounts and journal was also made in 1 other process"* ]] ||
        [[ $err == *"Found in 3 processes"* ]]
}

@test "settings_in_the_variable_are_kept_unless_an_option_replaces_them" {
    export LOCKHOUND=stacks=pc,memory=7M,exit-code=9
    try "$lockhound" run --memory=8M --dir=d -- \
        sh -c 'echo "$LOCKHOUND"; cp "$1" d/' sh "$records/ring.jsonl"
    [ "$status" -eq 9 ]
    [[ ,$out, == *,stacks=pc,* ]]
    [[ ,$out, == *,memory=8M,* ]]
    [[ ,$out, == *,print=none,* ]]
    [[ ,$out, == *",dir=$PWD/d,"* ]]
    [[ $out != *7M* ]]
}

# What the preload does of a hanging program is tested with its findings; here,
# that it is asked to.
@test "on_deadlock_is_exit_unless_told_otherwise" {
    try "$lockhound" run --dir=d -- sh -c 'echo "$LOCKHOUND"'
    [[ ,$out, == *,on-deadlock=exit,* ]]
    try "$lockhound" run --on-deadlock=report --dir=d -- sh -c 'echo "$LOCKHOUND"'
    [[ ,$out, == *,on-deadlock=report,* ]]
    export LOCKHOUND=on-deadlock=abort
    try "$lockhound" run --dir=d -- sh -c 'echo "$LOCKHOUND"'
    [[ ,$out, == *,on-deadlock=abort,* ]]
    try "$lockhound" run --on-deadlock=exit --dir=d -- sh -c 'echo "$LOCKHOUND"'
    [[ ,$out, == *,on-deadlock=exit,* ]]
    LOCKHOUND=on-deadlock=stop try "$lockhound" run -- true
    fails_with on-deadlock stop "report, exit or abort"
}

@test "process_that_was_ended_because_it_hung_is_named" {
    grep -v '"type":"end"' "$records/happened.jsonl" | sed 's/"pid":700/"pid":4194305/' >h.jsonl
    try "$lockhound" run --dir=d -- sh -c 'cp h.jsonl d/; exit 67'
    [ "$status" -eq 67 ]
    [[ $err == *"pid 4194305 (/srv/bank/bank) could not go on, and was ended (--on-deadlock=exit)"* ]]
    try "$lockhound" run --on-deadlock=report --dir=e -- sh -c 'cp h.jsonl e/; exit 3'
    [ "$status" -eq 67 ]
    [[ $err != *"was ended"* ]]
}

@test "static_program_is_said_and_run" {
    echo 'int main(void) { return 6; }' >s.c
    ${CC:-cc} -static -o s s.c || skip "no static libc"
    try "$lockhound" run --dir=d -- ./s
    [ "$status" -eq 6 ]
    [[ $err == *"./s: is statically linked: its locks cannot be seen"* ]]
    [[ $err == *"the preload was not loaded"* ]]
}

# A copy of true with some bytes changed, which is never run.
patched() {
    python3 - "$(type -P true)" "$1" <<'EOF'
import sys
b = bytearray(open(sys.argv[1], "rb").read())
what = sys.argv[2]
if what == "musl":
    at = b.index(b"/ld-linux")
    b[at:at + 10] = b"/ld-musl-x"
elif what == "32":
    b[4] = 1
elif what == "machine":
    b[18] ^= 0x55
open("patched", "wb").write(b)
EOF
    chmod +x patched
}

# --- run --check, and what is said before a run ---

# A C program; what follows its name goes to the compiler.
program() { # NAME FLAGS... <SOURCE
    local name=$1
    shift
    ${CC:-cc} -g -O1 -pthread -x c -o "$name" - -x none "$@"
}

@test "check_lists_lock_calls_by_file_and_runs_nothing" {
    program libtake.so -shared -fPIC -Wl,-soname,libtake.so <<'SRC'
#include <pthread.h>
void take(pthread_mutex_t *m) { pthread_mutex_lock(m); }
SRC
    program taker ./libtake.so -Wl,-rpath,. <<'SRC'
#include <pthread.h>
#include <stdio.h>
void take(pthread_mutex_t *m);
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
int main(void)
{
    fclose(fopen("ran", "w"));
    take(&m);
    return pthread_cond_wait(&c, &m);
}
SRC
    try "$lockhound" run --check -- ./taker
    [ "$status" -eq 0 ]
    [ -z "$err" ]
    grep -q '^  taker  *condition$' out.txt
    grep -q '^  libtake.so  *mutex$' out.txt
    grep -q 'files\? without lock calls' out.txt
    grep -q 'locks inside the C library' out.txt
    grep -q 'by dlopen, and programs that it starts are not$' out.txt
    absent '.\{81\}' out.txt
    [ ! -e ran ]
    [ -z "$(ls -d lockhound.* 2>/dev/null)" ]
}

# What the preload does not define is not seen: a call that nobody hooks.
@test "check_names_calls_that_are_not_seen" {
    program libbarred.so -shared -fPIC <<'SRC'
int g_cond_wait_until(void), pthread_mutex_lock(void *);
int barred(void) { return pthread_mutex_lock(0) + g_cond_wait_until(); }
SRC
    program barred ./libbarred.so -Wl,-rpath,. -Wl,--allow-shlib-undefined <<'SRC'
int barred(void);
int main(void) { return barred(); }
SRC
    try "$lockhound" run --check -- ./barred
    [ "$status" -eq 0 ]
    if nm -D "$build/liblockhound.so" | grep -q g_cond_wait_until; then
        skip "all calls are hooked"
    fi
    grep -q '^  libbarred.so  mutex; not seen: GCond$' out.txt
}

@test "check_of_what_cannot_be_watched_is_an_error" {
    echo 'int main(void) { return 6; }' >s.c
    ${CC:-cc} -static -o s s.c || skip "no static libc"
    try "$lockhound" run --check -- ./s
    fails_with ./s "statically linked"
    patched musl
    try "$lockhound" run --check -- ./patched
    fails_with ./patched musl
    try "$lockhound" run --check -- no-such-program
    fails_with no-such-program
    echo text >text
    chmod +x text
    try "$lockhound" run --check -- ./text
    fails_with ./text ELF
}

@test "set_user_id_program_is_said_and_run" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    cp "$(type -P true)" suid
    chown nobody suid
    chmod u+s suid
    [ -u suid ] || skip "no set-user-ID bits here"
    try "$lockhound" run --check -- ./suid
    fails_with ./suid set-user-ID
    try "$lockhound" run --dir=d -- ./suid
    [[ $err == *"./suid: is set-user-ID: the preload is not loaded into it"* ]]
}

# Says, before it runs and with --check, that it cannot see something.
says_of() { # PROGRAM TEXT
    try "$lockhound" run --check -- "./$1"
    [ "$status" -eq 0 ]
    tr -s '\n ' ' ' <out.txt | grep -qF -- "$2" || { cat out.txt; return 1; }
    try "$lockhound" run --dir=d -- "./$1"
    [ "$status" -eq 3 ]
    grep -qF -- "lockhound: ./$1: cannot see $2" err.txt || { cat err.txt; return 1; }
}

@test "runtimes_with_locks_of_their_own_are_said" {
    program rusty <<'SRC'
__asm__(".section .comment\n.string \"rustc version 1.70.0\"\n.text");
int main(void) { return 3; }
SRC
    says_of rusty "the locks of Rust's library (std::sync), in rusty"
    program gopher <<'SRC'
__attribute__((section(".go.buildinfo"))) int info[8] = { 1 };
int main(void) { return 3; }
SRC
    says_of gopher "the locks of Go (sync.Mutex, channels), in gopher"
    echo 'int q;' | program libQt5Core.so.5 -shared -fPIC -Wl,-soname,libQt5Core.so.5
    program qt ./libQt5Core.so.5 -Wl,-rpath,. <<'SRC'
extern int q;
int main(void) { return q + 3; }
SRC
    says_of qt "the locks of Qt (QMutex, QReadWriteLock, QSemaphore), in qt, libQt5Core.so.5"
    echo 'int j;' | program libjli.so -shared -fPIC -Wl,-soname,libjli.so
    program jav ./libjli.so -Wl,-rpath,. <<'SRC'
extern int j;
int main(void) { return j + 3; }
SRC
    says_of jav "the locks of Java (monitors, java.util.concurrent), in jav"
}

@test "programs_and_libraries_that_define_lock_functions_are_said" {
    program self -rdynamic <<'SRC'
int pthread_mutex_lock(void *m) { return m != 0; }
int main(void) { return pthread_mutex_lock(0) + 3; }
SRC
    says_of self "any call of pthread_mutex_lock: self defines it itself"
    program hidden <<'SRC'
__attribute__((noinline)) static int pthread_spin_lock(volatile int *m) { return *m; }
int main(int c, char **v) { return pthread_spin_lock(&c) ? 3 : 0; }
SRC
    says_of hidden "calls of pthread_spin_lock in hidden, which go to its own"
    program libsymbolic.so -shared -fPIC -Wl,-Bsymbolic <<'SRC'
int pthread_spin_lock(volatile int *m) { return *m; }
int symbolic(void) { return pthread_spin_lock(&(int){ 3 }); }
SRC
    program caller ./libsymbolic.so -Wl,-rpath,. <<'SRC'
int symbolic(void);
int main(void) { return symbolic(); }
SRC
    says_of caller "calls of pthread_spin_lock in libsymbolic.so, which go to its own"
    program keeper -rdynamic <<'SRC'
#include <stddef.h>
static char room[1 << 20] __attribute__((aligned(16)));
static size_t used;
void *malloc(size_t n) { used += (n + 31) & ~15ul; return room + used - ((n + 31) & ~15ul); }
void free(void *p) { (void)p; }
void *calloc(size_t n, size_t m) { return malloc(n * m); }
void *realloc(void *p, size_t n) { (void)p; return malloc(n); }
int main(void) { return 3; }
SRC
    says_of keeper "when memory with locks in it is freed: keeper defines malloc and free itself"
}

@test "musl_32_bit_and_foreign_programs_are_refused" {
    patched musl
    try "$lockhound" run --dir=d -- ./patched
    fails_with ./patched musl
    patched 32
    try "$lockhound" run --dir=d -- ./patched
    fails_with ./patched 32-bit
    patched machine
    try "$lockhound" run --dir=d -- ./patched
    fails_with ./patched machine
    [ ! -e d ]
}

@test "interpreter_of_a_script_is_checked" {
    patched musl
    printf '#!%s/patched\n' "$PWD" >script
    chmod +x script
    try "$lockhound" run -- ./script
    fails_with patched musl
}

@test "asan_program_runs" {
    echo 'int main(void) { return 6; }' >a.c
    gcc -fsanitize=address -o a a.c 2>/dev/null || skip "gcc has no ASan here"
    try env ASAN_OPTIONS=detect_leaks=0 "$lockhound" run --dir=d -- ./a
    [ "$status" -eq 6 ]
    [[ $err == *"./a: is built with ASan"* ]]
}

@test "names_lines_members_and_inlined_functions_come_from_dwarf" {
    ordered_program
    try "$lockhound" run --all --stacks=exact --dir=d -- ./ordered
    [ "$status" -eq 5 ]
    [[ $err == *"conditional ring LH001 between conn[1].meta[1].lock and own"* ]]
    [[ $err == *"conn[1].meta[1].lock: mutex, static, declared at ordered.c:3"* ]]
    [[ $err == *"own: mutex, static, declared at ordered.c:10 in one"* ]]
    [[ $err == *"#0 take (inlined)  ordered.c:6"* ]]
    [[ $err == *"#1 one             ordered.c:13"* ]]
    [[ $err != *start_thread* ]]
    tr -s '\n ' ' ' <err.txt >flat.txt
    grep -q 'now: in this run T3 (one) was created after T2 (one) was joined, both by T1 (main).' flat.txt
}

@test "changed_program_is_shown_as_module_and_offset" {
    ordered_program
    try "$lockhound" run --dir=d -- ./ordered
    echo 'int other(void) { return 1; }' >>ordered.c
    ${CC:-cc} -g -O1 -pthread -o ordered ordered.c
    try "$lockhound" report --all d
    [ "$(grep -c 'is not the file that was recorded' err.txt)" -eq 1 ]
    [[ $out == *"ordered+0x"* ]]
}

# Three locks made in one place, two rings between them.
heap_program() {
    cat >heap.c <<'EOF'
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t *make(void)
{
    pthread_mutex_t *m = malloc(sizeof *m);
    pthread_mutex_init(m, 0);
    return m;
}
static pthread_mutex_t *m[3];
static void *there(void *arg)
{
    pthread_mutex_lock(m[0]);
    pthread_mutex_lock(m[1]);
    pthread_mutex_unlock(m[1]);
    pthread_mutex_lock(m[2]);
    pthread_mutex_unlock(m[2]);
    pthread_mutex_unlock(m[0]);
    return arg;
}
static void *back(void *arg)
{
    pthread_mutex_lock(m[1]);
    pthread_mutex_lock(m[0]);
    pthread_mutex_unlock(m[0]);
    pthread_mutex_unlock(m[1]);
    pthread_mutex_lock(m[2]);
    pthread_mutex_lock(m[0]);
    pthread_mutex_unlock(m[0]);
    pthread_mutex_unlock(m[2]);
    return arg;
}
int main(void)
{
    pthread_t t;
    for (int i = 0; i < 3; i++)
        m[i] = make();
    pthread_create(&t, 0, there, 0);
    pthread_join(t, 0);
    pthread_create(&t, 0, back, 0);
    pthread_join(t, 0);
    return 0;
}
EOF
    ${CC:-cc} -g -O1 -pthread -o heap heap.c
}

@test "lock_has_one_name_in_all_findings" {
    heap_program
    try "$lockhound" run --all --dir=d -- ./heap
    [ "$(grep -c '^conditional ring' err.txt)" -eq 2 ]
    grep -o 'mutex@heap.c:[0-9]* #[0-9]*: mutex' err.txt | sort >names.txt
    [ "$(wc -l <names.txt)" -eq 4 ]
    [ "$(sort -u names.txt | wc -l)" -eq 3 ]
    try "$lockhound" report --all d
    grep -o 'mutex@heap.c:[0-9]* #[0-9]*: mutex' out.txt | sort | diff names.txt -
    [[ $out == *"these locks are alike"*"of their addresses"* ]]
}

@test "rings_between_elements_of_a_static_array_are_one_finding" {
    program table <<'SRC'
#include <pthread.h>
#define FREE { 0, PTHREAD_MUTEX_INITIALIZER }
static struct { int n; pthread_mutex_t lock; } seat[4] = { FREE, FREE, FREE, FREE };
static pthread_mutex_t other = PTHREAD_MUTEX_INITIALIZER;
static void both(pthread_mutex_t *a, pthread_mutex_t *b)
{
    pthread_mutex_lock(a);
    pthread_mutex_lock(b);
    pthread_mutex_unlock(b);
    pthread_mutex_unlock(a);
}
int main(void)
{
    both(&seat[0].lock, &seat[1].lock);
    both(&seat[1].lock, &seat[0].lock);
    both(&seat[2].lock, &seat[3].lock);
    both(&seat[3].lock, &seat[2].lock);
    both(&seat[3].lock, &other);
    both(&other, &seat[3].lock);
    return 0;
}
SRC
    try "$lockhound" run --all --dir=d -- ./table
    [ "$(grep -c '^conditional ring LH001' err.txt)" -eq 2 ]
    [[ $err == *"2 conditional;"* ]]
    try "$lockhound" report --all d
    [ "$(grep -c '^conditional ring LH001' out.txt)" -eq 2 ]
    grep -q '2 rings go through these places' out.txt
    try "$lockhound" report --all --format=json d
    [ "$(grep -c '"rings": 2' out.txt)" -eq 1 ]
}

@test "advice_names_a_function_once" {
    cat >one.c <<'EOF'
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
int main(void)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return 0;
}
EOF
    ${CC:-cc} -g -O1 -pthread -o one one.c
    try "$lockhound" run --all --dir=d -- ./one
    tr -s '\n ' ' ' <err.txt >flat.txt
    grep -q 'in one order: change it in main (one.c:[0-9]* or one.c:[0-9]*), or' flat.txt
}

@test "cxx_stacks_have_the_functions_of_the_program_only" {
    cat >cxx.cpp <<'EOF'
#include <functional>
#include <mutex>
#include <thread>
namespace bank {
struct Registry {
    std::mutex mutex;
    template <class F> void each(F f)
    {
        std::unique_lock<std::mutex> lock(mutex);
        f();
    }
    void add() { std::scoped_lock lock(mutex); }
};
} // namespace bank
int main()
{
    static bank::Registry registry;
    static std::mutex account;
    std::thread one([] {
        registry.each([] { std::lock_guard<std::mutex> lock(account); });
    });
    one.join();
    std::function<void()> add = [] {
        std::lock_guard<std::mutex> lock(account);
        registry.add();
    };
    std::thread two(add);
    two.join();
}
EOF
    for level in -O0 -O2; do
        ${CXX:-c++} -std=c++17 -g $level -pthread -o cxx cxx.cpp
        rm -rf d
        try "$lockhound" run --all --stacks=exact --dir=d -- ./cxx
        [ "$status" -eq 0 ]
        absent '.\{81\}' err.txt
        grep '^      #' err.txt >frames.txt
        absent 'std::\|__invoke\|_M_\|bits/' frames.txt
        grep -q '#[0-9] bank::Registry::each<.*cxx.cpp:9$' frames.txt
        grep -q '#[0-9] bank::Registry::add.*cxx.cpp:12$' frames.txt
        grep -q '#1 lambda in main.*cxx.cpp:25$' frames.txt
        tr -s '\n ' ' ' <err.txt >flat.txt
        grep -q 'T2 (lambda in main) and T3 (lambda in main) took' flat.txt
        try "$lockhound" report --all --format=json d
        grep -q '"hidden": true' out.txt
        grep -q '_M_run' out.txt
    done
}
