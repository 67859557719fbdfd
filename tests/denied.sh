#!/usr/bin/env bash
# denied.sh - a store that does not let a user in, or refuses a right: a command ends at once with
# exit code 77, and says which GRANT is missing. On a server of its own that asks for passwords.
# about 15 s
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ -n "$SERVER" ] || { echo "# no PostgreSQL"; exit 0; }
chmod 755 "$TMP"
port=$((20000 + $$ % 20000))
SERVER=$("$ROOT/tests/pg_cluster.sh" start "$TMP/own" fsync=off listen_addresses=127.0.0.1 port=$port \
    'hba=local all shop scram-sha-256' 'hba=host all shop 127.0.0.1/32 scram-sha-256') || {
    echo "not ok - a server of its own"; exit 1
}
SERVER="$SERVER&port=$port"
trap '"$ROOT/tests/pg_cluster.sh" stop "$TMP/own"; finish || exit 1' EXIT
as() { sed "s#://postgres@#://$1@#" <<<"$SERVER"; }
sql() { psql -qXAt "$SERVER" -c "$1"; }

# denied WHAT URL WORDS command...: it ends at once, without a second try.
denied() {
    local what=$1 url=$2 words=$3 started; shift 3
    started=$(date +%s%3N)
    fails_with 77 "$words" "$P" --store "$url" "$@"
    is "$what: at once, and once" "$(grep -ci 'retrying\|trying again\|not reachable' "$TMP/.err")" 0
    ! judges_time || ok "$what: within a second" test $(($(date +%s%3N) - started)) -lt 1000
}

sql "CREATE ROLE shop LOGIN PASSWORD 'right'; CREATE ROLE worker LOGIN" >/dev/null
plugin noop 'prescient_done(answer);'
cat >prescient.cfg <<CFG
plugin_dirs = ["$TMP/jobs"]; jobs = { one = { plugin = "noop"; }; };
CFG
chmod 600 prescient.cfg

lacks="(user worker). As a superuser or an admin of that role run: GRANT"
denied "a new schema" "$(as worker)" \
    "As the owner of the database run: GRANT CREATE ON DATABASE postgres TO worker" init
ok "init" "$P" --store "$SERVER" init
for command in run sweep daemon; do
    denied "$command" "$(as worker)" \
        "permission denied for schema prescient $lacks prescient_engine TO worker" $command
done
for command in list status history; do
    denied "$command" "$(as worker)" \
        "permission denied for schema prescient $lacks prescient_reader TO worker" $command
done
denied enqueue "$(as worker)" "permission denied for schema prescient $lacks prescient_enqueuer TO worker" \
    enqueue orders 1 one +1h
for command in list init migrate; do
    denied "a wrong password: $command" "$(as shop:wrong)" \
        'password authentication failed for user "shop"; correct the password in `store`' $command
done
# The same of the database of jobs: the store lets the engine in.
sql "CREATE TABLE orders (id integer PRIMARY KEY, shipped_at timestamptz); GRANT SELECT ON orders TO shop"
business() {
    cat >business.cfg <<CFG
store = "$SERVER"; business = "$(as "$1")";
plugin_dirs = ["$(dirname "$P")/jobs"];
jobs = { late = { plugin = "unshipped_order"; settings = { table = "orders"; }; }; };
CFG
    chmod 600 business.cfg
}
business shop:right
ok "a right password for the database of jobs" "$P" --config business.cfg config --check
business shop:wrong
wrong='business database: connect: .*password authentication failed for user "shop"'
for command in "config --check" jobs doctor; do
    # shellcheck disable=SC2086
    "$P" --config business.cfg $command >words 2>&1
    ok "a wrong password for the database of jobs: $command" grep -q "$wrong" words
done
# A name has to be looked up first, and may have several addresses.
for host in 127.0.0.1 localhost localhost,127.0.0.1 127.0.0.1,localhost; do
    url=$(sed "s#host=[^&]*#host=$host#" <<<"$(as shop:wrong)")
    denied "a wrong password at $host" "$url" 'password authentication failed for user "shop"' list
done
denied "no password" "$(as shop)" "no password supplied; correct the password in \`store\`, in PGPASSWORD" run
make_user='correct the user in `store`, or make it, as a superuser: CREATE USER nobody'
denied "a user that is not there" "$(as nobody)" "role \"nobody\" does not exist; $make_user" daemon
"$P" --store "$(as nobody)" list 2>.words
has "the SQLSTATE is not in the way" "$(cat .words)" 'FATAL:  role "nobody" does not exist'
is "nor where in the server that was" "$(grep -c LOCATION .words)" 0
is "doctor goes on" "$("$P" --store "$(as worker)" doctor | grep -c 'GRANT prescient_engine TO worker')" 1

# An application's role, or a dashboard's, is answered as far as its rights go. That is no work of
# an engine: systemd is not told that it has begun.
for role in prescient_enqueuer prescient_reader; do
    sql "GRANT $role TO worker" >/dev/null
    python3 - "$TMP/notify.$role" >told.$role <<'PY' &
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
while True:
    print(s.recv(4096).decode(), flush=True)
PY
    listener=$!
    wait_until 20 test -S "notify.$role"
    export NOTIFY_SOCKET="$TMP/notify.$role"
    denied "a daemon as $role" "$(as worker)" "GRANT prescient_engine TO worker" daemon
    unset NOTIFY_SOCKET
    ok "$role: the daemon was heard" wait_until 20 grep -q ^STATUS told.$role
    is "$role: and has not begun" "$(grep -c ^READY told.$role)" 0
    kill $listener
    sql "REVOKE $role FROM worker" >/dev/null
done
sql "GRANT prescient_engine TO worker" >/dev/null
ok "with the right, all is well" "$P" --store "$(as worker)" run
sql "REVOKE CONNECT ON DATABASE postgres FROM PUBLIC" >/dev/null
denied "no way into the database" "$(as worker)" 'permission denied for database "postgres"' list
has "and the line that opens it" "$("$P" --store "$(as worker)" list 2>&1)" \
    "; as the database's owner run: GRANT CONNECT ON DATABASE postgres TO worker"
sql "GRANT CONNECT ON DATABASE postgres TO PUBLIC" >/dev/null

# A database that does not exist is the wrong one: no second try, and not "not reachable".
make_database='correct `store`, or make it, as a user who may: CREATE DATABASE "no-db"'
nowhere=$(sed 's#/postgres?#/no-db?#' <<<"$SERVER")
for command in list init run daemon; do
    fails_with 78 "database \"no-db\" does not exist; $make_database" "$P" --store "$nowhere" $command
    is "$command: once" "$(grep -ci 'retrying\|trying again' .err)" 0
done
has "doctor, too" "$("$P" --store "$nowhere" doctor)" 'CREATE DATABASE "no-db"'

# A right that is taken away while answers are in hand: a command ends, in words, and nothing is
# lost or written twice.
plugin tells 'host->emit(host, answer, "was.looked", "{}"); prescient_done(answer);'
cat >tells.cfg <<CFG
plugin_dirs = ["$TMP/jobs"]; lease = "5s"; trust = "4s"; stop_timeout = "1s";
jobs = { tells = { plugin = "tells"; }; };
CFG
chmod 600 tells.cfg
"$P" --store "$SERVER" --now -1d enqueue orders 7 tells +1h >/dev/null 2>&1
sql "REVOKE INSERT ON prescient.event FROM prescient_engine" >/dev/null
fails_with 77 "answers of jobs could not be written: their checks run again" \
    limited 120 "$P" --store "$(as worker)" --config tells.cfg run
has "which right is missing" "$(cat .err)" "permission denied for table event"
seen() { sql "SELECT (SELECT count(*) FROM prescient.event WHERE entity_key = '7'),
    (SELECT count(*) FROM prescient.future_job WHERE entity_key = '7'),
    (SELECT count(*) FROM prescient.future_job_history WHERE entity_key = '7')"; }
is "its answer is not written, and it waits" "$(seen)" "0|1|0"
# At a stop no job runs any more.
has_run() { grep -q 'cannot settle a page' .stopped; }
"$P" --store "$(as worker)" --config tells.cfg daemon 2>.stopped &
daemon=$!
ok "a daemon goes on with it" wait_until 60 has_run
kill $daemon; wait $daemon
is "and says at a stop what it waits for" \
    "$(grep -c 'answers still cannot be written' .stopped) $(grep -c 'jobs still run' .stopped)" "1 0"
sql "GRANT INSERT ON prescient.event TO prescient_engine" >/dev/null
once_more() { "$P" --store "$(as worker)" --config tells.cfg run >/dev/null 2>&1; [ "$(seen)" = "1|0|1" ]; }
ok "with the right it runs again, and is written once" wait_until 60 once_more

# What is taken from a daemon may be given back. It has begun when it has a pass of its own.
sql "DELETE FROM prescient.slot_pass" >/dev/null
"$P" --store "$(as worker)" daemon >.daemon 2>&1 &
daemon=$!
has_pass() { [ "$(sql 'SELECT count(*) FROM prescient.slot_pass')" != 0 ]; }
wait_until 60 has_pass
sql "REVOKE prescient_engine FROM worker" >/dev/null
wait_until 60 grep -q "GRANT prescient_engine TO worker" .daemon
has "a daemon says what it lacks" "$(cat .daemon)" \
    "As a superuser or an admin of that role run: GRANT prescient_engine TO worker"
ok "and goes on" kill -0 $daemon
kill $daemon; wait $daemon
is "until it is stopped" $? 0

# Of several hosts one may let us in later.
both=$(sed -E 's#host=([^&]*)#host=/nonexistent,\1#' <<<"$(as nobody)")
fails_with 69 'role "nobody" does not exist' "$P" --store "$both" list
