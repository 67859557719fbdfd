#!/usr/bin/env python3
"""editor.py - a client that edits schedules while engines run them: adds, changes, switches, removes,
pauses and resolves them, a few of its own and some that all clients share. From a seed.

Each command is a process of its own, as for an operator, and some are killed before they are over.
--log has fields separated by tabs: `ask TIME_US OP NAME` before a command, `told TIME_US OP NAME
STATE` when it is over, with the state (on, off, none) that the store then has of a schedule of its
own, else the exit code. An operator who does not know whether a command has done its work looks.
What the database itself refused is a line `odd TIME_US OP NAME WORDS`.
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
from schedules import Store, check_of, now_us

RULES = [["--every", "3s", "--bias", "0"], ["--every", "3s", "--bias", "0.3"], ["--every", "6s"],
         ["--every", "1h", "--missed", "skip"], ["--cron", "* * * * *"],
         ["--cron", "*/2 * * * *", "--timezone", "Asia/Kathmandu", "--missed", "run_all"],
         ["--cron", "30 2 * * sun", "--timezone", "Europe/Amsterdam", "--missed", "skip"]]
DEEDS = ['["done"]', '["sleep 30, done"]', '["sleep 400, done"]', '["again 1", "done"]',
         '["fail", "done"]']
# What is done to schedules that are shared, and how often.
OPS = {"add": 18, "set": 16, "on": 12, "off": 12, "remove": 4, "resolve": 14, "pause": 3, "resume": 5,
       "enqueue": 6, "hold": 30}
# What makes a difference to one of its own, by the state that it is in.
OF_ITS_OWN = {"none": ["add"], "on": ["set", "off", "remove", "resolve", "off"],
              "off": ["on", "on", "remove", "set"]}
WELL_KNOWN = {0, 1, 2}              # done; it was so; refused: it is there, or is not
# The store was away, or its answer was: what a cut line, a restart and a lock explain.
AWAY = {69, 75}


class Editor:
    def __init__(self, a):
        self.a, self.rnd = a, random.Random("%d %s" % (a.seed, a.name))
        self.store = Store(a.direct or a.store)
        self.log = open(a.log, "a", encoding="utf-8", buffering=1)
        self.own = ["o%s%d" % (a.name, i) for i in range(a.own)]
        self.shared = ["s%d" % i for i in range(a.shared)]
        self.n = 0

    def note(self, *fields):
        self.log.write("\t".join(str(f) for f in fields) + "\n")

    # ---- one command ----

    def command(self, op, name):
        entity, key, job = check_of(name)
        rule = self.rnd.choice(RULES) + ["--payload", self.rnd.choice(DEEDS)]
        if op == "add":
            return ["schedule", "add", name, entity, key, job] + rule
        if op == "set":
            return ["schedule", "set", name] + rule + ([] if "--missed" in rule else ["--missed", "run_once"])
        if op == "resolve":             # without a job: those of both schedules of the row
            return ["resolve", entity, key] + ([job] if name in self.own else [])
        if op in ("pause", "resume"):
            return [op, "--schedule", name]
        if op == "enqueue":
            return ["enqueue", entity, key, job, "--at-once", "--conflict",
                    self.rnd.choice(["keep", "earlier", "replace"])]
        return ["schedule", op, name]

    def run(self, words):
        """The exit code; None: it was killed, and its session is over by now."""
        self.n += 1
        session = "edit.%s.%d" % (self.a.name, self.n)
        env = dict(os.environ, PRESCIENT_STORE=self.store.called(session, self.a.store))
        p = subprocess.Popen([self.a.program, "--quiet"] + words, env=env, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if self.rnd.random() * 100 < self.a.kill:
            try:
                p.wait(self.rnd.random() * 0.06)
            except subprocess.TimeoutExpired:
                p.send_signal(signal.SIGKILL)
        said = p.communicate()[1].strip()
        if p.returncode >= 0:
            return p.returncode, said
        self.store.wait_for_the_end_of(session)
        return None, said

    def edit(self, op, name):
        self.note("ask", now_us(), op, name)
        code, said = self.run(self.command(op, name))
        self.judge(op, name, code, said)
        state = self.store.state(name) if name in self.own else code
        self.note("told", now_us(), op, name, state)

    def judge(self, op, name, code, said):
        words = said.splitlines()[-1] if said else "no words"
        if code is not None and code not in WELL_KNOWN | AWAY or "deadlock" in said:
            self.note("odd", now_us(), op, name, "exit code %s: %s" % (code, words))

    # ---- both schedules of a row in one transaction, which stays open for a while ----

    def transaction(self, edits, open_s, ends_well):
        said = self.store.transaction(edits, open_s, ends_well, self.a.store)
        if "deadlock" in said or "duplicate key" in said or "violates" in said:
            self.note("odd", now_us(), "hold", ",".join(n for _, n in edits), said)

    def hold(self):
        """Another command comes meanwhile."""
        row = 2 * self.rnd.randrange(len(self.shared) // 2)
        names = self.shared[row:row + 2]
        edits = [[(self.rnd.choice(words), n) for n in names]
                 for words in (("on", "off"), ("on", "off", "on", "remove"))]
        ends_well, open_s = self.rnd.random() < 0.8, self.rnd.random() * 0.4
        beside = self.rnd.choice(["resolve", "resolve", "off", "on", "set", "add"])
        name = self.rnd.choice(names)
        self.note("ask", now_us(), "hold", ",".join("%s %s" % e for e in edits[1]))
        self.transaction(edits[0], 0, True)
        held = threading.Thread(target=self.transaction, args=(edits[1], open_s, ends_well))
        held.start()
        time.sleep(open_s * self.rnd.random())
        self.edit(beside, name)
        held.join()
        self.note("told", now_us(), "hold", ",".join(names), "commit" if ends_well else "rollback")

    # ---- all day ----

    def go_on(self):
        if self.own and self.rnd.random() < 0.5:
            name = self.rnd.choice(self.own)
            return self.edit(self.rnd.choice(OF_ITS_OWN[self.store.state(name)]), name)
        op = self.rnd.choices(list(OPS), list(OPS.values()))[0]
        if op == "hold":
            return self.hold()
        return self.edit(op, self.rnd.choice(self.shared))

    def work(self):
        while not os.path.exists(self.a.until):
            self.go_on()
            time.sleep(self.rnd.random() * 0.1)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--store", required=True)
    p.add_argument("--direct", help="the store without what cuts the lines in front of it")
    p.add_argument("--program", required=True)
    p.add_argument("--log", required=True)
    p.add_argument("--until", required=True, help="it ends when this file is there")
    p.add_argument("--seed", type=int, required=True)
    p.add_argument("--name", required=True)
    p.add_argument("--own", type=int, default=3)
    p.add_argument("--shared", type=int, default=4)
    p.add_argument("--kill", type=int, default=15, help="of a hundred commands")
    Editor(p.parse_args()).work()


if __name__ == "__main__":
    main()
