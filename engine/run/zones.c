/* zones.c - see zones.h. */
#include "zones.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MISSING_FOR_US = 60 * 1000 * 1000, LOOK_AGAIN_US = 60 * 1000 * 1000 };

void zones_release(struct zones *z)
{
    for (int i = 0; i < z->n; i++)
        zone_free(z->all[i].zone);
    free(z->all);
    free(z->missing);
    *z = (struct zones){ 0 };
}

/* The stamp comes first: a file that is replaced in between is read once more. */
static int read_zone(struct zones *z, const char *name, struct known_zone *out, struct err *err)
{
    z->reads++;
    out->stamp = zone_stamp(z->folder ? z->folder : ZONE_FOLDER, name);
    return z->folder ? zone_read_from(z->folder, name, &out->zone, err) : zone_read(name, &out->zone, err);
}

static const struct zone *add(struct zones *z, struct known_zone known, struct err *err)
{
    struct known_zone *all = realloc(z->all, ((size_t)z->n + 1) * sizeof *all);
    if (!all) {
        zone_free(known.zone);
        err_set(err, ERR_NOMEM, "out of memory for a time zone");
        return NULL;
    }
    z->all = all;
    z->all[z->n++] = known;
    return known.zone;
}

static void look_again(struct zones *z, struct known_zone *known, int64_t now_us)
{
    const char *name = zone_name(known->zone);
    struct known_zone new = { .looked_us = now_us };
    struct zone_stamp stamp = zone_stamp(z->folder ? z->folder : ZONE_FOLDER, name);
    known->looked_us = now_us;
    bool is_same = stamp.changed_ns == known->stamp.changed_ns && stamp.size == known->stamp.size &&
                   stamp.file == known->stamp.file;
    if (is_same || read_zone(z, name, &new, NULL) < 0)
        return;
    zone_free(known->zone);
    *known = new;
}

static const struct missing_zone *find_missing(const struct zones *z, const char *name, int64_t now_us)
{
    for (int i = 0; i < z->nmissing; i++)
        if (!strcmp(z->missing[i].name, name) && now_us - z->missing[i].missed_us < MISSING_FOR_US)
            return &z->missing[i];
    return NULL;
}

/* The place of that name, else a new one, else that of the one that was looked for first. */
static struct missing_zone *place_of_missing(struct zones *z, const char *name)
{
    struct missing_zone *oldest = z->missing;
    for (int i = 0; i < z->nmissing; i++) {
        if (!strcmp(z->missing[i].name, name))
            return &z->missing[i];
        if (z->missing[i].missed_us < oldest->missed_us)
            oldest = &z->missing[i];
    }
    return z->nmissing < ZONES_MISSING_MAX ? &z->missing[z->nmissing++] : oldest;
}

/* Without memory it is looked for again by the next check. */
static void note_missing(struct zones *z, const char *name, int64_t now_us, const struct err *why)
{
    if (!z->missing)
        z->missing = calloc(ZONES_MISSING_MAX, sizeof *z->missing);
    if (!z->missing)
        return;
    struct missing_zone *m = place_of_missing(z, name);
    snprintf(m->name, sizeof m->name, "%s", name);
    m->why = *why;
    m->missed_us = now_us;
}

const struct zone *zones_find(struct zones *z, const char *name, int64_t now_us, struct err *err)
{
    struct known_zone new = { .looked_us = now_us };
    for (int i = 0; i < z->n; i++) {
        if (strcmp(zone_name(z->all[i].zone), name) != 0)
            continue;
        if (now_us - z->all[i].looked_us >= LOOK_AGAIN_US)
            look_again(z, &z->all[i], now_us);
        return z->all[i].zone;
    }
    const struct missing_zone *missing = find_missing(z, name, now_us);
    if (missing) {
        *err = missing->why;
        return NULL;
    }
    if (read_zone(z, name, &new, err) == 0)
        return add(z, new, err);
    note_missing(z, name, now_us, err);
    return NULL;
}
