#!/usr/bin/env python3
"""check_selftest.py - can the checker fail?

A synthetic world in which all is well must pass. Then each kind of violation is planted in it, one at
a time, and must be found under its name. What a fault explains must not be reported."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True
import check
from check import Event, Fault, Options, Pass, Pending, Run, Settle, StoreClock, World

SLOT = 1700000000
US = 1000000
ENGINE = 4711


def row(n):
    return ("row", "k%d" % n, "witness")


def run(n, slot, checks, failures, deed, at_ms=100, idem=None, engine=ENGINE):
    at = slot * US + at_ms * 1000
    return Run(at, at, 5000, engine, row(n), idem or "%032x" % (n * 100 + checks), SLOT,
               slot, checks, failures, deed)


# k0: done. k1: again, then done. k2: fails, then done. k3: deferred, then done. k4: crashes, and is
# over.
def good_world():
    w = World()
    w.sent = {row(n): "b%d" % (n // 3) for n in range(5)}
    w.sent_at = {row(n): (SLOT - 6) * US for n in range(5)}
    w.acked = {"b0": (SLOT - 5) * US, "b1": (SLOT - 5) * US}
    w.runs = [run(0, SLOT, 0, 0, "done"),
              run(1, SLOT, 0, 0, "sleep 5, again 2"), run(1, SLOT + 2, 1, 0, "done"),
              run(2, SLOT, 0, 0, "fail"), run(2, SLOT + 1, 0, 1, "done"),
              run(3, SLOT, 0, 0, "defer 3"), run(3, SLOT + 3, 0, 0, "done"),
              run(4, SLOT, 0, 0, "crash")]
    w.settles = [Settle(row(0), "done", 0, 0, SLOT, 0, SLOT, 1, True, ENGINE),
                 Settle(row(1), "again", 1, 0, SLOT, SLOT + 2, 0, 0, False, ENGINE),
                 Settle(row(1), "done", 1, 0, SLOT + 2, 0, SLOT, 2, True, ENGINE),
                 Settle(row(2), "failed", 0, 1, SLOT, SLOT + 1, 0, 0, False, ENGINE),
                 Settle(row(2), "done", 0, 1, SLOT + 1, 0, SLOT, 2, True, ENGINE),
                 Settle(row(3), "deferred", 0, 0, SLOT, SLOT + 3, 0, 0, False, ENGINE),
                 Settle(row(3), "done", 0, 0, SLOT + 3, 0, SLOT, 2, True, ENGINE),
                 Settle(row(4), "crashed", 0, 1, SLOT, 0, SLOT, 1, True, ENGINE)]
    w.events = [Event(row(0), SLOT, 0), Event(row(1), SLOT, 0), Event(row(1), SLOT + 2, 1),
                Event(row(2), SLOT, 0), Event(row(2), SLOT + 1, 0),
                Event(row(3), SLOT, 0), Event(row(3), SLOT + 3, 0)]
    return w


# ---- what is planted ----

def lose_a_check(w):
    w.settles = [s for s in w.settles if s.row != row(0)]
    w.runs = [r for r in w.runs if r.row != row(0)]
    w.events = [e for e in w.events if e.row != row(0)]


def invent_a_check(w):
    del w.sent[row(0)]


def leave_one_pending(w):
    w.settles = w.settles[:-1]
    w.runs = w.runs[:-1]
    w.pending = [Pending(row(4), 0, 0, SLOT, SLOT)]


def leave_a_lease(w):
    w.leases = 1


def settle_a_slot_twice(w):
    w.settles.append(w.settles[1]._replace(outcome="deferred", checks=0))


# Of a row that the scenario changes: one check ends, another of the same name ends in the same
# slot, with or without a run under a key of its own.
def two_lives_in_a_slot(w):
    w.settles.append(w.settles[0])
    w.runs.append(run(0, SLOT, 0, 0, "done", at_ms=300, idem="f" * 32))


# A schedule's check: two occurrences are done, and begin it anew; then it is resolved.
def recurs(w, runs_of_the_last_life=0):
    second = run(0, SLOT + 2, 0, 0, "done", idem="e" * 32)._replace(first=SLOT + 2)
    w.runs.append(second)
    w.events.append(Event(row(0), SLOT + 2, 0))
    w.settles = [s for s in w.settles if s.row != row(0)] + [
        Settle(row(0), "done", 0, 0, SLOT, SLOT + 2, 0, 0, False, ENGINE),
        Settle(row(0), "done", 0, 0, SLOT + 2, SLOT + 4, 0, 0, False, ENGINE),
        Settle(row(0), "resolved", 0, 0, SLOT + 4, 0, SLOT + 4, runs_of_the_last_life, True, 0)]


def count_runs_of_the_occurrence_before(w):
    recurs(w, runs_of_the_last_life=2)


def run_an_occurrence_twice(w):
    recurs(w)
    w.runs.append(w.runs[-1]._replace(at=w.runs[-1].at + 500000))


def settle_a_changed_row_twice(w):
    w.settles.append(w.settles[0])


def archive_twice(w):
    w.settles.append(w.settles[0]._replace(slot=SLOT + 9))
    w.runs.append(run(0, SLOT + 9, 0, 0, "done"))


def fail_over_without(w, *lost, begin=SLOT - 7):
    w.settles = [s for s in w.settles if s.row not in lost]
    w.events = [e for e in w.events if e.row not in lost]
    w.faults = [Fault(begin * US, (SLOT + 9) * US, "loss", "store")]


# Its client got no answer to the COMMIT, engines ran it, and the primary was lost.
def lose_an_unacknowledged_batch(w, loss_at_ms=50):
    for n in (3, 4):
        w.runs = [r for r in w.runs if r.row != row(n)] + [run(n, SLOT, 0, 0, "done")]
    del w.acked["b1"]
    fail_over_without(w, row(3), row(4))
    begin = SLOT * US + loss_at_ms * 1000
    w.faults = [Fault(begin, begin + 500000, "loss", "store")]


def run_an_unacknowledged_batch_before_the_loss(w):
    lose_an_unacknowledged_batch(w, loss_at_ms=60000)


def run_an_unacknowledged_batch_after_the_loss(w):
    lose_an_unacknowledged_batch(w, loss_at_ms=-60000)


def lose_a_part_of_a_batch(w):
    fail_over_without(w, row(4))


def lose_a_batch_before_another(w):
    fail_over_without(w, row(0), row(1), row(2))
    w.acked["b0"] = (SLOT - 7) * US + 1


def lose_what_was_acknowledged_before(w):
    fail_over_without(w, row(3), row(4), begin=SLOT - 4)


def never_run_a_lost_settle_again(w):
    fail_over_without(w, row(4))
    w.settles.append(Settle(row(4), "resolved", 0, 0, SLOT + 2, 0, SLOT, 0, True, 0))


def archive_and_keep(w):
    w.pending = [Pending(row(0), 0, 0, SLOT + 9, SLOT)]


def count_an_again_twice(w):
    w.settles[1] = w.settles[1]._replace(checks=2)


def forget_a_run_row(w):
    del w.settles[3]


def miscount_runs(w):
    w.settles[2] = w.settles[2]._replace(runs=3)


def settle_without_a_run(w):
    del w.runs[0]


def settle_something_else(w):
    w.settles[0] = w.settles[0]._replace(outcome="past")


def run_without_a_settle(w):
    w.runs.append(run(0, SLOT + 7, 0, 0, "done"))


def run_twice(w):
    w.runs.append(run(0, SLOT, 0, 0, "done", at_ms=900))


def run_twice_beside_another_engines_fault(w):
    run_twice(w)
    w.faults = [Fault(SLOT * US + 500000, SLOT * US + 500000, "KILL", "engine:4712")]


def run_twice_long_after_the_fault(w):
    w.runs.append(run(0, SLOT, 0, 0, "done", at_ms=900))
    w.faults = [Fault((SLOT - 60) * US, (SLOT - 50) * US, "STOP", "engine:%d" % ENGINE)]


def run_twice_before_the_fault(w):
    run_twice(w)
    w.faults = [Fault((SLOT + 2) * US, (SLOT + 2) * US, "KILL", "engine:%d" % ENGINE)]


# The first engine is stopped, the second one runs the check; then the first one's answer is written
# down.
def settle_after_a_takeover(w):
    w.runs.append(run(0, SLOT, 0, 0, "done", at_ms=3000, engine=ENGINE + 1))
    w.faults = [Fault(SLOT * US + 200000, SLOT * US + 3100000, "STOP", "engine:%d" % ENGINE)]


# The first one wakes up and starts the check once more.
def start_after_a_takeover(w):
    settle_after_a_takeover(w)
    w.runs.append(run(0, SLOT, 0, 0, "done", at_ms=3200))


def change_the_key(w):
    w.runs[4] = w.runs[4]._replace(idem="f" * 32)


def run_twice_beside_a_job_that_died_alone(w):
    run_twice(w)
    w.runs[7] = w.runs[7]._replace(at=SLOT * US + 200000)


def share_a_key(w):
    w.runs[2] = w.runs[2]._replace(idem=w.runs[1].idem)


def share_a_key_between_rows(w):
    w.runs[0] = w.runs[0]._replace(idem=w.runs[7].idem)


# The first slot of what is declared says nothing; the check number does.
def share_a_key_among_declared(w):
    share_a_key(w)


def change_the_key_of_one_declared_again(w):
    declared_again_later(w)
    w.runs[-1] = w.runs[-1]._replace(idem="f" * 32)


def run_early(w):
    w.runs[0] = run(0, SLOT, 0, 0, "done", at_ms=-1)


def run_late(w):
    w.runs[0] = run(0, SLOT, 0, 0, "done", at_ms=6000)


def run_late_long_after_a_fault(w):
    w.runs[0] = run(0, SLOT, 0, 0, "done", at_ms=20000)
    w.faults = [Fault(SLOT * US, SLOT * US + 1, "KILL", "engine:%d" % ENGINE)]


def run_later_than_the_machine_stalled(w):
    w.runs[0] = run(0, SLOT, 0, 0, "done", at_ms=6000)
    w.stalls = [((SLOT - 9) * US, SLOT * US), (SLOT * US + 100000, SLOT * US + 500000)]


def put_off_in_silence(w):
    w.settles[1] = w.settles[1]._replace(next=SLOT + 1)


def put_off_the_first_slot_in_silence(w):
    w.settles[0] = w.settles[0]._replace(first=SLOT - 1)


def lose_an_event(w):
    del w.events[0]


def double_an_event(w):
    w.events.append(w.events[0])


def invent_an_event(w):
    w.events.append(Event(row(4), SLOT + 1, 0))


# ---- the store's clock ----

HOUR, DAY = 3600, 86400
SLOT_BACK = 0.5                     # when it jumps back: after the first runs


def jump(w, *jumps):
    """(seconds after SLOT by the machine's clock, seconds that the store's is ahead from then on)"""
    jumps = [(int((SLOT + at) * US), ahead * US) for at, ahead in jumps]
    w.clock = StoreClock(jumps)
    w.faults += [Fault(at, at, "clock", "store") for at, _ in jumps]


# All of the world happens while the store's clock is an hour ahead: nothing has changed but the
# moments of the machine.
def an_hour_ahead(w):
    jump(w, (-DAY, HOUR))
    w.faults = []
    w.runs = [r._replace(at=r.at - HOUR * US) for r in w.runs]
    w.sent_at = {r: at - HOUR * US for r, at in w.sent_at.items()}


def run_early_by_the_stores_clock(w):
    jump(w, (-3, -HOUR))


def run_late_by_the_stores_clock(w):
    an_hour_ahead(w)
    w.runs[0] = w.runs[0]._replace(at=w.runs[0].at + 6 * US)


# It was ahead for a while; a check that is enqueued afterwards is not due because of that.
def run_early_after_a_jump_and_back(w):
    jump(w, (-20, HOUR), (-10, 0))
    w.runs[0] = run(0, SLOT, 0, 0, "done", at_ms=-1000)


def run_late_after_a_jump(w):
    jump(w, (-20, -DAY), (1, 0))
    w.runs = [r._replace(at=r.at + 40 * US) for r in w.runs]


def settle_a_slot_again_after_a_jump_back(w):
    jump(w, (SLOT_BACK, -HOUR))
    w.runs[2] = run(1, SLOT, 1, 0, "done", at_ms=HOUR * 1000 + 100)
    w.settles[2] = w.settles[2]._replace(slot=SLOT)


PLANTED = [("settled_twice", settle_a_changed_row_twice), ("chain", count_runs_of_the_occurrence_before),
           ("rerun", run_an_occurrence_twice), ("lost", lose_a_check),
           ("invented", invent_a_check), ("pending_left", leave_one_pending), ("lease_left", leave_a_lease),
           ("settled_twice", settle_a_slot_twice), ("settled_twice", archive_twice),
           ("settled_twice", archive_and_keep), ("chain", count_an_again_twice),
           ("chain", forget_a_run_row), ("chain", miscount_runs), ("no_run", settle_without_a_run),
           ("wrong_outcome", settle_something_else),
           ("unsettled_run", run_without_a_settle), ("rerun", run_twice),
           ("rerun", run_twice_beside_another_engines_fault),
           ("rerun", run_twice_long_after_the_fault), ("rerun", run_twice_before_the_fault),
           ("rerun", run_twice_beside_a_job_that_died_alone), ("zombie", settle_after_a_takeover),
           ("zombie", start_after_a_takeover), ("key_changed", change_the_key), ("key_shared", share_a_key),
           ("key_shared", share_a_key_between_rows), ("key_shared", share_a_key_among_declared),
           ("key_changed", change_the_key_of_one_declared_again), ("early", run_early),
           ("late", run_late), ("late", run_late_long_after_a_fault),
           ("late", run_later_than_the_machine_stalled),
           ("put_off", put_off_in_silence), ("put_off", put_off_the_first_slot_in_silence),
           ("event", lose_an_event), ("event", double_an_event),
           ("event", invent_an_event), ("early", run_early_by_the_stores_clock),
           ("late", run_late_by_the_stores_clock),
           ("early", run_early_after_a_jump_and_back), ("late", run_late_after_a_jump),
           ("settled_twice", settle_a_slot_again_after_a_jump_back),
           ("torn", lose_a_part_of_a_batch), ("hole", lose_a_batch_before_another),
           ("lost", lose_what_was_acknowledged_before),
           ("unsettled_run", never_run_a_lost_settle_again),
           ("unsettled_run", run_an_unacknowledged_batch_before_the_loss),
           ("unsettled_run", run_an_unacknowledged_batch_after_the_loss)]


# ---- what a fault explains ----

def killed_between_run_and_settle(w):
    run_twice(w)
    w.faults = [Fault(SLOT * US + 500000, SLOT * US + 500000, "KILL", "engine:%d" % ENGINE)]


def database_away_between(w):
    run_twice(w)
    w.faults = [Fault(SLOT * US + 50000, SLOT * US + 500000, "restart", "store")]


# The worker of the second engine was stopped a moment before it began the run: its line is no old
# one.
def settled_by_who_was_just_woken(w):
    settle_after_a_takeover(w)
    w.runs[-1] = w.runs[-1]._replace(pid=5001)
    w.settles = [s._replace(engine=ENGINE + 1) if s.row == row(0) else s for s in w.settles]
    w.faults.append(Fault(SLOT * US + 2000000, SLOT * US + 2500000, "STOP", "worker:5001"))


def deleted_by_the_application(w):
    lose_a_check(w)
    w.faults = [Fault(SLOT * US, SLOT * US, "delete", "row:" + row(0)[1])]


def lost_with_a_primary(w):
    fail_over_without(w, row(3), row(4))


def lost_and_run_again(w):
    run_twice(w)
    w.faults = [Fault(SLOT * US + 50000, SLOT * US + 500000, "loss", "store")]


# Both the settle of the first run and the row that it had moved were on the old primary only.
def run_of_a_move_that_was_lost(w):
    w.runs[0] = run(0, SLOT, 0, 0, "fail", at_ms=60)
    w.runs.append(run(0, SLOT + 1, 0, 1, "done", at_ms=100))
    w.runs.append(run(0, SLOT, 0, 0, "done", at_ms=2500))
    w.faults = [Fault(SLOT * US + 50000, SLOT * US + 2000000, "loss", "store")]


# The answer that had declared it was lost, and given again a moment later: it begins in another
# slot, under its key.
def declared_again_later(w):
    w.runs.append(run(0, SLOT + 2, 0, 0, "done")._replace(first=SLOT + 2))
    w.settles[0] = w.settles[0]._replace(slot=SLOT + 2, first=SLOT + 2)
    w.events[0] = w.events[0]._replace(slot=SLOT + 2)
    w.faults = [Fault(SLOT * US + 50000, SLOT * US + 500000, "loss", "store")]


def late_as_the_machine_stalled(w):
    w.runs[0] = run(0, SLOT, 0, 0, "done", at_ms=6000)
    w.stalls = [(SLOT * US + 100000, SLOT * US + 700000)]


def late_after_a_takeover(w):
    w.runs[0] = run(0, SLOT, 0, 0, "done", at_ms=6500)
    w.faults = [Fault(SLOT * US + 500000, SLOT * US + 500000, "KILL", "engine:%d" % ENGINE)]


def late_after_a_store_that_came_back_before_its_slot(w):
    w.runs[0] = run(0, SLOT, 0, 0, "done", at_ms=5000)
    w.faults = [Fault((SLOT - 9) * US, (SLOT - 1) * US, "failover", "store")]


def worker_killed_before_it_wrote(w):
    del w.runs[7]
    w.faults = [Fault(SLOT * US + 50000, SLOT * US + 50000, "KILL", "worker:5000")]


def worker_killed_while_it_slept(w):
    w.runs[7] = w.runs[7]._replace(deed="sleep 100, done")
    w.faults = [Fault(SLOT * US + 150000, SLOT * US + 150000, "KILL", "worker:5000")]


def held_back_and_said(w):
    put_off_in_silence(w)
    w.passes = [Pass(SLOT + 1, 1, 3)]


def taken_over_and_settled_by_the_last(w):
    settle_after_a_takeover(w)
    w.settles[0] = w.settles[0]._replace(engine=ENGINE + 1)


def taken_back_from_one_that_died(w):
    start_after_a_takeover(w)
    w.faults.append(Fault(SLOT * US + 3100000, SLOT * US + 3100000, "KILL", "engine:%d" % (ENGINE + 1)))


def sent_and_not_acknowledged(w):
    lose_a_check(w)
    del w.acked["b0"]


# A day is skipped: what waited in it is due at once.
def swept_after_a_jump(w):
    jump(w, (-3, DAY))
    w.runs = [r._replace(at=(SLOT - 2) * US + r.at % US + (r.slot - SLOT) * US // 5) for r in w.runs]


# A check that was run before the clock went back waits for a slot that lies before the one it had.
def slots_in_another_order(w):
    jump(w, (SLOT_BACK, -HOUR))
    w.runs[2] = run(1, SLOT + 2 - HOUR, 1, 0, "done", at_ms=HOUR * 1000 + 100)
    w.settles[1] = w.settles[1]._replace(next=SLOT + 2 - HOUR)
    w.settles[2] = w.settles[2]._replace(slot=SLOT + 2 - HOUR)
    w.events[2] = w.events[2]._replace(slot=SLOT + 2 - HOUR)
    for n in (4, 6):
        w.runs[n] = w.runs[n]._replace(at=w.runs[n].at + HOUR * US)


EXPLAINED = [two_lives_in_a_slot, recurs, settled_by_who_was_just_woken, deleted_by_the_application,
             lost_with_a_primary, lose_an_unacknowledged_batch, lost_and_run_again,
             run_of_a_move_that_was_lost,
             declared_again_later, an_hour_ahead, swept_after_a_jump,
             slots_in_another_order, killed_between_run_and_settle, database_away_between,
             late_as_the_machine_stalled, late_after_a_takeover,
             late_after_a_store_that_came_back_before_its_slot, worker_killed_before_it_wrote,
             worker_killed_while_it_slept, held_back_and_said,
             taken_over_and_settled_by_the_last, taken_back_from_one_that_died, sent_and_not_acknowledged]


# ---- the files ----

JOURNAL = ("1700000000100000\t55\t7\t8\trow\tk\\x09\\x5c1\twitness\t%s\t1700000000\t1700000000\t0\t0\tdone\n"
           % ("a" * 32)) + "1700000000200000\t55\t7\t8\tro"
PLAN = ("sent\t1\tb0\trow\tk1\twitness\t5\t[\"done\"]\nacked\t2\tb0\n"
        "sent\t3\tb1\trow\tk2\twitness\t5\t[\"done\"]\n")
FAULTS = ("5\tclock\te0\t-7\n6\tclock\tstore\t3600\n10\tbegin\tSTOP\tengine:5\n"
          "20\tat\tKILL\tengine:6\n30\tend\tSTOP\tengine:5\n40\tbegin\tcut\tstore\n")


def files_are_read(folder):
    for name, text in (("journal", JOURNAL), ("plan", PLAN), ("faults", FAULTS)):
        with open(os.path.join(folder, name), "w") as f:
            f.write(text)
    with open(os.path.join(folder, "stalls"), "w") as f:
        f.write("5 9\n20 3")
    w = World()
    check.read_plan(os.path.join(folder, "plan"), w)
    runs = list(check.read_journal(os.path.join(folder, "journal")))
    faults = check.read_faults(os.path.join(folder, "faults"))
    return [("journal: a line cut off by a kill is left out", len(runs) == 1),
            ("journal: escapes are undone", runs[0].row == ("row", "k\t\\1", "witness")),
            ("plan", w.sent == {("row", "k1", "witness"): "b0", ("row", "k2", "witness"): "b1"}
             and w.acked == {"b0": 2}),
            ("stalls: a line cut off by a kill is left out",
             check.read_stalls(os.path.join(folder, "stalls")) == [(5, 9)]),
            ("faults: jumps of the store's clock",
             check.read_clock(os.path.join(folder, "faults")).spans[1:] == [(6, 3600)]),
            ("faults: beginnings and ends",
             set(faults) == {Fault(6, 6, "clock", "store"), Fault(10, 30, "STOP", "engine:5"),
                             Fault(20, 20, "KILL", "engine:6"), Fault(40, 1 << 62, "cut", "store")})]


CHANGED = Options(changed=(row(0)[1],), no_events=True)
DECLARED = Options(declared=("k",))
OPTIONS = {two_lives_in_a_slot: CHANGED, settle_a_changed_row_twice: CHANGED, declared_again_later: DECLARED,
           change_the_key_of_one_declared_again: DECLARED, share_a_key_among_declared: DECLARED}


def kinds_of(plant):
    w = good_world()
    if plant:
        plant(w)
    found, _ = check.check(w, OPTIONS.get(plant, Options()))
    return found


def main():
    bad, n = [], 0
    if kinds_of(None):
        bad.append("a good world is not good: %s" % kinds_of(None))
    for kind, plant in PLANTED:
        n += 1
        found = kinds_of(plant)
        if kind not in {k for k, _ in found}:
            bad.append("%s: planted %s, found %s" % (plant.__name__, kind, found))
    for plant in EXPLAINED:
        n += 1
        if kinds_of(plant):
            bad.append("%s is held against the engine: %s" % (plant.__name__, kinds_of(plant)))
    with tempfile.TemporaryDirectory() as folder:
        for words, good in files_are_read(folder):
            n += 1
            if not good:
                bad.append("files: %s" % words)
    missing = {line.split()[0] for line in check.__doc__.split("Kinds:\n")[1].splitlines()
               if line.strip()} - {k for k, _ in PLANTED}
    if missing:
        bad.append("nothing plants %s" % ", ".join(sorted(missing)))
    for words in bad:
        print(words)
    print("%d planted, %d explained: %s"
          % (len(PLANTED), len(EXPLAINED),
             "%d not as they should be" % len(bad) if bad else "all as they should be"))
    return 1 if bad or n < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
