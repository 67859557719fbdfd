/* supervisor.h - tells systemd how a service is, as sd_notify(3) describes it: datagrams to the
 * socket that NOTIFY_SOCKET names. Where nobody wants to know, nothing is told. Each function takes
 * NULL for nobody. */
#ifndef PRESCIENT_SUPERVISOR_H
#define PRESCIENT_SUPERVISOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { SUPERVISOR_STATUS_SIZE = 500 };

struct supervisor {
    int fd;                         /* -1: nobody wants to know */
    struct sockaddr_un to;
    socklen_t to_len;
    int64_t watchdog_us;            /* it ends a service that was silent for so long; 0: it does not */
    int64_t alive_us, status_us;    /* when these were last told, monotonic */
    char status[SUPERVISOR_STATUS_SIZE];        /* still to be told; "": nothing */
    bool owes_ready, is_ready, stops;
    int64_t reloads_us;             /* still to be told: since when it reads its settings again; 0: it is */
    int64_t extended_us;            /* when it was last asked for more time to begin, monotonic */
};

/* By NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID. That the service has begun is owed from now
 * on. */
void supervisor_open(struct supervisor *s);
void supervisor_close(struct supervisor *s);

/* It has begun, as it does its work: told in one of the next turns, once. */
void supervisor_ready(struct supervisor *s);

/* It has been asked to read its settings again, which it does from then on: told in one of the next
 * turns, and that it is ready as soon as supervisor_ready says so again. One that has not begun
 * reads them anyway. */
void supervisor_reloads(struct supervisor *s, int64_t now_us);

/* Called in each turn of a loop that hears signals: tells that the service has begun, how it is,
 * and that it goes on, when a quarter of the watchdog's time has passed. What does not go out is
 * told again in the next turn. Before it has begun, it asks for more time, as it may wait for its
 * store as long as it takes. */
void supervisor_turn(struct supervisor *s, int64_t now_us);

/* A line for who asks how it is, which every user of the machine may read: told in one of the next
 * turns, the last of them at most once a second, and none when it stops. */
void supervisor_status(struct supervisor *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* It has begun to stop, and may need so long. */
void supervisor_stops(struct supervisor *s, int64_t within_us);

#endif
