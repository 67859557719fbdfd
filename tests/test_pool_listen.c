/* test_pool_listen.c - what a pool makes of what a worker says over its socket, with a worker that
 * is no process. */
#include "test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../engine/base/utf8.h"
#include "../engine/pool/pool_state.h"
#include "../engine/wire/message.h"

static struct settings settings;
static struct log quiet;
static struct pool_worker worker;
static struct pool pool;
static bool usable[1];
static int theirs = -1;                 /* the worker's end */

static void begin(enum pool_worker_state state)
{
    int pair[2];
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair), 0);
    theirs = pair[1];
    settings = (struct settings){ .njobs = 1 };
    log_init(&quiet, fopen("/dev/null", "we"), LOG_LEVEL_DEBUG, "test");
    worker = (struct pool_worker){ .state = state,
                                   .child = { .pid = getpid(), .sock = pair[0], .output = -1 } };
    pool = (struct pool){ .o = { .settings = &settings, .clock = &clock_system, .log = &quiet },
                          .workers = &worker,
                          .size = 1,
                          .used = 1,
                          .usual = 1,
                          .usable = usable };
}

static void end(void)
{
    close(theirs);
    close(worker.child.sock);
    free(worker.usable);
    fclose(quiet.out);
}

static void hear(enum message_kind kind, const void *body, size_t len)
{
    CU_ASSERT_EQUAL(message_send(theirs, kind, body, len, -1, NULL), 0);
    pool_worker_listen(&pool, &worker);
}

static void why_a_worker_fails_is_kept_as_it_says(void)
{
    begin(WORKER_STARTING);
    hear(MESSAGE_FAILED, "no jobs in the settings", 23);
    CU_ASSERT_STRING_EQUAL(worker.why, "no jobs in the settings");
    CU_ASSERT_FALSE(worker.gone);
    end();
}

/* They become the note of the check that it had, which a database takes only as text. */
static void words_of_a_worker_are_kept_as_far_as_they_are_text(void)
{
    char words[4096];
    begin(WORKER_STARTING);
    hear(MESSAGE_FAILED, "so far\xff and on", 14);
    CU_ASSERT_STRING_EQUAL(worker.why, "so far");
    for (size_t before = 0; before < 3; before++) {         /* wherever the end of the room falls */
        memset(words, 'x', before);
        for (size_t i = before; i + 3 <= sizeof words; i += 3)
            memcpy(words + i, "\xe2\x82\xac", 3);
        hear(MESSAGE_FAILED, words, 3000);
        CU_ASSERT_TRUE(strlen(worker.why) > 1000 && utf8_is_valid(worker.why, strlen(worker.why)));
    }
    end();
}

static void a_message_that_does_not_exist_ends_the_trust_in_a_worker(void)
{
    begin(WORKER_IDLE);
    hear((enum message_kind)'?', "x", 1);
    CU_ASSERT_TRUE(worker.gone);
    end();
}

static void an_end_of_a_slab_that_it_does_not_have_is_not_believed(void)
{
    uint32_t generation = 7;
    begin(WORKER_IDLE);
    hear(MESSAGE_ENDED, &generation, sizeof generation);
    hear(MESSAGE_ENDED, "x", 1);
    CU_ASSERT_EQUAL(worker.state, WORKER_IDLE);
    CU_ASSERT_FALSE(worker.gone);
    end();
}

static const struct test tests[] = {
    TEST(why_a_worker_fails_is_kept_as_it_says),
    TEST(words_of_a_worker_are_kept_as_far_as_they_are_text),
    TEST(a_message_that_does_not_exist_ends_the_trust_in_a_worker),
    TEST(an_end_of_a_slab_that_it_does_not_have_is_not_believed),
    { 0 },
};

const struct suite suite_pool_listen = { "pool_listen", NULL, NULL, tests };
