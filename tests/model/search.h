/* search.h - every state that a scenario can reach, breadth first, so that a counterexample is a
 * shortest one. */
#ifndef MODEL_SEARCH_H
#define MODEL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "model.h"

struct verdict {
    enum property broken;               /* HOLDS: no promise */
    bool complete;                      /* false: out of memory or room; the result means nothing */
    bool expected_move_made;            /* a move whose text holds `expected_move` was made */
    size_t states, steps;
    double seconds;
};

/* Searches. Writes a counterexample as numbered steps to `out`, unless that is NULL.
 * `expected_move`: text of a move that must be possible, or NULL. */
void search_run(const struct rules *rules, size_t most_states, const char *expected_move, FILE *out,
                struct verdict *verdict);

#endif
