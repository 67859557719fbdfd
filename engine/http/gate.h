/* gate.h - who may ask: judged in the front by a list of all tokens that it reads again each second
 * (asked_tokens.h), so a token is never looked up, and a flood of wrong ones asks the store
 * nothing. Time is a parameter. No I/O. */
#ifndef PRESCIENT_HTTP_GATE_H
#define PRESCIENT_HTTP_GATE_H

#include "../base/err.h"
#include "session.h"
#include "slow.h"

enum {
    GATE_TOKENS = 1000,
    /* requests with tokens that nobody knows that wait at once, for the next list or for their
     * refusal; more are refused at once */
    GATE_HELD = 128,
};

/* A list holds for so long, counted from when it was asked for; then nobody is let in until there
 * is another one: so a token that was revoked lets nobody in for longer, whatever is away. */
#define GATE_FRESH_US (INT64_C(5) * 1000 * 1000)
/* What needs no store goes on with an old one. */
#define GATE_OLD_US (INT64_C(600) * 1000 * 1000)
/* What a request waits for a list. */
#define GATE_PATIENCE_US (INT64_C(5) * 1000 * 1000)

struct gate_token {
    char name[TOKEN_NAME];
    enum token_role role;
    bool is_in_force;               /* it has not expired */
    uint8_t hash[TOKEN_HASH], session_key[TOKEN_KEY];
};

struct gate {
    /* Who asks needs a token: there was one since the server began, or it is reached by other
     * machines. This never ends: when the last one is revoked, nothing is opened by that. */
    bool is_closed;
    struct gate_token *tokens;
    int n;
    int64_t asked_us;               /* when the list was asked for; 0: there is none */
    int64_t failed_us;              /* when one was asked for and did not come; 0: it came */
    bool store_reads_only;          /* by the list: it takes no writes */
    int held;
    struct slow slow;
};

enum gate_by { BY_NOTHING, BY_TOKEN, BY_SESSION };

/* Who asks: without tokens "", who may do all. */
struct gate_guest {
    char name[TOKEN_NAME];
    enum token_role role;
    enum gate_by by;
    int64_t until_s;                /* of a session */
    char csrf[SESSION_CSRF];        /* the same; else "" */
};

/* One request on its way in. */
struct gate_visit {
    int64_t came_us;                /* 0: it has not been judged yet */
    int64_t refused_at_us;          /* it is wrong, and is told then; 0: it is not known to be */
    bool is_held;                   /* one of gate.held */
    struct gate_guest guest;
};

struct gate_asks {
    const char *authorization, *cookie;             /* headers; NULL: not there */
    const char *cookie_name;                        /* session_name() */
    bool needs_no_store;
};

/* Of several, that of the earlier is told. */
enum gate_rc {
    GATE_LETS_IN,
    GATE_WAITS,                     /* for a list: that of now is too old */
    GATE_UNKNOWN,                   /* as GATE_WRONG, by a list that was asked for before it came */
    GATE_AWAY,                      /* there is no list, as the store is away */
    GATE_NOTHING,                   /* neither a token nor a session was sent */
    GATE_OVER,                      /* it has expired */
    GATE_WRONG,                     /* nobody has such a one */
};

/* Judges what came at visit->came_us; sets the guest if it is let in. */
enum gate_rc gate_judge(const struct gate *g, const struct gate_asks *asks, int64_t now_us, int64_t now_s,
                        struct gate_visit *visit);

/* The list was asked for at `asked_us`, and the store was away. */
void gate_fails(struct gate *g, int64_t asked_us);
/* The list that was asked for at `asked_us`, as asked_tokens_answer writes it. Returns 0, or an
 * ERR_: then the one of before stays. */
int gate_take(struct gate *g, const char *json, size_t len, int64_t asked_us, struct err *err);
void gate_free(struct gate *g);

#endif
