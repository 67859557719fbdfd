#!/usr/bin/env bash
# cli_ping.sh - the job ping against a receiver on loopback: what is as expected, what is not, and
# the event; TLS that cannot be trusted.
# about 10 s
# night: a receiver for each edge
PLUGIN=ping
. "$(dirname "${BASH_SOURCE[0]}")/http_lib.sh"

receiver plain
HTTP=http://127.0.0.1:$PORT
EFFECT='[(e["effect"], e["event"], e["data"]) for e in j["effects"]]'

# ---- as expected ----
job "url = \"$HTTP/status/204\";"
tried "2xx" 'j["answer"], j["effects"]' "('done', [])"
is "a GET without a body" "$(last 'j["method"], j["path"], j["body"]')" "('GET', '/status/204', '')"
job "url = \"$HTTP/status/404\"; status = 404;"
tried "a status that is expected" 'j["answer"]' "done"
job "url = \"$HTTP/status/503\"; status = [ 200, 503 ];"
tried "one of some" 'j["answer"]' "done"
job "url = \"$HTTP/body/200?all%20is%20well\"; contains = \"is well\"; event = \"shop.down\";"
tried "a text" 'j["answer"], j["effects"]' "('done', [])"
job "url = \"http://\\(.data.host):$PORT/status/200\";
    hosts = [ \"127.0.0.1\" ]; networks = [ \"127.0.0.1\" ];"
tried "a url that is filled in" 'j["answer"]' "done" '{"host": "127.0.0.1"}'
tried "to another host" 'j["answer"], j["effects"]' "('final fail', [])" '{"host": "127.0.0.2"}'

# ---- not as expected ----
job "url = \"$HTTP/status/500\"; event = \"shop.down\";"
tried "an event" 'j["answer"]' "done"
is "with url, status and why" "$(json "$EFFECT" <.tried)" "[('emit', 'shop.down', {'url': '$HTTP', \
'status': 500, 'why': '$HTTP: found status 500, which is not expected'})]"
job "url = \"$HTTP/status/500\";"
tried "a failure" 'j["answer"], j["note"]' "('fail', '$HTTP: found status 500, which is not expected')"
job "url = \"$HTTP/status/429?Retry-After=60\"; event = \"shop.down\";"
tried "429 is a response, too" 'j["answer"], j["effects"][0]["data"]["status"]' "('done', 429)"
job "url = \"$HTTP/body/200?out%20of%20order\"; contains = \"is well\";"
tried "another text" 'j["note"]' "$HTTP: its body does not have 'is well'"
# a letter of two bytes is the 100th and the 101st of what is shown
long=a$(printf 'é%.0s' {1..60})
for page in 'body/200?out%20of%20order' 'endless'; do
    job "url = \"$HTTP/$page\"; contains = \"$long\"; event = \"shop.down\"; response_max = \"1KiB\";"
    tried "a text that is cut in a letter: /$page" \
        'j["answer"], j["effects"][0]["event"], j["effects"][0]["data"]["why"].count("é")' \
        "('done', 'shop.down', 49)"
done
job "url = \"$HTTP/endless\"; contains = \"is well\"; response_max = \"1KiB\";"
tried "a body without an end" 'j["note"]' "$HTTP: its first 1024 bytes do not have 'is well'"
job "url = \"$HTTP/cut\"; contains = \"is well\";"
tried "a body that is cut" '"its body was cut" in j["note"]' True
job "url = \"$HTTP/to?/status/200\";"
tried "a redirect" 'j["note"]' "$HTTP: found status 307, which is not expected"
job "url = \"$HTTP/to?/status/200\"; redirects = 1;"
tried "one that is followed" 'j["answer"]' "done"
job 'url = "http://127.0.0.1:1/secret"; event = "shop.down";'
tried "nobody there" 'j["answer"], j["effects"][0]["data"]["status"], "connect" in j["note"]' \
    "('done', 0, True)"
is "its path is not shown" "$(grep -c secret .tried)" 0
TIMEOUT=2s job "url = \"$HTTP/silent\"; event = \"shop.down\";"
tried "silence" 'j["effects"][0]["data"]["status"], "timed out" in j["note"]' "(0, True)"

# ---- TLS ----
if command -v openssl >/dev/null; then
    certificate good 127.0.0.1 IP:127.0.0.1
    certificate expired 127.0.0.1 IP:127.0.0.1 -startdate 20200101000000Z -enddate 20200201000000Z
    receiver tls good.pem good.key; GOOD=$PORT
    receiver old expired.pem expired.key; OLD=$PORT
    job "url = \"https://127.0.0.1:$GOOD/status/200\"; ca_file = \"$TMP/ca.pem\";"
    tried "TLS" 'j["answer"]' "done"
    job "url = \"https://127.0.0.1:$GOOD/status/200\"; event = \"shop.down\";"
    tried "of an authority that is not known" \
        'j["effects"][0]["data"]["status"], "certificate" in j["note"]' "(0, True)"
    job "url = \"https://127.0.0.1:$OLD/status/200\"; ca_file = \"$TMP/ca.pem\"; event = \"shop.down\";"
    tried "that has expired" 'j["effects"][0]["data"]["status"], "expired" in j["note"]' "(0, True)"
fi

# ---- settings that are refused ----
refused "setting 'url' is missing" 'status = 200;'
refused "setting 'status': found '99'" "url = \"$HTTP\"; status = 99;"
refused "setting 'status': found 'ok'" "url = \"$HTTP\"; status = [ \"ok\" ];"
refused "setting 'event': expected a name" "url = \"$HTTP\"; event = \"\";"
refused "setting 'hosts' is missing" 'url = "http://\(.entity_key)/";'
refused "method" "url = \"$HTTP\"; method = \"POST\";"
