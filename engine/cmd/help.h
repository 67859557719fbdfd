/* help.h - the output of --help: the list of commands, or one command with its options. */
#ifndef PRESCIENT_HELP_H
#define PRESCIENT_HELP_H

#include <stdio.h>
#include "command.h"

void help_all(FILE *out);
void help_command(FILE *out, const struct command *command);

/* "what waits, what was, how it is" */
const char *help_group(enum command_group group);

/* The command named `name`; NULL when there is none, with the nearest name in err. */
const struct command *command_find(const char *name, struct err *err);

/* The version, as `--version` prints it. */
const char *version_text(void);

#endif
