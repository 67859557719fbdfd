/* prescient init - creates the schema, or upgrades an older one. */
#include "app.h"
#include "schema.h"

static int init_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "slot-length", 'l', "DURATION",
      "length of a slot in a new schema (15m): from 1s to 1d, a divisor of a day" },
    { "restored", 'r', NULL,
      "the store is a copy that was put back: events that come now are shown to all consumers, also to "
      "those that had read further than the copy" },
    { 0 }
};

const struct command cmd_init = {
    .name = "init", .group = COMMAND_STORE,
    .args = "",
    .help = "create the schema, or bring it up to date",
    .more = "May be run at any time, also while engines run. A missing SQLite file is created.",
    .examples = "prescient init --slot-length 15m",
    .options = options,
    .main = init_main,
};

static int init_main(struct app *app, const struct args *args)
{
    if (!app->settings.file && !app->settings.store_place)
        app_warn(app,
                 "there is no settings file: the store is %s, in this folder. Engines that were given "
                 "settings or another --store do not look there",
                 app->settings.store);
    struct schema_options o = { .slot_length = args_text(args, 'l'), .restored = args_has(args, 'r') };
    return schema_upgrade(app, &o);
}
