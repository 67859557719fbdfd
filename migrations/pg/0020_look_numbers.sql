-- 0020_look_numbers - the views for readers number looks as the reports do.
-- oldest engine: 1
--
-- check_count is taken before the answer in an event and after it in a run, so it names no look.
-- check_number does, the same one everywhere: 1 for the first.

CREATE OR REPLACE VIEW prescient.history AS
    SELECT h.ended_at, h.entity_name, h.entity_key, h.job_exec, h.outcome,
           CASE WHEN h.outcome IN ('past', 'beyond_horizon', 'max_checks', 'deferred_out', 'unknown_job')
                THEN h.outcome
                WHEN h.outcome IN ('failed', 'timeout', 'crashed', 'bad_answer') THEN 'max_failures' END
               AS guard,
           h.check_count, h.failure_count, h.run_count, h.slot_at, h.first_check_at, h.first_run_at,
           h.last_run_at, h.total_run_us, h.last_run_us, h.note, h.engine, h.archived_at,
           h.check_count::bigint
               + (h.outcome NOT IN ('resolved', 'unknown_job') OR h.failure_count > 0)::integer
               AS check_number
      FROM prescient.future_job_history h;

CREATE OR REPLACE VIEW prescient.runs AS
    SELECT r.run_at, r.entity_name, r.entity_key, r.job_exec, r.outcome, r.check_count, r.failure_count,
           r.slot_at, r.next_check_at, r.run_us, r.note, r.engine, r.recorded_at,
           r.check_count::bigint + (r.outcome <> 'again')::integer AS check_number
      FROM prescient.future_job_run r;

CREATE OR REPLACE VIEW prescient.events WITH (security_barrier) AS
    WITH here AS MATERIALIZED (
        SELECT n.generation, n.below FROM prescient.generation_now() n)
    SELECT e.generation || '-' || e.xid::text || '-' || e.id AS cursor, e.event, e.entity_name, e.entity_key,
           e.job_exec, e.emitted_at, e.slot_at, e.check_count, e.recorded_at, e.generation, e.xid, e.id,
           e.check_count::bigint + 1 AS check_number
      FROM prescient.event e
     WHERE (e.generation, e.xid) < ((SELECT h.generation FROM here h), (SELECT h.below FROM here h));

COMMENT ON COLUMN prescient.history.check_number IS 'The number of the last look; 0: there was none.';
COMMENT ON COLUMN prescient.runs.check_number IS 'The number of this look; the first is 1.';
COMMENT ON COLUMN prescient.events.check_number IS 'The number of the look that emitted it; the first is 1.';
COMMENT ON COLUMN prescient.history.check_count IS 'Looks that ended with: again.';
COMMENT ON COLUMN prescient.runs.check_count IS 'Looks that had ended with: again after this one.';
COMMENT ON COLUMN prescient.events.check_count IS 'Looks that had ended with: again before this one.';
