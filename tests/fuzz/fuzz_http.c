/* fuzz_http.c - what a client sends over a connection, any bytes in pieces of any size: the pieces
 * make no difference, one request ends where the next begins, and nothing is larger than its bound.
 * Queries of what is read are decoded, too. */
#include "../../engine/base/utf8.h"
#include "../../engine/http/query.h"
#include "../../engine/http/request.h"
#include "fuzz.h"

enum { REQUESTS = 64 };

struct seen { char *path; size_t body_len; uint64_t end; int has_body; };

struct reading {
    struct seen requests[REQUESTS];
    int n;
    enum request_state state;           /* of the last one */
    enum problem_type problem;
};

static void read_a_query(const char *text)
{
    static const char *const known[] = { "a", "b", "entity", "key", NULL };
    struct query q;
    struct err err;
    struct arena *a = arena_new(1024);
    int rc = query_read(&q, text, known, a, &err);
    MUST(rc == 0 || rc == ERR_INPUT);
    for (int i = 0; rc == 0 && i < q.n; i++)
        MUST(utf8_is_valid(q.values[i].value, strlen(q.values[i].value)));
    if (rc)
        MUST(utf8_is_valid(err.text, strlen(err.text)));
    arena_free(a);
}

static void look_at_head(const struct request *r)
{
    MUST(r->path[0] == '/' && !strchr(r->path, '?'));
    MUST(r->head.len <= REQUEST_HEAD_MAX + 64 && r->head_come <= REQUEST_HEAD_MAX);
    MUST(r->parser.http_minor == 0 || r->headers[REQUEST_HOST]);
    MUST(!(r->headers[REQUEST_TRANSFER_ENCODING] && r->headers[REQUEST_CONTENT_LENGTH]));
    for (int i = 0; i < REQUEST_HEADERS_READ; i++)
        MUST(!r->headers[i] || utf8_is_valid(r->headers[i], strlen(r->headers[i])));
    read_a_query(r->query);
}

static void note(struct reading *to, const struct request *r, uint64_t end)
{
    MUST(r->has_body || r->body.len == 0);
    MUST(!r->body_length || r->body.len == r->body_length);
    MUST(r->body.len == r->body_come);
    to->requests[to->n++] = (struct seen){ strdup(r->path), r->body.len, end, r->has_body };
}

static void read_all(struct reading *to, const char *data, size_t len, size_t piece)
{
    struct request r;
    size_t at = 0;
    request_init(&r);
    while (at < len && r.state != REQUEST_BAD && to->n < REQUESTS) {
        size_t n = len - at < piece ? len - at : piece;
        size_t used = request_feed(&r, data + at, n);
        MUST(used <= n);
        at += used;
        if (r.state == REQUEST_HEAD_READ) {
            look_at_head(&r);
            request_go_on(&r);
        }
        if (r.state == REQUEST_COMPLETE) {
            note(to, &r, at);
            request_renew(&r);
        } else {
            MUST(used > 0 || r.state == REQUEST_BAD);
        }
    }
    if (r.state == REQUEST_BAD)
        MUST(*r.detail);
    to->state = r.state;
    to->problem = r.problem;
    request_free(&r);
}

static void compare(const struct reading *a, const struct reading *b)
{
    MUST(a->n == b->n && a->state == b->state && a->problem == b->problem);
    for (int i = 0; i < a->n; i++) {
        const struct seen *x = &a->requests[i], *y = &b->requests[i];
        MUST(!strcmp(x->path, y->path) && x->body_len == y->body_len);
        MUST(x->end == y->end && x->has_body == y->has_body);
    }
}

static void forget(struct reading *r)
{
    for (int i = 0; i < r->n; i++)
        free(r->requests[i].path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct reading whole = { 0 }, pieces = { 0 };
    size_t piece = 1 + input_u8(&in) % 64;
    char *bytes = malloc(in.left + 1);
    memcpy(bytes, in.p, in.left);
    read_all(&whole, bytes, in.left, in.left);
    read_all(&pieces, bytes, in.left, piece);
    compare(&whole, &pieces);
    forget(&whole);
    forget(&pieces);
    free(bytes);
    return 0;
}
