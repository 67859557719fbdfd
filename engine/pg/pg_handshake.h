/* pg_handshake.h - one step of opening a connection to PostgreSQL. The store must not wait; the
 * business database waits up to a deadline. */
#ifndef PRESCIENT_PG_HANDSHAKE_H
#define PRESCIENT_PG_HANDSHAKE_H

#include <stddef.h>

#include "libpq.h"

/* Continues what PQconnectStartParams began. `last` is the result of the step before,
 * PGRES_POLLING_WRITING for the first. Waits at most `wait_ms` for the socket and returns `last` if
 * it is not ready: PQconnectPoll must not be called then, because it would take the unfinished
 * connect for a finished one. */
PostgresPollingStatusType pg_handshake_step(PGconn *conn, PostgresPollingStatusType last, int wait_ms);

/* The events of poll() to wait for before the next step. */
short pg_handshake_events(PostgresPollingStatusType last);

/* Drops the server's notices; libpq would print them to stderr. */
void pg_handshake_drop_notices(PGconn *conn);

/* Right after PQconnectStartParams: a server that does not let us in then says so with its
 * SQLSTATE. pg_handshake_over once the connection is open: messages are as usual from then on. */
void pg_handshake_begin(PGconn *conn);
void pg_handshake_over(PGconn *conn);

/* Why the connection did not open, as usual, and the SQLSTATE that came with it in `state`: ""
 * where no server gave one. "28P01" also when a server asked for a password and there is none. */
void pg_handshake_failure(const PGconn *conn, char state[6], char *message, size_t size);

#endif
