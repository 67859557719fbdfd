/* prescient serve - answers other programs over HTTP. */
#include <unistd.h>

#include "../base/settings_mask.h"
#include "../http/listen.h"
#include "../http/server.h"
#include "app.h"
#include "help.h"
#include "reload.h"

static int serve_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "listen", 'l', "ADDRESS", "where: 127.0.0.1:8080, [::1]:8080 or unix:PATH (the setting listen)" },
    { "read-only", 'r', NULL, "no change can be made through it (the setting http_read_only)" },
    { 0 }
};

const struct command cmd_serve = {
    .name = "serve",
    .group = COMMAND_RUNNING,
    .args = "",
    .help = "answer other programs over HTTP",
    .more = "GET /liveness says whether it is there, and asks no store; GET /readiness whether the store can "
            "be asked (503: it cannot). POST /v1/checks files a check, and answers when it is on disk; "
            "docs/http.md has the rest.\n"
            "Stays in the foreground; logs to stderr. On TERM or INT it takes no new connection, answers "
            "what it has read, and ends within stop_timeout; a second signal ends it at once. On HUP it "
            "reads the settings again.\n"
            "Without tokens (prescient token) whoever reaches it may do all that it can, and it listens on "
            "loopback addresses and socket files alone.",
    .examples = "prescient serve\nprescient serve --listen unix:http.sock\nprescient serve --read-only",
    .options = options,
    .main = serve_main,
    .role = "prescient_enqueuer",
};

/* Whether there is a token. A store that is away keeps nobody from starting: without a list of
 * tokens nobody is let in. */
static int check_tokens(struct app *app, const struct listen_address *address, struct err *err)
{
    char text[LISTEN_TEXT];
    struct store_report report = STORE_REPORT_INIT;
    struct store *st = app_store_new(app, err);
    if (!st)
        return err->code;
    report.name = "tokens";
    report.arena = app->arena;
    int rc = store_do(st, &report.call);
    bool is_away = rc == ERR_LOST || rc == ERR_BUSY;
    store_free(st);
    if (is_away)
        log_warn(&app->log, "whether there are tokens is not known: %s", report.call.err.text);
    if (is_away || (rc == 0 && report.rows.rows))
        return 0;
    return err_set(err, ERR_INPUT,
                   "listen: %s is no loopback address, and without tokens whoever reaches it may do all that "
                   "it can; make one first (prescient token new)", listen_text(address, text));
}

/* The socket of systemd, else the one that is asked for. */
static int open_socket(struct app *app, const char *wanted, struct listen_address *address, struct err *err)
{
    int fd, rc = listen_inherit(address, &fd, err);
    if (rc == 0 && fd < 0)
        rc = listen_parse(wanted, address, err);
    if (rc == 0 && !address->is_local)
        rc = check_tokens(app, address, err);
    if (rc == 0)
        return fd >= 0 ? fd : listen_open(address, err);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* A store that can never be opened is told at once; one that is away is waited for. */
static int check_store(struct app *app, struct err *err)
{
    struct store *st = app_store_new(app, err);
    store_free(st);
    return st ? 0 : err->code;
}

/* ---- other settings ---- */

/* Those in force, and those before them. */
struct renewals {
    struct app *app;
    struct reload in_force, before;
    const struct settings *settings;
    bool read_only; /* an option of the command has said so */
};

static const char *const fixed[] = { "store", "schema", "schema_owner", "listen", NULL };

static const struct settings *renew(void *ctx)
{
    struct renewals *r = ctx;
    struct reload *next = &r->before; /* nobody uses these any more */
    struct err err = { 0 };
    log_info(&r->app->log, "SIGHUP: reading the settings again");
    reload_release(next);
    if (reload_read(r->app, &(struct reload_from){ r->settings, fixed, r->read_only }, next, &err) < 0) {
        reload_tell_failure(r->app, &err);
        return NULL;
    }
    struct reload before = r->in_force;
    r->in_force = *next;
    r->before = before;
    reload_tell(r->app, &r->in_force);
    return r->settings = &r->in_force.settings;
}

/* ---- the command ---- */

/* For who reads the log a week later. */
static void tell_start(struct app *app, const char *address)
{
    char store[512];
    settings_mask_url(app->settings.store, store, sizeof store);
    log_info(&app->log, "prescient %s answers at %s; its store is %s", version_text(), address, store);
}

static int serve_main(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    struct listen_address address;
    struct supervisor supervisor;
    char text[LISTEN_TEXT];
    if (app->now)
        return app_usage(app, "--now: a server has no virtual time");
    if (check_store(app, &err) < 0)
        return app_fail(app, &err);
    const char *wanted = args_has(args, 'l') ? args_text(args, 'l') : app->settings.listen;
    int fd = open_socket(app, wanted, &address, &err);
    if (fd < 0)
        return app_fail(app, &err);
    struct renewals renewals = { .app = app, .settings = &app->settings, .read_only = args_has(args, 'r') };
    app->settings.http_read_only = app->settings.http_read_only || renewals.read_only;
    supervisor_open(&supervisor);
    tell_start(app, listen_text(&address, text));
    supervisor_status(&supervisor, "answers at %s", text);
    int rc = server_run(
        &(struct server_options){
            .settings = &app->settings,
            .log = &app->log,
            .role = app->command->role,
            .reader_role = "prescient_reader",
            .listen_fd = fd,
            .is_local = address.is_local,
            .renew = renew,
            .ctx = &renewals,
            .supervisor = &supervisor,
        },
        &err);
    supervisor_close(&supervisor);
    reload_release(&renewals.in_force);
    reload_release(&renewals.before);
    return rc < 0 ? app_fail(app, &err) : EXIT_WELL;
}
