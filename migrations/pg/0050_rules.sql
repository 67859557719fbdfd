-- 0050_rules - SQL reads the rules of schedules as engines and the command line do.
-- oldest engine: 32
--
-- What one of them took and the other refused: Sunday at either end of a range (fri-sun, 7-2),
-- steps past the end of a field (*/90), numbers with many zeros in front, names of zones in another
-- case (europe/amsterdam), the copies of zones under posix/ and right/, blanks that make a text too
-- long. rules/cron.h has the rule of cron texts, base/zone.h that of zones.

-- One value of a field: a number (one that is too large for every field: 10000), or a name of a
-- month or a weekday. NULL: it is neither.
CREATE OR REPLACE FUNCTION prescient.cron_value(word text, names text[], first_of_names integer)
    RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN word ~ '^0*[0-9]{1,4}$' THEN word::integer
                WHEN word ~ '^[0-9]+$' THEN 10000
                ELSE array_position(names, word) - 1 + first_of_names END $$;

-- Refuses what is wrong in one field, with the column at which it stands in the text. What is right
-- is returned: the values that it means.
CREATE OR REPLACE FUNCTION prescient.cron_field(field text, nth integer, begins integer) RETURNS integer[]
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
CREATE OR REPLACE FUNCTION prescient.cron_text(words text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    cron CONSTANT text := lower(btrim(regexp_replace(words COLLATE "C", '[ \t]+', ' ', 'g'), ' '));
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
CREATE FUNCTION prescient.zone_is_plain(words text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT octet_length(words) <= 63 AND words COLLATE "C" ~ '^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$'
       AND words COLLATE "C" !~ '(^|/)(posix|right|localtime|posixrules|Factory)(/|$)' $$;

-- The name of a zone of tzdata that was probably meant. NULL: none is near. Slow: it reads all.
CREATE FUNCTION prescient.zone_meant(words text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT z.name FROM pg_timezone_names z, lower(replace(btrim(words), ' ', '_')) w (name)
     WHERE (lower(z.name) = w.name OR lower(z.name) LIKE '%/' || replace(w.name, '_', '\_'))
       AND prescient.zone_is_plain(z.name)
     ORDER BY length(z.name), z.name COLLATE "C" LIMIT 1 $$;

-- Engines read zones from files, whose names have a case. PostgreSQL takes names in any case, and
-- also what only looks like a name ("Amsterdam5", of which it makes AMSTERDAM5); the setting says
-- how it reads one. So a name in capitals with a digit (EST5EDT) needs the view, which is slow.
CREATE OR REPLACE FUNCTION prescient.zone_text(words text) RETURNS text
LANGUAGE plpgsql STABLE SET timezone = 'UTC' AS $$
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
CREATE OR REPLACE FUNCTION prescient.period_s(every interval) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
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

REVOKE ALL ON FUNCTION prescient.zone_meant(text), prescient.zone_is_plain(text) FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT EXECUTE ON FUNCTION prescient.zone_meant(text), prescient.zone_is_plain(text)
            TO prescient_engine;
    END IF;
END $$;
