/* test_store_pg_lookup.c - names of hosts are asked for by a child of the moment, which is
 * nobody's business but the lookup's own; and the addresses of a name are tried one by one. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../engine/pool/spawn.h"
#include "../engine/store/store_pg.h"
#include "test.h"

enum { PATIENCE_MS = 10000 };

/* Steps until there is something to say; -2: it took too long. */
static int outcome(struct pg_lookup *l)
{
    for (int rc = 0, waited_ms = 0; waited_ms < PATIENCE_MS * test_patience(); waited_ms += 100) {
        struct pollfd p = { .fd = l->fd, .events = POLLIN };
        while (poll(&p, 1, 100) > 0) {
            rc = pg_lookup_step(l);
            if (rc)
                return rc;
        }
    }
    return -2;
}

static void a_name_is_asked_for_but_no_address_and_no_path(void)
{
    static const struct { const char *host, *hostaddr; bool wanted;
    } hosts[] = {
        { "localhost", NULL, true },  { "127.0.0.1.invalid", NULL, true }, { "db", "127.0.0.1", false },
        { NULL, "127.0.0.1", false }, { "127.0.0.1", NULL, false },        { "::1", NULL, false },
        { "/run/pg", NULL, false },   { "@abstract", NULL, false },        { NULL, NULL, false },
    };
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        struct pg_host host = { .host = (char *)(uintptr_t)hosts[i].host,
                                .hostaddr = (char *)(uintptr_t)hosts[i].hostaddr };
        CU_ASSERT_EQUAL(pg_lookup_wanted(&host), hosts[i].wanted);
    }
}

static void the_addresses_of_a_name_are_found(void)
{
    struct pg_lookup l;
    CU_ASSERT_TRUE_FATAL(pg_lookup_begin(&l, "localhost"));
    CU_ASSERT_EQUAL(outcome(&l), 1);
    CU_ASSERT_TRUE(strstr(l.text, "127.0.0.1") || strstr(l.text, "::1"));
    CU_ASSERT_EQUAL(l.pid, 0);
}

static void a_name_without_an_address_is_told_in_words(void)
{
    char name[301];
    struct pg_lookup l;
    memset(name, 'a', sizeof name - 1);     /* longer than a name can be: no server is asked */
    name[sizeof name - 1] = '\0';
    CU_ASSERT_TRUE_FATAL(pg_lookup_begin(&l, name));
    CU_ASSERT_EQUAL(outcome(&l), -1);
    CU_ASSERT_EQUAL(*l.text, '!');
    CU_ASSERT_TRUE(strlen(l.text) > 1);
}

/* The pool buries all children that end, orphans of jobs among them. A lookup's pid that was
 * buried by others may be another process's when the lookup is ended, by a SIGKILL. */
static void its_child_is_buried_by_nobody_else(void)
{
    struct pg_lookup l;
    CU_ASSERT_TRUE_FATAL(pg_lookup_begin(&l, "localhost"));
    struct pollfd p = { .fd = l.fd, .events = 0 };
    /* the other end is closed: it is over, or about to be */
    CU_ASSERT_EQUAL(poll(&p, 1, PATIENCE_MS), 1);
    pid_t seen = 0;
    for (int i = 0; i < 50 && !seen; i++) {
        seen = spawner_system.any_ended(NULL);
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    }
    CU_ASSERT_EQUAL(seen, 0);
    CU_ASSERT_EQUAL(outcome(&l), 1);
}

static void one_that_is_ended_leaves_no_child_and_no_descriptor(void)
{
    struct pg_lookup l;
    CU_ASSERT_TRUE_FATAL(pg_lookup_begin(&l, "localhost"));
    pid_t pid = l.pid;
    int fd = l.fd;
    pg_lookup_end(&l);
    CU_ASSERT_EQUAL(kill(pid, 0), -1);
    CU_ASSERT_EQUAL(fcntl(fd, F_GETFD), -1);
    pg_lookup_end(&l);          /* nothing any more */
}

/* ---- several addresses ---- */

/* In the place of libc's: a name such as "2.7.addresses" has 127.0.0.2 and 127.0.0.7. */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **out)
{
    static struct { struct addrinfo info; struct sockaddr_in address; } found[PG_LOOKUP_ADDRESSES];
    int (*libc)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (!name || !strstr(name, ".addresses")) {
        *(void **)&libc = dlsym(RTLD_NEXT, "getaddrinfo");
        return libc(name, service, hints, out);
    }
    int n = 0;
    for (const char *at = name; n < PG_LOOKUP_ADDRESSES && *at >= '0' && *at <= '9'; n++) {
        found[n].address = (struct sockaddr_in){ .sin_family = AF_INET };
        found[n].address.sin_addr.s_addr = htonl(0x7f000000 + (uint32_t)atoi(at));
        found[n].info = (struct addrinfo){ .ai_family = AF_INET, .ai_socktype = SOCK_STREAM,
                                           .ai_addr = (struct sockaddr *)&found[n].address,
                                           .ai_addrlen = sizeof found[n].address };
        if (n > 0)
            found[n - 1].info.ai_next = &found[n].info;
        at = strchr(at, '.') + 1;
    }
    *out = &found[0].info;
    return 0;
}

/* Accepts connections at 127.0.0.`last`, and says nothing. `port` 0: any, which is set. */
static int silent_server(int last, int *port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)*port) };
    socklen_t size = sizeof at;
    at.sin_addr.s_addr = htonl(0x7f000000 + (uint32_t)last);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CU_ASSERT_FATAL(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 9) == 0);
    CU_ASSERT_EQUAL_FATAL(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

/* What the server at 127.0.0.`last` sends to whoever comes. */
struct answer { int last; const char *bytes; size_t size; };
#define ANSWER(last, bytes) { last, bytes, sizeof(bytes) - 1 }

static const struct answer answers[] = {
    ANSWER(7, "E\0\0\0\x26SFATAL\0VFATAL\0C28P01\0Mnobody may\0\0"),
    ANSWER(8, "R\0\0\0\x08\0\0\0\0S\0\0\0\x18server_version\0" "16.1\0S\0\0\0\x16in_hot_standby\0on\0"
              "S\0\0\0\x26" "default_transaction_read_only\0off\0Z\0\0\0\x05I"),
    ANSWER(9, "E\0\0\0\x27SFATAL\0VFATAL\0C57P03\0Mstarting up\0\0"),
};
enum { SERVERS = sizeof answers / sizeof *answers };

/* Answers whoever comes to this server, in a process of its own. */
static pid_t server_that_answers(int listening, const struct answer *is)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    for (;;) {
        char startup[1000];
        int fd = accept(listening, NULL, NULL);
        if (fd < 0 || read(fd, startup, sizeof startup) <= 0 ||
            write(fd, is->bytes, is->size) != (ssize_t)is->size)
            _exit(1);
        close(fd);
    }
}

/* What a store says where the name has these addresses: at 127.0.0.7 to 9 are servers that refuse
 * the user, only read, and are not up; at 127.0.0.2 somebody accepts and says nothing, and at all
 * others nobody is. */
static void connecting_says(const char *name, const char *words)
{
    int port = 0, silent = silent_server(2, &port), answering[SERVERS];
    pid_t servers[SERVERS];
    for (int i = 0; i < SERVERS; i++) {
        answering[i] = silent_server(answers[i].last, &port);
        servers[i] = server_that_answers(answering[i], &answers[i]);
    }
    char url[200];
    struct store *st = NULL;
    struct store_hello hello = STORE_HELLO_INIT;
    snprintf(url, sizeof url,
             "postgresql://u@%s.addresses:%d/x?sslmode=disable&gssencmode=disable&connect_timeout=1", name,
             port);
    struct store_options o = { .url = url };
    CU_ASSERT_EQUAL_FATAL(store_new(&o, &st, &hello.call.err), 0);
    CU_ASSERT_EQUAL(store_do(st, &hello.call), ERR_LOST);
    if (!strstr(hello.call.err.text, words))
        printf("      %s: '%s', expected '%s'\n", name, hello.call.err.text, words);
    CU_ASSERT_PTR_NOT_NULL(strstr(hello.call.err.text, words));
    store_free(st);
    for (int i = 0; i < SERVERS; i++) {
        kill(servers[i], SIGKILL);
        waitpid(servers[i], NULL, 0);
        close(answering[i]);
    }
    close(silent);
}

static void the_addresses_of_a_name_are_tried_one_by_one(void)
{
    connecting_says("7", "nobody may");
    connecting_says("2.7", "nobody may");
    connecting_says("3.7", "nobody may");
    connecting_says("3.4.5.2.6.7", "nobody may");
    connecting_says("2.3", "Connection refused");
    connecting_says("3.2", "no answer from 3.2.addresses within");
    connecting_says("7.2", "nobody may");
    connecting_says("8.7", "nobody may");
    connecting_says("9.7", "nobody may");
    connecting_says("9.8", "read-only");
    connecting_says("8.9", "starting up");
    connecting_says("8.3", "Connection refused");
}

static const struct test tests[] = {
    TEST(a_name_is_asked_for_but_no_address_and_no_path),
    TEST(the_addresses_of_a_name_are_found),
    TEST(a_name_without_an_address_is_told_in_words),
    TEST(its_child_is_buried_by_nobody_else),
    TEST(one_that_is_ended_leaves_no_child_and_no_descriptor),
    TEST(the_addresses_of_a_name_are_tried_one_by_one),
    { NULL, NULL },
};

const struct suite suite_store_pg_lookup = { .name = "store_pg_lookup", .tests = tests };
