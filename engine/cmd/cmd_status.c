/* prescient status - the state of everything on one screen. */
#include <inttypes.h>
#include <string.h>
#include "../base/moment.h"
#include "app.h"
#include "put_off.h"
#include "report.h"
#include "withheld.h"

static int status_main(struct app *app, const struct args *args);

const struct command cmd_status = {
    .name = "status",
    .args = "",
    .help = "show what waits, what is late, and which engines run",
    .main = status_main,
};

#define PUT_OFF "put_off"           /* a report of its own */
#define DUE_COUNTED 1000000     /* `due` and `overdue` are counted up to here */

static const struct line { const char *label, *column; } lines[] = {
    { "now", "now_at" },
    { "slot length", "slot_length_s" },
    { "schema version", "schema_version" },
    { "checks waiting", "pending" },
    { "due now", "due" },
    { "overdue", "overdue" },
    { "oldest overdue", "oldest_overdue_at" },
    { "put off", PUT_OFF },
    { "next checks", "next_slot_at" },
    { "leases", "leases" },
    { "slots not closed", "unclosed_slots" },
    { "oldest of them", "oldest_unclosed_at" },
    { "oldest transaction", "oldest_transaction_us" },
    { "prepared ones", "prepared_transactions" },
    { "events withheld", "events_withheld" },
    { "history", "history_rows" },
};

/* What follows the value: that it is an estimate, or only a lower bound. */
static const char *remark(const struct store_rows *rows, const char *column)
{
    const char *estimate = rows_value(rows, 0, "is_estimate");
    if (!strcmp(column, "pending") && estimate && strchr("tT1", *estimate))
        return " (estimate)";
    bool counted = !strcmp(column, "due") || !strcmp(column, "overdue");
    return counted && rows_number(rows, 0, column) >= DUE_COUNTED ? " or more" : "";
}

/* Its age is visible to some roles only; how many transactions have begun since, to all. */
static const char *oldest_transaction(struct app *app, const struct store_rows *rows)
{
    const char *since = rows_value(rows, 0, "transactions_since"),
               *us = rows_value(rows, 0, "oldest_transaction_us");
    if (!since)
        return NULL;
    const char *age = "its age is not visible to this role";
    if (us)
        age = rows_text(app->arena, CELL_DURATION_US, us);
    return arena_printf(app->arena, "%s, %s transactions ago", age, since);
}

/* By whom, and what ends it. */
static const char *events_withheld(struct app *app, const struct store_rows *rows)
{
    const char *words = withheld_words(app->arena, rows, "");
    const char *advice = rows_value(rows, 0, "withheld_advice");
    if (!words)
        return rows_value(rows, 0, "events_withheld");
    return arena_printf(app->arena, "%s; %s", words, advice ? advice : "");
}

static const char *line_value(struct app *app, const struct store_rows *rows, const char *column)
{
    if (!strcmp(column, "oldest_transaction_us"))
        return oldest_transaction(app, rows);
    if (!strcmp(column, "events_withheld"))
        return events_withheld(app, rows);
    char text[MOMENT_TEXT];
    int c = rows_column(rows, column);
    const char *cell = c < 0 ? NULL : rows->cells[c];
    if (!cell)
        return NULL;
    if (!strcmp(column, "slot_length_s"))
        return arena_strdup(app->arena, duration_format_us(rows_number(rows, 0, column) * 1000000, text));
    return arena_printf(app->arena, "%s%s", rows_text(app->arena, rows->kinds[c], cell),
                        remark(rows, column));
}

static void print_json(struct app *app, const struct store_rows *rows, const struct store_rows *put_off)
{
    json_t *object = report_made(app, rows_object(rows, 0));
    report_added(app, json_object_set_new(object, PUT_OFF, put_off_json(app, put_off)));
    report_print_object(app, object);
}

static int status_main(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    struct store_rows rows, put_off;
    const char *params[] = { app_now_param(app) };
    (void)args;
    if (app_rows(app, "status", params, 1, &rows, &err) < 0 || put_off_ask(app, &put_off, &err) < 0)
        return app_fail(app, &err);
    if (app->json) {
        print_json(app, &rows, &put_off);
        return EXIT_WELL;
    }
    enum { LINES = sizeof lines / sizeof *lines };
    const char *pairs[LINES][2];
    for (int i = 0; i < LINES; i++) {
        pairs[i][0] = lines[i].label;
        bool is_report = !strcmp(lines[i].column, PUT_OFF);
        pairs[i][1] = is_report ? put_off_words(app, &put_off) : line_value(app, &rows, lines[i].column);
    }
    report_print_pairs(app, (const char *const (*)[2])pairs, LINES);
    return EXIT_WELL;
}
