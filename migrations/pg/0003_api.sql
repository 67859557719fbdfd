-- 0003_api - what applications call, from any language, in their own transaction or in a trigger.
-- oldest engine: 1
--
-- Every writer takes its transaction id first, reads the clock then, and picks the slot last. So a transaction that is not
-- listed in an engine's look at a slot cannot put a check into that slot any more. Only the functions meant for applications run
-- with their owner's rights; those inside qualify every name.

-- Says what is wrong with the values of a check, naming what was found and what was expected.
CREATE FUNCTION prescient.require_check(entity text, key text, job text, check_at timestamptz, payload json, conflict text) RETURNS void
LANGUAGE plpgsql STABLE AS $$
DECLARE
    names constant text[] := ARRAY['entity', 'key', 'job'];
    found constant text[] := ARRAY[entity, key, job];
    size integer := 0;
BEGIN
    FOR i IN 1 .. 3 LOOP
        IF found[i] IS NULL OR found[i] = '' THEN
            RAISE EXCEPTION 'prescient: % is %, expected 1 to 1024 bytes of text', names[i], CASE WHEN found[i] IS NULL THEN 'NULL' ELSE 'empty' END
                USING ERRCODE = 'invalid_parameter_value';
        ELSIF octet_length(found[i]) > 1024 THEN
            RAISE EXCEPTION 'prescient: % has % bytes, expected 1 to 1024: %...', names[i], octet_length(found[i]), left(found[i], 40)
                USING ERRCODE = 'invalid_parameter_value';
        END IF;
        size := size + octet_length(found[i]);
    END LOOP;
    IF size > 2600 THEN
        RAISE EXCEPTION 'prescient: entity, key and job have % bytes together, expected at most 2600', size USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF check_at IS NULL OR check_at < '1970-01-01 00:00:00+00' OR prescient.slot_ceil(check_at) >= '10000-01-01 00:00:00+00' THEN
        RAISE EXCEPTION 'prescient: check_at is %, expected a time from 1970 to 9999', coalesce(check_at::text, 'NULL') USING ERRCODE = 'datetime_field_overflow';
    END IF;
    IF octet_length(payload::text) > 65536 THEN
        RAISE EXCEPTION 'prescient: the payload has % bytes, expected at most 65536', octet_length(payload::text) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF conflict IS NULL OR conflict NOT IN ('keep', 'earlier', 'replace') THEN
        RAISE EXCEPTION 'prescient: conflict is %, expected keep, earlier or replace', coalesce(quote_literal(conflict), 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END $$;

-- Changes a check that is pending already; NULL when it has gone meanwhile. A row whose slot has begun may be being answered at
-- this moment: keep and earlier then write the wanted slot beside it, and the settle starts the check anew there.
CREATE FUNCTION prescient.file_again(entity text, key text, job text, slot timestamptz, at timestamptz, new_payload json, conflict text,
                                     new_priority integer, OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    old record;
    begun boolean;
BEGIN
    SELECT f.next_check_at, f.again_at INTO old FROM prescient.future_job f
     WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- Nothing to write, so no lock: an engine never waits for an application that only asked to keep.
    IF old.next_check_at > at AND (conflict = 'keep' OR (conflict = 'earlier' AND slot >= old.next_check_at)) THEN
        outcome := 'kept';
        filed_at := old.next_check_at;
        RETURN;
    END IF;

    SELECT f.next_check_at, f.again_at INTO old FROM prescient.future_job f
     WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
       FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    begun := old.next_check_at <= at;
    IF conflict = 'replace' THEN
        -- A new id by UPDATE: a settle of the old one touches nothing, and a concurrent resolve still meets the row.
        outcome := 'replaced';
        UPDATE prescient.future_job f
           SET id = nextval('prescient.future_job_id_seq'), first_check_at = slot, next_check_at = slot, check_count = 0, failure_count = 0,
               priority = new_priority, payload = new_payload, again_at = NULL, deferred_at = NULL, first_run_at = NULL,
               run_count = NULL, total_run_us = NULL
         WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
        RETURNING f.next_check_at INTO filed_at;
    ELSIF begun THEN
        outcome := 'kept';
        filed_at := CASE WHEN conflict = 'earlier' THEN least(old.again_at, slot) ELSE coalesce(old.again_at, slot) END;
        UPDATE prescient.future_job f SET again_at = filed_at
         WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
           AND f.again_at IS DISTINCT FROM filed_at;
    ELSIF conflict = 'earlier' AND slot < old.next_check_at THEN
        outcome := 'moved';
        filed_at := slot;
        UPDATE prescient.future_job f SET next_check_at = slot
         WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job;
    ELSE
        outcome := 'kept';
        filed_at := old.next_check_at;
    END IF;
END $$;

-- Files one check; every way in ends here. `at` NULL: the database's clock.
CREATE FUNCTION prescient.file_check(entity text, key text, job text, check_at timestamptz, payload json, conflict text, priority integer,
                                     at timestamptz, OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    slot timestamptz;
    in_bucket smallint;
BEGIN
    PERFORM prescient.require_check(entity, key, job, check_at, payload, conflict);
    PERFORM pg_current_xact_id();
    at := coalesce(at, clock_timestamp());
    slot := prescient.slot_for(check_at, at);
    in_bucket := prescient.bucket_of(entity, key);
    priority := coalesce(priority, 0);
    LOOP
        INSERT INTO prescient.future_job AS f (bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at, payload, priority)
        VALUES (in_bucket, entity, key, job, slot, slot, file_check.payload, file_check.priority)
            ON CONFLICT ON CONSTRAINT future_job_pkey DO NOTHING
        RETURNING f.next_check_at INTO filed_at;
        IF FOUND THEN
            outcome := 'new';
            RETURN;
        END IF;
        SELECT g.outcome, g.filed_at INTO outcome, filed_at
          FROM prescient.file_again(entity, key, job, slot, at, file_check.payload, conflict, file_check.priority) g;
        EXIT WHEN outcome IS NOT NULL;
    END LOOP;
END $$;

CREATE FUNCTION prescient.enqueue(entity text, key text, job text, check_at timestamptz, payload json DEFAULT NULL,
                                  conflict text DEFAULT 'keep', priority integer DEFAULT 0) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (prescient.file_check(entity, key, job, check_at, payload, conflict, priority, NULL)).outcome;
END $$;
COMMENT ON FUNCTION prescient.enqueue(text, text, text, timestamptz, json, text, integer) IS
    'Asks `job` to look at row `key` of `entity` at a time (rounded up to a slot). Returns new, kept, moved or replaced; conflict: keep, earlier, replace.';

CREATE FUNCTION prescient.enqueue(entity text, key text, job text, check_after interval, payload json DEFAULT NULL,
                                  conflict text DEFAULT 'keep', priority integer DEFAULT 0) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (prescient.file_check(entity, key, job, clock_timestamp() + check_after, payload, conflict, priority, NULL)).outcome;
END $$;
COMMENT ON FUNCTION prescient.enqueue(text, text, text, interval, json, text, integer) IS 'The same, counted from now.';

-- A literal or a driver's parameter without a type would fit both of the above; it comes here.
CREATE FUNCTION prescient.moment_of(words text) RETURNS timestamptz LANGUAGE plpgsql VOLATILE STRICT AS $$
BEGIN
    RETURN CASE WHEN left(words, 1) = '+' THEN clock_timestamp() + substr(words, 2)::interval ELSE words::timestamptz END;
END $$;

CREATE FUNCTION prescient.enqueue(entity text, key text, job text, check_at text, payload json DEFAULT NULL,
                                  conflict text DEFAULT 'keep', priority integer DEFAULT 0) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (prescient.file_check(entity, key, job, prescient.moment_of(check_at), payload, conflict, priority, NULL)).outcome;
END $$;
COMMENT ON FUNCTION prescient.enqueue(text, text, text, text, json, text, integer) IS
    'The same with the time in words: a timestamp, or with a + in front an interval from now.';

-- Files all of them with one INSERT, or none: NULL when a check is pending already, stands twice in the arrays or is refused.
CREATE FUNCTION prescient.file_new_checks(entities text[], keys text[], jobs text[], check_ats timestamptz[], payloads json[],
                                          priorities integer[], at timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    INSERT INTO prescient.future_job AS f (bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at, payload, priority)
    SELECT s.bucket, u.entity, u.key, u.job, s.slot, s.slot, u.payload, coalesce(u.priority, 0)
      FROM unnest(entities, keys, jobs, check_ats, payloads, priorities) u (entity, key, job, check_at, payload, priority),
           LATERAL (SELECT prescient.bucket_of(u.entity, u.key) AS bucket, prescient.slot_for(u.check_at, at) AS slot) s
     ORDER BY s.bucket, u.entity, u.key, u.job
        ON CONFLICT (bucket, entity_name, entity_key, job_exec) DO NOTHING;
    GET DIAGNOSTICS n = ROW_COUNT;
    IF n < greatest(cardinality(entities), cardinality(keys), cardinality(jobs), cardinality(check_ats)) THEN
        RAISE unique_violation;         -- undoes the INSERT
    END IF;
    RETURN n;
EXCEPTION
    WHEN data_exception OR integrity_constraint_violation THEN
        RETURN NULL;
END $$;

-- Arrays of one length, in the order of the primary key, so that two such calls do not wait for each other crosswise. All at once
-- where all are new; else one by one, and a value that is refused is told with the row it stands in.
CREATE FUNCTION prescient.file_checks(entities text[], keys text[], jobs text[], check_ats timestamptz[], payloads json[], conflict text,
                                      priorities integer[], at timestamptz,
                                      OUT added bigint, OUT kept bigint, OUT moved bigint, OUT replaced bigint)
LANGUAGE plpgsql AS $$
DECLARE
    c record;
    state text;
    words text;
BEGIN
    kept := 0; moved := 0; replaced := 0;
    PERFORM pg_current_xact_id();
    IF conflict IN ('keep', 'earlier', 'replace') THEN
        added := prescient.file_new_checks(entities, keys, jobs, check_ats, payloads, priorities, coalesce(at, clock_timestamp()));
        IF added IS NOT NULL THEN
            RETURN;
        END IF;
    END IF;
    added := 0;
    FOR c IN SELECT u.* FROM unnest(entities, keys, jobs, check_ats, payloads, priorities)
                             WITH ORDINALITY u (entity, key, job, check_at, payload, priority, n)
              ORDER BY prescient.bucket_of(u.entity, u.key), u.entity, u.key, u.job, u.n LOOP
        CASE (prescient.file_check(c.entity, c.key, c.job, c.check_at, c.payload, conflict, c.priority, at)).outcome
            WHEN 'new' THEN added := added + 1;
            WHEN 'kept' THEN kept := kept + 1;
            WHEN 'moved' THEN moved := moved + 1;
            ELSE replaced := replaced + 1;
        END CASE;
    END LOOP;
EXCEPTION
    WHEN data_exception OR integrity_constraint_violation THEN
        GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, words = MESSAGE_TEXT;
        RAISE EXCEPTION '%', words USING ERRCODE = state, DETAIL = format('row %s', c.n);
END $$;

CREATE FUNCTION prescient.enqueue_many(entities text[], keys text[], jobs text[], check_ats timestamptz[], payloads json[] DEFAULT NULL,
                                       conflict text DEFAULT 'keep', priorities integer[] DEFAULT NULL,
                                       OUT added bigint, OUT kept bigint, OUT moved bigint, OUT replaced bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    SELECT f.added, f.kept, f.moved, f.replaced INTO added, kept, moved, replaced
      FROM prescient.file_checks(entities, keys, jobs, check_ats, payloads, conflict, priorities, NULL) f;
END $$;
COMMENT ON FUNCTION prescient.enqueue_many(text[], text[], text[], timestamptz[], json[], text, integer[]) IS
    'Enqueues the n-th entity, key, job and time of each array; returns how many were new, kept, moved, replaced.';

CREATE FUNCTION prescient.enqueue_many(entity text, keys text[], job text, check_at timestamptz, conflict text DEFAULT 'keep',
                                       OUT added bigint, OUT kept bigint, OUT moved bigint, OUT replaced bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    n constant integer := coalesce(cardinality(keys), 0);
BEGIN
    SELECT f.added, f.kept, f.moved, f.replaced INTO added, kept, moved, replaced
      FROM prescient.file_checks(array_fill(entity, ARRAY[n]), keys, array_fill(job, ARRAY[n]), array_fill(check_at, ARRAY[n]), NULL,
                                 conflict, NULL, NULL) f;
END $$;
COMMENT ON FUNCTION prescient.enqueue_many(text, text[], text, timestamptz, text) IS 'The same for many rows of one entity and one job.';

-- Deletes the pending checks of a row, with their history.
CREATE FUNCTION prescient.end_checks(entity text, key text, job text, at timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    clock constant timestamptz := clock_timestamp();
    n bigint;
BEGIN
    WITH gone AS (
        DELETE FROM prescient.future_job f
         WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity AND f.entity_key = key AND (job IS NULL OR f.job_exec = job)
        RETURNING f.*),
    archived AS (
        INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at, check_count, failure_count, run_count,
                                                  entity_name, entity_key, job_exec, outcome, first_run_at, total_run_us)
        SELECT clock, coalesce(at, clock), g.next_check_at, g.first_check_at, g.check_count, g.failure_count, coalesce(g.run_count, 0),
               g.entity_name, g.entity_key, g.job_exec, 'resolved', g.first_run_at, g.total_run_us
          FROM gone g)
    SELECT count(*) INTO n FROM gone;
    RETURN n;
END $$;

-- `at` NULL: the database's clock.
CREATE FUNCTION prescient.resolve_at(entity text, key text, job text, at timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    IF entity IS NULL OR key IS NULL THEN
        RAISE EXCEPTION 'prescient: % is NULL, expected the name of a row', CASE WHEN entity IS NULL THEN 'entity' ELSE 'key' END
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pg_current_xact_id();
    IF NOT prescient.history_day_is_there(prescient.utc_day(clock_timestamp())) THEN
        PERFORM prescient.keep_history_days(1);     -- no engine has been here for days: an application must not fail for that
    END IF;
    n := prescient.end_checks(entity, key, job, at);
    IF n = 0 THEN
        n := prescient.end_checks(entity, key, job, at);    -- it may have been ended and enqueued anew while we waited for its lock
    END IF;
    RETURN n;
END $$;

CREATE FUNCTION prescient.resolve(entity text, key text, job text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN prescient.resolve_at(entity, key, job, NULL);
END $$;
COMMENT ON FUNCTION prescient.resolve(text, text, text) IS
    'What was waited for has happened: ends the pending checks of a row (of one job, or of all). Returns how many there were.';

-- A new life of a pending check at another time; `at` NULL: the database's clock.
CREATE FUNCTION prescient.reschedule_at(entity text, key text, job text, check_at timestamptz, at timestamptz, OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM prescient.require_check(entity, key, job, check_at, NULL, 'keep');
    PERFORM pg_current_xact_id();
    at := coalesce(at, clock_timestamp());
    FOR look IN 1 .. 2 LOOP
        UPDATE prescient.future_job f
           SET id = nextval('prescient.future_job_id_seq'), first_check_at = prescient.slot_for(check_at, at),
               next_check_at = prescient.slot_for(check_at, at), check_count = 0, failure_count = 0, again_at = NULL, deferred_at = NULL,
               first_run_at = NULL, run_count = NULL, total_run_us = NULL
         WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
        RETURNING f.next_check_at INTO filed_at;
        EXIT WHEN FOUND;
    END LOOP;
    outcome := CASE WHEN filed_at IS NULL THEN 'not_found' ELSE 'moved' END;
END $$;

CREATE FUNCTION prescient.reschedule(entity text, key text, job text, check_at timestamptz) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (prescient.reschedule_at(entity, key, job, check_at, NULL)).outcome;
END $$;
COMMENT ON FUNCTION prescient.reschedule(text, text, text, timestamptz) IS 'Starts a pending check anew at another time. Returns moved or not_found.';

CREATE FUNCTION prescient.reschedule(entity text, key text, job text, check_after interval) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (prescient.reschedule_at(entity, key, job, clock_timestamp() + check_after, NULL)).outcome;
END $$;

CREATE FUNCTION prescient.reschedule(entity text, key text, job text, check_at text) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN (prescient.reschedule_at(entity, key, job, prescient.moment_of(check_at), NULL)).outcome;
END $$;

-- The slot length stands in slot_length_s(), in the CHECK and in the settings; what is pending moves to slots of the new length.
CREATE FUNCTION prescient.set_slot_length(seconds integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    n bigint;
BEGIN
    IF seconds IS NULL OR seconds < 1 OR seconds > 86400 OR 86400 % seconds <> 0 THEN
        RAISE EXCEPTION 'prescient: the slot length is % s, expected 1 s to 86400 s, dividing a day', coalesce(seconds::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pg_current_xact_id();
    LOCK TABLE prescient.future_job IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('CREATE OR REPLACE FUNCTION prescient.slot_length_s() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS %L',
                   'SELECT ' || seconds);
    ALTER TABLE prescient.future_job DROP CONSTRAINT future_job_slot;
    EXECUTE 'UPDATE prescient.future_job SET next_check_at = prescient.slot_for(next_check_at, clock_timestamp())
              WHERE next_check_at <> prescient.slot_ceil(next_check_at)';
    GET DIAGNOSTICS n = ROW_COUNT;
    EXECUTE format('ALTER TABLE prescient.future_job ADD CONSTRAINT future_job_slot CHECK (
        next_check_at = to_timestamp(floor(date_part(''epoch'', next_check_at) / %1$s) * %1$s))', seconds);
    INSERT INTO prescient.setting VALUES ('slot_length_s', seconds::text)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value;
    RETURN n;
END $$;
COMMENT ON FUNCTION prescient.set_slot_length(integer) IS 'Changes the slot length and reslots what is pending; returns how many checks moved.';

INSERT INTO prescient.setting VALUES ('slot_length_s', '900');
