/* webhook - sends each check to a URL as JSON, many at a time, and answers with what the response
 * means. Requests are signed as Standard Webhooks are, and carry an idempotency key. */
#include <prescient/job.h>

#include <curl/curl.h>
#include <stdlib.h>
#include <time.h>

#include "../shared/http/batch.h"
#include "options.h"
#include "request.h"

struct webhook {
    const struct prescient_host *host;
    struct options o;
    struct batch batch;
};

static char *webhook_aim(void *job, const struct prescient_check *check, struct prescient_answer *answer)
{
    struct webhook *w = job;
    return target_url(&w->o.target, w->host, check, answer);
}

static int webhook_prepare(void *job, struct batch_check *one, struct flight *f,
                           struct flight_request *request)
{
    struct webhook *w = job;
    return request_prepare(f, &w->o, w->host, one->check, one->answer, (int64_t)time(NULL), request);
}

/* What a receiver has answered itself; nothing is an answer, too. */
static void webhook_respond(void *job, struct batch_check *one, const struct flight *f, CURLcode rc)
{
    struct webhook *w = job;
    const struct prescient_host *host = w->host;
    bool counts = w->o.answers_json && one->answer->kind == PRESCIENT_DONE;
    if (!counts)
        return;
    if (f->is_cut)
        prescient_fail(one->answer, "its answer has more than response_max = %d bytes",
                       w->o.transport.response_max);
    else if (rc)
        prescient_fail(one->answer, "its answer was cut: %s", *f->error ? f->error : curl_easy_strerror(rc));
    else if (f->len &&
             host->answer_json(host, one->check, one->answer, f->body, f->len, PRESCIENT_NO_EFFECTS))
        prescient_fail(one->answer, "its answer: %s", host->error(host));
}

static void webhook_many(void *state, const struct prescient_check *checks, int n,
                         struct prescient_answer *answers)
{
    struct webhook *w = state;
    batch_run(&w->batch, checks, n, answers);
}

static void webhook_one(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    webhook_many(state, check, 1, answer);
}

/* ---- opening and closing ---- */

static void webhook_close(void *state)
{
    struct webhook *w = state;
    batch_release(&w->batch);
    options_release(&w->o);
    free(w);
}

static int prepare_batch(struct webhook *w, char *why, size_t why_size)
{
    w->batch = (struct batch){
        .host = w->host,
        .transport = w->o.transport,
        .job = w,
        .aim = webhook_aim,
        .prepare = webhook_prepare,
        .respond = webhook_respond,
        .final = w->o.final,
        .nfinal = w->o.nfinal,
    };
    target_apply(&w->o.target, &w->batch);
    return batch_open(&w->batch, why, why_size);
}

static int webhook_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    if (batch_begin(host, why, why_size))
        return -1;
    struct webhook *w = calloc(1, sizeof *w);
    if (!w) {
        snprintf(why, why_size, "out of memory");
        return -1;
    }
    w->host = host;
    if (options_read(&w->o, host, why, why_size) || prepare_batch(w, why, why_size)) {
        webhook_close(w);
        return -1;
    }
    *state = w;
    return 0;
}

PRESCIENT_PLUGIN(.name = "webhook", .summary = "sends checks to a URL as JSON; the response is the answer",
                 .open = webhook_open, .close = webhook_close, .job_exec = webhook_one,
                 .job_exec_many = webhook_many, .heeds_dry = 1);
