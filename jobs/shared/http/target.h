/* target.h - the settings url, hosts and networks. A URL that is filled in for each check comes
 * from a payload in part, so it may lead only to `hosts` and their ports, and never into our own
 * networks. */
#ifndef PRESCIENT_SHARED_TARGET_H
#define PRESCIENT_SHARED_TARGET_H

#include "../template/template.h"
#include "batch.h"

struct target {
    struct template *url;
    const char **hosts; /* patterns, without their ports; our own */
    int *ports;         /* of each pattern; 0: it names none */
    int nhosts;
    int port;                 /* that stands in a template as fixed text; 0: none */
    struct network *networks; /* that are allowed, though they are ours */
    int nnetworks;
};

/* 0, or -1 with words. target_release in both cases. */
int target_read(struct target *t, const struct settings *s);
void target_release(struct target *t);

/* Before batch_open: what it may send to. */
void target_apply(const struct target *t, struct batch *b);
/* The URL of a check, to be freed. NULL: it is answered. */
char *target_url(const struct target *t, const struct prescient_host *host,
                 const struct prescient_check *check, struct prescient_answer *answer);

#endif
