-- 0004_days - when an event was written, by the real clock: a replay's are as young as the replay.
-- oldest engine: 1
-- NULL in rows of older programs: of those the moment that the event tells is all that is known.

ALTER TABLE prescient_event ADD COLUMN recorded_at_us INTEGER;
