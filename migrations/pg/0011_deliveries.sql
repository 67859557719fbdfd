-- 0011_deliveries - the deliveries of events, listed, and sent once more.
--
-- The settle that writes an event files its deliveries: checks of the entity prescient.event, with
-- the key LISTENER/ORIGIN. No application may file one: it would have no event. A delivery that is
-- over is in the history, and the origin in its key leads to its event.

-- What a delivery is about, but not the data. It must go by the index, whatever the planner takes
-- few rows for.
CREATE FUNCTION prescient.event_of(delivery text)
    RETURNS TABLE (event text, entity_name text, entity_key text, emitted_at timestamptz)
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off AS $$
BEGIN
    IF delivery ~ '/[0-9a-f]{32}$' THEN
        RETURN QUERY SELECT e.event, e.entity_name, e.entity_key, e.emitted_at FROM prescient.event e
                      WHERE e.origin = right(delivery, 32)::uuid ORDER BY e.emitted_at DESC LIMIT 1;
    END IF;
END $$;
COMMENT ON FUNCTION prescient.event_of(text) IS
    'The event of a delivery, by the entity_key of that; no row: it was pruned, or there is none.';

-- Files a delivery that is over once more, under the same key, as its event has it: in the next
-- second, for the job that had it last. The event does not have the first slot and the failures of
-- the check that emitted it: they come from the history, if that check ended with this run. A
-- digest has no event: the history has what it told, if it ended in trouble; it was emitted in the
-- second before the one for which it was filed.
-- outcome: again; waits: it is not over; unknown: there was none; pruned: its event is gone;
-- not_kept: a digest, of which nobody has what it told.
CREATE FUNCTION prescient.deliver_again(delivery text, at timestamptz, OUT outcome text,
                                        OUT filed_at timestamptz)
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET enable_seqscan = off AS $$
DECLARE
    in_bucket CONSTANT integer := prescient.bucket_of('prescient.event', delivery);
    is_digest CONSTANT boolean := delivery ~ '/[0-9]+-[0-9]+-[0-9]+[.][.][0-9]+-[0-9]+-[0-9]+$';
    last record;
    parent record;
    e prescient.event;
BEGIN
    SELECT h.job_exec, h.payload, h.first_check_at, h.tenant INTO last
      FROM prescient.newest_rows(NULL::prescient.future_job_history, 'prescient.event',
                                 nullif(delivery, ''), NULL, NULL, NULL, NULL, 1, NULL) h;
    IF delivery ~ '/[0-9a-f]{32}$' THEN
        SELECT * INTO e FROM prescient.event v WHERE v.origin = right(delivery, 32)::uuid
         ORDER BY v.emitted_at DESC LIMIT 1;
    END IF;
    SELECT h.first_check_at, h.failure_count INTO parent
      FROM prescient.newest_rows(NULL::prescient.future_job_history, e.entity_name, e.entity_key, e.job_exec,
                                 NULL, e.emitted_at - interval '5 minutes',
                                 e.emitted_at + interval '1 second',
                                 CASE WHEN e.event IS NULL THEN 0 ELSE 1 END, NULL) h
     WHERE h.check_count = e.check_count;
    IF is_digest AND last.payload IS NOT NULL THEN
        e.event := 'digest';
        e.entity_name := 'prescient.digest';
        e.entity_key := split_part(delivery, '/', 1);
        e.job_exec := last.job_exec;
        e.check_count := 0;
        e.data := last.payload;
        e.emitted_at := last.first_check_at - interval '1 second';
        e.slot_at := e.emitted_at;
    END IF;
    PERFORM pg_current_xact_id();
    -- the slot length (set_slot_length) stays as it is until this transaction is over
    LOCK TABLE prescient.future_job IN ROW EXCLUSIVE MODE;
    SELECT 'waits', f.next_check_at INTO outcome, filed_at FROM prescient.future_job f
     WHERE f.bucket = in_bucket AND f.entity_name = 'prescient.event' AND f.entity_key = delivery LIMIT 1;
    IF outcome IS NULL AND (last.job_exec IS NULL OR e.event IS NULL) THEN
        outcome := CASE WHEN last.job_exec IS NULL THEN 'unknown' WHEN is_digest THEN 'not_kept'
                       ELSE 'pruned' END;
    END IF;
    IF outcome IS NOT NULL THEN
        RETURN;
    END IF;
    filed_at := prescient.slot_fine_next(coalesce(at, clock_timestamp()));
    INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
                                      next_check_at, payload, origin, tenant, terms)
    VALUES (in_bucket, 'prescient.event', delivery, last.job_exec, filed_at, filed_at, e.data,
            CASE WHEN NOT is_digest THEN right(delivery, 32) END, last.tenant,
            format('event "%s" of "%s" key "%s" job "%s" number %s failures %s first %s listener "%s" at %s',
                   replace(e.event, '"', '""'), replace(e.entity_name, '"', '""'),
                   replace(e.entity_key, '"', '""'), replace(e.job_exec, '"', '""'),
                   e.check_count::bigint + 1, coalesce(parent.failure_count, 0),
                   greatest(date_part('epoch', coalesce(parent.first_check_at, e.slot_at))::bigint, 0),
                   split_part(delivery, '/', 1), round(date_part('epoch', e.emitted_at) * 1000000)::bigint))
        ON CONFLICT (bucket, entity_name, entity_key, job_exec) DO NOTHING;
    outcome := CASE WHEN FOUND THEN 'again' ELSE 'waits' END;
END $$;
COMMENT ON FUNCTION prescient.deliver_again(text, timestamptz) IS
    'Sends the delivery of an event, by its entity_key, once more under the same key.';
