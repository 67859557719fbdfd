/* fuzz_job_settings.c - a plug-in's own settings on their way into a worker: printed by the
 * engine, read by the worker, asked for by the plug-in. Whatever name it asks for, it is told what
 * stands in the file. The input is a settings group, a NUL byte, and a name to ask for. */
#include <libconfig.h>

#include "../../engine/worker/host.h"
#include "fuzz.h"
#include "../../engine/base/settings_load.h"
#include "../../engine/base/settings_print.h"

static char *file_of(const char *group)
{
    char *text = NULL;
    MUST(asprintf(&text, "jobs = { fuzz = { plugin = \"fuzz\"; settings = { %s }; }; };\n", group) > 0);
    return text;
}

static char *sent(const struct settings *s)
{
    struct err err = { 0 };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    MUST(settings_print(s, out, SETTINGS_BARE, true, &err) == 0);
    fclose(out);
    return text;
}

static bool is_same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static void compare(const struct prescient_host *here, const struct prescient_host *there, const char *name)
{
    MUST(is_same(here->setting(here, name), there->setting(there, name)));
    MUST(here->setting_count(here, name) == there->setting_count(there, name));
    MUST(here->setting_duration(here, name, 7) == there->setting_duration(there, name, 7));
}

/* Every member by its path, as deep as they go. */
static void compare_all(const struct prescient_host *here, const struct prescient_host *there,
                        const config_setting_t *node, const char *path)
{
    compare(here, there, path);
    for (int i = 0; config_setting_is_aggregate(node) && i < config_setting_length(node); i++) {
        const config_setting_t *member = config_setting_get_elem(node, (unsigned)i);
        char *deeper, number[16];
        snprintf(number, sizeof number, "%d", i);
        const char *part = config_setting_name(member) ? config_setting_name(member) : number;
        MUST(asprintf(&deeper, "%s%s%s", path, *path ? "." : "", part) > 0);
        if (strlen(deeper) < 2000)
            compare_all(here, there, member, deeper);
        free(deeper);
    }
}

static void ask(const struct settings *file, const struct settings *worker, const char *name)
{
    const struct host_services none = { 0 };
    struct host *here, *there;
    struct err err = { 0 };
    MUST(file->njobs == worker->njobs);
    for (int i = 0; i < file->njobs; i++) {
        MUST(host_new(&file->jobs[i], &none, &here, &err) == 0 &&
             host_new(&worker->jobs[i], &none, &there, &err) == 0);
        if (file->jobs[i].own)
            compare_all(host_api(here), host_api(there), file->jobs[i].own, "");
        compare(host_api(here), host_api(there), name);
        host_free(here);
        host_free(there);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct settings file, worker;
    struct err err = { 0 };
    char *group = malloc(size + 2);
    memcpy(group, data, size);
    group[size] = group[size + 1] = '\0';
    const char *name = group + strlen(group) + 1;       /* within: two NULs stand at the end */
    char *text = strstr(group, "@include") ? NULL : file_of(group);
    if (text && settings_parse(&file, text, "fuzz.cfg", &err) == 0) {
        char *on_its_way = sent(&file);
        MUST(settings_parse(&worker, on_its_way, "worker", &err) == 0);
        ask(&file, &worker, name < group + size ? name : "");
        settings_release(&worker);
        settings_release(&file);
        free(on_its_way);
    }
    free(text);
    free(group);
    return 0;
}
