#!/usr/bin/env bash
# cli_change.sh - changes over HTTP: of one check and of all that a select finds, page by page, of
# pauses and schedules; what the audit has of each, what is refused, and who may do it.
# about 25 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"

noop() { echo "$1 = { plugin = \"noop\"; settings = { answer = \"$2\"; ${3:-} }; };"; }
SETTINGS="log_level = \"error\"; jobs = { $(noop look again) $(noop fails fail_final)
        $(noop tells done 'event = "told";') $(noop sends done) $(noop never fail_final) };
    listeners = ( { name = \"good\"; events = [ \"told\" ]; job = \"sends\"; },
                  { name = \"bad\"; events = [ \"told\" ]; job = \"never\"; } );"
BULK=1200

# change PATH BODY: prints the status; the answer is in body
change() {
    get -H 'Content-Type: application/json' --data-binary "$2" "${@:3}" "http://localhost/v1/$1"
}
said() { json "$(printf 'j.get("%s"), ' "$@")" <body; }
pointers() { json '[e["pointer"] for e in j["errors"]]' <body; }
# audit QUERY COLUMN...: of each row, newest first
audit() {
    get "http://localhost/v1/audit?$1" >/dev/null
    json '" | ".join(" ".join(str(i[c]) for c in "'"${*:2}"'".split()) for i in j["items"])' <body
}
waits() { q "SELECT count(*) FROM {future_job} WHERE $1"; }

one_check() {
    local s=$STORE_NAME
    "$P" --quiet enqueue orders 1 look 2099-03-01T13:15:00Z >/dev/null
    is "$s: a check is moved" "$(change reschedule '{"entity": "orders", "key": 1, "job": "look",
        "check_at": "2099-03-02T13:15:00Z", "reason": "the shop moves"}'; said matched changed kept)" \
        "200(1, 1, 0)"
    is "$s: its new slot is told" "$(json 'j["checks"][0]["check_at"]' <body)" 2099-03-02T13:15:00Z
    is "$s: once" "$(change reschedule '{"entity": "orders", "key": 1, "job": "look",
        "check_at": "2099-03-02T13:15:00Z"}'; said changed kept)" "200(0, 1)"
    is "$s: the audit has it" "$(audit 'entity=orders&key=1' change reason)" "reschedule the shop moves"
    is "$s: what it was and is" \
        "$(json 'j["items"][0]["before"]["check_at"], j["items"][0]["after"]["check_at"]' <body)" \
        "('2099-03-01T13:15:00Z', '2099-03-02T13:15:00Z')"
    is "$s: by whom" "$(json 'j["items"][0]["who"], j["items"][0]["done_by"] != ""' <body)" "('', True)"
    is "$s: to look whether it would be found" "$(change cancel '{"entity": "orders", "key": 1,
        "dry_run": true}'; json 'j["matched"], j["changed"], j["examples"][0]["job"]' <body)" \
        "200(1, 0, 'look')"
    is "$s: changes nothing" "$(waits "entity_key = '1'")" 1
    is "$s: it is run at once" "$(change run-now '{"entity": "orders", "key": "1", "job": "look"}'
        said changed)" "200(1,)"
    is "$s: it is cancelled" "$(change cancel '{"entity": "orders", "key": "1", "reason": "sold out"}'
        said changed)" "200(1,)"
    is "$s: and waits no more" "$(waits "entity_key = '1'")" 0
    has "$s: which why knows" "$("$P" why orders 1)" cancelled
    is "$s: a repeat finds nothing" "$(change cancel '{"entity": "orders", "key": "1"}'
        said changed not_found)" "200(0, 1)"
    is "$s: each change is there once" "$(audit 'entity=orders&key=1' change)" \
        "cancel | run-now | reschedule"
}

# Those that ask the store for this server: the one that writes is started first, and the two that
# read behind it.
writer() { backends_of change.$STORE_NAME | sed -n 1p; }
readers() { backends_of change.$STORE_NAME | sed -n '2,3p'; }
counts() { change cancel '{"select": {"entity": "beside"}, "dry_run": true}'; said matched changed; }
# What is only tried is asked of those that read, and what is filed of the one that writes: neither
# waits for the other.
only_tried() {
    local s=$STORE_NAME sent=(curl -s --max-time $((20 * PATIENCE)) --unix-socket "$SOCK"
        -H 'Content-Type: application/json' http://localhost/v1/cancel)
    "$P" --quiet enqueue beside 1 look 2099-03-01T13:15:00Z >/dev/null
    kill -STOP "$(writer)"
    is "$s: what is only tried is counted while nothing can be written" "$(counts)" "200(1, 0)"
    kill -CONT "$(writer)"
    # shellcheck disable=SC2046
    kill -STOP $(readers)
    start counted "${sent[@]}" --data-binary '{"select": {"entity": "beside"}, "dry_run": true}'
    ok "$s: it waits where nothing can be read" wait_until 20 is_connected
    is "$s: and a check is filed meanwhile" \
        "$(post '{"entity": "beside", "key": 2, "job": "look", "in": "3h"}')" 201
    is "$s: so is what is not only tried" "$(change cancel '{"select": {"entity": "beside", "key": 1},
        "dry_run": false}'; said matched changed)" "200(1, 1)"
    # shellcheck disable=SC2046
    kill -CONT $(readers)
    join counted
    is "$s: which is counted then" "$(json 'j["matched"], j["changed"]' <counted.out)" "(1, 0)"
    change cancel '{"entity": "beside", "key": 2}' >/dev/null
}
is_connected() { [ "$(grep -c "$SOCK" /proc/net/unix)" -gt 1 ]; }

# matched_of_all PATH MEMBERS: how many there are on all pages of a select
matched_of_all() {
    local n=0 after=null
    while [ "$(change "$1" "{$2, \"after\": $after}")" = 200 ]; do
        n=$((n + $(json 'j["matched"]' <body)))
        after=$(json 'json.dumps(j["next"])' <body)
        [ "$after" != null ] || break
    done
    echo "$n"
}

# 90 of the 1,200 have another error, which has the key: they are found by the rest of it.
by_error() {
    local s=$STORE_NAME
    local select='"select": {"entity": "bulk", "error": "order #: out of stock"}, "dry_run": true'
    q "UPDATE {future_job_history} SET note = 'order ' || entity_key || ': out of stock'
        WHERE entity_name = 'bulk' AND length(entity_key) = 2" >/dev/null
    is "$s: a list has those of one error" "$("$ROOT/tests/list_all.py" "$SOCK" \
        '/v1/history?entity=bulk&limit=500&error=order+%23:+out+of+stock' key 2>/dev/null |
        sort -u | wc -l)" 90
    is "$s: and so has a select" "$(matched_of_all retry "$select")" 90
    is "$s: nothing has another one" "$(change retry "{${select/out/none}}" >/dev/null; said matched)" "(0,)"
}

# 1,200 have failed, and are filed again in two calls; the same calls again change nothing.
many() {
    local s=$STORE_NAME next first
    { echo entity_name,entity_key,job_exec,check_at
        seq 1 $BULK | sed 's/.*/bulk,&,fails,+15m/'; } >rows.csv
    "$P" --quiet --now -1h enqueue --from rows.csv >/dev/null
    "$P" --quiet sweep 2>sweep.err
    is "$s: all have failed" "$(waits true)" 0
    local select='"select": {"entity": "bulk", "outcome": "failed"}'
    by_error
    is "$s: a select that is only tried" "$(change retry "{$select, \"dry_run\": true}"
        json 'j["matched"], j["changed"], len(j["examples"]), j["next"] is not None' <body)" \
        "200(1000, 0, 5, True)"
    is "$s: changes nothing" "$(waits true)" 0
    is "$s: the first thousand" "$(change retry "{$select}"; said matched changed kept)" "200(1000, 1000, 0)"
    next=$(json 'j["next"]' <body)
    is "$s: are filed again" "$(waits "entity_name = 'bulk'")" 1000
    is "$s: stopped there, the same once more changes nothing twice" \
        "$(change retry "{$select}"; said matched changed kept)" "200(1000, 0, 1000)"
    is "$s: the next page has the others" "$(change retry "{$select, \"after\": \"$next\"}"
        said matched changed next)" "200(200, 200, None)"
    is "$s: all of them wait, each once" "$(waits "entity_name = 'bulk'")" $BULK
    is "$s: each has a row of the audit" \
        "$("$ROOT/tests/list_all.py" "$SOCK" '/v1/audit?change=retry&limit=500' key 2>/dev/null |
            sort -u | wc -l)" \
        $BULK
    is "$s: they are moved, all to one time" "$(change reschedule '{"select": {"entity": "bulk"},
        "in": "30h", "limit": 700}'; said matched changed)" "200(700, 700)"
    first=$(json 'j["next"]' <body)
    is "$s: page by page" "$(change reschedule "{\"select\": {\"entity\": \"bulk\"}, \"in\": \"30h\",
        \"after\": \"$first\"}"; said matched)" "200(1000,)"
    refused reschedule '{"select": {"entity": "bulk"}, "in": "31h", "after": "'"$first"'"}' 422 "['/in']"
    refused reschedule '{"select": {"entity": "bulk"}, "check_at": "2099-03-01", "after": "'"$first"'"}' 422 \
        "['/check_at']"
    is "$s: in one slot" "$(q "SELECT count(DISTINCT next_check_at) FROM {future_job}")" 1
    change reschedule '{"select": {"entity": "bulk"}, "check_at": "2099-03-01", "limit": 700}' >/dev/null
    first=$(json 'j["next"]' <body)
    refused reschedule '{"select": {"entity": "bulk"}, "check_at": "2099-03-02", "after": "'"$first"'"}' 422 \
        "['/check_at']"
    is "$s: to the time with which it was begun" "$(change reschedule "{\"select\": {\"entity\": \"bulk\"},
        \"check_at\": \"2099-03-01T00:00:00Z\", \"after\": \"$first\"}"; said matched)" "200(1000,)"
    is "$s: what is for another job stays" "$(change cancel '{"select": {"entity": "bulk", "job": "look"}}'
        said matched next)" "200(0, None)"
    change cancel '{"select": {"entity": "bulk", "state": "waiting"}}' >/dev/null
    next=$(json 'j["next"]' <body)
    change cancel "{\"select\": {\"entity\": \"bulk\", \"state\": \"waiting\"},
        \"after\": \"$next\"}" >/dev/null
    is "$s: and all are cancelled" "$(waits true)" 0
}

# ended KEY OUTCOME [ENTITY]: an end in the history, each newer than the one before
ended() {
    AT=$((AT + 1))
    if [ "$STORE_NAME" = postgresql ]; then
        q "INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at,
               entity_name, entity_key, job_exec, outcome, check_count, failure_count, run_count,
               total_run_us)
           SELECT t, t, t, t, '${3:-sorted}', '$1', 'look', '$2', 0, 0, 1, 0
             FROM (SELECT now() - interval '1 hour' + $AT * interval '1 s' AS t) w" >/dev/null
    else
        q "INSERT INTO prescient_future_job_history (check_id, ended_at_us, archived_at_us, entity_name,
               entity_key, job_exec, outcome, check_count, failure_count, run_count, slot_at, first_check_at,
               total_run_us)
           SELECT 1, t, t, '${3:-sorted}', '$1', 'look', '$2', 0, 0, 1, 0, 0, 0
             FROM (SELECT (unixepoch() - 3600 + $AT) * 1000000 AS t)" >/dev/null
    fi
}
# Shortly after midnight an hour ago was a day that a new store does not have.
make_day_of_then() {
    [ "$STORE_NAME" = sqlite ] || q "SELECT count(prescient.make_history_day(d.day))
        FROM (SELECT prescient.utc_day(now() - interval '1 hour') AS day) d
        WHERE NOT prescient.history_day_is_there(d.day)" >/dev/null
}
# What matches is what is filed again: no other end, no delivery, and each check once.
what_can_be_retried() {
    local s=$STORE_NAME AT=0 outcome select='"select": {"job": "look", "from": "-2h"}'
    make_day_of_then
    for outcome in done resolved past beyond_horizon max_checks deferred_out failed timeout crashed \
        bad_answer unknown_job failed; do
        ended $outcome $outcome
    done
    ended hook/1 failed prescient.event
    is "$s: what retry files again is counted" "$(change retry "{$select, \"dry_run\": true}"
        said matched next)" "200(5, None)"
    is "$s: by its ends, too" "$(change retry '{"select": {"job": "look", "outcome": "failed"},
        "dry_run": true}'; said matched)" "200(1,)"
    is "$s: the list has those" "$(get 'http://localhost/v1/history?job=look&outcome=retryable'
        json 'sorted(set(i["key"] for i in j["items"]))' <body)" \
        "200['bad_answer', 'crashed', 'failed', 'timeout', 'unknown_job']"
    is "$s: all of it is filed" "$(change retry "{$select}"; said matched changed kept)" "200(5, 5, 0)"
    is "$s: each check once" "$(waits "entity_name = 'sorted'")" 5
    refused retry '{"select": {"outcome": "past"}}' 422 "['/select/outcome']"
    refused retry '{"select": {"outcome": "amiss"}}' 422 "['/select/outcome']"
    change cancel '{"select": {"entity": "sorted"}}' >/dev/null
}

pauses_and_schedules() {
    local s=$STORE_NAME
    is "$s: a job is paused" "$(change pause '{"job": "look", "reason": "the shop moves"}'
        said outcome)" "200('paused',)"
    has "$s: which prescient pauses shows" "$("$P" pauses)" "the shop moves"
    is "$s: it is paused already" "$(change pause '{"job": "look"}'; said outcome)" "200('kept',)"
    is "$s: it is resumed" "$(change resume '{"job": "look"}'; said outcome)" "200('resumed',)"
    is "$s: a schedule is made" "$(change 'schedules?name=stock' '{"entity": "shop", "key": 7, "job": "look",
        "every": "2h", "payload": {"card": "4111"}}' -X PUT; said outcome)" "201('new',)"
    is "$s: a part of it is changed" \
        "$(change 'schedules?name=stock' '{"every": "3h", "bias": 0.1}' -X PUT; said outcome)" \
        "200('changed',)"
    get http://localhost/v1/schedules >/dev/null
    is "$s: its bias is listed as it was put" "$(json 'j["items"][0]["bias"]' <body)" 0.1
    get 'http://localhost/v1/schedule?name=stock' >/dev/null
    is "$s: and shown" "$(json 'j["schedule"]["bias"]' <body)" 0.1
    is "$s: and the rest stays" "$("$P" schedule show stock --json | json 'j["every_s"], j["payload"]')" \
        "(10800, {'card': '4111'})"
    is "$s: it is switched off" "$(change 'schedules?name=stock' '{"is_active": false}' -X PUT
        said outcome)" "200('changed',)"
    is "$s: it is removed" "$(get -X DELETE 'http://localhost/v1/schedules?name=stock&reason=sold'
        said outcome)" "200('removed',)"
    is "$s: once" "$(get -X DELETE 'http://localhost/v1/schedules?name=stock')" 404
    is "$s: what is not there is not changed" \
        "$(change 'schedules?name=none' '{"every": "3h"}' -X PUT)" 404
    is "$s: the audit has all of it" "$(audit 'limit=6' change)" \
        "schedule-remove | schedule-off | schedule-put | schedule-put | resume | pause"
    has_not "$s: and no payload" "$(cat body)" 4111
    "$P" --quiet pause --entity carts --reason 'by hand' >/dev/null
    is "$s: and what a command has done" "$(audit 'limit=1' change entity reason)" "pause carts by hand"
}

has_not() { if [[ $2 == *"$3"* ]]; then fail "$1" "$2"; else pass "$1"; fi; }

# refused PATH BODY STATUS POINTERS
refused() {
    is "$STORE_NAME: $1 $2" "$(change "$1" "$2" "${@:5}"; pointers)" "$3$4"
}
what_is_refused() {
    local s=$STORE_NAME row='"entity": "orders", "key": "1", "job": "look"'
    "$P" --quiet enqueue orders 1 look 2099-03-01T13:15:00Z >/dev/null
    refused resolve '{"entity": "orders", "keys": "1"}' 422 "['/keys']"
    refused resolve '{"entity": 1, "key": []}' 422 "['/entity', '/key']"
    refused resolve '{"entity": "orders"}' 422 "['/key']"
    refused resolve '[]' 422 "['']"
    refused resolve '{"select": {}}' 422 "['/select']"
    refused resolve '{"select": {"entitys": "orders"}}' 422 "['/select/entitys']"
    refused resolve '{"select": {"outcome": "failed"}}' 422 "['/select/outcome']"
    refused resolve '{"select": {"state": "done"}}' 422 "['/select/state']"
    refused resolve '{"select": {"from": "noon"}}' 422 "['/select/from']"
    refused resolve "{\"select\": {\"entity\": \"orders\"}, $row}" 422 "['/select']"
    refused resolve '{"select": {"entity": "orders"}, "limit": 1001}' 422 "['/limit']"
    refused resolve '{"select": {"entity": "orders"}, "after": "zz"}' 422 "['/after']"
    refused resolve "{$row, \"check_at\": 4000000000}" 422 "['/check_at']"
    refused resolve "{$row, \"reason\": \"$(head -c 5000 /dev/zero | tr '\0' x)\"}" 422 "['/reason']"
    refused cancel '{"entity": "prescient.event", "key": "hook/1"}' 422 "['/entity']"
    refused reschedule "{$row}" 422 "['/check_at']"
    refused reschedule "{$row, \"check_at\": 4000000000, \"in\": 3}" 422 "['/in']"
    refused run-now '{"entity": "orders", "key": "1"}' 422 "['/job']"
    refused pause '{"job": "look", "entity": "orders"}' 422 "['']"
    refused 'schedules?name=x' '{"entity": "shop", "every": "2h"}' 422 "['/entity']" -X PUT
    refused 'schedules?name=x' '{"cron": "99 * * * *"}' 422 "['/cron']" -X PUT
    is "$s: a member that stands twice" "$(change resolve '{"key": 1, "key": 2}')" 400
    is "$s: a schedule without a name" "$(change schedules '{"every": "3h"}' -X PUT)" 400
    is "$s: a query where none is" "$(change 'resolve?key=1' "{$row}")" 400
    is "$s: GET changes nothing" "$(get http://localhost/v1/resolve)" 405
    is "$s: nothing has been changed" "$(waits "entity_key = '1'")" 1
    is "$s: nor noted" "$(audit 'entity=orders&change=resolve' key)" ""
}

# An operator may change what is there and sees no table; an enqueuer may not.
rights() {
    [ "$STORE_NAME" = postgresql ] || return 0
    local owner=$PRESCIENT_STORE role sep='?' row='{"entity": "orders", "key": "1", "job": "look"}'
    [[ $owner == *\?* ]] && sep='&'
    for role in operator enqueuer; do
        psql -qX "$owner" -c "CREATE ROLE ${role}_$$ LOGIN IN ROLE prescient_$role" >/dev/null
    done
    ends change.postgresql
    PRESCIENT_STORE=$owner${sep}user=enqueuer_$$ serve enqueues.postgresql --set log_level=warn
    is "an enqueuer changes nothing" "$(change resolve "$row"; json 'j["type"]' <body)" \
        "403/problems/not-allowed"
    has "the log has what would give the right" "$(cat enqueues.postgresql.err)" \
        "GRANT prescient_operator TO enqueuer_$$"
    is "an enqueuer pauses nothing" "$(change pause '{"job": "look"}')" 403
    ends enqueues.postgresql
    PRESCIENT_STORE=$owner${sep}user=operator_$$ serve operates.postgresql
    is "an operator moves a check" "$(change run-now "$row"; said changed)" "200(1,)"
    is "and ends it" "$(change resolve "$row"; said not_found)" "200(0,)"
    is "and pauses a job" "$(change pause '{"job": "look"}'; said outcome)" "200('paused',)"
    is "and makes a schedule" "$(change 'schedules?name=stock' '{"entity": "shop", "key": 7, "job": "look",
        "every": "2h"}' -X PUT)" 201
    is "but sees no list" "$(change resolve '{"select": {"entity": "orders"}}')" 403
    is "and no table" "$(psql -qXAt "$owner${sep}user=operator_$$" \
        -c 'SELECT count(*) FROM prescient.future_job' 2>&1 | grep -c denied)" 1
    ends operates.postgresql
    serve change.postgresql
    is "the audit has who it was" "$(audit 'change=resolve' done_by)" "operator_$$"
    for role in operator enqueuer; do
        psql -qX "$owner" -c "DROP ROLE ${role}_$$" >/dev/null
    done
}

sent() { get "http://localhost/v1/deliveries?$1"; json "$2" <body; }
# are_over STATE...: of all deliveries, in the order of the alphabet
are_over() {
    "$P" --quiet run 2>run.err
    [ "$(sent '' '" ".join(sorted(i["state"] for i in j["items"]))')" = "200$*" ]
}
# What was sent to a listener is sent again, whether it has arrived or not.
deliveries() {
    local s=$STORE_NAME of
    "$P" --quiet --now -1h enqueue orders 60 tells +15m >/dev/null
    "$P" --quiet sweep 2>sweep.err
    ok "$s: one delivery arrives, and one does not" wait_until 30 are_over done failed
    is "$s: those that have failed" "$(sent failed=1 '[(i["listener"], i["state"], i["key"], i["tries"],
        len(i["id"])) for i in j["items"]]')" "200[('bad', 'failed', '60', 1, 32)]"
    of=$(json 'j["items"][0]["delivery"]' <body)
    is "$s: those of a listener" "$(sent listener=good '[i["state"] for i in j["items"]]')" "200['done']"
    is "$s: the page of a row has them, too" "$(get 'http://localhost/v1/check?entity=orders&key=60'
        json 'sorted((e["listener"], e["delivery"] == "'"$of"'") for e in j["events"])' <body)" \
        "200[('bad', True), ('good', False)]"
    is "$s: one is sent again" "$(change deliver-again "{\"delivery\": \"$of\", \"reason\": \"it is back\"}"
        said outcome)" "200('again',)"
    is "$s: once" "$(change deliver-again "{\"delivery\": \"$of\"}"; said outcome)" "200('waits',)"
    is "$s: the audit has it" "$(audit 'change=deliver-again' what entity key reason name)" \
        "delivery orders 60 it is back $of"
    ok "$s: it is tried, and each time is kept" wait_until 30 are_over done failed failed
    is "$s: what never was is not found" "$(change deliver-again '{"delivery": "bad/1"}')" 404
    is "$s: nor taken" "$(change deliver-again '{"delivery": "bad"}'; pointers)" "422['/delivery']"
    is "$s: failed is a 1" "$(get 'http://localhost/v1/deliveries?failed=yes')" 400
}

refuses_all() { [ "$(get http://localhost/v1/audit)" = 401 ]; }
# With tokens the audit has the name of who asked, and who may only enqueue changes nothing.
tokens() {
    local s=$STORE_NAME anna shop row='{"entity": "orders", "key": "5"}'
    "$P" --quiet enqueue orders 5 look 2099-03-01T13:15:00Z >/dev/null
    anna=$("$P" --quiet token new anna --role operate)
    shop=$("$P" --quiet token new shop --role enqueue)
    wait_until 20 refuses_all || fail "$s: a token is needed" "$(cat body)"
    is "$s: who may enqueue changes nothing" "$(change cancel "$row" -H "Authorization: Bearer $shop")" 403
    is "$s: who may operate does" "$(change cancel "$row" -H "Authorization: Bearer $anna"; said changed)" \
        "200(1,)"
    is "$s: and is known by name" "$(get -H "Authorization: Bearer $anna" \
        'http://localhost/v1/audit?who=anna'; json '[i["change"] for i in j["items"]]' <body)" "200['cancel']"
    has "$s: also to why" "$("$P" why orders 5)" "cancelled by anna"
}

changes() {
    a_clean_store
    settings "$SETTINGS"
    serve change.$STORE_NAME
    one_check
    only_tried
    many
    pauses_and_schedules
    what_is_refused
    deliveries
    what_can_be_retried
    rights
    tokens
    ends change.$STORE_NAME
}

on_each_store changes
