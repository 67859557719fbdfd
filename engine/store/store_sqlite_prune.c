/* store_sqlite_prune.c - what is old goes, some thousand rows a transaction, so that engines and applications get their turn. */
#include "store_sqlite_calls.h"

static const struct {
    enum lite_statement drop, count;
} prunes[] = {
    { LITE_prune_history, LITE_prune_history_count },
    { LITE_prune_runs, LITE_prune_runs_count },
    { LITE_prune_passes, LITE_prune_passes_count },
    { LITE_prune_events, LITE_prune_events_count },
};

static int count_old(struct lite *db, int which, int64_t before_us, int64_t *dropped, struct err *err)
{
    return lite_number(db, err, dropped, prunes[which].count, "i", before_us);
}

static int drop_old(struct lite *db, int which, int64_t before_us, int64_t *dropped, struct err *err)
{
    int64_t n;
    do {
        lite_start_clock(db, true);
        int rc = lite_begin(db, err);
        n = rc < 0 ? rc : lite_run(db, err, prunes[which].drop, "i", before_us);
        rc = n < 0 ? (int)n : lite_commit(db, err);
        if (rc < 0)
            return rc;
        *dropped += n;
    } while (n > 0);
    return 0;
}

int lite_prune(struct store *st, int64_t before, bool dry_run, struct prune_counts *out, struct err *err)
{
    struct lite *db = (struct lite *)st;
    int64_t *const counts[] = { &out->history, &out->runs, &out->passes, &out->events };
    lite_start_clock(db, true);
    int rc = lite_connect(db, err);
    for (int i = 0; i < (int)(sizeof prunes / sizeof *prunes) && rc == 0; i++)
        rc = dry_run ? count_old(db, i, before * 1000000, counts[i], err) : drop_old(db, i, before * 1000000, counts[i], err);
    lite_settle_down(db);
    return rc;
}
