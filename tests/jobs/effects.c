/* effects - declares what the beginning of the entity key says ("emit", "enqueue", "resolve",
 * "bad_json", "big"), does not look whether that was refused, and answers DONE; "final" a final
 * FAIL. "notes" says what the host told it: setting, count, duration, idempotency key. */
#include <prescient/job.h>

#include <stdlib.h>
#include <string.h>

static int effects_open(const struct prescient_host *host, void **state, char *why, size_t why_size)
{
    (void)why, (void)why_size;
    (void)host->setting(host, "word"), (void)host->setting_count(host, "list");
    *state = (void *)host;
    return 0;
}

static void big(const struct prescient_host *host, struct prescient_answer *answer)
{
    size_t size = 60 * 1024;
    char *json = malloc(size + 1);
    memset(json, ' ', size);
    json[0] = '1';
    json[size] = '\0';
    host->emit(host, answer, "big", json);
    free(json);
}

static void notes(const struct prescient_host *host, const struct prescient_check *check,
                  struct prescient_answer *answer)
{
    const char *word = host->setting(host, "word");
    prescient_note(answer, "%s %d %lld %s", word ? word : "-", host->setting_count(host, "list"),
                   (long long)host->setting_duration(host, "list.1", -7), host->idempotency_key(host, check));
    host->log(host, PRESCIENT_LOG_WARN, "noted");
}

static void effects(void *state, const struct prescient_check *check, struct prescient_answer *answer)
{
    const struct prescient_host *host = state;
    const char *key = check->entity_key;
    prescient_done(answer);
    if (!strncmp(key, "emit", 4))
        host->emit(host, answer, "order.late", "{\"n\": 1}");
    else if (!strcmp(key, "enqueue for"))
        host->enqueue_check(host, answer, &(struct prescient_new_check){
            .size = sizeof(struct prescient_new_check), .entity_name = "orders", .entity_key = "43",
            .job = "other", .at = check->now + 60, .json = "[2]", .priority = -1,
            .concurrency_key = "project 7", .tenant = "acme" });
    else if (!strcmp(key, "enqueue short"))
        host->enqueue_check(host, answer, &(struct prescient_new_check){
            .size = offsetof(struct prescient_new_check, priority), .entity_name = "orders",
            .entity_key = "43", .job = "other", .at = check->now + 60, .conflict = "replace",
            .tenant = "of a later header" });
    else if (!strncmp(key, "enqueue", 7))
        host->enqueue(host, answer, "orders", "43", "other", check->now + 60, NULL, "earlier");
    else if (!strncmp(key, "resolve", 7))
        host->resolve(host, answer, "orders", "44", NULL);
    else if (!strncmp(key, "bad_json", 8))
        host->emit(host, answer, "order.late", "{");
    else if (!strncmp(key, "big", 3))
        big(host, answer);
    else if (!strncmp(key, "final", 5)) {
        prescient_fail_final(answer, "410 Gone");
        host->emit(host, answer, "order.late", "{");
    } else if (!strncmp(key, "notes", 5))
        notes(host, check, answer);
}

static void effects_many(void *state, const struct prescient_check *checks, int n,
                         struct prescient_answer *answers)
{
    for (int i = 0; i < n; i++)
        effects(state, &checks[i], &answers[i]);
}

PRESCIENT_PLUGIN(.name = "effects", .summary = "declares effects", .open = effects_open, .job_exec = effects,
                 .job_exec_many = effects_many);
