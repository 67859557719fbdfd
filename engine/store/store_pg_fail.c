/* store_pg_fail.c - turns a failure of the server or the connection into an ERR_ code, a reason and
 * a message. */
#include <stdio.h>
#include <string.h>

#include "../pg/pg_denied.h"
#include "store_pg.h"

#define OURS "prescient: " /* begins the messages of our functions, for those who call them in SQL */

/* The longest matching prefix counts. SQLSTATEs that are not listed leave the result unknown: back
 * off, run nothing. */
static const struct { const char *state; int code;
} sqlstates[] = {
    { "P0002", ERR_DATA }, /* our functions: there is no schedule of that name */
    { "55P03", ERR_BUSY },   { "22", ERR_DATA },      { "23", ERR_DATA },      { "42P01", ERR_SCHEMA },
    { "42883", ERR_SCHEMA }, { "42703", ERR_SCHEMA }, { "3F000", ERR_SCHEMA },
};

static int code_of(const char *state)
{
    for (size_t i = 0; i < sizeof sqlstates / sizeof *sqlstates; i++)
        if (strncmp(state, sqlstates[i].state, strlen(sqlstates[i].state)) == 0)
            return sqlstates[i].code;
    return ERR_LOST;
}

/* Class 23, but of the tables and not of a value: today's partition is missing, and no constraint
 * is named. */
static int code_of_check(const PGresult *r, int code)
{
    const char *constraint = PQresultErrorField(r, PG_DIAG_CONSTRAINT_NAME),
               *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    if (!state || strcmp(state, "23514") != 0)
        return code;
    return constraint ? code : ERR_LOST;
}

/* A session or transaction that was ended is no refusal: the next one may succeed. After any other
 * error, the server is reachable and has not done what was asked. */
static const struct {
    const char *state;
    enum err_reason reason;
} reasons[] = {
    { "40001", ERR_REASON_COLLIDED }, { "40P01", ERR_REASON_COLLIDED }, { "57014", ERR_REASON_CANCELED },
    { "XX001", ERR_REASON_DAMAGED },  { "XX002", ERR_REASON_DAMAGED },  { "08", ERR_REASON_NONE },
    { "40", ERR_REASON_NONE },        { "57P01", ERR_REASON_NONE },     { "57P02", ERR_REASON_NONE },
    { "57P03", ERR_REASON_NONE },     { "57P05", ERR_REASON_NONE },
};

static enum err_reason reason_of(const char *state, int code)
{
    if (code != ERR_LOST)
        return ERR_REASON_NONE;
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strncmp(state, reasons[i].state, strlen(reasons[i].state)) == 0)
            return reasons[i].reason;
    return ERR_REASON_REFUSED;
}

static const char *what_failed(const char *state, int code)
{
    if (strcmp(state, "55P03") == 0)
        return "another transaction holds a lock that is needed, and nothing was changed: ";
    if (strcmp(state, "57014") == 0)
        return "the database ended the statement (the setting statement_timeout limits its time): ";
    return code == ERR_SCHEMA ? "no usable schema (run `prescient init`): " : "";
}

/* ---- what helps ---- */

/* A refused login by its SQLSTATE, and a word of the message where a state has several meanings.
 * The line to type is verb, database, between, user. */
static const struct way_in {
    const char *state, *word, *advice, *verb, *between;
    bool names_database, names_user;
} ways_in[] = {
    { "3D000", "", "correct `store`, or make it, as a user who may: ", "CREATE DATABASE ", "", true, false },
    { "28000", " does not exist", "correct the user in `store`, or make it, as a superuser: ",
      "CREATE USER ", "", false, true },
    { "28P01", "", "correct the password in `store`, in PGPASSWORD or in ~/.pgpass", "", "", false, false },
    { "42501", "", "as the database's owner run: ", "GRANT CONNECT ON DATABASE ", " TO ", true, true },
};

static const struct way_in *way_in_for(const char *state, const char *message)
{
    for (size_t i = 0; i < sizeof ways_in / sizeof *ways_in; i++)
        if (!strcmp(state, ways_in[i].state) && strstr(message, ways_in[i].word))
            return &ways_in[i];
    return NULL;
}

void pg_add_way_in(const PGconn *conn, const char *state, char *message, size_t size)
{
    char database[200] = "", user[200] = "";
    const struct way_in *way = way_in_for(state, message);
    if (!way || !PQdb(conn) || !PQuser(conn))
        return;
    if (way->names_database)
        pg_denied_quote(PQdb(conn), database, sizeof database);
    if (way->names_user)
        pg_denied_quote(PQuser(conn), user, sizeof user);
    size_t used = strlen(message);
    while (used > 0 && strchr("\n.", message[used - 1]))
        used--;
    snprintf(message + used, size - used, "; %s%s%s%s%s", way->advice, way->verb, database, way->between,
             user);
}

/* The role of a call that needs another one than all others; NULL: that of the options. */
static const char *role_of_call(const struct pg_store *pg)
{
    bool is_report = pg->call && pg->call->op == STORE_REPORT;
    return is_report ? ((const struct store_report *)pg->call)->role : NULL;
}

/* What would give the right that was missing, and who may give it. A user who has the role already
 * lacks what the role has lost. */
static void add_grant(const struct pg_store *pg, struct err *err, const PGconn *conn)
{
    char user[200] = "";
    const char *asker = *pg->asker ? pg->asker : PQuser(conn);
    size_t used = strlen(err->text), room = sizeof err->text - used;
    pg_denied_quote(asker, user, sizeof user);
    const char *other = role_of_call(pg);
    if (pg->has_role && !other)
        snprintf(err->text + used, room,
                 " (user %s; the role %s has lost this right). As the owner of the schema run: prescient "
                 "init",
                 asker, pg->role);
    else
        snprintf(err->text + used, room,
                 " (user %s). As a superuser or an admin of that role run: GRANT %s TO %s", asker,
                 other ? other : pg->role, user);
}

bool pg_is_denied(const struct err *err)
{
    return strcmp(err->sqlstate, "42501") == 0;
}

int pg_fail(const struct pg_store *pg, struct err *err, const PGresult *r, const PGconn *conn)
{
    const char *state = r ? PQresultErrorField(r, PG_DIAG_SQLSTATE) : NULL;
    if (!state)
        return pg_lost(err, conn, "the connection to the database was lost");
    const char *message = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY),
               *detail = PQresultErrorField(r, PG_DIAG_MESSAGE_DETAIL);
    int code = code_of_check(r, code_of(state));
    const char *what = what_failed(state, code);
    if (!message)
        message = "unknown failure";
    /* one of our functions says it, and what to do; the hints of others are for who writes SQL */
    if (strncmp(message, OURS, strlen(OURS)) == 0) {
        message += strlen(OURS);
        detail = detail ? detail : PQresultErrorField(r, PG_DIAG_MESSAGE_HINT);
    }
    if (detail)
        err_set(err, code, "%s%s (%s)", what, message, detail);
    else
        err_set(err, code, "%s%s", what, message);
    err_one_line(err);
    err->reason = reason_of(state, code);
    memcpy(err->sqlstate, state, 5);
    err->sqlstate[5] = '\0';
    if (pg_is_denied(err))
        add_grant(pg, err, conn);
    return code;
}

int pg_lost(struct err *err, const PGconn *conn, const char *what)
{
    const char *message = conn ? PQerrorMessage(conn) : "out of memory";
    err_set(err, ERR_LOST, "%s%s%s", what, *message ? ": " : "", message);
    err_one_line(err);
    return ERR_LOST;
}
