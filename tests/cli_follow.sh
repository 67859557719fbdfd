#!/usr/bin/env bash
# cli_follow.sh - GET /v1/events that waits, and server-sent events: each comes once, in order, also
# to who was away meanwhile.
# about 15 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"

SETTINGS='log_level = "error"; jobs = { tell = { plugin = "noop";
    settings = { answer = "done"; event = "told"; }; }; };'

# emit KEY: an event; that none was written is no fault of those who wait for it
emit() {
    "$P" --quiet --now -2h enqueue orders "$1" tell +15m >/dev/null
    "$P" --quiet sweep 2>sweep.err || fail "$STORE_NAME: a sweep emits $1" "exit code $?" "$(cat sweep.err)"
    [ "$(q "SELECT count(*) FROM {future_job_history} WHERE entity_key = '$1'")" = 1 ] ||
        fail "$STORE_NAME: a sweep runs $1" "$(cat sweep.err)"
}
feeds() { "$ROOT/tests/http_feed.py" "$SOCK" /v1/events "$@" >"$FEED" 2>"$FEED.err"; }
has_lines() { [ "$(wc -l <"$FEED")" = "$1" ]; }
keys() { awk 'NR > 1 { print $3 }' "$FEED" | xargs; }

who_waits() {
    local s=$STORE_NAME next
    emit 1
    get http://localhost/v1/events >/dev/null
    next=$(json 'j["next"]' <body)
    is "$s: nothing new is told when the time is over" \
        "$(get "http://localhost/v1/events?after=$next&wait=1s"; json 'j["items"], j["next"]' <body)" \
        "200([], '$next')"
    curl -s --max-time $((20 * PATIENCE)) --unix-socket "$SOCK" -o waited \
        "http://localhost/v1/events?after=$next&wait=60s" &
    local waiter=$!
    emit 2
    wait "$waiter"
    is "$s: and what comes as it comes" "$(json '[i["key"] for i in j["items"]]' <waited)" "['2']"
    is "$s: there is a longest time" "$(get 'http://localhost/v1/events?wait=61s')" 400
    is "$s: and it is a time" "$(get 'http://localhost/v1/events?wait=x')" 400
}

who_is_fed() {
    local s=$STORE_NAME last
    FEED=$PWD/feed.$s.1
    feeds & local feed=$!
    ok "$s: a feed begins" wait_until 20 has_lines 1
    emit 3
    emit 4
    ok "$s: and has what comes from then on" wait_until 20 has_lines 3
    is "$s: in order" "$(keys)" "3 4"
    kill "$feed"; wait "$feed" 2>/dev/null
    last=$(awk 'NR == 2 { print $1 }' "$FEED")
    emit 5
    FEED=$PWD/feed.$s.2
    feeds "$last" & feed=$!
    ok "$s: who was away goes on behind what it had" wait_until 20 has_lines 3
    is "$s: with all that it has not had" "$(keys)" "4 5"
    kill "$feed"; wait "$feed" 2>/dev/null
    last=$(awk 'NR == 3 { print $1 }' "$FEED")
    FEED=$PWD/feed.$s.3
    feeds "$last" & feed=$!
    ok "$s: who was away while nothing came" wait_until 20 has_lines 1
    is "$s: is told where it was" "$(cat "$FEED")" "begun $last"
    "$ROOT/tests/http_feed.py" "$SOCK" /v1/events 99999999999-1-1 >foreign 2>&1
    is "$s: a cursor of another history has no feed" "$(cat foreign)" "status 410"
    is "$s: HTTP/1.0 has none" \
        "$(get --http1.0 -H 'Accept: text/event-stream' http://localhost/v1/events)" 400
    ends follow.$s
    wait "$feed"
    is "$s: a feed ends with the server" "$?" 0
}

# So many wait at once; who does not wait is answered.
who_is_too_many() {
    local s=$STORE_NAME pids=() i next
    get http://localhost/v1/events >/dev/null
    next=$(json 'j["next"]' <body)
    rm -f many.*                        # of the other store
    for i in $(seq 1 56); do
        curl -sN --unix-socket "$SOCK" -H 'Accept: text/event-stream' -o "many.$i" \
            http://localhost/v1/events &
        pids+=($!)
    done
    ok "$s: of one peer fifty-six are fed" wait_until 20 all_are_fed
    is "$s: one more is not" "$(get "http://localhost/v1/events?after=$next&wait=1s")" 429
    is "$s: however it says so" "$(get "http://localhost/v1/events?after=$next&%77ait=1s")" 429
    is "$s: who does not wait is answered" "$(get http://localhost/v1/events)" 200
    kill "${pids[0]}"; wait "${pids[0]}" 2>/dev/null
    ok "$s: one that has gone makes room" wait_until 20 answers 200 "/v1/events?after=$next&wait=1ms"
    kill "${pids[@]:1}"; wait "${pids[@]:1}" 2>/dev/null
}
all_are_fed() { [ "$(cat many.* 2>/dev/null | grep -c retry)" = 56 ]; }

follows() {
    a_clean_store
    settings "$SETTINGS"
    serve follow.$STORE_NAME
    who_waits
    who_is_too_many
    who_is_fed
}

on_each_store follows
