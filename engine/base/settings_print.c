/* settings_print.c - settings as a file: the values in force, on request with comments. */
#include "settings_print.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "settings_impl.h"
#include "settings_listeners.h"
#include "settings_mask.h"
#include "settings_secret.h"
#include "settings_table.h"
#include "settings_value.h"

struct printer {
    const struct settings *s;
    FILE *out;
    enum settings_comments comments;
    bool secrets;
    struct arena *arena;
};

/* ---- comments ---- */

/* The next line of a comment: up to a line end, or the words that fit; at least one. */
static size_t line_size(const char *text)
{
    enum { COLUMNS = 100 - 2 };
    size_t whole = strcspn(text, "\n"), fits = 0;
    if (whole <= COLUMNS)
        return whole;
    for (size_t i = 0; i < whole; i++)
        if ((i <= COLUMNS || !fits) && text[i] == ' ')
            fits = i;
    return fits ? fits : whole;
}

/* A text of one line or several as a comment, wrapped between words. */
static void put_prose(FILE *out, const char *text)
{
    while (*text) {
        size_t n = line_size(text);
        fprintf(out, "# %.*s\n", (int)n, text);
        text += n;
        text += *text == ' ' || *text == '\n';
    }
}

/* ---- a job's own group ---- */

static void indent(FILE *out, int depth)
{
    fprintf(out, "%*s", 4 * depth, "");
}

/* In as few digits as read back as it, and with a point: by that alone libconfig takes a number for
 * a float. */
static void put_float(FILE *out, double value)
{
    enum { SURE = 15, ALL = 17 };       /* digits of any text that a double keeps, and of any double */
    char text[64];
    for (int digits = SURE; digits <= ALL; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    size_t digits = strcspn(text, ".e");
    fprintf(out, "%.*s%s%s", (int)digits, text, text[digits] == '.' ? "" : ".0", text + digits);
}

static bool is_secret_name(const char *name)
{
    static const char *const words[] = { "password", "passwd", "secret", "token", "api_key", "apikey" };
    for (size_t i = 0; name && i < sizeof words / sizeof *words; i++)
        if (strcasestr(name, words[i]))
            return true;
    return false;
}

/* "Authorization: ***". Which headers let others in depends on the receiver: each value is
 * hidden. */
static bool put_header(struct printer *p, const char *name, const char *text)
{
    char shown[256];
    const char *colon = strchr(text, ':');
    if (!name || strcasecmp(name, "headers") != 0 || !colon)
        return false;
    snprintf(shown, sizeof shown, "%.*s: ***", (int)(colon - text > 200 ? 200 : colon - text), text);
    settings_put_string(p->out, shown);
    return true;
}

/* What a worker is sent of a secret keeps the mark of one. */
static void put_secret(struct printer *p, const struct settings_secret *s)
{
    size_t before = strlen(s->value) - strlen(s->secret);
    char *marked = arena_printf(p->arena, "%.*s@secret:%s", (int)before, s->value, s->secret);
    settings_put_string(p->out, p->secrets && marked ? marked : s->reference);
}

static void put_own_string(struct printer *p, const char *name, const char *text)
{
    char masked[4097];
    if (!p->secrets && put_header(p, name, text))
        return;
    if (!p->secrets && is_secret_name(name))
        text = "***";
    else if (!p->secrets && (strstr(text, "://") || strcasestr(text, "password")) &&
             strlen(text) < sizeof masked / 2) {
        settings_mask_url(text, masked, sizeof masked);
        text = masked;
    }
    settings_put_escaped(p->out, text, name);
}

static void put_node(struct printer *p, const config_setting_t *node, int depth);

static void put_members(struct printer *p, const config_setting_t *group, int depth)
{
    fputs("{\n", p->out);
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *member = config_setting_get_elem(group, (unsigned)i);
        indent(p->out, depth + 1);
        fprintf(p->out, "%s = ", config_setting_name(member));
        put_node(p, member, depth + 1);
        fputs(";\n", p->out);
    }
    indent(p->out, depth);
    fputs("}", p->out);
}

static void put_elements(struct printer *p, const config_setting_t *node, int depth, const char *brackets)
{
    fputc(brackets[0], p->out);
    for (int i = 0; i < config_setting_length(node); i++) {
        fputs(i ? ", " : "", p->out);
        put_node(p, config_setting_get_elem(node, (unsigned)i), depth);
    }
    fputc(brackets[1], p->out);
}

static void put_text_node(struct printer *p, const config_setting_t *node)
{
    const struct settings_secret *secret = settings_secret_of(node);
    if (secret)
        put_secret(p, secret);
    else
        put_own_string(p, settings_secret_name(node), config_setting_get_string(node));
}

static void put_node(struct printer *p, const config_setting_t *node, int depth)
{
    switch (config_setting_type(node)) {
    case CONFIG_TYPE_GROUP: put_members(p, node, depth); break;
    case CONFIG_TYPE_LIST: put_elements(p, node, depth, "()"); break;
    case CONFIG_TYPE_ARRAY: put_elements(p, node, depth, "[]"); break;
    case CONFIG_TYPE_STRING: put_text_node(p, node); break;
    case CONFIG_TYPE_BOOL: fputs(config_setting_get_bool(node) ? "true" : "false", p->out); break;
    case CONFIG_TYPE_FLOAT: put_float(p->out, config_setting_get_float(node)); break;
    case CONFIG_TYPE_INT64: fprintf(p->out, "%lldL", config_setting_get_int64(node)); break;
    default: fprintf(p->out, "%d", config_setting_get_int(node)); break;
    }
}

/* ---- jobs ---- */

/* Whether a name can stand before a "=" in libconfig. */
static bool is_plain_name(const char *name)
{
    bool plain = isalpha((unsigned char)*name) || *name == '*';
    for (; *name; name++)
        plain &= isalnum((unsigned char)*name) || strchr("-_*", *name);
    return plain;
}

/* A value is written down when it is not the one that every job starts from. */
static bool is_inherited(const struct settings *s, const struct setting_row *row,
                         const struct job_settings *job)
{
    static const size_t sizes[] = { [SETTING_INT] = sizeof(int32_t),
                                    [SETTING_DURATION_US] = sizeof(int64_t),
                                    [SETTING_DURATION_S] = sizeof(int64_t) };
    return row->type < sizeof sizes / sizeof *sizes && sizes[row->type] &&
        !memcmp((const char *)job + row->offset, (const char *)&s->defaults + row->offset, sizes[row->type]);
}

static void put_value(struct printer *p, const struct setting_row *row, const void *field, int count,
                      const char *job)
{
    const char *reference = settings_reference(p->s->impl, row, job);
    if (reference && !p->secrets)
        settings_put_string(p->out, reference);
    else
        settings_put_value(row, field, count, p->secrets, p->out);
}

/* Jobs start from the top level. */
static const char *place_in_job(const struct settings_impl *impl, const struct setting_row *row,
                                const char *job)
{
    for (const struct settings_placed *p = impl->placed; p; p = p->older)
        if (p->row == row && !strcmp(p->job, job))
            return p->where;
    return NULL;
}

const char *settings_place(const struct settings *s, const struct setting_row *row, const char *job)
{
    const struct settings_impl *impl = s->impl;
    const char *where = job ? place_in_job(impl, row, job) : NULL;
    if (!where && row)
        where = impl->where[settings_row_index(row)];
    return where ? where : "default";
}

static void end_line(struct printer *p, const char *place)
{
    if (p->comments == SETTINGS_PLACED)
        fprintf(p->out, ";    # %s\n", place);
    else
        fputs(";\n", p->out);
}

static void put_job_body(struct printer *p, const struct job_settings *job)
{
    for (const struct setting_row *row = settings_job_rows; row->name; row++) {
        if (is_inherited(p->s, row, job))
            continue;
        fprintf(p->out, "        %s = ", row->name);
        put_value(p, row, (const char *)job + row->offset, 0, job->name);
        end_line(p, settings_place(p->s, row, job->name));
    }
    if (!job->own)
        return;
    fputs("        settings = ", p->out);
    put_node(p, job->own, 2);
    end_line(p, settings_place(p->s, NULL, job->name));
}

int settings_print_job(const struct settings *s, const struct job_settings *job, FILE *out)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(4096);
    if (!a)
        return ERR_NOMEM;
    put_job_body(&(struct printer){ .s = s, .out = out, .secrets = true, .arena = a }, job);
    return 0;
}

static void put_jobs(struct printer *p)
{
    const struct settings *s = p->s;
    bool listed = false;
    for (int i = 0; i < s->njobs; i++)
        listed |= !is_plain_name(s->jobs[i].name);
    fprintf(p->out, "jobs = %c\n", listed ? '(' : '{');
    for (int i = 0; i < s->njobs; i++) {
        if (listed) {
            fputs("    {\n        name = ", p->out);
            settings_put_string(p->out, s->jobs[i].name);
            fputs(";\n", p->out);
        } else {
            fprintf(p->out, "    %s = {\n", s->jobs[i].name);
        }
        put_job_body(p, &s->jobs[i]);
        const char *separator = listed ? "," : ";";
        if (listed && i + 1 == s->njobs)
            separator = "";
        fprintf(p->out, "    }%s\n", separator);
    }
    fprintf(p->out, "%c;\n", listed ? ')' : '}');
}

static const char jobs_help[] = "The jobs that answer checks: each has a name, a plug-in, limits of its own, "
                                "and settings for the plug-in.";
static const char jobs_example[] =
    "# jobs = {\n"
    "#     unshipped_order = {\n"
    "#         plugin = \"sql_check\";\n"
    "#         max_checks = 3;\n"
    "#         settings = { };\n"
    "#     };\n"
    "# };\n";

static const char listeners_help[] =
    "What hears events: each event that a job emits is handed to the job of each listener whose events "
    "name it, and whose except does not. A name with a star at its end stands for all that begin so. With "
    "digest, a time such as \"15m\" or \"cron 0 8 * * mon-fri\" (in timezone; default UTC), what has matched "
    "since the last time is handed over together.";
static const char listeners_example[] =
    "# listeners = (\n"
    "#     {\n"
    "#         name = \"hook\";\n"
    "#         events = \"order.*\";\n"
    "#         except = [\"order.paid\"];\n"
    "#         job = \"hook\";\n"
    "#     }\n"
    "# );\n";

/* ---- the top level ---- */

static void put_comment(struct printer *p, const struct setting_row *row)
{
    const char *value = row->default_text ? row->default_text : "unset";
    const char *bounds = arena_printf(p->arena, "Expected: %s. Default: %s.",
                                      settings_expected(row, p->arena), *value ? value : "none");
    fputc('\n', p->out);
    put_prose(p->out, row->help);
    put_prose(p->out, bounds ? bounds : "");
}

static void put_row(struct printer *p, const struct setting_row *row)
{
    /* settings_field serves readers and writers */
    struct settings *s = (struct settings *)p->s;
    bool is_explained = p->comments == SETTINGS_EXPLAINED;
    if (is_explained && row->section)
        fprintf(p->out, "\n# ---- %s ----\n", row->section);
    if (is_explained)
        put_comment(p, row);
    const void *field = settings_field(row, s, NULL);
    int count = row->count ? *(const int *)((const char *)s + row->count) : 0;
    bool is_text = row->type == SETTING_TEXT || row->type == SETTING_URL;
    if (is_text && !*(const char *const *)field) {
        if (is_explained)
            fprintf(p->out, "# %s = \"\";\n", row->name);
        return;
    }
    fprintf(p->out, "%s = ", row->name);
    put_value(p, row, field, count, NULL);
    end_line(p, settings_place(p->s, row, NULL));
}

int settings_print(const struct settings *s, FILE *out, enum settings_comments comments, bool secrets,
                   struct err *err)
{
    CLEANUP(arena_freep) struct arena *a = arena_new(4096);
    struct printer p = { .s = s, .out = out, .comments = comments, .secrets = secrets, .arena = a };
    bool commented = comments == SETTINGS_EXPLAINED;
    if (!a)
        return err_set(err, ERR_NOMEM, "settings: out of memory");
    if (commented)
        put_prose(out, "prescient.cfg - settings of prescient, in libconfig syntax. A setting that is left "
                       "out has its default.\n"
                       "@include \"FILE\" reads another file at that place.");
    for (const struct setting_row *row = settings_rows; row->name; row++)
        put_row(&p, row);
    for (const struct setting_row *row = settings_job_rows; row->name; row++)
        if (settings_row(row->name, false) == row)
            put_row(&p, row);
    if (commented) {
        fputc('\n', out);
        put_prose(out, jobs_help);
    }
    if (s->njobs || !commented)
        put_jobs(&p);
    else
        fputs(jobs_example, out);
    if (commented) {
        fputc('\n', out);
        put_prose(out, listeners_help);
    }
    if (commented && !s->nlisteners)
        fputs(listeners_example, out);
    settings_listeners_put(s, comments == SETTINGS_PLACED, out);
    if (fflush(out) != 0 || ferror(out))
        return err_sys(err, ERR_GENERAL, "settings: cannot write");
    return 0;
}
