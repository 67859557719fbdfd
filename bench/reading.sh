#!/usr/bin/env bash
# bench/reading.sh [CHECKS [HISTORY [RUNS]]]    how long the commands that look take, among so many
#                                               rows (100000000 20000000 10000000).
#
# Checks wait in the slots of 30 days to come, in no order on the disk: the worst that can be.
# History and runs are of the 60 days past, a burst every quarter of an hour; half as many events as
# runs, and 64 buckets of passes a slot. Each command is run ROUNDS times; median, least and most,
# in ms, from its start to its end. The first run of each is told, too: it finds fewer pages in
# memory.
#
# BUILD   where the program is (build)
# KEEP    a folder for the cluster: it is kept there, and used again when it is there, with what it
#         holds. 100 million need 30 GB of disk.
# ROUNDS  of each command (5)
# ONLY    only the commands that hold this word
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."
root=$PWD

checks=${1:-100000000} history=${2:-20000000} runs=${3:-10000000}
rounds=${ROUNDS:-5} days=60
program=$(realpath "${BUILD:-build}/prescient")
jobs=$(realpath "${BUILD:-build}/jobs")
for name in $(compgen -e); do
    case $name in PG_BIN) ;; PG* | PRESCIENT_* | DATABASE_URL) unset "$name" ;; esac
done
tmp=$(mktemp -d "${TMPDIR:-/tmp}/prescient-reading.XXXXXX")
chmod 711 "$tmp"
cluster=${KEEP:-$tmp/pg}
clean_up() {
    cd "$root"
    [ -n "${KEEP:-}" ] || tests/pg_cluster.sh stop "$cluster"
    rm -rf "$tmp"
}
trap clean_up EXIT

q() { psql -qXAt -v ON_ERROR_STOP=1 "$store" "$@"; }

# ---- the tables ----------------------------------------------------------------------------------

# Part $1 of $2, so that several sessions can work side by side. Only the first hundred thousand
# have the bucket of their key, because computing it costs most, and the others are queried by slot.
put_checks() {
    q <<SQL
SET synchronous_commit = off;
INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at)
SELECT CASE WHEN i <= 100000 THEN prescient.bucket_of(e, i::text) ELSE i * 7 % 64 END, e, i::text, j, at, at
  FROM generate_series($1, $checks, $2) i,
       LATERAL (SELECT CASE WHEN i % 1000003 = 7 THEN 'rarities' WHEN i % 10 = 0 THEN 'invoices'
                            ELSE 'orders' END,
                       CASE WHEN i % 1000003 = 7 THEN 'look_at_rarity' WHEN i % 10 = 0 THEN 'is_paid'
                            ELSE 'is_shipped_' || i % 7 END,
                       to_timestamp($slot + (1 + i::bigint * 1000003 % 2880) * 900) OFFSET 0) c (e, j, at);
SQL
}

# Keys and rules are made again when all rows are there.
put_all_checks() {
    local slot names rules index
    slot=$(q -c "SELECT date_part('epoch', prescient.slot_floor(now()))::bigint")
    names=$(q -c "SELECT string_agg(format('DROP CONSTRAINT %I', conname), ', ')
                  FROM pg_constraint WHERE conrelid = 'prescient.future_job'::regclass")
    rules=$(q -c "SELECT string_agg(format('ADD CONSTRAINT %I %s%s', conname,
                  pg_get_constraintdef(oid), CASE contype WHEN 'c' THEN ' NOT VALID' END), ', ')
                    FROM pg_constraint WHERE conrelid = 'prescient.future_job'::regclass")
    index=$(q -c "SELECT pg_get_indexdef('prescient.future_job_slot'::regclass)")
    q -c "UPDATE prescient.setting SET value = '$slot' WHERE name = 'swept_until'"
    q -c "ALTER TABLE prescient.future_job SET (autovacuum_enabled = off), DISABLE TRIGGER USER, $names" \
        -c "DROP INDEX prescient.future_job_slot"
    put_checks 1 2 & local one=$!
    put_checks 2 2
    wait $one           # with its exit code
    q -c "SET maintenance_work_mem = '2GB'" \
        -c "ALTER TABLE prescient.future_job RESET (autovacuum_enabled), ENABLE TRIGGER USER, $rules" \
        -c "$index"
}

# One day: every quarter of an hour a burst of some seconds. One in 50 failed, one in 1,000,003 is a
# rarity.
put_history_day() {
    local from=$((history / days * $1)) n=$((history / days))
    q <<SQL
SET synchronous_commit = off;
INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at, check_count,
       failure_count, run_count, entity_name, entity_key, job_exec, outcome, engine, first_run_at,
       last_run_at, total_run_us, last_run_us)
SELECT at, at, slot, slot, 0, 0, 1, CASE WHEN i % 10 = 0 THEN 'invoices' ELSE 'orders' END, ($from + i)::text,
       CASE WHEN ($from + i) % 1000003 = 7 THEN 'look_at_rarity' WHEN i % 10 = 0 THEN 'is_paid'
            ELSE 'is_shipped_' || i % 7 END,
       CASE WHEN i % 50 = 49 THEN 'failed' ELSE 'done' END, 'bench/1', at, at, 900, 900
  FROM generate_series(0, $n - 1) i,
       LATERAL (SELECT date_trunc('day', now(), 'UTC') - ($days - 1 - $1) * interval '1 day'
                       + (i::bigint * 96 / $n) * interval '15 minutes') s (slot),
       LATERAL (SELECT slot + (1 + i % ($n / 96 + 1) / 2000 * 0.05) * interval '1 second') t (at)
 WHERE at < now();
SQL
}

put_runs_day() {
    local from=$((runs / days * $1)) n=$((runs / days)) recorded
    recorded=$(q -c "SELECT attname FROM pg_attribute WHERE attrelid = 'prescient.future_job_run'::regclass
                     AND attname = 'recorded_at'")
    q <<SQL
SET synchronous_commit = off;
INSERT INTO prescient.future_job_run (${recorded:+$recorded, }run_at, slot_at, next_check_at, run_us,
       check_count, failure_count, entity_name, entity_key, job_exec, outcome, engine)
SELECT ${recorded:+at, }at, slot, slot + interval '1 day', 900, 1, 0,
    CASE WHEN i % 10 = 0 THEN 'invoices' ELSE 'orders' END, ($from + i)::text,
       CASE WHEN i % 10 = 0 THEN 'is_paid' ELSE 'is_shipped_' || i % 7 END,
       CASE WHEN i % 50 = 49 THEN 'failed' ELSE 'again' END, 'bench/1'
  FROM generate_series(0, $n - 1) i,
       LATERAL (SELECT date_trunc('day', now(), 'UTC') - ($days - 1 - $1) * interval '1 day'
                       + (i::bigint * 96 / $n) * interval '15 minutes') s (slot),
       LATERAL (SELECT slot + (1 + i % ($n / 96 + 1) / 2000 * 0.05) * interval '1 second') t (at)
 WHERE at < now();
SQL
}

put_passes() {
    q <<SQL
INSERT INTO prescient.slot_pass (slot_at, bucket, pass, recorded_at, split, pending, seen_xid, closed_at,
       engine, run, done, again, deferred, failed, timeout, crashed, guarded, held_back, unknown_job,
       superseded, locked, late_us, took_us)
SELECT s.at, b.n, CASE b.n WHEN -1 THEN 0 ELSE 1 END, s.at, CASE b.n WHEN -1 THEN 64 END,
    CASE b.n WHEN -1 THEN 3500 END, CASE b.n WHEN -1 THEN 3 END,
       CASE b.n WHEN -1 THEN s.at + interval '3 seconds' END, 'bench/1', 50, 35, 15,
       0, 0, 0, 0, 0, 0, 0, 0, 0, 1000000, 200000
  FROM generate_series(prescient.slot_floor(now()) - $days * interval '1 day', prescient.slot_floor(now()),
  interval '15 minutes') s (at),
       generate_series(-1, 63) b (n);
SQL
}

put_events() {
    q <<SQL
SET synchronous_commit = off;
INSERT INTO prescient.event (emitted_at, slot_at, check_count, event, entity_name, entity_key, job_exec)
SELECT at, prescient.slot_floor(at), 0, 'is_late', 'orders', i::text, 'is_shipped_1'
  FROM generate_series(1, $((runs / 2))) i, LATERAL (SELECT now() - i * interval '1 second' OFFSET 0) t (at);
SQL
}

make_days() {           # of history, and of whatever else has days
    q -o /dev/null -c "SELECT count(prescient.make_history_day(prescient.utc_day(now()) - n))
            FROM generate_series(1, $days) n
            WHERE NOT prescient.history_day_is_there(prescient.utc_day(now()) - n)"
}

put_history() {
    for ((day = 0; day < days; day++)); do put_history_day $day; done
}

put_runs() {
    for ((day = 0; day < days; day++)); do put_runs_day $day; done
}

index_days() {
    while [ "$(q -c "SELECT prescient.index_history_day()")" != 0 ]; do :; done
}

vacuum() { q -c "VACUUM ANALYZE" -c "CHECKPOINT"; }

# The finished steps are recorded beside the cluster's data, so that an interrupted build can
# continue.
build() {
    local step
    for step in make_days put_all_checks put_history put_runs put_passes put_events index_days vacuum; do
        [ ! -e "$cluster/$step" ] || continue
        begun=$SECONDS
        $step
        touch "$cluster/$step"
        echo "$step: $((SECONDS - begun)) s"
    done
}

# ---- the commands --------------------------------------------------------------------------------

ms_of() {
    local begun=$EPOCHREALTIME code=0
    "$program" --quiet "$@" >"$tmp/out" 2>"$tmp/err" || code=$?
    local ended=$EPOCHREALTIME
    [ $code -le 1 ] || { echo "reading.sh: prescient $* ended with $code: $(tail -1 "$tmp/err")" >&2; }
    echo $(((${ended/./} - ${begun/./}) / 100))
}

tenths() { echo "$(($1 / 10)).$(($1 % 10))"; }

tell() {
    local first all=()
    [[ "$*" = *${ONLY:-}* ]] || return 0
    first=$(ms_of "$@")
    for ((i = 0; i < rounds; i++)); do all+=("$(ms_of "$@")"); done
    mapfile -t all < <(printf '%s\n' "${all[@]}" | sort -n)
    printf '%-46s %8s %8s %8s %8s\n' "$*" "$(tenths "${all[rounds / 2]}")" \
        "$(tenths "${all[0]}")" "$(tenths "${all[rounds - 1]}")" "$(tenths "$first")"
}

read_everything() {
    local slot day old
    slot=$(date -u -d '+10 days' +%Y-%m-%dT%H:00:00Z)
    day=$(date -u -d '-3 days' +%Y-%m-%dT%H:00:00Z)
    old=$(date -u -d '-50 days' +%Y-%m-%dT%H:00:00Z)
    printf '%-46s %8s %8s %8s %8s\n' "ms of" median least most first
    tell version
    tell status
    tell doctor
    tell slots
    tell slots --from "$slot"
    tell slots --from "$old"
    tell passes
    tell passes --before "$old"
    tell list
    tell list --from "$slot"
    tell list --job is_paid
    tell list --job look_at_rarity
    tell list --job nobody
    tell list orders
    tell list rarities
    tell list nobody
    tell list orders 4711
    tell jobs --counts
    tell history
    tell history --since "$day"
    tell history --before "$day"
    tell history --before "$old"
    tell history --job is_paid
    tell history --job look_at_rarity
    tell history --job nobody
    tell history --outcome failed
    tell history --outcome crashed
    tell history orders
    tell history nobody
    tell history orders 4711
    tell history orders "$((history / 2 + 1))"
    tell runs
    tell runs --before "$old"
    tell runs --job is_paid
    tell runs --job nobody
    tell runs --outcome failed
    tell runs --outcome crashed
    tell runs orders 4711
    tell runs orders "$((runs / 2 + 1))"
    tell show orders 4711
    tell events
    tell events --after 0-0
}

mkdir -p "$cluster"
if [ -d "$cluster/data" ]; then
    server=$(tests/pg_cluster.sh url "$cluster")
    tests/pg_cluster.sh ctl "$cluster" status 2>/dev/null || tests/pg_cluster.sh ctl "$cluster" start
else
    server=$(tests/pg_cluster.sh start \
        "$cluster" fsync=off wal_level=minimal max_wal_senders=0 full_page_writes=off max_wal_size=16GB \
                 checkpoint_timeout=1h shared_buffers=4GB)
fi
store=$server
cat >"$tmp/prescient.cfg" <<CFG
store = "$store";
plugin_dirs = [ "$jobs" ];
jobs = { is_paid = { plugin = "noop"; }; is_shipped_1 = { plugin = "noop"; }; };
CFG
cd "$tmp"
"$program" init --quiet >/dev/null
build
# No engine runs here: what has become due since, where one runs, it would have run.
q -c "DELETE FROM prescient.future_job WHERE next_check_at <= now()"
echo "$(q -c "SELECT pg_size_pretty(pg_database_size('postgres'))") in all"
read_everything
