/* fuzz_csv.c - any bytes as CSV: limits hold, lines go forward, and the records do not depend on
 * how the bytes were read. */
#include "../../engine/cmd/csv.h"
#include "fuzz.h"

static const struct csv_limits limits = { .field_bytes = 64, .record_bytes = 128, .fields = 5 };

struct source { const uint8_t *bytes; size_t len, pos, step; };

static ssize_t source_read(void *ctx, char *buf, size_t size, struct err *err)
{
    struct source *s = ctx;
    (void)err;
    size_t n = s->len - s->pos;
    n = n < size ? n : size;
    n = s->step && n > s->step ? s->step : n;
    memcpy(buf, s->bytes + s->pos, n);
    s->pos += n;
    return (ssize_t)n;
}

static void check_record(const struct csv_record *r)
{
    size_t all = 0;
    MUST(r->n >= 1 && r->n <= limits.fields);
    for (int i = 0; i < r->n; i++) {
        size_t len = strlen(r->fields[i]);
        MUST(len <= limits.field_bytes);
        all += len;
    }
    MUST(all <= limits.record_bytes);
}

/* What csv_next said, one line a record; with the first byte's place, so that a difference can be
 * found. */
static char *read_all(const uint8_t *bytes, size_t len, size_t step)
{
    struct source s = { .bytes = bytes, .len = len, .step = step };
    struct csv *c = csv_new(source_read, &s, &limits);
    struct csv_record r;
    struct err err = { 0 };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    int64_t line = 0;
    int rc;
    while ((rc = csv_next(c, &r, &err)) != 0) {
        MUST(rc == 1 || rc == ERR_DATA);
        MUST(r.line > line && csv_line(c) >= r.line);
        line = r.line;
        fprintf(out, "%lld%c", (long long)r.line, rc < 0 ? '!' : ':');
        if (rc < 0) {
            MUST(err.code == ERR_DATA && err.text[0]);
            fputs(err.text, out);
        } else {
            check_record(&r);
            for (int i = 0; i < r.n; i++)
                fprintf(out, "%s|", r.fields[i]);
        }
        fputc('\n', out);
    }
    MUST(csv_next(c, &r, &err) == 0);
    csv_free(c);
    fclose(out);
    return text;
}

/* Going on at a line is the same as having read everything before it. */
static void skip(const uint8_t *bytes, size_t len, int64_t to)
{
    struct source s = { .bytes = bytes, .len = len };
    struct csv *c = csv_new(source_read, &s, &limits);
    struct err err;
    MUST(csv_skip_to(c, to, &err) == 0);
    MUST(csv_line(c) <= to || to < 1);
    csv_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *whole = read_all(data, size, 0), *bytewise = read_all(data, size, 1),
         *threes = read_all(data, size, 3);
    MUST(!strcmp(whole, bytewise));
    MUST(!strcmp(whole, threes));
    for (int64_t line = 0; line < 4; line++)
        skip(data, size, line);
    free(whole);
    free(bytewise);
    free(threes);
    return 0;
}
