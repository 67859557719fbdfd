-- 0011_generations - which history of the database a transaction id belongs to.
-- oldest engine: 1
--
-- Consumers read events in the order of transaction ids. An id means something in one history of
-- one cluster: where a database goes on elsewhere (dumped and restored, recovered to a point in
-- time, switched to by logical replication, promoted without the last commits) ids come again, or
-- begin far below, and whoever had read up to the old ones was never shown what came under the new.
-- So each such history has a number, a generation, which stands in front of the id. It begins with
-- the first writer that finds itself on another server, or another timeline, than the newest
-- generation names. Numbers only grow, and follow the clock: two histories that both began after
-- the same backup do not share one.

CREATE TABLE prescient.generation (
    generation bigint PRIMARY KEY,
    system_identifier bigint NOT NULL,
    timeline integer NOT NULL,
    noted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE prescient.generation IS
    'Histories that this database has gone through; transaction ids mean something within one.';
COMMENT ON COLUMN prescient.generation.system_identifier IS
    '0: it is not known, as from before there were generations.';

-- The timeline of what is being written now: the control file shows a new one only after a
-- checkpoint. Where a service hides them, they count as never changing.
CREATE FUNCTION prescient.server_identity(OUT system_identifier bigint, OUT timeline integer)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    system_identifier := -1;
    timeline := -1;
    system_identifier := (SELECT c.system_identifier FROM pg_control_system() c);
    timeline := ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer;
EXCEPTION WHEN insufficient_privilege OR feature_not_supported OR undefined_function THEN
    RETURN;
END $$;

-- Under a lock that others who would begin one wait for, to the end of this transaction: none of
-- them writes under an older number afterwards. The newest one is returned when it is `here` by
-- then, unless it must be another.
CREATE FUNCTION prescient.begin_generation(here_identifier bigint, here_timeline integer, another boolean)
    RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    newest prescient.generation;
BEGIN
    LOCK TABLE prescient.generation IN SHARE ROW EXCLUSIVE MODE;
    SELECT * INTO newest FROM prescient.generation g ORDER BY g.generation DESC LIMIT 1;
    IF newest.system_identifier = here_identifier AND newest.timeline = here_timeline AND NOT another THEN
        RETURN newest.generation;
    END IF;
    newest.generation := greatest(coalesce(newest.generation, -1) + 1,
                                  date_part('epoch', clock_timestamp())::bigint,
                                  CASE WHEN another THEN (SELECT max(e.generation) + 1
                                                          FROM prescient.event e) END);
    INSERT INTO prescient.generation (generation, system_identifier, timeline)
        VALUES (newest.generation, here_identifier, here_timeline);
    RETURN newest.generation;
END $$;

-- Whoever writes an event asks this in the statement that writes it: behind a pooler the server can
-- be another one from one statement to the next.
CREATE FUNCTION prescient.current_generation() RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    here record;
    newest record;
BEGIN
    SELECT * INTO here FROM prescient.server_identity();
    SELECT g.* INTO newest FROM prescient.generation g ORDER BY g.generation DESC LIMIT 1;
    IF newest.system_identifier = here.system_identifier AND newest.timeline = here.timeline THEN
        RETURN newest.generation;
    END IF;
    RETURN prescient.begin_generation(here.system_identifier, here.timeline, false);
END $$;
COMMENT ON FUNCTION prescient.current_generation() IS
    'The generation of what is written now; begins a new one where the database goes on in another history.';

-- The same for who reads, and so writes nothing: events before (generation, below) may be read,
-- since nothing will ever be written before them. On a server where nobody has written yet these
-- are all. A standby goes by the ids of its primary, and is `behind` it: what it does not have may
-- come.
CREATE FUNCTION prescient.generation_now(OUT generation bigint, OUT below xid8, OUT behind boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    here record;
    newest record;
BEGIN
    SELECT g.* INTO newest FROM prescient.generation g ORDER BY g.generation DESC LIMIT 1;
    generation := coalesce(newest.generation, 0);
    below := pg_snapshot_xmin(pg_current_snapshot());
    behind := pg_is_in_recovery();
    IF behind THEN
        RETURN;
    END IF;
    SELECT * INTO here FROM prescient.server_identity();
    IF newest.system_identifier IS DISTINCT FROM here.system_identifier
        OR newest.timeline <> here.timeline THEN
        generation := greatest(generation + 1, date_part('epoch', clock_timestamp())::bigint);
        below := '0';
    END IF;
END $$;

-- A cursor is not obeyed when this database cannot have given it out: what comes next here would
-- lie before it. One of a generation that is not here, but older than the one that is, lies where
-- it belongs.
CREATE FUNCTION prescient.refuse_cursor_ahead(cursor_generation bigint, cursor_xid xid8) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    now record;
BEGIN
    SELECT * INTO now FROM prescient.generation_now();
    IF NOT now.behind AND (cursor_generation > now.generation OR
                           (cursor_generation = now.generation AND now.below > '0'
                            AND cursor_xid >= pg_snapshot_xmax(pg_current_snapshot()))) THEN
        RAISE EXCEPTION 'the cursor %-%-... is ahead of everything that this database ever had: the events '
                        'before it were written in a history that has ended here (restored from a copy?); '
                        'what comes next would be skipped, so nothing is shown. Look with '
                        '`prescient events` for the last event that you know, and go on behind its cursor',
                        cursor_generation, cursor_xid USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN true;
END $$;

-- ---- numbers that come again --------------------------------------------------------------------

-- Ids that are in use and lie far apart: those on a few pages spread over the table, on its last
-- ones, and the greatest that ANALYZE knows. So it is found when most ids are above a number, and
-- not for sure when a few are.
CREATE FUNCTION prescient.greatest_id_seen() RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    pages CONSTANT integer := pg_relation_size('prescient.future_job')
                              / current_setting('block_size')::integer;
    seen bigint := 0;
BEGIN
    SELECT coalesce(max(b), 0) INTO seen
      FROM pg_stats s, unnest(s.histogram_bounds::text::bigint[]) b
     WHERE s.schemaname = 'prescient_schema' AND s.tablename = 'future_job' AND s.attname = 'id';
    BEGIN
        seen := greatest(seen, (
            SELECT max(f.id) FROM prescient.future_job f
             WHERE f.ctid = ANY (ARRAY(SELECT format('(%s,%s)', p.page, n)::tid
                                         FROM (SELECT DISTINCT greatest(0, pages - 1 - k) AS page
                                               FROM generate_series(0, 1) k
                                               UNION SELECT (k::bigint * pages / 4)::integer
                                                   FROM generate_series(0, 3) k) p,
                                                       generate_series(1, 80) n))));
    EXCEPTION WHEN data_corrupted THEN
        RETURN coalesce(seen, 0);           -- a page that cannot be read keeps nobody from anything
    END;
    RETURN coalesce(seen, 0);
END $$;

-- Sequences that are behind the numbers in use. `thorough`: each check's id is looked at, which
-- reads the whole table.
CREATE FUNCTION prescient.sequences_behind(thorough boolean)
    RETURNS TABLE (sequence text, last bigint, in_use bigint)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT * FROM (
        SELECT 'future_job_id_seq', coalesce(pg_sequence_last_value('prescient.future_job_id_seq'), 0),
               CASE WHEN thorough THEN (SELECT coalesce(max(f.id), 0) FROM prescient.future_job f)
                   ELSE prescient.greatest_id_seen() END
        UNION ALL
        SELECT 'slot_lease_token_seq', coalesce(pg_sequence_last_value('prescient.slot_lease_token_seq'), 0),
               (SELECT coalesce(max(l.token), 0) FROM prescient.slot_lease l)
        UNION ALL
        SELECT 'event_id_seq', coalesce(pg_sequence_last_value('prescient.event_id_seq'), 0),
               (SELECT coalesce(max(e.id), 0)
                FROM (SELECT id FROM prescient.event ORDER BY generation DESC, xid DESC, id DESC
                      LIMIT 100) e)) s (sequence, last, in_use)
     WHERE s.in_use > s.last $$;

-- Behind what is in use: numbers would be given out twice, and a settle finds a check by its id.
-- They are moved beyond, by more than anybody can take meanwhile, and than what was not looked at
-- can lie above; nothing is ever moved down, and one mends at a time.
CREATE FUNCTION prescient.mend_sequences(thorough boolean) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
    beyond CONSTANT bigint := CASE WHEN thorough THEN 1 << 20 ELSE 1::bigint << 32 END;
    behind record;
    mended text;
BEGIN
    IF NOT EXISTS (SELECT FROM prescient.sequences_behind(thorough)) THEN
        RETURN NULL;
    END IF;
    LOCK TABLE prescient.generation IN SHARE ROW EXCLUSIVE MODE;
    FOR behind IN SELECT * FROM prescient.sequences_behind(thorough) LOOP
        CONTINUE WHEN behind.in_use >= 9007199254740991 - beyond;
        PERFORM setval(format('prescient.%I', behind.sequence)::regclass, behind.in_use + beyond);
        mended := concat_ws(', ', mended,
                            format('%s moved from %s to %s, as %s is in use', behind.sequence,
                                   behind.last, behind.in_use + beyond, behind.in_use));
    END LOOP;
    RETURN mended;
EXCEPTION WHEN data_corrupted THEN
    -- a page that cannot be read keeps nobody from anything
    RETURN CASE WHEN thorough THEN prescient.mend_sequences(false) END;
END $$;

-- What init, migrate and engines do now and then: a generation is begun where none was yet; and
-- where events are here whose ids this server has not come to, although it is the one of the newest
-- generation, or that are of a generation nobody noted here (their rows alone were copied). Returns
-- what was done, in words; NULL: nothing. It never fails: engines make days in the same statement,
-- and run nothing without them.
CREATE FUNCTION prescient.note_history(thorough boolean) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
    newest CONSTANT bigint := (SELECT max(g.generation) FROM prescient.generation g);
    small CONSTANT boolean := pg_relation_size('prescient.future_job') < 1::bigint << 30;
    now bigint;
    here record;
BEGIN
    IF pg_is_in_recovery() THEN
        RETURN NULL;
    END IF;
    now := prescient.current_generation();
    IF EXISTS (SELECT FROM prescient.event e
               WHERE (e.generation, e.xid) >= (now, pg_snapshot_xmax(pg_current_snapshot()))) THEN
        -- who writes under the old number has ended
        LOCK TABLE prescient.event IN SHARE ROW EXCLUSIVE MODE;
        SELECT * INTO here FROM prescient.server_identity();
        now := prescient.begin_generation(here.system_identifier, here.timeline, true);
    END IF;
    RETURN nullif(concat_ws('; ',
        CASE WHEN now IS DISTINCT FROM newest
             THEN format('the database goes on in another history than before (restored, switched to, '
                         'promoted): generation %s of events begins, after %s', now, newest) END,
        prescient.mend_sequences(thorough
                                 AND (small OR EXISTS (SELECT FROM prescient.sequences_behind(false))))), '');
EXCEPTION WHEN OTHERS THEN
    RETURN 'another history of the database could not be noted yet: ' || SQLERRM;     -- the next time
END $$;

-- Checks that were given one id may stand in two slots, which a new slot length makes one.
CREATE OR REPLACE FUNCTION prescient.set_slot_length(seconds integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    move CONSTANT text :=
        'UPDATE prescient.future_job SET next_check_at = prescient.slot_for(next_check_at, clock_timestamp())
                            WHERE next_check_at <> prescient.slot_ceil(next_check_at)';
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
    ALTER TABLE prescient.future_job DROP CONSTRAINT future_job_slot;
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
    EXECUTE format('ALTER TABLE prescient.future_job ADD CONSTRAINT future_job_slot CHECK (
        next_check_at = to_timestamp(floor(date_part(''epoch'', next_check_at) / %1$s) * %1$s))', seconds);
    INSERT INTO prescient.setting VALUES ('slot_length_s', seconds::text)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value;
    RETURN n;
END $$;

-- ---- what there is ------------------------------------------------------------------------------

-- Events or slots with ids that this server has not come to were written in another history, and
-- nobody noted which: the next writer begins a new one.
INSERT INTO prescient.generation (generation, system_identifier, timeline)
SELECT 0, CASE WHEN another THEN 0 ELSE h.system_identifier END, CASE WHEN another THEN 0 ELSE h.timeline END
  FROM prescient.server_identity() h,
       (SELECT EXISTS (SELECT FROM prescient.event e WHERE e.generation = 0
                       AND e.xid >= pg_snapshot_xmax(pg_current_snapshot()))
            OR EXISTS (SELECT FROM prescient.slot_pass p
                       WHERE p.seen_xid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint)
               AS another) a;

-- An older program's inserts do not name the column.
ALTER TABLE prescient.event ALTER COLUMN generation SET DEFAULT prescient.current_generation();

-- ---- who may ------------------------------------------------------------------------------------

REVOKE ALL ON prescient.generation FROM PUBLIC;
REVOKE ALL ON FUNCTION prescient.server_identity(), prescient.begin_generation(bigint, integer, boolean),
    prescient.current_generation(), prescient.generation_now(),
    prescient.refuse_cursor_ahead(bigint, xid8), prescient.greatest_id_seen(),
        prescient.sequences_behind(boolean), prescient.mend_sequences(boolean),
    prescient.note_history(boolean) FROM PUBLIC;

-- Those who write or read events, by whatever role they were given these rights.
DO $$
DECLARE
    part record;
BEGIN
    FOR part IN
        SELECT DISTINCT a.grantee::regrole AS role, a.privilege_type AS may
            FROM pg_class c, LATERAL aclexplode(c.relacl) a
         WHERE c.oid = 'prescient.event'::regclass AND a.grantee <> 0 AND a.grantee <> c.relowner
         AND a.privilege_type IN ('SELECT', 'INSERT') LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION prescient.server_identity(), prescient.generation_now(), '
                       'prescient.refuse_cursor_ahead(bigint, xid8), prescient.greatest_id_seen(), '
                       'prescient.sequences_behind(boolean) TO %s', part.role);
        EXECUTE format('GRANT SELECT ON prescient.generation TO %s', part.role);
        CONTINUE WHEN part.may <> 'INSERT';
        EXECUTE format('GRANT EXECUTE ON FUNCTION prescient.current_generation(), '
                       'prescient.note_history(boolean) TO %s', part.role);
    END LOOP;
END $$;
