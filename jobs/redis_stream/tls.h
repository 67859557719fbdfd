/* tls.h - TLS on a connection to a Redis server: the settings, and a handshake that never blocks.
 * Where hiredis has no TLS (WITH_OPTIONAL is not defined) the settings refuse it. */
#ifndef PRESCIENT_REDIS_STREAM_TLS_H
#define PRESCIENT_REDIS_STREAM_TLS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stddef.h>

#include "../shared/settings/settings.h"

struct tls;                         /* what all connections share */
struct ssl_st;                      /* OpenSSL's, of one connection, which owns it */

/* The settings `tls`, `ca_file`, `cert`, `key`; *out stays NULL without TLS. 0, or -1 with words;
 * the caller closes *out in either case. */
int tls_open(const struct settings *s, bool is_path, struct tls **out);
void tls_close(struct tls *tls);

/* Puts TLS onto a connection that is up, to this host. NULL: with words. */
struct ssl_st *tls_start(struct tls *tls, redisContext *redis, const char *host, char *why, size_t why_size);
/* 0: the handshake is over; POLLIN or POLLOUT: when to call it again; -1, with words. */
int tls_shake_hands(struct ssl_st *ssl, char *why, size_t why_size);

/* For a connection with or without TLS (NULL). What to wait for, where `events` is what the
 * socket alone would need; 0: nothing, as something is there to be read. */
short tls_events(struct ssl_st *ssl, short events);
/* Before reading or writing, so that tls_error tells of that alone. */
void tls_forget_errors(const struct ssl_st *ssl);
/* The words of a read or write that failed, with advice; `otherwise` when TLS knows none. */
void tls_error(struct ssl_st *ssl, const char *otherwise, char *out, size_t size);

#endif
