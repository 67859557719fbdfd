/* told.h - times as people are told them: in their time zone, and how far away. Programs get RFC
 * 3339 in UTC, by rows.h. Pure: the caller brings the time. */
#ifndef PRESCIENT_TOLD_H
#define PRESCIENT_TOLD_H

#include <stdbool.h>
#include <stdint.h>
#include "../base/arena.h"
#include "../base/moment.h"
#include "../store/store_report.h"

struct zone;

struct telling {
    const struct zone *zone;        /* NULL: UTC */
    int64_t now;                    /* seconds; 0: how far away is not told */
    bool is_short;                  /* "2026-03-01 13:15Z": no T, no seconds where they are 0 */
};

/* Whether it tells what rows_text does. */
bool telling_is_plain(const struct telling *t);

/* "in 2 h", "3 d ago", "now"; `is_due`, "3 d late". One unit, the largest of which there are two,
 * rounded. */
const char *told_distance(int64_t at, int64_t now, bool is_due, char out[MOMENT_TEXT]);

/* "2026-03-01T14:15:00+01:00"; "...Z" in UTC, and where the offset is of no whole minutes. */
const char *told_moment(int64_t at, const struct telling *t, char out[MOMENT_TEXT]);

/* The same of microseconds, with three digits of them unless it is short. */
const char *told_moment_us(int64_t at_us, const struct telling *t, char out[MOMENT_TEXT]);

/* The first with how far away it is, "2026-03-01 13:15Z (in 2 h)", unless the telling has no now.
 * Lives in the arena; NULL: out of memory. */
const char *told_at(struct arena *a, const struct telling *t, int64_t at);

/* A text of a store's own words: each moment in it that is written "2026-03-01T13:15:00Z" as
 * told_moment has it. Lives in the arena, or is the text. */
const char *told_text(struct arena *a, const struct telling *t, const char *text);

/* A cell of a report: moments with how far away they are, "2026-03-01 13:15Z (in 2 h)", and all
 * else as rows_text has it. */
const char *told_cell(struct arena *a, const struct telling *t, enum cell_kind kind, const char *cell,
                      bool is_due);

#endif
