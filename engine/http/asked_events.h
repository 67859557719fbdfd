/* asked_events.h - GET /v1/events: what jobs have emitted, in the order in which readers get it. */
#ifndef PRESCIENT_HTTP_ASKED_EVENTS_H
#define PRESCIENT_HTTP_ASKED_EVENTS_H

#include "desk.h"

/* {"items": [...], "next": a cursor}: the next question, with after=next, goes on behind these;
 * also where there are none yet. A cursor of another history of the store is 410: events would be
 * missed without a word. With `wait` it is answered when there is one, or when that time is over;
 * who accepts text/event-stream gets them as they come. */
void asked_events_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers);

#endif
