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

-- name: migration_names
-- A blank between them.
-- out: names text
SELECT coalesce((SELECT group_concat(name, ' ') FROM (SELECT name FROM prescient_migration ORDER BY version)),
                '') AS names

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

-- name: slot_is_resumed
-- The slot of a pause never begins. It is opened when the pause was resumed, until it is over.
-- in: slot timestamptz
-- out: yes bool
SELECT EXISTS (SELECT 1 FROM prescient_pause WHERE slot_at = :slot AND resumed_at_us IS NOT NULL
               AND ended_at_us IS NULL) AS yes

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

-- name: count_given_back
-- What was run under a lease that was given back is added to the slot's opening row.
-- in: slot timestamptz, {counts int8}
UPDATE prescient_slot_pass SET {added_counts}
 WHERE slot_at = :slot AND bucket = -1 AND pass = 0

-- name: release
-- in: slot timestamptz, owner uuid, token int8
DELETE FROM prescient_slot_lease WHERE slot_at = :slot AND bucket = -1 AND owner = :owner AND token = :token

-- ---- places of concurrency keys ---------------------------------------------------------------

-- name: place_take
-- The lowest of the key's :most places that is free; none where all are held. Replacing a row
-- assigns a new token.
-- in: key text, most int4, owner uuid, engine text?, clock_us timestamptz, expires_us timestamptz,
-- in: lasts_s int4
WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < :most)
INSERT OR REPLACE INTO prescient_place (concurrency_key, number, owner, engine, taken_at_us, expires_at_us,
                                        lasts_s)
SELECT :key, free.n, :owner, :engine, :clock_us, :expires_us, :lasts_s
  FROM number AS free
 WHERE NOT EXISTS (SELECT 1 FROM prescient_place AS p
                    WHERE p.concurrency_key = :key AND p.number = free.n AND p.expires_at_us > :clock_us)
 ORDER BY free.n LIMIT 1

-- name: places_of
-- in: key text
-- out: places int4
SELECT places FROM prescient_concurrency_limit
 WHERE pattern = :key
    OR (substr(pattern, -1) = '*'
        AND substr(:key, 1, length(pattern) - 1) = substr(pattern, 1, length(pattern) - 1))
 ORDER BY pattern = :key DESC, length(CAST(pattern AS BLOB)) DESC LIMIT 1

-- name: place_taken
-- in: key text, owner uuid
-- out: number int4, token int8
SELECT number, token FROM prescient_place WHERE concurrency_key = :key AND owner = :owner
 ORDER BY token DESC LIMIT 1

-- name: place_want
-- Those who hold the key's places are asked to give them back, unless the one who asks has one. A
-- place that would last for longer than its lasts_s was taken before the clock was set back: it is
-- shortened to that, for which its holder counts, too.
-- in: key text, owner uuid, clock_us timestamptz
UPDATE prescient_place
   SET is_wanted = is_wanted OR NOT EXISTS (SELECT 1 FROM prescient_place AS o
                                             WHERE o.concurrency_key = :key AND o.owner = :owner
                                               AND o.expires_at_us > :clock_us),
       expires_at_us = min(expires_at_us, :clock_us + lasts_s * 1000000)
 WHERE concurrency_key = :key AND expires_at_us > :clock_us

-- name: place_renew
-- A place above the number that the key has is to come to its end: it is not renewed.
-- in: key text, number int4, most int4, owner uuid, token int8, clock_us timestamptz,
-- in: expires_us timestamptz, lasts_s int4
UPDATE prescient_place SET expires_at_us = :expires_us, lasts_s = :lasts_s
 WHERE concurrency_key = :key AND number = :number AND owner = :owner AND token = :token
   AND expires_at_us > :clock_us AND number <= :most

-- name: place_is_wanted
-- in: key text, number int4
-- out: yes bool
SELECT is_wanted AS yes FROM prescient_place WHERE concurrency_key = :key AND number = :number

-- name: place_return
-- in: key text, number int4, owner uuid, token int8
DELETE FROM prescient_place WHERE concurrency_key = :key AND number = :number AND owner = :owner
    AND token = :token

-- name: places_drop_old
-- Those of engines that have died, of keys that come no more.
-- in: before_us timestamptz
DELETE FROM prescient_place WHERE expires_at_us < :before_us

-- ---- a page -----------------------------------------------------------------------------------

-- name: read_page
-- :after_priority and :after_id are of the last row read.
-- in: slot timestamptz, after_priority int4, after_id int8, want int4
-- out: id int8, priority int4, first_check_at timestamptz, deferred_at timestamptz?,
-- out: check_count int4, failure_count int4, entity_name text, entity_key text, job_exec text,
-- out: payload text?, origin text?, put_off_at timestamptz?, terms text?, concurrency_key text?,
-- out: tenant text?
{page_rows}

-- name: read_page_some
-- The same, of the jobs in the JSON array :jobs only (NULL: of any), with a priority below :below
-- only, and of the first :parts of the slot (rules/phase.h) or with a priority below 0 only.
-- in: slot timestamptz, after_priority int4, after_id int8, want int4, jobs text?, below int8,
-- in: parts int8
-- out: id int8, priority int4, first_check_at timestamptz, deferred_at timestamptz?,
-- out: check_count int4, failure_count int4, entity_name text, entity_key text, job_exec text,
-- out: payload text?, origin text?, put_off_at timestamptz?, terms text?, concurrency_key text?,
-- out: tenant text?
{page_columns}
  FROM prescient_future_job
 WHERE {range_of_page} AND priority < :below
   AND (:parts = 64 OR priority < 0 OR prescient_bucket_of(entity_name, entity_key) < :parts)
   AND (:jobs IS NULL OR job_exec IN (SELECT value FROM json_each(:jobs)))
 ORDER BY priority, id LIMIT :want

-- name: read_page_small
-- The same, of small tenants (store_slot.h) only: of the first :look rows of the slot.
-- in: slot timestamptz, after_priority int4, after_id int8, want int4, look int4
-- out: id int8, priority int4, first_check_at timestamptz, deferred_at timestamptz?,
-- out: check_count int4, failure_count int4, entity_name text, entity_key text, job_exec text,
-- out: payload text?, origin text?, put_off_at timestamptz?, terms text?, concurrency_key text?,
-- out: tenant text?
{page_columns}
  FROM prescient_future_job
 WHERE {range_of_page}
   AND +id IN (SELECT id FROM {first_of_slot}
                WHERE tenant IN (SELECT tenant FROM {tenants_of_slot} WHERE n <= max(4, of_all / 16)))
 ORDER BY priority, id LIMIT :want

-- name: has_small
-- Whether some tenants are small in the slot (store_slot.h), and others are not.
-- in: slot timestamptz, look int4
-- out: yes bool
SELECT coalesce(max(n) > max(4, max(of_all) / 16) AND min(n) <= max(4, max(of_all) / 16), false) AS yes
  FROM {tenants_of_slot}

-- name: is_slow
-- Some job took a millisecond a run in the hours noted last, or none has run.
-- out: yes bool
SELECT coalesce(max(took_us >= 1000 * runs), true) AS yes
  FROM (SELECT sum(took_us) AS took_us, sum(runs) AS runs
          FROM (SELECT job_exec, took_us, runs FROM prescient_run_hour
                 ORDER BY hour_at DESC LIMIT 2000)
         GROUP BY job_exec)

-- part: tenants_of_slot
(SELECT tenant, count(*) AS n, sum(count(*)) OVER () AS of_all
   FROM {first_of_slot} GROUP BY tenant)

-- part: first_of_slot
-- Whose a check is: its entity's, where nobody has said it.
(SELECT id, coalesce(tenant, entity_name) AS tenant FROM prescient_future_job
  WHERE next_check_at = :slot AND bucket = 0 ORDER BY priority, id LIMIT :look)

-- name: plan
-- in: slot timestamptz, after_priority int4, after_id int8, want int4
-- out: id int4, parent int4, notused int4, detail text
EXPLAIN QUERY PLAN {page_rows}

-- part: page_rows
{page_columns}
  FROM prescient_future_job
 WHERE {range_of_page}
 ORDER BY priority, id LIMIT :want

-- part: range_of_page
next_check_at = :slot AND bucket = 0 AND (priority, id) > (:after_priority, :after_id)

-- part: page_columns
SELECT id, priority, first_check_at, deferred_at, check_count, failure_count, entity_name, entity_key,
       job_exec, payload, origin, put_off_at, terms, concurrency_key, tenant

-- The answers of the page are the table prescient_answers (store_sqlite_answers.c): part 0 is all
-- of them; 1 to 3 are the touched ones that end, that move, and that leave a run row; 4 and 5 those
-- that are renewed, and of these those that leave a run row. Writers are serial, so the first look
-- stays true until the end.

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
       note, payload, concurrency_key, engine, archived_at_us, tenant)
SELECT f.id, :ended_us, f.entity_name, f.entity_key, f.job_exec, a.outcome, a.check_count,
       a.failure_count, f.run_count + a.runs, a.slot_at, f.first_check_at,
       coalesce(f.first_run_at_us, a.run_at_us), a.run_at_us,
       f.total_run_us + coalesce(a.run_us, 0), a.run_us, a.note, CASE WHEN a.keeps_payload THEN f.payload END,
       CASE WHEN a.keeps_payload THEN f.concurrency_key END,
       :engine, :clock_us, f.tenant
  FROM prescient_answers AS a CROSS JOIN prescient_future_job AS f
 WHERE a.part = 1 AND f.id = a.id

-- part: asked_for
-- again_at, or when that has begun, the next slot of its kind. :open_slot and :open_fine: the first
-- full and the first fine slot that have not begun and are not :slot.
CASE WHEN again_at IS NULL THEN NULL WHEN again_at > :now AND again_at <> :slot THEN again_at
     WHEN again_at % :length_s = 0 THEN :open_slot ELSE :open_fine END

-- name: settle_anew
-- The check goes on under a new id, at the time in again_at.
-- in: id int8, slot timestamptz, now timestamptz, length_s int8, open_slot timestamptz,
-- in: open_fine timestamptz, origin text?
INSERT OR REPLACE INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at,
                                             priority, payload, origin, terms, concurrency_key, tenant)
SELECT entity_name, entity_key, job_exec, {asked_for}, {asked_for}, priority, payload, :origin, terms,
       concurrency_key, tenant
  FROM prescient_future_job WHERE id = :id AND again_at IS NOT NULL

-- part: renews_at
min(a.next_at, coalesce({asked_for}, a.next_at))

-- name: settle_renewed_run
-- Runs before settle_renew, which gives the row another id.
-- in: engine text?, clock_us timestamptz, slot timestamptz, now timestamptz, length_s int8,
-- in: open_slot timestamptz, open_fine timestamptz
INSERT INTO prescient_future_job_run (check_id, run_at_us, entity_name, entity_key, job_exec, outcome,
                                      check_count, failure_count, slot_at, next_check_at, run_us, note,
                                      engine, recorded_at_us, tenant)
SELECT f.id, a.run_at_us, f.entity_name, f.entity_key, f.job_exec, a.outcome, a.check_count, a.failure_count,
       a.slot_at, {renews_at}, a.run_us, a.note, :engine, :clock_us, f.tenant
  FROM prescient_answers AS a CROSS JOIN prescient_future_job AS f
 WHERE a.part = 5 AND f.id = a.id

-- name: settle_give_back_payload
-- Runs before settle_renew, for an occurrence that had a payload of its own and is over: the check
-- gets that of its schedule. An edit may have done so meanwhile.
-- in: id int8
UPDATE prescient_future_job
   SET payload = (SELECT s.payload FROM prescient_schedule AS s
                   WHERE s.entity_name = prescient_future_job.entity_name
                     AND s.entity_key = prescient_future_job.entity_key
                     AND s.job_exec = prescient_future_job.job_exec),
       terms = substr(terms, 1, length(terms) - length(' payload once'))
 WHERE id = :id AND terms GLOB '* payload once'

-- name: settle_renew
-- Occurrences of schedules that are over: each row starts anew at the next one, or at again_at, if
-- that is earlier, in a slot that has not begun. The occurrence's nominal slot becomes
-- first_check_at even if the settle is late for it. The row has a new id, and keeps its own terms:
-- an edit may have written them meanwhile.
-- in: slot timestamptz, now timestamptz, length_s int8, open_slot timestamptz,
-- in: open_fine timestamptz
INSERT OR REPLACE INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at,
                                             again_at, priority, payload, origin, terms, concurrency_key,
                                             tenant)
SELECT f.entity_name, f.entity_key, f.job_exec, min(a.first_at, coalesce(f.again_at, a.first_at)),
       {renews_at}, CASE WHEN f.again_at > {renews_at} THEN f.again_at END, f.priority, f.payload,
       a.origin_anew, f.terms, f.concurrency_key, f.tenant
  FROM prescient_answers AS a CROSS JOIN prescient_future_job AS f
 WHERE a.part = 4 AND f.id = a.id

-- name: settle_delete
-- Runs after settle_anew: a row with again_at has its new id by then.
DELETE FROM prescient_future_job WHERE id IN (SELECT id FROM prescient_answers WHERE part = 1)

-- part: moves_to
-- The wanted time, but into the slot of a pause only while that is on.
CASE WHEN a.next_at < 221845392000 THEN a.next_at
     WHEN EXISTS (SELECT 1 FROM prescient_pause AS p WHERE p.slot_at = a.next_at AND p.resumed_at_us IS NULL)
     THEN a.next_at ELSE :open_slot END

-- name: settle_move
-- To the wanted time or again_at, the earlier one, in a slot that has not begun. Where the pause
-- was resumed meanwhile, an occurrence of a schedule that has not been run becomes that of the slot
-- that it goes to: the time of a pause is not missed, and `missed skip` would pass it over there.
-- One that is to find its first occurrence does so there.
-- in: slot timestamptz, now timestamptz, length_s int8, open_slot timestamptz,
-- in: open_fine timestamptz
UPDATE prescient_future_job
   SET next_check_at = min({moves_to}, coalesce({asked_for}, a.next_at)),
       first_check_at = CASE
           WHEN terms GLOB 'schedule *' AND a.next_at >= 221845392000 AND {moves_to} < 221845392000
            AND prescient_future_job.check_count = 0 AND prescient_future_job.failure_count = 0
            AND prescient_future_job.deferred_at IS NULL
            AND NOT EXISTS (SELECT 1 FROM prescient_first AS f
                             WHERE f.id = prescient_future_job.id AND f.finds_first)
           THEN min({moves_to}, coalesce({asked_for}, a.next_at)) ELSE first_check_at END,
       again_at = CASE WHEN again_at > min({moves_to}, {asked_for}) THEN again_at END,
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
       slot_at, next_check_at, run_us, note, engine, recorded_at_us, tenant)
SELECT f.id, a.run_at_us, f.entity_name, f.entity_key, f.job_exec, a.outcome, a.check_count, a.failure_count,
       a.slot_at, f.next_check_at, a.run_us, a.note, :engine, :clock_us, f.tenant
  FROM prescient_answers AS a CROSS JOIN prescient_future_job AS f
 WHERE a.part = 3 AND f.id = a.id

-- name: effect_emit
-- in: event text?, entity text?, key text?, job text?, emitted_us timestamptz, slot timestamptz,
-- in: check_count int4, data text?, clock_us timestamptz, origin text?
INSERT INTO prescient_event (event, entity_name, entity_key, job_exec, emitted_at_us, slot_at, check_count,
                             data, recorded_at_us, origin)
VALUES (:event, :entity, :key, :job, :emitted_us, :slot, :check_count, :data, :clock_us, :origin)

-- name: effect_deliver
-- :origin is the event's, and its delivery's. One that is there already is that of an event with
-- the same origin (the clock was set back, and a check was deferred twice from one slot).
-- in: listener text, job text, slot timestamptz, data text?, origin text, terms text,
-- in: emitted_us timestamptz, tenant text?
INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at, payload,
                                  origin, terms, tenant)
VALUES ('prescient.event', :listener || '/' || :origin, :job, :slot, :slot, :data, :origin,
        :terms || ' listener "' || :listener || '" at ' || :emitted_us, :tenant)
    ON CONFLICT (bucket, entity_name, entity_key, job_exec) DO NOTHING

-- name: settle_deliver
-- All deliveries of the page, as effect_deliver files one. In one statement, as each reads and
-- writes the sequence of ids.
-- in: slot timestamptz, emitted_us timestamptz
INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at, payload,
                                  origin, terms, tenant)
SELECT 'prescient.event', a.listener || '/' || a.event_origin, a.hearing_job, :slot, :slot, a.data,
       a.event_origin, a.event_terms || ' listener "' || a.listener || '" at ' || :emitted_us, a.event_tenant
  FROM prescient_answers AS a
 WHERE a.part = 6
    ON CONFLICT (bucket, entity_name, entity_key, job_exec) DO NOTHING

-- name: effect_enqueue
-- in: entity text?, key text?, job text?, at timestamptz, payload text?, conflict text?,
-- in: priority int4, now timestamptz, origin text?, concurrency_key text?, tenant text?
INSERT INTO prescient_enqueue_at (entity_name, entity_key, job_exec, at, payload, conflict, priority, now,
                                  origin, concurrency_key, tenant)
VALUES (:entity, :key, :job, :at, :payload, :conflict, :priority, :now, :origin, :concurrency_key, :tenant)

-- name: digest_change
-- The check of a listener's digest gets the job and terms of the settings, and never waits longer
-- than before. One that is due stays as it is.
-- in: listener text, job text, terms text, slot timestamptz, now timestamptz
UPDATE OR IGNORE prescient_future_job
   SET job_exec = :job, terms = :terms, first_check_at = min(next_check_at, :slot),
       next_check_at = min(next_check_at, :slot)
 WHERE bucket = 0 AND entity_name = 'prescient.digest' AND entity_key = :listener AND next_check_at > :now
   AND (job_exec <> :job OR terms IS NOT :terms)

-- name: digest_check
-- in: listener text, job text, terms text, slot timestamptz
INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at, terms)
SELECT 'prescient.digest', :listener, :job, :slot, :slot, :terms
 WHERE NOT EXISTS (SELECT 1 FROM prescient_future_job
                    WHERE bucket = 0 AND entity_name = 'prescient.digest' AND entity_key = :listener)

-- name: digest_cursor_make
-- A new digest begins behind all that is there. One whose check was missing reads on where it was.
-- in: listener text, clock_us timestamptz
INSERT INTO prescient_cursor (kind, name, id, made_at_us)
SELECT 'digest', :listener, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'prescient_event'), 0),
       :clock_us WHERE true
    ON CONFLICT (kind, name) DO NOTHING

-- name: digest_end
-- The view prescient_resolve refuses it to applications. :now NULL: the clock.
-- in: listener text?, job text?, now timestamptz?
INSERT INTO prescient_end_checks (entity_name, entity_key, job_exec, now)
VALUES ('prescient.digest', :listener, :job, :now)

-- name: digest_forget
-- Where another check of the listener is left, of another job, the cursor is that one's.
-- in: listener text?
DELETE FROM prescient_cursor
 WHERE kind = 'digest' AND name = :listener
   AND NOT EXISTS (SELECT 1 FROM prescient_future_job
                    WHERE bucket = 0 AND entity_name = 'prescient.digest' AND entity_key = :listener)

-- name: note_listeners
-- in: engine text?, command text?, file text?, listeners text?, jobs text?, seen_us timestamptz,
-- in: until_us timestamptz, version text, host text?, pid int4, started_us timestamptz?,
-- in: serves text, last_slot timestamptz?, last_pass_us timestamptz?
INSERT INTO prescient_engine_seen (engine, command, file, listeners, jobs, seen_at_us, counts_until_us,
       version, host, pid, started_at_us, serves, last_slot_at, last_pass_at_us)
VALUES (:engine, :command, :file, :listeners, :jobs, :seen_us, :until_us, :version, :host, :pid, :started_us,
        :serves, :last_slot, :last_pass_us)
    ON CONFLICT (engine, command, file) DO UPDATE
   SET listeners = excluded.listeners, jobs = excluded.jobs, seen_at_us = excluded.seen_at_us,
       counts_until_us = excluded.counts_until_us, version = excluded.version, host = excluded.host,
       pid = excluded.pid, started_at_us = excluded.started_at_us, serves = excluded.serves,
       last_slot_at = coalesce(excluded.last_slot_at, last_slot_at),
       last_pass_at_us = coalesce(excluded.last_pass_at_us, last_pass_at_us)

-- name: other_engines
-- How many notes stand for engines of another name, or with other settings.
-- in: engine text?, file text?, now_us timestamptz
-- out: n int8
SELECT count(*) AS n FROM prescient_engine_seen
 WHERE (engine, file) <> (:engine, :file) AND counts_until_us > :now_us

-- name: note_loads
-- in: now timestamptz
INSERT INTO prescient_note_loads (now) VALUES (:now)

-- name: note_runs
-- See the same block of store_pg.sql: changes no row when this note was added before.
-- in: owner uuid, number int8, clock_us timestamptz
INSERT INTO prescient_run_note (owner, number, noted_at_us) VALUES (:owner, :number, :clock_us)
    ON CONFLICT (owner) DO UPDATE SET number = excluded.number, noted_at_us = excluded.noted_at_us
     WHERE prescient_run_note.number < excluded.number

-- name: forget_notes
-- in: before_us timestamptz
DELETE FROM prescient_run_note WHERE noted_at_us < :before_us

-- name: note_run_hour
-- in: hour_at int8, job text, entity text, tenant text, outcome text, runs int8, took_us int8,
-- in: took_max_us int8, late_max_us int8, took text, late text
INSERT INTO prescient_run_hour AS h (hour_at, job_exec, entity_name, tenant, outcome, runs, took_us,
                                     took_max_us, late_max_us, took, late)
VALUES (:hour_at, :job, :entity, :tenant, :outcome, :runs, :took_us, :took_max_us, :late_max_us, :took, :late)
    ON CONFLICT (hour_at, job_exec, entity_name, tenant, outcome)
    DO UPDATE SET runs = h.runs + excluded.runs, took_us = h.took_us + excluded.took_us,
                  took_max_us = max(h.took_max_us, excluded.took_max_us),
                  late_max_us = max(h.late_max_us, excluded.late_max_us),
                  took = (SELECT json_group_object(key, runs)
                            FROM (SELECT key, sum(value) AS runs
                                    FROM (SELECT key, value FROM json_each(h.took)
                                          UNION ALL
                                          SELECT key, value FROM json_each(excluded.took)) GROUP BY key)),
                  late = (SELECT json_group_object(key, runs)
                            FROM (SELECT key, sum(value) AS runs
                                    FROM (SELECT key, value FROM json_each(h.late)
                                          UNION ALL
                                          SELECT key, value FROM json_each(excluded.late)) GROUP BY key))

-- name: note_tally
-- in: what text, name text, outcome text, n int8, took_us int8, took text, late_us int8, late text,
-- in: clock_us timestamptz
INSERT INTO prescient_tally AS t (what, name, outcome, n, took_us, took, late_us, late, made_at_us)
VALUES (:what, :name, :outcome, :n, :took_us, '[' || :took || ']', :late_us, '[' || :late || ']', :clock_us)
    ON CONFLICT (what, name, outcome)
    DO UPDATE SET n = t.n + excluded.n, took_us = t.took_us + excluded.took_us,
                  late_us = t.late_us + min(excluded.late_us, 9223372036854775807 - t.late_us),
                  took = (SELECT json_group_array(n)
                            FROM (SELECT b.value + coalesce(w.value, 0) AS n
                                    FROM json_each(excluded.took) AS b
                                    LEFT JOIN json_each(t.took) AS w ON w.key = b.key ORDER BY b.key)),
                  late = (SELECT json_group_array(n)
                            FROM (SELECT b.value + coalesce(w.value, 0) AS n
                                    FROM json_each(excluded.late) AS b
                                    LEFT JOIN json_each(t.late) AS w ON w.key = b.key ORDER BY b.key))

-- name: drop_running
-- Those of this engine, and what the dead have left.
-- in: owner uuid, before_us timestamptz
DELETE FROM prescient_run_now WHERE owner = :owner OR seen_at_us < :before_us

-- name: note_running
-- in: owner uuid, number int4, engine text?, worker int4, entity text, key text, job text,
-- in: slot timestamptz, began_us timestamptz, clock_us timestamptz
INSERT INTO prescient_run_now (owner, number, engine, worker, entity_name, entity_key, job_exec, slot_at,
                               began_at_us, seen_at_us)
VALUES (:owner, :number, :engine, :worker, :entity, :key, :job, :slot, :began_us, :clock_us)

-- name: loads_noted
-- When slots were counted last (0: never), and how many held checks.
-- out: noted_at int8, slots int8
SELECT coalesce((SELECT value FROM prescient_setting WHERE name = 'loads_noted_at'), 0) AS noted_at,
       (SELECT count(*) FROM prescient_slot_load) AS slots

-- name: drop_notes
-- in: before_us timestamptz, engine text, command text, file text
DELETE FROM prescient_engine_seen
 WHERE counts_until_us < :before_us AND (engine, command, file) <> (:engine, :command, :file)

-- name: digest_cursor
-- in: listener text
-- out: id int8, was_pruned bool, is_there bool
SELECT id, pruned_at_us IS NOT NULL AS was_pruned, 1 AS is_there FROM prescient_cursor
 WHERE kind = 'digest' AND name = :listener

-- name: digest_events
-- in: after_id int8, most int8
-- out: id int8, event text, entity_name text, entity_key text, job_exec text,
-- out: emitted_at_us timestamptz, recorded_at_us timestamptz, check_number int8, data text?
SELECT id, event, entity_name, entity_key, job_exec, emitted_at_us, recorded_at_us,
       check_count + 1 AS check_number, data
  FROM prescient_event WHERE id > :after_id ORDER BY id LIMIT :most

-- name: digest_file
-- in: listener text, job text, after_id int8, last_id int8, slot timestamptz, data text,
-- in: first_at timestamptz, emitted_us timestamptz
INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at, payload,
                                  terms)
VALUES ('prescient.event', :listener || '/0-0-' || :after_id || '..0-0-' || :last_id, :job, :slot, :slot,
        :data, 'event "digest" of "prescient.digest" key "' || :listener || '" job "'
        || replace(:job, '"', '""') || '" number 1 failures 0 first ' || :first_at || ' listener "'
        || :listener || '" at ' || :emitted_us)
    ON CONFLICT (bucket, entity_name, entity_key, job_exec) DO NOTHING

-- name: digest_file_again
-- As digest_file: what it told comes from the history.
-- in: delivery text, listener text, job text, slot timestamptz, data text?, emitted_us timestamptz
INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at, payload,
                                  terms)
VALUES ('prescient.event', :delivery, :job, :slot, :slot, :data,
        'event "digest" of "prescient.digest" key "' || :listener || '" job "' || replace(:job, '"', '""')
        || '" number 1 failures 0 first ' || (:emitted_us / 1000000) || ' listener "' || :listener || '" at '
        || :emitted_us)
    ON CONFLICT (bucket, entity_name, entity_key, job_exec) DO NOTHING

-- name: digest_move
-- in: listener text, id int8, clock_us timestamptz, is_told bool
UPDATE prescient_cursor SET id = :id, moved_at_us = :clock_us,
       pruned_at_us = CASE WHEN :is_told THEN NULL ELSE pruned_at_us END
 WHERE kind = 'digest' AND name = :listener

-- name: digest_again
-- There is more to read.
-- in: listener text, job text, slot timestamptz
UPDATE prescient_future_job SET next_check_at = :slot
 WHERE bucket = 0 AND entity_name = 'prescient.digest' AND entity_key = :listener AND job_exec = :job

-- name: finish_look
-- :jobs is a JSON array of jobs whose rows may remain; :after_priority and :after_id are of the
-- last row read.
-- in: slot timestamptz, jobs text?, after_priority int4, after_id int8
-- out: has bool
SELECT EXISTS (SELECT 1 FROM prescient_future_job
                WHERE next_check_at = :slot AND bucket = 0 AND (priority, id) > (:after_priority, :after_id)
                  AND job_exec NOT IN (SELECT value FROM json_each(:jobs))) AS has

-- name: finish
-- :jobs is a JSON array of jobs that the engine lacks, or :own one of those that alone were read.
-- :can_read is false when rows cannot be read: then it is unknown which jobs have rows there.
-- in: slot timestamptz, engine text?, late_us int8, took_us int8, clock_us timestamptz,
-- in: {counts int8}, jobs text?, own text?, can_read bool
INSERT INTO prescient_slot_pass (slot_at, bucket, pass, engine, split, late_us, took_us, recorded_at_us,
                                 {counts}, left_jobs)
SELECT :slot, -1, 1 + coalesce(max(pass), 0), :engine, 1, :late_us, :took_us, :clock_us, {values_of_counts},
       CASE WHEN :can_read THEN (SELECT group_concat(job_exec, ', ')
                             FROM (SELECT DISTINCT job_exec FROM prescient_future_job
                                   WHERE next_check_at = :slot
                                     AND CASE WHEN :own IS NULL
                                              THEN job_exec IN (SELECT value FROM json_each(:jobs))
                                              ELSE job_exec NOT IN (SELECT value FROM json_each(:own)) END
                                   ORDER BY job_exec)) END
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

-- name: fine_slots
-- From slot to slot by one step of the index each. :jobs is a JSON array, or NULL for all. The
-- second that runs is listed when one of a few rows is of these jobs. Seconds that an engine has
-- run and left rows of these jobs in come with them.
-- in: low timestamptz, now timestamptz, length_s int8, jobs text?, most int8
-- out: slot timestamptz
WITH RECURSIVE filed (slot) AS (
    SELECT min(next_check_at) FROM prescient_future_job WHERE next_check_at > :low AND next_check_at <= :now
    UNION ALL
    SELECT (SELECT min(f.next_check_at) FROM prescient_future_job AS f
             WHERE f.next_check_at > filed.slot AND f.next_check_at <= :now)
      FROM filed WHERE slot IS NOT NULL)
SELECT slot FROM (
    SELECT slot FROM filed
     WHERE slot % :length_s <> 0
       AND NOT EXISTS (SELECT 1 FROM prescient_slot_pass AS o WHERE o.slot_at = slot AND o.bucket = -1
                       AND o.pass = 0)
       AND (:jobs IS NULL OR slot < :now
            OR EXISTS (SELECT 1 FROM (SELECT job_exec FROM prescient_future_job
                                       WHERE next_check_at = slot LIMIT 16)
                        WHERE job_exec IN (SELECT value FROM json_each(:jobs))))
     LIMIT :most)
UNION
SELECT slot FROM (
    SELECT o.slot_at AS slot FROM prescient_slot_pass AS o CROSS JOIN prescient_slot_pass AS p
     WHERE o.pass = 0 AND o.closed_at_us IS NULL AND o.slot_at > :now - :length_s AND o.slot_at <= :now
       AND o.slot_at % :length_s <> 0
       AND p.slot_at = o.slot_at AND p.bucket = -1 AND p.left_jobs IS NOT NULL
       AND p.pass = (SELECT max(pass) FROM prescient_slot_pass AS l
                      WHERE l.slot_at = o.slot_at AND l.bucket = -1)
       AND NOT EXISTS (SELECT 1 FROM prescient_slot_lease AS l WHERE l.slot_at = o.slot_at)
       AND EXISTS (SELECT 1 FROM json_each(:jobs) AS j
                    WHERE instr(', ' || p.left_jobs || ', ', ', ' || j.value || ', ') > 0
                      AND EXISTS (SELECT 1 FROM prescient_future_job AS f
                                   WHERE f.next_check_at = o.slot_at AND f.job_exec = j.value))
     ORDER BY o.slot_at LIMIT :most)
 ORDER BY slot LIMIT :most

-- name: pause_change
-- The number of the last change to pauses.
-- out: change int8
SELECT coalesce((SELECT value FROM prescient_setting WHERE name = 'pause_changes'), 0) AS change

-- name: pauses_now
-- Those that are not over.
-- out: slot timestamptz, what text, name text, is_on bool, is_reslotted bool
SELECT slot_at AS slot, what, name, resumed_at_us IS NULL AS is_on, is_reslotted
  FROM prescient_pause WHERE ended_at_us IS NULL

-- part: pause_is_over
-- Its slot is empty, and closed or was never opened.
ended_at_us IS NULL AND resumed_at_us IS NOT NULL
   AND NOT EXISTS (SELECT 1 FROM prescient_future_job AS f WHERE f.next_check_at = prescient_pause.slot_at)
   AND NOT EXISTS (SELECT 1 FROM prescient_slot_lease AS l WHERE l.slot_at = prescient_pause.slot_at)
   AND NOT EXISTS (SELECT 1 FROM prescient_slot_pass AS o WHERE o.slot_at = prescient_pause.slot_at
                   AND o.pass = 0 AND o.closed_at_us IS NULL)

-- name: end_pauses_passes
DELETE FROM prescient_slot_pass
 WHERE slot_at IN (SELECT slot_at FROM prescient_pause WHERE {pause_is_over})

-- name: end_pauses
-- in: clock_us timestamptz
UPDATE prescient_pause SET ended_at_us = :clock_us WHERE {pause_is_over}

-- name: note_pause_change
-- in: clock_us timestamptz
UPDATE prescient_setting SET value = max(value + 1, :clock_us) WHERE name = 'pause_changes'

-- name: late_slot
-- in: from timestamptz, before timestamptz
-- out: slot timestamptz?
SELECT min(next_check_at) AS slot FROM prescient_future_job WHERE next_check_at >= :from
       AND next_check_at < :before

-- name: first_urgent
-- The first slot from :from on that holds checks with a priority below 0. Each slot is one step in
-- the index by slot, whose first row has its lowest priority. Of many steps `until` is the slot to
-- go on with.
-- in: from timestamptz, before timestamptz, most int8
-- out: slot timestamptz?, until timestamptz?
WITH RECURSIVE step (at, n) AS (
    SELECT min(next_check_at), 1 FROM prescient_future_job
     WHERE next_check_at >= :from AND next_check_at < :before
    UNION ALL
    SELECT (SELECT min(next_check_at) FROM prescient_future_job
             WHERE next_check_at > s.at AND next_check_at < :before), n + 1
      FROM step AS s WHERE s.at IS NOT NULL AND s.n < :most AND NOT {is_urgent_at})
SELECT CASE WHEN {is_urgent_at} THEN at END AS slot, CASE WHEN n = :most THEN at END AS until
  FROM step AS s WHERE at IS NOT NULL ORDER BY n DESC LIMIT 1

-- part: is_urgent_at
EXISTS (SELECT 1 FROM prescient_future_job AS f
         WHERE f.next_check_at = s.at AND f.bucket = 0 AND f.priority < 0)

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

-- name: repair_schedules
-- Files what active schedules lack: somebody has deleted the check by hand.
-- in: now timestamptz
INSERT INTO prescient_file_scheduled (name, now)
SELECT s.name, :now FROM prescient_schedule AS s
 WHERE s.is_active AND {lacks_check}

-- part: lacks_check
NOT EXISTS (SELECT 1 FROM prescient_future_job AS f
             WHERE f.bucket = 0 AND f.entity_name = s.entity_name AND f.entity_key = s.entity_key
               AND f.job_exec = s.job_exec)

-- name: schedules_lacking
-- out: n int8
SELECT count(*) AS n FROM prescient_schedule AS s WHERE s.is_active AND {lacks_check}

-- part: first_put_off_behind
SELECT id, put_off_at, next_check_at, job_exec, entity_name, entity_key FROM prescient_future_job
 WHERE put_off_at IS NOT NULL AND (put_off_at, id) > (:after_at, :after_id)
 ORDER BY put_off_at, id LIMIT :most

-- name: recall_end
-- The last row that recall looks at; none: it looks at all that are left.
-- in: after_at timestamptz, after_id int8, most int8
-- out: id int8, put_off_at timestamptz
SELECT id, put_off_at FROM ({first_put_off_behind}) ORDER BY put_off_at, id LIMIT 1 OFFSET :most - 1

-- name: recall
-- Checks that were put off unrun go to the next slot, where they wait for a later one. :jobs is a
-- JSON array; NULL: all. What is paused is in the slot of its pause.
-- in: after_at timestamptz, after_id int8, most int8, slot timestamptz, jobs text?, moves int8
UPDATE prescient_future_job SET next_check_at = :slot
 WHERE id IN (SELECT id FROM ({first_put_off_behind})
               WHERE next_check_at > :slot AND next_check_at < 221845392000
                 AND (:jobs IS NULL OR job_exec IN (SELECT value FROM json_each(:jobs)))
               LIMIT :moves)

-- name: mark_swept
-- The mark never moves down, unless it is ahead of the clock.
-- in: slot timestamptz, now timestamptz
UPDATE prescient_setting SET value = :slot WHERE name = 'swept_until' AND (value < :slot OR value > :now)

-- ---- enqueue and load -------------------------------------------------------------------------

-- name: pending_row
-- finds_first: it waits for an engine to find its first occurrence (prescient_first).
-- in: entity text?, key text?, job text?
-- out: id int8, next_check_at timestamptz, again_at timestamptz?, finds_first bool, recurs bool
-- out: has_begun bool
SELECT j.id, j.next_check_at, j.again_at,
       coalesce(j.terms GLOB 'schedule *', 0) AND j.next_check_at >= j.first_check_at
           AND coalesce((SELECT f.finds_first FROM prescient_first AS f WHERE f.id = j.id), 0) AS finds_first,
       coalesce(j.terms GLOB 'schedule *', 0) AS recurs,
       j.check_count > 0 OR j.failure_count > 0 OR j.deferred_at IS NOT NULL AS has_begun
  FROM prescient_future_job AS j
 WHERE j.bucket = 0 AND j.entity_name = :entity AND j.entity_key = :key AND j.job_exec = :job

-- name: enqueue
-- All but :now and :within_s as text; :within_s 0: at that slot.
-- in: entity text?, key text?, job text?, at text?, payload text?, conflict text?, priority text?,
-- in: now timestamptz, concurrency_key text?, tenant text?, within_s int8
INSERT INTO prescient_enqueue (entity_name, entity_key, job_exec, check_at, payload, conflict, priority, now,
                               concurrency_key, tenant, within)
VALUES (:entity, :key, :job, :at, :payload, :conflict, CAST(:priority AS INTEGER), :now, :concurrency_key,
        :tenant, nullif(:within_s, 0))

-- name: request_before
-- in: uniqid text, content text
-- out: is_other bool, outcome text, check_id int8, filed_at timestamptz
SELECT content <> :content AS is_other, outcome, check_id, filed_at FROM prescient_request
 WHERE uniqid = :uniqid

-- name: note_request
-- in: uniqid text, made_us int8, kept_us int8, content text, outcome text, check_id int8,
-- in: filed_at timestamptz
INSERT INTO prescient_request (uniqid, made_at_us, kept_until_us, content, outcome, check_id, filed_at)
VALUES (:uniqid, :made_us, :kept_us, :content, :outcome, :check_id, :filed_at)

-- name: forget_requests
-- in: now_us int8, most int8
DELETE FROM prescient_request
 WHERE uniqid IN (SELECT r.uniqid FROM prescient_request AS r
                   WHERE r.kept_until_us < :now_us ORDER BY r.kept_until_us LIMIT :most)

-- name: request
-- in: uniqid text?
-- out: outcome text, check_id int8, filed_at int8, made_at int8, kept_until int8
-- report
SELECT outcome, check_id, filed_at, made_at_us / 1000000 AS made_at, kept_until_us / 1000000 AS kept_until
  FROM prescient_request WHERE uniqid = :uniqid

-- name: jobs_noted
-- See the same block of migrations/pg/0015_requests.sql.
-- out: job text?
-- report
WITH RECURSIVE line (job, rest) AS (
    SELECT CASE WHEN jobs IS NULL THEN NULL ELSE '' END, jobs FROM prescient_engine_seen
    UNION ALL
    SELECT substr(rest, 1, instr(rest, char(10)) - 1), substr(rest, instr(rest, char(10)) + 1) FROM line
     WHERE instr(rest, char(10)) > 0)
SELECT DISTINCT job FROM line WHERE job IS NOT ''

-- name: tokens
-- out: name text, role text, made_at timestamptz, made_by text?, expires_at timestamptz?,
-- out: is_in_force bool
-- report
SELECT name, role, made_at, NULL AS made_by, expires_at,
       expires_at IS NULL OR expires_at > CAST(strftime('%s', 'now') AS INTEGER) AS is_in_force
  FROM prescient_token ORDER BY name LIMIT 1000

-- name: token_keys
-- What the server judges by.
-- out: name text, role text, is_in_force bool, hash text, session_key text
-- report
SELECT name, role,
       expires_at IS NULL OR expires_at > CAST(strftime('%s', 'now') AS INTEGER) AS is_in_force,
       hash, session_key
  FROM prescient_token ORDER BY name LIMIT 1000

-- name: token_new
-- No row: there is one of that name, or there are 1000.
-- in: name text, role text, hash text, session_key text, lifetime_s text?
-- out: name text, expires_at timestamptz?
-- report: writes
INSERT INTO prescient_token (name, role, hash, session_key, made_at, expires_at)
SELECT :name, :role, :hash, :session_key, CAST(strftime('%s', 'now') AS INTEGER),
       CAST(strftime('%s', 'now') AS INTEGER) + CAST(:lifetime_s AS INTEGER)
 WHERE (SELECT count(*) FROM prescient_token) < 1000
    ON CONFLICT (name) DO NOTHING
RETURNING name, expires_at

-- name: token_revoke
-- others: how many are left.
-- in: name text
-- out: name text, others int8
-- report: writes
DELETE FROM prescient_token WHERE name = :name
RETURNING name, (SELECT count(*) FROM prescient_token AS o WHERE o.name <> :name) AS others

-- name: enqueue_now
-- in: entity text?, key text?, job text?, payload text?, conflict text?, priority text?,
-- in: now timestamptz, concurrency_key text?, tenant text?
INSERT INTO prescient_enqueue_now (entity_name, entity_key, job_exec, payload, conflict, priority, now,
                                   concurrency_key, tenant)
VALUES (:entity, :key, :job, :payload, :conflict, CAST(:priority AS INTEGER), :now, :concurrency_key, :tenant)

-- name: ask_loads
-- From now on engines count checks.
-- out: asked int4
-- report: writes
INSERT INTO prescient_setting (name, value) SELECT 'loads_noted_at', 0
 WHERE NOT EXISTS (SELECT 1 FROM prescient_setting WHERE name = 'loads_noted_at') RETURNING 1 AS asked

-- name: slot_loads
-- out: slot_at timestamptz, checks int4
-- report
SELECT slot_at, checks FROM prescient_slot_load ORDER BY slot_at

-- name: checks_of_key
-- The checks of one row that wait: which life each is in (its id), how often it ran, where it is
-- filed, and who has a lease of it. A lease that is over counts: its engine may be at work still.
-- in: entity text?, key text?, job text?, clock_us timestamptz
-- out: job_exec text, id int8, next_check_at timestamptz, again_at timestamptz?,
-- out: put_off_at timestamptz?, run_count int4, failure_count int4, recurs int4, is_begun int4,
-- out: engine text?, clock_at timestamptz
-- report
SELECT f.job_exec, f.id, f.next_check_at, f.again_at, f.put_off_at, coalesce(f.run_count, 0) AS run_count,
       f.failure_count, coalesce(f.terms GLOB 'schedule *', 0) AS recurs,
       f.next_check_at * 1000000 <= :clock_us AS is_begun,
       (SELECT coalesce(l.engine, '?') FROM prescient_slot_lease AS l
         WHERE l.slot_at = f.next_check_at LIMIT 1) AS engine,
       :clock_us / 1000000 AS clock_at
  FROM prescient_future_job AS f
 WHERE f.bucket = 0 AND f.entity_name = :entity AND f.entity_key = :key
   AND (:job IS NULL OR f.job_exec = :job)
 ORDER BY f.job_exec LIMIT 100

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

-- name: resolve_doubt
-- What may be wrong when nothing was resolved.
-- in: entity text?, key text?, job text?
-- out: doubt text?
-- report
SELECT CASE
           WHEN others IS NOT NULL
               THEN 'nothing was resolved, as no check of job ''' || substr(:job, 1, 80)
                    || ''' waits for this row; checks of these jobs do: ' || others
           WHEN NOT EXISTS (SELECT 1 FROM prescient_future_job WHERE bucket = 0 AND entity_name = :entity)
                AND NOT EXISTS (SELECT 1 FROM prescient_schedule WHERE entity_name = :entity)
               THEN 'nothing was resolved, and no check of any row of entity ''' || substr(:entity, 1, 80)
                    || ''' waits: is that its name?' END AS doubt
  FROM (SELECT group_concat(job, ', ') AS others
          FROM (SELECT CASE WHEN row_number() OVER (ORDER BY job_exec) <= 10 THEN substr(job_exec, 1, 80)
                           ELSE '...' END AS job
                  FROM prescient_future_job
                 WHERE bucket = 0 AND entity_name = :entity AND entity_key = :key AND :job IS NOT NULL
                 ORDER BY job_exec LIMIT 11))

-- name: reschedule
-- in: entity text?, key text?, job text?, at text?, now timestamptz
INSERT INTO prescient_reschedule (entity_name, entity_key, job_exec, check_at, now)
    VALUES (:entity, :key, :job, :at, :now)

-- name: schedule_state
-- `rule`: all that defines it, in one text.
-- in: name text?
-- out: rule text, is_active bool, next_check_at timestamptz
SELECT s.rule || char(10) || s.entity_name || char(10) || s.entity_key || char(10) || s.job_exec || char(10)
           || coalesce(s.concurrency_key, '') || char(10) || coalesce(s.tenant, '') || char(10)
           || coalesce(s.payload, '') AS rule, s.is_active,
       coalesce((SELECT coalesce(f.again_at, f.next_check_at) FROM prescient_future_job AS f
                  WHERE f.bucket = 0 AND f.entity_name = s.entity_name AND f.entity_key = s.entity_key
                    AND f.job_exec = s.job_exec), 0) AS next_check_at
  FROM prescient_schedule AS s WHERE s.name = :name

-- name: schedule_put
-- Texts; NULL is the default. The bias is in ten thousandths.
-- in: name text?, entity text?, key text?, job text?, every text?, bias text?, cron text?,
-- in: timezone text?, missed text?, payload text?, now timestamptz, concurrency_key text?,
-- in: tenant text?
INSERT INTO prescient_put_schedule
VALUES (:name, :entity, :key, :job, CAST(:every AS INTEGER),
        CASE WHEN :every IS NOT NULL THEN CAST(coalesce(:bias, '667') AS INTEGER)
             ELSE CAST(:bias AS INTEGER) END,
        :cron, CASE WHEN :cron IS NOT NULL THEN coalesce(:timezone, 'UTC') ELSE :timezone END,
        coalesce(:missed, 'run_once'), :payload, :now, :concurrency_key, :tenant)

-- name: schedule_set
-- NULL leaves what is there.
-- in: name text?, entity text?, key text?, job text?, every text?, bias text?, cron text?,
-- in: timezone text?, missed text?, payload text?, now timestamptz, concurrency_key text?,
-- in: tenant text?
INSERT INTO prescient_put_schedule
SELECT name, coalesce(:entity, entity_name), coalesce(:key, entity_key), coalesce(:job, job_exec),
       CASE WHEN :cron IS NULL THEN coalesce(CAST(:every AS INTEGER), every_s)
            ELSE CAST(:every AS INTEGER) END,
       CASE WHEN :bias IS NOT NULL THEN CAST(:bias AS INTEGER)
            WHEN :cron IS NOT NULL OR :timezone IS NOT NULL THEN NULL
            WHEN :every IS NOT NULL THEN coalesce(bias, 667) ELSE bias END,
       coalesce(:cron, CASE WHEN :every IS NULL THEN cron END),
       CASE WHEN :cron IS NOT NULL THEN coalesce(:timezone, timezone, 'UTC')
            WHEN :every IS NOT NULL THEN :timezone ELSE coalesce(:timezone, timezone) END,
       coalesce(:missed, missed), coalesce(:payload, payload), :now,
       coalesce(:concurrency_key, concurrency_key), coalesce(:tenant, tenant)
  FROM prescient_schedule WHERE name = :name

-- name: schedule_switch
-- in: name text?, active bool, why text?, now timestamptz
UPDATE prescient_schedules SET is_active = :active, switched_why = :why, now = :now WHERE name = :name

-- name: schedule_remove
-- in: name text?
DELETE FROM prescient_schedules WHERE name = :name

-- part: schedules_given_up
-- The entries come first, and each looks its check up (CROSS JOIN keeps that order): to read all
-- entries for each schedule would hold the file's lock for seconds.
name IN (SELECT json_extract(w.value, '$.name') FROM json_each(:entries) AS w)
   AND name IN (SELECT o.name FROM json_each(:entries) AS w CROSS JOIN prescient_schedule AS o
                 WHERE o.entity_name = json_extract(w.value, '$.entity_name')
                   AND o.entity_key = json_extract(w.value, '$.entity_key')
                   AND o.job_exec = json_extract(w.value, '$.job_exec')
                   AND o.name <> json_extract(w.value, '$.name'))

-- name: schedules_end_given_up
-- Checks that one of :entries has, and another one of them is to have, are over.
-- in: entries text?, now timestamptz
INSERT INTO prescient_end_checks
SELECT entity_name, entity_key, job_exec, :now FROM prescient_schedule WHERE {schedules_given_up}

-- name: schedules_give_up
-- And their schedules are of a check that nobody files, until their own turn.
-- in: entries text?
UPDATE prescient_schedule SET entity_name = 'prescient.schedule', entity_key = name, job_exec = 'none'
 WHERE {schedules_given_up}

-- name: schedules_put
-- :entries: an array of objects, as JSON; all members are texts.
-- in: entries text?, now timestamptz
INSERT INTO prescient_put_schedule
SELECT json_extract(w.value, '$.name'), json_extract(w.value, '$.entity_name'),
       json_extract(w.value, '$.entity_key'), json_extract(w.value, '$.job_exec'),
       CAST(json_extract(w.value, '$.every_s') AS INTEGER), CAST(json_extract(w.value, '$.bias') AS INTEGER),
       json_extract(w.value, '$.cron'), json_extract(w.value, '$.timezone'),
       json_extract(w.value, '$.missed'), json_extract(w.value, '$.payload'), :now,
       json_extract(w.value, '$.concurrency_key'), json_extract(w.value, '$.tenant')
  FROM json_each(:entries) AS w

-- name: schedules_remove
-- :names: an array, as JSON
-- in: names text?
DELETE FROM prescient_schedules WHERE name IN (SELECT value FROM json_each(:names))

-- part: schedule_columns
s.name, s.entity_name, s.entity_key, s.job_exec, s.every_s,
       CASE WHEN s.bias > 0 THEN s.bias / 10000.0 ELSE s.bias END AS bias, s.cron, s.timezone, s.missed,
       s.payload, s.is_active, f.next_check_at, f.first_check_at, f.again_at, f.terms,
       s.made_at_us / 1000000 AS made_at, NULL AS made_by, s.changed_at_us / 1000000 AS changed_at,
       NULL AS changed_by,
       s.switched_at_us / 1000000 AS switched_at, NULL AS switched_by, s.switched_why, s.concurrency_key,
       s.tenant, (SELECT value FROM prescient_setting WHERE name = 'slot_length_s') AS slot_length_s

-- name: schedules
-- By the bytes of the name. Names with :prefix come first of all from it on.
-- in: prefix text?, entity text?, key text?, job text?, most text?, after text?
-- out: name text, entity_name text, entity_key text, job_exec text, every_s int8?, bias float8?,
-- out: cron text?, timezone text?, missed text, payload text?, is_active bool,
-- out: next_check_at timestamptz?, first_check_at timestamptz?, again_at timestamptz?, terms text?,
-- out: made_at timestamptz, made_by text?, changed_at timestamptz, changed_by text?,
-- out: switched_at timestamptz?, switched_by text?, switched_why text?, concurrency_key text?,
-- out: tenant text?, slot_length_s int4
-- report
SELECT {schedule_columns}
  FROM (SELECT * FROM prescient_schedule
         WHERE name >= coalesce(:prefix, '') AND name > coalesce(:after, '')
           AND (:entity IS NULL OR entity_name = :entity) AND (:key IS NULL OR entity_key = :key)
           AND (:job IS NULL OR job_exec = :job)
         ORDER BY name LIMIT coalesce(CAST(:most AS INTEGER), -1)) AS s
  LEFT JOIN prescient_future_job AS f
         ON f.bucket = 0 AND f.entity_name = s.entity_name AND f.entity_key = s.entity_key
        AND f.job_exec = s.job_exec
 WHERE substr(s.name, 1, length(coalesce(:prefix, ''))) = coalesce(:prefix, '')
 ORDER BY s.name

-- name: schedule
-- has_begun: its occurrence was run already and is tried again. is_paused: a pause is on that its
-- check is moved into when it comes up.
-- in: name text?, clock_us timestamptz
-- out: name text, entity_name text, entity_key text, job_exec text, every_s int8?, bias float8?,
-- out: cron text?, timezone text?, missed text, payload text?, is_active bool,
-- out: next_check_at timestamptz?, first_check_at timestamptz?, again_at timestamptz?, terms text?,
-- out: made_at timestamptz, made_by text?, changed_at timestamptz, changed_by text?,
-- out: switched_at timestamptz?, switched_by text?, switched_why text?, concurrency_key text?,
-- out: tenant text?, slot_length_s int4,
-- out: has_begun int4?, is_paused int4?, clock_at timestamptz
-- report
SELECT {schedule_columns},
       f.check_count > 0 OR f.failure_count > 0 OR f.deferred_at IS NOT NULL AS has_begun,
       EXISTS (SELECT 1 FROM prescient_pause AS p
                WHERE p.resumed_at_us IS NULL AND (p.what, p.name) IN (VALUES ('schedule', s.name),
                      ('job', s.job_exec), ('entity', s.entity_name), ('tenant', s.tenant))) AS is_paused,
       :clock_us / 1000000 AS clock_at
  FROM prescient_schedule AS s
  LEFT JOIN prescient_future_job AS f
         ON f.bucket = 0 AND f.entity_name = s.entity_name AND f.entity_key = s.entity_key
        AND f.job_exec = s.job_exec
 WHERE s.name = :name

-- name: schedules_amiss
-- Schedules that are off and whose check waits, and those that are on and have none: the first of
-- each kind by name, and how many there are among those looked at. At most 10,000 of each kind are,
-- of the first 200,000 in the table. is_at_least: there are others, which were not looked at.
-- out: is_active bool, n int8, is_at_least bool, name text, entity_name text, entity_key text,
-- out: job_exec text
-- report
WITH looked_at AS (
    SELECT * FROM (SELECT * FROM (SELECT * FROM prescient_schedule LIMIT 200000)
                    WHERE NOT is_active LIMIT 10000)
    UNION ALL
    SELECT * FROM (SELECT * FROM (SELECT * FROM prescient_schedule LIMIT 200000)
                    WHERE is_active LIMIT 10000)),
amiss AS (
    SELECT l.is_active, l.name, l.entity_name, l.entity_key, l.job_exec
      FROM looked_at AS l
      LEFT JOIN prescient_future_job AS f
             ON f.bucket = 0 AND f.entity_name = l.entity_name AND f.entity_key = l.entity_key
            AND f.job_exec = l.job_exec
     WHERE CASE WHEN l.is_active THEN f.id IS NULL ELSE coalesce(f.terms GLOB 'schedule *', 0) END)
SELECT a.is_active, count(*) AS n,
       (SELECT count(*) >= 10000 FROM looked_at AS l WHERE l.is_active = a.is_active)
       OR EXISTS (SELECT 1 FROM prescient_schedule LIMIT 1 OFFSET 200000) AS is_at_least,
       min(a.name) AS name, a.entity_name, a.entity_key, a.job_exec
  FROM amiss AS a GROUP BY a.is_active ORDER BY a.is_active

-- name: pause_look
-- has_checks: whether any check of the entity waits, or one of the tenant is among the next 10,000;
-- of others it is not asked.
-- in: what text, name text?
-- out: is_on bool, has_checks bool
SELECT EXISTS (SELECT 1 FROM prescient_pause WHERE what = :what AND name = :name
               AND resumed_at_us IS NULL) AS is_on,
       CASE :what
       WHEN 'entity' THEN EXISTS (SELECT 1 FROM prescient_future_job WHERE bucket = 0 AND entity_name = :name)
       WHEN 'tenant' THEN EXISTS (SELECT 1 FROM (SELECT tenant FROM prescient_future_job
                                                  ORDER BY next_check_at LIMIT 10000) WHERE tenant = :name)
       ELSE true END AS has_checks

-- name: pause
-- in: what text, name text?, reason text?, who text?
INSERT INTO prescient_pauses (what, name, reason, paused_by) VALUES (:what, :name, :reason, :who)

-- name: resume
-- in: what text, name text?, reslot text?, who text?
UPDATE prescient_pauses SET state = 'ending', is_reslotted = coalesce(:reslot = 'true', 0), resumed_by = :who
 WHERE what = :what AND name = :name AND state = 'on'

-- name: concurrency_set
-- in: pattern text?, places text?
INSERT INTO prescient_concurrency_limits (pattern, places) VALUES (:pattern, CAST(:places AS INTEGER))

-- name: concurrency_remove
-- in: pattern text?
DELETE FROM prescient_concurrency_limit WHERE pattern = :pattern

-- name: pace
-- The setting is in thousandths.
-- out: pace text?, seconds int4
-- report
SELECT (SELECT printf('%.3f', s.value / 1000.0) FROM prescient_setting AS s WHERE s.name = 'pace') AS pace,
       p.seconds
  FROM prescient_pace AS p

-- name: note_pace
-- in: pace text
INSERT INTO prescient_setting (name, value)
VALUES ('pace', CAST(round(CAST(:pace AS REAL) * 1000) AS INTEGER))
    ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: concurrency_limits
-- in: most text?
-- out: pattern text, places int4, set_at timestamptz, set_by text?
-- report
SELECT pattern, places, set_at_us / 1000000 AS set_at, NULL AS set_by
  FROM prescient_concurrency_limits ORDER BY pattern LIMIT coalesce(CAST(:most AS INTEGER), -1)

-- name: keys
-- See the same block of store_pg.sql.
-- in: most text?
-- out: concurrency_key text, place int4?, engine text?, taken_at timestamptz?,
-- out: held_until timestamptz?, is_wanted bool?, waiting int8
-- report
WITH clock (us) AS (
    SELECT strftime('%s', 'now') * 1000000 + substr(strftime('%f', 'now'), 4) * 1000),
held AS MATERIALIZED (
    SELECT p.concurrency_key, p.number, p.engine, p.taken_at_us, p.expires_at_us, p.is_wanted
      FROM prescient_places AS p, clock WHERE p.expires_at_us >= clock.us + 1000),
due AS MATERIALIZED (
    SELECT few.concurrency_key, count(*) AS n
      FROM (SELECT w.concurrency_key
              FROM prescient_future_job AS w, clock, prescient_setting AS s
             WHERE s.name = 'slot_length_s' AND w.next_check_at <= clock.us / 1000000 + s.value
             LIMIT 10000) AS few
     WHERE few.concurrency_key IS NOT NULL GROUP BY few.concurrency_key)
SELECT * FROM (
    SELECT h.concurrency_key, h.number AS place, h.engine, h.taken_at_us / 1000000 AS taken_at,
           h.expires_at_us / 1000000 AS held_until, h.is_wanted, coalesce(d.n, 0) AS waiting
      FROM held AS h LEFT JOIN due AS d ON d.concurrency_key = h.concurrency_key
    UNION ALL
    SELECT d.concurrency_key, NULL, NULL, NULL, NULL, NULL, d.n
      FROM due AS d WHERE d.concurrency_key NOT IN (SELECT h.concurrency_key FROM held AS h))
 ORDER BY concurrency_key, place LIMIT coalesce(CAST(:most AS INTEGER), -1)

-- name: pauses_on
-- See the same block of store_pg.sql.
-- in: most text
-- out: what text, name text, paused_at int8, paused_by text?, reason text?, slot int8
-- report
SELECT what, name, paused_at_us / 1000000 AS paused_at, paused_by, reason, slot_at AS slot
  FROM prescient_pauses WHERE state = 'on' ORDER BY slot_at LIMIT coalesce(CAST(:most AS INTEGER), -1)

-- name: pauses
-- See the same block of store_pg.sql.
-- in: all text?, most text?, counted text?
-- out: what text, name text, state text, checks int8, is_at_least bool, paused_at timestamptz,
-- out: paused_by text?, reason text?, resumed_at timestamptz?, resumed_by text?,
-- out: ended_at timestamptz?
-- report
SELECT what, name, state, counted AS checks,
       counted >= coalesce(CAST(:counted AS INTEGER), 10000) AS is_at_least,
       paused_at_us / 1000000 AS paused_at,
       paused_by, reason, resumed_at_us / 1000000 AS resumed_at, resumed_by, ended_at_us / 1000000 AS ended_at
  FROM (SELECT what, name, state, paused_at_us, paused_by, reason, resumed_at_us, resumed_by, ended_at_us,
               slot_at,
               (SELECT count(*) FROM (SELECT 1 FROM prescient_future_job AS f
                                       WHERE f.next_check_at = p.slot_at
                                       LIMIT coalesce(CAST(:counted AS INTEGER), 10000))) AS counted
          FROM prescient_pauses AS p)
 WHERE coalesce(:all = 'true', 0) OR ended_at_us IS NULL
 ORDER BY ended_at_us IS NOT NULL, CASE WHEN ended_at_us IS NULL THEN slot_at END, slot_at DESC
 LIMIT coalesce(CAST(:most AS INTEGER), -1)

-- part: outcomes_of_trouble
-- Those after which `retry` files a check again.
('failed', 'timeout', 'crashed', 'bad_answer', 'unknown_job')

-- part: failed_history
outcome IN {outcomes_of_trouble}

-- part: mended_failures
-- Of `failure`: those of schedules whose check waits, and those that are to be filed no more: what
-- has ended well since, or of a schedule has had a good occurrence.
recurring AS MATERIALIZED (
    SELECT f.entity_name, f.entity_key, f.job_exec, f.newest, f.archived_at_us
      FROM failure AS f
      JOIN prescient_future_job AS w ON w.bucket = 0 AND w.entity_name = f.entity_name
       AND w.entity_key = f.entity_key AND w.job_exec = f.job_exec AND w.terms GLOB 'schedule *'),
mended AS MATERIALIZED (
    SELECT f.newest
      FROM prescient_future_job_history h
      JOIN failure f ON f.entity_key = h.entity_key AND f.entity_name = h.entity_name
          AND f.job_exec = h.job_exec AND f.newest < h.id
     WHERE h.id > (SELECT min(newest) FROM failure) AND NOT {failed_history}
    UNION
    SELECT f.newest
      FROM prescient_future_job_run r
      JOIN recurring f ON f.entity_key = r.entity_key AND f.entity_name = r.entity_name
          AND f.job_exec = r.job_exec AND f.archived_at_us < r.recorded_at_us
     WHERE r.outcome = 'done' AND EXISTS (SELECT 1 FROM recurring))

-- name: retry_found
-- See the same block of store_pg.sql. A mark is the id of a row, and max(id) picks the newest one
-- of a check.
-- in: entity text?, key text?, job text?, since text?
-- out: mark text, found text
-- report
WITH failure AS MATERIALIZED (
    SELECT entity_name, entity_key, job_exec, max(id) AS newest, archived_at_us
      FROM prescient_future_job_history
     WHERE {failed_history} AND entity_name NOT IN ('prescient.event', 'prescient.digest')
       AND ended_at_us >= coalesce(CAST(:since AS INTEGER), 0) * 1000000
       AND (:entity IS NULL OR entity_name = :entity) AND (:key IS NULL OR entity_key = :key)
       AND (:job IS NULL OR job_exec = :job)
     GROUP BY entity_name, entity_key, job_exec),
{mended_failures}
SELECT CAST(newest AS TEXT) AS mark,
       CAST((SELECT max(id) FROM prescient_future_job_history) AS TEXT) AS found
  FROM failure
 WHERE newest NOT IN (SELECT newest FROM mended)
 ORDER BY newest DESC

-- name: retry
-- Those of a page of marks that have not ended well since `found`, the newest row of that time. The
-- columns are parameters of `enqueue`.
-- in: checks text, found text
-- out: entity text, key text, job text, payload text?, concurrency_key text?, tenant text?
WITH ended_well AS MATERIALIZED (
    SELECT entity_name, entity_key, job_exec FROM prescient_future_job_history
     WHERE id > CAST(:found AS INTEGER) AND NOT {failed_history})
SELECT h.entity_name AS entity, h.entity_key AS key, h.job_exec AS job, h.payload, h.concurrency_key,
       h.tenant
  FROM json_each(:checks) AS a
 CROSS JOIN prescient_future_job_history AS h ON h.id = a.value
 WHERE (h.entity_name, h.entity_key, h.job_exec) NOT IN (SELECT * FROM ended_well)
 ORDER BY a.key

-- part: moment_text
-- As JSON has it everywhere.
CASE WHEN f.next_check_at >= 221845392000 THEN 'paused'
     ELSE strftime('%Y-%m-%dT%H:%M:%SZ', f.next_check_at, 'unixepoch') END

-- part: life
json_object('check_at', {moment_text}, 'check_count', f.check_count, 'failure_count', f.failure_count)

-- name: change_found
-- The checks of :checks, an array of [entity, key, job, id]; job NULL: all of the row. asked_job is
-- what was asked. id NULL: none waits. is_same: it is in the life that was seen, if one was. Of a
-- fresh one nothing has happened yet since it was filed.
-- in: checks text?
-- out: entity text, key text, asked_job text?, job text?, id int8?, is_same bool, is_fresh bool?,
-- out: next_check_at timestamptz?, life text?
SELECT a.entity, a.key, a.job AS asked_job, coalesce(f.job_exec, a.job) AS job, f.id,
       coalesce(a.seen = f.id, true) AS is_same,
       f.first_check_at = f.next_check_at AND f.check_count = 0 AND f.failure_count = 0
           AND f.again_at IS NULL AND f.deferred_at IS NULL AND f.put_off_at IS NULL AS is_fresh,
       f.next_check_at, CASE WHEN f.id IS NOT NULL THEN {life} END AS life
  FROM (SELECT json_extract(w.value, '$[0]') AS entity, json_extract(w.value, '$[1]') AS key,
               json_extract(w.value, '$[2]') AS job, max(json_extract(w.value, '$[3]')) AS seen
          FROM json_each(:checks) AS w GROUP BY 1, 2, 3) AS a
  LEFT JOIN prescient_future_job AS f
    ON f.bucket = 0 AND f.entity_name = a.entity AND f.entity_key = a.key
       AND (a.job IS NULL OR f.job_exec = a.job)
 ORDER BY a.entity, a.key, job

-- name: change_vague
-- How many of :checks have what was seen of one check, and no job.
-- in: checks text?
-- out: n int8
SELECT count(*) AS n FROM json_each(:checks) AS w
 WHERE json_extract(w.value, '$[2]') IS NULL AND json_extract(w.value, '$[3]') IS NOT NULL

-- name: change_life
-- in: entity text?, key text?, job text?
-- out: life text
SELECT {life} AS life FROM prescient_future_job AS f
 WHERE f.bucket = 0 AND f.entity_name = :entity AND f.entity_key = :key AND f.job_exec = :job

-- name: change_failed
-- The failures of :checks, an array of [entity, key, job, id of a row of the history that was
-- seen]; job NULL: of all jobs of the row. is_failed: it is to be filed again, as by retry_found,
-- and is the newest that was seen, where one was.
-- in: checks text?
-- out: entity text, key text, job text, payload text?, concurrency_key text?, tenant text?,
-- out: is_failed bool, life text
WITH asked AS MATERIALIZED (
    SELECT json_extract(w.value, '$[0]') AS entity, json_extract(w.value, '$[1]') AS key,
           json_extract(w.value, '$[2]') AS job, coalesce(json_extract(w.value, '$[3]'), 0) AS seen
      FROM json_each(:checks) AS w
     WHERE json_extract(w.value, '$[0]') NOT IN ('prescient.event', 'prescient.digest')),
failure AS MATERIALIZED (
    SELECT entity_name, entity_key, job_exec, max(id) AS newest, archived_at_us
      FROM prescient_future_job_history
     WHERE {failed_history} AND id >= (SELECT min(seen) FROM asked)
       AND ((entity_name, entity_key, job_exec) IN (SELECT entity, key, job FROM asked)
            OR (entity_name, entity_key) IN (SELECT entity, key FROM asked WHERE job IS NULL))
     GROUP BY entity_name, entity_key, job_exec),
{mended_failures}
SELECT h.entity_name AS entity, h.entity_key AS key, h.job_exec AS job, h.payload, h.concurrency_key,
       h.tenant, f.newest NOT IN (SELECT m.newest FROM mended AS m)
           AND f.newest <= coalesce((SELECT max(a.seen) FROM asked AS a
                                      WHERE a.entity = h.entity_name AND a.key = h.entity_key
                                        AND a.job = h.job_exec AND a.seen > 0), f.newest) AS is_failed,
       json_object('outcome', h.outcome, 'ended_at',
                   strftime('%Y-%m-%dT%H:%M:%SZ', h.ended_at_us / 1000000, 'unixepoch'),
                   'failure_count', h.failure_count) AS life
  FROM failure AS f JOIN prescient_future_job_history AS h ON h.id = f.newest
 ORDER BY f.newest DESC

-- name: note_change
-- in: clock_us int8, who text?, done_by text?, change text, what text, entity text?, key text?,
-- in: job text?, name text?, before text?, after text?, reason text?
INSERT INTO prescient_change (changed_at_us, who, done_by, change, what, entity_name, entity_key, job_exec,
                              name, before, after, reason)
VALUES (:clock_us, coalesce(:who, ''), coalesce(:done_by, ''), :change, :what, :entity, :key, :job, :name,
        :before, :after, nullif(:reason, ''))

-- name: note_schedules_off
-- Those of a row, or of one job of it, that are on and will be off.
-- in: clock_us int8, who text?, done_by text?, entity text?, key text?, job text?, reason text?
INSERT INTO prescient_change (changed_at_us, who, done_by, change, what, entity_name, entity_key, job_exec,
                              name, before, after, reason)
SELECT :clock_us, coalesce(:who, ''), coalesce(:done_by, ''), 'schedule-off', 'schedule', entity_name,
       entity_key, job_exec, name, json_object('is_active', json('true')),
       json_object('is_active', json('false')), nullif(:reason, '')
  FROM prescient_schedule
 WHERE entity_name = :entity AND entity_key = :key AND (:job IS NULL OR job_exec = :job) AND is_active
 ORDER BY name

-- name: newest_end
-- out: id int8
SELECT coalesce(max(id), 0) AS id FROM prescient_future_job_history

-- name: note_ends
-- in: note text?, behind int8
UPDATE prescient_future_job_history SET note = :note WHERE id > :behind AND outcome = 'resolved'

-- part: told
-- A schedule as audit has it.
json_object('entity', s.entity_name, 'key', s.entity_key, 'job', s.job_exec, 'every_s', s.every_s,
            'bias', s.bias / 10000.0, 'cron', s.cron, 'timezone', s.timezone, 'missed', s.missed,
            'is_active', json(CASE WHEN s.is_active THEN 'true' ELSE 'false' END),
            'concurrency_key', s.concurrency_key, 'tenant', s.tenant)

-- name: schedule_told
-- in: name text?
-- out: entity text, key text, job text, told text
SELECT s.entity_name AS entity, s.entity_key AS key, s.job_exec AS job, {told} AS told
  FROM prescient_schedule AS s WHERE s.name = :name

-- name: newest_change
-- out: id int8
SELECT coalesce(max(id), 0) AS id FROM prescient_change

-- name: note_puts
-- Of :entries, as for schedules_put: what is there, before they are put.
-- in: clock_us int8, done_by text?, entries text?
INSERT INTO prescient_change (changed_at_us, who, done_by, change, what, name, before)
SELECT :clock_us, '', coalesce(:done_by, ''), 'schedule-put', 'schedule', json_extract(w.value, '$.name'),
       (SELECT {told} FROM prescient_schedule AS s WHERE s.name = json_extract(w.value, '$.name'))
  FROM json_each(:entries) AS w

-- name: note_puts_after
-- in: behind int8
UPDATE prescient_change
   SET (entity_name, entity_key, job_exec, after) =
       (SELECT s.entity_name, s.entity_key, s.job_exec, {told}
          FROM prescient_schedule AS s WHERE s.name = prescient_change.name)
 WHERE id > :behind AND change = 'schedule-put'

-- name: drop_puts_kept
-- in: behind int8, now timestamptz
DELETE FROM prescient_change
 WHERE id > :behind AND change = 'schedule-put' AND before IS after
   AND name NOT IN (SELECT s.name FROM prescient_schedule AS s WHERE s.changed_at_us = :now * 1000000)

-- name: note_removes
-- in: clock_us int8, done_by text?, names text?
INSERT INTO prescient_change (changed_at_us, who, done_by, change, what, entity_name, entity_key, job_exec,
                              name, before)
SELECT :clock_us, '', coalesce(:done_by, ''), 'schedule-remove', 'schedule', s.entity_name, s.entity_key,
       s.job_exec, s.name, {told}
  FROM prescient_schedule AS s WHERE s.name IN (SELECT value FROM json_each(:names)) ORDER BY s.name

-- part: audit_range
changed_at_us >= coalesce(CAST(:since AS INTEGER) * 1000000, 0)
           AND changed_at_us < coalesce(CAST(:before AS INTEGER) * 1000000, 9223372036854775807)
           AND (changed_at_us, id) < (coalesce(json_extract(:after, '$[0]'), 9223372036854775807),
                                      coalesce(json_extract(:after, '$[1]'), 0))

-- Rows behind those that were looked at matter where too few were found. It is a limit: a condition
-- with a subquery that does not hold is asked again for each row there is (SQLite 3.40).
-- part: two_if_few
CASE WHEN (SELECT count(*) FROM found) < CAST(:most AS INTEGER) THEN 2 ELSE 0 END

-- name: audit
-- See the same block of store_pg.sql.
-- in: entity text?, key text?, job text?, who text?, change text?, since text?, before text?,
-- in: most text?, looks text?, after text?
-- out: changed_at_us timestamptz, change text?, what text?, entity_name text?, entity_key text?,
-- out: job_exec text?, name text?, who text?, done_by text?, reason text?, before text?,
-- out: after text?, id int8?, cursor text
-- report
WITH found AS MATERIALIZED (
    SELECT * FROM (SELECT * FROM prescient_audit WHERE {audit_range}
                    ORDER BY changed_at_us DESC, id DESC LIMIT coalesce(CAST(:looks AS INTEGER), -1))
     WHERE (:entity IS NULL OR entity_name = :entity) AND (:key IS NULL OR entity_key = :key)
       AND (:job IS NULL OR job_exec = :job) AND (:who IS NULL OR who = :who)
       AND (:change IS NULL OR change = :change)
     LIMIT coalesce(CAST(:most AS INTEGER), -1)),
ended AS (
    SELECT lead(changed_at_us) OVER (ORDER BY changed_at_us DESC, id DESC) AS next_at,
           json_array(changed_at_us, id) AS cursor
      FROM (SELECT changed_at_us, id FROM prescient_audit
             WHERE {audit_range} AND :looks IS NOT NULL
             ORDER BY changed_at_us DESC, id DESC
             LIMIT {two_if_few} OFFSET coalesce(CAST(:looks AS INTEGER) - 1, 0)))
SELECT changed_at_us, change, what, entity_name, entity_key, job_exec, name, who, done_by, reason, before,
       after, id, cursor
  FROM (SELECT changed_at_us, change, what, entity_name, entity_key, job_exec, name, who, done_by, reason,
               before, after, id, json_array(changed_at_us, id) AS cursor
          FROM found
        UNION ALL
        SELECT next_at, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, cursor
          FROM ended WHERE next_at IS NOT NULL)
 ORDER BY change IS NULL, changed_at_us DESC, id DESC

-- name: load_new
-- in: entity text?, key text?, job text?, slot timestamptz, priority int4, payload text?,
-- in: concurrency_key text?, tenant text?
INSERT INTO prescient_future_job (entity_name, entity_key, job_exec, first_check_at, next_check_at, priority,
                                  payload, concurrency_key, tenant)
VALUES (:entity, :key, :job, :slot, :slot, :priority, :payload, :concurrency_key, :tenant)
    ON CONFLICT (bucket, entity_name, entity_key, job_exec) DO NOTHING

-- ---- reports ----------------------------------------------------------------------------------

-- Parameters are text, NULL when not given; limits, times and ids are cast here.

-- name: retry_put_off
-- Checks that were put off unrun go to the next slot, some thousand a call; a row a check. What was
-- moved is not met again, so that no place is needed.
-- in: entity text?, key text?, job text?, since text?, now text?, after_at text?, after_id text?,
-- in: clock_us timestamptz
-- out: recalled int8, until_at int8?, until_id int8?
-- report: writes
WITH next AS MATERIALIZED (
    SELECT (coalesce(CAST(:now AS INTEGER), :clock_us / 1000000) / value + 1) * value AS slot
      FROM prescient_setting WHERE name = 'slot_length_s')
UPDATE prescient_future_job SET next_check_at = (SELECT slot FROM next)
 WHERE id IN (SELECT id FROM prescient_future_job
               WHERE put_off_at IS NOT NULL AND next_check_at > (SELECT slot FROM next)
                 AND next_check_at < 221845392000 AND (:entity IS NULL OR entity_name = :entity)
                 AND (:key IS NULL OR entity_key = :key) AND (:job IS NULL OR job_exec = :job)
                 AND (:since IS NULL OR put_off_at >= CAST(:since AS INTEGER))
                 AND :after_at IS NULL AND :after_id IS NULL
               LIMIT 5000)
RETURNING 1 AS recalled, NULL AS until_at, NULL AS until_id

-- part: list_range
next_check_at >= max(coalesce(CAST(:from AS INTEGER), 0), coalesce(json_extract(:after, '$[0]'), 0))
           AND next_check_at < coalesce(CAST(:before AS INTEGER), 253402300800)
           AND (next_check_at, bucket, priority, id) > (coalesce(json_extract(:after, '$[0]'), -1),
                json_extract(:after, '$[1]'), json_extract(:after, '$[2]'), json_extract(:after, '$[3]'))

-- part: state_of_check
CASE WHEN next_check_at >= 221845392000 THEN 'paused'
     WHEN next_check_at <= coalesce(CAST(:now AS INTEGER), CAST(strftime('%s', 'now') AS INTEGER)) THEN 'due'
     WHEN put_off_at IS NOT NULL THEN 'held_back'
     WHEN failure_count > 0 THEN 'retrying'
     ELSE 'waiting' END

-- part: is_sought_check
(:entity IS NULL OR entity_name = :entity) AND (:key IS NULL OR entity_key = :key)
           AND (:job IS NULL OR job_exec = :job) AND (:tenant IS NULL OR tenant = :tenant)
           AND (:state IS NULL OR {state_of_check} = :state)

-- part: cursor_of_check
-- In a table that somebody has loosened a priority may be bytes, which JSON cannot hold and which
-- come last in their slot: behind it the list goes on with the next slot.
json_array(next_check_at, bucket + (typeof(priority) = 'blob'),
                      iif(typeof(priority) = 'blob', 0, priority), id)

-- name: list
-- :most_looked_at: how many checks to read in the order of slots, NULL: all. Checks of one key are
-- found by the key, and so are all checks of an entity that has at most a thousand. Otherwise
-- checks are read in order; if :most_looked_at ended that, a last row without an entity has the
-- slot of the first that was not read, and the cursor of the last that was. :after is a cursor:
-- only checks behind it. :bare: without payloads.
-- in: entity text?, key text?, job text?, from text?, before text?, most text?,
-- in: most_looked_at text?, tenant text?, state text?, after text?, bare text?, now text?
-- out: next_check_at timestamptz, entity_name text?, entity_key text?, job_exec text?,
-- out: check_count int4?, failure_count int4?, priority int4?, first_check_at timestamptz?,
-- out: again_at timestamptz?, put_off_at timestamptz?, payload text?, concurrency_key text?,
-- out: tenant text?, state text?, id int8?, cursor text
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
         WHERE (SELECT by_key FROM served) AND {is_sought_check} AND {list_range}
         ORDER BY next_check_at, bucket, priority, id LIMIT coalesce(CAST(:most AS INTEGER), -1))
    UNION ALL
    SELECT * FROM (
        SELECT * FROM (
            SELECT * FROM prescient_future_job
             WHERE {list_range}
             ORDER BY next_check_at, bucket, priority, id
             LIMIT CASE WHEN (SELECT by_key FROM served) THEN 0
                        ELSE coalesce(CAST(:most_looked_at AS INTEGER), -1) END)
         WHERE {is_sought_check}
         LIMIT coalesce(CAST(:most AS INTEGER), -1))),
ended AS (
    SELECT lead(next_check_at) OVER (ORDER BY next_check_at, bucket, priority, id) AS next_at,
           {cursor_of_check} AS cursor
      FROM (SELECT * FROM prescient_future_job
             WHERE :most_looked_at IS NOT NULL AND {list_range}
             ORDER BY next_check_at, bucket, priority, id
             LIMIT CASE WHEN (SELECT by_key FROM served) THEN 0 ELSE {two_if_few} END
             OFFSET coalesce(CAST(:most_looked_at AS INTEGER) - 1, 0)))
SELECT next_check_at, entity_name, entity_key, job_exec, check_count, failure_count, priority, first_check_at,
       again_at, put_off_at, payload, concurrency_key, tenant, state, id, cursor
  FROM (SELECT next_check_at, entity_name, entity_key, job_exec, check_count, failure_count, priority,
               first_check_at, again_at, put_off_at, CASE WHEN :bare IS NULL THEN payload END AS payload,
               concurrency_key, tenant, {state_of_check} AS state, bucket, id, {cursor_of_check} AS cursor
          FROM found
        UNION ALL
        SELECT next_at, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
               NULL, NULL, cursor
          FROM ended WHERE next_at IS NOT NULL)
 ORDER BY entity_name IS NULL, next_check_at, bucket, priority, id

-- part: is_sought_past
(:entity IS NULL OR entity_name = :entity) AND (:key IS NULL OR entity_key = :key)
       AND (:job IS NULL OR job_exec = :job) AND (:tenant IS NULL OR tenant = :tenant)
       AND (:outcome IS NULL OR outcome = :outcome
            OR (:outcome = 'amiss' AND outcome NOT IN ('done', 'resolved'))
            OR (:outcome = 'retryable' AND outcome IN {outcomes_of_trouble}
                AND entity_name NOT IN ('prescient.event', 'prescient.digest')))

-- part: looked_at_most
-- A thousand rows take about a millisecond.
min(coalesce(CAST(:looks AS INTEGER), 1 << 62), coalesce(CAST(:within_ms AS INTEGER) * 1000, 1 << 62))

-- name: history
-- No index has the rows by what they are about. :looks: how many to look at, newest first, or for
-- how long (:within_ms), NULL: all. If that ended it, a last row without an entity has the time
-- back to which it has searched. :after: behind the row with that cursor. :bare: without payloads.
-- in: entity text?, key text?, job text?, outcome text?, since text?, before text?, most text?,
-- in: within_ms text?, tenant text?, after text?, looks text?, bare text?
-- out: ended_at_us timestamptz, entity_name text?, entity_key text?, job_exec text?, outcome text?,
-- out: guard text?, check_number int8?, check_count int4?, failure_count int4?, run_count int4?,
-- out: slot_at timestamptz?,
-- out: first_check_at timestamptz?, first_run_at_us timestamptz?, last_run_at_us timestamptz?,
-- out: total_run_us int8?, last_run_us int8?, note text?, payload text?, engine text?,
-- out: archived_at_us timestamptz?, tenant text?, cursor text
-- report
WITH seen AS (
    SELECT * FROM prescient_future_job_history
     WHERE id < coalesce(json_extract(:after, '$[0]'), 9223372036854775807)
     ORDER BY id DESC LIMIT {looked_at_most}),
found AS MATERIALIZED (
    SELECT * FROM seen
     WHERE {is_sought_past} AND (:since IS NULL OR ended_at_us >= CAST(:since AS INTEGER) * 1000000)
       AND (:before IS NULL OR ended_at_us < CAST(:before AS INTEGER) * 1000000)
     ORDER BY id DESC LIMIT coalesce(CAST(:most AS INTEGER), -1)),
ended AS (
    SELECT id, ended_at_us FROM (
        SELECT id, ended_at_us, archived_at_us, lead(id) OVER (ORDER BY id DESC) AS next_id
          FROM (SELECT id, ended_at_us, archived_at_us FROM prescient_future_job_history
                 WHERE id < coalesce(json_extract(:after, '$[0]'), 9223372036854775807)
                 ORDER BY id DESC LIMIT {two_if_few} OFFSET {looked_at_most} - 1))
     WHERE next_id IS NOT NULL
       AND (:since IS NULL OR archived_at_us >= CAST(:since AS INTEGER) * 1000000
            OR EXISTS (SELECT 1 FROM prescient_future_job_history AS ahead
                        WHERE ahead.ended_at_us > ahead.archived_at_us
                          AND ahead.ended_at_us >= CAST(:since AS INTEGER) * 1000000)))
SELECT ended_at_us, entity_name, entity_key, job_exec, outcome, guard, check_number, check_count,
       failure_count, run_count, slot_at, first_check_at, first_run_at_us, last_run_at_us, total_run_us,
       last_run_us, note, payload, engine, archived_at_us, tenant, cursor
  FROM (SELECT ended_at_us, entity_name, entity_key, job_exec, outcome,
               CASE WHEN outcome IN ('past', 'beyond_horizon', 'max_checks', 'deferred_out', 'unknown_job')
                    THEN outcome
                    WHEN {failed_history} THEN 'max_failures' END AS guard,
               check_count + (outcome NOT IN ('resolved', 'unknown_job') OR failure_count > 0)
                   AS check_number,
               check_count, failure_count, run_count, slot_at, first_check_at, first_run_at_us,
               last_run_at_us, total_run_us, last_run_us, note,
               CASE WHEN :bare IS NULL THEN payload END AS payload, engine, archived_at_us, tenant,
               json_array(id) AS cursor, id
          FROM found
        UNION ALL
        SELECT ended_at_us, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
               NULL,
               NULL, NULL, NULL, NULL, NULL, NULL, json_array(id), id FROM ended)
 ORDER BY entity_name IS NULL, id DESC

-- name: refused
-- See the same block of store_pg.sql. By the index of failures.
-- in: since text, most text
-- out: job_exec text?, is_delivery int4?, failure_count int4?, checks int8?, note text?
-- report
WITH seen AS MATERIALIZED (
    SELECT entity_name, job_exec, failure_count, note, ended_at_us
      FROM prescient_future_job_history
     WHERE {failed_history} AND outcome = 'failed' AND ended_at_us >= CAST(:since AS INTEGER) * 1000000
     ORDER BY ended_at_us DESC LIMIT coalesce(CAST(:most AS INTEGER), 10000))
SELECT job_exec, is_delivery, failure_count, checks, note
  FROM (SELECT job_exec, entity_name = 'prescient.event' AS is_delivery, failure_count, count(*) AS checks,
               note, max(ended_at_us) AS newest
          FROM seen GROUP BY 1, 2, 3
        UNION ALL
        SELECT NULL, NULL, NULL, NULL, NULL, min(0) FROM seen HAVING count(*) >= CAST(:most AS INTEGER))
 ORDER BY newest DESC

-- part: class_us
-- The middle of a class, in microseconds (rules/histogram.h).
CASE WHEN class < 8 THEN class
     ELSE ((8 + class % 8) << (class / 8 - 1)) + ((1 << (class / 8 - 1)) >> 1) END

-- name: runs_by
-- See runs_by in migrations/pg/0013_readers.sql.
-- in: part text, since text, most text, job text?
-- out: name text, runs int8, done int8, again int8, failed int8, timeout int8, crashed int8,
-- out: other int8, took_us int8, took_p50_us int8?, took_p95_us int8?, took_p99_us int8?,
-- out: took_max_us int8, late_p50_us int8?, late_p95_us int8?, late_p99_us int8?, late_max_us int8
-- report
WITH chosen AS NOT MATERIALIZED (
    SELECT CASE WHEN :part = 'job' THEN job_exec
                WHEN :part = 'hour' THEN strftime('%Y-%m-%dT%H:%M:%SZ', hour_at, 'unixepoch')
                WHEN :part = 'tenant' AND tenant <> '' THEN tenant
                ELSE entity_name END AS name, outcome, runs, took_us, took_max_us, late_max_us, took, late
      FROM prescient_run_hours WHERE hour_at >= CAST(:since AS INTEGER) / 3600 * 3600
       AND (:job IS NULL OR job_exec = :job)),
-- The classes are added up in C: with json_each that takes longer than all else.
sums AS MATERIALIZED (
    SELECT name, sum(runs) AS runs, sum(runs) FILTER (WHERE outcome = 'done') AS done,
           sum(runs) FILTER (WHERE outcome = 'again') AS again,
           sum(runs) FILTER (WHERE outcome IN ('bad_answer', 'failed')) AS failed,
           sum(runs) FILTER (WHERE outcome = 'timeout') AS timeout,
           sum(runs) FILTER (WHERE outcome = 'crashed') AS crashed,
           sum(runs) FILTER (WHERE outcome NOT IN ('done', 'again', 'failed', 'bad_answer', 'timeout',
                                                   'crashed')) AS other,
           sum(took_us) AS took_us, max(took_max_us) AS took_max_us, max(late_max_us) AS late_max_us,
           prescient_add_up(took) AS took, prescient_add_up(late) AS late
      FROM chosen GROUP BY name
     ORDER BY CASE WHEN :part = 'hour' THEN name END DESC, sum(took_us) DESC, name
     LIMIT CAST(:most AS INTEGER)),
classes AS (
    SELECT s.name, false AS is_late, CAST(t.key AS INTEGER) AS class, t.value AS runs
      FROM sums AS s, json_each(s.took) AS t
    UNION ALL
    SELECT s.name, true, CAST(l.key AS INTEGER), l.value FROM sums AS s, json_each(s.late) AS l),
ranked AS (
    SELECT name, is_late, {class_us} AS us,
           1.0 * sum(runs) OVER (PARTITION BY name, is_late ORDER BY class)
           / sum(runs) OVER (PARTITION BY name, is_late) AS share
      FROM classes),
parts AS (
    SELECT name, is_late, min(us) FILTER (WHERE share >= 0.50) AS p50,
           min(us) FILTER (WHERE share >= 0.95) AS p95, min(us) FILTER (WHERE share >= 0.99) AS p99
      FROM ranked GROUP BY name, is_late)
SELECT s.name, s.runs, coalesce(s.done, 0) AS done, coalesce(s.again, 0) AS again,
       coalesce(s.failed, 0) AS failed, coalesce(s.timeout, 0) AS timeout, coalesce(s.crashed, 0) AS crashed,
       coalesce(s.other, 0) AS other, s.took_us,
       min(t.p50, s.took_max_us) AS took_p50_us, min(t.p95, s.took_max_us) AS took_p95_us,
       min(t.p99, s.took_max_us) AS took_p99_us, s.took_max_us,
       min(l.p50, s.late_max_us) AS late_p50_us, min(l.p95, s.late_max_us) AS late_p95_us,
       min(l.p99, s.late_max_us) AS late_p99_us, s.late_max_us
  FROM sums AS s LEFT JOIN parts AS t ON t.name = s.name AND t.is_late = 0
                 LEFT JOIN parts AS l ON l.name = s.name AND l.is_late = 1
 ORDER BY CASE WHEN :part = 'hour' THEN s.name END DESC, s.took_us DESC, s.name LIMIT CAST(:most AS INTEGER)

-- name: runs_since
-- See the same block of store_pg.sql.
-- in: since text, looks text
-- out: since_at timestamptz?, is_cut bool
-- report
WITH seen AS MATERIALIZED (
    SELECT hour_at FROM prescient_run_hour WHERE hour_at >= CAST(:since AS INTEGER) / 3600 * 3600
     ORDER BY hour_at DESC LIMIT coalesce(CAST(:looks AS INTEGER) + 1, -1))
SELECT CASE WHEN n <= CAST(:looks AS INTEGER) THEN CAST(:since AS INTEGER)
            ELSE min(newest, oldest + 3600) END AS since_at,
       coalesce(n > CAST(:looks AS INTEGER), false) AS is_cut
  FROM (SELECT count(*) AS n, min(hour_at) AS oldest, max(hour_at) AS newest FROM seen)

-- name: running
-- Those that have been going on for :least_us, longest first.
-- in: least_us text, most text
-- out: engine text?, worker int4, entity_name text, entity_key text, job_exec text, slot_at int8,
-- out: began_at int8, run_us int8, seen_at int8
-- report
SELECT engine, worker, entity_name, entity_key, job_exec, slot_at, began_at_us / 1000000 AS began_at,
       CAST(strftime('%s', 'now') AS INTEGER) * 1000000 - began_at_us AS run_us,
       seen_at_us / 1000000 AS seen_at
  FROM prescient_running
 WHERE began_at_us <= CAST(strftime('%s', 'now') AS INTEGER) * 1000000 - CAST(:least_us AS INTEGER)
 ORDER BY began_at_us, entity_name, entity_key, job_exec LIMIT CAST(:most AS INTEGER)

-- name: failing_jobs
-- See the same block of store_pg.sql.
-- in: since text, most text
-- out: job_exec text, runs int8, failed int8, broken int8, first_at int8, note text?
-- report
WITH seen AS MATERIALIZED (
    SELECT * FROM (
        SELECT job_exec, outcome, run_at_us AS at_us, note FROM prescient_future_job_run
         ORDER BY id DESC LIMIT coalesce(CAST(:most AS INTEGER), 10000))
    UNION ALL
    SELECT * FROM (
        SELECT job_exec, outcome, ended_at_us, note FROM prescient_future_job_history
         WHERE {failed_history} AND outcome = 'failed'
           AND ended_at_us >= CAST(:since AS INTEGER) * 1000000
         ORDER BY ended_at_us DESC LIMIT coalesce(CAST(:most AS INTEGER), 10000))),
judged AS (
    SELECT job_exec, at_us, note,
           outcome IN {outcomes_of_trouble} AS has_failed,
           outcome = 'job_broken' AS is_broken
      FROM seen WHERE at_us >= CAST(:since AS INTEGER) * 1000000)
SELECT job_exec, count(*) AS runs, sum(has_failed) AS failed, sum(is_broken) AS broken,
       min(CASE WHEN has_failed OR is_broken THEN at_us END) / 1000000 AS first_at, note
  FROM judged GROUP BY job_exec
HAVING sum(has_failed) + sum(is_broken) > 0
 ORDER BY sum(has_failed) + sum(is_broken) DESC, job_exec LIMIT 10

-- name: runs
-- As history.
-- in: entity text?, key text?, job text?, outcome text?, since text?, before text?, most text?,
-- in: within_ms text?, tenant text?, after text?, looks text?
-- out: run_at_us timestamptz, entity_name text?, entity_key text?, job_exec text?, outcome text?,
-- out: check_number int8?, failure_count int4?, slot_at timestamptz?, next_check_at timestamptz?,
-- out: run_us int8?, note text?, engine text?, tenant text?, cursor text
-- report
WITH seen AS (
    SELECT * FROM prescient_future_job_run
     WHERE id < coalesce(json_extract(:after, '$[0]'), 9223372036854775807)
     ORDER BY id DESC LIMIT {looked_at_most}),
found AS MATERIALIZED (
    SELECT * FROM seen
     WHERE {is_sought_past} AND (:since IS NULL OR run_at_us >= CAST(:since AS INTEGER) * 1000000)
       AND (:before IS NULL OR run_at_us < CAST(:before AS INTEGER) * 1000000)
     ORDER BY id DESC LIMIT coalesce(CAST(:most AS INTEGER), -1)),
ended AS (
    SELECT id, run_at_us FROM (
        SELECT id, run_at_us, recorded_at_us, lead(id) OVER (ORDER BY id DESC) AS next_id
          FROM (SELECT id, run_at_us, recorded_at_us FROM prescient_future_job_run
                 WHERE id < coalesce(json_extract(:after, '$[0]'), 9223372036854775807)
                 ORDER BY id DESC LIMIT {two_if_few} OFFSET {looked_at_most} - 1))
     WHERE next_id IS NOT NULL
       AND (:since IS NULL OR recorded_at_us >= CAST(:since AS INTEGER) * 1000000
            OR EXISTS (SELECT 1 FROM prescient_future_job_run AS ahead
                        WHERE ahead.run_at_us > ahead.recorded_at_us
                          AND ahead.run_at_us >= CAST(:since AS INTEGER) * 1000000)))
SELECT run_at_us, entity_name, entity_key, job_exec, outcome, check_number, failure_count, slot_at,
       next_check_at, run_us, note, engine, tenant, cursor
  FROM (SELECT run_at_us, entity_name, entity_key, job_exec, outcome,
               check_count + (outcome <> 'again') AS check_number, failure_count, slot_at, next_check_at,
               run_us, note, engine, tenant, json_array(id) AS cursor, id
          FROM found
        UNION ALL
        SELECT run_at_us, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
               json_array(id), id
          FROM ended)
 ORDER BY entity_name IS NULL, id DESC

-- name: slowest
-- The runs that took longest, of the newest :looks after which a check waits again and of as many
-- ends. Where either look has not gone back to :since, a last row without an entity has the time
-- back to which both have searched.
-- in: job text?, since text?, most text?, within_ms text?, looks text?
-- out: run_at_us timestamptz, entity_name text?, entity_key text?, job_exec text?, outcome text?,
-- out: run_us int8?, slot_at timestamptz?, note text?, engine text?, tenant text?
-- report
WITH again AS MATERIALIZED (
    SELECT run_at_us AS at_us, entity_name, entity_key, job_exec, outcome, run_us, slot_at, note, engine,
           tenant
      FROM prescient_future_job_run ORDER BY id DESC LIMIT coalesce(CAST(:looks AS INTEGER), -1)),
over AS MATERIALIZED (
    SELECT ended_at_us AS at_us, entity_name, entity_key, job_exec, outcome, last_run_us AS run_us, slot_at,
           note, engine, tenant
      FROM prescient_future_job_history ORDER BY id DESC LIMIT coalesce(CAST(:looks AS INTEGER), -1)),
found AS (
    SELECT * FROM (SELECT * FROM again UNION ALL SELECT * FROM over)
     WHERE run_us IS NOT NULL AND (:job IS NULL OR job_exec = :job)
       AND (:since IS NULL OR at_us >= CAST(:since AS INTEGER) * 1000000)
     ORDER BY run_us DESC, at_us DESC LIMIT coalesce(CAST(:most AS INTEGER), -1)),
ended AS (
    SELECT max(at_us) AS at_us
      FROM (SELECT min(at_us) AS at_us FROM again HAVING count(*) >= CAST(:looks AS INTEGER)
            UNION ALL
            SELECT min(at_us) FROM over HAVING count(*) >= CAST(:looks AS INTEGER))
     WHERE :within_ms IS NOT NULL AND (:since IS NULL OR at_us > CAST(:since AS INTEGER) * 1000000))
SELECT at_us AS run_at_us, entity_name, entity_key, job_exec, outcome, run_us, slot_at, note, engine, tenant
  FROM (SELECT * FROM found
        UNION ALL
        SELECT at_us, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM ended WHERE at_us IS NOT NULL)
 ORDER BY entity_name IS NULL, run_us DESC, at_us DESC

-- name: deliveries
-- Those that wait come first, at most :looks; then those that are over, the newest first, by an
-- index that has deliveries alone. With a listener at most :looks of these are looked at, NULL:
-- all; then a last row without a listener has the time back to which it has searched. :failed:
-- those that failed, for good or not. The id is the command's to fill in.
-- in: listener text?, failed text?, since text?, most text?, looks text?
-- out: ended_at_us timestamptz?, id text?, listener text?, event text?, entity_name text?,
-- out: entity_key text?, state text?, outcome text?, tries int4?, next_check_at timestamptz?,
-- out: note text?, job_exec text?, emitted_at_us timestamptz?, delivery text?
-- report
WITH waiting AS MATERIALIZED (
    SELECT entity_key, job_exec, next_check_at, first_check_at, failure_count, coalesce(run_count, 0) AS tries
      FROM prescient_future_job
     WHERE bucket = 0 AND entity_name = 'prescient.event'
       AND entity_key BETWEEN coalesce(:listener || '/', '') AND coalesce(:listener || '0', x'')
       AND (:failed IS NULL OR failure_count > 0)
       AND first_check_at >= coalesce(CAST(:since AS INTEGER), 0)
     LIMIT coalesce(CAST(:looks AS INTEGER), -1)),
seen AS MATERIALIZED (
    SELECT * FROM (SELECT id, entity_key, job_exec, ended_at_us, outcome, run_count, first_check_at,
                          failure_count, note
                     FROM prescient_future_job_history
                    WHERE entity_name = 'prescient.event' AND :failed IS NULL
                    ORDER BY id DESC LIMIT coalesce(CAST(:looks AS INTEGER), -1))
    UNION ALL
    SELECT * FROM (SELECT id, entity_key, job_exec, ended_at_us, outcome, run_count, first_check_at,
                          failure_count, note
                     FROM prescient_future_job_history
                    WHERE entity_name = 'prescient.event' AND outcome NOT IN ('done', 'resolved')
                      AND :failed IS NOT NULL
                    ORDER BY id DESC LIMIT coalesce(CAST(:looks AS INTEGER), -1))),
over AS MATERIALIZED (
    SELECT * FROM seen
     WHERE entity_key BETWEEN coalesce(:listener || '/', '') AND coalesce(:listener || '0', x'')
       AND ended_at_us >= coalesce(CAST(:since AS INTEGER), 0) * 1000000
     ORDER BY id DESC LIMIT max(coalesce(CAST(:most AS INTEGER), 1 << 40)
                                - (SELECT count(*) FROM waiting), 0)),
found AS MATERIALIZED (
    SELECT * FROM (
        SELECT 0 AS n, w.entity_key, w.job_exec, NULL AS ended_at_us, NULL AS outcome, w.tries,
               w.next_check_at, w.first_check_at, w.failure_count,
               (SELECT r.note FROM prescient_future_job_run r
                 WHERE r.entity_name = 'prescient.event' AND r.entity_key = w.entity_key
                   AND r.job_exec = w.job_exec
                 ORDER BY r.id DESC LIMIT 1) AS note
          FROM waiting w ORDER BY w.first_check_at DESC, w.entity_key
         LIMIT coalesce(CAST(:most AS INTEGER), 1 << 40))
    UNION ALL
    SELECT row_number() OVER (ORDER BY id DESC), entity_key, job_exec, ended_at_us, outcome, run_count, NULL,
           first_check_at, failure_count, note FROM over
    UNION ALL
    SELECT * FROM (
        SELECT 1 << 60, NULL, NULL, min(ended_at_us), NULL, NULL, NULL, NULL, NULL, NULL FROM seen
        HAVING count(*) >= CAST(:looks AS INTEGER)
           AND (SELECT count(*) FROM over) + (SELECT count(*) FROM waiting)
               < coalesce(CAST(:most AS INTEGER), 1 << 40)))
SELECT f.ended_at_us, NULL AS id, substr(f.entity_key, 1, instr(f.entity_key, '/') - 1) AS listener, e.event,
       e.entity_name, e.entity_key,
       CASE WHEN f.entity_key IS NULL THEN NULL
            WHEN f.outcome IN ('done', 'resolved') THEN f.outcome WHEN f.outcome IS NOT NULL THEN 'failed'
            WHEN f.next_check_at >= 221845392000 THEN 'paused'
            WHEN f.failure_count > 0 THEN 'retrying' ELSE 'waiting' END AS state,
       f.outcome, f.tries, f.next_check_at, f.note, f.job_exec, e.emitted_at_us, f.entity_key AS delivery
  FROM found f
  LEFT JOIN prescient_event e
    ON e.id = (SELECT max(v.id) FROM prescient_event v
                WHERE v.origin = substr(f.entity_key, instr(f.entity_key, '/') + 1))
 ORDER BY f.n, f.first_check_at DESC, f.entity_key

-- name: row_events
-- What the checks of one row have emitted, newest first, and what became of each delivery of it: a
-- line each, and one without a listener where nobody heard it. No index has events by their row:
-- the newest 20,000 are looked at, and 20,000 deliveries that wait. If there are more events, and
-- fewer than :most were found, a last row has the moment of the next one, and nothing else.
-- in: entity text?, key text?, most text?
-- out: emitted_at_us timestamptz, event text?, job_exec text?, check_number int8?, listener text?,
-- out: state text?, outcome text?, tries int4?, next_check_at timestamptz?,
-- out: ended_at_us timestamptz?, note text?, delivery text?, is_heard bool?, is_readable bool?
-- report
WITH events AS MATERIALIZED (
    SELECT id, event, emitted_at_us, job_exec, check_count + 1 AS check_number, origin
      FROM (SELECT * FROM prescient_event ORDER BY id DESC LIMIT 20000)
     WHERE entity_name = :entity AND entity_key = :key
     ORDER BY id DESC LIMIT coalesce(CAST(:most AS INTEGER), 1 << 40)),
names AS MATERIALIZED (
    SELECT DISTINCT substr(entity_key, 1, instr(entity_key, '/')) AS name
      FROM prescient_future_job_history
     WHERE entity_name = 'prescient.event' AND id IN (
           SELECT id FROM prescient_future_job_history WHERE entity_name = 'prescient.event'
            ORDER BY id DESC LIMIT 10000)),
deliveries AS MATERIALIZED (
    SELECT e.id AS event_id, f.entity_key, coalesce(f.run_count, 0) AS tries, f.next_check_at,
           NULL AS ended_at_us, NULL AS outcome, f.failure_count, NULL AS note
      FROM (SELECT entity_key, run_count, next_check_at, failure_count FROM prescient_future_job
             WHERE bucket = 0 AND entity_name = 'prescient.event' LIMIT 20000) f
     CROSS JOIN events e ON e.origin = substr(f.entity_key, instr(f.entity_key, '/') + 1)
    UNION ALL
    SELECT e.id, h.entity_key, h.run_count, NULL, h.ended_at_us, h.outcome, h.failure_count, h.note
      FROM events e
      JOIN names n
      JOIN prescient_future_job_history h ON h.entity_name = 'prescient.event'
       AND h.entity_key = n.name || e.origin
     WHERE e.origin IS NOT NULL),
not_looked_at AS (
    SELECT emitted_at_us FROM prescient_event ORDER BY id DESC
     LIMIT CASE WHEN (SELECT count(*) FROM events) < CAST(:most AS INTEGER) THEN 1 ELSE 0 END OFFSET 20000)
SELECT emitted_at_us, event, job_exec, check_number, listener, state, outcome, tries, next_check_at,
       ended_at_us, note, delivery, is_heard, is_readable
  FROM (
    SELECT e.emitted_at_us, e.event, e.job_exec, e.check_number,
           substr(d.entity_key, 1, instr(d.entity_key, '/') - 1) AS listener,
           CASE WHEN d.entity_key IS NULL THEN NULL
                WHEN d.outcome IN ('done', 'resolved') THEN d.outcome WHEN d.outcome IS NOT NULL THEN 'failed'
                WHEN d.next_check_at >= 221845392000 THEN 'paused'
                WHEN d.failure_count > 0 THEN 'retrying' ELSE 'waiting' END AS state,
           d.outcome, d.tries, d.next_check_at, d.ended_at_us, d.note, d.entity_key AS delivery,
           e.origin IS NOT NULL AS is_heard, 1 AS is_readable, e.id
      FROM events e LEFT JOIN deliveries d ON d.event_id = e.id
    UNION ALL
    SELECT emitted_at_us, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0
      FROM not_looked_at)
 ORDER BY id DESC, listener, ended_at_us

-- name: delivery_told
-- What the audit has of one that waits: the row that its event was of, and who delivers it.
-- in: delivery text
-- out: entity text?, key text?, job text
SELECT e.entity_name AS entity, e.entity_key AS key, f.job_exec AS job
  FROM prescient_future_job f
  LEFT JOIN prescient_event e
    ON e.id = (SELECT max(id) FROM prescient_event
                WHERE origin = substr(:delivery, instr(:delivery, '/') + 1))
 WHERE f.bucket = 0 AND f.entity_name = 'prescient.event' AND f.entity_key = :delivery LIMIT 1

-- name: delivery_sought
-- What it takes to send a delivery that is over once more: as deliver_again of PostgreSQL has it.
-- The check that emitted the event ended before the delivery did, most likely among the last
-- 10,000.
-- in: delivery text?
-- out: waits_at timestamptz?, job text?, listener text, origin text, data text?, terms text?,
-- out: emitted_us timestamptz?, is_digest bool, told text?, told_us timestamptz?, tenant text?
SELECT (SELECT next_check_at FROM prescient_future_job
         WHERE bucket = 0 AND entity_name = 'prescient.event' AND entity_key = :delivery LIMIT 1) AS waits_at,
       h.job_exec AS job, substr(:delivery, 1, instr(:delivery, '/') - 1) AS listener,
       substr(:delivery, instr(:delivery, '/') + 1) AS origin, e.data,
       'event "' || replace(e.event, '"', '""') || '" of "' || replace(e.entity_name, '"', '""')
           || '" key "' || replace(e.entity_key, '"', '""') || '" job "' || replace(e.job_exec, '"', '""')
           || '" number ' || (e.check_count + 1) || ' failures ' || coalesce(p.failure_count, 0)
           || ' first ' || max(coalesce(p.first_check_at, e.slot_at), 0) AS terms,
       e.emitted_at_us AS emitted_us,
       :delivery GLOB '*/[0-9]*-[0-9]*-[0-9]*..[0-9]*-[0-9]*-[0-9]*' AS is_digest,
       h.payload AS told, (h.first_check_at - 1) * 1000000 AS told_us, h.tenant
  FROM (SELECT 1) AS one
  LEFT JOIN prescient_future_job_history h
    ON h.id = (SELECT max(id) FROM prescient_future_job_history
                WHERE entity_name = 'prescient.event' AND entity_key = :delivery)
  LEFT JOIN prescient_event e
    ON e.id = (SELECT max(id) FROM prescient_event
                WHERE origin = substr(:delivery, instr(:delivery, '/') + 1))
  LEFT JOIN prescient_future_job_history p
    ON p.id = (SELECT max(k.id) FROM prescient_future_job_history k
                WHERE k.id BETWEEN (SELECT min(id) FROM prescient_future_job_history
                                     WHERE entity_name = 'prescient.event' AND entity_key = :delivery) - 10000
                               AND h.id
                  AND k.entity_name = e.entity_name AND k.entity_key = e.entity_key
                  AND k.job_exec = e.job_exec AND k.check_count = e.check_count
                  AND k.ended_at_us BETWEEN e.emitted_at_us - 300000000 AND e.emitted_at_us + 1000000)

-- part: bounds_of_slots
bounds AS MATERIALIZED (
    SELECT coalesce(CAST(:from AS INTEGER), 0) AS first,
           coalesce(CAST(:before AS INTEGER), 253402300800) AS last,
           CASE WHEN CAST(:most AS INTEGER) >= 0 THEN CAST(:most AS INTEGER)
               ELSE 9223372036854775807 END AS most, coalesce(CAST(:recent AS INTEGER), 0) AS recent)

-- part: unclosed_before_recent
SELECT slot_at FROM prescient_slot_pass, bounds
 WHERE pass = 0 AND closed_at_us IS NULL AND slot_at >= first AND slot_at < min(last, recent)

-- name: slots
-- :recent: closed and empty slots only from this time on, NULL: all. It goes from slot to slot by
-- one step of an index each; only the listed slots are counted. :by: parts has how many checks are
-- of each job or tenant, the twenty largest, and all others under the name NULL. :counted is of the
-- store that estimates: here a slot is counted whole, its parts up to a million. :looks: with the
-- slot by which so many rows were looked at in all it ends, NULL: it does not; then a last row
-- without checks has that slot once more.
-- in: from text?, before text?, most text?, recent text?, counted text?, by text?, looks text?
-- out: slot_at timestamptz, checks int8?, state text?, late_us int8?, run int8?, done int8?,
-- out: again int8?, failed int8?, is_estimate bool?, parts text?
-- report
WITH RECURSIVE
{bounds_of_slots},
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
wanted AS MATERIALIZED (
    SELECT slot_at, row_number() OVER (ORDER BY slot_at) AS nth FROM (
        SELECT slot_at FROM filed
        UNION
        SELECT slot_at FROM opened
        UNION
        {unclosed_before_recent})
     WHERE slot_at IS NOT NULL ORDER BY slot_at LIMIT (SELECT most FROM bounds)),
-- looked: rows, in the slots before this one
chosen (slot_at, nth, looked) AS (
    SELECT slot_at, 1, 0 FROM wanted WHERE nth = 1
    UNION ALL
    SELECT w.slot_at, w.nth, c.looked
           + (SELECT count(*) FROM prescient_future_job AS f WHERE f.next_check_at = c.slot_at)
             * CASE WHEN :by IS NULL THEN 1 ELSE 2 END
           + (SELECT count(*) FROM prescient_slot_pass AS p WHERE p.slot_at = c.slot_at)
      FROM chosen AS c JOIN wanted AS w ON w.nth = c.nth + 1
     WHERE :looks IS NULL OR c.looked < CAST(:looks AS INTEGER)),
listed AS MATERIALIZED (
    SELECT slot_at FROM chosen WHERE :looks IS NULL OR looked < CAST(:looks AS INTEGER)),
known AS (
    SELECT p.slot_at, max(CASE WHEN pass = 0 THEN CASE WHEN closed_at_us IS NOT NULL THEN 3
                          WHEN opened_rows = 0 THEN 2 ELSE 1 END
                               ELSE 2 END) AS state,
           max(late_us) AS late_us, sum(run) AS run, sum(done) AS done, sum(again) AS again,
           sum(failed + timeout + crashed) AS failed
      FROM listed AS c CROSS JOIN prescient_slot_pass AS p WHERE p.slot_at = c.slot_at
     GROUP BY p.slot_at)
SELECT c.slot_at, (SELECT count(*) FROM prescient_future_job AS f
                   WHERE f.next_check_at = c.slot_at) AS checks,
       CASE coalesce(state, 0) WHEN 0 THEN 'pending' WHEN 1 THEN 'open' WHEN 2 THEN 'relook'
           ELSE 'closed' END AS state,
       late_us, run, done, again, failed, 0 AS is_estimate,
       (SELECT json_group_array(json_object('name', name, 'checks', n)) FROM (
            SELECT name, sum(n) AS n FROM (
                SELECT CASE WHEN row_number() OVER (ORDER BY n DESC, part) <= 20 THEN part END AS name, n
                  FROM (SELECT part, count(*) AS n
                          FROM (SELECT CASE :by WHEN 'job' THEN job_exec ELSE coalesce(tenant, entity_name)
                                       END AS part
                                  FROM prescient_future_job AS f WHERE f.next_check_at = c.slot_at
                                 ORDER BY bucket, priority, id
                                 LIMIT max(coalesce(CAST(:counted AS INTEGER), 0), 1000000))
                         GROUP BY part))
             GROUP BY name ORDER BY 2 DESC, name)
         WHERE :by IS NOT NULL HAVING count(*) > 0) AS parts
  FROM listed AS c LEFT JOIN known ON known.slot_at = c.slot_at
UNION ALL
SELECT max(slot_at), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
  FROM listed HAVING count(*) < (SELECT count(*) FROM wanted)
 ORDER BY 1, 2 NULLS LAST

-- name: slots_before
-- The times of those that `slots` has, the newest first.
-- in: from text?, before text?, most text?, recent text?
-- out: slot_at timestamptz
-- report
WITH RECURSIVE
{bounds_of_slots},
filed (slot_at, n) AS (
    SELECT (SELECT max(next_check_at) FROM prescient_future_job WHERE next_check_at >= first
            AND next_check_at < last), 1 FROM bounds
    UNION ALL
    SELECT (SELECT max(f.next_check_at) FROM prescient_future_job AS f WHERE f.next_check_at < filed.slot_at
            AND f.next_check_at >= first), n + 1
      FROM filed, bounds WHERE filed.slot_at IS NOT NULL AND n < most),
opened (slot_at, n) AS (
    SELECT (SELECT max(slot_at) FROM prescient_slot_pass WHERE slot_at >= max(first, recent)
            AND slot_at < last), 1 FROM bounds
    UNION ALL
    SELECT (SELECT max(p.slot_at) FROM prescient_slot_pass AS p WHERE p.slot_at < opened.slot_at
            AND p.slot_at >= max(first, recent)), n + 1
      FROM opened, bounds WHERE opened.slot_at IS NOT NULL AND n < most)
SELECT slot_at FROM (
    SELECT slot_at FROM filed
    UNION
    SELECT slot_at FROM opened
    UNION
    {unclosed_before_recent})
 WHERE slot_at IS NOT NULL ORDER BY slot_at DESC LIMIT (SELECT most FROM bounds)

-- name: state_of_slot
-- See the same block of store_pg.sql.
-- in: slot text
-- out: state text, engine text?, opened_at int8?, left_jobs text?
-- report
SELECT coalesce((SELECT state FROM prescient_slots WHERE slot_at = CAST(:slot AS INTEGER)),
                'pending') AS state,
       (SELECT engine FROM prescient_slot_pass WHERE slot_at = CAST(:slot AS INTEGER) AND pass = 0) AS engine,
       (SELECT recorded_at_us / 1000000 FROM prescient_slot_pass
         WHERE slot_at = CAST(:slot AS INTEGER) AND pass = 0) AS opened_at,
       (SELECT group_concat(left_jobs, ', ') FROM prescient_slot_pass
         WHERE slot_at = CAST(:slot AS INTEGER) AND pass > 0) AS left_jobs

-- name: passes
-- in: from text?, before text?, most text?
-- out: slot_at timestamptz, bucket int2, pass int4, engine text?, split int2?, {counts int8?},
-- out: late_us int8?, took_us int8?, left_jobs text?, recorded_at_us timestamptz
-- report
SELECT slot_at, bucket, pass, engine, split, {counts}, late_us, took_us, left_jobs, recorded_at_us
  FROM prescient_passes
 WHERE slot_at >= coalesce(CAST(:from AS INTEGER), 0) AND slot_at < coalesce(CAST(:before AS INTEGER),
     253402300800)
 ORDER BY slot_at DESC, bucket DESC, pass DESC LIMIT coalesce(CAST(:most AS INTEGER), -1)

-- part: counted_at_most
10000

-- part: or_more
CASE WHEN n >= {counted_at_most} THEN ' or more' ELSE '' END

-- name: status
-- As the same block of store_pg.sql; all counts end at a bound. No check can be at infinity.
-- in: now text?, clock_us timestamptz
-- out: now_at timestamptz, slot_length_s int4, schema_version int4, pending int8, is_estimate bool,
-- out: due int8, overdue int8, oldest_overdue_at timestamptz?, next_slot_at timestamptz?,
-- out: leases int8, unclosed_slots int8, oldest_unclosed_at timestamptz?,
-- out: oldest_transaction_us int8?, transactions_since int8?, prepared_transactions int8?,
-- out: history_rows int8, events_withheld int8, withheld_by text?, withheld_us int8?,
-- out: withheld_advice text?, is_pending_at_least bool, is_due_at_least bool,
-- out: is_overdue_at_least bool, is_unclosed_at_least bool, never_due int8
-- report
WITH this AS (
    SELECT now, length_s, now / length_s * length_s AS slot
      FROM (SELECT coalesce(CAST(:now AS INTEGER), :clock_us / 1000000) AS now, value AS length_s
              FROM prescient_setting WHERE name = 'slot_length_s')),
counted AS MATERIALIZED (
    SELECT (SELECT count(*) FROM (SELECT 1 FROM prescient_future_job LIMIT 100000)) AS pending,
           (SELECT count(*) FROM (SELECT 1 FROM prescient_future_job
                                   WHERE next_check_at BETWEEN slot AND now
                                   LIMIT {counted_at_most})) AS due,
           min({counted_at_most},
               (SELECT count(*) FROM (SELECT 1 FROM prescient_future_job WHERE next_check_at < slot
                                      LIMIT {counted_at_most}))
               + (SELECT count(*) FILTER (WHERE next_check_at >= slot) FROM ({first_put_off}))) AS overdue,
           (SELECT count(*) FROM (SELECT 1 FROM prescient_slot_pass
                                   WHERE pass = 0 AND closed_at_us IS NULL
                                   LIMIT {counted_at_most})) AS unclosed_slots
      FROM this)
SELECT now AS now_at, length_s AS slot_length_s, (SELECT max(version)
                                                  FROM prescient_migration) AS schema_version,
       pending, 0 AS is_estimate, due, overdue,
       (SELECT min(at) FROM (SELECT min(next_check_at) AS at FROM prescient_future_job
                              WHERE next_check_at < slot
                             UNION ALL
                             SELECT min(put_off_at) FROM prescient_future_job
                              WHERE put_off_at IS NOT NULL)) AS oldest_overdue_at,
       (SELECT min(next_check_at) FROM prescient_future_job WHERE next_check_at > now) AS next_slot_at,
       (SELECT count(*) FROM prescient_slot_lease) AS leases, unclosed_slots,
       (SELECT min(slot_at) FROM prescient_slot_pass WHERE pass = 0
        AND closed_at_us IS NULL) AS oldest_unclosed_at,
       NULL AS oldest_transaction_us, NULL AS transactions_since, NULL AS prepared_transactions,
       (SELECT coalesce(max(id) - min(id) + 1, 0) FROM prescient_future_job_history) AS history_rows,
       0 AS events_withheld, NULL AS withheld_by, NULL AS withheld_us, NULL AS withheld_advice,
       pending >= 100000 AS is_pending_at_least, due >= {counted_at_most} AS is_due_at_least,
       overdue >= {counted_at_most} AS is_overdue_at_least,
       unclosed_slots >= {counted_at_most} AS is_unclosed_at_least, 0 AS never_due
  FROM this, counted

-- part: first_put_off
SELECT put_off_at, next_check_at, job_exec FROM prescient_future_job
 WHERE put_off_at IS NOT NULL ORDER BY put_off_at LIMIT {counted_at_most}

-- name: metrics
-- See the same block of store_pg.sql. A file has no dead rows, and one size.
-- in: clock_us timestamptz
-- out: what text, name text?, outcome text?, n float8?, took_us int8?, took text?, late_us int8?,
-- out: late text?
-- report
WITH this AS (
    SELECT :clock_us / 1000000 AS now, value AS length_s, :clock_us / 1000000 / value * value AS slot
      FROM prescient_setting WHERE name = 'slot_length_s'),
gauges (what, name, n) AS (
    SELECT 'checks_waiting', NULL,
           (SELECT count(*) FROM (SELECT 1 FROM prescient_future_job LIMIT 100000))
    UNION ALL
    SELECT 'checks_overdue', job_exec, count(*)
      FROM (SELECT job_exec FROM prescient_future_job WHERE next_check_at < (SELECT slot FROM this)
             ORDER BY next_check_at LIMIT {counted_at_most}) GROUP BY job_exec
    UNION ALL
    SELECT 'checks_paused', NULL,
           (SELECT count(*) FROM (SELECT 1 FROM prescient_future_job
                                   WHERE next_check_at >= 221845392000 AND next_check_at < 253402300800
                                   LIMIT {counted_at_most}))
    UNION ALL
    SELECT 'backlog_age_seconds', NULL,
           (SELECT coalesce(t.now - (SELECT min(next_check_at) FROM prescient_future_job
                                      WHERE next_check_at <= (SELECT now FROM this)), 0) FROM this AS t)
    UNION ALL
    SELECT 'last_pass_timestamp_seconds', NULL,
           (SELECT max(recorded_at_us) / 1e6
              FROM (SELECT recorded_at_us FROM prescient_slot_pass WHERE slot_at <= (SELECT now FROM this)
                     ORDER BY slot_at DESC LIMIT 300))
    UNION ALL
    SELECT * FROM (SELECT 'engine_last_seen_timestamp_seconds', engine, max(seen_at_us) / 1e6 AS seen_at
                     FROM prescient_engine_seen WHERE counts_until_us > :clock_us
                    GROUP BY engine ORDER BY seen_at DESC, engine LIMIT 200)
    UNION ALL
    SELECT 'leases', 'held', count(*) FILTER (WHERE expires_at_us > :clock_us)
      FROM (SELECT expires_at_us FROM prescient_slot_lease LIMIT {counted_at_most})
    UNION ALL
    SELECT 'leases', 'expired', count(*) FILTER (WHERE expires_at_us <= :clock_us)
      FROM (SELECT expires_at_us FROM prescient_slot_lease LIMIT {counted_at_most})
    UNION ALL
    SELECT 'delivery_backlog', substr(entity_key, 1, instr(entity_key, '/') - 1) AS listener, count(*)
      FROM (SELECT entity_key FROM prescient_future_job
             WHERE bucket = 0 AND entity_name = 'prescient.event' LIMIT {counted_at_most})
     GROUP BY listener
    UNION ALL
    SELECT 'events_withheld_seconds', NULL, 0
    UNION ALL
    SELECT 'store_bytes', 'all', c.page_count * s.page_size FROM pragma_page_count AS c, pragma_page_size AS s
    UNION ALL
    SELECT 'slot_length_seconds', NULL, length_s FROM this)
SELECT * FROM (
    SELECT what, name, outcome, CAST(n AS REAL) AS n, took_us, trim(took, '[]') AS took, late_us,
           trim(late, '[]') AS late
      FROM prescient_tally ORDER BY made_at_us, what, name, outcome LIMIT 20000)
UNION ALL
SELECT what, name, NULL, CAST(n AS REAL), NULL, NULL, NULL, NULL FROM gauges

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
-- Uses the first and last ids of the tables, which have few gaps; but those of events jump by 2^32
-- with each restored copy, so each 2^32 of them are asked for theirs. Passes are counted up to a
-- limit.
-- out: what text, rows int8, bytes int8?, oldest_at timestamptz?
-- report
WITH RECURSIVE block (first) AS (
    SELECT min(id) FROM prescient_event
    UNION ALL
    SELECT (SELECT min(e.id) FROM prescient_event AS e WHERE e.id >= ((first >> 32) + 1) << 32)
      FROM block WHERE first IS NOT NULL)
SELECT 'history' AS what, coalesce(max(id) - min(id) + 1, 0) AS rows, NULL AS bytes,
       (SELECT archived_at_us / 1000000 FROM prescient_future_job_history ORDER BY id LIMIT 1) AS oldest_at
       FROM prescient_future_job_history
UNION ALL
SELECT 'runs', coalesce(max(id) - min(id) + 1, 0), NULL,
       (SELECT recorded_at_us / 1000000 FROM prescient_future_job_run ORDER BY id LIMIT 1)
       FROM prescient_future_job_run
UNION ALL
SELECT 'events',
       coalesce(sum((SELECT max(e.id) FROM prescient_event AS e WHERE e.id < ((first >> 32) + 1) << 32)
                    - first + 1), 0), NULL,
       (SELECT recorded_at_us / 1000000 FROM prescient_event ORDER BY id LIMIT 1)
       FROM block WHERE first IS NOT NULL
UNION ALL
SELECT 'passes', (SELECT count(*) FROM (SELECT 1 FROM prescient_slot_pass LIMIT 100000)), NULL,
       (SELECT recorded_at_us / 1000000 FROM prescient_slot_pass ORDER BY slot_at LIMIT 1)

-- name: jobs_pending
-- out: job_exec text, checks int8, next_check_at timestamptz, is_estimate bool
-- report
SELECT job_exec, count(*) AS checks, min(next_check_at) AS next_check_at, 0 AS is_estimate
  FROM prescient_future_job GROUP BY job_exec ORDER BY job_exec

-- name: waiting_jobs
-- See the same block of store_pg.sql. Looks at the first ten thousand checks by slot, and the ten
-- thousand with the highest ids; and for runs at as many rows of the history.
-- in: known text, most text?
-- out: job_exec text?, checks int8?, first_at timestamptz?, has_run int4?, is_part bool
-- report
WITH soon AS MATERIALIZED (
    SELECT id FROM prescient_future_job ORDER BY next_check_at, bucket, priority, id LIMIT 10001),
part AS MATERIALIZED (
    SELECT count(*) > 10000 AS yes FROM soon),
newest AS MATERIALIZED (
    SELECT id FROM prescient_future_job WHERE (SELECT yes FROM part) ORDER BY id DESC LIMIT 10000),
ended AS MATERIALIZED (
    SELECT job_exec, run_count FROM prescient_future_job_history ORDER BY id DESC LIMIT 10001),
jobs AS MATERIALIZED (
    SELECT job_exec, count(*) AS checks, min(next_check_at) AS first_at
      FROM prescient_future_job
     WHERE id IN (SELECT id FROM soon UNION SELECT id FROM newest) AND put_off_at IS NULL
       AND job_exec NOT IN (SELECT value FROM json_each(:known))
       AND job_exec NOT IN (SELECT job_exec FROM ended WHERE run_count > 0)
     GROUP BY job_exec HAVING max(run_count) = 0
     ORDER BY checks DESC, first_at, job_exec LIMIT coalesce(CAST(:most AS INTEGER), 10000) + 1),
tried AS (
    SELECT * FROM jobs ORDER BY checks DESC, first_at, job_exec LIMIT coalesce(CAST(:most AS INTEGER), 10000))
SELECT job_exec, checks, first_at, CASE WHEN (SELECT count(*) FROM ended) <= 10000 THEN 0 END AS has_run,
       (SELECT yes FROM part) AS is_part FROM tried
UNION ALL
SELECT NULL, NULL, NULL, NULL, (SELECT yes FROM part) OR (SELECT count(*) FROM jobs) > CAST(:most AS INTEGER)
 ORDER BY checks DESC NULLS LAST, first_at, job_exec

-- name: events_handed_out
-- The greatest id that an event of this file ever had.
-- out: id int8
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'prescient_event'), 0) AS id

-- name: event_before
-- The newest event of an id that is not greater, and when it was written.
-- in: id text
-- out: id int8, at_us int8
SELECT id, recorded_at_us AS at_us FROM prescient_event WHERE id <= CAST(:id AS INTEGER)
 ORDER BY id DESC LIMIT 1

-- name: events_hold
-- The sequence of ids of events exists from the first one on.
INSERT INTO sqlite_sequence (name, seq)
SELECT 'prescient_event', 0
 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'prescient_event')

-- name: events_restart
-- Ids of events go on far above all that a lost history has given out beside this copy of the file.
UPDATE sqlite_sequence SET seq = seq + (1 << 32) WHERE name = 'prescient_event'

-- part: event_as_shown
'0-' || recorded_at_us || '-' || id AS cursor, event, entity_name, entity_key, job_exec,
       emitted_at_us, slot_at, check_count + 1 AS check_number, data

-- name: events
-- in: after_id text?, most text?
-- out: cursor text, event text, entity_name text?, entity_key text?, job_exec text?,
-- out: emitted_at_us timestamptz, slot_at timestamptz?, check_number int8?, data text?
SELECT {event_as_shown}
  FROM prescient_event WHERE id > coalesce(CAST(:after_id AS INTEGER), 0)
 ORDER BY id LIMIT coalesce(CAST(:most AS INTEGER), -1)

-- name: events_back
-- The newest of them, or of those before a cursor, newest first.
-- in: before_id text?, most text?
-- out: cursor text, event text, entity_name text?, entity_key text?, job_exec text?,
-- out: emitted_at_us timestamptz, slot_at timestamptz?, check_number int8?, data text?
SELECT {event_as_shown}
  FROM prescient_event WHERE id < coalesce(CAST(:before_id AS INTEGER), 9223372036854775807)
 ORDER BY id DESC LIMIT coalesce(CAST(:most AS INTEGER), -1)

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
SELECT coalesce((SELECT '0-' || recorded_at_us || '-' || id FROM prescient_event ORDER BY id DESC LIMIT 1),
                '0-0-0') AS cursor

-- ---- named readers of events --------------------------------------------------------------------

-- name: events_from
-- in: at text?
-- out: cursor text
-- report
SELECT '0-' || coalesce((SELECT recorded_at_us FROM prescient_event AS e WHERE e.id = place.id), 0)
       || '-' || place.id AS cursor
  FROM (SELECT coalesce((SELECT id - 1 FROM prescient_event
                          WHERE recorded_at_us >= CAST(:at AS INTEGER) * 1000000
                          ORDER BY id LIMIT 1), (SELECT max(id) FROM prescient_event), 0) AS id) AS place

-- name: cursor_make
-- in: name text?, clock_us timestamptz
-- out: made int8
-- report: writes
INSERT INTO prescient_cursor (kind, name, made_at_us) VALUES ('consumer', :name, :clock_us)
    ON CONFLICT DO NOTHING RETURNING 1 AS made

-- name: cursor_take
-- See the same block of store_pg.sql.
-- in: name text?, owner text?, held_by text?, lease_ms text?, seen_owner text?, seen_token text?,
-- in: seen_until_us text?, clock_us timestamptz
UPDATE prescient_cursor
   SET owner = :owner, token = token + 1, held_by = :held_by,
       expires_at_us = :clock_us + CAST(:lease_ms AS INTEGER) * 1000
 WHERE kind = 'consumer' AND name = :name
   AND (owner IS NULL OR owner = :owner OR expires_at_us <= :clock_us
        OR (owner = :seen_owner AND token = CAST(:seen_token AS INTEGER)
            AND expires_at_us = CAST(:seen_until_us AS INTEGER)))

-- name: cursor_taken
-- in: name text?, owner text?
-- out: cursor text, ours int8, owner text?, token int8, held_by text?, until_us int8?,
-- out: pruned_at int8?
SELECT generation || '-' || xid || '-' || id AS cursor, owner IS NOT NULL AND owner = :owner AS ours, owner,
       token, held_by, expires_at_us AS until_us, pruned_at_us / 1000000 AS pruned_at
  FROM prescient_cursor WHERE kind = 'consumer' AND name = :name

-- name: cursor_renew
-- in: name text?, owner text?, token text?, lease_ms text?, clock_us timestamptz
-- out: renewed int8
-- report: writes
UPDATE prescient_cursor SET expires_at_us = :clock_us + CAST(:lease_ms AS INTEGER) * 1000
 WHERE kind = 'consumer' AND name = :name AND owner = :owner AND token = CAST(:token AS INTEGER)
RETURNING 1 AS renewed

-- name: cursor_move
-- in: name text?, owner text?, token text?, lease_ms text?, from_generation text?, from_xid text?,
-- in: from_id text?, generation text?, xid text?, id text?, skipped text?, clock_us timestamptz
-- out: moved int8
-- report: writes
UPDATE prescient_cursor
   SET generation = CAST(:generation AS INTEGER), xid = CAST(:xid AS INTEGER), id = CAST(:id AS INTEGER),
       moved_at_us = :clock_us, expires_at_us = :clock_us + CAST(:lease_ms AS INTEGER) * 1000,
       skipped = skipped + CAST(:skipped AS INTEGER)
 WHERE kind = 'consumer' AND name = :name AND owner = :owner AND token = CAST(:token AS INTEGER)
   AND generation = CAST(:from_generation AS INTEGER) AND xid = CAST(:from_xid AS INTEGER)
   AND id = CAST(:from_id AS INTEGER)
RETURNING 1 AS moved

-- name: cursor_release
-- in: name text?, owner text?, token text?
-- out: released int8
-- report: writes
UPDATE prescient_cursor SET owner = NULL, expires_at_us = NULL
 WHERE kind = 'consumer' AND name = :name AND owner = :owner AND token = CAST(:token AS INTEGER)
RETURNING 1 AS released

-- name: cursor_reset
-- in: name text?, generation text?, xid text?, id text?, clock_us timestamptz
-- out: made int8
INSERT INTO prescient_cursor (kind, name, generation, xid, id, made_at_us, moved_at_us)
VALUES ('consumer', :name, CAST(:generation AS INTEGER), CAST(:xid AS INTEGER), CAST(:id AS INTEGER),
        :clock_us, :clock_us)
    ON CONFLICT (kind, name) DO UPDATE
   SET generation = excluded.generation, xid = excluded.xid, id = excluded.id,
       moved_at_us = excluded.moved_at_us, owner = NULL, expires_at_us = NULL, pruned_at_us = NULL
RETURNING made_at_us = moved_at_us AS made

-- name: cursor_forget
-- in: name text?
-- out: forgotten int8
-- report: writes
DELETE FROM prescient_cursor WHERE kind = 'consumer' AND name = :name RETURNING 1 AS forgotten

-- name: engines_seen
-- in: clock_us timestamptz
-- out: engine text, command text, file text, listeners text, seen_at int8
-- report
SELECT engine, command, file, listeners, seen_at_us / 1000000 AS seen_at
  FROM prescient_engine_seen
 WHERE counts_until_us > :clock_us
 ORDER BY seen_at_us DESC, engine, command, file LIMIT 200

-- name: engines
-- See the same block of store_pg.sql.
-- out: engine text, command text, file text, seen_at int8, version text?, host text?, pid int4?,
-- out: started_at int8?, serves text?, jobs text?, last_slot_at int8?, last_pass_at int8?
-- report
SELECT engine, command, file, seen_at_us / 1000000 AS seen_at, version, host, pid,
       started_at_us / 1000000 AS started_at, serves, substr(jobs, 1, 1000) AS jobs, last_slot_at,
       last_pass_at_us / 1000000 AS last_pass_at
  FROM prescient_engines ORDER BY seen_at_us DESC, engine, command, file LIMIT 200

-- name: lately
-- See the same block of store_pg.sql.
-- in: clock_us timestamptz
-- out: last_slot_at int8?, last_pass_at int8?, last_run int8?, last_failed int8?, day_runs int8,
-- out: day_failed int8
-- report
WITH newest AS MATERIALIZED (
    SELECT slot_at, recorded_at_us FROM prescient_slot_pass WHERE slot_at <= :clock_us / 1000000
     ORDER BY slot_at DESC LIMIT 300),
last AS MATERIALIZED (SELECT slot_at FROM newest ORDER BY recorded_at_us DESC LIMIT 1),
passed AS (
    SELECT sum(run) AS run, sum(failed + timeout + crashed) AS failed
      FROM prescient_slot_pass WHERE slot_at = (SELECT slot_at FROM last)),
a_day AS (
    SELECT coalesce(sum(runs), 0) AS runs,
           coalesce(sum(runs) FILTER (WHERE outcome IN {outcomes_of_trouble}), 0) AS failed
      FROM prescient_run_hours WHERE hour_at >= (:clock_us / 1000000 - 86400) / 3600 * 3600)
SELECT (SELECT slot_at FROM last) AS last_slot_at,
       (SELECT max(recorded_at_us) / 1000000 FROM newest) AS last_pass_at,
       p.run AS last_run, p.failed AS last_failed, d.runs AS day_runs, d.failed AS day_failed
  FROM passed AS p, a_day AS d

-- name: consumers
-- in: clock_us timestamptz
-- out: name text, cursor text, unread int8, oldest_unread_at int8?, held_by text?,
-- out: held_until_at int8?, moved_at int8?, skipped int8, pruned_at int8?
-- report
SELECT c.name, c.cursor,
       (SELECT count(*) FROM (SELECT 1 FROM prescient_event WHERE id > c.id LIMIT 10000)) AS unread,
       (SELECT recorded_at_us / 1000000 FROM prescient_event WHERE id > c.id
         ORDER BY id LIMIT 1) AS oldest_unread_at,
       c.held_by, CASE WHEN c.held_until_us > :clock_us THEN c.held_until_us / 1000000 END AS held_until_at,
       c.moved_at_us / 1000000 AS moved_at, c.skipped, c.pruned_at_us / 1000000 AS pruned_at
  FROM prescient_consumers AS c ORDER BY c.name

-- name: consumers_unread
-- in: before text?
-- out: name text, unread int8
-- report
SELECT name, unread
  FROM (SELECT c.name,
               (SELECT count(*)
                  FROM (SELECT 1 FROM prescient_event
                         WHERE id > c.id
                           AND recorded_at_us < CAST(:before AS INTEGER) * 1000000
                         LIMIT 10000)) AS unread
          FROM prescient_consumers AS c)
 WHERE unread > 0 ORDER BY name

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
            ORDER BY next_check_at LIMIT {counted_at_most}))
SELECT 'overdue checks' AS what, CASE WHEN n = 0 THEN 'ok' ELSE 'warn' END AS level,
       n || {or_more}
         || coalesce(', the oldest of ' || strftime('%Y-%m-%dT%H:%M:%SZ', oldest, 'unixepoch'), '') AS found,
       CASE WHEN n = 0 THEN '' ELSE 'run prescient sweep, or prescient reslot to move them' END AS advice
           FROM overdue

-- name: doctor_below
-- out: what text, level text, found text, advice text
SELECT 'checks below the mark of the sweep' AS what, CASE WHEN n = 0 THEN 'ok' ELSE 'warn' END AS level,
       n || {or_more} AS found,
       CASE WHEN n = 0 THEN ''
           ELSE 'put there by hand or by a clock that jumped; a full look, once an hour, finds them' END
               AS advice
  FROM (SELECT count(*) AS n FROM (SELECT 1 FROM prescient_future_job
                                    WHERE next_check_at < (SELECT value FROM prescient_setting
                                                           WHERE name = 'swept_until')
                                    LIMIT {counted_at_most}))

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
       n || {or_more}
         || coalesce(', the oldest of ' || strftime('%Y-%m-%dT%H:%M:%SZ', oldest, 'unixepoch'), '') AS found,
       CASE WHEN n = 0 THEN ''
           ELSE 'opened over a day ago and not closed yet: a sweep closes what holds no checks any more' END
               AS advice
  FROM (SELECT count(*) AS n, min(slot_at) AS oldest
          FROM (SELECT slot_at FROM prescient_slot_pass, this
                 WHERE pass = 0 AND closed_at_us IS NULL AND slot_at < slot - 86400
                 ORDER BY slot_at LIMIT {counted_at_most}))

-- name: doctor_engines
-- in: now text?, clock_us timestamptz
-- out: what text, level text, found text, advice text
WITH this AS (
    SELECT slot - max(2 * length_s, 60) AS lately
      FROM (SELECT now / value * value AS slot, value AS length_s
              FROM (SELECT coalesce(CAST(:now AS INTEGER), :clock_us / 1000000) AS now), prescient_setting
             WHERE name = 'slot_length_s')),
newest AS (
    SELECT slot_at, engine FROM prescient_slot_pass WHERE pass > 0 AND slot_at < 221845392000
     ORDER BY slot_at DESC, bucket DESC, pass DESC LIMIT 1),
missing AS (
    SELECT coalesce((SELECT min(next_check_at) FROM prescient_future_job) <= lately, 0)
           AND NOT EXISTS (SELECT 1 FROM prescient_slot_lease WHERE expires_at_us > :clock_us)
           AND coalesce((SELECT slot_at FROM newest) <= lately, 1) AS is_so FROM this)
SELECT 'last pass' AS what, CASE WHEN is_so THEN 'warn' ELSE 'ok' END AS level,
       coalesce((SELECT 'over the slot ' || strftime('%Y-%m-%dT%H:%M:%SZ', slot_at, 'unixepoch') || ', by '
                        || engine FROM newest),
                'none yet') AS found,
       CASE WHEN is_so THEN 'checks are due, and no engine has run for two slots: start prescient daemon, or '
            || 'let cron call prescient run' ELSE '' END AS advice
  FROM missing

-- name: doctor_trouble
-- Of short slots, the newest.
-- in: now text?, clock_us timestamptz
-- out: what text, level text, found text, advice text
WITH this AS (
    SELECT now / value * value AS slot FROM (SELECT coalesce(CAST(:now AS INTEGER),
           :clock_us / 1000000) AS now), prescient_setting
     WHERE name = 'slot_length_s'),
trouble AS (
    SELECT coalesce(sum(failed), 0) AS failed, coalesce(sum(timeout), 0) AS timeout,
           coalesce(sum(crashed), 0) AS crashed,
           CASE WHEN count(*) < {counted_at_most} THEN 'in the last day'
                ELSE 'in the newest ' || {counted_at_most} || ' passes, since '
                     || strftime('%Y-%m-%dT%H:%M:%SZ', min(slot_at), 'unixepoch') END AS in_what,
           CASE WHEN count(*) < {counted_at_most} THEN '' ELSE 'at least ' END AS at_least
      FROM (SELECT slot_at, failed, timeout, crashed FROM prescient_slot_pass
             WHERE slot_at >= (SELECT slot - 86400 FROM this) ORDER BY slot_at DESC
             LIMIT {counted_at_most}))
SELECT 'runs in trouble' AS what, CASE WHEN failed + timeout + crashed = 0 THEN 'ok' ELSE 'warn' END AS level,
       CASE WHEN failed + timeout + crashed = 0 THEN 'none ' || in_what
            ELSE at_least || failed || ' failed, ' || timeout || ' took too long, ' || crashed
                 || ' crashed ' || in_what END AS found,
       CASE WHEN failed + timeout + crashed = 0 THEN ''
            ELSE 'prescient history --outcome failed --since -1d shows checks that ended so, and why; '
                 || 'prescient runs --since -1d those that are tried again' END AS advice
  FROM trouble

-- name: objects_gone
-- What migrations have made and is not there.
-- out: kind text, name text, there int8, made int8
-- report
SELECT m.column1 AS kind, m.column2 AS name, 0 AS there, m.column3 AS made FROM ({made_objects}) AS m
 WHERE NOT EXISTS (SELECT 1 FROM sqlite_schema AS s WHERE s.type = m.column1 AND s.name = m.column2)
 ORDER BY m.column4

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

-- name: prune_fine_passes
-- Those of fine slots: a row or two for each second.
-- in: before_us timestamptz
DELETE FROM prescient_slot_pass
 WHERE slot_at IN (SELECT slot_at FROM prescient_slot_pass AS o
                    WHERE pass = 0 AND closed_at_us IS NOT NULL AND slot_at < :before_us / 1000000
                      AND recorded_at_us < :before_us
                      AND slot_at % (SELECT value FROM prescient_setting WHERE name = 'slot_length_s') <> 0
                      AND NOT EXISTS (SELECT 1 FROM prescient_future_job WHERE next_check_at = o.slot_at)
                      AND NOT EXISTS (SELECT 1 FROM prescient_slot_lease AS l WHERE l.slot_at = o.slot_at)
                    ORDER BY slot_at LIMIT 2000)

-- name: prune_pauses
-- The newest stays: the next slot is the day after it.
-- in: before_us timestamptz
DELETE FROM prescient_pause
 WHERE slot_at IN (SELECT slot_at FROM prescient_pause
                    WHERE ended_at_us < :before_us AND slot_at < (SELECT max(slot_at) FROM prescient_pause)
                    ORDER BY slot_at LIMIT 1000)

-- name: prune_unread
-- in: before_us timestamptz, clock_us timestamptz
UPDATE prescient_cursor SET pruned_at_us = :clock_us
 WHERE EXISTS (SELECT 1 FROM prescient_event AS e
                WHERE e.id > prescient_cursor.id AND e.id < (SELECT min(id) FROM prescient_event) + 5000
                  AND recorded_at_us < :before_us)

-- name: prune_events
-- in: before_us timestamptz
DELETE FROM prescient_event
 WHERE id < (SELECT min(id) FROM prescient_event) + 5000
   AND recorded_at_us < :before_us

-- name: prune_hours
-- in: before_us timestamptz
DELETE FROM prescient_run_hour
 WHERE (hour_at, job_exec, entity_name, tenant, outcome) IN (
           SELECT hour_at, job_exec, entity_name, tenant, outcome FROM prescient_run_hour
            WHERE hour_at < :before_us / 1000000 ORDER BY hour_at LIMIT 2000)

-- name: prune_hours_count
-- in: before_us timestamptz
-- out: n int8
SELECT count(*) AS n FROM prescient_run_hour WHERE hour_at < :before_us / 1000000

-- name: prune_changes
-- in: before_us timestamptz
DELETE FROM prescient_change
 WHERE id IN (SELECT id FROM prescient_change WHERE changed_at_us < :before_us
               ORDER BY changed_at_us LIMIT 2000)

-- name: prune_changes_count
-- in: before_us timestamptz
-- out: n int8
SELECT count(*) AS n FROM prescient_change WHERE changed_at_us < :before_us

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

-- name: prune_pauses_count
-- in: before_us timestamptz
-- out: n int8
SELECT count(*) AS n FROM prescient_pause
 WHERE ended_at_us < :before_us AND slot_at < (SELECT max(slot_at) FROM prescient_pause)

-- name: prune_events_count
-- in: before_us timestamptz
-- out: n int8
SELECT count(*) AS n FROM prescient_event WHERE recorded_at_us < :before_us

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

-- name: reslot_tell
-- Makes each connection look at the schema again, and so at the slot length.
-- script
CREATE VIEW prescient_slot_length_has_changed AS SELECT 1;
DROP VIEW prescient_slot_length_has_changed

-- name: reslot_sought
-- Before the setting changes: each check of a schedule that is to find its first occurrence, or was
-- edited and is to find it in the slot asked for, gets the word that says so in slots of any length
-- (prescient_first). One that does the former needs no second look for an edit. Where a run was
-- asked for beside an edit, the rule holds from that slot on, also when it moves.
-- in: new_s int8
UPDATE prescient_future_job
   SET terms = CASE WHEN f.finds_first THEN f.found || ' sought ' || first_check_at || ' from ' || f.since
                    WHEN again_at = f.since THEN f.kept || ' from ' || {again_in_new}
                    ELSE f.found || ' sought ' || {again_in_new} || ' from ' || f.since END,
       again_at = CASE WHEN f.finds_first THEN nullif(again_at, f.first_slot) ELSE again_at END
  FROM prescient_first AS f
 WHERE f.id = prescient_future_job.id
   AND ((f.finds_first AND next_check_at >= first_check_at) OR again_at IN (f.first_slot, f.sought, f.since))

-- part: again_in_new
((again_at + :new_s - 1) / :new_s * :new_s)

-- name: reslot
-- A check that is not on a slot of the new length goes to the next slot that has not begun. What
-- waits in a fine slot waits there still.
-- in: old_s int8, new_s int8, now timestamptz
UPDATE prescient_future_job
   SET next_check_at = CASE WHEN next_check_at % :old_s <> 0 OR next_check_at % :new_s = 0 THEN next_check_at
                            ELSE max((next_check_at / :new_s + 1) * :new_s, (:now / :new_s + 1) * :new_s) END,
       again_at = CASE WHEN again_at % :old_s <> 0 THEN again_at
                       ELSE (again_at + :new_s - 1) / :new_s * :new_s END
 WHERE (next_check_at % :old_s = 0 AND next_check_at % :new_s <> 0) OR again_at IS NOT NULL
