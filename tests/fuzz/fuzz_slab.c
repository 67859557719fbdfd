/* fuzz_slab.c - a worker that writes anything into its slab. The records of the answers, the claim
 * word and the heap are the input; what the engine takes out of it is in order, stays within
 * bounds of memory, and is the same when it is asked for again. It includes slab.c, so that the
 * input lies where the records are and not somewhere in two megabytes. */
#include "../../engine/wire/slab.c"

#include "fuzz.h"

enum { CHECKS = 6 };

static struct slab *slab, *hostile;         /* the engine's and the worker's mapping of the same memory */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    int fd;
    (void)argc, (void)argv;
    MUST(slab_new(&slab, &fd, NULL) == 0 && slab_attach(fd, &hostile, NULL) == 0);
    close(fd);
    return 0;
}

static void put_checks(void)
{
    const struct check check = {
        .id = 7,
        .first_check_at = 900,
        .next_check_at = 900,
        .entity_name = "orders",
        .entity_name_len = 6,
        .entity_key = "42",
        .entity_key_len = 2,
        .job_exec = "late",
        .job_exec_len = 4,
    };
    slab_reset(slab, 1000, 100);
    for (int i = 0; i < CHECKS; i++)
        MUST(slab_put(slab, &check, 0, false));
    slab_open(slab);
}

/* What was there before is forgotten: a finding depends on its input alone. */
static void scribble(struct input *in)
{
    struct shared *m = hostile->shared;
    memset(m->out, 0, 4096);
    memset(m->out + SLAB_OUT_BYTES - 4096, 0, 4096);
    memset(m->answers, 0, sizeof m->answers);
    atomic_store(&m->claim, (uint64_t)input_number(in, 1) << 32 | input_number(in, 1));
    /* now and then a number that only a hostile worker comes up with */
    uint8_t odd = input_u8(in);
    if (odd & 1)
        atomic_store(&m->claim, (uint64_t)input_i64(in));
    size_t at = odd & 2 ? SLAB_OUT_BYTES - input_number(in, 1) : 0;
    for (int i = 0; i < CHECKS; i++) {
        size_t n = in->left < sizeof m->answers[i] ? in->left : sizeof m->answers[i];
        memcpy(&m->answers[i], in->p, n);
        in->p += n;
        in->left -= n;
        atomic_store(&m->state[i], odd & 4 << i % 4 ? slab_generation(slab) : slab_generation(slab) - 1);
    }
    size_t room = SLAB_OUT_BYTES - at, n = in->left < room ? in->left : room;
    memcpy(m->out + at, in->p, n);
}

static void check_answer(const struct raw_answer *got)
{
    MUST(got->kind >= -1 && got->kind <= PRESCIENT_BROKEN);
    MUST(got->kind >= 0 || (got->text && got->neffects == 0));
    MUST(!got->text || (strlen(got->text) <= SLAB_TEXT_MAX && utf8_is_valid(got->text, strlen(got->text))));
    MUST(got->run_us >= 0 && got->began_us >= 0);
    MUST(got->neffects >= 0 && got->neffects <= ANSWER_EFFECTS_MAX);
    for (int i = 0; i < got->neffects; i++)
        MUST(effect_check(&got->effects[i], NULL) == 0);
}

static void take_all(struct arena *a)
{
    for (int i = -1; i <= CHECKS; i++) {
        struct raw_answer got, again;
        if (!slab_take_answer(slab, i, a, &got)) {
            MUST(!slab_is_answered(slab, i));
            continue;
        }
        MUST(i >= 0 && i < slab_end(slab));
        check_answer(&got);
        MUST(slab_take_answer(slab, i, a, &again));
        MUST(again.kind == got.kind || got.kind == -1);
        MUST(again.kind != got.kind || again.neffects == got.neffects);
    }
    MUST(arena_used(a) < 16 * SLAB_OUT_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, size };
    struct arena *a = arena_new(4096);
    put_checks();
    scribble(&in);
    int claimed = slab_claimed(slab);
    MUST(claimed >= 0 && claimed <= CHECKS);
    take_all(a);
    int cut = slab_cut(slab);
    MUST(cut == claimed && slab_claimed(slab) == cut && slab_end(slab) == cut);
    take_all(a);
    arena_free(a);
    return 0;
}
