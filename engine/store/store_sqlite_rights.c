/* store_sqlite_rights.c - whether this user may read a file, and write it: SQLite keeps a journal
 * beside it, so its folder counts as well. Asked of the system, as SQLite has few words for it. */
#include "store_sqlite_db.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/cleanup.h"

/* What is not there, or cannot be read for another reason, is no matter of rights. */
static bool is_denied(const char *path, int how)
{
    return faccessat(AT_FDCWD, path, how, AT_EACCESS) < 0 && (errno == EACCES || errno == EPERM);
}

static bool is_there(const char *path)
{
    return faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) == 0;
}

/* `what` is not for this user: who may, and what to do. */
static int refuse(const struct sqlite_store *db, const char *doing, const char *what, const char *path,
                  struct err *err)
{
    struct stat st = { 0 };
    char owner[80] = "";
    if (stat(path, &st) == 0)
        snprintf(owner, sizeof owner, " (owner uid %u, mode %04o)", st.st_uid, st.st_mode & 07777U);
    err_set(err, ERR_LOST,
            "%s may not be %s by this user (uid %u), who lacks the right to %s%s%s. As the owner, let this "
            "user read and write both the file and its folder, where SQLite makes a journal (chown, chmod, "
            "or a common group); or run prescient as a user who may",
            db->path, doing, geteuid(), what, path, owner);
    if (err)
        err->reason = ERR_REASON_DENIED;
    return ERR_LOST;
}

/* Where the file is: SQLite makes its journal beside what a link leads to. */
static char *real_path(const struct sqlite_store *db)
{
    char *path = realpath(db->path, NULL);
    return path ? path : strdup(db->path);
}

/* A journal that is there, as another connection leaves one, is written to without the folder. */
static int check_beside(const struct sqlite_store *db, const char *path, const char *folder, struct err *err)
{
    static const char *const suffixes[] = { "-journal", "-wal", "-shm" };
    bool has_journal = false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char beside[PATH_MAX + 16];
        snprintf(beside, sizeof beside, "%s%s", path, suffixes[i]);
        if (is_denied(beside, W_OK))
            return refuse(db, "written", "write ", beside, err);
        has_journal = has_journal || is_there(beside);
    }
    if (!has_journal && is_denied(folder, W_OK | X_OK))
        return refuse(db, "written", "make files in the folder ", folder, err);
    return 0;
}

int sqlite_check_rights(const struct sqlite_store *db, bool writes, struct err *err)
{
    CLEANUP(cleanup_free) char *path = real_path(db);
    CLEANUP(cleanup_free) char *folder = path ? strdup(path) : NULL;
    if (!folder)
        return err_set(err, ERR_NOMEM, "out of memory");
    char *slash = strrchr(folder, '/');
    slash[slash == folder] = '\0';              /* the path is absolute */
    if (is_denied(path, F_OK))
        return refuse(db, "reached", "enter a folder on the way to ", path, err);
    if (is_denied(path, R_OK))
        return refuse(db, "read", "read ", path, err);
    if (!writes)
        return 0;
    if (is_denied(path, W_OK))
        return refuse(db, "written", "write ", path, err);
    return check_beside(db, path, folder, err);
}
