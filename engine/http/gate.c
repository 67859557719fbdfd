/* gate.c - see gate.h. */
#include "gate.h"

#include <jansson.h>
#include <nettle/memops.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/hex.h"

/* ---- the list ---- */

static bool read_token(const json_t *row, struct gate_token *out)
{
    const char *name, *role, *hash, *key;
    int is_in_force;
    if (json_unpack((json_t *)row, "[s, s, b, s, s]", &name, &role, &is_in_force, &hash, &key) < 0)
        return false;
    out->role = token_role_of(role);
    out->is_in_force = is_in_force;
    if (!token_is_name(name) || out->role == ROLE_NONE)
        return false;
    snprintf(out->name, sizeof out->name, "%s", name);
    return hex_read(hash, out->hash, sizeof out->hash) &&
           hex_read(key, out->session_key, sizeof out->session_key);
}

/* One that cannot be read lets nobody in, and keeps nobody else out. */
static int read_tokens(const json_t *rows, struct gate_token *out)
{
    int n = 0;
    for (size_t i = 0; i < json_array_size(rows) && n < GATE_TOKENS; i++)
        n += read_token(json_array_get(rows, i), &out[n]);
    return n;
}

int gate_take(struct gate *g, const char *json, size_t len, int64_t asked_us, struct err *err)
{
    json_t *list = json_loadb(json, len, 0, NULL), *rows = json_object_get(list, "tokens");
    size_t n = json_array_size(rows);
    struct gate_token *tokens = json_is_array(rows) ? calloc(n + 1, sizeof *tokens) : NULL;
    if (!tokens) {
        int rc = json_is_array(rows) ? ERR_NOMEM : ERR_GENERAL;
        json_decref(list);
        return err_set(err, rc, "the list of tokens cannot be read");
    }
    free(g->tokens);
    g->tokens = tokens;
    g->n = read_tokens(rows, tokens);
    g->is_closed = g->is_closed || n;
    g->asked_us = asked_us;
    g->failed_us = 0;
    g->store_reads_only = json_is_true(json_object_get(list, "read_only"));
    json_decref(list);
    return 0;
}

void gate_fails(struct gate *g, int64_t asked_us)
{
    g->failed_us = asked_us;
}

void gate_free(struct gate *g)
{
    free(g->tokens);
    g->tokens = NULL;
    g->n = 0;
}

/* ---- who is let in ---- */

static enum gate_rc let_in(struct gate_guest *guest, const struct gate_token *t, enum gate_by by)
{
    *guest = (struct gate_guest){ .role = t->role, .by = by };
    memcpy(guest->name, t->name, sizeof guest->name);
    return GATE_LETS_IN;
}

/* All are compared, each in constant time, whatever is found. */
static const struct gate_token *find_by_hash(const struct gate *g, const uint8_t *hash, size_t len)
{
    const struct gate_token *found = NULL;
    for (int i = 0; i < g->n; i++)
        if (memeql_sec(g->tokens[i].hash, hash, len))
            found = &g->tokens[i];
    return found;
}

static enum gate_rc judge_token(const struct gate *g, const char *authorization, struct gate_guest *guest)
{
    char text[TOKEN_TEXT];
    uint8_t hash[TOKEN_HASH];
    if (!token_of_header(authorization, text))
        return GATE_WRONG;
    token_hash(text, hash);
    const struct gate_token *t = find_by_hash(g, hash, sizeof hash);
    if (!t)
        return GATE_UNKNOWN;
    return t->is_in_force ? let_in(guest, t, BY_TOKEN) : GATE_OVER;
}

static enum gate_rc judge_session(const struct gate *g, const struct session *s, int64_t now_s,
                                  struct gate_guest *guest)
{
    const struct gate_token *t = find_by_hash(g, s->bytes, SESSION_TOKEN);
    if (session_until_s(s) <= now_s)
        return GATE_OVER;
    if (!t)
        return GATE_UNKNOWN;
    if (!session_is_signed(s, t->session_key))
        return GATE_WRONG;
    if (!t->is_in_force)
        return GATE_OVER;
    let_in(guest, t, BY_SESSION);
    guest->until_s = session_until_s(s);
    session_csrf(s, guest->csrf);
    return GATE_LETS_IN;
}

/* It may have been made since the list was asked for, until that is ruled out. */
static enum gate_rc when_sure(enum gate_rc rc, bool is_sure)
{
    return rc == GATE_UNKNOWN && is_sure ? GATE_WRONG : rc;
}

/* A browser sends the one of the longest path first. Others may be of other servers. */
static enum gate_rc judge_sessions(const struct gate *g, const struct gate_asks *asks, int64_t now_s,
                                   bool is_sure, struct gate_guest *guest)
{
    struct session sessions[SESSION_SEVERAL];
    int n = session_of_header(asks->cookie, asks->cookie_name, sessions);
    enum gate_rc best = n ? GATE_WRONG : GATE_NOTHING;
    for (int i = 0; i < n && best != GATE_LETS_IN; i++) {
        enum gate_rc rc = when_sure(judge_session(g, &sessions[i], now_s, guest), is_sure);
        best = rc < best ? rc : best;
    }
    return best;
}

static enum gate_rc judge(const struct gate *g, const struct gate_asks *asks, int64_t now_s, bool is_sure,
                          struct gate_guest *guest)
{
    if (!g->is_closed) {
        *guest = (struct gate_guest){ .role = ROLE_OPERATE, .by = BY_NOTHING };
        return GATE_LETS_IN;
    }
    if (asks->authorization)
        return when_sure(judge_token(g, asks->authorization, guest), is_sure);
    if (asks->cookie)
        return judge_sessions(g, asks, now_s, is_sure, guest);
    return GATE_NOTHING;
}

enum gate_rc gate_judge(const struct gate *g, const struct gate_asks *asks, int64_t now_us, int64_t now_s,
                        struct gate_visit *visit)
{
    int64_t holds_us = asks->needs_no_store ? GATE_OLD_US : GATE_FRESH_US;
    bool is_known = g->asked_us && now_us - g->asked_us <= holds_us;
    bool has_patience = now_us - visit->came_us < GATE_PATIENCE_US;
    if (!is_known)
        return has_patience && !g->failed_us ? GATE_WAITS : GATE_AWAY;
    bool is_sure = g->asked_us >= visit->came_us || !has_patience;
    return judge(g, asks, now_s, is_sure, &visit->guest);
}
