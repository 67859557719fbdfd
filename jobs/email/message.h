/* message.h - a mail as it goes over the wire: headers, and text in quoted-printable. Lines end
 * with CR LF, and none has more than 998 bytes. No I/O and no clock. */
#ifndef PRESCIENT_EMAIL_MESSAGE_H
#define PRESCIENT_EMAIL_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "mailbox.h"

struct message_header {      /* "X-Team", "sales" */
    const char *name, *value;
    struct mailbox *list;    /* and not a value, of a header that has addresses; none: left out */
    int nlist;
    bool is_plain; /* a value that has to be: "=?" in it begins no word */
};

struct message {
    const char *key; /* what Message-ID is made of */
    int64_t now;     /* the real time, for Date */
    const struct mailbox *from, *to, *cc;
    int nto, ncc;
    const char *subject;
    const char *text, *html; /* one may be NULL */
    const struct message_header *headers;
    int nheaders;
};

/* Printable ASCII that can be folded at its blanks: a value that needs no words of RFC 2047, which
 * some headers may not have. */
bool message_is_plain(const char *text);
/* Writes it, with all headers. 0, or -1 as `out` has failed. */
int message_write(const struct message *m, FILE *out);

#endif
