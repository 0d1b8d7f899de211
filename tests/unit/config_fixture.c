#include "tests/unit/config_fixture.h"

#include "tests/test.h"
#include "workloads/config_json.h"

#include <stdlib.h>

struct status config_fixture_read(struct model_counts *counts, const char *text, size_t size)
{
    struct model *model = calloc(1, sizeof *model);
    assert_non_null(model);
    struct status status = config_read_model(model, text, size, "x.json", "x");
    if (counts != NULL && status.code == STATUS_OK) {
        model_count(counts, model);
    }
    if (status.code != STATUS_OK) {
        assert_int_equal(model->d, 0); // no partial model
    }
    free(model);
    return status;
}
