/* consumer.c - see consumer.h. */
#include "consumer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../view/rows.h"

#define COUNT(params) ((int)(sizeof(params) / sizeof *(params)))

int consumer_check_name(const char *name, struct err *err)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    size_t n = strlen(name);
    if (n >= 1 && n <= CONSUMER_NAME_MAX && strspn(name, allowed) == n)
        return 0;
    return err_set(err, ERR_INPUT,
                   "the consumer's name is '%.80s', expected 1 to %d characters of A-Z a-z 0-9 _ . -", name,
                   CONSUMER_NAME_MAX);
}

/* ---- calls ---- */

static int ask(struct store *st, const char *name, const char *const *params, int n, int within_ms,
               struct arena *a, struct store_rows *out, struct err *err)
{
    struct store_report report = STORE_REPORT_INIT;
    report.name = name;
    report.params = params;
    report.nparams = n;
    report.arena = a;
    report.call.within_ms = within_ms;
    int rc = a ? store_do(st, &report.call) : err_set(&report.call.err, ERR_NOMEM, "out of memory");
    if (rc < 0)
        *err = report.call.err;
    *out = report.rows;
    return rc;
}

static int change(struct store *st, const char *report, const char *const *params, int n, int within_ms,
                  struct err *err)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1024);
    struct store_rows rows;
    int rc = ask(st, report, params, n, within_ms, a, &rows, err);
    if (rc < 0)
        return rc;
    return rows.rows && rows.cells[0] && !strcmp(rows.cells[0], "1");
}

int consumer_ask(struct store *st, const char *report, const char *const *params, int n, struct arena *a,
                 struct store_rows *out, struct err *err)
{
    return ask(st, report, params, n, 0, a, out, err);
}

int consumer_change(struct store *st, const char *report, const char *const *params, int n, struct err *err)
{
    return change(st, report, params, n, 0, err);
}

/* An answer that comes later than that is of no use: the lease has to be renewed first. */
static int within_ms(const struct consumer *c)
{
    return (int)(c->app->settings.trust_us / 2000);
}

/* ---- opening ---- */

static int draw_owner(struct consumer *c, struct err *err)
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return err_sys(err, ERR_GENERAL, "getrandom");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(c->owner + 2 * i, 3, "%02x", bytes[i]);
    return 0;
}

static void name_holder(struct consumer *c)
{
    char host[256] = "";
    const char *configured = c->app->settings.engine_name;
    gethostname(host, sizeof host - 1);
    snprintf(c->holder, sizeof c->holder, "%s/%ld", configured ? configured : host, (long)getpid());
}

int consumer_store(struct app *app, struct store **out, struct err *err)
{
    struct store_options options = store_options_from(&app->settings);
    struct store_hello hello = STORE_HELLO_INIT;
    int rc = store_new(&options, out, err);
    if (rc < 0)
        return rc;
    rc = app_call(app, *out, &hello.call);
    if (rc == 0)
        return 0;
    *err = hello.call.err;
    store_free(*out);
    *out = NULL;
    return rc;
}

int consumer_open(struct consumer *c, struct app *app, const char *name, struct err *err)
{
    *c = (struct consumer){ .app = app, .name = name };
    snprintf(c->lease_ms, sizeof c->lease_ms, "%" PRId64, app->settings.lease_us / 1000);
    name_holder(c);
    int rc = draw_owner(c, err);
    if (rc == 0)
        rc = consumer_store(app, &c->store, err);
    if (rc == 0)
        rc = change(c->store, "cursor_make", &name, 1, 0, err);
    c->is_new = rc > 0;
    return rc < 0 ? rc : 0;
}

void consumer_release(struct consumer *c)
{
    if (c->store)
        consumer_give_back(c);
    store_free(c->store);
    c->store = NULL;
}

/* ---- the lease ---- */

static void is_ours(struct consumer *c, int64_t sent_us)
{
    const struct settings *s = &c->app->settings;
    int64_t shorter_us = s->trust_us < s->lease_us ? s->trust_us : s->lease_us;
    c->trusted_until_us = sent_us + shorter_us;
    c->renew_at_us = sent_us + shorter_us / 3;
}

static void is_lost(struct consumer *c)
{
    c->trusted_until_us = c->renew_at_us = 0;
    *c->token = '\0';
}

static void keep_text(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text ? text : "");
}

/* How long the holder's lease has been as it is, by our own clock. */
static void watch(struct consumer *c, const struct store_rows *rows)
{
    const char *owner = rows_value(rows, 0, "owner"), *token = rows_value(rows, 0, "token");
    const char *until_us = rows_value(rows, 0, "until_us");
    bool is_same = owner && token && until_us && !strcmp(owner, c->seen.owner) &&
                   !strcmp(token, c->seen.token) && !strcmp(until_us, c->seen.until_us);
    if (is_same)
        return;
    keep_text(c->seen.owner, sizeof c->seen.owner, owner);
    keep_text(c->seen.token, sizeof c->seen.token, token);
    keep_text(c->seen.until_us, sizeof c->seen.until_us, until_us);
    keep_text(c->seen.holder, sizeof c->seen.holder, rows_value(rows, 0, "held_by"));
    c->seen.since_us = clock_mono_us(&clock_system);
}

static bool is_watched_for_long(const struct consumer *c)
{
    return *c->seen.owner && clock_mono_us(&clock_system) - c->seen.since_us > c->app->settings.lease_us;
}

int consumer_take(struct consumer *c, struct err *err)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(1024);
    struct store_rows rows;
    const char *params[] = { c->name, c->owner, c->holder, c->lease_ms, NULL, NULL, NULL };
    if (is_watched_for_long(c)) {
        params[4] = c->seen.owner;
        params[5] = c->seen.token;
        params[6] = c->seen.until_us;
    }
    int64_t sent_us = clock_boot_us(&clock_system);
    is_lost(c);
    int rc = ask(c->store, "cursor_take", params, COUNT(params), within_ms(c), a, &rows, err);
    if (rc < 0)
        return rc;
    if (!rows.rows)
        return err_set(err, ERR_NOTFOUND, "the consumer '%s' was forgotten (prescient events --forget)",
                       c->name);
    if (!rows_number(&rows, 0, "ours")) {
        watch(c, &rows);
        return 0;
    }
    *c->seen.owner = '\0';
    keep_text(c->cursor, sizeof c->cursor, rows_value(&rows, 0, "cursor"));
    keep_text(c->token, sizeof c->token, rows_value(&rows, 0, "token"));
    c->pruned_at = rows_number(&rows, 0, "pruned_at");
    is_ours(c, sent_us);
    return 1;
}

int consumer_renew(struct consumer *c, struct err *err)
{
    const char *params[] = { c->name, c->owner, c->token, c->lease_ms };
    int64_t sent_us = clock_boot_us(&clock_system);
    int rc = change(c->store, "cursor_renew", params, COUNT(params), within_ms(c), err);
    if (rc > 0)
        is_ours(c, sent_us);
    else if (rc == 0)
        is_lost(c);
    else
        c->renew_at_us = clock_boot_us(&clock_system) + 1000000;
    return rc;
}

int consumer_keep(struct consumer *c, struct err *err)
{
    return clock_boot_us(&clock_system) < c->renew_at_us ? 1 : consumer_renew(c, err);
}

void consumer_give_back(struct consumer *c)
{
    struct err err;
    const char *params[] = { c->name, c->owner, c->token };
    if (*c->token)                  /* else it expires, or another one has it */
        change(c->store, "cursor_release", params, COUNT(params), within_ms(c), &err);
    is_lost(c);
}

/* ---- events ---- */

int consumer_read(struct consumer *c, struct arena *a, int most, struct store_rows *out, struct err *err)
{
    char limit[16];
    struct event_cursor at = { 0 };
    event_cursor_split(c->cursor, &at);
    snprintf(limit, sizeof limit, "%d", most);
    const char *params[] = { at.numbers[0], at.numbers[1], at.numbers[2], limit };
    return ask(c->store, "events", params, COUNT(params), 0, a, out, err);
}

int consumer_move(struct consumer *c, const char *cursor, bool skipped, struct err *err)
{
    struct event_cursor from = { 0 }, to = { 0 };
    event_cursor_split(c->cursor, &from);
    if (!event_cursor_split(cursor, &to))
        return err_set(err, ERR_GENERAL, "the store has given '%.80s' as a cursor", cursor);
    const char *params[] = { c->name, c->owner, c->token, c->lease_ms, from.numbers[0], from.numbers[1],
                             from.numbers[2], to.numbers[0], to.numbers[1], to.numbers[2],
                             skipped ? "1" : "0" };
    int64_t sent_us = clock_boot_us(&clock_system);
    int rc = change(c->store, "cursor_move", params, COUNT(params), 0, err);
    if (rc <= 0) {
        is_lost(c);
        return rc;
    }
    is_ours(c, sent_us);
    keep_text(c->cursor, sizeof c->cursor, cursor);
    return 1;
}
