-- 0022_inlined - the slot functions are part of the statement that calls them.
-- oldest engine: 1
--
-- PostgreSQL puts the body of an SQL function into the statement, but not where the function is
-- stricter than its body: slot_length_s() is not STRICT, so slot_floor, slot_ceil and slot_next
-- were called for each row. A settle that moves checks asks for the slot of each. All that these
-- bodies do with NULL gives NULL.

ALTER FUNCTION prescient.slot_floor(timestamptz) CALLED ON NULL INPUT;
ALTER FUNCTION prescient.slot_ceil(timestamptz) CALLED ON NULL INPUT;
ALTER FUNCTION prescient.slot_next(timestamptz) CALLED ON NULL INPUT;
