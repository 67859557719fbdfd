/* fuzz_pg_row.c - a row of a binary result as a server that we do not know might send it: any
 * columns, lengths and bytes, read by every format that the statements use. */
#include <stdbool.h>

#include "../../engine/store/store_pg_wire.h"
#include "fuzz.h"

enum { COLUMNS_MAX = 12 };

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
        MUST(PQsetvalue(r, 0, i, size == 255 ? NULL : value, size == 255 ? -1 : (int)got));
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

/* The formats of store_pg*.c. */
static void read_row(const PGresult *r, struct arena *a)
{
    int64_t l[6];
    int32_t i[6], n[2] = { 0 };
    const int32_t *arrays[2] = { NULL };
    bool b[4];
    const char *t[4];
    unsigned char uuid[16];
    wire_get(r, 0, a, "niib", &l[0], &i[0], &i[1], &b[0]);
    wire_get(r, 0, a, "iiulnlb", &i[0], &i[1], uuid, &l[0], &l[1], &l[2], &b[0]);
    wire_get(r, 0, a, "ln", &l[0], &l[1]);
    if (wire_get(r, 0, a, "lmmiiiitttti", &l[0], &l[1], &l[2], &i[0], &i[1], &i[2], &i[3], &t[0], &t[1],
                 &t[2], &t[3], &i[4]))
        for (int k = 0; k < 4; k++)
            MUST(!t[k] || strlen(t[k]) < 200);
    wire_get(r, 0, a, "mbb", &l[0], &b[0], &b[1]);
    wire_get(r, 0, a, "ttiii", &t[0], &t[1], &i[0], &i[1], &i[2]);
    wire_get(r, 0, a, "llll", &l[0], &l[1], &l[2], &l[3]);
    bool ok = wire_get(r, 0, a, "biII", &b[0], &i[0], &n[0], &arrays[0], &n[1], &arrays[1]);
    check_array(ok, n[0], arrays[0]);
    check_array(ok, n[1], arrays[1]);
    ok = wire_get(r, 0, a, "I", &n[0], &arrays[0]);
    check_array(ok, n[0], arrays[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct arena *a = arena_new(1024);
    int columns;
    PGresult *r = make_row(&in, a, &columns);
    read_row(r, a);
    MUST(!wire_get(r, 1, a, "i", &columns));
    PQclear(r);
    arena_free(a);
    return 0;
}
