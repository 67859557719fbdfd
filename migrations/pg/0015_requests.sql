-- 0015_requests - what programs ask for over HTTP: checks, by post_checks, and changes of what is
-- there, each of which leaves a row (the view audit); and who may ask. `prescient serve` calls
-- these functions, and reads the tokens each second.

-- ---- checks -------------------------------------------------------------------------------------

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
-- that was something else. It fails, and can be called again, if another call has dropped what was
-- asked for before meanwhile.
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
    IF cardinality(made) < cardinality(array_remove(uniqids, NULL)) THEN
        PERFORM FROM unnest(uniqids) u (uniqid)
                     LEFT JOIN prescient.request r ON r.uniqid = u.uniqid COLLATE "C"
          WHERE u.uniqid IS NOT NULL AND r.outcome IS NULL;
        IF found THEN
            RAISE EXCEPTION 'prescient: a request that is no longer kept was dropped just now'
                USING ERRCODE = 'lock_not_available', HINT = 'send it again';
        END IF;
    END IF;
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
       LEFT JOIN LATERAL regexp_split_to_table(e.jobs, E'\n') j (job) ON true
 WHERE j.job IS DISTINCT FROM ''
$$;
COMMENT ON FUNCTION prescient.jobs_noted() IS 'The jobs that engines have noted.';

-- More than 1,000 tokens are not read, so none is made behind them. Who makes one waits for those
-- who make others, and then counts what they have made; the lock keeps nobody else waiting.
CREATE FUNCTION prescient.bound_tokens() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    LOCK TABLE prescient.token IN SHARE UPDATE EXCLUSIVE MODE;
    IF (SELECT count(*) FROM prescient.token) >= 1000 THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER token_bound BEFORE INSERT ON prescient.token
    FOR EACH ROW EXECUTE FUNCTION prescient.bound_tokens();

-- Who may ask over HTTP.
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

-- ---- what was changed ---------------------------------------------------------------------------

-- A row for a change. `who`: for whom, as the program that does it has it; who is connected is
-- noted in any case.
CREATE FUNCTION prescient.note_change(change text, what text, entity text, key text, job text, name text,
                                      before json, after json, who text, reason text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF octet_length(reason) > 4096 OR octet_length(who) > 255 THEN
        RAISE EXCEPTION 'prescient: % has % bytes, expected at most %',
            CASE WHEN octet_length(reason) > 4096 THEN 'reason' ELSE 'who' END,
            greatest(octet_length(reason), octet_length(who)),
            CASE WHEN octet_length(reason) > 4096 THEN 4096 ELSE 255 END
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    INSERT INTO prescient.change (who, done_by, change, what, entity_name, entity_key, job_exec, name,
                                  before, after, reason)
    VALUES (coalesce(who, ''), session_user, change, what, entity, key, job, name, before, after,
            nullif(reason, ''));
END $$;

-- A moment as JSON has it everywhere.
CREATE FUNCTION prescient.moment_text(at timestamptz) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN at >= '9000-01-01 00:00:00+00' AND at < '10000-01-01 00:00:00+00' THEN 'paused'
                ELSE to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') END $$;

-- What a change of a check is about, and what it may change.
CREATE FUNCTION prescient.life_of(f prescient.future_job) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT json_build_object('check_at', prescient.moment_text(f.next_check_at), 'check_count', f.check_count,
                             'failure_count', f.failure_count) $$;

CREATE VIEW prescient.audit AS
    SELECT c.id, c.changed_at, c.who, c.done_by, c.change, c.what, c.entity_name, c.entity_key, c.job_exec,
           c.name, c.before, c.after, c.reason
      FROM prescient.change c;
COMMENT ON VIEW prescient.audit IS
    'What people and programs have changed: who, what, when, why. There are no payloads in it.';
COMMENT ON COLUMN prescient.audit.who IS
    'For whom: the name of a token of the HTTP API. Empty: nobody is known beside done_by.';
COMMENT ON COLUMN prescient.audit.done_by IS 'The user of that session.';
COMMENT ON COLUMN prescient.audit.change IS
    'resolve, cancel, reschedule, run-now, retry, pause, resume, schedule-put, schedule-on, schedule-off, '
    'schedule-remove, deliver-again.';
COMMENT ON COLUMN prescient.audit.what IS 'check, job, entity, tenant, schedule, delivery.';

-- ---- changes of checks --------------------------------------------------------------------------

-- The newest end of each asked check, [entity, key, job, seen]. `seen` is when an end of it was
-- archived that is known, in microseconds: nothing before that is read. Without it the newest is
-- looked for, for a second at most; job NULL: those of all jobs of the row, among its newest
-- hundred. is_failed: it may be filed again: it ended in trouble, none came after the newest that
-- was seen, and the check of a schedule has had no good occurrence since. In the order in which
-- checks are locked.
--
-- The last two days have no index by the key: they are read once, from the oldest end that was seen
-- on.
CREATE FUNCTION prescient.newest_ends(checks json)
    RETURNS TABLE (entity text, key text, job text, is_failed boolean, ended prescient.future_job_history)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET enable_sort = on AS $$
DECLARE
    young CONSTANT timestamptz := (date_trunc('day', statement_timestamp() AT TIME ZONE 'UTC')
                                   - interval '1 day') AT TIME ZONE 'UTC';
BEGIN
    RETURN QUERY
    WITH asked AS MATERIALIZED (
        SELECT a.one ->> 0 AS entity, a.one ->> 1 AS key, a.one ->> 2 AS job,
               timestamptz 'epoch' + min((a.one ->> 3)::bigint) * interval '1 microsecond' AS seen_at,
               timestamptz 'epoch' + max((a.one ->> 3)::bigint) * interval '1 microsecond' AS last_seen_at
          FROM json_array_elements(checks) a (one)
         WHERE a.one ->> 0 NOT IN ('prescient.event', 'prescient.digest')
         GROUP BY 1, 2, 3),
    ends AS MATERIALIZED (
        SELECT h AS one
          FROM asked a JOIN prescient.future_job_history h
            ON h.entity_name = a.entity AND h.entity_key = a.key AND h.job_exec = a.job
         WHERE h.archived_at >= greatest(young, (SELECT min(s.seen_at) FROM asked s))
           AND a.seen_at IS NOT NULL
        UNION ALL
        SELECT h.one
          FROM asked a, LATERAL (
               SELECT h AS one FROM prescient.future_job_history h
                WHERE h.entity_name = a.entity AND h.entity_key = a.key AND h.archived_at >= a.seen_at
                  AND h.archived_at < young OFFSET 0) h
         WHERE (h.one).job_exec = a.job
        UNION ALL
        SELECT h
          FROM asked a, LATERAL prescient.newest_rows(NULL::prescient.future_job_history, a.entity, a.key,
                   a.job, NULL, NULL, NULL, CASE WHEN a.job IS NULL THEN 100 ELSE 1 END, 1000) h
         WHERE a.seen_at IS NULL AND h.entity_name IS NOT NULL),
    newest AS MATERIALIZED (
        SELECT DISTINCT ON ((e.one).entity_name, (e.one).entity_key, (e.one).job_exec) e.one,
               (e.one).outcome IN ('failed', 'timeout', 'crashed', 'bad_answer', 'unknown_job') AS is_failed
          FROM ends e
         ORDER BY (e.one).entity_name, (e.one).entity_key, (e.one).job_exec, (e.one).archived_at DESC),
    recurring AS MATERIALIZED (
        SELECT n.one FROM newest n, LATERAL (
               SELECT FROM prescient.future_job f
                WHERE f.bucket = prescient.bucket_of((n.one).entity_name, (n.one).entity_key)
                  AND f.entity_name = (n.one).entity_name AND f.entity_key = (n.one).entity_key
                  AND f.job_exec = (n.one).job_exec AND f.terms LIKE 'schedule %' OFFSET 0) waits
         WHERE n.is_failed),
    mended AS MATERIALIZED (
        SELECT DISTINCT r.entity_name, r.entity_key, r.job_exec
          FROM recurring c JOIN prescient.future_job_run r
            ON r.entity_name = (c.one).entity_name AND r.entity_key = (c.one).entity_key
           AND r.job_exec = (c.one).job_exec
         WHERE r.recorded_at > (SELECT min((o.one).archived_at) FROM recurring o)
           AND r.recorded_at > (c.one).archived_at AND r.outcome = 'done')
    SELECT (n.one).entity_name, (n.one).entity_key, (n.one).job_exec,
           n.is_failed AND NOT EXISTS (SELECT FROM mended m
                                        WHERE m.entity_name = (n.one).entity_name
                                          AND m.entity_key = (n.one).entity_key
                                          AND m.job_exec = (n.one).job_exec)
           AND NOT EXISTS (SELECT FROM asked a
                            WHERE a.entity = (n.one).entity_name AND a.key = (n.one).entity_key
                              AND a.job = (n.one).job_exec AND a.last_seen_at < (n.one).archived_at), n.one
      FROM newest n
     ORDER BY prescient.bucket_of((n.one).entity_name, (n.one).entity_key), (n.one).entity_name,
              (n.one).entity_key, (n.one).job_exec;
END $$;

-- The changes of one check, by its name: `life` is its id where that is known, and a check that has
-- begun another life since is left as it is. outcome: changed, kept (it is so already, or is left
-- alone) or not_found.

-- Of one job, or of all (NULL): a row each. A schedule of the row is switched off, as by resolve.
CREATE FUNCTION prescient.change_end(change text, entity text, key text, job text, life bigint, who text,
                                     reason text, at timestamptz)
    RETURNS TABLE (of_job text, outcome text, filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    f prescient.future_job;
    s prescient.schedule;
    words CONSTANT text := CASE WHEN change = 'cancel' THEN 'cancelled' || coalesce(' by ' || nullif(who, ''),
                                                                                    '') END;
BEGIN
    outcome := 'not_found';
    FOR f IN SELECT w.* FROM prescient.future_job w
              WHERE w.bucket = prescient.bucket_of(entity, key) AND w.entity_name = entity
                AND w.entity_key = key AND (job IS NULL OR w.job_exec = job)
              ORDER BY w.job_exec FOR UPDATE LOOP
        of_job := f.job_exec;
        outcome := CASE WHEN life <> f.id THEN 'kept' ELSE 'changed' END;
        filed_at := CASE outcome WHEN 'kept' THEN f.next_check_at END;
        RETURN NEXT;
        IF outcome = 'kept' THEN
            RETURN;
        END IF;
        PERFORM prescient.note_change(change, 'check', entity, key, f.job_exec, NULL, prescient.life_of(f),
                                      NULL, who, reason);
    END LOOP;
    FOR s IN SELECT t.* FROM prescient.schedule t
              WHERE t.entity_name = entity AND t.entity_key = key AND (job IS NULL OR t.job_exec = job)
                AND t.is_active ORDER BY t.name COLLATE "C" LOOP
        PERFORM prescient.note_change('schedule-off', 'schedule', entity, key, s.job_exec, s.name,
                                      '{"is_active": true}', '{"is_active": false}', who, reason);
    END LOOP;
    PERFORM prescient.resolve_noted(entity, key, job, at, words);
    IF outcome = 'not_found' THEN
        of_job := job;
        RETURN NEXT;
    END IF;
END $$;

-- To another time (wanted), or to the next second (NULL): then one whose slot has begun is left
-- alone, as it is run anyway.
CREATE FUNCTION prescient.change_time(change text, entity text, key text, job text, life bigint,
                                      wanted timestamptz, who text, reason text, at timestamptz,
                                      OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    clock timestamptz;
    slot timestamptz;
    f prescient.future_job;
    new prescient.future_job;
BEGIN
    outcome := 'not_found';
    SELECT w.* INTO f FROM prescient.future_job w
     WHERE w.bucket = prescient.bucket_of(entity, key) AND w.entity_name = entity AND w.entity_key = key
       AND w.job_exec = job FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    clock := coalesce(at, clock_timestamp());
    outcome := 'kept';
    filed_at := f.next_check_at;
    IF wanted IS NULL THEN
        IF life <> f.id OR f.next_check_at <= clock THEN
            RETURN;
        END IF;
        PERFORM prescient.file_again(entity, key, job, prescient.slot_fine_next(clock), at, NULL,
                                     'earlier', 0);
    ELSE
        slot := prescient.slot_for(wanted, clock);
        IF life <> f.id OR (f.next_check_at = slot AND f.first_check_at = slot AND f.check_count = 0
                            AND f.failure_count = 0 AND f.again_at IS NULL AND f.deferred_at IS NULL
                            AND f.put_off_at IS NULL AND NOT prescient.finds_first(f)) THEN
            RETURN;
        END IF;
        PERFORM prescient.reschedule_at(entity, key, job, wanted, at);
    END IF;
    SELECT w.* INTO new FROM prescient.future_job w
     WHERE w.bucket = f.bucket AND w.entity_name = entity AND w.entity_key = key AND w.job_exec = job;
    filed_at := coalesce(new.again_at, new.next_check_at);
    IF new IS DISTINCT FROM f THEN
        outcome := 'changed';
        PERFORM prescient.note_change(change, 'check', entity, key, job, NULL, prescient.life_of(f),
                                      prescient.life_of(new), who, reason);
    END IF;
END $$;

-- What failed goes back into the next slot, with its payload; one that waits is kept.
CREATE FUNCTION prescient.change_retry(h prescient.future_job_history, who text, reason text, at timestamptz,
                                       OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
BEGIN
    SELECT c.outcome, c.filed_at INTO outcome, filed_at
      FROM prescient.retry_check(h.entity_name, h.entity_key, h.job_exec, coalesce(at, clock_timestamp()),
                                 h.payload, at, h.concurrency_key, h.tenant) c;
    IF outcome <> 'kept' THEN
        outcome := 'changed';
        PERFORM prescient.note_change('retry', 'check', h.entity_name, h.entity_key, h.job_exec, NULL,
                                      json_build_object('outcome', h.outcome,
                                                        'ended_at', prescient.moment_text(h.ended_at),
                                                        'failure_count', h.failure_count),
                                      json_build_object('check_at', prescient.moment_text(filed_at)), who,
                                      reason);
    END IF;
END $$;

-- All of change_checks, whose names have no collation of the caller's here.
CREATE FUNCTION prescient.change_each(change text, checks json, when_s bigint, is_after boolean, who text,
                                      reason text, at timestamptz)
    RETURNS TABLE (entity text, key text, job text, outcome text, filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    wanted timestamptz;
    c record;
BEGIN
    IF change IS NULL OR change NOT IN ('resolve', 'cancel', 'reschedule', 'run-now', 'retry')
       OR (change = 'reschedule') <> (when_s IS NOT NULL) THEN
        RAISE EXCEPTION 'prescient: change is %, expected resolve, cancel, reschedule, run-now or retry; and '
                        'when_s with reschedule alone', quote_nullable(left(change, 80))
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF json_array_length(checks) > 1000 THEN
        RAISE EXCEPTION 'prescient: checks has % elements, expected at most 1000', json_array_length(checks)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    SELECT a.n, a.one INTO c FROM json_array_elements(checks) WITH ORDINALITY a (one, n)
     WHERE a.one ->> 2 IS NULL AND a.one ->> 3 IS NOT NULL ORDER BY a.n LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'prescient: checks has % without a job and with what was seen, which is of one '
                        'check; expected a job, or NULL for both', left(c.one::text, 80)
            USING ERRCODE = 'invalid_parameter_value', DETAIL = format('row %s', c.n);
    END IF;
    PERFORM pg_current_xact_id();
    -- the slot length (set_slot_length) stays as it is until this transaction is over
    LOCK TABLE prescient.future_job IN ROW EXCLUSIVE MODE;
    wanted := CASE WHEN is_after THEN coalesce(at, clock_timestamp()) + when_s * interval '1 second'
                   ELSE to_timestamp(when_s) END;
    IF change IN ('resolve', 'cancel') THEN
        PERFORM FROM prescient.schedule s
          WHERE (s.entity_name, s.entity_key) IN (SELECT a.one ->> 0, a.one ->> 1
                                                    FROM json_array_elements(checks) a (one))
          ORDER BY s.name COLLATE "C" FOR UPDATE;
    END IF;
    IF change = 'retry' THEN
        FOR c IN SELECT e.* FROM prescient.newest_ends(checks) e LOOP
            entity := c.entity;
            key := c.key;
            job := c.job;
            outcome := 'kept';
            filed_at := NULL;
            IF c.is_failed THEN
                SELECT r.outcome, r.filed_at INTO outcome, filed_at
                  FROM prescient.change_retry(c.ended, who, reason, at) r;
            END IF;
            RETURN NEXT;
        END LOOP;
        RETURN;
    END IF;
    FOR c IN SELECT DISTINCT ON (prescient.bucket_of(a.one ->> 0, a.one ->> 1), a.one ->> 0, a.one ->> 1,
                                 a.one ->> 2)
                    a.one ->> 0 AS entity, a.one ->> 1 AS key, a.one ->> 2 AS job,
                    (a.one ->> 3)::bigint AS life
               FROM json_array_elements(checks) a (one)
              ORDER BY prescient.bucket_of(a.one ->> 0, a.one ->> 1), a.one ->> 0, a.one ->> 1,
                       a.one ->> 2 LOOP
        entity := c.entity;
        key := c.key;
        job := c.job;
        outcome := 'kept';
        filed_at := NULL;
        IF entity IN ('prescient.event', 'prescient.digest') THEN
            RETURN NEXT;
        ELSIF change IN ('resolve', 'cancel') THEN
            RETURN QUERY SELECT c.entity, c.key, e.of_job, e.outcome, e.filed_at
                           FROM prescient.change_end(change, entity, key, c.job, c.life, who, reason, at) e;
        ELSE
            SELECT m.outcome, m.filed_at INTO outcome, filed_at
              FROM prescient.change_time(change, entity, key, job, c.life, wanted, who, reason, at) m;
            RETURN NEXT;
        END IF;
    END LOOP;
END $$;

-- Changes up to 1,000 checks: change is resolve, cancel, reschedule, run-now or retry; checks an
-- array of [entity, key, job, seen], as JSON. job may be NULL, but for reschedule and run-now: all
-- of the row; then seen is NULL. Else it is the id of the check, or for retry when its end was
-- archived, in microseconds, or NULL. when_s: of reschedule, seconds since 1970, or from now on
-- where is_after is true.
--
-- A row each, in the order in which they are locked, which is that of all writers. Who calls it
-- twice changes nothing twice. Deliveries and digests are kept as they are: they have commands of
-- their own.
CREATE FUNCTION prescient.change_checks(change text, checks json, when_s bigint DEFAULT NULL,
                                        is_after boolean DEFAULT false, who text DEFAULT NULL,
                                        reason text DEFAULT NULL)
    RETURNS TABLE (entity text, key text, job text, outcome text, filed_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY
    SELECT c.entity, c.key, c.job, c.outcome, c.filed_at
      FROM prescient.change_each(change COLLATE "default", checks, when_s, is_after, who COLLATE "default",
                                 reason COLLATE "default", prescient.tests_at()) c;
END $$;
COMMENT ON FUNCTION prescient.change_checks(text, json, bigint, boolean, text, text) IS
    'Changes up to 1,000 checks: resolve, cancel, reschedule, run-now, retry. Each that changes leaves a row '
    'in audit; a repeat changes nothing twice.';

-- Sends a delivery that is over once more, as deliver_again does, which has its outcomes. One that
-- is filed leaves a row in audit, of the row that the event was of; its name is the delivery.
CREATE FUNCTION prescient.change_delivery(delivery text, who text DEFAULT NULL, reason text DEFAULT NULL,
                                          OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    e record;
    of_job text;
BEGIN
    SELECT d.outcome, d.filed_at INTO outcome, filed_at
      FROM prescient.deliver_again(delivery COLLATE "default", prescient.tests_at()) d;
    IF outcome IS DISTINCT FROM 'again' THEN
        RETURN;
    END IF;
    SELECT v.entity_name, v.entity_key INTO e FROM prescient.event_of(delivery COLLATE "default") v;
    SELECT f.job_exec INTO of_job FROM prescient.future_job f
     WHERE f.bucket = prescient.bucket_of('prescient.event', delivery COLLATE "default")
       AND f.entity_name = 'prescient.event' AND f.entity_key = delivery COLLATE "default" LIMIT 1;
    PERFORM prescient.note_change('deliver-again', 'delivery', e.entity_name, e.entity_key, of_job,
                                  delivery COLLATE "default", NULL,
                                  json_build_object('check_at', prescient.moment_text(filed_at)),
                                  who COLLATE "default", reason COLLATE "default");
END $$;
COMMENT ON FUNCTION prescient.change_delivery(text, text, text) IS
    'Sends the delivery of an event, by its entity_key, once more under the same key; leaves a row in audit.';
