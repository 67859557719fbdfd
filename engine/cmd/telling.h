/* telling.h - how this command tells times: with --zone, --local, or on a terminal TZ, in that
 * zone, and on a terminal short. With --json it is for a program: RFC 3339 in UTC. All that
 * commands say of times goes through here; what one looks like is view/told.h. */
#ifndef PRESCIENT_TELLING_H
#define PRESCIENT_TELLING_H

#include "../view/told.h"
#include "command.h"

/* Without how far away they are. */
struct telling telling_of(const struct app *app);

/* Texts live in the arena of the command; out of memory they are "". Of a moment in seconds. */
const char *telling_moment(struct app *app, int64_t at);        /* without how far away it is */
const char *telling_moment_away(struct app *app, int64_t at);   /* with that, on a terminal */
/* As one argument of a command line. NULL stays NULL. */
const char *telling_typed(struct app *app, int64_t at);
const char *telling_typed_cell(struct app *app, enum cell_kind kind, const char *cell);
/* A cell of a report, with how far away it is on a terminal; `is_due`: what has passed is late.
 * NULL stays NULL. */
const char *telling_cell(struct app *app, enum cell_kind kind, const char *cell, bool is_due);
/* Words that a store has put together, with its moments told as the others are. */
const char *telling_text(struct app *app, const char *text);

#endif
