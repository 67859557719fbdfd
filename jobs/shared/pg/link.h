/* link.h - a connection of a plug-in's own to PostgreSQL, for jobs that write: the business
 * database of the host is read-only. One statement is one transaction, within a time limit. */
#ifndef PRESCIENT_SHARED_PG_LINK_H
#define PRESCIENT_SHARED_PG_LINK_H

#include <libpq-fe.h>
#include <prescient/job.h>
#include <stdbool.h>
#include <stdint.h>

#include "../answers/unreached.h"
#include "../settings/settings.h"

struct pg_link {
    const char *connection;         /* of the settings; never in words: it may have a password */
    const char *job;
    char where[300];                /* "shop at db.example": what words have of it */
    PGconn *conn;                   /* NULL: there is none */
    char state[6];                  /* SQLSTATE of the last failure; "": it was not the server's */
    char why[1024];                 /* its words, in one line */
    bool is_unreached;              /* there was no connection for it */
    char user[64];                  /* as whom we were connected then */
};

/* Reads the setting `connection`. Words do not quote it. */
int pg_link_read(struct pg_link *l, const struct settings *s);

/* Runs a statement with parameters $1 ... $n in a transaction of its own, and copies its first
 * value into `value` ("": none). 0 when it is committed, else -1 with `state` and `why`. A
 * connection that is not there is opened first. */
int pg_link_run(struct pg_link *l, const char *sql, int n, const char *const params[], int64_t until_us,
                char *value, size_t size);

/* When nothing may be sent, tells the statement and its parameters instead, and answers the check:
 * true. */
bool pg_link_show(const struct pg_link *l, const struct prescient_host *host,
                  const struct prescient_check *check, const char *sql, int n, const char *const params[],
                  struct prescient_answer *answer);

void pg_link_close(struct pg_link *l);

/* Answers with the last failure; where there was no connection, by answer_unreached. Final is a
 * right that is missing, and the words have the GRANT: until a person acts, each check would fail,
 * and be heard of late. */
void pg_link_fail(const struct pg_link *l, const struct prescient_check *check,
                  struct prescient_answer *answer);

/* Three quarters of what a check is allowed, so that our words come before the worker's end. */
int64_t pg_link_deadline(const struct prescient_host *host);

#endif
