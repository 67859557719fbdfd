#!/usr/bin/env python3
"""http_feed.py SOCKET PATH [LAST-EVENT-ID] - reads server-sent events of prescient serve at a socket file.
Prints "begun", and behind it the id with which it begins, if that is told alone; then a line
"id data" for each event. Ends with the answer."""
import json, socket, sys


def lines(reader):
    """The lines of a body that comes in chunks."""
    text = b""
    while True:
        size = reader.readline().strip()
        if not size:
            return
        text += reader.read(int(size, 16))
        reader.readline()
        while b"\n" in text:
            line, text = text.split(b"\n", 1)
            yield line.decode()


def main():
    client = socket.socket(socket.AF_UNIX)
    client.connect(sys.argv[1])
    last = f"Last-Event-ID: {sys.argv[3]}\r\n" if len(sys.argv) > 3 else ""
    client.sendall(f"GET {sys.argv[2]} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{last}\r\n"
                   .encode())
    reader = client.makefile("rb")
    status = reader.readline().split()[1].decode()
    headers = iter(reader.readline, b"\r\n")
    kind = [h for h in headers if h.lower().startswith(b"content-type: text/event-stream")]
    if status != "200" or not kind:
        sys.exit(f"status {status}")
    event, has_begun = {}, False
    for line in lines(reader):
        if line:
            name, _, value = line.partition(": ")
            event[name] = value
            continue
        if not has_begun:
            print("begun", "" if "data" in event else event["id"], flush=True)
            has_begun = True
        if "data" in event:
            data = json.loads(event["data"])
            print(event["id"], data["event"], data["key"], flush=True)
        event = {}


main()
