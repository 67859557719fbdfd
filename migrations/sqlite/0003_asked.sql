-- oldest engine: 1
-- What an answer declares, and a life that begins anew, keep their idempotency key when the settle
-- that wrote them is lost and made again: `origin` says what the key is made of where that is not
-- (first_check_at, id). And one rule for payloads at every way in: JSON that the library takes by
-- which engines and jobs read it, so that no check waits for an answer that its job can never give.

ALTER TABLE prescient_future_job ADD COLUMN origin TEXT;

DROP VIEW prescient_enqueue_at;

CREATE VIEW prescient_enqueue_at (entity_name, entity_key, job_exec, at, payload, conflict,
                                  priority, now, origin) AS
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;

-- An escaped backslash is taken out first: what is left of \u is an escape.
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
           WHEN NEW.payload IS NOT NULL AND (
                instr(replace(NEW.payload, '\\', ''), '\u0000') > 0
                OR EXISTS (SELECT 1 FROM json_tree(NEW.payload)
                            WHERE (type = 'integer' AND typeof(atom) = 'real')
                            OR (type = 'real' AND abs(atom) = 9e999)))
           THEN RAISE(ABORT,
                      'prescient: payload is JSON that jobs cannot read: expected no \u0000, no integer beyond 64 bits and no number beyond 1.8e308')
           WHEN NEW.priority IS NULL OR CAST(NEW.priority AS INTEGER) NOT BETWEEN -2147483648 AND 2147483647
           THEN RAISE(ABORT, 'prescient: priority must fit in 32 bits')
           END;
    INSERT INTO prescient_text
    VALUES (NEW.entity_name || char(10) || NEW.entity_key || char(10) || NEW.job_exec
            || char(10) || coalesce(NEW.payload, ''));
    SELECT RAISE(ABORT, 'prescient: payload is JSON that jobs cannot read: it has half of a surrogate pair')
     WHERE NEW.payload LIKE '%\ud%' AND EXISTS (
        WITH RECURSIVE walk (piece, rest) AS (
            SELECT '', lower(replace(NEW.payload, '\\', ''))
            UNION ALL
            SELECT substr(rest, instr(rest, '\ud'), 12),
                   substr(rest, instr(rest, '\ud') + CASE
                          WHEN substr(rest, instr(rest, '\ud'), 12) GLOB
                              '\ud[89ab][0-9a-f][0-9a-f]\ud[c-f][0-9a-f][0-9a-f]' THEN 12 ELSE 6 END)
              FROM walk WHERE instr(rest, '\ud') > 0
        )
        SELECT 1 FROM walk WHERE piece GLOB '\ud[89a-f]*'
            AND piece NOT GLOB '\ud[89ab][0-9a-f][0-9a-f]\ud[c-f][0-9a-f][0-9a-f]');
    SELECT RAISE(ABORT, 'prescient: check_at must lie in the years 1970 to 9999')
      FROM prescient_setting
     WHERE name = 'slot_length_s' AND max((NEW.at + value - 1) / value * value,
                                          (NEW.now / value + 1) * value) > 253402300799;
    DELETE FROM prescient_future_job
     WHERE NEW.conflict = 'replace' AND bucket = 0 AND entity_name = NEW.entity_name
     AND entity_key = NEW.entity_key
       AND job_exec = NEW.job_exec;
    INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at,
                                      next_check_at, priority, payload,
                                      origin)
    SELECT NEW.entity_name, NEW.entity_key, NEW.job_exec, slot, slot, NEW.priority, NEW.payload, NEW.origin
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
