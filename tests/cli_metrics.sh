#!/usr/bin/env bash
# cli_metrics.sh - GET /metrics on both stores: what is counted and how things are, through two
# servers, restarts and prunes; both formats, by programs that read them; a store that is away.
# about 20 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"

# Packages of Debian are those of its own Python.
PYTHON=/usr/bin/python3

noop() { echo "$1 = { plugin = \"noop\"; settings = { answer = \"$2\"; ${3:-} }; ${4:-} };"; }
SETTINGS="workers = 2; log_level = \"error\"; engine_name = \"shop-1\";
    listeners = ( { name = \"hook\"; events = [ \"parcel\" ]; job = \"delivers\"; } );
    jobs = { $(noop done done) $(noop again again) $(noop final fail_final) $(noop delivers done)
        $(noop heard done 'event = "parcel";') };"

# past KEY JOB: a check whose slot is long over
past() { "$P" --quiet --now -4h enqueue orders "$1" "$2" +15m >/dev/null 2>&1; }
runs() { "$P" --quiet sweep >/dev/null 2>run.err; }

# scrape [OPTION of curl...]: the text is in body
scrape() { get "$@" http://localhost/metrics; }
# n SERIES: its value; nothing: there is no such line
n() { sed -n "s|^prescient_$(sed 's/[][\.*^$]/\\&/g' <<<"$1") ||p" body; }
# shows VALUE SERIES: now
shows() { [ "$(scrape)" = 200 ] && [ "$(n "$2")" = "$1" ]; }
# comes VALUE SERIES: an answer may be a second old
comes() { ok "$STORE_NAME: $2 is $1" wait_until 20 shows "$1" "$2"; }
counters() { grep -E '^prescient_(checks_ended|runs|deliveries|slots_missed|run_(duration|lateness))' body; }

what_is_counted() {
    local s=$STORE_NAME
    is "$s: before anything has run nothing was missed" "$(scrape) $(n slots_missed_total)" "200 0"
    past 1 done; past 2 done; past 3 final; past 4 again; past 5 heard
    "$P" --quiet enqueue orders 6 done +3h >/dev/null
    "$P" --quiet pause --entity carts >/dev/null
    comes 6 checks_waiting
    is "$s: those that are late, by job" \
        "$(n 'checks_overdue{job="done"}') $(n 'checks_overdue{job="again"}')" "2 1"
    at_least "$s: for how long" "$(n backlog_age_seconds | cut -d. -f1)" 12000
    runs
    comes 2 'checks_ended_total{job="done",outcome="done"}'
    is "$s: of one that failed for good" "$(n 'checks_ended_total{job="final",outcome="failed"}')" 1
    is "$s: one that goes on has run" "$(n 'runs_total{job="again",outcome="again"}')" 1
    is "$s: and not ended" "$(n 'checks_ended_total{job="again",outcome="again"}')" ""
    is "$s: how long they took" "$(n 'run_duration_seconds_count{job="done"}')" 2
    is "$s: and how late they began" "$(n 'run_lateness_seconds_bucket{job="done",le="4294.967296"}') $(
        n 'run_lateness_seconds_bucket{job="done",le="+Inf"}')" "0 2"
    is "$s: their slot was missed" "$(n slots_missed_total)" 1
    is "$s: who has run them" "$(grep -c 'engine_last_seen_timestamp_seconds{engine="shop-1"}' body)" 1
    at_least "$s: and when" "$(n last_pass_timestamp_seconds | cut -d. -f1)" "$(($(date +%s) - 600))"
    is "$s: nothing is held any more" "$(n 'leases{state="held"}') $(n 'leases{state="expired"}')" "0 0"
    wait_until 30 delivered || fail "$s: an event is delivered" "$(cat body)"
    comes 1 'deliveries_total{listener="hook",outcome="done"}'
    is "$s: no entity, key or event is a label" "$(grep -c 'orders\|parcel\|prescient\.event' body)" 0
}
delivered() {
    "$P" --quiet run >/dev/null 2>run.err
    scrape >/dev/null
    [ -n "$(n 'deliveries_total{listener="hook",outcome="done"}')" ]
}

what_stays() {
    local s=$STORE_NAME before
    scrape >/dev/null; before=$(counters)
    q "UPDATE {run_hour} SET hour_at = $([ "$s" = sqlite ] && echo 0 || echo "'2020-01-01'")" 2>/dev/null
    "$P" --quiet prune --keep 1d >/dev/null 2>&1
    is "$s: the hours were pruned" "$(q "SELECT count(*) FROM {run_hour} WHERE hour_at < $(
        [ "$s" = sqlite ] && echo 1000 || echo "'2021-01-01'")")" 0
    ends metrics.$s
    serve metrics.$s
    scrape >/dev/null
    is "$s: a prune and a restart change no counter" "$(counters)" "$before"
    serve other.$s
    scrape >/dev/null
    is "$s: another server shows the same" "$(counters)" "$before"
    is "$s: but for its own requests" "$(n 'http_requests_total{route="GET /liveness",code="200"}')" 1
    get http://localhost/nowhere/42 >/dev/null
    comes 1 'http_requests_total{route="none",code="404"}'
    ends other.$s
    SOCK=$PWD/metrics.$s.sock
}

both_formats() {
    local s=$STORE_NAME open='Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5'
    is "$s: text for who does not ask" "$(curl -sI --unix-socket "$SOCK" http://localhost/metrics |
        tr -d '\r' | sed -n 's/^Content-Type: //p')" "text/plain; version=0.0.4; charset=utf-8"
    is "$s: OpenMetrics for who does" "$(curl -sI --unix-socket "$SOCK" -H "$open" http://localhost/metrics |
        tr -d '\r' | sed -n 's/^Content-Type: //p')" \
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    scrape >/dev/null
    if command -v promtool >/dev/null; then
        is "$s: promtool finds nothing" "$(promtool check metrics <body 2>&1)" ""
    else
        echo "# promtool is not installed (packages.txt): the text is not checked by it"
    fi
    scrape -H "$open" >/dev/null
    is "$s: which has an end" "$(tail -1 body)" "# EOF"
    if $PYTHON -c 'import prometheus_client' 2>/dev/null; then
        is "$s: prometheus_client reads it" "$(read_openmetrics <body 2>&1)" "info 2"
    else
        echo "# python3-prometheus-client is not installed (packages.txt): OpenMetrics is not read by it"
    fi
}
# what it says of the program, and of the job `done`
read_openmetrics() {
    $PYTHON -c 'import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
found = {f.name: f for f in text_string_to_metric_families(sys.stdin.read())}
ended = [s.value for s in found["prescient_checks_ended"].samples if s.labels["job"] == "done"]
print(found["prescient_build"].type, int(sum(ended)))'
}

# who may read the views only is told the same
of_a_reader() {
    [ "$STORE_NAME" = postgresql ] || return 0
    local before as_reader
    scrape >/dev/null; before=$(sed -n 's/^# TYPE //p' body)
    as_reader="$PRESCIENT_STORE$([[ $PRESCIENT_STORE == *\?* ]] && echo '&' || echo '?')user=metrics_$$"
    psql -qX "$PRESCIENT_STORE" -c "CREATE ROLE metrics_$$ LOGIN IN ROLE prescient_reader" >/dev/null
    serve reader --store "$as_reader"
    ok "postgresql: a reader is told, too" wait_until 20 shows 1 store_up
    is "postgresql: all of it" "$(sed -n 's/^# TYPE //p' body)" "$before"
    ends reader
    SOCK=$PWD/metrics.postgresql.sock
    psql -qX "$PRESCIENT_STORE" -c "DROP ROLE metrics_$$" >/dev/null
}

# What engines write to a file is what a server says, but for its requests and what moves on.
in_a_file() {
    local s=$STORE_NAME file=$PWD/$STORE_NAME.prom
    rm -f "$file"
    "$P" --quiet run --set "metrics_file=$file" 2>run.err
    ok "$s: a run leaves a file" test -s "$file"
    is "$s: that others may read, whatever its umask" "$(stat -c %a "$file")" 644
    is "$s: and nothing beside it" "$(ls | grep -c "^$s.prom.")" 0
    counters_of_file() { cp "$file" body; counters; }
    is "$s: it has the same counters" "$(counters_of_file)" "$(scrape >/dev/null; counters)"
    ! command -v promtool >/dev/null || is "$s: promtool finds nothing in it" \
        "$(promtool check metrics <"$file" 2>&1)" ""
    rm "$file"
    start daemon.$s "$P" daemon --set "metrics_file=$file"
    ok "$s: a daemon writes it at its start" wait_until 20 grep -q '^prescient_store_up 1' "$file"
    ends daemon.$s
    past 7 done
    "$P" --quiet sweep --set log_level=warn --set metrics_file=/nowhere/at/all.prom 2>run.err
    is "$s: one that cannot be written hurts no pass" $? 0
    has "$s: and is told" "$(cat run.err)" "metrics_file: /nowhere/at/all.prom cannot be written"
    ok "$s: its check has ended" wait_until 20 shows 3 'checks_ended_total{job="done",outcome="done"}'
}

of_many_who_ask() {
    local s=$STORE_NAME pids=()
    while [ ${#pids[@]} -lt 30 ]; do
        curl -s --max-time $((20 * PATIENCE)) --unix-socket "$SOCK" http://localhost/metrics \
            >"many.${#pids[@]}" &
        pids+=($!)
    done
    wait "${pids[@]}"
    is "$s: thirty at once are all told" "$(grep -l "^prescient_store_up 1" many.* | wc -l)" 30
}

# Once each, when its answer begins: a feed goes on, and a body of no lines has no other answer.
of_what_goes_on() {
    local s=$STORE_NAME pid
    is "$s: no lines are answered" \
        "$(get -H 'Content-Type: application/x-ndjson' --data-binary '' http://localhost/v1/checks)" 200
    comes 1 'http_requests_total{route="POST /v1/checks",code="200"}'
    comes 1 'http_request_duration_seconds_count{route="POST /v1/checks"}'
    curl -sN --unix-socket "$SOCK" -H 'Accept: text/event-stream' http://localhost/v1/events >feed.$s &
    pid=$!
    comes 1 'http_requests_total{route="GET /v1/events",code="200"}'
    ok "$s: a feed that is counted has begun" wait_until 20 test -s feed.$s
    kill $pid
    wait $pid 2>/dev/null
    is "$s: it is counted once" "$(scrape)$(n 'http_requests_total{route="GET /v1/events",code="200"}')$(
        n 'http_request_duration_seconds_count{route="GET /v1/events"}')" 20011
}

measures() {
    local s=$STORE_NAME
    if [ "$s" = postgresql ]; then q "DROP SCHEMA IF EXISTS $SCHEMA CASCADE" 2>/dev/null; fi
    settings "$SETTINGS"
    serve metrics.$s
    is "$s: without a store there is an answer" "$(scrape) $(n store_up)" "200 0"
    is "$s: that has no gauge of it" "$(grep -c '^prescient_checks\|^prescient_leases' body)" 0
    a_clean_store
    comes 1 store_up
    what_is_counted
    what_stays
    both_formats
    of_a_reader
    in_a_file
    of_what_goes_on
    of_many_who_ask
    ends metrics.$s
}

# One that accepts connections and says nothing.
of_a_silent_store() {
    local port
    start deaf /usr/bin/python3 -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(64); print(s.getsockname()[1], flush=True)
time.sleep(3600)'
    wait_until 20 test -s deaf.out
    port=$(cat deaf.out)
    serve silent --store "postgresql://127.0.0.1:$port/x" --set connect_timeout=10m
    is "a store that says nothing is away" "$(scrape) $(n store_up)" "200 0"
    is "which is told in OpenMetrics, too" \
        "$(scrape -H 'Accept: application/openmetrics-text') $(n store_up) $(tail -1 body)" "200 0 # EOF"
    timeout $((30 * PATIENCE)) "$P" --quiet run --store "postgresql://127.0.0.1:$port/x" \
        --set connect_timeout=1s --set "metrics_file=$PWD/away.prom" 2>run.err
    is "a run that cannot reach its store leaves that in its file" "$(cp away.prom body; n store_up)" 0
    is "and nothing else of the store" "$(grep -c '^# TYPE' away.prom)" 2
    STORE_NAME=none ends silent
    kill -KILL "$(pid_of deaf)"
    join deaf
}

on_each_store measures
of_a_silent_store
