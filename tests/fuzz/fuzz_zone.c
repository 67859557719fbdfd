/* fuzz_zone.c - any bytes as a TZif file: what is read is a row of spans without a hole, and times
 * of a cron text in it go forward. */
#include "../../engine/base/moment.h"
#include "../../engine/base/zone.h"
#include "../../engine/rules/cron.h"
#include "fuzz.h"

enum { SPANS = 6000, TIMES = 40 };

static void check_span(const struct zone *z, const struct zone_span *span, int64_t at)
{
    MUST(span->begins <= at && (at < span->ends || span->ends == INT64_MAX));
    MUST(span->offset_s > -26 * 3600 && span->offset_s < 26 * 3600);
    struct zone_span first = zone_span(z, span->begins), last = zone_span(z, span->ends - 1);
    MUST(first.begins == span->begins && first.ends == span->ends && first.offset_s == span->offset_s);
    MUST(last.begins == span->begins && last.ends == span->ends && last.offset_s == span->offset_s);
}

static void walk(const struct zone *z)
{
    int64_t at = INT64_MIN;
    for (int i = 0; i < SPANS; i++) {
        struct zone_span span = zone_span(z, at);
        MUST(span.begins == at);
        check_span(z, &span, at);
        if (span.ends == INT64_MAX)
            return;
        at = span.ends;
    }
}

static void run(const struct zone *z, const char *text, int64_t at)
{
    struct cron c;
    MUST(cron_parse(text, &c, NULL) == 0);
    for (int i = 0; i < TIMES && at; i++) {
        int64_t next = cron_next(&c, z, at);
        MUST(next == 0 || (next > at && next <= CRON_LAST));
        MUST(next == 0 || cron_next(&c, z, next - 1) == next);
        at = next;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct zone *z = NULL;
    struct err err = { 0 };
    int64_t at = (int64_t)((uint64_t)input_i64(&in) % (uint64_t)MOMENT_MAX);
    if (zone_parse("Fuzz/Zone", in.p, in.left, &z, &err) < 0) {
        MUST(err.code == ERR_INPUT && err.text[0] && !z);
        return 0;
    }
    walk(z);
    check_span(z, &(struct zone_span[]){ zone_span(z, at) }[0], at);
    run(z, "*/7 * * * *", at);
    run(z, "30 2 * * *", at);
    run(z, "15,45 1-2 29 2 1", at);
    zone_free(z);
    return 0;
}
