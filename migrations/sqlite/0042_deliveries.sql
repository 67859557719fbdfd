-- oldest engine: 42
-- An event that a listener hears has a delivery: a check of its own, of the entity prescient.event.
-- A program from before this migration takes its terms for those of a schedule that it cannot read.
--
-- No application asks for checks of that entity: they would have no event. Those that are there can
-- be resolved, rescheduled and paused.

-- Of an event that a listener heard: with the listener's name it is the entity_key of its delivery.
ALTER TABLE prescient_event ADD COLUMN origin TEXT;

CREATE TRIGGER prescient_enqueue_at_event INSTEAD OF INSERT ON prescient_enqueue_at
WHEN NEW.entity_name = 'prescient.event'
BEGIN
    SELECT RAISE(ABORT,
          'prescient: entity_name is prescient.event, which stands for deliveries: only events file them');
END;

CREATE TRIGGER prescient_schedule_event BEFORE INSERT ON prescient_schedule
WHEN NEW.entity_name = 'prescient.event'
 AND NOT EXISTS (SELECT 1 FROM prescient_schedule s WHERE s.name = NEW.name)
BEGIN
    SELECT RAISE(ABORT,
          'prescient: entity_name is prescient.event, which stands for deliveries: only events file them');
END;

-- As 0001_init has it. A delivery keeps its terms, and gets a new id: what is being answered of the
-- old one is not written. Slot and id are those that another check gets for a moment.
DROP TRIGGER prescient_reschedule_insert;

CREATE TRIGGER prescient_reschedule_insert INSTEAD OF INSERT ON prescient_reschedule
BEGIN
    INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload, conflict, priority,
                                   now)
    SELECT CASE entity_name WHEN 'prescient.event' THEN 'prescient.event that moves' ELSE entity_name END,
           entity_key, job_exec, NEW.check_at,
           CASE entity_name WHEN 'prescient.event' THEN NULL ELSE payload END, 'replace', priority, NEW.now
      FROM prescient_future_job
     WHERE bucket = 0 AND entity_name = NEW.entity_name AND entity_key = NEW.entity_key
       AND job_exec = NEW.job_exec;
    UPDATE prescient_future_job SET id = -id
     WHERE bucket = 0 AND entity_name = 'prescient.event that moves' AND entity_key = NEW.entity_key
       AND job_exec = NEW.job_exec;
    UPDATE prescient_future_job
       SET id = -f.new_id, first_check_at = f.slot, next_check_at = f.slot, check_count = 0,
           failure_count = 0, again_at = NULL, deferred_at = NULL, put_off_at = NULL, run_count = 0,
           first_run_at_us = NULL, total_run_us = 0
      FROM (SELECT id AS new_id, next_check_at AS slot FROM prescient_future_job
             WHERE bucket = 0 AND entity_name = 'prescient.event that moves'
               AND entity_key = NEW.entity_key AND job_exec = NEW.job_exec) AS f
     WHERE NEW.entity_name = 'prescient.event' AND bucket = 0 AND entity_name = NEW.entity_name
       AND entity_key = NEW.entity_key AND job_exec = NEW.job_exec;
    DELETE FROM prescient_future_job
     WHERE bucket = 0 AND entity_name = 'prescient.event that moves' AND entity_key = NEW.entity_key
       AND job_exec = NEW.job_exec;
END;
