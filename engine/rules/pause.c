/* pause.c - see pause.h. */
#include "pause.h"

#include <stdlib.h>
#include <string.h>

#include "terms.h"

static const char *const names[PAUSE_WHATS] = {
    [PAUSE_JOB] = "job", [PAUSE_ENTITY] = "entity", [PAUSE_SCHEDULE] = "schedule",
    [PAUSE_TENANT] = "tenant"
};

const char *pause_what_name(enum pause_what what)
{
    return (unsigned)what < PAUSE_WHATS ? names[what] : "?";
}

enum pause_what pause_what_of(const char *name)
{
    int what = 0;
    while (what < PAUSE_WHATS && strcmp(names[what], name) != 0)
        what++;
    return (enum pause_what)what;
}

/* Those that are on first, by what they pause, and then by its name. */
static int compare(const struct pause *a, const struct pause *b)
{
    if (a->is_on != b->is_on)
        return a->is_on ? -1 : 1;
    if (a->what != b->what)
        return a->what < b->what ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int by_what_and_name(const void *a, const void *b)
{
    const struct pause *x = a, *y = b;
    int order = compare(x, y);
    return order ? order : (x->slot > y->slot) - (x->slot < y->slot);
}

void pauses_sort(struct pauses *p)
{
    if (p->n > 1)
        qsort(p->all, (size_t)p->n, sizeof *p->all, by_what_and_name);
    p->nschedules = 0;
    for (int i = 0; i < p->n; i++)
        p->nschedules += p->all[i].what == PAUSE_SCHEDULE;
}

/* The slot of the pause of that name, 0: there is none. */
static int64_t slot_of(const struct pauses *p, enum pause_what what, const char *name)
{
    struct pause wanted = { .what = what, .name = name, .is_on = true };
    int low = 0, high = p->n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (compare(&p->all[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->n && compare(&p->all[low], &wanted) == 0 ? p->all[low].slot : 0;
}

/* Terms that cannot be read name no schedule; nor is their check run. */
static int64_t slot_of_schedule(const struct pauses *p, const char *terms)
{
    struct terms read;
    struct err err;
    if (terms_parse(terms, &read, &err) < 0)
        return 0;
    return slot_of(p, PAUSE_SCHEDULE, read.recurrence.name);
}

static int64_t first_of(int64_t a, int64_t b)
{
    if (!a || !b)
        return a ? a : b;
    return a < b ? a : b;
}

int64_t pauses_find(const struct pauses *p, const struct check *check)
{
    if (!p->n)
        return 0;
    int64_t slot = first_of(slot_of(p, PAUSE_JOB, check->job_exec),
                            slot_of(p, PAUSE_ENTITY, check->entity_name));
    if (check->tenant)
        slot = first_of(slot, slot_of(p, PAUSE_TENANT, check->tenant));
    return p->nschedules && check_recurs(check) ? first_of(slot, slot_of_schedule(p, check->terms)) : slot;
}

const struct pause *pauses_of_slot(const struct pauses *p, int64_t slot)
{
    for (int i = 0; i < p->n; i++)
        if (p->all[i].slot == slot)
            return &p->all[i];
    return NULL;
}
