#!/usr/bin/env bash
# cli_final.sh - a failure that is final: no attempts, no later slots; history has it as after any
# last failure, and `retry` enqueues it again.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
json_begins

cat >prescient.cfg <<CFG
plugin_dirs = ["$(dirname "$P")/jobs"];
max_failures = 9; attempts = 3;
jobs = { gone = { plugin = "noop"; settings = { answer = "fail_final"; }; };
         worn = { plugin = "noop"; max_failures = 1; attempts = 1; settings = { answer = "fail"; }; };
         tries = { plugin = "noop"; max_failures = 1; attempts = 1; settings = { answer = "fail"; }; };
         broken = { plugin = "noop"; settings = { answer = "fail"; }; }; };
CFG
chmod 600 prescient.cfg

# What is tried again has not ended: a monitor that reacts to the exit code would have nothing to
# find in the history.
what_is_tried_again_is_no_trouble() {
    "$P" --quiet init >/dev/null
    "$P" --quiet --now 2029-01-01 enqueue orders 2 tries +10m >/dev/null
    "$P" --quiet --log-level warn --now 2029-01-01T00:15:00Z run >.out 2>&1
    is "$STORE_NAME: one that failed, and waits: exit code, words" "$?$(cat .out)" 0
    is "$STORE_NAME: it has failed" "$("$P" list --json | json 'j[0]["failure_count"]')" 1
    "$P" --log-level warn --now 2029-01-01T00:30:00Z run >.out 2>.err
    is "$STORE_NAME: with the last failure it has ended: exit code" $? 1
    has "$STORE_NAME: and is named" "$(cat .err)" "check orders/2 (tries) ended as failed"
}
on_each_store what_is_tried_again_is_no_trouble

is_over_at_once() {
    "$P" --quiet init >/dev/null
    "$P" --quiet --now 2030-01-01 enqueue orders 1 gone +10m >/dev/null
    "$P" --quiet --now 2030-01-01 enqueue orders 2 broken +10m >/dev/null
    "$P" --quiet --log-level error --now 2030-01-01T00:15:00Z run >.out 2>&1
    is "$STORE_NAME: the slot is run, with failures" $? 1
    is "$STORE_NAME: history" "$("$P" history --json |
        json 'sorted((h["entity_key"], h["outcome"], h["failure_count"]) for h in j)')" \
        "[('1', 'failed', 1)]"
    is "$STORE_NAME: what waits" "$("$P" list --json |
        json 'sorted((c["entity_key"], c["failure_count"]) for c in j)')" "[('2', 1)]"
    has "$STORE_NAME: doctor names the job" "$("$P" --now 2030-01-01T00:30:00Z doctor)" \
        "warn   refused for good: job gone: 1 checks and 0 deliveries in the last day, the newest: "
    is "$STORE_NAME: and no other" "$("$P" --now 2030-01-01T00:30:00Z doctor --json |
        json 'len([f for f in j if f["what"] == "refused for good"])')" 1
    has "$STORE_NAME: nor an older one" "$("$P" --now 2030-01-03 doctor)" \
        "ok     refused for good: nothing in the last day"
    { echo entity_name,entity_key,job_exec,check_at
      seq 10 1209 | sed 's/.*/orders,&,worn,2030-01-01T00:30:00Z/'; } >worn.csv
    "$P" --quiet --now 2030-01-01T00:20:00Z enqueue --from worn.csv >/dev/null
    "$P" --quiet --log-level error --now 2030-01-01T00:30:00Z run >.out 2>&1
    "$P" --quiet --log-level error --now 2030-01-01T00:45:00Z run >.out 2>&1
    is "$STORE_NAME: usual failures" "$("$P" history --outcome failed --limit 9999 --json |
        json 'len(j), j[0]["job_exec"]')" "(1201, 'worn')"
    is "$STORE_NAME: doctor finds it behind those of others" \
        "$("$P" --now 2030-01-01T00:45:00Z doctor --json |
            json '[f["found"][:41] for f in j if f["what"] == "refused for good"]')" \
        "['job gone: 1 checks and 0 deliveries in th']"
    ok "$STORE_NAME: it is asked for again" "$P" --quiet retry --job gone
    is "$STORE_NAME: and waits" "$("$P" list --json |
        json 'sorted(c["entity_key"] for c in j)')" "['1', '2']"
}
on_each_store is_over_at_once
