-- oldest engine: 42
-- No UPDATE gives a schedule, or a check, an entity that only engines file checks of; nor does an
-- INSERT of a schedule whose name is there already, as that is an UPDATE. 0042_deliveries and
-- 0046_digests looked at new schedules alone: an edit filed a digest that no settings have. A
-- schedule that had such an entity before they came keeps it, and can be switched off.

CREATE TRIGGER prescient_schedule_update_event BEFORE UPDATE OF entity_name ON prescient_schedule
WHEN NEW.entity_name = 'prescient.event' AND OLD.entity_name <> 'prescient.event'
BEGIN
    SELECT RAISE(ABORT,
          'prescient: entity_name is prescient.event, which stands for deliveries: only events file them');
END;

CREATE TRIGGER prescient_schedule_update_digest BEFORE UPDATE OF entity_name ON prescient_schedule
WHEN NEW.entity_name = 'prescient.digest' AND OLD.entity_name <> 'prescient.digest'
BEGIN
    SELECT RAISE(ABORT,
          'prescient: entity_name is prescient.digest, which stands for digests: only engines file them');
END;

-- On PostgreSQL no check changes its entity.
CREATE TRIGGER prescient_future_job_reserved BEFORE UPDATE OF entity_name ON prescient_future_job
WHEN NEW.entity_name <> OLD.entity_name
 AND (NEW.entity_name IN ('prescient.event', 'prescient.digest')
      OR OLD.entity_name IN ('prescient.event', 'prescient.digest'))
BEGIN
    SELECT RAISE(ABORT,
          'prescient: a check keeps its entity: only engines file prescient.event and prescient.digest');
END;
