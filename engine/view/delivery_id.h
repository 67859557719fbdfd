/* delivery_id.h - the key under which a delivery was sent, which its receiver knows it by. */
#ifndef PRESCIENT_DELIVERY_ID_H
#define PRESCIENT_DELIVERY_ID_H

#include "../store/store_report.h"

/* The report `deliveries` has room for it; only rules know how it is made. */
void delivery_ids(struct arena *a, struct store_rows *rows);

#endif
