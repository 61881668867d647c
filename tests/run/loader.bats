#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# loader.bats - the loader's two locks: dlopen and its kin, dl_iterate_phdr.

load common.bash

setup_file() {
    build_guests
}

setup() {
    unset LOCKHOUND LD_PRELOAD
    cd "$BATS_TEST_TMPDIR" || return 1
}

# A mode of guest/loader.c, with libplugin and what follows.
loader() {
    watched "$G/loader" "$1" "$G/libplugin" "${@:2}"
}

# ---- what is held ----

@test "a constructor takes a lock under which another thread asks the loader" {
    for call in dlopen dlopen-nothing dlsym dlvsym dladdr dladdr1; do
        loader constructor $call
        exits_with 0
        finds "LH001 _dl_load_lock m"
    done
}

@test "a destructor takes a lock under which another thread asks the loader" {
    for call in dlopen dlsym; do
        loader destructor $call
        exits_with 0
        finds "LH001 _dl_load_lock m"
    done
}

@test "dl_iterate_phdr calls back under the other lock of the loader" {
    for call in walk dlopen; do
        loader callback $call
        exits_with 0
        finds "LH001 _dl_load_write_lock m"
    done
}

@test "what takes one of the loader's locks does not meet the other" {
    for call in dlopen-nothing dlsym dlvsym dladdr dladdr1; do
        LOCKHOUND=all loader callback $call
        passes_quietly
    done
    LOCKHOUND=all loader constructor walk
    passes_quietly
}

@test "calls into the loader from a constructor leave it inside" {
    loader nested dlsym
    exits_with 0
    finds "LH001 _dl_load_lock m"
}

@test "nothing of the loader is held after a call has returned" {
    for call in dlopen dlsym dladdr walk; do
        LOCKHOUND=all loader ended $call
        passes_quietly
    done
}

@test "a lock that a constructor keeps is no longer under the loader's" {
    LOCKHOUND=all loader kept
    exits_with 0
    absent 'LH001 between _dl_load_lock and n\|LH001 between n and _dl_load_lock' err.txt
}

@test "dlclose takes the lock over the list when it unloads" {
    loader unload
    exits_with 0
    finds "LH001 _dl_load_write_lock m"
    loader no-unload
    passes_quietly
}

@test "a stack through dl_iterate_phdr has no frame of ours" {
    loader callback walk
    has 'dl_iterate_phdr+0x[0-9a-f]* (libc' err.txt
    absent '(liblockhound.so)' err.txt
}

@test "one thread alone makes a conditional ring" {
    LOCKHOUND=all loader alone dlsym
    exits_with 0
    finds "conditional _dl_load_lock m"
    has 'only thread T1 was seen' err.txt
}

@test "dlsym in a callback of dl_iterate_phdr, beside dlopen" {
    loader both
    exits_with 0
    finds "LH001 _dl_load_lock _dl_load_write_lock"
}

@test "records name the loader's locks and follow lockhound-records(5)" {
    recorded "$G/loader" both "$G/libplugin"
    exits_with 0
    records_are_valid
    grep -q '"kind":"loader",.*"name":"_dl_load_lock"' records/*
    grep -q '"kind":"loader-write",.*"name":"_dl_load_write_lock"' records/*
}

@test "an exception out of a callback of dl_iterate_phdr leaves nothing held" {
    LOCKHOUND=all watched "$G/loader_throw" out
    passes_quietly
}

# ---- the program is as it would be alone ----

@test "results, errno and dlerror are as alone" {
    is_transparent "$G/loader" results "$G/libplugin"
    exits_with 0
}

@test "many threads load, unload and look up at once" {
    LOCKHOUND=all loader many
    passes_quietly
}

@test "exceptions are thrown while another thread loads" {
    watched "$G/loader_throw" beside "$G/libplugin"
    passes_quietly
}

@test "a handler with locks interrupts calls into the loader" {
    loader ticking
    passes_quietly
}

@test "a thread of the least size loads a library" {
    alone "$G/loader" small-stack "$G/libplugin"
    [ "$status" -eq 0 ] || skip "dlopen does not fit in 16 KiB here"
    loader small-stack
    passes_quietly
}

@test "callers who ask for a version reach the hooks" {
    loader versions
    exits_with 0
    absent libc out.txt
    [ "$(grep -c liblockhound.so out.txt)" -eq 17 ]
}

@test "another preload finds what is next to it" {
    for preload in "$LIB $G/libnext" "$G/libnext $LIB"; do
        try timeout -s KILL "$LIMIT" env LD_PRELOAD="$preload" \
            "$G/loader" next "$G/libplugin"
        passes_quietly
        has '^1 1$' out.txt
    done
}

@test "a library's own RUNPATH finds what it loads" {
    mkdir -p deps
    cp "$G/libinner" deps/inner.so
    gcc -O1 -shared -fPIC -Wl,--enable-new-dtags,-rpath,'$ORIGIN/deps' \
        -o caller.so "$top/tests/run/guest/libcaller.c"
    watched "$G/loader" runpath "$PWD/caller.so"
    passes_quietly
    has found out.txt
}

# ---- real programs that load a lot ----

@test "python3 with ssl, sqlite3 and ctypes" {
    is_transparent python3 -c 'import ssl, sqlite3, ctypes; print(ctypes.CDLL(None).getpid() > 0)'
    exits_with 0
}

@test "gdb, git and ffmpeg" {
    for command in "gdb --version" "git --version" "ffmpeg -hide_banner -encoders"; do
        command -v ${command%% *} >/dev/null || continue
        is_transparent $command
        exits_with 0
    done
}
