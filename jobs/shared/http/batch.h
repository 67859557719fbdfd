/* batch.h - sends the requests of many checks at a time: each has its own timeout, each answer is
 * handed over when it is there, and a receiver that wants nothing now is not asked for each. */
#ifndef PRESCIENT_SHARED_BATCH_H
#define PRESCIENT_SHARED_BATCH_H

#include <prescient/job.h>

#include "flight.h"
#include "receivers.h"
#include "response.h"
#include "transport.h"

struct batch_check { /* one check of a batch */
    const struct prescient_check *check;
    struct prescient_answer *answer;
    struct receiver *receiver;
    char *url;
    bool is_tried;  /* sent in its turn, though others were sent away */
    long filled_ms; /* what it took itself before it could be sent: of its own time */
};

struct batch { /* of one job, from open to close */
    const struct prescient_host *host;
    struct transport transport;
    struct address_rules rules; /* with has_rules: of addresses */
    bool has_rules;
    const char **hosts; /* patterns; none other is sent to, unless there are none */
    int nhosts;
    void *job; /* what the functions get */

    /* Where the request of a check goes: a URL, to be freed; NULL: it has answered the check. */
    char *(*aim)(void *job, const struct prescient_check *check, struct prescient_answer *answer);
    /* Begins the flight, adds headers, and fills the request but for URL and addresses. What it
     * allocates is left to f->sent. -1: it has answered the check. */
    int (*prepare)(void *job, struct batch_check *one, struct flight *f, struct flight_request *request);
    /* A response has come, or a part of one (rc: why not all of it). The answer has been set by
     * what the status means, with a note; another one may be set. May be NULL. */
    void (*respond)(void *job, struct batch_check *one, const struct flight *f, CURLcode rc);
    /* For a job that asks how a receiver does: no status has a meaning of its own, nothing is
     * put off, and both functions answer. `why` is that of a receiver that could not be reached. */
    bool judges_itself;
    void (*unreached)(void *job, struct batch_check *one, const char *why, int64_t took_ms);
    bool hides_path; /* of a URL, where the request is shown: it lets others in */
    /* What the status means: statuses of `final` are failures for good. */
    const int *final;
    int nfinal;

    /* Its own. */
    CURLM *multi;
    struct flight *flights; /* transport.in_flight of them */
    struct receivers receivers;
};

/* Before all else: 0, or -1 with words: this engine has not what a batch needs. */
int batch_begin(const struct prescient_host *host, char *why, size_t why_size);
/* After the settings. 0, or -1 with words. batch_release in both cases, and also of one that is all
 * 0. */
int batch_open(struct batch *b, char *why, size_t why_size);
void batch_release(struct batch *b);

/* Answers them all. */
void batch_run(struct batch *b, const struct prescient_check *checks, int n,
               struct prescient_answer *answers);

#endif
