-- 0001_tables - the tables, their indexes and sequences.
--
--                       applications     engines                        readers
--   future_job          file, move, end  read, delete, move             views pending, schedules
--   schedule            write            repair missing checks          view schedules
--   pause               write            read each second, end          view pauses
--   future_job_history  resolve adds     settles add, prune drops days  view history
--   future_job_run      -                settles add, prune drops days  view runs
--   event               -                settles add, prune drops days  view events
--   slot_lease          -                take, renew, give back         prescient status
--   place               -                take, renew, give back         prescient keys
--   concurrency_limit   write            read when they take places     prescient keys
--   slot_pass           -                open and close slots           views slots, passes
--   cursor              -                prescient events --deliver     view consumers
--   run_hour, run_now   -                write now and then             views run_hours, running
--   tally               -                write now and then             view tallies
--   request             -                prescient serve                -
--   token               -                prescient token                prescient token list
--   change              write            commands and serve write       view audit
--   setting, generation, slot_load, engine_seen, run_note: notes of engines and of init
--
-- No application touches a table: it calls the functions of 0006_enqueue, 0009_schedules,
-- 0010_pauses and 0014_places, which run with their owner's rights. Readers see the views of
-- 0013_readers.
--
-- "prescient." stands for the schema that the program was told to use. Times are UTC: nothing here
-- asks for a time zone. The build makes the COMMENT of a column from the lines above it.

-- ---- the roles ----------------------------------------------------------------------------------
-- Roles belong to the cluster, not to the database: they may exist already, and this user may not
-- be allowed to create them. Then the schema works for its owner alone, and a notice says so. Each
-- function is prescient_engine's as it is made: given later, it would be written once more. What
-- else the roles may do, 0016_roles says.

DO $$
DECLARE
    part text;
BEGIN
    FOREACH part IN ARRAY ARRAY['prescient_enqueuer', 'prescient_operator', 'prescient_engine',
                                'prescient_reader'] LOOP
        CONTINUE WHEN pg_catalog.to_regrole(part) IS NOT NULL;
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', part);
        EXCEPTION
            WHEN insufficient_privilege THEN
                RAISE NOTICE 'prescient: role % was not created, as this user may not create roles; grant '
                             'rights by hand', part;
            WHEN duplicate_object OR unique_violation THEN
                NULL;       -- another database's schema was being created at the same moment
        END;
    END LOOP;
    IF pg_catalog.to_regrole('prescient_engine') IS NOT NULL THEN
        ALTER DEFAULT PRIVILEGES IN SCHEMA prescient_schema GRANT EXECUTE ON FUNCTIONS TO prescient_engine;
    END IF;
END $$;

-- ---- what all must agree on ---------------------------------------------------------------------

CREATE TABLE prescient.setting (
    -- slot_length_s, pause_changes, swept_until, ...
    name text PRIMARY KEY,
    -- Numbers and times, too, are texts.
    value text NOT NULL
);
COMMENT ON TABLE prescient.setting IS 'What engines and SQL clients must agree on.';

-- ---- what is pending ----------------------------------------------------------------------------

-- Above 2^53 an id would not survive as a double, which is how the settle searches for it fastest.
CREATE SEQUENCE prescient.future_job_id_seq AS bigint MAXVALUE 9007199254740991;

-- The part of a slot that a lease is for. A check with another number would be under no lease: it
-- would never be run, and its slot never closed. A domain: its rule is read once a session. A CHECK
-- of the table is read by each statement, which costs a tenth of an enqueue.
CREATE DOMAIN prescient.bucket_number AS smallint
    CONSTRAINT "bucket is bucket_of(entity_name, entity_key), 0 to 63" CHECK (VALUE BETWEEN 0 AND 63);

-- No CHECK limits its values: each statement would read the constraints anew, which made an enqueue
-- several times dearer. The functions refuse bad values; what a plain INSERT gets wrong is refused
-- by engines at its slot. A time that is no slot is moved to one, and what is in another bucket
-- than that of its key is filed in that one (refile, refile_buckets in 0012_engine).
CREATE TABLE prescient.future_job (
    -- Names one life of the check; a life that begins anew draws another id. A settle finds the row
    -- by it.
    id bigint NOT NULL DEFAULT nextval('prescient.future_job_id_seq'),
    -- The first slot it was filed under; never changes in one life of a check.
    first_check_at timestamptz NOT NULL,
    -- The slot the check is filed under. From the year 9000 on: the slot of a pause, which never
    -- begins.
    next_check_at timestamptz NOT NULL,
    -- Runs of this life that ended with `again`; written by settles.
    check_count integer NOT NULL DEFAULT 0,
    -- Failures in a row; written by settles.
    failure_count integer NOT NULL DEFAULT 0,
    -- Lower ones are read first in a slot.
    priority integer NOT NULL DEFAULT 0,
    -- bucket_of(entity_name, entity_key), 0 to 63: the part of a slot that a lease is for.
    bucket prescient.bucket_number NOT NULL,
    -- What the check is about: the name of a table, as the application calls it.
    entity_name text NOT NULL,
    -- Which row of it.
    entity_key text NOT NULL,
    -- The job that answers it, as the settings name it.
    job_exec text NOT NULL,
    -- What the application gives to the job; NULL: nothing.
    payload json,
    -- Asked for while its slot was running: when the answer ends the check, it starts anew here.
    -- NULL: it was not.
    again_at timestamptz,
    -- When this check number was first deferred; NULL: it was not. Behind next_check_at: where
    -- slots are spread (set_pace), it is not looked at before. Written by settles.
    deferred_at timestamptz,
    -- When this life was run first; NULL: not yet.
    first_run_at timestamptz,
    -- All runs of this life together, in microseconds; NULL: there was none.
    total_run_us bigint,
    -- Runs of this life, however they ended; NULL: there was none.
    run_count integer,
    -- What the idempotency key is made of besides names, count and payload. NULL: first_check_at in
    -- seconds, a slash, and the id. Written by settles; an application leaves it NULL.
    origin text,
    -- The slot at which it was due and was put off without having been run; NULL: it was not.
    put_off_at timestamptz,
    -- What is unusual about the check: the rule by which it recurs, or the event that it delivers,
    -- as words (rules/terms.h). NULL: nothing is.
    terms text,
    -- Checks that share one are not run at the same moment (0014_places); 1 to 1024 bytes. NULL: it
    -- shares none.
    concurrency_key text,
    -- Whose it is: tenants take turns at workers; 1 to 1024 bytes. NULL: the entity stands for it.
    tenant text,
    PRIMARY KEY (bucket, entity_name, entity_key, job_exec)
) WITH (
    -- Rows live for hours and go by the page: vacuum soon and without pauses, and never take the
    -- lock that truncating needs.
    autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.1,
    autovacuum_analyze_threshold = 5000, vacuum_truncate = off
);
ALTER SEQUENCE prescient.future_job_id_seq OWNED BY prescient.future_job.id;
-- For the page read and for the settle. Unique, so that an answer to one row never ends another
-- one.
CREATE UNIQUE INDEX future_job_slot ON prescient.future_job (next_check_at, bucket, priority, id);
CREATE INDEX future_job_put_off ON prescient.future_job (put_off_at, id) WHERE put_off_at IS NOT NULL;
COMMENT ON TABLE prescient.future_job IS 'Checks waiting for their slot; nothing old.';

-- A key never changes. For each statement, and only where it names one of these columns: that costs
-- nothing in a settle.
CREATE FUNCTION prescient.refuse_key_change() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    RAISE EXCEPTION 'prescient: bucket, entity and key of a check do not change: resolve it and enqueue '
                    'another'
        USING ERRCODE = 'check_violation', CONSTRAINT = 'future_job_key', SCHEMA = TG_TABLE_SCHEMA,
              TABLE = TG_TABLE_NAME;
END $$;
CREATE TRIGGER future_job_key BEFORE UPDATE OF bucket, entity_name, entity_key ON prescient.future_job
    FOR EACH STATEMENT EXECUTE FUNCTION prescient.refuse_key_change();

-- ---- what was -----------------------------------------------------------------------------------
-- Three tables by days (0004_days). The day is that of the real clock when the row was written,
-- never the virtual time of a replay. A day that is open has a coarse index by time only; the
-- others are built when it is over.

CREATE TABLE prescient.future_job_history (
    -- When the row was written, by the real clock: its day says where it is and when it goes.
    archived_at timestamptz NOT NULL,
    -- When the check ended; in a replay, the virtual time.
    ended_at timestamptz NOT NULL,
    -- The slot in which it ended; of one that was resolved, the slot for which it waited.
    slot_at timestamptz NOT NULL,
    -- The first slot of this life, as in future_job.
    first_check_at timestamptz NOT NULL,
    -- Runs of this life that ended with `again`.
    check_count integer NOT NULL,
    -- Failures in a row at its end.
    failure_count integer NOT NULL,
    -- Runs of this life; 0: none.
    run_count integer NOT NULL,
    -- What the check was about, as in future_job.
    entity_name text NOT NULL,
    -- Which row of it.
    entity_key text NOT NULL,
    -- The job that answered it.
    job_exec text NOT NULL,
    -- How it ended (rules/outcome.h): done, resolved, failed, max_checks, ...
    outcome text NOT NULL,
    -- The engine that wrote the row; NULL: an application resolved the check.
    engine text,
    -- NULL: it was never run.
    first_run_at timestamptz,
    -- NULL: it was never run, or an application ended it.
    last_run_at timestamptz,
    -- All runs together, in microseconds; NULL: there was none.
    total_run_us bigint,
    -- The last run, in microseconds; NULL: as last_run_at.
    last_run_us bigint,
    -- What the job said, or why it failed; NULL: nothing.
    note text,
    -- Kept where a check ended in trouble, so that `retry` can file it again; else NULL.
    payload json,
    -- As the payload; NULL, too: it had none.
    concurrency_key text,
    -- Whose it was; NULL: nobody said.
    tenant text
) PARTITION BY RANGE (archived_at);
CREATE INDEX future_job_history_time ON prescient.future_job_history
    USING brin (archived_at, ended_at) WITH (autosummarize = on);
COMMENT ON TABLE prescient.future_job_history IS
    'Archived checks, one row each, written in the transaction that deletes the check.';

CREATE TABLE prescient.future_job_run (
    -- When the job was run; in a replay, the virtual time.
    run_at timestamptz NOT NULL,
    -- The slot of the run.
    slot_at timestamptz NOT NULL,
    -- The slot to which the check was moved.
    next_check_at timestamptz NOT NULL,
    -- How long it ran, in microseconds; 0: it was moved without a run.
    run_us bigint NOT NULL,
    -- After this run.
    check_count integer NOT NULL,
    -- After this run.
    failure_count integer NOT NULL,
    -- What the check is about, as in future_job.
    entity_name text NOT NULL,
    -- Which row of it.
    entity_key text NOT NULL,
    -- The job that was run.
    job_exec text NOT NULL,
    -- How the run ended (rules/outcome.h): again, deferred, failed, reslotted, ...
    outcome text NOT NULL,
    -- The engine that wrote the row; NULL: a function of the schema did.
    engine text,
    -- What the job said, or why it failed; NULL: nothing.
    note text,
    -- Whose it is; NULL: nobody said.
    tenant text,
    -- When the row was written, by the real clock, in a replay too: its day says where it is and
    -- when it goes.
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp()
) PARTITION BY RANGE (recorded_at);
CREATE INDEX future_job_run_time ON prescient.future_job_run
    USING brin (recorded_at, run_at) WITH (autosummarize = on);
COMMENT ON TABLE prescient.future_job_run IS 'One row for each run that did not end its check.';

-- Events are read in the order (generation, xid, id), and only below the oldest transaction that is
-- still running: an id alone would skip what is committed late (0003_generations).
CREATE SEQUENCE prescient.event_id_seq AS bigint;
CREATE TABLE prescient.event (
    -- The transaction that wrote it.
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    -- Its place among the events of this transaction.
    id bigint NOT NULL DEFAULT nextval('prescient.event_id_seq'),
    -- When the job emitted it; in a replay, the virtual time.
    emitted_at timestamptz NOT NULL,
    -- The slot of the run that emitted it.
    slot_at timestamptz,
    -- Of the check that emitted it, before that run.
    check_count integer,
    -- Its name.
    event text NOT NULL,
    -- What the check was about that emitted it.
    entity_name text NOT NULL,
    -- Which row of it.
    entity_key text NOT NULL,
    -- The job that emitted it.
    job_exec text NOT NULL,
    -- What the job gave with it; NULL: nothing. May hold personal data: no view shows it.
    data json,
    -- When the row was written, by the real clock, in a replay too: its day says where it is and
    -- when it goes.
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The history of the database in which xid means something. Its default comes with the function
    -- current_generation.
    generation bigint NOT NULL,
    -- Of an event that a listener heard: with the listener's name it is the entity_key of its
    -- delivery. NULL: nobody heard it.
    origin uuid,
    PRIMARY KEY (generation, xid, id, recorded_at)
) PARTITION BY RANGE (recorded_at);
ALTER SEQUENCE prescient.event_id_seq OWNED BY prescient.event.id;
-- From a delivery to its event. Few events have an origin.
CREATE INDEX event_origin ON prescient.event (origin) WHERE origin IS NOT NULL;
COMMENT ON TABLE prescient.event IS 'What jobs have emitted, written by the settle of the run.';

-- ---- who runs which slot ------------------------------------------------------------------------

CREATE TABLE prescient.slot_pass (
    -- The slot.
    slot_at timestamptz NOT NULL,
    -- 0 to 63; -1: the whole slot.
    bucket smallint NOT NULL CHECK (bucket BETWEEN -1 AND 63),
    -- 0: the row that opened the slot. From 1 on: the end of a pass over the bucket.
    pass integer NOT NULL CHECK (pass >= 0),
    -- When the row was written, by the real clock.
    recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- In how many parts the slot is run; NULL where pass is not 0.
    split smallint CHECK (split IN (1, 64)),
    -- The checks counted when the slot was opened, at most one more than a split needs; NULL where
    -- pass is not 0.
    pending bigint,
    -- Taken in the statement of the last scan that found nothing: each transaction that this scan
    -- may have missed has a smaller id. NULL: no such scan yet.
    seen_xid bigint,
    -- When nothing more could come into the slot; NULL: it is open, or pass is not 0.
    closed_at timestamptz,
    -- Who wrote the row.
    engine text,
    -- Checks that were run in this pass. This count and those below (rules/pass_counts.h) are,
    -- where pass is 0, what was run under leases that were given back before the bucket was empty;
    -- NULL: there were none.
    run bigint,
    -- Runs that ended their check well.
    done bigint,
    -- Runs after which the check is to be looked at again.
    again bigint,
    -- Runs that were put off by their job.
    deferred bigint,
    -- Runs that failed, or answered what cannot be.
    failed bigint,
    -- Runs that were ended at their timeout.
    timeout bigint,
    -- Runs whose worker died.
    crashed bigint,
    -- Checks that a guard has ended.
    guarded bigint,
    -- Put off unrun: the job was held back, or they were paused.
    held_back bigint,
    -- Put off unrun, or ended: no engine has the job.
    unknown_job bigint,
    -- Put off unrun: all places of their concurrency key were held by others.
    busy bigint,
    -- Changed by the application while they were run; they keep what it wrote.
    superseded bigint,
    -- Left where they are: locked by another transaction, or damaged.
    locked bigint,
    -- How late its first run was, in microseconds; NULL where pass is 0.
    late_us bigint,
    -- How long the pass took, in microseconds; NULL where pass is 0.
    took_us bigint,
    -- Jobs whose checks were left to other engines; NULL: none.
    left_jobs text[],
    PRIMARY KEY (slot_at, bucket, pass),
    CHECK ((pass = 0) = (split IS NOT NULL))
);
CREATE INDEX slot_pass_unclosed ON prescient.slot_pass (slot_at) WHERE pass = 0 AND closed_at IS NULL;
COMMENT ON TABLE prescient.slot_pass IS
    'Slots that were opened, and passes over their buckets; pruned like the history.';

CREATE SEQUENCE prescient.slot_lease_token_seq AS bigint;
CREATE TABLE prescient.slot_lease (
    -- The slot.
    slot_at timestamptz NOT NULL,
    -- 0 to 63; -1: the whole slot.
    bucket smallint NOT NULL CHECK (bucket BETWEEN -1 AND 63),
    -- The engine's process; another one each time it starts.
    owner uuid NOT NULL,
    -- Another one each time the lease is taken: a settle under an older one changes nothing.
    token bigint NOT NULL DEFAULT nextval('prescient.slot_lease_token_seq'),
    -- By the database's clock. From then on anybody may take it.
    expires_at timestamptz NOT NULL,
    -- The engine's name, for people.
    engine text,
    PRIMARY KEY (slot_at, bucket)
) WITH (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
    vacuum_truncate = off
);
ALTER SEQUENCE prescient.slot_lease_token_seq OWNED BY prescient.slot_lease.token;
COMMENT ON TABLE prescient.slot_lease IS
    'The right to run one (slot, bucket). A settle shows its owner and token here.';

-- The tokens are those of leases: one sequence for both (mend_sequences).
CREATE TABLE prescient.place (
    -- Of the checks that may be run under it, one at a time.
    concurrency_key text NOT NULL,
    -- A key has places 1 to N; N is 1, or what concurrency_limit says.
    number integer NOT NULL,
    -- The engine's process that has taken it; another one each time it starts.
    owner uuid NOT NULL,
    -- Another one each time the place is taken: one that was lost is not renewed.
    token bigint NOT NULL DEFAULT nextval('prescient.slot_lease_token_seq'),
    -- By the database's clock. From then on anybody may take it.
    expires_at timestamptz NOT NULL,
    -- Seconds that it lasts each time it is taken or renewed: as long as a run may last that was
    -- started under it.
    lasts_s integer NOT NULL,
    -- When it was taken.
    taken_at timestamptz NOT NULL,
    -- Another engine has asked for a place of this key and got none: its holder is to give it back.
    is_wanted boolean NOT NULL DEFAULT false,
    -- The engine's name, for people.
    engine text,
    PRIMARY KEY (concurrency_key, number)
) WITH (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
    vacuum_truncate = off
);
COMMENT ON TABLE prescient.place IS
    'The right to run a check of a concurrency key: as many places are held as runs of it may go on.';

CREATE TABLE prescient.concurrency_limit (
    -- A key, or the beginning of keys and a * behind it.
    pattern text PRIMARY KEY,
    -- How many checks of such a key may run at the same moment.
    places integer NOT NULL CHECK (places BETWEEN 1 AND 1000),
    -- When it was set.
    set_at timestamptz NOT NULL,
    -- The user of that session.
    set_by text NOT NULL
);
COMMENT ON TABLE prescient.concurrency_limit IS
    'How many checks of a concurrency key may run at the same moment, where it is not one.';

-- Numbers grow and follow the clock: two histories that began after the same backup do not share
-- one (0003_generations).
CREATE TABLE prescient.generation (
    -- Its number.
    generation bigint PRIMARY KEY,
    -- The server on which this history is written; 0: it is not known.
    system_identifier bigint NOT NULL,
    -- Its timeline; 0: it is not known.
    timeline integer NOT NULL,
    -- When this server was started: no copy of its files comes back without a start.
    started_at timestamptz NOT NULL,
    -- When an engine, a consumer or init noticed it.
    noted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE prescient.generation IS
    'Histories that this database has gone through; transaction ids mean something within one.';

-- ---- what recurs, what is paused ----------------------------------------------------------------

CREATE TABLE prescient.schedule (
    -- By which it is changed, switched and removed.
    name text PRIMARY KEY,
    -- What its check is about: one schedule has one check.
    entity_name text NOT NULL,
    -- Which row of it.
    entity_key text NOT NULL,
    -- The job that is run.
    job_exec text NOT NULL,
    -- Seconds from the end of a run to the next one; NULL: cron has the times.
    every_s bigint,
    -- Ten thousandths of every_s by which a time may be off; NULL where every_s is.
    bias integer,
    -- Five fields with one blank between them, in small letters; NULL: every_s has the times.
    cron text,
    -- The zone of cron; NULL where cron is.
    timezone text,
    -- What is done about times that nobody ran: run_once, run_all or skip.
    missed text NOT NULL,
    -- What each of its checks carries; NULL: nothing.
    payload json,
    -- The key of each of its checks; NULL: none.
    concurrency_key text,
    -- Whose each of its checks is; NULL: nobody says.
    tenant text,
    -- False: it was switched off, and has no check.
    is_active boolean NOT NULL DEFAULT true,
    -- When it was made.
    made_at timestamptz NOT NULL,
    -- The user of that session.
    made_by text NOT NULL,
    -- When its rule, check or payload was last changed.
    changed_at timestamptz NOT NULL,
    -- The user of that session.
    changed_by text NOT NULL,
    -- When it was last switched off or on; NULL: never.
    switched_at timestamptz,
    -- The user of that session; NULL as switched_at.
    switched_by text,
    -- At most 4096 bytes; NULL: nobody said why.
    switched_why text,
    UNIQUE (entity_name, entity_key, job_exec)
);
-- Lists are read in the order of names by their bytes, whatever the collation of the database.
CREATE INDEX schedule_by_name ON prescient.schedule (name COLLATE "C");
CREATE INDEX schedule_by_job ON prescient.schedule (job_exec, name COLLATE "C");
COMMENT ON TABLE prescient.schedule IS 'What recurs, and by which rule. Its check waits in future_job.';

CREATE TABLE prescient.pause (
    -- The slot in which its checks wait; no time ever comes to it.
    slot_at timestamptz PRIMARY KEY,
    -- Whose checks are paused: those of a job, an entity, a schedule or a tenant.
    what text NOT NULL,
    -- Its name.
    name text NOT NULL,
    -- At most 4096 bytes; NULL: nobody said why.
    reason text,
    -- When it began.
    paused_at timestamptz NOT NULL,
    -- The user of that session.
    paused_by text NOT NULL,
    -- When it was resumed; NULL: it is on.
    resumed_at timestamptz,
    -- The user of that session; NULL as resumed_at.
    resumed_by text,
    -- Resumed checks go to the next full slot together, and are not spread over its seconds.
    is_reslotted boolean NOT NULL DEFAULT false,
    -- When its last check had left its slot; NULL: it is on, or some checks still leave.
    ended_at timestamptz,
    CONSTRAINT pause_what CHECK (what IN ('job', 'entity', 'schedule', 'tenant')),
    -- A day from the year 9000 on: that is a slot at every slot length.
    CONSTRAINT pause_slot CHECK (slot_at >= '9000-01-01 00:00:00+00' AND slot_at < '10000-01-01 00:00:00+00'
                                 AND date_part('epoch', slot_at)::bigint % 86400 = 0)
);
CREATE UNIQUE INDEX pause_on ON prescient.pause (what, name) WHERE resumed_at IS NULL;
CREATE INDEX pause_not_over ON prescient.pause (slot_at) WHERE ended_at IS NULL;
CREATE INDEX pause_ended ON prescient.pause (ended_at) WHERE ended_at IS NOT NULL;
COMMENT ON TABLE prescient.pause IS
    'Pauses, also those that are over, until they are pruned: who paused what, when, why, and who '
    'resumed it.';

-- ---- notes of engines and readers of events -----------------------------------------------------

-- The cursor is in the database of the events, so a failover takes both back together. A reader
-- holds a lease, as of a slot, and moves the cursor only while owner, token and cursor are as it
-- read them (tests/model/consumers.c).
CREATE TABLE prescient.cursor (
    -- consumer: prescient events --deliver NAME; digest: the digest of a listener.
    kind text NOT NULL,
    -- Of the consumer, or of the listener.
    name text NOT NULL,
    -- The generation of the last event that was delivered; 0: none was.
    generation bigint NOT NULL DEFAULT 0,
    -- The transaction that wrote it.
    xid xid8 NOT NULL DEFAULT '0',
    -- Its id.
    id bigint NOT NULL DEFAULT 0,
    -- Who holds the lease; NULL: nobody.
    owner uuid,
    -- Another one each time the lease is taken.
    token bigint NOT NULL DEFAULT 0,
    -- The last one that held it: host/pid; NULL: nobody yet.
    held_by text,
    -- When the lease ends, by the database's clock; NULL: nobody holds it.
    expires_at timestamptz,
    -- When somebody first read by this name.
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- When the cursor was last moved; NULL: never.
    moved_at timestamptz,
    -- Events that its command refused and that were skipped.
    skipped bigint NOT NULL DEFAULT 0,
    -- When events were last pruned that it had not read; NULL: none since it was reset.
    pruned_at timestamptz,
    PRIMARY KEY (kind, name),
    CONSTRAINT cursor_kind CHECK (kind IN ('consumer', 'digest')),
    CONSTRAINT cursor_name CHECK (octet_length(name) BETWEEN 1 AND 64),
    CONSTRAINT cursor_lease CHECK ((owner IS NULL) = (expires_at IS NULL))
);
COMMENT ON TABLE prescient.cursor IS
    'How far each named reader of events has come (prescient events --deliver NAME), and who reads.';

-- The settle of an event files its deliveries by the settings of its engine. Two engines with
-- different listeners are no error that either of them can see: so each notes its own.
CREATE TABLE prescient.engine_seen (
    -- Its engine_name, else its host.
    engine text NOT NULL,
    -- daemon, or run, which stands for sweep, too.
    command text NOT NULL,
    -- Where its settings come from.
    file text NOT NULL,
    -- A line each: its name, a fingerprint of all that decides what it hears, and words.
    listeners text NOT NULL,
    -- The names of the jobs that it can run, a line each. NULL: there are too many to be noted.
    jobs text,
    -- When it noted them.
    seen_at timestamptz NOT NULL,
    -- From then on it stands for no engine any more; a day later it is dropped.
    counts_until timestamptz NOT NULL,
    -- Of the program.
    version text,
    -- The machine that it runs on.
    host text,
    -- Its process there.
    pid integer,
    -- Since when it has these settings.
    started_at timestamptz,
    -- Minutes of the hour whose slots it runs; '': all.
    serves text,
    -- The slot of the last pass that it was in; NULL: none yet.
    last_slot_at timestamptz,
    -- When that was over.
    last_pass_at timestamptz,
    PRIMARY KEY (engine, command, file),
    CONSTRAINT engine_seen_sizes CHECK (octet_length(engine) <= 255 AND octet_length(command) <= 16
                                        AND octet_length(file) <= 256 AND octet_length(listeners) <= 65792
                                        AND octet_length(jobs) <= 65536 AND octet_length(version) <= 64
                                        AND octet_length(host) <= 255 AND octet_length(serves) <= 255)
);
COMMENT ON TABLE prescient.engine_seen IS
    'What each engine is and serves, and its listeners, as it noted them last: a daemon once a minute '
    '(prescient status; prescient doctor compares them).';

CREATE TABLE prescient.slot_load (
    -- The slot, which is to come.
    slot_at timestamptz PRIMARY KEY,
    -- Up to 1,000 they are counted, from there on estimated, up to 64,000.
    checks integer NOT NULL
);
COMMENT ON TABLE prescient.slot_load IS
    'About how many checks wait in each of the next 1,000 slots, as an engine has counted them last; only '
    'once a call with `within` was made. Few are counted, many estimated, up to 64,000.';

-- What the runs of an hour were like, those of all engines in one row: readers would otherwise add
-- up a row for each process that cron starts. No settle writes here. An engine adds up in memory,
-- and adds that to these rows once a minute (statement note_runs).
CREATE TABLE prescient.run_hour (
    -- The hour, UTC, in which the runs began; in a replay by the virtual time.
    hour_at timestamptz NOT NULL,
    -- The job of the checks.
    job_exec text NOT NULL,
    -- Their entity; '': all those for which the engine had no room.
    entity_name text NOT NULL,
    -- Whose they are; '': nobody has said it, or the engine had no room for it.
    tenant text NOT NULL,
    -- How the runs ended (rules/outcome.h).
    outcome text NOT NULL,
    -- How many there were.
    runs bigint NOT NULL,
    -- How long they took together, in microseconds.
    took_us bigint NOT NULL,
    -- How long the longest took, in microseconds.
    took_max_us bigint NOT NULL,
    -- How long after its slot the latest began, in microseconds.
    late_max_us bigint NOT NULL,
    -- How long they took: the classes (class_us) that some of them are of. In arrays, as a report
    -- reads 100,000 classes: of jsonb that takes three times as long.
    took_classes smallint[] NOT NULL,
    -- How many are of each.
    took_runs bigint[] NOT NULL,
    -- How long after their slots they began, likewise.
    late_classes smallint[] NOT NULL,
    -- How many are of each.
    late_runs bigint[] NOT NULL,
    PRIMARY KEY (hour_at, job_exec, entity_name, tenant, outcome)
);
COMMENT ON TABLE prescient.run_hour IS
    'What the runs of each hour were like, by job, entity, tenant and outcome.';

-- What is counted for ever, for metrics: each note of an engine is added here, too, in the
-- statement that adds it to run_hour. No prune takes anything back, so a count never falls.
CREATE TABLE prescient.tally (
    -- run, ended (checks), delivery, missed_slot or store_error.
    what text NOT NULL,
    -- The job, the listener, or the class of the error; '': none, or there was no room for it.
    name text NOT NULL,
    -- How it ended (rules/outcome.h); '': that is not said.
    outcome text NOT NULL,
    -- How many there were.
    n bigint NOT NULL,
    -- How long runs took together, in microseconds; 0 where what is not run.
    took_us bigint NOT NULL,
    -- How many of them took less than each bound, and no less than the one before: bounds double,
    -- from 1.024 ms on, and the last one is for all else; '{}' where what is not run.
    took bigint[] NOT NULL,
    -- How long after their slots they began, together, in microseconds.
    late_us bigint NOT NULL,
    -- How many began how late, as in took.
    late bigint[] NOT NULL,
    -- When the first of them was noted: metrics name the first 200 jobs.
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (what, name, outcome)
) WITH (fillfactor = 50);
COMMENT ON TABLE prescient.tally IS 'What is counted for ever, for metrics.';

-- What each engine has added to run_hour: a note that comes again is not added again. It counts for
-- half a day after it was made, and this row stays for a day.
CREATE TABLE prescient.run_note (
    -- Random bytes of the engine's process.
    owner uuid PRIMARY KEY,
    -- The number of its last note.
    number bigint NOT NULL,
    -- When that came.
    noted_at timestamptz NOT NULL
);
COMMENT ON TABLE prescient.run_note IS 'Which notes of engines are in run_hour.';

-- Runs that have been going on for long. An engine writes its own anew every ten seconds while it
-- has any; of one that was killed they stay, and count for nothing after half a minute.
CREATE TABLE prescient.run_now (
    -- Random bytes of the engine's process.
    owner uuid NOT NULL,
    -- Counts its rows, from 1: the three names together may be too long for an index.
    number integer NOT NULL,
    -- Its name: engine_name or host, and the process's id.
    engine text,
    -- The worker's process id.
    worker integer NOT NULL,
    -- The entity of the check,
    entity_name text NOT NULL,
    -- its key
    entity_key text NOT NULL,
    -- and its job.
    job_exec text NOT NULL,
    -- The slot under which it was read.
    slot_at timestamptz NOT NULL,
    -- When the run began, to a second.
    began_at timestamptz NOT NULL,
    -- When the engine wrote this.
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (owner, number)
);
COMMENT ON TABLE prescient.run_now IS 'Runs that have been going on for more than five seconds.';

-- What was asked for over HTTP under a uniqid, and what was answered: a repeat gets the same
-- answer, and does nothing.
CREATE TABLE prescient.request (
    -- Chosen by the client.
    uniqid text COLLATE "C" PRIMARY KEY,
    -- When it came first.
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- From then on it may be forgotten.
    kept_until timestamptz NOT NULL,
    -- A digest of what was asked for.
    content text NOT NULL,
    -- What became of it: new, kept, moved or replaced. NULL: the transaction that writes this row
    -- is under way.
    outcome text,
    -- The id of the check then.
    check_id bigint,
    -- The slot under which it was filed.
    filed_at timestamptz,
    CONSTRAINT request_sizes CHECK (octet_length(uniqid) BETWEEN 1 AND 255 AND octet_length(content) <= 64)
) WITH (fillfactor = 70);
CREATE INDEX request_by_age ON prescient.request (kept_until);
COMMENT ON TABLE prescient.request IS 'Requests over HTTP that have a uniqid, for as long as it is kept.';

-- Who may ask over HTTP. Nothing here lets anybody in: the token itself is shown once, when it is
-- made, and stored nowhere.
CREATE TABLE prescient.token (
    -- Chosen by who made it: "shop", "grafana".
    name text COLLATE "C" PRIMARY KEY,
    -- What it may do: read, enqueue (and read), operate (all).
    role text NOT NULL,
    -- SHA-256 of the token, in hexadecimal digits.
    hash text COLLATE "C" NOT NULL,
    -- What the signature of a browser's session is checked with (Ed25519); only the token can sign.
    session_key text NOT NULL,
    -- By the server's clock.
    made_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The user of the database.
    made_by text NOT NULL DEFAULT session_user,
    -- From then on it lets nobody in. NULL: never.
    expires_at timestamptz,
    CONSTRAINT token_hash UNIQUE (hash),
    CONSTRAINT token_name CHECK (name ~ '^[A-Za-z0-9._-]{1,63}$'),
    CONSTRAINT token_role CHECK (role IN ('read', 'enqueue', 'operate')),
    CONSTRAINT token_digits CHECK (hash ~ '^[0-9a-f]{64}$' AND session_key ~ '^[0-9a-f]{64}$')
);
COMMENT ON TABLE prescient.token IS 'Who may ask over HTTP: names, roles and digests of tokens.';

-- What people and programs have changed, beside what runs by itself. Payloads are not in it.
CREATE SEQUENCE prescient.change_id_seq AS bigint;
CREATE TABLE prescient.change (
    -- In the order of writing.
    id bigint NOT NULL DEFAULT nextval('prescient.change_id_seq'),
    -- When, by the real clock.
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- For whom: what the program that did it knows of its own user, as the name of a token of the
    -- HTTP API. Empty: nobody is known.
    who text NOT NULL DEFAULT '',
    -- The user of that session.
    done_by text NOT NULL DEFAULT session_user,
    -- What was done.
    change text NOT NULL,
    -- To what: check, job, entity, tenant, schedule or delivery.
    what text NOT NULL,
    -- Of a check, and of a schedule: the row that it is about. Of an entity: its name.
    entity_name text,
    -- Which row of it.
    entity_key text,
    -- The job of the check, or the job that is meant.
    job_exec text,
    -- Of a tenant, a schedule or a delivery; NULL: the columns before say all.
    name text,
    -- What it was like, as far as it was changed; NULL: it was not there.
    before json,
    -- What it is like now; NULL: it is not there any more.
    after json,
    -- At most 4096 bytes; NULL: nobody said why.
    reason text,
    PRIMARY KEY (changed_at, id),
    CONSTRAINT change_change CHECK (change IN ('resolve', 'cancel', 'reschedule', 'run-now', 'retry', 'pause',
                                               'resume', 'schedule-put', 'schedule-on', 'schedule-off',
                                               'schedule-remove', 'deliver-again')),
    CONSTRAINT change_what CHECK (what IN ('check', 'job', 'entity', 'tenant', 'schedule', 'delivery'))
);
ALTER SEQUENCE prescient.change_id_seq OWNED BY prescient.change.id;
COMMENT ON TABLE prescient.change IS
    'Changes by hand, over HTTP and by commands: who changed what, when, why. Kept as long as the history.';

INSERT INTO prescient.setting VALUES
    ('slot_length_s', '900'),
    -- The number of the last change to pauses (0010_pauses).
    ('pause_changes', '0');
