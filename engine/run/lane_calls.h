/* lane_calls.h - each call of a lane to its store: how it is begun, and what its end changes. */
#ifndef PRESCIENT_LANE_CALLS_H
#define PRESCIENT_LANE_CALLS_H

#include "lane_state.h"

struct lane_call {
    void (*begin)(struct lane *l);          /* fills l->req and sends it */
    void (*end)(struct lane *l, int rc);    /* rc: 0 or a negative ERR_; l->req.call.err says why */
    /* when the store refuses it, answers of jobs could not be written down either */
    bool writes;
};
extern const struct lane_call lane_calls[];         /* by enum lane_action; LANE_WAIT has none */

#endif
