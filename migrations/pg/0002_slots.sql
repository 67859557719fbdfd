-- 0002_slots - which moments are slots, and how long a slot is.
--
-- A slot is a multiple of the slot length since 1970, in UTC: a full slot. Each whole second
-- between two of them is a slot, too: a fine slot, for what is asked for at once or deferred by
-- seconds.
--
-- PostgreSQL puts the body of an SQL function into the statement that calls it, but not if the
-- function is stricter than its body. So those called for each row of a settle are not STRICT.

-- The length in seconds. It is part of the function, so that it costs nothing to read;
-- set_slot_length replaces the function. It is STABLE, so that a session notices: PostgreSQL
-- computes an IMMUTABLE call once and for all, and a session that has called enqueue would go on
-- with the old length. The body of a STABLE one is put into a plan as well, but the plan is made
-- anew when the function is replaced.
CREATE FUNCTION prescient.slot_length_s() RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE AS 'SELECT 900';

-- What follows computes with it, and reads no table.

CREATE FUNCTION prescient.slot_floor(at timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT to_timestamp(floor(date_part('epoch', at) / prescient.slot_length_s())
                        * prescient.slot_length_s()) $$;
COMMENT ON FUNCTION prescient.slot_floor(timestamptz) IS 'The slot that is running at this moment.';

CREATE FUNCTION prescient.slot_ceil(at timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT to_timestamp(ceil(date_part('epoch', at) / prescient.slot_length_s())
                        * prescient.slot_length_s()) $$;
COMMENT ON FUNCTION prescient.slot_ceil(timestamptz) IS
    'The moment rounded up to a slot; a moment on the boundary stays.';

CREATE FUNCTION prescient.slot_next(at timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT to_timestamp((floor(date_part('epoch', at) / prescient.slot_length_s()) + 1)
                        * prescient.slot_length_s()) $$;
COMMENT ON FUNCTION prescient.slot_next(timestamptz) IS
    'The first slot that has not begun at this moment.';

CREATE FUNCTION prescient.slot_for(wanted timestamptz, at timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT greatest(prescient.slot_ceil(wanted), prescient.slot_next(at)) $$;
COMMENT ON FUNCTION prescient.slot_for(timestamptz, timestamptz) IS
    'Where a check wanted at the first moment is filed when the clock says the second: rounded up, and '
    'never into a slot that has begun.';

CREATE FUNCTION prescient.slot_fine_next(at timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN prescient.slot_length_s() > 1 AND s.second = prescient.slot_floor(s.second)
                THEN s.second + interval '1 second' ELSE s.second END
      FROM (SELECT to_timestamp(floor(date_part('epoch', at)) + 1) AS second) s $$;
COMMENT ON FUNCTION prescient.slot_fine_next(timestamptz) IS
    'The first second after this moment that is no multiple of the slot length; where slots are a '
    'second long, the next slot.';

-- Whether a check can be filed there. A time that is no whole second is no slot (see refile).
CREATE FUNCTION prescient.is_slot(at timestamptz) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT at = date_trunc('second', at) AND at >= '1970-01-01 00:00:00+00'
           AND at < '10000-01-01 00:00:00+00' $$;

-- The slot to which a check is moved that is to go to `wanted`: that one, or the next of its kind
-- if it has begun. Never back into `leaves`, also if the clock was set back: a row that stayed
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

-- The part of a slot in which all checks of one row are: leases are for parts.
CREATE FUNCTION prescient.bucket_of(entity_name text, entity_key text) RETURNS integer
LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
    SELECT get_byte(sha256(convert_to(octet_length(entity_name)::text || ':' || entity_name || entity_key,
                                      'UTF8')), 0) & 63 $$;
COMMENT ON FUNCTION prescient.bucket_of(text, text) IS 'The bucket, 0 to 63, of all checks of one row.';

-- Changes the slot length, under a lock that keeps everybody from the table: what waits in full
-- slots of the old length moves to slots of the new one, what waits in fine slots stays. Returns
-- how many checks were moved.
--
-- First, a check that is to find the first occurrence of its schedule in its slot, or in the slot
-- asked for, gets the word `sought` (0009_schedules), which names that slot at any slot length.
--
-- Two checks may have one id in two slots, if a sequence was set back. If the new length makes
-- these one slot, one of the checks gets another id.
CREATE FUNCTION prescient.set_slot_length(seconds integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    move CONSTANT text := format(
        'UPDATE prescient.future_job SET next_check_at = prescient.slot_for(next_check_at, clock_timestamp())
          WHERE next_check_at <> prescient.slot_ceil(next_check_at)
            AND CASE WHEN prescient.is_slot(next_check_at)
                     THEN date_part(''epoch'', next_check_at)::bigint %% %s = 0 ELSE true END',
        prescient.slot_length_s());
    seek CONSTANT text :=
        'UPDATE prescient.future_job f
            SET terms = prescient.terms_sought(f.terms, CASE WHEN prescient.finds_first(f)
                                                             THEN f.first_check_at ELSE f.again_at END),
                again_at = CASE WHEN prescient.finds_first(f)
                                THEN nullif(f.again_at, prescient.first_slot_of(f.terms))
                                ELSE f.again_at END
          WHERE f.terms IS NOT NULL
            AND (prescient.finds_first(f) OR f.again_at = prescient.first_slot_of(f.terms))';
    n bigint;
BEGIN
    IF seconds IS NULL OR seconds < 1 OR seconds > 86400 OR 86400 % seconds <> 0 THEN
        RAISE EXCEPTION 'prescient: the slot length is % s, expected 1 s to 86400 s, dividing a day',
            coalesce(seconds::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pg_current_xact_id();
    LOCK TABLE prescient.future_job IN ACCESS EXCLUSIVE MODE;
    EXECUTE seek;
    EXECUTE format('CREATE OR REPLACE FUNCTION prescient.slot_length_s() RETURNS integer '
                   'LANGUAGE sql STABLE PARALLEL SAFE AS %L', 'SELECT ' || seconds);
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
COMMENT ON FUNCTION prescient.set_slot_length(integer) IS
    'Changes the slot length and reslots what is pending; returns how many checks moved.';
