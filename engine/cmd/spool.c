/* spool.c - the folders of a spool, by descriptors and renames that replace nothing. */
#include "spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/cleanup.h"
#include "../base/owned.h"

#define OUTPUT_SUFFIX ".output"
enum { ATTEMPTS = 1000 };               /* at a name that is free */
enum { FOLDER_ATTEMPTS = 10 };          /* at a folder that others take away because it is empty */
enum { NAMES_MAX = 1000 * 1000 };       /* in one folder */

/* ---- folders ---- */

/* Whoever may write a file, or to a folder, decides what runs with our rights. */
static bool is_ours(const struct stat *st)
{
    return (st->st_uid == 0 || st->st_uid == geteuid()) && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static int refuse_writers(const char *what, const char *name, const struct stat *st, struct err *err)
{
    return err_set(err, ERR_SETTINGS,
                   "%s %s belongs to user %u, mode %04o; expected root or the user that runs it, %u, and no "
                   "write for group and others: chmod go-w",
                   what, name, (unsigned)st->st_uid, (unsigned)(st->st_mode & 07777), (unsigned)geteuid());
}

static int open_folder(int parent, const char *name, int *fd, struct err *err)
{
    struct stat st;
    *fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (*fd < 0)
        return err_sys(err, errno == ENOENT ? ERR_NOTFOUND : ERR_SETTINGS, "folder %s", name);
    int rc = fstat(*fd, &st) ? err_sys(err, ERR_SETTINGS, "folder %s", name) : 0;
    if (rc == 0 && !is_ours(&st))
        rc = refuse_writers("folder", name, &st, err);
    if (rc == 0)
        return 0;
    close(*fd);
    *fd = -1;
    return rc;
}

static int make_folder(int parent, const char *name, int *fd, struct err *err)
{
    if (mkdirat(parent, name, 0700) && errno != EEXIST)
        return err_sys(err, ERR_GENERAL, "folder %s cannot be made", name);
    return open_folder(parent, name, fd, err);
}

int spool_open(const char *path, struct spool *s, struct err *err)
{
    static const struct owned_rules rules = { .subject = "spool", .advice = "", .sticky = true,
                                              .flags = O_DIRECTORY };
    struct stat st;
    *s = (struct spool){ .folder = -1, .running = -1, .done = -1, .failed = -1 };
    if (!realpath(path, s->path))
        return err_sys(err, ERR_INPUT, "spool: folder %.200s", path);
    int rc = owned_open(s->path, &rules, &s->folder, err);
    if (rc == ERR_NOTFOUND)
        return err_set(err, ERR_INPUT, "spool: folder %s: it has gone", s->path);
    if (rc == 0 && fstat(s->folder, &st))
        rc = err_sys(err, ERR_SETTINGS, "spool: folder %s", s->path);
    if (rc == 0 && !is_ours(&st))       /* the sticky bit will do for folders above it only */
        rc = refuse_writers("spool: folder", s->path, &st, err);
    rc = rc < 0 ? rc : make_folder(s->folder, "running", &s->running, err);
    rc = rc < 0 ? rc : make_folder(s->folder, "done", &s->done, err);
    rc = rc < 0 ? rc : make_folder(s->folder, "failed", &s->failed, err);
    if (rc < 0)
        spool_close(s);
    return rc;
}

void spool_close(struct spool *s)
{
    int *all[] = { &s->folder, &s->running, &s->done, &s->failed };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        cleanup_close(all[i]);
        *all[i] = -1;
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int note_name(struct arena *a, struct spool_names *out, int *room, const char *name)
{
    if (out->n == *room) {
        int wanted = *room ? *room * 2 : 64;
        char **more = arena_alloc(a, (size_t)wanted * sizeof *more);
        if (!more)
            return -1;
        if (out->n)
            memcpy(more, out->names, (size_t)out->n * sizeof *more);
        out->names = more;
        *room = wanted;
    }
    out->names[out->n] = arena_strdup(a, name);
    return out->names[out->n++] ? 0 : -1;
}

int spool_names(int folder, struct arena *a, struct spool_names *out, struct err *err)
{
    int room = 0, again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = again < 0 ? NULL : fdopendir(again);
    *out = (struct spool_names){ 0 };
    if (!d) {
        cleanup_close(&again);
        return err_sys(err, ERR_GENERAL, "spool: a folder cannot be read");
    }
    int rc = 0;
    struct dirent *e;
    while (rc == 0 && out->n < NAMES_MAX && (e = readdir(d)))
        if (*e->d_name != '.')
            rc = note_name(a, out, &room, e->d_name);
    closedir(d);
    if (rc < 0)
        return err_set(err, ERR_NOMEM, "spool: out of memory for %d names", out->n);
    if (out->n)
        qsort(out->names, (size_t)out->n, sizeof *out->names, by_name);
    return 0;
}

int spool_open_slot(const struct spool *s, const char *slot, int *fd, struct err *err)
{
    int rc = open_folder(s->folder, slot, fd, err);
    return rc == ERR_NOTFOUND ? 0 : rc;
}

void spool_close_slot(const struct spool *s, const char *slot, int fd)
{
    close(fd);
    unlinkat(s->folder, slot, AT_REMOVEDIR);        /* refused while anything is in it */
}

/* ---- names ---- */

static bool is_there(int folder, const char *name)
{
    struct stat st;
    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_free(const struct spool *s, const struct spool_program *p)
{
    const int folders[] = { s->running, s->done, s->failed };
    for (int i = 0; i < 3; i++)
        if (is_there(folders[i], p->name) || is_there(folders[i], p->output_name))
            return false;
    return true;
}

/* Whether both names, with the number that tells them apart, fit. */
static bool name_it(struct spool_program *p, const char *base, int number)
{
    char suffix[16] = "";
    if (number > 1)
        snprintf(suffix, sizeof suffix, ".%d", number);
    int n = snprintf(p->name, sizeof p->name, "%s%s", base, suffix);
    int m = snprintf(p->output_name, sizeof p->output_name, "%s%s" OUTPUT_SUFFIX, base, suffix);
    return n < (int)sizeof p->name && m < (int)sizeof p->output_name;
}

/* A name that neither a program nor an output has in any of the three folders. */
static int find_name(const struct spool *s, const char *base, struct spool_program *p, struct err *err)
{
    for (int number = 1; number <= ATTEMPTS; number++) {
        if (!name_it(p, base, number))
            return err_set(err, ERR_INPUT, "its name is too long: expected at most %d bytes",
                           NAME_MAX - (int)sizeof OUTPUT_SUFFIX - 16);
        if (is_free(s, p))
            return 0;
    }
    return err_set(err, ERR_GENERAL, "running/, done/ and failed/ have %d of that name: take some away",
                   ATTEMPTS);
}

/* ---- a program ---- */

static int check_program(int slot_folder, const char *name, const struct stat *st, struct err *err)
{
    if (!S_ISREG(st->st_mode))
        return err_set(err, ERR_SETTINGS, "is no file: expected a program");
    if (!is_ours(st))
        return refuse_writers("the program", name, st, err);
    if (faccessat(slot_folder, name, X_OK, AT_EACCESS))
        return err_sys(err, ERR_SETTINGS, "cannot be executed; chmod u+x, if it is a program");
    return 0;
}

static enum spool_claim refused_or_gone(struct err *err)
{
    if (errno == ENOENT)
        return SPOOL_GONE;
    if (errno == ELOOP)
        err_set(err, ERR_SETTINGS, "is a symbolic link: expected a program");
    else
        err_sys(err, ERR_SETTINGS, "cannot be claimed");
    return SPOOL_REFUSED;
}

/* The name leads to the file whose lock we have. */
static bool is_same(int folder, const char *name, const struct stat *st)
{
    struct stat found;
    return fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && found.st_ino == st->st_ino &&
           found.st_dev == st->st_dev;
}

static enum spool_claim lock_program(int slot_folder, const char *name, struct spool_program *p,
                                     struct stat *st, struct err *err)
{
    p->file = openat(slot_folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (p->file < 0)
        return refused_or_gone(err);
    if (fstat(p->file, st))
        return refused_or_gone(err);
    if (check_program(slot_folder, name, st, err) < 0)
        return is_same(slot_folder, name, st) ? SPOOL_REFUSED : SPOOL_GONE;
    if (flock(p->file, LOCK_EX | LOCK_NB) == 0)
        return SPOOL_CLAIMED;
    return errno == EWOULDBLOCK ? SPOOL_GONE : refused_or_gone(err);
}

static enum spool_claim take(const struct spool *s, int slot_folder, const char *slot, const char *name,
                             struct spool_program *p, struct err *err)
{
    char base[2 * NAME_MAX];
    struct stat st;
    enum spool_claim claim = lock_program(slot_folder, name, p, &st, err);
    if (claim != SPOOL_CLAIMED)
        return claim;
    snprintf(base, sizeof base, "%s-%s", slot, name);
    if (find_name(s, base, p, err) < 0)
        return SPOOL_REFUSED;
    /* Between its check and the rename another file may have got that name. */
    if (!is_same(slot_folder, name, &st))
        return SPOOL_GONE;
    if (renameat2(slot_folder, name, s->running, p->name, RENAME_NOREPLACE))
        return refused_or_gone(err);
    if (!is_same(s->running, p->name, &st)) {
        err_set(err, ERR_SETTINGS, "was exchanged while it was claimed: it is in running/ and is not run");
        return SPOOL_REFUSED;
    }
    p->output = openat(s->running, p->output_name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (p->output >= 0)
        return SPOOL_CLAIMED;
    err_sys(err, ERR_GENERAL, "is in running/ and is not run: %s cannot be made", p->output_name);
    return SPOOL_REFUSED;
}

static void let_go(struct spool_program *p)
{
    cleanup_close(&p->file);
    cleanup_close(&p->output);
    p->file = p->output = -1;
}

enum spool_claim spool_claim(const struct spool *s, int slot_folder, const char *slot, const char *name,
                             struct spool_program *p, struct err *err)
{
    *p = (struct spool_program){ .file = -1, .output = -1 };
    enum spool_claim claim = take(s, slot_folder, slot, name, p, err);
    if (claim != SPOOL_CLAIMED)
        let_go(p);
    return claim;
}

/* The output first: a program that is still in running/ is one whose end is not known. */
static int move_both(const struct spool *s, const struct spool_program *p, const struct spool_program *as,
                     int to, struct err *err)
{
    if (renameat2(s->running, p->output_name, to, as->output_name, RENAME_NOREPLACE) && errno != ENOENT)
        return err_sys(err, ERR_GENERAL, "%s stays in running/", p->output_name);
    if (renameat2(s->running, p->name, to, as->name, RENAME_NOREPLACE))
        return err_sys(err, ERR_GENERAL, "%s stays in running/", p->name);
    return 0;
}

int spool_finish(const struct spool *s, struct spool_program *p, bool went_well, struct err *err)
{
    int rc = move_both(s, p, p, went_well ? s->done : s->failed, err);
    let_go(p);
    return rc;
}

/* An output is moved with its program, so only programs count. One whose program has gone, as a run
 * died between the two renames, is moved alone. */
static bool belongs_to_program(const struct spool *s, const char *name)
{
    char program[NAME_MAX + 1];
    size_t length = strlen(name), suffix = strlen(OUTPUT_SUFFIX);
    if (length <= suffix || strcmp(name + length - suffix, OUTPUT_SUFFIX) != 0)
        return false;
    snprintf(program, sizeof program, "%.*s", (int)(length - suffix), name);
    return is_there(s->running, program);
}

int spool_give_up(const struct spool *s, const char *name, struct spool_program *p, struct err *err)
{
    struct spool_program as;
    *p = (struct spool_program){ .file = -1, .output = -1 };
    if (belongs_to_program(s, name) || !name_it(p, name, 1))
        return ERR_NOTFOUND;
    p->file = openat(s->running, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    bool is_left = p->file >= 0 && flock(p->file, LOCK_EX | LOCK_NB) == 0 && fstat(p->file, &st) == 0 &&
                   is_same(s->running, name, &st);
    if (!is_left) {
        let_go(p);
        return ERR_NOTFOUND;
    }
    as = *p;
    int rc = 0;
    if (is_there(s->failed, p->name) || is_there(s->failed, p->output_name))
        rc = find_name(s, name, &as, err);
    if (rc == 0)
        rc = move_both(s, p, &as, s->failed, err);
    let_go(p);
    return rc;
}

/* ---- adding one ---- */

static int write_program(int folder, const char *name, const char *text, struct err *err)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    if (fd < 0)
        return err_sys(err, errno == ENOENT ? ERR_NOTFOUND : ERR_GENERAL, "%s cannot be made", name);
    size_t length = strlen(text);
    bool is_written = write(fd, text, length) == (ssize_t)length && fsync(fd) == 0;
    if (!is_written)
        err_sys(err, ERR_GENERAL, "%s cannot be written", name);
    close(fd);
    return is_written ? 0 : err->code;
}

static int publish(int folder, const char *temporary, const char *name, char name_out[NAME_MAX + 1],
                   struct err *err)
{
    struct spool_program p;
    for (int number = 1; number <= ATTEMPTS; number++) {
        if (!name_it(&p, name, number))
            return err_set(err, ERR_INPUT, "the command's name is too long: %.40s...", name);
        if (renameat2(folder, temporary, folder, p.name, RENAME_NOREPLACE) == 0) {
            memcpy(name_out, p.name, sizeof p.name);
            return fsync(folder) ? err_sys(err, ERR_GENERAL, "%s may be lost", p.name) : 0;
        }
        if (errno != EEXIST)
            return err_sys(err, ERR_GENERAL, "%s cannot be made", p.name);
    }
    return err_set(err, ERR_GENERAL, "%d programs have the name %s in that slot", ATTEMPTS, name);
}

/* A run takes an empty folder away, also one that was just made: then it is made again. */
static int open_new_slot(const struct spool *s, const char *slot, const char *temporary, const char *text,
                         int *folder, struct err *err)
{
    for (int i = 0;; i++) {
        int rc = make_folder(s->folder, slot, folder, err);
        if (rc == 0)
            rc = write_program(*folder, temporary, text, err);
        if (rc == 0)
            return 0;
        cleanup_close(folder);
        *folder = -1;
        if (rc != ERR_NOTFOUND || i == FOLDER_ATTEMPTS)
            return rc;
    }
}

int spool_add(const struct spool *s, const char *slot, const char *name, const char *text,
              char name_out[NAME_MAX + 1], struct err *err)
{
    CLEANUP(cleanup_close) int folder = -1;
    char temporary[64];
    snprintf(temporary, sizeof temporary, ".new.%ld", (long)getpid());
    int rc = open_new_slot(s, slot, temporary, text, &folder, err);
    if (rc < 0)
        return rc;
    rc = publish(folder, temporary, name, name_out, err);
    if (rc < 0)
        unlinkat(folder, temporary, 0);
    if (rc == 0 && fsync(s->folder))
        rc = err_sys(err, ERR_GENERAL, "the folder %s may be lost", slot);
    return rc;
}
