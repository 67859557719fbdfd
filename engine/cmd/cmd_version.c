/* prescient version - this program and the libraries it stands on. */
#include <jansson.h>
#include <libconfig.h>
#include <sqlite3.h>
#include "../../include/prescient/job.h"
#include "../pg/libpq.h"
#include "command.h"
#include "help.h"
#include "report.h"

static int version_main(struct app *app, const struct args *args);

const struct command cmd_version = {
    .name = "version", .group = COMMAND_PROGRAM,
    .args = "",
    .help = "print the version, and those of the libraries",
    .examples = "prescient version",
    .main = version_main,
    .plain = true,
};

static int version_main(struct app *app, const struct args *args)
{
    (void)args;
    char libpq[32] = "none", libconfig[32];
    if (libpq_load(NULL) == 0)
        snprintf(libpq, sizeof libpq, "%d.%d", PQlibVersion() / 10000, PQlibVersion() % 10000);
    snprintf(libconfig, sizeof libconfig, "%d.%d.%d", LIBCONFIG_VER_MAJOR, LIBCONFIG_VER_MINOR,
             LIBCONFIG_VER_REVISION);
    if (!app->json) {
        fprintf(app->out, "prescient %s\njob ABI %u, libpq %s, SQLite %s, libconfig %s, jansson %s\n",
                version_text(), PRESCIENT_ABI, libpq, sqlite3_libversion(), libconfig, JANSSON_VERSION);
        return EXIT_WELL;
    }
    json_t *object = json_pack("{s:s, s:i, s:s, s:s, s:s, s:s}", "version", version_text(), "job_abi",
                               (int)PRESCIENT_ABI, "libpq", libpq, "sqlite", sqlite3_libversion(),
                               "libconfig", libconfig, "jansson", JANSSON_VERSION);
    if (report_made(app, object))
        json_dumpf(object, app->out, 0);
    fputc('\n', app->out);
    json_decref(object);
    return EXIT_WELL;
}
