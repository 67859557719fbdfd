#!/usr/bin/env python3
"""check.py - the one checker of the campaign: do the enqueued checks, the runs of jobs, the contents
of the store and the faults fit together?

It reads the plan, the journal and the faults of a case (README.md describes their lines) and the
store, through sqlite3 or psql.

    check.py --case DIR --store URL [--summary FILE] [--epsilon-ms N] [--lease-ms N]
             [--late-before EPOCH] [--no-events] [--pending-ok KEY-PREFIX] [--changed KEY-PREFIX]
             [--declared KEY-PREFIX] [--batches]

A check that ran late while the machine itself stalled (stalls.py) is no violation; how many there
were is printed.

It prints what is wrong, one line each, and exits 1; check_selftest.py plants each kind of violation
and expects it to be found. Kinds:
    lost            an acknowledged check is neither archived nor pending
    invented        the store or the journal has a check that nobody enqueued
    pending_left    a check still waits
    lease_left      a lease was not released
    settled_twice   two settles took effect for one (check, slot), or a check was archived twice
    chain           counts of the run log and the history do not follow from each other
    no_run          an answer was settled that no job gave
    unsettled_run   a job ran, and neither was its answer settled nor the check run again
    wrong_outcome   what was settled is not the job's answer, and no fault explains it
    rerun           a check ran again with the same counts without a fault of its first engine
    zombie          an engine settled or started a check that another engine had taken over
    key_changed     two runs of the same check number carried different idempotency keys
    key_shared      two different checks, or check numbers, carried the same one
    early           a check ran before its slot
    late            a check ran later than it may, and no fault explains it
    torn            a failover that loses commits left a part of a transaction
    hole            a failover lost a transaction, and left a later one
    put_off         a check left its slot without a run, and no pass says why
    event           an event that an answer declared is missing or doubled, or belongs to no answer
"""
import argparse
import collections
import csv
import io
import os
import sqlite3
import subprocess
import sys

Run = collections.namedtuple("Run", "at boot pid engine row idem first slot checks failures deed")
Settle = collections.namedtuple("Settle", "row outcome checks failures slot next first runs ends engine")
Pending = collections.namedtuple("Pending", "row checks failures slot first")
Fault = collections.namedtuple("Fault", "begin end what whom")
Event = collections.namedtuple("Event", "row slot checks")
Pass = collections.namedtuple("Pass", "slot number left")

# A check waits for processes one after the other: engine, server, worker, engine. Each of them is
# woken as late as the one that measures it.
WAKES = 4

FAILURES = {"failed", "timeout", "crashed", "bad_answer"}
SILENT = {"timeout", "crashed", "bad_answer"}       # outcomes whose answer, and so its events, never came
NO_ANSWER = {"silence", "sleep"}                    # deeds without an answer
AGAIN = {"again", "past", "beyond_horizon", "max_checks"}
OCCURRENCE_ENDS = {"done", "skipped"}               # of a schedule: the check goes on as a new one
CRASH, HANG = {"crashed"}, {"timeout"}
OUTCOMES = {                                        # by the last deed of a run
    "done": {"done"}, "again": AGAIN, "again_at": AGAIN, "again_from_slot": AGAIN,
    "defer": {"deferred", "deferred_out"}, "defer_at": {"deferred", "deferred_out"}, "fail": {"failed"},
    "garbage": {"bad_answer"}, "bad_text": {"bad_answer", "failed"}, "silence": {"failed"},
    "sleep": {"failed"},
    "hang": HANG, "block": HANG, "crash": CRASH, "abort": CRASH, "exit": CRASH, "_exit": CRASH,
    "memory": CRASH,
}
US = 1000000


class StoreClock:
    """The clock that decides what is due, beside the machine's: where the scenario let it jump,
    moments of slots are not moments of the logs."""

    def __init__(self, jumps=()):
        # (from when on, by how much it is ahead), by the machine's clock
        self.spans = [(-(1 << 62), 0)] + sorted(jumps)
        self.jumped = bool(jumps)

    def beginnings(self, slot):
        """Each moment at which it got to this slot, by running or by jumping."""
        out = []
        for i, (begin, ahead) in enumerate(self.spans):
            end = self.spans[i + 1][0] if i + 1 < len(self.spans) else 1 << 62
            at = slot * US - ahead
            if at < end and (at >= begin or not i or begin + self.spans[i - 1][1] < slot * US):
                out.append(max(at, begin))
        return out

    def began(self, slot, since, until):
        """The last beginning up to a moment. None: between the two the clock never showed the slot, nor a
        later one."""
        shown = max(at + ahead for at, ahead in self.shown_between(since, until))
        return None if shown < slot * US else max(b for b in self.beginnings(slot) if b <= until)

    def shown_between(self, since, until):
        """Moments, with the lead, at which it showed the most of each span of its."""
        for i, (begin, ahead) in enumerate(self.spans):
            end = self.spans[i + 1][0] if i + 1 < len(self.spans) else 1 << 62
            if begin <= until and end > since:
                yield min(end - 1, until), ahead

    def first_began(self, slot):
        return min(self.beginnings(slot))


class World:
    """Everything that is compared."""

    def __init__(self):
        self.sent = {}                  # row -> batch
        self.sent_at = {}               # row -> moment
        self.acked = {}                 # batch -> moment
        self.clock = StoreClock()
        self.runs, self.settles, self.pending, self.faults, self.events, self.passes = [], [], [], [], [], []
        self.stalls = []                # (begin, end): nothing was woken (stalls.py)
        self.leases = 0


class Options:
    def __init__(self, epsilon_ms=4000, lease_ms=2000, late_before=0, no_events=False,
                 pending_ok=(), changed=(), batches=False, declared=()):
        self.epsilon, self.lease, self.late_before = epsilon_ms * 1000, lease_ms * 1000, late_before
        self.no_events, self.pending_ok, self.changed = no_events, tuple(pending_ok), tuple(changed)
        self.batches, self.declared = batches, tuple(declared)


# ---- reading ----

def lines(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as f:
        for line in f:
            if line.endswith("\n"):     # a kill may have cut the last one off
                yield line[:-1].split("\t")


def unescape(text):
    if "\\x" not in text:
        return text
    parts = text.split("\\x")
    return parts[0] + "".join(chr(int(p[:2], 16)) + p[2:] for p in parts[1:])


def read_journal(path):
    for f in lines(path):
        if len(f) == 13:
            yield Run(int(f[0]), int(f[1]), int(f[2]), int(f[3]),
                      (unescape(f[4]), unescape(f[5]), unescape(f[6])), f[7], int(f[8]),
                      int(f[9]), int(f[10]),
                      int(f[11]), f[12])


def read_plan(path, world):
    for f in lines(path):
        if f[0] == "sent" and len(f) == 8:
            world.sent[(f[3], f[4], f[5])] = f[2]
            world.sent_at[(f[3], f[4], f[5])] = int(f[1])
        elif f[0] == "acked" and len(f) == 3:
            world.acked[f[2]] = int(f[1])


def read_faults(path):
    open_ones, out = {}, []
    for f in lines(path):
        at, how, what, whom = int(f[0]), f[1], f[2], f[3]
        if how == "at":
            out.append(Fault(at, at, what, whom))
        elif how == "begin":
            open_ones[(what, whom)] = at
        elif how == "end":
            out.append(Fault(open_ones.pop((what, whom), at), at, what, whom))
        elif how == "clock" and what == "store":
            out.append(Fault(at, at, "clock", "store"))
    return out + [Fault(at, 1 << 62, what, whom) for (what, whom), at in open_ones.items()]


def read_clock(path):
    return StoreClock([(int(f[0]), int(f[3])) for f in lines(path) if f[1:3] == ["clock", "store"]])


# Columns are the same in both stores but for how a moment is written.
QUERIES = {
    "history": "SELECT entity_name, entity_key, job_exec, outcome, check_count, failure_count, {slot_at}, "
               "0, {first_check_at}, run_count, engine FROM {T}future_job_history",
    "run": "SELECT entity_name, entity_key, job_exec, outcome, check_count, failure_count, {slot_at}, "
           "{next_check_at}, 0, 0, engine FROM {T}future_job_run",
    "pending": "SELECT entity_name, entity_key, job_exec, check_count, failure_count, {next_check_at}, "
               "{first_check_at} FROM {T}future_job",
    "event": "SELECT entity_name, entity_key, job_exec, {slot_at}, check_count FROM {T}event WHERE slot_at "
             "IS NOT NULL",
    "pass": "SELECT {slot_at}, pass, coalesce(held_back, 0) + coalesce(unknown_job, 0) + coalesce(busy, "
            "0) + coalesce(locked, 0) FROM {T}slot_pass",
    "lease": "SELECT count(*) FROM {T}slot_lease",
}
MOMENTS = ["slot_at", "next_check_at", "first_check_at"]


def ask_sqlite(url, queries):
    db = sqlite3.connect("file:%s?mode=ro" % url[len("sqlite:"):], uri=True, timeout=20)
    db.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    names = dict({m: m for m in MOMENTS}, T="prescient_")
    return lambda query: db.execute(queries[query].format(**names))


def ask_postgresql(url, queries):
    names = dict({m: "extract(epoch FROM %s)::bigint" % m for m in MOMENTS}, T="prescient.")

    def ask(query):
        sql = "COPY (%s) TO STDOUT WITH (FORMAT csv)" % queries[query].format(**names)
        out = subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", url, "-c", sql],
                             stdout=subprocess.PIPE, check=True,
                             env={**os.environ, "PGCLIENTENCODING": "UTF8", "PGCONNECT_TIMEOUT": "10"})
        return csv.reader(io.StringIO(out.stdout.decode("utf-8", "surrogateescape"), newline=""))
    return ask


def ask_store(url, queries=QUERIES):
    """A function from the name of a query to its rows."""
    return (ask_sqlite if url.startswith("sqlite:") else ask_postgresql)(url, queries)


def pid_of(engine):
    """The engine is called NAME/PID in the store; nobody, where an application ended the check."""
    return int(engine.rsplit("/", 1)[1]) if engine else 0


def read_store(url, world):
    ask = ask_store(url)
    for query, ends in (("run", False), ("history", True)):
        for r in ask(query):
            world.settles.append(Settle(tuple(r[0:3]), r[3], int(r[4]), int(r[5]), int(r[6]),
                                        int(r[7]), int(r[8]), int(r[9]), ends, pid_of(r[10])))
    world.pending = [Pending(tuple(r[0:3]), int(r[3]), int(r[4]), int(r[5]), int(r[6]))
                     for r in ask("pending")]
    world.events = [Event(tuple(r[0:3]), int(r[3]), int(r[4])) for r in ask("event")]
    world.passes = [Pass(int(r[0]), int(r[1]), int(r[2])) for r in ask("pass")]
    world.leases = int(next(iter(ask("lease")))[0])


def read_stalls(path):
    if not os.path.exists(path):        # nobody measured
        return []
    return [tuple(int(word) for word in row[0].split()) for row in lines(path)]


def read_case(folder, url):
    world = World()
    read_plan(os.path.join(folder, "plan"), world)
    world.runs = list(read_journal(os.path.join(folder, "journal")))
    world.faults = read_faults(os.path.join(folder, "faults"))
    world.clock = read_clock(os.path.join(folder, "faults"))
    world.stalls = read_stalls(os.path.join(folder, "stalls"))
    read_store(url, world)
    return world


# ---- comparing ----

def name(row):
    return "%s/%s (%s)" % row


def last_word(deed):
    return deed.split(",")[-1].split()[0]


class Check:
    def __init__(self, world, options):
        self.w, self.o = world, options
        self.found = []                 # (kind, words)
        self.longest, self.again, self.late_by_stall = 0, 0, 0
        self.gone = set()               # batches that a failover lost
        self.by_row = collections.defaultdict(lambda: ([], [], []))
        for r in world.runs:
            self.by_row[r.row][0].append(r)
        for s in world.settles:
            self.by_row[s.row][1].append(s)
        for p in world.pending:
            self.by_row[p.row][2].append(p)
        self.store_faults = [f for f in world.faults if f.whom == "store"]
        self.engine_faults = collections.defaultdict(list)
        for f in world.faults:
            self.engine_faults[f.whom].append(f)
        self.worker_faults = [f for f in world.faults if f.whom.startswith("worker:")]
        self.left = {p.slot for p in world.passes if p.number > 0 and p.left > 0}
        self.late_faults = sorted(world.faults)
        # by worker: when a job of it died or hung of its own will
        self.deaths = collections.defaultdict(list)
        for r in world.runs if options.batches else ():
            if OUTCOMES.get(last_word(r.deed)) in (CRASH, HANG):
                self.deaths[r.pid].append(r.at)

    def say(self, kind, words, *args):
        self.found.append((kind, words % args))

    def all(self):
        self.lost_with_a_primary()
        self.rows_that_should_be()
        self.keys()
        for row, (runs, settles, pending) in self.by_row.items():
            if row[1].startswith(self.o.changed):
                self.changed_row(row, runs, settles)
                continue
            entries = self.chain(row, settles, pending)
            self.answers(row, runs, entries)
            self.repeats(row, runs, entries, pending)
        self.delays()
        if not self.o.no_events:
            self.declared()
        if self.w.leases:
            self.say("lease_left", "%d leases are left", self.w.leases)
        return self.found

    def rows_that_should_be(self):
        deleted = {f.whom[len("row:"):] for f in self.w.faults if f.what == "delete"}
        for row, batch in self.w.sent.items():
            kept = batch in self.w.acked and batch not in self.gone and row[1] not in deleted
            if kept and not self.is_there(row):
                self.say("lost", "%s was acknowledged and is neither archived nor pending", name(row))
        for row, (runs, settles, pending) in self.by_row.items():
            if row not in self.w.sent:
                self.say("invented", "%s: %d runs, %d settles, %d pending, and nobody enqueued it",
                         name(row), len(runs), len(settles), len(pending))
            for p in pending:
                if not row[1].startswith(self.o.pending_ok):
                    self.say("pending_left", "%s still waits in slot %d", name(row), p.slot)

    def is_there(self, row):
        here = self.by_row.get(row)
        return bool(here and (here[1] or here[2]))

    # What a failover lost with the old primary. The survivor has a prefix of its commits: a batch
    # is there or not as a whole, what was acknowledged before the first loss is there, and nothing
    # is missing that was acknowledged before something was sent that is there.
    def lost_with_a_primary(self):
        batches = collections.defaultdict(list)
        for row, batch in self.w.sent.items():
            batches[batch].append(row)
        for f in self.store_faults:
            if f.what != "loss":
                continue
            inside = {b: rows for b, rows in batches.items() if f.begin <= self.w.acked.get(b, -1) <= f.end}
            there = {b: sum(map(self.is_there, rows)) for b, rows in inside.items()}
            newest = max((self.w.sent_at[rows[0]] for b, rows in inside.items() if there[b]), default=0)
            for b, rows in inside.items():
                if 0 < there[b] < len(rows):
                    self.say("torn", "batch %s: of its %d checks a failover left %d", b, len(rows), there[b])
                elif not there[b] and self.w.acked[b] < newest:
                    self.say("hole", "batch %s was lost in a failover, and a later one was not", b)
                elif not there[b]:
                    self.gone.add(b)
            self.gone |= {b for b, rows in batches.items() if self.went_unacknowledged(b, rows, f)}

    # A line that dies during a COMMIT leaves its client without an answer. The old primary had the
    # batch, and engines ran it there, up to the moment when the primary was lost.
    def went_unacknowledged(self, batch, rows, loss):
        if batch in self.w.acked or self.w.sent_at[rows[0]] > loss.end or any(map(self.is_there, rows)):
            return False
        ran = [r.at for row in rows if row in self.by_row for r in self.by_row[row][0]]
        return bool(ran) and loss.begin <= max(ran) <= loss.end + self.o.lease

    # What came of each row, in the order of slots: (entry, check_count before, failure_count
    # before).
    def chain(self, row, settles, pending):
        settles = sorted(settles, key=lambda s: (s.ends, self.ran_at(row, s), s.slot)
                         if self.w.clock.jumped else (s.slot, s.ends))
        out, checks, failures, runs, before, ended, slots = [], 0, 0, 0, None, 0, set()
        for s in settles:
            if s.slot in slots:
                self.say("settled_twice", "%s: %s and %s both in slot %d", name(row),
                         before.outcome, s.outcome, s.slot)
                continue
            slots.add(s.slot)
            out.append((s, checks, failures))
            expected = (checks, failures)
            if s.outcome == "again":
                expected = (checks + 1, 0)
            elif s.outcome in FAILURES:
                expected = (checks, failures + 1)
            if (s.checks, s.failures) != expected:
                self.say("chain", "%s: slot %d: %s leaves counts %d, %d, expected %d, %d",
                         name(row), s.slot, s.outcome, s.checks, s.failures, *expected)
            self.left_its_slot(row, before.next if before and not before.ends else s.first if s.ends
                               and not runs else None, s)
            runs += 1
            checks, failures = s.checks, s.failures
            if s.ends:
                ended += 1
                if s.runs != runs - (s.outcome == "resolved"):
                    self.say("chain", "%s: history counts %d runs, the run log has %d before",
                             name(row), s.runs, runs - 1)
                checks = failures = runs = 0
            elif s.outcome in OCCURRENCE_ENDS:
                checks = failures = runs = 0
            before = s
        if ended > 1:
            self.say("settled_twice", "%s: archived %d times, enqueued once", name(row), ended)
        if ended and pending:
            self.say("settled_twice", "%s: archived, and still pending", name(row))
        for p in pending:
            if (p.checks, p.failures) != (checks, failures):
                self.say("chain", "%s: pending with counts %d, %d, the run log leaves %d, %d",
                         name(row), p.checks, p.failures, checks, failures)
        return out

    # After a jump of the store's clock slots do not say what came first.
    def ran_at(self, row, s):
        return min((r.at for r in self.by_row[row][0] if r.slot == s.slot),
                   default=self.w.clock.first_began(s.slot))

    def left_its_slot(self, row, filed, s):
        if filed is None or filed >= s.slot or filed in self.left:
            return
        if self.disturbed(self.w.clock.first_began(filed), self.w.clock.first_began(s.slot)):
            return                      # the pass that put it off may have died before it could say so
        self.say("put_off", "%s: filed under %d, settled in %d, and no pass of %d says that it left anything",
                 name(row), filed, s.slot, filed)

    # Rows that the scenario itself changed under the run: what they go through is its to say, but a
    # slot is still settled once. (An enqueue that was under way while the check before it ended
    # makes another one, in the same slot, under a key of its own.)
    def changed_row(self, row, runs, settles):
        lives, seen = collections.defaultdict(set), collections.Counter()
        for r in runs:
            lives[r.slot].add(r.idem)
        for s in settles:
            state = (s.slot, s.checks, s.failures, s.ends, s.first)
            seen[state] += s.outcome != "resolved"
            if seen[state] > max(1, len(lives[s.slot])):
                self.say("settled_twice", "%s: %s twice in slot %d", name(row), s.outcome, s.slot)

    def disturbed(self, begin, end):
        return any(f.begin <= end and f.end + self.o.lease >= begin for f in self.w.faults)

    def worker_hit(self, runs, slot):
        began = self.w.clock.first_began(slot)
        begin = min((r.at for r in runs), default=began)
        return any(f.begin >= begin - self.o.epsilon and f.begin >= began for f in self.worker_faults)

    def answers(self, row, runs, entries):
        of_state = collections.defaultdict(list)
        for r in runs:
            of_state[(r.slot, r.checks, r.failures)].append(r)
        for s, checks, failures in entries:
            if s.outcome == "resolved":
                continue
            mine = of_state.get((s.slot, checks, failures), [])
            if mine:
                self.fenced(row, s, mine)
            by_fault = s.outcome in ("crashed", "timeout") and self.worker_hit(mine, s.slot)
            if not mine and not by_fault:
                self.say("no_run", "%s: slot %d: %s was settled for counts %d, %d, and no job ran that",
                         name(row), s.slot, s.outcome, checks, failures)
            elif mine and not by_fault:
                said = {last_word(r.deed) for r in mine}
                if not any(s.outcome in OUTCOMES.get(d, {s.outcome}) for d in said):
                    self.say("wrong_outcome", "%s: slot %d: settled as %s, the job did '%s'",
                             name(row), s.slot, s.outcome, mine[-1].deed)

    # Whoever takes a lease over runs what it finds, so the last to start a check is the one whose
    # answer counts, and nobody before it starts anything any more.
    def fenced(self, row, s, runs):
        order = [r for r in sorted(runs) if not self.was_asleep(r)]
        if order and s.engine not in (order[-1].engine, max(runs).engine):
            self.say("zombie", "%s: slot %d: settled by engine %d, last run by engine %d",
                     name(row), s.slot, s.engine, order[-1].engine)
        seen = set()
        for before, r in zip(order, order[1:]):
            seen.add(before.engine)
            # else it may have taken it back
            if r.engine != before.engine and r.engine in seen and not self.excused(before, r):
                self.say("zombie", "%s: slot %d: engine %d ran it at %d, after engine %d had taken it over",
                         name(row), s.slot, r.engine, r.at, before.engine)

    # A worker that is stopped between taking a check and writing the line writes it when it is
    # woken: the line may be older than it says, or not.
    def was_asleep(self, r):
        return any(f.begin < f.end and f.begin <= r.at and f.end + US >= r.at
                   for f in self.engine_faults.get("worker:%d" % r.pid, ()))

    def repeats(self, row, runs, entries, pending):
        settled = {(s.slot, checks, failures) for s, checks, failures in entries}
        groups = collections.defaultdict(list)
        for r in runs:
            groups[(r.idem, r.checks, r.failures)].append(r)
        for group in groups.values():
            group.sort()
            for i, r in enumerate(group):
                following = group[i + 1] if i + 1 < len(group) else None
                state = (r.slot, r.checks, r.failures)
                if state in settled and not (following and following.slot == r.slot):
                    continue            # the run whose answer counts
                if not following:
                    if self.w.sent.get(row) in self.gone and not entries and not pending:
                        continue        # with the check itself
                    if self.went_back(r, runs):
                        continue
                    if not any((p.checks, p.failures) == (r.checks, r.failures) for p in pending):
                        self.say("unsettled_run",
                                 "%s: ran in slot %d with counts %d, %d (engine %d), which was never settled",
                                 name(row), *state, r.engine)
                    continue
                self.again += 1
                if not self.excused(r, following):
                    self.say("rerun", "%s: slot %d: ran on engine %d at %d, and again on engine %d %d ms "
                                      "later", name(row), r.slot, r.engine, r.at,
                             following.engine, (following.at - r.at) // 1000)

    # A failover lost the settle before this run, and so the counts that it began with: the check
    # went on from those before them.
    def went_back(self, r, runs):
        again = any(x.at > r.at and (x.checks, x.failures) < (r.checks, r.failures) for x in runs)
        return again and any(f.what == "loss" and f.begin <= r.at <= f.end + self.o.lease
                             for f in self.store_faults)

    def excused(self, r, following):
        if any(r.at <= at <= following.at for at in self.deaths.get(r.pid, ())):
            return True                 # of a batch that died the checks without an answer run one by one
        hits = self.store_faults + self.engine_faults.get("engine:%d" % r.engine,
                                                          []) + self.engine_faults.get("row:%s" % r.row[1],
                                                                                       [])
        return any(f.begin <= following.at and f.end + self.o.lease >= r.at for f in hits)

    def keys(self):
        numbers, owners = {}, {}
        for r in self.w.runs:
            # What a lost answer declared, or began anew, is so again at another time, and is the
            # same check.
            number = (r.row, not r.row[1].startswith(self.o.declared) and r.first, r.checks)
            if numbers.setdefault(number, r.idem) != r.idem and not r.row[1].startswith(self.o.changed):
                self.say("key_changed", "%s: check number %d ran with keys %s and %s",
                         name(r.row), r.checks, numbers[number], r.idem)
            if owners.setdefault(r.idem, number) != number:
                self.say("key_shared", "%s number %d and %s number %d share the key %s",
                         name(r.row), r.checks, name(owners[r.idem][0]), owners[r.idem][2], r.idem)

    def delays(self):
        # filed: when the check got to where it is, as far as is known
        first, filed = {}, dict(self.w.sent_at)
        for r in sorted(self.w.runs):
            target = (r.row, r.slot)
            if target not in first:
                began = self.w.clock.began(r.slot, filed.get(r.row, r.at) if self.w.clock.jumped else r.at,
                                           r.at)
                if began is None:
                    self.say("early", "%s: slot %d: ran %d ms before it", name(r.row),
                             r.slot, (self.w.clock.first_began(r.slot) - r.at) // 1000)
                else:
                    first[target] = (began, r.at)
            filed[r.row] = r.at
        for (row, slot), (began, at) in first.items():
            if slot >= self.o.late_before:
                self.delay(row, slot, began, at)

    # A fault moves the limit: from its end on a dead engine's lease may last, one that lost its
    # store looks for it again, and a sweep has to come by.
    def delay(self, row, slot, began, at):
        late = at - began
        self.longest = max(self.longest, late)
        if late <= self.o.epsilon:
            return
        if late - WAKES * self.stalled(began, at) <= self.o.epsilon:
            self.late_by_stall += 1
            return
        ends = [min(f.end, at) for f in self.late_faults if f.begin <= at]
        if not ends:
            self.say("late", "%s: slot %d: ran %d ms after it, and no fault came before",
                     name(row), slot, late // 1000)
        elif at - max(ends) > self.o.epsilon + self.o.lease * 2:
            self.say("late", "%s: slot %d: ran %d ms after it, %d ms after the last fault",
                     name(row), slot, late // 1000, (at - max(ends)) // 1000)

    def stalled(self, begin, end):
        return sum(max(0, min(end, e) - max(begin, b)) for b, e in self.w.stalls)

    def declared(self):
        written = collections.Counter(self.w.events)
        unanswered = {(r.row, r.slot) for r in self.w.runs if last_word(r.deed) in NO_ANSWER}
        for row, (runs, settles, _) in self.by_row.items():
            if row[1].startswith(self.o.changed):
                continue
            for s in settles:
                if s.outcome == "resolved":
                    continue
                event = Event(row, s.slot, s.checks - (s.outcome == "again"))
                n = written.pop(event, 0)
                if n > 1 or (n == 0 and s.outcome not in SILENT and (row, s.slot) not in unanswered):
                    self.say("event", "%s: slot %d: %s has %d events, expected one",
                             name(row), s.slot, s.outcome, n)
        for event, n in written.items():
            if not event.row[1].startswith(self.o.changed):
                self.say("event", "%s: slot %d: %d events of a run that was not settled",
                         name(event.row), event.slot, n)


def check(world, options):
    c = Check(world, options)
    found = c.all()
    if c.late_by_stall:
        print("%d checks were late while the machine stalled" % c.late_by_stall)
    return found, (len(world.runs), c.again, c.longest // 1000)


def report(found, most=12):
    kinds = collections.Counter(kind for kind, _ in found)
    shown = collections.Counter()
    for kind, words in found:
        shown[kind] += 1
        if shown[kind] <= most:
            print("%s: %s" % (kind, words))
    for kind, n in kinds.items():
        if n > most:
            print("%s: and %d more" % (kind, n - most))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--case", required=True)
    p.add_argument("--store", required=True)
    p.add_argument("--summary")
    p.add_argument("--epsilon-ms", type=int, default=4000)
    p.add_argument("--lease-ms", type=int, default=2000)
    p.add_argument("--late-before", type=int, default=0,
                   help="checks of slots before this moment are late by intention")
    p.add_argument("--no-events", action="store_true", help="the jobs of this case emit none")
    p.add_argument("--pending-ok", action="append", default=[], help="keys with this prefix may still wait")
    p.add_argument("--batches", action="store_true",
                   help="jobs answer in batches, so that one that dies lets others run again")
    p.add_argument("--changed", action="append", default=[],
                   help="keys with this prefix were changed under the run")
    p.add_argument("--declared", action="append", default=[],
                   help="keys with this prefix are declared by answers, or begin anew: their first slot may "
                        "change")
    a = p.parse_args()
    options = Options(a.epsilon_ms, a.lease_ms, a.late_before, a.no_events, a.pending_ok,
                      a.changed, a.batches, a.declared)
    found, summary = check(read_case(a.case, a.store), options)
    if a.summary:
        with open(a.summary, "w") as f:
            print(*summary, file=f)
    report(found)
    print("%d runs, %d of them again, longest delay %d ms, %d violations" % (*summary, len(found)))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
