/* zones.h - the time zones that an engine has read so far: each when the first check names it, and
 * again when its file has changed, which an update of tzdata does while a daemon runs. One that
 * could not be read is looked for again after a minute, and not for each check; that holds for the
 * last ZONES_MISSING_MAX of them. */
#ifndef PRESCIENT_ZONES_H
#define PRESCIENT_ZONES_H

#include <stdint.h>
#include "../base/err.h"
#include "../base/zone.h"

struct known_zone {
    struct zone *zone;
    struct zone_stamp stamp;            /* of the file that it was read from */
    int64_t looked_us;                  /* when that was compared last */
};

struct missing_zone {
    char name[ZONE_NAME_MAX + 1];
    struct err why;                     /* it could not be read */
    int64_t missed_us;                  /* when that was */
};

enum { ZONES_MISSING_MAX = 64 };        /* 140 KB, once a zone is missing */

struct zones {
    const char *folder;                 /* NULL: ZONE_FOLDER */
    struct known_zone *all;
    int n;
    struct missing_zone *missing;       /* room for ZONES_MISSING_MAX; NULL: none was missing yet */
    int nmissing;
    int64_t reads;                      /* how often a zone's file was read, or looked for */
};

void zones_release(struct zones *z);

/* NULL: it cannot be read, and *err has why. The zone lives until the next call. One whose new file
 * cannot be read stays as it was. */
const struct zone *zones_find(struct zones *z, const char *name, int64_t now_us, struct err *err);

#endif
