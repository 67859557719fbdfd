/* share.c - see share.h. */
#include "share.h"

bool share_is_left(int most, int taken, int own)
{
    if (taken >= most)
        return false;
    return most - taken > most / SHARE_KEPT || 2 * own < taken;
}
