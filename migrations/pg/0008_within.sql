-- 0008_within - a check that may be late by a span is drawn into a slot of that span.
--
-- What is due at noon need not all come at noon. A hash of the check draws the slot, and the
-- emptier a slot, the likelier it is. One engine a minute counts how many checks a slot has, not
-- each caller: so the emptiest slot is never simply taken, where all of that minute would go.
-- Nothing of this is kept with the check. Without counts the hash alone draws.

-- Counts, once a minute. Returns how many slots hold checks; NULL: it was not due, nobody wants it,
-- or another engine is at it (the row of setting is locked, and skipped). A slot with a thousand
-- checks is not counted to its end: its first bucket is a 64th of it.
CREATE FUNCTION prescient.note_loads() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
SET enable_bitmapscan = off AS $$
DECLARE
    now_s CONSTANT bigint := floor(date_part('epoch', clock_timestamp()));
    length_s CONSTANT bigint := prescient.slot_length_s();
    n integer;
BEGIN
    PERFORM FROM prescient.setting s
      WHERE s.name = 'loads_noted_at' AND s.value::bigint NOT BETWEEN now_s - 50 AND now_s
        FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    DELETE FROM prescient.slot_load;
    INSERT INTO prescient.slot_load (slot_at, checks)
    SELECT s.slot, c.checks
      FROM generate_series(1, 1000) i (nth),
           LATERAL (SELECT to_timestamp((now_s / length_s + i.nth) * length_s) AS slot) s,
           LATERAL (SELECT count(*) AS checks
                      FROM (SELECT FROM prescient.future_job f
                             WHERE f.next_check_at = s.slot LIMIT 1000) counted) c
     WHERE c.checks > 0;
    GET DIAGNOSTICS n = ROW_COUNT;
    UPDATE prescient.slot_load l
       SET checks = greatest(1000, 64 * (SELECT count(*) FROM (SELECT FROM prescient.future_job f
                                                                WHERE f.next_check_at = l.slot_at
                                                                  AND f.bucket = 0 LIMIT 1000) counted))
     WHERE l.checks = 1000;
    UPDATE prescient.setting s SET value = now_s::text WHERE s.name = 'loads_noted_at';
    RETURN n;
END $$;
COMMENT ON FUNCTION prescient.note_loads() IS
    'Counts the checks of the next slots for calls with `within`; engines call it.';

-- From the first call with `within` on, engines count.
CREATE FUNCTION prescient.ask_loads() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM prescient.setting s WHERE s.name = 'loads_noted_at') THEN
        INSERT INTO prescient.setting VALUES ('loads_noted_at', '0') ON CONFLICT DO NOTHING;
    END IF;
END $$;
COMMENT ON FUNCTION prescient.ask_loads() IS
    'From now on engines count checks (slot_load).';

-- What a command draws by that fills in the slots itself.
CREATE FUNCTION prescient.slot_loads()
    RETURNS TABLE (slot_at timestamptz, checks integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT l.slot_at, l.checks FROM prescient.slot_load l ORDER BY l.slot_at $$;
COMMENT ON FUNCTION prescient.slot_loads() IS
    'About how many checks wait in the next slots (slot_load).';

-- Over which part of its seconds a full slot is spread: engines begin its 64 buckets one after the
-- other (rules/phase.h). 0: it is not; NULL: nobody has ever said so.
CREATE FUNCTION prescient.pace() RETURNS numeric
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT s.value::numeric FROM prescient.setting s WHERE s.name = 'pace' $$;
COMMENT ON FUNCTION prescient.pace() IS
    'Over which part of its seconds each slot is spread (set_pace); NULL: it was never set.';

CREATE FUNCTION prescient.pace_s() RETURNS integer
LANGUAGE sql STABLE AS $$
    SELECT floor(coalesce(prescient.pace(), 0) * prescient.slot_length_s())::integer $$;
COMMENT ON FUNCTION prescient.pace_s() IS 'The same in seconds; 0: slots are not spread.';

CREATE FUNCTION prescient.set_pace(pace numeric) RETURNS numeric
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    part CONSTANT numeric := round(pace, 3);
BEGIN
    IF (part BETWEEN 0 AND 1) IS NOT TRUE THEN
        RAISE EXCEPTION 'prescient: the pace is %, expected 0 to 1', coalesce(pace::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    INSERT INTO prescient.setting VALUES ('pace', part::text)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value;
    RETURN part;
END $$;
COMMENT ON FUNCTION prescient.set_pace(numeric) IS
    'Spreads the checks of each full slot over that part of its seconds, 0 to 1, to the thousandth. '
    'Engines hear of it within a minute.';

-- The slot in [wanted, wanted + within] into which a check is drawn. `wanted` without a `within`,
-- or if that time is refused anyway. The same as spread_draw in rules/spread.c.
CREATE FUNCTION prescient.drawn_slot(entity text, key text, job text, within interval, at timestamptz,
                                     wanted timestamptz) RETURNS timestamptz
LANGUAGE plpgsql AS $$
DECLARE
    length_s CONSTANT bigint := prescient.slot_length_s();
    digits CONSTANT text := encode(sha256(convert_to(
        octet_length(entity) || ':' || entity || octet_length(key) || ':' || key || job, 'UTF8')), 'hex');
    place CONSTANT bigint := ('x' || substr(digits, 1, 12))::bit(48)::bigint;
    share CONSTANT bigint := ('x' || substr(digits, 13, 12))::bit(48)::bigint;
    first bigint;
    slots bigint;
    drawn bigint;
BEGIN
    IF within IS NULL OR digits IS NULL
       OR (wanted >= '1970-01-01 00:00:00+00' AND wanted < '9000-01-01 00:00:00+00') IS NOT TRUE THEN
        RETURN wanted;
    END IF;
    IF (isfinite(within) AND extract(epoch FROM within) BETWEEN length_s AND 366 * 86400) IS NOT TRUE THEN
        RAISE EXCEPTION 'prescient: within is %, expected from % s, the length of a slot, to 366 days',
            within, length_s USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM prescient.ask_loads();
    PERFORM pg_current_xact_id();
    first := date_part('epoch', prescient.slot_for(wanted, coalesce(at, clock_timestamp())))::bigint;
    slots := greatest(1, floor((least(date_part('epoch', wanted + within) - prescient.pace_s(),
                                      221845391999) - first) / length_s)::bigint + 1);
    WITH candidate AS (
        SELECT c.slot, coalesce(l.checks, 0) AS checks
          FROM generate_series(0, least(slots, 64) - 1) i (nth),
               LATERAL (SELECT first + length_s * CASE WHEN slots <= 64 THEN i.nth
                                                       ELSE (place + i.nth * slots / 64) % slots
                                                       END AS slot, i.nth) c
               LEFT JOIN prescient.slot_load l ON l.slot_at = to_timestamp(c.slot)
         ORDER BY c.nth),
    weighed AS (
        SELECT c.slot, row_number() OVER () AS nth,
               9 * greatest(100, max(c.checks) OVER ()) - 8 * c.checks AS weight
          FROM candidate c),
    summed AS (
        SELECT w.slot, w.nth, sum(w.weight) OVER (ORDER BY w.nth) AS upto, sum(w.weight) OVER () AS total
          FROM weighed w)
    SELECT s.slot INTO drawn FROM summed s WHERE s.upto > share % s.total ORDER BY s.nth LIMIT 1;
    RETURN to_timestamp(drawn);
END $$;
COMMENT ON FUNCTION prescient.drawn_slot(text, text, text, interval, timestamptz, timestamptz) IS
    'The slot that a call of enqueue with `within` asks for.';
