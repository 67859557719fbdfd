/* draft.h - the mail of one check: what its templates come to. */
#ifndef PRESCIENT_EMAIL_DRAFT_H
#define PRESCIENT_EMAIL_DRAFT_H

#include "mailbox.h"
#include "options.h"

struct draft {
    struct mailbox from;
    struct curl_slist *recipients; /* of the envelope: to, cc and bcc */
    char *bytes;
    size_t len;
};

/* 0, or -1: the check is answered. draft_release in both cases. `is_shown`: it is not to be sent,
 * and what may let others in is "***" in it. */
int draft_write(struct draft *d, const struct options *o, const struct prescient_host *host,
                const struct prescient_check *check, int64_t now, bool is_shown,
                struct prescient_answer *answer);
void draft_release(struct draft *d);

#endif
