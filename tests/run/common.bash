# SPDX-License-Identifier: MIT
# common.bash - what the tests of whole programs share.
#
#   $top   the repository's root        $B    the build folder, absolute
#   $LIB   liblockhound.so              $G    the compiled test programs
#
# A program runs `alone` or `watched`; both leave $status, out.txt and err.txt
# in the test's own folder, which is the current one. Nothing runs longer than
# $LIMIT seconds: a status of 137 is a hang.

top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
B=${B:-build/opt}
case $B in /*) ;; *) B=$top/$B ;; esac
LIB=$B/liblockhound.so
G=$B/run/guest
LIMIT=${LIMIT:-20}

# Compiles what is older than its source. Each program is one file; a file
# called lib*.c is a shared library, without the hooks' calls bound early.
build_guests() {
    mkdir -p "$G"
    local source
    for source in "$top"/tests/run/guest/*.c "$top"/tests/run/guest/*.cpp; do
        local name
        name=$(basename "$source")
        name=${name%.*}
        [ "$G/$name" -nt "$source" ] && [ "$G/$name" -nt "$top/tests/run/guest/guest.h" ] &&
            [ "$G/$name" -nt "$top/preload/lockhound.h" ] ||
            printf '%s\0' "$source"
    done | B="$B" G="$G" top="$top" xargs -0 -r -P 4 -n 1 "$BASH" -c '
        name=$(basename "$0"); name=${name%.*}
        flags="-D_GNU_SOURCE -O1 -g -Wall -Wextra -pthread -I$top/preload"
        case $0 in
        */lib*.c) gcc $flags -std=gnu11 -shared -fPIC -o "$G/$name" "$0" ;;
        */lib*.cpp) g++ $flags -std=gnu++17 -shared -fPIC -o "$G/$name" "$0" ;;
        *.cpp) g++ $flags -std=gnu++17 -o "$G/$name" "$0" ;;
        *) gcc $flags -std=gnu11 -Wl,-z,now -o "$G/$name" "$0" ;;
        esac'
}

# Runs a command; its output is in out.txt and err.txt.
try() {
    status=0
    "$@" >out.txt 2>err.txt || status=$?
}

alone() {
    try timeout -s KILL "$LIMIT" "$@"
}

# With LOCKHOUND from the caller, if it is set.
watched() {
    try timeout -s KILL "$LIMIT" env LD_PRELOAD="$LIB" "$@"
}

# The same with a folder for records, empty at first.
recorded() {
    rm -rf records
    mkdir records
    LOCKHOUND="dir=$PWD/records${LOCKHOUND:+,$LOCKHOUND}" watched "$@"
}

show() {
    echo "status $status"
    sed 's/^/out: /' out.txt | head -40
    sed 's/^/err: /' err.txt | head -60
}

exits_with() {
    [ "$status" -eq "$1" ] || { show; return 1; }
}

# A file has a line that matches; or has none.
has() {
    grep -q -e "$1" "$2" || { echo "no '$1' in $2"; show; return 1; }
}
absent() {
    if grep -n -e "$1" "$2"; then show; return 1; fi
}

# The findings on stderr are these, one a line, in any order and each with its
# locks sorted: "LH001 a b", "conditional a b" or "LH010 a".
finds() {
    local want got
    want=$(printf '%s\n' "$@" | sed '/^$/d' | sort)
    got=$(sed -n \
        -e 's/^lockhound: potential deadlock LH001 between /LH001 /p' \
        -e 's/^lockhound: conditional ring LH001 between /conditional /p' \
        -e 's/^lockhound: potential deadlock LH005: nested read of \([^ ]*\) .*/LH005 \1/p' \
        -e 's/^lockhound: conditional ring LH005: nested read of \([^ ]*\) .*/conditional \1/p' \
        -e 's/^lockhound: .*\(LH0[0-9]*\): \([^ ]*\) .*/\1 \2/p' \
        -e 's/^lockhound: \(LH016\) assertion failed: \([^ ]*\) is \(not held\|held\) by .*/\1 \2 \3/p' err.txt |
        sed -e 's/, / /g' -e '/^LH016/!s/ and / /g' |
        while read -r kind locks; do
            if [ "$kind" = LH016 ]; then
                echo "$kind $locks"
            else
                echo "$kind" $(printf '%s\n' $locks | sort)
            fi
        done | sort)
    [ "$got" = "$want" ] || {
        printf 'found:\n%s\nexpected:\n%s\n' "$got" "$want"
        show
        return 1
    }
}

# No finding, and nothing else of ours on stderr.
quiet() {
    absent '^lockhound: ' err.txt
}

# The program passed its own checks and nothing was found.
passes_quietly() {
    exits_with 0 && quiet
}

# A command gives the same output and status with the preload as alone.
is_transparent() {
    alone "$@"
    mv out.txt out.alone
    mv err.txt err.alone
    local was=$status
    watched "$@"
    exits_with "$was" && diff out.alone out.txt && diff err.alone err.txt
}

# Every record follows lockhound-records(5).
records_are_valid() {
    python3 "$top/tests/run/guest/records.py" records/*.jsonl
}
