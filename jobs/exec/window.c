/* window.c - the entries stand in the order in which they were written. */
#include "window.h"

#include <stdio.h>
#include <string.h>

#define SECOND_US INT64_C(1000000)

void window_open(struct window *w, int size)
{
    *w = (struct window){ .size = size };
}

bool window_has_room(const struct window *w)
{
    return w->n < w->size;
}

int window_waiting(const struct window *w)
{
    int n = 0;
    for (int i = 0; i < w->n; i++)
        n += !w->entries[i].is_given_up;
    return n;
}

bool window_gave_up(const struct window *w, const char *id)
{
    for (int i = 0; i < w->n; i++)
        if (w->entries[i].is_given_up && !strcmp(w->entries[i].id, id))
            return true;
    return false;
}

/* The first of them has certainly been begun. */
static void begin_first(struct window *w, int64_t now_us)
{
    for (int i = 0; i < w->n; i++) {
        struct window_entry *e = &w->entries[i];
        if (e->is_given_up)
            continue;
        if (!e->begun_us)
            e->begun_us = now_us;
        return;
    }
}

void window_add(struct window *w, const char *id, int place, int64_t now_us)
{
    struct window_entry *e = &w->entries[w->n++];
    *e = (struct window_entry){ .place = place };
    snprintf(e->id, sizeof e->id, "%s", id);
    w->given++;
    begin_first(w, now_us);
}

static void drop(struct window *w, int i)
{
    w->n--;
    memmove(w->entries + i, w->entries + i + 1, (size_t)(w->n - i) * sizeof *w->entries);
}

static int find_entry(const struct window *w, const char *id)
{
    for (int i = 0; i < w->n; i++)
        if (!strcmp(w->entries[i].id, id))
            return i;
    return -1;
}

static bool was_answered(const struct window *w, const char *id)
{
    for (int i = 0; i < WINDOW_REMEMBERED; i++)
        if (*w->remembered[i] && !strcmp(w->remembered[i], id))
            return true;
    return false;
}

int window_take(struct window *w, const char *id, int64_t now_us)
{
    int i = find_entry(w, id);
    if (i < 0)
        return was_answered(w, id) ? WINDOW_TWICE : WINDOW_UNKNOWN;
    int place = w->entries[i].is_given_up ? WINDOW_LATE : w->entries[i].place;
    memcpy(w->remembered[w->answered++ % WINDOW_REMEMBERED], w->entries[i].id, WINDOW_ID);
    w->answered_us = now_us;
    for (int before = 0; before < i; before++)
        if (!w->entries[before].begun_us)
            w->entries[before].begun_us = now_us;
    drop(w, i);
    begin_first(w, now_us);
    return place;
}

static bool is_timed(const struct window_entry *e)
{
    return e->begun_us && !e->is_given_up;
}

int64_t window_deadline(const struct window *w, int64_t timeout_us)
{
    int64_t first = INT64_MAX;
    for (int i = 0; i < w->n; i++)
        if (is_timed(&w->entries[i]) && w->entries[i].begun_us + timeout_us < first)
            first = w->entries[i].begun_us + timeout_us;
    return first;
}

struct window_entry *window_overdue(struct window *w, int64_t now_us, int64_t timeout_us)
{
    for (int i = 0; i < w->n; i++)
        if (is_timed(&w->entries[i]) && w->entries[i].begun_us + timeout_us <= now_us)
            return &w->entries[i];
    return NULL;
}

bool window_hangs(const struct window *w, const struct window_entry *overdue)
{
    return w->answered_us <= overdue->begun_us;
}

void window_give_up(struct window *w, struct window_entry *overdue, int64_t now_us)
{
    overdue->is_given_up = true;
    begin_first(w, now_us);
}

int window_pop(struct window *w)
{
    while (w->n) {
        struct window_entry first = w->entries[0];
        drop(w, 0);
        if (!first.is_given_up)
            return first.place;
    }
    return -1;
}

void restart_ended(struct restart *r, const struct window *w, int64_t now_us)
{
    bool did_well = w->answered > 0;
    r->pause_s = did_well || !r->pause_s ? RESTART_FIRST_S : r->pause_s * 2;
    if (r->pause_s > RESTART_MAX_S)
        r->pause_s = RESTART_MAX_S;
    r->at_us = now_us + r->pause_s * SECOND_US;
}
