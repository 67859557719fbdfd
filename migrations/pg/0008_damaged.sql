-- 0008_damaged - what is on a page that cannot be read keeps nothing else from being found and run.
-- oldest engine: 1
--
-- A damaged page of the table fails every statement that meets it, and those that look for rows
-- meet the first of them: one such page held up the opening of its slot, the second looks at all
-- others, and every sweep. These functions answer the same questions as those statements do, for a
-- price: whatever cannot be read counts as a row that is there. An engine asks them when a
-- statement of its own has failed so. No sequential scans: the index says which rows of the table
-- are to be fetched, and only those. What is damaged in the index itself nobody can go around: it
-- is told as it was.

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

-- The first slot in [first, before) with rows; NULL: none. It is looked for among all slots of the
-- years that a check can have.
CREATE FUNCTION prescient.first_slot(first timestamptz, before timestamptz) RETURNS timestamptz
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    length_s CONSTANT bigint := prescient.slot_length_s();
    low bigint := ceil(date_part('epoch', greatest(first, '1970-01-01 00:00:00+00')) / length_s);
    high bigint := ceil(date_part('epoch', least(before, '10000-01-01 00:00:00+00')) / length_s);
    middle bigint;
BEGIN
    IF low >= high OR NOT prescient.holds_checks(to_timestamp(low * length_s),
                                                 to_timestamp((high - 1) * length_s), 0, 63, NULL) THEN
        RETURN NULL;
    END IF;
    WHILE high - low > 1 LOOP
        middle := low + (high - low) / 2;
        IF prescient.holds_checks(to_timestamp(low * length_s), to_timestamp((middle - 1) * length_s),
                                  0, 63, NULL) THEN
            high := middle;
        ELSE
            low := middle;
        END IF;
    END LOOP;
    RETURN to_timestamp(low * length_s);
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
    lows bigint[] := '{0}';                         -- ranges to look at, the next one last
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

-- The others.
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

-- How many there are in the slots of [first, before), about `most` at the most: slot by slot, those
-- that cannot be read among them.
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

REVOKE ALL ON FUNCTION prescient.is_beside_the_index(text),
    prescient.holds_checks(timestamptz, timestamptz, integer, integer, text[]),
        prescient.count_checks(timestamptz, timestamptz, bigint),
    prescient.first_slot(timestamptz, timestamptz),
        prescient.unreadable_checks(timestamptz, integer, integer),
    prescient.readable_checks(timestamptz, integer, integer) FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT EXECUTE ON FUNCTION prescient.is_beside_the_index(text),
            prescient.holds_checks(timestamptz, timestamptz, integer, integer, text[]),
                prescient.count_checks(timestamptz, timestamptz, bigint),
            prescient.first_slot(timestamptz, timestamptz),
                prescient.unreadable_checks(timestamptz, integer, integer),
            prescient.readable_checks(timestamptz, integer, integer) TO prescient_engine;
    END IF;
END $$;
