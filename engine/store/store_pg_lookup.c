/* store_pg_lookup.c - looks up a host's addresses in a child process. libpq resolves names before
 * its asynchronous calls return, and a name server that does not answer takes ten seconds and more.
 * An engine would renew no lease and end no overdue worker meanwhile. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../base/clock.h"
#include "store_pg.h"

bool pg_lookup_wanted(const struct pg_host *host)
{
    unsigned char address[sizeof(struct in6_addr)];
    return host->host && !host->hostaddr && *host->host != '/' && *host->host != '@' &&
           inet_pton(AF_INET, host->host, address) != 1 && inet_pton(AF_INET6, host->host, address) != 1;
}

/* The child: writes addresses separated by commas, or "!" and the reason for none. */
static void answer(int fd, const char *name)
{
    char text[PG_LOOKUP_TEXT] = "";
    size_t used = 0;
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *found = NULL;
    int rc = getaddrinfo(name, NULL, &hints, &found), n = 0;
    for (const struct addrinfo *a = found; !rc && a && n < PG_LOOKUP_ADDRESSES; a = a->ai_next) {
        char address[NI_MAXHOST];
        if (getnameinfo(a->ai_addr, a->ai_addrlen, address, sizeof address, NULL, 0, NI_NUMERICHOST) ||
            used + strlen(address) + 2 > sizeof text)
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", n++ ? "," : "", address);
    }
    if (n == 0)
        used = (size_t)snprintf(text, sizeof text, "!%.200s", rc ? gai_strerror(rc) : "it has no address");
    if (write(fd, text, used) != (ssize_t)used)
        _exit(1);
}

/* As fork(), but without a signal when the child ends. An engine waits for all its children, such
 * as orphans of jobs, and must not reap this one: its pid could belong to another process by the
 * time we kill it. */
static pid_t fork_unseen(void)
{
    return (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
}

bool pg_lookup_begin(struct pg_lookup *l, const char *name)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
        return false;
    pid_t parent = getpid(), pid = fork_unseen();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent)
            answer(fds[1], name);
        _exit(0);
    }
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        return false;
    }
    *l = (struct pg_lookup){ .pid = pid, .fd = fds[0] };
    return true;
}

void pg_lookup_end(struct pg_lookup *l)
{
    if (l->pid <= 0)
        return;
    int status;
    kill(l->pid, SIGKILL);
    while (waitpid(l->pid, &status, __WALL) < 0 && errno == EINTR)
        ;
    close(l->fd);
    l->pid = 0;
    l->fd = -1;
}

int pg_lookup_step(struct pg_lookup *l)
{
    ssize_t n = read(l->fd, l->text + l->used, sizeof l->text - 1 - l->used);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n > 0) {
        l->used += (size_t)n;           /* a pipe delivers so little at once, and then its end */
        l->text[l->used] = '\0';
        return 0;
    }
    pg_lookup_end(l);
    if (l->used == 0)
        memcpy(l->text, "!the lookup has failed", sizeof "!the lookup has failed");
    return *l->text == '!' ? -1 : 1;
}

bool pg_lookup_wait(struct pg_lookup *l, const char *name, int within_ms)
{
    int64_t until_us = clock_mono_us(&clock_system) + within_ms * INT64_C(1000), left_us;
    int rc = pg_lookup_begin(l, name) ? 0 : -1;
    while (rc == 0 && (left_us = until_us - clock_mono_us(&clock_system)) > 0) {
        struct pollfd p = { .fd = l->fd, .events = POLLIN };
        poll(&p, 1, (int)(left_us / 1000) + 1);
        rc = pg_lookup_step(l);
    }
    pg_lookup_end(l);
    return rc > 0;
}
