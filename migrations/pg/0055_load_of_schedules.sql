-- 0055_load_of_schedules - new schedules of a load are written in two statements.
-- oldest engine: 36
--
-- Each new schedule cost put_schedule and file_scheduled a plan, a lookup and an INSERT of its own:
-- 0.33 ms, most of it outside of the tables. Schedules whose name nobody has are inserted together
-- now, and so are their checks. The others are put one by one as before.

-- No payload is a good one. It was looked through behind a savepoint like a long one, and so was
-- each schedule without a payload.
CREATE OR REPLACE FUNCTION prescient.is_good_payload(payload text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT payload IS NULL
           OR (octet_length(payload) <= 65536
               AND ((octet_length(payload) < 4096
                     AND payload !~ '\\u(0000|[dD][89a-fA-F])|[0-9]{18}|[0-9][eE][+]?[0-9]{3}')
                    OR prescient.is_readable_json(payload))) $$;

-- Files the checks of schedules that the caller has just made: one statement for all that nobody
-- has enqueued before. Its transaction id comes first, then the clock, then the slot.
CREATE FUNCTION prescient.file_all_scheduled(made prescient.schedule[], at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    since timestamptz;
    slot timestamptz;
    are_there prescient.schedule[];
    s prescient.schedule;
BEGIN
    PERFORM pg_current_xact_id();
    -- the slot length (set_slot_length) stays as it is until this transaction is over
    LOCK TABLE prescient.future_job IN ROW EXCLUSIVE MODE;
    since := coalesce(at, clock_timestamp());
    slot := prescient.slot_next(since);
    WITH filed AS (
        INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
                                          next_check_at, payload, terms)
        SELECT prescient.bucket_of(m.entity_name, m.entity_key), m.entity_name, m.entity_key, m.job_exec,
               slot, slot, m.payload, prescient.terms_of(m, since)
          FROM unnest(made) m
            ON CONFLICT DO NOTHING
        RETURNING entity_name, entity_key, job_exec),
    met AS MATERIALIZED (
        SELECT m.entity_name, m.entity_key, m.job_exec FROM unnest(made) m
        EXCEPT SELECT f.entity_name, f.entity_key, f.job_exec FROM filed f)
    SELECT array_agg(m) INTO are_there FROM unnest(made) m
     WHERE EXISTS (SELECT FROM met t WHERE t.entity_name = m.entity_name AND t.entity_key = m.entity_key
                                       AND t.job_exec = m.job_exec);
    FOREACH s IN ARRAY coalesce(are_there, '{}') LOOP
        PERFORM prescient.file_scheduled(s, at);
    END LOOP;
END $$;

-- Makes those of `wanted` whose name nobody has, and files their checks. Returns their names. What
-- is of the same check as another schedule is left to put_schedule, which says so.
CREATE FUNCTION prescient.make_schedules(wanted json, at timestamptz) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
    stamp CONSTANT timestamptz := coalesce(at, clock_timestamp());
    made prescient.schedule[];
BEGIN
    PERFORM pg_current_xact_id();
    WITH inserted AS (
        INSERT INTO prescient.schedule AS s (name, entity_name, entity_key, job_exec, every_s, bias, cron,
                                             timezone, missed, payload, made_at, made_by, changed_at,
                                             changed_by)
        SELECT w.name, w.entity_name, w.entity_key, w.job_exec, w.every_s, w.bias, w.cron, w.timezone,
               coalesce(w.missed, 'run_once'), (w.payload #>> '{}')::json, stamp, session_user, stamp,
               session_user
          FROM json_populate_recordset(NULL::prescient.schedule, wanted) w
         WHERE NOT EXISTS (SELECT FROM prescient.schedule t WHERE t.name = w.name)
         ORDER BY w.name COLLATE "C"
            ON CONFLICT DO NOTHING
        RETURNING s AS one)
    SELECT array_agg(i.one) INTO made FROM inserted i;
    made := coalesce(made, '{}');
    PERFORM prescient.file_all_scheduled(made, at);
    RETURN ARRAY(SELECT m.name FROM unnest(made) m);
END $$;

-- `wanted`: an array of objects, each of another name, whose members are columns of
-- prescient.schedule, all texts; the payload is a text, too. Each is put as by put_schedule('put').
-- What is there is locked first, in the order of names, in which all such calls lock. Returns how
-- many are new or changed.
CREATE OR REPLACE FUNCTION prescient.put_schedules(wanted json, at timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    made text[];
    s prescient.schedule;
    n bigint;
BEGIN
    PERFORM pg_current_xact_id();
    PERFORM FROM prescient.schedule t
      WHERE t.name IN (SELECT w.name FROM json_populate_recordset(NULL::prescient.schedule, wanted) w)
      ORDER BY t.name COLLATE "C" FOR UPDATE OF t;
    PERFORM prescient.part_schedules(wanted, at);
    made := prescient.make_schedules(wanted, at);
    n := cardinality(made);
    IF n = json_array_length(wanted) THEN
        RETURN n;
    END IF;
    FOR s IN
        SELECT w.* FROM json_populate_recordset(NULL::prescient.schedule, wanted) w
         WHERE (w.name = ANY (made)) IS NOT TRUE ORDER BY w.name COLLATE "C" LOOP
        s.payload := (s.payload #>> '{}')::json;
        IF (prescient.put_schedule('put', s, at)).outcome <> 'kept' THEN
            n := n + 1;
        END IF;
    END LOOP;
    RETURN n;
END $$;

REVOKE ALL ON FUNCTION prescient.file_all_scheduled(prescient.schedule[], timestamptz),
    prescient.make_schedules(json, timestamptz) FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT EXECUTE ON FUNCTION prescient.file_all_scheduled(prescient.schedule[], timestamptz),
            prescient.make_schedules(json, timestamptz) TO prescient_engine;
    END IF;
END $$;
