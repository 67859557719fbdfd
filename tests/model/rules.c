/* rules.c - the table of switches: one row each, with its default, the most it can be, and what
 * another value means. */
#include "rules.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) #field, offsetof(struct rules, field)

static const struct { const char *name; size_t at; int otherwise, most; const char *help;
} table[] = {
    { AT(slots), 2, 3, "slots 1 to n (at most 3)" },
    { AT(split), 1, 2, "most leases a slot is split into (1 or 2)" },
    { AT(page), 2, 2, "rows of a page" },
    { AT(checks), 2, 2, "checks that are filed from the start, under slot 1" },
    { AT(first), 1, 3, "the slot that check 0 is filed under instead" },
    { AT(app), 0, 63,
      "the application may: 1 enqueue, 2 resolve, 4 replace, 8 enqueue with keep, 16 with earlier, 32 INSERT "
      "into a begun slot (sum)" },
    { AT(txns), 1, 3, "how many transactions of the application" },
    { AT(answers), 1, 7, "besides DONE jobs may answer: 1 AGAIN, 2 FAIL, 4 DEFER (sum)" },
    { AT(far), 0, 1, "AGAIN may also be for the slot after the next one" },
    { AT(unknown), 0, 1, "check 1 has a job that engine B does not know" },
    { AT(reslot), 0, 1, "the sweep may move checks on instead of running them" },
    { AT(lanes), 0, 1, "the two engines are two connections of one process: one owner" },
    { AT(early), 0, 1, "engines' clocks run ahead: they ask for a slot before it begins" },
    { AT(prune), 0, 1, "closed slots are trimmed" },
    { AT(events), 0, 1, "a settle writes an event, and a consumer reads on behind its cursor, at any time" },
    { AT(lease), 2, 6, "how long a lease lasts, in ticks" },
    { AT(trust), 1, 3, "how long a worker may start jobs after the lease was asked for, in ticks" },
    { AT(patience), 2, 7, "how long a lease that does not end is watched before it is taken over, in ticks" },

    { AT(faults), 1, 7, "how many faults in all" },
    { AT(kill), 0, 1, "an engine is killed and started anew" },
    { AT(freeze), 0, 1, "an engine stands still, alone or with its worker, and may wake" },
    { AT(cut), 0, 1, "a connection is lost under a call: the request is executed later, or never" },
    { AT(stop), 0, 1, "an engine is told to stop: it settles what runs and gives its lease back (no fault)" },
    { AT(broken), 0, 1, "an engine's workers fail for a moment: what waits for them is let go" },
    { AT(failover), 0, 2, "the database fails over: 1 synchronous, 2 losing its last commits" },
    { AT(copy), 0, 1, "what a failover went back to is a copy that stays: it may be gone back to again" },
    { AT(back), 0, 1, "the database's clock is set back by a slot" },
    { AT(forth), 0, 1, "the database's clock is set forward by a slot, past all leases" },

    { AT(token), 1, 1, "0: a settle does not look at the lease" },
    { AT(owner), 1, 1, "0: of owner and token only the token is compared" },
    { AT(share), 1, 1, "0: that look does not keep a takeover out (KEY SHARE)" },
    { AT(message), 1, 1, "0: a settle is several messages, and waits for its client between them" },
    { AT(ownread), 1, 1, "0: the first page is read by the statement that takes the lease" },
    { AT(begun), 1, 1, "0: a slot is opened whatever the database's clock says" },
    { AT(asread), 7, 7, "a settle compares: 1 slot, 2 check_count, 4 failure_count (sum)" },
    { AT(newid), 1, 1, "0: replace keeps the row's id" },
    { AT(clamp), 1, 1, "0: a settle files a check where the answer said, though that slot may have begun" },
    { AT(idfirst), 1, 1, "0: an enqueue reads the clock before it has a transaction id" },
    { AT(settleid), 1, 1, "0: a settle reads the clock before it has a transaction id" },
    { AT(againat), 1, 1, "0: keep changes nothing on a row whose slot has begun" },
    { AT(keptlock), 1, 1, "0: keep takes no lock on a row whose slot has not begun, and engines run it" },
    { AT(pull), 1, 1, "0: a settle that moves a check does not look at again_at" },
    { AT(relook), 1, 1, "0: a slot is closed when its last bucket is finished" },
    { AT(reopen), REOPEN_SEEN, 2,
      "a closed slot of which a lease is taken: 0 stays closed, 1 is open again, 2 and has to be looked at "
      "again" },
    { AT(beyond), 1, 1, "0: finish looks at the whole bucket, and what it finds is read from the start" },
    { AT(complete), 1, 1, "0: no bucket is complete, and every slot is looked at before it is closed" },
    { AT(server), 1, 2,
      "after a failover: 0 a bucket may still be complete, 1 not, 2 and the settle finds the lease lost" },
    { AT(xlate), 1, 1, "0: open_slot has its transaction id before it sees that the slot has begun" },
    { AT(sweep), SWEEP_LEASED, 3,
      "0 none, 1 under the slot's leases, 2 under the row's own bucket, 3 without a lease" },
    { AT(full), 1, 1, "the sweep looks at all slots; 0: only from its mark on" },
    { AT(noted), 1, 1,
      "0: the mark moves at once, not when the transactions are over that may still write below it" },
    { AT(renewfirst), 1, 1,
      "0: an engine whose connection was lost goes on before it has renewed its lease" },
    { AT(lockclock), 1, 1,
      "0: keep and earlier ask whether a slot has begun by the clock from before they waited for the row" },
    { AT(fromsend), 1, 1, "0: trust is counted from the answer" },
    { AT(slabtrust), 1, 1, "0: a worker does not look at the trust window" },
    { AT(boottime), 1, 1, "0: the trust clock stands still while the process does" },
    { AT(winddown), 1, 1, "0: checks let go while no worker was ready count as done with" },
    { AT(trimlook), 1, 1, "0: a closed slot is trimmed although it holds rows or leases" },
    { AT(generation), 1, 1, "0: events are in the order of transaction ids, whatever history these are of" },
    { AT(genclock), 1, 1, "0: a new generation is the next number, and does not follow the clock" },
    { AT(timeline), 1, 1,
      "0: what is gone back to does not know it (a snapshot of a disk): its history has no new name" },
    { AT(oldest), 1, 1, "0: events are shown although an older transaction may still write some" },

    { AT(strict), 1, 1, "0: a row in a closed slot is no fault as long as a sweep finds it" },
};

static int *field(struct rules *rules, size_t row)
{
    return (int *)((char *)rules + table[row].at);
}

void rules_init(struct rules *rules)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        *field(rules, i) = table[i].otherwise;
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

bool rules_set(struct rules *rules, const char *words, const char **bad)
{
    for (const char *at = words + strspn(words, " "); *at;) {
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
        printf("  %-10s 0 to %-2d  %2d  %s\n", table[i].name, table[i].most, table[i].otherwise,
               table[i].help);
}
