/* search.h - every state that a scenario can reach, breadth first, so that a counterexample is a
 * shortest one. */
#ifndef MODEL_SEARCH_H
#define MODEL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "model.h"

struct verdict {
    enum property broken;               /* HOLDS: none */
    bool complete;                      /* false: out of memory or room, nothing is known */
    bool seen;                          /* a move whose words hold `sees` was made */
    size_t states, steps;
    double seconds;
};

/* Searches, and writes a counterexample as numbered steps to `out`, if there is one and `out` is
 * not NULL. `sees`: words of a move that is to be possible, or NULL. */
void search_run(const struct rules *rules, size_t most_states, const char *sees, FILE *out,
                struct verdict *verdict);

#endif
