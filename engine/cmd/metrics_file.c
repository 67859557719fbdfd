/* metrics_file.c - see metrics_file.h. */
#include "metrics_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../view/metrics.h"

static bool write_all(int fd, const struct bytes *text)
{
    for (size_t at = 0; at < text->len;) {
        ssize_t n = write(fd, text->data + at, text->len - at);
        if (n < 0 && errno != EINTR)
            return false;
        at += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* The other name does not end as the collector's files do (.prom), and is this process's alone:
 * what stands there is of one that has ended, or was put there by somebody else, and is never
 * written into. Others have to read the file, whatever our umask is. False: errno says why. */
static bool put_in_place(const char *path, const struct bytes *text)
{
    char other[PATH_MAX];
    if (snprintf(other, sizeof other, "%s.%ld", path, (long)getpid()) >= (int)sizeof other) {
        errno = ENAMETOOLONG;
        return false;
    }
    unlink(other);
    int fd = open(other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return false;
    bool is_good = fchmod(fd, 0644) == 0 && write_all(fd, text);
    int error = errno;
    if (close(fd) < 0 && is_good) {
        is_good = false;            /* a disk over the network tells it here */
        error = errno;
    }
    if (is_good && rename(other, path) == 0)
        return true;
    error = is_good ? errno : error;
    unlink(other);
    errno = error;
    return false;
}

void metrics_file_write(void *ctx, const struct store_rows *rows)
{
    const struct metrics_file *file = ctx;
    struct bytes text = { 0 };
    struct metrics_text t = { .out = &text, .format = METRICS_TEXT };
    struct arena *a = arena_new(0);
    errno = ENOMEM;
    bool is_good = a;
    if (is_good) {
        metrics_of_store(&t, rows, VERSION, a);
        metrics_end(&t);
        is_good = !t.has_failed;
    }
    if (is_good) {
        is_good = put_in_place(file->path, &text);
    }
    if (!is_good)
        log_warn(file->log, "metrics_file: %s cannot be written: %s", file->path, strerror(errno));
    arena_free(a);
    bytes_free(&text);
}
