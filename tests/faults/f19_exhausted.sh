#!/usr/bin/env bash
# f19_exhausted.sh - F19: another client has all locks or all connections of the server; the
#     engines' role lacks a right, or has timeouts of milliseconds
# PASS: locks, connections, rights: engines name the error, back off, start nothing, and continue
# when it is over. Timeouts of the role have no effect: all is done.
# limit 600
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"
. "$FAULTS/refusals.sh"

# Engines have the role that docs/security.md gives them: no superuser, so that nothing is reserved
# for it. All else connects as the administrator.
roles() {
    "$P" --quiet init >/dev/null &&
        server_sql "CREATE ROLE runner LOGIN IN ROLE prescient_engine; CREATE ROLE hog LOGIN"
    ENGINE_BY=(env PRESCIENT_STORE="${PRESCIENT_STORE/postgres@/runner@}")
}
as_hog() {
    PGAPPNAME=hog PGCONNECT_TIMEOUT=5 timeout 120 psql -qXAt "${SERVER_URL/postgres@/hog@}" \
        -c "$1" >>"$CASE/hog.out" 2>&1
}
# One that was just connecting when the others were ended is found by the next look.
no_hog_is_left() {
    server_sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE application_name = 'hog'" >/dev/null
    local name
    for name in "${!HELPERS[@]}"; do
        [[ $name != hog* ]] || is_over "${HELPERS[$name]}" || return 1
    done
}
no_hog() {
    local name
    rm -f "$CASE/hogging"
    wait_until 20 no_hog_is_left || return 1
    for name in "${!HELPERS[@]}"; do
        [[ $name != hog* ]] || { wait "${HELPERS[$name]}"; unset "HELPERS[$name]"; }
    done
    [ "$(server_sql "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hog'")" = 0 ]
}

# ---- locks ----

# A lock of a session outlives the error that there is room for no more.
all_locks() {
    as_hog "DO \$\$ BEGIN
                BEGIN PERFORM pg_advisory_lock(n)
                    FROM generate_series(1, 10000000) n; EXCEPTION WHEN out_of_memory THEN NULL; END;
                PERFORM pg_sleep(12);
            END \$\$" &
    HELPERS[hog]=$!
    wait_until 10 no_lock_is_left
}
# No client can even connect, so none can end it before its time.
no_lock_is_left() { [[ $(server_sql 'SELECT pg_advisory_xact_lock(-1)' 2>&1) == *'out of shared memory'* ]]; }
hog_is_gone() { wait "${HELPERS[hog]}"; unset "HELPERS[hog]"; no_hog; }
locks() {
    CHECKS=600 busy_engines locks
    # A settle may be refused while there is still room for the locks of a renewal, which brings
    # back the trust in a lease; and the renewals of one connection may be refused before those of
    # the other. An engine that is through with all that it had leased renews nothing, and asks for
    # more.
    RENEWAL='cannot renew leases.*out of shared memory' SETTLE='cannot settle a page: out of shared memory' \
        refused "all locks are taken" all_locks hog_is_gone 'out of shared memory'
    EPSILON_MS=20000 verdict F19
}

# ---- connections ----

greedy() { while [ -e "$CASE/hogging" ]; do as_hog "SELECT pg_sleep(100)"; sleep 0.03; done; }
# One session of the administrator puts the engines out until others have their places, and stays:
# one that left would leave a place.
usher() {
    PGAPPNAME=hog timeout 120 psql -qXAt "$SERVER_URL" -c "DO \$\$ BEGIN
        FOR i IN 1 .. 600 LOOP
            PERFORM pg_stat_clear_snapshot();
            PERFORM pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'runner';
            EXIT WHEN (SELECT count(*) >= 17 AND NOT coalesce(bool_or(usename = 'runner'), false)
                FROM pg_stat_activity WHERE backend_type = 'client backend');
            PERFORM pg_sleep(0.05);
        END LOOP; END \$\$" -c '\echo out' -c "SELECT pg_sleep(100)" >"$CASE/usher.out" 2>&1
}
engines_are_out() { grep -q out "$CASE/usher.out"; }
all_connections() {             # 20, of which three are the administrator's
    local n
    touch "$CASE/hogging"
    : >"$CASE/usher.out"
    for n in {1..24}; do greedy & HELPERS[hog$n]=$!; done
    usher & HELPERS[hog_usher]=$!
    wait_until 30 engines_are_out
}
connections() {
    local n
    touch "$CASE/hogging"
    for n in {1..24}; do greedy & HELPERS[hog$n]=$!; done
    wait_until 20 engines_are_out
}
connections() {
    CHECKS=600 busy_engines connections
    LENIENT=1 refused "all connections are taken" all_connections no_hog \
        'too many clients|remaining connection slots'
    EPSILON_MS=20000 verdict F19
}
# Those that are started then have never been connected.
late_engines() {
    a_case late 'workers = 2;'
    write_checks w --checks 200
    written w
    fault_begins "all connections are taken" store
    ok "$CASE_NAME: all connections are taken" all_connections
    engine e0; engine e1
    for name in e0 e1; do
        ok "$CASE_NAME: $name says so" wait_until 15 has_logged \
            "$name" 'too many clients|remaining connection slots'
    done
    sleep 4
    is "$CASE_NAME: nothing was started" "$(runs)" 0
    ok "$CASE_NAME: there are connections again" no_hog
    fault_ends "all connections are taken" store
    EPSILON_MS=20000 verdict F19
}

# ---- rights ----

no_right() { server_sql "REVOKE INSERT, UPDATE, DELETE ON prescient.slot_lease FROM prescient_engine"; }
right() { server_sql "GRANT INSERT, UPDATE, DELETE ON prescient.slot_lease TO prescient_engine"; }
rights() {
    CHECKS=600 busy_engines rights
    local words='permission denied for table slot_lease \(user runner; the role prescient_engine has lost'
    refused "no right to write leases" no_right right "$words this right\\)"
    EPSILON_MS=20000 verdict F19
}

# ---- timeouts of the role ----

# Another session locks a table for a moment, again and again, as a vacuum or an ALTER TABLE does.
lock_now_and_then() {
    while [ -e "$CASE/locking" ]; do
        server_sql "BEGIN; LOCK TABLE prescient.future_job, prescient.slot_lease IN ACCESS EXCLUSIVE MODE;
                    SELECT pg_sleep(0.03); COMMIT" >/dev/null 2>&1
        sleep 0.2
    done
}
timeouts() {
    server_sql "ALTER ROLE runner SET statement_timeout = '$1'; ALTER ROLE runner SET lock_timeout = '1ms'"
    CHECKS=1000 busy_engines timeouts
    touch locking
    lock_now_and_then & HELPERS[locker]=$!
    written w
    LIVE_S=40
    ok "$CASE_NAME: all is done nevertheless" wait_until 40 drained
    rm locking
    wait "${HELPERS[locker]}"
    unset "HELPERS[locker]"
    at_most "$CASE_NAME: the role's timeouts hardly ever hit" \
        "$(cat e?.err | grep -cE 'statement timeout|lock timeout')" 12
    EPSILON_MS=20000 verdict F19
    is "$CASE_NAME: nothing ran twice" "$RERUNS" 0
    server_sql "ALTER ROLE runner RESET ALL"
}
# Sessions are ended by the server whenever they have been idle, which is what they are between
# slots.
idle_sessions() {
    server_sql "ALTER ROLE runner SET idle_session_timeout = '150ms'"
    a_case idle 'workers = 2; split_at = 50;'
    engine e0; engine e1
    write_checks w --checks 600 --over 8 --ahead 0,6 --mix busy
    written w
    EPSILON_MS=6000 verdict F19
    is "$CASE_NAME: nothing ran twice" "$RERUNS" 0
    server_sql "ALTER ROLE runner RESET ALL"
}

all_of_it() {
    roles
    locks; connections; late_engines; rights
    timeouts 5ms
    [ "$(server_sql 'SHOW server_version_num')" -lt 140000 ] || idle_sessions
}
on_a_server all_of_it fsync=off max_connections=20 max_locks_per_transaction=10
