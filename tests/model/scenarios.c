/* scenarios.c - the tables: the protocol as built, the rules it replaced, planted mistakes, what a sweep heals, and known limits.
 * A planted mistake is one rule switched off in a world small enough for a short counterexample. */
#include "scenarios.h"

#include <stddef.h>

static const struct scenario as_built[] = {
    { HOLDS, "two checks, all kinds of answers, no faults", "faults=0 answers=7", "unseen: its buckets are complete" },
    { HOLDS, "three slots, all kinds of answers", "faults=0 slots=3 checks=1 answers=7", NULL },
    { HOLDS, "a slot of two leases, pages of one row", "faults=0 split=2 page=1", "reads on" },
    { HOLDS, "an engine is killed or frozen, two checks", "kill=1 freeze=1 answers=0", "the lease is another's, nothing is changed" },
    { HOLDS, "an engine is killed or frozen, all kinds of answers", "kill=1 freeze=1 checks=1 answers=7", NULL },
    { HOLDS, "a connection is cut: requests executed late, answers lost", "cut=1 answers=1", "a stray finish" },
    { HOLDS, "the same, two leases a slot", "cut=1 split=2 answers=0", NULL },
    { HOLDS, "killed, frozen or cut, pages of one row", "kill=1 freeze=1 cut=1 page=1 answers=0 slots=1", NULL },
    { HOLDS, "two faults: killed, frozen, cut", "faults=2 kill=1 freeze=1 cut=1 checks=1 answers=0 slots=1", NULL },
    { HOLDS, "two faults: killed, frozen, over two slots", "faults=2 kill=1 freeze=1 checks=1 answers=0", NULL },
    { HOLDS, "engines are told to stop, and one is killed or frozen", "stop=1 kill=1 freeze=1 checks=1 answers=0", "gives its lease" },
    { HOLDS, "no worker for a moment", "broken=1", "is let go" },
    { HOLDS, "a job that one engine does not know", "faults=0 unknown=1 app=2", "it is late" },
    { HOLDS, "late checks run or moved on (reslot), and the application", "faults=0 reslot=1 app=31 checks=1", "moved on" },
    { HOLDS, "engines' clocks run ahead, late commits", "faults=0 early=1 app=1 checks=1", "has not begun" },

    { HOLDS, "enqueue, resolve, replace, keep, earlier: late commits", "faults=0 app=31 checks=1", "again_at" },
    { HOLDS, "the same, two transactions one after the other", "faults=0 app=31 txns=2 checks=1 answers=0", NULL },
    { HOLDS, "the same, two leases a slot", "faults=0 app=28 split=2 answers=0", NULL },
    { HOLDS, "the same, and an old id is moved in behind the cursor", "faults=0 app=31 first=2 page=1 answers=0", "moves the row" },
    { HOLDS, "keep and earlier, three slots", "faults=0 far=1 app=24 checks=1 slots=3", "finds one pending, which is kept" },
    { HOLDS, "late commits, and a connection is cut", "cut=1 app=17 checks=1 answers=0", NULL },
    { HOLDS, "late commits, and an engine is killed", "kill=1 app=19 checks=1 answers=0", NULL },
    { HOLDS, "a row is held by the application, and an engine is frozen", "freeze=1 app=12 checks=1 answers=0 slots=1", "gives check" },

    { HOLDS, "synchronous failover", "failover=1 app=27 checks=1 answers=0", "losing nothing" },
    { HOLDS, "failover that loses commits", "failover=2 answers=0", "what committed since is lost" },
    { HOLDS, "the same, with all kinds of answers", "failover=2 checks=1 answers=7", NULL },
    { HOLDS, "the same, two connections of one engine: a token comes again", "failover=2 checks=1 lanes=1", "given out before the failover" },
    { HOLDS, "the same, and an engine is killed", "faults=2 failover=2 kill=1 checks=1 answers=0", NULL },
    { HOLDS, "the same, and engines are told to stop", "failover=2 stop=1 slots=1 answers=0", NULL },
    { HOLDS, "the same, and late commits", "failover=2 app=1 checks=1 answers=0 slots=1", NULL },

    { HOLDS, "a consumer of events, two engines at once", "faults=0 events=1 split=2 answers=0",
      "the consumer is shown" },
    { HOLDS, "a consumer of events, and a connection is cut", "events=1 cut=1 checks=1 answers=1",
      "the consumer is shown" },
    { HOLDS, "the same, failover that loses commits: transaction ids come again",
      "events=1 failover=2 checks=1 answers=1", "the event of transaction 1, generation 1" },
    { HOLDS, "the same, gone back to one copy twice",
      "events=1 faults=2 failover=2 copy=1 checks=1 slots=1 answers=1", "the event of transaction 1, generation 2" },

    { HOLDS, "the database's clock is set back: leases are watched", "back=1 freeze=1 kill=1 checks=1 strict=0", "held and watches it" },
    { HOLDS, "the same, and an engine is frozen", "faults=2 back=1 freeze=1 checks=1 strict=0 answers=0", NULL },
    { HOLDS, "the same, and late commits", "back=1 app=7 checks=1 strict=0 answers=0", NULL },
    { HOLDS, "the clock is set forward, past all leases", "faults=2 forth=1 freeze=1 checks=1 strict=0 answers=0", "past all leases" },
    { HOLDS, "back and forth", "faults=2 back=1 forth=1 checks=1 strict=0", NULL },

    { HOLDS, "closed slots are trimmed, the application goes on", "faults=0 prune=1 app=31 checks=1 answers=0", "prune deletes" },
    { HOLDS, "trimmed, and the clock is set back", "prune=1 back=1 checks=1 strict=0", NULL },
    { HOLDS, "the sweep looks from its mark on, and an engine dies", "full=0 kill=1 checks=1", "its mark moves" },
    { HOLDS, "the same, late commits into slots that nobody opened", "full=0 faults=0 app=31 checks=1 answers=0", "its mark moves" },
};

static const struct scenario before[] = {
    { HOLDS, "finish looks at the whole bucket, the re-look at every slot", "faults=0 beyond=0 complete=0 app=31 page=1 answers=0", "rows are left" },
    { HOLDS, "the same, killed or frozen", "beyond=0 complete=0 kill=1 freeze=1 answers=0 slots=1", NULL },
    { HOLDS, "the same, cut", "beyond=0 complete=0 cut=1 answers=0", NULL },
    { HOLDS, "the same, failover that loses commits", "beyond=0 complete=0 failover=2 checks=1", NULL },
    { HOLDS, "finish looks beyond the cursor, the re-look at every slot", "faults=0 complete=0 app=31 page=1 answers=0", NULL },
};

static const struct scenario planted[] = {
    { LOST_LEASE_SETTLE, "no fence: a settle without the token", "token=0 freeze=1", NULL },
    { LOST_LEASE_SETTLE, "KEY SHARE instead of SHARE: a takeover under an open settle", "share=0 freeze=1", NULL },
    { LOST_LEASE_SETTLE, "owner not compared, and a token comes again", "owner=0 failover=2 checks=1", NULL },
    { CLOSED_OVER_A_ROW, "no re-look", "relook=0 complete=0 faults=0 app=1 checks=1", NULL },
    { SECOND_RUN, "a sweep that ignores the lease", "sweep=3 faults=0", NULL },
    { SECOND_RUN, "a sweep that leases the row's own bucket", "sweep=2 faults=0", NULL },
    { LOST_LEASE_RUN, "trust counted from the answer instead of the sending", "fromsend=0 freeze=1", NULL },
    { LOST_LEASE_RUN, "a trust window longer than the lease", "trust=3 freeze=1", NULL },
    { LOST_LEASE_RUN, "the worker does not look at the trust window", "slabtrust=0 freeze=1", NULL },
    { LOST_LEASE_RUN, "the trust clock stands still in a suspend", "boottime=0 freeze=1", NULL },
    { LOST_LEASE_RUN, "an endless lease is taken over as soon as it is seen", "patience=0 back=1 checks=1 strict=0", NULL },
    { SECOND_RUN, "the first page is read in the takeover's statement", "ownread=0 faults=0", NULL },
    { SECOND_RUN, "an engine goes on under its lease after a failover, before it has renewed", "renewfirst=0 failover=2 stop=1 slots=1 answers=0", NULL },
    { SECOND_RUN, "earlier asks the clock from before it waited for the row", "lockclock=0 faults=0 app=16 first=2 checks=1", NULL },
    { CLOSED_OVER_A_ROW, "complete judged by an id from before the clock was seen", "xlate=0 early=1 faults=0 app=1 checks=1", NULL },
    { CLOSED_OVER_A_ROW, "complete after a failover that lost the settle", "server=0 failover=2 checks=1", NULL },
    { CLOSED_OVER_A_ROW, "complete although checks were let go unrun", "winddown=0 broken=1", NULL },
    { CLOSED_OVER_A_ROW, "a slot is opened before it begins", "begun=0 early=1 faults=0 app=1 checks=1", NULL },
    { SETTLED_TWICE, "a settle compares the id alone", "asread=0 cut=1 checks=1", NULL },
    { STUCK, "a settle of several messages, its client frozen in between", "message=0 freeze=1 checks=1", NULL },
    { CLOSED_OVER_A_ROW, "an enqueue reads the clock, and has its transaction id later", "idfirst=0 faults=0 app=1 checks=1", NULL },
    { CLOSED_OVER_A_ROW, "a settle reads the clock, and has its transaction id later", "settleid=0 faults=0", NULL },
    { CLOSED_OVER_A_ROW, "a settle files a check under a slot that has begun", "clamp=0 faults=0", NULL },
    { CHECK_LOST, "replace keeps the id", "newid=0 faults=0 app=4 checks=1", NULL },
    { CHECK_LOST, "keep is content with a check that is being run", "againat=0 faults=0 app=8 checks=1", NULL },
    { CHECK_LOST, "keep takes no lock, and commits after the slot has begun", "keptlock=0 faults=0 app=8 checks=1", NULL },
    { CHECK_LOST, "the same for an earlier that is not earlier", "keptlock=0 faults=0 app=16 checks=1", NULL },
    { TOLD_EARLIER, "a settle that moves a check forgets when it was asked for meanwhile", "pull=0 far=1 faults=0 app=16 checks=1 slots=3", NULL },
    { EVENT_SKIPPED, "events have no generation, and ids come again",
      "generation=0 events=1 failover=2 checks=1", NULL },
    { EVENT_SKIPPED, "a generation is the next number, and one copy is gone back to twice",
      "genclock=0 events=1 faults=2 failover=2 copy=1 checks=1 slots=1 answers=0", NULL },
    { EVENT_SKIPPED, "events are shown although an older transaction still runs",
      "oldest=0 events=1 faults=0", NULL },
    { NO_END, "the sweep's mark does not wait for transactions that run", "noted=0 full=0 faults=0 app=1 checks=1", NULL },
    { NO_END, "no sweep, and a slot was missed", "sweep=0 faults=0", NULL },
    { SECOND_RUN, "a slot is trimmed under a lease, and opened anew with another split",
      "trimlook=0 prune=1 faults=0 app=32 checks=1 split=2 strict=0 answers=0", NULL },
};

static const struct scenario healed[] = {
    { HOLDS, "no re-look", "strict=0 relook=0 complete=0 faults=0 app=1 checks=1", NULL },
    { HOLDS, "complete after a failover that lost the settle, from the mark on", "strict=0 server=0 failover=2 checks=1 full=0", NULL },
    { HOLDS, "complete although checks were let go unrun, from the mark on", "strict=0 winddown=0 broken=1 full=0", NULL },
    { HOLDS, "an enqueue reads the clock, and has its transaction id later", "strict=0 idfirst=0 faults=0 app=1 checks=1", NULL },
    { HOLDS, "a settle files a check under a slot that has begun", "strict=0 clamp=0 faults=0", NULL },
    { HOLDS, "rows put into begun slots by hand", "strict=0 faults=0 app=34 checks=1", "INSERT by hand" },
};

static const struct scenario limits[] = {
    { NO_END, "the clock is set back behind the sweep's mark, a check filed there, and nobody looks in time",
      "full=0 faults=2 back=1 app=1 checks=1 strict=0 answers=0 slots=1", NULL },
    { HOLDS, "the same, with the full look once an hour", "faults=2 back=1 app=1 checks=1 strict=0 answers=0 slots=1", NULL },
    { SECOND_RUN, "a row put by hand into a closed slot while its passes are being trimmed",
      "prune=1 faults=0 app=32 checks=1 split=2 strict=0 answers=0", NULL },
    { CHECK_LOST, "keep, when the clock was set back under a check that is being run", "back=1 app=8 checks=1 strict=0 answers=0", NULL },
    { CHECK_LOST, "ids come again on a server whose clock is behind",
      "faults=2 failover=2 back=1 app=4 txns=2 strict=0 answers=0 slots=1 lanes=1 checks=1", NULL },
    { HOLDS, "the same, if a lease were good only on the server that gave it",
      "server=2 faults=2 failover=2 back=1 app=4 strict=0 answers=0 slots=1 checks=1", NULL },
    { EVENT_SKIPPED, "a snapshot of a disk is put back, without a timeline of its own",
      "timeline=0 events=1 failover=2 checks=1", NULL },
};

#define GROUP(words, table) { words, table, sizeof table / sizeof *table }
const struct scenario_group scenario_groups[] = {
    GROUP("the protocol as built", as_built),
    GROUP("the rules before: finish looks at all, every slot is looked at again", before),
    GROUP("planted mistakes: each must be found", planted),
    GROUP("what the sweep heals, a slot late", healed),
    GROUP("known limits, and what would lift them", limits),
};
const int scenario_group_count = sizeof scenario_groups / sizeof *scenario_groups;
