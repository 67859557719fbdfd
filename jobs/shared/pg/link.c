/* link.c - libpq without its blocking calls. BEGIN, the time limit, the statement and COMMIT are
 * one message: nothing of it is left in the session, so that it works behind a pooler, and a worker
 * that is killed leaves no transaction open. */
#include "link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GRACE_MS = 200, STATEMENTS = 4, STATEMENT = 2 };

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t pg_link_deadline(const struct prescient_host *host)
{
    return now_us() + host->timeout_ms * 750;
}

static int left_ms(int64_t until_us)
{
    int64_t left_us = until_us - now_us();
    return left_us > 0 ? (int)(left_us / 1000 + 1) : 0;
}

/* ---- the setting ---- */

static const char *option(const PQconninfoOption *options, const char *name)
{
    for (; options->keyword; options++)
        if (!strcmp(options->keyword, name))
            return options->val && *options->val ? options->val : NULL;
    return NULL;
}

/* libpq quotes hosts and ports in its words: a password with an '@' that was not escaped would be a
 * part of one. */
static bool is_odd(const PQconninfoOption *options)
{
    static const char *const names[] = { "host", "hostaddr", "port", "dbname", "user" };
    bool odd = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = option(options, names[i]);
        odd |= value && strpbrk(value, "@:");
    }
    return odd;
}

int pg_link_read(struct pg_link *l, const struct settings *s)
{
    static const char such[] = "expected postgresql://USER@HOST/DATABASE or a libpq keyword string; in a "
                               "password @ is written %40, : %3A and / %2F";
    char *words = NULL;
    l->connection = settings_text(s, "connection");
    l->job = s->host->job;
    if (!l->connection || !*l->connection)
        return settings_refuse(s, "setting 'connection' is missing, %s", such);
    PQconninfoOption *options = PQconninfoParse(l->connection, &words);
    PQfreemem(words);
    if (!options)
        return settings_refuse(s, "setting 'connection' cannot be read, %s", such);
    const char *database = option(options, "dbname"), *host = option(options, "host");
    if (!database)
        database = "its database";
    if (!host)
        host = "this host";
    snprintf(l->where, sizeof l->where, "%.64s at %.200s", database, host);
    bool odd = is_odd(options);
    PQconninfoFree(options);
    return odd ? settings_refuse(s, "setting 'connection' has a name with @ or : in it, %s", such) : 0;
}

/* ---- connecting ---- */

void pg_link_close(struct pg_link *l)
{
    PQfinish(l->conn);
    l->conn = NULL;
}

static void one_line(char *text)
{
    size_t len = strlen(text);
    while (len && (text[len - 1] == '\n' || text[len - 1] == ' '))
        text[--len] = '\0';
    for (; *text; text++)
        if (*text == '\n' || *text == '\t')
            *text = ' ';
}

static int lose(struct pg_link *l, const char *doing, const char *words)
{
    l->state[0] = '\0';
    snprintf(l->why, sizeof l->why, "%s: %s", doing, words && *words ? words : "the connection was lost");
    one_line(l->why);
    pg_link_close(l);
    return -1;
}

static void drop_notice(void *ctx, const char *message)
{
    (void)ctx, (void)message;
}

static bool wait_for(struct pg_link *l, short events, int64_t until_us)
{
    for (;;) {
        int left = left_ms(until_us);
        struct pollfd p = { .fd = PQsocket(l->conn), .events = events };
        int n = left ? poll(&p, 1, left) : 0;
        if (n >= 0 || errno != EINTR)
            return n > 0;
    }
}

/* Something to be read while nothing was asked: the end of the connection, most likely. If it was
 * not, a new one is no harm. */
static bool is_stale(struct pg_link *l)
{
    struct pollfd p = { .fd = PQsocket(l->conn), .events = POLLIN };
    return PQstatus(l->conn) != CONNECTION_OK || poll(&p, 1, 0) != 0;
}

static int connect_to(struct pg_link *l, int64_t until_us)
{
    /* what comes before dbname is a default that the connection may override */
    static const char *const names[] = { "application_name", "keepalives_idle", "tcp_user_timeout", "dbname",
                                         "client_encoding",  NULL };
    char name[80];
    snprintf(name, sizeof name, "prescient %.48s", l->job);
    const char *const values[] = { name, "30", "30000", l->connection, "UTF8", NULL };
    l->conn = PQconnectStartParams(names, values, 1);
    PostgresPollingStatusType polling = PGRES_POLLING_WRITING;
    if (!l->conn || PQstatus(l->conn) == CONNECTION_BAD)
        return lose(l, "cannot connect", l->conn ? PQerrorMessage(l->conn) : "out of memory");
    PQsetNoticeProcessor(l->conn, drop_notice, NULL);
    while (polling != PGRES_POLLING_OK) {
        if (!wait_for(l, polling == PGRES_POLLING_READING ? POLLIN : POLLOUT, until_us))
            return lose(l, "cannot connect", "no answer in time");
        polling = PQconnectPoll(l->conn);
        if (polling == PGRES_POLLING_FAILED)
            return lose(l, "cannot connect", PQerrorMessage(l->conn));
    }
    snprintf(l->user, sizeof l->user, "%s", PQuser(l->conn));
    if (PQsetnonblocking(l->conn, 1) || !PQenterPipelineMode(l->conn))
        return lose(l, "cannot connect", PQerrorMessage(l->conn));
    return 0;
}

/* ---- one transaction ---- */

static bool send_all(struct pg_link *l, const char *sql, int n, const char *const params[], int64_t until_us)
{
    char ms[16];
    const char *const limit[] = { ms };
    int left = left_ms(until_us);
    snprintf(ms, sizeof ms, "%d", left > 0 ? left : 1);             /* 0 would be no limit */
    return PQsendQueryParams(l->conn, "BEGIN", 0, NULL, NULL, NULL, NULL, 0) &&
        PQsendQueryParams(l->conn, "SELECT pg_catalog.set_config('statement_timeout', $1, true)", 1, NULL,
                          limit, NULL, NULL, 0) &&
        PQsendQueryParams(l->conn, sql, n, NULL, params, NULL, NULL, 0) &&
        PQsendQueryParams(l->conn, "COMMIT", 0, NULL, NULL, NULL, NULL, 0) && PQpipelineSync(l->conn);
}

/* The next result; NULL is the end of those of a statement. *is_lost: none came. */
static PGresult *next_result(struct pg_link *l, int64_t until_us, bool *is_lost)
{
    for (;;) {
        int rest = PQflush(l->conn);
        if (rest == 0 && !PQisBusy(l->conn))
            return PQgetResult(l->conn);
        short events = rest == 1 ? POLLIN | POLLOUT : POLLIN;
        if (rest < 0 || !wait_for(l, events, until_us) || !PQconsumeInput(l->conn)) {
            *is_lost = true;
            return NULL;
        }
    }
}

static void keep_failure(struct pg_link *l, const PGresult *r)
{
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *words = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    snprintf(l->state, sizeof l->state, "%s", state ? state : "");
    snprintf(l->why, sizeof l->why, "%s", words ? words : PQresultErrorMessage(r));
    one_line(l->why);
}

/* COMMIT of a transaction that has failed answers ROLLBACK; but then its statement has failed, and
 * the rest was skipped. */
static bool is_good(const PGresult *r, int statement)
{
    ExecStatusType status = PQresultStatus(r);
    if (statement == STATEMENTS - 1)
        return status == PGRES_COMMAND_OK && !strcmp(PQcmdStatus((PGresult *)r), "COMMIT");
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

static int read_all(struct pg_link *l, int64_t until_us, char *value, size_t size)
{
    int rc = 0, statement = 0;
    for (;;) {
        bool is_lost = false;
        PGresult *r = next_result(l, until_us, &is_lost);
        if (is_lost && rc < 0) {        /* the server has said why, and ended it */
            pg_link_close(l);
            return rc;
        }
        if (is_lost || statement > STATEMENTS)
            return lose(l, "no answer", left_ms(until_us) ? PQerrorMessage(l->conn) : "out of time");
        if (!r) {
            statement++;
            continue;
        }
        ExecStatusType status = PQresultStatus(r);
        bool is_end = status == PGRES_PIPELINE_SYNC;
        if (!is_end && rc == 0 && !is_good(r, statement)) {
            keep_failure(l, r);
            rc = -1;
        }
        if (!is_end && statement == STATEMENT && status == PGRES_TUPLES_OK && PQntuples(r) && PQnfields(r))
            snprintf(value, size, "%s", PQgetvalue(r, 0, 0));
        PQclear(r);
        if (is_end)
            return rc;
    }
}

int pg_link_run(struct pg_link *l, const char *sql, int n, const char *const params[], int64_t until_us,
                char *value, size_t size)
{
    *value = '\0';
    if (l->conn && is_stale(l))
        pg_link_close(l);
    l->is_unreached = !l->conn && connect_to(l, until_us);
    if (l->is_unreached)
        return -1;
    if (!send_all(l, sql, n, params, until_us))
        return lose(l, "cannot send", PQerrorMessage(l->conn));
    int rc = read_all(l, until_us + GRACE_MS * 1000, value, size);
    /* the failed transaction is open still; and a standby may be behind a name that has moved on */
    if (l->conn && (rc < 0 || PQtransactionStatus(l->conn) != PQTRANS_IDLE))
        pg_link_close(l);
    return rc;
}

/* ---- answers ---- */

/* "permission denied for schema shop" */
static const struct { const char *what, *right; } rights[] = {
    { "permission denied for function ", "EXECUTE ON FUNCTION" },
    { "permission denied for procedure ", "EXECUTE ON PROCEDURE" },
    { "permission denied for schema ", "USAGE ON SCHEMA" },
    { "permission denied for table ", "what the function does ON TABLE" },
    { "permission denied for view ", "what the function does ON" },
    { "permission denied for sequence ", "USAGE ON SEQUENCE" },
};

static bool fail_denied(const struct pg_link *l, struct prescient_answer *answer)
{
    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++) {
        size_t len = strlen(rights[i].what);
        if (strncmp(l->why, rights[i].what, len) != 0)
            continue;
        prescient_fail_final(answer, "%s: %s; as its owner run: GRANT %s %s TO \"%s\"", l->where, l->why,
                             rights[i].right, l->why + len, l->user);
        return true;
    }
    return false;
}

void pg_link_fail(const struct pg_link *l, const struct prescient_check *check,
                  struct prescient_answer *answer)
{
    bool is_denied = !strcmp(l->state, "42501");
    if (is_denied && fail_denied(l, answer))
        return;
    if (is_denied)
        prescient_fail_final(answer, "%s: %s (SQLSTATE %s)", l->where, l->why, l->state);
    else if (*l->state)
        prescient_fail(answer, "%s: %s (SQLSTATE %s)", l->where, l->why, l->state);
    else if (l->is_unreached)
        answer_unreached(check, answer, l->where, l->why);
    else
        prescient_fail(answer, "%s: %s", l->where, l->why);
}

/* ---- a try ---- */

/* Of a connection that is a secret as a whole, names of hosts and databases are pieces: too short,
 * most often, to be known as such. */
static bool is_secret(const struct prescient_host *host, const char *connection)
{
    char *copy = strdup(connection);
    if (copy && PRESCIENT_HAS(host, hide))
        host->hide(host, copy);
    bool is = !copy || !strcmp(copy, "***");
    free(copy);
    return is;
}

bool pg_link_show(const struct pg_link *l, const struct prescient_host *host,
                  const struct prescient_check *check, const char *sql, int n, const char *const params[],
                  struct prescient_answer *answer)
{
    char *text = NULL;
    size_t size = 0;
    if (!PRESCIENT_HAS(host, dry) || !host->dry(host, check, NULL))
        return false;
    const char *where = is_secret(host, l->connection) ? "***" : l->where;
    FILE *out = open_memstream(&text, &size);
    if (out)
        fprintf(out, "to %s\n%s\n", where, sql);
    for (int i = 0; out && i < n; i++)
        fprintf(out, "$%d: %s\n", i + 1, params[i]);
    if (!out || fclose(out)) {
        prescient_fail(answer, "out of memory for the words of a statement");
    } else {
        host->dry(host, check, text);
        prescient_done(answer);
        prescient_note(answer, "not sent to %s", where);
    }
    free(text);
    return true;
}
