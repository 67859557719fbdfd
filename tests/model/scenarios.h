/* scenarios.h - the scenarios that `make model` searches. */
#ifndef MODEL_SCENARIOS_H
#define MODEL_SCENARIOS_H

#include <stdbool.h>
#include "model.h"

struct scenario {
    enum property expected;             /* HOLDS, or the first promise that breaks */
    const char *title;
    const char *rules;                  /* the switches that differ from the defaults (rules.c) */
    /* text of a move that must be possible, so that no scenario holds because nothing happens;
     * NULL: none */
    const char *expected_move;
    bool is_large;                      /* LARGE: the quick part sees a part of its states only */
};
#define LARGE true
struct scenario_group { const char *title; const struct scenario *scenarios; int n; };

extern const struct scenario_group scenario_groups[];
extern const int scenario_group_count;

#endif
