#!/usr/bin/env bash
# cli_redis_stream.sh - the job redis_stream against a Redis server on loopback: what an entry has,
# batches, logins, and each way in which a server refuses, is silent or goes away.
# about 20 s
# night: a server of its own
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
. "$TESTS/jobs_lib.sh"

if ! pkg-config --exists hiredis; then
    echo "ok - not tested: there is no hiredis"
    exit 0
fi
ok "redis-server is installed (packages.txt)" command -v redis-server || exit 1
unset REDISCLI_AUTH

PORT=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir redis
# server OPTION...: starts one
server() {
    start redis redis-server --port "$PORT" --bind 127.0.0.1 --dir "$TMP/redis" --save '' --appendonly no \
        --unixsocket "$TMP/redis.sock" --daemonize no "$@"
    ok "a Redis server" wait_until 20 grep -q "Ready to accept\|Loading\|Server initialized" redis.out
}
r() { redis-cli -p "$PORT" "$@" 2>&1; }
gone() { kill -KILL "$(pid_of redis)"; join redis; }

NOW=2030-01-01T00:05:00Z
# job [SETTINGS]
job() {
    settings "horizon = \"30d\"; timeout = \"${TIMEOUT:-10s}\"; max_failures = 0;" \
        "jobs = { add = { plugin = \"redis_stream\"; settings = {
            server = \"${AT-127.0.0.1:$PORT}\"; stream = \"out\"; ${1:-} }; }; };"
}
# tried EXPRESSION EXPECTED
tried() {
    timeout 60 "$P" --store sqlite:none.db --now $NOW try add orders "${KEY:-42}" --json \
        --payload '{"n": 1.10}' >.tried 2>.err
    is "${WHAT:-}" "$(json "$1" <.tried)" "$2"
}
# fails WHAT WORDS [final]: it fails, and the note has these words
fails() {
    WHAT="$1" tried 'j["answer"]' "${3:-fail}"
    has "$1: its words" "$(json 'j["note"]' <.tried)" "$2"
}

server
job 'maxlen = 1000;'
r MONITOR >monitor & MONITOR=$!
wait_until 10 grep -q OK monitor
WHAT="an entry is added" tried 'j["answer"], j["outcome"]' "('done', 'done')"
has "its id is the note" "$(json 'j["note"]' <.tried)" "$(r --raw XRANGE out - + | head -1)"
ok "the command is seen" wait_until 10 grep -q XADD monitor
kill $MONITOR; wait $MONITOR 2>/dev/null
has "the stream is kept short" "$(cat monitor)" '"XADD" "out" "MAXLEN" "~" "1000" "*" "id" '
is "an entry has two fields" "$(r --raw XRANGE out - + | sed -n '2p;4p' | xargs)" "id document"
r --raw XRANGE out - + | sed -n 5p >document
is "the document is the check's" "$(json 'j["entity_key"], j["data"], j["id"]' <document)" \
    "('42', {'n': 1.1}, '$(r --raw XRANGE out - + | sed -n 3p)')"
KEY='a b
"c" $(d) * %s' WHAT="any key is taken" tried 'j["answer"]' done
is "as it is" "$(r --raw XREVRANGE out + - COUNT 1 | sed -n 5p | json 'j["entity_key"]')" 'a b
"c" $(d) * %s'
AT=$TMP/redis.sock job; WHAT="by a socket" tried 'j["answer"]' done
job 'database = 3;'; WHAT="into another database" tried 'j["answer"]' done
is "it is there" "$(r -n 3 XLEN out)" 1

# ---- settings ----
AT='' refused "setting 'server' is missing"
AT=a:b refused "setting 'server': found 'a:b'"
AT=::1 refused "expected [ ] around an IPv6 address"
AT=redis://:hunter2@h:1/0 refused "setting 'server': expected no user and no password in it"
is "a password is not quoted" "$(grep -c hunter2 "$TMP/.err")" 0
AT=redis://h refused "setting 'server': found 'redis://h'"
refused "setting 'user' is set, but not 'password'" 'user = "u";'
refused "setting 'database': found 'x'" 'database = "x";'
grep -qw hiredis_ssl "$(dirname "$P")/left_out" ||
    refused "setting 'tls': this build (hiredis " 'tls = true;'

# ---- refusals ----
r SET out text >/dev/null
job; fails "a key of another type" "WRONGTYPE" "final fail"
r DEL out >/dev/null
r CONFIG SET maxmemory 1 >/dev/null
fails "no memory" "OOM command not allowed"
r CONFIG SET maxmemory 0 >/dev/null
r REPLICAOF 127.0.0.1 1 >/dev/null
fails "a replica" "READONLY"
r REPLICAOF NO ONE >/dev/null
r ACL SETUSER writer on '>pw-4fd1' '~other' +xadd +select >/dev/null
job 'user = "writer"; password = "pw-4fd1";'; fails "no right to the key" "NOPERM" "final fail"
job 'user = "writer"; password = "pw-wrong";'; fails "a wrong password" "WRONGPASS"
is "without the password" "$(grep -c "pw-wrong" .tried .err)" ".tried:0
.err:0"
r CONFIG SET requirepass pw-4fd1 >/dev/null
job; fails "no password" "NOAUTH"
job 'password = "pw-4fd1";'; WHAT="with the password" tried 'j["answer"]' done
REDISCLI_AUTH=pw-4fd1 r CONFIG SET requirepass '' >/dev/null

# ---- silence, and servers that go away ----
TIMEOUT=2s job
kill -STOP "$(pid_of redis)"
fails "a server that is silent" "no answer in time"
received() { [ -n "$(ss -Htn state established "( sport = :$PORT )" | awk '$1 > 100')" ]; }
TIMEOUT=20s job
"$P" --store sqlite:none.db --now $NOW try add orders 42 --json >.tried 2>.err & TRY=$!
ok "a command is on its way" wait_until 20 received
gone
wait $TRY
is "the server is killed before it answers" "$(json 'j["answer"]' <.tried)" fail
has "with words" "$(json 'j["note"]' <.tried)" "it may have the entry all the same, with this id"
job; fails "no server" "cannot connect: Connection refused"
AT=/nowhere/redis.sock job; fails "no socket" "cannot connect: No such file"

# ---- a batch, a server that is started anew between two, and one that is loading ----
batches() {
    rm -f redis.out; server
    job; a_clean_store
    fill 1500 1700000100 add
    "$P" --set workers=1 run --slot 1700000100 >.out 2>engine.err
    is "$STORE_NAME: checks of a batch" \
        "$(q "SELECT outcome, count(*) FROM {future_job_history} GROUP BY 1")" "done|1500"
    is "$STORE_NAME: an entry each" "$(r XLEN out)" 1500
    is "$STORE_NAME: each with a key of its own" \
        "$(r --raw XRANGE out - + | grep -A1 -x id | grep -xE '[0-9a-f]{32}' | sort -u | wc -l)" 1500
    r DEL out >/dev/null
    start daemon "$P" --set workers=1 daemon
    "$P" --quiet enqueue row before add --at-once >/dev/null
    ok "$STORE_NAME: a check of a daemon" wait_until 30 over before
    gone; rm -f redis.out; server
    "$P" --quiet enqueue row after add --at-once >/dev/null
    ok "$STORE_NAME: one after the server was started anew" wait_until 30 over after
    is "$STORE_NAME: needs no second try" "$(q "SELECT outcome FROM {future_job_history}
        WHERE entity_key = 'after'") $(r XLEN out)" "done 1"
    kill -TERM "$(pid_of daemon)"; join daemon
    gone
}
STORE_NAME=sqlite PRESCIENT_STORE=sqlite:$TMP/store.db; export PRESCIENT_STORE
batches
if [ -n "$SERVER" ]; then
    new_database prescient_redis_$$
    STORE_NAME=postgresql PRESCIENT_STORE=$HERE
    batches
fi

rm -f redis.out; server --enable-debug-command yes
r DEBUG POPULATE 2000 k 10 >/dev/null; r SAVE >/dev/null; gone
rm -f redis.out; server --key-load-delay 10000 --loading-process-events-interval-bytes 1024
job; fails "a server that is starting" "LOADING"
