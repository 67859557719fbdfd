-- 0085_engines_seen - which listeners each engine has, so that they can be compared.
-- oldest engine: 36
--
-- The settle of an event files its deliveries by the settings of the engine that settles it. Two
-- engines with different listeners are no error that either of them can see: so each notes its own.
-- An engine from before notes nothing, and is not compared.

CREATE TABLE prescient.engine_seen (
    engine text NOT NULL,
    command text NOT NULL,
    file text NOT NULL,
    listeners text NOT NULL,
    seen_at timestamptz NOT NULL,
    counts_until timestamptz NOT NULL,
    PRIMARY KEY (engine, command, file),
    CONSTRAINT engine_seen_sizes CHECK (octet_length(engine) <= 255 AND octet_length(command) <= 16
                                        AND octet_length(file) <= 256 AND octet_length(listeners) <= 65792)
);
COMMENT ON TABLE prescient.engine_seen IS
    'The listeners of each engine, as it noted them last (prescient doctor compares them).';
COMMENT ON COLUMN prescient.engine_seen.engine IS 'Its engine_name, else its host.';
COMMENT ON COLUMN prescient.engine_seen.command IS 'daemon, or run, which stands for sweep, too.';
COMMENT ON COLUMN prescient.engine_seen.file IS 'Where its settings come from.';
COMMENT ON COLUMN prescient.engine_seen.listeners IS
    'A line each: its name, a fingerprint of all that decides what it hears, and words.';
COMMENT ON COLUMN prescient.engine_seen.counts_until IS
    'From then on it stands for no engine any more; a day later it is dropped.';

REVOKE ALL ON TABLE prescient.engine_seen FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE prescient.engine_seen TO prescient_engine;
    END IF;
END $$;
