#!/usr/bin/env bash
# f09_storm_of_processes.sh - F09: a seeded storm of everything that can happen to processes
#     (killed, stopped, ended, crashing; workers and engines), with three engines
# PASS: the common checks. STORM_S is its length in seconds (60).
# limit 900
. "$(dirname "$0")/lib.sh"
. "$FAULTS/chaos.sh"

process_storm() {
    local seconds=${STORM_S:-60}
    WITNESS='batch = 1; timeout = "1500ms"; max_failures = 6;' a_case storm \
        'workers = 2; split_at = 50; hold_back_after = 1000000;'
    chaos_begins 3
    write_checks w --checks $((seconds * 60)) --batch 30 --over "$seconds" --mix rough --most-ms 30
    chaos "$seconds" 100 1200 "$CHAOS_PROCESSES"
    written w
    LIVE_S=60 EPSILON_MS=6000 verdict F09
    # Whether a kill meets answers that are not settled is a matter of chance.
    [ "$(grep -c 'KILL.*engine:' "$CASE/faults")" -lt 8 ] ||
        at_least "$CASE_NAME: checks that ran again" "$RERUNS" 1
}
on_both_stores process_storm
