/* why_ask.h - gathers what why.h decides by, from reports of the store. Who asks brings the way to
 * run one. */
#ifndef PRESCIENT_WHY_ASK_H
#define PRESCIENT_WHY_ASK_H

#include "../base/settings.h"
#include "rows.h"
#include "why.h"

struct why_source {
    /* Runs a report; the rows live in the arena. Returns 0 or an ERR_. */
    int (*rows)(void *ctx, const char *report, const char *const *params, int nparams,
                struct store_rows *out, struct err *err);
    void *ctx;
    const struct settings *settings;
    struct arena *arena;            /* for rows and sentences */
    const struct telling *telling;  /* how sentences tell times; NULL: RFC 3339 in UTC */
    int64_t now;
    int32_t slot_length_s;
    int search_ms;                  /* for how long its runs are searched, and its history */
};

struct why_item {
    const char *job;                /* NULL: no check of the row was found, and no job was named */
    int64_t at;                     /* the slot for which it waits, or when it ended; 0: neither */
    struct why why;
};
struct why_event_item {
    const char *event, *job, *listener;         /* listener NULL: none has heard it */
    int64_t emitted_at_us;
    struct why why;
};
/* Why each check of one row is where it is: those that wait, soonest first, and then the last of
 * each other job, among the newest hundred that are over. At least one. Then its newest events, a
 * line a delivery. */
struct why_answer {
    struct why_item *items;
    struct why_event_item *events;
    int nitems, nevents;
};

/* `job` NULL: all jobs. Returns 0, ERR_INPUT for an empty name, or another ERR_. */
int why_ask(const struct why_source *source, const char *entity, const char *key, const char *job,
            struct why_answer *out, struct err *err);

#endif
