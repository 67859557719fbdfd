-- 0004_pauses - the checks of a job, an entity, a schedule or a tenant wait until they are resumed.
--
-- Each pause has a slot of its own that never begins: a day from the year 9000 on (221845392000),
-- which is a slot at every slot length. While the pause is on, an engine that reads one of its
-- checks moves it there unrun. When it was resumed, engines read its slot page by page and file the
-- checks anew. The pause is over when its slot is empty, and closed or was never opened.

-- ---- what is refused ----------------------------------------------------------------------------

-- Who in 255 bytes and why in 4096: both are printed wherever the pause is.
CREATE TRIGGER prescient_pause_insert_required BEFORE INSERT ON prescient_pause
BEGIN
    SELECT CASE
           WHEN length(CAST(NEW.paused_by AS BLOB)) > 255 OR instr(NEW.paused_by, char(0)) <> 0
           THEN RAISE(ABORT, 'prescient: paused_by must have at most 255 bytes and no NUL')
           WHEN NEW.what IS NULL OR NEW.what NOT IN ('job', 'entity', 'schedule', 'tenant')
           THEN RAISE(ABORT, 'prescient: what must be job, entity, schedule or tenant')
           WHEN coalesce(length(CAST(NEW.name AS BLOB)), 0) NOT BETWEEN 1 AND 1024
             OR instr(NEW.name, char(0)) <> 0
           THEN RAISE(ABORT, 'prescient: name must have 1 to 1024 bytes and no NUL')
           WHEN length(CAST(NEW.reason AS BLOB)) > 4096
           THEN RAISE(ABORT, 'prescient: reason must have at most 4096 bytes')
           END;
END;

CREATE TRIGGER prescient_pause_update_required BEFORE UPDATE OF resumed_by ON prescient_pause
BEGIN
    SELECT RAISE(ABORT, 'prescient: resumed_by must have at most 255 bytes and no NUL')
     WHERE length(CAST(NEW.resumed_by AS BLOB)) > 255 OR instr(NEW.resumed_by, char(0)) <> 0;
END;

-- ---- the view of applications -------------------------------------------------------------------

-- The slot of the next pause: the day after the newest one's, since an engine may still know an
-- older slot as another pause's. When the last day (253402214400) is used, the first free day after
-- another pause's. A day that holds checks, or is a pause's, is passed over.
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

-- INSERT INTO prescient_pauses (what, name, reason)
-- VALUES ('job', 'unshipped_order', 'the shop moves'): the checks of the job wait. `what` is job,
-- entity, schedule or tenant. paused_by may be given. What is paused already stays as it is.
-- UPDATE prescient_pauses SET state = 'ending'
--  WHERE what = 'job' AND name = 'unshipped_order' AND state = 'on': they are resumed.
-- is_reslotted = 1 files them under the next slot together; resumed_by may be given.
-- state: on; ending: resumed, and some checks are still there; over. checks: how many are there;
-- 10000 stands for that many or more.
CREATE VIEW prescient_pauses (what, name, state, checks, paused_at_us, paused_by, reason, resumed_at_us,
                              resumed_by, is_reslotted, ended_at_us, slot_at) AS
SELECT what, name,
       CASE WHEN resumed_at_us IS NULL THEN 'on' WHEN ended_at_us IS NULL THEN 'ending' ELSE 'over' END,
       (SELECT count(*) FROM (SELECT 1 FROM prescient_future_job AS f WHERE f.next_check_at = p.slot_at
                              LIMIT 10000)),
       paused_at_us, paused_by, reason, resumed_at_us, resumed_by, is_reslotted, ended_at_us, slot_at
  FROM prescient_pause AS p;

CREATE TRIGGER prescient_pauses_insert INSTEAD OF INSERT ON prescient_pauses
BEGIN
    SELECT RAISE(ABORT, 'prescient: only what, name, reason and paused_by of a pause can be given')
     WHERE coalesce(NEW.state, 'on') <> 'on' OR coalesce(NEW.is_reslotted, 0) <> 0
        OR coalesce(NEW.checks, NEW.paused_at_us, NEW.resumed_at_us, NEW.resumed_by, NEW.ended_at_us,
                    NEW.slot_at) IS NOT NULL;
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
        OR NEW.name IS NOT OLD.name OR NEW.checks IS NOT OLD.checks OR NEW.slot_at IS NOT OLD.slot_at
        OR NEW.paused_at_us IS NOT OLD.paused_at_us OR NEW.paused_by IS NOT OLD.paused_by
        OR NEW.reason IS NOT OLD.reason OR NEW.resumed_at_us IS NOT OLD.resumed_at_us
        OR NEW.ended_at_us IS NOT OLD.ended_at_us;
    SELECT RAISE(ABORT, 'prescient: is_reslotted must be 0 or 1')
     WHERE NEW.is_reslotted IS NOT NULL AND NEW.is_reslotted NOT IN (0, 1);
    UPDATE prescient_pause
       SET resumed_at_us = strftime('%s', 'now') * 1000000 + substr(strftime('%f', 'now'), 4) * 1000,
           resumed_by = NEW.resumed_by, is_reslotted = coalesce(NEW.is_reslotted, 0)
     WHERE slot_at = OLD.slot_at AND resumed_at_us IS NULL;
    UPDATE prescient_setting
       SET value = max(value + 1, strftime('%s', 'now') * 1000000 + substr(strftime('%f', 'now'), 4) * 1000)
     WHERE name = 'pause_changes';
END;
