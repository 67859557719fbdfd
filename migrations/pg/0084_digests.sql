-- 0084_digests - no application files a check of the entity prescient.digest.
-- oldest engine: 36
--
-- Its job would be run with no document, and the digest of a listener that comes later would find
-- its key taken. Those that engines file can be resolved, rescheduled and paused.

-- The functions that look at what is asked for, as they are by now, beside what 0080_deliveries has
-- put there.
DO $do$
DECLARE
    edits CONSTANT text[] := ARRAY[
        $edit$entity COLLATE "C" <> 'prescient.event'$edit$,
            $edit$entity COLLATE "C" <> 'prescient.event' AND entity COLLATE "C" <> 'prescient.digest'$edit$,
        $edit$    IF entity COLLATE "C" = 'prescient.event' THEN$edit$,
            $edit$    IF entity COLLATE "C" = 'prescient.digest' THEN
        RAISE EXCEPTION 'prescient: entity is prescient.digest, which stands for digests: only engines '
                        'file them, as listeners in the settings say'
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF entity COLLATE "C" = 'prescient.event' THEN$edit$,
        $edit$CASE entity WHEN 'prescient.event' THEN 'prescient' ELSE entity END$edit$,
            $edit$CASE WHEN entity IN ('prescient.event', 'prescient.digest') THEN 'prescient'
                                       ELSE entity END$edit$];
    made record;
    body text;
    edited text;
BEGIN
    FOR made IN SELECT p.oid, p.proname FROM pg_catalog.pg_proc p
                 WHERE p.pronamespace = 'prescient_schema'::regnamespace
                   AND p.proname IN ('enqueue', 'enqueue_now', 'is_good_check', 'require_check',
                                     'reschedule_at') LOOP
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
