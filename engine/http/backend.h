/* backend.h - a process of `prescient serve` that asks the store: it reads questions from a socket,
 * answers them one message after the other, and ends when the other side is closed. It speaks no
 * HTTP, and the process that does has no connection to the store. */
#ifndef PRESCIENT_HTTP_BACKEND_H
#define PRESCIENT_HTTP_BACKEND_H

#include "../base/log.h"
#include "../base/settings.h"

/* `role`: the one whose rights it needs on PostgreSQL. `reads_only`: the database refuses what
 * would write. Returns when the socket is closed: 0, or 1 when it cannot go on. */
int backend_run(const struct settings *settings, struct log *log, const char *role, bool reads_only,
                int sock);

#endif
