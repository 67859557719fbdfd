/* deliver.c - see deliver.h. One loop: take the lease, read a page, run the command on it while the
 * lease is renewed beside it, move the cursor. */
#include "deliver.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/clock.h"
#include "../base/moment.h"
#include "../rules/delivery.h"
#include "../rules/halving.h"
#include "../rules/idempotency.h"
#include "../view/rows.h"
#include "consumer.h"
#include "consumers.h"
#include "guarded.h"
#include "interrupt.h"
#include "telling.h"
#include "withheld.h"

#define SECOND_US INT64_C(1000000)
enum { TRIES_ALONE = 3 };           /* of an event that is never skipped */
#define LOOKS_APART_US (SECOND_US / 5)  /* however often it is told that there are events */
enum { LOOK_MS = 60 * 1000 };       /* no wait is longer */
#define BACKOFF_MAX_US (60 * SECOND_US)

/* Why a pass over the events is over; below 0 an ERR_ of the store. */
enum pass_end { PASS_DONE, PASS_STOPPED, PASS_HELD, PASS_LOST, PASS_GUILTY };

struct delivering {
    struct app *app;
    const struct deliver_options *o;
    struct consumer consumer;
    struct interrupt interrupt;
    struct halving halving;
    /* It is of the events behind `after`, the first of which was `refused` last; "": none. */
    char after[EVENT_CURSOR_SIZE], refused[EVENT_CURSOR_SIZE];
    struct withheld_watch withheld;
    bool away;                      /* the store is, and that was said */
    int64_t told_pruned;            /* of which prune that was */
    int64_t looked_us;              /* when the last pass began */
    int64_t again_us;               /* how long after it the next look is, while it listens */
    bool told_deaf;
};

struct page { struct store_rows rows; char *text; size_t length; };

static int64_t boot_us(void)
{
    return clock_boot_us(&clock_system);
}

/* ---- what has failed so far ---- */

static void halve_anew(struct delivering *d)
{
    const struct deliver_options *o = d->o;
    halving_init(&d->halving, o->batch, o->skip_after ? o->skip_after : TRIES_ALONE);
    *d->after = *d->refused = '\0';
}

/* The page that comes next is behind our cursor as it is now. `refused`: of its first event; NULL:
 * none was. */
static void note_place(struct delivering *d, const char *refused)
{
    snprintf(d->after, sizeof d->after, "%s", d->consumer.cursor);
    snprintf(d->refused, sizeof d->refused, "%s", refused ? refused : "");
}

/* The cursor may have been set or moved by others, and events may have been pruned: failures of
 * other events are no reason to skip these. */
static bool is_elsewhere(const struct delivering *d, const struct store_rows *rows)
{
    if (*d->after && strcmp(d->after, d->consumer.cursor) != 0)
        return true;
    return *d->refused && strcmp(d->refused, rows_value(rows, 0, "cursor")) != 0;
}

/* ---- a page as lines ---- */

static struct delivery delivery_of(const struct store_rows *rows, int r, const char *id)
{
    return (struct delivery){
        .type = rows_value(rows, r, "event"),
        .id = id,
        .timestamp = rows_number(rows, r, "emitted_at_us") / SECOND_US,
        .entity_name = rows_value(rows, r, "entity_name"),
        .entity_key = rows_value(rows, r, "entity_key"),
        .job = rows_value(rows, r, "job_exec"),
        .check_number = rows_number(rows, r, "check_number"),
        .failure_count = DELIVERY_UNKNOWN,
        .first_check_at = DELIVERY_UNKNOWN,
        .data = rows_value(rows, r, "data"),
    };
}

static bool write_page(const struct delivering *d, struct arena *a, struct page *page)
{
    const struct store_rows *rows = &page->rows;
    struct delivery *all = arena_alloc(a, (size_t)(rows->rows + 1) * sizeof *all);
    char (*ids)[IDEMPOTENCY_KEY_SIZE] = arena_alloc(a, (size_t)(rows->rows + 1) * sizeof *ids);
    size_t size = 1;
    for (int r = 0; all && ids && r < rows->rows; r++) {
        idempotency_key_of_event(d->o->name, rows_value(rows, r, "cursor"),
                                 rows_number(rows, r, "emitted_at_us"), ids[r]);
        all[r] = delivery_of(rows, r, ids[r]);
        size += delivery_size(&all[r]) + 1;
    }
    page->text = all && ids ? arena_alloc(a, size) : NULL;
    page->length = 0;
    for (int r = 0; page->text && r < rows->rows; r++) {
        page->length += delivery_write(&all[r], page->text + page->length);
        page->text[page->length++] = '\n';
    }
    return page->text != NULL;
}

/* ---- the command ---- */

/* The command may read as much of it as it likes. */
static void feed(int *pipe_in, const struct page *page, size_t *written)
{
    size_t left = page->length - *written;
    ssize_t n = write(*pipe_in, page->text + *written, left);
    if (n > 0)
        *written += (size_t)n;
    bool is_over = (n < 0 && errno != EAGAIN && errno != EINTR) || *written == page->length;
    if (is_over) {
        close(*pipe_in);
        *pipe_in = -1;
    }
}

static int ms_until(int64_t at_us)
{
    int64_t left_us = at_us - boot_us();
    int64_t ms = left_us <= 0 ? 0 : left_us / 1000 + 1;
    return ms < LOOK_MS ? (int)ms : LOOK_MS;
}

/* Renews the lease when that is due. The guard ends the command when it is not, by a clock of its
 * own: so also while we are stopped. */
static void keep_trusted(struct delivering *d, struct guarded *g)
{
    struct err err;
    if (ms_until(d->consumer.renew_at_us) > 0)
        return;
    int rc = consumer_renew(&d->consumer, &err);
    if (rc > 0) {
        guarded_trust(g, d->consumer.trusted_until_us);
    } else if (rc == 0) {
        d->consumer.renew_at_us = INT64_MAX;
        guarded_stop(g);
    } else {
        log_info(&d->app->log, "the lease was not renewed: %s", err.text);
    }
}

static struct guarded_report attend(struct delivering *d, struct guarded *g, int *pipe_in,
                                    const struct page *page)
{
    size_t written = 0;
    bool is_stopping = false;
    for (;;) {
        struct pollfd fds[] = { { .fd = g->sock, .events = POLLIN },
                                { .fd = *pipe_in, .events = POLLOUT },
                                { .fd = is_stopping ? -1 : d->interrupt.fd, .events = POLLIN } };
        if (poll(fds, 3, ms_until(d->consumer.renew_at_us)) < 0 && errno != EINTR)
            return guarded_end(g);
        if (fds[1].revents)
            feed(pipe_in, page, &written);
        if (fds[0].revents && guarded_is_over(g))
            return guarded_end(g);
        if (fds[2].revents) {
            is_stopping = true;
            guarded_stop(g);
        }
        keep_trusted(d, g);
    }
}

static int run_command(struct delivering *d, const struct page *page, struct guarded_report *report,
                       struct err *err)
{
    int ends[2];
    struct guarded g;
    const char *env[] = { "PRESCIENT_CONSUMER", d->o->name, NULL };
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_sys(err, ERR_GENERAL, "pipe");
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    struct guarded_command c = {
        .argv = d->o->argv, .env = env, .in = ends[0], .out = -1, .err = -1, .held = -1,
        .timeout_us = d->o->timeout_us, .grace_us = d->app->settings.kill_grace_us,
        .trust_until_us = d->consumer.trusted_until_us,
    };
    fflush(d->app->out);
    int rc = guarded_start(&g, &c, err);
    close(ends[0]);
    if (rc == 0)
        *report = attend(d, &g, &ends[1], page);
    if (ends[1] >= 0)
        close(ends[1]);
    return rc;
}

/* ---- one page ---- */

/* Waits, under the lease. */
static int pause_for(struct delivering *d, int64_t us, struct err *err)
{
    int64_t until_us = boot_us() + us;
    while (boot_us() < until_us) {
        int rc = consumer_keep(&d->consumer, err);
        if (rc <= 0)
            return rc < 0 ? rc : PASS_LOST;
        int64_t wake_us = d->consumer.renew_at_us < until_us ? d->consumer.renew_at_us : until_us;
        if (interrupt_wait(&d->interrupt, ms_until(wake_us)))
            return PASS_STOPPED;
    }
    return PASS_DONE;
}

static void say_events(const struct delivering *d, const struct page *page, const char *how, const char *then)
{
    const struct store_rows *rows = &page->rows;
    const char *first = rows_value(rows, 0, "cursor"), *last = rows_value(rows, rows->rows - 1, "cursor");
    if (rows->rows == 1)
        app_warn(d->app, "%s: the command %s on event %s (%s of %s %s)%s", d->o->name, how, first,
                 rows_value(rows, 0, "event"), rows_value(rows, 0, "entity_name"),
                 rows_value(rows, 0, "entity_key"), then);
    else
        app_warn(d->app, "%s: the command %s on the %d events from %s to %s%s", d->o->name, how, rows->rows,
                 first, last, then);
}

static int moved(struct delivering *d, const struct page *page, bool skipped, struct err *err)
{
    const char *cursor = rows_value(&page->rows, page->rows.rows - 1, "cursor");
    int rc = consumer_move(&d->consumer, cursor, skipped, err);
    if (rc <= 0)
        return rc < 0 ? rc : PASS_LOST;
    halving_done(&d->halving, page->rows.rows);
    note_place(d, NULL);
    return PASS_DONE;
}

/* Then nobody has to be told of what stood in the way. */
static bool is_reset(struct delivering *d)
{
    struct err err;
    return consumer_renew(&d->consumer, &err) == 0;
}

static int refused(struct delivering *d, const struct page *page, const struct guarded_report *report,
                   struct err *err)
{
    char how[256], pause[MOMENT_TEXT], then[128];
    guarded_words(report, d->o->timeout_us, how, sizeof how);
    enum halving_verdict verdict = halving_failed(&d->halving, page->rows.rows);
    note_place(d, rows_value(&page->rows, 0, "cursor"));
    if (verdict == HALVING_GUILTY && d->o->skip_after) {
        int rc = moved(d, page, true, err);
        if (rc == PASS_DONE)
            say_events(d, page, how, ", as often as --skip-after wants: it is skipped");
        return rc;
    }
    if (verdict == HALVING_GUILTY && is_reset(d))
        return PASS_LOST;
    if (verdict == HALVING_GUILTY) {
        say_events(d, page, how, ", again and again: stopped in front of it. --skip-after N goes on behind "
                                 "such an event, and so does --reset NAME --to its cursor");
        return PASS_GUILTY;
    }
    int64_t pause_us = halving_pause_us(&d->halving, d->o->backoff_us, BACKOFF_MAX_US);
    snprintf(then, sizeof then, "%s again in %s", page->rows.rows > 1 ? ": the first half of them" : ":",
             duration_format_us(pause_us, pause));
    say_events(d, page, how, then);
    return pause_for(d, pause_us, err);
}

/* A program that is not there is no fault of an event. */
static int not_started(const struct delivering *d, const struct guarded_report *report, struct err *err)
{
    char how[256];
    return err_set(err, ERR_GENERAL, "'%s' %s", d->o->argv[0],
                   guarded_words(report, d->o->timeout_us, how, sizeof how));
}

static int hand_over(struct delivering *d, struct page *page, struct err *err)
{
    struct guarded_report report;
    if (boot_us() >= d->consumer.trusted_until_us) {
        int rc = consumer_renew(&d->consumer, err);
        if (rc <= 0)
            return rc < 0 ? rc : PASS_LOST;
    }
    int rc = run_command(d, page, &report, err);
    if (rc < 0)
        return rc;
    switch ((enum guarded_what)report.what) {
    case GUARDED_NO_PROGRAM:
    case GUARDED_NO_PROCESS:
        return not_started(d, &report, err);
    case GUARDED_UNTRUSTED:
        return PASS_LOST;
    case GUARDED_STOPPED:
        return interrupt_came(&d->interrupt) ? PASS_STOPPED : PASS_LOST;
    case GUARDED_ENDED:
    case GUARDED_LATE:
    case GUARDED_STARTED:
    case GUARDED_LOST:
        break;
    }
    if (guarded_went_well(&report))
        return moved(d, page, false, err);
    return interrupt_came(&d->interrupt) ? PASS_STOPPED : refused(d, page, &report, err);
}

/* ---- a pass ---- */

static int go_through(struct delivering *d, struct err *err)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(64 * 1024);
    for (;;) {
        struct page page = { 0 };
        if (!a)
            return err_set(err, ERR_NOMEM, "out of memory");
        if (interrupt_came(&d->interrupt))
            return PASS_STOPPED;
        arena_reset(a);
        int rc = consumer_read(&d->consumer, a, d->halving.size, &page.rows, err);
        if (rc < 0)
            return rc;
        if (!page.rows.rows)
            return PASS_DONE;
        if (is_elsewhere(d, &page.rows)) {
            halve_anew(d);
            continue;                   /* a whole page again */
        }
        if (!write_page(d, a, &page))
            return err_set(err, ERR_NOMEM, "out of memory for %d events", page.rows.rows);
        rc = hand_over(d, &page, err);
        if (rc != PASS_DONE)
            return rc;
    }
}

static void tell_pruned(struct delivering *d)
{
    if (!d->consumer.pruned_at || d->consumer.pruned_at == d->told_pruned)
        return;
    d->told_pruned = d->consumer.pruned_at;
    app_warn(d->app,
             "%s: events that it had not read were older than `keep` and were pruned at %s; it goes on with "
             "the oldest that there is. --reset ends this warning",
             d->o->name, telling_moment(d->app, d->consumer.pruned_at));
}

static int pass(struct delivering *d, struct err *err)
{
    int rc = consumer_take(&d->consumer, err);
    if (rc <= 0)
        return rc < 0 ? rc : PASS_HELD;
    tell_pruned(d);
    rc = go_through(d, err);
    consumer_give_back(&d->consumer);
    return rc;
}

/* ---- until when ---- */

static bool is_away(struct delivering *d, int rc, const struct err *err)
{
    bool away = rc < 0 && app_is_away(err) && !err_is_denied(err);
    if (away && !d->away)
        log_warn(&d->app->log, "%s; waiting for the store", err->text);
    d->away = away;
    return away;
}

/* The lease of another is looked at often enough to take over soon after it has expired. */
static int64_t pause_after(const struct delivering *d, int rc)
{
    int64_t lease_us = d->app->settings.lease_us;
    int64_t look_us = lease_us / 3 < 5 * SECOND_US ? lease_us / 3 : 5 * SECOND_US;
    if (rc == PASS_LOST)
        return 0;
    if (rc < 0)
        return SECOND_US;
    return rc == PASS_HELD && look_us < d->o->every_us ? look_us : d->o->every_us;
}

/* ---- being told ---- */

static bool wants_to_hear(const struct delivering *d)
{
    return d->app->settings.notify && d->o->every_us > SECOND_US;
}

/* Before the pass: what is written after it is told. The line may have been lost since the last. */
static void start_listening(struct delivering *d)
{
    struct err err;
    struct store *st = d->consumer.store;
    if (!wants_to_hear(d) || d->away)
        return;
    int rc = store_listen(st, d->app->settings.notify, &err);
    bool is_deaf = rc < 0 || store_heard_fd(st) < 0;
    if (rc < 0 && !d->told_deaf)
        log_warn(&d->app->log, "%s cannot be told of events, and looks at its own times: %s",
                 d->o->name, err.text);
    else if (is_deaf && !d->told_deaf)
        app_remark(d->app, "`notify` has no effect here: SQLite tells nobody, and %s looks as --every "
                           "says", d->o->name);
    d->told_deaf = is_deaf;
}

/* Events may be told before they can be read, as an older transaction has not ended: so after it
 * was told it looks again, at pauses that grow up to the usual one. */
static void note_heard(struct delivering *d, bool heard)
{
    int64_t later_us = d->again_us < d->o->every_us ? d->again_us * 2 : d->o->every_us;
    d->again_us = heard ? SECOND_US : later_us;
}

static int64_t soonest_us(const struct delivering *d, int64_t usual_us)
{
    return d->again_us < usual_us ? d->again_us : usual_us;
}

/* Until the next look; true: a signal came. Who tells very often has to wait. */
static bool wait_told(struct delivering *d, int64_t usual_us)
{
    bool heard = false, was_stopped = false;
    struct store *st = d->consumer.store;
    int64_t until_us = boot_us() + soonest_us(d, usual_us);
    while (!was_stopped && boot_us() < until_us && !(heard = store_heard(st)))
        was_stopped = interrupt_wait_beside(&d->interrupt, store_heard_fd(st), ms_until(until_us));
    note_heard(d, heard);
    return was_stopped || interrupt_wait(&d->interrupt, ms_until(d->looked_us + LOOKS_APART_US));
}

static bool wait_for_more(struct delivering *d, int rc)
{
    int64_t usual_us = pause_after(d, rc);
    if (rc == PASS_DONE && wants_to_hear(d))
        return wait_told(d, usual_us);
    return interrupt_wait(&d->interrupt, (int)(usual_us / 1000));
}

/* Stays, until a signal comes, an event is guilty, or the store has a failure that lasts. */
static int stay(struct delivering *d, struct err *err)
{
    d->again_us = d->o->every_us;
    for (;;) {
        start_listening(d);
        d->looked_us = boot_us();
        int rc = pass(d, err);
        bool goes_on = rc == PASS_DONE || rc == PASS_HELD || rc == PASS_LOST || is_away(d, rc, err);
        if (!goes_on)
            return rc;
        d->away = d->away && rc < 0;
        if (rc < 0)
            note_heard(d, true);        /* what was told meanwhile was not heard */
        if (rc == PASS_DONE)
            withheld_watch_look(&d->withheld, d->app, clock_mono_us(&clock_system));
        if (wait_for_more(d, rc))
            return PASS_STOPPED;
    }
}

/* What is there, once. A lease that was lost in between is another one's. */
static int once(struct delivering *d, struct err *err)
{
    int rc = pass(d, err);
    if (rc == PASS_LOST)
        rc = pass(d, err);
    if (rc == PASS_HELD)
        return err_set(err, ERR_BUSY, "%s is at work by this name; events come to one at a time",
                       *d->consumer.seen.holder ? d->consumer.seen.holder : "another one");
    if (rc == PASS_LOST)
        return err_set(err, ERR_BUSY, "the lease was lost twice; the events come again");
    if (rc == PASS_DONE)
        withheld_remark(d->app);
    return rc;
}

/* A name that was misspelt would be one more consumer, with a cursor of its own. */
static void tell_new(const struct delivering *d)
{
    const char *others = d->consumer.is_new ? consumers_others(d->app, d->o->name) : NULL;
    if (!others)
        return;
    app_remark(d->app,
               "the consumer '%s' is new: it begins with the oldest event that there is. %s%s. If the name "
               "is wrong: prescient events --forget %s",
               d->o->name, *others ? "Others: " : "There are no others", others, d->o->name);
}

int deliver(struct app *app, const struct deliver_options *options)
{
    struct err err = { 0 };
    struct delivering d = { .app = app, .o = options, .interrupt.fd = -1 };
    halve_anew(&d);
    int rc = guarded_check(options->argv[0], &err);
    if (rc == 0)
        rc = interrupt_init(&d.interrupt, &err);
    if (rc == 0)
        rc = consumer_open(&d.consumer, app, options->name, &err);
    if (rc == 0) {
        tell_new(&d);
        rc = options->every_us ? stay(&d, &err) : once(&d, &err);
    }
    consumer_release(&d.consumer);
    interrupt_release(&d.interrupt);
    if (rc < 0)
        return app_fail(app, &err);
    return rc == PASS_GUILTY ? EXIT_TROUBLE : EXIT_WELL;
}
