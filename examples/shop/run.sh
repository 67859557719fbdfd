#!/usr/bin/env bash
# run.sh PRESCIENT [FOLDER]     a week in a small shop, on a virtual clock, on SQLite alone
#
# Orders are placed; some are shipped in time, some late, some never. The shop uses only SQL
# (shop.sql, week.sql); the engine is the program that you would run. The database stays in FOLDER
# (a new temporary one), so that you can look around in it.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
[ $# -ge 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
prescient=$(readlink -f "$1")
folder=${2:-$(mktemp -d "${TMPDIR:-/tmp}/prescient-shop.XXXXXX")}
monday="2026-03-02 00:00:00"
sunday="2026-03-08 23:59:59"
umask 022                               # prescient reads no settings that others can write

install -m 644 "$here/prescient.cfg" "$folder/"
cd "$folder"
rm -f shop.db shop.db-*

title() { printf '\n%s\n' "$*"; }
sql() { sqlite3 -bail -cmd ".timeout 5000" shop.db "$@"; }
table() { sql -header -column "$@"; }

title "The store and the shop's table with its trigger:"
echo "  prescient init"
"$prescient" init | sed 's/^/    /'
echo "  sqlite3 shop.db < shop.sql"
sql <"$here/shop.sql"
sed -n '/^CREATE TRIGGER orders_placed/,/^END/s/^/    /p' "$here/shop.sql"

# Between two things that happen in the shop the engine runs every slot that has come.
title "The week, Monday 2026-03-02 to Sunday 2026-03-08; prescient runs each slot that holds checks:"
from=$monday
replay_to() {
    "$prescient" --quiet --log-level error replay --from "$from" --to "$1:00" >/dev/null
    from="$1:01"
}
while IFS= read -r at; do
    replay_to "$at"
    awk -v at="-- at $at" '/^-- at / { mine = $0 == at; next } mine' "$here/week.sql" >block.sql
    sql <block.sql
done < <(sed -n 's/^-- at //p' "$here/week.sql")
"$prescient" --quiet --log-level error replay --from "$from" --to "$sunday" >/dev/null
rm -f block.sql
echo "  prescient replay --from ... --to ...    between $(grep -c '^-- at ' \
    "$here/week.sql") things that happen in the shop (examples/shop/week.sql)"

title "Which orders raised an alert, when, and what the history says:"
table <<'SQL'
WITH checks AS (
    SELECT check_id, entity_key, job_exec, outcome, strftime('%m-%d %H:%M', ended_at_us / 1000000,
        'unixepoch') AS ended
      FROM prescient_future_job_history
    UNION ALL
    SELECT id, entity_key, job_exec, 'waiting', 'next ' || strftime('%m-%d %H:%M', next_check_at, 'unixepoch')
        FROM prescient_future_job
), alerts AS (
    SELECT entity_key, job_exec, group_concat(strftime('%m-%d %H:%M', emitted_at_us / 1000000, 'unixepoch'),
        ', ') AS moments
      FROM (SELECT * FROM prescient_event ORDER BY id) GROUP BY entity_key, job_exec
)
SELECT o.id AS "order", o.customer, strftime('%m-%d %H:%M', o.placed_at) AS placed,
       CASE WHEN o.cancelled_at IS NOT NULL THEN 'cancelled'
            ELSE coalesce(strftime('%m-%d %H:%M', o.shipped_at), 'never') END AS shipped,
       c.job_exec AS "check", coalesce(a.moments, '-') AS "alerts at", c.outcome AS history, c.ended
  FROM orders o JOIN checks c ON c.entity_key = CAST(o.id AS TEXT)
  LEFT JOIN alerts a USING (entity_key, job_exec)
 ORDER BY o.id, c.check_id;
SQL

title "prescient show orders 1003"
"$prescient" show orders 1003

title "Look around:  cd $folder"
echo "  $prescient status | slots | events | history | list | show orders 1006 | config --print"
echo "  The shop is in $here; this folder may be removed."
