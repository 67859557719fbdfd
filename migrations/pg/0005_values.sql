-- 0005_values - what callers give: drivers' values are read, and what is wrong is refused in words.
--
-- A function that applications call is read in their sessions, under their settings: a literal with
-- a backslash is E'...' here and in all that follows, as standard_conforming_strings may be off.

-- ---- a check ------------------------------------------------------------------------------------

-- Whether the JSON library of engines and jobs takes it. It takes what PostgreSQL does, but not the
-- character NUL, halves of a surrogate pair, numbers that are too large for it, and more than 2048
-- levels.
CREATE FUNCTION prescient.is_readable_json(payload text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    bare text;
    number text;
BEGIN
    PERFORM payload::jsonb;             -- refuses NUL and halves of pairs
    bare := regexp_replace(payload, E'"([^"\\\\]|\\\\.)*"', '', 'g');
    FOR number IN SELECT m[1]
                    FROM regexp_matches(bare, '(-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?)', 'g') m LOOP
        IF number ~ '[.eE]' THEN
            IF abs(number::numeric) > 1.7976931348623157e308 THEN
                RETURN false;
            END IF;
        ELSE
            PERFORM number::bigint;
        END IF;
    END LOOP;
    RETURN coalesce((SELECT max(d.depth) <= 2048
                       FROM (SELECT sum(CASE WHEN b.c IN ('[', '{') THEN 1
                                        ELSE -1 END) OVER (ORDER BY b.n) AS depth
                               FROM regexp_split_to_table(regexp_replace(bare, '[^][{}]', '', 'g'),
                                                          '') WITH ORDINALITY b (c, n)
                              WHERE b.c <> '') d), true);
EXCEPTION WHEN data_exception THEN
    RETURN false;
END $$;

-- Whether a payload is short enough and such JSON. Only some are worth the full question: with an
-- escape, long digits, a large exponent, or room for so many levels. None is a good one.
CREATE FUNCTION prescient.is_good_payload(payload text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT payload IS NULL
           OR (octet_length(payload) <= 65536
               AND ((octet_length(payload) < 4096
                     AND payload !~ E'\\\\u(0000|[dD][89a-fA-F])|[0-9]{18}|[0-9][eE][+]?[0-9]{3}')
                    OR prescient.is_readable_json(payload))) $$;

-- Whether these values make a check; require_check says what is wrong with them.
CREATE FUNCTION prescient.is_good_check(entity text, key text, job text, check_at timestamptz,
                                        payload text) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT coalesce(octet_length(entity) BETWEEN 1 AND 1024 AND octet_length(key) BETWEEN 1 AND 1024
                    AND octet_length(job) BETWEEN 1 AND 1024
           AND octet_length(entity) + octet_length(key) + octet_length(job) <= 2600
           AND entity COLLATE "C" <> 'prescient.event' AND entity COLLATE "C" <> 'prescient.digest'
           AND left(entity, 1) COLLATE "C" <> '{' AND left(job, 1) COLLATE "C" <> '{'
           AND check_at >= '1970-01-01 00:00:00+00'
           AND prescient.slot_ceil(check_at) < '9000-01-01 00:00:00+00'
           AND (payload IS NULL OR prescient.is_good_payload(payload)), false) $$;

-- Refuses the values of a check that are wrong, and names what was found and what was expected.
CREATE FUNCTION prescient.require_check(entity text, key text, job text, check_at timestamptz,
                                        payload json, conflict text) RETURNS void
LANGUAGE plpgsql STABLE AS $$
DECLARE
    names constant text[] := ARRAY['entity', 'key', 'job'];
    found constant text[] := ARRAY[entity, key, job];
    size integer := 0;
BEGIN
    FOR i IN 1 .. 3 LOOP
        IF found[i] IS NULL OR found[i] = '' THEN
            RAISE EXCEPTION 'prescient: % is %, expected 1 to 1024 bytes of text', names[i], CASE
                WHEN found[i] IS NULL THEN 'NULL' ELSE 'empty' END
                USING ERRCODE = 'invalid_parameter_value';
        ELSIF octet_length(found[i]) > 1024 THEN
            RAISE EXCEPTION 'prescient: % has % bytes, expected 1 to 1024: %...', names[i],
                octet_length(found[i]), left(found[i], 40)
                USING ERRCODE = 'invalid_parameter_value';
        END IF;
        IF names[i] <> 'key' AND left(found[i], 1) COLLATE "C" = '{' THEN
            RAISE EXCEPTION 'prescient: % is %, which begins like an array, expected one name: did you mean '
                            'prescient.enqueue_each?', names[i], quote_literal(left(found[i], 40))
                USING ERRCODE = 'invalid_parameter_value';
        END IF;
        size := size + octet_length(found[i]);
    END LOOP;
    IF entity COLLATE "C" = 'prescient.digest' THEN
        RAISE EXCEPTION 'prescient: entity is prescient.digest, which stands for digests: only engines '
                        'file them, as listeners in the settings say'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF entity COLLATE "C" = 'prescient.event' THEN
        RAISE EXCEPTION 'prescient: entity is prescient.event, which stands for deliveries: only events '
                        'file them' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF size > 2600 THEN
        RAISE EXCEPTION 'prescient: entity, key and job have % bytes together, expected at most 2600', size
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF check_at IS NULL OR check_at < '1970-01-01 00:00:00+00'
        OR prescient.slot_ceil(check_at) >= '10000-01-01 00:00:00+00' THEN
        RAISE EXCEPTION 'prescient: check_at is %, expected a time from 1970 to 9999',
            coalesce(check_at::text, 'NULL') USING ERRCODE = 'datetime_field_overflow';
    END IF;
    IF prescient.slot_ceil(check_at) >= '9000-01-01 00:00:00+00' THEN
        RAISE EXCEPTION 'prescient: check_at is %, at which paused checks wait, expected a time before '
                        'the year 9000', check_at USING ERRCODE = 'datetime_field_overflow';
    END IF;
    IF octet_length(payload::text) > 65536 THEN
        RAISE EXCEPTION 'prescient: the payload has % bytes, expected at most 65536',
            octet_length(payload::text) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF NOT prescient.is_good_payload(payload::text) THEN
        RAISE EXCEPTION E'prescient: the payload is JSON that jobs cannot read: expected no \\u0000, '
                        'no half of a surrogate pair, no integer beyond 64 bits, no '
                        'number beyond 1.8e308, and at most 2048 levels: %...', left(payload::text, 40)
              USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF conflict IS NULL OR conflict NOT IN ('keep', 'earlier', 'replace') THEN
        RAISE EXCEPTION 'prescient: conflict is %, expected keep, earlier or replace',
            coalesce(quote_literal(conflict), 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END $$;

-- NULL is none.
CREATE FUNCTION prescient.require_names(concurrency_key text, tenant text) RETURNS void
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF octet_length(concurrency_key) NOT BETWEEN 1 AND 1024 THEN
        RAISE EXCEPTION 'prescient: concurrency_key has % bytes, expected 1 to 1024, or NULL for none: %...',
            octet_length(concurrency_key), left(concurrency_key, 40)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF octet_length(tenant) NOT BETWEEN 1 AND 1024 THEN
        RAISE EXCEPTION 'prescient: tenant has % bytes, expected 1 to 1024, or NULL for none: %...',
            octet_length(tenant), left(tenant, 40) USING ERRCODE = 'invalid_parameter_value';
    END IF;
END $$;

-- Refuses arrays that do not belong together, and a bad value with the row in which it is, before
-- anything is filed. Returns how many checks there are.
CREATE FUNCTION prescient.require_checks(entities text[], keys text[], jobs text[],
                                         check_ats timestamptz[], payloads json[], conflict text,
                                         priorities integer[], concurrency_keys text[],
                                         tenants text[]) RETURNS integer
LANGUAGE plpgsql STABLE AS $$
DECLARE
    n CONSTANT integer := coalesce(cardinality(entities), 0);
    names CONSTANT text[] := ARRAY['keys', 'jobs', 'check_ats', 'payloads', 'priorities',
                                   'concurrency_keys', 'tenants'];
    sizes CONSTANT integer[] := ARRAY[coalesce(cardinality(keys), 0), coalesce(cardinality(jobs), 0),
        coalesce(cardinality(check_ats), 0),
                                      coalesce(cardinality(payloads), n),
                                          coalesce(cardinality(priorities), n),
                                          coalesce(cardinality(concurrency_keys), n),
                                          coalesce(cardinality(tenants), n)];
    bad record;
    state text;
    words text;
BEGIN
    FOR i IN 1 .. 7 LOOP
        IF sizes[i] <> n THEN
            RAISE EXCEPTION 'prescient: % has % elements and entities has %, expected arrays of one length',
                names[i], sizes[i], n
                USING ERRCODE = 'invalid_parameter_value';
        END IF;
    END LOOP;
    IF conflict IS NULL OR conflict NOT IN ('keep', 'earlier', 'replace') THEN
        PERFORM prescient.require_check('e', 'k', 'j', '2000-01-01 00:00:00+00', NULL, conflict);
    END IF;
    SELECT u.* INTO bad FROM unnest(entities, keys, jobs, check_ats, payloads) WITH ORDINALITY u (entity,
        key, job, check_at, payload, n)
     WHERE NOT prescient.is_good_check(u.entity, u.key, u.job, u.check_at, u.payload::text)
     ORDER BY u.n LIMIT 1;
    IF FOUND THEN
        BEGIN
            PERFORM prescient.require_check(bad.entity, bad.key, bad.job, bad.check_at,
                                            bad.payload, conflict);
        EXCEPTION WHEN data_exception THEN
            GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, words = MESSAGE_TEXT;
            RAISE EXCEPTION '%', words USING ERRCODE = state, DETAIL = format('row %s', bad.n);
        END;
    END IF;
    PERFORM prescient.require_names(k.key, k.tenant) FROM unnest(concurrency_keys, tenants) k (key, tenant);
    RETURN n;
END $$;

-- ---- types --------------------------------------------------------------------------------------
-- The functions of applications run with their owner's rights. Anybody may create a type with a
-- cast to text, which is a function of his own. So the type is judged before the value is cast.

-- What a key, or an element of keys, may be: a type whose text is always the same. Of keys, only
-- the elements may be cast then: the array itself may be one of a domain, with a cast of its own.
CREATE FUNCTION prescient.require_key_type(what text, given regtype) RETURNS void
LANGUAGE plpgsql STABLE AS $$
DECLARE
    base oid := given;      -- the type under all domains
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

-- What a payload, or the array of payloads, may be: what the server itself reads as JSON or text.
CREATE FUNCTION prescient.require_payload_type(what text, given regtype) RETURNS void
LANGUAGE plpgsql STABLE AS $$
DECLARE
    base oid := given;      -- the type under all domains
BEGIN
    WHILE base <> 0 LOOP
        IF base::regtype = ANY ('{json,jsonb,text,varchar}'::regtype[])
            OR (what = 'payloads' AND base::regtype = ANY ('{json[],jsonb[],text[],varchar[]}'::regtype[]))
            THEN
            RETURN;
        END IF;
        base := (SELECT t.typbasetype FROM pg_type t WHERE t.oid = base);
    END LOOP;
    RAISE EXCEPTION 'prescient: % is of type %, expected json, jsonb or text%', what, given,
        CASE what WHEN 'payloads' THEN ', an array of them' ELSE '' END
        USING ERRCODE = 'datatype_mismatch', HINT = format('Cast it: %s::text%s', what,
            CASE what WHEN 'payloads' THEN '[]' ELSE '' END);
END $$;

-- A text that an application gave as a payload.
CREATE FUNCTION prescient.document_of(payload text) RETURNS json
LANGUAGE plpgsql STRICT AS $$
DECLARE
    what text;
BEGIN
    RETURN payload::json;
EXCEPTION WHEN invalid_text_representation OR untranslatable_character THEN
    GET STACKED DIAGNOSTICS what = PG_EXCEPTION_DETAIL;
    RAISE EXCEPTION 'prescient: the payload is not JSON: %', quote_literal(left(payload, 40))
        USING ERRCODE = 'invalid_text_representation', DETAIL = coalesce(nullif(what, ''), SQLERRM);
END $$;

-- The row that is wrong is named.
CREATE FUNCTION prescient.documents_of(payloads text[]) RETURNS json[]
LANGUAGE plpgsql STRICT AS $$
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

-- An array that came as text, without its type. NULL in it is none, whatever the session makes of
-- it: arrays of payloads come this way, too.
CREATE FUNCTION prescient.array_of(what text, words text) RETURNS text[]
LANGUAGE plpgsql STABLE SET array_nulls = on AS $$
BEGIN
    RETURN words::text[];
EXCEPTION WHEN data_exception THEN
    RAISE EXCEPTION 'prescient: % is %, expected an array, as {1,2} or ARRAY[1, 2]', what,
        quote_literal(left(words, 40)) USING ERRCODE = 'invalid_text_representation', DETAIL = SQLERRM;
END $$;

-- ---- times --------------------------------------------------------------------------------------

-- The clock of tests: SET prescient.now = '2030-01-31 15:00+00'. An application that may set it
-- could file checks into slots that have begun, so only those may who can do that anyhow.
CREATE FUNCTION prescient.now_of_tests() RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
DECLARE
    words CONSTANT text := current_setting('prescient.now');
    at timestamptz;
BEGIN
    IF NOT has_function_privilege(session_user, 'prescient.file_check(text, text, text, timestamptz, json, '
                                  'text, integer, timestamptz, text, text)', 'EXECUTE') THEN
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

-- NULL: the clock is the database's.
CREATE FUNCTION prescient.tests_at() RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF current_setting('prescient.now', true) <> '' THEN
        RETURN prescient.now_of_tests();
    END IF;
    RETURN NULL;
END $$;

-- A time in words. A number and a unit is an interval from now, and so is all with a + in front.
-- `at`: the clock of tests; NULL: the database's.
CREATE FUNCTION prescient.moment_of(words text, at timestamptz) RETURNS timestamptz
LANGUAGE plpgsql AS $$
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
        -- the server would read these words by its own clock
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

-- Each different text is read once, and a plain date and time by the server's own cast.
CREATE FUNCTION prescient.moments_of(words text[], at timestamptz) RETURNS timestamptz[]
LANGUAGE plpgsql AS $$
DECLARE
    -- forms that mean the same by any clock
    plain CONSTANT text := '^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?'
        '(Z|[-+][0-9]{2}(:?[0-9]{2})?)?$';
    one text;
    n integer := 1;
BEGIN
    IF words IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN ARRAY(WITH meant AS MATERIALIZED (
                     SELECT d.word, CASE WHEN d.word ~ plain THEN d.word::timestamptz
                                         ELSE prescient.moment_of(d.word, at) END AS moment
                       FROM (SELECT DISTINCT u.word FROM unnest(words) u (word)) d)
                 SELECT m.moment
                   FROM unnest(words) WITH ORDINALITY w (word, n) LEFT JOIN meant m ON m.word = w.word
                  ORDER BY w.n);
EXCEPTION WHEN data_exception THEN
    -- one after the other, to name the row that is wrong
    BEGIN
        FOREACH one IN ARRAY words LOOP
            PERFORM prescient.moment_of(one, at);
            n := n + 1;
        END LOOP;
        RAISE;
    EXCEPTION WHEN invalid_datetime_format THEN
        RAISE EXCEPTION '%', SQLERRM USING ERRCODE = 'invalid_datetime_format', DETAIL = format('row %s', n);
    END;
END $$;

-- One time for all, or an array that came without its type.
CREATE FUNCTION prescient.moments_of(words text, n integer, at timestamptz) RETURNS timestamptz[]
LANGUAGE plpgsql AS $$
BEGIN
    IF words ~ '^[[:space:]]*[{]' THEN
        RETURN prescient.moments_of(prescient.array_of('check_ats', words), at);
    END IF;
    RETURN array_fill(prescient.moment_of(words, at), ARRAY[n]);
END $$;
