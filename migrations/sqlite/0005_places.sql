-- 0005_places - concurrency keys: checks that share one do not run at the same moment.
--
-- A key has one place, or as many as its limit says. An engine takes a place before it runs a check
-- of the key, renews it while the run goes on, and gives it back after the last answer
-- (engine/store/store_sqlite_place.c). A place lasts as long as a run may last that was started
-- under it, so those of a dead engine are free again when none of its runs can be alive any more.

-- INSERT INTO prescient_concurrency_limits (pattern, places) VALUES ('shop-*', 3): up to three
-- checks of each key that begins with shop- run at the same moment. Without a * it is one key.
-- Of several patterns that match, the longest one counts. Inserted again, it is changed;
-- DELETE removes it.
CREATE VIEW prescient_concurrency_limits (pattern, places, set_at_us) AS
SELECT pattern, places, set_at_us FROM prescient_concurrency_limit;

CREATE TRIGGER prescient_concurrency_limits_insert INSTEAD OF INSERT ON prescient_concurrency_limits
BEGIN
    SELECT CASE
           WHEN coalesce(length(CAST(NEW.pattern AS BLOB)), 0) NOT BETWEEN 1 AND 1024
             OR instr(NEW.pattern, char(0)) <> 0
           THEN RAISE(ABORT, 'prescient: pattern must have 1 to 1024 bytes and no NUL')
           WHEN instr(substr(NEW.pattern, 1, length(NEW.pattern) - 1), '*') <> 0
           THEN RAISE(ABORT,
             'prescient: pattern must be a concurrency key, or the beginning of keys and one * behind it')
           WHEN typeof(NEW.places) <> 'integer' OR NEW.places NOT BETWEEN 1 AND 1000
           THEN RAISE(ABORT,
             'prescient: places must be 1 to 1000; checks that are not to run at all are paused')
           END;
    INSERT INTO prescient_text VALUES (NEW.pattern);
    INSERT INTO prescient_concurrency_limit (pattern, places, set_at_us)
    VALUES (NEW.pattern, NEW.places,
            strftime('%s', 'now') * 1000000 + substr(strftime('%f', 'now'), 4) * 1000)
    ON CONFLICT (pattern) DO UPDATE SET places = excluded.places, set_at_us = excluded.set_at_us;
END;

CREATE TRIGGER prescient_concurrency_limits_delete INSTEAD OF DELETE ON prescient_concurrency_limits
BEGIN
    DELETE FROM prescient_concurrency_limit WHERE pattern = OLD.pattern;
END;

-- Which engine holds a place until when; is_wanted: 1: another engine has asked for a place of this
-- key and got none.
CREATE VIEW prescient_places (concurrency_key, number, engine, taken_at_us, expires_at_us, is_wanted) AS
SELECT concurrency_key, number, engine, taken_at_us, expires_at_us, is_wanted FROM prescient_place;
