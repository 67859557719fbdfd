#!/usr/bin/env bash
# t_herd.sh - tasks defined in one second do not stay a herd: ten thousand of five minutes, in slots
# of a minute, replayed; and ten thousand checks for one time. docs/herd.svg is drawn from it:
#   HERD_OUT=folder tests/run.sh t_herd && tests/herd/plot.py folder > docs/herd.svg
# With FULL=1 a virtual day, else five hours.
# not under sanitizers
# about 120 s
# night: it kills, waits or judges time for minutes
. "$(dirname "$0")/lib.sh"
TASKS=10000
HOURS=5
[ "${FULL:-}" != 1 ] || HOURS=24
FROM=2030-01-01T00:00:30Z

cat >prescient.cfg <<CFG
plugin_dirs = ( "$(dirname "$P")/jobs" );
jobs = ( { name = "task"; plugin = "noop"; } );
keep_runs = "none";
CFG

# in the file of the case
case_sql() { sqlite3 "$name.db" "$1"; }

# begin NAME: an empty file, slots of a minute
begin() {
    name=$1
    export PRESCIENT_STORE="sqlite:$TMP/$name.db"
    ok "$name: init" "$P" init --slot-length 60s
}

# tasks NAME COLUMNS VALUES: defines ten thousand schedules in one second
tasks() {
    begin "$1"
    case_sql "INSERT INTO prescient_schedules (name, entity_name, entity_key, job_exec, now, $2)
              WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $TASKS)
              SELECT 'task ' || i, 'task', i, 'task', unixepoch('$FROM'), $3 FROM n"
    ok "$1: replay" "$P" --quiet replay --from 2030-01-01T00:01:00Z \
        --to "$(date -ud "$FROM + $HOURS hours" +%FT%TZ)"
}

# loads NAME: "minutes since FROM<tab>checks run" of each slot of a minute
loads() {
    case_sql "SELECT (slot_at - unixepoch('$FROM')) / 60, sum(run) FROM prescient_slot_pass
              WHERE run > 0 GROUP BY slot_at ORDER BY 1" | tr '|' '\t' >"$name.tsv"
    [ -z "${HERD_OUT:-}" ] || cp "$name.tsv" "$HERD_OUT/"
}

# peak: of the slots from two hours on, those without a check included: peak / mean, in hundredths
peak() {
    awk -v hours=$HOURS '$1 >= 120 && $1 < hours * 60 { sum += $2; if ($2 > most) most = $2 }
        END { n = hours * 60 - 120; print sum ? int(100 * most * n / sum) : "no runs" }' "$name.tsv"
}

tasks cron cron "'*/5 * * * *'"
loads
is "cron: without a spread the peak stays: all in each fifth slot" "$(peak)" 500

tasks every "every_s" 300
loads
is "every, and its bias: peak / mean stays under 1.5 ($(peak) hundredths)" \
    "$([ "$(peak)" -lt 150 ] && echo yes)" yes

begin within
case_sql "INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, now, within)
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $TASKS)
          SELECT 'task', i, 'task', unixepoch('2030-01-01T12:00:00Z'), unixepoch('$FROM'), 3540
            FROM n"
ok "within: replay" "$P" --quiet replay --from 2030-01-01T12:00:00Z --to 2030-01-01T13:00:00Z
loads
over=$(awk '{ n++; sum += $2; if ($2 > most) most = $2 }
    END { print n, 100 * most * n / sum < 120, sum }' within.tsv)
is "within an hour: all 60 slots, peak / mean under 1.2, and each check runs once" "$over" "60 1 $TASKS"
