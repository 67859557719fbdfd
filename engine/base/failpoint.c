/* failpoint.c - what happens at an armed failpoint. Empty but for build/prescient-failpoints. */
#include "failpoint.h"

#ifdef PRESCIENT_FAILPOINTS
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { SOCKETS_MAX = 1024 };

static void cut(void)
{
    for (int fd = 3; fd < SOCKETS_MAX; fd++) {
        int type = 0;
        socklen_t len = sizeof type;
        /* workers' are of another type */
        if (!getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) && type == SOCK_STREAM)
            shutdown(fd, SHUT_RDWR);
    }
}

/* A stop is written down as a beginning; the test that wakes us up writes its end. */
static void write_down(const char *folder, const char *name, const char *action)
{
    char path[4096], line[256];
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    snprintf(path, sizeof path, "%s/faults", folder);
    int n = snprintf(line, sizeof line, "%lld\t%s\t%s %s\tengine:%d\n",
                     (long long)t.tv_sec * 1000000 + t.tv_nsec / 1000,
                     strcmp(action, "stop") ? "at" : "begin", action, name, (int)getpid());
    int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, line, (size_t)n) != n)
        abort();
    close(fd);
}

void failpoint_reach(const char *name)
{
    const char *folder = getenv("PRESCIENT_FAILPOINTS");
    char path[4096], action[16] = "";
    if (!folder || snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = read(fd, action, sizeof action - 1);
    close(fd);
    if (n <= 0 || unlink(path))         /* another process was faster */
        return;
    action[strcspn(action, "\n")] = '\0';
    write_down(folder, name, action);
    if (!strcmp(action, "kill"))
        raise(SIGKILL);
    else if (!strcmp(action, "stop"))
        raise(SIGSTOP);
    else
        cut();
}
#endif
