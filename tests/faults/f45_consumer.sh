#!/usr/bin/env bash
# f45_consumer.sh - F45: a consumer follows the events through failovers with and without lost
#     commits, and through a primary that freezes for a while
# PASS: it gets every event that the surviving database holds, each once.
# limit 420
. "$(dirname "$0")/lib.sh"
. "$FAULTS/failovers.sh"
. "$FAULTS/consumers.sh"

LOST_S=${LOST_S:-4}

# Commits of some seconds go, and ids with them; who follows has been shown events of these.
lose_commits() {
    fault_begins loss store
    pair_lag on || fail "$CASE_NAME: the standby has a sender"
    ok "$CASE_NAME: the consumer is shown events that will be lost" wait_until \
        $((LOST_S * 4)) shown_more_than $(($(shown) + 100))
    fail_over 0.3 fault_ends loss store
}
shown() { wc -l <follower.out; }
shown_more_than() { [ "$(shown)" -gt "$1" ]; }

# The primary stops, with everything it has under way.
freeze_primary() {
    local pids
    pids=$(pair_processes "$PRIMARY")
    fault_begins primary-frozen store
    kill -STOP $pids
    sleep 3                             # past the leases; nothing shows this from outside
    kill -CONT $pids
    fault_ends primary-frozen store
}

follow_through() {
    local name=$1 what=$2
    LEASE_S=3 TRUST_MS=1500
    a_case "$name-$WAY" "workers = 2; split_at = 50; $WAY_SETTINGS"
    engine e0; engine e1
    consumer follower
    write_checks w --patient --checks "${3:-1500}" --over 25 --batch 15 --ahead 0,4 --mix busy --most-ms 20
    ok "$CASE_NAME: the consumer is shown events" wait_until 20 shown_more_than 100
    $what
    it_goes_on
    written w
    cd "$CASE" || exit 2
    LIVE_S=30
    wait_until "$LIVE_S" drained
    consumer_saw_all follower
    is "$CASE_NAME: slots that stay open" "$(wait_until 20 no_slot_open; open_slots)" 0
    verdict F45
}
open_slots() {
    q "SELECT count(*) FROM {slot_pass} WHERE pass = 0 AND closed_at IS NULL
       AND slot_at < clock_timestamp() - interval '2 seconds'"
}
no_slot_open() { [ "$(open_slots)" = 0 ]; }

lost() { follow_through lost lose_commits; }
twice_lost() { follow_through twice lose_twice 2500; }
lose_twice() {
    lose_commits && it_goes_on && pair_rejoin && lose_commits
}
kept() {
    pair_sync on
    follow_through kept fail_over_without_loss
}
frozen() { follow_through frozen freeze_primary; }

needs_pair
for scenario in lost twice_lost kept frozen; do in_case "$scenario" on_a_pair direct "$scenario"; done
through_a_bouncer() {
    needs_bouncer
    on_a_pair bouncer lost
}
in_case bouncer through_a_bouncer
