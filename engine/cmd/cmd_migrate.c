/* prescient migrate - bring the schema up to date, look at what that would do, or change the
 * length of the slots. */
#include "app.h"
#include "schema.h"

static int migrate_main(struct app *app, int argc, char **argv);

static const struct command_option options[] = {
    { "dry-run", 'n', NULL, "only say what would be applied" },
    { "slot-length", 'l', "DURATION",
      "change the length of the slots; what waits is moved to slots of the new length" },
    { 0 }
};

const struct command cmd_migrate = {
    .name = "migrate",
    .args = "",
    .help = "bring the schema up to date, or change the slot length",
    .more = "Change the slot length while no engine works; engines that know the old length stop with exit "
            "code 78.",
    .options = options,
    .main = migrate_main,
};

static int migrate_main(struct app *app, int argc, char **argv)
{
    struct schema_options o = { 0 };
    const char *value;
    int at = 0, first, letter;
    while ((letter = app_option(app, argc, argv, &at, &value, &first)) > 0) {
        if (letter == 'n')
            o.dry_run = true;
        else
            o = (struct schema_options){ .slot_length = value,
                                         .change_slot_length = true,
                                         .dry_run = o.dry_run };
    }
    if (letter < 0)
        return EXIT_BAD_USAGE;
    if (argc > first)
        return app_usage(app, "takes no arguments");
    return schema_upgrade(app, &o);
}
