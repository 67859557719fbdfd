#!/usr/bin/env bash
# f43_schema_away.sh - F43: the schema is dropped and restored in place from a dump, under live
#     daemons and one that starts meanwhile
# PASS: a daemon that has worked logs what is missing, waits, and continues by itself; one that has
# never worked ends with 78; what the dump held runs once.
# limit 120
# quick
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"

pg_program() { echo "$("$FAULTS/../pg_cluster.sh" bin)/$1"; }
says_so() { grep -q 'no usable schema' "$1.err"; }

restored_in_place() {
    local engine
    a_case restored 'workers = 1;'
    engine e0; engine e1
    write_checks w --checks 200 --batch 100 --over 1 --ahead 1,14 --mix plain
    written w
    ok "$CASE_NAME: they are at work" wait_until 15 runs_at_least 10
    fault_begins restore store
    # nothing is settled behind the dump: that would be lost, and is another fault
    for engine in e0 e1; do kill -STOP "$(engine_pid "$engine")"; done
    wait_until 5 no_call_runs
    "$(pg_program pg_dump)" -Fc -n prescient -f dump "$PRESCIENT_STORE" || fail "$CASE_NAME: a dump"
    server_sql "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                WHERE application_name = 'prescient'" >/dev/null
    server_sql "DROP SCHEMA prescient CASCADE" 2>/dev/null
    for engine in e0 e1; do kill -CONT "$(engine_pid "$engine")"; done
    for engine in e0 e1; do
        ok "$CASE_NAME: $engine says that there is no schema" wait_until 15 says_so "$engine"
    done
    engine late
    engine_over late
    is "$CASE_NAME: a daemon that has never worked ends with 78" "$CODE" 78
    for engine in e0 e1; do ok "$CASE_NAME: $engine waits" alive "$engine"; done
    "$(pg_program pg_restore)" -d "$PRESCIENT_STORE" dump || fail "$CASE_NAME: the dump is restored"
    fault_ends restore store
    LIVE_S=40 EPSILON_MS=20000 verdict F43
}
no_call_runs() {
    [ "$(server_sql "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'prescient'
                     AND state <> 'idle'")" = 0 ]
}

on_a_server restored_in_place fsync=off
