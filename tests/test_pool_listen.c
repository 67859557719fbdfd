/* test_pool_listen.c - what a pool makes of what a worker says over its socket, and of what its
 * jobs print, with a worker that is no process. */
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
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

/* ---- requests ---- */

static char requested[64];

static void take_request(void *ctx, const char *part, size_t n)
{
    strncat(ctx, part, n);
}

static void a_request_is_handed_on_part_by_part(void)
{
    begin(WORKER_RUNNING);
    requested[0] = '\0';
    pool.o.is_dry = true;
    hear(MESSAGE_REQUEST, "nobody takes it", 15);
    pool.o.events = (struct pool_events){ .requested = take_request, .ctx = requested };
    hear(MESSAGE_REQUEST, "POST http://", 12);
    hear(MESSAGE_REQUEST, "shop.example/hook", 17);
    CU_ASSERT_STRING_EQUAL(requested, "POST http://shop.example/hook");
    CU_ASSERT_FALSE(worker.gone);
    end();
}

static void a_request_that_nobody_asked_for_ends_the_trust_in_a_worker(void)
{
    begin(WORKER_RUNNING);
    requested[0] = '\0';
    pool.o.events = (struct pool_events){ .requested = take_request, .ctx = requested };
    hear(MESSAGE_REQUEST, "POST", 4);
    CU_ASSERT_STRING_EQUAL(worker.why, "it sent a request that nobody wants to see");
    CU_ASSERT_TRUE(worker.gone);
    CU_ASSERT_STRING_EQUAL(requested, "");
    end();
}

/* ---- what jobs print ---- */

#define SECRET "planted-secret-19bb"

static int output = -1;                 /* the worker's end */
static char *logged;
static size_t logged_size;

static void begin_output(void)
{
    static const char *secrets[] = { SECRET, "another one" };
    int ends[2];
    begin(WORKER_RUNNING);
    CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    worker.child.output = ends[0];
    output = ends[1];
    pool.secrets = secrets;
    pool.nsecrets = 2;
    pool.output = (struct output_budget){ .room = OUTPUT_BURST };
    fclose(quiet.out);
    quiet.out = open_memstream(&logged, &logged_size);
}

static void end_output(void)
{
    close(output);
    close(worker.child.output);
    end();
    free(logged);
}

static void print(const char *text, size_t size)
{
    CU_ASSERT_EQUAL(write(output, text, size), (ssize_t)size);
    pool_worker_drain(&pool, &worker);
    fflush(quiet.out);
}
#define PRINT(text) print((text), sizeof(text) - 1)

static bool was_printed(const char *text)
{
    char line[200];
    snprintf(line, sizeof line, "printed: %s\n", text);
    return strstr(logged, line) != NULL;
}

static void a_secret_is_hidden_wherever_a_read_ends(void)
{
    enum { TIMES = 400, SIZE = sizeof SECRET - 1 };
    char many[TIMES * SIZE];
    begin_output();
    for (int i = 0; i < TIMES; i++)
        memcpy(many + i * SIZE, SECRET, SIZE);
    print(many, sizeof many);
    CU_ASSERT_PTR_NOT_NULL(strstr(logged, "printed: ******"));
    for (size_t i = 0; i < SIZE; i++)
        print(SECRET + i, 1);
    CU_ASSERT_TRUE(was_printed("***"));
    CU_ASSERT_FALSE(was_printed("l") || was_printed("bb"));
    CU_ASSERT_PTR_NULL(strstr(logged, "planted"));
    CU_ASSERT_PTR_NULL(strstr(logged, "secret"));
    CU_ASSERT_PTR_NULL(strstr(logged, "19bb"));
    end_output();
}

static void what_looks_like_the_beginning_of_a_secret_is_shown_with_what_follows(void)
{
    begin_output();
    PRINT("behind \0 a planted-");
    CU_ASSERT_TRUE(was_printed("behind ? a "));
    PRINT("pot, and so on\n");
    CU_ASSERT_TRUE(was_printed("planted-pot, and so on"));
    PRINT("\n");
    CU_ASSERT_FALSE(was_printed(""));
    PRINT("at its end a");
    pool_worker_tell_held(&pool, &worker);
    pool_worker_tell_held(&pool, &worker);
    PRINT("more\n");
    CU_ASSERT_TRUE(was_printed("at its end "));
    CU_ASSERT_TRUE(was_printed("a"));
    CU_ASSERT_TRUE(was_printed("more"));
    PRINT("planted-sec");
    pool_worker_tell_held(&pool, &worker);
    fflush(quiet.out);
    CU_ASSERT_TRUE(was_printed("***"));
    end_output();
}

/* Longer than what is kept of it, and than a read. */
static void a_long_secret_is_hidden_too(void)
{
    char secret[6000];
    begin_output();
    uint32_t state = 7;
    for (size_t i = 0; i < sizeof secret; i++) {
        state = state * 1103515245 + 12345;
        secret[i] = (char)('a' + (state >> 16) % 26);
    }
    secret[sizeof secret - 1] = '\0';
    pool.secrets[1] = secret;
    print(secret, sizeof secret - 1);
    PRINT(" behind\n");
    const char *end = strstr(logged, "printed: ***\n");
    CU_ASSERT_PTR_NOT_NULL_FATAL(end);
    CU_ASSERT_PTR_NOT_NULL(strstr(end, "printed:  behind\n"));
    CU_ASSERT_PTR_NULL(strstr(end + 1, "printed: ***"));
    pool.secrets[1] = "another one";
    end_output();
}

static const struct test tests[] = {
    TEST(why_a_worker_fails_is_kept_as_it_says),
    TEST(words_of_a_worker_are_kept_as_far_as_they_are_text),
    TEST(a_message_that_does_not_exist_ends_the_trust_in_a_worker),
    TEST(an_end_of_a_slab_that_it_does_not_have_is_not_believed),
    TEST(a_request_is_handed_on_part_by_part),
    TEST(a_request_that_nobody_asked_for_ends_the_trust_in_a_worker),
    TEST(a_secret_is_hidden_wherever_a_read_ends),
    TEST(what_looks_like_the_beginning_of_a_secret_is_shown_with_what_follows),
    TEST(a_long_secret_is_hidden_too),
    { 0 },
};

const struct suite suite_pool_listen = { "pool_listen", NULL, NULL, tests };
