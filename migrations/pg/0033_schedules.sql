-- 0033_schedules - schedules: a name, a check, and the rule by which it recurs.
-- oldest engine: 32
--
-- A row of `schedule` defines; the one pending check of it is a row of future_job like any other,
-- which carries the rule in its terms, so that engines read no other table. When an occurrence
-- ends, the settle starts the check anew at the next one. Engines compute the times. SQL computes
-- none: it files the check under the next slot that has not begun, and writes into the terms from
-- when on the rule holds; the engine that reads the check there runs it, if an occurrence lies
-- between, and else moves it on unrun.
--
-- Locks: the schedule first, then its check, everywhere. The other way round an edit that finds no
-- check could lock none: it would wait at the schedule for another one that files it, and leave
-- what that one has filed as it is.

CREATE TABLE prescient.schedule (
    name text PRIMARY KEY,
    entity_name text NOT NULL,
    entity_key text NOT NULL,
    job_exec text NOT NULL,
    every_s bigint,
    bias integer,
    cron text,
    timezone text,
    missed text NOT NULL,
    payload json,
    is_active boolean NOT NULL DEFAULT true,
    made_at timestamptz NOT NULL,
    made_by text NOT NULL,
    changed_at timestamptz NOT NULL,
    changed_by text NOT NULL,
    switched_at timestamptz,
    switched_by text,
    switched_why text,
    UNIQUE (entity_name, entity_key, job_exec)
);
COMMENT ON TABLE prescient.schedule IS 'What recurs, and by which rule. Its check waits in future_job.';
COMMENT ON COLUMN prescient.schedule.every_s IS
    'Seconds from the end of a run to the next one; NULL: cron has the times.';
COMMENT ON COLUMN prescient.schedule.bias IS 'Ten thousandths of every_s by which a time may be off.';
COMMENT ON COLUMN prescient.schedule.switched_at IS
    'When it was last switched off or on, switched_by by whom, switched_why why.';

-- ---- what is asked for --------------------------------------------------------------------------

CREATE FUNCTION prescient.refuse_schedule(words text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'prescient: %', words USING ERRCODE = 'invalid_parameter_value';
END $$;

-- One value of a field: a number, or a name of a month or a weekday. NULL: it is neither.
CREATE FUNCTION prescient.cron_value(word text, names text[], first_of_names integer) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN word ~ '^[0-9]{1,4}$' THEN word::integer
                ELSE array_position(names, word) - 1 + first_of_names END $$;

-- Refuses what is wrong in one field, with the column at which it stands in the text. What is right
-- is returned: the values that it means.
CREATE FUNCTION prescient.cron_field(field text, nth integer, begins integer) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    labels CONSTANT text[] := '{minute,hour,day of month,month,weekday}';
    lowest CONSTANT integer := ('{0,0,1,1,0}'::integer[])[nth];
    highest CONSTANT integer := ('{59,23,31,12,7}'::integer[])[nth];
    names CONSTANT text[] := CASE nth WHEN 4 THEN '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}'
                                      WHEN 5 THEN '{sun,mon,tue,wed,thu,fri,sat}' END;
    item text;
    at integer := begins;
    parts text[];
    first integer;
    last integer;
    step integer;
    found integer[] := '{}';
BEGIN
    FOREACH item IN ARRAY string_to_array(field, ',') LOOP
        parts := regexp_match(item, '^([*]|([0-9a-z]+)(-([0-9a-z]+))?)(/([0-9]{1,4}))?$');
        first := CASE parts[1] WHEN '*' THEN lowest ELSE prescient.cron_value(parts[2], names, lowest) END;
        last := CASE WHEN parts[1] = '*' THEN highest
                     WHEN parts[4] IS NOT NULL THEN prescient.cron_value(parts[4], names, lowest)
                     WHEN parts[3] IS NULL THEN first END;
        step := coalesce(parts[6]::integer, 1);
        IF (first BETWEEN lowest AND highest AND last BETWEEN first AND highest AND step > 0
            AND (parts[5] IS NULL OR parts[1] = '*' OR parts[3] IS NOT NULL)) IS NOT TRUE THEN
            RAISE EXCEPTION 'prescient: cron: field % (%), column %: found %, expected % to %, a range, * or '
                            'a list of them, and a step only after * or a range', nth, labels[nth], at,
                quote_literal(left(item, 40)), lowest, highest USING ERRCODE = 'invalid_parameter_value';
        END IF;
        found := found || ARRAY(SELECT generate_series(first, last, step));
        at := at + length(item) + 1;
    END LOOP;
    RETURN found;
END $$;

-- A cron text as it is stored: one blank between fields, small letters. Refuses what is none, and a
-- date that no year has.
CREATE FUNCTION prescient.cron_text(words text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    cron CONSTANT text := lower(regexp_replace(btrim(words, E' \t'), '[ \t]+', ' ', 'g'));
    fields CONSTANT text[] := string_to_array(cron, ' ');
    days integer[];
    months integer[];
    begins integer := 1;
BEGIN
    IF octet_length(cron) > 499 THEN
        RAISE EXCEPTION 'prescient: cron has % bytes, expected at most 499', octet_length(cron)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF cron ~ '^@' THEN
        IF cron <> ALL ('{@yearly,@annually,@monthly,@weekly,@daily,@midnight,@hourly}') THEN
            RAISE EXCEPTION 'prescient: cron is %, expected five fields, or @yearly, @annually, @monthly, '
                            '@weekly, @daily, @midnight or @hourly', quote_literal(left(cron, 40))
                USING ERRCODE = 'invalid_parameter_value';
        END IF;
        RETURN cron;
    END IF;
    IF cardinality(fields) <> 5 THEN
        RAISE EXCEPTION 'prescient: cron has % fields, expected 5: minute, hour, day of month, month, '
                        'weekday',
            cardinality(fields) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    FOR nth IN 1 .. 5 LOOP
        CASE nth
            WHEN 3 THEN days := prescient.cron_field(fields[nth], nth, begins);
            WHEN 4 THEN months := prescient.cron_field(fields[nth], nth, begins);
            ELSE PERFORM prescient.cron_field(fields[nth], nth, begins);
        END CASE;
        begins := begins + length(fields[nth]) + 1;
    END LOOP;
    IF fields[5] ~ '[*]' AND NOT EXISTS (
        SELECT FROM unnest(months) m (month), unnest(days) d (day)
         WHERE d.day <= ('{31,29,31,30,31,30,31,31,30,31,30,31}'::integer[])[m.month]) THEN
        RAISE EXCEPTION 'prescient: cron: no year has day % of month %', fields[3], fields[4]
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN cron;
END $$;

-- PostgreSQL takes for a zone what only looks like one ("Amsterdam5"). The view is slow, and names
-- with a slash and no digit need it not.
CREATE FUNCTION prescient.zone_text(words text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF words = 'UTC' THEN
        RETURN words;
    END IF;
    IF octet_length(words) <= 63 AND words ~ '^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$' THEN
        IF words ~ '/' AND words !~ '[0-9]' THEN
            PERFORM '2000-01-01 00:00:00+00'::timestamptz AT TIME ZONE words;
            RETURN words;
        END IF;
        IF EXISTS (SELECT FROM pg_timezone_names z WHERE z.name = words) THEN
            RETURN words;
        END IF;
    END IF;
    RAISE EXCEPTION 'prescient: timezone is %, expected the name of a zone, such as Europe/Amsterdam or UTC',
        quote_literal(left(words, 80)) USING ERRCODE = 'invalid_parameter_value';
EXCEPTION WHEN invalid_parameter_value THEN
    RAISE EXCEPTION 'prescient: timezone is %, expected the name of a zone, such as Europe/Amsterdam or UTC',
        quote_literal(left(words, 80)) USING ERRCODE = 'invalid_parameter_value';
END $$;

-- Whole seconds of an `every`.
CREATE FUNCTION prescient.period_s(every interval) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    seconds CONSTANT numeric := extract(epoch FROM every)::numeric;
BEGIN
    IF extract(year FROM every) <> 0 OR extract(month FROM every) <> 0 THEN
        RAISE EXCEPTION 'prescient: every is %, and months have no fixed length: cron => ''0 0 1 * *'' '
                        'is once a month', every USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF seconds < 1 OR seconds > 366 * 86400 OR seconds <> trunc(seconds) THEN
        RAISE EXCEPTION 'prescient: every is %, expected whole seconds, from 1 second to 366 days', every
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN seconds;
END $$;

-- Refuses a schedule that is none. A trigger, so that it holds for every way in.
CREATE FUNCTION prescient.require_schedule() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (octet_length(NEW.name) BETWEEN 1 AND 255 AND NEW.name !~ '[[:cntrl:]]') IS NOT TRUE THEN
        PERFORM prescient.refuse_schedule(
            'the name of a schedule has 1 to 255 bytes and no control characters');
    END IF;
    PERFORM prescient.require_check(NEW.entity_name, NEW.entity_key, NEW.job_exec, '2000-01-01 00:00:00+00',
                                    NEW.payload, 'keep');
    IF NEW.every_s IS NULL = (NEW.cron IS NULL) THEN
        PERFORM prescient.refuse_schedule(
            'a schedule has either every (''5 minutes'') or cron (''0 6 * * mon-fri''), and only one of them');
    END IF;
    IF coalesce(NEW.missed <> ALL ('{run_once,run_all,skip}'), true) THEN
        PERFORM prescient.refuse_schedule(format('missed is %L, expected run_once, run_all or skip',
                                                 left(NEW.missed, 40)));
    END IF;
    IF NEW.every_s IS NOT NULL THEN
        IF NEW.timezone IS NOT NULL THEN
            PERFORM prescient.refuse_schedule(
                'a timezone belongs to cron; every counts from the end of a run');
        END IF;
        IF NEW.missed = 'run_all' THEN
            PERFORM prescient.refuse_schedule(
                'missed is ''run_all'', which belongs to cron; every counts from the end of a run, so only one '
                'can be missed');
        END IF;
        NEW.bias := coalesce(NEW.bias, 667);
        IF NEW.bias NOT BETWEEN 0 AND 5000 THEN
            PERFORM prescient.refuse_schedule(format(
                'bias is %s, expected a fraction of every from 0 to 0.5',
                (NEW.bias / 10000.0)::numeric(9, 4)));
        END IF;
        PERFORM prescient.period_s(NEW.every_s * interval '1 second');
    ELSE
        IF NEW.bias IS NOT NULL THEN
            PERFORM prescient.refuse_schedule('a bias belongs to every; cron has the times themselves');
        END IF;
        NEW.cron := prescient.cron_text(NEW.cron);
        NEW.timezone := prescient.zone_text(coalesce(NEW.timezone, 'UTC'));
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER schedule_required BEFORE INSERT OR UPDATE OF name, entity_name, entity_key, job_exec, every_s,
    bias, cron, timezone, missed, payload ON prescient.schedule
    FOR EACH ROW EXECUTE FUNCTION prescient.require_schedule();

-- ---- its check ----------------------------------------------------------------------------------

-- What the check carries (rules/terms.h). The rule holds from the moment `since` on. The check is
-- filed under the next slot, where an engine finds the first occurrence.
CREATE FUNCTION prescient.terms_of(s prescient.schedule, since timestamptz) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT 'schedule "' || replace(s.name, '"', '""') || '" '
           || CASE WHEN s.cron IS NULL
                   THEN 'every ' || s.every_s || ' bias ' || (s.bias / 10000.0)::numeric(5, 4)
                   ELSE 'cron "' || s.cron || '" zone "' || s.timezone || '"' END
           || ' missed ' || s.missed || ' from ' || floor(date_part('epoch', since))::bigint $$;

-- Files the check of a schedule whose row the caller has locked, or starts it anew with the rule as
-- it is now. In a slot that has begun it may be being answered: the terms and again_at are written
-- beside it. `at` NULL: the database's clock, which is read behind the locks.
CREATE FUNCTION prescient.file_scheduled(s prescient.schedule, at timestamptz) RETURNS timestamptz
LANGUAGE plpgsql AS $$
DECLARE
    in_bucket CONSTANT integer := prescient.bucket_of(s.entity_name, s.entity_key);
    old record;
    since timestamptz;
    slot timestamptz;
BEGIN
    PERFORM pg_current_xact_id();
    -- the slot length (set_slot_length) stays as it is until this transaction is over
    LOCK TABLE prescient.future_job IN ROW EXCLUSIVE MODE;
    LOOP
        since := coalesce(at, clock_timestamp());
        slot := prescient.slot_next(since);
        INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
                                          next_check_at, payload, terms)
        VALUES (in_bucket, s.entity_name, s.entity_key, s.job_exec, slot, slot, s.payload,
                prescient.terms_of(s, since))
            ON CONFLICT DO NOTHING;
        EXIT WHEN FOUND;
        SELECT f.next_check_at, f.again_at INTO old FROM prescient.future_job f
         WHERE f.bucket = in_bucket AND f.entity_name = s.entity_name AND f.entity_key = s.entity_key
           AND f.job_exec = s.job_exec
           FOR UPDATE;
        CONTINUE WHEN NOT FOUND;
        since := coalesce(at, clock_timestamp());
        slot := prescient.slot_next(since);
        IF old.next_check_at <= since THEN
            UPDATE prescient.future_job f
               SET terms = prescient.terms_of(s, since), payload = s.payload,
                   again_at = least(old.again_at, slot)
             WHERE f.bucket = in_bucket AND f.entity_name = s.entity_name AND f.entity_key = s.entity_key
               AND f.job_exec = s.job_exec;
        ELSE
            UPDATE prescient.future_job f
               SET terms = prescient.terms_of(s, since), payload = s.payload,
                   id = prescient.new_id(slot, in_bucket, 0), first_check_at = slot,
                   next_check_at = slot, priority = 0, check_count = 0, failure_count = 0, again_at = NULL,
                   deferred_at = NULL, put_off_at = NULL, first_run_at = NULL, run_count = NULL,
                   total_run_us = NULL, origin = NULL
             WHERE f.bucket = in_bucket AND f.entity_name = s.entity_name AND f.entity_key = s.entity_key
               AND f.job_exec = s.job_exec;
        END IF;
        EXIT;
    END LOOP;
    RETURN slot;
END $$;

-- As 0003_api has it. The schedules of the row are switched off first: nothing here tells whether
-- their checks wait, run, or are missing.
CREATE OR REPLACE FUNCTION prescient.resolve_at(entity text, key text, job text, at timestamptz)
    RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
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
    UPDATE prescient.schedule s
       SET is_active = false, switched_at = coalesce(at, clock_timestamp()), switched_by = session_user,
           switched_why = 'resolved'
     WHERE s.entity_name = entity AND s.entity_key = key AND (job IS NULL OR s.job_exec = job)
       AND s.is_active;
    n := prescient.end_checks(entity, key, job, at);
    IF n = 0 THEN
        -- it may have been ended and enqueued anew while we waited for its lock
        n := prescient.end_checks(entity, key, job, at);
    END IF;
    RETURN n;
END $$;

-- ---- edits --------------------------------------------------------------------------------------

-- `mode`: add (it is new), set (it is there, and NULL leaves what it has), put (either; NULL is the
-- default). The outcome: new, changed or kept. The check of a schedule that becomes another one is
-- ended.
CREATE FUNCTION prescient.put_schedule(mode text, wanted prescient.schedule, at timestamptz,
                                       OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    stamp CONSTANT timestamptz := coalesce(at, clock_timestamp());
    old prescient.schedule;
    new prescient.schedule;
    other text;
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
        SELECT s.name INTO other FROM prescient.schedule s
         WHERE s.entity_name = wanted.entity_name AND s.entity_key = wanted.entity_key
           AND s.job_exec = wanted.job_exec AND s.name <> wanted.name;
        IF FOUND THEN
            RAISE EXCEPTION 'prescient: schedule % is of the same check (%, %, %)', quote_literal(other),
                wanted.entity_name, wanted.entity_key, wanted.job_exec USING ERRCODE = 'unique_violation',
                HINT = 'A check has one schedule. Change that one, or name another job or key.';
        END IF;
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

-- Off: its check is ended. On: it is filed, and the rule holds from now on. False: it was so.
CREATE FUNCTION prescient.switch_schedule(name text, active boolean, why text, at timestamptz)
    RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    wanted CONSTANT text := name;
    s prescient.schedule;
BEGIN
    PERFORM pg_current_xact_id();
    SELECT t.* INTO s FROM prescient.schedule t WHERE t.name = wanted FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'prescient: there is no schedule %', quote_literal(wanted)
            USING ERRCODE = 'no_data_found';
    END IF;
    IF s.is_active = active THEN
        RETURN false;
    END IF;
    UPDATE prescient.schedule t
       SET is_active = active, switched_at = coalesce(at, clock_timestamp()), switched_by = session_user,
           switched_why = why
     WHERE t.name = wanted;
    IF active THEN
        PERFORM prescient.file_scheduled(s, at);
    ELSE
        PERFORM prescient.resolve_at(s.entity_name, s.entity_key, s.job_exec, at);
    END IF;
    RETURN true;
END $$;

CREATE FUNCTION prescient.remove_schedule(name text, at timestamptz) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    wanted CONSTANT text := name;
    s prescient.schedule;
BEGIN
    PERFORM pg_current_xact_id();
    DELETE FROM prescient.schedule t WHERE t.name = wanted RETURNING t.* INTO s;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM prescient.resolve_at(s.entity_name, s.entity_key, s.job_exec, at);
    RETURN true;
END $$;

-- Files what active schedules lack: somebody has deleted the check by hand, or put back a copy of
-- the table. Looks at `most` schedules from the name `after` on; returns how many it filed, and the
-- last name looked at, NULL at the end. Each schedule is locked, then asked whether it is still on.
CREATE FUNCTION prescient.repair_schedules(after text, most integer, at timestamptz,
                                           OUT filed bigint, OUT last_name text)
LANGUAGE plpgsql AS $$
DECLARE
    looked integer := 0;
    missing text[];
    one text;
    s prescient.schedule;
BEGIN
    filed := 0;
    WITH looked_at AS MATERIALIZED (
        SELECT t.name, t.entity_name, t.entity_key, t.job_exec, t.is_active FROM prescient.schedule t
         WHERE after IS NULL OR t.name > after ORDER BY t.name LIMIT most)
    SELECT count(*), max(t.name),
           array_agg(t.name ORDER BY t.name) FILTER (WHERE t.is_active AND NOT EXISTS (
               SELECT FROM prescient.future_job f
                WHERE f.bucket = prescient.bucket_of(t.entity_name, t.entity_key)
                  AND f.entity_name = t.entity_name AND f.entity_key = t.entity_key
                  AND f.job_exec = t.job_exec))
      INTO looked, last_name, missing FROM looked_at t;
    IF looked < most THEN
        last_name := NULL;
    END IF;
    FOREACH one IN ARRAY coalesce(missing, '{}') LOOP
        SELECT t.* INTO s FROM prescient.schedule t WHERE t.name = one AND t.is_active FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        CONTINUE WHEN EXISTS (SELECT FROM prescient.future_job f
                               WHERE f.bucket = prescient.bucket_of(s.entity_name, s.entity_key)
                                 AND f.entity_name = s.entity_name AND f.entity_key = s.entity_key
                                 AND f.job_exec = s.job_exec);
        PERFORM prescient.file_scheduled(s, at);
        filed := filed + 1;
    END LOOP;
END $$;

-- ---- the functions of applications --------------------------------------------------------------

CREATE FUNCTION prescient.tests_at() RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF current_setting('prescient.now', true) <> '' THEN
        RETURN prescient.now_of_tests();
    END IF;
    RETURN NULL;
END $$;

-- An `every` that slots cannot keep is told.
CREATE FUNCTION prescient.tell_period(every interval) RETURNS void LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF extract(epoch FROM every) < prescient.slot_length_s() THEN
        RAISE NOTICE 'prescient: every is %, and a slot has % s: it becomes once a slot', every,
            prescient.slot_length_s();
    END IF;
END $$;

DO $make$
DECLARE
    body CONSTANT text := $sql$
CREATE FUNCTION prescient.schedule(name text, entity text, key {key_type}, job text,
                                   every interval DEFAULT NULL, cron text DEFAULT NULL,
                                   timezone text DEFAULT NULL, missed text DEFAULT 'run_once',
                                   bias numeric DEFAULT NULL, payload anycompatible DEFAULT NULL::text)
    RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted prescient.schedule;
BEGIN
    -- first the types: a cast that somebody has made for one of his own would run with the owner's
    -- rights
    {key_check}
    PERFORM prescient.require_payload_type('payload', pg_typeof(payload));
    wanted.name := name;
    wanted.entity_name := entity;
    wanted.entity_key := key::text;
    wanted.job_exec := job;
    wanted.every_s := prescient.period_s(every);
    wanted.bias := round(bias * 10000);
    wanted.cron := cron;
    wanted.timezone := timezone;
    wanted.missed := missed;
    wanted.payload := prescient.document_of(payload::text);
    PERFORM prescient.tell_period(every);
    RETURN (prescient.put_schedule('put', wanted, prescient.tests_at())).outcome;
END $$ $sql$;
    made record;
BEGIN
    FOR made IN SELECT * FROM (VALUES ('text', ''), ('anyelement',
            'PERFORM prescient.require_key_type(''key'', pg_typeof(key));')) k (key_type, key_check) LOOP
        EXECUTE replace(replace(body, '{key_type}', made.key_type), '{key_check}', made.key_check);
    END LOOP;
END $make$;

COMMENT ON FUNCTION prescient.schedule(text, text, text, text, interval, text, text, text, numeric,
                                       anycompatible) IS
    'Runs `job` for row `key` of `entity` again and again: every => an interval from the end of one run to '
    'the next, or cron => five fields in a timezone. Makes the schedule, or changes the one of that name. '
    'Returns new, changed or kept.';
COMMENT ON FUNCTION prescient.schedule(text, text, anyelement, text, interval, text, text, text, numeric,
                                       anycompatible) IS
    'The same, for a key of type smallint, integer, bigint or uuid.';

CREATE FUNCTION prescient.schedule_set(name text, every interval DEFAULT NULL, cron text DEFAULT NULL,
                                       timezone text DEFAULT NULL, missed text DEFAULT NULL,
                                       bias numeric DEFAULT NULL, payload anycompatible DEFAULT NULL::text)
    RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted prescient.schedule;
BEGIN
    PERFORM prescient.require_payload_type('payload', pg_typeof(payload));
    wanted.name := name;
    wanted.every_s := prescient.period_s(every);
    wanted.bias := round(bias * 10000);
    wanted.cron := cron;
    wanted.timezone := timezone;
    wanted.missed := missed;
    wanted.payload := prescient.document_of(payload::text);
    PERFORM prescient.tell_period(every);
    RETURN (prescient.put_schedule('set', wanted, prescient.tests_at())).outcome;
END $$;
COMMENT ON FUNCTION prescient.schedule_set(text, interval, text, text, text, numeric, anycompatible) IS
    'Changes what is given of a schedule, and leaves the rest. Returns changed or kept.';

CREATE FUNCTION prescient.schedule_on(name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN prescient.switch_schedule(name, true, NULL, prescient.tests_at());
END $$;
COMMENT ON FUNCTION prescient.schedule_on(text) IS
    'Switches a schedule on: its rule holds from now on. False: it was on.';

CREATE FUNCTION prescient.schedule_off(name text, why text DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN prescient.switch_schedule(name, false, why, prescient.tests_at());
END $$;
COMMENT ON FUNCTION prescient.schedule_off(text, text) IS
    'Switches a schedule off and ends its check; who, when and why are kept. False: it was off.';

CREATE FUNCTION prescient.unschedule(name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN prescient.remove_schedule(name, prescient.tests_at());
END $$;
COMMENT ON FUNCTION prescient.unschedule(text) IS
    'Removes a schedule and ends its check. False: there was none of that name.';

-- ---- what is there ------------------------------------------------------------------------------

CREATE VIEW prescient.schedules AS
    SELECT s.name, s.entity_name, s.entity_key, s.job_exec, s.every_s,
           (s.bias / 10000.0)::numeric(5, 4) AS bias, s.cron,
           s.timezone, s.missed, s.is_active,
           (SELECT f.next_check_at FROM prescient.future_job f
             WHERE f.bucket = prescient.bucket_of(s.entity_name, s.entity_key)
               AND f.entity_name = s.entity_name AND f.entity_key = s.entity_key
               AND f.job_exec = s.job_exec) AS next_check_at,
           s.made_at, s.made_by, s.changed_at, s.changed_by, s.switched_at, s.switched_by, s.switched_why
      FROM prescient.schedule s;
COMMENT ON VIEW prescient.schedules IS 'Schedules, one row each.';
COMMENT ON COLUMN prescient.schedules.every_s IS 'Seconds from the end of a run to the next one; NULL: cron.';
COMMENT ON COLUMN prescient.schedules.next_check_at IS
    'The slot under which its check is filed; NULL: none waits.';
COMMENT ON COLUMN prescient.schedules.switched_why IS 'Why it was last switched off or on.';

-- ---- who may ------------------------------------------------------------------------------------

REVOKE ALL ON prescient.schedule, prescient.schedules FROM PUBLIC;
REVOKE ALL ON FUNCTION prescient.refuse_schedule(text), prescient.cron_value(text, text[], integer),
    prescient.cron_field(text, integer, integer), prescient.cron_text(text), prescient.zone_text(text),
    prescient.period_s(interval), prescient.require_schedule(),
    prescient.terms_of(prescient.schedule, timestamptz),
    prescient.file_scheduled(prescient.schedule, timestamptz),
    prescient.put_schedule(text, prescient.schedule, timestamptz),
    prescient.switch_schedule(text, boolean, text, timestamptz),
    prescient.remove_schedule(text, timestamptz), prescient.repair_schedules(text, integer, timestamptz),
    prescient.tests_at(), prescient.tell_period(interval),
    prescient.schedule(text, text, text, text, interval, text, text, text, numeric, anycompatible),
    prescient.schedule(text, text, anyelement, text, interval, text, text, text, numeric, anycompatible),
    prescient.schedule_set(text, interval, text, text, text, numeric, anycompatible),
    prescient.schedule_on(text), prescient.schedule_off(text, text), prescient.unschedule(text) FROM PUBLIC;

DO $$
DECLARE
    part text;
BEGIN
    FOR part IN SELECT r.rolname FROM pg_catalog.pg_roles r
                 WHERE r.rolname IN ('prescient_enqueuer', 'prescient_engine') LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION
            prescient.schedule(text, text, text, text, interval, text, text, text, numeric, anycompatible),
            prescient.schedule(text, text, anyelement, text, interval, text, text, text, numeric,
                               anycompatible),
            prescient.schedule_set(text, interval, text, text, text, numeric, anycompatible),
            prescient.schedule_on(text), prescient.schedule_off(text, text), prescient.unschedule(text)
            TO %I', part);
    END LOOP;
    FOR part IN SELECT r.rolname FROM pg_catalog.pg_roles r
                 WHERE r.rolname IN ('prescient_reader', 'prescient_engine') LOOP
        EXECUTE format('GRANT SELECT ON prescient.schedules TO %I', part);
    END LOOP;
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT SELECT, INSERT, UPDATE, DELETE ON prescient.schedule TO prescient_engine;
        GRANT EXECUTE ON FUNCTION prescient.refuse_schedule(text),
            prescient.cron_value(text, text[], integer), prescient.cron_field(text, integer, integer),
            prescient.cron_text(text), prescient.zone_text(text), prescient.period_s(interval),
            prescient.terms_of(prescient.schedule, timestamptz),
            prescient.file_scheduled(prescient.schedule, timestamptz),
            prescient.put_schedule(text, prescient.schedule, timestamptz),
            prescient.switch_schedule(text, boolean, text, timestamptz),
            prescient.remove_schedule(text, timestamptz),
            prescient.repair_schedules(text, integer, timestamptz), prescient.tests_at(),
            prescient.tell_period(interval) TO prescient_engine;
    END IF;
END $$;
