/* lookup.c - getaddrinfo has no timeout and cannot be stopped, so it is called in a thread. One
 * that has not ended in time is left alone: it frees what it has when it ends. */
#include "lookup.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    AT_A_TIME = 16,                     /* each has a thread, and a file to ask a name server */
    ADDRESSES_MAX = 8, STACK_BYTES = 512 << 10,
};

struct table {                          /* shared by the threads and who waits for them */
    pthread_mutex_t mutex;
    pthread_cond_t one_is_over;
    int users;
};

struct lookup {                         /* of a thread; and of who waits for it, until that leaves */
    struct table *table;
    bool is_over, is_left;
    int rc;
    struct addrinfo *found;
    int64_t until_us;
    struct lookup_wish *wish;           /* not for the thread */
    char host[];
};

struct run {                            /* of lookup_all */
    struct table *table;
    struct lookup *under_way[AT_A_TIME];
    int n;
    int64_t until_us, each_us;
    const struct address_rules *rules;
};

bool lookup_is_address(const char *host, char *out, size_t size)
{
    struct in6_addr bytes;
    size_t n = strlen(host);
    if (*host == '[')
        host++, n -= 2;
    if (n >= size)
        return false;
    memcpy(out, host, n);
    out[n] = '\0';
    return inet_pton(AF_INET, out, &bytes) == 1 || inet_pton(AF_INET6, out, &bytes) == 1;
}

/* ---- threads ---- */

/* The last user frees it. Called with the mutex held, which it gives back. */
static void leave(struct table *t)
{
    bool is_last = --t->users == 0;
    pthread_mutex_unlock(&t->mutex);
    if (!is_last)
        return;
    pthread_mutex_destroy(&t->mutex);
    pthread_cond_destroy(&t->one_is_over);
    free(t);
}

static void free_lookup(struct lookup *l)
{
    if (l->found)
        freeaddrinfo(l->found);
    free(l);
}

static void *look_up(void *ctx)
{
    struct lookup *l = ctx;
    struct table *t = l->table;
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG }, *found = NULL;
    int rc = getaddrinfo(l->host, NULL, &hints, &found);
    pthread_mutex_lock(&t->mutex);
    l->rc = rc;
    l->found = found;
    l->is_over = true;
    if (l->is_left)
        free_lookup(l);
    pthread_cond_signal(&t->one_is_over);
    leave(t);
    return NULL;
}

static struct table *new_table(void)
{
    struct table *t = calloc(1, sizeof *t);
    pthread_condattr_t attr;
    if (!t)
        return NULL;
    t->users = 1;
    pthread_mutex_init(&t->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&t->one_is_over, &attr);
    pthread_condattr_destroy(&attr);
    return t;
}

/* Signals are for the thread that runs the job. With the mutex held. */
static int start_thread(struct lookup *l)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, &attr, look_up, l);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    l->table->users += rc == 0;
    return rc;
}

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- what was found ---- */

/* "its name has no address", to be freed; NULL: out of memory. */
static char *words(const char *before, const char *more, const char *after)
{
    char *text;
    return asprintf(&text, "%s%s%s", before, more, after) < 0 ? NULL : text;
}

static bool write_address(const struct addrinfo *a, const struct address_rules *rules, FILE *out,
                          const char *between, const char **refused)
{
    char address[NI_MAXHOST];
    if (getnameinfo(a->ai_addr, a->ai_addrlen, address, sizeof address, NULL, 0, NI_NUMERICHOST))
        return false;
    const char *refusal = rules ? address_refusal(rules, a->ai_addr) : NULL;
    if (refusal) {
        *refused = refusal;
        return false;
    }
    fprintf(out, a->ai_family == AF_INET6 ? "%s[%s]" : "%s%s", between, address);
    return true;
}

static void write_addresses(const struct lookup *l, const struct address_rules *rules)
{
    char *text = NULL;
    const char *refused = NULL;
    size_t size = 0;
    int n = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    fprintf(out, "%s:%d:", l->host, l->wish->port);
    for (const struct addrinfo *a = l->found; a && n < ADDRESSES_MAX; a = a->ai_next)
        n += write_address(a, rules, out, n ? "," : "", &refused);
    if (fclose(out) == 0 && n)
        l->wish->addresses = text;
    else
        free(text);
    if (!n && refused)
        l->wish->why = words("its address is ", refused, ", and in none of 'networks'");
    else if (!n)
        l->wish->why = words("its name has no address", "", "");
}

/* ---- some at a time ---- */

/* With the mutex held: a thread that is not over frees the look-up itself. */
static void take(struct run *run, int i)
{
    struct lookup *l = run->under_way[i];
    run->under_way[i] = run->under_way[--run->n];
    if (!l->is_over)
        l->wish->why = words("no name server has answered in time", "", "");
    else if (l->rc)
        l->wish->why = words("its name cannot be looked up: ", gai_strerror(l->rc), "");
    else
        write_addresses(l, run->rules);
    l->is_left = true;
    if (l->is_over)
        free_lookup(l);
}

static bool take_those_that_are_over(struct run *run)
{
    int before = run->n;
    int64_t now = now_us();
    for (int i = run->n - 1; i >= 0; i--)
        if (run->under_way[i]->is_over || now >= run->under_way[i]->until_us)
            take(run, i);
    return run->n < before;
}

static void start(struct run *run, struct lookup_wish *wish)
{
    int64_t now = now_us(), until_us = now + run->each_us;
    size_t size = strlen(wish->host) + 1;
    struct lookup *l = now < run->until_us ? calloc(1, sizeof *l + size) : NULL;
    if (!l)
        return;
    memcpy(l->host, wish->host, size);
    l->table = run->table;
    l->wish = wish;
    l->until_us = until_us < run->until_us ? until_us : run->until_us;
    run->under_way[run->n++] = l;
    if (start_thread(l)) {
        l->is_over = true;
        l->rc = EAI_AGAIN;
    }
}

static void wait_for_one(const struct run *run)
{
    int64_t until_us = run->until_us;
    for (int i = 0; i < run->n; i++)
        if (run->under_way[i]->until_us < until_us)
            until_us = run->under_way[i]->until_us;
    struct timespec until = { until_us / 1000000, until_us % 1000000 * 1000 };
    pthread_cond_timedwait(&run->table->one_is_over, &run->table->mutex, &until);
}

void lookup_all(struct lookup_wish *wishes, int n, long timeout_ms, const struct address_rules *rules)
{
    struct run run = { .table = new_table(), .rules = rules };
    if (!run.table)
        return;
    run.until_us = now_us() + (int64_t)timeout_ms * 1000;
    run.each_us = (int64_t)timeout_ms * 1000 / (n > AT_A_TIME ? 2 : 1);
    pthread_mutex_lock(&run.table->mutex);
    for (int next = 0; next < n || run.n; ) {
        while (next < n && run.n < AT_A_TIME)
            start(&run, &wishes[next++]);
        if (run.n && !take_those_that_are_over(&run))
            wait_for_one(&run);
    }
    leave(run.table);
}
