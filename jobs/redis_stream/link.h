/* link.h - one connection to a Redis server, never waited for beyond a moment. */
#ifndef PRESCIENT_REDIS_STREAM_LINK_H
#define PRESCIENT_REDIS_STREAM_LINK_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>

#include "tls.h"

struct link_place { char path_or_host[256]; int port; bool is_path; };

struct link_login { const char *user, *password; int database; };

struct link {
    redisContext *redis;            /* NULL: there is none */
    struct tls *tls;                /* NULL: without */
    struct ssl_st *session;         /* of TLS; the connection owns it */
    char why[256];                  /* of the last failure */
};

/* Connects and logs in, if there is no connection, or the one that is there was closed meanwhile.
 * 0, or -1 with `why`; *is_refused: the server has refused, and `why` is "COMMAND: " and its words.
 */
int link_open(struct link *l, const struct link_place *place, const struct link_login *login,
              int64_t until_us, bool *is_refused);
void link_close(struct link *l);

/* Puts a command into the buffer. */
int link_add(struct link *l, int n, const char *const words[], const size_t sizes[]);
/* Sends what is in the buffer, and waits for the next reply, which the caller frees. NULL with
 * `why`: the connection is closed. */
redisReply *link_reply(struct link *l, int64_t until_us);

int64_t link_now_us(void);

#endif
