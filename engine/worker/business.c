/* business.c - the backend chosen by URL, and what both share. */
#include "business.h"

#include <string.h>

#include "../base/clock.h"

static const struct business_ops *const backends[] = { &business_sqlite_ops, &business_pg_ops };

int business_new(const struct business_options *options, struct business **out, struct err *err)
{
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        if (!backends[i]->claims(options->url))
            continue;
        int rc = backends[i]->open(options, out, err);
        if (rc)
            return rc;
        (*out)->ops = backends[i];
        (*out)->arena = arena_new(16 * 1024);
        if ((*out)->arena)
            return 0;
        business_free(*out);
        return err_set(err, ERR_NOMEM, "business database: out of memory");
    }
    /* shown up to the first ':' at most: what follows may hold a password */
    return err_set(err, ERR_SETTINGS,
                   "business: '%.*s' names no database; expected sqlite:FILE, postgresql://..., or libpq "
                   "keywords such as \"host=... dbname=...\"",
                   (int)strcspn(options->url, ":@/"), options->url);
}

void business_free(struct business *b)
{
    if (!b)
        return;
    arena_free(b->arena);
    b->ops->close(b);
}

const char *business_dialect(const struct business *b) { return b->ops->dialect; }

int business_query(struct business *b, const char *sql, const struct prescient_value *params, int n,
                   int64_t deadline_us, const struct prescient_rows **rows, struct err *err)
{
    arena_reset(b->arena);
    b->rows = (struct prescient_rows){ .size = sizeof b->rows };
    if (business_remaining_ms(deadline_us) == 0)
        return err_set(err, ERR_BUSY, "business database: no time is left for a query");
    int rc = b->ops->query(b, sql, params, n, deadline_us, err);
    if (rc == 0)
        *rows = &b->rows;
    return rc;
}

int64_t business_now_us(void) { return clock_boot_us(&clock_system); }

int business_remaining_ms(int64_t deadline_us)
{
    int64_t remaining = (deadline_us - business_now_us()) / 1000;
    if (remaining <= 0)
        return 0;
    return remaining < INT32_MAX ? (int)remaining : INT32_MAX;
}
