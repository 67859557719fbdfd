-- 0014_put_off - a check that is put off without having been run stays late.
-- oldest engine: 1
--
-- A check of a job that no engine has was moved ahead again and again, a day at most, and each time
-- it was no longer overdue: no report showed it, for ever. put_off_at has the slot at which it was
-- due. Reports count from there, and a guard ends what nobody has run for the horizon.
--
-- An engine from before this migration leaves the column as it is when it runs a check. Then the
-- check is reported as put off until a newer engine has run it.

ALTER TABLE prescient.future_job ADD COLUMN put_off_at timestamptz;
COMMENT ON COLUMN prescient.future_job.put_off_at IS
    'The slot at which it was due and was put off without having been run; NULL: it was not.';

-- On a large table the index would keep applications waiting: there `init` and `migrate` build it
-- CONCURRENTLY when all migrations are in.
DO $$
BEGIN
    IF (SELECT count(*) FROM (SELECT FROM prescient.future_job LIMIT 20001) few) <= 20000 THEN
        CREATE INDEX future_job_put_off ON prescient.future_job (put_off_at) WHERE put_off_at IS NOT NULL;
    END IF;
END $$;

-- As 0009_asked has it; a new life has not been put off.
CREATE OR REPLACE FUNCTION prescient.file_again(entity text, key text, job text, slot timestamptz,
                                                at timestamptz, new_payload json, conflict text,
                                     new_priority integer, OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    in_bucket CONSTANT integer := prescient.bucket_of(entity, key);
    old record;
    begun boolean;
BEGIN
    SELECT f.next_check_at INTO old FROM prescient.future_job f
     WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    begun := old.next_check_at <= coalesce(at, clock_timestamp());
    IF NOT begun AND (conflict = 'keep' OR (conflict = 'earlier' AND slot >= old.next_check_at)) THEN
        SELECT f.next_check_at INTO old FROM prescient.future_job f
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
           FOR KEY SHARE;
        IF NOT FOUND THEN
            RETURN;
        END IF;
        begun := old.next_check_at <= coalesce(at, clock_timestamp());
        IF NOT begun AND (conflict = 'keep' OR slot >= old.next_check_at) THEN
            outcome := 'kept';
            filed_at := old.next_check_at;
            RETURN;
        END IF;
    END IF;

    IF begun AND conflict <> 'replace' THEN
        SELECT f.* INTO old FROM prescient.future_job f
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
           FOR NO KEY UPDATE;
    ELSE
        SELECT f.* INTO old FROM prescient.future_job f
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
           FOR UPDATE;
    END IF;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    begun := old.next_check_at <= coalesce(at, clock_timestamp());
    IF conflict = 'replace' THEN
        -- A new id by UPDATE: a settle of the old one touches nothing, and a concurrent resolve
        -- still meets the row.
        outcome := 'replaced';
        UPDATE prescient.future_job f
           SET id = prescient.new_id(slot, in_bucket, new_priority), first_check_at = slot,
               next_check_at = slot, check_count = 0, failure_count = 0,
               priority = new_priority, payload = new_payload, again_at = NULL,
                   deferred_at = NULL, first_run_at = NULL,
               run_count = NULL, total_run_us = NULL, origin = NULL, put_off_at = NULL
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
        RETURNING f.next_check_at INTO filed_at;
    ELSIF begun THEN
        outcome := 'kept';
        filed_at := CASE WHEN conflict = 'earlier' THEN least(old.again_at, slot)
            ELSE coalesce(old.again_at, slot) END;
        UPDATE prescient.future_job f SET again_at = filed_at
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
           AND f.again_at IS DISTINCT FROM filed_at;
    ELSIF conflict = 'earlier' AND slot < old.next_check_at THEN
        outcome := 'moved';
        filed_at := slot;
        IF EXISTS (SELECT FROM prescient.future_job f
                    WHERE f.next_check_at = slot AND f.bucket = in_bucket
                    AND f.priority = old.priority AND f.id = old.id) THEN
            UPDATE prescient.future_job f
               SET next_check_at = slot, id = prescient.new_id(slot, in_bucket, old.priority),
                   origin = prescient.origin_of(old.origin, old.first_check_at, old.id)
             WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key
             AND f.job_exec = job;
        ELSE
            UPDATE prescient.future_job f SET next_check_at = slot
             WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key
             AND f.job_exec = job;
        END IF;
    ELSE
        outcome := 'kept';
        filed_at := old.next_check_at;
    END IF;
END $$;

-- A new life of a pending check at another time; `at` NULL: the database's clock.
CREATE OR REPLACE FUNCTION prescient.reschedule_at(entity text, key text, job text,
                                                   check_at timestamptz, at timestamptz,
                                                   OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    slot timestamptz;
BEGIN
    PERFORM prescient.require_check(entity, key, job, check_at, NULL, 'keep');
    PERFORM pg_current_xact_id();
    -- the slot length (set_slot_length) stays as it is until this transaction is over
    LOCK TABLE prescient.future_job IN ROW EXCLUSIVE MODE;
    slot := prescient.slot_for(check_at, coalesce(at, clock_timestamp()));
    FOR look IN 1 .. 2 LOOP
        UPDATE prescient.future_job f
           SET id = prescient.new_id(slot, f.bucket, f.priority), first_check_at = slot,
               next_check_at = slot, check_count = 0, failure_count = 0,
               again_at = NULL, deferred_at = NULL, first_run_at = NULL, run_count = NULL,
                   total_run_us = NULL, origin = NULL, put_off_at = NULL
         WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity
         AND f.entity_key = key AND f.job_exec = job
        RETURNING f.next_check_at INTO filed_at;
        EXIT WHEN FOUND;
    END LOOP;
    outcome := CASE WHEN filed_at IS NULL THEN 'not_found' ELSE 'moved' END;
END $$;
