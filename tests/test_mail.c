/* test_mail.c - mails as they go over the wire, and addresses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../jobs/shared/answers/unreached.h"
#include "../jobs/email/mailbox.c"
#include "../jobs/email/message.c"
#include "test.h"

static const struct mailbox from = { "Shop", "shop@example.com" };

static bool writes(const struct message *m, const char *expected)
{
    char *found = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&found, &size);
    int rc = message_write(m, out);
    fclose(out);
    bool same = !rc && !strcmp(found, expected);
    if (!same)
        fprintf(stderr, "found:\n%s\nexpected:\n%s\n", found, expected);
    free(found);
    return same;
}

#define HEAD "Date: Sun, 01 Mar 2026 13:15:00 +0000\r\nFrom: \"Shop\" <shop@example.com>\r\n"
#define MIDDLE "Message-ID: <cafe@example.com>\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
#define PLAIN "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
#define HTML "Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"

static struct message plain(const char *subject, const char *text)
{
    return (
        struct message){ .key = "cafe", .now = 1772370900, .from = &from, .subject = subject, .text = text };
}

static bool writes_text(const char *text, const char *expected)
{
    char whole[4096];
    struct message m = plain("x", text);
    snprintf(whole, sizeof whole, HEAD "Subject: x\r\n" MIDDLE PLAIN "%s", expected);
    return writes(&m, whole);
}

static bool writes_subject(const char *subject, const char *expected)
{
    char whole[4096];
    struct message m = plain(subject, "");
    snprintf(whole, sizeof whole, HEAD "Subject: %s\r\n" MIDDLE PLAIN "\r\n", expected);
    return writes(&m, whole);
}

static void a_text_is_quoted_printable(void)
{
    CU_ASSERT_TRUE(writes_text("", "\r\n"));
    CU_ASSERT_TRUE(writes_text("a", "a\r\n"));
    CU_ASSERT_TRUE(writes_text("a\nb\r\nc\rd\n", "a\r\nb\r\nc\r\nd\r\n"));
    CU_ASSERT_TRUE(writes_text("\n\n", "\r\n\r\n"));
    CU_ASSERT_TRUE(writes_text("ä=1\x01", "=C3=A4=3D1=01\r\n"));
    CU_ASSERT_TRUE(writes_text("a \nb\t", "a=20\r\nb=09\r\n"));
    CU_ASSERT_TRUE(writes_text(".\n..\nFrom me\na.F", "=2E\r\n=2E.\r\n=46rom me\r\na.F\r\n"));
}

static void long_lines_go_on_after_a_sign(void)
{
    char text[200], expected[220];
    memset(text, 'x', 150);
    strcpy(text + 150, "");
    snprintf(expected, sizeof expected, "%.75s=\r\n%.75s\r\n", text, text);
    CU_ASSERT_TRUE(writes_text(text, expected));
    strcpy(text + 74, "ä.");
    snprintf(expected, sizeof expected, "%.74s=\r\n=C3=A4.\r\n", text);
    CU_ASSERT_TRUE(writes_text(text, expected));
    strcpy(text + 74, "x.y");
    text[74] = 'x';
    snprintf(expected, sizeof expected, "%.75s=\r\n=2Ey\r\n", text);
    CU_ASSERT_TRUE(writes_text(text, expected));
}

static void headers_that_are_no_ascii_are_words(void)
{
    CU_ASSERT_TRUE(writes_subject("Order 42", "Order 42"));
    CU_ASSERT_TRUE(writes_subject("Zoë, \"A\"", "=?UTF-8?Q?Zo=C3=AB=2C_=22A=22?="));
    CU_ASSERT_TRUE(writes_subject("=?UTF-8?Q?x?=", "=?UTF-8?Q?=3D=3FUTF-8=3FQ=3Fx=3F=3D?="));
    CU_ASSERT_TRUE(writes_subject("a\tb", "=?UTF-8?Q?a=09b?="));
    CU_ASSERT_TRUE(writes_subject("ääääääääääää", "=?UTF-8?Q?=C3=A4=C3=A4=C3=A4=C3=A4=C3=A4=C3=A4=C3=A4=C3=A4"
                                                  "=C3=A4?=\r\n =?UTF-8?Q?=C3=A4=C3=A4=C3=A4?="));
}

static void plain_headers_are_folded_at_blanks(void)
{
    char text[200], expected[220];
    memset(text, 'x', sizeof text);
    strcpy(text + 69, " yyy");          /* "Subject: " and 69: a line is full */
    snprintf(expected, sizeof expected, "%.69s\r\n yyy", text);
    CU_ASSERT_TRUE(writes_subject(text, expected));
    strcpy(text + 65, " yyy");
    CU_ASSERT_TRUE(writes_subject(text, text));
    memset(text, 'x', sizeof text);
    strcpy(text + 150, "  y");          /* without a blank it stays as it is */
    snprintf(expected, sizeof expected, "%.150s\r\n  y", text);
    CU_ASSERT_TRUE(writes_subject(text, expected));
    memset(text, ' ', sizeof text);
    text[0] = 'x', text[190] = '\0';    /* no line has only blanks */
    CU_ASSERT_TRUE(writes_subject(text, text));
}

static void references_are_never_words(void)
{
    static char ids[4001], out[16384];
    for (int i = 0; i < 40; i++)
        sprintf(ids + i * 100, "<=?%093d@x> ", i);
    ids[3999] = '\0';
    const struct message_header headers[] = { { .name = "References", .value = ids, .is_plain = true } };
    struct message m = plain("x", "");
    m.headers = headers, m.nheaders = 1;
    FILE *f = fmemopen(out, sizeof out, "w");
    CU_ASSERT_EQUAL(message_write(&m, f), 0);
    fclose(f);
    CU_ASSERT_PTR_NULL(strstr(out, "=?UTF-8"));
    CU_ASSERT_PTR_NOT_NULL(strstr(out, "39@x>\r\n"));
    for (const char *line = out, *end; (end = strstr(line, "\r\n")); line = end + 2)
        CU_ASSERT_TRUE(end - line <= 130);
}

static void what_cannot_be_folded_is_not_plain(void)
{
    char text[2001];
    CU_ASSERT_TRUE(message_is_plain(""));
    CU_ASSERT_TRUE(message_is_plain("a  =?b "));
    CU_ASSERT_FALSE(message_is_plain("ä"));
    CU_ASSERT_FALSE(message_is_plain("a\tb"));
    memset(text, 'x', sizeof text);
    text[900] = '\0';
    CU_ASSERT_TRUE(message_is_plain(text));
    text[900] = 'x', text[901] = '\0';
    CU_ASSERT_FALSE(message_is_plain(text));
    text[500] = ' ';
    CU_ASSERT_TRUE(message_is_plain(text));
    memset(text + 500, ' ', 1000);
    text[1500] = '\0';
    CU_ASSERT_FALSE(message_is_plain(text));
}

static void no_line_is_too_long(void)
{
    static char subject[3001], out[16384];
    memset(subject, 'x', 3000);
    struct message m = plain(subject, subject);
    FILE *f = fmemopen(out, sizeof out, "w");
    CU_ASSERT_EQUAL(message_write(&m, f), 0);
    fclose(f);
    for (const char *line = out, *end; (end = strstr(line, "\r\n")); line = end + 2)
        CU_ASSERT_TRUE(end - line <= 78);
}

static void all_that_can_be_in_a_mail(void)
{
    static const struct mailbox to[] = { { "", "a@example.com" }, { "Zoë", "b@example.com" } };
    static const struct mailbox cc[] = { { "C. D.", "c@example.com" } };
    static const char longest[] = "X-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    struct mailbox back[2] = { to[0], to[1] };
    const struct message_header headers[] = { { .name = "X-Team", .value = "Köln" },
                                              { .name = "X-Empty", .value = "" },
                                              { .name = "Reply-To", .list = back, .nlist = 2 },
                                              { .name = "Sender", .list = back, .nlist = 0 },
                                              { .name = longest, .value = "ä" } };
    struct message m = plain("x", "t");
    m.html = "<p>";
    m.to = to, m.nto = 2, m.cc = cc, m.ncc = 1, m.headers = headers, m.nheaders = 5;
    CU_ASSERT_TRUE(writes(
        &m, HEAD "To: a@example.com,\r\n =?UTF-8?Q?Zo=C3=AB?=\r\n <b@example.com>\r\n"
                 "Cc: \"C. D.\" <c@example.com>\r\nSubject: x\r\n" MIDDLE
                 "X-Team: =?UTF-8?Q?K=C3=B6ln?=\r\nX-Empty: \r\n"
                 "Reply-To: a@example.com,\r\n =?UTF-8?Q?Zo=C3=AB?=\r\n <b@example.com>\r\n"
                 "X-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: \r\n =?UTF-8?Q?=C3=A4?=\r\n"
                 "Content-Type: multipart/alternative; boundary=\"=_cafe\"\r\n\r\n"
                 "--=_cafe\r\n" PLAIN "t\r\n--=_cafe\r\n" HTML "<p>\r\n--=_cafe--\r\n"));
    m = plain("x", NULL);
    m.html = "h";
    CU_ASSERT_TRUE(writes(&m, HEAD "Subject: x\r\n" MIDDLE HTML "h\r\n"));
}

static void what_cannot_be_written_is_no_mail(void)
{
    struct message m = plain("x", "t");
    FILE *full = fopen("/dev/full", "w");
    setvbuf(full, NULL, _IONBF, 0);
    CU_ASSERT_EQUAL(message_write(&m, full), -1);
    fclose(full);
}

/* ---- addresses ---- */

static bool reads(const char *text, const char *name, const char *address)
{
    struct mailbox m;
    const char *wrong = mailbox_read(text, &m);
    bool same = !wrong && !strcmp(m.name, name) && !strcmp(m.address, address);
    if (!same)
        fprintf(stderr, "%s: %s\n", text, wrong ? wrong : m.address);
    return same;
}

static void an_address_has_a_name_or_none(void)
{
    CU_ASSERT_TRUE(reads("a@example.com", "", "a@example.com"));
    CU_ASSERT_TRUE(reads(" \ta.b+c@x-y.example ", "", "a.b+c@x-y.example"));
    CU_ASSERT_TRUE(reads("Zoë D. <z@example.com>", "Zoë D.", "z@example.com"));
    CU_ASSERT_TRUE(reads("\"D., Zoë\" < z@example.com > ", "D., Zoë", "z@example.com"));
    CU_ASSERT_TRUE(reads("<z@example.com>", "", "z@example.com"));
}

static void what_is_no_single_address_is_refused(void)
{
    static const char *const none[] = {
        "",
        "a",
        "@b",
        "a@",
        "a@b@c",
        "a@b, c@d",
        "a b@c",
        "a@b c",
        "a@b>",
        "<a@b",
        "a@b> <c@d>",
        "a@.b",
        "a@b.",
        "a@b..c",
        ".a@b",
        "a.@b",
        "ä@b.c",
        "a@ä.de",
        "a@b\r\nc",
        "a\"b@c",
        "x\r\nBcc: y <a@b>",
        "a <b> <c@d>",
        "\\ <a@b>",
        "a@[127.0.0.1]",
    };
    struct mailbox m;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (!mailbox_read(none[i], &m))
            CU_FAIL(none[i]);
    char longer[400];
    memset(longer, 'a', sizeof longer);
    strcpy(longer + 65, "@example.com");
    CU_ASSERT_PTR_NOT_NULL(mailbox_read(longer, &m));
    memset(longer, 'a', sizeof longer);
    strcpy(longer + 260, "@example.com");
    CU_ASSERT_PTR_NOT_NULL(mailbox_read(longer, &m));
    memset(longer, 'a', sizeof longer);
    strcpy(longer + 260, " <a@example.com>");
    CU_ASSERT_PTR_NOT_NULL(mailbox_read(longer, &m));
}

/* It may be starting: one more try, then the job waits with all its checks. */
static void a_server_that_cannot_be_reached_fails_a_check_once(void)
{
    char text[60] = "";
    struct prescient_check check = { .size = sizeof check };
    struct prescient_answer answer = { .size = sizeof answer, .text = text, .text_size = sizeof text };
    answer_unreached(&check, &answer, "smtp://h", "refused");
    CU_ASSERT_EQUAL(answer.kind, PRESCIENT_FAIL);
    CU_ASSERT_STRING_EQUAL(text, "smtp://h: refused");
    check.failure_count = 1;
    answer_unreached(&check, &answer, "smtp://h", "refused");
    CU_ASSERT_EQUAL(answer.kind, PRESCIENT_BROKEN);
    CU_ASSERT_STRING_EQUAL(text, "smtp://h: refused");
}

static const struct test tests[] = {
    TEST(a_text_is_quoted_printable),
    TEST(long_lines_go_on_after_a_sign),
    TEST(headers_that_are_no_ascii_are_words),
    TEST(plain_headers_are_folded_at_blanks),
    TEST(references_are_never_words),
    TEST(what_cannot_be_folded_is_not_plain),
    TEST(no_line_is_too_long),
    TEST(all_that_can_be_in_a_mail),
    TEST(what_cannot_be_written_is_no_mail),
    TEST(an_address_has_a_name_or_none),
    TEST(what_is_no_single_address_is_refused),
    TEST(a_server_that_cannot_be_reached_fails_a_check_once),
    { 0 },
};

const struct suite suite_mail = { "mail", NULL, NULL, tests };
