#!/usr/bin/env bash
# f07_engine_stopped.sh - F07: an engine is stopped (SIGSTOP) past its lease while it has work,
#     another takes over, and it is continued
# PASS: others take its buckets within T; once continued, it settles nothing of what it had and logs
# that, and its workers started nothing after the trust window.
. "$(dirname "$0")/lib.sh"

# started_by PID FROM-US TO-US: how many runs its workers began in between
started_by() {
    awk -F'\t' -v e="$1" -v from="$2" -v to="$3" '$4 == e && $1 > from && $1 < to' "$CASE/journal" | wc -l
}

# freeze NAME SECONDS: the stop, the takeover, the continuation
freeze() {
    local pid stopped woken name
    pid=$(engine_pid "$1")
    fault_begins STOP "engine:$pid"
    stop_between_writes "$pid" || { kill -CONT "$pid"; fault_ends STOP "engine:$pid"; return 1; }
    stopped=$(now_us)
    sleep "$2"
    woken=$(now_us)
    kill -CONT "$pid"
    fault_ends STOP "engine:$pid"
    is "$CASE_NAME: stopped for $2 s, $1 starts nothing after the trust window" \
        "$(started_by "$pid" $((stopped + TRUST_MS * 1000 + 150000)) "$woken")" 0
}

stopped_engines() {
    local n name times=${1:-4}
    [ -z "${QUICK:-}" ] || times=2
    WITNESS='batch = 1;' a_case stop 'workers = 2; split_at = 50; slab = 256; page = 200;'
    engine e0; engine e1; engine e2
    write_checks w --checks $((times * 900)) --over $((times * 6)) --mix slow --most-ms 16
    for ((n = 0; n < times; n++)); do
        name=$(engine_at_work) || { fail "$CASE_NAME: there is work"; break; }
        freeze "$name" $((LEASE_S + 1 + RANDOM % 3))
    done
    written w
    verdict F07
    at_least "$CASE_NAME: takeovers were seen" "$(cat "$CASE"/e?.err | grep -c 'nothing was changed')" 1
}
on_both_stores stopped_engines
