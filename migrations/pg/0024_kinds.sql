-- 0024_kinds - what one enqueue costs with each kind of key, time and payload.
-- oldest engine: 1
--
-- A time in words and a payload cost the server half a call more than a text key and a timestamptz
-- did. Where that lay, and what is done (bench/README.md has the figures):
-- - A block with EXCEPTION is a subtransaction, 21,000 instructions. The times that most calls have
--   cannot fail, which their form says, and are read without one; so is a payload that is JSON by
--   its type. Each regular expression took 10,000 to 15,000: prescient.moment_of has three.
-- - PL/pgSQL makes each of its expressions ready anew in each transaction: some 1,500 instructions,
--   and 1,000 for each function and operator in it, called or not. So there are fewer of them, and
--   the clock of tests has a way of its own. Nine or more elements of ANY are made a hash table
--   first, 4,000 instructions: there are eight here.

DO $make$
DECLARE
    -- {row_key}: the key as text, and {read_key} what makes it; {time}: the parameter; {moment}:
    -- the time that it means, and {read_time} what sets it where the clock is the database's
    enqueue CONSTANT text := $sql$
CREATE OR REPLACE FUNCTION prescient.enqueue(entity text, key {key_type}, job text, {time},
                                             payload anycompatible DEFAULT NULL::text,
                                             conflict text DEFAULT 'keep', priority integer DEFAULT 0)
    RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    {declare_key}wanted timestamptz;
    words text COLLATE "C";                 -- regular expressions refuse some of a caller's
    document json;
    is_good boolean;        -- NULL: there is no payload
    at timestamptz;         -- of tests; NULL: by the clock
    length_s double precision;
    slot timestamptz;
BEGIN
    -- First the types: a cast that somebody has made for one of his own would run with the owner's
    -- rights.
    IF ({is_key}pg_typeof(payload) = ANY ('{text,json,jsonb}'::regtype[])
        AND coalesce(current_setting('prescient.now', true), '') = '') IS NOT TRUE THEN
        {require_key}PERFORM prescient.require_payload_type('payload', pg_typeof(payload));
        IF current_setting('prescient.now', true) <> '' THEN
            at := prescient.now_of_tests();
            RETURN (prescient.file_check(entity, key::text, job, {moment},
                                         prescient.document_of(payload::text), conflict, priority,
                                         at)).outcome;
        END IF;
    END IF;
    {read_key}    {read_time}
    IF payload IS NOT NULL THEN
        words := payload::text;
        IF pg_typeof(payload) = ANY ('{json,jsonb}'::regtype[]) THEN
            document := words::json;
        ELSE
            document := prescient.document_of(words);
        END IF;
        is_good := prescient.is_good_payload(words);
    END IF;
    IF (octet_length(entity || {row_key} || job) <= 1024 AND least(entity, {row_key}, job) > ''
        AND wanted >= '1970-01-01 00:00:00+00' AND wanted < '9999-12-31 00:00:00+00'
        AND conflict = ANY ('{keep,earlier,replace}') AND is_good IS NOT FALSE) IS NOT TRUE THEN
        PERFORM prescient.require_check(entity, {row_key}, job, wanted, document, conflict);
    END IF;

    -- The transaction id first, then the clock, the slot last.
    length_s := prescient.slot_length_s()::double precision;
    slot := CASE WHEN pg_current_xact_id() IS NOT NULL THEN
        to_timestamp(ceil(date_part('epoch', greatest(wanted, clock_timestamp() + interval '1 microsecond'))
                          / length_s) * length_s) END;
    INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
                                      next_check_at, payload, priority)
    VALUES (prescient.bucket_of(entity, {row_key}), entity, {row_key}, job, slot, slot, document,
            coalesce(priority, 0))
        ON CONFLICT DO NOTHING;
    IF FOUND AND prescient.slot_length_s() = length_s THEN
        RETURN 'new';
    END IF;
    IF FOUND THEN
        -- set_slot_length ended while the INSERT waited for the table
        DELETE FROM prescient.future_job f
         WHERE f.bucket = prescient.bucket_of(entity, {row_key}) AND f.entity_name = entity
         AND f.entity_key = {row_key} AND f.job_exec = job;
    END IF;
    RETURN (prescient.file_good_check(entity, {row_key}, job, wanted, document, conflict,
                                      coalesce(priority, 0), NULL, NULL)).outcome;
END $$ $sql$;
    -- Forms that no cast refuses are read at once: [+]N UNIT, with a number that is no overflow.
    read_words CONSTANT text := $sql$IF check_at COLLATE "C" ~~ '20__-__-__%' THEN
        BEGIN
            wanted := check_at::timestamptz;
        EXCEPTION WHEN data_exception THEN
            wanted := prescient.moment_of(check_at COLLATE "C", at);    -- says what is wrong with it
        END;
    ELSIF octet_length(check_at) <= 12 AND check_at COLLATE "C" !~~ ALL ('{" %","+ %","++%"}')
        AND ltrim(ltrim(check_at, '+'), '0123456789')
            = ANY ('{" minute"," minutes"," hour"," hours"," day"," days"," week"," weeks"}') THEN
        wanted := clock_timestamp() + check_at::interval;
    ELSIF check_at = ANY ('{now,today,tomorrow}') THEN
        wanted := check_at::timestamptz;
    ELSE
        wanted := prescient.moment_of(check_at COLLATE "C", at);
    END IF;$sql$;
    -- {key_type}, {is_key}, {require_key}, {row_key}, {declare_key}, {read_key}
    keys CONSTANT text[] := ARRAY[
        ARRAY['text', '', '', 'key', '', ''],
        ARRAY['anyelement', $key$pg_typeof(key) = ANY ('{smallint,integer,bigint,uuid}'::regtype[])
        AND $key$, $key$PERFORM prescient.require_key_type('key', pg_typeof(key));
        $key$, 'row_key', $key$row_key text;
    $key$, $key$row_key := key::text;
    $key$]];
    -- {time}, {moment}, {read_time}
    times CONSTANT text[] := ARRAY[
        ARRAY['check_at timestamptz', 'check_at', 'wanted := check_at;'],
        ARRAY['check_after interval', 'at + check_after', 'wanted := clock_timestamp() + check_after;'],
        ARRAY['check_at text', 'prescient.moment_of(check_at, at)', read_words]];
    key_names CONSTANT text[] := '{key_type,is_key,require_key,row_key,declare_key,read_key}';
    time_names CONSTANT text[] := '{time,moment,read_time}';
    command text;
BEGIN
    FOR k IN 1 .. array_length(keys, 1) LOOP
        FOR t IN 1 .. array_length(times, 1) LOOP
            command := enqueue;
            FOR i IN 1 .. cardinality(key_names) LOOP
                command := replace(command, '{' || key_names[i] || '}', keys[k][i]);
            END LOOP;
            FOR i IN 1 .. cardinality(time_names) LOOP
                command := replace(command, '{' || time_names[i] || '}', times[t][i]);
            END LOOP;
            EXECUTE command;
        END LOOP;
    END LOOP;
END $make$;
