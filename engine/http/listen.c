/* listen.c - see listen.h. */
#include "listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/utf8.h"

/* How many may wait to be accepted; the system bounds it, too. */
enum { BACKLOG = 1024 };

/* ---- reading ---- */

static int refuse(const char *text, struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "listen: found '%.*s', expected an address with a port (127.0.0.1:8080, [::1]:8080) or "
                   "unix:PATH", UTF8_SHOWN(text));
}

static int parse_unix(const char *text, const char *path, struct listen_address *out, struct err *err)
{
    struct sockaddr_un *at = (struct sockaddr_un *)&out->at;
    size_t len = strlen(path);
    if (!len)
        return refuse(text, err);
    if (len >= sizeof at->sun_path)
        return err_set(err, ERR_INPUT, "listen: the path has %zu bytes, expected at most %zu", len,
                       sizeof at->sun_path - 1);
    at->sun_family = AF_UNIX;
    memcpy(at->sun_path, path, len + 1);
    out->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + 1);
    out->is_local = true;
    return 0;
}

/* 0: it is none. */
static in_port_t port_of(const char *text)
{
    char *end;
    unsigned long port = strtoul(text, &end, 10);
    bool is_number = *text >= '0' && *text <= '9' && !*end;
    return is_number && port <= 65535 ? htons((in_port_t)port) : 0;
}

static bool take_v4(const char *host, in_port_t port, struct listen_address *out)
{
    struct sockaddr_in *at = (struct sockaddr_in *)&out->at;
    if (inet_pton(AF_INET, host, &at->sin_addr) != 1)
        return false;
    at->sin_family = AF_INET;
    at->sin_port = port;
    out->len = sizeof *at;
    out->is_local = ntohl(at->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    return true;
}

static bool take_v6(const char *host, in_port_t port, struct listen_address *out)
{
    struct sockaddr_in6 *at = (struct sockaddr_in6 *)&out->at;
    if (inet_pton(AF_INET6, host, &at->sin6_addr) != 1)
        return false;
    at->sin6_family = AF_INET6;
    at->sin6_port = port;
    out->len = sizeof *at;
    out->is_local = IN6_IS_ADDR_LOOPBACK(&at->sin6_addr);
    return true;
}

int listen_parse(const char *text, struct listen_address *out, struct err *err)
{
    char host[INET6_ADDRSTRLEN + 2];
    const char *colon = strrchr(text, ':');
    memset(out, 0, sizeof *out);
    if (!strncmp(text, "unix:", 5))
        return parse_unix(text, text + 5, out, err);
    size_t len = colon ? (size_t)(colon - text) : 0;
    in_port_t port = colon ? port_of(colon + 1) : 0;
    if (!len || len >= sizeof host || !port)
        return refuse(text, err);
    memcpy(host, text, len);
    host[len] = '\0';
    if (!strcmp(host, "localhost"))
        strcpy(host, "127.0.0.1");
    bool is_v6 = host[0] == '[' && host[len - 1] == ']';
    if (is_v6)
        host[len - 1] = '\0';
    bool is_good = is_v6 ? take_v6(host + 1, port, out) : take_v4(host, port, out);
    return is_good ? 0 : refuse(text, err);
}

/* ---- opening ---- */

static const char *path_of(const struct listen_address *address)
{
    return ((const struct sockaddr_un *)&address->at)->sun_path;
}

static int new_socket(const struct listen_address *address, struct err *err)
{
    int fd = socket(address->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    return fd < 0 ? err_sys(err, ERR_GENERAL, "listen: socket") : fd;
}

/* The socket file of a server that has been killed is still there. */
static int clear_path(const struct listen_address *address, struct err *err)
{
    struct stat st;
    const char *path = path_of(address);
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : err_sys(err, ERR_INPUT, "listen: %s", path);
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, ERR_INPUT, "listen: %s is there and is no socket; it is left as it is", path);
    int fd = new_socket(address, err);
    if (fd < 0)
        return fd;
    bool is_used = connect(fd, (const struct sockaddr *)&address->at, address->len) == 0 ||
                   errno != ECONNREFUSED;
    close(fd);
    if (is_used)
        return err_set(err, ERR_BUSY, "listen: another program listens on %s", path);
    return unlink(path) < 0 ? err_sys(err, ERR_GENERAL, "listen: %s cannot be replaced", path) : 0;
}

static int bind_path(int fd, const struct listen_address *address, struct err *err)
{
    int rc = clear_path(address, err);
    if (rc < 0)
        return rc;
    mode_t before = umask(0117);
    rc = bind(fd, (const struct sockaddr *)&address->at, address->len);
    umask(before);
    return rc < 0 ? err_sys(err, ERR_INPUT, "listen: %s", path_of(address)) : 0;
}

static int bind_port(int fd, const struct listen_address *address, struct err *err)
{
    char text[LISTEN_TEXT];
    int yes = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (const struct sockaddr *)&address->at, address->len) == 0)
        return 0;
    return err_sys(err, errno == EADDRINUSE ? ERR_BUSY : ERR_INPUT, "listen: %s", listen_text(address, text));
}

int listen_open(const struct listen_address *address, struct err *err)
{
    int fd = new_socket(address, err);
    if (fd < 0)
        return fd;
    int rc = address->at.ss_family == AF_UNIX ? bind_path(fd, address, err) : bind_port(fd, address, err);
    if (rc == 0 && listen(fd, BACKLOG) < 0)
        rc = err_sys(err, ERR_GENERAL, "listen");
    if (rc == 0)
        return fd;
    close(fd);
    return rc;
}

/* ---- systemd's ---- */

enum { FIRST_INHERITED = 3 };

static bool is_local(const struct listen_address *address)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address->at;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address->at;
    if (address->at.ss_family == AF_INET)
        return ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    if (address->at.ss_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
    return address->at.ss_family == AF_UNIX;
}

static bool listens(int fd)
{
    int type = 0, is_listening = 0;
    socklen_t len = sizeof type, flag_len = sizeof is_listening;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &flag_len) == 0 && is_listening;
}

int listen_inherit(struct listen_address *out, int *fd, struct err *err)
{
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    *fd = -1;
    if (!pid || !count || strtol(pid, NULL, 10) != getpid())
        return 0;
    long n = strtol(count, NULL, 10);
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    if (n != 1)
        return err_set(err, ERR_INPUT, "systemd has opened %ld sockets, expected one (ListenStream=)", n);
    if (!listens(FIRST_INHERITED))
        return err_set(err, ERR_INPUT, "the descriptor %d of systemd is no socket that listens; expected "
                       "ListenStream=, and not Accept=yes", FIRST_INHERITED);
    memset(out, 0, sizeof *out);
    out->len = sizeof out->at;
    if (getsockname(FIRST_INHERITED, (struct sockaddr *)&out->at, &out->len) < 0)
        return err_sys(err, ERR_INPUT, "the descriptor %d of systemd is no socket", FIRST_INHERITED);
    *fd = FIRST_INHERITED;
    fcntl(*fd, F_SETFD, FD_CLOEXEC);
    fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) | O_NONBLOCK);
    out->is_local = is_local(out);
    return 0;
}

const char *listen_text(const struct listen_address *address, char out[LISTEN_TEXT])
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&address->at;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&address->at;
    char host[INET6_ADDRSTRLEN] = "?";
    if (address->at.ss_family == AF_UNIX) {
        snprintf(out, LISTEN_TEXT, "unix:%s", path_of(address));
    } else if (address->at.ss_family == AF_INET6) {
        inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
        snprintf(out, LISTEN_TEXT, "http://[%s]:%d/", host, ntohs(v6->sin6_port));
    } else {
        inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
        snprintf(out, LISTEN_TEXT, "http://%s:%d/", host, ntohs(v4->sin_port));
    }
    return out;
}
