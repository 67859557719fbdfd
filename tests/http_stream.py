#!/usr/bin/env python3
"""http_stream.py CASE SOCKET ...: posts checks as lines (application/x-ndjson), and prints what came
back, in a word or a line. Cases are the functions below whose names begin with `case_`."""
import json
import os
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from http_ask import Answers, connect, unread  # noqa: E402

PATIENCE = int(os.environ.get("PATIENCE", "1"))
END = time.monotonic() + 60 * PATIENCE
HEAD = b"POST /v1/checks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
SLOT_S = 900
FIRST_SLOT = 4070908800             # 2099-01-01


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def line(number, **more):
    """One check; of the thousandth part of a slot, so that its answer shows which it is."""
    check = {"job": "look", "check_at": FIRST_SLOT + number * SLOT_S, "uniqid": "u%d" % number}
    return json.dumps({**check, **more}).encode() + b"\n"


def slot_text(number):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(FIRST_SLOT + number * SLOT_S))


class Stream:
    """One request on a connection: lines come out as they come in."""

    def __init__(self, address):
        self.s = connect(address)
        self.rest = b""
        self.lines = b""            # of the answer, not read yet
        self.status = None
        self.is_complete = False    # the last chunk has come

    def more(self):
        try:
            piece = self.s.recv(65536)
        except ConnectionError:
            piece = b""
        self.rest += piece
        return bool(piece)

    def until(self, text):
        while text not in self.rest:
            if not self.more():
                return None
        head, self.rest = self.rest.split(text, 1)
        return head

    def begin(self):
        """(status, headers); the body of another kind of answer is in `lines`."""
        head = self.until(b"\r\n\r\n")
        while head and head.startswith(b"HTTP/1.1 100"):
            head = self.until(b"\r\n\r\n")
        if head is None:
            return None, {}
        fields = head.decode().split("\r\n")
        headers = {k.lower(): v for k, v in (f.split(": ", 1) for f in fields[1:])}
        self.status = int(fields[0].split()[1])
        if "content-length" in headers:
            while len(self.rest) < int(headers["content-length"]) and self.more():
                pass
            self.lines, self.rest, self.is_complete = self.rest, b"", True
        return self.status, headers

    def read_chunk(self):
        size = self.until(b"\r\n")
        if not size:
            return False
        while len(self.rest) < int(size, 16) + 2:
            if not self.more():
                return False
        data, self.rest = self.rest[:int(size, 16)], self.rest[int(size, 16) + 2:]
        self.lines += data
        self.is_complete = not data
        return bool(data)

    def next(self):
        """The next line of the answer; None: there is none."""
        if self.status is None:
            self.begin()
        while b"\n" not in self.lines:
            if self.is_complete or not self.read_chunk():
                return None
        one, self.lines = self.lines.split(b"\n", 1)
        return one

    def all(self):
        return list(iter(self.next, None))


def beside(s, *parts):
    """Sends them while somebody reads."""
    def send():
        try:
            for part in parts:
                s.sendall(part)
        except OSError:
            pass                    # the server has had enough
    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    return thread


def post(address, body, head=None):
    """The stream, and all lines of its answer."""
    stream = Stream(address)
    beside(stream.s, head or HEAD + b"Content-Length: %d\r\n\r\n" % len(body), body)
    return stream, stream.all()


def say(stream, lines):
    """What of each kind of line there is."""
    kinds = {}
    for one in lines:
        said = json.loads(one)
        kind = said.get("outcome") or "%d at %s" % (said["status"], said.get("line", "the end"))
        kinds[kind] = kinds.get(kind, 0) + 1
    print(stream.status, *("%s: %d" % k for k in kinds.items()), "" if stream.is_complete else "cut off")


def case_order(address, n):
    """Each answer in the place of its line, and a repeat in other pieces with the same bytes."""
    n = int(n)
    body = b"".join(line(i) for i in range(n))
    stream, first = post(address, body)
    slots = [json.loads(one)["check_at"] for one in first]
    if slots != [slot_text(i) for i in range(n)]:
        raise SystemExit("the order is another one, or some are missing: %d" % len(slots))
    pieces = b"".join(chunk(body[i:i + 777]) for i in range(0, len(body), 777)) + b"0\r\n\r\n"
    again, second = post(address, pieces, CHUNKED)
    if first != second:
        raise SystemExit("a repeat differs")
    print(stream.status, again.status, "in order, and repeated in the same bytes")


def case_in_turn(address):
    """Who waits for each answer before the next line gets it; a byte at a time, too."""
    stream = Stream(address)
    stream.s.sendall(CHUNKED)
    for i in range(50):
        pieces = [line(i)] if i % 10 else [bytes([b]) for b in line(i)]
        for piece in pieces:
            stream.s.sendall(chunk(piece))
        if json.loads(stream.next())["check_at"] != slot_text(i):
            raise SystemExit("answer %d is another one" % i)
    stream.s.sendall(b"0\r\n\r\n")
    print(stream.next(), stream.is_complete)
    stream.s.sendall(b"GET /liveness HTTP/1.1\r\nHost: localhost\r\n\r\n")
    print("then", Stream.begin(stream)[0])


def case_bad_lines(address):
    """In the middle, one of each kind of fault; all others go in."""
    faults = {
        700: b'{"job": \n', 701: b'{"job": "look", "in": 1, "uniqid": 5, "kye": 1}\n', 702: b"[]\n",
        703: b'{"job": "look", "in": 1, "uniqid": "u1"}\n', 704: b"\xff\n",
        705: line(705, payload="x" * 70000), 706: b'{"job": "lock", "in": 1, "uniqid": "j"}\r\n',
        707: b'{"job": "look", "in": 1, "job": "look", "uniqid": "t"}\n', 708: b"\0\n",
    }
    body = b"".join(faults.get(i, line(i)) for i in range(1500))
    stream, lines = post(address, body)
    for number in faults:
        said = json.loads(lines[number])
        print(said["line"] - number, said["status"],
              ",".join(e["pointer"] for e in said["errors"]) if "errors" in said else said["type"])
    good = [json.loads(one).get("check_at") for i, one in enumerate(lines) if i not in faults]
    print(stream.status, len(lines), good == [slot_text(i) for i in range(1500) if i not in faults])


def case_ends_of_lines(address):
    """CR LF, empty lines, white space, no end of the last one."""
    body = b"\n\r\n" + line(1)[:-1] + b"\r\n \t\n" + line(2) + b"\n5\n\n" + line(3)[:-1]
    say(*post(address, body))
    for nothing in (b"", b"\n", b"\r\n\n \n"):
        say(*post(address, nothing))


def case_edges_of_a_line(address):
    """As long as one may be, with either end; and a byte more."""
    for number in range(6):
        more, end = number // 3, (b"\n", b"\r\n", b"")[number % 3]
        one = line(3000 + number)[:-1]
        one = one[:-1] + b" " * (65536 + more - len(one)) + b"}"
        say(*post(address, one + end))


def case_refused(address):
    """Before anything of it is answered."""
    for head in (HEAD + b"Content-Length: 2\r\nIdempotency-Key: a\r\n\r\n",
                 HEAD.replace(b"1.1", b"1.0") + b"Content-Length: 2\r\n\r\n",
                 HEAD + b"Content-Length: 2\r\nContent-Encoding: gzip\r\n\r\n",
                 HEAD + b"Content-Length: 99999999999\r\n\r\n",
                 HEAD.replace(b"POST", b"PUT") + b"\r\n"):
        print(post(address, b"", head)[0].status, end=" ")
    stream = Stream(address)
    stream.s.sendall(HEAD + b"Content-Length: 3\r\nExpect: 100-continue\r\n\r\n")
    print(stream.until(b"\r\n\r\n").decode(), end=" ")
    stream.s.sendall(b"{}\n")
    print(json.loads(stream.next())["status"])


def case_too_many(address):
    say(*post(address, line(1) + b"\n" * 99998 + line(2) + line(3)))
    say(*post(address, line(1) + b"\n" * 99998 + line(2)))


def case_cut(address):
    """Bodies that end in the middle, or are none."""
    for head, body in ((HEAD + b"Content-Length: 9999\r\n\r\n", line(1) + line(2) + line(3)[:9]),
                       (CHUNKED, chunk(line(1) + b'{"j') + b"zz"),
                       (CHUNKED, chunk(b'{"j')),
                       (HEAD + b"Content-Length: 9999\r\n\r\n", b"")):
        stream = Stream(address)
        stream.s.sendall(head + body)
        stream.s.shutdown(socket.SHUT_WR)
        lines = stream.all()
        say(stream, lines)
        print("answered", json.loads(lines[-1])["answered"])


def case_gone(address):
    """Clients that go away anywhere in it."""
    for i in range(200):
        s = connect(address)
        s.sendall((CHUNKED + chunk(line(0) * 40) + b"0\r\n\r\n")[:len(CHUNKED) - 20 + 17 * i])
        s.close()
    say(*post(address, line(0)))


def wait_until_read(*sockets):
    while any(unread(s) for s in sockets):
        if time.monotonic() > END:
            raise SystemExit("the server does not read")
        time.sleep(0.01)


def begin_when_told():
    print("ready", flush=True)
    sys.stdin.readline()


def case_told_to_end(address):
    """Waits for lines on its input: the server is told to end meanwhile, and has to answer one part of
    one body, all of another one, and nothing of a third."""
    begin_when_told()
    part, whole, nothing = Stream(address), Stream(address), Stream(address)
    part.s.sendall(CHUNKED + chunk(line(1) + line(2) + b'{"job'))
    nothing.s.sendall(CHUNKED + chunk(b'{"job'))
    whole.s.sendall(CHUNKED + chunk(line(3) + line(4)) + b"0\r\n\r\n")
    wait_until_read(part.s, whole.s, nothing.s)
    print("asked", flush=True)
    sys.stdin.readline()
    for stream in (part, whole, nothing):
        say(stream, stream.all())


def case_turns(address):
    """Five streams wait, and one single check behind them: told to go on by a line on its input. The
    tenants say whose checks are whose."""
    begin_when_told()
    streams = []
    for i in range(5):
        streams.append(Stream(address))
        body = b"".join(line(1000 * i + k, tenant="stream%d" % i) for k in range(100))
        streams[-1].s.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        wait_until_read(streams[-1].s)
    single = connect(address)
    body = line(9000, tenant="single")
    single.sendall(HEAD.replace(b"x-ndjson", b"json") + b"Content-Length: %d\r\n\r\n" % len(body) + body)
    wait_until_read(single)
    print("asked", flush=True)
    sys.stdin.readline()
    print(Answers(single).next()[0])
    for stream in streams:
        say(stream, stream.all())


def insist(addresses, turn, body, n):
    """Sends all of it again, to each server in turn, until all lines are answered for good."""
    while time.monotonic() < END:
        try:
            stream, lines = post(addresses[turn % len(addresses)], body)
        except OSError:
            lines = []
        if len(lines) == n and stream.is_complete and all(b'"outcome"' in one for one in lines):
            return lines
        turn += 1
        time.sleep(0.05)
    raise SystemExit("not answered in time")


def case_killed(one, two, clients, n):
    """Servers are killed meanwhile; each client sends all of its lines again until it has all answers,
    and then once more through the other."""
    found = []

    def client(number):
        body = b"".join(line(i, uniqid="c%d.%d" % (number, i)) for i in range(int(n)))
        first = insist((one, two), number, body, int(n))
        found.append(first == insist((two, one), number, body, int(n)))
    threads = [threading.Thread(target=client, args=(k,)) for k in range(int(clients))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print("%d streams" % len(found), "repeated in the same bytes" if all(found) else "a repeat differs")


# ---- memory ----

def case_large(address, n, distinct):
    """So many lines of 60 KB; so many of them are different checks."""
    stream = Stream(address)
    texts = [chunk(line(10000 + i, payload="p" * 61300)) for i in range(int(distinct))]

    def send():
        stream.s.sendall(CHUNKED)
        for i in range(int(n)):
            stream.s.sendall(texts[i % len(texts)])
        stream.s.sendall(b"0\r\n\r\n")
    threading.Thread(target=send, daemon=True).start()
    taken = sum(1 for one in iter(stream.next, None) if b'"outcome"' in one)
    print(taken, "complete" if stream.is_complete else "cut off")


def case_slow_to_send(address, n):
    """So many that stay in the middle of a line of 60 KB, until a line comes on its input."""
    streams = [Stream(address) for _ in range(int(n))]
    for i, stream in enumerate(streams):
        stream.s.sendall(CHUNKED + chunk(line(i)))
        stream.next()
        stream.s.sendall(b"20000\r\n{" + b" " * 57999)
    wait_until_read(*(stream.s for stream in streams))
    print("held", flush=True)
    sys.stdin.readline()


def case_slow_to_read(address, n):
    """So many that read no answer, until a line comes on its input."""
    body = chunk(b"".join(line(i) for i in range(1000)))
    sockets = {connect(address): 0 for _ in range(int(n))}
    for s in sockets:
        s.sendall(CHUNKED)
        s.setblocking(False)
    quiet = 0
    while quiet < 50:               # turns in which the server reads nothing of any
        quiet += 1
        for s in sockets:
            try:
                sockets[s] += s.send(body[sockets[s] % len(body):])
                quiet = 0
            except BlockingIOError:
                pass
        time.sleep(0.02)
    print("held", max(sockets.values()) // len(body), flush=True)
    sys.stdin.readline()


def case_never_reads(address):
    """Sends until the server closes, which it does long before it has read all."""
    body = chunk(b"".join(line(i) for i in range(1000)))
    s = connect(address)
    s.settimeout(60 * PATIENCE)
    sent = 0
    try:
        s.sendall(CHUNKED)
        while sent < 100 * len(body):
            sent += s.send(body[sent % len(body):])
        print("it has read on")
    except ConnectionError:
        print("closed after", sent // len(body), "thousand")


def case_stalls(address):
    """Sends no more in the middle: whoever waits is told, and what has come was taken."""
    stream = Stream(address)
    stream.s.settimeout(60 * PATIENCE)
    stream.s.sendall(CHUNKED + chunk(line(1) + b"{"))
    say(stream, stream.all())


if __name__ == "__main__":
    globals()["case_" + sys.argv[1]](*sys.argv[2:])
