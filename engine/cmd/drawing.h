/* drawing.h - the slot that a check is drawn into which may be late by so much (rules/spread.h). */
#ifndef PRESCIENT_DRAWING_H
#define PRESCIENT_DRAWING_H

#include "../rules/spread.h"
#include "../store/store.h"
#include "app.h"

/* Zeroed to begin with; it lives in the app's arena. */
struct drawing {
    struct spread_loads loads;
    int64_t pace_s;             /* so much later in its slot a check may come up (rules/phase.h) */
    bool is_read;
};

/* Moves row->at to the slot that is drawn. `within` as it was typed. The first call asks the store
 * how full slots are, and engines to count them. */
int drawing_draw(struct drawing *d, struct app *app, const char *within, int64_t now, struct load_row *row,
                 struct err *err);

#endif
