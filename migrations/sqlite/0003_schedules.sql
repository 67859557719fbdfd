-- 0003_schedules - a name, a check, and the rule by which it recurs.
--
-- A row of prescient_schedule is the definition. Its one pending check is a row of
-- prescient_future_job like any other, with the rule in its terms. When an occurrence ends, the
-- settle starts the check anew at the next one.
--
-- Engines compute the times, and SQL computes none. SQL files the check under the next slot that
-- has not begun, and adds to its terms `from`, the moment from which on the rule holds. The engine
-- that reads the check there runs it if an occurrence lies between that moment and the slot. If
-- none does, it moves the check unrun to the first occurrence.

-- ---- what is refused ----------------------------------------------------------------------------

-- A message names the field of a cron text and not the column: RAISE takes no other text than a
-- literal (0002_enqueue).

-- The five fields of a cron text: the smallest value, the largest one, the longest step, names.
CREATE VIEW prescient_cron_field (nth, least, most, longest_step, names) AS
VALUES (0, 0, 59, 60, '{}'),
       (1, 0, 23, 24, '{}'),
       (2, 1, 31, 31, '{}'),
       (3, 1, 12, 12, '{"jan":1,"feb":2,"mar":3,"apr":4,"may":5,"jun":6,"jul":7,"aug":8,"sep":9,"oct":10,' ||
                      '"nov":11,"dec":12}'),
       (4, 0, 7, 7, '{"sun":0,"mon":1,"tue":2,"wed":3,"thu":4,"fri":5,"sat":6}');

-- INSERT INTO prescient_require_cron VALUES (cron) refuses a cron text that engines cannot parse
-- (engine/rules/cron.h), or that names a date which no year has. It stores nothing. The text is as
-- it is stored: small letters, one blank between fields. json_each splits it into fields, and those
-- into items: the characters that are left by then end no string of JSON.
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
               -- how many days the longest month of this item has
               (SELECT max(m.value) FROM json_each('[31,29,31,30,31,30,31,31,30,31,30,31]') AS m
                 WHERE nth = 3 AND m.key + 1 BETWEEN low AND high
                   AND (m.key + 1 - low) % coalesce(CAST(step AS INTEGER), 1) = 0) AS longest
          FROM (
            SELECT nth, least, most, longest_step, is_star, is_range, step,
                   -- Sunday is 0 where a range begins, and 7 where it ends
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

-- INSERT INTO prescient_require_schedule refuses what a schedule cannot have. It refuses more than
-- the constraints of the table, in better words, and under OR IGNORE, too. bias: in ten
-- thousandths.
CREATE VIEW prescient_require_schedule (name, entity_name, job_exec, every_s, bias, cron, timezone, missed,
                                        is_active, switched_why) AS
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;

CREATE TRIGGER prescient_require_schedule_insert INSTEAD OF INSERT ON prescient_require_schedule
BEGIN
    SELECT CASE
           WHEN NEW.entity_name = 'prescient.event'
           THEN RAISE(ABORT,
             'prescient: entity_name is prescient.event, which stands for deliveries: only events file them')
           WHEN NEW.entity_name = 'prescient.digest'
           THEN RAISE(ABORT,
             'prescient: entity_name is prescient.digest, which stands for digests: only engines file them')
           WHEN NEW.entity_name GLOB '{*'
           THEN RAISE(ABORT,
             'prescient: entity_name begins with {, like an array: it must be one name, and a row one check')
           WHEN NEW.job_exec GLOB '{*'
           THEN RAISE(ABORT,
             'prescient: job_exec begins with {, like an array: it must be one name, and a row one check')
           WHEN length(CAST(NEW.switched_why AS BLOB)) > 4096 OR instr(NEW.switched_why, char(0)) <> 0
           THEN RAISE(ABORT, 'prescient: switched_why must have at most 4096 bytes and no NUL')
           WHEN coalesce(length(CAST(NEW.name AS BLOB)), 0) NOT BETWEEN 1 AND 255
             OR instr(NEW.name, char(0)) <> 0
             OR NEW.name GLOB '*[' || char(1) || '-' || char(31) || char(127) || ']*'
           THEN RAISE(ABORT,
             'prescient: the name of a schedule must have 1 to 255 bytes and no control characters')
           WHEN (NEW.every_s IS NULL) = (NEW.cron IS NULL)
           THEN RAISE(ABORT, 'prescient: a schedule must have either every_s or cron, and only one of them')
           WHEN NEW.every_s NOT BETWEEN 1 AND 31622400
           THEN RAISE(ABORT, 'prescient: every_s must be whole seconds, from 1 to 31622400 (366 days)')
           WHEN NEW.timezone IS NOT NULL AND NEW.cron IS NULL
           THEN RAISE(ABORT, 'prescient: a timezone belongs to cron; every_s counts from the end of a run')
           WHEN (NEW.bias IS NULL) <> (NEW.every_s IS NULL) OR NEW.bias NOT BETWEEN 0 AND 5000
           THEN RAISE(ABORT, 'prescient: bias must be a fraction of every_s from 0 to 0.5, and only there')
           WHEN NEW.missed IS NULL OR NEW.missed NOT IN ('run_once', 'run_all', 'skip')
           THEN RAISE(ABORT, 'prescient: missed must be run_once, run_all or skip')
           WHEN NEW.missed = 'run_all' AND NEW.cron IS NULL
           THEN RAISE(ABORT,
             'prescient: missed = run_all belongs to cron; with every_s only one run can be missed')
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
    VALUES (NEW.name, NEW.entity_name, NEW.job_exec, NEW.every_s, NEW.bias, NEW.cron, NEW.timezone,
            NEW.missed, NEW.is_active, NEW.switched_why);
END;

CREATE TRIGGER prescient_schedule_update_required
BEFORE UPDATE OF name, entity_name, job_exec, every_s, bias, cron, timezone, missed, is_active, switched_why
ON prescient_schedule
BEGIN
    INSERT INTO prescient_require_schedule
    VALUES (NEW.name, NEW.entity_name, NEW.job_exec, NEW.every_s, NEW.bias, NEW.cron, NEW.timezone,
            NEW.missed, NEW.is_active, NEW.switched_why);
END;

-- ---- the check of a schedule --------------------------------------------------------------------

-- The checks with `from` in their terms.
--   since        the moment in `from`
--   first_slot   the first slot after it
--   sought       the slot in `sought`: where the check was filed to find its first occurrence, if
--                that is not first_slot; NULL: the word is not there
--   finds_first  the check waits for an engine to find its first occurrence. One that was run, or
--                moved to another slot, runs where it is.
--   kept, found  its terms without `from`; and without `sought`, too
CREATE VIEW prescient_first (id, entity_name, entity_key, job_exec, since, first_slot, sought, finds_first,
                             kept, found) AS
SELECT id, entity_name, entity_key, job_exec, since, (since / value + 1) * value, sought,
       is_fresh AND (first_check_at = (since / value + 1) * value OR coalesce(first_check_at = sought, 0)),
       kept, CASE WHEN sought IS NULL THEN kept
                  ELSE substr(kept, 1, length(rtrim(kept, '0123456789')) - length(' sought ')) END
  FROM (SELECT id, entity_name, entity_key, job_exec, first_check_at, since, kept, is_fresh,
               CASE WHEN rtrim(kept, '0123456789') GLOB '* sought '
                    THEN CAST(substr(kept, length(rtrim(kept, '0123456789')) + 1) AS INTEGER) END AS sought
          FROM (SELECT f.id, f.entity_name, f.entity_key, f.job_exec, f.first_check_at,
                       CAST(substr(f.terms, length(rtrim(f.terms, '0123456789')) + 1) AS INTEGER) AS since,
                       substr(f.terms, 1, length(rtrim(f.terms, '0123456789')) - length(' from ')) AS kept,
                       f.check_count = 0 AND f.failure_count = 0 AND f.deferred_at IS NULL AS is_fresh
                  FROM prescient_future_job AS f
                 WHERE f.bucket = 0 AND rtrim(f.terms, '0123456789') GLOB '* from ')),
       prescient_setting
 WHERE name = 'slot_length_s';

-- INSERT INTO prescient_file_scheduled VALUES (name, now) files the check of a schedule, or starts
-- it anew with the rule as it is now. Where its slot has begun, it may be running now: then its
-- terms and again_at are written into its row, and the settle uses them. Such a check that was only
-- to find its first occurrence finds it by the new rule. An occurrence of the old rule that nobody
-- has found does not count.
CREATE VIEW prescient_file_scheduled (name, now) AS SELECT NULL, NULL WHERE 0;

CREATE TRIGGER prescient_file_scheduled_insert INSTEAD OF INSERT ON prescient_file_scheduled
BEGIN
    UPDATE prescient_future_job
       SET terms = s.rule || coalesce((SELECT ' sought ' || first_check_at FROM prescient_first AS f
                                        WHERE f.id = prescient_future_job.id AND f.finds_first
                                          AND next_check_at >= first_check_at), '')
                   || ' from ' || max(NEW.now, 1),
           payload = s.payload, concurrency_key = s.concurrency_key, tenant = s.tenant,
           -- an earlier edit may have asked for a slot only to find its first occurrence there
           again_at = CASE WHEN EXISTS (SELECT 1 FROM prescient_first AS f
                                         WHERE f.id = prescient_future_job.id
                                           AND (again_at = f.first_slot OR again_at = f.sought))
                           THEN n.slot ELSE min(coalesce(again_at, n.slot), n.slot) END
      FROM prescient_schedule AS s,
           (SELECT (NEW.now / value + 1) * value AS slot FROM prescient_setting
             WHERE name = 'slot_length_s') AS n
     WHERE s.name = NEW.name AND bucket = 0 AND prescient_future_job.entity_name = s.entity_name
       AND prescient_future_job.entity_key = s.entity_key AND prescient_future_job.job_exec = s.job_exec
       AND next_check_at <= NEW.now;
    -- INSERT OR REPLACE would not do: the OR of the application's statement counts here, too
    DELETE FROM prescient_future_job
     WHERE bucket = 0 AND next_check_at > NEW.now
       AND (entity_name, entity_key, job_exec) = (SELECT s.entity_name, s.entity_key, s.job_exec
                                                    FROM prescient_schedule AS s WHERE s.name = NEW.name);
    INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at,
                                      payload, terms, concurrency_key, tenant)
    SELECT s.entity_name, s.entity_key, s.job_exec, n.slot, n.slot, s.payload,
           s.rule || ' from ' || max(NEW.now, 1), s.concurrency_key, s.tenant
      FROM prescient_schedule AS s,
           (SELECT (NEW.now / value + 1) * value AS slot FROM prescient_setting
             WHERE name = 'slot_length_s') AS n
     WHERE s.name = NEW.name
       AND NOT EXISTS (SELECT 1 FROM prescient_future_job AS f
                        WHERE f.bucket = 0 AND f.entity_name = s.entity_name
                          AND f.entity_key = s.entity_key AND f.job_exec = s.job_exec);
END;

-- A schedule that is made, changed or switched on files its check.
CREATE TRIGGER prescient_schedule_made AFTER INSERT ON prescient_schedule WHEN NEW.is_active
BEGIN
    INSERT INTO prescient_file_scheduled VALUES (NEW.name, NEW.changed_at_us / 1000000);
END;

CREATE TRIGGER prescient_schedule_changed AFTER UPDATE OF changed_at_us ON prescient_schedule
WHEN NEW.is_active
BEGIN
    INSERT INTO prescient_file_scheduled VALUES (NEW.name, NEW.changed_at_us / 1000000);
END;

CREATE TRIGGER prescient_schedule_switched AFTER UPDATE OF is_active ON prescient_schedule
WHEN NEW.is_active > OLD.is_active
BEGIN
    INSERT INTO prescient_file_scheduled VALUES (NEW.name, NEW.switched_at_us / 1000000);
END;

-- Enqueue with `replace`, a reschedule or a load files the check of an active schedule as a new
-- row: this row gets the rule, and the schedule's key and tenant. A payload that is not the
-- schedule's is that of one occurrence.
CREATE TRIGGER prescient_future_job_terms AFTER INSERT ON prescient_future_job
WHEN NEW.terms IS NULL
 AND EXISTS (SELECT 1 FROM prescient_schedule WHERE entity_name = NEW.entity_name
             AND entity_key = NEW.entity_key AND job_exec = NEW.job_exec AND is_active)
BEGIN
    UPDATE prescient_future_job
       SET (terms, concurrency_key, tenant) =
           (SELECT s.rule || CASE WHEN s.payload IS NOT NEW.payload THEN ' payload once' ELSE '' END,
                   s.concurrency_key, s.tenant
              FROM prescient_schedule AS s
             WHERE s.entity_name = NEW.entity_name AND s.entity_key = NEW.entity_key
               AND s.job_exec = NEW.job_exec)
     WHERE id = NEW.id;
END;

-- A second trigger of prescient_enqueue_at (0002_enqueue), for checks with `from`. A slot that was
-- asked for is an occurrence: the check must run there, and not only look for its first occurrence.
-- `replace` needs no such care: its new row has no `from`.
--
-- It does not matter whether SQLite fires this trigger before or after prescient_enqueue_at_insert.
CREATE TRIGGER prescient_enqueue_at_first INSTEAD OF INSERT ON prescient_enqueue_at
WHEN NEW.conflict IN ('earlier', 'keep')
 AND EXISTS (SELECT 1 FROM prescient_first WHERE entity_name = NEW.entity_name AND entity_key = NEW.entity_key
             AND job_exec = NEW.job_exec)
BEGIN
    -- `earlier` moves it to the slot asked for, where it runs without looking for an occurrence
    UPDATE prescient_future_job
       SET first_check_at = min(next_check_at, slot), next_check_at = min(next_check_at, slot), terms = found
      FROM (SELECT f.id AS first_id, f.found,
                   max((NEW.at + value - 1) / value * value, (NEW.now / value + 1) * value) AS slot
              FROM prescient_first AS f, prescient_setting AS s
             WHERE s.name = 'slot_length_s' AND f.entity_name = NEW.entity_name
               AND f.entity_key = NEW.entity_key AND f.job_exec = NEW.job_exec AND f.finds_first)
     WHERE NEW.conflict = 'earlier' AND id = first_id AND next_check_at > NEW.now
       AND (slot <= next_check_at OR next_check_at < first_check_at);
    -- a later slot: nothing here computes whether the first occurrence comes before it
    UPDATE prescient_future_job
       SET again_at = min(coalesce(again_at, slot), slot)
      FROM (SELECT f.id AS first_id,
                   max((NEW.at + value - 1) / value * value, (NEW.now / value + 1) * value) AS slot
              FROM prescient_first AS f, prescient_setting AS s
             WHERE s.name = 'slot_length_s' AND f.entity_name = NEW.entity_name
               AND f.entity_key = NEW.entity_key AND f.job_exec = NEW.job_exec AND f.finds_first)
     WHERE NEW.conflict = 'earlier' AND id = first_id AND next_check_at > NEW.now;
    -- an edit may have asked for that slot only to find the first occurrence there: the slot
    -- becomes an occurrence, and the rule holds from it on; without `from` the rule would hold for
    -- the time before the edit, too, and `missed run_all` would make up for that
    UPDATE prescient_future_job
       SET terms = CASE WHEN slot = sought THEN found ELSE kept END || ' from ' || slot
      FROM (SELECT f.id AS first_id, f.kept, f.found, f.first_slot, f.sought,
                   max((NEW.at + value - 1) / value * value, (NEW.now / value + 1) * value) AS slot
              FROM prescient_first AS f, prescient_setting AS s
             WHERE s.name = 'slot_length_s' AND f.entity_name = NEW.entity_name
               AND f.entity_key = NEW.entity_key AND f.job_exec = NEW.job_exec)
     WHERE id = first_id AND next_check_at <= NEW.now AND (slot = first_slot OR coalesce(slot = sought, 0))
       AND slot <= coalesce(again_at, slot);
END;

-- ---- the view of applications -------------------------------------------------------------------

-- Schedules as applications see and change them:
--   INSERT INTO prescient_schedules (name, entity_name, entity_key, job_exec, every_s)
--   VALUES ('stock of shop 7', 'shop', '7', 'sync_stock', 300);
-- In place of every_s: cron ('0 6 * * mon-fri') and timezone ('Europe/Amsterdam'; UTC is the
-- default). A name that exists is changed. These may be given, too: missed ('run_once', the
-- default, 'run_all', 'skip'), bias (a fraction of every_s; 0.0667), payload, concurrency_key,
-- tenant, now (the machine's clock).
--   UPDATE prescient_schedules SET is_active = 0, switched_why = 'moving house' WHERE name = '...';
--   DELETE FROM prescient_schedules WHERE name = '...';
-- next_check_at: the slot of its check; from the year 9000 on, it is paused; NULL: none waits.
-- now: always NULL; it is a parameter of INSERT and UPDATE.
CREATE VIEW prescient_schedules (name, entity_name, entity_key, job_exec, every_s, bias, cron, timezone,
                                 missed, is_active, next_check_at, made_at_us, changed_at_us, switched_at_us,
                                 switched_why, payload, now, concurrency_key, tenant) AS
SELECT s.name, s.entity_name, s.entity_key, s.job_exec, s.every_s, s.bias / 10000.0, s.cron, s.timezone,
       s.missed, s.is_active,
       (SELECT f.next_check_at FROM prescient_future_job AS f
         WHERE f.bucket = 0 AND f.entity_name = s.entity_name AND f.entity_key = s.entity_key
           AND f.job_exec = s.job_exec),
       s.made_at_us, s.changed_at_us, s.switched_at_us, s.switched_why, s.payload, NULL, s.concurrency_key,
       s.tenant
  FROM prescient_schedule AS s;

-- INSERT INTO prescient_put_schedule stores a schedule if it differs from the stored one. The
-- values are in the form in which they are stored.
CREATE VIEW prescient_put_schedule (name, entity_name, entity_key, job_exec, every_s, bias, cron, timezone,
                                    missed, payload, now, concurrency_key, tenant) AS
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;

CREATE TRIGGER prescient_put_schedule_insert INSTEAD OF INSERT ON prescient_put_schedule
BEGIN
    SELECT CASE
           WHEN coalesce(length(CAST(NEW.entity_name AS BLOB)), 0) NOT BETWEEN 1 AND 1024
             OR instr(NEW.entity_name, char(0)) <> 0
           THEN RAISE(ABORT, 'prescient: entity_name must have 1 to 1024 bytes and no NUL')
           WHEN coalesce(length(CAST(NEW.entity_key AS BLOB)), 0) NOT BETWEEN 1 AND 1024
             OR instr(NEW.entity_key, char(0)) <> 0
           THEN RAISE(ABORT, 'prescient: entity_key must have 1 to 1024 bytes and no NUL')
           WHEN coalesce(length(CAST(NEW.job_exec AS BLOB)), 0) NOT BETWEEN 1 AND 1024
             OR instr(NEW.job_exec, char(0)) <> 0
           THEN RAISE(ABORT, 'prescient: job_exec must have 1 to 1024 bytes and no NUL')
           WHEN length(CAST(NEW.entity_name AS BLOB)) + length(CAST(NEW.entity_key AS BLOB))
                + length(CAST(NEW.job_exec AS BLOB)) > 2600
           THEN RAISE(ABORT,
             'prescient: entity_name, entity_key and job_exec must have at most 2600 bytes together')
           WHEN length(CAST(NEW.payload AS BLOB)) > 65536
           THEN RAISE(ABORT, 'prescient: payload must have at most 65536 bytes')
           WHEN NEW.payload IS NOT NULL AND (NOT json_valid(NEW.payload) OR instr(NEW.payload, char(0)) <> 0)
           THEN RAISE(ABORT, 'prescient: payload must be valid JSON')
           WHEN length(CAST(NEW.concurrency_key AS BLOB)) NOT BETWEEN 1 AND 1024
             OR instr(NEW.concurrency_key, char(0)) <> 0
           THEN RAISE(ABORT, 'prescient: concurrency_key must have 1 to 1024 bytes and no NUL')
           WHEN length(CAST(NEW.tenant AS BLOB)) NOT BETWEEN 1 AND 1024 OR instr(NEW.tenant, char(0)) <> 0
           THEN RAISE(ABORT, 'prescient: tenant must have 1 to 1024 bytes and no NUL')
           WHEN EXISTS (SELECT 1 FROM prescient_schedule
                         WHERE entity_name = NEW.entity_name AND entity_key = NEW.entity_key
                           AND job_exec = NEW.job_exec AND name <> NEW.name)
           THEN RAISE(ABORT, 'prescient: another schedule is of the same check: a check has one')
           END;
    INSERT INTO prescient_text
    VALUES (NEW.name || char(10) || NEW.entity_name || char(10) || NEW.entity_key || char(10)
            || NEW.job_exec || char(10) || coalesce(NEW.concurrency_key, '') || char(10)
            || coalesce(NEW.tenant, '') || char(10) || coalesce(NEW.payload, ''));
    INSERT INTO prescient_payload VALUES (NEW.payload);
    -- a schedule that gets another check: the old check ends
    INSERT INTO prescient_end_checks (entity_name, entity_key, job_exec, now)
    SELECT entity_name, entity_key, job_exec, NEW.now FROM prescient_schedule
     WHERE name = NEW.name
       AND (entity_name, entity_key, job_exec) <> (NEW.entity_name, NEW.entity_key, NEW.job_exec);
    INSERT INTO prescient_schedule (name, entity_name, entity_key, job_exec, every_s, bias, cron, timezone,
                                    missed, payload, concurrency_key, tenant, made_at_us, changed_at_us)
    VALUES (NEW.name, NEW.entity_name, NEW.entity_key, NEW.job_exec, NEW.every_s, NEW.bias, NEW.cron,
            NEW.timezone, NEW.missed, NEW.payload, NEW.concurrency_key, NEW.tenant, NEW.now * 1000000,
            NEW.now * 1000000)
    ON CONFLICT (name) DO UPDATE SET
        entity_name = excluded.entity_name, entity_key = excluded.entity_key, job_exec = excluded.job_exec,
        every_s = excluded.every_s, bias = excluded.bias, cron = excluded.cron,
        timezone = excluded.timezone, missed = excluded.missed, payload = excluded.payload,
        concurrency_key = excluded.concurrency_key, tenant = excluded.tenant,
        changed_at_us = excluded.changed_at_us
     WHERE (prescient_schedule.entity_name, prescient_schedule.entity_key, prescient_schedule.job_exec,
            prescient_schedule.missed) <> (excluded.entity_name, excluded.entity_key, excluded.job_exec,
                                           excluded.missed)
        OR prescient_schedule.every_s IS NOT excluded.every_s OR prescient_schedule.bias IS NOT excluded.bias
        OR prescient_schedule.cron IS NOT excluded.cron
        OR prescient_schedule.timezone IS NOT excluded.timezone
        OR prescient_schedule.payload IS NOT excluded.payload
        OR prescient_schedule.concurrency_key IS NOT excluded.concurrency_key
        OR prescient_schedule.tenant IS NOT excluded.tenant;
END;

-- A cron text may have large letters, tabs and several blanks: it is stored in small letters with
-- one blank between fields. One with a character that no cron text has is not changed, and refused.
-- A name that exists and is off stays off.
CREATE TRIGGER prescient_schedules_insert INSTEAD OF INSERT ON prescient_schedules
BEGIN
    SELECT RAISE(ABORT, 'prescient: a schedule is on when it is made: UPDATE switches it off')
     WHERE NEW.is_active IS NOT NULL AND NEW.is_active IS NOT 1;
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
            coalesce(NEW.now, CAST(strftime('%s', 'now') AS INTEGER)), NEW.concurrency_key, NEW.tenant);
END;

-- What cannot be written is refused, and not ignored. Switching a schedule off ends its check.
CREATE TRIGGER prescient_schedules_update INSTEAD OF UPDATE ON prescient_schedules
BEGIN
    SELECT CASE
           WHEN NEW.name IS NOT OLD.name
           THEN RAISE(ABORT, 'prescient: a schedule keeps its name: insert another one and delete this one')
           WHEN NEW.is_active IS NULL OR NEW.is_active NOT IN (0, 1)
           THEN RAISE(ABORT, 'prescient: is_active must be 0 or 1')
           WHEN NEW.next_check_at IS NOT OLD.next_check_at OR NEW.made_at_us IS NOT OLD.made_at_us
             OR NEW.changed_at_us IS NOT OLD.changed_at_us OR NEW.switched_at_us IS NOT OLD.switched_at_us
           THEN RAISE(ABORT,
             'prescient: next_check_at, made_at_us, changed_at_us and switched_at_us are only read')
           WHEN NEW.switched_why IS NOT OLD.switched_why AND NEW.is_active = OLD.is_active
           THEN RAISE(ABORT, 'prescient: switched_why is written with an is_active that changes')
           END;
    INSERT INTO prescient_schedules (name, entity_name, entity_key, job_exec, every_s, bias, cron, timezone,
                                     missed, payload, now, concurrency_key, tenant)
    VALUES (NEW.name, NEW.entity_name, NEW.entity_key, NEW.job_exec, NEW.every_s, NEW.bias, NEW.cron,
            NEW.timezone, NEW.missed, NEW.payload, NEW.now, NEW.concurrency_key, NEW.tenant);
    UPDATE prescient_schedule
       SET is_active = NEW.is_active, switched_why = nullif(NEW.switched_why, OLD.switched_why),
           switched_at_us = coalesce(NEW.now, CAST(strftime('%s', 'now') AS INTEGER)) * 1000000
     WHERE name = NEW.name AND is_active <> NEW.is_active;
    INSERT INTO prescient_end_checks
    SELECT entity_name, entity_key, job_exec, NEW.now FROM prescient_schedule
     WHERE name = NEW.name AND OLD.is_active AND NOT is_active;
END;

CREATE TRIGGER prescient_schedules_delete INSTEAD OF DELETE ON prescient_schedules
BEGIN
    DELETE FROM prescient_schedule WHERE name = OLD.name;
    INSERT INTO prescient_end_checks VALUES (OLD.entity_name, OLD.entity_key, OLD.job_exec, NULL);
END;
