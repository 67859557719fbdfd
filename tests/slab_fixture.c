/* slab_fixture.c - a slab as both processes see it, and checks to put into it. */
#include "slab_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct slab_fixture slabfx = { .fd = -1 };

void slabfx_begin(int64_t start_until_us)
{
    struct err err;
    CU_ASSERT_EQUAL_FATAL(slab_new(&slabfx.engine, &slabfx.fd, &err), 0);
    CU_ASSERT_EQUAL_FATAL(slab_attach(slabfx.fd, &slabfx.worker, &err), 0);
    slabfx.arena = arena_new(4096);
    slab_reset(slabfx.engine, 1000, start_until_us);
}

void slabfx_end(void)
{
    slab_free(slabfx.engine);
    slab_free(slabfx.worker);
    close(slabfx.fd);
    arena_free(slabfx.arena);
}

struct check slabfx_check(const char *key, const char *payload)
{
    return (struct check){
        .id = 7,
        .first_check_at = 900,
        .next_check_at = 960,
        .check_count = 2,
        .failure_count = 1,
        .entity_name = "orders",
        .entity_name_len = 6,
        .entity_key = key,
        .entity_key_len = (uint32_t)strlen(key),
        .job_exec = "job",
        .job_exec_len = 3,
        .payload = payload,
        .payload_len = payload ? (uint32_t)strlen(payload) : 0,
    };
}

bool slabfx_put(const char *key, int job, bool single)
{
    struct check check = slabfx_check(key, NULL);
    return slab_put(slabfx.engine, &check, job, single);
}

void slabfx_claim_all(int n)
{
    int from, got;
    for (int i = 0; i < n; i++)
        slabfx_put("42", 0, false);
    slab_open(slabfx.engine);
    for (int i = 0; i < n; i++)
        CU_ASSERT_EQUAL(slab_claim(slabfx.worker, 1, 0, &from, &got), SLAB_CLAIMED);
}

char *slabfx_json(size_t size)
{
    char *json = malloc(size + 1);
    memset(json, ' ', size);
    json[0] = '1';
    json[size] = '\0';
    return json;
}
