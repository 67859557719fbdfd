/* event_filter.h - which events a listing shows. They are chosen here and not by the store: there
 * they have one order, that of their cursors, and no index for anything else. */
#ifndef PRESCIENT_EVENT_FILTER_H
#define PRESCIENT_EVENT_FILTER_H

#include "args.h"
#include "command.h"

/* The options, for the table of the command; their letters are event_filter_read's. */
#define EVENT_FILTER_SINCE  { "since", 'S', "TIME", "only those emitted from this time on" }
#define EVENT_FILTER_BEFORE { "before", 'B', "TIME", "only those emitted before this time" }
#define EVENT_FILTER_JOB    { "job", 'j', "NAME", "only those of this job" }
#define EVENT_FILTER_ENTITY { "entity", 'n', "NAME", "only those of rows of this entity" }
#define EVENT_FILTER_KEY    { "key", 'k', "KEY", "only those of rows with this key" }
#define EVENT_FILTER_EVENT  { "event", 'v', "NAME", "only those of this name; order.* is all that begin so" }
#define EVENT_FILTER_LETTERS "SBjnkv"

struct event_filter {
    int64_t since, before;          /* seconds; 0: any */
    const char *job, *entity, *key, *event;
};

/* What the options choose. Returns 0 or an ERR_. */
int event_filter_read(struct app *app, const struct args *args, struct event_filter *out, struct err *err);

/* Whether it takes all. */
bool event_filter_is_open(const struct event_filter *f);

/* Whether it takes the event of that row. */
bool event_filter_takes(const struct event_filter *f, const struct store_rows *rows, int row);

#endif
