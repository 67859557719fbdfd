#!/usr/bin/env bash
# t_sent_twice.sh - engines and workers are killed at random moments while checks emit events that a
# webhook and a digest hear: each event is sent and is in one digest, nothing is sent without an
# event, and what comes twice was under way at a kill, or was answered just before it: within a
# second with QUIET=1, where nothing else runs that an engine would have to wait for. 5,000 events
# with FULL=1. SEED=N: the same moments.
# not for coverage
# about 40 s
# night: it kills, waits or judges time for minutes
# alone: with QUIET=1 it judges seconds
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

if grep -qw webhook "$(dirname "$P")/left_out"; then
    echo "ok - not tested: the job webhook is left out of this build"
    exit 0
fi

EVENTS=600 KILLS=8 PAUSE_US=20000
[ -z "${FULL:-}" ] || EVENTS=5000 KILLS=30 PAUSE_US=10000
# The receiver notes a request some time after it was sent: its sender may be dead by then.
ANSWER_MS=150 BEFORE_S=3 AFTER_S=0.5
[ -z "${QUIET:-}" ] || BEFORE_S=1
SEED=${SEED:-$((($(now_ms) ^ $$) & 32767))}
echo "# SEED=$SEED"

# looked EXPRESSION: of what the receiver has got: `hooks`, the times at which each key came;
# `events`, the ids that keys had in their documents; `digests`, by key what the document has;
# `kills`, their times; `near`, how many keys were under way at one, or
# answered just before it
looked() {
    python3 -c '
import collections, json, sys
hooks, events, digests = collections.defaultdict(list), {}, {}
for line in open("receiver/requests"):
    request = json.loads(line)
    key = next(v for n, v in request["headers"] if n == "Idempotency-Key")
    document = json.loads(request["body"])
    if request["path"].startswith("/slow"):
        hooks[key].append(request["at"])
        events[key] = (document["id"], document["entity_key"])
    else:
        digests[key] = document["data"]
kills = [float(line) for line in open("kills")]
before_s = float(sys.argv[2]) + float(sys.argv[3]) / 1000
def is_near(t): return any(k - before_s <= t <= k + float(sys.argv[4]) for k in kills)
near = sum(any(map(is_near, times)) for times in hooks.values())
print(eval(sys.argv[1]))' "$1" $BEFORE_S $ANSWER_MS $AFTER_S
}
in_digests() { looked 'sum(d["count"] for d in digests.values())'; }
all_are_told() { [ "$(pending)" = 1 ] && [ "$(in_digests)" -ge $EVENTS ]; }
sent() { wc -l <receiver/requests; }
sent_more_or_over() { [ "$(sent)" -gt "$1" ] || [ "$(pending)" = 1 ]; }
count_of_events() { q "SELECT count(*) FROM {event} WHERE event = 'ran'"; }

has_workers() { [ -n "$(workers_but_keepers_of "$1")" ]; }
# a_kill N: each third one is of a worker, and its engine goes on.
a_kill() {
    local workers pid
    pid=$(pid_of engine)
    if [ $(($1 % 3)) = 2 ]; then
        wait_until 20 has_workers "$pid" || return
        mapfile -t workers < <(workers_but_keepers_of "$pid")
        echo "$EPOCHREALTIME" >>kills
        kill -KILL "${workers[RANDOM % ${#workers[@]}]}" 2>/dev/null && WORKERS=$((WORKERS + 1))
    else
        echo "$EPOCHREALTIME" >>kills
        kill -KILL "$pid" 2>/dev/null && ENGINES=$((ENGINES + 1))
        join engine
        start engine "$P" --quiet daemon
    fi
}

killed() {
    RANDOM=$SEED
    local n port most after_ms origin="replace(CAST(e.origin AS text), '-', '')"
    ENGINES=0 WORKERS=0
    rm -rf receiver kills emitted
    mkdir receiver
    start receiver python3 "$TESTS/http_server.py" receiver
    wait_until 60 test -e receiver/port || { fail "$STORE_NAME: the receiver starts"; return; }
    port=$(cat receiver/port)
    a_clean_store --slot-length 2s
    settings 'lease = "1s"; trust = "500ms"; workers = 2; workers_max = 2; max_failures = 30;' "jobs = {
        look = { plugin = \"journal\";
            settings = { file = \"$PWD/emitted\"; event = \"ran\"; pause_us = $PAUSE_US; }; };
        hook = { plugin = \"webhook\"; max_failures = 30; settings = { in_flight = 32;
            url = \"http://127.0.0.1:$port/slow/$ANSWER_MS\"; }; };
        mail = { plugin = \"webhook\"; max_failures = 30; settings = {
            url = \"http://127.0.0.1:$port/status/200\"; }; }; };" \
        'listeners = ( { events = "ran"; job = "hook"; },
            { name = "all"; events = "r*"; job = "mail"; digest = "2s"; } );'
    start engine "$P" --quiet daemon
    enqueue_in 1 $EVENTS look
    # each second one is killed soon after something was sent, however slowly it came to that
    for ((n = 0; n < KILLS; n++)); do
        most=2000
        [ $((n % 2)) = 0 ] || { wait_until 10 sent_more_or_over "$(sent)"; most=300; }
        after_ms=$((RANDOM % most))
        sleep "$(printf '%d.%03d' $((after_ms / 1000)) $((after_ms % 1000)))"
        a_kill $n
    done
    at_least "$STORE_NAME: engines that were killed" $ENGINES 2
    at_least "$STORE_NAME: and workers" $WORKERS 1
    ok "$STORE_NAME: a daemon brings it to an end" wait_until 300 all_are_told
    kill "$(pid_of engine)"; join engine
    kill "$(pid_of receiver)"; join receiver
    is "$STORE_NAME: each check has emitted one event" \
        "$(q "SELECT count(*), count(DISTINCT entity_key) FROM {event}")" "$EVENTS|$EVENTS"
    is "$STORE_NAME: each event has its delivery, and none is without an event" \
        "$(q "SELECT count(*), count(DISTINCT e.origin) FROM {event} e JOIN {future_job_history} h
              ON h.entity_key = 'hook/' || $origin WHERE h.outcome = 'done'") $(q "SELECT count(*)
              FROM {future_job_history} WHERE entity_name = 'prescient.event' AND job_exec = 'hook'")" \
        "$EVENTS|$EVENTS $EVENTS"
    is "$STORE_NAME: each was sent, under one key" \
        "$(looked 'len(hooks), len(set(events.values())), all(k == i for k, (i, row) in events.items())')" \
        "($EVENTS, $EVENTS, True)"
    is "$STORE_NAME: each is in one digest" "$(in_digests)" $EVENTS
    is "$STORE_NAME: and none of those that are shown is in two" "$(looked '(lambda rows:
        len(rows) == len(set(rows)))([e["entity_key"] for d in digests.values() for e in d["events"]])')" True
    TWICE=$(looked 'sum(len(v) > 1 for v in hooks.values())')
    echo "# $STORE_NAME: $ENGINES engines and $WORKERS workers killed; $(looked 'len(digests)') digests," \
        "$TWICE keys came twice, of $(looked near) that were under way at a kill or $BEFORE_S s before it"
    at_most "$STORE_NAME: what came twice was under way at a kill, or answered just before it" \
        $TWICE "$(looked near)"
    # each of them only then: an engine that gets no processor may lose its lease without a kill
    { judges_time && [ -n "${QUIET:-}" ]; } || return 0
    is "$STORE_NAME: and this holds of each of them" \
        "$(looked '[(t, min((k - t for k in kills if k > t), default=None))
                    for v in hooks.values() for t in v[:-1] if not is_near(t)]')" "[]"
}

on_each_store killed
