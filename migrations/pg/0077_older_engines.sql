-- 0077_older_engines - an engine that is older than the schema is told so.
-- oldest engine: 36
--
-- One that ran before 0032_terms or 0036_pauses came does not fill the columns that these added to
-- slot_lease, and gets no lease. What it was told was a column that is NULL. A default is computed
-- where a column is not filled, and nowhere else: this one refuses, in words. Its SQLSTATE is that
-- of a schema that does not fit. So the engine does not take it for a value that was wrong, and
-- connects anew; there it is refused for good.

CREATE FUNCTION prescient.refuse_older_engine() RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'prescient: this engine is older than the schema and gets no lease: it does not know '
                    'schedules or pauses, and would run what must wait. Stop it, and start a program that '
                    'knows migration %, such as the one that has migrated the schema',
        (SELECT max(m.oldest_engine) FROM prescient.migration m) USING ERRCODE = 'undefined_column';
END $$;
COMMENT ON FUNCTION prescient.refuse_older_engine() IS 'The default of what each lease needs of its engine.';

ALTER TABLE prescient.slot_lease ALTER COLUMN reads_terms SET DEFAULT prescient.refuse_older_engine(),
                                 ALTER COLUMN heeds_pauses SET DEFAULT prescient.refuse_older_engine();

REVOKE ALL ON FUNCTION prescient.refuse_older_engine() FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT EXECUTE ON FUNCTION prescient.refuse_older_engine() TO prescient_engine;
    END IF;
END $$;
