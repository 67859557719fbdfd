/* mailbox.h - one address of a mail: "a@example.com" or "A. Name <a@example.com>". */
#ifndef PRESCIENT_EMAIL_MAILBOX_H
#define PRESCIENT_EMAIL_MAILBOX_H

enum { MAILBOX_ADDRESS_MAX = 254, MAILBOX_NAME_MAX = 200 };

struct mailbox {
    char name[MAILBOX_NAME_MAX + 1]; /* "": none */
    char address[MAILBOX_ADDRESS_MAX + 1];
};

/* Reads one: blanks around it and quotes around the name do not count. NULL, or what is wrong with
 * it. What could be a second address, or end a command, is refused. */
const char *mailbox_read(const char *text, struct mailbox *out);

#endif
