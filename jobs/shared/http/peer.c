/* peer.c - see peer.h. */
#include "peer.h"

#include <sys/socket.h>

static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *to)
{
    const struct address_rules *rules = ctx;
    bool is_refused = purpose == CURLSOCKTYPE_IPCXN && address_refusal(rules, &to->addr);
    if (is_refused)
        return CURL_SOCKET_BAD;
    return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

/* No socket is opened for a connection that is used again. */
static int look_at_peer(void *ctx, char *peer, char *ours, int peer_port, int our_port)
{
    const struct address_rules *rules = ctx;
    (void)ours, (void)peer_port, (void)our_port;
    return address_refusal_of_text(rules, peer) ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

void peer_watch(CURL *curl, const struct address_rules *rules)
{
    void *ctx = (void *)rules;          /* libcurl takes no const */
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, ctx);
    curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, look_at_peer);
    curl_easy_setopt(curl, CURLOPT_PREREQDATA, ctx);
}
