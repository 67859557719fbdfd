/* store_pg_listen.c - telling others that there are events, and hearing of it: NOTIFY is a message
 * as any; LISTEN needs a session, so it has a connection of its own, which carries nothing else. */
#include <stdio.h>
#include <string.h>

#include "store_pg_ops.h"

static bool notify_send(struct pg_store *pg, struct store_call *call)
{
    const struct store_notify *n = (const struct store_notify *)call;
    return pg_send(pg, PG_NOTIFY, &(struct pg_notify_in){ .channel = n->channel });
}

static int notify_receive(struct pg_store *pg, struct store_call *call)
{
    (void)pg, (void)call;
    return 0;
}

const struct pg_operation pg_notify = { .send = notify_send, .receive = notify_receive };

/* ---- hearing ---- */

static void stop_listening(struct pg_store *pg)
{
    PQfinish(pg->listening);
    pg->listening = NULL;
}

/* The name is quoted as an identifier: NOTIFY takes it as a text. */
int pg_listen(struct store *st, const char *channel, struct err *err)
{
    struct pg_store *pg = pg_store(st);
    char sql[160];
    if (pg->listening)
        return 0;
    pg->listening = pg_connect_blocking(pg, err);
    if (!pg->listening)
        return err->code;
    char *name = PQescapeIdentifier(pg->listening, channel, strlen(channel));
    snprintf(sql, sizeof sql, "LISTEN %s", name ? name : "");
    PQfreemem(name);
    PGresult *r = PQexec(pg->listening, sql);
    int rc = PQresultStatus(r) == PGRES_COMMAND_OK ? 0 : pg_fail(pg, err, r, pg->listening);
    PQclear(r);
    if (rc < 0)
        stop_listening(pg);
    return rc;
}

int pg_heard_fd(const struct store *st)
{
    const struct pg_store *pg = (const struct pg_store *)st;
    return pg->listening ? PQsocket(pg->listening) : -1;
}

/* What is told while the connection is lost is not heard: it counts as heard. */
bool pg_heard(struct store *st)
{
    struct pg_store *pg = pg_store(st);
    PGnotify *note;
    bool heard = false;
    if (!pg->listening)
        return false;
    if (!PQconsumeInput(pg->listening)) {
        stop_listening(pg);
        return true;
    }
    while ((note = PQnotifies(pg->listening))) {
        heard = true;
        PQfreemem(note);
    }
    return heard;
}

void pg_listen_close(struct pg_store *pg)
{
    stop_listening(pg);
}
