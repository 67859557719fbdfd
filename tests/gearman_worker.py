#!/usr/bin/env python3
"""gearman_worker.py - a worker of Gearman, for tests: takes all jobs of a function that are queued.

    gearman_worker.py PORT FUNCTION

Prints a line of JSON for each job, in the order in which they come: its unique id and its workload.
"""
import json
import socket
import struct
import sys

CAN_DO, WORK_COMPLETE, NO_JOB, GRAB_JOB_UNIQ, JOB_ASSIGN_UNIQ = 1, 13, 10, 30, 31

server = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20)
server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
stream = server.makefile("rb")


def send(kind, *parts):
    body = b"\0".join(parts)
    server.sendall(b"\0REQ" + struct.pack(">II", kind, len(body)) + body)


send(CAN_DO, sys.argv[2].encode())
while True:
    send(GRAB_JOB_UNIQ)
    magic, kind, size = struct.unpack(">4sII", stream.read(12))
    body = stream.read(size)
    if kind == NO_JOB:
        break
    assert (magic, kind) == (b"\0RES", JOB_ASSIGN_UNIQ), (magic, kind, body)
    handle, function, unique, workload = body.split(b"\0", 3)
    print(json.dumps({"unique": unique.decode(), "workload": workload.decode()}))
    send(WORK_COMPLETE, handle, b"")
