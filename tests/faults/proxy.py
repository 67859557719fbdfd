#!/usr/bin/env python3
"""proxy.py - a proxy in front of a database (or any other server) that does to connections what networks
do, on command, while it runs.

    proxy.py --to TARGET --control SOCKET [--listen HOST:PORT] [--seed N]
                            prints the port it listens on
    proxy.py --tell SOCKET COMMAND...
                            prints one answer, one line; exit code 1: the command was refused

TARGET is HOST:PORT or the path of a unix socket; the front is always TCP (127.0.0.1 and a free port).
`up` is the direction to the server.

    pass                    nothing is wrong any more; what was held back goes on
    drop [up|down]          nothing moves (in this direction), connections stay open, also new ones:
                            a cable that is out
    forget                  connections that are open now are dead from here on, silently; new ones
                            pass: a firewall that was restarted
    rst | fin               all open connections end now, on both sides
    cut WAY N [HOW]         each connection, open or new, ends after N more bytes that way. HOW: rst;
                            fin; turn: one and the other; hold: it stays open, dead to both sides
    noise PERCENT [HOW]     each chunk of bytes may be the last one of its connection, and then a
                            part of it passes
    delay MS [JITTER]       what comes in goes on that much later, in order, each way
    rate KBIT               of the whole line, each way
    refuse                  new connections are refused
    when TEXT COMMAND...    once: as soon as TEXT goes up anywhere, and before it does. A `cut` then
                            applies to that connection alone
    every TEXT WAY N,N,... [HOW]
                            each time that TEXT goes up: cut WAY at the next of these
    log FILE WHOM           each connection that is ended here from now on is a line of a case's log
                            of faults
    stat                    open=N total=N up=BYTES down=BYTES cuts=N
                            answer=BYTES (down, after the last TEXT, until more went up)
                            armed=TEXTS-not-yet-seen
    ends                    where in that answer the messages of PostgreSQL's protocol end: N,N,...

It never changes, doubles or leaves out bytes in the middle of a stream, because TCP does not either.
"""
import argparse
import collections
import fcntl
import heapq
import os
import random
import selectors
import signal
import socket
import struct
import sys
import termios
import time

BACKLOG = 512
CHUNK = 65536
QUEUE_MAX = 4 * CHUNK               # bytes on their way, before their sender has to wait
LINE_CHUNK = 1448                   # a line with a rate carries pieces of this size
RST_WAIT_S = 0.3                    # bytes that are on their way to the peer leave before a reset
DRAIN_S = 5.0                       # how long a side that was told the end may go on sending
OTHER = {"up": "down", "down": "up"}
END = None                          # in a queue: the sender has closed


class Refused(Exception):
    """A command that cannot be."""


class Way:
    """One direction of a connection."""

    def __init__(self, source, sink):
        self.source, self.sink = source, sink
        self.queue, self.queued = collections.deque(), 0        # (when it is due, bytes or END)
        self.left, self.how = None, "rst"                       # bytes until the cut
        self.last_due = 0.0
        self.ended, self.closed = False, False                  # END was read; was passed on


class Connection:
    def __init__(self, client, server):
        self.client, self.server = client, server
        self.ways = {"up": Way(client, server), "down": Way(server, client)}
        self.begun, self.connecting = False, True               # the connection to the server
        self.dead, self.ending, self.drains = False, False, False
        self.counts = False         # what comes down now answers a text that was waited for
        self.tail = b""             # the last bytes that went up, in which a text may have begun


class Proxy:
    def __init__(self, target, listen, control, seed):
        self.target, self.random = target, random.Random(seed)
        self.selector, self.interest = selectors.DefaultSelector(), {}
        self.timers, self.timer_number = [], 0
        self.connections = set()
        self.total, self.moved, self.cuts, self.answer = 0, {"up": 0, "down": 0}, 0, b""
        self.fault_log, self.whom = None, "store"
        self.nothing_wrong()
        self.front = front_at(listen)
        self.welcome()
        self.control = socket.socket(socket.AF_UNIX)
        self.control.bind(control)
        self.control.listen(16)
        self.watch(self.control, selectors.EVENT_READ, lambda events: self.take_command())

    def nothing_wrong(self):
        self.held = {"up": False, "down": False}
        self.cut_at = {"up": None, "down": None}
        self.cut_how, self.noise, self.noise_how = "rst", 0.0, "rst"
        self.delay = self.jitter = self.rate = 0.0
        self.line_free = {"up": 0.0, "down": 0.0}
        self.refuses, self.triggers = False, []

    # ---- the loop ----

    def watch(self, sock, events, call):
        """A socket of which nothing is wanted is not watched: its end would be reported again and again."""
        if self.interest.get(sock, 0) == events:
            return
        if not events:
            self.selector.unregister(sock)
        elif self.interest.get(sock):
            self.selector.modify(sock, events, call)
        else:
            self.selector.register(sock, events, call)
        self.interest[sock] = events

    def at(self, moment, call):
        self.timer_number += 1
        heapq.heappush(self.timers, (moment, self.timer_number, call))

    def run(self):
        while True:
            wait = None if not self.timers else max(0.0, self.timers[0][0] - time.monotonic())
            for key, events in self.selector.select(wait):
                if self.interest.get(key.fileobj):      # else closed by an earlier one of this round
                    key.data(events)
            now = time.monotonic()
            while self.timers and self.timers[0][0] <= now:
                heapq.heappop(self.timers)[2]()

    # ---- connections ----

    def welcome(self):
        self.front.listen(BACKLOG)
        self.watch(self.front, selectors.EVENT_READ, lambda events: self.take_client())

    def take_client(self):
        try:
            client, _ = self.front.accept()
        except OSError:
            return
        server = socket.socket(socket.AF_UNIX if isinstance(self.target, str) else socket.AF_INET)
        for sock in (client, server):
            sock.setblocking(False)
            if sock.family != socket.AF_UNIX:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        c = Connection(client, server)
        self.total += 1
        self.connections.add(c)
        for name, way in c.ways.items():
            way.left, way.how = self.cut_at[name], self.cut_how
        self.look(c)

    def connect(self, c):
        """A server behind a line that is out never hears of the connection."""
        c.begun = True
        try:
            c.server.connect(self.target)
        except BlockingIOError:
            # a unix socket says so, too, when its queue is full: found out as soon as it should be
            # connected
            pass
        except OSError:
            self.end(c, "rst", ours=False)

    def is_held(self, c, name):
        return self.held[name] or c.dead

    def look(self, c):
        """What is wanted of the two sockets of this connection now."""
        if c in self.connections and not c.begun and not any(self.is_held(c, name) for name in c.ways):
            self.connect(c)
        if c not in self.connections or not c.begun:
            return
        wants = {c.client: 0, c.server: 0}
        now = time.monotonic()
        for name, way in c.ways.items():
            if c.ending or self.is_held(c, name):
                continue
            if not way.ended and way.queued < QUEUE_MAX and not c.connecting:
                wants[way.source] |= selectors.EVENT_READ
            if way.queue and way.queue[0][0] <= now and not c.connecting:
                wants[way.sink] |= selectors.EVENT_WRITE
        if c.connecting and not self.is_held(c, "up"):
            wants[c.server] |= selectors.EVENT_WRITE
        for sock, events in wants.items():
            self.watch(sock, events, lambda happened, sock=sock: self.move(c, sock, happened))

    def move(self, c, sock, events):
        if c.connecting:
            error = c.server.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            try:
                c.server.getpeername()
            except OSError as e:
                error = error or e.errno
            if error:
                self.end(c, "rst")
                return
            c.connecting = False
        for name, way in c.ways.items():
            if c not in self.connections or c.ending:
                return
            if way.source is sock and events & selectors.EVENT_READ and not way.ended:
                self.read(c, name, way)
            if c in self.connections and not c.ending and way.queue and not self.is_held(c, name):
                self.write(c, name, way)
        self.look(c)

    def read(self, c, name, way):
        try:
            data = way.source.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:             # the peer's reset goes on to the other side, as it would without us
            self.end(c, "rst", ours=False)
            return
        now = time.monotonic()
        if not data:
            way.ended = True
            self.put(way, name, now, END)
            return
        if c.drains:
            return
        if name == "up":
            c.counts = False
        if name == "up" and self.triggers:
            self.pull_trigger(c, data)
            if c not in self.connections or c.ending:
                return
        if self.noise and way.left is None and self.random.random() * 100 < self.noise:
            way.left, way.how = way.queued + self.random.randrange(len(data) + 1), self.noise_how
        if not self.rate:
            self.put(way, name, now, data)
            return
        for at in range(0, len(data), LINE_CHUNK):
            self.put(way, name, now, data[at:at + LINE_CHUNK])

    def put(self, way, name, now, data):
        due = now
        if self.rate and data:
            self.line_free[name] = due = max(now, self.line_free[name]) + len(data) / self.rate
        if self.delay or self.jitter:
            due += max(0.0, self.delay + self.random.uniform(-self.jitter, self.jitter))
        way.last_due = due = max(due, way.last_due)     # never past what went before
        way.queue.append((due, data))
        way.queued += len(data) if data else 0

    def write(self, c, name, way):
        now = time.monotonic()
        while way.queue and way.left != 0:
            due, data = way.queue[0]
            if due > now:
                self.at(due, lambda: self.move_due(c, way))
                return
            if data is END:
                way.queue.popleft()
                self.pass_end(c, way)
                return
            part = data if way.left is None else data[:way.left]
            try:
                sent = way.sink.send(part)
            except BlockingIOError:
                return
            except OSError:
                self.end(c, "rst", ours=False)
                return
            self.account(c, way, name, data, sent)
        if way.left == 0:
            self.cut(c, way.how)

    def account(self, c, way, name, data, sent):
        way.queued -= sent
        self.moved[name] += sent
        if name == "down" and c.counts:
            self.answer += data[:sent]
        if way.left is not None:
            way.left -= sent
        if sent == len(data):
            way.queue.popleft()
        else:
            way.queue[0] = (way.queue[0][0], data[sent:])

    def move_due(self, c, way):
        if c in self.connections and not c.ending:
            self.move(c, way.sink, selectors.EVENT_WRITE)

    def pass_end(self, c, way):
        way.closed = True
        shut(way.sink)
        if all(w.closed for w in c.ways.values()):
            self.end(c, "close", ours=False)

    # ---- ends ----

    def note(self):
        """One line of a log of faults, before the deed."""
        self.cuts += 1
        if self.fault_log:
            with open(self.fault_log, "a", encoding="ascii") as f:
                f.write("%d\tat\tcut\t%s\n" % (time.time_ns() // 1000, self.whom))

    def cut(self, c, how):
        if how == "turn":
            how = "fin" if self.cuts % 2 else "rst"
        self.note()
        c.dead, c.ending = how == "hold", how != "hold"
        self.look(c)
        if c.ending:
            self.end_when_sent(c, how, time.monotonic() + RST_WAIT_S)

    def end_when_sent(self, c, how, until):
        """A reset overtakes what lies in the socket, and N bytes are to arrive."""
        if c not in self.connections:
            return
        now = time.monotonic()
        if now < until and any(unsent(s) for s in (c.client, c.server)):
            self.at(now + 0.001, lambda: self.end_when_sent(c, how, until))
        else:
            self.end(c, how, ours=False)

    def end(self, c, how, ours=True):
        """rst: both sides at once; fin: each gets the end, and what it still sends is dropped; close: both
        have sent everything."""
        if c not in self.connections:
            return
        if ours:
            self.note()
        if how == "fin" and not c.connecting and not c.drains:
            self.drain(c)
            return
        self.connections.discard(c)
        for sock in (c.client, c.server):
            self.watch(sock, 0, None)
            self.interest.pop(sock, None)
            end_socket(sock, how)

    def drain(self, c):
        c.drains, c.ending, c.dead = True, False, False
        for way in c.ways.values():
            way.queue.clear()
            way.queued, way.left = 0, None
            shut(way.sink)
            way.closed = way.ended          # the other side's own end is waited for
        self.look(c)
        self.at(time.monotonic() + DRAIN_S, lambda: self.end(c, "close", ours=False))

    def pull_trigger(self, c, data):
        text = c.tail + data
        for trigger in list(self.triggers):
            words, command, steps = trigger
            if words in text:
                now = command
                if steps:
                    now = command[:2] + [str(steps.pop(0))] + command[2:]
                if not steps:
                    self.triggers.remove(trigger)
                self.answer, c.counts = b"", True
                self.obey(now, c)
        longest = max((len(words) for words, _, _ in self.triggers), default=1)
        c.tail = text[len(text) - longest + 1:] if longest > 1 else b""

    # ---- commands ----

    def take_command(self):
        try:
            peer, _ = self.control.accept()
            peer.settimeout(1.0)
            words = peer.recv(65536).decode(errors="replace").split()
        except OSError:
            return
        try:
            answer = self.obey(words, None) or "ok"
        except (Refused, ValueError, IndexError) as e:
            answer = "refused: %s: %s" % (" ".join(words), e)
        try:
            peer.sendall((answer + "\n").encode())
        except OSError:
            pass
        peer.close()

    def obey(self, words, c):
        """c: the connection whose text has called for this, or None."""
        if not words or words[0] not in COMMANDS:
            raise Refused("expected one of " + ", ".join(COMMANDS))
        answer = COMMANDS[words[0]](self, words[1:], c)
        for one in list(self.connections):
            self.look(one)
            if not one.ending and not one.connecting:
                for name, way in one.ways.items():
                    if way.queue and not self.is_held(one, name):
                        self.move_due(one, way)
        return answer

    def do_pass(self, args, c):
        if self.refuses:
            self.welcome()
        self.nothing_wrong()
        for one in list(self.connections):
            for way in one.ways.values():
                way.left = None
                way.queue = collections.deque((0.0, data) for _, data in way.queue)
                way.last_due = 0.0
            if one.dead:            # the path knows it no more, and says so
                self.end(one, "rst", ours=False)

    def do_drop(self, args, c):
        for name in [way_of(args[0])] if args else OTHER:
            self.held[name] = True

    def do_forget(self, args, c):
        for one in self.connections:
            one.dead = True
        self.note()

    def do_end(self, how):
        for one in list(self.connections):
            self.end(one, how)

    def do_cut(self, args, c):
        name, n, how = way_of(args[0]), int(args[1]), how_of(args[2:])
        if n < 0:
            raise Refused("less than no bytes")
        if not c:
            self.cut_at[name], self.cut_how = n, how
        for one in [c] if c else list(self.connections):
            way = one.ways[name]
            way.left, way.how = n, how
            if n == 0 and not way.queue and not one.ending and not c:
                self.cut(one, how)

    def do_noise(self, args, c):
        self.noise, self.noise_how = float(args[0]), how_of(args[1:])

    def do_delay(self, args, c):
        self.delay, self.jitter = float(args[0]) / 1000, float(args[1]) / 1000 if args[1:] else 0.0

    def do_rate(self, args, c):
        self.rate = float(args[0]) * 1000 / 8

    def do_refuse(self, args, c):
        """Not listening any more, but the port stays ours."""
        if not self.refuses:
            self.watch(self.front, 0, None)
            self.front.shutdown(socket.SHUT_RD)
        self.refuses = True

    def do_when(self, args, c):
        if args[1:2] == ["when"] or args[1] not in COMMANDS:
            raise Refused("nothing that can be done then")
        self.triggers.append((args[0].encode(), args[1:], None))

    def do_every(self, args, c):
        steps = [int(n) for n in args[2].split(",")]
        self.triggers.append((args[0].encode(), ["cut", way_of(args[1]), how_of(args[3:])], steps))

    def do_ends(self, args, c):
        at, ends = 0, []
        while at + 5 <= len(self.answer):
            at += 1 + struct.unpack_from("!I", self.answer, at + 1)[0]
            ends.append(at)
        return ",".join(str(n) for n in ends)

    def do_log(self, args, c):
        self.fault_log, self.whom = args[0], args[1]

    def do_stat(self, args, c):
        return "open=%d total=%d up=%d down=%d cuts=%d answer=%d armed=%d" % (
            len(self.connections), self.total, self.moved["up"], self.moved["down"],
            self.cuts, len(self.answer),
            sum(len(steps) if steps else 1 for _, _, steps in self.triggers))


COMMANDS = {
    "pass": Proxy.do_pass, "drop": Proxy.do_drop, "forget": Proxy.do_forget, "cut": Proxy.do_cut,
    "noise": Proxy.do_noise, "delay": Proxy.do_delay,
    "rate": Proxy.do_rate, "refuse": Proxy.do_refuse, "when": Proxy.do_when,
    "every": Proxy.do_every, "ends": Proxy.do_ends, "log": Proxy.do_log, "stat": Proxy.do_stat,
    "rst": lambda p, args, c: p.do_end("rst"), "fin": lambda p, args, c: p.do_end("fin"),
}


def front_at(listen):
    """A port that the kernel picked is ours only while we listen; one that was asked for by its number
    stays ours (see do_refuse)."""
    pair = []
    for _ in range(2):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(pair[0].getsockname() if pair else listen)
        pair.append(s)
    pair[0].close()
    pair[1].setblocking(False)
    return pair[1]


def way_of(word):
    if word not in OTHER:
        raise Refused("expected up or down")
    return word


def how_of(words):
    how = words[0] if words else "rst"
    if how not in ("rst", "fin", "turn", "hold"):
        raise Refused("expected rst, fin, turn or hold")
    return how


def unsent(sock):
    """Bytes that the peer's kernel has not acknowledged. Of a unix socket all have arrived."""
    if sock.family == socket.AF_UNIX:
        return 0
    try:
        return struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ, b"\0\0\0\0"))[0]
    except OSError:
        return 0


def shut(sock):
    try:
        sock.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def end_socket(sock, how):
    if how == "rst":
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass
    sock.close()


def tell(control, words):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(10)
    s.connect(control)
    s.sendall(" ".join(words).encode())
    answer = s.makefile().readline().strip()
    print(answer)
    return 1 if answer.startswith("refused") or not answer else 0


def address(text):
    if text.startswith("/"):
        return text
    host, _, port = text.rpartition(":")
    return host, int(port)


def main():
    if sys.argv[1:2] == ["--tell"]:
        return tell(sys.argv[2], sys.argv[3:])
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--to", required=True, type=address)
    p.add_argument("--control", required=True)
    p.add_argument("--listen", type=address, default=("127.0.0.1", 0))
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    proxy = Proxy(a.to, a.listen, a.control, a.seed)
    print(proxy.front.getsockname()[1], flush=True)
    sys.stdout = open(os.devnull, "w", encoding="ascii")
    proxy.run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
