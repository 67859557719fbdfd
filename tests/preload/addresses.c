/* addresses.c - preloaded by ../several_addresses.sh: the name pair.test has the addresses
 * 127.0.0.2 and 127.0.0.3, always in this order. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

typedef int lookup(const char *, const char *, const struct addrinfo *, struct addrinfo **);

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **out)
{
    lookup *libc;
    struct addrinfo *second;
    *(void **)&libc = dlsym(RTLD_NEXT, "getaddrinfo");
    if (!name || strcmp(name, "pair.test") != 0)
        return libc(name, service, hints, out);
    int rc = libc("127.0.0.2", service, hints, out);
    if (rc != 0)
        return rc;
    rc = libc("127.0.0.3", service, hints, &second);
    if (rc == 0)
        (*out)->ai_next = second;       /* freed with the first one */
    return rc;
}
