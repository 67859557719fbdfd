#!/usr/bin/env bash
# f34_failing_malloc.sh - F34: memory, descriptors, processes and connections are refused, one call
#     after the other, in commands, engines and workers
# PASS: a clean error or a clean end, never a signal; the store intact, no acknowledged check lost,
# none doubled; the same command then does the rest.
# quick
# limit 20000
#
# SAMPLE        places of each sweep, drawn from the seed (QUICK=1: 10, and 4 on PostgreSQL; else
#               600, which is all of them for many); 0: every one
# WITHIN_S      seconds for each sweep (QUICK=1: 0, else 15; 0: until it is done); the places are
#               tried in an order drawn from the seed, and what was left is told
. "$(dirname "$0")/lib.sh"

preload=$TMP/failing_calls.so
a_folder_in_memory
ok "the library that lets calls fail is built" \
    "${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -O2 -fPIC -shared -o "$preload" "$FAULTS/failing_calls.c"

# sweeps QUICK_SAMPLE TARGET:CLASS...: on this store; one line each.
sweeps() {
    local quick=$1; shift
    local before=$FAILED began result=passed
    began=$(now_ms) CASE_NAME=$STORE_NAME.failing_calls CASE_BEGAN=$(now_ms)
    FAILED=0
    python3 "$FAULTS/failing_calls.py" --program "$P" --preload "$preload" --jobs "$JOBS" \
        "$TEST_JOBS" --folder "$FOLDER/$STORE_NAME" --seed "$SEED" \
        --sample "${SAMPLE:-$([ -n "${QUICK:-}" ] && echo "$quick" || echo 600)}" --at-once 16 \
        --within "${WITHIN_S:-$([ -n "${QUICK:-}" ] && echo 0 || echo 15)}" --summary "$TMP/summary" \
        $([ "$STORE_NAME" = sqlite ] || echo "--store $PRESCIENT_STORE") -- "$@" || FAILED=1 result=failed
    RUNS=$(cat "$TMP/summary") RERUNS=0 LONGEST_MS=0
    record F34 "$result"
    [ "$before" = 0 ] || FAILED=1
}

memory_on_sqlite() {
    sweeps 10 run:malloc sweep:malloc worker:malloc empty_run:malloc enqueue:malloc \
        load:malloc jobs:malloc config:malloc list:malloc resolve:malloc init:malloc doctor:malloc \
        run:open run:map run:fork worker:open enqueue:open jobs:open jobs:fork \
        daemon:malloc daemon:open daemon:fork
}
memory_and_network_on_postgresql() {
    sweeps 4 run:malloc enqueue:malloc load:malloc run:connect run:send run:recv \
        daemon:connect daemon:send daemon:recv enqueue:connect enqueue:send enqueue:recv load:send load:recv
}
on_stores sqlite memory_on_sqlite
on_stores postgresql memory_and_network_on_postgresql
