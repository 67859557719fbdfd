/* fault.c - see fault.h. Only what cannot depend on a value counts for the job: one row that is
 * wrong must not keep the others from being asked about. */
#include "fault.h"

#include <string.h>

#include "../base/err.h"

/* SQLSTATEs, or the classes that they begin with. */
static const char *const of_job[] = {
    "08",                           /* no connection */
    "28",                           /* who we are is refused */
    "3D",                           /* no such database */
    "3F",                           /* no such schema */
    "42",                           /* the statement is wrong, or a right, a table or a column is missing */
    "53",                           /* no room, no memory, too many connections */
    "57P",                          /* the server stops or starts */
};

bool fault_is_of_job(int code, const char *sqlstate)
{
    if (code == ERR_LOST)
        return true;
    for (size_t i = 0; i < sizeof of_job / sizeof *of_job; i++)
        if (!strncmp(sqlstate, of_job[i], strlen(of_job[i])))
            return true;
    return false;
}
