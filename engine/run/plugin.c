/* plugin.c - the loader of jobs.
 * Refusals name the file, what was found and what was wanted. */
#include "plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYMBOL "prescient_plugin"

/* Where the struct of ABI 1 ended when it was first released; it only grows behind this. */
enum { FIRST_SIZE = offsetof(struct prescient_plugin, job_exec_many) + sizeof(((struct prescient_plugin *)0)->job_exec_many) };

/* "order_paid" and "order_paid.so" are the same file. */
static int file_name(const char *name, char out[NAME_MAX + 1], struct err *err)
{
    size_t len = strlen(name), most = NAME_MAX - strlen(".so");
    if (len > 3 && !strcmp(name + len - 3, ".so"))
        len -= 3;
    if (len == 0 || len > most || name[0] == '.' || strchr(name, '/'))
        return err_set(err, ERR_SETTINGS, "plug-in '%.80s': expected a file name of 1 to %zu bytes, without '/' and not beginning with '.'", name, most);
    snprintf(out, NAME_MAX + 1, "%.*s.so", (int)len, name);
    return 0;
}

/* Who may write it decides what code runs here. */
static int check_writers(int fd, const char *path, mode_t type, const char *type_name, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st))
        return err_sys(err, ERR_SETTINGS, "plug-in: %s", path);
    if ((st.st_mode & S_IFMT) != type)
        return err_set(err, ERR_SETTINGS, "plug-in: %s is not a %s", path, type_name);
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return err_set(err, ERR_SETTINGS, "plug-in: %s belongs to user %u; expected root or the user that runs it, %u", path,
                       (unsigned)st.st_uid, (unsigned)geteuid());
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return err_set(err, ERR_SETTINGS, "plug-in: %s may be written by others (mode %04o); expected no write for group and others: chmod go-w", path,
                       (unsigned)(st.st_mode & 07777));
    return 0;
}

static int open_failed(const char *path, struct err *err)
{
    if (errno == ELOOP || errno == ENOTDIR)
        return err_set(err, ERR_SETTINGS, "plug-in: %s is a symbolic link or no folder; expected the real one", path);
    return err_sys(err, ERR_SETTINGS, "plug-in: %s", path);
}

/* Opens DIR/FILE and checks both. ERR_NOTFOUND without words when it is not there. */
static int open_in(const char *dir, const char *file, char path[PATH_MAX], int *out, struct err *err)
{
    if (snprintf(path, PATH_MAX, "%s/%s", dir, file) >= PATH_MAX)
        return err_set(err, ERR_SETTINGS, "plug-in '%s': the path of its folder is too long: %.80s...", file, dir);
    int d = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (d < 0)
        return errno == ENOENT ? ERR_NOTFOUND : open_failed(dir, err);
    int rc = 0, fd = openat(d, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);    /* a FIFO must not hold us */
    if (fd < 0)
        rc = errno == ENOENT ? ERR_NOTFOUND : open_failed(path, err);
    if (!rc)
        rc = check_writers(d, dir, S_IFDIR, "folder", err);
    if (!rc)
        rc = check_writers(fd, path, S_IFREG, "regular file", err);
    close(d);
    if (rc && fd >= 0)
        close(fd);
    *out = fd;
    return rc;
}

static int not_found(const char *const *dirs, int ndirs, const char *file, struct err *err)
{
    char where[1024] = "no plugin_dirs are set";
    size_t used = 0;
    for (int i = 0; i < ndirs && used < sizeof where; i++)
        used += (size_t)snprintf(where + used, sizeof where - used, "%s%s", i ? ", " : "looked into ", dirs[i]);
    return err_set(err, ERR_NOTFOUND, "plug-in: no file %s (%s)", file, where);
}

static int open_plugin(const char *const *dirs, int ndirs, const char *name, char path[PATH_MAX], int *fd, struct err *err)
{
    char file[NAME_MAX + 1];
    int rc = file_name(name, file, err);
    if (rc)
        return rc;
    for (int i = 0; i < ndirs; i++) {
        rc = open_in(dirs[i], file, path, fd, err);
        if (rc != ERR_NOTFOUND)
            return rc;
    }
    return not_found(dirs, ndirs, file, err);
}

int plugin_find(const char *const *dirs, int ndirs, const char *name, char path[PATH_MAX], struct err *err)
{
    int fd = -1, rc = open_plugin(dirs, ndirs, name, path, &fd, err);
    if (!rc)
        close(fd);
    return rc;
}

/* Copies as many bytes as both sides know; what is missing reads as NULL. */
static int take_api(struct plugin *p, const struct prescient_plugin *found, struct err *err)
{
    if (found->abi != PRESCIENT_ABI)
        return err_set(err, ERR_SETTINGS, "plug-in: %s was built for ABI %u of prescient/job.h, expected %u: build it again", p->path, found->abi, PRESCIENT_ABI);
    if (found->size < FIRST_SIZE)
        return err_set(err, ERR_SETTINGS, "plug-in: %s exports a " SYMBOL " of %u bytes, expected at least %d", p->path, found->size, FIRST_SIZE);
    memcpy(&p->api, found, found->size < sizeof p->api ? found->size : sizeof p->api);
    if (!p->api.job_exec)
        return err_set(err, ERR_SETTINGS, "plug-in: %s has no job_exec in its " SYMBOL ", expected a function", p->path);
    return 0;
}

/* The loader knows libraries by name, and an open descriptor's name is used again: by whoever closes it (so ours stay open for good),
 * and by a child of a process that has loaded plug-ins (so the name has our number in it). Where /proc counts processes otherwise
 * than we do, "self" has to do. */
static void name_descriptor(int fd, char out[64])
{
    struct stat ours, named;
    snprintf(out, 64, "/proc/%d/fd/%d", (int)getpid(), fd);
    if (fstat(fd, &ours) || stat(out, &named) || ours.st_dev != named.st_dev || ours.st_ino != named.st_ino)
        snprintf(out, 64, "/proc/self/fd/%d", fd);
}

int plugin_load(const char *const *dirs, int ndirs, const char *name, struct plugin *out, struct err *err)
{
    char file[64];
    memset(out, 0, sizeof *out);
    int fd = -1, rc = open_plugin(dirs, ndirs, name, out->path, &fd, err);
    if (rc)
        return rc;
    name_descriptor(fd, file);
    out->handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!out->handle) {
        err_set(err, ERR_SETTINGS, "plug-in: %s cannot be loaded: %s", out->path, dlerror());
        close(fd);
        return ERR_SETTINGS;
    }
    const struct prescient_plugin *found = dlsym(out->handle, SYMBOL);
    if (!found)
        return err_set(err, ERR_SETTINGS, "plug-in: %s exports no symbol " SYMBOL " (PRESCIENT_PLUGIN of prescient/job.h writes it)", out->path);
    return take_api(out, found, err);
}
