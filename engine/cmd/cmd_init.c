/* prescient init - make the database ready: create the schema, or bring an older one up to date. */
#include "app.h"
#include "schema.h"

static int init_main(struct app *app, int argc, char **argv);

static const struct command_option options[] = {
    { "slot-length", 'l', "DURATION",
      "how long a slot of a new schema is (15m); from 1s to 1d, it divides a day" },
    { 0 }
};

const struct command cmd_init = {
    .name = "init", .args = "",
    .help = "create the schema, or bring it up to date",
    .more = "May be run at any time, also while engines work. With SQLite the file is made.",
    .options = options, .main = init_main,
};

static int init_main(struct app *app, int argc, char **argv)
{
    struct schema_options o = { 0 };
    const char *value;
    int at = 0, first, letter;
    while ((letter = app_option(app, argc, argv, &at, &value, &first)) > 0)
        o.slot_length = value;
    if (letter < 0)
        return EXIT_BAD_USAGE;
    if (argc > first)
        return app_usage(app, "takes no arguments");
    return schema_upgrade(app, &o);
}
