#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# install.bats - make install puts everything in place, below DESTDIR only, and
# programs in C and C++ build and run against what it installed. What the
# completions complete is in completion.bats.

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
    make -C "$top" --no-print-directory install VARIANT="${B##*/}" \
        PREFIX="$PWD/stage" >make.txt 2>&1 || { cat make.txt; return 1; }
    export PKG_CONFIG_PATH=$PWD/stage/lib/pkgconfig
}

# Compiler and libraries' flags, as ord.pc gives them.
flags() {
    sed -n -e "s,\${prefix},$PWD/stage,g" -e "s/^$1: //p" stage/lib/pkgconfig/ord.pc
}

@test "a C program builds against the installed libord, static and shared" {
    cat >use.c <<'EOF'
#include <ord/base.h>
int main(void)
{
    static struct ord_mutex m = ORD_MUTEX_INIT;
    return ord_mutex_lock(&m) || ord_mutex_unlock(&m);
}
EOF
    gcc -std=c11 -Wall -Wextra -Wpedantic -Werror $(flags Cflags) use.c \
        -o shared $(flags Libs)
    LD_LIBRARY_PATH=stage/lib ./shared
    gcc -std=c11 $(flags Cflags) use.c -o static stage/lib/libord.a
    ./static
}

@test "every installed header compiles alone, in C and in C++" {
    for header in stage/include/*.h stage/include/ord/*.h; do
        echo "#include <${header#stage/include/}>" >one.c
        gcc -std=c11 -Wall -Wextra -Wpedantic -Werror $(flags Cflags) \
            -c -o one.o one.c
        g++ -std=c++11 -Wall -Wextra -Wpedantic -Werror $(flags Cflags) \
            -x c++ -c -o one.o one.c
    done
}

@test "a C++ program builds against the installed libord" {
    cat >use.cpp <<'EOF'
#include <ord/base.h>
int main()
{
    ord_mutex m;
    ord_mutex_init(&m);
    return ord_mutex_lock(&m) || ord_mutex_unlock(&m) || ord_mutex_destroy(&m);
}
EOF
    g++ -std=c++11 $(flags Cflags) use.cpp -o use $(flags Libs)
    LD_LIBRARY_PATH=stage/lib ./use
}

@test "the installed command finds the installed preload" {
    try timeout 60 stage/bin/lockhound run --dir=records -- \
        "$B/examples/broken_transfer"
    exits_with 66
}

@test "a program builds with lockhound.pc, and runs with the preload it names" {
    cat >use.c <<'EOF'
#include <lockhound.h>
static int lock;
int main(void)
{
    lockhound_name(&lock, "engine");
    lockhound_assert_held(&lock);
    return 0;
}
EOF
    gcc -std=c11 -Wall -Wextra -Wpedantic -Werror $(pkg-config --cflags lockhound) \
        use.c -o use $(pkg-config --libs lockhound)
    alone ./use
    exits_with 0
    quiet
    LIB=$(pkg-config --variable=preload lockhound)
    watched ./use
    exits_with 0
    finds 'LH016 engine not held'
}

@test "each prefix gets .pc files of its own, with DESTDIR left out" {
    make -C "$top" --no-print-directory install VARIANT="${B##*/}" \
        DESTDIR="$PWD/below" PREFIX=/opt/other >make.txt 2>&1
    for pc in lockhound ord; do
        [ "$(sed -n 's/^prefix=//p' below/opt/other/lib/pkgconfig/$pc.pc)" = /opt/other ]
        [ "$(sed -n 's/^prefix=//p' stage/lib/pkgconfig/$pc.pc)" = "$PWD/stage" ]
    done
}

@test "every man page and every shell's completion is in place" {
    for page in "$top"/tools/*.[1-9] "$top"/examples/ord/*.[1-9]; do
        cmp "$page" "stage/share/man/man${page##*.}/${page##*/}"
    done
    bash -n stage/share/bash-completion/completions/lockhound
    [ "$(head -n 1 stage/share/zsh/site-functions/_lockhound)" = '#compdef lockhound' ]
    grep -q '^complete -c lockhound ' stage/share/fish/vendor_completions.d/lockhound.fish
}

@test "make uninstall leaves no file" {
    make -C "$top" --no-print-directory uninstall VARIANT="${B##*/}" \
        PREFIX="$PWD/stage" >make.txt 2>&1
    [ -z "$(find stage ! -type d)" ]
}
