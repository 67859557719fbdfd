#!/usr/bin/env bash
# cli_run_check.sh - `prescient run --check`: one check is run now, here or by another engine; what
# came of it, in words and exit codes; and what is told when there is nothing to run.
# about 40 s
# night: it waits for seconds
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

jobs_settings() {
    settings 'lease = "2s"; trust = "1s"; horizon = "30d";' "${1:-}" 'jobs = {
        yes = { plugin = "noop"; settings = { answer = "done"; }; };
        later = { plugin = "noop"; settings = { answer = "again"; again_after = "1h"; }; };
        no = { plugin = "noop"; timeout = "5s"; max_failures = 3; backoff = "1h";
               settings = { answer = "fail"; }; };
        witness = { plugin = "witness"; batch = 1; timeout = "20s";
                    settings = { file = "'"$TMP/journal"'"; }; };
    };'
}
enqueue() { "$P" --quiet enqueue "$@" >/dev/null 2>.err || fail "enqueue $*" "$(cat .err)"; }
next_of() { q "SELECT <next_check_at> FROM {future_job} WHERE entity_key = '$1'"; }
ran_times() { awk -F'\t' -v key="$1" '$6 == key' journal 2>/dev/null | wc -l; }
has_run() { [ "$(ran_times "$1")" -ge "$2" ]; }

# answers CODE OUTCOME WORDS ENTITY KEY [JOB]: run --check ends so, in text.
answers() {
    local code=$1 outcome=$2 words=$3 found=0; shift 3
    "$P" --quiet --log-level error run --check "$@" >.out 2>.err || found=$?
    is "$STORE_NAME: $outcome: exit $code" "$found $(head -c ${#outcome} .out)" "$code $outcome"
    has "$STORE_NAME: $outcome, in words" "$(cat .out)" "$words"
}

runs_and_tells() {
    a_clean_store; jobs_settings
    enqueue row 1 yes +3d
    enqueue row 2 later +3d
    enqueue row 3 no +3d
    answers 0 "done" "done: row 1 yes, in " row 1
    has "$STORE_NAME: what is over" "$(cat .out)" "; it waits no more"
    is "$STORE_NAME: it is archived" "done" \
        "$(q "SELECT outcome FROM {future_job_history} WHERE entity_key = '1'")"
    answers 0 again "again: row 2 later, in " row 2 later
    has "$STORE_NAME: when it is run next" "$(cat .out)" "; it waits for $(date -u +%Y-)"
    answers 1 failed "failed: row 3 no, in " row 3
    is "$STORE_NAME: --json" "$("$P" --json --quiet --log-level error run --check row 2 |
        json "j['outcome'], j['job_exec'], j['run']['outcome'], j['next_check_at'] > '2020'")" \
        "('again', 'later', 'again', True)"
    is "$STORE_NAME: each look is counted" "$(q "SELECT check_count, run_count FROM {future_job}
        WHERE entity_key = '2'")" "2|2"
}

bad_input() {
    a_clean_store; jobs_settings
    enqueue order 42 yes +3d
    enqueue order 42 later +3d
    enqueue order 77777 unheard +3d
    fails_with 2 "several jobs wait for that row: name one of them as JOB: later, yes" \
        "$P" run --check order 42
    is "$STORE_NAME: nothing was asked for" "$(q "SELECT count(*) FROM {future_job}
        WHERE <next_check_at> < $(date +%s) + 86400")" 0
    "$P" run --check order 41 >.out 2>.err; is "$STORE_NAME: exit code" $? 1
    has "$STORE_NAME: a key nearby" "$(cat .out)" "no check waits for order 41; did you mean the key '42'?"
    "$P" run --check order 42 yess >.out 2>.err; is "$STORE_NAME: exit code" $? 1
    has "$STORE_NAME: a job nearby" "$(cat .out)" \
        "no check waits for order 42 yess; did you mean the job 'yes'?"
    "$P" run --check none 1 >.out 2>.err; is "$STORE_NAME: exit code" $? 1
    has "$STORE_NAME: nothing nearby" "$(cat .out)" "no check waits for none 1; prescient enqueue"
    is "$STORE_NAME: none, in JSON" "$("$P" --json run --check none 1 | json "j['outcome']")" not_found
    fails_with 2 "entity" "$P" run --check '' 1
    fails_with 2 "--check does not run checks of prescient.event: prescient reschedule ENTITY KEY JOB TIME" \
        "$P" run --check prescient.event hook/1
    fails_with 2 "--check does not run checks of prescient.digest" "$P" run --check prescient.digest day
    fails_with 2 "--check takes ENTITY KEY" "$P" run --check order
    fails_with 2 "a check is run by --check ENTITY KEY" "$P" run order 42
    fails_with 2 "--within belongs to --check" "$P" run --within 5s
    fails_with 2 "--slot and --no-sweep" "$P" run --check order 42 --no-sweep
    fails_with 2 "--now cannot be given" "$P" --now 2026-03-01 run --check order 42
    fails_with 2 '--within: "500ms" is not between 1s and 24h' "$P" run --check order 42 --within 500ms
    fails_with 2 '--within: "2d" is not between' "$P" run --check order 42 --within 2d
    fails_with 75 "no such job here: 'unheard'; it waits for an engine that has it" \
        timeout 20 "$P" --log-level error run --check order 77777 --within 2s
    has "$STORE_NAME: nobody has its job" "$(cat .out)" \
        "not run within 2s: order 77777 unheard; it waits for "
    has "$STORE_NAME: and why" "$(cat .err)" "no engine that has its job is running"
}

# due KEY [PAYLOAD]: a check in the slot that runs.
due() {
    local slot=$(($(date +%s) / 900 * 900))
    "$P" --quiet --now $((slot - 1)) enqueue row "$1" "${3:-witness}" $slot ${2:+--payload "$2"} >/dev/null
}

what_is_due_already() {
    local slot
    a_clean_store; jobs_settings; rm -f journal
    due late
    "$P" --log-level error run --check row late >.out 2>.err
    has "$STORE_NAME: a check that is due already" "$(cat .err)" "it is due since"
    is "$STORE_NAME: is run once" "$(ran_times late) $(head -c 5 .out) $(pending)" "1 done: 0"
}

beside_another_engine() {
    a_clean_store; jobs_settings; rm -f journal
    enqueue row other witness +3d
    start daemon "$P" daemon
    ok "$STORE_NAME: beside a daemon" "$P" --quiet run --check row other
    is "$STORE_NAME: it is run once" "$(ran_times other)" 1
    enqueue row slow witness +3d --payload '"sleep 4000, done"'
    "$P" --quiet run --check row slow >slow.out 2>slow.err &
    local first=$!
    ok "$STORE_NAME: it is begun" wait_until 10 has_run slow 1
    "$P" --log-level error run --check row slow >.out 2>.err
    has "$STORE_NAME: under a lease: that is told" "$(cat .err)" "its slot is being run by "
    is "$STORE_NAME: the run that counts begins later" "$(ran_times slow) $(head -c 5 .out)" "2 done:"
    wait "$first"
    is "$STORE_NAME: the first one has seen its own run" "$(head -c 5 slow.out)" done:
    kill -TERM "$(pid_of daemon)"
    join_within 15 daemon
}

what_is_paused() {
    a_clean_store; jobs_settings; rm -f journal
    enqueue row p witness +3d
    "$P" --quiet pause --job witness >/dev/null
    "$P" --log-level error run --check row p >.out 2>.err
    is "$STORE_NAME: what is paused is not run" "$? $(ran_times p)" "75 0"
    has "$STORE_NAME: and waits" "$(cat .out)" \
        "put off without a run: row p witness; it waits until it is resumed"
    has "$STORE_NAME: which is told" "$(cat .err)" "it is paused: prescient pauses has since when"
    "$P" --quiet resume --job witness >/dev/null
    ok "$STORE_NAME: what was resumed is run" "$P" --log-level error run --check row p
}

# What is on the way when it is resolved, and a run that is not on record.
ends_otherwise() {
    a_clean_store; jobs_settings 'keep_runs = "none";'; rm -f journal
    enqueue row 1 unheard +3d
    "$P" --quiet --log-level error run --check row 1 --within 20s >.out 2>.err &
    local waiting=$!
    sleep 2
    "$P" resolve row 1 >/dev/null
    local code=0; wait "$waiting" || code=$?
    is "$STORE_NAME: resolved meanwhile" "$code $(head -c 9 .out)" "1 resolved:"
    enqueue row 2 later +3d
    "$P" --quiet --log-level error run --check row 2 >.out 2>.err; code=$?
    is "$STORE_NAME: keep_runs = none" "$code $(head -c 11 .out)" "0 it has run:"
    code=0; "$P" --log-level error run --check row 2 >.out 2>.err || code=$?
    has "$STORE_NAME: its outcome is not on record" "$code $(cat .err)" "0 "
    has "$STORE_NAME: why" "$(cat .err)" "the setting keep_runs of its engine (none here)"
    enqueue row 3 no +3d
    code=0; "$P" --quiet --log-level error run --check row 3 >.out 2>.err || code=$?
    is "$STORE_NAME: one that failed" "$code $(head -c 23 .out)" "1 it has run, and failed:"
    "$P" --quiet schedule add s row 4 yes --cron '0 0 1 1 *' >/dev/null
    code=0; "$P" --quiet --json --log-level error run --check row 4 >.out 2>.err || code=$?
    is "$STORE_NAME: an occurrence" "$code $(json "j['outcome']" <.out)" "0 answered"
}

# The job cannot ask about any row: no answer has come.
what_is_broken() {
    a_clean_store
    for keep in all none; do
        jobs_settings "keep_runs = \"$keep\";"
        sed -i 's/jobs = {/& astray = { plugin = "sql_check"; settings = { event = "e";
            query = "SELECT k FROM no_such_table AS k WHERE k IN ($1)"; }; };/' prescient.cfg
        enqueue row "b$keep" astray +3d
        "$P" --quiet --log-level error run --check row "b$keep" --within 10s >.out 2>.err
        is "$STORE_NAME: keep_runs $keep: a broken job is no answer" "$?" 75
    done
    jobs_settings
}

each() {
    what_is_broken
    runs_and_tells; bad_input; what_is_due_already; beside_another_engine; what_is_paused; ends_otherwise
}
on_each_store each
