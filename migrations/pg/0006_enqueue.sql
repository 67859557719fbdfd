-- 0006_enqueue - what applications call, from any language, in their own transaction or in a
-- trigger: enqueue, enqueue_now, enqueue_many, enqueue_each, reschedule, resolve, pending,
-- filed_at. Those for schedules are in 0009_schedules, those for pauses in 0010_pauses.
--
-- A driver sends a value with its type (an integer key, a uuid, a timestamp) or without one, as
-- node-postgres does with all of them. Each such call must find one function, and only one:
--
--   key       two functions: text | anyelement. Text takes what has no type, too. What anyelement
--             takes is checked inside: smallint, integer, bigint, uuid, and domains over them.
--   keys      two: text | anyarray. Text takes an array without a type.
--   time      three: timestamptz (also timestamp and date, in the session's time zone) | interval |
--             text. Text takes what has no type; prescient.moment_of reads it.
--   payload   one: anycompatible. Its text must be JSON. Without a type it is text.
--
-- The build makes them of one text each (engine/store/schema.awk).
--
-- These functions run with their owner's rights. So they have a search_path of their own, and judge
-- the type of a key or a payload before they cast it: a caller's own cast would run with the
-- owner's rights. PostgreSQL passes over a cast from a domain, but not over one from an array of a
-- domain: so keys are cast one by one, never as an array.
--
-- A function compares its parameters by the collation of the caller's arguments. By one that takes
-- 'AB1' and 'ab1' for the same, a call would touch the checks of other rows. So each function hands
-- its texts on with the collation of the database, which is that of the columns and indexes, and
-- compares by bytes what it compares itself.

-- ---- one check ----------------------------------------------------------------------------------

-- part: key_type text_key
text
-- part: key_type any_key
anyelement
-- part: declare_key text_key
-- part: declare_key any_key
row_key text;
-- part: row_key text_key
key
-- part: row_key any_key
row_key
-- part: read_key text_key
-- part: read_key any_key
row_key := key::text;
-- part: is_key text_key
-- part: is_key any_key
pg_typeof(key) = ANY ('{smallint,integer,bigint,uuid}'::regtype[]) AND
-- part: require_key any_key
PERFORM prescient.require_key_type('key', pg_typeof(key));
-- part: require_key text_key
-- part: check_key text_key
-- part: check_key any_key
IF (pg_typeof(key) = ANY ('{smallint,integer,bigint,uuid}'::regtype[])) IS NOT TRUE THEN
    PERFORM prescient.require_key_type('key', pg_typeof(key));
END IF;
-- part: time timestamptz
check_at timestamptz
-- part: time interval
check_after interval
-- part: time words
check_at text
-- part: time_type timestamptz
timestamptz
-- part: time_type interval
interval
-- part: time_type words
text
-- part: moment timestamptz
check_at
-- part: moment interval
coalesce(at, clock_timestamp()) + check_after
-- part: moment words
prescient.moment_of(check_at COLLATE "C", at)
-- part: moment_of_tests timestamptz
check_at
-- part: moment_of_tests interval
at + check_after
-- part: moment_of_tests words
{moment}
-- part: read_time timestamptz
wanted := check_at;
-- part: read_time interval
wanted := clock_timestamp() + check_after;
-- part: read_time words
-- Forms that no cast refuses are read without a savepoint: [+]N UNIT, with a number that is no
-- overflow.
IF check_at COLLATE "C" ~~ '20__-__-__%' THEN
    BEGIN
        wanted := check_at::timestamptz;
    EXCEPTION WHEN data_exception THEN
        wanted := prescient.moment_of(check_at COLLATE "C", at);    -- says what is wrong with it
    END;
ELSIF octet_length(check_at) <= 12 AND check_at COLLATE "C" !~~ ALL ('{" %","+ %","++%"}')
    AND ltrim(ltrim(check_at COLLATE "C", '+'), '0123456789')
        = ANY ('{" minute"," minutes"," hour"," hours"," day"," days"," week"," weeks"}') THEN
    wanted := clock_timestamp() + check_at::interval;
ELSIF check_at COLLATE "C" = ANY ('{now,today,tomorrow}') THEN
    wanted := check_at::timestamptz;
ELSE
    wanted := prescient.moment_of(check_at COLLATE "C", at);
END IF;
-- part: read_clock
IF current_setting('prescient.now', true) <> '' THEN
    at := prescient.now_of_tests();
END IF;
-- end

-- Files one check, in the transaction of the application, which pays for it (bench/README.md has
-- each part). PL/pgSQL makes each expression ready anew in each transaction: some 1,500
-- instructions, and 1,000 for each function and operator in it, called or not. A block with
-- EXCEPTION is a savepoint, 21,000 instructions. So there are few expressions, bad values are found
-- in one, and the clock of tests has a way of its own. Nine or more elements of ANY are made a hash
-- table first, 4,000 instructions: there are eight here.
--
-- No lock keeps the slot length as it is: it is read again behind the INSERT, which waits for
-- set_slot_length.
-- for each: text_key any_key, timestamptz interval words
CREATE FUNCTION prescient.enqueue(entity text, key {key_type}, job text, {time},
                                  payload anycompatible DEFAULT NULL::text, conflict text DEFAULT 'keep',
                                  priority integer DEFAULT 0, within interval DEFAULT NULL,
                                  concurrency_key text DEFAULT NULL,
                                  tenant text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    {declare_key}
    wanted timestamptz;
    words text COLLATE "C";                 -- regular expressions refuse some of a caller's
    document json;
    is_good boolean;        -- NULL: there is no payload
    at timestamptz;         -- of tests; NULL: by the clock
    length_s double precision;
    slot timestamptz;
BEGIN
    IF (
        {is_key}
        pg_typeof(payload) = ANY ('{text,json,jsonb}'::regtype[])
        AND coalesce(current_setting('prescient.now', true), '') = '') IS NOT TRUE THEN
        {require_key}
        PERFORM prescient.require_payload_type('payload', pg_typeof(payload));
        IF current_setting('prescient.now', true) <> '' THEN
            at := prescient.now_of_tests();
            PERFORM prescient.require_names(concurrency_key, tenant);
            RETURN (prescient.file_check(entity COLLATE "default", key::text, job,
                                         prescient.drawn_slot(entity COLLATE "default", key::text, job,
                                                              within, at,
                                                              {moment_of_tests}),
                                         prescient.document_of(payload::text), conflict, priority,
                                         at, concurrency_key, tenant)).outcome;
        END IF;
    END IF;
    {read_key}
    {read_time}
    IF payload IS NOT NULL THEN
        words := payload::text;
        IF pg_typeof(payload) = ANY ('{json,jsonb}'::regtype[]) THEN
            document := words::json;
        ELSE
            document := prescient.document_of(words);
        END IF;
        is_good := prescient.is_good_payload(words);
    END IF;
    IF (octet_length(entity || {row_key} || job || coalesce(tenant, '')) <= 1024
        AND least(entity COLLATE "C", {row_key}, job, tenant) > ''
        AND greatest(entity COLLATE "C", job) < '{'
        AND wanted >= '1970-01-01 00:00:00+00' AND wanted < '8999-12-31 00:00:00+00'
        AND entity COLLATE "C" <> 'prescient.event' AND entity COLLATE "C" <> 'prescient.digest'
        AND conflict COLLATE "C" = ANY ('{keep,earlier,replace}') AND is_good IS NOT FALSE
        AND within IS NULL AND concurrency_key IS NULL) IS NOT TRUE THEN
        PERFORM prescient.require_names(concurrency_key, tenant);
        PERFORM prescient.require_check(entity COLLATE "default", {row_key}, job, wanted, document, conflict);
        wanted := prescient.drawn_slot(entity COLLATE "default", {row_key}, job, within, NULL, wanted);
    END IF;

    -- The transaction id first, then the clock, the slot last.
    length_s := prescient.slot_length_s()::double precision;
    slot := CASE WHEN pg_current_xact_id() IS NOT NULL THEN
        to_timestamp(ceil(date_part('epoch', greatest(wanted, clock_timestamp() + interval '1 microsecond'))
                          / length_s) * length_s) END;
    INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
                                      next_check_at, payload, priority, concurrency_key, tenant)
    VALUES (prescient.bucket_of(entity, {row_key}), entity, {row_key}, job, slot, slot, document,
            coalesce(priority, 0), enqueue.concurrency_key, enqueue.tenant)
        ON CONFLICT DO NOTHING;
    IF FOUND AND prescient.slot_length_s() = length_s THEN
        RETURN 'new';
    END IF;
    IF FOUND THEN
        -- set_slot_length ended while the INSERT waited for the table
        DELETE FROM prescient.future_job f
         WHERE f.bucket = prescient.bucket_of(entity, {row_key}) AND f.entity_name = entity COLLATE "default"
         AND f.entity_key = {row_key} COLLATE "default" AND f.job_exec = job COLLATE "default";
    END IF;
    RETURN (prescient.file_good_check(entity COLLATE "default", {row_key}, job, wanted, document, conflict,
                                      coalesce(priority, 0), NULL, NULL, concurrency_key,
                                      tenant)).outcome;
END $$;
COMMENT ON FUNCTION prescient.enqueue(text, {key_type}, text, {time_type}, anycompatible, text, integer,
                                      interval, text, text) IS
    'Asks `job` to look at row `key` of `entity` at a time (rounded up to a slot). The time: timestamptz; '
    'timestamp or date, in the session''s time zone; interval, from now; or text (''3 hours'', '
    '''tomorrow''). Returns new, kept, moved or replaced; conflict: keep, earlier, replace.';

-- end
-- Files one check under the next second. The slot length need not be read again: a change makes
-- that second a full slot at worst.
-- for each: text_key any_key
CREATE FUNCTION prescient.enqueue_now(entity text, key {key_type}, job text,
                                      payload anycompatible DEFAULT NULL::text,
                                      conflict text DEFAULT 'earlier', priority integer DEFAULT 0,
                                      concurrency_key text DEFAULT NULL,
                                      tenant text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    row_key text;
    document json;
    is_good boolean := true;
    xid xid8;
    at timestamptz;         -- of tests; NULL: by the clock
    length_s bigint;
    second bigint;
    slot timestamptz;
BEGIN
    {check_key}
    IF (pg_typeof(payload) = ANY ('{text,json,jsonb}'::regtype[])) IS NOT TRUE THEN
        PERFORM prescient.require_payload_type('payload', pg_typeof(payload));
    END IF;
    row_key := key;
    IF payload IS NOT NULL THEN
        document := prescient.document_of(payload::text);
        is_good := prescient.is_good_payload(document::text);
    END IF;
    {read_clock}
    IF (octet_length(entity || row_key || job || coalesce(tenant, '')) <= 1024
        AND least(entity COLLATE "C", row_key, job, tenant) > ''
        AND greatest(entity COLLATE "C", job) < '{'
        AND entity COLLATE "C" <> 'prescient.event' AND entity COLLATE "C" <> 'prescient.digest'
        AND conflict COLLATE "C" = ANY ('{keep,earlier,replace}') AND is_good
        AND concurrency_key IS NULL) IS NOT TRUE THEN
        PERFORM prescient.require_names(concurrency_key, tenant);
        PERFORM prescient.require_check(entity COLLATE "default", row_key, job,
                                        coalesce(at, clock_timestamp()), document, conflict);
    END IF;

    -- The transaction id first, then the clock, the slot last.
    xid := pg_current_xact_id();
    length_s := prescient.slot_length_s();
    second := floor(date_part('epoch', coalesce(at, clock_timestamp())))::bigint + 1;
    slot := to_timestamp(second + (length_s > 1 AND second % length_s = 0)::integer);
    INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
                                      next_check_at, payload, priority, concurrency_key, tenant)
    VALUES (prescient.bucket_of(entity, row_key), entity, row_key, job, slot, slot, document,
            coalesce(priority, 0), enqueue_now.concurrency_key, enqueue_now.tenant)
        ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN 'new';
    END IF;
    RETURN (prescient.file_now(entity COLLATE "default", row_key, job, document, conflict, priority,
                               at, concurrency_key, tenant)).outcome;
END $$;

-- end
COMMENT ON FUNCTION prescient.enqueue_now(text, text, text, anycompatible, text, integer, text, text) IS
    'Asks `job` to look at row `key` of `entity` in the next second. Returns new, kept, moved or '
    'replaced; conflict: earlier, keep, replace.';
COMMENT ON FUNCTION prescient.enqueue_now(text, anyelement, text, anycompatible, text, integer, text, text) IS
    'The same, for a key of type smallint, integer, bigint or uuid.';

-- Each reads the clock of tests, and leaves the rest to reschedule_at and resolve_at (0007_filing).
-- for each: text_key any_key, timestamptz interval words
CREATE FUNCTION prescient.reschedule(entity text, key {key_type}, job text, {time}) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    at timestamptz;         -- of tests; NULL: by the clock
BEGIN
    {check_key}
    {read_clock}
    RETURN (prescient.reschedule_at(entity COLLATE "default", key::text, job, {moment}, at)).outcome;
END $$;
COMMENT ON FUNCTION prescient.reschedule(text, {key_type}, text, {time_type}) IS
    'Starts a pending check anew at another time (as for enqueue). Returns moved or not_found.';

-- end
-- for each: text_key any_key
CREATE FUNCTION prescient.resolve(entity text, key {key_type}, job text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    at timestamptz;         -- of tests; NULL: by the clock
    ended bigint;
    doubt text;
BEGIN
    {check_key}
    {read_clock}
    ended := prescient.resolve_at(entity COLLATE "default", key::text, job, at);
    IF ended = 0 THEN
        doubt := prescient.resolve_doubt(entity, key::text, job);
        IF doubt IS NOT NULL THEN
            RAISE NOTICE 'prescient: %', doubt;
        END IF;
    END IF;
    RETURN ended;
END $$;
COMMENT ON FUNCTION prescient.resolve(text, {key_type}, text) IS
    'What was waited for has happened: ends the pending checks of a row (of one job, or of all). Returns '
    'how many there were; a notice says when nothing waits for any row of the entity, or when only checks of '
    'other jobs wait for the row.';

-- end
-- ---- many checks --------------------------------------------------------------------------------
-- Two names, because values without types do not tell one form from the other.

-- part: keys_type text_keys
text
-- part: keys_type any_keys
anyarray
-- part: check_keys text_keys
-- part: check_keys any_keys
PERFORM prescient.require_key_type('keys', pg_typeof(keys));
-- part: row_keys text_keys
prescient.array_of('keys', keys)
-- part: row_keys any_keys
ARRAY(SELECT k.one::text FROM unnest(keys) WITH ORDINALITY k (one, n) ORDER BY k.n)
-- end

-- One entity, one job, one time, many keys.
-- for each: text_keys any_keys, timestamptz interval words
CREATE FUNCTION prescient.enqueue_many(entity text, keys {keys_type}, job text, {time},
                                       payload anycompatible DEFAULT NULL::text,
                                       conflict text DEFAULT 'keep',
                                       priority integer DEFAULT 0,
                                       concurrency_key text DEFAULT NULL, tenant text DEFAULT NULL,
                                       OUT added bigint, OUT kept bigint, OUT moved bigint,
                                       OUT replaced bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    row_keys text[];
    n integer[];
    documents json[];
    at timestamptz;         -- of tests; NULL: by the clock
BEGIN
    {check_keys}
    PERFORM prescient.require_payload_type('payload', pg_typeof(payload));
    row_keys := {row_keys};
    n := ARRAY[coalesce(cardinality(row_keys), 0)];
    IF payload IS NOT NULL THEN
        documents := array_fill(prescient.document_of(payload::text), n);
    END IF;
    {read_clock}
    SELECT f.added, f.kept, f.moved, f.replaced INTO added, kept, moved, replaced
      FROM prescient.file_checks(array_fill(entity COLLATE "default", n), row_keys, array_fill(job, n),
                                 array_fill({moment}, n), documents, conflict,
                                 array_fill(priority, n), at, array_fill(concurrency_key, n),
                                 array_fill(tenant, n)) f;
END $$;
COMMENT ON FUNCTION prescient.enqueue_many(text, {keys_type}, text, {time_type}, anycompatible, text,
                                           integer, text, text) IS
    'enqueue for many keys of one entity, with one job and one time. Returns how many were new, kept, '
    'moved, replaced.';

-- end
-- part: times_type one_moment
timestamptz
-- part: times_type one_interval
interval
-- part: times_type in_words
text
-- part: times_type moments
timestamptz[]
-- part: times_type intervals
interval[]
-- part: times_type words_each
text[]
-- part: moments one_moment
array_fill(check_ats, ARRAY[n])
-- part: moments one_interval
array_fill(coalesce(at, clock_timestamp()) + check_ats, ARRAY[n])
-- part: moments in_words
prescient.moments_of(check_ats COLLATE "C", n, at)
-- part: moments moments
check_ats
-- part: moments intervals
ARRAY(SELECT coalesce(at, clock_timestamp()) + u.after
        FROM unnest(check_ats) WITH ORDINALITY u (after, n) ORDER BY u.n)
-- part: moments words_each
prescient.moments_of(check_ats COLLATE "C", at)
-- end

-- Arrays of one length, or one time for all.
-- for each: text_keys any_keys, one_moment one_interval in_words moments intervals words_each
CREATE FUNCTION prescient.enqueue_each(entities text[], keys {keys_type}, jobs text[], check_ats {times_type},
                                       payloads anycompatible DEFAULT NULL::text,
                                       conflict text DEFAULT 'keep', priorities integer[] DEFAULT NULL,
                                       concurrency_keys text[] DEFAULT NULL, tenants text[] DEFAULT NULL,
                                       OUT added bigint, OUT kept bigint, OUT moved bigint,
                                       OUT replaced bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    row_keys text[];
    n integer;
    documents json[];
    at timestamptz;         -- of tests; NULL: by the clock
BEGIN
    {check_keys}
    PERFORM prescient.require_payload_type('payloads', pg_typeof(payloads));
    row_keys := {row_keys};
    n := coalesce(cardinality(row_keys), 0);
    IF payloads IS NOT NULL THEN
        documents := prescient.documents_of(prescient.array_of('payloads', payloads::text));
    END IF;
    {read_clock}
    SELECT f.added, f.kept, f.moved, f.replaced INTO added, kept, moved, replaced
      FROM prescient.file_checks(entities COLLATE "default", row_keys, jobs,
                                 {moments},
                                 documents, conflict, priorities, at, concurrency_keys, tenants) f;
END $$;
COMMENT ON FUNCTION prescient.enqueue_each(text[], {keys_type}, text[], {times_type}, anycompatible, text,
                                           integer[], text[], text[]) IS
    'enqueue for the n-th entity, key, job and time of each array. One time may stand for all. Returns how '
    'many were new, kept, moved, replaced.';

-- end
-- ---- what waits for a row -----------------------------------------------------------------------

-- One step of the primary key, whose first column is the bucket.
CREATE FUNCTION prescient.pending(entity text, key text)
    RETURNS TABLE (job_exec text, next_check_at timestamptz, check_count integer, failure_count integer,
                   priority integer, first_check_at timestamptz, again_at timestamptz,
                   put_off_at timestamptz, is_paused boolean, concurrency_key text, tenant text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF entity IS NULL OR key IS NULL THEN
        RAISE EXCEPTION 'prescient: % is NULL, expected the name of a row',
            CASE WHEN entity IS NULL THEN 'entity' ELSE 'key' END USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN QUERY SELECT f.job_exec, f.next_check_at, f.check_count, f.failure_count, f.priority,
                        f.first_check_at, f.again_at, f.put_off_at,
                        f.next_check_at >= '9000-01-01 00:00:00+00'
                            AND f.next_check_at < '10000-01-01 00:00:00+00', f.concurrency_key, f.tenant
                   FROM prescient.future_job f
                  WHERE f.bucket = prescient.bucket_of(entity, key)
                    AND f.entity_name = entity COLLATE "default" AND f.entity_key = key COLLATE "default"
                  ORDER BY f.next_check_at, f.job_exec;
END $$;
COMMENT ON FUNCTION prescient.pending(text, text) IS
    'The checks that wait for a row: job, slot, looks and failures so far, priority, first slot, and '
    'the slot where a check begins anew that was asked for again while its slot was running, the slot '
    'at which it was due and nobody ran it, whether it is paused (then its slot is no time), its '
    'concurrency key and its tenant. No row: none waits.';

CREATE FUNCTION prescient.pending(entity text, key anyelement)
    RETURNS TABLE (job_exec text, next_check_at timestamptz, check_count integer, failure_count integer,
                   priority integer, first_check_at timestamptz, again_at timestamptz,
                   put_off_at timestamptz, is_paused boolean, concurrency_key text, tenant text)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- first: a cast that somebody has made for a type of his own would run with the owner's rights
    PERFORM prescient.require_key_type('key', pg_typeof(key));
    RETURN QUERY SELECT p.* FROM prescient.pending(entity COLLATE "default", key::text) p;
END $$;
COMMENT ON FUNCTION prescient.pending(text, anyelement) IS
    'The same, for a key of type smallint, integer, bigint or uuid.';

-- VOLATILE, so that it also sees what the statement that calls it has filed just before.
CREATE FUNCTION prescient.filed_at(entity text, key text, job text) RETURNS timestamptz
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(f.again_at, f.next_check_at) FROM prescient.future_job f
     WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity COLLATE "default"
       AND f.entity_key = key COLLATE "default" AND f.job_exec = job COLLATE "default" $$;
COMMENT ON FUNCTION prescient.filed_at(text, text, text) IS
    'The slot in which a check that was asked for last is looked at; from the year 9000 on: it is '
    'paused, and that is no time; NULL: it does not wait.';
