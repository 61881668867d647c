# SPDX-License-Identifier: MIT
"""type.py FOLDER LINE WORD...: zsh, with completions from FOLDER, in a
terminal of its own, is asked to complete LINE. Fails unless it shows each WORD."""
import os
import pty
import select
import sys
import time

SECONDS = 30  # a loaded machine's zsh starts slowly

folder, line, *words = sys.argv[1:]
child, terminal = pty.fork()
if child == 0:
    os.environ.update(TERM="dumb", ZDOTDIR=folder)
    os.execvp("zsh", ["zsh", "-f", "-i"])


def until(done):
    seen = b""
    end = time.monotonic() + SECONDS
    while not done(seen):
        if time.monotonic() > end:
            sys.exit("not seen in time:\n" + seen.decode(errors="replace"))
        if select.select([terminal], [], [], 0.1)[0]:
            seen += os.read(terminal, 65536)


# The prompt is shown once keys are no longer the terminal's own.
os.write(terminal, (
    "stty rows 200 cols 200; LISTMAX=0; fpath=(%s $fpath);"
    "autoload -Uz compinit; compinit -D -u; PS1='rea''dy> '\n" % folder).encode())
until(lambda seen: b"ready> " in seen)
os.write(terminal, line.encode() + b"\x04")  # ^D lists
until(lambda seen: all(word.encode() in seen for word in words))
