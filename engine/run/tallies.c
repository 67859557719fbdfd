/* tallies.c - see tallies.h. A list that is searched: a minute has few kinds. */
#include "tallies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMED_MOST = STORE_TALLIES_MAX - 100, ROOM_FIRST = 16 };

void tallies_free(struct tallies *t)
{
    for (int i = 0; i < t->n; i++)
        free(t->all[i].name);
    free(t->all);
    *t = (struct tallies){ 0 };
}

static struct tally_sum *find(const struct tallies *t, const char *what, const char *name,
                              const char *outcome)
{
    for (int i = 0; i < t->n; i++) {
        struct tally_sum *sum = &t->all[i];
        if (!strcmp(sum->name, name) && !strcmp(sum->what, what) && !strcmp(sum->outcome, outcome))
            return sum;
    }
    return NULL;
}

static bool make_room(struct tallies *t)
{
    if (t->n < t->room)
        return true;
    int room = t->room ? t->room * 2 : ROOM_FIRST;
    struct tally_sum *all = realloc(t->all, (size_t)room * sizeof *all);
    if (!all)
        return false;
    t->all = all;
    t->room = room;
    return true;
}

struct tally_sum *tallies_of(struct tallies *t, const char *what, const char *name, const char *outcome)
{
    struct tally_sum *found = find(t, what, name, outcome);
    if (found)
        return found;
    if (t->n >= NAMED_MOST && *name)
        return tallies_of(t, what, "", outcome);
    char *copy = t->n < STORE_TALLIES_MAX && make_room(t) ? strdup(name) : NULL;
    if (!copy)
        return NULL;
    t->all[t->n] = (struct tally_sum){ .what = what, .name = copy, .outcome = outcome };
    return &t->all[t->n++];
}

void tallies_add_classes(int64_t bounds[HISTOGRAM_BOUNDS + 1], const uint32_t classes[HISTOGRAM_CLASSES])
{
    for (int i = 0; i < HISTOGRAM_CLASSES; i++)
        bounds[histogram_bound(i)] += classes[i];
}

/* "0,3,1"; NULL: out of memory. */
static const char *bounds_text(struct arena *a, const int64_t *bounds)
{
    enum { ONE = sizeof "9223372036854775807,", SIZE = (HISTOGRAM_BOUNDS + 1) * ONE };
    char *text = arena_alloc(a, SIZE), *end = text;
    if (!text)
        return NULL;
    for (int i = 0; i <= HISTOGRAM_BOUNDS; i++)
        end += snprintf(end, SIZE - (size_t)(end - text), "%s%" PRId64, i ? "," : "", bounds[i]);
    return text;
}

static bool fill(struct arena *a, const struct tally_sum *sum, struct tally *out)
{
    *out = (struct tally){ .what = sum->what, .name = arena_strdup(a, sum->name), .outcome = sum->outcome,
                           .n = sum->n, .took_us = sum->took_us, .late_us = sum->late_us,
                           .took = "", .late = "" };
    if (sum->has_bounds) {
        out->took = bounds_text(a, sum->took);
        out->late = bounds_text(a, sum->late);
    }
    return out->name && out->took && out->late;
}

int tallies_rows(const struct tallies *t, struct arena *a, const struct tally **out)
{
    struct tally *rows = arena_alloc(a, ((size_t)t->n + 1) * sizeof *rows);
    int n = 0;
    *out = rows;
    for (int i = 0; rows && i < t->n; i++)
        n += fill(a, &t->all[i], &rows[n]);
    return n;
}
