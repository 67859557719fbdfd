-- 0081_cursors - how far each named reader of events has come, and who reads by that name.
-- oldest engine: 36
--
-- The cursor lies in the database of the events: a failover takes both back together. One that
-- reads holds a lease, as of a slot: owner, token, and when it expires. It moves the cursor only
-- while owner, token and cursor are as it read them (tests/model, consumers.c).

CREATE TABLE prescient.cursor (
    kind text NOT NULL,
    name text NOT NULL,
    generation bigint NOT NULL DEFAULT 0,
    xid xid8 NOT NULL DEFAULT '0',
    id bigint NOT NULL DEFAULT 0,
    owner uuid,
    token bigint NOT NULL DEFAULT 0,
    held_by text,
    expires_at timestamptz,
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    moved_at timestamptz,
    skipped bigint NOT NULL DEFAULT 0,
    pruned_at timestamptz,
    PRIMARY KEY (kind, name),
    CONSTRAINT cursor_kind CHECK (kind IN ('consumer', 'digest')),
    CONSTRAINT cursor_name CHECK (octet_length(name) BETWEEN 1 AND 64),
    CONSTRAINT cursor_lease CHECK ((owner IS NULL) = (expires_at IS NULL))
);
COMMENT ON TABLE prescient.cursor IS
    'How far each named reader of events has come (prescient events --deliver NAME), and who reads.';
COMMENT ON COLUMN prescient.cursor.owner IS 'Who holds the lease; NULL: nobody.';
COMMENT ON COLUMN prescient.cursor.held_by IS 'The last one that held it: host/pid.';
COMMENT ON COLUMN prescient.cursor.moved_at IS 'When the cursor was last moved; NULL: never.';
COMMENT ON COLUMN prescient.cursor.skipped IS 'Events that its command refused and that were skipped.';
COMMENT ON COLUMN prescient.cursor.pruned_at IS
    'When events were last pruned that it had not read; NULL: none since it was reset.';

CREATE VIEW prescient.consumers AS
    SELECT c.name, c.generation || '-' || c.xid::text || '-' || c.id AS cursor, c.moved_at, c.made_at,
           c.held_by, CASE WHEN c.expires_at > clock_timestamp() THEN c.expires_at END AS held_until,
           c.skipped, c.pruned_at, c.generation, c.xid, c.id
      FROM prescient.cursor c WHERE c.kind = 'consumer';
COMMENT ON VIEW prescient.consumers IS 'Consumers of events, and how far each has come.';
COMMENT ON COLUMN prescient.consumers.held_until IS 'When its lease expires; NULL: none is at work.';

REVOKE ALL ON TABLE prescient.cursor, prescient.consumers FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT SELECT, INSERT, UPDATE, DELETE ON TABLE prescient.cursor TO prescient_engine;
        GRANT SELECT ON TABLE prescient.consumers TO prescient_engine;
    END IF;
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_reader') THEN
        GRANT SELECT ON TABLE prescient.consumers TO prescient_reader;
    END IF;
END $$;
