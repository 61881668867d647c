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
