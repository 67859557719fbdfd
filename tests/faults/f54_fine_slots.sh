#!/usr/bin/env bash
# f54_fine_slots.sh - F54: engines that hold leases of single seconds (checks that were asked for at
#     once) are killed, stopped past their lease, or lose their line to the store
# PASS: each check is run, once but for a fault, and counts once; none waits for the sweep of the
# slot that its second lies in: another engine finds what the lost one held.
# quick
. "$(dirname "$0")/lib.sh"
. "$FAULTS/net.sh"

LENGTH_S=20                         # what only the sweep finds is late by half of it, on average

kill_it() {
    kill_engine "$1"
    begin_engine "$1$2"
}
stop_it() { past_its_lease "$1"; }
cut_it() { line_lost "$1" $((LEASE_S + 1)); }

begin_engine() { if [ "$STORE_NAME" = postgresql ]; then behind "$1"; else engine "$1"; fi; }

hits() {
    local n name how=(kill_it stop_it)
    [ "$STORE_NAME" = sqlite ] || how+=(cut_it)
    for ((n = 0; n < 6; n++)); do
        name=$(engine_at_work 10) || { fail "$CASE_NAME: it is at work"; return; }
        "${how[n % ${#how[@]}]}" "$name" "$n"
    done
}

under_faults() {
    local name
    SLOT_LENGTH=${LENGTH_S}s a_case fine 'workers = 4;'
    begin_engine e0; begin_engine e1
    write_checks w --checks 1200 --batch 10 --over 30 --mix busy --most-ms 500 --at-once
    hits
    written w
    LIVE_S=$((LENGTH_S * 4 + 10)) verdict F54
    at_least "$CASE_NAME: runs that were repeated, as a fault had hit them" "$RERUNS" 1
    cd "$CASE" || return
    at_least "$CASE_NAME: checks that were run in seconds between two slots" "$(q "SELECT count(*)
        FROM {future_job_history} WHERE <slot_at> % $LENGTH_S <> 0")" 1000
    for name in "${!PROXIES[@]}"; do proxy_stop "$name"; done
    cd "$TMP" || return
}
on_both_stores under_faults
