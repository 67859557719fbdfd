-- 0046_asked_runs - what is asked for is run, also before a schedule's first occurrence is found.
-- oldest engine: 36
--
-- The check of a new rule waits in the next slot, where an engine finds the first occurrence, and
-- moves it on unrun if that comes later: `from` in its terms says so. Who asked for the check in
-- that very slot was told that it waits there (`earlier`) or starts there (`replace`, reschedule),
-- and it was not run. These calls drop `from`: the slot asked for is an occurrence then. A later
-- slot asked for by `earlier` goes into again_at: nothing here computes which one comes first.
--
-- `retry` finds the check of a schedule waiting for the next occurrence. It starts that anew at the
-- slot asked for, so that the next occurrence, which the rule counts from there, is not used up.

-- The slot in which the first occurrence is looked for; NULL: that was done.
CREATE FUNCTION prescient.first_slot_of(terms text) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT prescient.slot_next(to_timestamp(substring(terms FROM ' from ([0-9]{1,12})$')::bigint)) $$;

CREATE FUNCTION prescient.terms_from_found(terms text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT regexp_replace(terms, ' from [0-9]+$', '') $$;

-- Whether the check is to find its first occurrence (run/recurring.c). One that has been looked at
-- or was pulled forward runs where it is.
CREATE FUNCTION prescient.finds_first(f prescient.future_job) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN f.terms IS NULL THEN false
                ELSE f.check_count = 0 AND f.failure_count = 0 AND f.deferred_at IS NULL
                     AND f.next_check_at >= f.first_check_at
                     AND coalesce(f.first_check_at = prescient.first_slot_of(f.terms), false) END $$;

-- As 0014_put_off has it, but for what is said above.
CREATE OR REPLACE FUNCTION prescient.file_again(entity text, key text, job text, slot timestamptz,
                                                at timestamptz, new_payload json, conflict text,
                                                new_priority integer,
                                                OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    in_bucket CONSTANT integer := prescient.bucket_of(entity, key);
    old record;
    begun boolean;
    is_first boolean;
BEGIN
    SELECT f.next_check_at, prescient.finds_first(f) AS finds_first INTO old FROM prescient.future_job f
     WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    begun := old.next_check_at <= coalesce(at, clock_timestamp());
    IF NOT begun AND (conflict = 'keep' OR (conflict = 'earlier' AND slot >= old.next_check_at
                                            AND NOT old.finds_first)) THEN
        SELECT f.next_check_at, prescient.finds_first(f) AS finds_first INTO old FROM prescient.future_job f
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
           FOR KEY SHARE;
        IF NOT FOUND THEN
            RETURN;
        END IF;
        begun := old.next_check_at <= coalesce(at, clock_timestamp());
        IF NOT begun AND (conflict = 'keep' OR (slot >= old.next_check_at AND NOT old.finds_first)) THEN
            outcome := 'kept';
            filed_at := old.next_check_at;
            RETURN;
        END IF;
    END IF;

    IF begun AND conflict <> 'replace' THEN
        SELECT f.*, prescient.finds_first(f) AS finds_first INTO old FROM prescient.future_job f
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
           FOR NO KEY UPDATE;
    ELSE
        SELECT f.*, prescient.finds_first(f) AS finds_first INTO old FROM prescient.future_job f
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
               run_count = NULL, total_run_us = NULL, origin = NULL, put_off_at = NULL,
               terms = prescient.terms_from_found(f.terms)
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
        RETURNING f.next_check_at INTO filed_at;
    ELSIF begun THEN
        outcome := 'kept';
        filed_at := CASE WHEN conflict = 'earlier' THEN least(old.again_at, slot)
            ELSE coalesce(old.again_at, slot) END;
        -- an edit may have asked for that slot only to find the first occurrence there
        is_first := slot = filed_at AND coalesce(slot = prescient.first_slot_of(old.terms), false);
        UPDATE prescient.future_job f
           SET again_at = filed_at,
               terms = CASE WHEN is_first THEN prescient.terms_from_found(f.terms) ELSE f.terms END
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
           AND (f.again_at IS DISTINCT FROM filed_at OR is_first);
    ELSIF conflict = 'earlier' AND old.finds_first AND slot > old.next_check_at THEN
        outcome := 'kept';
        filed_at := least(old.again_at, slot);
        UPDATE prescient.future_job f SET again_at = filed_at
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job;
    ELSIF conflict = 'earlier' AND (slot < old.next_check_at OR old.finds_first) THEN
        outcome := 'moved';
        filed_at := slot;
        IF old.finds_first THEN
            UPDATE prescient.future_job f
               SET first_check_at = slot, terms = prescient.terms_from_found(f.terms)
             WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key
             AND f.job_exec = job;
        END IF;
        IF slot < old.next_check_at AND EXISTS (
                   SELECT FROM prescient.future_job f
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

-- As 0014_put_off has it: a new life of a pending check at another time.
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
               total_run_us = NULL, origin = NULL, put_off_at = NULL,
               terms = prescient.terms_from_found(f.terms)
         WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity
         AND f.entity_key = key AND f.job_exec = job
        RETURNING f.next_check_at INTO filed_at;
        EXIT WHEN FOUND;
    END LOOP;
    outcome := CASE WHEN filed_at IS NULL THEN 'not_found' ELSE 'moved' END;
END $$;

-- ---- retry --------------------------------------------------------------------------------------

-- A check that ended with a failure: enqueued again, if none waits. The check of a schedule does
-- wait. If that has begun, it is pulled forward.
CREATE FUNCTION prescient.retry_check(entity text, key text, job text, check_at timestamptz, payload json,
                                      at timestamptz, OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    clock timestamptz;
    waits record;
BEGIN
    SELECT f.next_check_at, f.terms IS NOT NULL AS recurs, prescient.finds_first(f) AS finds_first,
           f.check_count > 0 OR f.failure_count > 0 OR f.deferred_at IS NOT NULL AS has_begun
      INTO waits
      FROM prescient.future_job f
     WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity AND f.entity_key = key
       AND f.job_exec = job
       FOR UPDATE;
    clock := coalesce(at, clock_timestamp());
    IF waits.recurs AND NOT waits.has_begun AND waits.next_check_at > clock
       AND (waits.finds_first OR prescient.slot_for(check_at, clock) < waits.next_check_at) THEN
        SELECT c.outcome, c.filed_at INTO outcome, filed_at
          FROM prescient.reschedule_at(entity, key, job, check_at, at) c;
    ELSE
        SELECT c.outcome, c.filed_at INTO outcome, filed_at
          FROM prescient.file_check(entity, key, job, check_at, payload,
                                    CASE WHEN waits.recurs THEN 'earlier' ELSE 'keep' END, 0, at) c;
    END IF;
END $$;

-- ---- who may ------------------------------------------------------------------------------------

REVOKE ALL ON FUNCTION prescient.first_slot_of(text), prescient.terms_from_found(text),
    prescient.finds_first(prescient.future_job),
    prescient.retry_check(text, text, text, timestamptz, json, timestamptz) FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT EXECUTE ON FUNCTION prescient.first_slot_of(text), prescient.terms_from_found(text),
            prescient.finds_first(prescient.future_job),
            prescient.retry_check(text, text, text, timestamptz, json, timestamptz) TO prescient_engine;
    END IF;
END $$;
