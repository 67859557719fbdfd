#!/usr/bin/env bash
# f06_engine_killed.sh - F06: engines are killed in the middle of slots, while others share the work
# PASS: no worker survives its engine by a second, another engine takes its buckets within T, and
# only answers that were not settled run twice.
# quick
. "$(dirname "$0")/lib.sh"

kills_of_engines() {
    local n name next=2 hits=0 most=$((10 + RANDOM % 3))
    WITNESS='batch = 1;' a_case kill 'workers = 2; split_at = 50;'
    engine e0; engine e1
    write_checks w --checks 1500 --over 10 --batch 50 --mix slow --most-ms 16
    ok "$CASE_NAME: the engines are at work" wait_until 10 runs_at_least 20
    for ((n = 0; n < 20 && hits < most; n++)); do
        sleep "$(printf '0.%03d' $((RANDOM % 1000)))"
        name=$(engine_at_work) || { ! nothing_pending || break; continue; }
        kill_engine "$name"
        hits=$((hits + 1))
        engine "e$next"
        next=$((next + 1))
    done
    written w
    at_least "$CASE_NAME: engines killed" "$hits" 6
    verdict F06
    at_least "$CASE_NAME: checks that ran again" "$RERUNS" 1
    # What was answered in the last quarter of a second or so and not settled, with jobs of some
    # milliseconds and two workers.
    at_most "$CASE_NAME: and not many for each kill" "$RERUNS" $((hits * 150))
}
on_both_stores kills_of_engines
