#!/usr/bin/env bash
# f53_attempts.sh - F53: jobs fail, crash and are tried again within their slot, while engines are
#     killed, stopped past their lease and continued, or lose their line to the store
# PASS: no attempt is forgotten, and none is made twice but for a fault; all attempts of a look have
# one key; none is filed after the end of its slot, and all the attempts that the settings allow are
# made before a check ends as failed.
# quick
. "$(dirname "$0")/lib.sh"
. "$FAULTS/net.sh"

ATTEMPTS='batch = 1; timeout = "1s"; attempts = 3; attempt_interval = "1s"; attempt_interval_max = "1s";
    attempt_jitter = "1s"; max_failures = 1;'

begin_engine() { if [ "$STORE_NAME" = postgresql ]; then behind "$1"; else engine "$1"; fi; }

hit() {
    local name; name=$(engine_at_work 20) || return 1
    if [ "$1" = 2 ] && [ "$STORE_NAME" = postgresql ]; then
        line_lost "$name" $((LEASE_S + 1))
    elif [ $(($1 % 2)) = 0 ]; then
        kill_engine "$name"
        begin_engine "$name$1"
    else
        past_its_lease "$name"
    fi
}

# A second between two slots lies in the slot that ran.
past_their_slot() {
    local ran="run_at_us / 1000000"
    [ "$STORE_NAME" = sqlite ] || ran="floor(extract(epoch FROM run_at))::bigint"
    q "SELECT count(*) FROM {future_job_run} WHERE outcome IN ('failed', 'crashed', 'timeout')
       AND <next_check_at> % 10 <> 0 AND <next_check_at> / 10 <> ($ran) / 10"
}

attempts_under_faults() {
    local n name
    SLOT_LENGTH=10s WITNESS=$ATTEMPTS a_case attempts 'workers = 2;'
    begin_engine e0; begin_engine e1
    write_checks w --checks 600 --over 30 --mix failing
    for ((n = 0; n < 4; n++)); do hit "$n"; done
    written w
    LIVE_S=90 verdict F53
    cd "$CASE" || return
    is "$CASE_NAME: no attempt is filed after the end of its slot" "$(past_their_slot)" 0
    is "$CASE_NAME: who has failed has had all attempts" "$(q "SELECT count(*) FROM {future_job_history}
        WHERE outcome IN ('failed', 'crashed') AND failure_count <> 6")" 0
    at_least "$CASE_NAME: attempts within a slot" "$(q "SELECT count(*) FROM {future_job_run}
        WHERE outcome IN ('failed', 'crashed') AND <next_check_at> % 10 <> 0")" 100
    for name in "${!PROXIES[@]}"; do proxy_stop "$name"; done
    cd "$TMP" || return
}
on_both_stores attempts_under_faults
