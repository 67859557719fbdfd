-- oldest engine: 1
-- A check of a job that no engine has was moved ahead again and again, a day at most, and each time
-- it was no longer overdue: no report showed it, for ever. put_off_at has the slot at which it was
-- due; NULL: it was not put off. A guard ends what nobody has run for the horizon, as unknown_job,
-- and `retry` finds it there.

ALTER TABLE prescient_future_job ADD COLUMN put_off_at INTEGER;

CREATE INDEX prescient_future_job_put_off ON prescient_future_job (put_off_at)
 WHERE put_off_at IS NOT NULL;

DROP INDEX prescient_future_job_history_failed;

CREATE INDEX prescient_future_job_history_failed ON prescient_future_job_history (ended_at_us)
 WHERE outcome IN ('failed', 'timeout', 'crashed', 'bad_answer', 'unknown_job');
