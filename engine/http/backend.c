/* backend.c - see backend.h. */
#include "backend.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "route.h"

enum { PIECE = 256 * 1024, ARENA_BLOCK = 64 * 1024 };

struct backend {
    struct desk desk;
    struct bytes in, out;
    struct question questions[EXCHANGE_MOST];
    struct answer answers[EXCHANGE_MOST];
    int sock;
};

/* False: the other side is closed. */
static bool read_more(struct backend *b)
{
    char *to = bytes_reserve(&b->in, PIECE);
    ssize_t n = to ? read(b->sock, to, PIECE) : -1;
    if (n > 0)
        b->in.len += (size_t)n;
    return n > 0 || (n < 0 && errno == EINTR);
}

static bool write_out(struct backend *b)
{
    while (b->out.len) {
        ssize_t n = send(b->sock, b->out.data, b->out.len, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            return false;
        bytes_take(&b->out, n > 0 ? (size_t)n : 0);
    }
    return true;
}

/* ---- answering ---- */

static int read_questions(struct backend *b, struct exchange message)
{
    int n = 0;
    while (n < EXCHANGE_MOST && exchange_next_question(&message, &b->questions[n]))
        n++;
    return message.len ? -1 : n;
}

/* How many from the first on are of one route, and may be answered together. */
static int alike(const struct question *q, int n)
{
    int same = 1;
    if (!route_at(q->route)->takes_many)
        return 1;
    while (same < n && q[same].route == q->route)
        same++;
    return same;
}

static void answer_all(struct backend *b, int n)
{
    for (int i = 0, same; i < n; i += same) {
        const struct question *q = &b->questions[i];
        same = alike(q, n - i);
        route_at(q->route)->answer(&b->desk, q, same, &b->answers[i]);
    }
}

static bool put_answers(struct backend *b, int n)
{
    size_t begin = b->out.len;
    bool fits = exchange_begin(&b->out);
    for (int i = 0; i < n && fits; i++)
        fits = exchange_put_answer(&b->out, &b->answers[i]);
    return fits && exchange_end(&b->out, begin);
}

static bool are_good(const struct backend *b, int n)
{
    for (int i = 0; i < n; i++) {
        const struct route *route = route_at(b->questions[i].route);
        if (!route || !route->answer)
            return false;
    }
    return n > 0;
}

/* False: the message cannot be read, or the answers cannot be sent. */
static bool answer_message(struct backend *b, const struct exchange *message)
{
    int n = read_questions(b, *message);
    if (!are_good(b, n))
        return false;
    answer_all(b, n);
    bool fits = put_answers(b, n);              /* they may have texts of the questions */
    exchange_take(&b->in, message);
    arena_reset(b->desk.arena);
    return fits && write_out(b);
}

static int run(struct backend *b)
{
    struct exchange message;
    bool is_bad;
    for (;;) {
        if (exchange_whole(&b->in, &message, &is_bad)) {
            if (!answer_message(b, &message) || b->desk.is_over)
                return 1;
        } else if (is_bad || !read_more(b)) {
            return is_bad;
        }
    }
}

int backend_run(const struct settings *settings, struct log *log, const char *role, bool reads_only, int sock)
{
    struct err err;
    struct store_options options = store_options_from(settings);
    CLEANUP(cleanup_free) struct backend *b = calloc(1, sizeof *b);
    options.role = role;
    options.reads_only = reads_only;
    if (!b)
        return 1;
    *b = (struct backend){ .desk = { .settings = settings, .log = log, .arena = arena_new(ARENA_BLOCK) },
                           .sock = sock };
    int rc = 1;
    if (store_new(&options, &b->desk.store, &err) < 0)
        log_error(log, "%s", err.text);
    else if (b->desk.arena)
        rc = run(b);
    store_free(b->desk.store);
    known_jobs_free(&b->desk.jobs);
    measured_free(&b->desk.measured);
    arena_free(b->desk.arena);
    bytes_free(&b->in);
    bytes_free(&b->out);
    return rc;
}
