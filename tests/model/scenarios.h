/* scenarios.h - what is searched by `make model`. */
#ifndef MODEL_SCENARIOS_H
#define MODEL_SCENARIOS_H

#include "model.h"

struct scenario {
    enum property expected;             /* HOLDS, or the first promise that breaks */
    const char *words;
    const char *rules;                  /* the switches that differ from the defaults (rules.c) */
    /* words of a move that must have been possible, so that nothing holds idly; NULL: none */
    const char *sees;
};
struct scenario_group { const char *words; const struct scenario *scenarios; int n; };

extern const struct scenario_group scenario_groups[];
extern const int scenario_group_count;

#endif
