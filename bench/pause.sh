#!/usr/bin/env bash
# bench/pause.sh [CHECKS]   a pause with so many checks is resumed beside applications (1000000).
#
# The checks stand in the slot of a pause, as engines put them there. pgbench enqueues for a while,
# one client, before the pause is resumed and again while a daemon spreads its checks over the next
# slot. Prints what one enqueue took, before and meanwhile, the longest statement that the server
# logged, how many checks a second were moved, and how evenly they are spread. Fails when an enqueue
# meanwhile takes more than twice as long, or a statement longer than a second.
#
# BUILD              where the program is (build)
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

checks=${1:-1000000}
program=$(realpath "${BUILD:-build}/prescient")
jobs=$(realpath "${BUILD:-build}/jobs")
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done
pgbench=$(tests/pg_cluster.sh bin)/pgbench
[ -x "$pgbench" ] || { echo "pause.sh: no pgbench beside the server's programs" >&2; exit 2; }

tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-pause.XXXXXX")
chmod 711 "$tmp"
daemon=
clean_up() {
    if [ -n "$daemon" ]; then
        kill "$daemon" 2>/dev/null || true
        wait "$daemon" 2>/dev/null || true
    fi
    tests/pg_cluster.sh stop "$tmp/pg"
    rm -rf "$tmp"
}
trap clean_up EXIT
store=$(tests/pg_cluster.sh start "$tmp/pg" fsync=on)
q() { psql -qXAt -v ON_ERROR_STOP=1 "$store" -c "$1"; }

cat >"$tmp/prescient.cfg" <<CFG
store = "$store";
slot_length = "1h";
plugin_dirs = [ "$jobs" ];
log_level = "warn";
jobs = { noop = { plugin = "noop"; }; };
CFG
run() { "$program" --config "$tmp/prescient.cfg" --quiet "$@"; }
run init
run pause --job noop --reason "the measurement"
q "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at)
   SELECT prescient.bucket_of('paused', n::text), 'paused', n::text, 'noop', now(), p.slot_at
     FROM prescient.pause p, generate_series(1, $checks) n"
q "VACUUM ANALYZE prescient.future_job"

cat >"$tmp/call.sql" <<'SQL'
SELECT prescient.enqueue('bench', gen_random_uuid()::text, 'other', interval '3 hours');
SQL
# What one enqueue takes, in ms.
one_enqueue() {
    "$pgbench" -n -c 1 -T "$1" -M prepared -f "$tmp/call.sql" "$store" 2>&1 |
        sed -nE 's/^latency average = ([0-9.]+) ms.*/\1/p'
}
"$program" --config "$tmp/prescient.cfg" --quiet daemon &
daemon=$!
sleep 3
one_enqueue 3 >/dev/null
before=$(one_enqueue 6)
# The longest statement of the daemon, sampled by the server's log.
q "ALTER SYSTEM SET log_min_duration_statement = '20ms'" && q "SELECT pg_reload_conf()" >/dev/null
began=$(date +%s%N)
run resume --job noop
(for _ in {1..9000}; do
    [ "$(q "SELECT count(*) FROM prescient.pause WHERE ended_at IS NULL")" != 0 ] || break
    sleep 0.2
 done
 date +%s%N >"$tmp/ended") &
waits=$!
meanwhile=$(one_enqueue 6)
wait "$waits"
[ "$(q "SELECT count(*) FROM prescient.pause WHERE ended_at IS NULL")" = 0 ] ||
    { echo "pause.sh: the pause was not over within half an hour" >&2; exit 1; }
took_ms=$((($(cat "$tmp/ended") - began) / 1000000))
words=$(grep -hoE 'duration: [0-9.]+ ms .*' "$tmp"/pg/server.log "$tmp"/pg/log/* 2>/dev/null |
    sort -k2,2n | tail -1 | cut -c1-48 || true)
longest=$(grep -oE '[0-9.]+' <<<"$words" | head -1 || true)
spread=$(q "SELECT format('%s seconds hold them, %s to %s each', count(*), min(n), max(n))
              FROM (SELECT count(*) AS n FROM prescient.future_job f WHERE f.entity_name = 'paused'
                     GROUP BY f.next_check_at) s")
echo "one enqueue: $before ms before, $meanwhile ms meanwhile"
echo "the longest statement: ${words:-under 20 ms}"
echo "the pause of $checks checks was over within $took_ms ms; $spread"
python3 - "$before" "$meanwhile" "${longest:-0}" <<'PY'
import sys
before, meanwhile, longest = map(float, sys.argv[1:])
if meanwhile > 2 * before: sys.exit("pause.sh: applications wait for it")
if longest > 1000: sys.exit("pause.sh: a statement is longer than a page")
PY
