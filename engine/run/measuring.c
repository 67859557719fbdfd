/* measuring.c - see measuring.h. */
#include "measuring.h"

#include "../base/err.h"

enum { MINUTE_US = 60 * 1000 * 1000 };

int measuring_init(struct measuring *m, const struct metrics_writer *writer)
{
    *m = (struct measuring){ .writer = *writer };
    m->arena = writer->write ? arena_new(0) : NULL;
    return writer->write && !m->arena ? ERR_NOMEM : 0;
}

void measuring_release(struct measuring *m)
{
    arena_free(m->arena);
    m->arena = NULL;
}

bool measuring_is_wanted(const struct measuring *m)
{
    return m->arena;
}

bool measuring_is_due(struct measuring *m, int64_t now_us, bool at_once)
{
    if (!measuring_is_wanted(m))
        return false;
    if (!m->due_us)
        m->due_us = at_once ? now_us : now_us + MINUTE_US;
    if (now_us < m->due_us)
        return false;
    if (m->asked_us && now_us - m->asked_us >= MINUTE_US) {
        m->writer.write(m->writer.ctx, NULL);
        m->asked_us = 0;
    }
    if (!m->asked_us)
        m->asked_us = now_us;
    return true;
}

void measuring_fill(struct measuring *m, struct store_report *out)
{
    *out = (struct store_report)STORE_REPORT_INIT;
    arena_reset(m->arena);
    out->name = "metrics";
    out->arena = m->arena;
}

void measuring_came(struct measuring *m, int64_t now_us, const struct store_rows *rows)
{
    m->writer.write(m->writer.ctx, rows);
    m->asked_us = 0;
    m->due_us = now_us + MINUTE_US;
}
