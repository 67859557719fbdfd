/* template.c - compiled and run by libjq. A program gets [document, now], and begins with names of
 * ours: rewrite.c keeps those of templates from beginning with "__". */
#include "template.h"

#include <jq.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bound.h"
#include "rewrite.h"

/* Of the job's timeout: what a program may take, and all of a check. Requests that are under way
 * wait meanwhile, and the rest is for sending. */
enum { TIME_PART = 4, CHECK_PART = 2 };

/* libjq 1.6 ends the process where strftime gets a number of which gmtime makes no time, or no
 * text: 1e300 out of a payload would end the worker. An empty text it finds for ever. */
static const char beginning[] =
    "def __given($__what): if . == null then error({__null: $__what}) else . end; "
    "def __time($f): if ($f | type) != \"string\" then error(\"strftime: no text\") "
    "elif type == \"number\" and (. > -1e12 and . < 1e12 | not) then error(\"\\(.) is no time\") "
    "else . end; "
    "def __strftime($f): strftime($f); def strftime($f): __time($f) | __strftime($f); "
    "def __strflocaltime($f): strflocaltime($f); "
    "def strflocaltime($f): __time($f) | __strflocaltime($f); "
    "def todate: strftime(\"%Y-%m-%dT%H:%M:%SZ\"); def todateiso8601: todate; "
    "def __indices($i): indices($i); "
    "def indices($i): if $i == \"\" and type == \"string\" then null else __indices($i) end; "
    "def index($i): indices($i) | .[0]; def rindex($i): indices($i) | .[-1:][0]; "
    "def __strindices($i): _strindices($i); "
    "def _strindices($i): if $i == \"\" then null else __strindices($i) end; "
    ".[1] as $__now | .[0] | def now: $__now; ";

struct template
{
    const char *name, *mark;
    enum template_form form;
    char *fixed; /* else */
    jq_state *jq;
    int64_t limit_ms;
    bool is_ended; /* its last run was: another one may have a result */
};

struct template_input {
    jv value;
    int64_t left_ms; /* of what all programs of its check may take */
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- compiling ---- */

struct complaint {
    char text[200];
}; /* the first of a compilation; it names the rest */

/* "jq: error: syntax error, unexpected $end (Unix shell quoting issues?) at <top-level>, line
 * 1:" and the program, which is not what stands in the settings. */
static void take_complaint(void *ctx, jv message)
{
    struct complaint *c = ctx;
    static const char error[] = "jq: error: ";
    jv words = jq_format_error(message);
    const char *text = jv_string_value(words);
    if (!strncmp(text, error, strlen(error)))
        text += strlen(error);
    size_t n = strcspn(text, "\n");
    if (n && text[n - 1] == ':')
        n--;
    if (!*c->text)
        snprintf(c->text, sizeof c->text, "%.*s", (int)n, text);
    jv_free(words);
}

/* Takes this part out of the words: of shells and of files there are none. */
static void drop(char *text, const char *part)
{
    char *at = strstr(text, part);
    if (at)
        memmove(at, at + strlen(part), strlen(at + strlen(part)) + 1);
}

static int compile(const struct settings *s, struct template *t, const char *program)
{
    struct complaint c = { "" };
    char *whole = NULL;
    t->jq = jq_init();
    if (!t->jq || asprintf(&whole, "%s%s", beginning, program) < 0)
        return settings_refuse(s, "setting '%s': out of memory", t->name);
    jq_set_error_cb(t->jq, take_complaint, &c);
    int compiled = jq_compile_args(t->jq, whole, jv_object());
    jq_set_error_cb(t->jq, NULL, NULL);
    free(whole);
    if (compiled)
        return 0;
    drop(c.text, " (Unix shell quoting issues?)");
    drop(c.text, " at <top-level>");
    return settings_refuse(s, "setting '%s': jq: %s", t->name, c.text);
}

static int prepare(const struct settings *s, struct template *t, const char *text)
{
    char why[256];
    bool is_text = t->form == TEMPLATE_TEXT || t->form == TEMPLATE_LINE;
    if (is_text && !t->mark && rewrite_is_fixed(text)) {
        t->fixed = strdup(text);
        return t->fixed ? 0 : settings_refuse(s, "setting '%s': out of memory", t->name);
    }
    char *program = rewrite_template(text, is_text ? REWRITE_TEXT : REWRITE_PROGRAM, t->mark, why,
                                     sizeof why);
    if (!program)
        return settings_refuse(s, "setting '%s': %s", t->name, why);
    int rc = compile(s, t, program);
    free(program);
    return rc;
}

static int create(const struct settings *s, struct template like, const char *text, struct template **out)
{
    struct template *t = malloc(sizeof *t);
    if (!t)
        return settings_refuse(s, "setting '%s': out of memory", like.name);
    *t = like;
    t->limit_ms = s->host->timeout_ms / TIME_PART > 0 ? s->host->timeout_ms / TIME_PART : 1;
    if (!prepare(s, t, text)) {
        *out = t;
        return 0;
    }
    template_free(t);
    return -1;
}

int template_new(const struct settings *s, const char *name, const char *text, enum template_form form,
                 struct template **out)
{
    return create(s, (struct template){ .name = name, .form = form }, text, out);
}

int template_marked_of_setting(const struct settings *s, const char *name, enum template_form form,
                               const char *mark, struct template **out)
{
    const char *text = settings_text(s, name);
    *out = NULL;
    if (!text && s->host->setting_count(s->host, name) >= 0)
        return settings_refuse(s, "setting '%s': expected a text", name);
    return text ? create(s, (struct template){ .name = name, .form = form, .mark = mark }, text, out) : 0;
}

int template_of_setting(const struct settings *s, const char *name, enum template_form form,
                        struct template **out)
{
    return template_marked_of_setting(s, name, form, NULL, out);
}

void template_free(struct template *t)
{
    if (!t)
        return;
    if (t->jq)
        jq_teardown(&t->jq);
    free(t->fixed);
    free(t);
}

bool template_is_fixed(const struct template *t)
{
    return t->fixed != NULL;
}

/* ---- filling in ---- */

struct template_input *template_read(const char *document, int64_t now, char *why, size_t why_size)
{
    struct template_input *input = malloc(sizeof *input);
    jv value = jv_parse(document);
    if (input && jv_is_valid(value)) {
        input->value = JV_ARRAY(value, jv_number((double)now));
        input->left_ms = INT64_MAX;
        return input;
    }
    jv words = jv_invalid_get_msg(value);
    snprintf(why, why_size, "jq cannot read the payload: %s",
             jv_get_kind(words) == JV_KIND_STRING ? jv_string_value(words) : "out of memory");
    jv_free(words);
    free(input);
    return NULL;
}

void template_input_free(struct template_input *input)
{
    if (input)
        jv_free(input->value);
    free(input);
}

/* Who reads the words could write the mark into a payload. */
static void drop_marks(const struct template *t, char *why)
{
    while (t->mark && strstr(why, t->mark))
        drop(why, t->mark);
}

/* What a program has ended with: error(...), our own {"__null": "..."}, or nothing. */
static void explain(const struct template *t, jv invalid, char *why, size_t why_size)
{
    jv words = jv_invalid_get_msg(invalid);
    if (jv_get_kind(words) == JV_KIND_OBJECT && jv_object_has(jv_copy(words), jv_string("__null"))) {
        jv what = jv_object_get(jv_copy(words), jv_string("__null"));
        snprintf(why, why_size, "%s: \\(%s) is null", t->name, jv_string_value(what));
        jv_free(what);
    } else if (jv_get_kind(words) == JV_KIND_NULL) {
        snprintf(why, why_size, "%s: it has no result", t->name);
    } else {
        jv text = jv_get_kind(words) == JV_KIND_STRING ? jv_copy(words) : jv_dump_string(jv_copy(words), 0);
        snprintf(why, why_size, "%s: jq: %.300s", t->name, jv_string_value(text));
        jv_free(text);
    }
    drop_marks(t, why);
    jv_free(words);
}

static bool has_control(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (((unsigned char)text[i] < ' ' && text[i] != '\t') || text[i] == 0x7f)
            return true;
    return false;
}

static char *take_text(const struct template *t, const char *text, size_t n, size_t *len, char *why,
                       size_t why_size)
{
    if (t->form == TEMPLATE_LINE && has_control(text, n)) {
        snprintf(why, why_size, "%s: a control character has come out, such as the end of a line", t->name);
        return NULL;
    }
    char *copy = malloc(n + 1);
    if (!copy) {
        snprintf(why, why_size, "%s: out of memory", t->name);
        return NULL;
    }
    memcpy(copy, text, n);
    copy[n] = '\0';
    *len = n;
    return copy;
}

/* A second result would be lost: which one was meant? */
static bool has_more(struct template *t)
{
    jv next = jq_next(t->jq);
    bool has = jv_is_valid(next);
    jv_free(next);
    return has;
}

/* A text would stand in the midst of JSON as it is, and might go on behind its end. */
static bool has_form(const struct template *t, jv result)
{
    return t->form != TEMPLATE_LIST || jv_get_kind(result) == JV_KIND_ARRAY;
}

/* What it has taken is given back at once: others need it. */
static void explain_end(struct template *t, enum bound_end end, int64_t limit_ms, char *why, size_t why_size)
{
    t->is_ended = true;
    jq_start(t->jq, jv_null(), 0);
    malloc_trim(0);
    if (end == BOUND_TIME && limit_ms < t->limit_ms)
        snprintf(why, why_size, "%s: jq: no end: the templates of this check took half of the timeout",
                 t->name);
    else if (end == BOUND_TIME)
        snprintf(why, why_size, "%s: jq: no end after %lld ms, a quarter of the timeout", t->name,
                 (long long)t->limit_ms);
    else
        snprintf(why, why_size, "%s: jq: it takes too much of worker_memory", t->name);
}

/* Its first result, and whether there are more. Invalid with words: it was ended. */
static jv run_bounded(struct template *t, struct template_input *input, bool *more, char *why,
                      size_t why_size)
{
    struct bound bound;
    int64_t limit_ms = t->limit_ms, began_ms = now_ms();
    if (input->left_ms < limit_ms)
        limit_ms = input->left_ms > 1 ? input->left_ms : 1;
    jq_start(t->jq, jv_copy(input->value), 0);
    if (!bound_begin(&bound, t->jq, limit_ms)) {
        t->is_ended = true;
        snprintf(why, why_size, "%s: the system has no timer for it", t->name);
        return jv_invalid();
    }
    jv result = jq_next(t->jq);
    *more = jv_is_valid(result) && has_more(t);
    enum bound_end end = bound_over(&bound);
    input->left_ms -= now_ms() - began_ms;
    if (!end)
        return result;
    jv_free(result);
    explain_end(t, end, limit_ms, why, why_size);
    return jv_invalid();
}

static char *run(struct template *t, struct template_input *input, size_t *len, char *why,
                 size_t why_size)
{
    char *out = NULL;
    bool more = false;
    t->is_ended = false;
    jv result = run_bounded(t, input, &more, why, why_size);
    if (t->is_ended)
        return NULL;
    if (!jv_is_valid(result)) {
        explain(t, result, why, why_size);
        return NULL;
    }
    if (!has_form(t, result)) {
        snprintf(why, why_size, "%s: found %s, expected a list", t->name, jv_kind_name(jv_get_kind(result)));
        jv_free(result);
        return NULL;
    }
    if (jv_get_kind(result) != JV_KIND_STRING)
        result = jv_dump_string(result, 0);
    if (more)
        snprintf(why, why_size, "%s: it has more than one result", t->name);
    else
        out = take_text(t, jv_string_value(result), (size_t)jv_string_length_bytes(jv_copy(result)), len, why,
                        why_size);
    jv_free(result);
    return out;
}

char *template_fill(struct template *t, struct template_input *input, size_t *len, char *why,
                    size_t why_size)
{
    if (t->fixed)
        return take_text(t, t->fixed, strlen(t->fixed), len, why, why_size);
    return run(t, input, len, why, why_size);
}

/* ---- for a check ---- */

struct template_input *template_input_of(const struct prescient_host *host,
                                         const struct prescient_check *check, struct prescient_answer *answer)
{
    char why[256];
    const char *document = host->document(host, check);
    struct template_input *input = NULL;
    if (!document)
        prescient_fail(answer, "%s", host->error(host));
    else if (!(input = template_read(document, check->now, why, sizeof why)))
        prescient_fail_final(answer, "%s", why);
    if (input)
        input->left_ms = host->timeout_ms / CHECK_PART;
    return input;
}

char *template_fill_or_answer(struct template *t, struct template_input *input, size_t *len,
                              struct prescient_answer *answer)
{
    char why[512];
    char *text = template_fill(t, input, len, why, sizeof why);
    if (!text && t->is_ended)
        prescient_fail(answer, "%s", why);
    else if (!text)
        prescient_fail_final(answer, "%s", why);
    return text;
}
