-- 0003_generations - which history of the database a transaction id belongs to.
--
-- Consumers read events in the order of transaction ids. An id means something in one history of
-- one cluster. A database may go on elsewhere: dumped and restored, recovered to a point in time,
-- switched to by logical replication, promoted without the last commits. Then ids come again, or
-- begin far below, and a reader that has seen higher ids would skip the new events. So each history
-- has a number, a generation, which stands before the id. It begins with the first writer that
-- finds itself on another server, another timeline, or under another start of the server, than the
-- newest generation names.
--
-- A copy of files that is put back (a snapshot of a disk) keeps server and timeline, and counts ids
-- anew; but it was started. A mere restart begins a generation, too, and costs a row: nobody writes
-- under the older number any more, all that was committed under it lies before, and a consumer goes
-- on from there. A snapshot with the server's memory (of a virtual machine) comes back without a
-- start: `init --restored` begins a generation (note_restored).

-- The server, the timeline of what is being written now, as the control file shows a new one only
-- after a checkpoint, and the start. A service may hide the first two; then they count as never
-- changing.
CREATE FUNCTION prescient.server_identity(OUT system_identifier bigint, OUT timeline integer,
                                          OUT started_at timestamptz)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    started_at := pg_postmaster_start_time();
    system_identifier := -1;
    timeline := -1;
    system_identifier := (SELECT c.system_identifier FROM pg_control_system() c);
    timeline := ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::integer;
EXCEPTION WHEN insufficient_privilege OR feature_not_supported OR undefined_function THEN
    RETURN;
END $$;

-- Begins a generation, under a lock that is held to the end of this transaction and that others who
-- would begin one wait for: none of them writes under an older number afterwards. If the newest one
-- is `here` by then, it is returned, unless it must be another.
CREATE FUNCTION prescient.begin_generation(here_identifier bigint, here_timeline integer,
                                           here_started_at timestamptz, another boolean) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    newest prescient.generation;
BEGIN
    LOCK TABLE prescient.generation IN SHARE ROW EXCLUSIVE MODE;
    SELECT * INTO newest FROM prescient.generation g ORDER BY g.generation DESC LIMIT 1;
    IF newest.system_identifier = here_identifier AND newest.timeline = here_timeline
        AND newest.started_at = here_started_at AND NOT another THEN
        RETURN newest.generation;
    END IF;
    newest.generation := greatest(coalesce(newest.generation, -1) + 1,
                                  date_part('epoch', clock_timestamp())::bigint,
                                  CASE WHEN another THEN (SELECT max(e.generation) + 1
                                                          FROM prescient.event e) END);
    INSERT INTO prescient.generation (generation, system_identifier, timeline, started_at)
        VALUES (newest.generation, here_identifier, here_timeline, here_started_at);
    RETURN newest.generation;
END $$;

-- Who writes an event asks this in the statement that writes it: behind a pooler, the next
-- statement may be sent to another server.
CREATE FUNCTION prescient.current_generation() RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    here record;
    newest record;
BEGIN
    SELECT * INTO here FROM prescient.server_identity();
    SELECT g.* INTO newest FROM prescient.generation g ORDER BY g.generation DESC LIMIT 1;
    IF newest.system_identifier = here.system_identifier AND newest.timeline = here.timeline
        AND newest.started_at = here.started_at THEN
        RETURN newest.generation;
    END IF;
    RETURN prescient.begin_generation(here.system_identifier, here.timeline, here.started_at, false);
END $$;
COMMENT ON FUNCTION prescient.current_generation() IS
    'The generation of what is written now; begins a new one where the database goes on in another '
    'history.';
ALTER TABLE prescient.event ALTER COLUMN generation SET DEFAULT prescient.current_generation();

-- The same for readers, who write nothing: nothing will ever be written before (generation, below),
-- so events before it may be read. On a server where nobody has written yet these are all. A
-- standby goes by the ids of its primary and is `behind` it: what it does not have may come.
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
        OR newest.timeline <> here.timeline OR newest.started_at <> here.started_at THEN
        generation := greatest(generation + 1, date_part('epoch', clock_timestamp())::bigint);
        below := '0';
    END IF;
END $$;

-- Refuses a cursor that this database cannot have given out: what comes next here would lie before
-- it. A cursor of an older generation that is not here lies where it belongs.
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

-- ---- sequences that were set back ---------------------------------------------------------------

-- An id near the greatest in use. It reads a few blocks spread over the table, the last two, and
-- what ANALYZE has noted. So it notices when most ids are above a number, and perhaps not when few
-- are.
CREATE FUNCTION prescient.greatest_id_seen() RETURNS bigint
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    pages CONSTANT integer := pg_relation_size('prescient.future_job')
                              / current_setting('block_size')::integer;
    seen bigint := 0;
BEGIN
    SELECT coalesce(max(b), 0) INTO seen
      FROM pg_stats s, unnest(s.histogram_bounds::text::bigint[]) b
     WHERE s.schemaname = 'prescient' AND s.tablename = 'future_job' AND s.attname = 'id';
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
        RETURN coalesce(seen, 0);           -- a corrupt block keeps nobody from anything
    END;
    RETURN coalesce(seen, 0);
END $$;

-- Sequences that are behind the numbers in use. `thorough`: it compares each check's id, which
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
               (SELECT coalesce(max(t.token), 0) FROM (SELECT l.token FROM prescient.slot_lease l
                                                       UNION ALL SELECT p.token FROM prescient.place p) t)
        UNION ALL
        SELECT 'event_id_seq', coalesce(pg_sequence_last_value('prescient.event_id_seq'), 0),
               (SELECT coalesce(max(e.id), 0)
                FROM (SELECT id FROM prescient.event ORDER BY generation DESC, xid DESC, id DESC
                      LIMIT 100) e)) s (sequence, last, in_use)
     WHERE s.in_use > s.last $$;

-- Moves sequences beyond the numbers in use: else numbers would be given out twice, and a settle
-- finds a check by its id. They go further by more than anybody can take meanwhile, and more than
-- what was not read can lie above. Nothing is ever moved down. The lock lets one call at a time
-- mend.
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
    -- a corrupt block keeps nobody from anything
    RETURN CASE WHEN thorough THEN prescient.mend_sequences(false) END;
END $$;

-- Called by init, migrate and, now and then, engines: begins a generation if none was begun yet.
-- Also if there are events with ids that this server, the one of the newest generation, has not
-- come to, or of a generation that is not noted here (their rows alone were copied). Returns in
-- words what was done; NULL: nothing, or a generation after a mere start. It never fails: engines
-- create days in the same statement, and run nothing without them.
CREATE FUNCTION prescient.note_history(thorough boolean) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
    newest prescient.generation;
    small CONSTANT boolean := pg_relation_size('prescient.future_job') < 1::bigint << 30;
    now bigint;
    here record;
    is_another boolean;
BEGIN
    IF pg_is_in_recovery() THEN
        RETURN NULL;
    END IF;
    SELECT * INTO newest FROM prescient.generation g ORDER BY g.generation DESC LIMIT 1;
    SELECT * INTO here FROM prescient.server_identity();
    is_another := (newest.system_identifier, newest.timeline)
                  IS DISTINCT FROM (here.system_identifier, here.timeline);
    now := prescient.current_generation();
    IF EXISTS (SELECT FROM prescient.event e
               WHERE (e.generation, e.xid) >= (now, pg_snapshot_xmax(pg_current_snapshot()))) THEN
        -- behind the lock, those who wrote under the old number have ended
        LOCK TABLE prescient.event IN SHARE ROW EXCLUSIVE MODE;
        now := prescient.begin_generation(here.system_identifier, here.timeline, here.started_at, true);
        is_another := true;
    END IF;
    RETURN nullif(concat_ws('; ',
        CASE WHEN is_another AND now IS DISTINCT FROM newest.generation
             THEN format('the database goes on in another history than before (restored, switched to, '
                         'promoted): generation %s of events begins, after %s', now, newest.generation) END,
        prescient.mend_sequences(thorough
                                 AND (small OR EXISTS (SELECT FROM prescient.sequences_behind(false))))), '');
EXCEPTION WHEN OTHERS THEN
    RETURN 'another history of the database could not be noted yet: ' || SQLERRM;     -- but the next time
END $$;

-- For init --restored: somebody knows that this is a copy put back, which nothing here need show.
CREATE FUNCTION prescient.note_restored() RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    here record;
BEGIN
    -- behind the lock, those who wrote under the old number have ended
    LOCK TABLE prescient.event IN SHARE ROW EXCLUSIVE MODE;
    SELECT * INTO here FROM prescient.server_identity();
    RETURN format('this is a restored copy: generation %s of events begins, after all that a consumer may '
                  'have seen before', prescient.begin_generation(here.system_identifier, here.timeline,
                                                                 here.started_at, true));
END $$;

INSERT INTO prescient.generation (generation, system_identifier, timeline, started_at)
SELECT 0, h.system_identifier, h.timeline, h.started_at FROM prescient.server_identity() h;
