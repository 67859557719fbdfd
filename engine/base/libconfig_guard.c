/* libconfig_guard.c - a lexer that copies: it knows comments, strings, numbers and @include, but
 * not what they mean; then libconfig, watched for memory. */
#include "libconfig_guard.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "asan.h"
#include "owned.h"

#define INCLUDE_DEPTH_MAX 10
#define FILE_BYTES_MAX (16u << 20)

struct reader {                 /* one file on its way into the text */
    struct libconfig_guard *g;
    const char *file, *p;
    int line, depth;
    struct err *err;
};

static int gather_file(struct libconfig_guard *g, const char *path, int depth, struct err *err);

/* ---- writing ---- */

/* analyze: -Wno-analyzer-malloc-leak: libconfig_guard_release() frees the pieces; gcc loses sight
 * of them where a file includes itself. */
static int begin_piece(struct libconfig_guard *g, const char *file, int line)
{
    struct libconfig_piece *more = realloc(g->pieces, (size_t)(g->npieces + 1) * sizeof *more);
    if (!more)
        return ERR_NOMEM;
    g->pieces = more;
    g->pieces[g->npieces++] = (struct libconfig_piece){ .file = file, .first = g->line, .line = line };
    return 0;
}

static void copy_char(struct reader *r)
{
    if (*r->p == '\n') {
        r->line++;
        r->g->line++;
    }
    fputc(*r->p++, r->g->out);
}

static void copy(struct reader *r, size_t n)
{
    while (n--)
        copy_char(r);
}

static int refuse(const struct reader *r, int line, const char *what)
{
    return err_set(r->err, ERR_SETTINGS, "%s:%d: %s", r->file, line, what);
}

/* ---- tokens: each copies what it covers ---- */

static int copy_comment(struct reader *r)
{
    int began = r->line;
    if (r->p[0] == '#' || r->p[1] == '/') {
        copy(r, strcspn(r->p, "\n"));
        return 0;
    }
    const char *end = strstr(r->p + 2, "*/");
    if (!end)
        return refuse(r, began, "this comment is never closed: expected */");
    copy(r, (size_t)(end + 2 - r->p));
    return 0;
}

static int copy_string(struct reader *r)
{
    int began = r->line;
    for (copy_char(r); *r->p != '"'; copy_char(r)) {
        if (!*r->p)
            return refuse(r, began, "this string is never closed: expected \"");
        if (!strncasecmp(r->p, "\\x00", 4))
            return refuse(r, r->line, "a string cannot hold \\x00");
        if (*r->p == '\\' && r->p[1])
            copy_char(r);
    }
    copy_char(r);
    return 0;
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '*';
}

/* A whole number past 32 bits must end in L, or libconfig cuts it. Fractions pass as they are. */
static int copy_number(struct reader *r, bool negative)
{
    bool hex = r->p[0] == '0' && (r->p[1] == 'x' || r->p[1] == 'X');
    const char *digits = r->p + (hex ? 2 : 0);
    size_t n = strspn(digits, hex ? "0123456789abcdefABCDEF" : "0123456789");
    const char *after = digits + n;
    if (!hex && (*after == '.' || *after == 'e' || *after == 'E')) {
        copy(r, strspn(r->p, "0123456789.eE"));
        return 0;
    }
    errno = 0;
    uint64_t value = strtoull(digits, NULL, hex ? 16 : 10);
    if (errno == ERANGE || value > (uint64_t)INT64_MAX + negative)
        return err_set(r->err, ERR_SETTINGS, "%s:%d: %.*s: expected a number of at most 63 bits", r->file,
                       r->line, (int)(after - r->p < 80 ? after - r->p : 80), r->p);
    copy(r, (size_t)(after - r->p));
    if (*after != 'L' && *after != 'l' && value > (uint64_t)INT32_MAX + negative)
        fputc('L', r->g->out);
    copy(r, strspn(r->p, "Ll"));
    return 0;
}

/* The file that an @include names: beside the including one, else where we work. */
static char *included_path(const struct reader *r, const char *name, size_t len)
{
    const char *slash = strrchr(r->file, '/');
    char *plain = arena_strndup(r->g->arena, name, len);
    if (!plain || *plain == '/' || !slash)
        return plain;
    char *beside = arena_printf(r->g->arena, "%.*s/%s", (int)(slash - r->file), r->file, plain);
    return beside && access(beside, F_OK) != 0 && access(plain, F_OK) == 0 ? plain : beside;
}

static int take_include(struct reader *r)
{
    const char *name = r->p + strlen("@include");
    name += strspn(name, " \t");
    size_t len = *name == '"' ? strcspn(name + 1, "\"\n") : 0;
    if (len == 0 || name[1 + len] != '"')
        return refuse(r, r->line, "expected @include \"FILE\"");
    if (r->depth >= INCLUDE_DEPTH_MAX)
        return refuse(r, r->line, "@include is nested too deep: expected at most 10 levels");
    char *path = included_path(r, name + 1, len);
    if (!path)
        return err_set(r->err, ERR_NOMEM, "out of memory");
    int rc = gather_file(r->g, path, r->depth + 1, r->err);
    if (rc < 0)
        return err_wrap(r->err, rc, "%s:%d", r->file, r->line);
    r->p = name + len + 2;
    return begin_piece(r->g, r->file, r->line);
}

static int copy_token(struct reader *r, bool line_start)
{
    const char *p = r->p;
    if (*p == '#' || (*p == '/' && (p[1] == '/' || p[1] == '*')))
        return copy_comment(r);
    if (*p == '"')
        return copy_string(r);
    if (line_start && !strncmp(p, "@include", strlen("@include")))
        return take_include(r);
    bool sign = *p == '-' || *p == '+';
    if (sign)
        copy_char(r);
    if (isdigit((unsigned char)*r->p))
        return copy_number(r, *p == '-');
    if (*r->p == '.')
        copy(r, strspn(r->p, "0123456789.eE"));
    if (r->p != p)
        return 0;
    do
        copy_char(r);
    while (is_name_char(p[0]) && is_name_char(*r->p));
    return 0;
}

static int copy_all(struct reader *r)
{
    bool line_start = true;
    while (*r->p) {
        bool blank = *r->p == ' ' || *r->p == '\t', newline = *r->p == '\n';
        int rc = copy_token(r, line_start);
        if (rc < 0)
            return rc;
        line_start = newline || (blank && line_start);
    }
    return 0;
}

/* ---- files ---- */

/* What follows the last line end is no line if it is empty. */
static int last_line(const char *text, int line)
{
    size_t len = strlen(text);
    return line > 1 && text[len - 1] == '\n' ? line - 1 : line;
}

static int gather_text(struct libconfig_guard *g, const char *text, const char *file, int depth,
                       struct err *err)
{
    struct reader r = { .g = g, .file = file, .p = text, .line = 1, .depth = depth, .err = err };
    int rc = begin_piece(g, file, 1);
    if (rc == 0)
        rc = copy_all(&r);
    if (g->npieces)
        g->pieces[g->npieces - 1].last = last_line(text, r.line);
    fputc('\n', g->out);
    g->line++;
    if (rc == ERR_NOMEM)
        err_set(err, rc, "%s: out of memory", file);
    return rc;
}

static int read_whole(int fd, const char *path, char *buf, size_t size, struct err *err)
{
    size_t len = 0;
    ssize_t n;
    do {
        n = read(fd, buf + len, size - 1 - len);
        if (n < 0 && errno != EINTR)
            return err_sys(err, ERR_SETTINGS, "%s: cannot read", path);
        len += n > 0 ? (size_t)n : 0;
    } while (n != 0 && len < size - 1);
    if (n != 0)
        return err_set(err, ERR_SETTINGS, "%s: too large: expected a settings file of less than %u bytes",
                       path, FILE_BYTES_MAX);
    buf[len] = '\0';
    if (strlen(buf) != len)
        return err_set(err, ERR_SETTINGS, "%s: a NUL byte at offset %zu: expected text", path, strlen(buf));
    return 0;
}

/* Settings name the database, the schema and the code that run with our rights. */
static int open_owned(const char *path, int *fd, struct err *err)
{
    static const struct owned_rules rules = { .subject = "settings file",
                                              .advice = "; or name another one with --config",
                                              .links = true,
                                              .sticky = true };
    int rc = owned_open(path, &rules, fd, err);
    if (rc == ERR_NOTFOUND)
        return err_set(err, ERR_SETTINGS,
                       "cannot open %s: %s; `prescient config --sample > FILE` makes one, --config names "
                       "another",
                       path, strerror(ENOENT));
    return rc;
}

static int gather_file(struct libconfig_guard *g, const char *path, int depth, struct err *err)
{
    CLEANUP(cleanup_close) int fd = -1;
    int rc = open_owned(path, &fd, err);
    if (rc < 0)
        return rc;
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        return err_set(err, ERR_SETTINGS, "%s is a folder: expected a settings file", path);
    CLEANUP(cleanup_free) char *text = malloc(FILE_BYTES_MAX);
    if (!text)
        return err_set(err, ERR_NOMEM, "%s: out of memory", path);
    rc = read_whole(fd, path, text, FILE_BYTES_MAX, err);
    if (rc < 0)
        return rc;
    return gather_text(g, text, path, depth, err);
}

/* ---- the whole text ---- */

static int begin(struct libconfig_guard *g, struct arena *a, struct err *err)
{
    *g = (struct libconfig_guard){ .arena = a, .line = 1 };
    g->out = open_memstream(&g->text, &g->size);
    return g->out ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}

static int end(struct libconfig_guard *g, int rc, struct err *err)
{
    bool failed = ferror(g->out);
    failed |= fclose(g->out) != 0;
    g->out = NULL;
    failed |= !g->text;                 /* else it would be taken for no file at all */
    if (rc == 0 && failed)
        return err_set(err, ERR_NOMEM, "out of memory");
    return rc;
}

int libconfig_guard_read_file(struct libconfig_guard *g, struct arena *a, const char *path, struct err *err)
{
    const char *kept = arena_strdup(a, path);
    if (!kept)
        return err_set(err, ERR_NOMEM, "out of memory");
    int rc = begin(g, a, err);
    if (rc < 0)
        return rc;
    return end(g, gather_file(g, kept, 0, err), err);
}

int libconfig_guard_read_text(struct libconfig_guard *g, struct arena *a, const char *text, const char *name,
                              struct err *err)
{
    const char *kept = arena_strdup(a, name);
    if (!kept)
        return err_set(err, ERR_NOMEM, "out of memory");
    int rc = begin(g, a, err);
    if (rc < 0)
        return rc;
    return end(g, gather_text(g, text, kept, 0, err), err);
}

void libconfig_guard_release(struct libconfig_guard *g)
{
    free(g->text);
    free(g->pieces);
    *g = (struct libconfig_guard){ 0 };
}

static const struct libconfig_piece *piece_of(const struct libconfig_guard *g, int line)
{
    int i = g->npieces - 1;
    while (i > 0 && g->pieces[i].first > line)
        i--;
    return i < 0 ? NULL : &g->pieces[i];
}

/* libconfig has read to the end and wanted more: that is behind the last line. */
static bool is_behind_end(const struct libconfig_piece *piece, int line)
{
    return piece->last && piece->line + line - piece->first > piece->last;
}

const char *libconfig_guard_place(const struct libconfig_guard *g, int line)
{
    const struct libconfig_piece *piece = piece_of(g, line);
    if (!piece)
        return "?";
    int number = piece->line + line - piece->first;
    if (is_behind_end(piece, line))
        number = piece->last;
    const char *place = arena_printf(g->arena, "%s:%d", piece->file, number);
    return place ? place : "?";
}

const char *libconfig_guard_folder(const struct libconfig_guard *g, int line)
{
    const struct libconfig_piece *piece = piece_of(g, line);
    const char *slash = piece ? strrchr(piece->file, '/') : NULL;
    if (!slash)
        return "";
    return slash == piece->file ? "/" : arena_strndup(g->arena, piece->file, (size_t)(slash - piece->file));
}

/* ---- parsing ---- */

/* libconfig does not check what malloc returns and would crash. Enough for the worst text of this
 * length is asked for and given back before libconfig begins. */
static bool has_memory_for(const char *text)
{
    void *enough = malloc(64 * 1024 + 64 * strlen(text));
    __asm__ volatile("" : : "r"(enough));       /* a compiler may leave out memory that is not used */
    free(enough);
    return enough != NULL;
}

/* Where memory ran short all the same, libconfig has left out a name or a text. */
static bool is_complete(const config_setting_t *node)
{
    if (!config_setting_is_aggregate(node))
        return config_setting_type(node) != CONFIG_TYPE_STRING || config_setting_get_string(node);
    for (int i = 0; i < config_setting_length(node); i++) {
        const config_setting_t *member = config_setting_get_elem(node, (unsigned)i);
        if (config_setting_is_group(node) && !config_setting_name(member))
            return false;
        if (!is_complete(member))
            return false;
    }
    return true;
}

static int refused_by_libconfig(const struct libconfig_guard *g, const config_t *config, struct err *err)
{
    const char *why = config_error_text(config), *expected = "";
    int line = config_error_line(config);
    const struct libconfig_piece *piece = piece_of(g, line);
    if (!why)
        why = "cannot be read";
    bool is_syntax = !strcmp(why, "syntax error");
    if (is_syntax && piece && is_behind_end(piece, line))
        expected = ": the file ends within a setting or a group: expected NAME = VALUE; and }; where a group "
                   "ends";
    else if (is_syntax)
        expected = ": expected NAME = VALUE; with durations, sizes and texts in quotes";
    return err_set(err, ERR_SETTINGS, "%s: %s%s", libconfig_guard_place(g, line), why, expected);
}

int libconfig_guard_parse(const struct libconfig_guard *g, config_t *config, struct err *err)
{
    if (!has_memory_for(g->text))
        return err_set(err, ERR_NOMEM, "settings: out of memory");
    if (!config_read_string(config, g->text))
        return refused_by_libconfig(g, config, err);
    if (!is_complete(config_root_setting(config)))
        return err_set(err, ERR_NOMEM, "settings: out of memory");
    return 0;
}

#if ASAN_WATCHES
#include <sanitizer/lsan_interface.h>
/* libconfig loses the name or string it was reading when the text turns out to be no libconfig. */
const char *__lsan_default_suppressions(void)
{
    return "leak:strbuf_append\nleak:libconfig_yylex\n";
}

const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}
#endif
