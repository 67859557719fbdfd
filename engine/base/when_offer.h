/* when_offer.h - what was probably meant by a text that is no time: "tomorrow 09:00" for "tomorrow
 * 9am". It is only offered: a text that is read in two ways is read in the wrong one some day. */
#ifndef PRESCIENT_WHEN_OFFER_H
#define PRESCIENT_WHEN_OFFER_H

#include <stdbool.h>

enum { WHEN_OFFER = 160 };

/* The text with its words mended. False: there was nothing to mend, or it is too long. Whether the
 * result is a time is for the caller to see. */
bool when_offer(const char *text, char out[WHEN_OFFER]);

#endif
