/* pg_handshake.c - one step of a connection that is being opened. */
#include "pg_handshake.h"

#include <poll.h>

short pg_handshake_events(PostgresPollingStatusType last)
{
    return last == PGRES_POLLING_READING ? POLLIN : POLLOUT;
}

PostgresPollingStatusType pg_handshake_step(PGconn *conn, PostgresPollingStatusType last, int wait_ms)
{
    struct pollfd p = { .fd = PQsocket(conn), .events = pg_handshake_events(last) };
    if (poll(&p, 1, wait_ms) <= 0)      /* not ready, or a signal came */
        return last;
    return PQconnectPoll(conn);
}

static void drop_notice(void *ctx, const PGresult *notice)
{
    (void)ctx;
    (void)notice;
}

void pg_handshake_drop_notices(PGconn *conn)
{
    PQsetNoticeReceiver(conn, drop_notice, NULL);
}
