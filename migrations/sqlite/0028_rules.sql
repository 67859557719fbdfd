-- oldest engine: 16
-- SQL reads the rules of schedules as engines and the command line do, and says what it refuses.
-- The CHECKs of prescient_schedule looked at the shape of a cron text alone. And under INSERT OR
-- IGNORE a CHECK drops a row without a word, as the head of 0002_raise has it. A message of RAISE
-- is a literal here, since SQLite before 3.47 takes no other: so it names the field of a cron text,
-- and no column.

-- The five fields: what is the least in them, the most, the longest step, and which names.
CREATE VIEW prescient_cron_field (nth, least, most, longest_step, names) AS
VALUES (0, 0, 59, 60, '{}'),
       (1, 0, 23, 24, '{}'),
       (2, 1, 31, 31, '{}'),
       (3, 1, 12, 12, '{"jan":1,"feb":2,"mar":3,"apr":4,"may":5,"jun":6,"jul":7,"aug":8,"sep":9,"oct":10,' ||
                      '"nov":11,"dec":12}'),
       (4, 0, 7, 7, '{"sun":0,"mon":1,"tue":2,"wed":3,"thu":4,"fri":5,"sat":6}');

-- Refuses a cron text that engines do not read (rules/cron.h), and a date that no year has. The
-- text has one blank between fields and small letters, as it is stored. json_each cuts it into
-- fields, and those into items; what is left to it then has no character that ends a text of JSON.
CREATE VIEW prescient_require_cron (cron) AS SELECT NULL WHERE 0;

CREATE TRIGGER prescient_require_cron_insert INSTEAD OF INSERT ON prescient_require_cron
BEGIN
    SELECT CASE
           WHEN length(CAST(NEW.cron AS BLOB)) > 499
           THEN RAISE(ABORT, 'prescient: cron must have at most 499 bytes')
           WHEN instr(NEW.cron, char(0)) <> 0
           THEN RAISE(ABORT, 'prescient: cron must have no NUL')
           WHEN NEW.cron IN ('@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly')
           THEN NULL
           WHEN NEW.cron GLOB '@*'
           THEN RAISE(ABORT,
             'prescient: cron: expected @yearly, @annually, @monthly, @weekly, @daily, @midnight or @hourly')
           WHEN NEW.cron GLOB '*[^-a-z0-9*,/ ]*'
           THEN RAISE(ABORT, 'prescient: cron: expected digits, names, *, comma, - and / in the fields')
           WHEN length(NEW.cron) - length(replace(NEW.cron, ' ', '')) <> 4
             OR NEW.cron NOT GLOB '?* ?* ?* ?* ?*'
           THEN RAISE(ABORT,
             'prescient: cron: expected five fields: minute, hour, day of month, month and weekday')
           END;
    SELECT CASE min(wrong)
           WHEN 1 THEN RAISE(ABORT,
             'prescient: cron: minute: expected 0 to 59, *, a range (0-30), a step (*/15) or a list')
           WHEN 2 THEN RAISE(ABORT,
             'prescient: cron: minute: a range runs backwards; expected the smaller end first')
           WHEN 3 THEN RAISE(ABORT,
             'prescient: cron: minute: a step stands behind one value, expected it behind a range')
           WHEN 4 THEN RAISE(ABORT, 'prescient: cron: minute: a step must be a number from 1 to 60')
           WHEN 11 THEN RAISE(ABORT,
             'prescient: cron: hour: expected 0 to 23, *, a range (9-17), a step (*/2) or a list')
           WHEN 12 THEN RAISE(ABORT,
             'prescient: cron: hour: a range runs backwards; expected the smaller end first')
           WHEN 13 THEN RAISE(ABORT,
             'prescient: cron: hour: a step stands behind one value, expected it behind a range')
           WHEN 14 THEN RAISE(ABORT, 'prescient: cron: hour: a step must be a number from 1 to 24')
           WHEN 21 THEN RAISE(ABORT,
             'prescient: cron: day of month: expected 1 to 31, *, a range (1-7), a step (*/2) or a list')
           WHEN 22 THEN RAISE(ABORT,
             'prescient: cron: day of month: a range runs backwards; expected the smaller end first')
           WHEN 23 THEN RAISE(ABORT,
             'prescient: cron: day of month: a step stands behind one value, expected it behind a range')
           WHEN 24 THEN RAISE(ABORT, 'prescient: cron: day of month: a step must be a number from 1 to 31')
           WHEN 31 THEN RAISE(ABORT,
             'prescient: cron: month: expected 1 to 12, jan to dec, *, a range (mar-oct) or a list')
           WHEN 32 THEN RAISE(ABORT,
             'prescient: cron: month: a range runs backwards; expected the smaller end first')
           WHEN 33 THEN RAISE(ABORT,
             'prescient: cron: month: a step stands behind one value, expected it behind a range')
           WHEN 34 THEN RAISE(ABORT, 'prescient: cron: month: a step must be a number from 1 to 12')
           WHEN 41 THEN RAISE(ABORT,
             'prescient: cron: weekday: expected 0 to 7, sun to sat, *, a range (mon-fri) or a list')
           WHEN 42 THEN RAISE(ABORT,
             'prescient: cron: weekday: a range runs backwards; expected the smaller end first')
           WHEN 43 THEN RAISE(ABORT,
             'prescient: cron: weekday: a step stands behind one value, expected it behind a range')
           WHEN 44 THEN RAISE(ABORT, 'prescient: cron: weekday: a step must be a number from 1 to 7')
           ELSE CASE WHEN max(is_star AND nth IN (2, 4)) AND max(longest) < min(low) FILTER (WHERE nth = 2)
                THEN RAISE(ABORT,
                  'prescient: cron: day of month: none of the months has that day, so it would never run')
                END
           END
      FROM (
        SELECT nth, is_star, low,
               10 * nth + CASE WHEN coalesce(low NOT BETWEEN least AND most, 1)
                                 OR coalesce(high NOT BETWEEN least AND most, 1) THEN 1
                               WHEN low > high THEN 2
                               WHEN step IS NOT NULL AND NOT is_star AND NOT is_range THEN 3
                               WHEN step NOT GLOB '[0-9]*' OR step GLOB '*[^0-9]*'
                                 OR CAST(step AS INTEGER) NOT BETWEEN 1 AND longest_step THEN 4
                               END AS wrong,
               -- of the months that this item means, the days of the longest
               (SELECT max(m.value) FROM json_each('[31,29,31,30,31,30,31,31,30,31,30,31]') AS m
                 WHERE nth = 3 AND m.key + 1 BETWEEN low AND high
                   AND (m.key + 1 - low) % coalesce(CAST(step AS INTEGER), 1) = 0) AS longest
          FROM (
            SELECT nth, least, most, longest_step, is_star, is_range, step,
                   -- Sunday is 7 at the end of a range and 0 at its beginning
                   CASE WHEN nth = 4 AND is_range AND low = 7 AND high <> 7 THEN 0 ELSE low END AS low,
                   CASE WHEN nth = 4 AND is_range AND high = 0 AND low NOT IN (0, 7) THEN 7
                        ELSE high END AS high
              FROM (
                SELECT nth, least, most, longest_step, is_star, is_range, step,
                       CASE WHEN is_star THEN least
                        WHEN a GLOB '[0-9]*' AND a NOT GLOB '*[^0-9]*' THEN CAST(a AS INTEGER)
                        WHEN a GLOB '[a-z][a-z][a-z]' THEN names ->> a END AS low,
                       CASE WHEN is_star THEN most
                        WHEN b GLOB '[0-9]*' AND b NOT GLOB '*[^0-9]*' THEN CAST(b AS INTEGER)
                        WHEN b GLOB '[a-z][a-z][a-z]' THEN names ->> b END AS high
                  FROM (
                    SELECT e.nth, e.least, e.most, e.longest_step, e.names, i.step,
                           i.ends = '*' AS is_star, instr(i.ends, '-') > 0 AS is_range,
                           substr(i.ends, 1, instr(i.ends || '-', '-') - 1) AS a,
                           substr(i.ends, instr(i.ends, '-') + 1) AS b
                      FROM (SELECT f.key AS nth,
                                   substr(item.value, 1, instr(item.value || '/', '/') - 1) AS ends,
                                   CASE WHEN instr(item.value, '/')
                                        THEN substr(item.value, instr(item.value, '/') + 1) END AS step
                              FROM json_each('["' || replace(NEW.cron, ' ', '","') || '"]') AS f,
                                   json_each('["' || replace(f.value, ',', '","') || '"]') AS item
                             WHERE NEW.cron NOT GLOB '@*') AS i
                      JOIN prescient_cron_field AS e ON e.nth = i.nth))));
END;

-- What the CHECKs of prescient_schedule refuse, and what they do not see.
CREATE VIEW prescient_require_schedule (name, every_s, bias, cron, timezone, missed, is_active) AS
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;

CREATE TRIGGER prescient_require_schedule_insert INSTEAD OF INSERT ON prescient_require_schedule
BEGIN
    SELECT CASE
           WHEN coalesce(length(CAST(NEW.name AS BLOB)), 0) NOT BETWEEN 1 AND 255
             OR instr(NEW.name, char(0)) <> 0
             OR NEW.name GLOB '*[' || char(1) || '-' || char(31) || char(127) || ']*'
           THEN RAISE(ABORT,
             'prescient: the name of a schedule must have 1 to 255 bytes and no control characters')
           WHEN (NEW.every_s IS NULL) = (NEW.cron IS NULL)
           THEN RAISE(ABORT, 'prescient: a schedule must have either every_s or cron, and only one of them')
           WHEN NEW.every_s NOT BETWEEN 1 AND 31622400
           THEN RAISE(ABORT, 'prescient: every_s must be whole seconds, from 1 to 31622400 (366 days)')
           WHEN (NEW.bias IS NULL) <> (NEW.every_s IS NULL) OR NEW.bias NOT BETWEEN 0 AND 5000
           THEN RAISE(ABORT, 'prescient: bias must be a fraction of every_s from 0 to 0.5, and only there')
           WHEN NEW.missed IS NULL OR NEW.missed NOT IN ('run_once', 'run_all', 'skip')
           THEN RAISE(ABORT, 'prescient: missed must be run_once, run_all or skip')
           WHEN NEW.missed = 'run_all' AND NEW.cron IS NULL
           THEN RAISE(ABORT,
             'prescient: missed = run_all belongs to cron; with every_s only one run can be missed')
           WHEN NEW.timezone IS NOT NULL AND NEW.cron IS NULL
           THEN RAISE(ABORT, 'prescient: a timezone belongs to cron; every_s counts from the end of a run')
           WHEN NEW.cron IS NOT NULL
            AND (coalesce(length(CAST(NEW.timezone AS BLOB)), 0) NOT BETWEEN 1 AND 63
                 OR instr(NEW.timezone, char(0)) <> 0 OR NEW.timezone GLOB '*[^-A-Za-z0-9_+/]*'
                 OR '/' || NEW.timezone || '/' GLOB '*//*')
           THEN RAISE(ABORT,
             'prescient: timezone must be the name of a zone, such as Europe/Amsterdam or UTC')
           WHEN '/' || NEW.timezone || '/' GLOB '*/posix/*' OR '/' || NEW.timezone || '/' GLOB '*/right/*'
             OR '/' || NEW.timezone || '/' GLOB '*/localtime/*'
             OR '/' || NEW.timezone || '/' GLOB '*/posixrules/*'
             OR '/' || NEW.timezone || '/' GLOB '*/Factory/*'
           THEN RAISE(ABORT,
             'prescient: timezone: what is in posix or right, localtime, posixrules and Factory are none')
           WHEN NEW.is_active IS NULL OR NEW.is_active NOT IN (0, 1)
           THEN RAISE(ABORT, 'prescient: is_active must be 0 or 1')
           END;
    INSERT INTO prescient_require_cron SELECT NEW.cron WHERE NEW.cron IS NOT NULL;
END;

CREATE TRIGGER prescient_schedule_insert_required BEFORE INSERT ON prescient_schedule
BEGIN
    INSERT INTO prescient_require_schedule
    VALUES (NEW.name, NEW.every_s, NEW.bias, NEW.cron, NEW.timezone, NEW.missed, NEW.is_active);
END;

CREATE TRIGGER prescient_schedule_update_required
BEFORE UPDATE OF name, every_s, bias, cron, timezone, missed, is_active ON prescient_schedule
BEGIN
    INSERT INTO prescient_require_schedule
    VALUES (NEW.name, NEW.every_s, NEW.bias, NEW.cron, NEW.timezone, NEW.missed, NEW.is_active);
END;

-- As 0013_schedules has it. A cron text may have blanks in front, behind, and more than one between
-- fields. One with a character that belongs to none is left as it is, and refused.
DROP TRIGGER prescient_schedules_insert;

CREATE TRIGGER prescient_schedules_insert INSTEAD OF INSERT ON prescient_schedules
BEGIN
    SELECT RAISE(ABORT, 'prescient: now must be whole seconds since the epoch')
     WHERE NEW.now IS NOT NULL AND (typeof(NEW.now) <> 'integer' OR NEW.now NOT BETWEEN 0 AND 253402300799);
    SELECT RAISE(ABORT, 'prescient: every_s must be whole seconds, from 1 to 31622400 (366 days)')
     WHERE NEW.every_s IS NOT NULL AND typeof(NEW.every_s) <> 'integer';
    SELECT RAISE(ABORT, 'prescient: bias must be a fraction of every_s from 0 to 0.5, and only there')
     WHERE NEW.bias IS NOT NULL AND (typeof(NEW.bias) NOT IN ('integer', 'real')
                                     OR NEW.bias NOT BETWEEN 0 AND 0.5
                                     OR (NEW.bias > 0 AND NEW.bias < 0.00005));
    SELECT RAISE(ABORT, 'prescient: cron, timezone and missed must be texts')
     WHERE typeof(NEW.cron) = 'blob' OR typeof(NEW.timezone) = 'blob' OR typeof(NEW.missed) = 'blob';
    SELECT RAISE(ABORT, 'prescient: cron must have at most 499 bytes')
     WHERE length(CAST(NEW.cron AS BLOB)) > 499;
    INSERT INTO prescient_put_schedule
    VALUES (NEW.name, NEW.entity_name, NEW.entity_key, NEW.job_exec, NEW.every_s,
            CASE WHEN NEW.every_s IS NOT NULL THEN CAST(round(coalesce(NEW.bias, 0.0667) * 10000) AS INTEGER)
                 ELSE CAST(round(NEW.bias * 10000) AS INTEGER) END,
            CASE WHEN NEW.cron GLOB '*[^-A-Za-z0-9@*,/ ' || char(9) || ']*' OR instr(NEW.cron, char(0)) <> 0
                 THEN NEW.cron
                 ELSE trim(replace(replace(replace(replace(lower(NEW.cron), char(9), ' '), ' ', '<>'),
                                           '><', ''), '<>', ' ')) END,
            CASE WHEN NEW.cron IS NOT NULL THEN coalesce(NEW.timezone, 'UTC') ELSE NEW.timezone END,
            coalesce(NEW.missed, 'run_once'), NEW.payload,
            coalesce(NEW.now, CAST(strftime('%s', 'now') AS INTEGER)));
END;

CREATE TRIGGER prescient_pause_required BEFORE INSERT ON prescient_pause
BEGIN
    SELECT CASE
           WHEN NEW.what IS NULL OR NEW.what NOT IN ('job', 'entity', 'schedule')
           THEN RAISE(ABORT, 'prescient: what must be job, entity or schedule')
           WHEN coalesce(length(CAST(NEW.name AS BLOB)), 0) NOT BETWEEN 1 AND 1024
             OR instr(NEW.name, char(0)) <> 0
           THEN RAISE(ABORT, 'prescient: name must have 1 to 1024 bytes and no NUL')
           WHEN length(CAST(NEW.reason AS BLOB)) > 4096
           THEN RAISE(ABORT, 'prescient: reason must have at most 4096 bytes')
           END;
END;
