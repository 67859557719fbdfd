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
        bytes_free(&m->as[i].text);
}

/* False: there is no memory for it. */
static bool measure(struct desk *desk, enum metrics_format format)
{
    struct store_report call = STORE_REPORT_INIT;
    const struct store_rows *rows = NULL;
    struct metrics_text t = { .out = &desk->measured.as[format].text, .format = format };
    call.name = "metrics";
    call.arena = desk->arena;
    call.call.within_ms = WITHIN_MS;
    if (store_do(desk->store, &call.call) < 0)
        desk_tell(desk, &call.call.err);
    else
        rows = &call.rows;
    bytes_take(t.out, t.out->len);
    metrics_of_store(&t, rows, VERSION, desk->arena);
    desk->measured.as[format].at_us = t.has_failed ? 0 : clock_mono_us(&clock_system);
    return !t.has_failed;
}

enum content asked_metrics_content(enum metrics_format format)
{
    return format == METRICS_OPEN ? CONTENT_OPENMETRICS : CONTENT_METRICS;
}

void asked_metrics_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    enum metrics_format format = metrics_format_wanted(questions->accept);
    const struct bytes *text = &desk->measured.as[format].text;
    int64_t at_us = desk->measured.as[format].at_us;
    bool is_there = at_us && clock_mono_us(&clock_system) - at_us < FRESH_US;
    (void)n;
    is_there = is_there || measure(desk, format);
    size_t len = text->len + questions->body_len;
    char *body = is_there ? arena_alloc(desk->arena, len + 1) : NULL;
    if (!body) {
        desk_refuse(desk, answers, PROBLEM_AWAY, NULL);
        return;
    }
    memcpy(body, text->data, text->len);
    memcpy(body + text->len, questions->body, questions->body_len);
    *answers = (struct answer){ .status = 200, .content = (uint16_t)asked_metrics_content(format),
                                .body = body, .body_len = (uint32_t)len };
}
