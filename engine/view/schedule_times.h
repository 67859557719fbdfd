/* schedule_times.h - when a schedule runs next, by its row of the report `schedule`. */
#ifndef PRESCIENT_SCHEDULE_TIMES_H
#define PRESCIENT_SCHEDULE_TIMES_H

#include <stdint.h>
#include "../store/store_report.h"

enum { SCHEDULE_TIMES = 10 };

/* Those that come, in seconds; of none why. `late_since` 0: the first is not late. */
struct schedule_times {
    int64_t at[SCHEDULE_TIMES], late_since;
    int n;
    const char *none;
};

/* What an engine does with its check from `now` on. Returns 0 or an ERR_. */
int schedule_times(const struct store_rows *row, int64_t now, struct schedule_times *out, struct err *err);

#endif
