/* store_pg_sql.c - the statements of the PostgreSQL store: blocks of store_pg.sql put together,
 * with the schema in. One row a statement; {word} in a block stands for another block, and for the
 * settle which one depends on its variant. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded_sql.h"
#include "store_pg.h"

struct statement { const char *block, *name, *letters; int variant; };

#define SETTLE_LETTERS "miiulto" "tLLIIHTNLHTHbii"
#define SETTLE_OF(at, block, suffix, letters, mixed)                                                         \
    [(at) + (mixed)] = { block, block suffix, letters, mixed },                                              \
            [(at) + (mixed) + 1] = { block, block "_slot" suffix, letters, (mixed) | PG_OF_SLOT },           \
            [(at) + (mixed) + 2] = { block, block "_skip" suffix, letters, (mixed) | PG_SKIP_LOCKED },       \
            [(at) + (mixed) + 3] = { block, block "_slot_skip" suffix, letters,                              \
                                     (mixed) | PG_OF_SLOT | PG_SKIP_LOCKED }
#define SETTLE(at, block, letters)                                                                           \
    SETTLE_OF(at, block, "", letters, 0), SETTLE_OF(at, block, "_mixed", letters, PG_MIXED)

#define WITH_CAREFUL_FORM(at, block, letters)                                                                \
    [at] = { block, block, letters, 0 },                                                                     \
    [(at)-PG_OPEN_SLOT + PG_CAREFUL_FORMS] = { block, block "_careful", letters, PG_CAREFUL }

static const struct statement statements[PG_STATEMENTS] = {
    [PG_PATH] = { "path", "path", "", 0 },
    [PG_OWNERS] = { "owners", "owners", "t", 0 },
    [PG_CHECK] = { "check", "check", "i", 0 },
    [PG_HELLO] = { "hello", "hello", "", 0 },
    WITH_CAREFUL_FORM(PG_OPEN_SLOT, "open_slot", "miutiibTtIULNiiol"),
    [PG_RENEW] = { "renew", "renew", "MIULit", 0 },
    [PG_RELEASE] = { "release", "release", "MIULt", 0 },
    WITH_CAREFUL_FORM(PG_READ_PAGE, "read_page", "miililll"),
    WITH_CAREFUL_FORM(PG_READ_SLOT, "read_slot", "miililll"),
    WITH_CAREFUL_FORM(PG_READ_HEAVY_PAGE, "read_heavy_page", "miililll"),
    WITH_CAREFUL_FORM(PG_READ_HEAVY_SLOT, "read_heavy_slot", "miililll"),
    [PG_READING] = { "reading", "reading", "t", 0 },
    [PG_LATE_SLOT_BESIDE] = { "late_slot_beside", "late_slot_beside", "mm", 0 },
    [PG_PULSE] = { "pulse", "pulse", "", 0 },
    [PG_KEPT] = { "kept", "kept", "T", 0 },
    [PG_RENUMBER] = { "renumber", "renumber", "miultil", 0 },
    [PG_UNREADABLE] = { "unreadable", "unreadable", "mii", 0 },
    SETTLE(PG_SETTLE_END, "settle_end", SETTLE_LETTERS),
    SETTLE(PG_SETTLE_MOVE, "settle_move", SETTLE_LETTERS "MM"),
    [PG_EFFECTS] = { "effects", "effects", "moLIITTTTTMT", 0 },
    [PG_FINISH] = { "finish", "finish", "miultbTtLiilbl", 0 },
    [PG_FINISH + PG_OF_SLOT] = { "finish", "finish_slot", "miultbTtLiilbl", PG_OF_SLOT },
    WITH_CAREFUL_FORM(PG_RELOOK, "relook", "ib"),
    WITH_CAREFUL_FORM(PG_LATE_SLOT, "late_slot", "mm"),
    WITH_CAREFUL_FORM(PG_LATE_SLOT_FROM_MARK, "late_slot_from_mark", "m"),
    WITH_CAREFUL_FORM(PG_MARK_SWEPT, "mark_swept", "lb"),
    [PG_KEEP_DAYS] = { "keep_days", "keep_days", "i", 0 },
    [PG_PRUNE_DAY] = { "prune_day", "prune_day", "tm", 0 },
    [PG_PRUNE_DAYS_COUNT] = { "prune_days_count", "prune_days_count", "tm", 0 },
    [PG_PRUNE_PASSES] = { "prune_passes", "prune_passes", "m", 0 },
    [PG_PRUNE_PASSES_COUNT] = { "prune_passes_count", "prune_passes_count", "m", 0 },
    [PG_PRUNE_WHO] = { "prune_who", "prune_who", "tm", 0 },
    [PG_PRUNE_CLAIM] = { "prune_claim", "prune_claim", "i", 0 },
    [PG_ENQUEUE] = { "enqueue", "enqueue", "tttttttt", 0 },
    [PG_RESOLVE] = { "resolve", "resolve", "tttt", 0 },
    [PG_RESCHEDULE] = { "reschedule", "reschedule", "ttttt", 0 },
};

/* Words whose block depends on the variant; "" is nothing. All others are the block of the same
 * name. */
static const struct { const char *word, *blocks[8];
} choices[] = {
    { "rows",
      { "rows_of_bucket", "rows_of_slot", "rows_of_bucket", "rows_of_slot", "rows_of_bucket_mixed",
        "rows_of_slot_mixed", "rows_of_bucket_mixed", "rows_of_slot_mixed" } },
    { "as_read",
      { "as_read_by_counts", "as_read_in_place", "as_read_by_counts", "as_read_in_place", "as_read_in_place",
        "as_read_in_place", "as_read_in_place", "as_read_in_place" } },
    { "chosen",
      { "rows_of_bucket", "rows_of_slot", "unlocked_rows", "unlocked_rows", "rows_of_bucket_mixed",
        "rows_of_slot_mixed", "unlocked_rows", "unlocked_rows" } },
    { "unlocked", { "", "", "unlocked", "unlocked", "", "", "unlocked", "unlocked" } },
    { "rows_behind", { "behind_in_bucket", "behind_in_slot" } },
    { "still_there",
      { "nobody_asked", "nobody_asked", "still_there", "still_there", "nobody_asked", "nobody_asked",
        "still_there", "still_there" } },
};

const char *pg_letters(int statement) { return statements[statement].letters; }
const char *pg_statement_name(int statement) { return statements[statement].name; }

/* The block of this name, or in a careful form the one of its name and "_careful", if there is
 * one. */
static const char *block_named(const char *word, int variant)
{
    char careful[48];
    snprintf(careful, sizeof careful, "%s_careful", word);
    const char *block = variant & PG_CAREFUL ? sql_find(sql_pg, careful) : NULL;
    return block ? block : sql_find(sql_pg, word);
}

static const char *block_for(const char *word, int variant)
{
    if (strcmp(word, "durability") == 0 && !(variant & PG_RELAXED))
        return "";
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (strcmp(choices[i].word, word) == 0)
            word = choices[i].blocks[variant & (PG_OF_SLOT | PG_SKIP_LOCKED | PG_MIXED)];
    return *word ? block_named(word, variant) : "";
}

/* Replaces the innermost-first {word} by its block; a brace that encloses no word of lower case
 * letters stays as it is. */
static bool replace_word(FILE *out, const char **at, int variant)
{
    char word[32];
    size_t n = strspn(*at + 1, "abcdefghijklmnopqrstuvwxyz_");
    if (n == 0 || n >= sizeof word || (*at)[1 + n] != '}')
        return false;
    snprintf(word, sizeof word, "%.*s", (int)n, *at + 1);
    const char *block = block_for(word, variant);
    if (!block)
        return false;
    const char *brace;
    while ((brace = strchr(block, '{'))) {
        fwrite(block, 1, (size_t)(brace - block), out);
        block = brace;
        if (!replace_word(out, &block, variant))
            fputc(*block++, out);
    }
    fputs(block, out);
    *at += n + 2;
    return true;
}

char *pg_expand(struct pg_store *pg, const char *block, int variant)
{
    char *text = NULL, whole[40];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    snprintf(whole, sizeof whole, "{%s}", block);
    const char *at = whole;
    bool found = replace_word(out, &at, variant);
    if (fclose(out) != 0 || !found || !text) {
        free(text);
        return NULL;
    }
    char *sql = pg_with_schema(text, pg->schema);
    free(text);
    return sql;
}

/* "prescient." and "prescient_schema" stand for the schema. */
char *pg_with_schema(const char *sql, const char *schema)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    const char *next;
    for (; (next = strstr(sql, "prescient")); sql = next) {
        fwrite(sql, 1, (size_t)(next - sql), out);
        size_t word = strlen("prescient"), suffix = strlen("_schema");
        if (next[word] == '.' || strncmp(next + word, "_schema", suffix) == 0) {
            fputs(schema, out);
            next += next[word] == '.' ? word : word + suffix;
        } else {
            fwrite(next, 1, word, out);
            next += word;
        }
    }
    fputs(sql, out);
    return fclose(out) == 0 ? text : NULL;
}

const char *pg_sql(struct pg_store *pg, int statement)
{
    const struct statement *s = &statements[statement];
    if (!pg->sql[statement] &&
        (pg->sql[statement] = pg_expand(pg, s->block, s->variant | (pg->relaxed ? PG_RELAXED : 0))))
        pg_prepared_name(pg_statement_name(statement), pg->sql[statement], s->letters, pg->names[statement]);
    return pg->sql[statement];
}
