#!/usr/bin/env python3
"""http_ask.py ADDRESS CASE: sends bytes to an HTTP server as no library would, and prints what comes
back, a word or a line each. ADDRESS is a port of 127.0.0.1 or the path of a socket. Cases are the
functions below whose names begin with `case_`."""
import fcntl
import os
import select
import socket
import struct
import sys
import termios
import time

WAIT_S = 20 * int(os.environ.get("PATIENCE", "1"))
GET = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"


def connect(address):
    if address.isdigit():
        s = socket.create_connection(("127.0.0.1", int(address)))
    else:
        s = socket.socket(socket.AF_UNIX)
        s.connect(address)
    s.settimeout(WAIT_S)
    return s


def unread(s):
    """Bytes that the other side has not read yet."""
    return struct.unpack("i", fcntl.ioctl(s, termios.TIOCOUTQ, b"\0\0\0\0"))[0]


class Answers:
    """Reads one answer after the other from a connection."""

    def __init__(self, s):
        self.s, self.rest = s, b""

    def more(self):
        piece = self.s.recv(65536)
        self.rest += piece
        return piece

    def next(self, has_body=True):
        """(status, headers, body), or None at the end of the connection. To HEAD there is no body."""
        while b"\r\n\r\n" not in self.rest:
            if not self.more():
                return None
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines[1:])}
        length = int(headers["content-length"]) if has_body else 0
        while len(self.rest) < length:
            if not self.more():
                raise SystemExit("an answer is cut off")
        body, self.rest = self.rest[:length], self.rest[length:]
        return int(lines[0].split()[1]), headers, body

    def statuses(self):
        """All to the end of the connection."""
        answer = self.next()
        while answer:
            yield answer[0]
            answer = self.next()


def case_pieces(address):
    """A byte at a time."""
    s = connect(address)
    for byte in GET % b"/readiness":
        s.sendall(bytes([byte]))
    print(Answers(s).next()[0])


def case_pipeline(address):
    """A hundred at once, to processes and to the front in turn: answered in their order."""
    s = connect(address)
    s.sendall(b"".join(GET % (b"/v1/checks" if i % 2 else b"/none/%d" % i) for i in range(100)))
    answers = Answers(s)
    for i in range(100):
        status, _, body = answers.next()
        if status != (200 if i % 2 else 404) or (i % 2 == 0 and b"/none/%d\"" % i not in body):
            raise SystemExit("answer %d is %d %r" % (i, status, body))
    print("in order")


def case_refused(address):
    """Each is refused, and the connection closed: what follows is not run as a request."""
    behind = GET % b"/liveness"
    for bad in (
        b"GET /liveness HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd",
        b"GET /liveness HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n",
        b"GET /liveness HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"GET /live%00ness HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /liveness HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nabcd",
        b"DELETE /liveness HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nabcd",
        b"\x00\x01\x02\x03",
        b"GET /" + b"a" * 20000,
    ):
        s = connect(address)
        s.sendall(bad + behind)
        answers = Answers(s)
        status, headers, body = answers.next()
        if headers["content-type"] != "application/problem+json" or headers["connection"] != "close":
            raise SystemExit("%r: %r" % (bad[:40], headers))
        print(status, *answers.statuses())


def case_half_closed(address):
    """Who has sent all, and says so, is answered."""
    s = connect(address)
    s.sendall(GET % b"/v1/checks")
    s.shutdown(socket.SHUT_WR)
    print(*Answers(s).statuses())


def case_held_open(address):
    """More than it holds, which say nothing, or not enough, keep nobody out."""
    held = []
    for i in range(1200):
        held.append(connect(address))
        if i % 100 == 99:
            time.sleep(0.15)        # nobody is let go in his first tenth of a second
    s = connect(address)
    s.sendall(GET % b"/readiness")
    print(Answers(s).next()[0], "the oldest is closed" if held[0].recv(1) == b"" else "")


def case_do_not_read(address):
    """Seventy that ask for a large answer, which others have got, and read its first byte alone."""
    held = []
    for _ in range(70):
        s = connect(address)
        s.sendall(b"GET /v1/checks?entity=large&limit=1000 HTTP/1.1\r\nHost: localhost\r\n"
                  b"Cache-Control: max-age=30\r\n\r\n")
        s.recv(1)
        held.append(s)
    print("asked", flush=True)
    time.sleep(WAIT_S)


def case_gone(address):
    """Clients that go away in the middle of everything."""
    for i in range(300):
        s = connect(address)
        s.sendall((GET % b"/readiness")[: i % 60])
        s.close()
    for i in range(50):
        s = connect(address)
        s.sendall((GET % b"/v1/checks") * 20)
        s.close()
    s = connect(address)
    s.sendall(GET % b"/liveness")
    print(Answers(s).next()[0])


POST_LINES = (b"POST /v1/checks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
              b"Transfer-Encoding: chunked\r\n\r\n")
FEED = b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"


def from_elsewhere(address):
    s = socket.create_connection(("127.0.0.1", int(address)), source_address=("127.0.0.2", 0))
    s.settimeout(WAIT_S)
    return s


def statuses_of(ask, connections):
    """What each was told of the first line of its answer."""
    out = []
    for s in connections:
        s.sendall(ask)
        out.append(s.recv(12)[9:].decode())
    return out


def case_takes_all(address):
    """One peer has as many requests under way as it can; then it asks for less, and others ask."""
    held = []
    while True:
        s = connect(address)
        s.sendall(POST_LINES)
        if select.select([s], [], [], 0.02 if len(held) < 60 else 0.2)[0]:
            break
        held.append(s)
    status, headers, _ = Answers(s).next()
    print(len(held), "under way; one more:", status, headers["retry-after"], headers["connection"])
    print("alive:", *statuses_of(GET % b"/liveness", [connect(address)]))
    print("others:", *statuses_of(GET % b"/v1/checks", [from_elsewhere(address) for i in range(3)]))
    other = [from_elsewhere(address) for i in range(2)]
    for s in other:
        s.sendall(POST_LINES)
    print("beside them:", *statuses_of(GET % b"/v1/checks", [from_elsewhere(address)]))
    for s in held[:20]:
        s.close()
    end = time.monotonic() + WAIT_S
    while statuses_of(GET % b"/v1/checks", [connect(address)]) != ["200"] and time.monotonic() < end:
        time.sleep(0.05)
    print("again:", *statuses_of(GET % b"/v1/checks", [connect(address)]))


def case_feeds_of_two(address):
    """One peer has as many feeds as it can; another one gets some, too."""
    ours, others = [connect(address) for i in range(60)], [from_elsewhere(address) for i in range(10)]
    own, other = statuses_of(FEED, ours), statuses_of(FEED, others)
    print(own.count("200"), own.count("429"), other.count("200"), other.count("429"))


def case_told_to_end(address):
    """Asks, waits for a line on its input, and reads on: the server is told to end meanwhile."""
    idle, s = connect(address), connect(address)
    idle_answers, answers = Answers(idle), Answers(s)
    for one, its in ((idle, idle_answers), (s, answers)):
        one.sendall(GET % b"/liveness")
        its.next()
    s.sendall(GET % b"/v1/checks")
    while unread(s):
        time.sleep(0.02)
    print("asked", flush=True)
    sys.stdin.readline()
    status, headers, _ = answers.next()
    print(status, headers.get("connection"), *idle_answers.statuses())


def case_tries(address, token):
    """Wrong tokens over connections of their own: the first are answered, the others wait. A right one
    that comes later is answered while they do. When many wait, more are sent away."""
    head = b"GET /v1/session HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n"
    wrong = head % b"Basic"
    for i in range(5):
        s = connect(address)
        s.sendall(wrong)
        if Answers(s).next()[0] != 401:
            raise SystemExit("try %d is let in" % i)
    slowed = []
    for i in range(200):
        slowed.append(connect(address))
        slowed[-1].sendall(wrong)
    right = connect(address)
    right.sendall(head % token.encode())
    status = Answers(right).next()[0]
    waiting = [s for s in slowed if not select.select([s], [], [], 0)[0]]
    if status != 200 or not waiting:
        raise SystemExit("the right one: %d, and %d wait" % (status, len(waiting)))
    print("5 at once, the right one before the next,", *sorted({Answers(s).next()[0] for s in slowed}))


def case_again_behind_it(address, path):
    """The same twice, the second before there is an answer to the first. "asked": they have come."""
    s = connect(address)
    older = b"GET %s HTTP/1.1\r\nHost: localhost\r\nCache-Control: max-age=20\r\n\r\n" % path.encode()
    s.sendall(2 * older)
    while unread(s):
        time.sleep(0.01)
    print("asked", flush=True)
    answers = Answers(s)
    print(answers.next()[0], answers.next()[0], flush=True)


if __name__ == "__main__":
    globals()["case_" + sys.argv[2]](*sys.argv[1:2], *sys.argv[3:])
