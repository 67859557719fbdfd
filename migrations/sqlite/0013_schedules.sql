-- oldest engine: 12
-- Schedules: a name, a check, and the rule by which it recurs. A row of prescient_schedule defines;
-- the one pending check of it is a row of prescient_future_job like any other, which carries the
-- rule in its terms. When an occurrence ends, the settle starts the check anew at the next one.
-- Engines compute the times. SQL computes none: it files the check under the next slot that has not
-- begun, and writes into the terms from when on the rule holds; the engine that reads the check
-- there runs it, if an occurrence lies between, and else moves it on unrun.
--
-- SQL looks at the shape of a cron text and of a zone's name; `prescient schedule` reads them.

CREATE TABLE prescient_schedule (
    name TEXT PRIMARY KEY,
    entity_name TEXT NOT NULL,
    entity_key TEXT NOT NULL,
    job_exec TEXT NOT NULL,
    every_s INTEGER,                        -- from the end of a run to the next one; NULL: cron
    bias INTEGER,                           -- ten thousandths of every_s by which a time may be off
    cron TEXT,
    timezone TEXT,
    missed TEXT NOT NULL,
    payload TEXT,
    is_active INTEGER NOT NULL DEFAULT 1,
    made_at_us INTEGER NOT NULL,
    changed_at_us INTEGER NOT NULL,
    switched_at_us INTEGER,
    switched_why TEXT,
    -- what the check carries (rules/terms.h), without the moment from which on the rule holds
    rule TEXT GENERATED ALWAYS AS (
        'schedule "' || replace(name, '"', '""') || '" ' ||
        CASE WHEN cron IS NULL THEN 'every ' || every_s || ' bias ' || printf('%.4f', bias / 10000.0)
             ELSE 'cron "' || cron || '" zone "' || timezone || '"' END || ' missed ' || missed) VIRTUAL,
    CONSTRAINT "the name of a schedule must have 1 to 255 bytes and no control characters"
        CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND 255
               AND name NOT GLOB '*[' || char(1) || '-' || char(31) || char(127) || ']*'
               AND instr(name, char(0)) = 0),
    CONSTRAINT "a schedule must have either every_s or cron, and only one of them"
        CHECK ((every_s IS NULL) <> (cron IS NULL)),
    CONSTRAINT "every_s must be whole seconds, from 1 to 31622400 (366 days)"
        CHECK (every_s BETWEEN 1 AND 31622400),
    CONSTRAINT "bias must be a fraction of every_s from 0 to 0.5, and only there"
        CHECK ((bias IS NULL) = (every_s IS NULL) AND coalesce(bias BETWEEN 0 AND 5000, 1)),
    CONSTRAINT "cron must have five fields of letters, digits and * , - /, or be a word as @daily"
        CHECK (cron IS NULL OR (
            length(cron) <= 499 AND (
                cron IN ('@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly')
                OR (cron NOT GLOB '*[^-a-z0-9*,/ ]*' AND cron GLOB '?* ?* ?* ?* ?*'
                    AND length(cron) - length(replace(cron, ' ', '')) = 4)))),
    CONSTRAINT "timezone must be the name of a zone, and only beside cron"
        CHECK ((timezone IS NULL) = (cron IS NULL)
               AND coalesce(length(timezone) BETWEEN 1 AND 63
                            AND timezone NOT GLOB '*[^-A-Za-z0-9_+/]*' AND timezone NOT GLOB '/*'
                            AND timezone NOT GLOB '*//*' AND timezone NOT GLOB '*/', 1)),
    CONSTRAINT "missed must be run_once, skip, or with cron run_all"
        CHECK (missed IN ('run_once', 'skip') OR (missed = 'run_all' AND cron IS NOT NULL)),
    CONSTRAINT "is_active must be 0 or 1" CHECK (is_active IN (0, 1))
) STRICT;

CREATE UNIQUE INDEX prescient_schedule_check
    ON prescient_schedule (entity_name, entity_key, job_exec);

-- The check that an active schedule has is filed by every INSERT that replaces it (enqueue with
-- `replace`, reschedule, a load): the rule goes on with the new row.
CREATE TRIGGER prescient_future_job_terms AFTER INSERT ON prescient_future_job
WHEN NEW.terms IS NULL
 AND EXISTS (SELECT 1 FROM prescient_schedule WHERE entity_name = NEW.entity_name
             AND entity_key = NEW.entity_key AND job_exec = NEW.job_exec AND is_active)
BEGIN
    UPDATE prescient_future_job
       SET terms = (SELECT rule FROM prescient_schedule WHERE entity_name = NEW.entity_name
                    AND entity_key = NEW.entity_key AND job_exec = NEW.job_exec)
     WHERE id = NEW.id;
END;

-- Files the check of a schedule, or starts it anew with the rule as it is now. In a slot that has
-- begun it may be being answered: the terms and again_at are written beside it.
CREATE VIEW prescient_file_scheduled (name, now) AS SELECT NULL, NULL WHERE 0;

CREATE TRIGGER prescient_file_scheduled_insert INSTEAD OF INSERT ON prescient_file_scheduled
BEGIN
    UPDATE prescient_future_job
       SET terms = s.rule || ' from ' || max(NEW.now, 1), payload = s.payload,
           again_at = min(coalesce(again_at, n.slot), n.slot)
      FROM prescient_schedule AS s,
           (SELECT (NEW.now / value + 1) * value AS slot FROM prescient_setting
             WHERE name = 'slot_length_s') AS n
     WHERE s.name = NEW.name AND bucket = 0 AND prescient_future_job.entity_name = s.entity_name
       AND prescient_future_job.entity_key = s.entity_key AND prescient_future_job.job_exec = s.job_exec
       AND next_check_at <= NEW.now;
    -- not INSERT OR REPLACE: the statement that calls a trigger decides what becomes of a conflict
    DELETE FROM prescient_future_job
     WHERE bucket = 0 AND next_check_at > NEW.now
       AND (entity_name, entity_key, job_exec) = (SELECT s.entity_name, s.entity_key, s.job_exec
                                                    FROM prescient_schedule AS s WHERE s.name = NEW.name);
    INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at,
                                      payload, terms)
    SELECT s.entity_name, s.entity_key, s.job_exec, n.slot, n.slot, s.payload,
           s.rule || ' from ' || max(NEW.now, 1)
      FROM prescient_schedule AS s,
           (SELECT (NEW.now / value + 1) * value AS slot FROM prescient_setting
             WHERE name = 'slot_length_s') AS n
     WHERE s.name = NEW.name
       AND NOT EXISTS (SELECT 1 FROM prescient_future_job AS f
                        WHERE f.bucket = 0 AND f.entity_name = s.entity_name
                          AND f.entity_key = s.entity_key AND f.job_exec = s.job_exec);
END;

-- Schedules as applications see and change them:
--   INSERT INTO prescient_schedules (name, entity_name, entity_key, job_exec, every_s)
--   VALUES ('stock of shop 7', 'shop', '7', 'sync_stock', 300);
-- or cron ('0 6 * * mon-fri') and timezone ('Europe/Amsterdam', UTC if it is missing) in place of
-- every_s. A name that is there already is changed. May also be given: missed ('run_once', the
-- default, 'run_all', 'skip'), bias (a fraction of every_s; 0.0667), payload, now (the clock).
--   UPDATE prescient_schedules SET is_active = 0, switched_why = 'moving house' WHERE name = '...';
--   DELETE FROM prescient_schedules WHERE name = '...';
CREATE VIEW prescient_schedules (name, entity_name, entity_key, job_exec, every_s, bias, cron, timezone,
                                 missed, is_active, next_check_at, made_at_us, changed_at_us, switched_at_us,
                                 switched_why, payload, now) AS
SELECT s.name, s.entity_name, s.entity_key, s.job_exec, s.every_s, s.bias / 10000.0, s.cron, s.timezone,
       s.missed, s.is_active,
       (SELECT f.next_check_at FROM prescient_future_job AS f
         WHERE f.bucket = 0 AND f.entity_name = s.entity_name AND f.entity_key = s.entity_key
           AND f.job_exec = s.job_exec),
       s.made_at_us, s.changed_at_us, s.switched_at_us, s.switched_why, s.payload, NULL
  FROM prescient_schedule AS s;

-- The values of an INSERT in the form in which they are stored. A row that is put in here is looked
-- at, and written if it differs from what is there.
CREATE VIEW prescient_put_schedule (name, entity_name, entity_key, job_exec, every_s, bias, cron, timezone,
                                    missed, payload, now) AS
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;

CREATE TRIGGER prescient_put_schedule_insert INSTEAD OF INSERT ON prescient_put_schedule
BEGIN
    SELECT CASE
           WHEN coalesce(length(CAST(NEW.entity_name AS BLOB)), 0) NOT BETWEEN 1 AND 1024
           OR instr(NEW.entity_name, char(0)) <> 0
           THEN RAISE(ABORT, 'prescient: entity_name must have 1 to 1024 bytes and no NUL')
           WHEN coalesce(length(CAST(NEW.entity_key AS BLOB)), 0) NOT BETWEEN 1 AND 1024
           OR instr(NEW.entity_key, char(0)) <> 0
           THEN RAISE(ABORT, 'prescient: entity_key must have 1 to 1024 bytes and no NUL')
           WHEN coalesce(length(CAST(NEW.job_exec AS BLOB)), 0) NOT BETWEEN 1 AND 1024
           OR instr(NEW.job_exec, char(0)) <> 0
           THEN RAISE(ABORT, 'prescient: job_exec must have 1 to 1024 bytes and no NUL')
           WHEN length(CAST(NEW.entity_name AS BLOB)) + length(CAST(NEW.entity_key AS BLOB))
               + length(CAST(NEW.job_exec AS BLOB)) > 2600
           THEN RAISE(ABORT,
                      'prescient: entity_name, entity_key and job_exec must have at most 2600 bytes together')
           WHEN length(CAST(NEW.payload AS BLOB)) > 65536
           THEN RAISE(ABORT, 'prescient: payload must have at most 65536 bytes')
           WHEN NEW.payload IS NOT NULL AND (NOT json_valid(NEW.payload) OR instr(NEW.payload, char(0)) <> 0)
           THEN RAISE(ABORT, 'prescient: payload must be valid JSON')
           WHEN EXISTS (SELECT 1 FROM prescient_schedule
                         WHERE entity_name = NEW.entity_name AND entity_key = NEW.entity_key
                           AND job_exec = NEW.job_exec AND name <> NEW.name)
           THEN RAISE(ABORT, 'prescient: another schedule is of the same check: a check has one')
           END;
    INSERT INTO prescient_text
    VALUES (NEW.name || char(10) || NEW.entity_name || char(10) || NEW.entity_key || char(10)
            || NEW.job_exec || char(10) || coalesce(NEW.payload, ''));
    -- a schedule that becomes that of another check: the old one is over
    INSERT INTO prescient_end_checks (entity_name, entity_key, job_exec, now)
    SELECT entity_name, entity_key, job_exec, NEW.now FROM prescient_schedule
     WHERE name = NEW.name
       AND (entity_name, entity_key, job_exec) <> (NEW.entity_name, NEW.entity_key, NEW.job_exec);
    INSERT INTO prescient_schedule (name, entity_name, entity_key, job_exec, every_s, bias, cron, timezone,
                                    missed, payload, made_at_us, changed_at_us)
    VALUES (NEW.name, NEW.entity_name, NEW.entity_key, NEW.job_exec, NEW.every_s, NEW.bias, NEW.cron,
            NEW.timezone, NEW.missed, NEW.payload, NEW.now * 1000000, NEW.now * 1000000)
    ON CONFLICT (name) DO UPDATE SET
        entity_name = excluded.entity_name, entity_key = excluded.entity_key, job_exec = excluded.job_exec,
        every_s = excluded.every_s, bias = excluded.bias, cron = excluded.cron,
        timezone = excluded.timezone, missed = excluded.missed, payload = excluded.payload,
        changed_at_us = excluded.changed_at_us
     WHERE (prescient_schedule.entity_name, prescient_schedule.entity_key, prescient_schedule.job_exec,
            prescient_schedule.missed) <> (excluded.entity_name, excluded.entity_key, excluded.job_exec,
                                           excluded.missed)
        OR prescient_schedule.every_s IS NOT excluded.every_s OR prescient_schedule.bias IS NOT excluded.bias
        OR prescient_schedule.cron IS NOT excluded.cron
        OR prescient_schedule.timezone IS NOT excluded.timezone
        OR prescient_schedule.payload IS NOT excluded.payload;
END;

-- New rows and changes file their check.
CREATE TRIGGER prescient_schedule_made AFTER INSERT ON prescient_schedule WHEN NEW.is_active
BEGIN
    INSERT INTO prescient_file_scheduled VALUES (NEW.name, NEW.changed_at_us / 1000000);
END;

CREATE TRIGGER prescient_schedule_changed AFTER UPDATE OF changed_at_us ON prescient_schedule
WHEN NEW.is_active
BEGIN
    INSERT INTO prescient_file_scheduled VALUES (NEW.name, NEW.changed_at_us / 1000000);
END;

CREATE TRIGGER prescient_schedule_switched AFTER UPDATE OF is_active ON prescient_schedule
WHEN NEW.is_active > OLD.is_active
BEGIN
    INSERT INTO prescient_file_scheduled VALUES (NEW.name, NEW.switched_at_us / 1000000);
END;

-- What waits for a row, of one job or of all, is over: history says 'resolved'.
CREATE VIEW prescient_end_checks (entity_name, entity_key, job_exec, now) AS
SELECT NULL, NULL, NULL, NULL WHERE 0;

CREATE TRIGGER prescient_end_checks_insert INSTEAD OF INSERT ON prescient_end_checks
BEGIN
    INSERT INTO prescient_future_job_history (check_id, ended_at_us, entity_name, entity_key,
                                              job_exec, outcome, check_count,
           failure_count, run_count, slot_at, first_check_at, first_run_at_us, total_run_us, archived_at_us)
    SELECT id, coalesce(NEW.now * 1000000, clock_us), entity_name, entity_key, job_exec,
           'resolved', check_count,
           failure_count, run_count, next_check_at, first_check_at, first_run_at_us, total_run_us, clock_us
      FROM prescient_future_job,
           (SELECT strftime('%s', 'now') * 1000000 + substr(strftime('%f', 'now'), 4) * 1000 AS clock_us)
     WHERE bucket = 0 AND entity_name = NEW.entity_name AND entity_key = NEW.entity_key
       AND (NEW.job_exec IS NULL OR job_exec = NEW.job_exec);
    DELETE FROM prescient_future_job
     WHERE bucket = 0 AND entity_name = NEW.entity_name AND entity_key = NEW.entity_key
       AND (NEW.job_exec IS NULL OR job_exec = NEW.job_exec);
END;

-- A schedule of the row is switched off, with the reason.
DROP TRIGGER prescient_resolve_insert;

CREATE TRIGGER prescient_resolve_insert INSTEAD OF INSERT ON prescient_resolve
BEGIN
    SELECT RAISE(ABORT, 'prescient: entity_name and entity_key must be given')
     WHERE NEW.entity_name IS NULL OR NEW.entity_key IS NULL;
    SELECT RAISE(ABORT, 'prescient: now must be whole seconds since the epoch')
     WHERE NEW.now IS NOT NULL AND (typeof(NEW.now) <> 'integer' OR NEW.now NOT BETWEEN 0 AND 253402300799);
    UPDATE prescient_schedule
       SET is_active = 0, switched_why = 'resolved',
           switched_at_us = coalesce(NEW.now, CAST(strftime('%s', 'now') AS INTEGER)) * 1000000
     WHERE entity_name = NEW.entity_name AND entity_key = NEW.entity_key
       AND (NEW.job_exec IS NULL OR job_exec = NEW.job_exec) AND is_active;
    INSERT INTO prescient_end_checks VALUES (NEW.entity_name, NEW.entity_key, NEW.job_exec, NEW.now);
END;

CREATE TRIGGER prescient_schedules_insert INSTEAD OF INSERT ON prescient_schedules
BEGIN
    SELECT RAISE(ABORT, 'prescient: now must be whole seconds since the epoch')
     WHERE NEW.now IS NOT NULL AND (typeof(NEW.now) <> 'integer' OR NEW.now NOT BETWEEN 0 AND 253402300799);
    SELECT RAISE(ABORT, 'prescient: every_s must be whole seconds, from 1 to 31622400 (366 days)')
     WHERE NEW.every_s IS NOT NULL AND typeof(NEW.every_s) <> 'integer';
    SELECT RAISE(ABORT, 'prescient: bias must be a fraction of every_s from 0 to 0.5, and only there')
     WHERE NEW.bias IS NOT NULL AND (typeof(NEW.bias) NOT IN ('integer', 'real')
                                     OR NEW.bias NOT BETWEEN 0 AND 0.5);
    INSERT INTO prescient_put_schedule
    VALUES (NEW.name, NEW.entity_name, NEW.entity_key, NEW.job_exec, NEW.every_s,
            CASE WHEN NEW.every_s IS NOT NULL THEN CAST(round(coalesce(NEW.bias, 0.0667) * 10000) AS INTEGER)
                 ELSE CAST(round(NEW.bias * 10000) AS INTEGER) END,
            lower(trim(replace(NEW.cron, char(9), ' '))),
            CASE WHEN NEW.cron IS NOT NULL THEN coalesce(NEW.timezone, 'UTC') ELSE NEW.timezone END,
            coalesce(NEW.missed, 'run_once'), NEW.payload,
            coalesce(NEW.now, CAST(strftime('%s', 'now') AS INTEGER)));
END;

CREATE TRIGGER prescient_schedules_update INSTEAD OF UPDATE ON prescient_schedules
BEGIN
    SELECT RAISE(ABORT, 'prescient: a schedule keeps its name: insert another one and delete this one')
     WHERE NEW.name IS NOT OLD.name;
    INSERT INTO prescient_schedules (name, entity_name, entity_key, job_exec, every_s, bias, cron, timezone,
                                     missed, payload, now)
    VALUES (NEW.name, NEW.entity_name, NEW.entity_key, NEW.job_exec, NEW.every_s, NEW.bias, NEW.cron,
            NEW.timezone, NEW.missed, NEW.payload, NEW.now);
    UPDATE prescient_schedule
       SET is_active = NEW.is_active, switched_why = nullif(NEW.switched_why, OLD.switched_why),
           switched_at_us = coalesce(NEW.now, CAST(strftime('%s', 'now') AS INTEGER)) * 1000000
     WHERE name = NEW.name AND is_active <> NEW.is_active;
    INSERT INTO prescient_end_checks
    SELECT entity_name, entity_key, job_exec, NEW.now FROM prescient_schedule
     WHERE name = NEW.name AND OLD.is_active AND NOT is_active;
END;

CREATE TRIGGER prescient_schedules_delete INSTEAD OF DELETE ON prescient_schedules
BEGIN
    DELETE FROM prescient_schedule WHERE name = OLD.name;
    INSERT INTO prescient_end_checks VALUES (OLD.entity_name, OLD.entity_key, OLD.job_exec, NULL);
END;
