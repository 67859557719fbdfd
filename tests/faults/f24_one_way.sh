#!/usr/bin/env bash
# f24_one_way.sh - F24: only the engine's requests are lost; only the answers to it
# PASS: as F23: others take over within T, nothing is started after the trust window. An engine
# whose settle was applied, but whose answer was lost, finds that out within its lease: nothing runs
# again, nothing is taken for another's change, no history is doubled.
# limit 240
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"
. "$FAULTS/net.sh"
. "$FAULTS/line_cuts.sh"
needs_a_server
needs_lines

# ---- past the lease: real packets ----

one_way() {
    local pids=() kind out=() in=()
    WITNESS='batch = 1;' a_case one_way 'workers = 2; split_at = 40;'
    : >takeovers
    line_up l1 1 && line_up l2 2 || return
    victim out 1; victim in 2
    engine e0
    write_checks w --checks 4500 --over 50 --batch 30 --mix uneven --most-ms 12 --ahead 0,2
    for kind in lease run settle; do
        out+=("$(moment_of $kind $RANDOM | cut -d' ' -f1) drop-out 5") \
            in+=("$(moment_of $kind $RANDOM | cut -d' ' -f1) drop-in 5")
    done
    (cuts_on_line out 1 "${out[@]}" "after-settle-sent drop-out 5") >out.said 2>&1 & pids+=($!)
    (cuts_on_line in 2 "${in[@]}" "after-settle-sent drop-in 5") >in.said 2>&1 & pids+=($!)
    wait "${pids[0]}" || FAILED=1
    wait "${pids[1]}" || FAILED=1
    cat out.said in.said
    at_least "$CASE_NAME: cuts that hit an engine with leases" "$(wc -l <takeovers)" 3
    written w
    verdict F24
    line_down l1; line_down l2
}

# ---- within the lease: the engine asks again ----

# lost_settle WAY SECONDS: the next settle is lost that way until its call is given up, which takes
# a second
lost_settle() {
    proxy p when settle_ drop "$1"
    wait_until 10 proxy_is p armed 0 || { fail "$CASE_NAME: a settle comes"; return; }
    fault_begins "lost-$1" store
    sleep "1.$((RANDOM % 5 + 3))"
    proxy p pass
    fault_ends "lost-$1" store
    LOST=$((LOST + 1))
    wait_until 10 runs_at_least $(($(runs) + 5)) || fail "$CASE_NAME: it works on"
}

unheard() {
    local n said
    LOST=0
    LEASE_S=10 TRUST_MS=6000
    WITNESS='batch = 1;' a_case unheard 'workers = 2; statement_timeout = "1s";'
    proxy_start p "$PRESCIENT_STORE"
    PRESCIENT_STORE=$(proxy_url p "$PRESCIENT_STORE") engine e0
    write_checks w --checks 3000 --over 30 --batch 25 --mix busy --most-ms 8 --ahead 0,2
    ok "$CASE_NAME: it is at work" wait_until 10 runs_at_least 20
    for n in 1 2 3 4; do lost_settle down; lost_settle up; done
    written w
    LIVE_S=60 EPSILON_MS=15000 verdict F24      # one engine, and what is late waits behind what is due
    is "$CASE_NAME: settles that were lost, four of them after they were applied" $LOST 8
    is "$CASE_NAME: runs that were repeated for it" "$RERUNS" 0
    has "$CASE_NAME: calls were given up" \
        "$(cat "$CASE/e0.err")" 'no answer from the database within its time'
    is "$CASE_NAME: of its own settles it says nothing else" \
        "$(grep -cE 'was changed while it ran|[1-9][0-9]* superseded|taken over' "$CASE/e0.err")" 0
    proxy_stop p
    LEASE_S=2 TRUST_MS=1000
}

case ${CASES:-all} in *unheard* | all) on_line_server unheard fsync=off ;; esac
case ${CASES:-all} in *one_way* | all) on_line_server one_way fsync=off ;; esac
