#!/usr/bin/env python3
"""clients.py - many clients that enqueue the same few checks at once, again and again, each a process
of its own. Some are killed before they get the answer, and others take their places.

The lines of --log, with fields separated by tabs: `sent TIME_US CLIENT KEY CONFLICT` before a call,
`acked TIME_US CLIENT KEY OUTCOME` after it.
"""
import argparse
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time


def note(log, *fields):
    os.write(log, ("\t".join(str(f) for f in fields) + "\n").encode())


def now_us():
    return time.time_ns() // 1000


class Psql:
    def __init__(self, url):
        self.session = subprocess.Popen(["psql", "-qXAt", url], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                        env={**os.environ, "PGCONNECT_TIMEOUT": "5"})

    def enqueue(self, key, conflict):
        self.session.stdin.write("SELECT prescient.enqueue('row', '%s', 'witness', clock_timestamp(), NULL, "
                                 "'%s');\n\\echo over\n" % (key, conflict))
        self.session.stdin.flush()
        answer = self.session.stdout.readline().strip()
        if answer != "over":
            self.session.stdout.readline()
        return answer


class Sqlite:
    def __init__(self, url):
        self.db = sqlite3.connect(url[len("sqlite:"):], timeout=30, isolation_level=None)
        # or a power cut brings the journal of a committed transaction back
        self.db.execute("PRAGMA synchronous = EXTRA")

    def enqueue(self, key, conflict):
        self.db.execute("INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, "
                        "conflict) VALUES ('row', ?, 'witness', ?, ?)",
                        (key, int(time.time()), conflict))
        return "filed"


def client(a, number, seed):
    os.setsid()                         # a kill of the group takes its psql along
    rnd = random.Random(seed)
    log = os.open(a.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    store = Sqlite(a.store) if a.store.startswith("sqlite:") else Psql(a.store)
    while True:
        key = rnd.choice(a.key)
        conflict = rnd.choice(a.conflict)
        note(log, "sent", now_us(), number, key, conflict)
        answer = store.enqueue(key, conflict)
        if answer in ("new", "kept", "moved", "replaced", "filed"):
            note(log, "acked", now_us(), number, key, answer)
        time.sleep(rnd.uniform(0, a.pause))


def start(a, number, rnd):
    seed = rnd.random()
    pid = os.fork()
    if pid == 0:
        try:
            client(a, number, seed)
        finally:
            os._exit(1)
    return pid


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--store", required=True)
    p.add_argument("--log", required=True)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--clients", type=int, default=50)
    p.add_argument("--seconds", type=float, default=10)
    p.add_argument("--kill-every", type=float, default=0.1, help="seconds")
    p.add_argument("--pause", type=float, default=0.2, help="the longest rest of a client between two calls")
    p.add_argument("--key", action="append", required=True)
    p.add_argument("--conflict", action="append", required=True)
    a = p.parse_args()
    rnd = random.Random(a.seed)
    clients = {n: start(a, n, rnd) for n in range(a.clients)}
    kills, until = 0, time.monotonic() + a.seconds
    try:
        while time.monotonic() < until:
            time.sleep(a.kill_every)
            n = rnd.randrange(a.clients)
            os.killpg(clients[n], signal.SIGKILL)
            os.waitpid(clients[n], 0)
            kills += 1
            clients[n] = start(a, n, rnd)
            time.sleep(0.01)            # until it leads a group of its own
    finally:
        for pid in clients.values():
            try:
                os.killpg(pid, signal.SIGKILL)
            except ProcessLookupError:
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    print(kills)
    return 0


if __name__ == "__main__":
    sys.exit(main())
