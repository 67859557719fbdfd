/* confine.c - signals, process group, descriptors, user and limits of a worker. */
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
#include <sys/syscall.h>
#include <unistd.h>

/* A sanitizer reserves terabytes of addresses and looks for leaks from a helper process of its own. */
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

/* The parent's death must kill us. It may have died before prctl, so the parent is looked at behind it; who it should be is
 * known from the socketpair that it made. */
static int die_with_engine(int sock, struct err *err)
{
    struct ucred peer = { 0 };
    socklen_t len = sizeof peer;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL))
        return err_sys(err, ERR_GENERAL, "worker: prctl(PR_SET_PDEATHSIG)");
    if (getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &len))
        return err_sys(err, ERR_GENERAL, "worker: descriptor %d is not the engine's socket", sock);
    if (getppid() != peer.pid)
        return err_set(err, ERR_LOST, "worker: the engine (process %d) is gone; our parent is %d", (int)peer.pid, (int)getppid());
    return 0;
}

/* A descriptor that the engine inherited without close-on-exec, say the lock file of a cron wrapper, is not for jobs. */
static void close_inherited(int sock)
{
#ifdef SYS_close_range
    syscall(SYS_close_range, sock + 1, ~0U, 0);
    if (sock > STDERR_FILENO + 1)
        syscall(SYS_close_range, STDERR_FILENO + 1, sock - 1, 0);
#else
    (void)sock;
#endif
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

int confine_start(int sock, struct err *err)
{
    default_signals();
    setpgid(0, 0);                              /* refused to a session leader, which has a group of its own */
    umask(077);
    int rc = die_with_engine(sock, err);
    if (rc)
        return rc;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return err_sys(err, ERR_GENERAL, "worker: prctl(PR_SET_NO_NEW_PRIVS)");
    close_inherited(sock);
    fcntl(sock, F_SETFD, FD_CLOEXEC);           /* what a job executes has no business with it */
    return stdin_from_null(err);
}

/* Root becomes `name`. Any other user stays who he is: he could not change, and the engine has checked the name. */
static int become_user(const char *name, int sock, struct err *err)
{
    if (!name || geteuid() != 0)
        return 0;
    errno = 0;
    const struct passwd *user = getpwnam(name);
    if (!user)
        return err_set(err, ERR_SETTINGS, "worker_user: there is no user '%.80s'%s%s", name, errno ? ": " : "", errno ? strerror(errno) : "");
    if (initgroups(name, user->pw_gid) || setgid(user->pw_gid) || setuid(user->pw_uid))
        return err_sys(err, ERR_SETTINGS, "worker_user: cannot become '%.80s'", name);
    return die_with_engine(sock, err);          /* a change of user forgets it */
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
        return err_sys(err, ERR_SETTINGS, "%s: cannot set the limit to %llu", setting, (unsigned long long)most);
    return 0;
}

int confine_limits(const struct settings *s, int sock, struct err *err)
{
    int rc = become_user(s->worker_user, sock, err);
    if (!rc && s->worker_memory > 0 && !INSTRUMENTED)
        rc = limit(RLIMIT_AS, "worker_memory", (rlim_t)s->worker_memory, err);
    if (!rc && s->worker_files > 0)
        rc = limit(RLIMIT_NOFILE, "worker_files", (rlim_t)s->worker_files, err);
    if (!rc)
        rc = limit(RLIMIT_CORE, "core", 0, err);
    if (!rc && !INSTRUMENTED && prctl(PR_SET_DUMPABLE, 0))
        rc = err_sys(err, ERR_GENERAL, "worker: prctl(PR_SET_DUMPABLE)");
    return rc;
}
