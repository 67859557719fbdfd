/* exec_by_name.c - preloaded by guard.sh, because two things differ under valgrind. /proc/self/exe
 * is valgrind itself: programs started by that name become GUARD_PROGRAM, with this preloaded
 * again. And valgrind does not allow a lower limit of open files. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { VARIABLES_MAX = 80 };

int execve(const char *path, char *const argv[], char *const envp[])
{
    const char *program = getenv("GUARD_PROGRAM"), *preload = getenv("GUARD_PRELOAD");
    char *variables[VARIABLES_MAX + 2], text[512];
    int n = 0;
    if (!program || !preload || strcmp(path, "/proc/self/exe"))
        return (int)syscall(SYS_execve, path, argv, envp);
    snprintf(text, sizeof text, "LD_PRELOAD=%s", preload);
    variables[n++] = text;
    for (; *envp && n <= VARIABLES_MAX; envp++)
        variables[n++] = *envp;
    variables[n] = NULL;
    return (int)syscall(SYS_execve, program, argv, variables);
}

int setrlimit(__rlimit_resource_t which, const struct rlimit *limit)
{
    return which == RLIMIT_NOFILE ? 0 : (int)syscall(SYS_prlimit64, 0, which, limit, NULL);
}
