/* fault.h - whose fault it is that a query failed: that of the job, whatever row it asks about, or
 * that of the one row. */
#ifndef PRESCIENT_FAULT_H
#define PRESCIENT_FAULT_H

#include <stdbool.h>

/* `code` is an ERR_, `sqlstate` what the database gave; "" when it gave none. True: a right, a
 * table, a column or the database itself is missing, and the next row would fare no better. */
bool fault_is_of_job(int code, const char *sqlstate);

#endif
