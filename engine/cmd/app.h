/* app.h - what the commands share beyond command.h. */
#ifndef PRESCIENT_APP_H
#define PRESCIENT_APP_H

#include "args.h"
#include "command.h"

/* The store of the settings without a first call, for a command that creates the schema. NULL with
 * err filled. */
struct store *app_store_new(struct app *app, struct err *err);

/* Makes a call that only reads, and repeats it a few times within some seconds while it ends with
 * ERR_LOST or ERR_BUSY. */
int app_call(struct app *app, struct store *st, struct store_call *call);

/* The same for a function: calls `fn` until it returns neither ERR_LOST nor ERR_BUSY, a few times
 * at most. */
int app_insist(struct app *app, int (*fn)(void *ctx, struct err *err), void *ctx, struct err *err);

/* For a command that stays and has worked: whether waiting may help. The store is away or busy, or
 * its schema is, as while it is restored in place; not when a later program has migrated it. */
bool app_is_away(const struct err *err);

/* --now as a parameter of a report: decimal seconds, or NULL for the database's clock. */
const char *app_now_param(struct app *app);

/* Parses a time; relative ones count from app_now. The second returns it as a parameter of a
 * report, decimal seconds in the arena, or NULL with err filled. */
int app_moment(struct app *app, const char *text, int64_t *out, struct err *err);
const char *app_moment_param(struct app *app, const char *text, struct err *err);

/* The same for the value of an option; *out stays what it was when the option was not given.
 * Returns 0, or an ERR_ whose message names the option. */
int app_moment_option(struct app *app, const struct args *args, char letter, int64_t *out, struct err *err);
int app_moment_option_param(struct app *app, const struct args *args, char letter, const char **out,
                            struct err *err);

/* The log is written as these settings say. */
void app_log_as(struct app *app, const struct settings *s);

/* Becomes the program that is the command (`command->program`), with that command line. Returns
 * only when that failed: the exit code, after the failure was printed. */
int app_become(struct app *app, const struct command *command, char **argv);

/* Prints what is wrong with the command line, and the usage of the command. Returns
 * EXIT_BAD_USAGE. */
int app_usage(struct app *app, const char *why);

/* Says once which column a report was made without. app_rows does it. */
void app_remark_left_out(struct app *app, const struct store_report *report);

/* Prints a remark on stderr, unless --quiet. */
void app_remark(struct app *app, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same with --quiet, too: something is probably wrong. */
void app_warn(struct app *app, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
