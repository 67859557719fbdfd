#!/usr/bin/env python3
"""loader.py - loads two files of schedules back and forth, and is killed in the middle of it.

    loader.py files --folder DIR --rows N --shared N    writes 1.csv and 2.csv
    loader.py load --folder DIR --store URL --program P --seed N --until FILE
    loader.py compare --store URL --file CSV [--prefix LETTERS]

A load removes what the file lacks, then writes what takes over checks of others, in one transaction,
then the rest in the order of names, some hundreds a transaction. So what a killed one leaves is a
beginning of these steps, in whole pages; and after another load of the same file the store is equal
to it. What is wrong is a line each of stdout; stderr has what was done. Names that begin with `l` and
`b` are changed by nobody else.
"""
import argparse
import csv
import os
import random
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from schedules import Store, check_of, now_us

PAGE_FIRST, PAGE_LEAST, PAGE_MOST = 100, 10, 1000       # as in engine/cmd/schedule_load.c
COLUMNS = ["name", "entity_name", "entity_key", "job_exec", "every", "cron", "missed", "bias", "payload"]
OURS = ("l", "b")
AWAY = {69, 75}
PATIENCE_S = 40


# ---- the files ----

def lines_of(number, rows, shared):
    """Those of the store's other clients are in both files, as they were made."""
    for i in range(3):
        yield ["a%d" % i, "", "* * * * *", "run_all", "", ""]
        yield ["c%d" % i, "", "* * * * *", "skip", "", ""]
        yield ["d%d" % i, "", "* * * * *", "run_once", "", ""]
        yield ["p%d" % i, "3s", "", "run_once", "0", ""]
    for i in range(6):
        yield ["e%d%d" % (i, 3 * (i % 2)), "3s", "", "run_once", "0.%d" % (3 * (i % 2)), ""]
    for i in range(2):                  # they change places
        yield ["b%d" % i, "1h", "", "run_once", "0", ""]
    for i in range(rows):
        n = i + (rows // 4 if number == 2 else 0)
        yield ["l%05d" % n, "%dh" % number, "", "run_once", "0", '["sleep %d, done"]' % number]
    for i in range(shared):
        yield ["s%d" % i, "3s" if number == 1 else "6s", "", "skip", "0", '["sleep 10, done"]']


def write_files(a):
    for number in (1, 2):
        with open(os.path.join(a.folder, "%d.csv" % number), "w", encoding="utf-8", newline="") as f:
            out = csv.writer(f)
            out.writerow(COLUMNS)
            for name, *rule in lines_of(number, a.rows, a.shared):
                entity, key, job = check_of(name)
                if name[0] == "b" and number == 2:
                    key = "b%d" % (1 - int(name[1]))
                out.writerow([name, entity, key, job] + rule)


SECONDS = {"s": 1, "h": 3600}


def wanted_in(file):
    """name -> what the store must have of it"""
    out = {}
    with open(file, encoding="utf-8", newline="") as f:
        for r in csv.DictReader(f):
            every = r["every"] and str(int(r["every"][:-1]) * SECONDS[r["every"][-1]])
            bias = r["bias"] and str(round(float(r["bias"]) * 10000))
            zone = "UTC" if r["cron"] else ""
            check = (r["entity_name"], r["entity_key"], r["job_exec"])
            out[r["name"]] = check + (every, bias, r["cron"], zone, r["missed"], r["payload"])
    return out


def stored_in(store, prefix=None):
    rows = store.rows("SELECT name, entity_name, entity_key, job_exec, every_s, bias, cron, timezone, "
                      "missed, payload FROM {T}schedule")
    return {r[0]: tuple(r[1:]) for r in rows if not prefix or r[0].startswith(prefix)}


def difference(is_there, wanted):
    for name in sorted(set(is_there) | set(wanted)):
        if is_there.get(name) != wanted.get(name):
            yield "%s: found %s, expected %s" % (name, is_there.get(name), wanted.get(name))


# ---- what a load that died has left ----

def stages(before, wanted):
    """What a load does, one after the other: names that go, names that take over each other's checks,
    and the others that change."""
    gone = sorted(set(before) - set(wanted))
    changed = sorted(n for n in wanted if before.get(n) != wanted[n])
    return [gone, [n for n in changed if n[0] == "b"], [n for n in changed if n[0] != "b"]]


def sizes_after(sizes):
    """A page is as large as the one before, half of it or twice as large, by the time that took."""
    return {m for n in sizes for m in (max(n // 2, PAGE_LEAST), n, min(n * 2, PAGE_MOST))}


def sums_of_pages(sizes, most):
    """How many names whole pages can have, fewer than `most`; and the sizes that may come next."""
    seen, new = set(), {(0, n) for n in sizes}
    while new:
        seen |= new
        new = {(had + n, m) for had, n in new if had + n < most for m in sizes_after({n})} - seen
    return {had for had, _ in seen}, sizes_after({n for _, n in seen})


def left_by(before, wanted, after):
    """How many names were written, and what is wrong with that, or None."""
    sizes, done, is_over = {PAGE_FIRST}, 0, True
    for i, names in enumerate(stages(before, wanted)):
        new = [after.get(n) == wanted.get(n) for n in names]
        n, words = sum(new), "stage %d: of %d schedules %d are written" % (i + 1, len(names), sum(new))
        sums, sizes_next = sums_of_pages(sizes, len(names)) if i != 1 else ({0}, sizes_after(sizes))
        if n and not is_over:
            return done, words + ", and the stage before is not over"
        if sum(new[:n]) != n:
            return done, words + ", not in the order of names"
        if n < len(names) and n not in sums:
            return done, words + ", which is no number of whole pages"
        sizes = sizes_next if names else sizes
        is_over = n == len(names)
        done += n
    return done, None


class Loader:
    def __init__(self, a):
        self.a, self.rnd = a, random.Random("%d loads" % a.seed)
        self.store = Store(a.direct or a.store)
        self.files = [os.path.join(a.folder, "%d.csv" % n) for n in (1, 2)]
        self.took_s, self.n, self.in_the_middle = 0.5, 0, 0

    def say(self, words, *args):
        print(now_us(), words % args, sep="\t", flush=True)

    def start(self, file):
        self.n += 1
        self.session = "load.%d" % self.n
        env = dict(os.environ, PRESCIENT_STORE=self.store.called(self.session, self.a.store))
        return subprocess.Popen([self.a.program, "--quiet", "schedule", "load", file], env=env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                text=True)

    def ours(self):
        return stored_in(self.store, OURS)

    def wait_for_its_moment(self, p, before, wanted):
        """Any; and each second time one at which a page is written."""
        if self.n % 4 == 0:
            while p.poll() is None and not left_by(before, wanted, self.ours())[0]:
                time.sleep(0.01)
            return
        try:
            p.wait(self.took_s * self.rnd.random())
        except subprocess.TimeoutExpired:
            pass

    def killed(self, file, wanted):
        before = self.ours()
        p = self.start(file)
        self.wait_for_its_moment(p, before, wanted)
        if p.poll() is None:
            p.send_signal(signal.SIGKILL)
        p.communicate()
        self.store.wait_for_the_end_of(self.session)
        done, wrong = left_by(before, wanted, self.ours())
        of = sum(map(len, stages(before, wanted)))
        self.in_the_middle += p.returncode < 0 and 0 < done < of
        print("# load %d: ended by %d after %d of %d schedules" % (self.n, p.returncode, done, of),
              file=sys.stderr)
        if wrong:
            self.say("a load that ended by %d has left a part: %s", p.returncode, wrong)

    def whole(self, file, wanted):
        """A line that was cut, or a server that restarts: an operator loads the file again."""
        until = time.monotonic() + PATIENCE_S
        while True:
            began = time.monotonic()
            p = self.start(file)
            said = p.communicate()[1].strip()
            if p.returncode not in AWAY or time.monotonic() > until:
                break
            self.store.wait_for_the_end_of(self.session)
        if p.returncode != 0:
            self.say("load of %s: exit code %d: %s", os.path.basename(file), p.returncode, said)
        self.took_s = time.monotonic() - began
        for words in difference(self.ours(), wanted):
            self.say("after a load of %s: %s", os.path.basename(file), words)

    def work(self):
        loads = 0
        while not os.path.exists(self.a.until) or loads < 2:
            file = self.files[loads % 2]
            wanted = {n: v for n, v in wanted_in(file).items() if n.startswith(OURS)}
            if loads:
                self.killed(file, wanted)
            self.whole(file, wanted)
            loads += 1
        print("# %d loads, %d of them killed in the middle, %.1f s each" %
              (loads, self.in_the_middle, self.took_s), file=sys.stderr)


def compare(a):
    wrong = list(difference(stored_in(Store(a.store)), wanted_in(a.file)))
    for words in wrong[:10]:
        print(words)
    return 1 if wrong else 0


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("what", choices=["files", "load", "compare"])
    p.add_argument("--folder")
    p.add_argument("--file")
    p.add_argument("--rows", type=int, default=1300)
    p.add_argument("--shared", type=int, default=4)
    p.add_argument("--store")
    p.add_argument("--direct")
    p.add_argument("--program")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--until")
    a = p.parse_args()
    if a.what == "files":
        return write_files(a)
    if a.what == "compare":
        return compare(a)
    return Loader(a).work()


if __name__ == "__main__":
    sys.exit(main())
