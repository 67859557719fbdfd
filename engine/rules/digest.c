/* digest.c - see digest.h. */
#include "digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../base/moment.h"
#include "../base/utf8.h"

static const char cron_word[] = "cron ";

static int refuse(const struct listener_settings *l, const char *why, struct err *err)
{
    return err_set(err, ERR_SETTINGS, "%s: digest = \"%.*s\" of a listener: %s", l->from,
                   UTF8_SHOWN(l->digest), why);
}

/* Its time is counted from slot to slot, so nothing is drawn. */
static int read_every(const struct listener_settings *l, struct recurrence *r, struct err *err)
{
    struct err why;
    int64_t us = 0;
    bool is_good = duration_parse_us(l->digest, &us, &why) == 0 && us % 1000000 == 0 && us > 0 &&
                   us <= RECURRENCE_EVERY_MAX_S * 1000000;
    if (!is_good)
        return refuse(l, "expected whole seconds, from 1s to 366d, or \"cron 0 8 * * mon-fri\"", err);
    if (l->timezone)
        return refuse(l, "timezone belongs to cron; a time between two digests needs none", err);
    r->every_s = us / 1000000;
    return 0;
}

static int read_cron(const struct listener_settings *l, struct recurrence *r, struct err *err)
{
    const char *text = l->digest + strlen(cron_word);
    const char *zone = l->timezone ? l->timezone : "UTC";
    struct err why;
    if (cron_parse(text, &r->cron, &why) < 0 || zone_check_name(zone, &why) < 0)
        return refuse(l, why.text, err);
    r->is_cron = true;
    snprintf(r->cron_text, sizeof r->cron_text, "%s", text);
    snprintf(r->zone, sizeof r->zone, "%s", zone);
    return 0;
}

int digest_terms(const struct listener_settings *l, struct terms *out, struct err *err)
{
    bool is_cron = !strncmp(l->digest, cron_word, strlen(cron_word));
    *out = (struct terms){ .sought = 0 };
    snprintf(out->recurrence.name, sizeof out->recurrence.name, "%s", l->name);
    snprintf(out->digest, sizeof out->digest, "%s", l->name);
    return is_cron ? read_cron(l, &out->recurrence, err) : read_every(l, &out->recurrence, err);
}

int digests_next(const struct settings *settings, int from)
{
    for (int i = from; i < settings->nlisteners; i++)
        if (settings->listeners[i].digest)
            return i;
    return -1;
}

int digests_check(const struct settings *settings, struct err *err)
{
    for (int i = 0; i < settings->nlisteners; i++) {
        const struct listener_settings *l = &settings->listeners[i];
        struct terms terms;
        int rc = l->digest ? digest_terms(l, &terms, err) : 0;
        if (rc < 0)
            return rc;
        if (l->timezone && !l->digest)
            return err_set(err, ERR_SETTINGS,
                           "%s: timezone = \"%.*s\" of a listener without digest: expected \"digest = \"cron "
                           "0 8 * * mon-fri\"\" beside it",
                           l->from, UTF8_SHOWN(l->timezone));
    }
    return 0;
}

const struct listener_settings *digest_listener(const struct settings *settings, const struct check *c)
{
    for (int i = digests_next(settings, 0); i >= 0; i = digests_next(settings, i + 1)) {
        const struct listener_settings *l = &settings->listeners[i];
        if (!strcmp(l->name, c->entity_key) && !strcmp(l->job, c->job_exec))
            return l;
    }
    return NULL;
}

int digest_head(const struct digest_counts *counts, char out[DIGEST_HEAD_SIZE])
{
    return snprintf(out, DIGEST_HEAD_SIZE,
                    "{\"count\":%" PRId64 ",\"left_out\":%" PRId64 ",\"pruned\":%s,\"events\":[",
                    counts->matched, counts->matched - counts->shown, counts->was_pruned ? "true" : "false");
}
