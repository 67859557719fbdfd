/* options.h - the settings of a mail, read and checked when the job is opened. */
#ifndef PRESCIENT_EMAIL_OPTIONS_H
#define PRESCIENT_EMAIL_OPTIONS_H

#include "../shared/template/template.h"
#include "session.h"

struct recipients {
    struct template **list;
    int n;
}; /* each one address, or nothing */

enum option_header_kind {
    OPTION_TEXT,
    OPTION_PLAIN,     /* ASCII: message_is_plain */
    OPTION_MAILBOX,   /* one address */
    OPTION_MAILBOXES, /* some */
};

struct option_header {
    char *name;
    enum option_header_kind kind;
    struct template *value;      /* of OPTION_TEXT and OPTION_PLAIN, else NULL */
    struct recipients mailboxes; /* of the others */
};

struct options {
    struct session_server server; /* texts are the host's */
    char *host;                   /* of the server, and its name for errors */
    char *receiver;
    int port;
    struct template *from, *subject, *text, *html; /* text or html may be NULL */
    struct recipients to, cc, bcc;
    struct option_header *headers;
    int nheaders;
    long timeout_ms;
};

/* Of one that has to be OPTION_PLAIN, and is not: what is wrong with it. */
#define OPTION_PLAIN_WORDS "has a letter that is no ASCII, or 900 bytes without a blank"

/* 0, or -1 with words. options_release in both cases. */
int options_read(struct options *o, const struct settings *s);
void options_release(struct options *o);

#endif
