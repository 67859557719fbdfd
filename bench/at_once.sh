#!/usr/bin/env bash
# bench/at_once.sh [RATE [SECONDS]]   how soon what is asked for at once begins (1000 a second for
#                                     20 seconds).
#
# A daemon idles; then pgbench calls prescient.enqueue_now RATE times a second, a transaction each.
# The key of each check is the server's clock at its call, and the history has when its job began:
# the time between is a little more than that from the commit to the job. Prints its median, 99th
# percentile and maximum in ms, and how many were late by two seconds or more; fails when the 99th
# percentile is, when a check is missing, or when fewer than nine tenths of RATE could be asked for.
#
# A call waits for its commit to be on disk. Sessions that commit together share one wait, so the
# rate needs more sessions than it needs processors: 4 are just enough on an idle machine.
#
# BUILD              where the program is (build)
# WAITING            so many others wait meanwhile, as those do that a receiver has sent away: for
#                    seconds within the next hour (0)
# PRESCIENT_TEST_PG  a PostgreSQL to use, else a cluster of our own is started and removed
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

rate=${1:-1000} seconds=${2:-20} waiting=${WAITING:-0}
program=$(realpath "${BUILD:-build}/prescient")
jobs=$(realpath "${BUILD:-build}/jobs")
server=${PRESCIENT_TEST_PG:-}
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done
pgbench=$(tests/pg_cluster.sh bin)/pgbench
[ -x "$pgbench" ] || { echo "at_once.sh: no pgbench beside the server's programs" >&2; exit 2; }

tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-at-once.XXXXXX")
chmod 711 "$tmp"
database=prescient_at_once_$$
daemon=
clean_up() {
    if [ -n "$daemon" ]; then
        kill "$daemon" 2>/dev/null || true
        wait "$daemon" 2>/dev/null || true
    fi
    if [ -d "$tmp/pg" ]; then
        tests/pg_cluster.sh stop "$tmp/pg"
    else
        psql -qX "$server" -c "DROP DATABASE IF EXISTS $database" 2>/dev/null || true
    fi
    rm -rf "$tmp"
}
trap clean_up EXIT
[ -n "$server" ] || server=$(tests/pg_cluster.sh start "$tmp/pg" fsync=on)
psql -qX "$server" -c "CREATE DATABASE $database"
store=$(sed -E "s#/postgres(\?|\$)#/$database\1#" <<<"$server")
q() { psql -qXAt -v ON_ERROR_STOP=1 "$store" -c "$1"; }

cat >"$tmp/prescient.cfg" <<CFG
store = "$store";
plugin_dirs = [ "$jobs" ];
log_level = "warn";
jobs = { noop = { plugin = "noop"; settings = { answer = "done"; }; }; };
CFG
"$program" --config "$tmp/prescient.cfg" --quiet init
q "INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
                                     next_check_at, deferred_at)
   SELECT prescient.bucket_of('waiting', n::text), 'waiting', n::text, 'noop', s.at, s.at, s.at
     FROM generate_series(1, $waiting) n,
          LATERAL (SELECT date_trunc('second', now()) + make_interval(secs => 1800 + n % 1800) AS at) s"
q "VACUUM ANALYZE prescient.future_job"
"$program" --config "$tmp/prescient.cfg" --quiet daemon &
daemon=$!
sleep 5

cat >"$tmp/call.sql" <<'SQL'
\set n random(1, 1000000000)
SELECT prescient.enqueue_now('bench', (date_part('epoch', clock_timestamp()) * 1000000)::bigint || '.' || :n,
                             'noop');
SQL
"$pgbench" -n -c 48 -j 2 -R "$rate" -T "$seconds" -M prepared -f "$tmp/call.sql" "$store" \
    >"$tmp/bench.out" 2>&1 ||
    { cat "$tmp/bench.out" >&2; exit 1; }
asked=$(sed -nE 's/^number of transactions actually processed: ([0-9]+).*/\1/p' "$tmp/bench.out")
echo "$((asked / seconds)) calls a second, each in $(
    sed -nE 's/^latency average = ([0-9.]+ ms).*/\1/p' "$tmp/bench.out") on average"
for _ in $(seq 60); do
    [ "$(q "SELECT count(*) FROM prescient.future_job")" = "$waiting" ] && break
    sleep 1
done
q "SELECT format('%s asked for, %s run; median %s ms, 99 %% %s ms, most %s ms; %s late by 2 s or more',
                 $asked, count(*), m.half, m.most_of_all, m.most, m.late)
     FROM (SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY l.ms)) AS half,
                  round(percentile_cont(0.99) WITHIN GROUP (ORDER BY l.ms)) AS most_of_all,
                  round(max(l.ms)) AS most, count(*) FILTER (WHERE l.ms >= 2000) AS late
             FROM (SELECT date_part('epoch', h.first_run_at) * 1000
                          - split_part(h.entity_key, '.', 1)::bigint / 1000.0::double precision AS ms
                     FROM prescient.future_job_history h WHERE h.entity_name = 'bench') l) m,
          prescient.future_job_history h WHERE h.entity_name = 'bench'
    GROUP BY m.half, m.most_of_all, m.most, m.late" | tee "$tmp/figures"
[ $((asked * 10)) -ge $((rate * seconds * 9)) ] || {
    echo "at_once.sh: $rate calls a second were wanted; the server or the disk takes no more" >&2; exit 1
}
python3 - "$tmp/figures" <<'PY'
import re, sys
asked, run, _, p99 = map(int, re.findall(r"\d+", open(sys.argv[1]).read().replace("99 %", ""))[:4])
sys.exit(0 if asked == run and p99 < 2000 else "at_once.sh: that is too late, or not all")
PY
