-- 0015_requests - checks that programs ask for over HTTP, and who may ask. `prescient serve` calls
-- post_checks, with what has come in while its last call was under way, and reads the tokens each
-- second.

-- Files checks, in the order of the primary key, so that two such calls do not wait for each other
-- crosswise. Arrays of one length; NULL in one: not given. times: seconds since 1970, or from this
-- call on where are_after is 1. within_s: 0 is none.
--
-- A uniqid makes a repeat harmless: its row is made first, and who has not made it files nothing. A
-- call that makes the same row at this moment is waited for. contents: a digest of all that was
-- asked for, to tell a repeat from another request under the same uniqid.
--
-- keep_s: how long requests are kept, at least. One row each, in their order: is_repeat: it was
-- asked for before (or twice in these arrays), and what is told is the answer of then; is_other:
-- that was something else. outcome: NULL if another call has dropped it meanwhile.
CREATE FUNCTION prescient.post_checks(uniqids text[], contents text[], entities text[], keys text[],
                                      jobs text[], times bigint[], are_after integer[],
                                      within_s bigint[], payloads text[], conflicts text[],
                                      priorities integer[], concurrency_keys text[], tenants text[],
                                      keep_s bigint)
    RETURNS TABLE (n bigint, is_repeat boolean, is_other boolean, outcome text, check_id bigint,
                   filed_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    made text[] COLLATE "C";
    c record;
    f record;
    wanted timestamptz;
    id bigint;
    outcomes text[];
    ids bigint[];
    slots timestamptz[];
BEGIN
    WITH asked AS (
        SELECT DISTINCT ON (u.uniqid COLLATE "C") u.uniqid, u.content
          FROM unnest(uniqids, contents) WITH ORDINALITY u (uniqid, content, n)
         WHERE u.uniqid IS NOT NULL ORDER BY u.uniqid COLLATE "C", u.n),
    inserted AS (
        INSERT INTO prescient.request AS r (uniqid, content, kept_until)
        SELECT a.uniqid, a.content, clock_timestamp() + least(keep_s, 316224000) * interval '1 second'
          FROM asked a ORDER BY a.uniqid COLLATE "C"
            ON CONFLICT DO NOTHING
        RETURNING r.uniqid)
    SELECT coalesce(array_agg(i.uniqid), '{}') INTO made FROM inserted i;

    FOR c IN SELECT w.* FROM (SELECT u.*, row_number() OVER (PARTITION BY u.uniqid COLLATE "C"
                                                             ORDER BY u.n) AS nth
                                FROM unnest(uniqids, entities, keys, jobs, times, are_after, within_s,
                                            payloads, conflicts, priorities, concurrency_keys, tenants)
                                     WITH ORDINALITY u (uniqid, entity, key, job, at_s, is_after, within_s,
                                                        payload, conflict, priority, concurrency_key,
                                                        tenant, n)) w
              WHERE w.uniqid IS NULL OR (w.nth = 1 AND w.uniqid COLLATE "C" = ANY (made))
              ORDER BY prescient.bucket_of(w.entity, w.key), w.entity COLLATE "default",
                       w.key COLLATE "default", w.job COLLATE "default", w.n LOOP
        wanted := CASE c.is_after WHEN 1 THEN clock_timestamp() + c.at_s * interval '1 second'
                                  ELSE to_timestamp(c.at_s) END;
        IF c.within_s > 0 THEN
            wanted := prescient.drawn_slot(c.entity, c.key, c.job, c.within_s * interval '1 second', NULL,
                                           wanted);
        END IF;
        SELECT g.outcome, g.filed_at INTO f
          FROM prescient.file_check(c.entity COLLATE "default", c.key COLLATE "default",
                                    c.job COLLATE "default", wanted, prescient.document_of(c.payload),
                                    coalesce(c.conflict, 'keep'), coalesce(c.priority, 0), NULL,
                                    c.concurrency_key, c.tenant) g;
        SELECT j.id INTO id FROM prescient.future_job j
         WHERE j.bucket = prescient.bucket_of(c.entity, c.key) AND j.entity_name = c.entity COLLATE "default"
           AND j.entity_key = c.key COLLATE "default" AND j.job_exec = c.job COLLATE "default";
        outcomes[c.n] := f.outcome;
        ids[c.n] := id;
        slots[c.n] := f.filed_at;
        IF c.uniqid IS NOT NULL THEN
            UPDATE prescient.request r
               SET outcome = f.outcome, check_id = id, filed_at = f.filed_at
             WHERE r.uniqid = c.uniqid COLLATE "C";
        END IF;
    END LOOP;
    RETURN QUERY
    SELECT u.n, outcomes[u.n] IS NULL, coalesce(r.content <> u.content COLLATE "C", false),
           coalesce(outcomes[u.n], r.outcome), coalesce(ids[u.n], r.check_id),
           coalesce(slots[u.n], r.filed_at)
      FROM unnest(uniqids, contents) WITH ORDINALITY u (uniqid, content, n)
           LEFT JOIN prescient.request r ON r.uniqid = u.uniqid COLLATE "C"
     ORDER BY u.n;
    -- So many more than come in: whoever adds rows drops those of before, perhaps some that were
    -- repeated just now. It is the last thing that is done, and waits for nobody.
    IF made <> '{}' THEN
        DELETE FROM prescient.request
         WHERE uniqid IN (SELECT o.uniqid FROM prescient.request o
                           WHERE o.kept_until < now()
                           ORDER BY o.kept_until LIMIT 100 + 2 * cardinality(made) FOR UPDATE SKIP LOCKED);
    END IF;
END $$;
COMMENT ON FUNCTION prescient.post_checks(text[], text[], text[], text[], text[], bigint[], integer[],
                                          bigint[], text[], text[], integer[], text[], text[], bigint) IS
    'Files checks that were asked for over HTTP, each uniqid once; prescient serve calls it.';

-- What became of a request; no row: nothing is known of it.
CREATE FUNCTION prescient.request_of(of_uniqid text)
    RETURNS TABLE (outcome text, check_id bigint, filed_at timestamptz, made_at timestamptz,
                   kept_until timestamptz)
LANGUAGE sql STABLE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
SELECT r.outcome, r.check_id, r.filed_at, r.made_at, r.kept_until
  FROM prescient.request r WHERE r.uniqid = of_uniqid COLLATE "C"
$$;
COMMENT ON FUNCTION prescient.request_of(text) IS
    'What became of a request over HTTP that had this uniqid.';

-- The jobs that engines have noted. Notes of engines that are gone count, too, for as long as they
-- are there: while all engines are down, checks for them are filed. A row with NULL: an engine has
-- more jobs than it could note.
CREATE FUNCTION prescient.jobs_noted() RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
SELECT DISTINCT j.job
  FROM prescient.engine_seen e
       LEFT JOIN LATERAL regexp_split_to_table(e.jobs, '\n') j (job) ON true
 WHERE j.job IS DISTINCT FROM ''
$$;
COMMENT ON FUNCTION prescient.jobs_noted() IS 'The jobs that engines have noted.';

-- Who may ask over HTTP. The program has at most 1,000; more are not read.
CREATE FUNCTION prescient.tokens()
    RETURNS TABLE (name text, role text, made_at timestamptz, made_by text, expires_at timestamptz,
                   is_in_force boolean, hash text, session_key text)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
SELECT t.name, t.role, t.made_at, t.made_by, t.expires_at,
       coalesce(t.expires_at > clock_timestamp(), true), t.hash, t.session_key
  FROM prescient.token t ORDER BY t.name COLLATE "C" LIMIT 1000
$$;
COMMENT ON FUNCTION prescient.tokens() IS
    'Who may ask over HTTP: tokens by their digests, which let nobody in; prescient serve calls it.';
