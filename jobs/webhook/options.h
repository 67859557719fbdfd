/* options.h - the settings of a webhook, read and checked when the job is opened. */
#ifndef PRESCIENT_WEBHOOK_OPTIONS_H
#define PRESCIENT_WEBHOOK_OPTIONS_H

#include <stdbool.h>

#include "../shared/http/target.h"
#include "signature.h"

struct header {
    char *name; /* "X-Team: " */
    struct template *value;
};

struct options { /* other texts are the host's, and live as long */
    struct target target;
    struct transport transport;
    const char *method;
    bool has_body;                      /* this method sends one */
    bool has_type;                      /* `headers` have a Content-Type */
    bool is_filled;                     /* the body or a header is, for each check */
    struct template *body;              /* NULL: the document */
    struct header *headers;
    int nheaders;
    struct signature_key *keys;
    int nkeys;
    int *final;
    int nfinal;
    bool answers_json;
};

/* 0, or -1 with words in `why`. options_release in both cases. */
int options_read(struct options *o, const struct prescient_host *host, char *why, size_t why_size);
void options_release(struct options *o);

#endif
