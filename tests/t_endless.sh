#!/usr/bin/env bash
# t_endless.sh - templates that a payload makes endless, or insatiable, in a batch with others: they
# fail, and all others are delivered once, also those whose requests are under way meanwhile. The
# same where each template of a check takes a part of its time.
# about 50 s
# night: it kills, waits or judges time for minutes
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"

if grep -qw webhook "$(dirname "$P")/left_out"; then
    echo "ok - not tested: the job webhook is left out of this build"
    exit 0
fi

CHECKS=20
SLOT=1700000100

receiver() {
    REQUESTS=$TMP/$STORE_NAME.$1
    mkdir "$REQUESTS"
    start "$1" python3 "$TESTS/http_server.py" "$REQUESTS" "${@:2}"
    wait_until 60 test -e "$REQUESTS/port" || fail "the receiver starts"
    PORT=$(cat "$REQUESTS/port")
    REQUESTS=$REQUESTS/requests
}
# of `keys`: how often each entity_key came
came() {
    python3 -c '
import collections, json, sys
keys = collections.Counter(json.loads(line)["body"].strip("\"") for line in open(sys.argv[1]))
print(eval(sys.argv[2]))' "$REQUESTS" "$1"
}
ended() { q "SELECT count(*) FROM {future_job_history} WHERE $1"; }

# What is put off by others of its batch comes some seconds later, in another run.
another_run() {
    start "$1.run" "$P" --log-level debug run
    join_within 100 "$1.run"
    cat "$1.run.err" >>"$1.errors"
    nothing_pending
}
runs_until_all_is_over() {
    : >"$1.errors"
    ok "$STORE_NAME: $1: all is over" wait_until 200 another_run "$1"
}

# one_of_many NAME PROGRAM PAYLOAD WORDS: the body of the 7th of CHECKS checks is not to be had
one_of_many() {
    a_clean_store
    receiver "$1"
    settings "jobs = { hook = { plugin = \"webhook\"; timeout = \"8s\"; max_failures = 0; settings = {
            url = \"http://127.0.0.1:$PORT/slow/300\"; in_flight = 4;
            body = \"$2 | empty, \$key\"; }; }; };" 'workers = 1; workers_max = 1;'
    sed -i 's/body = "/&.entity_key as $key | /' prescient.cfg
    fill $CHECKS $SLOT hook
    q "UPDATE {future_job} SET payload = '$3' WHERE entity_key = 'k7'"
    start "$1.run" "$P" --log-level debug run
    join_within 100 "$1.run"
    is "$STORE_NAME: $1: the run ends, and one check in trouble" "$CODE" 1
    is "$STORE_NAME: $1: each of the others came once" \
        "$(came "len(keys), set(keys.values()), keys[\"k7\"]")" "($((CHECKS - 1)), {1}, 0)"
    is "$STORE_NAME: $1: and is done" "$(ended "outcome = 'done' AND entity_key <> 'k7'")" $((CHECKS - 1))
    is "$STORE_NAME: $1: it failed alone, at its first try" \
        "$(ended "outcome = 'failed' AND failure_count = 1 AND entity_key = 'k7'")" 1
    has "$STORE_NAME: $1: with words" "$(q "SELECT note FROM {future_job_history} WHERE entity_key = 'k7'")" \
        "$4"
    is "$STORE_NAME: $1: no worker was ended for it" "$(grep -c 'is ended: \|checks claimed' "$1.run.err")" 0
    kill "$(pid_of "$1")"; join "$1"
}
endless() {
    one_of_many endless '(.data.n // 3 | until(. == 0; . - 1))' '{"n": 0.5}' \
        'body: jq: no end after 2000 ms, a quarter of the timeout'
}
insatiable() {
    one_of_many insatiable 'def f: if . == 0 then 0 else 1 + (. - 1 | f) end; (.data.n // 3 | f)' \
        '{"n": 0.5}' 'body: jq: '
}

nested() {
    one_of_many nested '(.data.n // 0 | if . == 0 then . else until(false; [.]) end)' '{"n": 0.5}' \
        'body: jq: '
}

# Half of the checks is endless, and each request needs several looks: none of the others is late.
many_endless() {
    if ! command -v openssl >/dev/null; then
        pass "$STORE_NAME: not tested with TLS: openssl is not installed"
        return
    fi
    openssl req -x509 -newkey rsa:2048 -nodes -keyout self.key -subj /CN=127.0.0.1 -days 30 \
        -addext subjectAltName=IP:127.0.0.1 -out self.pem 2>/dev/null
    a_clean_store
    receiver many self.pem self.key
    settings "jobs = { hook = { plugin = \"webhook\"; timeout = \"8s\"; max_failures = 0; settings = {
            url = \"https://127.0.0.1:$PORT/slow/2500\"; in_flight = 16; ca_file = \"$PWD/self.pem\";
            body = \"if .data.bad then until(false; .) else .entity_key end\"; }; }; };" \
        'workers = 1; workers_max = 1;'
    fill 12 $SLOT hook "'k' || (n + 10)"
    q "UPDATE {future_job} SET payload = '{\"bad\": true}'
       WHERE entity_key IN ('k12', 'k14', 'k16', 'k18', 'k20', 'k22')"
    runs_until_all_is_over many
    is "$STORE_NAME: many: each of the others came once" "$(came 'len(keys), set(keys.values())')" "(6, {1})"
    is "$STORE_NAME: many: and is done" "$(ended "outcome = 'done' AND failure_count = 0")" 6
    is "$STORE_NAME: many: the endless have failed as such" \
        "$(ended "outcome = 'failed' AND failure_count = 1 AND note LIKE 'body: jq: no end after%'")" 6
    kill "$(pid_of many)"; join many
}

# None of the templates takes long by itself, but all of a check do: it fails, before its time is
# over, and costs the others nothing. The more templates, the slower a machine may be until one of
# them is too long by itself; 64 headers are the most that a job takes.
in_parts() {
    a_clean_store
    receiver in_parts
    local i headers=
    for i in {1..64}; do
        headers+="\"X-$i: \\(if .data.bad then reduce range(400000) as \$n (0; . + 1) else 1 end)\","
    done
    settings "jobs = { hook = { plugin = \"webhook\"; timeout = \"8s\"; batch_timeout = \"8s\";
            max_failures = 0; settings = { url = \"http://127.0.0.1:$PORT/status/200\";
            body = \".entity_key\"; headers = [ ${headers%,} ]; }; }; };" 'workers = 1; workers_max = 1;'
    fill $CHECKS $SLOT hook
    q "UPDATE {future_job} SET payload = '{\"bad\": true}' WHERE entity_key IN ('k3', 'k7')"
    runs_until_all_is_over in_parts
    is "$STORE_NAME: in parts: each of the others came once" "$(came 'len(keys), set(keys.values())')" \
        "($((CHECKS - 2)), {1})"
    is "$STORE_NAME: in parts: and is done" \
        "$(ended "outcome = 'done' AND failure_count = 0")" $((CHECKS - 2))
    is "$STORE_NAME: in parts: the slow have failed as such" "$(ended "outcome = 'failed' AND note LIKE
        'headers: jq: no end: the templates of this check took half of the timeout'")" 2
    is "$STORE_NAME: in parts: no worker was ended for it" \
        "$(grep -c 'is ended: \|checks claimed' in_parts.errors)" 0
    kill "$(pid_of in_parts)"; join in_parts
}

# What the templates of a mail take is no time of the server that gets it: all is over in time.
silent_server() {
    if grep -qw email "$(dirname "$P")/left_out"; then
        pass "$STORE_NAME: not tested: the job email is left out of this build"
        return
    fi
    a_clean_store
    local long='\\(reduce range(400000) as $i (0; . + 1))'
    start silent python3 -c '
import os, socket
server = socket.create_server(("127.0.0.1", 0))
with open("port.new", "w") as port:
    port.write(str(server.getsockname()[1]))
os.rename("port.new", "port")
taken = []
while True:
    taken.append(server.accept())'
    wait_until 60 test -e port || fail "a server starts that says nothing"
    settings "jobs = { mail = { plugin = \"email\"; timeout = \"24s\"; max_failures = 0; settings = {
            server = \"smtp://127.0.0.1:$(cat port)\"; tls = \"none\"; from = \"shop@example.com\";
            to = \"sales@example.com\"; subject = \"$long\"; text = \"$long\"; html = \"$long\";
            headers = [ \"X-1: $long\" ]; }; }; };" 'workers = 1; workers_max = 1;'
    fill 1 $SLOT mail
    start silent.run "$P" --log-level debug run
    join_within 100 silent.run
    is "$STORE_NAME: a mail that took long to write has failed by the job itself" \
        "$(q "SELECT outcome, substr(note, 1, 17) FROM {future_job_history}")" "failed|smtp://127.0.0.1:"
    is "$STORE_NAME: and no worker was ended for it" "$(grep -c 'is ended: ' silent.run.err)" 0
    kill "$(pid_of silent)"; join silent
}

everything() {
    at_once endless insatiable nested many_endless in_parts silent_server
}
on_each_store everything
