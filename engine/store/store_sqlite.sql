-- store_sqlite.sql - all statements of the SQLite store. The same names in the same order as store_pg.sql where both have them.
-- Nothing newer than SQLite 3.37. Times come in as parameters: the clock is the caller's.

-- ---- connection -----------------------------------------------------------------------------------------------------------

-- name: begin
BEGIN IMMEDIATE

-- name: commit
COMMIT

-- name: rollback
ROLLBACK

-- name: savepoint
SAVEPOINT prescient_call

-- name: release_savepoint
RELEASE prescient_call

-- name: rollback_savepoint
ROLLBACK TO prescient_call

-- name: schema_cookie
PRAGMA schema_version

-- name: has_schema
SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'prescient_migration')

-- name: schema_version
SELECT coalesce(max(version), 0), coalesce(max(oldest_engine), 0),
       coalesce((SELECT value FROM prescient_setting WHERE name = 'slot_length_s'), 0)
  FROM prescient_migration

-- ---- slots and leases -------------------------------------------------------------------------------------------------------

-- name: slot_state
-- ?1 slot. The opening row, and whether the slot was run to its end once (one that held nothing was).
SELECT closed_at_us IS NOT NULL,
       opened_rows = 0 OR EXISTS (SELECT 1 FROM prescient_slot_pass AS p WHERE p.slot_at = o.slot_at AND p.bucket = o.bucket AND p.pass > 0)
  FROM prescient_slot_pass AS o WHERE slot_at = ?1 AND bucket = -1 AND pass = 0

-- name: slot_count
-- ?1 slot, ?2 count no further than this
SELECT count(*) FROM (SELECT 1 FROM prescient_future_job WHERE next_check_at = ?1 LIMIT ?2)

-- name: slot_open
-- ?1 slot, ?2 engine, ?3 rows, ?4 clock
INSERT INTO prescient_slot_pass (slot_at, bucket, pass, engine, split, opened_rows, recorded_at_us)
VALUES (?1, -1, 0, ?2, 1, ?3, ?4)

-- name: slot_has_rows
-- ?1 slot, ?2 JSON array of job names, or NULL for any
SELECT EXISTS (SELECT 1 FROM prescient_future_job
                WHERE next_check_at = ?1 AND (?2 IS NULL OR job_exec IN (SELECT value FROM json_each(?2))))

-- name: slot_reopen
-- ?1 slot. What a closed slot holds after all is run like the rest, so it must be looked at again.
UPDATE prescient_slot_pass SET closed_at_us = NULL WHERE slot_at = ?1 AND bucket = -1 AND pass = 0 AND closed_at_us IS NOT NULL

-- name: lease_look
-- ?1 slot
SELECT owner, token, expires_at_us FROM prescient_slot_lease WHERE slot_at = ?1 AND bucket = -1

-- name: lease_take
-- ?1 slot, ?2 owner, ?3 engine, ?4 clock, ?5 expiry. Replacing a row draws a new token.
INSERT OR REPLACE INTO prescient_slot_lease (slot_at, bucket, owner, engine, taken_at_us, expires_at_us)
VALUES (?1, -1, ?2, ?3, ?4, ?5)

-- name: lease_held
-- ?1 slot, ?2 owner, ?3 token
SELECT EXISTS (SELECT 1 FROM prescient_slot_lease WHERE slot_at = ?1 AND bucket = -1 AND owner = ?2 AND token = ?3)

-- name: renew
-- ?1 slot, ?2 owner, ?3 token, ?4 expiry
UPDATE prescient_slot_lease SET expires_at_us = ?4 WHERE slot_at = ?1 AND bucket = -1 AND owner = ?2 AND token = ?3

-- name: release
-- ?1 slot, ?2 owner, ?3 token
DELETE FROM prescient_slot_lease WHERE slot_at = ?1 AND bucket = -1 AND owner = ?2 AND token = ?3

-- ---- a page -----------------------------------------------------------------------------------------------------------------

-- name: read_page
-- ?1 slot, ?2 priority and ?3 id of the last row read, ?4 most
SELECT id, priority, first_check_at, deferred_at, check_count, failure_count, entity_name, entity_key, job_exec, payload, origin
  FROM prescient_future_job
 WHERE next_check_at = ?1 AND bucket = 0 AND (priority, id) > (?2, ?3)
 ORDER BY priority, id LIMIT ?4

-- The answers of the page are the table prescient_answers (store_sqlite_answers.c); part 0: all of them, 1 to 3: the touched
-- ones that end, that move, that leave a run row. Writers are serial, so what the first look finds is so to the end.

-- name: settle_look
-- The rows that are as they were read, and whether they were enqueued again meanwhile.
SELECT a.nth, f.again_at IS NOT NULL
  FROM prescient_answers AS a CROSS JOIN prescient_future_job AS f
 WHERE a.part = 0 AND f.id = a.id AND f.next_check_at = a.slot_at AND f.check_count = a.read_check_count
   AND f.failure_count = a.read_failure_count

-- name: settle_archive
-- ?1 engine, ?2 clock, ?3 when it ended
INSERT INTO prescient_future_job_history (check_id, ended_at_us, entity_name, entity_key, job_exec, outcome, check_count,
       failure_count, run_count, slot_at, first_check_at, first_run_at_us, last_run_at_us, total_run_us, last_run_us,
       note, payload, engine, archived_at_us)
SELECT f.id, ?3, f.entity_name, f.entity_key, f.job_exec, a.outcome, a.check_count,
       a.failure_count, f.run_count + a.runs, a.slot_at, f.first_check_at, coalesce(f.first_run_at_us, a.run_at_us), a.run_at_us,
       f.total_run_us + coalesce(a.run_us, 0), a.run_us, a.note, CASE WHEN a.keeps_payload THEN f.payload END, ?1, ?2
  FROM prescient_answers AS a CROSS JOIN prescient_future_job AS f
 WHERE a.part = 1 AND f.id = a.id

-- name: settle_anew
-- ?1 id, ?2 the first slot that has not begun, ?3 origin. A new life under a new id, at the slot that was written beside the old one.
INSERT OR REPLACE INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at, priority, payload, origin)
SELECT entity_name, entity_key, job_exec, max(again_at, ?2), max(again_at, ?2), priority, payload, ?3
  FROM prescient_future_job WHERE id = ?1 AND again_at IS NOT NULL

-- name: settle_delete
-- After settle_anew: a row with again_at has its new id by then.
DELETE FROM prescient_future_job WHERE id IN (SELECT id FROM prescient_answers WHERE part = 1)

-- name: settle_move
-- ?1 the first slot that has not begun. To the earlier of the time wanted and the one that was asked for meanwhile.
UPDATE prescient_future_job
   SET next_check_at = max(min(a.next_at, coalesce(again_at, a.next_at)), ?1),
       again_at = CASE WHEN again_at > max(min(a.next_at, again_at), ?1) THEN again_at END, check_count = a.check_count, failure_count = a.failure_count, deferred_at = a.deferred_at,
       run_count = prescient_future_job.run_count + a.runs,
       first_run_at_us = coalesce(prescient_future_job.first_run_at_us, a.run_at_us),
       total_run_us = prescient_future_job.total_run_us + coalesce(a.run_us, 0)
  FROM prescient_answers AS a
 WHERE a.part = 2 AND prescient_future_job.id = a.id

-- name: settle_run
-- ?1 engine, ?2 clock
INSERT INTO prescient_future_job_run (check_id, run_at_us, entity_name, entity_key, job_exec, outcome, check_count, failure_count,
       slot_at, next_check_at, run_us, note, engine, recorded_at_us)
SELECT f.id, a.run_at_us, f.entity_name, f.entity_key, f.job_exec, a.outcome, a.check_count, a.failure_count,
       a.slot_at, f.next_check_at, a.run_us, a.note, ?1, ?2
  FROM prescient_answers AS a CROSS JOIN prescient_future_job AS f
 WHERE a.part = 3 AND f.id = a.id

-- name: effect_emit
-- ?1 event, ?2 entity, ?3 key, ?4 job, ?5 clock, ?6 slot, ?7 check_count, ?8 data, ?9 the machine's clock
INSERT INTO prescient_event (event, entity_name, entity_key, job_exec, emitted_at_us, slot_at, check_count, data, recorded_at_us)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)

-- name: effect_enqueue
-- ?1 entity, ?2 key, ?3 job, ?4 at, ?5 payload, ?6 conflict, ?7 priority, ?8 now, ?9 origin
INSERT INTO prescient_enqueue_at (entity_name, entity_key, job_exec, at, payload, conflict, priority, now, origin)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)

-- name: finish_look
-- ?1 slot, ?2 JSON array of the jobs that may be left, ?3 priority and ?4 id of the last row read
SELECT EXISTS (SELECT 1 FROM prescient_future_job
                WHERE next_check_at = ?1 AND bucket = 0 AND (priority, id) > (?3, ?4) AND job_exec NOT IN (SELECT value FROM json_each(?2)))

-- name: finish
-- ?1 slot, ?2 engine, ?3 late_us, ?4 took_us, ?5 clock, ?6 to ?17 the counts, ?18 whether rows can be read: which jobs are left behind is asked, not
-- told.
INSERT INTO prescient_slot_pass (slot_at, bucket, pass, engine, split, late_us, took_us, recorded_at_us, run, done, again, deferred,
       failed, timeout, crashed, guarded, held_back, unknown_job, superseded, locked, left_jobs)
SELECT ?1, -1, 1 + coalesce(max(pass), 0), ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
       CASE WHEN ?18 THEN (SELECT group_concat(job_exec, ', ')
                             FROM (SELECT DISTINCT job_exec FROM prescient_future_job WHERE next_check_at = ?1 ORDER BY job_exec)) END
  FROM prescient_slot_pass WHERE slot_at = ?1 AND bucket = -1

-- ---- slots that are not over ------------------------------------------------------------------------------------------------

-- name: relook_close
-- ?1 clock. Writers are serial: what this look does not see cannot come any more.
UPDATE prescient_slot_pass AS o SET closed_at_us = ?1
 WHERE pass = 0 AND closed_at_us IS NULL
   AND (opened_rows = 0 OR EXISTS (SELECT 1 FROM prescient_slot_pass AS p WHERE p.slot_at = o.slot_at AND p.bucket = o.bucket AND p.pass > 0))
   AND NOT EXISTS (SELECT 1 FROM prescient_future_job WHERE next_check_at = o.slot_at)

-- name: relook_leases
-- ?1 clock. What a dead engine left on a closed slot is nobody's to take over.
DELETE FROM prescient_slot_lease
 WHERE expires_at_us <= ?1
   AND EXISTS (SELECT 1 FROM prescient_slot_pass AS o WHERE o.slot_at = prescient_slot_lease.slot_at AND o.pass = 0 AND o.closed_at_us IS NOT NULL)

-- name: relook
-- ?1 most
SELECT slot_at, EXISTS (SELECT 1 FROM prescient_future_job WHERE next_check_at = o.slot_at),
       NOT (opened_rows = 0 OR EXISTS (SELECT 1 FROM prescient_slot_pass AS p WHERE p.slot_at = o.slot_at AND p.bucket = o.bucket AND p.pass > 0))
  FROM prescient_slot_pass AS o WHERE pass = 0 AND closed_at_us IS NULL ORDER BY slot_at LIMIT ?1

-- name: late_slot
-- ?1 from, ?2 before
SELECT min(next_check_at) FROM prescient_future_job WHERE next_check_at >= ?1 AND next_check_at < ?2

-- name: swept_until
SELECT value FROM prescient_setting WHERE name = 'swept_until'

-- name: full_look_at
SELECT coalesce(max(value), 0) FROM prescient_setting WHERE name = 'full_look_at'

-- name: note_full_look
-- ?1 clock
INSERT INTO prescient_setting (name, value) VALUES ('full_look_at', ?1) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: mark_swept
-- ?1 slot, ?2 clock; the mark only moves up, unless it is ahead of the clock
UPDATE prescient_setting SET value = ?1 WHERE name = 'swept_until' AND (value < ?1 OR value > ?2)

-- ---- enqueue and load ----------------------------------------------------------------------------------------------------------

-- name: pending_row
-- ?1 entity, ?2 key, ?3 job
SELECT id, next_check_at, again_at FROM prescient_future_job
 WHERE bucket = 0 AND entity_name = ?1 AND entity_key = ?2 AND job_exec = ?3

-- name: enqueue
-- ?1 entity, ?2 key, ?3 job, ?4 at, ?5 payload, ?6 conflict, ?7 priority, ?8 now; all but now as text
INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload, conflict, priority, now)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, CAST(?7 AS INTEGER), ?8)

-- name: pending_count
-- ?1 entity, ?2 key, ?3 job or NULL
SELECT count(*) FROM prescient_future_job
 WHERE bucket = 0 AND entity_name = ?1 AND entity_key = ?2 AND (?3 IS NULL OR job_exec = ?3)

-- name: resolve
-- ?1 entity, ?2 key, ?3 job or NULL, ?4 now, or NULL for the clock
INSERT INTO prescient_resolve (entity_name, entity_key, job_exec, now) VALUES (?1, ?2, ?3, ?4)

-- name: reschedule
-- ?1 entity, ?2 key, ?3 job, ?4 at, as text, ?5 now
INSERT INTO prescient_reschedule (entity_name, entity_key, job_exec, check_at, now) VALUES (?1, ?2, ?3, ?4, ?5)

-- name: retry
-- ?1 entity, ?2 key, ?3 job, ?4 since, ?7 limit (5 at, 6 now are the enqueue's). max(id) picks the row that the payload comes from. What has ended
-- well since is left out: one look, for all failures together, at the rows behind the oldest of them.
WITH failure AS MATERIALIZED (
    SELECT entity_name, entity_key, job_exec, payload, max(id) AS newest
      FROM prescient_future_job_history
     WHERE outcome IN ('failed', 'timeout', 'crashed', 'bad_answer') AND ended_at_us >= coalesce(CAST(?4 AS INTEGER), 0) * 1000000
       AND (?1 IS NULL OR entity_name = ?1) AND (?2 IS NULL OR entity_key = ?2) AND (?3 IS NULL OR job_exec = ?3)
     GROUP BY entity_name, entity_key, job_exec),
mended AS MATERIALIZED (
    SELECT DISTINCT f.newest
      FROM prescient_future_job_history h
      JOIN failure f ON f.entity_key = h.entity_key AND f.entity_name = h.entity_name AND f.job_exec = h.job_exec AND f.newest < h.id
     WHERE h.id > (SELECT min(newest) FROM failure) AND h.outcome NOT IN ('failed', 'timeout', 'crashed', 'bad_answer'))
SELECT entity_name, entity_key, job_exec, payload, newest
  FROM failure
 WHERE newest NOT IN (SELECT newest FROM mended)
 ORDER BY newest DESC LIMIT coalesce(CAST(?7 AS INTEGER), -1)

-- name: load_new
-- ?1 entity, ?2 key, ?3 job, ?4 slot, ?5 priority, ?6 payload
INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at, priority, payload)
VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6) ON CONFLICT (bucket, entity_name, entity_key, job_exec) DO NOTHING

-- ---- reports: parameters are text, NULL when not given; limits, moments and ids are cast here ---------------------------------------

-- name: list
-- ?1 entity, ?2 key, ?3 job, ?4 from, ?5 before, ?6 limit, ?7 how many checks are looked at along the slots, NULL: all.
-- What is of one key is found by it, and so is all of an entity that has a thousand at most. For anything else the checks are looked at in their order; a
-- last row without an entity says at which slot ?7 ended that.
WITH few AS MATERIALIZED (
    SELECT * FROM prescient_future_job
     WHERE ?1 IS NOT NULL AND bucket = 0 AND entity_name = ?1 AND entity_key BETWEEN coalesce(?2, '') AND coalesce(?2, x'')
     LIMIT CASE WHEN ?2 IS NULL THEN 1001 ELSE -1 END),
served AS MATERIALIZED (
    SELECT ?1 IS NOT NULL AND (?2 IS NOT NULL OR (SELECT count(*) FROM few) <= 1000) AS by_key),
found AS MATERIALIZED (
    SELECT * FROM (
        SELECT * FROM few
         WHERE (SELECT by_key FROM served) AND (?3 IS NULL OR job_exec = ?3)
           AND next_check_at >= coalesce(CAST(?4 AS INTEGER), 0) AND next_check_at < coalesce(CAST(?5 AS INTEGER), 253402300800)
         ORDER BY next_check_at, bucket, priority, id LIMIT coalesce(CAST(?6 AS INTEGER), -1))
    UNION ALL
    SELECT * FROM (
        SELECT * FROM (
            SELECT * FROM prescient_future_job
             WHERE NOT (SELECT by_key FROM served)
               AND next_check_at >= coalesce(CAST(?4 AS INTEGER), 0) AND next_check_at < coalesce(CAST(?5 AS INTEGER), 253402300800)
             ORDER BY next_check_at, bucket, priority, id LIMIT coalesce(CAST(?7 AS INTEGER), -1))
         WHERE (?1 IS NULL OR entity_name = ?1) AND (?2 IS NULL OR entity_key = ?2) AND (?3 IS NULL OR job_exec = ?3)
         LIMIT coalesce(CAST(?6 AS INTEGER), -1))),
ended AS (
    SELECT next_check_at FROM prescient_future_job
     WHERE ?7 IS NOT NULL AND NOT (SELECT by_key FROM served) AND (SELECT count(*) FROM found) < CAST(?6 AS INTEGER)
       AND next_check_at >= coalesce(CAST(?4 AS INTEGER), 0) AND next_check_at < coalesce(CAST(?5 AS INTEGER), 253402300800)
     ORDER BY next_check_at, bucket, priority, id LIMIT 1 OFFSET coalesce(CAST(?7 AS INTEGER), 0))
SELECT next_check_at, entity_name, entity_key, job_exec, check_count, failure_count, priority, first_check_at, again_at, payload
  FROM (SELECT next_check_at, entity_name, entity_key, job_exec, check_count, failure_count, priority, first_check_at, again_at, payload, bucket, id
          FROM found
        UNION ALL
        SELECT next_check_at, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM ended)
 ORDER BY entity_name IS NULL, next_check_at, bucket, priority, id

-- name: history
-- ?1 entity, ?2 key, ?3 job, ?4 outcome, ?5 since, ?6 before, ?7 limit
SELECT ended_at_us, entity_name, entity_key, job_exec, outcome,
       CASE WHEN outcome IN ('past', 'beyond_horizon', 'max_checks', 'deferred_out') THEN outcome
            WHEN outcome IN ('failed', 'timeout', 'crashed', 'bad_answer') THEN 'max_failures' END AS guard,
       check_count, failure_count, run_count, slot_at, first_check_at, first_run_at_us, last_run_at_us, total_run_us, last_run_us,
       note, payload, engine, archived_at_us
  FROM prescient_future_job_history
 WHERE (?1 IS NULL OR entity_name = ?1) AND (?2 IS NULL OR entity_key = ?2) AND (?3 IS NULL OR job_exec = ?3)
   AND (?4 IS NULL OR outcome = ?4) AND (?5 IS NULL OR ended_at_us >= CAST(?5 AS INTEGER) * 1000000)
   AND (?6 IS NULL OR ended_at_us < CAST(?6 AS INTEGER) * 1000000)
 ORDER BY id DESC LIMIT coalesce(CAST(?7 AS INTEGER), -1)

-- name: runs
-- ?1 entity, ?2 key, ?3 job, ?4 outcome, ?5 since, ?6 before, ?7 limit
SELECT run_at_us, entity_name, entity_key, job_exec, outcome, check_count, failure_count, slot_at, next_check_at, run_us, note, engine
  FROM prescient_future_job_run
 WHERE (?1 IS NULL OR entity_name = ?1) AND (?2 IS NULL OR entity_key = ?2) AND (?3 IS NULL OR job_exec = ?3)
   AND (?4 IS NULL OR outcome = ?4) AND (?5 IS NULL OR run_at_us >= CAST(?5 AS INTEGER) * 1000000)
   AND (?6 IS NULL OR run_at_us < CAST(?6 AS INTEGER) * 1000000)
 ORDER BY id DESC LIMIT coalesce(CAST(?7 AS INTEGER), -1)

-- name: slots
-- ?1 from, ?2 before, ?3 limit, ?4 only from this moment on slots that are closed and empty, too (NULL: all). From slot to slot by a step of an index each;
-- only those that are told are counted, to the end.
WITH RECURSIVE
bounds AS MATERIALIZED (
    SELECT coalesce(CAST(?1 AS INTEGER), 0) AS first, coalesce(CAST(?2 AS INTEGER), 253402300800) AS last,
           CASE WHEN CAST(?3 AS INTEGER) >= 0 THEN CAST(?3 AS INTEGER) ELSE 9223372036854775807 END AS most, coalesce(CAST(?4 AS INTEGER), 0) AS recent),
filed (slot_at, n) AS (
    SELECT (SELECT min(next_check_at) FROM prescient_future_job WHERE next_check_at >= first AND next_check_at < last), 1 FROM bounds
    UNION ALL
    SELECT (SELECT min(f.next_check_at) FROM prescient_future_job AS f WHERE f.next_check_at > filed.slot_at AND f.next_check_at < last), n + 1
      FROM filed, bounds WHERE filed.slot_at IS NOT NULL AND n < most),
opened (slot_at, n) AS (
    SELECT (SELECT min(slot_at) FROM prescient_slot_pass WHERE slot_at >= max(first, recent) AND slot_at < last), 1 FROM bounds
    UNION ALL
    SELECT (SELECT min(p.slot_at) FROM prescient_slot_pass AS p WHERE p.slot_at > opened.slot_at AND p.slot_at < last), n + 1
      FROM opened, bounds WHERE opened.slot_at IS NOT NULL AND n < most),
chosen AS MATERIALIZED (
    SELECT slot_at FROM (
        SELECT slot_at FROM filed
        UNION
        SELECT slot_at FROM opened
        UNION
        SELECT slot_at FROM prescient_slot_pass, bounds WHERE pass = 0 AND closed_at_us IS NULL AND slot_at >= first AND slot_at < min(last, recent))
     WHERE slot_at IS NOT NULL ORDER BY slot_at LIMIT (SELECT most FROM bounds)),
known AS (
    SELECT p.slot_at, max(CASE WHEN pass = 0 THEN CASE WHEN closed_at_us IS NOT NULL THEN 3 WHEN opened_rows = 0 THEN 2 ELSE 1 END
                               ELSE 2 END) AS state,
           max(late_us) AS late_us, sum(run) AS run, sum(done) AS done, sum(again) AS again, sum(failed + timeout + crashed) AS failed
      FROM chosen AS c CROSS JOIN prescient_slot_pass AS p WHERE p.slot_at = c.slot_at
     GROUP BY p.slot_at)
SELECT c.slot_at, (SELECT count(*) FROM prescient_future_job AS f WHERE f.next_check_at = c.slot_at) AS checks,
       CASE coalesce(state, 0) WHEN 0 THEN 'pending' WHEN 1 THEN 'open' WHEN 2 THEN 'relook' ELSE 'closed' END AS state,
       late_us, run, done, again, failed, 0 AS is_estimate
  FROM chosen AS c LEFT JOIN known ON known.slot_at = c.slot_at
 ORDER BY c.slot_at

-- name: passes
-- ?1 from, ?2 before, ?3 limit
SELECT slot_at, bucket, pass, engine, split, run, done, again, deferred, failed, timeout, crashed, guarded, held_back, unknown_job,
       superseded, locked, late_us, took_us, left_jobs, recorded_at_us
  FROM prescient_slot_pass
 WHERE slot_at >= coalesce(CAST(?1 AS INTEGER), 0) AND slot_at < coalesce(CAST(?2 AS INTEGER), 253402300800)
 ORDER BY slot_at DESC, bucket DESC, pass DESC LIMIT coalesce(CAST(?3 AS INTEGER), -1)

-- name: status
-- ?1 now
WITH this AS (
    SELECT now, length_s, now / length_s * length_s AS slot
      FROM (SELECT coalesce(CAST(?1 AS INTEGER), :clock_us / 1000000) AS now, value AS length_s
              FROM prescient_setting WHERE name = 'slot_length_s'))
SELECT now AS now_at, length_s AS slot_length_s, (SELECT max(version) FROM prescient_migration) AS schema_version,
       (SELECT count(*) FROM prescient_future_job) AS pending, 0 AS is_estimate,
       (SELECT count(*) FROM (SELECT 1 FROM prescient_future_job WHERE next_check_at = slot LIMIT 1000000)) AS due,
       (SELECT count(*) FROM (SELECT 1 FROM prescient_future_job WHERE next_check_at < slot LIMIT 1000000)) AS overdue,
       (SELECT min(next_check_at) FROM prescient_future_job WHERE next_check_at < slot) AS oldest_overdue_at,
       (SELECT min(next_check_at) FROM prescient_future_job WHERE next_check_at > now) AS next_slot_at,
       (SELECT count(*) FROM prescient_slot_lease) AS leases,
       (SELECT count(*) FROM prescient_slot_pass WHERE pass = 0 AND closed_at_us IS NULL) AS unclosed_slots,
       (SELECT min(slot_at) FROM prescient_slot_pass WHERE pass = 0 AND closed_at_us IS NULL) AS oldest_unclosed_at,
       NULL AS oldest_transaction_us, NULL AS transactions_since, NULL AS prepared_transactions,
       (SELECT coalesce(max(id) - min(id) + 1, 0) FROM prescient_future_job_history) AS history_rows
  FROM this

-- name: leases
SELECT slot_at, bucket, engine, token, expires_at_us, expires_at_us <= :clock_us AS is_expired
  FROM prescient_slot_lease ORDER BY slot_at, bucket

-- name: growth
-- By the ends of the tables, which have no gaps to speak of; passes are counted up to a bound.
SELECT 'history' AS what, coalesce(max(id) - min(id) + 1, 0) AS rows, NULL AS bytes,
       (SELECT archived_at_us / 1000000 FROM prescient_future_job_history ORDER BY id LIMIT 1) AS oldest_at FROM prescient_future_job_history
UNION ALL
SELECT 'runs', coalesce(max(id) - min(id) + 1, 0), NULL,
       (SELECT recorded_at_us / 1000000 FROM prescient_future_job_run ORDER BY id LIMIT 1) FROM prescient_future_job_run
UNION ALL
SELECT 'events', coalesce(max(id) - min(id) + 1, 0), NULL,
       (SELECT coalesce(recorded_at_us, emitted_at_us) / 1000000 FROM prescient_event ORDER BY id LIMIT 1) FROM prescient_event
UNION ALL
SELECT 'passes', (SELECT count(*) FROM (SELECT 1 FROM prescient_slot_pass LIMIT 100000)), NULL,
       (SELECT recorded_at_us / 1000000 FROM prescient_slot_pass ORDER BY slot_at LIMIT 1)

-- name: jobs_pending
SELECT job_exec, count(*) AS checks, min(next_check_at) AS next_check_at, 0 AS is_estimate FROM prescient_future_job GROUP BY job_exec ORDER BY job_exec

-- name: events_handed_out
-- The greatest id that an event of this file ever had.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'prescient_event'), 0)

-- name: events
-- ?1 and ?2 after generation and xid (always 0 here), ?3 after id, ?4 limit
SELECT '0-0-' || id AS cursor, event, entity_name, entity_key, job_exec, emitted_at_us, slot_at, check_count, data
  FROM prescient_event WHERE id > coalesce(CAST(?3 AS INTEGER), 0) ORDER BY id LIMIT coalesce(CAST(?4 AS INTEGER), -1)

-- name: events_end
SELECT '0-0-' || coalesce(max(id), 0) AS cursor FROM prescient_event

-- ---- doctor: ?1 now; each look by itself (store_sqlite_doctor.c) --------------------------------------------------------------------

-- name: doctor_overdue
WITH this AS (
    SELECT now / value * value AS slot FROM (SELECT coalesce(CAST(?1 AS INTEGER), :clock_us / 1000000) AS now), prescient_setting
     WHERE name = 'slot_length_s'),
overdue AS (
    SELECT count(*) AS n, min(next_check_at) AS oldest
      FROM (SELECT next_check_at FROM prescient_future_job, this WHERE next_check_at < slot ORDER BY next_check_at LIMIT 1000000))
SELECT 'overdue checks' AS what, CASE WHEN n = 0 THEN 'ok' ELSE 'warn' END AS level,
       n || coalesce(', the oldest of ' || datetime(oldest, 'unixepoch'), '') AS found,
       CASE WHEN n = 0 THEN '' ELSE 'run prescient sweep, or prescient reslot to move them' END AS advice FROM overdue

-- name: doctor_below
SELECT 'checks below the mark of the sweep' AS what, CASE WHEN n = 0 THEN 'ok' ELSE 'warn' END AS level, n AS found,
       CASE WHEN n = 0 THEN '' ELSE 'put there by hand or by a clock that jumped; a full look, once an hour, finds them' END AS advice
  FROM (SELECT count(*) AS n FROM (SELECT 1 FROM prescient_future_job
                                    WHERE next_check_at < (SELECT value FROM prescient_setting WHERE name = 'swept_until') LIMIT 1000000))

-- name: doctor_leases
SELECT 'leases that have expired' AS what, CASE WHEN n = 0 THEN 'ok' ELSE 'warn' END AS level, n AS found,
       CASE WHEN n = 0 THEN '' ELSE 'an engine died; the next run takes its slots over' END AS advice
  FROM (SELECT count(*) AS n FROM prescient_slot_lease WHERE expires_at_us <= :clock_us)

-- name: doctor_open
WITH this AS (
    SELECT now / value * value AS slot FROM (SELECT coalesce(CAST(?1 AS INTEGER), :clock_us / 1000000) AS now), prescient_setting
     WHERE name = 'slot_length_s')
SELECT 'slots that stay open' AS what, CASE WHEN n = 0 THEN 'ok' ELSE 'warn' END AS level,
       n || coalesce(', the oldest of ' || datetime(oldest, 'unixepoch'), '') AS found,
       CASE WHEN n = 0 THEN '' ELSE 'opened over a day ago and not closed yet: a sweep closes what holds no checks any more' END AS advice
  FROM (SELECT count(*) AS n, min(slot_at) AS oldest FROM prescient_slot_pass, this WHERE pass = 0 AND closed_at_us IS NULL AND slot_at < slot - 86400)

-- name: doctor_room
SELECT 'room in the file' AS what, CASE WHEN wasted THEN 'warn' ELSE 'ok' END AS level,
       freelist_count || ' of ' || page_count || ' pages are free' AS found,
       CASE WHEN wasted THEN 'VACUUM gives them back to the disk' ELSE '' END AS advice
  FROM (SELECT page_count, freelist_count, freelist_count > 25000 AND freelist_count > page_count / 2 AS wasted
          FROM pragma_page_count, pragma_freelist_count)

-- name: file_size
SELECT page_count * page_size FROM pragma_page_count, pragma_page_size

-- name: whole
-- The whole file is read, under a lock that a rollback journal's commits wait for. No argument: from 3.46 on it would be a table's name.
SELECT 'file is whole' AS what, CASE found WHEN 'ok' THEN 'ok' ELSE 'error' END AS level, found,
       CASE found WHEN 'ok' THEN '' ELSE 'stop everything that writes to the file, keep a copy, restore a backup or use sqlite3 .recover' END AS advice
  FROM (SELECT quick_check AS found FROM pragma_quick_check LIMIT 1)

-- ---- prune: ?1 microseconds before which rows go -----------------------------------------------------------------------------------
-- Rows stand in the order they were written, so the old ones are at the left edge: a few thousand of them a transaction, until
-- those at the edge are young.

-- name: prune_history
DELETE FROM prescient_future_job_history
 WHERE id < (SELECT min(id) FROM prescient_future_job_history) + 5000 AND archived_at_us < ?1

-- name: prune_runs
DELETE FROM prescient_future_job_run
 WHERE id < (SELECT min(id) FROM prescient_future_job_run) + 5000 AND recorded_at_us < ?1

-- name: prune_passes
-- Only of slots that are over for good: closed, without rows and without a lease.
DELETE FROM prescient_slot_pass
 WHERE slot_at IN (SELECT slot_at FROM prescient_slot_pass AS o
                    WHERE pass = 0 AND closed_at_us IS NOT NULL AND slot_at < ?1 / 1000000 AND recorded_at_us < ?1
                      AND NOT EXISTS (SELECT 1 FROM prescient_future_job WHERE next_check_at = o.slot_at)
                      AND NOT EXISTS (SELECT 1 FROM prescient_slot_lease AS l WHERE l.slot_at = o.slot_at)
                    ORDER BY slot_at LIMIT 2000)

-- name: prune_events
DELETE FROM prescient_event
 WHERE id < (SELECT min(id) FROM prescient_event) + 5000 AND coalesce(recorded_at_us, emitted_at_us) < ?1

-- name: prune_history_count
SELECT count(*) FROM prescient_future_job_history WHERE archived_at_us < ?1

-- name: prune_runs_count
SELECT count(*) FROM prescient_future_job_run WHERE recorded_at_us < ?1

-- name: prune_passes_count
SELECT count(*) FROM prescient_slot_pass
 WHERE slot_at IN (SELECT slot_at FROM prescient_slot_pass AS o
                    WHERE pass = 0 AND closed_at_us IS NOT NULL AND slot_at < ?1 / 1000000 AND recorded_at_us < ?1
                      AND NOT EXISTS (SELECT 1 FROM prescient_future_job WHERE next_check_at = o.slot_at)
                      AND NOT EXISTS (SELECT 1 FROM prescient_slot_lease AS l WHERE l.slot_at = o.slot_at))

-- name: prune_events_count
SELECT count(*) FROM prescient_event WHERE coalesce(recorded_at_us, emitted_at_us) < ?1

-- name: prune_claim
-- ?1 now, ?2 s. Of all engines one has its turn, once in that time; see the same block of store_pg.sql.
INSERT INTO prescient_setting (name, value) VALUES ('pruned_at', ?1)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value NOT BETWEEN excluded.value - ?2 AND excluded.value

-- ---- migrate ------------------------------------------------------------------------------------------------------------------

-- name: migration_find
-- ?1 version
SELECT checksum FROM prescient_migration WHERE version = ?1

-- name: migration_add
-- ?1 version, ?2 name, ?3 checksum, ?4 oldest engine, ?5 clock
INSERT INTO prescient_migration (version, name, checksum, oldest_engine, applied_at_us) VALUES (?1, ?2, ?3, ?4, ?5)

-- name: slot_length
SELECT value FROM prescient_setting WHERE name = 'slot_length_s'

-- name: set_slot_length
UPDATE prescient_setting SET value = ?1 WHERE name = 'slot_length_s'

-- name: reslot_leases
-- ?1 clock
SELECT count(*) FROM prescient_slot_lease WHERE expires_at_us > ?1

-- name: reslot_table
SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'prescient_future_job'

-- name: reslot_indexes
SELECT group_concat(sql, '; ') FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'prescient_future_job' AND sql IS NOT NULL

-- name: reslot_copy
-- ?1 now. What is not on a slot of the new length goes to the next one that has not begun.
INSERT INTO prescient_future_job (id, bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at, priority, check_count,
       failure_count, deferred_at, again_at, run_count, first_run_at_us, total_run_us, payload)
SELECT id, bucket, entity_name, entity_key, job_exec, first_check_at,
       CASE WHEN next_check_at % length_s = 0 THEN next_check_at
            ELSE max((next_check_at / length_s + 1) * length_s, (?1 / length_s + 1) * length_s) END, priority, check_count,
       failure_count, deferred_at, (again_at + length_s - 1) / length_s * length_s, run_count, first_run_at_us, total_run_us, payload
  FROM prescient_future_job_old, (SELECT value AS length_s FROM prescient_setting WHERE name = 'slot_length_s')

-- name: reslot_forget_sequence
DELETE FROM sqlite_sequence WHERE name = 'prescient_future_job'

-- name: reslot_keep_sequence
INSERT INTO sqlite_sequence (name, seq) SELECT 'prescient_future_job', seq FROM sqlite_sequence WHERE name = 'prescient_future_job_old'
