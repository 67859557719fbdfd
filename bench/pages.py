#!/usr/bin/env python3
"""pages.py SOCKET --store NAME --server PID [--times N] [--only WORD] [--log FILE]

Asks prescient serve at SOCKET all that pages of the dashboard ask, and /metrics, N times each, over a
store that bench/pages.sh has filled. What is asked is read from the pages' modules: a path that has
no parameters here is an error. Prints the median, the 99th percentile and the longest in ms, the CPU
of all processes of the store and the server for one question, and with --log (auto_explain's, JSON)
the most blocks and rows that one question has touched. Exits with 1 when one is too slow; with --log
no time is judged."""
import argparse
import glob
import http.client
import json
import os
import random
import re
import socket
import sys
import time
from urllib.parse import urlencode

LIMIT_MS, METRICS_LIMIT_MS = 300, 100
LIMIT_ROWS = 20000
# By then an answer of /metrics is too old to be given to another.
OLD_S = 1.1
HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = os.path.join(HERE, "..", "engine", "http", "pages", "*.js")
NOW = time.time()
chance = random.Random(1)


def moment(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(NOW + seconds))


def slot(days=20):
    """One to come; a tenth of all that waits is in one of them."""
    if chance.random() < 0.1:
        return time.strftime("%Y-%m-%dT12:00:00Z", time.gmtime(NOW + 86400))
    at = (NOW + chance.uniform(-10, days) * 86400) // 900 * 900
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))


def some(*values):
    return chance.choice(values)


def job():
    return some("is_paid", "is_sent", "is_picked", "nobody", *(f"is_shipped_{i}" for i in range(7)))


def entity():
    return some("orders", "invoices", "letters", "parcels", "shop", "nobody")


def key():
    return chance.randrange(1, 100000)


def tenant():
    return f"tenant {chance.randrange(5200)}"


def some_of(**what):
    """Two of them at most."""
    names = chance.sample(sorted(what), chance.randrange(min(len(what), 2) + 1))
    return {name: what[name]() for name in names}


def past():
    return some("-1h", "-1d", "-7d", moment(-chance.uniform(0, 14) * 86400))


def of_past():
    return some_of(entity=entity, job=job, tenant=tenant, key=key, before=lambda: moment(
        -chance.uniform(0, 14) * 86400), **{"from": past})


ENDINGS = ("done", "failed", "timeout", "crashed", "amiss")
STATES = ("waiting", "due", "held_back", "retrying", "paused")


def of_slots(days, by):
    return {"from": moment(-days * 86400), "before": moment(days * 86400), "limit": 1000, "by": by}


# By path: kinds of questions, each with a word for it and how its parameters are drawn.
QUESTIONS = {
    "v1/session": {"": dict},
    "v1/status": {"": dict},
    "v1/slots": {
        "60 slots": lambda: {"from": moment(-54000 - chance.randrange(900)), "before": moment(0),
                             "limit": 61},
        "24h": lambda: of_slots(1, None), "24h by job": lambda: of_slots(1, "job"),
        "24h by tenant": lambda: of_slots(1, "tenant"), "7d": lambda: of_slots(7, None),
        "7d by job": lambda: of_slots(7, "job"), "7d by tenant": lambda: of_slots(7, "tenant"),
        "to come by tenant": lambda: {"from": moment(chance.uniform(0, 20) * 86400), "limit": 1000,
                                      "by": "tenant"},
        "any": lambda: {"from": slot(), "limit": some(1, 100, 1000), "by": some(None, "job", "tenant")}},
    "v1/slot": {"": lambda: {"at": slot()}},
    "v1/checks": {
        "": dict, "any": lambda: {"limit": 100, **some_of(
            entity=entity, key=key, job=job, tenant=tenant, state=lambda: some(*STATES), before=slot,
            **{"from": slot})},
        "a row": lambda: {"entity": "orders", "key": key(), "limit": 100},
        "a state": lambda: {"state": some(*STATES), "limit": 100},
        "a job": lambda: {"job": job(), "limit": 20}, "nobody": lambda: {"tenant": f"none {key()}"},
        "1,000": lambda: {"from": slot(), "limit": 1000}},
    "v1/history": {
        "trouble of an hour": lambda: {"outcome": "amiss", "from": "-1h", "limit": 1000},
        "trouble": lambda: {"outcome": "amiss", "limit": 1000, **of_past()},
        "of a job": lambda: {"job": job(), "outcome": "amiss", "from": "-1d", "limit": 200},
        "any": lambda: {"limit": 100, **of_past(), **some_of(outcome=lambda: some(*ENDINGS))},
        "nobody": lambda: {"tenant": f"none {key()}", "limit": 100}},
    "v1/runs": {"any": lambda: {"limit": 100, **of_past(), **some_of(outcome=lambda: some("again", "failed",
                                                                                       "crashed"))}},
    "v1/slowest": {"": lambda: {"job": job(), "from": some("-1h", "-1d", "-7d"), "limit": 20}},
    "v1/jobs": {"": lambda: {"from": some("-1h", "-1d", "-7d")}},
    "v1/job": {"": lambda: {"name": job(), "from": some("-1h", "-1d", "-7d")}},
    "v1/check": {"": lambda: {"entity": entity(), "key": key()}},
    "v1/why": {"": lambda: {"entity": entity(), "key": key()}, "by job": lambda: {
        "entity": entity(), "key": key(), "job": job()}},
    "v1/schedule": {"": lambda: {"name": f"stock of shop {chance.randrange(1, 20000):07}"}},
    "v1/schedules": {"": dict, "any": lambda: some_of(
        prefix=lambda: f"stock of shop {chance.randrange(200):05}", entity=lambda: "shop", key=key,
        job=lambda: some("rare", "is_paid", "nobody"))},
    "v1/audit": {"": dict, "any": lambda: some_of(
        who=lambda: some("grafana", "nobody"), change=lambda: some("retry", "pause"), entity=entity, key=key,
        job=job, **{"from": past})},
    "v1/events": {"back": lambda: {"limit": 100}, "": lambda: {"after": "0-0-0", "limit": some(1, 100)}},
    "v1/deliveries": {"": dict, "any": lambda: some_of(
        listener=lambda: some("hook", "mail", "none"), failed=lambda: 1, **{"from": past})},
}


def asked_by_pages():
    found = set()
    for path in glob.glob(MODULES):
        with open(path, encoding="utf-8") as module:
            found.update(re.findall(r"(?:ask\(|path: )\"(v1/[a-z-]+)\"", module.read()))
    return found - {"v1/deliver-again", "v1/resume", "v1/pause"}


class Client(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(120)
        self.sock.connect(asked.socket)


def ask(client, path, query):
    """Its time in ms, its bytes, and what went wrong."""
    query = urlencode({name: value for name, value in query.items() if value is not None})
    url = f"/{path}?{query}" if query else f"/{path}"
    begun = time.perf_counter()
    client.request("GET", url, headers={"Cache-Control": "max-age=0"})
    answer = client.getresponse()
    body = answer.read()
    ms = (time.perf_counter() - begun) * 1000
    wrong = None if answer.status in (200, 404) else f"{url}: {answer.status} {body[:200]}"
    return ms, url, wrong


# ---- what the processes of the server and of PostgreSQL have used -------------------------------

def children(pid):
    found = [pid]
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(stat, encoding="utf-8") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found += children(int(stat.split("/")[2]))
    return found


def cpu_ms():
    """Of the server and its children, and of the backends of its user."""
    pids = children(asked.server)
    for line in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(line, "rb") as file:
                if b"pages_server" in file.read():
                    pids.append(int(line.split("/")[2]))
        except OSError:
            continue
    ticks = 0
    for pid in set(pids):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        ticks += int(fields[11]) + int(fields[12])
    return ticks * 1000 / os.sysconf("SC_CLK_TCK")


# ---- what PostgreSQL has looked at ---------------------------------------------------------------

def rows_of(node):
    """Those that scans of this plan have read."""
    loops = node.get("Actual Loops", 0)
    read = sum(node.get(name, 0) for name in ("Actual Rows", "Rows Removed by Filter",
                                              "Rows Removed by Index Recheck"))
    mine = read * loops if "Relation Name" in node and node["Node Type"] != "Bitmap Index Scan" else 0
    return mine + sum(rows_of(child) for child in node.get("Plans", []))


def blocks_of(node):
    return node.get("Shared Hit Blocks", 0) + node.get("Shared Read Blocks", 0)


class Log:
    """auto_explain's plans since the last look: of a nested statement the outer one has the blocks."""

    def __init__(self, path):
        self.file = open(path, encoding="utf-8", errors="replace")
        self.file.seek(0, os.SEEK_END)

    def read(self):
        time.sleep(0.03)
        blocks = rows = 0
        slowest = (0, "")
        for text in re.split(r"\n(?=\d{4}-\d\d-\d\d )", self.file.read()):
            begin = text.find("{")
            if "plan:" not in text or begin < 0:
                continue
            try:
                plan = json.loads(re.sub(r"\n\t", "\n", text[begin:]))
            except ValueError:
                continue
            mine = rows_of(plan["Plan"])
            rows += mine
            blocks = max(blocks, blocks_of(plan["Plan"]))
            slowest = max(slowest, (mine, plan["Query Text"][:200]))
        return blocks, rows, slowest[1]


# ---- the table -----------------------------------------------------------------------------------

def percentile(times, share):
    return sorted(times)[min(len(times) - 1, int(len(times) * share))]


def tell(client, log, path, word, draw):
    times, worst, most = [], (0, ""), (0, 0, "", "")
    begun = cpu_ms()
    for _ in range(asked.times):
        time.sleep(OLD_S if word == "who asks first" else 0)
        ms, url, wrong = ask(client, path, draw())
        if wrong:
            print(f"not ok - {wrong}")
            return False
        times.append(ms)
        worst = max(worst, (ms, url))
        if log:
            blocks, rows, query = log.read()
            most = max(most, (rows, blocks, url, query))
    cpu = (cpu_ms() - begun) / asked.times
    limit = METRICS_LIMIT_MS if path == "metrics" else LIMIT_MS
    p99 = percentile(times, 0.99)
    is_good = most[0] <= LIMIT_ROWS if log else p99 <= limit
    print(f"{'ok    ' if is_good else 'not ok'} {asked.store:10} {path + ' ' + word:32} "
          f"{percentile(times, 0.5):7.1f} {p99:7.1f} {worst[0]:7.1f} {cpu:7.1f}"
          + (f" {most[1]:8} {most[0]:8}" if log else ""), flush=True)
    if not is_good:
        print(f"#      the {'most' if log else 'longest'}: {most[2] if log else worst[1]}")
        if log:
            print("#      " + " ".join(most[3].split()))
    return is_good


def main():
    missing = asked_by_pages() - set(QUESTIONS)
    if missing:
        print(f"not ok - pages ask {sorted(missing)}, and pages.py does not")
        return 1
    client = Client("localhost")
    log = Log(asked.log) if asked.log else None
    print(f"       {'':10} {'ms of':32} {'median':>7} {'p99':>7} {'most':>7} {'CPU':>7}"
          + (f" {'blocks':>8} {'rows':>8}" if log else ""))
    good = True
    for path, kinds in {**QUESTIONS, "metrics": {"": dict, "who asks first": dict}}.items():
        for word, draw in kinds.items():
            if (asked.only or "") in f"{path} {word}":
                good = tell(client, log, path, word, draw) and good
    return 0 if good else 1


parser = argparse.ArgumentParser()
parser.add_argument("socket")
parser.add_argument("--store", required=True)
parser.add_argument("--server", type=int, required=True)
parser.add_argument("--times", type=int, default=200)
parser.add_argument("--only")
parser.add_argument("--log")
asked = parser.parse_args()
sys.exit(main())
