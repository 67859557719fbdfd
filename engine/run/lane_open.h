/* lane_open.h - opening a slot: a lane takes leases of it, and notes what it is told about those
 * that it has not got. The call LANE_OPEN of lane_calls.h. */
#ifndef PRESCIENT_LANE_OPEN_H
#define PRESCIENT_LANE_OPEN_H

#include "lane_state.h"

void lane_begin_open(struct lane *l);
void lane_end_open(struct lane *l, int rc);

#endif
