/* rules.c - the table of switches: a row has the name, the default, the largest value, and the
 * meaning of other values. */
#include "rules.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) #field, offsetof(struct rules, field)

static const struct { const char *name; size_t at; int initial, most; const char *help;
} table[] = {
    { AT(slots), 2, 4, "slots 1 to n (at most 4)" },
    { AT(fine), 0, 2,
      "fine slots after each full slot: 0 none, 1 slots 2 and 4 are fine, 2 slots 2 and 3 are" },
    { AT(split), 1, 2, "most leases a slot is split into (1 or 2)" },
    { AT(page), 2, 2, "rows of a page" },
    { AT(checks), 2, 2, "checks that are filed at the start, under slot 1" },
    { AT(first), 1, 3, "the slot of check 0 instead" },
    { AT(second), 1, 3, "the slot of check 1 instead" },
    { AT(app), 0, 127,
      "the application may: 1 enqueue, 2 resolve, 4 replace, 8 enqueue with keep, 16 with earlier, 32 INSERT "
      "into a begun slot, 64 enqueue at once (sum)" },
    { AT(txns), 1, 3, "transactions of the application" },
    { AT(answers), 1, 7, "besides DONE jobs may answer: 1 AGAIN, 2 FAIL, 4 DEFER (sum)" },
    { AT(far), 0, 1, "AGAIN may also be for the slot after the next" },
    { AT(unknown), 0, 1, "check 1 has a job that engine B does not have" },
    { AT(reslot), 0, 1, "the sweep may move checks instead of running them" },
    { AT(lanes), 0, 1, "the two engines are two connections of one process: one owner" },
    { AT(early), 0, 1, "engines' clocks run ahead: they open a slot before it begins" },
    { AT(prune), 0, 1, "closed slots are trimmed" },
    { AT(events), 0, 1, "a settle writes an event, and a consumer reads from its cursor on, at any time" },
    { AT(pulse), 0, 1, "engines ask each second for fine slots with rows, and serve them at once" },
    { AT(attempts), 0, 2, "attempts in a full slot: a check that fails moves to a fine slot of it" },
    { AT(recurs), 0, 1, "check 0 is that of a schedule, whose first rule is: every second full slot" },
    { AT(clerks), 0, 7,
      "the schedule is changed: 1 edited (every full slot), 2 switched off by a resolve, 4 repaired (sum)" },
    { AT(pause), 0, 1, "all checks are paused, once, and may be resumed" },
    { AT(deliver), 0, 1, "each answer of check 0 emits an event, and its delivery is check 1" },
    { AT(twice), 0, 1, "a check may be deferred again" },
    { AT(soon), 0, 1, "what is deferred moves to a fine slot of the full slot that runs" },
    { AT(writers), 0, 3, "transactions that write an event each, two at a time" },
    { AT(consumers), 0, 2, "consumers by one name, whose cursor is in the store" },
    { AT(digest), 0, 1, "check 0 is that of a digest: its settle takes the events behind a cursor" },
    { AT(keys), 0, 1, "the checks have one concurrency key" },
    { AT(places), 1, 2, "places of the key" },
    { AT(renumber), 0, 3, "the number of its places is: 1 lowered from 2 to 1, 2 raised, each once (sum)" },
    { AT(limit), 1, 3, "how long a run may last, timeout and grace, in ticks" },
    { AT(yields), 0, 1, "an engine may give its place back although it has checks for it: others wait" },
    { AT(rounds), 0, 2,
      "a slot has a first round, without the heavy tenant: it takes 1 check 0, 2 check 1" },
    { AT(quick), 0, 1, "no fault hits a call under way: a call and its effect are one move" },
    { AT(lease), 2, 6, "duration of a lease, in ticks" },
    { AT(trust), 1, 3, "how long a worker may start jobs after the lease was requested, in ticks" },
    { AT(patience), 2, 7, "how long an endless lease is watched before it is taken over, in ticks" },

    { AT(faults), 1, 7, "faults in total" },
    { AT(kill), 0, 1, "an engine is killed and restarted" },
    { AT(freeze), 0, 1, "an engine freezes, alone or with its worker, and may wake" },
    { AT(cut), 0, 1, "a connection is lost during a call: the request is executed later, or never" },
    { AT(stop), 0, 1,
      "an engine is asked to stop: it settles running checks and gives its lease back (not a fault)" },
    { AT(broken), 0, 1, "an engine's workers fail for a moment: it drops the checks that wait" },
    { AT(failover), 0, 2, "the database fails over: 1 synchronous, 2 losing its last commits" },
    { AT(copy), 0, 1, "the copy that a failover restores stays: it may be restored again" },
    { AT(back), 0, 1, "the database's clock is set back by a slot" },
    { AT(forth), 0, 1, "the database's clock is set forward by a slot, past all leases" },

    { AT(token), 1, 1, "0: a settle does not check the lease" },
    { AT(owner), 1, 1, "0: only the token is compared, not the owner" },
    { AT(share), 1, 1, "0: that check does not prevent a takeover (KEY SHARE)" },
    { AT(message), 1, 1, "0: a settle is several messages, and waits for its client in between" },
    { AT(ownread), 1, 1, "0: the first page is read by the statement that takes the lease" },
    { AT(begun), 1, 1, "0: a slot is opened before it begins by the database's clock" },
    { AT(asread), 7, 7, "a settle compares: 1 slot, 2 check_count, 4 failure_count (sum)" },
    { AT(newid), 1, 1, "0: replace keeps the row's id" },
    { AT(clamp), 1, 1, "0: a settle files a check under the answer's slot even if that has begun" },
    { AT(idfirst), 1, 1, "0: an enqueue reads the clock before it gets a transaction id" },
    { AT(settleid), 1, 1, "0: a settle reads the clock before it gets a transaction id" },
    { AT(againat), 1, 1, "0: keep changes nothing on a row whose slot has begun" },
    { AT(keptlock), 1, 1, "0: keep takes no lock on a row whose slot has not begun, and engines run it" },
    { AT(pull), 1, 1, "0: a settle that moves a check ignores again_at" },
    { AT(relook), 1, 1, "0: a slot is closed when its last bucket is finished" },
    { AT(reopen), REOPEN_SEEN, 2,
      "when a lease of a closed slot is taken: 0 the slot stays closed, 1 it is open again, 2 and gets "
      "another look" },
    { AT(beyond), 1, 1, "0: finish looks at the whole bucket; if it finds a row, reading restarts" },
    { AT(complete), 1, 1, "0: no bucket is complete, and every slot is looked at before it is closed" },
    { AT(server), 1, 2,
      "after a failover: 0 a bucket may still be complete, 1 it is not, 2 and leases are lost" },
    { AT(xlate), 1, 1, "0: open_slot gets its transaction id before it checks that the slot has begun" },
    { AT(sweep), SWEEP_LEASED, 3,
      "0 none, 1 under the slot's leases, 2 under the row's own bucket, 3 without a lease" },
    { AT(full), 1, 1, "the sweep looks at all slots; 0: only from its mark on" },
    { AT(noted), 1, 1,
      "0: the mark moves at once, not when older transactions are over, which may write below it" },
    { AT(renewfirst), 1, 1,
      "0: after a lost connection an engine goes on before it has renewed its lease" },
    { AT(lockclock), 1, 1,
      "0: keep and earlier use the clock from before they waited for the row" },
    { AT(fromsend), 1, 1, "0: the trust window begins with the answer, not with the request" },
    { AT(slabtrust), 1, 1, "0: a worker ignores the trust window" },
    { AT(boottime), 1, 1, "0: the trust clock stops while the process is frozen" },
    { AT(winddown), 1, 1, "0: a bucket is complete although checks were dropped while no worker was ready" },
    { AT(trimlook), 1, 1, "0: a closed slot is trimmed even if it holds rows or leases" },
    { AT(generation), 1, 1, "0: events are ordered by transaction id alone, across histories" },
    { AT(genclock), 1, 1, "0: a new generation is the next number, not one from the clock" },
    { AT(timeline), 1, 1,
      "0: a server that is started on another one's files keeps the timeline (a snapshot of a disk)" },
    { AT(started), 1, 1, "0: a start of the server gives a history no new name" },
    { AT(oldest), 1, 1, "0: events are returned although an older transaction may still write some" },

    { AT(low), 3, 3,
      "the pulse's low moves up after: 1 the transactions of that time are over, 2 a look found nothing up "
      "to there (sum)" },
    { AT(stamp), 2, 2,
      "the time of a pulse: 0 from after its snapshot, 1 from before it, 2 the two are one move" },
    { AT(nextid), 1, 1,
      "0: a pulse notes its snapshot's xmax, which is not above transactions newer than all that are over" },
    { AT(unopened), 1, 1,
      "the pulse lists slots that nobody has opened; 0: all that hold rows, even if they cannot be emptied" },
    { AT(ahead), 1, 1, "0: what is asked for at once goes to the second that runs" },
    { AT(inside), 1, 1, "0: the next attempt is the next second, also after the full slot has ended" },
    { AT(leaves), 1, 1, "0: a deferred check stays in its slot" },
    { AT(elsewhere), 1, 1,
      "0: an answered check may stay in its slot where the clock, set back, says that it has not begun" },
    { AT(anew), 2, 2,
      "an occurrence that ends starts the check anew: 0 never (an engine that cannot read terms), 1 when it "
      "is done, 2 always" },
    { AT(freshid), 1, 1, "0: a check that starts anew keeps its id" },
    { AT(onward), 1, 1, "0: the next occurrence is the next by the clock, even one that has just been run" },
    { AT(carry), 1, 1, "0: a settle writes the terms that the engine has read" },
    { AT(order), ORDER_SCHEDULE_FIRST, 2,
      "locks of a check and its schedule: 0 an edit crosswise, 1 the check first, 2 the schedule first" },
    { AT(asks), 1, 1, "0: the repair does not ask again whether the schedule is on" },
    { AT(pauselock), 1, 1, "0: a settle that moves checks to a pause does not lock the pause" },
    { AT(nowait), 1, 1, "0: it waits for a transaction that resumes and has not committed" },
    { AT(pauseclosed), 1, 1, "0: a pause is deleted when its slot is empty, even if that is not closed" },
    { AT(ending), 1, 1, "0: a transaction that resumes deletes the pause, before its slot is empty" },

    { AT(within), 1, 2,
      "a delivery is filed: 0 after the settle, 1 in its transaction, 2 before it, in one of its own" },
    { AT(ekey), 3, 15,
      "the key of a delivery is made of the run and: 1 its failures as read, 2 the slot of a deferral, 4 any "
      "slot, 8 the data (sum)" },
    { AT(compare), 3, 3,
      "a consumer moves its cursor where this is as read: 1 owner and token of its lease, 2 the cursor "
      "(sum)" },
    { AT(after), 1, 1, "0: a consumer moves its cursor before its command has ended" },
    { AT(together), 1, 1,
      "0: a consumer asks in a later statement than its events up to where they may be read" },
    { AT(wtrust), 1, 1, "0: a consumer starts its command although its lease may have expired" },
    { AT(own), 1, 1, "0: a consumer gives a lease back that another has taken" },
    { AT(inmove), 1, 1,
      "0: a digest is filed when its check is run, and the cursor moves with the settle" },
    { AT(dkey), 1, 1, "0: the key of a digest has the cursor before it, and not the one after it" },

    { AT(lasts), 1, 1, "0: a place lasts as long as a lease, not trust + limit" },
    { AT(timer), 1, 1, "0: only its engine ends a run at its deadline, and no timer of the worker" },
    { AT(armed), 1, 1,
      "0: the deadline counts from the start of the job, not from the look at the windows before it" },
    { AT(single), 1, 1, "0: the pool has two of a key with workers, under one place" },
    { AT(pwindow), 1, 1, "0: a check with a key is started within the lease's window, not the place's" },
    { AT(psend), 1, 1, "0: the place's window begins with the answer, not with the request" },
    { AT(ptoken), 1, 1, "0: a place is renewed and given back by its owner, whatever the token" },
    { AT(pexpired), 1, 1, "0: a place is renewed after it has expired" },
    { AT(pnumber), 1, 1, "0: a place is renewed even if its key has no longer as many" },
    { AT(pkeep), 1, 1, "0: who lowers the number of places deletes the others" },
    { AT(pback), 2, 2,
      "a place is given back: 0 at any time, 1 by the settle, 2 after the last answer, by a statement" },
    { AT(psent), 1, 1, "0: a place is held until the answer to its giving back is there" },
    { AT(pdrop), 1, 1, "0: an engine that has lost its lease forgets the runs under it" },
    { AT(pshort), 1, 1, "0: an endless place is shortened to a lease" },
    { AT(pyoung), 1, 1, "0: places are taken at once after a failover" },
    { AT(roundend), 1, 1, "0: the first round finishes its bucket" },
    { AT(roundall), 1, 1, "0: the last round reads the heavy tenant alone, and the rest behind it" },
    { AT(roundlist), 1, 1, "0: an engine that has not opened the slot does not know the heavy tenant" },
    { AT(roundfirst), 1, 1, "0: a lease for the last round is taken before others for the first" },
    { AT(roundsettled), 1, 1, "0: the first round gives its lease back before its answers are settled" },

    { AT(strict), 1, 1, "0: a row in a closed slot is allowed if a sweep finds it" },
    { AT(prompt), 1, 1, "0: a check in a fine slot may wait for the next full slot" },
};

static int *field(struct rules *rules, size_t row)
{
    return (int *)((char *)rules + table[row].at);
}

void rules_init(struct rules *rules)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        *field(rules, i) = table[i].initial;
}

static bool set_one(struct rules *rules, const char *word, size_t length)
{
    const char *equals = memchr(word, '=', length);
    if (!equals)
        return false;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].name) == (size_t)(equals - word) &&
            !strncmp(table[i].name, word, (size_t)(equals - word))) {
            char *end;
            long value = strtol(equals + 1, &end, 10);
            *field(rules, i) = (int)value;
            return end == word + length && end > equals + 1 && value >= 0 && value <= table[i].most;
        }
    return false;
}

bool rules_set(struct rules *rules, const char *switches, const char **bad)
{
    for (const char *at = switches + strspn(switches, " "); *at;) {
        size_t length = strcspn(at, " ");
        if (!set_one(rules, at, length)) {
            *bad = at;
            return false;
        }
        at += length;
        at += strspn(at, " ");
    }
    return true;
}

void rules_list(void)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        printf("  %-10s 0 to %-2d  %2d  %s\n", table[i].name, table[i].most, table[i].initial,
               table[i].help);
}
