#!/usr/bin/env bash
# t_deliveries.sh - listeners hear what jobs emit: commands, webhooks and plug-ins get the document
# of the event, a run delivers before it ends, a delivery that fails for good is told, and kills of
# engines at random moments lose no event and make none up. FULL=1: 5,000 events.
# not for coverage
# about 60 s
# night: it kills, waits or judges time for minutes
SCHEMA=shop_checks            # the names of entities do not follow that of the schema
. "$(dirname "${BASH_SOURCE[0]}")/listener_lib.sh"

SLOT=1700000100
EVENTS=600 KILLS=8
[ -z "${FULL:-}" ] || EVENTS=5000 KILLS=20
SEED=${SEED:-$((($(now_ms) ^ $$) & 32767))}
echo "# SEED=$SEED"

delivered() {
    q "SELECT count(*) FROM {future_job_history} WHERE entity_name = 'prescient.event' AND outcome = '$1'"
}
events_of() { q "SELECT count(*), count(DISTINCT entity_key) FROM {event} WHERE event = '$1'"; }

by_command() {
    a_clean_store
    settings "workers = 2;" "jobs = {
        $(emits '{"done":true,"emit":[{"event":"order.late","data":{"n":1.10}},{"event":"ticket.late"}]}')
        $(hears hook 'echo $PRESCIENT_TYPE >>types') $(hears mail) };" \
        "listeners = ( { events = \"order.*\"; job = \"hook\"; },
            { name = \"post\"; events = \"*\"; except = \"ticket.*\"; job = \"mail\"; } );"
    fill 1 $SLOT look "'4\"2'"
    runs
    is "$STORE_NAME: a run ends well when it has delivered" "$CODE $(pending)" "0 0"
    is "$STORE_NAME: each listener has heard the event it listens to" \
        "$(wc -l <hook.heard) $(wc -l <mail.heard) $(delivered done)" "1 1 2"
    is "$STORE_NAME: the document of an event" \
        "$(heard_of hook '[d[k] for k in ("type", "entity_name", "entity_key", "job", "check_number",
                                  "failure_count", "first_check_at", "data")]')" \
        "['order.late', 'row', '4\"2', 'look', 1, 0, '2023-11-14T22:15:00Z', {'n': 1.1}]"
    is "$STORE_NAME: its data are as they were" "$(grep -c '"data":{"n":1.10}' hook.heard)" 1
    is "$STORE_NAME: short fields are in the environment, too" "$(cat types)" order.late
    is "$STORE_NAME: it was emitted just now" \
        "$(heard_of hook '0 <= __import__("time").time() - __import__("calendar").timegm(
               __import__("time").strptime(d["timestamp"], "%Y-%m-%dT%H:%M:%SZ")) < 120')" True
    is "$STORE_NAME: listeners have keys of their own" \
        "$([ "$(heard_of hook 'd["id"]')" != "$(heard_of mail 'd["id"]')" ] &&
            heard_of hook 'len(d["id"])')" 32
    "$P" --quiet enqueue row now look --at-once >/dev/null
    wait_until 5 is_due
    runs
    is "$STORE_NAME: what a check that was asked for at once emits is delivered by the same run" \
        "$CODE $(pending) $(wc -l <hook.heard)" "0 0 2"
    is "$STORE_NAME: events and deliveries belong together" \
        "$(q "SELECT count(*) FROM {event} e JOIN {future_job_history} h
              ON h.entity_key = 'hook/' || replace(CAST(e.origin AS text), '-', '')
              WHERE e.event = 'order.late'")" 2
}

is_due() { [ "$(q "SELECT min(<next_check_at>) FROM {future_job}")" -le "$(date +%s)" ]; }

by_webhook() {
    pkg-config --exists libcurl || return 0
    a_clean_store
    mkdir receiver
    start receiver python3 "$TESTS/http_server.py" receiver
    wait_until 20 test -e receiver/port || fail "the receiver starts"
    local url; url=http://127.0.0.1:$(cat receiver/port)/status/200
    settings "jobs = { $(emits '{"done":true,"emit":{"event":"order.late","data":[1,2]}}')
        hook = { plugin = \"webhook\"; settings = { url = \"$url\"; }; }; };" \
        'listeners = ( { events = "order.late"; job = "hook"; } );'
    fill 3 $SLOT look
    runs
    is "$STORE_NAME: a run sends webhooks before it ends" \
        "$CODE $(pending) $(wc -l <receiver/requests)" "0 0 3"
    is "$STORE_NAME: their bodies and keys" "$(python3 -c '
import json
seen = set()
for line in open("receiver/requests"):
    request = json.loads(line)
    named = {n.lower(): v for n, v in request["headers"]}
    d = json.loads(request["body"])
    same = named["webhook-id"] == d["id"] == named["idempotency-key"]
    seen.add((d["type"], d["entity_key"], str(d["data"]), same))
print(*sorted(seen))')" \
        "$(printf "('order.late', '%s', '[1, 2]', True) " k1 k2 k3 | sed 's/ $//')"
    kill "$(pid_of receiver)"; join receiver
}

failures() {
    a_clean_store
    local gone; gone=$(emits '{"fail":"410 Gone","final":true,"emit":{"event":"order.sent"}}')
    settings "jobs = { $(emits '{"done":true,"emit":{"event":"order.late"}}') $(hears alarm 'exit 1')
        hook${gone#look} };" \
        "listeners = ( { name = \"all\"; events = \"*\"; job = \"hook\"; },
            { events = \"delivery.failed\"; job = \"alarm\"; } );"
    fill 1 $SLOT look
    runs
    is "$STORE_NAME: a delivery that has failed for good is in the history" "$(delivered failed)" 1
    fails_with 2 "prescient deliveries --again ID" "$P" retry prescient.event
    has "$STORE_NAME: retry leaves deliveries, and says where they are" "$("$P" retry --all 2>&1)" \
        "prescient deliveries --failed"
    is "$STORE_NAME: what its job emits is written, and heard by nobody" "$(events_of order.sent)" "1|1"
    is "$STORE_NAME: its end is an event" "$(events_of delivery.failed)" "1|1"
    wait_until 20 heard_alarm
    is "$STORE_NAME: heard by those who name it" \
        "$(heard_of alarm '[d["type"], d["data"]["listener"], d["data"]["event"], d["data"]["entity_name"],
                   d["data"]["entity_key"], d["data"]["outcome"], d["data"]["note"]]')" \
        "['delivery.failed', 'all', 'order.late', 'row', 'k1', 'failed', '410 Gone']"
    is "$STORE_NAME: one that fails is tried again after five seconds" "$(q "SELECT failure_count,
        <next_check_at> - <first_check_at> BETWEEN 5 AND 20 FROM {future_job}" | sed 's/t$/1/')" "1|1"
    wait_until 15 is_due
    local began=$SECONDS
    runs
    is "$STORE_NAME: it is tried" "$(q "SELECT failure_count FROM {future_job}")" 2
    # the next time is half a minute away, or more
    at_most "$STORE_NAME: seconds of a run that does not wait for it" $((SECONDS - began)) 25
    "$P" enqueue prescient.event all/1 look +1h >refused 2>&1
    is "$STORE_NAME: nobody asks for a delivery" "$? $(grep -c 'which stands for deliveries' refused)" "2 1"
}

replayed() {
    a_clean_store
    settings "jobs = { $(emits '{"done":true,"emit":{"event":"order.late"}}') $(hears hook) };" \
        'listeners = ( { events = "*"; job = "hook"; } );'
    fill 1 $SLOT look
    "$P" --quiet replay --from @$SLOT --to @$((SLOT + 900)) >replay.out 2>&1
    is "$STORE_NAME: a replay emits" "$(events_of order.late)" "1|1"
    is "$STORE_NAME: and delivers nothing" "$(pending) $(delivered done)" "0 0"
    fill 1 $SLOT look "'again'"
    "$P" --quiet replay --from @$SLOT --to @$SLOT --deliver >replay.out 2>&1
    is "$STORE_NAME: but with --deliver it does, also what the last slot emits" \
        "$? $(pending) $(delivered done) $(wc -l <hook.heard)" "0 0 1 1"
    ok "$STORE_NAME: a delivery that is due then" "$P" --now @$SLOT deliveries --again \
        "$("$P" --json deliveries | json 'j[0]["delivery"]')"
    fill 1 $SLOT look "'third'"
    "$P" --quiet replay --from @$SLOT --to @$((SLOT + 900)) >replay.out 2>&1
    is "$STORE_NAME: is left where it is by a replay that delivers nothing" \
        "$? $(pending) $(events_of order.late) $(wc -l <hook.heard)" "0 1 3|3 1"
    runs
    is "$STORE_NAME: and sent by the next run" "$(pending) $(wc -l <hook.heard)" "0 2"
}

# ---- looking ----

# shown EXPRESSION [OPTION...]: of `prescient deliveries`, as `j`
shown() {
    local what=$1; shift
    "$P" --json deliveries "$@" 2>>shown.err | json "$what"
}
state_of='[(d["listener"], d["state"], d["tries"] > 0) for d in j]'

looked_at() {
    a_clean_store
    : >shown.err
    local gone; gone=$(emits '{"fail":"410 Gone","final":true}')
    settings "jobs = { $(emits '{"done":true,"emit":{"event":"order.late","data":{"n":1.10}}}') $(hears hook)
        $(hears alarm 'echo out of order >&2; exit 1') mail${gone#look} };" \
        "listeners = ( { events = \"order.*\"; job = \"hook\"; }, { events = \"order.*\"; job = \"alarm\"; },
            { events = \"order.late\"; job = \"mail\"; } );"
    is "$STORE_NAME: there are none" "$("$P" deliveries)" "no deliveries"
    fill 1 $SLOT look "'4\"2'"
    runs
    is "$STORE_NAME: deliveries: those that wait, and those that are over" \
        "$(shown "sorted($state_of)")" \
        "[('alarm', 'retrying', True), ('hook', 'done', True), ('mail', 'failed', True)]"
    is "$STORE_NAME: what each is about" \
        "$(shown '{(d["event"], d["entity_name"], d["entity_key"]) for d in j}')" \
        "{('order.late', 'row', '4\"2')}"
    is "$STORE_NAME: its id is what the receiver was sent" \
        "$(shown 'j[0]["id"]' --listener hook)" "$(heard_of hook 'd["id"]')"
    is "$STORE_NAME: why one fails that is tried again" \
        "$(shown '("out of order" in j[0]["note"], j[0]["next_check_at"] > "20")' --listener alarm)" \
        "(True, True)"
    is "$STORE_NAME: and one that has failed for good" \
        "$(shown '(j[0]["outcome"], "410 Gone" in j[0]["note"])' --listener mail)" "('failed', True)"
    is "$STORE_NAME: of one listener, and not of one whose name begins so" \
        "$(shown 'len(j)' --listener hoo) $(shown 'len(j)' --listener hook)" "0 1"
    is "$STORE_NAME: what has failed" "$(shown "sorted($state_of)" --failed)" \
        "[('alarm', 'retrying', True), ('mail', 'failed', True)]"
    is "$STORE_NAME: since a time" "$(shown 'len(j)' --since -1h) $(shown 'len(j)' --since +1h)" "3 0"
    is "$STORE_NAME: newest first, at most so many" \
        "$(shown 'len(j)' --limit 2) $(grep -c 'or more' shown.err)" "2 1"
    is "$STORE_NAME: show has the events of a row, and what became of each delivery" \
        "$("$P" --json show row '4"2' |
            json '{d["event"] for d in j["events"]},
                  sorted((d["listener"], d["state"]) for d in j["events"])')" \
        "({'order.late'}, [('alarm', 'retrying'), ('hook', 'done'), ('mail', 'failed')])"
    has "$STORE_NAME: as text, too" "$("$P" show row '4"2' | sed -n '/^events:/,$p')" alarm
    is "$STORE_NAME: another row has none" "$("$P" --json show row k1 | json 'j["events"]')" "[]"
    has "$STORE_NAME: as a table" "$("$P" deliveries)" "$(heard_of hook 'd["id"]')"
}

# over again: what was received a second time
sent_again() {
    a_clean_store
    settings "jobs = { $(emits '{"done":true,"emit":{"event":"order.late","data":{"n":1.10}}}') $(hears hook)
        $(hears alarm 'exit 1') };" "listeners = ( { events = \"order.*\"; job = \"hook\"; },
            { events = \"order.*\"; job = \"alarm\"; } );"
    fill 1 $SLOT look "'4\"2'"
    runs
    cp hook.heard first.heard
    local id key
    id=$(heard_of hook 'd["id"]')
    ok "$STORE_NAME: one that is over is sent again" "$P" deliveries --again "$id"
    wait_until 5 is_due
    runs
    is "$STORE_NAME: the receiver has it twice" "$(wc -l <hook.heard) $(sort -u hook.heard | wc -l)" "2 1"
    is "$STORE_NAME: both are listed" "$(shown "$state_of" --listener hook)" \
        "[('hook', 'done', True), ('hook', 'done', True)]"
    is "$STORE_NAME: under one id" "$(shown '{d["id"] for d in j}' --listener hook)" "{'$id'}"
    key=$(shown 'j[0]["delivery"]' --listener alarm)
    fails_with 2 "is not over: it waits, or is being sent" "$P" deliveries --again "$key"
    ok "$STORE_NAME: one that is resolved" "$P" resolve prescient.event "$key"
    ok "$STORE_NAME: is sent again, too" "$P" --json deliveries --again "$key"
    is "$STORE_NAME: and waits" "$(shown "$state_of" --listener alarm)" \
        "[('alarm', 'waiting', False), ('alarm', 'resolved', True)]"
    fails_with 2 "it waits, or is being sent" "$P" deliveries --again "$key"
    fails_with 2 "expected the 32 digits of an id" "$P" deliveries --again 12
    fails_with 1 "no delivery has the id" "$P" deliveries --again 00112233445566778899aabbccddeeff
    fails_with 1 "no delivery hook/1 in the history" "$P" deliveries --again hook/1
    q "DELETE FROM {event}"
    fails_with 1 "its event was pruned" "$P" deliveries --again "$id"
    is "$STORE_NAME: without its event it is still listed" \
        "$(shown '(j[0]["event"], j[0]["id"])' --listener hook)" "(None, '$id')"
}

# ---- kills ----

killed() {
    RANDOM=$SEED
    local n=0 killed=0
    a_clean_store
    settings 'lease = "1s"; trust = "500ms"; workers = 2;' "jobs = {
        look = { plugin = \"journal\";
            settings = { file = \"$PWD/emitted\"; event = \"ran\"; pause_us = 3000; }; };
        hook = { plugin = \"journal\"; settings = { file = \"$PWD/heard\"; pause_us = 2000; }; }; };" \
        'listeners = ( { events = "ran"; job = "hook"; }, { name = "other"; events = "r*"; job = "hook"; } );'
    fill "$EVENTS" $SLOT look
    while [ $killed -lt $KILLS ] && [ $n -lt $((KILLS * 3)) ] && ! nothing_pending; do
        n=$((n + 1))
        start engine "$P" --quiet run
        RUNS=$(runs_of_jobs)
        # each second one is killed at work, however slowly it came to that
        [ $((n % 2)) = 0 ] || wait_until 10 has_run_more_or_is_over
        sleep "$(printf '0.%03d' $((RANDOM % 400)))"
        alive engine && killed=$((killed + 1))
        kill -KILL "$(pid_of engine)" 2>/dev/null
        join engine
    done
    at_least "$STORE_NAME: engines that were killed at work" $killed 3
    ok "$STORE_NAME: runs bring it to an end" wait_until 120 run_once
    is "$STORE_NAME: each check has emitted one event" "$(events_of ran)" "$EVENTS|$EVENTS"
    is "$STORE_NAME: each event was delivered to each listener once" \
        "$(q "SELECT count(*), count(DISTINCT entity_key), count(DISTINCT substr(entity_key, 1, 5))
              FROM {future_job_history} WHERE entity_name = 'prescient.event' AND outcome = 'done'")" \
        "$((2 * EVENTS))|$((2 * EVENTS))|2"
    is "$STORE_NAME: no delivery is without its event" \
        "$(q "SELECT count(*) FROM {future_job_history} h
              WHERE entity_name = 'prescient.event' AND NOT EXISTS (
                  SELECT 1 FROM {event} e
                   WHERE h.entity_key IN ('hook/' || replace(CAST(e.origin AS text), '-', ''),
                                          'other/' || replace(CAST(e.origin AS text), '-', '')))")" 0
    is "$STORE_NAME: each was received" "$(whole | cut -d' ' -f1 | sort -u | wc -l)" $((2 * EVENTS))
    is "$STORE_NAME: under one key each" \
        "$(whole | cut -d' ' -f1,2 | sort -u | wc -l) $(whole | cut -d' ' -f2 | sort -u | wc -l)" \
        "$((2 * EVENTS)) $((2 * EVENTS))"
    local again=$(($(wc -l <heard) - 2 * EVENTS)) each=$((2 * 2000 + 2))
    echo "# $STORE_NAME: $killed kills, $again deliveries more than events"
    at_most "$STORE_NAME: what is received twice was under way at a kill" $again $((killed * each))
}
runs_of_jobs() { cat emitted heard 2>/dev/null | wc -l; }
has_run_more_or_is_over() { [ "$(runs_of_jobs)" -gt "$RUNS" ] || ! alive engine; }
whole() { awk 'NF == 4 && length($2) == 32' heard; }
run_once() { runs; nothing_pending; }

PARTS="by_command by_webhook failures replayed looked_at sent_again killed"
everything() { at_once ${ONLY:-$PARTS}; }
on_each_store everything
