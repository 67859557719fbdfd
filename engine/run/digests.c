/* digests.c - see digests.h. */
#include "digests.h"

#include "../rules/bucket.h"
#include "../rules/digest.h"

/* Its terms were read when the engine started: only the zone's file may be gone. */
static bool check_of(const struct errand_env *env, const struct listener_settings *l, int64_t now_us,
                     struct arena *a, struct digest_check *out)
{
    struct recurrence_grid grid = { .slot_length_s = env->clocks->slot_length_s };
    struct terms *terms = arena_alloc(a, sizeof *terms);
    struct err err;
    char text[TERMS_MAX + 1];
    int rc = terms ? digest_terms(l, terms, &err) : err_set(&err, ERR_NOMEM, "out of memory");
    if (!rc && terms->recurrence.is_cron) {
        grid.zone = zones_find(env->zones, terms->recurrence.zone, now_us, &err);
        rc = grid.zone ? 0 : err.code;
    }
    if (rc < 0) {
        log_warn(env->log, "listener \"%s\": its digest cannot be filed: %s; retrying in an hour", l->name,
                 err.text);
        return false;
    }
    int64_t first_at = recurrence_first(&terms->recurrence, &grid, clocks_now(env->clocks, now_us));
    *out = (struct digest_check){ l->name, l->job, arena_strdup(a, terms_print(terms, text)),
                                  bucket_of(DIGEST_ENTITY, l->name), first_at };
    return out->terms && first_at;
}

void digests_fill(const struct errand_env *env, int64_t now_us, struct store_keep_digests *out)
{
    const struct settings *s = env->settings;
    struct arena *a = out->arena = arena_new(4096);
    struct digest_check *checks = a ? arena_alloc(a, (size_t)(s->nlisteners + 1) * sizeof *checks) : NULL;
    out->now = env->clocks->virtual_now;
    out->checks = checks;
    for (int i = digests_next(s, 0); checks && i >= 0; i = digests_next(s, i + 1))
        if (check_of(env, &s->listeners[i], now_us, a, &checks[out->n]))
            out->n++;
}
