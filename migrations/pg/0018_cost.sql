-- 0018_cost - what one enqueue costs.
-- oldest engine: 1
--
-- It is paid for in the transaction of the application. It was twelve times the server's work for
-- the bare INSERT, and is less than twice that now (bench/README.md has each part):
-- - CHECKs and the condition of a trigger are read from the catalog anew by each statement, at five
--   to ten thousand instructions a comparison. What they refused, enqueue refuses in words, and so
--   does bulk load. What a plain INSERT gets wrong is refused at its slot: an engine does not run
--   a check with values outside the limits, and says so; doctor finds checks in a wrong bucket. A
--   time that is no slot is found by the sweep, which files the check into one (refile).
-- - LOCK TABLE, which kept the slot length as it was, gives way to a second look at the length,
--   behind the lock of the INSERT.

-- ---- checks at a time that is no slot -----------------------------------------------------------

CREATE FUNCTION prescient.is_slot(at timestamptz) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT at = prescient.slot_floor(at) AND at >= '1970-01-01 00:00:00+00'
           AND at < '10000-01-01 00:00:00+00' $$;

-- The first slot in [first, before) with rows. Rows before it at times that are no slots are moved
-- to the first slot behind that has not begun; the run log has why. A row that another transaction
-- has locked is left to the next look.
CREATE FUNCTION prescient.refile(first timestamptz, before timestamptz) RETURNS timestamptz
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wrong timestamptz;
    at timestamptz;
    slot timestamptz;
BEGIN
    PERFORM pg_current_xact_id();
    LOCK TABLE prescient.future_job IN ROW EXCLUSIVE MODE;      -- the slot length stays as it is
    at := clock_timestamp();
    LOOP
        wrong := (SELECT f.next_check_at FROM prescient.future_job f
                   WHERE f.next_check_at >= first AND f.next_check_at < before
                   ORDER BY f.next_check_at LIMIT 1);
        IF wrong IS NULL OR prescient.is_slot(wrong) THEN
            RETURN wrong;
        END IF;
        slot := prescient.slot_for(wrong, at);
        WITH misfiled AS MATERIALIZED (
            SELECT f.bucket, f.entity_name, f.entity_key, f.job_exec FROM prescient.future_job f
             WHERE f.next_check_at = wrong FOR UPDATE SKIP LOCKED),
        refiled AS (
            UPDATE prescient.future_job f
               SET next_check_at = slot, id = prescient.new_id(slot, f.bucket, f.priority),
                   origin = prescient.origin_of(f.origin, f.first_check_at, f.id)
              FROM misfiled m
             WHERE f.bucket = m.bucket AND f.entity_name = m.entity_name AND f.entity_key = m.entity_key
               AND f.job_exec = m.job_exec
            RETURNING f.check_count, f.failure_count, f.entity_name, f.entity_key, f.job_exec)
        INSERT INTO prescient.future_job_run (run_at, slot_at, next_check_at, run_us, check_count,
                                              failure_count, entity_name, entity_key, job_exec, outcome, note)
        SELECT at, greatest(prescient.slot_floor(wrong), '1970-01-01 00:00:00+00'), slot, 0, r.check_count,
               r.failure_count, r.entity_name, r.entity_key, r.job_exec, 'reslotted',
               format('not run: it was filed at %s, which is no slot of %s s; file checks by '
                      'prescient.enqueue()', wrong, prescient.slot_length_s())
          FROM refiled r;
        first := greatest(wrong, '4713-01-01 00:00:00+00 BC') + interval '1 microsecond';
    END LOOP;
END $$;

-- ---- one check ----------------------------------------------------------------------------------

DO $make$
DECLARE
    -- {key_type}, {key_check}; {time}: the parameter; {moment}: the time that it means
    enqueue CONSTANT text := $sql$
CREATE OR REPLACE FUNCTION prescient.enqueue(entity text, key {key_type}, job text, {time},
                                             payload anycompatible DEFAULT NULL::text,
                                             conflict text DEFAULT 'keep', priority integer DEFAULT 0)
    RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    row_key CONSTANT text := key;
    wanted CONSTANT timestamptz := {moment};
    document json;
    is_good boolean := true;
    xid xid8;
    at timestamptz;         -- NULL: by the clock
    length_s double precision;
    slot timestamptz;
BEGIN
    {key_check}
    IF payload IS NOT NULL THEN
        document := prescient.document_of(payload::text);
        is_good := prescient.is_good_payload(document::text);
    END IF;
    IF (octet_length(entity || row_key || job) <= 1024 AND least(entity, row_key, job) > ''
        AND wanted >= '1970-01-01 00:00:00+00' AND wanted < '9999-12-31 00:00:00+00'
        AND conflict = ANY ('{keep,earlier,replace}') AND is_good) IS NOT TRUE THEN
        PERFORM prescient.require_check(entity, row_key, job, wanted, document, conflict);
    END IF;
    IF current_setting('prescient.now', true) <> '' THEN
        at := prescient.now_of_tests();
    END IF;

    -- The transaction id first, then the clock, the slot last.
    xid := pg_current_xact_id();
    length_s := prescient.slot_length_s();
    slot := to_timestamp(greatest(ceil(date_part('epoch', wanted) / length_s),
                                  floor(date_part('epoch', coalesce(at, clock_timestamp())) / length_s) + 1)
                         * length_s);
    INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
                                      next_check_at, payload, priority)
    VALUES (prescient.bucket_of(entity, row_key), entity, row_key, job, slot, slot, document,
            coalesce(priority, 0))
        ON CONFLICT DO NOTHING;
    IF FOUND THEN
        IF prescient.slot_length_s() = length_s THEN
            RETURN 'new';
        END IF;
        -- set_slot_length ended while the INSERT waited for the table
        DELETE FROM prescient.future_job f
         WHERE f.bucket = prescient.bucket_of(entity, row_key) AND f.entity_name = entity
         AND f.entity_key = row_key AND f.job_exec = job;
    END IF;
    RETURN (prescient.file_good_check(entity, row_key, job, wanted, document, conflict,
                                      coalesce(priority, 0), at, NULL)).outcome;
END $$ $sql$;
    made record;
BEGIN
    FOR made IN
        SELECT replace(replace(replace(replace(enqueue, '{key_type}', k.type),
                       '{key_check}', format(k.test, '{smallint,integer,bigint,uuid}', 'key')),
                       '{time}', t.time), '{moment}', t.moment) AS command
          FROM (VALUES ('text', ''),
                       ('anyelement', 'IF (pg_typeof(key) = ANY (%L::regtype[])) IS NOT TRUE THEN
        PERFORM prescient.require_key_type(%L, pg_typeof(key));
    END IF;')) k (type, test),
               (VALUES ('check_at timestamptz', 'check_at'),
                       ('check_after interval', 'clock_timestamp() + check_after'),
                       ('check_at text', 'prescient.moment_of(check_at)')) t (time, moment) LOOP
        EXECUTE made.command;
    END LOOP;
END $make$;

-- ---- what each statement read -------------------------------------------------------------------

ALTER TABLE prescient.future_job DROP CONSTRAINT future_job_slot, DROP CONSTRAINT future_job_times,
    DROP CONSTRAINT future_job_names, DROP CONSTRAINT future_job_payload, DROP CONSTRAINT future_job_counts;
DROP TRIGGER future_job_bucket ON prescient.future_job;
DROP FUNCTION prescient.refuse_bucket();

-- Checks that were given one id may stand in two slots, which a new slot length makes one.
CREATE OR REPLACE FUNCTION prescient.set_slot_length(seconds integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    move CONSTANT text :=
        'UPDATE prescient.future_job SET next_check_at = prescient.slot_for(next_check_at, clock_timestamp())
                            WHERE next_check_at <> prescient.slot_ceil(next_check_at)';
    n bigint;
BEGIN
    IF seconds IS NULL OR seconds < 1 OR seconds > 86400 OR 86400 % seconds <> 0 THEN
        RAISE EXCEPTION 'prescient: the slot length is % s, expected 1 s to 86400 s, dividing a day',
            coalesce(seconds::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pg_current_xact_id();
    LOCK TABLE prescient.future_job IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('CREATE OR REPLACE FUNCTION prescient.slot_length_s() RETURNS integer '
                   'LANGUAGE sql IMMUTABLE PARALLEL SAFE AS %L', 'SELECT ' || seconds);
    BEGIN
        EXECUTE move;
        GET DIAGNOSTICS n = ROW_COUNT;
    EXCEPTION WHEN unique_violation THEN
        PERFORM prescient.mend_sequences(true);         -- else what is drawn here may be in use, too
        WITH twins AS (
            SELECT t.ctid FROM (SELECT f.ctid,
                                row_number() OVER (PARTITION BY f.bucket, f.priority, f.id) AS nth
                                    FROM prescient.future_job f) t
             WHERE t.nth > 1)
        UPDATE prescient.future_job f
           SET origin = prescient.origin_of(f.origin, f.first_check_at, f.id),
               id = nextval('prescient.future_job_id_seq')
         WHERE f.ctid IN (SELECT t.ctid FROM twins t);
        EXECUTE move;
        GET DIAGNOSTICS n = ROW_COUNT;
    END;
    INSERT INTO prescient.setting VALUES ('slot_length_s', seconds::text)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value;
    RETURN n;
END $$;

REVOKE ALL ON FUNCTION prescient.is_slot(timestamptz), prescient.refile(timestamptz, timestamptz) FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT EXECUTE ON FUNCTION prescient.is_slot(timestamptz), prescient.refile(timestamptz, timestamptz)
            TO prescient_engine;
    END IF;
END $$;
