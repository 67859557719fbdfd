#!/usr/bin/env bash
# t_daemon.sh - the daemon with slots of one second: what is enqueued while it runs is run in its
# slot, missed slots are swept, checks of unknown jobs wait for an engine that has the job, and a
# TERM lets running jobs answer and gives the leases back.
# not for coverage
# about 25 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

journal="journal = { plugin = \"journal\"; settings = { file = \"$TMP/journal\"; event = \"ran\"; }; };"
slow="slow = { plugin = \"journal\"; batch = 1; settings = { file = \"$TMP/slow\"; pause_us = 700000; }; };"
settings 'lease = "3s"; trust = "2s"; stop_timeout = "5s";' \
    "jobs = { noop = { plugin = \"noop\"; }; $journal $slow };"
sed 's/noop = {/stranger = { plugin = "noop"; }; noop = {/' prescient.cfg >stranger.cfg

# The last run of a check against its slot, in milliseconds: a column of SQL.
run_after_slot() {
    if [ "$STORE_NAME" = sqlite ]; then
        echo "(last_run_at_us - slot_at * 1000000) / 1000"
    else
        echo "(extract(epoch FROM last_run_at - slot_at) * 1000)::bigint"
    fi
}

start_daemon() {
    start daemon "$P" --log-level info "$@" daemon
    DAEMON=$(pid_of daemon)
}

stop_daemon() {
    local began; began=$(now_ms)
    kill -TERM "$DAEMON"
    join_within 10 daemon
    STOPPED_MS=$(($(now_ms) - began))
}

is_running() { [ -s "$1" ]; }
moved_on() { [ "$(q "SELECT <next_check_at> FROM {future_job} WHERE job_exec = 'stranger'")" -gt "$1" ]; }
seen_unknown() { [ "$(q "SELECT coalesce(sum(unknown_job), 0) FROM {slot_pass}")" -gt 0 ]; }
no_slot_is_open() {
    local closed=closed_at; [ "$STORE_NAME" = postgresql ] || closed=closed_at_us
    [ "$(q "SELECT count(*) FROM {slot_pass} WHERE pass = 0 AND $closed IS NULL AND <slot_at> < $1")" = 0 ]
}

daemon_test() {
    local late wave slot
    rm -f journal slow; : >journal
    a_clean_store --slot-length 1s

    # Slots missed while no engine was running.
    slot=$(($(date +%s) - 7200))
    fill 40 $slot journal "'missed' || n"
    fill 40 $((slot + 1800)) journal "'missed later' || n"
    start_daemon
    ok "$STORE_NAME: missed slots are swept at the start" wait_until 10 archived_at_least 80

    # Slots while it runs.
    for wave in 1 2 3 4; do
        enqueue_in 1 25 journal "'wave $wave.' || n"
        sleep 0.4
    done
    ok "$STORE_NAME: what is enqueued in SQL while it runs is run" wait_until 10 archived_at_least 180
    late=$(run_after_slot)
    is "$STORE_NAME: none before its slot" \
        "$(q "SELECT count(*) FROM {future_job_history} WHERE entity_key LIKE 'wave%' AND $late < 0")" 0
    in_time "$STORE_NAME: latest start of a check after its slot began" \
        "$(q "SELECT max($late) FROM {future_job_history} WHERE entity_key LIKE 'wave%'")" 900
    is "$STORE_NAME: each was run once, with one event" \
        "$(cut -d' ' -f1 journal | sort | uniq -d | grep -v '^missed\|^wave' |
            wc -l) $(wc -l <journal) $(q "SELECT count(*) FROM {event}")" "0 180 180"

    # A job that this engine does not have.
    enqueue_in 1 1 stranger
    slot=$(q "SELECT <next_check_at> FROM {future_job} WHERE job_exec = 'stranger'")
    ok "$STORE_NAME: a check of an unknown job is left in its slot's pass, and said" \
        wait_until 10 seen_unknown
    ok "$STORE_NAME: and put off then" wait_until 10 moved_on "$slot"
    is "$STORE_NAME: uncounted, without a run" \
        "$(q "SELECT check_count, failure_count FROM {future_job} WHERE job_exec = 'stranger'") $(
            q "SELECT count(*) FROM {future_job_run}")" "0|0 0"

    # A TERM while jobs run.
    enqueue_in 1 2 slow
    ok "$STORE_NAME: a slow job runs" wait_until 10 is_running slow
    stop_daemon
    is "$STORE_NAME: TERM: exit code 0" "$CODE" 0
    in_time "$STORE_NAME: TERM: within a second or two" "$STOPPED_MS" 3000
    is "$STORE_NAME: TERM: what ran was settled, what had not begun waits" \
        "$(q "SELECT count(*) FROM {future_job_history} WHERE job_exec = 'slow'") $(
            q "SELECT count(*) FROM {future_job} WHERE job_exec = 'slow'")" \
        "$(wc -l <slow) $((2 - $(wc -l <slow)))"
    is "$STORE_NAME: TERM: the leases are given back" "$(leases)" 0
    ok "$STORE_NAME: TERM: no worker is left" no_workers_of "$DAEMON"
    is "$STORE_NAME: TERM: the end of its workers is no error" "$(grep -c 'cannot be run here' daemon.err)" 0
    cp daemon.err "first.$STORE_NAME.err"

    # Another engine has the job.
    start_daemon --config stranger.cfg
    ok "$STORE_NAME: an engine that has the job runs it, and what the stop had left" \
        wait_until 20 nothing_pending
    is "$STORE_NAME: the stranger is done" \
        "$(q "SELECT outcome, check_count, failure_count, run_count FROM {future_job_history}
              WHERE job_exec = 'stranger'")" "done|0|0|1"
    ok "$STORE_NAME: slots that are over are closed" wait_until 10 no_slot_is_open "$(date +%s)"
    # Two signals: it does not wait for jobs.
    : >slow
    enqueue_in 1 1 slow "'last'"
    ok "$STORE_NAME: a slow job runs again" wait_until 10 is_running slow
    kill -TERM "$DAEMON"; sleep 0.05; kill -TERM "$DAEMON"
    join_within 2 daemon
    ok "$STORE_NAME: a second TERM ends it at once, its workers with it" wait_until 1 no_workers_of "$DAEMON"
    is "$STORE_NAME: the check that was running waits" "$(pending)" 1
    # The slot length is changed while it runs.
    local errors; errors=$(grep -c ' error ' "first.$STORE_NAME.err" daemon.err | grep -v ':0$')
    q "DELETE FROM {future_job}"
    start_daemon
    enqueue_in 1 1 noop "'before'"
    ok "$STORE_NAME: it runs checks" wait_until 10 nothing_pending
    "$P" --quiet migrate --slot-length 2s >/dev/null
    [ "$STORE_NAME" = sqlite ] || q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                                     WHERE application_name LIKE 'prescient%'
                                     AND datname = current_database()" >/dev/null
    join_within 20 daemon
    is "$STORE_NAME: another slot length ends it, to be started again" "$CODE" 75
    has "$STORE_NAME: in words" "$(tail -1 daemon.err)" "was changed from 1 s to 2 s"
    is "$STORE_NAME: nothing was logged as an error" "$errors" ""
}

on_each_store daemon_test
