/* program.h - the programs that are built and installed together: where they are, and starting one
 * in place of this one. */
#ifndef PRESCIENT_PROGRAM_H
#define PRESCIENT_PROGRAM_H

#include <stddef.h>
#include "../base/err.h"

/* The path of the program `name`, looked for from the folder of this program's own file: in that
 * folder (as built), in ../libexec/prescient (seen from bin), in ../../bin (seen from libexec).
 * Returns 0, or ERR_GENERAL with the paths that were tried. */
int program_find(const char *name, char *out, size_t size, struct err *err);

/* Replaces this process by the program `name` with that command line. Returns only when it
 * failed, with an ERR_. */
int program_become(const char *name, char **argv, struct err *err);

#endif
