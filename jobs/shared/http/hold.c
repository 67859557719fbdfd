/* hold.c - one hold for a receiver: the longest that is wanted. */
#include "hold.h"

#include <stdio.h>
#include <stdlib.h>

enum { FULL_S = 60 };                  /* a full slot begins with a full minute, if it is that long */

static void begin(struct hold *h, int64_t now_us, int64_t wait_s, bool is_asked)
{
    if (now_us + wait_s * 1000000 <= h->until_us)
        return;
    h->until_us = now_us + wait_s * 1000000;
    h->length_s = wait_s;
    h->is_asked = is_asked;
    h->why = is_asked ? "it has asked for a pause" : "it could not be reached three times in a row";
}

void hold_asked(struct hold *h, int64_t now_us, int64_t wait_s, bool is_tried)
{
    if (now_us >= h->until_us)
        h->asked = 0;
    begin(h, now_us, wait_s, true);
    if (!is_tried || !h->asked)
        hold_tried(h);
}

void hold_unreachable(struct hold *h, int64_t now_us)
{
    if (now_us < h->until_us || ++h->failures < HOLD_FAILURES)
        return;
    h->failures = 0;
    h->pause_s = h->pause_s ? h->pause_s * 2 : HOLD_FIRST_S;
    if (h->pause_s > HOLD_MAX_S)
        h->pause_s = HOLD_MAX_S;
    begin(h, now_us, h->pause_s, false);
}

void hold_answered(struct hold *h)
{
    h->failures = 0;
    h->pause_s = 0;
}

int64_t hold_spread_s(int64_t wait_s, const char *id)
{
    char digits[9];
    snprintf(digits, sizeof digits, "%.8s", id);
    return (int64_t)(strtoul(digits, NULL, 16) % (unsigned long)(wait_s / 10 + 1));
}

int64_t hold_wait_s(const struct hold *h, int64_t now_us, const char *id)
{
    if (now_us >= h->until_us)
        return 0;
    return (h->until_us - now_us + 999999) / 1000000 + hold_spread_s(h->length_s, id);
}

bool hold_lets_try(const struct hold *h, int most)
{
    return h->is_asked && h->asked < most;
}

void hold_tried(struct hold *h)
{
    h->asked++;
}

int64_t hold_second_of_turn(int64_t at)
{
    return at | 1;
}

int64_t hold_second_of_others(int64_t at)
{
    at = hold_second_of_turn(at) + 1;
    return at % FULL_S ? at : at + 2;
}

bool hold_is_turn(int64_t slot, int64_t first_check_at, int failure_count)
{
    return (slot & 1) && slot != first_check_at && !failure_count;
}

/* All are whole seconds, which had partly gone by: one more, or they would come before the time is
 * over, and be put off again. */
int64_t hold_over_at(int64_t now, int64_t passed_us, int64_t real_s, int64_t wait_s)
{
    int64_t later = now + passed_us / 1000000;
    if (real_s > later && real_s - later <= HOLD_LATE_S)
        later = real_s;
    return later + wait_s + 1;
}
