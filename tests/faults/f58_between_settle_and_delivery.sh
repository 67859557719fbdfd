#!/usr/bin/env bash
# f58_between_settle_and_delivery.sh - F58: an engine is killed right after the commit of a settle
#     that emits, before what is to be delivered has run
# PASS: each event has its one delivery, which the next run of another engine sends, under one key.
# quick
. "$(dirname "$0")/lib.sh"
. "$FAULTS/deliveries.sh"
[ -x "$P-failpoints" ] || { echo "not ok - $P-failpoints is not built ('make faults' builds it)"; exit 1; }

EVENTS=20

killed_after_settle() {
    local kill_at received_at
    a_listener settle http://127.0.0.1:1/ 'workers = 1;'
    receiver
    sed -i "s|http://127.0.0.1:1/|http://127.0.0.1:$PORT/status/200|" prescient.cfg
    checks $EVENTS
    echo kill >"$CASE/after-settle"
    PRESCIENT_FAILPOINTS=$CASE P=$P-failpoints engine e0 run
    engine_over e0
    is "$CASE_NAME: it was killed" "$CODE" 137
    kill_at=$(now_ms)
    is "$CASE_NAME: behind its commit: events, and a delivery of each" "$(events) $(deliveries)" \
        "$EVENTS $EVENTS"
    is "$CASE_NAME: of which none was sent" "$(received)" 0
    wait_until 5 is_second_later
    engine e1 run
    join_within 30 e1
    unset "ENGINES[e1]"
    received_at=$(now_ms)
    is "$CASE_NAME: the next run ends well" "$CODE" 0
    is "$CASE_NAME: it has sent them, once each" "$(received) $(keys_received) $(delivered)" \
        "$EVENTS $EVENTS $EVENTS"
    is "$CASE_NAME: no check was looked at again" "$(runs)" $EVENTS
    is "$CASE_NAME: nothing is left" "$(pending)" 0
    ok "$CASE_NAME: a later run clears the lease of the dead one" wait_until 20 run_until_no_lease
    LONGEST_MS=$((received_at - kill_at))
    at_most "$CASE_NAME: so much later, in ms" $LONGEST_MS 20000
    kill "$(pid_of receiver)"; join receiver
    judged F58
}
is_second_later() {
    [ "$(q "SELECT max(<next_check_at>) FROM {future_job} WHERE entity_name = 'prescient.event'")" -le \
        "$(date +%s)" ]
}
run_until_no_lease() { "$P" --quiet run >>later.out 2>&1; no_lease; }
on_both_stores killed_after_settle
