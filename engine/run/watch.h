/* watch.h - leases that another engine holds, and since when each has been seen unchanged. One that
 * stays unchanged for long enough may be taken over: its owner does not renew it any more. */
#ifndef PRESCIENT_WATCH_H
#define PRESCIENT_WATCH_H

#include "../store/store_slot.h"

enum { WATCH_MAX = BUCKETS * 2 };

struct watch {
    struct watched_lease { struct lease lease; int64_t since_us, patience_us; } leases[WATCH_MAX];
    int n;
};

/* Who watches, and when. */
struct watch_terms {
    const unsigned char *owner;     /* ours */
    int64_t lease_us;
    int64_t database_us;            /* the database's clock; 0: a virtual time counts */
    int64_t now_us;                 /* monotonic */
};

/* The leases of `slot` that were seen held just now, without those that our lanes work under. A
 * lease that was seen before and is the same keeps its time. Others of this slot are forgotten in
 * the buckets that were looked at: a bit each in `asked`, bit 0 for a slot that is one lease. */
void watch_note(struct watch *w, const struct watch_terms *terms, int64_t slot, uint64_t asked,
                const struct lease *held, int n);

/* Those of `slot` that were unchanged for long enough; returns how many. */
int watch_expired(const struct watch *w, int64_t slot, int64_t now_us, struct lease *out, int room);

#endif
