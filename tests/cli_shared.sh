#!/usr/bin/env bash
# cli_shared.sh - answers of prescient serve that several readers get: who says max-age gets one
# that others have got lately, or that is under way; who does not, a new one. ETag, 304, Age.
# about 15 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"

# asks [option of curl...]: prints the status; head and body are in these files
asks() { : >body; get -D head "$@" "$URL"; }
older() { asks -H 'Cache-Control: max-age=20' "$@"; }
keys() { json '[i["key"] for i in j["items"]]' <body; }
header() { tr -d '\r' <head | sed -n "s/^$1: //p"; }
change() { get -H 'Content-Type: application/json' --data-binary "$2" "http://localhost/v1/$1"; }
# all that is kept is forgotten
forgets() { change pause '{"tenant": "nobody"}' >/dev/null; }
files() { "$P" --quiet enqueue orders "$1" look 2099-03-01T13:15:00Z >/dev/null; }

what_is_kept() {
    local s=$STORE_NAME tag
    files 1
    is "$s: a list" "$(older; keys)" "200['1']"
    is "$s: has its age" "$(header Age | tr 0-9 n | tr -s n)" n
    tag=$(header ETag)
    has "$s: and a tag of its bytes" "$tag" "$(sha256sum body | cut -c 1-32)"
    is "$s: who has it gets no bytes" "$(asks -H "If-None-Match: $tag")$(wc -c <body)" 3040
    is "$s: but its tag" "$(header ETag)" "$tag"
    files 2
    is "$s: who takes an older one gets it" "$(older; keys)" "200['1']"
    is "$s: also by its tag" "$(older -H "If-None-Match: $tag")" 304
    is "$s: it is no newer for another word" "$(asks -H 'Cache-Control: no-transform, max-age=9'; keys)" \
        "200['1']"
    is "$s: who says nothing gets a new one" "$(asks; keys)" "200['1', '2']"
    is "$s: who has an old one, too" "$(asks -H "If-None-Match: $tag"; keys)" "200['1', '2']"
    is "$s: and who takes none that is older" "$(asks -H 'Cache-Control: max-age=0'; keys)" "200['1', '2']"
    is "$s: the others still have theirs" "$(older; keys)" "200['1']"
    is "$s: so they have what is filed, too, until it is as old as they say" \
        "$(post "$(a_check 3)"; older; keys)" "201200['1']"
    is "$s: what was refused ends nothing" "$(change cancel '{"keys": 1}'; older; keys)" "422200['1']"
    is "$s: nor does what is only tried" "$(change cancel '{"select": {"entity": "orders"}, "dry_run": true}'
        older; keys)" "200200['1']"
    is "$s: a change through this server does" "$(change cancel '{"entity": "orders", "key": 2}'
        older; keys)" "200200['1', '3']"
    is "$s: a problem has no tag" "$(get -D head "$URL&none=1" -H 'Cache-Control: max-age=20'
        header ETag)" 400
}

a_check() {
    echo '{"entity": "orders", "key": "'"$1"'", "job": "look", "check_at": "2099-03-01T13:15:00Z"}'
}
# Fifty readers, and a check is filed before each: each answer that the store is asked for has one
# more. One is as old as they take it, twenty seconds.
while_checks_come() {
    local s=$STORE_NAME i begun
    forgets
    begun=$(now_ms)
    for i in {1..50}; do
        post "$(a_check "s$i")" >/dev/null
        older >/dev/null
        md5sum <body
    done >answers
    at_most "$s: while checks are filed, fifty readers ask the store as one does" \
        "$(sort -u answers | wc -l)" $((1 + ($(now_ms) - begun) / 20000))
    is "$s: who says nothing has all of them" "$(asks; json 'len(j["items"])' <body)" 20052
    change cancel '{"select": {"entity": "orders"}}' >/dev/null
}

# Seventy readers of one large answer, who do not read it: it is there once.
in_memory() {
    local s=$STORE_NAME before
    [ -z "${SANITIZE:-}" ] || return 0
    { echo entity_name,entity_key,job_exec,check_at
        seq 1 1000 | sed "s/.*/large,&-$(printf 'x%.0s' {1..240}),look,2099-03-01T13:15:00Z/"; } >rows.csv
    "$P" --quiet enqueue --from rows.csv >/dev/null
    is "$s: a large answer" "$(get -H 'Cache-Control: max-age=30' \
        'http://localhost/v1/checks?entity=large&limit=1000')" 200
    before=$(kib)
    start readers.$s python3 "$ROOT/tests/http_ask.py" "$SOCK" do_not_read
    wait_until 60 grep -q asked readers.$s.out || fail "$s: seventy have asked"
    at_most "$s: of $(($(wc -c <body) / 1024)) KiB takes less for seventy readers than for ten (KiB)" \
        $(($(kib) - before)) $(($(wc -c <body) * 10 / 1024))
    kill "$(pid_of readers.$s)"
    join readers.$s
    change cancel '{"select": {"entity": "large"}}' >/dev/null
}
kib() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$(pid_of shared)/status"; }

# n, n1, n2: how many more there are than before
number() { local n=$(($(json 'len(j["items"])' <body) - BEFORE)); echo "n${n/#0/}"; }
# Readers of another role, and payloads, have answers of their own.
of_equal_rights() {
    local s=$STORE_NAME eve bob
    BEFORE=$(q "SELECT count(*) + 1 FROM {future_job}")
    eve=$("$P" --quiet token new eve --role read)
    bob=$("$P" --quiet token new bob --role operate)
    wait_until 20 asks_as_nobody || fail "$s: a token is needed" "$(cat body)"
    wait_until 20 knows "$bob" || fail "$s: the token is known" "$(cat body)"
    files 4
    is "$s: one of a reader" "$(older -H "Authorization: Bearer $eve"; number)" 200n
    files 5
    is "$s: is the reader's" "$(older -H "Authorization: Bearer $eve"; number)" 200n
    is "$s: and of nobody with other rights" "$(older -H "Authorization: Bearer $bob"; number)" 200n1
    is "$s: nor of who has none" "$(older)" 401
    URL+='&payload=1'
    is "$s: payloads" "$(older -H "Authorization: Bearer $bob"; number)" 200n1
    files 6
    is "$s: are asked for by each" "$(older -H "Authorization: Bearer $bob"; number)" 200n2
    is "$s: who may have them" "$(older -H "Authorization: Bearer $eve")" 403
}
asks_as_nobody() { [ "$(asks)" = 401 ]; }
knows() { [ "$(asks -H "Authorization: Bearer $1")" = 200 ]; }

# readers: those that ask the store for what is read; they are started behind the one that writes
readers() { backends_of shared | xargs | cut -d ' ' -f 2,3; }
are_connected() { [ "$(grep -c "$SOCK" /proc/net/unix)" -gt "$1" ]; }
# twenty_ask: the same, in the background, while nobody answers; their pids are in OF
twenty_ask() {
    local i
    OF=
    for i in $(seq 20); do
        curl -s --max-time $((20 * PATIENCE)) --unix-socket "$SOCK" -D "head.$i" -o "body.$i" \
            -H 'Cache-Control: max-age=20' "$URL" &
        OF+=" $!"
    done
}
statuses() { head -qn 1 head.* | tr -d '\r' | sort | uniq -c | xargs; }

# The first two that ask go away before there is an answer: the others have it all the same.
under_way() {
    local s=$STORE_NAME i first=
    forgets
    # shellcheck disable=SC2046
    kill -STOP $(readers)
    for i in 1 2; do
        curl -s --unix-socket "$SOCK" -H 'Cache-Control: max-age=20' "$URL" >/dev/null 2>&1 &
        first+=" $!"
        wait_until 20 are_connected "$i"
    done
    ASKED=$(now_ms)
    twenty_ask
    wait_until 20 are_connected 22
    wait_until 20 a_second_later
    # shellcheck disable=SC2086
    kill $first
    # shellcheck disable=SC2046
    kill -CONT $(readers)
    # shellcheck disable=SC2086
    wait $first $OF 2>/dev/null
    is "$s: who asked first is gone, and the others are answered" "$(statuses)" "20 HTTP/1.1 200 OK"
    is "$s: all the same" "$(cat body.* | sort -u | wc -l)" 1
    is "$s: none is told that it is new" "$(grep -ch '^Age: 0' head.* | sort -u)" 0
}
a_second_later() { [ $(($(now_ms) - ASKED)) -ge 1000 ]; }

# One question is asked for twenty: with it, all are lost. Who has asked for the same once more
# behind a lost one does not wait for that.
one_for_all() {
    local s=$STORE_NAME
    forgets
    # shellcheck disable=SC2046
    kill -STOP $(readers)
    start again.$s python3 "$ROOT/tests/http_ask.py" "$SOCK" again_behind_it "/v1/runs?entity=orders"
    wait_until 20 grep -q asked again.$s.out || fail "$s: the same is asked for twice"
    twenty_ask
    wait_until 20 are_connected 21
    # shellcheck disable=SC2046
    kill -KILL $(readers)
    # shellcheck disable=SC2086
    wait $OF
    is "$s: one question is asked for twenty" "$(statuses)" "20 HTTP/1.1 503 Service Unavailable"
    join_within 30 again.$s
    is "$s: what was asked behind a lost one is answered" "$(sed -n 2p again.$s.out)" "503 200"
    ok "$s: and others are answered again" wait_until 30 is_answered
}
is_answered() { [ "$(asks)" = 200 ]; }

shared() {
    URL=http://localhost/v1/checks?entity=orders
    a_clean_store
    settings 'log_level = "error"; jobs = { look = { plugin = "noop"; }; };'
    serve shared
    what_is_kept
    while_checks_come
    in_memory
    under_way
    one_for_all
    of_equal_rights
    ends shared
}
on_each_store shared
