/* no_exec - a plug-in that cannot answer: must be refused. */
#include <prescient/job.h>

PRESCIENT_PLUGIN(.name = "no_exec", .summary = "has no job_exec");
