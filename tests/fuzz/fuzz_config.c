// Any bytes as a config.json: a model whose steps can be computed, or one printable line.
#include "roofline/step.h"
#include "tests/fuzz/fuzz.h"
#include "workloads/config_json.h"

#include <assert.h>
#include <math.h>

static void use_step(const struct model *model, enum step_phase phase, enum dtype_id dtype)
{
    struct step_request request = step_defaults(phase);
    struct step step;
    request.dtype = dtype;
    request.batch = 3;
    request.ubatch = 100;
    if (status_is_ok(step_compute(&step, model, &request))) {
        assert(isfinite(step.sum.flop) && step.sum.flop > 0);
        assert(isfinite(step.sum.bytes.requested) && isfinite(step.memory_bytes));
        assert(step.sum.flop_executed >= step.sum.flop);
        assert(step.sum.bytes.dram_lower_bound <= step.sum.bytes.requested);
    }
}

static void use_model(const struct model *model)
{
    struct model_counts counts;
    model_count(&counts, model);
    assert(counts.total > 0 && counts.total <= MODEL_ELEMENTS_MAX);
    assert(counts.active <= counts.total && counts.linear_active <= counts.linear);
    assert(counts.layers >= 1 && counts.layers <= MODEL_LAYERS_MAX);
    use_step(model, STEP_DECODE, DTYPE_STORED);
    use_step(model, STEP_PREFILL, DTYPE_STORED);
    use_step(model, STEP_PREFILL, DTYPE_Q4_K);
    use_step(model, STEP_DECODE, DTYPE_INT8);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static struct model model; // kept: fresh pages for each input would be most of the time
    struct status status = config_read_model(&model, (const char *)data, size, "fuzz.json", "fuzz");
    if (status_is_ok(status)) {
        use_model(&model);
    } else {
        assert(status.code == STATUS_INVALID && model.d == 0);
    }
    for (const char *c = status.detail; *c != '\0'; c++) {
        assert((unsigned char)*c >= 0x20 && *c != 0x7f);
    }
    return 0;
}
