/* test_store_pg_wire.c - values in PostgreSQL's binary format: what is written reads back, and
 * what no server of ours sends does no harm. */
#include "test.h"

#include <limits.h>
#include <string.h>

#include "../engine/store/store_pg_wire.h"

static struct arena *a;
static PGresult *row;

/* A result of one row with one column of these bytes; NULL: SQL NULL. */
static void begin(const char *bytes, int len)
{
    PGresAttDesc column = { .name = (char[]){ "column" }, .format = 1 };
    a = arena_new(1024);
    row = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    CU_ASSERT_FATAL(PQsetResultAttrs(row, 1, &column));
    CU_ASSERT_FATAL(PQsetvalue(row, 0, 0, (char *)bytes, bytes ? len : -1));
}

static void end(void)
{
    PQclear(row);
    arena_free(a);
}

static void what_is_written_reads_back(void)
{
    const int32_t numbers[] = { 1, -1, INT32_MAX, INT32_MIN }, *read = NULL;
    struct wire_params p;
    int n = 0;
    a = arena_new(1024);
    CU_ASSERT_TRUE_FATAL(wire_put(&p, a, "Il", 4, numbers, INT64_C(-5)));
    struct arena *of_params = a;
    begin(p.values[0], p.lengths[0]);
    CU_ASSERT_TRUE(wire_get(row, 0, a, "I", &n, &read));
    CU_ASSERT_EQUAL_FATAL(n, 4);
    CU_ASSERT_EQUAL(memcmp(read, numbers, sizeof numbers), 0);
    end();
    int64_t number = 0;
    begin(p.values[1], p.lengths[1]);
    CU_ASSERT_TRUE(wire_get(row, 0, a, "l", &number));
    CU_ASSERT_EQUAL(number, -5);
    end();
    arena_free(of_params);
}

static void null_reads_as_nothing(void)
{
    int64_t number = 1;
    const char *text = "";
    int n = 1;
    const int32_t *array = NULL;
    begin(NULL, 0);
    CU_ASSERT_TRUE(wire_get(row, 0, a, "l", &number) && number == 0);
    CU_ASSERT_TRUE(wire_get(row, 0, a, "t", &text) && !text);
    CU_ASSERT_TRUE(wire_get(row, 0, a, "I", &n, &array) && n == 0);
    end();
}

static void a_value_of_another_size_is_refused(void)
{
    int64_t number = 7;
    begin("1234", 4);
    CU_ASSERT_FALSE(wire_get(row, 0, a, "l", &number));
    CU_ASSERT_FALSE(wire_get(row, 0, a, "ii", &number, &number));       /* a column more than there is */
    CU_ASSERT_FALSE(wire_get(row, 1, a, "i", &number));
    end();
}

/* PostgreSQL's 'infinity' and '-infinity' are the ends of its integers. */
static void an_infinite_time_is_the_end_of_time(void)
{
    char bytes[8];
    int64_t us = 0, seconds = 0;
    wire_put_int8(bytes, INT64_MAX);
    begin(bytes, 8);
    CU_ASSERT_TRUE(wire_get(row, 0, a, "n", &us));
    CU_ASSERT_EQUAL(us, INT64_MAX);
    CU_ASSERT_TRUE(wire_get(row, 0, a, "m", &seconds));
    CU_ASSERT_TRUE(seconds > 253402300799);
    end();
    wire_put_int8(bytes, INT64_MIN);
    begin(bytes, 8);
    CU_ASSERT_TRUE(wire_get(row, 0, a, "n", &us));
    CU_ASSERT_TRUE(us < 0);
    end();
}

/* An array of `count` by its header, with `bytes` bytes behind it. */
static bool reads_array(int dimensions, int has_null, int count, int bytes)
{
    char value[20 + 64] = { 0 };
    int n = 0;
    const int32_t *array = NULL;
    wire_put_int4(value, dimensions);
    wire_put_int4(value + 4, has_null);
    wire_put_int4(value + 12, count);
    begin(value, 20 + bytes);
    bool reads = wire_get(row, 0, a, "I", &n, &array);
    CU_ASSERT_TRUE(!reads || n == count || dimensions == 0);
    end();
    return reads;
}

static void an_array_that_is_not_as_long_as_it_says_is_refused(void)
{
    CU_ASSERT_TRUE(reads_array(1, 0, 2, 16));
    CU_ASSERT_TRUE(reads_array(0, 0, 0, 0));
    CU_ASSERT_FALSE(reads_array(1, 0, 2, 8));
    CU_ASSERT_FALSE(reads_array(1, 0, 2, 24));
    CU_ASSERT_FALSE(reads_array(2, 0, 2, 16));
    CU_ASSERT_FALSE(reads_array(1, 1, 2, 16));
    CU_ASSERT_FALSE(reads_array(1, 0, -1, 0));
    CU_ASSERT_FALSE(reads_array(1, 0, INT32_MAX, 16));
    CU_ASSERT_FALSE(reads_array(1, 0, 1 << 29, 0));         /* whose bytes, in 32 bits, are none */
}

static const struct test tests[] = {
    TEST(what_is_written_reads_back),
    TEST(null_reads_as_nothing),
    TEST(a_value_of_another_size_is_refused),
    TEST(an_infinite_time_is_the_end_of_time),
    TEST(an_array_that_is_not_as_long_as_it_says_is_refused),
    { 0 },
};

const struct suite suite_store_pg_wire = { "store_pg_wire", NULL, NULL, tests };
