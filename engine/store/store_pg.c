/* store_pg.c - the PostgreSQL store: the life of a call over libpq's asynchronous interface. A call
 * connects if necessary, is sent as one message, and ends with its results, its deadline or the
 * loss of the connection. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../pg/pg_handshake.h"
#include "store_pg_ops.h"

#define ROUNDS_MAX 5

static const struct pg_operation *const operations[STORE_OPS];

/* ---- the life of a call ---------------------------------------------------------------------- */

static void clear_queue(struct pg_store *pg)
{
    for (int i = 0; i < pg->nqueue; i++)
        PQclear(pg->queue[i].result);
    PQclear(pg->end_failure);
    pg->end_failure = NULL;
    memset(pg->queue, 0, sizeof pg->queue);
    pg->nqueue = pg->answered = 0;
    pg->synced = false;
}

static void end_call(struct pg_store *pg, int rc)
{
    clear_queue(pg);
    if (rc < 0 && pg->call->op == STORE_READ_PAGE)
        check_rows_free(&((struct store_read_page *)pg->call)->page);
    pg->call->rc = rc;
    pg->call->err.code = rc;
    pg->call = NULL;
    pg->deadline_us = INT64_MAX;
}

static void lose_call(struct pg_store *pg, int rc)
{
    pg_disconnect(pg);
    end_call(pg, rc);
}

/* What a message lacked that libpq has nothing to say about. */
static int not_queued(struct pg_store *pg)
{
    if (pg->nqueue == PG_QUEUE_MAX)
        return err_set(&pg->call->err, ERR_GENERAL, "store: a call has more statements than fit (%d)",
                       PG_QUEUE_MAX);
    return err_set(&pg->call->err, ERR_NOMEM, "store: out of memory");
}

static void send_call(struct pg_store *pg)
{
    pg->rounds++;
    const struct pg_operation *operation = operations[pg->call->op];
    bool queued = pg_send_path(pg, pg->relaxed && operation->relaxes) && operation->send(pg, pg->call);
    if (!queued && PQstatus(pg->conn) == CONNECTION_OK && !*PQerrorMessage(pg->conn))
        lose_call(pg, not_queued(pg));  /* half a message may be in the buffer */
    else if (!queued || !PQpipelineSync(pg->conn))
        lose_call(pg, pg_lost(&pg->call->err, pg->conn, "cannot send to the database"));
    else
        pg->unflushed = PQflush(pg->conn) > 0;
}

static void pg_begin(struct store *st, struct store_call *call)
{
    struct pg_store *pg = pg_store(st);
    arena_reset(pg->arena);
    clear_queue(pg);
    pg->call = call;
    pg->rounds = 0;
    pg->degraded = pg->renumbers = pg->met_delivery = false;
    pg->lock_places = NULL;
    int rc = call->op == STORE_REPORT ? pg_report_check((struct store_report *)call, &call->err) : 0;
    if (rc < 0) {
        end_call(pg, rc);
        return;
    }
    if (pg->phase == PG_READY && !pg_is_alive(pg->conn))
        pg_disconnect(pg);
    int wait_ms = call->within_ms && call->within_ms < pg->statement_timeout_ms ? call->within_ms
                                                                                : pg->statement_timeout_ms;
    pg->wait_us = wait_ms * INT64_C(1000);
    pg->deadline_us = clock_mono_us(st->clock) + pg->wait_us +
                      (pg->phase == PG_READY ? 0 : pg_connect_most_us(pg));
    if (pg->phase == PG_READY)
        send_call(pg);
    else if (!pg_connect_begin(pg, &call->err))
        end_call(pg, call->err.code);
}

/* The first message of a connection asks who owns the schema and touches nothing in it. The second
 * one reads the schema's version; if a lock blocked that read, each retry would leave a session
 * behind. */
static void send_check(struct pg_store *pg)
{
    bool of_owners = pg->phase == PG_CHECKING_OWNERS;
    bool sent = pg_send_path(pg, false) && pg_send_reading(pg);
    struct pg_owners_in owners = { .schema_owner = pg->schema_owner, .role = pg->role };
    struct pg_check_schema_in schema = { .silence_ms = pg->silence_ms };
    if (sent)
        sent = of_owners ? pg_send(pg, PG_OWNERS, &owners)
                         : pg_send_form(pg, PG_CHECK_SCHEMA, pg_narrow_form(pg), &schema);
    if (!sent || !PQpipelineSync(pg->conn))
        lose_call(pg, pg_lost(&pg->call->err, pg->conn, "cannot send to the database"));
    else
        pg->unflushed = PQflush(pg->conn) > 0;
}

/* Connected: pipeline mode is entered for good. */
static void begin_check(struct pg_store *pg)
{
    int rc = pg_check_server(pg, &pg->call->err);
    if (rc < 0) {
        lose_call(pg, rc);
        return;
    }
    pg->phase = PG_CHECKING_OWNERS;
    pg->narrow = false;
    if (PQsetnonblocking(pg->conn, 1) < 0 || !PQenterPipelineMode(pg->conn))
        lose_call(pg, pg_lost(&pg->call->err, pg->conn, "cannot send to the database"));
    else
        send_check(pg);
}

static void connect_on(struct pg_store *pg)
{
    int rc = pg_connect_step(pg, &pg->call->err);
    if (rc < 0)
        lose_call(pg, rc);
    else if (rc > 0) {
        pg->head.passed_over = *pg->passed_over ? pg->passed_over : NULL;
        pg->deadline_us = clock_mono_us(pg->head.clock) + pg->wait_us;
        begin_check(pg);
    }
}

/* In a report, a value that the database rejects comes from the user. */
static int failure_of(const struct pg_store *pg, int rc)
{
    return rc == ERR_DATA && pg->call->op == STORE_REPORT ? ERR_INPUT : rc;
}

/* After these failures the session itself is usable. After all others it is opened again, which
 * checks the server again. */
static bool is_session_good(const struct err *err)
{
    return err->code == ERR_DATA || err->code == ERR_INPUT || err->code == ERR_BUSY ||
           err->reason == ERR_REASON_DAMAGED || strncmp(err->sqlstate, "40", 2) == 0;
}

static int failed(struct pg_store *pg, const PGresult *r)
{
    return pg->call->err.code = failure_of(pg, pg_fail(pg, &pg->call->err, r, pg->conn));
}

/* The first failure among the results, or that of the commit; also records which statements were
 * prepared. */
static int first_failure(struct pg_store *pg)
{
    for (int i = 0; i < pg->nqueue; i++) {
        ExecStatusType status = PQresultStatus(pg->queue[i].result);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
            return failed(pg, pg->queue[i].result);
        if (pg->queue[i].prepares)
            pg->prepared[pg->queue[i].statement] = true;
    }
    return pg->end_failure ? failed(pg, pg->end_failure) : 0;
}

/* The first message of a connection tells whether there is a pooler. */
static int receive_pins(struct pg_store *pg)
{
    for (int i = 0; i < pg->nqueue; i++) {
        struct pg_pin_out row;
        if (pg->queue[i].statement != PG_PIN || pg->queue[i].prepares)
            continue;
        if (!pg_row(pg, PG_PIN, pg->queue[i].result, 0, &row))
            return unreadable(pg->call, "pin");
        pg->pooled = row.pooled;
    }
    return 0;
}

static int receive(struct pg_store *pg)
{
    if (pg->phase == PG_READY)
        return operations[pg->call->op]->receive(pg, pg->call);
    bool of_owners = pg->phase == PG_CHECKING_OWNERS;
    int rc = of_owners ? receive_pins(pg) : 0;
    if (rc == 0)
        rc = (of_owners ? pg_check_owners : pg_check_schema)(pg, pg_result(pg, 1), &pg->call->err);
    if (rc == 0)
        pg->phase = of_owners ? PG_CHECKING : PG_READY;
    return rc < 0 ? rc : PG_SEND_AGAIN;
}

/* The message was one transaction, which was rolled back: it is sent again, in another form. */
static void send_again(struct pg_store *pg)
{
    err_clear(&pg->call->err);
    clear_queue(pg);
    if (pg->phase < PG_READY)
        send_check(pg);
    else
        send_call(pg);
}

/* From now on all statements are sent without being prepared. */
static void send_unprepared(struct pg_store *pg)
{
    pg->unprepared = pg->lost_prepared = true;
    send_again(pg);
}

/* A block of the table is corrupt, and the degraded form goes around it. */
static bool can_degrade(const struct pg_store *pg)
{
    bool has_form = pg->call->op == STORE_REPORT;
    for (int i = 0; i < pg->nqueue; i++)
        has_form = has_form || (pg_statements[pg->queue[i].statement].forms & PG_FORM_DEGRADED);
    return pg->call->err.reason == ERR_REASON_DAMAGED && !pg->degraded && has_form;
}

static void send_degraded(struct pg_store *pg)
{
    pg->degraded = true;
    snprintf(pg->damage, sizeof pg->damage, "%.*s", (int)sizeof pg->damage - 1, pg->call->err.text);
    send_again(pg);
}

/* The user may not read a table that the statement reads, and there is a form that reads none:
 * functions in place of what writes, views in place of reports. A command that writes by a time of
 * its own has no such form: applications go by the database's clock. Nor has a report that needs
 * all columns, which views do not have. */
static bool can_narrow(const struct pg_store *pg)
{
    bool has_form = false;
    for (int i = 0; i < pg->nqueue; i++)
        has_form = has_form || (pg_statements[pg->queue[i].statement].forms & PG_FORM_NARROW);
    bool is_report = pg->phase == PG_READY && pg->call->op == STORE_REPORT;
    bool has_one_form = is_report && pg_report_has_one_form((struct store_report *)pg->call);
    return pg_is_denied(&pg->call->err) && !pg->narrow && has_form && !has_one_form;
}

static void send_narrow(struct pg_store *pg)
{
    pg->narrow = true;
    send_again(pg);
}

/* The function by which such a user learns the schema's version is not there, so it is an older
 * one. */
static int older_than_narrow(struct pg_store *pg, int rc)
{
    struct err *err = &pg->call->err;
    if (pg->phase != PG_CHECKING || !pg->narrow || strcmp(err->sqlstate, "42883") != 0)
        return rc;
    return err_set(err, ERR_SCHEMA,
                   "schema '%s' is older than this program, and user '%s' may not read its version: as its "
                   "owner run `prescient migrate`",
                   pg->schema, pg->asker);
}

/* A delivery may be there already, of an event with the same origin. */
static bool can_meet_delivery(const struct pg_store *pg)
{
    bool has_form = false;
    for (int i = 0; i < pg->nqueue; i++)
        has_form = has_form || (pg_statements[pg->queue[i].statement].forms & PG_FORM_PRESENT);
    return has_form && !pg->met_delivery && strcmp(pg->call->err.sqlstate, "23505") == 0;
}

/* A check cannot move, because another check with its id is in the slot where it goes. */
static bool can_be_renumbered(const struct pg_store *pg)
{
    bool is_alone = pg->call->op == STORE_SETTLE && ((const struct store_settle *)pg->call)->n == 1;
    return is_alone && !pg->renumbers && strcmp(pg->call->err.sqlstate, "23505") == 0;
}

/* All results up to the Sync are here. */
static void end_round(struct pg_store *pg)
{
    bool was_checking = pg->phase < PG_READY;
    int rc = first_failure(pg);
    if (rc < 0 && !pg->unprepared && pg_is_of_a_pooler(&pg->call->err)) {
        send_unprepared(pg);
        return;
    }
    if (rc < 0 && can_degrade(pg)) {
        send_degraded(pg);
        return;
    }
    if (rc < 0 && can_narrow(pg)) {
        send_narrow(pg);
        return;
    }
    if (rc < 0 && can_meet_delivery(pg)) {
        pg->met_delivery = true;
        send_again(pg);
        return;
    }
    if (rc < 0 && can_be_renumbered(pg)) {
        pg->renumbers = true;
        send_again(pg);
        return;
    }
    if (rc < 0 && !is_session_good(&pg->call->err)) {
        lose_call(pg, older_than_narrow(pg, rc));
        return;
    }
    rc = rc < 0 ? rc : receive(pg);
    if (rc == PG_SEND_AGAIN && pg->rounds < ROUNDS_MAX) {
        send_again(pg);
    } else if (rc == PG_SEND_AGAIN) {
        end_call(pg,
                 err_set(&pg->call->err, ERR_BUSY, "other sessions keep changing the same rows: try again"));
    } else if (was_checking && rc < 0) {
        lose_call(pg, rc);
    } else {
        end_call(pg, rc);
    }
}

/* A result beyond those of the statements: why there was no commit, such as a deferred
 * constraint. */
static void take_end(struct pg_store *pg, PGresult *r)
{
    if (PQresultStatus(r) == PGRES_FATAL_ERROR && !pg->end_failure)
        pg->end_failure = r;
    else
        PQclear(r);
}

/* Takes available results without waiting, up to the Sync. One NULL ends the results of a
 * statement; a second one means that there are no more results yet. */
static void take_results(struct pg_store *pg)
{
    for (int nulls = 0; nulls < 2 && !pg->synced && !PQisBusy(pg->conn);) {
        PGresult *r = PQgetResult(pg->conn);
        bool is_open = pg->answered < pg->nqueue, has_result = is_open && pg->queue[pg->answered].result;
        nulls = r ? 0 : nulls + 1;
        if (!r) {
            pg->answered += has_result;
        } else if (PQresultStatus(r) == PGRES_PIPELINE_SYNC) {
            pg->synced = true;
            PQclear(r);
        } else if (is_open && !has_result) {
            pg->queue[pg->answered].result = r;
        } else {
            take_end(pg, r);
        }
    }
}

/* The connection broke: the server's own last message, if there is one, explains more than
 * libpq's. */
static int broken(struct pg_store *pg)
{
    const PGresult *said = pg->end_failure;
    for (int i = pg->nqueue - 1; i >= 0; i--)
        if (PQresultStatus(pg->queue[i].result) == PGRES_FATAL_ERROR)
            said = pg->queue[i].result;
    if (said) {
        pg_fail(pg, &pg->call->err, said, pg->conn);
        return pg->call->err.code = ERR_LOST;
    }
    return pg_lost(&pg->call->err, pg->conn, "the connection to the database was lost");
}

static void pump(struct pg_store *pg)
{
    int flushed = PQflush(pg->conn);
    pg->unflushed = flushed > 0;
    bool reads = PQconsumeInput(pg->conn);
    take_results(pg);
    if (pg->synced)
        end_round(pg);
    else if (flushed < 0 || !reads || PQstatus(pg->conn) == CONNECTION_BAD)
        lose_call(pg, broken(pg));
}

static void call_is_late(struct pg_store *pg)
{
    struct err *err = &pg->call->err;
    bool was_connected = pg->phase >= PG_CHECKING;
    err_set(err, ERR_LOST, "no answer from the database within its time (%lld ms); the connection is closed",
            (long long)pg->wait_us / 1000);
    err->reason = was_connected ? ERR_REASON_TIMEOUT : ERR_REASON_NONE;
    lose_call(pg, ERR_LOST);
}

static bool pg_step(struct store *st)
{
    struct pg_store *pg = pg_store(st);
    if (pg->call && clock_mono_us(st->clock) >= pg->deadline_us)
        call_is_late(pg);
    if (pg->call && (pg->phase == PG_LOOKING_UP || pg->phase == PG_CONNECTING))
        connect_on(pg);
    if (pg->call && pg->phase >= PG_CHECKING_OWNERS)
        pump(pg);
    return !pg->call;
}

static int pg_fd(const struct store *st)
{
    const struct pg_store *pg = (const struct pg_store *)st;
    if (pg->phase == PG_LOOKING_UP)
        return pg->lookup.fd;
    return pg->conn ? PQsocket(pg->conn) : -1;
}

static short pg_wants(const struct store *st)
{
    const struct pg_store *pg = (const struct pg_store *)st;
    if (pg->phase == PG_CONNECTING)
        return pg_handshake_events(pg->polling);
    return (short)(POLLIN | (pg->unflushed ? POLLOUT : 0));
}

static int64_t pg_deadline_us(const struct store *st)
{
    const struct pg_store *pg = (const struct pg_store *)st;
    if (!pg->call)
        return INT64_MAX;
    return (pg->phase == PG_LOOKING_UP || pg->phase == PG_CONNECTING) &&
                   pg->host_deadline_us < pg->deadline_us
               ? pg->host_deadline_us
               : pg->deadline_us;
}

static void pg_abandon(struct store *st)
{
    struct pg_store *pg = pg_store(st);
    if (pg->call)
        lose_call(pg, err_set(&pg->call->err, ERR_LOST, "abandoned: the effect of the call is unknown"));
    else
        pg_disconnect(pg);
}

/* ---- opening and closing --------------------------------------------------------------------- */

static bool pg_claims(const char *url)
{
    return strncmp(url, "postgresql://", 13) == 0 || strncmp(url, "postgres://", 11) == 0 ||
           (strncmp(url, "sqlite:", 7) != 0 && strchr(url, '='));
}

/* The schema's name is inserted into SQL text unquoted, so it must be a plain name. */
static int check_schema_name(const char *name, struct err *err)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    if (n == 0 || n > 50 || name[n] || (*name >= '0' && *name <= '9') || strncmp(name, "pg_", 3) == 0)
        return err_set(err, ERR_INPUT,
                       "store: schema '%s': expected lower case letters, digits and '_', at most 50, not "
                       "beginning with a digit or pg_",
                       name);
    return 0;
}

static void pg_close(struct store *st)
{
    struct pg_store *pg = pg_store(st);
    clear_queue(pg);
    pg_disconnect(pg);
    pg_side_close(pg);
    pg_listen_close(pg);
    for (int i = 0; i < PG_STATEMENTS; i++)
        free(pg->sql[i]);
    arena_free(pg->arena);
    arena_free(pg->kept);
    free(pg);
}

static int pg_open(const struct store_options *o, struct store **out, struct err *err)
{
    int rc = check_schema_name(o->schema, err);
    if (rc == 0)
        rc = libpq_load(err);
    if (rc < 0)
        return rc;
    struct pg_store *pg = calloc(1, sizeof *pg);
    if (!pg)
        return err_set(err, ERR_NOMEM, "store: out of memory");
    pg->head = (struct store){ .ops = &store_pg_ops, .clock = o->clock };
    pg->deadline_us = INT64_MAX;
    pg->kept = arena_new(1024);
    pg->arena = arena_new(64 * 1024);
    pg->connect_timeout_ms = o->connect_timeout_ms;
    pg->statement_timeout_ms = o->statement_timeout_ms;
    pg->silence_ms = o->silence_ms;
    pg->unprepared = o->unprepared;
    pg->relaxed = o->relaxed;
    pg->reads_only = o->reads_only;
    pg->wanted_slot_length_s = o->slot_length_s;
    if (pg->kept && pg->arena) {
        pg->url = arena_strdup(pg->kept, o->url);
        pg->schema = arena_strdup(pg->kept, o->schema);
        pg->schema_owner = arena_strdup(pg->kept, o->schema_owner);
        pg->role = arena_strdup(pg->kept, o->role);
        pg->engine = arena_strdup(pg->kept, o->engine);
        pg->lock_timeout = arena_printf(pg->kept, "%dms", o->lock_timeout_ms);
    }
    bool is_whole = pg->url && pg->schema && pg->schema_owner && pg->role && pg->lock_timeout;
    rc = is_whole && !pg->engine == !o->engine ? pg_read_url(pg, err)
                                               : err_set(err, ERR_NOMEM, "store: out of memory");
    if (rc < 0)
        pg_close(&pg->head);
    else
        *out = &pg->head;
    return rc;
}

/* ---- the database itself --------------------------------------------------------------------- */

static bool hello_send(struct pg_store *pg, struct store_call *call)
{
    (void)call;
    return pg_send_form(pg, PG_HELLO, pg_narrow_form(pg), NULL);
}

static int hello_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_hello *h = (struct store_hello *)call;
    struct pg_hello_out row;
    if (!pg_row(pg, PG_HELLO, pg_result(pg, 0), 0, &row))
        return unreadable(call, "hello");
    h->now_us = row.now_us;
    h->slot_length_s = row.slot_length_s;
    h->schema_version = row.version;
    h->read_only = row.read_only;
    h->full_look_at = row.full_look_at;
    h->pace_s = row.pace_s;
    h->pooled = pg_is_pooled(pg->conn, row.backend_pid);
    h->lost_prepared = pg->lost_prepared;
    const char *version = PQparameterStatus(pg->conn, "server_version");
    if (!version)
        version = "?";
    snprintf(h->server, sizeof h->server, "PostgreSQL %.*s", (int)strcspn(version, " "), version);
    return 0;
}

static bool keep_days_send(struct pg_store *pg, struct store_call *call)
{
    const struct store_keep_days *k = (const struct store_keep_days *)call;
    return pg_send(pg, PG_KEEP_DAYS, &(struct pg_keep_days_in){ .days = k->days });
}

static int keep_days_receive(struct pg_store *pg, struct store_call *call)
{
    struct store_keep_days *k = (struct store_keep_days *)call;
    struct pg_keep_days_out row;
    if (!pg_row(pg, PG_KEEP_DAYS, pg_result(pg, 0), 0, &row))
        return unreadable(call, "keep_days");
    k->made = row.made;
    k->indexed = row.indexed;
    snprintf(k->noted, sizeof k->noted, "%s", row.noted);
    return 0;
}

static const struct pg_operation pg_hello = { .send = hello_send, .receive = hello_receive },
                                 pg_keep_days = { .send = keep_days_send, .receive = keep_days_receive };

/* ---- the tables ------------------------------------------------------------------------------ */

static const struct pg_operation *const operations[STORE_OPS] = {
    [STORE_HELLO] = &pg_hello,         [STORE_OPEN_SLOT] = &pg_open_slot,   [STORE_RENEW] = &pg_renew,
    [STORE_READ_PAGE] = &pg_read_page, [STORE_SETTLE] = &pg_settle,         [STORE_FINISH] = &pg_finish,
    [STORE_RELEASE] = &pg_release,     [STORE_RELOOK] = &pg_relook,         [STORE_PULSE] = &pg_pulse,
    [STORE_FINE_SLOTS] = &pg_fine_slots,
    [STORE_TAKE_PLACES] = &pg_take_places, [STORE_RENEW_PLACES] = &pg_renew_places,
    [STORE_RETURN_PLACES] = &pg_return_places,
    [STORE_LATE_SLOT] = &pg_late_slot, [STORE_REFILE] = &pg_refile, [STORE_RECALL] = &pg_recall,
    [STORE_MARK_SWEPT] = &pg_mark_swept,
    [STORE_KEEP_DAYS] = &pg_keep_days,
    [STORE_KEEP_DIGESTS] = &pg_keep_digests, [STORE_NOTE_LISTENERS] = &pg_note_listeners,
    [STORE_NOTE_LOADS] = &pg_note_loads, [STORE_NOTE_RUNS] = &pg_note_runs,
    [STORE_NOTE_RUNNING] = &pg_note_running,
    [STORE_PRUNE] = &pg_prune,         [STORE_REPORT] = &pg_report,         [STORE_PAUSES] = &pg_pauses,
    [STORE_END_PAUSES] = &pg_end_pauses, [STORE_NOTIFY] = &pg_notify,
};

const struct store_ops store_pg_ops = {
    .scheme = "postgresql",
    .claims = pg_claims,
    .open = pg_open,
    .close = pg_close,
    .begin = pg_begin,
    .step = pg_step,
    .fd = pg_fd,
    .wants = pg_wants,
    .deadline_us = pg_deadline_us,
    .abandon = pg_abandon,
    .load = pg_load,
    .post = pg_post,
    .migrate = pg_migrate,
    .listen = pg_listen,
    .heard_fd = pg_heard_fd,
    .heard = pg_heard,
};
