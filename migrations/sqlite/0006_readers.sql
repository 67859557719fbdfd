-- 0006_readers - what waits and what has been, as views for reports and for people.
--
-- The views have the columns that the reports of `prescient` have, without payloads and the data of
-- events. Names stay, and a released view gets a new column at its end only. The program itself
-- reads the tables, but for prescient_consumers.
--
-- Moments and slots are seconds since the Unix epoch, UTC, as in
-- datetime(next_check_at, 'unixepoch'). Names that end in _us have microseconds.

-- The checks that wait. is_paused: 1: it waits until it is resumed, and next_check_at is no time.
-- The condition on bucket, which is always 0, lets a query find a row's checks by the key's index.
CREATE VIEW prescient_pending AS
SELECT next_check_at, entity_name, entity_key, job_exec, check_count, failure_count, priority,
       first_check_at, again_at, put_off_at, next_check_at >= 221845392000 AS is_paused, concurrency_key,
       tenant, bucket, id
  FROM prescient_future_job WHERE bucket = 0;

-- The checks that are over. guard: the guard that ended it; NULL: none did. check_number: the
-- number of its last run; 0: it was never run.
CREATE VIEW prescient_history AS
SELECT ended_at_us, entity_name, entity_key, job_exec, outcome,
       CASE WHEN outcome IN ('past', 'beyond_horizon', 'max_checks', 'deferred_out', 'unknown_job')
            THEN outcome
            WHEN outcome IN ('failed', 'timeout', 'crashed', 'bad_answer', 'unknown_job')
            THEN 'max_failures' END AS guard,
       check_count, failure_count, run_count, slot_at, first_check_at, first_run_at_us,
       last_run_at_us, total_run_us, last_run_us, note, engine, archived_at_us,
       check_count + (outcome NOT IN ('resolved', 'unknown_job') OR failure_count > 0) AS check_number,
       tenant
  FROM prescient_future_job_history;

-- Runs after which the check waits again. check_number: the number of this run; the first is 1.
CREATE VIEW prescient_runs AS
SELECT run_at_us, entity_name, entity_key, job_exec, outcome, check_count, failure_count, slot_at,
       next_check_at, run_us, note, engine, recorded_at_us,
       check_count + (outcome <> 'again') AS check_number, tenant
  FROM prescient_future_job_run;

-- What the runs of each hour were like, at most a minute old. took, late: how many took how long,
-- and began how long after their slots, by class (rules/histogram.h).
CREATE VIEW prescient_run_hours AS
SELECT hour_at, job_exec, entity_name, nullif(tenant, '') AS tenant, outcome, runs, took_us, took_max_us,
       late_max_us, took, late
  FROM prescient_run_hour;

-- What is counted for ever, at most a minute old; no prune takes anything back. took, late: JSON:
-- how many took less than each bound and no less than the one before, and began how late.
CREATE VIEW prescient_tallies AS
SELECT what, name, outcome, n, took_us, took, late_us, late, made_at_us
  FROM prescient_tally;

-- Runs that have been going on for more than five seconds, as engines noted them in the last half
-- minute (seen_at_us). worker: its process id.
CREATE VIEW prescient_running AS
SELECT engine, worker, entity_name, entity_key, job_exec, slot_at, began_at_us, seen_at_us
  FROM prescient_run_now WHERE seen_at_us > (CAST(strftime('%s', 'now') AS INTEGER) - 30) * 1000000;

-- Engines that have noted themselves: a daemon every minute, others when they end. file: where
-- their settings come from. counts_until_us: how long its note stands for it. started_at_us: since
-- when it has these settings. serves: minutes of the hour whose slots it runs; '': all.
-- last_slot_at: the slot of the last pass that it was in, and last_pass_at_us when that was over.
CREATE VIEW prescient_engines AS
SELECT engine, command, file, seen_at_us, counts_until_us, version, host, pid, started_at_us, serves,
       replace(rtrim(jobs, char(10)), char(10), ', ') AS jobs, last_slot_at, last_pass_at_us
  FROM prescient_engine_seen WHERE counts_until_us > CAST(strftime('%s', 'now') AS INTEGER) * 1000000;

-- What jobs emitted. Writers are serial: a reader that goes on after the last id that it has seen
-- misses no event. cursor: as `prescient events` prints it: 0, recorded_at_us, id. check_number:
-- the number of the run that emitted it.
CREATE VIEW prescient_events AS
SELECT '0-' || recorded_at_us || '-' || id AS cursor, event, entity_name, entity_key, job_exec,
       emitted_at_us, slot_at, check_count, id, check_count + 1 AS check_number
  FROM prescient_event;

-- A row for each slot that was opened. state: open: it is being run; relook: it was run, and is
-- read once more for rows that were filed meanwhile; closed. late_us: how late its first run was,
-- at most. failed: runs that failed, timed out or crashed.
CREATE VIEW prescient_slots AS
SELECT slot_at,
       CASE WHEN max(closed_at_us) IS NOT NULL THEN 'closed'
            WHEN max(pass) > 0 OR max(CASE pass WHEN 0 THEN opened_rows END) = 0 THEN 'relook'
            ELSE 'open' END AS state,
       max(late_us) AS late_us, sum(run) AS run, sum(done) AS done, sum(again) AS again,
       sum(failed + timeout + crashed) AS failed,
       min(CASE pass WHEN 0 THEN recorded_at_us END) AS opened_at_us, max(closed_at_us) AS closed_at_us
  FROM prescient_slot_pass GROUP BY slot_at;

-- What engines did: a row for each pass over a slot; pass 0 is the row that opened it, which also
-- counts what was run under leases that were given back; else it has no counts. split: only in pass
-- 0.
CREATE VIEW prescient_passes AS
SELECT o.slot_at, o.bucket, o.pass, o.engine, CASE WHEN o.pass = 0 THEN o.split END AS split, k.run, k.done,
       k.again, k.failed, k.timeout, k.crashed, k.guarded, k.deferred, k.held_back, k.unknown_job,
       k.superseded, k.locked, o.late_us, o.took_us, o.left_jobs, o.recorded_at_us, k.busy
  FROM prescient_slot_pass AS o
  LEFT JOIN prescient_slot_pass AS k
    ON k.slot_at = o.slot_at AND k.bucket = o.bucket AND k.pass = o.pass
       AND (k.pass > 0
            OR max(k.run, k.guarded, k.deferred, k.held_back, k.unknown_job, k.superseded, k.busy) > 0);

-- The readers of events that have a name (`prescient events --deliver NAME`), and how far each has
-- come. held_until_us: when its lease expires; NULL: nobody reads by that name now.
CREATE VIEW prescient_consumers (name, cursor, moved_at_us, made_at_us, held_by, held_until_us, skipped,
                                 pruned_at_us, generation, xid, id) AS
SELECT name, generation || '-' || xid || '-' || id, moved_at_us, made_at_us, held_by, expires_at_us, skipped,
       pruned_at_us, generation, xid, id
  FROM prescient_cursor WHERE kind = 'consumer';

-- What people and programs have changed. who: for whom, the name of a token of the HTTP API; empty:
-- nobody is known beside done_by, the system's user. before, after: what it was and is like, as
-- JSON.
CREATE VIEW prescient_audit AS
SELECT id, changed_at_us, who, done_by, change, what, entity_name, entity_key, job_exec, name, before, after,
       reason
  FROM prescient_change;
