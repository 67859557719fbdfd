-- fill_pages_sqlite.sql - the store of bench/pages.sh on SQLite: the sqlite3 of the command line,
-- with a table "asked" that says how many rows. As fill_pages.sql says, a tenth of each.
PRAGMA synchronous = off;
PRAGMA cache_size = -400000;
CREATE TEMP TABLE clock AS
SELECT unixepoch() AS now, unixepoch() / 900 * 900 AS slot, unixepoch('now', 'start of day') AS day;

BEGIN;
-- ---- what waits ---------------------------------------------------------------------------------

INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at, tenant)
SELECT CASE WHEN value % 10 = 0 THEN 'invoices' ELSE 'orders' END, value,
       CASE WHEN value % 10 = 0 THEN 'is_paid' ELSE 'is_shipped_' || value % 7 END,
       slot + (1 + value * 1000003 % 2880) * 900, slot + (1 + value * 1000003 % 2880) * 900,
       CASE WHEN value % 3 = 0 THEN 'tenant ' || value % 4999 END
  FROM asked, clock, generate_series(1, asked.rows);
INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at, tenant)
SELECT 'letters', value, 'is_sent', day + 129600, day + 129600, 'tenant ' || value % 977
  FROM asked, clock, generate_series(1, asked.rows / 10);
UPDATE prescient_future_job SET next_check_at = (SELECT slot FROM clock)
 WHERE entity_name = 'orders' AND CAST(entity_key AS INTEGER) BETWEEN 1 AND 20000;
UPDATE prescient_future_job SET next_check_at = (SELECT slot - 10800 FROM clock)
 WHERE entity_name = 'orders' AND CAST(entity_key AS INTEGER) BETWEEN 20001 AND 40000;
UPDATE prescient_future_job SET put_off_at = (SELECT slot - 86400 FROM clock)
 WHERE entity_name = 'orders' AND CAST(entity_key AS INTEGER) BETWEEN 40001 AND 50000;
UPDATE prescient_future_job SET failure_count = 2
 WHERE entity_name = 'orders' AND CAST(entity_key AS INTEGER) % 1000 = 3;
INSERT INTO prescient_pause (slot_at, what, name, reason, paused_at_us, paused_by)
SELECT unixepoch('9000-01-01') + value * 86400, 'entity', 'orders ' || value, 'why not', now * 1000000, 'me'
  FROM clock, generate_series(1, 20);
UPDATE prescient_future_job
   SET next_check_at = unixepoch('9000-01-02') + CAST(entity_key AS INTEGER) % 20 * 86400
 WHERE entity_name = 'orders' AND CAST(entity_key AS INTEGER) BETWEEN 60001 AND 90000;

-- ---- what was -----------------------------------------------------------------------------------

INSERT INTO prescient_future_job_history (check_id, ended_at_us, entity_name, entity_key, job_exec, outcome,
       check_count, failure_count, run_count, slot_at, first_check_at, first_run_at_us, last_run_at_us,
       total_run_us, last_run_us, engine, archived_at_us, note, tenant)
SELECT value, at_us, CASE WHEN value % 10 = 0 THEN 'invoices' ELSE 'orders' END, value,
       CASE WHEN value % 10 = 0 THEN 'is_paid' ELSE 'is_shipped_' || value % 7 END,
       CASE WHEN value % 50 = 49 THEN 'failed' ELSE 'done' END, 0, 0, 1, at_us / 900000000 * 900,
       at_us / 900000000 * 900, at_us, at_us, 900, 900, 'bench/1', at_us,
       CASE WHEN value % 50 = 49 THEN 'carrier ' || value % 7 || ' answered 503 for parcel ' || value END,
       CASE WHEN value % 3 = 0 THEN 'tenant ' || value % 4999 END
  FROM (SELECT value, (now - 14 * 86400 + value * 14 * 86400 / asked.rows) * 1000000 AS at_us
          FROM asked, clock, generate_series(1, asked.rows));
INSERT INTO prescient_future_job_run (check_id, run_at_us, entity_name, entity_key, job_exec, outcome,
       check_count, failure_count, slot_at, next_check_at, run_us, note, engine, recorded_at_us, tenant)
SELECT value, at_us, CASE WHEN value % 10 = 0 THEN 'invoices' ELSE 'orders' END, value,
       CASE WHEN value % 10 = 0 THEN 'is_paid' ELSE 'is_shipped_' || value % 7 END,
       CASE WHEN value % 50 = 49 THEN 'failed' ELSE 'again' END, 1, 0, at_us / 900000000 * 900,
       at_us / 900000000 * 900 + 86400, 900 + value % 977, NULL, 'bench/1', at_us,
       CASE WHEN value % 3 = 0 THEN 'tenant ' || value % 4999 END
  FROM (SELECT value, (now - 14 * 86400 + value * 14 * 86400 / asked.rows) * 1000000 AS at_us
          FROM asked, clock, generate_series(1, asked.rows));
INSERT INTO prescient_future_job_history (check_id, ended_at_us, entity_name, entity_key, job_exec, outcome,
       check_count, failure_count, run_count, slot_at, first_check_at, first_run_at_us, last_run_at_us,
       total_run_us, last_run_us, engine, archived_at_us, note)
SELECT value, at_us, 'parcels', value, 'is_picked', CASE WHEN value % 10 = 0 THEN 'timeout' ELSE 'failed' END,
       0, 3, 3, at_us / 900000000 * 900, at_us / 900000000 * 900, at_us, at_us, 9000, 3000, 'bench/1', at_us,
       'carrier ' || value % 7 || ' answered 503 for parcel ' || value
  FROM (SELECT value, (now - 3000) * 1000000 + value * 50000 AS at_us
          FROM asked, clock, generate_series(1, asked.rows / 50));
INSERT INTO prescient_event (event, entity_name, entity_key, job_exec, emitted_at_us, recorded_at_us,
       slot_at, check_count, origin)
SELECT 'is_late', 'orders', value, 'is_shipped_1', at_us, at_us, at_us / 900000000 * 900, 0,
       CASE WHEN value % 25 = 0 THEN printf('%032x', value) END
  FROM (SELECT value, (now - asked.rows / 2 + value) * 1000000 AS at_us
          FROM asked, clock, generate_series(1, asked.rows / 2));
INSERT INTO prescient_future_job_history (check_id, ended_at_us, entity_name, entity_key, job_exec, outcome,
       check_count, failure_count, run_count, slot_at, first_check_at, first_run_at_us, last_run_at_us,
       total_run_us, last_run_us, engine, archived_at_us, note)
SELECT id, recorded_at_us, 'prescient.event', iif(id % 50 = 0, 'hook/', 'mail/') || origin, 'webhook',
       iif(id % 500 = 0, 'failed', 'done'), 0, iif(id % 500 = 0, 5, 0), 1, slot_at, slot_at,
       recorded_at_us, recorded_at_us, 900, 900, 'bench/1', recorded_at_us,
       iif(id % 500 = 0, 'the receiver answered 500', NULL)
  FROM prescient_event WHERE origin IS NOT NULL AND id % 75 <> 0;
INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at,
       failure_count, run_count, terms)
SELECT 'prescient.event', iif(id % 50 = 0, 'hook/', 'mail/') || origin, 'webhook', slot_at, slot + 3600,
       id % 4, id % 4, NULL
  FROM clock, prescient_event WHERE origin IS NOT NULL AND id % 75 = 0;
INSERT INTO prescient_slot_pass (slot_at, bucket, pass, engine, split, opened_rows, closed_at_us, run, done,
       again, late_us, took_us, recorded_at_us)
SELECT s.value, -1, p.value, 'bench/1', 1, iif(p.value = 0, 3500, NULL),
       iif(p.value = 0, s.value * 1000000, NULL), p.value * 3500, p.value * 2500, p.value * 1000,
       iif(p.value = 0, NULL, 1000000),
       iif(p.value = 0, NULL, 200000), s.value * 1000000
  FROM clock, generate_series(slot - 14 * 86400, slot, 900) s, generate_series(0, 1) p;
INSERT INTO prescient_change (changed_at_us, who, done_by, change, what, entity_name, entity_key, job_exec,
       before, after, reason)
SELECT (now - 6 * (50000 - value)) * 1000000, iif(value % 4 = 0, 'grafana', ''), 'me',
       iif(value % 7 = 0, 'retry', 'run-now'), 'check', 'orders', value, 'is_shipped_1', '{"check_at": 0}',
       '{"check_at": 1}', 'the carrier is back'
  FROM clock, generate_series(1, 50000);

-- ---- notes of engines ---------------------------------------------------------------------------

INSERT INTO prescient_run_hour (hour_at, job_exec, entity_name, tenant, outcome, runs, took_us, took_max_us,
       late_max_us, took, late)
SELECT h.value, iif(j.value < 7, 'is_shipped_' || j.value, iif(j.value = 7, 'is_paid', 'is_sent')), 'orders',
       iif(t.value = 0, '', 'tenant ' || t.value), o.value, 240, 240000, 90000, 2000000, c.classes, c.classes
  FROM clock, json_each('["done", "again", "failed"]') o, generate_series(0, 8) j,
       generate_series(slot / 3600 * 3600 - 14 * 86400, now, 3600) h, generate_series(0, 200) t,
       (SELECT json_group_object(100 + value, 10) AS classes FROM generate_series(1, 24)) c
 WHERE t.value <= iif(j.value = 7, 200, 8);
INSERT INTO prescient_tally (what, name, outcome, n, took_us, took, late_us, late, made_at_us)
SELECT w.what, 'job ' || j.value, o.value, 1000, w.us, w.counts, w.us, w.counts, now * 1000000
  FROM clock, generate_series(1, 300) j, json_each('["done", "again", "failed", "timeout"]') o,
       (SELECT 'run' AS what, 1000000 AS us, json_group_array(40) AS counts FROM generate_series(1, 23)
        UNION ALL SELECT 'ended', 0, '[]') w;
INSERT INTO prescient_engine_seen (engine, command, file, listeners, jobs, seen_at_us, counts_until_us,
       version, host, pid, started_at_us, serves, last_slot_at, last_pass_at_us)
SELECT 'shop-' || value, 'daemon', '/etc/prescient.cfg', '', 'is_paid' || char(10) || 'is_sent',
       now * 1000000, (now + 86400) * 1000000, '0.2.0', 'shop-' || value, 1000 + value, now * 1000000, '',
       slot, now * 1000000
  FROM clock, generate_series(1, 40);
COMMIT;
