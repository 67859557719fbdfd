/* worker_fixture.c - see worker_fixture.h. */
#include "worker_fixture.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../engine/worker/business.h"
#include "../engine/worker/worker.h"

struct worker_fixture workerfx;

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

/* ---- the engine's end ---- */

void workerfx_fork(void)
{
    int pair[2];
    CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    fflush(NULL);
    workerfx.pid = fork();
    if (workerfx.pid == 0) {
        close(pair[0]);
        exit(worker_main(pair[1]));
    }
    close(pair[1]);
    workerfx.sock = pair[0];
}

static void send_settings(const char *text, int fd, const char *how, size_t njobs)
{
    size_t half = strlen(text) / 2;
    CU_ASSERT_EQUAL(message_send(workerfx.sock, MESSAGE_SETTINGS, text, half, fd, NULL), 0);
    CU_ASSERT_EQUAL(message_send(workerfx.sock, MESSAGE_SETTINGS, text + half, strlen(text) - half, -1,
                                 NULL), 0);
    CU_ASSERT_EQUAL(message_send(workerfx.sock, MESSAGE_BEGIN, how, njobs, -1, NULL), 0);
}

int workerfx_hear(char body[MESSAGE_MAX + 1], int *len)
{
    enum message_kind kind;
    for (;;) {
        struct pollfd p = { .fd = workerfx.sock, .events = POLLIN };
        if (poll(&p, 1, 10000) <= 0 || (*len = message_receive(workerfx.sock, &kind, body, NULL, NULL)) < 0)
            return 0;
        if (kind == MESSAGE_LOG || kind == MESSAGE_FAILED)
            strncat(workerfx.logged, body + (kind == MESSAGE_LOG),
                    sizeof workerfx.logged - strlen(workerfx.logged) - 1);
        if (kind != MESSAGE_LOG && kind != MESSAGE_OPENING)
            return (int)kind;
    }
}

int workerfx_begin(const char *text, const char *how, size_t njobs, char body[MESSAGE_MAX + 1], int *len)
{
    int fd;
    CU_ASSERT_EQUAL_FATAL(slab_new(&workerfx.slab, &fd, NULL), 0);
    workerfx.arena = arena_new(4096);
    workerfx.logged[0] = '\0';
    workerfx_fork();
    send_settings(text, fd, how, njobs);
    close(fd);
    return workerfx_hear(body, len);
}

int workerfx_start_with(const char *text)
{
    char body[MESSAGE_MAX + 1];
    int len, kind = workerfx_begin(text, NULL, 0, body, &len);
    if (kind == MESSAGE_READY)
        snprintf(workerfx.logged + strlen(workerfx.logged), sizeof workerfx.logged - strlen(workerfx.logged),
                 " [%d jobs: %d%d%d%d%d%d]", len, body[0], body[1], body[2], body[3], body[4], body[5]);
    return kind;
}

void workerfx_start(void)
{
    char text[4096 + 2 * PATH_MAX], build[PATH_MAX] = "";
    CU_ASSERT_PTR_NOT_NULL_FATAL(realpath(test_build_dir(), build));
    snprintf(text, sizeof text, jobs_text, build, test_tmp_dir());
    CU_ASSERT_EQUAL_FATAL(workerfx_start_with(text), MESSAGE_READY);
}

int workerfx_ended(void)
{
    int status = 0;
    CU_ASSERT_EQUAL(waitpid(workerfx.pid, &status, 0), workerfx.pid);
    close(workerfx.sock);
    slab_free(workerfx.slab);
    arena_free(workerfx.arena);
    return status;
}

void workerfx_stop(void)
{
    CU_ASSERT_EQUAL(message_send(workerfx.sock, MESSAGE_EXIT, NULL, 0, -1, NULL), 0);
    int status = workerfx_ended();
    CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

void workerfx_fill(int64_t trust_us)
{
    slab_reset(workerfx.slab, 1000, business_now_us() + trust_us);
}

static void put(int job, const char *key, const char *concurrency_key, bool single)
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
        .concurrency_key = concurrency_key,
    };
    CU_ASSERT_TRUE_FATAL(slab_put(workerfx.slab, &check, job, single));
}

void workerfx_put(int job, const char *key, bool single)
{
    put(job, key, NULL, single);
}

void workerfx_put_keyed(int job, const char *key)
{
    put(job, key, "project 7", false);
}

void workerfx_say_run(void)
{
    uint32_t generation = slab_generation(workerfx.slab);
    slab_open(workerfx.slab);
    CU_ASSERT_EQUAL(message_send(workerfx.sock, MESSAGE_RUN, &generation, sizeof generation, -1, NULL), 0);
}

bool workerfx_run_to_end(void)
{
    char body[MESSAGE_MAX + 1];
    int len;
    uint32_t generation = 0;
    workerfx_say_run();
    if (workerfx_hear(body, &len) != MESSAGE_ENDED || len != (int)sizeof generation)
        return false;
    memcpy(&generation, body, sizeof generation);
    return generation == slab_generation(workerfx.slab);
}

struct raw_answer workerfx_answer(int index)
{
    struct raw_answer got = { .kind = -2 };
    slab_take_answer(workerfx.slab, index, workerfx.arena, &got);
    return got;
}

static const char *text_or_none(const char *text)
{
    return text ? text : "";
}

bool workerfx_is_answer(int index, int kind, const char *text)
{
    struct raw_answer got = workerfx_answer(index);
    bool same = got.kind == kind && (text ? got.text && !strcmp(got.text, text) : !got.text);
    if (!same)
        fprintf(stderr, "answer %d: found kind %d '%s', expected %d '%s'\n", index, got.kind,
                text_or_none(got.text), kind, text_or_none(text));
    return same;
}

bool workerfx_says(const char *words)
{
    if (strstr(workerfx.logged, words))
        return true;
    fprintf(stderr, "found '%s', expected '%s'\n", workerfx.logged, words);
    return false;
}
