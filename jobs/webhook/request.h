/* request.h - the request of a check: its headers, keys and signatures, and its body. */
#ifndef PRESCIENT_WEBHOOK_REQUEST_H
#define PRESCIENT_WEBHOOK_REQUEST_H

#include "../shared/http/flight.h"
#include "options.h"

/* Makes the request of a check ready, but for its URL. `now` is the real time. -1: the check is
 * answered instead. */
int request_prepare(struct flight *f, const struct options *o, const struct prescient_host *host,
                    const struct prescient_check *check, struct prescient_answer *answer, int64_t now,
                    struct flight_request *request);

#endif
