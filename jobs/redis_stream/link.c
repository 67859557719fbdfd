/* link.c - hiredis without its blocking calls: their time limit counts anew for each byte, so that
 * a server which sends one a second would hold a worker for ever. */
#include "link.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

int64_t link_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static int __attribute__((format(printf, 2, 3))) lose(struct link *l, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(l->why, sizeof l->why, fmt, ap);
    va_end(ap);
    link_close(l);
    return -1;
}

void link_close(struct link *l)
{
    if (l->redis)
        redisFree(l->redis);
    l->redis = NULL;
    l->session = NULL;
}

/* 1: ready, 0: the time is over. */
static int wait_for(struct link *l, short events, int64_t until_us)
{
    for (;;) {
        int64_t left_us = until_us - link_now_us();
        struct pollfd p = { .fd = l->redis->fd, .events = events };
        int n = left_us > 0 ? poll(&p, 1, (int)(left_us / 1000 + 1)) : 0;
        if (n >= 0 || errno != EINTR)
            return n > 0;
    }
}

/* Readable without a command under way: the server has closed it, or it cannot be trusted. */
static bool is_stale(const struct link *l)
{
    struct pollfd p = { .fd = l->redis->fd, .events = POLLIN };
    return poll(&p, 1, 0) != 0;
}

static int connect_to(struct link *l, const struct link_place *place, int64_t until_us)
{
    int error = 0;
    socklen_t size = sizeof error;
    l->redis = place->is_path ? redisConnectUnixNonBlock(place->path_or_host)
                              : redisConnectNonBlock(place->path_or_host, place->port);
    if (!l->redis)
        return lose(l, "out of memory");
    if (l->redis->err)
        return lose(l, "cannot connect: %s", l->redis->errstr);
    if (!wait_for(l, POLLOUT, until_us))
        return lose(l, "cannot connect: no answer in time");
    if (getsockopt(l->redis->fd, SOL_SOCKET, SO_ERROR, &error, &size) || error)
        return lose(l, "cannot connect: %s", strerror(error ? error : errno));
    return 0;
}

static int secure(struct link *l, const struct link_place *place, int64_t until_us)
{
    if (!l->tls)
        return 0;
    int events = -1;
    l->session = tls_start(l->tls, l->redis, place->path_or_host, l->why, sizeof l->why);
    while (l->session && (events = tls_shake_hands(l->session, l->why, sizeof l->why)) > 0)
        if (!wait_for(l, (short)events, until_us))
            return lose(l, "no TLS: no answer in time; expected a server that speaks TLS at this port");
    if (events < 0)
        link_close(l);
    return events;
}

int link_add(struct link *l, int n, const char *const words[], const size_t sizes[])
{
    if (redisAppendCommandArgv(l->redis, n, (const char **)words, sizes) != REDIS_OK)
        return lose(l, "%s", *l->redis->errstr ? l->redis->errstr : "out of memory");
    return 0;
}

static redisReply *lose_reply(struct link *l)
{
    char text[200];
    tls_error(l->session, l->redis->errstr, text, sizeof text);
    lose(l, "the connection was lost: %s", text);
    return NULL;
}

redisReply *link_reply(struct link *l, int64_t until_us)
{
    for (;;) {
        void *reply = NULL;
        int is_sent = 0;
        tls_forget_errors(l->session);
        if (redisGetReplyFromReader(l->redis, &reply) != REDIS_OK ||
            (!reply && redisBufferWrite(l->redis, &is_sent) != REDIS_OK))
            return lose_reply(l);
        if (reply)
            return reply;
        short events = tls_events(l->session, is_sent ? POLLIN : POLLIN | POLLOUT);
        if (events ? !wait_for(l, events, until_us) : link_now_us() >= until_us) {
            lose(l, "no answer in time");
            return NULL;
        }
        if (redisBufferRead(l->redis) != REDIS_OK)
            return lose_reply(l);
    }
}

static int ask(struct link *l, int n, const char *const words[], int64_t until_us, bool *is_refused)
{
    size_t sizes[4];
    for (int i = 0; i < n; i++)
        sizes[i] = strlen(words[i]);
    if (link_add(l, n, words, sizes))
        return -1;
    redisReply *reply = link_reply(l, until_us);
    if (!reply)
        return -1;
    *is_refused = reply->type == REDIS_REPLY_ERROR;
    int rc = *is_refused ? lose(l, "%s: %.200s", words[0], reply->str) : 0;
    freeReplyObject(reply);
    return rc;
}

static int log_in(struct link *l, const struct link_login *login, int64_t until_us, bool *is_refused)
{
    char database[16];
    const char *const with_user[] = { "AUTH", login->user, login->password };
    const char *const without[] = { "AUTH", login->password };
    const char *const select[] = { "SELECT", database };
    snprintf(database, sizeof database, "%d", login->database);
    int rc = 0;
    if (login->password && login->user)
        rc = ask(l, 3, with_user, until_us, is_refused);
    else if (login->password)
        rc = ask(l, 2, without, until_us, is_refused);
    if (rc == 0 && login->database)
        rc = ask(l, 2, select, until_us, is_refused);
    return rc;
}

int link_open(struct link *l, const struct link_place *place, const struct link_login *login,
              int64_t until_us, bool *is_refused)
{
    *is_refused = false;
    if (l->redis && !is_stale(l))
        return 0;
    link_close(l);
    int rc = connect_to(l, place, until_us);
    if (rc == 0)
        rc = secure(l, place, until_us);
    return rc == 0 ? log_in(l, login, until_us, is_refused) : rc;
}
