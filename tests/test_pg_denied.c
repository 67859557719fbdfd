/* test_pg_denied.c - the GRANT for a right that PostgreSQL says is lacking. */
#include "test.h"

#include <string.h>

#include "../engine/pg/pg_denied.h"

static const char *grant(const char *message, const char *user)
{
    static char out[512];
    return pg_denied_grant(message, NULL, user, out, sizeof out) ? out : "";
}
#define GRANT(line, message) CU_ASSERT_STRING_EQUAL(grant(message, "shop"), line)

static void each_kind_of_object_has_its_right(void)
{
    GRANT("GRANT SELECT ON orders TO shop", "permission denied for table orders");
    GRANT("GRANT SELECT ON late TO shop", "permission denied for view late");
    GRANT("GRANT SELECT ON late TO shop", "permission denied for materialized view late");
    GRANT("GRANT USAGE ON SCHEMA shop TO shop", "permission denied for schema shop");
    GRANT("GRANT EXECUTE ON FUNCTION f TO shop", "permission denied for function f");
    GRANT("GRANT CONNECT ON DATABASE shop TO shop",
          "connection to server failed: FATAL:  permission denied for database \"shop\"\nDETAIL:  User does");
}

static void a_name_that_needs_quotes_has_them(void)
{
    GRANT("GRANT SELECT ON \"order\" TO shop", "permission denied for table order");
    GRANT("GRANT SELECT ON \"Orders\" TO shop", "permission denied for table Orders");
    GRANT("GRANT SELECT ON \"a b\"\"; DROP TABLE c\" TO shop",
          "permission denied for table a b\"; DROP TABLE c");
    GRANT("GRANT SELECT ON \"2nd\" TO shop", "permission denied for table 2nd");
    GRANT("GRANT SELECT ON \"dr\xc3\xa9\" TO shop", "permission denied for table dr\xc3\xa9");
    static const char denied[] = "permission denied for table a";
    CU_ASSERT_STRING_EQUAL(grant(denied, "my-app"), "GRANT SELECT ON a TO \"my-app\"");
    CU_ASSERT_STRING_EQUAL(grant(denied, "user"), "GRANT SELECT ON a TO \"user\"");
}

static void other_messages_have_no_line(void)
{
    char name[400], small[20];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    memcpy(name, "permission denied for table ", 28);
    GRANT("", name);
    GRANT("", "permission denied for table ");
    GRANT("", "permission denied for large object 7");
    GRANT("", "keine Berechtigung f\xc3\xbcr Tabelle orders");
    GRANT("", "must be owner of table orders");
    CU_ASSERT_FALSE(pg_denied_grant("permission denied for table orders", NULL, "shop", small, sizeof small));
}

/* A line that grants the right on another table is worse than none. */
static void an_object_is_the_one_of_the_query(void)
{
    static const struct { const char *query, *object; } rows[] = {
        { "SELECT id FROM orders WHERE orders.id = $1", "orders" },
        { "SELECT id FROM sales.orders WHERE orders.id = $1", "sales.orders" },
        { "select o.id from Sales.ORDERS as o", "sales.orders" },
        { "SELECT 1 FROM \"My Shop\".\"orders\"", "\"My Shop\".orders" },
        { "SELECT 'x.orders' FROM sales.orders", "sales.orders" },
        { "SELECT 1 FROM late_ones", NULL },            /* a view, and what it reads */
        { "SELECT 1 FROM a.orders, b.orders", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[512] = "", expected[512] = "";
        bool is_known = pg_denied_grant("permission denied for table orders", rows[i].query, "shop", out,
                                        sizeof out);
        CU_ASSERT_EQUAL(is_known, rows[i].object != NULL);
        if (rows[i].object)
            snprintf(expected, sizeof expected, "GRANT SELECT ON %s TO shop", rows[i].object);
        CU_ASSERT_STRING_EQUAL(out, expected);
    }
}

static const struct test tests[] = {
    TEST(each_kind_of_object_has_its_right),
    TEST(a_name_that_needs_quotes_has_them),
    TEST(other_messages_have_no_line),
    TEST(an_object_is_the_one_of_the_query),
    { 0 }
};

const struct suite suite_pg_denied = { .name = "pg_denied", .tests = tests };
