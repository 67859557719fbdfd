#!/usr/bin/env python3
"""stalls.py FILE [SECONDS] - how late this machine wakes a process that asked for it

Sleeps 50 ms, again and again, and adds a line "begin end" (microseconds since the epoch) to FILE for
each time in which it was not woken though it wanted to be, if that is longer than 50 ms. The checker
takes it for what the machine itself had: an engine had to wait as long. Ends after SECONDS (3600), or
when it is killed."""
import sys
import time

PAUSE_S = 0.05
WORTH_S = 0.05


def main():
    until = time.monotonic() + (float(sys.argv[2]) if len(sys.argv) > 2 else 3600)
    with open(sys.argv[1], "a", buffering=1) as out:
        while time.monotonic() < until:
            wanted = time.monotonic() + PAUSE_S
            time.sleep(PAUSE_S)
            late = time.monotonic() - wanted
            if late > WORTH_S:
                now = time.time()
                out.write("%d %d\n" % ((now - late) * 1e6, now * 1e6))


if __name__ == "__main__":
    main()
