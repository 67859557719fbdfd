/* probe.c - whether a plug-in loads. A child process loads it and sends the result through a pipe;
 * a child that dies or hangs is a result, too. */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../base/clock.h"
#include "../base/utf8.h"
#include "../worker/plugin.h"

static void copy_text(char *out, size_t size, const char *text)
{
    size_t len = text ? utf8_cut(text, strlen(text), size - 1) : 0;
    if (len)
        memcpy(out, text, len);
    out[len] = '\0';
}

static _Noreturn void child_main(const struct settings *s, const char *name, int out)
{
    struct probe found = { 0 };
    struct plugin plugin;
    struct err err = { 0 };
    struct rlimit no_core = { 0, 0 };
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &no_core);
    int null = open("/dev/null", O_RDWR); /* discards what it prints while it loads */
    for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    if (plugin_open(s->plugin_dirs, s->nplugin_dirs, name, &plugin, &err) < 0 ||
        plugin_load(&plugin, &err) < 0) {
        copy_text(found.why, sizeof found.why, err.text);
    } else {
        found.loaded = true;
        found.batches = plugin.api.job_exec_many != NULL;
        copy_text(found.name, sizeof found.name, plugin.api.name);
        copy_text(found.summary, sizeof found.summary, plugin.api.summary);
        copy_text(found.path, sizeof found.path, plugin.path);
    }
    ssize_t sent = write(out, &found, sizeof found);        /* less than PIPE_BUF: whole or not at all */
    _exit(sent == (ssize_t)sizeof found ? 0 : 1);
}

_Static_assert(sizeof(struct probe) <= 4096, "a probe is sent in one write");

/* Waits for the child's result; false when none came in time. */
static bool receive(int in, struct probe *out)
{
    int64_t until = clock_mono_us(&clock_system) + PROBE_TIMEOUT_MS * 1000LL;
    struct pollfd p = { .fd = in, .events = POLLIN };
    for (;;) {
        int64_t remaining_ms = (until - clock_mono_us(&clock_system)) / 1000;
        int n = remaining_ms > 0 ? poll(&p, 1, (int)remaining_ms) : 0;
        if (n < 0 && errno == EINTR)
            continue;
        return n == 1 && read(in, out, sizeof *out) == (ssize_t)sizeof *out;
    }
}

static void describe_end(int status, struct probe *out)
{
    *out = (struct probe){ 0 };
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        snprintf(out->why, sizeof out->why, "did not load within %d s", PROBE_TIMEOUT_MS / 1000);
    else if (WIFSIGNALED(status))
        snprintf(out->why, sizeof out->why, "crashed while it was loaded (%s)", strsignal(WTERMSIG(status)));
    else
        snprintf(out->why, sizeof out->why, "ended the process while it was loaded (exit code %d)",
                 WEXITSTATUS(status));
}

void probe_plugin(const struct settings *s, const char *plugin, struct probe *out)
{
    int pipes[2], status = 0;
    *out = (struct probe){ 0 };
    if (pipe2(pipes, O_CLOEXEC) < 0) {
        snprintf(out->why, sizeof out->why, "pipe: %s", strerror(errno));
        return;
    }
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        child_main(s, plugin, pipes[1]);
    close(pipes[1]);
    if (child < 0) {
        snprintf(out->why, sizeof out->why, "fork: %s", strerror(errno));
        close(pipes[0]);
        return;
    }
    bool received = receive(pipes[0], out);
    if (!received)
        kill(child, SIGKILL); /* a child that is dead already keeps its own status */
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    close(pipes[0]);
    if (!received)
        describe_end(status, out);
}
