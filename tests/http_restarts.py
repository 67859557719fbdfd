#!/usr/bin/env python3
"""http_restarts.py RESTARTS PROGRAM ARGUMENT... - holds a listening socket as systemd does for a socket
unit, and has a server there (PROGRAM ARGUMENT...) that is started again so many times, while clients
post checks, each over a connection of its own. Prints how many were refused or got no answer, or that
all were answered; then the exit codes of the servers."""
import os
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from http_ask import Answers  # noqa: E402

WAIT_S = 20 * int(os.environ.get("PATIENCE", "1"))
CLIENTS = 12
ENOUGH = 40                         # answers between two restarts
# As systemd passes it.
STARTED = 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
FIRST_INHERITED = 3


def hold():
    """The port of a socket under the number at which a server expects it."""
    s = socket.create_server(("127.0.0.1", 0), backlog=4096)
    port, fd = s.getsockname()[1], s.detach()
    os.dup2(fd, FIRST_INHERITED)
    return port


class Server:
    """One after the other at that socket."""

    def __init__(self, words):
        self.words, self.process = words, None

    def start(self):
        self.process = subprocess.Popen(["sh", "-c", STARTED, "sh", *self.words],
                                        pass_fds=(FIRST_INHERITED,))

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(WAIT_S)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()


class Clients:
    def __init__(self, port):
        self.port, self.is_over = port, False
        self.lock = threading.Lock()
        self.statuses = {}          # status, or what went wrong -> how many
        self.threads = [threading.Thread(target=self.run, args=(n,), daemon=True) for n in range(CLIENTS)]
        for t in self.threads:
            t.start()

    def count(self, what):
        with self.lock:
            self.statuses[what] = self.statuses.get(what, 0) + 1

    def answered(self):
        with self.lock:
            return self.statuses.get(201, 0)

    def post(self, uniqid, pause):
        body = b'{"job": "look", "in": "1h", "uniqid": "%s"}' % uniqid.encode()
        try:
            s = socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)
        except OSError:
            return "refused"
        try:
            time.sleep(pause)       # some say something at once, others a moment later
            s.sendall(b"POST /v1/checks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                      b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
            answer = Answers(s).next()
        except OSError:
            return "cut off"
        finally:
            s.close()
        return answer[0] if answer else "cut off"

    def run(self, number):
        i = 0
        while not self.is_over:
            self.count(self.post("c%d.%d" % (number, i), i % 5 * 0.002))
            i += 1

    def end(self):
        self.is_over = True
        for t in self.threads:
            t.join()


def wait_for(clients, more):
    """That many are answered from now on."""
    until, enough = time.monotonic() + WAIT_S, clients.answered() + more
    while clients.answered() < enough:
        if time.monotonic() > until:
            sys.exit("too few are answered: %r" % clients.statuses)
        time.sleep(0.01)


def restart(server, clients, times):
    """The exit codes."""
    codes = []
    for _ in range(times):
        server.start()
        wait_for(clients, ENOUGH)
        codes.append(server.end())
    server.start()
    clients.end()                   # what waits now is answered by the last one
    codes.append(server.end())
    return codes


def main(restarts, *words):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("it takes too long"))
    port = hold()
    server, clients = Server(words), Clients(port)
    try:
        codes = restart(server, clients, int(restarts))
    finally:
        server.kill()
    found = clients.statuses
    print(*("%s: %d" % (what, found[what]) for what in found if what != 201), sep="\n", end="")
    print("all were answered" if set(found) == {201} else "")
    print("ended with", *sorted(set(codes)))


if __name__ == "__main__":
    main(*sys.argv[1:])
