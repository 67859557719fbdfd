-- 0013_reading - the newest of what was, however much there is.
-- oldest engine: 1
--
-- The history and the runs stand by days in the order they were written, with a coarse index by
-- time. To ask for the newest hundred in one statement means to read and sort all of them: no index
-- has their order, as each would cost every settle. Here they are looked for in spans of time, from
-- now on backwards, each as long as the last ones were quick, until there are enough.

-- A day that is over has an index by job and one by outcome, too, so that what is rare is not
-- looked for in all of it.
CREATE OR REPLACE FUNCTION prescient.index_history_day() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s'
SET default_tablespace = '' SET default_table_access_method = 'heap' AS $$
DECLARE
    missing record;
BEGIN
    SELECT c.relname AS part, k.suffix, k.columns INTO missing
      FROM unnest(prescient.tables_by_day()) WITH ORDINALITY t (parent, n)
      JOIN (VALUES (1, 'future_job_history', '_key', 'entity_name, entity_key'),
            (1, 'future_job_run', '_key', 'entity_name, entity_key'),
                   (1, 'event', '_key', 'entity_name, entity_key'),
                   (2, 'future_job_history', '_job', 'job_exec, archived_at'),
                       (2, 'future_job_run', '_job', 'job_exec, recorded_at'),
                   (3, 'future_job_history', '_outcome', 'outcome, archived_at'),
                       (3, 'future_job_run', '_outcome', 'outcome, recorded_at'))
           k (n, parent, suffix, columns) ON k.parent = t.parent
      JOIN pg_inherits i ON i.inhparent = to_regclass('prescient.' || t.parent)
      JOIN pg_class c ON c.oid = i.inhrelid
     WHERE c.relname < prescient.day_table(t.parent,
                                           prescient.utc_day(clock_timestamp() - interval '10 minutes'))
       AND NOT EXISTS (SELECT FROM pg_index x JOIN pg_class ic ON ic.oid = x.indexrelid
                       WHERE x.indrelid = c.oid AND ic.relname = c.relname || k.suffix)
     ORDER BY k.n, right(c.relname, 8), t.n LIMIT 1;
    IF missing IS NULL THEN
        RETURN 0;
    END IF;
    EXECUTE format('CREATE INDEX %I ON prescient.%I (%s)', missing.part || missing.suffix,
                   missing.part, missing.columns);
    RETURN 1;
END $$;

-- The rows of the history, counted one by one up to 100,000; of more, those that the statistics
-- know of. A function, for its statement opens all days, which takes longer than all else of a
-- status: only when it is called, that is done.
CREATE FUNCTION prescient.count_history(known bigint) RETURNS bigint
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    n bigint;
BEGIN
    SELECT count(*) INTO n FROM (SELECT FROM prescient.future_job_history LIMIT 100001) few;
    RETURN CASE WHEN n > 100000 THEN known ELSE n END;
END $$;

-- The newest `most` rows of the history or of the runs, whichever table's row type `kind` has; of
-- this entity, key, job, outcome, and with a time in [since, before), where those are given. What
-- took longer than look_ms in all ends, and a last row says by its times how far back it has
-- looked; NULL: it never ends so. All statements here see what the one that called sees.
CREATE FUNCTION prescient.newest_rows(kind anyelement, entity text, key text, job text,
                                      ending text, since timestamptz, before timestamptz, most bigint,
    look_ms integer) RETURNS SETOF anyelement
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
    SET enable_sort = on AS $$
DECLARE
    -- a span with more rows is made shorter before they are sorted
    many CONSTANT bigint := 10000;
    begun CONSTANT timestamptz := clock_timestamp();
    of_history CONSTANT boolean := pg_typeof(kind) = 'prescient.future_job_history'::regtype;
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
                                      WHERE i.inhparent = pg_typeof(kind)::text::regclass);
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

REVOKE ALL ON FUNCTION prescient.count_history(bigint) FROM PUBLIC;
REVOKE ALL ON FUNCTION prescient.newest_rows(anyelement, text, text, text, text, timestamptz,
                                             timestamptz, bigint, integer) FROM PUBLIC;
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT EXECUTE ON FUNCTION prescient.count_history(bigint) TO prescient_engine;
        GRANT EXECUTE ON FUNCTION prescient.newest_rows(anyelement, text, text, text, text, timestamptz,
                                                        timestamptz, bigint, integer) TO prescient_engine;
    END IF;
END $$;
