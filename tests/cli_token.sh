#!/usr/bin/env bash
# cli_token.sh - who may ask prescient serve: tokens and their roles, sessions of browsers, what
# other sites' pages make a browser send, and what nobody can do at all.
# about 30 s
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$ROOT/tests/serve_lib.sh"

new_token() { "$P" --quiet token new "$1" --role "$2" "${@:3}"; }
# as TOKEN [option of curl...] PATH: prints the status
as() { get -H "Authorization: Bearer $1" "${@:2:$#-2}" "http://localhost${!#}"; }
is_refused() { [ "$(as "$1" /v1/session)" = 401 ]; }
is_nobodys() { is_refused "$1" && grep -q 'no such token' body; }
is_let_in() { [ "$(as "$1" /v1/session)" = 200 ]; }
needs_one() { [ "$(get http://localhost/v1/session)" = 401 ]; }
said() { json "$(printf 'j.get("%s"), ' "$@")" <body; }
CHECK='{"entity": "orders", "key": 1, "job": "look", "in": "3h"}'
post_as() { as "$1" -H 'Content-Type: application/json' --data-binary "$CHECK" "${@:2}" /v1/checks; }
LOOKS='jobs = { look = { plugin = "noop"; }; };'
NOBODY=prescient_00000000000000000000000000000000
doctor_finds() { "$P" doctor --json | json '[f["found"] for f in j if f["what"] == "tokens"]'; }
checks() { q "SELECT count(*) FROM {future_job}"; }
# is_ended CODE ANSWERS: a line more that is sent to $lines ends them with this status. It may take
# some lines: who has been judged is not judged again for a second.
is_ended() {
    grep -q "\"status\":$1" "$2" || { echo '{"job": "look", "in": "1h"}' >&"$lines"; false; }
}
filed() { grep -o '"outcome":"new"' "$1" | wc -l; }

from_the_first_one_on() {
    local s=$STORE_NAME a b
    a_clean_store
    settings "$LOOKS"
    cat >headers <<'END'
WWW-Authenticate: Bearer realm="prescient"
X-Content-Type-Options: nosniff
Cache-Control: no-store
Content-Security-Policy: default-src 'none'; frame-ancestors 'none'
END
    serve first.$s
    has "$s: doctor says that there are no tokens" \
        "$(doctor_finds)" \
        "none: whoever reaches prescient serve"
    is "$s: without tokens whoever reaches it may file" "$(post "$CHECK")" 201
    has "$s: which the log says" "$(cat first.$s.err)" \
        "there are no tokens: whoever reaches this server may do all"
    is "$s: and who asks" "$(get http://localhost/v1/session; said tokens name role)" \
        "200(False, '', 'operate')"
    a=$(new_token shop enqueue)
    ok "$s: from the first token on one is needed" wait_until 20 needs_one
    is "$s: by what changes something" "$(post "$CHECK")" 401
    is "$s: by what is not there" "$(get http://localhost/nothing)" 401
    is "$s: not by what says that it is there" \
        "$(get http://localhost/liveness; get http://localhost/readiness)" 200200
    is "$s: which the answer says" "$(curl -si --unix-socket "$SOCK" http://localhost/v1/why |
        tr -d '\r' | grep -cxFf headers)" 4
    is "$s: with it it files" "$(post_as "$a" -H 'Sec-Fetch-Site: cross-site')" 200
    is "$s: and is known by name" "$(as "$a" /v1/session; said tokens name role csrf_token)" \
        "200(True, 'shop', 'enqueue', None)"
    is "$s: a wrong one is refused" "$(as "$NOBODY" /v1/session; said type)" "401('/problems/no-token',)"
    is "$s: and what is none" "$(get -H 'Authorization: Basic c2hvcDp4' http://localhost/v1/session)" 401
    b=$(new_token other read)
    is "$s: a new one is known at once" "$(as "$b" /v1/session)" 200
    ends first.$s
}

end_everywhere() {
    local s=$STORE_NAME a b one two
    a_clean_store
    a=$(new_token shop enqueue)
    b=$(new_token short operate --expires 4s)
    serve one.$s
    one=$SOCK
    serve two.$s
    two=$SOCK
    is "$s: two servers know it" "$(SOCK=$one as "$a" /v1/session; SOCK=$two as "$a" /v1/session)" 200200
    ok "$s: one that has expired" wait_until 20 is_refused "$b"
    is "$s: is told so" "$(json 'j["detail"]' <body)" "the token or the session has expired"
    has "$s: doctor says so" "$(doctor_finds)" \
        "1 of 2 have expired"
    is "$s: and is no longer in force" \
        "$("$P" token list --json | json '[(t["name"], t["is_in_force"]) for t in j]')" \
        "[('shop', True), ('short', False)]"
    mkfifo lines.$s
    curl -sN --unix-socket "$one" -X POST -T . -H "Authorization: Bearer $a" -H 'Expect:' \
        -H 'Content-Type: application/x-ndjson' -o streamed.$s http://localhost/v1/checks \
        <lines.$s 2>curl.err &
    local stream=$! lines
    exec {lines}>lines.$s
    echo '{"job": "look", "in": "1h", "uniqid": "before"}' >&"$lines"
    ok "$s: what it has begun goes on" wait_until 20 grep -qs new streamed.$s
    ok "$s: it is revoked" "$P" token revoke shop
    ok "$s: and refused by one" eval "SOCK=$one wait_until 20 is_refused $a"
    ok "$s: also in the middle of what it had begun" wait_until 20 is_ended 401 streamed.$s
    exec {lines}>&-
    kill "$stream" 2>/dev/null; wait "$stream" 2>/dev/null
    is "$s: of which no more is filed" "$(checks)" "$(filed streamed.$s)"
    ok "$s: and by the other" eval "SOCK=$two wait_until 20 is_refused $a"
    ok "$s: the last one, too" "$P" --quiet token revoke short
    ok "$s: which is nobody's then" eval "SOCK=$one wait_until 20 is_nobodys $b"
    is "$s: and nothing is open after that" "$(SOCK=$one get http://localhost/v1/session)" 401
    fails_with 1 "there is no token of the name shop" "$P" token revoke shop
    ends one.$s
    ends two.$s
}

hup() { kill -HUP "$(pid_of "$1")"; }
has_taken() { grep -q 'that were read are in force' "$1.err"; }
# under_a_name OUTPUT [option of curl...]: what goes on
under_a_name() {
    curl -sN --unix-socket "$SOCK" -H 'Host: ops.example' -H "Authorization: Bearer $token" -o "$1" "${@:2}" \
        2>curl.err
}
# A name that is taken away frees nobody of being judged.
as_it_goes_on() {
    local s=$STORE_NAME token feed stream lines
    a_clean_store
    token=$(new_token shop enqueue)
    settings "$LOOKS" 'http_hosts = ["ops.example"];'
    serve names.$s
    under_a_name fed.$s -H 'Accept: text/event-stream' http://localhost/v1/events &
    feed=$!
    mkfifo sent.$s
    under_a_name streamed.$s -X POST -T . -H 'Expect:' -H 'Content-Type: application/x-ndjson' \
        http://localhost/v1/checks <sent.$s &
    stream=$!
    exec {lines}>sent.$s
    echo '{"job": "look", "in": "1h", "uniqid": "before"}' >&"$lines"
    ok "$s: under a name, a feed" wait_until 20 test -s fed.$s
    ok "$s: and lines" wait_until 20 grep -qs new streamed.$s
    settings "$LOOKS"
    hup names.$s
    ok "$s: the name is taken away" wait_until 20 has_taken names.$s
    ok "$s: which ends the feed" wait_until 30 is_over "$feed"
    ok "$s: and the lines" wait_until 20 is_ended 421 streamed.$s
    is "$s: of which no more is filed" "$(checks)" "$(filed streamed.$s)"
    exec {lines}>&-
    kill "$stream" "$feed" 2>/dev/null; wait "$stream" "$feed" 2>/dev/null
    ends names.$s
}

roles() {
    local s=$STORE_NAME read enqueue operate method token
    a_clean_store
    settings "$LOOKS"
    read=$(new_token r read) enqueue=$(new_token e enqueue) operate=$(new_token o operate)
    fails_with 1 "there is a token of the name r" "$P" token new r --role read
    serve roles.$s
    is "$s: who may read" "$(as "$read" '/v1/why?entity=a&key=b'; as "$read" '/v1/requests?uniqid=u'
        post_as "$read"; said type)" "200403403('/problems/not-allowed',)"
    is "$s: has filed nothing" "$(checks)" 0
    is "$s: who may file" "$(as "$enqueue" '/v1/why?entity=a&key=b'; as "$enqueue" '/v1/requests?uniqid=u'
        post_as "$enqueue")" 200404201
    is "$s: who may do all" "$(as "$operate" '/v1/why?entity=a&key=b'; post_as "$operate")" 200200
    is "$s: payloads are not for all" "$(for token in $read $enqueue $operate; do
        as "$token" '/v1/checks?entity=orders&payload=1'
        as "$token" '/v1/check?entity=orders&key=1&payload=1'
        as "$token" '/v1/events?payload=1'
    done)" 403403403403403403200200200
    is "$s: all else is" "$(as "$read" '/v1/checks?entity=orders'; as "$read" /v1/status)" 200200
    for method in DELETE PUT PATCH OPTIONS PROPFIND; do
        is "$s: $method without a token, and with one" "$(get -X $method http://localhost/v1/checks
            as "$NOBODY" -X $method /v1/checks; as "$operate" -X $method /v1/checks)" 401401405
    done
    is "$s: what is no method" "$(get -X JUMP http://localhost/v1/checks)" 400
    is "$s: a name that leads here" "$(as "$operate" -H 'Host: evil.example' /v1/session)" 421
    is "$s: a form" "$(as "$operate" -H 'Content-Type: text/plain' --data-binary "$CHECK" /v1/checks)" 415
    is "$s: a body of 1 GB is not read of who is not known" \
        "$(get -H 'Content-Type: application/json' -H 'Content-Length: 1073741824' -d '{' \
            http://localhost/v1/checks)" 401
    has "$s: what is stored is not the token" "$(q "SELECT count(*) FROM {token} WHERE name = 'o'
        AND hash NOT LIKE '%${operate#prescient_}%' AND session_key NOT LIKE '%${operate#prescient_}%'")" 1
    ends roles.$s
}

# What a page sends: page ORIGIN [option of curl...] PATH
page() {
    get -b jar.$STORE_NAME -c jar.$STORE_NAME -H "Origin: $1" -H 'Content-Type: application/json' \
        "${@:2:$#-2}" "http://localhost${!#}"
}
# log_in TOKEN PATH
log_in() { page http://localhost -d "{\"token\":\"$1\"}" "$2"; }
browsers() {
    local s=$STORE_NAME token csrf saved
    a_clean_store
    settings "$LOOKS"
    serve open.$s
    is "$s: without tokens a page of another site changes nothing" \
        "$(page http://evil.example -d "$CHECK" /v1/checks; post "$CHECK" -H 'Sec-Fetch-Site: cross-site'
        page null -d "$CHECK" /v1/checks
        get -H 'Content-Type: text/plain' -d "$CHECK" http://localhost/v1/checks
        checks)" 4034034034150
    is "$s: one of ours does" "$(page http://localhost -d "$CHECK" /v1/checks)" 201
    is "$s: and has nothing to log in with" "$(log_in "$NOBODY" /v1/login)" 409
    ends open.$s
    token=$(new_token anna operate)
    BASE=/p serve browser.$s --set base_path=/p
    is "$s: a wrong token does not log in" "$(log_in "$NOBODY" /p/v1/login)" 401
    is "$s: nor does a page of another site" \
        "$(page http://evil.example -d "{\"token\":\"$token\"}" /p/v1/login)" 403
    is "$s: nor what is no JSON" "$(page http://localhost -d "token=$token" /p/v1/login)" 400
    is "$s: a right one does" "$(page http://localhost -d "{\"token\":\"$token\"}" -D head /p/v1/login)" 200
    is "$s: with a cookie that no script reads" "$(tr -d '\r' <head |
        grep -c '^Set-Cookie: .*; Path=/p; Max-Age=43200; HttpOnly; SameSite=Strict$')" 1
    is "$s: which is told who it is" "$(page http://localhost /p/v1/session; said name role base_path)" \
        "200('anna', 'operate', '/p')"
    csrf=$(json 'j["csrf_token"]' <body)
    is "$s: a change needs more than that" "$(page http://localhost -d "$CHECK" /p/v1/checks
        page http://localhost -H 'X-CSRF-Token: 0' -d "$CHECK" /p/v1/checks
        page http://evil.example -H "X-CSRF-Token: $csrf" -d "$CHECK" /p/v1/checks
        get -b jar.$s -H 'Content-Type: application/json' -H "X-CSRF-Token: $csrf" -d "$CHECK" \
            http://localhost/p/v1/checks)" 403403403403
    is "$s: with all of it, it is made" \
        "$(page http://localhost -H "X-CSRF-Token: $csrf" -d "$CHECK" /p/v1/checks)" 200
    ends browser.$s
    BASE=/p serve again.$s --set base_path=/p --set http_hosts=shop.example
    is "$s: another server knows the session" "$(page http://localhost /p/v1/session; said csrf_token)" \
        "200('$csrf',)"
    is "$s: behind a proxy with TLS the cookie is for that" "$(get -H 'Origin: https://shop.example' \
        -H 'Host: shop.example' -H 'Content-Type: application/json' -d "{\"token\":\"$token\"}" -D head \
        http://localhost/p/v1/login; grep -c 'SameSite=Strict; Secure' head)" 2001
    saved=$(cat jar.$s)
    is "$s: logged out" "$(page http://localhost -d '{}' /p/v1/logout
        page http://localhost /p/v1/session)" 200401
    cat >jar.$s <<<"$saved"
    is "$s: a session is as good as its token" "$(page http://localhost /p/v1/session)" 200
    "$P" --quiet token revoke anna >/dev/null
    ok "$s: and ends with it" wait_until 20 eval '[ "$(page http://localhost /p/v1/session)" = 401 ]'
    ends again.$s
}

# A browser sends the cookies of all ports of a name, and those of paths above. at PORT SERVER PATH
# [option of curl...]
at() {
    SOCK=$2 get -b jars.$STORE_NAME -c jars.$STORE_NAME -H "Origin: http://localhost:$1" \
        -H 'Content-Type: application/json' "${@:4}" "http://localhost:$1$3"
}
servers_of_one_name() {
    local s=$STORE_NAME token a b c i
    a_clean_store
    token=$(new_token anna operate)
    serve root.$s; a=$SOCK
    BASE=/p serve below.$s --set base_path=/p; b=$SOCK
    # it knows other tokens
    "$P" --store sqlite:other.$s.db --quiet init
    "$P" --store sqlite:other.$s.db --quiet token new eve --role read >other.$s
    BASE=/p/o serve other.$s --store sqlite:other.$s.db --set base_path=/p/o; c=$SOCK
    is "$s: servers of one name, log in to each" "$(
        at 81 "$a" /v1/login -d "{\"token\":\"$token\"}"
        at 81 "$b" /p/v1/login -d "{\"token\":\"$token\"}"
        at 81 "$c" /p/o/v1/login -d "{\"token\":\"$(cat other.$s)\"}"
        at 82 "$b" /p/v1/login -d "{\"token\":\"$token\"}")" 200200200200
    is "$s: and each is logged in" "$(for i in "81 $a /v1" "81 $b /p/v1" "81 $c /p/o/v1" "82 $b /p/v1"; do
        at $i/session; said name; done | tr -d '\n')" \
        "200('anna',)200('anna',)200('eve',)200('anna',)"
    is "$s: and out, alone" "$(at 81 "$b" /p/v1/logout -d '{}'
        for i in "81 $a /v1" "81 $b /p/v1" "81 $c /p/o/v1" "82 $b /p/v1"; do at $i/session; done)" \
        200200401200200
    ends root.$s
    ends below.$s
    ends other.$s
}

read_only() {
    local s=$STORE_NAME token
    a_clean_store
    settings "$LOOKS"
    serve reads.$s --read-only
    is "$s: where nothing may be changed" "$(post "$CHECK"; said type)" "403('/problems/not-allowed',)"
    is "$s: nothing is" "$(checks)" 0
    is "$s: there is no process that could" "$(backends_of reads.$s | wc -l)" 3
    is "$s: and all else is answered" "$(get 'http://localhost/v1/why?entity=a&key=b'
        get http://localhost/v1/session; said read_only)" "200200(True,)"
    token=$(new_token all operate)
    is "$s: a token changes that for nobody" "$(wait_until 20 needs_one; post_as "$token")" 403
    ends reads.$s
    serve set.$s --set http_read_only=true
    is "$s: the setting does the same" "$(post_as "$token")" 403
    ends set.$s
}

# One who tries tokens waits for the answers, and who has a right one does not.
tries() {
    local s=$STORE_NAME token
    a_clean_store
    token=$(new_token shop read)
    serve tries.$s
    is_let_in "$token" || fail "$s: shop is let in"
    is "$s: wrong tokens are slowed, a right one is not, and too many are sent away" \
        "$(limited 120 python3 "$ROOT/tests/http_ask.py" "$SOCK" tries "$token")" \
        "5 at once, the right one before the next, 401 429"
    ends tries.$s
}

away() {
    local s=$STORE_NAME token
    a_clean_store
    token=$(new_token shop read)
    serve away.$s
    is "$s: while the store is there" "$(as "$token" '/v1/why?entity=a&key=b')" 200
    q "ALTER TABLE {token} RENAME TO hidden" >/dev/null
    ok "$s: without a list nobody is let in" \
        wait_until 30 eval '[ "$(as "$token" "/v1/why?entity=a&key=b")" = 503 ]'
    is "$s: which is said without words of the database" "$(said type detail)" \
        "('/problems/away', 'who may ask is not known, as the store is away; send it again later')"
    is "$s: who is known by then is told who it is" "$(as "$token" /v1/session)" 200
    is "$s: and nobody else" "$(get http://localhost/v1/session)" 401
    ends away.$s
}

beyond_this_machine() {
    local port
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
    a_clean_store
    fails_with 2 "is no loopback address, and without tokens whoever reaches it may do all" \
        "$P" serve --listen "0.0.0.0:$port"
    token=$(new_token shop read)
    start beyond "$P" serve --listen "0.0.0.0:$port"
    ok "with one it listens to others" wait_until 20 curl -sf "http://127.0.0.1:$port/liveness"
    is "who need it" "$(curl -so /dev/null -w '%{http_code}' "http://127.0.0.1:$port/v1/session")" 401
    is "and are let in with it" "$(curl -so /dev/null -w '%{http_code}' -H "Authorization: Bearer $token" \
        "http://127.0.0.1:$port/v1/session")" 200
    "$P" --quiet token revoke shop >/dev/null
    ok "without any, nobody is" wait_until 20 eval '[ "$(curl -so /dev/null -w "%{http_code}" \
        -H "Authorization: Bearer $token" "http://127.0.0.1:$port/v1/session")" = 401 ]'
    ends beyond
}

# Those of IPv4 come to [::] as addresses of IPv6.
peers_of_both_kinds() {
    local port token poll
    port=$(python3 -c 'import socket; s = socket.socket(socket.AF_INET6); s.bind(("::", 0))
print(s.getsockname()[1])') || { echo "# no IPv6 here: peers of both kinds are not tried"; return; }
    a_clean_store
    token=$(new_token shop read)
    start both "$P" serve --listen "[::]:$port" --set http_peer_requests=1
    # from ADDRESS PATH HOST
    from() {
        curl -s --max-time $((60 * PATIENCE)) --interface "$1" -o body -w '%{http_code}' \
            -H "Authorization: Bearer $token" "http://$3:$port$2"
    }
    is_taken() { [ "$(from 127.0.0.1 /v1/status 127.0.0.1)" = 429 ]; }
    ok "a server at [::]" wait_until 20 curl -sf "http://127.0.0.1:$port/liveness"
    from 127.0.0.1 /v1/events 127.0.0.1 >/dev/null
    from 127.0.0.1 "/v1/events?after=$(json 'j["next"]' <body)&wait=60s" 127.0.0.1 >/dev/null &
    poll=$!
    ok "one address has all that it may have" wait_until 30 is_taken
    is "others have theirs" "$(from 127.0.0.2 /v1/status 127.0.0.1; from ::1 /v1/status '[::1]')" 200200
    is "and the one has not" "$(from 127.0.0.1 /v1/status 127.0.0.1)" 429
    ends both
    wait "$poll"
}

on_this_store() {
    at_once from_the_first_one_on end_everywhere as_it_goes_on roles browsers servers_of_one_name \
        read_only tries away
    [ "$STORE_NAME" != sqlite ] || at_once beyond_this_machine peers_of_both_kinds
}
on_each_store on_this_store
