/* response.h - what a response means: done, wait, failed, failed for good. Of its headers only
 * those that set a time are kept. No I/O and no clock. */
#ifndef PRESCIENT_SHARED_RESPONSE_H
#define PRESCIENT_SHARED_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RESPONSE_WAIT_S = 60,               /* of a 429 that names no time */
    RESPONSE_WAIT_MAX_S = 24 * 60 * 60, /* a later time counts as this one */
};

struct response {                       /* headers as they came; "" when there is none */
    int status;                         /* 0: none came */
    bool has_come;                      /* the head to its end: only then the rest means something */
    char retry_after[64];
    char remaining[32], reset[32];      /* (X-)RateLimit-Remaining and -Reset */
    char policies[512];                 /* RateLimit, all of them */
};

/* Takes one line of the head, with or without its CR LF; an empty one ends it. A status line begins
 * anew: it may be the second one, after "100 Continue", which is no response yet. */
void response_line(struct response *r, const char *line, size_t len);

enum verdict_kind { VERDICT_DONE, VERDICT_WAIT, VERDICT_FAIL, VERDICT_FINAL };
struct verdict { enum verdict_kind kind; int64_t wait_s; };

/* `now` is the real time: headers name real times. Statuses of `final` are failures for good. */
struct verdict response_judge(const struct response *r, const int *final, int nfinal, int64_t now);

#endif
