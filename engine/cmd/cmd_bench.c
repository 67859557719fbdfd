/* prescient bench - measuring is a program of its own (bench/), so that none of it is in the one
 * that runs in production. */
#include "command.h"

const struct command cmd_bench = {
    .name = "bench", .group = COMMAND_PROGRAM,
    .args = "[load]",
    .help = "measure passes and enqueues beside the bare SQL; `bench load` replays a rush hour",
    .program = "prescient-bench",
};
