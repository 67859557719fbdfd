/* plugin.c - the loader of jobs. A refusal names the file, what was found and what was expected. */
#include "plugin.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/nearest.h"
#include "../base/owned.h"
#include "../base/utf8.h"

#define SYMBOL "prescient_plugin"

/* The size of the struct of ABI 1 when it was first released; it only grows. */
enum {
    FIRST_SIZE = offsetof(struct prescient_plugin, job_exec_many) +
                 sizeof(((struct prescient_plugin *)0)->job_exec_many)
};

/* ---- the name ---- */

/* "order_paid" and "order_paid.so" are the same file. */
static int file_name(const char *name, char out[NAME_MAX + 1], struct err *err)
{
    size_t len = strlen(name), most = NAME_MAX - strlen(".so");
    if (len > 3 && !strcmp(name + len - 3, ".so"))
        len -= 3;
    if (len == 0 || len > most || name[0] == '.' || strchr(name, '/'))
        return err_set(
            err, ERR_SETTINGS,
            "plug-in '%.80s': expected a file name of 1 to %zu bytes, without '/' and not beginning with '.'",
            name, most);
    snprintf(out, NAME_MAX + 1, "%.*s.so", (int)len, name);
    return 0;
}

/* ---- the file ---- */

/* No symbolic links, and no folder that other users may put files into. O_NONBLOCK: opening a FIFO
 * must not block. */
static const struct owned_rules rules = { .subject = "plug-in", .advice = "", .flags = O_NONBLOCK };

static int check_file(struct plugin *p, struct err *err)
{
    struct stat st;
    if (fstat(p->fd, &st))
        return err_sys(err, ERR_SETTINGS, "plug-in: %s", p->path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, ERR_SETTINGS, "plug-in: %s is not a regular file", p->path);
    p->dev = st.st_dev;
    p->ino = st.st_ino;
    return 0;
}

/* Opens DIR/FILE and checks the path to it. ERR_NOTFOUND without a message when it is not there. */
static int open_in(const char *dir, const char *file, struct plugin *p, struct err *err)
{
    if (snprintf(p->path, PATH_MAX, "%s/%s", dir, file) >= PATH_MAX)
        return err_set(err, ERR_SETTINGS, "plug-in '%s': the path of its folder is too long: %.80s...", file,
                       dir);
    int rc = owned_open(p->path, &rules, &p->fd, err);
    if (rc < 0)
        return rc;
    rc = check_file(p, err);
    if (rc < 0)
        plugin_close(p);
    return rc;
}

/* Looks at one folder for a name that is near to the one wanted. `best` has the nearest so far. */
static void look_for_alike(const char *dir, struct nearest *n, char best[NAME_MAX + 1])
{
    DIR *folder = opendir(dir);
    if (!folder)
        return;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char name[NAME_MAX + 1];
        size_t len = strlen(entry->d_name);
        if (len <= 3 || len > NAME_MAX || strcmp(entry->d_name + len - 3, ".so") != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(len - 3), entry->d_name);
        nearest_look(n, name);
        if (n->best != name)
            continue;
        memcpy(best, name, sizeof name);
        n->best = best;
    }
    closedir(folder);
}

/* "; did you mean unshipped_order?" */
static void suggest(const char *const *dirs, int ndirs, const char *file, char *out, size_t size)
{
    char wanted[NAME_MAX + 1], best[NAME_MAX + 1];
    struct nearest n = { .wanted = wanted };
    snprintf(wanted, sizeof wanted, "%.*s", (int)(strlen(file) - strlen(".so")), file);
    for (int i = 0; i < ndirs; i++)
        look_for_alike(dirs[i], &n, best);
    const char *word = nearest_word(&n);
    if (word)
        snprintf(out, size, "; did you mean %.*s?", UTF8_SHOWN(word));
}

static int not_found(const char *const *dirs, int ndirs, const char *file, struct err *err)
{
    char where[1024] = "no plugin_dirs are set", hint[128] = "";
    size_t used = 0;
    suggest(dirs, ndirs, file, hint, sizeof hint);
    for (int i = 0; i < ndirs && used < sizeof where; i++)
        used += (size_t)snprintf(where + used, sizeof where - used, "%s%s", i ? ", " : "looked into ",
                                 dirs[i]);
    return err_set(err, ERR_NOTFOUND, "plug-in: no file %s%s (%s)", file, hint, where);
}

int plugin_open(const char *const *dirs, int ndirs, const char *name, struct plugin *out, struct err *err)
{
    char file[NAME_MAX + 1];
    memset(out, 0, sizeof *out);
    out->fd = -1;
    int rc = file_name(name, file, err);
    if (rc)
        return rc;
    for (int i = 0; i < ndirs; i++) {
        rc = open_in(dirs[i], file, out, err);
        if (rc != ERR_NOTFOUND)
            return rc;
    }
    return not_found(dirs, ndirs, file, err);
}

void plugin_close(struct plugin *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
}

/* ---- loading ---- */

/* Copies as many bytes as both sides know; what is missing reads as NULL. */
static int take_api(struct plugin *p, const struct prescient_plugin *found, struct err *err)
{
    if (found->abi != PRESCIENT_ABI)
        return err_set(err, ERR_SETTINGS,
                       "plug-in: %s was built for ABI %u of prescient/job.h, expected %u: build it again",
                       p->path, found->abi, PRESCIENT_ABI);
    if (found->size < FIRST_SIZE)
        return err_set(err, ERR_SETTINGS,
                       "plug-in: %s exports a " SYMBOL " of %u bytes, expected at least %d", p->path,
                       found->size, FIRST_SIZE);
    memcpy(&p->api, found, found->size < sizeof p->api ? found->size : sizeof p->api);
    if (!p->api.job_exec)
        return err_set(err, ERR_SETTINGS,
                       "plug-in: %s has no job_exec in its " SYMBOL ", expected a function", p->path);
    return 0;
}

/* The number in slashes: "/." for a bit that is 1, "/" for one that is 0. The kernel ignores both
 * in a path. */
static char *put_bits(char *to, uint64_t number)
{
    for (int bit = 0; bit < 64; bit++, number >>= 1) {
        *to++ = '/';
        if (number & 1)
            *to++ = '.';
    }
    return to;
}

enum { NAME_SIZE = 2 * 2 * 64 + 64 };

/* A path by which dlopen reaches the descriptor, and so the file that was checked, even when
 * another file has its old path by now. dlopen recognizes libraries by the text of their path and
 * returns the first one again for the same text; but a descriptor's number is used again, after a
 * close and in a child of a process that has loaded plug-ins. So the text holds the process and the
 * identity of the file. Where /proc has other process numbers than ours, "self" takes the place of
 * the process. */
static void name_descriptor(const struct plugin *p, char out[NAME_SIZE])
{
    struct stat named;
    char rest[NAME_SIZE - 32], *end = put_bits(put_bits(rest, p->dev), p->ino);
    snprintf(end, (size_t)(rest + sizeof rest - end), "/%d", p->fd);
    snprintf(out, NAME_SIZE, "/proc/%d/fd%s", (int)getpid(), rest);
    if (stat(out, &named) || p->dev != named.st_dev || p->ino != named.st_ino)
        snprintf(out, NAME_SIZE, "/proc/self/fd%s", rest);
}

/* Code of another plug-in may have closed descriptors since ours was opened. */
static int check_still_open(const struct plugin *p, struct err *err)
{
    struct stat now;
    if (fstat(p->fd, &now) || now.st_dev != p->dev || now.st_ino != p->ino)
        return err_set(
            err, ERR_SETTINGS,
            "plug-in: %s is no longer open: another plug-in has closed descriptor %d",
            p->path, p->fd);
    return 0;
}

static int open_library(struct plugin *p, struct err *err)
{
    char file[NAME_SIZE];
    int rc = check_still_open(p, err);
    if (rc < 0)
        return rc;
    name_descriptor(p, file);
    p->handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!p->handle) {
        err_set(err, ERR_SETTINGS, "plug-in: %s cannot be loaded: %s", p->path, dlerror());
        plugin_close(p);
        return ERR_SETTINGS;
    }
    return 0;
}

int plugin_load(struct plugin *p, struct err *err)
{
    int rc = open_library(p, err);
    if (rc)
        return rc;
    const struct prescient_plugin *found = dlsym(p->handle, SYMBOL);
    if (!found)
        return err_set(err, ERR_SETTINGS,
                       "plug-in: %s exports no symbol " SYMBOL
                       " (PRESCIENT_PLUGIN of prescient/job.h writes it)",
                       p->path);
    return take_api(p, found, err);
}
