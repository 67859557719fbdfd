#!/usr/bin/env python3
"""schedules_selftest.py - can the judge of schedules (schedules.py, loader.py) fail?

A world in which all is well must pass. Then each kind of violation is planted in it, one at a time,
and must be found under its name."""
import sys

sys.dont_write_bytecode = True
import loader
import schedules
from check import Run
from schedules import Done, World

US = 1000000
BEGAN = 1700000010                  # a moment at 20 s past a minute
SINCE = BEGAN - 4800
MINUTE = BEGAN - BEGAN % 60 + 60    # the first one after it
HEARD_MS, LENGTH_S = 4000, 3


def run(name, at_s, first, idem=None):
    return Run(int(at_s * US), 0, 1, 2, schedules.check_of(name), idem or "%s %d" % (name, first), first,
               int(at_s), 0, 0, "done")


def done(name, at_s, next_at, outcome="done", note=""):
    return Done(schedules.check_of(name)[1], outcome, int(at_s), next_at, int(at_s * US) + 100000, note)


def good_world():
    w = World(began_s=BEGAN, ended_us=(BEGAN + 300) * US, since_s={"a0": SINCE, "c0": SINCE, "d0": SINCE})
    first = SINCE - SINCE % 60 + 60
    passed = BEGAN // 60 - SINCE // 60
    w.runs = [run("a0", BEGAN + 2 * i, first + 60 * i) for i in range(5)]
    w.runs.append(w.runs[2]._replace(at=w.runs[2].at + 1))      # a fault, under the same key
    w.log = [done("c0", BEGAN + 1, MINUTE, "skipped", "missed: %d occurrences are not run" % passed)]
    w.runs.append(run("d0", BEGAN + 1, first))
    for i in range(2):
        w.runs += [run("c0", MINUTE + 60 * i, MINUTE + 60 * i), run("d0", MINUTE + 60 * i, MINUTE + 60 * i)]
        w.log.append(done("c0", MINUTE + 60 * i, MINUTE + 60 * i + 60))
    for i in range(4):
        w.runs.append(run("e00", BEGAN + 6 * i, BEGAN + 6 * i))
        w.log.append(done("e00", BEGAN + 6 * i, BEGAN + 6 * i + 6))
    w.runs += [run("oone0", BEGAN + 1, BEGAN), run("oone0", BEGAN + 13, BEGAN + 12)]
    told = [("ask", 0, "off", ""), ("told", 2, "off", "off"), ("ask", 12, "on", ""),
            ("told", 12.1, "on", "on"), ("told", 14, "remove", "none")]
    w.told = [(kind, int((BEGAN + at_s) * US), op, "oone0", state) for kind, at_s, op, state in told]
    return w


# ---- what is planted ----

def leave_a_minute_out(w):
    w.runs = [r for r in w.runs if r.row[1] != "a0" or r.first != w.runs[1].first]


def swap_two_minutes(w):
    w.runs[0], w.runs[1] = w.runs[0]._replace(at=w.runs[1].at), w.runs[1]._replace(at=w.runs[0].at)


def run_a_minute_under_another_key(w):
    w.runs.append(w.runs[4]._replace(idem="another", at=w.runs[4].at + 9))


def skip_a_minute_unseen(w):
    w.runs = [r for r in w.runs if r.row[1] != "c0" or r.first != MINUTE]


def count_a_minute_twice(w):
    w.log.append(done("c0", MINUTE + 1, MINUTE + 60, "skipped", "missed: 1 occurrence is not run"))


def make_up_for_two(w):
    w.runs.append(run("d0", BEGAN + 3, SINCE - SINCE % 60 + 120))


def make_up_for_none(w):
    w.runs = [r for r in w.runs if r.row[1] != "d0" or r.first >= BEGAN]


def leave_out_a_minute_of_run_once(w):
    w.runs.append(run("d0", MINUTE + 240, MINUTE + 240))


def run_before_the_time_is_over(w):
    w.log[-1] = w.log[-1]._replace(next_at=BEGAN + 18)
    w.log[-2] = w.log[-2]._replace(ended_us=w.runs[-3].at - 2 * US)


def file_the_next_one_late(w):
    w.log[-1] = w.log[-1]._replace(next_at=BEGAN + 600)


def run_while_it_is_off(w):
    w.runs.append(run("oone0", BEGAN + 7, BEGAN + 6))


def run_when_it_was_removed(w):
    w.runs.append(run("oone0", BEGAN + 100, BEGAN + 99))


def run_where_the_first_time_is_looked_for(w):
    w.runs.append(run("l00001", BEGAN + 6, BEGAN + 6))


PLANTED = [("minutes", leave_a_minute_out), ("minutes", swap_two_minutes),
           ("twice", run_a_minute_under_another_key), ("skipped", skip_a_minute_unseen),
           ("skipped", count_a_minute_twice), ("run_once", make_up_for_two), ("run_once", make_up_for_none),
           ("run_once", leave_out_a_minute_of_run_once), ("cool_down", run_before_the_time_is_over),
           ("cool_down", file_the_next_one_late), ("quiet", run_while_it_is_off),
           ("quiet", run_when_it_was_removed), ("first", run_where_the_first_time_is_looked_for)]

# rows of a look into the store, and what is said of them
LOOKS = [(("s0", "on", "1", "1"), None), (("s0", "off", "0", "0"), None),
         (("s0", "on", "0", "0"), "is on, and has no check"),
         (("s0", "on", "2", "1"), "is on, and has 2 checks"),
         (("s0", "on", "1", "0"), "is on, and its check carries another rule: a in place of b"),
         (("s0", "off", "1", "1"), "is off, and has a check"),
         (("s0", "none", "1", "0"), "a check has a rule, and no schedule")]

# A load of 1 removed, 2 bound and 1002 others.
BEFORE = dict({"k": "x", "b0": "0", "b1": "1"}, **{"l%04d" % i: "old" for i in range(1002)})
WANTED = dict({"b0": "1", "b1": "0"}, **{"l%04d" % i: "new" for i in range(1002)})


def after(gone, bound, written):
    out = dict(BEFORE, **({"b0": "1", "b1": "0"} if bound == 2 else {"b0": "1"} if bound else {}))
    out.update({"l%04d" % i: "new" for i in written})
    if gone:
        del out["k"]
    return out


# what it left, how many were written, and whether that is wrong
LEFT = [(after(False, 0, []), 0, False), (after(True, 0, []), 1, False), (after(True, 2, []), 3, False),
        (after(True, 2, range(300)), 303, False), (after(True, 2, range(1002)), 1005, False),
        (after(True, 1, []), 1, True), (after(True, 2, range(7)), 3, True),
        (after(False, 2, []), 0, True), (after(True, 0, range(300)), 1, True),
        (after(True, 2, range(1, 301)), 3, True)]


def kinds_of(plant):
    w = good_world()
    if plant:
        plant(w)
    return schedules.Judge(w, HEARD_MS, LENGTH_S).all()


def main():
    bad = []
    if kinds_of(None):
        bad.append("a good world is not good: %s" % kinds_of(None))
    for kind, plant in PLANTED:
        found = kinds_of(plant)
        if {k for k, _ in found} != {kind}:
            bad.append("%s: planted %s, found %s" % (plant.__name__, kind, found))
    for looked, words in LOOKS:
        found = [w for _, w in schedules.wrong_now([looked + ("a in place of b",)])]
        if found != ([words] if words else []):
            bad.append("look %s: expected %s, found %s" % (looked, words, found))
    for left, n, is_wrong in LEFT:
        found, wrong = loader.left_by(BEFORE, WANTED, left)
        if bool(wrong) != is_wrong or found != n:
            bad.append("load: expected %d written, found %d, %s" % (n, found, wrong))
    for words in bad:
        print(words)
    print("%d planted, %d looks, %d loads: %s" % (len(PLANTED), len(LOOKS), len(LEFT),
          "%d not as they should be" % len(bad) if bad else "all as they should be"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
