/* store_pg_wire.c - values to and from PostgreSQL's binary format: big-endian numbers, times in
 * microseconds since 2000, arrays as a header and elements with their lengths. No I/O. */
#include "store_pg_wire.h"

#include <endian.h>
#include <string.h>

#include "../base/saturate.h"

/* An array's elements are of the type `element`. `size` is that of a value or an element; 0:
 * any. */
struct wire_type { Oid oid; enum sql_type element; int size; };

#define NO_ELEMENT SQL_TYPES
static const struct wire_type wire_types[SQL_TYPES] = {
    [SQL_BOOL] = { 16, NO_ELEMENT, 1 },         [SQL_INT2] = { 21, NO_ELEMENT, 2 },
    [SQL_INT4] = { 23, NO_ELEMENT, 4 },         [SQL_INT8] = { 20, NO_ELEMENT, 8 },
    [SQL_FLOAT8] = { 701, NO_ELEMENT, 8 },      [SQL_NUMERIC] = { 1700, NO_ELEMENT, 0 },
    [SQL_TEXT] = { 25, NO_ELEMENT, 0 },         [SQL_JSON] = { 114, NO_ELEMENT, 0 },
    [SQL_UUID] = { 2950, NO_ELEMENT, 16 },      [SQL_MOMENT] = { 1184, NO_ELEMENT, 8 },
    [SQL_MOMENT_US] = { 1184, NO_ELEMENT, 8 },  [SQL_INT2S] = { 1005, SQL_INT2, 2 },
    [SQL_INT4S] = { 1007, SQL_INT4, 4 },        [SQL_INT8S] = { 1016, SQL_INT8, 8 },
    [SQL_FLOAT8S] = { 1022, SQL_FLOAT8, 8 },    [SQL_TEXTS] = { 1009, SQL_TEXT, 0 },
    [SQL_UUIDS] = { 2951, SQL_UUID, 16 },       [SQL_MOMENTS] = { 1185, SQL_MOMENT, 8 },
    [SQL_MOMENTS_US] = { 1185, SQL_MOMENT_US, 8 }, [SQL_BYTES] = { 17, NO_ELEMENT, 0 },
};

#define ARRAY_HEADER 20     /* dimensions, has NULLs, element type, length, lower bound */
#define EPOCH_US (WIRE_TIMESTAMP_EPOCH_S * 1000000)

int64_t wire_int8(const char *p) { uint64_t v; memcpy(&v, p, sizeof v); return (int64_t)be64toh(v); }
int32_t wire_int4(const char *p) { uint32_t v; memcpy(&v, p, sizeof v); return (int32_t)be32toh(v); }
void wire_put_int8(char *p, int64_t v) { uint64_t u = htobe64((uint64_t)v); memcpy(p, &u, sizeof u); }
static void put_float8(char *p, double v)
{
    int64_t bits;
    memcpy(&bits, &v, sizeof bits);
    wire_put_int8(p, bits);
}
void wire_put_int4(char *p, int32_t v) { uint32_t u = htobe32((uint32_t)v); memcpy(p, &u, sizeof u); }
void wire_put_int2(char *p, int16_t v) { uint16_t u = htobe16((uint16_t)v); memcpy(p, &u, sizeof u); }

Oid wire_type(enum sql_type type) { return wire_types[type].oid; }

static int64_t us_since_2000(int64_t seconds) { return (seconds - WIRE_TIMESTAMP_EPOCH_S) * 1000000; }

/* ---- parameters ------------------------------------------------------------------------------ */

/* Any of the array structs: they differ only in the type of `v`. */
struct any_array { int n; const void *v; };

static size_t array_size(const struct wire_type *type, const struct any_array *array)
{
    size_t n = (size_t)array->n, size = ARRAY_HEADER + n * 4;
    if (type->size > 0)
        return size + n * (size_t)type->size;
    for (int i = 0; i < array->n; i++) {
        const char *text = ((const char *const *)array->v)[i];
        size += text ? strlen(text) : 0;
    }
    return size;
}

static char *put_texts(char *p, int n, const char *const *texts)
{
    for (int i = 0; i < n; i++) {
        size_t length = texts[i] ? strlen(texts[i]) : 0;
        wire_put_int4(p, texts[i] ? (int32_t)length : -1);
        if (texts[i])
            memcpy(p + 4, texts[i], length);
        p += 4 + length;
    }
    return p;
}

static char *put_elements(char *p, enum sql_type element, int n, const void *v)
{
    const int64_t *wide = v;
    int size = wire_types[element].size;
    if (element == SQL_TEXT)
        return put_texts(p, n, v);
    for (int i = 0; i < n; i++, p += 4 + size) {
        wire_put_int4(p, size);
        switch (element) {
        case SQL_INT2: wire_put_int2(p + 4, ((const int16_t *)v)[i]); break;
        case SQL_INT4: wire_put_int4(p + 4, ((const int32_t *)v)[i]); break;
        case SQL_INT8: wire_put_int8(p + 4, wide[i]); break;
        case SQL_FLOAT8: put_float8(p + 4, ((const double *)v)[i]); break;
        case SQL_MOMENT: wire_put_int8(p + 4, us_since_2000(wide[i])); break;
        case SQL_MOMENT_US: wire_put_int8(p + 4, wide[i] - EPOCH_US); break;
        default: memcpy(p + 4, (const char *)v + 16 * (size_t)i, 16); /* SQL_UUID */
        }
    }
    return p;
}

/* NULL: out of memory. */
static char *put_array(struct arena *a, const struct wire_type *type, const struct any_array *array,
                       int *length)
{
    size_t size = array_size(type, array);
    char *start = size <= INT32_MAX ? arena_alloc(a, size) : NULL;
    if (!start)
        return NULL;
    int n = array->n;
    wire_put_int4(start, n > 0 ? 1 : 0);
    wire_put_int4(start + 4, type->element == SQL_TEXT);    /* only texts may be NULL */
    wire_put_int4(start + 8, (int32_t)wire_types[type->element].oid);
    wire_put_int4(start + 12, n);
    wire_put_int4(start + 16, 1);
    char *end = n > 0 ? put_elements(start + ARRAY_HEADER, type->element, n, array->v) : start + 12;
    *length = (int)(end - start);
    return start;
}

/* Encodes a value of fixed size that is not NULL. */
static void put_scalar(char *to, enum sql_type type, const void *from)
{
    switch (type) {
    case SQL_BOOL: *to = *(const bool *)from; break;
    case SQL_INT2: wire_put_int2(to, *(const int16_t *)from); break;
    case SQL_INT4: wire_put_int4(to, *(const int32_t *)from); break;
    case SQL_MOMENT: wire_put_int8(to, us_since_2000(*(const int64_t *)from)); break;
    case SQL_MOMENT_US: wire_put_int8(to, *(const int64_t *)from - EPOCH_US); break;
    default: wire_put_int8(to, *(const int64_t *)from); /* SQL_INT8 */
    }
}

static bool is_null(const struct sql_field *f, const struct wire_type *type, const char *from)
{
    if (type->element != NO_ELEMENT)
        return f->may_be_null && !((const struct any_array *)(const void *)from)->v;
    if (f->type == SQL_BYTES)
        return !((const struct sql_bytes *)(const void *)from)->v;
    if (f->type == SQL_TEXT || f->type == SQL_UUID)
        return !*(const char *const *)(const void *)from;
    bool is_moment = f->type == SQL_MOMENT || f->type == SQL_MOMENT_US;
    return f->may_be_null && is_moment && *(const int64_t *)(const void *)from == 0;
}

bool wire_put(struct wire_params *p, struct arena *a, const struct sql_field *fields, int n, const void *in)
{
    p->n = n;
    if (n > WIRE_PARAMS_MAX)
        return false;
    for (int i = 0; i < n; i++) {
        const struct sql_field *f = &fields[i];
        const struct wire_type *type = &wire_types[f->type];
        const char *from = (const char *)in + f->offset;
        p->types[i] = type->oid;
        p->formats[i] = 1;
        p->lengths[i] = type->size;
        p->values[i] = NULL;
        if (is_null(f, type, from)) {
            if (!f->may_be_null)
                return false;
        } else if (type->element != NO_ELEMENT) {
            p->values[i] = put_array(a, type, (const void *)from, &p->lengths[i]);
            if (!p->values[i])
                return false;
        } else if (f->type == SQL_BYTES) {
            const struct sql_bytes *bytes = (const void *)from;
            p->values[i] = (const char *)bytes->v;
            p->lengths[i] = bytes->n;
        } else if (f->type == SQL_TEXT || f->type == SQL_UUID) {
            p->values[i] = *(const char *const *)(const void *)from;
            if (f->type == SQL_TEXT)
                p->lengths[i] = (int)strlen(p->values[i]);
        } else {
            put_scalar(p->scalars[i], f->type, from);
            p->values[i] = p->scalars[i];
        }
    }
    return true;
}

/* ---- columns --------------------------------------------------------------------------------- */

static bool get_int4_array(const char *p, int length, struct arena *a, struct sql_int4s *out)
{
    *out = (struct sql_int4s){ 0 };
    if (length < 12 || wire_int4(p) == 0)
        return length == 0 || length >= 12;
    int count = length >= ARRAY_HEADER ? wire_int4(p + 12) : -1;
    if (wire_int4(p) != 1 || wire_int4(p + 4) != 0 || count < 0 ||
        length != ARRAY_HEADER + INT64_C(8) * count)
        return false;
    int32_t *to = arena_alloc(a, sizeof *to * (size_t)(count + 1));
    if (!to)
        return false;
    for (int i = 0; i < count; i++)
        to[i] = wire_int4(p + ARRAY_HEADER + 8 * i + 4);
    *out = (struct sql_int4s){ count, to };
    return true;
}

/* A text is a pointer, followed by its length. */
struct text_column { const char *text; uint32_t length; };

static void get_null(char *to, enum sql_type type)
{
    switch (type) {
    case SQL_TEXT:
    case SQL_JSON: *(struct text_column *)(void *)to = (struct text_column){ 0 }; break;
    case SQL_INT4S: *(struct sql_int4s *)(void *)to = (struct sql_int4s){ 0 }; break;
    case SQL_INT8:
    case SQL_MOMENT:
    case SQL_MOMENT_US: *(int64_t *)(void *)to = 0; break;
    default: memset(to, 0, (size_t)wire_types[type].size);
    }
}

/* Called for each column of each row, so it is kept simple. */
static inline bool get_value(char *to, enum sql_type type, const char *p, int length, struct arena *a)
{
    switch (type) {
    case SQL_TEXT:
    case SQL_JSON:
        *(struct text_column *)(void *)to = (struct text_column){ p, (uint32_t)length };
        return true;
    case SQL_INT4:
        *(int32_t *)(void *)to = length == 4 ? wire_int4(p) : 0;
        return length == 4;
    case SQL_INT8:
        *(int64_t *)(void *)to = length == 8 ? wire_int8(p) : 0;
        return length == 8;
    case SQL_MOMENT:
        *(int64_t *)(void *)to = length == 8 ? wire_int8(p) / 1000000 + WIRE_TIMESTAMP_EPOCH_S : 0;
        return length == 8;
    case SQL_MOMENT_US: /* 'infinity' is the largest */
        *(int64_t *)(void *)to = length == 8 ? saturate_add(wire_int8(p), EPOCH_US) : 0;
        return length == 8;
    case SQL_BOOL:
        *(bool *)to = length == 1 && *p;
        return length == 1;
    case SQL_INT4S: return get_int4_array(p, length, a, (void *)to);
    default: /* SQL_UUID */
        if (length == 16)
            memcpy(to, p, 16);
        return length == 16;
    }
}

bool wire_get(const PGresult *r, int row, struct arena *a, const struct sql_field *fields, int n, void *out)
{
    if (PQnfields(r) != n || row >= PQntuples(r))
        return false;
    for (int i = 0; i < n; i++) {
        char *to = (char *)out + fields[i].offset;
        enum sql_type type = (enum sql_type)fields[i].type;
        int length = PQgetlength(r, row, i);
        if (length == 0 && PQgetisnull(r, row, i)) {
            if (!fields[i].may_be_null)
                return false;
            get_null(to, type);
        } else if (!get_value(to, type, PQgetvalue(r, row, i), length, a)) {
            return false;
        }
    }
    return true;
}
