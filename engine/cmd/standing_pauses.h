/* standing_pauses.h - says what is paused, for status and doctor: paused checks are not late, and
 * nothing else tells of a pause that was forgotten. */
#ifndef PRESCIENT_STANDING_PAUSES_H
#define PRESCIENT_STANDING_PAUSES_H

#include <jansson.h>
#include "app.h"

/* The oldest ones that are on or ending; one more row than are named when there are more. */
int standing_pauses_ask(struct app *app, struct store_rows *out, struct err *err);

/* "job noop (4 checks, since 2026-03-01T13:15:00Z by ada: their API is down), and others". NULL:
 * nothing is paused. */
const char *standing_pauses_words(struct app *app, const struct store_rows *pauses);

/* True when one of them is on for longer than a day. */
bool standing_pauses_are_old(const struct store_rows *pauses, int64_t now);

json_t *standing_pauses_json(struct app *app, const struct store_rows *pauses);

#endif
