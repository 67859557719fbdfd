/* stream.c - one process that lives on, and the checks that it was given. When it does what it may
 * not, it is ended, and what it had not answered is a suspect: that runs again, one by one. Only a
 * check that was all that a process was given has certainly failed. */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "lines.h"
#include "window.h"

#define SECOND_US INT64_C(1000000)
#define HELLO "{\"prescient\":1,\"window\":%d}"

enum {
    HELLO_S = 10, CLOSE_S = 2,
    STATUS_MS = 500,                    /* from the end of its output to its exit status */
    EARLIER_MS = 500,                   /* we end a hanging check before the engine ends the worker */
    LOOK_MS = 100,                      /* how soon we see that the engine stops */
    LEAST_PAUSE_S = 2,                  /* a pause of this length is always waited for */
    BATCH = 4,                          /* windows: the end of a batch waits for its last answers */
};

struct stream {
    const struct prescient_host *host;
    const struct command *command;
    char *const *envp;
    int most;                           /* our window */
    int64_t timeout_us;                 /* of a check */
    int64_t patience_us, batch_patience_us;             /* the engine's, with one check and with several */
    struct child child;
    enum { DOWN, STARTING, READY } state;
    int64_t started_us;
    struct lines lines;
    struct window window;
    struct restart restart;
    char *line;                         /* that is being written; NULL: none is */
    size_t line_len, line_at;
    char why[400];                      /* it has ended */
};

enum { UNSENT, SENT, SUSPECT, PRIME_SUSPECT, ANSWERED };        /* prime: it was alone with a process */

struct call {
    struct stream *s;
    const struct prescient_check *checks;
    struct prescient_answer *answers;
    unsigned char *states;
    int n, next, left, suspects;        /* checks; the first that may be unsent; not answered */
    int64_t began_us, answered_us;      /* answered: the last one, or when it began */
};

static int64_t boot_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * SECOND_US + now.tv_nsec / 1000;
}

static int ms_until(int64_t at_us)
{
    int64_t ms = (at_us - boot_us() + 999) / 1000;
    if (ms < 0)
        return 0;
    return ms > 3600000 ? 3600000 : (int)ms;
}

static int at_most(int ms, int most)
{
    return ms < most ? ms : most;
}

static bool is_stopping(const struct stream *s)
{
    return PRESCIENT_HAS(s->host, stopping) && s->host->stopping(s->host);
}

static int __attribute__((format(printf, 2, 3))) because(struct stream *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s->why, sizeof s->why, fmt, ap);
    va_end(ap);
    return -1;
}

/* ---- answers ---- */

static void hand_over(struct call *call, int place)
{
    const struct prescient_host *host = call->s->host;
    call->suspects -= call->states[place] == SUSPECT || call->states[place] == PRIME_SUSPECT;
    call->states[place] = ANSWERED;
    call->answered_us = boot_us();
    call->left--;
    if (host->answered(host, &call->answers[place]))
        host->log(host, PRESCIENT_LOG_WARN, host->error(host));
}

static void fail(struct call *call, int place, const char *why)
{
    prescient_fail(&call->answers[place], "%s", why);
    hand_over(call, place);
}

static void suspect(struct call *call, int place, bool was_alone)
{
    call->states[place] = was_alone ? PRIME_SUSPECT : SUSPECT;
    call->suspects++;
}

/* It is not the check's doing that there is no process for it now. */
static void put_off(struct call *call, int place)
{
    struct stream *s = call->s;
    int64_t now = boot_us(), wait_s = 1 + (now - call->began_us) / SECOND_US;
    if (s->state == DOWN && s->restart.at_us > now)
        wait_s += (s->restart.at_us - now) / SECOND_US;
    prescient_defer(&call->answers[place], call->checks[place].now + wait_s);
    prescient_note(&call->answers[place], "put off, as the stream's command is started again: %s", s->why);
    hand_over(call, place);
}

static void put_off_all(struct call *call)
{
    for (int i = 0; i < call->n; i++)
        if (call->states[i] != ANSWERED)
            put_off(call, i);
}

/* When the engine would end us: it counts from the last answer that was handed over. */
static int64_t patience_us(const struct call *call)
{
    const struct stream *s = call->s;
    return call->answered_us + (call->left > 1 ? s->batch_patience_us : s->patience_us);
}

/* ---- the end of a process ---- */

static void forget_process(struct stream *s)
{
    child_end(&s->child);
    lines_clear(&s->lines);
    free(s->line);
    s->line = NULL;
    s->state = DOWN;
    restart_ended(&s->restart, &s->window, boot_us());
}

/* s->why has the words. Without a call it was not given anything. */
static void end_process(struct stream *s, struct call *call)
{
    char line[sizeof s->why + 160];
    int waiting = window_waiting(&s->window);
    bool is_guilty = waiting == 1 && s->window.given == 1;
    forget_process(s);
    for (int place; call && (place = window_pop(&s->window)) >= 0;) {
        if (is_guilty)
            fail(call, place, s->why);
        else
            suspect(call, place, waiting == 1);
    }
    const char *rest = waiting && !is_guilty ? "; what it had not answered runs one by one" : "";
    snprintf(line, sizeof line, "the stream's command has ended: %s; it is started again in %" PRId64 " s%s",
             s->why, s->restart.pause_s, rest);
    s->host->log(s->host, PRESCIENT_LOG_WARN, line);
}

static int put_status(struct stream *s, int status, const char *before)
{
    const char *name = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;
    if (WIFSIGNALED(status))
        return because(s, "killed by SIG%s before %s", name ? name : "?", before);
    return because(s, "exit status %d before %s", WEXITSTATUS(status), before);
}

/* Its output has ended, or its guard has reported. The status is more than what we have seen. */
static void find_status(struct stream *s, const char *seen, const char *before)
{
    struct pollfd fd = { .fd = s->child.fd[CHILD_GUARD], .events = POLLIN };
    struct guard_report report;
    int status;
    because(s, "%s", seen);
    if (poll(&fd, 1, STATUS_MS) != 1)
        return;
    if (child_report(&s->child, &report))
        because(s, "the guard of %s was killed", s->command->path);
    else if (!child_judge(&report, s->command, &status, s->why, sizeof s->why))
        put_status(s, status, before);
}

/* ---- what it writes ---- */

/* Reads once. 1: something came, 0: nothing just now, -1: its output has ended. */
static int read_some(struct stream *s)
{
    size_t size;
    char *room = lines_room(&s->lines, &size);
    ssize_t n = size ? read(s->child.fd[CHILD_OUT], room, size) : 0;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0)
        return -1;
    lines_added(&s->lines, (size_t)n);
    return 1;
}

static int find_place(struct stream *s, const char *line, size_t len)
{
    const char *id;
    if (s->host->json_member(s->host, line, len, "id", &id))
        return because(s, "its answer: %s", s->host->error(s->host));
    if (!id)
        return because(s, "its answer has no id: '%.80s'", line);
    int place = window_take(&s->window, id, boot_us());
    if (place == WINDOW_TWICE)
        because(s, "it answered the id %.40s twice", id);
    else if (place == WINDOW_UNKNOWN)
        because(s, "it answered the id '%.40s', which it was not given", id);
    return place;
}

/* -1: it may not write that. */
static int take_line(struct call *call, const char *line, size_t len)
{
    struct stream *s = call->s;
    s->why[0] = '\0';
    int place = find_place(s, line, len);
    if (place < 0)
        return *s->why ? -1 : 0;
    struct prescient_answer *answer = &call->answers[place];
    if (s->host->answer_json(s->host, &call->checks[place], answer, line, len, 0))
        prescient_fail(answer, "its answer: %s", s->host->error(s->host));
    hand_over(call, place);
    return 0;
}

static int take_lines(struct call *call)
{
    struct stream *s = call->s;
    size_t len;
    char *line;
    while ((line = lines_next(&s->lines, &len)))
        if (take_line(call, line, len))
            return -1;
    if (lines_too_long(&s->lines))
        return because(s, "it wrote a line of more than %d bytes", LINES_MAX);
    return 0;
}

/* All that it wrote before its end is in the pipe, which holds no more than its size; what is
 * written behind that is another process's. */
static int take_rest(struct call *call)
{
    int size = fcntl(call->s->child.fd[CHILD_OUT], F_GETPIPE_SZ);
    for (int taken = 0; taken <= size && read_some(call->s) > 0; taken += 4096)
        if (take_lines(call))
            return -1;
    return 0;
}

static void process_is_over(struct call *call, const char *seen)
{
    if (take_rest(call) == 0)
        find_status(call->s, seen, window_waiting(&call->s->window) ? "it answered" : "it was asked");
    end_process(call->s, call);
}

/* ---- what it is given ---- */

static int write_line(struct stream *s)
{
    ssize_t n = write(s->child.fd[CHILD_IN], s->line + s->line_at, s->line_len - s->line_at);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    s->line_at += (size_t)n;
    if (s->line_at == s->line_len) {
        free(s->line);
        s->line = NULL;
    }
    return 0;
}

/* The next check to be sent, or -1. A suspect goes alone, the one that was alone already to a
 * process that is given nothing else. */
static int choose(struct call *call)
{
    if (call->suspects) {
        int found = -1;
        for (int i = 0; i < call->n; i++) {
            if (call->states[i] == PRIME_SUSPECT)
                return i;
            if (call->states[i] == SUSPECT && found < 0)
                found = i;
        }
        return found;
    }
    while (call->next < call->n && call->states[call->next] != UNSENT)
        call->next++;
    return call->next < call->n ? call->next : -1;
}

static void begin_line(struct call *call, int place, const char *id)
{
    struct stream *s = call->s;
    const char *document = s->host->document(s->host, &call->checks[place]);
    size_t len = document ? strlen(document) : 0;
    s->line = document ? malloc(len + 1) : NULL;
    if (!s->line) {
        fail(call, place, "out of memory for the document of a check");
        return;
    }
    memcpy(s->line, document, len);
    s->line[len] = '\n';
    s->line_len = len + 1;
    s->line_at = 0;
    call->suspects -= call->states[place] != UNSENT;
    call->states[place] = SENT;
    window_add(&s->window, id, place, boot_us());
}

/* Processes end without an answer, one after the other. What this one is given first goes alone, so
 * that it is known whose doing it is: there may be no time left to find out among several. */
static bool is_on_trial(const struct stream *s)
{
    return s->restart.pause_s > RESTART_FIRST_S && !s->window.answered;
}

/* One more check, if there is one and room for it. */
static bool send_next(struct call *call)
{
    struct stream *s = call->s;
    int place = choose(call), waiting = window_waiting(&s->window);
    if (place < 0 || (waiting && (call->suspects || is_on_trial(s))))
        return false;
    const char *id = s->host->idempotency_key(s->host, &call->checks[place]);
    bool owes = window_gave_up(&s->window, id);
    if (window_has_room(&s->window) && !owes) {
        begin_line(call, place, id);
        return true;
    }
    if (waiting)
        return false;
    because(s, "it has not answered checks whose time was up");
    end_process(s, call);
    return false;
}

static void send_more(struct call *call)
{
    struct stream *s = call->s;
    while (s->state == READY && (s->line || send_next(call))) {
        if (s->line && write_line(s)) {
            process_is_over(call, "it closed its standard input");
            return;
        }
        if (s->line)
            return;                     /* the pipe is full */
    }
}

/* ---- a process that is ready ---- */

static int start_process(struct stream *s)
{
    char hello[64];
    int len = snprintf(hello, sizeof hello, HELLO "\n", s->most);
    s->started_us = boot_us();
    window_open(&s->window, s->most);
    lines_clear(&s->lines);
    if (child_start(&s->child, s->command, s->envp, STDERR_FILENO))
        return because(s, "cannot start %s: %s", s->command->path, strerror(errno));
    s->state = STARTING;
    if (write(s->child.fd[CHILD_IN], hello, (size_t)len) == len)
        return 0;
    /* it may have ended by now: then the reason for that counts */
    find_status(s, "it closed its standard input", "its first line");
    return -1;
}

static int take_hello(struct stream *s, const char *line, size_t len)
{
    const char *version, *window;
    if (s->host->json_member(s->host, line, len, "prescient", &version) ||
        s->host->json_member(s->host, line, len, "window", &window))
        return because(s, "its first line: %s", s->host->error(s->host));
    if (!version || !window)
        return because(s, "its first line: found '%.80s', expected such as " HELLO, line, 4);
    if (strcmp(version, "1") != 0)
        return because(s, "its first line: found version '%.20s' of streams, expected 1", version);
    char *end;
    long n = strtol(window, &end, 10);
    if (*end || n < 1)
        return because(s, "its first line: found window '%.20s', expected a whole number from 1 on", window);
    window_open(&s->window, n < s->most ? (int)n : s->most);
    s->state = READY;
    return 0;
}

/* 0: it is ready, or `until_us` has come, or the engine stops. -1: it has ended, or has to be. */
static int wait_for_hello(struct stream *s, int64_t until_us)
{
    int64_t last_us = s->started_us + HELLO_S * SECOND_US, first_us = last_us < until_us ? last_us : until_us;
    while (s->state == STARTING) {
        struct pollfd fd = { .fd = s->child.fd[CHILD_OUT], .events = POLLIN };
        size_t len;
        if (poll(&fd, 1, at_most(ms_until(first_us), LOOK_MS)) == 1 && read_some(s) < 0) {
            find_status(s, "it closed its standard output", "its first line");
            return -1;
        }
        const char *line = lines_next(&s->lines, &len);
        if (line)
            return take_hello(s, line, len);
        if (lines_too_long(&s->lines))
            return because(s, "its first line has more than %d bytes", LINES_MAX);
        if (boot_us() >= last_us)
            return because(s, "it wrote no first line such as " HELLO " within %d s", 4, HELLO_S);
        if (boot_us() >= until_us || is_stopping(s))
            return 0;
    }
    return 0;
}

/* Whether a process may be started, after a pause of at most the time of a check. The worker is not
 * kept for longer, as others wait for it; pauses grow, so all of them together take less than twice
 * that. */
static bool wait_for_restart(struct stream *s, int64_t until_us)
{
    int64_t at_us = s->restart.at_us, most_us = LEAST_PAUSE_S * SECOND_US;
    if (s->timeout_us > most_us)
        most_us = s->timeout_us;
    if (at_us > until_us || at_us > boot_us() + most_us)
        return false;
    while (!is_stopping(s) && at_us > boot_us())
        poll(NULL, 0, at_most(ms_until(at_us), LOOK_MS));
    return !is_stopping(s);
}

/* Whether the process is ready by then. One that is still starting goes on. */
static bool make_ready(struct stream *s, int64_t until_us)
{
    while (s->state != READY) {
        if (s->state == DOWN && !wait_for_restart(s, until_us))
            return false;
        int rc = s->state == DOWN ? start_process(s) : 0;
        if (rc == 0)
            rc = wait_for_hello(s, until_us);
        if (rc < 0)
            end_process(s, NULL);
        else if (s->state != READY)
            return false;
    }
    return true;
}

/* ---- a call ---- */

/* Waits until something comes, at most so long, and takes it. */
static void listen_to(struct call *call, int wait_ms)
{
    struct stream *s = call->s;
    struct pollfd fds[] = { { .fd = s->child.fd[CHILD_GUARD], .events = POLLIN },
                            { .fd = s->child.fd[CHILD_OUT], .events = POLLIN },
                            { .fd = s->line ? s->child.fd[CHILD_IN] : -1, .events = POLLOUT } };
    if (poll(fds, 3, wait_ms) <= 0)
        return;
    if (fds[1].revents && read_some(s) < 0)
        process_is_over(call, "it closed its standard output");
    else if (take_lines(call))
        end_process(s, call);
    else if (fds[0].revents)
        process_is_over(call, "it has ended");
}

/* A check whose time is up. When a restart has taken a part of it, we lose patience first; then it
 * had half of it at least. */
static struct window_entry *find_overdue(struct call *call)
{
    struct stream *s = call->s;
    int64_t now = boot_us();
    struct window_entry *e = window_overdue(&s->window, now, s->timeout_us);
    return e || now < patience_us(call) ? e : window_overdue(&s->window, now, 0);
}

/* The others are not to wait for a process that stands still. */
static void end_overdue(struct call *call)
{
    struct stream *s = call->s;
    struct window_entry *e;
    while (s->state == READY && (e = find_overdue(call))) {
        char why[80];
        bool hangs = window_hangs(&s->window, e);
        int place = e->place;
        int64_t now = boot_us(), had_us = now - e->begun_us;
        snprintf(why, sizeof why, "no answer within %" PRId64 " ms",
                 (had_us < s->timeout_us ? had_us : s->timeout_us) / 1000);
        window_give_up(&s->window, e, now);
        fail(call, place, why);
        if (hangs) {
            because(s, "%s", why);
            end_process(s, call);
        }
    }
}

/* Whether a check that is sent now would have half of its time. If not, the process waits for the
 * next call. */
static bool has_time(const struct call *call)
{
    return window_waiting(&call->s->window) || patience_us(call) - boot_us() >= call->s->timeout_us / 2;
}

static void run(struct call *call)
{
    struct stream *s = call->s;
    if (s->state == READY)
        listen_to(call, 0);             /* it may have ended since the last call */
    while (call->left) {
        int64_t patience = patience_us(call), now = boot_us();
        if (!make_ready(s, now + (patience - now) * 3 / 4) || !has_time(call)) {
            put_off_all(call);
            return;
        }
        send_more(call);
        if (s->state == READY && call->left) {
            int64_t deadline = window_deadline(&s->window, s->timeout_us);
            patience = patience_us(call);
            listen_to(call, ms_until(deadline < patience ? deadline : patience));
            end_overdue(call);
        }
    }
}

void stream_run(struct stream *s, const struct prescient_check *checks, int n,
                struct prescient_answer *answers)
{
    int64_t now = boot_us();
    struct call call = { .s = s, .checks = checks, .answers = answers, .n = n, .left = n,
                         .began_us = now, .answered_us = now };
    sigset_t before;
    call.states = calloc((size_t)n, 1);
    if (!call.states)
        return;                         /* no answer is a failure */
    child_hold_sigpipe(&before);
    run(&call);
    child_release_sigpipe(&before);
    free(call.states);
}

/* ---- opening and closing ---- */

/* A little less than what the engine allows. A check that is sent at once is to have its time
 * before we lose patience: that comes second. */
static void set_times(struct stream *s)
{
    int64_t one_ms = s->host->timeout_ms, batch_ms = s->host->batch_timeout_ms;
    int64_t least_ms = one_ms < batch_ms ? one_ms : batch_ms;
    int64_t earlier_ms = least_ms / 10 < EARLIER_MS ? least_ms / 10 : EARLIER_MS;
    s->timeout_us = (least_ms - earlier_ms) * 1000;
    s->patience_us = one_ms * 1000 - earlier_ms * 500;
    s->batch_patience_us = batch_ms * 1000 - earlier_ms * 500;
}

struct stream *stream_new(const struct prescient_host *host, const struct command *command,
                          char *const envp[], int window, char *why, size_t why_size)
{
    struct stream *s = calloc(1, sizeof *s);
    if (!s || lines_new(&s->lines)) {
        free(s);
        snprintf(why, why_size, "out of memory");
        return NULL;
    }
    s->host = host;
    s->command = command;
    s->envp = envp;
    s->most = window;
    s->child = CHILD_NONE;
    set_times(s);
    sigset_t before;
    child_hold_sigpipe(&before);
    int rc = start_process(s);
    if (rc == 0)
        rc = wait_for_hello(s, INT64_MAX);
    child_release_sigpipe(&before);
    if (rc == 0)
        return s;
    snprintf(why, why_size, "the stream's command %s: %s", command->path, s->why);
    forget_process(s);
    stream_free(s);
    return NULL;
}

int stream_batch(const struct stream *s)
{
    return BATCH * s->window.size;
}

/* It has read all, and may write what it likes until it ends. */
static void finish(struct stream *s)
{
    int64_t until_us = boot_us() + CLOSE_S * SECOND_US;
    child_close(&s->child, CHILD_IN);
    while (boot_us() < until_us) {
        struct pollfd fds[] = { { .fd = s->child.fd[CHILD_GUARD], .events = POLLIN },
                                { .fd = s->child.fd[CHILD_OUT], .events = POLLIN } };
        if (poll(fds, 2, ms_until(until_us)) > 0 && fds[0].revents)
            return;
        lines_clear(&s->lines);
        if (fds[1].revents && read_some(s) < 0)
            child_close(&s->child, CHILD_OUT);
    }
}

void stream_free(struct stream *s)
{
    if (!s)
        return;
    if (s->state != DOWN)
        finish(s);
    child_end(&s->child);
    lines_free(&s->lines);
    free(s->line);
    free(s);
}
