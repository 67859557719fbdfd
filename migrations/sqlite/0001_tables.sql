-- 0001_tables - the tables and their indexes: what waits, what has been, and who runs what.
--
-- Who writes and reads what ("prescient_" left out; the views are in the files that follow):
--
--   application -- views enqueue, enqueue_now, resolve, reschedule --> future_job <------+-- engine
--               -- view schedules --> schedule, which files its check in future_job      |
--               -- view pauses -----> pause, to whose slot engines move its checks <-----+
--               -- view concurrency_limits --> concurrency_limit: how many places <------+
--                      future_job_history, future_job_run: what became of each check <---+
--                      slot_pass, slot_lease: which slots have been run, and by whom <---+
--                      place: which concurrency keys have runs, and by whom <------------+
--                      event: what jobs emitted; a delivery is a check in future_job <---+
--                      engine_seen, slot_load: notes about engines and full slots <------+
--                      run_hour, run_note, run_now, tally: what runs were like <---------'
--   prescient serve, commands --> change: who has changed what
--   reader      <- views pending, history, runs, events, slots, passes, consumers, audit
--   prescient events <-> cursor: how far each reader of events has come
--   prescient init    -> migration, setting
--   prescient token   -> token: who may ask over HTTP
--
-- Moments and slots are seconds since the Unix epoch, UTC. Names that end in _us have microseconds.
-- A constraint's name is the text of the error that SQLite prints, so each name is a sentence.
-- A table that grows has its large texts last: SQLite reads the columns before them without these.

-- Which files of this folder were applied. Each row is written in the transaction that applied its
-- file.
CREATE TABLE prescient_migration (
    version INTEGER PRIMARY KEY,            -- the number in the file's name
    name TEXT NOT NULL,                     -- the file's name without .sql
    checksum TEXT NOT NULL,                 -- sha256 of the file, in hexadecimal
    oldest_engine INTEGER NOT NULL,         -- a program that has fewer files than this is refused
    applied_at_us INTEGER NOT NULL
) STRICT;

-- What all engines and views must agree on:
--   slot_length_s   seconds; `prescient migrate --slot-length` changes it and moves what waits
--   swept_until     every slot before this one has been run, or held no check
--   pause_changes   the number of the last change to pauses: the time of the change in
--                   microseconds, so a restored file never has a number that an engine has seen
-- Engines add these when they first need them:
--   full_look_at    when an engine last looked through all slots for checks that were missed
--   pruned_at       when an engine last began to drop old rows
--   loads_noted_at  when slot_load was last counted; 0: a check with `within` was asked for, and
--                   nothing has been counted yet
CREATE TABLE prescient_setting (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO prescient_setting (name, value)
VALUES ('slot_length_s', 900), ('swept_until', 0), ('pause_changes', 0);

-- ---- what waits ---------------------------------------------------------------------------------

-- The checks that wait, and nothing old. The application's views file them. Engines read them by
-- slot and delete or move them. A plain INSERT by the application is allowed, too.
--
-- A life of a check begins when it is filed, and has one id. AUTOINCREMENT never assigns an id
-- twice: a settle of an earlier life changes nothing.
--
-- No CHECK demands that next_check_at is a multiple of the slot length: every whole second may be a
-- slot. One between two multiples is a fine slot (prescient_enqueue_now).
CREATE TABLE prescient_future_job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    bucket INTEGER NOT NULL DEFAULT 0,      -- always 0: a file has one writer at a time
    entity_name TEXT NOT NULL,              -- with entity_key: the application's row
    entity_key TEXT NOT NULL,
    job_exec TEXT NOT NULL,                 -- the job that checks the row
    first_check_at INTEGER NOT NULL,        -- the slot of the first check of this life
    next_check_at INTEGER NOT NULL,         -- the slot that it is filed under; or a pause's slot
    priority INTEGER NOT NULL DEFAULT 0,    -- a slot is read in this order, smallest first
    check_count INTEGER NOT NULL DEFAULT 0, -- runs of this life that ended with: again
    failure_count INTEGER NOT NULL DEFAULT 0,   -- failures in a row
    deferred_at INTEGER,                    -- when this check number was first deferred; NULL: it was not;
                                            -- behind next_check_at: it is not looked at before
    put_off_at INTEGER,                     -- it was due at this slot and put off unrun; NULL: it was not
    again_at INTEGER,                       -- it was enqueued again when its slot had begun, and starts
                                            -- anew in this slot when it ends; NULL: it was not
    run_count INTEGER NOT NULL DEFAULT 0,   -- all runs of this life
    first_run_at_us INTEGER,                -- NULL: not run yet
    total_run_us INTEGER NOT NULL DEFAULT 0,    -- how long all runs took together
    origin TEXT,                            -- a part of its idempotency key; NULL: first_check_at and id
                                            -- take its place
    terms TEXT,                             -- the rule of its schedule, or the event of its delivery
                                            -- (engine/rules/terms.h); NULL: an ordinary check
    concurrency_key TEXT,                   -- checks that share one are not run at the same moment
                                            -- (0005_places); NULL: it shares none
    tenant TEXT,                            -- whose it is: tenants take turns at workers; NULL: its
                                            -- entity stands for it
    payload TEXT,                           -- JSON for the job; NULL: none
    CONSTRAINT "bucket is always 0 in SQLite" CHECK (bucket = 0),
    CONSTRAINT "entity_name must have 1 to 1024 bytes and no NUL"
        CHECK (length(CAST(entity_name AS BLOB)) BETWEEN 1 AND 1024 AND instr(entity_name, char(0)) = 0),
    CONSTRAINT "entity_key must have 1 to 1024 bytes and no NUL"
        CHECK (length(CAST(entity_key AS BLOB)) BETWEEN 1 AND 1024 AND instr(entity_key, char(0)) = 0),
    CONSTRAINT "job_exec must have 1 to 1024 bytes and no NUL"
        CHECK (length(CAST(job_exec AS BLOB)) BETWEEN 1 AND 1024 AND instr(job_exec, char(0)) = 0),
    CONSTRAINT "entity_name, entity_key and job_exec must have at most 2600 bytes together"
        CHECK (length(CAST(entity_name AS BLOB)) + length(CAST(entity_key AS BLOB))
               + length(CAST(job_exec AS BLOB)) <= 2600),
    CONSTRAINT "concurrency_key must have 1 to 1024 bytes and no NUL"
        CHECK (length(CAST(concurrency_key AS BLOB)) BETWEEN 1 AND 1024
               AND instr(concurrency_key, char(0)) = 0),
    CONSTRAINT "tenant must have 1 to 1024 bytes and no NUL"
        CHECK (length(CAST(tenant AS BLOB)) BETWEEN 1 AND 1024 AND instr(tenant, char(0)) = 0),
    CONSTRAINT "payload must have at most 65536 bytes" CHECK (length(CAST(payload AS BLOB)) <= 65536),
    CONSTRAINT "payload must be valid JSON"
        CHECK (payload IS NULL OR (json_valid(payload) AND instr(payload, char(0)) = 0)),
    CONSTRAINT "next_check_at must lie in the years 1970 to 9999"
        CHECK (next_check_at BETWEEN 0 AND 253402300799),
    CONSTRAINT "again_at must lie in the years 1970 to 9999" CHECK (again_at BETWEEN 0 AND 253402300799),
    CONSTRAINT "first_check_at must lie in the years 1970 to 9999"
        CHECK (first_check_at BETWEEN 0 AND 253402300799),
    CONSTRAINT "priority must fit in 32 bits" CHECK (priority BETWEEN -2147483648 AND 2147483647),
    CONSTRAINT "counts must not be negative and must fit in 32 bits"
        CHECK (check_count BETWEEN 0 AND 2147483647 AND failure_count BETWEEN 0 AND 2147483647)
) STRICT;

-- A row of the application has one check of each job.
CREATE UNIQUE INDEX prescient_future_job_key
    ON prescient_future_job (bucket, entity_name, entity_key, job_exec);
-- Pages of a slot are read in this order.
CREATE INDEX prescient_future_job_slot ON prescient_future_job (next_check_at, bucket, priority, id);
-- Reports of jobs that no engine has.
CREATE INDEX prescient_future_job_put_off ON prescient_future_job (put_off_at) WHERE put_off_at IS NOT NULL;

-- ---- what has been ------------------------------------------------------------------------------

-- A row for each life of a check that is over, written in the transaction that deletes the check.
-- Reports read it by id, newest first. Engines prune it.
CREATE TABLE prescient_future_job_history (
    id INTEGER PRIMARY KEY,
    check_id INTEGER NOT NULL,              -- its id in prescient_future_job
    ended_at_us INTEGER NOT NULL,           -- in a replay, the virtual time
    entity_name TEXT NOT NULL,
    entity_key TEXT NOT NULL,
    job_exec TEXT NOT NULL,
    outcome TEXT NOT NULL,                  -- done, resolved, failed, ... (engine/rules/outcome.h)
    check_count INTEGER NOT NULL,           -- runs that ended with: again
    failure_count INTEGER NOT NULL,         -- failures in a row at its end
    run_count INTEGER NOT NULL,
    slot_at INTEGER NOT NULL,               -- the slot that it was filed under last
    first_check_at INTEGER NOT NULL,
    first_run_at_us INTEGER,                -- NULL: it was never run
    last_run_at_us INTEGER,                 -- NULL: it ended without a run
    total_run_us INTEGER NOT NULL,          -- all runs together
    last_run_us INTEGER,                    -- the last run; NULL as last_run_at_us
    engine TEXT,                            -- NULL: the application ended it
    archived_at_us INTEGER NOT NULL,        -- the machine's clock, never virtual time
    note TEXT,                              -- the job's note, or why it failed; NULL: none
    payload TEXT,                           -- only of what `prescient retry` can enqueue again
    concurrency_key TEXT,                   -- the same; NULL, too: it had none
    tenant TEXT                             -- whose it was; NULL: nobody said
) STRICT;

-- Only what `prescient retry` looks for is in this index: the rest of the history stays cheap to
-- write.
CREATE INDEX prescient_future_job_history_failed ON prescient_future_job_history (ended_at_us)
 WHERE outcome IN ('failed', 'timeout', 'crashed', 'bad_answer', 'unknown_job');

-- A replay of the future tells a time behind that at which it is written. Where this index has no
-- such row, a look for what ended since a moment is over with what was written before that.
CREATE INDEX prescient_future_job_history_ahead ON prescient_future_job_history (ended_at_us)
 WHERE ended_at_us > archived_at_us;

-- A row for each run after which the check waits again. The last run is in the history.
CREATE TABLE prescient_future_job_run (
    id INTEGER PRIMARY KEY,
    check_id INTEGER NOT NULL,              -- its id in prescient_future_job
    run_at_us INTEGER NOT NULL,             -- when the run began; in a replay, the virtual time
    entity_name TEXT NOT NULL,
    entity_key TEXT NOT NULL,
    job_exec TEXT NOT NULL,
    outcome TEXT NOT NULL,                  -- again, deferred, skipped, failed, ...
    check_count INTEGER NOT NULL,           -- as after this run
    failure_count INTEGER NOT NULL,
    slot_at INTEGER NOT NULL,               -- the slot in which it was run
    next_check_at INTEGER NOT NULL,         -- the slot in which it waits now
    run_us INTEGER NOT NULL,                -- how long it took
    note TEXT,                              -- the job's note, or why it failed; NULL: none
    engine TEXT,
    recorded_at_us INTEGER NOT NULL,        -- the machine's clock, never virtual time
    tenant TEXT                             -- whose it is; NULL: nobody said
) STRICT;

CREATE INDEX prescient_future_job_run_ahead ON prescient_future_job_run (run_at_us)
 WHERE run_at_us > recorded_at_us;

-- ---- slots --------------------------------------------------------------------------------------

-- Which slots were opened (pass 0, the opening row), and a row for each pass over one that came to
-- its end. Engines write it and prune what is closed.
CREATE TABLE prescient_slot_pass (
    slot_at INTEGER NOT NULL,
    bucket INTEGER NOT NULL,                -- always -1: the whole slot
    pass INTEGER NOT NULL,                  -- 0, then 1, 2, ...
    engine TEXT,
    split INTEGER NOT NULL,                 -- always 1: a slot is one lease
    opened_rows INTEGER,                    -- pass 0: checks in it when it was opened; else NULL
    closed_at_us INTEGER,                   -- pass 0: when it was found empty after its pass; NULL: not yet
    -- what became of the checks of this pass (engine/rules/pass_counts.h)
    run INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    again INTEGER NOT NULL DEFAULT 0,
    deferred INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    timeout INTEGER NOT NULL DEFAULT 0,
    crashed INTEGER NOT NULL DEFAULT 0,
    guarded INTEGER NOT NULL DEFAULT 0,     -- ended by a guard
    held_back INTEGER NOT NULL DEFAULT 0,   -- put off: the job was held back, or they were paused
    unknown_job INTEGER NOT NULL DEFAULT 0, -- put off: no engine has the job
    superseded INTEGER NOT NULL DEFAULT 0,  -- changed by the application while they were run
    busy INTEGER NOT NULL DEFAULT 0,        -- put off: the concurrency key was busy elsewhere
    locked INTEGER NOT NULL DEFAULT 0,      -- always 0 in SQLite, which locks no rows
    late_us INTEGER,                        -- from the slot to the start of the first run; pass 0: NULL
    took_us INTEGER,                        -- pass 0: NULL
    left_jobs TEXT,                         -- jobs whose checks stay in the slot, with commas; NULL: none
    recorded_at_us INTEGER NOT NULL,        -- the machine's clock
    PRIMARY KEY (slot_at, bucket, pass)
) STRICT, WITHOUT ROWID;

CREATE INDEX prescient_slot_pass_unclosed ON prescient_slot_pass (slot_at)
 WHERE pass = 0 AND closed_at_us IS NULL;

-- The right to run one slot. A settle compares owner and token: when another engine has taken the
-- lease over, it writes nothing. AUTOINCREMENT never assigns a token twice.
CREATE TABLE prescient_slot_lease (
    token INTEGER PRIMARY KEY AUTOINCREMENT,
    slot_at INTEGER NOT NULL,
    bucket INTEGER NOT NULL,                -- always -1: the whole slot
    owner BLOB NOT NULL,                    -- random bytes of the engine's process
    engine TEXT,
    taken_at_us INTEGER NOT NULL,
    expires_at_us INTEGER NOT NULL,         -- from then on another engine may take it over
    UNIQUE (slot_at, bucket)
) STRICT;

-- The right to run a check of a concurrency key: a key has one place, or as many as
-- prescient_concurrency_limit says. It lasts as long as a run may last that was started under it.
CREATE TABLE prescient_place (
    token INTEGER PRIMARY KEY AUTOINCREMENT,
    concurrency_key TEXT NOT NULL,
    number INTEGER NOT NULL,                -- 1 to as many as the key has
    owner BLOB NOT NULL,                    -- random bytes of the engine's process
    engine TEXT,
    taken_at_us INTEGER NOT NULL,
    expires_at_us INTEGER NOT NULL,         -- from then on anybody may take it
    lasts_s INTEGER NOT NULL,               -- each time it is taken or renewed
    is_wanted INTEGER NOT NULL DEFAULT 0,   -- 1: another engine has asked for a place of this key
                                            -- and got none
    UNIQUE (concurrency_key, number)
) STRICT;

-- How many checks of a concurrency key may run at the same moment, where it is not one.
CREATE TABLE prescient_concurrency_limit (
    pattern TEXT PRIMARY KEY,               -- a key, or the beginning of keys and a * behind it
    places INTEGER NOT NULL,
    set_at_us INTEGER NOT NULL,
    CONSTRAINT "pattern must be a concurrency key, or the beginning of keys and one * behind it"
        CHECK (length(CAST(pattern AS BLOB)) BETWEEN 1 AND 1024 AND instr(pattern, char(0)) = 0
               AND instr(substr(pattern, 1, length(pattern) - 1), '*') = 0),
    CONSTRAINT "places must be 1 to 1000" CHECK (places BETWEEN 1 AND 1000)
) STRICT, WITHOUT ROWID;

-- How many checks wait in each of the next 1,000 slots, up to 64,000. A check with `within` is
-- filed where few wait. An engine counts once a minute (prescient_note_loads). The table stays
-- empty until the first check with `within` is asked for.
CREATE TABLE prescient_slot_load (
    slot_at INTEGER PRIMARY KEY,
    checks INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What the runs of an hour were like, those of all engines in one row: readers would otherwise add
-- up a row for each process that cron starts. No settle writes here. An engine adds up in memory,
-- and adds that to these rows once a minute (statement note_run_hour).
CREATE TABLE prescient_run_hour (
    hour_at INTEGER NOT NULL,               -- the hour, UTC, in which the runs began; in a replay by
                                            -- the virtual time
    job_exec TEXT NOT NULL,                 -- the job of the checks
    entity_name TEXT NOT NULL,              -- their entity; '': all those for which the engine had no
                                            -- room
    tenant TEXT NOT NULL,                   -- whose they are; '': nobody has said it, or the engine
                                            -- had no room for it
    outcome TEXT NOT NULL,                  -- how the runs ended
    runs INTEGER NOT NULL,                  -- how many there were
    took_us INTEGER NOT NULL,               -- how long they took together
    took_max_us INTEGER NOT NULL,           -- how long the longest took
    late_max_us INTEGER NOT NULL,           -- how long after its slot the latest began
    took TEXT NOT NULL,                     -- JSON: how many took how long: {"104": 3} are three of
                                            -- class 104 (rules/histogram.h)
    late TEXT NOT NULL,                     -- JSON: how many began how long after their slots
    PRIMARY KEY (hour_at, job_exec, entity_name, tenant, outcome)
) STRICT, WITHOUT ROWID;

-- What is counted for ever, for metrics: each note of an engine is added here, too. No prune takes
-- anything back, so a count never falls.
CREATE TABLE prescient_tally (
    what TEXT NOT NULL,                     -- run, ended (checks), delivery, missed_slot, store_error
    name TEXT NOT NULL,                     -- the job, the listener, or the class of the error; '':
                                            -- none, or there was no room for it
    outcome TEXT NOT NULL,                  -- how it ended; '': that is not said
    n INTEGER NOT NULL,                     -- how many there were
    took_us INTEGER NOT NULL,               -- how long runs took together; 0 where what is not run
    took TEXT NOT NULL,                     -- JSON: how many took less than each bound, and no less
                                            -- than the one before: bounds double, from 1.024 ms on,
                                            -- and the last one is for all else
    late_us INTEGER NOT NULL,               -- how long after their slots they began, together
    late TEXT NOT NULL,                     -- JSON: how many began how late, as in took
    made_at_us INTEGER NOT NULL,            -- when the first of them was noted: metrics name the
                                            -- first 200 jobs
    PRIMARY KEY (what, name, outcome)
) STRICT, WITHOUT ROWID;

-- What each engine has added to run_hour: a note that comes again is not added again. It counts for
-- half a day after it was made, and this row stays for a day.
CREATE TABLE prescient_run_note (
    owner BLOB PRIMARY KEY NOT NULL,        -- random bytes of the engine's process
    number INTEGER NOT NULL,                -- that of its last note
    noted_at_us INTEGER NOT NULL            -- when that came
) STRICT, WITHOUT ROWID;

-- What was asked for over HTTP under a uniqid, and what was answered: a repeat gets the same
-- answer, and does nothing.
CREATE TABLE prescient_request (
    uniqid TEXT PRIMARY KEY NOT NULL,       -- chosen by the client
    made_at_us INTEGER NOT NULL,            -- when it came first
    kept_until_us INTEGER NOT NULL,         -- from then on it may be forgotten
    content TEXT NOT NULL,                  -- a digest of what was asked for
    outcome TEXT NOT NULL,                  -- what became of it: new, kept, moved or replaced
    check_id INTEGER NOT NULL,              -- the id of the check then
    filed_at INTEGER NOT NULL               -- the slot under which it was filed
) STRICT, WITHOUT ROWID;
CREATE INDEX prescient_request_by_age ON prescient_request (kept_until_us);

-- Who may ask over HTTP. Nothing here lets anybody in: the token itself is shown once, when it is
-- made, and stored nowhere.
CREATE TABLE prescient_token (
    name TEXT PRIMARY KEY NOT NULL,         -- chosen by who made it: "shop", "grafana"
    role TEXT NOT NULL,                     -- what it may do: read, enqueue (and read), operate (all)
    hash TEXT NOT NULL UNIQUE,              -- SHA-256 of the token, in hexadecimal digits
    -- what the signature of a browser's session is checked with (Ed25519); only the token can sign
    session_key TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    expires_at INTEGER,                     -- from then on it lets nobody in; NULL: never
    CONSTRAINT "a token's name is of 1 to 63 letters, digits, dots, underscores and hyphens"
        CHECK (length(name) BETWEEN 1 AND 63 AND name NOT GLOB '*[^A-Za-z0-9._-]*'),
    CONSTRAINT "a token's role is read, enqueue or operate" CHECK (role IN ('read', 'enqueue', 'operate')),
    CONSTRAINT "a token is stored as 64 hexadecimal digits, and so is its key"
        CHECK (length(hash) = 64 AND length(session_key) = 64)
) STRICT, WITHOUT ROWID;

-- What people and programs have changed, by commands and over HTTP, beside what runs by itself.
-- Payloads are not in it.
CREATE TABLE prescient_change (
    id INTEGER PRIMARY KEY,                 -- in the order of writing
    changed_at_us INTEGER NOT NULL,
    who TEXT NOT NULL CONSTRAINT "who must have at most 255 bytes"
        CHECK (length(CAST(who AS BLOB)) <= 255),       -- for whom: the name of a token; '': not known
    done_by TEXT NOT NULL,                  -- the system's user
    change TEXT NOT NULL CONSTRAINT "change must be a known one"
        CHECK (change IN ('resolve', 'cancel', 'reschedule', 'run-now', 'retry', 'pause', 'resume',
                          'schedule-put', 'schedule-on', 'schedule-off', 'schedule-remove',
                          'deliver-again')),
    what TEXT NOT NULL CONSTRAINT "what must be check, job, entity, tenant, schedule or delivery"
        CHECK (what IN ('check', 'job', 'entity', 'tenant', 'schedule', 'delivery')),
    entity_name TEXT,                       -- of a check and a schedule; of an entity, its name
    entity_key TEXT,
    job_exec TEXT,                          -- of a check and a schedule; or the job that is meant
    name TEXT,                              -- of a tenant or a schedule
    before TEXT,                            -- JSON; NULL: it was not there
    after TEXT,                             -- JSON; NULL: it is not there any more
    reason TEXT CONSTRAINT "reason must have at most 4096 bytes"
        CHECK (length(CAST(reason AS BLOB)) <= 4096)    -- NULL: nobody gave one
) STRICT;
CREATE INDEX prescient_change_time ON prescient_change (changed_at_us);

-- Runs that have been going on for long. An engine writes its own anew every ten seconds while it
-- has any; of one that was killed they stay, and count for nothing after half a minute.
CREATE TABLE prescient_run_now (
    owner BLOB NOT NULL,                    -- random bytes of the engine's process
    number INTEGER NOT NULL,                -- counts its rows, from 1
    engine TEXT,                            -- its name: engine_name or host, and the process's id
    worker INTEGER NOT NULL,                -- the worker's process id
    entity_name TEXT NOT NULL,              -- the check
    entity_key TEXT NOT NULL,
    job_exec TEXT NOT NULL,
    slot_at INTEGER NOT NULL,               -- the slot under which it was read
    began_at_us INTEGER NOT NULL,           -- when the run began, to a second
    seen_at_us INTEGER NOT NULL,            -- when the engine wrote this
    PRIMARY KEY (owner, number)
) STRICT, WITHOUT ROWID;

-- ---- events -------------------------------------------------------------------------------------

-- What jobs emitted. Writers are serial: the order of ids is the order of commits. Engines drop old
-- rows.
CREATE TABLE prescient_event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    event TEXT NOT NULL,                    -- its name
    entity_name TEXT NOT NULL,              -- the check that emitted it: entity, key, job
    entity_key TEXT NOT NULL,
    job_exec TEXT NOT NULL,
    emitted_at_us INTEGER NOT NULL,         -- in a replay, the virtual time
    recorded_at_us INTEGER NOT NULL,        -- the machine's clock, never virtual time
    slot_at INTEGER NOT NULL,               -- the slot in which the check was run
    check_count INTEGER NOT NULL,           -- runs before that had ended with: again
    origin TEXT,                            -- with a listener's name, the entity_key of its delivery;
                                            -- NULL: no listener heard it
    data TEXT,                              -- JSON; NULL: none
    CONSTRAINT "event must have 1 to 1024 bytes and no NUL"
        CHECK (length(CAST(event AS BLOB)) BETWEEN 1 AND 1024 AND instr(event, char(0)) = 0),
    CONSTRAINT "data must be valid JSON"
        CHECK (data IS NULL OR (json_valid(data) AND instr(data, char(0)) = 0))
) STRICT;

-- `prescient deliveries` lists deliveries, and sends one again. These indexes contain deliveries
-- only: without a listener they cost nothing.
CREATE INDEX prescient_event_origin ON prescient_event (origin) WHERE origin IS NOT NULL;
CREATE INDEX prescient_future_job_history_delivery ON prescient_future_job_history (entity_key)
 WHERE entity_name = 'prescient.event';
CREATE INDEX prescient_future_job_history_deliveries ON prescient_future_job_history (id)
 WHERE entity_name = 'prescient.event';
CREATE INDEX prescient_future_job_history_delivery_amiss ON prescient_future_job_history (id)
 WHERE entity_name = 'prescient.event' AND outcome NOT IN ('done', 'resolved');
CREATE INDEX prescient_future_job_run_delivery ON prescient_future_job_run (entity_key)
 WHERE entity_name = 'prescient.event';

-- How far each named reader of events has come. A consumer is a `prescient events --deliver NAME`
-- and has a lease; a digest is a listener's, and the settle of its check moves it. Only the reader
-- that finds owner, token and cursor as it read them moves a consumer's.
CREATE TABLE prescient_cursor (
    kind TEXT NOT NULL CONSTRAINT "kind must be consumer or digest" CHECK (kind IN ('consumer', 'digest')),
    name TEXT NOT NULL CONSTRAINT "name must have 1 to 64 bytes and no NUL"
        CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND 64 AND instr(name, char(0)) = 0),
    generation INTEGER NOT NULL DEFAULT 0,  -- always 0 in SQLite
    xid INTEGER NOT NULL DEFAULT 0,         -- recorded_at_us of that event: an older copy of the file
                                            -- gives the id to another one; 0: it is not known
    id INTEGER NOT NULL DEFAULT 0,          -- the last event that it has passed
    owner TEXT,                             -- who holds the lease; NULL: nobody
    token INTEGER NOT NULL DEFAULT 0,       -- one more each time that the lease is taken
    held_by TEXT,                           -- host/pid of the last one that held it; NULL: nobody did
    expires_at_us INTEGER,                  -- when the lease expires; NULL as owner
    made_at_us INTEGER NOT NULL,
    moved_at_us INTEGER,                    -- NULL: never moved
    skipped INTEGER NOT NULL DEFAULT 0,     -- events that its command refused and that were skipped
    pruned_at_us INTEGER,                   -- when events that it had not read were last pruned;
                                            -- NULL: none since it was reset
    PRIMARY KEY (kind, name),
    CONSTRAINT "a lease has an owner and an end" CHECK ((owner IS NULL) = (expires_at_us IS NULL))
) STRICT, WITHOUT ROWID;

-- What each engine is and serves, as it noted it last: a daemon once a minute. `prescient doctor`
-- compares their listeners.
CREATE TABLE prescient_engine_seen (
    engine TEXT NOT NULL,                   -- its engine_name, or else its host
    command TEXT NOT NULL,                  -- daemon, or run, which stands for sweep, too
    file TEXT NOT NULL,                     -- its settings file
    listeners TEXT NOT NULL,                -- a line each: the name, a fingerprint of all that decides
                                            -- which events it hears, and words
    jobs TEXT,                              -- names of those that it can run, a line each; NULL: too
                                            -- many to be noted
    seen_at_us INTEGER NOT NULL,
    counts_until_us INTEGER NOT NULL,       -- from then on the row stands for no engine; engines drop
                                            -- it a day later
    version TEXT,                           -- of the program
    host TEXT,                              -- the machine that it runs on
    pid INTEGER,                            -- its process there
    started_at_us INTEGER,                  -- since when it has these settings
    serves TEXT,                            -- minutes of the hour whose slots it runs; '': all
    last_slot_at INTEGER,                   -- the slot of the last pass that it was in; NULL: none yet
    last_pass_at_us INTEGER,                -- when that was over
    PRIMARY KEY (engine, command, file)
) STRICT, WITHOUT ROWID;

-- ---- schedules and pauses -----------------------------------------------------------------------

-- A name, a check, and the rule by which it recurs. Applications and `prescient schedule` write it
-- through the view prescient_schedules (0003_schedules).
CREATE TABLE prescient_schedule (
    name TEXT PRIMARY KEY,
    entity_name TEXT NOT NULL,              -- the check: entity, key, job
    entity_key TEXT NOT NULL,
    job_exec TEXT NOT NULL,
    every_s INTEGER,                        -- seconds from the end of a run to the next; NULL: cron
    bias INTEGER,                           -- ten thousandths of every_s by which a time may be off
    cron TEXT,                              -- five fields in small letters; NULL: every_s
    timezone TEXT,                          -- of tzdata; NULL: every_s
    missed TEXT NOT NULL,                   -- missed occurrences: run_once, run_all or skip
    payload TEXT,                           -- JSON for the job; NULL: none
    concurrency_key TEXT,                   -- of each of its checks; NULL: none
    tenant TEXT,                            -- whose each of its checks is; NULL: nobody says
    is_active INTEGER NOT NULL DEFAULT 1,   -- 0: it has no check
    made_at_us INTEGER NOT NULL,
    changed_at_us INTEGER NOT NULL,
    switched_at_us INTEGER,                 -- when it was last switched off or on; NULL: never
    switched_why TEXT,                      -- why; NULL: nobody gave a reason
    -- the terms of its check, without `from` and `sought` (engine/rules/terms.h)
    rule TEXT GENERATED ALWAYS AS (
        'schedule "' || replace(name, '"', '""') || '" ' ||
        CASE WHEN cron IS NULL THEN 'every ' || every_s || ' bias ' || printf('%.4f', bias / 10000.0)
             ELSE 'cron "' || cron || '" zone "' || timezone || '"' END || ' missed ' || missed) VIRTUAL,
    CONSTRAINT "the name of a schedule must have 1 to 255 bytes and no control characters"
        CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND 255
               AND name NOT GLOB '*[' || char(1) || '-' || char(31) || char(127) || ']*'
               AND instr(name, char(0)) = 0),
    CONSTRAINT "a schedule must have either every_s or cron, and only one of them"
        CHECK ((every_s IS NULL) <> (cron IS NULL)),
    CONSTRAINT "every_s must be whole seconds, from 1 to 31622400 (366 days)"
        CHECK (every_s BETWEEN 1 AND 31622400),
    CONSTRAINT "bias must be a fraction of every_s from 0 to 0.5, and only there"
        CHECK ((bias IS NULL) = (every_s IS NULL) AND coalesce(bias BETWEEN 0 AND 5000, 1)),
    CONSTRAINT "cron must have five fields of letters, digits and * , - /, or be a word as @daily"
        CHECK (cron IS NULL OR (
            length(cron) <= 499 AND (
                cron IN ('@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly')
                OR (cron NOT GLOB '*[^-a-z0-9*,/ ]*' AND cron GLOB '?* ?* ?* ?* ?*'
                    AND length(cron) - length(replace(cron, ' ', '')) = 4)))),
    CONSTRAINT "timezone must be the name of a zone, and only beside cron"
        CHECK ((timezone IS NULL) = (cron IS NULL)
               AND coalesce(length(timezone) BETWEEN 1 AND 63
                            AND timezone NOT GLOB '*[^-A-Za-z0-9_+/]*' AND timezone NOT GLOB '/*'
                            AND timezone NOT GLOB '*//*' AND timezone NOT GLOB '*/', 1)),
    CONSTRAINT "missed must be run_once, skip, or with cron run_all"
        CHECK (missed IN ('run_once', 'skip') OR (missed = 'run_all' AND cron IS NOT NULL)),
    CONSTRAINT "is_active must be 0 or 1" CHECK (is_active IN (0, 1)),
    CONSTRAINT "concurrency_key must have 1 to 1024 bytes and no NUL"
        CHECK (length(CAST(concurrency_key AS BLOB)) BETWEEN 1 AND 1024
               AND instr(concurrency_key, char(0)) = 0),
    CONSTRAINT "tenant must have 1 to 1024 bytes and no NUL"
        CHECK (length(CAST(tenant AS BLOB)) BETWEEN 1 AND 1024 AND instr(tenant, char(0)) = 0)
) STRICT;

-- A check has one schedule.
CREATE UNIQUE INDEX prescient_schedule_check ON prescient_schedule (entity_name, entity_key, job_exec);

-- A job, an entity, a schedule or a tenant whose checks wait until they are resumed (0004_pauses).
-- Applications and `prescient pause` write it through the view prescient_pauses. Engines end it.
CREATE TABLE prescient_pause (
    slot_at INTEGER PRIMARY KEY,            -- the slot in which its checks wait; it never begins
    what TEXT NOT NULL CONSTRAINT "what must be job, entity, schedule or tenant"
        CHECK (what IN ('job', 'entity', 'schedule', 'tenant')),
    name TEXT NOT NULL CONSTRAINT "name must have 1 to 1024 bytes and no NUL"
        CHECK (length(CAST(name AS BLOB)) BETWEEN 1 AND 1024 AND instr(name, char(0)) = 0),
    reason TEXT CONSTRAINT "reason must have at most 4096 bytes"
        CHECK (length(CAST(reason AS BLOB)) <= 4096),   -- NULL: nobody gave one
    paused_at_us INTEGER NOT NULL,
    paused_by TEXT,
    resumed_at_us INTEGER,                  -- NULL: it is on
    resumed_by TEXT,
    is_reslotted INTEGER NOT NULL DEFAULT 0,    -- 1: resumed checks go to the next slot together;
                                            -- 0: they are spread over its seconds
    ended_at_us INTEGER                     -- when its last check had left; NULL: it is not over
) STRICT;

-- One pause at a time of each thing.
CREATE UNIQUE INDEX prescient_pause_on ON prescient_pause (what, name) WHERE resumed_at_us IS NULL;
CREATE INDEX prescient_pause_not_over ON prescient_pause (slot_at) WHERE ended_at_us IS NULL;
