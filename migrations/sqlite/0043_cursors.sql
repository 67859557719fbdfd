-- oldest engine: 16
-- How far each named reader of events has come, and who reads by that name: owner and token of a
-- lease, and when it expires. Only who finds owner, token and cursor as it read them moves it.
-- generation and xid are always 0 here: a file has one writer at a time.

CREATE TABLE prescient_cursor (
    kind TEXT NOT NULL CONSTRAINT "kind must be consumer or digest" CHECK (kind IN ('consumer', 'digest')),
    name TEXT NOT NULL CONSTRAINT "name must have 1 to 64 bytes and no NUL"
        CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND 64 AND instr(name, char(0)) = 0),
    generation INTEGER NOT NULL DEFAULT 0,
    xid INTEGER NOT NULL DEFAULT 0,
    id INTEGER NOT NULL DEFAULT 0,
    owner TEXT,
    token INTEGER NOT NULL DEFAULT 0,
    held_by TEXT,
    expires_at_us INTEGER,
    made_at_us INTEGER NOT NULL,
    moved_at_us INTEGER,
    skipped INTEGER NOT NULL DEFAULT 0,
    pruned_at_us INTEGER,
    PRIMARY KEY (kind, name),
    CONSTRAINT "a lease has an owner and an end" CHECK ((owner IS NULL) = (expires_at_us IS NULL))
) STRICT, WITHOUT ROWID;

CREATE VIEW prescient_consumers (name, cursor, moved_at_us, made_at_us, held_by, held_until_us, skipped,
                                 pruned_at_us, generation, xid, id) AS
SELECT name, generation || '-' || xid || '-' || id, moved_at_us, made_at_us, held_by, expires_at_us, skipped,
       pruned_at_us, generation, xid, id
  FROM prescient_cursor WHERE kind = 'consumer';
