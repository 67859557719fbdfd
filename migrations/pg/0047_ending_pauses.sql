-- 0047_ending_pauses - a hundred pauses that cannot end hide no other one.
-- oldest engine: 36
--
-- The first hundred that were resumed were looked at, in the order of their slots. If none of these
-- could be emptied, because of checks that are locked or on damaged blocks, those behind them were
-- not looked at, and never over. Now the hundred are chosen among those that may be over.

-- The slot of a pause holds no check, and is closed or was never opened. It looks anew at each
-- call, also within one statement.
CREATE FUNCTION prescient.pause_is_empty(slot timestamptz) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN NOT EXISTS (SELECT FROM prescient.future_job f WHERE f.next_check_at = slot)
       AND NOT EXISTS (SELECT FROM prescient.slot_lease l WHERE l.slot_at = slot)
       AND NOT EXISTS (SELECT FROM prescient.slot_pass o
                        WHERE o.slot_at = slot AND o.pass = 0 AND o.closed_at IS NULL);
END $$;

-- As 0036_pauses has it. Whether one is over is asked again with its row locked.
CREATE OR REPLACE FUNCTION prescient.end_pauses() RETURNS integer
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    n integer := 0;
    this record;
BEGIN
    FOR this IN SELECT p.slot_at FROM prescient.pause p
                 WHERE p.ended_at IS NULL AND p.resumed_at IS NOT NULL
                   AND prescient.pause_is_empty(p.slot_at)
                 ORDER BY p.slot_at LIMIT 100 FOR UPDATE SKIP LOCKED LOOP
        CONTINUE WHEN NOT prescient.pause_is_empty(this.slot_at);
        DELETE FROM prescient.slot_pass o WHERE o.slot_at = this.slot_at;
        UPDATE prescient.pause p SET ended_at = clock_timestamp() WHERE p.slot_at = this.slot_at;
        n := n + 1;
    END LOOP;
    IF n > 0 THEN
        PERFORM prescient.note_pause_change();
    END IF;
    RETURN n;
END $$;

REVOKE ALL ON FUNCTION prescient.pause_is_empty(timestamptz) FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT EXECUTE ON FUNCTION prescient.pause_is_empty(timestamptz) TO prescient_engine;
    END IF;
END $$;
