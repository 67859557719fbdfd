/* into_workers.h - how a preloaded library gets into worker processes, too: the engine gives them
 * a clean environment, into which it puts itself. Included by the one file of each such library
 * that defines execve. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_worker(char *const argv[])
{
    return argv[0] && argv[1] && strcmp(argv[1], "worker") == 0;
}

/* As execve, with those of the variables that are set here. */
static int exec_with(const char *path, char *const argv[], char *const envp[], const char *const *names,
                     size_t count)
{
    enum { VARIABLES_MAX = 96, GIVEN_MAX = 8 };
    char *all[VARIABLES_MAX + 1], texts[GIVEN_MAX][4096];
    int n = 0;
    for (size_t i = 0; i < count && i < GIVEN_MAX; i++)
        if (getenv(names[i]) && (size_t)snprintf(texts[i], sizeof texts[i], "%s=%s", names[i],
                                                 getenv(names[i])) < sizeof texts[i])
            all[n++] = texts[i];
    for (; *envp && n < VARIABLES_MAX; envp++)
        all[n++] = *envp;
    all[n] = NULL;
    return (int)syscall(SYS_execve, path, argv, all);
}
