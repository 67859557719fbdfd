#!/usr/bin/env bash
# t_quota.sh - webhooks whose receiver asks for pauses, under a daemon: 3 s are 3 s, and not the
# next slot; a quota is asked once in a window, not once for each check. FULL=1: 10,000 of them, and
# a receiver that is down for a while. QUIET=1: nothing else runs here, so what is promised in
# seconds is asked for, too.
# about 60 s
# night: it kills, waits or judges time for minutes
# alone: with QUIET=1 it judges seconds
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

if grep -qw webhook "$(dirname "$P")/left_out"; then
    echo "ok - not tested: the job webhook is left out of this build"
    exit 0
fi

N=500 IN_FLIGHT=64 QUOTA=200 WANT=800 MOST_S=90
[ -z "${FULL:-}" ] || N=10000 IN_FLIGHT=256 QUOTA=1000 WANT=10000 MOST_S=240
SLOT=1699999200

receiver() {
    REQUESTS=$TMP/$STORE_NAME.$1
    mkdir "$REQUESTS"
    start "$1" python3 "$TESTS/http_server.py" "$REQUESTS"
    wait_until 60 test -e "$REQUESTS/port" || fail "the receiver starts"
    PORT=$(cat "$REQUESTS/port")
    REQUESTS=$REQUESTS/requests
}
receiver_ends() { kill "$(pid_of "$1")"; join "$1"; }
hook() {
    settings "jobs = { hook = { plugin = \"webhook\"; timeout = \"20s\"; max_failures = 5; settings = {
            url = \"http://127.0.0.1:$PORT$1\"; in_flight = $IN_FLIGHT; }; }; };" \
        'workers = 2; workers_max = 2; worker_files = 400;'
}
# Not where a full slot ends meanwhile: what is put off waits for its first minute then.
early_in_a_slot() { while [ $(($(date +%s) % 3600)) -gt $((3580 - MOST_S)) ]; do sleep 1; done; }
under_a_daemon() {      # SECONDS
    early_in_a_slot
    start daemon "$P" daemon
    ok "$STORE_NAME: all are done in $1 s" wait_until "$1" nothing_pending
    kill -TERM "$(pid_of daemon)"
    join_within 15 daemon
}
# looked EXPRESSION: of `keys`, the times of the requests of each key
looked() {
    python3 -c '
import json, sys
keys = {}
for line in open(sys.argv[1]):
    j = json.loads(line)
    keys.setdefault(next(v for n, v in j["headers"] if n == "Idempotency-Key"), []).append(j["at"])
print(eval(sys.argv[2]))' "$REQUESTS" "$1"
}

# how long after the 429 those keys came again
AGAIN='sorted(v[1] - v[0] for v in keys.values() if v[1:])'

some_wait() {
    a_clean_store --slot-length 1h
    receiver some_wait
    hook /some/10/3
    fill $N $SLOT hook
    under_a_daemon $MOST_S
    is "$STORE_NAME: each key came" "$(looked 'len(keys)')" $N
    is "$STORE_NAME: one that was sent away came once more, the others once" \
        "$(looked 'all(len(v) == 1 + (int(k[:8], 16) % 10 == 0) for k, v in keys.items())')" True
    echo "# $STORE_NAME: s from a 429 to the next request: $(looked "' '.join('%.1f' % s for s in
        ($AGAIN[0], $AGAIN[len($AGAIN) // 2], $AGAIN[len($AGAIN) * 99 // 100], $AGAIN[-1]))") (least," \
        "median, 99 %, most), and all within $(looked 'round(max(max(v) for v in keys.values()) -
        min(min(v) for v in keys.values()))')"
    is "$STORE_NAME: not before its 3 s" "$(looked "$AGAIN[0] >= 3")" True
    at_most "$STORE_NAME: half of them come within so many ms" \
        "$(looked "int($AGAIN[len($AGAIN) // 2] * 1000)")" 8000
    [ -z "${QUIET:-}" ] || at_most "$STORE_NAME: and all of them" "$(looked "int($AGAIN[-1] * 1000)")" 6000
    is "$STORE_NAME: and none failed" "$(tries)" 0
    receiver_ends some_wait
}

quota() {
    local in_a_window
    a_clean_store --slot-length 1h
    receiver quota
    hook /quota/$QUOTA/4
    fill $WANT $SLOT hook
    under_a_daemon $MOST_S
    is "$STORE_NAME: each key came, with a quota" "$(looked 'len(keys)')" $WANT
    in_a_window=$(looked '(lambda times: max(sum(int(t // 4) == w for t in times)
        for w in {int(t // 4) for t in times}))([t for v in keys.values() for t in v])')
    at_most "$STORE_NAME: requests beyond the quota, in any window" $((in_a_window - QUOTA)) \
        $((2 * IN_FLIGHT))
    receiver_ends quota
}

# Its first hold lasts a minute.
down() {
    a_clean_store --slot-length 1h
    receiver down
    local port=$PORT
    receiver_ends down
    hook /status/200
    fill $N $SLOT hook
    early_in_a_slot
    start daemon "$P" daemon
    ok "$STORE_NAME: what was not tried waits" wait_until 60 is_put_off 100
    HTTP_PORT=$port start up python3 "$TESTS/http_server.py" "$(dirname "$REQUESTS")"
    ok "$STORE_NAME: what waited comes when it is back" wait_until $MOST_S the_rest_was_sent
    at_most "$STORE_NAME: tries of a receiver that is down" "$(tries)" $((2 * (3 + IN_FLIGHT)))
    kill -TERM "$(pid_of daemon)"
    join_within 15 daemon
    receiver_ends up
}
tries() { q "SELECT count(*) FROM {future_job_run} WHERE outcome = 'failed'"; }
is_put_off() { [ "$(q "SELECT count(*) FROM {future_job_run} WHERE outcome = 'deferred'")" -ge "$1" ]; }
# what has failed comes in a later slot
the_rest_was_sent() { [ "$(archived)" -ge $((N - $(tries))) ]; }

everything() {
    at_once some_wait quota ${FULL:+down}
}
on_each_store everything
