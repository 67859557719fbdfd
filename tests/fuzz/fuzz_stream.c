/* fuzz_stream.c - what a stream's process may write: any bytes in any pieces become lines, and
 * answers to checks in any order. Lines come whole, none is longer than allowed, and each check
 * comes back once. */
#include "../../engine/rules/answer_object.h"
#include "fuzz.h"

#include "../../jobs/exec/lines.c"
#include "../../jobs/exec/window.c"

enum { CHECKS = 64, TIMEOUT_US = 1000 };

struct stream {
    struct lines lines;
    struct window window;
    int given, back[CHECKS];
    int64_t now_us;
    char seen[64 * 1024];               /* all lines again, to be compared with what was written */
    size_t seen_len;
};

static void give(struct stream *s)
{
    char id[WINDOW_ID];
    while (s->given < CHECKS && window_has_room(&s->window)) {
        snprintf(id, sizeof id, "%d", s->given);
        window_add(&s->window, id, s->given++, s->now_us);
    }
}

static void end_overdue(struct stream *s)
{
    struct window_entry *e;
    while ((e = window_overdue(&s->window, s->now_us, TIMEOUT_US))) {
        s->back[e->place]++;
        window_give_up(&s->window, e, s->now_us);
    }
    MUST(window_deadline(&s->window, TIMEOUT_US) > s->now_us);
}

static void take_line(struct stream *s, char *line, size_t len)
{
    struct err err;
    char *id;
    MUST(len <= LINES_MAX && line[len] == '\0' && !memchr(line, '\n', len));
    MUST(s->seen_len + len + 1 <= sizeof s->seen);
    memcpy(s->seen + s->seen_len, line, len);
    s->seen_len += len;
    s->seen[s->seen_len++] = '\n';
    int rc = answer_object_member(line, len, "id", &id, &err);
    MUST(rc == 0 || rc == ERR_INPUT);
    int place = rc == 0 && id ? window_take(&s->window, id, s->now_us) : WINDOW_UNKNOWN;
    MUST(place < s->given && place >= WINDOW_UNKNOWN);
    if (place >= 0)
        s->back[place]++;
    if (rc == 0)
        free(id);
}

static void take(struct stream *s, const uint8_t *bytes, size_t n)
{
    size_t size, len;
    char *room = lines_room(&s->lines, &size), *line;
    MUST(n <= size);
    memcpy(room, bytes, n);
    lines_added(&s->lines, n);
    while ((line = lines_next(&s->lines, &len)))
        take_line(s, line, len);
    MUST(!lines_too_long(&s->lines));
}

/* The first bytes: the window, and how much comes at once and how late. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct stream *s = calloc(1, sizeof *s);
    int window = 1 + input_u8(&in) % 16, late_us = input_u8(&in) * 4;
    size_t piece = 1 + input_u8(&in), whole = in.left < 32 * 1024 ? in.left : 32 * 1024;
    const uint8_t *begin = in.p;
    MUST(s && lines_new(&s->lines) == 0);
    window_open(&s->window, window);
    for (size_t at = 0; at < whole; at += piece) {
        s->now_us += 1 + late_us;
        give(s);
        take(s, begin + at, whole - at < piece ? whole - at : piece);
        end_overdue(s);
        MUST(s->window.n <= window && window_waiting(&s->window) <= s->window.n);
    }
    MUST(s->seen_len <= whole && (!s->seen_len || memcmp(s->seen, begin, s->seen_len) == 0));
    for (int place; (place = window_pop(&s->window)) >= 0;)
        s->back[place]++;
    for (int i = 0; i < s->given; i++)
        MUST(s->back[i] == 1);
    lines_free(&s->lines);
    free(s);
    return 0;
}
