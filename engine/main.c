/* main.c - the program: a worker when an engine started it, else the command that argv names. */
#include <string.h>
#include "cmd/launch.h"
#include "wire/message.h"
#include "worker/worker.h"

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "worker"))     /* an engine started us */
        return worker_main(WORKER_SOCK);
    return launch_main(argc, argv);
}
