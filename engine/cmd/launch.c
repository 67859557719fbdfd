/* launch.c - from a command line to a command: reads the flags everybody has, loads the settings
 * and runs the command that argv names. */
#include "launch.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "../base/settings_mask.h"
#include "../base/when.h"
#include "../base/zone_here.h"
#include "../rules/slot.h"
#include "../worker/confine.h"
#include "app.h"
#include "digests_load.h"
#include "help.h"
#include "help_json.h"
#include "option.h"
#include "report.h"

struct launch { /* the command line, parsed */
    struct app app;
    struct settings_flag *flags;    /* room for every word of the command line */
    const char *now, *zone;
    bool help, version, local;
    struct args args;               /* of the command; room for every word, too */
    struct err wrong;               /* the first mistake in them */
    char **given;                   /* copies of all words, for a command that is another program */
};

/* Copies an argument and masks the password in the original, which every user of the machine can
 * see in the list of processes. */
static const char *take_argument(struct launch *l, const char *value)
{
    /* argv may be written to; only its readers say const */
    /* NOLINTNEXTLINE(performance-no-int-to-ptr) */
    char *shown = (char *)(uintptr_t)value;
    size_t size = strlen(value) + 1;
    const char *kept = arena_strdup(l->app.arena, value);
    if (!kept)
        return value;
    settings_mask_url(kept, shown, size);
    memset(shown + strlen(shown), 0, size - strlen(shown));
    return kept;
}

/* "name=value" of --set. */
static int flag_set(struct launch *l, const char *text, struct err *err)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return err_set(err, ERR_INPUT, "--set: found '%s', expected NAME=VALUE", text);
    const char *name = arena_strndup(l->app.arena, text, (size_t)(equals - text));
    if (!name)
        return err_set(err, ERR_NOMEM, "out of memory");
    l->flags[l->app.nflags++] = (struct settings_flag){ name, take_argument(l, equals + 1) };
    return 0;
}

static int global_take(struct launch *l, char letter, const char *value, struct err *err)
{
    switch (letter) {
    case 'c': l->app.settings_file = value; break;
    case 's': l->flags[l->app.nflags++] = (struct settings_flag){ "--store", take_argument(l, value) }; break;
    case 'l': l->flags[l->app.nflags++] = (struct settings_flag){ "--log-level", value }; break;
    case 'S': return flag_set(l, value, err);
    case 'n': l->now = value; break;
    case 'z': l->zone = value; break;
    case 'L': l->local = true; break;
    case 'j': l->app.json = true; break;
    case 'q': l->app.quiet = true; break;
    case 'h': l->help = true; break;
    case 'V': l->version = true; break;
    }
    return 0;
}

/* One of two values would be lost. */
static int refuse_repeat(const struct args *args, const struct command_option *option, const char *value,
                         struct err *err)
{
    for (int i = 0; option->arg && i < args->noptions; i++)
        if (args->options[i].option == option)
            return err_set(err, ERR_INPUT, "--%s is given twice: '%.80s' and '%.80s'", option->name,
                           args->options[i].value, value);
    return 0;
}

/* Takes an option of the command; what is wrong with it is kept for later, as --help goes first. */
static void launch_take_option(struct launch *l, const struct command_option *option, int argc, char **argv,
                               int *i)
{
    struct err err;
    struct args *args = &l->args;
    const char *value;
    int rc = option_value(option, argc, argv, i, &value, &err);
    if (rc == 0)
        rc = option_check(l->app.command, option, value, &err);
    if (rc == 0)
        rc = refuse_repeat(args, option, value, &err);
    if (rc == 0)
        args->options[args->noptions++] = (struct args_option){ option, value };
    else if (!l->wrong.code)
        l->wrong = err;
}

static int launch_take_global(struct launch *l, const struct command_option *option, int argc, char **argv,
                              int *i, struct err *err)
{
    const char *value;
    int rc = option_value(option, argc, argv, i, &value, err);
    if (rc == 0)
        rc = option_check(NULL, option, value, err);
    if (rc < 0)
        return rc;
    return global_take(l, option->letter, value, err);
}

static int launch_take_command(struct launch *l, const char *word, struct err *err)
{
    if (option_is(word))
        return option_unknown(NULL, word, err);
    l->app.command = command_find(word, err);
    return l->app.command ? 0 : err->code;
}

/* Options may stand before and after operands; "--" ends them. Those of every command may also
 * stand before the command. Another program reads its command line itself. */
static int launch_read(struct launch *l, int argc, char **argv, struct err *err)
{
    bool ended = false;
    for (int i = 1; i < argc; i++) {
        int rc = 0;
        const struct command *command = l->app.command;
        if (command && command->program)
            return 0;
        if (command && !ended && !strcmp(argv[i], "--")) {
            ended = true;
            continue;
        }
        const struct command_option *own = NULL, *global = NULL;
        if (command && !ended)
            own = option_find(command->options, argv[i]);
        if (!own && !ended)
            global = option_find(option_globals, argv[i]);
        if (own) {
            launch_take_option(l, own, argc, argv, &i);
        } else if (global) {
            rc = launch_take_global(l, global, argc, argv, &i, err);
        } else if (!command) {
            rc = launch_take_command(l, argv[i], err);
        } else if (!ended && option_is(argv[i])) {
            if (!l->wrong.code)
                option_unknown(command, argv[i], &l->wrong);
        } else {
            l->args.operands[l->args.noperands++] = argv[i];
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Whether the command takes so many operands; else what is wrong was printed. */
static bool launch_check_operands(struct launch *l)
{
    const struct command *command = l->app.command;
    int n = l->args.noperands;
    if (n > command->operands.most)
        app_usage(&l->app, command->operands.most ? "too many arguments" : "takes no arguments");
    else if (n < command->operands.least)
        app_usage(&l->app, "too few arguments");
    return n >= command->operands.least && n <= command->operands.most;
}

static int launch_now(struct launch *l, struct err *err)
{
    if (!l->now)
        return 0;
    if (when_parse(l->now, &(struct when){ time(NULL), l->app.zone, false }, &l->app.now, err) < 0)
        return err_wrap(err, err->code, "--now");
    if (l->app.now <= 0)
        return err_set(err, ERR_INPUT, "--now: found '%s', expected a time after 1970-01-01T00:00:00Z",
                       l->now);
    if (l->app.now > SLOT_PAUSES_FROM - SLOT_LENGTH_MAX_S)
        return err_set(err, ERR_INPUT,
                       "--now: found '%s', when paused checks wait, expected a time before the year 9000",
                       l->now);
    return 0;
}

static int launch_zone(struct launch *l, struct err *err)
{
    if (l->zone && l->local)
        return err_set(err, ERR_INPUT, "found both --zone and --local, expected one of them");
    if (l->local)
        return zone_here(getenv("TZ"), "/etc/localtime", &l->app.zone, err);
    const char *tz = getenv("TZ");
    int rc = l->zone ? zone_read(l->zone, &l->app.zone, err) : 0;
    if (rc < 0)
        return err_wrap(err, rc, "--zone");
    /* one that cannot be read is nobody's fault: nothing was asked for */
    if (l->zone || !tz || !l->app.terminal)
        return 0;
    if (zone_here(tz, "/etc/localtime", &l->app.terminals_zone, NULL) < 0)
        l->app.terminals_zone = NULL;
    return 0;
}

static int run_command(struct launch *l)
{
    struct app *app = &l->app;
    struct err err = { 0 };
    if (l->wrong.code)
        return app_fail(app, &l->wrong);
    if (!launch_check_operands(l))
        return EXIT_BAD_USAGE;
    if (launch_zone(l, &err) < 0 || launch_now(l, &err) < 0)
        return app_fail(app, &err);
    if (!app->command->plain) {
        if (digests_load(app, &err) < 0)
            return app_fail(app, &err);
        app_log_as(app, &app->settings);
    }
    return app->command->main(app, &l->args);
}

/* Copies the command line as it was typed: passwords in argv itself are masked while it is read. */
static bool launch_keep(struct launch *l, int argc, char **argv)
{
    l->given = arena_zalloc(l->app.arena, ((size_t)argc + 1) * sizeof *l->given);
    for (int i = 0; l->given && i < argc; i++) {
        l->given[i] = arena_strdup(l->app.arena, argv[i]);
        if (!l->given[i])
            return false;
    }
    return l->given != NULL;
}

static void launch_help(struct launch *l)
{
    const struct command *command = l->app.command;
    if (l->app.json)
        report_print_object(&l->app, command ? help_json_command(command) : help_json_all());
    else if (command)
        help_command(stdout, command);
    else
        help_all(stdout);
}

static int launch_run(struct launch *l, int argc, char **argv)
{
    struct err err = { 0 };
    if (launch_read(l, argc, argv, &err) < 0)
        return app_fail(&l->app, &err);
    if (l->app.command && l->app.command->program)
        return app_become(&l->app, l->app.command, l->given);
    if (l->version) {
        printf("prescient %s\n", version_text());
        return EXIT_WELL;
    }
    if (l->help) {
        launch_help(l);
        return EXIT_WELL;
    }
    if (!l->app.command) {
        help_all(stderr);
        return EXIT_BAD_USAGE;
    }
    return run_command(l);
}

/* Output that could not be written is a failure. Only a reader that closed its end of a pipe (such
 * as head) is none: then the program ends quietly. */
static int finish_output(int code, bool was_short)
{
    errno = 0;
    bool failed = fflush(stdout) != 0 || ferror(stdout);
    const char *why = errno ? strerror(errno) : "a write failed";       /* an earlier one, then */
    if (was_short) {
        fputs("prescient: out of memory: the output is incomplete\n", stderr);
        return code ? code : EXIT_TROUBLE;
    }
    if (!failed)
        return code;
    struct pollfd out = { .fd = STDOUT_FILENO };
    if (poll(&out, 1, 0) == 1 && out.revents & (POLLERR | POLLHUP))
        return code;
    fprintf(stderr, "prescient: cannot write the output: %s\n", why);
    return code ? code : EXIT_TROUBLE;
}

/* The width of characters on a terminal comes from the tables of a UTF-8 locale. Nothing else is
 * taken from a locale: numbers keep their decimal point. */
static void locale_init(void)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        setlocale(LC_CTYPE, "");
}

int launch_main(int argc, char **argv)
{
    confine_memory();                   /* settings hold passwords */
    /* writing to a closed pipe or connection must fail, and not end an engine */
    signal(SIGPIPE, SIG_IGN);
    /* inherited as ignored, it would hide the ends of workers */
    signal(SIGCHLD, SIG_DFL);
    locale_init();
    struct launch l = {
        .app = { .out = stdout, .terminal = isatty(STDOUT_FILENO), .arena = arena_new(64 * 1024) },
        .flags = calloc((size_t)argc + 1, sizeof *l.flags),
        .args.options = calloc((size_t)argc + 1, sizeof *l.args.options),
        .args.operands = calloc((size_t)argc + 1, sizeof *l.args.operands),
    };
    log_init(&l.app.log, stderr, LOG_LEVEL_WARN, "prescient");
    l.app.flags = l.flags;
    int code = EXIT_TROUBLE;
    bool has_memory = l.app.arena && l.flags && l.args.options && l.args.operands;
    if (has_memory && launch_keep(&l, argc, argv))
        code = launch_run(&l, argc, argv);
    else
        fputs("prescient: out of memory\n", stderr);
    bool was_short = l.app.was_short || (l.app.arena && arena_was_short(l.app.arena));
    store_free(l.app.store);
    settings_release(&l.app.settings);
    zone_free(l.app.zone);
    zone_free(l.app.terminals_zone);
    arena_free(l.app.arena);
    free(l.flags);
    free(l.args.options);
    free(l.args.operands);
    return finish_output(code, was_short);
}
