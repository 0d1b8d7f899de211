// Any bytes as a GGUF file: a model whose steps can be computed, or one printable line.
#include "roofline/step.h"
#include "tests/fuzz/fuzz.h"
#include "workloads/gguf.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static void use_model(const struct model *model)
{
    struct model_counts counts;
    model_count(&counts, model);
    assert(counts.total <= MODEL_ELEMENTS_MAX && counts.active <= counts.total);
    assert(counts.layers >= 1 && counts.layers <= MODEL_LAYERS_MAX);
    for (int phase = STEP_DECODE; phase <= STEP_PREFILL; phase++) {
        struct step_request request = step_defaults((enum step_phase)phase);
        struct step step;
        if (status_is_ok(step_compute(&step, model, &request))) {
            assert(isfinite(step.sum.flop) && isfinite(step.sum.bytes.requested));
            assert(step.sum.bytes.weights <=
                   (double)model_weight_bytes(model, DTYPE_STORED) * (double)(1 + step.rows));
        }
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct model *model = calloc(1, sizeof *model);
    if (model == NULL) {
        return 0;
    }
    struct status status = gguf_read_model_memory(model, data, size, "fuzz.gguf");
    if (status_is_ok(status)) {
        use_model(model);
    } else {
        assert(status.code == STATUS_INVALID);
    }
    for (const char *c = status.detail; *c != '\0'; c++) {
        assert((unsigned char)*c >= 0x20 && *c != 0x7f);
    }
    free(model);
    return 0;
}
