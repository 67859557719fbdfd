/* store_pg_connect.c - connecting to a PostgreSQL server, and the checks of server and schema.
 * libpq tries several hosts, or addresses of one, without a time limit in its asynchronous form, so
 * each is an attempt of its own here. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/settings.h"
#include "../base/settings_mask.h"
#include "../pg/pg_handshake.h"
#include "migrate.h"
#include "store_pg.h"

#define SERVER_OLDEST 130000
#define NO_DATABASE "3D000"
#define SEVERAL_HOSTS_TIMEOUT_MS 3000

#define HOST_TIMEOUT_LEAST_MS 500
/* After this many rounds without an answer, one round allows each host the whole time of the
 * settings. */
#define PATIENT_ROUND 4

/* Defaults for options that the user did not set in the URL or the environment, besides the
 * keepalives (make_silence). Only a server that accepts writes is acceptable. */
static const char *const connect_defaults[][2] = { { "keepalives", "1" },
                                                   { "target_session_attrs", "read-write" } };
/* Options that the user cannot change. */
static const char *const connect_always[][2] = { { "client_encoding", "UTF8" },
                                                 { "fallback_application_name", "prescient" } };

static const char *option_value(const PQconninfoOption *options, const char *keyword)
{
    for (const PQconninfoOption *o = options; o->keyword; o++)
        if (strcmp(o->keyword, keyword) == 0) {
            if (o->val)
                return o->val;
            const char *env = o->envvar ? getenv(o->envvar) : NULL;
            return env && *env ? env : NULL;
        }
    return NULL;
}

static const char *lookup(const char *const table[][2], size_t n, const char *keyword)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(table[i][0], keyword) == 0)
            return table[i][1];
    return NULL;
}
#define LOOKUP(table, keyword) lookup(table, sizeof(table) / sizeof *(table), keyword)

/* The n-th part of a list separated by commas. If it has only one part, `repeat` returns that one
 * for every n. NULL: empty. */
static char *nth_part(struct arena *a, const char *list, int n, bool repeat)
{
    if (!list || (repeat && !strchr(list, ',')))
        n = 0;
    for (; list && n > 0; n--) {
        list = strchr(list, ',');
        list = list ? list + 1 : NULL;
    }
    size_t len = list ? strcspn(list, ",") : 0;
    return len ? arena_strndup(a, list, len) : NULL;
}

static int count_parts(const char *list)
{
    int n = 1;
    for (; list && (list = strchr(list, ',')); list++)
        n++;
    return n;
}

static char *number_text(struct arena *a, int n)
{
    return arena_printf(a, "%d", n);
}

static int at_least(int least, int n)
{
    return n > least ? n : least;
}

/* The keepalive options of our side; the statement `silence` sets the same times on the server's
 * side. */
static bool make_silence(struct pg_store *pg)
{
    int ms = pg->silence_ms;
    struct arena *a = pg->kept;
    pg->silence[0].keyword = "keepalives_idle";
    pg->silence[0].value = number_text(a, at_least(1, ms / 3000));
    pg->silence[1].keyword = "keepalives_interval";
    pg->silence[1].value = number_text(a, at_least(1, ms / 6000));
    pg->silence[2].keyword = "keepalives_count";
    pg->silence[2].value = "3";
    pg->silence[3].keyword = "tcp_user_timeout";
    pg->silence[3].value = number_text(a, at_least(750, ms / 4 * 3));
    return pg->silence[0].value && pg->silence[1].value && pg->silence[3].value;
}

/* A frozen host accepts connections and never answers. An engine that holds leases must try the
 * next host soon, because that may be the new primary. */
static void bound_host_timeout(struct pg_store *pg)
{
    int most = pg->silence_ms / 2 > HOST_TIMEOUT_LEAST_MS ? pg->silence_ms / 2 : HOST_TIMEOUT_LEAST_MS;
    pg->host_patience_ms = pg->host_timeout_ms;
    if (pg->host_timeout_ms > most)
        pg->host_timeout_ms = most;
}

/* A name server or a network may always need longer than that: if no host answers, an occasional
 * round allows more time. */
static int host_timeout_ms(const struct pg_store *pg)
{
    return pg->silent_rounds % PATIENT_ROUND == PATIENT_ROUND - 1 ? pg->host_patience_ms
                                                                  : pg->host_timeout_ms;
}

int64_t pg_connect_most_us(const struct pg_store *pg)
{
    return pg->nhosts * INT64_C(1000) * host_timeout_ms(pg);
}

int pg_read_url(struct pg_store *pg, struct err *err)
{
    char *why = NULL;
    PQconninfoOption *options = PQconninfoParse(pg->url, &why);
    if (!options) {
        bool is_short = !why || strstr(why, "out of memory");
        char message[1024];
        settings_mask_words(is_short ? "out of memory" : why, pg->url, message, sizeof message);
        PQfreemem(why);
        err_set(err, is_short ? ERR_NOMEM : ERR_INPUT, "store: %s", message);
        err_one_line(err);
        return err->code;
    }
    const char *host = option_value(options, "host"), *hostaddr = option_value(options, "hostaddr"),
               *port = option_value(options, "port");
    int names = count_parts(host), addresses = count_parts(hostaddr);
    pg->nhosts = names > addresses ? names : addresses;
    pg->hosts = arena_zalloc(pg->kept, sizeof *pg->hosts * (size_t)pg->nhosts);
    for (int i = 0; pg->hosts && i < pg->nhosts; i++)
        pg->hosts[i] = (struct pg_host){ nth_part(pg->kept, host, i, false),
                                         nth_part(pg->kept, hostaddr, i, false),
                                         nth_part(pg->kept, port, i, true) };
    const char *seconds = option_value(options, "connect_timeout");
    int chosen_ms = seconds && atoi(seconds) > 0 && atoi(seconds) < 3600 ? atoi(seconds) * 1000 : 0;
    pg->host_timeout_ms = chosen_ms ? chosen_ms : pg->connect_timeout_ms;
    if (!chosen_ms && pg->nhosts > 1 && pg->host_timeout_ms > SEVERAL_HOSTS_TIMEOUT_MS)
        pg->host_timeout_ms = SEVERAL_HOSTS_TIMEOUT_MS;
    bound_host_timeout(pg);
    bool has_silence = make_silence(pg);
    PQconninfoFree(options);
    /* If memory was short, a missing part looks like one that is not set and would lead to another
     * server. */
    return pg->hosts && has_silence && !arena_was_short(pg->kept)
               ? 0
               : err_set(err, ERR_NOMEM, "store: out of memory");
}

static const char *silence_value(const struct pg_store *pg, const char *keyword)
{
    for (int i = 0; pg->silence[i].keyword; i++)
        if (strcmp(pg->silence[i].keyword, keyword) == 0)
            return pg->silence[i].value;
    return NULL;
}

static const char *value_for(const struct pg_store *pg, const struct pg_host *host, const PQconninfoOption *o,
                             const PQconninfoOption *all)
{
    if (strcmp(o->keyword, "host") == 0)
        return host->host;
    if (strcmp(o->keyword, "hostaddr") == 0)
        return host->hostaddr;
    if (strcmp(o->keyword, "port") == 0)
        return host->port;
    const char *ours = LOOKUP(connect_always, o->keyword);
    if (ours)
        return ours;
    const char *chosen = option_value(all, o->keyword);
    if (chosen)
        return chosen;
    const char *silence = silence_value(pg, o->keyword);
    return silence ? silence : LOOKUP(connect_defaults, o->keyword);
}

/* Starts a connection to one host with all options of the URL; `blocking` completes it. NULL: out
 * of memory. */
static PGconn *connect_to(struct pg_store *pg, const struct pg_host *host, bool blocking)
{
    const char *keywords[64] = { 0 }, *values[64] = { 0 };
    char timeout[16];
    PQconninfoOption *options = PQconninfoParse(pg->url, NULL);
    int n = 0;
    for (const PQconninfoOption *o = options; o && o->keyword && n < 63; o++) {
        values[n] = value_for(pg, host, o, options);
        keywords[n] = o->keyword;
        if (strcmp(o->keyword, "connect_timeout") == 0) {
            snprintf(timeout, sizeof timeout, "%d", (host_timeout_ms(pg) + 999) / 1000);
            values[n] = timeout;
        }
        n += values[n] != NULL;
    }
    keywords[n] = NULL;
    PGconn *conn = NULL;
    if (options && blocking)
        conn = PQconnectdbParams(keywords, values, 0);
    else if (options)
        conn = PQconnectStartParams(keywords, values, 0);
    PQconninfoFree(options);
    return conn;
}

/* A server that will say the same again: no such user, a wrong password, no right, no such
 * database. */
static bool is_refusal(const char *state)
{
    return strncmp(state, "28", 2) == 0 || strcmp(state, "42501") == 0 || strcmp(state, NO_DATABASE) == 0;
}

/* A server reports its parameters after it has accepted the login. If the connection fails after
 * that, the server is a standby or read-only. */
static bool is_standby(const PGconn *conn)
{
    return conn && PQparameterStatus(conn, "server_version");
}

/* If a URL was misread, part of the password has become a host or a port, and libpq's message would
 * reveal it. */
static int connect_failed(struct pg_store *pg, const PGconn *conn, struct err *err)
{
    char state[6], found[sizeof err->text - 64], message[sizeof found];
    pg_handshake_failure(conn, state, found, sizeof found);
    pg_add_way_in(conn, state, found, sizeof found);
    settings_mask_words(found, pg->url, message, sizeof message);
    err_set(err, ERR_LOST, "cannot connect: %s", message);
    err_one_line(err);
    pg->all_denied = pg->all_denied && is_refusal(state);
    if (pg->all_denied) {
        memcpy(err->sqlstate, state, sizeof state);
        if (strcmp(state, NO_DATABASE) == 0)
            err->code = ERR_SCHEMA;
    }
    pg->met_standby = pg->met_standby || is_standby(conn);
    err->reason = pg->met_standby ? ERR_REASON_REFUSED : ERR_REASON_NONE;
    return err->code;
}

void pg_disconnect(struct pg_store *pg)
{
    pg_lookup_end(&pg->lookup);
    PQfinish(pg->conn);
    pg->conn = NULL;
    pg->phase = PG_AWAY;
    pg->unflushed = pg->pooled = false;
    memset(pg->prepared, 0, sizeof pg->prepared);
}

bool pg_is_pooled(const PGconn *conn, int32_t backend_pid)
{
    return PQbackendPID(conn) != backend_pid;
}

/* The host's name for messages, or "the server" if the name is part of the password. */
static const char *host_shown(const struct pg_store *pg)
{
    char quoted[300], shown[300];
    const char *host = pg->hosts[pg->host].host;
    if (!host)
        return "the server";
    snprintf(quoted, sizeof quoted, "\"%.256s\"", host);
    settings_mask_words(quoted, pg->url, shown, sizeof shown);
    return strcmp(quoted, shown) == 0 ? host : "the server";
}

/* False: it has failed already, as where there is no route. */
static bool start(struct pg_store *pg, const struct pg_host *host)
{
    pg->conn = connect_to(pg, host, false);
    if (!pg->conn || PQstatus(pg->conn) == CONNECTION_BAD)
        return false;
    pg_handshake_drop_notices(pg->conn);
    pg_handshake_begin(pg->conn);
    pg->phase = PG_CONNECTING;
    pg->polling = PGRES_POLLING_WRITING;
    return true;
}

static bool begin_host(struct pg_store *pg, const struct pg_host *host, struct err *err)
{
    if (start(pg, host))
        return true;
    connect_failed(pg, pg->conn, err);
    return false;
}

static bool look_up(struct pg_store *pg, struct err *err)
{
    if (!pg_lookup_begin(&pg->lookup, pg->hosts[pg->host].host)) {
        err_set(err, ERR_LOST, "cannot connect: no address of %s can be looked up: %s", host_shown(pg),
                strerror(errno));
        return false;
    }
    pg->phase = PG_LOOKING_UP;
    return true;
}

static void give_time(struct pg_store *pg)
{
    pg->host_deadline_us = clock_mono_us(pg->head.clock) + host_timeout_ms(pg) * INT64_C(1000);
}

static bool is_last_address(const struct pg_store *pg)
{
    return pg->address + 1 >= pg->naddresses;
}

/* Of those that were found. */
static void copy_address(const struct pg_lookup *found, int n, char out[PG_LOOKUP_TEXT])
{
    const char *at = found->text;
    for (int i = 0; i < n; i++)
        at += strcspn(at, ",") + 1;
    snprintf(out, PG_LOOKUP_TEXT, "%.*s", (int)strcspn(at, ","), at);
}

/* From this address of the host on, the first one that can be tried. False: none can; `err` has the
 * last one's failure. libpq also looks up certificates and passwords by the name. */
static bool begin_address(struct pg_store *pg, struct err *err)
{
    char address[PG_LOOKUP_TEXT];
    struct pg_host host = pg->hosts[pg->host];
    host.hostaddr = address;
    for (;; pg->address++) {
        pg_disconnect(pg);
        copy_address(&pg->lookup, pg->address, address);
        if (pg->address > 0)            /* the first one shares it with the lookup */
            give_time(pg);
        if (is_last_address(pg))
            return begin_host(pg, &host, err);
        if (start(pg, &host))
            return true;
    }
}

/* Each address has the time of a host: all in one attempt of libpq, a silent one would keep the
 * others from being tried. */
static bool begin_found(struct pg_store *pg, struct err *err)
{
    pg->naddresses = count_parts(pg->lookup.text);
    pg->address = 0;
    pg->deadline_us += (pg->naddresses - 1) * INT64_C(1000) * host_timeout_ms(pg);
    return begin_address(pg, err);
}

/* Of a server that refuses us, another address is most likely the same server, as libpq has it. Not
 * of one that only reads, for which libpq has no state, or is not up: a name may have both servers
 * of a pair. */
static bool is_refused_at_all(const PGconn *conn)
{
    static const char not_up[] = "57P03";
    char state[6], found[256];
    pg_handshake_failure(conn, state, found, sizeof found);
    return *state && strcmp(state, not_up) != 0;
}

/* Nothing at an address says nothing about the others; a server that is there, and that might let
 * us in later, does. */
static void pass_over(struct pg_store *pg)
{
    char state[6], found[256];
    pg_handshake_failure(pg->conn, state, found, sizeof found);
    pg->met_standby = pg->met_standby || is_standby(pg->conn);
    pg->all_denied = pg->all_denied && !*state && !is_standby(pg->conn);
}

/* Starts to connect to the next host. False: all hosts have been tried for this call; `err` has the
 * last one's failure. */
static bool try_host(struct pg_store *pg, struct err *err)
{
    while (pg->hosts_tried < pg->nhosts) {
        if (pg->hosts_tried++ > 0) {
            pg->host = (pg->host + 1) % pg->nhosts;
            snprintf(pg->passed_over, sizeof pg->passed_over, "%.*s", (int)sizeof pg->passed_over - 1,
                     err->text);
        }
        pg_disconnect(pg);
        pg->naddresses = pg->address = 0;
        pg->met_silence = false;
        give_time(pg);
        if (pg_lookup_wanted(&pg->hosts[pg->host]) ? look_up(pg, err)
                                                   : begin_host(pg, &pg->hosts[pg->host], err))
            return true;
        pg->heard_host = true;
    }
    pg_disconnect(pg);
    pg->silent_rounds = pg->heard_host ? 0 : pg->silent_rounds + 1;
    err->reason = pg->met_standby ? ERR_REASON_REFUSED : ERR_REASON_NONE;
    return false;
}

bool pg_connect_begin(struct pg_store *pg, struct err *err)
{
    pg->hosts_tried = 0;
    *pg->passed_over = '\0';
    pg->met_standby = pg->heard_host = false;
    pg->all_denied = true;
    return try_host(pg, err);
}

/* False: no host remains. */
static bool lookup_step(struct pg_store *pg, struct err *err)
{
    int rc = pg_lookup_step(&pg->lookup);
    if (rc == 0 && clock_mono_us(pg->head.clock) < pg->host_deadline_us)
        return true;
    pg->heard_host = pg->heard_host || rc < 0;
    pg->all_denied = pg->all_denied && rc > 0;  /* an address that was found may still let us in, or not */
    if (rc == 0)
        err_set(err, ERR_LOST, "cannot connect: no address of %s was found within %d ms", host_shown(pg),
                host_timeout_ms(pg));
    else if (rc < 0)
        err_set(err, ERR_LOST, "cannot connect: could not translate host name %s to an address: %s",
                host_shown(pg), pg->lookup.text + 1);
    else if (begin_found(pg, err))
        return true;
    return try_host(pg, err);
}

/* The address in use did not work: the next one, or the next host. False: no host remains. */
static bool connect_elsewhere(struct pg_store *pg, bool is_silent, struct err *err)
{
    pg->met_silence = pg->met_silence || is_silent;
    pg->all_denied = pg->all_denied && !pg->met_silence;
    if (!is_last_address(pg) && (is_silent || !is_refused_at_all(pg->conn))) {
        pass_over(pg);
        pg->address++;
        if (begin_address(pg, err))
            return true;
    } else if (is_silent) {
        err_set(err, ERR_LOST, "cannot connect: no answer from %s within %d ms", host_shown(pg),
                host_timeout_ms(pg));
    } else {
        connect_failed(pg, pg->conn, err);
    }
    pg->heard_host = pg->heard_host || !pg->met_silence;
    return try_host(pg, err);
}

int pg_connect_step(struct pg_store *pg, struct err *err)
{
    if (pg->phase == PG_LOOKING_UP)
        return lookup_step(pg, err) ? 0 : err->code;
    PostgresPollingStatusType polling = pg_handshake_step(pg->conn, pg->polling, 0);
    if (polling == PGRES_POLLING_OK) {
        pg_handshake_over(pg->conn);
        pg->silent_rounds = 0;
        return 1;
    }
    bool is_silent = polling != PGRES_POLLING_FAILED;
    if (is_silent && clock_mono_us(pg->head.clock) < pg->host_deadline_us) {
        pg->polling = polling;
        return 0;
    }
    return connect_elsewhere(pg, is_silent, err) ? 0 : err->code;
}

/* ---- what it must be ------------------------------------------------------------------------- */

int pg_check_server(struct pg_store *pg, struct err *err)
{
    int version = PQserverVersion(pg->conn);
    const char *encoding = PQparameterStatus(pg->conn, "server_encoding");
    if (version < SERVER_OLDEST)
        return err_set(err, ERR_SETTINGS, "store: the server is PostgreSQL %s, expected 13 or newer",
                       PQparameterStatus(pg->conn, "server_version"));
    if (encoding && strcmp(encoding, "UTF8") != 0)
        return err_set(err, ERR_SETTINGS, "store: database '%s' has encoding %s, expected UTF8",
                       PQdb(pg->conn), encoding);
    return 0;
}

int pg_refuse_unreleased(const struct pg_store *pg, struct err *err)
{
    char where[200], drop[200];
    snprintf(where, sizeof where, "schema '%s'", pg->schema);
    snprintf(drop, sizeof drop, "DROP SCHEMA %s CASCADE", pg->schema);
    return migrate_refuse_unreleased(where, drop, err);
}

static int check_versions(const struct pg_store *pg, const struct migrate_state *found, struct err *err)
{
    int known = migrate_newest(migrations_pg);
    enum migrate_fit fit = migrate_fit(migrations_pg, found);
    if (fit == MIGRATE_UNRELEASED)
        return pg_refuse_unreleased(pg, err);
    if (fit == MIGRATE_OUTGROWN) {
        err_set(err, ERR_SCHEMA,
                "schema '%s' is at version %d and serves programs that know version %d or later; this one "
                "knows %d: upgrade it",
                pg->schema, found->version, found->oldest_engine, known);
        err->reason = ERR_REASON_OUTGROWN;
        return ERR_SCHEMA;
    }
    if (fit == MIGRATE_BEHIND)
        return err_set(err, ERR_SCHEMA,
                       "schema '%s' is at version %d, this program needs %d: run `prescient migrate`",
                       pg->schema, found->version, known);
    return 0;
}

int pg_check_schema(struct pg_store *pg, const PGresult *r, struct err *err)
{
    struct pg_check_schema_out row = { 0 };
    if (!pg_row(pg, PG_CHECK_SCHEMA, r, 0, &row))
        return err_set(err, ERR_SCHEMA, "schema '%s' cannot be read: its tables are not those of prescient",
                       pg->schema);
    if (strcmp(row.isolation, "read committed") != 0)
        return err_set(err, ERR_SETTINGS,
                       "store: transactions of this user are '%s', expected default_transaction_isolation "
                       "'read committed'",
                       row.isolation);
    int32_t length_s = row.slot_length_s;
    struct migrate_state found = { true, row.version, row.oldest_engine,
                                   migrate_is_unreleased(migrations_pg, row.names) };
    int rc = check_versions(pg, &found, err);
    if (rc < 0)
        return rc;
    if (pg->wanted_slot_length_s && pg->wanted_slot_length_s != length_s)
        return err_set(err, ERR_SETTINGS,
                       "slot_length is %d s in the settings and %d s in the database: change the setting, or "
                       "run `prescient migrate --slot-length LENGTH`, which moves pending checks to new "
                       "slots",
                       pg->wanted_slot_length_s, length_s);
    /* A report only reads. An engine has judged answers by the old length, so it must stop. */
    bool asks_only = pg->call && pg->call->op == STORE_REPORT;
    if (pg->engine && !asks_only && pg->head.slot_length_s && pg->head.slot_length_s != length_s)
        return err_set(err, ERR_CHANGED,
                       "the slot length was changed from %d s to %d s while this program ran: start it again",
                       pg->head.slot_length_s, length_s);
    pg->head.slot_length_s = length_s;
    return 0;
}

/* The server's last message may still have to be read, and after it the end of the stream. */
bool pg_is_alive(PGconn *conn)
{
    for (int reads = 0; reads < 4; reads++) {
        struct pollfd p = { .fd = PQsocket(conn), .events = POLLIN };
        if (poll(&p, 1, 0) <= 0)
            break;
        if (!PQconsumeInput(conn))
            return false;
        PQisBusy(conn);         /* parses what was read */
    }
    return PQstatus(conn) == CONNECTION_OK && PQsocket(conn) >= 0;
}

/* ---- blocking -------------------------------------------------------------------------------- */

/* The same settings and keepalives as those of the other connection. */
static int pin_blocking(struct pg_store *pg, PGconn *conn, struct err *err)
{
    struct pg_pin_lists room;
    struct pg_pin_in pins = pg_pins(pg, conn, &room);
    struct pg_silence_in in = { .silence_ms = pg->silence_ms,
                                .names = pins.names,
                                .settings = pins.settings,
                                .backend_pid = pins.backend_pid };
    struct pg_silence_out row = { 0 };
    int rc = pg_ask(pg, conn, PG_SILENCE, &in, &row, err);
    if (rc >= 0)
        pg->pooled = row.pooled;
    return rc;
}

/* The blocking form of libpq has no SQLSTATE to tell. A server that does not let us in has
 * answered quickly: then the other form asks it for the reason. */
static void ask_why_not(struct pg_store *pg, int64_t took_us, struct err *err)
{
    enum { QUICK_US = 2000 * 1000 };
    struct store_hello hello = STORE_HELLO_INIT;
    if (took_us > QUICK_US || store_do(&pg->head, &hello.call) >= 0)
        return;
    if (hello.call.err.code == ERR_SCHEMA || err_is_denied(&hello.call.err))
        *err = hello.call.err;
}

static PGconn *open_blocking(struct pg_store *pg, const struct pg_host *host, struct err *err)
{
    PGconn *conn = connect_to(pg, host, true);
    if (conn && PQstatus(conn) == CONNECTION_OK) {
        pg_handshake_drop_notices(conn);
        if (pin_blocking(pg, conn, err) >= 0)
            return conn;
    } else {
        connect_failed(pg, conn, err);
    }
    PQfinish(conn);
    return NULL;
}

/* All addresses of its name, until one lets us in: libpq takes none behind one that only reads.
 * Where none is found, libpq says why. */
static PGconn *open_each(struct pg_store *pg, const struct pg_host *host, struct err *err)
{
    char address[PG_LOOKUP_TEXT];
    struct pg_host at = *host;
    struct pg_lookup found = { 0 };
    PGconn *conn = NULL;
    if (!pg_lookup_wanted(host) || !pg_lookup_wait(&found, host->host, host_timeout_ms(pg)))
        return open_blocking(pg, host, err);
    int n = count_parts(found.text);
    at.hostaddr = address;
    for (int i = 0; !conn && i < n; i++) {
        copy_address(&found, i, address);
        conn = open_blocking(pg, &at, err);
    }
    return conn;
}

PGconn *pg_connect_blocking(struct pg_store *pg, struct err *err)
{
    int64_t began_us = clock_mono_us(pg->head.clock);
    PGconn *conn = NULL;
    for (int i = 0; !conn && i < pg->nhosts; i++)
        conn = open_each(pg, &pg->hosts[(pg->host + i) % pg->nhosts], err);
    if (!conn)
        ask_why_not(pg, clock_mono_us(pg->head.clock) - began_us, err);
    return conn;
}

PGconn *pg_side(struct pg_store *pg, struct err *err)
{
    if (pg->side && pg_is_alive(pg->side))
        return pg->side;
    /* the same checks and messages as for every call */
    struct store_hello hello = STORE_HELLO_INIT;
    if (store_do(&pg->head, &hello.call) < 0) {
        *err = hello.call.err;
        return NULL;
    }
    pg_side_close(pg);
    pg->side = pg_connect_blocking(pg, err);
    return pg->side;
}

void pg_side_close(struct pg_store *pg)
{
    PQfinish(pg->side);
    pg->side = NULL;
    memset(pg->side_prepared, 0, sizeof pg->side_prepared);
}
