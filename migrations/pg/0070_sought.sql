-- 0070_sought - the check of a rule that is to find its first time runs at no other time.
-- oldest engine: 70
--
-- SQL files the check of a new rule under the next slot, where an engine finds the first
-- occurrence. That this is still to be done was seen by the slot alone: it is the first one after
-- `from`. An edit wrote a new `from` beside a check whose slot had begun, and a new slot length
-- made another slot the first one after it. Then the check looked like one that had found an
-- occurrence in its slot, and ran there. Now `sought` in its terms keeps that slot (rules/terms.h).
--
-- An engine from before this migration cannot read the word, and leaves such a check to others.

-- The slot that `sought` has; NULL: the word is not there.
CREATE FUNCTION prescient.sought_slot_of(terms text) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
    SELECT to_timestamp(substring(terms FROM ' sought ([0-9]{1,12}) from [0-9]+$')::bigint) $$;

CREATE FUNCTION prescient.terms_sought(terms text, slot timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT regexp_replace(terms, '( sought [0-9]+)? from ([0-9]+)$',
                          format(' sought %s from \2', extract(epoch FROM slot)::bigint)) $$;

-- A run is asked for in that slot: what was to be found there is not, and the rule holds from
-- then on.
CREATE FUNCTION prescient.terms_from(terms text, slot timestamptz) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT regexp_replace(terms, format('( sought %s)? from [0-9]+$', extract(epoch FROM slot)::bigint),
                          format(' from %s', extract(epoch FROM slot)::bigint)) $$;

CREATE OR REPLACE FUNCTION prescient.terms_from_found(terms text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT regexp_replace(terms, '( sought [0-9]+)? from [0-9]+$', '') $$;

-- As 0046_asked_runs has it.
CREATE OR REPLACE FUNCTION prescient.finds_first(f prescient.future_job) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN f.terms IS NULL THEN false
                ELSE f.check_count = 0 AND f.failure_count = 0 AND f.deferred_at IS NULL
                     AND f.next_check_at >= f.first_check_at
                     AND (coalesce(f.first_check_at = prescient.first_slot_of(f.terms), false)
                          OR coalesce(f.first_check_at = prescient.sought_slot_of(f.terms), false)) END $$;

-- As 0033_schedules has it. In a slot that has begun, a check that was only to find its first
-- occurrence there does that by the new rule: one of the rule before that nobody has found is none.
CREATE OR REPLACE FUNCTION prescient.file_scheduled(s prescient.schedule, at timestamptz)
    RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
    in_bucket CONSTANT integer := prescient.bucket_of(s.entity_name, s.entity_key);
    old record;
    since timestamptz;
    slot timestamptz;
    terms_now text;
BEGIN
    PERFORM pg_current_xact_id();
    -- the slot length (set_slot_length) stays as it is until this transaction is over
    LOCK TABLE prescient.future_job IN ROW EXCLUSIVE MODE;
    LOOP
        since := coalesce(at, clock_timestamp());
        slot := prescient.slot_next(since);
        INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
                                          next_check_at, payload, terms)
        VALUES (in_bucket, s.entity_name, s.entity_key, s.job_exec, slot, slot, s.payload,
                prescient.terms_of(s, since))
            ON CONFLICT DO NOTHING;
        EXIT WHEN FOUND;
        SELECT f.next_check_at, f.first_check_at, f.terms, prescient.finds_first(f) AS finds_first,
               f.again_at INTO old
          FROM prescient.future_job f
         WHERE f.bucket = in_bucket AND f.entity_name = s.entity_name AND f.entity_key = s.entity_key
           AND f.job_exec = s.job_exec
           FOR UPDATE;
        CONTINUE WHEN NOT FOUND;
        since := coalesce(at, clock_timestamp());
        slot := prescient.slot_next(since);
        terms_now := prescient.terms_of(s, since);
        IF old.next_check_at <= since THEN
            IF old.finds_first THEN
                terms_now := prescient.terms_sought(terms_now, old.first_check_at);
            END IF;
            -- an earlier edit may have asked for a slot only to find its first occurrence there
            IF old.again_at IN (prescient.first_slot_of(old.terms), prescient.sought_slot_of(old.terms)) THEN
                old.again_at := NULL;
            END IF;
            UPDATE prescient.future_job f
               SET terms = terms_now, payload = s.payload, again_at = least(old.again_at, slot)
             WHERE f.bucket = in_bucket AND f.entity_name = s.entity_name AND f.entity_key = s.entity_key
               AND f.job_exec = s.job_exec;
        ELSE
            UPDATE prescient.future_job f
               SET terms = terms_now, payload = s.payload,
                   id = prescient.new_id(slot, in_bucket, 0), first_check_at = slot,
                   next_check_at = slot, priority = 0, check_count = 0, failure_count = 0, again_at = NULL,
                   deferred_at = NULL, put_off_at = NULL, first_run_at = NULL, run_count = NULL,
                   total_run_us = NULL, origin = NULL
             WHERE f.bucket = in_bucket AND f.entity_name = s.entity_name AND f.entity_key = s.entity_key
               AND f.job_exec = s.job_exec;
        END IF;
        EXIT;
    END LOOP;
    RETURN slot;
END $$;

-- As 0046_asked_runs has it. A run that is asked for in the slot where an edit would find the first
-- occurrence: the rule holds from there on. Without `from` it would hold for the time before the
-- edit, too, and `missed run_all` would make up for that.
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
        is_first := slot = filed_at AND (coalesce(slot = prescient.first_slot_of(old.terms), false)
                                         OR coalesce(slot = prescient.sought_slot_of(old.terms), false));
        UPDATE prescient.future_job f
           SET again_at = filed_at,
               terms = CASE WHEN is_first THEN prescient.terms_from(f.terms, slot) ELSE f.terms END
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

-- As 0030_fine_slots has it. First, each check that is to find its first occurrence, or was edited
-- and is to find it in the slot asked for, gets the word that says so in slots of any length. One
-- that does the former needs no second look for an edit.
CREATE OR REPLACE FUNCTION prescient.set_slot_length(seconds integer) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '5s' AS $$
DECLARE
    move CONSTANT text := format(
        'UPDATE prescient.future_job SET next_check_at = prescient.slot_for(next_check_at, clock_timestamp())
          WHERE next_check_at <> prescient.slot_ceil(next_check_at)
            AND CASE WHEN prescient.is_slot(next_check_at)
                     THEN date_part(''epoch'', next_check_at)::bigint %% %s = 0 ELSE true END',
        prescient.slot_length_s());
    seek CONSTANT text :=
        'UPDATE prescient.future_job f
            SET terms = prescient.terms_sought(f.terms, CASE WHEN prescient.finds_first(f)
                                                             THEN f.first_check_at ELSE f.again_at END),
                again_at = CASE WHEN prescient.finds_first(f)
                                THEN nullif(f.again_at, prescient.first_slot_of(f.terms))
                                ELSE f.again_at END
          WHERE f.terms IS NOT NULL
            AND (prescient.finds_first(f) OR f.again_at = prescient.first_slot_of(f.terms))';
    n bigint;
BEGIN
    IF seconds IS NULL OR seconds < 1 OR seconds > 86400 OR 86400 % seconds <> 0 THEN
        RAISE EXCEPTION 'prescient: the slot length is % s, expected 1 s to 86400 s, dividing a day',
            coalesce(seconds::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pg_current_xact_id();
    LOCK TABLE prescient.future_job IN ACCESS EXCLUSIVE MODE;
    EXECUTE seek;
    EXECUTE format('CREATE OR REPLACE FUNCTION prescient.slot_length_s() RETURNS integer '
                   'LANGUAGE sql IMMUTABLE PARALLEL SAFE AS %L', 'SELECT ' || seconds);
    BEGIN
        EXECUTE move;
        GET DIAGNOSTICS n = ROW_COUNT;
    EXCEPTION WHEN unique_violation THEN
        PERFORM prescient.mend_sequences(true);         -- else what is drawn here may be in use, too
        WITH twins AS (
            SELECT t.ctid FROM (SELECT f.ctid,
                                row_number() OVER (PARTITION BY f.bucket, f.priority, f.id) AS nth
                                    FROM prescient.future_job f) t
             WHERE t.nth > 1)
        UPDATE prescient.future_job f
           SET origin = prescient.origin_of(f.origin, f.first_check_at, f.id),
               id = nextval('prescient.future_job_id_seq')
         WHERE f.ctid IN (SELECT t.ctid FROM twins t);
        EXECUTE move;
        GET DIAGNOSTICS n = ROW_COUNT;
    END;
    INSERT INTO prescient.setting VALUES ('slot_length_s', seconds::text)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value;
    RETURN n;
END $$;

-- ---- who may ------------------------------------------------------------------------------------

REVOKE ALL ON FUNCTION prescient.sought_slot_of(text), prescient.terms_sought(text, timestamptz),
    prescient.terms_from(text, timestamptz) FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT EXECUTE ON FUNCTION prescient.sought_slot_of(text), prescient.terms_sought(text, timestamptz),
            prescient.terms_from(text, timestamptz) TO prescient_engine;
    END IF;
END $$;
