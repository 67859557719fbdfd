#!/usr/bin/env python3
"""failing_calls.py - one call of the C library fails, then the next one in another run, and so on until
the failure would come after the last call.

    failing_calls.py --program P --preload SO --jobs DIR... --folder DIR [--store URL] [--seed N]
                     [--sample N] [--within S] [--at-once N] [--summary FILE] -- TARGET:CLASS...

Each run starts from the same store with a few checks in it. A TARGET is a command (TARGETS below), a
CLASS what fails (failing_calls.c). A run passes when
    it ends within the limit, by no signal, with an exit code of the man page; if that is not 0,
        stderr says why
    the store is intact: SQLite's integrity_check, no check lost, none doubled, one settle and one
        event for each run that took effect
    what was acknowledged (exit code 0 of an enqueue) is in the store
    the same command without a fault does the rest
--sample N takes N places of each sweep, drawn from the seed; 0, or without it, every one is taken.
--within S ends each sweep after S seconds: the places come in an order drawn from the seed, and the
line has the number of those that were left. One line "ok - ..." or "not ok - ..." a TARGET:CLASS.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

EXITS = {0, 1, 2, 69, 75, 78}
LIMIT_S = 60
SLOT = 1772370900                       # 2026-03-01T13:15:00Z, long over
CHECKS = 16
DEEDS = ["done", "again 90000", "done", "defer 90000"]
CSV_LINES = 20
# the settings file alone counts
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PRESCIENT_")}


class Wrong(Exception):
    pass


def must(condition, words, *args):
    if not condition:
        raise Wrong(words % args if args else words)


# ---- the stores: the same questions asked of both ----

class Sqlite:
    def __init__(self, url):
        self.path = url[len("sqlite:"):]

    def keep(self):
        self.fill()
        shutil.copy(self.path, self.path + ".kept")

    def restore(self, empty=False):
        for end in "", "-journal", "-wal", "-shm":
            if os.path.exists(self.path + end):
                os.unlink(self.path + end)
        if not empty:
            shutil.copy(self.path + ".kept", self.path)

    def ask(self, sql):
        db = sqlite3.connect(self.path, timeout=10)
        db.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        try:
            for sign, meant in (("{", "prescient_"), ("}", ""), ("<", ""), (">", "")):
                sql = sql.replace(sign, meant)
            rows = db.execute(sql).fetchall()
            db.commit()
            return rows
        finally:
            db.close()

    def look_whole(self):
        if os.path.exists(self.path):
            must(self.ask("PRAGMA integrity_check") == [("ok",)], "integrity_check: %s",
                 self.ask("PRAGMA integrity_check")[:3])

    def fill(self):
        rows = ["('row', 'k%d', 'witness', %d, %d, '\"%s\"')" % (i, SLOT, SLOT, DEEDS[i % len(DEEDS)])
                for i in range(CHECKS)]
        self.ask("INSERT INTO {future_job} (entity_name, entity_key, job_exec, first_check_at, "
                 "next_check_at, payload) VALUES " + ", ".join(rows))

    def free_leases(self):
        self.ask("UPDATE {slot_lease} SET expires_at_us = 0")


class Postgresql:
    def __init__(self, url):
        self.url = url

    def ask(self, sql):
        for sign, meant in (("{", "prescient."), ("}", ""), ("<", "extract(epoch FROM "), (">", ")::bigint")):
            sql = sql.replace(sign, meant)
        out = subprocess.run(["psql", "-qXAt", "-F", "\t", "-v", "ON_ERROR_STOP=1", self.url, "-c", sql],
                             stdout=subprocess.PIPE, check=True,
                             env=dict(os.environ, PGCONNECT_TIMEOUT="10"), text=True).stdout
        return [tuple(int(c) if c.lstrip("-").isdigit() else c for c in line.split("\t"))
                for line in out.splitlines()]

    def keep(self):
        pass

    def restore(self, empty=False):
        self.ask("TRUNCATE {future_job}, {future_job_history}, {future_job_run}, {slot_pass}, {slot_lease}, "
                 "{event}; " + self.filled())

    def look_whole(self):
        pass

    @staticmethod
    def filled():
        return ("INSERT INTO {future_job} (bucket, entity_name, entity_key, job_exec, first_check_at, "
                "next_check_at, payload) "
                "SELECT prescient.bucket_of('row', 'k' || n), 'row', 'k' || n, 'witness', to_timestamp(%d), "
                "to_timestamp(%d), to_json((%s)[1 + n %% %d]) "
                "FROM generate_series(0, %d) n"
                % (SLOT, SLOT, "ARRAY[%s]" % ", ".join("'%s'" % d for d in DEEDS), len(DEEDS), CHECKS - 1))

    def free_leases(self):
        self.ask("UPDATE {slot_lease} SET expires_at = to_timestamp(0)")


# ---- what must hold of the store after any run ----

# One question, because a psql takes longer than most of what is tried here.
SEEN = " UNION ALL ".join("SELECT '%s' AS part, %s FROM {%s}" % row for row in (
    ("pending", "entity_key AS name, <next_check_at> AS slot, '' AS outcome", "future_job"),
    ("history", "entity_key, <slot_at>, outcome", "future_job_history"),
    ("run", "entity_key, <slot_at>, outcome", "future_job_run"),
    ("event", "entity_key, <slot_at>, event", "event"), ("lease", "'', <slot_at>, ''", "slot_lease")))


class Seen:
    """The store after a run."""

    def __init__(self, store):
        parts = collections.defaultdict(list)
        for part, name, slot, outcome in store.ask(SEEN):
            parts[part].append((str(name), slot, outcome))
        self.pending, self.history, self.runs = parts["pending"], parts["history"], parts["run"]
        self.events, self.leases = parts["event"], parts["lease"]

    def waiting(self, prefix):
        return sorted(name for name, _, _ in self.pending if name.startswith(prefix))


def look_at_checks(seen, journal):
    """Each check is there once, waiting or archived; what was settled was run, once, and left its event."""
    here = collections.Counter(name for name, _, _ in seen.pending + seen.history)
    for i in range(CHECKS):
        must(here["k%d" % i] == 1, "check k%d is there %d times", i, here["k%d" % i])
    ran = {line.split("\t")[5] for line in open(journal, encoding="utf-8") if line.count("\t") == 12}
    events = collections.Counter((name, slot) for name, slot, _ in seen.events)
    # one row of the run log or of the history for each run that took effect
    settles = collections.defaultdict(list)
    for name, slot, outcome in seen.runs + seen.history:
        settles[name, slot].append(outcome)
    for (name, slot), outcomes in settles.items():
        must(len(outcomes) == 1, "check %s was settled %d times in slot %d", name, len(outcomes), slot)
        must(name in ran or outcomes[0] in ("crashed", "timeout"),
             "check %s was settled as %s, and no job ran it", name, outcomes[0])
        if outcomes[0] in ("done", "again", "deferred"):
            must(events[name, slot] == 1, "check %s was settled as %s and has %d events",
                 name, outcomes[0], events[name, slot])
    for name, slot in events:
        must((name, slot) in settles, "check %s has an event, and was not settled", name)
    for name, slot, _ in seen.pending:
        if name.startswith("k") and slot != SLOT:
            must((name, SLOT) in settles, "check %s has moved to %d, and no run says why", name, slot)


# ---- targets: a command, what its exit code 0 promises, and what is looked at besides ----

class Case:
    def __init__(self, args, store, folder):
        self.args, self.store, self.folder = args, store, folder
        self.journal = os.path.join(folder, "journal")
        self.runs = 0


def promised_enqueue(seen, out):
    must(seen.waiting("new") == ["new"], "acknowledged, and not there")


def promised_load(seen, out):
    counts = json.loads(out)
    must(len(seen.waiting("line")) == counts["added"] + counts["kept"] == CSV_LINES,
         "acknowledged: %s; there: %d", out, len(seen.waiting("line")))


def look_load(seen):
    must(len(seen.waiting("line")) in (0, CSV_LINES), "a chunk is there in part: %d of %d",
         len(seen.waiting("line")), CSV_LINES)


def promised_run(seen, out):
    must(not seen.leases and all(slot != SLOT for _, slot, _ in seen.pending),
         "exit code 0, and the slot is not over: %s", out)


def promised_resolve(seen, out):
    must("k0" not in seen.waiting("k0"), "acknowledged, and it still waits")


Target = collections.namedtuple("Target", "argv promised look empty role prints_same clean stays")
Target.__new__.__defaults__ = (None, None, False, "", False, 0, False)
TARGETS = {
    "config": Target(["config", "--print"], prints_same=True),
    "init": Target(["--quiet", "init"], empty=True),
    "enqueue": Target(["enqueue", "row", "new", "witness", "+1h"], promised_enqueue),
    "load": Target(["--json", "enqueue", "--from", "lines.csv"], promised_load, look_load),
    "run": Target(["--json", "run", "--slot", str(SLOT)], promised_run),
    "sweep": Target(["--json", "sweep"], promised_run),
    "empty_run": Target(["--json", "run", "--slot", str(SLOT + 900)]),
    "worker": Target(["--json", "run", "--slot", str(SLOT)], promised_run, None, False, "worker"),
    # it sweeps, and is told to stop when the slot is over
    "daemon": Target(["daemon"], promised_run, stays=True),
    "jobs": Target(["jobs"], prints_same=True),
    "doctor": Target(["doctor"], clean=1),         # the slot is late
    "list": Target(["--json", "list", "--limit", "0"], prints_same=True),
    "resolve": Target(["resolve", "row", "k0"], promised_resolve, lambda seen: None),
}


# ---- one run ----

Ended = collections.namedtuple("Ended", "code out err fired calls")


def listens(pid):
    """Whether it has come so far that a TERM is a message to it."""
    with open("/proc/%d/status" % pid, encoding="ascii", errors="replace") as f:
        blocked = [line.split()[1] for line in f if line.startswith("SigBlk:")]
    return bool(blocked and int(blocked[0], 16) >> (signal.SIGTERM - 1) & 1)


def stop_when_over(case, process):
    """A daemon goes on after a failure until the slot is over, or it ends by itself. The limit of every
    run shows if it did neither."""
    until = time.monotonic() + LIMIT_S
    while process.poll() is None and time.monotonic() < until:
        if listens(process.pid) and case.store.ask("SELECT (SELECT count(*) FROM {future_job} WHERE "
                                                   "<next_check_at> = %d)"
                                                   " + (SELECT count(*) FROM {slot_lease})" % SLOT) == [(0,)]:
            process.terminate()
            return
        time.sleep(0.05)


def run(case, target, wish):
    case.runs += 1
    told = os.path.join(case.folder, "told")
    if os.path.exists(told):
        os.unlink(told)
    env = dict(ENVIRONMENT, LD_PRELOAD=case.args.preload, FAIL_TOLD=told, FAIL_IN=target.role,
               FAIL_SPARES="/libconfig.so")
    if wish:
        env["FAIL"] = wish
    process = subprocess.Popen([case.args.program, "--config", "prescient.cfg"] + target.argv,
                               cwd=case.folder, env=env, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               errors="surrogateescape", start_new_session=True)
    if target.stays:
        stop_when_over(case, process)
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise Wrong("it did not end within %d s: %s" % (LIMIT_S, err[-300:]))
    lines = open(told, encoding="utf-8").read().split("\n") if os.path.exists(told) else []
    calls = {}
    for line in lines:
        if " " in line:
            calls[line.split()[0]] = max(calls.get(line.split()[0], 0), int(line.split()[1]))
    return Ended(process.returncode, out.replace(case.folder, "FOLDER"), err, "fired" in lines, calls)


def start_over(case, target):
    case.store.restore(target.empty)
    open(case.journal, "w").close()


def judge(case, target, ended):
    must(ended.code >= 0, "killed by %s: %s", signal.Signals(-ended.code).name if ended.code < 0 else "",
         ended.err[-400:])
    must(ended.code in EXITS, "exit code %d: %s", ended.code, ended.err[-400:])
    must(ended.code == 0 or ended.err.strip() or ended.out.strip(), "exit code %d without a word", ended.code)
    case.store.look_whole()
    if target.empty and ended.code != 0:
        return                          # there need be no schema yet
    seen = Seen(case.store)
    if not target.empty and target.argv[0] != "resolve":
        look_at_checks(seen, case.journal)
    if target.look:
        target.look(seen)
    if target.promised and ended.code == 0:
        target.promised(seen, ended.out)


def try_one(case, target, wish, clean):
    start_over(case, target)
    ended = run(case, target, wish)
    judge(case, target, ended)
    must(not target.prints_same or ended.code != 0 or ended.out == clean.out,
         "exit code 0, and it printed something else: %s", ended.out[-300:])
    if ended.fired:
        if not target.empty:
            case.store.free_leases()
        after = run(case, target, None)
        must(after.code == clean.code, "without a fault afterwards: exit code %d: %s",
             after.code, after.err[-300:])
        judge(case, target, after)
    return ended


# ---- a sweep ----

def count_by_trying(case, target, what):
    """Workers may be ended by a signal, and then do not report how many calls they made: the last place
    that a failure still meets is searched."""
    def meets(n):
        start_over(case, target)
        return run(case, target, "%s:%d" % (what, n)).fired
    low, high = 0, 1
    while meets(high):
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if meets(middle) else (low, middle)
    return low


def places(args, total, name):
    """Some further than the last call of a run without a fault: a failure leads to paths that make more of
    them. In no order, because time may run out."""
    most = total + total // 10 + 3
    every = not args.sample or args.sample >= most
    return random.Random("%d %s" % (args.seed, name)).sample(range(1, (most if every else total) + 1),
                                                             most if every else min(args.sample, total))


def try_places(case, target, what, clean, mine, until):
    """(place, Ended or the words of what is wrong) of each that is begun in time."""
    out = []
    for n in mine:
        if until and time.monotonic() > until:
            break
        try:
            out.append((n, try_one(case, target, "%s:%d" % (what, n), clean)))
        except Wrong as why:
            out.append((n, str(why).replace("\n", " | ")))
    return out


def sweep(args, cases, name):
    target_name, what = name.split(":")
    target = TARGETS[target_name]
    try:
        start_over(cases[0], target)
        clean = run(cases[0], target, None)
        judge(cases[0], target, clean)
        must(clean.code == target.clean, "exit code %d: %s", clean.code, clean.err)
    except Wrong as why:
        print("not ok - %s without any fault: %s" % (target_name, why))
        return False
    total = clean.calls.get(what, 0) or (count_by_trying(cases[0], target, what) if target.role else 0)
    todo = places(args, total, name) if total else []
    until = time.monotonic() + args.within if args.within else None
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as threads:
        tries = [threads.submit(try_places, case, target, what, clean, todo[i::len(cases)], until) for i,
                 case in enumerate(cases)]
        found = sorted(result for t in tries for result in t.result())
    ended, wrong = [e for _, e in found if isinstance(e, Ended)], [(n, e) for n,
                                                                   e in found if not isinstance(e, Ended)]
    codes = collections.Counter(e.code for e in ended)
    late = ", %d left when the time was up" % (len(todo) - len(found)) if len(found) < len(todo) else ""
    print("%s - %s: the N-th of %d calls (%s) fails: %d runs%s, %d met it; %s" %
          ("not ok" if wrong else "ok", target_name, total, what, len(found), late,
           sum(e.fired for e in ended),
           ", ".join("%d with exit code %d" % (n, code) for code, n in sorted(codes.items()))))
    for n, why in wrong[:12]:
        print("#   %s:%d: %s" % (what, n, why))
    if len(wrong) > 12:
        print("#   and %d more" % (len(wrong) - 12))
    sys.stdout.flush()
    return not wrong


# ---- the world that runs start from ----

def prepare(args, folder):
    url = args.store or "sqlite:%s/store.db" % folder
    os.makedirs(folder)
    settings = ['plugin_dirs = (%s);' % ", ".join('"%s"' % d for d in args.jobs),
                'store = "%s"; workers = 1; workers_max = 1; page = 6; lease = "5s"; trust = "4s";' % url,
                'jobs = { witness = { plugin = "witness"; settings = { file = "%s/journal"; event = "ran"; '
                '}; }; };' % folder, 'log_level = "warn";']
    with open(os.path.join(folder, "prescient.cfg"), "w", encoding="utf-8") as f:
        f.write("\n".join(settings) + "\n")
    with open(os.path.join(folder, "lines.csv"), "w", encoding="utf-8") as f:
        f.write("entity_name,entity_key,job_exec,check_at,payload\n"
                + "".join('row,line%d,witness,+1h,"""done"""\n' % i for i in range(CSV_LINES)))
    store = Sqlite(url) if url.startswith("sqlite:") else Postgresql(url)
    subprocess.run([args.program, "--quiet", "--config", "prescient.cfg", "init"],
                   cwd=folder, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)
    store.keep()
    return Case(args, store, folder)


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    for name in "program", "preload", "folder":
        p.add_argument("--" + name, required=True)
    p.add_argument("--jobs", nargs="+", required=True)
    p.add_argument("--store")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--sample", type=int, default=0)
    p.add_argument("--within", type=int, default=0)
    p.add_argument("--at-once", type=int, default=1)
    p.add_argument("--summary", help="file that the number of runs goes to")
    p.add_argument("sweeps", nargs="+", metavar="TARGET:CLASS")
    args = p.parse_args()
    cases = [prepare(args, os.path.join(os.path.abspath(args.folder), str(i)))
             for i in range(1 if args.store else args.at_once)]
    good = [sweep(args, cases, name) for name in args.sweeps]
    if args.summary:
        with open(args.summary, "w", encoding="utf-8") as f:
            f.write("%d\n" % sum(case.runs for case in cases))
    return 0 if all(good) else 1


sys.exit(main())
