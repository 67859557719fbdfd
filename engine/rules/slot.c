/* slot.c - which slot a moment falls in, and when that slot closes. Arithmetic only: no store and
 * no clock; the caller brings the time. */
#include "slot.h"

#include <stdio.h>

#include "../base/saturate.h"

#define DAY_S 86400

bool slot_length_is_valid(int64_t length_s)
{
    return length_s >= SLOT_LENGTH_MIN_S && length_s <= SLOT_LENGTH_MAX_S && DAY_S % length_s == 0;
}

/* Seconds since the slot at `at` began; never negative. */
static int64_t seconds_into_slot(int64_t at, int64_t length_s)
{
    int64_t into = at % length_s;
    return into < 0 ? into + length_s : into;
}

/* Near the ends of int64_t, where that slot cannot be written, the outermost one that can be. */
int64_t slot_floor(int64_t at, int32_t length_s)
{
    int64_t length = length_s < 1 ? 1 : length_s, slot;
    int64_t into = seconds_into_slot(at, length);
    return __builtin_sub_overflow(at, into, &slot) ? at + (length - into) : slot;
}

int64_t slot_ceil(int64_t at, int32_t length_s)
{
    int64_t length = length_s < 1 ? 1 : length_s, slot;
    int64_t into = seconds_into_slot(at, length);
    if (into == 0)
        return at;
    return __builtin_add_overflow(at, length - into, &slot) ? at - into : slot;
}

int64_t slot_next(int64_t now, int32_t length_s)
{
    return slot_ceil(saturate_add(now, 1), length_s);
}

int64_t slot_for(int64_t at, int64_t now, int32_t length_s)
{
    int64_t wanted = slot_ceil(at, length_s);
    return wanted > now ? wanted : slot_next(now, length_s);
}

int64_t slot_fine_next(int64_t now, int32_t length_s)
{
    return slot_fine_for(INT64_MIN, now, length_s);
}

int64_t slot_fine_for(int64_t at, int64_t now, int32_t length_s)
{
    int64_t open = saturate_add(now, 1), slot = at > open ? at : open;
    return slot_is_fine(slot, length_s) || length_s <= 1 ? slot : saturate_add(slot, 1);
}

/* The next slot of its kind that has not begun. */
static int64_t next_in_turn(int64_t wanted, int64_t now, bool is_attempt, int32_t length_s)
{
    int64_t fine = slot_fine_next(now, length_s);
    bool is_outside = slot_floor(fine, length_s) != slot_floor(wanted, length_s);
    if (slot_is_fine(wanted, length_s) && !(is_attempt && is_outside))
        return fine;
    return slot_next(now, length_s);
}

int64_t slot_moved_in_turn(const struct slot_move *m, int32_t length_s)
{
    int64_t slot = m->wanted;
    if (slot <= m->now)
        slot = next_in_turn(m->wanted, m->now, m->is_attempt, length_s);
    return slot == m->left ? next_in_turn(m->left, m->left, m->is_attempt, length_s) : slot;
}

bool slot_has_passed(int64_t at, int64_t now, int32_t length_s)
{
    return at < now && slot_ceil(at, length_s) <= now;
}

bool slot_is_served(int64_t slot, const int *serve, int n)
{
    int minute = (int)(seconds_into_slot(slot, 3600) / 60);
    for (int i = 0; i < n; i++)
        if (serve[i] == minute)
            return true;
    return n <= 0;
}

/* Slots begin at multiples of this in an hour. Where a length does not divide an hour, they begin
 * at different minutes in different hours. */
static int32_t grid_in_hour(int32_t length_s)
{
    int32_t a = 3600, b = length_s < 1 ? 1 : length_s;
    while (b) {
        int32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

bool slot_begins_in_minute(int minute, int32_t length_s)
{
    int32_t grid = grid_in_hour(length_s), first = minute * 60 + grid - 1;
    return first / grid * grid < (minute + 1) * 60;
}

static size_t add_number(char *message, size_t size, size_t at, const char *before, int number)
{
    int n = at < size ? snprintf(message + at, size - at, "%s%d", before, number) : 0;
    return at + (size_t)(n > 0 ? n : 0);
}

int slot_serve_mistakes(const int *serve, int n, int32_t length_s, char *message, size_t size)
{
    int mistakes = 0;
    size_t at = 0;
    message[0] = '\0';
    for (int i = 0; i < n; i++)
        if (!slot_begins_in_minute(serve[i], length_s))
            at = add_number(message, size, at,
                            mistakes++ ? ", " : "serve names minutes in which no slot begins: ", serve[i]);
    const char *before = "; slots begin in the minutes ";
    for (int minute = 0; mistakes && minute < 60; minute++)
        if (slot_begins_in_minute(minute, length_s)) {
            at = add_number(message, size, at, before, minute);
            before = ", ";
        }
    return mistakes;
}
