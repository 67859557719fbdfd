/* settings_source.c - a lexer that copies: it knows comments, strings, numbers and @include, and
 * nothing of what they mean. */
#include "settings_source.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "owned.h"
#include "utf8.h"

#define INCLUDE_DEPTH_MAX 10
#define SOURCE_BYTES_MAX (16u << 20)

struct reader {                 /* one file on its way into the source */
    struct source *s;
    const char *file, *p;
    int line, depth;
    struct err *err;
};

static int gather_file(struct source *s, const char *path, int depth, struct err *err);

/* ---- writing ---- */

/* analyze: -Wno-analyzer-malloc-leak: source_release() frees the pieces; gcc loses sight of them
 * where a file includes itself. */
static int begin_piece(struct source *s, const char *file, int line)
{
    struct piece *more = realloc(s->pieces, (size_t)(s->npieces + 1) * sizeof *more);
    if (!more)
        return ERR_NOMEM;
    s->pieces = more;
    s->pieces[s->npieces++] = (struct piece){ .file = file, .first = s->line, .line = line };
    return 0;
}

static void copy_char(struct reader *r)
{
    if (*r->p == '\n') {
        r->line++;
        r->s->line++;
    }
    fputc(*r->p++, r->s->out);
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
        fputc('L', r->s->out);
    copy(r, strspn(r->p, "Ll"));
    return 0;
}

/* The file that an @include names: beside the including one, else where we work. */
static char *included_path(const struct reader *r, const char *name, size_t len)
{
    const char *slash = strrchr(r->file, '/');
    char *plain = arena_strndup(r->s->arena, name, len);
    if (!plain || *plain == '/' || !slash)
        return plain;
    char *beside = arena_printf(r->s->arena, "%.*s/%s", (int)(slash - r->file), r->file, plain);
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
    int rc = gather_file(r->s, path, r->depth + 1, r->err);
    if (rc < 0)
        return err_wrap(r->err, rc, "%s:%d", r->file, r->line);
    r->p = name + len + 2;
    return begin_piece(r->s, r->file, r->line);
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

static int gather_text(struct source *s, const char *text, const char *file, int depth, struct err *err)
{
    struct reader r = { .s = s, .file = file, .p = text, .line = 1, .depth = depth, .err = err };
    int rc = begin_piece(s, file, 1);
    if (rc == 0)
        rc = copy_all(&r);
    fputc('\n', s->out);
    s->line++;
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
                       path, SOURCE_BYTES_MAX);
    buf[len] = '\0';
    if (strlen(buf) != len)
        return err_set(err, ERR_SETTINGS, "%s: a NUL byte at offset %zu: expected text", path, strlen(buf));
    return 0;
}

/* Who writes settings names the database, the schema and the code that run with our rights. */
static int open_owned(const char *path, int *fd, struct err *err)
{
    static const struct owned_rules rules = { .subject = "settings file",
                                              .advice = "; or name another one with --config",
                                              .links = true,
                                              .sticky = true };
    int rc = owned_open(path, &rules, fd, err);
    return rc == ERR_NOTFOUND ? err_set(err, ERR_SETTINGS, "cannot open %s: %s", path, strerror(ENOENT)) : rc;
}

static int gather_file(struct source *s, const char *path, int depth, struct err *err)
{
    struct stat st;
    char *buf = NULL;
    int fd, rc = open_owned(path, &fd, err);
    if (rc < 0)
        return rc;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        rc = err_set(err, ERR_SETTINGS, "%s is a folder: expected a settings file", path);
    else if (!(buf = malloc(SOURCE_BYTES_MAX)))
        rc = err_set(err, ERR_NOMEM, "%s: out of memory", path);
    else if ((rc = read_whole(fd, path, buf, SOURCE_BYTES_MAX, err)) == 0)
        rc = gather_text(s, buf, path, depth, err);
    free(buf);
    close(fd);
    return rc;
}

static int begin(struct source *s, struct arena *a, struct err *err)
{
    *s = (struct source){ .arena = a, .line = 1 };
    s->out = open_memstream(&s->text, &s->size);
    return s->out ? 0 : err_set(err, ERR_NOMEM, "out of memory");
}

static int end(struct source *s, int rc, struct err *err)
{
    bool bad = ferror(s->out);
    bad |= fclose(s->out) != 0;
    s->out = NULL;
    bad |= !s->text;                    /* as good as no file, and it is not taken for that */
    return rc == 0 && bad ? err_set(err, ERR_NOMEM, "out of memory") : rc;
}

int source_read_file(struct source *s, struct arena *a, const char *path, struct err *err)
{
    char *kept = arena_strdup(a, path);
    int rc = kept ? begin(s, a, err) : err_set(err, ERR_NOMEM, "out of memory");
    return rc < 0 ? rc : end(s, gather_file(s, kept, 0, err), err);
}

int source_read_text(struct source *s, struct arena *a, const char *text, const char *called, struct err *err)
{
    char *kept = arena_strdup(a, called);
    int rc = kept ? begin(s, a, err) : err_set(err, ERR_NOMEM, "out of memory");
    return rc < 0 ? rc : end(s, gather_text(s, text, kept, 0, err), err);
}

void source_release(struct source *s)
{
    free(s->text);
    free(s->pieces);
    *s = (struct source){ 0 };
}

const char *source_place(const struct source *s, int line)
{
    int i = s->npieces - 1;
    while (i > 0 && s->pieces[i].first > line)
        i--;
    const char *place = i < 0 ? NULL
                              : arena_printf(s->arena, "%s:%d", s->pieces[i].file,
                                             s->pieces[i].line + line - s->pieces[i].first);
    return place ? place : "?";
}
