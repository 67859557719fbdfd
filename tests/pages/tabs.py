#!/usr/bin/env python3
"""tabs.py SOCKET TABS SECONDS - asks prescient serve as so many open tabs of the front page do, each
beginning at another moment. Exits with 1 if an answer is none."""
import http.client
import json
import random
import socket
import sys
import threading
import time
from urllib.parse import urlencode

EVERY_S = 10
SLOTS = 60


class Client(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(sys.argv[1])


def ask(client, path, **query):
    client.request("GET", f"/v1/{path}?{urlencode(query)}" if query else f"/v1/{path}",
                   headers={"Cache-Control": f"max-age={EVERY_S / 2:.0f}"})
    answer = client.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise SystemExit(f"{path}: {answer.status} {body}")
    return json.loads(body)


def look(client):
    store = ask(client, "status")["store"]
    now = time.mktime(time.strptime(store["now_at"], "%Y-%m-%dT%H:%M:%SZ")) - time.timezone
    begin = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now - SLOTS * store["slot_length_s"]))
    ask(client, "slots", **{"from": begin, "before": store["now_at"], "limit": SLOTS + 1})
    ask(client, "history", **{"outcome": "amiss", "from": "-1h", "limit": 1000})


def tab(begin, end, failed):
    client = Client("localhost")
    time.sleep(begin)
    while time.monotonic() < end:
        try:
            look(client)
        except BaseException as wrong:
            failed.append(wrong)
            return
        time.sleep(EVERY_S)


def main():
    tabs, seconds = int(sys.argv[2]), int(sys.argv[3])
    end = time.monotonic() + seconds
    failed = []
    chance = random.Random(1)
    threads = [threading.Thread(target=tab, args=(chance.uniform(0, EVERY_S), end, failed))
               for _ in range(tabs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(max(0, end - time.monotonic()))
    for wrong in failed:
        print(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
