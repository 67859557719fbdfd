-- 0010_pauses - the checks of a job, an entity, a schedule or a tenant wait until they are resumed.
--
-- Each pause has a slot of its own that never begins: a day from the year 9000 on. The engine of a
-- check that comes up moves it there unrun. The settle locks the pause's row, and moves the check
-- there only while the pause is on. To resume changes that row, behind those locks: nothing comes
-- in any more. Then engines pass over its slot page by page, under its leases. The pause is over
-- when its slot is empty, and closed or was never opened.

-- Gives the last change to pauses a number. It is called first in a transaction that pauses or
-- resumes: such transactions come one after the other, and numbers in the order of their commits.
-- The number is the time of the change, in microseconds: so a database that was restored, or a
-- standby that took over, never has other pauses under the number that an engine knows.
CREATE FUNCTION prescient.note_pause_change() RETURNS void
LANGUAGE sql SET search_path = pg_catalog, pg_temp AS $$
    INSERT INTO prescient.setting AS s
    VALUES ('pause_changes', (date_part('epoch', clock_timestamp()) * 1000000)::bigint::text)
        ON CONFLICT (name) DO UPDATE
       SET value = greatest(s.value::bigint + 1, excluded.value::bigint)::text $$;

-- Which one of the four is given, and its name; an error if that is not one.
CREATE FUNCTION prescient.require_pause(job text, entity text, schedule text, tenant text,
                                        OUT what text, OUT name text)
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    what := CASE WHEN job IS NOT NULL THEN 'job' WHEN entity IS NOT NULL THEN 'entity'
                 WHEN schedule IS NOT NULL THEN 'schedule' ELSE 'tenant' END;
    name := coalesce(job, entity, schedule, tenant);
    IF num_nonnulls(job, entity, schedule, tenant) <> 1 THEN
        RAISE EXCEPTION 'prescient: % of job, entity, schedule and tenant are given, expected one of them: '
                        'prescient.pause(job => ''unshipped_order'')',
                        num_nonnulls(job, entity, schedule, tenant)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF octet_length(name) NOT BETWEEN 1 AND 1024 THEN
        RAISE EXCEPTION 'prescient: % has % bytes, expected 1 to 1024', what, octet_length(name)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END $$;

-- A day after the newest, so that no slot is used again that an engine may still know as another
-- pause's. After a thousand years of days, the first free one. Never one that holds checks.
CREATE FUNCTION prescient.pause_slot() RETURNS timestamptz
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    first CONSTANT timestamptz := '9000-01-01 00:00:00+00';
    day CONSTANT interval := interval '24 hours';
    slot timestamptz := (SELECT coalesce(max(p.slot_at) + day, first) FROM prescient.pause p);
BEGIN
    LOOP
        IF slot >= '10000-01-01 00:00:00+00' THEN
            SELECT min(d.at) INTO slot
              FROM (SELECT first AS at UNION ALL SELECT p.slot_at + day FROM prescient.pause p) d
             WHERE d.at < '10000-01-01 00:00:00+00'
               AND NOT EXISTS (SELECT FROM prescient.pause p WHERE p.slot_at = d.at)
               AND NOT EXISTS (SELECT FROM prescient.future_job f WHERE f.next_check_at = d.at);
            IF slot IS NULL THEN
                RAISE EXCEPTION 'prescient: no slot is left for another pause: prescient prune drops those '
                                'that are over' USING ERRCODE = 'program_limit_exceeded';
            END IF;
        END IF;
        EXIT WHEN NOT EXISTS (SELECT FROM prescient.future_job f WHERE f.next_check_at = slot);
        slot := slot + day;
    END LOOP;
    RETURN slot;
END $$;

-- Who has done it, for those who read it: for whom, if that is known, and the user of the session.
CREATE FUNCTION prescient.pauser(who text) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN who <> '' THEN format('%s (%s)', left(who, 100), session_user)
                ELSE session_user::text END $$;

-- Either leaves a row in audit.
CREATE FUNCTION prescient.note_pausing(change text, what text, name text, who text, reason text)
    RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM prescient.note_change(change, what, CASE what WHEN 'entity' THEN name END, NULL,
                                  CASE what WHEN 'job' THEN name END,
                                  CASE WHEN what IN ('tenant', 'schedule') THEN name END,
                                  json_build_object('is_paused', change = 'resume'),
                                  json_build_object('is_paused', change = 'pause'), who, reason);
END $$;

-- Who pauses or resumes waits until all others have committed who do: they write one number. No
-- engine waits for them. who: for whom, beside the user of the session.
CREATE FUNCTION prescient.pause(job text DEFAULT NULL, entity text DEFAULT NULL,
                                schedule text DEFAULT NULL, reason text DEFAULT NULL,
                                tenant text DEFAULT NULL, who text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    this record := prescient.require_pause(job COLLATE "default", entity, schedule, tenant);
BEGIN
    IF octet_length(reason) > 4096 THEN
        RAISE EXCEPTION 'prescient: reason has % bytes, expected at most 4096', octet_length(reason)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF this.what = 'schedule' AND NOT EXISTS (SELECT FROM prescient.schedule s WHERE s.name = this.name) THEN
        RAISE EXCEPTION 'prescient: there is no schedule %', quote_literal(this.name)
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM prescient.note_pause_change();
    IF EXISTS (SELECT FROM prescient.pause p
                WHERE p.what = this.what AND p.name = this.name AND p.resumed_at IS NULL) THEN
        RETURN 'kept';
    END IF;
    INSERT INTO prescient.pause (slot_at, what, name, reason, paused_at, paused_by)
    VALUES (prescient.pause_slot(), this.what, this.name, nullif(reason COLLATE "C", ''), clock_timestamp(),
            prescient.pauser(who COLLATE "default"));
    PERFORM prescient.note_pausing('pause', this.what, this.name, who COLLATE "default",
                                   reason COLLATE "default");
    RETURN 'paused';
END $$;
COMMENT ON FUNCTION prescient.pause(text, text, text, text, text, text) IS
    'Lets the checks of a job, an entity, a schedule or a tenant wait until they are resumed. Returns '
    'paused, or kept when they were paused already.';

-- Its checks are moved by engines, a page at a time, and not by this call.
CREATE FUNCTION prescient.resume(job text DEFAULT NULL, entity text DEFAULT NULL,
                                 schedule text DEFAULT NULL, reslot boolean DEFAULT false,
                                 tenant text DEFAULT NULL, reason text DEFAULT NULL,
                                 who text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    this record := prescient.require_pause(job COLLATE "default", entity, schedule, tenant);
BEGIN
    PERFORM prescient.note_pause_change();
    UPDATE prescient.pause p
       SET resumed_at = clock_timestamp(), resumed_by = prescient.pauser(who COLLATE "default"),
           is_reslotted = coalesce(reslot, false)
     WHERE p.what = this.what AND p.name = this.name AND p.resumed_at IS NULL;
    IF NOT FOUND THEN
        RETURN 'not_paused';
    END IF;
    PERFORM prescient.note_pausing('resume', this.what, this.name, who COLLATE "default",
                                   reason COLLATE "default");
    RETURN 'resumed';
END $$;
COMMENT ON FUNCTION prescient.resume(text, text, text, boolean, text, text, text) IS
    'Ends a pause: engines spread its checks over the seconds of the next slot, or with reslot file all '
    'of them under that slot. Returns resumed, or not_paused.';

-- Whether the slot of a pause holds no check, and is closed or was never opened. VOLATILE: it looks
-- anew at each call, also within one statement.
CREATE FUNCTION prescient.pause_is_empty(slot timestamptz) RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RETURN NOT EXISTS (SELECT FROM prescient.future_job f WHERE f.next_check_at = slot)
       AND NOT EXISTS (SELECT FROM prescient.slot_lease l WHERE l.slot_at = slot)
       AND NOT EXISTS (SELECT FROM prescient.slot_pass o
                        WHERE o.slot_at = slot AND o.pass = 0 AND o.closed_at IS NULL);
END $$;

-- For engines: ends the pauses that were resumed and whose slot is empty, up to a hundred of those.
-- A slot that an engine has opened must be closed, too: nobody opens the slot of a pause that is
-- over, so what an engine that died there has begun would stay unfinished. Whether a pause is over
-- is asked again with its row locked.
CREATE FUNCTION prescient.end_pauses() RETURNS integer
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

CREATE VIEW prescient.pauses AS
    SELECT p.what, p.name,
           CASE WHEN p.resumed_at IS NULL THEN 'on' WHEN p.ended_at IS NULL THEN 'ending' ELSE 'over' END
               AS state,
           (SELECT count(*) FROM (SELECT FROM prescient.future_job f WHERE f.next_check_at = p.slot_at
                                   LIMIT 10000) few) AS checks,
           p.paused_at, p.paused_by, p.reason, p.resumed_at, p.resumed_by, p.is_reslotted, p.ended_at,
           p.slot_at
      FROM prescient.pause p;
COMMENT ON VIEW prescient.pauses IS 'What is paused, and what was.';
COMMENT ON COLUMN prescient.pauses.state IS 'on; ending: resumed, and some checks still leave; over.';
COMMENT ON COLUMN prescient.pauses.checks IS 'How many checks wait in it; 10000: that many or more.';
