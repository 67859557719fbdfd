/* stream.h - a command that lives on: it is given a line for each check and answers by a line. */
#ifndef STREAM_H
#define STREAM_H

#include <prescient/job.h>

#include "command.h"

struct stream;

/* Starts the command and waits for its first line, 10 s at most. `command` and `envp` must live as
 * long. NULL: it cannot be used, and `why` has the words. */
struct stream *stream_new(const struct prescient_host *host, const struct command *command,
                          char *const envp[], int window, char *why, size_t why_size);

/* How many checks one call should get. */
int stream_batch(const struct stream *s);

/* Answers all of them, and hands each answer over when it is there. */
void stream_run(struct stream *s, const struct prescient_check *checks, int n,
                struct prescient_answer *answers);

/* It may finish what it does, for 2 s. NULL is fine. */
void stream_free(struct stream *s);

#endif
