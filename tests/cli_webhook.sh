#!/usr/bin/env bash
# cli_webhook.sh - the job webhook against a receiver on loopback: what is sent and signed, what its
# responses mean, TLS, and what ends a request that would have no end.
# about 30 s
# night: a receiver for each edge
PLUGIN=webhook
. "$(dirname "${BASH_SOURCE[0]}")/http_lib.sh"
json_begins

# job NAME URL [SETTINGS]: a job `NAME`, beside those that are there
jobs=
job() {
    jobs+="$1 = { plugin = \"webhook\"; settings = { url = \"$2\"; ${3:-} }; };"$'\n'
    printf 'plugin_dirs = ["%s"];\nhorizon = "30d";\ntimeout = "%s";\njobs = { %s };\n' \
        "$(dirname "$P")/jobs" "${TIMEOUT:-20s}" "$jobs" >prescient.cfg
    chmod 600 prescient.cfg
}
# tried JOB EXPRESSION EXPECTED [OPTION...]: of the JSON of prescient try
tried() {
    local job=$1 expression=$2 expected=$3; shift 3
    timeout 60 "$P" --store sqlite:none.db --now $NOW try "$job" orders "${KEY:-42}" --json "$@" \
        >.tried 2>.err
    is "${WHAT:-$job}" "$(json "$expression" <.tried)" "$expected"
}
# request N EXPRESSION: of the Nth request, from the last (1) on
request() { tail -n "$1" plain/requests | head -1 | json "$2"; }
header() { printf '[v for n, v in j["headers"] if n.lower() == "%s"]' "$1"; }

receiver plain
HTTP=http://127.0.0.1:$PORT

# ---- what is sent ----
job sent "$HTTP/status/200" 'headers = [ "X-Team: sales", "X-Two:  2 " ];
    secrets = [ "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_c2Vjb25kIHNlY3JldCBvZiBvdXJz" ];'
before=$(date +%s)
export http_proxy=http://127.0.0.1:1
job proxied "http://shop.invalid/status/200" "proxy = \"$HTTP\";"
tried proxied 'j["answer"], j["outcome"]' "('done', 'done')"
is "a proxy is given the URL, whose name it looks up" "$(request 1 'j["method"], j["path"]')" \
    "('POST', 'http://shop.invalid/status/200')"
tried sent 'j["answer"], j["outcome"]' "('done', 'done')" --payload '{"n": 1.10}'
has "the note" "$(json 'j["note"]' <.tried)" "status 200 of $HTTP, "
is "a POST" "$(request 1 'j["method"], j["path"]')" "('POST', '/status/200')"
is "of JSON" "$(request 1 "$(header content-type)")" "['application/json']"
is "headers of the settings" "$(request 1 "$(header x-team), $(header x-two)")" "(['sales'], ['2'])"
request 1 'j["body"]' >body
is "its body is the document of the check" "$(json 'j["entity_key"], j["data"], j["type"]' <body)" \
    "('42', {'n': 1.1}, 'check')"
id=$(json 'j["id"]' <body)
is "the key, bare, and as webhook-id" \
    "$(request 1 "$(header idempotency-key), $(header webhook-id)")" "(['$id'], ['$id'])"
is "its time is that of the attempt" \
    "$(request 1 "0 <= int($(header webhook-timestamp)[0]) - $before <= 60")" True
cat >verify.py <<'PY'
# From the specification: base64 of HMAC-SHA256 over id.timestamp.body, after "v1,".
import base64, hashlib, hmac, json, sys
j = json.loads(sys.stdin.read())
h = {n.lower(): v for n, v in j["headers"]}
signed = f'{h["webhook-id"]}.{h["webhook-timestamp"]}.{j["body"]}'.encode()
keys = [base64.b64decode(s) for s in ("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "c2Vjb25kIHNlY3JldCBvZiBvdXJz")]
print(h["webhook-signature"].split(" ") == ["v1," + base64.b64encode(hmac.new(k, signed, hashlib.sha256)
      .digest()).decode() for k in keys])
PY
is "signed with each secret" "$(tail -1 plain/requests | python3 verify.py)" True
job get "$HTTP/status/200?X=1" 'method = "GET"; '
tried get 'j["answer"]' "done"
is "a GET has no body" "$(request 1 'j["method"], j["path"], j["body"]')" "('GET', '/status/200?X=1', '')"
job put "$HTTP/status/204" 'method = "PUT"; headers = [ "Content-Type: application/cloudevents+json" ];'
KEY='ä"\
x' tried put 'j["answer"]' "done"
is "a PUT of another type" "$(request 1 "j[\"method\"], $(header content-type)")" \
    "('PUT', ['application/cloudevents+json'])"
is "any key" "$(request 1 'j["body"]' | json 'j["entity_key"]')" 'ä"\
x'

# ---- what responses mean ----
job teapot "$HTTP/body/418?short%20and%20stout"
tried teapot 'j["answer"]' fail
has "a failure has status and body" "$(json 'j["note"]' <.tried)" "status 418 of $HTTP, "
has "and body" "$(json 'j["note"]' <.tried)" " ms: short and stout"
job bytes "$HTTP/bytes"
tried bytes 'j["answer"], j["note"].split(" ms: ")[1]' "('fail', 'a b??')"
job later "$HTTP/status/429?Retry-After=7200"
tried later 'j["answer"], "2030-01-01T02:05:00Z" <= j["at"] <= "2030-01-01T02:17:05Z"' "('defer', True)"
job minute "$HTTP/status/429"
tried minute 'j["answer"], "2030-01-01T00:06:00Z" <= j["at"] <= "2030-01-01T00:06:09Z"' "('defer', True)"
job busy "$HTTP/status/503"
tried busy 'j["answer"]' fail
for after in -5 soon 3x ''; do
    job odd "$HTTP/status/429?Retry-After=$after"
    WHAT="Retry-After: '$after' is none" \
        tried odd 'j["answer"], "2030-01-01T00:06:00Z" <= j["at"] <= "2030-01-01T00:06:09Z"' "('defer', True)"
    jobs=
done
job year "$HTTP/status/429?Retry-After=31536000"
WHAT="a year is a day" \
    tried year 'j["answer"], "2030-01-02T00:05:00Z" <= j["at"] <= "2030-01-02T02:29:09Z"' "('defer', True)"
job past "$HTTP/status/503?Retry-After=Thu,%2001%20Jan%201970%2000:00:00%20GMT"
WHAT="a moment that is over" \
    tried past 'j["answer"], "2030-01-01T00:05:01Z" <= j["at"] <= "2030-01-01T00:05:09Z"' "('defer', True)"
job quota "$HTTP/status/403?X-RateLimit-Remaining=0&X-RateLimit-Reset=600"
tried quota 'j["answer"], j["at"] >= "2030-01-01T00:15:00Z"' "('defer', True)"
job gone "$HTTP/status/410"
tried gone 'j["answer"], j["outcome"]' "('final fail', 'failed')"
job never "$HTTP/status/404" 'final = [ 400, 404 ];'
tried never 'j["outcome"]' "failed"

# ---- answers as JSON ----
json_job() { job "$1" "$HTTP/body/200?$2" 'answer = "json"; response_max = "1KiB";'; }
json_job again '%7B%22again_at%22:%22%2B2h%22,%22note%22:%22soon%22%7D'
tried again 'j["answer"], j["at"], j["note"]' "('again', '2030-01-01T02:05:00Z', 'soon')"
json_job fails '%7B%22fail%22:%22no%20stock%22%7D'
tried fails 'j["answer"], j["note"]' "('fail', 'no stock')"
json_job nothing ''
tried nothing 'j["answer"]' "done"
json_job effects '%7B%22done%22:true,%22emit%22:%7B%22event%22:%22x%22%7D%7D'
tried effects 'j["answer"], "may declare no effects" in j["note"]' "('fail', True)"
json_job text 'hello'
tried text 'j["answer"], "its answer: found" in j["note"]' "('fail', True)"
json_job long "$(printf '%2000s' '' | tr ' ' x)"
tried long 'j["note"]' "its answer has more than response_max = 1024 bytes"
job cut_json "$HTTP/cut" 'answer = "json";'
tried cut_json 'j["note"].split(":")[0]' "its answer was cut"
job cut_body "$HTTP/cut"
WHAT="a body that is cut, where it is not an answer" tried cut_body 'j["answer"]' "done"
for head in 'HTTP/1.1%20200%20OK%0D%0AContent-Ty' 'HTTP/1.1%20200%20OK%0D%0A' \
            'HTTP/1.1%20100%20Continue%0D%0A%0D%0A' ''; do
    heads=$((${heads:-0} + 1))
    job cut_head_$heads "$HTTP/head?$head"
    WHAT="a head that is cut is no response: $head" \
        tried cut_head_$heads 'j["answer"], "status" in j["note"]' "('fail', False)"
done
job refused_json "$HTTP/body/500?%7B%22done%22:true%7D" 'answer = "json";'
WHAT="JSON counts with 2xx only" tried refused_json 'j["answer"]' fail

# ---- redirects ----
job moved "$HTTP/to?/status/204"
tried moved 'j["answer"], j["note"].split(" of ")[0]' "('fail', 'status 307')"
job follows "$HTTP/to?/to?/body/200" 'redirects = 2;'
tried follows 'j["answer"]' "done"
is "the same is sent again" "$(request 1 'j["method"], j["path"], len(j["body"]) > 50')" \
    "('POST', '/body/200', True)"
job stays "$HTTP/to?http://localhost:$PORT/status/200" 'redirects = 2;'
WHAT="never to another host" tried stays 'j["answer"]' fail
receiver beside
job port "$HTTP/to?http://127.0.0.1:$PORT/status/200" 'redirects = 2;'
WHAT="never to another port" tried port 'j["answer"], j["note"][:10]' "('fail', 'status 307')"
is "which gets nothing" "$(wc -l <beside/requests)" 0
job scheme "$HTTP/to?file:///etc/passwd" 'redirects = 2;'
WHAT="never to another scheme" tried scheme 'j["answer"], j["note"][:10]' "('fail', 'status 307')"
job turns "$HTTP/to?/to?/to?/status/200" 'redirects = 2;'
WHAT="no more than so many" tried turns 'j["answer"], j["note"][:10]' "('fail', 'status 307')"

# ---- ends ----
TIMEOUT=2s
job endless "$HTTP/endless"
tried endless 'j["answer"]' "done"
job trickle "$HTTP/trickle"
tried trickle 'j["answer"]' "done"
job silent "$HTTP/silent"
tried silent 'j["answer"], "timed out" in j["note"], j["note"].startswith("'"$HTTP: "'")' \
    "('fail', True, True)"
job wanders "$HTTP/slow_to/900?/slow_to/900?/slow_to/900?/status/200" 'redirects = 5;'
WHAT="redirects share one timeout" tried wanders 'j["answer"], "timed out" in j["note"]' "('fail', True)"
job refusing http://127.0.0.1:1/secret-path
tried refusing 'j["answer"], "connect" in j["note"], "secret" in j["note"]' "('fail', True, False)"
job nameless http://no-such-host.invalid/x
tried nameless 'j["answer"], "its name cannot be looked up" in j["note"]' "('fail', True)"
job named "http://localhost:$PORT/status/200"
tried named 'j["answer"]' "done"

# ---- TLS ----
if command -v openssl >/dev/null; then
    certificate good 127.0.0.1 IP:127.0.0.1
    certificate other elsewhere.example DNS:elsewhere.example
    certificate expired 127.0.0.1 IP:127.0.0.1 -startdate 20200101000000Z -enddate 20200201000000Z
    certificate early 127.0.0.1 IP:127.0.0.1 -startdate 20990101000000Z -enddate 20990201000000Z
    openssl req -x509 -newkey rsa:2048 -nodes -keyout self.key -subj /CN=127.0.0.1 -days 30 \
        -addext subjectAltName=IP:127.0.0.1 -out self.pem 2>/dev/null
    receiver tls good.pem good.key; GOOD=https://127.0.0.1:$PORT
    receiver other_name other.pem other.key; OTHER=https://127.0.0.1:$PORT
    receiver old expired.pem expired.key; OLD=https://127.0.0.1:$PORT
    receiver to_come early.pem early.key; TO_COME=https://127.0.0.1:$PORT
    receiver own self.pem self.key; OWN=https://127.0.0.1:$PORT
    receiver both good.pem good.key ca.pem; BOTH=https://127.0.0.1:$PORT
    CA="ca_file = \"$TMP/ca.pem\";"
    job tls "$GOOD/status/200" "$CA"
    tried tls 'j["answer"]' "done"
    job unknown_ca "$GOOD/status/200"
    tried unknown_ca 'j["answer"], "certificate" in j["note"]' "('fail', True)"
    job wrong_name "$OTHER/status/200" "$CA"
    tried wrong_name 'j["answer"], "subject name" in j["note"]' "('fail', True)"
    job expired "$OLD/status/200" "$CA"
    tried expired 'j["answer"], "expired" in j["note"]' "('fail', True)"
    job not_yet_valid "$TO_COME/status/200" "$CA"
    tried not_yet_valid 'j["answer"], "not yet valid" in j["note"]' "('fail', True)"
    job self_signed "$OWN/status/200" "$CA"
    tried self_signed 'j["answer"], "self" in j["note"]' "('fail', True)"
    job own_authority "$OWN/status/200" "ca_file = \"$TMP/self.pem\";"
    tried own_authority 'j["answer"]' "done"
    job plain_port "https://127.0.0.1:${HTTP##*:}/status/200" "$CA"
    WHAT="TLS to a server without it" tried plain_port 'j["answer"]' fail
    job no_cert "$BOTH/status/200" "$CA"
    tried no_cert 'j["answer"]' fail
    job with_cert "$BOTH/status/200" "$CA cert = \"$TMP/good.pem\"; key = \"$TMP/good.key\";"
    tried with_cert 'j["answer"]' "done"
    is "only requests that trust us arrived" \
        "$(for f in tls other_name old to_come own both; do wc -l <$f/requests; done | xargs)" "1 0 0 0 1 1"
    job to_plain "$GOOD/to?$HTTP/status/200" "$CA redirects = 2;"
    before=$(requests)
    WHAT="a redirect never leaves TLS" tried to_plain 'j["answer"], j["note"][:10]' "('fail', 'status 307')"
    is "and sends nothing" "$(requests)" "$before"
fi

# ---- settings that are refused ----
refused() {     # WORDS SETTINGS
    jobs=; job bad "${URL:-$HTTP/status/200}" "$2"
    fails_with 78 "$1" "$P" --store sqlite:none.db config --check
}
URL=ftp://x refused "setting 'url': expected a URL that begins with http" ""
URL=http://me:pw@127.0.0.1/ refused "expected no user and no password" ""
URL='http://x/ y' refused "setting 'url': it is no URL: " ""
refused "setting 'method': found 'BREW'" 'method = "BREW";'
refused "element 1 is no text such as" 'headers = [ "X Team: a" ];'
refused "its value has a control character" 'headers = [ "X-Team: a\r\nX-Other: b" ];'
refused "webhook-id is a header that the job itself sets" 'headers = [ "Webhook-ID: a" ];'
refused "setting 'secrets': element 1 is not" 'secrets = [ "hunter2" ];'
is "a secret is not shown" "$(grep -c hunter2 "$TMP/.err")" 0
refused "setting 'final': element 1 is no status" 'final = [ 200 ];'
refused "setting 'response_max'" 'response_max = "1GiB";'
refused "setting 'answer': found 'xml'" 'answer = "xml";'
refused "expected both or none" 'cert = "/etc/passwd";'
refused "setting 'ca_file': /nowhere" 'ca_file = "/nowhere";'
refused "a worker has room for" 'in_flight = 256;'
