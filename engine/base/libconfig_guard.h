/* libconfig_guard.h - the text of a settings file with everything it includes, made safe for
 * libconfig, parsed by it, and where each line came from.
 *
 * Settings files have libconfig's syntax, and versions of it that are in use do not hold what we
 * promise about them. Up to 1.7 it cuts whole numbers to 32 bits silently unless they end in "L"
 * (4294967296 becomes 0), ends the process when an included name is a folder, and looks for
 * included files in the working directory only. It does not check whether it was given the memory
 * that it asks for: it crashes, or leaves out a name. It leaks the token it was reading when the
 * text turns out to be wrong. All that works around it is here: a lexer that copies the text,
 * resolves @include (beside the including file, else in the working directory), adds the "L" and
 * refuses what libconfig would garble; a look for memory before it parses, and one for names
 * after; and what LeakSanitizer has to know. */
#ifndef PRESCIENT_LIBCONFIG_GUARD_H
#define PRESCIENT_LIBCONFIG_GUARD_H

#include <libconfig.h>
#include <stddef.h>
#include <stdio.h>
#include "arena.h"
#include "err.h"

struct libconfig_guard {        /* zeroed: no text */
    char *text;
    size_t size;
    struct arena *arena;        /* the caller's: names of files live in it */
    FILE *out;                  /* while gathering */
    int line;                   /* lines written so far + 1 */
    /* from line `first` of the text on it is `file`, from `line` of that on; `last`: the last line
     * of the file, where it ends with this piece */
    struct libconfig_piece { const char *file; int first, line, last; } *pieces;
    int npieces;
};

/* Reads a file with all that it includes, or a text that errors call `name`. A file that
 * other users could have written is refused (owned.h). */
int libconfig_guard_read_file(struct libconfig_guard *g, struct arena *a, const char *path, struct err *err);
int libconfig_guard_read_text(struct libconfig_guard *g, struct arena *a, const char *text, const char *name,
                              struct err *err);

/* Parses what was read into `config`, which was initialized. After 0 each member of a group has a
 * name, and each string a text. ERR_SETTINGS with the place, or ERR_NOMEM. */
int libconfig_guard_parse(const struct libconfig_guard *g, config_t *config, struct err *err);

/* "prescient.cfg:12" for a line of the text, as libconfig counts; lives in the arena. */
const char *libconfig_guard_place(const struct libconfig_guard *g, int line);

/* The folder of the file that a line came from, as its path was written; "" is the working
 * directory. NULL: out of memory. */
const char *libconfig_guard_folder(const struct libconfig_guard *g, int line);

void libconfig_guard_release(struct libconfig_guard *g);

#endif
