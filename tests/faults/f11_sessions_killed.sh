#!/usr/bin/env bash
# f11_sessions_killed.sh - F11: each of the engines' sessions is ended by pg_terminate_backend, and
#     their backends are killed (SIGKILL), so that the server restarts
# PASS: engines reconnect and continue under their leases: nothing is taken over, nothing runs
# twice, nothing is settled twice.
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"
. "$FAULTS/refusals.sh"

LEASE_S=12 TRUST_MS=8000            # longer than any of these faults

at_work() {
    engine e0; engine e1
    write_checks w --patient --checks 4000 --batch 50 --over 20 --ahead 1,3 --mix slow --most-ms 24
    WENT_ON=0
    for name in e0 e1; do ok "$CASE_NAME: $name is at work" wait_until 15 has_started "$name" 20; done
}
is_writing() { kill -0 "${HELPERS[w]}" 2>/dev/null; }
# Both continue soon after the fault, as long as there is work for both.
go_on() {
    local name at; at=$(now_us)
    is_writing || return 0
    WENT_ON=$((WENT_ON + 1))
    for name in e0 e1; do
        wait_until 6 starts_since "$name" "$at" || ! is_writing || fail "$CASE_NAME: $name goes on after $1"
    done
}
starts_since() { [ "$(starts "$1" "$2" "$(now_us)")" -ge 3 ]; }

lost_calls() {
    cat e?.err | grep -cE 'terminating connection|connection to the database|server closed|recovery mode'
}

# Most sessions are idle when they are ended, which is found out before they are used, and is no
# news. One is to lose a call.
end_a_session_at_work() {
    fault_begins terminate store
    server_sql "DO \$\$
        DECLARE at_work integer;
        BEGIN
            FOR n IN 1 .. 1000 LOOP
                PERFORM pg_stat_clear_snapshot();
                SELECT pid INTO at_work FROM pg_stat_activity WHERE application_name LIKE 'prescient%'
                    AND state = 'active' AND pid <> pg_backend_pid() LIMIT 1;
                IF FOUND THEN
                    PERFORM pg_terminate_backend(at_work);
                    EXIT;
                END IF;
                PERFORM pg_sleep(0.001);
            END LOOP;
        END \$\$"
    sleep 0.1
    fault_ends terminate store
    [ "$(lost_calls)" != 0 ]
}

terminated() {
    local round pid name hit=0
    WITNESS='batch = 1;' a_case terminated 'workers = 2; split_at = 50;'
    at_work
    for round in {1..4}; do
        for pid in $(engine_sessions); do
            sleep "$(printf '0.%03d' $((RANDOM % 150)))"
            fault_begins terminate store
            session_terminate "$pid" && hit=$((hit + 1))
            fault_ends terminate store
        done
        go_on "its sessions were ended"
    done
    at_least "$CASE_NAME: sessions ended" "$hit" 12
    ok "$CASE_NAME: one is ended in the middle of a call" wait_until 10 end_a_session_at_work
    after_it
}
killed() {
    local round pid hit=0
    WITNESS='batch = 1;' a_case killed 'workers = 2; split_at = 50;'
    at_work
    for round in {1..3}; do
        pid=$(engine_sessions | shuf -n 1 --random-source=<(yes $RANDOM))
        fault_begins kill-backend store
        session_kill "$pid" && hit=$((hit + 1))
        fault_ends kill-backend store
        go_on "a backend was killed"
    done
    is "$CASE_NAME: backends killed" "$hit" 3
    after_it
}
after_it() {
    local name
    at_least "$CASE_NAME: both were seen to go on" "$WENT_ON" 2
    written w
    for name in e0 e1; do
        ok "$CASE_NAME: $name was up all the time" alive "$name"
    done
    at_least "$CASE_NAME: calls were lost with their connections" "$(lost_calls)" 1
    is "$CASE_NAME: no lease was taken over" "$(cat e?.err | grep -c 'taken over')" 0
    LIVE_S=40 EPSILON_MS=15000 verdict F11
    is "$CASE_NAME: nothing ran twice" "$RERUNS" 0
}
both() { terminated; killed; }
on_a_server both fsync=off
