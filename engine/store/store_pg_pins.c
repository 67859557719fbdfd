/* store_pg_pins.c - settings of a role, a database or a server that would change what the
 * statements of this program do or what they cost, and the values that they are pinned to. Those
 * that each message sets anew are in the statement `path`.
 *
 * Two more are refused and not pinned: default_transaction_isolation (pg_check_schema), because a
 * pooler's session keeps it, and default_transaction_read_only, by which an administrator keeps
 * everybody from writing (connect_defaults). A store that only reads turns that on itself. */
#include "store_pg.h"

static const struct { const char *name, *setting; } pins[] = {
    /* what a statement costs: plans that are made once, along indexes, and not compiled. A look
     * into an index of many pages and few rows seems dear enough to compile. */
    { "jit", "off" },
    { "plan_cache_mode", "auto" },
    { "enable_indexscan", "on" },
    { "enable_indexonlyscan", "on" },
    { "enable_bitmapscan", "on" },
    { "enable_nestloop", "on" },
    /* what it means, or how values are read and written */
    { "standard_conforming_strings", "on" },
    { "array_nulls", "on" },
    { "DateStyle", "ISO, MDY" },
    { "IntervalStyle", "postgres" },
    { "bytea_output", "hex" },
    { "extra_float_digits", "1" },
    { "TimeZone", "UTC" },
    /* how long a session may wait for this program, which reads a file or listens meanwhile */
    { "idle_in_transaction_session_timeout", "0" },
    { "idle_session_timeout", "0" },
    { "transaction_timeout", "0" },
    /* the last one: only of a store that reads only */
    { "default_transaction_read_only", "on" },
};
enum { PINS = sizeof pins / sizeof *pins };
_Static_assert((int)PINS <= (int)PG_PINS_MAX, "there is room for all");

struct pg_pin_in pg_pins(const struct pg_store *pg, const PGconn *conn, struct pg_pin_lists *room)
{
    int n = pg->reads_only ? PINS : PINS - 1;
    for (int i = 0; i < n; i++) {
        room->names[i] = pins[i].name;
        room->settings[i] = pins[i].setting;
    }
    /* behind a pooler, no process that answers is the one that we were told of */
    return (struct pg_pin_in){ .names = { n, room->names },
                               .settings = { n, room->settings },
                               .backend_pid = pg->pooled ? 0 : PQbackendPID(conn) };
}
