/* prescient migrate - upgrades the schema, or prints what that would do, or changes the slot
 * length. */
#include "app.h"
#include "schema.h"

static int migrate_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "dry-run", 'n', NULL, "only print what would be applied" },
    { "slot-length", 'l', "DURATION",
      "change the length of the slots; waiting checks are moved to slots of the new length" },
    { 0 }
};

const struct command cmd_migrate = {
    .name = "migrate", .group = COMMAND_STORE,
    .args = "",
    .help = "bring the schema up to date, or change the slot length",
    .more = "Change the slot length while no engine runs; one that runs meanwhile ends with exit code 75.",
    .examples = "prescient migrate --dry-run",
    .options = options,
    .main = migrate_main,
};

static int migrate_main(struct app *app, const struct args *args)
{
    struct schema_options o = {
        .slot_length = args_text(args, 'l'),
        .change_slot_length = args_has(args, 'l'),
        .dry_run = args_has(args, 'n'),
    };
    return schema_upgrade(app, &o);
}
