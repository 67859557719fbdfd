-- fill_pages.sql - what bench/pages.sh puts beside many checks, runs and rows of history: psql,
-- with :history, how many rows of it there are.
SET synchronous_commit = off;
BEGIN;

CREATE ROLE pages_server LOGIN IN ROLE prescient_reader, prescient_enqueuer, prescient_operator;

-- ---- what waits ---------------------------------------------------------------------------------

-- One slot that a tenth of all waits for.
INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at,
       tenant)
SELECT i % 64, 'letters', i::text, 'is_sent', at, at, 'tenant ' || i % 977
  FROM generate_series(1, :history / 10) i, LATERAL (
       SELECT date_trunc('day', now(), 'UTC') + interval '36 hours') t (at);
-- In the slot that runs, and before: no engine runs here.
UPDATE prescient.future_job SET next_check_at = prescient.slot_floor(now())
 WHERE entity_name = 'orders' AND entity_key::integer BETWEEN 1 AND 20000;
UPDATE prescient.future_job SET next_check_at = prescient.slot_floor(now()) - interval '3 hours'
 WHERE entity_name = 'orders' AND entity_key::integer BETWEEN 20001 AND 40000;
-- Those that were put off, and those that are tried again.
UPDATE prescient.future_job SET put_off_at = prescient.slot_floor(now()) - interval '1 day', terms = NULL
 WHERE entity_name = 'orders' AND entity_key::integer BETWEEN 40001 AND 50000;
UPDATE prescient.future_job SET failure_count = 2
 WHERE entity_name = 'orders' AND entity_key::integer % 1000 = 3;

INSERT INTO prescient.pause (slot_at, what, name, reason, paused_at, paused_by)
SELECT timestamptz '9000-01-01 00:00:00+00' + n * interval '24 hours', 'entity', 'orders ' || n, 'why not',
       now(), 'me'
  FROM generate_series(1, 20) n;
UPDATE prescient.future_job SET next_check_at = timestamptz '9000-01-02 00:00:00+00'
                                + entity_key::integer % 20 * interval '24 hours'
 WHERE entity_name = 'orders' AND entity_key::integer BETWEEN 60001 AND 90000;

INSERT INTO prescient.schedule (name, entity_name, entity_key, job_exec, every_s, bias, missed, made_at,
       made_by, changed_at, changed_by)
SELECT 'stock of shop ' || lpad(i::text, 7, '0'), 'shop', i::text,
       CASE WHEN i % 100 = 0 THEN 'rare' ELSE 'is_paid' END, 300, 0, 'run_once', now(), 'me', now(), 'me'
  FROM generate_series(1, 20000) i;
INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at,
       terms)
SELECT prescient.bucket_of(s.entity_name, s.entity_key), s.entity_name, s.entity_key, s.job_exec, t.at, t.at,
       prescient.terms_of(s, now())
  FROM prescient.schedule s, LATERAL (
       SELECT prescient.slot_floor(now()) + (1 + s.entity_key::integer % 96) * interval '15 minutes') t (at);

-- ---- what was -----------------------------------------------------------------------------------

-- A carrier is down: this hour's trouble.
INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at, check_count,
       failure_count, run_count, entity_name, entity_key, job_exec, outcome, engine, first_run_at,
       last_run_at, total_run_us, last_run_us, note)
SELECT at, at, prescient.slot_floor(at), prescient.slot_floor(at), 0, 3, 3, 'parcels', i::text, 'is_picked',
       CASE WHEN i % 10 = 0 THEN 'timeout' ELSE 'failed' END, 'bench/1', at, at, 9000, 3000,
       'carrier ' || i % 7 || ' answered 503 for parcel ' || i
  FROM generate_series(1, 200000) i, LATERAL (SELECT now() - interval '50 minutes'
                                                     + i * interval '10 ms') t (at);

-- Events of the last days were heard: what was delivered, what was not, what waits.
CREATE TEMP TABLE heard AS
SELECT e.generation, e.xid, e.id, e.recorded_at, row_number() OVER (ORDER BY e.recorded_at DESC) AS n,
       md5(e.id::text || 'origin')::uuid AS origin
  FROM prescient.event e WHERE e.recorded_at > now() - interval '3 days' AND e.id % 3 = 0 LIMIT 200000;
UPDATE prescient.event e SET origin = h.origin
  FROM heard h WHERE e.generation = h.generation AND e.xid = h.xid AND e.id = h.id
       AND e.recorded_at = h.recorded_at;
INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at, check_count,
       failure_count, run_count, entity_name, entity_key, job_exec, outcome, engine, first_run_at,
       last_run_at, total_run_us, last_run_us, note)
SELECT h.recorded_at, h.recorded_at, prescient.slot_floor(h.recorded_at), h.recorded_at, 0,
       CASE WHEN h.n % 20 = 0 THEN 5 ELSE 0 END, 1, 'prescient.event',
       CASE WHEN h.n % 2 = 0 THEN 'hook/' ELSE 'mail/' END || replace(h.origin::text, '-', ''), 'webhook',
       CASE WHEN h.n % 20 = 0 THEN 'failed' ELSE 'done' END, 'bench/1', h.recorded_at, h.recorded_at, 900,
       900, CASE WHEN h.n % 20 = 0 THEN 'the receiver answered 500' END
  FROM heard h WHERE h.n % 5 <> 0;
INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at,
       failure_count, run_count)
SELECT prescient.bucket_of('prescient.event', k.key), 'prescient.event', k.key, 'webhook', h.recorded_at,
       prescient.slot_floor(now()) + interval '1 hour', h.n % 4, h.n % 4
  FROM heard h, LATERAL (SELECT CASE WHEN h.n % 10 = 0 THEN 'hook/' ELSE 'mail/' END
                                || replace(h.origin::text, '-', '')) k (key)
 WHERE h.n % 5 = 0;

INSERT INTO prescient.change (changed_at, who, done_by, change, what, entity_name, entity_key, job_exec,
       reason, before, after)
SELECT now() - i * interval '6 s', CASE WHEN i % 4 = 0 THEN 'grafana' ELSE '' END, 'me',
       CASE WHEN i % 7 = 0 THEN 'retry' ELSE 'run-now' END, 'check', 'orders', i::text, 'is_shipped_1',
       'the carrier is back', '{"check_at": 0}', '{"check_at": 1}'
  FROM generate_series(1, 200000) i;

-- ---- notes of engines ---------------------------------------------------------------------------

-- What runs were like, of 14 days: 25 rows an hour and job, one job of many tenants.
INSERT INTO prescient.run_hour (hour_at, job_exec, entity_name, tenant, outcome, runs, took_us, took_max_us,
       late_max_us, took_classes, took_runs, late_classes, late_runs)
SELECT h, j.job, 'orders', CASE WHEN t = 0 THEN '' ELSE 'tenant ' || t END, o.outcome, 240, 240000, 90000,
       2000000, c.classes, c.runs, c.classes, c.runs
  FROM generate_series(date_trunc('hour', now(), 'UTC') - interval '14 days', now(), interval '1 hour') h,
       (SELECT 'is_shipped_' || n FROM generate_series(0, 6) n UNION ALL
        SELECT unnest(ARRAY['is_paid', 'is_sent', 'is_picked'])) j (job),
       unnest(ARRAY['done', 'again', 'failed']) o (outcome),
       generate_series(0, CASE WHEN j.job = 'is_paid' THEN 400 ELSE 8 END) t,
       (SELECT array_agg((100 + n)::smallint), array_agg(10::bigint) FROM generate_series(1, 24) n)
           c (classes, runs);
INSERT INTO prescient.tally (what, name, outcome, n, took_us, took, late_us, late)
SELECT w.what, 'job ' || j, o.outcome, 1000, w.us, w.counts, w.us, w.counts
  FROM generate_series(1, 300) j, unnest(ARRAY['done', 'again', 'failed', 'timeout']) o (outcome),
       (SELECT 'run', 1000000, array_agg(40::bigint) FROM generate_series(1, 23)
        UNION ALL SELECT 'ended', 0, '{}') w (what, us, counts);
INSERT INTO prescient.engine_seen (engine, command, file, listeners, jobs, seen_at, counts_until, version,
       host, pid, started_at, serves, last_slot_at, last_pass_at)
SELECT 'shop-' || n, 'daemon', '/etc/prescient.cfg', '', E'is_paid\nis_shipped_1\nis_sent', now(),
       now() + interval '1 day', '0.2.0', 'shop-' || n, 1000 + n, now() - interval '1 day', '',
       prescient.slot_floor(now()), now()
  FROM generate_series(1, 40) n;
INSERT INTO prescient.run_now (owner, number, engine, worker, entity_name, entity_key, job_exec, slot_at,
       began_at, seen_at)
SELECT md5(n::text)::uuid, m, 'shop-' || n, m, 'orders', (n * 100 + m)::text, 'is_paid',
       prescient.slot_floor(now()), now() - m * interval '10 s', now() + interval '1 day'
  FROM generate_series(1, 40) n, generate_series(1, 50) m;
COMMIT;
