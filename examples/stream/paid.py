#!/usr/bin/env python3
"""A job in Python: one process that lives on, and answers checks of orders, a line each."""
import json
import sys


def answer(check):
    """One of done, again_at, defer_until, fail; and if wanted note, emit, enqueue, resolve."""
    data = check["data"] or {}
    if data.get("paid"):
        return {"done": True}
    if check["check_number"] < 3:
        return {"again_at": "+1d", "note": "not paid yet"}
    return {"done": True, "emit": {"event": "order.unpaid", "data": data}}


def say(line):
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    window = json.loads(sys.stdin.readline())["window"]
    say({"prescient": 1, "window": min(window, 16)})
    for line in sys.stdin:
        check = json.loads(line)
        try:
            say({**answer(check), "id": check["id"]})
        except Exception as e:                      # of this check alone
            say({"fail": repr(e), "id": check["id"]})
