#!/usr/bin/env python3
"""proxy_selftest.py - does proxy.py do to connections what its first lines promise?

A server answers each line N with N bytes; a client tries each command once.
The campaign runs it first: a fault that is not made proves nothing."""
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
failures = []


def serve(listener, seen):
    """Answers "word N" by N bytes, and keeps what was said and how each connection ended."""
    def talk(peer):
        f = peer.makefile("rb")
        try:
            for line in f:
                if not line.endswith(b"\n"):         # cut off
                    break
                seen.append(line.decode().strip())
                peer.sendall(b"x" * int(line.split()[1]))
            seen.append("fin")
        except OSError as e:
            seen.append(type(e).__name__)
        peer.close()
    while True:
        peer, _ = listener.accept()
        threading.Thread(target=talk, args=(peer,), daemon=True).start()


class World:
    def __init__(self, folder, unix):
        self.seen, self.control = [], os.path.join(folder, "control.%d" % unix)
        if unix:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(os.path.join(folder, "server"))
            listener.listen(16)
            target = os.path.join(folder, "server")
        else:
            listener = socket.create_server(("127.0.0.1", 0))
            target = "127.0.0.1:%d" % listener.getsockname()[1]
        threading.Thread(target=serve, args=(listener, self.seen), daemon=True).start()
        self.process = subprocess.Popen([sys.executable, "-S", os.path.join(HERE, "proxy.py"),
                                         "--to", target, "--control", self.control],
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def tell(self, *words):
        s = socket.socket(socket.AF_UNIX)
        s.connect(self.control)
        s.sendall(" ".join(words).encode())
        return s.makefile().readline().strip()

    def connect(self):
        s = socket.create_connection(("127.0.0.1", self.port))
        s.settimeout(3)
        return s


def check(what, found, expected):
    if found != expected:
        failures.append("%s: found %r, expected %r" % (what, found, expected))


def receive(s, n, wait=3.0):
    """What comes, up to n bytes, and how it ended: "all", "silence", "fin", or the error's name."""
    s.settimeout(wait)
    got = b""
    try:
        while len(got) < n:
            part = s.recv(n - len(got))
            if not part:
                return len(got), "fin"
            got += part
    except socket.timeout:
        return len(got), "silence"
    except OSError as e:
        return len(got), type(e).__name__
    return len(got), "all"


def ask(w, s, n, word="give", wait=3.0):
    s.sendall(b"%s %d\n" % (word.encode(), n))
    return receive(s, n, wait)


def until(condition):
    end = time.monotonic() + 3
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def passes(w):
    s = w.connect()
    check("pass", ask(w, s, 500000), (500000, "all"))
    s.close()
    check("a client's end is passed on", until(lambda: w.seen[-1:] == ["fin"]), True)
    check("nothing is left open", until(lambda: w.tell("stat").startswith("open=0 ")), True)


def drops(w):
    s = w.connect()
    ask(w, s, 1)
    w.tell("drop", "up")
    check("drop up: no answer", ask(w, s, 10, "lost", 0.2), (0, "silence"))
    check("drop up: the server did not hear it", "lost 10" in w.seen, False)
    w.tell("pass")
    check("drop up: it goes on", receive(s, 10), (10, "all"))
    w.tell("drop", "down")
    check("drop down: no answer", ask(w, s, 10, "heard", 0.2), (0, "silence"))
    check("drop down: the server heard it", "heard 10" in w.seen, True)
    w.tell("pass")
    check("drop down: it goes on", receive(s, 10), (10, "all"))
    w.tell("drop")
    t, before = w.connect(), len(w.seen)
    check("drop: a new connection hears nothing", ask(w, t, 5, "new", 0.2), (0, "silence"))
    s.close()
    time.sleep(0.1)
    check("drop: the server hears of no end", len(w.seen), before)
    w.tell("pass")
    check("drop: the new one goes on", receive(t, 5), (5, "all"))
    check("drop: the end arrives", until(lambda: "fin" in w.seen[before:]), True)
    t.close()


def forgets(w):
    s = w.connect()
    ask(w, s, 1)
    w.tell("forget")
    check("forget: the old one is dead", ask(w, s, 3, "old", 0.2), (0, "silence"))
    t = w.connect()
    check("forget: a new one passes", ask(w, t, 3), (3, "all"))
    w.tell("pass")
    check("forget: at last it is reset", receive(s, 1), (0, "ConnectionResetError"))
    t.close()


def ends(w):
    for command, how in (("rst", "ConnectionResetError"), ("fin", "fin")):
        s = w.connect()
        ask(w, s, 1)
        before = len(w.seen)
        w.tell(command)
        check(command + " at the client", receive(s, 1), (0, how))
        s.close()
        check(command + " at the server", until(lambda: len(w.seen) > before), True)


def cuts(w):
    for how, end in (("rst", "ConnectionResetError"), ("fin", "fin"), ("hold", "silence")):
        for n in (0, 1, 9, 70000):
            s = w.connect()
            ask(w, s, 1)
            w.tell("when", "big", "cut", "down", str(n), how)
            check("cut down %d %s" % (n, how), ask(w, s, 100000, "big", 0.3 if how == "hold" else 3),
                  (n, end))
            check("cut down: the server heard it", "big 100000" in w.seen, True)
            del w.seen[:]
            s.close()
            w.tell("pass")
    w.tell("every", "step", "down", "3,5,7", "fin")
    for n in (3, 5, 7):
        s = w.connect()
        check("every: %d" % n, ask(w, s, 20, "step"), (n, "fin"))
        s.close()
    s = w.connect()
    w.tell("when", "count", "stat")
    check("every is over", ask(w, s, 20, "step"), (20, "all"))
    ask(w, s, 77, "count")
    ask(w, s, 5)
    check("answer", "answer=77 armed=0" in w.tell("stat"), True)
    s.close()
    s = w.connect()
    w.tell("cut", "up", "6")
    check("cut up 6", ask(w, s, 7, "seven")[1] in ("ConnectionResetError", "BrokenPipeError"), True)
    check("cut up: the server heard nothing whole", "seven 7" in w.seen, False)
    w.tell("pass")


def noises(w):
    w.tell("noise", "30")
    began, lost = int(w.tell("stat").split("cuts=")[1].split()[0]), 0
    for _ in range(60):
        s = w.connect()
        try:
            lost += ask(w, s, 10)[1] != "all"
        except OSError:
            lost += 1
        s.close()
    check("noise: about half of 60 rounds of two chunks are lost (%d)" % lost, 15 < lost < 48, True)
    check("noise: cuts are counted", int(w.tell("stat").split("cuts=")[1].split()[0]) - began >= lost, True)
    w.tell("pass")


def slows(w):
    s = w.connect()
    ask(w, s, 1)
    w.tell("delay", "100", "20")
    began = time.monotonic()
    check("delay: all arrives", ask(w, s, 1000), (1000, "all"))
    check("delay: both ways", 0.15 < time.monotonic() - began < 0.6, True)
    w.tell("pass")
    w.tell("rate", "800")
    began = time.monotonic()
    check("rate: all arrives", ask(w, s, 50000), (50000, "all"))
    check("rate: 50,000 bytes at 800 kbit/s take half a second", 0.4 < time.monotonic() - began < 1.2, True)
    w.tell("pass")
    s.close()


def refuses(w):
    s = w.connect()
    ask(w, s, 1)
    w.tell("refuse")
    try:
        w.connect()
        check("refuse", "connected", "refused")
    except ConnectionRefusedError:
        pass
    check("refuse: what is open goes on", ask(w, s, 3), (3, "all"))
    w.tell("pass")
    t = w.connect()
    check("refuse is over", ask(w, t, 3), (3, "all"))
    check("a word it does not know", w.tell("explode").startswith("refused"), True)
    check("a command that lacks its number", w.tell("cut", "up").startswith("refused"), True)


def logs(w):
    path = w.control + ".faults"
    w.tell("rst")                       # what tests before this one left open is not to be in the log
    w.tell("log", path, "engine:7")
    s = w.connect()
    ask(w, s, 1)
    w.tell("rst")
    with open(path, encoding="ascii") as f:
        check("log", [line.split("\t")[1:] for line in f], [["at", "cut", "engine:7\n"]])


def try_all(w, tests):
    try:
        for test in tests:
            del w.seen[:]
            test(w)
    except Exception as e:
        failures.append("%s: %s: %s" % (test.__name__, type(e).__name__, e))
    finally:
        w.process.kill()
        w.process.wait()


def main():
    tests = (passes, drops, forgets, ends, cuts, noises, slows, refuses, logs)
    with tempfile.TemporaryDirectory() as folder:
        both = [threading.Thread(target=try_all, args=(World(folder, unix), tests)) for unix in (False, True)]
        for thread in both:
            thread.start()
        for thread in both:
            thread.join()
    for failure in failures:
        print("not ok - proxy: " + failure)
    print("what the proxy can do was seen: %d tests, to TCP and to a unix socket" % len(tests))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
