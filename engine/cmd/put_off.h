/* put_off.h - says which checks were put off without a run, by job: for status and doctor. */
#ifndef PRESCIENT_PUT_OFF_H
#define PRESCIENT_PUT_OFF_H

#include <jansson.h>
#include "app.h"

/* "3 checks wait for jobs that no engine has: typo (3, since ...)"; jobs that are in the settings
 * are named by themselves. NULL: there are none. */
const char *put_off_words(struct app *app, const struct store_rows *rows);

/* What to do about it. */
const char *put_off_advice(struct app *app, const struct store_rows *rows);

/* An array with an object for each job. */
json_t *put_off_json(struct app *app, const struct store_rows *rows);

/* Asks the store for the rows. */
int put_off_ask(struct app *app, struct store_rows *out, struct err *err);

#endif
