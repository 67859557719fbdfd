-- 0080_deliveries - an event that a listener hears has a delivery: a check of its own.
-- oldest engine: 80
--
-- The settle that writes an event files its deliveries, as checks of the entity prescient.event. An
-- engine from before would take their terms for those of a schedule that it cannot read, and leave
-- such a check for ever. So each lease also needs `reads_events`, as it needs `reads_terms` (the
-- head of 0032_terms explains it).
--
-- No application asks for checks of that entity: they would have no event. Those that are there can
-- be resolved, rescheduled and paused.

ALTER TABLE prescient.event ADD COLUMN origin uuid;
COMMENT ON COLUMN prescient.event.origin IS
    'Of an event that a listener heard: with the listener''s name it is the entity_key of its delivery.';

ALTER TABLE prescient.slot_lease ADD COLUMN reads_events boolean NOT NULL DEFAULT true;
ALTER TABLE prescient.slot_lease ALTER COLUMN reads_events SET DEFAULT prescient.refuse_older_engine();
COMMENT ON COLUMN prescient.slot_lease.reads_events IS
    'Its engine reads the terms of deliveries. One that cannot does not fill this column, and gets no lease.';

-- As 0077_older_engines has it.
CREATE OR REPLACE FUNCTION prescient.refuse_older_engine() RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'prescient: this engine is older than the schema and gets no lease: it does not know '
                    'schedules, pauses or deliveries, and would run what must wait. Stop it, and start a '
                    'program that knows migration %, such as the one that has migrated the schema',
        (SELECT max(m.oldest_engine) FROM prescient.migration m) USING ERRCODE = 'undefined_column';
END $$;

-- ---- no application files one -------------------------------------------------------------------

-- The functions that look at what is asked for, as they are by now: enqueue and enqueue_now come
-- for each type of key and time.
DO $do$
DECLARE
    edits CONSTANT text[] := ARRAY[
        $edit$AND conflict COLLATE "C" = ANY ('{keep,earlier,replace}')$edit$,
            $edit$AND entity COLLATE "C" <> 'prescient.event'
        AND conflict COLLATE "C" = ANY ('{keep,earlier,replace}')$edit$,
        'AND check_at >= ''1970-01-01 00:00:00+00''',
            'AND entity COLLATE "C" <> ''prescient.event'' AND check_at >= ''1970-01-01 00:00:00+00''',
        '    IF size > 2600 THEN',
            $edit$    IF entity COLLATE "C" = 'prescient.event' THEN
        RAISE EXCEPTION 'prescient: entity is prescient.event, which stands for deliveries: only events '
                        'file them' USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF size > 2600 THEN$edit$];
    made record;
    body text;
    edited text;
BEGIN
    FOR made IN SELECT p.oid, p.proname FROM pg_catalog.pg_proc p
                 WHERE p.pronamespace = 'prescient_schema'::regnamespace
                   AND p.proname IN ('enqueue', 'enqueue_now', 'is_good_check', 'require_check') LOOP
        body := pg_catalog.pg_get_functiondef(made.oid);
        edited := body;
        FOR i IN 1 .. 3 LOOP
            edited := replace(edited, edits[2 * i - 1], edits[2 * i]);
        END LOOP;
        IF edited = body THEN
            RAISE EXCEPTION 'prescient: function %: a line that is to be edited is not there', made.proname;
        END IF;
        EXECUTE edited;
    END LOOP;
END $do$;

-- As 0046_asked_runs has it. What is there already may be a delivery.
CREATE OR REPLACE FUNCTION prescient.reschedule_at(entity text, key text, job text,
                                                   check_at timestamptz, at timestamptz,
                                                   OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    slot timestamptz;
BEGIN
    PERFORM prescient.require_check(CASE entity WHEN 'prescient.event' THEN 'prescient' ELSE entity END,
                                    key, job, check_at, NULL, 'keep');
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
