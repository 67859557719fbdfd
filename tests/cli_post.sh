#!/usr/bin/env bash
# cli_post.sh - POST /v1/checks: what is filed, what a repeat is answered, what is refused and how,
# and what is left when processes are killed in the middle.
# about 20 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"

# said COLUMN...: members of the last answer
said() { json "$(printf 'j.get("%s"), ' "$@")" <body; }
# where something is at fault
pointers() { json '[e["pointer"] for e in j["errors"]]' <body; }
of_check() { q "SELECT count(*) FROM {future_job} WHERE entity_key = '$1'"; }
LOOKS='jobs = { look = { plugin = "noop"; }; remind = { plugin = "noop"; }; };'

files() {
    local s=$STORE_NAME first
    a_clean_store
    settings "$LOOKS"
    serve files.$s
    is "$s: a check is filed" "$(post '{"entity": "orders", "key": "a/%/ü", "job": "look", "in": "3h"}')" 201
    is "$s: as new" "$(said outcome)" "('new',)"
    is "$s: once" "$(of_check 'a/%/ü')" 1
    first=$(cat body)
    is "$s: again it is kept" "$(post '{"entity": "orders", "key": "a/%/ü", "job": "look", "in": "5h"}')" 200
    is "$s: with the same id" "$(said id outcome)" "($(json 'j["id"]' <<<"$first"), 'kept')"
    is "$s: or replaced" \
        "$(post '{"entity":"orders","key":"a/%/ü","job":"look","in":"5h","on_conflict":"replace"}')" 200
    is "$s: which is said" "$(said outcome)" "('replaced',)"
    is "$s: what it is to be is read as the command line has it" "$(post '{"entity": "orders", "key": 7,
        "job": "look", "check_at": "2099-03-01 13:14+02:00", "priority": -3, "payload": {"n": [1, null]},
        "tenant": "acme", "concurrency_key": "k"}')" 201
    is "$s: its slot is told" "$(said check_at)" "('2099-03-01T11:15:00Z',)"
    is "$s: and all else is there" "$("$P" list --json orders 7 | json \
        '[(c["priority"], c["tenant"], c["concurrency_key"], c["payload"]) for c in j]')" \
        "[(-3, 'acme', 'k', {'n': [1, None]})]"
    is "$s: of a message, only its uniqid is needed" "$(post '{"job":"look","in":"1h","uniqid":"m/1"}')" 201
    is "$s: it is the row" "$(q "SELECT entity_name FROM {future_job} WHERE entity_key = 'm/1'")" message
    ends files.$s
}

repeats() {
    local s=$STORE_NAME first again
    local body='{"entity": "orders", "key": "9", "job": "look", "check_at": "2020-01-01", "uniqid": "u/9 %"}'
    a_clean_store
    settings "$LOOKS"
    serve repeats.$s
    is "$s: nothing is known of it" "$(get "http://localhost/v1/requests?uniqid=u/9+%25")" 404
    is "$s: a request with a uniqid" "$(post "$body")" 201
    first=$(cat body)
    is "$s: was taken" "$(get "http://localhost/v1/requests?uniqid=u/9+%25"; said uniqid outcome)" \
        "200('u/9 %', 'new')"
    is "$s: its repeat has the same status" "$(post "$body")" 201
    is "$s: and the same bytes" "$(cat body)" "$first"
    is "$s: with its members in another order, too" "$(post '{"uniqid": "u/9 %", "job": "look", "key": "9",
        "check_at":"2020-01-01","entity":"orders"}'; cat body)" "201$first"
    is "$s: and its uniqid in the head" \
        "$(post "${body/, \"uniqid\"*/\}}" -H 'Idempotency-Key: u/9 %'; cat body)" "201$first"
    ok "$s: the check is run" "$P" sweep --quiet --now +1h
    is "$s: it is over" "$(of_check 9)" 0
    ends repeats.$s
    serve repeats.$s
    is "$s: that changes no answer, nor does another server" "$(post "$body"; cat body)" "201$first"
    is "$s: no check is filed by it" "$(of_check 9)" 0
    is "$s: something else under that uniqid is refused" "$(post "${body/2020/2021}"; pointers)" \
        "422['/uniqid']"
    is "$s: two uniqids are refused" "$(post "$body" -H 'Idempotency-Key: other')" 400
    is "$s: without one a repeat is another request" "$(post "${body/, \"uniqid\"*/\}}"; said outcome)" \
        "201('new',)"
    ends repeats.$s
    settings 'jobs = { other = { plugin = "noop"; }; };'
    serve repeats.$s
    is "$s: and is answered as before where nobody has its job" "$(post "$body"; cat body)" "201$first"
    is "$s: what was never asked for is not" "$(post "${body/u\/9/new}")" 422
    is "$s: two uniqids are no request, whatever the job" \
        "$(post "$body" -H 'Idempotency-Key: other'; said status)" "400(400,)"
    ends repeats.$s
}

# On PostgreSQL: what a call looks at does not grow with what waits.
looks_at_its_own() {
    local s=$STORE_NAME before after
    [ "$s" = postgresql ] || return 0
    a_clean_store
    settings "$LOOKS"
    looked_at() {
        q "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM prescient.post_checks(
            ARRAY['$1'], ARRAY['c'], ARRAY['o'], ARRAY['1'], ARRAY['look'], ARRAY[4000000500], ARRAY[0],
            ARRAY[0], ARRAY[NULL], ARRAY['keep'], ARRAY[0], ARRAY[NULL], ARRAY[NULL], 60)" |
            sed -n 's/.*"Shared Hit Blocks": \([0-9]*\).*/\1/p' | head -n 1
    }
    looked_at a >/dev/null
    looked_at b >/dev/null
    before=$(looked_at c)
    q "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
                                         next_check_at)
        SELECT prescient.bucket_of('o', '1'), 'p', i::text, 'look', to_timestamp(4000000500),
               to_timestamp(4000000500) FROM generate_series(1, 100000) i" >/dev/null
    looked_at d >/dev/null
    after=$(looked_at e)
    at_most "$s: blocks that a call looks at, beside 100,000 in its bucket (before: $before)" "$after" \
        $((before + 150))
}

refuses() {
    local s=$STORE_NAME
    a_clean_store
    settings "$LOOKS"
    serve refuses.$s
    is "$s: what is no JSON" "$(post '{"job": ')" 400
    has "$s: is told where" "$(said detail)" "line 1, column"
    is "$s: a number that is too large" \
        "$(post '{"job": "look", "payload": 12345678901234567890}')" 400
    has "$s: is told so" "$(cat body)" \
        "the body has a number that is too large: whole ones have up to 64 bits"
    is "$s: a member twice" "$(post '{"job": "look", "job": "look"}')" 400
    is "$s: another kind of body" \
        "$(get -H 'Content-Type: text/plain' -d '{}' http://localhost/v1/checks)" 415
    is "$s: a body that is packed" "$(post '{}' -H 'Content-Encoding: gzip')" 415
    is "$s: each fault is named with its place" "$(post '{"entity": "", "key": [], "jib": 1, "job": "lok",
        "in": "soon", "on_conflict": "never", "priority": 1e99, "tenant": 5}'; pointers)" \
        "422['/entity', '/key', '/jib', '/in', '/on_conflict', '/priority', '/tenant', '/job']"
    has "$s: with the job that was meant" "$(json 'j["errors"][-1]["detail"]' <body)" "did you mean 'look'?"
    is "$s: names that are too long together" "$(post "$(python3 -c 'import json; print(json.dumps(
        [{"job": "look", "in": 1, "entity": "e", "key": 1}, {"job": "look" * 250, "in": 1,
          "entity": "e" * 1000, "key": "k" * 1024}]))')"; pointers)" "422['/1/key', '/1/job']"
    is "$s: nesting without end" "$(post "$(printf '[%.0s' {1..10000})")" 400
    is "$s: a body without end" "$(head -c 9000000 /dev/zero | tr '\0' ' ' | get -T - -X POST \
        -H 'Content-Type: application/json' http://localhost/v1/checks)" 413
    is "$s: what would take 600 MB of memory" "$(python3 -c 'print("[" + "{}," * 2700000 + "1]")' |
        get -T - -X POST -H 'Content-Type: application/json' http://localhost/v1/checks)" 413
    has "$s: is not parsed" "$(said detail)" "too many values"
    is "$s: what is no UTF-8" "$(post $'{"job": "\xff"}')" 400
    is "$s: a zero byte" "$(post '{"entity": "a\u0000b", "key": "1", "job": "look", "in": 1}')" 400
    is "$s: faults without end" "$(post "[$(printf '{"m%d":1},' {1..900})5]")" 422
    is "$s: are not told to the end" "$(json 'len(j["errors"]) < 110' <body)" True
    has "$s: a row by hand, too" "$("$P" enqueue "$(printf 'e%.0s' {1..1000})" "$(printf 'k%.0s' {1..1000})" \
        "$(printf 'j%.0s' {1..601})" +1h 2>&1)" "have 2601 bytes together, expected at most 2600"
    is "$s: none of it was filed" "$(pending)" 0
    is "$s: a job that only engines have is unknown" "$(post '{"job": "brew", "in": 1, "uniqid": "b"}')" 422
    mkdir other.$s
    (cd other.$s && settings 'jobs = { brew = { plugin = "noop"; }; };' && "$P" run --quiet)
    ok "$s: until one has noted it, and no uniqid was used up" wait_until 20 is_taken b
    ends refuses.$s
}
is_taken() { [ "$(post "{\"job\": \"brew\", \"in\": 1, \"uniqid\": \"$1\"}")" = 201 ]; }

arrays() {
    local s=$STORE_NAME all first
    a_clean_store
    settings "$LOOKS"
    serve arrays.$s
    all='[{"job": "look", "in": 1, "uniqid": "x"}, {"job": "look", "in": 1, "uniqid": "x"},
          {"job": "remind", "entity": "e", "key": 1, "in": 1, "uniqid": "y"}]'
    is "$s: an array is filed" "$(post "$all"; json '[r["outcome"] for r in j]' <body)" \
        "200['new', 'new', 'new']"
    first=$(cat body)
    is "$s: each uniqid once" "$(pending)" 2
    is "$s: its repeat has the same bytes" "$(post "$all"; cat body)" "200$first"
    is "$s: with one that is wrong none is" "$(post '[{"job": "look", "in": 1, "uniqid": "z"},
        {"job": "look"}, 5]'; pointers)" "422['/1/entity', '/1/key', '/1/check_at', '/2']"
    is "$s: with some that are others' none is" "$(post '[{"job": "look", "in": 1, "uniqid": "z"},
        {"job": "look", "in": 2, "uniqid": "x"}, {"job": "look", "in": 2, "uniqid": "y"}]'; pointers)" \
        "422['/1/uniqid', '/2/uniqid']"
    is "$s: and no uniqid is used up" "$(get 'http://localhost/v1/requests?uniqid=z')" 404
    is "$s: an empty one" "$(post '[]')" 422
    is "$s: one of 1,001" "$(post "[$(printf '{"job":"look","in":1,"uniqid":"n%d"},' {1..1000})5]")" 422
    is "$s: one of 1,000" "$(post "[$(printf '{"job":"look","in":1,"uniqid":"n%d"},' {1..999})
        {\"job\":\"look\",\"in\":1,\"uniqid\":\"n0\"}]")" 200
    is "$s: all of it" "$(pending)" 1002
    ends arrays.$s
}

# sends SERVER: the array, in the background; its answer is in SERVER.body, its status in
# sent.SERVER.out
sends() {
    start "sent.$1" curl -s --max-time $((50 * PATIENCE)) --unix-socket "$1.sock" -o "$1.body" \
        -w '%{http_code}' -H 'Content-Type: application/json' \
        --data-binary @array http://localhost/v1/checks
}
# Sessions that wait for a lock, and those of them that began after the moment.
waiting_for_locks() {
    q "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          AND xact_start > '$1'"
}
both_wait() { [ "$(waiting_for_locks "$1")" = 2 ]; }
# One and the same array, sent to two servers at once, is filed once, and both have the same answer.
# On PostgreSQL also where each has waited for a lock for so long that it had to begin anew.
beside_another() {
    local s=$STORE_NAME seen i
    a_clean_store
    settings "$LOOKS"
    serve left.$s --set lock_timeout=2s
    serve right.$s --set lock_timeout=2s
    python3 -c 'import json; print(json.dumps([{"job": "look", "in": "3h", "uniqid": f"u{i}"}
        for i in range(200)]))' >array
    if [ "$s" = postgresql ]; then
        mkfifo held
        start holder psql -qX "$PRESCIENT_STORE" -f held
        exec {HELD}>held
        echo "BEGIN; INSERT INTO prescient.request (uniqid, content, kept_until) VALUES ('u7', '', now());" \
            >&$HELD
        wait_until 20 is_held || fail "$s: somebody holds what both need"
    fi
    for i in left right; do sends $i.$s; done
    if [ "$s" = postgresql ]; then
        ok "$s: two servers wait for the same" wait_until 20 both_wait epoch
        seen=$(q "SELECT max(xact_start) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        ok "$s: and have begun anew" wait_until 20 both_wait "$seen"
        echo 'ROLLBACK;' >&$HELD
        exec {HELD}>&-
        join holder
    fi
    for i in left right; do join sent.$i.$s; done
    is "$s: an array that two servers got at once is answered by both" \
        "$(cat sent.left.$s.out sent.right.$s.out)" 200200
    is "$s: with the same answer" "$(cmp left.$s.body right.$s.body && echo same)" same
    is "$s: and once" "$(pending)" 200
    ends left.$s
    ends right.$s
}
is_held() {
    [ "$(q "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
             AND state = 'idle in transaction'")" = 1 ]
}

# Two servers, whose processes are killed again and again; clients repeat what was not answered.
killed() {
    local s=$STORE_NAME i
    a_clean_store
    settings "$LOOKS"
    serve one.$s
    serve two.$s
    start client.$s python3 "$ROOT/tests/http_post.py" one.$s.sock two.$s.sock 4 300
    for i in {1..6}; do
        sleep 0.3
        kill -KILL $(backends_of one.$s | head -n 1) 2>/dev/null
    done
    join client.$s
    is "$s: 1,200 requests, a fifth twice, through servers that are killed" "$(cat client.$s.out)" \
        "1200 answered, repeats as before"
    is "$s: each was filed once" \
        "$(q "SELECT count(*), count(DISTINCT entity_key) FROM {future_job}")" "1200|1200"
    ends one.$s
    ends two.$s
}

on_this_store() { at_once files repeats looks_at_its_own refuses arrays killed; beside_another; }
on_each_store on_this_store
