-- 0025_infinite - a check at infinity does not stop the sweep.
-- oldest engine: 1
--
-- A plain INSERT may file a check at -infinity. The sweep files such a check into a slot, and names
-- it by its first slot before it gives it another id: infinity is no number, so the look for late
-- checks failed, and no missed slot was swept.

CREATE OR REPLACE FUNCTION prescient.origin_of(origin text, first_check_at timestamptz, id bigint)
    RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(origin, CASE WHEN isfinite(first_check_at)
                                 THEN date_part('epoch', first_check_at)::bigint::text
                                 ELSE first_check_at::text END || '/' || id) $$;
