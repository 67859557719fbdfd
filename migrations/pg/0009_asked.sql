-- 0009_asked - what was asked for is looked at after the commit, at the time that was told, under
-- the key that it had.
-- oldest engine: 1
--
-- Four holes, all between a call of an application and the engine that runs the check meanwhile:
-- - `keep` left no trace on a row whose slot had not begun. The slot began, an engine looked, saw
--   nothing of what the open transaction had written, and ended the check; after the commit nobody
--   looked. Now the row is locked, FOR KEY SHARE, and an engine does not run a row that an open
--   transaction has kept (statement `kept`). The clock is read behind the lock: a row whose slot
--   has begun by then gets again_at.
-- - Two rows with one id: the answer to one ended the other. The index by slot is unique now, so
--   that no two rows that a settle could mix up have one.
-- - What an answer declares, and a life that begins anew, got a key from the id that was drawn for
--   it. A failover that lost the settle drew another one. `origin` says what the key is made of
--   where that is not (first_check_at, id).
-- - A load took two subtransactions a call, and let NULL and 1960 through where it filed them all
--   at once.

ALTER TABLE prescient.future_job ADD COLUMN origin text;
COMMENT ON COLUMN prescient.future_job.origin IS
    'What the idempotency key is made of besides names, count and payload. NULL: first_check_at in seconds, a slash, and the id.';

-- Written out where a statement needs it for many rows.
CREATE FUNCTION prescient.origin_of(origin text, first_check_at timestamptz, id bigint)
    RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(origin, date_part('epoch', first_check_at)::bigint || '/' || id) $$;

-- Of a life that begins where this one ends: the same whoever writes it, and however often.
CREATE FUNCTION prescient.origin_anew(origin text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT left(encode(sha256(convert_to('anew ' || origin, 'UTF8')), 'hex'), 32) $$;

-- An id that no row of the same slot, bucket and priority has: a sequence may have been set back (a
-- restore of the data alone, logical replication, setval), and gives out for a second time what is
-- in use.
CREATE FUNCTION prescient.new_id(slot timestamptz, in_bucket integer, of_priority integer) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    drawn bigint;
BEGIN
    LOOP
        drawn := nextval('prescient.future_job_id_seq');
        EXIT WHEN NOT EXISTS (SELECT FROM prescient.future_job f
                               WHERE f.next_check_at = slot AND f.bucket = in_bucket
                               AND f.priority = of_priority AND f.id = drawn);
    END LOOP;
    RETURN drawn;
END $$;

-- Gives all but one of the rows that share slot, bucket, priority and id another id. Their keys
-- stay as they are.
CREATE FUNCTION prescient.part_ids() RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    n bigint;
BEGIN
    WITH twins AS (
        SELECT t.ctid FROM (SELECT f.ctid,
                            row_number() OVER (PARTITION BY f.next_check_at, f.bucket,
                                               f.priority, f.id) AS nth
                              FROM prescient.future_job f) t
         WHERE t.nth > 1)
    UPDATE prescient.future_job f
       SET origin = prescient.origin_of(f.origin, f.first_check_at, f.id),
           id = prescient.new_id(f.next_check_at, f.bucket, f.priority)
     WHERE f.ctid IN (SELECT t.ctid FROM twins t);
    GET DIAGNOSTICS n = ROW_COUNT;
    RETURN n;
END $$;

-- A small table gets its unique index here; on a large one that would keep applications waiting:
-- there `init` and `migrate` build it beside the old one, CONCURRENTLY, when all migrations are in.
DO $$
BEGIN
    IF (SELECT count(*) FROM (SELECT FROM prescient.future_job LIMIT 20001) few) <= 20000 THEN
        LOCK TABLE prescient.future_job IN ACCESS EXCLUSIVE MODE;
        PERFORM prescient.part_ids();
        DROP INDEX prescient.future_job_slot;
        CREATE UNIQUE INDEX future_job_slot ON prescient.future_job (next_check_at, bucket, priority, id);
    END IF;
END $$;

-- ---- good values --------------------------------------------------------------------------------

-- Whether the library by which engines and jobs read JSON takes it: it takes what PostgreSQL does,
-- but for the character NUL, halves of a surrogate pair, numbers that are too large for it, and
-- more than 2048 levels.
CREATE FUNCTION prescient.is_readable_json(payload text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    bare text;
    number text;
BEGIN
    PERFORM payload::jsonb;             -- refuses NUL and halves of pairs
    bare := regexp_replace(payload, '"([^"\\]|\\.)*"', '', 'g');
    FOR number IN SELECT m[1] FROM regexp_matches(bare, '(-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?)', 'g') m LOOP
        IF number ~ '[.eE]' THEN
            IF abs(number::numeric) > 1.7976931348623157e308 THEN
                RETURN false;
            END IF;
        ELSE
            PERFORM number::bigint;
        END IF;
    END LOOP;
    RETURN coalesce((SELECT max(d.depth) <= 2048
                       FROM (SELECT sum(CASE WHEN b.c IN ('[', '{') THEN 1
                                        ELSE -1 END) OVER (ORDER BY b.n) AS depth
                               FROM regexp_split_to_table(regexp_replace(bare, '[^][{}]', '', 'g'),
                                                          '') WITH ORDINALITY b (c, n)
                              WHERE b.c <> '') d), true);
EXCEPTION WHEN data_exception THEN
    RETURN false;
END $$;

-- The payloads worth asking that: an escape, long digits, a large exponent, or room for so many
-- levels.
CREATE FUNCTION prescient.is_good_payload(payload text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT octet_length(payload) <= 65536
           AND ((octet_length(payload) < 4096
                 AND payload !~ '\\u(0000|[dD][89a-fA-F])|[0-9]{18}|[0-9][eE][+]?[0-9]{3}')
                OR prescient.is_readable_json(payload)) $$;

CREATE FUNCTION prescient.is_good_check(entity text, key text, job text, check_at timestamptz, payload text)
    RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT coalesce(octet_length(entity) BETWEEN 1 AND 1024 AND octet_length(key) BETWEEN 1 AND 1024
                    AND octet_length(job) BETWEEN 1 AND 1024
           AND octet_length(entity) + octet_length(key) + octet_length(job) <= 2600
           AND check_at >= '1970-01-01 00:00:00+00'
           AND prescient.slot_ceil(check_at) < '10000-01-01 00:00:00+00'
           AND (payload IS NULL OR prescient.is_good_payload(payload)), false) $$;

-- Says what is wrong with the values of a check, naming what was found and what was expected.
CREATE OR REPLACE FUNCTION prescient.require_check(entity text, key text, job text,
                                                   check_at timestamptz, payload json, conflict text)
                                                       RETURNS void
LANGUAGE plpgsql STABLE AS $$
DECLARE
    names constant text[] := ARRAY['entity', 'key', 'job'];
    found constant text[] := ARRAY[entity, key, job];
    size integer := 0;
BEGIN
    FOR i IN 1 .. 3 LOOP
        IF found[i] IS NULL OR found[i] = '' THEN
            RAISE EXCEPTION 'prescient: % is %, expected 1 to 1024 bytes of text', names[i], CASE
                WHEN found[i] IS NULL THEN 'NULL' ELSE 'empty' END
                USING ERRCODE = 'invalid_parameter_value';
        ELSIF octet_length(found[i]) > 1024 THEN
            RAISE EXCEPTION 'prescient: % has % bytes, expected 1 to 1024: %...', names[i],
                octet_length(found[i]), left(found[i], 40)
                USING ERRCODE = 'invalid_parameter_value';
        END IF;
        size := size + octet_length(found[i]);
    END LOOP;
    IF size > 2600 THEN
        RAISE EXCEPTION 'prescient: entity, key and job have % bytes together, expected at most 2600', size
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF check_at IS NULL OR check_at < '1970-01-01 00:00:00+00'
        OR prescient.slot_ceil(check_at) >= '10000-01-01 00:00:00+00' THEN
        RAISE EXCEPTION 'prescient: check_at is %, expected a time from 1970 to 9999',
            coalesce(check_at::text, 'NULL') USING ERRCODE = 'datetime_field_overflow';
    END IF;
    IF octet_length(payload::text) > 65536 THEN
        RAISE EXCEPTION 'prescient: the payload has % bytes, expected at most 65536',
            octet_length(payload::text) USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF NOT prescient.is_good_payload(payload::text) THEN
        RAISE EXCEPTION 'prescient: the payload is JSON that jobs cannot read: expected no \u0000, '
                        'no half of a surrogate pair, no integer beyond 64 bits, no '
                        'number beyond 1.8e308, and at most 2048 levels: %...', left(payload::text, 40)
              USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF conflict IS NULL OR conflict NOT IN ('keep', 'earlier', 'replace') THEN
        RAISE EXCEPTION 'prescient: conflict is %, expected keep, earlier or replace',
            coalesce(quote_literal(conflict), 'NULL')
            USING ERRCODE = 'invalid_parameter_value';
    END IF;
END $$;

-- ---- one check ----------------------------------------------------------------------------------

-- Changes a check that is pending already; NULL when it has gone meanwhile. A row whose slot has
-- begun may be being answered at this moment: keep and earlier then write the wanted slot beside
-- it, and the settle starts the check anew there, or moves it there. `at` NULL: the database's
-- clock, which is read anew when the row is locked, as the wait for that may have been long. A row
-- that is kept is locked, too, so that no engine runs it before this transaction is over: what it
-- has written could not be seen by that look. KEY SHARE: others may keep it as well, and write
-- again_at; whoever would end or move it waits. Which lock it is to be is decided by a look without
-- one: two that both went from a weak lock to a strong one would wait for each other.
CREATE OR REPLACE FUNCTION prescient.file_again(entity text, key text, job text, slot timestamptz,
                                                at timestamptz, new_payload json, conflict text,
                                     new_priority integer, OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    in_bucket CONSTANT integer := prescient.bucket_of(entity, key);
    old record;
    begun boolean;
BEGIN
    SELECT f.next_check_at INTO old FROM prescient.future_job f
     WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    begun := old.next_check_at <= coalesce(at, clock_timestamp());
    IF NOT begun AND (conflict = 'keep' OR (conflict = 'earlier' AND slot >= old.next_check_at)) THEN
        SELECT f.next_check_at INTO old FROM prescient.future_job f
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
           FOR KEY SHARE;
        IF NOT FOUND THEN
            RETURN;
        END IF;
        begun := old.next_check_at <= coalesce(at, clock_timestamp());
        IF NOT begun AND (conflict = 'keep' OR slot >= old.next_check_at) THEN
            outcome := 'kept';
            filed_at := old.next_check_at;
            RETURN;
        END IF;
    END IF;

    IF begun AND conflict <> 'replace' THEN
        SELECT f.* INTO old FROM prescient.future_job f
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
           FOR NO KEY UPDATE;
    ELSE
        SELECT f.* INTO old FROM prescient.future_job f
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
           FOR UPDATE;
    END IF;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    begun := old.next_check_at <= coalesce(at, clock_timestamp());
    IF conflict = 'replace' THEN
        -- A new id by UPDATE: a settle of the old one touches nothing, and a concurrent resolve
        -- still meets the row.
        outcome := 'replaced';
        UPDATE prescient.future_job f
           SET id = prescient.new_id(slot, in_bucket, new_priority), first_check_at = slot,
               next_check_at = slot, check_count = 0, failure_count = 0,
               priority = new_priority, payload = new_payload, again_at = NULL,
                   deferred_at = NULL, first_run_at = NULL,
               run_count = NULL, total_run_us = NULL, origin = NULL
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
        RETURNING f.next_check_at INTO filed_at;
    ELSIF begun THEN
        outcome := 'kept';
        filed_at := CASE WHEN conflict = 'earlier' THEN least(old.again_at, slot)
            ELSE coalesce(old.again_at, slot) END;
        UPDATE prescient.future_job f SET again_at = filed_at
         WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key AND f.job_exec = job
           AND f.again_at IS DISTINCT FROM filed_at;
    ELSIF conflict = 'earlier' AND slot < old.next_check_at THEN
        outcome := 'moved';
        filed_at := slot;
        IF EXISTS (SELECT FROM prescient.future_job f
                    WHERE f.next_check_at = slot AND f.bucket = in_bucket
                    AND f.priority = old.priority AND f.id = old.id) THEN
            UPDATE prescient.future_job f
               SET next_check_at = slot, id = prescient.new_id(slot, in_bucket, old.priority),
                   origin = prescient.origin_of(old.origin, old.first_check_at, old.id)
             WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key
             AND f.job_exec = job;
        ELSE
            UPDATE prescient.future_job f SET next_check_at = slot
             WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key
             AND f.job_exec = job;
        END IF;
    ELSE
        outcome := 'kept';
        filed_at := old.next_check_at;
    END IF;
END $$;

-- Files one check whose values are good; every way in ends here. `at` NULL: the database's clock.
-- `new_origin`: of what an answer declares, see future_job.origin. An id that is in use is one
-- conflict more, after which the next one is drawn.
CREATE FUNCTION prescient.file_good_check(entity text, key text, job text, check_at timestamptz,
                                          new_payload json, conflict text, new_priority integer,
                                          at timestamptz, new_origin text, OUT outcome text,
                                              OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    in_bucket CONSTANT integer := prescient.bucket_of(entity, key);
    slot timestamptz;
BEGIN
    PERFORM pg_current_xact_id();
    -- the slot length (set_slot_length) stays as it is until this transaction is over
    LOCK TABLE prescient.future_job IN ROW EXCLUSIVE MODE;
    slot := prescient.slot_for(check_at, coalesce(at, clock_timestamp()));
    LOOP
        INSERT INTO prescient.future_job AS f (bucket, entity_name, entity_key, job_exec,
                                               first_check_at, next_check_at, payload, priority, origin)
        VALUES (in_bucket, entity, key, job, slot, slot, new_payload, new_priority, new_origin)
            ON CONFLICT DO NOTHING
        RETURNING f.next_check_at INTO filed_at;
        IF FOUND THEN
            outcome := 'new';
            RETURN;
        END IF;
        SELECT g.outcome, g.filed_at INTO outcome, filed_at
          FROM prescient.file_again(entity, key, job, slot, at, new_payload, conflict, new_priority) g;
        IF outcome = 'replaced' AND new_origin IS NOT NULL THEN
            UPDATE prescient.future_job f SET origin = new_origin
             WHERE f.bucket = in_bucket AND f.entity_name = entity AND f.entity_key = key
             AND f.job_exec = job;
        END IF;
        EXIT WHEN outcome IS NOT NULL;
    END LOOP;
END $$;

-- A check that an answer declares.
CREATE FUNCTION prescient.file_declared(entity text, key text, job text, check_at timestamptz,
                                        payload json, conflict text, at timestamptz,
                                        new_origin text, OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM prescient.require_check(entity, key, job, check_at, payload, conflict);
    SELECT f.outcome, f.filed_at INTO outcome, filed_at
      FROM prescient.file_good_check(entity, key, job, check_at, payload, conflict, 0, at, new_origin) f;
END $$;

CREATE OR REPLACE FUNCTION prescient.file_check(entity text, key text, job text, check_at timestamptz,
                                                payload json, conflict text, priority integer,
                                     at timestamptz, OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM prescient.require_check(entity, key, job, check_at, payload, conflict);
    SELECT f.outcome, f.filed_at INTO outcome, filed_at
      FROM prescient.file_good_check(entity, key, job, check_at, payload, conflict,
                                     coalesce(priority, 0), at, NULL) f;
END $$;

-- A new life of a pending check at another time; `at` NULL: the database's clock.
CREATE OR REPLACE FUNCTION prescient.reschedule_at(entity text, key text, job text,
                                                   check_at timestamptz, at timestamptz,
                                                   OUT outcome text, OUT filed_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    slot timestamptz;
BEGIN
    PERFORM prescient.require_check(entity, key, job, check_at, NULL, 'keep');
    PERFORM pg_current_xact_id();
    -- the slot length (set_slot_length) stays as it is until this transaction is over
    LOCK TABLE prescient.future_job IN ROW EXCLUSIVE MODE;
    slot := prescient.slot_for(check_at, coalesce(at, clock_timestamp()));
    FOR look IN 1 .. 2 LOOP
        UPDATE prescient.future_job f
           SET id = prescient.new_id(slot, f.bucket, f.priority), first_check_at = slot,
               next_check_at = slot, check_count = 0, failure_count = 0,
               again_at = NULL, deferred_at = NULL, first_run_at = NULL, run_count = NULL,
                   total_run_us = NULL, origin = NULL
         WHERE f.bucket = prescient.bucket_of(entity, key) AND f.entity_name = entity
         AND f.entity_key = key AND f.job_exec = job
        RETURNING f.next_check_at INTO filed_at;
        EXIT WHEN FOUND;
    END LOOP;
    outcome := CASE WHEN filed_at IS NULL THEN 'not_found' ELSE 'moved' END;
END $$;

-- ---- many checks --------------------------------------------------------------------------------

-- Arrays that do not belong together are refused before anything is filed, and so is a value that
-- is not good, with the row it stands in.
CREATE FUNCTION prescient.require_checks(entities text[], keys text[], jobs text[],
                                         check_ats timestamptz[], payloads json[], conflict text,
                                         priorities integer[]) RETURNS integer
LANGUAGE plpgsql STABLE AS $$
DECLARE
    n CONSTANT integer := coalesce(cardinality(entities), 0);
    names CONSTANT text[] := ARRAY['keys', 'jobs', 'check_ats', 'payloads', 'priorities'];
    sizes CONSTANT integer[] := ARRAY[coalesce(cardinality(keys), 0), coalesce(cardinality(jobs), 0),
        coalesce(cardinality(check_ats), 0),
                                      coalesce(cardinality(payloads), n),
                                          coalesce(cardinality(priorities), n)];
    bad record;
    state text;
    words text;
BEGIN
    FOR i IN 1 .. 5 LOOP
        IF sizes[i] <> n THEN
            RAISE EXCEPTION 'prescient: % has % elements and entities has %, expected arrays of one length',
                names[i], sizes[i], n
                USING ERRCODE = 'invalid_parameter_value';
        END IF;
    END LOOP;
    IF conflict IS NULL OR conflict NOT IN ('keep', 'earlier', 'replace') THEN
        PERFORM prescient.require_check('e', 'k', 'j', '2000-01-01 00:00:00+00', NULL, conflict);
    END IF;
    SELECT u.* INTO bad FROM unnest(entities, keys, jobs, check_ats, payloads) WITH ORDINALITY u (entity,
        key, job, check_at, payload, n)
     WHERE NOT prescient.is_good_check(u.entity, u.key, u.job, u.check_at, u.payload::text)
     ORDER BY u.n LIMIT 1;
    IF FOUND THEN
        BEGIN
            PERFORM prescient.require_check(bad.entity, bad.key, bad.job, bad.check_at,
                                            bad.payload, conflict);
        EXCEPTION WHEN data_exception THEN
            GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, words = MESSAGE_TEXT;
            RAISE EXCEPTION '%', words USING ERRCODE = state, DETAIL = format('row %s', bad.n);
        END;
    END IF;
    RETURN n;
END $$;

-- In the order of the primary key, so that two such calls do not wait for each other crosswise:
-- what is new with one INSERT, what is pending already, or stands twice in the arrays, one by one
-- after it.
CREATE OR REPLACE FUNCTION prescient.file_checks(entities text[], keys text[], jobs text[],
                                                 check_ats timestamptz[], payloads json[], conflict text,
                                      priorities integer[], at timestamptz,
                                      OUT added bigint, OUT kept bigint, OUT moved bigint,
                                          OUT replaced bigint)
LANGUAGE plpgsql AS $$
DECLARE
    n CONSTANT integer := prescient.require_checks(entities, keys, jobs, check_ats,
                                                   payloads, conflict, priorities);
    filed text[];
    c record;
BEGIN
    added := 0; kept := 0; moved := 0; replaced := 0;
    PERFORM pg_current_xact_id();
    WITH wanted AS MATERIALIZED (
        SELECT s.bucket, u.*, prescient.slot_for(u.check_at, s.at) AS slot
          FROM unnest(entities, keys, jobs, check_ats, payloads, priorities) WITH ORDINALITY u (entity,
              key, job, check_at, payload, priority, n),
               LATERAL (SELECT prescient.bucket_of(u.entity, u.key) AS bucket,
                        coalesce(file_checks.at, clock_timestamp()) AS at) s),
    inserted AS (
        INSERT INTO prescient.future_job AS f (bucket, entity_name, entity_key, job_exec,
                                               first_check_at, next_check_at, payload, priority)
        SELECT w.bucket, w.entity, w.key, w.job, w.slot, w.slot, w.payload, coalesce(w.priority, 0)
          FROM wanted w ORDER BY w.bucket, w.entity, w.key, w.job, w.n
            ON CONFLICT DO NOTHING
        RETURNING f.entity_name, f.entity_key, f.job_exec)
    SELECT count(*), array_agg(prescient.check_name(i.entity_name, i.entity_key, i.job_exec))
        INTO added, filed FROM inserted i;
    IF added = n THEN
        RETURN;
    END IF;
    FOR c IN SELECT w.* FROM (SELECT u.*,
                              row_number() OVER (PARTITION BY u.entity, u.key, u.job ORDER BY u.n) AS nth
                                FROM unnest(entities, keys, jobs, check_ats, payloads, priorities)
                                     WITH ORDINALITY u (entity, key, job, check_at, payload, priority, n)) w
                       LEFT JOIN (SELECT f.name FROM unnest(filed) f (name)) done
                              ON done.name = prescient.check_name(w.entity, w.key, w.job)
              WHERE w.nth > 1 OR done.name IS NULL
              ORDER BY prescient.bucket_of(w.entity, w.key), w.entity, w.key, w.job, w.n LOOP
        CASE (prescient.file_good_check(c.entity, c.key, c.job, c.check_at, c.payload,
                                        conflict, coalesce(c.priority, 0), at, NULL)).outcome
            WHEN 'new' THEN added := added + 1;
            WHEN 'kept' THEN kept := kept + 1;
            WHEN 'moved' THEN moved := moved + 1;
            ELSE replaced := replaced + 1;
        END CASE;
    END LOOP;
END $$;

-- The key of a check in one text: lengths part ("a", "bc") from ("ab", "c").
CREATE FUNCTION prescient.check_name(entity text, key text, job text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT length(entity) || ':' || length(key) || ':' || entity || key || job $$;

DROP FUNCTION prescient.file_new_checks(text[], text[], text[], timestamptz[], json[],
                                        integer[], timestamptz);

REVOKE ALL ON FUNCTION prescient.origin_of(text, timestamptz, bigint), prescient.origin_anew(text),
    prescient.new_id(timestamptz, integer, integer),
    prescient.part_ids(), prescient.is_readable_json(text), prescient.is_good_payload(text),
    prescient.is_good_check(text, text, text, timestamptz, text), prescient.check_name(text, text, text),
    prescient.file_good_check(text, text, text, timestamptz, json, text, integer, timestamptz, text),
    prescient.file_declared(text, text, text, timestamptz, json, text, timestamptz, text),
    prescient.require_checks(text[], text[], text[], timestamptz[], json[], text, integer[]) FROM PUBLIC;

DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'prescient_engine') THEN
        GRANT EXECUTE ON FUNCTION prescient.origin_of(text, timestamptz, bigint), prescient.origin_anew(text),
            prescient.new_id(timestamptz, integer, integer), prescient.is_readable_json(text),
                prescient.is_good_payload(text),
            prescient.is_good_check(text, text, text, timestamptz, text),
                prescient.check_name(text, text, text),
            prescient.file_good_check(text, text, text, timestamptz, json, text, integer, timestamptz, text),
            prescient.file_declared(text, text, text, timestamptz, json, text, timestamptz, text),
            prescient.require_checks(text[], text[], text[], timestamptz[], json[], text, integer[])
                TO prescient_engine;
    END IF;
END $$;
