-- oldest engine: 16
-- An UPDATE or INSERT of the views of schedules and pauses that gives what cannot be written is
-- refused. It was taken, and that part of it ignored: `SET is_active = NULL` left a schedule on.

-- As 0013_schedules has it, and the refusals.
DROP TRIGGER prescient_schedules_update;

CREATE TRIGGER prescient_schedules_update INSTEAD OF UPDATE ON prescient_schedules
BEGIN
    SELECT CASE
           WHEN NEW.name IS NOT OLD.name
           THEN RAISE(ABORT, 'prescient: a schedule keeps its name: insert another one and delete this one')
           WHEN NEW.is_active IS NULL OR NEW.is_active NOT IN (0, 1)
           THEN RAISE(ABORT, 'prescient: is_active must be 0 or 1')
           WHEN NEW.next_check_at IS NOT OLD.next_check_at OR NEW.made_at_us IS NOT OLD.made_at_us
             OR NEW.changed_at_us IS NOT OLD.changed_at_us OR NEW.switched_at_us IS NOT OLD.switched_at_us
           THEN RAISE(ABORT,
             'prescient: next_check_at, made_at_us, changed_at_us and switched_at_us are only read')
           WHEN NEW.switched_why IS NOT OLD.switched_why AND NEW.is_active = OLD.is_active
           THEN RAISE(ABORT, 'prescient: switched_why is written with an is_active that changes')
           END;
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

-- One that is there and off stays off when it is inserted again.
CREATE TRIGGER prescient_schedules_insert_active INSTEAD OF INSERT ON prescient_schedules
WHEN NEW.is_active IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'prescient: a schedule is on when it is made: UPDATE switches it off')
     WHERE NEW.is_active IS NOT 1;
END;

-- As 0016_pauses has it, and the refusals.
DROP TRIGGER prescient_pauses_update;

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

CREATE TRIGGER prescient_pauses_insert_required INSTEAD OF INSERT ON prescient_pauses
BEGIN
    SELECT RAISE(ABORT, 'prescient: only what, name, reason and paused_by of a pause can be given')
     WHERE coalesce(NEW.state, 'on') <> 'on' OR coalesce(NEW.is_reslotted, 0) <> 0
        OR coalesce(NEW.checks, NEW.paused_at_us, NEW.resumed_at_us, NEW.resumed_by, NEW.ended_at_us,
                    NEW.slot_at) IS NOT NULL;
END;
