#!/usr/bin/env python3
"""smtp_server.py - a mail server on loopback, for tests; of python3-aiosmtpd.

    smtp_server.py FOLDER [--tls CERTIFICATE KEY | --smtps CERTIFICATE KEY] [--login USER PASSWORD]

Its port is written to FOLDER/port. Each mail is a line of JSON in FOLDER/mails: from, to, data,
tls, user, and the number of its connection.

    smtp_server.py FOLDER --at STEP ANSWER... [--tls ...] [--login ...]

A server for each STEP and ANSWER, which answers so to that step: greeting, a command (EHLO, STARTTLS,
AUTH, MAIL, RCPT, DATA), or end, after the data. The ANSWER is a code, or "lost": the connection ends.
FOLDER/ports has a line "STEP ANSWER PORT" for each.

    --most N        each connection: N mails are taken before an answer is such
"""
import asyncio
import json
import logging
import os
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

folder, *options = sys.argv[1:]
journal = open(os.path.join(folder, "mails"), "a", buffering=1)
logging.disable(logging.CRITICAL)
connections = []


class Server(SMTP):
    """Answers to one step as asked for."""
    step = answer = None
    taken = 0

    async def refuse(self):
        if self.answer != "lost":
            await self.push(self.answer + " as asked for")
        if self.answer in ("lost", "421"):
            self.transport.close()

    def refuses(self, step):
        return self.taken >= most and (self.step == step or (self.step == "EHLO" and step == "HELO"))

    async def push(self, status):
        if self.step == "greeting" and isinstance(status, str) and status.startswith("220 "):
            status = self.answer + " as asked for"
            if self.answer == "lost":
                self.transport.close()
                return
        await super().push(status)


def refusing(command):
    ordinary = getattr(SMTP, "smtp_" + command)

    async def method(self, arg):
        await (self.refuse() if self.refuses(command) else ordinary(self, arg))
    return method


for name in ("HELO", "EHLO", "STARTTLS", "AUTH", "MAIL", "RCPT", "DATA"):
    setattr(Server, "smtp_" + name, refusing(name))


class Handler:
    async def handle_DATA(self, server, session, envelope):
        if server.refuses("end"):
            if server.answer in ("lost", "421"):
                asyncio.get_running_loop().call_later(0.05, server.transport.close)
            return server.answer + " as asked for" if server.answer != "lost" else ""
        server.taken += 1
        if server.transport not in connections:
            connections.append(server.transport)
        login = session.auth_data.login.decode() if session.authenticated else None
        journal.write(json.dumps({"from": envelope.mail_from, "to": envelope.rcpt_tos,
                                  "data": envelope.original_content.decode("latin-1"),
                                  "tls": session.ssl is not None or context_at_once is not None,
                                  "user": login, "connection": len(connections)}) + "\n")
        return "250 taken"


def context(certificate, key):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(certificate, key)
    return made


def option(name, count):
    at = options.index(name) if name in options else -1
    return options[at + 1:at + 1 + count] if at >= 0 else None


def authenticator(server, session, envelope, mechanism, data):
    good = isinstance(data, LoginPassword) and [data.login.decode(), data.password.decode()] == login_wanted
    return AuthResult(success=good, handled=False, auth_data=data if good else None)


login_wanted = option("--login", 2)
most = int(option("--most", 1)[0]) if option("--most", 1) else 0
starttls = context(*option("--tls", 2)) if option("--tls", 2) else None
context_at_once = context(*option("--smtps", 2)) if option("--smtps", 2) else None


def protocol(step=None, answer=None):
    server = Server(Handler(), tls_context=starttls, require_starttls=starttls is not None,
                    authenticator=authenticator if login_wanted else None,
                    auth_required=login_wanted is not None,
                    auth_require_tls=starttls is not None, hostname="test.example", timeout=60)
    server.step, server.answer = step, answer
    return server


def steps():
    at = options.index("--at") + 1 if "--at" in options else len(options)
    wanted = []
    while at < len(options) and not options[at].startswith("--"):
        wanted.append((options[at], options[at + 1]))
        at += 2
    return wanted


async def listen(*asked):
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: protocol(*asked), "127.0.0.1", 0, ssl=context_at_once)
    return server.sockets[0].getsockname()[1]


def write(name, text):
    with open(os.path.join(folder, name + ".new"), "w") as f:
        f.write(text)
    os.rename(os.path.join(folder, name + ".new"), os.path.join(folder, name))


async def main():
    write("ports", "".join([f"{s} {a} {await listen(s, a)}\n" for s, a in steps()]))
    write("port", str(await listen()))
    await asyncio.Event().wait()


asyncio.run(main())
