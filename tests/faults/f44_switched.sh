#!/usr/bin/env bash
# f44_switched.sh - F44: a planned switch to a server that logical replication has filled, with its
#     sequences copied or forgotten, and its transaction ids smaller or larger
# PASS: nothing acknowledged is lost, no answer ends another's check, and a consumer that continues
# with its cursor gets all that the new server holds.
# limit 300
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"
. "$FAULTS/consumers.sh"

BEHIND=20000

burn_ids() {
    psql -qX "$1" -c "DO \$\$ BEGIN FOR i IN 1..$2 LOOP PERFORM pg_current_xact_id();
                      COMMIT; END LOOP; END \$\$" >/dev/null
}
new_q() { psql -qXAt -v ON_ERROR_STOP=1 "$NEW_URL" -c "$1"; }

# The new server has the tables, all of them empty, and follows.
new_server_follows() {
    psql -qX "$NEW_URL" -c 'CREATE ROLE prescient_enqueuer' -c 'CREATE ROLE prescient_operator' \
        -c 'CREATE ROLE prescient_engine' -c 'CREATE ROLE prescient_reader' >/dev/null
    pg_dump --schema-only --schema=prescient "$PRESCIENT_STORE" |
        psql -qX -v ON_ERROR_STOP=1 "$NEW_URL" >/dev/null || return 1
    q "CREATE PUBLICATION all_checks FOR ALL TABLES WITH (publish_via_partition_root = true)"
    new_q "CREATE SUBSCRIPTION all_checks
           CONNECTION 'host=$CLUSTER/sock user=postgres dbname=postgres' PUBLICATION all_checks" 2>/dev/null
    wait_until 30 is_copied
}
is_copied() {
    [ "$(new_q "SELECT count(*) FILTER (WHERE srsubstate <> 'r') = 0 AND count(*) > 0
                FROM pg_subscription_rel")" = t ]
}
has_all() {
    [ "$(q "SELECT bool_and(confirmed_flush_lsn >= pg_current_wal_lsn()) FROM pg_replication_slots")" = t ]
}

carry_sequences() {
    local s
    for s in future_job_id_seq slot_lease_token_seq event_id_seq; do
        new_q "SELECT setval('prescient.$s', $(q "SELECT last_value FROM prescient.$s"))" >/dev/null
    done
}

# switch NAME carry|forget: work on the old server, followed by the new one; the switch; work on the
# new one, with the old cursor
switch() {
    local cursor at
    LEASE_S=2 TRUST_MS=1000
    a_case "$1" 'workers = 2; split_at = 50;'
    engine e0
    ok "$CASE_NAME: the new server follows" new_server_follows || return
    write_checks w --checks 400 --over 6 --batch 15 --ahead 0,4 --mix busy --most-ms 10
    written w
    ok "$CASE_NAME: the consumer is shown events" wait_until 20 runs_at_least 100
    stop_engines
    read_on consumer 0-0
    cursor=$(cursor_of consumer)
    # one slot for those of before and after the switch: with the same ids they would be one
    # another's
    at=$(($(date +%s) + 15))
    q "SELECT count(prescient.enqueue('row', 'before.' || n, 'witness', to_timestamp($at),
       '[\"again 2\", \"done\"]')) FROM generate_series(1, 60) n" >/dev/null
    fault_begins switch store
    ok "$CASE_NAME: the new server has all" wait_until 20 has_all
    new_q "ALTER SUBSCRIPTION all_checks DISABLE" &&
        new_q "ALTER SUBSCRIPTION all_checks SET (slot_name = NONE)" && new_q "DROP SUBSCRIPTION all_checks"
    [ "$2" = forget ] || carry_sequences
    PRESCIENT_STORE=$NEW_URL
    fault_ends switch store
    [ "$3" = engine ] || ok "$CASE_NAME: init on the new server" "$P" init
    engine f0
    [ "$3" != engine ] || ok "$CASE_NAME: the engine sees to the sequences" wait_until 20 sequences_are_ahead
    q "SELECT count(prescient.enqueue('row', 'after.' || n, 'witness', to_timestamp($at)))
       FROM generate_series(1, 60) n" >/dev/null
    is "$CASE_NAME: no id is there twice" "$(q "SELECT count(*) - count(DISTINCT id) FROM {future_job}")" 0
    ok "$CASE_NAME: all work is done on the new server" wait_until 40 drained
    is "$CASE_NAME: each check ended once" \
        "$(q "SELECT count(*) || ' ' || count(DISTINCT entity_key) FROM {future_job_history}
              WHERE entity_key ~ '^(before|after)'")" "120 120"
    is "$CASE_NAME: by its own answer" \
        "$(q "SELECT string_agg(DISTINCT split_part(entity_key, '.', 1) || ' ' || outcome || ' ' || run_count,
              ', ') FROM {future_job_history} WHERE entity_key ~ '^(before|after)'")" "$BY_OWN"
    is "$CASE_NAME: no acknowledged check is missing" \
        "$(LC_ALL=C comm \
        -23 <(acknowledged | LC_ALL=C sort -u) <(q "SELECT entity_key FROM {future_job_history}" |
            LC_ALL=C sort -u) | wc -l)" 0
    ok "$CASE_NAME: an old cursor is taken" read_on consumer "$cursor"
    wait_until 10 misses_none consumer || read_on consumer "$(cursor_of consumer)"
    is "$CASE_NAME: events that the consumer was never shown" "$(misses consumer)" 0
    is "$CASE_NAME: slots that stay open" "$(wait_until 20 no_slot_open; open_slots)" 0
    stop_engines
    record_case F44
}
acknowledged() {
    awk -F'\t' '$1 == "sent" { keys[$3] = keys[$3] $5 "\n" } $1 == "acked" { printf "%s", keys[$3] }' \
        "$CASE/plan"
}
open_slots() {
    q "SELECT count(*) FROM {slot_pass} WHERE pass = 0 AND closed_at IS NULL
       AND slot_at < clock_timestamp() - interval '3 seconds'"
}
no_slot_open() { [ "$(open_slots)" = 0 ]; }
sequences_are_ahead() { [ "$(q "SELECT count(*) FROM prescient.sequences_behind(true)")" = 0 ]; }
BY_OWN="after done 1, before done 2"

# to_a_new_server NAME IDS_OF_OLD IDS_OF_NEW carry|forget init|engine
to_a_new_server() {
    a_server wal_level=logical fsync=off shared_buffers=64MB
    at_end "$FAULTS/../pg_cluster.sh" stop "$TMP/pgnew"
    NEW_URL=$("$FAULTS/../pg_cluster.sh" start "$TMP/pgnew" fsync=off shared_buffers=32MB) || {
        fail "a new server" "$NEW_URL"; return
    }
    burn_ids "$PRESCIENT_STORE" "$2"
    burn_ids "$NEW_URL" "$3"
    switch "$1" "$4" "$5"
    server_down
    "$FAULTS/../pg_cluster.sh" stop "$TMP/pgnew"
}

needs_a_server
in_case to-smaller-carried to_a_new_server to-smaller-carried $BEHIND 1 carry init
in_case to-smaller-forgotten to_a_new_server to-smaller-forgotten $BEHIND 1 forget init
in_case to-larger-forgotten to_a_new_server to-larger-forgotten 1 $((BEHIND * 2)) forget engine
