-- bench_sqlite.sql - the same for SQLite, on a file of the bench's own.

-- name: add_tables
CREATE TABLE bench_order (
    id INTEGER PRIMARY KEY, customer TEXT NOT NULL, placed_at TEXT NOT NULL, shipped_at TEXT) STRICT;
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {checks})
INSERT INTO bench_order
SELECT i, 'customer ' || i % 1000, datetime('now', '-3 hours'), datetime('now') FROM n;
ANALYZE

-- name: add_future
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {future}),
slots (i, at) AS (SELECT i, (strftime('%s', 'now') / 900 + 96 + i * 2880 / {future}) * 900 FROM n)
INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at)
SELECT 'waiting', CAST(i AS TEXT), 'bench_end', at, at FROM slots

-- name: add_scattered
-- The table is in order of ids, so the due checks of a round come last; their index entries are
-- among the others.
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {future}),
slots (i, at) AS (SELECT i, (strftime('%s', 'now') / 900 + 96 + i * 7919 % 2880) * 900 FROM n)
INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at)
SELECT 'waiting', CAST(i AS TEXT), 'bench_end', at, at FROM slots

-- name: empty
DELETE FROM prescient_future_job WHERE entity_name IN ('orders', 'prescient.event');
DELETE FROM prescient_event;
DELETE FROM prescient_future_job_history;
DELETE FROM prescient_future_job_run;
DELETE FROM prescient_slot_pass;
DELETE FROM prescient_slot_lease

-- part: rule
'schedule "order %d" every 3600 bias 0.0667 missed run_once'

-- name: add_due
-- The checks of bench_recur are those of schedules, one each, that have run before; those of
-- bench_keyed have 1,000 concurrency keys in turn; of those of bench_tenants every other is of one
-- tenant.
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {checks})
INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at, terms,
                                  origin, concurrency_key, tenant)
SELECT 'orders', CAST(i AS TEXT), '{job}', {slot}, {slot},
       CASE WHEN '{job}' = 'bench_recur' THEN printf({rule}, i) END,
       CASE WHEN '{job}' = 'bench_recur' THEN printf('%032x', i) END,
       CASE WHEN '{job}' = 'bench_keyed' THEN 'key ' || (i % 1000) END,
       CASE WHEN '{job}' = 'bench_tenants' THEN 'tenant ' || ((i % 1000) * (i % 2)) END FROM n;
ANALYZE

-- name: pass
SELECT max(recorded_at_us) - min(recorded_at_us), coalesce(sum(run), 0), coalesce(max(late_us), 0)
  FROM prescient_slot_pass WHERE slot_at = {slot}

-- name: enqueue
INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at)
VALUES ('orders', ?1, 'bench_end', ?2)

-- name: bare_insert
INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at)
VALUES ('orders', ?1, 'bench_end', ?2, ?2) ON CONFLICT DO NOTHING

-- name: bare_read
SELECT id FROM prescient_future_job WHERE next_check_at = ?1 AND bucket = 0 ORDER BY priority, id

-- name: bare_archive
-- ?1 id, ?2 clock
INSERT INTO prescient_future_job_history (check_id, ended_at_us, entity_name, entity_key, job_exec, outcome,
       check_count, failure_count, run_count, slot_at, first_check_at, first_run_at_us, last_run_at_us,
       total_run_us, last_run_us, engine, archived_at_us)
SELECT id, ?2, entity_name, entity_key, job_exec, 'done', check_count, failure_count, 1, next_check_at,
       first_check_at, ?2, ?2, 1, 1, 'localhost/1234567', ?2
  FROM prescient_future_job WHERE id = ?1

-- name: bare_delete
DELETE FROM prescient_future_job WHERE id = ?1

-- name: bare_run
-- ?1 id, ?2 clock, ?3 the next slot
INSERT INTO prescient_future_job_run (check_id, run_at_us, entity_name, entity_key, job_exec, outcome,
       check_count, failure_count, slot_at, next_check_at, run_us, engine, recorded_at_us)
SELECT id, ?2, entity_name, entity_key, job_exec, 'again', check_count + 1, failure_count, next_check_at,
       ?3, 1, 'localhost/1234567', ?2
  FROM prescient_future_job WHERE id = ?1

-- name: bare_move
-- ?1 id, ?2 clock, ?3 the next slot
UPDATE prescient_future_job SET next_check_at = ?3, check_count = check_count + 1, run_count = run_count + 1,
       first_run_at_us = coalesce(first_run_at_us, ?2), total_run_us = total_run_us + 1
 WHERE id = ?1

-- name: load_lateness
SELECT h.slot_at, o.recorded_at_us, h.archived_at_us, count(*)
  FROM prescient_future_job_history h
  JOIN prescient_slot_pass o ON o.slot_at = h.slot_at AND o.bucket = -1 AND o.pass = 0
 GROUP BY 1, 2, 3 ORDER BY 1, 3

-- name: load_starts
SELECT late, count(*) FROM (
    SELECT (last_run_at_us / 1000 - slot_at * 1000) * 1000 AS late FROM prescient_future_job_history
     WHERE last_run_at_us IS NOT NULL
    UNION ALL
    SELECT (run_at_us / 1000 - slot_at * 1000) * 1000 FROM prescient_future_job_run) GROUP BY 1 ORDER BY 1

-- name: load_outcomes
SELECT outcome, count(*)
  FROM (SELECT outcome FROM prescient_future_job_history
        UNION ALL SELECT 'run: ' || outcome FROM prescient_future_job_run)
 GROUP BY 1 ORDER BY 2 DESC, 1

-- name: load_pending
SELECT count(*) FROM prescient_future_job WHERE entity_name <> 'waiting'
