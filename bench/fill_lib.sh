# fill_lib.sh - stores with many rows, for what looks (reading.sh, pages.sh). Sourced, with: $store,
# $cluster (where it is noted what is done), $checks, $history, $runs (how many), $days of the past.
#
# Checks wait in the slots of 30 days to come, in no order on the disk: the worst that can be.
# History and runs come a burst every quarter of an hour; a quarter as many events as runs, and 64
# buckets of passes a slot.

q() { psql -qXAt -v ON_ERROR_STOP=1 "$store" "$@"; }

# ---- the tables ----------------------------------------------------------------------------------

# Part $1 of $2, so that several sessions can work side by side. Only the first hundred thousand
# have the bucket of their key, because computing it costs most, and the others are queried by slot.
put_checks() {
    q <<SQL
SET synchronous_commit = off;
INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at,
       tenant)
SELECT CASE WHEN i <= 100000 THEN prescient.bucket_of(e, i::text) ELSE i * 7 % 64 END, e, i::text, j, at, at,
       CASE WHEN i % 3 = 0 THEN 'tenant ' || i % 4999 END
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
       last_run_at, total_run_us, last_run_us, tenant, note)
SELECT at, at, slot, slot, 0, 0, 1, CASE WHEN i % 10 = 0 THEN 'invoices' ELSE 'orders' END, ($from + i)::text,
       CASE WHEN ($from + i) % 1000003 = 7 THEN 'look_at_rarity' WHEN i % 10 = 0 THEN 'is_paid'
            ELSE 'is_shipped_' || i % 7 END,
       CASE WHEN i % 50 = 49 THEN 'failed' ELSE 'done' END, 'bench/1', at, at, 900, 900,
       CASE WHEN i % 3 = 0 THEN 'tenant ' || i % 4999 END,
       CASE WHEN i % 50 = 49 THEN 'carrier ' || i % 7 || ' answered 503 for parcel ' || $from + i END
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
       check_count, failure_count, entity_name, entity_key, job_exec, outcome, engine, tenant)
SELECT ${recorded:+at, }at, slot, slot + interval '1 day', 900 + i % 977, 1, 0,
    CASE WHEN i % 10 = 0 THEN 'invoices' ELSE 'orders' END, ($from + i)::text,
       CASE WHEN i % 10 = 0 THEN 'is_paid' ELSE 'is_shipped_' || i % 7 END,
       CASE WHEN i % 50 = 49 THEN 'failed' ELSE 'again' END, 'bench/1',
       CASE WHEN i % 3 = 0 THEN 'tenant ' || i % 4999 END
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
INSERT INTO prescient.event (emitted_at, recorded_at, slot_at, check_count, event, entity_name, entity_key,
       job_exec)
SELECT at, at, prescient.slot_floor(at), 0, 'is_late', 'orders', i::text, 'is_shipped_1'
  FROM generate_series(1, $((runs / 4))) i, LATERAL (
       SELECT now() - i * interval '1 second' * $((days - 1)) * 86400 / $((runs / 4)) OFFSET 0) t (at);
SQL
}

make_days() {           # of history, and of whatever else has days
    q -o /dev/null -c "SELECT count(prescient.make_history_day(prescient.utc_day(now()) - n))
            FROM generate_series(1, $days) n
            WHERE NOT prescient.history_day_is_there(prescient.utc_day(now()) - n)"
}

# each_day FUNCTION: of the days that are not there yet
each_day() {
    for ((day = 0; day < days; day++)); do
        [ ! -e "$cluster/$1.$day" ] || continue
        "$1" $day
        touch "$cluster/$1.$day"
    done
}
put_history() { each_day put_history_day; }
put_runs() { each_day put_runs_day; }

index_days() {
    while [ "$(q -c "SELECT prescient.index_history_day()")" != 0 ]; do :; done
}

vacuum() { q -c "VACUUM ANALYZE" -c "CHECKPOINT"; }

# build STEP...: the finished steps are recorded beside the cluster's data, so that an interrupted
# build can continue.
build() {
    local step
    for step; do
        [ ! -e "$cluster/$step" ] || continue
        begun=$SECONDS
        $step
        touch "$cluster/$step"
        echo "$step: $((SECONDS - begun)) s"
    done
}
