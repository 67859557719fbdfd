#!/usr/bin/env bash
# t_digest.sh - a listener with a digest hears events together: what matched since the last time is
# one delivery, cut at 48 KiB; its time changes with the settings; it waits while its job is paused;
# and kills of engines at random moments leave each event in exactly one digest.
# not for coverage
# about 40 s
# night: it kills, waits or judges time for minutes
SCHEMA=shop_checks            # the names of entities do not follow that of the schema
. "$(dirname "${BASH_SOURCE[0]}")/listener_lib.sh"

EVENTS=200 KILLS=8           # as many as one digest can show
PAUSE_US=40000
[ -z "${FULL:-}" ] || EVENTS=5000 KILLS=20 PAUSE_US=10000
SEED=${SEED:-$((($(now_ms) ^ $$) & 32767))}
echo "# SEED=$SEED"

# Digests begin, and end, with events that can be read. One cannot while a transaction is open that
# began before it, in any database of the server: the stores of the other functions are there, too.
has_emitted() { runs; [ "$("$P" events --limit 0 --json 2>/dev/null | wc -l)" -ge "$1" ]; }
digests() { cat mail.heard 2>/dev/null | wc -l; }
heard() { [ "$(digests)" -ge "$1" ] || { runs; [ "$(digests)" -ge "$1" ]; }; }
checks() { q "SELECT count(*) FROM {future_job} WHERE entity_name = 'prescient.digest'"; }
MAIL='{ name = "late"; events = "order.*"; except = "order.paid"; job = "mail"; digest = "1s"; }'

together() {
    a_clean_store --slot-length 1s
    settings "workers = 2;" "jobs = { $(hears mail)
        $(emits '{"done":true,"emit":[{"event":"order.late","data":{"n":1.10}},{"event":"order.paid"},
            {"event":"ticket.late"}]}') };" "listeners = ( $MAIL );"
    local settings_before; settings_before=$(cat prescient.cfg)
    sed -i /listeners/d prescient.cfg
    enqueue_in 0 1 look "'history'"
    wait_until 60 has_emitted 3
    echo "$settings_before" >prescient.cfg
    enqueue_in 0 1 look "'before'"
    runs
    is "$STORE_NAME: a run files the check of a digest, once" "$CODE $(checks)" "0 1"
    runs
    is "$STORE_NAME: and only once" "$CODE $(checks)" "0 1"
    ok "$STORE_NAME: its delivery comes" wait_until 60 heard 1
    enqueue_in 0 3 look "'4\"' || n"
    ok "$STORE_NAME: what comes after it is in the next one" wait_until 60 heard_all 4
    is "$STORE_NAME: the document of a digest" \
        "$(heard_of mail '[d[k] for k in ("type", "entity_name", "entity_key", "job", "check_number",
                                  "failure_count")]')" \
        "['digest', 'prescient.digest', 'late', 'mail', 1, 0]"
    is "$STORE_NAME: it begins now, and has what its listener hears" \
        "$(heard_of mail '[d["data"]["count"], d["data"]["left_out"], d["data"]["pruned"],
                   [e["type"] for e in d["data"]["events"]]]')" \
        "[1, 0, False, ['order.late']]"
    is "$STORE_NAME: an event in it is as it would be alone" \
        "$(heard_of mail '[(e[k] if k != "timestamp" else len(e[k])) for e in d["data"]["events"] for k in
                   ("type", "timestamp", "entity_name", "entity_key", "job", "check_number",
                    "failure_count", "first_check_at", "data")]')" \
        "['order.late', 20, 'row', 'before', 'look', 1, None, None, {'n': 1.1}]"
    is "$STORE_NAME: with its data as they were" "$(grep -c '"data":{"n":1.10}' mail.heard)" "$(digests)"
    is "$STORE_NAME: events and digests have keys of their own" "$(all_ids)" "4 4 32"
    is "$STORE_NAME: nothing to tell is no delivery" "$(quiet_digests)" "0 $(digests)"
    is "$STORE_NAME: no event was delivered alone" \
        "$(q "SELECT count(*) FROM {future_job_history} WHERE entity_name = 'prescient.event'
              AND entity_key NOT LIKE 'late/%..%'")" 0
}
heard_all() { [ "$(count_of)" -ge "$1" ] || { runs; [ "$(count_of)" -ge "$1" ]; }; }
# the events that were heard, each digest counted once
count_of() {
    python3 -c 'import json, os
seen = {}
for line in open("mail.heard") if os.path.exists("mail.heard") else []:
    try: d = json.loads(line)
    except ValueError: continue
    seen[d["id"]] = d["data"]["count"]
print(sum(seen.values()))'
}
# events, how many ids they have, and how long all ids are
all_ids() {
    python3 -c 'import json
ids, sizes = [], set()
for d in {json.loads(line)["id"]: json.loads(line) for line in open("mail.heard")}.values():
    sizes.add(len(d["id"]))
    ids += [e["id"] for e in d["data"]["events"]]
sizes |= {len(i) for i in ids}
print(len(ids), len(set(ids)), *sizes)'
}
# after two digests more: deliveries that wait, and those that were heard
quiet_digests() {
    local before; before=$(moved)
    wait_until 60 has_moved_on "$before" || return
    echo "$(q "SELECT count(*) FROM {future_job} WHERE entity_name = 'prescient.event'") $(digests)"
}
moved() { q "SELECT <next_check_at> FROM {future_job} WHERE entity_name = 'prescient.digest'"; }
has_moved_on() { runs; [ "$(moved)" -gt $(($1 + 1)) ]; }

cut_off() {
    a_clean_store --slot-length 1s
    local data; data=$(printf 'x%.0s' $(seq 1000))
    settings "workers = 2;" "jobs = { $(hears mail) $(emits "{\"done\":true,\"emit\":[
        {\"event\":\"order.late\",\"data\":\"$data\"}]}") };" \
        "listeners = ( ${MAIL/1s/cron * * * * *} );"
    runs
    enqueue_in 0 100 look
    wait_until 60 has_emitted 100
    is "$STORE_NAME: a digest waits for its time" "$(digests) $(checks)" "0 1"
    q "UPDATE {future_job} SET next_check_at = $(moment_in 1) WHERE entity_name = 'prescient.digest'"
    ok "$STORE_NAME: a large digest comes" wait_until 60 heard 1
    is "$STORE_NAME: it counts all, and says what is left out" \
        "$(heard_of mail '[d["data"]["count"], d["data"]["left_out"] + len(d["data"]["events"]),
                   len(json.dumps(d["data"], separators=(",", ":"))) <= 48 * 1024,
                   len(json.dumps(d["data"], separators=(",", ":"))) > 46 * 1024]')" "[100, 100, True, True]"
}
moment_in() {
    local at=$(($(date +%s) + $1))
    if [ "$STORE_NAME" = sqlite ]; then echo $at; else echo "to_timestamp($at)"; fi
}

settings_change() {
    a_clean_store --slot-length 1s
    settings "jobs = { $(hears mail) $(hears post) };" "listeners = ( ${MAIL/1s/1d} );"
    runs
    local far; far=$(moved)
    settings "jobs = { $(hears mail) $(hears post) };" "listeners = ( ${MAIL/1s/30s} );"
    runs
    is "$STORE_NAME: a new time is that of the check" \
        "$(($(moved) <= $(date +%s) + 31)) $(checks) $((far > 0))" "1 1 1"
    settings "jobs = { $(hears mail) $(hears post) };" \
        "listeners = ( { name = \"late\"; events = \"*\"; job = \"post\"; digest = \"30s\"; } );"
    runs
    is "$STORE_NAME: another job takes the check over" \
        "$(q "SELECT job_exec FROM {future_job}") $(checks)" "post 1"
    q "UPDATE {future_job} SET next_check_at = $(moment_in 1)"
    settings "jobs = { $(hears mail) $(hears post) };"
    ok "$STORE_NAME: nobody's digest waits, and is told" wait_until 60 nobodys_digest
    is "$STORE_NAME: it is there still" "$(checks)" 1
    "$P" --quiet resolve prescient.digest late >/dev/null
    is "$STORE_NAME: until it is resolved" "$? $(checks)" "0 0"
}
nobodys_digest() { runs; grep -q 'no listener "late" with a digest and the job "post"' run.err; }

paused() {
    a_clean_store --slot-length 1s
    settings "jobs = { $(hears mail) $(emits '{"done":true,"emit":[{"event":"order.late"}]}') };" \
        "listeners = ( $MAIL );"
    runs
    "$P" --quiet pause --job mail >/dev/null
    enqueue_in 0 2 look
    ok "$STORE_NAME: a digest of a paused job waits" wait_until 60 is_put_aside
    wait_until 60 has_emitted 2
    "$P" --quiet resume --job mail >/dev/null
    ok "$STORE_NAME: and comes when the job is resumed" wait_until 60 heard_all 2
    is "$STORE_NAME: as one" "$(digests)" 1
}
is_put_aside() { runs; [ "$(moved)" -gt 221845392000 ] || [ "$(moved)" -gt $(($(date +%s) + 86400)) ]; }

# More than one settle makes, in one slot.
many() {
    a_clean_store --slot-length 1s
    settings "workers = 2;" "jobs = { $(hears mail)
        $(emits '{"done":true,"emit":[{"event":"order.late"}]}') };" \
        "listeners = ( $(for i in $(seq 40); do
            echo "{ name = \"l$i\"; events = \"*\"; job = \"mail\"; digest = \"cron * * * * *\"; },"
        done | sed '$ s/,$//') );"
    runs
    enqueue_in 0 1 look
    wait_until 60 has_emitted 1
    q "UPDATE {future_job} SET next_check_at = $(moment_in 1) WHERE entity_name = 'prescient.digest'"
    ok "$STORE_NAME: forty digests of one slot come" wait_until 60 heard_all 40
    is "$STORE_NAME: each once" "$(sort -u mail.heard | grep -c .) $(digests) $(checks)" "40 40 40"
    is "$STORE_NAME: no settle of them failed" "$(grep -c "cannot settle" run.err)" 0
}

failing() {
    a_clean_store --slot-length 1s
    settings "jobs = { mail = { plugin = \"exec\"; max_failures = 1; backoff = \"1s\"; settings = {
            command = [ \"/bin/false\" ]; }; };
        $(hears alarm) $(emits '{"done":true,"emit":[{"event":"order.late"}]}') };" \
        "listeners = ( $MAIL, { events = \"delivery.failed\"; job = \"alarm\"; } );"
    runs
    enqueue_in 0 1 look
    ok "$STORE_NAME: a digest that fails for good is told" wait_until 60 heard_alarm
    is "$STORE_NAME: with its listener" "$(python3 -c 'import json
d = json.loads(open("alarm.heard").readline())["data"]
print(d["listener"], d["event"], d["entity_name"], d["entity_key"], d["outcome"])')" \
        "late digest prescient.digest late failed"
    local id document
    id=$("$P" --json deliveries --listener late --failed | json 'j[0]["id"]')
    document=$(q "SELECT payload FROM {future_job_history} WHERE entity_name = 'prescient.event'
        AND entity_key LIKE 'late/%' AND payload IS NOT NULL")
    settings "jobs = { $(hears mail) };" "listeners = ( $MAIL );"
    ok "$STORE_NAME: it is sent again" "$P" --quiet deliveries --again "$id"
    ok "$STORE_NAME: and heard" wait_until 20 heard 1
    is "$STORE_NAME: under the same key, with what it had" \
        "$(heard_of mail '[d["id"], d["type"], d["entity_name"], d["entity_key"], d["data"]]')" \
        "$(json "['$id', 'digest', 'prescient.digest', 'late', j]" <<<"$document")"
    fails_with 2 "kept only of one that has failed" "$P" deliveries --again "$id"
}

refused() {
    local bad
    for bad in '1.5s' '0s' 'soon' 'cron 61 * * * *' 'cron' '400d'; do
        settings "jobs = { $(hears mail) };" "listeners = ( ${MAIL/1s/$bad} );"
        "$P" run >refused 2>&1
        is "digest = \"$bad\" is refused" \
            "$? $(grep -c 'prescient.cfg:[0-9]*: digest = "'"${bad//\*/.}" refused)" "78 1"
    done
    settings "jobs = { $(hears mail) };" \
        "listeners = ( ${MAIL/1s/cron 0 8 * * *\"; timezone = \"Europe\/Amsterdm} );"
    "$P" config --check >refused 2>&1
    is "a time zone that nobody knows is refused" "$? $(grep -c 'did you mean.*Amsterdam' refused)" "78 1"
    settings "jobs = { $(hears mail) };" "listeners = ( ${MAIL/1s/15m\"; timezone = \"UTC} );"
    "$P" config --check >refused 2>&1
    is "a time zone without cron is refused" "$? $(grep -c 'timezone belongs to cron' refused)" "78 1"
    settings "jobs = { $(hears mail) };" \
        'listeners = ( { events = "a"; job = "mail"; timezone = "UTC"; } );'
    "$P" config --check >refused 2>&1
    is "a time zone without a digest is refused" "$? $(grep -c 'listener without digest' refused)" "78 1"
}

# ---- kills ----

killed() {
    RANDOM=$SEED
    local n=0 killed=0
    a_clean_store --slot-length 1s
    settings 'lease = "1s"; trust = "500ms"; workers = 2;' "jobs = { $(hears mail)
        look = { plugin = \"journal\";
            settings = { file = \"$PWD/emitted\"; event = \"ran\"; pause_us = $PAUSE_US; }; }; };" \
        'listeners = ( { name = "late"; events = "r*"; job = "mail"; digest = "1s"; } );'
    runs
    enqueue_in 0 "$EVENTS" look
    while [ $killed -lt $KILLS ] && [ $n -lt $((KILLS * 3)) ] && [ "$(count_of)" -lt "$EVENTS" ]; do
        n=$((n + 1))
        if [ $((n % 2)) = 0 ]; then start engine "$P" --quiet run; else start engine "$P" --quiet daemon; fi
        sleep "$(printf '%d.%03d' $((RANDOM % 2)) $((RANDOM % 1000)))"
        alive engine && killed=$((killed + 1))
        kill -KILL "$(pid_of engine)" 2>/dev/null
        join engine
    done
    at_least "$STORE_NAME: engines that were killed" $killed 3
    start engine "$P" --quiet daemon
    ok "$STORE_NAME: a daemon brings it to an end" wait_until 300 all_are_told
    kill "$(pid_of engine)"; join engine
    is "$STORE_NAME: each check has emitted one event" \
        "$(q "SELECT count(*), count(DISTINCT entity_key) FROM {event}")" "$EVENTS|$EVENTS"
    is "$STORE_NAME: each event is in one digest, and none is without an event" "$(all_keys)" \
        "$EVENTS True True"
    is "$STORE_NAME: one check is left, that of the digest" "$(pending) $(checks)" "1 1"
    echo "# $STORE_NAME: $killed kills, $(digests) digests"
}
all_are_told() { [ "$(count_of)" -ge "$EVENTS" ] && [ "$(pending)" = 1 ]; }
# by the documents, each digest once: events; whether those that are shown are distinct, and are all
# where that can be
all_keys() {
    python3 -c 'import json
seen, keys = {}, []
for line in open("mail.heard"):
    try: d = json.loads(line)
    except ValueError: continue
    seen[d["id"]] = d["data"]
for data in seen.values():
    keys += [e["entity_key"] for e in data["events"]]
left_out = sum(data["left_out"] for data in seen.values())
print(len(keys) + left_out, len(keys) == len(set(keys)), left_out == 0 or len(keys) + left_out > 200)'
}

everything() { at_once together cut_off settings_change paused many failing killed; }
on_each_store everything
refused
