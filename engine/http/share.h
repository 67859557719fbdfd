/* share.h - of what there is only so much of (requests under way, clients that wait for events), no
 * peer takes all. While there is enough, nobody is told anything: behind a proxy all clients are
 * one peer. Pure. */
#ifndef PRESCIENT_HTTP_SHARE_H
#define PRESCIENT_HTTP_SHARE_H

#include <stdbool.h>

/* The last places, one in so many, are for peers that have less than half of what is taken. */
enum { SHARE_KEPT = 8 };

/* `most`: how many places there are; `taken`: by all; `own`: by the peer that wants one more. */
bool share_is_left(int most, int taken, int own);

#endif
