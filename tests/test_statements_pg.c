/* test_statements_pg.c - each statement of store_pg.sql is what its comments say: a server takes it
 * alone, on a fresh schema, with the parameters and columns that are declared there. */
#include "pg_fixture.h"

#include "../engine/store/store_pg.h"

static Oid declared(const struct sql_field *f) { return wire_type((enum sql_type)f->type); }

static void declare_all(const struct sql_statement *s, Oid types[WIRE_PARAMS_MAX])
{
    for (int i = 0; i < s->nin; i++)
        types[i] = declared(&s->in[i]);
}

static void compare_columns(const struct sql_statement *s, const PGresult *r)
{
    if (PQnfields(r) != s->nout)
        printf("      %s: %d columns, declared %d\n", s->name, PQnfields(r), s->nout);
    CU_ASSERT_EQUAL(PQnfields(r), s->nout);
    for (int i = 0; i < PQnfields(r) && i < s->nout; i++) {
        /* EXPLAIN names its column itself */
        bool is_named = !strcmp(PQfname(r, i), s->out[i].name) || !strcmp(PQfname(r, i), "QUERY PLAN");
        bool is_typed = PQftype(r, i) == declared(&s->out[i]);
        if (!is_named || !is_typed)
            printf("      %s: column '%s' of type %u, declared '%s' of type %u\n", s->name, PQfname(r, i),
                   PQftype(r, i), s->out[i].name, declared(&s->out[i]));
        CU_ASSERT(is_named && is_typed);
    }
}

/* What the server makes of it; NULL, with its words printed: nothing. */
static PGresult *describe(const char *name, const char *sql, int n, const Oid *types)
{
    PGresult *r = PQprepare(pgfx.app, "", sql, n, types);
    bool good = PQresultStatus(r) == PGRES_COMMAND_OK;
    if (!good && name)
        printf("      %s: %s\n", name, PQresultErrorMessage(r));
    PQclear(r);
    return good ? PQdescribePrepared(pgfx.app, "") : NULL;
}

static void each_statement_has_the_parameters_and_columns_that_it_declares(void)
{
    WITH_SERVER();
    PQclear(pgfx_ask(pgfx.app, "SET search_path = pg_catalog, pg_temp"));
    for (int i = 0; i < PG_STATEMENTS; i++) {
        const struct sql_statement *s = &pg_statements[i];
        Oid types[WIRE_PARAMS_MAX];
        if (s->is_script)
            continue;
        declare_all(s, types);
        PGresult *r = describe(s->name, pg_sql(pg_store(pgfx.st), i), s->nin, types);
        CU_ASSERT_PTR_NOT_NULL(r);
        if (r)
            compare_columns(s, r);
        PQclear(r);
    }
    PQclear(pgfx_ask(pgfx.app, "RESET search_path"));
}

static bool is_integer(Oid type) { return type == 20 || type == 21 || type == 23; }

/* The server takes any integer for any other. Of a text, or an array of texts, the statement says
 * itself what is in it: a cast is what the server sees. */
static bool is_as_good(Oid found, enum sql_type declared_type)
{
    Oid wanted = wire_type(declared_type);
    bool is_text = declared_type == SQL_TEXT || declared_type == SQL_TEXTS;
    return found == wanted || is_text || (is_integer(found) && is_integer(wanted));
}

/* One parameter after the other without its type: what the server concludes from the statement. */
static void what_the_server_infers_fits_what_is_declared(void)
{
    WITH_SERVER();
    int inferred = 0;
    PQclear(pgfx_ask(pgfx.app, "SET search_path = pg_catalog, pg_temp"));
    for (int i = 0; i < PG_STATEMENTS; i++) {
        const struct sql_statement *s = &pg_statements[i];
        Oid types[WIRE_PARAMS_MAX];
        for (int k = 0; k < s->nin; k++) {
            declare_all(s, types);
            types[k] = 0;
            PGresult *r = describe(NULL, pg_sql(pg_store(pgfx.st), i), s->nin, types);
            bool fits = !r || is_as_good(PQparamtype(r, k), (enum sql_type)s->in[k].type);
            if (!fits)
                printf("      %s: '%s' is of type %u, declared %u\n", s->name, s->in[k].name,
                       PQparamtype(r, k), declared(&s->in[k]));
            CU_ASSERT_TRUE(fits);
            inferred += r != NULL;
            PQclear(r);
        }
    }
    CU_ASSERT_TRUE(inferred > 300);
    PQclear(pgfx_ask(pgfx.app, "RESET search_path"));
}

static void no_statement_has_two_columns_of_one_name(void)
{
    for (int i = 0; i < PG_STATEMENTS; i++)
        for (int k = 0; k < pg_statements[i].nout; k++)
            for (int l = 0; l < k; l++)
                CU_ASSERT_STRING_NOT_EQUAL(pg_statements[i].out[k].name, pg_statements[i].out[l].name);
}

static const struct test tests[] = {
    TEST(each_statement_has_the_parameters_and_columns_that_it_declares),
    TEST(what_the_server_infers_fits_what_is_declared),
    TEST(no_statement_has_two_columns_of_one_name),
    { NULL, NULL },
};

const struct suite suite_statements_pg = { "statements_pg", pgfx_setup, pgfx_teardown, tests };
