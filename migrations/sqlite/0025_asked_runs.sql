-- oldest engine: 16
-- The check of a new rule waits in the next slot, where an engine finds the first occurrence, and
-- moves it on unrun if that comes later: `from` in its terms says so. Who asked for the check in
-- that very slot with `earlier` was told that it waits there, and it was not run. That drops `from`
-- now: the slot asked for is an occurrence then. A later slot asked for by `earlier` goes into
-- again_at, since nothing here computes which one comes first. (`replace` and reschedule make a new
-- row, which has no `from`.)

-- Checks with `from`, the slot in which their first occurrence is looked for, and their terms
-- without it. One that has been looked at or was pulled forward runs where it is.
CREATE VIEW prescient_first (id, entity_name, entity_key, job_exec, first_slot, finds_first, found) AS
SELECT f.id, f.entity_name, f.entity_key, f.job_exec,
       (CAST(substr(f.terms, length(rtrim(f.terms, '0123456789')) + 1) AS INTEGER) / s.value + 1) * s.value,
       f.check_count = 0 AND f.failure_count = 0 AND f.deferred_at IS NULL
           AND f.first_check_at = (CAST(substr(f.terms, length(rtrim(f.terms, '0123456789')) + 1) AS INTEGER)
                                   / s.value + 1) * s.value,
       substr(f.terms, 1, length(rtrim(f.terms, '0123456789')) - length(' from '))
  FROM prescient_future_job AS f, prescient_setting AS s
 WHERE f.bucket = 0 AND s.name = 'slot_length_s' AND rtrim(f.terms, '0123456789') GLOB '* from ';

-- Beside prescient_enqueue_at_insert, and the same before and behind it.
CREATE TRIGGER prescient_enqueue_at_first INSTEAD OF INSERT ON prescient_enqueue_at
WHEN NEW.conflict IN ('earlier', 'keep')
 AND EXISTS (SELECT 1 FROM prescient_first WHERE entity_name = NEW.entity_name AND entity_key = NEW.entity_key
             AND job_exec = NEW.job_exec)
BEGIN
    UPDATE prescient_future_job
       SET first_check_at = min(next_check_at, slot), next_check_at = min(next_check_at, slot), terms = found
      FROM (SELECT f.id AS first_id, f.found,
                   max((NEW.at + value - 1) / value * value, (NEW.now / value + 1) * value) AS slot
              FROM prescient_first AS f, prescient_setting AS s
             WHERE s.name = 'slot_length_s' AND f.entity_name = NEW.entity_name
               AND f.entity_key = NEW.entity_key AND f.job_exec = NEW.job_exec AND f.finds_first)
     WHERE NEW.conflict = 'earlier' AND id = first_id AND next_check_at > NEW.now
       AND (slot <= next_check_at OR next_check_at < first_check_at);
    UPDATE prescient_future_job
       SET again_at = min(coalesce(again_at, slot), slot)
      FROM (SELECT f.id AS first_id,
                   max((NEW.at + value - 1) / value * value, (NEW.now / value + 1) * value) AS slot
              FROM prescient_first AS f, prescient_setting AS s
             WHERE s.name = 'slot_length_s' AND f.entity_name = NEW.entity_name
               AND f.entity_key = NEW.entity_key AND f.job_exec = NEW.job_exec AND f.finds_first)
     WHERE NEW.conflict = 'earlier' AND id = first_id AND next_check_at > NEW.now;
    -- an edit may have asked for that slot only to find the first occurrence there
    UPDATE prescient_future_job
       SET terms = found
      FROM (SELECT f.id AS first_id, f.found, f.first_slot,
                   max((NEW.at + value - 1) / value * value, (NEW.now / value + 1) * value) AS slot
              FROM prescient_first AS f, prescient_setting AS s
             WHERE s.name = 'slot_length_s' AND f.entity_name = NEW.entity_name
               AND f.entity_key = NEW.entity_key AND f.job_exec = NEW.job_exec)
     WHERE id = first_id AND next_check_at <= NEW.now AND slot = first_slot
       AND slot <= coalesce(again_at, slot);
END;
