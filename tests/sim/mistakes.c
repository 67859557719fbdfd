/* mistakes.c - the names of the planted mistakes, and what each is. */
#include "mistakes.h"

const struct mistake_row mistake_rows[MISTAKES] = {
    [SETTLE_IGNORES_TOKEN] = { "settle-ignores-token", "a settle looks at nothing but that somebody holds the lease" },
    [SETTLE_IGNORES_COUNTS] = { "settle-ignores-counts", "a settle touches a row whatever its slot and counts are by now" },
    [SETTLE_IGNORES_BEGUN] = { "settle-ignores-begun", "a settle moves a check into a slot that has begun meanwhile" },
    [SETTLE_FORGETS_HISTORY] = { "settle-forgets-history", "a settle now and then deletes a check without its row of history" },
    [SETTLE_REPEATS_EFFECTS] = { "settle-repeats-effects", "a settle writes effects of rows that it did not touch" },
    [TAKE_IGNORES_HOLDERS] = { "take-ignores-holders", "a lease is taken though somebody else holds it" },
    [LEASE_ENDS_EARLY] = { "lease-ends-early", "the database takes leases for expired at half their time" },
    [RENEWAL_ALWAYS_GOOD] = { "renewal-always-good", "a renewal of a lease that is somebody else's by now is said to be good" },
    [RELEASE_IGNORES_TOKEN] = { "release-ignores-token", "a late release gives a lease back that is somebody else's by now" },
    [FINISH_KEEPS_LEASE] = { "finish-keeps-lease", "a finish writes the pass down and leaves the lease standing" },
    [RELOOK_ALWAYS_CLOSED] = { "relook-always-closed", "a second look closes every slot, whatever it holds" },
    [RELOOK_IGNORES_RUNNING] = { "relook-ignores-running", "a second look closes an empty slot though old transactions still run" },
    [MARK_MOVES_TOO_FAR] = { "mark-moves-too-far", "the sweep's mark moves some slots further than it was told" },
    [ENQUEUE_INTO_BEGUN] = { "enqueue-into-begun", "an application files checks into the slot that is running" },
    [WORKER_IGNORES_TRUST] = { "worker-ignores-trust", "workers start checks after the trust window" },
    [WORKER_REPEATS_ANSWER] = { "worker-repeats-answer", "workers now and then give the answer of one check to the next one, too" },
    [BOOT_CLOCK_STOPS] = { "boot-clock-stops", "the clock that trust is measured by stands still while a host is suspended" },
    [SIGNALS_ARE_LOST] = { "signals-are-lost", "signals never reach workers that hang" },
};
