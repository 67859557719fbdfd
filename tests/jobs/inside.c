/* inside - tells what a job finds around it: the entity key is the question, the note is the
 * answer. "call NAME" tries a system call in a way that does no harm where it is allowed, and says
 * how that ended. */
#include <prescient/job.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- what is around us ---- */

/* "status FIELD": what /proc says of us. */
static void status(const char *field, struct prescient_answer *a)
{
    char line[512];
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, field, strlen(field)) && line[strlen(field)] == ':')
            prescient_note(a, "%s", line + strlen(field) + 1 + strspn(line + strlen(field) + 1, "\t "));
    }
    if (f)
        fclose(f);
}

static void limits(const char *unused, struct prescient_answer *a)
{
    static const int kinds[] = { RLIMIT_CORE, RLIMIT_AS, RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_FSIZE };
    static const char *const names[] = { "core", "memory", "files", "processes", "file_size" };
    char text[512] = "";
    (void)unused;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct rlimit l;
        getrlimit(kinds[i], &l);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s=%lld/%lld", i ? " " : "", names[i],
                 (long long)l.rlim_cur, (long long)l.rlim_max);
    }
    prescient_note(a, "%s", text);
}

static void variables(const char *unused, struct prescient_answer *a)
{
    char text[4096] = "";
    (void)unused;
    for (char **e = environ; *e; e++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.*s", e == environ ? "" : " ",
                 (int)strcspn(*e, "="), *e);
    prescient_note(a, "%s", text);
}

/* Every descriptor with what it is; numbers of sockets and pipes are left out. */
static void descriptors(const char *unused, struct prescient_answer *a)
{
    char text[4096] = "", path[64], target[512];
    (void)unused;
    for (int fd = 0; fd < 1024; fd++) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(path, target, sizeof target - 1);
        if (n < 0)
            continue;
        target[n] = '\0';
        if (strchr(target, '['))
            *strchr(target, '[') = '\0';
        const char *blank = *text ? " " : "";
        const char *kept = fcntl(fd, F_GETFD) & FD_CLOEXEC ? "" : "(kept)";
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d=%s%s", blank, fd, target, kept);
    }
    prescient_note(a, "%s", text);
}

static void self(const char *unused, struct prescient_answer *a)
{
    int signal_number = 0;
    mode_t mask = umask(0);
    (void)unused;
    umask(mask);
    prctl(PR_GET_PDEATHSIG, &signal_number);
    prescient_note(a, "leader=%d umask=%03o dumpable=%d dies_by=%d no_new_privs=%d", getpgrp() == getpid(),
                   (unsigned)mask, prctl(PR_GET_DUMPABLE), signal_number,
                   prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

/* "read PATH": the first bytes, or why not. PARENT in it is our parent's number. */
static void read_file(const char *path, struct prescient_answer *a)
{
    char real[PATH_MAX], bytes[64];
    const char *at = strstr(path, "PARENT");
    if (at)
        snprintf(real, sizeof real, "%.*s%d%s", (int)(at - path), path, (int)getppid(),
                 at + strlen("PARENT"));
    else
        snprintf(real, sizeof real, "%s", path);
    int fd = open(real, O_RDONLY);
    ssize_t n = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
    prescient_note(a, "%s", n < 0 ? strerrorname_np(errno) : "read");
    if (fd >= 0)
        close(fd);
}

/* ---- children ---- */

static _Noreturn void sleep_for_ever(void)
{
    for (;;)
        pause();
}

static void leave_pid(const char *file, pid_t pid)
{
    FILE *f = fopen(file, "a");
    if (f) {
        fprintf(f, "%d\n", (int)pid);
        fclose(f);
    }
}

/* "brood FILE": a child, one that ignores what it can, a grandchild, and one that was stopped, all
 * of which would stay; then waits for good. */
static void brood(const char *file, struct prescient_answer *a)
{
    (void)a;
    for (int i = 0; i < 4; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            sigset_t all;
            sigfillset(&all);
            if (i == 1)
                sigprocmask(SIG_SETMASK, &all, NULL);
            if (i == 2 && fork() != 0)
                _exit(0);
            leave_pid(file, getpid());
            if (i == 3)
                raise(SIGSTOP);
            sleep_for_ever();
        }
    }
    sleep_for_ever();
}

/* "alone": no child that was not ours, or waiting for all of them would never end. */
static void alone(const char *unused, struct prescient_answer *a)
{
    (void)unused;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    int n = 0;
    while (wait(NULL) > 0)
        n++;
    prescient_note(a, "%d", n);
}

/* ---- system calls ---- */

static long call_trace(void) { return ptrace(PTRACE_TRACEME, 0, NULL, NULL); }
static long call_peek(void)
{
    char from = 'x', to = 0;
    struct iovec local = { &to, 1 }, remote = { &from, 1 };
    return syscall(SYS_process_vm_readv, getpid(), &local, 1, &remote, 1, 0);
}
static long call_poke(void)
{
    char from = 'x', to = 0;
    struct iovec local = { &from, 1 }, remote = { &to, 1 };
    return syscall(SYS_process_vm_writev, getpid(), &local, 1, &remote, 1, 0);
}
static long call_mount(void) { return syscall(SYS_mount, "none", "/nonexistent/folder", "tmpfs", 0, NULL); }
static long call_umount(void) { return syscall(SYS_umount2, "/nonexistent/folder", 0); }
static long call_chroot(void) { return syscall(SYS_chroot, "/nonexistent/folder"); }
static long call_unshare(void) { return syscall(SYS_unshare, 0x10000000 /* CLONE_NEWUSER */); }
static long call_setns(void) { return syscall(SYS_setns, -1, 0); }
static long call_clone_namespace(void)
{
    long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        _exit(0);
    if (pid > 0)
        waitpid((pid_t)pid, NULL, 0);
    return pid;
}
static long call_clone3(void) { return syscall(SYS_clone3, NULL, 0); }
static long call_init_module(void) { return syscall(SYS_init_module, NULL, 0, ""); }
static long call_delete_module(void) { return syscall(SYS_delete_module, "no_such_module", O_NONBLOCK); }
static long call_kexec_load(void) { return syscall(SYS_kexec_load, 0, 1UL << 20, NULL, 0); }
static long call_bpf(void) { return syscall(SYS_bpf, 9999, NULL, 0); }
/* without the magic numbers */
static long call_reboot(void) { return syscall(SYS_reboot, 0, 0, 0, NULL); }
/* the size of the kernel's log */
static long call_syslog(void) { return syscall(SYS_syslog, 10, NULL, 0); }
static long call_keyctl(void) { return syscall(SYS_keyctl, 0, -2 /* of our process */, 1); }
static long call_add_key(void) { return syscall(SYS_add_key, "user", "prescient-test", "x", 1, -2); }
static long call_perf(void) { return syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0); }
static long call_uring(void) { return syscall(SYS_io_uring_setup, 0, NULL); }
static long call_userfaultfd(void) { return syscall(SYS_userfaultfd, 1 /* user mode only */); }
static long call_personality(void) { return syscall(SYS_personality, 0xffffffffUL); }
static long call_sethostname(void) { return syscall(SYS_sethostname, "x", -1L); }
static long call_settime(void) { return syscall(SYS_clock_settime, 9999, NULL); }
static long call_type(void) { return ioctl(STDIN_FILENO, TIOCSTI, "x"); }
static long call_fork(void)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    return waitpid(pid, NULL, 0) == pid ? 0 : -1;
}
static void *return_at_once(void *p) { return p; }
static long call_thread(void)
{
    pthread_t thread;
    errno = pthread_create(&thread, NULL, return_at_once, NULL);
    return errno ? -1 : pthread_join(thread, NULL);
}
static long call_exec(void) { return system("exit 0"); }
static long call_socket(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd < 0 ? -1 : close(fd);
}

static const struct { const char *name; long (*call)(void);
} calls[] = {
    { "ptrace", call_trace },
    { "process_vm_readv", call_peek },
    { "process_vm_writev", call_poke },
    { "mount", call_mount },
    { "umount", call_umount },
    { "chroot", call_chroot },
    { "unshare", call_unshare },
    { "setns", call_setns },
    { "clone_namespace", call_clone_namespace },
    { "clone3", call_clone3 },
    { "init_module", call_init_module },
    { "delete_module", call_delete_module },
    { "kexec_load", call_kexec_load },
    { "bpf", call_bpf },
    { "reboot", call_reboot },
    { "syslog", call_syslog },
    { "keyctl", call_keyctl },
    { "add_key", call_add_key },
    { "perf_event_open", call_perf },
    { "io_uring", call_uring },
    { "userfaultfd", call_userfaultfd },
    { "personality", call_personality },
    { "sethostname", call_sethostname },
    { "clock_settime", call_settime },
    { "tiocsti", call_type },
    { "fork", call_fork },
    { "thread", call_thread },
    { "exec", call_exec },
    { "socket", call_socket },
};

static void call(const char *name, struct prescient_answer *a)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(name, calls[i].name)) {
            errno = 0;
            long rc = calls[i].call();
            prescient_note(a, "%s", rc >= 0 ? "ok" : strerrorname_np(errno));
        }
}

static const struct {
    const char *question;
    void (*answer)(const char *rest, struct prescient_answer *a);
} questions[] = {
    { "status ", status }, { "limits", limits },   { "variables", variables }, { "descriptors", descriptors },
    { "self", self },      { "read ", read_file }, { "call ", call },          { "brood ", brood },
    { "alone", alone },
};

static int inside_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    (void)why, (void)why_size;
    (void)host->setting(host, "closed"), (void)host->setting(host, "slowly");
    *state = (void *)host;
    return 0;
}

/* Settings: closed = a file to make when the job is closed; slowly = how long that takes, in
 * seconds. */
static void inside_close(void *state)
{
    const struct prescient_host *host = state;
    const char *file = host->setting(host, "closed");
    int64_t slowly = host->setting_duration(host, "slowly", 0);
    if (slowly > 0)
        sleep((unsigned)slowly);
    int fd = file ? open(file, O_CREAT | O_WRONLY, 0600) : -1;
    if (fd >= 0)
        close(fd);
}

static void inside(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    (void)state;
    prescient_done(answer);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (!strncmp(check->entity_key, questions[i].question, strlen(questions[i].question))) {
            questions[i].answer(check->entity_key + strlen(questions[i].question), answer);
            return;
        }
}

PRESCIENT_PLUGIN(.name = "inside", .summary = "tells what a job finds around it", .open = inside_open,
                 .close = inside_close, .job_exec = inside);
