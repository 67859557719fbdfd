/* rewrite.h - what becomes of a template before jq compiles it. Texts and programs of jq are read
 * just far enough to find strings, interpolations and names:
 *
 * - each interpolation is checked when it is filled in: \(.x) becomes \((.x)|__given(".x")), where
 *   __given (of who compiles it) refuses null;
 * - what reads more than the check, or ends the process, is refused: input, env, import, halt, ...;
 * - comments are dropped;
 * - with a mark, it stands before each &, < and > of the template's own strings, so that these can
 *   be told from those of a payload. Not in strings that a program only looks for: in "==", "!=",
 *   names of members, and what test() and the like are given. */
#ifndef PRESCIENT_SHARED_REWRITE_H
#define PRESCIENT_SHARED_REWRITE_H

#include <stdbool.h>
#include <stddef.h>

enum { REWRITE_DEPTH = 64 }; /* of brackets and strings in each other */

enum rewrite_form {
    REWRITE_TEXT, /* a text in which only \( is special */
    REWRITE_PROGRAM,
};

/* A text without interpolations: nothing has to be filled in. */
bool rewrite_is_fixed(const char *text);

/* The program, to be freed; of a text, a program that is this string. NULL with words in `why`.
 * `mark`: NULL for none; nothing that jq would take for its own. */
char *rewrite_template(const char *text, enum rewrite_form form, const char *mark, char *why,
                       size_t why_size);

#endif
