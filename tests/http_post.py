#!/usr/bin/env python3
"""http_post.py SOCKET SOCKET CLIENTS EACH: so many clients post so many checks each, to the two
servers in turn: of ten one once more through the other, and one to both at once. What is not
answered, or with 503, is repeated. Prints how many were answered, and whether each repeat was
answered as before."""
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from http_ask import Answers, connect  # noqa: E402

END = time.monotonic() + 60 * int(os.environ.get("PATIENCE", "1"))


def ask(kept, address, body):
    """(status, body) of one POST; None when nothing came."""
    try:
        if address not in kept:
            s = connect(address)
            kept[address] = s, Answers(s)
        s, answers = kept[address]
        s.sendall(b"POST /v1/checks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                  b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        answer = answers.next()
    except OSError:
        answer = None
    if not answer or answer[1].get("connection") == "close":
        kept.pop(address, None)
    return answer and (answer[0], answer[2])


def insist(kept, addresses, turn, body):
    """Repeats it, at each server in turn, until it is answered for good."""
    while time.monotonic() < END:
        answer = ask(kept, addresses[turn % len(addresses)], body)
        if answer and answer[0] != 503:
            return answer
        turn += 1
        time.sleep(0.05)
    raise SystemExit("no answer in time")


def at_both(kept, addresses, body):
    """The answer of one, if the other's is the same; None if not."""
    others = []
    beside = threading.Thread(target=lambda: others.append(insist({}, addresses[::-1], 0, body)))
    beside.start()
    answer = insist(kept, addresses, 0, body)
    beside.join()
    return answer if others == [answer] else None


def client(number, addresses, each, found):
    kept = {}
    for i in range(each):
        uniqid = "c%d.%d" % (number, i)
        body = json.dumps({"job": "look", "in": "1h", "uniqid": uniqid}).encode()
        first = at_both(kept, addresses, body) if i % 10 == 5 else insist(kept, addresses, i, body)
        same = i % 10 or insist(kept, addresses, i + 1, body) == first
        if not first or first[0] != 201 or not same:
            found.append("%s: %r" % (uniqid, first))
            return
        found.append(None)


def main(one, two, clients, each):
    found = []
    threads = [threading.Thread(target=client, args=(n, (one, two), int(each), found))
               for n in range(int(clients))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    bad = [f for f in found if f]
    print(bad[0] if bad else "%d answered, repeats as before" % len(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
