#!/usr/bin/env bash
# The results of runs: events with their cursors, also as they happen, passes, history, and failures
# that are enqueued again.
# about 15 s
. "$(dirname "$0")/lib.sh"
json_begins

plugin announce \
    'host->emit(host, answer, "order.late", "{\"n\": [1, \"\\u001b[2J\"]}"); prescient_done(answer);'
plugin broken 'prescient_fail(answer, "no \033[31msuch\ntable");'

has_lines() { [ "$(wc -l <"$1")" = "$2" ]; }
# a_month_older: what was written by the real clock
a_month_older() {
    if [ "$STORE_NAME" = sqlite ]; then
        sqlite3 "${PRESCIENT_STORE#sqlite:}" \
            "UPDATE prescient_event SET recorded_at_us = recorded_at_us - 30 * 86400000000"
    else
        psql -qXAt -v ON_ERROR_STOP=1 "$PRESCIENT_STORE" \
            -c "SELECT prescient.make_history_day(prescient.utc_day(now() - interval '30 days'))" \
            -c "UPDATE prescient.event SET recorded_at = recorded_at - interval '30 days'"
    fi >/dev/null
}

# sql TEXT: by the store's own client
sql() {
    if [ "$STORE_NAME" = sqlite ]; then sqlite3 "${PRESCIENT_STORE#sqlite:}" "$1"
    else psql -qXAt -v ON_ERROR_STOP=1 "$PRESCIENT_STORE" -c "$1"; fi
}
# more_than_are_searched: newer ones, of another key
more_than_are_searched() {
    if [ "$STORE_NAME" = sqlite ]; then
        sql "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
            INSERT INTO prescient_event (event, entity_name, entity_key, job_exec, emitted_at_us,
                recorded_at_us, slot_at, check_count)
            SELECT 'more', 'orders', 'more', 'announce', 1893458400000000, 1, 1893458400, 0 FROM n"
    else
        sql "INSERT INTO prescient.event (emitted_at, event, entity_name, entity_key, job_exec)
            SELECT '2030-01-01 00:40Z', 'more', 'orders', 'more', 'announce' FROM generate_series(1, 100000)"
    fi
}
none_of_these() {
    if [ "$STORE_NAME" = sqlite ]; then sql "DELETE FROM prescient_event WHERE event = 'more'"
    else sql "DELETE FROM prescient.event WHERE event = 'more'"; fi
}

events() {
    cat > prescient.cfg <<CFG
plugin_dirs = ["$TMP/jobs"];
workers = 1;
max_failures = 0;
jobs = { announce = { plugin = "announce"; }; broken = { plugin = "broken"; }; };
CFG
    chmod 600 prescient.cfg
    ok "$STORE_NAME: init" $P init
    for key in 1 2 3; do $P --now 2030-01-01 enqueue orders $key announce +15m >/dev/null; done
    ok "$STORE_NAME: a run" $P --now 2030-01-01T00:15:00Z run
    is "$STORE_NAME: JSON Lines, one object an event, data as JSON" \
        "$($P events --json | while read -r line; do echo "$line" | json \
        'j["event"], j["entity_name"], j["data"]["n"][0]'; done | sort -u)" "('order.late', 'orders', 1)"
    is "$STORE_NAME: as many as there were" "$($P events --json | wc -l)" 3
    in_order() { $P events --json "$@" | sed 's/.*"entity_key": *"\([^"]*\)".*/\1/' | xargs; }
    local oldest; oldest=$(in_order --after 0-0-0)
    is "$STORE_NAME: the newest come first" "$(in_order)" "$(rev <<<"$oldest")"
    is "$STORE_NAME: --limit has the newest" "$(in_order --limit 2 2>/dev/null)" "$(rev <<<"${oldest#* }")"
    local place; place=$($P events --json --limit 2 2>/dev/null | tail -1 | json 'j["cursor"]')
    has "$STORE_NAME: and says how to go on" "$($P events --limit 2 2>&1 >/dev/null)" \
        "these are the newest 2; --until $place continues there, --limit 0 shows all"
    is "$STORE_NAME: which goes on with the next, all of one second" "$(in_order --until "$place")" \
        "${oldest%% *}"
    fails_with 2 "--until goes back" $P events --until "$place" --after 0-0-0
    fails_with 2 "--until: found 'now', expected the cursor" $P events --until now
    local cursor; cursor=$($P events --json --after 0-0-0 | head -1 | json 'j["cursor"]')
    is "$STORE_NAME: --after goes on behind a cursor" "$($P events --after "$cursor" | wc -l)" 2
    has "$STORE_NAME: a limit says how to go on" "$($P events --after 0-0-0 --limit 1 2>&1 >/dev/null)" \
        "these are the first 1; --after $cursor shows the next"
    has "$STORE_NAME: one event a line for people" "$($P events --limit 1 2>/dev/null)" \
        "  order.late  orders  "
    ok "$STORE_NAME: and nothing raw in it" bash -c "! $P events | tr -d '\n' | grep -q '[[:cntrl:]]'"

    is "$STORE_NAME: a cursor from before generations goes on to work" \
        "$($P events --after "${cursor#0-}" | wc -l)" 2
    fails_with 2 "is ahead of everything that this" $P events --after 0-99999999999-99999999999
    fails_with 2 "is ahead of everything that this" limited 20 $P events --follow --after 99999999999-0-0
    cursor=$($P events --json | head -1 | json 'j["cursor"]')
    $P events --follow --after "$cursor" --json > followed 2> err &
    local pid=$!
    $P --now 2030-01-01T00:15:00Z enqueue orders 4 announce +15m >/dev/null
    $P --now 2030-01-01T00:30:00Z run >/dev/null 2>&1
    wait_until 10 test -s followed
    is "$STORE_NAME: --follow shows what happens as it happens" \
        "$(head -1 followed | json 'j["entity_key"]')" 4
    kill -INT $pid; wait $pid
    is "$STORE_NAME: a signal ends it well" "$? $(wc -l < followed)" "0 1"

    $P --now 2030-01-01T00:30:00Z enqueue orders 5 broken +15m --payload '{"a": 1}' >/dev/null
    is "$STORE_NAME: a run with failures says 1" \
        "$($P --now 2030-01-01T00:45:00Z run >/dev/null 2>&1; echo $?)" 1
    is "$STORE_NAME: the failure is in the history with its words" \
        "$($P history --outcome failed --json |
            json '[(r["entity_key"], r["note"], r["guard"]) for r in j]')" \
        "[('5', 'no \\x1b[31msuch\\ntable', 'max_failures')]"
    has "$STORE_NAME: and harmless in a table" "$($P history --outcome failed)" 'no \x1b[31msuch\ntable'
    is "$STORE_NAME: retry enqueues it again" \
        "$($P --now 2030-01-01T00:45:00Z retry --job broken --json |
            json '[(r["entity_key"], r["outcome"], r["next_check_at"]) for r in j]')" \
        "[('5', 'new', '2030-01-01T01:00:00Z')]"
    is "$STORE_NAME: with its payload" "$($P list --json | json '[r["payload"] for r in j]')" "[{'a': 1}]"
    is "$STORE_NAME: passes say what was run" \
        "$($P passes --json |
            json 'sorted((r["slot_at"][11:16], r["run"], r["done"], r["failed"]) for r in j if r["run"])')" \
        "[('00:15', 3, 3, 0), ('00:30', 1, 1, 0), ('00:45', 1, 0, 1)]"
    local many="--job announce --entity orders --event order.*"
    is "$STORE_NAME: events of a job, an entity, a name" "$(in_order $many | wc -w)" 4
    is "$STORE_NAME: of a key" "$(in_order $many --key 2)" 2
    is "$STORE_NAME: since a time" "$(in_order --since 2030-01-01T00:30:00Z)" 4
    is "$STORE_NAME: before a time" "$(in_order --before 2030-01-01T00:30:00Z | wc -w)" 3
    is "$STORE_NAME: those behind a cursor, too" "$(in_order --after 0-0-0 --limit 1 --key 4)" 4
    more_than_are_searched
    local said; said=$($P events --key 1 2>&1)
    has "$STORE_NAME: a search ends after so many" "$said" "searched back to 2030-01-01T00:40:00Z; --until"
    place=$(sed -n 's/.*--until \([^ ]*\) .*/\1/p' <<<"$said")
    is "$STORE_NAME: and goes on where it has ended" "$(in_order --key 1 --until "$place")" 1
    is "$STORE_NAME: all are searched on request" "$(in_order --key 1 --limit 0)" 1
    none_of_these
    is "$STORE_NAME: of another job are none" "$($P events --job announced 2>/dev/null)" \
        "no events of that kind"
    has "$STORE_NAME: a job that nobody has is told" "$($P events --job announced 2>&1 >/dev/null)" announced
    is "$STORE_NAME: nor of another name" "$($P events --event order.lat --entity orders 2>&1)" \
        "no events of that kind"
    fails_with 2 "--since: \"soon\": expected a time" $P events --since soon
    fails_with 2 "--consumers takes no --job, which belongs to events" $P events --consumers --job announce
    a_month_older
    local dropped='1 days'; [ "$STORE_NAME" != sqlite ] || dropped='4 rows'
    $P prune --keep 1d --dry-run --json >would
    is "$STORE_NAME: prune says what it would drop, and in what it counts" \
        "$(json 'j["dry_run"], j["events"], j["counted"]["events"], j["counted"]["passes"]' <would)" \
        "(True, ${dropped% *}, '${dropped#* }', 'rows')"
    is "$STORE_NAME: and drops nothing" "$($P events --json | wc -l)" 4
    has "$STORE_NAME: prune drops what is old" "$($P prune --keep 1d)" "events $dropped"
    is "$STORE_NAME: and that is gone" "$($P events)" "no events"
    is "$STORE_NAME: what waits is not dropped" "$($P list --json | json 'len(j)')" 1
}

# Another database of the cluster has nothing to do with ours, but events wait for its transactions.
withheld() {
    ok "$STORE_NAME: init" $P init
    if [ "$STORE_NAME" = sqlite ]; then
        is "sqlite: events are withheld by nobody" "$($P events 2>&1; $P status --json |
            json 'j["events_withheld"], j["withheld_by"]')" "no events
(0, None)"
        return
    fi
    coproc { psql -qXAt "$SERVER"; }
    echo "BEGIN; SELECT pg_current_xact_id() IS NULL; SELECT pg_backend_pid(), current_database();" \
        >&"${COPROC[1]}"
    local _ holder db; read -r _ <&"${COPROC[0]}"; IFS='|' read -r holder db <&"${COPROC[0]}"
    for name in one two; do
        psql -qX "$PRESCIENT_STORE" -c "INSERT INTO prescient.event (emitted_at, event, entity_name,
            entity_key, job_exec) VALUES (now(), '$name', 'e', '1', 'j')"
    done
    $P events >out 2>err
    is "events that are withheld are not called none" "$(cat out)" "no events to show yet"
    local by="by process $holder of database $db (idle in transaction), "
    has "but told, with whom they wait for" "$(cat err)" "prescient events: 2 events withheld $by"
    has "and what ends that" "$(cat err)" \
        ": shown when that transaction is over; SELECT pg_terminate_backend($holder) ends it"
    is "--quiet does without" "$($P events --quiet 2>&1 >/dev/null)" ""
    has "status says so, too" "$($P status)" "events withheld     2 $by"
    is "and its JSON" \
        "$($P status --json | json 'j["events_withheld"], j["withheld_by"], j["withheld_us"] > 0')" \
        "(2, 'process $holder of database $db (idle in transaction)', True)"
    $P events --follow --after 0-0-0 --json >followed 2>remarks &
    local pid=$!
    wait_until 30 test -s remarks
    has "--follow tells it when it lasts" "$(cat remarks)" "2 events withheld $by"
    is "once, for a while" "$(wc -l <remarks)" 1
    echo "COMMIT;" >&"${COPROC[1]}"
    wait_until 30 has_lines followed 2
    is "and shows them when it is over" \
        "$(while read -r line; do json 'j["event"]' <<<"$line"; done <followed | xargs)" "one two"
    kill -INT $pid; wait $pid
    eval "exec ${COPROC[1]}>&-"
    has "then nothing is withheld" "$($P status)" "events withheld     0"
}

on_each_store events
on_each_store withheld
