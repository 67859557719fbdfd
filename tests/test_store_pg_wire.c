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

/* One field at the beginning of the struct that is read or written. */
static const struct sql_field one_int4 = { "n", SQL_INT4, false, 0 }, one_int8 = { "n", SQL_INT8, false, 0 },
                              one_us = { "at_us", SQL_MOMENT_US, false, 0 },
                              one_moment = { "at", SQL_MOMENT, false, 0 },
                              one_array = { "ns", SQL_INT4S, false, 0 };

static void what_is_written_reads_back(void)
{
    const int32_t numbers[] = { 1, -1, INT32_MAX, INT32_MIN };
    const struct in { struct sql_int4s ns; int64_t n; } in = { { 4, numbers }, INT64_C(-5) };
    const struct sql_field fields[] = { { "ns", SQL_INT4S, false, offsetof(struct in, ns) },
                                        { "n", SQL_INT8, false, offsetof(struct in, n) } };
    struct wire_params p;
    struct sql_int4s read = { 0 };
    a = arena_new(1024);
    CU_ASSERT_TRUE_FATAL(wire_put(&p, a, fields, 2, &in));
    CU_ASSERT_EQUAL(p.n, 2);
    CU_ASSERT_EQUAL(p.types[0], 1007);
    struct arena *of_params = a;
    begin(p.values[0], p.lengths[0]);
    CU_ASSERT_TRUE(wire_get(row, 0, a, &one_array, 1, &read));
    CU_ASSERT_EQUAL_FATAL(read.n, 4);
    CU_ASSERT_EQUAL(memcmp(read.v, numbers, sizeof numbers), 0);
    end();
    int64_t number = 0;
    begin(p.values[1], p.lengths[1]);
    CU_ASSERT_TRUE(wire_get(row, 0, a, &one_int8, 1, &number));
    CU_ASSERT_EQUAL(number, -5);
    end();
    arena_free(of_params);
}

/* PostgreSQL's double precision is IEEE 754, big-endian, as are the numbers of its arrays. */
static void doubles_are_written_as_the_server_reads_them(void)
{
    const double doubles[] = { 0, 1, -2.5, 9007199254740991 };
    const struct sql_float8s in = { 4, doubles };
    const struct sql_field field = { "it", SQL_FLOAT8S, false, 0 };
    static const char expected[] =
        "\0\0\0\1" "\0\0\0\0" "\0\0\2\275" "\0\0\0\4" "\0\0\0\1"     /* float8 has the OID 701 */
        "\0\0\0\10" "\0\0\0\0\0\0\0\0"
        "\0\0\0\10" "\77\360\0\0\0\0\0\0"
        "\0\0\0\10" "\300\4\0\0\0\0\0\0"
        "\0\0\0\10" "\103\77\377\377\377\377\377\377";
    struct wire_params p;
    a = arena_new(1024);
    CU_ASSERT_TRUE_FATAL(wire_put(&p, a, &field, 1, &in));
    CU_ASSERT_EQUAL(p.types[0], 1022);
    CU_ASSERT_EQUAL(p.formats[0], 1);
    CU_ASSERT_EQUAL_FATAL(p.lengths[0], (int)sizeof expected - 1);
    CU_ASSERT_EQUAL(memcmp(p.values[0], expected, sizeof expected - 1), 0);
    arena_free(a);
}

/* Whether a value of this type, all zeros, is written as NULL; -1: it is refused. */
static int written_as_null(enum sql_type type, bool may_be_null)
{
    const union { int64_t number; const char *text; struct sql_texts texts; } zero = { .texts = { 0 } };
    const struct sql_field field = { "it", type, may_be_null, 0 };
    struct wire_params p;
    a = arena_new(1024);
    bool good = wire_put(&p, a, &field, 1, &zero);
    int is_null = good ? !p.values[0] : -1;
    arena_free(a);
    return is_null;
}

static void nothing_is_written_as_null_where_it_may_be(void)
{
    CU_ASSERT_EQUAL(written_as_null(SQL_TEXT, true), 1);
    CU_ASSERT_EQUAL(written_as_null(SQL_TEXTS, true), 1);
    CU_ASSERT_EQUAL(written_as_null(SQL_MOMENT, true), 1);
    CU_ASSERT_EQUAL(written_as_null(SQL_MOMENT, false), 0);
    CU_ASSERT_EQUAL(written_as_null(SQL_TEXTS, false), 0);
    CU_ASSERT_EQUAL(written_as_null(SQL_INT8, true), 0);
}

static void a_text_that_must_be_there_and_is_not_is_refused(void)
{
    CU_ASSERT_EQUAL(written_as_null(SQL_TEXT, false), -1);
    CU_ASSERT_EQUAL(written_as_null(SQL_UUID, false), -1);
}

static void bytes_are_written_as_they_are_and_none_are_not_null(void)
{
    struct sql_bytes in = { 4, (const unsigned char *)"a\0\377b" };
    const struct sql_field field = { "it", SQL_BYTES, true, 0 };
    struct wire_params p;
    a = arena_new(1024);
    CU_ASSERT_TRUE_FATAL(wire_put(&p, a, &field, 1, &in));
    CU_ASSERT_EQUAL(p.types[0], 17);
    CU_ASSERT_EQUAL(p.formats[0], 1);
    CU_ASSERT_EQUAL_FATAL(p.lengths[0], 4);
    CU_ASSERT_EQUAL(memcmp(p.values[0], "a\0\377b", 4), 0);
    in.n = 0;
    CU_ASSERT_TRUE(wire_put(&p, a, &field, 1, &in) && p.values[0] && p.lengths[0] == 0);
    arena_free(a);
    CU_ASSERT_EQUAL(written_as_null(SQL_BYTES, true), 1);
    CU_ASSERT_EQUAL(written_as_null(SQL_BYTES, false), -1);
}

static void null_reads_as_nothing_where_it_may_be(void)
{
    struct { const char *text; uint32_t length; } text = { "", 1 };
    struct sql_int4s array = { 1, NULL };
    int64_t number = 1;
    struct sql_field field = { "it", SQL_INT8, true, 0 };
    begin(NULL, 0);
    CU_ASSERT_TRUE(wire_get(row, 0, a, &field, 1, &number) && number == 0);
    field.type = SQL_TEXT;
    CU_ASSERT_TRUE(wire_get(row, 0, a, &field, 1, &text) && !text.text);
    field.type = SQL_INT4S;
    CU_ASSERT_TRUE(wire_get(row, 0, a, &field, 1, &array) && array.n == 0);
    field.may_be_null = false;
    CU_ASSERT_FALSE(wire_get(row, 0, a, &field, 1, &array));
    CU_ASSERT_FALSE(wire_get(row, 0, a, &one_int8, 1, &number));
    end();
}

static void a_text_reads_with_its_length(void)
{
    struct { const char *text; uint32_t length; } text = { 0 };
    const struct sql_field field = { "it", SQL_TEXT, false, 0 };
    begin("a\0b", 3);
    CU_ASSERT_TRUE(wire_get(row, 0, a, &field, 1, &text));
    CU_ASSERT_EQUAL_FATAL(text.length, 3);
    CU_ASSERT_EQUAL(memcmp(text.text, "a\0b", 3), 0);
    end();
}

static void a_value_of_another_size_is_refused(void)
{
    int64_t numbers[2] = { 7, 7 };
    const struct sql_field two[] = { { "a", SQL_INT4, false, 0 }, { "b", SQL_INT4, false, 8 } };
    begin("1234", 4);
    CU_ASSERT_FALSE(wire_get(row, 0, a, &one_int8, 1, numbers));
    CU_ASSERT_FALSE(wire_get(row, 0, a, two, 2, numbers));         /* a column more than there is */
    CU_ASSERT_FALSE(wire_get(row, 0, a, two, 0, numbers));         /* and one less */
    CU_ASSERT_FALSE(wire_get(row, 1, a, &one_int4, 1, numbers));
    CU_ASSERT_TRUE(wire_get(row, 0, a, &one_int4, 1, numbers));
    end();
}

/* PostgreSQL's 'infinity' and '-infinity' are the ends of its integers. */
static void an_infinite_time_is_the_end_of_time(void)
{
    char bytes[8];
    int64_t us = 0, seconds = 0;
    wire_put_int8(bytes, INT64_MAX);
    begin(bytes, 8);
    CU_ASSERT_TRUE(wire_get(row, 0, a, &one_us, 1, &us));
    CU_ASSERT_EQUAL(us, INT64_MAX);
    CU_ASSERT_TRUE(wire_get(row, 0, a, &one_moment, 1, &seconds));
    CU_ASSERT_TRUE(seconds > 253402300799);
    end();
    wire_put_int8(bytes, INT64_MIN);
    begin(bytes, 8);
    CU_ASSERT_TRUE(wire_get(row, 0, a, &one_us, 1, &us));
    CU_ASSERT_TRUE(us < 0);
    end();
}

/* An array of `count` by its header, with `bytes` bytes behind it. */
static bool reads_array(int dimensions, int has_null, int count, int bytes)
{
    char value[20 + 64] = { 0 };
    struct sql_int4s array = { 0 };
    wire_put_int4(value, dimensions);
    wire_put_int4(value + 4, has_null);
    wire_put_int4(value + 12, count);
    begin(value, 20 + bytes);
    bool reads = wire_get(row, 0, a, &one_array, 1, &array);
    CU_ASSERT_TRUE(!reads || array.n == count || dimensions == 0);
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
    TEST(doubles_are_written_as_the_server_reads_them),
    TEST(nothing_is_written_as_null_where_it_may_be),
    TEST(a_text_that_must_be_there_and_is_not_is_refused),
    TEST(null_reads_as_nothing_where_it_may_be),
    TEST(bytes_are_written_as_they_are_and_none_are_not_null),
    TEST(a_text_reads_with_its_length),
    TEST(a_value_of_another_size_is_refused),
    TEST(an_infinite_time_is_the_end_of_time),
    TEST(an_array_that_is_not_as_long_as_it_says_is_refused),
    { 0 },
};

const struct suite suite_store_pg_wire = { "store_pg_wire", NULL, NULL, tests };
