/* pg_handshake.c - one step of a connection that is being opened. */
#include "pg_handshake.h"

#include <ctype.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>

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

/* libpq has no other way to ask for the SQLSTATE of a connection that failed: with this verbosity
 * its message has it, as "FATAL:  28P01: password authentication failed", and a line more. */
void pg_handshake_begin(PGconn *conn)
{
    PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
}

void pg_handshake_over(PGconn *conn)
{
    PQsetErrorVerbosity(conn, PQERRORS_DEFAULT);
}

enum { STATE_LEN = 5 };

/* "28P01: " stands here. */
static bool is_state(const char *at)
{
    for (int i = 0; i < STATE_LEN; i++)
        if (!isdigit((unsigned char)at[i]) && !isupper((unsigned char)at[i]))
            return false;
    return at[STATE_LEN] == ':' && at[STATE_LEN + 1] == ' ';
}

/* Appends one line without its SQLSTATE; the first one that is found counts. */
static size_t take_line(const char *line, size_t len, char state[6], char *to, size_t room)
{
    static const char before[] = ":  ";
    const char *mark = memmem(line, len, before, strlen(before));
    size_t head = len, skipped = 0;
    bool fits = mark && (size_t)(line + len - mark) > strlen(before) + STATE_LEN + 2;
    if (fits && is_state(mark + strlen(before))) {
        head = (size_t)(mark - line) + strlen(before);
        skipped = STATE_LEN + 2;
        if (!*state) {
            memcpy(state, line + head, STATE_LEN);
            state[STATE_LEN] = '\0';
        }
    }
    if (head > room)
        head = room;
    memcpy(to, line, head);
    size_t tail = len > head + skipped ? len - head - skipped : 0;
    if (tail > room - head)
        tail = room - head;
    memcpy(to + head, line + head + skipped, tail);
    return head + tail;
}

void pg_handshake_failure(const PGconn *conn, char state[6], char *message, size_t size)
{
    const char *line = conn ? PQerrorMessage(conn) : "out of memory";
    size_t used = 0;
    *state = '\0';
    while (*line && used + 1 < size) {
        size_t len = strcspn(line, "\n");
        len += line[len] == '\n';
        if (strncmp(line, "LOCATION:", strlen("LOCATION:")) != 0)
            used += take_line(line, len, state, message + used, size - 1 - used);
        line += len;
    }
    message[used] = '\0';
    if (!*state && conn && PQconnectionNeedsPassword(conn))
        memcpy(state, "28P01", STATE_LEN + 1);
}
