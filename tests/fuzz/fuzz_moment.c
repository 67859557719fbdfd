/* fuzz_moment.c - times and durations of any text and any number: what is read is in range, and
 * what is written reads back. */
#include "../../engine/base/moment.h"
#include "fuzz.h"

static void read_moment(const char *text, int64_t now)
{
    struct err err = { 0 };
    int64_t at = -1, again;
    char words[MOMENT_TEXT];
    if (moment_parse(text, now, &at, &err) < 0) {
        MUST(err.code == ERR_INPUT && err.text[0]);
        return;
    }
    MUST(at >= MOMENT_MIN && at <= MOMENT_MAX);
    MUST(moment_parse(moment_format(at, words), 0, &again, &err) == 0 && again == at);
}

static void read_duration(const char *text)
{
    struct err err = { 0 };
    int64_t us = -1, again;
    char words[MOMENT_TEXT];
    if (duration_parse_us(text, &us, &err) < 0) {
        MUST(err.code == ERR_INPUT && err.text[0]);
        return;
    }
    MUST(us >= 0);
    /* From a second on it is written in whole milliseconds, rounded: near the end of the range
     * that may be past it. */
    if (duration_parse_us(duration_format_us(us, words), &again, NULL) == 0)
        MUST(us < 1000000 ? again == us : again - us <= 500 && us - again <= 500);
    else
        MUST(us > INT64_MAX - 1000);
}

static void write_any(int64_t number)
{
    char words[MOMENT_TEXT];
    MUST(strlen(moment_format(number, words)) < MOMENT_TEXT);
    MUST(strlen(moment_format_us(number, words)) < MOMENT_TEXT);
    MUST(strlen(duration_format_us(number, words)) < MOMENT_TEXT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct arena *a = arena_new(1024);
    size_t len;
    int64_t number = input_i64(&in);
    char *text = input_bytes(&in, in.left, a, &len);
    read_moment(text, number < 0 || number > MOMENT_MAX ? 1772370900 : number);
    read_duration(text);
    write_any(number);
    arena_free(a);
    return 0;
}
