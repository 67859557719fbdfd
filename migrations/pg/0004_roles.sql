-- 0004_roles - who may do what: prescient_enqueuer calls the API and sees no table, prescient_engine runs checks.
-- oldest engine: 1
--
-- Roles are the cluster's, not the database's: they may exist already, and making them may be refused. Then the schema works
-- for its owner alone, and a notice says so.

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA prescient_schema FROM PUBLIC;

DO $$
DECLARE
    part text;
BEGIN
    FOREACH part IN ARRAY ARRAY['prescient_enqueuer', 'prescient_engine'] LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = part) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN', part);
            EXCEPTION
                WHEN insufficient_privilege THEN
                    RAISE NOTICE 'prescient: role % was not made, as this user may not create roles; grant rights by hand', part;
                    CONTINUE;
                WHEN duplicate_object OR unique_violation THEN
                    NULL;       -- another database's schema was being made at the same moment
            END;
        END IF;
        EXECUTE format('GRANT USAGE ON SCHEMA prescient_schema TO %I', part);
        EXECUTE format('GRANT EXECUTE ON FUNCTION
            prescient.slot_length_s(), prescient.slot_floor(timestamptz), prescient.slot_ceil(timestamptz), prescient.slot_next(timestamptz),
            prescient.slot_for(timestamptz, timestamptz), prescient.bucket_of(text, text),
            prescient.enqueue(text, text, text, timestamptz, json, text, integer),
            prescient.enqueue(text, text, text, interval, json, text, integer),
            prescient.enqueue(text, text, text, text, json, text, integer),
            prescient.enqueue_many(text[], text[], text[], timestamptz[], json[], text, integer[]),
            prescient.enqueue_many(text, text[], text, timestamptz, text),
            prescient.resolve(text, text, text),
            prescient.reschedule(text, text, text, timestamptz), prescient.reschedule(text, text, text, interval),
            prescient.reschedule(text, text, text, text) TO %I', part);
    END LOOP;
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA prescient_schema TO prescient_engine;
        REVOKE INSERT, UPDATE, DELETE ON prescient.migration FROM prescient_engine;
        GRANT USAGE ON ALL SEQUENCES IN SCHEMA prescient_schema TO prescient_engine;
        GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA prescient_schema TO prescient_engine;
        REVOKE EXECUTE ON FUNCTION prescient.set_slot_length(integer) FROM prescient_engine;
    END IF;
END $$;
