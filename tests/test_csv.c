/* test_csv.c - RFC 4180 and what people really write; every complaint with its line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../engine/cmd/csv.h"
#include "test.h"

/* hands out `step` bytes at a time */
struct text { const char *bytes; size_t len, pos, step; int fail; };

static ssize_t text_read(void *ctx, char *buf, size_t size, struct err *err)
{
    struct text *t = ctx;
    if (t->fail && t->pos == t->len)
        return err_set(err, t->fail, "the source failed");
    size_t n = t->len - t->pos;
    n = n < size ? n : size;
    n = t->step && n > t->step ? t->step : n;
    memcpy(buf, t->bytes + t->pos, n);
    t->pos += n;
    return (ssize_t)n;
}

static const struct csv_limits limits = { .field_bytes = 64, .record_bytes = 128, .fields = 5 };

static struct csv *open_text(struct text *t, const char *bytes)
{
    *t = (struct text){ .bytes = bytes, .len = strlen(bytes) };
    return csv_new(text_read, t, &limits);
}

/* The records of a text as "line:a|b\n", complaints as "line!words\n"; with `step` bytes a read. */
static char *read_all(const char *bytes, size_t len, size_t step)
{
    static char out[4096];
    struct text t = { .bytes = bytes, .len = len, .step = step };
    struct csv *c = csv_new(text_read, &t, &limits);
    struct csv_record r;
    struct err err = { 0 };
    char *o = out;
    int rc;
    *o = '\0';
    while ((rc = csv_next(c, &r, &err)) != 0) {
        o += sprintf(o, rc < 0 ? "%d!" : "%d:", (int)r.line);
        for (int i = 0; rc > 0 && i < r.n; i++)
            o += sprintf(o, "%s%s", i ? "|" : "", r.fields[i]);
        o += sprintf(o, "%s\n", rc < 0 ? err.text : "");
    }
    csv_free(c);
    return out;
}

#define READS(bytes, expected)                                                                 \
    do {                                                                                       \
        for (size_t step = 0; step < 4; step++) {                                              \
            const char *found = read_all(bytes, sizeof(bytes) - 1, step);                      \
            if (strcmp(found, expected) != 0)                                                  \
                printf("\nstep %zu found:\n%sexpected:\n%s", step, found, expected);           \
            CU_ASSERT_STRING_EQUAL(found, expected);                                           \
        }                                                                                      \
    } while (0)

static void plain_fields_are_split_at_commas(void)
{
    READS("a,b,c\nd,,f\n", "1:a|b|c\n2:d||f\n");
}

static void the_last_line_may_lack_its_newline(void)
{
    READS("a,b", "1:a|b\n");
    READS("a,", "1:a|\n");
    READS("\"a\"", "1:a\n");
}

static void crlf_ends_a_line_like_lf(void)
{
    READS("a,b\r\nc,\"d\"\r\n", "1:a|b\n2:c|d\n");
    READS("a\r", "1:a\n");
}

static void quotes_hold_commas_newlines_and_doubled_quotes(void)
{
    READS("\"a,b\",\"c\nd\",\"e\"\"f\"\ng\n", "1:a,b|c\nd|e\"f\n3:g\n");
    READS("\"\",\"\"\"\"\n", "1:|\"\n");
    READS("\"a\r\nb\"\n", "1:a\r\nb\n");
}

static void empty_lines_are_passed_over_and_counted(void)
{
    READS("\n\na\n\r\n\nb\n\n", "3:a\n6:b\n");
    READS("", "");
    READS("\n\n", "");
}

static void a_byte_order_mark_is_passed_over(void)
{
    READS("\xef\xbb\xbf" "a,b\n", "1:a|b\n");     /* also when a pipe hands it out in pieces */
    READS("\xef\xbb", "1:\xef\xbb\n");
    READS("a\n\xef\xbb\xbf" "b\n", "1:a\n2:\xef\xbb\xbf" "b\n");
}

static void blanks_belong_to_their_field(void)
{
    READS(" a , b\n", "1: a | b\n");
}

static void a_quote_inside_a_plain_field_is_refused_and_the_next_line_read(void)
{
    READS("a\"b,c\nd\n", "1!a quote inside field 1, which does not begin with one\n2:d\n");
}

static void text_behind_a_closing_quote_is_refused(void)
{
    READS("\"a\"b,c\nd\n",
          "1!field 1: 'b' after the closing quote; expected a comma or the end of the line\n2:d\n");
}

static void a_quote_that_is_never_closed_names_the_line_it_was_opened_on(void)
{
    READS("x\ny,\"a\nb\n", "1:x\n2!field 2: the quote opened on line 2 is never closed\n");
}

static void a_carriage_return_inside_a_field_is_refused(void)
{
    READS("a\rb,c\nd\n",
          "1!a carriage return inside field 1; expected it in quotes or at the end of the line\n2:d\n");
}

static void a_nul_byte_is_refused(void)
{
    READS("a,b\0c\nd\n", "1!a NUL byte in field 2; expected text\n2:d\n");
}

static void a_field_beyond_its_limit_is_refused_and_the_next_line_read(void)
{
    char text[256], *t = text;
    t += sprintf(t, "a,");
    memset(t, 'x', 65);
    strcpy(t + 65, "\nb\n");
    CU_ASSERT_STRING_EQUAL(read_all(text, strlen(text), 0),
                           "1!field 2 is longer than 64 bytes; is a quote not closed?\n2:b\n");
    memmove(t, t + 1, strlen(t));
    char *found = read_all(text, strlen(text), 0);
    CU_ASSERT_EQUAL(strncmp(found, "1:a|xxx", 7), 0);
}

static void a_record_beyond_its_limit_is_refused(void)
{
    char text[512], field[61];
    memset(field, 'y', 60);
    field[60] = '\0';
    sprintf(text, "%s,%s,%s\nb\n", field, field, field);
    CU_ASSERT_STRING_EQUAL(read_all(text, strlen(text), 0), "1!the record is longer than 128 bytes\n2:b\n");
}

static void too_many_fields_are_refused(void)
{
    READS("1,2,3,4,5\n1,2,3,4,5,6\nb\n", "1:1|2|3|4|5\n2!more than 5 fields\n3:b\n");
}

static void skipping_to_a_line_reads_on_from_there(void)
{
    struct text t;
    struct csv *c = open_text(&t, "h\na\n\"b\nb\"\nc\n");
    struct csv_record r;
    struct err err;
    CU_ASSERT_EQUAL(csv_next(c, &r, &err), 1);
    CU_ASSERT_EQUAL(csv_skip_to(c, 5, &err), 0);
    CU_ASSERT_EQUAL(csv_next(c, &r, &err), 1);
    CU_ASSERT_EQUAL(r.line, 5);
    CU_ASSERT_STRING_EQUAL(r.fields[0], "c");
    CU_ASSERT_EQUAL(csv_line(c), 6);
    csv_free(c);
}

static void skipping_past_the_end_finds_the_end(void)
{
    struct text t;
    struct csv *c = open_text(&t, "h\na\n");
    struct csv_record r;
    struct err err;
    CU_ASSERT_EQUAL(csv_skip_to(c, 50, &err), 0);
    CU_ASSERT_EQUAL(csv_next(c, &r, &err), 0);
    csv_free(c);
}

static void a_failing_source_ends_reading_with_its_own_words(void)
{
    struct text t = { .bytes = "a\nb", .len = 3, .fail = ERR_STOPPED };
    struct csv *c = csv_new(text_read, &t, &limits);
    struct csv_record r;
    struct err err = { 0 };
    CU_ASSERT_EQUAL(csv_next(c, &r, &err), 1);
    CU_ASSERT_EQUAL(csv_next(c, &r, &err), ERR_STOPPED);
    CU_ASSERT_STRING_EQUAL(err.text, "the source failed");
    csv_free(c);
}

static void a_file_larger_than_the_block_is_read_whole(void)
{
    enum { LINES = 20000 };
    char *text = malloc(LINES * 12), *t = text;
    for (int i = 0; i < LINES; i++)
        t += sprintf(t, "%d,\"x\"\n", i);
    struct text source = { .bytes = text, .len = (size_t)(t - text) };
    struct csv *c = csv_new(text_read, &source, &limits);
    struct csv_record r;
    struct err err;
    int n = 0;
    while (csv_next(c, &r, &err) == 1 && r.n == 2 && atoi(r.fields[0]) == n && r.line == n + 1)
        n++;
    CU_ASSERT_EQUAL(n, LINES);
    csv_free(c);
    free(text);
}

static const struct test tests[] = {
    TEST(plain_fields_are_split_at_commas),
    TEST(the_last_line_may_lack_its_newline),
    TEST(crlf_ends_a_line_like_lf),
    TEST(quotes_hold_commas_newlines_and_doubled_quotes),
    TEST(empty_lines_are_passed_over_and_counted),
    TEST(a_byte_order_mark_is_passed_over),
    TEST(blanks_belong_to_their_field),
    TEST(a_quote_inside_a_plain_field_is_refused_and_the_next_line_read),
    TEST(text_behind_a_closing_quote_is_refused),
    TEST(a_quote_that_is_never_closed_names_the_line_it_was_opened_on),
    TEST(a_carriage_return_inside_a_field_is_refused),
    TEST(a_nul_byte_is_refused),
    TEST(a_field_beyond_its_limit_is_refused_and_the_next_line_read),
    TEST(a_record_beyond_its_limit_is_refused),
    TEST(too_many_fields_are_refused),
    TEST(skipping_to_a_line_reads_on_from_there),
    TEST(skipping_past_the_end_finds_the_end),
    TEST(a_failing_source_ends_reading_with_its_own_words),
    TEST(a_file_larger_than_the_block_is_read_whole),
    { 0 }
};

const struct suite suite_csv = { .name = "csv", .tests = tests };
