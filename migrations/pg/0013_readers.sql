-- 0013_readers - what waits and what was, for those who only read: dashboards, admin pages,
-- reports.
--
-- Views with stable names and columns: a column is only ever added at the end. A view has the
-- rights of its owner, so its readers need none on the tables. What a view leaves out they cannot
-- see: payloads and the data of events, which may hold personal data. The columns are listed, never
-- "*": a column that a later migration adds to a table changes nothing here.
--
-- Two more views: schedules in 0009_schedules, pauses in 0010_pauses. A check *runs*, or its job
-- *looks*: that is one thing. check_count is taken before the answer in an event and after it in a
-- run, so it numbers no run; check_number does, the same one everywhere: 1 for the first.

-- ---- views --------------------------------------------------------------------------------------

-- The primary key begins with the bucket, which nobody who asks for an entity and a key can name.
-- There are 64: with their numbers beside it, each is one step of the key. As a list, not a table
-- to be joined: that would be gone through for each row of a look in another order. Of a join,
-- which `one` makes it, nobody can delete.
CREATE VIEW prescient.pending AS
    SELECT f.next_check_at, f.entity_name, f.entity_key, f.job_exec, f.check_count, f.failure_count,
           f.priority, f.first_check_at, f.again_at, f.put_off_at,
           f.next_check_at >= '9000-01-01 00:00:00+00' AND f.next_check_at < '10000-01-01 00:00:00+00'
               AS is_paused, f.concurrency_key, f.tenant, f.bucket, f.id
      FROM (SELECT) one, prescient.future_job f
     WHERE f.bucket = ANY ('{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,
                             30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,
                             56,57,58,59,60,61,62,63}'::smallint[]);
COMMENT ON VIEW prescient.pending IS 'Checks that wait for their slot.';
COMMENT ON COLUMN prescient.pending.next_check_at IS 'The slot in which the check is looked at next.';
COMMENT ON COLUMN prescient.pending.check_count IS 'Looks so far that ended with: again.';
COMMENT ON COLUMN prescient.pending.failure_count IS 'Failures in a row.';
COMMENT ON COLUMN prescient.pending.first_check_at IS 'The slot of its first look.';
COMMENT ON COLUMN prescient.pending.again_at IS
    'Asked for again while its slot was running: when that look ends it, it starts anew here.';
COMMENT ON COLUMN prescient.pending.put_off_at IS
    'The slot at which it was due and was put off without having been run; NULL: it was not.';
COMMENT ON COLUMN prescient.pending.is_paused IS
    'It waits until it is resumed (see pauses); next_check_at is no time at which it is looked at.';
COMMENT ON COLUMN prescient.pending.concurrency_key IS
    'Checks that share one are not run at the same moment; NULL: it shares none.';
COMMENT ON COLUMN prescient.pending.tenant IS
    'Whose it is: tenants take turns at workers; NULL: its entity stands for it.';
COMMENT ON COLUMN prescient.pending.bucket IS
    'Which of the 64 parts of a slot: with next_check_at, priority and id the order of an index.';
COMMENT ON COLUMN prescient.pending.id IS 'The number of this life of the check.';

CREATE VIEW prescient.history AS
    SELECT h.ended_at, h.entity_name, h.entity_key, h.job_exec, h.outcome,
           CASE WHEN h.outcome IN ('past', 'beyond_horizon', 'max_checks', 'deferred_out', 'unknown_job')
                THEN h.outcome
                WHEN h.outcome IN ('failed', 'timeout', 'crashed', 'bad_answer') THEN 'max_failures' END
               AS guard,
           h.check_count, h.failure_count, h.run_count, h.slot_at, h.first_check_at, h.first_run_at,
           h.last_run_at, coalesce(h.total_run_us, 0) AS total_run_us, h.last_run_us, h.note, h.engine,
           h.archived_at,
           h.check_count::bigint
               + (h.outcome NOT IN ('resolved', 'unknown_job') OR h.failure_count > 0)::integer
               AS check_number, h.tenant
      FROM prescient.future_job_history h;
COMMENT ON VIEW prescient.history IS 'Checks that have ended, one row each.';
COMMENT ON COLUMN prescient.history.ended_at IS 'When it ended; in a replay, the virtual time.';
COMMENT ON COLUMN prescient.history.archived_at IS
    'When the row was written, by the real clock: a condition on it reads only the days that it names.';
COMMENT ON COLUMN prescient.history.guard IS 'The guard that ended it; NULL: none did.';
COMMENT ON COLUMN prescient.history.check_count IS 'Looks that ended with: again.';
COMMENT ON COLUMN prescient.history.check_number IS 'The number of the last look; 0: there was none.';
COMMENT ON COLUMN prescient.history.total_run_us IS 'All looks together, in microseconds.';
COMMENT ON COLUMN prescient.history.last_run_us IS 'The last look, in microseconds.';
COMMENT ON COLUMN prescient.history.note IS 'What the job said, or why it failed.';
COMMENT ON COLUMN prescient.history.tenant IS 'Whose it was; NULL: nobody said.';

CREATE VIEW prescient.runs AS
    SELECT r.run_at, r.entity_name, r.entity_key, r.job_exec, r.outcome, r.check_count, r.failure_count,
           r.slot_at, r.next_check_at, r.run_us, r.note, r.engine, r.recorded_at,
           r.check_count::bigint + (r.outcome <> 'again')::integer AS check_number, r.tenant
      FROM prescient.future_job_run r;
COMMENT ON VIEW prescient.runs IS 'Looks that did not end their check, one row each.';
COMMENT ON COLUMN prescient.runs.run_at IS 'When the job looked; in a replay, the virtual time.';
COMMENT ON COLUMN prescient.runs.recorded_at IS
    'When the row was written, by the real clock: a condition on it reads only the days that it names.';
COMMENT ON COLUMN prescient.runs.run_us IS 'How long it looked, in microseconds.';
COMMENT ON COLUMN prescient.runs.check_count IS 'Looks that had ended with: again after this one.';
COMMENT ON COLUMN prescient.runs.check_number IS 'The number of this look; the first is 1.';
COMMENT ON COLUMN prescient.runs.tenant IS 'Whose it is; NULL: nobody said.';

CREATE VIEW prescient.run_hours AS
    SELECT r.hour_at, r.job_exec, r.entity_name, nullif(r.tenant, '') AS tenant, r.outcome, r.runs, r.took_us,
           r.took_max_us, r.late_max_us,
           (SELECT coalesce(jsonb_object_agg(k.class, k.runs), '{}')
              FROM unnest(r.took_classes, r.took_runs) k (class, runs)) AS took,
           (SELECT coalesce(jsonb_object_agg(k.class, k.runs), '{}')
              FROM unnest(r.late_classes, r.late_runs) k (class, runs)) AS late
      FROM prescient.run_hour r;
COMMENT ON VIEW prescient.run_hours IS
    'What the runs of each hour were like, by job, entity, tenant and outcome, at most a minute old. '
    'runs_by() adds them up.';
COMMENT ON COLUMN prescient.run_hours.entity_name IS
    'Empty: those for which the engine had no room, with more than a thousand kinds of runs at a time.';
COMMENT ON COLUMN prescient.run_hours.tenant IS
    'Whose they are; NULL: nobody has said it, or the engine had no room for it.';
COMMENT ON COLUMN prescient.run_hours.took_us IS 'All runs together, in microseconds.';
COMMENT ON COLUMN prescient.run_hours.late_max_us IS 'From the slot to the start, in microseconds.';
COMMENT ON COLUMN prescient.run_hours.took IS
    'How many took how long: {"104": 3} are three of class 104, about class_us(104) microseconds.';
COMMENT ON COLUMN prescient.run_hours.late IS 'How many began how late, likewise.';

CREATE VIEW prescient.tallies AS
    SELECT t.what, t.name, t.outcome, t.n, t.took_us, t.took, t.late_us, t.late, t.made_at
      FROM prescient.tally t;
COMMENT ON VIEW prescient.tallies IS
    'What is counted for ever, at most a minute old: runs and ended checks by job and outcome, ended '
    'deliveries by listener and outcome, missed slots, errors of the store that engines met.';
COMMENT ON COLUMN prescient.tallies.what IS 'run, ended, delivery, missed_slot or store_error.';
COMMENT ON COLUMN prescient.tallies.name IS
    'The job, the listener, or the class of the error; empty: none, or there was no room for it.';
COMMENT ON COLUMN prescient.tallies.outcome IS 'Empty where what has none.';
COMMENT ON COLUMN prescient.tallies.took_us IS 'All runs together, in microseconds.';
COMMENT ON COLUMN prescient.tallies.took IS
    'How many runs took less than 1.024 ms, less than 2.048 ms and no less than that, and so on; the last: '
    'no less than 71.58 minutes.';
COMMENT ON COLUMN prescient.tallies.late_us IS
    'From the slots to the starts, all together, in microseconds.';
COMMENT ON COLUMN prescient.tallies.late IS 'How many began how late, as in took.';

CREATE VIEW prescient.running AS
    SELECT r.engine, r.worker, r.entity_name, r.entity_key, r.job_exec, r.slot_at, r.began_at, r.seen_at
      FROM prescient.run_now r WHERE r.seen_at > clock_timestamp() - interval '30 seconds';
COMMENT ON VIEW prescient.running IS
    'Runs that have been going on for more than five seconds, as engines noted them in the last half minute.';
COMMENT ON COLUMN prescient.running.worker IS 'The process id of the worker.';
COMMENT ON COLUMN prescient.running.seen_at IS 'When the engine noted it.';

CREATE VIEW prescient.engines AS
    SELECT e.engine, e.command, e.file, e.seen_at, e.counts_until, e.version, e.host, e.pid, e.started_at,
           e.serves, replace(rtrim(e.jobs, E'\n'), E'\n', ', ') AS jobs, e.last_slot_at, e.last_pass_at
      FROM prescient.engine_seen e WHERE e.counts_until > clock_timestamp();
COMMENT ON VIEW prescient.engines IS
    'Engines that have noted themselves: a daemon every minute, others when they end.';
COMMENT ON COLUMN prescient.engines.file IS 'Where its settings come from.';
COMMENT ON COLUMN prescient.engines.counts_until IS 'How long its note stands for it.';
COMMENT ON COLUMN prescient.engines.started_at IS 'Since when it has these settings.';
COMMENT ON COLUMN prescient.engines.serves IS 'Minutes of the hour whose slots it runs; empty: all.';
COMMENT ON COLUMN prescient.engines.last_slot_at IS 'The slot of the last pass that it was in.';
COMMENT ON COLUMN prescient.engines.last_pass_at IS 'When that was over.';

-- Eight classes to each doubling (rules/histogram.h): the middle of one, in microseconds.
CREATE FUNCTION prescient.class_us(class integer) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT CASE WHEN class < 8 THEN class
                ELSE ((8 + class % 8)::bigint << (class / 8 - 1)) + ((1::bigint << (class / 8 - 1)) >> 1)
           END $$;

-- The runs of the hours from that of `since` on, by what `part` names, those that took most first,
-- at most `most` of them (NULL: all): the classes of the others are not added up, which takes
-- longer than all else. A percentile is at most a sixteenth away from what it would be of the runs
-- themselves. It reads the table with its owner's rights: the view would make jsonb of the classes.
CREATE FUNCTION prescient.runs_by(part text, since timestamptz DEFAULT now() - interval '1 day',
                                  job text DEFAULT NULL, most bigint DEFAULT NULL)
    RETURNS TABLE (name text, runs bigint, done bigint, again bigint, failed bigint, timeout bigint,
                   crashed bigint, other bigint, took_us bigint, took_p50_us bigint, took_p95_us bigint,
                   took_p99_us bigint, took_max_us bigint, late_p50_us bigint, late_p95_us bigint,
                   late_p99_us bigint, late_max_us bigint)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_column
BEGIN
    IF part IS NULL OR part NOT IN ('job', 'entity', 'tenant', 'hour') THEN
        RAISE EXCEPTION 'part: %: expected job, entity, tenant or hour', coalesce(quote_literal(part), 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN QUERY
    WITH chosen AS NOT MATERIALIZED (
        SELECT CASE part WHEN 'job' THEN r.job_exec WHEN 'entity' THEN r.entity_name
                         WHEN 'hour' THEN to_char(r.hour_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
                         ELSE coalesce(nullif(r.tenant, ''), r.entity_name) END AS name, r.outcome, r.runs,
               r.took_us, r.took_max_us, r.late_max_us, r.took_classes, r.took_runs, r.late_classes,
               r.late_runs
          FROM prescient.run_hour r
         WHERE r.hour_at >= date_trunc('hour', coalesce(since, '-infinity') AT TIME ZONE 'UTC')
                            AT TIME ZONE 'UTC'
           AND (runs_by.job IS NULL OR r.job_exec = runs_by.job)),
    sums AS (
        SELECT c.name, sum(c.runs)::bigint AS runs,
               coalesce(sum(c.runs) FILTER (WHERE c.outcome = 'done'), 0)::bigint AS done,
               coalesce(sum(c.runs) FILTER (WHERE c.outcome = 'again'), 0)::bigint AS again,
               coalesce(sum(c.runs) FILTER (WHERE c.outcome IN ('bad_answer', 'failed')), 0)::bigint
                   AS failed,
               coalesce(sum(c.runs) FILTER (WHERE c.outcome = 'timeout'), 0)::bigint AS timeout,
               coalesce(sum(c.runs) FILTER (WHERE c.outcome = 'crashed'), 0)::bigint AS crashed,
               sum(c.took_us)::bigint AS took_us, max(c.took_max_us) AS took_max_us,
               max(c.late_max_us) AS late_max_us
          FROM chosen c GROUP BY c.name
         ORDER BY CASE WHEN part = 'hour' THEN c.name END DESC, sum(c.took_us) DESC, c.name LIMIT most),
    -- Each of the 400 classes of a name, of how long and of how late, is one number here. Texts in
    -- place of it, a copy of `chosen`, and unnest in FROM take three times as long for 100,000.
    numbered AS MATERIALIZED (
        SELECT s.name, (row_number() OVER () - 1)::integer * 800 AS first FROM sums s),
    counted AS (
        SELECT k.class, sum(k.runs) AS runs
          FROM (SELECT n.first + unnest(c.took_classes), unnest(c.took_runs)
                  FROM chosen c JOIN numbered n ON n.name = c.name
                UNION ALL
                SELECT n.first + 400 + unnest(c.late_classes), unnest(c.late_runs)
                  FROM chosen c JOIN numbered n ON n.name = c.name) k (class, runs)
         GROUP BY k.class),
    classes AS (
        SELECT n.name, k.class - n.first >= 400 AS is_late, (k.class - n.first) % 400 AS class, k.runs
          FROM counted k JOIN numbered n ON n.first = k.class / 800 * 800),
    ranked AS (
        SELECT c.name, c.is_late, c.class,
               sum(c.runs) OVER (PARTITION BY c.name, c.is_late ORDER BY c.class)
               / sum(c.runs) OVER (PARTITION BY c.name, c.is_late) AS share
          FROM classes c),
    parts AS (
        SELECT r.name, r.is_late, prescient.class_us(min(r.class) FILTER (WHERE r.share >= 0.50)) AS p50,
               prescient.class_us(min(r.class) FILTER (WHERE r.share >= 0.95)) AS p95,
               prescient.class_us(min(r.class) FILTER (WHERE r.share >= 0.99)) AS p99
          FROM ranked r GROUP BY r.name, r.is_late)
    SELECT s.name, s.runs, s.done, s.again, s.failed, s.timeout, s.crashed,
           s.runs - s.done - s.again - s.failed - s.timeout - s.crashed, s.took_us,
           least(t.p50, s.took_max_us), least(t.p95, s.took_max_us), least(t.p99, s.took_max_us),
           s.took_max_us, least(l.p50, s.late_max_us), least(l.p95, s.late_max_us),
           least(l.p99, s.late_max_us), s.late_max_us
      FROM sums s LEFT JOIN parts t ON t.name = s.name AND NOT t.is_late
                  LEFT JOIN parts l ON l.name = s.name AND l.is_late
     ORDER BY CASE WHEN part = 'hour' THEN s.name END DESC, s.took_us DESC, s.name;
END $$;
COMMENT ON FUNCTION prescient.runs_by(text, timestamptz, text, bigint) IS
    'The runs of the last day, or since another time, by job, entity or tenant: how many ended how, how long '
    'they took, how late they began. Those that took most come first.';

-- Only events that a cursor may pass: nothing is ever written before them. The barrier keeps a
-- function in a WHERE from the others.
CREATE VIEW prescient.events WITH (security_barrier) AS
    WITH here AS MATERIALIZED (
        SELECT n.generation, n.below FROM prescient.generation_now() n)
    SELECT e.generation || '-' || e.xid::text || '-' || e.id AS cursor, e.event, e.entity_name, e.entity_key,
           e.job_exec, e.emitted_at, e.slot_at, e.check_count, e.recorded_at, e.generation, e.xid, e.id,
           e.check_count::bigint + 1 AS check_number
      FROM prescient.event e
     WHERE (e.generation, e.xid) < ((SELECT h.generation FROM here h), (SELECT h.below FROM here h));
COMMENT ON VIEW prescient.events IS
    'What jobs have emitted, up to the oldest transaction that still writes. Who goes on where it '
    'stopped takes ORDER BY generation, xid, id, and WHERE (generation, xid, id) > the last three: the '
    'order of the times is another one, and would skip what was committed late.';
COMMENT ON COLUMN prescient.events.cursor IS
    'generation, xid and id in one text, as `prescient events` has it.';
COMMENT ON COLUMN prescient.events.recorded_at IS
    'When the row was written, by the real clock: a condition on it reads only the days that it names.';
COMMENT ON COLUMN prescient.events.check_count IS 'Looks that had ended with: again before this one.';
COMMENT ON COLUMN prescient.events.check_number IS 'The number of the look that emitted it; the first is 1.';

-- It reads the table with its owner's rights: of the view, which has a barrier, PostgreSQL reads
-- all behind the cursor and sorts it. The planner must not know the cursor, either: where all
-- events are of one generation, its statistics show nothing behind it, and it would sort them all.
CREATE FUNCTION prescient.events_after(after text, most bigint DEFAULT 100) RETURNS SETOF prescient.events
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    known CONSTANT text[] := regexp_match(coalesce(after, '0-0-0') COLLATE "C",
                                          '^([0-9]{1,19})-([0-9]{1,20})-([0-9]{1,19})$');
BEGIN
    IF known IS NULL THEN
        RAISE EXCEPTION '"%" is no cursor: expected three numbers, GENERATION-XID-ID, as the column cursor '
                        'of an event has them, or NULL for the oldest events', left(after, 100)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM prescient.refuse_cursor_ahead(known[1]::bigint, known[2]::xid8);
    RETURN QUERY
        WITH here AS MATERIALIZED (
            SELECT n.generation, n.below FROM prescient.generation_now() n),
        last AS MATERIALIZED (
            SELECT known[1]::bigint AS generation, known[2]::xid8 AS xid, known[3]::bigint AS id)
        SELECT e.generation || '-' || e.xid::text || '-' || e.id, e.event, e.entity_name, e.entity_key,
               e.job_exec, e.emitted_at, e.slot_at, e.check_count, e.recorded_at, e.generation, e.xid, e.id,
               e.check_count::bigint + 1
          FROM prescient.event e
         WHERE (e.generation, e.xid, e.id) > ((SELECT l.generation FROM last l), (SELECT l.xid FROM last l),
                                              (SELECT l.id FROM last l))
           AND (e.generation, e.xid) < ((SELECT h.generation FROM here h), (SELECT h.below FROM here h))
         ORDER BY e.generation, e.xid, e.id LIMIT most;
END $$;
COMMENT ON FUNCTION prescient.events_after(text, bigint) IS
    'The next events behind a cursor, that of the last event that was read; NULL: the oldest. A cursor '
    'that this database cannot have given out is refused.';

CREATE VIEW prescient.slots AS
    SELECT p.slot_at,
           CASE WHEN max(p.closed_at) IS NOT NULL THEN 'closed'
                WHEN count(p.seen_xid) FILTER (WHERE p.pass = 0) > 0
                     OR count(DISTINCT p.bucket) FILTER (WHERE p.pass > 0) >= max(p.split) THEN 'relook'
                ELSE 'open' END AS state,
           max(p.late_us) AS late_us, sum(coalesce(p.run, 0))::bigint AS run,
           sum(coalesce(p.done, 0))::bigint AS done, sum(coalesce(p.again, 0))::bigint AS again,
           sum(coalesce(p.failed + p.timeout + p.crashed, 0))::bigint AS failed,
           min(p.recorded_at) FILTER (WHERE p.pass = 0) AS opened_at, max(p.closed_at) AS closed_at
      FROM prescient.slot_pass p GROUP BY p.slot_at;
COMMENT ON VIEW prescient.slots IS
    'Slots that an engine has opened, one row each; what waits in slots to come is in pending.';
COMMENT ON COLUMN prescient.slots.state IS
    'open: being run; relook: run, and looked at again for what is committed late; closed.';
COMMENT ON COLUMN prescient.slots.late_us IS 'How late its first look was, at the most, in microseconds.';
COMMENT ON COLUMN prescient.slots.failed IS 'Looks that failed, timed out or crashed.';

CREATE VIEW prescient.passes AS
    SELECT p.slot_at, p.bucket, p.pass, p.engine, p.split, p.run, p.done, p.again, p.failed, p.timeout,
           p.crashed, p.guarded, p.deferred, p.held_back, p.unknown_job, p.superseded, p.locked, p.late_us,
           p.took_us, array_to_string(p.left_jobs, ', ') AS left_jobs, p.recorded_at, p.busy
      FROM prescient.slot_pass p;
COMMENT ON VIEW prescient.passes IS
    'What engines did in a slot: one row (pass 0) when it was opened, which also counts what was run under '
    'leases that were given back, and one for each pass over a bucket.';
COMMENT ON COLUMN prescient.passes.bucket IS '0 to 63; -1: the whole slot.';
COMMENT ON COLUMN prescient.passes.split IS
    'In how many parts the slot is run, 1 or 64; only when pass is 0.';
COMMENT ON COLUMN prescient.passes.left_jobs IS 'Jobs whose checks were left behind.';
COMMENT ON COLUMN prescient.passes.busy IS
    'Checks that were put off because their concurrency key was busy elsewhere.';

CREATE VIEW prescient.consumers AS
    SELECT c.name, c.generation || '-' || c.xid::text || '-' || c.id AS cursor, c.moved_at, c.made_at,
           c.held_by, CASE WHEN c.expires_at > clock_timestamp() THEN c.expires_at END AS held_until,
           c.skipped, c.pruned_at, c.generation, c.xid, c.id
      FROM prescient.cursor c WHERE c.kind = 'consumer';
COMMENT ON VIEW prescient.consumers IS 'Consumers of events, and how far each has come.';
COMMENT ON COLUMN prescient.consumers.held_until IS 'When its lease expires; NULL: none is at work.';

-- ---- what reports need besides ------------------------------------------------------------------

-- What a program asks first. For users who may not read the tables that have it.
CREATE FUNCTION prescient.schema_state(OUT version integer, OUT oldest_engine integer,
                                       OUT slot_length_s integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(max(m.version), 0), coalesce(max(m.oldest_engine), 0),
           coalesce((SELECT s.value::integer FROM prescient.setting s WHERE s.name = 'slot_length_s'), 0)
      FROM prescient.migration m $$;
COMMENT ON FUNCTION prescient.schema_state() IS
    'The newest migration of the schema, the newest one that a program must know, and the slot length.';

-- How many checks wait in a slot. Of more than `counted`, the buckets that were counted completely
-- are a sample: bucket numbers are hashes, so checks are spread evenly. If none was, the first one
-- is counted up to 20,000, and a slot of more than 1.28 million is told as that. NULL: all are
-- counted.
CREATE FUNCTION prescient.slot_count(slot timestamptz, counted bigint, OUT checks bigint,
                                     OUT is_estimate boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN NOT w.is_estimate THEN w.n
                WHEN w.last > 0 THEN greatest(w.n, w.n_before_last * 64 / w.last)
                ELSE greatest(w.n, 64 * (SELECT count(*)
                                           FROM (SELECT FROM prescient.future_job f
                                                  WHERE f.next_check_at = slot AND f.bucket = 0
                                                  LIMIT 20000) few)) END::bigint,
           w.is_estimate
      FROM (SELECT coalesce(sum(b.n), 0) AS n, max(b.bucket) AS last,
                   sum(b.n) - (array_agg(b.n ORDER BY b.bucket DESC))[1] AS n_before_last,
                   coalesce(sum(b.n) >= counted, false) AS is_estimate
              FROM (SELECT g.bucket, count(*) AS n
                      FROM (SELECT f.bucket FROM prescient.future_job f WHERE f.next_check_at = slot
                            ORDER BY f.bucket LIMIT counted) g
                     GROUP BY g.bucket) b) w $$;
COMMENT ON FUNCTION prescient.slot_count(timestamptz, bigint) IS
    'How many checks wait in a slot; of more than the second number, an estimate.';

CREATE FUNCTION prescient.open_work(OUT leases bigint, OUT unclosed_slots bigint,
                                    OUT oldest_unclosed_at timestamptz, OUT expired_leases bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT l.leases,
           (SELECT count(*) FROM (SELECT FROM prescient.slot_pass p WHERE p.pass = 0
                                  AND p.closed_at IS NULL ORDER BY p.slot_at LIMIT 10000) few),
           (SELECT min(p.slot_at) FROM prescient.slot_pass p WHERE p.pass = 0 AND p.closed_at IS NULL),
           l.expired
      FROM (SELECT count(*) AS leases, count(*) FILTER (WHERE few.expires_at <= clock_timestamp()) AS expired
              FROM (SELECT h.expires_at FROM prescient.slot_lease h LIMIT 10000) few) l $$;
COMMENT ON FUNCTION prescient.open_work() IS
    'Leases, and slots that are not closed, both counted to 10,000; the oldest of these slots; and how many '
    'of the leases have expired.';

-- Deliveries that wait, by listener. 10,000 are looked at, bucket by bucket. Where there are more,
-- what the buckets hold that were read to their end stands for all 64: a key's bucket is a hash.
CREATE FUNCTION prescient.delivery_backlog() RETURNS TABLE (listener text, checks bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH looked AS MATERIALIZED (
        SELECT f.bucket, left(f.entity_key, position('/' IN f.entity_key) - 1) AS listener
          FROM generate_series(0, 63) b (bucket), LATERAL (
               SELECT k.bucket, k.entity_key FROM prescient.future_job k
                WHERE k.bucket = b.bucket AND k.entity_name = 'prescient.event'
                ORDER BY k.entity_key LIMIT 10000) f
         LIMIT 10000),
    part AS MATERIALIZED (
        SELECT count(*) AS n, max(l.bucket) AS last FROM looked l)
    SELECT l.listener,
           CASE WHEN p.n < 10000 OR p.last = 0 THEN count(*)
                ELSE count(*) FILTER (WHERE l.bucket < p.last) * 64 / p.last END
      FROM looked l, part p GROUP BY l.listener, p.n, p.last $$;
COMMENT ON FUNCTION prescient.delivery_backlog() IS
    'How many deliveries wait, by listener: of many an estimate.';

-- Events that are committed and not readable yet. The snapshot is that of the statement that asks.
CREATE FUNCTION prescient.events_withheld() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH here AS MATERIALIZED (
        SELECT n.generation, n.below FROM prescient.generation_now() n)
    SELECT count(*)
      FROM (SELECT FROM prescient.event e
             WHERE (e.generation, e.xid) >= ((SELECT h.generation FROM here h), (SELECT h.below FROM here h))
               AND (e.generation, e.xid) < ((SELECT h.generation FROM here h),
                                            pg_snapshot_xmax(pg_current_snapshot()))
             ORDER BY e.generation, e.xid, e.id LIMIT 1000) few $$;
COMMENT ON FUNCTION prescient.events_withheld() IS
    'Events that wait for an older transaction, counted to 1,000: the view does not show them yet.';

-- The rows of the history, counted up to 100,000; of more, those that the statistics know of
-- (`known`). A function, as its statement opens all days, which takes longer than all else of a
-- status: it is done only when it is called.
CREATE FUNCTION prescient.count_history(known bigint) RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    n bigint;
BEGIN
    SELECT count(*) INTO n FROM (SELECT FROM prescient.future_job_history LIMIT 100001) few;
    RETURN CASE WHEN n > 100000 THEN known ELSE n END;
END $$;

-- The newest `most` rows of the history or of the runs, of the table or view whose row type `kind`
-- has; of this entity, key, job, outcome, and with a time in [since, before), where those are
-- given. The outcome `amiss` is each that is no good end. A key of the entity prescient.event that
-- ends in / is a listener: it has all its deliveries.
--
-- The tables are in the order in which they were written, with a coarse index by time: no index has
-- the order of these rows, as each would cost every settle. So the rows are looked for in spans of
-- time, from now on backwards, each as long as the last ones were quick, until there are enough.
-- But none is shorter than an eighth of the way so far, or a server on which each statement is
-- slow, as with JIT, would never come to the end.
-- What took longer than look_ms in all ends, and a last row says by its times how far back it has
-- looked; NULL: it never ends so. Of the day that is not over, which has no other index, a span has
-- 20,000 rows at most then: time is judged between spans. `after` is the cursor of a row, or of
-- that last one, and only what comes behind it is looked for: [written, told, check_count, entity,
-- key, job], as JSON, the times in microseconds. All statements here see what the caller's
-- statement sees, with its rights.
CREATE FUNCTION prescient.newest_rows(kind anyelement, entity text, key text, job text, ending text,
                                      since timestamptz, before timestamptz, most bigint, look_ms integer,
                                      of_tenant text DEFAULT NULL, after text DEFAULT NULL)
    RETURNS SETOF anyelement
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
SET enable_sort = on SET jit = off AS $$
DECLARE
    -- a span with more rows than that is made shorter before they are sorted
    many CONSTANT bigint := 10000;
    begun CONSTANT timestamptz := clock_timestamp();
    of_history CONSTANT boolean := pg_typeof(kind) IN ('prescient.future_job_history'::regtype,
                                                       'prescient.history'::regtype);
    parent CONSTANT regclass := CASE WHEN of_history THEN 'prescient.future_job_history'
                                     ELSE 'prescient.future_job_run' END;
    written CONSTANT text := CASE WHEN of_history THEN 'archived_at' ELSE 'recorded_at' END;
    told CONSTANT text := CASE WHEN of_history THEN 'ended_at' ELSE 'run_at' END;
    -- the row that has the cursor; NULL: none, or it is where a look ended
    last CONSTANT json := CASE WHEN after::json ->> 3 IS NOT NULL THEN after::json END;
    last_written CONSTANT timestamptz := 'epoch'::timestamptz
                                         + (after::json ->> 0)::bigint * interval '1 microsecond';
    last_told CONSTANT timestamptz := 'epoch'::timestamptz
                                      + (last ->> 1)::bigint * interval '1 microsecond';
    of_span CONSTANT text := format('FROM %s r WHERE r.%I >= $1 AND r.%I < $2', pg_typeof(kind), written,
                                    written)
        || CASE WHEN since IS NULL THEN '' ELSE format(' AND r.%I >= $7', told) END
        || CASE WHEN before IS NULL THEN '' ELSE format(' AND r.%I < $8', told) END;
    sought CONSTANT text := CASE WHEN entity IS NULL THEN '' ELSE ' AND r.entity_name = $3' END
        || CASE WHEN key IS NULL THEN ''
                WHEN entity = 'prescient.event' AND right(key, 1) = '/'
                THEN ' AND starts_with(r.entity_key, $4)'
                ELSE ' AND r.entity_key = $4' END
        || CASE WHEN job IS NULL THEN '' ELSE ' AND r.job_exec = $5' END
        || CASE WHEN ending IS NULL THEN ''
                WHEN ending = 'amiss' THEN ' AND r.outcome <> ALL (''{done,resolved}'')'
                WHEN ending = 'retryable'
                THEN ' AND r.outcome = ANY (''{failed,timeout,crashed,bad_answer,unknown_job}'')'
                     ' AND r.entity_name <> ALL (''{prescient.event,prescient.digest}'')'
                ELSE ' AND r.outcome = $6' END
        || CASE WHEN of_tenant IS NULL THEN '' ELSE ' AND r.tenant = $10' END
        || CASE WHEN last IS NULL THEN ''
                ELSE format(' AND (r.%I, r.%I, r.check_count, r.entity_name, r.entity_key, r.job_exec)'
                            ' < ($11, $12, $13, $14, $15, $16)', written, told) END;
    counting CONSTANT text := format('SELECT count(*), 0 FROM (SELECT %s%s LIMIT $9) few', of_span, sought);
    -- where no index has what is sought: of up to 20,001 rows, and how many were looked at
    looking CONSTANT text := format('SELECT count(*) FILTER (WHERE true%s), count(*) '
                                    'FROM (SELECT r.* %s LIMIT 20001) r', sought, of_span);
    unindexed_from CONSTANT timestamptz := date_trunc('day', begun AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';
    sorting CONSTANT text := format('SELECT r.* %s%s ORDER BY r.%I DESC, r.%I DESC, r.check_count DESC, '
                                    'r.entity_name DESC, r.entity_key DESC, r.job_exec DESC LIMIT $9',
                                    of_span, sought, written, told);
    oldest CONSTANT timestamptz := (SELECT min(right(c.relname, 8))::date::timestamp AT TIME ZONE 'UTC'
                                      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                                      WHERE i.inhparent = parent);
    -- the span that comes next ends before this moment
    high timestamptz := coalesce(last_written + CASE WHEN last IS NULL THEN interval '0'
                                                     ELSE interval '1 microsecond' END, 'infinity');
    low timestamptz;
    start timestamptz := least(high, begun);        -- of the way
    width interval := '1 second';
    span_begun timestamptz;
    has_passed_since boolean := false;
    n bigint;
    looked bigint;
    wanted bigint := coalesce(most, 1::bigint << 62);
BEGIN
    IF wanted > 1000000 THEN
        RETURN QUERY EXECUTE sorting USING '-infinity'::timestamptz, high, entity, key,
            job, ending, since, before, wanted, of_tenant, last_written, last_told,
            (last ->> 2)::integer, last ->> 3, last ->> 4, last ->> 5;
        RETURN;
    END IF;
    WHILE wanted > 0 AND high > oldest LOOP
        span_begun := clock_timestamp();
        low := CASE WHEN high = 'infinity' THEN begun ELSE high END - width;
        low := CASE WHEN low < before AND before < high THEN before ELSE low END;
        low := CASE WHEN low < since AND since < high THEN since ELSE low END;
        EXECUTE CASE WHEN look_ms IS NOT NULL AND high > unindexed_from AND high < 'infinity' THEN looking
                     ELSE counting END
            INTO n, looked USING low, high, entity, key, job, ending, since, before, many + 1, of_tenant,
            last_written, last_told, (last ->> 2)::integer, last ->> 3, last ->> 4, last ->> 5;
        IF (n > many OR looked > 20000) AND high < 'infinity' AND high - low > interval '1 millisecond' THEN
            width := (high - low) / 8;
            CONTINUE;
        END IF;
        IF n > 0 THEN
            RETURN QUERY EXECUTE sorting USING low, high, entity, key, job, ending, since, before, wanted,
                of_tenant, last_written, last_told, (last ->> 2)::integer, last ->> 3, last ->> 4, last ->> 5;
            GET DIAGNOSTICS n = ROW_COUNT;
            wanted := wanted - n;
        END IF;
        high := low;
        IF wanted > 0 AND high <= since AND NOT has_passed_since THEN
            -- only a replay of the future tells a time behind that at which it is written
            has_passed_since := true;
            EXECUTE counting INTO n USING '-infinity'::timestamptz, high, entity, key, job, ending, since,
                before, 1, of_tenant, last_written, last_told, (last ->> 2)::integer, last ->> 3, last ->> 4,
                last ->> 5;
            EXIT WHEN n = 0;
        END IF;
        start := CASE WHEN high = before THEN high ELSE start END;
        width := CASE WHEN high = before THEN interval '1 second'       -- there the rows are as dense as now
                      WHEN clock_timestamp() - span_begun < interval '10 milliseconds' THEN width * 2
                      WHEN clock_timestamp() - span_begun > interval '20 milliseconds'
                      THEN greatest(width / 2, (start - high) / 8)
                      ELSE width END;
        IF wanted > 0 AND high > oldest AND clock_timestamp() - begun > look_ms * interval '1 millisecond'
            THEN
            RETURN NEXT jsonb_populate_record(kind, jsonb_build_object(written, high, told, high));
            RETURN;
        END IF;
    END LOOP;
END $$;

-- What the checks of one row have emitted, newest first, and what became of each delivery of it: a
-- line each, and one without a listener where no delivery is found: nobody heard the event
-- (`is_heard`), its delivery was pruned, or is not among those that are looked at: some 10,000 that
-- wait, and of those that are over the newest 10,000 since the first of these events, for 40 ms. Of
-- the day that is not over, which has no index by key, the newest 20,000 events are looked at; if
-- there are more, and fewer than `most` were found in it, a last row has the moment of the next one
-- as emitted_at, and nothing else.
-- It reads tables with its owner's rights: the view of events has neither what is not readable yet
-- (`is_readable`) nor whose deliveries are whose.
CREATE FUNCTION prescient.row_events(entity text, key text, most bigint DEFAULT 20)
    RETURNS TABLE (emitted_at timestamptz, event text, job_exec text, check_number bigint, listener text,
                   state text, outcome text, tries integer, next_check_at timestamptz, ended_at timestamptz,
                   note text, delivery text, is_heard boolean, is_readable boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH here AS MATERIALIZED (
        SELECT n.generation, n.below FROM prescient.generation_now() n),
    events AS MATERIALIZED (
        SELECT e.event, e.emitted_at, e.job_exec, e.check_count::bigint + 1 AS check_number,
               replace(e.origin::text, '-', '') AS origin,
               (e.generation, e.xid) < ((SELECT h.generation FROM here h), (SELECT h.below FROM here h))
                   AS is_readable,
               e.recorded_at >= date_trunc('day', now(), 'UTC') AS is_of_today,
               row_number() OVER (ORDER BY e.recorded_at DESC, e.id DESC) AS n
          FROM (SELECT k.* FROM prescient.event k
                 WHERE k.recorded_at < date_trunc('day', now(), 'UTC') AND k.entity_name = entity
                       AND k.entity_key = key
                UNION ALL
                SELECT k.* FROM (SELECT * FROM prescient.event n
                                  WHERE n.recorded_at >= date_trunc('day', now(), 'UTC')
                                  ORDER BY n.generation DESC, n.xid DESC, n.id DESC LIMIT 20000) k
                 WHERE k.entity_name = entity AND k.entity_key = key) e
         ORDER BY e.recorded_at DESC, e.id DESC LIMIT most),
    heard AS MATERIALIZED (
        SELECT min(e.emitted_at) AS since, CASE WHEN count(*) > 0 THEN 10000 ELSE 0 END AS looks
          FROM events e WHERE e.origin IS NOT NULL),
    deliveries AS MATERIALIZED (
        SELECT f.entity_key, f.tries, f.next_check_at, NULL::timestamptz AS ended_at, NULL::text AS outcome,
               f.failure_count, NULL::text AS note
          FROM heard, generate_series(0, 63) b (bucket), LATERAL (
               SELECT k.entity_key, coalesce(k.run_count, 0) AS tries, k.next_check_at, k.failure_count
                 FROM prescient.future_job k
                WHERE k.bucket = b.bucket AND k.entity_name = 'prescient.event' LIMIT 160) f
         WHERE heard.looks > 0 AND right(f.entity_key, 32) IN (SELECT e.origin FROM events e)
        UNION ALL
        SELECT h.entity_key, h.run_count, NULL, h.ended_at, h.outcome, h.failure_count, h.note
          FROM prescient.newest_rows(NULL::prescient.future_job_history, 'prescient.event', NULL, NULL, NULL,
                                     (SELECT x.since FROM heard x), NULL, (SELECT x.looks FROM heard x),
                                     40) h
         WHERE h.entity_name IS NOT NULL),
    not_looked_at AS (
        SELECT k.emitted_at FROM prescient.event k
         WHERE k.recorded_at >= date_trunc('day', now(), 'UTC')
               AND ((SELECT count(*) FROM events e WHERE e.is_of_today) < most) IS NOT FALSE
         ORDER BY k.generation DESC, k.xid DESC, k.id DESC OFFSET 20000 LIMIT 1),
    told AS (
        SELECT e.n, e.emitted_at, e.event, e.job_exec, e.check_number,
               left(d.entity_key, position('/' IN d.entity_key) - 1) AS listener,
               CASE WHEN d.entity_key IS NULL THEN NULL
                    WHEN d.outcome IN ('done', 'resolved') THEN d.outcome
                    WHEN d.outcome IS NOT NULL THEN 'failed'
                    WHEN d.next_check_at >= '9000-01-01 00:00:00+00' THEN 'paused'
                    WHEN d.failure_count > 0 THEN 'retrying' ELSE 'waiting' END AS state,
               d.outcome, d.tries, d.next_check_at, d.ended_at, d.note, d.entity_key AS delivery,
               e.origin IS NOT NULL AS is_heard, e.is_readable
          FROM events e LEFT JOIN deliveries d ON right(d.entity_key, 32) = e.origin
        UNION ALL
        SELECT NULL, k.emitted_at, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
               NULL
          FROM not_looked_at k)
    SELECT t.emitted_at, t.event, t.job_exec, t.check_number, t.listener, t.state, t.outcome, t.tries,
           t.next_check_at, t.ended_at, t.note, t.delivery, t.is_heard, t.is_readable
      FROM told t ORDER BY t.n, t.listener, t.ended_at $$;
COMMENT ON FUNCTION prescient.row_events(text, text, bigint) IS
    'The newest events of one row, a line for each delivery.';
