#!/usr/bin/env bash
# bench/pages.sh [CHECKS [HISTORY [RUNS]]]    how long each question takes that a page of the
#                                             dashboard asks, and /metrics, among so many rows of
#                                             PostgreSQL (10000000 each), and of SQLite (1000000).
#
# What waits is in 2,880 slots to come, a tenth of it in one slot, some of it in pauses, put off,
# failed or overdue; history and runs are of 14 days, today among them, which has no index yet but
# one by time; 200,000 failed within the last hour. Beside them are schedules, pauses, deliveries,
# changes, and what runs were like (fill_lib.sh, fill_pages.sql, fill_pages_sqlite.sql). All is
# read once before the first question: what is measured is the work, not the disk.
#
# `prescient serve` runs as a user who has prescient_reader, _enqueuer and _operator. What is asked
# is read from the pages' modules: a path that pages.py knows no parameters for is an error. Each is
# asked TIMES times, with other parameters each time. Fails when the 99th percentile of one is
# above 300 ms, or 100 for /metrics. On PostgreSQL, the most blocks and rows that one question has
# touched are told, too (auto_explain): they do not depend on what else the machine does.
#
# BUILD   where the program is (build)
# KEEP    a folder for the stores: kept there, and used again when they are there. 20 GB of disk.
# STORES  "postgresql sqlite"
# TIMES   of each question (200)
# ONLY    only the questions that hold this word
# LOOK    1: PostgreSQL counts blocks and rows, which takes time itself: no time is judged
# FILL    1: the stores are filled, and nothing is asked
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
root=$PWD

checks=${1:-10000000} history=${2:-10000000} runs=${3:-10000000}
sqlite_rows=${SQLITE_ROWS:-1000000}
days=14
program=$(realpath "${BUILD:-build}/prescient")
jobs=$(realpath "${BUILD:-build}/jobs")
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done
tmp=$(mktemp -d "${TMPDIR:-/var/tmp}/prescient-pages.XXXXXX")
chmod 711 "$tmp"
kept=${KEEP:-$tmp/kept}
cluster=$kept/pg
serving=
. bench/fill_lib.sh
stop_serving() {
    [ -n "$serving" ] || return 0
    kill "$serving" 2>/dev/null || true
    wait "$serving" 2>/dev/null || true
    serving=
}
clean_up() {
    cd "$root"
    stop_serving
    if [ -d "$cluster" ]; then
        if [ -n "${KEEP:-}" ]; then
            [ ! -e "$cluster/data/postmaster.pid" ] || tests/pg_cluster.sh ctl "$cluster" stop -m fast || true
        else tests/pg_cluster.sh stop "$cluster"; fi
    fi
    rm -rf "$tmp"
}
trap clean_up EXIT

# ---- the stores ----------------------------------------------------------------------------------

settings() {
    cat >"$tmp/prescient.cfg" <<CFG
store = "$1";
plugin_dirs = [ "$jobs" ];
jobs = { is_paid = { plugin = "noop"; }; is_shipped_1 = { plugin = "noop"; }; };
CFG
}
put_rest() { q -v history="$history" -f bench/fill_pages.sql; }

# The table of checks and its indexes stay in the server's memory, the rest in the system's.
warm_up() {
    q >/dev/null <<'SQL'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_prewarm;
SELECT sum(pg_prewarm(c.oid, 'read')) FROM pg_class c
 WHERE c.relnamespace = 'prescient'::regnamespace AND c.relkind IN ('r', 'i');
SELECT sum(pg_prewarm(c.oid, 'buffer')) FROM pg_class c
 WHERE c.oid = 'prescient.future_job'::regclass
    OR c.oid IN (SELECT i.indexrelid FROM pg_index i WHERE i.indrelid = 'prescient.future_job'::regclass);
SQL
}

on_postgresql() {
    mkdir -p "$cluster"
    local server log="auto_explain.log_min_duration=0"
    if [ -d "$cluster/data" ]; then
        tests/pg_cluster.sh ctl "$cluster" status 2>/dev/null || tests/pg_cluster.sh ctl "$cluster" start
        server=$(tests/pg_cluster.sh url "$cluster")
    else
        server=$(tests/pg_cluster.sh start \
            "$cluster" fsync=off wal_level=minimal max_wal_senders=0 full_page_writes=off \
            max_wal_size=16GB checkpoint_timeout=1h shared_buffers=2GB)
    fi
    store=$server
    settings "$store"
    "$program" --config "$tmp/prescient.cfg" init --quiet >/dev/null
    build make_days put_all_checks put_history put_runs put_passes put_events put_rest index_days vacuum
    [ "${FILL:-}" != 1 ] || return 0
    q -v looks="${LOOK:-0}" <<'SQL'
ALTER ROLE pages_server RESET ALL;
SELECT :looks = 1 AS counts \gset
\if :counts
ALTER ROLE pages_server SET session_preload_libraries = 'auto_explain';
ALTER ROLE pages_server SET auto_explain.log_min_duration = 0;
ALTER ROLE pages_server SET auto_explain.log_analyze = on;
ALTER ROLE pages_server SET auto_explain.log_timing = off;
ALTER ROLE pages_server SET auto_explain.log_nested_statements = on;
ALTER ROLE pages_server SET auto_explain.log_format = 'json';
ALTER ROLE pages_server SET auto_explain.log_buffers = on;
\endif
SQL
    warm_up
    store=${server/postgres@/pages_server@}
    ask_all postgresql "$cluster/server.log"
}

on_sqlite() {
    mkdir -p "$kept/sqlite"
    settings "sqlite:$kept/sqlite/store.db"
    "$program" --config "$tmp/prescient.cfg" init --quiet >/dev/null
    if [ ! -e "$kept/sqlite/is_full" ]; then
        sqlite3 -batch -bail "$kept/sqlite/store.db" \
            -cmd "CREATE TEMP TABLE asked AS SELECT $sqlite_rows AS rows" <bench/fill_pages_sqlite.sql
        touch "$kept/sqlite/is_full"
    fi
    [ "${FILL:-}" != 1 ] || return 0
    cat "$kept/sqlite/store.db" >/dev/null
    store=sqlite:$kept/sqlite/store.db
    ask_all sqlite ""
}

# ---- the questions -------------------------------------------------------------------------------

ask_all() {
    settings "$store"
    "$program" --config "$tmp/prescient.cfg" serve --listen "unix:$tmp/serve.sock" 2>"$tmp/serve.err" &
    serving=$!
    for ((i = 0; i < 300; i++)); do
        [ "$(curl -s --unix-socket "$tmp/serve.sock" -o /dev/null -w '%{http_code}' \
            http://localhost/readiness || true)" != 200 ] || break
        sleep 0.1
    done
    bench/pages.py "$tmp/serve.sock" --store "$1" --times "${TIMES:-200}" --server "$serving" \
        ${ONLY:+--only "$ONLY"} $([ "${LOOK:-}" != 1 ] || [ -z "$2" ] || echo "--log $2") || failed=1
    stop_serving
}

failed=0
for name in ${STORES:-postgresql sqlite}; do "on_$name"; done
exit $failed
