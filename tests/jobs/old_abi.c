/* old_abi - a plug-in as the first release built them: the header's struct of that time, written
 * out, so that growth of today's header is seen here as a plug-in from back then would see it.
 * Must load for ever. Answers DONE with the note "old". */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct answer_1 { size_t size; int32_t kind; int64_t at; char *text; size_t text_size; void *impl; };

struct plugin_1 {
    uint32_t abi, size;
    const char *name, *summary;
    int (*open)(const void *host, void **state, char *why, size_t why_size);
    void (*close)(void *state);
    void (*job_exec)(void *state, const void *check, struct answer_1 *answer);
    void (*job_exec_many)(void *state, const void *checks, int n, struct answer_1 *answers);
};

static void done(void *state, const void *check, struct answer_1 *answer)
{
    (void)state, (void)check;
    answer->kind = 1;
    strcpy(answer->text, "old");
}

__attribute__((visibility("default"))) const struct plugin_1 prescient_plugin = {
    .abi = 1,
    .size = sizeof(struct plugin_1),
    .name = "old_abi",
    .summary = "built long ago",
    .job_exec = done,
};
