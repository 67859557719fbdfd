#!/usr/bin/env python3
"""schedules.py - what must hold of schedules while they are edited and run (F57).

    schedules.py watch --store URL --until FILE >WRONG
        looks into the store again and again; each look is one snapshot. Each edit is one transaction,
        so at no moment may a schedule that is on lack its check, one that is off have it, or a check
        carry another rule than its schedule has. A line each: TIME_US NAME WORDS.
    schedules.py judge --case DIR --store URL --heard-ms N --length-s N
        the same of the end, and what the jobs' own log, the store and the logs of the clients have
        about times. It prints what is wrong, a line each, and exits 1.

Schedules are told apart by the first letter of their names, as are their checks (`check_of`):
    a   each minute, missed run_all, begun 80 minutes ago: each minute runs once, in its order
    c   each minute, missed skip, begun 80 minutes ago: what was not run is counted in a row of the log
    d   the same, missed run_once: one late run, and then each minute
    e   every 3 s: the time between two runs is kept
    o   edited by one client each (editor.py): off and removed, it does not run
    s   edited by all clients
    p   paused and resumed: paused, it does not run
    l b  loaded from files (loader.py); an `l` recurs each hour or two, and none runs before its first
        time
"""
import argparse
import collections
import os
import re
import sqlite3
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import check

US = 1000000
PAUSED = 221845392000               # slots of pauses begin here


def now_us():
    return time.time_ns() // 1000


def check_of(name):
    """entity, key, job. Two `s` are of one row; their jobs are in the order of their names."""
    if name[0] == "s":
        n = int(name[1:])
        return "row", "s%d" % (n // 2), ("other", "witness")[n % 2]
    return "row", name, "witness"


# ---- the store ----

class Away(Exception):
    """The store does not answer."""


# Columns of all are the same: {M:column} is a moment in seconds, {T} stands before names of tables.
class Store:
    def __init__(self, url):
        self.url, self.is_sqlite = url, url.startswith("sqlite:")

    def called(self, session, url):
        """The URL of a session that can be told from others."""
        if self.is_sqlite:
            return url
        return "%s%sapplication_name=%s" % (url, "&" if "?" in url else "?", session)

    def once(self, sql):
        sql = sql.replace("{T}", "prescient_" if self.is_sqlite else "prescient.")
        moment = r"\1" if self.is_sqlite else r"extract(epoch FROM \1)::bigint"
        sql = re.sub(r"\{M:([a-z_.]+)\}", moment, sql)
        try:
            return self.ask_sqlite(sql) if self.is_sqlite else self.ask_postgresql(sql)
        except (sqlite3.OperationalError, subprocess.SubprocessError) as e:
            raise Away(str(e))

    def ask_sqlite(self, sql):
        db = sqlite3.connect("file:%s?mode=rw" % self.url[len("sqlite:"):], uri=True, timeout=20)
        try:
            return [tuple("" if v is None else str(v) for v in row) for row in db.execute(sql)]
        finally:
            db.close()

    def ask_postgresql(self, sql):
        out = subprocess.run(["psql", "-qXAt", "-F", "\t", "-v", "ON_ERROR_STOP=1", self.url, "-c", sql],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True,
                             timeout=60, env={**os.environ, "PGCONNECT_TIMEOUT": "10"})
        return [tuple(line.split("\t")) for line in out.stdout.splitlines()]

    def rows(self, sql, patience_s=60):
        """A server that restarts is waited for."""
        until = time.monotonic() + patience_s
        while True:
            try:
                return self.once(sql)
            except Away:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def state(self, name):
        rows = self.rows("SELECT is_active FROM {T}schedule WHERE name = '%s'" % name)
        return "none" if not rows else "on" if rows[0][0] in ("t", "1") else "off"

    def wait_for_the_end_of(self, session):
        """A server goes on with the statement of a client that was killed."""
        while not self.is_sqlite and self.rows(
                "SELECT 1 FROM pg_stat_activity WHERE application_name = '%s'" % session):
            time.sleep(0.02)

    SWITCH = {"on": ("SELECT prescient.schedule_on(s.name)", "UPDATE {V} SET is_active = 1"),
              "off": ("SELECT prescient.schedule_off(s.name)", "UPDATE {V} SET is_active = 0"),
              "remove": ("SELECT prescient.unschedule(s.name)", "DELETE FROM {V}")}

    def transaction(self, edits, open_s, ends_well, url):
        """Edits, (word, name) each, in one transaction, which waits before it ends. Returns errors."""
        end = "COMMIT" if ends_well else "ROLLBACK"
        if not self.is_sqlite:
            sql = "".join("%s FROM prescient.schedule s WHERE s.name = '%s';\n" % (self.SWITCH[word][0], name)
                          for word, name in edits)
            return subprocess.run(["psql", "-qXAt", url], stdout=subprocess.DEVNULL, text=True,
                                  stderr=subprocess.PIPE,
                                  input="BEGIN;\n%sSELECT pg_sleep(%.3f);\n%s;\n" % (sql, open_s, end)).stderr
        db = sqlite3.connect(self.url[len("sqlite:"):], timeout=20, isolation_level=None)
        try:
            db.execute("BEGIN IMMEDIATE")
            for word, name in edits:
                sql = self.SWITCH[word][1].replace("{V}", "prescient_schedules")
                db.execute(sql + " WHERE name = ?", (name,))
            time.sleep(open_s / 4)      # nobody else writes meanwhile
            db.execute(end)
            return ""
        except sqlite3.Error as e:
            return str(e)
        finally:
            db.close()


# ---- on, and off ----

# Of each schedule whether it is on, how many checks it has, and whether these carry its rule; and
# checks that carry one, and belong to no schedule. One statement, one snapshot.
WITHOUT_FROM = {True: "substr(%s, 1, instr(replace(replace(%s, ' payload once', ' from '),"
                      " ' sought ', ' from ') || ' from ', ' from ') - 1)",
                False: "regexp_replace(%s, '( payload once)?( sought [0-9]+)?( from [0-9]+)?$', '')"}
SNAPSHOT = """
SELECT s.name, CASE WHEN s.is_active THEN 'on' ELSE 'off' END, count(f.id),
       coalesce(sum(CASE WHEN {carried} = {rule} THEN 1 ELSE 0 END), 0),
       min({carried}) || ' in place of ' || min({rule})
  FROM {T}schedule s LEFT JOIN {T}future_job f
       ON f.entity_name = s.entity_name AND f.entity_key = s.entity_key AND f.job_exec = s.job_exec
          AND f.terms IS NOT NULL
 GROUP BY s.name, s.is_active
UNION ALL
SELECT f.entity_key || ' ' || f.job_exec, 'none', count(*), 0, '' FROM {T}future_job f
 WHERE f.terms IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM {T}schedule s WHERE f.entity_name = s.entity_name
                   AND f.entity_key = s.entity_key AND f.job_exec = s.job_exec)
 GROUP BY f.entity_key, f.job_exec"""


def snapshot_sql(store):
    cut = WITHOUT_FROM[store.is_sqlite]
    rule = "s.rule" if store.is_sqlite else cut % "prescient.terms_of(s, now())"
    carried = cut % ("f.terms", "f.terms") if store.is_sqlite else cut % "f.terms"
    return SNAPSHOT.replace("{carried}", carried).replace("{rule}", rule)


def wrong_now(rows):
    """(name, words) of each schedule whose check is not as it must be."""
    for name, state, checks, with_rule, rules in rows:
        checks, with_rule = int(checks), int(with_rule)
        if state == "on" and not checks:
            yield name, "is on, and has no check"
        elif state == "on" and checks != 1:
            yield name, "is on, and has %d checks" % checks
        elif state == "on" and with_rule != 1:
            yield name, "is on, and its check carries another rule: " + rules
        elif state == "off" and checks:
            yield name, "is off, and has a check"
        elif state == "none":
            yield name, "a check has a rule, and no schedule"


def watch(a):
    store = Store(a.store)
    sql = snapshot_sql(store)
    looks = 0
    while not os.path.exists(a.until):
        try:
            rows = store.once(sql)
        except Away:
            time.sleep(0.2)
            continue
        looks += 1
        for name, words in wrong_now(rows):
            print(now_us(), name, words, sep="\t", flush=True)
        time.sleep(0.1)
    print("# %d looks" % looks, file=sys.stderr)
    return 0


# ---- times ----

# A row of the run log, or of history: what was settled.
Done = collections.namedtuple("Done", "key outcome slot next_at ended_us note")


class World:
    def __init__(self, runs=(), log=(), told=(), began_s=0, ended_us=0, since_s=None):
        self.runs, self.log, self.told = list(runs), list(log), list(told)
        self.began_s, self.ended_us = began_s, ended_us
        self.since_s = since_s or {}    # schedule -> the moment from which on its rule holds


def phase_s(name, every_s):
    """So long after `from` comes the first time of an `every` (rules/recurrence.c): a hash of the name."""
    all_bits = 2 ** 64 - 1
    n = 0xcbf29ce484222325
    for byte in name.encode():
        n = (n ^ byte) * 0x100000001b3 & all_bits
    n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9 & all_bits
    n = (n ^ n >> 27) * 0x94d049bb133111eb & all_bits
    return (n ^ n >> 31) % every_s


class Judge:
    def __init__(self, world, heard_ms, length_s):
        self.w, self.heard_us, self.length_s = world, heard_ms * 1000, length_s
        self.found = []
        self.runs = collections.defaultdict(list)       # key -> runs, by time
        for r in sorted(world.runs):
            self.runs[r.row[1]].append(r)
        self.log = collections.defaultdict(list)
        for d in sorted(world.log, key=lambda d: d.ended_us):
            self.log[d.key].append(d)

    def say(self, kind, words, *args):
        self.found.append((kind, words % args))

    def all(self):
        for key in sorted(self.w.since_s):
            {"a": self.each_minute, "c": self.skipped, "d": self.run_once}[key[0]](key)
        for key in self.runs:
            self.one_key_each(key)
            if key[0] == "e":
                self.cool_down(key)
            if key[0] == "l":
                self.not_before_its_first(key)
        self.quiet()
        return self.found

    # The minutes that ran, in the order of their first runs. A run that a fault made necessary
    # again has the key of the first one, which check.py looks at.
    def minutes(self, key):
        return list(dict.fromkeys(r.first for r in self.runs[key]))

    def each_minute(self, key):
        ran = self.minutes(key)
        first = (self.w.since_s[key] // 60 + 1) * 60
        expected = [self.ceil(first + 60 * i) for i in range(len(ran))]
        if ran != expected:
            odd = [i for i, (x, y) in enumerate(zip(ran, expected)) if x != y][0]
            self.say("minutes", "%s: its run number %d is that of %d, expected %d", key, odd + 1, ran[odd],
                     expected[odd])

    def ceil(self, at):
        return -(-at // self.length_s) * self.length_s

    # How many minutes there were is how many were run or counted as skipped.
    def skipped(self, key):
        passed = sum(int(re.match(r"missed: (\d+)", d.note).group(1)) for d in self.log[key]
                     if d.outcome == "skipped")
        ran = self.minutes(key)
        last = max([d.slot for d in self.log[key] if d.outcome in ("done", "skipped")], default=0)
        expected = last // 60 - self.w.since_s[key] // 60
        if abs(passed + len(ran) - expected) > 0:
            self.say("skipped", "%s: %d minutes ran and %d were skipped, and %d have passed", key, len(ran),
                     passed, expected)

    def run_once(self, key):
        ran = self.minutes(key)
        late = [m for m in ran if m < self.w.began_s]
        if len(late) != 1:
            self.say("run_once", "%s: %d runs for what it missed, expected one", key, len(late))
        on_time = ran[len(late):]
        for before, after in zip(on_time, on_time[1:]):
            if after - before != 60:
                self.say("run_once", "%s: from the minute of %d it went on to that of %d", key, before, after)

    # Two runs under one idempotency key are one occurrence; two occurrences of one time are not
    # allowed, unless an edit has begun the rule anew in between.
    def one_key_each(self, key):
        if key[0] not in "acde":
            return
        keys = collections.defaultdict(set)
        for r in self.runs[key]:
            if not r.checks:
                keys[r.first].add(r.idem)
        for first, idems in keys.items():
            if len(idems) > 1:
                self.say("twice", "%s: the occurrence of %d has run under %d keys", key, first, len(idems))

    # Every 3 s, bias 0 or 0.3, which the last figure of the name has, in whole seconds: the next
    # run begins so long after the end of the one before; and its slot is not later than the rule
    # allows.
    def cool_down(self, key):
        bias_us = round(3 * int(key[-1]) / 10) * US
        ends = [d for d in self.log[key] if d.outcome == "done"]
        for d in ends:
            following = [r for r in self.runs[key] if r.slot >= d.next_at]
            if following and following[0].at < d.ended_us + 3 * US - bias_us:
                self.say("cool_down", "%s: it ran %d ms after its last run had ended", key,
                         (following[0].at - d.ended_us) // 1000)
            latest_us = d.ended_us + 3 * US + bias_us + 2 * self.length_s * US
            if d.next_at * US > latest_us + self.heard_us:
                self.say("cool_down", "%s: the run after that of %d is filed at %d", key, d.slot, d.next_at)

    # Each load makes it recur every hour, or every two, and files its check in the next slot, where
    # its first time is only looked for.
    def not_before_its_first(self, key):
        first = self.w.began_s + phase_s(key, 3600)
        for r in self.runs[key]:
            if r.slot < first:
                self.say("first", "%s: it ran in the slot of %d, and its first time is not before %d", key,
                         r.slot, first)

    # From so long after the answer to a client that switched it off, up to the next command that
    # may switch it on.
    def quiet(self):
        off = {}
        for kind, at, op, name, state in self.w.told:
            if kind == "told" and state in ("off", "none", "paused"):
                off.setdefault(name, at)
            elif kind == "ask" and op in ("add", "on", "resume"):
                self.quiet_span(name, off.pop(name, None), at)
        for name, since in off.items():
            self.quiet_span(name, since, self.w.ended_us)

    def quiet_span(self, name, since, until):
        if since is None:
            return
        for r in self.runs[name]:
            if since + self.heard_us < r.at < until:
                self.say("quiet", "%s: it ran %d ms after it was switched off", name, (r.at - since) // 1000)


# ---- reading ----

def read_log(store):
    run_end, at = ("(run_at_us + run_us)", "{M:%s}") if store.is_sqlite else (
        "(extract(epoch FROM run_at) * 1000000)::bigint + run_us", "{M:%s}")
    sql = "SELECT entity_key, outcome, %s, %s, %s, coalesce(note, '') FROM {T}future_job_run" % (
        at % "slot_at", at % "next_check_at", run_end)
    return [Done(r[0], r[1], int(r[2]), int(r[3]), int(r[4]), r[5]) for r in store.rows(sql)]


def read_told(folder):
    out = []
    for file in sorted(os.listdir(folder)):
        if file.startswith("edits."):
            for f in check.lines(os.path.join(folder, file)):
                if f[0] in ("ask", "told"):
                    out.append((f[0], int(f[1]), f[2], f[3], f[4] if len(f) > 4 else ""))
    return sorted(out, key=lambda e: e[1])


def read_case(folder, store):
    since = {f[0]: int(f[1]) for f in check.lines(os.path.join(folder, "since"))}
    journal = list(check.read_journal(os.path.join(folder, "journal")))
    began = int(open(os.path.join(folder, "began"), encoding="utf-8").read())
    return World(journal, read_log(store), read_told(folder), began, now_us(), since)


def judge(a):
    store = Store(a.store)
    found = Judge(read_case(a.case, store), a.heard_ms, a.length_s).all()
    check.report(found)
    return 1 if found else 0


# ---- the plan ----

def plan(a):
    """Lines of the plan for all checks that there may be: clients edit and load, and enqueue no other.
    What is there from the beginning, and what is loaded, is acknowledged."""
    there = ["%s%d" % (c, i) for c in "acdp" for i in range(3)] + ["b0", "b1"]
    there += ["e%d%d" % (i, 3 * (i % 2)) for i in range(6)]
    there += ["l%05d" % i for i in range(a.rows + a.rows // 4)]
    perhaps = ["o%s%d" % (name, i) for name in a.editors for i in range(3)] + ["s%d" % i for i in range(4)]
    for batch, names in (("there", there), ("perhaps", perhaps)):
        for name in names:
            print("sent", 0, batch, *check_of(name), 0, "", sep="\t")
    print("acked", 0, "there", sep="\t")
    return 0


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("what", choices=["watch", "judge", "now", "plan"])
    p.add_argument("--store")
    p.add_argument("--until")
    p.add_argument("--case")
    p.add_argument("--rows", type=int, default=0)
    p.add_argument("--editors", nargs="*", default=[])
    p.add_argument("--heard-ms", type=int, default=4000)
    p.add_argument("--length-s", type=int, default=3)
    a = p.parse_args()
    if a.what == "now":
        found = list(wrong_now(Store(a.store).rows(snapshot_sql(Store(a.store)))))
        for name, words in found:
            print(name, words)
        return 1 if found else 0
    return {"watch": watch, "judge": judge, "plan": plan}[a.what](a)


if __name__ == "__main__":
    sys.exit(main())
