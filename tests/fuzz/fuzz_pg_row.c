/* fuzz_pg_row.c - a row of a binary result as a server that we do not know might send it: any
 * columns, lengths and bytes, read as the columns of every statement. */
#include <stdbool.h>

#include "../../engine/store/store_pg_wire.h"
#include "pg_statements.h"
#include "fuzz.h"

enum { COLUMNS_MAX = 14 };

static PGresult *make_row(struct input *in, struct arena *a, int *columns)
{
    PGresult *r = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    char name[] = "column";
    PGresAttDesc names[COLUMNS_MAX];
    *columns = 1 + input_u8(in) % COLUMNS_MAX;
    for (int i = 0; i < *columns; i++)
        names[i] = (PGresAttDesc){ .name = name, .format = 1 };
    MUST(PQsetResultAttrs(r, *columns, names));
    for (int i = 0; i < *columns; i++) {
        uint8_t size = input_u8(in);
        size_t got;
        char *value = input_bytes(in, size < 200 ? size : 8, a, &got);
        bool is_null = size == 255;
        MUST(is_null ? PQsetvalue(r, 0, i, NULL, -1) : PQsetvalue(r, 0, i, value, (int)got));
    }
    return r;
}

/* A copy of its own for each array, so that reading past it is seen. */
static void check_array(bool ok, int n, const int32_t *values)
{
    int64_t sum = 0;
    if (!ok)
        return;
    MUST(n >= 0 && (n == 0 || values));
    for (int i = 0; i < n; i++)
        sum += values[i];
    MUST(sum >= (int64_t)n * INT32_MIN);
}

/* A column's value, of a row that was read. */
static void check_field(const struct sql_field *f, const char *row)
{
    const char *at = row + f->offset;
    if (f->type == SQL_INT4S) {
        const struct sql_int4s *array = (const void *)at;
        check_array(true, array->n, array->v);
    } else if (f->type == SQL_TEXT) {
        const char *text = *(const char *const *)(const void *)at;
        MUST(text ? strlen(text) < 256 : f->may_be_null);
    }
}

static void read_row(const PGresult *r, struct arena *a)
{
    _Alignas(16) char row[512];
    for (int i = 0; i < PG_STATEMENTS; i++) {
        const struct sql_statement *s = &pg_statements[i];
        if (s->is_report || s->nout == 0)
            continue;
        MUST(s->out[s->nout - 1].offset + 16u <= sizeof row);
        bool ok = wire_get(r, 0, a, s->out, s->nout, row);
        for (int k = 0; ok && k < s->nout; k++)
            check_field(&s->out[k], row);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct arena *a = arena_new(1024);
    int columns;
    PGresult *r = make_row(&in, a, &columns);
    read_row(r, a);
    const struct sql_field one = { "n", SQL_INT4, false, 0 };
    MUST(!wire_get(r, 1, a, &one, 1, &columns));
    PQclear(r);
    arena_free(a);
    return 0;
}
