#include "profiler/place_agree.h"

#include "roofline/units.h"

#include <inttypes.h>
#include <math.h>

// More than the three digits of llama-bench's tables round away, and than rotary tables or a
// second copy of small tensors (MLA's split kv_b) add to its count.
#define APART_FRACTION 0.03

static bool apart(double told, double expected)
{
    return fabs(told - expected) > APART_FRACTION * expected;
}

// A tool counts the tensors of its file: MTP layers and a copy of the embedding as head may be
// among them.
static struct status parameters_agree(const struct place_test *test, const struct model *model)
{
    struct model_counts counts;
    model_count(&counts, model);
    double total = (double)counts.total;
    double mtp = (double)counts.mtp;
    double copy = model->tied ? (double)counts.embedding : 0;
    if (!(test->parameters > 0) || !apart(test->parameters, total) ||
        !apart(test->parameters, total + mtp) || !apart(test->parameters, total + copy) ||
        !apart(test->parameters, total + mtp + copy)) {
        return status_ok();
    }
    char told[UNITS_TEXT];
    char given[UNITS_TEXT];
    return status_error(STATUS_INVALID,
                        "row %zu: -m %s has %s parameters, the file tells %s ('%s'); accepted the "
                        "model that the tool ran",
                        test->row, model->name, units_format_short(given, total, ""),
                        units_format_short(told, test->parameters, ""), test->model);
}

static struct status size_agrees(const struct place_test *test, const struct model *model)
{
    uint64_t stored = model_weight_bytes(model, DTYPE_STORED);
    if (model->origin != MODEL_FROM_GGUF || !(test->file_bytes > 0) ||
        !apart(test->file_bytes, (double)stored)) {
        return status_ok();
    }
    char told[UNITS_TEXT];
    char given[UNITS_TEXT];
    return status_error(STATUS_INVALID,
                        "row %zu: -m %s stores %s, the file tells %s ('%s'); accepted the GGUF "
                        "that the tool ran, or a config.json for files of any type",
                        test->row, model->name, units_format_binary(given, stored),
                        units_format_binary(told, (uint64_t)test->file_bytes), test->model);
}

static struct status hints_agree(const struct place_test *test, const struct place_hints *hints)
{
    if (hints->dtype != DTYPE_NONE && test->dtype != DTYPE_NONE && hints->dtype != test->dtype) {
        return status_error(STATUS_INVALID,
                            "row %zu: --dtype %s, but the file tells %s ('%s'); accepted no "
                            "--dtype, or the same",
                            test->row, dtype_name(hints->dtype), dtype_name(test->dtype),
                            test->model);
    }
    if (hints->threads != 0 && test->threads != 0 && hints->threads != test->threads) {
        return status_error(STATUS_INVALID,
                            "row %zu: --threads %" PRIu64 ", but the file tells %u; accepted no "
                            "--threads, or the same",
                            test->row, hints->threads, test->threads);
    }
    return status_ok();
}

struct status place_agree(const struct place_test *test, const struct place_request *request)
{
    const struct model *model = request->model;
    TRY(hints_agree(test, &request->hints));
    if (model == NULL || model->shape_only) {
        return status_ok();
    }
    TRY(parameters_agree(test, model));
    return request->hints.dtype == DTYPE_NONE ? size_agrees(test, model) : status_ok();
}
