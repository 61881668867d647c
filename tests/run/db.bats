#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# db.bats - the store: the records of many runs in one file.

load common

setup_file() {
    build_guests
    cd "$BATS_FILE_TMPDIR" || return 1
    local order
    for order in ab ba; do
        "$B/lockhound" run --dir=$order -- "$G/orders" $order 2>/dev/null
    done
}

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    unset LOCKHOUND
    ab=$BATS_FILE_TMPDIR/ab ba=$BATS_FILE_TMPDIR/ba
}

db() {
    try timeout -s KILL "$LIMIT" "$B/lockhound" db "$@"
}

# A copy of a run for each number, as if each were one of its own.
copies() {
    mkdir -p many
    local n file
    for n; do
        file=$(echo "$ab"/*.jsonl)
        sed "1s/\"pid\":[0-9]*/\"pid\":$((100000 + n))/" "$file" >many/$n.jsonl
    done
}

is_whole() {
    [ "$(sqlite3 "$1" 'PRAGMA integrity_check')" = ok ]
}

count() {
    sqlite3 "$1" 'SELECT count(*) FROM runs'
}

# One line, naming the file, and nothing on standard output.
fails_with() {
    exits_with 2
    [ "$(wc -l <err.txt)" -eq 1 ] || { show; return 1; }
    has "^lockhound: $1" err.txt
    [ ! -s out.txt ]
}

@test "ring_of_two_runs_is_found_in_the_store" {
    db add s.db "$ab" "$ba"
    exits_with 0
    has '^lockhound: 2 added, 0 grown, 0 there already$' out.txt
    db findings s.db
    exits_with 66
    has '^potential deadlock LH001 between a_lock and b_lock' out.txt
    has 'each in a process of its own' <(tr -s '\n ' ' ' <out.txt)
    mv out.txt want.txt
    try "$B/lockhound" report "$ab" "$ba"
    diff want.txt out.txt
    db findings --format=json --exit-code=0 -o r.json s.db
    exits_with 0
    python3 -c 'import json; assert len(json.load(open("r.json"))["findings"]) == 1'
    [ "$(ls)" = "$(printf '%s\n' err.txt out.txt r.json s.db want.txt)" ]
}

@test "added_one_after_the_other_they_are_the_same" {
    db add s.db "$ab"
    db findings s.db
    exits_with 0
    db add s.db "$ba"/*.jsonl
    db findings s.db
    exits_with 66
}

@test "store_goes_wherever_records_go" {
    db add a.db "$ab"
    db add b.db "$ba"
    try "$B/lockhound" report a.db b.db
    exits_with 66
    mv out.txt want.txt
    try "$B/lockhound" report a.db "$ba"
    exits_with 66
    diff want.txt out.txt
    db add a.db b.db "$ba"
    exits_with 0
    has '^lockhound: 1 added, 0 grown, 1 there already$' out.txt
    try "$B/lockhound" report a.db
    exits_with 66
    diff want.txt out.txt
    try "$B/lockhound" baseline -o known.json a.db
    exits_with 0
    try "$B/lockhound" report --baseline=known.json a.db
    exits_with 0
    try "$B/lockhound" diff b.db a.db
    exits_with 66
    db add a.db a.db
    exits_with 2
    has '^lockhound: a.db: is the store itself (expected records)$' err.txt
    db findings "$ab"/*.jsonl
    fails_with '.*jsonl: is no SQLite file'
}

@test "orders_are_listed_with_their_runs" {
    db add s.db "$ab" "$ba"
    db orders s.db
    exits_with 0
    has '^a_lock then b_lock: in 1 of 2 processes, LH001-[0-9a-f]*$' out.txt
    has '^b_lock then a_lock: in 1 of 2 processes, LH001-[0-9a-f]*$' out.txt
    [ "$(wc -l <out.txt)" -eq 2 ]
}

# A process counts what is in a ring that it has by itself.
@test "how_often_is_told_where_all_have_counted" {
    "$B/lockhound" run --dir=both -- "$G/orders" ab both 2>/dev/null
    db add s.db both
    db orders s.db
    has '^a_lock then b_lock: 1 time, in 1 of 1 process$' out.txt
    db add s.db "$ab"
    db orders s.db
    has '^a_lock then b_lock: in 2 of 2 processes' out.txt
    has '^b_lock then a_lock: 1 time, in 1 of 2 processes' out.txt
}

@test "file_is_added_once_and_grows" {
    file=$(echo "$ab"/*.jsonl)
    head -n -1 "$file" >part.jsonl
    db add s.db part.jsonl
    has '^lockhound: 1 added, 0 grown, 0 there already$' out.txt
    db add s.db "$ab"
    has '^lockhound: 0 added, 1 grown, 0 there already$' out.txt
    db add s.db "$ab" part.jsonl "$ab"
    has '^lockhound: 0 added, 0 grown, 3 there already$' out.txt
    [ "$(count s.db)" -eq 1 ]
    sqlite3 s.db "SELECT writefile('back.jsonl', records) FROM runs" >/dev/null
    cmp back.jsonl "$file"
}

@test "twenty_add_at_once_and_all_are_there" {
    copies $(seq 100)
    local i pids=()
    for i in $(seq 0 19); do
        "$B/lockhound" db add s.db many/$((i * 5 + 1)).jsonl \
            many/$((i * 5 + 2)).jsonl many/$((i * 5 + 3)).jsonl \
            many/$((i * 5 + 4)).jsonl many/$((i * 5 + 5)).jsonl many/1.jsonl \
            >/dev/null 2>>errors.txt &
        pids+=($!)
    done
    for i in "${pids[@]}"; do
        wait "$i"
    done
    [ ! -s errors.txt ]
    [ "$(count s.db)" -eq 100 ]
    is_whole s.db
    db findings s.db
    exits_with 0
    has '100 processes' <(tr -s '\n ' ' ' <out.txt)
}

@test "killed_adder_loses_nothing_and_can_be_repeated" {
    copies $(seq 60)
    local i before=0 now pid
    for i in $(seq 25); do
        "$B/lockhound" db add s.db many >/dev/null 2>&1 &
        pid=$!
        python3 -c 'import random, time; time.sleep(random.random() * 0.04)'
        kill -9 $pid || true
        wait $pid || true
        [ -s s.db ] || continue
        is_whole s.db
        now=$(count s.db 2>/dev/null || echo 0)
        [ "$now" -ge "$before" ]
        before=$now
    done
    db add s.db many
    exits_with 0
    [ "$(count s.db)" -eq 60 ]
    db findings s.db
    exits_with 0
}

@test "prune_keeps_the_newest" {
    copies 1 2 3
    db add s.db many "$ba"
    db prune s.db
    fails_with 'db prune: --keep=N is missing'
    db prune --keep=2 s.db
    exits_with 0
    has '^lockhound: 2 dropped$' out.txt
    db findings s.db
    exits_with 66
    has 'many/3.jsonl' out.txt
    db prune --keep=0 s.db
    db findings s.db
    fails_with 's.db: has no runs'
}

@test "what_is_no_store_is_one_clear_line" {
    db findings none.db
    fails_with 'none.db: No such file or directory (expected a store'
    [ ! -e none.db ]
    : >empty.db
    db findings empty.db
    fails_with 'empty.db: is empty'
    head -c 10000 /dev/urandom >random.db
    cp random.db copy.db
    for command in "findings random.db" "orders random.db" \
        "prune --keep=1 random.db" "add random.db $ab"; do
        db $command
        fails_with 'random.db: is no SQLite file'
    done
    cmp random.db copy.db
    sqlite3 other.db 'CREATE TABLE runs(id)'
    for command in "findings other.db" "add other.db $ab"; do
        db $command
        fails_with "other.db: is another program's SQLite file"
    done
    db add s.db "$ab"
    sqlite3 s.db 'PRAGMA user_version = 99'
    db findings s.db
    fails_with 's.db: is a store of another lockhound (version 99; expected version 1)'
    db add no/such/folder.db "$ab"
    fails_with 'no/such/folder.db: No such file or directory'
    mkdir folder
    mkfifo pipe
    for name in folder pipe /dev/null; do
        for command in "findings $name" "add $name $ab" "prune --keep=1 $name"; do
            db $command
            fails_with "$name: is no regular file (expected a store"
        done
    done
    sqlite3 tables.db "PRAGMA application_id = $((0x6c6b6864));
        PRAGMA user_version = 1; CREATE TABLE runs(id)"
    db findings tables.db
    fails_with 'tables.db: is damaged: no such column'
    db findings --all -x.db
    fails_with "db findings: unknown option '-x'"
    for command in "" wibble "findings" "findings a b" "add s.db"; do
        db $command
        fails_with 'db'
    done
}

# SQLite has meanings of its own for these.
@test "store_may_have_any_name" {
    for name in :memory: file:s.db?mode=memory; do
        db add "$name" "$ab" "$ba"
        exits_with 0
        db findings "$name"
        exits_with 66
        [ "$(count "./$name")" -eq 2 ]
    done
    db add "" "$ab"
    fails_with ': Is a directory'
}

@test "records_come_through_pipes" {
    mkfifo pipe
    cat "$ab"/*.jsonl >pipe &
    try timeout "$LIMIT" "$B/lockhound" report pipe <(cat "$ba"/*.jsonl)
    exits_with 66
    db add s.db <(cat "$ab"/*.jsonl) <(cat "$ba"/*.jsonl)
    exits_with 0
    db findings s.db
    exits_with 66
}

# What is to help where the disk is full needs little of it itself.
@test "prune_wants_little_room" {
    copies $(seq 120)
    db add s.db many
    [ "$(stat -c %s s.db)" -gt 160000 ]
    mkdir small
    mount -t tmpfs -o size=$(($(stat -c %s s.db) + 49152)) none small 2>/dev/null ||
        skip "cannot mount a small disk"
    cp s.db small
    db prune --keep=5 small/s.db
    cp small/s.db kept.db
    umount small
    exits_with 0
    has '^lockhound: 115 dropped$' out.txt
    is_whole kept.db
    [ "$(count kept.db)" -eq 5 ]
    [ "$(stat -c %s kept.db)" -lt 32768 ]
}

@test "full_disk_is_an_error_and_loses_nothing" {
    copies $(seq 120)
    mkdir small
    mount -t tmpfs -o size=100k none small 2>/dev/null ||
        skip "cannot mount a small disk"
    db add small/s.db many
    cp small/s.db s.db
    umount small
    fails_with 'small/s.db: the disk is full (expected room'
    is_whole s.db
    [ "$(count s.db)" -gt 40 ]
    db add s.db many
    exits_with 0
    [ "$(count s.db)" -eq 120 ]
}

@test "damaged_store_is_an_error_and_no_crash" {
    copies $(seq 20)
    db add whole.db many
    python3 - <<'PY'
import random
whole = open("whole.db", "rb").read()
for i in range(40):
    r = random.Random(i)
    b = bytearray(whole)
    if i % 4 == 0:
        b = b[:r.randrange(len(b))]
    else:
        for _ in range(30):
            at = r.randrange(len(b)) if i % 4 == 1 else r.randrange(100, 8192)
            b[at] = r.randrange(256)
    open(f"bad{i}.db", "wb").write(b)
PY
    for bad in bad*.db; do
        db findings $bad
        [ "$status" -eq 0 ] || [ "$status" -eq 2 ] || { show; false; }
        absent 'Segmentation\|AddressSanitizer' err.txt
    done
}

@test "what_is_no_record_file_is_not_added" {
    mkdir nothing
    db add s.db nothing
    exits_with 2
    [ ! -e s.db ]
    echo hello >foreign.jsonl
    db add s.db foreign.jsonl "$ab"
    exits_with 2
    has 'foreign.jsonl: line 1: not a lockhound record file' err.txt
    has '^lockhound: 1 added' out.txt
    [ "$(count s.db)" -eq 1 ]
}
