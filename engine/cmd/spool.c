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
enum { SPOOL_TEMPORARY = 64 };
/* of a program in a slot: "yymmddhhmi-NAME.1000.output" has to fit */
enum { SPOOL_NAME_MAX = NAME_MAX - 11 - 5 - (int)sizeof OUTPUT_SUFFIX };

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
    if (*fd < 0 && errno == ENOTDIR)
        return err_set(err, ERR_SETTINGS, "%s is no folder, or a symbolic link: expected a folder", name);
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

/* A rename does not go from one file system to another. */
static int make_own_folder(const struct spool *s, const char *name, int *fd, struct err *err)
{
    struct stat whole, part;
    int rc = make_folder(s->folder, name, fd, err);
    if (rc < 0)
        return rc;
    if (fstat(s->folder, &whole) || fstat(*fd, &part))
        return err_sys(err, ERR_SETTINGS, "folder %s", name);
    if (whole.st_dev == part.st_dev)
        return 0;
    return err_set(err, ERR_SETTINGS, "folder %s is of another file system: expected all of a spool on one",
                   name);
}

static int open_whole(const char *path, struct spool *s, struct err *err)
{
    static const struct owned_rules rules = { .subject = "spool", .advice = "", .links = true, .sticky = true,
                                              .flags = O_DIRECTORY };
    struct stat st;
    char self[64];
    int rc = owned_open(path, &rules, &s->folder, err);
    if (rc == ERR_NOTFOUND)
        return err_set(err, ERR_INPUT, "spool: there is no folder %.200s", path);
    if (rc < 0)
        return rc;
    snprintf(self, sizeof self, "/proc/self/fd/%d", s->folder);
    ssize_t length = readlink(self, s->path, sizeof s->path - 1);
    if (length < 0 || fstat(s->folder, &st))
        return err_sys(err, ERR_SETTINGS, "spool: folder %.200s", path);
    s->path[length] = '\0';
    if (!is_ours(&st))                  /* the sticky bit will do for folders above it only */
        return refuse_writers("spool: folder", s->path, &st, err);
    return 0;
}

int spool_open(const char *path, struct spool *s, struct err *err)
{
    *s = (struct spool){ .folder = -1, .running = -1, .done = -1, .failed = -1 };
    int rc = open_whole(path, s, err);
    if (rc < 0) {
        spool_close(s);
        return rc;
    }
    rc = make_own_folder(s, "running", &s->running, err);
    rc = rc < 0 ? rc : make_own_folder(s, "done", &s->done, err);
    rc = rc < 0 ? rc : make_own_folder(s, "failed", &s->failed, err);
    if (rc < 0) {
        err_wrap(err, err->code, "spool: %s", s->path);
        spool_close(s);
    }
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
    errno = 0;
    while (rc == 0 && out->n < NAMES_MAX && (e = readdir(d)))
        if (*e->d_name != '.')
            rc = note_name(a, out, &room, e->d_name);
    int why = errno;
    closedir(d);
    if (rc < 0)
        return err_set(err, ERR_NOMEM, "spool: out of memory for %d names", out->n);
    if (out->n == NAMES_MAX)
        return err_set(err, ERR_GENERAL, "spool: a folder has %d files or more", NAMES_MAX);
    if (why)
        return err_set(err, ERR_GENERAL, "spool: a folder cannot be read: %s", strerror(why));
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
    /* cppcheck-suppress ctuuninitvar ; the names are written here */
    int n = snprintf(p->name, sizeof p->name, "%s%s", base, suffix);
    int m = snprintf(p->output_name, sizeof p->output_name, "%s%s" OUTPUT_SUFFIX, base, suffix);
    return n < (int)sizeof p->name && m < (int)sizeof p->output_name;
}

static int refuse_length(struct err *err)
{
    return err_set(err, ERR_INPUT, "its name is too long: expected at most %d bytes", SPOOL_NAME_MAX);
}

/* ---- the lock ---- */

static void let_go(struct spool_program *p)
{
    cleanup_close(&p->output);
    cleanup_close(&p->lock);
    p->output = p->lock = -1;
}

/* False with errno EWOULDBLOCK: it is another's. */
static bool lock_output(const struct spool *s, struct spool_program *p)
{
    p->lock = openat(s->running, p->output_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (p->lock >= 0 && flock(p->lock, LOCK_EX | LOCK_NB) == 0)
        return true;
    int why = errno;
    let_go(p);
    errno = why;
    return false;
}

/* Who gives up what was left may take the new file for such, in the moment before it is locked:
 * then the next name is tried. */
static int make_output(const struct spool *s, const char *base, struct spool_program *p, struct err *err)
{
    for (int number = 1; number <= ATTEMPTS; number++) {
        if (!name_it(p, base, number))
            return refuse_length(err);
        if (!is_free(s, p))
            continue;
        int fd = openat(s->running, p->output_name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
        if (fd < 0 && errno == EEXIST)
            continue;
        if (fd < 0)
            return err_sys(err, ERR_GENERAL, "running/%s cannot be made", p->output_name);
        bool is_locked = lock_output(s, p);
        p->output = fd;
        if (is_locked)
            return 0;
        int why = errno;
        let_go(p);
        if (why == EWOULDBLOCK || why == ENOENT)
            continue;
        unlinkat(s->running, p->output_name, 0);
        errno = why;
        return err_sys(err, ERR_GENERAL, "running/%s cannot be locked", p->output_name);
    }
    return err_set(err, ERR_GENERAL, "running/, done/ and failed/ have %d of that name: take some away",
                   ATTEMPTS);
}

static void drop_output(const struct spool *s, struct spool_program *p)
{
    unlinkat(s->running, p->output_name, 0);
    let_go(p);
}

/* ---- claiming a program ---- */

static int check_program(int slot_folder, const char *name, const struct stat *st, struct err *err)
{
    if (S_ISLNK(st->st_mode))
        return err_set(err, ERR_SETTINGS, "is a symbolic link: expected a program");
    if (!S_ISREG(st->st_mode))
        return err_set(err, ERR_SETTINGS, "is no file: expected a program");
    if (!is_ours(st))
        return refuse_writers("the program", name, st, err);
    if (!(st->st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)))
        return err_set(err, ERR_SETTINGS, "cannot be executed; chmod u+x, if it is a program");
    if (faccessat(slot_folder, name, X_OK, AT_EACCESS))
        return err_sys(err, ERR_SETTINGS, "cannot be executed here");
    return 0;
}

/* The name leads to that file. */
static bool is_same(int folder, const char *name, const struct stat *st)
{
    struct stat found;
    return fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0 && found.st_ino == st->st_ino &&
           found.st_dev == st->st_dev;
}

static enum spool_claim rename_program(const struct spool *s, int slot_folder, const char *name,
                                       const struct spool_program *p, const struct stat *st, struct err *err)
{
    if (renameat2(slot_folder, name, s->running, p->name, RENAME_NOREPLACE)) {
        bool is_gone = errno == ENOENT;
        err_sys(err, ERR_GENERAL, "cannot be moved to running/");
        return is_gone ? SPOOL_GONE : SPOOL_REFUSED;
    }
    if (is_same(s->running, p->name, st))
        return SPOOL_CLAIMED;
    /* Between its check and the rename another file has got that name. */
    renameat2(s->running, p->name, slot_folder, name, RENAME_NOREPLACE);
    err_set(err, ERR_SETTINGS, "was exchanged while it was claimed");
    return SPOOL_REFUSED;
}

enum spool_claim spool_claim(const struct spool *s, int slot_folder, const char *slot, const char *name,
                             struct spool_program *p, struct err *err)
{
    char base[2 * NAME_MAX];
    struct stat st;
    *p = (struct spool_program){ .output = -1, .lock = -1 };
    if (fstatat(slot_folder, name, &st, AT_SYMLINK_NOFOLLOW)) {
        bool is_gone = errno == ENOENT;
        err_sys(err, ERR_SETTINGS, "cannot be looked at");
        return is_gone ? SPOOL_GONE : SPOOL_REFUSED;
    }
    if (check_program(slot_folder, name, &st, err) < 0)
        return is_there(slot_folder, name) ? SPOOL_REFUSED : SPOOL_GONE;
    snprintf(base, sizeof base, "%s-%s", slot, name);
    if (strlen(name) > SPOOL_NAME_MAX) {
        refuse_length(err);
        return SPOOL_REFUSED;
    }
    if (make_output(s, base, p, err) < 0)
        return SPOOL_SHORT;
    enum spool_claim claim = rename_program(s, slot_folder, name, p, &st, err);
    if (claim != SPOOL_CLAIMED) {
        drop_output(s, p);
        return claim;
    }
    /* A program that a power cut puts back where it was would be begun once more. */
    if (fsync(s->running) == 0 && fsync(slot_folder) == 0)
        return SPOOL_CLAIMED;
    err_sys(err, ERR_GENERAL, "cannot be kept in running/");
    renameat2(s->running, p->name, slot_folder, name, RENAME_NOREPLACE);
    drop_output(s, p);
    return SPOOL_SHORT;
}

int spool_put_back(const struct spool *s, int slot_folder, const char *name, struct spool_program *p,
                   struct err *err)
{
    if (renameat2(s->running, p->name, slot_folder, name, RENAME_NOREPLACE)) {
        err_sys(err, ERR_GENERAL, "running/%s cannot be put back", p->name);
        let_go(p);
        return err->code;
    }
    drop_output(s, p);
    return 0;
}

/* ---- the end of a program ---- */

/* The program first: an output that is alone in running/ goes where its program is. */
int spool_finish(const struct spool *s, struct spool_program *p, bool went_well, struct err *err)
{
    int to = went_well ? s->done : s->failed, rc = 0;
    if (renameat2(s->running, p->name, to, p->name, RENAME_NOREPLACE))
        rc = err_sys(err, errno == ENOENT ? ERR_NOTFOUND : ERR_GENERAL, "running/%s cannot be moved",
                     p->name);
    if ((rc == 0 || rc == ERR_NOTFOUND) &&
        renameat2(s->running, p->output_name, to, p->output_name, RENAME_NOREPLACE) && errno != ENOENT)
        rc = err_sys(err, ERR_GENERAL, "running/%s cannot be moved", p->output_name);
    let_go(p);
    return rc;
}

/* "NAME.output": NAME in `program`. */
static bool is_output(const char *name, char program[NAME_MAX + 1])
{
    size_t length = strlen(name), suffix = strlen(OUTPUT_SUFFIX);
    if (length <= suffix || strcmp(name + length - suffix, OUTPUT_SUFFIX) != 0)
        return false;
    snprintf(program, NAME_MAX + 1, "%.*s", (int)(length - suffix), name);
    return true;
}

/* A name in failed/ that is free for both, to which the program is moved. */
static int move_to_failed(const struct spool *s, struct spool_program *p, struct err *err)
{
    struct spool_program as;
    for (int number = 1; number <= ATTEMPTS && name_it(&as, p->name, number); number++) {
        if (is_there(s->failed, as.output_name))
            continue;
        if (renameat2(s->running, p->name, s->failed, as.name, RENAME_NOREPLACE)) {
            if (errno == EEXIST)
                continue;
            return err_sys(err, errno == ENOENT ? ERR_NOTFOUND : ERR_GENERAL, "running/%s cannot be moved",
                           p->name);
        }
        renameat2(s->running, p->output_name, s->failed, as.output_name, RENAME_NOREPLACE);
        memcpy(p->name, as.name, sizeof p->name);
        return 0;
    }
    return err_set(err, ERR_GENERAL, "running/%s cannot be moved: failed/ has %d of that name", p->name,
                   ATTEMPTS);
}

/* Its run was over but for one rename, or had not begun. */
static int move_output(const struct spool *s, const char *program, struct spool_program *p, struct err *err)
{
    struct stat st;
    int to = is_there(s->done, program) ? s->done : s->failed;
    bool is_empty = fstat(p->lock, &st) == 0 && st.st_size == 0 && !is_there(to, program);
    *p->name = '\0';
    int rc = is_empty ? unlinkat(s->running, p->output_name, 0)
                      : renameat2(s->running, p->output_name, to, p->output_name, RENAME_NOREPLACE);
    if (rc == 0 || errno == ENOENT)
        return 0;
    return err_sys(err, ERR_GENERAL, "running/%s cannot be moved", p->output_name);
}

int spool_give_up(const struct spool *s, const char *name, struct spool_program *p, struct err *err)
{
    char program[NAME_MAX + 1];
    *p = (struct spool_program){ .output = -1, .lock = -1 };
    bool is_of_output = is_output(name, program);
    if (!name_it(p, is_of_output ? program : name, 1))
        return err_set(err, ERR_GENERAL, "running/%s is nothing that a run has left: take it away", name);
    if (!is_of_output && is_there(s->running, p->output_name))
        return ERR_NOTFOUND;            /* its output is in the list, too */
    if (!is_of_output)
        return move_to_failed(s, p, err);
    if (!lock_output(s, p)) {
        if (errno == EWOULDBLOCK || errno == ENOENT)
            return ERR_NOTFOUND;
        return err_sys(err, ERR_GENERAL, "running/%s cannot be locked", name);
    }
    bool is_both = is_there(s->running, program);
    int rc = is_both ? move_to_failed(s, p, err) : move_output(s, program, p, err);
    let_go(p);
    return rc;
}

/* ---- adding one ---- */

static int write_text(int fd, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t n = write(fd, text, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        text += n;
        left -= (size_t)n;
    }
    return fsync(fd);
}

/* A name that nobody has, as a file that was left would have. */
static int write_program(int folder, char temporary[SPOOL_TEMPORARY], const char *text, struct err *err)
{
    int fd = -1;
    errno = EEXIST;
    for (int i = 0; fd < 0 && errno == EEXIST && i < ATTEMPTS; i++) {
        snprintf(temporary, SPOOL_TEMPORARY, ".new.%ld.%d", (long)getpid(), i);
        fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
    }
    if (fd < 0)
        return err_sys(err, errno == ENOENT ? ERR_NOTFOUND : ERR_GENERAL, "%s cannot be made", temporary);
    int rc = write_text(fd, text) ? err_sys(err, ERR_GENERAL, "it cannot be written") : 0;
    close(fd);
    if (rc < 0)
        unlinkat(folder, temporary, 0);
    return rc;
}

static int publish(int folder, const char *temporary, const char *name, char name_out[NAME_MAX + 1],
                   struct err *err)
{
    struct spool_program p;
    for (int number = 1; number <= ATTEMPTS && name_it(&p, name, number); number++) {
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
static int open_new_slot(const struct spool *s, const char *slot, char temporary[SPOOL_TEMPORARY],
                         const char *text, int *folder, struct err *err)
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
    char temporary[SPOOL_TEMPORARY];
    if (strlen(name) > SPOOL_NAME_MAX)
        return refuse_length(err);
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
