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
        sigaction(sig, &plain, NULL);           /* fails for KILL, STOP and those of the C library */
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The parent's death must kill us. It may have died before prctl, so we check afterwards that the
 * parent is still the process that made the socketpair. */
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

/* Jobs must not get descriptors that the engine inherited without close-on-exec, say the lock file
 * of a cron wrapper. */
static void close_inherited(int sock)
{
    if (close_range((unsigned)sock + 1, ~0U, 0) == 0 &&
        (sock <= STDERR_FILENO + 1 || close_range(STDERR_FILENO + 1, (unsigned)sock - 1, 0) == 0))
        return;
    long most = sysconf(_SC_OPEN_MAX);          /* a kernel before 5.9 */
    if (most <= 0 || most > 65536)
        most = 65536;
    for (int fd = STDERR_FILENO + 1; fd < most; fd++)
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
    setpgid(0, 0);                              /* fails for a session leader, which leads its group */
    umask(077);
    confine_memory();                           /* before there is a secret in it */
    pid_t engine = 0;
    int rc = die_with_engine(sock, &engine, err);
    if (rc < 0)
        return rc;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return err_sys(err, ERR_GENERAL, "worker: prctl(PR_SET_NO_NEW_PRIVS)");
    close_inherited(sock);
    fcntl(sock, F_SETFD, FD_CLOEXEC);           /* programs that a job executes do not get it */
    rc = stdin_from_null(err);
    if (rc < 0)
        return rc;
    return keeper_start(engine, sock, err);
}

/* Root switches to `name`. Any other user cannot, and the engine has logged a warning. */
static int become_user(const char *name, int sock, struct err *err)
{
    if (!name || geteuid() != 0)
        return 0;
    errno = 0;
    const struct passwd *user = getpwnam(name);
    if (!user && errno)
        return err_sys(err, ERR_SETTINGS, "worker_user: there is no user '%.80s'", name);
    if (!user)
        return err_set(err, ERR_SETTINGS, "worker_user: there is no user '%.80s'", name);
    if (initgroups(name, user->pw_gid) || setgid(user->pw_gid) || setuid(user->pw_uid))
        return err_sys(err, ERR_SETTINGS, "worker_user: cannot become '%.80s'", name);
    confine_memory();                           /* a change of user resets both */
    pid_t engine;
    return die_with_engine(sock, &engine, err);
}

static int limit(int resource, const char *setting, rlim_t most, struct err *err)
{
    struct rlimit now;
    if (getrlimit(resource, &now))
        return err_sys(err, ERR_SETTINGS, "%s", setting);
    if (now.rlim_max < most)                    /* the limit is lower already, and cannot be raised */
        most = now.rlim_max;
    now = (struct rlimit){ most, most };
    if (setrlimit(resource, &now))
        return err_sys(err, ERR_SETTINGS, "%s: cannot set the limit to %llu", setting,
                       (unsigned long long)most);
    return 0;
}

int confine_limits(const struct settings *s, int sock, struct err *err)
{
    const struct { int resource; const char *setting; int64_t most; } limits[] = {
        { RLIMIT_AS, "worker_memory", INSTRUMENTED ? 0 : s->worker_memory },
        { RLIMIT_NOFILE, "worker_files", s->worker_files },
        { RLIMIT_NPROC, "worker_processes", s->worker_processes },
        { RLIMIT_FSIZE, "worker_file_size", s->worker_file_size },
    };
    int rc = become_user(s->worker_user, sock, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].most <= 0)
            continue;
        rc = limit(limits[i].resource, limits[i].setting, (rlim_t)limits[i].most, err);
        if (rc < 0)
            return rc;
    }
    bool filtered = s->worker_seccomp && !strcmp(s->worker_seccomp, "on") && !INSTRUMENTED;
    return filtered ? seccomp_refuse(err) : 0;
}
