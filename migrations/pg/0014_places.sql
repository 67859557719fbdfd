-- 0014_places - concurrency keys: checks that share one do not run at the same moment.
--
-- A key has one place, or as many as concurrency_limit says. An engine takes a place before it runs
-- a check of the key, renews it while the run goes on, and gives it back after the last answer. A
-- place lasts as long as a run may last that was started under it, so those of a dead engine are
-- free again when none of its runs can be alive any more. tests/model/places.c searches the rules.

-- How many places a key has. Of several patterns that match, the longest one counts.
CREATE FUNCTION prescient.places_of(key text) RETURNS integer
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce((SELECT l.places FROM prescient.concurrency_limit l
                      WHERE l.pattern COLLATE "C" = key COLLATE "C"
                         OR (right(l.pattern, 1) COLLATE "C" = '*'
                             AND starts_with(key COLLATE "C", rtrim(l.pattern, '*') COLLATE "C"))
                      ORDER BY l.pattern COLLATE "C" = key COLLATE "C" DESC, octet_length(l.pattern) DESC
                      LIMIT 1), 1) $$;

-- Whether places that last so long may be taken. Where the database goes on in another history,
-- places may be missing that were taken in the one before, and runs under them may go on. So none
-- is taken until all those must have ended.
CREATE FUNCTION prescient.may_take_places(last_s integer) RETURNS boolean
LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp AS $$
    SELECT g.generation = 0 OR g.noted_at + last_s * interval '1 second' <= clock_timestamp()
      FROM prescient.generation g
     WHERE g.generation = (SELECT prescient.current_generation()) $$;

-- Takes a place of each key, if one is free: the lowest that is not there or has expired. Each key
-- is asked for once a call, in the order of keys, and a place that somebody else is just taking or
-- giving back is passed over. `number` is 0 where none was free: then others who hold them are
-- asked to give them back, unless this engine has one. One that would last for longer than its
-- lasts_s was taken before the clock was set back; it is shortened to that, for which its holder
-- counts, too. `places`: how many the key has.
CREATE FUNCTION prescient.take_places(keys text[], lasts integer[], new_owner uuid, new_engine text)
    RETURNS TABLE (n bigint, number integer, token bigint, places integer)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    may_take boolean;
BEGIN
    SELECT prescient.may_take_places(max(u.last_s)) INTO may_take FROM unnest(lasts) u (last_s);
    RETURN QUERY
    WITH asked AS MATERIALIZED (
        SELECT u.key, u.last_s, u.n,
               CASE WHEN EXISTS (SELECT FROM prescient.concurrency_limit) THEN prescient.places_of(u.key)
                    ELSE 1 END AS most
          FROM unnest(keys, lasts) WITH ORDINALITY u (key, last_s, n)
         WHERE may_take),
    held AS MATERIALIZED (
        SELECT p.concurrency_key, p.number, p.owner, p.expires_at, p.lasts_s, p.is_wanted,
               p.expires_at <= clock_timestamp() AS has_expired
          FROM asked a JOIN prescient.place p ON p.concurrency_key = a.key),
    ripe AS MATERIALIZED (
        SELECT p.concurrency_key, p.number FROM prescient.place p
         WHERE (p.concurrency_key, p.number) IN (SELECT h.concurrency_key, h.number FROM held h
                                                  WHERE h.has_expired)
           AND p.expires_at <= clock_timestamp()
           FOR UPDATE SKIP LOCKED),
    found AS MATERIALIZED (
        SELECT a.n, a.key, a.last_s,
               CASE WHEN NOT EXISTS (SELECT FROM held h WHERE h.concurrency_key = a.key) THEN 1
                    ELSE (SELECT min(g.number)
                            FROM generate_series(1, a.most) g (number)
                           WHERE NOT EXISTS (SELECT FROM held h
                                              WHERE h.concurrency_key = a.key AND h.number = g.number)
                              OR EXISTS (SELECT FROM ripe r
                                          WHERE r.concurrency_key = a.key AND r.number = g.number))
               END AS number
          FROM asked a),
    taken AS (
        INSERT INTO prescient.place AS p (concurrency_key, number, owner, expires_at, lasts_s, taken_at,
                                          engine)
        SELECT f.key, f.number, new_owner, clock_timestamp() + f.last_s * interval '1 second', f.last_s,
               clock_timestamp(), new_engine
          FROM found f WHERE f.number IS NOT NULL
         ORDER BY f.key COLLATE "C"
            ON CONFLICT ON CONSTRAINT place_pkey DO UPDATE
           SET owner = excluded.owner, token = nextval('prescient.slot_lease_token_seq'),
               expires_at = excluded.expires_at, lasts_s = excluded.lasts_s, taken_at = excluded.taken_at,
               is_wanted = false, engine = excluded.engine
         WHERE (p.concurrency_key, p.number) IN (SELECT r.concurrency_key, r.number FROM ripe r)
        RETURNING p.concurrency_key, p.number, p.token),
    to_mark AS MATERIALIZED (
        SELECT p.concurrency_key, p.number FROM prescient.place p
         WHERE (p.concurrency_key, p.number) IN (
                SELECT h.concurrency_key, h.number FROM held h JOIN found f ON f.key = h.concurrency_key
                 WHERE f.number IS NULL AND NOT h.has_expired
                   AND (h.expires_at > clock_timestamp() + h.lasts_s * interval '1 second'
                        OR (NOT h.is_wanted
                            AND NOT EXISTS (SELECT FROM held o
                                             WHERE o.concurrency_key = h.concurrency_key
                                               AND o.owner = new_owner AND NOT o.has_expired))))
           FOR UPDATE SKIP LOCKED),
    marked AS (
        UPDATE prescient.place p
           SET is_wanted = true,
               expires_at = least(p.expires_at, clock_timestamp() + p.lasts_s * interval '1 second')
          FROM to_mark m WHERE p.concurrency_key = m.concurrency_key AND p.number = m.number)
    SELECT a.n, coalesce(t.number, 0), coalesce(t.token, 0), a.most
      FROM asked a LEFT JOIN taken t ON t.concurrency_key = a.key;
END $$;

-- Drops places that nobody has held for an hour: those of engines that have died, of keys that come
-- no more.
CREATE FUNCTION prescient.drop_old_places() RETURNS bigint
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    WITH old AS MATERIALIZED (
        SELECT p.concurrency_key, p.number FROM prescient.place p
         WHERE p.expires_at < clock_timestamp() - interval '1 hour' LIMIT 1000 FOR UPDATE SKIP LOCKED),
    dropped AS (
        DELETE FROM prescient.place p USING old o
         WHERE p.concurrency_key = o.concurrency_key AND p.number = o.number
        RETURNING p.number)
    SELECT count(*) FROM dropped $$;

CREATE VIEW prescient.places AS
    SELECT p.concurrency_key, p.number, p.engine, p.taken_at, p.expires_at, p.is_wanted
      FROM prescient.place p;
COMMENT ON VIEW prescient.places IS
    'Places of concurrency keys: as many runs of a key go on as it has places that have not expired.';
COMMENT ON COLUMN prescient.places.expires_at IS
    'Its engine renews it, or gives it back; from then on any engine may take it.';
COMMENT ON COLUMN prescient.places.is_wanted IS
    'Another engine has asked for a place of this key and got none.';

-- ---- how many at once ---------------------------------------------------------------------------

-- NULL places: the pattern is removed.
CREATE FUNCTION prescient.set_concurrency(pattern text, places integer) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted CONSTANT text COLLATE "C" := pattern;    -- a caller's own may refuse to search in it
BEGIN
    IF (octet_length(wanted) BETWEEN 1 AND 1024) IS NOT TRUE THEN
        RAISE EXCEPTION 'prescient: pattern has % bytes, expected 1 to 1024',
            coalesce(octet_length(wanted), 0) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF strpos(rtrim(wanted, '*'), '*') > 0 OR wanted LIKE '%**' THEN
        RAISE EXCEPTION 'prescient: pattern is %, expected a concurrency key, or the beginning of keys and '
                        'one * behind it', quote_literal(left(wanted, 80))
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF places IS NOT NULL AND places NOT BETWEEN 1 AND 1000 THEN
        RAISE EXCEPTION 'prescient: places is %, expected 1 to 1000; checks that are not to run at all are '
                        'paused (prescient.pause)', places USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF places IS NULL THEN
        DELETE FROM prescient.concurrency_limit l WHERE l.pattern = wanted COLLATE "default";
        RETURN CASE WHEN FOUND THEN 'removed' ELSE 'not_found' END;
    END IF;
    INSERT INTO prescient.concurrency_limit AS l VALUES (wanted, places, clock_timestamp(), session_user)
        ON CONFLICT ON CONSTRAINT concurrency_limit_pkey DO UPDATE
       SET places = excluded.places, set_at = excluded.set_at, set_by = excluded.set_by;
    RETURN 'set';
END $$;
COMMENT ON FUNCTION prescient.set_concurrency(text, integer) IS
    'How many checks of a concurrency key may run at the same moment: of one key, or of all that begin '
    'like a pattern that ends in *. Without it, one. NULL removes it. Returns set, removed or not_found.';

CREATE VIEW prescient.concurrency_limits AS
    SELECT l.pattern, l.places, l.set_at, l.set_by FROM prescient.concurrency_limit l;
COMMENT ON VIEW prescient.concurrency_limits IS
    'How many checks of a concurrency key may run at the same moment, where it is not one.';
