-- calls.sql - every call that a driver sends finds one function of the API, and files what it
-- means. psql runs it in a database with a schema `prescient` (tests/calls.sh), as a user who may
-- create tables there. Each row of a table below is a call; one line of output a group, and one for
-- each call that went wrong.
\set QUIET on
\pset format unaligned
\pset tuples_only on
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET timezone = 'America/New_York';
SET search_path = pg_temp, public;

-- What a call wrote: outcome, key, whether its time is the one meant, payload. Nothing stays.
CREATE FUNCTION pg_temp.filed(call text, meant text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    first timestamptz;
    last timestamptz;
    outcome text;
    written text;
BEGIN
    EXECUTE 'SELECT ' || meant INTO first;
    first := prescient.slot_for(first, clock_timestamp());
    BEGIN
        EXECUTE call INTO outcome;
        EXECUTE 'SELECT ' || meant INTO last;
        last := prescient.slot_for(last, clock_timestamp());
        SELECT string_agg(concat_ws(' ', f.entity_name, f.entity_key, f.job_exec,
                                    CASE WHEN f.next_check_at BETWEEN first AND last THEN 'in time'
                                    ELSE 'at ' || f.next_check_at END, f.payload::text),
                          ', ' ORDER BY f.entity_name, f.entity_key)
          INTO written FROM prescient.future_job f;
        RAISE EXCEPTION USING ERRCODE = 'P0099';
    EXCEPTION WHEN SQLSTATE 'P0099' THEN
        RETURN outcome || ': ' || coalesce(written, 'nothing');
    END;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;

CREATE TEMPORARY TABLE tried (sort text, call text, found text, expected text);

-- ---- literals and types: each key with each time and each payload -------------------------------

CREATE DOMAIN pg_temp.order_number AS bigint CHECK (VALUE > 0);
CREATE DOMAIN pg_temp.order_name AS text;
CREATE TEMPORARY TABLE a_key (expression text, written text);
INSERT INTO a_key VALUES ($$'42'$$, '42'), ('42', '42'), ('42::smallint', '42'), ('42::bigint', '42'),
    ('-7', '-7'), ('9223372036854775807', '9223372036854775807'),
    ($$'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid$$, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'),
    ($$'a b'::text$$, 'a b'), ($$'ab'::varchar$$, 'ab'), ($$'ab'::varchar(10)$$, 'ab'),
    ($$'ab'::name$$, 'ab'),
    ('42::pg_temp.order_number', '42'), ($$'ab'::pg_temp.order_name$$, 'ab');
CREATE TEMPORARY TABLE a_time (expression text, meant text);
INSERT INTO a_time VALUES
    ($$'2040-02-03 10:00+00'::timestamptz$$, $$'2040-02-03 10:00+00'::timestamptz$$),
    ('now()', 'now()'),
    ($$'2040-02-03 10:00'::timestamp$$, $$'2040-02-03 15:00+00'::timestamptz$$),
    ($$'2040-02-03'::date$$, $$'2040-02-03 05:00+00'::timestamptz$$),
    ($$interval '3 hours'$$, $$clock_timestamp() + interval '3 hours'$$),
    ($$'3 hours'$$, $$clock_timestamp() + interval '3 hours'$$),
    ($$'+3 hours'$$, $$clock_timestamp() + interval '3 hours'$$),
    ($$'+03:00'$$, $$clock_timestamp() + interval '3 hours'$$),
    ($$'90m'$$, $$clock_timestamp() + interval '90 minutes'$$),
    ($$'1 day 2 hours'$$, $$clock_timestamp() + interval '1 day 2 hours'$$),
    ($$'PT3H'$$, $$clock_timestamp() + interval '3 hours'$$),
    ($$'-3 hours'$$, $$clock_timestamp()$$),
    ($$'20 minutes'$$, $$clock_timestamp() + interval '20 minutes'$$),
    ($$'+1 day'$$, $$clock_timestamp() + interval '1 day'$$),
    ($$' 2  Days '$$, $$clock_timestamp() + interval '2 days'$$),
    ($$'2 weeks'::text$$, $$clock_timestamp() + interval '2 weeks'$$),
    ($$'3 hours'::varchar$$, $$clock_timestamp() + interval '3 hours'$$),
    ($$'tomorrow'$$, $$'tomorrow'::timestamptz$$),
    ($$'now'$$, $$now()$$),
    ($$'2040-02-03T10:00:00Z'$$, $$'2040-02-03 10:00+00'::timestamptz$$),
    ($$'2040-02-03T10:00:00.123+01:00'$$, $$'2040-02-03 09:00:01+00'::timestamptz$$),
    ($$'2040-02-03 10:00'$$, $$'2040-02-03 15:00+00'::timestamptz$$),
    ($$'3 Feb 2040'$$, $$'2040-02-03 05:00+00'::timestamptz$$);
CREATE TEMPORARY TABLE a_payload (expression text, written text);
INSERT INTO a_payload VALUES ('', NULL), (', NULL', NULL), ($$, '{"a": 1}'$$, '{"a": 1}'),
    ($$, '{"a":  1}'::json$$, '{"a":  1}'), ($$, '{"a":  1}'::jsonb$$, '{"a": 1}'),
    ($$, '{"a": 1}'::text$$, '{"a": 1}'), ($$, '[1]'::varchar$$, '[1]'), (', NULL::jsonb', NULL),
    ($$, to_jsonb(ROW('x'))$$, '{"f1": "x"}'), ($$, 'null'::jsonb$$, 'null');

INSERT INTO tried
SELECT 'literals', call, pg_temp.filed(call, t.meant),
       concat_ws(' ', 'new: orders', k.written, 'unshipped in time', p.written)
  FROM a_key k, a_time t, a_payload p,
       LATERAL (SELECT format('SELECT prescient.enqueue(''orders'', %s, ''unshipped'', %s%s)', k.expression,
                              t.expression, p.expression) AS call) c;
INSERT INTO tried
SELECT 'names', call, pg_temp.filed(call, t.meant),
       concat_ws(' ', 'new: orders', k.written, 'unshipped in time', p.written)
  FROM a_key k, a_time t, (VALUES ('', NULL), ($$, payload => '{"a": 1}'$$, '{"a": 1}'),
                           ($$, conflict => 'replace', payload => '{"a": 1}'::jsonb, priority => 3$$,
                            '{"a": 1}'), (', priority => 3', NULL)) p (expression, written),
       LATERAL (SELECT format('SELECT prescient.enqueue(job => ''unshipped'', %s => %s, key => %s, entity => '
                              '''orders''%s)', CASE WHEN t.expression LIKE 'interval%' THEN 'check_after'
                                               ELSE 'check_at' END, t.expression, k.expression, p.expression)
                AS call) c;
INSERT INTO tried
SELECT 'a row that is pending', call, pg_temp.filed(call, t.meant), 'moved: orders 42 unshipped in time'
  FROM a_time t, LATERAL (SELECT format(
           'WITH first AS MATERIALIZED ('
           'SELECT prescient.enqueue(''orders'', 42, ''unshipped'', ''5 weeks'') AS of) '
           'SELECT prescient.reschedule(''orders'', k.key, ''unshipped'', %s) FROM first, '
           'LATERAL (SELECT CASE WHEN first.of = ''new'' THEN 42 END AS key OFFSET 0) k',
           t.expression) AS call) c;
INSERT INTO tried
SELECT 'what is not pending', call, pg_temp.filed(call, 'now()'), c.expected
  FROM a_key k, LATERAL (VALUES
       (format('SELECT prescient.resolve(''orders'', %s)', k.expression), '0: nothing'),
       (format('SELECT prescient.resolve(''orders'', %s, ''unshipped'')', k.expression), '0: nothing'),
       (format('SELECT prescient.resolve(job => NULL, key => %s, entity => ''orders'')', k.expression),
        '0: nothing'),
       (format('SELECT prescient.reschedule(''orders'', %s, ''unshipped'', ''1 day'')', k.expression),
        'not_found: nothing')) c (call, expected);

-- ---- arrays -------------------------------------------------------------------------------------

CREATE TEMPORARY TABLE some_keys (expression text, written text[]);
INSERT INTO some_keys VALUES ($$'{1,2}'$$, '{1,2}'), ('ARRAY[1, 2]', '{1,2}'),
    ('ARRAY[1, 2]::bigint[]', '{1,2}'), ('ARRAY[1, 2]::smallint[]', '{1,2}'),
    ($$ARRAY['1', '2']$$, '{1,2}'), ($$'{1,2}'::varchar[]$$, '{1,2}'),
    ($$'{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'::uuid[]$$,
     '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}'),
    ('(SELECT array_agg(i) FROM generate_series(1, 2) i)', '{1,2}');
INSERT INTO tried
SELECT 'many keys', call, pg_temp.filed(call, t.meant),
       format('(2,0,0,0): orders %s, orders %s', concat_ws(' ', k.written[1], 'unshipped in time', p.written),
              concat_ws(' ', k.written[2], 'unshipped in time', p.written))
  FROM some_keys k, a_time t, (VALUES ('', NULL), ($$, '{"a": 1}', 'replace', 3$$, '{"a": 1}'),
                               ($$, payload => '{"a": 1}'::jsonb$$, '{"a": 1}')) p (expression, written),
       LATERAL (SELECT format('SELECT prescient.enqueue_many(''orders'', %s, ''unshipped'', %s%s)',
                              k.expression, t.expression, p.expression) AS call) c;
INSERT INTO tried
SELECT 'arrays of one length', call, pg_temp.filed(call, t.meant),
       format('(2,0,0,0): orders %s, orders %s', concat_ws(' ', k.written[1], 'unshipped in time', p.one),
              concat_ws(' ', k.written[2], 'unshipped in time', p.two))
  FROM some_keys k,
       (SELECT a.expression, a.meant FROM a_time a
        UNION ALL SELECT format('ARRAY[%s, %s]', a.expression, a.expression), a.meant FROM a_time a
        UNION ALL SELECT $$'{"2040-02-03 10:00+00","2040-02-03T10:00:00Z"}'$$, $$'2040-02-03 10:00+00'$$
        UNION ALL SELECT $$'{3 hours,+3 hours}'$$, $$clock_timestamp() + interval '3 hours'$$
        UNION ALL SELECT $$'{2040-02-03,2040-02-03}'::date[]$$, $$'2040-02-03'$$) t,
       (VALUES ('', NULL, NULL), (', NULL', NULL, NULL), ($$, '{"[1]","[2]"}'$$, '[1]', '[2]'),
        ($$, ARRAY['[1]', NULL]::json[], 'earlier'$$, '[1]', NULL),
        ($$, payloads => ARRAY['{"a":1}', '"x"']::jsonb[]$$, '{"a": 1}', '"x"')) p (expression, one, two),
       LATERAL (SELECT format('SELECT prescient.enqueue_each(''{orders,orders}'', %s, %s, %s%s)',
                              k.expression, $$ARRAY['unshipped', 'unshipped']$$, t.expression,
                              p.expression) AS call) c;
-- ---- parameters without types -------------------------------------------------------------------

CREATE FUNCTION pg_temp.prepared(call text, given text, meant text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found text;
BEGIN
    EXECUTE 'PREPARE untyped AS ' || call;
    found := pg_temp.filed(format('EXECUTE untyped (%s)', given), meant);
    DEALLOCATE untyped;
    RETURN found;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
INSERT INTO tried
SELECT 'prepared', c.call || ' ' || c.given, pg_temp.prepared(c.call, c.given, c.meant), c.expected
  FROM (VALUES
    ('SELECT prescient.enqueue($1, $2, $3, $4)', $$'orders', '42', 'unshipped', '3 hours'$$,
     $$clock_timestamp() + interval '3 hours'$$, 'new: orders 42 unshipped in time'),
    ('SELECT prescient.enqueue($1, $2, $3, $4, $5)',
     $$'orders', '42', 'unshipped', '2040-02-03T10:00:00Z', '{"a": 1}'$$,
     $$'2040-02-03 10:00+00'$$, 'new: orders 42 unshipped in time {"a": 1}'),
    ('SELECT prescient.enqueue($1, $2, $3, $4, $5, $6, $7)',
     $$'orders', '42', 'unshipped', '3 hours', NULL, 'replace', 3$$,
     $$clock_timestamp() + interval '3 hours'$$, 'new: orders 42 unshipped in time'),
    ('SELECT prescient.enqueue(entity => $1, key => $2, job => $3, check_after => $4, payload => $5)',
     $$'orders', '42', 'unshipped', '3 hours', '{}'$$, $$clock_timestamp() + interval '3 hours'$$,
     'new: orders 42 unshipped in time {}'),
    ('SELECT prescient.enqueue($1, $2::bigint, $3, $4::timestamptz)',
     $$'orders', 42, 'unshipped', '2040-02-03 10:00+00'$$,
     $$'2040-02-03 10:00+00'$$, 'new: orders 42 unshipped in time'),
    ('SELECT prescient.reschedule($1, $2, $3, $4)', $$'orders', '42', 'unshipped', '3 hours'$$,
     'now()', 'not_found: nothing'),
    ('SELECT prescient.resolve($1, $2)', $$'orders', '42'$$, 'now()', '0: nothing'),
    ('SELECT prescient.resolve($1, $2, $3)', $$'orders', '42', NULL$$, 'now()', '0: nothing'),
    ('SELECT prescient.enqueue_many($1, $2, $3, $4)', $$'orders', '{1,2}', 'unshipped', '3 hours'$$,
     $$clock_timestamp() + interval '3 hours'$$,
     '(2,0,0,0): orders 1 unshipped in time, orders 2 unshipped in time'),
    ('SELECT prescient.enqueue_many($1, $2, $3, $4, $5, $6)',
     $$'orders', '{1,2}', 'unshipped', '3 hours', '{}', 'keep'$$, $$clock_timestamp() + interval '3 hours'$$,
     '(2,0,0,0): orders 1 unshipped in time {}, orders 2 unshipped in time {}'),
    ('SELECT prescient.enqueue_each($1, $2, $3, $4)', $$'{orders,orders}', '{1,2}', '{j,j}', '{now,now}'$$,
     'now()', '(2,0,0,0): orders 1 j in time, orders 2 j in time'),
    ('SELECT prescient.enqueue_each($1, $2, $3, $4, $5, $6, $7)',
     $$'{orders,orders}', '{1,2}', '{j,j}', 'now', '{"{\"a\": 1}",NULL}', 'keep', '{1,2}'$$, 'now()',
     '(2,0,0,0): orders 1 j in time {"a": 1}, orders 2 j in time')) c (call, given, meant, expected);

-- ---- triggers: NEW.id of each type --------------------------------------------------------------

CREATE FUNCTION pg_temp.triggered(key_type text, id text, at text, payload text, meant text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    found text;
BEGIN
    EXECUTE format('CREATE TEMPORARY TABLE the_order (id %s PRIMARY KEY, at timestamptz, after interval, '
                   'day date, words text, data jsonb)', key_type);
    EXECUTE format('CREATE FUNCTION pg_temp.the_order_filed() RETURNS trigger LANGUAGE plpgsql AS %L', format(
        'BEGIN PERFORM prescient.enqueue(TG_TABLE_NAME, NEW.id, ''unshipped'', %s%s); '
        'PERFORM prescient.resolve(TG_TABLE_NAME, NEW.id, ''another''); '
        'PERFORM prescient.reschedule(TG_TABLE_NAME, NEW.id, ''another'', %s); RETURN NEW; END',
        at, payload, at));
    CREATE TRIGGER filed AFTER INSERT ON the_order
        FOR EACH ROW EXECUTE FUNCTION pg_temp.the_order_filed();
    found := pg_temp.filed(format('INSERT INTO the_order VALUES (%L, %L, %L, %L, %L, %L) RETURNING id', id,
                                  '2040-02-03 10:00+00', '3 hours', '2040-02-03', '3 hours', '{"a": 1}'),
                           meant);
    DROP TABLE the_order;
    DROP FUNCTION pg_temp.the_order_filed();
    RETURN found;
END $$;
INSERT INTO tried
SELECT 'triggers', concat_ws(' ', k.type, t.expression, p.expression),
       pg_temp.triggered(k.type, k.id, t.expression, p.expression, t.meant),
       concat_ws(' ', k.id || ':', 'the_order', k.id, 'unshipped in time', p.written)
  FROM (VALUES ('integer', '42'), ('bigint', '42'), ('smallint', '42'), ('text', 'ab'), ('varchar(9)', 'ab'),
        ('uuid', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11')) k (type, id),
       (VALUES ('NEW.at', $$'2040-02-03 10:00+00'$$),
        ('NEW.after', $$clock_timestamp() + interval '3 hours'$$),
        ('NEW.day', $$'2040-02-03'$$), ('NEW.words', $$clock_timestamp() + interval '3 hours'$$),
        ($$'3 hours'$$, $$clock_timestamp() + interval '3 hours'$$)) t (expression, meant),
       (VALUES ('', NULL), (', NEW.data', '{"a": 1}'), (', to_jsonb(NEW.day)', '"2040-02-03"'),
        (', row_to_json(ROW(1))', '{"f1":1}'), (', NEW.data::text', '{"a": 1}')) p (expression, written);

-- ---- what is refused ----------------------------------------------------------------------------

INSERT INTO tried
SELECT 'refused', c.call, left(f.found, length(c.expected)), c.expected
  FROM (VALUES
    ($$enqueue('e', 1.5, 'j', now())$$,
     '42804 prescient: key is of type numeric, expected smallint, integer'),
    ($$enqueue('e', true, 'j', now())$$, '42804 prescient: key is of type boolean, expected'),
    ($$enqueue('e', now(), 'j', now())$$,
     '42804 prescient: key is of type timestamp with time zone, expected'),
    ($$enqueue('e', ARRAY[1], 'j', now())$$, '42804 prescient: key is of type integer[], expected'),
    ($$enqueue('e', '{}'::jsonb, 'j', now())$$, '42804 prescient: key is of type jsonb, expected'),
    ($$resolve('e', 1.5)$$, '42804 prescient: key is of type numeric, expected'),
    ($$reschedule('e', 1.5, 'j', now())$$, '42804 prescient: key is of type numeric, expected'),
    ($$enqueue_many('e', ARRAY[1.5], 'j', now())$$, '42804 prescient: keys is of type numeric[], expected'),
    ($$enqueue_each('{e}', ARRAY[1.5], '{j}', now())$$,
     '42804 prescient: keys is of type numeric[], expected'),
    ($$enqueue('e', NULL, 'j', now())$$, '22023 prescient: key is NULL, expected 1 to 1024 bytes of text'),
    ($$enqueue('e', NULL::bigint, 'j', now())$$, '22023 prescient: key is NULL, expected 1 to 1024 bytes'),
    ($$enqueue('e', NULL::uuid, 'j', '3 hours')$$, '22023 prescient: key is NULL, expected 1 to 1024 bytes'),
    ($$resolve('e', NULL)$$, '22023 prescient: key is NULL, expected the name of a row'),
    ($$resolve('e', NULL::bigint)$$, '22023 prescient: key is NULL, expected the name of a row'),
    ($$reschedule('e', NULL::bigint, 'j', '1 day')$$, '22023 prescient: key is NULL, expected 1 to 1024'),
    ($$enqueue_many('e', NULL, 'j', now())$$, '(0,0,0,0): nothing'),
    ($$enqueue_many('e', (SELECT array_agg(i) FROM generate_series(1, 0) i), 'j', now())$$,
     '(0,0,0,0): nothing'),
    ($$enqueue_many('e', ARRAY[1, NULL], 'j', now())$$, '22023 prescient: key is NULL, expected 1 to 1024'),
    ($$enqueue('e', 1, 'j', '3600')$$,
     '22007 prescient: check_at is ''3600'', a number without a unit; expected a time (2030-01-31 15:00, '
     'tomorrow) or an interval from now (3 hours, +3 hours)'),
    ($$enqueue('e', 1, 'j', ' -1.5 ')$$,
     '22007 prescient: check_at is '' -1.5 '', a number without a unit; exp'),
    ($$enqueue('e', 1, 'j', '+3600')$$,
     '22007 prescient: check_at is ''+3600'', a number without a unit; exp'),
    ($$enqueue('e', 1, 'j', 'soon')$$,
     '22007 prescient: check_at is ''soon''; expected a time (2030-01-31 15:00'),
    ($$enqueue('e', 1, 'j', '')$$, '22007 prescient: check_at is ''''; expected a time (2030-01-31 15:00'),
    ($$enqueue('e', 1, 'j', '++3 hours')$$, '22007 prescient: check_at is ''++3 hours''; expected a time'),
    ($$enqueue('e', 1, 'j', '+ hours')$$, '22007 prescient: check_at is ''+ hours''; expected a time'),
    ($$enqueue('e', 1, 'j', ' hours')$$, '22007 prescient: check_at is '' hours''; expected a time'),
    ($$enqueue('e', 1, 'j', '3 ho4urs')$$, '22007 prescient: check_at is ''3 ho4urs''; expected a time'),
    ($$enqueue('e', 1, 'j', '99999999 day')$$, '22008 prescient: check_at is '),
    ($$enqueue('e', 1, 'j', '9999999 week')$$, '22008 prescient: check_at is '),
    ($$enqueue('e', 1, 'j', '99999999999 days')$$, '22007 prescient: check_at is ''99999999999 days''; exp'),
    ($$enqueue('e', 1, 'j', '2030-02-30')$$, '22007 prescient: check_at is ''2030-02-30''; expected a'),
    ($$enqueue('e', 1, 'j', '2030-01-31T25:00:00Z')$$,
     '22007 prescient: check_at is ''2030-01-31T25:00:00Z''; expected'),
    ($$enqueue('e', 1, 'j', '20 d-01-02')$$, '22007 prescient: check_at is ''20 d-01-02''; expected'),
    ($$enqueue('e', 1, 'j', '3 hourz')$$, '22007 prescient: check_at is ''3 hourz''; expected a time'),
    ($$enqueue('e', 1, 'j', '2030-13-45')$$, '22007 prescient: check_at is ''2030-13-45''; expected a time'),
    ($$enqueue('e', 1, 'j', '2030-01')$$, '22007 prescient: check_at is ''2030-01''; expected a time'),
    ($$enqueue('e', 1, 'j', '2030-01-01 10:00 Nowhere/Town')$$,
     '22007 prescient: check_at is ''2030-01-01 10:00'),
    ($$enqueue('e', 1, 'j', NULL)$$, '22008 prescient: check_at is NULL, expected a time from 1970 to 9999'),
    ($$enqueue('e', 1, 'j', NULL::interval)$$, '22008 prescient: check_at is NULL, expected a time'),
    ($$enqueue('e', 1, 'j', 'infinity')$$,
     '22008 prescient: check_at is infinity, expected a time from 1970'),
    ($$enqueue('e', 1, 'j', interval '9000 years')$$, '22008 prescient: check_at is '),
    ($$enqueue_each('{e,e}', '{1,2}', '{j,j}', '{now,soon}')$$,
     '22007 prescient: check_at is ''soon''; expected'),
    ($$enqueue_many('{e,e}', '{1,2}', '{j,j}', '{now,now}')$$,
     '22007 prescient: check_at is ''{now,now}''; expec'),
    ($$enqueue_each('{e,e}', '{1,2}', '{j}', 'now')$$,
     '22023 prescient: jobs has 1 elements and entities has 2'),
    ($$enqueue('e', 1, 'j', 'now', 'abc')$$, '22P02 prescient: the payload is not JSON: ''abc'''),
    ($$enqueue('e', 1, 'j', 'now', '')$$, '22P02 prescient: the payload is not JSON: '''''),
    ($$enqueue('e', 1, 'j', 'now', ROW(1, 2))$$, '42804 prescient: payload is of type record, expec'),
    ($$enqueue('e', 1, 'j', 'now', ROW(1, NULL))$$, '42804 prescient: payload is of type record, expec'),
    ($$enqueue_many('e', '{1}', 'j', 'now', ROW(1, NULL))$$,
     '42804 prescient: payload is of type record'),
    ($$enqueue_many('e', '31', 'j', 'now')$$, '22P02 prescient: keys is ''31'', expected an array'),
    ($$enqueue_each('{e}', '{1}', '{j}', 'now', '{"a":1}'::jsonb)$$,
     '22P02 prescient: payloads is ''{"a": 1}'', expe'),
    ($$enqueue('e', 1, 'j', '31.13.2030')$$, '22007 prescient: check_at is ''31.13.2030''; expected a'),
    ($$enqueue('e', 1, 'j', '20301331')$$, '22007 prescient: check_at is ''20301331''; expected a'),
    ($$enqueue('e', 1, 'j', '')$$, '22007 prescient: check_at is ''''; expected a'),
    ($$enqueue('e', 1, 'j', 'now', '{"a": 1'::varchar)$$,
     '22P02 prescient: the payload is not JSON: ''{"a": 1'''),
    ($$enqueue_each('{e,e}', '{1,2}', '{j,j}', 'now', '{1,abc}')$$,
     '22P02 prescient: the payload is not JSON: '),
    ($$enqueue_many('e', '{1}', 'j', 'now', 'abc')$$,
     '22P02 prescient: the payload is not JSON: ''abc'''),
    ($$enqueue('e', 1, 'j', 'now', '"\u0000"')$$,
     '22023 prescient: the payload is JSON that jobs cannot read'),
    ($$enqueue('e', 1, 'j', 'now', to_json(repeat('x', 65536)))$$,
     '22023 prescient: the payload has 65538 bytes'),
    ($$enqueue('e', 1, 'j', 'now', NULL, 'sooner')$$,
     '22023 prescient: conflict is ''sooner'', expected keep'),
    ($$enqueue('e', 1, 'j', 'now', conflict => NULL)$$,
     '22023 prescient: conflict is NULL, expected keep, earl'))
    c (call, expected),
    LATERAL (SELECT pg_temp.filed('SELECT prescient.' || c.call, 'now()') AS found) f;

-- ---- the clock of tests -------------------------------------------------------------------------

SET prescient.now = '2040-02-03 10:00+00';
INSERT INTO tried
SELECT 'the clock of tests', c.call, pg_temp.filed(c.call, c.meant), c.expected
  FROM (VALUES
    ($$SELECT prescient.enqueue('e', 1, 'j', '2040-02-03 10:00+00')$$,
     $$'2040-02-03 10:15+00'$$, 'new: e 1 j in time'),
    ($$SELECT prescient.enqueue('e', 1, 'j', '2040-02-03 10:07+00')$$,
     $$'2040-02-03 10:15+00'$$, 'new: e 1 j in time'),
    ($$SELECT prescient.enqueue_many('e', '{1}', 'j', now())$$,
     $$'2040-02-03 10:15+00'$$, '(1,0,0,0): e 1 j in time'),
    ($$SELECT prescient.enqueue_each('{e}', ARRAY[1], '{j}', now())$$,
     $$'2040-02-03 10:15+00'$$, '(1,0,0,0): e 1 j in time'),
    ($$SELECT prescient.enqueue('e', 1, 'j', '3 hours')$$, $$'2040-02-03 13:00+00'$$, 'new: e 1 j in time'),
    ($$SELECT prescient.enqueue('e', 1, 'j', '+3 hours')$$, $$'2040-02-03 13:00+00'$$, 'new: e 1 j in time'),
    ($$SELECT prescient.enqueue('e', 1, 'j', interval '3 hours')$$,
     $$'2040-02-03 13:00+00'$$, 'new: e 1 j in time'),
    ($$SELECT prescient.enqueue('e', 1, 'j', 'now')$$, $$'2040-02-03 10:15+00'$$, 'new: e 1 j in time'),
    ($$SELECT prescient.enqueue('e', 1, 'j', 'tomorrow')$$,
     $$date_trunc('day', '2040-02-03 10:00+00'::timestamptz) + interval '1 day'$$, 'new: e 1 j in time'),
    ($$SELECT prescient.enqueue('e', 1, 'j', 'Tomorrow 18:30')$$,
     $$date_trunc('day', '2040-02-03 10:00+00'::timestamptz) + interval '1 day 18:30'$$,
     'new: e 1 j in time'),
    ($$SELECT prescient.enqueue_many('e', '{1}', 'j', interval '3 hours')$$,
     $$'2040-02-03 13:00+00'$$, '(1,0,0,0): e 1 j in time'),
    ($$SELECT prescient.enqueue_each('{e}', ARRAY[1], '{j}', '3 hours')$$,
     $$'2040-02-03 13:00+00'$$, '(1,0,0,0): e 1 j in time'),
    ($$SELECT prescient.enqueue_each('{e}', ARRAY[1], '{j}', '{3 hours}'::text[])$$,
     $$'2040-02-03 13:00+00'$$, '(1,0,0,0): e 1 j in time'),
    ($$SELECT prescient.enqueue_each('{e}', ARRAY[1], '{j}', ARRAY[interval '3 hours'])$$,
     $$'2040-02-03 13:00+00'$$, '(1,0,0,0): e 1 j in time')) c (call, meant, expected);
SET prescient.now = 'soon';
INSERT INTO tried
SELECT 'the clock of tests', c.call, left(pg_temp.filed(c.call, 'now()'), length(c.expected)), c.expected
  FROM (VALUES ($$SELECT prescient.enqueue('e', 1, 'j', '3 hours')$$,
                '22007 prescient: the setting prescient.now is ''soon'', expected a time'))
       c (call, expected);
SET prescient.now = 'infinity';
INSERT INTO tried
SELECT 'the clock of tests', c.call, left(pg_temp.filed(c.call, 'now()'), length(c.expected)), c.expected
  FROM (VALUES ($$SELECT prescient.reschedule('e', 1, 'j', '3 hours')$$,
                '22007 prescient: the setting prescient.now is ''infinity'', expected'))
       c (call, expected);
RESET prescient.now;

-- ---- a key with a collation that regular expressions refuse ------------------------------------

CREATE COLLATION pg_temp.ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE pg_temp.customer (k text COLLATE pg_temp.ci);
INSERT INTO pg_temp.customer VALUES ('K1');
INSERT INTO tried
SELECT 'a collation of the caller', c.call, pg_temp.filed(c.call, c.meant), c.expected
  FROM (VALUES
    ($$SELECT prescient.enqueue('e', k, 'j', now()) FROM customer$$, 'now()', 'new: e K1 j in time'),
    ($$SELECT prescient.enqueue('e', k, 'j', now(), '{}'::json) FROM customer$$,
     'now()', 'new: e K1 j in time {}'),
    ($$SELECT prescient.enqueue('e', k, 'j', now(), '{}'::text) FROM customer$$,
     'now()', 'new: e K1 j in time {}'),
    ($$SELECT prescient.enqueue('e', k, 'j', interval '3 hours', '{}'::jsonb) FROM customer$$,
     $$now() + interval '3 hours'$$, 'new: e K1 j in time {}'),
    ($$SELECT prescient.enqueue('e', k, 'j', '3 hours'::text) FROM customer$$,
     $$now() + interval '3 hours'$$, 'new: e K1 j in time'),
    ($$SELECT prescient.enqueue('e', k, 'j', '2099-02-03 10:00+00'::text) FROM customer$$,
     $$'2099-02-03 10:00+00'$$, 'new: e K1 j in time')) c (call, meant, expected);

-- ---- what was found -----------------------------------------------------------------------------

SELECT format('not ok - %s: %s: found %s, expected %s', t.sort, t.call, t.found, t.expected)
  FROM (SELECT DISTINCT ON (sort, found) * FROM tried) t WHERE t.found IS DISTINCT FROM t.expected LIMIT 20;
SELECT format('%s - %s: %s of %s calls, as expected',
              CASE WHEN count(*) FILTER (WHERE good) = count(*) THEN 'ok' ELSE 'not ok' END,
              t.sort, count(*) FILTER (WHERE good), count(*))
  FROM (SELECT t.*, t.found IS NOT DISTINCT FROM t.expected AS good FROM tried t) t
 GROUP BY t.sort ORDER BY t.sort;
