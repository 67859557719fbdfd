-- 0001_tables - what is pending, what was, and who runs which slot.
-- oldest engine: 1
--
-- "prescient." stands for whatever schema the program was told to use. Seconds and slots are UTC; nothing here asks for a time zone.

CREATE TABLE prescient.setting (
    name text PRIMARY KEY,
    value text NOT NULL
);
COMMENT ON TABLE prescient.setting IS 'What engines and SQL clients must agree on.';

-- ---- slots ----------------------------------------------------------------------------------------------------------

-- The one place where the length stands; prescient.set_slot_length replaces it, and the CHECK of future_job with it.
CREATE FUNCTION prescient.slot_length_s() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT 900';

CREATE FUNCTION prescient.slot_floor(at timestamptz) RETURNS timestamptz LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
    SELECT to_timestamp(floor(date_part('epoch', at) / prescient.slot_length_s()) * prescient.slot_length_s()) $$;
COMMENT ON FUNCTION prescient.slot_floor(timestamptz) IS 'The slot that is running at this moment.';

CREATE FUNCTION prescient.slot_ceil(at timestamptz) RETURNS timestamptz LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
    SELECT to_timestamp(ceil(date_part('epoch', at) / prescient.slot_length_s()) * prescient.slot_length_s()) $$;
COMMENT ON FUNCTION prescient.slot_ceil(timestamptz) IS 'The moment rounded up to a slot; a moment on the boundary stays.';

CREATE FUNCTION prescient.slot_next(at timestamptz) RETURNS timestamptz LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
    SELECT to_timestamp((floor(date_part('epoch', at) / prescient.slot_length_s()) + 1) * prescient.slot_length_s()) $$;
COMMENT ON FUNCTION prescient.slot_next(timestamptz) IS 'The first slot that has not begun at this moment.';

-- Not STRICT: greatest() is not, and a function that is stricter than its body is never inlined.
CREATE FUNCTION prescient.slot_for(wanted timestamptz, at timestamptz) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT greatest(prescient.slot_ceil(wanted), prescient.slot_next(at)) $$;
COMMENT ON FUNCTION prescient.slot_for(timestamptz, timestamptz) IS
    'Where a check wanted at the first moment is filed when the clock says the second: rounded up, and never into a slot that has begun.';

CREATE FUNCTION prescient.bucket_of(entity_name text, entity_key text) RETURNS integer LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
    SELECT get_byte(sha256(convert_to(octet_length(entity_name)::text || ':' || entity_name || entity_key, 'UTF8')), 0) & 63 $$;
COMMENT ON FUNCTION prescient.bucket_of(text, text) IS 'The bucket, 0 to 63, of all checks of one row.';

-- ---- what is pending -------------------------------------------------------------------------------------------------

-- Above 2^53 an id would not survive as a double, which is how the settle searches for it fastest.
CREATE SEQUENCE prescient.future_job_id_seq AS bigint MAXVALUE 9007199254740991;

CREATE TABLE prescient.future_job (
    id bigint NOT NULL DEFAULT nextval('prescient.future_job_id_seq'),
    first_check_at timestamptz NOT NULL,
    next_check_at timestamptz NOT NULL,
    check_count integer NOT NULL DEFAULT 0,
    failure_count integer NOT NULL DEFAULT 0,
    priority integer NOT NULL DEFAULT 0,
    bucket smallint NOT NULL,
    entity_name text NOT NULL,
    entity_key text NOT NULL,
    job_exec text NOT NULL,
    payload json,
    again_at timestamptz,
    deferred_at timestamptz,
    first_run_at timestamptz,
    total_run_us bigint,
    run_count integer,
    PRIMARY KEY (bucket, entity_name, entity_key, job_exec),
    -- Each statement that writes a row makes these ready anew, so they are short, and bucket_of is written out: to inline a function
    -- there means to parse it.
    CONSTRAINT future_job_bucket CHECK (
        bucket = get_byte(sha256(convert_to(octet_length(entity_name)::text || ':' || entity_name || entity_key, 'UTF8')), 0) & 63),
    CONSTRAINT future_job_slot CHECK (next_check_at = to_timestamp(floor(date_part('epoch', next_check_at) / 900) * 900)),
    CONSTRAINT future_job_times CHECK (next_check_at >= '1970-01-01 00:00:00+00' AND greatest(next_check_at, again_at) < '10000-01-01 00:00:00+00'),
    CONSTRAINT future_job_names CHECK (
        least(octet_length(entity_name), octet_length(entity_key), octet_length(job_exec)) >= 1
        AND greatest(octet_length(entity_name), octet_length(entity_key), octet_length(job_exec)) <= 1024
        AND octet_length(entity_name) + octet_length(entity_key) + octet_length(job_exec) <= 2600),
    CONSTRAINT future_job_payload CHECK (octet_length(payload::text) <= 65536),
    CONSTRAINT future_job_counts CHECK (least(check_count, failure_count) >= 0)
) WITH (
    -- Rows live for hours and go by the page: vacuum soon and without pauses, and never take the lock that truncating needs.
    autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0,
    autovacuum_analyze_scale_factor = 0.1, autovacuum_analyze_threshold = 5000, vacuum_truncate = off
);
ALTER SEQUENCE prescient.future_job_id_seq OWNED BY prescient.future_job.id;
-- The page read and the settle alike.
CREATE INDEX future_job_slot ON prescient.future_job (next_check_at, bucket, priority, id);

COMMENT ON TABLE prescient.future_job IS 'Checks waiting for their slot; nothing old.';
COMMENT ON COLUMN prescient.future_job.next_check_at IS 'The slot the check is filed under.';
COMMENT ON COLUMN prescient.future_job.first_check_at IS 'The first slot it was filed under; never changes in one life of a check.';
COMMENT ON COLUMN prescient.future_job.again_at IS 'Asked for while its slot was running: when the answer ends the check, it starts anew here.';
COMMENT ON COLUMN prescient.future_job.deferred_at IS 'When this check number was first deferred.';

-- ---- what was ----------------------------------------------------------------------------------------------------------

-- Daily partitions by the clock of the settle (never by virtual time). The open one carries BRIN only; the index by entity and
-- key is built when the day is over.
CREATE TABLE prescient.future_job_history (
    archived_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    slot_at timestamptz NOT NULL,
    first_check_at timestamptz NOT NULL,
    check_count integer NOT NULL,
    failure_count integer NOT NULL,
    run_count integer NOT NULL,
    entity_name text NOT NULL,
    entity_key text NOT NULL,
    job_exec text NOT NULL,
    outcome text NOT NULL,
    engine text,
    first_run_at timestamptz,
    last_run_at timestamptz,
    total_run_us bigint,
    last_run_us bigint,
    note text,
    payload json
) PARTITION BY RANGE (archived_at);
CREATE INDEX future_job_history_time ON prescient.future_job_history USING brin (archived_at, ended_at) WITH (autosummarize = on);
COMMENT ON TABLE prescient.future_job_history IS 'Archived checks, one row each, written in the transaction that deletes the check.';

CREATE TABLE prescient.future_job_run (
    run_at timestamptz NOT NULL,
    slot_at timestamptz NOT NULL,
    next_check_at timestamptz NOT NULL,
    run_us bigint NOT NULL,
    check_count integer NOT NULL,
    failure_count integer NOT NULL,
    entity_name text NOT NULL,
    entity_key text NOT NULL,
    job_exec text NOT NULL,
    outcome text NOT NULL,
    engine text,
    note text
);
CREATE INDEX future_job_run_time ON prescient.future_job_run USING brin (run_at) WITH (autosummarize = on);
COMMENT ON TABLE prescient.future_job_run IS 'One row for each run that did not end its check.';

-- pass 0, bucket -1 is the slot's opening row (with the checks counted then, at most one above the limit for a split); every other row is the end of one pass over one bucket (-1: the whole slot).
CREATE TABLE prescient.slot_pass (
    slot_at timestamptz NOT NULL,
    bucket smallint NOT NULL CHECK (bucket BETWEEN -1 AND 63),
    pass integer NOT NULL CHECK (pass >= 0),
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    split smallint CHECK (split IN (1, 64)),
    pending bigint,
    seen_xid bigint,
    closed_at timestamptz,
    engine text,
    run bigint, done bigint, again bigint, deferred bigint, failed bigint, timeout bigint, crashed bigint, guarded bigint,
    held_back bigint, unknown_job bigint, superseded bigint, locked bigint,
    late_us bigint, took_us bigint,
    left_jobs text[],
    PRIMARY KEY (slot_at, bucket, pass),
    CHECK ((pass = 0) = (split IS NOT NULL))
);
CREATE INDEX slot_pass_unclosed ON prescient.slot_pass (slot_at) WHERE pass = 0 AND closed_at IS NULL;
COMMENT ON COLUMN prescient.slot_pass.seen_xid IS
    'Taken in the statement of the last, empty look: every transaction that this look may have missed has a smaller id.';

CREATE SEQUENCE prescient.slot_lease_token_seq AS bigint;
CREATE TABLE prescient.slot_lease (
    slot_at timestamptz NOT NULL,
    bucket smallint NOT NULL CHECK (bucket BETWEEN -1 AND 63),
    owner uuid NOT NULL,
    token bigint NOT NULL DEFAULT nextval('prescient.slot_lease_token_seq'),
    expires_at timestamptz NOT NULL,
    engine text,
    PRIMARY KEY (slot_at, bucket)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, vacuum_truncate = off);
ALTER SEQUENCE prescient.slot_lease_token_seq OWNED BY prescient.slot_lease.token;
COMMENT ON TABLE prescient.slot_lease IS 'The right to run one (slot, bucket). A settle shows its owner and token here.';

-- A consumer reads in the order (xid, id) and only below the oldest running transaction: an id alone would skip late commits.
CREATE SEQUENCE prescient.event_id_seq AS bigint;
CREATE TABLE prescient.event (
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    id bigint NOT NULL DEFAULT nextval('prescient.event_id_seq'),
    emitted_at timestamptz NOT NULL,
    slot_at timestamptz,
    check_count integer,
    event text NOT NULL,
    entity_name text NOT NULL,
    entity_key text NOT NULL,
    job_exec text NOT NULL,
    data json,
    PRIMARY KEY (xid, id)
);
ALTER SEQUENCE prescient.event_id_seq OWNED BY prescient.event.id;
