/* bench_proc.c - CPU and memory of processes, from /proc. -1 is a value that cannot be read; it is
 * never 0. */
#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"

static bool read_file(const char *path, char *out, size_t size)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    size_t n = fread(out, 1, size - 1, f);
    fclose(f);
    out[n] = '\0';
    return n > 0;
}

/* The fields of /proc/PID/stat after the name, which may contain any character: state is 0, the
 * parent 1, utime 11, stime 12, cutime 13, cstime 14 (proc(5)). */
static bool read_stat(int pid, int64_t *fields, int n)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (!read_file(path, text, sizeof text))
        return false;
    char *at = strrchr(text, ')');
    if (!at || at[1] != ' ')
        return false;
    at += 3; /* after the letter of the state */
    fields[0] = 0;
    for (int i = 1; i < n; i++)
        fields[i] = strtoll(at, &at, 10);
    return true;
}

static int64_t ticks_us(int64_t ticks)
{
    return ticks * 1000000 / sysconf(_SC_CLK_TCK);
}

int64_t bench_self_cpu_us(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000LL + u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

/* schedstat counts nanoseconds (of the one thread that our engines have); stat counts ticks of 10
 * ms. */
int64_t bench_task_cpu_us(int pid)
{
    char path[64], text[128];
    int64_t f[15];
    snprintf(path, sizeof path, "/proc/%d/schedstat", pid);
    if (read_file(path, text, sizeof text)) {
        int64_t ns = strtoll(text, NULL, 10);
        if (ns > 0)
            return ns / 1000;
    }
    return read_stat(pid, f, 15) ? ticks_us(f[11] + f[12]) : -1;
}

int64_t bench_parent_of(int pid)
{
    int64_t f[15];
    return read_stat(pid, f, 15) ? f[1] : -1;
}

int64_t bench_tree_cpu_us(int pid)
{
    int64_t f[15], sum;
    int children[1024];
    if (!read_stat(pid, f, 15))
        return -1;
    sum = ticks_us(f[11] + f[12] + f[13] + f[14]);
    int n = bench_children_of(pid, children, 1024);
    for (int i = 0; i < n; i++) {
        int64_t us = bench_task_cpu_us(children[i]);
        sum += us > 0 ? us : 0;
    }
    return n < 0 ? -1 : sum;
}

int64_t bench_peak_kib(int pid)
{
    char path[64], text[4096];
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    const char *line = read_file(path, text, sizeof text) ? strstr(text, "\nVmHWM:") : NULL;
    return line ? strtoll(line + 7, NULL, 10) : -1;
}

/* From the kernel's list of children if there is one, else from the parents of all processes. */
int bench_children_of(int pid, int *out, int room)
{
    char path[64], text[8192];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    if (access(path, R_OK) == 0) {
        char *at = text, *end;
        if (!read_file(path, text, sizeof text))
            return 0;
        for (long child; n < room && (child = strtol(at, &end, 10)) > 0 && end != at; at = end)
            out[n++] = (int)child;
        return n;
    }
    DIR *proc = opendir("/proc");
    if (!proc)
        return -1;
    for (struct dirent *d; n < room && (d = readdir(proc));)
        if (atoi(d->d_name) > 0 && bench_parent_of(atoi(d->d_name)) == pid)
            out[n++] = atoi(d->d_name);
    closedir(proc);
    return n;
}

bool bench_comm_is(int pid, const char *prefix)
{
    char path[64], text[64];
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    return read_file(path, text, sizeof text) && !strncmp(text, prefix, strlen(prefix));
}
