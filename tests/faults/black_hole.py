#!/usr/bin/env python3
"""black_hole.py KIND FOLDER - something on loopback that never answers; its port is in FOLDER/port.

    backlog     a listening socket that accepts nothing, its queue full: connections hang
    mute        takes connections, reads nothing, says nothing
    dns         a UDP socket on port 53 that reads questions, a line in FOLDER/asked each
"""
import os
import signal
import socket
import sys

kind, folder = sys.argv[1:]
held = []


def fill_queue():
    """Until one of ours hangs, too."""
    for _ in range(64):
        client = socket.socket()
        client.settimeout(0.5)
        held.append(client)
        try:
            client.connect(server.getsockname())
        except TimeoutError:
            return
    sys.exit("the queue is never full")


def publish_port():
    new = os.path.join(folder, "new")
    with open(new, "w") as file:
        file.write(str(server.getsockname()[1]))
    os.rename(new, os.path.join(folder, "port"))


if kind == "dns":
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))
else:
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(0 if kind == "backlog" else 1024)
if kind == "backlog":
    fill_queue()
publish_port()
while True:
    if kind == "mute":
        held.append(server.accept())
    elif kind == "dns":
        server.recv(4096)
        with open(os.path.join(folder, "asked"), "a") as asked:
            asked.write("a question\n")
    else:
        signal.pause()
