#!/usr/bin/env bash
# bench/run_hours.sh [RUNS [HOURS]]   how long `status --by` takes after so many runs (10000000) in
#                                     the last hours (24), on each store.
#
# The runs are of 20 jobs, 5 entities and 2 outcomes, and of 12 classes each in how long they took
# and in how late they began. They are noted by the statements of an engine: once a minute by each
# of four daemons, and then, in another store, by what cron starts each minute, every time a process
# of its own. Prints how many rows that makes, what one note takes, and of each form of `status` the
# median of CALLS in ms, with its process. How long a server takes to let somebody in is the
# machine's: on PostgreSQL psql connects and asks for 1 before each call, and the median of that
# stands beside it. Fails when `status` takes LIST_MS or longer, or so much more than psql, or when
# it does not count all runs.
#
# BUILD              where the program is (build)
# CALLS              5
# LIST_MS            100
# SPOIL              SQL that changes the {run_hour} before it is counted, which must be noticed
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

runs=${1:-10000000} hours=${2:-24} list_ms=${LIST_MS:-100} calls=${CALLS:-5}
build=$(realpath "${BUILD:-build}")
program=$build/prescient
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done

tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-run-hours.XXXXXX")
chmod 711 "$tmp"
clean_up() {
    [ ! -d "$tmp/pg" ] || tests/pg_cluster.sh stop "$tmp/pg"
    rm -rf "$tmp"
}
trap clean_up EXIT
server=$(tests/pg_cluster.sh start "$tmp/pg" fsync=on)
url() { sed -E "s#/postgres(\?|\$)#/$1\1#" <<<"$server"; }
q() { psql -qXAt -v ON_ERROR_STOP=1 "$@"; }
p() { "$program" --store "$store" --quiet "$@"; }
ms_since() { awk -v from="$1" -v to="$EPOCHREALTIME" 'BEGIN { printf "%d\n", (to - from) * 1000 }'; }

ms_of() {
    local began=$EPOCHREALTIME
    "$@" >/dev/null
    ms_since "$began"
}
middle() { sort -n | sed -n "$(((calls + 1) / 2))p"; }

# ---- the notes -----------------------------------------------------------------------------------

now=$(date +%s)
from=$((now / 3600 * 3600 - (hours - 1) * 3600)) minutes=$((hours * 60))
# how many runs of each kind are in a note of one of $1 engines, at least one
each() { echo $((runs / (minutes * 200 * $1) > 0 ? runs / (minutes * 200 * $1) : 1)); }

# pg_notes ENGINES IS_CRON
pg_notes() {
    cat >"$tmp/notes.sql" <<'SQL'
\i :statement
SELECT format('EXECUTE note_runs(%L, %s, clock_timestamp(), %L, %L, %L, %L, %L, %L, %L, %L, %L, %L, %L,'
              '''{}'', ''{}'', ''{}'', ''{}'', ''{}'', ''{}'', ''{}'', ''{}'')',
              md5(CASE WHEN :is_cron THEN m.minute || ' ' || e.engine ELSE e.engine::text END)::uuid,
              m.minute + 1, array_agg(to_timestamp(:from + m.minute / 60 * 3600)),
              array_agg('job' || j.job), array_agg('entity' || t.entity), array_agg(''::text),
              array_agg(o.outcome), array_agg(:each::bigint), array_agg(:each * 20000::bigint),
              array_agg(100000::bigint), array_agg(900000::bigint),
              array_agg(c.took), array_agg(c.late))
  FROM generate_series(0, :minutes - 1) m (minute), generate_series(1, :engines) e (engine),
       generate_series(1, 20) j (job), generate_series(1, 5) t (entity),
       unnest('{done,again}'::text[]) o (outcome),
       LATERAL (SELECT '{' || string_agg(format('"%s":%s', 90 + j.job + n.class, n.runs), ',') || '}' AS took,
                       '{' || string_agg(format('"%s":%s', 120 + j.job + n.class, n.runs), ',') || '}' AS late
                  FROM (SELECT i AS class, (:each + (i + m.minute) % 12) / 12 AS runs
                          FROM generate_series(0, 11) i) n
                 WHERE n.runs > 0) c
 GROUP BY m.minute, e.engine ORDER BY m.minute, e.engine
\gexec
SQL
    q "$store" -v statement="$build/sql/pg/note_runs.sql" -v engines="$1" -v is_cron="$2" -v from="$from" \
        -v minutes="$minutes" -v each="$(each "$1")" -f "$tmp/notes.sql"
}

sqlite_notes() {
    python3 - "${store#sqlite:}" "$build/sql/sqlite/note_run_hour.sql" "$from" "$minutes" "$1" \
        "$(each "$1")" <<'PY'
import json, sqlite3, sys
file, statement, start, minutes, engines, each = sys.argv[1:3] + [int(a) for a in sys.argv[3:]]
statement = open(statement).read().rstrip().rstrip(";")
db = sqlite3.connect(file, isolation_level=None)
db.execute("PRAGMA synchronous = normal")
for minute in range(minutes):
    counts = [(each + (i + minute) % 12) // 12 for i in range(12)]
    for _ in range(engines):
        db.execute("BEGIN IMMEDIATE")
        for job in range(1, 21):
            took, late = (json.dumps({str(first + job + i): n for i, n in enumerate(counts) if n})
                          for first in (90, 120))
            for entity in range(1, 6):
                for outcome in "done", "again":
                    db.execute(statement, (start + minute // 60 * 3600, f"job{job}", f"entity{entity}", "",
                                           outcome, each, each * 20000, 100000, 900000, took, late))
        db.execute("COMMIT")
PY
}

spoil_pg() { q "$store" -c "${SPOIL//'{run_hour}'/prescient.run_hour}"; }
spoil_sqlite() {
    python3 - "${store#sqlite:}" "${SPOIL//'{run_hour}'/prescient_run_hour}" <<'PY'
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    db.execute(sys.argv[2])
PY
}

# ---- the report ----------------------------------------------------------------------------------

slow=0 wrong=0
judge() {
    local ms beside=0 _
    rm -f "$tmp/ms" "$tmp/beside"
    for _ in $(seq "$calls"); do
        [ "${store%%:*}" = sqlite ] || ms_of q "$store" -c "SELECT 1" >>"$tmp/beside"
        ms_of p "$@" >>"$tmp/ms"
    done
    ms=$(middle <"$tmp/ms")
    [ ! -e "$tmp/beside" ] || beside=$(middle <"$tmp/beside")
    printf '%-44s %8d ms, psql %d\n' "$*" "$ms" "$beside"
    [ $((ms - beside)) -lt "$list_ms" ] || slow=1
}

# measure WORDS KIND ENGINES IS_CRON
measure() {
    local began notes=$((minutes * $3)) counted
    p init >/dev/null
    began=$EPOCHREALTIME
    "$2_notes" "$3" "$4"
    echo "$1: $((notes * 200 * $(each "$3"))) runs in $notes notes"
    awk -v from="$began" -v to="$EPOCHREALTIME" -v n="$notes" \
        'BEGIN { printf "%-44s %8.1f ms\n", "one note of 200 kinds", (to - from) * 1000 / n }'
    for part in job entity tenant; do
        judge status --by "$part" --since "-${hours}h"
    done
    [ -z "${SPOIL:-}" ] || "spoil_$2"
    counted=$(p --json status --by job --since "-${hours}h" |
        python3 -c 'import json, sys; print(sum(row["runs"] for row in json.load(sys.stdin)))')
    [ "$counted" = $((notes * 200 * $(each "$3"))) ] || { echo "it counts $counted runs"; wrong=1; }
}

for database in daemons cron; do
    q "$server" -c "CREATE DATABASE $database"
done
store=$(url daemons)
measure "PostgreSQL, four daemons" pg 4 false
store=$(url cron)
measure "PostgreSQL, cron" pg 1 true
store=sqlite:$tmp/daemons.db
measure "SQLite, four daemons" sqlite 4 false
store=sqlite:$tmp/cron.db
measure "SQLite, cron" sqlite 1 true

[ "$wrong" = 0 ] || { echo "run_hours.sh: runs were lost, or counted twice" >&2; exit 1; }
[ "$slow" = 0 ] || {
    echo "run_hours.sh: a report took $list_ms ms or longer (on PostgreSQL: more than psql)" >&2
    exit 1
}
