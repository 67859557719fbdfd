/* prescient schema - prints the SQL that makes the schema. */
#include <stdlib.h>

#include <jansson.h>
#include "../store/store_schema.h"
#include "app.h"
#include "report.h"

static int schema_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "only", 'o', "NAMES", "only these functions, views, triggers and indexes, with commas between them" },
    { 0 }
};

const struct command cmd_schema = {
    .name = "schema", .group = COMMAND_STORE,
    .args = "",
    .help = "print the SQL that makes the schema",
    .more = "For those who run migrations by a tool of their own, and to read. It is what init does to an "
            "empty store of\n"
            "the kind that --store names (postgresql:// or sqlite:FILE), in one transaction, with the name "
            "of the schema\n"
            "and the slot length of the settings. The store is not opened.\n"
            "With --only it is what makes those objects again in a store that has lost them; doctor names "
            "them.",
    .examples = "prescient schema >schema.sql",
    .options = options,
    .main = schema_main,
};

/* The kind of store and the name of the schema are checked as for any other command. */
static int print_schema(struct app *app, const char *only, FILE *out, char **kind, struct err *err)
{
    struct store *st = NULL;
    struct store_options store = store_options_from(&app->settings);
    if (store_new(&store, &st, err) < 0)
        return err->code;
    *kind = arena_strdup(app->arena, store_scheme(st));
    struct schema_wish wish = { store_scheme(st), store.schema, (int32_t)app->settings.slot_length_s,
                                only };
    int rc = store_schema_write(&wish, out, err);
    store_free(st);
    return rc;
}

static int print_json(struct app *app, const char *only, struct err *err)
{
    char *sql = NULL, *kind = NULL;
    size_t size;
    FILE *out = open_memstream(&sql, &size);
    if (!out)
        return err_set(err, ERR_NOMEM, "out of memory");
    int rc = print_schema(app, only, out, &kind, err);
    if (fclose(out) != 0 && rc >= 0)
        rc = err_set(err, ERR_NOMEM, "out of memory");
    if (rc >= 0)
        report_print_object(app, json_pack("{s:s, s:s}", "kind", kind, "sql", sql));
    free(sql);
    return rc;
}

static int schema_main(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    char *kind;
    const char *only = args_text(args, 'o');
    int rc = app->json ? print_json(app, only, &err) : print_schema(app, only, app->out, &kind, &err);
    return rc < 0 ? app_fail(app, &err) : EXIT_WELL;
}
