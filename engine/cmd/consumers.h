/* consumers.h - what people do with the consumers of `prescient events --deliver`: look how far
 * each is, set one back or forward, forget it. Each returns an exit code. */
#ifndef PRESCIENT_CONSUMERS_H
#define PRESCIENT_CONSUMERS_H

#include "app.h"

int consumers_list(struct app *app);
/* `to` is a cursor, "now", or a time such as "-1d". */
int consumers_reset(struct app *app, const char *name, const char *to);
int consumers_forget(struct app *app, const char *name);

/* The names of the others, the first few; "": there are none; NULL: not known. */
const char *consumers_others(struct app *app, const char *name);

/* Says which consumers have not read events from before `before`, which a prune drops. */
void consumers_warn_of_prune(struct app *app, int64_t before, bool dry_run);

#endif
