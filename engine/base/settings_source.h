/* settings_source.h - the text of a settings file with everything it includes, and where each of
 * its lines came from. */
#ifndef PRESCIENT_SETTINGS_SOURCE_H
#define PRESCIENT_SETTINGS_SOURCE_H

#include <stddef.h>
#include <stdio.h>
#include "arena.h"
#include "err.h"

/* libconfig would do its own reading, but its older versions cut numbers to 32 bits without a word
 * (4294967296 is 0), end the process when an included name is a folder, and look for included
 * files in the working directory only. So the text is gathered here: @include is resolved (beside
 * the including file, else in the working directory), large numbers get the "L" that libconfig
 * asks for, and what it would garble is refused. */
struct source {
    char *text;
    size_t size;
    struct arena *arena;        /* the caller's: names of files live in it */
    FILE *out;                  /* while gathering */
    int line;                   /* lines written so far + 1 */
    /* from line `first` on it is `file`, from `line` on */
    struct piece { const char *file; int first, line; } *pieces;
    int npieces;
};

/* The file and all that it includes are root's or ours, and nobody else may write them (owned.h);
 * else they are refused. */
int source_read_file(struct source *s, struct arena *a, const char *path, struct err *err);
int source_read_text(struct source *s, struct arena *a, const char *text, const char *called,
                     struct err *err);
void source_release(struct source *s);      /* a zeroed one is fine */

/* "prescient.cfg:12" for a line of the gathered text; lives in the arena. */
const char *source_place(const struct source *s, int line);

#endif
