-- bench_pg.sql - the statements of `prescient bench` on PostgreSQL: its scratch schema, the checks
-- of a round, and the bare SQL that the engine is compared with. The schema's name is fixed, so no
-- statement can touch real tables.

-- ---- the scratch schema -------------------------------------------------------------------------

-- name: take
-- Only one bench at a time, and only a schema that a bench has made may be dropped.
SELECT pg_try_advisory_lock(1886544243, 1651400547),
       coalesce((SELECT coalesce(obj_description(oid, 'pg_namespace') = 'scratch of prescient bench', false)
                   FROM pg_namespace WHERE nspname = 'prescient_bench'), true)

-- name: make
DROP SCHEMA IF EXISTS prescient_bench CASCADE;
CREATE SCHEMA prescient_bench;
COMMENT ON SCHEMA prescient_bench IS 'scratch of prescient bench'

-- name: drop
DROP SCHEMA IF EXISTS prescient_bench CASCADE

-- name: add_tables
-- The table of an application, and the table for a hand-written loop.
CREATE TABLE prescient_bench.bench_order (
    id bigint PRIMARY KEY, customer text NOT NULL, placed_at timestamptz NOT NULL, shipped_at timestamptz);
INSERT INTO prescient_bench.bench_order
SELECT i, 'customer ' || i % 1000, now() - interval '3 hours', now() FROM generate_series(1, {checks}) i;
CREATE TABLE prescient_bench.handmade (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, entity text NOT NULL, entity_key text NOT NULL,
    job text NOT NULL, check_at timestamptz NOT NULL, check_count integer NOT NULL DEFAULT 0, payload jsonb,
    UNIQUE (entity, entity_key, job));
CREATE INDEX ON prescient_bench.handmade (check_at);
CREATE TABLE prescient_bench.handmade_history (
    id bigint, entity text, entity_key text, job text, check_at timestamptz, check_count integer,
    payload jsonb, outcome text, archived_at timestamptz DEFAULT now());
VACUUM ANALYZE prescient_bench.bench_order

-- name: add_future
-- {future} checks in 2,880 slots from tomorrow on, in order of time: as if enqueued with equal
-- delays, they are adjacent in the table.
INSERT INTO prescient_bench.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
       next_check_at)
SELECT prescient_bench.bucket_of('waiting', i::text), 'waiting', i::text, 'bench_end', s.at, s.at
  FROM generate_series(1::bigint, {future}) i,
       LATERAL (SELECT prescient_bench.slot_ceil(now() + interval '1 day')
                     + (i * 2880 / {future}) * prescient_bench.slot_length_s() * interval '1 second' AS at) s

-- name: add_scattered
-- The same in random order, with gaps for the due checks of a round: one or two in each block.
INSERT INTO prescient_bench.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
       next_check_at)
SELECT prescient_bench.bucket_of(e.name, i::text), e.name, i::text, 'bench_end', s.at, s.at
  FROM generate_series(1::bigint, {future} + {checks}) i,
       LATERAL (SELECT {checks}::bigint AS due, {future}::bigint + {checks} AS sum) n,
       LATERAL (SELECT CASE WHEN (i - 1) * due / sum < i * due / sum THEN 'hole'
                            ELSE 'waiting' END AS name) e,
       LATERAL (SELECT prescient_bench.slot_ceil(now() + interval '1 day')
                       + (i * 7919 % 2880) * prescient_bench.slot_length_s() * interval '1 second' AS at) s;
DELETE FROM prescient_bench.future_job WHERE entity_name = 'hole'

-- ---- a round ------------------------------------------------------------------------------------

-- name: empty
TRUNCATE prescient_bench.future_job

-- name: empty_due
-- With other waiting checks, only those of a round are deleted, and its deliveries.
DELETE FROM prescient_bench.future_job WHERE entity_name IN ('orders', 'prescient.event')

-- name: vacuum
VACUUM (ANALYZE) prescient_bench.future_job

-- name: empty_past
TRUNCATE prescient_bench.future_job_history, prescient_bench.future_job_run, prescient_bench.slot_pass,
         prescient_bench.slot_lease, prescient_bench.event, prescient_bench.handmade,
         prescient_bench.handmade_history

-- part: rule
'schedule "order %s" every 3600 bias 0.0667 missed run_once'

-- name: add_due
-- The checks of bench_recur are those of schedules, one each, that have run before; those of
-- bench_keyed have 1,000 concurrency keys in turn; of those of bench_tenants every other is of one
-- tenant.
INSERT INTO prescient_bench.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
       next_check_at, terms, origin, concurrency_key, tenant)
SELECT prescient_bench.bucket_of('orders', i::text), 'orders', i::text, '{job}', to_timestamp({slot}),
       to_timestamp({slot}), CASE WHEN '{job}' = 'bench_recur' THEN format({rule}, i) END,
       CASE WHEN '{job}' = 'bench_recur' THEN md5(i::text) END,
       CASE WHEN '{job}' = 'bench_keyed' THEN 'key ' || (i % 1000) END,
       CASE WHEN '{job}' = 'bench_tenants' THEN 'tenant ' || ((i % 1000) * (i % 2)) END
  FROM generate_series(1, {checks}) i

-- name: add_handmade
INSERT INTO prescient_bench.handmade (entity, entity_key, job, check_at)
SELECT 'orders', i::text, 'noop', to_timestamp({slot}) FROM generate_series(1, {checks}) i;
VACUUM ANALYZE prescient_bench.handmade

-- name: checkpoint
CHECKPOINT

-- name: counters
-- The transactions are those of the whole database: nothing else should use it meanwhile.
SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint,
       (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()),
       (SELECT coalesce(sum(n_tup_upd + n_tup_del), 0)::bigint FROM pg_stat_user_tables
         WHERE schemaname = 'prescient_bench')

-- name: pass
-- How many checks were run, and the time from the statement that opened the slot to the end of its
-- last bucket, by the database's clock.
SELECT (extract(epoch FROM max(recorded_at) - min(recorded_at)) * 1000000)::bigint,
       coalesce(sum(run), 0)::bigint, coalesce(max(late_us), 0)::bigint
  FROM prescient_bench.slot_pass WHERE slot_at = to_timestamp({slot})

-- name: server
SELECT pg_backend_pid(), version(), current_setting('shared_buffers'), current_setting('synchronous_commit'),
       current_setting('fsync'), current_setting('max_wal_size'), current_setting('autovacuum')

-- name: hold_snapshot
BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class

-- ---- enqueue ------------------------------------------------------------------------------------

-- name: enqueue
SELECT prescient_bench.enqueue('orders', $1::text, 'bench_end', $2::timestamptz)

-- The kinds of key, time and payload; $1 and $2 are text.

-- name: enqueue_bigint
SELECT prescient_bench.enqueue('orders', $1::bigint, 'bench_end', $2::timestamptz)

-- name: enqueue_uuid
SELECT prescient_bench.enqueue('orders', $1::uuid, 'bench_end', $2::timestamptz)

-- name: enqueue_interval
SELECT prescient_bench.enqueue('orders', $1::bigint, 'bench_end', $2::interval)

-- name: enqueue_words
SELECT prescient_bench.enqueue('orders', $1, 'bench_end', $2)

-- name: enqueue_jsonb
SELECT prescient_bench.enqueue('orders', $1::text, 'bench_end', $2::timestamptz,
                               '{"total": 1, "currency": "EUR"}'::jsonb)

-- name: bare_insert
INSERT INTO prescient_bench.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
       next_check_at)
VALUES (prescient_bench.bucket_of('orders', $1::text), 'orders', $1::text, 'bench_end', $2::timestamptz,
        $2::timestamptz)
    ON CONFLICT DO NOTHING

-- name: plain_insert
-- With its bucket given, and an error where the check is there already.
INSERT INTO prescient_bench.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
       next_check_at)
VALUES (0, 'orders', $1::text, 'bench_end', $2::timestamptz, $2::timestamptz)

-- name: wait_for_no_commit
SET synchronous_commit = off

-- name: bare_copy
COPY prescient_bench.future_job (bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at)
FROM STDIN (FORMAT binary)

-- ---- the bare statements of a pass: the same rows and columns, no job, no lease -----------------

-- name: bare_read
-- $1 slot, $2 first and $3 last bucket
SELECT id, bucket FROM prescient_bench.future_job
 WHERE next_check_at = $1::timestamptz AND bucket BETWEEN $2::smallint AND $3::smallint
 ORDER BY bucket, priority, id

-- part: in_bucket
next_check_at = $1::timestamptz AND bucket = $2::smallint AND priority = 0

-- By ids, a batch descends the index a thousand times; by their range, once. Only a bench may use
-- the range, because the slot has no other rows.

-- part: by_ids
id = ANY ($3::bigint[])

-- part: by_range
id >= ($3::bigint[])[1] AND id <= ($3)[cardinality($3)]

-- part: archive_gone
INSERT INTO prescient_bench.future_job_history (archived_at, ended_at, slot_at, first_check_at, check_count,
       failure_count, run_count, entity_name, entity_key, job_exec, outcome, engine, first_run_at,
       last_run_at, total_run_us, last_run_us)
SELECT now(), now(), $1, first_check_at, check_count, failure_count, 1, entity_name, entity_key, job_exec,
       'done', 'localhost/1234567', now(), now(), 1, 1
  FROM gone

-- name: bare_end
-- $1 slot, $2 bucket, $3 ids, $4 the next slot (not used)
WITH gone AS (
    DELETE FROM prescient_bench.future_job
     WHERE {in_bucket} AND {by_ids} AND $4::timestamptz IS NOT NULL
    RETURNING first_check_at, check_count, failure_count, entity_name, entity_key, job_exec)
{archive_gone}

-- name: bare_end_range
-- The same parameters.
WITH gone AS (
    DELETE FROM prescient_bench.future_job
     WHERE {in_bucket} AND {by_range} AND $4::timestamptz IS NOT NULL
    RETURNING first_check_at, check_count, failure_count, entity_name, entity_key, job_exec)
{archive_gone}

-- part: move_to_next_slot
UPDATE prescient_bench.future_job
   SET next_check_at = $4::timestamptz, check_count = check_count + 1,
       first_run_at = coalesce(first_run_at, now()),
       run_count = coalesce(run_count, 0) + 1, total_run_us = coalesce(total_run_us, 0) + 1

-- part: log_moved
INSERT INTO prescient_bench.future_job_run (run_at, slot_at, next_check_at, run_us, check_count,
       failure_count, entity_name, entity_key, job_exec, outcome, engine)
SELECT now(), $1, next_check_at, 1, check_count, failure_count, entity_name, entity_key, job_exec, 'again',
       'localhost/1234567'
  FROM moved

-- name: bare_move
-- $1 slot, $2 bucket, $3 ids, $4 the next slot
WITH moved AS (
    {move_to_next_slot}
     WHERE {in_bucket} AND {by_ids}
    RETURNING next_check_at, check_count, failure_count, entity_name, entity_key, job_exec)
{log_moved}

-- name: bare_move_range
-- The same parameters.
WITH moved AS (
    {move_to_next_slot}
     WHERE {in_bucket} AND {by_range}
    RETURNING next_check_at, check_count, failure_count, entity_name, entity_key, job_exec)
{log_moved}

-- name: bare_loop
-- A hand-written loop: locks the next thousand, deletes them, keeps a history. No job.
WITH due AS MATERIALIZED (
    SELECT id FROM prescient_bench.handmade WHERE check_at <= now() ORDER BY check_at LIMIT 1000
       FOR UPDATE SKIP LOCKED),
gone AS (
    DELETE FROM prescient_bench.handmade h USING due WHERE h.id = due.id RETURNING h.*)
INSERT INTO prescient_bench.handmade_history (id, entity, entity_key, job, check_at, check_count, payload,
       outcome)
SELECT id, entity, entity_key, job, check_at, check_count, payload, 'done' FROM gone

-- ---- the load generator -------------------------------------------------------------------------

-- name: load_lateness
-- By slot: when its pass began by the machine's clock, and how many of its checks ended when. In
-- microseconds.
SELECT extract(epoch FROM h.slot_at)::bigint, (extract(epoch FROM o.recorded_at) * 1000000)::bigint,
       (extract(epoch FROM h.archived_at) * 1000000)::bigint, count(*)
  FROM prescient_bench.future_job_history h
  JOIN prescient_bench.slot_pass o ON o.slot_at = h.slot_at AND o.bucket = -1 AND o.pass = 0
 GROUP BY 1, 2, 3 ORDER BY 1, 3

-- name: load_starts
-- Live: how long after its last slot each check's last run began, in microseconds, in order.
SELECT late, count(*) FROM (
    SELECT (extract(epoch FROM last_run_at - slot_at) * 1000)::bigint * 1000 AS late
      FROM prescient_bench.future_job_history WHERE last_run_at IS NOT NULL
    UNION ALL
    SELECT (extract(epoch FROM run_at - slot_at) * 1000)::bigint * 1000 FROM prescient_bench.future_job_run) r
 GROUP BY 1 ORDER BY 1

-- name: load_outcomes
SELECT outcome, count(*)
  FROM (SELECT outcome FROM prescient_bench.future_job_history
        UNION ALL SELECT 'run: ' || outcome FROM prescient_bench.future_job_run) o
 GROUP BY 1 ORDER BY 2 DESC, 1

-- name: load_pending
SELECT count(*) FROM prescient_bench.future_job WHERE entity_name <> 'waiting'
