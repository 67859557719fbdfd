/* rules.h - how large a scenario is, what may go wrong in it, and which rules of the protocol hold.
 * The defaults are the protocol as built; a planted mistake is a rule switched off. */
#ifndef MODEL_RULES_H
#define MODEL_RULES_H

#include <stdbool.h>

enum { APP_ENQUEUE = 1, APP_RESOLVE = 2, APP_REPLACE = 4, APP_KEEP = 8, APP_EARLIER = 16, APP_PLAIN = 32 };
enum { SAY_AGAIN = 1, SAY_FAIL = 2, SAY_DEFER = 4 };
enum { FAILOVER_SYNC = 1, FAILOVER_ASYNC = 2 };
enum { SWEEP_NONE, SWEEP_LEASED, SWEEP_OWN_BUCKET, SWEEP_BARE };
enum { REOPEN_NEVER, REOPEN, REOPEN_SEEN };

struct rules {
    /* size */
    int slots, split, page, checks, first, app, txns, answers, far, unknown, reslot, lanes, early, prune,
        events, lease, trust, patience;
    /* what may go wrong */
    int faults, kill, freeze, cut, stop, broken, failover, copy, back, forth;
    /* the protocol */
    int token, owner, share, message, ownread, begun, asread, newid, clamp, idfirst, settleid, againat,
        relook, keptlock, pull, reopen, beyond, complete, server, xlate, sweep, full, noted, renewfirst,
        lockclock, fromsend, slabtrust, boottime, winddown, trimlook, generation, genclock, timeline, oldest;
    /* what is asked */
    int strict;
};

void rules_init(struct rules *rules);
/* "name=value name=value ..."; false with the word that is not understood in *bad. */
bool rules_set(struct rules *rules, const char *words, const char **bad);
void rules_list(void);

#endif
