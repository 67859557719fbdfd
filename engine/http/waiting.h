/* waiting.h - clients whose questions wait until somebody is asked: a queue of them, and behind
 * each those who have asked the same and share its answer. They own nothing: who drops a connection
 * takes it out before. */
#ifndef PRESCIENT_HTTP_WAITING_H
#define PRESCIENT_HTTP_WAITING_H

#include "connection.h"

/* In the order in which they came. */
struct waiting { struct connection *first, **end; };

void waiting_init(struct waiting *w);
void waiting_put(struct waiting *w, struct connection *c);
/* The first one; there is one. */
struct connection *waiting_take(struct waiting *w);
/* It need not be in there. Whoever shares its answer asks in its place. */
void waiting_drop(struct waiting *w, const struct connection *c);

/* `c` gets the answer of `leads`, too. */
void sharers_join(struct connection *leads, struct connection *c);
/* The next one after `c` of those who share an answer, or NULL; `c` is on its own from here on. */
struct connection *sharers_take(struct connection *c);
/* It need not be one of those who share the answer of `leads`, which may be NULL. */
void sharers_drop(struct connection *leads, const struct connection *c);

#endif
