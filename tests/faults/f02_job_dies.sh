#!/usr/bin/env bash
# f02_job_dies.sh - F02: jobs die of SIGSEGV or abort, or leave by exit(0) and _exit, one by one and
#     in batch calls
# PASS: only the row that was running is affected; history has the reason, max_failures counts it,
# the engine lives.
# quick
. "$(dirname "$0")/lib.sh"

# notes OUTCOME-OF: what history has about the checks whose job always did this
notes() {
    q "SELECT DISTINCT outcome, note, failure_count FROM {future_job_history}
       WHERE outcome = 'crashed' ORDER BY 2" | tr '\n' ' '
}

dying_jobs() {
    WITNESS="batch = $2; max_failures = 2;" a_case "$1" 'workers = 2; hold_back_after = 1000000;'
    local pid before
    engine one
    pid=$(engine_pid one)
    write_checks w --checks "$3" --over 4 --mix deadly
    written w
    ok "$CASE_NAME: the engine lives" kill -0 "$pid"
    LIVE_S=40 verdict F02 "${@:4}"
    is "$CASE_NAME: history says how they died, at the third time" "$(notes)" \
        "crashed|exit status 0|3 crashed|exit status 3|3 crashed|killed by SIGABRT|3 crashed|killed by SIGSEGV|3 "
    is "$CASE_NAME: nothing else ended in trouble" \
        "$(q "SELECT count(*) FROM {future_job_history} WHERE outcome NOT IN ('done', 'crashed')")" 0
}
# Each death is the start of a worker, 50 ms of a slow machine: what is due at once must leave room.
one_by_one() { dying_jobs single 1 120; }
in_batches() { dying_jobs batch 50 100 --batches; }

on_both_stores one_by_one
[ -n "${QUICK:-}" ] || on_both_stores in_batches
