/* confine.c - signals, process group, descriptors, user, limits and system calls of a worker. */
#include "confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "keeper.h"
#include "seccomp.h"

/* A sanitizer reserves terabytes of addresses and looks for leaks from a helper process of its
 * own. */
#if defined(__SANITIZE_ADDRESS__)
enum { INSTRUMENTED = true };
#else
enum { INSTRUMENTED = false };
#endif

static void default_signals(void)
{
    struct sigaction plain = { .sa_handler = SIG_DFL };
    for (int sig = 1; sig < NSIG; sig++)
        sigaction(sig, &plain, NULL);           /* refused for KILL, STOP and those of the C library */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The parent's death must kill us. It may have died before prctl, so the parent is looked at
 * behind it; who it should be is known from the socketpair that it made. */
static int die_with_engine(int sock, pid_t *engine, struct err *err)
{
    struct ucred peer = { 0 };
    socklen_t len = sizeof peer;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL))
        return err_sys(err, ERR_GENERAL, "worker: prctl(PR_SET_PDEATHSIG)");
    if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len))
        return err_sys(err, ERR_GENERAL, "worker: descriptor %d is not the engine's socket", sock);
    if (getppid() != peer.pid)
        return err_set(err, ERR_LOST, "worker: the engine (process %d) is gone; our parent is %d",
                       (int)peer.pid, (int)getppid());
    *engine = peer.pid;
    return 0;
}

/* A descriptor that the engine inherited without close-on-exec, say the lock file of a cron
 * wrapper, is not for jobs. */
static void close_inherited(int sock)
{
    if (close_range((unsigned)sock + 1, ~0U, 0) == 0 &&
        (sock <= STDERR_FILENO + 1 || close_range(STDERR_FILENO + 1, (unsigned)sock - 1, 0) == 0))
        return;
    long most = sysconf(_SC_OPEN_MAX);          /* a kernel before 5.9 */
    for (int fd = STDERR_FILENO + 1; fd < (most > 0 && most < 65536 ? most : 65536); fd++)
        if (fd != sock)
            close(fd);
}

static int stdin_from_null(struct err *err)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0)
        return err_sys(err, ERR_GENERAL, "worker: /dev/null");
    if (null != STDIN_FILENO)
        close(null);
    return 0;
}

void confine_memory(void)
{
    if (INSTRUMENTED)
        return;
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    prctl(PR_SET_DUMPABLE, 0);
}

int confine_start(int sock, struct err *err)
{
    default_signals();
    /* refused to a session leader, which has a group of its own */
    setpgid(0, 0);
    umask(077);
    confine_memory();                           /* before there is a secret in it */
    pid_t engine = 0;
    int rc = die_with_engine(sock, &engine, err);
    if (rc)
        return rc;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return err_sys(err, ERR_GENERAL, "worker: prctl(PR_SET_NO_NEW_PRIVS)");
    close_inherited(sock);
    fcntl(sock, F_SETFD, FD_CLOEXEC);           /* what a job executes has no business with it */
    rc = stdin_from_null(err);
    return rc ? rc : keeper_start(engine, sock, err);
}

/* Root becomes `name`. Any other user stays who he is: he could not change, and the engine has
 * said so. */
static int become_user(const char *name, int sock, struct err *err)
{
    if (!name || geteuid() != 0)
        return 0;
    errno = 0;
    const struct passwd *user = getpwnam(name);
    if (!user)
        return err_set(err, ERR_SETTINGS, "worker_user: there is no user '%.80s'%s%s", name,
                       errno ? ": " : "", errno ? strerror(errno) : "");
    if (initgroups(name, user->pw_gid) || setgid(user->pw_gid) || setuid(user->pw_uid))
        return err_sys(err, ERR_SETTINGS, "worker_user: cannot become '%.80s'", name);
    confine_memory();                           /* a change of user forgets both */
    pid_t engine;
    return die_with_engine(sock, &engine, err);
}

static int limit(int resource, const char *setting, rlim_t most, struct err *err)
{
    struct rlimit now;
    if (getrlimit(resource, &now))
        return err_sys(err, ERR_SETTINGS, "%s", setting);
    if (now.rlim_max < most)                    /* we are held shorter already */
        most = now.rlim_max;
    now = (struct rlimit){ most, most };
    if (setrlimit(resource, &now))
        return err_sys(err, ERR_SETTINGS, "%s: cannot set the limit to %llu", setting,
                       (unsigned long long)most);
    return 0;
}

int confine_limits(const struct settings *s, int sock, struct err *err)
{
    int rc = become_user(s->worker_user, sock, err);
    if (!rc && s->worker_memory > 0 && !INSTRUMENTED)
        rc = limit(RLIMIT_AS, "worker_memory", (rlim_t)s->worker_memory, err);
    if (!rc && s->worker_files > 0)
        rc = limit(RLIMIT_NOFILE, "worker_files", (rlim_t)s->worker_files, err);
    if (!rc && s->worker_processes > 0)
        rc = limit(RLIMIT_NPROC, "worker_processes", (rlim_t)s->worker_processes, err);
    if (!rc && s->worker_file_size > 0)
        rc = limit(RLIMIT_FSIZE, "worker_file_size", (rlim_t)s->worker_file_size, err);
    if (!rc && s->worker_seccomp && !strcmp(s->worker_seccomp, "on") && !INSTRUMENTED)
        rc = seccomp_refuse(err);
    return rc;
}
