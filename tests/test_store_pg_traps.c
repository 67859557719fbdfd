/* test_store_pg_traps.c - neither the API nor an engine uses functions, operators and tables that
 * others have put on the search path. */
/* about 5 s */
#include "pg_roles_fixture.h"

#include <stdio.h>
#include <string.h>

/* Once for all tests: in "public", where up to PostgreSQL 14 everybody might create. */
static bool lay_traps(void)
{
    if (!strcmp(pgfx_cell(pgfx.app, "SELECT to_regclass('public.trapped')::text"), "public.trapped"))
        return true;
    char text[1 << 14];
    FILE *f = fopen("tests/traps.sql", "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[n] = '\0';
    if (f)
        fclose(f);
    PQclear(pgfx_ask(pgfx.app, "GRANT CREATE ON SCHEMA public TO PUBLIC"));
    PGresult *r = PQexec(pg_roles.shop, text);
    bool good = n > 0 && PQresultStatus(r) == PGRES_COMMAND_OK;
    if (!good)
        printf("      traps: %s\n", PQerrorMessage(pg_roles.shop));
    PQclear(r);
    PQclear(pgfx_ask(pgfx.app, "SET search_path = pg_catalog"));        /* the test itself steps on none */
    return good;
}

/* Whether they would be stepped on by `conn` as it is; from here on none may be. */
static void traps_work_on(PGconn *conn)
{
    CU_ASSERT_STRING_NOT_EQUAL(pgfx_cell(conn, "SELECT 1::smallint + 1::numeric"), "2");
    CU_ASSERT_STRING_NOT_EQUAL(pgfx_cell(conn, "SELECT unnest(ARRAY[1::bigint])"), "1");
    SQL_IS("2", "SELECT last_value FROM public.trapped");
    PQclear(pgfx_ask(pg_roles.shop, "ALTER SEQUENCE public.trapped RESTART"));
}

#define TRAPS_UNTOUCHED() SQL_IS("f", "SELECT is_called FROM public.trapped")

/* The caller's path, and what it has in its temporary schema, say nothing inside of the functions.
 */
static void a_callers_own_path_does_not_reach_into_the_api(void)
{
    WITH_ROLES();
    CU_ASSERT_FATAL(lay_traps());
    PQclear(pgfx_ask(pg_roles.shop,
                     "SET search_path = public, pg_temp, pg_catalog; CREATE TEMP TABLE future_job (id "
                     "int); CREATE TEMP TABLE pg_inherits (x int);"
                     "CREATE TEMP TABLE pg_class (oid int); CREATE TEMP TABLE setting (x int)"));
    traps_work_on(pg_roles.shop);
    SHOP_IS(
        "new",
        "SELECT prescient.enqueue('e'::pg_catalog.text, '1', 'j', '2030-01-01 00:00+00'::timestamptz, '{}')");
    SHOP_IS("kept", "SELECT prescient.enqueue('e'::pg_catalog.text, '1', 'j', interval '1 hour')");
    SHOP_IS("moved",
            "SELECT prescient.enqueue('e'::pg_catalog.text, '1', 'j', '+1h'::text, NULL, 'earlier')");
    SHOP_IS("replaced", "SELECT prescient.enqueue('e'::pg_catalog.text, '1', 'j', '2030-01-01 "
                        "00:00+00'::timestamptz, '{\"a\": 1}', 'replace', 7)");
    SHOP_IS("(1,1,0,0)", "SELECT prescient.enqueue_each(ARRAY['e', 'e'], ARRAY['1', '2'], ARRAY['j', 'j'], "
                         "ARRAY['2030-01-01 00:00+00', '2030-01-01 00:00+00']::timestamptz[])");
    SHOP_IS("(1,1,0,0)",
            "SELECT prescient.enqueue_many('e', ARRAY['2', '3'], 'j', '2030-01-01 00:00+00'::timestamptz)");
    SHOP_IS(
        "moved",
        "SELECT prescient.reschedule('e'::pg_catalog.text, '2', 'j', '2031-01-01 00:00+00'::timestamptz)");
    SHOP_IS("moved", "SELECT prescient.reschedule('e'::pg_catalog.text, '2', 'j', interval '1 day')");
    SHOP_IS("moved",
            "SELECT prescient.reschedule('e'::pg_catalog.text, '2', 'j', '2031-01-01 00:00+00'::text)");
    SHOP_IS("1", "SELECT prescient.resolve('e', '3')");
    TRAPS_UNTOUCHED();
    SQL_IS("2", "SELECT count(*) FROM prescient.future_job");
    PQclear(pgfx_ask(pg_roles.shop, "RESET search_path; DISCARD TEMP"));
}

/* All that an engine asks in the life of checks. */
static void live_as_an_engine(const char *keys_before)
{
    struct pgfx_run run;
    struct effect effects[] = {
        { .kind = EFFECT_EMIT, .event = "late", .json = "{\"a\": 1}" },
        { .kind = EFFECT_ENQUEUE,
          .entity_name = "f",
          .entity_key = keys_before,
          .job = "j",
          .at = SLOT + 9000,
          .json = "{}",
          .conflict = "replace" },
        { .kind = EFFECT_RESOLVE, .entity_name = "g", .entity_key = "1" },
    };
    pgfx_run_init(&run, 6);
    run.s[1].effects = effects;
    run.s[1].neffects = 3;
    run.s[2] = pgfx_again(&run.page.checks[2], SLOT + 2 * LENGTH);
    struct store_settle settle = pgfx_settle_of(&run.lease, run.s, 3);
    RC_IS(0, pgfx_call(&settle.call));
    settle = pgfx_settle_of(&run.lease, run.s + 3, 3);
    settle.skip_locked = true;
    RC_IS(0, pgfx_call(&settle.call));
    struct store_renew renew = STORE_RENEW_INIT;
    renew.leases = &run.lease;
    renew.n = 1;
    renew.lease_s = 60;
    RC_IS(0, pgfx_call(&renew.call));
    struct store_finish finish = STORE_FINISH_INIT;
    finish.lease = run.lease;
    RC_IS(0, pgfx_call(&finish.call));
    check_rows_free(&run.page);
    struct relook_slot slots[4];
    struct store_relook relook = pgfx_relook(slots);
    (void)relook;
    struct store_late_slot late = STORE_LATE_SLOT_INIT;
    late.before = SLOT + 100 * LENGTH;
    RC_IS(0, pgfx_call(&late.call));
    struct store_mark_swept mark = STORE_MARK_SWEPT_INIT;
    mark.slot = SLOT - LENGTH;
    RC_IS(0, pgfx_call(&mark.call));
    RC_IS(0, pgfx_call(&mark.call));
    struct store_keep_days days = STORE_KEEP_DAYS_INIT;
    days.days = 9;
    RC_IS(0, pgfx_call(&days.call));
    days.days = 0;
    RC_IS(0, pgfx_call(&days.call));
}

static void ask_everything(void)
{
    static const struct { const char *name; int nparams; const char *params[8];
    } all[] = {
        { "enqueue", 8, { "h", "1", "j", "1772388000", "{}", "keep", "3", "1772370000" } },
        { "enqueue", 8, { "h", "1", "j", "1772388000", NULL, "replace", NULL, NULL } },
        { "reschedule", 5, { "h", "1", "j", "1772398000", "1772370000" } },
        { "resolve", 4, { "h", "1", NULL, "1772370000" } },
        { "retry_found", 4, { NULL } },
        { "retry_found", 4, { "e", "1", "look", "0" } },
        { "retry", 4, { "[[\"e\", \"1\", \"look\", 1772370000000000]]", "1772370000000000", "2000000000",
                        "1772370000" } },
        { "list", 6, { "e", NULL, NULL, "0", "2000000000", "10" } },
        { "list", 0, { NULL } },
        { "history", 7, { "e", "1", "look", "done", "0", "2000000000", "10" } },
        { "history", 0, { NULL } },
        { "runs", 7, { "e", "1", "look", "again", "0", "2000000000", "10" } },
        { "runs", 0, { NULL } },
        { "slots", 3, { "0", "2000000000", "10" } },
        { "slots", 0, { NULL } },
        { "passes", 3, { "0", "2000000000", "10" } },
        { "passes", 0, { NULL } },
        { "status", 1, { "1772370000" } },
        { "status", 0, { NULL } },
        { "leases", 0, { NULL } },
        { "put_off", 1, { "10" } },
        { "put_off", 0, { NULL } },
        { "jobs_pending", 0, { NULL } },
        { "growth", 0, { NULL } },
        { "events", 4, { NULL, NULL, NULL, "10" } },
        { "events_end", 0, { NULL } },
        { "doctor", 1, { "1772370000" } },
        { "doctor", 0, { NULL } },
        { "whole", 1, { "1" } },
        { "plan", 1, { "1772370000" } },
        { "plan", 0, { NULL } },
    };
    struct arena *a = arena_new(4096);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct store_report r = pgfx_report(a, all[i].name, all[i].nparams, all[i].params);
        if (r.call.rc < 0)
            printf("      %s: %s\n", all[i].name, r.call.err.text);
        CU_ASSERT_EQUAL(r.call.rc, 0);
    }
    arena_free(a);
}

static void load_and_prune(void)
{
    struct load_row rows[] = { { "l", "1", "j", "{\"a\": 1}", SLOT - 10, 3, NULL, NULL },
                               { "l", "2", "j", NULL, SLOT + 1, 0, NULL, NULL } };
    struct load_counts counts;
    struct prune_counts pruned;
    int bad;
    RC_IS(0, store_load(pgfx.st, rows, 2, "keep", NOW - LENGTH, &counts, &bad, &pgfx.err));
    RC_IS(0, store_load(pgfx.st, rows, 2, "replace", 0, &counts, &bad, &pgfx.err));
    RC_IS(0, store_prune(pgfx.st, SLOT + 1000000, true, &pruned, &pgfx.err));
    RC_IS(0, store_prune(pgfx.st, SLOT - 1000000, false, &pruned, &pgfx.err));
}

static void what_others_lay_on_an_engines_path_is_not_stepped_on(void)
{
    WITH_ROLES();
    CU_ASSERT_FATAL(lay_traps());
    traps_work_on(pgfx.other);                  /* who is superuser, and whose path is the usual one */
    struct store *own = pgfx.st;
    const struct {
        const char *url;
        bool unprepared, owns;
    } who[] = { { pg_roles.runner_url, false, false },
                { pg_roles.runner_url, true, false },
                { pgfx.db.url, false, true } };
    for (size_t i = 0; i < sizeof who / sizeof *who; i++) {
        CU_ASSERT_FATAL(pgfx_begin());
        pgfx.st = pgfx_new_store(
            &(struct store_options){ .url = who[i].url, .unprepared = who[i].unprepared });
        live_as_an_engine(i == 0 ? "1" : "2");
        ask_everything();
        load_and_prune();
        struct migrate_options migrate = { .dry_run = !who[i].owns };
        RC_IS(0, store_migrate(pgfx.st, &migrate, &pgfx.err));
        TRAPS_UNTOUCHED();
        store_free(pgfx.st);
    }
    pgfx.st = own;
}

static const struct test tests[] = {
    TEST(a_callers_own_path_does_not_reach_into_the_api),
    TEST(what_others_lay_on_an_engines_path_is_not_stepped_on),
    { NULL, NULL },
};

const struct suite suite_store_pg_traps = { "store_pg_traps", pg_roles_setup, pg_roles_teardown, tests };
