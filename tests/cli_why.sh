#!/usr/bin/env bash
# cli_why.sh - prescient why, and GET /v1/why: a situation for each code, on both stores; the
# command and the server say the same.
# about 60 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"

# how long ago something was differs between two questions
without_distance() { sed -E 's/ \((in [^)]*|[^)]* ago|now)\)//g'; }
# asked KEY [JOB]: the answer of the command is in why.json; that of the server is the same
asked() {
    local query=http://localhost/v1/why?entity=orders\&key=$1 status
    "$P" why orders "$@" --json | without_distance >why.json
    status=$(get "$query")
    without_distance <body >served.json
    [ "$status" = 200 ] && cmp -s why.json served.json ||
        fail "$STORE_NAME: the server says the same of $1" "$status $(cat served.json)" "200 $(cat why.json)"
}
codes() { asked "$1"; json '" ".join(c["code"] for c in j["checks"])' <why.json; }
event_codes() { asked "$1"; json '" ".join(sorted(e["code"] for e in j["events"]))' <why.json; }
sentence() { json 'j["checks"][0]["sentence"]' <why.json; }
is_said() { [ "$(codes "$1")" = "$2" ]; }
runs_until_said() {
    "$P" --quiet run >/dev/null 2>run.err
    [ "$(event_codes "$1")" = "$2" ]
}
# says KEY CODE WORDS...: the first check has this code, and its sentence these words
says() {
    local key=$1 code=$2 found word; shift 2
    found=$(codes "$key")
    is "$STORE_NAME: $key: the code" "$found" "$code"
    found=$(sentence)
    for word; do
        [[ $found == *"$word"* ]] || fail "$STORE_NAME: $key: it says: $word" "$found"
    done
}
# hours_ago N: a moment that stays the same, so that a quarter of an hour may begin meanwhile
hours_ago() { date -u -d "$1 hours ago" +%Y-%m-%dT%H:%M:%SZ; }
# past KEY JOB [OPTION...]: a check whose slot has begun, that of $BEGAN
past() { "$P" --quiet --now "$BEGAN" enqueue orders "$1" "$2" +15m "${@:3}" >/dev/null 2>&1; }
runs() { "$P" --quiet sweep >/dev/null 2>run.err; }

noop() { echo "$1 = { plugin = \"noop\"; settings = { answer = \"$2\"; ${3:-} }; ${4:-} };"; }
SETTINGS="workers = 2; log_level = \"error\";
    listeners = ( { name = \"good\"; events = [ \"heard\", \"twice\" ]; job = \"delivers\"; },
                  { name = \"bad\"; events = [ \"twice\" ]; job = \"never\"; },
                  { name = \"slow\"; events = [ \"late\" ]; job = \"retries\"; } );
    jobs = { $(noop done done) $(noop again again) $(noop defers defer)
        $(noop fails fail "" "max_failures = 7;") $(noop final fail_final) $(noop broken broken)
        $(noop once again "" "max_checks = 1;")
        $(noop unheard done 'event = "unheard";') $(noop heard done 'event = "heard";')
        $(noop twice done 'event = "twice";') $(noop late done 'event = "late";')
        $(noop delivers done) $(noop never fail_final) $(noop retries fail)
        rests = { plugin = \"rests\"; timeout = \"10m\"; };
        single = { plugin = \"rests\"; timeout = \"10m\"; max_running = 1; }; };"

of_those_that_wait() {
    local s=$STORE_NAME BEGAN; BEGAN=$(hours_ago 4)
    says 1 never_enqueued "orders/1" "never enqueued"
    "$P" --quiet enqueue orders 2 done +3h >/dev/null
    says 2 waits "waits for its slot" "no engine has noted itself"
    past 3 done
    says 3 slot_late "no engine has begun it" "no engine has noted itself"
    "$P" --quiet pause --job again --reason "their API is down" >/dev/null
    past 4 again
    "$P" --quiet enqueue orders 5 again +3h >/dev/null
    says 5 waits "the job again is paused" "put aside then"
    past 6 unknwon
    past 7 defers
    past 8 fails
    past 9 broken
    runs
    says 2 waits "waits for its slot"
    says 4 paused "the job again is paused" "their API is down" "prescient resume --job again"
    says 6 unknown_job "no engine has noted the job unknwon" "put off"
    says 7 deferred "could not tell yet"
    says 8 backing_off "failure 1 in a row, of 8 that end it" "tried again"
    says 9 job_broken "can ask about no row"
    "$P" --quiet resume --job again >/dev/null
    past 10 again
    past 11 doen
    says 11 unknown_job "did you mean done?"
    runs
    says 10 asked_again "wants to look again"
    past 3 done
    says 3 left_behind "was run without it"
    "$P" --quiet enqueue orders 12 done +3h >/dev/null
    q "UPDATE {future_job} SET put_off_at = next_check_at WHERE entity_key = '12'" >/dev/null
    says 12 held_back "put off without a run"
    if [ "$s" = postgresql ]; then
        "$P" --quiet enqueue orders 13 done +3h >/dev/null
        q "UPDATE {future_job} SET next_check_at = 'infinity' WHERE entity_key = '13'" >/dev/null
        says 13 waits "for a time that never comes" "prescient reschedule"
        "$P" --quiet resolve orders 13 >/dev/null
    fi
    is "$s: a row with two jobs has a sentence for each" \
        "$("$P" --quiet enqueue orders 12 fails +4h >/dev/null; codes 12)" "held_back waits"
    is "$s: or for the one that is named" \
        "$("$P" why orders 12 --job fails --json | json '[c["code"] for c in j["checks"]]')" "['waits']"
}

one_is_said() { is_said 22 "$1" || is_said 23 "$1" || is_said 24 "$1"; }
of_those_that_run() {
    local s=$STORE_NAME key BEGAN; BEGAN=$(hours_ago 3)
    past 20 rests --concurrency-key k
    past 21 rests --concurrency-key k
    for key in 22 23 24; do past $key single; done
    start resting "$P" --quiet sweep
    wait_until 20 test -e resting.began || fail "$s: a job rests" "$(cat resting.err)"
    ok "$s: who waits for a key is told who has it" wait_until 20 is_said 21 key_busy
    ok "$s: what runs is seen to run" wait_until 30 one_is_said runs
    is "$s: others wait for their turn" "$(for key in 22 23 24; do codes $key; done | sort | xargs)" \
        "runs slot_runs slot_runs"
    touch resting.ends
    join resting
    says 22 done "answered: done"
}

of_those_that_are_over() {
    local BEGAN; BEGAN=$(hours_ago 3)
    past 30 done
    past 31 final
    past 32 once
    past 33 done
    "$P" --quiet resolve orders 33 >/dev/null
    runs
    says 32 asked_again
    "$P" --quiet sweep --now +2h 2>run.err
    says 32 guarded "the guard max_checks" "enqueue it again"
    says 30 done "answered: done" "nothing was raised"
    "$P" --quiet enqueue orders 32 once +3h >/dev/null
    says 32 waits
    "$P" --quiet resolve orders 32 >/dev/null
    says 31 failed "given up after 1 failure" "prescient retry"
    says 33 resolved "was resolved"
}

of_events() {
    local s=$STORE_NAME key BEGAN; BEGAN=$(hours_ago 3)
    past 40 unheard; past 41 heard; past 42 twice; past 43 late; past 44 late; past 45 late
    runs
    says 40 done "it raised an event"
    is "$s: an event without a listener" "$(event_codes 40)" no_listener
    ok "$s: an event is delivered" wait_until 30 runs_until_said 41 delivered
    ok "$s: one that two hear, and one does not get" \
        wait_until 30 runs_until_said 42 "delivered delivery_failed"
    ok "$s: one that is tried again" wait_until 30 runs_until_said 43 delivery_retries
    key=$(q "SELECT entity_key FROM {future_job} WHERE entity_name = 'prescient.event' LIMIT 1")
    "$P" --quiet resolve prescient.event "$key" >/dev/null
    ok "$s: and one that was resolved" wait_until 30 one_is_resolved
}
# On a busy machine the time for looking may be over before a delivery is found: so it asks again.
one_is_resolved() {
    [ "$(for key in 43 44 45; do event_codes $key; done | sort | xargs)" = \
        "delivery_resolved delivery_retries delivery_retries" ]
}

# Who may read the views only is told the same.
of_a_reader() {
    [ "$STORE_NAME" = postgresql ] || return 0
    local key owner reader as_reader
    as_reader="$PRESCIENT_STORE$([[ $PRESCIENT_STORE == *\?* ]] && echo '&' || echo '?')user=why_$$"
    psql -qX "$PRESCIENT_STORE" -c "CREATE ROLE why_$$ LOGIN IN ROLE prescient_reader" >/dev/null
    for key in 2 4 6 8 12 30 32 40 41 42 43; do
        owner=$("$P" why orders $key --json | without_distance)
        reader=$("$P" --store "$as_reader" why orders $key --json | without_distance)
        is "postgresql: a reader is told the same of $key" "$reader" "$owner"
    done
    psql -qX "$PRESCIENT_STORE" -c "DROP ROLE why_$$" >/dev/null
}

# An open transaction with an id, in which nothing happens.
of_what_is_withheld() {
    [ "$STORE_NAME" = postgresql ] || return 0
    local BEGAN; BEGAN=$(hours_ago 3)
    psql -qXAt "$PRESCIENT_STORE" <holds >held.out 2>&1 &
    local reader=$!
    exec {holder}>holds
    echo "BEGIN; SELECT pg_current_xact_id(), 'held';" >&"$holder"
    wait_until 20 grep -q held held.out || fail "postgresql: a transaction is open" "$(cat held.out)"
    sleep 1.1                           # moments are told in whole seconds
    past 50 unheard
    runs
    is "postgresql: an event that is withheld is told so" "$(event_codes 50)" event_withheld
    exec {holder}>&-
    wait "$reader"
    is "postgresql: and not when that transaction is over" "$(event_codes 50)" no_listener
}

whys() {
    a_clean_store
    rm -f holds; mkfifo holds
    settings "$SETTINGS"
    rm -f resting.*
    plugin rests 'FILE *f = fopen("'"$PWD"'/resting.began", "w");
        if (f) fclose(f);
        while (access("'"$PWD"'/resting.ends", F_OK) != 0)
            usleep(20000);
        prescient_done(answer);' '#include <stdio.h>'
    sed -i "s|^plugin_dirs = (|&\"$PWD/jobs\", |" prescient.cfg
    chmod 600 prescient.cfg
    serve why.$STORE_NAME
    of_those_that_wait
    of_those_that_run
    of_those_that_are_over
    of_events
    of_what_is_withheld
    of_a_reader
    is "$STORE_NAME: as of a time of one's own" "$("$P" --now 2026-03-01 why orders none --json |
        json '[c["code"] for c in j["checks"]]')" "['never_enqueued']"
    is "$STORE_NAME: an empty key is refused" "$(get 'http://localhost/v1/why?entity=orders&key=')" 400
    "$P" why orders "" >/dev/null 2>&1
    is "$STORE_NAME: by the command, too" $? 2
    is "$STORE_NAME: a query without a key is refused" "$(get 'http://localhost/v1/why?entity=orders')" 400
    is "$STORE_NAME: and one with a name that is not known" \
        "$(get 'http://localhost/v1/why?entiyt=orders&key=1'; json 'j["detail"]' <body)" \
        "400there is no entiyt in this query; did you mean entity?"
    ends why.$STORE_NAME
}

on_each_store whys
