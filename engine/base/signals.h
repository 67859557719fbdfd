/* signals.h - signals by way of a descriptor: no handler, no shared variable. */
#ifndef PRESCIENT_SIGNALS_H
#define PRESCIENT_SIGNALS_H

#include "err.h"

/* Blocks these signals, the last one followed by 0, in the calling thread, and returns a descriptor
 * of signalfd(2) that they come by, or an ERR_. It is the caller's to close; it does not block. */
int signals_open(const int *signals, struct err *err);

#endif
