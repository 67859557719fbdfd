#!/usr/bin/env python3
"""bad_stream.py FOLDER WINDOW [threads|reversed|stays] - a stream for t_stream.sh: the key of a
check, up to its number, is what it does. It notes in FOLDER/started each process, and in
FOLDER/most how many checks it was given at most before it answered one."""
import json
import os
import select
import signal
import sys
import threading
import time

folder, window = sys.argv[1], int(sys.argv[2])
way = sys.argv[3] if len(sys.argv) > 3 else ""
lock = threading.Lock()
FILED = {"entity_name": "row", "entity_key": "filed", "job": "good", "at": "+24h"}
RESOLVED = {"entity_name": "row", "entity_key": "over", "job": "good"}


def note(name, text):
    with open(os.path.join(folder, name), "a") as file:
        print(text, file=file)


def say(line):
    with lock:
        os.write(1, (line if isinstance(line, str) else json.dumps(line)).encode() + b"\n")


def done(check):
    say({"id": check["id"], "done": True})


def leave_child(check, own_session):
    if os.fork() == 0:
        if own_session:
            os.setsid()
        note("left" if own_session else "children", os.getpid())
        time.sleep(60)
        os._exit(0)


def exit_with_child(check):
    leave_child(check, True)
    os._exit(4)


def with_child(check):
    leave_child(check, False)
    done(check)


def close_output(check):
    os.close(1)
    time.sleep(60)


def late(check):
    time.sleep(4)
    done(check)


kinds = {
    "good": done,
    "slow": lambda check: (time.sleep(0.3), done(check)),
    "late": late,
    "hang": lambda check: time.sleep(60),
    "garbage": lambda check: say("garbage"),
    "twice": lambda check: (done(check), done(check)),
    "unknown": lambda check: say({"id": "0" * 32, "done": True}),
    "noid": lambda check: say({"done": True}),
    "nothing": lambda check: say({"id": check["id"]}),
    "long": lambda check: say({"id": check["id"], "done": True, "note": "x" * 300000}),
    "exit": lambda check: os._exit(3),
    "killed": lambda check: os.kill(os.getpid(), signal.SIGKILL),
    "closes": close_output,
    "child": with_child,
    "leaves": exit_with_child,
    "fails": lambda check: say({"id": check["id"], "fail": "as asked", "final": True}),
    "defers": lambda check: say({"id": check["id"], "defer_until": "+24h", "note": "not yet"}),
    "files": lambda check: say({"id": check["id"], "done": True, "enqueue": [FILED]}),
    "resolves": lambda check: say({"id": check["id"], "done": True, "resolve": [RESOLVED]}),
    "prints": lambda check: (print("words", check["entity_key"], file=sys.stderr, flush=True), done(check)),
    "floods": lambda check: (os.write(2, b"flood\n" * 4000000), done(check)),
}


def answer(check):
    kinds[check["entity_key"].rstrip("0123456789")](check)


def take(lines):
    note("most", len(lines))
    checks = [json.loads(line) for line in lines]
    if way == "threads":
        for check in checks:
            threading.Thread(target=answer, args=(check,), daemon=True).start()
        return
    for check in reversed(checks) if way == "reversed" else checks:
        answer(check)


def read_lines(rest=b""):
    """Lines, as many as come within a moment."""
    while True:
        while b"\n" not in rest or (way == "reversed" and select.select([0], [], [], 0.1)[0]):
            more = os.read(0, 1 << 20)
            if not more:
                return
            rest += more
        *lines, rest = rest.split(b"\n")
        yield lines


note("started", os.getpid())
lines = read_lines()
hello = json.loads(next(lines)[0])
note("hello", hello["window"])
say({"prescient": 1, "window": window})
for some in lines:
    take(some)
note("finished", os.getpid())
if way == "stays":
    time.sleep(60)
