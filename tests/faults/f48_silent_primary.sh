#!/usr/bin/env bash
# f48_silent_primary.sh - F48: the primary stops answering for good (its processes are frozen, or
#     its lines are dead) during calls of all engines; the synchronous standby is promoted 3 s later
# PASS: the first run on the new primary begins within two leases of the promotion, nothing is lost,
# and nothing runs twice without the failover as its reason.
# limit 240
# quick
. "$(dirname "$0")/lib.sh"
. "$FAULTS/failovers.sh"
. "$FAULTS/net.sh"

LEASE_S=2 TRUST_MS=1000

runs_after() { awk -F'\t' -v from="$1" '$1 > from' journal | wc -l; }
somebody_runs_after() { [ "$(runs_after "$1")" -gt 0 ]; }
first_run_after() {
    awk -F'\t' -v from="$1" '$1 > from && (!first || $1 < first) { first = $1 } END { print first }' journal
}

# Frozen, the kernel still accepts data and connections: no client is told that the server does not
# answer.
freeze_primary() { kill -STOP $(pair_processes "$PRIMARY"); }
cut_lines() { proxy a drop up; proxy a drop down; }

# silent HOW: the fault, and three seconds later the promotion
silent() {
    local how=$1 promoted first engine
    a_case "$how" 'workers = 2;'
    pair_sync on
    # All is filed before: from then on applications are no part of it.
    write_checks w --checks 900 --batch 100 --over 1 --ahead 4,24 --mix slow --most-ms 20
    written w
    for engine in e0 e1 e2; do engine "$engine" daemon --store "$ENGINES_STORE"; done
    ok "$CASE_NAME: all are at work" wait_until 20 runs_at_least 100
    acknowledged_keys >acked.before
    fault_begins failover store
    "$how"
    sleep 3
    pair_promote || return 1
    promoted=$(now_us)
    export PRESCIENT_STORE; PRESCIENT_STORE=$(pair_url_of "$PRIMARY")
    ok "$CASE_NAME: somebody runs checks on the new primary" wait_until 60 somebody_runs_after "$promoted"
    first=$(first_run_after "$promoted")
    at_most "$CASE_NAME: from the promotion to the first run, in ms" \
        $(((first - promoted) / 1000)) $((2 * LEASE_S * 1000))
    known_on "$PRIMARY" >known.after
    is "$CASE_NAME: of $(wc -l <acked.before) acknowledged enqueues none is lost" \
        "$(LC_ALL=C comm -23 acked.before known.after | wc -l)" 0
    for engine in e0 e1 e2; do ok "$CASE_NAME: $engine was not started again" alive "$engine"; done
    LIVE_S=45 EPSILON_MS=20000 verdict F48
}

frozen() {
    ENGINES_STORE=$(pair_url)
    silent freeze_primary
}
# Behind proxies, which continue to accept connections as a router may; data is dropped, in both
# directions.
cut() {
    proxy_start a "$(pair_url_of a)" && proxy_start b "$(pair_url_of b)" || return 1
    ENGINES_STORE="postgresql://postgres@/postgres?host=127.0.0.1,127.0.0.1"
    ENGINES_STORE+="&port=${PROXY_PORTS[a]},${PROXY_PORTS[b]}&target_session_attrs=read-write"
    silent cut_lines
}

needs_pair
on_a_pair direct frozen
on_a_pair direct cut
