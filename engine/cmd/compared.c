/* compared.c - see compared.h. What engines have noted comes from a table that others can write to:
 * it is cut here, and what prints it takes control characters out. */
#include "compared.h"

#include <string.h>
#include "../base/utf8.h"
#include "../rules/listener_line.h"
#include "../run/noted.h"
#include "report.h"
#include "telling.h"

enum { SIDES_MAX = 8, NAMED_MAX = 8, ENGINES_NAMED = 3 };

struct side {                           /* all that have the same listeners */
    const char *listeners, *who;
    int engines;
    bool is_ours;                       /* these settings are among them */
};

struct comparison {
    struct app *app;
    struct side sides[SIDES_MAX];
    int n, engines;
    bool has_more;                      /* more lists than there is room for */
};

static const char *known(const char *text)
{
    return text ? text : "";
}

/* ---- who has what ---- */

static bool is_same(const struct listener_line *a, const struct listener_line *b)
{
    return a->mark_length == b->mark_length && !memcmp(a->mark, b->mark, (size_t)a->mark_length);
}

static bool has_same_name(const struct listener_line *a, const struct listener_line *b)
{
    return a->name_length == b->name_length && !memcmp(a->name, b->name, (size_t)a->name_length);
}

/* By names and marks: words may have one thing in two ways. Both are in order. */
static bool are_same_lists(const char *a, const char *b)
{
    struct listener_line of_a, of_b;
    while (listener_line_next(&a, &of_a))
        if (!listener_line_next(&b, &of_b) || !has_same_name(&of_a, &of_b) || !is_same(&of_a, &of_b))
            return false;
    return !listener_line_next(&b, &of_b);
}

static struct side *side_of(struct comparison *c, const char *listeners)
{
    for (int i = 0; i < c->n; i++)
        if (are_same_lists(c->sides[i].listeners, listeners))
            return &c->sides[i];
    if (c->n == SIDES_MAX)
        return NULL;
    c->sides[c->n] = (struct side){ .listeners = listeners, .who = "" };
    return &c->sides[c->n++];
}

static void add_name(struct comparison *c, struct side *side, const char *name)
{
    side->who = known(arena_printf(c->app->arena, "%s%s%s", side->who, *side->who ? ", " : "", known(name)));
}

/* "shop1 daemon /etc/prescient/prescient.cfg (2026-03-01T13:15:00Z)" */
static void add_engine(struct comparison *c, const struct store_rows *rows, int row)
{
    struct side *side = side_of(c, known(rows_value(rows, row, "listeners")));
    c->engines++;
    c->has_more = c->has_more || !side;
    if (!side || ++side->engines > ENGINES_NAMED)
        return;
    const char *engine = known(rows_value(rows, row, "engine")), *file = known(rows_value(rows, row, "file"));
    const char *command = known(rows_value(rows, row, "command"));
    const char *seen = telling_moment(c->app, rows_number(rows, row, "seen_at"));
    add_name(c, side, arena_printf(c->app->arena, "%.*s %.*s %.*s (%s)", UTF8_SHOWN(engine),
                                   UTF8_SHOWN(command), UTF8_SHOWN(file), seen));
}

/* Settings without jobs are no engine's. */
static int add_ours(struct comparison *c, struct err *err)
{
    const struct settings *s = &c->app->settings;
    if (!s->file || !s->njobs || !c->engines)
        return 0;
    const char *lines = noted_listeners(s, c->app->arena);
    if (!lines)
        return err_set(err, ERR_NOMEM, "out of memory");
    struct side *side = side_of(c, lines);
    c->has_more = c->has_more || !side;
    if (!side)
        return 0;
    side->is_ours = true;
    add_name(c, side, arena_printf(c->app->arena, "this command with %.*s", UTF8_SHOWN(s->file)));
    return 0;
}

static void count_unnamed(struct comparison *c)
{
    for (int i = 0; i < c->n; i++) {
        struct side *side = &c->sides[i];
        if (side->engines > ENGINES_NAMED)
            add_name(c, side, arena_printf(c->app->arena, "and %d more", side->engines - ENGINES_NAMED));
    }
}

/* ---- what differs ---- */

static bool find_line(const char *lines, const struct listener_line *wanted, struct listener_line *out)
{
    while (listener_line_next(&lines, out))
        if (has_same_name(out, wanted))
            return true;
    *out = (struct listener_line){ .name = "", .mark = "", .words = "none" };
    out->words_length = (int)strlen(out->words);
    return false;
}

static const char *all_who(struct comparison *c, const struct listener_line *lines, int first)
{
    const char *who = c->sides[first].who;
    for (int i = first + 1; i < c->n; i++)
        if (is_same(&lines[i], &lines[first]))
            who = known(arena_printf(c->app->arena, "%s, %s", who, c->sides[i].who));
    return who;
}

/* "listener hook is: job hook: order.* (shop1 ...); none (shop2 ...)"; NULL: it is the same. */
static const char *difference(struct comparison *c, const struct listener_line *name)
{
    struct listener_line lines[SIDES_MAX];
    const char *words = "";
    int variants = 0;
    for (int i = 0; i < c->n; i++) {
        bool is_new = true;
        find_line(c->sides[i].listeners, name, &lines[i]);
        for (int j = 0; j < i; j++)
            is_new = is_new && !is_same(&lines[j], &lines[i]);
        variants += is_new;
    }
    for (int i = 0; i < c->n && variants > 1; i++) {
        bool is_new = true;
        for (int j = 0; j < i; j++)
            is_new = is_new && !is_same(&lines[j], &lines[i]);
        if (is_new)
            words = known(arena_printf(c->app->arena, "%s%s%.*s - %s", words, *words ? "; " : "",
                                       lines[i].words_length, lines[i].words, all_who(c, lines, i)));
    }
    if (variants < 2)
        return NULL;
    return arena_printf(c->app->arena, "listener %.*s: %s", name->name_length, name->name, words);
}

static bool was_before(const struct comparison *c, int side, const struct listener_line *name)
{
    struct listener_line found;
    for (int i = 0; i < side; i++)
        if (find_line(c->sides[i].listeners, name, &found))
            return true;
    return false;
}

static int name_differences(struct comparison *c, struct compared *out)
{
    const char **texts = arena_alloc(c->app->arena, (NAMED_MAX + 2) * sizeof *texts);
    int more = 0;
    for (int i = 0; texts && i < c->n; i++) {
        struct listener_line line;
        for (const char *at = c->sides[i].listeners; listener_line_next(&at, &line);) {
            const char *words = was_before(c, i, &line) ? NULL : difference(c, &line);
            if (words && out->n < NAMED_MAX)
                texts[out->n++] = words;
            else
                more += words != NULL;
        }
    }
    if (texts && more)
        texts[out->n++] = known(arena_printf(c->app->arena, "and %d more listeners", more));
    if (texts && c->has_more)
        texts[out->n++] = "there are more lists of listeners than these";
    out->amiss = texts;
    return texts ? 0 : ERR_NOMEM;
}

static const char *words_of_all(struct comparison *c)
{
    const struct side *side = c->sides;
    struct listener_line line;
    int listeners = 0;
    if (!c->engines)
        return "no engine has noted any";
    for (const char *at = side->listeners; listener_line_next(&at, &line);)
        listeners++;
    return arena_printf(c->app->arena, "%d, the same for all: %s", listeners, side->who);
}

int compared_ask(struct app *app, struct compared *out, struct err *err)
{
    struct comparison c = { .app = app };
    struct store_rows rows;
    *out = (struct compared){ .n = 0 };
    int rc = app_rows(app, "engines_seen", NULL, 0, &rows, err);
    for (int r = 0; rc >= 0 && r < rows.rows; r++)
        add_engine(&c, &rows, r);
    out->by_engines = c.n > 1;
    rc = rc < 0 ? rc : add_ours(&c, err);
    if (rc < 0)
        return rc;
    count_unnamed(&c);
    if (c.n > 1 && name_differences(&c, out) < 0)
        return err_set(err, ERR_NOMEM, "out of memory");
    out->words = known(words_of_all(&c));
    return 0;
}
