/* listen.h - where `prescient serve` is reached: an address with a port, a socket in the file
 * system, or one that systemd has opened. */
#ifndef PRESCIENT_HTTP_LISTEN_H
#define PRESCIENT_HTTP_LISTEN_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "../base/err.h"

struct listen_address {
    struct sockaddr_storage at;
    socklen_t len;
    /* only this machine's own programs reach it: a loopback address, or a socket file */
    bool is_local;
};

/* "127.0.0.1:8080", "[::1]:8080", "localhost:8080" or "unix:PATH". Asks no name server. Returns 0,
 * or ERR_INPUT with what was found and expected. */
int listen_parse(const char *text, struct listen_address *out, struct err *err);

/* Opens it. A socket file that nobody listens on any more is replaced; one that is used, and a file
 * of another kind, are errors. A new one is for its user and group. Returns the descriptor, or an
 * ERR_. */
int listen_open(const struct listen_address *address, struct err *err);

/* The socket that systemd has opened for this process (LISTEN_FDS, LISTEN_PID); *fd -1: none.
 * Returns 0, or ERR_INPUT: there are several, or it is no socket. */
int listen_inherit(struct listen_address *out, int *fd, struct err *err);

/* How people write it: "http://127.0.0.1:8080/", "unix:/run/prescient/http.sock". */
enum { LISTEN_TEXT = 160 };
const char *listen_text(const struct listen_address *address, char out[LISTEN_TEXT]);

#endif
