#!/usr/bin/env bash
# bench/schedules.sh [SCHEDULES [MINUTES]]   so many schedules of five minutes in slots of a minute
#                                            (200000, for 60 minutes of a virtual clock).
#
# They are loaded from a file, listed, and run by a replay. Then the run log is compared with what
# the rule promises: each schedule runs in its first period; each later run is in the slot that the
# one before has named, which is never earlier than its end + 5 min - bias; no slot has two runs of
# a schedule; and what the last run has named is what waits. Prints the time of each step, and of
# each form of `schedule list` the median of CALLS in ms with its process. Fails when a promise
# is broken, or when a list of at most a page takes LIST_MS or longer; after the replay, once the
# server's own vacuum is over. What psql takes to connect and ask for 1 stands beside it, as a
# measure of the machine.
#
# BUILD              where the program is (build)
# CALLS              5
# LIST_MS            100
# SPOIL              SQL that breaks a promise before the comparison, which must notice it
# PRESCIENT_TEST_PG  a PostgreSQL to use, else a cluster of our own is started and removed
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

schedules=${1:-200000} minutes=${2:-60} list_ms=${LIST_MS:-100} calls=${CALLS:-5}
every=300 bias=20 length=60
program=$(realpath "${BUILD:-build}/prescient")
jobs=$(realpath "${BUILD:-build}/jobs")
server=${PRESCIENT_TEST_PG:-}
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done

tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-schedules.XXXXXX")
chmod 711 "$tmp"
database=prescient_schedules_$$
clean_up() {
    if [ -d "$tmp/pg" ]; then
        tests/pg_cluster.sh stop "$tmp/pg"
    else
        psql -qX "$server" -c "DROP DATABASE IF EXISTS $database" 2>/dev/null || true
    fi
    rm -rf "$tmp"
}
trap clean_up EXIT
[ -n "$server" ] ||
    server=$(tests/pg_cluster.sh start "$tmp/pg" fsync=on shared_buffers=2GB max_wal_size=8GB)
psql -qX "$server" -c "CREATE DATABASE $database"
store=$(sed -E "s#/postgres(\?|\$)#/$database\1#" <<<"$server")
q() { psql -qXAt -v ON_ERROR_STOP=1 "$store" -c "$1"; }

cat >"$tmp/prescient.cfg" <<CFG
store = "$store";
plugin_dirs = [ "$jobs" ];
log_level = "warn";
jobs = { sync = { plugin = "noop"; settings = { answer = "done"; }; }; };
CFG
p() { "$program" --config "$tmp/prescient.cfg" --quiet "$@"; }

# step NAME COMMAND...: its time, beside NAME
step() {
    local name=$1 began=$EPOCHREALTIME
    shift
    "$@"
    awk -v name="$name" -v from="$began" -v to="$EPOCHREALTIME" \
        'BEGIN { printf "%-44s %8.1f s\n", name, to - from }'
}

# The middle one of some calls, in ms.
ms_of() {
    local began _
    for _ in $(seq "$calls"); do
        began=$EPOCHREALTIME
        "$@" >/dev/null
        awk -v from="$began" -v to="$EPOCHREALTIME" 'BEGIN { printf "%d\n", (to - from) * 1000 }'
    done | sort -n | sed -n "$(((calls + 1) / 2))p"
}
slow=0
listed() {
    local ms
    ms=$(ms_of p "$@")
    printf '%-44s %8d ms\n' "$*" "$ms"
    [ "$ms" -lt "$list_ms" ] || slow=1
}

# ---- they are made -------------------------------------------------------------------------------

from=$(($(date +%s) / 86400 * 86400 - 86400)) to=$((from + minutes * 60))
at() { date -u -d "@$1" +%Y-%m-%dT%H:%M:%SZ; }
p init --slot-length 1m >/dev/null
seq "$schedules" | awk 'BEGIN { print "name,entity_name,entity_key,job_exec,every" }
                        { printf "stock of shop %07d,shop,%d,sync,5m\n", $1, $1 }' >"$tmp/all.csv"
echo "$schedules schedules, $minutes minutes"
load() { p --now "$(at "$from")" schedule load "$tmp/all.csv" >"$tmp/loaded"; }
step "schedule load, all new" load
[ "$(grep -c '^+ ' "$tmp/loaded")" = "$schedules" ]
step "schedule load, nothing to do" load
[ ! -s "$tmp/loaded" ]
q "VACUUM ANALYZE"

printf '%-44s %8d ms\n' "psql, SELECT 1" "$(ms_of q "SELECT 1")"
listed schedule list
listed schedule list "stock of shop 00001"
listed schedule list --job sync --json
listed schedule list --job none
listed schedule show "stock of shop 0000001"

# ---- they run ------------------------------------------------------------------------------------

step "replay" p replay --from "$(at "$from")" --to "$(at "$to")"
printf '%-44s %8d ms\n' "schedule list, whatever the server does" "$(ms_of p schedule list)"
# Two million runs in a minute leave rows for a vacuum, which has a processor to itself meanwhile.
vacuums() { q "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'"; }
for _ in {1..120}; do
    [ "$(vacuums)" != 0 ] || break
    sleep 1
done
listed schedule list

# ---- what is promised ----------------------------------------------------------------------------

[ -z "${SPOIL:-}" ] || q "$SPOIL"
q "CREATE TEMP TABLE run AS
       SELECT entity_key, slot_at, next_check_at, run_at + run_us * interval '1 microsecond' AS ended_at,
              lag(slot_at) OVER w AS slot_before, lag(next_check_at) OVER w AS named_before,
              lag(run_at + run_us * interval '1 microsecond') OVER w AS ended_before,
              lead(slot_at) OVER w IS NULL AS is_last
         FROM prescient.future_job_run WHERE outcome = 'done'
       WINDOW w AS (PARTITION BY entity_key ORDER BY slot_at, run_at);
   SELECT w.what || '|' || w.n FROM (
       SELECT 'runs' AS what, count(*) AS n FROM run
       UNION ALL SELECT 'never run', $schedules - count(DISTINCT entity_key) FROM run
       UNION ALL SELECT 'not in the first period', count(*) FROM run
        WHERE slot_before IS NULL
          AND slot_at NOT BETWEEN to_timestamp($from + 1) AND to_timestamp($from + $every + $length)
       UNION ALL SELECT 'twice in a slot', count(*) FROM run WHERE slot_at = slot_before
       UNION ALL SELECT 'not in the slot that the run before has named', count(*) FROM run
        WHERE slot_at <> named_before
       UNION ALL SELECT 'earlier than the end before + every - bias', count(*) FROM run
        WHERE slot_at < ended_before + make_interval(secs => $every - $bias)
       UNION ALL SELECT 'later than the end before + every + bias + a slot', count(*) FROM run
        WHERE slot_at > ended_before + make_interval(secs => $every + $bias + $length)
       UNION ALL SELECT 'due and not run', count(*) FROM run
        WHERE is_last AND next_check_at <= to_timestamp($to)
       UNION ALL SELECT 'waiting, and not where the last run has named', count(*)
         FROM prescient.future_job f
        WHERE NOT EXISTS (SELECT FROM run r
                           WHERE r.is_last AND r.entity_key = f.entity_key
                             AND r.next_check_at = f.next_check_at)
       UNION ALL SELECT 'without the one check', $schedules - count(*) FROM prescient.future_job
       UNION ALL SELECT 'other runs and ends', (SELECT count(*) FROM prescient.future_job_run
                                                 WHERE outcome <> 'done')
                                               + (SELECT count(*) FROM prescient.future_job_history)) w" \
    >"$tmp/promises"
awk -F '|' '{ printf "%-56s %d\n", $1, $2 } NR > 1 && $2 != 0 { broken = 1 } END { exit broken }' \
    "$tmp/promises" || { echo "schedules.sh: a promise is broken" >&2; exit 1; }
[ "$slow" = 0 ] || { echo "schedules.sh: a list took $list_ms ms or longer" >&2; exit 1; }
