#!/usr/bin/env python3
"""tests/on_terminal.py COLUMNS COMMAND... - runs it on a terminal of so many columns, and prints what
that shows at the end, with all that a carriage return and ESC [ K do. Exit code: that of COMMAND."""
import os
import pty
import subprocess
import sys


def shown(line):
    """What is left of a line that was written over and over."""
    cells, at = [], 0
    i = 0
    while i < len(line):
        if line[i] == "\r":
            at = 0
        elif line.startswith("\x1b[K", i):
            del cells[at:]
            i += 2
        else:
            cells[at:at + 1] = line[i]
            at += 1
        i += 1
    return "".join(cells)


def main():
    terminal, other = pty.openpty()
    subprocess.run(["stty", "cols", sys.argv[1], "rows", "40", "-opost"], stdin=other, check=True)
    child = subprocess.Popen(sys.argv[2:], stdin=other, stdout=other, stderr=other,
                             env=dict(os.environ, TERM="xterm"))
    os.close(other)
    text = b""
    while True:
        try:
            more = os.read(terminal, 65536)
        except OSError:
            break
        if not more:
            break
        text += more
    print("\n".join(shown(line) for line in text.decode().split("\n")), end="")
    return child.wait()


sys.exit(main())
