#!/usr/bin/env bash
# f08_engine_terminated.sh - F08: SIGTERM in the middle of slots, and a second one during the drain
# PASS: after one TERM the running checks are finished and settled, leases are released, the exit
# comes in time, and NOTHING runs again; after a second one the engine is gone at once.
# quick
. "$(dirname "$0")/lib.sh"

# One TERM explains no second run, so it does not stand in the log of faults.
terminations() {
    local n name next=2 pid began took longest=0 times=8
    [ -z "${QUICK:-}" ] || times=5
    WITNESS='batch = 1;' a_case term 'workers = 2; split_at = 50;'
    engine e0; engine e1
    # an engine's end and the start of the next take a second or two
    write_checks w --checks $((times * 240)) --over $((times * 2)) --mix slow --most-ms 16
    for ((n = 0; n < times; n++)); do
        name=$(engine_at_work) || break
        pid=$(engine_pid "$name")
        sleep "0.0$((RANDOM % 90 + 10))"
        began=$(now_ms)
        kill -TERM "$pid"
        engine_over_in_time "$name"
        took=$(($(now_ms) - began))
        [ $took -le $longest ] || longest=$took
        engine "e$next"; next=$((next + 1))
    done
    at_least "$CASE_NAME: engines that were ended at work" "$n" $((times / 2 + 1))
    at_most "$CASE_NAME: the longest end of an engine (ms)" "$longest" 4000
    written w
    verdict F08
    is "$CASE_NAME: nothing ran twice" "$RERUNS" 0
}
engine_over_in_time() {
    local pid; pid=$(engine_pid "$1")
    join_within 12 "$1"
    unset "ENGINES[$1]"
    is "$CASE_NAME: $1 ends with exit code 0" "$CODE" 0
    ok "$CASE_NAME: $1 leaves no process" wait_until 1 no_workers_of "$pid"
    is "$CASE_NAME: $1 has given its leases back" "$(leases_of "$pid")" 0
}
leases_of() { q "SELECT count(*) FROM {slot_lease} WHERE engine LIKE '%/$1'"; }

second_signals() {
    local n name next=2 pid
    WITNESS='batch = 1;' a_case second 'workers = 2; split_at = 50;'
    engine e0; engine e1
    write_checks w --checks 600 --over 4 --mix slow --most-ms 200 --ahead 0,1
    for ((n = 0; n < 3; n++)); do
        name=$(engine_at_work) || break
        pid=$(engine_pid "$name")
        kill -TERM "$pid"
        sleep "0.0$((RANDOM % 40 + 10))"
        signal_engine "$name" TERM
        join_within 2 "$name"
        unset "ENGINES[$name]"
        ok "$CASE_NAME: $name leaves no process" wait_until 1 no_workers_of "$pid"
        engine "e$next"; next=$((next + 1))
    done
    written w
    LIVE_S=60 EPSILON_MS=60000 verdict F08
}

on_both_stores terminations
[ -n "${QUICK:-}" ] || on_both_stores second_signals
