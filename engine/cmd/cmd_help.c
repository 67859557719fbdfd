/* prescient help - the list of commands, or one of them. */
#include "app.h"
#include "help.h"

static int help_main(struct app *app, int argc, char **argv);

const struct command cmd_help = {
    .name = "help", .args = "[COMMAND]",
    .help = "say what the commands do",
    .main = help_main, .plain = true,
};

static int help_main(struct app *app, int argc, char **argv)
{
    static char help[] = "--help";
    struct err err;
    const char *value;
    int at = 0, first;
    if (app_option(app, argc, argv, &at, &value, &first) != 0)
        return EXIT_BAD_USAGE;
    if (first == argc) {
        help_all(app->out);
        return EXIT_WELL;
    }
    const struct command *command = command_find(argv[first], &err);
    if (!command)
        return app_fail(app, &err);
    if (command->program)
        return app_become(app, command, (char *[]){ (char *)command->program, argv[first], help, NULL });
    help_command(app->out, command);
    return EXIT_WELL;
}
