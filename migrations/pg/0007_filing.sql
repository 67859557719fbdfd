-- 0007_filing - how checks are filed, moved and ended: what the functions of applications, the
-- command line and engines call.
--
-- Each writer takes its transaction id first, then reads the clock, and chooses the slot last. So a
-- transaction that an engine's scan of a slot does not list as running cannot file a check into
-- that slot any more. The parameter `at` is the time to go by; NULL: the database's clock.
--
-- These functions have no search_path of their own: they take the one of their caller.

-- ---- ids and keys -------------------------------------------------------------------------------

-- What the idempotency key is made of: `origin`, or if that is NULL the first slot and the id.
-- Infinity, which a plain INSERT may file, is no number.
CREATE FUNCTION prescient.origin_of(origin text, first_check_at timestamptz, id bigint) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(origin, CASE WHEN isfinite(first_check_at)
                                 THEN date_part('epoch', first_check_at)::bigint::text
                                 ELSE first_check_at::text END || '/' || id) $$;

-- The origin of a life that begins where this one ends: the same whoever writes it, and however
-- often (engine/rules/idempotency.h).
CREATE FUNCTION prescient.origin_anew(origin text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN origin ~ '^[0-9a-f]{32}$'
                THEN left(origin, 24)
                     || lpad(to_hex((('x' || right(origin, 8))::bit(32)::bigint + 1) & x'ffffffff'::bigint),
                             8, '0')
                ELSE left(encode(sha256(convert_to('anew ' || origin, 'UTF8')), 'hex'), 32) END $$;

-- An id that no row of the same slot, bucket and priority has. A sequence may have been set back (a
-- restore of the data alone, logical replication, setval) and give out ids that are in use.
CREATE FUNCTION prescient.new_id(slot timestamptz, in_bucket integer, of_priority integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    drawn bigint;
BEGIN
    LOOP
        drawn := nextval('prescient.future_job_id_seq');
        EXIT WHEN NOT EXISTS (SELECT FROM prescient.future_job f
                               WHERE f.next_check_at = slot AND f.bucket = in_bucket
                               AND f.priority = of_priority AND f.id = drawn);
    END LOOP;
    RETURN drawn;
END $$;

-- The key of a check in one text: lengths part ("a", "bc") from ("ab", "c").
CREATE FUNCTION prescient.check_name(entity text, key text, job text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT length(entity) || ':' || length(key) || ':' || entity || key || job $$;

-- ---- one check ----------------------------------------------------------------------------------

-- Changes a check that is pending already; the outcome is NULL if it has gone meanwhile. `at` NULL:
-- the clock is read anew when the row is locked, as the wait for that may have been long.
--
-- A row whose slot has begun may be being answered at this moment. Then keep and earlier write the
-- wanted slot beside it, and the settle starts the check anew there, or moves it there.
--
-- A row that is kept is locked, too: no engine runs it before this transaction is over, as that run
-- could not see what the transaction has written. FOR KEY SHARE: others may keep it as well, and
-- write again_at; who would end or move it waits. A scan without a lock decides which lock it is to
-- be: two that both went from a weak lock to a strong one would wait for each other.
--
-- A check that is to find the first occurrence of its schedule (finds_first): a run that is asked
-- for in that very slot is run, and the rule holds from then on. A later slot goes to again_at.
CREATE FUNCTION prescient.file_again(entity text, key text, job text, slot timestamptz, at timestamptz,
                                     new_payload json, conflict text, new_priority integer,
                                     new_concurrency_key text DEFAULT NULL, new_tenant text DEFAULT NULL,
                                     OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    in_bucket CONSTANT integer := prescient.bucket_of(entity, key);
    old record;
    begun boolean;
    is_first boolean;
BEGIN
    SELECT f.next_check_at, prescient.finds_first(f) AS finds_first INTO old FROM prescient.future_job f
     WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    begun := old.next_check_at <= coalesce(at, clock_timestamp());
    IF NOT begun AND (conflict = 'keep' OR (conflict = 'earlier' AND slot >= old.next_check_at
                                            AND NOT old.finds_first)) THEN
        SELECT f.next_check_at, prescient.finds_first(f) AS finds_first INTO old FROM prescient.future_job f
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
           FOR KEY SHARE;
        IF NOT FOUND THEN
            RETURN;
        END IF;
        begun := old.next_check_at <= coalesce(at, clock_timestamp());
        IF NOT begun AND (conflict = 'keep' OR (slot >= old.next_check_at AND NOT old.finds_first)) THEN
            outcome := 'kept';
            filed_at := old.next_check_at;
            RETURN;
        END IF;
    END IF;

    IF begun AND conflict <> 'replace' THEN
        SELECT f.*, prescient.finds_first(f) AS finds_first INTO old FROM prescient.future_job f
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
           FOR NO KEY UPDATE;
    ELSE
        SELECT f.*, prescient.finds_first(f) AS finds_first INTO old FROM prescient.future_job f
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
           FOR UPDATE;
    END IF;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    begun := old.next_check_at <= coalesce(at, clock_timestamp());
    IF conflict = 'replace' THEN
        -- A new id by UPDATE: a settle of the old one touches nothing, and a concurrent resolve
        -- still meets the row.
        outcome := 'replaced';
        UPDATE prescient.future_job f
           SET id = prescient.new_id(slot, in_bucket, new_priority), first_check_at = slot,
               next_check_at = slot, check_count = 0, failure_count = 0,
               priority = new_priority, payload = new_payload, again_at = NULL,
               deferred_at = NULL, first_run_at = NULL,
               run_count = NULL, total_run_us = NULL, origin = NULL, put_off_at = NULL,
               -- a check of a schedule has the schedule's
               concurrency_key = CASE WHEN f.terms LIKE 'schedule %' THEN f.concurrency_key
                                      ELSE new_concurrency_key END,
               tenant = CASE WHEN f.terms LIKE 'schedule %' THEN f.tenant ELSE new_tenant END,
               terms = CASE WHEN f.terms IS NOT NULL THEN prescient.terms_replaced(f, new_payload) END
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
        RETURNING f.next_check_at INTO filed_at;
    ELSIF begun THEN
        outcome := 'kept';
        filed_at := CASE WHEN conflict = 'earlier' THEN least(old.again_at, slot)
            ELSE coalesce(old.again_at, slot) END;
        -- an edit may have asked for that slot only to find the first occurrence there
        is_first := slot = filed_at AND (coalesce(slot = prescient.first_slot_of(old.terms), false)
                                         OR coalesce(slot = prescient.sought_slot_of(old.terms), false));
        UPDATE prescient.future_job f
           SET again_at = filed_at,
               terms = CASE WHEN is_first THEN prescient.terms_from(f.terms, slot) ELSE f.terms END
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
           AND (f.again_at IS DISTINCT FROM filed_at OR is_first);
    ELSIF conflict = 'earlier' AND old.finds_first AND slot > old.next_check_at THEN
        outcome := 'kept';
        filed_at := least(old.again_at, slot);
        UPDATE prescient.future_job f SET again_at = filed_at
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job;
    ELSIF conflict = 'earlier' AND (slot < old.next_check_at OR old.finds_first) THEN
        outcome := 'moved';
        filed_at := slot;
        IF old.finds_first THEN
            UPDATE prescient.future_job f
               SET first_check_at = slot, terms = prescient.terms_from_found(f.terms)
             WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key
             AND f.job_exec = job;
        END IF;
        IF slot < old.next_check_at AND EXISTS (
                   SELECT FROM prescient.future_job f
                    WHERE f.next_check_at = slot AND f.bucket = in_bucket
                    AND f.priority = old.priority AND f.id = old.id) THEN
            UPDATE prescient.future_job f
               SET next_check_at = slot, id = prescient.new_id(slot, in_bucket, old.priority),
                   origin = prescient.origin_of(old.origin, old.first_check_at, old.id)
             WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key
             AND f.job_exec = job;
        ELSE
            UPDATE prescient.future_job f SET next_check_at = slot
             WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key
             AND f.job_exec = job;
        END IF;
    ELSE
        outcome := 'kept';
        filed_at := old.next_check_at;
    END IF;
END $$;

-- Files one check whose values are good. `new_origin`: of what an answer declares
-- (future_job.origin). An id that is in use is one conflict more, after which the next one is
-- drawn.
CREATE FUNCTION prescient.file_good_check(entity text, key text, job text, check_at timestamptz,
                                          new_payload json, conflict text, new_priority integer,
                                          at timestamptz, new_origin text,
                                          new_concurrency_key text DEFAULT NULL,
                                          new_tenant text DEFAULT NULL,
                                          OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    in_bucket CONSTANT integer := prescient.bucket_of(entity, key);
    slot timestamptz;
BEGIN
    PERFORM pg_current_xact_id();
    -- the slot length (set_slot_length) stays as it is until this transaction is over
    LOCK TABLE prescient.future_job IN ROW EXCLUSIVE MODE;
    slot := prescient.slot_for(check_at, coalesce(at, clock_timestamp()));
    LOOP
        INSERT INTO prescient.future_job AS f (bucket, entity_name, entity_key, job_exec,
                                               first_check_at, next_check_at, payload, priority, origin,
                                               concurrency_key, tenant)
        VALUES (in_bucket, entity, key, job, slot, slot, new_payload, new_priority, new_origin,
                new_concurrency_key, new_tenant)
            ON CONFLICT DO NOTHING
        RETURNING f.next_check_at INTO filed_at;
        IF FOUND THEN
            outcome := 'new';
            RETURN;
        END IF;
        SELECT g.outcome, g.filed_at INTO outcome, filed_at
          FROM prescient.file_again(entity, key, job, slot, at, new_payload, conflict, new_priority,
                                    new_concurrency_key, new_tenant) g;
        IF outcome = 'replaced' AND new_origin IS NOT NULL THEN
            UPDATE prescient.future_job f SET origin = new_origin
             WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key
             AND f.job_exec = job;
        END IF;
        EXIT WHEN outcome IS NOT NULL;
    END LOOP;
END $$;

-- Files one check; engines, the command line and tests of applications come here.
CREATE FUNCTION prescient.file_check(entity text, key text, job text, check_at timestamptz, payload json,
                                     conflict text, priority integer, at timestamptz,
                                     concurrency_key text DEFAULT NULL, tenant text DEFAULT NULL,
                                     OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM prescient.require_check(entity, key, job, check_at, payload, conflict);
    PERFORM prescient.require_names(concurrency_key, tenant);
    SELECT f.outcome, f.filed_at INTO outcome, filed_at
      FROM prescient.file_good_check(entity, key, job, check_at, payload, conflict,
                                     coalesce(priority, 0), at, NULL, concurrency_key, tenant) f;
END $$;

-- Files a check that an answer declares.
CREATE FUNCTION prescient.file_declared(entity text, key text, job text, check_at timestamptz,
                                        payload json, conflict text, at timestamptz, new_origin text,
                                        priority integer, concurrency_key text, tenant text,
                                        OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM prescient.require_check(entity, key, job, check_at, payload, conflict);
    PERFORM prescient.require_names(concurrency_key, tenant);
    SELECT f.outcome, f.filed_at INTO outcome, filed_at
      FROM prescient.file_good_check(entity, key, job, check_at, payload, conflict, priority, at, new_origin,
                                     concurrency_key, tenant) f;
END $$;

-- As file_check, for the next fine slot. The clock is read again after each wait.
CREATE FUNCTION prescient.file_now(entity text, key text, job text, new_payload json, conflict text,
                                   new_priority integer, at timestamptz,
                                   new_concurrency_key text DEFAULT NULL, new_tenant text DEFAULT NULL,
                                   OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    in_bucket CONSTANT integer := prescient.bucket_of(entity, key);
    slot timestamptz;
BEGIN
    PERFORM prescient.require_check(entity, key, job, coalesce(at, clock_timestamp()), new_payload, conflict);
    PERFORM prescient.require_names(new_concurrency_key, new_tenant);
    PERFORM pg_current_xact_id();
    LOOP
        slot := prescient.slot_fine_next(coalesce(at, clock_timestamp()));
        INSERT INTO prescient.future_job AS f (bucket, entity_name, entity_key, job_exec,
                                               first_check_at, next_check_at, payload, priority,
                                               concurrency_key, tenant)
        VALUES (in_bucket, entity, key, job, slot, slot, new_payload, coalesce(new_priority, 0),
                new_concurrency_key, new_tenant)
            ON CONFLICT DO NOTHING
        RETURNING f.next_check_at INTO filed_at;
        IF FOUND THEN
            outcome := 'new';
            RETURN;
        END IF;
        SELECT g.outcome, g.filed_at INTO outcome, filed_at
          FROM prescient.file_again(entity, key, job, slot, at, new_payload, conflict,
                                    coalesce(new_priority, 0), new_concurrency_key, new_tenant) g;
        EXIT WHEN outcome IS NOT NULL;
    END LOOP;
END $$;

-- ---- many checks --------------------------------------------------------------------------------

-- In the order of the primary key, so that two such calls do not wait for each other crosswise.
-- What is new is filed with one INSERT. What is pending already, or comes twice in the arrays, is
-- filed one by one after it.
CREATE FUNCTION prescient.file_checks(entities text[], keys text[], jobs text[], check_ats timestamptz[],
                                      payloads json[], conflict text, priorities integer[],
                                      at timestamptz, concurrency_keys text[] DEFAULT NULL,
                                      tenants text[] DEFAULT NULL,
                                      OUT added bigint, OUT kept bigint, OUT moved bigint,
                                      OUT replaced bigint)
LANGUAGE plpgsql AS $$
DECLARE
    n CONSTANT integer := prescient.require_checks(entities, keys, jobs, check_ats,
                                                   payloads, conflict, priorities, concurrency_keys, tenants);
    filed text[];
    c record;
BEGIN
    added := 0; kept := 0; moved := 0; replaced := 0;
    PERFORM pg_current_xact_id();
    WITH wanted AS MATERIALIZED (
        SELECT s.bucket, u.*, prescient.slot_for(u.check_at, s.at) AS slot
          FROM unnest(entities, keys, jobs, check_ats, payloads, priorities, concurrency_keys, tenants)
               WITH ORDINALITY u (entity, key, job, check_at, payload, priority, concurrency_key, tenant, n),
               LATERAL (SELECT prescient.bucket_of(u.entity, u.key) AS bucket,
                        coalesce(file_checks.at, clock_timestamp()) AS at) s),
    inserted AS (
        INSERT INTO prescient.future_job AS f (bucket, entity_name, entity_key, job_exec,
                                               first_check_at, next_check_at, payload, priority,
                                               concurrency_key, tenant)
        SELECT w.bucket, w.entity, w.key, w.job, w.slot, w.slot, w.payload, coalesce(w.priority, 0),
               w.concurrency_key, w.tenant
          FROM wanted w ORDER BY w.bucket, w.entity, w.key, w.job, w.n
            ON CONFLICT DO NOTHING
        RETURNING f.entity_name, f.entity_key, f.job_exec)
    SELECT count(*), array_agg(prescient.check_name(i.entity_name, i.entity_key, i.job_exec))
        INTO added, filed FROM inserted i;
    IF added = n THEN
        RETURN;
    END IF;
    FOR c IN SELECT w.* FROM (SELECT u.*,
                              row_number() OVER (PARTITION BY u.entity, u.key, u.job ORDER BY u.n) AS nth
                                FROM unnest(entities, keys, jobs, check_ats, payloads, priorities,
                                            concurrency_keys, tenants)
                                     WITH ORDINALITY u (entity, key, job, check_at, payload, priority,
                                                        concurrency_key, tenant, n)) w
                       LEFT JOIN (SELECT f.name FROM unnest(filed) f (name)) done
                              ON done.name = prescient.check_name(w.entity, w.key, w.job)
              WHERE w.nth > 1 OR done.name IS NULL
              ORDER BY prescient.bucket_of(w.entity, w.key), w.entity, w.key, w.job, w.n LOOP
        CASE (prescient.file_good_check(c.entity, c.key, c.job, c.check_at, c.payload,
                                        conflict, coalesce(c.priority, 0), at, NULL,
                                        c.concurrency_key, c.tenant)).outcome
            WHEN 'new' THEN added := added + 1;
            WHEN 'kept' THEN kept := kept + 1;
            WHEN 'moved' THEN moved := moved + 1;
            ELSE replaced := replaced + 1;
        END CASE;
    END LOOP;
END $$;

-- ---- the end, and a new life --------------------------------------------------------------------

-- Deletes what waits for a row, of one job or of all (NULL), and archives it, with a note if one is
-- given. How many checks that were, and whether any of them had a rule.
CREATE FUNCTION prescient.end_checks_of_row(entity text, key text, job text, at timestamptz, words text,
                                            OUT ended bigint, OUT had_rule boolean)
LANGUAGE plpgsql AS $$
DECLARE
    clock CONSTANT timestamptz := clock_timestamp();
BEGIN
    WITH gone AS (
        DELETE FROM prescient.future_job f
         WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity AND f.entity_key = key
           AND (job IS NULL OR f.job_exec = job)
        RETURNING f.*),
    archived AS (
        INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at, check_count,
                                                  failure_count, run_count, entity_name, entity_key, job_exec,
                                                  outcome, first_run_at, total_run_us, tenant, note)
        SELECT clock, coalesce(at, clock), g.next_check_at, g.first_check_at, g.check_count, g.failure_count,
               coalesce(g.run_count, 0), g.entity_name, g.entity_key, g.job_exec, 'resolved', g.first_run_at,
               g.total_run_us, g.tenant, words
          FROM gone g)
    SELECT count(*), coalesce(bool_or(g.terms IS NOT NULL), false) INTO ended, had_rule FROM gone g;
END $$;

-- The same, where only the number matters.
CREATE FUNCTION prescient.end_checks(entity text, key text, job text, at timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
    RETURN (prescient.end_checks_of_row(entity, key, job, at, NULL)).ended;
END $$;

-- Who ends the check of a digest, or moves it, decides for its listener: an application does not.
CREATE FUNCTION prescient.require_engine_of_digest() RETURNS void LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF NOT has_function_privilege(session_user, 'prescient.resolve_at(text, text, text, timestamptz)',
                                  'EXECUTE') THEN
        RAISE EXCEPTION 'prescient: entity is prescient.digest, which stands for digests: only engines end '
                        'or move them, and user % is none', session_user
            USING ERRCODE = 'insufficient_privilege',
                  HINT = 'A member of prescient_engine may: prescient resolve prescient.digest NAME';
    END IF;
END $$;

-- A cursor without a check would be that of the check that is filed next. Two engines whose
-- settings name two jobs can have two checks: the cursor is of both.
CREATE FUNCTION prescient.forget_digest(listener text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM prescient.cursor c
     WHERE c.kind = 'digest' AND c.name = listener
       AND NOT EXISTS (SELECT FROM prescient.future_job f
                        WHERE f.bucket = prescient.bucket_of('prescient.digest', listener)
                          AND f.entity_name = 'prescient.digest' AND f.entity_key = listener);
END $$;

-- It is over, and what has come since goes into no digest: the next one begins anew.
CREATE FUNCTION prescient.end_digest(listener text, job text, at timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
BEGIN
    PERFORM prescient.require_engine_of_digest();
    n := prescient.end_checks('prescient.digest', listener, job, at);
    PERFORM prescient.forget_digest(listener);
    RETURN n;
END $$;

-- Ends the checks of a row, of one job or of all (NULL). Its schedules are switched off first:
-- nothing here tells whether their checks wait, run, or are missing. One that is off is locked,
-- too: it may be being switched on. A schedule whose maker has not committed cannot be seen, and so
-- not be locked. If it took over a check that waited, that one is waited for and ended, and has a
-- rule; then the schedule is searched for again. Only there is a schedule locked behind its check:
-- to keep the order, each resolve would need a savepoint. `words`: a note for the history.
CREATE FUNCTION prescient.resolve_noted(entity text, key text, job text, at timestamptz, words text)
    RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    n bigint := 0;
    had_looked boolean := false;
    this record;
BEGIN
    IF entity IS NULL OR key IS NULL THEN
        RAISE EXCEPTION 'prescient: % is NULL, expected the name of a row',
            CASE WHEN entity IS NULL THEN 'entity' ELSE 'key' END USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM pg_current_xact_id();
    IF NOT prescient.history_day_is_there(prescient.utc_day(clock_timestamp())) THEN
        -- no engine has been here for days: an application must not fail for that
        PERFORM prescient.keep_history_days(1);
    END IF;
    IF entity COLLATE "C" = 'prescient.digest' THEN
        RETURN prescient.end_digest(key, job, at);
    END IF;
    LOOP
        PERFORM FROM prescient.schedule s
          WHERE s.entity_name = entity AND s.entity_key = key AND (job IS NULL OR s.job_exec = job)
          ORDER BY s.name COLLATE "C" FOR UPDATE;
        IF FOUND THEN
            UPDATE prescient.schedule s
               SET is_active = false, switched_at = coalesce(at, clock_timestamp()),
                   switched_by = session_user, switched_why = 'resolved'
             WHERE s.entity_name = entity AND s.entity_key = key AND (job IS NULL OR s.job_exec = job)
               AND s.is_active;
        END IF;
        SELECT e.ended, e.had_rule INTO this FROM prescient.end_checks_of_row(entity, key, job, at, words) e;
        n := n + this.ended;
        -- if there was none, it may have been ended and enqueued anew while we waited for its lock
        EXIT WHEN NOT this.had_rule AND (n > 0 OR had_looked);
        had_looked := true;
    END LOOP;
    RETURN n;
END $$;

-- The same without a note.
CREATE FUNCTION prescient.resolve_at(entity text, key text, job text, at timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
    RETURN prescient.resolve_noted(entity, key, job, at, NULL);
END $$;

-- Why a resolve that ended nothing may be a mistake; NULL: it is none. A name that nothing waits
-- for and that has no schedule may be a mistyped one, and so may a job that no check of the row has
-- while others wait. The first row of a name is enough, and where there is none it takes one step
-- into the index for each bucket.
CREATE FUNCTION prescient.resolve_doubt(entity text, key text, job text) RETURNS text
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    others text;
BEGIN
    IF job IS NOT NULL THEN
        SELECT string_agg(CASE WHEN f.nth <= 10 THEN left(f.job_exec, 80) ELSE '...' END, ', '
                          ORDER BY f.nth) INTO others
          FROM (SELECT c.job_exec, row_number() OVER (ORDER BY c.job_exec COLLATE "C") AS nth
                  FROM prescient.future_job c
                 WHERE c.bucket = prescient.bucket_of(entity, key)
                   AND c.entity_name = entity COLLATE "default" AND c.entity_key = key COLLATE "default"
                 ORDER BY nth LIMIT 11) f;
    END IF;
    RETURN CASE
        WHEN others IS NOT NULL
            THEN format('nothing was resolved, as no check of job ''%s'' waits for this row; checks of these '
                        'jobs do: %s', left(job, 80), others)
        WHEN NOT EXISTS (SELECT FROM generate_series(0, 63) b (bucket),
                              LATERAL (SELECT FROM prescient.future_job f
                                        WHERE f.bucket = b.bucket
                                        AND f.entity_name = entity COLLATE "default" LIMIT 1) one)
             AND NOT EXISTS (SELECT FROM prescient.schedule s WHERE s.entity_name = entity COLLATE "default")
            THEN format('nothing was resolved, and no check of any row of entity ''%s'' waits: is that its '
                        'name?', left(entity, 80)) END;
END $$;
COMMENT ON FUNCTION prescient.resolve_doubt(text, text, text) IS
    'After a resolve that ended nothing: why that may be a mistake, as the notice of resolve has it; NULL: '
    'it is none.';

-- Begins a new life of a pending check at another time. It may be a delivery or a digest.
CREATE FUNCTION prescient.reschedule_at(entity text, key text, job text, check_at timestamptz,
                                        at timestamptz, OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    slot timestamptz;
BEGIN
    IF entity COLLATE "C" = 'prescient.digest' THEN
        PERFORM prescient.require_engine_of_digest();
    END IF;
    PERFORM prescient.require_check(CASE WHEN entity IN ('prescient.event', 'prescient.digest')
                                         THEN 'prescient' ELSE entity END,
                                    key, job, check_at, NULL, 'keep');
    PERFORM pg_current_xact_id();
    -- the slot length (set_slot_length) stays as it is until this transaction is over
    LOCK TABLE prescient.future_job IN ROW EXCLUSIVE MODE;
    slot := prescient.slot_for(check_at, coalesce(at, clock_timestamp()));
    FOR look IN 1 .. 2 LOOP
        UPDATE prescient.future_job f
           SET id = prescient.new_id(slot, f.bucket, f.priority), first_check_at = slot,
               next_check_at = slot, check_count = 0, failure_count = 0,
               again_at = NULL, deferred_at = NULL, first_run_at = NULL, run_count = NULL,
               total_run_us = NULL, origin = NULL, put_off_at = NULL,
               terms = prescient.terms_from_found(f.terms)
         WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity
         AND f.entity_key = key AND f.job_exec = job
        RETURNING f.next_check_at INTO filed_at;
        EXIT WHEN FOUND;
    END LOOP;
    outcome := CASE WHEN filed_at IS NULL THEN 'not_found' ELSE 'moved' END;
END $$;

-- `prescient retry`: enqueues a check again that ended with a failure, if none waits. The check of
-- a schedule does wait: it starts anew at the slot asked for, so that the next occurrence, which
-- the rule counts from there, is not used up. If that check has begun, it is pulled forward.
CREATE FUNCTION prescient.retry_check(entity text, key text, job text, check_at timestamptz, payload json,
                                      at timestamptz, concurrency_key text DEFAULT NULL,
                                      tenant text DEFAULT NULL,
                                      OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    clock timestamptz;
    waits record;
BEGIN
    SELECT f.next_check_at, f.terms IS NOT NULL AS recurs, prescient.finds_first(f) AS finds_first,
           f.check_count > 0 OR f.failure_count > 0 OR f.deferred_at IS NOT NULL AS has_begun
      INTO waits
      FROM prescient.future_job f
     WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity AND f.entity_key = key
       AND f.job_exec = job
       FOR UPDATE;
    clock := coalesce(at, clock_timestamp());
    IF waits.recurs AND NOT waits.has_begun AND waits.next_check_at > clock
       AND (waits.finds_first OR prescient.slot_for(check_at, clock) < waits.next_check_at) THEN
        SELECT c.outcome, c.filed_at INTO outcome, filed_at
          FROM prescient.reschedule_at(entity, key, job, check_at, at) c;
    ELSE
        SELECT c.outcome, c.filed_at INTO outcome, filed_at
          FROM prescient.file_check(entity, key, job, check_at, payload,
                                    CASE WHEN waits.recurs THEN 'earlier' ELSE 'keep' END, 0, at,
                                    concurrency_key, tenant) c;
    END IF;
END $$;
