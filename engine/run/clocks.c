/* clocks.c - the arithmetic of clocks.h. */
#include "clocks.h"

enum { TOLERANCE_US = 1000 * 1000, FULL_LOOK_S = 3600 };

void clocks_set(struct clocks *c, int64_t database_us, int32_t slot_length_s, int64_t full_look_at,
                int64_t mono_us)
{
    c->offset_us = database_us - mono_us;
    c->slot_length_s = slot_length_s;
    c->full_look_at = full_look_at;
    c->is_known = true;
}

int64_t clocks_now_us(const struct clocks *c, int64_t mono_us)
{
    if (c->virtual_now)
        return c->virtual_now * 1000000;
    return c->is_known ? mono_us + c->offset_us : 0;
}

int64_t clocks_now(const struct clocks *c, int64_t mono_us)
{
    return clocks_now_us(c, mono_us) / 1000000;
}

int64_t clocks_database_us(const struct clocks *c, int64_t mono_us)
{
    return mono_us + c->offset_us;
}

void clocks_compare(struct clocks *c, int64_t shown_us, int64_t took_us, int64_t mono_us)
{
    int64_t now = clocks_now_us(c, mono_us);
    if (!shown_us || c->virtual_now)
        return;
    if (shown_us > now + TOLERANCE_US || shown_us < now - took_us - TOLERANCE_US)
        c->is_doubtful = true;
}

int64_t clocks_of_boot_us(const struct clocks *c, int64_t boot_us)
{
    return boot_us - c->suspended_us + c->offset_us;
}

/* A look that lies ahead was noted before the clock was set back: it proves nothing. */
bool clocks_wants_full_look(const struct clocks *c, int64_t mono_us)
{
    int64_t now = clocks_database_us(c, mono_us) / 1000000;
    return c->full_look_at > now || now - c->full_look_at >= FULL_LOOK_S;
}

void clocks_note_full_look(struct clocks *c, int64_t mono_us)
{
    c->full_look_at = clocks_database_us(c, mono_us) / 1000000;
}
