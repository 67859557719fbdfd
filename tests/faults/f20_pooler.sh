#!/usr/bin/env bash
# f20_pooler.sh - F20: engines and applications use the database through a PgBouncer in transaction
#     mode without prepared statements
# PASS: everything works as without it: workers die, the server and the pooler restart, primaries
# are killed, and the common checks hold; also without a setting about it.
# limit 290
. "$(dirname "$0")/lib.sh"
. "$FAULTS/server.sh"
. "$FAULTS/failovers.sh"
. "$FAULTS/primary_killed.sh"

# Few connections for many clients, so that hardly any transaction meets the session of the one
# before it.
POOL=default_pool_size=4

# behind_the_pooler F SETTING...: a server of our own, PgBouncer in front
behind_the_pooler() {
    a_server fsync=off
    bouncer_start "$SERVER_URL" "$POOL" && { PRESCIENT_STORE=$(bouncer_url) "$@"; }
    bouncer_stop
    server_down
}

# an_old_day: of the history, for prune to drop
an_old_day() {
    q "CREATE TABLE prescient.future_job_history_p20200101 PARTITION OF {future_job_history} FOR
       VALUES FROM ('2020-01-01 00:00+00') TO ('2020-01-02 00:00+00')"
}
# what_is_set: the values of lock_timeout in the sessions that the pooler hands out, of which all
# are asked at once
what_is_set() {
    local n pids=()
    for n in 1 2 3 4 5 6; do
        q "SELECT current_setting('lock_timeout') FROM pg_sleep(0.3)" >"set.$n" & pids+=($!)
    done
    wait "${pids[@]}"
    cat set.? | sort -u
}

# In the middle of jobs workers are killed, and commands of all kinds are used beside the engines.
workers_killed() {
    local n commands=("status" "slots" "list" "history" "runs" "events" "jobs" "prune --keep 900d")
    WITNESS='batch = 1; max_failures = 6;' a_case "workers-$1" "workers = 2; split_at = 50; $2"
    an_old_day
    engine e0; engine e1; engine e2
    write_checks sql --checks 500 --over 8 --mix rough --most-ms 20
    write_checks cli --checks 300 --over 8 --batch 60 --mix rough --most-ms 20 --by cli
    for ((n = 0; n < ${#commands[@]}; n++)); do
        WORKER=$(worker_at_work 3) && signal_worker "$WORKER" KILL
        ok "$CASE_NAME: prescient ${commands[n]}" "$P" --quiet ${commands[n]}
    done
    is "$CASE_NAME: prune has dropped an old day of the history" \
        "$(q "SELECT to_regclass('prescient.future_job_history_p20200101') IS NULL")" t
    is "$CASE_NAME: no command leaves a setting in a session that others use next" "$(what_is_set)" 0
    written sql
    written cli
    has "$CASE_NAME: prescient doctor says how the pooler takes it" "$("$P" doctor)" "$3"
    verdict F20
}

# the server's restarts of F17, and the pooler's own
restarts() {
    local n
    WITNESS='batch = 1;' a_case restarts "workers = 2; split_at = 50; prepared = false;"
    engine e0; engine e1
    write_checks w --patient --checks 800 --over 12 --batch 20 --mix busy --most-ms 10
    for n in fast immediate pooler fast; do
        ok "$CASE_NAME: somebody is at work" engine_at_work 15
        if [ $n = pooler ]; then bouncer_restart; else
            fault_begins "$n" store
            server_restart "$n"
            fault_ends "$n" store
        fi
    done
    written w
    LIVE_S=20 verdict F20
}

needs_a_server
needs_bouncer
behind_the_pooler workers_killed told 'prepared = false;' 'prepared statements are switched off'
behind_the_pooler workers_killed untold '' 'set prepared = false'
behind_the_pooler restarts
primary_killed_here() { FAILOVERS=2 primary_killed F20; }
on_a_pair bouncer primary_killed_here
