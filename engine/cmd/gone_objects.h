/* gone_objects.h - functions, views and whatever else the schema makes that is not there: for
 * doctor. */
#ifndef PRESCIENT_GONE_OBJECTS_H
#define PRESCIENT_GONE_OBJECTS_H

#include "app.h"

struct gone_objects {
    int n;                          /* how many */
    bool lost_rows;                 /* a table is among them, or what a table needs */
    bool only_indexes;              /* everything works without them, but slowly */
    const char *found;              /* which; of many the first ones, and how many more there are */
    const char *names;              /* all, with commas between them: for `prescient schema --only` */
};

/* What is in `out` lives in the arena. Means something where the schema is of this version. 0 or an
 * ERR_. */
int gone_objects_ask(struct app *app, struct gone_objects *out, struct err *err);

#endif
