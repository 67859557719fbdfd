-- 0006_clock_behind_the_lock - an enqueue that waited for its row asks the clock again.
-- oldest engine: 1
--
-- Whether a row's slot has begun was judged by the clock from before the wait for the row's lock. When another transaction held the row
-- until its slot had begun, `earlier` moved it to a slot of the past, from under the engine that was running it.

-- Changes a check that is pending already; NULL when it has gone meanwhile. A row whose slot has begun may be being answered at
-- this moment: keep and earlier then write the wanted slot beside it, and the settle starts the check anew there. `at` NULL: the
-- database's clock, which is read anew when the row is locked, as the wait for that may have been long.
CREATE OR REPLACE FUNCTION prescient.file_again(entity text, key text, job text, slot timestamptz, at timestamptz, new_payload json, conflict text,
                                     new_priority integer, OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    old record;
    begun boolean;
BEGIN
    SELECT f.next_check_at, f.again_at INTO old FROM prescient.future_job f
     WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- Nothing to write, so no lock: an engine never waits for an application that only asked to keep.
    IF old.next_check_at > coalesce(at, clock_timestamp()) AND (conflict = 'keep' OR (conflict = 'earlier' AND slot >= old.next_check_at)) THEN
        outcome := 'kept';
        filed_at := old.next_check_at;
        RETURN;
    END IF;

    SELECT f.next_check_at, f.again_at INTO old FROM prescient.future_job f
     WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
       FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    begun := old.next_check_at <= coalesce(at, clock_timestamp());
    IF conflict = 'replace' THEN
        -- A new id by UPDATE: a settle of the old one touches nothing, and a concurrent resolve still meets the row.
        outcome := 'replaced';
        UPDATE prescient.future_job f
           SET id = nextval('prescient.future_job_id_seq'), first_check_at = slot, next_check_at = slot, check_count = 0, failure_count = 0,
               priority = new_priority, payload = new_payload, again_at = NULL, deferred_at = NULL, first_run_at = NULL,
               run_count = NULL, total_run_us = NULL
         WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
        RETURNING f.next_check_at INTO filed_at;
    ELSIF begun THEN
        outcome := 'kept';
        filed_at := CASE WHEN conflict = 'earlier' THEN least(old.again_at, slot) ELSE coalesce(old.again_at, slot) END;
        UPDATE prescient.future_job f SET again_at = filed_at
         WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
           AND f.again_at IS DISTINCT FROM filed_at;
    ELSIF conflict = 'earlier' AND slot < old.next_check_at THEN
        outcome := 'moved';
        filed_at := slot;
        UPDATE prescient.future_job f SET next_check_at = slot
         WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job;
    ELSE
        outcome := 'kept';
        filed_at := old.next_check_at;
    END IF;
END $$;

-- Files one check; every way in ends here. `at` NULL: the database's clock.
CREATE OR REPLACE FUNCTION prescient.file_check(entity text, key text, job text, check_at timestamptz, payload json, conflict text, priority integer,
                                     at timestamptz, OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    slot timestamptz;
    in_bucket smallint;
BEGIN
    PERFORM prescient.require_check(entity, key, job, check_at, payload, conflict);
    PERFORM pg_current_xact_id();
    slot := prescient.slot_for(check_at, coalesce(at, clock_timestamp()));
    in_bucket := prescient.bucket_of(entity, key);
    priority := coalesce(priority, 0);
    LOOP
        INSERT INTO prescient.future_job AS f (bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at, payload, priority)
        VALUES (in_bucket, entity, key, job, slot, slot, file_check.payload, file_check.priority)
            ON CONFLICT ON CONSTRAINT future_job_pkey DO NOTHING
        RETURNING f.next_check_at INTO filed_at;
        IF FOUND THEN
            outcome := 'new';
            RETURN;
        END IF;
        SELECT g.outcome, g.filed_at INTO outcome, filed_at
          FROM prescient.file_again(entity, key, job, slot, at, file_check.payload, conflict, file_check.priority) g;
        EXIT WHEN outcome IS NOT NULL;
    END LOOP;
END $$;
