/* front_metrics.c - see front_metrics.h. */
#include "front_metrics.h"

#include "asked_metrics.h"

/* Who asks for metrics is told by then that the store cannot be asked. */
#define WITHIN_US (INT64_C(5) * 1000 * 1000)

/* The front's part comes last. False: there was no memory for it. */
static bool put_counts(const struct front_metrics *m, struct bytes *out, enum metrics_format format)
{
    struct metrics_text t = { .out = out, .format = format };
    counts_write(m->counts, &t);
    metrics_end(&t);
    return !t.has_failed;
}

static enum metrics_format format_of(const struct connection *c)
{
    return metrics_format_wanted(c->request.headers[REQUEST_ACCEPT]);
}

static void refuse(struct connection *c)
{
    connection_refuse(c, PROBLEM_AWAY, "", "there is no memory for this just now");
}

void front_metrics_ask(const struct front_metrics *m, struct connection *c, int64_t now_us)
{
    if (!put_counts(m, &c->request.body, format_of(c))) {
        refuse(c);
        return;
    }
    backends_ask(m->backends, c);
    agenda_set(m->agenda, &c->alarm, now_us + WITHIN_US);
}

void front_metrics_late(const struct front_metrics *m, struct connection *c)
{
    struct bytes out = { 0 };
    enum metrics_format format = format_of(c);
    struct metrics_text t = { .out = &out, .format = format };
    backends_forget(m->backends, c);
    metrics_of_store(&t, NULL, VERSION, NULL);
    if (t.has_failed || !put_counts(m, &out, format))
        refuse(c);
    else
        connection_answer(c, &(struct answer){ .status = 200, .body = out.data, .body_len = (uint32_t)out.len,
                                               .content = (uint16_t)asked_metrics_content(format) }, "");
    bytes_free(&out);
    connection_turn(c, false, false);
}
