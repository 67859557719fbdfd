-- oldest engine: 1
-- What waits and what was, for those who only look: the columns that the reports have, under names
-- that stay, without payloads and the data of events. A column is only ever added at the end.
-- Moments are seconds since the Unix epoch, UTC, as in datetime(next_check_at, 'unixepoch'); names
-- that end in _us have microseconds.

-- bucket is always 0; with it, a row's checks are found by their key.
CREATE VIEW prescient_pending AS
SELECT next_check_at, entity_name, entity_key, job_exec, check_count, failure_count, priority,
       first_check_at, again_at, put_off_at
  FROM prescient_future_job WHERE bucket = 0;

CREATE VIEW prescient_history AS
SELECT ended_at_us, entity_name, entity_key, job_exec, outcome,
       CASE WHEN outcome IN ('past', 'beyond_horizon', 'max_checks', 'deferred_out', 'unknown_job')
            THEN outcome
            WHEN outcome IN ('failed', 'timeout', 'crashed', 'bad_answer', 'unknown_job')
            THEN 'max_failures' END AS guard,
       check_count, failure_count, run_count, slot_at, first_check_at, first_run_at_us,
       last_run_at_us, total_run_us, last_run_us, note, engine, archived_at_us,
       check_count + (outcome NOT IN ('resolved', 'unknown_job') OR failure_count > 0) AS check_number
  FROM prescient_future_job_history;

CREATE VIEW prescient_runs AS
SELECT run_at_us, entity_name, entity_key, job_exec, outcome, check_count, failure_count, slot_at,
       next_check_at, run_us, note, engine, recorded_at_us, check_count + (outcome <> 'again') AS check_number
  FROM prescient_future_job_run;

-- Writers are serial: who goes on behind the last id that he has seen misses none.
CREATE VIEW prescient_events AS
SELECT '0-0-' || id AS cursor, event, entity_name, entity_key, job_exec, emitted_at_us, slot_at,
       check_count, id, check_count + 1 AS check_number
  FROM prescient_event;

CREATE VIEW prescient_slots AS
SELECT slot_at,
       CASE WHEN max(closed_at_us) IS NOT NULL THEN 'closed'
            WHEN max(pass) > 0 OR max(CASE pass WHEN 0 THEN opened_rows END) = 0 THEN 'relook'
            ELSE 'open' END AS state,
       max(late_us) AS late_us, sum(run) AS run, sum(done) AS done, sum(again) AS again,
       sum(failed + timeout + crashed) AS failed,
       min(CASE pass WHEN 0 THEN recorded_at_us END) AS opened_at_us, max(closed_at_us) AS closed_at_us
  FROM prescient_slot_pass GROUP BY slot_at;

CREATE VIEW prescient_passes AS
SELECT slot_at, bucket, pass, engine, split, run, done, again, failed, timeout, crashed, guarded, deferred,
       held_back, unknown_job, superseded, locked, late_us, took_us, left_jobs, recorded_at_us
  FROM prescient_slot_pass;
