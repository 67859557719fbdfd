-- store_sqlite.sql - all statements of the SQLite store. statements.awk, whose head describes the
-- form of this file, makes C of them. Statements that store_pg.sql has too have the same names, in
-- the same order. Nothing newer than SQLite 3.37. Times are parameters: the caller reads the clock.

-- ---- connection -------------------------------------------------------------------------------

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
-- out: schema_version int8
PRAGMA schema_version

-- name: has_schema
-- out: has bool
SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'prescient_migration') AS has

-- name: schema_version
-- out: version int4, oldest_engine int4, slot_length_s int4
SELECT coalesce(max(version), 0) AS version, coalesce(max(oldest_engine), 0) AS oldest_engine,
       coalesce((SELECT value FROM prescient_setting WHERE name = 'slot_length_s'), 0) AS slot_length_s
  FROM prescient_migration

-- ---- slots and leases -------------------------------------------------------------------------

-- name: slot_state
-- The opening row, and whether the slot was ever run to its end. An empty slot counts as run.
-- in: slot timestamptz
-- out: is_closed bool, is_done bool
SELECT closed_at_us IS NOT NULL AS is_closed,
       opened_rows = 0 OR EXISTS (SELECT 1 FROM prescient_slot_pass AS p WHERE p.slot_at = o.slot_at
                                  AND p.bucket = o.bucket AND p.pass > 0) AS is_done
  FROM prescient_slot_pass AS o WHERE slot_at = :slot AND bucket = -1 AND pass = 0

-- name: slot_count
-- Counts at most :most.
-- in: slot timestamptz, most int8
-- out: n int8
SELECT count(*) AS n FROM (SELECT 1 FROM prescient_future_job WHERE next_check_at = :slot LIMIT :most)

-- name: slot_open
-- in: slot timestamptz, engine text?, rows int8, clock_us timestamptz
INSERT INTO prescient_slot_pass (slot_at, bucket, pass, engine, split, opened_rows, recorded_at_us)
VALUES (:slot, -1, 0, :engine, 1, :rows, :clock_us)

-- name: slot_has_rows
-- :jobs is a JSON array of job names; NULL: all jobs.
-- in: slot timestamptz, jobs text?
-- out: has bool
SELECT EXISTS (SELECT 1 FROM prescient_future_job
                WHERE next_check_at = :slot AND (:jobs IS NULL
                                                 OR job_exec IN (SELECT value FROM json_each(:jobs)))) AS has

-- name: slot_reopen
-- A closed slot has rows again: it needs another look.
-- in: slot timestamptz
UPDATE prescient_slot_pass SET closed_at_us = NULL WHERE slot_at = :slot AND bucket = -1 AND pass = 0
    AND closed_at_us IS NOT NULL

-- name: lease_look
-- in: slot timestamptz
-- out: owner uuid, token int8, expires_at_us timestamptz
SELECT owner, token, expires_at_us FROM prescient_slot_lease WHERE slot_at = :slot AND bucket = -1

-- name: lease_take
-- Replacing a row assigns a new token.
-- in: slot timestamptz, owner uuid, engine text?, clock_us timestamptz, expires_us timestamptz
INSERT OR REPLACE INTO prescient_slot_lease (slot_at, bucket, owner, engine, taken_at_us, expires_at_us)
VALUES (:slot, -1, :owner, :engine, :clock_us, :expires_us)

-- name: lease_held
-- in: slot timestamptz, owner uuid, token int8
-- out: held bool
SELECT EXISTS (SELECT 1 FROM prescient_slot_lease WHERE slot_at = :slot AND bucket = -1 AND owner = :owner
               AND token = :token) AS held

-- name: renew
-- in: slot timestamptz, owner uuid, token int8, expires_us timestamptz
UPDATE prescient_slot_lease SET expires_at_us = :expires_us WHERE slot_at = :slot AND bucket = -1
    AND owner = :owner AND token = :token

-- name: release
-- in: slot timestamptz, owner uuid, token int8
DELETE FROM prescient_slot_lease WHERE slot_at = :slot AND bucket = -1 AND owner = :owner AND token = :token

-- ---- a page -----------------------------------------------------------------------------------

-- name: read_page
-- :after_priority and :after_id are of the last row read.
-- in: slot timestamptz, after_priority int4, after_id int8, want int4
-- out: id int8, priority int4, first_check_at timestamptz, deferred_at timestamptz?,
-- out: check_count int4, failure_count int4, entity_name text, entity_key text, job_exec text,
-- out: payload text?, origin text?, put_off_at timestamptz?
{page_rows}

-- name: plan
-- in: slot timestamptz, after_priority int4, after_id int8, want int4
-- out: id int4, parent int4, notused int4, detail text
EXPLAIN QUERY PLAN {page_rows}

-- part: page_rows
SELECT id, priority, first_check_at, deferred_at, check_count, failure_count, entity_name, entity_key,
       job_exec, payload, origin, put_off_at
  FROM prescient_future_job
 WHERE next_check_at = :slot AND bucket = 0 AND (priority, id) > (:after_priority, :after_id)
 ORDER BY priority, id LIMIT :want

-- The answers of the page are the table prescient_answers (store_sqlite_answers.c): part 0 is all
-- of them; 1 to 3 are the touched ones that end, that move, and that leave a run row. Writers are
-- serial, so the first look stays true until the end.

-- name: settle_look
-- The rows that are as they were read, and whether they were enqueued again meanwhile.
-- out: nth int4, is_again bool
SELECT a.nth, f.again_at IS NOT NULL AS is_again
  FROM prescient_answers AS a CROSS JOIN prescient_future_job AS f
 WHERE a.part = 0 AND f.id = a.id AND f.next_check_at = a.slot_at AND f.check_count = a.read_check_count
   AND f.failure_count = a.read_failure_count

-- name: settle_archive
-- in: engine text?, clock_us timestamptz, ended_us timestamptz
INSERT INTO prescient_future_job_history (check_id, ended_at_us, entity_name, entity_key, job_exec, outcome,
                                          check_count,
       failure_count, run_count, slot_at, first_check_at, first_run_at_us, last_run_at_us, total_run_us,
       last_run_us,
       note, payload, engine, archived_at_us)
SELECT f.id, :ended_us, f.entity_name, f.entity_key, f.job_exec, a.outcome, a.check_count,
       a.failure_count, f.run_count + a.runs, a.slot_at, f.first_check_at,
       coalesce(f.first_run_at_us, a.run_at_us), a.run_at_us,
       f.total_run_us + coalesce(a.run_us, 0), a.run_us, a.note, CASE WHEN a.keeps_payload THEN f.payload END,
       :engine, :clock_us
  FROM prescient_answers AS a CROSS JOIN prescient_future_job AS f
 WHERE a.part = 1 AND f.id = a.id

-- name: settle_anew
-- The check goes on under a new id, at the time in again_at, but not before :open_slot, the first
-- slot that has not begun.
-- in: id int8, open_slot timestamptz, origin text?
INSERT OR REPLACE INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at,
                                             priority, payload, origin)
SELECT entity_name, entity_key, job_exec, max(again_at, :open_slot), max(again_at, :open_slot), priority,
       payload, :origin
  FROM prescient_future_job WHERE id = :id AND again_at IS NOT NULL

-- name: settle_delete
-- Runs after settle_anew: a row with again_at has its new id by then.
DELETE FROM prescient_future_job WHERE id IN (SELECT id FROM prescient_answers WHERE part = 1)

-- name: settle_move
-- To the wanted time or again_at, the earlier one, but not before :open_slot, the first slot that
-- has not begun.
-- in: open_slot timestamptz
UPDATE prescient_future_job
   SET next_check_at = max(min(a.next_at, coalesce(again_at, a.next_at)), :open_slot),
       again_at = CASE WHEN again_at > max(min(a.next_at, again_at), :open_slot) THEN again_at END,
       check_count = a.check_count, failure_count = a.failure_count, deferred_at = a.deferred_at,
       put_off_at = a.put_off_at,
       run_count = prescient_future_job.run_count + a.runs,
       first_run_at_us = coalesce(prescient_future_job.first_run_at_us, a.run_at_us),
       total_run_us = prescient_future_job.total_run_us + coalesce(a.run_us, 0)
  FROM prescient_answers AS a
 WHERE a.part = 2 AND prescient_future_job.id = a.id

-- name: settle_run
-- in: engine text?, clock_us timestamptz
INSERT INTO prescient_future_job_run (check_id, run_at_us, entity_name, entity_key, job_exec, outcome,
                                      check_count, failure_count,
       slot_at, next_check_at, run_us, note, engine, recorded_at_us)
SELECT f.id, a.run_at_us, f.entity_name, f.entity_key, f.job_exec, a.outcome, a.check_count, a.failure_count,
       a.slot_at, f.next_check_at, a.run_us, a.note, :engine, :clock_us
  FROM prescient_answers AS a CROSS JOIN prescient_future_job AS f
 WHERE a.part = 3 AND f.id = a.id

-- name: effect_emit
-- in: event text?, entity text?, key text?, job text?, emitted_us timestamptz, slot timestamptz,
-- in: check_count int4, data text?, clock_us timestamptz
INSERT INTO prescient_event (event, entity_name, entity_key, job_exec, emitted_at_us, slot_at, check_count,
                             data, recorded_at_us)
VALUES (:event, :entity, :key, :job, :emitted_us, :slot, :check_count, :data, :clock_us)

-- name: effect_enqueue
-- in: entity text?, key text?, job text?, at timestamptz, payload text?, conflict text?,
-- in: priority int4, now timestamptz, origin text?
INSERT INTO prescient_enqueue_at (entity_name, entity_key, job_exec, at, payload, conflict, priority, now,
                                  origin)
VALUES (:entity, :key, :job, :at, :payload, :conflict, :priority, :now, :origin)

-- name: finish_look
-- :jobs is a JSON array of jobs whose rows may remain; :after_priority and :after_id are of the
-- last row read.
-- in: slot timestamptz, jobs text?, after_priority int4, after_id int8
-- out: has bool
SELECT EXISTS (SELECT 1 FROM prescient_future_job
                WHERE next_check_at = :slot AND bucket = 0 AND (priority, id) > (:after_priority, :after_id)
                  AND job_exec NOT IN (SELECT value FROM json_each(:jobs))) AS has

-- name: finish
-- :can_read is false when rows cannot be read: then the jobs of the remaining rows are unknown.
-- in: slot timestamptz, engine text?, late_us int8, took_us int8, clock_us timestamptz,
-- in: {counts int8}, can_read bool
INSERT INTO prescient_slot_pass (slot_at, bucket, pass, engine, split, late_us, took_us, recorded_at_us,
                                 {counts}, left_jobs)
SELECT :slot, -1, 1 + coalesce(max(pass), 0), :engine, 1, :late_us, :took_us, :clock_us, {values_of_counts},
       CASE WHEN :can_read THEN (SELECT group_concat(job_exec, ', ')
                             FROM (SELECT DISTINCT job_exec FROM prescient_future_job
                                   WHERE next_check_at = :slot ORDER BY job_exec)) END
  FROM prescient_slot_pass WHERE slot_at = :slot AND bucket = -1

-- ---- slots that are not over ------------------------------------------------------------------

-- name: relook_close
-- Writers are serial: a row that this look does not see cannot be committed later.
-- in: clock_us timestamptz
UPDATE prescient_slot_pass AS o SET closed_at_us = :clock_us
 WHERE pass = 0 AND closed_at_us IS NULL
   AND (opened_rows = 0 OR EXISTS (SELECT 1 FROM prescient_slot_pass AS p WHERE p.slot_at = o.slot_at
                                   AND p.bucket = o.bucket AND p.pass > 0))
   AND NOT EXISTS (SELECT 1 FROM prescient_future_job WHERE next_check_at = o.slot_at)

-- name: relook_leases
-- No engine takes over a lease on a closed slot whose engine died.
-- in: clock_us timestamptz
DELETE FROM prescient_slot_lease
 WHERE expires_at_us <= :clock_us
   AND EXISTS (SELECT 1 FROM prescient_slot_pass AS o WHERE o.slot_at = prescient_slot_lease.slot_at
               AND o.pass = 0 AND o.closed_at_us IS NOT NULL)

-- name: relook
-- in: want int4
-- out: slot_at timestamptz, has_rows bool, is_undone bool
SELECT slot_at, EXISTS (SELECT 1 FROM prescient_future_job WHERE next_check_at = o.slot_at) AS has_rows,
       NOT (opened_rows = 0 OR EXISTS (SELECT 1 FROM prescient_slot_pass AS p WHERE p.slot_at = o.slot_at
                                       AND p.bucket = o.bucket AND p.pass > 0)) AS is_undone
  FROM prescient_slot_pass AS o WHERE pass = 0 AND closed_at_us IS NULL ORDER BY slot_at LIMIT :want

-- name: late_slot
-- in: from timestamptz, before timestamptz
-- out: slot timestamptz?
SELECT min(next_check_at) AS slot FROM prescient_future_job WHERE next_check_at >= :from
       AND next_check_at < :before

-- name: swept_until
-- out: value int8
SELECT value FROM prescient_setting WHERE name = 'swept_until'

-- name: full_look_at
-- out: value int8
SELECT coalesce(max(value), 0) AS value FROM prescient_setting WHERE name = 'full_look_at'

-- name: note_full_look
-- in: now timestamptz
INSERT INTO prescient_setting (name, value) VALUES ('full_look_at', :now) ON CONFLICT (name)
    DO UPDATE SET value = excluded.value

-- name: mark_swept
-- The mark never moves down, unless it is ahead of the clock.
-- in: slot timestamptz, now timestamptz
UPDATE prescient_setting SET value = :slot WHERE name = 'swept_until' AND (value < :slot OR value > :now)

-- ---- enqueue and load -------------------------------------------------------------------------

-- name: pending_row
-- in: entity text?, key text?, job text?
-- out: id int8, next_check_at timestamptz, again_at timestamptz?
SELECT id, next_check_at, again_at FROM prescient_future_job
 WHERE bucket = 0 AND entity_name = :entity AND entity_key = :key AND job_exec = :job

-- name: enqueue
-- All but :now as text.
-- in: entity text?, key text?, job text?, at text?, payload text?, conflict text?, priority text?,
-- in: now timestamptz
INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload, conflict, priority, now)
VALUES (:entity, :key, :job, :at, :payload, :conflict, CAST(:priority AS INTEGER), :now)

-- name: pending_count
-- :job NULL: all jobs.
-- in: entity text?, key text?, job text?
-- out: n int8
SELECT count(*) AS n FROM prescient_future_job
 WHERE bucket = 0 AND entity_name = :entity AND entity_key = :key AND (:job IS NULL OR job_exec = :job)

-- name: resolve
-- :now NULL: the clock.
-- in: entity text?, key text?, job text?, now timestamptz?
INSERT INTO prescient_resolve (entity_name, entity_key, job_exec, now) VALUES (:entity, :key, :job, :now)

-- name: reschedule
-- in: entity text?, key text?, job text?, at text?, now timestamptz
INSERT INTO prescient_reschedule (entity_name, entity_key, job_exec, check_at, now)
    VALUES (:entity, :key, :job, :at, :now)

-- part: failed_history
outcome IN ('failed', 'timeout', 'crashed', 'bad_answer', 'unknown_job')

-- name: retry
-- max(id) picks the row whose payload is used. Checks that have ended well since are skipped, by
-- one look at the rows after the oldest failure. The columns are parameters of `enqueue`.
-- in: entity text?, key text?, job text?, since text?, most text?
-- out: entity text, key text, job text, payload text?, newest int8
WITH failure AS MATERIALIZED (
    SELECT entity_name, entity_key, job_exec, payload, max(id) AS newest
      FROM prescient_future_job_history
     WHERE {failed_history}
       AND ended_at_us >= coalesce(CAST(:since AS INTEGER), 0) * 1000000
       AND (:entity IS NULL OR entity_name = :entity) AND (:key IS NULL OR entity_key = :key)
       AND (:job IS NULL OR job_exec = :job)
     GROUP BY entity_name, entity_key, job_exec),
mended AS MATERIALIZED (
    SELECT DISTINCT f.newest
      FROM prescient_future_job_history h
      JOIN failure f ON f.entity_key = h.entity_key AND f.entity_name = h.entity_name
          AND f.job_exec = h.job_exec AND f.newest < h.id
     WHERE h.id > (SELECT min(newest) FROM failure) AND NOT {failed_history})
SELECT entity_name AS entity, entity_key AS key, job_exec AS job, payload, newest
  FROM failure
 WHERE newest NOT IN (SELECT newest FROM mended)
 ORDER BY newest DESC LIMIT coalesce(CAST(:most AS INTEGER), -1)

-- name: load_new
-- in: entity text?, key text?, job text?, slot timestamptz, priority int4, payload text?
INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at, priority,
                                  payload)
VALUES (:entity, :key, :job, :slot, :slot, :priority, :payload)
    ON CONFLICT (bucket, entity_name, entity_key, job_exec) DO NOTHING

-- ---- reports ----------------------------------------------------------------------------------

-- Parameters are text, NULL when not given; limits, times and ids are cast here.

-- name: list
-- :most_looked_at: how many checks to read in the order of slots, NULL: all. Checks of one key are
-- found by the key, and so are all checks of an entity that has at most a thousand. Otherwise
-- checks are read in order; if :most_looked_at ended that, a last row without an entity has the
-- slot where it ended.
-- in: entity text?, key text?, job text?, from text?, before text?, most text?,
-- in: most_looked_at text?
-- out: next_check_at timestamptz, entity_name text?, entity_key text?, job_exec text?,
-- out: check_count int4?, failure_count int4?, priority int4?, first_check_at timestamptz?,
-- out: again_at timestamptz?, put_off_at timestamptz?, payload text?
-- report
WITH few AS MATERIALIZED (
    SELECT * FROM prescient_future_job
     WHERE :entity IS NOT NULL AND bucket = 0 AND entity_name = :entity
       AND entity_key BETWEEN coalesce(:key, '') AND coalesce(:key, x'')
     LIMIT CASE WHEN :key IS NULL THEN 1001 ELSE -1 END),
served AS MATERIALIZED (
    SELECT :entity IS NOT NULL AND (:key IS NOT NULL OR (SELECT count(*) FROM few) <= 1000) AS by_key),
found AS MATERIALIZED (
    SELECT * FROM (
        SELECT * FROM few
         WHERE (SELECT by_key FROM served) AND (:job IS NULL OR job_exec = :job)
           AND next_check_at >= coalesce(CAST(:from AS INTEGER), 0)
           AND next_check_at < coalesce(CAST(:before AS INTEGER), 253402300800)
         ORDER BY next_check_at, bucket, priority, id LIMIT coalesce(CAST(:most AS INTEGER), -1))
    UNION ALL
    SELECT * FROM (
        SELECT * FROM (
            SELECT * FROM prescient_future_job
             WHERE NOT (SELECT by_key FROM served)
               AND next_check_at >= coalesce(CAST(:from AS INTEGER), 0)
               AND next_check_at < coalesce(CAST(:before AS INTEGER), 253402300800)
             ORDER BY next_check_at, bucket, priority, id
                 LIMIT coalesce(CAST(:most_looked_at AS INTEGER), -1))
         WHERE (:entity IS NULL OR entity_name = :entity) AND (:key IS NULL OR entity_key = :key)
           AND (:job IS NULL OR job_exec = :job)
         LIMIT coalesce(CAST(:most AS INTEGER), -1))),
ended AS (
    SELECT next_check_at FROM prescient_future_job
     WHERE :most_looked_at IS NOT NULL AND NOT (SELECT by_key FROM served)
       AND (SELECT count(*) FROM found) < CAST(:most AS INTEGER)
       AND next_check_at >= coalesce(CAST(:from AS INTEGER), 0)
       AND next_check_at < coalesce(CAST(:before AS INTEGER), 253402300800)
     ORDER BY next_check_at, bucket, priority, id LIMIT 1 OFFSET coalesce(CAST(:most_looked_at AS INTEGER),
         0))
SELECT next_check_at, entity_name, entity_key, job_exec, check_count, failure_count, priority, first_check_at,
       again_at, put_off_at, payload
  FROM (SELECT next_check_at, entity_name, entity_key, job_exec, check_count, failure_count, priority,
        first_check_at, again_at, put_off_at, payload, bucket, id
          FROM found
        UNION ALL
        SELECT next_check_at, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
          FROM ended)
 ORDER BY entity_name IS NULL, next_check_at, bucket, priority, id

-- name: history
-- in: entity text?, key text?, job text?, outcome text?, since text?, before text?, most text?
-- out: ended_at_us timestamptz, entity_name text, entity_key text, job_exec text, outcome text,
-- out: guard text?, check_number int8, check_count int4, failure_count int4, run_count int4,
-- out: slot_at timestamptz,
-- out: first_check_at timestamptz, first_run_at_us timestamptz?, last_run_at_us timestamptz?,
-- out: total_run_us int8, last_run_us int8?, note text?, payload text?, engine text?,
-- out: archived_at_us timestamptz
-- report
SELECT ended_at_us, entity_name, entity_key, job_exec, outcome,
       CASE WHEN outcome IN ('past', 'beyond_horizon', 'max_checks', 'deferred_out', 'unknown_job')
            THEN outcome
            WHEN {failed_history} THEN 'max_failures' END AS guard,
       check_count + (outcome NOT IN ('resolved', 'unknown_job') OR failure_count > 0) AS check_number,
       check_count, failure_count, run_count, slot_at, first_check_at, first_run_at_us, last_run_at_us,
       total_run_us, last_run_us,
       note, payload, engine, archived_at_us
  FROM prescient_future_job_history
 WHERE (:entity IS NULL OR entity_name = :entity) AND (:key IS NULL OR entity_key = :key)
   AND (:job IS NULL OR job_exec = :job)
   AND (:outcome IS NULL OR outcome = :outcome) AND (:since IS NULL
                                                     OR ended_at_us >= CAST(:since AS INTEGER) * 1000000)
   AND (:before IS NULL OR ended_at_us < CAST(:before AS INTEGER) * 1000000)
 ORDER BY id DESC LIMIT coalesce(CAST(:most AS INTEGER), -1)

-- name: runs
-- in: entity text?, key text?, job text?, outcome text?, since text?, before text?, most text?
-- out: run_at_us timestamptz, entity_name text, entity_key text, job_exec text, outcome text,
-- out: check_number int8, failure_count int4, slot_at timestamptz, next_check_at timestamptz?,
-- out: run_us int8, note text?, engine text?
-- report
SELECT run_at_us, entity_name, entity_key, job_exec, outcome,
       check_count + (outcome <> 'again') AS check_number, failure_count, slot_at,
       next_check_at, run_us, note, engine
  FROM prescient_future_job_run
 WHERE (:entity IS NULL OR entity_name = :entity) AND (:key IS NULL OR entity_key = :key)
   AND (:job IS NULL OR job_exec = :job)
   AND (:outcome IS NULL OR outcome = :outcome) AND (:since IS NULL
                                                     OR run_at_us >= CAST(:since AS INTEGER) * 1000000)
   AND (:before IS NULL OR run_at_us < CAST(:before AS INTEGER) * 1000000)
 ORDER BY id DESC LIMIT coalesce(CAST(:most AS INTEGER), -1)

-- name: slots
-- :recent: closed and empty slots only from this time on, NULL: all. It goes from slot to slot by
-- one step of an index each; only the listed slots are counted.
-- in: from text?, before text?, most text?, recent text?
-- out: slot_at timestamptz, checks int8, state text, late_us int8?, run int8?, done int8?,
-- out: again int8?, failed int8?, is_estimate bool
-- report
WITH RECURSIVE
bounds AS MATERIALIZED (
    SELECT coalesce(CAST(:from AS INTEGER), 0) AS first,
           coalesce(CAST(:before AS INTEGER), 253402300800) AS last,
           CASE WHEN CAST(:most AS INTEGER) >= 0 THEN CAST(:most AS INTEGER)
               ELSE 9223372036854775807 END AS most, coalesce(CAST(:recent AS INTEGER), 0) AS recent),
filed (slot_at, n) AS (
    SELECT (SELECT min(next_check_at) FROM prescient_future_job WHERE next_check_at >= first
            AND next_check_at < last), 1 FROM bounds
    UNION ALL
    SELECT (SELECT min(f.next_check_at) FROM prescient_future_job AS f WHERE f.next_check_at > filed.slot_at
            AND f.next_check_at < last), n + 1
      FROM filed, bounds WHERE filed.slot_at IS NOT NULL AND n < most),
opened (slot_at, n) AS (
    SELECT (SELECT min(slot_at) FROM prescient_slot_pass WHERE slot_at >= max(first, recent)
            AND slot_at < last), 1 FROM bounds
    UNION ALL
    SELECT (SELECT min(p.slot_at) FROM prescient_slot_pass AS p WHERE p.slot_at > opened.slot_at
            AND p.slot_at < last), n + 1
      FROM opened, bounds WHERE opened.slot_at IS NOT NULL AND n < most),
chosen AS MATERIALIZED (
    SELECT slot_at FROM (
        SELECT slot_at FROM filed
        UNION
        SELECT slot_at FROM opened
        UNION
        SELECT slot_at FROM prescient_slot_pass, bounds WHERE pass = 0 AND closed_at_us IS NULL
               AND slot_at >= first AND slot_at < min(last, recent))
     WHERE slot_at IS NOT NULL ORDER BY slot_at LIMIT (SELECT most FROM bounds)),
known AS (
    SELECT p.slot_at, max(CASE WHEN pass = 0 THEN CASE WHEN closed_at_us IS NOT NULL THEN 3
                          WHEN opened_rows = 0 THEN 2 ELSE 1 END
                               ELSE 2 END) AS state,
           max(late_us) AS late_us, sum(run) AS run, sum(done) AS done, sum(again) AS again,
           sum(failed + timeout + crashed) AS failed
      FROM chosen AS c CROSS JOIN prescient_slot_pass AS p WHERE p.slot_at = c.slot_at
     GROUP BY p.slot_at)
SELECT c.slot_at, (SELECT count(*) FROM prescient_future_job AS f
                   WHERE f.next_check_at = c.slot_at) AS checks,
       CASE coalesce(state, 0) WHEN 0 THEN 'pending' WHEN 1 THEN 'open' WHEN 2 THEN 'relook'
           ELSE 'closed' END AS state,
       late_us, run, done, again, failed, 0 AS is_estimate
  FROM chosen AS c LEFT JOIN known ON known.slot_at = c.slot_at
 ORDER BY c.slot_at

-- name: passes
-- in: from text?, before text?, most text?
-- out: slot_at timestamptz, bucket int2, pass int4, engine text?, split int2, {counts int8},
-- out: late_us int8?, took_us int8?, left_jobs text?, recorded_at_us timestamptz
-- report
SELECT slot_at, bucket, pass, engine, split, {counts}, late_us, took_us, left_jobs, recorded_at_us
  FROM prescient_slot_pass
 WHERE slot_at >= coalesce(CAST(:from AS INTEGER), 0) AND slot_at < coalesce(CAST(:before AS INTEGER),
     253402300800)
 ORDER BY slot_at DESC, bucket DESC, pass DESC LIMIT coalesce(CAST(:most AS INTEGER), -1)

-- name: status
-- in: now text?, clock_us timestamptz
-- out: now_at timestamptz, slot_length_s int4, schema_version int4, pending int8, is_estimate bool,
-- out: due int8, overdue int8, oldest_overdue_at timestamptz?, next_slot_at timestamptz?,
-- out: leases int8, unclosed_slots int8, oldest_unclosed_at timestamptz?,
-- out: oldest_transaction_us int8?, transactions_since int8?, prepared_transactions int8?,
-- out: history_rows int8, events_withheld int8, withheld_by text?, withheld_us int8?,
-- out: withheld_advice text?
-- report
WITH this AS (
    SELECT now, length_s, now / length_s * length_s AS slot
      FROM (SELECT coalesce(CAST(:now AS INTEGER), :clock_us / 1000000) AS now, value AS length_s
              FROM prescient_setting WHERE name = 'slot_length_s'))
SELECT now AS now_at, length_s AS slot_length_s, (SELECT max(version)
                                                  FROM prescient_migration) AS schema_version,
       (SELECT count(*) FROM prescient_future_job) AS pending, 0 AS is_estimate,
       (SELECT count(*) FROM (SELECT 1 FROM prescient_future_job WHERE next_check_at = slot LIMIT 1000000))
       AS due,
       (SELECT count(*) FROM (SELECT 1 FROM prescient_future_job WHERE next_check_at < slot LIMIT 1000000))
       + (SELECT count(*) FILTER (WHERE next_check_at >= slot) FROM ({first_put_off})) AS overdue,
       (SELECT min(at) FROM (SELECT min(next_check_at) AS at FROM prescient_future_job
                              WHERE next_check_at < slot
                             UNION ALL
                             SELECT min(put_off_at) FROM prescient_future_job
                              WHERE put_off_at IS NOT NULL)) AS oldest_overdue_at,
       (SELECT min(next_check_at) FROM prescient_future_job WHERE next_check_at > now) AS next_slot_at,
       (SELECT count(*) FROM prescient_slot_lease) AS leases,
       (SELECT count(*) FROM prescient_slot_pass WHERE pass = 0 AND closed_at_us IS NULL) AS unclosed_slots,
       (SELECT min(slot_at) FROM prescient_slot_pass WHERE pass = 0
        AND closed_at_us IS NULL) AS oldest_unclosed_at,
       NULL AS oldest_transaction_us, NULL AS transactions_since, NULL AS prepared_transactions,
       (SELECT coalesce(max(id) - min(id) + 1, 0) FROM prescient_future_job_history) AS history_rows,
       0 AS events_withheld, NULL AS withheld_by, NULL AS withheld_us, NULL AS withheld_advice
  FROM this

-- part: first_put_off
SELECT put_off_at, next_check_at, job_exec FROM prescient_future_job
 WHERE put_off_at IS NOT NULL ORDER BY put_off_at LIMIT 100001

-- name: put_off
-- See the same block of store_pg.sql.
-- in: most text?
-- out: job_exec text, checks int8, since_at timestamptz, total int8
-- report
WITH first AS MATERIALIZED ({first_put_off})
SELECT job_exec, count(*) AS checks, min(put_off_at) AS since_at,
       (SELECT count(*) FROM first) AS total
  FROM first GROUP BY job_exec ORDER BY checks DESC, since_at, job_exec
 LIMIT coalesce(CAST(:most AS INTEGER), -1)

-- name: leases
-- in: clock_us timestamptz
-- out: slot_at timestamptz, bucket int2, engine text?, token int8, expires_at_us timestamptz,
-- out: is_expired bool
-- report
SELECT slot_at, bucket, engine, token, expires_at_us, expires_at_us <= :clock_us AS is_expired
  FROM prescient_slot_lease ORDER BY slot_at, bucket

-- name: growth
-- Uses the first and last ids of the tables, which have few gaps; passes are counted up to a limit.
-- out: what text, rows int8, bytes int8?, oldest_at timestamptz?
-- report
SELECT 'history' AS what, coalesce(max(id) - min(id) + 1, 0) AS rows, NULL AS bytes,
       (SELECT archived_at_us / 1000000 FROM prescient_future_job_history ORDER BY id LIMIT 1) AS oldest_at
       FROM prescient_future_job_history
UNION ALL
SELECT 'runs', coalesce(max(id) - min(id) + 1, 0), NULL,
       (SELECT recorded_at_us / 1000000 FROM prescient_future_job_run ORDER BY id LIMIT 1)
       FROM prescient_future_job_run
UNION ALL
SELECT 'events', coalesce(max(id) - min(id) + 1, 0), NULL,
       (SELECT coalesce(recorded_at_us, emitted_at_us) / 1000000 FROM prescient_event ORDER BY id LIMIT 1)
       FROM prescient_event
UNION ALL
SELECT 'passes', (SELECT count(*) FROM (SELECT 1 FROM prescient_slot_pass LIMIT 100000)), NULL,
       (SELECT recorded_at_us / 1000000 FROM prescient_slot_pass ORDER BY slot_at LIMIT 1)

-- name: jobs_pending
-- out: job_exec text, checks int8, next_check_at timestamptz, is_estimate bool
-- report
SELECT job_exec, count(*) AS checks, min(next_check_at) AS next_check_at, 0 AS is_estimate
  FROM prescient_future_job GROUP BY job_exec ORDER BY job_exec

-- name: events_handed_out
-- The greatest id that an event of this file ever had.
-- out: id int8
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'prescient_event'), 0) AS id

-- name: events
-- in: after_id text?, most text?
-- out: cursor text, event text, entity_name text?, entity_key text?, job_exec text?,
-- out: emitted_at_us timestamptz, slot_at timestamptz?, check_number int8?, data text?
SELECT '0-0-' || id AS cursor, event, entity_name, entity_key, job_exec, emitted_at_us, slot_at,
       check_count + 1 AS check_number, data
  FROM prescient_event WHERE id > coalesce(CAST(:after_id AS INTEGER), 0)
 ORDER BY id LIMIT coalesce(CAST(:most AS INTEGER), -1)

-- name: withheld
-- A file has one writer at a time: an event waits for nobody once it is committed.
-- out: events_withheld int8, withheld_by text?, withheld_us int8?, withheld_advice text?,
-- out: withheld_xid text?
-- report
SELECT 0 AS events_withheld, NULL AS withheld_by, NULL AS withheld_us, NULL AS withheld_advice,
       NULL AS withheld_xid

-- name: events_end
-- out: cursor text
-- report
SELECT '0-0-' || coalesce(max(id), 0) AS cursor FROM prescient_event

-- ---- doctor -----------------------------------------------------------------------------------

-- Each look is a statement of its own (store_sqlite_doctor.c).

-- name: doctor_overdue
-- in: now text?, clock_us timestamptz
-- out: what text, level text, found text, advice text
WITH this AS (
    SELECT now / value * value AS slot FROM (SELECT coalesce(CAST(:now AS INTEGER),
           :clock_us / 1000000) AS now), prescient_setting
     WHERE name = 'slot_length_s'),
overdue AS (
    SELECT count(*) AS n, min(next_check_at) AS oldest
      FROM (SELECT next_check_at FROM prescient_future_job, this WHERE next_check_at < slot
            ORDER BY next_check_at LIMIT 1000000))
SELECT 'overdue checks' AS what, CASE WHEN n = 0 THEN 'ok' ELSE 'warn' END AS level,
       n || coalesce(', the oldest of ' || datetime(oldest, 'unixepoch'), '') AS found,
       CASE WHEN n = 0 THEN '' ELSE 'run prescient sweep, or prescient reslot to move them' END AS advice
           FROM overdue

-- name: doctor_below
-- out: what text, level text, found text, advice text
SELECT 'checks below the mark of the sweep' AS what, CASE WHEN n = 0 THEN 'ok' ELSE 'warn' END AS level,
       n AS found,
       CASE WHEN n = 0 THEN ''
           ELSE 'put there by hand or by a clock that jumped; a full look, once an hour, finds them' END
               AS advice
  FROM (SELECT count(*) AS n FROM (SELECT 1 FROM prescient_future_job
                                    WHERE next_check_at < (SELECT value FROM prescient_setting
                                                           WHERE name = 'swept_until') LIMIT 1000000))

-- name: doctor_leases
-- in: clock_us timestamptz
-- out: what text, level text, found text, advice text
SELECT 'leases that have expired' AS what, CASE WHEN n = 0 THEN 'ok' ELSE 'warn' END AS level, n AS found,
       CASE WHEN n = 0 THEN '' ELSE 'an engine died; the next run takes its slots over' END AS advice
  FROM (SELECT count(*) AS n FROM prescient_slot_lease WHERE expires_at_us <= :clock_us)

-- name: doctor_open
-- in: now text?, clock_us timestamptz
-- out: what text, level text, found text, advice text
WITH this AS (
    SELECT now / value * value AS slot FROM (SELECT coalesce(CAST(:now AS INTEGER),
           :clock_us / 1000000) AS now), prescient_setting
     WHERE name = 'slot_length_s')
SELECT 'slots that stay open' AS what, CASE WHEN n = 0 THEN 'ok' ELSE 'warn' END AS level,
       n || coalesce(', the oldest of ' || datetime(oldest, 'unixepoch'), '') AS found,
       CASE WHEN n = 0 THEN ''
           ELSE 'opened over a day ago and not closed yet: a sweep closes what holds no checks any more' END
               AS advice
  FROM (SELECT count(*) AS n, min(slot_at) AS oldest FROM prescient_slot_pass, this WHERE pass = 0
        AND closed_at_us IS NULL AND slot_at < slot - 86400)

-- name: doctor_engines
-- in: now text?, clock_us timestamptz
-- out: what text, level text, found text, advice text
WITH this AS (
    SELECT now / value * value AS slot FROM (SELECT coalesce(CAST(:now AS INTEGER),
           :clock_us / 1000000) AS now), prescient_setting
     WHERE name = 'slot_length_s'),
newest AS (
    SELECT slot_at, engine FROM prescient_slot_pass WHERE pass > 0
     ORDER BY slot_at DESC, bucket DESC, pass DESC LIMIT 1),
missing AS (
    SELECT coalesce((SELECT min(next_check_at) FROM prescient_future_job) < slot - 86400, 0)
           AND coalesce((SELECT slot_at FROM newest) < slot - 86400, 1) AS is_so FROM this)
SELECT 'last pass' AS what, CASE WHEN is_so THEN 'warn' ELSE 'ok' END AS level,
       coalesce((SELECT 'over the slot ' || datetime(slot_at, 'unixepoch') || ', by ' || engine FROM newest),
                'none yet') AS found,
       CASE WHEN is_so THEN 'checks were due, and no engine has run for a day: start prescient daemon, or '
            || 'let cron call prescient run' ELSE '' END AS advice
  FROM missing

-- name: doctor_trouble
-- Flat: of short slots, the newest.
-- in: now text?, clock_us timestamptz
-- out: what text, level text, found text, advice text
WITH this AS (
    SELECT now / value * value AS slot FROM (SELECT coalesce(CAST(:now AS INTEGER),
           :clock_us / 1000000) AS now), prescient_setting
     WHERE name = 'slot_length_s'),
trouble AS (
    SELECT coalesce(sum(failed), 0) AS failed, coalesce(sum(timeout), 0) AS timeout,
           coalesce(sum(crashed), 0) AS crashed
      FROM (SELECT failed, timeout, crashed FROM prescient_slot_pass
             WHERE slot_at >= (SELECT slot - 86400 FROM this) ORDER BY slot_at DESC LIMIT 1000))
SELECT 'runs in trouble' AS what, CASE WHEN failed + timeout + crashed = 0 THEN 'ok' ELSE 'warn' END AS level,
       CASE WHEN failed + timeout + crashed = 0 THEN 'none in the newest passes of the last day'
            ELSE failed || ' failed, ' || timeout || ' took too long, ' || crashed
                 || ' crashed in the newest passes of the last day' END AS found,
       CASE WHEN failed + timeout + crashed = 0 THEN ''
            ELSE 'prescient history --outcome failed --since -1d shows checks that ended so, and why; '
                 || 'prescient runs --since -1d those that are tried again' END AS advice
  FROM trouble

-- name: doctor_calls
-- out: what text, level text, found text, advice text
SELECT 'calls of applications' AS what, CASE WHEN absent IS NULL THEN 'ok' ELSE 'error' END AS level,
       coalesce('these views or their triggers were dropped: ' || absent, 'there') AS found,
       CASE WHEN absent IS NULL THEN '' ELSE 'applications cannot use them: restore them from a copy of '
            || 'this file, or from a new one that prescient init makes' END AS advice
  FROM (SELECT group_concat(name, ', ') AS absent
          FROM (SELECT 'prescient_enqueue' AS name UNION ALL SELECT 'prescient_resolve'
                UNION ALL SELECT 'prescient_reschedule') AS w
         WHERE NOT EXISTS (SELECT 1 FROM sqlite_schema AS s WHERE s.name = w.name AND s.type = 'view')
            OR NOT EXISTS (SELECT 1 FROM sqlite_schema AS s
                            WHERE s.type = 'trigger' AND s.tbl_name = w.name))

-- name: doctor_room
-- out: what text, level text, found text, advice text
SELECT 'room in the file' AS what, CASE WHEN wasted THEN 'warn' ELSE 'ok' END AS level,
       freelist_count || ' of ' || page_count || ' pages are free' AS found,
       CASE WHEN wasted THEN 'VACUUM gives them back to the disk' ELSE '' END AS advice
  FROM (SELECT page_count, freelist_count, freelist_count > 25000
        AND freelist_count > page_count / 2 AS wasted
          FROM pragma_page_count, pragma_freelist_count)

-- name: file_size
-- out: bytes int8
SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size

-- name: whole
-- Reads the whole file, under a lock that blocks the commits of a rollback journal. Without an
-- argument: from 3.46 on it would be taken as a table's name.
-- out: what text, level text, found text, advice text
SELECT 'file is whole' AS what, CASE found WHEN 'ok' THEN 'ok' ELSE 'error' END AS level, found,
       CASE found WHEN 'ok' THEN ''
           ELSE 'stop everything that writes to the file, keep a copy, restore a backup or use '
                 || 'sqlite3 .recover' END AS advice
  FROM (SELECT quick_check AS found FROM pragma_quick_check LIMIT 1)

-- ---- prune ------------------------------------------------------------------------------------

-- Rows are in the order in which they were written, so the old ones are first. Each transaction
-- deletes a few thousand of them, until the first ones are young.

-- name: prune_history
-- in: before_us timestamptz
DELETE FROM prescient_future_job_history
 WHERE id < (SELECT min(id) FROM prescient_future_job_history) + 5000 AND archived_at_us < :before_us

-- name: prune_runs
-- in: before_us timestamptz
DELETE FROM prescient_future_job_run
 WHERE id < (SELECT min(id) FROM prescient_future_job_run) + 5000 AND recorded_at_us < :before_us

-- name: prune_passes
-- Only of slots that are over: closed, without rows and without a lease.
-- in: before_us timestamptz
DELETE FROM prescient_slot_pass
 WHERE slot_at IN (SELECT slot_at FROM prescient_slot_pass AS o
                    WHERE pass = 0 AND closed_at_us IS NOT NULL AND slot_at < :before_us / 1000000
                      AND recorded_at_us < :before_us
                      AND NOT EXISTS (SELECT 1 FROM prescient_future_job WHERE next_check_at = o.slot_at)
                      AND NOT EXISTS (SELECT 1 FROM prescient_slot_lease AS l WHERE l.slot_at = o.slot_at)
                    ORDER BY slot_at LIMIT 2000)

-- name: prune_events
-- in: before_us timestamptz
DELETE FROM prescient_event
 WHERE id < (SELECT min(id) FROM prescient_event) + 5000
   AND coalesce(recorded_at_us, emitted_at_us) < :before_us

-- name: prune_history_count
-- in: before_us timestamptz
-- out: n int8
SELECT count(*) AS n FROM prescient_future_job_history WHERE archived_at_us < :before_us

-- name: prune_runs_count
-- in: before_us timestamptz
-- out: n int8
SELECT count(*) AS n FROM prescient_future_job_run WHERE recorded_at_us < :before_us

-- name: prune_passes_count
-- in: before_us timestamptz
-- out: n int8
SELECT count(*) AS n FROM prescient_slot_pass
 WHERE slot_at IN (SELECT slot_at FROM prescient_slot_pass AS o
                    WHERE pass = 0 AND closed_at_us IS NOT NULL AND slot_at < :before_us / 1000000
                      AND recorded_at_us < :before_us
                      AND NOT EXISTS (SELECT 1 FROM prescient_future_job WHERE next_check_at = o.slot_at)
                      AND NOT EXISTS (SELECT 1 FROM prescient_slot_lease AS l WHERE l.slot_at = o.slot_at))

-- name: prune_events_count
-- in: before_us timestamptz
-- out: n int8
SELECT count(*) AS n FROM prescient_event WHERE coalesce(recorded_at_us, emitted_at_us) < :before_us

-- name: prune_claim
-- One engine gets its turn in :turn_s seconds; see the same block of store_pg.sql.
-- in: now timestamptz, turn_s int8
INSERT INTO prescient_setting (name, value) VALUES ('pruned_at', :now)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE value NOT BETWEEN excluded.value - :turn_s
    AND excluded.value

-- ---- migrate ----------------------------------------------------------------------------------

-- name: migration_find
-- in: version int4
-- out: checksum text
SELECT checksum FROM prescient_migration WHERE version = :version

-- name: migration_add
-- in: version int4, name text?, checksum text?, oldest_engine int4, clock_us timestamptz
INSERT INTO prescient_migration (version, name, checksum, oldest_engine, applied_at_us)
    VALUES (:version, :name, :checksum, :oldest_engine, :clock_us)

-- name: slot_length
-- out: length_s int4
SELECT value AS length_s FROM prescient_setting WHERE name = 'slot_length_s'

-- name: set_slot_length
-- in: length_s int4
UPDATE prescient_setting SET value = :length_s WHERE name = 'slot_length_s'

-- name: reslot_leases
-- in: clock_us timestamptz
-- out: n int8
SELECT count(*) AS n FROM prescient_slot_lease WHERE expires_at_us > :clock_us

-- name: reslot_schema
-- out: table_sql text?, indexes_sql text?
SELECT (SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'prescient_future_job') AS table_sql,
       (SELECT group_concat(sql, '; ') FROM sqlite_schema
         WHERE type = 'index' AND tbl_name = 'prescient_future_job' AND sql IS NOT NULL) AS indexes_sql

-- name: reslot_set_aside
-- script
PRAGMA legacy_alter_table = ON;
ALTER TABLE prescient_future_job RENAME TO prescient_future_job_old;
PRAGMA legacy_alter_table = OFF

-- name: reslot_copy
-- A check that is not on a slot of the new length goes to the next slot that has not begun.
-- in: now timestamptz
INSERT INTO prescient_future_job (next_check_at, again_at, {all_but_slots})
SELECT CASE WHEN next_check_at % length_s = 0 THEN next_check_at
            ELSE max((next_check_at / length_s + 1) * length_s, (:now / length_s + 1) * length_s) END,
       (again_at + length_s - 1) / length_s * length_s, {all_but_slots}
  FROM prescient_future_job_old, (SELECT value AS length_s FROM prescient_setting
                                  WHERE name = 'slot_length_s')

-- part: all_but_slots
id, bucket, entity_name, entity_key, job_exec, first_check_at, priority, check_count, failure_count,
       deferred_at, run_count, first_run_at_us, total_run_us, payload, origin, put_off_at

-- name: reslot_forget_sequence
DELETE FROM sqlite_sequence WHERE name = 'prescient_future_job'

-- name: reslot_keep_sequence
INSERT INTO sqlite_sequence (name, seq) SELECT 'prescient_future_job', seq FROM sqlite_sequence
    WHERE name = 'prescient_future_job_old'

-- name: reslot_drop_old
DROP TABLE prescient_future_job_old
