/* test_store_pg_collations.c - the SQL API touches the row that is named, byte for byte, also where
 * the caller's columns have a collation for which other rows have the same name. */
#include "pg_roles_fixture.h"

#include <stdio.h>
#include <string.h>

/* What the calls are given: a row whose texts have a collation that knows no case, and keys whose
 * twins in capitals lie in the same bucket, so that an index on buckets keeps none of them away. */
static const char given[] =
    "CREATE COLLATION public.any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);"
    "CREATE TABLE public.given (entity text COLLATE any_case DEFAULT 'orders', key text COLLATE any_case,"
    " number integer, job text COLLATE any_case DEFAULT 'noop', name text COLLATE any_case DEFAULT 'nightly',"
    " check_at text COLLATE any_case DEFAULT '5 days', conflict text COLLATE any_case DEFAULT 'replace',"
    " payload text COLLATE any_case DEFAULT '{\"a\": 1}', missed text COLLATE any_case DEFAULT 'skip',"
    " why text COLLATE any_case DEFAULT 'it rains', reason text COLLATE any_case DEFAULT 'it rains',"
    " schedule text COLLATE any_case, cron text COLLATE any_case, timezone text COLLATE any_case);"
    "INSERT INTO public.given (key, number)"
    " SELECT (SELECT 'ab' || n FROM generate_series(1, 1000000) n"
    "          WHERE prescient.bucket_of('orders', 'ab' || n) = prescient.bucket_of('orders', 'AB' || n)"
    "            AND prescient.bucket_of('orders', 'ab' || n) = prescient.bucket_of('ORDERS', 'ab' || n)"
    "          LIMIT 1),"
    "        (SELECT n FROM generate_series(1, 1000000) n"
    "          WHERE prescient.bucket_of('orders', n::text) = prescient.bucket_of('ORDERS', n::text)"
    "          LIMIT 1);"
    "GRANT SELECT ON public.given TO " SHOP;

/* False, in words, where the server has no such collation. */
static bool any_case_begin(void)
{
    if (!pg_roles.shop)
        return false;
    if (!strcmp(pgfx_cell(pgfx.app, "SELECT count(*) FROM pg_collation WHERE collprovider = 'i'"), "0")) {
        printf("      not tested: this server is built without ICU\n");
        return false;
    }
    if (!strcmp(pgfx_cell(pgfx.app, "SELECT to_regclass('public.given') IS NULL"), "t"))
        SQL_IS("", "%s", given);
    SQL_IS("1 1", "SELECT count(o.key) || ' ' || count(o.number) FROM public.given o");
    return true;
}

#define WITH_ANY_CASE() WITH_SERVER(); if (!any_case_begin()) return

/* All functions with their owner's rights that applications and operators call with a text, and a
 * call of each. A parameter has the value of the column of its name, unless one stands here; what
 * is no text may have its default. */
static const char calls[] =
    "WITH value (parameter, type, given) AS (VALUES ('key', 'anyelement', 'o.number'),"
    "    ('keys', 'anyarray', 'ARRAY[o.number]'), ('keys', 'text', 'ARRAY[o.key]::text'),"
    "    ('entities', 'text[]', 'ARRAY[o.entity]'), ('jobs', 'text[]', 'ARRAY[o.job]'),"
    "    ('payloads', 'anycompatible', 'ARRAY[o.payload]'), ('check_ats', 'text', 'o.check_at'),"
    "    ('check_ats', 'text[]', 'ARRAY[o.check_at]'), ('check_ats', 'interval', 'interval ''5 days'''),"
    "    ('check_ats', 'interval[]', 'ARRAY[interval ''5 days'']'),"
    "    ('check_ats', 'timestamp with time zone', 'now()'),"
    "    ('check_ats', 'timestamp with time zone[]', 'ARRAY[now()]'),"
    "    ('check_at', 'timestamp with time zone', 'now()'),"
    "    ('check_after', 'interval', 'interval ''5 days'''),"
    "    ('every', 'interval', 'interval ''5 days'''),"
    "    ('after', 'text', '''0-0-0'' COLLATE public.any_case'),"
    "    ('concurrency_key', 'text', 'o.key'), ('concurrency_keys', 'text[]', 'ARRAY[o.key]'),"
    "    ('tenant', 'text', 'o.key'), ('tenants', 'text[]', 'ARRAY[o.key]'),"
    "    ('uniqids', 'text[]', 'ARRAY[o.key]'), ('contents', 'text[]', 'ARRAY[o.key]'),"
    "    ('keys', 'text[]', 'ARRAY[o.key]'), ('payloads', 'text[]', 'ARRAY[NULL::text]'),"
    "    ('conflicts', 'text[]', 'ARRAY[''replace'' COLLATE public.any_case]'),"
    "    ('times', 'bigint[]', 'ARRAY[4000000500]'), ('are_after', 'integer[]', 'ARRAY[0]'),"
    "    ('within_s', 'bigint[]', 'ARRAY[0]'), ('priorities', 'integer[]', 'ARRAY[0]'),"
    "    ('keep_s', 'bigint', '60'), ('of_uniqid', 'text', 'o.key'),"
    "    ('pattern', 'text', 'o.key'), ('places', 'integer', '2'),"
    "    ('change', 'text', '''resolve'' COLLATE public.any_case'),"
    "    ('checks', 'json', 'json_build_array(json_build_array(o.entity, o.key, o.job))'),"
    "    ('mode', 'text', '''set'' COLLATE public.any_case'),"
    "    ('wanted', 'json', 'json_build_object(''name'', o.name, ''every_s'', 9000)'),"
    "    ('who', 'text', '''anna'' COLLATE public.any_case'),"
    "    ('part', 'text', '''job'' COLLATE public.any_case'),"
    "    ('delivery', 'text', '''hook/0123456789abcdef0123456789abcdef'''))"
    "SELECT p.oid::regprocedure, p.proname, format('SELECT prescient.%I(%s) FROM public.given o', p.proname,"
    "       string_agg(a.name || ' => ' || coalesce(CASE WHEN p.proname IN ('pause', 'resume')"
    "                                                     AND a.name IN ('entity', 'tenant') THEN 'NULL' END,"
    "                                               v.given, 'o.' || a.name), ', ' ORDER BY a.n))"
    "  FROM pg_proc p, LATERAL (SELECT n, quote_ident(p.proargnames[n]) AS name,"
    "                                  t.oid::regtype::text AS type,"
    "                                  t.typcollation <> 0 OR t.typtype = 'p' AS is_text"
    "                             FROM unnest(p.proargtypes) WITH ORDINALITY u (type, n)"
    "                             JOIN pg_type t ON t.oid = u.type) a"
    "  LEFT JOIN value v ON v.parameter = a.name AND v.type = a.type"
    " WHERE p.pronamespace = 'prescient'::regnamespace AND p.prosecdef"
    "   AND p.proname <> 'drop_old_day' AND (a.is_text OR v.given IS NOT NULL)"
    " GROUP BY p.oid, p.proname HAVING bool_or(a.is_text) ORDER BY p.oid::regprocedure::text";

/* What each answers when it has found the one row. NULL: another test reads it. */
static const struct { const char *function, *answer; } answers[] = {
    { "enqueue", "replaced" },      { "enqueue_now", "replaced" },  { "enqueue_many", "(0,0,0,1)" },
    { "enqueue_each", "(0,0,0,1)" }, { "reschedule", "moved" },     { "resolve", "1" },
    { "pending", "2 rows " },       { "filed_at", NULL },           { "schedule", "changed" },
    { "schedule_set", "changed" },  { "schedule_on", "t" },         { "schedule_off", "t" },
    { "unschedule", "t" },          { "pause", "paused" },          { "resume", "resumed" },
    { "set_concurrency", "set" },   { "resolve_doubt", NULL },
    { "event_of", "0 rows " },      /* finds it by a uuid */
    { "events_after", "0 rows " },  /* nothing was emitted */
    { "runs_by", "0 rows " },       /* nothing has run */
    { "post_checks", "(1,f,f,replaced," },      /* and the id */
    { "row_events", "0 rows " },    /* nothing was emitted */
    { "change_checks", "(orders," }, /* and the key */
    { "change_schedule", "(changed," },
    { "change_delivery", "(unknown," },          /* there is none */
    { "request_of", "0 rows " },    /* its twin was asked for */
};

/* The row of `given` waits, once by each of its keys; so do its twins, a day before and after it.
 * Checks by its key have schedules, and the job of a twin is paused. */
static void put_row_and_twins(const char *function)
{
    PQclear(pgfx_ask(pgfx.app, "TRUNCATE prescient.future_job, prescient.schedule, prescient.pause"));
    SQL_IS("7", "SELECT count(prescient.enqueue(w.entity, w.key, w.job, w.days * interval '1 day'))"
                "  FROM public.given o, LATERAL (VALUES ('ORDERS', o.key::text, 'noop', 9),"
                "       ('orders', upper(o.key COLLATE \"C\"), 'noop', 9), ('orders', o.key, 'noop', 10),"
                "       ('orders', o.key, 'NOOP', 11), ('ORDERS', o.number::text, 'noop', 9),"
                "       ('orders', o.number::text, 'noop', 10), ('orders', o.number::text, 'NOOP', 11))"
                "       w (entity, key, job, days)");
    SQL_IS("4", "SELECT count(prescient.schedule(w.name, w.entity, w.key, w.job, every => '2 hours'))"
                "  FROM public.given o, LATERAL (VALUES ('nightly', 'orders', o.key::text, 'noop'),"
                "       ('NIGHTLY', 'orders', upper(o.key COLLATE \"C\"), 'noop'),"
                "       ('Nightly', 'ORDERS', o.key, 'noop'), ('nightlY', 'orders', o.key, 'NOOP'))"
                "       w (name, entity, key, job)");
    SQL_IS("paused", "SELECT prescient.pause(job => 'NOOP')");
    PQclear(pgfx_ask(pgfx.app, "TRUNCATE prescient.request;"
                               "INSERT INTO prescient.request (uniqid, content, kept_until)"
                               " SELECT upper(o.key COLLATE \"C\"), '', 'infinity' FROM public.given o"));
    if (!strcmp(function, "resume"))
        SQL_IS("paused", "SELECT prescient.pause(job => 'noop')");
    if (!strcmp(function, "schedule_on"))
        SQL_IS("4", "SELECT count(prescient.schedule_off(s.name)) FROM prescient.schedule s");
}

static const char twins[] =
    "SELECT md5(string_agg(w.row, '|' ORDER BY w.row)) FROM"
    " (SELECT f::text FROM prescient.future_job f, public.given o"
    "   WHERE (f.entity_name <> 'orders' OR f.entity_key COLLATE \"C\" NOT IN (o.key, o.number::text)"
    "          OR f.job_exec <> 'noop')"
    "  UNION ALL SELECT s::text FROM prescient.schedule s WHERE s.name <> 'nightly'"
    "  UNION ALL SELECT p::text FROM prescient.pause p WHERE p.name <> 'noop') w (row)";

/* The answer to a call, or its failure. */
static void call_it(const char *call, char out[1000])
{
    PGresult *r = PQexec(pgfx.app, call);
    if (PQntuples(r) == 1)
        snprintf(out, 1000, "%s", PQgetvalue(r, 0, 0));
    else
        snprintf(out, 1000, "%d rows %s", PQntuples(r), PQresultErrorMessage(r));
    PQclear(r);
}

/* Of a row, the columns that are known. */
static bool begins_so(const char *known, const char *answer)
{
    bool is_cut = known[strlen(known) - 1] == ',';
    return is_cut ? !strncmp(known, answer, strlen(known)) : !strcmp(known, answer);
}

static bool is_right_answer(const char *function, const char *answer)
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (!strcmp(answers[i].function, function))
            return answers[i].answer ? begins_so(answers[i].answer, answer) : !strstr(answer, " rows ");
    return false;
}

static void each_function_touches_the_row_that_is_named(void)
{
    WITH_ANY_CASE();
    PGresult *all = PQexec(pgfx.app, calls);
    CU_ASSERT(PQntuples(all) >= 45);
    for (int i = 0; i < PQntuples(all); i++) {
        const char *function = PQgetvalue(all, i, 1), *call = PQgetvalue(all, i, 2);
        char before[64], answer[1000];
        put_row_and_twins(function);
        snprintf(before, sizeof before, "%s", pgfx_cell(pgfx.app, "%s", twins));
        call_it(call, answer);
        bool is_right = is_right_answer(function, answer);
        bool is_kept = !strcmp(before, pgfx_cell(pgfx.app, "%s", twins));
        if (!is_right || !is_kept)
            printf("      %s: %s%s\n", call, answer, is_kept ? "" : "; it touched other rows");
        CU_ASSERT(is_right);
        CU_ASSERT(is_kept);
    }
    PQclear(all);
}

static void a_row_is_read_and_not_its_twins(void)
{
    WITH_ANY_CASE();
    put_row_and_twins("filed_at");
    SHOP_IS("t", "SELECT prescient.filed_at(o.entity, o.number::text, o.job) ="
                 " prescient.slot_ceil(now() + interval '10 days') FROM public.given o");
    SHOP_IS("NOOP,noop", "SELECT string_agg(w.job_exec, ',' ORDER BY w.job_exec COLLATE \"C\")"
                         "  FROM public.given o, LATERAL prescient.pending(o.entity, o.key) w");
}

/* Rows of one call whose names differ in nothing but case are as many rows. */
static void twins_in_one_call_are_two_rows(void)
{
    WITH_ANY_CASE();
    SHOP_IS("(2,0,0,0)", "SELECT prescient.enqueue_each(ARRAY[o.entity, o.entity],"
                         " ARRAY[o.key, upper(o.key)], ARRAY[o.job, o.job], '5 days') FROM public.given o");
    SHOP_IS("(1,1,0,0)", "SELECT prescient.enqueue_each(ARRAY[o.entity, upper(o.entity)],"
                         " ARRAY[o.key, o.key], ARRAY[o.job, o.job], '5 days') FROM public.given o");
}

/* Words of the API are not read in capitals because a caller's column has no case. */
static void words_of_the_api_are_as_they_are_documented(void)
{
    WITH_ANY_CASE();
    SHOP_IS("22023", "SELECT prescient.enqueue(o.entity, o.key, o.job, '5 days',"
                     " conflict => upper(o.conflict)) FROM public.given o");
    SHOP_IS("22023", "SELECT prescient.enqueue_now(o.entity, o.key, o.job, conflict => upper(o.conflict))"
                     "  FROM public.given o");
}

static const struct test tests[] = {
    TEST(each_function_touches_the_row_that_is_named),
    TEST(a_row_is_read_and_not_its_twins),
    TEST(twins_in_one_call_are_two_rows),
    TEST(words_of_the_api_are_as_they_are_documented),

    { NULL, NULL },
};

const struct suite suite_store_pg_collations = { "store_pg_collations", pg_roles_setup, pg_roles_teardown,
                                                 tests };
