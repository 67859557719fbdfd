-- oldest engine: 35
-- The check of a rule that is to find its first time runs at no other time. SQL files it under the
-- next slot, where an engine finds the first occurrence. That this is still to be done was seen by
-- the slot alone: it is the first one after `from`. An edit wrote a new `from` beside a check whose
-- slot had begun, and a new slot length made another slot the first one after it. Then the check
-- looked like one that had found an occurrence in its slot, and ran there. Now `sought` in its
-- terms keeps that slot (rules/terms.h).
--
-- A program from before this migration cannot read the word, and leaves such a check to others.

DROP TRIGGER prescient_enqueue_at_first;
DROP TRIGGER prescient_file_scheduled_insert;
DROP VIEW prescient_first;

-- As 0025_asked_runs has it. since: from when on the rule holds. kept: the terms without that;
-- found: without `sought`, too.
CREATE VIEW prescient_first (id, entity_name, entity_key, job_exec, since, first_slot, sought, finds_first,
                             kept, found) AS
SELECT id, entity_name, entity_key, job_exec, since, (since / value + 1) * value, sought,
       is_fresh AND (first_check_at = (since / value + 1) * value OR coalesce(first_check_at = sought, 0)),
       kept, CASE WHEN sought IS NULL THEN kept
                  ELSE substr(kept, 1, length(rtrim(kept, '0123456789')) - length(' sought ')) END
  FROM (SELECT id, entity_name, entity_key, job_exec, first_check_at, since, kept, is_fresh,
               CASE WHEN rtrim(kept, '0123456789') GLOB '* sought '
                    THEN CAST(substr(kept, length(rtrim(kept, '0123456789')) + 1) AS INTEGER) END AS sought
          FROM (SELECT f.id, f.entity_name, f.entity_key, f.job_exec, f.first_check_at,
                       CAST(substr(f.terms, length(rtrim(f.terms, '0123456789')) + 1) AS INTEGER) AS since,
                       substr(f.terms, 1, length(rtrim(f.terms, '0123456789')) - length(' from ')) AS kept,
                       f.check_count = 0 AND f.failure_count = 0 AND f.deferred_at IS NULL AS is_fresh
                  FROM prescient_future_job AS f
                 WHERE f.bucket = 0 AND rtrim(f.terms, '0123456789') GLOB '* from ')),
       prescient_setting
 WHERE name = 'slot_length_s';

-- As 0013_schedules has it. In a slot that has begun, a check that was only to find its first
-- occurrence there does that by the new rule: one of the rule before that nobody has found is none.
CREATE TRIGGER prescient_file_scheduled_insert INSTEAD OF INSERT ON prescient_file_scheduled
BEGIN
    UPDATE prescient_future_job
       SET terms = s.rule || coalesce((SELECT ' sought ' || first_check_at FROM prescient_first AS f
                                        WHERE f.id = prescient_future_job.id AND f.finds_first
                                          AND next_check_at >= first_check_at), '')
                   || ' from ' || max(NEW.now, 1),
           payload = s.payload,
           -- an earlier edit may have asked for a slot only to find its first occurrence there
           again_at = CASE WHEN EXISTS (SELECT 1 FROM prescient_first AS f
                                         WHERE f.id = prescient_future_job.id
                                           AND (again_at = f.first_slot OR again_at = f.sought))
                           THEN n.slot ELSE min(coalesce(again_at, n.slot), n.slot) END
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

-- As 0025_asked_runs has it. Without `from` a rule would hold for the time before an edit, too, and
-- `missed run_all` would make up for that.
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
    -- an edit may have asked for that slot only to find the first occurrence there: the rule holds
    -- from there on
    UPDATE prescient_future_job
       SET terms = CASE WHEN slot = sought THEN found ELSE kept END || ' from ' || slot
      FROM (SELECT f.id AS first_id, f.kept, f.found, f.first_slot, f.sought,
                   max((NEW.at + value - 1) / value * value, (NEW.now / value + 1) * value) AS slot
              FROM prescient_first AS f, prescient_setting AS s
             WHERE s.name = 'slot_length_s' AND f.entity_name = NEW.entity_name
               AND f.entity_key = NEW.entity_key AND f.job_exec = NEW.job_exec)
     WHERE id = first_id AND next_check_at <= NEW.now AND (slot = first_slot OR coalesce(slot = sought, 0))
       AND slot <= coalesce(again_at, slot);
END;
