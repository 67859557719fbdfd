/* action.h - a command that does one of several things. Each has options of its own; an option of
 * another one is refused, since a --dry-run that is ignored writes. */
#ifndef PRESCIENT_ACTION_H
#define PRESCIENT_ACTION_H

#include "args.h"
#include "command.h"

struct action {                 /* a table of them ends with a NULL word */
    const char *word;           /* what chooses it: "add", "--from" */
    const char *options;        /* the letters of those of the command's options that it takes */
    int (*run)(struct app *app, const struct args *args);
    /* as those of the command (command.h), where it needs another role; NULL: as the command */
    const char *role;
    bool only_reads;
};

/* The action of that word; NULL: there is none. */
const struct action *action_find(const struct action *actions, const char *word);

/* Runs `chosen`, one of `actions`, and returns its exit code; EXIT_BAD_USAGE when an option was
 * given that it does not take, which is printed with the actions that do. */
int action_run(struct app *app, const struct action *actions, const struct action *chosen,
               const struct args *args);

#endif
