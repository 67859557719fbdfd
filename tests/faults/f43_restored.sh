#!/usr/bin/env bash
# f43_restored.sh - F43: a dump is restored into a cluster with smaller and larger transaction ids;
#     recovery to a point in time; a restore in place under live daemons
# PASS: checks run as they were in the copy; a consumer that continues with its cursor gets all that
# the copy holds and it has not seen; no slot stays open.
# limit 420
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"
. "$FAULTS/consumers.sh"

BEHIND=20000                        # how many transaction ids one cluster is ahead of the other

burn_ids() {
    psql -qX "$1" -c "DO \$\$ BEGIN FOR i IN 1..$2 LOOP PERFORM pg_current_xact_id();
                      COMMIT; END LOOP; END \$\$" >/dev/null
}

# another_server NAME [setting=value...]: sets OTHER_URL
another_server() {
    at_end "$FAULTS/../pg_cluster.sh" stop "$TMP/pg$1"
    OTHER_URL=$("$FAULTS/../pg_cluster.sh" start "$TMP/pg$1" fsync=off shared_buffers=32MB "${@:2}") || {
        fail "another server" "$OTHER_URL"; exit 1
    }
}

# Checks in slots of a second, run by one engine; a consumer that has read what there was; and a
# slot that waits for its second look at the moment of the copy.
some_work() {
    LEASE_S=2 TRUST_MS=1000
    a_case "$1" 'workers = 2; split_at = 50;'
    engine e0
    write_checks w --checks 400 --over 6 --batch 15 --ahead 0,3 --mix busy --most-ms 10
    written w
    ok "$CASE_NAME: the work is done" wait_until 20 drained
    read_on consumer 0-0
    at_least "$CASE_NAME: the consumer was shown events" "$(wc -l <consumer.out)" 300
    # second looks wait for it
    psql -qXAt "$PRESCIENT_STORE" -c "BEGIN; SELECT pg_current_xact_id(); SELECT pg_sleep(600)" \
        >/dev/null 2>&1 &
    HOLDER=$!
    ok "$CASE_NAME: slots wait for their second look" wait_until 15 slots_wait 2
}
slots_wait() { [ "$(open_slots)" -ge "$1" ]; }
open_slots() {
    q "SELECT count(*) FROM {slot_pass} WHERE pass = 0 AND closed_at IS NULL
       AND slot_at < clock_timestamp() - interval '3 seconds'"
}
no_slot_open() { [ "$(open_slots)" = 0 ]; }
end_holder() {
    kill "$HOLDER" 2>/dev/null; wait "$HOLDER" 2>/dev/null
    q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)'
       AND pid <> pg_backend_pid()" >/dev/null
}

# goes_on: with the cursor it has the consumer is shown what is run on the copy, and old slots are
# closed there.
goes_on() {
    local before
    before=$(cursor_of consumer)
    engine f0
    q "SELECT count(prescient.enqueue('row', 'again.' || n, 'witness', interval '2 seconds'))
       FROM generate_series(1, 50) n" >/dev/null
    ok "$CASE_NAME: checks run on the copy" wait_until 20 all_again_done
    ok "$CASE_NAME: no slot stays open" wait_until 20 no_slot_open
    ok "$CASE_NAME: an old cursor is taken" read_on consumer "$before"
    wait_until 10 misses_none consumer || read_on consumer "$(cursor_of consumer)"
    is "$CASE_NAME: events of the copy that the consumer was never shown" "$(misses consumer)" 0
    is "$CASE_NAME: doctor finds nothing of a wrong history" \
        "$("$P" doctor 2>&1 | grep -c '^warn .*events from the future\|^error .*sequences')" 0
    stop_engines
    record_case F43
}
all_again_done() {
    [ "$(q "SELECT count(*) FROM {future_job_history} WHERE entity_key LIKE 'again.%'
            AND outcome = 'done'")" = 50 ]
}

# restored_into NAME: what is in PRESCIENT_STORE goes, by a dump, into OTHER_URL
dump_and_restore() {
    local dump=$CASE/dump.sql
    pg_dump --format=custom --file="$dump" "$PRESCIENT_STORE" || { fail "$CASE_NAME: a dump"; return 1; }
    end_holder
    stop_engines
    psql -qX "$OTHER_URL" -c 'CREATE ROLE prescient_enqueuer' -c 'CREATE ROLE prescient_operator' \
        -c 'CREATE ROLE prescient_engine' -c 'CREATE ROLE prescient_reader' >/dev/null
    PRESCIENT_STORE=$OTHER_URL
    q "SET client_min_messages = warning; DROP SCHEMA IF EXISTS prescient CASCADE"
    pg_restore --dbname="$PRESCIENT_STORE" "$dump" || { fail "$CASE_NAME: a restore"; return 1; }
    ok "$CASE_NAME: init says what it is" "$P" init
}
into_smaller() {
    burn_ids "$PRESCIENT_STORE" $BEHIND
    another_server small
    some_work dump-smaller
    dump_and_restore && goes_on
}
into_larger() {
    another_server large
    burn_ids "$OTHER_URL" $((BEHIND * 3))
    some_work dump-larger
    dump_and_restore && goes_on
}

# Into the place of the database, while engines live: they find no schema for a moment, and continue
# by themselves.
in_place() {
    some_work in-place
    pg_dump --format=custom --file="$CASE/dump.sql" "$PRESCIENT_STORE"
    end_holder
    fault_begins restored store
    q "SET client_min_messages = warning; DROP SCHEMA prescient CASCADE"
    pg_restore --dbname="$PRESCIENT_STORE" "$CASE/dump.sql"
    fault_ends restored store
    goes_on
}

# Recovery to a point in time: a base backup, then log up to a moment after which there was more
# work, which the consumer has seen.
to_a_point_in_time() {
    local base=$TMP/pgpitr moment
    mkdir -p "$TMP/archive" && chmod 777 "$TMP/archive"
    server_down
    a_server archive_mode=on "archive_command=cp %p $TMP/archive/%f" fsync=off
    some_work pitr
    end_holder
    mkdir -p "$base/sock"; chmod 755 "$base"
    [ "$(id -u)" != 0 ] || chown -R postgres "$base"
    as_postgres "$("$FAULTS/../pg_cluster.sh" bin)/pg_basebackup" -h "$CLUSTER/sock" \
        -U postgres -D "$base/data" -X none -c fast >/dev/null 2>&1 || {
        fail "$CASE_NAME: a base backup"; return
    }
    moment=$(q "SELECT clock_timestamp()")
    write_checks x --checks 300 --over 4 --batch 15 --ahead 0,2 --mix busy --most-ms 10
    written x
    wait_until 15 drained
    read_on consumer "$(cursor_of consumer)"
    stop_engines
    q "SELECT pg_switch_wal()" >/dev/null
    wait_until 20 is_archived
    server_stop fast
    as_postgres tee -a "$base/data/postgresql.auto.conf" >/dev/null <<CONF
restore_command = 'cp $TMP/archive/%f %p'
recovery_target_time = '$moment'
recovery_target_action = 'promote'
unix_socket_directories = '$base/sock'
archive_mode = 'off'
CONF
    as_postgres touch "$base/data/recovery.signal"
    "$FAULTS/../pg_cluster.sh" ctl "$base" start || {
        fail "$CASE_NAME: the recovered server starts" "$(tail -5 "$base/server.log")"; return
    }
    at_end "$FAULTS/../pg_cluster.sh" stop "$base"
    PRESCIENT_STORE="postgresql://postgres@/postgres?host=$base/sock"
    SERVER_URL=$PRESCIENT_STORE
    wait_until 30 server_takes_writes || fail "$CASE_NAME: the recovered server takes writes"
    is "$CASE_NAME: what came after the moment is not there" \
        "$(q "SELECT count(*) FROM {future_job_history} WHERE entity_key LIKE 'x.%'")" 0
    goes_on
}
is_archived() {
    [ "$(q "SELECT last_archived_wal IS NOT NULL AND NOT EXISTS (SELECT
            FROM pg_ls_archive_statusdir() WHERE name LIKE '%.ready') FROM pg_stat_archiver")" = t ]
}
as_postgres() {
    if [ "$(id -u)" = 0 ]; then
        (cd / && setpriv --reuid=postgres --regid=postgres --init-groups env -i PATH="$PATH" LC_ALL=C.UTF-8 \
            "$@")
    else
        (cd / && "$@")
    fi
}

for scenario in into_smaller into_larger in_place to_a_point_in_time; do
    in_case "$scenario" on_a_server "$scenario" fsync=off shared_buffers=64MB
done
