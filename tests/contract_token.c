/* contract_token.c - the store's contract: who may ask over HTTP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_contract.h"

static const char *digits_of(int n)
{
    static char text[2][65];
    static int which;
    which = !which;
    snprintf(text[which], sizeof text[which], "%064x", (unsigned)n);
    return text[which];
}

/* How many rows come back: 1, or 0 where there is one of that name. */
static int new_token(const char *name, const char *role, int digest, const char *lifetime_s)
{
    const char *params[] = { name, role, digits_of(digest), digits_of(digest + 1000), lifetime_s };
    return fixture_report("token_new", params, 5).rows;
}

static const char *all_tokens(void)
{
    static char text[512];
    struct store_rows rows = fixture_report("token_keys", NULL, 0);
    text[0] = '\0';
    for (int i = 0; i < rows.rows; i++) {
        const char *const *cells = &rows.cells[i * rows.columns];
        bool is_in_force = strchr("t1", *cells[2]);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s %s %s %s %s;", cells[0], cells[1],
                 is_in_force ? "on" : "over", cells[3] + 60, cells[4] + 60);
    }
    return text;
}

void a_token_is_kept_until_it_is_revoked(void)
{
    WITH_STORE();
    IS(1, new_token("shop", "enqueue", 1, NULL));
    IS(1, new_token("eye", "read", 2, "3600"));
    TEXT_IS("eye read on 0002 03ea;shop enqueue on 0001 03e9;", all_tokens());
    const char *name = "shop";
    struct store_rows rows = fixture_report("token_revoke", &name, 1);
    IS(1, rows.rows);
    TEXT_IS("1", rows.cells[1]);
    IS(0, fixture_report("token_revoke", &name, 1).rows);
    TEXT_IS("eye read on 0002 03ea;", all_tokens());
}

void a_name_has_one_token(void)
{
    WITH_STORE();
    IS(1, new_token("shop", "read", 1, NULL));
    IS(0, new_token("shop", "operate", 2, NULL));
    TEXT_IS("shop read on 0001 03e9;", all_tokens());
}

void a_token_that_has_expired_is_there_and_not_in_force(void)
{
    WITH_STORE();
    IS(1, new_token("shop", "operate", 1, "-1"));
    IS(1, new_token("till", "operate", 2, "3600"));
    TEXT_IS("shop operate over 0001 03e9;till operate on 0002 03ea;", all_tokens());
}

/* Where more than that were there, those behind them would let nobody in. */
void of_a_thousand_tokens_each_lets_somebody_in_and_no_more_are_made(void)
{
    enum { MOST = 1000 };
    WITH_STORE();
    char name[16];
    for (int i = 1; i <= MOST; i++) {
        snprintf(name, sizeof name, "t%d", i);
        IS(1, new_token(name, "read", 2 * MOST * i, NULL));
    }
    IS(0, new_token("more", "read", 1, NULL));
    const char *first = "t1";
    fixture_report("token_revoke", &first, 1);
    IS(1, new_token("more", "read", 1, NULL));
    IS(MOST, fixture_report("token_keys", NULL, 0).rows);
}

static int new_token_by(struct store *st)
{
    const char *params[] = { "till", "read", digits_of(1), digits_of(2), NULL };
    struct store_report r = STORE_REPORT_INIT;
    struct arena *a = arena_new(0);
    r.name = "token_new";
    r.params = params;
    r.nparams = sizeof params / sizeof *params;
    r.arena = a;
    int rc = store_do(st, &r.call);
    arena_free(a);
    return rc;
}

void a_store_that_only_reads_changes_nothing(void)
{
    WITH_STORE();
    struct store *reader = fixture_another((struct store_options){ .reads_only = true });
    CU_ASSERT_PTR_NOT_NULL_FATAL(reader);
    struct store_hello hello = STORE_HELLO_INIT;
    IS(0, store_do(reader, &hello.call));
    CU_ASSERT(hello.read_only);
    IS(ERR_LOST, new_token_by(reader));
    IS(0, fixture_report("token_keys", NULL, 0).rows);
    store_free(reader);
    IS(0, new_token_by(fixture_store()));
    IS(1, fixture_report("token_keys", NULL, 0).rows);
}

void what_is_no_token_is_refused(void)
{
    WITH_STORE();
    IS(-1, new_token("a b", "read", 1, NULL));
    IS(-1, new_token("", "read", 1, NULL));
    IS(-1, new_token("shop", "root", 1, NULL));
    const char *params[] = { "shop", "read", "12", digits_of(1), NULL };
    IS(-1, fixture_report("token_new", params, 5).rows);
    IS(1, new_token("shop", "read", 1, NULL));
    IS(-1, new_token("other", "read", 1, NULL));        /* the digest is there */
    TEXT_IS("shop read on 0001 03e9;", all_tokens());
}
