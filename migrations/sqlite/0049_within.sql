-- oldest engine: 42
-- A check may be late by so much, and is drawn into a slot of that span: what is due at noon need
-- not all come at noon. The emptier a slot, the likelier it is. How many checks a slot has is
-- counted by an engine once a minute, not by those who draw: so the emptiest is never simply taken,
-- where all of that minute would go. Nothing of this is kept with the check, so engines from before
-- run it as any other. They count nothing; then all slots of the span are equally likely.

-- As counted last, of the next 1,000 slots, up to 64,000 a slot; only once a check with `within`
-- was asked for.
CREATE TABLE prescient_slot_load (
    slot_at INTEGER PRIMARY KEY,
    checks INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- INSERT INTO prescient_note_loads (now) VALUES (1772370900): counts, if a minute is over.
CREATE VIEW prescient_note_loads (now) AS SELECT NULL WHERE 0;

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

-- INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, within)
-- VALUES ('orders', '42', 'unshipped_order', '2026-03-01 12:00:00', 3600): at noon or up to an hour
-- later. within: whole seconds, at least the length of a slot. The other columns as 0001_init has
-- them.
DROP VIEW prescient_enqueue;

CREATE VIEW prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload, conflict, priority, now,
                               within) AS
SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL WHERE 0;

-- The places that a draw looks at.
CREATE VIEW prescient_place (n) AS
WITH RECURSIVE place (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM place WHERE n < 63)
SELECT n FROM place;

-- There is no SHA-256 here: the draw goes by the id that the next check gets, times the golden
-- ratio. So checks that are filed one after the other lie more evenly than by chance.
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
    INSERT INTO prescient_enqueue_at (entity_name, entity_key, job_exec, at, payload, conflict, priority, now)
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
                                              min(at + NEW.within, 221845391999) / value * value AS last,
                                              value AS length_s,
                                              -- a statement with many rows notes its ids at its end
                                              max(coalesce((SELECT max(f.id) FROM prescient_future_job AS f),
                                                           0),
                                                  coalesce((SELECT q.seq FROM sqlite_sequence AS q
                                                             WHERE q.name = 'prescient_future_job'), 0))
                                                  % 2147483648 + 1 AS id
                                         FROM prescient_setting WHERE name = 'slot_length_s')) AS d,
                                   prescient_place AS p
                                WHERE p.n < d.slots) AS place
                             LEFT JOIN prescient_slot_load AS l ON l.slot_at = place.slot)))
                WHERE upto > share * total >> 32 ORDER BY n LIMIT 1) END,
           NEW.payload, coalesce(NEW.conflict, 'keep'), coalesce(NEW.priority, 0), clock
      FROM (SELECT CASE
            WHEN typeof(NEW.check_at) = 'integer' THEN NEW.check_at
            WHEN typeof(NEW.check_at) = 'real'
            THEN CAST(NEW.check_at AS INTEGER) + (NEW.check_at > CAST(NEW.check_at AS INTEGER))
            WHEN typeof(NEW.check_at) = 'text' AND NEW.check_at NOT GLOB '*[^0-9]*'
             AND length(NEW.check_at) BETWEEN 1 AND 12
            THEN CAST(NEW.check_at AS INTEGER)
            WHEN typeof(NEW.check_at) = 'text'
             AND NEW.check_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            THEN strftime('%s', NEW.check_at) + (strftime('%f', NEW.check_at) NOT GLOB '*.000')
            ELSE RAISE(ABORT,
                       'prescient: check_at must be a time as 2026-03-01 13:15:00 or seconds since the epoch')
            END AS at,
            coalesce(NEW.now, CAST(strftime('%s', 'now') AS INTEGER)) AS clock);
END;
