/* option.h - the options of a command line: those of every command, and those of one. */
#ifndef PRESCIENT_OPTION_H
#define PRESCIENT_OPTION_H

#include "command.h"

extern const struct command_option option_globals[];       /* ends with a NULL name */

/* The letter that stands for the option on a command line, alone behind a dash, the same one in
 * every command; '\0': it has none. */
char option_short(const struct command_option *option);

/* The option that `word` ("--name", "--name=value" or "-l") names in `options` (NULL: none), or
 * NULL. */
const struct command_option *option_find(const struct command_option *options, const char *word);

/* Whether the word is an option rather than an argument: "-" is stdin, "-15m" is a time. */
bool option_is(const char *word);

/* The value of `option` at argv[*i]: of "--name=value", or the next word, to which *i is moved;
 * NULL for an option that takes none. ERR_INPUT when a value is missing or was not expected. */
int option_value(const struct command_option *option, int argc, char **argv, int *i, const char **value,
                 struct err *err);

/* What its value may be; NULL: anything. `command` NULL: an option of every command. */
const char *const *option_words(const struct command *command, const struct command_option *option);
/* ERR_INPUT when it is none of them. */
int option_check(const struct command *command, const struct command_option *option, const char *value,
                 struct err *err);

/* ERR_INPUT for a word that names no option of the command (NULL: none was named yet), with the
 * option that was probably meant. */
int option_unknown(const struct command *command, const char *word, struct err *err);

#endif
