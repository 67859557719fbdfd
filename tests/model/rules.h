/* rules.h - the size of a scenario, its possible faults, and the rules of the protocol that hold.
 * The defaults are the protocol as built; a planted mistake is a rule switched off. */
#ifndef MODEL_RULES_H
#define MODEL_RULES_H

#include <stdbool.h>

enum { APP_ENQUEUE = 1, APP_RESOLVE = 2, APP_REPLACE = 4, APP_KEEP = 8, APP_EARLIER = 16, APP_PLAIN = 32,
       APP_NOW = 64 };
enum { MAY_AGAIN = 1, MAY_FAIL = 2, MAY_DEFER = 4 };
enum { FAILOVER_SYNC = 1, FAILOVER_ASYNC = 2 };
enum { CLERK_MAY_EDIT = 1, CLERK_MAY_SWITCH_OFF = 2, CLERK_MAY_REPAIR = 4 };
enum { ORDER_CROSSED, ORDER_CHECK_FIRST, ORDER_SCHEDULE_FIRST };
enum { SWEEP_NONE, SWEEP_LEASED, SWEEP_OWN_BUCKET, SWEEP_NO_LEASE };
enum { REOPEN_NEVER, REOPEN, REOPEN_SEEN };

struct rules {
    /* size */
    int slots, fine, split, page, checks, first, second, app, txns, answers, far, unknown, reslot, lanes,
        early, prune, events, pulse, attempts, recurs,
        clerks, pause, deliver, twice, soon, writers, consumers, digest, lease, trust, patience, keys, places,
        renumber, limit, yields, rounds, quick;
    /* faults */
    int faults, kill, freeze, cut, stop, broken, failover, copy, back, forth;
    /* the protocol */
    int token, owner, share, message, ownread, begun, asread, newid, clamp, idfirst, settleid, againat,
        relook, keptlock, pull, reopen, beyond, complete, server, xlate, sweep, full, noted, renewfirst,
        lockclock, fromsend, slabtrust, boottime, winddown, trimlook, generation, genclock, timeline, started,
        oldest;
    /* of fine slots, attempts, schedules and pauses */
    int low, stamp, nextid, unopened, ahead, inside, leaves, elsewhere, anew, freshid,
        carry, onward, order, asks,
        pauselock, nowait, ending, pauseclosed;
    /* of deliveries, digests and consumers */
    int within, ekey, compare, after, together, wtrust, own, inmove, dkey;
    /* of concurrency keys and rounds */
    int lasts, timer, armed, single, pwindow, psend, ptoken, pexpired, pnumber, pkeep, pback, psent, pdrop,
        pshort, pyoung, roundend, roundall, roundlist, roundfirst, roundsettled;
    /* promises */
    int strict, prompt;
};

void rules_init(struct rules *rules);
/* "name=value name=value ..."; false, with the unknown switch or value in *bad. */
bool rules_set(struct rules *rules, const char *switches, const char **bad);
void rules_list(void);

#endif
