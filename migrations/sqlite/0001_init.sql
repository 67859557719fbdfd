-- oldest engine: 1
-- The first schema. Moments and slots: seconds since the Unix epoch, UTC; names ending in _us: microseconds.
-- The constraints' names are what a refused INSERT says, so they are sentences.

CREATE TABLE prescient_migration (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,                 -- sha256 of the file, in hexadecimal
    oldest_engine INTEGER NOT NULL,         -- engines that know fewer migrations than this must not work here
    applied_at_us INTEGER NOT NULL
) STRICT;

CREATE TABLE prescient_setting (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO prescient_setting (name, value) VALUES ('slot_length_s', 900), ('swept_until', 0);

-- What is pending and nothing old. The slot length stands here as a literal: a trigger that reads the setting made every
-- enqueue and every move half as slow again. Changing it rebuilds this table (and reslots what is pending).
-- AUTOINCREMENT: an id is never given out twice, so that a settle of an old life of a check touches nothing.
CREATE TABLE prescient_future_job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    bucket INTEGER NOT NULL DEFAULT 0,
    entity_name TEXT NOT NULL,
    entity_key TEXT NOT NULL,
    job_exec TEXT NOT NULL,
    first_check_at INTEGER NOT NULL,        -- the slot of the first check of this life; never changes
    next_check_at INTEGER NOT NULL,
    priority INTEGER NOT NULL DEFAULT 0,
    check_count INTEGER NOT NULL DEFAULT 0,
    failure_count INTEGER NOT NULL DEFAULT 0,
    deferred_at INTEGER,                    -- first deferral of this check number
    again_at INTEGER,                       -- enqueued again while its slot had begun: where it starts anew when it ends
    run_count INTEGER NOT NULL DEFAULT 0,
    first_run_at_us INTEGER,
    total_run_us INTEGER NOT NULL DEFAULT 0,
    payload TEXT,
    CONSTRAINT "bucket is always 0 in SQLite" CHECK (bucket = 0),
    CONSTRAINT "entity_name must have 1 to 1024 bytes and no NUL"
        CHECK (length(CAST(entity_name AS BLOB)) BETWEEN 1 AND 1024 AND instr(entity_name, char(0)) = 0),
    CONSTRAINT "entity_key must have 1 to 1024 bytes and no NUL"
        CHECK (length(CAST(entity_key AS BLOB)) BETWEEN 1 AND 1024 AND instr(entity_key, char(0)) = 0),
    CONSTRAINT "job_exec must have 1 to 1024 bytes and no NUL"
        CHECK (length(CAST(job_exec AS BLOB)) BETWEEN 1 AND 1024 AND instr(job_exec, char(0)) = 0),
    CONSTRAINT "entity_name, entity_key and job_exec must have at most 2600 bytes together"
        CHECK (length(CAST(entity_name AS BLOB)) + length(CAST(entity_key AS BLOB)) + length(CAST(job_exec AS BLOB)) <= 2600),
    CONSTRAINT "payload must have at most 65536 bytes" CHECK (length(CAST(payload AS BLOB)) <= 65536),
    CONSTRAINT "payload must be valid JSON" CHECK (payload IS NULL OR (json_valid(payload) AND instr(payload, char(0)) = 0)),
    CONSTRAINT "next_check_at must be a slot (a multiple of the slot length)" CHECK (next_check_at % 900 = 0),
    CONSTRAINT "again_at must be a slot (a multiple of the slot length)" CHECK (again_at % 900 = 0),
    CONSTRAINT "next_check_at must lie in the years 1970 to 9999" CHECK (next_check_at BETWEEN 0 AND 253402300799),
    CONSTRAINT "again_at must lie in the years 1970 to 9999" CHECK (again_at BETWEEN 0 AND 253402300799),
    CONSTRAINT "first_check_at must lie in the years 1970 to 9999" CHECK (first_check_at BETWEEN 0 AND 253402300799),
    CONSTRAINT "priority must fit in 32 bits" CHECK (priority BETWEEN -2147483648 AND 2147483647),
    CONSTRAINT "counts must not be negative and must fit in 32 bits"
        CHECK (check_count BETWEEN 0 AND 2147483647 AND failure_count BETWEEN 0 AND 2147483647)
) STRICT;

CREATE UNIQUE INDEX prescient_future_job_key ON prescient_future_job (bucket, entity_name, entity_key, job_exec);
CREATE INDEX prescient_future_job_slot ON prescient_future_job (next_check_at, bucket, priority, id);

-- One row per archived check, written in the transaction that deletes the check. Read newest first by id.
CREATE TABLE prescient_future_job_history (
    id INTEGER PRIMARY KEY,
    check_id INTEGER NOT NULL,
    ended_at_us INTEGER NOT NULL,           -- virtual time in a replay
    entity_name TEXT NOT NULL,
    entity_key TEXT NOT NULL,
    job_exec TEXT NOT NULL,
    outcome TEXT NOT NULL,
    check_count INTEGER NOT NULL,
    failure_count INTEGER NOT NULL,
    run_count INTEGER NOT NULL,
    slot_at INTEGER NOT NULL,
    first_check_at INTEGER NOT NULL,
    first_run_at_us INTEGER,
    last_run_at_us INTEGER,
    total_run_us INTEGER NOT NULL,
    last_run_us INTEGER,
    note TEXT,
    payload TEXT,                           -- of those that can be enqueued again by `retry`
    engine TEXT,
    archived_at_us INTEGER NOT NULL         -- the machine's clock, never virtual time
) STRICT;

-- Only what `retry` looks for pays for an index; the rest of the history stays cheap to write.
CREATE INDEX prescient_future_job_history_failed ON prescient_future_job_history (ended_at_us)
 WHERE outcome IN ('failed', 'timeout', 'crashed', 'bad_answer');

-- One row per run that did not end its check; the last run is the row of the history.
CREATE TABLE prescient_future_job_run (
    id INTEGER PRIMARY KEY,
    check_id INTEGER NOT NULL,
    run_at_us INTEGER NOT NULL,
    entity_name TEXT NOT NULL,
    entity_key TEXT NOT NULL,
    job_exec TEXT NOT NULL,
    outcome TEXT NOT NULL,
    check_count INTEGER NOT NULL,
    failure_count INTEGER NOT NULL,
    slot_at INTEGER NOT NULL,
    next_check_at INTEGER NOT NULL,
    run_us INTEGER NOT NULL,
    note TEXT,
    engine TEXT,
    recorded_at_us INTEGER NOT NULL
) STRICT;

-- Which slots were opened (pass 0: the opening row) and each pass that came to its end.
CREATE TABLE prescient_slot_pass (
    slot_at INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    pass INTEGER NOT NULL,
    engine TEXT,
    split INTEGER NOT NULL,
    opened_rows INTEGER,                    -- pass 0: counted when it was opened
    closed_at_us INTEGER,                   -- pass 0: looked at for the last time
    run INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    again INTEGER NOT NULL DEFAULT 0,
    deferred INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    timeout INTEGER NOT NULL DEFAULT 0,
    crashed INTEGER NOT NULL DEFAULT 0,
    guarded INTEGER NOT NULL DEFAULT 0,
    held_back INTEGER NOT NULL DEFAULT 0,
    unknown_job INTEGER NOT NULL DEFAULT 0,
    superseded INTEGER NOT NULL DEFAULT 0,
    locked INTEGER NOT NULL DEFAULT 0,
    late_us INTEGER,
    took_us INTEGER,
    left_jobs TEXT,                         -- the jobs whose checks were left behind, with commas
    recorded_at_us INTEGER NOT NULL,
    PRIMARY KEY (slot_at, bucket, pass)
) STRICT, WITHOUT ROWID;

CREATE INDEX prescient_slot_pass_unclosed ON prescient_slot_pass (slot_at) WHERE pass = 0 AND closed_at_us IS NULL;

-- The right to run one slot. The token is never given out twice.
CREATE TABLE prescient_slot_lease (
    token INTEGER PRIMARY KEY AUTOINCREMENT,
    slot_at INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    owner BLOB NOT NULL,
    engine TEXT,
    taken_at_us INTEGER NOT NULL,
    expires_at_us INTEGER NOT NULL,
    UNIQUE (slot_at, bucket)
) STRICT;

-- What jobs emitted. Writers are serial, so the id alone orders them as they were committed.
CREATE TABLE prescient_event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    event TEXT NOT NULL,
    entity_name TEXT NOT NULL,
    entity_key TEXT NOT NULL,
    job_exec TEXT NOT NULL,
    emitted_at_us INTEGER NOT NULL,
    slot_at INTEGER NOT NULL,
    check_count INTEGER NOT NULL,
    data TEXT,
    CONSTRAINT "event must have 1 to 1024 bytes and no NUL"
        CHECK (length(CAST(event AS BLOB)) BETWEEN 1 AND 1024 AND instr(event, char(0)) = 0),
    CONSTRAINT "data must be valid JSON" CHECK (data IS NULL OR (json_valid(data) AND instr(data, char(0)) = 0))
) STRICT;

-- ---- the API of applications: views that are written to ----------------------------------------------------------------

-- Text that is not UTF-8: the trigger below refuses it. Each row that is put in here is looked at and kept nowhere.
-- Text of ASCII alone costs one GLOB. The rest is taken apart, 256 characters at a time, and each character must be what its
-- code point is written as. SQLite reads U+FFFE and U+FFFF as U+FFFD, hence the exception.
CREATE VIEW prescient_text (text) AS SELECT NULL WHERE 0;

CREATE TRIGGER prescient_text_insert INSTEAD OF INSERT ON prescient_text
WHEN NEW.text GLOB '*[^' || char(1) || '-' || char(127) || ']*'
BEGIN
    SELECT RAISE(ABORT, 'prescient: entity_name, entity_key, job_exec and payload must be valid UTF-8')
     WHERE EXISTS (
        WITH RECURSIVE
        piece (nth, chars) AS (
            SELECT 0, substr(NEW.text, 1, 256)
            UNION ALL
            SELECT nth + 1, substr(NEW.text, (nth + 1) * 256 + 1, 256) FROM piece WHERE length(chars) = 256
        ),
        letter (chars, nth, one) AS (
            SELECT chars, 1, substr(chars, 1, 1) FROM piece
            UNION ALL
            SELECT chars, nth + 1, substr(chars, nth + 1, 1) FROM letter WHERE nth < length(chars)
        )
        SELECT 1 FROM letter
         WHERE one <> '' AND hex(one) <> hex(char(unicode(one))) AND hex(one) NOT IN ('EFBFBE', 'EFBFBF'));
END;

-- Files a check: `at` and `now` in whole seconds. prescient_enqueue is this for people; engines come here.
-- Never into a slot that has begun. A check that waits already is kept, moved to an earlier slot or replaced; when its slot
-- has begun it may be being answered at this moment, and the wanted slot is written beside it.
CREATE VIEW prescient_enqueue_at (entity_name, entity_key, job_exec, at, payload, conflict, priority, now) AS
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;

CREATE TRIGGER prescient_enqueue_at_insert INSTEAD OF INSERT ON prescient_enqueue_at
BEGIN
    SELECT RAISE(ABORT, 'prescient: check_at must lie in the years 1970 to 9999')
     WHERE NEW.at IS NULL OR NEW.at NOT BETWEEN 0 AND 253402300799;
    SELECT RAISE(ABORT, 'prescient: conflict must be keep, earlier or replace')
     WHERE NEW.conflict IS NULL OR NEW.conflict NOT IN ('keep', 'earlier', 'replace');
    INSERT INTO prescient_text
    VALUES (NEW.entity_name || char(10) || NEW.entity_key || char(10) || NEW.job_exec || char(10) || coalesce(NEW.payload, ''));
    DELETE FROM prescient_future_job
     WHERE NEW.conflict = 'replace' AND bucket = 0 AND entity_name = NEW.entity_name AND entity_key = NEW.entity_key
       AND job_exec = NEW.job_exec;
    INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at, priority, payload)
    SELECT NEW.entity_name, NEW.entity_key, NEW.job_exec, slot, slot, NEW.priority, NEW.payload
      FROM (SELECT max((NEW.at + value - 1) / value * value, (NEW.now / value + 1) * value) AS slot
              FROM prescient_setting WHERE name = 'slot_length_s') WHERE true
    ON CONFLICT (bucket, entity_name, entity_key, job_exec) DO UPDATE SET
        again_at = CASE WHEN next_check_at > NEW.now THEN again_at
                        WHEN again_at IS NULL OR (NEW.conflict = 'earlier' AND again_at > excluded.next_check_at)
                        THEN excluded.next_check_at ELSE again_at END,
        next_check_at = CASE WHEN next_check_at > NEW.now THEN min(next_check_at, excluded.next_check_at) ELSE next_check_at END
     WHERE next_check_at <= NEW.now OR (NEW.conflict = 'earlier' AND next_check_at > excluded.next_check_at);
END;

-- INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at)
-- VALUES ('orders', '42', 'unshipped_order', datetime('now', '+3 hours'));
-- check_at: 'YYYY-MM-DD HH:MM:SS' (UTC, or with an offset) or seconds since the epoch; a fraction of a second rounds up.
-- May also be given: payload (JSON text), conflict ('keep', the default, 'earlier', 'replace'), priority (0), now (the clock).
CREATE VIEW prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload, conflict, priority, now) AS
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;

CREATE TRIGGER prescient_enqueue_insert INSTEAD OF INSERT ON prescient_enqueue
BEGIN
    SELECT RAISE(ABORT, 'prescient: now must be whole seconds since the epoch')
     WHERE NEW.now IS NOT NULL AND (typeof(NEW.now) <> 'integer' OR NEW.now NOT BETWEEN 0 AND 253402300799);
    INSERT INTO prescient_enqueue_at (entity_name, entity_key, job_exec, at, payload, conflict, priority, now)
    SELECT NEW.entity_name, NEW.entity_key, NEW.job_exec, at, NEW.payload, coalesce(NEW.conflict, 'keep'), coalesce(NEW.priority, 0),
           coalesce(NEW.now, CAST(strftime('%s', 'now') AS INTEGER))
      FROM (SELECT CASE
            WHEN typeof(NEW.check_at) = 'integer' THEN NEW.check_at
            WHEN typeof(NEW.check_at) = 'real' THEN CAST(NEW.check_at AS INTEGER) + (NEW.check_at > CAST(NEW.check_at AS INTEGER))
            WHEN typeof(NEW.check_at) = 'text' AND NEW.check_at NOT GLOB '*[^0-9]*' AND length(NEW.check_at) BETWEEN 1 AND 12 THEN CAST(NEW.check_at AS INTEGER)
            WHEN typeof(NEW.check_at) = 'text' AND NEW.check_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            THEN strftime('%s', NEW.check_at) + (strftime('%f', NEW.check_at) NOT GLOB '*.000')
            ELSE RAISE(ABORT, 'prescient: check_at must be a time as 2026-03-01 13:15:00 or seconds since the epoch')
            END AS at);
END;

-- INSERT INTO prescient_resolve (entity_name, entity_key) VALUES ('orders', '42'): what is pending for it is gone, history says
-- 'resolved'. job_exec may be given: then only that check.
CREATE VIEW prescient_resolve (entity_name, entity_key, job_exec, now) AS SELECT NULL, NULL, NULL, NULL WHERE 0;

CREATE TRIGGER prescient_resolve_insert INSTEAD OF INSERT ON prescient_resolve
BEGIN
    SELECT RAISE(ABORT, 'prescient: entity_name and entity_key must be given')
     WHERE NEW.entity_name IS NULL OR NEW.entity_key IS NULL;
    INSERT INTO prescient_future_job_history (check_id, ended_at_us, entity_name, entity_key, job_exec, outcome, check_count,
           failure_count, run_count, slot_at, first_check_at, first_run_at_us, total_run_us, archived_at_us)
    SELECT id, coalesce(NEW.now * 1000000, clock_us), entity_name, entity_key, job_exec, 'resolved', check_count,
           failure_count, run_count, next_check_at, first_check_at, first_run_at_us, total_run_us, clock_us
      FROM prescient_future_job,
           (SELECT strftime('%s', 'now') * 1000000 + substr(strftime('%f', 'now'), 4) * 1000 AS clock_us)
     WHERE bucket = 0 AND entity_name = NEW.entity_name AND entity_key = NEW.entity_key
       AND (NEW.job_exec IS NULL OR job_exec = NEW.job_exec);
    DELETE FROM prescient_future_job
     WHERE bucket = 0 AND entity_name = NEW.entity_name AND entity_key = NEW.entity_key
       AND (NEW.job_exec IS NULL OR job_exec = NEW.job_exec);
END;

-- INSERT INTO prescient_reschedule (entity_name, entity_key, job_exec, check_at) VALUES (...): the check starts a new life at
-- check_at, with its payload and priority; when there is none, nothing happens.
CREATE VIEW prescient_reschedule (entity_name, entity_key, job_exec, check_at, now) AS SELECT NULL, NULL, NULL, NULL, NULL WHERE 0;

CREATE TRIGGER prescient_reschedule_insert INSTEAD OF INSERT ON prescient_reschedule
BEGIN
    INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload, conflict, priority, now)
    SELECT entity_name, entity_key, job_exec, NEW.check_at, payload, 'replace', priority, NEW.now FROM prescient_future_job
     WHERE bucket = 0 AND entity_name = NEW.entity_name AND entity_key = NEW.entity_key AND job_exec = NEW.job_exec;
END;
