/* test_store_pg_narrow.c - the program for a user who may read no table: the commands of an
 * application and of an operator go through the functions that it may call, and a right that is
 * missing is told with its GRANT. */
#include "pg_roles_fixture.h"

#include <stdio.h>
#include <string.h>

#include "../engine/store/store_pg.h"

static struct store *store_as(const char *url, const char *role)
{
    struct store_options options = { .url = url, .role = role };
    return pgfx_new_store(&options);
}

static int ask_as(struct store *st, struct arena *a, const char *name, int n, const char *const *params,
                  struct store_report *r)
{
    *r = (struct store_report)STORE_REPORT_INIT;
    r->name = name;
    r->nparams = n;
    r->params = params;
    r->arena = a;
    int rc = store_do(st, &r->call);
    pgfx.err = r->call.err;
    return rc;
}

#define SAYS(words)                                                                                          \
    do {                                                                                                     \
        if (!strstr(pgfx.err.text, words))                                                                   \
            printf("      line %d: %s\n", __LINE__, pgfx.err.text);                                          \
        CU_ASSERT_PTR_NOT_NULL(strstr(pgfx.err.text, words));                                                \
    } while (0)

static void an_enqueuer_uses_the_program(void)
{
    WITH_ROLES();
    struct arena *a = arena_new(4096);
    struct store *st = store_as(pg_roles.shop_url, "prescient_enqueuer");
    struct store_hello hello = STORE_HELLO_INIT;
    struct store_report r;
    RC_IS(0, store_do(st, &hello.call));
    CU_ASSERT_EQUAL(hello.slot_length_s, LENGTH);
    CU_ASSERT(hello.schema_version > 0);
    static const char *const far[] = { "orders", "42", "unshipped", "4102444800", "{}", "keep", "3", NULL };
    static const char *const near[] = {
        "orders", "42", "unshipped", "4102440000", NULL, "earlier", "0", NULL
    };
    RC_IS(0, ask_as(st, a, "enqueue", 8, far, &r));
    CU_ASSERT_STRING_EQUAL(r.rows.cells[0], "new");
    CU_ASSERT_STRING_EQUAL(r.rows.cells[1], "4102444800");
    RC_IS(0, ask_as(st, a, "enqueue", 8, near, &r));
    CU_ASSERT_STRING_EQUAL(r.rows.cells[0], "moved");
    CU_ASSERT_STRING_EQUAL(r.rows.cells[1], "4102440300");
    RC_IS(0, ask_as(st, a, "enqueue", 8, far, &r));
    CU_ASSERT_STRING_EQUAL(r.rows.cells[0], "kept");
    CU_ASSERT_STRING_EQUAL(r.rows.cells[1], "4102440300");
    static const char *const moved[] = { "orders", "42", "unshipped", "4102444800", NULL };
    static const char *const nothing[] = { "orders", "42", "unpaid", "4102444800", NULL };
    RC_IS(0, ask_as(st, a, "reschedule", 5, moved, &r));
    CU_ASSERT_STRING_EQUAL(r.rows.cells[0], "moved");
    CU_ASSERT_STRING_EQUAL(r.rows.cells[1], "4102444800");
    RC_IS(0, ask_as(st, a, "reschedule", 5, nothing, &r));
    CU_ASSERT_STRING_EQUAL(r.rows.cells[0], "not_found");
    CU_ASSERT_PTR_NULL(r.rows.cells[1]);
    static const char *const gone[] = { "orders", "42", NULL, NULL };
    RC_IS(0, ask_as(st, a, "resolve", 4, gone, &r));
    CU_ASSERT_STRING_EQUAL(r.rows.cells[0], "1");
    store_free(st);
    arena_free(a);
}

static void an_enqueuer_loads_many(void)
{
    WITH_ROLES();
    struct store *st = store_as(pg_roles.shop_url, "prescient_enqueuer");
    struct load_row rows[] = {
        { .entity_name = "orders", .entity_key = "1", .job_exec = "j", .at = 4102444800 },
        { .entity_name = "orders", .entity_key = "2", .job_exec = "j", .at = 4102444800, .payload = "{}" },
        { .entity_name = "orders", .entity_key = "1", .job_exec = "j", .at = 4102444800 },
    };
    struct load_counts counts = { 0 };
    int bad = -1;
    RC_IS(0, store_load(st, rows, 3, "keep", 0, &counts, &bad, &pgfx.err));
    CU_ASSERT(counts.added == 2 && counts.kept == 1);
    rows[1].payload = "{";
    CU_ASSERT(store_load(st, rows, 3, "keep", 0, &counts, &bad, &pgfx.err) < 0);
    store_free(st);
    /* virtual time goes into the table itself */
    st = store_as(pg_roles.shop_url, NULL);
    CU_ASSERT(store_load(st, rows, 1, "keep", NOW, &counts, &bad, &pgfx.err) < 0);
    SAYS("permission denied for table future_job (user " SHOP "). As a superuser or an admin of that role "
         "run: GRANT prescient_engine");
    store_free(st);
}

/* The first column of the first row of a report; NULL is "". */
static void says(struct store *st, const char *expected, const char *name, int n, const char *const *params)
{
    struct arena *a = arena_new(4096);
    struct store_report r;
    RC_IS(0, ask_as(st, a, name, n, params, &r));
    const char *found = r.rows.rows && r.rows.cells[0] ? r.rows.cells[0] : "";
    if (strcmp(found, expected) != 0)
        printf("      %s: %s\n", name, found);
    CU_ASSERT_STRING_EQUAL(found, expected);
    arena_free(a);
}

static void an_operator_changes_by_functions_what_it_may_not_read(void)
{
    WITH_ROLES();
    SQL_IS("", "GRANT prescient_operator TO " NOBODY);
    struct store *st = store_as(pg_roles.nobody_url, "prescient_operator");
    static const char *const acme[] = { NULL, NULL, NULL, "acme", "moving" };
    static const char *const again[] = { "mail/1", NULL };
    static const char *const add[] = { "add",  "nightly", "orders", "1",  "look", "3600", NULL,
                                       NULL,   NULL,      NULL,     "{}", NULL,   NULL,   NULL };
    static const char *const set[] = { "set", "absent", NULL, NULL, NULL, "60", NULL,
                                       NULL,  NULL,     NULL, NULL, NULL, NULL, NULL };
    static const char *const off[] = { "nightly", "false", "moving", NULL };
    static const char *const absent[] = { "absent", "false", NULL, NULL };
    static const char *const gone[] = { "nightly", NULL };
    says(st, "paused", "pause", 5, acme);
    says(st, "resumed", "resume", 4, acme);
    says(st, "unknown", "deliver_again", 2, again);
    says(st, "new", "schedule_put", 14, add);
    says(st, "not_found", "schedule_put", 14, set);
    says(st, "t", "schedule_switch", 4, off);
    says(st, "f", "schedule_switch", 4, off);
    says(st, "", "schedule_switch", 4, absent);
    says(st, "t", "schedule_remove", 2, gone);
    says(st, "f", "schedule_remove", 2, gone);
    SQL_IS("schedule-off moving", "SELECT change || ' ' || reason FROM prescient.audit WHERE change = "
                                  "'schedule-off' AND done_by = '" NOBODY "'");
    SQL_IS("", "REVOKE prescient_operator FROM " NOBODY);
    store_free(st);
}

static void a_missing_right_is_told_with_its_grant(void)
{
    WITH_ROLES();
    struct arena *a = arena_new(4096);
    struct store_hello hello = STORE_HELLO_INIT;
    struct store_report r;
    struct store *st = store_as(pg_roles.nobody_url, "prescient_enqueuer");
    CU_ASSERT(store_do(st, &hello.call) < 0);
    pgfx.err = hello.call.err;
    SAYS("permission denied for schema prescient (user " NOBODY
         "). As a superuser or an admin of that role run: GRANT prescient_enqueuer TO " NOBODY);
    store_free(st);
    st = store_as(pg_roles.shop_url, NULL);
    CU_ASSERT(ask_as(st, a, "leases", 0, NULL, &r) < 0);
    SAYS("permission denied for table slot_lease (user " SHOP
         "). As a superuser or an admin of that role run: GRANT prescient_engine TO " SHOP);
    /* a time of one's own is for engines: the functions of the API take none */
    static const char *const timed[] = { "orders", "42",   "unshipped", "4102444800",
                                         NULL,     "keep", "0",         "1772370900" };
    CU_ASSERT(ask_as(st, a, "enqueue", 8, timed, &r) < 0);
    SAYS("permission denied for function file_check (user " SHOP
         "). As a superuser or an admin of that role run: GRANT prescient_engine TO " SHOP);
    store_free(st);
    st = store_as(pg_roles.runner_url, NULL);
    SQL_IS("", "REVOKE SELECT ON prescient.slot_lease FROM prescient_engine");
    CU_ASSERT(ask_as(st, a, "leases", 0, NULL, &r) < 0);
    SAYS("(user " RUNNER
         "; the role prescient_engine has lost this right). As the owner of the schema run: prescient init");
    SQL_IS("", "GRANT SELECT ON prescient.slot_lease TO prescient_engine");
    RC_IS(0, ask_as(st, a, "leases", 0, NULL, &r));
    store_free(st);
    arena_free(a);
}

static void a_schema_of_another_age_is_told_to_an_enqueuer_too(void)
{
    WITH_ROLES();
    struct store_hello hello = STORE_HELLO_INIT;
    struct store *st = store_as(pg_roles.shop_url, "prescient_enqueuer");
    SQL_IS("", "INSERT INTO prescient.migration VALUES (9999, 'later', 'x', 9999)");
    RC_IS(ERR_SCHEMA, store_do(st, &hello.call));
    pgfx.err = hello.call.err;
    SAYS("upgrade it");
    SQL_IS("", "DELETE FROM prescient.migration WHERE version = 9999");
    SQL_IS("", "CREATE TABLE aside AS SELECT * FROM prescient.migration WHERE version > 3; DELETE FROM "
               "prescient.migration WHERE version > 3");
    RC_IS(ERR_SCHEMA, store_do(st, &hello.call));
    pgfx.err = hello.call.err;
    SAYS("this program needs");
    SQL_IS("", "ALTER FUNCTION prescient.schema_state() RENAME TO schema_state_of_later");
    RC_IS(ERR_SCHEMA, store_do(st, &hello.call));
    pgfx.err = hello.call.err;
    SAYS("schema 'prescient' is older than this program, and user '" SHOP
         "' may not read its version: as its "
         "owner run `prescient migrate`");
    SQL_IS("", "ALTER FUNCTION prescient.schema_state_of_later() RENAME TO schema_state; INSERT INTO "
               "prescient.migration SELECT * FROM aside; DROP TABLE aside");
    RC_IS(0, store_do(st, &hello.call));
    store_free(st);
}

static const struct test tests[] = {
    TEST(an_enqueuer_uses_the_program),
    TEST(an_enqueuer_loads_many),
    TEST(an_operator_changes_by_functions_what_it_may_not_read),
    TEST(a_missing_right_is_told_with_its_grant),
    TEST(a_schema_of_another_age_is_told_to_an_enqueuer_too),
    { NULL, NULL },
};

const struct suite suite_store_pg_narrow = { "store_pg_narrow", pg_roles_setup, pg_roles_teardown, tests };
