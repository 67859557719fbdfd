/* tzif_fixture.c - the bytes of RFC 8536, in the order in which they stand there. */
#include "tzif_fixture.h"

#include <string.h>

static unsigned char *put(unsigned char *p, int64_t n, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        *p++ = (unsigned char)((uint64_t)n >> 8 * i);
    return p;
}

static unsigned char *put_header(unsigned char *p, int times, int types)
{
    const int counts[] = { 0, 0, 0, times, types, 4 };
    memcpy(p, "TZif2", 5);
    memset(p + 5, 0, 15);
    p += 20;
    for (int i = 0; i < 6; i++)
        p = put(p, counts[i], 4);
    return p;
}

static unsigned char *put_type(unsigned char *p, int32_t offset_s)
{
    p = put(p, offset_s, 4);
    return put(p, 0, 2);
}

static unsigned char *put_names(unsigned char *p)
{
    memcpy(p, "XXX", 4);
    return p + 4;
}

size_t tzif_write(const struct tzif *zone, unsigned char out[TZIF_ROOM])
{
    unsigned char *p = put_header(out, 0, 1);
    p = put_names(put_type(p, 0));
    p = put_header(p, zone->n, zone->n + 1);
    for (int i = 0; i < zone->n; i++)
        p = put(p, zone->at[i], 8);
    for (int i = 0; i < zone->n; i++)
        p = put(p, i + 1, 1);
    for (int i = 0; i <= zone->n; i++)
        p = put_type(p, zone->offset_s[i]);
    p = put_names(p);
    *p++ = '\n';
    size_t len = strlen(zone->footer);
    memcpy(p, zone->footer, len);
    p += len;
    *p++ = '\n';
    return (size_t)(p - out);
}
