/* address.c - all addresses are looked at as those of IPv6, and those of IPv4 as mapped ones. */
#include "address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FOUR 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff

/* The first that holds an address counts. */
static const struct {
    const char *what;
    struct network network;
} ours[] = {
    { "unspecified", { { FOUR, 0 }, 96 + 8 } },
    { "private", { { FOUR, 10 }, 96 + 8 } },
    { "shared by customers (CGNAT)", { { FOUR, 100, 64 }, 96 + 10 } },
    { "loopback", { { FOUR, 127 }, 96 + 8 } },
    { "link-local", { { FOUR, 169, 254 }, 96 + 16 } },
    { "private", { { FOUR, 172, 16 }, 96 + 12 } },
    { "reserved", { { FOUR, 192, 0, 0 }, 96 + 24 } },
    { "for documents", { { FOUR, 192, 0, 2 }, 96 + 24 } },
    { "private", { { FOUR, 192, 168 }, 96 + 16 } },
    { "for measurements", { { FOUR, 198, 18 }, 96 + 15 } },
    { "for documents", { { FOUR, 198, 51, 100 }, 96 + 24 } },
    { "for documents", { { FOUR, 203, 0, 113 }, 96 + 24 } },
    { "multicast", { { FOUR, 224 }, 96 + 4 } },
    { "reserved", { { FOUR, 240 }, 96 + 4 } },
    { "unspecified", { { 0 }, 128 } },
    { "loopback", { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 }, 128 } },
    { "reserved", { { 0x01 }, 8 } },
    { "for documents", { { 0x20, 0x01, 0x0d, 0xb8 }, 32 } },
    { "private", { { 0xfc }, 7 } },
    { "link-local", { { 0xfe, 0x80 }, 10 } },
    { "site-local", { { 0xfe, 0xc0 }, 10 } },
    { "multicast", { { 0xff }, 8 } },
};

/* Forms that carry another address: which one they reach, gateways decide, perhaps ours. */
static const struct {
    const char *what;
    struct network network;
} carriers[] = {
    { "mapped (::ffff:)", { { FOUR }, 96 } },
    { "translated (64:ff9b::)", { { 0, 0x64, 0xff, 0x9b }, 96 } },
    { "translated (64:ff9b:1::)", { { 0, 0x64, 0xff, 0x9b, 0, 1 }, 48 } },
    { "IPv4-compatible", { { 0 }, 96 } },
    { "6to4 (2002::)", { { 0x20, 0x02 }, 16 } },
    { "Teredo (2001::)", { { 0x20, 0x01 }, 32 } },
};

static bool holds(const struct network *n, const unsigned char bytes[16])
{
    int whole = n->bits / 8, rest = n->bits % 8;
    if (memcmp(n->bytes, bytes, (size_t)whole) != 0)
        return false;
    return !rest || !((n->bytes[whole] ^ bytes[whole]) >> (8 - rest));
}

/* As 16 bytes. */
static bool as_six(const struct sockaddr *address, unsigned char bytes[16])
{
    static const unsigned char four[16] = { FOUR };
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 six;
        memcpy(&six, address, sizeof six);
        memcpy(bytes, &six.sin6_addr, 16);
        return true;
    }
    struct sockaddr_in in;
    if (address->sa_family != AF_INET)
        return false;
    memcpy(&in, address, sizeof in);
    memcpy(bytes, four, 12);
    memcpy(bytes + 12, &in.sin_addr, 4);
    return true;
}

static const char *refusal_of_bytes(const struct address_rules *rules, const unsigned char bytes[16],
                                    bool is_four)
{
    for (int i = 0; i < rules->nallowed; i++)
        if (holds(&rules->allowed[i], bytes))
            return NULL;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (holds(&ours[i].network, bytes))
            return ours[i].what;
    for (size_t i = 0; i < sizeof carriers / sizeof *carriers && !is_four; i++)
        if (holds(&carriers[i].network, bytes))
            return carriers[i].what;
    return NULL;
}

const char *address_refusal(const struct address_rules *rules, const struct sockaddr *address)
{
    unsigned char bytes[16];
    if (!as_six(address, bytes))
        return "of no family that is known";
    return refusal_of_bytes(rules, bytes, address->sa_family == AF_INET);
}

/* 4 or 6, and its bytes as above; 0: it is no address. */
static int read_bytes(const char *text, unsigned char bytes[16])
{
    static const unsigned char four[16] = { FOUR };
    memcpy(bytes, four, 12);
    if (inet_pton(AF_INET, text, bytes + 12) == 1)
        return 4;
    return inet_pton(AF_INET6, text, bytes) == 1 ? 6 : 0;
}

const char *address_refusal_of_text(const struct address_rules *rules, const char *address)
{
    unsigned char bytes[16];
    int version = read_bytes(address, bytes);
    return version ? refusal_of_bytes(rules, bytes, version == 4) : "of no family that is known";
}

int address_read_network(const char *text, struct network *out)
{
    char address[INET6_ADDRSTRLEN], *end;
    size_t n = strcspn(text, "/");
    if (n >= sizeof address)
        return -1;
    memcpy(address, text, n);
    address[n] = '\0';
    int version = read_bytes(address, out->bytes), most = version == 4 ? 32 : 128;
    long bits = most;
    if (!version)
        return -1;
    if (text[n]) {
        bits = strtol(text + n + 1, &end, 10);
        if (end == text + n + 1 || *end || bits < 0 || bits > most)
            return -1;
    }
    out->bits = (int)bits + (128 - most);
    struct network without = { .bits = out->bits };
    memcpy(without.bytes, out->bytes, (size_t)(out->bits + 7) / 8);
    if (out->bits % 8)
        without.bytes[out->bits / 8] &= (unsigned char)(0xff << (8 - out->bits % 8));
    return memcmp(without.bytes, out->bytes, 16) ? -1 : 0;
}

/* ---- hosts ---- */

bool address_is_host(const char *pattern, const char *host)
{
    size_t n = strlen(host), m;
    if (n && host[n - 1] == '.')
        n--;
    bool is_below = !strncmp(pattern, "*.", 2);
    if (is_below)
        pattern++;
    m = strlen(pattern);
    if (is_below)
        return n > m && *host != '.' && !strncasecmp(host + n - m, pattern, m);
    return n == m && !strncasecmp(host, pattern, m);
}

bool address_is_pattern(const char *text)
{
    if (!strncmp(text, "*.", 2))
        text += 2;
    size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.:[]");
    return n && !text[n] && *text != '.' && text[n - 1] != '.';
}
