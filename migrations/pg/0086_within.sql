-- 0086_within - a check may be late by so much, and is drawn into a slot of that span.
-- oldest engine: 36
--
-- What is due at noon need not all come at noon. A slot is drawn by a hash of the check, and the
-- emptier a slot, the likelier it is. How many checks a slot has is counted by one engine a minute,
-- not by those who draw: so the emptiest is never simply taken, where all of that minute would go.
-- Nothing of this is kept with the check, so engines from before run it as any other. They count
-- nothing; without counts the hash alone draws.

CREATE TABLE prescient.slot_load (
    slot_at timestamptz PRIMARY KEY,
    checks integer NOT NULL
);
COMMENT ON TABLE prescient.slot_load IS
    'About how many checks wait in each of the next 1,000 slots, as an engine has counted them last; only '
    'once a call with `within` was made. Few are counted, many estimated, up to 64,000.';

-- One engine a minute. Returns how many slots hold checks; NULL: it was not due, nobody wants it,
-- or another engine is at it. A slot with a thousand checks is not counted to its end: its first
-- bucket is a 64th of it.
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
COMMENT ON FUNCTION prescient.ask_loads() IS 'From now on engines count checks (slot_load).';

-- What a command draws by that fills in the slots itself.
CREATE FUNCTION prescient.slot_loads() RETURNS TABLE (slot_at timestamptz, checks integer)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT l.slot_at, l.checks FROM prescient.slot_load l ORDER BY l.slot_at $$;
COMMENT ON FUNCTION prescient.slot_loads() IS 'About how many checks wait in the next slots (slot_load).';

-- The slot in [wanted, wanted + within] that a check is drawn into; `wanted` without a `within`, or
-- where a time is refused anyway. The same as spread_draw in rules/spread.c.
CREATE FUNCTION prescient.drawn_slot(entity text, key text, job text, within interval, at timestamptz,
                                     wanted timestamptz) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE AS $$
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
    slots := greatest(1, floor((least(date_part('epoch', wanted + within), 221845391999) - first)
                               / length_s)::bigint + 1);
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

-- ---- enqueue ------------------------------------------------------------------------------------

-- Each form of it as it is by now, with one parameter more, behind all others: every call of before
-- is a call of the new one. Who was granted the old form has the new one. A call without `within`
-- computes no expression more.
DO $do$
DECLARE
    edits CONSTANT text[] := ARRAY[
        'priority integer DEFAULT 0)',
            'priority integer DEFAULT 0, within interval DEFAULT NULL)',
        'prescient.file_check(entity COLLATE "default", key::text, job, ',
            'prescient.file_check(entity COLLATE "default", key::text, job,
                                         prescient.drawn_slot(entity COLLATE "default", key::text, job,
                                                              within, at, ',
        ',
                                         prescient.document_of(payload::text), conflict, priority,',
            '),
                                         prescient.document_of(payload::text), conflict, priority,',
        'is_good IS NOT FALSE) IS NOT TRUE THEN',
            'is_good IS NOT FALSE AND within IS NULL) IS NOT TRUE THEN',
        'wanted, document, conflict);
    END IF;',
            'wanted, document, conflict);
        wanted := prescient.drawn_slot(entity COLLATE "default", {row_key}, job, within, NULL, wanted);
    END IF;'];
    made record;
    body text;
    edited text;
    name text;
    comment text;
    grantee record;
BEGIN
    FOR made IN SELECT p.oid, p.proacl, p.proowner::regrole AS owner,
                       p.proargtypes::regtype[] AS types
                  FROM pg_catalog.pg_proc p
                 WHERE p.pronamespace = 'prescient_schema'::regnamespace AND p.proname = 'enqueue' LOOP
        edited := pg_catalog.pg_get_functiondef(made.oid);
        FOR i IN 1 .. cardinality(edits) / 2 LOOP
            body := edited;
            edited := replace(body, edits[2 * i - 1], edits[2 * i]);
            IF edited = body THEN
                RAISE EXCEPTION 'prescient: function enqueue: a line that is to be edited is not there: %',
                    edits[2 * i - 1];
            END IF;
        END LOOP;
        edited := replace(edited, '{row_key}',
                          CASE made.types[1] WHEN 'text'::regtype THEN 'key' ELSE 'row_key' END);
        name := format('prescient_schema.enqueue(%s, interval)', array_to_string(made.types, ', '));
        comment := pg_catalog.obj_description(made.oid, 'pg_proc');
        EXECUTE format('DROP FUNCTION %s', made.oid::regprocedure);
        EXECUTE edited;
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', name);
        IF comment IS NOT NULL THEN
            EXECUTE format('COMMENT ON FUNCTION %s IS %L', name, comment);
        END IF;
        EXECUTE format('ALTER FUNCTION %s OWNER TO %s', name, made.owner);
        FOR grantee IN SELECT a.grantee, a.is_grantable FROM pg_catalog.aclexplode(made.proacl) a
                        WHERE a.grantee <> made.owner::oid LOOP
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s%s', name,
                           CASE grantee.grantee WHEN 0 THEN 'PUBLIC' ELSE grantee.grantee::regrole::text END,
                           CASE WHEN grantee.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END);
        END LOOP;
    END LOOP;
END $do$;

-- ---- who may ------------------------------------------------------------------------------------

REVOKE ALL ON TABLE prescient.slot_load FROM PUBLIC;
REVOKE ALL ON FUNCTION prescient.note_loads(), prescient.ask_loads(), prescient.slot_loads(),
    prescient.drawn_slot(text, text, text, interval, timestamptz, timestamptz) FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE prescient.slot_load TO prescient_engine;
        GRANT EXECUTE ON FUNCTION prescient.note_loads(), prescient.ask_loads(), prescient.slot_loads(),
            prescient.drawn_slot(text, text, text, interval, timestamptz, timestamptz) TO prescient_engine;
    END IF;
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_enqueuer') THEN
        GRANT EXECUTE ON FUNCTION prescient.ask_loads(), prescient.slot_loads() TO prescient_enqueuer;
    END IF;
END $$;
