#!/usr/bin/env bash
# f27_slow_line.sh - F27: the connection to PostgreSQL takes 200 ms, with jitter, or carries 64
#     kbit/s
# PASS: slower, never wrong: nothing runs twice, nothing fails; and slot_pass has how late the slots
# were.
# limit 200
. "$(dirname "$0")/lib.sh"
. "$FAULTS/net.sh"

# lateness_of ENGINE-PID: how late its passes were, by their own row: the median, in ms
lateness_of() {
    q "SELECT coalesce(percentile_disc(0.5) WITHIN GROUP (ORDER BY late_us) / 1000, -1)::bigint
       FROM {slot_pass} WHERE pass > 0 AND run > 0 AND engine LIKE '%/$1'"
}

# slowly NAME CHECKS LATER-MS COMMAND...: an engine alone behind a line that is so slow, from its
# first word on
slowly() {
    local LATER_MS=$3 near far fast slow
    WITNESS='batch = 1;' a_case "$1" 'workers = 2; split_at = 100000;'
    engine near
    near=$(engine_pid near)
    write_checks near --checks 200 --batch 50 --mix plain --over 2 --ahead 0,1 --priority 0
    written near
    ok "$CASE_NAME: beside the server all is done" wait_until 20 drained
    kill -TERM "$near"
    engine_over near
    proxy_start p "$PRESCIENT_STORE"
    proxy p "${@:4}"
    PRESCIENT_STORE=$(proxy_url p "$PRESCIENT_STORE") engine far
    far=$(engine_pid far)
    write_checks far --checks "$2" --batch 50 --mix plain --over 10 --ahead 0,2 --priority 0
    written far
    LIVE_S=60 EPSILON_MS=30000 verdict F27
    is "$CASE_NAME: nothing ran twice" "$RERUNS" 0
    is "$CASE_NAME: all are done" \
        "$(q "SELECT count(*) FROM {future_job_history} WHERE outcome = 'done'")" $(($2 + 200))
    fast=$(lateness_of "$near") slow=$(lateness_of "$far")
    at_least "$CASE_NAME: by slot_pass, slots were late beside the server, in ms" "$fast" 0
    at_least "$CASE_NAME: and by so much behind the slow line" "$slow" $((fast + LATER_MS))
    proxy_stop p
}

# A renewal takes a round trip: the lease is longer than some of them, as it would be for any user
# of such a line.
LEASE_S=6 TRUST_MS=4000
latency() { slowly latency 1500 300 delay 200; }
jitter() { slowly jitter 1500 200 delay 200 150; }
# a check takes some 400 bytes of the line: with these, the last of them half of what is allowed
narrow() { slowly narrow 400 100 rate 64; }
for c in latency jitter narrow; do
    case ${CASES:-all} in *"$c"* | all) on_stores postgresql $c ;; esac
done
