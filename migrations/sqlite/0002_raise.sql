-- oldest engine: 1
-- What a view refuses, it refuses whatever the application's statement says. Under INSERT OR IGNORE
-- and UPDATE OR IGNORE, SQLite takes the outer statement's word for what is to become of a refused
-- row in triggers, too: a CHECK or NOT NULL of prescient_future_job then dropped the check and kept
-- the order. RAISE(ABORT) alone has its way, and takes the whole statement back. So the table's
-- conditions are asked here before it is written to.

DROP TRIGGER prescient_enqueue_at_insert;

CREATE TRIGGER prescient_enqueue_at_insert INSTEAD OF INSERT ON prescient_enqueue_at
BEGIN
    SELECT CASE
           WHEN NEW.at IS NULL OR NEW.at NOT BETWEEN 0 AND 253402300799
           THEN RAISE(ABORT, 'prescient: check_at must lie in the years 1970 to 9999')
           WHEN typeof(NEW.now) <> 'integer'
           THEN RAISE(ABORT, 'prescient: now must be whole seconds since the epoch')
           WHEN NEW.conflict IS NULL OR NEW.conflict NOT IN ('keep', 'earlier', 'replace')
           THEN RAISE(ABORT, 'prescient: conflict must be keep, earlier or replace')
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
           WHEN NEW.priority IS NULL OR CAST(NEW.priority AS INTEGER) NOT BETWEEN -2147483648 AND 2147483647
           THEN RAISE(ABORT, 'prescient: priority must fit in 32 bits')
           END;
    INSERT INTO prescient_text
    VALUES (NEW.entity_name || char(10) || NEW.entity_key || char(10) || NEW.job_exec
            || char(10) || coalesce(NEW.payload, ''));
    SELECT RAISE(ABORT, 'prescient: check_at must lie in the years 1970 to 9999')
      FROM prescient_setting
     WHERE name = 'slot_length_s' AND max((NEW.at + value - 1) / value * value,
                                          (NEW.now / value + 1) * value) > 253402300799;
    DELETE FROM prescient_future_job
     WHERE NEW.conflict = 'replace' AND bucket = 0 AND entity_name = NEW.entity_name
     AND entity_key = NEW.entity_key
       AND job_exec = NEW.job_exec;
    INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at,
                                      next_check_at, priority, payload)
    SELECT NEW.entity_name, NEW.entity_key, NEW.job_exec, slot, slot, NEW.priority, NEW.payload
      FROM (SELECT max((NEW.at + value - 1) / value * value, (NEW.now / value + 1) * value) AS slot
              FROM prescient_setting WHERE name = 'slot_length_s') WHERE true
    ON CONFLICT (bucket, entity_name, entity_key, job_exec) DO UPDATE SET
        again_at = CASE WHEN next_check_at > NEW.now THEN again_at
                        WHEN again_at IS NULL OR (NEW.conflict = 'earlier'
                                                  AND again_at > excluded.next_check_at)
                        THEN excluded.next_check_at ELSE again_at END,
        next_check_at = CASE WHEN next_check_at > NEW.now THEN min(next_check_at, excluded.next_check_at)
            ELSE next_check_at END
     WHERE next_check_at <= NEW.now OR (NEW.conflict = 'earlier' AND next_check_at > excluded.next_check_at);
END;

-- A time that is no whole number of seconds was taken for one of 1970.
DROP TRIGGER prescient_resolve_insert;

CREATE TRIGGER prescient_resolve_insert INSTEAD OF INSERT ON prescient_resolve
BEGIN
    SELECT RAISE(ABORT, 'prescient: entity_name and entity_key must be given')
     WHERE NEW.entity_name IS NULL OR NEW.entity_key IS NULL;
    SELECT RAISE(ABORT, 'prescient: now must be whole seconds since the epoch')
     WHERE NEW.now IS NOT NULL AND (typeof(NEW.now) <> 'integer' OR NEW.now NOT BETWEEN 0 AND 253402300799);
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
