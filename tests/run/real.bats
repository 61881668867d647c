#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# real.bats - servers that nobody here wrote, under `lockhound run` and load:
# the same exit status as alone, and nothing found. (A true finding would stay,
# with its explanation beside this file.)

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
    port=$((20000 + BASHPID % 20000))
}

teardown() {
    [ -z "${server:-}" ] || kill -KILL "$server" 2>/dev/null || true
}

# Starts a server as `lockhound run` would, or alone; $server is its pid.
start() {
    "$@" >out.txt 2>err.txt 3>&- &
    server=$!
}

# Tries until a command succeeds, some ten seconds.
until_it_works() {
    for _ in $(seq 200); do
        "$@" >/dev/null 2>&1 && return 0
        # Waits for the server's progress, not for an order of threads.
        read -r -t 0.05 <> <(:) || true
    done
    return 1
}

# Ends the server by SIGTERM and leaves its status in $status.
stop() {
    kill -TERM "$server"
    status=0
    wait "$server" || status=$?
    server=
}

memcached_under_load() {
    local user=()
    [ "$(id -u)" -ne 0 ] || user=(-u root)
    start "$@" memcached -l 127.0.0.1 -p "$port" -U 0 -t 4 "${user[@]}"
    until_it_works "$B/bench/memcached_load" 127.0.0.1 "$port" 10
    timeout 60 "$B/bench/memcached_load" 127.0.0.1 "$port" 100000
    stop
}

redis_under_load() {
    start "$@" redis-server --bind 127.0.0.1 --port "$port" --save '' \
        --appendonly no --io-threads 2
    until_it_works redis-cli -p "$port" ping
    timeout 60 redis-benchmark -p "$port" -t set,get -n 20000 -q >/dev/null
    stop
}

same_as_alone_and_nothing_found() {
    local alone
    "$1"
    alone=$status
    "$1" timeout -s KILL 120 "$B/lockhound" run --dir=records --
    exits_with "$alone"
    grep -q '^lockhound: no findings' err.txt || { show; return 1; }
}

@test "memcached under load: as alone, nothing found" {
    command -v memcached >/dev/null || skip "memcached is not installed"
    same_as_alone_and_nothing_found memcached_under_load
}

@test "redis-server under load: as alone, nothing found" {
    command -v redis-server >/dev/null || skip "redis-server is not installed"
    same_as_alone_and_nothing_found redis_under_load
}

# A command under `lockhound run`: output and status as alone, nothing found.
same_output() {
    alone "$@"
    mv out.txt alone.txt
    local was=$status
    try timeout -s KILL 60 "$B/lockhound" run --dir=records -- "$@"
    exits_with "$was"
    cmp alone.txt out.txt
    has '^lockhound: no findings' err.txt
}

@test "xz -T2: as alone, nothing found" {
    head -c 6000000 /dev/urandom >data
    same_output xz -T2 -k -c -1 --block-size=512KiB data
}

@test "python3 with threads and a queue: as alone, nothing found" {
    cat >threads.py <<'EOF'
import queue, threading
q, total = queue.Queue(5), []
def work():
    for n in iter(q.get, None):
        total.append(n)
threads = [threading.Thread(target=work) for _ in range(4)]
for t in threads: t.start()
for n in range(5000): q.put(n)
for t in threads: q.put(None)
for t in threads: t.join()
print(sum(total))
EOF
    same_output python3 threads.py
}

@test "sysbench threads: as alone, nothing found" {
    command -v sysbench >/dev/null || skip "sysbench is not installed"
    # Its figures are timings: only what it did is compared.
    alone sysbench threads --threads=8 --events=500 --time=0 run
    exits_with 0
    grep 'total number of events' out.txt >alone.txt
    try timeout -s KILL 60 "$B/lockhound" run --dir=records -- \
        sysbench threads --threads=8 --events=500 --time=0 run
    exits_with 0
    grep 'total number of events' out.txt | diff alone.txt -
    has '^lockhound: no findings' err.txt
}

@test "mariadbd under sysbench: as alone, nothing found" {
    command -v mariadbd >/dev/null || skip "mariadb-server is not installed"
    command -v sysbench >/dev/null || skip "sysbench is not installed"
    local was
    LIMIT=60 alone mariadb-install-db --force --no-defaults --user="$(id -un)" \
        --datadir="$PWD/fresh" --auth-root-authentication-method=normal \
        --skip-test-db
    exits_with 0
    mariadb_under_load
    was=$status
    mariadb_under_load "$B/lockhound" run --dir=records --
    exits_with "$was"
    has '^lockhound: no findings' err.txt
}

# Starts it on a copy of the fresh data, maybe under a command; a short load;
# an orderly shutdown. Its socket's path has to be a short one.
mariadb_under_load() {
    local at socket
    at=$(mktemp -d)
    socket=$at/s
    rm -rf data
    cp -r fresh data
    start "$@" mariadbd --no-defaults --user="$(id -un)" \
        --datadir="$PWD/data" --skip-networking --socket="$socket" \
        --pid-file="$PWD/pid" --innodb-buffer-pool-size=32M
    local admin=(mariadb-admin --no-defaults -uroot -S "$socket")
    until_it_works "${admin[@]}" ping
    "${admin[@]}" create sbtest
    local load=(sysbench oltp_read_write --mysql-socket="$socket" --threads=8
        --mysql-user=root --tables=2 --table-size=500 --events=300 --time=0)
    timeout 20 "${load[@]}" prepare >load.txt 2>&1
    timeout 20 "${load[@]}" run >load.txt 2>&1
    timeout 20 "${admin[@]}" shutdown
    status=0
    wait "$server" || status=$?
    server=
    rm -rf "$at"
}
