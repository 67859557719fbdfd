#!/usr/bin/env bash
# cli_row_events.sh - of the events that no index leads to (on PostgreSQL those of the day that is
# not over, on SQLite all) only the newest 20,000 are looked at for those of one row; who asks is
# told.
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"

# emit FROM TO: events of orders FROM to TO. They are of tomorrow, so that the day does not end
# before they are asked for.
emit() {
    if [ "$STORE_NAME" = sqlite ]; then
        q "WITH RECURSIVE c (n) AS (SELECT $1 UNION ALL SELECT n + 1 FROM c WHERE n < $2)
           INSERT INTO {event} (event, entity_name, entity_key, job_exec, emitted_at_us, slot_at, check_count,
                                recorded_at_us)
           SELECT 'late', 'orders', n, 'done', 1772373600000000 + n * 1000, 1772370900, 0,
                  (unixepoch() + 86400) * 1000000 FROM c"
    else
        q "INSERT INTO {event} (event, entity_name, entity_key, job_exec, emitted_at, slot_at, check_count,
                                recorded_at)
           SELECT 'late', 'orders', n, 'done', to_timestamp(1772373600) + n * interval '1 ms',
                  to_timestamp(1772370900), 0, now() + interval '1 day' FROM generate_series($1, $2) n"
    fi
}
asks() { get "http://localhost/v1/$1?entity=orders&key=$2"; }
# life KEY: the names of its events, and how far was looked
life() { asks check "$1"; json '[e["event"] for e in j["events"]], j.get("scanned_to")' <body; }
# misfit KEY: what about its life is not as the document says
misfit() {
    get http://localhost/v1/openapi.json >/dev/null
    cp body openapi.json
    asks check "$1" >/dev/null
    PYTHONPATH=$ROOT/tests python3 -c 'import json; from openapi_document import load
print(load("openapi.json").misfit_of_get("/v1/check", json.load(open("body"))))'
}
why() { asks why "$1"; json 'len(j["events"]), j["checks"][0]["sentence"].split("; ")[1:]' <body; }
shown() { "$P" show orders "$@" 2>said | grep -c ' late '; }

events_of_a_row() {
    local s=$STORE_NAME
    a_clean_store
    settings 'jobs = { done = { plugin = "noop"; settings = { answer = "done"; }; }; };'
    "$P" --quiet --now 2026-03-01T13:00Z enqueue orders 1 done 2026-03-01T13:15Z >/dev/null
    "$P" --quiet --now 2026-03-01T13:45Z sweep 2>sweep.err
    emit 1 20000 >/dev/null
    serve front
    is "$s: of twenty thousand all are looked at" "$(life 1)" "200(['late'], None)"
    is "$s: what was raised is known" "$(why 1)" "200(1, ['it raised an event'])"
    emit 20001 20001 >/dev/null
    is "$s: of more it is said how far was looked" "$(life 1)" \
        "200([], '2026-03-01T14:00:00.001Z')"
    is "$s: in the form that the document says" "$(misfit 1)" None
    is "$s: also of what is there" "$(life 20001)" \
        "200(['late'], '2026-03-01T14:00:00.001Z')"
    is "$s: why does not say that nothing was raised" "$(why 1)" \
        "200(0, [])"
    is "$s: show has what it finds" "$(shown 1) $(shown 2) $(shown 20001)" "0 1 1"
    is "$s: and says that there may be more" "$(shown 1)$(grep -c 'were looked at' said)" "01"
    is "$s: but of what is a page already" "$(shown 2 --limit 1)$(<said)" 1
    ends front
}
on_each_store events_of_a_row
