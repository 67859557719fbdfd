#!/usr/bin/env bash
# cli_lists.sh - the lists of prescient serve: what they have, that all pages together are each row
# once, also beside engines and writers, and what is refused.
# about 25 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"

noop() { echo "$1 = { plugin = \"noop\"; settings = { answer = \"$2\"; ${3:-} }; };"; }
SETTINGS="log_level = \"error\"; jobs = { $(noop look again) $(noop bill done 'event = "billed";')
    $(noop fails fail_final) };"

list() { "$ROOT/tests/list_all.py" "$SOCK" "/v1/$1" "${@:2}" 2>pages; }
# load LINES...: checks, as lines of CSV on standard input
load() {
    { echo entity_name,entity_key,job_exec,check_at; cat; } >rows.csv
    "$P" --quiet enqueue --from rows.csv >/dev/null 2>load.err ||
        fail "$STORE_NAME: rows are loaded" "$(cat load.err)"
}
# times: how many of the lines come how often: "60 1", sixty of them once
times() { sort | uniq -c | awk '{ print $1 }' | sort -n | uniq -c | xargs; }
asks() { get "http://localhost/v1/$1"; }
items() { asks "$1" >status; json "[$2 for i in j[\"items\"]]" <body; }
detail() { json 'j["detail"]' <body; }

# 60 checks: two jobs, three slots, some of a tenant; nine are over, six have run and wait again
rows() {
    local i
    for i in $(seq 1 30); do
        echo "orders,$i,look,+$((i % 3 + 3))h"
        echo "carts,$i,bill,+$((i % 3 + 3))h"
    done | load
    "$P" --quiet enqueue orders 7 look +4h --payload '{"n": 7}' --conflict replace >/dev/null
}

what_waits() {
    local s=$STORE_NAME
    is "$s: all pages are each check once" \
        "$(list 'checks?limit=7' entity key | times)" "60 1"
    is "$s: as many as were asked for on each" "$(cat pages)" "9 pages, 0 cut"
    is "$s: in the order of their slots" "$(list 'checks?limit=11' check_at | sort -c && echo sorted)" sorted
    is "$s: of one job" "$(list 'checks?job=bill&limit=7' job | sort | uniq -c | xargs)" "30 bill"
    is "$s: of one row" "$(items 'checks?entity=orders&key=7' '(i["key"], i["job"], i["state"])')" \
        "[('7', 'look', 'waiting')]"
    is "$s: the names are those of a POST" \
        "$(items 'checks?entity=orders&key=7' '" ".join(sorted(i))' | tr -d "[]'")" \
        "again_at check_at check_count concurrency_key entity failure_count first_check_at id job key \
priority put_off_at state tenant"
    is "$s: a payload only who asks for it" \
        "$(items 'checks?entity=orders&key=7&payload=1' 'i["payload"]')" "[{'n': 7}]"
    is "$s: in a span of time" "$(list 'checks?from=%2B200m&before=%2B260m&limit=9' key | wc -l)" 20
}

what_is_over() {
    local s=$STORE_NAME
    "$P" --quiet resolve carts 1 >/dev/null; "$P" --quiet resolve carts 2 >/dev/null
    "$P" --quiet --now -2h enqueue orders x fails +15m >/dev/null
    "$P" --quiet --now -2h enqueue orders y look +15m >/dev/null
    "$P" --quiet --now -2h enqueue orders z bill +15m --tenant acme >/dev/null
    "$P" --quiet sweep 2>sweep.err
    is "$s: the history has each once" "$(list 'history?limit=1' entity key outcome | sort | xargs)" \
        "carts 1 resolved carts 2 resolved orders x failed orders z done"
    is "$s: a page each" "$(cat pages)" "4 pages, 0 cut"
    is "$s: those that ended badly" "$(list 'history?outcome=amiss' key)" x
    is "$s: those of a tenant" "$(list 'history?tenant=acme' key job)" "z bill"
    is "$s: runs after which a check waits again" "$(list 'runs?limit=1' key job outcome)" "y look again"
    is "$s: of another job there are none" "$(list 'runs?job=bill' key)" ""
    is "$s: those that ended so" "$(list 'runs?outcome=again' key)$(list 'runs?outcome=failed' key)" y
    is "$s: a run ends in no other way" "$(get http://localhost/v1/runs?outcome=amiss)" 400
    is "$s: slots have what waits in each" \
        "$(list 'slots?from=now&limit=2' checks | awk '{ n += $1 } END { print n }')" 89
}

of_parts() {
    local s=$STORE_NAME
    is "$s: the checks of a slot by job" "$(items 'slots?from=%2B2h30m&before=%2B3h30m&by=job' \
        '[(p["name"], p["checks"]) for p in i["parts"]]')" "[[('bill', 10), ('look', 10)]]"
    is "$s: and by tenant, which is the entity where nobody said" \
        "$(items 'slots?from=%2B2h30m&before=%2B3h30m&by=tenant' '[(p["name"], p["checks"])
            for p in i["parts"]]')" "[[('carts', 10), ('orders', 10)]]"
    is "$s: not asked for, they are not told" "$(items 'slots?from=now&limit=1' 'i["parts"]')" "[None]"
    seq 1 30 | sed 's/.*/many,&,look,+12h,t&/' >many.csv
    sed -i '1i entity_name,entity_key,job_exec,check_at,tenant' many.csv
    "$P" --quiet enqueue --from many.csv >/dev/null
    is "$s: of many parts the largest are named" "$(items 'slots?from=%2B11h&before=%2B13h&by=tenant' \
        '(len(i["parts"]), i["parts"][0], sum(p["checks"] for p in i["parts"]))')" \
        "[(21, {'name': None, 'checks': 10}, 30)]"
}

# What no index leads to is sought among so many checks, and the next page goes on there.
what_is_sought_long() {
    local s=$STORE_NAME
    if [ "$s" = postgresql ]; then
        q "SELECT count(prescient.enqueue('bulk', n::text, 'look', now() + interval '20 hours', NULL))
             FROM generate_series(1, 45000) n" >/dev/null
    else
        seq 1 45000 | sed 's/.*/bulk,&,look,+20h/' | load
    fi
    "$P" --quiet enqueue orders late bill +30h >/dev/null
    is "$s: one behind 45,000 others is found" "$(list 'checks?entity=orders&key=late' key)" late
    is "$s: also where it is sought among all" "$(list 'checks?job=bill&from=%2B10h' key)" late
    is "$s: in steps that are bounded" "$(cat pages)" "3 pages, 2 cut"
    is "$s: all of them are there" "$(list 'checks?entity=bulk&limit=1000' key | sort -u | wc -l)" 45000
    is "$s: payloads are on pages of a hundred at most, and all of them come" \
        "$(list 'checks?entity=bulk&limit=1000&payload=1&from=%2B19h&before=%2B21h' key | sort -u | wc -l
           cat pages)" $'45000\n450 pages, 0 cut'
    is "$s: each slot comes once, also behind one of many checks" \
        "$(list 'slots?from=now&limit=1000' slot | sort | uniq -d | wc -l)" 0
    is "$s: with all that it has" "$(list 'slots?from=now&limit=1000' checks | awk '{ n += $1 } END {
        print (n > 30000 && n < 60000) }')" 1
    is "$s: a count in a slot is bounded, too" \
        "$(items 'slots?from=%2B19h&before=%2B22h' '(30000 < i["checks"] < 60000, i["state"])')" \
        "[(True, 'pending')]"
}

# 30,000 that have failed, three of them in another way: the newest, one in the middle, the oldest.
failures() {
    local note="CASE WHEN n IN (1, 15000, 30000) THEN 'order ' || n || ': out of stock'
                     ELSE 'order ' || n || ': timed out' END"
    if [ "$STORE_NAME" = postgresql ]; then
        q "INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at,
                entity_name, entity_key, job_exec, outcome, check_count, failure_count, run_count,
                total_run_us, note)
            SELECT now() - n * interval '1 us', now() - n * interval '1 us', now(), now(), 'sought', n,
                   'look', 'failed', 0, 1, 1, 0, $note FROM generate_series(1, 30000) n" >/dev/null
    else
        q "INSERT INTO prescient_future_job_history (check_id, ended_at_us, entity_name, entity_key, job_exec,
                outcome, check_count, failure_count, run_count, slot_at, first_check_at, total_run_us,
                archived_at_us, note)
            WITH RECURSIVE s (n) AS (SELECT 30000 UNION ALL SELECT n - 1 FROM s WHERE n > 1)
            SELECT n, t - n, 'sought', n, 'look', 'failed', 0, 1, 1, 0, 0, 0, t - n, $note
              FROM s, (SELECT unixepoch() * 1000000 AS t)" >/dev/null
    fi
}
# Those of one error are looked for among 20,000 a question, whatever its limit, and it is said how
# far: perhaps not so many, as there is a time for it.
is_full_page() {
    [ "$(asks "$1"; json 'len(j["items"]), j["next"] is not None, "scanned_to" in j' <body)" = \
        "200(1, True, False)" ]
}
of_one_error() {
    local s=$STORE_NAME of='history?entity=sought&error=order+%23:+out+of+stock' n
    failures
    is "$s: those of one error are found" "$(list "$of&limit=100" key | xargs)" "1 15000 30000"
    n=$(cut -d ' ' -f 1 pages)
    at_most "$s: in few questions" "$n" 30
    is "$s: each but the last says how far it has looked" "$(cat pages)" "$n pages, $((n - 1)) cut"
    ok "$s: a page that is full is no shorter" wait_until 20 is_full_page "$of&limit=1"
    is "$s: and all pages have each once" "$(list "$of&limit=1" key | xargs)" "1 15000 30000"
    is "$s: beside other words" "$(list "$of&key=15000&job=look&outcome=failed&from=-1h" key)" 15000
    is "$s: with payloads, too" "$(list "$of&key=30000&payload=1" key payload)" "30000 None"
    is "$s: another error has none" "$(list 'history?key=7&entity=sought&error=out+of+stock' key)" ""
    is "$s: without a note it is how it ended" "$(list 'runs?error=again&entity=orders' key job outcome)" \
        "y look again"
}

# A check that stays is seen once, whatever else is filed, ended and moved meanwhile.
beside_writers() {
    local s=$STORE_NAME
    while [ ! -e writers.end ]; do
        seq 1 300 | sed 's/.*/busy,&,bill,+15h/' | load
        "$P" --quiet --now +15h30m sweep 2>/dev/null
    done &
    local writer=$!
    is "$s: beside writers each that stays is listed once" \
        "$(list 'checks?limit=500' entity key | grep '^bulk ' | times)" "45000 1"
    touch writers.end
    wait "$writer"
    rm writers.end
}

# One row, one slot, the jobs, the engines, events.
what_belongs_together() {
    local s=$STORE_NAME slot first next
    is "$s: a row has its whole life" "$(asks 'check?entity=orders&key=z'; json '[len(j[m]) for m in
        ("checks", "runs", "history", "events")], j["events"][0]["event"]' <body)" \
        "200([0, 0, 1, 1], 'billed')"
    is "$s: of a row that waits" "$(asks 'check?entity=orders&key=y'; json 'j["checks"][0]["job"],
        j["runs"][0]["outcome"], j["history"]' <body)" "200('look', 'again', [])"
    is "$s: a row needs a key" "$(asks 'check?entity=orders'; detail)" "400the query lacks key"
    slot=$(items 'history?entity=orders&key=z' 'i["slot"]' | tr -d "[]'")
    is "$s: a slot that is over has its passes" "$(asks "slot?at=$slot"; json 'j["slot"]["run"],
        len(j["passes"]) > 1, j["state"]["state"] in ("relook", "closed")' <body)" "200(3, True, True)"
    is "$s: one that nobody has filed under has nothing" "$(asks 'slot?at=2099-01-01'; json 'j["slot"],
        j["passes"]' <body)" "200(None, [])"
    is "$s: jobs have their runs" "$(items jobs '(i["job"], i["runs"], i["is_in_settings"])' |
        tr -d "[](),'" | xargs -n 3 | sort | xargs)" "bill 1 True fails 1 True look 1 True"
    is "$s: one job by the hour, and by tenant" "$(asks 'job?name=bill'; json 'j["runs"]["runs"],
        [h["runs"] for h in j["hours"]], [t["name"] for t in j["tenants"]], j["trouble"]' <body)" \
        "200(1, [1], ['acme'], [])"
    is "$s: a job that fails has its trouble" "$(asks 'job?name=fails'; json '[(h["name"][13:], h["failed"])
        for h in j["hours"]], [t["key"] for t in j["trouble"]]' <body)" "200([(':00:00Z', 1)], ['x'])"
    is "$s: engines that noted themselves" "$(items engines 'i["command"]')" "['run']"
    is "$s: the state of all" "$(asks status; json 'j["store"]["slot_length_s"], len(j["engines"]),
        j["running"], j["pauses"]' <body)" "200(900, 1, [], [])"
    is "$s: events come in order" "$(items 'events' '(i["event"], i["key"])')" "[('billed', 'z')]"
    first=$(json 'j["items"][0]["cursor"]' <body); next=$(json 'j["next"]' <body)
    is "$s: next is the cursor of the last" "$next" "$first"
    is "$s: and nothing is behind it, as yet" \
        "$(asks "events?after=$next"; json 'j["items"], j["next"]' <body)" "200([], '$next')"
    is "$s: a cursor of another history is told" \
        "$(asks 'events?after=99999999999-1-1'; json 'j["type"]' <body)" "410/problems/other-history"
    is "$s: and what is none" "$(asks 'events?after=yesterday')" 400
}

# Who may read the views only gets the same, but for payloads.
as_a_reader() {
    [ "$STORE_NAME" = postgresql ] || return 0
    local as_reader path n=0
    psql -qX "$PRESCIENT_STORE" -c "CREATE ROLE lists_$$ LOGIN IN ROLE prescient_reader" >/dev/null
    as_reader="$PRESCIENT_STORE$([[ $PRESCIENT_STORE == *\?* ]] && echo '&' || echo '?')user=lists_$$"
    for path in 'checks?limit=7' 'history?limit=1' runs 'slots?from=now' 'check?entity=orders&key=z'; do
        n=$((n + 1))
        asks "$path" >/dev/null
        cp body "owner.$n"
    done
    ends lists.postgresql
    PRESCIENT_STORE=$as_reader serve reads.postgresql
    n=0
    for path in 'checks?limit=7' 'history?limit=1' runs 'slots?from=now' 'check?entity=orders&key=z'; do
        n=$((n + 1))
        is "postgresql: a reader is told the same: $path" "$(asks "$path"; cat body)" "200$(cat "owner.$n")"
    done
    is "postgresql: its pages are each check once" \
        "$(list 'checks?limit=7&entity=carts' key | times)" "28 1"
    is "postgresql: and payloads are refused" "$(asks 'checks?payload=1')" 403
    ends reads.postgresql
    psql -qX "$PRESCIENT_STORE" -c "DROP ROLE lists_$$" >/dev/null
    serve lists.postgresql
}

what_is_refused() {
    local s=$STORE_NAME next
    asks 'checks?limit=2' >/dev/null
    next=$(json 'j["next"]' <body)
    is "$s: a cursor of another list is refused" "$(asks "history?after=$next"; detail)" \
        "400after: this is no cursor of /v1/history; send what the page before gave as next"
    is "$s: and one that was cut" "$(asks "checks?after=${next%??}")" 400
    is "$s: and what is none" "$(asks 'checks?after=zz')" 400
    is "$s: limit has bounds" "$(asks 'checks?limit=1001'; detail)" \
        "400limit: found '1001', expected a number from 1 to 1000"
    is "$s: and is a number" "$(asks 'checks?limit=')$(asks 'checks?limit=x')" 400400
    is "$s: of digits alone" "$(asks 'checks?limit=%205')$(asks 'checks?limit=%2B5')" 400400
    is "$s: a state is one of a few" "$(asks 'checks?state=failed'; detail)" \
        "400state: found 'failed', expected one of waiting, due, held_back, retrying, paused"
    is "$s: a time is a time" "$(asks 'checks?from=noon'; detail | cut -c1-6)" "400from: "
    is "$s: a name that is not known" "$(asks 'runs?payload=1'; detail | cut -c1-19)" "400there is no payload"
    is "$s: HEAD has no body" "$(get --head "http://localhost/v1/checks"; tail -n 1 body | tr -d '\r')" 200
}

lists() {
    a_clean_store
    settings "$SETTINGS"
    serve lists.$STORE_NAME
    rows
    what_waits
    of_parts
    what_is_over
    what_belongs_together
    as_a_reader
    what_is_sought_long
    of_one_error
    beside_writers
    what_is_refused
    ends lists.$STORE_NAME
}

on_each_store lists
