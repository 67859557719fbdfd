/* test_store_pg_lookup.c - names of hosts are asked for by a child of the moment, which is
 * nobody's business but the lookup's own. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>

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

static const struct test tests[] = {
    TEST(a_name_is_asked_for_but_no_address_and_no_path),
    TEST(the_addresses_of_a_name_are_found),
    TEST(a_name_without_an_address_is_told_in_words),
    TEST(its_child_is_buried_by_nobody_else),
    TEST(one_that_is_ended_leaves_no_child_and_no_descriptor),
    { NULL, NULL },
};

const struct suite suite_store_pg_lookup = { .name = "store_pg_lookup", .tests = tests };
