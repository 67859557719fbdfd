#!/usr/bin/env bash
# f14_standby_frozen.sh - F14: the synchronous standby is frozen for 60 s, so that every commit
#     hangs and nothing is rejected
# PASS: nothing starts after the trust window, no enqueue is reported as written, nobody cancels a
# commit that waits, memory and sessions stay bounded, and work continues by itself.
# limit 240
. "$(dirname "$0")/lib.sh"
. "$FAULTS/failovers.sh"

FROZEN_S=${FROZEN_S:-60}

# started_between FROM-US TO-US: runs that began then
started_between() { awk -F'\t' -v from="$1" -v to="$2" '$1 > from && $1 < to' journal | wc -l; }
acknowledged_between() {
    awk -F'\t' -v from="$1" -v to="$2" '$1 == "acked" && $2 > from && $2 < to' plan | wc -l
}
engines_sessions() {
    pair_q "$PRIMARY" "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'prescient'"
}

# enqueue_meanwhile: the command line asks for a check while commits hang; it may wait or fail, but
# not say that all is well.
enqueue_meanwhile() {
    local code=0 at=$(($(now_us) / 1000000 + 5))
    printf 'sent\t%s\tcli\trow\tcli\twitness\t%s\t["done"]\n' "$(now_us)" "$at" >>plan
    timeout -k 5 $((FROZEN_S + 20)) "$P" --quiet enqueue row cli witness \
        "$at" --payload '["done"]' >cli.out 2>cli.err || code=$?
    [ "$code" != 0 ] || printf 'acked\t%s\tcli\n' "$(now_us)" >>plan
    echo "$code" >cli.code
}

standby_frozen() {
    local frozen trusted thawed most=0 n code until
    a_case frozen "workers = 2; split_at = 50; statement_timeout = \"5s\"; $WAY_SETTINGS"
    pair_sync on
    engine e0; engine e1
    write_checks w --patient --checks 1200 --over 12 --batch 20 --ahead 0,20 --mix slow --most-ms 20
    ok "$CASE_NAME: it is at work" wait_until 15 runs_at_least 100
    pair_freeze_standby
    frozen=$(now_us) until=$(($(now_ms) + FROZEN_S * 1000))
    trusted=$((frozen + TRUST_MS * 1000 + 150000))
    enqueue_meanwhile & HELPERS[cli]=$!
    while [ "$(now_ms)" -lt $until ]; do
        n=$(engines_sessions)
        [ "$n" -le $most ] || most=$n
        sleep 1
    done
    no_engine_grows
    thawed=$(now_us)
    pair_thaw_standby
    wait "${HELPERS[cli]}"; unset "HELPERS[cli]"
    code=$(<cli.code)
    is "$CASE_NAME: frozen for $FROZEN_S s, nothing starts after the trust window" \
        "$(started_between $trusted "$thawed")" 0
    is "$CASE_NAME: no batch is acknowledged meanwhile" \
        "$(acknowledged_between $((frozen + 200000)) "$thawed")" 0
    is "$CASE_NAME: an enqueue that waits for longer than its time says that it failed" "$code" 69
    echo "# $CASE_NAME: its words: $(head -1 cli.err)"
    is "$CASE_NAME: no commit that waits is cancelled" \
        "$(grep -cE 'due to user request|wait for synchronous replication' "$PAIR/a/server.log")" 0
    at_most "$CASE_NAME: sessions that hang on the server keep within bounds" "$most" 60
    it_goes_on
    for n in e0 e1; do ok "$CASE_NAME: $n was not started again" alive "$n"; done
    written w
    LIVE_S=35 verdict F14               # some of the last ones are wanted 20 s later
}

needs_pair
on_a_pair direct standby_frozen
