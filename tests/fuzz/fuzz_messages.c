/* fuzz_messages.c - what a hostile worker sends over its socket: packets of any kind and length,
 * with descriptors, in any order, while its slab says anything about claims and answers. The
 * pool's books stay in order, and no descriptor is left open. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../../engine/base/utf8.h"
#include "../../engine/pool/pool_state.h"
#include "../../engine/wire/message.h"
#include "fuzz.h"

enum { CHECKS = 5, PACKETS = 24 };

static const char *const names[CHECKS] = { "a", "b", "c", "d", "e" };

struct table {                          /* a pool with one worker that runs a page of a few checks */
    struct pool pool;
    struct pool_worker worker;
    struct settings settings;
    struct log log;
    struct page *page;
    int told[CHECKS];
    int theirs;                         /* the worker's end of the socket */
    struct slab *slab;                  /* and its mapping */
    bool usable;                        /* the one job: whether the worker can run it */
};

static void answered(void *ctx, struct page *page, int index, enum answer_kind kind,
                     const struct raw_answer *raw, int64_t taken_us)
{
    struct table *t = ctx;
    MUST(page == t->page && index >= 0 && index < CHECKS && raw);
    MUST(kind >= ANSWER_DONE && kind <= ANSWER_BAD);
    MUST(!raw->text || utf8_is_valid(raw->text, strlen(raw->text)));
    MUST(t->told[index]++ == 0);
    MUST(page->checks[index].state == CHECK_GIVEN);
    page_answer(page, index, taken_us);
}

static void ready(void *ctx, const bool *usable)
{
    (void)ctx;
    MUST(usable);
}

static int no_job(void *ctx, const char *name)
{
    (void)ctx, (void)name;
    return 0;
}

static void make_page(struct table *t)
{
    struct check_rows rows = { .checks = calloc(CHECKS, sizeof *rows.checks), .n = CHECKS };
    for (int i = 0; i < CHECKS; i++)
        rows.checks[i] = (struct check){
            .id = i + 1,
            .first_check_at = 900,
            .next_check_at = 900,
            .entity_name = "orders",
            .entity_name_len = 6,
            .entity_key = names[i],
            .entity_key_len = 1,
            .job_exec = "late",
            .job_exec_len = 4,
        };
    t->page = page_new(&rows, no_job, NULL, 1000);
}

/* As pool.c gives checks to a worker. */
static void give(struct table *t)
{
    struct pool_worker *w = &t->worker;
    slab_reset(w->slab, 1000, INT64_MAX);
    for (int i = 0; i < CHECKS; i++) {
        int next = page_next(t->page, 0, PAGE_ALL);
        MUST(slab_put(w->slab, &t->page->rows.checks[next], 0, false));
        page_give(t->page, next);
        w->index[w->count++] = next;
    }
    w->end = w->count;
    w->page = t->page;
    w->state = WORKER_RUNNING;
    slab_open(w->slab);
}

static void begin(struct table *t, bool running)
{
    int pair[2], output[2], fd;
    MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) == 0 &&
         pipe2(output, O_CLOEXEC | O_NONBLOCK) == 0);
    close(output[1]);
    static struct job_settings job = { .name = "late", .weight = 100 };
    t->settings.jobs = &job;
    t->settings.njobs = 1;
    log_init(&t->log, fopen("/dev/null", "w"), LOG_LEVEL_DEBUG, "fuzz");
    t->pool = (struct pool){
        .o = { .settings = &t->settings,
               .clock = &clock_system,
               .log = &t->log,
               .events = { .answered = answered, .ready = ready, .ctx = t } },
        .workers = &t->worker,
        .size = 1,
        .used = 1,
        .usual = 1,
        .usable = &t->usable,
    };
    MUST(pool_share_open(&t->pool) == 0);
    t->worker.child = (struct child){ .pid = getpid(), .sock = pair[0], .output = output[0] };
    t->worker.state = WORKER_STARTING;
    t->theirs = pair[1];
    MUST(slab_new(&t->worker.slab, &fd, NULL) == 0 && slab_attach(fd, &t->slab, NULL) == 0);
    close(fd);
    make_page(t);
    if (running)
        give(t);
}

static void end(struct table *t)
{
    close(t->theirs);
    close(t->worker.child.sock);
    if (t->worker.child.output >= 0)
        close(t->worker.child.output);
    free(t->worker.usable);
    pool_share_release(&t->pool);
    slab_free(t->worker.slab);
    slab_free(t->slab);
    page_free(t->page);
    fclose(t->log.out);
}

static void send_packet(struct table *t, struct input *in)
{
    static const char kinds[] = "rfeloSBRCX";
    struct arena *a = arena_new(1024);
    uint8_t kind = input_u8(in), fds = input_u8(in);
    size_t len;
    char *body = input_bytes(in, input_u8(in), a, &len);
    char first = kind < 128 ? kinds[kind % (sizeof kinds - 1)] : (char)kind;
    char control[CMSG_SPACE(3 * sizeof(int))] = { 0 };
    struct iovec parts[2] = { { &first, 1 }, { body, len } };
    struct msghdr msg = { .msg_iov = parts, .msg_iovlen = 2 };
    int n = fds < 200 ? 0 : 1 + fds % 3, all[3] = { 0, 1, 2 };
    if (n) {
        msg.msg_control = control;
        msg.msg_controllen = CMSG_SPACE((size_t)n * sizeof(int));
        *CMSG_FIRSTHDR(&msg) = (struct cmsghdr){ .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
                                                 .cmsg_len = CMSG_LEN((size_t)n * sizeof(int)) };
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), all, (size_t)n * sizeof(int));
    }
    if (sendmsg(t->theirs, &msg, MSG_NOSIGNAL) < 0)
        MUST(t->worker.gone || t->worker.state != WORKER_RUNNING);
    arena_free(a);
}

/* Claims and answers some, honestly or not. */
static void work(struct table *t, struct input *in)
{
    int from, n;
    uint8_t how = input_u8(in);
    for (int i = how % 8; i > 0 && slab_claim(t->slab, 1, 0, &from, &n) == SLAB_CLAIMED; i--)
        if (how & 8 || i % 2)
            slab_answer(t->slab, from, how >> 4, 0, 1, 1, how & 8 ? NULL : "words");
}

static void check_books(const struct table *t)
{
    const struct pool_worker *w = &t->worker;
    MUST(w->taken >= 0 && w->taken <= w->end && w->end <= w->count && w->count <= CHECKS);
    MUST(w->state != WORKER_RUNNING || w->page == t->page);
    int sum = 0;
    for (int i = 0; i < CHECK_STATES; i++) {
        MUST(t->page->counts[i] >= 0);
        sum += t->page->counts[i];
    }
    MUST(sum == CHECKS);
    MUST(w->page || t->page->counts[CHECK_GIVEN] == 0);
    MUST(utf8_is_valid(t->pool.why, strlen(t->pool.why)));      /* it may become a note in the history */
}

static int count_fds(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        n++;
    closedir(dir);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct table *t = calloc(1, sizeof *t);
    begin(t, input_u8(&in) % 4 != 0);
    int fds = count_fds();
    for (int i = 0; i < PACKETS && in.left && !t->worker.gone; i++) {
        uint8_t what = input_u8(&in);
        if (what % 3 == 0)
            work(t, &in);
        else
            send_packet(t, &in);
        if (what % 5 == 0)
            pool_worker_cut(&t->worker);
        pool_worker_listen(&t->pool, &t->worker);
        if (t->worker.state == WORKER_RUNNING)
            pool_worker_collect(&t->pool, &t->worker);
        check_books(t);
    }
    MUST(count_fds() == fds);
    end(t);
    free(t);
    return 0;
}
