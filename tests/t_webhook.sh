#!/usr/bin/env bash
# t_webhook.sh - many webhooks at once: they wait together, each answer is settled when it is there,
# a receiver that asks for a pause or is down is not asked for each check, and a kill sends again
# only what was under way. FULL=1: 10,000 of them. QUIET=1: nothing else runs here, so what is
# promised in seconds is asked for.
# about 40 s
# night: it kills, waits or judges time for minutes
# alone: with QUIET=1 it judges seconds
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

if grep -qw webhook "$(dirname "$P")/left_out"; then
    echo "ok - not tested: the job webhook is left out of this build"
    exit 0
fi

N=2000
[ -z "${FULL:-}" ] || N=10000
TOGETHER_MS=$((5000 + N)) HANGING_MS=$((10000 + N * 3 / 2))
[ -z "${QUIET:-}" ] || TOGETHER_MS=6000 HANGING_MS=15000
SLOT=1700000100

# receiver: started as a process of its own; sets PORT, and requests go to REQUESTS
receiver() {
    REQUESTS=$TMP/$STORE_NAME.$1
    mkdir "$REQUESTS"
    start "$1" python3 "$TESTS/http_server.py" "$REQUESTS"
    wait_until 60 test -e "$REQUESTS/port" || fail "the receiver starts"
    PORT=$(cat "$REQUESTS/port")
    REQUESTS=$REQUESTS/requests
}
receiver_ends() { kill "$(pid_of "$1")"; join "$1"; }
sent() { wc -l <"$REQUESTS"; }
sent_at_least() { [ "$(sent)" -ge "$1" ]; }
# keys of the requests, one a line
keys() {
    python3 -c '
import json, sys
for line in open(sys.argv[1]):
    print(next(v for n, v in json.loads(line)["headers"] if n == "Idempotency-Key"))' "$REQUESTS"
}
# hook PATH OWN [LINE]: a job `hook`; with 2 workers unless the line has another number
hook() {
    local path=$1 own=$2 line=${3:-workers = 2;}
    settings "jobs = { hook = { plugin = \"webhook\"; timeout = \"20s\"; max_failures = 3; settings = {
            url = \"http://127.0.0.1:$PORT$path\"; $own }; }; };" "$line" 'worker_files = 400;'
}
runs_to_its_end() {
    start engine "$P" --json run --slot $SLOT
    join_within 60 engine
}

together() {
    a_clean_store
    receiver together
    hook /slow/100 "in_flight = 256;" 'workers = 2; workers_max = 2;'
    fill $N $SLOT hook
    local began took; began=$(now_ms)
    runs_to_its_end
    took=$(($(now_ms) - began))
    echo "# $STORE_NAME: $N webhooks of 100 ms took $took ms"
    in_time "$STORE_NAME: webhooks wait together" $took $TOGETHER_MS
    is "$STORE_NAME: each was sent" "$(keys | sort -u | wc -l)" $N
    is "$STORE_NAME: and only once" "$(sent)" $N
    is "$STORE_NAME: and is done" "$(archived) $(pending)" "$N 0"
    at_most "$STORE_NAME: no more than in_flight a worker" "$(python3 -c '
import json, sys
print(max(json.loads(line)["under_way"] for line in open(sys.argv[1])))' "$REQUESTS")" 512
    receiver_ends together
}

# The slowest do not hold back the others: each answer is settled when it is there.
hanging() {
    a_clean_store
    receiver hanging
    hook /mostly/100/5000 "in_flight = 256;"
    fill $N $SLOT hook
    local began; began=$(now_ms)
    start engine "$P" --json run --slot $SLOT
    wait_until 60 archived_at_least $((N * 99 / 100)) || fail "$STORE_NAME: the others are done"
    echo "# $STORE_NAME: 99 % of $N took $(($(now_ms) - began)) ms while 1 % took 5 s each"
    in_time "$STORE_NAME: some hanging ones delay no others" $(($(now_ms) - began)) $HANGING_MS
    join_within 60 engine
    is "$STORE_NAME: all are done in the end" "$(archived) $(pending)" "$N 0"
    is "$STORE_NAME: each was sent once" "$(sent)" $N
    receiver_ends hanging
}

# A slow request takes one place, and the others go one after the other through the place that is
# left, with no pause between them.
beside_a_slow_one() {
    a_clean_store
    receiver beside_a_slow_one
    hook '/slow/\(.data.ms // 0)' \
        'in_flight = 2; hosts = [ "127.0.0.1" ]; networks = [ "127.0.0.1" ];' 'workers = 1; workers_max = 1;'
    fill 30 $SLOT hook
    q "UPDATE {future_job} SET payload = '{\"ms\": 8000}' WHERE entity_key =
        (SELECT entity_key FROM {future_job} ORDER BY bucket, id LIMIT 1)"
    runs_to_its_end
    is "$STORE_NAME: beside a slow one each was sent once" "$(keys | sort -u | wc -l) $(sent)" "30 30"
    in_time "$STORE_NAME: and the last before the slow one was answered" "$(python3 -c '
import json, sys
at = {j["path"]: j["at"] for j in map(json.loads, open(sys.argv[1]))}
print(int((at["/slow/0"] - at["/slow/8000"]) * 1000))' "$REQUESTS")" 8000
    receiver_ends beside_a_slow_one
}

# A worker is killed while most of a batch is answered, and the engine takes those answers.
killed() {
    a_clean_store
    receiver killed
    hook /slow/50 "in_flight = 10;" 'workers = 1; workers_max = 1;'
    fill 200 $SLOT hook
    start engine "$P" --json run --slot $SLOT
    wait_until 60 sent_at_least 100 || fail "$STORE_NAME: webhooks are sent"
    local worker; worker=$(workers_but_keepers_of "$(pid_of engine)" | head -1)
    kill -KILL "$worker"
    join_within 60 engine
    is "$STORE_NAME: each was sent in spite of a killed worker" "$(keys | sort -u | wc -l)" 200
    at_most "$STORE_NAME: what was under way was sent again" "$(sent)" 210
    is "$STORE_NAME: and nothing is left" "$(pending)" 0
    receiver_ends killed
}

asked_once() {
    a_clean_store
    receiver asked_once
    hook '/status/429?Retry-After=600' "in_flight = 20;"
    fill 500 $SLOT hook
    runs_to_its_end
    at_most "$STORE_NAME: after a 429 a worker sends no more than what was under way" "$(sent)" 40
    is "$STORE_NAME: all of them wait" "$(pending)" 500
    is "$STORE_NAME: and none has failed" "$(q "SELECT max(failure_count) FROM {future_job}")" 0
    receiver_ends asked_once
}

down() {
    a_clean_store
    PORT=1
    hook /down "in_flight = 20;"
    fill 500 $SLOT hook
    runs_to_its_end
    at_most "$STORE_NAME: a receiver that is down is tried so often by two workers" \
        "$(q "SELECT count(*) FROM {future_job} WHERE failure_count > 0")" 46
    is "$STORE_NAME: all of them wait, too" "$(pending)" 500
}

everything() {
    together
    hanging
    beside_a_slow_one
    killed
    asked_once
    down
}
on_each_store everything
