-- 0030_fine_slots - each whole second is a slot.
-- oldest engine: 1
--
-- What cannot wait for the next multiple of the slot length (a full slot, from now on) is filed
-- under a second between two of them: a fine slot. All rules are those of full slots. Every call
-- from before files as it did. Engines from before this migration run fine slots as late ones, when
-- the full slot is over that they lie in.

-- ---- which moments are slots --------------------------------------------------------------------

CREATE FUNCTION prescient.slot_fine_next(at timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN prescient.slot_length_s() > 1 AND s.second = prescient.slot_floor(s.second)
                THEN s.second + interval '1 second' ELSE s.second END
      FROM (SELECT to_timestamp(floor(date_part('epoch', at)) + 1) AS second) s $$;
COMMENT ON FUNCTION prescient.slot_fine_next(timestamptz) IS
    'The first second after this moment that is no multiple of the slot length; where slots are a '
    'second long, the next slot.';

-- A time that is no whole second is no slot (see refile).
CREATE OR REPLACE FUNCTION prescient.is_slot(at timestamptz) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT at = date_trunc('second', at) AND at >= '1970-01-01 00:00:00+00'
           AND at < '10000-01-01 00:00:00+00' $$;

-- Where a check goes that is to move to the slot `wanted`: there, or if that has begun, to the next
-- slot of its kind. Never back into `leaves`, also where the clock was set back: a row that stayed
-- would be as it was read. An attempt is not made in the first seconds of another full slot than
-- the one that it was meant for, but with that slot's checks.
CREATE FUNCTION prescient.slot_moved(wanted timestamptz, leaves timestamptz, at timestamptz,
                                     is_attempt boolean) RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
DECLARE
    slot timestamptz := wanted;
BEGIN
    IF wanted <= at THEN
        slot := prescient.slot_fine_next(at);
        IF wanted = prescient.slot_floor(wanted)
           OR (is_attempt AND prescient.slot_floor(slot) <> prescient.slot_floor(wanted)) THEN
            slot := prescient.slot_next(at);
        END IF;
    END IF;
    IF slot = leaves THEN
        slot := prescient.slot_moved(leaves, NULL, leaves, is_attempt);
    END IF;
    RETURN slot;
END $$;

-- As 0008_damaged has it, among all seconds.
CREATE OR REPLACE FUNCTION prescient.first_slot(first timestamptz, before timestamptz) RETURNS timestamptz
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    low bigint := ceil(date_part('epoch', greatest(first, '1970-01-01 00:00:00+00')));
    high bigint := ceil(date_part('epoch', least(before, '10000-01-01 00:00:00+00')));
    middle bigint;
BEGIN
    IF low >= high OR NOT prescient.holds_checks(to_timestamp(low), to_timestamp(high - 1), 0, 63, NULL) THEN
        RETURN NULL;
    END IF;
    WHILE high - low > 1 LOOP
        middle := low + (high - low) / 2;
        IF prescient.holds_checks(to_timestamp(low), to_timestamp(middle - 1), 0, 63, NULL) THEN
            high := middle;
        ELSE
            low := middle;
        END IF;
    END LOOP;
    RETURN to_timestamp(low);
END $$;

-- As 0018_cost has it; what waits in a fine slot waits there still.
CREATE OR REPLACE FUNCTION prescient.set_slot_length(seconds integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    move CONSTANT text := format(
        'UPDATE prescient.future_job SET next_check_at = prescient.slot_for(next_check_at, clock_timestamp())
          WHERE next_check_at <> prescient.slot_ceil(next_check_at)
            AND CASE WHEN prescient.is_slot(next_check_at)
                     THEN date_part(''epoch'', next_check_at)::bigint %% %s = 0 ELSE true END',
        prescient.slot_length_s());
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

-- ---- in the next second -------------------------------------------------------------------------

-- As file_check, for the next fine slot. The clock is read again after each wait.
CREATE FUNCTION prescient.file_now(entity text, key text, job text, new_payload json, conflict text,
                                   new_priority integer, at timestamptz, OUT outcome text,
                                   OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    in_bucket CONSTANT integer := prescient.bucket_of(entity, key);
    slot timestamptz;
BEGIN
    PERFORM prescient.require_check(entity, key, job, coalesce(at, clock_timestamp()), new_payload, conflict);
    PERFORM pg_current_xact_id();
    LOOP
        slot := prescient.slot_fine_next(coalesce(at, clock_timestamp()));
        INSERT INTO prescient.future_job AS f (bucket, entity_name, entity_key, job_exec,
                                               first_check_at, next_check_at, payload, priority)
        VALUES (in_bucket, entity, key, job, slot, slot, new_payload, coalesce(new_priority, 0))
            ON CONFLICT DO NOTHING
        RETURNING f.next_check_at INTO filed_at;
        IF FOUND THEN
            outcome := 'new';
            RETURN;
        END IF;
        SELECT g.outcome, g.filed_at INTO outcome, filed_at
          FROM prescient.file_again(entity, key, job, slot, at, new_payload, conflict,
                                    coalesce(new_priority, 0)) g;
        EXIT WHEN outcome IS NOT NULL;
    END LOOP;
END $$;

DO $make$
DECLARE
    enqueue_now CONSTANT text := $sql$
CREATE FUNCTION prescient.enqueue_now(entity text, key {key_type}, job text,
                                      payload anycompatible DEFAULT NULL::text,
                                      conflict text DEFAULT 'earlier', priority integer DEFAULT 0)
    RETURNS text
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
    IF (octet_length(entity || row_key || job) <= 1024 AND least(entity, row_key, job) > ''
        AND conflict = ANY ('{keep,earlier,replace}') AND is_good) IS NOT TRUE THEN
        PERFORM prescient.require_check(entity, row_key, job, coalesce(at, clock_timestamp()), document,
                                        conflict);
    END IF;

    -- The transaction id first, then the clock, the slot last. A slot length that changes meanwhile
    -- makes this second a full slot at worst.
    xid := pg_current_xact_id();
    length_s := prescient.slot_length_s();
    second := floor(date_part('epoch', coalesce(at, clock_timestamp())))::bigint + 1;
    slot := to_timestamp(second + (length_s > 1 AND second % length_s = 0)::integer);
    INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
                                      next_check_at, payload, priority)
    VALUES (prescient.bucket_of(entity, row_key), entity, row_key, job, slot, slot, document,
            coalesce(priority, 0))
        ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN 'new';
    END IF;
    RETURN (prescient.file_now(entity, row_key, job, document, conflict, priority, at)).outcome;
END $$ $sql$;
    made record;
BEGIN
    FOR made IN
        SELECT replace(replace(enqueue_now, '{key_type}', k.type), '{key_check}', k.test) AS command
          FROM (VALUES ('text', ''),
                       ('anyelement',
                        $k$IF (pg_typeof(key) = ANY ('{smallint,integer,bigint,uuid}'::regtype[]))
        IS NOT TRUE THEN
        PERFORM prescient.require_key_type('key', pg_typeof(key));
    END IF;$k$)) k (type, test) LOOP
        EXECUTE made.command;
    END LOOP;
END $make$;

COMMENT ON FUNCTION prescient.enqueue_now(text, text, text, anycompatible, text, integer) IS
    'Asks `job` to look at row `key` of `entity` in the next second. Returns new, kept, moved or '
    'replaced; conflict: earlier, keep, replace.';
COMMENT ON FUNCTION prescient.enqueue_now(text, anyelement, text, anycompatible, text, integer) IS
    'The same, for a key of type smallint, integer, bigint or uuid.';

-- ---- who may ------------------------------------------------------------------------------------

REVOKE ALL ON FUNCTION prescient.slot_fine_next(timestamptz),
    prescient.slot_moved(timestamptz, timestamptz, timestamptz, boolean),
    prescient.file_now(text, text, text, json, text, integer, timestamptz),
    prescient.enqueue_now(text, text, text, anycompatible, text, integer),
    prescient.enqueue_now(text, anyelement, text, anycompatible, text, integer) FROM PUBLIC;

DO $$
DECLARE
    part text;
BEGIN
    FOR part IN SELECT r.rolname FROM pg_catalog.pg_roles r
                 WHERE r.rolname IN ('prescient_enqueuer', 'prescient_engine', 'prescient_reader') LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION prescient.slot_fine_next(timestamptz) TO %I', part);
        IF part <> 'prescient_reader' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION '
                           'prescient.enqueue_now(text, text, text, anycompatible, text, integer), '
                           'prescient.enqueue_now(text, anyelement, text, anycompatible, text, integer) TO %I',
                           part);
        END IF;
        IF part = 'prescient_engine' THEN
            EXECUTE format('GRANT EXECUTE ON FUNCTION '
                           'prescient.slot_moved(timestamptz, timestamptz, timestamptz, boolean), '
                           'prescient.file_now(text, text, text, json, text, integer, timestamptz) TO %I',
                           part);
        END IF;
    END LOOP;
END $$;
