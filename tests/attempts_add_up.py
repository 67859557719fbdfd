#!/usr/bin/env python3
"""attempts_add_up.py - whether the life of each check of the job `flaky` adds up: its attempts, back-off
times, idempotency keys and outcomes, each computed again from the run rows.

    attempts_add_up.py FILED RAN RUNS HISTORY NAME=VALUE...

FILED: key id slot. RAN: what the job wrote (tests/jobs/flaky.c). RUNS and HISTORY, columns separated
by |: key slot_at run_at next_check_at check_count failure_count outcome note, and
key slot_at last_run_at run_count check_count failure_count outcome note. The values are those of the
settings, in seconds. It prints what is wrong, a line each, then what it has counted."""
import collections
import hashlib
import sys

FAILED = []


def wrong(words):
    FAILED.append(words)


# ---- what flaky answers, and which key it is given ----

def flaky(key, checks, failures, slot):
    h = 14695981039346656037
    for byte in f"{key} {checks} {failures} {slot}".encode():
        h = (h ^ byte) * 1099511628211 % 2**64
    h ^= h >> 32
    if h % 3 < 2:
        return "fail"
    return (["done"] * 6 + ["again"] * 2 + ["defer"] * 2)[h // 3 % 10]


def idempotency_key(key, job, first, id_, checks):
    fields = ["row", key, job, str(first), str(id_), str(checks)]
    return hashlib.sha256("".join(f"{len(f)}:{f}" for f in fields).encode()).hexdigest()[:32]


# ---- the rules, from the manual and not from the engine ----

class Rules:
    def __init__(self, words):
        for word in words:
            name, value = word.split("=")
            setattr(self, name, int(value))

    def full(self, moment):
        """The slot that runs at that moment."""
        return moment // self.slot_length * self.slot_length

    def later_slots(self, ran, failures):
        """The earliest and the latest slot after a back-off: half of it is drawn."""
        delay = min(self.backoff * 2 ** ((failures - 1) // self.attempts), self.backoff_max)
        up = lambda at: max(-(-at // self.slot_length), ran // self.slot_length + 1) * self.slot_length
        return up(ran + delay - delay // 2), up(ran + delay)

    def failures_of_a_look(self):
        return self.attempts * (self.max_failures + 1)

    def next_of_failure(self, ran, failures, next_, counts):
        """`failures` with this one. An attempt stays within the slot that runs."""
        n, end = (failures - 1) % self.attempts, self.full(ran) + self.slot_length
        delay = min(self.attempt_interval * 2 ** n, self.attempt_interval_max)
        first, last = ran + delay, ran + delay + self.attempt_jitter
        least, most = self.later_slots(ran, failures)
        is_later = least <= next_ <= most and next_ % self.slot_length == 0
        if n + 1 == self.attempts:
            counts["used up"] += 1
            return is_later
        if next_ >= end:
            counts["past the slot"] += 1
            return last >= end and is_later
        counts["attempts"] += 1
        counts[f"jitter {next_ - first}"] += 1
        return first <= next_ <= last

    def next_of_moved(self, ran, slot, wanted, next_):
        """From a slot to a slot; from a second between two to such a second."""
        up = -(-wanted // self.slot_length) * self.slot_length
        if slot % self.slot_length == 0:
            return next_ == up
        return next_ == (wanted if wanted % self.slot_length else wanted + 1)

    def next_of_deferred(self, ran, slot, wanted, next_):
        """The same, and what ends within the slot that runs does so in its second."""
        if slot % self.slot_length == 0 and wanted < self.full(ran) + self.slot_length:
            return next_ == wanted
        return self.next_of_moved(ran, slot, wanted, next_)


# ---- a life ----

class Life:
    def __init__(self, rules, counts, key, id_, slot):
        self.rules, self.counts = rules, counts
        self.key, self.id, self.first, self.slot = key, id_, slot, slot
        self.checks = self.failures = self.runs = 0

    def wrong(self, words):
        wrong(f"{self.key}, run {self.runs} (check_count {self.checks}, failure_count {self.failures}, slot "
              f"{self.slot}): {words}")

    def is_same(self, what, found, expected):
        if found != expected:
            self.wrong(f"{what} is {found}, expected {expected}")

    def ran(self, line):
        """The job was given what the row held, and the key of its number."""
        self.runs += 1
        self.is_same("the job's check_count, failure_count, first slot and slot",
                     tuple(map(int, line[2:6])), (self.checks, self.failures, self.first, self.slot))
        self.is_same("the idempotency key", line[1],
                     idempotency_key(self.key, "flaky", self.first, self.id, self.checks))
        self.is_same("the job's now", int(line[6]), self.slot)

    def ends_after(self, answer):
        """The outcome, or None when it waits again."""
        rules = self.rules
        if answer == "done":
            return "done"
        if answer == "again" and self.checks == rules.max_checks:
            return "max_checks"
        if answer == "fail" and self.failures + 1 == rules.failures_of_a_look():
            return "failed"
        return None

    def moved(self, row):
        _, slot, at, next_, checks, failures, outcome, note = row
        slot, at, next_ = int(slot), int(at), int(next_)
        rules, answer = self.rules, flaky(self.key, self.checks, self.failures, self.slot)
        self.is_same("the run row's slot and time", (slot, at), (self.slot, self.slot))
        self.is_same("the end after this answer", self.ends_after(answer), None)
        expected = {"fail": "failed", "again": "again", "defer": "deferred"}.get(answer)
        self.is_same("the outcome of the run", outcome, expected)
        if answer == "fail":
            self.failures += 1
            self.is_same("the note", note, f"failure {self.failures} of {self.key}")
            if not rules.next_of_failure(at, self.failures, next_, self.counts):
                self.wrong(f"after failure {self.failures} it waits until {next_}")
        elif answer == "again":
            self.checks, self.failures = self.checks + 1, 0
            if not rules.next_of_moved(at, self.slot, at + rules.again_after, next_):
                self.wrong(f"it asked for {at + rules.again_after} and waits until {next_}")
        elif not rules.next_of_deferred(at, self.slot, at + rules.defer_for, next_):
            self.wrong(f"it was deferred until {at + rules.defer_for} and waits until {next_}")
        self.is_same("the counts of the run row", (int(checks), int(failures)), (self.checks, self.failures))
        self.counts["runs " + outcome] += 1
        self.slot = next_

    def over(self, row):
        _, slot, at, runs, checks, failures, outcome, note = row
        answer = flaky(self.key, self.checks, self.failures, self.slot)
        self.is_same("the last run's slot and time", (int(slot), int(at)), (self.slot, self.slot))
        self.is_same("the outcome", outcome, self.ends_after(answer))
        if answer == "fail":
            self.failures += 1
            self.is_same("the last error", note, f"failure {self.failures} of {self.key}")
        self.is_same("the counts of the history", (int(runs), int(checks), int(failures)),
                     (self.runs, self.checks, self.failures))
        self.counts["ended " + outcome] += 1


def table(name, separator=None):
    with open(name, encoding="utf-8") as lines:
        return [line.rstrip("\n").split(separator) for line in lines]


def by_key(rows):
    grouped = collections.defaultdict(list)
    for row in rows:
        grouped[row[0]].append(row)
    return grouped


def main(filed, ran, runs, history, *settings):
    rules, counts = Rules(settings), collections.Counter()
    ran, runs, history = by_key(table(ran)), by_key(table(runs, "|")), by_key(table(history, "|"))
    filed = table(filed, "|")
    for key, id_, slot in filed:
        life = Life(rules, counts, key, int(id_), int(slot))
        rows = sorted(runs[key], key=lambda row: int(row[2]))
        if len(history[key]) != 1 or len(ran[key]) != len(rows) + 1:
            wrong(f"{key}: {len(ran[key])} runs left {len(rows)} run rows and {len(history[key])} of history")
            continue
        lines = sorted(ran[key], key=lambda line: int(line[6]))
        for line, row in zip(lines, rows):
            life.ran(line)
            life.moved(row)
        life.ran(lines[-1])
        life.over(history[key][0])
    strangers = (set(ran) | set(runs) | set(history)) - {key for key, _, _ in filed}
    if strangers:
        wrong(f"rows of checks that nobody has filed: {sorted(strangers)[:3]}")
    for words in FAILED[:20]:
        print("wrong:", words)
    print(f"wrong: {len(FAILED)}")
    for name in sorted(counts):
        print(f"{name}: {counts[name]}")
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
