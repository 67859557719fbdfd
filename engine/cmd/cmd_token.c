/* prescient token - who may ask over HTTP: tokens made, listed and revoked. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "../base/hex.h"
#include "../base/moment.h"
#include "../base/utf8.h"
#include "../http/token.h"
#include "action.h"
#include "app.h"
#include "filter.h"
#include "telling.h"

static int token_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "role", 'r', "WORD", "new: what it may do: read, enqueue (and read) or operate (all)" },
    { "expires", 'e', "DURATION", "new: how long it lets somebody in (90d); without it until it is revoked" },
    { 0 }
};

static const struct option_words values[] = { { "role", token_roles }, { 0 } };

const struct command cmd_token = {
    .name = "token", .group = COMMAND_STORE,
    .args = "new NAME --role read|enqueue|operate [--expires DURATION] | list | revoke NAME",
    .operands = { 1, 2 },
    .help = "say who may ask over HTTP",
    .more = "new prints the token, once: what is stored lets nobody in. Programs send it as\n"
            "  Authorization: Bearer TOKEN\n"
            "and people log in with it. From the first one on, prescient serve answers nobody without a "
            "token but /liveness\n"
            "and /readiness. revoke is in force within 5 seconds, for browsers, too.",
    .examples = "prescient token new shop --role enqueue --expires 90d\n"
                "prescient token list",
    .options = options, .words = values,
    .main = token_main,
};

/* ---- new ---- */

enum { OPERANDS_NEW = 2, LIFETIME_MAX_DAYS = 36500 };
#define SECOND_US INT64_C(1000000)
#define DAY_US (86400 * SECOND_US)

static int read_random(uint8_t out[TOKEN_RANDOM], struct err *err)
{
    ssize_t n = getrandom(out, TOKEN_RANDOM, 0);
    return n == TOKEN_RANDOM ? 0 : err_sys(err, ERR_GENERAL, "random bytes");
}

static int check_new(const struct args *args, const char *name, struct err *err)
{
    const char *role = args_text(args, 'r');
    if (!token_is_name(name))
        return err_set(err, ERR_INPUT, "the name of a token is '%.*s', expected 1 to 63 letters, digits, "
                       "dots, underscores or hyphens", UTF8_SHOWN(name));
    if (!role)
        return err_set(err, ERR_INPUT, "--role is missing, expected read, enqueue or operate");
    return 0;
}

/* NULL without a failure: for ever. */
static const char *read_lifetime(struct app *app, const struct args *args, struct err *err)
{
    int64_t us = 0;
    if (!args_has(args, 'e') || args_duration(args, 'e', SECOND_US, LIFETIME_MAX_DAYS * DAY_US, &us, err) < 0)
        return NULL;
    const char *seconds = arena_printf(app->arena, "%" PRId64, us / SECOND_US);
    if (!seconds)
        err_set(err, ERR_NOMEM, "out of memory");
    return seconds;
}

static int put(struct app *app, const struct args *args, const char *token, struct store_rows *rows,
               struct err *err)
{
    uint8_t hash[TOKEN_HASH], key[TOKEN_KEY];
    char hash_text[TOKEN_DIGITS], key_text[TOKEN_DIGITS];
    const char *lifetime = read_lifetime(app, args, err);
    if (err->code < 0)
        return err->code;
    token_hash(token, hash);
    token_session_key(token, key);
    hex_write(hash, sizeof hash, hash_text);
    hex_write(key, sizeof key, key_text);
    const char *params[] = { args->operands[1], args_text(args, 'r'), hash_text, key_text, lifetime };
    return app_rows(app, "token_new", params, sizeof params / sizeof *params, rows, err);
}

static void print_new(struct app *app, const char *token, const char *role, const struct store_rows *rows)
{
    const char *name = rows_value(rows, 0, "name"), *expires = rows_value(rows, 0, "expires_at");
    const char *until = rows_text(app->arena, CELL_MOMENT, expires);
    const char *told = telling_cell(app, CELL_MOMENT, expires, false);
    const char *words = told ? "until " : "until it is revoked";
    if (app->json) {
        report_print_object(app, json_pack("{s:s, s:s, s:s, s:s?}", "name", name, "role", role, "token",
                                           token, "expires_at", until));
        return;
    }
    fprintf(app->out, "%s\n", token);
    app_remark(app, "this is shown once: whoever has it may do what the role %s may, %s%s", role, words,
               told ? told : "");
}

static int run_new(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    struct store_rows rows;
    uint8_t random[TOKEN_RANDOM];
    char token[TOKEN_TEXT];
    if (args->noperands != OPERANDS_NEW)
        return app_usage(app, "new takes NAME");
    if (check_new(args, args->operands[1], &err) < 0 || read_random(random, &err) < 0)
        return app_fail(app, &err);
    token_text(random, token);
    if (put(app, args, token, &rows, &err) < 0)
        return app_fail(app, &err);
    if (rows.rows) {
        print_new(app, token, args_text(args, 'r'), &rows);
        return EXIT_WELL;
    }
    err_set(&err, ERR_GENERAL, "there is a token of the name %s, or there are 1000 tokens; prescient token "
            "revoke ends one", args->operands[1]);
    return app_fail(app, &err);
}

/* ---- list, revoke ---- */

static int run_list(struct app *app, const struct args *args)
{
    static const struct report_view view = {
        .columns = "name role is_in_force=in_force made_at made_by expires_at",
        .when_empty = "no tokens: whoever reaches prescient serve may do all; prescient token new makes one",
    };
    struct filter f = { .limit = 0 };
    if (args->noperands != 1)
        return app_usage(app, "list takes no name");
    return filter_print(app, &f, "tokens", NULL, 0, &view);
}

static int run_revoke(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    struct store_rows rows;
    if (args->noperands != 2)
        return app_usage(app, "revoke takes NAME");
    const char *name = args->operands[1];
    if (app_rows(app, "token_revoke", &name, 1, &rows, &err) < 0)
        return app_fail(app, &err);
    if (!rows.rows) {
        err_set(&err, ERR_GENERAL, "there is no token of the name %.*s; prescient token list has them",
                UTF8_SHOWN(name));
        return app_fail(app, &err);
    }
    if (app->json)
        report_print_object(app, rows_object(&rows, 0));
    else
        fprintf(app->out, "revoked: %s; servers refuse it within 5 s\n", name);
    const char *others = rows_value(&rows, 0, "others");
    if (others && !strcmp(others, "0"))
        app_remark(app, "that was the last one: a server that is started now, on a loopback address, lets "
                        "everybody in who reaches it");
    return EXIT_WELL;
}

static const struct action actions[] = {
    { "new", "re", run_new, NULL, false },
    { "list", "", run_list, "prescient_reader", true },
    { "revoke", "", run_revoke, NULL, false },
    { 0 },
};

static int token_main(struct app *app, const struct args *args)
{
    const struct action *action = action_find(actions, args->operands[0]);
    if (!action)
        return app_usage(app, "expected new, list or revoke");
    return action_run(app, actions, action, args);
}
