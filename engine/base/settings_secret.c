/* settings_secret.c - reads what a setting refers to. A message has the reference, never what was
 * found behind it. */
#include "settings_secret.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "owned.h"
#include "utf8.h"

#define FILE_BYTES_MAX (64u * 1024)

/* ---- what is a reference ---- */

static const char file_form[] = "@file:", env_form[] = "@env:", secret_form[] = "@secret:";
static const char *const forms[] = { file_form, env_form, secret_form };

static bool begins_with(const char *text, const char *form)
{
    return !strncmp(text, form, strlen(form));
}

static const char *form_of(const char *text)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (begins_with(text, forms[i]))
            return forms[i];
    return NULL;
}

static size_t name_size(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == '-')
        n++;
    return n;
}

/* Where the value begins: in lists of "NAME=value" and "Name: value" behind the name. */
static size_t value_at(const char *text, const char *name)
{
    bool env = name && !strcmp(name, "env"), headers = name && !strcmp(name, "headers");
    size_t n = env || headers ? name_size(text) : 0;
    if (n == 0 || text[n] != (env ? '=' : ':'))
        return 0;
    n++;
    return headers ? n + strspn(text + n, " ") : n;
}

bool settings_secret_looks_like_one(const char *text, const char *name, size_t *at)
{
    if (name && !strcmp(name, "command"))               /* the arguments of a process are seen by all */
        return false;
    *at = value_at(text, name);
    size_t signs = strspn(text + *at, "@");
    return signs && form_of(text + *at + signs - 1);
}

/* ---- files ---- */

/* A file of root's may be read by its group: no other way leads to a service's user. */
static int check_readers(const char *path, const struct stat *st, struct err *err)
{
    mode_t others = S_IROTH | S_IRGRP;
    if (st->st_uid == 0 && geteuid() != 0)
        others = S_IROTH;
    if (!S_ISREG(st->st_mode))
        return err_set(err, ERR_SETTINGS, "secret: %s is no plain file: expected a file with the value",
                       path);
    if (st->st_mode & others)
        return err_set(err, ERR_SETTINGS,
                       "secret: %s may be read by others (mode %04o); expected no read for group and others: "
                       "chmod go-rwx",
                       path, (unsigned)(st->st_mode & 07777));
    return 0;
}

static int open_secret(const char *path, int *fd, struct err *err)
{
    static const struct owned_rules rules = { .subject = "secret", .advice = "", .links = true,
                                              .sticky = true, .flags = O_NONBLOCK };
    struct stat st;
    int rc = owned_open(path, &rules, fd, err);
    if (rc == ERR_NOTFOUND)
        return err_set(err, ERR_SETTINGS,
                       "secret: cannot open %s: %s; write the value there, or name another file", path,
                       strerror(ENOENT));
    if (rc < 0)
        return rc;
    if (fstat(*fd, &st))
        return err_sys(err, ERR_SETTINGS, "secret: %s", path);
    return check_readers(path, &st, err);
}

static int read_all(int fd, const char *path, char *text, size_t *len, struct err *err)
{
    ssize_t n;
    *len = 0;
    do {
        n = read(fd, text + *len, FILE_BYTES_MAX + 1 - *len);
        if (n < 0 && errno != EINTR)
            return err_sys(err, ERR_SETTINGS, "secret: cannot read %s", path);
        *len += n > 0 ? (size_t)n : 0;
    } while (n != 0 && *len <= FILE_BYTES_MAX);
    if (*len > FILE_BYTES_MAX)
        return err_set(err, ERR_SETTINGS, "secret: %s is too large: expected at most %u bytes", path,
                       FILE_BYTES_MAX);
    return 0;
}

static int check_text(const char *path, const char *text, size_t len, struct err *err)
{
    if (len == 0)
        return err_set(err, ERR_SETTINGS, "secret: %s is empty: expected the value in it", path);
    if (memchr(text, '\0', len) || !utf8_is_valid(text, len))
        return err_set(err, ERR_SETTINGS, "secret: %s is no text in UTF-8", path);
    return 0;
}

static int read_file(const char *name, const char *beside, struct arena *a, const char **out, struct err *err)
{
    CLEANUP(cleanup_close) int fd = -1;
    bool is_beside = *name != '/' && *beside;
    const char *path = is_beside ? arena_printf(a, "%s/%s", beside, name) : name;
    char text[FILE_BYTES_MAX + 1];
    size_t len = 0;
    if (!path)
        return err_set(err, ERR_NOMEM, "settings: out of memory");
    if (!*name)
        return err_set(err, ERR_SETTINGS, "expected the path of a file behind \"@file:\"");
    int rc = open_secret(path, &fd, err);
    if (rc < 0)
        return rc;
    rc = read_all(fd, path, text, &len, err);
    if (rc < 0)
        return rc;
    len -= len && text[len - 1] == '\n';
    len -= len && text[len - 1] == '\r';
    rc = check_text(path, text, len, err);
    if (rc < 0)
        return rc;
    *out = arena_strndup(a, text, len);
    explicit_bzero(text, sizeof text);
    return *out ? 0 : err_set(err, ERR_NOMEM, "settings: out of memory");
}

/* ---- variables ---- */

static int read_variable(const char *name, const char **out, struct err *err)
{
    size_t n = name_size(name);
    if (n == 0 || name[n] || strchr(name, '-') || isdigit((unsigned char)*name))
        return err_set(err, ERR_SETTINGS,
                       "expected the name of a variable behind \"@env:\", of letters, digits and _");
    const char *value = getenv(name);
    if (!value)
        return err_set(err, ERR_SETTINGS,
                       "the variable %.80s is not in the environment; set it where prescient is started",
                       name);
    if (!*value)
        return err_set(err, ERR_SETTINGS, "the variable %.80s is empty: expected the value in it", name);
    if (!utf8_is_valid(value, strlen(value)))
        return err_set(err, ERR_SETTINGS, "the variable %.80s is no text in UTF-8", name);
    *out = value;
    return 0;
}

/* ---- both ---- */

static int read_form(const char *form, const char *rest, const char *beside, struct arena *a,
                     const char **out, struct err *err)
{
    *out = rest;
    if (form == file_form)
        return read_file(rest, beside, a, out, err);
    return form == env_form ? read_variable(rest, out, err) : 0;
}

int settings_secret_read(const char *text, const char *name, const char *beside, struct arena *a,
                         const char **value, struct settings_secret **secret, struct err *err)
{
    size_t at;
    const char *found;
    *value = text;
    *secret = NULL;
    if (!settings_secret_looks_like_one(text, name, &at))
        return 0;
    const char *form = form_of(text + at);
    if (!form) {                                        /* "@@file:..." */
        *value = arena_printf(a, "%.*s%s", (int)at, text, text + at + 1);
        return *value ? 0 : err_set(err, ERR_NOMEM, "settings: out of memory");
    }
    int rc = read_form(form, text + at + strlen(form), beside, a, &found, err);
    if (rc < 0)
        return rc;
    struct settings_secret *s = arena_zalloc(a, sizeof *s);
    const char *reference = form == secret_form ? "***" : text;
    if (s)
        *s = (struct settings_secret){ arena_strdup(a, reference), arena_strdup(a, found),
                                       arena_printf(a, "%.*s%s", (int)at, text, found) };
    if (!s || !s->reference || !s->secret || !s->value)
        return err_set(err, ERR_NOMEM, "settings: out of memory");
    *value = s->value;
    *secret = s;
    return 0;
}

const char *settings_secret_name(const config_setting_t *node)
{
    while (node && !config_setting_name(node))
        node = config_setting_parent(node);
    return node ? config_setting_name(node) : NULL;
}

const struct settings_secret *settings_secret_of(const config_setting_t *node)
{
    return config_setting_get_hook(node);
}

const char *settings_secret_reference(const config_setting_t *node)
{
    const struct settings_secret *secret = settings_secret_of(node);
    const char *reference = secret ? secret->reference : NULL;
    for (int i = 0; !reference && config_setting_is_aggregate(node) && i < config_setting_length(node); i++)
        reference = settings_secret_of(config_setting_get_elem(node, (unsigned)i)) ? "***" : NULL;
    return reference;
}

/* ---- hiding them ---- */

int settings_secret_list(const config_setting_t *group, const char **out, int max)
{
    const struct settings_secret *s = group ? settings_secret_of(group) : NULL;
    int n = s != NULL;
    if (s && max > 0)
        out[0] = s->secret;
    for (int i = 0; group && config_setting_is_aggregate(group) && i < config_setting_length(group); i++) {
        int room = max > n ? max - n : 0;
        n += settings_secret_list(config_setting_get_elem(group, (unsigned)i), out + (room ? n : 0), room);
    }
    return n;
}

int settings_secrets_of_jobs(const struct settings *settings, const char **out, int max)
{
    int n = 0;
    for (int i = 0; i < settings->njobs; i++) {
        int room = max > n ? max - n : 0;
        n += settings_secret_list(settings->jobs[i].own, out + (room ? n : 0), room);
    }
    return n;
}

enum { SECRET_MIN = 4, PIECE_MAX = 16 };

static size_t common_size(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

/* Texts are cut anywhere, so a piece of a secret may be all that is left of it; but short pieces
 * are words like others. */
static size_t piece_min(size_t secret_size)
{
    size_t most_of_it = (2 * secret_size + 2) / 3;
    most_of_it = most_of_it < PIECE_MAX ? most_of_it : PIECE_MAX;
    return most_of_it > SECRET_MIN ? most_of_it : SECRET_MIN;
}

/* How much of the text's beginning is this secret, or its beginning where the text ends, or a
 * piece of it. */
static size_t size_of_secret(const char *text, size_t len, const char *secret, bool is_cut)
{
    size_t secret_size = strlen(secret), least = piece_min(secret_size);
    size_t same = common_size(text, secret);
    bool is_whole = same == secret_size, is_end = is_cut && same == len;
    if (same >= (is_whole || is_end ? SECRET_MIN : least))
        return same;
    const char *piece = len >= least ? memmem(secret, secret_size, text, least) : NULL;
    return piece ? common_size(text, piece) : 0;
}

/* Whether all of the text is the beginning of this secret, or a piece of it, and not its end. */
static bool goes_on(const char *text, size_t len, const char *secret)
{
    size_t secret_size = strlen(secret), least = piece_min(secret_size);
    if (common_size(text, secret) == len)
        return len < secret_size;
    const char *piece = len >= least ? memmem(secret, secret_size, text, least) : NULL;
    return piece && common_size(text, piece) == len && piece[len];
}

static size_t hidden_size(const char *text, size_t len, const char *const *secrets, int n, bool is_cut)
{
    size_t most = 0;
    for (int i = 0; i < n; i++) {
        size_t size = size_of_secret(text, len, secrets[i], is_cut);
        most = size > most ? size : most;
    }
    return most;
}

void settings_secret_hide(char *text, const char *const *secrets, int n, bool is_cut)
{
    char *to = text;
    const char *end = text + strlen(text);
    for (size_t gone; n && *text; text += gone) {
        gone = hidden_size(text, (size_t)(end - text), secrets, n, is_cut);
        if (gone) {
            memcpy(to, "***", 3);               /* shorter than what it stands for */
            to += 3;
        } else {
            *to++ = *text;
            gone = 1;
        }
    }
    if (n)
        *to = '\0';
}

size_t settings_secret_open_end(const char *text, const char *const *secrets, int n)
{
    size_t len = n ? strlen(text) : 0;
    while (len) {
        for (int i = 0; i < n; i++)
            if (goes_on(text, len, secrets[i]))
                return len;
        size_t hidden = hidden_size(text, len, secrets, n, true);
        hidden += hidden == 0;
        text += hidden;
        len -= hidden;
    }
    return 0;
}
