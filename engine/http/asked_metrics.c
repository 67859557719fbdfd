/* asked_metrics.c - see asked_metrics.h. */
#include "asked_metrics.h"

#include <string.h>

#include "../base/clock.h"
#include "desk.h"

#define FRESH_US INT64_C(1000000)
/* Who asks gives up soon, and what it is then told is that the store is away. */
enum { WITHIN_MS = 4000 };

void measured_free(struct measured *m)
{
    for (int i = 0; i < METRICS_FORMATS; i++)
        bytes_free(&m->texts[i]);
}

static void measure(struct desk *desk)
{
    struct store_report call = STORE_REPORT_INIT;
    const struct store_rows *rows = NULL;
    call.name = "metrics";
    call.arena = desk->arena;
    call.call.within_ms = WITHIN_MS;
    if (store_do(desk->store, &call.call) < 0)
        desk_tell(desk, &call.call.err);
    else
        rows = &call.rows;
    desk->measured.at_us = clock_mono_us(&clock_system);
    for (int i = 0; i < METRICS_FORMATS; i++) {
        struct bytes *text = &desk->measured.texts[i];
        struct metrics_text t = { .out = text, .format = (enum metrics_format)i };
        bytes_take(text, text->len);
        metrics_of_store(&t, rows, VERSION, desk->arena);
        if (t.has_failed)
            desk->measured.at_us = 0;
    }
}

enum content asked_metrics_content(enum metrics_format format)
{
    return format == METRICS_OPEN ? CONTENT_OPENMETRICS : CONTENT_METRICS;
}

void asked_metrics_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    enum metrics_format format = metrics_format_wanted(questions->accept);
    const struct bytes *text = &desk->measured.texts[format];
    int64_t at_us = desk->measured.at_us;
    (void)n;
    if (!at_us || clock_mono_us(&clock_system) - at_us >= FRESH_US)
        measure(desk);
    size_t len = text->len + questions->body_len;
    char *body = desk->measured.at_us ? arena_alloc(desk->arena, len + 1) : NULL;
    if (!body) {
        desk_refuse(desk, answers, PROBLEM_AWAY, NULL);
        return;
    }
    memcpy(body, text->data, text->len);
    memcpy(body + text->len, questions->body, questions->body_len);
    *answers = (struct answer){ .status = 200, .content = (uint16_t)asked_metrics_content(format),
                                .body = body, .body_len = (uint32_t)len };
}
