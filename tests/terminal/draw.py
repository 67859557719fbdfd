#!/usr/bin/env python3
"""tests/terminal/draw.py PRESCIENT - docs/terminal.svg: what the program prints on a terminal.

A small shop is made in a folder of its own, and the commands below are run in it on a terminal of
WIDTH columns, with a time of their own, so that they print the same each time. Each line is one
text of the SVG. To make the picture anew:

    tests/terminal/draw.py build/prescient >docs/terminal.svg
"""
import html
import os
import pty
import re
import sqlite3
import subprocess
import sys
import tempfile

WIDTH, LINE, LEFT, TOP = 100, 17, 16, 22
SETTINGS = """store = "sqlite:shop.db";
engine_name = "shop-1";
log_level = "warn";
plugin_dirs = ["%s"];
jobs = { unshipped = { plugin = "unshipped_order"; settings = {
    table = "orders"; again_after = "24h"; }; }; };
"""
TABLE = "CREATE TABLE orders (id INTEGER PRIMARY KEY, shipped_at TEXT)"
# how many orders are placed in each quarter of an hour from nine o'clock on; all are shipped but 42
PLACED = (2, 4, 3, 7, 9, 12, 16, 14, 9, 6)
SHOWN = (
    "prescient replay --from 2026-03-02T09:00Z --to 2026-03-02T13:40Z",
    "prescient --now 2026-03-02T13:40Z slots --from 2026-03-02T11:45Z",
    "prescient --now 2026-03-02T13:40Z list orders 42",
    "prescient --now 2026-03-02T13:40Z why orders 43",
)


def run(arguments, folder):
    """What a command prints on a terminal. Its bar, which it removes at its end, is left out."""
    main, other = pty.openpty()
    environment = {"PATH": "/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8", "TERM": "xterm",
                   "COLUMNS": str(WIDTH), "TZ": "UTC"}
    subprocess.run(["stty", "cols", str(WIDTH), "rows", "40"], stdin=other, check=True)
    child = subprocess.Popen(arguments, cwd=folder, stdin=other, stdout=other, env=environment,
                             stderr=subprocess.PIPE)
    os.close(other)
    text = b""
    while True:
        try:
            more = os.read(main, 65536)
        except OSError:
            break
        if not more:
            break
        text += more
    os.close(main)
    words = child.stderr.read().decode()
    child.stderr.close()
    if child.wait() != 0:
        sys.exit("draw.py: %s: exit code %d\n%s%s" % (arguments, child.returncode, text.decode(), words))
    shown = re.sub(r"shop-1/\d+", "shop-1/4711", text.decode())     # a process id is another each time
    lines = shown.replace("\r\n", "\n").split("\n")[:-1]
    return [line[at:at + WIDTH] for line in lines for at in range(0, max(len(line), 1), WIDTH)]


def story(program):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        with open(folder + "/prescient.cfg", "w", encoding="utf-8") as file:
            file.write(SETTINGS % os.path.join(os.path.dirname(os.path.realpath(program)), "jobs"))
        os.chmod(folder + "/prescient.cfg", 0o600)
        prescient = os.path.realpath(program)
        run([prescient, "--quiet", "init"], folder)
        shop = sqlite3.connect(folder + "/shop.db")
        shop.execute(TABLE)
        placed = (quarter for quarter, n in enumerate(PLACED) for _ in range(n))
        with open(folder + "/orders.csv", "w", encoding="utf-8") as file:
            file.write("entity,key,job,at\n")
            for key, quarter in enumerate(placed, 1):
                at = "2026-03-02 %02d:%02d:00" % (12 + quarter // 4, quarter % 4 * 15)
                shop.execute("INSERT INTO orders VALUES (?, ?)", (key, None if key == 42 else at))
                file.write("orders,%d,unshipped,%sZ\n" % (key, at.replace(" ", "T")))
        shop.commit()
        shop.close()
        run([prescient, "--now", "2026-03-02T09:00Z", "enqueue", "--from", "orders.csv"], folder)
        for command in SHOWN:
            yield True, command
            yield from ((False, line) for line in run([prescient] + command.split()[1:], folder))
            yield False, ""


def main():
    lines = list(story(sys.argv[1]))[:-1]
    high = TOP + len(lines) * LINE + 6
    wide = LEFT * 2 + WIDTH * 7.83
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high}" width="{wide:.0f}"'
          f' height="{high}" role="img" aria-label="prescient on a terminal">')
    print("<style>text { font: 13px ui-monospace, 'DejaVu Sans Mono', monospace; fill: #d5dbe3; "
          "white-space: pre; } .typed { fill: #ffffff; font-weight: 600; } .mark { fill: #63c878; }</style>")
    print(f'<rect width="{wide:.0f}" height="{high}" rx="8" fill="#12171e"/>')
    for number, (is_typed, line) in enumerate(lines):
        text = html.escape(line.rstrip(), quote=False)
        if is_typed:
            text = f'<tspan class="mark">$</tspan> {text}'
        if text:
            kind = ' class="typed"' if is_typed else ""
            print(f'<text x="{LEFT}" y="{TOP + number * LINE}"{kind} xml:space="preserve">{text}</text>')
    print("</svg>")


main()
