/* judge.h - what is decided of a request by its head alone, before a body is read. Pure. */
#ifndef PRESCIENT_HTTP_JUDGE_H
#define PRESCIENT_HTTP_JUDGE_H

#include "problem.h"
#include "request.h"
#include "route.h"

struct judge_rules {
    const char *base_path;          /* "/prescient", which paths begin with; "" */
    /* Names that Host may have, beside localhost and loopback addresses. A page of somebody else
     * whose name leads here (DNS rebinding) is kept out by that. */
    const char *const *hosts;
    int nhosts;
};

struct verdict_of_head {
    int route;                      /* -1: it is refused */
    /* of its path and method, also when it is refused; NULL: there is none */
    const struct route *row;
    enum problem_type problem;
    char allow[ROUTE_ALLOW];        /* of PROBLEM_METHOD; else "" */
    char detail[256];
};

/* Whether it is for this server; false: it is refused. */
bool judge_host(struct verdict_of_head *v, const struct judge_rules *rules, const struct request *r);
struct verdict_of_head judge_head(const struct judge_rules *rules, const struct request *r);

#endif
