/* command.h - a subcommand is one file, cmd_NAME.c, with one `const struct command cmd_NAME`; the
 * build lists them. */
#ifndef PRESCIENT_COMMAND_H
#define PRESCIENT_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "../base/arena.h"
#include "../base/err.h"
#include "../base/log.h"
#include "../base/settings_load.h"
#include "../store/store_report.h"

/* Exit codes; the man page lists them. */
enum {
    EXIT_WELL = 0,
    EXIT_TROUBLE = 1,
    EXIT_BAD_USAGE = 2,
    EXIT_NO_STORE = 69,
    EXIT_TRY_AGAIN = 75,
    EXIT_DENIED = 77,
    EXIT_BAD_SETTINGS = 78
};

struct action;
struct args;
struct zone;
struct command;

struct app {                        /* one per process; filled by main.c before a command runs */
    const struct command *command;
    const struct action *action;    /* of the command: the one that runs; NULL: it has none */
    struct settings settings;
    const char *settings_file;      /* --config, or that which was found; NULL: none */
    struct log log;
    FILE *out;                      /* stdout */
    bool json;                      /* --json */
    bool quiet;                     /* --quiet: no progress */
    bool terminal;                  /* stdout is one */
    int64_t now;                    /* --now: virtual time in seconds; 0: the database's clock */
    struct zone *zone;              /* --zone, --local: of times that name none; NULL: UTC */
    struct zone *terminals_zone;    /* without them that of TZ, for what a terminal is shown */
    int64_t told_now;               /* how far away times are is told from then on; 0: not asked yet */
    struct arena *arena;            /* lives as long as the command */
    struct store *store;            /* NULL until app_store */
    /* It ran out of memory while it printed: the output is incomplete, and the exit code not 0. */
    bool was_short;
    bool told_left_out;         /* app_remark_left_out has */
    /* settings given as flags, for a command that loads them itself */
    const struct settings_flag *flags;
    int nflags;
};

struct command_option {             /* option.c has the letters of some; ends with a NULL name */
    const char *name;               /* "from" for --from */
    char letter;                    /* by which args.h finds it */
    const char *arg;                /* "FILE", or NULL when it takes none */
    const char *help;
};

/* What the value of an option may be; the words end with NULL, and the rows with a NULL option. */
struct option_words { const char *option; const char *const *words; };

/* In the order in which --help has them; help.c names them. */
enum command_group {
    COMMAND_CHECKS,
    COMMAND_LOOKING,
    COMMAND_RUNNING,
    COMMAND_PLANS,
    COMMAND_EVENTS,
    COMMAND_STORE,
    COMMAND_PROGRAM,
    COMMAND_GROUPS
};

struct command {
    const char *name;               /* "sweep" */
    enum command_group group;
    const char *args;               /* "ENTITY KEY [JOB]"; "" for none */
    const char *help;               /* one line */
    const char *more;               /* further lines for --help; may be NULL */
    const char *examples;           /* whole command lines, one a line; each is run by a test */
    /* may be NULL; those of every command (--help, --store, --json, ...) are in option.c */
    const struct command_option *options;
    const struct option_words *words;           /* of those that take one of a few; may be NULL */
    struct { int least, most; } operands;       /* how many words that are no options it takes */
    /* Returns an exit code. The options are of the table, the operands as many as may be. */
    int (*main)(struct app *app, const struct args *args);
    /* the role that has the rights which it needs on PostgreSQL; NULL: "prescient_engine" */
    const char *role;
    bool only_reads;            /* that role may do it with --now, too */
    bool plain;                 /* starts without settings: app->settings is empty */
    /* Another program that is this command (program.h), or NULL: it gets the whole command line
     * and knows the options; main is not called. */
    const char *program;
};

extern const struct command *const command_table[];     /* ends with NULL */

/* Prints "prescient NAME: MESSAGE" on stderr and returns the exit code that belongs to err->code
 * (ERR_LOST 69, ERR_BUSY 75, ERR_CHANGED 75, a right that is refused 77, ERR_SETTINGS and
 * ERR_SCHEMA 78, ERR_INPUT 2, else 1). */
int app_fail(struct app *app, const struct err *err);

/* The store of the settings, opened, and tried with a hello (a few times when it is away). NULL
 * with err filled. */
struct store *app_store(struct app *app, struct err *err);

/* The time of this command: --now, else that of the store's clock (by a hello). Returns 0 or an
 * ERR_. */
int app_now(struct app *app, int64_t *now, struct err *err);

/* The rows of the report `name`. Returns 0 or an ERR_. */
int app_rows(struct app *app, const char *name, const char *const *params, int nparams,
             struct store_rows *out, struct err *err);
/* The same of a report that needs another role than all else of the command. */
int app_rows_of(struct app *app, const char *role, const char *name, const char *const *params, int nparams,
                struct store_rows *out, struct err *err);

#endif
