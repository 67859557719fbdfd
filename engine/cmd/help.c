/* help.c - the output of --help. All of it comes from the tables of commands and options. */
#include "help.h"

#include <string.h>
#include "../base/nearest.h"
#include "option.h"

#ifndef VERSION
#define VERSION ""
#endif

const char *version_text(void)
{
    return *VERSION ? VERSION : "unreleased";
}

const struct command *command_find(const char *name, struct err *err)
{
    struct nearest near = { .wanted = name };
    for (const struct command *const *c = command_table; *c; c++) {
        if (!strcmp((*c)->name, name))
            return *c;
        nearest_look(&near, (*c)->name);
    }
    const char *meant = nearest_word(&near);
    if (meant)
        err_set(err, ERR_INPUT, "unknown command '%s'; did you mean '%s'?", name, meant);
    else
        err_set(err, ERR_INPUT, "unknown command '%s'; 'prescient --help' lists them", name);
    return NULL;
}

static void options_print(FILE *out, const struct command_option *options)
{
    for (const struct command_option *o = options; o && o->name; o++) {
        int n = fprintf(out, "  --%s", o->name);
        if (option_short(o))
            n += fprintf(out, ", -%c", option_short(o));
        if (o->arg)
            n += fprintf(out, " %s", o->arg);
        fprintf(out, "%*s%s\n", n < 26 ? 26 - n : 2, "", o->help);
    }
}

static const char *const group_names[COMMAND_GROUPS] = {
    [COMMAND_CHECKS] = "checks",
    [COMMAND_LOOKING] = "what waits, what was, how it is",
    [COMMAND_RUNNING] = "running",
    [COMMAND_PLANS] = "again and again, and pauses",
    [COMMAND_EVENTS] = "events",
    [COMMAND_STORE] = "the store",
    [COMMAND_PROGRAM] = "the program",
};

const char *help_group(enum command_group group)
{
    return group_names[group];
}

/* A program that is one command has one of these. */
static void group_print(FILE *out, enum command_group group)
{
    int n = 0;
    for (const struct command *const *c = command_table; *c; c++) {
        if ((*c)->group != group)
            continue;
        if (n++ == 0)
            fprintf(out, "\n%s:\n", group_names[group]);
        fprintf(out, "  %-12s %s\n", (*c)->name, (*c)->help);
    }
}

static void examples_print(FILE *out, const char *examples)
{
    fprintf(out, "\nexamples:\n");
    for (const char *line = examples; *line; line += strspn(line, "\n")) {
        int length = (int)strcspn(line, "\n");
        fprintf(out, "  %.*s\n", length, line);
        line += length;
    }
}

void help_all(FILE *out)
{
    fprintf(out, "usage: prescient COMMAND [arguments] [options]\n"
                 "Looks again, at its time, at what should have happened by then.\n");
    for (int group = 0; group < COMMAND_GROUPS; group++)
        group_print(out, (enum command_group)group);
    fprintf(out, "\noptions of every command:\n");
    options_print(out, option_globals);
    fprintf(out, "\n'prescient COMMAND --help' describes one command; prescient(1) is the manual.\n");
}

void help_command(FILE *out, const struct command *command)
{
    fprintf(out, "usage: prescient %s%s%s [options]\n%s\n", command->name, *command->args ? " " : "",
            command->args, command->help);
    if (command->more)
        fprintf(out, "\n%s%s", command->more, command->more[strlen(command->more) - 1] == '\n' ? "" : "\n");
    if (command->examples)
        examples_print(out, command->examples);
    if (command->options && command->options->name) {
        fprintf(out, "\noptions:\n");
        options_print(out, command->options);
    }
    fprintf(out, "\noptions of every command:\n");
    options_print(out, option_globals);
}
