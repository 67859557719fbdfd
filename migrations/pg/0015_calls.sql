-- 0015_calls - the API takes what drivers send.
-- oldest engine: 1
--
-- A driver sends a value with its type (an integer key, a uuid, a timestamp) or without one, as
-- node-postgres does with all of them. Every such call must find one function, and only one:
--
--   key       two functions: text | anyelement. Text takes what has no type, too. What anyelement
--             takes is checked inside: smallint, integer, bigint, uuid, and domains over them.
--   time      three: timestamptz (also timestamp and date, in the session's time zone) | interval |
--             text. Text takes what has no type; prescient.moment_of reads it.
--   payload   one: anycompatible. Its text must be JSON. Without a type it is text.
--
-- So enqueue and reschedule are six functions each, made from one text, and resolve is two. Where
-- there are many keys, text | anyarray is the same pair: text takes an array without a type.
--   enqueue_many(entity, keys, job, time)           one entity, one job, one time, many keys
--   enqueue_each(entities, keys, jobs, times)       arrays of one length, or one time for all
-- These are two names, because values without types do not tell one from the other. enqueue_many
-- took arrays of one length, too, before.

-- ---- what is read -------------------------------------------------------------------------------

-- A time in words. A number and a unit is an interval from now, and so is all with a + in front.
CREATE OR REPLACE FUNCTION prescient.moment_of(words text) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE STRICT AS $$
DECLARE
    forms CONSTANT text := 'expected a time (2030-01-31 15:00, tomorrow) or an interval from now '
                           '(3 hours, +3 hours)';
    number CONSTANT text := '^[[:space:]]*[-+]?[0-9.]+[[:space:]]*$';
    an_interval CONSTANT text := '^[[:space:]]*([+@]|-?[[:space:]]*([0-9]+[.]?[0-9]*[[:space:]]*(us|usec|'
        'microsecond|ms|msec|millisecond|s|sec|second|m|min|minute|h|hr|hour|d|day|w|week|mon|month|y|yr|'
        'year|decade|century)s?([^a-z]|$)|p[0-9t]))';
BEGIN
    IF words ~ number THEN
        RAISE EXCEPTION 'prescient: check_at is %, a number without a unit; %',
            quote_literal(left(words, 40)), forms USING ERRCODE = 'invalid_datetime_format';
    END IF;
    IF words ~* an_interval THEN
        RETURN clock_timestamp() + words::interval;
    END IF;
    RETURN words::timestamptz;
EXCEPTION WHEN data_exception THEN
    IF words ~ number THEN
        RAISE;
    END IF;
    RAISE EXCEPTION 'prescient: check_at is %; %', quote_literal(left(words, 40)), forms
        USING ERRCODE = 'invalid_datetime_format', DETAIL = SQLERRM;
END $$;

-- One time for all of them, or an array that came without its type.
CREATE FUNCTION prescient.moments_of(words text, n integer) RETURNS timestamptz[]
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF words ~ '^[[:space:]]*[{]' THEN
        RETURN prescient.moments_of(words::text[]);
    END IF;
    RETURN array_fill(prescient.moment_of(words), ARRAY[n]);
END $$;

CREATE FUNCTION prescient.moments_of(words text[]) RETURNS timestamptz[]
LANGUAGE plpgsql VOLATILE STRICT AS $$
DECLARE
    moments timestamptz[] := '{}';
    one text;
    n integer := 1;
BEGIN
    FOREACH one IN ARRAY words LOOP
        moments := moments || prescient.moment_of(one);
        n := n + 1;
    END LOOP;
    RETURN moments;
EXCEPTION WHEN invalid_datetime_format THEN
    RAISE EXCEPTION '%', SQLERRM USING ERRCODE = 'invalid_datetime_format', DETAIL = format('row %s', n);
END $$;

CREATE FUNCTION prescient.document_of(payload text) RETURNS json LANGUAGE plpgsql STRICT AS $$
DECLARE
    what text;
BEGIN
    RETURN payload::json;
EXCEPTION WHEN invalid_text_representation OR untranslatable_character THEN
    GET STACKED DIAGNOSTICS what = PG_EXCEPTION_DETAIL;
    RAISE EXCEPTION 'prescient: the payload is not JSON: %', quote_literal(left(payload, 40))
        USING ERRCODE = 'invalid_text_representation', DETAIL = coalesce(nullif(what, ''), SQLERRM);
END $$;

CREATE FUNCTION prescient.documents_of(payloads text[]) RETURNS json[] LANGUAGE plpgsql STRICT AS $$
DECLARE
    documents json[] := '{}';
    one text;
    n integer := 1;
BEGIN
    FOREACH one IN ARRAY payloads LOOP
        documents := documents || prescient.document_of(one);
        n := n + 1;
    END LOOP;
    RETURN documents;
EXCEPTION WHEN invalid_text_representation THEN
    RAISE EXCEPTION '%', SQLERRM
        USING ERRCODE = 'invalid_text_representation', DETAIL = format('row %s', n);
END $$;

-- What a key, or an element of keys, may be: only that whose text is the same wherever it is
-- written.
CREATE FUNCTION prescient.require_key_type(what text, given regtype) RETURNS void
LANGUAGE plpgsql STABLE AS $$
DECLARE
    base oid := given;      -- what a domain is over, in the end
BEGIN
    IF what = 'keys' THEN
        base := (SELECT t.typelem FROM pg_type t WHERE t.oid = given);
    END IF;
    WHILE base <> 0 LOOP
        IF base::regtype = ANY ('{smallint,integer,bigint,uuid,text,varchar}'::regtype[]) THEN
            RETURN;
        END IF;
        base := (SELECT t.typbasetype FROM pg_type t WHERE t.oid = base);
    END LOOP;
    RAISE EXCEPTION 'prescient: % is of type %, expected smallint, integer, bigint, uuid or text%',
        what, given, CASE what WHEN 'keys' THEN ', an array of them' ELSE '' END
        USING ERRCODE = 'datatype_mismatch', HINT = format('Cast it: %s::text%s', what,
            CASE what WHEN 'keys' THEN '[]' ELSE '' END);
END $$;

-- The clock of tests: SET prescient.now = '2030-01-31 15:00+00'. An application that could set it
-- could file checks into slots that have begun, so it is for those who may do that anyhow.
CREATE FUNCTION prescient.now_of_tests() RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF NOT has_function_privilege(session_user, 'prescient.file_check(text, text, text, timestamptz, json, '
                                  'text, integer, timestamptz)', 'EXECUTE') THEN
        RAISE EXCEPTION
            'prescient: the setting prescient.now is for tests, and user % may not set the time',
            session_user USING ERRCODE = 'insufficient_privilege', HINT = format(
                'RESET prescient.now; or, for a database of tests: GRANT prescient_engine TO %I',
                session_user);
    END IF;
    RETURN current_setting('prescient.now')::timestamptz;
END $$;

-- ---- the functions ------------------------------------------------------------------------------

DO $make$
DECLARE
    -- {key_type}, {key_check}; {time}: the parameter; {moment}: the time that it means
    enqueue CONSTANT text := $sql$
CREATE FUNCTION prescient.enqueue(entity text, key {key_type}, job text, {time},
                                  payload anycompatible DEFAULT NULL::text, conflict text DEFAULT 'keep',
                                  priority integer DEFAULT 0) RETURNS text
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

    -- The transaction id first, then the clock, the slot last. The slot length (set_slot_length)
    -- stays as it is until this transaction is over.
    xid := pg_current_xact_id();
    LOCK TABLE prescient.future_job IN ROW EXCLUSIVE MODE;
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
        RETURN 'new';
    END IF;
    RETURN (prescient.file_good_check(entity, row_key, job, wanted, document, conflict,
                                      coalesce(priority, 0), at, NULL)).outcome;
END $$ $sql$;

    reschedule CONSTANT text := $sql$
CREATE FUNCTION prescient.reschedule(entity text, key {key_type}, job text, {time}) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    at timestamptz;         -- NULL: by the clock
BEGIN
    {key_check}
    IF current_setting('prescient.now', true) <> '' THEN
        at := prescient.now_of_tests();
    END IF;
    RETURN (prescient.reschedule_at(entity, key::text, job, {moment}, at)).outcome;
END $$ $sql$;

    resolve CONSTANT text := $sql$
CREATE FUNCTION prescient.resolve(entity text, key {key_type}, job text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    at timestamptz;         -- NULL: by the clock
BEGIN
    {key_check}
    IF current_setting('prescient.now', true) <> '' THEN
        at := prescient.now_of_tests();
    END IF;
    RETURN prescient.resolve_at(entity, key::text, job, at);
END $$ $sql$;

    enqueue_many CONSTANT text := $sql$
CREATE FUNCTION prescient.enqueue_many(entity text, keys {keys_type}, job text, {time},
                                       conflict text DEFAULT 'keep',
                                       payload anycompatible DEFAULT NULL::text, priority integer DEFAULT 0,
                                       OUT added bigint, OUT kept bigint, OUT moved bigint,
                                       OUT replaced bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    row_keys CONSTANT text[] := keys;
    n CONSTANT integer[] := ARRAY[coalesce(cardinality(row_keys), 0)];
    documents json[];
    at timestamptz;         -- NULL: by the clock
BEGIN
    {keys_check}
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
CREATE FUNCTION prescient.enqueue_each(entities text[], keys {keys_type}, jobs text[],
                                       check_ats {times_type},
                                       payloads anycompatible DEFAULT NULL::text,
                                       conflict text DEFAULT 'keep', priorities integer[] DEFAULT NULL,
                                       OUT added bigint, OUT kept bigint, OUT moved bigint,
                                       OUT replaced bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    row_keys CONSTANT text[] := keys;
    n CONSTANT integer := coalesce(cardinality(row_keys), 0);
    documents json[];
    at timestamptz;         -- NULL: by the clock
BEGIN
    {keys_check}
    IF payloads IS NOT NULL THEN
        documents := prescient.documents_of(payloads::text::text[]);
    END IF;
    IF current_setting('prescient.now', true) <> '' THEN
        at := prescient.now_of_tests();
    END IF;
    SELECT f.added, f.kept, f.moved, f.replaced INTO added, kept, moved, replaced
      FROM prescient.file_checks(entities, row_keys, jobs, {moments}, documents, conflict,
                                 priorities, at) f;
END $$ $sql$;

    granted CONSTANT jsonb := (
        SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_object(
                   'name', p.proname, 'role', a.grantee::regrole,
                   'option', CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)), '[]')
          FROM pg_proc p, LATERAL aclexplode(p.proacl) a
         WHERE p.pronamespace = 'prescient_schema'::regnamespace
           AND p.proname IN ('enqueue', 'enqueue_many', 'resolve', 'reschedule')
           AND a.grantee NOT IN (0, p.proowner));
    made record;
    part record;
BEGIN
    DROP FUNCTION prescient.enqueue(text, text, text, timestamptz, json, text, integer),
        prescient.enqueue(text, text, text, interval, json, text, integer),
        prescient.enqueue(text, text, text, text, json, text, integer),
        prescient.enqueue_many(text[], text[], text[], timestamptz[], json[], text, integer[]),
        prescient.enqueue_many(text, text[], text, timestamptz, text),
        prescient.resolve(text, text, text),
        prescient.reschedule(text, text, text, timestamptz),
        prescient.reschedule(text, text, text, interval),
        prescient.reschedule(text, text, text, text);

    FOR made IN
        WITH keys (key_type, keys_type, key_check, keys_check) AS (VALUES
            ('text', 'text', '', ''),
            ('anyelement', 'anyarray', 'IF (pg_typeof(key) = ANY (%L::regtype[])) IS NOT TRUE THEN
        PERFORM prescient.require_key_type(%L, pg_typeof(key));
    END IF;', 'PERFORM prescient.require_key_type(%L, pg_typeof(keys));')),
        times (time, moment) AS (VALUES
            ('check_at timestamptz', 'check_at'),
            ('check_after interval', 'clock_timestamp() + check_after'),
            ('check_at text', 'prescient.moment_of(check_at)')),
        times_of_each (times_type, moments) AS (VALUES
            ('timestamptz', 'array_fill(check_ats, ARRAY[n])'),
            ('interval', 'array_fill(clock_timestamp() + check_ats, ARRAY[n])'),
            ('text', 'prescient.moments_of(check_ats, n)'),
            ('timestamptz[]', 'check_ats'),
            ('interval[]', 'ARRAY(SELECT clock_timestamp() + u.after FROM unnest(check_ats)
                                         WITH ORDINALITY u (after, n) ORDER BY u.n)'),
            ('text[]', 'prescient.moments_of(check_ats)')),
        bodies (body, key_type, keys_type, key_check, keys_check, time, moment, times_type, moments) AS (
            SELECT b.body, k.*, t.*, '', ''
              FROM (VALUES (enqueue), (reschedule), (enqueue_many)) b (body), keys k, times t
            UNION ALL SELECT resolve, k.*, '', '', '', '' FROM keys k
            UNION ALL SELECT enqueue_each, k.*, '', '', e.* FROM keys k, times_of_each e)
        SELECT replace(replace(replace(replace(replace(replace(replace(replace(b.body,
                       '{key_type}', b.key_type), '{keys_type}', b.keys_type),
                       '{key_check}', format(b.key_check, '{smallint,integer,bigint,uuid}', 'key')),
                       '{keys_check}', format(b.keys_check, 'keys')),
                       '{time}', b.time), '{moment}', b.moment),
                       '{times_type}', b.times_type), '{moments}', b.moments) AS command
          FROM bodies b LOOP
        EXECUTE made.command;
    END LOOP;

    -- nobody but those who may call the old functions, by whatever role, may call the new ones
    FOR made IN
        SELECT p.oid::regprocedure AS call, p.proname AS name,
               CASE p.proname
               WHEN 'enqueue' THEN
                   'Asks `job` to look at row `key` of `entity` at a time (rounded up to a slot). The '
                   'time: timestamptz; timestamp or date, in the session''s time zone; interval, from '
                   'now; or text (''3 hours'', ''tomorrow''). Returns new, kept, moved or replaced; '
                   'conflict: keep, earlier, replace.'
               WHEN 'enqueue_many' THEN
                   'enqueue for many keys of one entity, with one job and one time. Returns how many '
                   'were new, kept, moved, replaced.'
               WHEN 'enqueue_each' THEN
                   'enqueue for the n-th entity, key, job and time of each array. One time may stand '
                   'for all. Returns how many were new, kept, moved, replaced.'
               WHEN 'resolve' THEN
                   'What was waited for has happened: ends the pending checks of a row (of one job, or '
                   'of all). Returns how many there were.'
               ELSE
                   'Starts a pending check anew at another time (as for enqueue). Returns moved or '
                   'not_found.'
               END AS comment
          FROM pg_proc p
         WHERE p.pronamespace = 'prescient_schema'::regnamespace
           AND p.proname IN ('enqueue', 'enqueue_many', 'enqueue_each', 'resolve', 'reschedule') LOOP
        EXECUTE format('COMMENT ON FUNCTION %s IS %L', made.call, made.comment);
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', made.call);
        FOR part IN SELECT * FROM jsonb_to_recordset(granted) g (name text, role text, option text)
                     WHERE g.name = replace(made.name, '_each', '_many') LOOP
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s%s', made.call, part.role, part.option);
        END LOOP;
    END LOOP;
END $make$;

REVOKE ALL ON FUNCTION prescient.moments_of(text, integer), prescient.moments_of(text[]),
    prescient.document_of(text), prescient.documents_of(text[]), prescient.require_key_type(text, regtype),
    prescient.now_of_tests() FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT EXECUTE ON FUNCTION prescient.moments_of(text, integer), prescient.moments_of(text[]),
            prescient.document_of(text), prescient.documents_of(text[]),
            prescient.require_key_type(text, regtype), prescient.now_of_tests() TO prescient_engine;
    END IF;
END $$;
