/* test_migrate.c - which migrations are applied, in what order, and what is refused: over a dialect
 * that is an array. */
#include "test.h"

#include <stdio.h>
#include <string.h>
#include "../engine/store/migrate.h"

static const struct sql_migration steps[] = {
    { 1, "0001_init", "one" },
    { 2, "0002_more", "-- oldest engine: 1\ntwo" },
    { 3, "0003_last", "three" },
    { 0, NULL, NULL },
};

/* A database: what is committed, and the transaction that is open. */
struct fake {
    struct fake_row {
        int version, oldest_engine;
        char sha256[CHECKSUM_SIZE + 8];
    } rows[10], pending[10];
    int n, npending;
    bool in_transaction;
    char calls[1000];           /* the names of the calls, in order */
    char reported[200];         /* what options.applied was called with */
    const char *fails;          /* the call that fails: "begin", "apply2" */
    int other_applies;          /* begin: another process has just applied this migration */
    bool completes;             /* the dialect has something to do when all steps are applied */
    const char *names;          /* of the steps that were applied; NULL: those of `steps` */
};

static struct fake db;
static struct err error;

static void note(char *log, size_t size, const char *name, int version)
{
    size_t used = strlen(log);
    const char *space = used ? " " : "";
    if (version)
        snprintf(log + used, size - used, "%s%s%d", space, name, version);
    else
        snprintf(log + used, size - used, "%s%s", space, name);
}

static int call(struct fake *f, const char *name, int version, struct err *err)
{
    char full[50] = "";
    note(f->calls, sizeof f->calls, name, version);
    note(full, sizeof full, name, version);
    if (f->fails && !strcmp(f->fails, full))
        return err_set(err, ERR_BUSY, "%s failed", full);
    return 0;
}

static void add(struct fake *f, int version, int oldest_engine, const char *text)
{
    struct fake_row *row = &f->rows[f->n++];
    *row = (struct fake_row){ .version = version, .oldest_engine = oldest_engine };
    fingerprint_checksum(text, row->sha256);
}

static int fake_begin(void *ctx, struct err *err)
{
    struct fake *f = ctx;
    int rc = call(f, "begin", 0, err);
    if (rc < 0)
        return rc;
    CU_ASSERT_FALSE(f->in_transaction);
    f->in_transaction = true;
    if (f->other_applies == f->n + 1) {
        f->other_applies = 0;
        add(f, steps[f->n].version, migrate_oldest_engine(&steps[f->n]), steps[f->n].text);
    }
    return 0;
}

static int fake_commit(void *ctx, struct err *err)
{
    struct fake *f = ctx;
    CU_ASSERT(f->in_transaction);
    f->in_transaction = false;
    int rc = call(f, "commit", 0, err);
    for (int i = 0; rc >= 0 && i < f->npending; i++)
        f->rows[f->n++] = f->pending[i];
    f->npending = 0;
    return rc;
}

static void fake_rollback(void *ctx)
{
    struct fake *f = ctx;
    call(f, "rollback", 0, &(struct err){ 0 });
    f->in_transaction = false;
    f->npending = 0;
}

static int fake_read_state(void *ctx, struct migrate_state *out, struct err *err)
{
    struct fake *f = ctx;
    for (int i = 0; i < f->n; i++) {
        out->is_there = true;
        if (f->rows[i].version > out->version)
            out->version = f->rows[i].version;
        if (f->rows[i].oldest_engine > out->oldest_engine)
            out->oldest_engine = f->rows[i].oldest_engine;
    }
    out->is_unreleased = f->names && migrate_is_unreleased(steps, f->names);
    return call(f, "state", 0, err);
}

static int fake_find(void *ctx, int version, struct migrate_applied *out, struct err *err)
{
    struct fake *f = ctx;
    CU_ASSERT(f->n > 0);                /* without a table of migrations there is nothing to ask */
    int rc = call(f, "find", version, err);
    if (rc < 0)
        return rc;
    for (int i = 0; i < f->n; i++)
        if (f->rows[i].version == version) {
            snprintf(out->sha256, sizeof out->sha256, "%s", f->rows[i].sha256);
            snprintf(out->name, sizeof out->name, "row %d", i);
            return 1;
        }
    return 0;
}

static int fake_apply(void *ctx, const char *text, struct err *err)
{
    CU_ASSERT(((struct fake *)ctx)->in_transaction);
    int which = 0;
    while (steps[which].text != text)
        which++;
    return call(ctx, "apply", steps[which].version, err);
}

static int fake_record(void *ctx, const struct migrate_notes *notes, struct err *err)
{
    struct fake *f = ctx;
    for (int i = 0; i < notes->n; i++) {
        struct fake_row *row = &f->pending[f->npending++];
        *row = (struct fake_row){ .version = notes->versions[i], .oldest_engine = notes->oldest_engines[i] };
        snprintf(row->sha256, sizeof row->sha256, "%s", notes->sha256s[i]);
    }
    return call(f, "record", notes->versions[notes->n - 1], err);
}

static int fake_complete(void *ctx, struct err *err)
{
    CU_ASSERT(((struct fake *)ctx)->in_transaction);
    return call(ctx, "complete", 0, err);
}

static int fake_refuse_unreleased(void *ctx, struct err *err)
{
    (void)ctx;
    return migrate_refuse_unreleased("the fake", "rm", err);
}

static int fake_refuse_newer(void *ctx, const struct migrate_state *found, struct err *err)
{
    (void)ctx;
    return err_set(err, ERR_SCHEMA, "newer: %d", found->oldest_engine);
}

static int fake_refuse_changed(void *ctx, const struct sql_migration *m, const struct migrate_applied *found,
                               const char *sha256, struct err *err)
{
    (void)ctx;
    CU_ASSERT_STRING_NOT_EQUAL(found->sha256, sha256);
    return err_set(err, ERR_SCHEMA, "changed: %s, %s", m->name, found->name);
}

static struct migrate_dialect fake_dialect = {
    .begin = fake_begin,
    .commit = fake_commit,
    .rollback = fake_rollback,
    .read_state = fake_read_state,
    .find = fake_find,
    .apply = fake_apply,
    .record = fake_record,
    .refuse_newer = fake_refuse_newer,
    .refuse_unreleased = fake_refuse_unreleased,
    .refuse_changed = fake_refuse_changed,
};

static void applied(void *ctx, int version, const char *name)
{
    struct fake *f = ctx;
    CU_ASSERT_STRING_EQUAL(steps[version - 1].name, name);
    CU_ASSERT_FALSE(f->in_transaction);
    note(f->reported, sizeof f->reported, "step", version);
}

static int run(bool dry_run)
{
    struct migrate_options options = { .dry_run = dry_run, .applied = applied, .ctx = &db };
    db.calls[0] = db.reported[0] = '\0';
    err_clear(&error);
    fake_dialect.complete = db.completes ? fake_complete : NULL;
    return migrate_run(&fake_dialect, &db, steps, &options, &error);
}

static void begin(int n_applied)
{
    db = (struct fake){ 0 };
    for (int i = 0; i < n_applied; i++)
        add(&db, steps[i].version, migrate_oldest_engine(&steps[i]), steps[i].text);
}

static void an_empty_database_gets_every_step_in_one_transaction(void)
{
    begin(0);
    CU_ASSERT_EQUAL(run(false), 3);
    CU_ASSERT_STRING_EQUAL(db.calls, "state begin state apply1 apply2 apply3 record3 commit");
    CU_ASSERT_STRING_EQUAL(db.reported, "step1 step2 step3");
    CU_ASSERT_EQUAL(db.n, 3);
}

static void what_completes_a_new_schema_is_part_of_its_transaction(void)
{
    begin(0);
    db.completes = true;
    CU_ASSERT_EQUAL(run(false), 3);
    CU_ASSERT_PTR_NOT_NULL(strstr(db.calls, "record3 complete commit"));
    begin(1);
    db.completes = true;
    CU_ASSERT_EQUAL(run(false), 2);
    CU_ASSERT_PTR_NULL(strstr(db.calls, "complete"));
}

static void later_steps_have_a_transaction_each(void)
{
    begin(1);
    CU_ASSERT_EQUAL(run(false), 2);
    CU_ASSERT_STRING_EQUAL(db.calls, "state begin state find1 commit "
                                     "begin state find2 apply2 record2 commit "
                                     "begin state find3 apply3 record3 commit");
    CU_ASSERT_STRING_EQUAL(db.reported, "step2 step3");
}

/* The first look found nothing; inside the transaction there is a step. */
static void a_database_that_another_process_fills_meanwhile_gets_what_it_lacks(void)
{
    begin(0);
    db.other_applies = 1;
    CU_ASSERT_EQUAL(run(false), 2);
    CU_ASSERT_STRING_EQUAL(db.reported, "step2 step3");
    CU_ASSERT_PTR_NULL(strstr(db.calls, "apply1"));
    CU_ASSERT_EQUAL(db.n, 3);
}

static void a_second_run_applies_nothing(void)
{
    begin(0);
    CU_ASSERT_EQUAL(run(false), 3);
    CU_ASSERT_EQUAL(run(false), 0);
    CU_ASSERT_PTR_NULL(strstr(db.calls, "apply"));
    CU_ASSERT_STRING_EQUAL(db.reported, "");
}

static void only_what_is_missing_is_applied(void)
{
    begin(2);
    CU_ASSERT_EQUAL(run(false), 1);
    CU_ASSERT_STRING_EQUAL(db.reported, "step3");
}

static void each_row_has_the_checksum_and_the_oldest_engine_of_its_text(void)
{
    char sha256[CHECKSUM_SIZE];
    static const int oldest[] = { 1, 1, 3 };
    begin(0);
    CU_ASSERT_EQUAL(run(false), 3);
    for (int i = 0; i < 3; i++) {
        fingerprint_checksum(steps[i].text, sha256);
        CU_ASSERT_STRING_EQUAL(db.rows[i].sha256, sha256);
        CU_ASSERT_EQUAL(db.rows[i].oldest_engine, oldest[i]);
    }
}

static void a_step_that_another_process_applied_meanwhile_is_not_applied_again(void)
{
    begin(1);
    db.other_applies = 2;
    CU_ASSERT_EQUAL(run(false), 1);
    CU_ASSERT_STRING_EQUAL(db.reported, "step3");
    CU_ASSERT_PTR_NULL(strstr(db.calls, "apply2"));
    CU_ASSERT_EQUAL(db.n, 3);
}

static void a_dry_run_reports_what_is_missing_and_begins_nothing(void)
{
    begin(0);
    CU_ASSERT_EQUAL(run(true), 3);
    CU_ASSERT_STRING_EQUAL(db.calls, "state");
    CU_ASSERT_STRING_EQUAL(db.reported, "step1 step2 step3");
    begin(1);
    CU_ASSERT_EQUAL(run(true), 2);
    CU_ASSERT_STRING_EQUAL(db.calls, "state find1 find2 find3");
    CU_ASSERT_STRING_EQUAL(db.reported, "step2 step3");
    CU_ASSERT_EQUAL(db.n, 1);
}

static void a_changed_step_is_refused_and_nothing_after_it_is_applied(void)
{
    begin(1);
    add(&db, 2, 1, "two, but otherwise");
    CU_ASSERT_EQUAL(run(true), ERR_SCHEMA);
    CU_ASSERT_STRING_EQUAL(error.text, "changed: 0002_more, row 1");
    CU_ASSERT_EQUAL(run(false), ERR_SCHEMA);
    CU_ASSERT_STRING_EQUAL(error.text, "changed: 0002_more, row 1");
    CU_ASSERT_STRING_EQUAL(db.calls, "state begin state find1 commit begin state find2 rollback");
    CU_ASSERT_EQUAL(db.n, 2);
}

static void a_checksum_with_something_after_it_is_another_one(void)
{
    begin(1);
    strcat(db.rows[0].sha256, "0");
    CU_ASSERT_EQUAL(run(false), ERR_SCHEMA);
    CU_ASSERT_STRING_EQUAL(error.text, "changed: 0001_init, row 0");
}

static void a_schema_that_serves_only_later_programs_is_refused(void)
{
    begin(3);
    add(&db, 9, 4, "nine");
    CU_ASSERT_EQUAL(run(false), ERR_SCHEMA);
    CU_ASSERT_STRING_EQUAL(error.text, "newer: 4");
    CU_ASSERT_STRING_EQUAL(db.calls, "state");
}

/* Of a program from before the first release: nothing leads from there to here. */
static void a_schema_that_other_migrations_have_made_is_refused(void)
{
    static const struct { const char *names; int n, rc; } cases[] = {
        { "0001_init 0002_more 0003_last", 3, 0 },
        { "0001_init 0002_more 0003_last 0004_later", 3, 0 },
        { "0001_init", 1, 2 },
        { "0001_init 0002_other", 2, ERR_SCHEMA },
        { "0001_init 0002_more_of_it 0003_last", 3, ERR_SCHEMA },
        { "0001_ini", 1, ERR_SCHEMA },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(cases[i].n);
        db.names = cases[i].names;
        if (cases[i].rc != 2)
            CU_ASSERT_EQUAL(run(true), cases[i].rc);
        CU_ASSERT_EQUAL(run(false), cases[i].rc);
        CU_ASSERT_EQUAL(strstr(error.text, "the fake was made by an unreleased version") != NULL,
                        cases[i].rc < 0);
    }
    begin(1);
    add(&db, 80, 80, "eighty");
    db.names = "0001_init 0080_of_before";
    CU_ASSERT_EQUAL(run(false), ERR_SCHEMA);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "dump what you need, drop it (rm), and run `prescient init`"));
    CU_ASSERT_STRING_EQUAL(db.calls, "state");
}

static void a_later_schema_that_serves_this_program_is_left_as_it_is(void)
{
    begin(3);
    add(&db, 9, 3, "nine");
    CU_ASSERT_EQUAL(run(false), 0);
    CU_ASSERT_EQUAL(db.n, 4);
}

static void a_schema_outgrown_while_steps_are_applied_ends_the_run(void)
{
    begin(1);
    db.fails = "apply2";
    CU_ASSERT_EQUAL(run(false), ERR_BUSY);
    add(&db, 9, 9, "nine");
    db.fails = NULL;
    CU_ASSERT_EQUAL(run(false), ERR_SCHEMA);
    CU_ASSERT_EQUAL(db.n, 2);
}

/* `call` fails, where `there` steps are applied: what its transaction wrote is undone, what was
 * committed stays, a later run goes on. */
static void fails_at(const char *call, const char *message, int there, int kept)
{
    begin(there);
    db.completes = true;
    db.fails = call;
    CU_ASSERT_EQUAL(run(false), ERR_BUSY);
    CU_ASSERT_STRING_EQUAL(error.text, message);
    CU_ASSERT_EQUAL(db.n, kept);
    CU_ASSERT_FALSE(db.in_transaction || db.npending > 0);
    db.fails = NULL;
    CU_ASSERT_EQUAL(run(false), 3 - kept);
    CU_ASSERT_EQUAL(db.n, 3);
}

static void a_failure_in_an_empty_database_leaves_it_empty(void)
{
    fails_at("apply1", "migration 0001_init: apply1 failed", 0, 0);
    fails_at("apply2", "migration 0002_more: apply2 failed", 0, 0);
    fails_at("record3", "migration 0003_last: record3 failed", 0, 0);
    fails_at("complete", "complete failed", 0, 0);
    fails_at("state", "state failed", 0, 0);
    fails_at("begin", "begin failed", 0, 0);
    fails_at("commit", "commit failed", 0, 0);
}

static void a_failure_undoes_its_step_and_keeps_those_before(void)
{
    fails_at("apply2", "migration 0002_more: apply2 failed", 1, 1);
    fails_at("record3", "migration 0003_last: record3 failed", 1, 2);
    fails_at("find2", "find2 failed", 1, 1);
    fails_at("find3", "find3 failed", 1, 2);
    fails_at("begin", "begin failed", 1, 1);
}

static void a_failed_commit_is_not_rolled_back_and_not_reported(void)
{
    begin(0);
    db.fails = "commit";
    CU_ASSERT_EQUAL(run(false), ERR_BUSY);
    CU_ASSERT_PTR_NOT_NULL(strstr(db.calls, "record3 commit"));
    CU_ASSERT_PTR_NULL(strstr(db.calls, "rollback"));
    CU_ASSERT_STRING_EQUAL(db.reported, "");
}

static void a_program_works_with_schemas_that_serve_it(void)
{
    static const struct { struct migrate_state found; enum migrate_fit fit; } cases[] = {
        { { true, 3, 3, false }, MIGRATE_FITS },
        { { true, 3, 1, false }, MIGRATE_FITS },
        { { true, 9, 3, false }, MIGRATE_FITS },
        { { true, 9, 4, false }, MIGRATE_OUTGROWN },
        { { true, 9, 4, true }, MIGRATE_UNRELEASED },
        { { true, 2, 2, true }, MIGRATE_UNRELEASED },
        { { true, 2, 2, false }, MIGRATE_BEHIND },
        { { false, 0, 0, false }, MIGRATE_BEHIND },
    };
    CU_ASSERT_EQUAL(migrate_newest(steps), 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_EQUAL(migrate_fit(steps, &cases[i].found), cases[i].fit);
}

static const struct test tests[] = {
    TEST(an_empty_database_gets_every_step_in_one_transaction),
    TEST(what_completes_a_new_schema_is_part_of_its_transaction),
    TEST(later_steps_have_a_transaction_each),
    TEST(a_database_that_another_process_fills_meanwhile_gets_what_it_lacks),
    TEST(a_second_run_applies_nothing),
    TEST(only_what_is_missing_is_applied),
    TEST(each_row_has_the_checksum_and_the_oldest_engine_of_its_text),
    TEST(a_step_that_another_process_applied_meanwhile_is_not_applied_again),
    TEST(a_dry_run_reports_what_is_missing_and_begins_nothing),
    TEST(a_changed_step_is_refused_and_nothing_after_it_is_applied),
    TEST(a_checksum_with_something_after_it_is_another_one),
    TEST(a_schema_that_serves_only_later_programs_is_refused),
    TEST(a_schema_that_other_migrations_have_made_is_refused),
    TEST(a_later_schema_that_serves_this_program_is_left_as_it_is),
    TEST(a_schema_outgrown_while_steps_are_applied_ends_the_run),
    TEST(a_failure_in_an_empty_database_leaves_it_empty),
    TEST(a_failure_undoes_its_step_and_keeps_those_before),
    TEST(a_failed_commit_is_not_rolled_back_and_not_reported),
    TEST(a_program_works_with_schemas_that_serve_it),
    { NULL, NULL },
};

const struct suite suite_migrate = { .name = "migrate", .tests = tests };
