#!/usr/bin/env python3
"""dns_server.py FOLDER - a name server on 127.0.0.1:53, for tests in a network of their own.

When it is there, FOLDER/ready is; FOLDER/asked has a line for each question of IPv4. The first
word of a name decides what is answered:

    at-127-0-0-2        that address
    both                127.0.0.1 and 127.0.0.2
    rebind-N            127.0.0.2 to the first N questions, then 127.0.0.1
    slow                127.0.0.2, after a second
    silent              nothing
"""
import os
import socket
import struct
import sys
import threading
import time

asked = {}
journal = open(os.path.join(sys.argv[1], "asked"), "a", buffering=1)


def addresses(word):
    kind, *args = word.split("-")
    if kind == "at":
        return [".".join(args)]
    if kind == "both":
        return ["127.0.0.1", "127.0.0.2"]
    if kind == "rebind":
        asked[word] = asked.get(word, 0) + 1
        return ["127.0.0.2" if asked[word] <= int(args[0]) else "127.0.0.1"]
    if kind == "slow":
        time.sleep(1)
        return ["127.0.0.2"]
    return []


def labels(rest):
    return rest[1:1 + rest[0]].decode() + "." + labels(rest[1 + rest[0]:]) if rest else ""


def answer(query, to):
    end = query.index(b"\0", 12)
    word = query[13:13 + query[12]].decode()
    is_a = query[end + 1:end + 3] == b"\0\1"
    if is_a:
        journal.write(labels(query[12:end]) + "\n")
    if word == "silent":
        return
    found = addresses(word) if is_a else []
    records = b"".join(b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4" + socket.inet_aton(a) for a in found)
    head = query[:2] + struct.pack(">HHHHH", 0x8180, 1, len(found), 0, 0)
    server.sendto(head + query[12:end + 5] + records, to)


server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
open(os.path.join(sys.argv[1], "ready"), "w").close()
while True:
    question, sender = server.recvfrom(4096)
    threading.Thread(target=answer, args=(question, sender), daemon=True).start()
