-- oldest engine: 1
-- Each whole second is a slot: what cannot wait for the next multiple of the slot length (a full
-- slot, from now on) is filed under a second between two of them, a fine slot. Every view from
-- before files as it did. Engines from before this migration run fine slots as late ones, when the
-- full slot is over that they lie in.

-- The two CHECKs that had the slot length in them go, and change nothing in the rows: so the text
-- of the table is edited, as SQLite's own words on ALTER TABLE describe it.
PRAGMA writable_schema = ON;

UPDATE sqlite_schema
   SET sql = substr(sql, 1, instr(sql, 'CONSTRAINT "next_check_at must be a slot') - 1)
             || substr(sql, instr(sql, 'CONSTRAINT "next_check_at must lie'))
 WHERE type = 'table' AND name = 'prescient_future_job'
   AND instr(sql, 'CONSTRAINT "next_check_at must lie')
       > instr(sql, 'CONSTRAINT "next_check_at must be a slot')
   AND instr(sql, 'CONSTRAINT "next_check_at must be a slot') > 0;

PRAGMA writable_schema = RESET;

-- INSERT INTO prescient_enqueue_now (entity_name, entity_key, job_exec)
-- VALUES ('orders', '42', 'unshipped_order'): the check is run in the next second.
-- May also be given: payload (JSON text), conflict ('earlier', the default, 'keep', 'replace'),
-- priority (0), now (the clock).
CREATE VIEW prescient_enqueue_now (entity_name, entity_key, job_exec, payload, conflict, priority, now) AS
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;

-- A check that waits already first, if it is to: then prescient_enqueue leaves it as it is. What
-- prescient_enqueue_at files anew it marks by its origin, and that is moved to the fine slot.
CREATE TRIGGER prescient_enqueue_now_insert INSTEAD OF INSERT ON prescient_enqueue_now
BEGIN
    SELECT RAISE(ABORT, 'prescient: now must be whole seconds since the epoch')
     WHERE NEW.now IS NOT NULL AND (typeof(NEW.now) <> 'integer' OR NEW.now NOT BETWEEN 0 AND 253402300799);
    UPDATE prescient_future_job
       SET again_at = CASE WHEN next_check_at > at THEN again_at
                           WHEN NEW.conflict = 'keep' THEN coalesce(again_at, slot)
                           ELSE min(coalesce(again_at, slot), slot) END,
           next_check_at = CASE WHEN next_check_at > at AND coalesce(NEW.conflict, 'earlier') = 'earlier'
                                THEN min(next_check_at, slot) ELSE next_check_at END
      FROM (SELECT at, at + 1 + (length_s > 1 AND (at + 1) % length_s = 0) AS slot
              FROM (SELECT coalesce(NEW.now, CAST(strftime('%s', 'now') AS INTEGER)) AS at,
                           value AS length_s FROM prescient_setting WHERE name = 'slot_length_s'))
     WHERE coalesce(NEW.conflict, 'earlier') IN ('earlier', 'keep') AND bucket = 0
       AND entity_name = NEW.entity_name AND entity_key = NEW.entity_key AND job_exec = NEW.job_exec;
    INSERT INTO prescient_enqueue_at (entity_name, entity_key, job_exec, at, payload, conflict, priority, now,
                                      origin)
    SELECT NEW.entity_name, NEW.entity_key, NEW.job_exec, at, NEW.payload, coalesce(NEW.conflict, 'earlier'),
           coalesce(NEW.priority, 0), at, 'now'
      FROM (SELECT coalesce(NEW.now, CAST(strftime('%s', 'now') AS INTEGER)) AS at);
    UPDATE prescient_future_job SET first_check_at = slot, next_check_at = slot, origin = NULL
      FROM (SELECT at + 1 + (length_s > 1 AND (at + 1) % length_s = 0) AS slot
              FROM (SELECT coalesce(NEW.now, CAST(strftime('%s', 'now') AS INTEGER)) AS at,
                           value AS length_s FROM prescient_setting WHERE name = 'slot_length_s'))
     WHERE bucket = 0 AND entity_name = NEW.entity_name AND entity_key = NEW.entity_key
       AND job_exec = NEW.job_exec AND origin = 'now';
END;
