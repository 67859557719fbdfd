#!/usr/bin/env python3
"""keys.py - the judge of concurrency keys: did two runs of one key go on at the same moment?

    keys.py --case DIR --keys N [--limit N] [--prefix w.]

It reads the journal of a case, where each run has a line when it begins, `ends`, where it has one
when it ends (the setting of that name of tests/jobs/witness.c), and the faults. A run without an end
was killed: it went on until its engine was killed, at least (a worker may outlive it by a second, and
begin one), or its worker, whose pid is in its line; one of which nobody knows when it was killed is a
violation, too. All moments are of the machine's
CLOCK_BOOTTIME, but those of faults, which are moved to it by the difference of the two clocks in the
journal.

It prints what is wrong, one line each, then a line "RUNS KILLED MOST" (the most runs of a key at
once); the exit code is 1 where something is wrong. Kinds:
    overlap         a key had more runs at once than it may
    unknown_end     a run has no end, and no fault explains it
keys_selftest.py plants each kind and expects it to be found."""
import argparse
import collections
import sys

Run = collections.namedtuple("Run", "begin end key pid engine row")


OUTLIVES_US = 1000000               # a worker its engine


def key_of(number, keys):
    """The concurrency key of the check of this number; None: there are no keys."""
    return "key %d" % (number % keys) if keys else None


def judge(runs, limit):
    """What is wrong, and the most runs of a key at once. An end that is unknown is None."""
    wrong = ["unknown_end: %s of worker %d, begun at %d" % (r.row, r.pid, r.begin)
             for r in runs if r.end is None]
    known = [r for r in runs if r.end is not None]
    # where one ends in the moment in which another begins, the end comes first
    events = sorted([(r.begin, 1, r) for r in known] + [(r.end, -1, r) for r in known],
                    key=lambda e: (e[0], e[1]))
    going_on, most = collections.defaultdict(list), 0
    for at, what, run in events:
        on = going_on[run.key]
        if what < 0:
            if run in on:
                on.remove(run)
            continue
        on.append(run)
        most = max(most, len(on))
        if len(on) > limit:
            wrong.append("overlap: %s: at %d these run: %s" % (
                run.key, at, ", ".join("%s on engine %d" % (r.row, r.engine) for r in on)))
    return wrong, most


def read_runs(case, keys, prefix):
    """Each run, with the end that its worker wrote, or the moment at which it was killed."""
    ends = collections.defaultdict(list)
    for line in open(case + "/ends"):
        at, pid, _, key = line.rstrip("\n").split("\t")
        ends[int(pid), key].append(int(at))
    begun, ahead = [], 0
    for line in open(case + "/journal"):
        f = line.rstrip("\n").split("\t")
        begun.append((int(f[1]), int(f[2]), int(f[3]), f[5]))
        ahead = int(f[0]) - int(f[1])
    kills = collections.defaultdict(list)
    for line in open(case + "/faults"):
        at, kind, what, whom = line.rstrip("\n").split("\t")
        if kind == "at" and what == "KILL":
            kills[whom].append(int(at) - ahead)
    runs = []
    for begin, pid, engine, row in sorted(begun):
        own = sorted(at for at in ends[pid, row] if at >= begin)
        if not own:
            own = sorted(max(at, begin + 1) for whom in ("worker:%d" % pid, "engine:%d" % engine)
                         for at in kills[whom] if at >= begin - OUTLIVES_US)
        key = key_of(int(row[len(prefix):]), keys)
        runs.append(Run(begin, own[0] if own else None, key, pid, engine, row))
    return runs, sum(not any(at >= r.begin for at in ends[r.pid, r.row]) for r in runs)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--case", required=True)
    p.add_argument("--keys", type=int, required=True)
    p.add_argument("--limit", type=int, default=1, help="runs that a key may have at once")
    p.add_argument("--prefix", default="w.", help="what stands before the number of a check")
    a = p.parse_args()
    runs, killed = read_runs(a.case, a.keys, a.prefix)
    wrong, most = judge(runs, a.limit)
    for line in wrong[:20]:
        print(line)
    print(len(runs), killed, most)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
