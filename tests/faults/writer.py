#!/usr/bin/env python3
"""writer.py - enqueues checks as an application would, from a seed, and records what it sent and what
was acknowledged.

The plan is a file of lines with tabs between fields, each written before (sent) or after (acked) its
transaction:
    sent   TIME_US BATCH ENTITY KEY JOB AT PAYLOAD
    acked  TIME_US BATCH
A batch that was sent and never acknowledged may be in the store or not; one that was acknowledged
must be. TIME_US is the machine's. On a clock that was moved (clock.sh) the wanted moments are those
of that clock, as for an application on that machine.
"""
import argparse
import csv
import io
import json
import os
import random
import sqlite3
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import keys

# What the runs of a check do, with how often of a hundred. The n-th run does the n-th; the last one
# from then on.
MIXES = {
    "plain": [(100, ["done"])],
    "busy": [(66, ["done"]), (12, ["sleep {ms}, done"]), (10, ["again {s}", "done"]),
             (4, ["again {s}", "again {s}", "again {s}", "done"]),
             (4, ["fail", "done"]), (2, ["fail", "again {s}", "fail", "done"]), (2, ["fail"])],
    "rough": [(60, ["done"]), (15, ["sleep {ms}, done"]), (10, ["again {s}", "done"]),
              (4, ["fail", "done"]), (3, ["crash", "done"]),
              (2, ["abort", "done"]), (2, ["exit 0", "done"]), (2, ["_exit 3", "again {s}", "done"]),
              (1, ["garbage 77", "done"]), (1, ["fail"])],
    "deadly": [(40, ["done"]), (10, ["crash"]), (5, ["crash", "crash", "done"]),
               (10, ["abort"]), (10, ["exit 0"]), (5, ["exit 0", "again {s}", "done"]),
               (10, ["_exit 3"]), (5, ["again {s}", "_exit 0", "done"]), (5, ["sleep {ms}, crash", "done"])],
    "stuck": [(96, ["done"]), (4, ["block"])],
    "greedy": [(84, ["done"]), (4, ["memory"]), (4, ["files, done"]), (4, ["processes 5, done"]),
               (4, ["talk 20000, done"])],
    "chatty": [(100, ["talk 3000, done"])],
    "long": [(100, ["sleep 600, done"])],
    "uneven": [(94, ["sleep {ms}, done"]), (6, ["sleep 700, done"])],
    "timed": [(78, ["done"]), (8, ["sleep 600, done"]), (8, ["again {s}", "done"]),
              (3, ["hang", "done"]), (3, ["hang"])],
    "at_2h": [(100, ["again_at {in_2h}", "done"])],
    "at_30h": [(100, ["again_at {in_30h}", "done"])],
    "at_80h": [(100, ["again_at {in_80h}", "done"])],
    "endless": [(100, ["again 1"])],
    "deferring": [(100, ["defer 2"])],
    "moving": [(90, ["again {s}", "done"]), (10, ["done"])],
    "slow": [(100, ["sleep {ms}, done"])],
    "failing": [(30, ["done"]), (20, ["fail", "done"]), (20, ["fail", "fail", "done"]),
                (10, ["fail", "fail", "fail", "crash", "done"]), (5, ["fail"]),
                (5, ["crash", "again {s}", "done"]), (10, ["crash", "fail", "again {s}", "fail", "done"])],
}


def deeds(rnd, mix, most_ms, now):
    steps = rnd.choices([m[1] for m in MIXES[mix]], [m[0] for m in MIXES[mix]])[0]
    moments = {"in_%dh" % h: int(now) + h * 3600 for h in (2, 30, 80)}
    return [s.format(ms=rnd.randint(1, most_ms), s=rnd.randint(1, 3), **moments) for s in steps]


def machine_us():
    """The machine's time, whatever clock this process is shown."""
    ahead = 0
    if os.environ.get("CLOCK_FILE"):
        with open(os.environ["CLOCK_FILE"], "rb") as f:
            ahead = struct.unpack("=q", f.read(8))[0]
    return time.time_ns() // 1000 - ahead


class Lost(Exception):
    """The transaction was not acknowledged."""


class Psql:
    """A session of psql that is spoken to by pipes; a new one after each loss."""

    def __init__(self, url, at_once):
        self.url, self.at_once, self.session = url, at_once, None

    def commit(self, rows):
        values = ", ".join("(%s, %s, %s, %d, %s, %d, %s)"
                           % (quote(r["entity"]), quote(r["key"]), quote(r["job"]), r["at"],
                              quote(r["payload"]), r["priority"],
                              quote(r["concurrency_key"]) if r["concurrency_key"] else "NULL")
                           for r in rows)
        call = ("enqueue_now(e, k, j, p::json, 'keep', n, c)" if self.at_once
                else "enqueue(e, k, j, to_timestamp(a), p::json, 'keep', n, NULL, c)")
        sql = ("SELECT count(prescient.%s) FROM (VALUES %s) v (e, k, j, a, p, n, c);\n"
               "\\echo acknowledged :SQLSTATE\n" % (call, values))
        try:
            if not self.session:
                self.session = subprocess.Popen(["psql", "-qXAt", self.url], stdin=subprocess.PIPE,
                                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                                text=True, env={**os.environ, "PGCONNECT_TIMEOUT": "5"})
            self.session.stdin.write(sql)
            self.session.stdin.flush()
            line = self.session.stdout.readline()
            if line.strip() == str(len(rows)):
                line = self.session.stdout.readline()
            if line.strip() != "acknowledged 00000":
                raise Lost(line)
        except (OSError, Lost) as e:
            self.close()
            raise Lost(str(e))

    def close(self):
        if self.session:
            self.session.kill()
            self.session.communicate()
        self.session = None


class Sqlite:
    def __init__(self, url, at_once):
        self.path, self.at_once, self.db = url[len("sqlite:"):], at_once, None

    def commit(self, rows):
        try:
            if not self.db:
                self.db = sqlite3.connect(self.path, timeout=20, isolation_level=None)
                # or a power cut brings the journal of a committed transaction back
                self.db.execute("PRAGMA synchronous = EXTRA")
            self.db.execute("BEGIN IMMEDIATE")
            if self.at_once:
                self.db.executemany("INSERT INTO prescient_enqueue_now (entity_name, entity_key, job_exec, "
                                    "payload, priority, concurrency_key) VALUES (?, ?, ?, ?, ?, ?)",
                                    [(r["entity"], r["key"], r["job"], r["payload"], r["priority"],
                                      r["concurrency_key"]) for r in rows])
            else:
                self.db.executemany("INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, "
                                    "check_at, payload, priority, concurrency_key) "
                                    "VALUES (?, ?, ?, ?, ?, ?, ?)",
                                    [(r["entity"], r["key"], r["job"], r["at"], r["payload"],
                                      r["priority"], r["concurrency_key"]) for r in rows])
            self.db.execute("COMMIT")
        except sqlite3.Error as e:
            self.close()
            raise Lost(str(e))

    def close(self):
        if self.db:
            self.db.close()
        self.db = None


class Cli:
    """`prescient enqueue --from -`: what its exit code says is what counts."""

    def __init__(self, url, program):
        self.url, self.program = url, program

    def commit(self, rows):
        text = io.StringIO()
        out = csv.writer(text)
        out.writerow(["entity_name", "entity_key", "job_exec", "check_at", "payload", "priority",
                      "concurrency_key"])
        out.writerows([r["entity"], r["key"], r["job"], r["at"], r["payload"], r["priority"],
                       r["concurrency_key"]] for r in rows)
        done = subprocess.run([self.program, "--quiet", "--store", self.url, "enqueue", "--from", "-"],
                              input=text.getvalue(), text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if done.returncode:
            raise Lost(done.stderr[-200:])

    def close(self):
        pass


def quote(text):
    return "'" + text.replace("'", "''") + "'"


def batch_of(a, rnd, first, n):
    now = time.time()
    rows = []
    for i in range(first, first + n):
        key = "%s%d" % (a.prefix, i)
        rows.append({"entity": "row", "key": key, "job": rnd.choice(a.job),
                     "at": int(now + rnd.uniform(*a.ahead)) + 1,
                     "payload": json.dumps(deeds(rnd, a.mix, a.most_ms, now)),
                     "priority": rnd.choice(a.priority),
                     "concurrency_key": keys.key_of(i, a.keys)})
    return rows


def note(plan, *fields):
    os.write(plan, ("\t".join(str(f) for f in fields) + "\n").encode())


def write(a):
    rnd = random.Random(a.seed * 1000003 + sum(a.prefix.encode()))
    plan = os.open(a.plan, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    if a.by == "cli":
        way = Cli(a.store, a.program)
    else:
        way = (Sqlite if a.store.startswith("sqlite:") else Psql)(a.store, a.at_once)
    began, first, lost = time.monotonic(), 0, 0
    while first < a.checks and not (a.until and os.path.exists(a.until)):
        n = min(a.batch, a.checks - first)
        rows = batch_of(a, rnd, first, n)
        name = "%s%d" % (a.prefix, first)
        sent = machine_us()
        os.write(plan, "".join("sent\t%d\t%s\t%s\t%s\t%s\t%d\t%s\n"
                               % (sent, name, r["entity"], r["key"], r["job"], r["at"], r["payload"])
                               for r in rows).encode())
        try:
            way.commit(rows)
            note(plan, "acked", machine_us(), name)
        except Lost as e:
            lost += 1
            print("batch %s was not acknowledged: %s" % (name, e), file=sys.stderr)
            if not a.patient:
                return 1
            time.sleep(0.2)
        first += n                      # never the same keys again: whether they are in is not known
        pause = began + a.over * first / a.checks - time.monotonic()
        if pause > 0:
            time.sleep(pause)
    way.close()
    return 0


def pair(text):
    return [float(x) for x in text.split(",")]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--store", required=True)
    p.add_argument("--program", default="prescient")
    p.add_argument("--plan", required=True)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--prefix", default="k")
    p.add_argument("--checks", type=int, default=1000)
    p.add_argument("--batch", type=int, default=100, help="checks of one transaction")
    p.add_argument("--over", type=float, default=0, help="seconds that all of it takes")
    p.add_argument("--until", metavar="FILE",
                   help="ends when this file is there, if that is before all are written")
    p.add_argument("--ahead", type=pair, default=[0, 3],
                   help="LO,HI: seconds from now on for which they are wanted")
    p.add_argument("--mix", choices=sorted(MIXES), default="plain", help="what the runs do")
    p.add_argument("--most-ms", type=int, default=20, help="the longest sleep of a run")
    p.add_argument("--job", action="append", help="names of jobs, one picked for each (witness)")
    p.add_argument("--priority", action="append", type=int,
                   help="one picked for each (0, and sometimes 5 or -3); a page of checks has one")
    p.add_argument("--keys", type=int, default=0,
                   help="so many concurrency keys, which the checks have in turn (0: none)")
    p.add_argument("--by", choices=["sql", "cli"], default="sql")
    p.add_argument("--at-once", action="store_true", help="by sql: they are wanted in the next second")
    p.add_argument("--patient", action="store_true",
                   help="a batch that is lost is noted, and the next one is tried")
    a = p.parse_args()
    a.job = a.job or ["witness"]
    a.priority = a.priority or [0, 0, 0, 0, 5, -3]
    return write(a)


if __name__ == "__main__":
    sys.exit(main())
