-- 0004_days - the tables that are split by days: their days are created ahead, indexed when they
-- are over, and dropped when they are old. None is made here: init makes the first ones behind the
-- migrations, and an engine or an application that finds none does so, too.

-- The first one's lock decides who creates days.
CREATE FUNCTION prescient.tables_by_day() RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT '{future_job_history,future_job_run,event}'::text[] $$;

-- The partition of a day.
CREATE FUNCTION prescient.day_table(parent text, day date) RETURNS name
LANGUAGE sql STABLE STRICT AS $$
    SELECT (parent || '_p' || to_char(day, 'YYYYMMDD'))::name $$;

-- The day of the real clock.
CREATE FUNCTION prescient.utc_day(at timestamptz) RETURNS date
LANGUAGE sql STABLE STRICT AS $$
    SELECT (at AT TIME ZONE 'UTC')::date $$;

-- Whether a table has the partition of a day.
CREATE FUNCTION prescient.has_day(parent text, day date) RETURNS boolean
LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT EXISTS (SELECT FROM pg_inherits i
                    WHERE i.inhrelid = to_regclass('prescient.' || prescient.day_table(parent, day))
                      AND i.inhparent = to_regclass('prescient.' || parent)) $$;

-- Whether all tables have the day. Engines ask before they take a lease, so it costs next to
-- nothing as long as all is well.
CREATE FUNCTION prescient.history_day_is_there(day date) RETURNS boolean
LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    digits CONSTANT text := to_char(day, 'YYYYMMDD');
    parts CONSTANT oid[] := ARRAY[to_regclass('prescient.future_job_history_p' || digits),
        to_regclass('prescient.future_job_run_p' || digits),
                                  to_regclass('prescient.event_p' || digits)];
    parent text;
BEGIN
    IF (SELECT count(*) FROM pg_inherits i WHERE i.inhrelid = ANY (parts)) = 3 THEN
        RETURN true;
    END IF;
    FOREACH parent IN ARRAY prescient.tables_by_day() LOOP
        IF NOT prescient.has_day(parent, day) THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END $$;

-- CREATE and ATTACH: CREATE ... PARTITION OF would wait for those who write into the table, and
-- then block them. The session's settings are an application's, if it creates the day: with the
-- owner's rights it must not choose a tablespace or an access method.
CREATE FUNCTION prescient.make_history_day(day date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s'
SET default_tablespace = '' SET default_table_access_method = 'heap' AS $$
DECLARE
    parent text;
    part name;
BEGIN
    FOREACH parent IN ARRAY prescient.tables_by_day() LOOP
        CONTINUE WHEN prescient.has_day(parent, day);
        part := prescient.day_table(parent, day);
        EXECUTE format('CREATE TABLE prescient.%I (LIKE prescient.%I '
                       'INCLUDING ALL EXCLUDING INDEXES EXCLUDING COMMENTS)', part, parent);
        EXECUTE format('ALTER TABLE prescient.%I ATTACH PARTITION prescient.%I FOR VALUES FROM (%L) TO (%L)',
                       parent, part,
                       to_char(day, 'YYYY-MM-DD') || ' 00:00:00+00', to_char(day + 1, 'YYYY-MM-DD')
                           || ' 00:00:00+00');
    END LOOP;
END $$;

-- Creates the days of today and of the next ones. Engines and applications may all call it at once:
-- they take turns by a lock that needs rights to the table, which an advisory lock does not.
CREATE FUNCTION prescient.keep_history_days(days integer, OUT made integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
    day date;
BEGIN
    made := 0;
    FOR n IN 0 .. days LOOP
        day := prescient.utc_day(clock_timestamp()) + n;
        CONTINUE WHEN prescient.history_day_is_there(day);
        LOCK TABLE prescient.future_job_history IN SHARE UPDATE EXCLUSIVE MODE;
        CONTINUE WHEN prescient.history_day_is_there(day);
        PERFORM prescient.make_history_day(day);
        made := made + 1;
    END LOOP;
END $$;
COMMENT ON FUNCTION prescient.keep_history_days(integer) IS
    'Makes the partitions of today and of the next days; returns how many days were missing.';

-- Builds one index of a day that is over; 0: none is missing. One a call, as a day of many millions
-- of rows takes its time. Ten minutes after midnight no settle of yesterday is left.
CREATE FUNCTION prescient.index_history_day() RETURNS integer
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

-- Days of a table that ended before `before`: attached, detached by a prune that was interrupted,
-- or between the two. Today and yesterday are never old.
CREATE FUNCTION prescient.old_days(parent text, before timestamptz) RETURNS SETOF name
LANGUAGE sql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
    SELECT c.relname FROM pg_class c, pg_class p
     WHERE p.oid = to_regclass('prescient.' || parent) AND parent = ANY (prescient.tables_by_day())
       AND c.relnamespace = p.relnamespace AND c.relowner = p.relowner AND c.relkind = 'r'
       AND c.relname ~ ('^' || parent || '_p[0-9]{8}$')
       AND c.relname < prescient.day_table(parent,
                                           least(prescient.utc_day(before),
                                                 prescient.utc_day(clock_timestamp()) - 1))
     ORDER BY c.relname $$;

-- Drops the oldest of them and returns its name; NULL: there is none. It locks out everybody who
-- uses the table, so it waits for moments only, less than a settle does, and its caller comes
-- again. DETACH CONCURRENTLY would need no such lock, but cannot be called in a function.
CREATE FUNCTION prescient.drop_old_day(parent text, before timestamptz) RETURNS name
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '100ms' AS $$
DECLARE
    part name := (SELECT d FROM prescient.old_days(parent, before) d LIMIT 1);
BEGIN
    IF part IS NOT NULL THEN
        EXECUTE format('DROP TABLE prescient.%I', part);
    END IF;
    RETURN part;
END $$;
