/* seen_engines.h - says which engines have noted themselves, what they serve and did last, and what
 * the last pass and the last day were like: for status. */
#ifndef PRESCIENT_SEEN_ENGINES_H
#define PRESCIENT_SEEN_ENGINES_H

#include <jansson.h>
#include "app.h"

enum { SEEN_ENGINES_NAMED = 5 };

struct seen_engines {
    struct store_rows engines, lately;
};

int seen_engines_ask(struct app *app, struct seen_engines *out, struct err *err);

/* How many lines there are: one an engine, and one for those that are not named. */
int seen_engines_lines(const struct seen_engines *s);
/* "shop1 daemon /etc/prescient.cfg, 0.2.0 on db1 (42) since 2026-03-01T13:15:00Z; jobs: pay;
 * slots of minutes 0, 30; last pass: 2026-03-01T13:15:02Z; seen 2026-03-01T13:16:00Z" */
const char *seen_engines_words(struct app *app, const struct seen_engines *s, int line);

/* "slot 2026-03-01T13:15:00Z, over at 2026-03-01T13:15:02Z: 12 run, 1 failed"; NULL: none was. */
const char *seen_engines_last_pass(struct app *app, const struct seen_engines *s);
/* "3 of 1200 runs"; NULL: there were no runs. */
const char *seen_engines_day(struct app *app, const struct seen_engines *s);

json_t *seen_engines_json(struct app *app, const struct seen_engines *s);
json_t *seen_engines_lately_json(struct app *app, const struct seen_engines *s);

#endif
