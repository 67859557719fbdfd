/* sharing.c - see sharing.h. */
#include "sharing.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "../base/fingerprint.h"
#include "query.h"

/* ---- what a reader says ---- */

int sharing_max_age_s(const char *cache_control)
{
    static const char word[] = "max-age=";
    for (const char *at = cache_control; at && *at;) {
        at += strspn(at, " \t,");
        if (!strncasecmp(at, word, sizeof word - 1)) {
            const char *digits = at + sizeof word - 1;
            long seconds = strtol(digits, NULL, 10);
            if (!isdigit((unsigned char)*digits))
                return -1;
            return seconds < SHARING_MAX_S ? (int)seconds : SHARING_MAX_S;
        }
        at += strcspn(at, ",");
    }
    return -1;
}

bool sharing_may(const char *query)
{
    return !query_names(query, "payload");
}

/* ---- what is kept ---- */

/* analyze: -Wno-analyzer-malloc-leak: drop() frees what an answer has; gcc loses sight of it in the
 * table */

static void drop(struct sharing *s, struct shared_answer *a)
{
    if (!a->query)
        return;
    s->bytes -= a->body->len;
    free(a->query);
    shared_body_drop(a->body);
    *a = (struct shared_answer){ .query = NULL };
}

static bool is_of(const struct shared_answer *a, const struct sharing_question *q)
{
    return a->query && a->route == q->route && a->role == q->role && !strcmp(a->query, q->query);
}

const struct shared_answer *sharing_find(const struct sharing *s, const struct sharing_question *q,
                                         int64_t since_us)
{
    for (int i = 0; i < SHARING_ANSWERS; i++)
        if (is_of(&s->all[i], q) && s->all[i].asked_us >= since_us)
            return &s->all[i];
    return NULL;
}

/* That of the same question, a free one, or the oldest. */
static struct shared_answer *place_for(struct sharing *s, const struct sharing_question *q)
{
    struct shared_answer *place = &s->all[0];
    for (int i = 0; i < SHARING_ANSWERS; i++) {
        struct shared_answer *a = &s->all[i];
        if (is_of(a, q))
            return a;
        if (place->query && (!a->query || a->asked_us < place->asked_us))
            place = a;
    }
    return place;
}

static struct shared_answer *oldest(struct sharing *s)
{
    struct shared_answer *found = NULL;
    for (int i = 0; i < SHARING_ANSWERS; i++)
        if (s->all[i].query && (!found || s->all[i].asked_us < found->asked_us))
            found = &s->all[i];
    return found;
}

void sharing_keep(struct sharing *s, const struct sharing_question *q, const struct answer *answer,
                  const char *etag, int64_t asked_us)
{
    if (answer->shared->len > SHARING_ONE)
        return;
    struct shared_answer *a = place_for(s, q);
    drop(s, a);
    struct shared_answer *goes = oldest(s);
    for (; goes && s->bytes + answer->shared->len > SHARING_BYTES; goes = oldest(s))
        drop(s, goes);
    a->query = strdup(q->query);
    if (!a->query)
        return;
    a->route = q->route;
    a->role = q->role;
    a->body = shared_body_share(answer->shared);
    a->content = answer->content;
    a->asked_us = asked_us;
    s->bytes += a->body->len;
    snprintf(a->etag, sizeof a->etag, "%s", etag);
}

void sharing_forget(struct sharing *s)
{
    for (int i = 0; i < SHARING_ANSWERS; i++)
        drop(s, &s->all[i]);
}

/* ---- tags ---- */

void sharing_etag(const char *body, size_t len, char out[SHARING_ETAG])
{
    struct sha256_ctx sha;
    char digits[FINGERPRINT_SIZE];
    sha256_init(&sha);
    sha256_update(&sha, len, (const uint8_t *)body);
    fingerprint_hex(&sha, digits, sizeof digits);
    snprintf(out, SHARING_ETAG, "\"%s\"", digits);
}

/* A proxy that packs answers marks their tags as weak, W/"...". */
bool sharing_is_known(const char *etag, const char *if_none_match)
{
    return if_none_match && (!strcmp(if_none_match, "*") || strstr(if_none_match, etag));
}
