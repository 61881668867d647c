#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# apis.bats - no lock function of the C library is forgotten: apis.tsv has a row
# for each, which says that it is hooked and where that is tested, or why not.
# A function may be a pattern for the shell if it is not hooked.

load common.bash

setup_file() {
    local libc
    libc=$(ldd "$LIB" | awk '/libc\.so/ { print $3 }')
    # Code alone, and what other libraries of glibc's share is none of it.
    nm -D --defined-only "$libc" | awk '$2 ~ /[TWi]/ { print $3 }' | grep -v '@GLIBC_PRIVATE' |
        grep -E '^(pthread|sem|mtx|cnd|thrd|tss)_|^call_once|lockfile|^__pthread_(mutex|rwlock|once)|^dl' |
        sort -u >"$BATS_FILE_TMPDIR/libc"
    nm -D --defined-only "$LIB" | awk '$2 == "T" { print $3 }' | sort -u >"$BATS_FILE_TMPDIR/ours"
    tail -n +2 "$top/tests/run/apis.tsv" >"$BATS_FILE_TMPDIR/rows"
}

setup() {
    cd "$BATS_FILE_TMPDIR"
}

# Prints the rows of a function.
rows_of() {
    local function how rest
    while IFS=$'\t' read -r function how rest; do
        # shellcheck disable=SC2254
        case $1 in $function) printf '%s\t%s\t%s\n' "$function" "$how" "$rest" ;; esac
    done <rows
}

@test "apis: each lock function has one row, and is hooked if that says so" {
    local bad=0 name
    [ "$(wc -l <libc)" -gt 150 ]
    for name in $(sed 's/@.*//' libc | sort -u); do
        case $(rows_of "$name" | wc -l) in
        1) ;;
        0) echo "no row: $name" && bad=1 ;;
        *) echo "several rows: $name" && bad=1 ;;
        esac
    done
    [ "$bad" -eq 0 ]
}

@test "apis: what is hooked is exported, under each of the C library's versions" {
    local bad=0 name how symbol
    while IFS=$'\t' read -r name how _; do
        [ "$how" = hooked ] || continue
        for symbol in $(grep "^$name@" libc); do
            # An old condition variable is another object: it passes by.
            case $symbol in pthread_cond_*@GLIBC_2.2.5) continue ;; esac
            # Our own way to the real functions (runtime/real.c); it asks for
            # the loader's lock and no more, in programs older than 2.34.
            [ "$symbol" = dlvsym@GLIBC_2.2.5 ] && continue
            grep -qxF "$symbol" ours || { echo "not exported: $symbol" && bad=1; }
        done
    done <rows
    [ "$bad" -eq 0 ]
}

@test "apis: what is exported is in the table as hooked" {
    local bad=0 name
    for name in $(sed 's/@.*//' ours | sort -u); do
        grep -q "^$name@" libc || continue
        rows_of "$name" | grep -q $'\thooked\t' || { echo "not in the table: $name" && bad=1; }
    done
    [ "$bad" -eq 0 ]
}

@test "apis: each hooked function has a test, each other a reason" {
    local bad=0 name how tested
    while IFS=$'\t' read -r name how tested; do
        case $how in
        hooked) [ -e "$top/tests/run/$tested" ] || { echo "$name: no $tested" && bad=1; } ;;
        *' '*) [ "$tested" = - ] || { echo "$name: $tested" && bad=1; } ;;
        *) echo "$name: no reason" && bad=1 ;;
        esac
    done <rows
    [ "$bad" -eq 0 ]
}
