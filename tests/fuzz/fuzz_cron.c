/* fuzz_cron.c - any text as a cron text: what is read has times that match it, none is left out,
 * and they go forward. */
#include "../../engine/base/calendar.h"
#include "../../engine/base/utf8.h"
#include "../../engine/rules/cron.h"
#include "fuzz.h"

enum { MINUTES = 3000 };

static struct zone *utc;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return zone_read("UTC", &utc, NULL);
}

/* What cron.h promises of one minute, said in another way than the search has it. */
static bool matches(const struct cron *c, int64_t at)
{
    int64_t day = calendar_day_of(at);
    int minute = calendar_second_of_day(at) / 60;
    struct calendar_date date = calendar_date_of(day);
    bool by_day = c->days & 1u << date.day, by_weekday = c->weekdays & 1u << calendar_weekday(day);
    bool that_day = c->either_day ? by_day || by_weekday : by_day && by_weekday;
    return at % 60 == 0 && that_day && c->months & 1u << date.month && c->hours & 1u << minute / 60 &&
           c->minutes & UINT64_C(1) << minute % 60;
}

static void check_times(const struct cron *c, int64_t after)
{
    int64_t next = cron_next(c, utc, after);
    if (next == 0) {
        MUST(after > CRON_LAST - 41 * 366 * CALENDAR_DAY_S);
        return;
    }
    MUST(next > after && next <= CRON_LAST && matches(c, next));
    int64_t minute = after / 60 * 60 + 60;
    for (int i = 0; i < MINUTES && minute < next; i++, minute += 60)
        MUST(!matches(c, minute));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct arena *a = arena_new(1024);
    struct cron c = { .minutes = 0 };
    struct err err = { 0 };
    size_t len;
    int64_t after = (int64_t)((uint64_t)input_i64(&in) % (uint64_t)CRON_LAST);
    const char *text = input_bytes(&in, in.left, a, &len);
    if (cron_parse(text, &c, &err) < 0) {
        MUST(err.code == ERR_INPUT && err.text[0] && c.minutes == 0);
        MUST(!utf8_is_valid(text, strlen(text)) || utf8_is_valid(err.text, strlen(err.text)));
    } else {
        MUST(c.minutes && c.hours && c.days && c.months && c.weekdays);
        check_times(&c, after);
    }
    arena_free(a);
    return 0;
}
