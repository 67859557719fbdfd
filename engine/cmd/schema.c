/* schema.c - creates and upgrades the schema. Each migration is printed when it is applied, as one
 * may take long. */
#include "schema.h"

#include <inttypes.h>
#include <jansson.h>
#include "../base/moment.h"
#include "../rules/job_limits.h"
#include "../rules/slot.h"
#include "app.h"
#include "report.h"

struct upgrade {
    struct app *app;
    struct store *st;
    struct migrate_options options;
    json_t *applied;            /* with --json: what was applied; else NULL */
    int count;
    const char *noted; /* what was corrected besides; NULL: nothing */
};

static int slot_length_read(const char *text, int32_t *out, struct err *err)
{
    int64_t us;
    if (duration_parse_us(text, &us, err) < 0)
        return err_wrap(err, ERR_INPUT, "--slot-length");
    if (!duration_has_unit(text))
        return err_set(err, ERR_INPUT,
                       "--slot-length: found '%.20s', expected a unit, such as %.20sm or %.20ss", text, text,
                       text);
    if (us % 1000000 || !slot_length_is_valid(us / 1000000))
        return err_set(err, ERR_INPUT,
                       "--slot-length: found '%.80s', expected a length from 1s to 1d that divides a day",
                       text);
    *out = (int32_t)(us / 1000000);
    return 0;
}

static void applied(void *ctx, int version, const char *name)
{
    struct upgrade *u = ctx;
    u->count++;
    if (u->applied) {
        report_added(u->app, json_array_append_new(
                                 u->applied, json_pack("{s:i, s:s}", "version", version, "name", name)));
        return;
    }
    if (u->app->quiet && !u->options.dry_run)
        return;
    fprintf(u->app->out, "%s %s\n", u->options.dry_run ? "would apply" : "applied", name);
    fflush(u->app->out);
}

static void noted(void *ctx, const char *note)
{
    struct upgrade *u = ctx;
    if (u->noted)
        u->noted = arena_printf(u->app->arena, "%s; %s", u->noted, note);
    else
        u->noted = arena_strdup(u->app->arena, note);
    if (!u->applied)
        fprintf(u->app->out, "%s\n", note);
}

static int migrate_once(void *ctx, struct err *err)
{
    struct upgrade *u = ctx;
    return store_migrate(u->st, &u->options, err);
}

/* Creates days of history ahead, and learns what the schema is like now. */
static int finish(struct upgrade *u, struct store_hello *hello, struct err *err)
{
    if (app_call(u->app, u->st, &hello->call) < 0) {
        *err = hello->call.err;
        return err->code;
    }
    struct store_keep_days keep = STORE_KEEP_DAYS_INIT;
    keep.days = u->app->settings.history_days_ahead;
    if (app_call(u->app, u->st, &keep.call) < 0) {
        *err = keep.call.err;
        return err->code;
    }
    return 0;
}

static void print_result(struct upgrade *u, const struct store_hello *hello)
{
    char length[MOMENT_TEXT];
    struct app *app = u->app;
    if (u->applied) {
        json_t *object = json_pack("{s:b, s:O}", "dry_run", u->options.dry_run, "applied", u->applied);
        if (!u->options.dry_run)
            report_added(app, json_object_update_new(object, json_pack("{s:i, s:i, s:s}", "schema_version",
                                                                       hello->schema_version, "slot_length_s",
                                                                       (int)hello->slot_length_s, "server",
                                                                       hello->server)));
        if (u->noted)
            report_added(app, json_object_set_new(object, "noted", json_string(u->noted)));
        report_print_object(app, object);
    } else if (u->options.dry_run) {
        fprintf(app->out, u->count ? "nothing was changed\n" : "nothing to apply\n");
    } else if (!app->quiet) {
        fprintf(app->out, "%s: schema version %d is %s, slots of %s\n", hello->server, hello->schema_version,
                u->count ? "ready" : "up to date",
                duration_format_us(hello->slot_length_s * 1000000LL, length));
    }
}

/* A length that the attempts of a job do not fit into is refused before anything is changed. */
static int check_attempts(const struct upgrade *u, struct err *err)
{
    int32_t length_s = u->options.slot_length_s;
    return length_s ? job_limits_fit(&u->app->settings, length_s, err) : 0;
}

static void remark_attempts(const struct upgrade *u, const struct store_hello *hello)
{
    struct err err;
    if (job_limits_fit(&u->app->settings, hello->slot_length_s, &err) < 0)
        app_remark(u->app, "no engine will start with these settings: %s", err.text);
}

static int upgrade_run(struct upgrade *u, const char *slot_length, struct err *err)
{
    struct store_hello hello = STORE_HELLO_INIT;
    struct store_options options = store_options_from(&u->app->settings);
    if (slot_length) {
        int rc = slot_length_read(slot_length, &u->options.slot_length_s, err);
        if (rc < 0)
            return rc;
    }
    int fits = check_attempts(u, err);
    if (fits < 0)
        return fits;
    options.slot_length_s = 0;          /* whatever it is now is fine: it may be about to change */
    if (store_new(&options, &u->st, err) < 0)
        return err->code;
    int rc = app_insist(u->app, migrate_once, u, err);
    if (rc < 0)
        return rc;
    if (!u->options.dry_run) {
        rc = finish(u, &hello, err);
        if (rc < 0)
            return rc;
        remark_attempts(u, &hello);
    }
    print_result(u, &hello);
    return 0;
}

int schema_upgrade(struct app *app, const struct schema_options *options)
{
    struct err err = { 0 };
    struct upgrade u = {
        .app = app,
        .options = { .slot_length_s = (int32_t)app->settings.slot_length_s,
                     .change_slot_length = options->change_slot_length,
                     .dry_run = options->dry_run,
                     .restored = options->restored,
                     .applied = applied,
                     .noted = noted },
        .applied = app->json ? report_made(app, json_array()) : NULL,
    };
    u.options.ctx = &u;
    int rc = upgrade_run(&u, options->slot_length, &err);
    store_free(u.st);
    json_decref(u.applied);
    return rc < 0 ? app_fail(app, &err) : EXIT_WELL;
}
