// Runs a harness over the files named as arguments: the seed corpus as an ordinary test.
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>

enum { INPUT_BYTES_MAX = 1 << 20 };

static int run_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = malloc(INPUT_BYTES_MAX);
    size_t size = file == NULL || bytes == NULL ? 0 : fread(bytes, 1, INPUT_BYTES_MAX, file);
    int failed = file == NULL || bytes == NULL || ferror(file) != 0;
    if (failed) {
        (void)fprintf(stderr, "cannot read %s\n", path);
    } else {
        (void)LLVMFuzzerTestOneInput(bytes, size);
    }
    free(bytes);
    if (file != NULL) {
        (void)fclose(file);
    }
    return failed;
}

int main(int argc, char **argv)
{
    int failed = argc < 2;
    for (int i = 1; i < argc; i++) {
        failed |= run_file(argv[i]);
    }
    (void)printf("%d inputs\n", argc - 1);
    return failed;
}
