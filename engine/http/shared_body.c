/* shared_body.c - see shared_body.h. */
#include "shared_body.h"

#include <stdlib.h>
#include <string.h>

struct shared_body *shared_body_new(const char *data, size_t len)
{
    struct shared_body *b = malloc(sizeof *b + len);
    if (!b)
        return NULL;
    b->owners = 1;
    b->len = len;
    memcpy(b->data, data, len);
    return b;
}

struct shared_body *shared_body_share(struct shared_body *b)
{
    b->owners++;
    return b;
}

void shared_body_drop(struct shared_body *b)
{
    if (b && --b->owners == 0)
        free(b);
}
