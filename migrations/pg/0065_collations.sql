-- 0065_collations - keys are compared by their bytes, whatever collation a caller's column has.
-- oldest engine: 36
--
-- A function in PL/pgSQL or SQL compares its parameters by the collation of the caller's arguments.
-- Where that was one of ICU's that takes 'AB1' and 'ab1' for the same, one call touched the checks
-- and schedules of other rows. So each function that applications call hands its texts on with the
-- collation of the database, which is that of the columns and of their indexes: one such argument
-- decides for the whole call, and for all that is called from there. What it compares itself, it
-- compares by bytes.

DO $$
DECLARE
    made record;
    edits CONSTANT text[] := ARRAY[
        -- what is called
        '_check(entity, ', '_check(entity COLLATE "default", ',
        '_at(entity, ', '_at(entity COLLATE "default", ',
        '.file_now(entity, ', '.file_now(entity COLLATE "default", ',
        '.pending(entity, ', '.pending(entity COLLATE "default", ',
        'array_fill(entity, ', 'array_fill(entity COLLATE "default", ',
        '.file_checks(entities, ', '.file_checks(entities COLLATE "default", ',
        '_schedule(name, ', '_schedule(name COLLATE "default", ',
        '_pause(job, ', '_pause(job COLLATE "default", ',
        'moment_of(check_at, ', 'moment_of(check_at COLLATE "C", ',
        'moments_of(check_ats, ', 'moments_of(check_ats COLLATE "C", ',
        -- what is compared
        'f.entity_name = entity', 'f.entity_name = entity COLLATE "default"',
        'f.entity_key = key', 'f.entity_key = key COLLATE "default"',
        'f.entity_key = row_key', 'f.entity_key = row_key COLLATE "default"',
        'f.job_exec = job', 'f.job_exec = job COLLATE "default"',
        'least(entity, ', 'least(entity COLLATE "C", ',
        'conflict = ANY', 'conflict COLLATE "C" = ANY',
        'check_at = ANY', 'check_at COLLATE "C" = ANY',
        'ltrim(check_at, ', 'ltrim(check_at COLLATE "C", ',
        'nullif(reason, ', 'nullif(reason COLLATE "C", '];
    body text;
    edited text;
BEGIN
    FOR made IN SELECT p.oid FROM pg_catalog.pg_proc p
                 WHERE p.pronamespace = 'prescient_schema'::regnamespace AND p.prosecdef
                   AND p.proname IN ('enqueue', 'enqueue_now', 'enqueue_many', 'enqueue_each', 'reschedule',
                                     'resolve', 'pending', 'filed_at', 'schedule_on', 'schedule_off',
                                     'unschedule', 'pause', 'resume') LOOP
        body := pg_catalog.pg_get_functiondef(made.oid);
        edited := body;
        FOR i IN 1 .. cardinality(edits) / 2 LOOP
            edited := replace(edited, edits[2 * i - 1], edits[2 * i]);
        END LOOP;
        IF edited <> body THEN
            EXECUTE edited;
        END IF;
    END LOOP;
END $$;
