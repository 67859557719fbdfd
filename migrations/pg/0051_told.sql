-- 0051_told - the functions of applications tell what an `every` becomes, as the command line does.
-- oldest engine: 32
--
-- They told of one below a slot alone, and not what became of it: 20 minutes in slots of 15 become
-- 30, with their default bias. A bias is looked at as it is given: 0.50001 was taken as 0.5.

-- Ten thousandths of a bias. One that would become 0 is refused.
CREATE FUNCTION prescient.bias_of(bias numeric) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF bias NOT BETWEEN 0 AND 0.5 OR (bias > 0 AND bias < 0.00005) THEN
        PERFORM prescient.refuse_schedule(format('bias is %s, expected 0, or a fraction of every from '
                                                 '0.0001 to 0.5', left(bias::text, 40)));
    END IF;
    RETURN round(bias * 10000);
END $$;

-- What an `every` becomes in slots, as recurrence_becomes_s of rules/recurrence.h has it: the time
-- between two runs that take less than a second.
CREATE FUNCTION prescient.becomes_s(every_s bigint, bias integer, slot_length_s integer) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN n.slot >= e.earliest THEN n.slot
                ELSE (e.earliest + slot_length_s - 1) / slot_length_s * slot_length_s END
      FROM (SELECT 1 + every_s - (every_s * bias + 5000) / 10000) e (earliest),
           (SELECT (1 + every_s + slot_length_s / 2) / slot_length_s * slot_length_s) n (slot) $$;

-- An `every` that slots cannot keep is told, in the words of the command line.
CREATE FUNCTION prescient.tell_becomes(wanted text) RETURNS void LANGUAGE plpgsql STABLE AS $$
DECLARE
    slot_s CONSTANT integer := prescient.slot_length_s();
    s prescient.schedule;
    becomes_s bigint;
BEGIN
    SELECT t.* INTO s FROM prescient.schedule t WHERE t.name = wanted;
    becomes_s := prescient.becomes_s(s.every_s, s.bias, slot_s);
    IF becomes_s <> s.every_s THEN
        RAISE NOTICE 'prescient: every % becomes % in slots of %', s.every_s * interval '1 second',
            becomes_s * interval '1 second', slot_s * interval '1 second';
    END IF;
END $$;

DO $make$
DECLARE
    body CONSTANT text := $sql$
CREATE OR REPLACE FUNCTION prescient.schedule(name text, entity text, key {key_type}, job text,
                                   every interval DEFAULT NULL, cron text DEFAULT NULL,
                                   timezone text DEFAULT NULL, missed text DEFAULT 'run_once',
                                   bias numeric DEFAULT NULL, payload anycompatible DEFAULT NULL::text)
    RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted prescient.schedule;
    outcome text;
BEGIN
    -- first the types: a cast that somebody has made for one of his own would run with the owner's
    -- rights
    {key_check}
    PERFORM prescient.require_payload_type('payload', pg_typeof(payload));
    wanted.name := name;
    wanted.entity_name := entity;
    wanted.entity_key := key::text;
    wanted.job_exec := job;
    wanted.every_s := prescient.period_s(every);
    wanted.bias := prescient.bias_of(bias);
    wanted.cron := cron;
    wanted.timezone := timezone;
    wanted.missed := missed;
    wanted.payload := prescient.document_of(payload::text);
    outcome := (prescient.put_schedule('put', wanted, prescient.tests_at())).outcome;
    PERFORM prescient.tell_becomes(name);
    RETURN outcome;
END $$ $sql$;
    made record;
BEGIN
    FOR made IN SELECT * FROM (VALUES ('text', ''), ('anyelement',
            'PERFORM prescient.require_key_type(''key'', pg_typeof(key));')) k (key_type, key_check) LOOP
        EXECUTE replace(replace(body, '{key_type}', made.key_type), '{key_check}', made.key_check);
    END LOOP;
END $make$;

CREATE OR REPLACE FUNCTION prescient.schedule_set(name text, every interval DEFAULT NULL,
                                                  cron text DEFAULT NULL, timezone text DEFAULT NULL,
                                                  missed text DEFAULT NULL, bias numeric DEFAULT NULL,
                                                  payload anycompatible DEFAULT NULL::text)
    RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted prescient.schedule;
    outcome text;
BEGIN
    PERFORM prescient.require_payload_type('payload', pg_typeof(payload));
    wanted.name := name;
    wanted.every_s := prescient.period_s(every);
    wanted.bias := prescient.bias_of(bias);
    wanted.cron := cron;
    wanted.timezone := timezone;
    wanted.missed := missed;
    wanted.payload := prescient.document_of(payload::text);
    outcome := (prescient.put_schedule('set', wanted, prescient.tests_at())).outcome;
    IF every IS NOT NULL OR bias IS NOT NULL THEN
        PERFORM prescient.tell_becomes(name);
    END IF;
    RETURN outcome;
END $$;

DROP FUNCTION prescient.tell_period(interval);

REVOKE ALL ON FUNCTION prescient.bias_of(numeric), prescient.becomes_s(bigint, integer, integer),
    prescient.tell_becomes(text) FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT EXECUTE ON FUNCTION prescient.bias_of(numeric), prescient.becomes_s(bigint, integer, integer),
            prescient.tell_becomes(text) TO prescient_engine;
    END IF;
END $$;
