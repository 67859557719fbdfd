/* owned.c - a walk from / to a file that checks at each step who could have changed it. A message
 * names the step that is wrong, what was found there, what was expected, and what to do. */
#include "owned.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel has it */

struct walk {
    const struct owned_rules *rules;
    const char *whole; /* as it was asked for, from / */
    int d;             /* the folder that we are in; O_PATH */
    struct stat folder;
    char at[PATH_MAX];   /* its path, then the name that is being checked; for messages */
    char path[PATH_MAX]; /* with the last link resolved */
    const char *rest;    /* of `path`: still to be walked */
    int links;
    struct err *err;
};

/* ---- what others could have written ---- */

static int failed(const struct walk *w)
{
    return errno == ENOENT ? ERR_NOTFOUND : err_sys(w->err, ERR_SETTINGS, "%s: %s", w->rules->subject, w->at);
}

static int refuse_link(const struct walk *w)
{
    char real[PATH_MAX];
    return err_set(w->err, ERR_SETTINGS, "%s: %s is a symbolic link or no folder; expected the real path, %s",
                   w->rules->subject, w->at, realpath(w->whole, real) ? real : "without links");
}

/* A link has no mode of its own, and a device (/dev/null) does not hold what was written to it. */
static bool has_writers(const struct stat *st)
{
    return !S_ISLNK(st->st_mode) && !S_ISCHR(st->st_mode);
}

/* In a folder with the sticky bit others may add entries, but neither remove nor rename those of
 * other users: good enough where the entry that we follow is checked next. On a file the bit means
 * nothing. */
static bool keeps_entries(const struct stat *st)
{
    return S_ISDIR(st->st_mode) && st->st_mode & S_ISVTX;
}

static int check_writers(const struct walk *w, const char *path, const struct stat *st, bool sticky)
{
    const struct owned_rules *rules = w->rules;
    if (st->st_uid != 0 && st->st_uid != geteuid())
        return err_set(w->err, ERR_SETTINGS,
                       "%s: %s belongs to user %u; expected root or the user that runs it, %u%s",
                       rules->subject, path, (unsigned)st->st_uid, (unsigned)geteuid(), rules->advice);
    if (has_writers(st) && st->st_mode & (S_IWGRP | S_IWOTH) && !(sticky && keeps_entries(st)))
        return err_set(w->err, ERR_SETTINGS,
                       "%s: %s may be written by others (mode %04o); expected no write for group and others: "
                       "chmod go-w%s",
                       rules->subject, path, (unsigned)(st->st_mode & 07777), rules->advice);
    return 0;
}

/* ---- steps ---- */

/* The next name of the rest; false: there is none. */
static bool take_name(struct walk *w, char name[NAME_MAX + 1])
{
    const char *begin = w->rest + strspn(w->rest, "/");
    size_t len = strcspn(begin, "/");
    const char *behind = begin + len + strspn(begin + len, "/");
    snprintf(name, NAME_MAX + 1, "%.*s", (int)len, begin);
    w->rest = behind;
    return *name;
}

static void leave_name(struct walk *w)
{
    char *slash = strrchr(w->at, '/');
    if (slash)
        *slash = '\0';
}

static void put_name(struct walk *w, const char *name)
{
    size_t used = strlen(w->at);
    if (!strcmp(name, ".."))
        leave_name(w);
    else if (strcmp(name, ".") != 0)
        snprintf(w->at + used, sizeof w->at - used, "/%s", name);
}

static int go_to_root(struct walk *w)
{
    int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return err_sys(w->err, ERR_SETTINGS, "%s: /", w->rules->subject);
    if (w->d >= 0)
        close(w->d);
    w->d = root;
    w->at[0] = '\0';
    return fstat(root, &w->folder) ? err_sys(w->err, ERR_SETTINGS, "%s: /", w->rules->subject) : 0;
}

/* Puts the link's target in the place of its name. */
static int follow(struct walk *w, int link)
{
    char target[PATH_MAX], rest[PATH_MAX];
    ssize_t n = readlinkat(link, "", target, sizeof target - 1);
    if (n < 0)
        return failed(w);
    target[n] = '\0';
    if (++w->links > LINKS_MAX ||
        snprintf(rest, sizeof rest, "%s%s%s", target, *w->rest ? "/" : "", w->rest) >= (int)sizeof rest)
        return err_set(w->err, ERR_SETTINGS,
                       "%s: %s: too many symbolic links lead there, or their path is too long",
                       w->rules->subject, w->at);
    memcpy(w->path, rest, sizeof rest);
    w->rest = w->path;
    leave_name(w);
    return *target == '/' ? go_to_root(w) : 0;
}

static int open_file(struct walk *w, const char *name, int flags, int *out)
{
    struct stat st;
    int fd = openat(w->d, name, O_RDONLY | O_CLOEXEC | flags | w->rules->flags);
    if (fd < 0)
        return errno == ELOOP ? refuse_link(w) : failed(w);
    int rc = fstat(fd, &st) ? failed(w) : check_writers(w, w->at, &st, w->rules->sticky);
    if (rc < 0) {
        close(fd);
        return rc;
    }
    *out = fd;
    return 0;
}

/* The end of the path. Its folder was good enough to pass through; now it counts who may put
 * another file there. */
static int arrive(struct walk *w, const char *name, const struct stat *st, int *out)
{
    char folder[PATH_MAX];
    memcpy(folder, w->at, sizeof folder);
    *strrchr(folder, '/') = '\0';
    int rc = check_writers(w, *folder ? folder : "/", &w->folder, w->rules->sticky);
    if (rc < 0)
        return rc;
    rc = check_writers(w, w->at, st, w->rules->sticky);
    if (rc < 0)
        return rc;
    return open_file(w, name, O_NOFOLLOW, out);
}

static int enter(struct walk *w, int below, const struct stat *st)
{
    if (!S_ISDIR(st->st_mode))
        return refuse_link(w);
    int rc = check_writers(w, w->at, st, true);
    if (rc)
        return rc;
    close(w->d);
    w->d = below;
    w->folder = *st;
    return 0;
}

static int take_link(struct walk *w, int link, const struct stat *st)
{
    if (!w->rules->links)
        return refuse_link(w);
    int rc = check_writers(w, w->at, st, false);
    if (rc < 0)
        return rc;
    return follow(w, link);
}

/* One name further, which `below` has open. *out is set at the end of the path. */
static int step_into(struct walk *w, const char *name, int below, int *out)
{
    struct stat st;
    bool is_dot = !strcmp(name, ".") || !strcmp(name, "..");
    if (fstat(below, &st))
        return failed(w);
    if (S_ISLNK(st.st_mode))
        return take_link(w, below, &st);
    if (*w->rest || is_dot)
        return enter(w, below, &st);
    return arrive(w, name, &st, out);
}

static int step(struct walk *w, const char *name, int *out)
{
    put_name(w, name);
    int below = openat(w->d, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (below < 0)
        return failed(w);
    int rc = step_into(w, name, below, out);
    if (below != w->d)                  /* else it was entered */
        close(below);
    return rc;
}

/* Links of /proc lead to files that may have no path: the kernel follows them, and only the file is
 * checked. */
static bool is_proc(const struct walk *w)
{
    struct statfs fs;
    return w->rules->links && fstatfs(w->d, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static int go(struct walk *w, int *out)
{
    char name[NAME_MAX + 1], behind[PATH_MAX + NAME_MAX + 2];
    int rc = go_to_root(w);
    while (!rc && *out < 0 && take_name(w, name)) {
        if (!is_proc(w)) {
            rc = step(w, name, out);
            continue;
        }
        snprintf(behind, sizeof behind, "%s%s%s", name, *w->rest ? "/" : "", w->rest);
        put_name(w, behind);
        rc = open_file(w, behind, 0, out);
    }
    if (!rc && *out < 0)
        return err_set(w->err, ERR_SETTINGS, "%s: %s is a folder: expected a file", w->rules->subject,
                       w->whole);
    return rc;
}

/* ---- beginning ---- */

/* The path from the root. */
static int absolute(const char *path, const struct owned_rules *rules, char out[PATH_MAX], struct err *err)
{
    char here[PATH_MAX] = "";
    if (*path != '/' && !getcwd(here, sizeof here))
        return err_sys(err, ERR_SETTINGS, "%s: there is no '%.80s', as the working directory does not exist",
                       rules->subject, path);
    if (snprintf(out, PATH_MAX, "%s%s%s", here, *here ? "/" : "", path) >= PATH_MAX)
        return err_set(err, ERR_SETTINGS, "%s: its path is too long: %.80s...", rules->subject, path);
    return 0;
}

/* A longer name would be cut, and another file found. */
static int check_names(const char *path, const struct owned_rules *rules, struct err *err)
{
    for (const char *p = path + strspn(path, "/"); *p; p += strspn(p, "/")) {
        size_t len = strcspn(p, "/");
        if (len > NAME_MAX)
            return err_set(err, ERR_SETTINGS, "%s: a name in its path has %zu bytes: %.80s...",
                           rules->subject, len, p);
        p += len;
    }
    return 0;
}

int owned_open(const char *path, const struct owned_rules *rules, int *fd, struct err *err)
{
    char whole[PATH_MAX];
    struct walk w = { .rules = rules, .whole = whole, .d = -1, .err = err };
    *fd = -1;
    int rc = absolute(path, rules, whole, err);
    if (rc < 0)
        return rc;
    rc = check_names(whole, rules, err);
    if (rc < 0)
        return rc;
    memcpy(w.path, whole, sizeof whole);
    w.rest = w.path;
    rc = go(&w, fd);
    if (w.d >= 0)
        close(w.d);
    return rc;
}
