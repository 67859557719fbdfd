/* post_lines.c - see post_lines.h. */
#include "post_lines.h"

#include <inttypes.h>
#include <string.h>

#include "post_batch.h"
#include "stream.h"

/* Of the answers to what is asked together, those bytes may be problems that name each member at
 * fault; further ones name the first alone. */
enum { TOLD_BYTES_MAX = 256 * 1024 };

struct line {
    const char *text;               /* with a line feed behind it */
    size_t len;
    struct answer answer;           /* body NULL: it is empty, and has none */
};

struct page {
    struct line lines[EXCHANGE_MOST];
    int n;
    uint32_t first;                 /* the number of the first in the body of the request */
    size_t told;                    /* bytes of problems */
    struct post_batch batch;
};

/* ---- reading ---- */

/* As JSON has white space; a line that ends with CR LF has a CR. */
static bool is_blank(const struct line *line)
{
    return strspn(line->text, " \t\r") == line->len;
}

/* False: these are not lines, or too many. */
static bool split(struct page *page, const struct question *q)
{
    const char *at = q->body, *end = q->body + q->body_len;
    page->first = q->line;
    for (page->n = 0; at < end && page->n < EXCHANGE_MOST; page->n++) {
        const char *lf = memchr(at, '\n', (size_t)(end - at));
        if (!lf)
            return false;
        page->lines[page->n] = (struct line){ .text = at, .len = (size_t)(lf - at) };
        at = lf + 1;
    }
    return at == end;
}

static void refuse(struct desk *desk, struct page *page, struct line *line, enum problem_type type,
                   json_t *problem)
{
    if (problem && page->told > TOLD_BYTES_MAX)
        json_object_del(problem, "errors");
    desk_refuse(desk, &line->answer, type, problem);
    page->told += line->answer.body_len;
}

static json_t *parse(struct desk *desk, struct page *page, struct line *line)
{
    json_error_t why;
    json_t *object = json_loadb(line->text, line->len, JSON_REJECT_DUPLICATES, &why);
    if (object)
        return object;
    const char *detail = desk_parse_fault(desk, "the line", &why);
    if (detail)
        detail = arena_printf(desk->arena, "%s (column %d)", detail, why.column);
    refuse(desk, page, line, PROBLEM_BAD_REQUEST, detail ? problem_new(PROBLEM_BAD_REQUEST, detail) : NULL);
    return NULL;
}

/* What is parsed takes many times the memory of its text: of a thousand lines only the texts that
 * are filed stay. That of the payload is a copy already. False: there is no memory. */
static bool keep_texts(struct arena *a, struct post_item *item)
{
    struct load_row *row = &item->row;
    const char **const texts[] = { &item->uniqid, &item->conflict, &row->entity_name, &row->entity_key,
                                   &row->job_exec, &row->concurrency_key, &row->tenant };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = *texts[i];
        *texts[i] = arena_strdup(a, text);
        if (text && !*texts[i])
            return false;
    }
    return true;
}

static int take_check(struct desk *desk, struct page *page, struct line *line, const json_t *object,
                      struct err *err)
{
    struct post_batch *b = &page->batch;
    struct asked_check asked = { 0 };
    int rc = post_read_check(desk, object, NULL, "", &asked, err);
    if (rc < 0) {
        json_decref(asked.problem);
    } else if (asked.problem) {
        refuse(desk, page, line, asked.type, asked.problem);
    } else if (keep_texts(desk->arena, &asked.item)) {
        b->items[b->n] = asked.item;
        b->answers[b->n++] = &line->answer;
    } else {
        rc = err_set(err, ERR_NOMEM, "out of memory");
    }
    return rc;
}

/* One that is wrong is answered, and is not among those that are filed. */
static int read_line(struct desk *desk, struct page *page, struct line *line, struct err *err)
{
    static const char too_long[] = "the line is longer than 65536 bytes; send a larger check alone";
    size_t len = line->len - (line->len && line->text[line->len - 1] == '\r');
    if (len > STREAM_LINE_MAX) {
        refuse(desk, page, line, PROBLEM_TOO_LARGE, problem_new(PROBLEM_TOO_LARGE, too_long));
        return 0;
    }
    json_t *object = is_blank(line) ? NULL : parse(desk, page, line);
    int rc = object ? take_check(desk, page, line, object, err) : 0;
    json_decref(object);
    return rc;
}

/* ---- answering ---- */

/* A problem, as it was written, with one more member. */
static void put_problem(char **to, const struct answer *problem, const char *member, uint32_t number)
{
    size_t len = problem->body_len - strlen("}\n");
    memcpy(*to, problem->body, len);
    *to += len;
    *to += sprintf(*to, ",\"%s\":%" PRIu32 "}\n", member, number);
}

enum { MEMBER_BYTES = 40 };

static void join(struct desk *desk, const struct page *page, struct answer *answer)
{
    size_t len = 1;
    for (int i = 0; i < page->n; i++)
        len += page->lines[i].answer.body_len + MEMBER_BYTES;
    char *body = arena_alloc(desk->arena, len), *to = body;
    if (!body) {
        desk_refuse(desk, answer, PROBLEM_AWAY, NULL);
        return;
    }
    for (int i = 0; i < page->n; i++) {
        const struct answer *of_line = &page->lines[i].answer;
        if (of_line->content == CONTENT_PROBLEM)
            put_problem(&to, of_line, "line", page->first + (uint32_t)i);
        else if (of_line->body)
            to = mempcpy(to, of_line->body, of_line->body_len);
    }
    *answer = (struct answer){ .status = 200, .content = CONTENT_NDJSON, .body = body,
                               .body_len = (uint32_t)(to - body) };
}

/* All lines before these are answered. */
static void fail(struct desk *desk, uint32_t first, struct answer *answer, const struct err *err)
{
    desk_failed(desk, answer, err);
    char *body = arena_alloc(desk->arena, answer->body_len + MEMBER_BYTES), *to = body;
    if (!body)
        return;
    put_problem(&to, answer, "answered", first - 1);
    answer->body = body;
    answer->body_len = (uint32_t)(to - body);
}

static int answer_lines(struct desk *desk, struct page *page, struct err *err)
{
    int rc = 0;
    page->batch.n = 0;
    page->told = 0;
    for (int i = 0; i < page->n && rc == 0; i++)
        rc = read_line(desk, page, &page->lines[i], err);
    if (rc == 0 && page->batch.n)
        rc = post_batch_file(desk, &page->batch, err);
    return rc;
}

void post_lines_answer(struct desk *desk, const struct question *questions, int n, struct answer *answers)
{
    struct err err = { 0 };
    struct page *page = arena_alloc(desk->arena, sizeof *page);
    (void)n;
    int rc = page ? 0 : err_set(&err, ERR_NOMEM, "out of memory");
    if (rc == 0 && !split(page, questions))
        rc = err_set(&err, ERR_GENERAL, "a process of this server has sent what are no lines");
    if (rc == 0)
        rc = answer_lines(desk, page, &err);
    if (rc == 0)
        join(desk, page, answers);
    else
        fail(desk, questions->line, answers, &err);
}
