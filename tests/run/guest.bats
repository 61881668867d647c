#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# guest.bats - the preload inside somebody else's process: the program behaves
# as it would alone, and what it does is seen. The programs are in guest/.

load common.bash

setup_file() {
    build_guests
}

setup() {
    unset LOCKHOUND LD_PRELOAD
    export ASAN_OPTIONS= LC_ALL=C
    cd "$BATS_TEST_TMPDIR" || return 1
}

# ---- the library itself ----

@test "exported names are the hooks, under the C library's own versions" {
    nm -D --defined-only "$LIB" | awk '$2 == "T" { print $3 }' | sort >ours
    sed -n -e 's/^LH_HOOK [a-z_ ]*[ *]\([a-z_0-9]*\)(.*/\1/p' \
        -e 's/^LH_JUMP(\([a-z]*\));/\1/p' "$top"/preload/hooks/*.c |
        sort -u >hooks
    sed 's/@.*//' ours | sort -u | diff hooks -
    libc=$(ldd "$LIB" | awk '/libc\.so/ { print $3 }')
    nm -D --defined-only "$libc" "$(gcc -print-file-name=libstdc++.so.6)" |
        awk '{ print $3 }' | sort >libc
    # GLib's have no version there, and a node of ours here.
    grep -v '^g_.*@@LOCKHOUND_1$' ours | comm -23 - libc | diff - /dev/null
    [ "$(nm -D --defined-only "$LIB" | awk '$2 != "T" && $2 != "A" { print $3 }')" = \
        "$(printf '%s\n' lockhound_api_v1@@LOCKHOUND_1 lockhound_published@@LOCKHOUND_1)" ]
}

@test "nothing is imported that allocates, prints, locks or is a cancellation point" {
    # malloc, free and abort are named by the private libgcc for frames that a
    # JIT registers, fflush by exit-code=N.
    nm -D --undefined-only "$LIB" | awk '{ sub(/@.*/, "", $2); print $2 }' | sort >undefined
    printf '%s\n' __cxa_finalize __errno_location __pthread_key_create \
        __pthread_register_cancel __pthread_unregister_cancel \
        __libc_single_threaded \
        __pthread_unwind_next __register_atfork __sigsetjmp __tls_get_addr \
        _dl_find_object _exit abort clock_gettime dlsym dlvsym fflush free getauxval \
        getrlimit malloc pthread_attr_destroy pthread_attr_getdetachstate \
        pthread_attr_getstacksize pthread_attr_init pthread_self syscall |
        sort >allowed
    diff <(comm -23 undefined allowed) /dev/null
}

@test "needs libc alone, is bound at start, first to be constructed, small in TLS" {
    readelf -dW "$LIB" >dynamic
    [ "$(grep -c NEEDED dynamic)" -eq 1 ]
    grep -q 'NEEDED.*libc\.so\.6' dynamic
    grep -q 'FLAGS_1.*NOW.*INITFIRST' dynamic
    ! grep -q TEXTREL dynamic || false
    tls=$(readelf -lW "$LIB" | awk '$1 == "TLS" { print $6 }')
    [ $((tls)) -le 512 ]
    readelf -lW "$LIB" | grep -q 'GNU_STACK.* RW '
}

@test "callers who ask for a version reach the hooks" {
    watched "$G/versions" dlvsym
    passes_quietly
}

@test "an old program's eight-byte condition variable passes by" {
    watched "$G/versions" old-condition
    passes_quietly
}

# ---- before main and after it ----

@test "locks taken before main and after it are seen" {
    for preload in "$LIB $G/libearly" "$G/libearly $LIB"; do
        LOCKHOUND=all try timeout -s KILL "$LIMIT" env LD_PRELOAD="$preload" "$G/early"
        exits_with 0
        finds "conditional preinit_a preinit_b" "conditional ctor_a ctor_b" \
            "LH001 atexit_a atexit_b" "LH001 dtor_a dtor_b"
    done
}

@test "thread_local objects lock in their destructors" {
    watched "$G/destructors" thread-local
    exits_with 0
    finds "LH001 _ZL1a _ZL1b"
}

@test "thread-specific data locks in the fourth round of destructors" {
    watched "$G/destructors" fourth-round
    exits_with 0
    finds "LH001 _ZL1a _ZL1b"
}

# ---- results, errors, output ----

@test "every hooked function returns what it would alone, errno and dlerror too" {
    # It misuses what it can: that is told, but not printed here.
    LOCKHOUND=print=none is_transparent "$G/results"
}

@test "output, status and environment of commands are as alone" {
    echo 'b a' | tr ' ' '\n' >input
    is_transparent ls -l "$top"
    is_transparent ls /nonexistent
    is_transparent sort input
    is_transparent sh -c 'cat input | wc -l; exit 9'
    is_transparent python3 -c 'import os, sys; print(sorted(os.listdir("."))); sys.exit(4)'
    is_transparent sh -c 'env | grep -v -e ^LD_PRELOAD= -e ^_= | sort'
    is_transparent sh -c 'kill -TERM $$'
}

@test "an uncaught exception in a thread ends the program as alone" {
    ulimit -c 0
    is_transparent "$G/destructors" uncaught
    exits_with 134
}

# ---- small stacks ----

@test "threads of the least size make a finding" {
    watched "$G/stacks" thread
    exits_with 0
    finds "LH001 a b"
}

@test "a handler locks on an 8 KiB signal stack" {
    alone "$G/stacks" signal
    [ "$status" -eq 0 ] || skip "a signal frame does not fit in 8 KiB here"
    watched "$G/stacks" signal
    exits_with 0
    recorded "$G/stacks" signal
    exits_with 0
    records_are_valid
}

@test "a handler on an 8 KiB signal stack makes a finding" {
    alone "$G/stacks" signal-finding
    [ "$status" -eq 0 ] || skip "a signal frame does not fit in 8 KiB here"
    for all in print=stderr print=none stacks=exact; do
        LOCKHOUND=$all recorded "$G/stacks" signal-finding
        exits_with 0
        grep -q '"kind":"LH001"' records/*
    done
}

@test "a hook uses less than 1 KiB of stack when known, 4 KiB when new" {
    for mode in print=stderr stacks=exact; do
        LOCKHOUND=$mode watched "$G/stacks" measure
        exits_with 0
        LOCKHOUND=$mode recorded "$G/stacks" measure
        exits_with 0
    done
}

# ---- signals ----

@test "a 10 kHz handler with locks of its own: no hang, nothing false" {
    watched "$G/signals" ticking
    exits_with 0
    finds "LH001 a b"
    LOCKHOUND=stacks=exact recorded "$G/signals" ticking
    exits_with 0
    finds "LH001 a b"
}

@test "a handler does not see what lay in an unused slot as held" {
    for i in 1 2 3; do
        LOCKHOUND=all watched "$G/signals" stale
        passes_quietly
    done
}

@test "a handler that leaves a lock call by siglongjmp leaves nothing behind" {
    watched "$G/signals" jumping
    exits_with 0
    finds "LH001 a b"
}

# ---- cancellation and exceptions ----

@test "the mutex is held where a condition wait is cancelled" {
    watched "$G/cancel" wait
    exits_with 0
    finds "LH001 a b"
}

@test "pthread_exit from below runs the handlers, with their locks seen" {
    watched "$G/cancel" exit
    exits_with 0
    finds "LH001 a b"
}

@test "a thread is cancelled asynchronously" {
    watched "$G/cancel" async
    exits_with 0
    finds "LH001 a b"
}

@test "threads cancelled in the middle of a hook stop nobody else" {
    watched "$G/cancel" storm
    exits_with 0
    finds "LH001 a b"
}

@test "a lock call is no cancellation point, even where records are written" {
    recorded "$G/cancel" pending
    passes_quietly
    has 'locked and unlocked' out.txt
}

@test "C++ exceptions pass, and release what they should" {
    watched "$G/destructors" exceptions
    passes_quietly
}

# ---- fork, exec ----

@test "half an order in the parent and half in the child is no ring" {
    for make in fork _Fork raw; do
        LOCKHOUND=all recorded "$G/forks" half $make
        passes_quietly
        records_are_valid
    done
}

@test "a child's inversion is found, in its own file" {
    for make in fork _Fork raw; do
        recorded "$G/forks" whole $make
        exits_with 0
        finds "LH001 a b"
        records_are_valid
        [ "$(grep -l '"kind":"LH001"' records/* | wc -l)" -eq 1 ]
        grep -q '"forked_from"' "$(grep -l '"kind":"LH001"' records/*)"
    done
}

@test "a child that has nothing to say leaves no file" {
    for make in fork _Fork raw; do
        recorded "$G/forks" idle $make
        passes_quietly
        [ "$(ls records | wc -l)" -eq 1 ]
    done
}

@test "200 children of a busy program work, however they are made" {
    for make in fork _Fork raw; do
        LOCKHOUND=print=none recorded "$G/forks" many $make
        exits_with 0
    done
}

@test "200 children of a program that prints findings work" {
    watched "$G/forks" while-printing
    exits_with 0
}

@test "vfork and exec, posix_spawn, system and popen are followed" {
    recorded "$G/forks" start
    exits_with 0
    finds "LH001 a b" "LH001 a b" "LH001 a b" "LH001 a b"
    records_are_valid
    [ "$(grep -l '"kind":"LH001"' records/forks.* | wc -l)" -eq 4 ]
}

# ---- records ----

@test "records follow lockhound-records(5), strange names too" {
    mkdir 'a,b "c'
    LOCKHOUND="dir=$PWD/a%2Cb \"c" watched "$G/inversion" named
    exits_with 0
    finds "LH001 a b"
    mv 'a,b "c' records
    records_are_valid
    grep -q '"type":"end"' records/*
}

@test "a killed program's finding is in its records" {
    ulimit -c 0
    for end in SIGKILL abort _exit exit; do
        recorded "$G/inversion" $end
        finds "LH001 a b"
        records_are_valid
        grep -q '"kind":"LH001"' records/*
    done
}

@test "what is recorded refers only to what is recorded" {
    mkdir records
    try timeout -s KILL "$LIMIT" gdb -nx -batch \
        -ex 'set startup-with-shell off' -ex "set environment LD_PRELOAD $LIB" \
        -ex "set environment LOCKHOUND dir=$PWD/records" \
        -ex 'break nest' -ex run -ex 'set scheduler-locking on' \
        -ex 'break lh_news_flush' -ex continue -ex 'delete' \
        -ex 'thread 1' -ex 'set var done = 1' -ex continue "$G/overtaken"
    has 'Breakpoint 2, .*lh_news_flush' out.txt
    grep -q '"kind":"LH011"' records/*
    records_are_valid
}

@test "records never land in the program's own file, and still arrive" {
    recorded "$G/inversion" all-reused "$PWD/data"
    exits_with 0
    [ ! -s data ]
    grep -q '"kind":"LH001"' records/*
    records_are_valid
}

@test "records arrive after chdir" {
    recorded "$G/inversion" chdir
    exits_with 0
    grep -q '"kind":"LH001"' records/*
}

@test "records arrive after rights were dropped" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    recorded "$G/inversion" setuid
    exits_with 0
    grep -q '"kind":"LH001"' records/*
}

# It may make no file in the folder any more: what it found is not lost.
@test "a child of one that dropped its rights tells on stderr what it cannot record" {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
    LOCKHOUND=print=none recorded "$G/inversion" setuid_child
    exits_with 0
    has '^lockhound: what follows could not be recorded in dir=' err.txt
    has '^lockhound: potential deadlock LH001 between ' err.txt
    [ "$(grep -c '^lockhound: ' err.txt)" -eq 2 ] || { show; return 1; }
    LOCKHOUND=print=none recorded "$G/inversion" setuid
    quiet
}

@test "a limit on file sizes kills nobody, and is noted when there is room again" {
    recorded "$G/fullness" limit
    exits_with 3
    has '^lockhound: records could not be written' err.txt
    finds "LH001 m+12000 m+12040" "LH001 m+12080 m+12120"
    grep -q '"code":"lost"' records/*
    # The file met the limit of 9000 bytes. Only the line that did may be cut
    # short (it is whole if it happened to end there); all others parse.
    python3 - records/* <<'PY'
import json, sys
text = open(sys.argv[1], "rb").read()
before, after = text[:9000].splitlines(), text[9000:].splitlines()
for line in before[:-1] + after:
    if line:
        json.loads(line)
sys.exit(len(before) < 2 or not after)
PY
}

@test "a full disk changes nothing for the program" {
    mkdir small
    mount -t tmpfs -o size=16k none small 2>/dev/null || skip "cannot mount a small disk"
    status=0
    LOCKHOUND="dir=$PWD/small" watched "$G/fullness" disk
    umount small
    exits_with 3
    has '^lockhound: records could not be written' err.txt
    finds "LH001 m+12000 m+12040" "LH001 m+12080 m+12120"
}

@test "a folder for records that is not there is said" {
    LOCKHOUND="dir=$PWD/nowhere" watched "$G/inversion"
    exits_with 0
    has '^lockhound: ' err.txt
    finds "LH001 a b"
}

# ---- the bare preload's own output ----

@test "a finding is printed at once, with static functions by name" {
    ulimit -c 0
    watched "$G/inversion" abort
    exits_with 134
    finds "LH001 a b"
    has '^      nest+0x[0-9a-f]* (inversion)' err.txt
    has '^      nest_thread+0x[0-9a-f]* (inversion)' err.txt
}

@test "nothing is written to a stderr that is closed or somebody else's" {
    watched "$G/inversion" stderr-closed
    exits_with 0
    [ ! -s err.txt ]
    watched "$G/inversion" stderr-reused "$PWD/data"
    exits_with 0
    [ ! -s data ] && [ ! -s err.txt ]
    # Closed from the start, and then the number is the program's.
    status=0
    timeout -s KILL "$LIMIT" env LD_PRELOAD="$LIB" "$G/inversion" stderr-reused \
        "$PWD/data" >out.txt 2>&- || status=$?
    exits_with 0
    [ ! -s data ] && [ ! -s out.txt ]
}

@test "a reader of stderr that has gone kills nobody" {
    status=0
    { timeout -s KILL "$LIMIT" env LD_PRELOAD="$LIB" sh -c '
        trap "" HUP; while kill -0 $PPID 2>/dev/null && ! [ -e gone ]; do :; done
        exec env --default-signal=PIPE "$0"' "$G/inversion" 2>&1 >/dev/null
        echo $? >status; } | { exec <&-; touch gone; }
    [ "$(cat status)" -eq 0 ]
}

@test "exit-code=N is the status when something was found, and output is kept" {
    LOCKHOUND=exit-code=66 watched "$G/inversion" buffered
    exits_with 66
    has 'still in the buffer' out.txt
    LOCKHOUND=exit-code=66 watched "$G/forks" half
    exits_with 0
    watched "$G/inversion" buffered
    exits_with 3
}

# ---- configuration ----

@test "an unknown key or a bad value is one clear warning" {
    for wrong in colour=red stacks=some memory=lots dir=relative exit-code=300; do
        LOCKHOUND="print=stderr,$wrong" watched true
        exits_with 0
        [ "$(wc -l <err.txt)" -eq 1 ]
        has "^lockhound: .*${wrong#*=}\|^lockhound: .*${wrong%%=*}" err.txt
    done
}

@test "each stack policy finds the ring" {
    for policy in auto exact pc; do
        LOCKHOUND=stacks=$policy recorded "$G/inversion"
        exits_with 0
        finds "LH001 a b"
        records_are_valid
    done
    has 'callers not recorded' err.txt # pc
}

@test "with little memory the program runs on, and what is missing is said" {
    for memory in 1 4k 100k 400k 700k 1M 2M; do
        LOCKHOUND=memory=$memory watched "$G/many" locks
        exits_with 0
        has '^lockhound: .*memory' err.txt
        LOCKHOUND=memory=$memory recorded "$G/forks" whole
        exits_with 0
        has '^lockhound: .*memory\|LH001' err.txt
    done
}

# ---- nothing has a fixed maximum ----

@test "a ring through the first and the last of 200 held locks" {
    watched "$G/many" held
    exits_with 0
    finds "LH001 held held+7960"
}

@test "100000 locks" {
    watched "$G/many" locks
    exits_with 0
}

@test "20000 threads joined, in flat memory" {
    watched "$G/many" threads
    passes_quietly
}

@test "20000 threads detached, in flat memory" {
    watched "$G/many" detached
    passes_quietly
}

@test "a million lives of a lock, in flat memory" {
    watched "$G/many" lives
    passes_quietly
}

@test "what is held is believed to be, in any order of release" {
    LIMIT=60 watched "$G/many" any-order ${SEED:-}
    exits_with 0
    absent LH016 err.txt || { cat out.txt; return 1; }
}

# ---- edges of lives ----

@test "threads that are joined long after they ended still come before" {
    LOCKHOUND=all watched "$G/life" late-join
    exits_with 0
    finds "conditional a b"
}

@test "a request known at a chunk's border is judged again after a create" {
    watched "$G/life" border
    exits_with 0
    has 'potential deadlock LH001' err.txt
}

@test "a mutex may vanish while it is held" {
    watched "$G/life" unmapped
    exits_with 0
    has '^lockhound: LH012: ' err.txt
    [ "$(grep -c '^lockhound: ' err.txt)" -eq 1 ]
}

@test "a condition wait that is refused takes nothing" {
    watched "$G/life" not-held
    exits_with 0
    finds "LH017 a" "LH017 a" "LH017 a"
}

@test "a condition wait that is refused leaves the mutex held" {
    watched "$G/life" still-held
    exits_with 0
    finds "LH001 a b"
}

# ---- lockhound.h ----

@test "lockhound.h compiles cleanly as C and C++, and does nothing alone" {
    for how in "gcc -std=c11" "g++ -x c++ -std=c++11"; do
        printf '%s\n' '#include <lockhound.h>' 'int main(void) {' \
            'static int lock; lockhound_name(&lock, "%d", 1); lockhound_rank(&lock, 1);' \
            'lockhound_request(&lock, LOCKHOUND_SHARED); lockhound_acquired(&lock, LOCKHOUND_SHARED);' \
            'lockhound_assert_held(&lock); lockhound_released(&lock, LOCKHOUND_SHARED);' \
            'lockhound_assert_not_held(&lock); return 0; }' >user.c
        $how -Wall -Wextra -Wpedantic -Werror -I"$top/preload" -o user user.c
        is_transparent ./user
    done
    gcc -std=c11 -no-pie -I"$top/preload" -o user user.c
    is_transparent ./user
    for mode in home-made home-made-try names assertions; do
        alone "$G/annotated" $mode
        exits_with 0
        [ ! -s err.txt ]
    done
}

@test "a lock's given name is in the report" {
    watched "$G/annotated" names
    exits_with 0
    finds "LH001 accounts[0] accounts[1]"
}

@test "a failed assertion is a finding, once for each place" {
    recorded "$G/annotated" assertions
    exits_with 0
    finds "LH016 a not held" "LH016 a held"
    records_are_valid
}

@test "a home-made lock takes part, also in a program at a fixed address" {
    watched "$G/annotated" home-made
    exits_with 0
    finds "LH001 a spin"
    gcc -D_GNU_SOURCE -std=gnu11 -O1 -no-pie -pthread -I"$top/preload" -o fixed "$top/tests/run/guest/annotated.c"
    recorded ./fixed home-made
    exits_with 0
    finds "LH001 a spin"
    records_are_valid
}

@test "a home-made trylock waits for nothing" {
    LOCKHOUND=all watched "$G/annotated" home-made-try
    passes_quietly
}

# ---- real programs ----

@test "python3 with threads and queues" {
    is_transparent python3 "$top/tests/run/guest/queues.py"
    exits_with 0
}

@test "xz with threads" {
    command -v xz >/dev/null || skip "no xz"
    head -c 6000000 /dev/zero | tr '\0' 'x' >big
    cat "$LIB" "$LIB" "$LIB" >>big
    is_transparent xz -T2 -1 --block-size=1MiB -c big
    exits_with 0
    is_transparent sh -c 'xz -T2 -0 --block-size=1MiB -c big | xz -dc -T2 | cmp - big'
}

@test "git and tar" {
    command -v git >/dev/null || skip "no git"
    git init -q repo
    cp -r "$top/preload" repo/
    is_transparent git -C repo -c pack.threads=2 add -A
    export GIT_AUTHOR_DATE="@0 +0000" GIT_COMMITTER_DATE="@0 +0000"
    git -C repo -c user.name=n -c user.email=e@e -c gc.auto=0 commit -q -m m
    is_transparent git -C repo --no-pager grep --threads=4 -c LH_CHECK
    is_transparent git -C repo -c pack.threads=2 repack -adq
    is_transparent git -C repo fsck
    is_transparent sh -c 'tar -C repo -cf - preload | tar -tf - | sort'
}

@test "sysbench" {
    command -v sysbench >/dev/null || skip "no sysbench"
    watched sysbench threads --threads=4 --thread-locks=4 --events=300 run
    passes_quietly
    watched sysbench mutex --threads=4 --mutex-num=128 --mutex-locks=2000 run
    passes_quietly
}

@test "redis-server" {
    command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null || skip "no redis"
    LD_PRELOAD="$LIB" timeout -s KILL "$LIMIT" redis-server --port 0 --unixsocket "$PWD/s" \
        --io-threads 2 --save '' --dir "$PWD" >log 2>err.txt 3>&- &
    server=$!
    until redis-cli -s "$PWD/s" ping >/dev/null 2>&1; do kill -0 $server || return 1; done
    redis-benchmark -s "$PWD/s" -t set,get -n 20000 -q >/dev/null 3>&-
    [ "$(redis-cli -s "$PWD/s" dbsize | tr -dc 0-9)" = 1 ]
    redis-cli -s "$PWD/s" shutdown nosave || true
    status=0
    wait $server || status=$?
    touch out.txt
    passes_quietly
}
