#!/usr/bin/env bash
# f01_worker_killed.sh - F01: workers are killed while they run jobs
# PASS: the row that was running counts as crashed and is tried again, the other answers of the
# batch are settled, a new worker is started.
# quick
. "$(dirname "$0")/lib.sh"

is_replaced() { [ "$(workers_but_keepers_of "$1" | grep -vcx "$2")" -ge 2 ]; }

kills_of_workers() {
    local n pid worker hits=0
    WITNESS='batch = 1; max_failures = 1000;' a_case kill 'workers = 2;'
    engine one
    pid=$(engine_pid one)
    write_checks w --checks 1500 --over 6 --mix slow --most-ms 15
    ok "$CASE_NAME: the engine is at work" wait_until 10 runs_at_least 20
    for ((n = 0; n < 60 && hits < 12; n++)); do
        worker=$(a_worker "$pid")
        [ -n "$worker" ] || continue
        signal_worker "$worker" KILL
        hits=$((hits + 1))
        wait_until 1 is_replaced "$pid" "$worker" || fail "$CASE_NAME: a worker is replaced within a second"
        sleep "$(printf '0.%03d' $((RANDOM % 500)))"
    done
    written w
    at_least "$CASE_NAME: workers killed" "$hits" 10
    ok "$CASE_NAME: the engine lives" alive one
    verdict F01
}
on_both_stores kills_of_workers
