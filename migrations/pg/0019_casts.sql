-- 0019_casts - no cast of a caller's own runs with the owner's rights.
-- oldest engine: 1
--
-- The functions that take a key or a payload of any type read it as text with their owner's rights.
-- Who makes a type (an enum needs no right but to create in some schema) may make a cast of it to
-- text, a function, too, and that one was called: an application could do whatever the owner can.
-- So the type is looked at before the value is, of payloads as well.

-- What a payload, or the array of payloads, may be: what the server itself reads as JSON or text.
CREATE FUNCTION prescient.require_payload_type(what text, given regtype) RETURNS void
LANGUAGE plpgsql STABLE AS $$
DECLARE
    base oid := given;      -- what a domain is over, in the end
BEGIN
    WHILE base <> 0 LOOP
        IF base::regtype = ANY ('{json,jsonb,text,varchar}'::regtype[])
            OR (what = 'payloads' AND base::regtype = ANY ('{json[],jsonb[],text[],varchar[]}'::regtype[]))
            THEN
            RETURN;
        END IF;
        base := (SELECT t.typbasetype FROM pg_type t WHERE t.oid = base);
    END LOOP;
    RAISE EXCEPTION 'prescient: % is of type %, expected json, jsonb or text%', what, given,
        CASE what WHEN 'payloads' THEN ', an array of them' ELSE '' END
        USING ERRCODE = 'datatype_mismatch', HINT = format('Cast it: %s::text%s', what,
            CASE what WHEN 'payloads' THEN '[]' ELSE '' END);
END $$;

DO $$
DECLARE
    -- in the order in which they are applied; what does not stand in a function changes nothing
    edits CONSTANT text[] := ARRAY[
        '    row_key CONSTANT text := key;', '    row_key text;',
        '    row_keys CONSTANT text[] := keys;', '    row_keys text[];',
        '    n CONSTANT integer[] := ARRAY[coalesce(cardinality(row_keys), 0)];', '    n integer[];',
        '    n CONSTANT integer := coalesce(cardinality(row_keys), 0);', '    n integer;'];
    before CONSTANT jsonb := jsonb_build_object(
        'enqueue', '    row_key := key;',
        'enqueue_many', E'    row_keys := keys;\n    n := ARRAY[coalesce(cardinality(row_keys), 0)];',
        'enqueue_each', E'    row_keys := keys;\n    n := coalesce(cardinality(row_keys), 0);');
    made record;
    body text;
    what text;
BEGIN
    FOR made IN SELECT p.oid, p.proname FROM pg_proc p
                 WHERE p.pronamespace = 'prescient_schema'::regnamespace
                 AND p.proname IN ('enqueue', 'enqueue_many', 'enqueue_each') LOOP
        body := pg_get_functiondef(made.oid);
        what := CASE made.proname WHEN 'enqueue_each' THEN 'payloads' ELSE 'payload' END;
        FOR i IN 1 .. cardinality(edits) BY 2 LOOP
            body := replace(body, edits[i], edits[i + 1]);
        END LOOP;
        body := replace(body, format('    IF %s IS NOT NULL THEN', what),
                        format(E'%s\n    IF %s IS NOT NULL THEN\n'
                               '        PERFORM prescient.require_payload_type(%L, pg_typeof(%s));',
                               before ->> made.proname, what, what, what));
        IF body NOT LIKE '%require_payload_type%' OR body ~ 'CONSTANT text(\[\])? := keys?;' THEN
            RAISE EXCEPTION 'prescient: function % is not as it was made', made.oid::regprocedure;
        END IF;
        EXECUTE body;
    END LOOP;
END $$;

REVOKE ALL ON FUNCTION prescient.require_payload_type(text, regtype) FROM PUBLIC;
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT EXECUTE ON FUNCTION prescient.require_payload_type(text, regtype) TO prescient_engine;
    END IF;
END $$;
