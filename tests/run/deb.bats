#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# deb.bats - make deb gives a Debian package that lintian accepts, that installs
# and is removed without a trace, and whose programs work.

setup_file() {
    command -v dpkg-deb >/dev/null || skip "no dpkg"
    load common
    export DEB_FILE=$BATS_FILE_TMPDIR/lockhound.deb
    make_deb "$DEB_FILE"
}

setup() {
    load common
    cd "$BATS_TEST_TMPDIR"
}

# Its last line of output is the package's name.
make_deb() { # FILE
    make -C "$top" --no-print-directory deb VARIANT="${B##*/}" \
        >"$BATS_FILE_TMPDIR/make.txt" 2>&1 || { cat "$BATS_FILE_TMPDIR/make.txt"; return 1; }
    cp "$top/$(tail -n 1 "$BATS_FILE_TMPDIR/make.txt")" "$1"
}

# The installed files, without folders.
files_of() {
    dpkg-deb --fsys-tarfile "$1" | tar -t | grep -v '/$' | sort
}

# Lintian's errors fail; warnings are about one package holding all.
@test "lintian has no error" {
    command -v lintian >/dev/null || skip "no lintian"
    try timeout 120 lintian --fail-on error "$DEB_FILE"
    exits_with 0
    absent '^E:' out.txt
}

@test "its control file has the version and what the programs are linked to" {
    [ "lockhound $(dpkg-deb -f "$DEB_FILE" Version)" = "$("$B/lockhound" --version)" ]
    local depends
    depends=$(dpkg-deb -f "$DEB_FILE" Depends)
    for package in libc6 libdw1 libelf1 libjansson4 libunwind8; do
        [[ ", $depends" == *", $package"* ]] || { echo "$depends"; return 1; }
    done
}

@test "it has what make install puts in place, and its documents" {
    make -C "$top" --no-print-directory install VARIANT="${B##*/}" \
        DESTDIR="$PWD/stage" PREFIX=/usr ZSH_DIR=share/zsh/vendor-completions >make.txt 2>&1
    (cd stage && find . ! -type d) | sed 's,share/man/.*,&.gz,' >want.txt
    printf './usr/share/doc/lockhound/%s\n' changelog.gz copyright >>want.txt
    diff <(sort want.txt) <(files_of "$DEB_FILE")
}

@test "made again, it is the same to the byte" {
    make_deb again.deb
    cmp "$DEB_FILE" again.deb
}

@test "its programs run from where they are unpacked, and still name functions" {
    dpkg-deb -x "$DEB_FILE" root
    try timeout 60 root/usr/bin/lockhound run --dir=records -- "$B/examples/broken_transfer"
    exits_with 66
    has '#0 transfer .*broken_transfer.c:' err.txt
    try timeout 60 root/usr/bin/lockhound report --format=short records
    has 'broken_transfer.c:[0-9]*: warning: LH001' out.txt
    sed -n 's/^prefix=//p' root/usr/lib/pkgconfig/{lockhound,ord}.pc | diff - <(printf '/usr\n/usr\n')
}

@test "dpkg installs it, and removes it without a trace" {
    [ "$(id -u)" = 0 ] || skip "not root"
    mkdir -p root/var/lib/dpkg/{info,updates,triggers}
    touch root/var/lib/dpkg/{status,available}
    try timeout 60 dpkg --root="$PWD/root" --force-depends -i "$DEB_FILE"
    exits_with 0
    [ "$(dpkg-query --root="$PWD/root" -W -f '${db:Status-Abbrev}' lockhound)" = 'ii ' ]
    try timeout 60 root/usr/bin/lockhound run --dir=records -- "$B/examples/broken_transfer"
    exits_with 66
    try timeout 60 dpkg --root="$PWD/root" --purge lockhound
    exits_with 0
    [ ! -e root/usr ]
}
