-- 0016_readers - what waits and what was, for those who only look: dashboards, admin pages, the
-- application itself.
-- oldest engine: 1
--
-- Six views with stable names and columns, and a role that reads them and nothing else. A view has
-- the rights of its owner, so its readers need none on the tables, and what a view leaves out they
-- cannot see: payloads and the data of events, which may hold personal data. A column is only ever
-- added at the end of a view.
--
-- The columns are listed, never "*": a column that a later migration adds to a table changes
-- nothing here. The views depend on the tables by day as a whole, never on a day, so days are
-- dropped as before.

-- ---- names that are taken -----------------------------------------------------------------------

DO $$
DECLARE
    taken text;
BEGIN
    SELECT string_agg(c.relname, ', ' ORDER BY c.relname) INTO taken
      FROM pg_class c
     WHERE c.relnamespace = 'prescient_schema'::regnamespace
       AND c.relname IN ('pending', 'history', 'runs', 'events', 'slots', 'passes');
    IF taken IS NOT NULL THEN
        RAISE EXCEPTION 'prescient: the schema gets views for readers, and these names are taken in it by '
                        'what prescient has not made: %: rename it (ALTER ... RENAME TO), or move it to '
                        'another schema, and migrate', taken USING ERRCODE = 'duplicate_table';
    END IF;
END $$;

-- ---- what waits for one row ---------------------------------------------------------------------

-- One step of the primary key, whose first column is the bucket.
CREATE FUNCTION prescient.pending(entity text, key text)
    RETURNS TABLE (job_exec text, next_check_at timestamptz, check_count integer, failure_count integer,
                   priority integer, first_check_at timestamptz, again_at timestamptz,
                   put_off_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF entity IS NULL OR key IS NULL THEN
        RAISE EXCEPTION 'prescient: % is NULL, expected the name of a row',
            CASE WHEN entity IS NULL THEN 'entity' ELSE 'key' END USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN QUERY SELECT f.job_exec, f.next_check_at, f.check_count, f.failure_count, f.priority,
                        f.first_check_at, f.again_at, f.put_off_at
                   FROM prescient.future_job f
                  WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity
                    AND f.entity_key = key
                  ORDER BY f.next_check_at, f.job_exec;
END $$;
COMMENT ON FUNCTION prescient.pending(text, text) IS
    'The checks that wait for a row: job, slot, looks and failures so far, priority, first slot, and the '
    'slot where a check begins anew that was asked for again while its slot was running, and the slot at '
    'which it was due and nobody ran it. No row: none waits.';

CREATE FUNCTION prescient.pending(entity text, key anyelement)
    RETURNS TABLE (job_exec text, next_check_at timestamptz, check_count integer, failure_count integer,
                   priority integer, first_check_at timestamptz, again_at timestamptz,
                   put_off_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- first: a cast that somebody has made for a type of his own would run with the owner's rights
    PERFORM prescient.require_key_type('key', pg_typeof(key));
    RETURN QUERY SELECT p.* FROM prescient.pending(entity, key::text) p;
END $$;
COMMENT ON FUNCTION prescient.pending(text, anyelement) IS
    'The same, for a key of type smallint, integer, bigint or uuid.';

-- VOLATILE, so that it also sees what the statement that calls it has filed just before.
CREATE FUNCTION prescient.filed_at(entity text, key text, job text) RETURNS timestamptz
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(f.again_at, f.next_check_at) FROM prescient.future_job f
     WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity AND f.entity_key = key
       AND f.job_exec = job $$;
COMMENT ON FUNCTION prescient.filed_at(text, text, text) IS
    'The slot in which a check that was asked for last is looked at; NULL: it does not wait.';

-- ---- views --------------------------------------------------------------------------------------

-- The primary key begins with the bucket, which nobody who asks for an entity and a key can name.
-- There are 64: with their numbers beside the table, each is one step of the key.
CREATE VIEW prescient.pending AS
    SELECT f.next_check_at, f.entity_name, f.entity_key, f.job_exec, f.check_count, f.failure_count,
           f.priority, f.first_check_at, f.again_at, f.put_off_at
      FROM generate_series(0, 63) b (bucket) JOIN prescient.future_job f ON f.bucket = b.bucket;
COMMENT ON VIEW prescient.pending IS 'Checks that wait for their slot.';
COMMENT ON COLUMN prescient.pending.next_check_at IS 'The slot in which the check is looked at next.';
COMMENT ON COLUMN prescient.pending.check_count IS 'Looks so far that ended with: again.';
COMMENT ON COLUMN prescient.pending.failure_count IS 'Failures in a row.';
COMMENT ON COLUMN prescient.pending.first_check_at IS 'The slot of its first look.';
COMMENT ON COLUMN prescient.pending.again_at IS
    'Asked for again while its slot was running: when that look ends it, it starts anew here.';
COMMENT ON COLUMN prescient.pending.put_off_at IS
    'The slot at which it was due and was put off without having been run; NULL: it was not.';

CREATE VIEW prescient.history AS
    SELECT h.ended_at, h.entity_name, h.entity_key, h.job_exec, h.outcome,
           CASE WHEN h.outcome IN ('past', 'beyond_horizon', 'max_checks', 'deferred_out', 'unknown_job')
                THEN h.outcome
                WHEN h.outcome IN ('failed', 'timeout', 'crashed', 'bad_answer') THEN 'max_failures' END
               AS guard,
           h.check_count, h.failure_count, h.run_count, h.slot_at, h.first_check_at, h.first_run_at,
           h.last_run_at, h.total_run_us, h.last_run_us, h.note, h.engine, h.archived_at
      FROM prescient.future_job_history h;
COMMENT ON VIEW prescient.history IS 'Checks that have ended, one row each.';
COMMENT ON COLUMN prescient.history.ended_at IS 'When it ended; in a replay, the virtual time.';
COMMENT ON COLUMN prescient.history.archived_at IS
    'When the row was written, by the real clock: a condition on it reads only the days that it names.';
COMMENT ON COLUMN prescient.history.guard IS 'The guard that ended it; NULL: none did.';
COMMENT ON COLUMN prescient.history.total_run_us IS 'All looks together, in microseconds.';
COMMENT ON COLUMN prescient.history.last_run_us IS 'The last look, in microseconds.';
COMMENT ON COLUMN prescient.history.note IS 'What the job said, or why it failed.';

CREATE VIEW prescient.runs AS
    SELECT r.run_at, r.entity_name, r.entity_key, r.job_exec, r.outcome, r.check_count, r.failure_count,
           r.slot_at, r.next_check_at, r.run_us, r.note, r.engine, r.recorded_at
      FROM prescient.future_job_run r;
COMMENT ON VIEW prescient.runs IS 'Looks that did not end their check, one row each.';
COMMENT ON COLUMN prescient.runs.run_at IS 'When the job looked; in a replay, the virtual time.';
COMMENT ON COLUMN prescient.runs.recorded_at IS
    'When the row was written, by the real clock: a condition on it reads only the days that it names.';
COMMENT ON COLUMN prescient.runs.run_us IS 'How long it looked, in microseconds.';

-- Only events that a cursor may pass: nothing is ever written before them. A function in a WHERE
-- does not get to see the others, which is what the barrier is for.
CREATE VIEW prescient.events WITH (security_barrier) AS
    WITH here AS MATERIALIZED (
        SELECT n.generation, n.below FROM prescient.generation_now() n)
    SELECT e.generation || '-' || e.xid::text || '-' || e.id AS cursor, e.event, e.entity_name, e.entity_key,
           e.job_exec, e.emitted_at, e.slot_at, e.check_count, e.recorded_at, e.generation, e.xid, e.id
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

CREATE VIEW prescient.slots AS
    SELECT p.slot_at,
           CASE WHEN max(p.closed_at) IS NOT NULL THEN 'closed'
                WHEN count(p.seen_xid) FILTER (WHERE p.pass = 0) > 0
                     OR count(DISTINCT p.bucket) FILTER (WHERE p.pass > 0) >= max(p.split) THEN 'relook'
                ELSE 'open' END AS state,
           max(p.late_us) AS late_us, sum(p.run)::bigint AS run, sum(p.done)::bigint AS done,
           sum(p.again)::bigint AS again, sum(p.failed + p.timeout + p.crashed)::bigint AS failed,
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
           p.took_us, array_to_string(p.left_jobs, ', ') AS left_jobs, p.recorded_at
      FROM prescient.slot_pass p;
COMMENT ON VIEW prescient.passes IS
    'What engines did in a slot: one row (pass 0) when it was opened, and one for each pass over a bucket.';
COMMENT ON COLUMN prescient.passes.bucket IS '0 to 63; -1: the whole slot.';
COMMENT ON COLUMN prescient.passes.split IS
    'In how many parts the slot is run, 1 or 64; only when pass is 0.';
COMMENT ON COLUMN prescient.passes.left_jobs IS 'Jobs whose checks were left behind.';

-- ---- what a program asks first ------------------------------------------------------------------

-- For users who may not read the tables that have it.
CREATE FUNCTION prescient.schema_state(OUT version integer, OUT oldest_engine integer,
                                       OUT slot_length_s integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(max(m.version), 0), coalesce(max(m.oldest_engine), 0),
           coalesce((SELECT s.value::integer FROM prescient.setting s WHERE s.name = 'slot_length_s'), 0)
      FROM prescient.migration m $$;
COMMENT ON FUNCTION prescient.schema_state() IS
    'The newest migration of the schema, the newest one that a program must know, and the slot length.';

-- ---- who may ------------------------------------------------------------------------------------

REVOKE ALL ON FUNCTION prescient.pending(text, text), prescient.pending(text, anyelement),
    prescient.filed_at(text, text, text), prescient.schema_state() FROM PUBLIC;
REVOKE ALL ON prescient.pending, prescient.history, prescient.runs, prescient.events, prescient.slots,
    prescient.passes FROM PUBLIC;

DO $$
DECLARE
    part text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_reader') THEN
        BEGIN
            CREATE ROLE prescient_reader NOLOGIN;
        EXCEPTION
            WHEN insufficient_privilege THEN
                RAISE NOTICE 'prescient: role prescient_reader was not made, as this user may not create '
                             'roles; grant rights by hand';
            WHEN duplicate_object OR unique_violation THEN
                NULL;       -- another database's schema was being made at the same moment
        END;
    END IF;
    FOR part IN SELECT r.rolname FROM pg_catalog.pg_roles r
                 WHERE r.rolname IN ('prescient_enqueuer', 'prescient_engine', 'prescient_reader') LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION prescient.pending(text, text), '
                       'prescient.pending(text, anyelement), prescient.schema_state() TO %I', part);
        IF part <> 'prescient_reader' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION prescient.filed_at(text, text, text) TO %I', part);
        END IF;
        IF part <> 'prescient_enqueuer' THEN
            EXECUTE format('GRANT SELECT ON prescient.pending, prescient.history, prescient.runs, '
                           'prescient.events, prescient.slots, prescient.passes TO %I', part);
        END IF;
    END LOOP;
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_reader') THEN
        GRANT USAGE ON SCHEMA prescient_schema TO prescient_reader;
        -- the view of events calls this one with the rights of its reader
        GRANT EXECUTE ON FUNCTION prescient.generation_now(), prescient.slot_length_s(),
            prescient.slot_floor(timestamptz), prescient.slot_ceil(timestamptz),
            prescient.slot_next(timestamptz), prescient.slot_for(timestamptz, timestamptz),
            prescient.bucket_of(text, text) TO prescient_reader;
    END IF;
END $$;
