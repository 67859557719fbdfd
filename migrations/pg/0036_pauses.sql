-- 0036_pauses - the checks of a job, an entity or a schedule wait until they are resumed.
-- oldest engine: 36
--
-- Each pause has a slot of its own that never begins: a day from the year 9000 on, which is a slot
-- at every slot length. A check that comes up is moved there unrun by its engine. The settle locks
-- the pause's row, and moves the check there only while the pause is on. To resume changes that
-- row, behind those locks: nothing comes in any more. Then engines pass over its slot page by page,
-- under its leases, and the pause is over when its slot is empty, and closed or was never opened.
--
-- An engine from before this migration would run paused checks. It is refused when it connects. One
-- that runs already does not ask again: `heeds_pauses` shuts it out at the next slot that it opens,
-- as 0032_terms does; until then it runs the rest of what it holds leases on.

ALTER TABLE prescient.slot_lease ADD COLUMN heeds_pauses boolean NOT NULL DEFAULT true;
ALTER TABLE prescient.slot_lease ALTER COLUMN heeds_pauses DROP DEFAULT;
COMMENT ON COLUMN prescient.slot_lease.heeds_pauses IS
    'Its engine asks what is paused. One that does not does not fill this column, and gets no lease.';

-- ---- what is paused -----------------------------------------------------------------------------

CREATE TABLE prescient.pause (
    slot_at timestamptz PRIMARY KEY,
    what text NOT NULL,
    name text NOT NULL,
    reason text,
    paused_at timestamptz NOT NULL,
    paused_by text NOT NULL,
    resumed_at timestamptz,
    resumed_by text,
    is_reslotted boolean NOT NULL DEFAULT false,
    ended_at timestamptz,
    CONSTRAINT pause_what CHECK (what IN ('job', 'entity', 'schedule')),
    CONSTRAINT pause_slot CHECK (slot_at >= '9000-01-01 00:00:00+00' AND slot_at < '10000-01-01 00:00:00+00'
                                 AND date_part('epoch', slot_at)::bigint % 86400 = 0)
);
CREATE UNIQUE INDEX pause_on ON prescient.pause (what, name) WHERE resumed_at IS NULL;
CREATE INDEX pause_not_over ON prescient.pause (slot_at) WHERE ended_at IS NULL;
CREATE INDEX pause_ended ON prescient.pause (ended_at) WHERE ended_at IS NOT NULL;

COMMENT ON TABLE prescient.pause IS
    'Pauses, also those that are over, until they are pruned: who paused what, when, why, and who '
    'resumed it.';
COMMENT ON COLUMN prescient.pause.slot_at IS 'The slot in which its checks wait; no time ever comes to it.';
COMMENT ON COLUMN prescient.pause.is_reslotted IS
    'Resumed checks go to the next full slot together, and are not spread over its seconds.';
COMMENT ON COLUMN prescient.pause.ended_at IS 'When its last check had left its slot.';

-- The number of the last change to pauses. It is changed first in a transaction that pauses or
-- resumes: such transactions come one after the other, and numbers in the order of their commits.
-- It is the time of the change, in microseconds, so that a database that was restored, or a standby
-- that took over, never has other pauses under the number that an engine knows.
INSERT INTO prescient.setting VALUES ('pause_changes', '0');

CREATE FUNCTION prescient.note_pause_change() RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO prescient.setting AS s
    VALUES ('pause_changes', (date_part('epoch', clock_timestamp()) * 1000000)::bigint::text)
        ON CONFLICT (name) DO UPDATE
       SET value = greatest(s.value::bigint + 1, excluded.value::bigint)::text $$;

-- ---- pause and resume ---------------------------------------------------------------------------

CREATE FUNCTION prescient.require_pause(job text, entity text, schedule text, OUT what text, OUT name text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    what := CASE WHEN job IS NOT NULL THEN 'job' WHEN entity IS NOT NULL THEN 'entity' ELSE 'schedule' END;
    name := coalesce(job, entity, schedule);
    IF num_nonnulls(job, entity, schedule) <> 1 THEN
        RAISE EXCEPTION 'prescient: % of job, entity and schedule are given, expected one of them: '
                        'prescient.pause(job => ''unshipped_order'')', num_nonnulls(job, entity, schedule)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF octet_length(name) NOT BETWEEN 1 AND 1024 THEN
        RAISE EXCEPTION 'prescient: % has % bytes, expected 1 to 1024', what, octet_length(name)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END $$;

-- A day after the newest, so that no slot is used again that an engine may still know as another
-- pause's. After a thousand years of days, the first free one. Never one that holds checks.
CREATE FUNCTION prescient.pause_slot() RETURNS timestamptz
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    first CONSTANT timestamptz := '9000-01-01 00:00:00+00';
    day CONSTANT interval := interval '24 hours';
    slot timestamptz := (SELECT coalesce(max(p.slot_at) + day, first) FROM prescient.pause p);
BEGIN
    LOOP
        IF slot >= '10000-01-01 00:00:00+00' THEN
            SELECT min(d.at) INTO slot
              FROM (SELECT first AS at UNION ALL SELECT p.slot_at + day FROM prescient.pause p) d
             WHERE d.at < '10000-01-01 00:00:00+00'
               AND NOT EXISTS (SELECT FROM prescient.pause p WHERE p.slot_at = d.at)
               AND NOT EXISTS (SELECT FROM prescient.future_job f WHERE f.next_check_at = d.at);
            IF slot IS NULL THEN
                RAISE EXCEPTION 'prescient: no slot is left for another pause: prescient prune drops those '
                                'that are over' USING ERRCODE = 'program_limit_exceeded';
            END IF;
        END IF;
        EXIT WHEN NOT EXISTS (SELECT FROM prescient.future_job f WHERE f.next_check_at = slot);
        slot := slot + day;
    END LOOP;
    RETURN slot;
END $$;

CREATE FUNCTION prescient.pause(job text DEFAULT NULL, entity text DEFAULT NULL, schedule text DEFAULT NULL,
                                reason text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    this record := prescient.require_pause(job, entity, schedule);
BEGIN
    IF octet_length(reason) > 4096 THEN
        RAISE EXCEPTION 'prescient: reason has % bytes, expected at most 4096', octet_length(reason)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF this.what = 'schedule' AND NOT EXISTS (SELECT FROM prescient.schedule s WHERE s.name = this.name) THEN
        RAISE EXCEPTION 'prescient: there is no schedule %', quote_literal(this.name)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM prescient.note_pause_change();
    IF EXISTS (SELECT FROM prescient.pause p
                WHERE p.what = this.what AND p.name = this.name AND p.resumed_at IS NULL) THEN
        RETURN 'kept';
    END IF;
    INSERT INTO prescient.pause (slot_at, what, name, reason, paused_at, paused_by)
    VALUES (prescient.pause_slot(), this.what, this.name, nullif(reason, ''), clock_timestamp(),
            session_user);
    RETURN 'paused';
END $$;
COMMENT ON FUNCTION prescient.pause(text, text, text, text) IS
    'Lets the checks of a job, of an entity, or of a schedule, wait until they are resumed. Returns paused, '
    'or kept when they were paused already.';

CREATE FUNCTION prescient.resume(job text DEFAULT NULL, entity text DEFAULT NULL, schedule text DEFAULT NULL,
                                 reslot boolean DEFAULT false) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    this record := prescient.require_pause(job, entity, schedule);
BEGIN
    PERFORM prescient.note_pause_change();
    UPDATE prescient.pause p
       SET resumed_at = clock_timestamp(), resumed_by = session_user, is_reslotted = coalesce(reslot, false)
     WHERE p.what = this.what AND p.name = this.name AND p.resumed_at IS NULL;
    RETURN CASE WHEN FOUND THEN 'resumed' ELSE 'not_paused' END;
END $$;
COMMENT ON FUNCTION prescient.resume(text, text, text, boolean) IS
    'Ends a pause: engines spread its checks over the seconds of the next slot, or with reslot file all of '
    'them under that slot. Returns resumed, or not_paused.';

-- For engines: pauses that were resumed and whose slot is empty are over. A slot that an engine has
-- opened must be closed, too: nobody opens the slot of a pause that is over, so what an engine that
-- died there has begun would stay unfinished. Whether that is so is asked with the row locked.
CREATE FUNCTION prescient.end_pauses() RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    n integer := 0;
    this record;
BEGIN
    FOR this IN SELECT p.slot_at FROM prescient.pause p
                 WHERE p.ended_at IS NULL AND p.resumed_at IS NOT NULL
                 ORDER BY p.slot_at LIMIT 100 FOR UPDATE SKIP LOCKED LOOP
        CONTINUE WHEN EXISTS (SELECT FROM prescient.future_job f WHERE f.next_check_at = this.slot_at)
                   OR EXISTS (SELECT FROM prescient.slot_lease l WHERE l.slot_at = this.slot_at)
                   OR EXISTS (SELECT FROM prescient.slot_pass o WHERE o.slot_at = this.slot_at
                              AND o.pass = 0 AND o.closed_at IS NULL);
        DELETE FROM prescient.slot_pass o WHERE o.slot_at = this.slot_at;
        UPDATE prescient.pause p SET ended_at = clock_timestamp() WHERE p.slot_at = this.slot_at;
        n := n + 1;
    END LOOP;
    IF n > 0 THEN
        PERFORM prescient.note_pause_change();
    END IF;
    RETURN n;
END $$;

-- ---- who looks ----------------------------------------------------------------------------------

CREATE VIEW prescient.pauses AS
    SELECT p.what, p.name,
           CASE WHEN p.resumed_at IS NULL THEN 'on' WHEN p.ended_at IS NULL THEN 'ending' ELSE 'over' END
               AS state,
           (SELECT count(*) FROM (SELECT FROM prescient.future_job f WHERE f.next_check_at = p.slot_at
                                   LIMIT 10000) few) AS checks,
           p.paused_at, p.paused_by, p.reason, p.resumed_at, p.resumed_by, p.is_reslotted, p.ended_at,
           p.slot_at
      FROM prescient.pause p;
COMMENT ON VIEW prescient.pauses IS 'What is paused, and what was.';
COMMENT ON COLUMN prescient.pauses.state IS 'on; ending: resumed, and some checks still leave; over.';
COMMENT ON COLUMN prescient.pauses.checks IS 'How many checks wait in it; 10000: that many or more.';

-- A column comes at the end of a view only.
CREATE OR REPLACE VIEW prescient.pending AS
    SELECT f.next_check_at, f.entity_name, f.entity_key, f.job_exec, f.check_count, f.failure_count,
           f.priority, f.first_check_at, f.again_at, f.put_off_at,
           f.next_check_at >= '9000-01-01 00:00:00+00' AND f.next_check_at < '10000-01-01 00:00:00+00'
               AS is_paused
      FROM generate_series(0, 63) b (bucket) JOIN prescient.future_job f ON f.bucket = b.bucket;
COMMENT ON COLUMN prescient.pending.is_paused IS
    'It waits until it is resumed (see pauses); next_check_at is no time at which it is looked at.';

-- ---- nothing else waits there -------------------------------------------------------------------

-- What was asked for there before: nobody would resume it. `prescient migrate` tells how many.
WITH moved AS (
    UPDATE prescient.future_job SET next_check_at = '8999-12-31 00:00:00+00'
     WHERE next_check_at >= '9000-01-01 00:00:00+00' AND next_check_at < '10000-01-01 00:00:00+00'
    RETURNING 1)
INSERT INTO prescient.setting SELECT 'moved_out_of_pauses', count(*)::text FROM moved HAVING count(*) > 0;

DO $$
DECLARE
    made record;
    edits CONSTANT text[] := ARRAY[
        'wanted < ''9999-12-31 00:00:00+00''', 'wanted < ''8999-12-31 00:00:00+00''',
        'prescient.slot_ceil(check_at) < ''10000-01-01 00:00:00+00''',
            'prescient.slot_ceil(check_at) < ''9000-01-01 00:00:00+00''',
        '    IF octet_length(payload::text) > 65536 THEN',
            $edit$    IF prescient.slot_ceil(check_at) >= '9000-01-01 00:00:00+00' THEN
        RAISE EXCEPTION 'prescient: check_at is %, at which paused checks wait, expected a time before '
                        'the year 9000', check_at USING ERRCODE = 'datetime_field_overflow';
    END IF;
    IF octet_length(payload::text) > 65536 THEN$edit$];
    body text;
    edited text;
BEGIN
    FOR made IN SELECT p.oid, p.proname FROM pg_catalog.pg_proc p
                 WHERE p.pronamespace = 'prescient_schema'::regnamespace
                   AND p.proname IN ('enqueue', 'is_good_check', 'require_check') LOOP
        body := pg_catalog.pg_get_functiondef(made.oid);
        edited := body;
        FOR i IN 1 .. 3 LOOP
            edited := replace(edited, edits[2 * i - 1], edits[2 * i]);
        END LOOP;
        IF edited <> body THEN
            EXECUTE edited;
        END IF;
    END LOOP;
END $$;

-- ---- who may ------------------------------------------------------------------------------------

REVOKE ALL ON TABLE prescient.pause, prescient.pauses FROM PUBLIC;
REVOKE ALL ON FUNCTION prescient.note_pause_change(), prescient.require_pause(text, text, text),
    prescient.pause_slot(), prescient.pause(text, text, text, text),
    prescient.resume(text, text, text, boolean), prescient.end_pauses() FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE prescient.pause TO prescient_engine;
        GRANT SELECT ON TABLE prescient.pauses TO prescient_engine;
        GRANT EXECUTE ON FUNCTION prescient.note_pause_change(), prescient.require_pause(text, text, text),
            prescient.pause_slot(), prescient.pause(text, text, text, text),
            prescient.resume(text, text, text, boolean), prescient.end_pauses() TO prescient_engine;
    END IF;
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_reader') THEN
        GRANT SELECT ON TABLE prescient.pauses TO prescient_reader;
    END IF;
END $$;
