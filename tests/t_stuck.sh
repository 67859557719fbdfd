#!/usr/bin/env bash
# t_stuck.sh - nothing blocks the work for ever: not a job that hangs while its lease is
# renewed again and again, many that hang at once, an engine whose workers do not get ready, a slot
# of the future that the clock has come back from, an effect that waits for an application.
# not for coverage
# night: it waits for timeouts, and judges time
# about 35 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

SLOT=1700000100
LEASE='lease = "2s"; trust = "1s";'     # renewed three times a second

hangs_under_renewals() {
    a_clean_store
    settings 'jobs = { misbehave = { plugin = "misbehave"; timeout = "2s";
            max_failures = 0; settings = { log = "'"$TMP/log"'"; }; }; };' "$LEASE"
    fill 20 $SLOT misbehave "CASE WHEN n = 7 THEN 'hang' ELSE 'good' END || n"
    local began; began=$(now_ms)
    start engine "$P" --json run --slot $SLOT
    join_within 20 engine
    in_time "$STORE_NAME: a renewal does not wind back the timeout" $(($(now_ms) - began)) 6000
    is "$STORE_NAME: the hanging check timed out" \
        "$(q "SELECT outcome, count(*) FROM {future_job_history} GROUP BY outcome ORDER BY outcome" |
            tr '\n' ' ')" "done|19 timeout|1 "
}

# More hanging checks, in more pages, than a lane would hold at once if pages with one hanging check
# counted in full.
others_go_on() {
    a_clean_store
    settings 'jobs = { misbehave = { plugin = "misbehave"; timeout = "8s";
            max_failures = 0; settings = { log = "'"$TMP/log"'"; }; }; };' \
        'page = 50; slab = 25; connections = 1;'
    fill 1000 $SLOT misbehave "CASE WHEN n % 100 = 7 THEN 'hang' ELSE 'good' END || n"
    start engine "$P" --json run --slot $SLOT
    if wait_until 6 archived_at_least 990; then pass "$STORE_NAME: ten hanging checks delay only themselves"
    else
        fail "$STORE_NAME: ten hanging checks delay only themselves" \
            "found:    $(archived) done while they hang" "expected: 990"
    fi
    join_within 30 engine
    is "$STORE_NAME: they timed out" \
        "$(q "SELECT count(*) FROM {future_job_history} WHERE outcome = 'timeout'")" 10
}

# Short pages of several priorities: the next one is read while the first still hangs.
other_priorities_go_on() {
    a_clean_store
    settings 'jobs = { misbehave = { plugin = "misbehave"; timeout = "8s";
            max_failures = 0; settings = { log = "'"$TMP/log"'"; }; }; };' 'page = 2;'
    fill 60 $SLOT misbehave "CASE WHEN n <= 2 THEN 'hang' ELSE 'good' END || n"
    q "UPDATE {future_job} SET priority = id % 7"
    start engine "$P" --json run --slot $SLOT
    if wait_until 6 archived_at_least 58; then
        pass "$STORE_NAME: a check that hangs does not keep those of other priorities waiting"
    else
        fail "$STORE_NAME: a check that hangs does not keep those of other priorities waiting" \
            "found:    $(archived) done while it hangs" "expected: 58"
    fi
    join_within 30 engine
}

# A worker that hangs on the last check of its slab has nothing that could be taken from it, and is
# stuck all the same.
others_get_workers() {
    a_clean_store
    settings 'jobs = { misbehave = { plugin = "misbehave"; timeout = "8s";
            max_failures = 0; settings = { log = "'"$TMP/log"'"; }; }; };' \
        'slab = 1; workers = 2;'
    fill 30 $SLOT misbehave "CASE WHEN n <= 3 THEN 'hang' ELSE 'good' END || n"
    start engine "$P" --json run --slot $SLOT
    if wait_until 6 archived_at_least 27; then
        pass "$STORE_NAME: workers that hang on the last check of their slabs are replaced, too"
    else
        fail "$STORE_NAME: workers that hang on the last check of their slabs are replaced, too" \
            "found:    $(archived) done while they hang" "expected: 27"
    fi
    join_within 30 engine
}

no_lease() { [ "$(leases)" = 0 ]; }
broken_twice() { [ "$(grep -c 'did not get ready' broken.err)" -ge 3 ]; }

without_workers() {
    a_clean_store
    settings 'jobs = { misbehave = { plugin = "not_there"; }; };' "$LEASE"
    fill 5 $SLOT misbehave
    start broken "$P" daemon
    ok "$STORE_NAME: the workers of a daemon do not get ready" wait_until 20 broken_twice
    ok "$STORE_NAME: it gives its leases back" wait_until 10 no_lease
    settings 'jobs = { misbehave = { plugin = "misbehave"; settings = { log = "'"$TMP/log"'"; }; }; };' \
        "$LEASE"
    start healthy "$P" --json sweep
    join_within 20 healthy
    wait_until 20 nothing_pending || { start again "$P" --json sweep; join_within 20 again; }
    is "$STORE_NAME: an engine that has workers runs what was left" "$(archived)" 5
    kill -TERM "$(pid_of broken)"
    join_within 20 broken
}

# An unclosed slot an hour ahead, as after a clock that was set back, beside an overdue check.
a_slot_of_the_future() {
    a_clean_store
    settings 'jobs = { misbehave = { plugin = "misbehave"; settings = { log = "'"$TMP/log"'"; }; }; };'
    local ahead=$(($(date +%s) / 900 * 900 + 3600))
    "$P" --quiet run --now $ahead >/dev/null 2>&1
    q "UPDATE {slot_pass} SET $([ "$STORE_NAME" = sqlite ] && echo closed_at_us || echo closed_at) = NULL"
    fill 1 $ahead misbehave "'ahead'"
    fill 1 $SLOT misbehave "'late'"
    start engine "$P" --json run
    join_within 20 engine
    is "$STORE_NAME: a slot of the future does not keep the late one waiting" \
        "$(q "SELECT entity_key FROM {future_job_history}")" late
    is "$STORE_NAME: and is left for its time" "$(q "SELECT entity_key FROM {future_job}")" ahead
}

# One check declares an effect on a row that an application's transaction holds: that one waits, the
# others of its page do not.
an_effect_that_waits() {
    [ "$STORE_NAME" != sqlite ] || return 0             # its writers are serial
    a_clean_store
    settings 'jobs = { effects = { plugin = "effects"; }; };' 'log_level = "warn";'
    q "SELECT prescient.enqueue('orders', '44', 'other', interval '5 days')" >/dev/null
    fill 40 $SLOT effects "CASE WHEN n = 7 THEN 'resolve' ELSE 'good' END || n"
    start application psql -qX "$PRESCIENT_STORE" -c "BEGIN" \
        -c "SELECT FROM prescient.future_job WHERE entity_key = '44' FOR UPDATE" -c "SELECT pg_sleep(600)"
    held_by_the_application() {
        [ -n "$(q "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)'
                   AND state = 'active' AND pid <> pg_backend_pid()")" ]
    }
    wait_until 10 held_by_the_application
    start engine "$P" --json run --slot $SLOT
    ok "$STORE_NAME: an effect that waits for an application keeps no other answer waiting" \
        wait_until 20 archived_at_least 39
    is "$STORE_NAME: its own check waits" \
        "$(q "SELECT entity_key FROM {future_job} WHERE entity_name = 'row'")" resolve7
    q "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)'
       AND pid <> pg_backend_pid()" >/dev/null
    ok "$STORE_NAME: and is written when the application is done" wait_until 10 archived_at_least 41
    join_within 20 engine
    is "$STORE_NAME: with its effect, once" \
        "$(q "SELECT entity_name, outcome, count(*) FROM {future_job_history} GROUP BY 1, 2 ORDER BY 1, 2" |
            tr '\n' ' ')" "orders|resolved|1 row|done|40 "
}

# An application's transaction keeps the rows that were settled since it began, and a look walks
# over them: longer than statement_timeout allows.
rows_that_are_gone() {
    [ "$STORE_NAME" != sqlite ] || return 0             # what is gone there, is gone
    a_clean_store
    settings 'jobs = { noop = { plugin = "noop"; }; };' 'log_level = "warn";'
    q "CREATE TABLE may_commit ()"
    start application psql -qX "$PRESCIENT_STORE" -c "BEGIN" \
        -c "INSERT INTO prescient.future_job (bucket, entity_name, entity_key,
            job_exec, first_check_at, next_check_at)
            VALUES (prescient.bucket_of('row', 'held'), 'row', 'held', 'noop', to_timestamp($SLOT),
                to_timestamp($SLOT))" \
        -c "DO 'BEGIN WHILE NOT EXISTS (SELECT FROM may_commit) LOOP PERFORM pg_sleep(0.05); END LOOP; END'" \
        -c COMMIT
    has_filed() {
        [ -n "$(q "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'DO %may_commit%'
                   AND pid <> pg_backend_pid()")" ]
    }
    wait_until 10 has_filed
    fill 300000 $SLOT noop
    ok "$STORE_NAME: 300,000 checks are settled beside an open transaction" "$P" --quiet run --slot $SLOT
    is "$STORE_NAME: each of them" "$(pending)" 0
    fill 1 $((SLOT - 900)) noop "'late'"

    settings 'jobs = { noop = { plugin = "noop"; }; };' 'log_level = "warn";' 'statement_timeout = "100ms";'
    start engine "$P" --quiet run
    join_within 300 engine           # with statements of 100 ms it takes long beside other work
    is "$STORE_NAME: looks that take too long, for rows that are gone, do not end a run" \
        "$CODE $(pending)" "0 0"
    has "$STORE_NAME: it says what it has not looked at" "$(cat engine.err)" \
        "an old transaction keeps the rows that were settled since it began"

    settings 'jobs = { noop = { plugin = "noop"; }; };' 'log_level = "warn";'
    q "INSERT INTO may_commit DEFAULT VALUES"
    join_within 20 application
    "$P" --quiet run >/dev/null 2>&1
    is "$STORE_NAME: what the transaction has filed there is run when it is over" \
        "$(q "SELECT outcome FROM {future_job_history} WHERE entity_key = 'held'") $(pending)" "done 0"
}

everything() {
    at_once hangs_under_renewals others_go_on others_get_workers other_priorities_go_on \
        without_workers a_slot_of_the_future
    an_effect_that_waits
    rows_that_are_gone
}
on_each_store everything
