#include "profiler/field_rows.h"
#include "profiler/results.h"

#define T result_step_operator
static const struct field step_operator_fields[] = {
    TEXT("name", name),
    MEASURED("seconds", seconds),
    NUMBER("time_share_fraction", time_share_fraction, "the step was not measured"),
    NUMBER("estimated_seconds", estimated_seconds, "no rate is known for this operator"),
    {.key = NULL}};
#undef T

#define T result_step_experts
static const struct field step_experts_fields[] = {
    BYTES("experts", experts),
    BYTES("experts_used", experts_used),
    COUNT("layers", layers),
    BYTES("steps", steps),
    NUMBER("distinct", distinct, "no step was counted"),
    NUMBER("distinct_standard_error", distinct_error, "it takes two steps"),
    NUMBER("distinct_expected", distinct_expected, "no step was counted"),
    NUMBER("distinct_expected_error", expected_error, "no step was counted"),
    NUMBER("weight_bytes", weight_bytes, "no step was counted"),
    NUMBER("weight_bytes_standard_error", weight_bytes_error, "it takes two steps"),
    NUMBER("weight_bytes_expected", weight_bytes_expected, "no step was counted"),
    NUMBER("weight_bytes_expected_error", weight_bytes_expected_error, "no step was counted"),
    YES_NO("within_error", within_error),
    {.key = NULL}};
#undef T

#define T result_step_estimate
static const struct field step_estimate_fields[] = {MEASURED("ratio", ratio), {.key = NULL}};
#undef T

#define T result_step
static const struct field step_check_fields[] = {
    NUMBER("max_relative_error", max_relative_error, "not checked against a reference"),
    NUMBER("tolerance", tolerance, "not checked against a reference"),
    {.key = NULL}};

const struct field result_step_fields[] = {
    TEXT("phase", phase),
    COUNT("batch", batch),
    BYTES("context", context),
    BYTES_OR("prompt", prompt, FIELD_EMPTY_OMIT, NULL),
    TEXT("dtype", dtype),
    {"threads", FIELD_UNSIGNED, FIELD_EMPTY_OMIT, AT(threads)},
    DERIVED("tokens_per_s", tokens_per_s, FROM_SECONDS),
    MEASURED("tpot_seconds", tpot_seconds),
    MEASURED("ttft_seconds", ttft_seconds),
    MODELLED("predicted_tokens_per_s", predicted_tokens_per_s),
    MODELLED("predicted_seconds", predicted_seconds),
    MODELLED("estimated_seconds", estimated_seconds),
    {"estimates", FIELD_ARRAY, FIELD_EMPTY_OMIT, AT(estimates),
     .count_offset = offsetof(struct result_step, estimate_count),
     .element_bytes = sizeof(struct result_step_estimate), .max = 1,
     .fields = step_estimate_fields},
    DERIVED("remainder_seconds", remainder_seconds, FROM_SECONDS),
    NUMBER("joules_per_token", joules_per_token, "no energy was counted, or not of all layers"),
    COUNT("layers", layers),
    COUNT("layers_measured", layers_measured),
    MANY("operators", FIELD_ARRAY, operators, operator_count, result_step_operator,
         RESULT_STEP_OPERATORS_MAX, step_operator_fields),
    {"experts", FIELD_ARRAY, FIELD_EMPTY_OMIT, AT(experts),
     .count_offset = offsetof(struct result_step, experts_count),
     .element_bytes = sizeof(struct result_step_experts), .max = 1, .fields = step_experts_fields},
    GROUP("result_check", step_check_fields),
    YES_NO("verified", verified),
    {.key = NULL}};
#undef T
