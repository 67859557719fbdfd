-- 0023_bounded - reports for those who may read the views and nothing else, and times in words.
-- oldest engine: 1
--
-- - A member of prescient_reader could not use the program: its reports read the tables. They read
--   the views for such a user; what the views leave out and a report needs, some counts, functions
--   here tell.
-- - enqueue_each read each time that came as text by itself, in a transaction within the
--   transaction. Each different text is read once now, and what is a plain date and time by the
--   server's own cast.

-- ---- reading ------------------------------------------------------------------------------------

-- As 0013_reading has it, and of the views as well: the rights are those of the caller. The newest
-- `most` rows of the history or of the runs, of the table or view whose row type `kind` has; of
-- this entity, key, job, outcome, and with a time in [since, before), where those are given. What
-- took longer than look_ms in all ends, and a last row says by its times how far back it has
-- looked; NULL: it never ends so. All statements here see what the one that called sees.
CREATE OR REPLACE FUNCTION prescient.newest_rows(kind anyelement, entity text, key text, job text,
                                      ending text, since timestamptz, before timestamptz, most bigint,
    look_ms integer) RETURNS SETOF anyelement
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_sort = on AS $$
DECLARE
    -- a span with more rows is made shorter before they are sorted
    many CONSTANT bigint := 10000;
    begun CONSTANT timestamptz := clock_timestamp();
    of_history CONSTANT boolean := pg_typeof(kind) IN ('prescient.future_job_history'::regtype,
                                                       'prescient.history'::regtype);
    parent CONSTANT regclass := CASE WHEN of_history THEN 'prescient.future_job_history'
                                     ELSE 'prescient.future_job_run' END;
    written CONSTANT text := CASE WHEN of_history THEN 'archived_at' ELSE 'recorded_at' END;
    told CONSTANT text := CASE WHEN of_history THEN 'ended_at' ELSE 'run_at' END;
    chosen text := format('FROM %s r WHERE r.%I >= $1 AND r.%I < $2', pg_typeof(kind), written, written)
        || CASE WHEN entity IS NULL THEN '' ELSE ' AND r.entity_name = $3' END || CASE
            WHEN key IS NULL THEN '' ELSE ' AND r.entity_key = $4' END
        || CASE WHEN job IS NULL THEN '' ELSE ' AND r.job_exec = $5' END || CASE
            WHEN ending IS NULL THEN '' ELSE ' AND r.outcome = $6' END
        || CASE WHEN since IS NULL THEN '' ELSE format(' AND r.%I >= $7', told) END || CASE
            WHEN before IS NULL THEN '' ELSE format(' AND r.%I < $8', told) END;
    counting CONSTANT text := format('SELECT count(*) FROM (SELECT %s LIMIT $9) few', chosen);
    sorting CONSTANT text := format('SELECT r.* %s ORDER BY r.%I DESC, %s r.entity_name, r.entity_key, '
                                    'r.job_exec LIMIT $9', chosen, written,
                                    CASE WHEN of_history THEN '' ELSE
                                        'r.run_at DESC, r.check_count DESC,' END);
    oldest CONSTANT timestamptz := (SELECT min(right(c.relname, 8))::date::timestamp AT TIME ZONE 'UTC'
                                      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                                      WHERE i.inhparent = parent);
    high timestamptz := 'infinity';             -- the span that comes next ends before this moment
    low timestamptz;
    width interval := '1 second';
    span_begun timestamptz;
    n bigint;
    wanted bigint := coalesce(most, 1::bigint << 62);
BEGIN
    IF wanted > 1000000 THEN
        RETURN QUERY EXECUTE sorting USING '-infinity'::timestamptz, high, entity, key,
            job, ending, since, before, wanted;
        RETURN;
    END IF;
    WHILE wanted > 0 AND high > oldest LOOP
        span_begun := clock_timestamp();
        low := CASE WHEN high = 'infinity' THEN begun ELSE high END - width;
        low := CASE WHEN low < before AND before < high THEN before ELSE low END;
        EXECUTE counting INTO n USING low, high, entity, key, job, ending, since, before, many + 1;
        IF n > many AND high < 'infinity' AND high - low > interval '1 millisecond' THEN
            width := (high - low) / 8;
            CONTINUE;
        END IF;
        IF n > 0 THEN
            RETURN QUERY EXECUTE sorting USING low, high, entity, key, job, ending, since, before, wanted;
            GET DIAGNOSTICS n = ROW_COUNT;
            wanted := wanted - n;
        END IF;
        high := low;
        width := CASE WHEN high = before THEN interval '1 second'       -- what lies there is as dense as now
                      WHEN clock_timestamp() - span_begun < interval '10 milliseconds' THEN width * 2
                      WHEN clock_timestamp() - span_begun > interval '20 milliseconds' THEN width / 2
                      ELSE width END;
        IF wanted > 0 AND high > oldest AND clock_timestamp() - begun > look_ms * interval '1 millisecond'
            THEN
            RETURN NEXT jsonb_populate_record(kind, jsonb_build_object(written, high, told, high));
            RETURN;
        END IF;
    END LOOP;
END $$;

-- How many checks wait in a slot. Of more than `counted`, the buckets that were counted completely
-- are a sample: bucket numbers are hashes, so checks are spread evenly. NULL: all are counted.
CREATE FUNCTION prescient.slot_count(slot timestamptz, counted bigint, OUT checks bigint,
                                     OUT is_estimate boolean)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN NOT w.is_estimate THEN w.n
                WHEN w.last > 0 THEN greatest(w.n, w.n_before_last * 64 / w.last)
                ELSE greatest(w.n, 64 * (SELECT count(*) FROM prescient.future_job f
                                          WHERE f.next_check_at = slot AND f.bucket = 0)) END::bigint,
           w.is_estimate
      FROM (SELECT coalesce(sum(b.n), 0) AS n, max(b.bucket) AS last,
                   sum(b.n) - (array_agg(b.n ORDER BY b.bucket DESC))[1] AS n_before_last,
                   coalesce(sum(b.n) >= counted, false) AS is_estimate
              FROM (SELECT g.bucket, count(*) AS n
                      FROM (SELECT f.bucket FROM prescient.future_job f WHERE f.next_check_at = slot
                            ORDER BY f.bucket LIMIT counted) g
                     GROUP BY g.bucket) b) w $$;
COMMENT ON FUNCTION prescient.slot_count(timestamptz, bigint) IS
    'How many checks wait in a slot; of more than the second number, an estimate.';

CREATE FUNCTION prescient.open_work(OUT leases bigint, OUT unclosed_slots bigint,
                                    OUT oldest_unclosed_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT (SELECT count(*) FROM (SELECT FROM prescient.slot_lease LIMIT 10000) few),
           (SELECT count(*) FROM (SELECT FROM prescient.slot_pass p WHERE p.pass = 0
                                  AND p.closed_at IS NULL ORDER BY p.slot_at LIMIT 10000) few),
           (SELECT min(p.slot_at) FROM prescient.slot_pass p WHERE p.pass = 0 AND p.closed_at IS NULL) $$;
COMMENT ON FUNCTION prescient.open_work() IS
    'Leases, and slots that are not closed, both counted to 10,000; and the oldest of these slots.';

-- Events that are committed and not readable yet. The snapshot is that of the statement that asks.
CREATE FUNCTION prescient.events_withheld() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH here AS MATERIALIZED (
        SELECT n.generation, n.below FROM prescient.generation_now() n)
    SELECT count(*)
      FROM (SELECT FROM prescient.event e
             WHERE (e.generation, e.xid) >= ((SELECT h.generation FROM here h), (SELECT h.below FROM here h))
               AND (e.generation, e.xid) < ((SELECT h.generation FROM here h),
                                            pg_snapshot_xmax(pg_current_snapshot()))
             ORDER BY e.generation, e.xid, e.id LIMIT 1000) few $$;
COMMENT ON FUNCTION prescient.events_withheld() IS
    'Events that wait for an older transaction, counted to 1,000: the view does not show them yet.';

-- ---- times in words -----------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION prescient.moments_of(words text[], at timestamptz) RETURNS timestamptz[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    -- means the same by whatever clock
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
    -- one after the other, for the row that is wrong
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

-- ---- who may ------------------------------------------------------------------------------------

REVOKE ALL ON FUNCTION prescient.slot_count(timestamptz, bigint), prescient.open_work(),
    prescient.events_withheld() FROM PUBLIC;

DO $$
DECLARE
    part text;
BEGIN
    FOR part IN SELECT r.rolname FROM pg_catalog.pg_roles r
                 WHERE r.rolname IN ('prescient_engine', 'prescient_reader') LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION prescient.slot_count(timestamptz, bigint), '
                       'prescient.open_work(), prescient.events_withheld(), '
                       'prescient.refuse_cursor_ahead(bigint, xid8), '
                       'prescient.newest_rows(anyelement, text, text, text, text, timestamptz, timestamptz, '
                       'bigint, integer) TO %I', part);
    END LOOP;
END $$;
