/* test_store_on_pg.c - the store's contract, kept by the PostgreSQL store. */
/* about 12 s */
#include "store_contract.h"

static const struct test tests[] = { STORE_CONTRACT(TEST_ROW) { NULL, NULL } };

const struct suite suite_store_on_pg = { "store_on_pg", fixture_setup_pg, fixture_teardown, tests };
