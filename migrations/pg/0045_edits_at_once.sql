-- 0045_edits_at_once - calls on one schedule, or on its check, at the same time.
-- oldest engine: 36
--
-- A resolve that began before a schedule was switched on, made, or moved to its row, but came
-- behind that at the check, ended the check and left the schedule on. It now locks the schedules of
-- its row also where they are off, and looks for them again when it has ended a check with a rule.
-- A load locks its schedules before the first check. And a schedule that is to take another one's
-- check is refused in words.

-- What waits for a row, of one job or of all, is over. How many checks that were, and whether any
-- of them had a rule.
CREATE FUNCTION prescient.end_checks_of_row(entity text, key text, job text, at timestamptz,
                                            OUT ended bigint, OUT had_rule boolean)
LANGUAGE plpgsql AS $$
DECLARE
    clock CONSTANT timestamptz := clock_timestamp();
BEGIN
    WITH gone AS (
        DELETE FROM prescient.future_job f
         WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity AND f.entity_key = key
           AND (job IS NULL OR f.job_exec = job)
        RETURNING f.*),
    archived AS (
        INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at, check_count,
                                                  failure_count, run_count, entity_name, entity_key, job_exec,
                                                  outcome, first_run_at, total_run_us)
        SELECT clock, coalesce(at, clock), g.next_check_at, g.first_check_at, g.check_count, g.failure_count,
               coalesce(g.run_count, 0), g.entity_name, g.entity_key, g.job_exec, 'resolved', g.first_run_at,
               g.total_run_us
          FROM gone g)
    SELECT count(*), coalesce(bool_or(g.terms IS NOT NULL), false) INTO ended, had_rule FROM gone g;
END $$;

CREATE OR REPLACE FUNCTION prescient.end_checks(entity text, key text, job text, at timestamptz)
    RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN (prescient.end_checks_of_row(entity, key, job, at)).ended;
END $$;

-- The schedules of the row are switched off first: nothing here tells whether their checks wait,
-- run, or are missing. One that is off is locked, too: it may be being switched on. A schedule
-- whose maker has not committed cannot be seen, and so not be locked. If it took over a check that
-- waited, that one is waited for, and ended with a rule in it; then the schedule is looked for.
-- Only there is a schedule locked behind its check: to keep the order would need a savepoint in
-- each resolve.
CREATE OR REPLACE FUNCTION prescient.resolve_at(entity text, key text, job text, at timestamptz)
    RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint := 0;
    had_looked boolean := false;
    this record;
BEGIN
    IF entity IS NULL OR key IS NULL THEN
        RAISE EXCEPTION 'prescient: % is NULL, expected the name of a row',
            CASE WHEN entity IS NULL THEN 'entity' ELSE 'key' END USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pg_current_xact_id();
    IF NOT prescient.history_day_is_there(prescient.utc_day(clock_timestamp())) THEN
        -- no engine has been here for days: an application must not fail for that
        PERFORM prescient.keep_history_days(1);
    END IF;
    LOOP
        PERFORM FROM prescient.schedule s
          WHERE s.entity_name = entity AND s.entity_key = key AND (job IS NULL OR s.job_exec = job)
          ORDER BY s.name COLLATE "C" FOR UPDATE;
        IF FOUND THEN
            UPDATE prescient.schedule s
               SET is_active = false, switched_at = coalesce(at, clock_timestamp()),
                   switched_by = session_user, switched_why = 'resolved'
             WHERE s.entity_name = entity AND s.entity_key = key AND (job IS NULL OR s.job_exec = job)
               AND s.is_active;
        END IF;
        SELECT e.ended, e.had_rule INTO this FROM prescient.end_checks_of_row(entity, key, job, at) e;
        n := n + this.ended;
        -- if there was none, it may have been ended and enqueued anew while we waited for its lock
        EXIT WHEN NOT this.had_rule AND (n > 0 OR had_looked);
        had_looked := true;
    END LOOP;
    RETURN n;
END $$;

-- ---- edits --------------------------------------------------------------------------------------

-- Refuses a schedule whose check is another one's.
CREATE FUNCTION prescient.refuse_same_check(wanted prescient.schedule) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    other text;
BEGIN
    SELECT s.name INTO other FROM prescient.schedule s
     WHERE s.entity_name = wanted.entity_name AND s.entity_key = wanted.entity_key
       AND s.job_exec = wanted.job_exec AND s.name <> wanted.name;
    IF FOUND THEN
        RAISE EXCEPTION 'prescient: schedule % is of the same check (%, %, %)', quote_literal(other),
            wanted.entity_name, wanted.entity_key, wanted.job_exec USING ERRCODE = 'unique_violation',
            HINT = 'A check has one schedule. Change that one, or name another job or key.';
    END IF;
END $$;

-- As 0033_schedules has it.
--
-- `mode`: add (it is new), set (it is there, and NULL leaves what it has), put (either; NULL is the
-- default). The outcome: new, changed or kept. The check of a schedule that becomes another one is
-- ended.
CREATE OR REPLACE FUNCTION prescient.put_schedule(mode text, wanted prescient.schedule, at timestamptz,
                                                  OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    stamp CONSTANT timestamptz := coalesce(at, clock_timestamp());
    old prescient.schedule;
    new prescient.schedule;
BEGIN
    PERFORM pg_current_xact_id();
    LOOP
        SELECT s.* INTO old FROM prescient.schedule s WHERE s.name = wanted.name FOR UPDATE;
        EXIT WHEN FOUND;
        IF mode = 'set' THEN
            RAISE EXCEPTION 'prescient: there is no schedule %', quote_literal(wanted.name)
                USING ERRCODE = 'no_data_found';
        END IF;
        INSERT INTO prescient.schedule (name, entity_name, entity_key, job_exec, every_s, bias, cron,
                                        timezone, missed, payload, made_at, made_by, changed_at, changed_by)
        VALUES (wanted.name, wanted.entity_name, wanted.entity_key, wanted.job_exec, wanted.every_s,
                wanted.bias, wanted.cron, wanted.timezone, coalesce(wanted.missed, 'run_once'),
                wanted.payload, stamp, session_user, stamp, session_user)
            ON CONFLICT DO NOTHING
        RETURNING * INTO new;
        IF FOUND THEN
            outcome := 'new';
            filed_at := prescient.file_scheduled(new, at);
            RETURN;
        END IF;
        PERFORM prescient.refuse_same_check(wanted);
    END LOOP;
    IF mode = 'add' THEN
        RAISE EXCEPTION 'prescient: there is a schedule % already', quote_literal(wanted.name)
            USING ERRCODE = 'unique_violation';
    END IF;
    IF mode = 'set' THEN
        wanted.entity_name := coalesce(wanted.entity_name, old.entity_name);
        wanted.entity_key := coalesce(wanted.entity_key, old.entity_key);
        wanted.job_exec := coalesce(wanted.job_exec, old.job_exec);
        wanted.missed := coalesce(wanted.missed, old.missed);
        wanted.payload := coalesce(wanted.payload, old.payload);
        IF wanted.cron IS NULL THEN
            wanted.bias := coalesce(wanted.bias, CASE WHEN wanted.timezone IS NULL THEN old.bias END);
            wanted.cron := CASE WHEN wanted.every_s IS NULL THEN old.cron END;
            wanted.every_s := coalesce(wanted.every_s, old.every_s);
        END IF;
        IF wanted.cron IS NOT NULL THEN
            wanted.timezone := coalesce(wanted.timezone, old.timezone);
        END IF;
    END IF;
    IF (wanted.entity_name, wanted.entity_key, wanted.job_exec)
       IS DISTINCT FROM (old.entity_name, old.entity_key, old.job_exec) THEN
        PERFORM prescient.refuse_same_check(wanted);
    END IF;
    UPDATE prescient.schedule s
       SET entity_name = wanted.entity_name, entity_key = wanted.entity_key, job_exec = wanted.job_exec,
           every_s = wanted.every_s, bias = wanted.bias, cron = wanted.cron, timezone = wanted.timezone,
           missed = coalesce(wanted.missed, 'run_once'), payload = wanted.payload
     WHERE s.name = wanted.name
    RETURNING * INTO new;
    IF (new.entity_name, new.entity_key, new.job_exec, new.every_s, new.bias, new.cron, new.timezone,
        new.missed, new.payload::text) IS NOT DISTINCT FROM
       (old.entity_name, old.entity_key, old.job_exec, old.every_s, old.bias, old.cron, old.timezone,
        old.missed, old.payload::text) THEN
        outcome := 'kept';
        RETURN;
    END IF;
    outcome := 'changed';
    UPDATE prescient.schedule s SET changed_at = stamp, changed_by = session_user WHERE s.name = wanted.name;
    IF (new.entity_name, new.entity_key, new.job_exec) <> (old.entity_name, old.entity_key, old.job_exec) THEN
        PERFORM prescient.end_checks(old.entity_name, old.entity_key, old.job_exec, at);
    END IF;
    IF new.is_active THEN
        filed_at := prescient.file_scheduled(new, at);
    END IF;
END $$;

-- As 0040_schedules_many has it; all of them are locked first.
CREATE OR REPLACE FUNCTION prescient.put_schedules(wanted json, at timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    one json;
    s prescient.schedule;
    n bigint := 0;
BEGIN
    PERFORM pg_current_xact_id();
    PERFORM FROM prescient.schedule t
      WHERE t.name IN (SELECT e.value ->> 'name' FROM json_array_elements(wanted) e)
      ORDER BY t.name COLLATE "C" FOR UPDATE OF t;
    PERFORM prescient.part_schedules((SELECT json_agg(e.value::jsonb - 'payload')
                                        FROM json_array_elements(wanted) e), at);
    FOR one IN SELECT e.value FROM json_array_elements(wanted) e ORDER BY e.value ->> 'name' COLLATE "C" LOOP
        s := json_populate_record(NULL::prescient.schedule, (one::jsonb - 'payload')::json);
        s.payload := (one ->> 'payload')::json;
        IF (prescient.put_schedule('put', s, at)).outcome <> 'kept' THEN
            n := n + 1;
        END IF;
    END LOOP;
    RETURN n;
END $$;

-- ---- who may ------------------------------------------------------------------------------------

REVOKE ALL ON FUNCTION prescient.end_checks_of_row(text, text, text, timestamptz),
    prescient.refuse_same_check(prescient.schedule) FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT EXECUTE ON FUNCTION prescient.end_checks_of_row(text, text, text, timestamptz),
            prescient.refuse_same_check(prescient.schedule) TO prescient_engine;
    END IF;
END $$;
