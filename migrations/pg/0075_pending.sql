-- 0075_pending - the function pending tells what is paused, as the view of its name does.
-- oldest engine: 36
--
-- Where a check waited in a pause, the function gave a time in the year 9000, and no more. A column
-- of the result needs another function: the rights that were given on the old one go over to it.

ALTER FUNCTION prescient.pending(text, anyelement) RENAME TO pending_without_pauses;
ALTER FUNCTION prescient.pending(text, text) RENAME TO pending_without_pauses;

-- As 0016_readers and 0065_collations have them, and is_paused at the end.
CREATE FUNCTION prescient.pending(entity text, key text)
    RETURNS TABLE (job_exec text, next_check_at timestamptz, check_count integer, failure_count integer,
                   priority integer, first_check_at timestamptz, again_at timestamptz,
                   put_off_at timestamptz, is_paused boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF entity IS NULL OR key IS NULL THEN
        RAISE EXCEPTION 'prescient: % is NULL, expected the name of a row',
            CASE WHEN entity IS NULL THEN 'entity' ELSE 'key' END USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN QUERY SELECT f.job_exec, f.next_check_at, f.check_count, f.failure_count, f.priority,
                        f.first_check_at, f.again_at, f.put_off_at,
                        f.next_check_at >= '9000-01-01 00:00:00+00'
                            AND f.next_check_at < '10000-01-01 00:00:00+00'
                   FROM prescient.future_job f
                  WHERE f.bucket = prescient.bucket_of(entity, key)
                    AND f.entity_name = entity COLLATE "default" AND f.entity_key = key COLLATE "default"
                  ORDER BY f.next_check_at, f.job_exec;
END $$;
COMMENT ON FUNCTION prescient.pending(text, text) IS
    'The checks that wait for a row: job, slot, looks and failures so far, priority, first slot, and the '
    'slot where a check begins anew that was asked for again while its slot was running, the slot at which '
    'it was due and nobody ran it, and whether it is paused: then its slot is no time. No row: none waits.';

CREATE FUNCTION prescient.pending(entity text, key anyelement)
    RETURNS TABLE (job_exec text, next_check_at timestamptz, check_count integer, failure_count integer,
                   priority integer, first_check_at timestamptz, again_at timestamptz,
                   put_off_at timestamptz, is_paused boolean)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    -- first: a cast that somebody has made for a type of his own would run with the owner's rights
    PERFORM prescient.require_key_type('key', pg_typeof(key));
    RETURN QUERY SELECT p.* FROM prescient.pending(entity COLLATE "default", key::text) p;
END $$;
COMMENT ON FUNCTION prescient.pending(text, anyelement) IS
    'The same, for a key of type smallint, integer, bigint or uuid.';

COMMENT ON FUNCTION prescient.filed_at(text, text, text) IS
    'The slot in which a check that was asked for last is looked at; from the year 9000 on: it is paused, '
    'and that is no time; NULL: it does not wait.';
COMMENT ON COLUMN prescient.schedules.next_check_at IS
    'The slot under which its check is filed; from the year 9000 on: it is paused; NULL: none waits.';

REVOKE ALL ON FUNCTION prescient.pending(text, text), prescient.pending(text, anyelement) FROM PUBLIC;

DO $$
DECLARE
    given record;
BEGIN
    FOR given IN SELECT a.grantee, a.is_grantable, pg_get_function_identity_arguments(p.oid) AS args
                   FROM pg_catalog.pg_proc p, LATERAL aclexplode(p.proacl) a
                  WHERE p.pronamespace = 'prescient_schema'::regnamespace
                    AND p.proname = 'pending_without_pauses' AND a.grantee <> p.proowner LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION prescient.pending(%s) TO %s%s', given.args,
                       CASE given.grantee WHEN 0 THEN 'PUBLIC' ELSE given.grantee::regrole::text END,
                       CASE WHEN given.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END);
    END LOOP;
END $$;

-- What applications have built on them is refused here: the message names it.
DROP FUNCTION prescient.pending_without_pauses(text, anyelement);
DROP FUNCTION prescient.pending_without_pauses(text, text);
