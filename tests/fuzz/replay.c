/* replay.c - runs a target over the files of the folders that it is given, once each: what stands
 * in for libFuzzer where the compiler has none. Ends by a sanitizer's report or an abort when a
 * target finds something, else says how many inputs there were. */
#include <dirent.h>

#include "fuzz.h"

int __attribute__((weak)) LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}

static int run_file(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    if (!f) {
        perror(path);
        return -1;
    }
    uint8_t *data = malloc(1 << 20);
    size_t size = fread(data, 1, 1 << 20, f);
    uint8_t *exact = malloc(size + 1);          /* so that reading one byte past the input is seen */
    fclose(f);
    memcpy(exact, data, size);
    free(data);
    data = realloc(exact, size ? size : 1);
    fprintf(stdout, "%s\n", path);              /* the last line names the input that it ended with */
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int inputs = 0, failed = 0;
    LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        struct dirent **names;
        int n = scandir(argv[i], &names, NULL, alphasort);
        if (n < 0) {
            perror(argv[i]);
            failed = 1;
        }
        for (int k = 0; k < n; k++) {
            if (names[k]->d_name[0] != '.') {
                failed |= run_file(argv[i], names[k]->d_name) < 0;
                inputs++;
            }
            free(names[k]);
        }
        if (n >= 0)
            free(names);
    }
    printf("%d inputs\n", inputs);
    return failed || !inputs;
}
