-- 0012_engine - what engines ask for when their own statements do not suffice: corrupt blocks,
-- times that are no slots, buckets that are not those of their keys, and checks that were put off.

-- ---- corrupt blocks -----------------------------------------------------------------------------
-- A corrupt block of the table fails each statement that meets it. One such block would keep its
-- slot from being opened, and other slots from being scanned or swept. These functions answer the
-- same questions as the engine's statements do, and cost more: what cannot be read counts as a row
-- that is there. An engine calls them when its own statement has failed for a corrupt block. They
-- make no sequential scans: the index says which rows are to be fetched, and only those. What is
-- corrupt in the index itself cannot be gone around.

-- Whether the error is about another relation than the index by slot. Messages are in the server's
-- language; the path in them is not.
CREATE FUNCTION prescient.is_beside_the_index(message text) RETURNS boolean
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT message !~ (pg_relation_filepath('prescient.future_job_slot') || '([^0-9]|$)') $$;

-- Whether there are rows in the slots from `first` to `last`, both included, in these buckets, of
-- these jobs (NULL: any).
CREATE FUNCTION prescient.holds_checks(first timestamptz, last timestamptz, first_bucket integer,
                                       last_bucket integer, jobs text[]) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
BEGIN
    RETURN EXISTS (SELECT FROM prescient.future_job f
                    WHERE f.next_check_at BETWEEN first AND last
                    AND f.bucket BETWEEN first_bucket AND last_bucket
                    AND (jobs IS NULL OR f.job_exec = ANY (jobs)));
EXCEPTION WHEN data_corrupted THEN
    IF NOT prescient.is_beside_the_index(SQLERRM) THEN
        RAISE;
    END IF;
    RETURN true;
END $$;

-- The first slot in [first, before) with rows; NULL: none. Found by halving, among all seconds.
CREATE FUNCTION prescient.first_slot(first timestamptz, before timestamptz) RETURNS timestamptz
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    low bigint := ceil(date_part('epoch', greatest(first, '1970-01-01 00:00:00+00')));
    high bigint := ceil(date_part('epoch', least(before, '10000-01-01 00:00:00+00')));
    middle bigint;
BEGIN
    IF low >= high OR NOT prescient.holds_checks(to_timestamp(low), to_timestamp(high - 1), 0, 63, NULL) THEN
        RETURN NULL;
    END IF;
    WHILE high - low > 1 LOOP
        middle := low + (high - low) / 2;
        IF prescient.holds_checks(to_timestamp(low), to_timestamp(middle - 1), 0, 63, NULL) THEN
            high := middle;
        ELSE
            low := middle;
        END IF;
    END LOOP;
    RETURN to_timestamp(low);
END $$;

-- The ids in a slot's buckets whose rows cannot be read, in order. A range of ids that cannot be
-- read as a whole is halved until it can, or is one id: ids are a column of the index, so rows
-- outside the range are not touched.
CREATE FUNCTION prescient.unreadable_checks(slot timestamptz, first_bucket integer, last_bucket integer)
    RETURNS bigint[]
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    most CONSTANT integer := 10000;
    unreadable bigint[] := '{}';
    lows bigint[] := '{0}';                         -- ranges to be read, the next one last
    highs bigint[] := ARRAY[(1::bigint << 62)];     -- not included
    low bigint;
    high bigint;
    n integer := 1;
BEGIN
    WHILE n > 0 LOOP
        low := lows[n];
        high := highs[n];
        n := n - 1;
        BEGIN
            PERFORM count(f::text) FROM prescient.future_job f
              WHERE f.next_check_at = slot AND f.bucket BETWEEN first_bucket AND last_bucket
              AND f.id >= low AND f.id < high;
        EXCEPTION WHEN data_corrupted THEN
            IF NOT prescient.is_beside_the_index(SQLERRM) OR cardinality(unreadable) = most THEN
                RAISE;
            END IF;
            IF high - low = 1 THEN
                unreadable := unreadable || low;
            ELSE
                lows[n + 1] := low + (high - low) / 2;
                highs[n + 1] := high;
                lows[n + 2] := low;
                highs[n + 2] := low + (high - low) / 2;
                n := n + 2;
            END IF;
        END;
    END LOOP;
    RETURN unreadable;
END $$;

-- The other rows.
CREATE FUNCTION prescient.readable_checks(slot timestamptz, first_bucket integer, last_bucket integer)
    RETURNS SETOF prescient.future_job
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    low bigint := 0;
    high bigint;
BEGIN
    FOREACH high IN ARRAY prescient.unreadable_checks(slot, first_bucket, last_bucket)
        || (1::bigint << 62) LOOP
        RETURN QUERY SELECT f.* FROM prescient.future_job f
                      WHERE f.next_check_at = slot AND f.bucket BETWEEN first_bucket AND last_bucket
                      AND f.id >= low AND f.id < high;
        low := high + 1;
    END LOOP;
END $$;

-- How many rows there are in the slots of [first, before), about `most` at the most, with those
-- that cannot be read: slot by slot.
CREATE FUNCTION prescient.count_checks(first timestamptz, before timestamptz, most bigint) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    slot timestamptz := prescient.first_slot(first, before);
    total bigint := 0;
BEGIN
    WHILE slot IS NOT NULL AND total < most LOOP
        BEGIN
            total := total + (SELECT count(*)
                              FROM (SELECT FROM prescient.future_job f
                                    WHERE f.next_check_at = slot LIMIT most - total) few);
        EXCEPTION WHEN data_corrupted THEN
            IF NOT prescient.is_beside_the_index(SQLERRM) THEN
                RAISE;
            END IF;
            total := total + cardinality(prescient.unreadable_checks(slot, 0, 63))
                + (SELECT count(*) FROM prescient.readable_checks(slot, 0, 63));
        END;
        slot := prescient.first_slot(slot + interval '1 microsecond', before);
    END LOOP;
    RETURN total;
END $$;

-- ---- times that are no slots --------------------------------------------------------------------

-- The second behind a time that is no slot; what is before 1970 is one stretch.
CREATE FUNCTION prescient.second_behind(wrong timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN wrong < '1970-01-01 00:00:00+00' THEN '1970-01-01 00:00:00+00'
                ELSE date_trunc('second', wrong) + interval '1 second' END $$;

-- The first slot in [wrong, before) with rows, where the first row is at a time that is no slot:
-- from second to second by one step of the index each, ten thousand at most. `until`: that many
-- were not enough, and the look goes on from there.
CREATE FUNCTION prescient.slot_behind(wrong timestamptz, before timestamptz, OUT slot timestamptz,
                                      OUT until timestamptz)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    slot := wrong;
    FOR step IN 1 .. 10000 LOOP
        wrong := prescient.second_behind(slot);
        slot := (SELECT f.next_check_at FROM prescient.future_job f
                  WHERE f.next_check_at >= wrong AND f.next_check_at < before
                  ORDER BY f.next_check_at LIMIT 1);
        IF slot IS NULL OR prescient.is_slot(slot) THEN
            RETURN;
        END IF;
    END LOOP;
    until := date_trunc('second', slot);
    slot := NULL;
END $$;

-- Moves checks in [first, before) that are at times that are no slots to the first slot behind that
-- has not begun; the run log has why. At most so many, and it looks at ten thousand times at most,
-- so that a call stays short: `until` is where the next one goes on; NULL: none are left but those
-- that another transaction has locked, which are left to the next sweep.
CREATE FUNCTION prescient.refile(first timestamptz, before timestamptz, most integer, OUT refiled bigint,
                                 OUT until timestamptz)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off
    SET enable_mergejoin = off AS $$
DECLARE
    wrong timestamptz;
    behind timestamptz;
    at timestamptz;
    slot timestamptz;
BEGIN
    PERFORM pg_current_xact_id();
    LOCK TABLE prescient.future_job IN ROW EXCLUSIVE MODE;      -- the slot length stays as it is
    at := clock_timestamp();
    refiled := 0;
    FOR step IN 1 .. 10000 LOOP
        wrong := (SELECT f.next_check_at FROM prescient.future_job f
                   WHERE f.next_check_at >= first AND f.next_check_at < before
                   ORDER BY f.next_check_at LIMIT 1);
        IF wrong IS NULL THEN
            RETURN;
        END IF;
        IF prescient.is_slot(wrong) THEN
            first := wrong + interval '1 microsecond';
            CONTINUE;
        END IF;
        behind := prescient.second_behind(wrong);
        slot := prescient.slot_for(wrong, at);
        WITH misfiled AS MATERIALIZED (
            SELECT f.bucket, f.entity_name, f.entity_key, f.job_exec, f.next_check_at
              FROM prescient.future_job f
             WHERE f.next_check_at >= wrong AND f.next_check_at < least(behind, before)
             ORDER BY f.next_check_at LIMIT most - refiled FOR UPDATE SKIP LOCKED),
        moved AS (
            UPDATE prescient.future_job f
               SET next_check_at = slot, id = prescient.new_id(slot, f.bucket, f.priority),
                   origin = prescient.origin_of(f.origin, f.first_check_at, f.id)
              FROM misfiled m
             WHERE f.bucket = m.bucket AND f.entity_name = m.entity_name AND f.entity_key = m.entity_key
               AND f.job_exec = m.job_exec
            RETURNING f.check_count, f.failure_count, f.entity_name, f.entity_key, f.job_exec, f.tenant,
                      m.next_check_at AS wrong),
        noted AS (
            INSERT INTO prescient.future_job_run (run_at, slot_at, next_check_at, run_us, check_count,
                                                  failure_count, entity_name, entity_key, job_exec, outcome,
                                                  note, tenant)
            SELECT at, greatest(prescient.slot_floor(m.wrong), '1970-01-01 00:00:00+00'), slot, 0,
                   m.check_count, m.failure_count, m.entity_name, m.entity_key, m.job_exec, 'reslotted',
                   format('not run: it was filed at %s, which is no slot of %s s; file checks by '
                          'prescient.enqueue()', m.wrong, prescient.slot_length_s()), m.tenant
              FROM moved m
            RETURNING 1)
        SELECT refiled + count(*) INTO refiled FROM noted;
        IF refiled >= most THEN
            first := wrong;
            EXIT;
        END IF;
        first := behind;
    END LOOP;
    until := date_trunc('second', greatest(first, '1970-01-01 00:00:01+00'));
END $$;

-- ---- buckets that are not those of their keys ---------------------------------------------------

-- A plain INSERT may file a check in any bucket. It runs where it is, but enqueue, resolve and
-- pending look for it in the bucket of its key. So this looks at the checks that come next: a
-- thousand, and a thousand more behind each wrong one, 10,000 in all. What has not begun is filed
-- anew in its own bucket, at the same time: a bucket never changes by UPDATE. If the application
-- has filed the same check meanwhile, as it could not find this one, that one stays, at the earlier
-- time of the two. What another transaction has locked is left to the next call. `one`: a check
-- that was wrong.
CREATE FUNCTION prescient.refile_buckets(OUT refiled bigint, OUT doubles bigint, OUT one text)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET lock_timeout = '2s' SET enable_seqscan = off AS $$
DECLARE
    looked integer := 0;
    most integer := 1000;
    c record;
    was record;
BEGIN
    refiled := 0;
    doubles := 0;
    FOR c IN SELECT f.bucket, f.entity_name, f.entity_key, f.job_exec, f.next_check_at,
                    prescient.bucket_of(f.entity_name, f.entity_key) AS own
               FROM prescient.future_job f
              WHERE f.next_check_at > clock_timestamp() AND f.next_check_at < '9000-01-01 00:00:00+00'
              ORDER BY f.next_check_at, f.bucket, f.priority, f.id LIMIT 10000 LOOP
        looked := looked + 1;
        EXIT WHEN looked > most;
        CONTINUE WHEN c.bucket = c.own;
        most := looked + 1000;
        PERFORM pg_current_xact_id();       -- before the clock is read, as each writer does
        WITH locked AS MATERIALIZED (
            SELECT f.id FROM prescient.future_job f
             WHERE f.bucket = c.bucket AND f.entity_name = c.entity_name AND f.entity_key = c.entity_key
               AND f.job_exec = c.job_exec AND f.next_check_at > clock_timestamp()
               FOR UPDATE SKIP LOCKED),
        gone AS (
            DELETE FROM prescient.future_job f USING locked l
             WHERE f.bucket = c.bucket AND f.entity_name = c.entity_name AND f.entity_key = c.entity_key
               AND f.job_exec = c.job_exec AND f.id = l.id
            RETURNING f.*),
        filed AS (
            INSERT INTO prescient.future_job (id, first_check_at, next_check_at, check_count, failure_count,
                                              priority, bucket, entity_name, entity_key, job_exec, payload,
                                              again_at, deferred_at, first_run_at, total_run_us, run_count,
                                              origin, put_off_at, terms, concurrency_key, tenant)
            SELECT prescient.new_id(g.next_check_at, c.own, g.priority), g.first_check_at, g.next_check_at,
                   g.check_count, g.failure_count, g.priority, c.own, g.entity_name, g.entity_key, g.job_exec,
                   g.payload, g.again_at, g.deferred_at, g.first_run_at, g.total_run_us, g.run_count,
                   prescient.origin_of(g.origin, g.first_check_at, g.id), g.put_off_at, g.terms,
                   g.concurrency_key, g.tenant
              FROM gone g
                ON CONFLICT (bucket, entity_name, entity_key, job_exec) DO NOTHING
            RETURNING 1),
        archived AS (
            INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at,
                                                      check_count, failure_count, run_count, entity_name,
                                                      entity_key, job_exec, outcome, first_run_at,
                                                      total_run_us, note, tenant)
            SELECT clock_timestamp(), clock_timestamp(), g.next_check_at, g.first_check_at, g.check_count,
                   g.failure_count, coalesce(g.run_count, 0), g.entity_name, g.entity_key, g.job_exec,
                   'resolved', g.first_run_at, g.total_run_us,
                   format('a plain INSERT filed it in the bucket %s, which is not that of its key, and the '
                          'same check waits in the bucket %s', c.bucket, c.own), g.tenant
              FROM gone g WHERE NOT EXISTS (SELECT FROM filed))
        SELECT (SELECT count(*) FROM gone) AS gone, (SELECT count(*) FROM filed) AS filed INTO was;
        CONTINUE WHEN was.gone = 0;
        IF was.filed = 0 THEN
            PERFORM prescient.file_again(c.entity_name, c.entity_key, c.job_exec,
                                         prescient.slot_for(c.next_check_at, clock_timestamp()), NULL, NULL,
                                         'earlier', NULL);
        END IF;
        refiled := refiled + was.filed;
        doubles := doubles + was.gone - was.filed;
        one := format('(%s, %s, %s)', left(c.entity_name, 40), left(c.entity_key, 40), left(c.job_exec, 40));
    END LOOP;
EXCEPTION WHEN data_corrupted OR lock_not_available THEN
    refiled := 0;                           -- undone; a sweep goes on without it
    doubles := 0;
    one := NULL;
END $$;

-- ---- checks that were put off -------------------------------------------------------------------

-- Files checks that were put off unrun into the next slot, where they wait for a later one: of
-- these jobs (NULL: all), of an entity, of a key. They stay late since they were due. Five thousand
-- are looked at in a call, in the order of put_off_at and id; `until_at` and `until_id` are where
-- the next call goes on; NULL: none are left. Rows that are locked stay where they are. What is
-- paused is in a slot of its pause, and stays there. A check keeps its id, and so its life, unless
-- another one of the slot has the same (see new_id).
CREATE FUNCTION prescient.recall(entity text, key text, jobs text[], since timestamptz, now timestamptz,
                                 after_at timestamptz, after_id bigint, only_one boolean,
                                 OUT recalled bigint, OUT until_at timestamptz, OUT until_id bigint)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET enable_hashjoin = off
    SET enable_mergejoin = off AS $$
DECLARE
    most CONSTANT integer := 5000;
    slot timestamptz;
    looked bigint;
BEGIN
    recalled := 0;
    IF NOT EXISTS (SELECT FROM prescient.future_job f WHERE f.put_off_at IS NOT NULL
                   AND (f.put_off_at, f.id) > (after_at, after_id)) THEN
        RETURN;
    END IF;
    PERFORM pg_current_xact_id();
    LOCK TABLE prescient.future_job IN ROW EXCLUSIVE MODE;      -- the slot length stays as it is
    slot := prescient.slot_next(coalesce(now, clock_timestamp()));
    WITH first AS MATERIALIZED (
        SELECT f.put_off_at, f.id, f.next_check_at, f.bucket, f.entity_name, f.entity_key, f.job_exec,
               row_number() OVER (PARTITION BY f.bucket, f.priority, f.id) > 1 AS is_double
          FROM (SELECT f.* FROM prescient.future_job f
                 WHERE f.put_off_at IS NOT NULL AND (f.put_off_at, f.id) > (after_at, after_id)
                 ORDER BY f.put_off_at, f.id LIMIT most) f),
    chosen AS MATERIALIZED (
        SELECT f.bucket, f.entity_name, f.entity_key, f.job_exec,
               p.is_double OR EXISTS (SELECT FROM prescient.future_job o
                                       WHERE o.next_check_at = slot AND o.bucket = f.bucket
                                       AND o.priority = f.priority AND o.id = f.id) AS is_taken
          FROM first p, prescient.future_job f
         WHERE p.next_check_at > slot AND p.next_check_at < '9000-01-01 00:00:00+00'
           AND (jobs IS NULL OR p.job_exec = ANY (jobs)) AND (entity IS NULL OR p.entity_name = entity)
           AND (key IS NULL OR p.entity_key = key) AND (since IS NULL OR p.put_off_at >= since)
           AND f.bucket = p.bucket AND f.entity_name = p.entity_name AND f.entity_key = p.entity_key
           AND f.job_exec = p.job_exec AND f.next_check_at = p.next_check_at AND f.id = p.id
         LIMIT CASE WHEN only_one THEN 1 END FOR UPDATE OF f SKIP LOCKED),
    moved AS (
        UPDATE prescient.future_job f
           SET next_check_at = slot,
               id = CASE WHEN c.is_taken THEN prescient.new_id(slot, f.bucket, f.priority) ELSE f.id END,
               origin = CASE WHEN c.is_taken THEN prescient.origin_of(f.origin, f.first_check_at, f.id)
                             ELSE f.origin END
          FROM chosen c
         WHERE f.bucket = c.bucket AND f.entity_name = c.entity_name AND f.entity_key = c.entity_key
           AND f.job_exec = c.job_exec
        RETURNING 1)
    SELECT (SELECT count(*) FROM first), (SELECT count(*) FROM moved), l.put_off_at, l.id
      INTO looked, recalled, until_at, until_id
      FROM (SELECT p.put_off_at, p.id FROM first p ORDER BY p.put_off_at DESC, p.id DESC LIMIT 1) l;
    IF looked < most THEN
        until_at := NULL;
        until_id := NULL;
    END IF;
END $$;
