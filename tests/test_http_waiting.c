/* test_http_waiting.c - who waits for an answer gets it in the order of asking, and once; whoever
 * goes takes nobody along. */
#include "../engine/http/waiting.h"
#include "test.h"

enum { CLIENTS = 4 };

struct fixture {
    struct waiting w;
    struct connection all[CLIENTS];
};

static void all_wait(struct fixture *f)
{
    waiting_init(&f->w);
    for (int i = 0; i < CLIENTS; i++) {
        f->all[i].sharers = NULL;
        waiting_put(&f->w, &f->all[i]);
    }
}

/* Takes all that wait, and those who share with them: as text, by their numbers. */
static void take_all(struct fixture *f, char out[2 * CLIENTS + 1])
{
    int n = 0;
    while (f->w.first && n < 2 * CLIENTS) {
        struct connection *c = waiting_take(&f->w);
        for (; c && n < 2 * CLIENTS; c = sharers_take(c))
            out[n++] = (char)('0' + (c - f->all));
    }
    out[n] = '\0';
}

#define TAKEN(f, wanted) do { \
    char taken_[2 * CLIENTS + 1]; \
    take_all(f, taken_); \
    CU_ASSERT_STRING_EQUAL(taken_, wanted); \
} while (0)

static void who_came_first_is_asked_for_first(void)
{
    static struct fixture f;
    all_wait(&f);
    TAKEN(&f, "0123");
    waiting_put(&f.w, &f.all[2]);
    TAKEN(&f, "2");
}

static void whoever_goes_leaves_the_others_in_their_order(void)
{
    static struct fixture f;
    for (int gone = 0; gone < CLIENTS; gone++) {
        static const char *const left[] = { "123", "023", "013", "012" };
        all_wait(&f);
        waiting_drop(&f.w, &f.all[gone]);
        TAKEN(&f, left[gone]);
    }
}

static void behind_the_last_one_that_has_gone_another_can_wait(void)
{
    static struct fixture f;
    all_wait(&f);
    waiting_drop(&f.w, &f.all[3]);
    waiting_put(&f.w, &f.all[3]);
    TAKEN(&f, "0123");
}

static void one_that_does_not_wait_need_not_be_dropped(void)
{
    static struct fixture f;
    all_wait(&f);
    waiting_take(&f.w);
    waiting_drop(&f.w, &f.all[0]);
    TAKEN(&f, "123");
}

static void who_shares_an_answer_gets_it_with_the_first(void)
{
    static struct fixture f;
    all_wait(&f);
    waiting_drop(&f.w, &f.all[3]);
    sharers_join(&f.all[1], &f.all[3]);
    TAKEN(&f, "0132");
}

static void when_the_first_goes_who_shares_asks_in_its_place(void)
{
    static struct fixture f;
    for (int leads = 0; leads < CLIENTS - 1; leads++) {
        static const char *const left[] = { "312", "032", "013" };
        all_wait(&f);
        waiting_drop(&f.w, &f.all[3]);
        sharers_join(&f.all[leads], &f.all[3]);
        waiting_drop(&f.w, &f.all[leads]);
        TAKEN(&f, left[leads]);
    }
}

static void in_the_place_of_the_last_one_it_is_the_last(void)
{
    static struct fixture f;
    waiting_init(&f.w);
    waiting_put(&f.w, &f.all[0]);
    f.all[0].sharers = f.all[1].sharers = NULL;
    sharers_join(&f.all[0], &f.all[1]);
    waiting_drop(&f.w, &f.all[0]);
    waiting_put(&f.w, &f.all[2]);
    f.all[2].sharers = NULL;
    TAKEN(&f, "12");
}

static void who_shares_may_go_alone(void)
{
    static struct fixture f;
    waiting_init(&f.w);
    f.all[0].sharers = NULL;
    waiting_put(&f.w, &f.all[0]);
    for (int i = 1; i < CLIENTS; i++)
        sharers_join(&f.all[0], &f.all[i]);
    sharers_drop(&f.all[0], &f.all[2]);
    sharers_drop(&f.all[0], &f.all[2]);
    sharers_drop(NULL, &f.all[2]);
    TAKEN(&f, "031");
}

static const struct test tests[] = {
    TEST(who_came_first_is_asked_for_first),
    TEST(whoever_goes_leaves_the_others_in_their_order),
    TEST(behind_the_last_one_that_has_gone_another_can_wait),
    TEST(one_that_does_not_wait_need_not_be_dropped),
    TEST(who_shares_an_answer_gets_it_with_the_first),
    TEST(when_the_first_goes_who_shares_asks_in_its_place),
    TEST(in_the_place_of_the_last_one_it_is_the_last),
    TEST(who_shares_may_go_alone),
    { NULL, NULL },
};

const struct suite suite_http_waiting = { .name = "http_waiting", .tests = tests };
