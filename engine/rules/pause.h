/* pause.h - which checks wait until they are resumed: those of a job, an entity, a tenant, or a
 * schedule that is paused. Each pause has a slot of its own, in which its checks wait. Pure: no
 * I/O, no clock. */
#ifndef PRESCIENT_PAUSE_H
#define PRESCIENT_PAUSE_H

#include <stdbool.h>
#include <stdint.h>
#include "check.h"

enum pause_what { PAUSE_JOB, PAUSE_ENTITY, PAUSE_SCHEDULE, PAUSE_TENANT, PAUSE_WHATS };

/* The name as stores and commands have it: "job", "entity", "schedule", "tenant". */
const char *pause_what_name(enum pause_what what);
enum pause_what pause_what_of(const char *name);        /* PAUSE_WHATS: another word */

struct pause {
    int64_t slot;                   /* in which its checks wait */
    enum pause_what what;
    const char *name;
    bool is_on;                     /* false: it was resumed, and its slot is not yet empty */
    /* resumed checks go to the next full slot, and are not spread over its seconds */
    bool is_reslotted;
};

/* In the order in which pauses_find looks. */
struct pauses {
    struct pause *all;
    int n;
    int nschedules;                 /* of schedules: for them terms are read. pauses_sort counts them */
};

void pauses_sort(struct pauses *p);
/* The slot of the first pause that is on and matches the check; 0: none is. */
int64_t pauses_find(const struct pauses *p, const struct check *check);
/* The pause of that slot, or NULL. */
const struct pause *pauses_of_slot(const struct pauses *p, int64_t slot);

#endif
