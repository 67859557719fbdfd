/* failing_calls.c - preloaded by failing_calls.py: one chosen call of the C library fails, as it
 * would when memory, disk or descriptors run out.
 *
 * FAIL       CLASS:N      the Nth call of this class (from 1) fails; CLASS:N+: it and all later
 *                         ones. The classes are the rows of `classes` below.
 * FAIL_IN    worker       only calls of worker processes count. They get this library although
 *                         their environment is clean. Without it, only other processes count.
 * FAIL_TOLD  FILE         receives "fired" when a call is made to fail, and one line "CLASS CALLS"
 *                         for each class when a process ends
 * FAIL_SPARES NAME        malloc calls from the library whose path contains NAME never fail and are
 *                         not counted
 *
 * A file is what is_file says: pipes, sockets and terminals are none, so that words of the program
 * arrive. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "into_workers.h"

enum class {
    MALLOC,
    FULL,
    BROKEN,
    SHORT,
    READ,
    FSYNC,
    TRUNCATE,
    LOCK,
    OPEN,
    MAP,
    FORK,
    CONNECT,
    SEND,
    RECV,
    CLASSES
};

static const struct { const char *name; int error; } classes[CLASSES] = {
    [MALLOC] = { "malloc", ENOMEM },    /* malloc, calloc, realloc, aligned_alloc, posix_memalign */
    [FULL] = { "full", ENOSPC },        /* write, pwrite on files: the disk is full */
    [BROKEN] = { "broken", EIO },       /* the same: the disk does not take it */
    [SHORT] = { "short", 0 },           /* the same: half of it arrives */
    [READ] = { "read", EIO },           /* read, pread on files */
    [FSYNC] = { "fsync", EIO },         /* fsync, fdatasync */
    [TRUNCATE] = { "truncate", EIO },   /* ftruncate on files */
    [LOCK] = { "lock", ENOLCK },        /* fcntl that locks a file */
    [OPEN] = { "open", EMFILE },        /* open, openat, fopen, opendir, socketpair, pipe2, memfd_create */
    [MAP] = { "map", ENOMEM },          /* mmap */
    [FORK] = { "fork", EAGAIN },        /* fork */
    [CONNECT] = { "connect", ECONNREFUSED },
    [SEND] = { "send", EPIPE },         /* send, sendto, sendmsg on the network; its end is shut */
    [RECV] = { "recv", ECONNRESET },    /* recv, recvfrom on the network */
};

static struct {
    bool counts;                        /* this process is one that calls fail in */
    enum class class;
    long from;
    bool and_later;
    long calls[CLASSES];
    const char *told;
    uintptr_t spared_from, spared_to;
    bool busy;                          /* looking for a symbol: what that calls is not counted */
} f;

/* ---- telling ---- */

static void tell(const char *line)
{
    int saved = errno;
    int fd = f.told
                 ? (int)syscall(SYS_openat, AT_FDCWD, f.told, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)
                 : -1;
    if (fd >= 0) {
        if (syscall(SYS_write, fd, line, strlen(line)) < 0)
            f.told = NULL;
        syscall(SYS_close, fd);
    }
    errno = saved;
}

/* Whether this call is the one. It is counted whatever is asked for, so that a run without a fault
 * says how many there are. */
static bool fails(enum class class)
{
    if (!f.counts || f.busy)
        return false;
    long call = __atomic_add_fetch(&f.calls[class], 1, __ATOMIC_RELAXED);
    if (f.class != class || !f.from || (f.and_later ? call < f.from : call != f.from))
        return false;
    if (call == f.from)
        tell("fired\n");
    errno = classes[class].error;
    return true;
}

/* ---- who we are ---- */

static int find_spared(struct dl_phdr_info *library, size_t size, void *name)
{
    (void)size;
    if (!strstr(library->dlpi_name, name))
        return 0;
    for (int i = 0; i < library->dlpi_phnum; i++)
        if (library->dlpi_phdr[i].p_type == PT_LOAD && library->dlpi_phdr[i].p_flags & PF_X) {
            f.spared_from = library->dlpi_addr + library->dlpi_phdr[i].p_vaddr;
            f.spared_to = f.spared_from + library->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

static void read_wish(const char *wish)
{
    for (int i = 0; wish && i < CLASSES; i++) {
        size_t len = strlen(classes[i].name);
        if (strncmp(wish, classes[i].name, len) != 0 || wish[len] != ':')
            continue;
        char *end;
        f.class = (enum class)i;
        f.from = strtol(wish + len + 1, &end, 10);
        f.and_later = *end == '+';
    }
}

__attribute__((constructor)) static void begin(int argc, char **argv)
{
    const char *where = getenv("FAIL_IN"), *spares = getenv("FAIL_SPARES");
    (void)argc;
    f.told = getenv("FAIL_TOLD");
    read_wish(getenv("FAIL"));
    if (spares)
        dl_iterate_phdr(find_spared, (void *)spares);
    f.counts = is_worker(argv) == (where && !strcmp(where, "worker"));
}

__attribute__((destructor)) static void end(void)
{
    char line[64];
    for (int i = 0; f.counts && i < CLASSES; i++) {
        snprintf(line, sizeof line, "%s %ld\n", classes[i].name, f.calls[i]);
        tell(line);
    }
}

/* ---- memory ---- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static bool memory_fails(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    return !(at >= f.spared_from && at < f.spared_to) && fails(MALLOC);
}

void *malloc(size_t size) { return memory_fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size)
{
    return memory_fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}
void *realloc(void *p, size_t size)
{
    return memory_fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, size);
}
void *aligned_alloc(size_t alignment, size_t size)
{
    return memory_fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *p = memory_fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}

/* ---- everything else goes on to the C library ---- */

static void *next(const char *name)
{
    f.busy = true;
    void *symbol = dlsym(RTLD_NEXT, name);
    f.busy = false;
    return symbol;
}

#define NEXT(result, name, ...)                                   \
    static result (*real)(__VA_ARGS__);                           \
    if (!real)                                                    \
        *(void **)&real = next(#name)

static bool is_file(int fd)
{
    struct stat st;
    int saved = errno;
    bool is = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    errno = saved;
    return is;
}

static bool is_network(int fd)
{
    struct sockaddr_storage name;
    socklen_t size = sizeof name;
    int saved = errno, type = 0;
    socklen_t type_size = sizeof type;
    bool is = getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_size) == 0 && type == SOCK_STREAM &&
              getsockname(fd, (struct sockaddr *)&name, &size) == 0;
    errno = saved;
    return is;
}

static bool write_fails(int fd, size_t *n)
{
    if (!is_file(fd))
        return false;
    if (fails(FULL) || fails(BROKEN))
        return true;
    if (*n > 1 && fails(SHORT))
        *n /= 2;
    return false;
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    NEXT(ssize_t, write, int, const void *, size_t);
    return write_fails(fd, &n) ? -1 : real(fd, bytes, n);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    NEXT(ssize_t, pwrite64, int, const void *, size_t, off64_t);
    return write_fails(fd, &n) ? -1 : real(fd, bytes, n, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at) { return pwrite64(fd, bytes, n, at); }

ssize_t read(int fd, void *bytes, size_t n)
{
    NEXT(ssize_t, read, int, void *, size_t);
    return is_file(fd) && fails(READ) ? -1 : real(fd, bytes, n);
}

ssize_t __read_chk(int fd, void *bytes, size_t n, size_t room);
ssize_t __read_chk(int fd, void *bytes, size_t n, size_t room)
{
    if (n > room)
        abort();
    return read(fd, bytes, n);
}

ssize_t pread64(int fd, void *bytes, size_t n, off64_t at)
{
    NEXT(ssize_t, pread64, int, void *, size_t, off64_t);
    return is_file(fd) && fails(READ) ? -1 : real(fd, bytes, n, at);
}

ssize_t pread(int fd, void *bytes, size_t n, off_t at) { return pread64(fd, bytes, n, at); }

int fsync(int fd)
{
    NEXT(int, fsync, int);
    return fails(FSYNC) ? -1 : real(fd);
}

int fdatasync(int fd)
{
    NEXT(int, fdatasync, int);
    return fails(FSYNC) ? -1 : real(fd);
}

int ftruncate64(int fd, off64_t size)
{
    NEXT(int, ftruncate64, int, off64_t);
    return is_file(fd) && fails(TRUNCATE) ? -1 : real(fd, size);
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int fcntl64(int fd, int command, ...)
{
    NEXT(int, fcntl64, int, int, ...);
    va_list ap;
    va_start(ap, command);
    void *argument = va_arg(ap, void *);
    va_end(ap);
    bool locks = command == F_SETLK && ((struct flock *)argument)->l_type != F_UNLCK;
    return locks && fails(LOCK) ? -1 : real(fd, command, argument);
}

int fcntl(int fd, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    void *argument = va_arg(ap, void *);
    va_end(ap);
    return fcntl64(fd, command, argument);
}

static mode_t mode_of(int flags, va_list ap)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

int open64(const char *path, int flags, ...)
{
    NEXT(int, open64, const char *, int, ...);
    va_list ap;
    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    return fails(OPEN) ? -1 : real(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    return open64(path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
    NEXT(int, openat64, int, const char *, int, ...);
    va_list ap;
    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    return fails(OPEN) ? -1 : real(folder, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = mode_of(flags, ap);
    va_end(ap);
    return openat64(folder, path, flags, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    NEXT(FILE *, fopen64, const char *, const char *);
    return fails(OPEN) ? NULL : real(path, mode);
}

FILE *fopen(const char *path, const char *mode) { return fopen64(path, mode); }

int socketpair(int domain, int type, int protocol, int pair[2])
{
    NEXT(int, socketpair, int, int, int, int *);
    return fails(OPEN) ? -1 : real(domain, type, protocol, pair);
}

int pipe2(int pipes[2], int flags)
{
    NEXT(int, pipe2, int *, int);
    return fails(OPEN) ? -1 : real(pipes, flags);
}

int memfd_create(const char *name, unsigned flags)
{
    NEXT(int, memfd_create, const char *, unsigned);
    return fails(OPEN) ? -1 : real(name, flags);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
    NEXT(void *, mmap64, void *, size_t, int, int, int, off64_t);
    return fails(MAP) ? MAP_FAILED : real(at, size, protection, flags, fd, offset);
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return mmap64(at, size, protection, flags, fd, offset);
}

pid_t fork(void)
{
    NEXT(pid_t, fork, void);
    return fails(FORK) ? -1 : real();
}

int connect(int fd, const struct sockaddr *address, socklen_t size)
{
    NEXT(int, connect, int, const struct sockaddr *, socklen_t);
    return fails(CONNECT) ? -1 : real(fd, address, size);
}

static bool send_fails(int fd)
{
    if (!is_network(fd) || !fails(SEND))
        return false;
    shutdown(fd, SHUT_RDWR);
    errno = EPIPE;
    return true;
}

ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
    NEXT(ssize_t, send, int, const void *, size_t, int);
    return send_fails(fd) ? -1 : real(fd, bytes, n, flags);
}

ssize_t sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to, socklen_t size)
{
    NEXT(ssize_t, sendto, int, const void *, size_t, int, const struct sockaddr *, socklen_t);
    return send_fails(fd) ? -1 : real(fd, bytes, n, flags, to, size);
}

ssize_t recv(int fd, void *bytes, size_t n, int flags)
{
    NEXT(ssize_t, recv, int, void *, size_t, int);
    return is_network(fd) && fails(RECV) ? -1 : real(fd, bytes, n, flags);
}

/* A worker is one of us when calls are to fail there. */
int execve(const char *path, char *const argv[], char *const envp[])
{
    static const char *const names[] = { "LD_PRELOAD", "FAIL", "FAIL_IN", "FAIL_TOLD", "FAIL_SPARES" };
    const char *where = getenv("FAIL_IN");
    bool goes_on = where && !strcmp(where, "worker") && is_worker(argv);
    return goes_on ? exec_with(path, argv, envp, names, sizeof names / sizeof *names)
                   : (int)syscall(SYS_execve, path, argv, envp);
}
