/* prescient help - the list of commands, or one of them. */
#include "app.h"
#include "help.h"
#include "help_json.h"
#include "report.h"

static int help_main(struct app *app, const struct args *args);

const struct command cmd_help = {
    .name = "help", .group = COMMAND_PROGRAM,
    .args = "[COMMAND]",
    .examples = "prescient help enqueue\n"
                "prescient help --json",
    .operands = { 0, 1 },
    .help = "describe the commands",
    .main = help_main,
    .plain = true,
};

static void show_all(struct app *app)
{
    if (app->json)
        report_print_object(app, help_json_all());
    else
        help_all(app->out);
}

static int help_main(struct app *app, const struct args *args)
{
    static char help[] = "--help";
    struct err err;
    if (args->noperands == 0) {
        show_all(app);
        return EXIT_WELL;
    }
    char *name = args->operands[0];
    const struct command *command = command_find(name, &err);
    if (!command)
        return app_fail(app, &err);
    if (command->program && !app->json)
        return app_become(app, command, (char *[]){ (char *)command->program, name, help, NULL });
    if (app->json)
        report_print_object(app, help_json_command(command));
    else
        help_command(app->out, command);
    return EXIT_WELL;
}
