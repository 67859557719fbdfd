/* test_store_on_sqlite.c - the store's contract, kept by the SQLite store. */
/* about 4 s */
#include "store_contract.h"

static const struct test tests[] = { STORE_CONTRACT(TEST_ROW) { NULL, NULL } };

const struct suite suite_store_on_sqlite = { "store_on_sqlite", fixture_setup_sqlite, fixture_teardown,
                                             tests };
