#!/usr/bin/env python3
"""http_server.py - a receiver of webhooks on loopback, for tests.

    http_server.py FOLDER [CERTIFICATE KEY [CA]]

Its port, HTTP_PORT or a free one, on HTTP_ADDRESS or 127.0.0.1, is written to FOLDER/port. With a
certificate it speaks TLS; with a CA, clients need a certificate of it. Each request is a line of
JSON in FOLDER/requests: method, path, headers, body, when it came, to which address, and how many
were under way. The path decides what is answered:

    /status/418?Retry-After=3   that status, with the query as headers
    /body/200?TEXT              that status, with TEXT (percent-encoded) as the body
    /echo                       500 with the headers of the request as the body
    /endless /trickle /cut      a body without an end; a byte a second; less than announced
    /head?TEXT                  this text, and no more
    /silent                     nothing
    /slow/100                   200 after so many ms
    /mostly/100/5000            200 after 100 ms, each hundredth key after 5,000
    /bytes                      200 and bytes that are no text
    /to?URL                     307 to URL
    /slow_to/100?URL            the same after so many ms
    /quota/1000/3               so many requests in a window of so many seconds are 200, else 429
    /some/10/3                  the first request of each tenth key is 429 with Retry-After: 3
"""
import json
import os
import socketserver
import ssl
import sys
import threading
import time
from urllib.parse import unquote, urlsplit

folder = sys.argv[1]
lock = threading.Lock()
journal = open(os.path.join(folder, "requests"), "a", buffering=1)
state = {"under_way": 0, "window": 0, "sent": 0, "seen": set()}


class Handler(socketserver.StreamRequestHandler):
    timeout = 60

    def handle(self):
        try:
            while self.one():
                pass
        except (OSError, ValueError):
            pass

    def one(self):
        line = self.rfile.readline(65536).decode("latin-1")
        if not line:
            return False
        self.method, self.path, _ = line.split()
        self.headers = []
        while (header := self.rfile.readline(65536).decode("latin-1").rstrip("\r\n")):
            name, value = header.split(":", 1)
            self.headers.append([name, value.strip()])
        named = {name.lower(): value for name, value in self.headers}
        body = self.rfile.read(int(named.get("content-length", "0")))
        self.key = named.get("idempotency-key", "")
        with lock:
            state["under_way"] += 1
            journal.write(json.dumps({"method": self.method, "path": self.path, "headers": self.headers,
                                      "body": body.decode("utf-8", "replace"), "at": time.time(),
                                      "under_way": state["under_way"],
                                      "to": self.connection.getsockname()[0]}) + "\n")
        try:
            parts = urlsplit(self.path)
            name, *args = parts.path.strip("/").split("/")
            return getattr(self, "answer_" + name)(parts.query, *args)
        finally:
            with lock:
                state["under_way"] -= 1

    def send(self, status, headers=(), body=b"", announced=None):
        length = len(body) if announced is None else announced
        lines = [f"HTTP/1.1 {status} Whatever"] + [f"{n}: {v}" for n, v in headers]
        if length >= 0:
            lines.append(f"Content-Length: {length}")
        self.wfile.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body)
        return True

    def answer_status(self, query, status):
        headers = [pair.split("=", 1) for pair in query.split("&") if pair]
        return self.send(status, [(n, unquote(v)) for n, v in headers])

    def answer_body(self, query, status):
        return self.send(status, body=unquote(query).encode())

    def answer_echo(self, query):
        return self.send(500, body=json.dumps(self.headers).encode())

    def answer_bytes(self, query):
        return self.send(500, body=b"a\0b\xff\xc3")

    def answer_to(self, query):
        return self.send(307, [("Location", unquote(query))])

    def answer_slow_to(self, query, ms):
        time.sleep(int(ms) / 1000)
        return self.answer_to(query)

    def answer_endless(self, query):
        self.send(200, announced=-1)
        while True:
            self.wfile.write(b"x" * 4096)

    def answer_trickle(self, query):
        self.send(200, announced=1000)
        for _ in range(1000):
            self.wfile.write(b"x")
            time.sleep(1)

    def answer_cut(self, query):
        self.send(200, body=b'{"done"', announced=1000)
        return False

    def answer_head(self, query):
        self.wfile.write(unquote(query).encode())
        return False

    def answer_silent(self, query):
        time.sleep(60)
        return False

    def answer_slow(self, query, ms):
        time.sleep(int(ms) / 1000)
        return self.send(200)

    def answer_mostly(self, query, nth, ms):
        is_slow = int(self.key[:8], 16) % int(nth) == 0
        time.sleep(int(ms) / 1000 if is_slow else 0.1)
        return self.send(200)

    def answer_quota(self, query, most, seconds):
        with lock:
            window = int(time.time() / int(seconds))
            if window != state["window"]:
                state["window"], state["sent"] = window, 0
            state["sent"] += 1
            fits = state["sent"] <= int(most)
        left = (window + 1) * int(seconds) - time.time()
        return self.send(200) if fits else self.send(429, [("Retry-After", str(int(left) + 1))])

    def answer_some(self, query, nth, seconds):
        with lock:
            is_first = self.key not in state["seen"]
            state["seen"].add(self.key)
        if is_first and int(self.key[:8], 16) % int(nth) == 0:
            return self.send(429, [("Retry-After", seconds)])
        return self.send(200)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 1024

    def handle_error(self, request, client_address):
        pass                            # a client that does not trust us


server = Server((os.environ.get("HTTP_ADDRESS", "127.0.0.1"), int(os.environ.get("HTTP_PORT", "0"))),
                Handler)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    if len(sys.argv) > 4:
        context.load_verify_locations(sys.argv[4])
        context.verify_mode = ssl.CERT_REQUIRED
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(os.path.join(folder, "port.new"), "w") as f:
    f.write(str(server.server_address[1]))
os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
server.serve_forever()
