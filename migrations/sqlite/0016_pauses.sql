-- oldest engine: 16
-- The checks of a job, an entity or a schedule wait until they are resumed. Each pause has a slot
-- of its own that never begins: a day from the year 9000 on (221845392000), which is a slot at
-- every slot length. A check that comes up is moved there unrun by its engine, while the pause is
-- on. When it was resumed, engines pass over its slot page by page, and the pause is over when its
-- slot is empty, and closed or was never opened. An engine from before would run paused checks;
-- each call compares the schema's cookie, so one that runs already is refused, too.

CREATE TABLE prescient_pause (
    slot_at INTEGER PRIMARY KEY,
    what TEXT NOT NULL CONSTRAINT "what must be job, entity or schedule"
        CHECK (what IN ('job', 'entity', 'schedule')),
    name TEXT NOT NULL CONSTRAINT "name must have 1 to 1024 bytes and no NUL"
        CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND 1024 AND instr(name, char(0)) = 0),
    reason TEXT CONSTRAINT "reason must have at most 4096 bytes" CHECK (length(CAST(reason AS BLOB)) <= 4096),
    paused_at_us INTEGER NOT NULL,
    paused_by TEXT,
    resumed_at_us INTEGER,
    resumed_by TEXT,
    is_reslotted INTEGER NOT NULL DEFAULT 0,
    ended_at_us INTEGER
) STRICT;

CREATE UNIQUE INDEX prescient_pause_on ON prescient_pause (what, name) WHERE resumed_at_us IS NULL;
CREATE INDEX prescient_pause_not_over ON prescient_pause (slot_at) WHERE ended_at_us IS NULL;

-- The number of the last change to pauses: its time in microseconds, so that a file that was
-- restored never has other pauses under the number that an engine knows.
INSERT INTO prescient_setting (name, value) VALUES ('pause_changes', 0);

-- INSERT INTO prescient_pauses (what, name, reason)
-- VALUES ('job', 'unshipped_order', 'the shop moves'): the checks of the job wait. paused_by may be
-- given. What is paused already stays as it is. `what` is job, entity or schedule.
-- UPDATE prescient_pauses SET state = 'ending'
--  WHERE what = 'job' AND name = 'unshipped_order' AND state = 'on': they are resumed.
-- is_reslotted = 1 files them under the next slot together; resumed_by may be given.
CREATE VIEW prescient_pauses (what, name, state, checks, paused_at_us, paused_by, reason, resumed_at_us,
                              resumed_by, is_reslotted, ended_at_us, slot_at) AS
SELECT what, name,
       CASE WHEN resumed_at_us IS NULL THEN 'on' WHEN ended_at_us IS NULL THEN 'ending' ELSE 'over' END,
       (SELECT count(*) FROM (SELECT 1 FROM prescient_future_job AS f WHERE f.next_check_at = p.slot_at
                              LIMIT 10000)),
       paused_at_us, paused_by, reason, resumed_at_us, resumed_by, is_reslotted, ended_at_us, slot_at
  FROM prescient_pause AS p;

-- A day after the newest, so that no slot is used again that an engine may still know as another
-- pause's. After a thousand years of days (the last is 253402214400), the first free one behind
-- another. Never one that holds checks.
CREATE VIEW prescient_pause_slot (slot_at) AS
WITH RECURSIVE day (slot_at) AS (
    SELECT CASE WHEN newest < 253402214400 THEN newest + 86400
           ELSE (SELECT min(p.slot_at) + 86400 FROM prescient_pause AS p
                  WHERE p.slot_at < 253402214400
                    AND NOT EXISTS (SELECT 1 FROM prescient_pause AS o WHERE o.slot_at = p.slot_at + 86400))
           END
      FROM (SELECT coalesce(max(slot_at), 221845305600) AS newest FROM prescient_pause)
    UNION ALL
    SELECT slot_at + 86400 FROM day
     WHERE slot_at < 253402214400
       AND (EXISTS (SELECT 1 FROM prescient_future_job AS f WHERE f.next_check_at = day.slot_at)
            OR EXISTS (SELECT 1 FROM prescient_pause AS o WHERE o.slot_at = day.slot_at)))
SELECT max(slot_at) FROM day;

CREATE TRIGGER prescient_pauses_insert INSTEAD OF INSERT ON prescient_pauses
BEGIN
    SELECT RAISE(ABORT, 'prescient: there is no schedule of that name')
     WHERE NEW.what = 'schedule' AND NOT EXISTS (SELECT 1 FROM prescient_schedule WHERE name = NEW.name);
    INSERT INTO prescient_pause (slot_at, what, name, reason, paused_at_us, paused_by)
    SELECT slot_at, NEW.what, NEW.name, nullif(NEW.reason, ''),
           strftime('%s', 'now') * 1000000 + substr(strftime('%f', 'now'), 4) * 1000, NEW.paused_by
      FROM prescient_pause_slot
     WHERE NOT EXISTS (SELECT 1 FROM prescient_pause WHERE what = NEW.what AND name = NEW.name
                       AND resumed_at_us IS NULL);
    UPDATE prescient_setting
       SET value = max(value + 1, strftime('%s', 'now') * 1000000 + substr(strftime('%f', 'now'), 4) * 1000)
     WHERE name = 'pause_changes';
END;

CREATE TRIGGER prescient_pauses_update INSTEAD OF UPDATE ON prescient_pauses
BEGIN
    SELECT RAISE(ABORT, 'prescient: only state = ''ending'' can be written, with is_reslotted and resumed_by')
     WHERE NEW.state IS NOT 'ending' OR OLD.state <> 'on' OR NEW.what IS NOT OLD.what
        OR NEW.name IS NOT OLD.name;
    UPDATE prescient_pause
       SET resumed_at_us = strftime('%s', 'now') * 1000000 + substr(strftime('%f', 'now'), 4) * 1000,
           resumed_by = NEW.resumed_by, is_reslotted = coalesce(NEW.is_reslotted, 0) <> 0
     WHERE slot_at = OLD.slot_at AND resumed_at_us IS NULL;
    UPDATE prescient_setting
       SET value = max(value + 1, strftime('%s', 'now') * 1000000 + substr(strftime('%f', 'now'), 4) * 1000)
     WHERE name = 'pause_changes';
END;

DROP VIEW prescient_pending;
CREATE VIEW prescient_pending AS
SELECT next_check_at, entity_name, entity_key, job_exec, check_count, failure_count, priority,
       first_check_at, again_at, put_off_at, next_check_at >= 221845392000 AS is_paused
  FROM prescient_future_job WHERE bucket = 0;

-- Nothing else waits there. What was asked for there before nobody would resume. `prescient
-- migrate` tells how many.
INSERT INTO prescient_setting (name, value)
SELECT 'moved_out_of_pauses', count(*) FROM prescient_future_job WHERE next_check_at >= 221845392000
HAVING count(*) > 0;

UPDATE prescient_future_job SET next_check_at = 221845305600 WHERE next_check_at >= 221845392000;

CREATE TRIGGER prescient_enqueue_at_paused INSTEAD OF INSERT ON prescient_enqueue_at
WHEN NEW.at > 221845305600
BEGIN
    SELECT RAISE(ABORT,
                 'prescient: check_at is a time at which paused checks wait: it must lie before the year 9000')
     WHERE NEW.at <= 253402300799;
END;
