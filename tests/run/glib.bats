#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# glib.bats - GLib's locks, and libraries that are loaded late. The programs
# are in glib/.

load common.bash

W=$B/run/glib

setup_file() {
    mkdir -p "$W"
    local flags="-D_GNU_SOURCE -O1 -g -Wall -Wextra -pthread"
    local glib
    glib=$(pkg-config --cflags --libs gio-2.0)
    cd "$top/tests/run/glib" || return 1
    gcc $flags -o "$W/locks" locks.c $glib
    gcc $flags -o "$W/results" results.c $glib
    gcc $flags -o "$W/weak" weak.c
    gcc $flags -rdynamic -o "$W/host" host.c
    gcc $flags -shared -fPIC -o "$W/libplain.so" libplain.c
    gcc $flags -shared -fPIC -o "$W/libwaiting.so" libwaiting.c
    gcc $flags -shared -fPIC -o "$W/libglib_user.so" libglib_user.c $glib
    g++ $flags -shared -fPIC -o "$W/libcxx_user.so" libcxx_user.cpp
    for style in gnu sysv; do
        gcc $flags -shared -fPIC -Wl,--hash-style=$style \
            -o "$W/libbundle_$style.so" libbundle.c
    done
}

setup() {
    unset LOCKHOUND LD_PRELOAD
    export ASAN_OPTIONS= LC_ALL=C
    cd "$BATS_TEST_TMPDIR" || return 1
}

# ---- each kind of lock ----

@test "both orders of two locks of each kind are reported" {
    for kind in mutex rec old_rec; do
        watched "$W/locks" $kind inversion
        exits_with 0
        finds "LH001 ${kind}_a ${kind}_b"
    done
    watched "$W/locks" write inversion
    finds "LH001 rw_a rw_b"
    watched "$W/locks" old_write inversion
    finds "LH001 old_rw_a old_rw_b"
    watched "$W/locks" old inversion
    has 'LH001 between GMutex .* and GMutex ' err.txt
    [ "$(grep -c LH001 err.txt)" -eq 1 ]
}

@test "a lock made of another is one lock, at the program's line" {
    for kind in rec write old_rec old_write; do
        LOCKHOUND=all watched "$W/locks" $kind inversion
        [ "$(grep -c LH0 err.txt)" -eq 1 ]
        absent liblockhound err.txt
        has '^ *holds .*, taken at' err.txt
        [ "$(grep -A1 'taken at' err.txt | grep -c "_lock+.*(locks)")" -eq 2 ]
    done
}

@test "readers do not wait for readers" {
    for kind in read old_read; do
        LOCKHOUND=all watched "$W/locks" $kind inversion
        passes_quietly
    done
}

@test "a try does not wait, but what it got is held" {
    for kind in mutex rec write read old old_rec old_write old_read; do
        LOCKHOUND=all watched "$W/locks" $kind try-second
        passes_quietly
    done
    for kind in mutex rec old_rec; do
        watched "$W/locks" $kind try-first
        finds "LH001 ${kind}_a ${kind}_b"
    done
    watched "$W/locks" write try-first
    finds "LH001 rw_a rw_b"
}

@test "re-entry is no request, and its levels are counted" {
    for kind in rec old_rec; do
        watched "$W/locks" $kind again
        exits_with 0
        finds "LH001 ${kind}_a ${kind}_b"
    done
    LOCKHOUND=all watched "$W/locks" read again
    passes_quietly
    LOCKHOUND=all watched "$W/locks" old_rec full
    passes_quietly
}

@test "a condition wait asks for its mutex again" {
    for wait in condition timed-condition; do
        watched "$W/locks" mutex $wait
        exits_with 0
        finds "LH001 mutex_a mutex_b"
    done
    LOCKHOUND=all watched "$W/locks" mutex timed-out
    passes_quietly
}

@test "who initializes once is waited for" {
    watched "$W/locks" mutex once
    exits_with 0
    finds "LH001 mutex_b once_location"
    watched "$W/locks" mutex g-once
    exits_with 0
    finds "LH001 mutex_b once"
}

@test "a queue that is locked is a lock" {
    watched "$W/locks" mutex queues
    exits_with 0
    [ "$(grep -c LH001 err.txt)" -eq 1 ]
}

@test "a lock that was cleared is another one afterwards" {
    LOCKHOUND=all watched "$W/locks" mutex cleared
    passes_quietly
}

@test "locks are named by where they were initialized" {
    watched "$W/locks" mutex made
    exits_with 0
    for noun in GMutex GRecMutex GRWLock; do
        has "LH001 between $noun #[0-9]* initialized at .*(locks) and $noun" err.txt
    done
    [ "$(grep -c LH0 err.txt)" -eq 3 ]
}

@test "a handler that jumps out of a GLib lock leaves nothing behind" {
    for kind in mutex rec write old_rec; do
        watched "$W/locks" $kind jumped
        exits_with 0
        finds "LH001 plain_a plain_b"
    done
}

@test "a GMutex that its holder requests is a self-deadlock" {
    LIMIT=3 watched "$W/locks" mutex self
    exits_with 137
    has '^lockhound: self-deadlock LH003: mutex_a ' err.txt
    LOCKHOUND=on-deadlock=exit watched "$W/locks" mutex self
    exits_with 67
}

@test "a reader of a GRWLock that asks to write it waits for itself" {
    LIMIT=3 watched "$W/locks" read upgrade
    exits_with 137
    has '^lockhound: self-deadlock LH003: rw_a ' err.txt
    LOCKHOUND=on-deadlock=exit watched "$W/locks" read upgrade
    exits_with 67
}

@test "a child asks for a GMutex that another thread of its parent held" {
    LOCKHOUND=on-deadlock=exit watched "$W/locks" mutex asked-by-child
    exits_with 0
    finds "LH020 mutex_a"
}

@test "a GMutex that is not held and released, or held and cleared" {
    ulimit -c 0
    for what in unlock-free clear-held unlock-free-unclean clear-held-unclean; do
        alone "$W/locks" mutex $what
        exits_with 134 # GLib ends it
        watched "$W/locks" mutex $what
        exits_with 134
        has "^lockhound: .*$([[ $what = clear* ]] && echo LH012 || echo LH010).*mutex_a" err.txt
        has 'main+.*(locks)' err.txt
    done
}

@test "a GMutex that changed hands is not its first holder's" {
    watched "$W/locks" mutex handed-over
    passes_quietly
}

# ---- the program itself ----

@test "every function returns what it would alone" {
    is_transparent "$W/results"
    exits_with 0
}

@test "records of GLib's locks are valid" {
    recorded "$W/results"
    exits_with 0
    records_are_valid
    # From libgobject and libgio, too.
    for kind in gmutex grecmutex grwlock; do
        grep -q "\"type\":\"lock\".*\"kind\":\"$kind\"" records/*.jsonl
    done
}

@test "GLib's own commands work as alone" {
    command -v gio >/dev/null || skip "libglib2.0-bin is not installed"
    is_transparent gio list /usr
    is_transparent gio cat /etc/passwd
    is_transparent gio nothing
    is_transparent gsettings list-schemas
    is_transparent gdbus help
}

# ---- loaded late ----

# The stacks of the lock calls, each as "function file:line".
stacks_of() {
    grep -E '#[01] (take_both|first|second)' out.txt | sed 's/^ *#[0-9]* *//; s/  */ /g'
}

lines_of() {
    local file=$top/tests/run/glib/$1 name=$1 order
    at() { grep -n "/\* $1 \*/" "$file" | cut -d: -f1; }
    for order in first second; do
        echo "take_both $name:$(at outer)"
        echo "$order $name:$(at $order)"
        echo "take_both $name:$(at inner)"
        echo "$order $name:$(at $order)"
    done
}

@test "plugins in C, C++ and GLib with the same inversion: the same finding" {
    for plugin in libplain.c libcxx_user.cpp libglib_user.c; do
        try timeout -s KILL "$LIMIT" "$B/lockhound" run --dir=records.$plugin -- \
            "$W/host" "$W/${plugin%.*}.so"
        exits_with 66
        try "$B/lockhound" report records.$plugin
        has 'potential deadlock LH001 between a and b' out.txt
        diff <(stacks_of | sort) <(lines_of $plugin | sort)
        has 'lockhound: 1 possible deadlock' <(cat out.txt err.txt)
    done
}

@test "the first call while another thread loads a library" {
    for plugin in libplain libcxx_user libglib_user; do
        watched "$W/host" "$W/$plugin.so" "$W/libwaiting.so"
        exits_with 0
        [ "$(grep -c LH001 err.txt)" -eq 1 ]
    done
}

@test "a plugin's own copy of GLib is found" {
    for style in gnu sysv; do
        watched "$W/host" "$W/libbundle_$style.so"
        exits_with 0
        finds "LH001 a b"
    done
}

@test "without GLib, a call to it ends as one to a symbol that is nowhere" {
    alone "$W/weak"
    has '^not there$' out.txt
    watched "$W/weak"
    exits_with 0
    has '^there$' out.txt # the limit in README.md
    watched "$W/weak" call
    exits_with 127
    has 'lockhound: symbol lookup error: .*GLib' err.txt
}
