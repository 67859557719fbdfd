/* address.h - which addresses a request may go to when its URL comes from a payload: none that lead
 * into our own networks, but for those that the settings name. No I/O. */
#ifndef PRESCIENT_SHARED_ADDRESS_H
#define PRESCIENT_SHARED_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

struct network {
    unsigned char bytes[16];
    int bits;
}; /* of IPv6; IPv4 is mapped: ::ffff:a.b.c.d */

struct address_rules {
    const struct network *allowed; /* though they are ours */
    int nallowed;
};

/* Reads "10.1.0.0/16", "fd00::/8", or one address. 0, or -1: it is none, or has bits behind its
 * length. */
int address_read_network(const char *text, struct network *out);

/* NULL: a request may go there. Else what kind of address it is: "loopback", "private", ... */
const char *address_refusal(const struct address_rules *rules, const struct sockaddr *address);
const char *address_refusal_of_text(const struct address_rules *rules, const char *address);

/* "example.com" is the host itself, "*.example.com" each below it. A dot at the end of a host is no
 * part of it. */
bool address_is_host(const char *pattern, const char *host);
/* Whether it is such a pattern: letters, digits, '-', '.' and ':', and one "*." at its
 * beginning. */
bool address_is_pattern(const char *text);

#endif
