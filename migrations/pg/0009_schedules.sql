-- 0009_schedules - schedules: a name, a check, and the rule by which it recurs.
--
-- A row of `schedule` defines. Its one pending check is a row of future_job like any other, which
-- carries the rule in its terms: engines read no other table. When an occurrence ends, the settle
-- starts the check anew at the next one. Engines compute the times, SQL computes none. It files the
-- check of a new or changed rule under the next slot that has not begun. `from` in the terms is the
-- moment from which the rule holds, and `sought`, if it is there, the slot in which the first
-- occurrence is to be found. The engine that reads the check there runs it if an occurrence lies
-- between, and else moves it on unrun.
--
-- Locks: the schedule first, then its check, everywhere. The other way round, an edit that finds no
-- check could lock none: it would wait at the schedule for another edit that files the check, and
-- leave what that one has filed as it is.

-- ---- terms --------------------------------------------------------------------------------------

-- The slot in which the first occurrence is looked for, by `from`; NULL: that was done.
CREATE FUNCTION prescient.first_slot_of(terms text) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT prescient.slot_next(to_timestamp(substring(terms FROM ' from ([0-9]{1,12})$')::bigint)) $$;

-- The slot that `sought` names; NULL: the word is not there. An edit writes it beside a check whose
-- slot has begun, and so does a new slot length: the first slot after `from` is another one then.
CREATE FUNCTION prescient.sought_slot_of(terms text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE AS $$
    SELECT to_timestamp(substring(terms FROM ' sought ([0-9]{1,12}) from [0-9]+$')::bigint) $$;

-- The check is filed under this slot to find its first occurrence.
CREATE FUNCTION prescient.terms_sought(terms text, slot timestamptz) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT regexp_replace(terms, '( sought [0-9]+)? from ([0-9]+)$',
                          format(E' sought %s from \\2', extract(epoch FROM slot)::bigint)) $$;

-- A run is asked for in that slot: what was to be found there is not, and the rule holds from then
-- on.
CREATE FUNCTION prescient.terms_from(terms text, slot timestamptz) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT regexp_replace(terms, format('( sought %s)? from [0-9]+$', extract(epoch FROM slot)::bigint),
                          format(' from %s', extract(epoch FROM slot)::bigint)) $$;

-- Its first occurrence was found: the rule holds.
CREATE FUNCTION prescient.terms_from_found(terms text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT regexp_replace(terms, '( sought [0-9]+)? from [0-9]+$', '') $$;

-- Its payload is that of the occurrence which waits alone. These words stand last.
CREATE FUNCTION prescient.terms_have_payload_once(terms text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT right(terms, 13) = ' payload once' $$;

-- Its payload is the schedule's again.
CREATE FUNCTION prescient.terms_given_back(terms text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT regexp_replace(terms, ' payload once$', '') $$;

-- The terms of a check that `replace` gives another life, with this payload, for one occurrence.
CREATE FUNCTION prescient.terms_replaced(f prescient.future_job, new_payload json) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT prescient.terms_given_back(prescient.terms_from_found(f.terms))
           || CASE WHEN EXISTS (SELECT FROM prescient.schedule s
                                 WHERE s.entity_name = f.entity_name AND s.entity_key = f.entity_key
                                   AND s.job_exec = f.job_exec
                                   AND s.payload::text IS DISTINCT FROM new_payload::text)
                   THEN ' payload once' ELSE '' END $$;

-- Whether the check is to find its first occurrence (run/recurring.c). One that has been run, or
-- was pulled forward, runs where it is.
CREATE FUNCTION prescient.finds_first(f prescient.future_job) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN f.terms IS NULL THEN false
                ELSE f.check_count = 0 AND f.failure_count = 0 AND f.deferred_at IS NULL
                     AND f.next_check_at >= f.first_check_at
                     AND (coalesce(f.first_check_at = prescient.first_slot_of(f.terms), false)
                          OR coalesce(f.first_check_at = prescient.sought_slot_of(f.terms), false)) END $$;

-- What the check carries (rules/terms.h). The rule holds from the moment `since` on.
CREATE FUNCTION prescient.terms_of(s prescient.schedule, since timestamptz) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT 'schedule "' || replace(s.name, '"', '""') || '" '
           || CASE WHEN s.cron IS NULL
                   THEN 'every ' || s.every_s || ' bias ' || (s.bias / 10000.0)::numeric(5, 4)
                   ELSE 'cron "' || s.cron || '" zone "' || s.timezone || '"' END
           || ' missed ' || s.missed || ' from ' || floor(date_part('epoch', since))::bigint $$;

-- ---- what is asked for --------------------------------------------------------------------------
-- rules/cron.h has the rules of cron texts, base/zone.h those of zones: SQL, engines and the
-- command line take and refuse the same.

-- An error of the caller, in words.
CREATE FUNCTION prescient.refuse_schedule(words text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'prescient: %', words USING ERRCODE = 'invalid_parameter_value';
END $$;

-- One value of a field: a number (10000 for one that is too large for any field), or a name of a
-- month or a weekday. NULL: it is neither.
CREATE FUNCTION prescient.cron_value(word text, names text[], first_of_names integer) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN word ~ '^0*[0-9]{1,4}$' THEN word::integer
                WHEN word ~ '^[0-9]+$' THEN 10000
                ELSE array_position(names, word) - 1 + first_of_names END $$;

-- Refuses what is wrong in one field, with the column at which it stands in the text. Returns the
-- values that a right one means.
CREATE FUNCTION prescient.cron_field(field text, nth integer, begins integer) RETURNS integer[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    lowest CONSTANT integer := ('{0,0,1,1,0}'::integer[])[nth];
    highest CONSTANT integer := ('{59,23,31,12,7}'::integer[])[nth];
    step_most CONSTANT integer := ('{60,24,31,12,7}'::integer[])[nth];
    names CONSTANT text[] := CASE nth WHEN 4 THEN '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}'
                                      WHEN 5 THEN '{sun,mon,tue,wed,thu,fri,sat}' END;
    expected CONSTANT text[] := '{"0 to 59, *, a range (0-30), a step (*/15)",'
                                '"0 to 23, *, a range (9-17), a step (*/2)",'
                                '"1 to 31, *, a range (1-7), a step (*/2)",'
                                '"1 to 12, jan to dec, *, a range (mar-oct), a step (*/3)",'
                                '"0 to 7 (0 and 7 are Sunday), sun to sat, *, a range (mon-fri)"}';
    item text;
    at integer := begins;
    parts text[];
    first integer;
    last integer;
    step integer;
    wrong text;
    found integer[] := '{}';
BEGIN
    FOREACH item IN ARRAY string_to_array(field, ',') LOOP
        parts := regexp_match(item, '^([*]|([0-9]+|[a-z]{3})(-([0-9]+|[a-z]{3}))?)(/([0-9]+))?$');
        first := CASE parts[1] WHEN '*' THEN lowest ELSE prescient.cron_value(parts[2], names, lowest) END;
        last := CASE WHEN parts[1] = '*' THEN highest
                     WHEN parts[4] IS NOT NULL THEN prescient.cron_value(parts[4], names, lowest)
                     WHEN parts[3] IS NULL THEN first END;
        -- Sunday is 7 at the end of a range and 0 at its beginning, however it is written
        IF nth = 5 AND parts[3] IS NOT NULL THEN
            first := CASE WHEN first = 7 AND last <> 7 THEN 0 ELSE first END;
            last := CASE WHEN last = 0 AND first <> 0 THEN 7 ELSE last END;
        END IF;
        step := coalesce(prescient.cron_value(parts[6], NULL, 0), 1);
        wrong := CASE
            WHEN first IS NULL OR last IS NULL THEN
                'expected ' || expected[nth] || ' or a list of these'
            WHEN NOT (first BETWEEN lowest AND highest AND last BETWEEN lowest AND highest) THEN
                format('expected values from %s to %s', lowest, highest)
            WHEN first > last THEN
                'the range runs backwards; expected the smaller end first, or two ranges with a comma'
            WHEN parts[5] IS NOT NULL AND parts[3] IS NULL AND parts[1] <> '*' THEN
                format('the step stands behind one value; expected a range, such as %s-%s%s', first, highest,
                       parts[5])
            WHEN step NOT BETWEEN 1 AND step_most THEN format('expected a step from 1 to %s', step_most)
        END;
        IF wrong IS NOT NULL THEN
            PERFORM prescient.refuse_schedule(format(
                'cron: %s: %s at column %s: %s', ('{minute,hour,day of month,month,weekday}'::text[])[nth],
                CASE item WHEN '' THEN 'nothing' ELSE quote_literal(left(item, 40)) END, at, wrong));
        END IF;
        found := found || ARRAY(SELECT generate_series(first, last, step));
        at := at + length(item) + 1;
    END LOOP;
    RETURN found;
END $$;

-- A cron text as it is stored: one blank between fields, small letters. Refuses what is none, and a
-- date that no year has. Letters are those of ASCII: a Turkish locale would make another letter of
-- the I of FRI.
CREATE FUNCTION prescient.cron_text(words text) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    cron CONSTANT text := lower(btrim(regexp_replace(words COLLATE "C", E'[ \t]+', ' ', 'g'), ' '));
    fields CONSTANT text[] := string_to_array(cron, ' ');
    rest text := words;
    begins integer[];
    days integer[];
    months integer[];
BEGIN
    IF octet_length(words) > 499 THEN
        PERFORM prescient.refuse_schedule(format('cron: a text of %s bytes; expected at most 499',
                                                 octet_length(words)));
    END IF;
    IF cron ~ '^@' THEN
        IF cron <> ALL ('{@yearly,@annually,@monthly,@weekly,@daily,@midnight,@hourly}') THEN
            PERFORM prescient.refuse_schedule(format(
                'cron: %s; expected five fields, or @yearly, @annually, @monthly, @weekly, @daily, @midnight '
                'or @hourly by itself', quote_literal(left(cron, 40))));
        END IF;
        RETURN cron;
    END IF;
    FOR nth IN 1 .. cardinality(fields) LOOP
        rest := ltrim(rest, E' \t');
        begins[nth] := length(words) - length(rest) + 1;
        rest := substr(rest, length(fields[nth]) + 1);
        CASE nth
            WHEN 3 THEN days := prescient.cron_field(fields[nth], nth, begins[nth]);
            WHEN 4 THEN months := prescient.cron_field(fields[nth], nth, begins[nth]);
            WHEN 1, 2, 5 THEN PERFORM prescient.cron_field(fields[nth], nth, begins[nth]);
            ELSE PERFORM prescient.refuse_schedule(format(
                'cron: %s at column %s is a sixth field; expected five: there are no seconds and no years',
                quote_literal(left(fields[nth], 40)), begins[nth]));
        END CASE;
    END LOOP;
    IF cardinality(fields) < 5 THEN
        PERFORM prescient.refuse_schedule(format(
            'cron: found %s fields, expected five: minute, hour, day of month, month and weekday, such as '
            '%L', cardinality(fields), '0 9 * * mon-fri'));
    END IF;
    IF (fields[3] || fields[5]) ~ '[*]' AND NOT EXISTS (
        SELECT FROM unnest(months) m (month), unnest(days) d (day)
         WHERE d.day <= ('{31,29,31,30,31,30,31,31,30,31,30,31}'::integer[])[m.month]) THEN
        PERFORM prescient.refuse_schedule(format(
            'cron: day of month: %s at column %s: none of the months at column %s has that day, so this '
            'would never run', quote_literal(left(fields[3], 40)), begins[3], begins[4]));
    END IF;
    RETURN cron;
END $$;

-- Whether a text may name a zone, as zone_check_name has it. What lies below posix and right is a
-- copy, not on every machine, and localtime is the machine's own.
CREATE FUNCTION prescient.zone_is_plain(words text) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT octet_length(words) <= 63 AND words COLLATE "C" ~ '^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$'
       AND words COLLATE "C" !~ '(^|/)(posix|right|localtime|posixrules|Factory)(/|$)' $$;

-- The name of a zone of tzdata that was probably meant. NULL: none is near. Slow: it reads all.
CREATE FUNCTION prescient.zone_meant(words text) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT z.name FROM pg_timezone_names z, lower(replace(btrim(words), ' ', '_')) w (name)
     WHERE (lower(z.name) = w.name OR lower(z.name) LIKE '%/' || replace(w.name, '_', E'\\_'))
       AND prescient.zone_is_plain(z.name)
     ORDER BY length(z.name), z.name COLLATE "C" LIMIT 1 $$;

-- The name of a zone; refuses what is none. Engines read zones from files, whose names have a case.
-- PostgreSQL takes names in any case, and also what only looks like a name ("Amsterdam5", of which
-- it makes AMSTERDAM5); the setting says how it reads one. So a name in capitals with a digit
-- (EST5EDT) needs the view, which is slow.
CREATE FUNCTION prescient.zone_text(words text) RETURNS text
LANGUAGE plpgsql STABLE SET TimeZone = 'UTC' AS $$
DECLARE
    meant text;
BEGIN
    IF words = 'UTC' THEN
        RETURN words;
    END IF;
    IF prescient.zone_is_plain(words) THEN
        BEGIN
            PERFORM set_config('timezone', words, true);
            IF current_setting('timezone') = words COLLATE "C"
               AND (words COLLATE "C" ~ '[a-z]' OR words !~ '[0-9]'
                    OR EXISTS (SELECT FROM pg_timezone_names z WHERE z.name = words)) THEN
                RETURN words;
            END IF;
        EXCEPTION WHEN invalid_parameter_value THEN
            NULL;
        END;
    END IF;
    meant := prescient.zone_meant(words);
    RAISE EXCEPTION 'prescient: timezone is %, expected the name of a zone, such as Europe/Amsterdam or UTC%',
        quote_literal(left(words, 80)), coalesce('; did you mean ' || meant || '?', '')
        USING ERRCODE = 'invalid_parameter_value',
              HINT = 'SELECT name FROM pg_timezone_names has them all, also those below posix and right, '
                     'which are not taken.';
END $$;

-- Whole seconds of an `every`.
CREATE FUNCTION prescient.period_s(every interval) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    seconds numeric;
BEGIN
    IF isfinite(every) AND extract(year FROM every) = 0 AND extract(month FROM every) = 0 THEN
        seconds := extract(epoch FROM every)::numeric;
    ELSIF isfinite(every) THEN
        RAISE EXCEPTION 'prescient: every is %, and months have no fixed length: cron => ''0 0 1 * *'' '
                        'is once a month', every USING ERRCODE = 'invalid_parameter_value';
    ELSIF every IS NULL THEN
        RETURN NULL;
    END IF;
    IF (seconds BETWEEN 1 AND 366 * 86400 AND seconds = trunc(seconds)) IS NOT TRUE THEN
        RAISE EXCEPTION 'prescient: every is %, expected whole seconds, from 1 second to 366 days', every
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    RETURN seconds;
END $$;

-- Ten thousandths of a bias. One that would become 0 is refused.
CREATE FUNCTION prescient.bias_of(bias numeric) RETURNS integer
LANGUAGE plpgsql IMMUTABLE AS $$
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

-- Says in a NOTICE what becomes of an `every` that slots cannot keep, in the words of the command
-- line.
CREATE FUNCTION prescient.tell_becomes(wanted text) RETURNS void
LANGUAGE plpgsql STABLE AS $$
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

-- Refuses a schedule that is none. A trigger, so that it holds for every way in.
CREATE FUNCTION prescient.require_schedule() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF (octet_length(NEW.name) BETWEEN 1 AND 255 AND NEW.name !~ '[[:cntrl:]]') IS NOT TRUE THEN
        PERFORM prescient.refuse_schedule(
            'the name of a schedule has 1 to 255 bytes and no control characters');
    END IF;
    PERFORM prescient.require_check(NEW.entity_name, NEW.entity_key, NEW.job_exec, '2000-01-01 00:00:00+00',
                                    NEW.payload, 'keep');
    PERFORM prescient.require_names(NEW.concurrency_key, NEW.tenant);
    IF NEW.every_s IS NULL = (NEW.cron IS NULL) THEN
        PERFORM prescient.refuse_schedule(
            'a schedule has either every (''5 minutes'') or cron (''0 6 * * mon-fri''), and only one of '
            'them');
    END IF;
    IF coalesce(NEW.missed <> ALL ('{run_once,run_all,skip}'), true) THEN
        PERFORM prescient.refuse_schedule(format('missed is %L, expected run_once, run_all or skip',
                                                 left(NEW.missed, 40)));
    END IF;
    IF NEW.every_s IS NOT NULL THEN
        IF NEW.timezone IS NOT NULL THEN
            PERFORM prescient.refuse_schedule(
                'a timezone belongs to cron; every counts from the end of a run');
        END IF;
        IF NEW.missed = 'run_all' THEN
            PERFORM prescient.refuse_schedule(
                'missed is ''run_all'', which belongs to cron; every counts from the end of a run, so only '
                'one can be missed');
        END IF;
        NEW.bias := coalesce(NEW.bias, 667);
        IF NEW.bias NOT BETWEEN 0 AND 5000 THEN
            PERFORM prescient.refuse_schedule(format(
                'bias is %s, expected a fraction of every from 0 to 0.5',
                (NEW.bias / 10000.0)::numeric(9, 4)));
        END IF;
        PERFORM prescient.period_s(NEW.every_s * interval '1 second');
    ELSE
        IF NEW.bias IS NOT NULL THEN
            PERFORM prescient.refuse_schedule('a bias belongs to every; cron has the times themselves');
        END IF;
        NEW.cron := prescient.cron_text(NEW.cron);
        NEW.timezone := prescient.zone_text(coalesce(NEW.timezone, 'UTC'));
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER schedule_required BEFORE INSERT OR UPDATE OF name, entity_name, entity_key, job_exec, every_s,
    bias, cron, timezone, missed, payload, concurrency_key, tenant ON prescient.schedule
    FOR EACH ROW EXECUTE FUNCTION prescient.require_schedule();

-- Refuses a schedule whose check is another one's.
CREATE FUNCTION prescient.refuse_same_check(wanted prescient.schedule) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    other text;
BEGIN
    SELECT s.name INTO other FROM prescient.schedule s
     WHERE s.entity_name = wanted.entity_name AND s.entity_key = wanted.entity_key
       AND s.job_exec = wanted.job_exec AND s.name <> wanted.name;
    IF FOUND THEN
        RAISE EXCEPTION 'prescient: schedule % is of the same check (%, %, %)', quote_literal(other),
            wanted.entity_name, wanted.entity_key, wanted.job_exec USING ERRCODE = 'unique_violation',
            HINT = 'A check has one schedule. Change that one, or name another job or key.';
    END IF;
END $$;

-- ---- its check ----------------------------------------------------------------------------------

-- Files the check of a schedule whose row the caller has locked, or starts it anew with the rule as
-- it is now. The clock is read behind the locks. In a slot that has begun it may be being answered:
-- the terms and again_at are written beside it. If it was only to find its first occurrence there,
-- it does that by the new rule.
CREATE FUNCTION prescient.file_scheduled(s prescient.schedule, at timestamptz) RETURNS timestamptz
LANGUAGE plpgsql AS $$
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
                                          next_check_at, payload, terms, concurrency_key, tenant)
        VALUES (in_bucket, s.entity_name, s.entity_key, s.job_exec, slot, slot, s.payload,
                prescient.terms_of(s, since), s.concurrency_key, s.tenant)
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
               SET terms = terms_now, payload = s.payload, concurrency_key = s.concurrency_key,
                   tenant = s.tenant, again_at = least(old.again_at, slot)
             WHERE f.bucket = in_bucket AND f.entity_name = s.entity_name AND f.entity_key = s.entity_key
               AND f.job_exec = s.job_exec;
        ELSE
            UPDATE prescient.future_job f
               SET terms = terms_now, payload = s.payload, concurrency_key = s.concurrency_key,
                   tenant = s.tenant, id = prescient.new_id(slot, in_bucket, 0), first_check_at = slot,
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
                                          next_check_at, payload, terms, concurrency_key, tenant)
        SELECT prescient.bucket_of(m.entity_name, m.entity_key), m.entity_name, m.entity_key, m.job_exec,
               slot, slot, m.payload, prescient.terms_of(m, since), m.concurrency_key, m.tenant
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

-- ---- edits --------------------------------------------------------------------------------------

-- A schedule as audit has it; NULL: it is not there.
CREATE FUNCTION prescient.rule_of(s prescient.schedule) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN s.name IS NOT NULL THEN json_build_object(
        'entity', s.entity_name, 'key', s.entity_key, 'job', s.job_exec, 'every_s', s.every_s,
        'bias', (s.bias / 10000.0)::numeric(5, 4), 'cron', s.cron, 'timezone', s.timezone, 'missed', s.missed,
        'is_active', s.is_active, 'concurrency_key', s.concurrency_key, 'tenant', s.tenant) END $$;

-- Each edit leaves a row in audit.
CREATE FUNCTION prescient.note_schedule(change text, old prescient.schedule, new prescient.schedule, who text,
                                        reason text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM prescient.note_change(change, 'schedule', coalesce(new.entity_name, old.entity_name),
                                  coalesce(new.entity_key, old.entity_key),
                                  coalesce(new.job_exec, old.job_exec), coalesce(new.name, old.name),
                                  prescient.rule_of(old), prescient.rule_of(new), who, reason);
END $$;

-- `mode`: add (it is new), set (it is there, and NULL leaves what it has), put (either; NULL is the
-- default). The outcome: new, changed or kept. If a schedule becomes one of another check, its old
-- check is ended.
CREATE FUNCTION prescient.put_schedule(mode text, wanted prescient.schedule, at timestamptz,
                                       who text, reason text,
                                       OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    stamp CONSTANT timestamptz := coalesce(at, clock_timestamp());
    old prescient.schedule;
    new prescient.schedule;
BEGIN
    PERFORM pg_current_xact_id();
    LOOP
        SELECT s.* INTO old FROM prescient.schedule s WHERE s.name = wanted.name FOR UPDATE;
        EXIT WHEN FOUND;
        IF mode = 'set' THEN
            RAISE EXCEPTION 'prescient: there is no schedule %', quote_literal(wanted.name)
                USING ERRCODE = 'no_data_found';
        END IF;
        INSERT INTO prescient.schedule (name, entity_name, entity_key, job_exec, every_s, bias, cron,
                                        timezone, missed, payload, concurrency_key, tenant, made_at,
                                        made_by, changed_at, changed_by)
        VALUES (wanted.name, wanted.entity_name, wanted.entity_key, wanted.job_exec, wanted.every_s,
                wanted.bias, wanted.cron, wanted.timezone, coalesce(wanted.missed, 'run_once'),
                wanted.payload, wanted.concurrency_key, wanted.tenant, stamp, session_user, stamp,
                session_user)
            ON CONFLICT DO NOTHING
        RETURNING * INTO new;
        IF FOUND THEN
            outcome := 'new';
            filed_at := prescient.file_scheduled(new, at);
            PERFORM prescient.note_schedule('schedule-put', NULL, new, who, reason);
            RETURN;
        END IF;
        PERFORM prescient.refuse_same_check(wanted);
    END LOOP;
    IF mode = 'add' THEN
        RAISE EXCEPTION 'prescient: there is a schedule % already', quote_literal(wanted.name)
            USING ERRCODE = 'unique_violation';
    END IF;
    IF mode = 'set' THEN
        wanted.entity_name := coalesce(wanted.entity_name, old.entity_name);
        wanted.entity_key := coalesce(wanted.entity_key, old.entity_key);
        wanted.job_exec := coalesce(wanted.job_exec, old.job_exec);
        wanted.missed := coalesce(wanted.missed, old.missed);
        wanted.payload := coalesce(wanted.payload, old.payload);
        wanted.concurrency_key := coalesce(wanted.concurrency_key, old.concurrency_key);
        wanted.tenant := coalesce(wanted.tenant, old.tenant);
        IF wanted.cron IS NULL THEN
            wanted.bias := coalesce(wanted.bias, CASE WHEN wanted.timezone IS NULL THEN old.bias END);
            wanted.cron := CASE WHEN wanted.every_s IS NULL THEN old.cron END;
            wanted.every_s := coalesce(wanted.every_s, old.every_s);
        END IF;
        IF wanted.cron IS NOT NULL THEN
            wanted.timezone := coalesce(wanted.timezone, old.timezone);
        END IF;
    END IF;
    IF (wanted.entity_name, wanted.entity_key, wanted.job_exec)
       IS DISTINCT FROM (old.entity_name, old.entity_key, old.job_exec) THEN
        PERFORM prescient.refuse_same_check(wanted);
    END IF;
    UPDATE prescient.schedule s
       SET entity_name = wanted.entity_name, entity_key = wanted.entity_key, job_exec = wanted.job_exec,
           every_s = wanted.every_s, bias = wanted.bias, cron = wanted.cron, timezone = wanted.timezone,
           missed = coalesce(wanted.missed, 'run_once'), payload = wanted.payload,
           concurrency_key = wanted.concurrency_key, tenant = wanted.tenant
     WHERE s.name = wanted.name
    RETURNING * INTO new;
    IF (new.entity_name, new.entity_key, new.job_exec, new.every_s, new.bias, new.cron, new.timezone,
        new.missed, new.payload::text, new.concurrency_key, new.tenant) IS NOT DISTINCT FROM
       (old.entity_name, old.entity_key, old.job_exec, old.every_s, old.bias, old.cron, old.timezone,
        old.missed, old.payload::text, old.concurrency_key, old.tenant) THEN
        outcome := 'kept';
        RETURN;
    END IF;
    outcome := 'changed';
    PERFORM prescient.note_schedule('schedule-put', old, new, who, reason);
    UPDATE prescient.schedule s SET changed_at = stamp, changed_by = session_user WHERE s.name = wanted.name;
    IF (new.entity_name, new.entity_key, new.job_exec) <> (old.entity_name, old.entity_key, old.job_exec) THEN
        PERFORM prescient.end_checks(old.entity_name, old.entity_key, old.job_exec, at);
    END IF;
    IF new.is_active THEN
        filed_at := prescient.file_scheduled(new, at);
    END IF;
END $$;

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

-- Makes those of `wanted` whose name nobody has, and files their checks, in two statements. Returns
-- their names. What is of the same check as another schedule is left to put_schedule, which says
-- so.
CREATE FUNCTION prescient.make_schedules(wanted json, at timestamptz) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
    stamp CONSTANT timestamptz := coalesce(at, clock_timestamp());
    made prescient.schedule[];
BEGIN
    PERFORM pg_current_xact_id();
    WITH inserted AS (
        INSERT INTO prescient.schedule AS s (name, entity_name, entity_key, job_exec, every_s, bias, cron,
                                             timezone, missed, payload, concurrency_key, tenant, made_at,
                                             made_by, changed_at, changed_by)
        SELECT w.name, w.entity_name, w.entity_key, w.job_exec, w.every_s, w.bias, w.cron, w.timezone,
               coalesce(w.missed, 'run_once'), (w.payload #>> '{}')::json, w.concurrency_key, w.tenant, stamp,
               session_user, stamp, session_user
          FROM json_populate_recordset(NULL::prescient.schedule, wanted) w
         WHERE NOT EXISTS (SELECT FROM prescient.schedule t WHERE t.name = w.name)
         ORDER BY w.name COLLATE "C"
            ON CONFLICT DO NOTHING
        RETURNING s AS one)
    SELECT array_agg(i.one) INTO made FROM inserted i;
    made := coalesce(made, '{}');
    PERFORM prescient.file_all_scheduled(made, at);
    INSERT INTO prescient.change (change, what, entity_name, entity_key, job_exec, name, after)
    SELECT 'schedule-put', 'schedule', m.entity_name, m.entity_key, m.job_exec, m.name, prescient.rule_of(m)
      FROM unnest(made) m;
    RETURN ARRAY(SELECT m.name FROM unnest(made) m);
END $$;

-- Puts many in one transaction. `wanted`: an array of objects, each of another name, whose members
-- are columns of prescient.schedule, all texts; the payload is a text, too. Each is put as by
-- put_schedule('put'). What is there is locked first, in the order of names, in which all such
-- calls lock. Returns how many are new or changed.
CREATE FUNCTION prescient.put_schedules(wanted json, at timestamptz) RETURNS bigint
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
        IF (prescient.put_schedule('put', s, at, NULL, NULL)).outcome <> 'kept' THEN
            n := n + 1;
        END IF;
    END LOOP;
    RETURN n;
END $$;

-- Off: its check is ended. On: it is filed, and the rule holds from now on. False: it was so.
CREATE FUNCTION prescient.switch_schedule(name text, active boolean, why text, at timestamptz, who text)
    RETURNS boolean
LANGUAGE plpgsql AS $$
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
    PERFORM prescient.note_change(CASE WHEN active THEN 'schedule-on' ELSE 'schedule-off' END, 'schedule',
                                  s.entity_name, s.entity_key, s.job_exec, s.name,
                                  json_build_object('is_active', NOT active),
                                  json_build_object('is_active', active), who, why);
    IF active THEN
        PERFORM prescient.file_scheduled(s, at);
    ELSE
        PERFORM prescient.resolve_at(s.entity_name, s.entity_key, s.job_exec, at);
    END IF;
    RETURN true;
END $$;

-- Deletes the schedule, then ends its check, in that order of locks. False: there is none.
CREATE FUNCTION prescient.remove_schedule(name text, at timestamptz, who text, reason text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    wanted CONSTANT text := name;
    s prescient.schedule;
BEGIN
    PERFORM pg_current_xact_id();
    DELETE FROM prescient.schedule t WHERE t.name = wanted RETURNING t.* INTO s;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM prescient.note_schedule('schedule-remove', s, NULL, who, reason);
    PERFORM prescient.resolve_at(s.entity_name, s.entity_key, s.job_exec, at);
    RETURN true;
END $$;

-- Files the checks that active schedules lack: somebody has deleted the check by hand, or restored
-- a copy of the table. It takes up to `most` schedules after the name `after`. Returns how many
-- checks it filed, and the last name; NULL at the end. Each schedule is locked, and then asked
-- again whether it is on.
CREATE FUNCTION prescient.repair_schedules(after text, most integer, at timestamptz, OUT filed bigint,
                                           OUT last_name text)
LANGUAGE plpgsql AS $$
DECLARE
    looked integer := 0;
    missing text[];
    one text;
    s prescient.schedule;
BEGIN
    filed := 0;
    WITH looked_at AS MATERIALIZED (
        SELECT t.name, t.entity_name, t.entity_key, t.job_exec, t.is_active FROM prescient.schedule t
         WHERE after IS NULL OR t.name > after ORDER BY t.name LIMIT most)
    SELECT count(*), max(t.name),
           array_agg(t.name ORDER BY t.name) FILTER (WHERE t.is_active AND NOT EXISTS (
               SELECT FROM prescient.future_job f
                WHERE f.bucket = prescient.bucket_of(t.entity_name, t.entity_key)
                  AND f.entity_name = t.entity_name AND f.entity_key = t.entity_key
                  AND f.job_exec = t.job_exec))
      INTO looked, last_name, missing FROM looked_at t;
    IF looked < most THEN
        last_name := NULL;
    END IF;
    FOREACH one IN ARRAY coalesce(missing, '{}') LOOP
        SELECT t.* INTO s FROM prescient.schedule t WHERE t.name = one AND t.is_active FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        CONTINUE WHEN EXISTS (SELECT FROM prescient.future_job f
                               WHERE f.bucket = prescient.bucket_of(s.entity_name, s.entity_key)
                                 AND f.entity_name = s.entity_name AND f.entity_key = s.entity_key
                                 AND f.job_exec = s.job_exec);
        PERFORM prescient.file_scheduled(s, at);
        filed := filed + 1;
    END LOOP;
END $$;

-- ---- the functions of applications --------------------------------------------------------------

-- part: key_type text_key
text
-- part: key_type any_key
anyelement
-- part: require_key_type text_key
-- part: require_key_type any_key
PERFORM prescient.require_key_type('key', pg_typeof(key));
-- end

-- What applications and the command line call. Each locks the schedule first, then its check, so
-- that two changes of one schedule wait for each other; an engine is waited for only while it
-- settles that very check.

-- for each: text_key any_key
CREATE FUNCTION prescient.schedule(name text, entity text, key {key_type}, job text,
                                   every interval DEFAULT NULL, cron text DEFAULT NULL,
                                   timezone text DEFAULT NULL, missed text DEFAULT 'run_once',
                                   bias numeric DEFAULT NULL, payload anycompatible DEFAULT NULL::text,
                                   concurrency_key text DEFAULT NULL,
                                   tenant text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted prescient.schedule;
    outcome text;
BEGIN
    -- First the types: a caller's own cast would run with the owner's rights.
    {require_key_type}
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
    wanted.concurrency_key := concurrency_key;
    wanted.tenant := tenant;
    outcome := (prescient.put_schedule('put', wanted, prescient.tests_at(), NULL, NULL)).outcome;
    PERFORM prescient.tell_becomes(name);
    RETURN outcome;
END $$;

-- end
COMMENT ON FUNCTION prescient.schedule(text, text, text, text, interval, text, text, text, numeric,
                                       anycompatible, text, text) IS
    'Runs `job` for row `key` of `entity` again and again: every => an interval from the end of one run to '
    'the next, or cron => five fields in a timezone. Makes the schedule, or changes the one of that name. '
    'Returns new, changed or kept.';
COMMENT ON FUNCTION prescient.schedule(text, text, anyelement, text, interval, text, text, text, numeric,
                                       anycompatible, text, text) IS
    'The same, for a key of type smallint, integer, bigint or uuid.';

CREATE FUNCTION prescient.schedule_set(name text, every interval DEFAULT NULL, cron text DEFAULT NULL,
                                       timezone text DEFAULT NULL, missed text DEFAULT NULL,
                                       bias numeric DEFAULT NULL,
                                       payload anycompatible DEFAULT NULL::text,
                                       concurrency_key text DEFAULT NULL,
                                       tenant text DEFAULT NULL) RETURNS text
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
    wanted.concurrency_key := concurrency_key;
    wanted.tenant := tenant;
    outcome := (prescient.put_schedule('set', wanted, prescient.tests_at(), NULL, NULL)).outcome;
    IF every IS NOT NULL OR bias IS NOT NULL THEN
        PERFORM prescient.tell_becomes(name);
    END IF;
    RETURN outcome;
END $$;
COMMENT ON FUNCTION prescient.schedule_set(text, interval, text, text, text, numeric, anycompatible, text,
                                           text) IS
    'Changes what is given of a schedule, and leaves the rest. Returns changed or kept.';

CREATE FUNCTION prescient.schedule_on(name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN prescient.switch_schedule(name COLLATE "default", true, NULL, prescient.tests_at(), NULL);
END $$;
COMMENT ON FUNCTION prescient.schedule_on(text) IS
    'Switches a schedule on: its rule holds from now on. False: it was on.';

CREATE FUNCTION prescient.schedule_off(name text, why text DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN prescient.switch_schedule(name COLLATE "default", false, why, prescient.tests_at(), NULL);
END $$;
COMMENT ON FUNCTION prescient.schedule_off(text, text) IS
    'Switches a schedule off and ends its check; who, when and why are kept. False: it was off.';

CREATE FUNCTION prescient.unschedule(name text) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN prescient.remove_schedule(name COLLATE "default", prescient.tests_at(), NULL, NULL);
END $$;
COMMENT ON FUNCTION prescient.unschedule(text) IS
    'Removes a schedule and ends its check. False: there was none of that name.';

-- What is asked for over HTTP. mode: put or set, as for put_schedule, on, off or remove; wanted: an
-- object whose members are columns of prescient.schedule. The outcome: new, changed, kept; removed
-- or not_found.
CREATE FUNCTION prescient.change_schedule(mode text, wanted json, who text DEFAULT NULL,
                                          reason text DEFAULT NULL, OUT outcome text,
                                          OUT filed_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    s prescient.schedule := json_populate_record(NULL::prescient.schedule, wanted);
BEGIN
    IF mode = 'remove' THEN
        outcome := CASE WHEN prescient.remove_schedule(s.name, prescient.tests_at(), who COLLATE "default",
                                                       reason COLLATE "default")
                        THEN 'removed' ELSE 'not_found' END;
        RETURN;
    END IF;
    IF mode IN ('set', 'on', 'off')
       AND NOT EXISTS (SELECT FROM prescient.schedule t WHERE t.name = s.name) THEN
        outcome := 'not_found';
        RETURN;
    END IF;
    IF mode IN ('on', 'off') THEN
        outcome := CASE WHEN prescient.switch_schedule(s.name, mode = 'on', reason COLLATE "default",
                                                       prescient.tests_at(), who COLLATE "default")
                        THEN 'changed' ELSE 'kept' END;
        RETURN;
    END IF;
    s.payload := prescient.document_of(s.payload::text);
    SELECT p.outcome, p.filed_at INTO outcome, filed_at
      FROM prescient.put_schedule(mode COLLATE "default", s, prescient.tests_at(), who COLLATE "default",
                                  reason COLLATE "default") p;
END $$;
COMMENT ON FUNCTION prescient.change_schedule(text, json, text, text) IS
    'Makes, changes, switches or removes a schedule for somebody: put, set, on, off or remove. It leaves a '
    'row in audit.';

-- ---- for readers --------------------------------------------------------------------------------

CREATE VIEW prescient.schedules AS
    SELECT s.name, s.entity_name, s.entity_key, s.job_exec, s.every_s,
           (s.bias / 10000.0)::numeric(5, 4) AS bias, s.cron,
           s.timezone, s.missed, s.is_active,
           (SELECT f.next_check_at FROM prescient.future_job f
             WHERE f.bucket = prescient.bucket_of(s.entity_name, s.entity_key)
               AND f.entity_name = s.entity_name AND f.entity_key = s.entity_key
               AND f.job_exec = s.job_exec) AS next_check_at,
           s.made_at, s.made_by, s.changed_at, s.changed_by, s.switched_at, s.switched_by, s.switched_why,
           s.concurrency_key, s.tenant
      FROM prescient.schedule s;
COMMENT ON VIEW prescient.schedules IS 'Schedules, one row each.';
COMMENT ON COLUMN prescient.schedules.every_s IS 'Seconds from the end of a run to the next one; NULL: cron.';
COMMENT ON COLUMN prescient.schedules.next_check_at IS
    'The slot under which its check is filed; from the year 9000 on: it is paused; NULL: none waits.';
COMMENT ON COLUMN prescient.schedules.switched_why IS 'Why it was last switched off or on.';
COMMENT ON COLUMN prescient.schedules.concurrency_key IS
    'The key of each of its checks: those that share one are not run at the same moment; NULL: none.';
COMMENT ON COLUMN prescient.schedules.tenant IS 'Whose each of its checks is; NULL: nobody says.';
