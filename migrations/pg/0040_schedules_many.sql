-- 0040_schedules_many - many schedules in one transaction, and lists that read what they show.
-- oldest engine: 32
--
-- A file of schedules is written a thousand at a time: a transaction for each one would wait for
-- the disk so often. Schedules of one call may take over each other's checks. `schedule list` reads
-- one of two indexes in the order of names by their bytes.

CREATE INDEX schedule_by_name ON prescient.schedule (name COLLATE "C");
CREATE INDEX schedule_by_job ON prescient.schedule (job_exec, name COLLATE "C");

-- Gives up the checks that one of `wanted` has and another one of them is to have. Until its own
-- turn such a schedule is of a check that nobody files.
CREATE FUNCTION prescient.part_schedules(wanted json, at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    s prescient.schedule;
BEGIN
    FOR s IN
        SELECT t.* FROM prescient.schedule t
         WHERE t.name IN (SELECT w.name FROM json_populate_recordset(NULL::prescient.schedule, wanted) w)
           AND EXISTS (SELECT FROM json_populate_recordset(NULL::prescient.schedule, wanted) w
                        WHERE w.entity_name = t.entity_name AND w.entity_key = t.entity_key
                          AND w.job_exec = t.job_exec AND w.name <> t.name)
         ORDER BY t.name COLLATE "C" FOR UPDATE OF t LOOP
        PERFORM prescient.end_checks(s.entity_name, s.entity_key, s.job_exec, at);
        UPDATE prescient.schedule t
           SET entity_name = 'prescient.schedule', entity_key = s.name, job_exec = 'none'
         WHERE t.name = s.name;
    END LOOP;
END $$;

-- `wanted`: an array of objects whose members are columns of prescient.schedule, all texts; the
-- payload is a text, too. Each is put as by put_schedule('put'), in the order of names, in which
-- all such calls lock. Returns how many are new or changed.
CREATE FUNCTION prescient.put_schedules(wanted json, at timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    one json;
    s prescient.schedule;
    n bigint := 0;
BEGIN
    PERFORM pg_current_xact_id();
    PERFORM prescient.part_schedules((SELECT json_agg(e.value::jsonb - 'payload')
                                        FROM json_array_elements(wanted) e), at);
    FOR one IN SELECT e.value FROM json_array_elements(wanted) e ORDER BY e.value ->> 'name' COLLATE "C" LOOP
        s := json_populate_record(NULL::prescient.schedule, (one::jsonb - 'payload')::json);
        s.payload := (one ->> 'payload')::json;
        IF (prescient.put_schedule('put', s, at)).outcome <> 'kept' THEN
            n := n + 1;
        END IF;
    END LOOP;
    RETURN n;
END $$;

REVOKE ALL ON FUNCTION prescient.part_schedules(json, timestamptz), prescient.put_schedules(json, timestamptz)
    FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT EXECUTE ON FUNCTION prescient.part_schedules(json, timestamptz),
            prescient.put_schedules(json, timestamptz) TO prescient_engine;
    END IF;
END $$;
