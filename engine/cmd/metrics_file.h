/* metrics_file.h - metrics in a file, as the textfile collector of node_exporter reads it: written
 * beside it and put in its place, so that nobody reads half of it. */
#ifndef PRESCIENT_METRICS_FILE_H
#define PRESCIENT_METRICS_FILE_H

#include "../base/log.h"
#include "../store/store_report.h"

struct metrics_file { const char *path; struct log *log; };

/* `ctx` is a struct metrics_file. `rows`: of the report `metrics`; NULL: the store is away. That it
 * cannot be written is logged. */
void metrics_file_write(void *ctx, const struct store_rows *rows);

#endif
