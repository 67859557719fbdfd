# primary_killed.sh - the failovers of F12, which F20 goes through behind a pooler, too. Sourced
# after failovers.sh.

FAILOVERS=${FAILOVERS:-3}
BATCH=8 WORKERS=2

# At a moment when an engine works; the second time there is no promotion until all leases have
# expired.
one_failover() {
    local away=0
    [ "$1" != 1 ] || away=$((LEASE_S + 2))
    ok "$CASE_NAME: failover $1: somebody is at work" engine_at_work 15
    sleep "$(printf '0.%03d' $((RANDOM % 300)))"
    fail_over_without_loss "$away" || return 1
    it_goes_on
    pair_rejoin
}

primary_killed() {
    local n
    LEASE_S=4 TRUST_MS=2000
    WITNESS="batch = $BATCH;" a_case "killed-$WAY" "workers = $WORKERS; split_at = 50; $WAY_SETTINGS"
    pair_sync on
    engine e0; engine e1
    write_checks w --patient --checks $((FAILOVERS * 1000)) --over $((FAILOVERS * 14)) \
        --batch 20 --mix slow --most-ms 20
    for ((n = 0; n < FAILOVERS; n++)); do one_failover "$n" || break; done
    is "$CASE_NAME: failovers" "$n" "$FAILOVERS"
    written w
    verdict "${1:-F12}"
    at_most "$CASE_NAME: at most a batch of each worker ran again, for each failover" \
        "$RERUNS" $((FAILOVERS * 2 * WORKERS * BATCH))
}
