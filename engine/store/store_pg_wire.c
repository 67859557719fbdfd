/* store_pg_wire.c - values to and from the binary format of PostgreSQL: big endian numbers, times
 * in microseconds since 2000, arrays as a header and elements with their lengths. Nothing here
 * talks to a server. */
#include "store_pg_wire.h"

#include <endian.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "../base/saturate.h"

enum {
    OID_BOOL = 16,
    OID_INT8 = 20,
    OID_INT2 = 21,
    OID_INT4 = 23,
    OID_TEXT = 25,
    OID_TIMESTAMPTZ = 1184,
    OID_UUID = 2950
};

/* By letter: an array's element is `size` bytes of type `element`. */
struct wire_type { Oid oid, element; int size; };
static const struct wire_type wire_types_by_letter['z' + 1] = {
    ['i'] = { OID_INT4, 0, 4 },           ['l'] = { OID_INT8, 0, 8 },
    ['b'] = { OID_BOOL, 0, 1 },           ['t'] = { OID_TEXT, 0, -1 },
    ['m'] = { OID_TIMESTAMPTZ, 0, 8 },    ['o'] = { OID_TIMESTAMPTZ, 0, 8 },
    ['n'] = { OID_TIMESTAMPTZ, 0, 8 },    ['u'] = { OID_UUID, 0, 16 },
    ['I'] = { 1007, OID_INT4, 4 },        ['L'] = { 1016, OID_INT8, 8 },
    ['H'] = { 1005, OID_INT2, 2 },        ['T'] = { 1009, OID_TEXT, -1 },
    ['M'] = { 1185, OID_TIMESTAMPTZ, 8 }, ['N'] = { 1185, OID_TIMESTAMPTZ, 8 },
    ['U'] = { 2951, OID_UUID, 16 },
};

#define ARRAY_HEADER 20     /* dimensions, has NULLs, element type, length, lower bound */

int64_t wire_int8(const char *p) { uint64_t v; memcpy(&v, p, sizeof v); return (int64_t)be64toh(v); }
int32_t wire_int4(const char *p) { uint32_t v; memcpy(&v, p, sizeof v); return (int32_t)be32toh(v); }
void wire_put_int8(char *p, int64_t v) { uint64_t u = htobe64((uint64_t)v); memcpy(p, &u, sizeof u); }
void wire_put_int4(char *p, int32_t v) { uint32_t u = htobe32((uint32_t)v); memcpy(p, &u, sizeof u); }
void wire_put_int2(char *p, int16_t v) { uint16_t u = htobe16((uint16_t)v); memcpy(p, &u, sizeof u); }

static const struct wire_type *type_of(char letter) { return &wire_types_by_letter[(unsigned char)letter]; }

int wire_types(const char *letters, Oid types[WIRE_PARAMS_MAX])
{
    int n = 0;
    for (; letters[n]; n++)
        types[n] = type_of(letters[n])->oid;
    return n;
}

static int64_t us_since_2000(int64_t seconds) { return (seconds - WIRE_TIMESTAMP_EPOCH_S) * 1000000; }

static void put_fixed(char letter, char *to, const void *elements, int i)
{
    switch (letter) {
    case 'I': wire_put_int4(to, ((const int32_t *)elements)[i]); break;
    case 'H': wire_put_int2(to, ((const int16_t *)elements)[i]); break;
    case 'L': wire_put_int8(to, ((const int64_t *)elements)[i]); break;
    case 'M': wire_put_int8(to, us_since_2000(((const int64_t *)elements)[i])); break;
    case 'N': wire_put_int8(to, ((const int64_t *)elements)[i] - WIRE_TIMESTAMP_EPOCH_S * 1000000); break;
    case 'U': memcpy(to, (const char *)elements + 16 * i, 16); break;
    }
}

static size_t array_size(const struct wire_type *type, int n, const void *elements)
{
    size_t size = ARRAY_HEADER + (size_t)n * 4;
    if (type->size > 0)
        return size + (size_t)n * (size_t)type->size;
    for (int i = 0; i < n; i++) {
        const char *text = ((const char *const *)elements)[i];
        size += text ? strlen(text) : 0;
    }
    return size;
}

static char *put_array(struct arena *a, char letter, int n, const void *elements, int *length)
{
    const struct wire_type *type = type_of(letter);
    size_t size = array_size(type, n, elements);
    char *start = size <= INT32_MAX ? arena_alloc(a, size) : NULL, *p = start;
    if (!start)
        return NULL;
    wire_put_int4(p, n > 0 ? 1 : 0);
    wire_put_int4(p + 4, type->size < 0);       /* only texts may be NULL */
    wire_put_int4(p + 8, (int32_t)type->element);
    wire_put_int4(p + 12, n);
    wire_put_int4(p + 16, 1);
    p += n > 0 ? ARRAY_HEADER : 12;
    for (int i = 0; i < n; i++, p += 4) {
        const char *text = type->size < 0 ? ((const char *const *)elements)[i] : NULL;
        int32_t len = type->size > 0 ? type->size : text ? (int32_t)strlen(text) : -1;
        wire_put_int4(p, len);
        if (type->size > 0)
            put_fixed(letter, p + 4, elements, i);
        else if (text)
            memcpy(p + 4, text, (size_t)len);
        p += len > 0 ? len : 0;
    }
    *length = (int)(p - start);
    return start;
}

/* A scalar that is not text, in the size of its type. NULL: out of memory, or an `o` of 0
 * (`*is_null`). */
static char *put_scalar(struct arena *a, char letter, va_list *ap, bool *is_null)
{
    char *p = arena_alloc(a, 16);
    if (!p)
        return NULL;
    int64_t at;
    switch (letter) {
    case 'i': wire_put_int4(p, va_arg(*ap, int)); break;
    case 'l': wire_put_int8(p, va_arg(*ap, int64_t)); break;
    case 'b': *p = va_arg(*ap, int) != 0; break;
    case 'u': memcpy(p, va_arg(*ap, const unsigned char *), 16); break;
    default:
        at = va_arg(*ap, int64_t);
        *is_null = letter == 'o' && at == 0;
        wire_put_int8(p, us_since_2000(at));
    }
    return p;
}

static bool put_one(struct wire_params *p, struct arena *a, char letter, va_list *ap)
{
    const struct wire_type *type = type_of(letter);
    bool is_null = false;
    const char *value;
    int length = type->size;
    if (type->element) {
        int n = va_arg(*ap, int);
        const void *elements = va_arg(*ap, const void *);
        is_null = n < 0;
        value = is_null ? "" : put_array(a, letter, n, elements, &length);
    } else if (letter == 't') {
        value = va_arg(*ap, const char *);
        is_null = !value;
        length = value ? (int)strlen(value) : 0;
    } else {
        value = put_scalar(a, letter, ap, &is_null);
    }
    p->values[p->n] = is_null ? NULL : value;
    p->lengths[p->n] = length;
    p->formats[p->n] = 1;
    p->n++;
    return value || is_null;
}

bool wire_put(struct wire_params *p, struct arena *a, const char *letters, ...)
{
    va_list ap;
    bool ok = true;
    va_start(ap, letters);
    for (p->n = 0; ok && *letters && p->n < WIRE_PARAMS_MAX; letters++)
        ok = put_one(p, a, *letters, &ap);
    va_end(ap);
    return ok;
}

static bool get_int4_array(const char *p, int length, struct arena *a, int *n, const int32_t **out)
{
    *n = 0;
    *out = NULL;
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
    *n = count;
    *out = to;
    return true;
}

/* A value of its type's size; `p` NULL is SQL NULL and reads as zero. */
static void get_fixed(char letter, const char *p, va_list *ap)
{
    switch (letter) {
    case 'i': *va_arg(*ap, int32_t *) = p ? wire_int4(p) : 0; break;
    case 'l': *va_arg(*ap, int64_t *) = p ? wire_int8(p) : 0; break;
    case 'b': *va_arg(*ap, bool *) = p && *p; break;
    case 'm': *va_arg(*ap, int64_t *) = p ? wire_int8(p) / 1000000 + WIRE_TIMESTAMP_EPOCH_S : 0; break;
    /* 'infinity' is the largest */
    case 'n':
        *va_arg(*ap, int64_t *) = p ? saturate_add(wire_int8(p), WIRE_TIMESTAMP_EPOCH_S * 1000000) : 0;
        break;
    case 'u':
        if (p)
            memcpy(va_arg(*ap, unsigned char *), p, 16);
        else
            memset(va_arg(*ap, unsigned char *), 0, 16);
        break;
    }
}

bool wire_get(const PGresult *r, int row, struct arena *a, const char *letters, ...)
{
    va_list ap;
    bool ok = PQnfields(r) >= (int)strlen(letters) && row < PQntuples(r);
    va_start(ap, letters);
    for (int column = 0; ok && letters[column]; column++) {
        int length = PQgetlength(r, row, column);
        const char *p = length == 0 && PQgetisnull(r, row, column) ? NULL : PQgetvalue(r, row, column);
        if (letters[column] == 't') {
            *va_arg(ap, const char **) = p;
        } else if (letters[column] == 's') {
            *va_arg(ap, const char **) = p;
            *va_arg(ap, uint32_t *) = (uint32_t)length;
        } else if (letters[column] == 'I') {
            int *n = va_arg(ap, int *);
            ok = get_int4_array(p ? p : "", p ? length : 0, a, n, va_arg(ap, const int32_t **));
        } else {
            ok = !p || length == type_of(letters[column])->size;
            get_fixed(letters[column], ok ? p : NULL, &ap);
        }
    }
    va_end(ap);
    return ok;
}
