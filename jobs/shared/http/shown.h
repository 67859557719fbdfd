/* shown.h - a request in words, for a try that sends nothing. */
#ifndef PRESCIENT_SHARED_SHOWN_H
#define PRESCIENT_SHARED_SHOWN_H

#include <stdbool.h>

#include <prescient/job.h>

#include "flight.h"

/* Whether the value of such a header, or member of a query, may let others in. */
bool shown_is_secret_name(const char *name, size_t len);

/* Secrets of the settings become "***" in a text. */
void shown_hide(const struct prescient_host *host, char *text);

/* "POST https://example.com/hook", a header a line, an empty line, the body. What may let others
 * in is "***": secrets of the settings, a URL that is one, values of headers, and of members of
 * the query, whose names say so, signatures, and with `hides_path` all of the URL behind its host.
 * A NUL of the body is "\\x00". To be freed; NULL: out of memory. */
char *shown_request(const struct prescient_host *host, const struct flight *f,
                    const struct flight_request *request, bool hides_path);

#endif
