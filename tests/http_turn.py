#!/usr/bin/env python3
"""http_turn.py SOCKET PATH TYPE BODY: posts it to prescient serve at a socket file. Says "read" on
standard error once the server has read all of it, so that what is posted after that comes after it;
prints the status of the answer."""
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from http_ask import WAIT_S, connect, unread  # noqa: E402


def main():
    address, path, of, body = sys.argv[1:]
    text = body.encode()
    s = connect(address)
    s.sendall(b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s"
              % (path.encode(), of.encode(), len(text), text))
    end = time.monotonic() + WAIT_S
    while unread(s):
        if time.monotonic() > end:
            sys.exit("the server does not read it")
        time.sleep(0.005)
    print("read", file=sys.stderr, flush=True)
    print(s.makefile().readline().split()[1], end="")


main()
