/* test_zones.c - the zones that an engine has read: each once, looked for again where it was
 * missing, and read anew when its file has changed. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../engine/run/zones.h"
#include "tzif_fixture.h"

static void a_zone_is_read_once(void)
{
    struct zones zones = { 0 };
    struct err err;
    const struct zone *utc = zones_find(&zones, "UTC", 1, &err);
    CU_ASSERT_PTR_NOT_NULL(utc);
    CU_ASSERT_PTR_EQUAL(zones_find(&zones, "UTC", 2, &err), utc);
    CU_ASSERT_PTR_NULL(zones_find(&zones, "Mars/Olympus", 3, &err));
    CU_ASSERT_PTR_NULL(zones_find(&zones, "Mars/Olympus", 4, &err));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "Mars/Olympus"));
    CU_ASSERT_EQUAL(zones.n, 1);
    zones_release(&zones);
}

static void find_missing(struct zones *zones, int n, int64_t now_us)
{
    char name[ZONE_NAME_MAX + 1];
    struct err err = { 0 };
    snprintf(name, sizeof name, "Mars/Crater_%d", n);
    CU_ASSERT_PTR_NULL(zones_find(zones, name, now_us, &err));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, name));
    CU_ASSERT_EQUAL(err.code, ERR_INPUT);
}

/* Looking for one costs a walk over all of tzdata, for the name that was probably meant. */
static void zones_that_are_missing_are_looked_for_once_a_minute_each(void)
{
    struct zones zones = { 0 };
    for (int64_t i = 0; i < 1000; i++)
        find_missing(&zones, (int)i % ZONES_MISSING_MAX, 1 + i);
    CU_ASSERT_EQUAL(zones.reads, ZONES_MISSING_MAX);
    for (int64_t i = 0; i < 1000; i++)
        find_missing(&zones, (int)i % 2, 60 * 1000 * 1000 + 1000 + i);
    CU_ASSERT_EQUAL(zones.reads, ZONES_MISSING_MAX + 2);
    CU_ASSERT_EQUAL(zones.nmissing, ZONES_MISSING_MAX);
    zones_release(&zones);
}

static void no_more_than_so_many_missing_zones_are_remembered(void)
{
    struct zones zones = { 0 };
    for (int i = 0; i < ZONES_MISSING_MAX + 10; i++)
        find_missing(&zones, i, 1 + i);
    CU_ASSERT_EQUAL(zones.nmissing, ZONES_MISSING_MAX);
    int64_t reads = zones.reads;
    for (int i = 10; i < ZONES_MISSING_MAX + 10; i++)
        find_missing(&zones, i, 1000);
    CU_ASSERT_EQUAL(zones.reads, reads);        /* the oldest ten were given up */
    find_missing(&zones, 0, 1000);
    CU_ASSERT_EQUAL(zones.reads, reads + 1);
    zones_release(&zones);
}

/* A zone of that offset in the file, in place of what was there: as an update of tzdata does. */
static void put_zone(const char *folder, int32_t offset_s)
{
    char path[128], aside[128];
    unsigned char bytes[TZIF_ROOM] = { 0 };
    struct tzif zone = { .offset_s = { offset_s }, .footer = "" };
    snprintf(path, sizeof path, "%s/Mars", folder);
    snprintf(aside, sizeof aside, "%s/Mars.new", folder);
    FILE *f = fopen(aside, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    size_t size = offset_s < 0 ? 3 : tzif_write(&zone, bytes);      /* cut off */
    CU_ASSERT_EQUAL(fwrite(bytes, 1, size, f), size);
    CU_ASSERT_EQUAL(fclose(f), 0);
    CU_ASSERT_EQUAL(rename(aside, path), 0);
}

static int32_t offset_at(struct zones *zones, int64_t now_s)
{
    struct err err = { 0 };
    const struct zone *z = zones_find(zones, "Mars", now_s * 1000000, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(z);
    return zone_span(z, 0).offset_s;
}

static void a_zone_whose_file_has_changed_is_read_again_within_a_minute(void)
{
    char folder[] = "/tmp/prescient-zones.XXXXXX", path[128];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    struct zones zones = { .folder = folder };
    put_zone(folder, 3600);
    CU_ASSERT_EQUAL(offset_at(&zones, 1), 3600);
    put_zone(folder, 7200);
    CU_ASSERT_EQUAL(offset_at(&zones, 60), 3600);
    CU_ASSERT_EQUAL(offset_at(&zones, 61), 7200);
    put_zone(folder, -1);
    CU_ASSERT_EQUAL(offset_at(&zones, 121), 7200);
    put_zone(folder, 1800);
    CU_ASSERT_EQUAL(offset_at(&zones, 181), 1800);
    snprintf(path, sizeof path, "%s/Mars", folder);
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_EQUAL(offset_at(&zones, 241), 1800);
    CU_ASSERT_EQUAL(zones.n, 1);
    zones_release(&zones);
    CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static const struct test tests[] = {
    TEST(a_zone_is_read_once),
    TEST(zones_that_are_missing_are_looked_for_once_a_minute_each),
    TEST(no_more_than_so_many_missing_zones_are_remembered),
    TEST(a_zone_whose_file_has_changed_is_read_again_within_a_minute),
    { NULL, NULL },
};

const struct suite suite_zones = { .name = "zones", .tests = tests };
