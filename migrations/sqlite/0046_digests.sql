-- oldest engine: 42
-- No application files a check of the entity prescient.digest: its job would be run with no
-- document, and a listener that comes later would find its key taken. Those that engines file can
-- be resolved, rescheduled and paused.

CREATE TRIGGER prescient_enqueue_at_digest INSTEAD OF INSERT ON prescient_enqueue_at
WHEN NEW.entity_name = 'prescient.digest'
BEGIN
    SELECT RAISE(ABORT,
          'prescient: entity_name is prescient.digest, which stands for digests: only engines file them');
END;

CREATE TRIGGER prescient_schedule_digest BEFORE INSERT ON prescient_schedule
WHEN NEW.entity_name = 'prescient.digest'
 AND NOT EXISTS (SELECT 1 FROM prescient_schedule s WHERE s.name = NEW.name)
BEGIN
    SELECT RAISE(ABORT,
          'prescient: entity_name is prescient.digest, which stands for digests: only engines file them');
END;

-- As 0042_deliveries has it, and a digest keeps its terms as a delivery does.
DROP TRIGGER prescient_reschedule_insert;

CREATE TRIGGER prescient_reschedule_insert INSTEAD OF INSERT ON prescient_reschedule
BEGIN
    INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload, conflict, priority,
                                   now)
    SELECT CASE WHEN entity_name IN ('prescient.event', 'prescient.digest') THEN 'prescient.event that moves'
                ELSE entity_name END,
           entity_key, job_exec, NEW.check_at,
           CASE WHEN entity_name IN ('prescient.event', 'prescient.digest') THEN NULL ELSE payload END,
           'replace', priority, NEW.now
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
     WHERE NEW.entity_name IN ('prescient.event', 'prescient.digest') AND bucket = 0
       AND entity_name = NEW.entity_name AND entity_key = NEW.entity_key AND job_exec = NEW.job_exec;
    DELETE FROM prescient_future_job
     WHERE bucket = 0 AND entity_name = 'prescient.event that moves' AND entity_key = NEW.entity_key
       AND job_exec = NEW.job_exec;
END;
