-- 0010_days - runs and events by days, too, so that what is old goes by dropping tables; and the
-- days are made, indexed and dropped alike.
-- oldest engine: 1
--
-- The day is that of the real clock as the row was written (recorded_at), never that of a replay.
-- What the tables hold becomes the partition of all days up to the end of this one: it is read
-- once, to prove that, and its indexes are built, while nothing else uses the two tables.
-- Applications write to neither. An older program's inserts name their columns and go on as they
-- were.

-- ---- the days of all tables ---------------------------------------------------------------------

-- The tables whose rows go by days. The first decides, by its lock, who makes them.
CREATE FUNCTION prescient.tables_by_day() RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT '{future_job_history,future_job_run,event}'::text[] $$;

CREATE FUNCTION prescient.day_table(parent text, day date) RETURNS name LANGUAGE sql STABLE STRICT AS $$
    SELECT (parent || '_p' || to_char(day, 'YYYYMMDD'))::name $$;

-- By its name; or by the range of the one that begins with time itself, which holds what there was
-- before there were days.
CREATE FUNCTION prescient.has_day(parent text, day date) RETURNS boolean
LANGUAGE plpgsql STABLE STRICT SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_inherits i
               WHERE i.inhrelid = to_regclass('prescient.' || prescient.day_table(parent, day))
                  AND i.inhparent = to_regclass('prescient.' || parent)) THEN
        RETURN true;
    END IF;
    RETURN EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
                    WHERE i.inhparent = to_regclass('prescient.' || parent)
                    AND c.relname > prescient.day_table(parent, day)
                      AND pg_get_expr(c.relpartbound, c.oid) LIKE 'FOR VALUES FROM (MINVALUE)%');
END $$;

-- Of all tables: engines ask for this before they take a lease, by the name that it has always had.
-- So it costs next to nothing as long as all is well.
CREATE OR REPLACE FUNCTION prescient.history_day_is_there(day date) RETURNS boolean
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
-- then block them.
CREATE OR REPLACE FUNCTION prescient.make_history_day(day date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s'
SET default_tablespace = '' SET default_table_access_method = 'heap' AS $$
DECLARE
    parent text;
    part name;
BEGIN
    FOREACH parent IN ARRAY prescient.tables_by_day() LOOP
        CONTINUE WHEN prescient.has_day(parent, day);
        part := prescient.day_table(parent, day);
        EXECUTE format('CREATE TABLE prescient.%I (LIKE prescient.%I INCLUDING ALL EXCLUDING INDEXES)',
                       part, parent);
        EXECUTE format('ALTER TABLE prescient.%I ATTACH PARTITION prescient.%I FOR VALUES FROM (%L) TO (%L)',
                       parent, part,
                       to_char(day, 'YYYY-MM-DD') || ' 00:00:00+00', to_char(day + 1, 'YYYY-MM-DD')
                           || ' 00:00:00+00');
    END LOOP;
END $$;

-- At most one index a call: a day of many millions of rows takes its time. Ten minutes after
-- midnight no settle of yesterday is left.
CREATE OR REPLACE FUNCTION prescient.index_history_day() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s'
SET default_tablespace = '' SET default_table_access_method = 'heap' AS $$
DECLARE
    part name;
BEGIN
    SELECT c.relname INTO part
      FROM unnest(prescient.tables_by_day()) WITH ORDINALITY t (parent, n)
      JOIN pg_inherits i ON i.inhparent = to_regclass('prescient.' || t.parent)
      JOIN pg_class c ON c.oid = i.inhrelid
     WHERE c.relname < prescient.day_table(t.parent,
                                           prescient.utc_day(clock_timestamp() - interval '10 minutes'))
       AND NOT EXISTS (SELECT FROM pg_index x JOIN pg_class ic ON ic.oid = x.indexrelid
                       WHERE x.indrelid = c.oid AND ic.relname = c.relname || '_key')
     ORDER BY right(c.relname, 8), t.n LIMIT 1;
    IF part IS NULL THEN
        RETURN 0;
    END IF;
    EXECUTE format('CREATE INDEX %I ON prescient.%I (entity_name, entity_key)', part || '_key', part);
    RETURN 1;
END $$;

-- Makes today's partitions and those of the next days. Engines and writers may all call it at once:
-- they take turns by a lock that needs rights to the table, which an advisory lock does not.
CREATE OR REPLACE FUNCTION prescient.keep_history_days(days integer, OUT made integer)
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

-- ---- what is old goes ---------------------------------------------------------------------------

-- The days of a table that ended before `before`: attached, detached by a prune that did not come
-- to its end, or between the two. Nothing of today and yesterday is ever old.
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
-- uses the table, so it waits for moments only, less than a settle does, and whoever calls it comes
-- again. To detach it first, without such a lock, stands in no function, and only the owner may.
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

-- ---- runs and events ----------------------------------------------------------------------------

LOCK TABLE prescient.future_job_run, prescient.event IN ACCESS EXCLUSIVE MODE;

-- The table that goes by days takes the name; whatever else speaks of the old one would see one day
-- only, and keep it from ever being dropped. And what keeps rows from somebody, row security or a
-- publication's filter or columns, would keep those of that day alone. (Publications have no such
-- columns before PostgreSQL 15.)
DO $$
DECLARE
    others text;
BEGIN
    SELECT string_agg(DISTINCT o.words, ', ') INTO others
      FROM pg_class c,
           LATERAL (
               SELECT pg_describe_object(d.classid, d.objid, d.objsubid) AS words FROM pg_depend d
                WHERE ((d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid)
                       OR (d.refclassid = 'pg_type'::regclass AND d.refobjid = c.reltype))
                  AND d.classid IN ('pg_rewrite'::regclass, 'pg_trigger'::regclass,
                                    'pg_policy'::regclass, 'pg_proc'::regclass)
               UNION ALL
               SELECT format('row security of table %s', c.oid::regclass) WHERE c.relrowsecurity
               UNION ALL
               SELECT format('publication %I, of some rows or columns of table %s',
                             p.pubname, c.oid::regclass)
                 FROM pg_publication_rel r JOIN pg_publication p ON p.oid = r.prpubid
                WHERE r.prrelid = c.oid AND num_nonnulls(to_jsonb(r) ->> 'prqual',
                                                         to_jsonb(r) ->> 'prattrs') > 0) o
     WHERE c.oid IN ('prescient.future_job_run'::regclass, 'prescient.event'::regclass);
    IF others IS NOT NULL THEN
        RAISE EXCEPTION 'prescient: future_job_run and event become tables by days, and something was made '
                        'that hangs on them as they are: %: drop it, migrate, and make it again',
            others USING ERRCODE = 'dependent_objects_still_exist';
    END IF;
END $$;

-- A partition's own indexes come from its table's. With the constraints' names free, the new table
-- has them.
DROP INDEX prescient.future_job_run_time;
ALTER TABLE prescient.event DROP CONSTRAINT event_pkey;

DO $$
DECLARE
    today CONSTANT date := prescient.utc_day(clock_timestamp());
    parent text;
    old name;
    granted record;
    publication name;
    publications name[];
    has_rows boolean;
BEGIN
    FOREACH parent IN ARRAY '{future_job_run,event}'::text[] LOOP
        old := prescient.day_table(parent, today);
        -- A constant is no rewrite: it stands for the rows that there are.
        EXECUTE format('ALTER TABLE prescient.%I ADD COLUMN recorded_at timestamptz NOT NULL DEFAULT now()',
                       parent);
        EXECUTE format('ALTER TABLE prescient.%I ALTER COLUMN recorded_at SET DEFAULT clock_timestamp()',
                       parent);
        IF parent = 'event' THEN
            EXECUTE 'ALTER TABLE prescient.event ADD COLUMN generation bigint NOT NULL DEFAULT 0';
        END IF;
        EXECUTE format('ALTER TABLE prescient.%I RENAME TO %I', parent, old);
        EXECUTE format('CREATE TABLE prescient.%I (LIKE prescient.%I INCLUDING ALL) '
                       'PARTITION BY RANGE (recorded_at)', parent, old);

        -- It belongs to whom the old one belonged to, and is open to those to whom that was.
        EXECUTE format('ALTER TABLE prescient.%I OWNER TO %I', parent,
                       (SELECT pg_get_userbyid(c.relowner) FROM pg_class c
                        WHERE c.oid = to_regclass('prescient.' || old)));
        FOR granted IN
            SELECT a.privilege_type || coalesce(' (' || quote_ident(g.attname) || ')', '') AS what,
                CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS whom,
                   CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END AS further
              FROM pg_class c,
                   LATERAL (SELECT NULL::name AS attname, c.relacl AS acl
                            UNION ALL SELECT t.attname, t.attacl FROM pg_attribute t
                                WHERE t.attrelid = c.oid AND NOT t.attisdropped) g,
                   LATERAL aclexplode(g.acl) a
             WHERE c.oid = to_regclass('prescient.' || old) AND a.grantee <> c.relowner LOOP
            EXECUTE format('GRANT %s ON prescient.%I TO %s%s', granted.what, parent,
                           granted.whom, granted.further);
            -- or it would outlast a REVOKE on the table
            EXECUTE format('REVOKE ALL ON prescient.%I FROM %s CASCADE', old, granted.whom);
        END LOOP;
        publications := ARRAY(SELECT p.pubname FROM pg_publication_rel r
                              JOIN pg_publication p ON p.oid = r.prpubid
                               WHERE r.prrelid = to_regclass('prescient.' || old));
        FOREACH publication IN ARRAY publications LOOP
            EXECUTE format('ALTER PUBLICATION %I ADD TABLE prescient.%I', publication, parent);
        END LOOP;

        IF parent = 'event' THEN
            ALTER SEQUENCE prescient.event_id_seq OWNED BY prescient.event.id;
            ALTER TABLE prescient.event ADD PRIMARY KEY (generation, xid, id, recorded_at);
        ELSE
            CREATE INDEX future_job_run_time ON prescient.future_job_run
                USING brin (recorded_at, run_at) WITH (autosummarize = on);
        END IF;
        EXECUTE format('SELECT EXISTS (SELECT FROM prescient.%I)', old) INTO has_rows;
        IF has_rows THEN
            EXECUTE format('ALTER TABLE prescient.%I ATTACH PARTITION prescient.%I '
                           'FOR VALUES FROM (MINVALUE) TO (%L)', parent, old,
                           to_char(today + 1, 'YYYY-MM-DD') || ' 00:00:00+00');
        ELSE
            EXECUTE format('DROP TABLE prescient.%I', old);
        END IF;
    END LOOP;
END $$;

COMMENT ON TABLE prescient.future_job_run IS 'One row for each run that did not end its check.';
COMMENT ON COLUMN prescient.future_job_run.recorded_at IS
    'When the row was written, by the real clock, in a replay too: its day says where it is and when it goes.';
COMMENT ON COLUMN prescient.event.recorded_at IS
    'When the row was written, by the real clock, in a replay too: its day says where it is and when it goes.';
COMMENT ON COLUMN prescient.event.generation IS 'The history of the database in which xid means something.';

-- A program from before this deletes what is old by ctid, which names a row in one partition and
-- another one in each other.
CREATE FUNCTION prescient.refuse_delete_by_place() RETURNS trigger
    LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF current_query() ~ 'ctid = ANY' THEN
        RAISE EXCEPTION 'prescient: this program is older than the schema and would delete rows that are '
                        'not old'
              USING ERRCODE = 'feature_not_supported',
                    HINT = 'Let the newer program prune: it drops whole days.';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER future_job_run_by_place BEFORE DELETE ON prescient.future_job_run
    FOR EACH STATEMENT EXECUTE FUNCTION prescient.refuse_delete_by_place();
CREATE TRIGGER event_by_place BEFORE DELETE ON prescient.event
    FOR EACH STATEMENT EXECUTE FUNCTION prescient.refuse_delete_by_place();

SELECT prescient.keep_history_days(3);

-- ---- who may ------------------------------------------------------------------------------------

REVOKE ALL ON FUNCTION prescient.tables_by_day(), prescient.day_table(text, date),
    prescient.has_day(text, date), prescient.old_days(text, timestamptz),
    prescient.drop_old_day(text, timestamptz), prescient.refuse_delete_by_place() FROM PUBLIC;
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT EXECUTE ON FUNCTION prescient.tables_by_day(), prescient.day_table(text, date),
            prescient.has_day(text, date),
            prescient.old_days(text, timestamptz), prescient.drop_old_day(text, timestamptz)
                TO prescient_engine;
    END IF;
END $$;
