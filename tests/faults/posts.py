#!/usr/bin/env python3
"""posts.py - clients that post checks to two servers of one store, which are killed meanwhile, and the
judge of what they were answered.

    posts.py post --case DIR --servers SOCKET SOCKET --posts N [--seed N] [--clients N] [--over SECONDS]
    posts.py judge --case DIR --store URL

Of a hundred requests ninety-four have one check, three an array, three are lines (NDJSON). Each check
has a uniqid. What is not answered, or with 503, is sent again, to each server in turn. A tenth is
repeated: at the same moment through the other server, right behind the answer, or at the end, when
its checks have been run. After some it is asked whether the other server knows the uniqid, and
something else is posted under it.

A unit is what is answered as a whole: one check, an array, or a line. Its name is that of the batch in
the plan (README.md), which gets its lines here. The lines of DIR/answers, with tabs between fields:
    answered TIME_US SERVER UNIT STATUS BODY     (of a line, the status of all)
    failed   TIME_US SERVER REQUEST WHAT         no answer, or 503; it is sent again
    seen     TIME_US SERVER UNIQID STATUS        GET /v1/requests after the answer
    other    TIME_US SERVER UNIQID STATUS        something else under that uniqid

The judge prints what is wrong, one line each, and exits 1. Kinds:
    unanswered  a request has no answer
    refused     an answer is none of 200 and 201
    differs     two answers to one unit differ in status or bytes
    missing     the check of an answered uniqid is neither waiting nor in the history
    twice       there are several
    another     it has another id than the answer says
    unnoted     the store has not noted the request as it was answered
    unseen      a request that was answered was not known to the other server
    taken       something else was taken under a used uniqid
    invented    the store has a check or a request that nobody sent
"""
import argparse
import collections
import http.client
import json
import os
import random
import socket
import sys
import threading
import time

sys.dont_write_bytecode = True
import check

WAIT_S = 60
PAUSE_S = 0.05
BETWEEN = ("beside", "behind", "late")


class Silence(Exception):
    """There is no answer, or one that asks for the same again."""


def now_us():
    return time.time_ns() // 1000


class Log:
    """A file to which many threads add whole lines."""

    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def add(self, *lines):
        os.write(self.file, "".join("\t".join(str(f) for f in line) + "\n" for line in lines).encode())


# ---- asking ----

class Connection(http.client.HTTPConnection):
    """To a socket file."""

    def __init__(self, path):
        super().__init__("localhost", timeout=WAIT_S)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(WAIT_S)
        self.sock.connect(self.path)


class Asker:
    """One connection to each server, which is opened again when it is lost."""

    def __init__(self, servers):
        self.servers, self.kept = servers, {}

    def ask(self, server, method, path, body=None, kind="application/json"):
        """(status, body, whether it is whole); Silence if there is nothing of it."""
        connection = self.kept.pop(server, None) or Connection(self.servers[server])
        try:
            connection.request(method, path, body, {"Content-Type": kind} if body else {})
            answer = connection.getresponse()
            closes = answer.will_close
            try:
                text, is_whole = answer.read(), True
            except http.client.IncompleteRead as e:
                text, is_whole = e.partial, False
        except (OSError, http.client.HTTPException) as e:
            connection.close()
            raise Silence(type(e).__name__)
        if is_whole and not closes:
            self.kept[server] = connection
        else:
            connection.close()
        return answer.status, text, is_whole


class Request:
    """One POST: `units` are (name, [check, ...])."""

    def __init__(self, name, kind, units):
        self.name, self.kind, self.units = name, kind, units

    def send(self, asker, server):
        """[(unit, status, body)] of what was answered, and what is wrong with the rest."""
        path = "/v1/checks"
        if self.kind == "lines":
            body = "".join(json.dumps(checks[0]) + "\n" for _, checks in self.units).encode()
            return self.of_lines(*asker.ask(server, "POST", path, body, "application/x-ndjson"))
        checks = self.units[0][1]
        body = json.dumps(checks if self.kind == "array" else checks[0]).encode()
        status, text, is_whole = asker.ask(server, "POST", path, body)
        if status == 503 or not is_whole:
            return [], str(status)
        return [(self.units[0][0], status, text)], None

    # What was answered before a stream was cut off counts. A problem in place of an answer is one,
    # unless it says that all that follows is missing.
    def of_lines(self, status, text, is_whole):
        if status == 503:
            return [], "503"
        if status != 200:
            return [(unit, status, text) for unit, _ in self.units], None
        said = [line for line in text.split(b"\n")[:-1] if b'"answered":' not in line]
        answers = [(unit, status, line) for (unit, _), line in zip(self.units, said)
                   if json.loads(line).get("status") != 503]
        if len(answers) == len(self.units) and is_whole:
            return answers, None
        return answers, "cut off" if len(said) < len(self.units) else "503"


# ---- posting ----

def a_check(rnd, uniqid, ahead_s):
    one = {"job": "witness", "uniqid": uniqid, "payload": ["done"],
           "check_at": int(time.time() + rnd.uniform(0, ahead_s)) + 1}
    if rnd.random() < 0.25:
        one.update(entity="row", key=uniqid)
    return one


def a_request(rnd, name, ahead_s):
    kind = rnd.choices(["single", "array", "lines"], [94, 3, 3])[0]
    n = {"single": 1, "array": rnd.randint(2, 10), "lines": rnd.randint(2, 20)}[kind]
    checks = [a_check(rnd, "%s.%d" % (name, i), ahead_s) for i in range(n)]
    if kind == "lines":
        return Request(name, kind, [(c["uniqid"], [c]) for c in checks])
    return Request(name, kind, [(name, checks)])


class Poster:
    def __init__(self, a, began, numbers):
        self.a, self.began, self.numbers = a, began, numbers
        self.asker = Asker(a.servers)
        self.answers = Log(os.path.join(a.case, "answers"))
        self.plan = Log(os.path.join(a.case, "plan"))
        self.late = []
        self.acked = set()

    def take(self, server, answers):
        self.answers.add(*(("answered", now_us(), server, unit, status, text.decode().rstrip("\n"))
                           for unit, status, text in answers))
        new = {unit for unit, status, _ in answers if status in (200, 201)} - self.acked
        self.plan.add(*(("acked", now_us(), unit) for unit in sorted(new)))
        self.acked |= new

    def insist(self, request, server):
        """Sends it until all of it is answered; the server that did it last."""
        until = time.monotonic() + self.a.patience
        while time.monotonic() < until:
            try:
                answers, wrong = request.send(self.asker, server)
            except Silence as e:
                answers, wrong = [], str(e)
            self.take(server, answers)
            if not wrong:
                return server
            self.answers.add(("failed", now_us(), server, request.name, wrong))
            server = 1 - server
            time.sleep(PAUSE_S)
        return server

    def question(self, word, uniqid, server, *asked):
        """The same for what is answered by a status."""
        until = time.monotonic() + self.a.patience
        while time.monotonic() < until:
            try:
                status, _, _ = self.asker.ask(server, *asked)
            except Silence:
                status = 503
            if status != 503:
                self.answers.add((word, now_us(), server, uniqid, status))
                return
            server = 1 - server
            time.sleep(PAUSE_S)

    def beside(self, request, server):
        """Through both at the same moment."""
        other = Poster(self.a, self.began, ())
        thread = threading.Thread(target=other.insist, args=(request, 1 - server))
        thread.start()
        self.insist(request, server)
        thread.join()

    def post(self, rnd, number):
        request, server = a_request(rnd, "p%d" % number, self.a.ahead), rnd.randrange(2)
        self.plan.add(*(("sent", now_us(), unit, c.get("entity", "message"), c["uniqid"], c["job"],
                         c["check_at"], json.dumps(c["payload"]))
                        for unit, checks in request.units for c in checks))
        how = rnd.choice(BETWEEN) if number % 10 == 0 else None
        if how == "beside":
            self.beside(request, server)
            return
        server = self.insist(request, server)
        first = request.units[0][1][0]
        if how == "behind":
            self.insist(request, 1 - server)
        elif how == "late":
            self.late.append((request, server))
        elif number % 50 == 1:
            self.question("seen", first["uniqid"], 1 - server, "GET",
                          "/v1/requests?uniqid=" + first["uniqid"])
        elif number % 50 == 2:
            other = json.dumps({**first, "payload": ["fail"]}).encode()
            self.question("other", first["uniqid"], 1 - server, "POST", "/v1/checks", other)

    def run(self):
        for number in self.numbers:
            pause = self.began + self.a.over * number / self.a.posts - time.monotonic()
            if pause > 0:
                time.sleep(pause)
            self.post(random.Random(self.a.seed * 1000003 + number), number)
        for request, server in self.late:
            self.insist(request, 1 - server)


def post(a):
    began = time.monotonic()
    posters = [Poster(a, began, range(n, a.posts, a.clients)) for n in range(a.clients)]
    threads = [threading.Thread(target=p.run) for p in posters]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    failed = collections.Counter(f[4] for f in check.lines(os.path.join(a.case, "answers"))
                                 if f[0] == "failed")
    print(sum(n for what, n in failed.items() if what != "503"), failed["503"])
    return 0


# ---- the judge ----

QUERIES = {
    # the history of one of the stores has no ids
    "checks": "SELECT entity_key, id FROM {T}future_job UNION ALL "
              "SELECT entity_key, 0 FROM {T}future_job_history",
    "requests": "SELECT uniqid, outcome, check_id FROM {T}request",
}


class Judge:
    def __init__(self, folder, url):
        self.found = []
        self.uniqids = collections.defaultdict(list)        # unit -> uniqids, in their order
        for f in check.lines(os.path.join(folder, "plan")):
            if f[0] == "sent":
                self.uniqids[f[2]].append(f[4])
        self.answers = collections.defaultdict(set)         # unit -> {(status, body)}
        self.lines = list(check.lines(os.path.join(folder, "answers")))
        for f in self.lines:
            if f[0] == "answered":
                self.answers[f[3]].add((int(f[4]), f[5]))
        ask = check.ask_store(url, QUERIES)
        self.checks, self.requests = collections.defaultdict(list), {}
        for uniqid, number in ask("checks"):
            self.checks[uniqid].append(int(number))
        for uniqid, outcome, number in ask("requests"):
            self.requests[uniqid] = (outcome, int(number))

    def say(self, kind, words, *args):
        self.found.append((kind, words % args))

    def all(self):
        for unit, uniqids in self.uniqids.items():
            self.unit(unit, uniqids)
        for f in self.lines:
            if f[0] == "seen" and f[4] != "200":
                self.say("unseen", "%s was answered, and then unknown: %s", f[3], f[4])
            elif f[0] == "other" and f[4] != "422":
                self.say("taken", "something else under %s was answered with %s", f[3], f[4])
        sent = {u for uniqids in self.uniqids.values() for u in uniqids}
        for uniqid in sorted((set(self.checks) | set(self.requests)) - sent):
            self.say("invented", "%s: nobody has sent it", uniqid)
        return self.found

    def unit(self, unit, uniqids):
        answers = sorted(self.answers[unit])
        if not answers:
            self.say("unanswered", "%s", unit)
            return
        if len(answers) > 1:
            self.say("differs", "%s: %d %s, and %d %s", unit, *answers[0], *answers[1])
        status, body = answers[0]
        if status not in (200, 201) or '"outcome"' not in body:
            self.say("refused", "%s: %d %s", unit, status, body)
            return
        said = json.loads(body)
        for uniqid, one in zip(uniqids, said if isinstance(said, list) else [said]):
            self.check(uniqid, one)

    def check(self, uniqid, said):
        ids = self.checks.get(uniqid, [])
        if not ids:
            self.say("missing", "%s: nothing was filed, or it is gone", uniqid)
        elif len(ids) > 1:
            self.say("twice", "%s: %d checks", uniqid, len(ids))
        elif ids[0] not in (0, said["id"]):
            self.say("another", "%s: it was said to be %d, and is %d", uniqid, said["id"], ids[0])
        if self.requests.get(uniqid) != (said["outcome"], said["id"]):
            self.say("unnoted", "%s: the store has %s", uniqid, self.requests.get(uniqid))


def judge(a):
    j = Judge(a.case, a.store)
    found = j.all()
    check.report(found)
    repeats = sum(f[0] == "answered" for f in j.lines) - len(j.answers)
    print("%d requests with %d checks, %d answered again, %d violations"
          % (len({unit.split(".")[0] for unit in j.uniqids}), sum(map(len, j.uniqids.values())), repeats,
             len(found)))
    return 1 if found else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["post", "judge"])
    p.add_argument("--case", required=True)
    p.add_argument("--store")
    p.add_argument("--servers", nargs=2)
    p.add_argument("--posts", type=int, default=1000)
    p.add_argument("--clients", type=int, default=24)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--over", type=float, default=0, help="seconds that all of it takes at least")
    p.add_argument("--ahead", type=float, default=3, help="seconds from now on for which they are wanted")
    p.add_argument("--patience", type=float, default=300, help="seconds until a request counts as unanswered")
    a = p.parse_args()
    return post(a) if a.what == "post" else judge(a)


if __name__ == "__main__":
    sys.exit(main())
