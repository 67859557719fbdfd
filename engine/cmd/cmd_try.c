/* prescient try - one look of a job at one row, now: what it answers, what an engine would make of
 * that, and what it declares. Nothing of it is written down. With --event it is the delivery of an
 * event, and shows what it would send. */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include "../base/clock.h"
#include "../base/fingerprint.h"
#include "../base/moment.h"
#include "../base/utf8.h"
#include "../rules/idempotency.h"
#include "../rules/listener.h"
#include "../rules/slot.h"
#include "../rules/terms.h"
#include "../store/enqueue_check.h"
#include "app.h"
#include "probe.h"
#include "report.h"
#include "telling.h"
#include "text.h"
#include "trial.h"

static int try_main(struct app *app, const struct args *args);

static const struct command_option options[] = {
    { "event", 'e', "EVENT", "deliver an event of this name about that row, and show what would be sent" },
    { "payload", 'p', "JSON", "the payload of the check, or the data of the event" },
    { "send", 's', NULL, "with --event: send it" },
    { 0 }
};

const struct command cmd_try = {
    .name = "try", .group = COMMAND_RUNNING, .args = "JOB ENTITY KEY",
    .examples = "prescient try unshipped_order orders 42",
    .operands = { 3, 3 },
    .help = "let a job look at a row, and write nothing down",
    .more = "The job runs as in an engine: in a worker, under its limits, up to its timeout, as if the "
            "check was new.\n"
            "With --event nothing is sent: the request is printed, without secrets. Whoever gets it with\n"
            "--send takes it for a new one each time.\n"
            "Exit code 0 when it answers (done, again, defer), 1 when it fails, crashes or takes too long,\n"
            "78 when it cannot be run.",
    .options = options, .main = try_main,
};

enum { SLOT_LENGTH_S = 900 };           /* where neither settings nor store has one */

/* ---- what to try ---- */

static int find_job(const struct settings *s, const char *name, int *index, struct err *err)
{
    if (settings_job(s, name, index))
        return 0;
    const char *meant = settings_nearest_job(s, name);
    if (meant)
        return err_set(err, ERR_SETTINGS, "no job '%s' in the settings; did you mean '%s'?", name, meant);
    return err_set(err, ERR_SETTINGS, "no job '%s' in the settings; `prescient jobs` lists them", name);
}

/* A plug-in that cannot be used is reported once, in its own words. */
static int open_job(const struct settings *s, int job, bool is_dry, struct err *err)
{
    struct prober prober = { .settings = s, .opens_only = true, .is_dry = is_dry };
    struct probed found;
    char why[sizeof found.why + 256];
    probe_job(&prober, job, &found);
    if (found.is_usable)
        return 0;
    probe_describe(&s->jobs[job], &found, why, sizeof why);
    return err_set(err, ERR_SETTINGS, "job %s", why);
}

/* Time and slot length are those of the store when it answers; a trial can do without it. */
static void ask_store(struct app *app, struct trial *t)
{
    struct err err;
    struct store_hello hello = STORE_HELLO_INIT;
    struct store *st = app_store_new(app, &err);
    t->now = app->now ? app->now : clock_wall_us(&clock_system) / 1000000;
    t->slot_length_s = app->settings.slot_length_s ? (int32_t)app->settings.slot_length_s : SLOT_LENGTH_S;
    if (!st)
        return;
    if (store_do(st, &hello.call) < 0) {
        app_remark(app, "the store is not asked for slot length and time: %s", hello.call.err.text);
    } else {
        t->now = app->now ? app->now : hello.now_us / 1000000;
        t->slot_length_s = hello.slot_length_s;
    }
    store_free(st);
}

/* ---- a delivery ---- */

/* The first that would hand the event to this job. */
static const struct listener_settings *find_listener(const struct settings *s, const char *job,
                                                     const char *event)
{
    for (int i = listeners_next(s, 0, event); i >= 0; i = listeners_next(s, i + 1, event))
        if (!strcmp(s->listeners[i].job, job))
            return &s->listeners[i];
    return NULL;
}

/* Another one each time: a receiver that drops what comes twice would drop what is tried again. */
static const char *new_key(struct app *app, const char *listener)
{
    char origin[FINGERPRINT_SIZE], now[48];
    snprintf(now, sizeof now, "%" PRId64 " %d", clock_wall_us(&clock_system), (int)getpid());
    fingerprint("prescient try", now, origin);
    return arena_printf(app->arena, "%s/%s", listener, origin);
}

static void copy_name(char out[CHECK_NAME_MAX + 1], const char *name)
{
    snprintf(out, CHECK_NAME_MAX + 1, "%s", name);
}

/* Turns the check of a row into the delivery of an event about it. */
static int make_delivery(struct app *app, const char *event, struct trial *t, struct err *err)
{
    const struct job_settings *job = &t->settings->jobs[t->job];
    const struct listener_settings *heard = find_listener(t->settings, job->name, event);
    const char *listener = heard ? heard->name : "try";
    struct terms *terms = arena_zalloc(app->arena, sizeof *terms);
    char *text = arena_alloc(app->arena, TERMS_MAX + 1);
    const char *key = new_key(app, listener);
    if (!terms || !text || !key)
        return err_set(err, ERR_NOMEM, "out of memory");
    if (!heard)
        app_remark(app, "no listener hands '%.*s' to the job %s: nobody would be told of it",
                   UTF8_SHOWN(event), job->name);
    terms->has_event = true;
    terms->event = (struct terms_event){ .check_number = 1, .emitted_us = t->now * 1000000,
                                         .first_check_at = slot_floor(t->now, t->slot_length_s) };
    copy_name(terms->event.type, event);
    copy_name(terms->event.entity_name, t->entity_name);
    copy_name(terms->event.entity_key, t->entity_key);
    copy_name(terms->event.job, job->name);
    snprintf(terms->event.listener, sizeof terms->event.listener, "%s", listener);
    t->terms = terms_print(terms, text);
    t->entity_name = DELIVERY_ENTITY;
    t->entity_key = key;
    return 0;
}

/* What may be emitted may be delivered. */
static int check_event(const char *event, const char *payload, struct err *err)
{
    const struct effect e = { .kind = EFFECT_EMIT, .event = event, .json = payload };
    int rc = effect_check(&e, err);
    return rc < 0 ? err_wrap(err, rc, "--event") : 0;
}

/* ---- what came of it ---- */

static const char *const answers[] = {
    [ANSWER_DONE] = "done", [ANSWER_AGAIN] = "again",     [ANSWER_DEFER] = "defer",    [ANSWER_FAIL] = "fail",
    [ANSWER_FAIL_FINAL] = "final fail", [ANSWER_BROKEN] = "broken",
    [ANSWER_TIMEOUT] = "timeout", [ANSWER_CRASH] = "crash", [ANSWER_BAD] = "bad answer",
};

static bool is_answer(enum answer_kind kind)
{
    return kind == ANSWER_DONE || kind == ANSWER_AGAIN || kind == ANSWER_DEFER;
}

/* What an engine would do with the check. */
static const char *verdict_text(struct app *app, const struct trial_result *r)
{
    if (r->verdict.ends)
        return arena_printf(app->arena, "the check would be over: %s", outcome_name(r->verdict.outcome));
    return arena_printf(app->arena, "the check would be looked at again in the slot %s",
                        telling_moment_away(app, r->verdict.next_at));
}

/* What few checks have: the text with ", LABEL VALUE" behind it. */
static const char *with(struct app *app, const char *text, const char *label, const char *value)
{
    return text && value ? arena_printf(app->arena, "%s, %s %s", text, label, value) : text;
}

static const char *filed_text(struct app *app, const struct effect *e)
{
    const char *json = e->json ? e->json : "";
    const char *text = arena_printf(app->arena, "enqueue  %s %s %s at %s, conflict %s", e->entity_name,
                                    e->entity_key, e->job, telling_moment_away(app, e->at), e->conflict);
    if (e->priority)
        text = with(app, text, "priority", arena_printf(app->arena, "%" PRId32, e->priority));
    text = with(app, text, "concurrency key", e->concurrency_key);
    text = with(app, text, "tenant", e->tenant);
    return arena_printf(app->arena, "%s %s", text ? text : "", json);
}

static const char *effect_text(struct app *app, const struct effect *e)
{
    if (e->kind == EFFECT_EMIT)
        return arena_printf(app->arena, "event    %s %s", e->event, e->json ? e->json : "");
    if (e->kind == EFFECT_RESOLVE)
        return arena_printf(app->arena, "resolve  %s %s %s", e->entity_name, e->entity_key,
                            e->job ? e->job : "(every job)");
    return filed_text(app, e);
}

static void put_line(struct app *app, const char *label, const char *value)
{
    fputs(label, app->out);
    text_put(app->out, value ? value : "out of memory", 0);
    fputc('\n', app->out);
}

/* Line by line, each as a terminal may have it. */
static void put_request(struct app *app, const char *request)
{
    for (const char *end; *request; request = end + (*end == '\n')) {
        size_t n = strcspn(request, "\n");
        end = request + n;
        n -= n && end[-1] == '\r';
        put_line(app, "> ", arena_strndup(app->arena, request, n));
    }
}

static void print_text(struct app *app, const struct trial_result *r)
{
    if (r->request)
        put_request(app, r->request);
    const char *answer = answers[r->kind];
    if (r->kind == ANSWER_AGAIN || r->kind == ANSWER_DEFER)
        answer = arena_printf(app->arena, "%s at %s", answer, telling_moment_away(app, r->raw.at));
    put_line(app, "answer   ", answer);
    if (r->raw.text && *r->raw.text)
        put_line(app, is_answer(r->kind) ? "note     " : "why      ", r->raw.text);
    put_line(app, "then     ", verdict_text(app, r));
    put_line(app, "took     ", arena_printf(app->arena, "%.1f ms", (double)r->raw.run_us / 1000));
    for (int i = 0; i < r->raw.neffects; i++)
        put_line(app, "", effect_text(app, &r->raw.effects[i]));
    if (!app->quiet)
        fputs(r->request ? "nothing was sent, and nothing was written down; --send sends it\n"
                         : "nothing was written down\n", app->out);
}

static json_t *moment_json(int64_t at, bool is_set)
{
    char text[MOMENT_TEXT];
    return is_set ? json_string(moment_format(at, text)) : json_null();
}

static json_t *effect_object(const struct effect *e)
{
    static const char *const kinds[] = { [EFFECT_EMIT] = "emit", [EFFECT_ENQUEUE] = "enqueue",
                                         [EFFECT_RESOLVE] = "resolve" };
    json_t *data = e->json ? json_loads(e->json, JSON_DECODE_ANY, NULL) : NULL;
    bool is_filed = e->kind == EFFECT_ENQUEUE;
    return json_pack("{s:s, s:s?, s:s?, s:s?, s:s?, s:o, s:s?, s:o, s:s?, s:s?, s:o?}", "effect",
                     kinds[e->kind], "event", e->event, "entity_name", e->entity_name, "entity_key",
                     e->entity_key, "job", e->job, "at", moment_json(e->at, is_filed), "conflict",
                     e->conflict, "priority", is_filed ? json_integer(e->priority) : json_null(),
                     "concurrency_key", e->concurrency_key, "tenant", e->tenant, "data", data);
}

static void print_json(struct app *app, const struct trial_result *r)
{
    bool has_time = r->kind == ANSWER_AGAIN || r->kind == ANSWER_DEFER;
    json_t *effects = report_made(app, json_array());
    for (int i = 0; i < r->raw.neffects; i++)
        report_added(app, json_array_append_new(effects, effect_object(&r->raw.effects[i])));
    const char *request = r->request;
    if (request && !utf8_is_valid(request, strlen(request)))
        request = "it is not valid UTF-8";
    json_t *object = json_pack("{s:s, s:o, s:s, s:b, s:o, s:I, s:s?, s:o, s:s?}", "answer",
                               answers[r->kind], "at", moment_json(r->raw.at, has_time), "outcome",
                               outcome_name(r->verdict.outcome), "is_over", r->verdict.ends, "next_check_at",
                               moment_json(r->verdict.next_at, !r->verdict.ends), "run_us",
                               (json_int_t)r->raw.run_us, "note", r->raw.text, "effects", effects,
                               "request", request);
    report_print_object(app, object);
}

/* ---- the command ---- */

static int try_check(struct app *app, const struct args *args, struct trial_result *out, struct err *err)
{
    char **o = args->operands;
    const char *event = args_text(args, 'e');
    struct trial t = { .settings = &app->settings, .entity_name = o[1], .entity_key = o[2],
                       .payload = args_text(args, 'p'), .log = &app->log,
                       .is_dry = event && !args_has(args, 's') };
    const struct load_row row = { .entity_name = o[1], .entity_key = o[2], .job_exec = o[0],
                                  .payload = t.payload, .at = 1 };
    int rc = find_job(&app->settings, o[0], &t.job, err);
    if (rc < 0)
        return rc;
    rc = enqueue_check_row(&row, err);
    if (rc < 0)
        return rc;
    rc = event ? check_event(event, t.payload, err) : 0;
    if (rc < 0)
        return rc;
    rc = open_job(&app->settings, t.job, t.is_dry, err);
    if (rc < 0)
        return rc;
    ask_store(app, &t);
    rc = event ? make_delivery(app, event, &t, err) : 0;
    if (rc < 0)
        return rc;
    return trial_run(&t, app->arena, out, err);
}

static int try_main(struct app *app, const struct args *args)
{
    struct err err = { 0 };
    struct trial_result result = { 0 };
    if (args_has(args, 's') && !args_has(args, 'e'))
        return app_usage(app, "--send belongs to --event; a check without one is run as it is");
    if (try_check(app, args, &result, &err) < 0)
        return app_fail(app, &err);
    if (app->json)
        print_json(app, &result);
    else
        print_text(app, &result);
    return is_answer(result.kind) ? EXIT_WELL : EXIT_TROUBLE;
}
