/* app.c - what every command uses: the store of the settings, the time of the command, and how
 * failures are printed. */
#include "app.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../base/when.h"
#include "action.h"
#include "program.h"
#include "text.h"

static const struct { int code, exit; } exits[] = {
    { ERR_LOST, EXIT_NO_STORE },
    { ERR_BUSY, EXIT_TRY_AGAIN },
    { ERR_CHANGED, EXIT_TRY_AGAIN },
    { ERR_SETTINGS, EXIT_BAD_SETTINGS },
    { ERR_SCHEMA, EXIT_BAD_SETTINGS },
    { ERR_INPUT, EXIT_BAD_USAGE },
};

void app_log_as(struct app *app, const struct settings *s)
{
    int level = s->log_level ? log_level_named(s->log_level) : -1;
    bool is_json = s->log_format && !strcmp(s->log_format, "json");
    if (level >= 0)
        app->log.least = (enum log_level)level;
    log_set_json(&app->log, is_json);
}

/* Who collects lines of a form is given these in it, too. */
static bool log_message(struct app *app, enum log_level level, const char *message)
{
    const char *name = app->command ? app->command->name : "prescient";
    bool is_collected = app->log.form == LOG_FORM_JOURNAL || app->log.form == LOG_FORM_JSON;
    if (is_collected)
        log_line(&app->log, level, "%s: %s", name, message);
    return is_collected;
}

static void app_print_message(struct app *app, enum log_level level, const char *message)
{
    fflush(app->out);
    if (log_message(app, level, message))
        return;
    fputs("prescient", stderr);
    if (app->command)
        fprintf(stderr, " %s", app->command->name);
    fputs(": ", stderr);
    text_put(stderr, message, 0);
    fputc('\n', stderr);
}

int app_fail(struct app *app, const struct err *err)
{
    app_print_message(app, LOG_LEVEL_ERROR, err->text[0] ? err->text : "failed for an unknown reason");
    if (err_is_denied(err))
        return EXIT_DENIED;
    for (size_t i = 0; i < sizeof exits / sizeof *exits; i++)
        if (exits[i].code == err->code)
            return exits[i].exit;
    return EXIT_TROUBLE;
}

int app_become(struct app *app, const struct command *command, char **argv)
{
    struct err err;
    fflush(app->out);
    program_become(command->program, argv, &err);
    return app_fail(app, &err);
}

int app_usage(struct app *app, const char *why)
{
    const struct command *c = app->command;
    app_print_message(app, LOG_LEVEL_ERROR, why);
    fprintf(stderr, "usage: prescient %s%s%s [options]\n", c->name, *c->args ? " " : "", c->args);
    return EXIT_BAD_USAGE;
}

void app_warn(struct app *app, const char *fmt, ...)
{
    char message[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    app_print_message(app, LOG_LEVEL_WARN, message);
}

void app_remark(struct app *app, const char *fmt, ...)
{
    char message[1024];
    if (app->quiet)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    app_print_message(app, LOG_LEVEL_INFO, message);
}

/* ---- the store ------------------------------------------------------------------------------- */

static void app_wait_ms(int64_t ms)
{
    struct timespec remaining = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };
    while (nanosleep(&remaining, &remaining) < 0 && errno == EINTR)
        ;
}

/* Three tries: at once, after 1 s and after 2 s more. That bridges a restart of the database, and
 * does not make a cron job hang. A right that is refused stays refused. */
int app_insist(struct app *app, int (*fn)(void *ctx, struct err *err), void *ctx, struct err *err)
{
    static const int64_t pauses_ms[] = { 1000, 2000 };
    for (size_t i = 0; ; i++) {
        err_clear(err);
        int rc = fn(ctx, err);
        bool again = (rc == ERR_LOST && !err_is_denied(err)) || rc == ERR_BUSY;
        if (!again || i == sizeof pauses_ms / sizeof *pauses_ms)
            return rc;
        log_info(&app->log, "%s; retrying in %" PRId64 " s", err->text, pauses_ms[i] / 1000);
        app_wait_ms(pauses_ms[i]);
    }
}

struct app_call_ctx {
    struct store *st;
    struct store_call *call;
};

static int app_call_once(void *ctx, struct err *err)
{
    struct app_call_ctx *c = ctx;
    int rc = store_do(c->st, c->call);
    if (rc < 0)
        *err = c->call->err;
    return rc;
}

int app_call(struct app *app, struct store *st, struct store_call *call)
{
    struct err err;
    return app_insist(app, app_call_once, &(struct app_call_ctx){ st, call }, &err);
}

struct store *app_store_new(struct app *app, struct err *err)
{
    struct store_options options = store_options_from(&app->settings);
    struct store *st;
    bool is_special = app->action && app->action->role;
    options.role = is_special ? app->action->role : app->command->role;
    if (app->now && !(is_special ? app->action->only_reads : app->command->only_reads))
        options.role = NULL;            /* a time of one's own is for engines */
    return store_new(&options, &st, err) < 0 ? NULL : st;
}

struct store *app_store(struct app *app, struct err *err)
{
    if (app->store)
        return app->store;
    struct store *st = app_store_new(app, err);
    if (!st)
        return NULL;
    struct store_hello hello = STORE_HELLO_INIT;
    if (app_call(app, st, &hello.call) < 0) {
        *err = hello.call.err;
        store_free(st);
        return NULL;
    }
    return app->store = st;
}

bool app_is_away(const struct err *err)
{
    if (err->code == ERR_SCHEMA)
        return err->reason != ERR_REASON_OUTGROWN;
    return err->code == ERR_LOST || err->code == ERR_BUSY;
}

/* ---- time and numbers ------------------------------------------------------------------------ */

int app_now(struct app *app, int64_t *now, struct err *err)
{
    if (app->now) {
        *now = app->now;
        return 0;
    }
    struct store *st = app_store(app, err);
    if (!st)
        return err->code;
    struct store_hello hello = STORE_HELLO_INIT;
    if (app_call(app, st, &hello.call) < 0) {
        *err = hello.call.err;
        return err->code;
    }
    *now = hello.now_us / 1000000;
    return 0;
}

const char *app_now_param(struct app *app)
{
    return app->now ? arena_printf(app->arena, "%" PRId64, app->now) : NULL;
}

int app_moment(struct app *app, const char *text, int64_t *out, struct err *err)
{
    int64_t now = 0;
    int rc = app_now(app, &now, err);
    if (rc < 0)
        return rc;
    return when_parse(text, &(struct when){ now, app->zone, false }, out, err);
}

const char *app_moment_param(struct app *app, const char *text, struct err *err)
{
    int64_t at;
    if (app_moment(app, text, &at, err) < 0)
        return NULL;
    const char *param = arena_printf(app->arena, "%" PRId64, at);
    if (!param)
        err_set(err, ERR_NOMEM, "out of memory");
    return param;
}

int app_moment_option(struct app *app, const struct args *args, char letter, int64_t *out, struct err *err)
{
    const char *text = args_text(args, letter);
    if (!text)
        return 0;
    int64_t now = 0;
    int rc = app_now(app, &now, err);
    if (rc < 0)
        return rc;                      /* the store's failure, and not the option's */
    bool looks_back = !strcmp(args_name(args, letter), "since");
    rc = when_parse(text, &(struct when){ now, app->zone, looks_back }, out, err);
    return rc < 0 ? err_wrap(err, rc, "--%s", args_name(args, letter)) : 0;
}

int app_moment_option_param(struct app *app, const struct args *args, char letter, const char **out,
                            struct err *err)
{
    int64_t at = 0;
    if (!args_has(args, letter))
        return 0;
    int rc = app_moment_option(app, args, letter, &at, err);
    if (rc < 0)
        return rc;
    *out = arena_printf(app->arena, "%" PRId64, at);
    return *out ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}

/* ---- reports --------------------------------------------------------------------------------- */

int app_rows(struct app *app, const char *name, const char *const *params, int nparams,
             struct store_rows *out, struct err *err)
{
    return app_rows_of(app, NULL, name, params, nparams, out, err);
}

int app_rows_of(struct app *app, const char *role, const char *name, const char *const *params, int nparams,
                struct store_rows *out, struct err *err)
{
    struct store *st = app_store(app, err);
    if (!st)
        return err->code;
    struct store_report report = STORE_REPORT_INIT;
    report.name = name;
    report.params = params;
    report.nparams = nparams;
    report.arena = app->arena;
    report.role = role;
    int rc = store_do(st, &report.call);
    if (rc < 0) {
        *err = report.call.err;
        return rc;
    }
    *out = report.rows;
    app_remark_left_out(app, &report);
    return rc;
}

void app_remark_left_out(struct app *app, const struct store_report *report)
{
    if (!report->left_out || app->told_left_out)
        return;
    app->told_left_out = true;
    app_remark(app, "without the column '%s': this user may read the views only (role prescient_reader)",
               report->left_out);
}
