-- store_pg.sql - the statements of the PostgreSQL store, one named block each. "prescient." stands
-- for the schema in use. The build (statements.awk, whose head describes the form of this file)
-- replaces {word} by the part `word`, so that a condition of several statements is written once,
-- and makes C structs of parameters and columns. build/sql/pg/ has each statement as it is sent. A
-- lock timeout is set inside its statement, before the first lock, and for this transaction only.
-- It is no session setting, so a pooler may run every transaction in another session.
-- forms: relaxed slot skip mixed fine paused large degraded narrow present own once urgent small

-- ---- the path -----------------------------------------------------------------------------------

-- name: path
-- Goes before every statement, in its transaction. Users may create operators and functions in a
-- schema of the search_path ("public", up to PostgreSQL 14); one whose types fit better would be
-- called instead, with the caller's rights. The path excludes them. Timeouts set for the role or
-- the database do not apply: a call has its own deadline, and a statement that must not wait for a
-- lock sets its own limit. A timeout that occurs while a commit waits for a synchronous standby
-- would end that wait and report success. JIT compilation takes longer than these statements, also
-- those that the planner takes for dear ones. In the form `relaxed`, of a replay, the commit does
-- not wait for the disk.
-- forms: relaxed
-- out: search_path text, statement_timeout text, lock_timeout text, jit text,
-- out: synchronous_commit text?
SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true) AS search_path,
       pg_catalog.set_config('statement_timeout', '0', true) AS statement_timeout,
       pg_catalog.set_config('lock_timeout', '0', true) AS lock_timeout,
       pg_catalog.set_config('jit', 'off', true) AS jit,
       {commit_setting} AS synchronous_commit

-- part: commit_setting
NULL::text

-- part: commit_setting_relaxed
pg_catalog.set_config('synchronous_commit', 'off', true)

-- name: reading
-- Goes before each report that only reads. :within is in ms, a little less than the client waits:
-- the server ends a query that nobody waits for any more. From PostgreSQL 14 on, it also ends one
-- whose client is gone, within a second. A transaction without an id does not wait for standbys at
-- commit, so a timeout here never hides a commit. Parallel workers take longer to start than these
-- statements take to run, and engines need the processors. enable_sort = off makes the planner take
-- order from an index: it cannot know where the running slot lies, expects a third of the table to
-- be overdue, and would read and sort all of it. On systems other than Linux,
-- client_connection_check_interval may be an error (on Windows always). The server itself refuses
-- what such a transaction would write.
-- in: within text
-- out: statement_timeout text, workers text, sort text, check_interval text?, read_only text
SELECT set_config('statement_timeout', :within, true) AS statement_timeout,
       set_config('max_parallel_workers_per_gather', '0', true) AS workers,
       set_config('enable_sort', 'off', true) AS sort,
       CASE WHEN current_setting('server_version_num')::integer >= 140000 AND version() LIKE '%linux%'
            THEN set_config('client_connection_check_interval', '1s', true) END AS check_interval,
       set_config('transaction_read_only', 'on', true) AS read_only

-- name: writing
-- Goes before each report that writes. :within is in ms, a part of what the client waits: behind a
-- lock the server gives up first. A statement that nobody waits for any more would get the lock
-- some time later, and do what its user was told had failed.
-- in: within text
-- out: lock_timeout text
SELECT set_config('lock_timeout', :within, true) AS lock_timeout

-- ---- connecting ---------------------------------------------------------------------------------

-- part: silence_settings
-- :silence_ms: over TCP, the server ends the session when it has not heard from our machine for
-- this long. If a connection breaks in the middle of a message, its transaction would hold its
-- locks, also on leases, until TCP gives up: two hours. Set for the session, so once a connection;
-- behind a pooler it affects the pooler's connection, which does no harm.
set_config('tcp_user_timeout', greatest(750, :silence_ms / 4 * 3)::text, false)
    || set_config('tcp_keepalives_idle', greatest(1, :silence_ms / 3000)::text, false) ||
set_config('tcp_keepalives_interval', greatest(1, :silence_ms / 6000)::text, false)
    || set_config('tcp_keepalives_count', '3', false)

-- part: pinned
-- How many settings are now as this program's statements need them (store_pg_pins.c). Those that a
-- server of this version does not have are left out. They last as long as the session; behind a
-- pooler, where the process that answers is not :backend_pid, for this transaction only, because
-- the next one of this session may be another program's.
(SELECT count(set_config(n.name, n.setting, pg_backend_pid() <> :backend_pid))
   FROM unnest(:names::text[], :settings::text[]) n (name, setting)
  WHERE current_setting(n.name, true) IS NOT NULL)

-- name: pin
-- in: names text[], settings text[], backend_pid int4
-- out: pinned int8, pooled bool
SELECT {pinned} AS pinned, pg_backend_pid() <> :backend_pid AS pooled

-- name: silence
-- in: silence_ms int4, names text[], settings text[], backend_pid int4
-- out: silence text, pinned int8, pooled bool
SELECT {silence_settings} AS silence, {pinned} AS pinned, pg_backend_pid() <> :backend_pid AS pooled

-- name: owners
-- :schema_owner is the setting of that name. No row: the schema does not exist. Else the row has
-- the user, the schema's owner, and the first untrusted role with its object: a role that owns the
-- schema or an object in it, or may create in it, and is not allowed to have the user's rights.
-- Only catalogs are read, and no views of them: each command begins with this statement, and most
-- of its time is the planner's. A superuser has the rights of any role, also of 1, which is none:
-- so nobody has them by being its member. pg_database_owner stands for the database's owner alone.
-- A role that the user is a member of is untrusted: its other members do not have the user's
-- rights. has_role: whether the user has the rights of :role, the one that has those that this
-- program needs. distributed: the first table of the schema that Citus has spread over nodes; ''
-- where there is none, or no Citus, whose catalog can be named in a text alone: ts_stat runs one.
-- in: schema_owner text, role text
-- out: asker text, owner text, kind text, name text, who text, has_role bool, distributed text
WITH ns AS MATERIALIZED (
    SELECT n.oid, n.nspacl, d.datdba,
           CASE pg_get_userbyid(n.nspowner) WHEN 'pg_database_owner' THEN d.datdba
           ELSE n.nspowner END AS owner
      FROM pg_namespace n, pg_database d
     WHERE n.nspname = 'prescient_schema' AND d.datname = current_database()),
things (place, kind, name, owner) AS (
    SELECT 1, 'schema', 'prescient_schema', ns.owner FROM ns
    UNION ALL
    SELECT 2, 'relation', c.relname, c.relowner
      FROM ns, pg_depend d JOIN pg_class c ON c.oid = d.objid
     WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = ns.oid
       AND d.classid = 'pg_class'::regclass
    UNION ALL
    SELECT 3, 'function', p.proname, p.proowner
      FROM ns, pg_depend d JOIN pg_proc p ON p.oid = d.objid
     WHERE d.refclassid = 'pg_namespace'::regclass AND d.refobjid = ns.oid AND d.classid = 'pg_proc'::regclass
    UNION ALL
    SELECT 4, 'right', '', a.grantee FROM ns, aclexplode(ns.nspacl) a WHERE a.privilege_type = 'CREATE'),
wrong AS (
    SELECT t.kind, t.name, CASE t.owner WHEN 0 THEN 'everybody' ELSE pg_get_userbyid(t.owner) END AS who
      FROM things t, ns
     WHERE t.owner <> ns.datdba AND pg_get_userbyid(t.owner) <> ALL (ARRAY[current_user, :schema_owner])
       AND NOT pg_has_role(t.owner, 1, 'USAGE')
     ORDER BY t.place, t.name LIMIT 1)
SELECT current_user::text AS asker, pg_get_userbyid(ns.owner)::text AS owner, coalesce(w.kind, '') AS kind,
       coalesce(w.name, '')::text AS name, coalesce(w.who, '')::text AS who,
       coalesce(pg_has_role(to_regrole(quote_ident(:role)), 'USAGE'), false) AS has_role,
       coalesce(CASE WHEN to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
           (SELECT min(c.relname::text)
              FROM ts_stat('SELECT array_to_tsvector(array_agg(logicalrelid::oid::text))
                              FROM pg_catalog.pg_dist_partition') d (id)
                   JOIN pg_class c ON c.oid = d.id::oid
             WHERE c.relnamespace = ns.oid) END, '') AS distributed
  FROM ns LEFT JOIN wrong w ON true

-- The form `narrow` of a statement is for a user who may call the functions of the API, or read the
-- views, and read no table.

-- part: schema_state
(SELECT coalesce(max(version), 0) AS version, coalesce(max(oldest_engine), 0) AS oldest_engine,
        coalesce((SELECT value::integer FROM prescient.setting WHERE name = 'slot_length_s'),
                 0) AS slot_length_s, coalesce(string_agg(name, ' ' ORDER BY version), '') AS names
   FROM prescient.migration)

-- part: schema_state_narrow
(SELECT n.version, n.oldest_engine, n.slot_length_s, ''::text AS names FROM prescient.schema_state() n)

-- name: check_schema
-- forms: narrow
-- in: silence_ms int4
-- out: isolation text, encoding text, version int4, oldest_engine int4, slot_length_s int4,
-- out: names text
SELECT left({silence_settings}, 0) || current_setting('transaction_isolation') AS isolation,
       current_setting('server_encoding') AS encoding, s.version, s.oldest_engine, s.slot_length_s, s.names
  FROM {schema_state} s

-- part: full_look_at
coalesce((SELECT value::bigint FROM prescient.setting WHERE name = 'full_look_at'), 0)

-- part: full_look_at_narrow
0::bigint

-- part: pace_s
coalesce((SELECT floor(p.value::numeric * s.slot_length_s) FROM prescient.setting p WHERE p.name = 'pace'),
         0)::integer

-- part: pace_s_narrow
-1

-- name: hello
-- forms: narrow
-- out: now_us timestamptz, slot_length_s int4, version int4, read_only bool, backend_pid int4,
-- out: full_look_at int8, pace_s int4
SELECT clock_timestamp() AS now_us, s.slot_length_s, s.version,
       pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS read_only,
       pg_backend_pid() AS backend_pid, {full_look_at} AS full_look_at, {pace_s} AS pace_s
  FROM {schema_state} s

-- ---- leases -------------------------------------------------------------------------------------

-- part: pending_in_slot
(SELECT count(*) FROM (SELECT FROM prescient.future_job f
                       WHERE f.next_check_at = :slot LIMIT :split_at + 1) few)

-- part: pending_in_slot_degraded
prescient.count_checks(:slot, :slot + interval '1 second', :split_at + 1)

-- part: bucket_has_rows
EXISTS (SELECT FROM prescient.future_job f
         WHERE f.next_check_at = :slot AND f.bucket >= greatest(b.bucket, 0)
           AND f.bucket <= CASE b.bucket WHEN -1 THEN 63 ELSE b.bucket END
           AND (:jobs IS NULL OR f.job_exec = ANY (:jobs)))

-- part: bucket_has_rows_degraded
prescient.holds_checks(:slot, :slot, greatest(b.bucket, 0), CASE b.bucket WHEN -1 THEN 63 ELSE b.bucket END,
                       :jobs)

-- part: incarnation
-- Identifies a server and its tables. A standby that was promoted without the last settles differs,
-- and so does a restarted server. Tables that a restore has recreated or refilled on a running
-- server differ as well.
(SELECT (date_part('epoch', pg_postmaster_start_time()) * 1000000)::bigint
 # pg_relation_filenode('prescient.slot_lease')::bigint << 20)

-- part: bucket_has_urgent
EXISTS (SELECT FROM prescient.future_job f
         WHERE f.next_check_at = :slot AND f.bucket = b.bucket AND f.priority < 0)

-- part: bucket_has_urgent_degraded
false

-- part: has_urgent
EXISTS (SELECT FROM generate_series(0, 63) b (bucket) WHERE {bucket_has_urgent})

-- part: has_urgent_degraded
false

-- part: tenant_of
-- Whose a check is: its entity's, where nobody has said it.
coalesce(f.tenant, f.entity_name) COLLATE "C"

-- part: small_buckets
0::bigint

-- part: small_buckets_small
-- A bit for each bucket in which some tenants are small (store_slot.h), and others are not.
(SELECT coalesce(bit_or(1::bigint << b.bucket), 0)
   FROM generate_series(0, 63) b (bucket),
        LATERAL (SELECT max(t.n) AS most, min(t.n) AS fewest, greatest(4, sum(t.n) / 16) AS few
                   FROM (SELECT count(*) AS n
                           FROM (SELECT f.tenant, f.entity_name FROM prescient.future_job f
                                  WHERE f.next_check_at = :slot AND f.bucket >= b.bucket
                                    AND f.bucket <= CASE slot.split WHEN 1 THEN 63 ELSE b.bucket END
                                  ORDER BY f.bucket, f.priority, f.id LIMIT :small_look) f
                          GROUP BY {tenant_of}) t) c
  WHERE (slot.split > 1 OR b.bucket = 0) AND c.most > c.few AND c.fewest <= c.few
    AND (NOT :if_slow OR {is_slow}))

-- part: is_slow
-- Some job took a millisecond a run in the hours noted last, or none has run.
(SELECT coalesce(bool_or(j.took_us >= 1000 * j.runs), true)
   FROM (SELECT sum(r.took_us) AS took_us, sum(r.runs) AS runs
           FROM (SELECT h.job_exec, h.took_us, h.runs FROM prescient.run_hour h
                  ORDER BY h.hour_at DESC LIMIT 2000) r
          GROUP BY r.job_exec) j)

-- part: small_buckets_degraded_small
0::bigint

-- part: is_resumed
-- The slot of a pause never begins. It is opened when the pause was resumed, until it is over:
-- end_pauses() does not end it meanwhile.
EXISTS (SELECT FROM prescient.pause p
         WHERE p.slot_at = :slot AND p.resumed_at IS NOT NULL AND p.ended_at IS NULL
           FOR SHARE SKIP LOCKED)

-- name: open_slot
-- :watched_buckets to :watched_until_us are the watched leases' bucket, owner, token and
-- expires_at. :odd and :start give an order of buckets that depends on the owner. :now is virtual
-- now or NULL. :left_out has a bit for each bucket to skip. :urgent: only buckets that have checks
-- with a priority below 0; all where the slot is not split.
--
-- Rows by `part`: 0 the slot; 1 the leases taken; 2 wanted leases that are held, or ripe and above
-- :want, which the caller goes on watching; 3 the slot has not begun. No row at all: another engine
-- is opening the slot. Rows of leases have the id of this transaction (see is_complete) and the
-- identity of this server (see finish).
--
-- Taking a lease opens a closed slot again, and it needs another look before it is closed. Rows are
-- counted only when there is no opening row. That count is the last look at an empty slot: this
-- transaction's id, taken in the same statement, is above the ids of all transactions that the look
-- may have missed.
--
-- Buckets are listed apart from the looks into them: the planner expects thousands of buckets, and
-- took as many looks for so dear that the server compiled the statement at each call (jit).
--
-- has_urgent: the slot is split, and has checks with a priority below 0, if :asks_urgent. In the
-- form `small` small_buckets is filled in.
-- forms: degraded small
-- in: slot timestamptz, split_at int4, owner uuid, engine text?, lease_s int4, want int4,
-- in: again bool, jobs text[]?, lock_timeout text, watched_buckets int4[], watched_owners uuid[],
-- in: watched_tokens int8[], watched_until_us timestamptz[], odd int4, start int4,
-- in: now timestamptz?, left_out int8, urgent bool, asks_urgent bool, small_look int4,
-- in: if_slow bool
-- out: part int4, bucket int4, owner uuid?, token int8, expires_us timestamptz, number int8,
-- out: has_day bool, incarnation int8, has_urgent bool, small_buckets int8
WITH setup AS MATERIALIZED (
    SELECT set_config('lock_timeout', :lock_timeout, true) AS lock_timeout
     WHERE CASE WHEN :slot >= '9000-01-01 00:00:00+00' AND :slot < '10000-01-01 00:00:00+00'
                THEN {is_resumed} ELSE :slot <= coalesce(:now, clock_timestamp()) END),
opening AS (
    INSERT INTO prescient.slot_pass (slot_at, bucket, pass, split, engine, pending, seen_xid)
    SELECT :slot, -1, 0, CASE WHEN n.pending > :split_at THEN 64 ELSE 1 END, :engine, n.pending,
           CASE WHEN n.pending = 0 THEN pg_current_xact_id()::text::bigint END
      FROM setup, (SELECT {pending_in_slot} AS pending OFFSET 0) n      -- counted once, not thrice
     WHERE NOT EXISTS (SELECT FROM prescient.slot_pass p WHERE p.slot_at = :slot AND p.bucket = -1
                       AND p.pass = 0)
        ON CONFLICT DO NOTHING
    RETURNING split, seen_xid, closed_at, pending),
slot AS MATERIALIZED (
    SELECT split, seen_xid, closed_at, pending FROM opening
    UNION ALL
    SELECT split, seen_xid, closed_at, -1 FROM prescient.slot_pass
     WHERE slot_at = :slot AND bucket = -1 AND pass = 0),
done AS MATERIALIZED (
    SELECT bucket FROM prescient.slot_pass WHERE slot_at = :slot AND pass > 0
    UNION
    SELECT -1 FROM slot WHERE seen_xid IS NOT NULL),
held AS MATERIALIZED (
    SELECT bucket, owner, token, expires_at FROM prescient.slot_lease WHERE slot_at = :slot),
ripe AS MATERIALIZED (
    SELECT l.bucket FROM prescient.slot_lease l, setup
     WHERE l.slot_at = :slot AND (l.expires_at <= clock_timestamp()
           OR (l.bucket, l.owner, l.token, l.expires_at) IN (
               SELECT * FROM unnest(:watched_buckets, :watched_owners, :watched_tokens, :watched_until_us)))
       FOR UPDATE OF l SKIP LOCKED),
asked AS MATERIALIZED (
    SELECT b.bucket FROM slot, generate_series(CASE slot.split WHEN 1 THEN -1 ELSE 0 END,
                                               CASE slot.split WHEN 1 THEN -1 ELSE 63 END) b (bucket)
     WHERE (:left_out >> greatest(b.bucket, 0)) & 1 = 0),
wanted AS MATERIALIZED (
    SELECT b.bucket FROM asked b
     WHERE (NOT EXISTS (SELECT FROM done WHERE done.bucket = b.bucket) OR (:again AND {bucket_has_rows}))
       AND (NOT :urgent OR b.bucket < 0 OR {bucket_has_urgent})),
taken AS (
    INSERT INTO prescient.slot_lease AS l (slot_at, bucket, owner, engine, expires_at)
    SELECT :slot, w.bucket, :owner, :engine, clock_timestamp() + :lease_s::integer * interval '1 second'
      FROM wanted w, setup
     WHERE (NOT EXISTS (SELECT FROM held WHERE held.bucket = w.bucket)
            OR EXISTS (SELECT FROM ripe WHERE ripe.bucket = w.bucket))
       AND prescient.history_day_is_there(prescient.utc_day(clock_timestamp()))
     ORDER BY (w.bucket * :odd + :start) & 63 LIMIT :want
        ON CONFLICT (slot_at, bucket) DO UPDATE
       SET owner = excluded.owner, token = nextval('prescient.slot_lease_token_seq'),
           engine = excluded.engine, expires_at = excluded.expires_at
     WHERE l.bucket IN (SELECT ripe.bucket FROM ripe)
    RETURNING l.bucket, l.owner, l.token, l.expires_at),
reopened AS (
    UPDATE prescient.slot_pass p SET closed_at = NULL, seen_xid = pg_current_xact_id()::text::bigint
     WHERE p.slot_at = :slot AND p.bucket = -1 AND p.pass = 0 AND (SELECT closed_at IS NOT NULL FROM slot)
       AND EXISTS (SELECT FROM taken))
SELECT 0 AS part, split::integer AS bucket, NULL::uuid AS owner,
       CASE WHEN closed_at IS NOT NULL THEN 2 WHEN (SELECT count(*) FROM done) >= split THEN 1
           ELSE 0 END::bigint AS token,
       clock_timestamp() AS expires_us, pending AS number,
       prescient.history_day_is_there(prescient.utc_day(clock_timestamp())) AS has_day,
       0::bigint AS incarnation, :asks_urgent AND split > 1 AND {has_urgent} AS has_urgent,
       {small_buckets} AS small_buckets
  FROM slot
UNION ALL
SELECT 1, bucket, owner, token, expires_at, pg_current_xact_id()::text::bigint, true, {incarnation}, false, 0
  FROM taken
UNION ALL
SELECT 2, h.bucket, h.owner, h.token, h.expires_at, 0, true, 0, false, 0
  FROM held h WHERE h.bucket IN (SELECT w.bucket FROM wanted w)
       AND h.bucket NOT IN (SELECT t.bucket FROM taken t)
UNION ALL
SELECT 3, 0, NULL, 0, clock_timestamp(), 0, true, 0, false, 0 WHERE NOT EXISTS (SELECT FROM setup)

-- name: renew
-- in: slots timestamptz[], buckets int4[], owners uuid[], tokens int8[], lease_s int4,
-- in: lock_timeout text
-- out: n int8, expires_us timestamptz
UPDATE prescient.slot_lease l SET expires_at = clock_timestamp() + :lease_s::integer * interval '1 second'
  FROM (SELECT set_config('lock_timeout', :lock_timeout, true) AS lock_timeout OFFSET 0) setup,
       unnest(:slots, :buckets, :owners, :tokens) WITH ORDINALITY u (slot_at, bucket, owner, token, n)
 WHERE setup.lock_timeout IS NOT NULL AND l.slot_at = u.slot_at AND l.bucket = u.bucket AND l.owner = u.owner
   AND l.token = u.token
RETURNING u.n, l.expires_at AS expires_us

-- name: give_back
-- Leases of one slot. What was run under them is added to the slot's opening row, unless all of
-- them are another engine's by now.
-- in: slot timestamptz, buckets int4[], owner uuid, tokens int8[], lock_timeout text,
-- in: {counts int8}
WITH given_back AS (
    DELETE FROM prescient.slot_lease l
     USING (SELECT set_config('lock_timeout', :lock_timeout, true) AS lock_timeout OFFSET 0) setup,
           unnest(:buckets, :tokens) u (bucket, token)
     WHERE setup.lock_timeout IS NOT NULL AND l.slot_at = :slot AND l.bucket = u.bucket
       AND l.owner = :owner AND l.token = u.token
    RETURNING l.slot_at)
UPDATE prescient.slot_pass p SET {added_counts}
 WHERE p.slot_at = :slot AND p.bucket = -1 AND p.pass = 0 AND EXISTS (SELECT FROM given_back)

-- name: release
-- in: slots timestamptz[], buckets int4[], owners uuid[], tokens int8[], lock_timeout text
DELETE FROM prescient.slot_lease l
 USING (SELECT set_config('lock_timeout', :lock_timeout, true) AS lock_timeout OFFSET 0) setup,
       unnest(:slots, :buckets, :owners, :tokens) u (slot_at, bucket, owner, token)
 WHERE setup.lock_timeout IS NOT NULL AND l.slot_at = u.slot_at AND l.bucket = u.bucket AND l.owner = u.owner
   AND l.token = u.token

-- ---- places of concurrency keys -----------------------------------------------------------------

-- name: take_places
-- Each key once, in the order of keys. `number` is 0 where no place was free.
-- in: keys text[], lasts int4[], owner uuid, engine text?, lock_timeout text
-- out: n int8, number int4, token int8, places int4
SELECT t.n, t.number, t.token, t.places
  FROM (SELECT set_config('lock_timeout', :lock_timeout, true) AS lock_timeout OFFSET 0) setup,
       LATERAL prescient.take_places(:keys, :lasts, :owner, :engine) t
 WHERE setup.lock_timeout IS NOT NULL

-- name: renew_places
-- A place that has expired may be another's by now, and one above the number that the key has is to
-- come to its end: neither is renewed.
-- in: keys text[], numbers int4[], tokens int8[], lasts int4[], owner uuid, lock_timeout text
-- out: n int8, is_wanted bool
UPDATE prescient.place p
   SET expires_at = clock_timestamp() + u.last_s * interval '1 second', lasts_s = u.last_s
  FROM (SELECT set_config('lock_timeout', :lock_timeout, true) AS lock_timeout OFFSET 0) setup,
       unnest(:keys, :numbers, :tokens, :lasts) WITH ORDINALITY u (key, number, token, last_s, n)
 WHERE setup.lock_timeout IS NOT NULL AND p.concurrency_key = u.key AND p.number = u.number
   AND p.owner = :owner AND p.token = u.token AND p.expires_at > clock_timestamp()
   AND (p.number = 1 OR p.number <= prescient.places_of(p.concurrency_key))
RETURNING u.n, p.is_wanted

-- name: return_places
-- in: keys text[], numbers int4[], tokens int8[], owner uuid, lock_timeout text
DELETE FROM prescient.place p
 USING (SELECT set_config('lock_timeout', :lock_timeout, true) AS lock_timeout OFFSET 0) setup,
       unnest(:keys, :numbers, :tokens) u (key, number, token)
 WHERE setup.lock_timeout IS NOT NULL AND p.concurrency_key = u.key AND p.number = u.number
   AND p.owner = :owner AND p.token = u.token

-- part: locks
{lease_and_clock}

-- part: lease_and_clock
-- FOR SHARE makes a takeover wait until this transaction ends. If a takeover came first, the row is
-- read again, and no longer matches. `begun` reads the clock while the lock is held.
lease AS MATERIALIZED (
    SELECT FROM prescient.slot_lease
     WHERE slot_at = :slot AND bucket = :bucket AND owner = :owner AND token = :token
       AND set_config('lock_timeout', :lock_timeout, true) IS NOT NULL
       FOR SHARE),
begun AS MATERIALIZED (
    SELECT clock_timestamp() AS at FROM lease)

-- part: locks_skip
-- The rows that are locked by nobody else.
{lease_and_clock},
unlocked AS MATERIALIZED (
    SELECT f.id FROM prescient.future_job f
     WHERE {rows} AND {as_read} AND EXISTS (SELECT FROM begun)
       FOR UPDATE SKIP LOCKED)

-- ---- pages --------------------------------------------------------------------------------------

-- A page is limited in bytes. A plain read suffices if each row stays within its share (:bytes): a
-- larger payload is left out, and the page ends before its row. A page that begins with such a row
-- is read by the large form, which sums up sizes; that doubles the cost of the read.

-- part: checks
prescient.future_job

-- part: checks_degraded
prescient.readable_checks(:slot, :bucket, :bucket)

-- part: checks_slot_degraded
prescient.readable_checks(:slot, 0, 63)

-- part: lock_place
-- The place (ctid) of a row that was locked after it was written, perhaps by a transaction that is
-- still open (see kept).
CASE WHEN f.xmax <> '0' THEN f.ctid::text END

-- part: lock_place_degraded
(SELECT CASE WHEN l.xmax <> '0' THEN l.ctid::text END FROM prescient.future_job l
  WHERE l.next_check_at = :slot AND l.bucket = f.bucket AND l.priority = f.priority AND l.id = f.id)

-- part: aside
-- Values that few rows have, in one column, because each column of each row has a cost: the place
-- of the lock, a blank, '+' where the payload was left out and '-' where not, the slot at which it
-- was put off in seconds, a blank, the origin, and on lines of their own the concurrency key and
-- the tenant, each with the number of its bytes and a colon before it (0: none), and the terms.
CASE WHEN f.xmax <> '0' OR f.origin IS NOT NULL OR f.put_off_at IS NOT NULL OR f.terms IS NOT NULL
          OR f.concurrency_key IS NOT NULL OR f.tenant IS NOT NULL OR {is_left_out}
     THEN coalesce({lock_place}, '') || {mark_and_put_off} || {origin_names_terms} END

-- part: aside_degraded
nullif(coalesce({lock_place}, '') || {mark_and_put_off} || {origin_names_terms}, ' - ')

-- part: mark_and_put_off
-- Infinity, which a plain INSERT may file, is no time that it was put off at.
CASE WHEN f.put_off_at IS NOT NULL AND isfinite(f.put_off_at)
     THEN CASE WHEN {is_left_out} THEN ' +' ELSE ' -' END || date_part('epoch', f.put_off_at)::bigint || ' '
     WHEN {is_left_out} THEN ' + ' ELSE ' - ' END

-- part: origin_names_terms
coalesce(f.origin, '')
    || CASE WHEN f.concurrency_key IS NOT NULL OR f.tenant IS NOT NULL
            THEN E'\n' || coalesce(octet_length(convert_to(f.concurrency_key, 'UTF8')), 0) || ':'
                 || coalesce(f.concurrency_key, '') || E'\n'
                 || coalesce(octet_length(convert_to(f.tenant, 'UTF8')), 0) || ':' || coalesce(f.tenant, '')
                 || E'\n' || coalesce(f.terms, '')
            WHEN f.terms IS NOT NULL THEN E'\n0:\n0:\n' || f.terms
            ELSE '' END

-- part: is_left_out
-- The payload is larger than its share of the bytes.
octet_length(f.payload::text) > :bytes

-- part: is_left_out_large
false

-- part: is_complete
-- :xid is the transaction that took the lease. It found that the slot had begun before it got its
-- id. A client that files a check gets an id, then reads the clock, then picks the slot. So all
-- transactions that picked this slot have older ids; when they are over, this read sees every row
-- that can ever be filed here. :incarnation identifies the server of :xid: the id means nothing on
-- another server, to which a pooler may have switched.
pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= :xid AND {incarnation} = :incarnation

-- part: complete_mark
CASE WHEN {is_complete} THEN 64 ELSE 0 END

-- part: both_counts
-- In one number: a column less in a page, and one comparison in a settle. If one is negative, so
-- is the first of the two.
(f.check_count::bigint << 32 | f.failure_count)

-- name: read_page
-- :bucket, :priority and :id are of the last row read. :bytes: see share_of_page. :xid and
-- :incarnation: see is_complete. In the form `slot` the lease is for the whole slot. In the form
-- `large` the page begins with a large payload, and sizes are summed up. In the form `own` it has
-- only rows of :jobs (NULL: of any), and of the first :parts of the slot (rules/phase.h) or with a
-- priority below 0; in the form `urgent` only those with a priority below 0, in the form `small`
-- only those of small tenants (store_slot.h).
-- forms: slot large degraded own urgent small
-- in: slot timestamptz, bucket int4, priority int4, id int8, most int4, bytes int8, xid int8,
-- in: incarnation int8, jobs text[]?, small_look int4, parts int4
-- out: id int8, first_check_at timestamptz, deferred_at timestamptz?, counts int8,
-- out: entity_name text, entity_key text, job_exec text, payload json?, aside text?, place int8
SELECT f.id, f.first_check_at, f.deferred_at, {both_counts} AS counts,
       f.entity_name, f.entity_key, f.job_exec, {payload} AS payload, {aside_of_row} AS aside,
       {place_in_page} AS place
  FROM {rows_to_read} f
 WHERE {share_of_page}

-- part: share_of_page
{range_of_page} LIMIT :most

-- part: share_of_page_large
coalesce(f.before, 0) < :bytes

-- part: rows_to_read
{checks}

-- part: rows_to_read_large
(SELECT g.*,
 sum(octet_length(g.payload::text)) OVER (ORDER BY {order_of_page_g} ROWS BETWEEN UNBOUNDED PRECEDING
                                          AND 1 PRECEDING) AS before
   FROM (SELECT f.*, {aside} AS aside FROM {checks} f WHERE {range_of_page} LIMIT :most) g)

-- part: order_of_page_g
g.priority, g.id

-- part: order_of_page_g_slot
g.bucket, g.priority, g.id

-- part: range_of_page
{range_of_bucket}
 ORDER BY f.priority, f.id

-- part: range_of_bucket
f.next_check_at = :slot AND f.bucket = :bucket AND (f.priority, f.id) > (:priority, :id)
    AND {is_of_jobs} AND {is_of_priority} AND {is_of_tenant}

-- part: range_of_page_slot
{range_of_slot}
 ORDER BY f.bucket, f.priority, f.id

-- part: range_of_slot
f.next_check_at = :slot AND (f.bucket, f.priority, f.id) > (:bucket, :priority, :id)
    AND {is_of_jobs} AND {is_of_priority} AND {is_of_tenant}

-- part: is_of_jobs
true

-- part: is_of_jobs_own
(:jobs IS NULL OR {is_own}) AND (f.bucket < :parts OR f.priority < 0)

-- part: is_own
-- Not as a condition of an index: in the one of names all that waits in the bucket would be
-- searched.
((f.job_exec = ANY (:jobs)) IS TRUE)

-- part: is_of_priority
true

-- part: is_of_priority_urgent
f.priority < 0

-- part: is_of_tenant
true

-- part: is_of_tenant_small
-- Not as a join: without statistics one was made that looked once for each row.
((f.id IN (SELECT t.id
             FROM (SELECT f.id, count(*) OVER (PARTITION BY {tenant_of}) AS n, count(*) OVER () AS of_all
                     FROM (SELECT f.id, f.tenant, f.entity_name FROM prescient.future_job f
                            WHERE {bucket_to_look_at} ORDER BY f.bucket, f.priority, f.id
                            LIMIT :small_look) f) t
            WHERE t.n <= greatest(4, t.of_all / 16))) IS TRUE)

-- part: is_of_tenant_degraded_small
false

-- part: bucket_to_look_at
f.next_check_at = :slot AND f.bucket = :bucket

-- part: bucket_to_look_at_slot
f.next_check_at = :slot

-- part: payload
CASE WHEN {is_left_out} THEN NULL ELSE f.payload END

-- part: payload_large
f.payload

-- part: aside_of_row
{aside}

-- part: aside_of_row_large
f.aside

-- part: place_in_page
-- The row's priority and, in the lowest 7 bits, its bucket and whether the read is complete.
(f.priority::bigint << 7) + (SELECT :bucket + {complete_mark})

-- part: place_in_page_slot
(f.priority::bigint << 7) + f.bucket + (SELECT {complete_mark})

-- name: unreadable
-- How many rows of :slot, in the buckets :first to :last, the degraded form skips, and the first
-- one's id.
-- in: slot timestamptz, first int4, last int4
-- out: n int4, first_id int8
SELECT cardinality(u.ids) AS n, coalesce(u.ids[1], 0) AS first_id
  FROM (SELECT prescient.unreadable_checks(:slot, :first, :last) AS ids OFFSET 0) u

-- name: kept
-- :places are those of rows that were locked after they were written. The result has those that
-- nobody holds now, whatever has become of them. An open transaction has kept the others
-- (file_again) or is about to change them. A job that ran now would not see what that transaction
-- has written, yet its answer would win. file_again reads the clock while it holds the lock, and
-- keeps no row whose slot has begun, so no row is kept after this look. The statement writes
-- nothing durable, so its commit waits for no disk and no standby.
-- in: places text[]
-- out: place text
SELECT f.ctid::text AS place
  FROM (SELECT set_config('synchronous_commit', 'off', true) AS durability OFFSET 0) setup,
       prescient.future_job f
 WHERE setup.durability IS NOT NULL AND f.ctid = ANY (:places::tid[])
   FOR UPDATE OF f SKIP LOCKED

-- ---- settle -------------------------------------------------------------------------------------

-- :offsets are the page's ids in order, from :first_id: whole numbers below 2^53. The values of a
-- row are found by its place in there (width_bucket is a binary search, of doubles without the
-- calls that one of bigints makes for each of its steps) and a subscript. A join to unnest()
-- becomes quadratic without statistics, and so does id = ANY (...), which the planner then uses as
-- a filter. :as_read has both counts as read, in one number. If all rows have the same value, a
-- column has a single element: this is the usual case, and a subscript for each row and column
-- would cost as much as the insert.

-- part: offset
(f.id - :first_id)::float8

-- part: place
width_bucket({offset}, :offsets)

-- part: rows
-- The rows of a page are adjacent in the index: one descent, and a range that ends with the page.
f.next_check_at = :slot AND f.bucket = :bucket AND f.priority = :priority
       AND f.id >= :first_id AND f.id <= :first_id + (:offsets)[cardinality(:offsets)]::bigint
       AND (:offsets)[{place}] = {offset}

-- part: rows_slot
-- A page of a slot that was not split spans the buckets :first to :last. Most of these pages have
-- few rows, but the slot may still be large, when a load was committed after the slot had been
-- opened.
f.next_check_at = :slot AND f.bucket >= :first AND f.bucket <= :last AND f.priority = :priority
       AND f.id >= :first_id AND f.id <= :first_id + (:offsets)[cardinality(:offsets)]::bigint
       AND (:offsets)[{place}] = {offset}

-- part: rows_mixed
-- A page of the priorities :first to :last: a range of the index that begins and ends with them.
-- Rows of other pages may have the first or the last priority. Their ids, which the index has,
-- exclude them without a look at the table.
f.next_check_at = :slot AND f.bucket = :bucket AND f.priority >= :first AND f.priority <= :last
       AND f.id >= :first_id AND f.id <= :first_id + (:offsets)[cardinality(:offsets)]::bigint
       AND (:offsets)[{place}] = {offset}

-- part: rows_slot_mixed
f.next_check_at = :slot AND f.bucket >= :first AND f.bucket <= :last
       AND f.id >= :first_id AND f.id <= :first_id + (:offsets)[cardinality(:offsets)]::bigint
       AND (:offsets)[{place}] = {offset}

-- part: as_read_slot as_read_mixed as_read_slot_mixed
-- On a page of one bucket and one priority ids are unique, because of the index. With several
-- buckets or priorities two rows may share an id (a sequence that was set back). Then the number
-- needs bucket and priority as well, or the answer to one row would be taken for the other's. The
-- factor keeps priorities apart from counts.
({both_counts} # (f.bucket::bigint << 58)
 # (f.priority::bigint * 2654435761)) =
       coalesce((SELECT (:as_read)[1] WHERE cardinality(:as_read) = 1), (:as_read)[{place}])

-- part: as_read
{both_counts} =
       coalesce((SELECT (:as_read)[1] WHERE cardinality(:as_read) = 1), (:as_read)[{place}])

-- part: all_check_count
(SELECT (:check_counts)[1] WHERE cardinality(:check_counts) = 1)

-- part: all_failure_count
(SELECT (:failure_counts)[1] WHERE cardinality(:failure_counts) = 1)

-- part: all_outcome
(SELECT (:outcomes)[1] WHERE cardinality(:outcomes) = 1)

-- part: all_ran
(SELECT (:ran)[1] WHERE cardinality(:ran) = 1)

-- part: all_archived
(SELECT (:archived)[1] WHERE cardinality(:archived) = 1)

-- part: chosen
{rows}

-- part: chosen_skip
{rows}
       AND (ARRAY(SELECT u.id FROM unlocked u ORDER BY u.id))
           [width_bucket(f.id, ARRAY(SELECT u.id FROM unlocked u ORDER BY u.id))] = f.id

-- part: still_there_skip
-- The places of rows that are still as read. Those that were not changed are locked.
ARRAY(SELECT {place} FROM prescient.future_job f WHERE {rows} AND {as_read})

-- part: still_there
NULL::integer[]

-- name: settle_end
-- :now is virtual now or NULL. By place: :outcomes (an index into :outcome_names), :run_at_us (when
-- the run began), :run_us (how long it took), :notes (an index into :texts; 0: none), :ran (whether
-- it ran). :remember: which rows were changed, for the effects. :first and :last: see rows_mixed.
--
-- The result is one row: whether the lease is ours, how many rows were changed, their places unless
-- it was all, and in the form `skip` the places of rows that are still as read.
--
-- `anew` reads the table only if `gone` left rows: those that were enqueued again while their slot
-- ran. They are locked first, so that their old state is known; then each continues as a row with a
-- new id.
-- forms: slot skip mixed
-- in: slot timestamptz, bucket int4, priority int4, owner uuid, token int8, lock_timeout text,
-- in: now timestamptz?, engine text?, first_id int8, offsets float8[], as_read int8[],
-- in: check_counts int4[], failure_counts int4[], outcomes int2[], outcome_names text[],
-- in: run_at_us timestamptz[], run_us int8[], notes int2[], texts text[], ran int2[],
-- in: remember bool, first int4, last int4
-- out: ours bool, touched int4, places int4[]?, still_there int4[]?, remembered text?
WITH {locks},
gone AS (
    DELETE FROM prescient.future_job f
     WHERE {chosen} AND {as_read} AND f.again_at IS NULL AND EXISTS (SELECT FROM begun)
    RETURNING {place} AS place, f.first_check_at, f.entity_name, f.entity_key, f.job_exec,
              f.first_run_at, f.run_count, f.total_run_us, f.payload, f.concurrency_key, f.tenant),
gone_count AS MATERIALIZED (
    SELECT count(*) AS n FROM gone),
anew AS MATERIALIZED (
    SELECT {place} AS place, f.first_check_at, f.entity_name, f.entity_key, f.job_exec,
           f.first_run_at, f.run_count, f.total_run_us, f.payload, f.concurrency_key, f.tenant, f.bucket,
           f.id, f.priority, f.origin, f.again_at
      FROM prescient.future_job f
     WHERE {chosen} AND {as_read} AND f.again_at IS NOT NULL
       AND (SELECT n FROM gone_count) < cardinality(:offsets)
       FOR UPDATE),
renewed AS (
    UPDATE prescient.future_job f
       SET id = prescient.new_id(n.slot, a.bucket, a.priority), first_check_at = n.slot,
           next_check_at = n.slot, check_count = 0, failure_count = 0,
           again_at = NULL, deferred_at = NULL, first_run_at = NULL, run_count = NULL, total_run_us = NULL,
           put_off_at = NULL,
           origin = prescient.origin_anew(prescient.origin_of(a.origin, a.first_check_at, a.id))
      FROM anew a, LATERAL (SELECT prescient.slot_moved(a.again_at, NULL, coalesce(:now, b.at), false) AS slot
                            FROM begun b) n
     WHERE f.bucket = a.bucket AND f.entity_name = a.entity_name AND f.entity_key = a.entity_key
       AND f.job_exec = a.job_exec AND f.id = a.id
    RETURNING a.place),
ended AS (
    SELECT place, first_check_at, entity_name, entity_key, job_exec, first_run_at, run_count, total_run_us,
           payload, concurrency_key, tenant FROM gone
    UNION ALL
    SELECT a.place, a.first_check_at, a.entity_name, a.entity_key, a.job_exec, a.first_run_at, a.run_count,
           a.total_run_us, a.payload, a.concurrency_key, a.tenant
      FROM anew a WHERE a.place IN (SELECT r.place FROM renewed r)),
archived AS (
    INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at, check_count,
                                              failure_count, run_count,
           entity_name, entity_key, job_exec, outcome, engine, first_run_at, last_run_at, total_run_us,
           last_run_us, note, payload, concurrency_key, tenant)
    SELECT (SELECT at FROM begun), (SELECT coalesce(:now, at) FROM begun), :slot, e.first_check_at,
           coalesce({all_check_count}, (:check_counts)[e.place]),
           coalesce({all_failure_count}, (:failure_counts)[e.place]), coalesce(e.run_count, 0) + e.ran,
           e.entity_name, e.entity_key, e.job_exec,
           coalesce((SELECT (:outcome_names)[{all_outcome}]), (:outcome_names)[(:outcomes)[e.place]]),
           :engine,
           coalesce(e.first_run_at, e.run_at), e.run_at, coalesce(e.total_run_us, 0) + coalesce(e.run_us, 0),
           e.run_us,
           CASE WHEN (SELECT cardinality(:texts) > 0) THEN (:texts)[(:notes)[e.place]] END,
           CASE WHEN e.payload IS NOT NULL
                 AND (:outcome_names)[coalesce({all_outcome}, (:outcomes)[e.place])]
                     IN {outcomes_of_trouble}
                THEN e.payload END,
           CASE WHEN e.concurrency_key IS NOT NULL
                 AND (:outcome_names)[coalesce({all_outcome}, (:outcomes)[e.place])]
                     IN {outcomes_of_trouble}
                THEN e.concurrency_key END, e.tenant
      FROM (SELECT ended.*, r.ran, CASE r.ran WHEN 1 THEN (:run_at_us)[place] END AS run_at,
            CASE r.ran WHEN 1 THEN (:run_us)[place] END AS run_us
              FROM ended, LATERAL (SELECT coalesce({all_ran}, (:ran)[place]) AS ran) r OFFSET 0) e)
SELECT EXISTS (SELECT FROM lease) AS ours, t.n AS touched,
       CASE WHEN t.n < cardinality(:offsets)
            THEN ARRAY(SELECT place FROM gone UNION ALL SELECT place FROM renewed) END AS places,
       {still_there} AS still_there,
       CASE WHEN :remember
            THEN set_config('prescient.ended',
                            ARRAY(SELECT :first_id + (:offsets)[place]::bigint
                                    FROM (SELECT place FROM gone
                                          UNION ALL SELECT place FROM renewed) p)::text, true)
           END AS remembered
  FROM (SELECT (c.n + (SELECT count(*) FROM renewed))::integer AS n FROM gone_count c) t

-- part: moves_to
-- The wanted time, or again_at if that is earlier, in a slot that has not begun. The wanted time
-- may be of another slot length than there is now.
least(prescient.slot_ceil(greatest({next_at}, {slot_open_next})), {asked_for})

-- part: moves_to_fine
-- Some of the page move to fine slots.
least(prescient.slot_moved({next_at}, :slot, (SELECT coalesce(:now, at) FROM begun),
                           coalesce({all_failure_count}, (:failure_counts)[{place}])
                           > f.failure_count), {asked_for})

-- part: moves_to_paused moves_to_fine_paused
-- Some of the page move to the slots of pauses: to those that are on. If one was resumed meanwhile,
-- they go to the next slot.
least(CASE WHEN {next_at} < '9000-01-01 00:00:00+00'
                OR {next_at} = ANY (ARRAY(SELECT p.slot_at FROM paused p))
           THEN prescient.slot_moved({next_at}, :slot, (SELECT coalesce(:now, at) FROM begun),
                                     coalesce({all_failure_count},
                                              (:failure_counts)[{place}]) > f.failure_count)
           ELSE {slot_open_next} END, {asked_for})

-- part: moved
next_check_at = {moves_to}

-- part: moved_paused
-- Where the pause was resumed meanwhile, an occurrence of a schedule that has not been run becomes
-- that of the slot that it goes to: the time of a pause is not missed, and `missed skip` would pass
-- it over there. One that is to find its first occurrence does so there.
next_check_at = {moves_to},
           first_check_at = CASE WHEN f.terms LIKE 'schedule %' AND {next_at} >= '9000-01-01 00:00:00+00'
                                  AND {moves_to} < '9000-01-01 00:00:00+00' AND f.check_count = 0
                                  AND f.failure_count = 0 AND f.deferred_at IS NULL
                                  AND NOT prescient.finds_first(f)
                                 THEN {moves_to} ELSE f.first_check_at END

-- part: locks_of_move
{locks}

-- part: locks_of_move_paused
-- The pauses that are on stay on until this transaction ends: who resumes changes the row behind
-- this lock, and what is moved here is seen by the pass over its slot. One that is locked counts as
-- over, so that no page waits for a transaction of an application.
{locks},
paused AS MATERIALIZED (
    SELECT p.slot_at FROM prescient.pause p
     WHERE p.slot_at = ANY (:next_at) AND p.resumed_at IS NULL AND EXISTS (SELECT FROM begun)
       FOR SHARE SKIP LOCKED)

-- part: next_at
coalesce((SELECT (:next_at)[1] WHERE cardinality(:next_at) = 1), (:next_at)[{place}])

-- part: asked_for
CASE WHEN f.again_at IS NOT NULL
     THEN prescient.slot_moved(f.again_at, :slot, (SELECT coalesce(:now, at) FROM begun), false) END

-- part: slot_open_next
-- The first slot that has not begun, and is not the one that is left: where the clock was set back,
-- a row would stay as it was read, and its answer could be written twice. The times wanted are
-- never that slot (columns_add).
(SELECT CASE n.slot WHEN :slot THEN prescient.slot_next(n.slot) ELSE n.slot END
   FROM (SELECT prescient.slot_next(coalesce(:now, at)) AS slot FROM begun) n)

-- name: settle_move
-- :slot to :failure_counts as in `end`; :outcomes is the outcome of the run row (an index into
-- :outcome_names; 0: no run row), :run_at_us to :last as in `end`, :next_at the next slots,
-- :deferred_at and :put_off_at (the epoch: none).
-- forms: slot skip mixed fine paused
-- in: slot timestamptz, bucket int4, priority int4, owner uuid, token int8, lock_timeout text,
-- in: now timestamptz?, engine text?, first_id int8, offsets float8[], as_read int8[],
-- in: check_counts int4[], failure_counts int4[], outcomes int2[], outcome_names text[],
-- in: run_at_us timestamptz[], run_us int8[], notes int2[], texts text[], ran int2[],
-- in: remember bool, first int4, last int4, next_at timestamptz[], deferred_at timestamptz[],
-- in: put_off_at timestamptz[]
-- out: ours bool, touched int4, places int4[]?, still_there int4[]?, remembered text?
WITH {locks_of_move},
moved AS (
    UPDATE prescient.future_job f
       SET {moved},
           again_at = CASE WHEN f.again_at IS NOT NULL AND f.again_at > {moves_to} THEN f.again_at END,
           check_count = coalesce({all_check_count}, (:check_counts)[{place}]),
           failure_count = coalesce({all_failure_count}, (:failure_counts)[{place}]),
           deferred_at = nullif(coalesce((SELECT (:deferred_at)[1] WHERE cardinality(:deferred_at) = 1),
                                         (:deferred_at)[{place}]), '1970-01-01 00:00:00+00'),
           put_off_at = nullif(coalesce((SELECT (:put_off_at)[1] WHERE cardinality(:put_off_at) = 1),
                                        (:put_off_at)[{place}]), '1970-01-01 00:00:00+00'),
           first_run_at = CASE WHEN f.first_run_at IS NULL
                                AND coalesce({all_ran}, (:ran)[{place}]) = 1
                               THEN (:run_at_us)[{place}] ELSE f.first_run_at END,
           run_count = nullif(coalesce(f.run_count, 0)
                              + coalesce({all_ran}, (:ran)[{place}]), 0),
           total_run_us = CASE coalesce({all_ran}, (:ran)[{place}])
                          WHEN 1 THEN coalesce(f.total_run_us, 0) + (:run_us)[{place}]
                              ELSE f.total_run_us END
     WHERE {chosen} AND {as_read} AND EXISTS (SELECT FROM begun)
    RETURNING {place} AS place, f.next_check_at, f.entity_name, f.entity_key, f.job_exec,
              f.tenant),
run_log AS (
    INSERT INTO prescient.future_job_run (run_at, slot_at, next_check_at, run_us, check_count, failure_count,
                                          entity_name, entity_key, job_exec,
                                          outcome, engine, note, tenant)
    SELECT (:run_at_us)[m.place], :slot, m.next_check_at, (:run_us)[m.place],
           coalesce({all_check_count}, (:check_counts)[m.place]),
           coalesce({all_failure_count}, (:failure_counts)[m.place]), m.entity_name, m.entity_key, m.job_exec,
           coalesce((SELECT (:outcome_names)[{all_outcome}]), (:outcome_names)[(:outcomes)[m.place]]),
           :engine,
           CASE WHEN (SELECT cardinality(:texts) > 0) THEN (:texts)[(:notes)[m.place]] END, m.tenant
      FROM moved m WHERE coalesce({all_outcome}, (:outcomes)[m.place]) > 0)
SELECT EXISTS (SELECT FROM lease) AS ours, t.n AS touched,
       CASE WHEN t.n < cardinality(:offsets) THEN ARRAY(SELECT place FROM moved) END AS places,
       {still_there} AS still_there,
       CASE WHEN :remember
            THEN set_config('prescient.moved',
                            ARRAY(SELECT :first_id + (:offsets)[place]::bigint FROM moved)::text, true)
           END AS remembered
  FROM (SELECT count(*)::integer AS n FROM moved) t

-- part: is_archived
coalesce({all_archived}, (:archived)[{place}]) = 1

-- part: anew
origin = encode(substr(:origins, 16 * {place} - 15, 16), 'hex')

-- part: anew_once
-- An occurrence of the page had a payload of its own (terms.h). Where it was run, passed over or
-- ended, the check gets the schedule's; one that is only moved keeps it.
origin = encode(substr(:origins, 16 * {place} - 15, 16), 'hex'),
           payload = CASE WHEN {gives_back_payload}
                          THEN (SELECT s.payload FROM prescient.schedule s
                                 WHERE s.entity_name = f.entity_name AND s.entity_key = f.entity_key
                                   AND s.job_exec = f.job_exec)
                          ELSE f.payload END,
           terms = CASE WHEN {gives_back_payload} THEN prescient.terms_given_back(f.terms)
                        ELSE f.terms END

-- part: gives_back_payload
prescient.terms_have_payload_once(f.terms)
AND ((:run_at_us)[{place}] > '1970-01-01 00:00:00+00' OR {is_archived})

-- name: settle_renew
-- Occurrences of schedules that are over: each row starts anew, at the next occurrence. :first_at
-- is that one's nominal slot, which becomes first_check_at even if the settle is late for it; it is
-- empty where all are as :next_at. :archived is 1 for what leaves a row of history (a guard or
-- failures ended it), else 0. All else as in `move`.
--
-- `was` has the old state of rows that are archived, and locks them; the UPDATE comes after it. A
-- new life has a new id: with a clock that was set back, two lives would else have one key. The ids
-- are drawn first and grow with the place, so that a place is found by the new id as by the old
-- one; doubles hold them, as their sequence ends below 2^53. Their series stands in a SELECT of its
-- own: in FROM its rows would be stored first. The row's own terms stay: an edit may have written
-- them meanwhile. :origins are what origin_anew would return for the row as it was read.
-- forms: slot skip mixed fine once
-- in: slot timestamptz, bucket int4, priority int4, owner uuid, token int8, lock_timeout text,
-- in: now timestamptz?, engine text?, first_id int8, offsets float8[], as_read int8[],
-- in: check_counts int4[], failure_counts int4[], outcomes int2[], outcome_names text[],
-- in: run_at_us timestamptz[], run_us int8[], notes int2[], texts text[], ran int2[],
-- in: remember bool, first int4, last int4, next_at timestamptz[], first_at timestamptz[],
-- in: archived int2[], origins bytea
-- out: ours bool, touched int4, places int4[]?, still_there int4[]?, remembered text?
WITH {locks},
drawn AS MATERIALIZED (
    SELECT ARRAY(SELECT nextval('prescient.future_job_id_seq')::float8
                   FROM (SELECT generate_series(1, cardinality(:offsets))) n) AS ids FROM begun),
was AS MATERIALIZED (
    SELECT {place} AS place, f.first_check_at, f.entity_name, f.entity_key, f.job_exec,
           f.first_run_at, f.run_count, f.total_run_us, f.payload, f.concurrency_key, f.tenant
      FROM prescient.future_job f
     WHERE 1::int2 = ANY (:archived) AND {chosen} AND {as_read} AND {is_archived}
       AND EXISTS (SELECT FROM begun)
       FOR UPDATE),
was_count AS MATERIALIZED (
    SELECT count(*) AS n FROM was),
renewed AS (
    UPDATE prescient.future_job f
       SET id = (SELECT d.ids FROM drawn d)[{place}]::bigint,
           first_check_at = least(CASE cardinality(:first_at) WHEN 0 THEN {next_at}
                                ELSE (:first_at)[{place}] END, f.again_at),
           next_check_at = {moves_to},
           again_at = CASE WHEN f.again_at IS NOT NULL AND f.again_at > {moves_to} THEN f.again_at END,
           check_count = 0, failure_count = 0, deferred_at = NULL, put_off_at = NULL,
           first_run_at = NULL, run_count = NULL, total_run_us = NULL, {anew}
     WHERE {chosen} AND {as_read} AND EXISTS (SELECT FROM begun) AND (SELECT n FROM was_count) >= 0
    RETURNING width_bucket(f.id::float8, (SELECT d.ids FROM drawn d)) AS place, f.next_check_at,
              f.entity_name, f.entity_key, f.job_exec, f.tenant),
run_log AS (
    INSERT INTO prescient.future_job_run (run_at, slot_at, next_check_at, run_us, check_count, failure_count,
                                          entity_name, entity_key, job_exec, outcome, engine, note, tenant)
    SELECT (:run_at_us)[m.place], :slot, m.next_check_at, (:run_us)[m.place],
           coalesce({all_check_count}, (:check_counts)[m.place]),
           coalesce({all_failure_count}, (:failure_counts)[m.place]), m.entity_name, m.entity_key, m.job_exec,
           coalesce((SELECT (:outcome_names)[{all_outcome}]), (:outcome_names)[(:outcomes)[m.place]]),
           :engine,
           CASE WHEN (SELECT cardinality(:texts) > 0) THEN (:texts)[(:notes)[m.place]] END, m.tenant
      FROM renewed m
     WHERE coalesce({all_outcome}, (:outcomes)[m.place]) > 0
       AND coalesce({all_archived}, (:archived)[m.place]) = 0),
archived AS (
    INSERT INTO prescient.future_job_history (archived_at, ended_at, slot_at, first_check_at, check_count,
                                              failure_count, run_count, entity_name, entity_key, job_exec,
                                              outcome, engine, first_run_at, last_run_at, total_run_us,
                                              last_run_us, note, payload, concurrency_key, tenant)
    SELECT (SELECT at FROM begun), (SELECT coalesce(:now, at) FROM begun), :slot, e.first_check_at,
           coalesce({all_check_count}, (:check_counts)[e.place]),
           coalesce({all_failure_count}, (:failure_counts)[e.place]), coalesce(e.run_count, 0) + e.ran,
           e.entity_name, e.entity_key, e.job_exec, e.outcome, :engine,
           coalesce(e.first_run_at, e.run_at), e.run_at, coalesce(e.total_run_us, 0) + coalesce(e.run_us, 0),
           e.run_us,
           CASE WHEN (SELECT cardinality(:texts) > 0) THEN (:texts)[(:notes)[e.place]] END,
           CASE WHEN e.outcome IN {outcomes_of_trouble} THEN e.payload END,
           CASE WHEN e.outcome IN {outcomes_of_trouble} THEN e.concurrency_key END, e.tenant
      FROM (SELECT w.*, r.ran, CASE r.ran WHEN 1 THEN (:run_at_us)[w.place] END AS run_at,
                   CASE r.ran WHEN 1 THEN (:run_us)[w.place] END AS run_us,
                   coalesce((SELECT (:outcome_names)[{all_outcome}]),
                            (:outcome_names)[(:outcomes)[w.place]]) AS outcome
              FROM was w, LATERAL (SELECT coalesce({all_ran}, (:ran)[w.place]) AS ran) r
             WHERE w.place IN (SELECT n.place FROM renewed n) OFFSET 0) e)
SELECT EXISTS (SELECT FROM lease) AS ours, t.n AS touched,
       CASE WHEN t.n < cardinality(:offsets) THEN ARRAY(SELECT place FROM renewed) END AS places,
       {still_there} AS still_there,
       CASE WHEN :remember
            THEN set_config('prescient.renewed',
                            ARRAY(SELECT :first_id + (:offsets)[place]::bigint FROM renewed)::text, true)
           END AS remembered
  FROM (SELECT count(*)::integer AS n FROM renewed) t

-- name: renumber
-- :row_bucket and :row_id name a row that cannot move: in the slot where it is to go there is
-- another row with its id (see new_id). The row gets a new id and is run again. Its key stays.
-- in: slot timestamptz, bucket int4, owner uuid, token int8, lock_timeout text, row_bucket int4,
-- in: row_id int8
-- out: ours bool
WITH lease AS MATERIALIZED (
    SELECT FROM prescient.slot_lease
     WHERE slot_at = :slot AND bucket = :bucket AND owner = :owner AND token = :token
       AND set_config('lock_timeout', :lock_timeout, true) IS NOT NULL
       FOR SHARE),
renumbered AS (
    UPDATE prescient.future_job f
       SET id = prescient.new_id(f.next_check_at, f.bucket, f.priority),
           origin = prescient.origin_of(f.origin, f.first_check_at, f.id)
     WHERE f.next_check_at = :slot AND f.bucket = :row_bucket AND f.id = :row_id
       AND EXISTS (SELECT FROM lease))
SELECT EXISTS (SELECT FROM lease) AS ours

-- name: effects
-- Writes the effects of those rows that the settle before it, in this transaction, has changed, in
-- the order of their declaration. :now is virtual now or NULL. By effect: :ids id of its check,
-- :check_counts its check_count as read, :kinds (0 emit, 1 enqueue, 2 resolve), :words event or
-- conflict, :priorities, :concurrency_keys and :tenants of the check or delivery that it files.
-- in: slot timestamptz, now timestamptz?, ids int8[], check_counts int4[], kinds int4[],
-- in: words text[], entities text[], keys text[], jobs text[], jsons text[], at timestamptz[],
-- in: origins text[], priorities int4[], concurrency_keys text[], tenants text[]
-- out: outcomes int8
WITH {touched},
wanted AS MATERIALIZED (
    SELECT u.*
      FROM touched t, unnest(:ids, :check_counts, :kinds, :words, :entities, :keys, :jobs, :jsons, :at,
                             :origins, :priorities, :concurrency_keys, :tenants)
                      WITH ORDINALITY u (id, check_count, kind, word, entity_name, entity_key, job, json, at,
                                         origin, priority, concurrency_key, tenant, n)
     WHERE t.ids[width_bucket(u.id, t.ids)] = u.id
     ORDER BY u.n),
emitted AS (
    INSERT INTO prescient.event (generation, emitted_at, slot_at, check_count, event, entity_name, entity_key,
                                 job_exec, data)
    SELECT (SELECT prescient.current_generation()), coalesce(:now, clock_timestamp()), :slot, w.check_count,
           w.word, w.entity_name, w.entity_key, w.job, w.json::json
      FROM wanted w WHERE w.kind = 0),
{called}
SELECT count(outcome) AS outcomes FROM called

-- part: if_there
-- The key is found by the insert itself.

-- part: if_there_present
ON CONFLICT (bucket, entity_name, entity_key, job_exec) DO NOTHING

-- name: effects_heard
-- The same, where a listener hears an event of the page: a delivery is filed in the next second for
-- each, in the transaction that writes the event. The clock is read behind the first statement of
-- the transaction, so who looks at that second later on sees that it is under way. :origins is that
-- of the event, too, where it is heard. By effect: :buckets, :listeners (NULL: nobody hears it),
-- :hearing_jobs, and :terms of its delivery but for listener and time. Each further listener of an
-- event has an element of its own, of kind 3, whose event is the one numbered :of_event.
--
-- They are filed bucket by bucket, as both indexes are ordered: in the order of the page each would
-- go to another leaf than the one before.
--
-- A delivery that is there already is one of an event with the same origin (the clock was set back,
-- and a check was deferred twice from one slot): then the first is made. That is rare, and to look
-- for each key first would cost a tenth. So the statement fails where a key is there, and the
-- message is sent once more in the form `present`, which leaves that delivery as it is.
-- forms: present
-- in: slot timestamptz, now timestamptz?, ids int8[], check_counts int4[], kinds int4[],
-- in: words text[], entities text[], keys text[], jobs text[], jsons text[], at timestamptz[],
-- in: origins text[], priorities int4[], concurrency_keys text[], tenants text[], buckets int4[],
-- in: listeners text[], hearing_jobs text[], terms text[], of_event int4[]
-- out: outcomes int8
WITH {touched},
wanted AS MATERIALIZED (
    SELECT u.*
      FROM touched t, unnest(:ids, :check_counts, :kinds, :words, :entities, :keys, :jobs, :jsons, :at,
                             :origins, :priorities, :concurrency_keys, :tenants, :buckets, :listeners,
                             :hearing_jobs, :terms, :of_event)
                      WITH ORDINALITY u (id, check_count, kind, word, entity_name, entity_key, job, json, at,
                                         origin, priority, concurrency_key, tenant, bucket, listener,
                                         hearing_job, terms, of_event, n)
     WHERE t.ids[width_bucket(u.id, t.ids)] = u.id
     ORDER BY u.n),
clock AS MATERIALIZED (
    SELECT coalesce(:now, clock_timestamp()) AS at),
second AS MATERIALIZED (
    SELECT prescient.slot_fine_next(c.at) AS slot, round(date_part('epoch', c.at) * 1000000)::bigint AS us
      FROM clock c),
emitted AS (
    INSERT INTO prescient.event (generation, emitted_at, slot_at, check_count, event, entity_name, entity_key,
                                 job_exec, data, origin)
    SELECT (SELECT prescient.current_generation()), (SELECT c.at FROM clock c), :slot, w.check_count,
           w.word, w.entity_name, w.entity_key, w.job, w.json::json, w.origin::uuid
      FROM wanted w WHERE w.kind = 0),
filed AS (
    INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
                                      next_check_at, payload, origin, terms, tenant)
    SELECT w.bucket, 'prescient.event', w.listener || '/' || w.origin, w.hearing_job, s.slot, s.slot,
           coalesce(w.json, (:jsons)[w.of_event])::json, w.origin,
           w.terms || ' listener "' || w.listener || '" at ' || s.us, w.tenant
      FROM wanted w, second s
     WHERE w.listener IS NOT NULL
     ORDER BY w.bucket, w.listener COLLATE "C", w.n {if_there}),
{called}
SELECT count(outcome) AS outcomes FROM called

-- part: matches
(p.pattern = n.event OR p.pattern LIKE '%*' AND starts_with(n.event, left(p.pattern, -1)))

-- name: digest
-- The digest of :listener, in the transaction that starts its check anew, which was read as :id:
-- events behind its cursor are read, at most 10,000, what it hears becomes one delivery in the next
-- second, and the cursor moves. It is locked first: two checks of one listener (of two jobs) come
-- one after the other, and the later one reads on where the first has stopped. The documents of
-- 400 events are looked at, as many as 48 KiB can have; `count` is of all. Where there is more to
-- read, the check comes again in the next second. As `effects_heard`, it reads the clock behind the
-- first statement of its transaction.
--
-- A pattern with a star does not match delivery.failed (rules/listener.c). The planner must know
-- neither the cursor nor how many are read: it would sort all events where it expects few.
-- in: slot timestamptz, now timestamptz?, id int8, bucket int4, job text, listener text,
-- in: events text[], except_events text[]
-- out: filed int8, again int8
WITH {touched}, {events_here},
clock AS MATERIALIZED (
    SELECT coalesce(:now, clock_timestamp()) AS at),
mine AS MATERIALIZED (
    SELECT c.generation, c.xid, c.id, c.pruned_at FROM prescient.cursor c
     WHERE c.kind = 'digest' AND c.name = :listener
       AND (SELECT t.ids[width_bucket(:id, t.ids)] = :id FROM touched t)
       FOR UPDATE),
looked AS MATERIALIZED (
    SELECT e.generation, e.xid, e.id, e.event, e.entity_name, e.entity_key, e.job_exec, e.emitted_at,
           e.check_count, e.data
      FROM prescient.event e
     WHERE (e.generation, e.xid, e.id) > ((SELECT m.generation FROM mine m), (SELECT m.xid FROM mine m),
                                          (SELECT m.id FROM mine m)) AND {events_readable}
     ORDER BY e.generation, e.xid, e.id LIMIT (SELECT 10000)),
heard AS MATERIALIZED (
    SELECT n.event FROM (SELECT DISTINCT l.event FROM looked l) n
     WHERE EXISTS (SELECT FROM unnest(:events) p (pattern)
                    WHERE {matches} AND (n.event <> 'delivery.failed' OR p.pattern = n.event))
       AND NOT EXISTS (SELECT FROM unnest(:except_events) p (pattern) WHERE {matches})),
matched AS MATERIALIZED (
    SELECT l.*, l.generation || '-' || l.xid::text || '-' || l.id AS place,
           round(date_part('epoch', l.emitted_at) * 1000000)::bigint::text AS us,
           row_number() OVER (ORDER BY l.generation, l.xid, l.id) AS n
      FROM looked l WHERE l.event IN (SELECT h.event FROM heard h)),
documents AS MATERIALIZED (
    SELECT m.n, '{"type":' || to_json(m.event)::text
                || ',"id":"'
                || left(encode(sha256(convert_to('8:' || 'consumer' || octet_length(:listener) || ':'
                                                 || :listener || length(m.place) || ':' || m.place
                                                 || length(m.us) || ':' || m.us, 'UTF8')), 'hex'), 32)
                || '","timestamp":"'
                || to_char(m.emitted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
                || '","entity_name":' || to_json(m.entity_name)::text
                || ',"entity_key":' || to_json(m.entity_key)::text || ',"job":' || to_json(m.job_exec)::text
                || ',"check_number":' || coalesce((m.check_count::bigint + 1)::text, 'null')
                || ',"failure_count":' || 'null,"first_check_at":' || 'null,"data":'
                || coalesce(m.data::text, 'null') || '}' AS text
      FROM matched m WHERE m.n <= 400),
shown AS MATERIALIZED (
    SELECT f.n, f.text
      FROM (SELECT d.n, d.text, sum(octet_length(d.text) + 1) OVER (ORDER BY d.n) AS bytes
              FROM documents d WHERE octet_length(d.text) < 49024) f
     WHERE f.bytes <= 49024),
last AS MATERIALIZED (
    SELECT l.generation, l.xid, l.id FROM looked l ORDER BY l.generation DESC, l.xid DESC, l.id DESC LIMIT 1),
counted AS MATERIALIZED (
    SELECT (SELECT count(*) FROM looked) AS looked, (SELECT count(*) FROM matched) AS matched,
           (SELECT count(*) FROM shown) AS shown),
filed AS (
    INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
                                      next_check_at, payload, terms)
    SELECT prescient.bucket_of('prescient.event', k.key), 'prescient.event', k.key, :job, k.slot, k.slot,
           ('{"count":' || k.matched || ',"left_out":' || k.matched - k.shown || ',"pruned":' || k.is_pruned
            || ',"events":[' || coalesce((SELECT string_agg(s.text, ',' ORDER BY s.n) FROM shown s), '')
            || ']}')::json,
           'event "digest" of "prescient.digest" key "' || :listener || '" job "' || replace(:job, '"', '""')
           || '" number 1 failures 0 first ' || date_part('epoch', :slot)::bigint || ' listener "'
           || :listener || '" at ' || round(date_part('epoch', k.at) * 1000000)::bigint
      FROM (SELECT :listener || '/' || m.generation || '-' || m.xid::text || '-' || m.id || '..'
                   || l.generation || '-' || l.xid::text || '-' || l.id AS key,
                   prescient.slot_fine_next(c.at) AS slot, c.at, n.matched, n.shown,
                   (m.pruned_at IS NOT NULL)::text AS is_pruned
              FROM mine m, last l, counted n, clock c WHERE n.matched > 0 OFFSET 0) k
        ON CONFLICT (bucket, entity_name, entity_key, job_exec) DO NOTHING
    RETURNING 1),
moved AS (
    UPDATE prescient.cursor c
       SET generation = l.generation, xid = l.xid, id = l.id, moved_at = clock_timestamp(),
           pruned_at = CASE WHEN n.matched = 0 THEN c.pruned_at END
      FROM last l, counted n WHERE c.kind = 'digest' AND c.name = :listener),
again AS (
    UPDATE prescient.future_job f SET next_check_at = prescient.slot_fine_next(c.at)
      FROM clock c, counted n
     WHERE n.looked = 10000 AND f.bucket = :bucket AND f.entity_name = 'prescient.digest'
       AND f.entity_key = :listener AND f.job_exec = :job
    RETURNING 1)
SELECT (SELECT count(*) FROM filed) AS filed, (SELECT count(*) FROM again) AS again

-- part: touched
touched AS MATERIALIZED (
    SELECT ARRAY(SELECT unnest(nullif(current_setting('prescient.ended', true), '')::bigint[]) UNION ALL
                 SELECT unnest(nullif(current_setting('prescient.moved', true), '')::bigint[]) UNION ALL
                 SELECT unnest(nullif(current_setting('prescient.renewed', true), '')::bigint[])
                        ORDER BY 1) AS ids)

-- part: called
called AS MATERIALIZED (
    SELECT CASE w.kind
           WHEN 1 THEN (prescient.file_declared(w.entity_name, w.entity_key, w.job, w.at, w.json::json,
                                                w.word, :now, w.origin, w.priority, w.concurrency_key,
                                                w.tenant)).outcome
           WHEN 2 THEN prescient.resolve_at(w.entity_name, w.entity_key, w.job, :now)::text END AS outcome
      FROM wanted w WHERE w.kind IN (1, 2))

-- ---- the end of a bucket ------------------------------------------------------------------------

-- part: rows_behind
f.next_check_at = :slot AND f.bucket = :bucket AND (f.priority, f.id) > (:after_priority, :after_id)

-- part: rows_of_bucket
f.next_check_at = :slot AND f.bucket = :bucket

-- part: rows_of_bucket_slot
f.next_check_at = :slot

-- part: left_here
CASE WHEN cardinality(:jobs_left) > 0 THEN :jobs_left END

-- part: left_here_own
-- Those of other jobs were not read: their names are found here, but not in all of these rows.
nullif(ARRAY(SELECT j.job_exec FROM unnest(:jobs_left) j (job_exec)
             UNION
             SELECT few.job_exec FROM (SELECT f.job_exec FROM prescient.future_job f
                                        WHERE {rows_of_bucket} AND NOT {is_own} LIMIT 1000) few
              ORDER BY 1), '{}')

-- part: rows_behind_slot
f.next_check_at = :slot AND (f.bucket, f.priority, f.id) > (:after_bucket, :after_priority, :after_id)

-- name: finish
-- :after_bucket, :after_priority and :after_id are of the last row read. :complete: all rows that
-- can ever be filed there were read and settled, on the server :incarnation. The statement looks
-- only for rows after the last one read: before it are the dead rows of the whole pass, and vacuum
-- removes those more cheaply. Rows that were filed there late are left to the second look: the
-- transaction id stored is above those of all transactions that the reads may have missed. In the
-- form `own` only rows of :jobs were read.
-- forms: slot own
-- in: slot timestamptz, bucket int4, owner uuid, token int8, lock_timeout text, leave bool,
-- in: jobs_left text[], jobs text[], engine text?, after_bucket int4, after_priority int4,
-- in: after_id int8, complete bool, incarnation int8, {counts int8}, late_us int8, took_us int8
-- out: ours bool, finished bool
WITH lease AS MATERIALIZED (
    SELECT FROM prescient.slot_lease
     WHERE slot_at = :slot AND bucket = :bucket AND owner = :owner AND token = :token
       AND set_config('lock_timeout', :lock_timeout, true) IS NOT NULL
       FOR UPDATE),
given_back AS (
    DELETE FROM prescient.slot_lease l
     WHERE l.slot_at = :slot AND l.bucket = :bucket AND l.owner = :owner AND l.token = :token
       AND EXISTS (SELECT FROM lease)
       AND (:leave OR NOT EXISTS (SELECT FROM prescient.future_job f WHERE {rows_behind}
                                  AND f.job_exec <> ALL (:jobs_left)))
    RETURNING l.bucket),
recorded AS (
    INSERT INTO prescient.slot_pass (slot_at, bucket, pass, engine, seen_xid, left_jobs, {counts},
                                     late_us, took_us)
    SELECT :slot, g.bucket, 1 + coalesce((SELECT max(pass) FROM prescient.slot_pass p WHERE p.slot_at = :slot
                                          AND p.bucket = g.bucket), 0),
           :engine,
           CASE WHEN NOT (:complete AND :incarnation = {incarnation})
                THEN pg_current_xact_id()::text::bigint END,
           {left_here}, {values_of_counts}, :late_us, :took_us
      FROM given_back g)
SELECT EXISTS (SELECT FROM lease) AS ours, EXISTS (SELECT FROM given_back) AS finished

-- part: slot_has_rows
EXISTS (SELECT FROM prescient.future_job f WHERE f.next_check_at = o.slot_at)

-- part: slot_has_rows_degraded
prescient.holds_checks(o.slot_at, o.slot_at, 0, 63, NULL)

-- name: relook
-- :want is the most slots to return, of those that need work. :settled_only: do not look for rows
-- while old transactions run. The look and the snapshot are one statement. A slot is closed when
-- all its buckets are finished, all transactions that their reads may have missed had ended before
-- this statement began, and this look finds no row. If the reads missed nothing (no seen_xid), no
-- look is needed.
--
-- No engine takes over a lease on a closed slot whose engine died: it is deleted once it has
-- expired.
--
-- An id that is not below the snapshot's xmax was assigned in another cluster, from which this
-- database was restored or copied. No transaction here has it, so it is ignored: else the slot
-- would wait until this cluster reaches it. An id of another cluster below xmax is waited for
-- needlessly, but no longer than for transactions that run now. A promoted cluster keeps its ids
-- and its prepared transactions.
-- forms: degraded
-- in: want int4, settled_only bool
-- out: slot timestamptz?, has_rows bool, undone bool, closed int4, busy_us int8
WITH unclosed AS MATERIALIZED (
    SELECT o.slot_at, s.missed_before <= pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS is_settled,
           o.seen_xid IS NULL AND s.finished < o.split AS undone,
           CASE WHEN s.finished >= o.split AND s.missed = 0 THEN false
                WHEN :settled_only AND s.missed_before > pg_snapshot_xmin(pg_current_snapshot())::text::bigint
                    THEN false
                ELSE {slot_has_rows} END AS has_rows
      FROM prescient.slot_pass o,
           LATERAL (SELECT count(DISTINCT p.bucket) FILTER (WHERE p.pass > 0) AS finished,
                           count(p.seen_xid) AS missed,
                           coalesce(max(p.seen_xid) FILTER (
                               WHERE p.seen_xid < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
                           ), 0) AS missed_before
                      FROM prescient.slot_pass p WHERE p.slot_at = o.slot_at OFFSET 0) s
     WHERE o.pass = 0 AND o.closed_at IS NULL),
closed AS (
    UPDATE prescient.slot_pass o SET closed_at = clock_timestamp()
      FROM unclosed u
     WHERE o.slot_at = u.slot_at AND o.bucket = -1 AND o.pass = 0 AND o.closed_at IS NULL AND NOT u.has_rows
       AND NOT u.undone AND u.is_settled
    RETURNING o.slot_at),
left_behind AS MATERIALIZED (
    SELECT l.slot_at, l.bucket FROM prescient.slot_lease l, prescient.slot_pass o
     WHERE o.slot_at = l.slot_at AND o.bucket = -1 AND o.pass = 0 AND o.closed_at IS NOT NULL
       AND l.expires_at <= clock_timestamp()
       FOR UPDATE OF l SKIP LOCKED),
removed AS (
    DELETE FROM prescient.slot_lease l USING left_behind b
     WHERE l.slot_at = b.slot_at AND l.bucket = b.bucket)
SELECT * FROM (SELECT u.slot_at AS slot, u.has_rows, u.undone, 0 AS closed, 0::bigint AS busy_us
                 FROM unclosed u WHERE u.has_rows OR u.undone
                ORDER BY u.slot_at LIMIT :want) listed
UNION ALL
SELECT NULL, false, false, count(*)::integer, {busy_us} FROM closed

-- part: busy_us
-- How long the server has worked on this statement. The client's own time includes the network, and
-- a slow network is no reason to look less often. It comes last in a row, after the expensive
-- columns.
(extract(epoch FROM clock_timestamp() - statement_timestamp()) * 1000000)::bigint

-- name: pulse
-- The newest id that open slots wait for (see relook), and how many transactions up to it are still
-- running, prepared ones included. No more of them can begin, so when their number falls, one has
-- ended. Reads only slots that are not closed, and no checks.
-- out: newest int8, running int4, oldest int8
SELECT n.newest, r.running, r.oldest
  FROM (SELECT coalesce(max(p.seen_xid), 0) AS newest FROM prescient.slot_pass o, prescient.slot_pass p
         WHERE o.pass = 0 AND o.closed_at IS NULL AND p.slot_at = o.slot_at
           AND p.seen_xid < pg_snapshot_xmax(pg_current_snapshot())::text::bigint OFFSET 0) n,
       LATERAL (SELECT count(*)::integer AS running, coalesce(min(x.xid::text::bigint), 0) AS oldest
                  FROM pg_snapshot_xip(pg_current_snapshot()) x (xid) WHERE x.xid::text::bigint < n.newest) r

-- part: second
interval '1 second'

-- part: pause_change
-- The number of the last change to pauses.
coalesce((SELECT value::bigint FROM prescient.setting WHERE name = 'pause_changes'), 0)

-- name: fine_slots
-- Seconds that are full slots, and those that an engine has opened, are the bounds of gaps; only
-- gaps are looked into, from slot to slot by one step of the index each. So the dead rows of slots
-- that were run are not read: an old transaction keeps them. The clock is read before the snapshot
-- is taken: whoever takes an id later than that files later than it, too. `next_xid` is the id that
-- the next transaction gets; the snapshot's xmax is no more than the first after those that are
-- over. A time that is no whole second is the sweep's to mend. The last row has no slot.
--
-- A second in which there is nothing for these jobs is listed one second later: an engine that has
-- its jobs opens it first. Sixteen rows are enough to see that, mostly; what they do not show is
-- run a second later. `lefts` are seconds that an engine has run and left rows of these jobs in:
-- only passes are read, and rows only where the last pass of a bucket names one of these jobs. So
-- the dead rows of a second that was run here are not read there either.
-- in: low timestamptz, jobs text[]?
-- out: slot timestamptz?, clock_us timestamptz, xmin int8, next_xid int8, incarnation int8
-- out: pause_change int8
WITH bounds AS (
    SELECT :low AS at
    UNION
    SELECT o.slot_at FROM prescient.slot_pass o
     WHERE o.bucket = -1 AND o.pass = 0 AND o.slot_at > :low AND o.slot_at <= statement_timestamp()
    UNION
    SELECT s.at FROM generate_series(prescient.slot_next(:low), statement_timestamp(),
                                     prescient.slot_length_s() * {second}) s (at)),
gaps AS MATERIALIZED (
    SELECT b.at, coalesce(lead(b.at) OVER (ORDER BY b.at), date_trunc('second', statement_timestamp())
                                                           + {second}) AS until FROM bounds b),
found AS MATERIALIZED (
    SELECT f.slot
      FROM gaps g, LATERAL (
           WITH RECURSIVE filed (slot) AS (
               (SELECT j.next_check_at FROM prescient.future_job j
                 WHERE j.next_check_at > g.at AND j.next_check_at < g.until
                 ORDER BY j.next_check_at LIMIT 1)
               UNION ALL
               SELECT (SELECT j.next_check_at FROM prescient.future_job j
                        WHERE j.next_check_at >= date_trunc('second', l.slot) + {second}
                          AND j.next_check_at < g.until
                        ORDER BY j.next_check_at LIMIT 1)
                 FROM filed l WHERE l.slot IS NOT NULL)
           SELECT slot FROM filed WHERE slot = date_trunc('second', slot)) f
     WHERE g.until > g.at + {second}
       AND (:jobs IS NULL OR f.slot < date_trunc('second', statement_timestamp())
            OR EXISTS (SELECT FROM (SELECT j.job_exec FROM prescient.future_job j
                                     WHERE j.next_check_at = f.slot LIMIT 16) few
                        WHERE few.job_exec = ANY (:jobs)))
     ORDER BY g.at, f.slot LIMIT 16),
lefts AS MATERIALIZED (
    SELECT o.slot_at AS slot
      FROM prescient.slot_pass o
     WHERE o.pass = 0 AND o.closed_at IS NULL
       AND o.slot_at > statement_timestamp() - prescient.slot_length_s() * {second}
       AND o.slot_at <= statement_timestamp() AND o.slot_at <> prescient.slot_floor(o.slot_at)
       AND EXISTS (SELECT FROM prescient.slot_pass p
                    WHERE p.slot_at = o.slot_at AND p.pass > 0 AND p.left_jobs && :jobs
                      AND NOT EXISTS (SELECT FROM prescient.slot_pass later
                                       WHERE later.slot_at = p.slot_at AND later.bucket = p.bucket
                                         AND later.pass > p.pass)
                      AND NOT EXISTS (SELECT FROM prescient.slot_lease l
                                       WHERE l.slot_at = p.slot_at AND l.bucket = p.bucket)
                      AND EXISTS (SELECT FROM prescient.future_job f
                                   WHERE f.next_check_at = p.slot_at AND f.bucket >= greatest(p.bucket, 0)
                                     AND f.bucket <= CASE p.bucket WHEN -1 THEN 63 ELSE p.bucket END
                                     AND f.job_exec = ANY (:jobs)))
     ORDER BY o.slot_at LIMIT 16)
SELECT f.slot, statement_timestamp() AS clock_us,
       pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS xmin,
       pg_snapshot_xmin(pg_current_snapshot())::text::bigint
           + age(pg_snapshot_xmin(pg_current_snapshot())::xid) AS next_xid, {incarnation} AS incarnation,
       {pause_change} AS pause_change
  FROM (SELECT slot FROM found UNION ALL SELECT slot FROM lefts UNION ALL SELECT NULL) f
 ORDER BY f.slot NULLS LAST

-- name: pauses_now
-- Those that are not over, if the number of the last change to pauses is not :known.
-- in: known int8
-- out: change int8, slot timestamptz?, what text?, name text?, is_on bool, is_reslotted bool
SELECT c.change, p.slot_at AS slot, p.what, p.name, coalesce(p.resumed_at IS NULL, false) AS is_on,
       coalesce(p.is_reslotted, false) AS is_reslotted
  FROM (SELECT {pause_change} AS change OFFSET 0) c
  LEFT JOIN prescient.pause p ON c.change <> :known AND p.ended_at IS NULL

-- name: end_pauses
-- in: lock_timeout text
-- out: ended int4
SELECT prescient.end_pauses() AS ended
  FROM (SELECT set_config('lock_timeout', :lock_timeout, true) AS lock_timeout OFFSET 0) setup
 WHERE setup.lock_timeout IS NOT NULL

-- name: late_slot
-- `misfiled_at`: the first late row is at a time that is no slot, in that second (the first second
-- of 1970 stands for all before it). The slot is the first behind it. `until`: see slot_behind.
-- `urgent`, `urgent_until`: see first_urgent.
-- forms: degraded
-- in: since timestamptz, before timestamptz, urgent_since timestamptz
-- out: slot timestamptz?, misfiled_at timestamptz?, until timestamptz?, busy_us int8,
-- out: urgent timestamptz?, urgent_until timestamptz?
SELECT l.slot, l.misfiled_at, l.until, {busy_us} AS busy_us, u.urgent, u.urgent_until
  FROM (SELECT) one LEFT JOIN LATERAL ({first_late}) l ON true, LATERAL {first_urgent} u

-- part: first_urgent
-- The first slot that holds checks with a priority below 0, from :urgent_since and the first late
-- slot on; 1970: none is looked for. Each bucket of each slot is one step in the index by slot,
-- whose first row has its lowest priority; a second with times that are no slots is one step. Of
-- many steps `urgent_until` is the second to go on with. One row.
(WITH RECURSIVE step (at, bucket, priority, n) AS (
     (SELECT f.next_check_at, f.bucket, f.priority, 1 FROM prescient.future_job f
       WHERE :urgent_since > '1970-01-01 00:00:00+00' AND f.next_check_at >= greatest(:urgent_since, l.slot)
         AND l.slot IS NOT NULL AND f.next_check_at < :before
       ORDER BY f.next_check_at, f.bucket, f.priority, f.id LIMIT 1)
     UNION ALL
     SELECT f.next_check_at, f.bucket, f.priority, s.n + 1
       FROM step s,
            LATERAL (SELECT prescient.is_slot(s.at) AS is_slot) k,
            LATERAL (SELECT CASE WHEN k.is_slot THEN s.at
                                 ELSE prescient.second_behind(s.at) - interval '1 microsecond' END AS at,
                            CASE WHEN k.is_slot THEN s.bucket ELSE 63 END AS bucket) b,
            LATERAL (SELECT g.next_check_at, g.bucket, g.priority FROM prescient.future_job g
                      WHERE (g.next_check_at, g.bucket) > (b.at, b.bucket) AND g.next_check_at < :before
                      ORDER BY g.next_check_at, g.bucket, g.priority, g.id LIMIT 1) f
      WHERE s.n < 5000 AND (s.priority >= 0 OR NOT k.is_slot))
 SELECT max(s.at) FILTER (WHERE s.priority < 0 AND prescient.is_slot(s.at)) AS urgent,
        max(s.at) FILTER (WHERE s.n = 5000) AS urgent_until FROM step s)

-- part: first_urgent_degraded
(SELECT NULL::timestamptz AS urgent, NULL::timestamptz AS urgent_until)

-- part: filed
-- The time of the first late row, or where that is no slot, the first slot behind.
SELECT f.at AS slot, NULL::timestamptz AS misfiled_at, NULL::timestamptz AS until
 WHERE prescient.is_slot(f.at)
UNION ALL
SELECT b.slot, date_trunc('second', greatest(f.at, '1970-01-01 00:00:01+00')), b.until
  FROM prescient.slot_behind(f.at, f.before) b WHERE NOT prescient.is_slot(f.at)

-- part: since
-- What is not a whole second comes before it. The earliest slot stands for all that is before it,
-- too: a plain INSERT may have put it there.
CASE WHEN :since > '1970-01-01 00:00:00+00' THEN :since - interval '999999 microseconds' ELSE '-infinity' END

-- part: first_late
SELECT filed.slot, filed.misfiled_at, filed.until
  FROM (SELECT next_check_at AS at, :before AS before FROM prescient.future_job
         WHERE next_check_at >= {since} AND next_check_at < :before ORDER BY next_check_at LIMIT 1) f,
       LATERAL ({filed}) filed

-- part: first_late_degraded
SELECT s.slot, NULL::timestamptz AS misfiled_at, NULL::timestamptz AS until
  FROM (SELECT prescient.first_slot(:since, :before) AS slot OFFSET 0) s

-- part: mark
-- A missing mark means the beginning of time. So does a mark ahead of the clock: the clock was set
-- back, or the mark is of virtual time.
coalesce((SELECT to_timestamp(value::bigint) FROM prescient.setting WHERE name = 'swept_until'
             AND value::bigint <= extract(epoch FROM clock_timestamp())), '-infinity')

-- name: late_slot_from_mark
-- forms: degraded
-- in: before timestamptz, urgent_since timestamptz
-- out: slot timestamptz?, misfiled_at timestamptz?, until timestamptz?, busy_us int8,
-- out: urgent timestamptz?, urgent_until timestamptz?
SELECT l.slot, l.misfiled_at, l.until, {busy_us} AS busy_us, u.urgent, u.urgent_until
  FROM (SELECT) one LEFT JOIN LATERAL ({first_from_mark}) l ON true, LATERAL {first_urgent} u

-- part: first_from_mark
SELECT filed.slot, filed.misfiled_at, filed.until
  FROM (SELECT next_check_at AS at, :before AS before FROM prescient.future_job
         WHERE next_check_at < :before AND next_check_at >= {mark} ORDER BY next_check_at LIMIT 1) f,
       LATERAL ({filed}) filed

-- part: first_from_mark_degraded
SELECT s.slot, NULL::timestamptz AS misfiled_at, NULL::timestamptz AS until
  FROM (SELECT prescient.first_slot({mark}, :before) AS slot OFFSET 0) s

-- name: late_slot_beside
-- :since is the earliest slot, or the mark, if that is later. The look skips slots that engines
-- have opened: if many checks were settled while an old transaction was open, their dead rows are
-- still there. It goes no further than one gap between them, and looks for no urgent checks.
-- in: since timestamptz, before timestamptz
-- out: slot timestamptz?, misfiled_at timestamptz?, until timestamptz?, busy_us int8,
-- out: urgent timestamptz?, urgent_until timestamptz?
SELECT l.slot, l.misfiled_at, l.until, {busy_us} AS busy_us, NULL::timestamptz AS urgent,
       NULL::timestamptz AS urgent_until
  FROM (SELECT) one LEFT JOIN LATERAL (
       SELECT filed.slot, filed.misfiled_at,
              coalesce(filed.until, CASE WHEN filed.slot IS NULL AND f.before < :before
                                         THEN f.before END) AS until
         FROM (SELECT b.at AS opened, coalesce(lead(b.at) OVER (ORDER BY b.at), :before) AS next_opened
                 FROM (SELECT greatest({mark}, :since) - interval '1 second' AS at
                       UNION
                       SELECT o.slot_at FROM prescient.slot_pass o
                        WHERE o.pass = 0 AND o.slot_at >= greatest({mark}, :since)
                          AND o.slot_at < :before) b) gap,
              LATERAL (SELECT j.next_check_at AS at, gap.next_opened AS before FROM prescient.future_job j
                        WHERE j.next_check_at > gap.opened AND j.next_check_at < gap.next_opened
                        ORDER BY j.next_check_at LIMIT 1) f,
              LATERAL ({filed}) filed
        ORDER BY gap.opened LIMIT 1) l ON true

-- name: refile
-- :since as misfiled_at and until of late_slot and of this one.
-- in: since timestamptz, before timestamptz, most int4
-- out: refiled int8, until timestamptz?
SELECT r.refiled, r.until
  FROM prescient.refile(CASE WHEN :since > '1970-01-01 00:00:01+00' THEN :since ELSE '-infinity' END, :before,
                        :most) r

-- name: recall
-- :jobs: those that can be run here; NULL: all. :after_at and :after_id as returned by the call
-- before; NULL and 0 at first.
-- in: jobs text[]?, now timestamptz?, after_at timestamptz?, after_id int8, only_one bool
-- out: recalled int8, until_at timestamptz?, until_id int8
SELECT r.recalled, r.until_at, coalesce(r.until_id, 0) AS until_id
  FROM prescient.recall(NULL, NULL, :jobs, NULL, :now, coalesce(:after_at, '-infinity'), :after_id,
                        :only_one) r

-- part: rows_below
EXISTS (SELECT FROM prescient.future_job f
         WHERE f.next_check_at < to_timestamp(n.slot)
           AND f.next_check_at >= coalesce(to_timestamp(m.slot), '-infinity'))

-- part: rows_below_degraded
prescient.holds_checks(coalesce(to_timestamp(m.slot), '-infinity'), to_timestamp(n.slot - 1), 0, 63, NULL)

-- name: mark_swept
-- :full_look: the sweep began with a full look; its time is stored. :slot: the look before this
-- call found no row before it. A running transaction may still file a check into an earlier slot,
-- and a slot that no engine has opened gets no second look. So the slot is only noted first, with a
-- transaction id taken after the slot had begun: an id above those of all transactions that can
-- still file a check before it. A later call makes it the mark, once those transactions are over
-- and a look in that statement finds no row. The mark never moves down, unless it is ahead of the
-- clock.
-- forms: degraded
-- in: slot int8, full_look bool
-- out: busy_us int8
WITH clock AS MATERIALIZED (
    SELECT extract(epoch FROM clock_timestamp())::bigint AS now),
mark AS MATERIALIZED (
    SELECT max(s.value::bigint) AS slot FROM prescient.setting s, clock c WHERE s.name = 'swept_until'
           AND s.value::bigint <= c.now),
noted AS MATERIALIZED (
    SELECT n.slot, n.xid <= pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS is_settled
      FROM (SELECT split_part(s.value, ' ', 1)::bigint AS slot, split_part(s.value, ' ', 2)::bigint AS xid
              FROM prescient.setting s WHERE s.name = 'sweep_noted') n, clock c
     WHERE n.slot <= c.now AND n.xid < pg_snapshot_xmax(pg_current_snapshot())::text::bigint),
good AS MATERIALIZED (
    SELECT n.slot FROM noted n, mark m
     WHERE n.is_settled
       AND NOT {rows_below}),
moved AS (
    INSERT INTO prescient.setting AS s SELECT 'swept_until', g.slot::text FROM good g
        ON CONFLICT (name) DO UPDATE SET value = excluded.value
         WHERE s.value::bigint < excluded.value::bigint OR s.value::bigint > (SELECT now FROM clock)),
looked AS (
    INSERT INTO prescient.setting AS s SELECT 'full_look_at', c.now::text FROM clock c WHERE :full_look
        ON CONFLICT (name) DO UPDATE SET value = excluded.value),
noted_now AS (
    INSERT INTO prescient.setting AS s
    SELECT 'sweep_noted', :slot::text || ' ' || pg_current_xact_id()::text
      FROM clock c
     WHERE :slot <= c.now AND (EXISTS (SELECT FROM good) OR NOT EXISTS (SELECT FROM noted))
        ON CONFLICT (name) DO UPDATE SET value = excluded.value)
SELECT {busy_us} AS busy_us FROM clock, (SELECT count(*) FROM good) looked_at

-- name: refile_buckets
-- What a sweep sees to besides: checks in other buckets than those of their keys, and places of
-- engines that have died.
-- out: refiled int8, doubles int8, one text, dropped int8
SELECT r.refiled, r.doubles, coalesce(r.one, '') AS one, prescient.drop_old_places() AS dropped
  FROM prescient.refile_buckets() r

-- name: repair_schedules
-- Files what active schedules lack. At most a million of them are looked at: 5 s.
-- out: filed int8
SELECT r.filed FROM prescient.repair_schedules(NULL, 1000000, NULL) r

-- name: keep_digests
-- The checks of digests, by listener; :buckets are those of the checks. A missing one is filed. Its
-- cursor stays, so that no event is skipped; a listener that has none gets one behind all that may
-- be read. What another engine has filed meanwhile is there. A check whose job or terms are others
-- gets new ones, and never waits longer than before: engines with different settings could else
-- move it on for ever. One whose slot has begun may be under way. The transaction's id comes before
-- the clock.
-- in: now timestamptz?, listeners text[], buckets int4[], jobs text[], terms text[],
-- in: first_at timestamptz[]
-- out: filed int8
WITH {events_here},
begun AS MATERIALIZED (
    SELECT pg_current_xact_id() AS xid),
clock AS MATERIALIZED (
    SELECT coalesce(:now, clock_timestamp()) AS at FROM begun WHERE xid IS NOT NULL),
wanted AS MATERIALIZED (
    SELECT u.listener, u.bucket, u.job, u.terms, prescient.slot_for(u.first_at, c.at) AS slot
      FROM clock c, unnest(:listeners, :buckets, :jobs, :terms, :first_at)
                        u (listener, bucket, job, terms, first_at)),
changed AS (
    UPDATE prescient.future_job f
       SET id = prescient.new_id(least(f.next_check_at, w.slot), f.bucket, f.priority), job_exec = w.job,
           terms = w.terms, first_check_at = least(f.next_check_at, w.slot),
           next_check_at = least(f.next_check_at, w.slot)
      FROM wanted w, clock c
     WHERE f.bucket = w.bucket AND f.entity_name = 'prescient.digest' AND f.entity_key = w.listener
       AND (f.job_exec <> w.job OR f.terms IS DISTINCT FROM w.terms) AND f.next_check_at > c.at
       AND NOT EXISTS (SELECT FROM prescient.future_job o
                        WHERE o.bucket = f.bucket AND o.entity_name = f.entity_name
                          AND o.entity_key = f.entity_key AND o.job_exec = w.job AND o.id <> f.id)
    RETURNING 1),
filed AS (
    INSERT INTO prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at,
                                      next_check_at, terms)
    SELECT w.bucket, 'prescient.digest', w.listener, w.job, w.slot, w.slot, w.terms
      FROM wanted w
     WHERE NOT EXISTS (SELECT FROM prescient.future_job f
                        WHERE f.bucket = w.bucket AND f.entity_name = 'prescient.digest'
                          AND f.entity_key = w.listener)
        ON CONFLICT (bucket, entity_name, entity_key, job_exec) DO NOTHING
    RETURNING 1),
last AS MATERIALIZED (
    SELECT e.generation, e.xid, e.id FROM prescient.event e
     WHERE {events_readable} ORDER BY e.generation DESC, e.xid DESC, e.id DESC LIMIT 1),
made AS (
    INSERT INTO prescient.cursor (kind, name, generation, xid, id)
    SELECT 'digest', w.listener, coalesce(l.generation, 0), coalesce(l.xid, '0'), coalesce(l.id, 0)
      FROM wanted w LEFT JOIN last l ON true
        ON CONFLICT (kind, name) DO NOTHING)
SELECT (SELECT count(*) FROM changed) + (SELECT count(*) FROM filed) AS filed

-- name: forget_digest
-- Behind the statement that has ended the check of a digest, in its transaction: if that has
-- touched nothing, the check is there, and its cursor stays.
-- in: listener text
-- out: forgotten text?
SELECT prescient.forget_digest(:listener)::text AS forgotten

-- name: note_listeners
-- What an engine has noted before goes. Two that drop old notes at once leave each other's alone.
-- Another engine has another name, or other settings. Long texts that are as they were are kept as
-- they lie. An engine that was in no pass yet, as after it has read its settings again, was in
-- those of the one before.
-- in: engine text?, command text?, file text?, listeners text?, jobs text?, counts_s int8,
-- in: version text, host text?, pid int4, started_us timestamptz?, serves text,
-- in: last_slot timestamptz?, last_pass_us timestamptz?
-- out: dropped int8, others int8
WITH dropped AS (
    DELETE FROM prescient.engine_seen e
     WHERE (e.engine, e.command, e.file) IN (
           SELECT o.engine, o.command, o.file FROM prescient.engine_seen o
            WHERE o.counts_until < clock_timestamp() - interval '1 day'
              AND (o.engine, o.command, o.file) <> (:engine, :command, :file)
            LIMIT 1000 FOR UPDATE SKIP LOCKED)
    RETURNING 1),
noted AS (
    INSERT INTO prescient.engine_seen AS e (engine, command, file, listeners, jobs, seen_at, counts_until,
           version, host, pid, started_at, serves, last_slot_at, last_pass_at)
    VALUES (:engine, :command, :file, :listeners, :jobs, clock_timestamp(),
            clock_timestamp() + :counts_s::bigint * {second}, :version, :host, :pid, :started_us, :serves,
            :last_slot, :last_pass_us)
        ON CONFLICT (engine, command, file) DO UPDATE
       SET listeners = CASE e.listeners WHEN excluded.listeners THEN e.listeners ELSE excluded.listeners END,
           jobs = CASE e.jobs WHEN excluded.jobs THEN e.jobs ELSE excluded.jobs END,
           seen_at = excluded.seen_at, counts_until = excluded.counts_until, version = excluded.version,
           host = excluded.host, pid = excluded.pid, started_at = excluded.started_at,
           serves = excluded.serves, last_slot_at = coalesce(excluded.last_slot_at, e.last_slot_at),
           last_pass_at = coalesce(excluded.last_pass_at, e.last_pass_at))
SELECT (SELECT count(*) FROM dropped) AS dropped, count(*) AS others
  FROM prescient.engine_seen e
 WHERE (e.engine, e.file) <> (:engine, :file) AND e.counts_until > clock_timestamp()

-- name: note_loads
-- Nothing is written where nobody draws slots. Of two engines one counts, as note_loads looks again
-- behind a lock that it does not wait for.
-- out: slots int8
SELECT coalesce((SELECT prescient.note_loads()::bigint FROM prescient.setting s
                  WHERE s.name = 'loads_noted_at'), -1) AS slots

-- name: note_runs
-- A note is added once: :number is above that of the last note of :owner. Who sends one again,
-- after a reply that was lost, waits here for the statement that was given up. The row by which a
-- note is known stays for a day, and a note counts for half a day after it was made: one that comes
-- later may have been added. Rows are taken in the order of their key, so that engines do not wait
-- for each other in a circle; the rows of run_note that go are those that nobody holds.
-- in: owner uuid, number int8, made_us timestamptz, hours timestamptz[], jobs text[],
-- in: entities text[], tenants text[], outcomes text[], runs int8[], took_us int8[],
-- in: took_max_us int8[], late_max_us int8[], took text[], late text[], tally_whats text[],
-- in: tally_names text[], tally_outcomes text[], tally_n int8[], tally_took_us int8[],
-- in: tally_took text[], tally_late_us int8[], tally_late text[]
WITH is_new AS (
    INSERT INTO prescient.run_note AS n (owner, number, noted_at)
    SELECT :owner, :number, clock_timestamp() WHERE :made_us > clock_timestamp() - interval '12 hours'
        ON CONFLICT (owner) DO UPDATE SET number = excluded.number, noted_at = excluded.noted_at
     WHERE n.number < excluded.number
    RETURNING 1),
forgotten AS (
    DELETE FROM prescient.run_note
     WHERE owner = ANY (ARRAY(SELECT o.owner FROM prescient.run_note o
                               WHERE o.noted_at < clock_timestamp() - interval '1 day' AND o.owner <> :owner
                               LIMIT 1000 FOR UPDATE SKIP LOCKED))),
tallied AS (
    INSERT INTO prescient.tally AS t (what, name, outcome, n, took_us, took, late_us, late)
    SELECT r.what, r.name, r.outcome, r.n, r.took_us, ('{' || r.took || '}')::bigint[], r.late_us,
           ('{' || r.late || '}')::bigint[]
      FROM is_new, unnest(:tally_whats, :tally_names, :tally_outcomes, :tally_n, :tally_took_us, :tally_took,
                          :tally_late_us, :tally_late)
           r (what, name, outcome, n, took_us, took, late_us, late)
     ORDER BY r.what, r.name, r.outcome
        ON CONFLICT (what, name, outcome)
        DO UPDATE SET n = t.n + excluded.n, took_us = t.took_us + excluded.took_us,
                      late_us = least(t.late_us::numeric + excluded.late_us, 9223372036854775807)::bigint,
                      took = ARRAY(SELECT coalesce(b.was, 0) + coalesce(b.more, 0)
                                     FROM unnest(t.took, excluded.took) WITH ORDINALITY b (was, more, bound)
                                    ORDER BY b.bound),
                      late = ARRAY(SELECT coalesce(b.was, 0) + coalesce(b.more, 0)
                                     FROM unnest(t.late, excluded.late) WITH ORDINALITY b (was, more, bound)
                                    ORDER BY b.bound))
INSERT INTO prescient.run_hour AS h (hour_at, job_exec, entity_name, tenant, outcome, runs, took_us,
                                     took_max_us, late_max_us, took_classes, took_runs, late_classes,
                                     late_runs)
SELECT r.hour_at, r.job, r.entity, r.tenant, r.outcome, r.runs, r.took_us, r.took_max_us, r.late_max_us,
       t.classes, t.runs, l.classes, l.runs
  FROM is_new, unnest(:hours, :jobs, :entities, :tenants, :outcomes, :runs, :took_us, :took_max_us,
                      :late_max_us, :took, :late)
       r (hour_at, job, entity, tenant, outcome, runs, took_us, took_max_us, late_max_us, took, late),
       LATERAL (SELECT {arrays_of_classes}
                  FROM (SELECT e.key::smallint, e.value::bigint FROM jsonb_each_text(r.took::jsonb) e)
                       k (class, runs)) t,
       LATERAL (SELECT {arrays_of_classes}
                  FROM (SELECT e.key::smallint, e.value::bigint FROM jsonb_each_text(r.late::jsonb) e)
                       k (class, runs)) l
 ORDER BY r.hour_at, r.job, r.entity, r.tenant, r.outcome
    ON CONFLICT (hour_at, job_exec, entity_name, tenant, outcome)
    DO UPDATE SET runs = h.runs + excluded.runs, took_us = h.took_us + excluded.took_us,
                  took_max_us = greatest(h.took_max_us, excluded.took_max_us),
                  late_max_us = greatest(h.late_max_us, excluded.late_max_us),
                  (took_classes, took_runs) = (
                      SELECT {arrays_of_classes}
                        FROM (SELECT b.class, sum(b.runs)::bigint
                                FROM (SELECT * FROM unnest(h.took_classes, h.took_runs)
                                      UNION ALL
                                      SELECT * FROM unnest(excluded.took_classes, excluded.took_runs))
                                     b (class, runs) GROUP BY b.class) k (class, runs)),
                  (late_classes, late_runs) = (
                      SELECT {arrays_of_classes}
                        FROM (SELECT b.class, sum(b.runs)::bigint
                                FROM (SELECT * FROM unnest(h.late_classes, h.late_runs)
                                      UNION ALL
                                      SELECT * FROM unnest(excluded.late_classes, excluded.late_runs))
                                     b (class, runs) GROUP BY b.class) k (class, runs))

-- part: arrays_of_classes
coalesce(array_agg(k.class ORDER BY k.class), '{}') AS classes,
                   coalesce(array_agg(k.runs ORDER BY k.class), '{}') AS runs

-- name: drop_running
-- Those of this engine, and what the dead have left.
-- in: owner uuid
DELETE FROM prescient.run_now WHERE owner = :owner OR seen_at < clock_timestamp() - interval '1 day'

-- name: note_running
-- in: owner uuid, engine text?, workers int4[], entities text[], keys text[], jobs text[],
-- in: slots timestamptz[], began_us timestamptz[]
INSERT INTO prescient.run_now (owner, number, engine, worker, entity_name, entity_key, job_exec, slot_at,
                               began_at, seen_at)
SELECT :owner, r.number, :engine, r.worker, r.entity, r.key, r.job, r.slot_at, r.began_at, clock_timestamp()
  FROM unnest(:workers, :entities, :keys, :jobs, :slots, :began_us) WITH ORDINALITY
       r (worker, entity, key, job, slot_at, began_at, number)

-- name: keep_days
-- :days ahead. 0: build one index instead, in a transaction of its own, whose failure undoes no
-- day. With days, it also records whether the database continues in another history, and moves up
-- sequences that are behind. `noted` describes this; usually it is ''.
-- in: days int4
-- out: made int4, indexed int4, noted text
SELECT CASE WHEN :days > 0 THEN prescient.keep_history_days(:days) ELSE 0 END AS made,
       CASE WHEN :days > 0 THEN 0 ELSE prescient.index_history_day() END AS indexed,
       CASE WHEN :days > 0 THEN coalesce(prescient.note_history(false), '') ELSE '' END AS noted

-- ---- prune --------------------------------------------------------------------------------------

-- name: prune_unread
-- Before a day of events goes: consumers that have not read all of such days are told so.
-- in: before timestamptz
UPDATE prescient.cursor c SET pruned_at = clock_timestamp()
 WHERE EXISTS (SELECT FROM prescient.event e
                WHERE (e.generation, e.xid, e.id) > {cursor_place}
                  AND e.recorded_at < least(date_trunc('day', :before AT TIME ZONE 'UTC'),
                                            date_trunc('day', clock_timestamp() AT TIME ZONE 'UTC')
                                            - interval '1 day') AT TIME ZONE 'UTC')

-- name: prune_day
-- One transaction, because it locks out all users of the table, for a tenth of a second at most
-- (0004_days).
-- in: day_table text, before timestamptz
-- out: n int8
SELECT count(prescient.drop_old_day(:day_table, :before)) AS n

-- name: prune_days_count
-- in: day_table text, before timestamptz
-- out: n int8
SELECT count(*) AS n FROM prescient.old_days(:day_table, :before)

-- name: prune_who
-- The session that has used the oldest of these days, or the table itself, for longest. Only
-- superusers see details of other roles' sessions.
-- in: day_table text, before timestamptz
-- out: who text
SELECT format('%s is in use by pid %s (%s, user %s)', d.day, a.pid,
              coalesce(nullif(a.application_name, ''), a.backend_type), a.usename) AS who
  FROM (SELECT day FROM prescient.old_days(:day_table, :before) day LIMIT 1) d,
       pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
 WHERE l.locktype = 'relation' AND l.granted AND l.pid <> pg_backend_pid()
   AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
   AND l.relation IN (to_regclass('prescient.' || :day_table), to_regclass('prescient.' || d.day))
 ORDER BY l.relation = to_regclass('prescient.' || d.day) DESC, age(a.backend_xmin) DESC NULLS LAST, a.pid
     LIMIT 1

-- part: pass_is_over
-- The passes of a slot stay until it is closed and has no row and no lease. In a replay the slot's
-- time is long past, so the time when they were recorded counts as well.
o.bucket = -1 AND o.pass = 0 AND o.closed_at IS NOT NULL AND o.slot_at < :before AND o.recorded_at < :before
       AND NOT EXISTS (SELECT FROM prescient.slot_lease l WHERE l.slot_at = o.slot_at)
       AND NOT EXISTS (SELECT FROM prescient.future_job f WHERE f.next_check_at = o.slot_at)

-- name: prune_passes
-- in: before timestamptz
-- out: n int8
WITH gone AS (
    DELETE FROM prescient.slot_pass
     WHERE slot_at IN (SELECT o.slot_at FROM prescient.slot_pass o WHERE {pass_is_over}
                       ORDER BY o.slot_at LIMIT 200)
    RETURNING 1)
SELECT count(*) AS n FROM gone

-- name: prune_fine_passes
-- Those of fine slots: a row or two for each second.
-- in: before timestamptz
-- out: n int8
WITH gone AS (
    DELETE FROM prescient.slot_pass
     WHERE slot_at IN (SELECT o.slot_at FROM prescient.slot_pass o WHERE {pass_is_over}
                       AND o.slot_at <> prescient.slot_floor(o.slot_at) ORDER BY o.slot_at LIMIT 2000)
    RETURNING 1)
SELECT count(*) AS n FROM gone

-- name: prune_passes_count
-- in: before timestamptz
-- out: n int8
SELECT count(*) AS n FROM prescient.slot_pass o JOIN prescient.slot_pass p ON p.slot_at = o.slot_at
 WHERE {pass_is_over}

-- name: prune_hours
-- in: before timestamptz
-- out: n int8
WITH gone AS (
    DELETE FROM prescient.run_hour
     WHERE ctid = ANY (ARRAY(SELECT o.ctid FROM prescient.run_hour o WHERE o.hour_at < :before
                              ORDER BY o.hour_at LIMIT 2000))
    RETURNING 1)
SELECT count(*) AS n FROM gone

-- name: prune_hours_count
-- in: before timestamptz
-- out: n int8
SELECT count(*) AS n FROM prescient.run_hour WHERE hour_at < :before

-- name: prune_changes
-- in: before timestamptz
-- out: n int8
WITH gone AS (
    DELETE FROM prescient.change
     WHERE (changed_at, id) IN (SELECT o.changed_at, o.id FROM prescient.change o WHERE o.changed_at < :before
                                 ORDER BY o.changed_at LIMIT 2000)
    RETURNING 1)
SELECT count(*) AS n FROM gone

-- name: prune_changes_count
-- in: before timestamptz
-- out: n int8
SELECT count(*) AS n FROM prescient.change WHERE changed_at < :before

-- part: pause_may_go
-- The newest stays: the next slot is the day after it.
p.ended_at < :before AND p.slot_at < (SELECT max(m.slot_at) FROM prescient.pause m)

-- name: prune_pauses
-- in: before timestamptz
-- out: n int8
WITH gone AS (
    DELETE FROM prescient.pause
     WHERE slot_at IN (SELECT p.slot_at FROM prescient.pause p WHERE {pause_may_go}
                       ORDER BY p.ended_at LIMIT 1000)
    RETURNING 1)
SELECT count(*) AS n FROM gone

-- name: prune_pauses_count
-- in: before timestamptz
-- out: n int8
SELECT count(*) AS n FROM prescient.pause p WHERE {pause_may_go}

-- name: prune_claim
-- Whether it is our turn: one engine gets it in :turn_s seconds. A note that is ahead of the clock
-- does not count.
-- in: turn_s int4
-- out: n int8
WITH turn AS (
    INSERT INTO prescient.setting AS s SELECT 'pruned_at',
        floor(extract(epoch FROM clock_timestamp()))::bigint::text
        ON CONFLICT (name) DO UPDATE SET value = excluded.value
         WHERE s.value::bigint NOT BETWEEN excluded.value::bigint - :turn_s AND excluded.value::bigint
    RETURNING 1)
SELECT count(*) AS n FROM turn

-- ---- reports: parameters are text, NULL when not given; moments are seconds ---------------------

-- A user with prescient_reader reads the views: the form `narrow` of a report has them in place of
-- the tables. They have no payload, and no order within a slot. The time of a check may be
-- infinite, which no integer is: such moments are float8 here, whole seconds.

-- part: shown_checks
prescient.future_job

-- part: shown_checks_narrow
(SELECT NULL::json AS payload, p.* FROM prescient.pending p)

-- part: checks_in_order
f.next_check_at, f.bucket, f.priority, f.id

-- part: file_one
SELECT c.outcome, c.filed_at
  FROM prescient.file_check(:entity, :key, :job, to_timestamp(:at::bigint), :payload::json,
                            coalesce(:conflict, 'keep'), coalesce(:priority::integer, 0),
                            to_timestamp(:now::bigint), :concurrency_key, :tenant) c

-- part: file_one_narrow
-- The outcome first: filed_at() sees what has been filed by then.
SELECT o.outcome, prescient.filed_at(:entity, :key, :job) AS filed_at
  FROM (SELECT prescient.enqueue(:entity, :key, :job, to_timestamp(:at::bigint), :payload::json,
                                 coalesce(:conflict, 'keep'), coalesce(:priority::integer, 0), NULL,
                                 :concurrency_key, :tenant) AS outcome
        OFFSET 0) o OFFSET 0

-- name: enqueue
-- forms: narrow
-- in: entity text?, key text?, job text?, at text?, payload text?, conflict text?, priority text?,
-- in: now text?, concurrency_key text?, tenant text?
-- out: outcome text, next_check_at int8?
-- report: writes prepared
SELECT c.outcome, date_part('epoch', c.filed_at)::bigint AS next_check_at FROM ({file_one}) c

-- part: file_one_now
SELECT c.outcome, c.filed_at
  FROM prescient.file_now(:entity, :key, :job, :payload::json, coalesce(:conflict, 'earlier'),
                          coalesce(:priority::integer, 0), to_timestamp(:now::bigint),
                          :concurrency_key, :tenant) c

-- part: file_one_now_narrow
SELECT o.outcome, prescient.filed_at(:entity, :key, :job) AS filed_at
  FROM (SELECT prescient.enqueue_now(:entity, :key, :job, :payload::json, coalesce(:conflict, 'earlier'),
                                     coalesce(:priority::integer, 0), :concurrency_key, :tenant) AS outcome
        OFFSET 0) o OFFSET 0

-- name: enqueue_now
-- forms: narrow
-- in: entity text?, key text?, job text?, payload text?, conflict text?, priority text?, now text?,
-- in: concurrency_key text?, tenant text?
-- out: outcome text, next_check_at int8?
-- report: writes prepared
SELECT c.outcome, date_part('epoch', c.filed_at)::bigint AS next_check_at FROM ({file_one_now}) c

-- name: ask_loads
-- From now on engines count checks.
-- out: asked int4
-- report: writes
SELECT 1 AS asked FROM prescient.ask_loads()

-- name: slot_loads
-- out: slot_at int8, checks int4
-- report
SELECT date_part('epoch', l.slot_at)::bigint AS slot_at, l.checks FROM prescient.slot_loads() l

-- name: pull_forward
-- A check that waits, to the next second. It files none anew, unlike enqueue_now: `not_found` is
-- one that has ended meanwhile. The id is taken before the clock is read, as in file_check.
-- in: entity text?, key text?, job text?
-- out: outcome text, next_check_at int8?
-- report: writes prepared
SELECT coalesce(c.outcome, 'not_found') AS outcome, date_part('epoch', c.filed_at)::bigint AS next_check_at
  FROM (SELECT pg_current_xact_id() AS xid OFFSET 0) x,
       LATERAL (SELECT prescient.slot_fine_next(clock_timestamp()) AS slot
                 WHERE x.xid IS NOT NULL OFFSET 0) n,
       LATERAL prescient.file_again(:entity, :key, :job, n.slot, NULL, NULL, 'earlier', 0) c

-- name: checks_of_key
-- The checks of one row that wait: which life each is in (its id), how often it ran, where it is
-- filed, and who has a lease of it. A lease that is over counts: its engine may be at work still.
-- in: entity text?, key text?, job text?
-- out: job_exec text, id int8, next_check_at float8, again_at float8?, put_off_at float8?,
-- out: run_count int4, failure_count int4, recurs int4, is_begun int4, engine text?, clock_at int8
-- report
SELECT f.job_exec, f.id, round(date_part('epoch', f.next_check_at)) AS next_check_at,
       round(date_part('epoch', f.again_at)) AS again_at,
       round(date_part('epoch', f.put_off_at)) AS put_off_at,
       coalesce(f.run_count, 0) AS run_count, f.failure_count,
       coalesce(f.terms LIKE 'schedule %', false)::integer AS recurs,
       (f.next_check_at <= statement_timestamp())::integer AS is_begun,
       (SELECT coalesce(l.engine, '?') FROM prescient.slot_lease l
         WHERE l.slot_at = f.next_check_at AND l.bucket IN (-1, f.bucket) LIMIT 1) AS engine,
       date_part('epoch', statement_timestamp())::bigint AS clock_at
  FROM prescient.future_job f
 WHERE f.bucket = prescient.bucket_of(:entity, :key) AND f.entity_name = :entity AND f.entity_key = :key
   AND (:job IS NULL OR f.job_exec = :job)
 ORDER BY f.job_exec LIMIT 100

-- part: has_checks
(:entity::text IS NULL OR EXISTS (
           SELECT FROM generate_series(0, 63) b (bucket), LATERAL (
                  SELECT FROM prescient.future_job f
                   WHERE f.bucket = b.bucket AND f.entity_name = :entity LIMIT 1) one))
       AND (:tenant::text IS NULL OR EXISTS (
           SELECT FROM (SELECT f.tenant FROM prescient.future_job f ORDER BY f.next_check_at LIMIT 10000) f
            WHERE f.tenant = :tenant))

-- part: has_checks_narrow
NULL::boolean

-- name: pause
-- has_checks: whether any check of the entity waits, or one of the tenant is among the next 10,000;
-- of others it is not asked, nor for who may not read the table.
-- forms: narrow
-- in: job text?, entity text?, schedule text?, tenant text?, reason text?
-- out: outcome text, has_checks bool?
-- report: writes prepared
SELECT prescient.pause(:job, :entity, :schedule, :reason, :tenant) AS outcome,
       {has_checks} AS has_checks

-- name: resume
-- in: job text?, entity text?, schedule text?, tenant text?, reslot text?
-- out: outcome text
-- report: writes prepared
SELECT prescient.resume(:job, :entity, :schedule, coalesce(:reslot::boolean, false), :tenant) AS outcome

-- name: concurrency
-- in: pattern text?, places text?
-- out: outcome text
-- report: writes
SELECT prescient.set_concurrency(:pattern, :places::integer) AS outcome

-- name: pace
-- out: pace text?, seconds int4
-- report
SELECT prescient.pace()::text AS pace, prescient.pace_s() AS seconds

-- name: set_pace
-- in: pace text
-- out: pace text
-- report: writes
SELECT prescient.set_pace(:pace::numeric)::text AS pace

-- name: concurrency_limits
-- in: most text?
-- out: pattern text, places int4, set_at int8, set_by text
-- report
SELECT l.pattern, l.places, date_part('epoch', l.set_at)::bigint AS set_at, l.set_by
  FROM prescient.concurrency_limits l
 ORDER BY l.pattern COLLATE "C" LIMIT :most::integer

-- name: keys
-- Places that are held, and keys that only wait: of the first checks that are due or will be within
-- a slot, since nothing finds checks by their keys.
-- in: most text?
-- out: concurrency_key text, place int4?, engine text?, taken_at int8?, held_until int8?,
-- out: is_wanted bool?, waiting int8
-- report
WITH held AS MATERIALIZED (
    SELECT p.concurrency_key, p.number, p.engine, p.taken_at, p.expires_at, p.is_wanted
      FROM prescient.places p WHERE p.expires_at > clock_timestamp()),
due AS MATERIALIZED (
    SELECT few.concurrency_key, count(*) AS n
      FROM (SELECT w.concurrency_key FROM prescient.pending w
             WHERE w.next_check_at <= clock_timestamp() + prescient.slot_length_s() * interval '1 second'
             LIMIT 10000) few
     WHERE few.concurrency_key IS NOT NULL GROUP BY few.concurrency_key)
SELECT coalesce(h.concurrency_key, d.concurrency_key) AS concurrency_key, h.number AS place, h.engine,
       date_part('epoch', h.taken_at)::bigint AS taken_at,
       date_part('epoch', h.expires_at)::bigint AS held_until, h.is_wanted, coalesce(d.n, 0) AS waiting
  FROM held h FULL JOIN due d ON d.concurrency_key = h.concurrency_key
 ORDER BY coalesce(h.concurrency_key, d.concurrency_key) COLLATE "C", h.number LIMIT :most::integer

-- name: pauses_on
-- Those that are on, without their checks: what the checks in a slot of a pause wait for.
-- in: most text
-- out: what text, name text, paused_at int8, paused_by text, reason text?, slot int8
-- report
SELECT a.what, a.name, date_part('epoch', a.paused_at)::bigint AS paused_at, a.paused_by, a.reason,
       date_part('epoch', a.slot_at)::bigint AS slot
  FROM prescient.pauses a WHERE a.state = 'on' ORDER BY a.slot_at LIMIT :most::integer

-- part: order_of_pauses
a.ended_at IS NOT NULL, CASE WHEN a.ended_at IS NULL THEN a.slot_at END, a.slot_at DESC

-- name: pauses
-- Those that are not over, the oldest first; with :all then the others, the newest first. Counts
-- end at a bound, :counted or that of the view, and are made once: without the inner LIMIT, a count
-- would stand in the plan for each place that names it.
-- in: all text?, most text?, counted text?
-- out: what text, name text, state text, checks int8, is_at_least bool, paused_at int8,
-- out: paused_by text, reason text?, resumed_at int8?, resumed_by text?, ended_at int8?
-- report
SELECT a.what, a.name, a.state, a.counted AS checks,
       a.counted >= coalesce(:counted::bigint, 10000) AS is_at_least,
       date_part('epoch', a.paused_at)::bigint AS paused_at, a.paused_by, a.reason,
       date_part('epoch', a.resumed_at)::bigint AS resumed_at, a.resumed_by,
       date_part('epoch', a.ended_at)::bigint AS ended_at
  FROM (SELECT a.what, a.name, a.state, a.paused_at, a.paused_by, a.reason, a.resumed_at, a.resumed_by,
               a.ended_at, a.slot_at,
               CASE WHEN :counted IS NULL THEN a.checks
                    ELSE (SELECT count(*) FROM (SELECT FROM prescient.pending w
                                                 WHERE w.next_check_at = a.slot_at
                                                 LIMIT :counted::bigint) few) END AS counted
          FROM prescient.pauses a
         WHERE :all::boolean IS TRUE OR a.ended_at IS NULL
         ORDER BY {order_of_pauses} LIMIT :most::integer) a
 ORDER BY {order_of_pauses}

-- part: resolve_one
prescient.resolve_at(:entity, :key, :job, to_timestamp(:now::bigint))

-- part: resolve_one_narrow
prescient.resolve(:entity, :key, :job)

-- name: resolve
-- forms: narrow
-- in: entity text?, key text?, job text?, now text?
-- out: resolved int8
-- report: writes prepared
SELECT {resolve_one} AS resolved

-- name: resolve_doubt
-- What may be wrong when nothing was resolved.
-- in: entity text?, key text?, job text?
-- out: doubt text?
-- report
SELECT prescient.resolve_doubt(:entity, :key, :job) AS doubt

-- part: move_one
SELECT c.outcome, c.filed_at
  FROM prescient.reschedule_at(:entity, :key, :job, to_timestamp(:at::bigint), to_timestamp(:now::bigint)) c

-- part: move_one_narrow
SELECT o.outcome, CASE o.outcome WHEN 'moved' THEN prescient.filed_at(:entity, :key, :job) END AS filed_at
  FROM (SELECT prescient.reschedule(:entity, :key, :job, to_timestamp(:at::bigint)) AS outcome OFFSET 0) o
OFFSET 0

-- name: reschedule
-- forms: narrow
-- in: entity text?, key text?, job text?, at text?, now text?
-- out: outcome text, next_check_at int8?
-- report: writes prepared
SELECT c.outcome, date_part('epoch', c.filed_at)::bigint AS next_check_at FROM ({move_one}) c

-- part: wanted_schedule
json_build_object('name', :name, 'entity_name', :entity, 'entity_key', :key, 'job_exec', :job,
                               'every_s', :every, 'bias', :bias, 'cron', :cron, 'timezone', :timezone,
                               'missed', :missed, 'payload', :payload::json,
                               'concurrency_key', :concurrency_key, 'tenant', :tenant)

-- part: put_schedule
prescient.put_schedule(
      :mode, (SELECT s FROM json_populate_record(NULL::prescient.schedule, {wanted_schedule}) s),
      to_timestamp(:now::bigint), NULL, NULL)

-- part: put_schedule_narrow
prescient.change_schedule(:mode, {wanted_schedule})

-- name: schedule_put
-- :mode: add, set or put (0009_schedules). :bias in ten thousandths. The form `narrow`, here and
-- below, is of an operator: the outcome of a schedule that is not there is not_found.
-- forms: narrow
-- in: mode text?, name text?, entity text?, key text?, job text?, every text?, bias text?,
-- in: cron text?, timezone text?, missed text?, payload text?, now text?, concurrency_key text?,
-- in: tenant text?
-- out: outcome text, next_check_at int8?
-- report: writes prepared
SELECT p.outcome, date_part('epoch', p.filed_at)::bigint AS next_check_at
  FROM {put_schedule} p

-- part: switch_schedule
prescient.switch_schedule(:name, :active::boolean, :why, to_timestamp(:now::bigint), NULL)

-- part: switch_schedule_narrow
(SELECT CASE c.outcome WHEN 'changed' THEN true WHEN 'kept' THEN false END
          FROM prescient.change_schedule(CASE WHEN :active::boolean THEN 'on' ELSE 'off' END,
                                         json_build_object('name', :name), NULL, :why) c)

-- name: schedule_switch
-- forms: narrow
-- in: name text?, active text?, why text?, now text?
-- out: is_changed bool?
-- report: writes
SELECT {switch_schedule} AS is_changed

-- part: remove_schedule
prescient.remove_schedule(:name, to_timestamp(:now::bigint), NULL, NULL)

-- part: remove_schedule_narrow
(SELECT c.outcome = 'removed' FROM prescient.change_schedule('remove', json_build_object('name', :name)) c)

-- name: schedule_remove
-- forms: narrow
-- in: name text?, now text?
-- out: is_removed bool
-- report: writes
SELECT {remove_schedule} AS is_removed

-- name: schedule_put_many
-- :entries: see put_schedules (0009_schedules).
-- in: entries text?, now text?
-- out: n int8
-- report: writes
SELECT prescient.put_schedules(:entries::json, to_timestamp(:now::bigint)) AS n

-- name: schedule_remove_many
-- :names: an array, as JSON
-- in: names text?, now text?
-- out: n int8
-- report: writes
SELECT count(*) FILTER (WHERE prescient.remove_schedule(w.name, to_timestamp(:now::bigint), NULL, NULL)) AS n
  FROM (SELECT e.value AS name FROM json_array_elements_text(:names::json) e
         ORDER BY e.value COLLATE "C" OFFSET 0) w

-- part: schedule_columns
s.name, s.entity_name, s.entity_key, s.job_exec, s.every_s, trim_scale(s.bias / 10000.0) AS bias, s.cron,
       s.timezone, s.missed, s.payload, s.is_active,
       date_part('epoch', f.next_check_at)::bigint AS next_check_at,
       date_part('epoch', f.first_check_at)::bigint AS first_check_at,
       date_part('epoch', f.again_at)::bigint AS again_at, f.terms,
       date_part('epoch', s.made_at)::bigint AS made_at, s.made_by,
       date_part('epoch', s.changed_at)::bigint AS changed_at, s.changed_by,
       date_part('epoch', s.switched_at)::bigint AS switched_at, s.switched_by, s.switched_why,
       s.concurrency_key, s.tenant, prescient.slot_length_s() AS slot_length_s

-- part: schedule_columns_narrow
s.name, s.entity_name, s.entity_key, s.job_exec, s.every_s, trim_scale(s.bias) AS bias, s.cron,
       s.timezone, s.missed, NULL::json AS payload, s.is_active,
       date_part('epoch', s.next_check_at)::bigint AS next_check_at, NULL::bigint AS first_check_at,
       NULL::bigint AS again_at, NULL::text AS terms, date_part('epoch', s.made_at)::bigint AS made_at,
       s.made_by, date_part('epoch', s.changed_at)::bigint AS changed_at, s.changed_by,
       date_part('epoch', s.switched_at)::bigint AS switched_at, s.switched_by, s.switched_why,
       s.concurrency_key, s.tenant, prescient.slot_length_s() AS slot_length_s

-- part: waits_how
(f.check_count > 0 OR f.failure_count > 0 OR f.deferred_at IS NOT NULL)::integer AS has_begun,
       EXISTS (SELECT FROM prescient.pause p
                WHERE p.resumed_at IS NULL AND (p.what, p.name) IN (('schedule', s.name), ('job', s.job_exec),
                                                                    ('entity', s.entity_name),
                                                                    ('tenant', s.tenant)))::integer
           AS is_paused

-- part: waits_how_narrow
NULL::integer AS has_begun, NULL::integer AS is_paused

-- part: shown_schedules
prescient.schedule

-- part: shown_schedules_narrow
prescient.schedules

-- part: check_of_schedule
LEFT JOIN prescient.future_job f
         ON f.bucket = prescient.bucket_of(s.entity_name, s.entity_key) AND f.entity_name = s.entity_name
        AND f.entity_key = s.entity_key AND f.job_exec = s.job_exec

-- part: check_of_schedule_narrow
CROSS JOIN (SELECT) f

-- name: schedules
-- By the bytes of the name. :prefix: of the name; those that have it come first of all from it on,
-- so that they are among the first :most, and no more are read. :after: behind that name.
-- forms: narrow
-- in: prefix text?, entity text?, key text?, job text?, most text?, after text?
-- out: name text, entity_name text, entity_key text, job_exec text, every_s int8?, bias numeric?,
-- out: cron text?, timezone text?, missed text, payload json?, is_active bool, next_check_at int8?,
-- out: first_check_at int8?, again_at int8?, terms text?, made_at int8, made_by text,
-- out: changed_at int8, changed_by text, switched_at int8?, switched_by text?, switched_why text?,
-- out: concurrency_key text?, tenant text?, slot_length_s int4
-- report
SELECT {schedule_columns}
  FROM (SELECT t.* FROM {shown_schedules} t
         WHERE t.name COLLATE "C" >= coalesce(:prefix, '') AND (:after IS NULL OR t.name COLLATE "C" > :after)
           AND (:entity IS NULL OR t.entity_name = :entity) AND (:key IS NULL OR t.entity_key = :key)
           AND (:job IS NULL OR t.job_exec = :job)
         ORDER BY t.name COLLATE "C" LIMIT :most::bigint) s
  {check_of_schedule}
 WHERE left(s.name, length(coalesce(:prefix, ''))) = coalesce(:prefix, '')
 ORDER BY s.name COLLATE "C"

-- name: schedule
-- has_begun: its occurrence was run already and is tried again. is_paused: a pause is on that its
-- check is moved into when it comes up.
-- forms: narrow
-- in: name text?
-- out: name text, entity_name text, entity_key text, job_exec text, every_s int8?, bias numeric?,
-- out: cron text?, timezone text?, missed text, payload json?, is_active bool, next_check_at int8?,
-- out: first_check_at int8?, again_at int8?, terms text?, made_at int8, made_by text,
-- out: changed_at int8, changed_by text, switched_at int8?, switched_by text?, switched_why text?,
-- out: concurrency_key text?, tenant text?, slot_length_s int4, has_begun int4?, is_paused int4?,
-- out: clock_at int8
-- report
SELECT {schedule_columns}, {waits_how},
       date_part('epoch', statement_timestamp())::bigint AS clock_at
  FROM {shown_schedules} s
  {check_of_schedule}
 WHERE s.name = :name

-- name: schedules_amiss
-- Schedules that are off and whose check waits, and those that are on and have none: the first of
-- each kind by name, and how many there are among those looked at. At most 10,000 of each kind are,
-- of the first 200,000 in the table. is_at_least: there are others, which were not looked at.
-- out: is_active bool, n int8, is_at_least bool, name text, entity_name text, entity_key text,
-- out: job_exec text
-- report
WITH looked_at AS (
    (SELECT t.* FROM (SELECT s.* FROM prescient.schedule s LIMIT 200000) t WHERE NOT t.is_active LIMIT 10000)
    UNION ALL
    (SELECT t.* FROM (SELECT s.* FROM prescient.schedule s LIMIT 200000) t WHERE t.is_active LIMIT 10000)),
amiss AS (
    SELECT l.is_active, l.name, l.entity_name, l.entity_key, l.job_exec
      FROM looked_at l
      LEFT JOIN LATERAL (SELECT true AS is_there, f.terms FROM prescient.future_job f
                          WHERE f.bucket = prescient.bucket_of(l.entity_name, l.entity_key)
                            AND f.entity_name = l.entity_name AND f.entity_key = l.entity_key
                            AND f.job_exec = l.job_exec LIMIT 1) c ON true
     WHERE CASE WHEN l.is_active THEN c.is_there IS NULL ELSE coalesce(c.terms LIKE 'schedule %', false) END)
SELECT DISTINCT ON (a.is_active) a.is_active, count(*) OVER (PARTITION BY a.is_active) AS n,
       b.is_full OR EXISTS (SELECT FROM prescient.schedule OFFSET 200000 LIMIT 1) AS is_at_least,
       a.name, a.entity_name, a.entity_key, a.job_exec
  FROM amiss a
  JOIN (SELECT l.is_active, count(*) >= 10000 AS is_full FROM looked_at l GROUP BY 1) b USING (is_active)
 ORDER BY a.is_active, a.name COLLATE "C"

-- The number of a look: the first look of a check is 1, and a granted `again` asks for the next. A
-- look that failed and is tried again keeps its number. check_count counts the granted `again`s: in
-- a row of the run log with its own, in an event without.

-- part: number_of_run
r.check_count::bigint + (r.outcome <> 'again')::integer

-- part: number_of_run_narrow
r.check_number

-- part: number_of_event_narrow
e.check_number

-- part: number_of_last_look_narrow
h.check_number

-- part: number_of_event
e.check_count::bigint + 1

-- part: number_of_last_look
-- 0: it was never looked at.
h.check_count::bigint + CASE WHEN h.outcome NOT IN ('resolved', 'unknown_job') OR h.failure_count > 0
                             THEN 1 ELSE 0 END

-- part: outcomes_of_trouble
-- Those after which `retry` files a check again.
('failed', 'timeout', 'crashed', 'bad_answer', 'unknown_job')

-- part: failed_history
h.outcome IN {outcomes_of_trouble}

-- name: retry_found
-- The newest failure of each check, unless the check has ended well since: as marks, newest first,
-- which `retry` takes page by page. Finding that out takes one look for all failures together, at
-- the days since the oldest of them. A schedule's occurrence that ends well leaves a row in the run
-- log.
-- in: entity text?, key text?, job text?, since text?
-- out: mark text, found text
-- report
WITH newest AS MATERIALIZED (
    SELECT DISTINCT ON (h.entity_name, h.entity_key, h.job_exec) h.entity_name, h.entity_key, h.job_exec,
           h.archived_at
      FROM prescient.future_job_history h
     WHERE {failed_history} AND h.entity_name NOT IN ('prescient.event', 'prescient.digest')
       AND (:entity IS NULL OR h.entity_name = :entity)
       AND (:key IS NULL OR h.entity_key = :key) AND (:job IS NULL OR h.job_exec = :job)
       AND (:since IS NULL OR h.ended_at >= to_timestamp(:since::bigint))
     ORDER BY h.entity_name, h.entity_key, h.job_exec, h.archived_at DESC),
recurring AS MATERIALIZED (
    SELECT n.entity_name, n.entity_key, n.job_exec, n.archived_at
      FROM newest n, LATERAL (
           SELECT FROM prescient.future_job f
            WHERE f.bucket = prescient.bucket_of(n.entity_name, n.entity_key)
              AND f.entity_name = n.entity_name AND f.entity_key = n.entity_key AND f.job_exec = n.job_exec
              AND f.terms LIKE 'schedule %' OFFSET 0) waits),
mended AS MATERIALIZED (
    SELECT c.entity_name, c.entity_key, c.job_exec
      FROM recurring c, prescient.future_job_run r
     WHERE r.recorded_at > (SELECT min(oldest.archived_at) FROM recurring oldest) AND r.outcome = 'done'
       AND r.entity_name = c.entity_name AND r.entity_key = c.entity_key AND r.job_exec = c.job_exec
       AND r.recorded_at > c.archived_at)
SELECT json_build_array(n.entity_name, n.entity_key, n.job_exec,
                        round(date_part('epoch', n.archived_at) * 1000000)::bigint)::text AS mark,
       round(date_part('epoch', statement_timestamp()) * 1000000)::bigint::text AS found
  FROM newest n
 WHERE NOT EXISTS (SELECT FROM prescient.future_job_history h
                    WHERE h.entity_name = n.entity_name AND h.entity_key = n.entity_key
                      AND h.job_exec = n.job_exec
                      AND h.archived_at > n.archived_at
                      AND h.archived_at > (SELECT min(oldest.archived_at) FROM newest oldest)
                      AND NOT {failed_history})
   AND NOT EXISTS (SELECT FROM mended m
                    WHERE m.entity_name = n.entity_name AND m.entity_key = n.entity_key
                      AND m.job_exec = n.job_exec)
 ORDER BY n.archived_at DESC, n.entity_name, n.entity_key, n.job_exec

-- name: retry
-- Those of a page of marks, a JSON array, that have not ended well since `found`. A settle that was
-- open then may commit what it dated before: a minute is allowed for that. A failure of a day that
-- is over is read by its key in that day (OFFSET 0 keeps the planner from other indexes). Today's
-- and yesterday's may have no such index yet: they are read once a page, from its first failure to
-- its last, and not by `archived_at = failed_at`, for which the day would be read once a failure.
-- in: checks text, found text, at text?, now text?
-- out: entity_name text, entity_key text, job_exec text, outcome text, next_check_at int8?
-- report: writes
WITH asked AS MATERIALIZED (
    SELECT a.nth, a.mark ->> 0 AS entity_name, a.mark ->> 1 AS entity_key, a.mark ->> 2 AS job_exec,
           timestamptz 'epoch' + (a.mark ->> 3)::bigint * interval '1 microsecond' AS failed_at
      FROM json_array_elements(:checks::json) WITH ORDINALITY a (mark, nth)),
young AS MATERIALIZED (
    SELECT min(a.failed_at) AS first, max(a.failed_at) AS last
      FROM asked a WHERE a.failed_at >= (SELECT w.at FROM {whole_days} w)),
failed AS MATERIALIZED (
    SELECT n.nth, n.entity_name, n.entity_key, n.job_exec, n.failed_at, h.payload, h.concurrency_key,
           h.tenant
      FROM asked n JOIN prescient.future_job_history h
        ON h.entity_name = n.entity_name AND h.entity_key = n.entity_key AND h.job_exec = n.job_exec
       AND h.archived_at + interval '0' = n.failed_at
     WHERE h.archived_at >= (SELECT y.first FROM young y) AND h.archived_at <= (SELECT y.last FROM young y)
       AND {failed_history}
    UNION ALL
    SELECT n.nth, n.entity_name, n.entity_key, n.job_exec, n.failed_at, h.payload, h.concurrency_key,
           h.tenant
      FROM asked n, LATERAL (
           SELECT h.job_exec, h.outcome, h.payload, h.concurrency_key, h.tenant
             FROM prescient.future_job_history h
            WHERE h.entity_name = n.entity_name AND h.entity_key = n.entity_key
              AND h.archived_at = n.failed_at OFFSET 0) h
     WHERE n.failed_at < (SELECT w.at FROM {whole_days} w) AND h.job_exec = n.job_exec AND {failed_history}),
ended_well AS MATERIALIZED (
    SELECT h.entity_name, h.entity_key, h.job_exec, h.archived_at
      FROM prescient.future_job_history h
     WHERE h.archived_at > timestamptz 'epoch' + (:found::bigint - 60000000) * interval '1 microsecond'
       AND NOT {failed_history}),
chosen AS MATERIALIZED (
    SELECT n.entity_name, n.entity_key, n.job_exec, n.payload, n.concurrency_key, n.tenant
      FROM failed n
     WHERE NOT EXISTS (SELECT FROM ended_well w
                        WHERE w.entity_name = n.entity_name AND w.entity_key = n.entity_key
                          AND w.job_exec = n.job_exec AND w.archived_at > n.failed_at)
     ORDER BY n.nth)
SELECT n.entity_name, n.entity_key, n.job_exec, c.outcome,
       date_part('epoch', c.filed_at)::bigint AS next_check_at
  FROM chosen n, LATERAL prescient.retry_check(n.entity_name, n.entity_key, n.job_exec,
           coalesce(to_timestamp(:at::bigint), to_timestamp(:now::bigint), clock_timestamp()), n.payload,
           to_timestamp(:now::bigint), n.concurrency_key, n.tenant) c

-- name: change_checks
-- See the function (0015_requests). A row for each check that was looked at.
-- in: change text?, checks text?, when_s text?, is_after text?, who text?, reason text?
-- out: entity_name text, entity_key text, job_exec text?, outcome text, next_check_at int8?
-- report: writes
SELECT c.entity AS entity_name, c.key AS entity_key, c.job AS job_exec, c.outcome,
       date_part('epoch', c.filed_at)::bigint AS next_check_at
  FROM prescient.change_checks(:change, :checks::json, :when_s::bigint, coalesce(:is_after::boolean, false),
                               :who, :reason) c

-- name: change_pause
-- :change: pause or resume. As the reports of these names, for who may call the functions alone.
-- in: change text?, job text?, entity text?, schedule text?, tenant text?, reslot text?, who text?,
-- in: reason text?
-- out: outcome text
-- report: writes
SELECT CASE WHEN :change::text = 'pause'
            THEN prescient.pause(:job, :entity, :schedule, :reason, :tenant, :who)
            ELSE prescient.resume(:job, :entity, :schedule, coalesce(:reslot::boolean, false), :tenant,
                                  :reason, :who) END AS outcome

-- name: change_schedule
-- :mode: put, set, on, off or remove (0009_schedules). :bias in ten thousandths.
-- in: mode text?, name text?, entity text?, key text?, job text?, every text?, bias text?,
-- in: cron text?, timezone text?, missed text?, payload text?, concurrency_key text?, tenant text?,
-- in: who text?, reason text?
-- out: outcome text, next_check_at int8?
-- report: writes
SELECT p.outcome, date_part('epoch', p.filed_at)::bigint AS next_check_at
  FROM prescient.change_schedule(:mode, {wanted_schedule}, :who, :reason) p

-- name: change_delivery
-- As deliver_again, for who may call the function alone.
-- in: delivery text?, who text?, reason text?
-- out: outcome text, next_check_at int8?
-- report: writes
SELECT c.outcome, date_part('epoch', c.filed_at)::bigint AS next_check_at
  FROM prescient.change_delivery(:delivery, :who, :reason) c

-- part: audit_range
(:since IS NULL OR c.changed_at >= to_timestamp(:since::bigint))
    AND (:before IS NULL OR c.changed_at < to_timestamp(:before::bigint))
    AND (:after IS NULL
         OR (c.changed_at, c.id) < (timestamptz 'epoch'
                                    + (:after::json ->> 0)::bigint * interval '1 microsecond',
                                    (:after::json ->> 1)::bigint))

-- part: cursor_of_change
json_build_array(round(date_part('epoch', c.changed_at) * 1000000)::bigint, c.id)::text

-- name: audit
-- What was changed, newest first. :looks: how many rows to look at, NULL: all; if that ended it, a
-- last row without a change has the time of the first that was not looked at, and the cursor of the
-- last that was.
-- in: entity text?, key text?, job text?, who text?, change text?, since text?, before text?,
-- in: most text?, looks text?, after text?
-- out: changed_at_us int8, change text?, what text?, entity_name text?, entity_key text?,
-- out: job_exec text?, name text?, who text?, done_by text?, reason text?, before text?,
-- out: after text?, id int8?, cursor text
-- report
WITH found AS MATERIALIZED (
    SELECT c.* FROM (SELECT * FROM prescient.audit c WHERE {audit_range}
                      ORDER BY c.changed_at DESC, c.id DESC LIMIT :looks::bigint) c
     WHERE (:entity IS NULL OR c.entity_name = :entity) AND (:key IS NULL OR c.entity_key = :key)
       AND (:job IS NULL OR c.job_exec = :job) AND (:who IS NULL OR c.who = :who)
       AND (:change IS NULL OR c.change = :change)
     ORDER BY c.changed_at DESC, c.id DESC LIMIT :most::bigint),
ended AS (
    SELECT e.next_at, e.cursor
      FROM (SELECT lead(c.changed_at) OVER (ORDER BY c.changed_at DESC, c.id DESC) AS next_at,
                   {cursor_of_change} AS cursor
              FROM (SELECT c.changed_at, c.id FROM prescient.audit c
                     WHERE {audit_range} AND :looks IS NOT NULL
                       AND (SELECT count(*) FROM found) < :most::bigint
                     ORDER BY c.changed_at DESC, c.id DESC OFFSET :looks::bigint - 1 LIMIT 2) c) e
     WHERE e.next_at IS NOT NULL)
SELECT round(date_part('epoch', c.changed_at) * 1000000)::bigint AS changed_at_us, c.change, c.what,
       c.entity_name, c.entity_key, c.job_exec, c.name, c.who, c.done_by, c.reason, c.before::text AS before,
       c.after::text AS after, c.id, c.cursor
  FROM (SELECT changed_at, change, what, entity_name, entity_key, job_exec, name, who, done_by, reason,
               before, after, id, {cursor_of_change} AS cursor
          FROM found c
        UNION ALL
        SELECT next_at, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, cursor
          FROM ended) c
 ORDER BY c.change IS NULL, c.changed_at DESC, c.id DESC

-- part: whole_days
-- Yesterday's beginning: all days before it are over, and their indexes were built.
(SELECT (date_trunc('day', statement_timestamp() AT TIME ZONE 'UTC') - interval '1 day')
        AT TIME ZONE 'UTC' AS at)

-- part: list_range
(:since IS NULL OR f.next_check_at >= to_timestamp(:since::bigint))
    AND (:before IS NULL OR f.next_check_at < to_timestamp(:before::bigint))
    AND (:after IS NULL
         OR (f.next_check_at, f.bucket, f.priority, f.id)
            > (to_timestamp((:after::json ->> 0)::float8), (:after::json ->> 1)::smallint,
               (:after::json ->> 2)::integer, (:after::json ->> 3)::bigint))

-- Bucket by bucket, for the primary key begins with it: of an entity with very many checks, which
-- may all lie at the end of the table, the planner would rather read that from its beginning.
-- part: few_of_key
SELECT f.* FROM generate_series(0, 63) b (bucket), LATERAL (
       SELECT * FROM {shown_checks} k
        WHERE k.bucket = b.bucket AND k.entity_name = :entity
          AND (:key IS NULL OR (k.entity_key = :key AND b.bucket = prescient.bucket_of(:entity, :key)))
        ORDER BY k.entity_key LIMIT CASE WHEN :key IS NULL THEN 1001 END) f
 WHERE :entity IS NOT NULL LIMIT CASE WHEN :key IS NULL THEN 1001 END

-- name: retry_put_off
-- Checks that were put off unrun go to the next slot. A call looks at some of them, behind the
-- place where the call before ended.
-- in: entity text?, key text?, job text?, since text?, now text?, after_at text?, after_id text?
-- out: recalled int8, until_at int8?, until_id int8?
-- report: writes
SELECT r.recalled, date_part('epoch', r.until_at)::bigint AS until_at, r.until_id
  FROM prescient.recall(:entity, :key, CASE WHEN :job IS NOT NULL THEN ARRAY[:job] END,
                        to_timestamp(:since::bigint), to_timestamp(:now::bigint),
                        coalesce(to_timestamp(:after_at::bigint), '-infinity'),
                        coalesce(:after_id::bigint, 0), false) r

-- part: state_of_check
CASE WHEN f.next_check_at >= '9000-01-01 00:00:00+00' AND f.next_check_at < '10000-01-01 00:00:00+00'
          THEN 'paused'
     WHEN f.next_check_at <= {now_of} THEN 'due'
     WHEN f.put_off_at IS NOT NULL THEN 'held_back'
     WHEN f.failure_count > 0 THEN 'retrying'
     ELSE 'waiting' END

-- part: is_sought_check
(:entity IS NULL OR f.entity_name = :entity) AND (:key IS NULL OR f.entity_key = :key)
    AND (:job IS NULL OR f.job_exec = :job) AND (:tenant IS NULL OR f.tenant = :tenant)
    AND (:state IS NULL OR {state_of_check} = :state)

-- part: cursor_of_check
json_build_array(date_part('epoch', f.next_check_at)::text, f.bucket, f.priority, f.id)::text

-- name: list
-- :since is included, :before is not, and neither is the check that has the cursor :after. :looks:
-- how many checks to look at in the order of slots, NULL: all. Checks of one key are found by the
-- key, and so are all checks of an entity that has at most a thousand. Otherwise checks are looked
-- at in order; if :looks ended that, a last row without an entity has the slot of the first that
-- was not looked at, and the cursor of the last that was. :bare: without payloads.
-- forms: narrow
-- in: entity text?, key text?, job text?, since text?, before text?, most text?, looks text?,
-- in: tenant text?, state text?, after text?, bare text?, now text?
-- out: next_check_at float8, entity_name text?, entity_key text?, job_exec text?,
-- out: check_count int4?, failure_count int4?, priority int4?, first_check_at float8?,
-- out: again_at float8?, put_off_at float8?, payload json?, concurrency_key text?, tenant text?,
-- out: state text?, id int8?, cursor text
-- report
WITH few AS MATERIALIZED (
    {few_of_key}),
served AS MATERIALIZED (
    SELECT :entity IS NOT NULL AND (:key IS NOT NULL OR count(*) <= 1000) AS by_key FROM few),
found AS MATERIALIZED (
    (SELECT f.* FROM few f WHERE (SELECT by_key FROM served) AND {is_sought_check} AND {list_range}
      ORDER BY {checks_in_order} LIMIT :most::bigint)
    UNION ALL
    (SELECT f.* FROM (SELECT * FROM {shown_checks} f WHERE {list_range}
                      ORDER BY {checks_in_order} LIMIT :looks::bigint) f
      WHERE NOT (SELECT by_key FROM served) AND {is_sought_check}
      ORDER BY {checks_in_order} LIMIT :most::bigint)),
ended AS (
    SELECT e.next_at, e.cursor
      FROM (SELECT lead(f.next_check_at) OVER (ORDER BY {checks_in_order}) AS next_at,
                   {cursor_of_check} AS cursor
              FROM (SELECT f.* FROM {shown_checks} f
                     WHERE {list_range} AND :looks IS NOT NULL AND NOT (SELECT by_key FROM served)
                       AND (SELECT count(*) FROM found) < :most::bigint
                     ORDER BY {checks_in_order} OFFSET :looks::bigint - 1 LIMIT 2) f) e
     WHERE e.next_at IS NOT NULL)
SELECT round(date_part('epoch', f.next_check_at)) AS next_check_at, f.entity_name, f.entity_key, f.job_exec,
       f.check_count, f.failure_count,
       f.priority, round(date_part('epoch', f.first_check_at)) AS first_check_at,
       round(date_part('epoch', f.again_at)) AS again_at,
       round(date_part('epoch', f.put_off_at)) AS put_off_at, f.payload, f.concurrency_key,
       f.tenant, f.state, f.id, f.cursor
  FROM (SELECT next_check_at, entity_name, entity_key, job_exec, check_count, failure_count, priority,
               first_check_at, again_at, put_off_at, CASE WHEN :bare IS NULL THEN f.payload END AS payload,
               concurrency_key, tenant, {state_of_check} AS state, bucket, id, {cursor_of_check} AS cursor
          FROM found f
        UNION ALL
        SELECT next_at, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
               NULL, NULL, cursor
          FROM ended) f
 ORDER BY f.entity_name IS NULL, {checks_in_order}

-- part: shown_history
prescient.future_job_history

-- part: shown_history_narrow
prescient.history

-- part: guard
CASE WHEN h.outcome IN ('past', 'beyond_horizon', 'max_checks', 'deferred_out', 'unknown_job')
     THEN h.outcome
     WHEN {failed_history} THEN 'max_failures' END

-- part: guard_narrow
h.guard

-- part: payload_of_history
h.payload

-- part: payload_of_history_narrow
NULL::json

-- part: cursor_of_history
-- Its place in the order of newest_rows.
json_build_array((date_part('epoch', h.archived_at) * 1000000)::bigint,
                 (date_part('epoch', h.ended_at) * 1000000)::bigint, h.check_count, h.entity_name,
                 h.entity_key, h.job_exec)::text

-- part: cursor_of_run
json_build_array((date_part('epoch', r.recorded_at) * 1000000)::bigint,
                 (date_part('epoch', r.run_at) * 1000000)::bigint, r.check_count, r.entity_name,
                 r.entity_key, r.job_exec)::text

-- part: newest_of_past
:entity, :key, :job, :outcome, to_timestamp(:since::bigint),
                             to_timestamp(:before::bigint), least(:most::bigint, :looks::bigint),
                             :within_ms::integer, :tenant, :after

-- name: history
-- :within_ms: how long to search, in ms, NULL: without limit. A last row without an entity has the
-- time back to which it has searched. :after: behind the row with that cursor. :looks: at most so
-- many rows. :bare: without payloads.
-- forms: narrow
-- in: entity text?, key text?, job text?, outcome text?, since text?, before text?, most text?,
-- in: within_ms text?, tenant text?, after text?, looks text?, bare text?
-- out: ended_at_us int8, entity_name text?, entity_key text?, job_exec text?, outcome text?,
-- out: guard text?, check_number int8?, check_count int4?, failure_count int4?, run_count int4?,
-- out: slot_at int8?, first_check_at int8?, first_run_at_us int8?, last_run_at_us int8?,
-- out: total_run_us int8?, last_run_us int8?, note text?, payload json?, engine text?,
-- out: archived_at_us int8?, tenant text?, cursor text
-- report
SELECT (date_part('epoch', h.ended_at) * 1000000)::bigint AS ended_at_us, h.entity_name, h.entity_key,
       h.job_exec, h.outcome,
       {guard} AS guard,
       {number_of_last_look} AS check_number, h.check_count, h.failure_count, h.run_count,
       date_part('epoch', h.slot_at)::bigint AS slot_at,
       date_part('epoch', h.first_check_at)::bigint AS first_check_at,
       (date_part('epoch', h.first_run_at) * 1000000)::bigint AS first_run_at_us,
       (date_part('epoch', h.last_run_at) * 1000000)::bigint AS last_run_at_us,
       CASE WHEN h.entity_name IS NOT NULL THEN coalesce(h.total_run_us, 0) END AS total_run_us,
       h.last_run_us, h.note, CASE WHEN :bare IS NULL THEN {payload_of_history} END AS payload, h.engine,
       (date_part('epoch', h.archived_at) * 1000000)::bigint AS archived_at_us, h.tenant,
       {cursor_of_history} AS cursor
  FROM prescient.newest_rows(NULL::{shown_history}, {newest_of_past})
       WITH ORDINALITY h
 ORDER BY h.ordinality

-- name: refused
-- Failures since :since by how many in a row they ended, with the note of the newest, newest first:
-- the newest :most are looked at, for :within_ms at most. The last row has no job: there are more.
-- forms: narrow
-- in: since text, most text, within_ms text
-- out: job_exec text?, is_delivery int4?, failure_count int4?, checks int8?, note text?
-- report
WITH seen AS MATERIALIZED (
    SELECT h.entity_name, h.job_exec, h.failure_count, h.note, h.ordinality
      FROM prescient.newest_rows(NULL::{shown_history}, NULL, NULL, NULL, 'failed',
                                 to_timestamp(:since::bigint), NULL, :most::bigint, :within_ms::integer)
           WITH ORDINALITY h)
SELECT f.job_exec, f.is_delivery, f.failure_count, f.checks, f.note
  FROM (SELECT s.job_exec, (s.entity_name = 'prescient.event')::integer AS is_delivery, s.failure_count,
               count(*) AS checks, (array_agg(s.note ORDER BY s.ordinality))[1] AS note,
               min(s.ordinality) AS newest
          FROM seen s WHERE s.entity_name IS NOT NULL
         GROUP BY 1, 2, 3
        UNION ALL
        SELECT NULL, NULL, NULL, NULL, NULL, 1::bigint << 62 FROM seen s
        HAVING count(*) >= :most::bigint OR bool_or(s.entity_name IS NULL)) f
 ORDER BY f.newest

-- name: runs_by
-- :part: job, entity, tenant or hour.
-- in: part text, since text, most text, job text?
-- out: name text, runs int8, done int8, again int8, failed int8, timeout int8, crashed int8,
-- out: other int8, took_us int8, took_p50_us int8?, took_p95_us int8?, took_p99_us int8?,
-- out: took_max_us int8, late_p50_us int8?, late_p95_us int8?, late_p99_us int8?, late_max_us int8
-- report
SELECT * FROM prescient.runs_by(:part, to_timestamp(:since::bigint), :job, :most::bigint)

-- name: runs_since
-- The hour, not before that of :since, from which on what runs were like is in at most :looks rows;
-- the newest hour counts whatever it has. is_cut: hours before it are left out.
-- in: since text, looks text
-- out: since_at int8?, is_cut int4
-- report
WITH seen AS MATERIALIZED (
    SELECT r.hour_at FROM prescient.run_hours r
     WHERE r.hour_at >= date_trunc('hour', to_timestamp(:since::bigint), 'UTC')
     ORDER BY r.hour_at DESC LIMIT :looks::bigint + 1)
SELECT CASE WHEN s.n <= :looks::bigint THEN :since::bigint
            ELSE date_part('epoch', least(s.newest, s.oldest + interval '1 hour'))::bigint END AS since_at,
       coalesce(s.n > :looks::bigint, false)::integer AS is_cut
  FROM (SELECT count(*) AS n, min(e.hour_at) AS oldest, max(e.hour_at) AS newest FROM seen e) s

-- name: running
-- Those that have been going on for :least_us, longest first.
-- in: least_us text, most text
-- out: engine text?, worker int4, entity_name text, entity_key text, job_exec text, slot_at int8,
-- out: began_at int8, run_us int8, seen_at int8
-- report
SELECT r.engine, r.worker, r.entity_name, r.entity_key, r.job_exec,
       date_part('epoch', r.slot_at)::bigint AS slot_at, date_part('epoch', r.began_at)::bigint AS began_at,
       (date_part('epoch', clock_timestamp() - r.began_at) * 1000000)::bigint AS run_us,
       date_part('epoch', r.seen_at)::bigint AS seen_at
  FROM prescient.running r
 WHERE r.began_at <= clock_timestamp() - :least_us::bigint * interval '1 microsecond'
 ORDER BY r.began_at, r.entity_name, r.entity_key, r.job_exec LIMIT :most::bigint

-- name: failing_jobs
-- Jobs with trouble since :since, by the newest :most runs after which a check waits again and as
-- many failures that ended one; each is looked for for :within_ms at most. The note is that of the
-- first trouble among them.
-- forms: narrow
-- in: since text, most text, within_ms text
-- out: job_exec text, runs int8, failed int8, broken int8, first_at int8, note text?
-- report
WITH seen AS MATERIALIZED (
    SELECT r.job_exec, r.outcome, r.run_at AS at, r.note
      FROM prescient.newest_rows(NULL::{shown_runs}, NULL, NULL, NULL, NULL, to_timestamp(:since::bigint),
                                 NULL, :most::bigint, :within_ms::integer) r
     WHERE r.entity_name IS NOT NULL
    UNION ALL
    SELECT h.job_exec, h.outcome, h.ended_at, h.note
      FROM prescient.newest_rows(NULL::{shown_history}, NULL, NULL, NULL, 'failed',
                                 to_timestamp(:since::bigint), NULL, :most::bigint, :within_ms::integer) h
     WHERE h.entity_name IS NOT NULL),
judged AS (
    SELECT s.*, s.outcome IN {outcomes_of_trouble} AS has_failed,
           s.outcome = 'job_broken' AS is_broken
      FROM seen s)
SELECT j.job_exec, count(*) AS runs, count(*) FILTER (WHERE j.has_failed) AS failed,
       count(*) FILTER (WHERE j.is_broken) AS broken,
       date_part('epoch', min(j.at) FILTER (WHERE j.has_failed OR j.is_broken))::bigint AS first_at,
       (array_agg(j.note ORDER BY j.at) FILTER (WHERE j.has_failed OR j.is_broken))[1] AS note
  FROM judged j GROUP BY j.job_exec
HAVING bool_or(j.has_failed OR j.is_broken)
 ORDER BY count(*) FILTER (WHERE j.has_failed OR j.is_broken) DESC, j.job_exec LIMIT 10

-- part: shown_runs
prescient.future_job_run

-- part: shown_runs_narrow
prescient.runs

-- name: runs
-- As history.
-- forms: narrow
-- in: entity text?, key text?, job text?, outcome text?, since text?, before text?, most text?,
-- in: within_ms text?, tenant text?, after text?, looks text?
-- out: run_at_us int8, entity_name text?, entity_key text?, job_exec text?, outcome text?,
-- out: check_number int8?, failure_count int4?, slot_at int8?, next_check_at int8?, run_us int8?,
-- out: note text?, engine text?, tenant text?, cursor text
-- report
SELECT (date_part('epoch', r.run_at) * 1000000)::bigint AS run_at_us, r.entity_name, r.entity_key, r.job_exec,
       r.outcome, {number_of_run} AS check_number,
       r.failure_count, date_part('epoch', r.slot_at)::bigint AS slot_at,
       date_part('epoch', r.next_check_at)::bigint AS next_check_at,
       r.run_us, r.note, r.engine, r.tenant, {cursor_of_run} AS cursor
  FROM prescient.newest_rows(NULL::{shown_runs}, {newest_of_past})
       WITH ORDINALITY r
 ORDER BY r.ordinality

-- name: slowest
-- The runs that took longest, of the newest :looks after which a check waits again and as many that
-- have ended one, each looked for for half of :within_ms at most. Where either look has not seen
-- all, a last row without an entity has the time back to which both have searched.
-- forms: narrow
-- in: job text?, since text?, most text?, within_ms text?, looks text?
-- out: run_at_us int8, entity_name text?, entity_key text?, job_exec text?, outcome text?,
-- out: run_us int8?, slot_at int8?, note text?, engine text?, tenant text?
-- report
WITH seen AS MATERIALIZED (
    SELECT 'again' AS kind, r.run_at AS at, r.entity_name, r.entity_key, r.job_exec, r.outcome, r.run_us,
           r.slot_at, r.note, r.engine, r.tenant
      FROM prescient.newest_rows(NULL::{shown_runs}, NULL, NULL, :job, NULL, to_timestamp(:since::bigint),
                                 NULL, :looks::bigint, :within_ms::integer / 2) r
    UNION ALL
    SELECT 'ended', h.ended_at, h.entity_name, h.entity_key, h.job_exec, h.outcome, h.last_run_us,
           h.slot_at, h.note, h.engine, h.tenant
      FROM prescient.newest_rows(NULL::{shown_history}, NULL, NULL, :job, NULL, to_timestamp(:since::bigint),
                                 NULL, :looks::bigint, :within_ms::integer / 2) h),
ended AS (
    SELECT max(e.at) AS at
      FROM (SELECT min(s.at) AS at FROM seen s GROUP BY s.kind
            HAVING bool_or(s.entity_name IS NULL) OR count(*) >= :looks::bigint) e)
SELECT (date_part('epoch', f.at) * 1000000)::bigint AS run_at_us, f.entity_name, f.entity_key, f.job_exec,
       f.outcome, f.run_us, date_part('epoch', f.slot_at)::bigint AS slot_at, f.note, f.engine, f.tenant
  FROM ((SELECT s.at, s.entity_name, s.entity_key, s.job_exec, s.outcome, s.run_us, s.slot_at, s.note,
                s.engine, s.tenant
           FROM seen s WHERE s.entity_name IS NOT NULL AND s.run_us IS NOT NULL
          ORDER BY s.run_us DESC, s.at DESC LIMIT :most::bigint)
        UNION ALL
        SELECT e.at, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM ended e
         WHERE e.at IS NOT NULL) f
 ORDER BY f.entity_name IS NULL, f.run_us DESC, f.at DESC

-- part: tries_of_check
coalesce(k.run_count, 0)

-- part: tries_of_check_narrow
k.failure_count

-- part: is_sought_delivery
(:listener IS NULL OR starts_with(k.entity_key, :listener || '/'))
    AND (:failed IS NULL OR k.failure_count > 0)
    AND (:since IS NULL OR k.first_check_at >= to_timestamp(:since::bigint))

-- part: waiting_deliveries
SELECT f.* FROM generate_series(0, 63) b (bucket), LATERAL (
       SELECT k.entity_key, k.job_exec, k.next_check_at, k.first_check_at, k.failure_count,
              {tries_of_check} AS tries
         FROM {shown_checks} k
        WHERE k.bucket = b.bucket AND k.entity_name = 'prescient.event' AND {is_sought_delivery}
        ORDER BY k.entity_key LIMIT :looks::bigint) f

-- name: deliveries
-- Those that wait come first, by the key of the table in each bucket, at most :looks; then those
-- that are over, the newest first, by newest_rows: days that are over have an index by entity, and
-- of the day that runs spans of time are looked at, no longer than :within_ms in all (NULL: without
-- limit). A last row without a listener has the time back to which it has searched. :failed: those
-- that failed, for good or not. The id is the command's to fill in.
-- forms: narrow
-- in: listener text?, failed text?, since text?, most text?, looks text?, within_ms text?
-- out: ended_at_us int8?, id text?, listener text?, event text?, entity_name text?,
-- out: entity_key text?, state text?, outcome text?, tries int4?, next_check_at int8?,
-- out: note text?, job_exec text?, emitted_at_us int8?, delivery text?
-- report
WITH waiting AS MATERIALIZED (
    SELECT w.* FROM ({waiting_deliveries}) w LIMIT :looks::bigint),
told AS MATERIALIZED (
    SELECT DISTINCT ON (r.entity_key, r.job_exec) r.entity_key, r.job_exec, r.note
      FROM prescient.newest_rows(NULL::{shown_runs}, 'prescient.event', :listener || '/', NULL, NULL, NULL,
                                 NULL, (SELECT CASE WHEN count(*) > 0 THEN 10000 ELSE 0 END FROM waiting w
                                         WHERE w.failure_count > 0), :within_ms::integer / 2) r
     ORDER BY r.entity_key, r.job_exec, r.run_at DESC),
found AS MATERIALIZED (
    (SELECT 0 AS n, w.entity_key, w.job_exec, NULL::timestamptz AS ended_at, NULL::text AS outcome, w.tries,
            w.next_check_at, w.first_check_at, w.failure_count, t.note
       FROM waiting w LEFT JOIN told t ON t.entity_key = w.entity_key AND t.job_exec = w.job_exec
      ORDER BY w.first_check_at DESC, w.entity_key LIMIT :most::bigint)
    UNION ALL
    SELECT h.ordinality, h.entity_key, h.job_exec, h.ended_at, h.outcome, h.run_count, NULL, h.first_check_at,
           h.failure_count, h.note
      FROM prescient.newest_rows(NULL::{shown_history}, 'prescient.event', :listener || '/', NULL,
                                 CASE WHEN :failed IS NOT NULL THEN 'amiss' END, to_timestamp(:since::bigint),
                                 NULL, (SELECT greatest(:most::bigint - count(*), 0) FROM waiting),
                                 :within_ms::integer / 2) WITH ORDINALITY h)
SELECT (date_part('epoch', f.ended_at) * 1000000)::bigint AS ended_at_us, NULL::text AS id,
       left(f.entity_key, position('/' IN f.entity_key) - 1) AS listener,
       e.event, e.entity_name, e.entity_key,
       CASE WHEN f.entity_key IS NULL THEN NULL
            WHEN f.outcome IN ('done', 'resolved') THEN f.outcome WHEN f.outcome IS NOT NULL THEN 'failed'
            WHEN f.next_check_at >= '9000-01-01 00:00:00+00' THEN 'paused'
            WHEN f.failure_count > 0 THEN 'retrying' ELSE 'waiting' END AS state,
       f.outcome, f.tries, date_part('epoch', f.next_check_at)::bigint AS next_check_at, f.note, f.job_exec,
       (date_part('epoch', e.emitted_at) * 1000000)::bigint AS emitted_at_us, f.entity_key AS delivery
  FROM found f LEFT JOIN LATERAL prescient.event_of(f.entity_key) e ON true
 ORDER BY f.n, f.first_check_at DESC, f.entity_key

-- name: row_events
-- in: entity text?, key text?, most text?
-- out: emitted_at_us int8, event text?, job_exec text?, check_number int8?, listener text?,
-- out: state text?, outcome text?, tries int4?, next_check_at int8?, ended_at_us int8?, note text?,
-- out: delivery text?, is_heard bool?, is_readable bool?
-- report
SELECT (date_part('epoch', e.emitted_at) * 1000000)::bigint AS emitted_at_us, e.event, e.job_exec,
       e.check_number, e.listener, e.state, e.outcome, e.tries,
       date_part('epoch', e.next_check_at)::bigint AS next_check_at,
       (date_part('epoch', e.ended_at) * 1000000)::bigint AS ended_at_us, e.note, e.delivery, e.is_heard,
       e.is_readable
  FROM prescient.row_events(:entity, :key, :most::bigint) e

-- part: deliver_once_more
prescient.deliver_again(:delivery, to_timestamp(:now::bigint))

-- part: deliver_once_more_narrow
prescient.change_delivery(:delivery)

-- name: deliver_again
-- forms: narrow
-- in: delivery text?, now text?
-- out: outcome text, next_check_at int8?
-- report: writes
SELECT c.outcome, date_part('epoch', c.filed_at)::bigint AS next_check_at
  FROM {deliver_once_more} c

-- part: first_filed
SELECT f.next_check_at FROM {shown_checks} f
 WHERE (:since IS NULL OR f.next_check_at >= to_timestamp(:since::bigint))
   AND (:before IS NULL OR f.next_check_at < to_timestamp(:before::bigint))

-- part: shown_passes
prescient.slot_pass

-- part: shown_passes_narrow
prescient.passes

-- part: first_opened
SELECT p.slot_at FROM {shown_passes} p
 WHERE (:since IS NULL OR p.slot_at >= to_timestamp(:since::bigint))
   AND (:before IS NULL OR p.slot_at < to_timestamp(:before::bigint))

-- part: first_unclosed
{first_opened} AND p.slot_at >= b.at AND p.pass = 0 AND p.closed_at IS NULL
   AND p.slot_at < to_timestamp(:closed_since::bigint)
 ORDER BY 1 LIMIT 1

-- part: first_unclosed_narrow
-- Which of them are not closed the view of slots has to look for in all of them. Those that have
-- checks are listed anyway.
SELECT NULL::timestamptz WHERE false

-- part: passes_of_slot
SELECT CASE WHEN max(p.split) IS NULL THEN 'pending' WHEN max(p.closed_at) IS NOT NULL THEN 'closed'
            WHEN max(p.seen_xid) FILTER (WHERE p.pass = 0) IS NOT NULL
                 OR count(DISTINCT p.bucket) FILTER (WHERE p.pass > 0) >= max(p.split) THEN 'relook'
            ELSE 'open' END AS state,
       max(p.late_us) AS late_us, sum(coalesce(p.run, 0))::bigint AS run,
       sum(coalesce(p.done, 0))::bigint AS done, sum(coalesce(p.again, 0))::bigint AS again,
       sum(coalesce(p.failed + p.timeout + p.crashed, 0))::bigint AS failed,
       count(*) AS looked
  FROM prescient.slot_pass p WHERE p.slot_at = c.slot_at

-- part: passes_of_slot_narrow
SELECT coalesce(p.state, 'pending') AS state, p.late_us, p.run, p.done, p.again, p.failed, 64 AS looked
  FROM (SELECT) one LEFT JOIN prescient.slots p ON p.slot_at = c.slot_at

-- part: first_of_slot
-- In the order of the slot's index: by bucket, so that they are a fair sample of a slot that has
-- more.
SELECT f.job_exec, f.tenant, f.entity_name FROM {shown_checks} f
 WHERE :by IS NOT NULL AND w.checks > 0 AND f.next_check_at = c.slot_at
 ORDER BY f.bucket, f.priority, f.id LIMIT :counted::bigint

-- part: parts_of_slot
-- Those of the checks that are counted one by one.
SELECT json_agg(json_build_object('name', g.name, 'checks', round(g.n * g.share)) ORDER BY g.n DESC, g.name)
           AS parts
  FROM (SELECT CASE WHEN o.nth <= 20 THEN o.name END AS name, sum(o.n) AS n,
               greatest(w.checks, 1) / greatest(sum(sum(o.n)) OVER (), 1) AS share
          FROM (SELECT q.name, count(*) AS n, row_number() OVER (ORDER BY count(*) DESC, q.name) AS nth
                  FROM (SELECT CASE :by WHEN 'job' THEN r.job_exec ELSE coalesce(r.tenant, r.entity_name)
                               END AS name
                          FROM ({first_of_slot}) r) q
                 GROUP BY q.name) o
         GROUP BY 1) g

-- name: slots
-- :since is included, :before is not. :closed_since: closed and empty slots only from this time on,
-- NULL: all. :counted: how many checks of a slot are counted one by one, NULL: all. It goes from
-- slot to slot by one step of an index each, and never reads all rows of a slot. :by: parts has how
-- many checks are of each job or tenant, the twenty largest, and all others under the name NULL.
-- :looks: with the slot by which so many rows were looked at in all it ends, NULL: it does not;
-- then a last row without checks has that slot once more.
-- forms: narrow
-- in: since text?, before text?, most text?, closed_since text?, counted text?, by text?,
-- in: looks text?
-- out: slot_at float8, checks int8?, state text?, late_us int8?, run int8?, done int8?,
-- out: again int8?, failed int8?, is_estimate int4?, parts json?
-- report
WITH RECURSIVE
told (nth, looked, slot_at, checks, state, late_us, run, done, again, failed, is_estimate, parts) AS (
    SELECT 0, 0::bigint, '-infinity'::timestamptz, NULL::bigint, NULL::text, NULL::bigint, NULL::bigint,
           NULL::bigint, NULL::bigint, NULL::bigint, NULL::boolean, NULL::json
    UNION ALL
    SELECT t.nth + 1,
           t.looked + k.looked + CASE WHEN :by IS NULL THEN 1 ELSE 2 END
                                 * CASE WHEN w.is_estimate THEN :counted::bigint + w.checks / 64
                                        ELSE w.checks END,
           c.slot_at, w.checks, k.state, k.late_us, k.run, k.done, k.again, k.failed, w.is_estimate, s.parts
      FROM told t, LATERAL (
               SELECT CASE WHEN t.nth = 0 THEN t.slot_at
                           WHEN t.slot_at = '-infinity' THEN '0001-01-01 00:00:00+00 BC'
                           ELSE t.slot_at + interval '1 microsecond' END AS at) b,
           LATERAL (
               SELECT least((SELECT n.slot_at
                               FROM ({first_filed} AND f.next_check_at >= b.at ORDER BY 1 LIMIT 1)
                                    n (slot_at)),
                            (SELECT n.slot_at
                               FROM ({first_opened} AND p.slot_at >= b.at
                                                    AND (:closed_since IS NULL
                                                         OR p.slot_at >= to_timestamp(:closed_since::bigint))
                                     ORDER BY 1 LIMIT 1) n (slot_at)),
                            (SELECT n.slot_at FROM ({first_unclosed}) n (slot_at))) AS slot_at) c,
           LATERAL prescient.slot_count(c.slot_at, :counted::bigint) w, LATERAL ({passes_of_slot}) k,
           LATERAL ({parts_of_slot}) s
     WHERE c.slot_at IS NOT NULL AND t.slot_at < 'infinity' AND (:most IS NULL OR t.nth < :most::bigint)
           AND (:looks IS NULL OR t.looked < :looks::bigint))
SELECT round(date_part('epoch', r.slot_at)) AS slot_at, r.checks, r.state, r.late_us, r.run, r.done, r.again,
       r.failed, r.is_estimate::integer AS is_estimate, r.parts
  FROM (SELECT t.slot_at, t.checks, t.state, t.late_us, t.run, t.done, t.again, t.failed, t.is_estimate,
               t.parts
          FROM told t WHERE t.nth > 0
        UNION ALL
        SELECT max(t.slot_at), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
          FROM told t HAVING max(t.looked) >= :looks::bigint AND max(t.nth) < :most::bigint) r
 ORDER BY r.slot_at, r.checks IS NULL

-- part: last_unclosed
{first_opened} AND p.pass = 0 AND p.closed_at IS NULL AND p.slot_at < to_timestamp(:closed_since::bigint)
 ORDER BY 1 DESC LIMIT :most::bigint

-- part: last_unclosed_narrow
SELECT NULL::timestamptz WHERE false

-- name: slots_before
-- The times of those that `slots` has, the newest first.
-- forms: narrow
-- in: since text?, before text?, most text?, closed_since text?
-- out: slot_at float8
-- report
WITH RECURSIVE filed (slot_at, n) AS (
    (SELECT s.slot_at, 1 FROM ({first_filed} ORDER BY 1 DESC LIMIT 1) s (slot_at))
    UNION ALL
    SELECT (SELECT s.slot_at FROM ({first_filed} AND f.next_check_at < l.slot_at
                                   ORDER BY 1 DESC LIMIT 1) s (slot_at)), l.n + 1
      FROM filed l WHERE l.slot_at IS NOT NULL AND l.n < :most::bigint),
opened (slot_at, n) AS (
    (SELECT s.slot_at, 1 FROM ({first_opened} AND (:closed_since IS NULL
                                                   OR p.slot_at >= to_timestamp(:closed_since::bigint))
                                                       ORDER BY 1 DESC LIMIT 1) s (slot_at))
    UNION ALL
    SELECT (SELECT s.slot_at FROM ({first_opened} AND p.slot_at < l.slot_at
                                   AND (:closed_since IS NULL
                                        OR p.slot_at >= to_timestamp(:closed_since::bigint))
                                   ORDER BY 1 DESC LIMIT 1) s (slot_at)), l.n + 1
      FROM opened l WHERE l.slot_at IS NOT NULL AND l.n < :most::bigint)
SELECT round(date_part('epoch', s.slot_at)) AS slot_at
  FROM (SELECT slot_at FROM filed
        UNION
        SELECT slot_at FROM opened
        UNION
        ({last_unclosed})) s
 WHERE s.slot_at IS NOT NULL ORDER BY s.slot_at DESC LIMIT :most::bigint

-- part: left_jobs
array_to_string(p.left_jobs, ', ')

-- part: left_jobs_narrow
p.left_jobs

-- name: state_of_slot
-- How far one slot is, who opened it and when, and the jobs whose checks were left to others.
-- forms: narrow
-- in: slot text
-- out: state text, engine text?, opened_at int8?, left_jobs text?
-- report
SELECT k.state, o.engine, date_part('epoch', o.recorded_at)::bigint AS opened_at,
       (SELECT string_agg({left_jobs}, ', ') FROM {shown_passes} p
         WHERE p.slot_at = c.slot_at AND p.pass > 0) AS left_jobs
  FROM (SELECT to_timestamp(:slot::bigint) AS slot_at) c CROSS JOIN LATERAL ({passes_of_slot}) k
       LEFT JOIN LATERAL (SELECT p.engine, p.recorded_at FROM {shown_passes} p
                           WHERE p.slot_at = c.slot_at AND p.pass = 0 LIMIT 1) o ON true

-- name: passes
-- forms: narrow
-- in: since text?, before text?, most text?
-- out: slot_at int8, bucket int2, pass int4, engine text?, split int2?, {counts int8?},
-- out: late_us int8?, took_us int8?, left_jobs text?, recorded_at_us int8
-- report
SELECT date_part('epoch', p.slot_at)::bigint AS slot_at, p.bucket, p.pass, p.engine, p.split,
       {counts}, p.late_us, p.took_us,
       {left_jobs} AS left_jobs,
       (date_part('epoch', p.recorded_at) * 1000000)::bigint AS recorded_at_us
  FROM {shown_passes} p
 WHERE (:since IS NULL OR p.slot_at >= to_timestamp(:since::bigint))
   AND (:before IS NULL OR p.slot_at < to_timestamp(:before::bigint))
 ORDER BY p.slot_at DESC, p.bucket DESC, p.pass DESC LIMIT :most::bigint

-- part: now_of
coalesce(to_timestamp(:now::bigint), clock_timestamp())

-- part: estimate_of_checks
-- The table's row count by the server's statistics; -1: never counted.
(SELECT coalesce(sum(c.reltuples) FILTER (WHERE c.reltuples >= 0), -1)::bigint
   FROM pg_class c WHERE c.oid = 'prescient.future_job'::regclass)

-- part: estimate_of_history
-- The same for all days of history together.
(SELECT coalesce(sum(c.reltuples) FILTER (WHERE c.reltuples >= 0), -1)::bigint
   FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid
  WHERE i.inhparent = 'prescient.future_job_history'::regclass)

-- part: count_some count_some_degraded_narrow
(SELECT count(*) FROM (SELECT FROM {shown_checks} f LIMIT (SELECT many FROM known)) few)

-- part: count_some_degraded
prescient.count_checks('-infinity', 'infinity', (SELECT many FROM known))

-- Each count ends at ten thousand: a count takes a row of the table for each check, wherever that
-- lies. It names the index's order: with a LIMIT alone, the whole table is read when nothing is
-- overdue.

-- part: counted_at_most
10000

-- part: count_due count_due_degraded_narrow
-- In the slot that runs, and in the seconds of it that have begun.
(SELECT count(*) FROM (SELECT FROM {shown_checks} f
                        WHERE f.next_check_at >= this.slot AND f.next_check_at <= this.now
                        ORDER BY f.next_check_at LIMIT {counted_at_most}) few)

-- part: count_due_degraded
prescient.count_checks(this.slot, this.now + interval '1 microsecond', {counted_at_most})

-- part: count_overdue count_overdue_degraded_narrow
(SELECT count(*) FROM (SELECT FROM {shown_checks} f WHERE f.next_check_at < this.slot
                       ORDER BY f.next_check_at LIMIT {counted_at_most}) few)

-- part: count_overdue_degraded
prescient.count_checks('-infinity', this.slot, {counted_at_most})

-- part: count_never
-- At infinity, or in a year that no program knows.
(SELECT count(*) FROM (SELECT FROM {shown_checks} f WHERE f.next_check_at >= '10000-01-01 00:00:00+00'
                       ORDER BY f.next_check_at LIMIT {counted_at_most}) few)

-- part: count_never_degraded count_never_degraded_narrow
0::bigint

-- part: oldest_overdue oldest_overdue_degraded_narrow
(SELECT f.next_check_at FROM {shown_checks} f WHERE f.next_check_at < this.slot
  ORDER BY f.next_check_at LIMIT 1)

-- part: oldest_overdue_degraded
prescient.first_slot('-infinity', this.slot)

-- part: first_put_off first_put_off_degraded_narrow
-- The first checks that were put off without a run, those that wait longest first.
SELECT f.put_off_at, f.next_check_at, f.job_exec FROM {shown_checks} f
 WHERE f.put_off_at IS NOT NULL ORDER BY f.put_off_at LIMIT {counted_at_most}

-- part: first_put_off_degraded
-- A corrupt block may have one of these rows: none is looked at.
SELECT NULL::timestamptz AS put_off_at, NULL::timestamptz AS next_check_at, NULL::text AS job_exec WHERE false

-- part: count_put_off
-- How many of them wait in slots to come: in a slot of the past they are overdue already. Where
-- this look or that count has come to its end, the two together are as many as each may count.
(SELECT count(*) FILTER (WHERE p.next_check_at >= this.slot) FROM ({first_put_off}) p)

-- part: oldest_put_off
(SELECT p.put_off_at FROM ({first_put_off}) p ORDER BY p.put_off_at LIMIT 1)

-- part: next_with_rows next_with_rows_degraded_narrow
(SELECT f.next_check_at FROM {shown_checks} f
  WHERE f.next_check_at > this.now AND f.next_check_at < 'infinity' ORDER BY f.next_check_at LIMIT 1)

-- part: next_with_rows_degraded
prescient.first_slot(this.now + interval '1 microsecond', 'infinity')

-- part: transactions
-- All transactions that events and second looks wait for: those with an id, in any database. Their
-- ids show every role which is the oldest. Only its own role, superusers and members of
-- pg_read_all_stats see when it began.
(SELECT age(a.backend_xid) AS behind, a.xact_start AS began,
 format('pid %s, user %s%s in %s', a.pid, a.usename, ', ' || a.state, a.datname) AS who
   FROM pg_stat_activity a WHERE a.backend_xid IS NOT NULL AND a.pid <> pg_backend_pid()
 UNION ALL
 SELECT age(x.transaction), x.prepared, format('%L, prepared by %s in %s', x.gid, x.owner, x.database)
   FROM pg_prepared_xacts x)

-- part: version_of_schema
(SELECT max(version) FROM prescient.migration)

-- part: version_of_schema_narrow
(SELECT s.version FROM prescient.schema_state() s)

-- name: status
-- The count of a large table is taken from statistics, if it has any. All other counts end at a
-- bound and are "at least" from there on. A check is overdue from the slot at which it was due,
-- also when it was put off without a run since.
-- forms: degraded narrow
-- in: now text?
-- out: now_at int8, slot_length_s int4, schema_version int4, pending int8, is_estimate int4,
-- out: due int8, overdue int8, oldest_overdue_at float8?, next_slot_at float8?, leases int8,
-- out: unclosed_slots int8, oldest_unclosed_at int8?, oldest_transaction_us int8?,
-- out: transactions_since int4?, prepared_transactions int8, history_rows int8,
-- out: events_withheld int8?, withheld_by text?, withheld_us int8?, withheld_advice text?,
-- out: is_pending_at_least int4, is_due_at_least int4, is_overdue_at_least int4,
-- out: is_unclosed_at_least int4, never_due int8
-- report
WITH {withholding},
this AS MATERIALIZED (
    SELECT now, prescient.slot_floor(now) AS slot FROM (SELECT {now_of} AS now OFFSET 0) n),
known AS MATERIALIZED (
    SELECT checks, CASE WHEN checks > 1000000 THEN 10001 ELSE 100001 END AS many
      FROM (SELECT {estimate_of_checks} AS checks) k),
sample AS MATERIALIZED (
    SELECT {count_some} AS n),
counted AS MATERIALIZED (
    SELECT {count_due} AS due, least({count_overdue} + {count_put_off}, {counted_at_most}) AS overdue
      FROM this)
SELECT date_part('epoch', this.now)::bigint AS now_at, prescient.slot_length_s() AS slot_length_s,
       {version_of_schema} AS schema_version,
       CASE WHEN sample.n >= known.many THEN greatest(sample.n - 1, known.checks) ELSE sample.n
           END AS pending,
       (sample.n >= known.many AND known.checks >= sample.n)::integer AS is_estimate,
       counted.due, counted.overdue,
       round(date_part('epoch', least({oldest_overdue}, {oldest_put_off}))) AS oldest_overdue_at,
       round(date_part('epoch', {next_with_rows})) AS next_slot_at,
       o.leases, o.unclosed_slots, date_part('epoch', o.oldest_unclosed_at)::bigint AS oldest_unclosed_at,
       (SELECT (date_part('epoch', clock_timestamp() - t.began) * 1000000)::bigint FROM {transactions} t
        ORDER BY t.behind DESC LIMIT 1) AS oldest_transaction_us,
       (SELECT max(t.behind) FROM {transactions} t) AS transactions_since,
       (SELECT count(*) FROM pg_prepared_xacts) AS prepared_transactions,
       {history_rows} AS history_rows, w.n AS events_withheld, h.name AS withheld_by, h.us AS withheld_us,
       h.advice AS withheld_advice,
       (sample.n >= known.many AND known.checks < sample.n)::integer AS is_pending_at_least,
       (counted.due >= {counted_at_most})::integer AS is_due_at_least,
       (counted.overdue >= {counted_at_most})::integer AS is_overdue_at_least,
       (o.unclosed_slots >= {counted_at_most})::integer AS is_unclosed_at_least,
       {count_never} AS never_due
  FROM this, known, sample, counted, prescient.open_work() o, withheld w LEFT JOIN holder h ON true

-- part: history_rows
(SELECT CASE WHEN h.known > 1000000 THEN h.known ELSE prescient.count_history(h.known) END
   FROM (SELECT {estimate_of_history} AS known OFFSET 0) h)

-- part: history_rows_narrow
(SELECT CASE WHEN h.known > 1000000 THEN h.known
             ELSE (SELECT CASE WHEN c.n > 100000 THEN greatest(h.known, c.n) ELSE c.n END
                     FROM (SELECT count(*) AS n
                             FROM (SELECT FROM prescient.history LIMIT 100001) few) c) END
   FROM (SELECT {estimate_of_history} AS known OFFSET 0) h)

-- part: overdue_in_order
-- The checks of slots that are over, oldest slot first.
SELECT f.job_exec FROM {shown_checks} f WHERE f.next_check_at < (SELECT slot FROM this)
 ORDER BY f.next_check_at LIMIT {counted_at_most}

-- part: first_paused
-- In slots of pauses.
SELECT FROM {shown_checks} f
 WHERE f.next_check_at >= '9000-01-01 00:00:00+00' AND f.next_check_at < '10000-01-01 00:00:00+00'
 ORDER BY f.next_check_at LIMIT {counted_at_most}

-- part: oldest_begun
SELECT f.next_check_at FROM {shown_checks} f WHERE f.next_check_at <= (SELECT now FROM this)
 ORDER BY f.next_check_at LIMIT 1

-- part: newest_passes
-- Of slots, and of seconds between them; those of pauses lie in the year 9000.
SELECT p.recorded_at FROM {shown_passes} p WHERE p.slot_at <= (SELECT now FROM this)
 ORDER BY p.slot_at DESC LIMIT 300

-- part: measured_tables
-- Those of a hundred days have a thousand files: of them the server's statistics are enough, which
-- follow a day that grows. Each day's indexes and large values count as the day's.
SELECT t.name, i.inhrelid AS id,
       (SELECT sum(greatest(f.relpages, 0))::bigint
          FROM pg_class f
         WHERE f.oid IN (SELECT i.inhrelid UNION ALL
                         SELECT c.reltoastrelid FROM pg_class c WHERE c.oid = i.inhrelid UNION ALL
                         SELECT x.indexrelid FROM pg_index x WHERE x.indrelid = i.inhrelid))
       * current_setting('block_size')::bigint AS bytes
  FROM (VALUES ('future_job_history'), ('future_job_run'), ('event')) t (name)
  JOIN pg_inherits i ON i.inhparent = to_regclass('prescient.' || t.name)
UNION ALL
SELECT t.name, to_regclass('prescient.' || t.name),
       pg_total_relation_size(to_regclass('prescient.' || t.name))
  FROM (VALUES ('future_job'), ('slot_pass'), ('slot_lease'), ('run_hour')) t (name)

-- name: metrics
-- What metrics show, in one look: what is counted for ever, in the order in which it came up first,
-- and how things are now. Counts of tables end at a bound, or are the server's estimates; what this
-- user may not know has no row, or n is NULL. Where jobs are many, the numbers of their histograms
-- take longest: array_to_string() would take twice as long for them.
-- forms: narrow
-- out: what text, name text?, outcome text?, n float8?, took_us int8?, took text?, late_us int8?,
-- out: late text?
-- report
WITH {withholding},
this AS MATERIALIZED (
    SELECT now, prescient.slot_floor(now) AS slot FROM (SELECT clock_timestamp() AS now OFFSET 0) n),
known AS MATERIALIZED (
    SELECT {estimate_of_checks} AS checks, {counted_at_most} + 1 AS many),
sample AS MATERIALIZED (
    SELECT {count_some} AS n),
open AS MATERIALIZED (
    SELECT * FROM prescient.open_work()),
tables AS MATERIALIZED (
    SELECT m.name, sum(pg_stat_get_dead_tuples(m.id)) AS dead, sum(m.bytes) AS bytes
      FROM ({measured_tables}) m GROUP BY m.name),
counted AS (
    SELECT t.what, t.name, t.outcome, t.n::float8, t.took_us, btrim(t.took::text, '{}') AS took,
           t.late_us, btrim(t.late::text, '{}') AS late
      FROM prescient.tallies t ORDER BY t.made_at, t.what, t.name, t.outcome LIMIT 20000),
gauges (what, name, n) AS (
    SELECT 'checks_waiting', NULL::text,
           CASE WHEN s.n >= k.many THEN greatest(s.n - 1, k.checks) ELSE s.n END::float8
      FROM sample s, known k
    UNION ALL
    SELECT 'checks_overdue', l.job_exec, count(*) FROM ({overdue_in_order}) l GROUP BY l.job_exec
    UNION ALL
    SELECT 'checks_paused', NULL, (SELECT count(*) FROM ({first_paused}) p)
    UNION ALL
    SELECT 'backlog_age_seconds', NULL,
           coalesce(date_part('epoch', t.now - ({oldest_begun})), 0)
      FROM this t
    UNION ALL
    SELECT 'last_pass_timestamp_seconds', NULL,
           (SELECT date_part('epoch', max(p.recorded_at)) FROM ({newest_passes}) p)
    UNION ALL
    (SELECT 'engine_last_seen_timestamp_seconds', e.engine, date_part('epoch', max(e.seen_at))
       FROM prescient.engines e GROUP BY e.engine ORDER BY max(e.seen_at) DESC, e.engine LIMIT 200)
    UNION ALL
    SELECT 'leases', 'held', o.leases - o.expired_leases FROM open o
    UNION ALL
    SELECT 'leases', 'expired', o.expired_leases FROM open o
    UNION ALL
    SELECT 'delivery_backlog', d.listener, d.checks FROM prescient.delivery_backlog() d
    UNION ALL
    SELECT 'events_withheld_seconds', NULL, CASE WHEN w.n = 0 THEN 0 ELSE h.us / 1e6 END
      FROM withheld w LEFT JOIN holder h ON true
    UNION ALL
    SELECT 'store_oldest_transaction_seconds', NULL,
           CASE WHEN count(*) = 0 THEN 0
                ELSE greatest(0, max(date_part('epoch', clock_timestamp() - t.began))) END
      FROM {transactions} t
    UNION ALL
    SELECT 'store_dead_rows', t.name, t.dead FROM tables t
    UNION ALL
    SELECT 'store_bytes', t.name, t.bytes FROM tables t
    UNION ALL
    SELECT 'slot_length_seconds', NULL, prescient.slot_length_s())
SELECT c.* FROM counted c
UNION ALL
SELECT g.what, g.name, NULL, g.n, NULL, NULL, NULL, NULL FROM gauges g

-- name: put_off
-- Checks that were put off without a run, by job, the job with most of them first. `total` is of
-- all jobs; the ten thousand that wait longest are looked at.
-- forms: degraded narrow
-- in: most text?
-- out: job_exec text, checks int8, since_at float8, total int8
-- report
WITH first AS MATERIALIZED ({first_put_off})
SELECT p.job_exec, count(*) AS checks, round(date_part('epoch', min(p.put_off_at))) AS since_at,
       (SELECT count(*) FROM first) AS total
  FROM first p GROUP BY p.job_exec ORDER BY count(*) DESC, min(p.put_off_at), p.job_exec LIMIT :most::bigint

-- name: leases
-- out: slot_at int8, bucket int2, engine text?, token int8, expires_at_us int8, is_expired int4
-- report
SELECT date_part('epoch', l.slot_at)::bigint AS slot_at, l.bucket, l.engine, l.token,
       (date_part('epoch', l.expires_at) * 1000000)::bigint AS expires_at_us,
       (l.expires_at <= clock_timestamp())::integer AS is_expired
  FROM prescient.slot_lease l ORDER BY l.slot_at, l.bucket

-- part: blocks_of_sample
500

-- name: growth
-- What grows, by the server's statistics; reads only catalogs and file sizes.
-- out: what text, rows int8, bytes int8, oldest_at int8?
-- report
SELECT t.what, sum(greatest(c.reltuples, 0))::bigint AS rows,
       sum(pg_total_relation_size(c.oid))::bigint AS bytes,
       date_part('epoch', min(to_date(right(c.relname, 8), 'YYYYMMDD'))
                 FILTER (WHERE pg_relation_size(c.oid) > 0))::bigint AS oldest_at
  FROM (VALUES ('history', 'future_job_history'), ('runs', 'future_job_run'), ('events', 'event')) t (what,
       parent)
  JOIN pg_inherits i ON i.inhparent = to_regclass('prescient.' || t.parent)
      JOIN pg_class c ON c.oid = i.inhrelid
 GROUP BY t.what
UNION ALL
SELECT 'passes', greatest(c.reltuples, 0)::bigint, pg_total_relation_size(c.oid),
       (SELECT date_part('epoch', p.recorded_at)::bigint FROM prescient.slot_pass p
        ORDER BY p.slot_at LIMIT 1)
  FROM pg_class c WHERE c.oid = 'prescient.slot_pass'::regclass

-- name: jobs_pending
-- :counted: how many checks are counted one by one, NULL: all. If there are more, some blocks of
-- the table are the sample, always the same ones. The next slot of a job is then known only for
-- jobs among the first ten thousand checks.
-- in: counted text?
-- out: job_exec text, checks int8, next_check_at float8?, is_estimate int4
-- report
WITH many AS MATERIALIZED (
    SELECT :counted IS NOT NULL AND (SELECT count(*) FROM (SELECT
                                                           FROM prescient.future_job
                                                          LIMIT :counted::bigint + 1) few) > :counted::bigint
                                                          AS yes,
           greatest(1,
                    pg_relation_size('prescient.future_job') / current_setting('block_size')::numeric
                             / {blocks_of_sample}) AS share),
every AS (
    SELECT f.job_exec, count(*) AS n, min(f.next_check_at) AS first FROM prescient.future_job f
     WHERE NOT (SELECT yes FROM many) GROUP BY f.job_exec),
sampled AS (
    SELECT f.job_exec, count(*) AS n
      FROM prescient.future_job f TABLESAMPLE SYSTEM (100 / greatest(1,
           pg_relation_size('prescient.future_job') / current_setting('block_size')::numeric
                                                                       / {blocks_of_sample})) REPEATABLE (1)
     WHERE (SELECT yes FROM many) GROUP BY f.job_exec),
soon AS (
    SELECT f.job_exec, count(*) AS n, min(f.next_check_at) AS first
      FROM (SELECT f.job_exec, f.next_check_at FROM prescient.future_job f
            ORDER BY f.next_check_at, f.bucket, f.priority, f.id LIMIT 10000) f
     WHERE (SELECT yes FROM many) GROUP BY f.job_exec)
SELECT job_exec, n AS checks, round(date_part('epoch', first)) AS next_check_at, 0 AS is_estimate FROM every
UNION ALL
SELECT job_exec, greatest(round(coalesce(sampled.n, 0) * many.share), soon.n)::bigint,
       round(date_part('epoch', soon.first)), 1
  FROM sampled FULL JOIN soon USING (job_exec) CROSS JOIN many
 ORDER BY job_exec

-- part: blocks_sampled
-- In percent, for TABLESAMPLE: about 500 blocks.
100 / greatest(1, pg_relation_size('prescient.future_job') / current_setting('block_size')::numeric
                  / {blocks_of_sample})

-- part: runs_of_check
f.run_count

-- part: runs_of_check_narrow
NULL::integer

-- part: sample_of_checks
UNION ALL
SELECT f.job_exec, f.next_check_at, f.put_off_at, f.run_count, false
  FROM prescient.future_job f TABLESAMPLE SYSTEM ({blocks_sampled}) REPEATABLE (1)
 WHERE (SELECT yes FROM part)

-- part: sample_of_checks_narrow
-- A view has no blocks.

-- name: waiting_jobs
-- Jobs that are not among :known, a JSON array, and have checks that were not put off; those with
-- most checks first. No index has the job, so the first ten thousand checks are looked at, and if
-- there are more, about 500 blocks of the table; `checks` is then at least so many. A job that was
-- run in the last day is one of another engine, and is left out. Runs are looked for in the newest
-- part of the history, and then for a few jobs each by itself; where a look was cut, has_run is
-- NULL. The last row has no job: it says whether a part was looked at, of checks or of jobs.
-- forms: narrow
-- in: known text, most text?
-- out: job_exec text?, checks int8?, first_at int8?, has_run int4?, is_part int4
-- report
WITH soon AS MATERIALIZED (
    SELECT f.job_exec, f.next_check_at, f.put_off_at, {runs_of_check} AS run_count FROM {shown_checks} f
     ORDER BY {checks_in_order} LIMIT 10001),
part AS MATERIALIZED (
    SELECT count(*) > 10000 AS yes FROM soon),
looked_at AS (
    SELECT s.*, true AS is_soon FROM soon s
    {sample_of_checks}),
lately AS MATERIALIZED (
    SELECT DISTINCT h.job_exec
      FROM prescient.newest_rows(NULL::{shown_history}, NULL, NULL, NULL, NULL,
                                 clock_timestamp() - interval '1 day', NULL, 10000, 100) h
     WHERE h.run_count > 0),
jobs AS MATERIALIZED (
    SELECT l.job_exec, greatest(count(*) FILTER (WHERE l.is_soon), count(*) FILTER (WHERE NOT l.is_soon))
           AS checks, min(l.next_check_at) FILTER (WHERE isfinite(l.next_check_at)) AS first
      FROM looked_at l
     WHERE l.put_off_at IS NULL AND l.job_exec NOT IN (SELECT json_array_elements_text(:known::json))
     GROUP BY l.job_exec
    HAVING bool_or(l.run_count > 0) IS NOT TRUE
       AND NOT EXISTS (SELECT FROM lately y WHERE y.job_exec = l.job_exec)
     ORDER BY 2 DESC, 3, 1 LIMIT :most::bigint + 1),
tried AS MATERIALIZED (
    SELECT j.*, (SELECT CASE WHEN bool_or(h.run_count > 0) THEN 1
                             WHEN bool_or(h.entity_name IS NULL) THEN NULL ELSE 0 END
                   FROM prescient.newest_rows(NULL::{shown_history}, NULL, NULL, j.job_exec, NULL,
                                              clock_timestamp() - interval '1 day', NULL, 10, 20) h)
           AS has_run
      FROM jobs j ORDER BY j.checks DESC, j.first, j.job_exec LIMIT :most::bigint)
SELECT t.job_exec, t.checks, date_part('epoch', t.first)::bigint AS first_at,
       t.has_run, p.yes::integer AS is_part
  FROM tried t, part p WHERE t.has_run IS DISTINCT FROM 1
UNION ALL
SELECT NULL, NULL, NULL, NULL, (p.yes OR (SELECT count(*) FROM jobs) > :most::bigint)::integer FROM part p
 ORDER BY checks DESC NULLS LAST, first_at, job_exec

-- part: events_here
-- Up to which id events may be read; computed once for the statement.
here AS MATERIALIZED (
    SELECT n.generation, n.below FROM prescient.generation_now() n)

-- part: events_readable
(e.generation, e.xid) < ((SELECT generation FROM here), (SELECT below FROM here))

-- part: shown_events
prescient.event

-- part: shown_events_narrow
prescient.events

-- part: events_behind
prescient.event

-- part: events_behind_narrow
prescient.events_after(coalesce(:after_generation, '0') || '-' || coalesce(:after_xid, '0') || '-' ||
                       coalesce(:after_id, '0'), :most::bigint)

-- part: data_of_event
e.data

-- part: data_of_event_narrow
NULL::json

-- part: event_as_shown
e.generation || '-' || e.xid::text || '-' || e.id AS cursor, e.event, e.entity_name, e.entity_key,
       e.job_exec,
       (date_part('epoch', e.emitted_at) * 1000000)::bigint AS emitted_at_us,
       date_part('epoch', e.slot_at)::bigint AS slot_at, {number_of_event} AS check_number,
       {data_of_event} AS data

-- name: events
-- Events after (:after_generation, :after_xid, :after_id), of this history, and below the oldest
-- running transaction: what that may still write comes later in this order. A cursor that this
-- database cannot have issued gets no events. The planner must not know the cursor's value: if all
-- events are of one generation, its statistics show nothing after the cursor, and it would sort all
-- events instead of following the index of each day.
-- forms: narrow
-- in: after_generation text?, after_xid text?, after_id text?, most text?
-- out: cursor text, event text, entity_name text, entity_key text, job_exec text,
-- out: emitted_at_us int8, slot_at int8, check_number int8?, data json?
-- report
WITH {events_here},
cursor AS MATERIALIZED (
    SELECT coalesce(:after_generation::bigint, 0) AS generation, coalesce(:after_xid, '0')::xid8 AS xid,
           coalesce(:after_id::bigint, 0) AS id)
SELECT {event_as_shown}
  FROM {events_behind} e
 WHERE (SELECT prescient.refuse_cursor_ahead(coalesce(:after_generation::bigint, 0),
                                             coalesce(:after_xid, '0')::xid8))
   AND (e.generation, e.xid, e.id) > ((SELECT c.generation FROM cursor c), (SELECT c.xid FROM cursor c),
                                      (SELECT c.id FROM cursor c)) AND {events_readable}
 ORDER BY e.generation, e.xid, e.id LIMIT :most::bigint

-- name: events_back
-- The newest of them, or of those before a cursor, newest first.
-- forms: narrow
-- in: before_generation text?, before_xid text?, before_id text?, most text?
-- out: cursor text, event text, entity_name text, entity_key text, job_exec text,
-- out: emitted_at_us int8, slot_at int8, check_number int8?, data json?
-- report
WITH {events_here},
cursor AS MATERIALIZED (
    SELECT coalesce(:before_generation::bigint, 9223372036854775807) AS generation,
           coalesce(:before_xid, '18446744073709551615')::xid8 AS xid,
           coalesce(:before_id::bigint, 9223372036854775807) AS id)
SELECT {event_as_shown}
  FROM {shown_events} e
 WHERE (e.generation, e.xid, e.id) < ((SELECT c.generation FROM cursor c), (SELECT c.xid FROM cursor c),
                                      (SELECT c.id FROM cursor c)) AND {events_readable}
 ORDER BY e.generation DESC, e.xid DESC, e.id DESC LIMIT :most::bigint

-- part: count_withheld
(SELECT count(*) FROM (SELECT FROM prescient.event e
                        WHERE (e.generation, e.xid) >= ((SELECT generation FROM here),
                                                        (SELECT below FROM here))
                          AND (e.generation, e.xid) < ((SELECT generation FROM here),
                                                       (SELECT above FROM ids))
                        ORDER BY e.generation, e.xid, e.id LIMIT 1000) few)

-- part: count_withheld_degraded count_withheld_degraded_narrow
NULL::bigint

-- part: count_withheld_narrow
prescient.events_withheld()

-- part: withholding
-- Events that are committed but not readable yet, counted up to a thousand, and the oldest
-- transaction, which they wait for: one in any database of the cluster. Every role sees whose it
-- is; its state and its age are visible to its own role, superusers and members of
-- pg_read_all_stats. On a standby it runs on the primary. A transaction that ends while this
-- statement runs belongs to nobody.
{events_here},
ids AS MATERIALIZED (
    SELECT pg_snapshot_xmin(s)::xid AS oldest, pg_snapshot_xmin(s)::text AS oldest_xid,
           pg_snapshot_xmax(s) AS above
      FROM pg_current_snapshot() s),
withheld AS MATERIALIZED (
    SELECT {count_withheld} AS n),
owner AS MATERIALIZED (
    SELECT format('process %s', a.pid) || coalesce(' of database ' || a.datname, '')
               || coalesce(' (' || a.state || ')', '') AS name,
           a.xact_start AS began, format('SELECT pg_terminate_backend(%s) ends it', a.pid) AS advice
      FROM pg_stat_activity a, ids, withheld w WHERE w.n > 0 AND a.backend_xid = ids.oldest
    UNION ALL
    SELECT format('the prepared transaction %L of database %s', x.gid, x.database), x.prepared,
           format('COMMIT PREPARED %L or ROLLBACK PREPARED %1$L, in that database, ends it', x.gid)
      FROM pg_prepared_xacts x, ids, withheld w WHERE w.n > 0 AND x.transaction = ids.oldest
    LIMIT 1),
holder AS MATERIALIZED (
    SELECT ids.oldest_xid AS xid,
           CASE WHEN o.name IS NOT NULL THEN o.name
                WHEN pg_is_in_recovery() THEN 'a transaction of the primary'
                ELSE format('transaction %s, over by now or not shown to this role', ids.oldest_xid)
               END AS name,
           (date_part('epoch', clock_timestamp() - o.began) * 1000000)::bigint AS us,
           CASE WHEN o.advice IS NOT NULL THEN o.advice
                WHEN pg_is_in_recovery() THEN 'ask there which one: prescient status'
                ELSE 'ask again' END AS advice
      FROM ids JOIN withheld w ON w.n > 0 LEFT JOIN owner o ON true)

-- name: withheld
-- forms: narrow
-- out: events_withheld int8, withheld_by text?, withheld_us int8?, withheld_advice text?,
-- out: withheld_xid text?
-- report
WITH {withholding}
SELECT w.n AS events_withheld, h.name AS withheld_by, h.us AS withheld_us, h.advice AS withheld_advice,
       h.xid AS withheld_xid
  FROM withheld w LEFT JOIN holder h ON true

-- name: events_end
-- forms: narrow
-- out: cursor text
-- report
WITH {events_here}
SELECT coalesce((SELECT e.generation || '-' || e.xid::text || '-' || e.id FROM {shown_events} e
                 WHERE {events_readable}
                  ORDER BY e.generation DESC, e.xid DESC, e.id DESC LIMIT 1), '0-0-0') AS cursor

-- name: notify
-- An empty one, of which a queue keeps one a transaction.
-- in: channel text
-- out: told int4
SELECT 1 AS told FROM pg_notify(:channel, '')

-- ---- named readers of events --------------------------------------------------------------------

-- part: cursor_place
(c.generation, c.xid, c.id)

-- part: cursor_text
c.generation || '-' || c.xid::text || '-' || c.id

-- part: cursor_lease_until
clock_timestamp() + :lease_ms::bigint * interval '1 millisecond'

-- part: cursor_is_ours
c.kind = 'consumer' AND c.name = :name AND c.owner = :owner::uuid AND c.token = :token::bigint

-- name: events_from
-- The cursor before the first event that was written at :at or later; the end of what may be read,
-- if there is none.
-- in: at text?
-- out: cursor text
-- report
WITH {events_here},
first AS MATERIALIZED (
    SELECT e.generation, e.xid, e.id FROM prescient.event e
     WHERE e.recorded_at >= to_timestamp(:at::bigint) AND {events_readable}
     ORDER BY e.generation, e.xid, e.id LIMIT 1),
last AS MATERIALIZED (
    SELECT e.generation, e.xid, e.id FROM prescient.event e
     WHERE {events_readable} AND NOT EXISTS (SELECT FROM first)
     ORDER BY e.generation DESC, e.xid DESC, e.id DESC LIMIT 1)
SELECT coalesce((SELECT f.generation || '-' || f.xid::text || '-' || f.id - 1 FROM first f),
                (SELECT l.generation || '-' || l.xid::text || '-' || l.id FROM last l), '0-0-0') AS cursor

-- name: cursor_make
-- A new consumer begins with the oldest event that there is.
-- in: name text?
-- out: made int8
-- report: writes
WITH made AS (
    INSERT INTO prescient.cursor (kind, name) VALUES ('consumer', :name) ON CONFLICT DO NOTHING RETURNING 1)
SELECT count(*) AS made FROM made

-- name: cursor_take
-- The lease, when nobody holds it, when it has expired, when it is our own, or when we have watched
-- the holder's :seen_owner, :seen_token and :seen_until_us unchanged for the lease's time. Each
-- take has a new token: what was sent under an older one changes nothing any more. One row; none:
-- there is no such consumer.
-- in: name text?, owner text?, held_by text?, lease_ms text?, seen_owner text?, seen_token text?,
-- in: seen_until_us text?
-- out: cursor text, ours int8, owner text?, token int8, held_by text?, until_us int8?,
-- out: pruned_at int8?
-- report: writes
WITH taken AS (
    UPDATE prescient.cursor c
       SET owner = :owner::uuid, token = nextval('prescient.slot_lease_token_seq'), held_by = :held_by,
           expires_at = {cursor_lease_until}
     WHERE c.kind = 'consumer' AND c.name = :name
       AND (c.owner IS NULL OR c.owner = :owner::uuid OR c.expires_at <= clock_timestamp()
            OR (c.owner = :seen_owner::uuid AND c.token = :seen_token::bigint
                AND (date_part('epoch', c.expires_at) * 1000000)::bigint = :seen_until_us::bigint))
    RETURNING c.*),
found AS (
    SELECT 1::bigint AS ours, t.* FROM taken t
    UNION ALL
    SELECT 0, o.* FROM prescient.cursor o
     WHERE o.kind = 'consumer' AND o.name = :name AND NOT EXISTS (SELECT FROM taken))
SELECT {cursor_text} AS cursor, c.ours, replace(c.owner::text, '-', '') AS owner, c.token, c.held_by,
       (date_part('epoch', c.expires_at) * 1000000)::bigint AS until_us,
       date_part('epoch', c.pruned_at)::bigint AS pruned_at
  FROM found c

-- name: cursor_renew
-- in: name text?, owner text?, token text?, lease_ms text?
-- out: renewed int8
-- report: writes
WITH renewed AS (
    UPDATE prescient.cursor c SET expires_at = {cursor_lease_until} WHERE {cursor_is_ours} RETURNING 1)
SELECT count(*) AS renewed FROM renewed

-- name: cursor_move
-- From where it was read to a later event, and the lease is renewed. Owner and token make one work
-- at a time; the cursor as it was read keeps a move that arrives late from taking it back.
-- in: name text?, owner text?, token text?, lease_ms text?, from_generation text?, from_xid text?,
-- in: from_id text?, generation text?, xid text?, id text?, skipped text?
-- out: moved int8
-- report: writes
WITH moved AS (
    UPDATE prescient.cursor c
       SET generation = :generation::bigint, xid = :xid::xid8, id = :id::bigint,
           moved_at = clock_timestamp(), expires_at = {cursor_lease_until},
           skipped = c.skipped + :skipped::bigint
     WHERE {cursor_is_ours}
       AND {cursor_place} = (:from_generation::bigint, :from_xid::xid8, :from_id::bigint)
    RETURNING 1)
SELECT count(*) AS moved FROM moved

-- name: cursor_release
-- in: name text?, owner text?, token text?
-- out: released int8
-- report: writes
WITH released AS (
    UPDATE prescient.cursor c SET owner = NULL, expires_at = NULL WHERE {cursor_is_ours} RETURNING 1)
SELECT count(*) AS released FROM released

-- name: cursor_reset
-- Whoever reads now loses its lease. A cursor ahead of everything is refused.
-- in: name text?, generation text?, xid text?, id text?
-- out: made int8
-- report: writes
INSERT INTO prescient.cursor AS c (kind, name, generation, xid, id, moved_at)
SELECT 'consumer', :name, :generation::bigint, :xid::xid8, :id::bigint, clock_timestamp()
 WHERE (SELECT prescient.refuse_cursor_ahead(:generation::bigint, :xid::xid8))
    ON CONFLICT (kind, name) DO UPDATE
   SET generation = excluded.generation, xid = excluded.xid, id = excluded.id, moved_at = excluded.moved_at,
       owner = NULL, expires_at = NULL, pruned_at = NULL
RETURNING (c.xmax::text = '0')::integer::bigint AS made

-- name: cursor_forget
-- in: name text?
-- out: forgotten int8
-- report: writes
WITH forgotten AS (
    DELETE FROM prescient.cursor c WHERE c.kind = 'consumer' AND c.name = :name RETURNING 1)
SELECT count(*) AS forgotten FROM forgotten

-- name: engines_seen
-- What engines have noted last, newest first: one that may have ended since stands here for as long
-- as its note counts.
-- out: engine text, command text, file text, listeners text, seen_at int8
-- report
SELECT e.engine, e.command, e.file, e.listeners, date_part('epoch', e.seen_at)::bigint AS seen_at
  FROM prescient.engine_seen e
 WHERE e.counts_until > clock_timestamp()
 ORDER BY e.seen_at DESC, e.engine, e.command, e.file LIMIT 200

-- name: engines
-- Those that have noted themselves, newest first.
-- out: engine text, command text, file text, seen_at int8, version text?, host text?, pid int4?,
-- out: started_at int8?, serves text?, jobs text?, last_slot_at int8?, last_pass_at int8?
-- report
SELECT e.engine, e.command, e.file, date_part('epoch', e.seen_at)::bigint AS seen_at, e.version, e.host,
       e.pid, floor(date_part('epoch', e.started_at))::bigint AS started_at, e.serves,
       left(e.jobs, 1000) AS jobs,
       date_part('epoch', e.last_slot_at)::bigint AS last_slot_at,
       floor(date_part('epoch', e.last_pass_at))::bigint AS last_pass_at
  FROM prescient.engines e ORDER BY e.seen_at DESC, e.engine, e.command, e.file LIMIT 200

-- name: lately
-- The newest pass, and the runs of the last day, as engines have noted them: once a minute.
-- forms: narrow
-- out: last_slot_at int8?, last_pass_at int8?, last_run int8?, last_failed int8?, day_runs int8,
-- out: day_failed int8
-- report
WITH this AS MATERIALIZED (SELECT clock_timestamp() AS now),
newest AS MATERIALIZED (
    SELECT p.slot_at, p.recorded_at FROM {shown_passes} p WHERE p.slot_at <= (SELECT now FROM this)
     ORDER BY p.slot_at DESC LIMIT 300),
last AS MATERIALIZED (SELECT n.slot_at FROM newest n ORDER BY n.recorded_at DESC LIMIT 1),
passed AS (
    SELECT sum(p.run)::bigint AS run, sum(p.failed + p.timeout + p.crashed)::bigint AS failed
      FROM {shown_passes} p WHERE p.slot_at = (SELECT slot_at FROM last)),
a_day AS (
    SELECT coalesce(sum(r.runs), 0)::bigint AS runs,
           coalesce(sum(r.runs) FILTER (WHERE r.outcome IN {outcomes_of_trouble}), 0)::bigint AS failed
      FROM prescient.run_hours r
     WHERE r.hour_at >= date_trunc('hour', now() - interval '1 day', 'UTC'))
SELECT (SELECT date_part('epoch', l.slot_at)::bigint FROM last l) AS last_slot_at,
       (SELECT floor(date_part('epoch', max(n.recorded_at)))::bigint FROM newest n) AS last_pass_at,
       p.run AS last_run, p.failed AS last_failed, d.runs AS day_runs, d.failed AS day_failed
  FROM passed p, a_day d

-- name: consumers
-- `unread` counts up to 10,000 events that may be read and were not.
-- forms: narrow
-- out: name text, cursor text, unread int8, oldest_unread_at int8?, held_by text?,
-- out: held_until_at int8?, moved_at int8?, skipped int8, pruned_at int8?
-- report
WITH {events_here}
SELECT c.name, c.cursor, u.unread, date_part('epoch', u.oldest)::bigint AS oldest_unread_at, c.held_by,
       date_part('epoch', c.held_until)::bigint AS held_until_at,
       date_part('epoch', c.moved_at)::bigint AS moved_at, c.skipped,
       date_part('epoch', c.pruned_at)::bigint AS pruned_at
  FROM prescient.consumers c, LATERAL (
       SELECT count(*) AS unread, min(f.recorded_at) AS oldest
         FROM (SELECT e.recorded_at FROM {shown_events} e
                WHERE (e.generation, e.xid, e.id) > {cursor_place} AND {events_readable}
                ORDER BY e.generation, e.xid, e.id LIMIT 10000) f) u
 ORDER BY c.name

-- name: consumers_unread
-- Events, up to 10,000, that a prune of what was written before :before drops (0004_days: days that
-- ended before it, but neither today nor yesterday), and that a consumer has not read.
-- in: before text?
-- out: name text, unread int8
-- report
SELECT c.name, u.unread
  FROM prescient.cursor c, LATERAL (
       SELECT count(*) AS unread
         FROM (SELECT FROM prescient.event e
                WHERE (e.generation, e.xid, e.id) > {cursor_place}
                  AND e.recorded_at < least(date_trunc('day',
                                                       to_timestamp(:before::bigint) AT TIME ZONE 'UTC'),
                                            date_trunc('day', clock_timestamp() AT TIME ZONE 'UTC')
                                            - interval '1 day') AT TIME ZONE 'UTC'
                LIMIT 10000) few) u
 WHERE c.kind = 'consumer' AND u.unread > 0
 ORDER BY c.name

-- name: whole
-- :thorough: more than a quick look is wanted. Data on disk can be verified only by the server;
-- this checks whether it would notice corruption.
-- in: thorough text?
-- out: what text, level text, found text, advice text
-- report
SELECT 'checksums of pages' AS what, CASE WHEN has THEN 'ok' ELSE 'warn' END AS level,
       CASE WHEN has THEN 'on: a damaged page is told when it is read; pg_amcheck reads all'
           ELSE 'off: a damaged page may go unnoticed' END AS found,
       CASE WHEN has THEN ''
           ELSE 'stop the server and run pg_checksums --enable; pg_amcheck looks through tables and indexes'
               END AS advice
  FROM (SELECT current_setting('data_checksums') = 'on' AS has) c WHERE :thorough::text IS NOT NULL

-- ---- on a connection that blocks: commands -------------------------------------------------

-- part: on_path
-- How a transaction begins there: with the same settings as a message (see path).
BEGIN; SET LOCAL search_path = pg_catalog, pg_temp; SET LOCAL statement_timeout = 0;
SET LOCAL lock_timeout = 0; SET LOCAL jit = off

-- name: begin
-- script
{on_path}

-- ---- load ------------------------------------------------------------------------------------

-- name: begin_load
-- Applications may lock the same checks: wait a while for them, then give up the chunk.
-- script
{on_path}; SET LOCAL lock_timeout = '10s'

-- name: lock_checks
-- The slot length stays as it is until the transaction ends. Who may only call the API has no right
-- to this lock; its functions see to that themselves.
LOCK TABLE prescient.future_job IN ROW EXCLUSIVE MODE

-- name: load_clock
-- Like every writer, it takes its transaction id first and reads the clock then. The slot length
-- stays as it is while the transaction holds its lock of the table.
-- out: now int8, slot_length_s int4
SELECT floor(date_part('epoch', t.at))::bigint AS now, prescient.slot_length_s() AS slot_length_s
  FROM (SELECT pg_current_xact_id() AS id OFFSET 0) x, LATERAL (SELECT clock_timestamp() AS at,
       x.id OFFSET 0) t

-- name: load_copy
-- The rows follow in the binary format, with these columns (copy_row in store_pg_load.c).
COPY prescient.future_job (bucket, entity_name, entity_key, job_exec, first_check_at, next_check_at, payload,
                           priority, concurrency_key, tenant)
FROM STDIN (FORMAT binary)

-- part: file_many
prescient.file_checks(:entities, :keys, :jobs, :at, :payloads::json[], :conflict, :priorities, :now,
                      :concurrency_keys, :tenants)

-- part: file_many_narrow
prescient.enqueue_each(:entities, :keys, :jobs, :at::timestamptz[], :payloads, :conflict, :priorities,
                       :concurrency_keys, :tenants)

-- name: load_checks
-- forms: narrow
-- in: entities text[], keys text[], jobs text[], at timestamptz[], payloads text[], conflict text,
-- in: priorities int4[], now timestamptz?, concurrency_keys text[], tenants text[]
-- out: added int8, kept int8, moved int8, replaced int8
SELECT added, kept, moved, replaced FROM {file_many}

-- name: post
-- What is answered is on disk, also where the user's transactions are not as a rule.
-- in: uniqids text[], contents text[], entities text[], keys text[], jobs text[], times int8[],
-- in: are_after int4[], within_s int8[], payloads text[], conflicts text[], priorities int4[],
-- in: concurrency_keys text[], tenants text[], keep_s int8, lock_timeout text
-- out: n int8, is_repeat bool, is_other bool, outcome text?, check_id int8?, filed_at timestamptz?
SELECT p.n, p.is_repeat, p.is_other, p.outcome, p.check_id, p.filed_at
  FROM (SELECT set_config('lock_timeout', :lock_timeout, true) AS lock_timeout,
               set_config('synchronous_commit',
                          CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on'
                              ELSE current_setting('synchronous_commit') END, true) AS commits
         OFFSET 0) setup,
       LATERAL prescient.post_checks(:uniqids, :contents, :entities, :keys, :jobs, :times, :are_after,
                                     :within_s, :payloads, :conflicts, :priorities, :concurrency_keys,
                                     :tenants, :keep_s) p
 WHERE setup.lock_timeout IS NOT NULL AND setup.commits IS NOT NULL ORDER BY p.n

-- name: request
-- in: uniqid text?
-- out: outcome text, check_id int8, filed_at int8, made_at int8, kept_until int8
-- report
SELECT r.outcome, r.check_id, date_part('epoch', r.filed_at)::bigint AS filed_at,
       date_part('epoch', r.made_at)::bigint AS made_at,
       date_part('epoch', r.kept_until)::bigint AS kept_until
  FROM prescient.request_of(:uniqid) r

-- name: jobs_noted
-- out: job text?
-- report
SELECT j.job FROM prescient.jobs_noted() j (job)

-- name: tokens
-- out: name text, role text, made_at int8, made_by text?, expires_at int8?, is_in_force bool
-- report
SELECT t.name, t.role, date_part('epoch', t.made_at)::bigint AS made_at, t.made_by,
       date_part('epoch', t.expires_at)::bigint AS expires_at, t.is_in_force
  FROM prescient.tokens() t

-- name: token_keys
-- What the server judges by.
-- out: name text, role text, is_in_force bool, hash text, session_key text
-- report
SELECT t.name, t.role, t.is_in_force, t.hash, t.session_key FROM prescient.tokens() t

-- name: token_new
-- No row: there is one of that name, or there are 1000 (bound_tokens).
-- in: name text, role text, hash text, session_key text, lifetime_s text?
-- out: name text, expires_at int8?
-- report: writes
INSERT INTO prescient.token AS t (name, role, hash, session_key, expires_at)
SELECT :name, :role, :hash, :session_key, clock_timestamp() + :lifetime_s::bigint * interval '1 second'
    ON CONFLICT ON CONSTRAINT token_pkey DO NOTHING
RETURNING t.name, date_part('epoch', t.expires_at)::bigint AS expires_at

-- name: token_revoke
-- others: how many are left.
-- in: name text
-- out: name text, others int8
-- report: writes
DELETE FROM prescient.token t WHERE t.name = :name
RETURNING t.name, (SELECT count(*) FROM prescient.token o WHERE o.name <> :name) AS others

-- ---- migrations ------------------------------------------------------------------------------

-- name: begin_migration
-- script
-- Bodies of functions are not compiled here: that would take half of the time, and the tests do it.
{on_path}; SET LOCAL lock_timeout = '30s'; SET LOCAL check_function_bodies = off

-- name: shorten_lock_timeout
SET LOCAL lock_timeout = '3s'

-- name: lock_migrations
-- Makes migrations of this schema wait for each other, until the transaction ends. Only the table's
-- owner may take this lock, so no other role can block a migration.
LOCK TABLE prescient.migration IN SHARE ROW EXCLUSIVE MODE

-- name: make_schema
-- Without IF NOT EXISTS: a schema that another role has created meanwhile is not ours.
CREATE SCHEMA prescient_schema

-- name: make_migration_table
CREATE TABLE prescient.migration (version integer PRIMARY KEY, name text NOT NULL, sha256 text NOT NULL,
    oldest_engine integer NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp())

-- name: has_migrations
-- out: has_schema bool, has bool
SELECT to_regnamespace('prescient_schema') IS NOT NULL AS has_schema,
       to_regclass('prescient.migration') IS NOT NULL AS has

-- name: schema_version
-- oldest_engine: the newest migration that a program must know to work with this schema.
-- out: version int4, oldest_engine int4, names text
SELECT coalesce(max(version), 0) AS version, coalesce(max(oldest_engine), 0) AS oldest_engine,
       coalesce(string_agg(name, ' ' ORDER BY version), '') AS names
  FROM prescient.migration

-- name: find_migration
-- in: version int4
-- out: name text, sha256 text
SELECT name, sha256 FROM prescient.migration WHERE version = :version

-- name: note_migrations
-- in: versions int4[], names text[], sha256s text[], oldest_engines int4[]
INSERT INTO prescient.migration (version, name, sha256, oldest_engine)
SELECT * FROM unnest(:versions, :names, :sha256s, :oldest_engines)

-- name: slot_length
-- out: length_s int4
SELECT prescient.slot_length_s() AS length_s

-- name: set_slot_length
-- in: length_s int4
-- out: moved int8
SELECT prescient.set_slot_length(:length_s) AS moved

-- name: note_history
-- Gives a database that was restored or switched to a history of its own, and moves up sequences
-- that are behind. It compares every check's id if that is quick, or if a problem was found.
-- out: noted text?
SELECT prescient.note_history(true) AS noted

-- name: note_restored
-- Begins a history of events because the user says so.
-- out: noted text
SELECT prescient.note_restored() AS noted

-- ---- who may do what ----------------------------------------------------------------------------
-- init and migrate apply these rights each time: a dump contains grants but no roles, and a restore
-- without the roles undoes even what was revoked from PUBLIC. Additional grants of an operator
-- stay. 0016_roles.sql gives the same ones, for a schema that is made without this program.

-- name: make_roles
-- Roles belong to the cluster, not to the database: they may exist already, and the user may not be
-- allowed to create them. Then the schema works for its owner alone.
DO $$
DECLARE
    part text;
BEGIN
    FOREACH part IN ARRAY ARRAY['prescient_enqueuer', 'prescient_operator', 'prescient_engine',
                                'prescient_reader'] LOOP
        CONTINUE WHEN to_regrole(part) IS NOT NULL;
        BEGIN
            EXECUTE format('CREATE ROLE %I NOLOGIN', part);
        EXCEPTION
            WHEN insufficient_privilege THEN
                NULL;
            WHEN duplicate_object OR unique_violation THEN
                NULL;       -- another database's schema was being made at the same moment
        END;
    END LOOP;
END $$

-- part: things
-- All objects that migrations have made (`made`: their names, from the migrations' text), the
-- rights that the four roles need on them, and the rights given now. Objects are identified by
-- their names: all functions of an API name are the API's, and an object of a later migration is
-- for engines unless it is listed here. Objects that others have put into the schema are theirs to
-- grant; with PostgreSQL's default search_path a user named like the schema creates tables in it.
SELECT 'SCHEMA' AS kind, n.oid::regnamespace::text AS name,
       coalesce(n.nspacl, acldefault('n', n.nspowner)) AS acl, '{USAGE}'::text[] AS of_engine,
       '{USAGE}'::text[] AS of_enqueuer, '{USAGE}'::text[] AS of_reader, '{USAGE}'::text[] AS of_operator
  FROM pg_namespace n WHERE n.nspname = 'prescient_schema'
UNION ALL
SELECT 'FUNCTION', p.oid::regprocedure::text, coalesce(p.proacl, acldefault('f', p.proowner)),
       CASE WHEN p.prorettype = 'trigger'::regtype OR p.proname IN ('set_slot_length',
           'begin_generation', 'note_restored', 'mend_sequences') THEN '{}' ELSE '{EXECUTE}' END::text[],
       CASE WHEN p.proname IN ('slot_length_s', 'slot_floor', 'slot_ceil', 'slot_next', 'slot_for',
                               'slot_fine_next', 'bucket_of', 'enqueue', 'enqueue_now', 'enqueue_many',
                               'enqueue_each', 'resolve', 'resolve_doubt', 'reschedule', 'pending',
                               'filed_at', 'post_checks', 'request_of', 'jobs_noted', 'tokens',
                               'schema_state', 'schedule', 'schedule_set', 'schedule_on', 'schedule_off',
                               'unschedule', 'ask_loads', 'slot_loads', 'pace', 'pace_s') THEN '{EXECUTE}'
           ELSE '{}' END::text[],
       CASE WHEN p.proname IN ('slot_length_s', 'slot_floor', 'slot_ceil', 'slot_next', 'slot_for',
                               'slot_fine_next', 'bucket_of', 'pending', 'events_after', 'generation_now',
                               'schema_state', 'slot_count', 'open_work', 'delivery_backlog',
                               'events_withheld', 'newest_rows',
                               'refuse_cursor_ahead', 'event_of', 'class_us', 'runs_by', 'pace',
                               'pace_s', 'request_of', 'jobs_noted', 'tokens', 'row_events') THEN '{EXECUTE}'
           ELSE '{}' END::text[],
       CASE WHEN p.proname IN ('slot_length_s', 'slot_floor', 'slot_ceil', 'slot_next', 'slot_for',
                               'slot_fine_next', 'bucket_of', 'pending', 'schema_state', 'request_of',
                               'jobs_noted', 'tokens', 'pace', 'pace_s', 'change_checks', 'change_schedule',
                               'change_delivery', 'pause', 'resume', 'schedule', 'schedule_set',
                               'schedule_on', 'schedule_off', 'unschedule') THEN '{EXECUTE}'
           ELSE '{}' END::text[]
  FROM pg_proc p WHERE p.pronamespace = 'prescient_schema'::regnamespace AND p.proname = ANY ({made})
UNION ALL
SELECT 'TABLE', c.oid::regclass::text, coalesce(c.relacl, acldefault('r', c.relowner)),
       CASE WHEN c.relkind = 'v' OR c.relname IN ('migration', 'generation') THEN '{SELECT}'
           ELSE '{SELECT,INSERT,UPDATE,DELETE}' END::text[], '{}'::text[],
       CASE WHEN c.relkind = 'v' THEN '{SELECT}' ELSE '{}' END::text[], '{}'::text[]
  FROM pg_class c
 WHERE c.relnamespace = 'prescient_schema'::regnamespace AND c.relkind IN ('r', 'p', 'v')
   AND c.relname = ANY ({made} || 'migration'::text)
UNION ALL
SELECT 'SEQUENCE', c.oid::regclass::text, coalesce(c.relacl, acldefault('s', c.relowner)), '{USAGE}'::text[],
       '{}'::text[], '{}'::text[], '{}'::text[]
  FROM pg_class c WHERE c.relnamespace = 'prescient_schema'::regnamespace AND c.relkind = 'S'
       AND c.relname = ANY ({made})

-- name: absent
-- The roles that do not exist.
-- out: roles text?
{absent_roles}

-- part: absent_roles
SELECT string_agg(w.name, ', ' ORDER BY w.name) AS roles
  FROM unnest('{prescient_enqueuer,prescient_operator,prescient_engine,prescient_reader}'::text[]) w (name)
 WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = w.name)

-- part: amiss
-- What is wrong, and the command that repairs it: functions that are open to everybody, and rights
-- that the two roles lack.
SELECT 0 AS place, 'open' AS what, format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', t.name) AS command
  FROM ({things}) t WHERE t.kind = 'FUNCTION' AND EXISTS (SELECT FROM aclexplode(t.acl) a WHERE a.grantee = 0)
UNION ALL
SELECT 1, 'missing', format('GRANT %s ON %s %s TO %I', string_agg(u.wanted, ', '), t.kind, t.name, r.rolname)
  FROM ({things}) t
  JOIN pg_roles r ON r.rolname IN ('prescient_engine', 'prescient_enqueuer', 'prescient_reader',
                                   'prescient_operator'),
       unnest(CASE r.rolname WHEN 'prescient_engine' THEN t.of_engine WHEN 'prescient_reader' THEN t.of_reader
                             WHEN 'prescient_operator' THEN t.of_operator
                             ELSE t.of_enqueuer END) u (wanted)
 WHERE NOT EXISTS (SELECT FROM aclexplode(t.acl) a WHERE a.grantee = r.oid AND a.privilege_type = u.wanted)
 GROUP BY t.kind, t.name, r.rolname

-- name: mend_rights
-- out: commands text
SELECT coalesce(string_agg(m.command, '; ' ORDER BY m.place, m.command), '') AS commands FROM ({amiss}) m

-- part: or_more
CASE WHEN n >= {counted_at_most} THEN ' or more' ELSE '' END

-- name: objects_gone
-- What migrations have made and is not there, all forms of it or some. Only catalogs are asked, as
-- all else may need what is missing. Of functions the number of forms is compared.
-- out: kind text, name text, there int8, made int8
-- report
SELECT m.kind, m.name, count(t.name) AS there, m.forms::bigint AS made
  FROM ({made_objects}) m (kind, name, forms, nth)
  LEFT JOIN (SELECT 'function' AS kind, p.proname::text AS name FROM pg_proc p
              WHERE p.pronamespace = 'prescient_schema'::regnamespace
             UNION ALL
             SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'S' THEN 'sequence' WHEN 'i' THEN 'index'
                        WHEN 'I' THEN 'index' ELSE 'table' END, c.relname::text
               FROM pg_class c WHERE c.relnamespace = 'prescient_schema'::regnamespace
             UNION ALL
             SELECT 'domain', d.typname::text FROM pg_type d
              WHERE d.typnamespace = 'prescient_schema'::regnamespace AND d.typtype = 'd'
             UNION ALL
             SELECT 'trigger', g.tgname::text FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
              WHERE c.relnamespace = 'prescient_schema'::regnamespace) t USING (kind, name)
 GROUP BY m.kind, m.name, m.forms, m.nth HAVING count(t.name) < m.forms ORDER BY m.nth

-- name: slot_length_again
-- After slot_length_s has been made again, with the length of a new schema.
-- script
DO $$ BEGIN
    EXECUTE format('CREATE OR REPLACE FUNCTION prescient.slot_length_s() RETURNS integer '
                   'LANGUAGE sql STABLE PARALLEL SAFE AS %L', 'SELECT '
                   || coalesce((SELECT s.value::integer FROM prescient.setting s
                                 WHERE s.name = 'slot_length_s'), 900));
END $$

-- name: doctor
-- in: now text?
-- out: what text, level text, found text, advice text
-- report
WITH RECURSIVE this AS MATERIALIZED (
    SELECT now, prescient.slot_floor(now) AS slot FROM (SELECT {now_of} AS now OFFSET 0) n),
oldest AS MATERIALIZED (
    SELECT t.behind, date_part('epoch', clock_timestamp() - t.began)::bigint AS age_s, t.who
      FROM (SELECT) one LEFT JOIN {transactions} t ON true
     ORDER BY t.behind DESC NULLS LAST LIMIT 1),
waiting AS MATERIALIZED (          -- slot by slot: few are open, but there are many passes
    SELECT date_part('epoch', clock_timestamp() - min(p.recorded_at))::bigint AS for_s
      FROM (SELECT slot_at FROM prescient.slot_pass WHERE pass = 0 AND closed_at IS NULL OFFSET 0) o,
           LATERAL (SELECT recorded_at, seen_xid FROM prescient.slot_pass
                    WHERE slot_at = o.slot_at OFFSET 0) p
     WHERE p.seen_xid > pg_snapshot_xmin(pg_current_snapshot())::text::bigint
       AND p.seen_xid < pg_snapshot_xmax(pg_current_snapshot())::text::bigint),
late AS MATERIALIZED (
    SELECT count(*) AS n, min(l.next_check_at) AS first
      FROM (SELECT f.next_check_at FROM prescient.future_job f
            WHERE f.next_check_at < (SELECT this.slot FROM this)
             ORDER BY f.next_check_at LIMIT {counted_at_most}) l),
never AS MATERIALIZED (            -- a slot of these is none, and no time comes to them
    SELECT count(*) AS n, min(format('(%s, %s, %s)', left(f.entity_name, 40), left(f.entity_key, 40),
                                     left(f.job_exec, 40))) AS one
      FROM ((SELECT c.entity_name, c.entity_key, c.job_exec FROM prescient.future_job c
              WHERE c.next_check_at >= '10000-01-01 00:00:00+00'
              ORDER BY c.next_check_at LIMIT {counted_at_most})
            UNION ALL
            (SELECT c.entity_name, c.entity_key, c.job_exec FROM prescient.future_job c
              WHERE c.next_check_at < '1970-01-01 00:00:00+00'
              ORDER BY c.next_check_at LIMIT {counted_at_most})) f),
below AS MATERIALIZED (
    SELECT count(*) AS n
      FROM (SELECT FROM prescient.future_job f
             WHERE f.next_check_at < (SELECT to_timestamp(s.value::bigint) FROM prescient.setting s
                                      WHERE s.name = 'swept_until')
             ORDER BY f.next_check_at LIMIT {counted_at_most}) b),
stuck AS MATERIALIZED (
    SELECT count(*) AS n, min(o.slot_at) AS first
      FROM (SELECT p.slot_at FROM prescient.slot_pass p
             WHERE p.pass = 0 AND p.closed_at IS NULL
               AND p.slot_at < (SELECT this.slot FROM this) - interval '1 day'
             ORDER BY p.slot_at LIMIT {counted_at_most}) o),
expired AS MATERIALIZED (
    SELECT count(*) AS n FROM prescient.slot_lease l
     WHERE l.expires_at < clock_timestamp() - interval '10 minutes'),
there (n) AS (
    SELECT -1 UNION ALL
    SELECT n + 1 FROM there WHERE n < 30
           AND prescient.history_day_is_there(prescient.utc_day(clock_timestamp()) + n + 1)),
days AS MATERIALIZED (
    SELECT least(max(n) + 1, 1) AS today, max(n) AS ahead FROM there),
dead AS MATERIALIZED (
    SELECT coalesce(max(s.n_dead_tup), 0) AS n, coalesce(max(s.n_live_tup), 0) AS live,
           max(s.last_autovacuum) AS last
      FROM pg_stat_user_tables s WHERE s.relid = 'prescient.future_job'::regclass),
history AS MATERIALIZED (
    SELECT g.generation, g.noted_at, n.generation <> g.generation AS is_elsewhere,
           n.generation = g.generation AND NOT n.behind AND EXISTS (
               SELECT FROM prescient.event e WHERE (e.generation, e.xid) >= (g.generation,
                      pg_snapshot_xmax(pg_current_snapshot()))) AS is_ahead
      FROM (SELECT * FROM prescient.generation ORDER BY generation DESC LIMIT 1) g,
           prescient.generation_now() n),
sequences AS MATERIALIZED (
    SELECT string_agg(format('%s has come to %s, %s is in use', s.sequence, s.last, s.in_use), ', ') AS behind
      FROM prescient.sequences_behind(false) s),
prepared AS MATERIALIZED (
    SELECT count(*) AS n, min(x.prepared) AS first FROM pg_prepared_xacts x),
misfiled AS MATERIALIZED (         -- of the checks that come next
    SELECT count(*) AS n, min(format('(%s, %s, %s)', left(f.entity_name, 40), left(f.entity_key, 40),
                                     left(f.job_exec, 40))) AS one
      FROM (SELECT bucket, entity_name, entity_key, job_exec FROM prescient.future_job
             ORDER BY next_check_at, bucket, priority, id LIMIT 1000) f
     WHERE f.bucket <> prescient.bucket_of(f.entity_name, f.entity_key)),
newest AS MATERIALIZED (
    SELECT p.slot_at, p.engine FROM (SELECT) one
      LEFT JOIN LATERAL (SELECT s.slot_at, s.engine FROM prescient.slot_pass s
                          WHERE s.pass > 0 AND s.slot_at < '9000-01-01 00:00:00+00'
                          ORDER BY s.slot_at DESC, s.bucket DESC, s.pass DESC LIMIT 1) p ON true),
alive AS MATERIALIZED (
    SELECT EXISTS (SELECT FROM prescient.slot_lease l WHERE l.expires_at > clock_timestamp()) AS is_so),
lately AS MATERIALIZED (           -- two slots ago, or a minute
    SELECT this.slot - make_interval(secs => greatest(2 * prescient.slot_length_s(), 60)) AS slot FROM this),
trouble AS MATERIALIZED (          -- of short slots, or of split ones, the newest
    SELECT coalesce(sum(p.failed), 0) AS failed, coalesce(sum(p.timeout), 0) AS timeout,
           coalesce(sum(p.crashed), 0) AS crashed,
           CASE WHEN count(*) < {counted_at_most} THEN 'in the last day'
                ELSE format('in the newest %s passes, since %s', {counted_at_most},
                            to_char(min(p.slot_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
               END AS in_what,
           CASE WHEN count(*) < {counted_at_most} THEN '' ELSE 'at least ' END AS at_least
      FROM (SELECT s.slot_at, s.failed, s.timeout, s.crashed FROM prescient.slot_pass s
             WHERE s.slot_at >= (SELECT this.slot FROM this) - interval '1 day'
             ORDER BY s.slot_at DESC LIMIT {counted_at_most}) p),
rows (place, what, bad, level, found, advice) AS (
    SELECT 1, 'server', false, 'ok', 'PostgreSQL ' || current_setting('server_version'), '' FROM this
    UNION ALL
    SELECT 2, 'takes writes',
           pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean, 'error',
           CASE WHEN pg_is_in_recovery() THEN 'a standby'
               WHEN current_setting('default_transaction_read_only')::boolean THEN 'read only' ELSE 'yes' END,
           'no check is run until it takes writes: connect to the primary'
    UNION ALL
    SELECT 3, 'synchronous_commit', current_setting('synchronous_commit') = 'off', 'warn',
           current_setting('synchronous_commit'),
           'a crash may forget acknowledged enqueues and settles of the last moments: '
           'set it on for this database'
    UNION ALL
    SELECT 4, 'history partition of today', today = 0, 'error',
           CASE today WHEN 0 THEN 'missing' ELSE 'there' END,
           'no slot is run without it: prescient init makes it, engines keep the next days' FROM days
    UNION ALL
    SELECT 5, 'history partitions ahead', ahead < 1, 'warn', ahead || ' days',
           'no engine has made the next days: is one running?' FROM days
    UNION ALL
    SELECT 6, 'missed slots', n > 0, 'warn', CASE n WHEN 0 THEN 'none'
           ELSE n || {or_more} || ' overdue checks, the oldest of '
                || CASE WHEN isfinite(first)
                        THEN to_char(first AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
                        ELSE first::text END END,
           'prescient sweep runs them, prescient reslot moves them' FROM late
    UNION ALL
    SELECT 19, 'last pass', late.n > 0 AND late.first <= lately.slot AND NOT alive.is_so
               AND coalesce(newest.slot_at <= lately.slot, true), 'warn',
           coalesce('over the slot '
                || to_char(newest.slot_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
                    || ', by ' || newest.engine, 'none yet'),
           'checks are due, and no engine has run for two slots: start prescient daemon, or let cron call '
           'prescient run' FROM newest, late, lately, alive
    UNION ALL
    SELECT 20, 'runs in trouble', failed + timeout + crashed > 0, 'warn',
           CASE WHEN failed + timeout + crashed = 0 THEN 'none ' || in_what
               ELSE at_least || failed || ' failed, ' || timeout || ' took too long, ' || crashed
                    || ' crashed ' || in_what END,
           'prescient history --outcome failed --since -1d shows checks that ended so, and why; '
           'prescient runs --since -1d those that are tried again' FROM trouble
    UNION ALL
    SELECT 7, 'checks below the low-water mark', n > 0, 'warn',
           CASE n WHEN 0 THEN 'none' ELSE n || {or_more} END,
           'put there by hand or by a clock that jumped; a full look, once an hour, finds them' FROM below
    UNION ALL
    SELECT 8, 'slots that stay open', n > 0, 'warn', CASE n WHEN 0 THEN 'none'
           ELSE n || {or_more} || ', the oldest of '
                || to_char(first AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') END,
           'a sweep finishes them; one that waits for a second look waits for the oldest transaction'
      FROM stuck
    UNION ALL
    SELECT 9, 'leases long expired', n > 0, 'warn', CASE n WHEN 0 THEN 'none' ELSE n::text END,
           'an engine died and none has taken over: is one running?' FROM expired
    UNION ALL
    SELECT 10, 'oldest transaction', greatest(age_s, CASE WHEN who IS NOT NULL THEN for_s END) > 600
           OR behind > 1000000, 'warn',
           CASE WHEN who IS NULL THEN 'none'
                ELSE coalesce(age_s || ' s', 'for how long is not ours to see'
                              || coalesce(', but second looks wait since ' || for_s || ' s', '')) || ', '
                              || behind || ' transactions ago: ' || who END,
           'events and second looks at slots wait for it, and so does vacuum' FROM oldest, waiting
    UNION ALL
    SELECT 11, 'prepared transactions', n > 0, 'warn', CASE n WHEN 0 THEN 'none'
           ELSE n || ', the oldest of ' || first::text END,
           'events and second looks at slots wait for them: commit or roll back' FROM prepared
    UNION ALL
    SELECT 16, 'generation of events', is_ahead, 'warn',
           generation || ', since ' || to_char(noted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
               || CASE WHEN is_ahead
                       THEN '; there are events from the future: their transaction ids '
                            'are ones that this server has not come to'
                       WHEN is_elsewhere
                           THEN '; of an earlier start, or another server (restored, switched '
                                'to, promoted): the next event begins another' ELSE '' END,
           'they were copied from elsewhere, and no consumer is shown them: '
           'prescient init begins another generation' FROM history
    UNION ALL
    SELECT 17, 'sequences', behind IS NOT NULL, 'error', coalesce(behind, 'ahead of what is in use'),
           'numbers would be given out twice, and the answer of one check would end another: '
           'prescient init moves them up' FROM sequences
    UNION ALL
    SELECT 18, 'ids in one slot', NOT coalesce(i.indisunique AND i.indisvalid, false), 'warn',
           CASE WHEN i.indisunique AND i.indisvalid THEN 'kept apart'
               ELSE 'not kept apart, as the unique index by slot is not there' END,
           'of two rows with one id the answer to one may end the other: '
           'DROP INDEX IF EXISTS prescient.future_job_slot; '
           'CREATE UNIQUE INDEX CONCURRENTLY future_job_slot ON prescient.future_job '
           '(next_check_at, bucket, priority, id)'
      FROM (SELECT) one LEFT JOIN pg_index i ON i.indexrelid = to_regclass('prescient.future_job_slot')
    UNION ALL
    SELECT 19, 'buckets', n > 0, 'warn',
           CASE n WHEN 0 THEN 'those of entity and key'
           ELSE n || ' of the next 1000 checks are in a wrong one, as ' || one END,
           'enqueue and resolve do not find them: a plain INSERT filed them. The next prescient run or '
           'sweep files those that have not begun in their own; use prescient.enqueue()' FROM misfiled
    UNION ALL
    SELECT 19, 'times of checks', n > 0, 'warn',
           CASE n WHEN 0 THEN 'from 1970 to 9999'
                ELSE n || {or_more} || ' before 1970 or after 9999, or infinite, as ' || one END,
           'no slot comes for a check at infinity: a plain INSERT filed it. This files such checks into the '
           'next slot: SELECT prescient.reschedule(entity_name, entity_key, job_exec, now()) FROM '
           'prescient.future_job WHERE next_check_at < ''1970-01-01'' OR next_check_at >= ''10000-01-01'''
      FROM never
    UNION ALL
    SELECT 20, 'index of checks put off', NOT coalesce(i.indisvalid, false), 'warn',
           CASE WHEN i.indisvalid THEN 'built' ELSE 'not there' END,
           'status and doctor read all checks without it: '
           'DROP INDEX IF EXISTS prescient.future_job_put_off; '
           'CREATE INDEX CONCURRENTLY future_job_put_off ON prescient.future_job (put_off_at, id) '
           'WHERE put_off_at IS NOT NULL'
      FROM (SELECT) one LEFT JOIN pg_index i ON i.indexrelid = to_regclass('prescient.future_job_put_off')
    UNION ALL
    SELECT 12, 'autovacuum', NOT current_setting('autovacuum')::boolean
           OR NOT current_setting('track_counts')::boolean, 'error',
           CASE WHEN current_setting('autovacuum')::boolean
               AND current_setting('track_counts')::boolean THEN 'on' ELSE 'off' END,
           'future_job changes completely every few hours: turn autovacuum and track_counts on' FROM this
    UNION ALL
    SELECT 13, 'dead rows in future_job', n > 100000 AND n > live, 'warn', n
           || coalesce(', vacuumed ' || to_char(last AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), ''),
           'vacuum does not keep up: look at the oldest transaction, and at autovacuum_max_workers' FROM dead
    UNION ALL
    SELECT 15, 'rights', opened + missing > 0, CASE WHEN opened > 0 THEN 'error' ELSE 'warn' END,
           CASE WHEN opened > 0 THEN opened || ' functions are open to everybody'
               WHEN missing > 0 THEN missing || ' are missing'
                ELSE coalesce('of the owner alone, as these roles are not there: ' || ({absent_roles}),
                              'as they must be') END,
           'prescient init, by the owner of the schema, grants and revokes what it must'
      FROM (SELECT count(*) FILTER (WHERE m.what = 'open') AS opened,
            count(*) FILTER (WHERE m.what = 'missing') AS missing FROM ({amiss}) m) r
    UNION ALL
    SELECT 14, 'clock of the database', false, 'ok', to_char(clock_timestamp() AT TIME ZONE 'UTC',
           'YYYY-MM-DD"T"HH24:MI:SS"Z"'), '' FROM this)
SELECT what, CASE WHEN bad THEN level ELSE 'ok' END AS level, found,
       CASE WHEN bad THEN advice ELSE '' END AS advice FROM rows ORDER BY place

-- name: plan
-- in: slot text?
-- out: line text
-- report
EXPLAIN SELECT id, first_check_at, deferred_at, bucket, priority, check_count, failure_count, entity_name,
    entity_key, job_exec, payload
  FROM prescient.future_job
 WHERE next_check_at = coalesce(to_timestamp(:slot::bigint), prescient.slot_floor(clock_timestamp()))
   AND bucket = 0 AND (priority, id) > (-2147483648, 0)
 ORDER BY priority, id LIMIT 1000
