/* command.h - one run of a command beside a guard process, which ends the command's process group
 * when the command has ended or the process that wanted it is gone. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stddef.h>
#include "excerpt.h"

struct command {
    const char *path;               /* of the program; with '/', and relative to `dir` unless it begins so */
    char **argv;
    const char *dir;                /* NULL: where we are */
};

/* The first bytes of an output; `total` are all that came. */
struct capture { char *bytes; size_t room, total; };

enum command_end { COMMAND_ENDED, COMMAND_NOT_STARTED };

/* Runs it with `input` on its standard input; whether it reads that does not matter. What it writes
 * goes to `output`, but its standard output to `captured` when that is given. It is read up to the
 * command's end; what processes that it has left behind still write is not waited for. Returns
 * COMMAND_ENDED and the status of waitpid(), or COMMAND_NOT_STARTED with words in `why`. */
enum command_end command_run(const struct command *c, char *const envp[], const char *input, size_t input_len,
                             struct excerpt *output, struct capture *captured, int *status, char *why,
                             size_t why_size);

#endif
