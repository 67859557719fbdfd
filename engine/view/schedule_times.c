/* schedule_times.c - see schedule_times.h. */
#include "schedule_times.h"

#include "../base/cleanup.h"
#include "../base/zone.h"
#include "../rules/occurrence.h"
#include "../rules/slot.h"
#include "rows.h"

static const char *why_none(const struct store_rows *row)
{
    bool waits = rows_value(row, 0, "next_check_at");
    if (!rows_is_true(row, 0, "is_active"))
        return "none: it is off";
    if (waits && !rows_value(row, 0, "first_check_at"))
        return "not known: this user may read the views only";
    if (!waits)
        return "none: its check is missing, which an engine files anew within an hour";
    if (slot_is_of_pause(rows_number(row, 0, "next_check_at")) || rows_number(row, 0, "is_paused"))
        return "none while it is paused: prescient pauses has by whom and since when";
    if (!rows_value(row, 0, "terms"))
        return "not known: its check does not carry the rule";
    return "none: no time follows";
}

int schedule_times(const struct store_rows *row, int64_t now, struct schedule_times *out, struct err *err)
{
    CLEANUP(zone_freep) struct zone *zone = NULL;
    struct terms terms;
    struct recurrence_grid grid = { .slot_length_s = (int32_t)rows_number(row, 0, "slot_length_s") };
    const char *text = rows_value(row, 0, "terms");
    int64_t at = rows_number(row, 0, "next_check_at");
    *out = (struct schedule_times){ .none = why_none(row) };
    if (!text || slot_is_of_pause(at) || rows_number(row, 0, "is_paused"))
        return 0;
    int rc = terms_parse(text, &terms, err);
    if (rc == 0 && terms.recurrence.is_cron)
        rc = zone_read(terms.recurrence.zone, &zone, err);
    if (rc < 0)
        return rc;
    grid.zone = zone;
    struct occurrence o = {
        .terms = &terms,
        .grid = &grid,
        .first_check_at = rows_number(row, 0, "first_check_at"),
        .next_check_at = at,
        .has_begun = rows_number(row, 0, "has_begun"),
    };
    out->n = occurrence_ahead(o, rows_number(row, 0, "again_at"), now, out->at, SCHEDULE_TIMES);
    int64_t nominal = occurrence_nominal(&o);
    bool is_late = nominal && nominal < slot_floor(now, grid.slot_length_s);
    if (out->n && out->at[0] <= slot_fine_next(now, grid.slot_length_s) && is_late)
        out->late_since = nominal;
    return 0;
}
