/* settings_value.c - values as users write them: one reader and one writer a type. A value comes
 * as text (a flag, a variable, a default) or as a node of libconfig; numbers of a node are read as
 * their text. */
#include "settings_value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <libconfig.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "moment.h"
#include "cleanup.h"
#include "settings_mask.h"
#include "settings_secret.h"
#include "utf8.h"

#define SECOND_US INT64_C(1000000)
#define TEXTS_MAX 64

struct target { void *field; int *count; struct arena *arena; };

/* ---- from a node to text ---- */

static const char *const bool_words[] = { "false", "true" };

/* A scalar as text, or NULL for groups, lists and arrays. */
static const char *node_text(const config_setting_t *node, struct arena *a)
{
    switch (config_setting_type(node)) {
    case CONFIG_TYPE_STRING: return config_setting_get_string(node);
    case CONFIG_TYPE_BOOL: return bool_words[config_setting_get_bool(node) != 0];
    case CONFIG_TYPE_INT: return arena_printf(a, "%d", config_setting_get_int(node));
    case CONFIG_TYPE_INT64: return arena_printf(a, "%lld", config_setting_get_int64(node));
    case CONFIG_TYPE_FLOAT: return arena_printf(a, "%.9f", config_setting_get_float(node));
    default: return NULL;
    }
}

static const char *value_text(const struct setting_value *v, struct arena *a)
{
    return v->node ? node_text(v->node, a) : v->text;
}

static bool is_quoted(const struct setting_value *v)
{
    return !v->node || config_setting_type(v->node) == CONFIG_TYPE_STRING;
}

static const char *quoted(const struct setting_row *row, const char *text, struct arena *a)
{
    char shown[256];
    if (!text)
        return NULL;
    if (row->type == SETTING_URL)
        settings_mask_url(text, shown, sizeof shown);
    else
        snprintf(shown, sizeof shown, "%.*s", UTF8_SHOWN(text));
    return arena_printf(a, "\"%s\"", shown);
}

const char *settings_found(const struct setting_row *row, const struct setting_value *v, struct arena *a)
{
    static const char *const aggregates[] = {
        [CONFIG_TYPE_GROUP] = "a group", [CONFIG_TYPE_ARRAY] = "an array", [CONFIG_TYPE_LIST] = "a list"
    };
    const char *found, *reference = v->node ? settings_secret_reference(v->node) : v->reference;
    if (reference)
        found = arena_printf(a, "\"%.*s\"", UTF8_SHOWN(reference));
    else if (is_quoted(v))
        found = quoted(row, value_text(v, a), a);
    else if (config_setting_is_aggregate(v->node))
        found = aggregates[config_setting_type(v->node)];
    else if (config_setting_type(v->node) == CONFIG_TYPE_FLOAT)
        found = arena_printf(a, "%.15g", config_setting_get_float(v->node));
    else
        found = value_text(v, a);
    return found ? found : "?";
}

/* ---- readers ---- */

static int read_text(const struct setting_row *row, const struct setting_value *v, struct target *to)
{
    const char *text = is_quoted(v) ? value_text(v, to->arena) : NULL;
    if (!text)
        return ERR_SETTINGS;
    size_t len = strlen(text);
    bool unset = len == 0 && !row->default_text;       /* "" unsets what a file has set */
    if (!unset && ((int64_t)len < row->min || (int64_t)len > row->max || !utf8_is_valid(text, len)))
        return ERR_SETTINGS;
    if (!unset && row->accepts && !row->accepts(text))
        return ERR_SETTINGS;
    const char *kept = unset ? NULL : arena_strdup(to->arena, text);
    *(const char **)to->field = kept;
    return kept || unset ? 0 : ERR_NOMEM;
}

static int read_word(const struct setting_row *row, const struct setting_value *v, struct target *to)
{
    const char *text = is_quoted(v) ? value_text(v, to->arena) : NULL;
    for (const char *const *word = row->words; text && *word; word++)
        if (!strcmp(*word, text)) {
            *(const char **)to->field = *word;
            return 0;
        }
    return ERR_SETTINGS;
}

static int read_bool(const struct setting_row *row, const struct setting_value *v, struct target *to)
{
    static const struct { const char *word; bool value; } words[] = {
        { "true", true }, { "yes", true }, { "on", true }, { "1", true },
        { "false", false }, { "no", false }, { "off", false }, { "0", false },
    };
    (void)row;
    const char *text = value_text(v, to->arena);
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
        if (!strcasecmp(words[i].word, text)) {
            *(bool *)to->field = words[i].value;
            return 0;
        }
    return ERR_SETTINGS;
}

static bool is_allowed(const struct setting_row *row, int64_t n)
{
    return (n == 0 && row->or_zero) || (n >= row->min && n <= row->max);
}

/* Digits with a sign perhaps; the whole text, or up to *end. */
static bool read_number(const char *text, int64_t *out, const char **end)
{
    char *stop;
    const char *digits = *text == '-' || *text == '+' ? text + 1 : text;
    if (!isdigit((unsigned char)*digits))
        return false;
    errno = 0;
    *out = strtoll(text, &stop, 10);
    if (end)
        *end = stop;
    return errno == 0 && (end || *stop == '\0');
}

static int read_int(const struct setting_row *row, const struct setting_value *v, struct target *to)
{
    int64_t n;
    const char *text = value_text(v, to->arena);
    if (!text || !read_number(text, &n, NULL) || !is_allowed(row, n))
        return ERR_SETTINGS;
    *(int32_t *)to->field = (int32_t)n;
    return 0;
}

static const struct size_unit {
    const char *name;
    int64_t bytes;
} size_units[] = {
    { "TiB", INT64_C(1) << 40 },
    { "GiB", INT64_C(1) << 30 },
    { "MiB", INT64_C(1) << 20 },
    { "KiB", INT64_C(1) << 10 },
    { "TB", INT64_C(1000000000000) },
    { "GB", INT64_C(1000000000) },
    { "MB", INT64_C(1000000) },
    { "kB", INT64_C(1000) },
    { "B", 1 },
    { "", 1 },
};

static int read_size(const struct setting_row *row, const struct setting_value *v, struct target *to)
{
    int64_t n;
    const char *unit, *text = value_text(v, to->arena);
    if (!text || !read_number(text, &n, &unit))
        return ERR_SETTINGS;
    for (size_t i = 0; i < sizeof size_units / sizeof *size_units; i++)
        if (!strcmp(unit, size_units[i].name)) {
            if (__builtin_mul_overflow(n, size_units[i].bytes, &n) || !is_allowed(row, n))
                return ERR_SETTINGS;
            *(int64_t *)to->field = n;
            return 0;
        }
    return ERR_SETTINGS;
}

static int read_duration(const struct setting_row *row, const struct setting_value *v, struct target *to)
{
    int64_t us;
    const char *text = value_text(v, to->arena);
    bool seconds = row->type == SETTING_DURATION_S;
    if (!text || duration_parse_us(text, &us, NULL) < 0 || !is_allowed(row, us))
        return ERR_SETTINGS;
    if ((seconds || row->whole_seconds) && us % SECOND_US != 0)
        return ERR_SETTINGS;
    if (us != 0 && row->accepts_us && !row->accepts_us(us))
        return ERR_SETTINGS;
    *(int64_t *)to->field = seconds ? us / SECOND_US : us;
    return 0;
}

/* ---- lists: an array or list of a file, one plain value, or text with separators ---- */

struct elements { const char *texts[TEXTS_MAX]; int n; };

static int split(const char *text, char separator, struct arena *a, struct elements *out)
{
    const char separators[] = { separator, '\0' };
    out->n = 0;
    while (*text) {
        size_t len = strcspn(text, separators);
        if (out->n == TEXTS_MAX)
            return ERR_SETTINGS;
        if (!(out->texts[out->n++] = arena_strndup(a, text, len)))
            return ERR_NOMEM;
        text += len;
        if (*text == separator && *++text == '\0')
            return ERR_SETTINGS;                    /* nothing behind the last one */
    }
    return 0;
}

static int list_elements(const struct setting_value *v, bool quoted_ones, char separator, struct arena *a,
                         struct elements *out)
{
    if (!v->node)
        return split(v->text, separator, a, out);
    bool many = config_setting_is_array(v->node) || config_setting_is_list(v->node);
    int n = many ? config_setting_length(v->node) : 1;
    if (n > TEXTS_MAX)
        return ERR_SETTINGS;
    for (out->n = 0; out->n < n; out->n++) {
        const struct setting_value one = { .node = many ? config_setting_get_elem(v->node, (unsigned)out->n)
                                                        : v->node };
        out->texts[out->n] = quoted_ones == is_quoted(&one) ? value_text(&one, a) : NULL;
        if (!out->texts[out->n])
            return ERR_SETTINGS;
    }
    return 0;
}

static int read_minutes(const struct setting_row *row, const struct setting_value *v, struct target *to)
{
    struct elements e;
    int rc = list_elements(v, false, row->separator, to->arena, &e), minutes[TEXTS_MAX], *field = to->field;
    bool seen[60] = { false };
    for (int i = 0; rc == 0 && i < e.n; i++) {
        int64_t n;
        if (!read_number(e.texts[i], &n, NULL) || !is_allowed(row, n) || seen[n])
            return ERR_SETTINGS;
        seen[n] = true;
        minutes[i] = (int)n;
    }
    if (rc == 0) {
        memcpy(field, minutes, (size_t)e.n * sizeof *minutes);
        *to->count = e.n;
    }
    return rc;
}

static int read_texts(const struct setting_row *row, const struct setting_value *v, struct target *to)
{
    struct elements e;
    if (!v->node && strpbrk(v->text, "[\""))        /* as a file has lists */
        return ERR_SETTINGS;
    int rc = list_elements(v, true, row->separator, to->arena, &e);
    if (rc < 0)
        return rc;
    const char **kept = arena_zalloc(to->arena, (size_t)(e.n + 1) * sizeof *kept);
    if (!kept)
        return ERR_NOMEM;
    for (int i = 0; i < e.n && rc == 0; i++) {
        struct target one = { .field = &kept[i], .arena = to->arena };
        rc = *e.texts[i] ? read_text(row, &(struct setting_value){ .text = e.texts[i] }, &one) : ERR_SETTINGS;
    }
    if (rc < 0 || e.n == 0)
        return rc < 0 ? rc : ERR_SETTINGS;
    *(const char ***)to->field = kept;
    *to->count = e.n;
    return 0;
}

/* ---- writers ---- */

void settings_put_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p < 0x20 || *p == 0x7f)
            fprintf(out, "\\x%02x", *p);
        else
            fputc(*p, out);
    fputc('"', out);
}

void settings_put_escaped(FILE *out, const char *text, const char *name)
{
    size_t at;
    CLEANUP(cleanup_free) char *longer = NULL;
    if (settings_secret_looks_like_one(text, name, &at) &&
        asprintf(&longer, "%.*s@%s", (int)at, text, text + at) < 0)
        longer = NULL;
    settings_put_string(out, longer ? longer : text);
}

static bool put_text(const struct setting_row *row, const void *field, int count, bool secrets, FILE *out)
{
    const char *text = *(const char *const *)field;
    char masked[4097];
    (void)count;
    if (!text)
        return false;
    if (row->type == SETTING_URL && !secrets) {
        settings_mask_url(text, masked, sizeof masked);
        text = masked;
    }
    settings_put_escaped(out, text, NULL);
    return true;
}

static bool put_bool(const struct setting_row *row, const void *field, int count, bool secrets, FILE *out)
{
    (void)row, (void)count, (void)secrets;
    fputs(bool_words[*(const bool *)field], out);
    return true;
}

static bool put_int(const struct setting_row *row, const void *field, int count, bool secrets, FILE *out)
{
    (void)row, (void)count, (void)secrets;
    fprintf(out, "%" PRId32, *(const int32_t *)field);
    return true;
}

static void size_words(int64_t bytes, char out[MOMENT_TEXT])
{
    const struct size_unit *unit = size_units;
    while (*unit->name && (bytes == 0 || bytes % unit->bytes != 0 || unit->name[1] != 'i'))
        unit++;
    snprintf(out, MOMENT_TEXT, "%" PRId64 "%s", bytes / unit->bytes, unit->name);
}

static bool put_size(const struct setting_row *row, const void *field, int count, bool secrets, FILE *out)
{
    char words[MOMENT_TEXT];
    (void)row, (void)count, (void)secrets;
    size_words(*(const int64_t *)field, words);
    fprintf(out, "\"%s\"", words);
    return true;
}

static bool put_duration(const struct setting_row *row, const void *field, int count, bool secrets, FILE *out)
{
    char words[MOMENT_TEXT];
    int64_t us = *(const int64_t *)field * (row->type == SETTING_DURATION_S ? SECOND_US : 1), back;
    (void)count, (void)secrets;
    duration_format_us(us, words);
    if (duration_parse_us(words, &back, NULL) == 0 && back == us)
        fprintf(out, "\"%s\"", words);
    else                                /* finer than milliseconds */
        fprintf(out, "\"%" PRId64 ".%06" PRId64 "s\"", us / SECOND_US, us % SECOND_US);
    return true;
}

static bool put_minutes(const struct setting_row *row, const void *field, int count, bool secrets, FILE *out)
{
    (void)row, (void)secrets;
    fputc('[', out);
    for (int i = 0; i < count; i++)
        fprintf(out, "%s%d", i ? ", " : "", ((const int *)field)[i]);
    fputc(']', out);
    return true;
}

static bool put_texts(const struct setting_row *row, const void *field, int count, bool secrets, FILE *out)
{
    (void)row, (void)secrets;
    fputc('[', out);
    for (int i = 0; i < count; i++) {
        fputs(i ? ", " : "", out);
        settings_put_escaped(out, (*(const char **const *)field)[i], NULL);
    }
    fputc(']', out);
    return true;
}

/* ---- what is expected ---- */

static const char *between_durations(const struct setting_row *row, struct arena *a)
{
    char min[MOMENT_TEXT], max[MOMENT_TEXT];
    bool seconds = row->whole_seconds || row->type == SETTING_DURATION_S;
    const char *examples = seconds ? "in whole seconds such as " : "such as 250ms, ";
    const char *zero = row->or_zero ? "0s or " : "";
    return arena_printf(a, "a duration %s90s, 15m, 3h, 30d, %sbetween %s and %s", examples, zero,
                        duration_format_us(row->min, min), duration_format_us(row->max, max));
}

static const char *between_sizes(const struct setting_row *row, struct arena *a)
{
    char min[MOMENT_TEXT], max[MOMENT_TEXT];
    size_words(row->min, min);
    size_words(row->max, max);
    return arena_printf(a, "a size such as 64MiB or a number of bytes, %sbetween %s and %s",
                        row->or_zero ? "0 or " : "", min, max);
}

static const char *one_of_words(const struct setting_row *row, struct arena *a)
{
    const char *all = row->words[0];
    for (const char *const *word = row->words + 1; all && *word; word++)
        all = arena_printf(a, "%s, %s", all, *word);
    return all ? arena_printf(a, "one of %s", all) : NULL;
}

static const char *between_numbers(const struct setting_row *row, struct arena *a)
{
    return arena_printf(a, "a whole number between %" PRId64 " and %" PRId64, row->min, row->max);
}

static const char *true_or_false(const struct setting_row *row, struct arena *a)
{
    (void)row, (void)a;
    return "true or false";
}

#define MINUTES "minutes of the hour, 0 to 59, each once"
#define FOLDERS "folders"

static const char *some_minutes(const struct setting_row *row, struct arena *a)
{
    (void)row, (void)a;
    return MINUTES ", such as [0, 30]";
}

static const char *some_folders(const struct setting_row *row, struct arena *a)
{
    (void)row, (void)a;
    return FOLDERS ", such as [\"/usr/local/lib/prescient/jobs\"]";
}

/* ---- the types ---- */

static const struct type {
    int (*read)(const struct setting_row *row, const struct setting_value *v, struct target *to);
    bool (*put)(const struct setting_row *row, const void *field, int count, bool secrets, FILE *out);
    /* unless the row has its own */
    const char *(*expected)(const struct setting_row *row, struct arena *a);
} types[] = {
    [SETTING_TEXT] = { read_text, put_text, NULL },
    [SETTING_URL] = { read_text, put_text, NULL },
    [SETTING_WORD] = { read_word, put_text, one_of_words },
    [SETTING_BOOL] = { read_bool, put_bool, true_or_false },
    [SETTING_INT] = { read_int, put_int, between_numbers },
    [SETTING_SIZE] = { read_size, put_size, between_sizes },
    [SETTING_DURATION_US] = { read_duration, put_duration, between_durations },
    [SETTING_DURATION_S] = { read_duration, put_duration, between_durations },
    [SETTING_MINUTES] = { read_minutes, put_minutes, some_minutes },
    [SETTING_TEXTS] = { read_texts, put_texts, some_folders },
};

int settings_read_value(const struct setting_row *row, const struct setting_value *value, void *field,
                        int *count, struct arena *a)
{
    struct target to = { .field = field, .count = count, .arena = a };
    return types[row->type].read(row, value, &to);
}

bool settings_put_value(const struct setting_row *row, const void *field, int count, bool secrets, FILE *out)
{
    return types[row->type].put(row, field, count, secrets, out);
}

const char *settings_expected(const struct setting_row *row, struct arena *a)
{
    bool is_text = row->type == SETTING_TEXT || row->type == SETTING_URL;
    const char *expected = row->expected;
    if (expected && is_text)
        expected = arena_printf(a, "%s, at most %" PRId64 " bytes", expected, row->max);
    else if (!expected)
        expected = types[row->type].expected(row, a);
    return expected ? expected : "something else";
}

const char *settings_expected_as_text(const struct setting_row *row, struct arena *a)
{
    if (!row->as_text)
        return settings_expected(row, a);
    const char *what = row->type == SETTING_MINUTES ? MINUTES : FOLDERS;
    if (row->expected)
        what = row->expected;
    const char *expected = arena_printf(a, "%s, such as %s", what, row->as_text);
    return expected ? expected : "something else";
}
