#!/usr/bin/env bash
# f05_worker_stopped.sh - F05: workers are stopped (SIGSTOP), some for longer than the timeout, and
#     continued
# PASS: a worker that is stopped for too long is killed and replaced, and its row's outcome is
# timeout; one that is continued in time goes on, and nothing runs twice.
. "$(dirname "$0")/lib.sh"

stop_a_worker() {
    local worker; worker=$(worker_at_work) || return 1
    fault_begins STOP "worker:$worker"
    kill -STOP "$worker" 2>/dev/null
    sleep "$1"
    kill -CONT "$worker" 2>/dev/null
    fault_ends STOP "worker:$worker"
}

stopped_workers() {
    local n
    WITNESS='batch = 1; timeout = "1s"; max_failures = 1000;' a_case stop 'workers = 3;'
    engine one
    write_checks w --checks 700 --over 14 --mix slow --most-ms 80
    for ((n = 0; n < 8; n++)); do
        stop_a_worker $((n % 2 * 2)).$((RANDOM % 5 + 1))
    done
    written w
    verdict F05
    at_least "$CASE_NAME: checks whose worker was stopped for too long" \
        "$(q "SELECT count(*) FROM {future_job_run} WHERE outcome = 'timeout'")" 1
    is "$CASE_NAME: nothing ran twice with the same counts" "$RERUNS" 0
}
on_both_stores stopped_workers
