#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# html.bats - the HTML report in a browser without a screen, if one is installed.

load ../run/common

records=$BATS_TEST_DIRNAME/../run/records

setup() {
    cd "$BATS_TEST_TMPDIR" || return 1
    type chromium >/dev/null 2>&1 || skip "no chromium here"
    type dot >/dev/null 2>&1 || skip "no Graphviz here"
    export HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_CACHE_HOME=$PWD
}

# Opens a page; what its console says is in console.txt.
browse() { # FILE OPTION...
    local file=$PWD/$1
    shift
    timeout -s KILL 120 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
        --disable-dev-shm-usage --enable-logging=stderr "$@" "file://$file" >dom.txt 2>log.txt
    grep ':CONSOLE' log.txt >console.txt || true
    if [ -s console.txt ]; then
        cat console.txt
        return 1
    fi
}

# Uses the page as probe.js does; its results are in probe.txt.
probe() { # FILE OPTION...
    { cat "$1"; echo '<script>'; cat "$BATS_TEST_DIRNAME/probe.js"; echo '</script>'; } >probed.html
    shift
    browse probed.html --dump-dom "$@"
    sed -n '/<pre id="probe">/,/^end/p' dom.txt >probe.txt
    grep -qx end probe.txt || { cat log.txt; return 1; }
}

# The number of colours in a screenshot, and its width.
colours() { # FILE.png
    python3 - "$1" <<'PY'
import struct, sys, zlib
data = open(sys.argv[1], "rb").read()
assert data[:8] == b"\x89PNG\r\n\x1a\n"
at, packed = 8, b""
while at < len(data):
    size, kind = struct.unpack(">I4s", data[at:at + 8])
    body = data[at + 8:at + 8 + size]
    if kind == b"IHDR":
        width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", body)
        assert depth == 8 and not interlaced
    if kind == b"IDAT":
        packed += body
    at += size + 12
step = {2: 3, 6: 4}[colour]
raw, lines, before = zlib.decompress(packed), set(), None
seen, stride = set(), width * step
before = bytearray(stride)
for y in range(height):
    how = raw[y * (stride + 1)]
    line = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
    for x in range(stride):
        a = line[x - step] if x >= step else 0
        b = before[x]
        c = before[x - step] if x >= step else 0
        if how == 4:
            p = a + b - c
            pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
            guess = a if pa <= pb and pa <= pc else b if pb <= pc else c
        else:
            guess = (0, a, b, (a + b) // 2)[how]
        line[x] = (line[x] + guess) & 255
    before = line
    seen.update(bytes(line[x:x + 3]) for x in range(0, stride, step))
print(width, len(seen))
PY
}

@test "the page shows each finding, and reacts" {
    try "$B/lockhound" report --all --format=html -o r.html "$records/runs"
    probe r.html --window-size=1280,900
    for line in findings=4 nodes=10 wide=false shown=2 focus=true \
        up=broken_dining+0x41a0 down=restock_with_timeout+0x4140 kept=1 dim=9 \
        findings-kept=1 dim-again=0 modules=3 of-module=5; do
        grep -qx "$line" probe.txt || { echo "no $line"; cat probe.txt; return 1; }
    done
}

@test "the page is not wider than a small screen" {
    try "$B/lockhound" report --all --format=html -o r.html "$records/runs"
    probe r.html --window-size=400,800
    grep -qx wide=false probe.txt
    try "$B/lockhound" report --all --format=html -o k.html "$records/kinds.jsonl"
    probe k.html --window-size=400,800
    grep -qx wide=false probe.txt
    grep -qx findings=28 probe.txt
}

@test "a screenshot is not blank, at both widths" {
    try "$B/lockhound" report --all --format=html -o r.html "$records/runs"
    for width in 400 1280; do
        browse r.html --window-size=$width,900 --screenshot=shot.png
        colours shot.png >colours.txt
        read -r got n <colours.txt
        [ "$got" -eq "$width" ] && [ "$n" -gt 20 ]
    done
}

@test "names that are scripts do not run" {
    sed 's|"type":"lock",|&"name":"</title></code><script>console.error(1)</script><img src=x onerror=console.error(2)>",|' \
        "$records/runs/hang.jsonl" >odd.jsonl
    try "$B/lockhound" report --format=html -o r.html odd.jsonl
    browse r.html --dump-dom
    grep -q 'console.error(1)' r.html
    browse r.html --window-size=1280,900 --screenshot=shot.png
}

@test "a graph larger than the screen opens at the finding, and can be seen whole" {
    {
        cat "$records/ring.jsonl"
        awk 'BEGIN {
            for (i = 101; i <= 160; i++) {
                printf "{\"type\":\"lock\",\"id\":%d,\"kind\":\"mutex\",\"address\":\"0x%x\",\"name\":\"lock %d\"}\n", i, 65536 + 64 * i, i
                printf "{\"type\":\"dependency\",\"id\":%d,\"thread\":1,\"holds\":[{\"lock\":%d,\"mode\":\"exclusive\",\"stack\":0}],\"wants\":%d,\"mode\":\"exclusive\",\"wait\":\"block\",\"stack\":0}\n", 1000 + i, i, i == 160 ? 1 : i + 1
            }
        }'
    } >long.jsonl
    try "$B/lockhound" report --format=html -o r.html long.jsonl
    probe r.html --window-size=800,900
    for line in at-finding=true whole=true dim=61; do
        grep -qx "$line" probe.txt || { echo "no $line"; cat probe.txt; return 1; }
    done
}

@test "5000 locks open, and sort" {
    {
        cat "$records/ring.jsonl"
        awk 'BEGIN {
            for (i = 101; i <= 5100; i++) {
                printf "{\"type\":\"lock\",\"id\":%d,\"kind\":\"mutex\",\"address\":\"0x%x\",\"name\":\"lock %d\",\"static\":[1,%d]}\n", i, 65536 + 64 * i, i, 65536 + 64 * i
                printf "{\"type\":\"dependency\",\"id\":%d,\"thread\":1,\"holds\":[{\"lock\":%d,\"mode\":\"exclusive\",\"stack\":0}],\"wants\":%d,\"mode\":\"exclusive\",\"wait\":\"block\",\"stack\":0}\n", 1000 + i, i < 108 ? 1 : i - 1 - i % 7, i
            }
        }'
    } >many.jsonl
    try "$B/lockhound" report --format=html -o r.html many.jsonl
    exits_with 66
    absent skipped err.txt
    probe r.html --window-size=1280,900
    grep -qx 'down=lock 5100' probe.txt || { cat probe.txt; return 1; }
    grep -qx 'dim-again=0' probe.txt
}
