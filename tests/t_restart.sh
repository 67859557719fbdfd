#!/usr/bin/env bash
# t_restart.sh - the database goes away in the middle of a pass: its sessions are ended, the server
# is shut down at once and started again. The engine continues by itself; nothing is lost and
# nothing is settled twice. For this the test has a PostgreSQL cluster of its own.
# about 20 s
# night: it starts a server of its own; in the gate the suites of the store lose their connections
. "$(dirname "${BASH_SOURCE[0]}")/acceptance_lib.sh"
unset PRESCIENT_CONNECT_TIMEOUT         # the file below has one

[ -n "$SERVER" ] || { pass "without PostgreSQL there is no server that could go away"; exit 0; }

chmod 755 "$TMP"
PRESCIENT_STORE=$("$TESTS/pg_cluster.sh" start "$TMP/pg" fsync=off) || {
    fail "a cluster of our own"; exit 1
}
trap 'stop_cluster; everything_ends || exit 1' EXIT
stop_cluster() { "$TESTS/pg_cluster.sh" stop "$TMP/pg"; }
export PRESCIENT_STORE STORE_NAME=postgresql
"$P" --quiet init || { fail "init"; exit 1; }

CHECKS=16000 SLOT=1700000100
settings 'lease = "3s"; trust = "2s"; connect_timeout = "2s";' \
    "jobs = { journal = { plugin = \"journal\"; settings = { file = \"$TMP/journal\";
            event = \"ran\"; pause_us = 500; }; }; };"

# The server as its own user, without waiting for what its sessions do.
server() {
    local bin=${PG_BIN:-} as=()
    [ -n "$bin" ] || bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
    [ -x "$bin/pg_ctl" ] || bin=$(dirname "$(command -v pg_ctl)")
    [ "$(id -u)" != 0 ] || as=(setpriv --reuid=postgres --regid=postgres --init-groups)
    (cd / && "${as[@]}" env LC_ALL=C.UTF-8 "$bin/pg_ctl" -D "$TMP/pg/data" -l "$TMP/pg/server.log" -w -t 30 \
        "$@" >/dev/null 2>&1)
}
settled() { archived 2>/dev/null || echo 0; }
settled_at_least() { [ "$(settled)" -ge "$1" ]; }
# goes_on BEFORE: 500 more are settled, or all are: a daemon may be quicker than this shell
goes_on() {
    local more=$(($1 + 500))
    settled_at_least $((more < CHECKS ? more : CHECKS))
}

: >journal
fill $CHECKS $SLOT journal
start daemon "$P" --log-level info daemon
DAEMON=$(pid_of daemon)
ok "the daemon is at work" wait_until 15 settled_at_least 500

for n in 1 2 3; do
    q "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
       WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'" >ended
    at_least "its sessions are ended, time $n" "$(cat ended)" 1
    before=$(settled)
    ok "and it goes on" wait_until 15 goes_on "$before"
done

before=$(settled)
ok "the server is shut down at once" server stop -m immediate
sleep 0.7
ok "the daemon lives" alive daemon
ok "the server is back" server start
ok "and it goes on" wait_until 30 goes_on "$before"
ok "until nothing is left" wait_until 60 nothing_pending
enqueue_in 1 10 journal "'after ' || n"         # 15-minute slots: it waits
is "the application's calls work" "$(pending)" 10
kill -TERM "$DAEMON"
join_within 10 daemon
is "exit code" "$CODE" 0
is "history holds each check once" \
    "$(q 'SELECT count(*), count(DISTINCT entity_key) FROM {future_job_history}')" "$CHECKS|$CHECKS"
is "all of them done" \
    "$(q "SELECT DISTINCT outcome, failure_count FROM {future_job_history}") $(
        q 'SELECT count(*) FROM {future_job_run}')" "done|0 0"
is "what the job declared was written once" \
    "$(q 'SELECT count(*), count(DISTINCT entity_key) FROM {event}')" "$CHECKS|$CHECKS"
is "no lease is left" "$(leases)" 0
is "every run of a check carried the same idempotency key" \
    "$(cut -d' ' -f1,2 journal | sort -u | wc -l)" "$CHECKS"
echo "# $(($(wc -l <journal) - CHECKS)) runs more than checks"
has "the log says what happened" "$(cat daemon.err)" "trying again in"
