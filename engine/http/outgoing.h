/* outgoing.h - bytes on their way out of a socket. All zero: none. */
#ifndef PRESCIENT_HTTP_OUTGOING_H
#define PRESCIENT_HTTP_OUTGOING_H

#include <stdbool.h>
#include "../base/bytes.h"
#include "shared_body.h"

struct outgoing {
    struct bytes bytes;             /* to be written: whoever has more adds it here */
    struct shared_body *body;       /* behind all of them, and then nothing is added; NULL: none */
    size_t sent;                    /* of both; they are taken away all at once */
};

static inline bool outgoing_is_empty(const struct outgoing *o)
{
    return !o->bytes.len && !o->body;
}

/* Shares it, as the last of what is to be written. */
void outgoing_share(struct outgoing *o, struct shared_body *body);

enum outgoing_rc { OUTGOING_GONE = -1, OUTGOING_LATER, OUTGOING_DONE };

/* Writes what the socket takes without waiting, and not more than one client may have in a turn.
 * OUTGOING_LATER: when it can be written to; OUTGOING_GONE: nobody reads there any more. */
enum outgoing_rc outgoing_write(struct outgoing *o, int fd, size_t *written);
void outgoing_free(struct outgoing *o);

#endif
