#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# install.bats - make install puts everything in place, below DESTDIR only, and
# programs in C and C++ build and run against what it installed.

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
    for header in stage/include/ord/*.h; do
        echo "#include <ord/${header##*/}>" >one.c
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

@test "make uninstall leaves no file" {
    make -C "$top" --no-print-directory uninstall VARIANT="${B##*/}" \
        PREFIX="$PWD/stage" >make.txt 2>&1
    [ -z "$(find stage ! -type d)" ]
}
