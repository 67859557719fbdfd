#!/usr/bin/env bash
# t_misbehave.sh - jobs that hang, crash, exit, fork, eat memory, scribble: only their own checks
# suffer, and the pass ends soon.
# not for coverage
# night: it waits for timeouts
# about 20 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

SLOT=1700000100
TIMEOUT_S=2
settings "jobs = { misbehave = { plugin = \"misbehave\"; timeout = \"${TIMEOUT_S}s\";
            max_failures = 0; settings = { log = \"$TMP/log\"; }; }; };" \
    'worker_memory = "64MiB";' 'kill_grace = "250ms";'

outcomes() {
    q "SELECT outcome, count(*) FROM {future_job_history} GROUP BY outcome ORDER BY outcome" | tr '\n' ' '
}
outcome_of() { q "SELECT outcome, note FROM {future_job_history} WHERE entity_key = '$1'"; }

# Ten of each kind, spread evenly among 970 that behave.
a_thousand() {
    a_clean_store
    : >log
    fill 1000 $SLOT misbehave \
        "CASE WHEN n % 33 <> 7 OR n > 990 THEN 'good' WHEN n % 99 < 33 THEN 'hang'
              WHEN n % 99 < 66 THEN 'crash' ELSE 'garbage' END || n"
    is "$STORE_NAME: 1,000 checks, 30 of them bad" \
        "$(q "SELECT sum(CASE WHEN entity_key LIKE 'good%' THEN 1 ELSE 0 END),
              sum(CASE WHEN entity_key LIKE 'hang%' THEN 1 ELSE 0 END),
              sum(CASE WHEN entity_key LIKE 'crash%' THEN 1 ELSE 0 END),
                  sum(CASE WHEN entity_key LIKE 'garbage%' THEN 1 ELSE 0 END)
                      FROM {future_job}")" "970|10|10|10"
    local began took; began=$(now_ms)
    start engine "$P" --json run --slot $SLOT
    local pid; pid=$(pid_of engine)
    join_within 60 engine
    took=$(($(now_ms) - began))
    is "$STORE_NAME: the exit code says that some ended in trouble" "$CODE" 1
    in_time "$STORE_NAME: the pass ends within the timeout and a few seconds" \
        "$took" $((TIMEOUT_S * 1000 + 4000))
    is "$STORE_NAME: outcomes" "$(outcomes)" "bad_answer|10 crashed|10 done|970 timeout|10 "
    is "$STORE_NAME: each outcome is that of its kind" \
        "$(q "SELECT count(*) FROM {future_job_history}
              WHERE (outcome, CASE WHEN entity_key LIKE 'good%' THEN 'g' WHEN entity_key LIKE 'hang%' THEN 'h'
                WHEN entity_key LIKE 'crash%' THEN 'c' ELSE 'b' END) NOT IN (VALUES ('done', 'g'),
                    ('timeout', 'h'), ('crashed', 'c'), ('bad_answer', 'b'))")" 0
    is "$STORE_NAME: each was run once" "$(cut -d' ' -f1 log | sort -u | wc -l) $(wc -l <log)" "1000 1000"
    # (A sanitizer ends the process in its own way.)
    [ -n "${SANITIZE:-}" ] || is "$STORE_NAME: history says what happened" \
        "$(outcome_of crash40)" "crashed|killed by SIGSEGV"
    is "$STORE_NAME: nothing is pending, no lease is left" \
        "$(pending) $(q 'SELECT count(*) FROM {slot_lease}')" "0 0"
    ok "$STORE_NAME: no worker is left" no_workers_of "$pid"
}

# Their tries: with max_failures = 2 a bad check runs three times, each later, and then it is over.
# The virtual clock makes them soon.
tries() {
    a_clean_store
    : >log
    fill 60 $SLOT misbehave \
        "CASE n WHEN 20 THEN 'crash' WHEN 40 THEN 'garbage' WHEN 50 THEN 'hang' ELSE 'good' END || n"
    CODE=0; "$P" --quiet --config tries.cfg replay --from $SLOT --to $((SLOT + 86400)) >.out 2>.err || CODE=$?
    is "$STORE_NAME: a replay over a day, with some in trouble" "$CODE" 1
    is "$STORE_NAME: the bad ones are over after three tries" \
        "$(q "SELECT entity_key, outcome, failure_count, run_count FROM {future_job_history}
              WHERE outcome <> 'done' ORDER BY 1" | tr '\n' ' ')" \
        "crash20|crashed|3|3 garbage40|bad_answer|3|3 hang50|timeout|3|3 "
    is "$STORE_NAME: the first two of each stand in the run log" \
        "$(q "SELECT entity_key, outcome, failure_count FROM {future_job_run}
              ORDER BY entity_key, failure_count" | tr '\n' ' ')" \
        "crash20|crashed|1 crash20|crashed|2 garbage40|bad_answer|1 garbage40|bad_answer|2 hang50|timeout|1 hang50|timeout|2 "
    is "$STORE_NAME: every try carried the same idempotency key" \
        "$(grep -v ^good log | cut -d' ' -f1,2 | sort -u | wc -l) $(grep -vc ^good log)" "3 9"
    is "$STORE_NAME: the others ran once" "$(grep -c ^good log) $(pending)" "57 0"
}

# descendants PID: all processes below it, whatever group they went to.
descendants() {
    local child
    for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do echo "$child"; descendants "$child"; done
}

# deed NAME OUTCOME [WORDS]: a page with one check of that action in the middle.
deed() {
    local name=$1 outcome=$2 words=${3:-} pid before
    q "DELETE FROM {future_job_history}"
    fill 40 $DEED_SLOT misbehave "CASE n WHEN 20 THEN '$name' ELSE 'good' END || n"
    start engine "$P" --json --config deeds.cfg run --slot $DEED_SLOT
    pid=$(pid_of engine)
    : >below
    while alive engine; do descendants "$pid" >>below; sleep 0.05; done
    join engine
    DEED_SLOT=$((DEED_SLOT + 900))
    is "$STORE_NAME: $name: it alone suffers" "$(outcomes)" \
        "$([ "$outcome" = done ] && echo "done|40 " || printf '%s\n' "$outcome|1" "done|39" |
            sort | tr '\n' ' ')"
    [ -z "$words" ] || has "$STORE_NAME: $name: history says why" "$(outcome_of "${name}20")" "$words"
    is "$STORE_NAME: $name: the engine lives" "$CODE" "$([ "$outcome" = done ] && echo 0 || echo 1)"
    ok "$STORE_NAME: $name: no process is left behind" wait_until 1 all_over $(sort -u below)
}
all_over() { local p; for p; do is_over "$p" || return 1; done; }

one_by_one() {
    DEED_SLOT=$SLOT
    a_clean_store
    deed exit0 crashed "exit status 0"
    deed _exit crashed "exit status 3"
    deed abort crashed "SIGABRT"
    [ -n "${SANITIZE:-}" ] || deed eat crashed          # an instrumented worker has no memory limit
    deed fork timeout
    deed block timeout
    deed chatty done
    has "$STORE_NAME: chatty: its words reach the log, the rest is dropped" \
        "$(cat engine.err)" "prints too much"
    deed closefds done
    deed garbage_text failed
    deed scribble done                  # its own answer is written after it
    is "$STORE_NAME: nothing is pending, no lease is left" \
        "$(pending) $(q 'SELECT count(*) FROM {slot_lease}')" "0 0"
}

# A process that ignores SIGCHLD passes that on to what it starts, and does not learn how its
# children end.
who_started_us_ignored_ends() {
    a_clean_store
    fill 3 $SLOT misbehave "CASE n WHEN 2 THEN '_exit' ELSE 'good' END || n"
    start engine env --ignore-signal=CHLD "$P" --json --config deeds.cfg run --slot $SLOT
    join_within 30 engine
    is "$STORE_NAME: an engine whose starter ignored SIGCHLD sees how a worker ends" \
        "$(outcomes)" "crashed|1 done|2 "
}

sed 's/max_failures = 0/max_failures = 2/; s/timeout = "2s"/timeout = "500ms"/' prescient.cfg >tries.cfg
# a log of its own would be closed, too
sed 's/ settings = { log = "[^"]*"; };//' prescient.cfg >deeds.cfg
on_each_store a_thousand
on_each_store tries
# what a job does to its worker has nothing to do with the store
STORE_NAME=sqlite PRESCIENT_STORE=sqlite:$TMP/deeds.db; export PRESCIENT_STORE
one_by_one
who_started_us_ignored_ends
