#!/usr/bin/env bash
# cli_redis_tls.sh - the job redis_stream with TLS, against Redis servers on loopback: certificates
# that are good, and those that are not; servers that speak no TLS, or nothing at all. Where hiredis
# has no TLS: the refusal.
# about 20 s
# night: a server of its own
PLUGIN=redis_stream
. "$(dirname "${BASH_SOURCE[0]}")/http_lib.sh"

# redis SETTINGS: the job, at $AT
redis() { job "server = \"$AT\"; stream = \"out\"; $1"; }
at_refused() { refused "$1" "server = \"${AT:-localhost}\"; stream = \"out\"; $2"; }

at_refused "setting 'tls': found 'yes', expected true or false" 'tls = "yes";'
if ! grep -qw hiredis_ssl "$(dirname "$P")/left_out"; then
    at_refused "setting 'tls': this build (hiredis " 'tls = true;'
    at_refused "which this build has not" 'cert = "/c.pem"; key = "/c.key";'
    echo "ok - not tested: TLS, which the hiredis of this build has not"
    exit 0
fi
ok "redis-server is installed (packages.txt)" command -v redis-server || exit 1

# ---- settings ----
certificate good localhost DNS:localhost,IP:127.0.0.1
certificate mine me DNS:me
certificate other elsewhere.example DNS:elsewhere.example
certificate expired localhost DNS:localhost,IP:127.0.0.1 -startdate 20200101000000Z -enddate 20200201000000Z
certificate early localhost DNS:localhost,IP:127.0.0.1 -startdate 20990101000000Z -enddate 20990201000000Z
openssl req -x509 -newkey rsa:2048 -nodes -keyout stranger.key -subj /CN=stranger -days 30 \
    -out stranger.pem 2>/dev/null
openssl rsa -aes128 -passout pass:secret -in mine.key -out locked.key 2>/dev/null
CA="tls = true; ca_file = \"$TMP/ca.pem\";"
at_refused "expected tls = true beside them" "ca_file = \"$TMP/ca.pem\";"
at_refused "found one of them, expected both or none" "$CA cert = \"$TMP/mine.pem\";"
at_refused "setting 'ca_file': /nowhere.pem: No such file" 'tls = true; ca_file = "/nowhere.pem";'
at_refused "expected certificates in PEM" "tls = true; ca_file = \"$TMP/ca.key\";"
at_refused "setting 'cert': $TMP/mine.key: " "$CA cert = \"$TMP/mine.key\"; key = \"$TMP/mine.key\";"
at_refused "setting 'key': $TMP/good.key: " "$CA cert = \"$TMP/mine.pem\"; key = \"$TMP/good.key\";"
at_refused "without a passphrase" "$CA cert = \"$TMP/mine.pem\"; key = \"$TMP/locked.key\";"
AT=/run/redis.sock at_refused "setting 'tls': 'server' is the path of a socket" "$CA"

# ---- servers ----
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
# server NAME [OPTION...]: starts one with the certificate NAME, and sets PORT
server() {
    local name=$1 log; shift
    PORT=$(free_port) log=redis.$PORT
    redis-server --port 0 --tls-port "$PORT" --bind 127.0.0.1 --dir "$TMP" --save '' --appendonly no \
        --tls-cert-file "$name.pem" --tls-key-file "$name.key" --tls-ca-cert-file ca.pem \
        --tls-auth-clients no --daemonize no "$@" >"$log" 2>&1 &
    SERVERS+=($!)
    for _ in {1..500}; do ! grep -qs "Ready to accept" "$log" || break; sleep 0.02; done
    has "a server ($name)" "$(cat "$log")" "Ready to accept"
}
cli() { redis-cli -p "$PORT" --tls --cacert ca.pem "$@" 2>&1; }
# fails WHAT WORDS: with the job as it is
fails() {
    tried "$1" 'j["answer"]' fail
    has "$1: its words" "$(json 'j["note"]' <.tried)" "redis $AT: $2"
}

server good; GOOD=$PORT
for AT in "127.0.0.1:$PORT" "localhost:$PORT"; do
    redis "$CA"; tried "an entry over TLS, to $AT" 'j["answer"]' done
done
is "they are there" "$(cli XLEN out)" 2
PAYLOAD=$(python3 -c 'print("{\"n\": \"%s\"}" % ("x" * 60000))')
tried "a large one, of several records" 'j["answer"]' done "$PAYLOAD"
has "is there as a whole" "$(cli XREVRANGE out + - COUNT 1)" "$(printf 'x%.0s' {1..60000})"
has "a try that sends nothing says so" \
    "$("$P" --store sqlite:none.db --now $NOW try it orders 42 --event order.late 2>&1)" "$AT, by TLS"
redis "$CA password = \"wrong\";"
tried "a refused login" 'j["answer"]' fail
has "has the server's words" "$(json 'j["note"]' <.tried)" "AUTH"

# ---- certificates ----
BAD="no TLS: its certificate is refused:"
redis 'tls = true;'; fails "an authority that the system does not know" "$BAD"
has "with advice" "$(json 'j["note"]' <.tried)" "name in 'ca_file' the authority that signed it"
redis "tls = true; ca_file = \"$TMP/stranger.pem\";"; fails "another authority" "$BAD"
has "with the same advice" "$(json 'j["note"]' <.tried)" "name in 'ca_file' the authority that signed it"
server other; AT=127.0.0.1:$PORT; redis "$CA"
fails "a wrong address" "$BAD IP address mismatch; name the server in 'server' as its certificate does"
AT=localhost:$PORT; redis "$CA"
fails "a wrong name" "$BAD hostname mismatch; name the server in 'server' as its certificate does"
is "and is sent nothing" "$(cli --insecure XLEN out)" 0
server expired; AT=127.0.0.1:$PORT; redis "$CA"
fails "one that has expired" "$BAD certificate has expired; renew it on the server"
server early; AT=127.0.0.1:$PORT; redis "$CA"
fails "one that is not valid yet" "$BAD certificate is not yet valid; compare the clocks"

# ---- certificates of ours ----
MINE="$CA cert = \"$TMP/mine.pem\"; key = \"$TMP/mine.key\";"
for version in 1.3 1.2; do
    server good --tls-auth-clients yes --tls-protocols "TLSv$version"; AT=127.0.0.1:$PORT
    redis "$MINE"; tried "TLS $version: a certificate that is asked for" 'j["answer"]' done
    redis "$CA"; tried "TLS $version: without one" 'j["answer"]' fail
    has "TLS $version: its words" "$(json 'j["note"]' <.tried)" "set 'cert' and 'key'"
done
server good --tls-auth-clients yes
AT=127.0.0.1:$PORT; redis "$CA cert = \"$TMP/stranger.pem\"; key = \"$TMP/stranger.key\";"
tried "one of an authority that it does not know" 'j["answer"]' fail
has "with words" "$(json 'j["note"]' <.tried)" "it does not know the authority of 'cert'"

# ---- no TLS ----
PLAIN=$(free_port)
server good --port "$PLAIN"
AT=127.0.0.1:$PLAIN TIMEOUT=2s; redis "$CA"
fails "a port without TLS" "no TLS: "
has "with what is expected there" "$(json 'j["note"]' <.tried)" "speaks TLS at this port"
is "nothing is sent in the clear" "$(cli XLEN out)" 0
receiver plain; AT=127.0.0.1:$PORT; redis "$CA"
fails "a server that is no Redis" "no TLS: "
python3 -c 'import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print(s.getsockname()[1], flush=True)
time.sleep(600)' >silent & SERVERS+=($!)
for _ in {1..500}; do [ ! -s silent ] || break; sleep 0.02; done
AT=127.0.0.1:$(cat silent); redis "$CA"
began=$(date +%s%3N)
fails "silence in the handshake" "no TLS: no answer in time"
took=$(($(date +%s%3N) - began))
is "ends before the worker's own limit ($took ms)" "$((took >= 1400 && took < 10000))" 1
unset TIMEOUT

# ---- batches ----
PORT=$GOOD AT=127.0.0.1:$GOOD; redis "$CA"
cli DEL out >/dev/null
"$P" --store sqlite:b.db --quiet init
echo entity_name,entity_key,job_exec,check_at >rows
for i in {1..300}; do echo "orders,$i,it,2023-11-14T22:15:00Z"; done >>rows
ok "many are loaded" "$P" --store sqlite:b.db --now 2023-11-14T22:10:00Z enqueue --from rows
has "a batch" "$("$P" --store sqlite:b.db --set workers=1 run --slot 1700000100 2>&1)" "300 done"
is "an entry each" \
    "$(cli --raw XRANGE out - + | grep -A1 -x id | grep -xE '[0-9a-f]{32}' | sort -u | wc -l)" 300
