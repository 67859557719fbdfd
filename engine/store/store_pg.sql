-- store_pg.sql - what the PostgreSQL store asks, one named block a statement. "prescient." stands for the schema in use.
-- {word} is replaced by the block `word` (store_pg_sql.c), so that a condition needed in several statements stands once.
-- A lock timeout is set inside the statement, before its first lock, and for its transaction only: no session setting, so
-- a pooler may hand every transaction another connection.

-- ---- connecting ------------------------------------------------------------------------------------------------------

-- name: check
SELECT current_setting('transaction_isolation'), current_setting('server_encoding'),
       coalesce(max(version), 0), coalesce(max(oldest_engine), 0),
       coalesce((SELECT value::integer FROM prescient.setting WHERE name = 'slot_length_s'), 0)
  FROM prescient.migration

-- name: hello
SELECT clock_timestamp(), (SELECT value::integer FROM prescient.setting WHERE name = 'slot_length_s'),
       (SELECT max(version) FROM prescient.migration), pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean

-- ---- leases ----------------------------------------------------------------------------------------------------------

-- name: open_slot
-- $1 slot, $2 split_at, $3 owner, $4 engine, $5 lease seconds, $6 want, $7 again, $8 jobs or NULL, $9 lock timeout,
-- $10 to $13 the watched leases' bucket, owner, token, expires_at, $14 and $15 an order of buckets that is the owner's own.
-- Rows: first the slot, then the leases taken, then those wanted but held. No row at all: another engine opens it right now.
-- The count runs only when there is no opening row. An empty slot has had its last look with that; the id of this
-- transaction, taken in the same statement, is above that of everything this look may have missed.
WITH setup AS MATERIALIZED (
    SELECT set_config('lock_timeout', $9, true) AS lock_timeout),
opening AS (
    INSERT INTO prescient.slot_pass (slot_at, bucket, pass, split, engine, pending, seen_xid)
    SELECT $1, -1, 0, CASE WHEN n.pending > $2 THEN 64 ELSE 1 END, $4, n.pending,
           CASE WHEN n.pending = 0 THEN pg_current_xact_id()::text::bigint END
      FROM setup, (SELECT count(*) AS pending
                     FROM (SELECT FROM prescient.future_job f WHERE f.next_check_at = $1 LIMIT $2 + 1) few) n
     WHERE NOT EXISTS (SELECT FROM prescient.slot_pass p WHERE p.slot_at = $1 AND p.bucket = -1 AND p.pass = 0)
        ON CONFLICT DO NOTHING
    RETURNING split, seen_xid, closed_at, pending),
slot AS MATERIALIZED (
    SELECT split, seen_xid, closed_at, pending FROM opening
    UNION ALL
    SELECT split, seen_xid, closed_at, -1 FROM prescient.slot_pass WHERE slot_at = $1 AND bucket = -1 AND pass = 0),
done AS MATERIALIZED (
    SELECT bucket FROM prescient.slot_pass WHERE slot_at = $1 AND pass > 0
    UNION
    SELECT -1 FROM slot WHERE seen_xid IS NOT NULL),
held AS MATERIALIZED (
    SELECT bucket, owner, token, expires_at FROM prescient.slot_lease WHERE slot_at = $1),
ripe AS MATERIALIZED (
    SELECT l.bucket FROM prescient.slot_lease l, setup
     WHERE l.slot_at = $1 AND (l.expires_at <= clock_timestamp()
           OR (l.bucket, l.owner, l.token, l.expires_at) IN (SELECT * FROM unnest($10, $11, $12, $13)))
       FOR UPDATE OF l SKIP LOCKED),
wanted AS MATERIALIZED (
    SELECT b.bucket FROM slot, generate_series(CASE slot.split WHEN 1 THEN -1 ELSE 0 END, CASE slot.split WHEN 1 THEN -1 ELSE 63 END) b (bucket)
     WHERE NOT EXISTS (SELECT FROM done WHERE done.bucket = b.bucket)
        OR ($7 AND EXISTS (SELECT FROM prescient.future_job f
                            WHERE f.next_check_at = $1 AND f.bucket >= greatest(b.bucket, 0)
                              AND f.bucket <= CASE b.bucket WHEN -1 THEN 63 ELSE b.bucket END AND ($8 IS NULL OR f.job_exec = ANY ($8))))),
taken AS (
    INSERT INTO prescient.slot_lease AS l (slot_at, bucket, owner, engine, expires_at)
    SELECT $1, w.bucket, $3, $4, clock_timestamp() + $5 * interval '1 second'
      FROM wanted w
     WHERE (NOT EXISTS (SELECT FROM held WHERE held.bucket = w.bucket) OR EXISTS (SELECT FROM ripe WHERE ripe.bucket = w.bucket))
       AND prescient.history_day_is_there(prescient.utc_day(clock_timestamp()))
     ORDER BY (w.bucket * $14 + $15) & 63 LIMIT $6
        ON CONFLICT (slot_at, bucket) DO UPDATE
       SET owner = excluded.owner, token = nextval('prescient.slot_lease_token_seq'), engine = excluded.engine, expires_at = excluded.expires_at
     WHERE l.bucket IN (SELECT ripe.bucket FROM ripe)
    RETURNING l.bucket, l.owner, l.token, l.expires_at)
SELECT 0 AS part, split::integer AS bucket, NULL::uuid AS owner,
       CASE WHEN closed_at IS NOT NULL THEN 2 WHEN (SELECT count(*) FROM done) >= split THEN 1 ELSE 0 END::bigint AS token,
       clock_timestamp() AS expires_at, pending, prescient.history_day_is_there(prescient.utc_day(clock_timestamp()))
  FROM slot
UNION ALL
SELECT 1, bucket, owner, token, expires_at, 0, true FROM taken
UNION ALL
SELECT 2, h.bucket, h.owner, h.token, h.expires_at, 0, true
  FROM held h WHERE h.bucket IN (SELECT w.bucket FROM wanted w) AND h.bucket NOT IN (SELECT r.bucket FROM ripe r)

-- name: renew
-- $1 slots, $2 buckets, $3 owners, $4 tokens, $5 lease seconds, $6 lock timeout
UPDATE prescient.slot_lease l SET expires_at = clock_timestamp() + $5 * interval '1 second'
  FROM (SELECT set_config('lock_timeout', $6, true) AS lock_timeout OFFSET 0) setup,
       unnest($1, $2, $3, $4) WITH ORDINALITY u (slot_at, bucket, owner, token, n)
 WHERE setup.lock_timeout IS NOT NULL AND l.slot_at = u.slot_at AND l.bucket = u.bucket AND l.owner = u.owner AND l.token = u.token
RETURNING u.n, l.expires_at

-- name: release
-- $1 slots, $2 buckets, $3 owners, $4 tokens, $5 lock timeout
DELETE FROM prescient.slot_lease l
 USING (SELECT set_config('lock_timeout', $5, true) AS lock_timeout OFFSET 0) setup,
       unnest($1, $2, $3, $4) u (slot_at, bucket, owner, token)
 WHERE setup.lock_timeout IS NOT NULL AND l.slot_at = u.slot_at AND l.bucket = u.bucket AND l.owner = u.owner AND l.token = u.token

-- name: lease_held
-- FOR SHARE lets no takeover pass until this transaction ends; behind one that came first, the row is looked at again and is not
-- ours any more. `begun` reads the clock with the lock held.
lease AS MATERIALIZED (
    SELECT FROM prescient.slot_lease
     WHERE slot_at = $1 AND bucket = $2 AND owner = $4 AND token = $5 AND set_config('lock_timeout', $6, true) IS NOT NULL
       FOR SHARE),
begun AS MATERIALIZED (
    SELECT clock_timestamp() AS at FROM lease)

-- ---- pages -----------------------------------------------------------------------------------------------------------

-- name: read_page
-- $1 slot, $2 bucket; $3 priority and $4 id of the last row read; $5 most rows, $6 about so many bytes
SELECT id, first_check_at, deferred_at, bucket::integer, priority, check_count, failure_count, entity_name, entity_key, job_exec, payload
  FROM (SELECT f.*, sum({bytes}) OVER (ORDER BY f.priority, f.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
          FROM (SELECT * FROM prescient.future_job
                 WHERE next_check_at = $1 AND bucket = $2 AND (priority, id) > ($3, $4)
                 ORDER BY priority, id LIMIT $5) f) page
 WHERE coalesce(before, 0) < $6

-- name: read_slot
-- $1 slot; $2 bucket, $3 priority and $4 id of the last row read; $5 most rows, $6 about so many bytes
SELECT id, first_check_at, deferred_at, bucket::integer, priority, check_count, failure_count, entity_name, entity_key, job_exec, payload
  FROM (SELECT f.*, sum({bytes}) OVER (ORDER BY f.bucket, f.priority, f.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before
          FROM (SELECT * FROM prescient.future_job
                 WHERE next_check_at = $1 AND (bucket, priority, id) > ($2, $3, $4)
                 ORDER BY bucket, priority, id LIMIT $5) f) page
 WHERE coalesce(before, 0) < $6

-- name: bytes
octet_length(f.entity_name) + octet_length(f.entity_key) + octet_length(f.job_exec) + coalesce(octet_length(f.payload::text), 0)

-- ---- settle ----------------------------------------------------------------------------------------------------------

-- $9 holds the page's ids in order. What belongs to a row is found by its place in there (width_bucket is a binary search) and a
-- subscript: a join to unnest() goes quadratic when there are no statistics. $10 holds the counts as read, both in one number.

-- name: rows_of_bucket
f.next_check_at = $1 AND f.bucket = $2 AND f.priority = $3 AND f.id = ANY ($9)

-- name: rows_of_slot
-- Of a slot that was not split there are few rows, and the index has no (slot, id): all are looked at.
f.next_check_at = $1 AND f.priority = $3 AND ($9)[width_bucket(f.id, $9)] = f.id

-- name: as_read
(f.check_count::bigint << 32 | f.failure_count) = ($10)[width_bucket(f.id, $9)]

-- name: unlocked_rows
{rows} AND (ARRAY(SELECT u.id FROM unlocked u ORDER BY u.id))[width_bucket(f.id, ARRAY(SELECT u.id FROM unlocked u ORDER BY u.id))] = f.id

-- name: unlocked
unlocked AS MATERIALIZED (
    SELECT f.id FROM prescient.future_job f
     WHERE {rows} AND {as_read} AND EXISTS (SELECT FROM begun)
       FOR UPDATE SKIP LOCKED),

-- name: still_there
-- The places of rows that are as read; those that were not touched are locked.
ARRAY(SELECT width_bucket(f.id, $9) FROM prescient.future_job f WHERE {rows} AND {as_read})

-- name: nobody_asked
NULL::integer[]

-- name: settle_end
-- $1 slot, $2 bucket, $3 priority, $4 owner, $5 token, $6 lock timeout, $7 virtual now or NULL, $8 engine, $9 ids, $10 as read,
-- and by place: $11 check counts, $12 failure counts, $13 outcome (a place in $14, names), $15 run began, $16 run took (-1: did
-- not run), $17 note (a place in $18, texts; 0: none); $19 remember what was touched, for the effects.
-- One row comes back: whether the lease is ours, how many rows were touched, their places where that is not all, and with
-- skip_locked the places of the rows that are still as read.
-- `anew` looks only when `gone` left something: rows that were asked for again while their slot was running. They are locked
-- first, so that what their old life was is known; then the row lives on under a new id.
WITH {lease_held},
{unlocked}
gone AS (
    DELETE FROM prescient.future_job f
     WHERE {chosen} AND {as_read} AND f.again_at IS NULL AND EXISTS (SELECT FROM begun)
    RETURNING width_bucket(f.id, $9) AS place, f.first_check_at, f.entity_name, f.entity_key, f.job_exec,
              f.first_run_at, f.run_count, f.total_run_us, f.payload),
anew AS MATERIALIZED (
    SELECT width_bucket(f.id, $9) AS place, f.first_check_at, f.entity_name, f.entity_key, f.job_exec,
           f.first_run_at, f.run_count, f.total_run_us, f.payload, f.bucket, f.id, f.again_at
      FROM prescient.future_job f
     WHERE {chosen} AND {as_read} AND f.again_at IS NOT NULL AND (SELECT count(*) FROM gone) < cardinality($9)
       FOR UPDATE),
renewed AS (
    UPDATE prescient.future_job f
       SET id = nextval('prescient.future_job_id_seq'), first_check_at = n.slot, next_check_at = n.slot, check_count = 0, failure_count = 0,
           again_at = NULL, deferred_at = NULL, first_run_at = NULL, run_count = NULL, total_run_us = NULL
      FROM anew a, LATERAL (SELECT prescient.slot_for(a.again_at, coalesce($7, b.at)) AS slot FROM begun b) n
     WHERE f.bucket = a.bucket AND f.entity_name = a.entity_name AND f.entity_key = a.entity_key AND f.job_exec = a.job_exec AND f.id = a.id
    RETURNING a.place),
ended AS (
    SELECT place, first_check_at, entity_name, entity_key, job_exec, first_run_at, run_count, total_run_us, payload FROM gone
    UNION ALL
    SELECT a.place, a.first_check_at, a.entity_name, a.entity_key, a.job_exec, a.first_run_at, a.run_count, a.total_run_us, a.payload
      FROM anew a WHERE a.place IN (SELECT r.place FROM renewed r)),
archived AS (
    INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at, check_count, failure_count, run_count,
           entity_name, entity_key, job_exec, outcome, engine, first_run_at, last_run_at, total_run_us, last_run_us, note, payload)
    SELECT (SELECT at FROM begun), (SELECT coalesce($7, at) FROM begun), $1, e.first_check_at, ($11)[e.place], ($12)[e.place],
           coalesce(e.run_count, 0) + CASE WHEN ($16)[e.place] >= 0 THEN 1 ELSE 0 END,
           e.entity_name, e.entity_key, e.job_exec, ($14)[($13)[e.place]], $8,
           CASE WHEN ($16)[e.place] >= 0 THEN coalesce(e.first_run_at, ($15)[e.place]) ELSE e.first_run_at END,
           CASE WHEN ($16)[e.place] >= 0 THEN ($15)[e.place] END,
           coalesce(e.total_run_us, 0) + greatest(($16)[e.place], 0), nullif(($16)[e.place], -1), ($18)[($17)[e.place]],
           CASE WHEN e.payload IS NOT NULL AND ($14)[($13)[e.place]] IN ('failed', 'timeout', 'crashed', 'bad_answer') THEN e.payload END
      FROM ended e)
SELECT EXISTS (SELECT FROM lease), t.n,
       CASE WHEN t.n < cardinality($9) THEN ARRAY(SELECT place FROM gone UNION ALL SELECT place FROM renewed) END,
       {still_there},
       CASE WHEN $19 THEN set_config('prescient.ended', ARRAY(SELECT ($9)[place] FROM gone UNION ALL SELECT ($9)[place] FROM renewed)::text, true) END
  FROM (SELECT ((SELECT count(*) FROM gone) + (SELECT count(*) FROM renewed))::integer AS n) t

-- name: settle_move
-- $1 to $12 as above; $13 outcome of the run row (a place in $14, names; 0: leaves none), $15 run began, $16 run took (-1: did
-- not run), $17 note (a place in $18, texts; 0: none); $19 remember what was touched; $20 next slots, $21 deferred_at (the epoch: none).
WITH {lease_held},
{unlocked}
moved AS (
    UPDATE prescient.future_job f
       SET next_check_at = greatest(($20)[width_bucket(f.id, $9)], (SELECT prescient.slot_next(coalesce($7, at)) FROM begun)),
           check_count = ($11)[width_bucket(f.id, $9)],
           failure_count = ($12)[width_bucket(f.id, $9)],
           deferred_at = nullif(($21)[width_bucket(f.id, $9)], '1970-01-01 00:00:00+00'),
           first_run_at = CASE WHEN f.first_run_at IS NULL AND ($16)[width_bucket(f.id, $9)] >= 0 THEN ($15)[width_bucket(f.id, $9)] ELSE f.first_run_at END,
           run_count = CASE WHEN ($16)[width_bucket(f.id, $9)] >= 0 THEN coalesce(f.run_count, 0) + 1 ELSE f.run_count END,
           total_run_us = CASE WHEN ($16)[width_bucket(f.id, $9)] >= 0 THEN coalesce(f.total_run_us, 0) + ($16)[width_bucket(f.id, $9)] ELSE f.total_run_us END
     WHERE {chosen} AND {as_read} AND EXISTS (SELECT FROM begun)
    RETURNING width_bucket(f.id, $9) AS place, f.next_check_at, f.entity_name, f.entity_key, f.job_exec),
run_log AS (
    INSERT INTO prescient.future_job_run (run_at, slot_at, next_check_at, run_us, check_count, failure_count, entity_name, entity_key, job_exec,
                                          outcome, engine, note)
    SELECT ($15)[m.place], $1, m.next_check_at, ($16)[m.place], ($11)[m.place], ($12)[m.place], m.entity_name, m.entity_key, m.job_exec,
           ($14)[($13)[m.place]], $8, ($18)[($17)[m.place]]
      FROM moved m WHERE ($13)[m.place] > 0)
SELECT EXISTS (SELECT FROM lease), t.n,
       CASE WHEN t.n < cardinality($9) THEN ARRAY(SELECT place FROM moved) END,
       {still_there},
       CASE WHEN $19 THEN set_config('prescient.moved', ARRAY(SELECT ($9)[place] FROM moved)::text, true) END
  FROM (SELECT count(*)::integer AS n FROM moved) t

-- name: effects
-- Of the rows that the settle before it, in this transaction, really touched; in the order they were declared.
-- $1 slot, $2 virtual now or NULL; by effect: $3 id of its check, $4 its check_count as read, $5 kind (0 emit, 1 enqueue, 2 resolve),
-- $6 event or conflict, $7 entity, $8 key, $9 job, $10 json, $11 at
WITH touched AS MATERIALIZED (
    SELECT ARRAY(SELECT unnest(nullif(current_setting('prescient.ended', true), '')::bigint[]) UNION ALL
                 SELECT unnest(nullif(current_setting('prescient.moved', true), '')::bigint[]) ORDER BY 1) AS ids),
wanted AS MATERIALIZED (
    SELECT u.*
      FROM touched t, unnest($3, $4, $5, $6, $7, $8, $9, $10, $11)
                      WITH ORDINALITY u (id, check_count, kind, word, entity_name, entity_key, job, json, at, n)
     WHERE t.ids[width_bucket(u.id, t.ids)] = u.id
     ORDER BY u.n),
emitted AS (
    INSERT INTO prescient.event (emitted_at, slot_at, check_count, event, entity_name, entity_key, job_exec, data)
    SELECT coalesce($2, clock_timestamp()), $1, w.check_count, w.word, w.entity_name, w.entity_key, w.job, w.json::json
      FROM wanted w WHERE w.kind = 0),
called AS MATERIALIZED (
    SELECT CASE w.kind
           WHEN 1 THEN (prescient.file_check(w.entity_name, w.entity_key, w.job, w.at, w.json::json, w.word, 0, $2)).outcome
           WHEN 2 THEN prescient.resolve_at(w.entity_name, w.entity_key, w.job, $2)::text END AS outcome
      FROM wanted w WHERE w.kind > 0)
SELECT count(outcome) FROM called

-- ---- the end of a bucket -----------------------------------------------------------------------------------------------

-- name: finish
-- $1 slot, $2 bucket, $3 owner, $4 token, $5 lock timeout, $6 leave, $7 jobs left, $8 engine, $9 the counts, in the order of the columns.
-- The look, the pass's row and the lease's end are one statement. Its transaction id is above that of all whom the look may have missed.
WITH lease AS MATERIALIZED (
    SELECT FROM prescient.slot_lease
     WHERE slot_at = $1 AND bucket = $2 AND owner = $3 AND token = $4 AND set_config('lock_timeout', $5, true) IS NOT NULL
       FOR UPDATE),
given_back AS (
    DELETE FROM prescient.slot_lease l
     WHERE l.slot_at = $1 AND l.bucket = $2 AND l.owner = $3 AND l.token = $4 AND EXISTS (SELECT FROM lease)
       AND ($6 OR NOT EXISTS (SELECT FROM prescient.future_job f
                               WHERE f.next_check_at = $1 AND f.bucket >= greatest($2, 0) AND f.bucket <= CASE $2 WHEN -1 THEN 63 ELSE $2 END
                                 AND f.job_exec <> ALL ($7)))
    RETURNING l.bucket),
recorded AS (
    INSERT INTO prescient.slot_pass (slot_at, bucket, pass, engine, seen_xid, run, done, again, deferred, failed, timeout, crashed, guarded,
                                     held_back, unknown_job, superseded, locked, late_us, took_us, left_jobs)
    SELECT $1, g.bucket, 1 + coalesce((SELECT max(pass) FROM prescient.slot_pass p WHERE p.slot_at = $1 AND p.bucket = g.bucket), 0), $8,
           pg_current_xact_id()::text::bigint, ($9)[1], ($9)[2], ($9)[3], ($9)[4], ($9)[5], ($9)[6], ($9)[7], ($9)[8], ($9)[9], ($9)[10],
           ($9)[11], ($9)[12], ($9)[13], ($9)[14], CASE WHEN cardinality($7) > 0 THEN $7 END
      FROM given_back g)
SELECT EXISTS (SELECT FROM lease), EXISTS (SELECT FROM given_back)

-- name: relook
-- $1 most slots. The look and the snapshot are one statement: a slot is closed when all its buckets were finished, every
-- transaction that their last looks may have missed has ended before this statement began, and this look finds no row.
WITH unclosed AS MATERIALIZED (
    SELECT o.slot_at, EXISTS (SELECT FROM prescient.future_job f WHERE f.next_check_at = o.slot_at) AS has_rows,
           o.seen_xid IS NULL AND (SELECT count(DISTINCT p.bucket) FROM prescient.slot_pass p WHERE p.slot_at = o.slot_at AND p.pass > 0) < o.split AS undone,
           (SELECT max(p.seen_xid) FROM prescient.slot_pass p WHERE p.slot_at = o.slot_at)
               <= pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS is_settled
      FROM prescient.slot_pass o WHERE o.pass = 0 AND o.closed_at IS NULL),
closed AS (
    UPDATE prescient.slot_pass o SET closed_at = clock_timestamp()
      FROM unclosed u
     WHERE o.slot_at = u.slot_at AND o.bucket = -1 AND o.pass = 0 AND o.closed_at IS NULL AND NOT u.has_rows AND NOT u.undone AND u.is_settled
    RETURNING o.slot_at)
SELECT * FROM (SELECT u.slot_at, u.has_rows, u.undone, 0 AS closed FROM unclosed u WHERE u.slot_at NOT IN (SELECT c.slot_at FROM closed c)
                ORDER BY u.slot_at LIMIT $1) listed
UNION ALL
SELECT NULL, false, false, count(*)::integer FROM closed

-- name: late_slot
-- $1 from, $2 before
SELECT next_check_at FROM prescient.future_job WHERE next_check_at >= $1 AND next_check_at < $2 ORDER BY next_check_at LIMIT 1

-- name: late_slot_from_mark
-- $1 before. A mark that is not there yet is the beginning of time.
SELECT next_check_at FROM prescient.future_job
 WHERE next_check_at < $1
   AND next_check_at >= coalesce((SELECT to_timestamp(value::bigint) FROM prescient.setting WHERE name = 'swept_until'), '-infinity')
 ORDER BY next_check_at LIMIT 1

-- name: mark_swept
-- $1 slot; the mark only moves up
INSERT INTO prescient.setting AS s VALUES ('swept_until', $1::text)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE s.value::bigint < excluded.value::bigint

-- name: keep_days
-- $1 days ahead
SELECT prescient.keep_history_days($1), prescient.index_history_day()
