/* program.c - finds the other programs of an installation by the place of this one. An installation
 * may be moved as a whole: only the ways from one of its folders to another are compiled in. */
#include "program.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const places[] = { "", TO_LIBEXEC "/", TO_BIN "/" };
enum { PLACES = sizeof places / sizeof *places };

/* The folder of this program's own file, with a slash at its end. */
static int own_folder(char *out, size_t size, struct err *err)
{
    ssize_t n = readlink("/proc/self/exe", out, size - 1);
    if (n < 0)
        return err_sys(err, ERR_GENERAL, "cannot tell where this program is: /proc/self/exe");
    out[n] = '\0';
    char *slash = strrchr(out, '/');
    if (slash)
        slash[1] = '\0';
    return 0;
}

int program_find(const char *name, char *out, size_t size, struct err *err)
{
    char folder[PATH_MAX];
    int rc = own_folder(folder, sizeof folder, err);
    if (rc < 0)
        return rc;
    for (int i = 0; i < PLACES; i++) {
        int n = snprintf(out, size, "%s%s%s", folder, places[i], name);
        if (n < (int)size && access(out, X_OK) == 0)
            return 0;
    }
    return err_set(err, ERR_GENERAL, "cannot find the program %s: none of %s%s%s, %s%s%s and %s%s%s is there",
                   name, folder, places[0], name, folder, places[1], name, folder, places[2], name);
}

int program_become(const char *name, char **argv, struct err *err)
{
    char path[PATH_MAX];
    int rc = program_find(name, path, sizeof path, err);
    if (rc < 0)
        return rc;
    execv(path, argv);
    return err_sys(err, ERR_GENERAL, "cannot start %s", path);
}
