/* zone.h - a time zone as data: which offset from UTC its clocks had or will have at any moment. It
 * is read from the system's tzdata (TZif files, RFC 8536), and is not changed afterwards, so it may
 * be used anywhere. The zone of the process (TZ, /etc/localtime) plays no part. Leap seconds are
 * ignored, as all moments here do. */
#ifndef PRESCIENT_ZONE_H
#define PRESCIENT_ZONE_H

#include <stddef.h>
#include <stdint.h>
#include "err.h"

#define ZONE_NAME_MAX 63          /* bytes; the longest name of tzdata has 32 */
#define ZONE_FILE_MAX (64 * 1024) /* bytes of a TZif file; the largest of tzdata has 4 KiB */
#define ZONE_FOLDER "/usr/share/zoneinfo"

struct zone;

/* Whether a text may name a zone: 1 to ZONE_NAME_MAX letters, digits, '_', '+' and '-', with single
 * slashes between them. So no name leads out of the folder. What lies below posix and right, and
 * localtime, posixrules and Factory, are no zones of their own. 0 or ERR_INPUT. */
int zone_check_name(const char *name, struct err *err);

/* Reads a zone from ZONE_FOLDER. "UTC" is known without a file. ERR_INPUT: no such name, with the
 * one that was probably meant, or a file that cannot be used, with what is wrong in it;
 * ERR_NOTFOUND: there is no tzdata. The caller frees the zone. */
int zone_read(const char *name, struct zone **out, struct err *err);

/* The same from another folder of that form. */
int zone_read_from(const char *folder, const char *name, struct zone **out, struct err *err);

/* The same from a file anywhere; `name` is only kept. ERR_NOTFOUND: there is no such file. */
int zone_read_file(const char *path, const char *name, struct zone **out, struct err *err);

/* The contents of a TZif file, version 2 or later; any bytes may be given. `name` is only kept.
 * ERR_INPUT or ERR_NOMEM. */
int zone_parse(const char *name, const void *bytes, size_t size, struct zone **out, struct err *err);

/* Which file a zone is read from at this moment: another one, or one that was written anew, has
 * another stamp. All 0: there is none, as for "UTC". */
struct zone_stamp {
    int64_t changed_ns, size;
    uint64_t file;
};
struct zone_stamp zone_stamp(const char *folder, const char *name);

void zone_free(struct zone *z);   /* NULL is fine */
void zone_freep(struct zone **z); /* for CLEANUP */
const char *zone_name(const struct zone *z);

/* A stretch of time with one offset: local time = UTC + offset_s, for begins <= UTC < ends. The
 * first begins at INT64_MIN and the last ends at INT64_MAX. Two that follow each other may have the
 * same offset. */
struct zone_span {
    int64_t begins, ends;
    int32_t offset_s;
};

/* The one that `at` is in. From the year 10000 on, clocks are not changed any more. */
struct zone_span zone_span(const struct zone *z, int64_t at);

/* When clocks show `local`, seconds since 1970 as if it were UTC. A time that comes twice is the
 * first of them; one that is skipped is the first moment after the gap. */
int64_t zone_moment(const struct zone *z, int64_t local);

#endif
