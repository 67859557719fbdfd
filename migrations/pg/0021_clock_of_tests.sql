-- 0021_clock_of_tests - the functions of 0015, as they are now: one text of each, and the clock of
-- tests is the one that intervals and words are counted from.
-- oldest engine: 1
--
-- prescient.now was read after the time that a call asked for: '3 hours' and an interval were
-- counted from the real clock. It is read first now. Besides:
-- - The type of a payload is looked at before anything else is done with it: a row with a NULL in
--   it is neither NULL nor NOT NULL, and was filed without a word, and without its payload.
-- - '31.01.2030' and '20300131' are dates, not numbers without a unit.
-- - A text that should be an array, and a setting prescient.now that is no time, are refused by
--   name.

-- ---- what is read -------------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION prescient.now_of_tests() RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
DECLARE
    words CONSTANT text := current_setting('prescient.now');
    at timestamptz;
BEGIN
    IF NOT has_function_privilege(session_user, 'prescient.file_check(text, text, text, timestamptz, json, '
                                  'text, integer, timestamptz)', 'EXECUTE') THEN
        RAISE EXCEPTION
            'prescient: the setting prescient.now is for tests, and user % may not set the time',
            session_user USING ERRCODE = 'insufficient_privilege', HINT = format(
                'RESET prescient.now; or, for a database of tests: GRANT prescient_engine TO %I',
                session_user);
    END IF;
    BEGIN
        at := words::timestamptz;
    EXCEPTION WHEN data_exception THEN
        at := NULL;
    END;
    IF (at >= '1970-01-01 00:00:00+00' AND at < '9999-01-01 00:00:00+00') IS NOT TRUE THEN
        RAISE EXCEPTION 'prescient: the setting prescient.now is %, expected a time from 1970 to 9998',
            quote_literal(left(words, 40)) USING ERRCODE = 'invalid_datetime_format';
    END IF;
    RETURN at;
END $$;

-- A time in words. A number and a unit is an interval from now, and so is all with a + in front.
-- `at`: the clock of tests; NULL: the database's.
CREATE FUNCTION prescient.moment_of(words text, at timestamptz) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    forms CONSTANT text := 'expected a time (2030-01-31 15:00, tomorrow) or an interval from now '
                           '(3 hours, +3 hours)';
    -- eight digits without a sign are a date
    number CONSTANT text := '^[[:space:]]*([-+][0-9]+|[0-9]{1,7}|[0-9]{9,}|[-+]?[0-9]*[.][0-9]+|'
        '[-+]?[0-9]+[.])[[:space:]]*$';
    an_interval CONSTANT text := '^[[:space:]]*([+@]|-?[[:space:]]*([0-9]+[.]?[0-9]*[[:space:]]*(us|usec|'
        'microsecond|ms|msec|millisecond|s|sec|second|m|min|minute|h|hr|hour|d|day|w|week|mon|month|y|yr|'
        'year|decade|century)s?([^a-z]|$)|p[0-9t]))';
    a_day CONSTANT text := '^[[:space:]]*(yesterday|today|tomorrow)';
    day date;
BEGIN
    IF words IS NULL THEN
        RETURN NULL;
    END IF;
    IF words ~ number THEN
        RAISE EXCEPTION 'prescient: check_at is %, a number without a unit; %',
            quote_literal(left(words, 40)), forms USING ERRCODE = 'invalid_datetime_format';
    END IF;
    BEGIN
        IF words ~* an_interval THEN
            RETURN coalesce(at, clock_timestamp()) + words::interval;
        END IF;
        -- the server knows these words by its own clock
        IF at IS NOT NULL AND words ~* '^[[:space:]]*now[[:space:]]*$' THEN
            RETURN at;
        END IF;
        IF at IS NOT NULL AND words ~* a_day THEN
            day := at::date + CASE lower(substring(words FROM '(?i)' || a_day))
                WHEN 'yesterday' THEN -1 WHEN 'today' THEN 0 ELSE 1 END;
            words := regexp_replace(words, a_day, to_char(day, 'YYYY-MM-DD'), 'i');
        END IF;
        RETURN words::timestamptz;
    EXCEPTION WHEN data_exception THEN
        RAISE EXCEPTION 'prescient: check_at is %; %', quote_literal(left(words, 40)), forms
            USING ERRCODE = 'invalid_datetime_format', DETAIL = SQLERRM;
    END;
END $$;

-- An array that came as text, without its type.
CREATE FUNCTION prescient.array_of(what text, words text) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN words::text[];
EXCEPTION WHEN data_exception THEN
    RAISE EXCEPTION 'prescient: % is %, expected an array, as {1,2} or ARRAY[1, 2]', what,
        quote_literal(left(words, 40)) USING ERRCODE = 'invalid_text_representation', DETAIL = SQLERRM;
END $$;

CREATE FUNCTION prescient.moments_of(words text[], at timestamptz) RETURNS timestamptz[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    moments timestamptz[] := '{}';
    one text;
    n integer := 1;
BEGIN
    IF words IS NULL THEN
        RETURN NULL;
    END IF;
    FOREACH one IN ARRAY words LOOP
        moments := moments || prescient.moment_of(one, at);
        n := n + 1;
    END LOOP;
    RETURN moments;
EXCEPTION WHEN invalid_datetime_format THEN
    RAISE EXCEPTION '%', SQLERRM USING ERRCODE = 'invalid_datetime_format', DETAIL = format('row %s', n);
END $$;

-- One time for all of them, or an array that came without its type.
CREATE FUNCTION prescient.moments_of(words text, n integer, at timestamptz) RETURNS timestamptz[]
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF words ~ '^[[:space:]]*[{]' THEN
        RETURN prescient.moments_of(prescient.array_of('check_ats', words), at);
    END IF;
    RETURN array_fill(prescient.moment_of(words, at), ARRAY[n]);
END $$;

-- ---- the functions ------------------------------------------------------------------------------

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
    row_key text;
    wanted timestamptz;
    document json;
    is_good boolean := true;
    xid xid8;
    at timestamptz;         -- of tests; NULL: by the clock
    length_s double precision;
    slot timestamptz;
BEGIN
    -- First the types: a cast that somebody has made for one of his own would run with the owner's
    -- rights.
    {key_check}
    IF (pg_typeof(payload) = ANY ('{text,json,jsonb}'::regtype[])) IS NOT TRUE THEN
        PERFORM prescient.require_payload_type('payload', pg_typeof(payload));
    END IF;
    row_key := key;
    IF payload IS NOT NULL THEN
        document := prescient.document_of(payload::text);
        is_good := prescient.is_good_payload(document::text);
    END IF;
    IF current_setting('prescient.now', true) <> '' THEN
        at := prescient.now_of_tests();
    END IF;
    wanted := {moment};
    IF (octet_length(entity || row_key || job) <= 1024 AND least(entity, row_key, job) > ''
        AND wanted >= '1970-01-01 00:00:00+00' AND wanted < '9999-12-31 00:00:00+00'
        AND conflict = ANY ('{keep,earlier,replace}') AND is_good) IS NOT TRUE THEN
        PERFORM prescient.require_check(entity, row_key, job, wanted, document, conflict);
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

    reschedule CONSTANT text := $sql$
CREATE OR REPLACE FUNCTION prescient.reschedule(entity text, key {key_type}, job text, {time}) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    at timestamptz;         -- of tests; NULL: by the clock
BEGIN
    {key_check}
    IF current_setting('prescient.now', true) <> '' THEN
        at := prescient.now_of_tests();
    END IF;
    RETURN (prescient.reschedule_at(entity, key::text, job, {moment}, at)).outcome;
END $$ $sql$;

    enqueue_many CONSTANT text := $sql$
CREATE OR REPLACE FUNCTION prescient.enqueue_many(entity text, keys {keys_type}, job text, {time},
                                                  conflict text DEFAULT 'keep',
                                                  payload anycompatible DEFAULT NULL::text,
                                                  priority integer DEFAULT 0,
                                                  OUT added bigint, OUT kept bigint, OUT moved bigint,
                                                  OUT replaced bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    row_keys text[];
    n integer[];
    documents json[];
    at timestamptz;         -- of tests; NULL: by the clock
BEGIN
    {keys_check}
    PERFORM prescient.require_payload_type('payload', pg_typeof(payload));
    row_keys := {keys};
    n := ARRAY[coalesce(cardinality(row_keys), 0)];
    IF payload IS NOT NULL THEN
        documents := array_fill(prescient.document_of(payload::text), n);
    END IF;
    IF current_setting('prescient.now', true) <> '' THEN
        at := prescient.now_of_tests();
    END IF;
    SELECT f.added, f.kept, f.moved, f.replaced INTO added, kept, moved, replaced
      FROM prescient.file_checks(array_fill(entity, n), row_keys, array_fill(job, n),
                                 array_fill({moment}, n), documents, conflict,
                                 array_fill(priority, n), at) f;
END $$ $sql$;

    enqueue_each CONSTANT text := $sql$
CREATE OR REPLACE FUNCTION prescient.enqueue_each(entities text[], keys {keys_type}, jobs text[],
                                                  check_ats {times_type},
                                                  payloads anycompatible DEFAULT NULL::text,
                                                  conflict text DEFAULT 'keep',
                                                  priorities integer[] DEFAULT NULL,
                                                  OUT added bigint, OUT kept bigint, OUT moved bigint,
                                                  OUT replaced bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    row_keys text[];
    n integer;
    documents json[];
    at timestamptz;         -- of tests; NULL: by the clock
BEGIN
    {keys_check}
    PERFORM prescient.require_payload_type('payloads', pg_typeof(payloads));
    row_keys := {keys};
    n := coalesce(cardinality(row_keys), 0);
    IF payloads IS NOT NULL THEN
        documents := prescient.documents_of(prescient.array_of('payloads', payloads::text));
    END IF;
    IF current_setting('prescient.now', true) <> '' THEN
        at := prescient.now_of_tests();
    END IF;
    SELECT f.added, f.kept, f.moved, f.replaced INTO added, kept, moved, replaced
      FROM prescient.file_checks(entities, row_keys, jobs, {moments}, documents, conflict,
                                 priorities, at) f;
END $$ $sql$;

    made record;
BEGIN
    FOR made IN
        WITH keys (key_type, keys_type, key_check, keys_check, keys) AS (VALUES
            ('text', 'text', '', '', $k$prescient.array_of('keys', keys)$k$),
            ('anyelement', 'anyarray',
             $k$IF (pg_typeof(key) = ANY ('{smallint,integer,bigint,uuid}'::regtype[])) IS NOT TRUE THEN
        PERFORM prescient.require_key_type('key', pg_typeof(key));
    END IF;$k$, $k$PERFORM prescient.require_key_type('keys', pg_typeof(keys));$k$, 'keys')),
        times (time, moment) AS (VALUES
            ('check_at timestamptz', 'check_at'),
            ('check_after interval', 'coalesce(at, clock_timestamp()) + check_after'),
            ('check_at text', 'prescient.moment_of(check_at, at)')),
        times_of_each (times_type, moments) AS (VALUES
            ('timestamptz', 'array_fill(check_ats, ARRAY[n])'),
            ('interval', 'array_fill(coalesce(at, clock_timestamp()) + check_ats, ARRAY[n])'),
            ('text', 'prescient.moments_of(check_ats, n, at)'),
            ('timestamptz[]', 'check_ats'),
            ('interval[]', 'ARRAY(SELECT coalesce(at, clock_timestamp()) + u.after
                                         FROM unnest(check_ats) WITH ORDINALITY u (after, n) ORDER BY u.n)'),
            ('text[]', 'prescient.moments_of(check_ats, at)')),
        bodies (body, key_type, keys_type, key_check, keys_check, keys, time, moment, times_type, moments)
            AS (
            SELECT b.body, k.*, t.*, '', ''
              FROM (VALUES (enqueue), (reschedule), (enqueue_many)) b (body), keys k, times t
            UNION ALL SELECT enqueue_each, k.*, '', '', e.* FROM keys k, times_of_each e)
        SELECT replace(replace(replace(replace(replace(replace(replace(replace(replace(b.body,
                       '{key_type}', b.key_type), '{keys_type}', b.keys_type),
                       '{key_check}', b.key_check), '{keys_check}', b.keys_check), '{keys}', b.keys),
                       '{time}', b.time), '{moment}', b.moment),
                       '{times_type}', b.times_type), '{moments}', b.moments) AS command
          FROM bodies b LOOP
        EXECUTE made.command;
    END LOOP;
END $make$;

DROP FUNCTION prescient.moment_of(text), prescient.moments_of(text, integer), prescient.moments_of(text[]);

REVOKE ALL ON FUNCTION prescient.moment_of(text, timestamptz), prescient.array_of(text, text),
    prescient.moments_of(text[], timestamptz), prescient.moments_of(text, integer, timestamptz) FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT EXECUTE ON FUNCTION prescient.moment_of(text, timestamptz), prescient.array_of(text, text),
            prescient.moments_of(text[], timestamptz), prescient.moments_of(text, integer, timestamptz)
            TO prescient_engine;
    END IF;
END $$;
