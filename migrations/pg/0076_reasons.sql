-- 0076_reasons - why a schedule was switched has at most 4096 bytes, as the reason of a pause.
-- oldest engine: 36
--
-- It is shown wherever the schedule is, and had no bound. Longer ones that are there stay.

-- As 0033_schedules has it, and with the bound.
CREATE OR REPLACE FUNCTION prescient.switch_schedule(name text, active boolean, why text, at timestamptz)
    RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    wanted CONSTANT text := name;
    s prescient.schedule;
BEGIN
    IF octet_length(why) > 4096 THEN
        RAISE EXCEPTION 'prescient: why has % bytes, expected at most 4096', octet_length(why)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pg_current_xact_id();
    SELECT t.* INTO s FROM prescient.schedule t WHERE t.name = wanted FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'prescient: there is no schedule %', quote_literal(left(wanted, 80))
            USING ERRCODE = 'no_data_found';
    END IF;
    IF s.is_active = active THEN
        RETURN false;
    END IF;
    UPDATE prescient.schedule t
       SET is_active = active, switched_at = coalesce(at, clock_timestamp()), switched_by = session_user,
           switched_why = why
     WHERE t.name = wanted;
    IF active THEN
        PERFORM prescient.file_scheduled(s, at);
    ELSE
        PERFORM prescient.resolve_at(s.entity_name, s.entity_key, s.job_exec, at);
    END IF;
    RETURN true;
END $$;
