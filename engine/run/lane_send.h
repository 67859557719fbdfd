/* lane_send.h - sending a lane's call, and what a failure means for its next one. */
#ifndef PRESCIENT_LANE_SEND_H
#define PRESCIENT_LANE_SEND_H

#include "lane_state.h"

/* Sends it. A line may die silently, and a lane that waits on it settles nothing, renews nothing,
 * and does not look for the new primary: so a call may take as long as a lease lasts. One that was
 * late may only be slow, as a look at a million rows can be: each time it gets twice as long. */
void lane_send(struct lane *l, struct store_call *call);
/* A call has come back, in its time or not. */
void lane_note_lateness(struct lane *l, int rc, const struct err *err);

/* The database is not ours, or not yet: no schema, another slot length, another encoding. */
bool lane_is_elsewhere(int rc);
/* A failure that cannot heal by waiting: it ends the engine. */
bool lane_is_final(const struct lane *l, int rc, const struct err *err);
/* It failed so often that a command ends; a daemon never does. */
bool lane_gives_up(const struct lane *l);

/* Nothing is sent before a pause that grows with each failure in a row; `what` begins the line in
 * the log. */
void lane_back_off(struct lane *l, const char *what, const struct err *err);

#endif
