/* completion.h - what a shell has to know to complete a command line: commands, their options and
 * words, written in its own language. */
#ifndef PRESCIENT_COMPLETION_H
#define PRESCIENT_COMPLETION_H

#include <stddef.h>
#include <stdio.h>
#include "command.h"

/* Writes it for the shell "bash", "zsh" or "fish". False: it is none of these. */
bool completion_write(FILE *out, const char *shell);

/* The words that a command takes first: "add", "set", "list" of "add NAME | set NAME | list
 * [PREFIX]". Calls `word` for each, which may be part of a longer text. */
void completion_words(const char *args, void (*word)(void *ctx, const char *text, int length), void *ctx);

#endif
