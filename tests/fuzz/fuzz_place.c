// The readers of other tools' output: rows of JSON, CSV and Markdown, then each tool's own words.
#include "profiler/place_tool.h"
#include "tests/fuzz/fuzz.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct status take(void *context, const struct place_row *row)
{
    const struct place_hints hints = {.dtype = DTYPE_NONE};
    (void)context;
    for (const struct place_tool *const *tool = place_tools(); *tool != NULL; tool++) {
        struct place_test tests[PLACE_TESTS_OF_ROW];
        size_t count = 0;
        memset(tests, 0, sizeof tests);
        if (!status_is_ok((*tool)->take(tests, &count, row, &hints))) {
            continue;
        }
        assert(count <= PLACE_TESTS_OF_ROW);
        for (size_t i = 0; i < count; i++) {
            assert(isfinite(tests[i].seconds) && tests[i].seconds > 0);
            assert(tests[i].batch > 0 && tests[i].prompt + tests[i].generated > 0);
        }
    }
    return status_ok();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    struct status status = place_rows_read(text, size, "fuzz", take, NULL);
    for (const char *c = status.detail; *c != '\0'; c++) {
        assert((unsigned char)*c >= 0x20 && *c != 0x7f);
    }
    free(text);
    return 0;
}
