-- traps.sql - what somebody who may create objects in a schema on another's search_path would lay
-- there (up to PostgreSQL 14 that was anybody, in "public"): operators and functions of the usual
-- names, for types that pg_catalog has none for exactly, since those win over any that need a cast.
-- Each counts in a sequence, which no rollback takes back, and fails.
-- Run as that somebody.
CREATE SEQUENCE public.trapped;
GRANT USAGE, SELECT ON SEQUENCE public.trapped TO PUBLIC;
GRANT USAGE ON SCHEMA public TO PUBLIC;

CREATE FUNCTION public.spring(what text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    PERFORM nextval('public.trapped');
    RAISE EXCEPTION 'trapped % in %', current_user, what;
END $$;

DO $$
DECLARE
    types constant text[] := ARRAY['smallint', 'integer', 'bigint', 'double precision', 'numeric', 'text',
                                   'name', 'varchar', 'boolean', 'timestamptz', 'date', 'interval', 'json',
                                   'uuid', 'xid8', 'oid', 'text[]', 'integer[]', 'bigint[]',
                                   'timestamptz[]'];
    l text;
    r text;
    op text;
    result text;
BEGIN
    FOREACH l IN ARRAY types LOOP
        FOREACH r IN ARRAY types LOOP
            FOREACH result IN ARRAY ARRAY['boolean', 'text', 'double precision', 'timestamptz'] LOOP
                EXECUTE format('CREATE FUNCTION public.%I(%s, %s) RETURNS %s LANGUAGE plpgsql '
                               'AS $b$ BEGIN PERFORM public.spring(%L); RETURN NULL; END $b$',
                               'to_' || result, l, r, result, format('operator (%s, %s)', l, r));
            END LOOP;
            FOREACH op IN ARRAY ARRAY['=', '<>', '<', '<=', '>', '>=', '+', '-', '*', '/', '||', '~'] LOOP
                CONTINUE WHEN EXISTS (SELECT FROM pg_catalog.pg_operator o
                                      WHERE o.oprname = op AND o.oprnamespace = 'pg_catalog'::regnamespace
                                         AND o.oprleft = l::regtype AND o.oprright = r::regtype);
                EXECUTE format('CREATE OPERATOR public.%s (LEFTARG = %s, RIGHTARG = %s, '
                               'FUNCTION = public.%I)',
                               op, l, r,
                               CASE WHEN op = '||' THEN 'to_text'
                                    WHEN op NOT IN ('+', '-', '*', '/') THEN 'to_boolean'
                                    WHEN l = 'timestamptz' THEN 'to_timestamptz'
                                    ELSE 'to_double precision' END);
            END LOOP;
        END LOOP;
    END LOOP;
END $$;

DO $$
DECLARE
    types constant text[] := ARRAY['smallint', 'integer', 'bigint', 'numeric', 'text', 'name', 'varchar',
                                   'timestamptz', 'date', 'interval', 'json', 'text[]', 'integer[]',
                                   'bigint[]', 'timestamptz[]'];
    f text;
    args text;
    result text;
BEGIN
    FOR f, args, result IN
        SELECT n.name, a.args, coalesce((SELECT min(format_type(p.prorettype, NULL)) FROM pg_catalog.pg_proc p
                                          WHERE p.proname = n.name
                                            AND p.pronamespace = 'pg_catalog'::regnamespace
                                            AND p.prorettype NOT IN (SELECT oid FROM pg_type
                                                                      WHERE typtype = 'p')), 'text')
          FROM unnest(ARRAY['count', 'min', 'max', 'sum', 'array_agg', 'string_agg', 'unnest',
                            'cardinality', 'array_length', 'array_fill', 'floor', 'ceil', 'abs', 'round',
                            'left', 'right', 'length', 'octet_length', 'substr', 'format', 'to_char',
                            'to_date', 'to_json', 'to_timestamp', 'date_part', 'extract', 'split_part',
                            'get_byte', 'sha256', 'convert_to', 'set_config', 'current_setting', 'nextval',
                            'generate_series', 'width_bucket', 'pg_advisory_xact_lock', 'hashtext',
                            'to_regclass', 'age', 'repeat', 'lpad', 'concat', 'row_number', 'power'])
                 n (name),
               LATERAL (SELECT t AS args FROM unnest(types) t UNION ALL
                        SELECT t || ', ' || u FROM unnest(types) t, unnest(types) u
                         WHERE n.name IN ('format', 'to_char', 'date_part', 'left', 'right', 'width_bucket',
                                          'generate_series', 'split_part', 'set_config',
                                          'current_setting', 'string_agg')) a
         WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.proname = n.name
                           AND p.pronamespace = 'pg_catalog'::regnamespace
                           AND oidvectortypes(p.proargtypes) =
                               (SELECT string_agg(format_type(x::regtype, NULL), ', ' ORDER BY o)
                                  FROM unnest(string_to_array(a.args, ', ')) WITH ORDINALITY y (x, o)))
    LOOP
        EXECUTE format('CREATE FUNCTION public.%I(%s) RETURNS %s LANGUAGE plpgsql '
                       'AS $b$ BEGIN PERFORM public.spring(%L); RETURN NULL; END $b$',
                       f, args, result, format('%s(%s)', f, args));
    END LOOP;
END $$;
