/* server.h - `prescient serve`: one process that speaks HTTP and never waits, in front of some that
 * ask the store (backend.h). */
#ifndef PRESCIENT_HTTP_SERVER_H
#define PRESCIENT_HTTP_SERVER_H

#include "../base/log.h"
#include "../base/settings.h"
#include "../base/supervisor.h"
#include "listen.h"

struct server_options {
    const struct settings *settings;
    struct log *log;
    /* whose rights it needs on PostgreSQL: to file checks, and to look at them */
    const char *role, *reader_role;
    int listen_fd;                  /* opened for it; it closes it */
    bool is_local;                  /* only this machine's programs reach it */
    /* SIGHUP: reads the settings again; NULL: those of before stay in force, and it has said
     * why. Those of before are not used any more from then on. NULL as a function: SIGHUP ends
     * the server. */
    const struct settings *(*renew)(void *ctx);
    void *ctx;
    struct supervisor *supervisor;
};

/* Serves until SIGTERM or SIGINT: then it takes no new connection, answers what it has
 * read, and ends within `stop_timeout`; a second signal ends it at once. Returns 0, or an ERR_. */
int server_run(const struct server_options *options, struct err *err);

#endif
