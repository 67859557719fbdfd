/* pg_handshake.h - a connection to PostgreSQL that is being opened: for the store, which must not
 * wait, and for the business database, which waits up to a deadline. */
#ifndef PRESCIENT_PG_HANDSHAKE_H
#define PRESCIENT_PG_HANDSHAKE_H

#include <libpq-fe.h>

/* One step of what PQconnectStartParams began; `last` is what the step before returned, and
 * PGRES_POLLING_WRITING for the first. Waits at most `wait_ms` for the socket, and returns `last`
 * when it is not ready: PQconnectPoll must not be called before, or it takes a connect under way
 * for one that is done. */
PostgresPollingStatusType pg_handshake_step(PGconn *conn, PostgresPollingStatusType last, int wait_ms);

/* The events of poll() that the next step waits for. */
short pg_handshake_events(PostgresPollingStatusType last);

/* Notices of the server are dropped: libpq would print them to stderr. */
void pg_handshake_drop_notices(PGconn *conn);

#endif
