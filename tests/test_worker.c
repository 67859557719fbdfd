/* test_worker.c - a real worker process, forked, answers slabs as an engine would hand them over.
 * Its limits would be memcheck's own, so: not under valgrind. */
#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../engine/base/clock.h"
#include "../engine/rules/idempotency.h"
#include "../engine/worker/business.h"
#include "../engine/wire/slab.h"
#include "../engine/wire/message.h"
#include "../engine/worker/worker.h"
#include "../include/prescient/job.h"

/* the jobs of the settings, in order */
enum { MISBEHAVE, NOANSWER, EFFECTS, BATCH_CRASH, MISSING, BATCH_EFFECTS };

static const char jobs_text[] =
    "store = \"sqlite:/nonexistent/business.db\"; worker_memory = \"256MiB\"; worker_files = 64;\n"
    "plugin_dirs = [\"%1$s/tests/jobs\"];\n"
    "jobs = {\n"
    "  misbehave = { plugin = \"misbehave\"; batch = 1; settings = { log = \"%2$s/runs.log\"; }; };\n"
    "  noanswer = { plugin = \"noanswer\"; };\n"
    "  effects = { plugin = \"effects\"; batch = 1; settings = { word = \"hello\"; list = [\"1h\", \"2h\"]; "
    "}; };\n"
    "  batch_crash = { plugin = \"batch_crash\"; batch = 3; };\n"
    "  missing = { plugin = \"no_such_file\"; };\n"
    "  batch_effects = { plugin = \"effects\"; };\n"
    "};\n";

static struct slab *slab;
static struct arena *arena;
static int sock = -1;
static pid_t pid;
static char logged[8192];               /* what came as LOG, and the words of FAILED */

/* ---- the engine's end ---- */

static void fork_worker(void)
{
    int pair[2];
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        close(pair[0]);
        exit(worker_main(pair[1]));
    }
    close(pair[1]);
    sock = pair[0];
}

static void send_settings(const char *text, int fd)
{
    size_t half = strlen(text) / 2;
    CU_ASSERT_EQUAL(message_send(sock, MESSAGE_SETTINGS, text, half, fd, NULL), 0);
    CU_ASSERT_EQUAL(message_send(sock, MESSAGE_SETTINGS, text + half, strlen(text) - half, -1, NULL), 0);
    CU_ASSERT_EQUAL(message_send(sock, MESSAGE_BEGIN, NULL, 0, -1, NULL), 0);
}

/* The next message that is no LOG or OPENING; the former are kept. 0 when the worker is gone or
 * says nothing for ten seconds. */
static int hear(char body[MESSAGE_MAX + 1], int *len)
{
    enum message_kind kind;
    for (;;) {
        struct pollfd p = { .fd = sock, .events = POLLIN };
        if (poll(&p, 1, 10000) <= 0 || (*len = message_receive(sock, &kind, body, NULL, NULL)) < 0)
            return 0;
        if (kind == MESSAGE_LOG || kind == MESSAGE_FAILED)
            strncat(logged, body + (kind == MESSAGE_LOG), sizeof logged - strlen(logged) - 1);
        if (kind != MESSAGE_LOG && kind != MESSAGE_OPENING)
            return (int)kind;
    }
}

static int start_with(const char *text)
{
    char body[MESSAGE_MAX + 1];
    int fd, len;
    CU_ASSERT_EQUAL_FATAL(slab_new(&slab, &fd, NULL), 0);
    arena = arena_new(4096);
    logged[0] = '\0';
    fork_worker();
    send_settings(text, fd);
    close(fd);
    int kind = hear(body, &len);
    if (kind == MESSAGE_READY)
        snprintf(logged + strlen(logged), sizeof logged - strlen(logged), " [%d jobs: %d%d%d%d%d%d]", len,
                 body[0], body[1], body[2], body[3], body[4], body[5]);
    return kind;
}

static void start(void)
{
    char text[4096 + 2 * PATH_MAX], build[PATH_MAX] = "";
    CU_ASSERT_PTR_NOT_NULL_FATAL(realpath(test_build_dir(), build));
    snprintf(text, sizeof text, jobs_text, build, test_tmp_dir());
    CU_ASSERT_EQUAL_FATAL(start_with(text), MESSAGE_READY);
}

static int ended(void)
{
    int status = 0;
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    close(sock);
    slab_free(slab);
    arena_free(arena);
    return status;
}

static void stop(void)
{
    CU_ASSERT_EQUAL(message_send(sock, MESSAGE_EXIT, NULL, 0, -1, NULL), 0);
    int status = ended();
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void fill(int64_t trust_us)
{
    slab_reset(slab, 1000, business_now_us() + trust_us);
}

static void put(int job, const char *key, bool single)
{
    static const char *const names[] = { "misbehave",   "noanswer", "effects",
                                         "batch_crash", "missing",  "batch_effects" };
    struct check check = {
        .id = 7,
        .first_check_at = 900,
        .next_check_at = 960,
        .check_count = 2,
        .entity_name = "orders",
        .entity_name_len = 6,
        .entity_key = key,
        .entity_key_len = (uint32_t)strlen(key),
        .job_exec = names[job],
        .job_exec_len = (uint32_t)strlen(names[job]),
    };
    CU_ASSERT_TRUE_FATAL(slab_put(slab, &check, job, single));
}

static void say_run(void)
{
    uint32_t generation = slab_generation(slab);
    slab_open(slab);
    CU_ASSERT_EQUAL(message_send(sock, MESSAGE_RUN, &generation, sizeof generation, -1, NULL), 0);
}

/* Opens the slab and waits for its end. */
static bool run_to_end(void)
{
    char body[MESSAGE_MAX + 1];
    int len;
    uint32_t generation = 0;
    say_run();
    if (hear(body, &len) != MESSAGE_ENDED || len != (int)sizeof generation)
        return false;
    memcpy(&generation, body, sizeof generation);
    return generation == slab_generation(slab);
}

static struct raw_answer answer(int index)
{
    struct raw_answer got = { .kind = -2 };
    slab_take_answer(slab, index, arena, &got);
    return got;
}

static const char *text_or_none(const char *text)
{
    return text ? text : "";
}

static bool is_answer(int index, int kind, const char *text)
{
    struct raw_answer got = answer(index);
    bool same = got.kind == kind && (text ? got.text && !strcmp(got.text, text) : !got.text);
    if (!same)
        fprintf(stderr, "answer %d: found kind %d '%s', expected %d '%s'\n", index, got.kind,
                text_or_none(got.text), kind, text_or_none(text));
    return same;
}

/* ---- tests ---- */

static void a_slab_is_worked_to_its_end_and_then_the_next(void)
{
    start();
    for (int round = 0; round < 3; round++) {
        fill(1000000);
        for (int i = 0; i < 50; i++)
            put(MISBEHAVE, "42", false);
        CU_ASSERT_TRUE(run_to_end());
        for (int i = 0; i < 50; i++)
            CU_ASSERT_TRUE(is_answer(i, PRESCIENT_DONE, NULL));
        CU_ASSERT_TRUE(answer(0).began_us > 0 && answer(0).began_us <= clock_boot_us(&clock_system));
        CU_ASSERT_TRUE(answer(0).run_us >= 0 && answer(0).run_us < 10000000);
    }
    stop();
}

static void a_job_that_cannot_be_loaded_is_refused_alone_and_with_words(void)
{
    start();
    CU_ASSERT_PTR_NOT_NULL(strstr(logged, "[6 jobs: 111101]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(logged, "job missing: plug-in: no file no_such_file.so"));
    fill(1000000);
    put(MISSING, "42", false);
    put(MISBEHAVE, "42", false);
    CU_ASSERT_TRUE(run_to_end());
    CU_ASSERT_EQUAL(answer(0).kind, PRESCIENT_FAIL);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer(0).text, "no_such_file"));
    CU_ASSERT_TRUE(is_answer(1, PRESCIENT_DONE, NULL));
    stop();
}

/* The second of two jobs with one plug-in must not take it for loaded. */
static void jobs_that_share_a_plugin_share_its_refusal(void)
{
    char text[PATH_MAX + 512], build[PATH_MAX] = "";
    CU_ASSERT_PTR_NOT_NULL_FATAL(realpath(test_build_dir(), build));
    static const char *const plugins[] = { "no_symbol", "no_exec", "wrong_abi", "absent" };
    for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++) {
        snprintf(text, sizeof text,
                 "plugin_dirs = [\"%s/tests/jobs\"]; jobs = { a = { plugin = \"%s\"; }; b = { plugin = "
                 "\"%s\"; }; c = { plugin = \"noanswer\"; }; };",
                 build, plugins[i], plugins[i]);
        CU_ASSERT_EQUAL_FATAL(start_with(text), MESSAGE_READY);
        CU_ASSERT_PTR_NOT_NULL(strstr(logged, "[3 jobs: 001"));
        CU_ASSERT_PTR_NOT_NULL(strstr(logged, "job b: it shares the plug-in of job a, which cannot be used"));
        stop();
    }
}

static void a_job_that_the_engine_leaves_out_is_not_even_loaded(void)
{
    char text[PATH_MAX + 512], build[PATH_MAX] = "", body[MESSAGE_MAX + 1];
    static const char left_out[] = { 1, 0 };
    int fd, len;
    CU_ASSERT_PTR_NOT_NULL_FATAL(realpath(test_build_dir(), build));
    snprintf(text, sizeof text,
             "plugin_dirs = [\"%s/tests/jobs\"]; jobs = { a = { plugin = \"misbehave\"; }; b = { plugin = "
             "\"noanswer\"; }; };",
             build);
    CU_ASSERT_EQUAL_FATAL(slab_new(&slab, &fd, NULL), 0);
    arena = arena_new(4096);
    logged[0] = '\0';
    fork_worker();
    CU_ASSERT_EQUAL(message_send(sock, MESSAGE_SETTINGS, text, strlen(text), fd, NULL), 0);
    CU_ASSERT_EQUAL(message_send(sock, MESSAGE_BEGIN, left_out, sizeof left_out, -1, NULL), 0);
    close(fd);
    CU_ASSERT_EQUAL_FATAL(hear(body, &len), MESSAGE_READY);
    CU_ASSERT_EQUAL(body[0], 0);
    CU_ASSERT_EQUAL(body[1], 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(logged, "job a: left out"));
    char maps[PATH_MAX + 64];
    snprintf(maps, sizeof maps, "grep -q misbehave /proc/%d/maps", (int)pid);
    CU_ASSERT_NOT_EQUAL(system(maps), 0);
    snprintf(maps, sizeof maps, "grep -q noanswer /proc/%d/maps", (int)pid);
    CU_ASSERT_EQUAL(system(maps), 0);
    stop();
}

static void words_of_an_open_that_are_no_text_still_make_a_failure(void)
{
    char text[4096 + PATH_MAX], build[PATH_MAX] = "";
    CU_ASSERT_PTR_NOT_NULL_FATAL(realpath(test_build_dir(), build));
    snprintf(text, sizeof text,
             "store = \"sqlite:/nonexistent/business.db\"; plugin_dirs = [\"%s/tests/jobs\"];\n"
             "jobs = { refuses = { plugin = \"refuses\"; }; noanswer = { plugin = \"noanswer\"; }; };\n",
             build);
    CU_ASSERT_EQUAL_FATAL(start_with(text), MESSAGE_READY);
    fill(1000000);
    put(0, "42", false);
    CU_ASSERT_TRUE(run_to_end());
    CU_ASSERT_TRUE(is_answer(0, PRESCIENT_FAIL, "job refuses: kein Schl?ssel"));
    stop();
}

static void settings_that_are_no_good_end_the_worker_with_words(void)
{
    static const struct { const char *text, *words;
    } cases[] = {
        { "jobs = { a = { plugin = ", "" },
        { "jobs = { };", "no jobs in the settings" },
        { "plugin_dirs = [\"/nonexistent\"]; jobs = { a = { plugin = \"x\"; }; };",
          "job a: plug-in: no file x.so" },
        { "plugin_dirs = [\"/nonexistent\"]; jobs = { a = { plugin = \"x\"; }; b = { plugin = \"x\"; }; };",
          "none of 2 jobs can be used; the last: job b: " },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_EQUAL(start_with(cases[i].text), MESSAGE_FAILED);
        CU_ASSERT_PTR_NOT_NULL(strstr(logged, cases[i].words));
        CU_ASSERT_NOT_EQUAL(strlen(logged), 0);
        int status = ended();
        CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 78);
    }
}

static void effects_arrive_with_their_answer(void)
{
    start();
    fill(1000000);
    put(EFFECTS, "emit", false);
    put(EFFECTS, "enqueue", false);
    put(EFFECTS, "resolve", false);
    put(EFFECTS, "nothing", false);
    CU_ASSERT_TRUE(run_to_end());
    struct raw_answer got = answer(0);
    CU_ASSERT_EQUAL_FATAL(got.neffects, 1);
    CU_ASSERT_STRING_EQUAL(got.effects[0].event, "order.late");
    CU_ASSERT_STRING_EQUAL(got.effects[0].json, "{\"n\": 1}");
    got = answer(1);
    CU_ASSERT_EQUAL_FATAL(got.neffects, 1);
    CU_ASSERT_EQUAL(got.effects[0].at, 1060);
    CU_ASSERT_STRING_EQUAL(got.effects[0].conflict, "earlier");
    got = answer(2);
    CU_ASSERT_EQUAL_FATAL(got.neffects, 1);
    CU_ASSERT_EQUAL(got.effects[0].kind, EFFECT_RESOLVE);
    CU_ASSERT_EQUAL(answer(3).neffects, 0);
    stop();
}

static void an_effect_that_is_refused_makes_the_answer_a_failure(void)
{
    start();
    fill(1000000);
    put(EFFECTS, "bad_json", false);
    CU_ASSERT_TRUE(run_to_end());
    CU_ASSERT_EQUAL(answer(0).kind, PRESCIENT_FAIL);
    CU_ASSERT_PTR_NOT_NULL(strstr(answer(0).text, "emit: json: found '"));
    CU_ASSERT_EQUAL(answer(0).neffects, 0);
    stop();
}

static void checks_of_a_batch_without_room_for_their_effects_are_put_off(void)
{
    start();
    fill(1000000);
    for (int i = 0; i < 30; i++)
        put(BATCH_EFFECTS, "big", false);
    CU_ASSERT_TRUE(run_to_end());
    int done = 0, deferred = 0;
    for (int i = 0; i < 30; i++) {
        struct raw_answer got = answer(i);
        done += got.kind == PRESCIENT_DONE && got.neffects == 1;
        deferred += got.kind == PRESCIENT_DEFER && got.neffects == 0 && got.at == 1000;
    }
    CU_ASSERT_TRUE(done > 10 && deferred > 5);
    CU_ASSERT_EQUAL(done + deferred, 30);
    stop();
}

static void a_worker_without_room_for_effects_gives_the_rest_back(void)
{
    start();
    fill(1000000);
    for (int i = 0; i < 30; i++)
        put(EFFECTS, "big", false);
    CU_ASSERT_TRUE(run_to_end());
    int end = slab_cut(slab);
    CU_ASSERT_TRUE(end > 5 && end < 30);
    for (int i = 0; i < end; i++)
        CU_ASSERT_EQUAL(answer(i).neffects, 1);
    stop();
}

static void a_job_is_told_its_settings_and_idempotency_key(void)
{
    char key[IDEMPOTENCY_KEY_SIZE], expected[256];
    start();
    fill(1000000);
    put(EFFECTS, "notes", false);
    CU_ASSERT_TRUE(run_to_end());
    struct idempotency of = { .entity_name = "orders",
                              .entity_key = "notes",
                              .job_exec = "effects",
                              .first_check_at = 900,
                              .id = 7,
                              .check_count = 2 };
    idempotency_key(&of, key);
    snprintf(expected, sizeof expected, "hello 2 7200 %s", key);
    CU_ASSERT_TRUE(is_answer(0, PRESCIENT_DONE, expected));
    CU_ASSERT_PTR_NOT_NULL(strstr(logged, "effects: noted"));
    stop();
}

static void a_check_without_an_answer_fails(void)
{
    start();
    fill(1000000);
    put(NOANSWER, "1", true);
    for (int i = 0; i < 4; i++)
        put(NOANSWER, "2", false);
    CU_ASSERT_TRUE(run_to_end());
    CU_ASSERT_TRUE(is_answer(0, PRESCIENT_FAIL, "no answer"));
    for (int i = 1; i < 5; i += 2)
        CU_ASSERT_TRUE(is_answer(i, PRESCIENT_DONE, NULL));
    for (int i = 2; i < 5; i += 2)
        CU_ASSERT_TRUE(is_answer(i, PRESCIENT_FAIL, "no answer"));
    stop();
}

static void batches_are_as_long_as_the_job_says_and_single_checks_run_alone(void)
{
    /* 3, the single one, 2 */
    static const char *const notes[] = { "many", "many", "many", "one", "many", "many" };
    start();
    fill(1000000);
    for (int i = 0; i < 6; i++)
        put(BATCH_CRASH, "42", i == 3);
    CU_ASSERT_TRUE(run_to_end());
    for (int i = 0; i < 6; i++)
        CU_ASSERT_TRUE(is_answer(i, PRESCIENT_DONE, notes[i]));
    stop();
}

static void garbage_of_a_job_is_garbage_to_the_engine_and_no_more(void)
{
    start();
    fill(1000000);
    put(MISBEHAVE, "garbage", false);
    put(MISBEHAVE, "garbage_text", false);
    put(MISBEHAVE, "42", false);
    CU_ASSERT_TRUE(run_to_end());
    CU_ASSERT_EQUAL(answer(0).kind, -1);
    CU_ASSERT_EQUAL(answer(1).kind, PRESCIENT_FAIL);
    CU_ASSERT_TRUE(strlen(answer(1).text) > SLAB_TEXT_MAX - 4);
    CU_ASSERT_EQUAL(strspn(answer(1).text, "?"), strlen(answer(1).text));
    CU_ASSERT_TRUE(is_answer(2, PRESCIENT_DONE, NULL));
    stop();
}

static void past_the_trust_window_nothing_is_started_until_told_to_go_on(void)
{
    char body[MESSAGE_MAX + 1];
    int len;
    start();
    fill(-1);
    put(MISBEHAVE, "42", false);
    say_run();
    /* Told to go on although nothing has moved: it looks, and waits again. */
    CU_ASSERT_EQUAL(message_send(sock, MESSAGE_CONTINUE, NULL, 0, -1, NULL), 0);
    struct pollfd p = { .fd = sock, .events = POLLIN };
    CU_ASSERT_EQUAL(poll(&p, 1, 50), 0);
    CU_ASSERT_EQUAL(slab_claimed(slab), 0);
    slab_set_trust(slab, business_now_us() + 10000000);
    CU_ASSERT_EQUAL(poll(&p, 1, 50), 0);        /* moved on, but not said so */
    CU_ASSERT_EQUAL(slab_claimed(slab), 0);
    CU_ASSERT_EQUAL(message_send(sock, MESSAGE_CONTINUE, NULL, 0, -1, NULL), 0);
    CU_ASSERT_EQUAL(hear(body, &len), MESSAGE_ENDED);
    CU_ASSERT_TRUE(is_answer(0, PRESCIENT_DONE, NULL));
    stop();
}

static void what_was_cut_off_is_not_run(void)
{
    char body[MESSAGE_MAX + 1];
    int len;
    start();
    fill(-1);
    for (int i = 0; i < 3; i++)
        put(MISBEHAVE, "42", false);
    say_run();
    CU_ASSERT_EQUAL(slab_cut(slab), 0);
    slab_set_trust(slab, business_now_us() + 10000000);
    CU_ASSERT_EQUAL(message_send(sock, MESSAGE_CONTINUE, NULL, 0, -1, NULL), 0);
    CU_ASSERT_EQUAL(hear(body, &len), MESSAGE_ENDED);
    for (int i = 0; i < 3; i++)
        CU_ASSERT_EQUAL(answer(i).kind, -2);
    stop();
}

static void a_crash_leaves_the_answers_before_it(void)
{
    static const struct { const char *key; int signal, code; } cases[] = {
        { "crash", SIGSEGV, 0 }, { "abort", SIGABRT, 0 }, { "exit0", 0, 0 }, { "_exit", 0, 3 },
    };
    char body[MESSAGE_MAX + 1];
    int len;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start();
        fill(1000000);
        put(MISBEHAVE, "1", false);
        put(MISBEHAVE, "2", false);
        put(MISBEHAVE, cases[i].key, false);
        put(MISBEHAVE, "4", false);
        say_run();
        CU_ASSERT_EQUAL(hear(body, &len), 0);
        CU_ASSERT_EQUAL(slab_claimed(slab), 3);
        CU_ASSERT_TRUE(is_answer(0, PRESCIENT_DONE, NULL));
        CU_ASSERT_TRUE(is_answer(1, PRESCIENT_DONE, NULL));
        CU_ASSERT_FALSE(slab_is_answered(slab, 2));
        CU_ASSERT_EQUAL(slab_cut(slab), 3);
        int status = ended();
        CU_ASSERT_TRUE(cases[i].signal ? WIFSIGNALED(status) && WTERMSIG(status) == cases[i].signal
                                       : WIFEXITED(status) && WEXITSTATUS(status) == cases[i].code);
    }
}

static void a_batch_that_crashes_leaves_none_of_its_answers(void)
{
    char body[MESSAGE_MAX + 1];
    int len;
    start();
    fill(1000000);
    put(BATCH_CRASH, "1", true);
    put(BATCH_CRASH, "2", false);
    put(BATCH_CRASH, "bad", false);
    say_run();
    CU_ASSERT_EQUAL(hear(body, &len), 0);
    CU_ASSERT_TRUE(is_answer(0, PRESCIENT_DONE, "one"));
    CU_ASSERT_EQUAL(answer(1).kind, -2);
    CU_ASSERT_EQUAL(slab_cut(slab), 3);
    int status = ended();
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static void a_worker_that_scribbles_over_the_slab_does_no_harm(void)
{
    char body[MESSAGE_MAX + 1];
    int len;
    start();
    fill(1000000);
    put(MISBEHAVE, "1", false);
    put(MISBEHAVE, "scribble", false);
    put(MISBEHAVE, "3", false);
    say_run();
    hear(body, &len);
    for (int i = 0; i < SLAB_CHECKS_MAX; i++)
        answer(i);
    int end = slab_cut(slab);
    CU_ASSERT_TRUE(end >= 0 && end <= 3);
    kill(pid, SIGKILL);
    ended();
}

static void a_worker_that_hangs_is_ended_by_term_and_the_end_is_seen(void)
{
    start();
    fill(1000000);
    put(MISBEHAVE, "hang", false);
    say_run();
    while (slab_claimed(slab) == 0)
        usleep(1000);
    kill(pid, SIGTERM);
    int status = ended();
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void memory_is_limited(void)
{
#ifndef __SANITIZE_ADDRESS__
    char body[MESSAGE_MAX + 1];
    int len;
    start();
    fill(1000000);
    put(MISBEHAVE, "eat", false);
    say_run();
    CU_ASSERT_EQUAL(hear(body, &len), 0);
    int status = ended();
    CU_ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#endif
}

static void a_job_that_closes_the_socket_ends_its_worker(void)
{
    start();
    fill(1000000);
    put(MISBEHAVE, "closefds", false);
    say_run();
    int status = ended();
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static void a_worker_ends_when_the_engine_closes_the_socket(void)
{
    start();
    shutdown(sock, SHUT_RDWR);
    int status = ended();
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static void a_worker_whose_parent_is_not_the_engine_does_not_begin(void)
{
    int pair[2], status;
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    fflush(NULL);
    pid_t between = fork();
    if (between == 0) {
        pid_t inner = fork();
        if (inner == 0)
            exit(worker_main(pair[1]));
        waitpid(inner, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
    }
    close(pair[1]);
    waitpid(between, &status, 0);
    CU_ASSERT_EQUAL(WEXITSTATUS(status), 78);
    char body[MESSAGE_MAX + 1];
    enum message_kind kind;
    CU_ASSERT_TRUE(message_receive(pair[0], &kind, body, NULL, NULL) > 0);
    CU_ASSERT_EQUAL(kind, MESSAGE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(body, "is gone"));
    close(pair[0]);
}

static int teardown(void)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/runs.log", test_tmp_dir());
    unlink(path);
    return 0;
}

static const struct test tests[] = {
    TEST(a_slab_is_worked_to_its_end_and_then_the_next),
    TEST(a_job_that_cannot_be_loaded_is_refused_alone_and_with_words),
    TEST(jobs_that_share_a_plugin_share_its_refusal),
    TEST(a_job_that_the_engine_leaves_out_is_not_even_loaded),
    TEST(words_of_an_open_that_are_no_text_still_make_a_failure),
    TEST(settings_that_are_no_good_end_the_worker_with_words),
    TEST(effects_arrive_with_their_answer),
    TEST(an_effect_that_is_refused_makes_the_answer_a_failure),
    TEST(checks_of_a_batch_without_room_for_their_effects_are_put_off),
    TEST(a_worker_without_room_for_effects_gives_the_rest_back),
    TEST(a_job_is_told_its_settings_and_idempotency_key),
    TEST(a_check_without_an_answer_fails),
    TEST(batches_are_as_long_as_the_job_says_and_single_checks_run_alone),
    TEST(garbage_of_a_job_is_garbage_to_the_engine_and_no_more),
    TEST(past_the_trust_window_nothing_is_started_until_told_to_go_on),
    TEST(what_was_cut_off_is_not_run),
    TEST(a_crash_leaves_the_answers_before_it),
    TEST(a_batch_that_crashes_leaves_none_of_its_answers),
    TEST(a_worker_that_scribbles_over_the_slab_does_no_harm),
    TEST(a_worker_that_hangs_is_ended_by_term_and_the_end_is_seen),
    TEST(memory_is_limited),
    TEST(a_job_that_closes_the_socket_ends_its_worker),
    TEST(a_worker_ends_when_the_engine_closes_the_socket),
    TEST(a_worker_whose_parent_is_not_the_engine_does_not_begin),
    { 0 },
};

const struct suite suite_worker = { "worker", NULL, teardown, tests };
