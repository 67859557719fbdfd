#!/usr/bin/env bash
# f03_job_blocks.sh - F03: jobs never return, block all signals and have forked a child
# PASS: the whole process group is gone a second after the timeout, the row's outcome is timeout,
# the others of its slot are not delayed.
. "$(dirname "$0")/lib.sh"

# From the line that a blocking job wrote to the end of its process group, the longest of all in ms;
# it follows the journal for $1 seconds.
longest_group() {
    python3 - "$CASE/journal" "$1" <<'PY'
import os, sys, time

def groups():
    alive = set()
    for d in os.listdir("/proc"):
        if d.isdigit():
            try:
                with open("/proc/%s/stat" % d) as f:
                    fields = f.read().rsplit(")", 1)[1].split()
                if fields[0] not in "ZX":
                    alive.add(int(fields[2]))
            except (OSError, IndexError):
                pass
    return alive

until, open_ones, longest, n = time.time() + float(sys.argv[2]), {}, 0, 0
with open(sys.argv[1]) as journal:
    while time.time() < until or open_ones and time.time() < until + 10:
        for line in journal:
            fields = line.split("\t")
            if fields[-1].strip() == "block":
                open_ones[int(fields[2])] = int(fields[0]) / 1e6
                n += 1
        alive, now = groups(), time.time()
        for pid in [p for p in open_ones if p not in alive]:
            longest = max(longest, now - open_ones.pop(pid))
        time.sleep(0.02)
print(int(longest * 1000) if n and not open_ones else 999999)
PY
}

blocking_jobs() {
    WITNESS='batch = 1; timeout = "1s"; max_failures = 0;' a_case block \
        'workers = 2; hold_back_after = 1000000;'
    engine one
    write_checks w --checks 250 --over 5 --ahead 0,2 --mix stuck
    at_most "$CASE_NAME: a process group is gone a second after the timeout of a second (ms)" \
        "$(longest_group 9)" 2000
    written w
    LIVE_S=30 verdict F03
    is "$CASE_NAME: those that blocked say timeout, the others are done" \
        "$(q "SELECT count(*) FROM {future_job_history}
              WHERE (outcome = 'timeout') <> (payload IS NOT NULL)")" 0
    at_least "$CASE_NAME: some blocked" \
        "$(q "SELECT count(*) FROM {future_job_history} WHERE outcome = 'timeout'")" 3
    at_most "$CASE_NAME: none was delayed by more than the usual (ms)" "$LONGEST_MS" "$EPSILON_MS"
}
on_both_stores blocking_jobs
