# deliveries.sh - what scenarios about deliveries share: one check emits, a webhook listener hears
# it, and the verdict compares the events of the store with what a receiver has got. Sourced, after
# lib.sh.

needs '! grep -qw webhook "$(dirname "$P")/left_out"' "it needs the job webhook"

# a_listener URL [LINE...]: a case whose job `witness` emits `ran`, heard by the webhook `hook`
a_listener() {
    local name=$1 url=$2; shift 2
    SLOT_LENGTH=${SLOT_LENGTH:-1h} a_case "$name" "$@"
    JOB_LINES="$(witness witness) hook = { plugin = \"webhook\"; timeout = \"${HOOK_TIMEOUT:-3s}\";
        settings = { url = \"$url\"; connect_timeout = \"1s\"; }; };"
    case_settings 'listeners = ( { events = "ran"; job = "hook"; } );' "$@"
}
receiver() {
    mkdir "$CASE/receiver"
    start receiver python3 "$TESTS/http_server.py" "$CASE/receiver"
    wait_until 20 test -e "$CASE/receiver/port" || fail "$CASE_NAME: the receiver starts"
    PORT=$(cat "$CASE/receiver/port")
}
received() { cat "$CASE/receiver/requests" 2>/dev/null | wc -l; }
received_at_least() { [ "$(received)" -ge "$1" ]; }
keys_received() {
    python3 -c 'import json, sys
named = [{n.lower(): v for n, v in json.loads(line)["headers"]} for line in sys.stdin]
print(len({headers["idempotency-key"] for headers in named}))' \
        <"$CASE/receiver/requests"
}
events() { q "SELECT count(*) FROM {event} WHERE event = 'ran'"; }
deliveries() { q "SELECT count(*) FROM {future_job} WHERE entity_name = 'prescient.event'"; }
delivered() {
    q "SELECT count(*) FROM {future_job_history} WHERE entity_name = 'prescient.event' AND outcome = 'done'"
}
delivered_at_least() { [ "$(delivered)" -ge "$1" ]; }

# checks N: filed in the slot that is now, as cron would find them
checks() { fill "$1" "$(($(date +%s) / 3600 * 3600))" witness; }

# judged F: ends the engines; RUNS of jobs, and no lease or temporary file is left
judged() {
    local result=passed
    stop_engines
    is "$CASE_NAME: no lease is left" "$(leases)" 0
    [ "$FAILED" = 0 ] || result=failed
    RUNS=$(($(runs) + $(received))) RERUNS=$(($(received) - $(delivered)))
    record "$1" "$result"
    cd "$TMP" || exit 2
}
