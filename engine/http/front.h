/* front.h - what the process that speaks HTTP decides and answers by itself: who may ask, logging
 * in and out, that it is alive, and whether its store is there. */
#ifndef PRESCIENT_HTTP_FRONT_H
#define PRESCIENT_HTTP_FRONT_H

#include "../base/clock.h"
#include "../base/log.h"
#include "../base/settings.h"
#include "connection.h"
#include "gate.h"
#include "judge.h"
#include "ready.h"

struct front {
    const struct settings *settings;
    struct log *log;
    const struct clock *clock;
    struct gate gate;
    struct ready ready;
    struct bytes unready;           /* the problem that the store was away with */
    bool is_told;                   /* the log has been told whether a token is needed */
};

/* `needs_tokens`: also where the store has none. */
void front_init(struct front *f, const struct settings *settings, struct log *log, const struct clock *clock,
                bool needs_tokens);
void front_free(struct front *f);

/* The answer to the question for the tokens that was asked at that time: those who are held can be
 * judged again. */
void front_take_tokens(struct front *f, const struct answer *answer, int64_t asked_us);

/* Whether a request may go on whose head is judged: by its token, its role, and for a browser by
 * where it comes from. False: it has been refused, or is held until it is asked about again. */
bool front_lets_in(struct front *f, struct connection *c, const struct verdict_of_head *v);
/* A connection is about to be freed. */
void front_forget(struct front *f, struct connection *c);

/* Answers of the table of routes. */
void front_alive(struct front *f, struct connection *c);
void front_ready(struct front *f, struct connection *c);
void front_page(struct front *f, struct connection *c);
void front_login(struct front *f, struct connection *c);
void front_logout(struct front *f, struct connection *c);
void front_session(struct front *f, struct connection *c);

#endif
