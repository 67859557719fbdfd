/* test_engine_command.c - what a command that makes an engine says with its exit code when there
 * is none to be made. */
#include "settings_fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../engine/cmd/args.h"
#include "../engine/cmd/command.h"

extern const struct command cmd_daemon, cmd_run;

/* Without a descriptor for its signals an engine cannot begin. */
static int exit_code_without_descriptors(const struct command *command)
{
    struct app app = { .command = command,
                       .arena = arena_new(1024),
                       .settings = parsed("store = \"sqlite:never-opened.db\";"),
                       .out = fopen("/dev/null", "we") };
    log_init(&app.log, app.out, LOG_LEVEL_ERROR, "test");
    struct rlimit kept, none;
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    getrlimit(RLIMIT_NOFILE, &kept);
    none = (struct rlimit){ 0, kept.rlim_max };
    setrlimit(RLIMIT_NOFILE, &none);
    int code = command->main(&app, &(struct args){ 0 });
    setrlimit(RLIMIT_NOFILE, &kept);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    settings_release(&app.settings);
    arena_free(app.arena);
    fclose(app.out);
    return code;
}

static void a_daemon_that_could_not_begin_did_not_end_well(void)
{
    CU_ASSERT_EQUAL(exit_code_without_descriptors(&cmd_daemon), EXIT_TROUBLE);
}

static void nor_did_a_run(void)
{
    CU_ASSERT_EQUAL(exit_code_without_descriptors(&cmd_run), EXIT_TROUBLE);
}

static const struct test tests[] = {
    TEST(a_daemon_that_could_not_begin_did_not_end_well),
    TEST(nor_did_a_run),
    { NULL, NULL },
};

const struct suite suite_engine_command = { "engine_command", settings_fixture_setup,
                                            settings_fixture_teardown, tests };
