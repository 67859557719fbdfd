-- 0002_enqueue - what the application calls to file, move and end checks: views with INSTEAD OF
-- triggers. Each holds no rows. An INSERT into one is a call, and its columns are the parameters.
--
-- A call is a part of the application's transaction: it is committed and rolled back with it.
-- SQLite has one writer at a time, so nothing changes between the statements of a trigger.
--
-- A call refuses a bad value by RAISE(ABORT), and does so before it writes. A constraint of the
-- table would not do: in a trigger, the OR IGNORE of the application's statement applies to
-- constraints, too. The check would be dropped, and the application's row kept. RAISE(ABORT) takes
-- the whole statement back in any case. Its message must be a literal in SQLite before 3.47.

-- ---- text ---------------------------------------------------------------------------------------

-- INSERT INTO prescient_text VALUES (text) refuses text that is not UTF-8, and stores nothing.
-- ASCII costs one GLOB. Other text is read in pieces of 256 characters: each character must have
-- the bytes that its code point is encoded as. SQLite reads U+FFFE and U+FFFF as U+FFFD, so these
-- two are exempt.
CREATE VIEW prescient_text (text) AS SELECT NULL WHERE 0;

CREATE TRIGGER prescient_text_insert INSTEAD OF INSERT ON prescient_text
WHEN NEW.text GLOB '*[^' || char(1) || '-' || char(127) || ']*'
BEGIN
    SELECT RAISE(ABORT, 'prescient: names, concurrency_key, tenant and payload must be valid UTF-8')
     WHERE EXISTS (
        WITH RECURSIVE
        piece (nth, chars) AS (
            SELECT 0, substr(NEW.text, 1, 256)
            UNION ALL
            SELECT nth + 1, substr(NEW.text, (nth + 1) * 256 + 1, 256) FROM piece WHERE length(chars) = 256
        ),
        letter (chars, nth, one) AS (
            SELECT chars, 1, substr(chars, 1, 1) FROM piece
            UNION ALL
            SELECT chars, nth + 1, substr(chars, nth + 1, 1) FROM letter WHERE nth < length(chars)
        )
        SELECT 1 FROM letter
         WHERE one <> '' AND hex(one) <> hex(char(unicode(one))) AND hex(one) NOT IN ('EFBFBE', 'EFBFBF'));
END;

-- INSERT INTO prescient_payload VALUES (payload) refuses JSON that engines and jobs cannot parse,
-- so that the job could never answer, and stores nothing. It is valid JSON as SQLite has it.
CREATE VIEW prescient_payload (payload) AS SELECT NULL WHERE 0;

CREATE TRIGGER prescient_payload_insert INSTEAD OF INSERT ON prescient_payload
WHEN NEW.payload IS NOT NULL
BEGIN
    -- without each \\, what is left of \u is an escape
    SELECT RAISE(ABORT,
                 'prescient: payload is JSON that jobs cannot read: expected no \u0000, no integer beyond 64 bits and no number beyond 1.8e308')
     WHERE instr(replace(NEW.payload, '\\', ''), '\u0000') > 0
        OR EXISTS (SELECT 1 FROM json_tree(NEW.payload)
                    WHERE (type = 'integer' AND typeof(atom) = 'real')
                       OR (type = 'real' AND abs(atom) = 9e999));
    -- each \ud... in turn: a high half and the low half behind it pass together
    SELECT RAISE(ABORT, 'prescient: payload is JSON that jobs cannot read: it has half of a surrogate pair')
     WHERE NEW.payload LIKE '%\ud%' AND EXISTS (
        WITH RECURSIVE walk (piece, rest) AS (
            SELECT '', lower(replace(NEW.payload, '\\', ''))
            UNION ALL
            SELECT substr(rest, instr(rest, '\ud'), 12),
                   substr(rest, instr(rest, '\ud') + CASE
                          WHEN substr(rest, instr(rest, '\ud'), 12) GLOB
                              '\ud[89ab][0-9a-f][0-9a-f]\ud[c-f][0-9a-f][0-9a-f]' THEN 12 ELSE 6 END)
              FROM walk WHERE instr(rest, '\ud') > 0
        )
        SELECT 1 FROM walk WHERE piece GLOB '\ud[89a-f]*'
            AND piece NOT GLOB '\ud[89ab][0-9a-f][0-9a-f]\ud[c-f][0-9a-f][0-9a-f]');
END;

-- ---- enqueue ------------------------------------------------------------------------------------

-- Files a check: the other views of this file and the engine's effects insert here. `at` and `now`
-- are whole seconds, and nothing has a default. origin: see prescient_future_job; NULL for
-- applications.
--
-- The check is filed under the first slot at or after `at` that has not begun. One that waits
-- already is kept, moved to an earlier slot or replaced, as `conflict` has it. If its slot has
-- begun, it may be running now: its row stays as it is, and again_at takes the slot asked for.
-- A second trigger, for checks of schedules, is in 0003_schedules.
CREATE VIEW prescient_enqueue_at (entity_name, entity_key, job_exec, at, payload, conflict,
                                  priority, now, origin, concurrency_key, tenant) AS
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;

-- The names prescient.event and prescient.digest belong to engines: a check of an application would
-- have no event, and would take a listener's key. From the year 9000 on, slots belong to pauses:
-- nobody would resume a check there. The payload must be JSON as engines and jobs parse it, or the
-- job could never answer.
CREATE TRIGGER prescient_enqueue_at_insert INSTEAD OF INSERT ON prescient_enqueue_at
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
           WHEN NEW.at IS NULL OR NEW.at NOT BETWEEN 0 AND 253402300799
           THEN RAISE(ABORT, 'prescient: check_at must lie in the years 1970 to 9999')
           WHEN NEW.at > 221845305600
           THEN RAISE(ABORT,
             'prescient: check_at is a time at which paused checks wait: it must lie before the year 9000')
           WHEN typeof(NEW.now) <> 'integer'
           THEN RAISE(ABORT, 'prescient: now must be whole seconds since the epoch')
           WHEN NEW.conflict IS NULL OR NEW.conflict NOT IN ('keep', 'earlier', 'replace')
           THEN RAISE(ABORT, 'prescient: conflict must be keep, earlier or replace')
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
           WHEN CAST(NEW.priority AS INTEGER) <> NEW.priority
           THEN RAISE(ABORT, 'prescient: priority must be a whole number')
           WHEN NEW.priority IS NULL OR CAST(NEW.priority AS INTEGER) NOT BETWEEN -2147483648 AND 2147483647
           THEN RAISE(ABORT, 'prescient: priority must fit in 32 bits')
           WHEN length(CAST(NEW.concurrency_key AS BLOB)) NOT BETWEEN 1 AND 1024
             OR instr(NEW.concurrency_key, char(0)) <> 0
           THEN RAISE(ABORT, 'prescient: concurrency_key must have 1 to 1024 bytes and no NUL')
           WHEN length(CAST(NEW.tenant AS BLOB)) NOT BETWEEN 1 AND 1024 OR instr(NEW.tenant, char(0)) <> 0
           THEN RAISE(ABORT, 'prescient: tenant must have 1 to 1024 bytes and no NUL')
           END;
    INSERT INTO prescient_text
    VALUES (NEW.entity_name || char(10) || NEW.entity_key || char(10) || NEW.job_exec
            || char(10) || coalesce(NEW.concurrency_key, '') || char(10) || coalesce(NEW.tenant, '')
            || char(10) || coalesce(NEW.payload, ''));
    INSERT INTO prescient_payload VALUES (NEW.payload);
    SELECT RAISE(ABORT, 'prescient: check_at must lie in the years 1970 to 9999')
      FROM prescient_setting
     WHERE name = 'slot_length_s' AND max((NEW.at + value - 1) / value * value,
                                          (NEW.now / value + 1) * value) > 253402300799;
    DELETE FROM prescient_future_job
     WHERE NEW.conflict = 'replace' AND bucket = 0 AND entity_name = NEW.entity_name
       AND entity_key = NEW.entity_key AND job_exec = NEW.job_exec;
    INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at,
                                      priority, payload, origin, concurrency_key, tenant)
    SELECT NEW.entity_name, NEW.entity_key, NEW.job_exec, slot, slot, NEW.priority, NEW.payload, NEW.origin,
           NEW.concurrency_key, NEW.tenant
      FROM (SELECT max((NEW.at + value - 1) / value * value, (NEW.now / value + 1) * value) AS slot
              FROM prescient_setting WHERE name = 'slot_length_s') WHERE true
    ON CONFLICT (bucket, entity_name, entity_key, job_exec) DO UPDATE SET
        again_at = CASE WHEN next_check_at > NEW.now THEN again_at
                        WHEN again_at IS NULL OR (NEW.conflict = 'earlier'
                                                  AND again_at > excluded.next_check_at)
                        THEN excluded.next_check_at ELSE again_at END,
        next_check_at = CASE WHEN next_check_at > NEW.now THEN min(next_check_at, excluded.next_check_at)
            ELSE next_check_at END
     WHERE next_check_at <= NEW.now OR (NEW.conflict = 'earlier' AND next_check_at > excluded.next_check_at);
END;

-- Over how many seconds the checks of a full slot are spread (rules/phase.h); 0: they are not. The
-- setting is in thousandths of the slot length: `prescient pace`.
CREATE VIEW prescient_pace (seconds) AS
SELECT coalesce((SELECT p.value FROM prescient_setting AS p WHERE p.name = 'pace'), 0) * s.value / 1000
  FROM prescient_setting AS s WHERE s.name = 'slot_length_s';

-- INSERT INTO prescient_note_loads (now) VALUES (1772370900) counts the checks of the next 1,000
-- slots again, if nobody did in the last 50 seconds. An engine does it once a minute, so a call of
-- the application, which draws a slot, stays cheap. Until a check with `within` is asked for, there
-- is no setting loads_noted_at, and nothing is counted.
CREATE VIEW prescient_note_loads (now) AS SELECT NULL WHERE 0;

-- 0 to 999: the next slots.
CREATE VIEW prescient_number (n) AS
WITH RECURSIVE number (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n < 999)
SELECT n FROM number;

CREATE TRIGGER prescient_note_loads_insert INSTEAD OF INSERT ON prescient_note_loads
WHEN EXISTS (SELECT 1 FROM prescient_setting
              WHERE name = 'loads_noted_at' AND value NOT BETWEEN NEW.now - 50 AND NEW.now)
BEGIN
    DELETE FROM prescient_slot_load;
    INSERT INTO prescient_slot_load (slot_at, checks)
    SELECT slot, checks
      FROM (SELECT slot, (SELECT count(*) FROM (SELECT 1 FROM prescient_future_job AS f
                                                 WHERE f.next_check_at = slot LIMIT 64000)) AS checks
              FROM (SELECT (NEW.now / value + 1 + n) * value AS slot
                      FROM prescient_setting, prescient_number
                     WHERE name = 'slot_length_s'))
     WHERE checks > 0;
    UPDATE prescient_setting SET value = NEW.now WHERE name = 'loads_noted_at';
END;

-- INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at)
-- VALUES ('orders', '42', 'unshipped_order', datetime('now', '+3 hours'));
--
-- check_at: 'YYYY-MM-DD HH:MM:SS' (UTC, or with an offset) or seconds since the epoch. A fraction
-- of a second is rounded up.
-- These may be given, too:
--   payload   JSON text
--   conflict  what becomes of a check that waits already: 'keep', the default, 'earlier' or
--             'replace'
--   priority  0 is the default
--   now       seconds since the epoch; the machine's clock is the default
--   within    seconds, at least the length of a slot: the check is filed under check_at or up to so
--             much later, where few checks wait
--   concurrency_key   checks that share one are not run at the same moment
--   tenant    whose it is: tenants take turns at workers
CREATE VIEW prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload, conflict, priority, now,
                               within, concurrency_key, tenant) AS
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;

-- 0 to 63: the slots among which a draw chooses.
CREATE VIEW prescient_draw (n) AS
WITH RECURSIVE draw (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM draw WHERE n < 63)
SELECT n FROM draw;

-- Without `within` the slot follows from check_at. With it, a slot is drawn: the fewer checks a
-- slot had when they were last counted (prescient_slot_load), the likelier it is. The emptiest slot
-- is not simply taken, or all checks of a minute would go there. Where nothing was counted, all
-- slots are equally likely.
--
-- SQLite has no SHA-256. The draw is the id that the next check gets, times the golden ratio:
-- checks that are filed one after the other are spread more evenly than by chance.
CREATE TRIGGER prescient_enqueue_insert INSTEAD OF INSERT ON prescient_enqueue
BEGIN
    SELECT RAISE(ABORT, 'prescient: now must be whole seconds since the epoch')
     WHERE NEW.now IS NOT NULL AND (typeof(NEW.now) <> 'integer' OR NEW.now NOT BETWEEN 0 AND 253402300799);
    SELECT RAISE(ABORT,
          'prescient: within must be whole seconds, from the length of a slot to 31622400 (366 days)')
      FROM prescient_setting
     WHERE name = 'slot_length_s' AND NEW.within IS NOT NULL
       AND (typeof(NEW.within) <> 'integer' OR NEW.within NOT BETWEEN value AND 31622400);
    INSERT INTO prescient_setting (name, value)
    SELECT 'loads_noted_at', 0
     WHERE NEW.within IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM prescient_setting WHERE name = 'loads_noted_at');
    INSERT INTO prescient_enqueue_at (entity_name, entity_key, job_exec, at, payload, conflict, priority, now,
                                      concurrency_key, tenant)
    SELECT NEW.entity_name, NEW.entity_key, NEW.job_exec,
           CASE WHEN NEW.within IS NULL THEN at ELSE (
               SELECT slot FROM (
                   SELECT slot, n, sum(weight) OVER (ORDER BY n) AS upto, sum(weight) OVER () AS total, share
                     FROM (
                       SELECT slot, n, share, 9 * max(100, max(checks) OVER ()) - 8 * checks AS weight
                         FROM (
                           SELECT place.slot, place.n, place.share, coalesce(l.checks, 0) AS checks
                             FROM (
                               SELECT p.n, d.id * 2654435769 % 4294967296 AS share,
                                      d.first + d.length_s * CASE WHEN d.slots <= 64 THEN p.n
                                          ELSE (d.id * 1779033703 + p.n * d.slots / 64) % d.slots END AS slot
                                 FROM (
                                   SELECT first, length_s, id, max(1, (last - first) / length_s + 1) AS slots
                                     FROM (
                                       SELECT max((at + value - 1) / value * value,
                                                  (clock / value + 1) * value) AS first,
                                              min(at + NEW.within - p.seconds, 221845391999) / value * value
                                                  AS last,
                                              value AS length_s,
                                              -- the sequence lags in a statement of many rows
                                              max(coalesce((SELECT max(f.id) FROM prescient_future_job AS f),
                                                           0),
                                                  coalesce((SELECT q.seq FROM sqlite_sequence AS q
                                                             WHERE q.name = 'prescient_future_job'), 0))
                                                  % 2147483648 + 1 AS id
                                         FROM prescient_setting, prescient_pace AS p
                                        WHERE name = 'slot_length_s')) AS d,
                                   prescient_draw AS p
                                WHERE p.n < d.slots) AS place
                             LEFT JOIN prescient_slot_load AS l ON l.slot_at = place.slot)))
                WHERE upto > share * total >> 32 ORDER BY n LIMIT 1) END,
           NEW.payload, coalesce(NEW.conflict, 'keep'), coalesce(NEW.priority, 0), clock,
           NEW.concurrency_key, NEW.tenant
      FROM (SELECT CASE
            WHEN typeof(NEW.check_at) = 'integer' THEN NEW.check_at
            WHEN typeof(NEW.check_at) = 'real'
            THEN CAST(NEW.check_at AS INTEGER) + (NEW.check_at > CAST(NEW.check_at AS INTEGER))
            WHEN typeof(NEW.check_at) = 'text' AND NEW.check_at NOT GLOB '*[^0-9]*'
             AND length(NEW.check_at) BETWEEN 1 AND 12
            THEN CAST(NEW.check_at AS INTEGER)
            WHEN typeof(NEW.check_at) = 'text'
             AND NEW.check_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
             -- SQLite takes 2026-02-30 for 2 March, once it has to reckon with it
             AND date(substr(NEW.check_at, 1, 10), '+0 days') IS NOT substr(NEW.check_at, 1, 10)
            THEN RAISE(ABORT, 'prescient: check_at: there is no such day')
            WHEN typeof(NEW.check_at) = 'text'
             AND NEW.check_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
             AND strftime('%s', NEW.check_at) IS NOT NULL
            THEN strftime('%s', NEW.check_at) + (strftime('%f', NEW.check_at) NOT GLOB '*.000')
            ELSE RAISE(ABORT,
                       'prescient: check_at must be a time as 2026-03-01 13:15:00 or seconds since the epoch')
            END AS at,
            coalesce(NEW.now, CAST(strftime('%s', 'now') AS INTEGER)) AS clock);
END;

-- INSERT INTO prescient_enqueue_now (entity_name, entity_key, job_exec)
-- VALUES ('orders', '42', 'unshipped_order') files a check under the next second that is no
-- multiple of the slot length (a fine slot): a daemon runs it then.
-- These may be given, too: payload, conflict ('earlier' is the default here), priority, now,
-- concurrency_key, tenant.
CREATE VIEW prescient_enqueue_now (entity_name, entity_key, job_exec, payload, conflict, priority, now,
                                   concurrency_key, tenant) AS
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;

-- Three steps: a check that waits already is moved, so that the next step leaves it alone;
-- prescient_enqueue_at files a new one under a full slot, with the origin 'now'; what has that
-- origin is moved to the fine slot. The full slot is the first one behind the fine slot: where a
-- full slot comes just before that, it is earlier than what was asked for, and the second step
-- would pull the check there.
--
-- A check that is to find the first occurrence of its schedule in that earlier slot still does so:
-- the fine slot goes to again_at.
CREATE TRIGGER prescient_enqueue_now_insert INSTEAD OF INSERT ON prescient_enqueue_now
BEGIN
    SELECT RAISE(ABORT, 'prescient: now must be whole seconds since the epoch')
     WHERE NEW.now IS NOT NULL AND (typeof(NEW.now) <> 'integer' OR NEW.now NOT BETWEEN 0 AND 253402300799);
    UPDATE prescient_future_job
       SET again_at = CASE WHEN next_check_at > at
                           THEN CASE WHEN NEW.conflict IS NOT 'keep' AND next_check_at < slot
                                      AND EXISTS (SELECT 1 FROM prescient_first AS f
                                                   WHERE f.id = prescient_future_job.id AND f.finds_first)
                                     THEN min(coalesce(again_at, slot), slot) ELSE again_at END
                           WHEN NEW.conflict = 'keep' THEN coalesce(again_at, slot)
                           ELSE min(coalesce(again_at, slot), slot) END,
           next_check_at = CASE WHEN next_check_at > at AND coalesce(NEW.conflict, 'earlier') = 'earlier'
                                THEN min(next_check_at, slot) ELSE next_check_at END
      FROM (SELECT at, at + 1 + (length_s > 1 AND (at + 1) % length_s = 0) AS slot
              FROM (SELECT coalesce(NEW.now, CAST(strftime('%s', 'now') AS INTEGER)) AS at,
                           value AS length_s FROM prescient_setting WHERE name = 'slot_length_s'))
     WHERE coalesce(NEW.conflict, 'earlier') IN ('earlier', 'keep') AND bucket = 0
       AND entity_name = NEW.entity_name AND entity_key = NEW.entity_key AND job_exec = NEW.job_exec;
    INSERT INTO prescient_enqueue_at (entity_name, entity_key, job_exec, at, payload, conflict, priority, now,
                                      origin, concurrency_key, tenant)
    SELECT NEW.entity_name, NEW.entity_key, NEW.job_exec, at + 1 + (value > 1 AND (at + 1) % value = 0),
           NEW.payload, coalesce(NEW.conflict, 'earlier'), coalesce(NEW.priority, 0), at, 'now',
           NEW.concurrency_key, NEW.tenant
      FROM (SELECT coalesce(NEW.now, CAST(strftime('%s', 'now') AS INTEGER)) AS at), prescient_setting
     WHERE name = 'slot_length_s';
    UPDATE prescient_future_job SET first_check_at = slot, next_check_at = slot, origin = NULL
      FROM (SELECT at + 1 + (length_s > 1 AND (at + 1) % length_s = 0) AS slot
              FROM (SELECT coalesce(NEW.now, CAST(strftime('%s', 'now') AS INTEGER)) AS at,
                           value AS length_s FROM prescient_setting WHERE name = 'slot_length_s'))
     WHERE bucket = 0 AND entity_name = NEW.entity_name AND entity_key = NEW.entity_key
       AND job_exec = NEW.job_exec AND origin = 'now';
END;

-- ---- resolve, reschedule ------------------------------------------------------------------------

-- Ends what waits for a row, of one job or (job_exec NULL) of all: the history's outcome is
-- 'resolved'. A run that is under way writes nothing when it settles: its check is gone. now: whole
-- seconds; NULL: the machine's clock.
CREATE VIEW prescient_end_checks (entity_name, entity_key, job_exec, now) AS
SELECT NULL, NULL, NULL, NULL WHERE 0;

CREATE TRIGGER prescient_end_checks_insert INSTEAD OF INSERT ON prescient_end_checks
BEGIN
    INSERT INTO prescient_future_job_history (check_id, ended_at_us, entity_name, entity_key, job_exec,
                                              outcome, check_count, failure_count, run_count, slot_at,
                                              first_check_at, first_run_at_us, total_run_us, archived_at_us,
                                              tenant)
    SELECT id, coalesce(NEW.now * 1000000, clock_us), entity_name, entity_key, job_exec, 'resolved',
           check_count, failure_count, run_count, next_check_at, first_check_at, first_run_at_us,
           total_run_us, clock_us, tenant
      FROM prescient_future_job,
           (SELECT strftime('%s', 'now') * 1000000 + substr(strftime('%f', 'now'), 4) * 1000 AS clock_us)
     WHERE bucket = 0 AND entity_name = NEW.entity_name AND entity_key = NEW.entity_key
       AND (NEW.job_exec IS NULL OR job_exec = NEW.job_exec);
    DELETE FROM prescient_future_job
     WHERE bucket = 0 AND entity_name = NEW.entity_name AND entity_key = NEW.entity_key
       AND (NEW.job_exec IS NULL OR job_exec = NEW.job_exec);
END;

-- INSERT INTO prescient_resolve (entity_name, entity_key) VALUES ('orders', '42'): what the checks
-- of this row wait for has happened. They end. With job_exec, only the check of that job ends. A
-- schedule of the row is switched off, or it would file the next check.
CREATE VIEW prescient_resolve (entity_name, entity_key, job_exec, now) AS
SELECT NULL, NULL, NULL, NULL WHERE 0;

CREATE TRIGGER prescient_resolve_insert INSTEAD OF INSERT ON prescient_resolve
BEGIN
    SELECT RAISE(ABORT, 'prescient: entity_name and entity_key must be given')
     WHERE NEW.entity_name IS NULL OR NEW.entity_key IS NULL;
    SELECT RAISE(ABORT,
          'prescient: entity_name is prescient.digest, which stands for digests: prescient resolve ends one')
     WHERE NEW.entity_name = 'prescient.digest';
    SELECT RAISE(ABORT, 'prescient: now must be whole seconds since the epoch')
     WHERE NEW.now IS NOT NULL AND (typeof(NEW.now) <> 'integer' OR NEW.now NOT BETWEEN 0 AND 253402300799);
    UPDATE prescient_schedule
       SET is_active = 0, switched_why = 'resolved',
           switched_at_us = coalesce(NEW.now, CAST(strftime('%s', 'now') AS INTEGER)) * 1000000
     WHERE entity_name = NEW.entity_name AND entity_key = NEW.entity_key
       AND (NEW.job_exec IS NULL OR job_exec = NEW.job_exec) AND is_active;
    INSERT INTO prescient_end_checks VALUES (NEW.entity_name, NEW.entity_key, NEW.job_exec, NEW.now);
END;

-- INSERT INTO prescient_reschedule (entity_name, entity_key, job_exec, check_at) VALUES (...): the
-- check begins a new life at check_at, with its payload and priority. Where none waits, nothing
-- happens.
CREATE VIEW prescient_reschedule (entity_name, entity_key, job_exec, check_at, now) AS
SELECT NULL, NULL, NULL, NULL, NULL WHERE 0;

-- A delivery or a digest keeps its terms, and prescient_enqueue would refuse its entity. So a
-- stand-in of another entity is enqueued, which finds the slot and a new id; the check gets both,
-- and the stand-in goes. The new id keeps a run that is under way from settling.
CREATE TRIGGER prescient_reschedule_insert INSTEAD OF INSERT ON prescient_reschedule
BEGIN
    INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload, conflict, priority,
                                   now, concurrency_key, tenant)
    SELECT CASE WHEN entity_name IN ('prescient.event', 'prescient.digest') THEN 'prescient.event that moves'
                ELSE entity_name END,
           entity_key, job_exec, NEW.check_at,
           CASE WHEN entity_name IN ('prescient.event', 'prescient.digest') THEN NULL ELSE payload END,
           'replace', priority, NEW.now, concurrency_key, tenant
      FROM prescient_future_job
     WHERE bucket = 0 AND entity_name = NEW.entity_name AND entity_key = NEW.entity_key
       AND job_exec = NEW.job_exec;
    UPDATE prescient_future_job SET id = -id
     WHERE bucket = 0 AND entity_name = 'prescient.event that moves' AND entity_key = NEW.entity_key
       AND job_exec = NEW.job_exec;
    UPDATE prescient_future_job
       SET id = -f.new_id, first_check_at = f.slot, next_check_at = f.slot, check_count = 0,
           failure_count = 0, again_at = NULL, deferred_at = NULL, put_off_at = NULL, run_count = 0,
           first_run_at_us = NULL, total_run_us = 0
      FROM (SELECT id AS new_id, next_check_at AS slot FROM prescient_future_job
             WHERE bucket = 0 AND entity_name = 'prescient.event that moves'
               AND entity_key = NEW.entity_key AND job_exec = NEW.job_exec) AS f
     WHERE NEW.entity_name IN ('prescient.event', 'prescient.digest') AND bucket = 0
       AND entity_name = NEW.entity_name AND entity_key = NEW.entity_key AND job_exec = NEW.job_exec;
    DELETE FROM prescient_future_job
     WHERE bucket = 0 AND entity_name = 'prescient.event that moves' AND entity_key = NEW.entity_key
       AND job_exec = NEW.job_exec;
END;

-- An UPDATE of the table cannot make a delivery or a digest of another check, nor the reverse.
CREATE TRIGGER prescient_future_job_reserved BEFORE UPDATE OF entity_name ON prescient_future_job
WHEN NEW.entity_name <> OLD.entity_name
 AND (NEW.entity_name IN ('prescient.event', 'prescient.digest')
      OR OLD.entity_name IN ('prescient.event', 'prescient.digest'))
BEGIN
    SELECT RAISE(ABORT,
          'prescient: a check keeps its entity: only engines file prescient.event and prescient.digest');
END;
