/* prescient completion - what completes command lines in a shell. */
#include "app.h"
#include "completion.h"

static int completion_main(struct app *app, const struct args *args);

const struct command cmd_completion = {
    .name = "completion", .group = COMMAND_PROGRAM,
    .args = "bash | zsh | fish",
    .examples = "prescient completion bash >prescient.bash",
    .operands = { 1, 1 },
    .help = "print what completes command lines in a shell",
    .more = "In ~/.bashrc: source <(prescient completion bash)\n"
            "In ~/.zshrc, behind compinit: source <(prescient completion zsh)\n"
            "For fish: prescient completion fish >~/.config/fish/completions/prescient.fish",
    .main = completion_main,
    .plain = true,
};

static int completion_main(struct app *app, const struct args *args)
{
    struct err err;
    if (completion_write(app->out, args->operands[0]))
        return EXIT_WELL;
    err_set(&err, ERR_INPUT, "completion: found '%.40s', expected bash, zsh or fish", args->operands[0]);
    return app_fail(app, &err);
}
