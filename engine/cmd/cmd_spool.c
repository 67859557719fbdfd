/* prescient spool - folders as slots: runs the programs that lie in the folder of the slot that is
 * now, each once, under a guard. It needs no store. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/moment.h"
#include "../base/utf8.h"
#include "../base/when.h"
#include "../rules/slot.h"
#include "../rules/spool_slot.h"
#include "action.h"
#include "app.h"
#include "guarded.h"
#include "interrupt.h"
#include "report.h"
#include "spool.h"
#include "telling.h"
#include "text.h"

static int spool_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "sweep", 's', NULL, "run the programs of earlier slots, oldest slot first" },
    { "timeout", 't', "DURATION", "the limit of one program (15m)" },
    { "slot-length", 'l', "DURATION", "of this spool (that of the settings, or 15m)" },
    { "in", 'i', "DURATION", "add: in the slot that begins then or next, such as 3h" },
    { "at", 'a', "TIME", "add: the same, at a time" },
    { 0 }
};

const struct command cmd_spool = {
    .name = "spool", .group = COMMAND_RUNNING,
    .args = "DIR | add DIR --in DURATION -- COMMAND ...",
    .help = "run the programs in the folder of the slot that is now, or add one",
    .more =
        "DIR/yymmddhhmi/ (UTC) holds the programs of one slot. Each is moved to DIR/running/ and started,\n"
        "and then moved to DIR/done/ or DIR/failed/ with its output. A program that a killed run left in\n"
        "running/ is moved to failed/ and not run again. What others may write is refused and left where it\n"
        "is. Call it as often as slots begin, from as many shells as you like: each program runs once.\n"
        "Exit code 0 when all ended well or there was nothing to run, 1 when something failed.",
    .examples = "prescient spool add spool --in 3h -- ./remind\n"
                "prescient spool spool",
    .options = options,
    .operands = { 1, INT_MAX },
    .main = spool_main,
};

#define SECOND_US INT64_C(1000000)
#define DAY_US (86400 * SECOND_US)
#define OUTPUT_MAX (64 * 1024 * 1024)   /* bytes of one program; who writes more is ended */
#define GUARD_US (5 * SECOND_US)        /* beyond the limit and the grace, until a guard is given up */
enum { MINUTE_S = 60, SLOT_LENGTH_S = 900, LOOK_MS = 100 };

struct spooling {
    struct app *app;
    struct spool spool;
    struct interrupt interrupt;
    struct arena *arena;                /* of the names of one folder */
    int64_t timeout_us;
    int64_t run, done, failed, refused, left, not_begun;
};

/* The folder of a slot. */
struct folder {
    const char *name;
    int64_t slot;
    int fd;
    bool is_short;                      /* what made one fail would make the next ones fail, too */
};

/* ---- what is asked for ---- */

static int64_t now_s(const struct app *app)
{
    return app->now ? app->now : clock_wall_us(&clock_system) / SECOND_US;
}

static int read_slot_length(struct app *app, const struct args *args, int32_t *out, struct err *err)
{
    const char *text = args_text(args, 'l');
    int64_t length_us = app->settings.slot_length_s * SECOND_US;
    char found[MOMENT_TEXT];
    if (text && duration_parse_us(text, &length_us, err) < 0)
        return err_wrap(err, err->code, "--slot-length");
    length_us = length_us ? length_us : SLOT_LENGTH_S * SECOND_US;
    int64_t length_s = length_us / SECOND_US;
    *out = (int32_t)length_s;
    if (length_us % (MINUTE_S * SECOND_US) == 0 && slot_length_is_valid(length_s))
        return 0;
    err_set(err, text ? ERR_INPUT : ERR_SETTINGS,
            "found %s, expected whole minutes that divide a day, as the folders of a spool are named after "
            "minutes",
            duration_format_us(length_us, found));
    return err_wrap(err, err->code, text ? "--slot-length" : "slot_length (--slot-length gives another one)");
}

/* ---- one program ---- */

static bool wrote_too_much(const struct spool_program *p)
{
    struct stat st;
    return fstat(p->output, &st) == 0 && st.st_size > OUTPUT_MAX;
}

/* Waits for its end. It is stopped when it writes without end or when we are to stop; a guard that
 * does not end it in time, as it was stopped itself, is killed, and the program with it. */
static struct guarded_report attend(struct spooling *s, struct guarded *g, const struct spool_program *p,
                                    bool *is_endless)
{
    bool is_stopping = false;
    int64_t grace_us = s->app->settings.kill_grace_us;
    int64_t last_us = clock_boot_us(&clock_system) + s->timeout_us + grace_us + GUARD_US;
    for (;;) {
        struct pollfd fds[] = { { .fd = g->sock, .events = POLLIN },
                                { .fd = is_stopping ? -1 : s->interrupt.fd, .events = POLLIN } };
        bool is_heard = poll(fds, 2, LOOK_MS) > 0 && fds[0].revents;
        if (is_heard && guarded_is_over(g))
            return guarded_end(g);
        *is_endless = *is_endless || wrote_too_much(p);
        if (clock_boot_us(&clock_system) > last_us)
            kill(g->guard, SIGKILL);
        if (is_stopping || !(interrupt_came(&s->interrupt) || *is_endless))
            continue;
        is_stopping = true;
        guarded_stop(g);
    }
}

/* Returns 0 with how it ended, or an ERR_ when there could not even be a guard. */
static int run_program(struct spooling *s, const struct spool_program *p, int64_t slot,
                       struct guarded_report *report, bool *is_endless, struct err *err)
{
    char at[MOMENT_TEXT];
    struct guarded g;
    char *argv[] = { arena_printf(s->arena, "%s/running/%s", s->spool.path, p->name), NULL };
    const char *env[] = { "PRESCIENT_SLOT", moment_format(slot, at), NULL };
    if (!argv[0])
        return err_set(err, ERR_NOMEM, "out of memory");
    struct guarded_command c = {
        .argv = argv, .env = env, .in = -1, .out = p->output, .err = p->output, .held = p->lock,
        .timeout_us = s->timeout_us, .grace_us = s->app->settings.kill_grace_us, .trust_until_us = INT64_MAX,
    };
    fflush(s->app->out);
    int rc = guarded_start(&g, &c, err);
    if (rc == 0)
        *report = attend(s, &g, p, is_endless);
    *is_endless = *is_endless || wrote_too_much(p);
    return rc;
}

/* The machine lacks something now, or somebody still writes the program: it was not begun. */
static bool was_not_begun(const struct guarded_report *r)
{
    static const int for_now[] = { EAGAIN, ENOMEM, ENFILE, EMFILE, EIO, ETXTBSY };
    if (r->what == GUARDED_NO_PROCESS)
        return true;
    for (size_t i = 0; r->what == GUARDED_NO_PROGRAM && i < sizeof for_now / sizeof *for_now; i++)
        if (r->value == for_now[i])
            return true;
    return false;
}

static void say_how(struct spooling *s, const struct spool_program *p, const struct guarded_report *report,
                    bool is_endless)
{
    char how[256];
    if (is_endless)
        snprintf(how, sizeof how, "was ended, as it wrote more than %d MiB", OUTPUT_MAX / (1024 * 1024));
    else
        guarded_words(report, s->timeout_us, how, sizeof how);
    app_warn(s->app, "%s %s: it goes to failed/, with %s", p->name, how, p->output_name);
}

/* Where it was before, so that a later run begins it. */
static int put_back(struct spooling *s, struct folder *f, const char *name, struct spool_program *p,
                    const char *why, struct err *err)
{
    app_warn(s->app, "%s/%s was not begun: %s", f->name, name, why);
    s->refused++;
    return spool_put_back(&s->spool, f->fd, name, p, err);
}

static int run_claimed(struct spooling *s, struct folder *f, const char *name, struct spool_program *p,
                       struct err *err)
{
    struct guarded_report report = { 0 };
    bool is_endless = false;
    char how[256];
    int rc = run_program(s, p, f->slot, &report, &is_endless, err);
    if (rc < 0) {
        f->is_short = true;
        return put_back(s, f, name, p, err->text, err);
    }
    if (was_not_begun(&report)) {
        f->is_short = report.value != ETXTBSY;
        guarded_words(&report, s->timeout_us, how, sizeof how);
        return put_back(s, f, name, p, how, err);
    }
    bool went_well = !is_endless && guarded_went_well(&report);
    s->run++;
    s->done += went_well;
    s->failed += !went_well;
    if (!went_well)
        say_how(s, p, &report, is_endless);
    rc = spool_finish(&s->spool, p, went_well, err);
    if (rc == ERR_NOTFOUND)
        app_warn(s->app, "%s has taken itself away: only %s is left", p->name, p->output_name);
    return rc == ERR_NOTFOUND ? 0 : rc;
}

/* ---- a folder ---- */

static int run_one(struct spooling *s, struct folder *f, const char *name, struct err *err)
{
    struct spool_program p;
    enum spool_claim claim = spool_claim(&s->spool, f->fd, f->name, name, &p, err);
    if (claim == SPOOL_CLAIMED)
        return run_claimed(s, f, name, &p, err);
    if (claim == SPOOL_GONE)
        return 0;
    app_warn(s->app, "%s/%s is not run: %s", f->name, name, err->text);
    f->is_short = claim == SPOOL_SHORT;
    s->refused++;
    return 0;
}

static int run_folder(struct spooling *s, struct folder *f, struct err *err)
{
    struct spool_names programs;
    int i, rc = spool_names(f->fd, s->arena, &programs, err);
    for (i = 0; rc == 0 && i < programs.n && !f->is_short && !interrupt_came(&s->interrupt); i++)
        rc = run_one(s, f, programs.names[i], err);
    s->not_begun += rc == 0 ? programs.n - i : 0;
    return rc;
}

/* A folder that cannot be opened keeps no other one waiting. */
static int run_slot(struct spooling *s, const char *name, int64_t slot, struct err *err)
{
    struct folder f = { .name = name, .slot = slot };
    if (spool_open_slot(&s->spool, name, &f.fd, err) < 0) {
        app_warn(s->app, "no program of slot %s is run: %s", name, err->text);
        s->refused++;
        return 0;
    }
    if (f.fd < 0)
        return 0;
    int rc = run_folder(s, &f, err);
    spool_close_slot(&s->spool, name, f.fd);
    return rc;
}

/* What earlier runs did not live to end. */
static int give_up_left(struct spooling *s, struct err *err)
{
    struct spool_names names;
    struct spool_program p;
    int rc = spool_names(s->spool.running, s->arena, &names, err);
    for (int i = 0; rc == 0 && i < names.n; i++) {
        int found = spool_give_up(&s->spool, names.names[i], &p, err);
        if (found == ERR_NOTFOUND || (found == 0 && !*p.name))
            continue;
        s->left++;
        if (found < 0)
            app_warn(s->app, "%s", err->text);
        else
            app_warn(s->app,
                     "failed/%s was in running/, and its run is gone. Look how far it came; it is not run "
                     "again",
                     p.name);
    }
    return rc;
}

/* ---- which slots ---- */

/* Whether a folder's name is that of a slot before `now`'s. One that is ten digits and no time is
 * told. */
static bool is_earlier(const struct spooling *s, const char *name, int64_t now_slot, int64_t *slot)
{
    if (spool_slot_of(name, slot))
        return *slot < now_slot;
    if (strlen(name) == SPOOL_SLOT_SIZE - 1 && strspn(name, "0123456789") == SPOOL_SLOT_SIZE - 1)
        app_warn(s->app, "the folder %s is of no slot: expected yymmddhhmi", name);
    return false;
}

static int sweep(struct spooling *s, int64_t now_slot, struct err *err)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(16 * 1024);
    struct spool_names names = { 0 };
    int64_t slot;
    int rc = a ? spool_names(s->spool.folder, a, &names, err) : err_set(err, ERR_NOMEM, "out of memory");
    for (int i = 0; rc == 0 && i < names.n && !interrupt_came(&s->interrupt); i++) {
        arena_reset(s->arena);
        if (is_earlier(s, names.names[i], now_slot, &slot))
            rc = run_slot(s, names.names[i], slot, err);
    }
    return rc;
}

/* Whether a program, or what lies in the place of one, is in the folder. */
static bool has_programs(struct spooling *s, const char *slot_name)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(4096);
    struct spool_names names = { 0 };
    struct err err;
    int fd;
    if (!a || spool_open_slot(&s->spool, slot_name, &fd, &err) < 0)
        return true;                    /* the sweep says what is wrong */
    if (fd < 0)
        return false;
    int rc = spool_names(fd, a, &names, &err);
    close(fd);
    return rc < 0 || names.n > 0;
}

/* Missed programs are told by each run, until they are swept. */
static int remark_missed(struct spooling *s, int64_t now_slot, struct err *err)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(16 * 1024);
    struct spool_names names = { 0 };
    const char *oldest = NULL;
    int64_t slot;
    int n = 0, rc = 0;
    if (!a)
        return err_set(err, ERR_NOMEM, "out of memory");
    rc = spool_names(s->spool.folder, a, &names, err);
    for (int i = 0; rc == 0 && i < names.n; i++) {
        if (!is_earlier(s, names.names[i], now_slot, &slot) || !has_programs(s, names.names[i]))
            continue;
        oldest = oldest ? oldest : names.names[i];
        n++;
    }
    if (n)
        app_warn(s->app, "programs of %d earlier slot%s were not run, the oldest of %s: --sweep runs them", n,
                 n == 1 ? "" : "s", oldest);
    return rc;
}

static int run_now(struct spooling *s, int64_t now_slot, struct err *err)
{
    char name[SPOOL_SLOT_SIZE];
    if (!spool_slot_name(now_slot, name))
        return err_set(err, ERR_INPUT, "the time is not of the years 2000 to 2099");
    int rc = run_slot(s, name, now_slot, err);
    return rc < 0 ? rc : remark_missed(s, now_slot, err);
}

static void print_totals(struct spooling *s)
{
    struct app *app = s->app;
    if (app->json)
        report_print_object(app, json_pack("{s:I, s:I, s:I, s:I, s:I}", "run", (json_int_t)s->run, "done",
                                           (json_int_t)s->done, "failed", (json_int_t)s->failed, "refused",
                                           (json_int_t)s->refused, "left", (json_int_t)s->left));
    else if (!app->quiet)
        fprintf(app->out, "programs: %" PRId64 " run, %" PRId64 " done, %" PRId64 " failed, %" PRId64
                          " refused, %" PRId64 " left by runs that are gone\n",
                s->run, s->done, s->failed, s->refused, s->left);
}

static int run_spool(struct spooling *s, const struct args *args, struct err *err)
{
    int32_t length_s = 0;
    if (read_slot_length(s->app, args, &length_s, err) < 0 ||
        args_duration(args, 't', SECOND_US / 100, DAY_US, &s->timeout_us, err) < 0 ||
        spool_open(args_operand(args, 0), &s->spool, err) < 0)
        return err->code;
    int64_t slot = slot_floor(now_s(s->app), length_s);
    int rc = interrupt_init(&s->interrupt, err);
    if (rc == 0) {
        rc = give_up_left(s, err);
        if (rc == 0)
            rc = args_has(args, 's') ? sweep(s, slot, err) : run_now(s, slot, err);
        interrupt_release(&s->interrupt);
    }
    spool_close(&s->spool);
    return rc;
}

/* What has run is told also when the rest cannot be. */
static int run(struct app *app, const struct args *args)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(16 * 1024);
    struct spooling s = { .app = app, .arena = a, .timeout_us = SLOT_LENGTH_S * SECOND_US };
    struct err err = { 0 };
    if (args->noperands != 1)
        return app_usage(app, "takes one folder");
    int rc = a ? run_spool(&s, args, &err) : err_set(&err, ERR_NOMEM, "out of memory");
    if (s.not_begun)
        app_warn(app, "%" PRId64 " more program%s not begun; a run in the same slot, or --sweep, begins them",
                 s.not_begun, s.not_begun == 1 ? " was" : "s were");
    if (rc == 0 || s.run + s.refused + s.left > 0)
        print_totals(&s);
    if (rc < 0)
        return app_fail(app, &err);
    return s.failed + s.refused + s.left + s.not_begun ? EXIT_TROUBLE : EXIT_WELL;
}

/* ---- add ---- */

static int read_time(const struct args *args, const struct when *when, int64_t *at, struct err *err)
{
    int64_t in_us = 0;
    const char *in = args_text(args, 'i'), *text = args_text(args, 'a');
    int64_t now = when->now;
    if (!in && when_parse(text, when, at, err) < 0)
        return err_wrap(err, err->code, "--at");
    if (!in && *at < now)
        return err_set(err, ERR_INPUT, "--at: %.40s has passed", text);
    if (!in)
        return 0;
    if (duration_parse_us(in, &in_us, err) < 0)
        return err_wrap(err, err->code, "--in");
    if (!duration_has_unit(in))
        return err_set(err, ERR_INPUT, "--in: found '%.40s', expected a unit, such as %.40sh or %.40sm",
                       in, in, in);
    *at = now + in_us / SECOND_US + (in_us % SECOND_US != 0);
    return 0;
}

/* A word of a shell's command, whatever is in it. */
static void put_quoted(FILE *out, const char *word)
{
    fputc('\'', out);
    for (const char *p = word; *p; p++) {
        if (*p == '\'')
            fputs("'\\''", out);
        else
            fputc(*p, out);
    }
    fputc('\'', out);
}

/* It runs where it was added. To be freed; NULL with err filled. */
static char *script(char *const *argv, int argc, struct err *err)
{
    char here[PATH_MAX], *text = NULL;
    size_t size;
    if (!getcwd(here, sizeof here)) {
        err_sys(err, ERR_GENERAL, "the working directory, in which it is to run");
        return NULL;
    }
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        err_set(err, ERR_NOMEM, "out of memory");
        return NULL;
    }
    fputs("#!/bin/sh\ncd -- ", out);
    put_quoted(out, here);
    fputs(" || exit 1\nexec", out);
    for (int i = 0; i < argc; i++) {
        fputc(' ', out);
        put_quoted(out, argv[i]);
    }
    fputc('\n', out);
    if (fclose(out) == 0)
        return text;
    free(text);
    err_set(err, ERR_NOMEM, "out of memory");
    return NULL;
}

/* A name with a dot at its front would be left out, and JSON has no place for what is not UTF-8. */
static const char *name_of(const char *command)
{
    const char *slash = strrchr(command, '/'), *name = slash ? slash + 1 : command;
    name += strspn(name, ".");
    return *name && utf8_is_valid(name, strlen(name)) ? name : "command";
}

static void print_added(struct app *app, const char *slot_name, const char *name, int64_t slot)
{
    if (app->json) {
        char at[MOMENT_TEXT];
        moment_format(slot, at);
        report_print_object(app, json_pack("{s:s, s:s, s:s}", "slot", slot_name, "name", name, "at", at));
        return;
    }
    fprintf(app->out, "%s/", slot_name);
    text_put(app->out, name, 0);
    fprintf(app->out, " at %s\n", telling_moment(app, slot));
}

static int add_program(struct app *app, const struct args *args, struct err *err)
{
    CLEANUP(cleanup_free) char *text = NULL;
    char slot_name[SPOOL_SLOT_SIZE], name[NAME_MAX + 1];
    char *const *argv = args->operands + 2;
    int32_t length_s = 0;
    int64_t now = now_s(app), at = 0;
    struct spool s;
    if (*argv[0] == '-')
        return err_set(err, ERR_INPUT,
                       "the command '%.80s' begins with a dash, as an option of the shell does: expected its "
                       "path, such as ./%.80s",
                       argv[0], argv[0]);
    if (guarded_check(argv[0], err) < 0 || read_slot_length(app, args, &length_s, err) < 0 ||
        read_time(args, &(struct when){ now, app->zone, false }, &at, err) < 0)
        return err->code;
    int64_t slot = slot_for(at, now, length_s);
    if (!spool_slot_name(slot, slot_name))
        return err_set(err, ERR_INPUT, "the time is not of the years 2000 to 2099");
    text = script(argv, args->noperands - 2, err);
    if (!text || spool_open(args->operands[1], &s, err) < 0)
        return err->code;
    int rc = spool_add(&s, slot_name, name_of(argv[0]), text, name, err);
    spool_close(&s);
    if (rc == 0)
        print_added(app, slot_name, name, slot);
    return rc;
}

static int add(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    if (args->noperands < 3)
        return app_usage(app, "add: expected a folder and a command: add DIR --in 3h -- COMMAND ...");
    if (args_has(args, 'i') == args_has(args, 'a'))
        return app_usage(app, "add: expected either --in DURATION or --at TIME");
    return add_program(app, args, &err) < 0 ? app_fail(app, &err) : EXIT_WELL;
}

static const struct action actions[] = {
    { "add", "ial", add, NULL, false },
    { "spool", "stl", run, NULL, false },
    { 0 }
};

static int spool_main(struct app *app, const struct args *args)
{
    const struct action *action = action_find(actions, args_operand(args, 0));
    bool is_add = action && action == &actions[0];
    return action_run(app, actions, is_add ? action : &actions[1], args);
}
