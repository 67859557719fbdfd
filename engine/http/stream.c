/* stream.c - see stream.h. */
#include "stream.h"

void stream_begin(struct stream *s)
{
    /* with a CR, and one byte by which it can be seen that it has more */
    *s = (struct stream){ .is_on = true, .lines.kept = STREAM_LINE_MAX + 2 };
}

bool stream_look(struct stream *s, struct request *r)
{
    lines_look(&s->lines, &r->body);
    return r->state != REQUEST_COMPLETE || lines_end(&s->lines, &r->body);
}

bool stream_has_room(const struct stream *s, const struct request *r)
{
    return r->state == REQUEST_BODY && s->lines.complete < STREAM_TOGETHER &&
           r->body.len < STREAM_TOGETHER_BYTES;
}

size_t stream_next_len(const struct stream *s, const struct request *r, int *n)
{
    int left = STREAM_LINES_MAX - s->answered;
    return lines_first(&s->lines, &r->body, left < STREAM_TOGETHER ? left : STREAM_TOGETHER, n);
}

void stream_ask(struct stream *s, struct request *r)
{
    size_t len = stream_next_len(s, r, &s->asked);
    lines_take(&s->lines, &r->body, len, s->asked);
}

int stream_tell(json_t *problem, int answered)
{
    return json_object_set_new(problem, "answered", json_integer(answered));
}

void stream_answered(struct stream *s)
{
    s->answered += s->asked;
    s->asked = 0;
}

/* What was read is asked about before anything else. */
enum stream_step stream_step(const struct stream *s, const struct request *r, bool is_at_end, bool is_ending)
{
    if (s->answered == STREAM_LINES_MAX && r->body.len)
        return STREAM_IS_TOO_LONG;
    if (s->lines.complete)
        return STREAM_ASKS;
    if (r->state == REQUEST_COMPLETE)
        return STREAM_ENDS;
    if (r->state == REQUEST_BAD)
        return STREAM_IS_BAD;
    if (is_at_end)
        return STREAM_IS_CUT;
    return is_ending ? STREAM_STOPS : STREAM_READS;
}
