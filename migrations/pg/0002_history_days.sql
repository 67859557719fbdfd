-- 0002_history_days - the history's daily partitions: made ahead, indexed when over.
-- oldest engine: 1

CREATE FUNCTION prescient.history_day(day date) RETURNS name LANGUAGE sql STABLE STRICT AS $$
    SELECT ('future_job_history_p' || to_char(day, 'YYYYMMDD'))::name $$;

CREATE FUNCTION prescient.history_day_is_there(day date) RETURNS boolean LANGUAGE sql STABLE STRICT AS $$
    SELECT EXISTS (SELECT FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
                    WHERE i.inhparent = 'prescient.future_job_history'::regclass AND c.relname = prescient.history_day(day)) $$;

CREATE FUNCTION prescient.utc_day(at timestamptz) RETURNS date LANGUAGE sql STABLE STRICT AS $$ SELECT (at AT TIME ZONE 'UTC')::date $$;

-- CREATE and ATTACH: CREATE ... PARTITION OF would wait for the applications that write history, and then block them.
CREATE FUNCTION prescient.make_history_day(day date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
BEGIN
    EXECUTE format('CREATE TABLE prescient.%I (LIKE prescient.future_job_history INCLUDING ALL EXCLUDING INDEXES)', prescient.history_day(day));
    EXECUTE format('ALTER TABLE prescient.future_job_history ATTACH PARTITION prescient.%I FOR VALUES FROM (%L) TO (%L)',
                   prescient.history_day(day), to_char(day, 'YYYY-MM-DD') || ' 00:00:00+00', to_char(day + 1, 'YYYY-MM-DD') || ' 00:00:00+00');
END $$;

-- At most one index a call: a day of many millions of rows takes its time. Ten minutes after midnight no settle of yesterday is left.
CREATE FUNCTION prescient.index_history_day() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
    part name;
BEGIN
    SELECT c.relname INTO part
      FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'prescient.future_job_history'::regclass
       AND c.relname < prescient.history_day(prescient.utc_day(clock_timestamp() - interval '10 minutes'))
       AND NOT EXISTS (SELECT FROM pg_index x JOIN pg_class ic ON ic.oid = x.indexrelid WHERE x.indrelid = c.oid AND ic.relname = c.relname || '_key')
     ORDER BY c.relname LIMIT 1;
    IF part IS NULL THEN
        RETURN 0;
    END IF;
    EXECUTE format('CREATE INDEX %I ON prescient.%I (entity_name, entity_key)', part || '_key', part);
    RETURN 1;
END $$;

-- Makes today's partition and those of the next days. Engines and writers may all call it at once.
CREATE FUNCTION prescient.keep_history_days(days integer, OUT made integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' AS $$
DECLARE
    day date;
BEGIN
    made := 0;
    FOR n IN 0 .. days LOOP
        day := prescient.utc_day(clock_timestamp()) + n;
        CONTINUE WHEN prescient.history_day_is_there(day);
        PERFORM pg_advisory_xact_lock(1886544243, 'prescient.future_job_history'::regclass::oid::int);
        CONTINUE WHEN prescient.history_day_is_there(day);
        PERFORM prescient.make_history_day(day);
        made := made + 1;
    END LOOP;
END $$;
COMMENT ON FUNCTION prescient.keep_history_days(integer) IS 'Makes the history partitions of today and of the next days; returns how many were missing.';
